/* Threads that do the same piece of work together, again and again, tens of thousands of times a second. The
 * caller takes part as thread 0, so a pool of one has no thread of its own. */
#ifndef WW_SIM_WORKER_POOL_H
#define WW_SIM_WORKER_POOL_H

#include <stdint.h>

typedef struct WorkerPool WorkerPool;
typedef void PoolWork(void *context, uint32_t thread);

/* A user error when the system does not give so many threads. */
WorkerPool *worker_pool_new(uint32_t threads, PoolWork *work, void *context);
/* Every thread calls work(context, its number) once. What any of them wrote is visible to the caller when it
 * returns, and what the caller wrote before is visible to them. */
void worker_pool_run(WorkerPool *pool);
void worker_pool_free(WorkerPool *pool);

#endif
