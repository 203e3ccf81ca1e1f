/* Threads that do a piece of work together, again and again, tens of thousands of times a second. The caller
 * takes part as thread 0, so a pool of one has no thread of its own. The work must be such that those who
 * come share it out among them: a thread that the system does not run just then is not waited for. */
#ifndef WW_SIM_WORKER_POOL_H
#define WW_SIM_WORKER_POOL_H

#include <stdint.h>

/* For loops that wait for another thread. */
static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

typedef struct WorkerPool WorkerPool;
typedef void PoolWork(void *context, uint32_t thread);

/* A user error when the system does not give so many threads. */
WorkerPool *worker_pool_new(uint32_t threads, PoolWork *work, void *context);
/* The caller, and every other thread that comes before the caller is done, calls work(context, its number).
 * What any of them wrote is visible to the caller when it returns, and what the caller wrote before is
 * visible to them. */
void worker_pool_run(WorkerPool *pool);
/* Sends every other thread a signal, of which they block all but SIGURG. May be called in a handler. */
void worker_pool_signal(WorkerPool *pool, int signal);
void worker_pool_free(WorkerPool *pool);

#endif
