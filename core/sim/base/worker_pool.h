/* Threads that do a piece of work together, again and again, tens of thousands of times a second. The caller
 * takes part as thread 0, so a pool of one has no thread of its own. The work must be such that those who
 * come share it out among them: a thread that the system does not run just then is not waited for. */
#ifndef WW_SIM_WORKER_POOL_H
#define WW_SIM_WORKER_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* For loops that wait for another thread. */
static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

typedef struct WorkerPool WorkerPool;
typedef void PoolWork(void *context, uint32_t thread);

/* With `pinned` each thread, the caller's among them, stays on a core of its own, of those that this process may use, until the
 * pool is freed. A user error when the system does not give so many threads, or cores. */
WorkerPool *worker_pool_new(uint32_t threads, bool pinned, PoolWork *work, void *context);
/* A user error when this process may use fewer cores. */
void worker_pool_require_cores(uint32_t threads);
/* The caller, and every other thread that comes before the caller is done, calls work(context, its number). Returns how many ns
 * the caller has waited for a thread whose work took more than twice as long as its own, and longer than work does: the host has
 * run something else on that thread's core.
 * What any of them wrote is visible to the caller when it returns, and what the caller wrote before is
 * visible to them. */
uint64_t worker_pool_run(WorkerPool *pool);
/* What a worker calls, work(context, its number), as soon as it has seen that there is a round, and what the caller calls when
 * all have left: to ask for what others have written, before it is needed. It must not write. */
void worker_pool_ask_first(WorkerPool *pool, PoolWork *ask);
/* In a round, for those who work: has this worker, one other than the caller, come to it? */
bool worker_pool_has_come(const WorkerPool *pool, uint32_t thread);
/* Shuts the round for a worker that has not come. True: whoever calls this has its part to do now; false: it has come by now,
 * or another has its part. */
bool worker_pool_replace(WorkerPool *pool, uint32_t thread);
/* Sends every other thread a signal, of which they block all but SIGURG. May be called in a handler. */
void worker_pool_signal(WorkerPool *pool, int signal);
void worker_pool_free(WorkerPool *pool);

#endif
