#include "core/sim/worker_pool.h"

#include "core/sim/error.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CACHE_LINE = 64, SPINS = 20000 }; /* longer than what a caller does between two rounds of a busy run */

/* A number that one side changes and the other waits for. */
typedef struct {
    _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
} __attribute__((aligned(CACHE_LINE))) Signal;

typedef struct {
    WorkerPool *pool;
    uint32_t number;
    pthread_t thread;
} Worker;

struct WorkerPool {
    Signal round;   /* counts the calls of worker_pool_run() */
    Signal working; /* workers that are not done yet         */
    PoolWork *work;
    void *context;
    Worker *workers;
    uint32_t threads;
    uint32_t spins;
    bool stop;
};

/* Between the look at `value` and the sleep, nothing can be missed: the sleeper announces itself first, the
 * other side changes the value first, and futex looks at the value again. */
static void sleep_while(Signal *signal, uint32_t value) {
    atomic_fetch_add(&signal->sleepers, 1);
    syscall(SYS_futex, &signal->value, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
    atomic_fetch_sub(&signal->sleepers, 1);
}

static void wake(Signal *signal) {
    if (atomic_load(&signal->sleepers)) syscall(SYS_futex, &signal->value, FUTEX_WAKE_PRIVATE, INT_MAX);
}

static void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Returns what the signal's value changed to. */
static uint32_t wait_while(Signal *signal, uint32_t value, uint32_t spins) {
    for (;;) {
        for (uint32_t i = 0; i < spins; i++) {
            uint32_t now = atomic_load_explicit(&signal->value, memory_order_acquire);
            if (now != value) return now;
            pause_briefly();
        }
        uint32_t now = atomic_load_explicit(&signal->value, memory_order_acquire);
        if (now != value) return now;
        sleep_while(signal, value);
    }
}

static void *worker_main(void *context) {
    Worker *worker = context;
    WorkerPool *pool = worker->pool;
    for (uint32_t round = 0;;) {
        round = wait_while(&pool->round, round, pool->spins);
        if (pool->stop) return NULL;
        pool->work(pool->context, worker->number);
        if (atomic_fetch_sub(&pool->working.value, 1) == 1) wake(&pool->working);
    }
}

/* Who shares a core with others must not burn its time. */
static uint32_t spins_for(uint32_t threads) {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 0;
    return threads <= (uint32_t)CPU_COUNT(&cores) ? SPINS : 0;
}

static void start_round(WorkerPool *pool) {
    atomic_store(&pool->working.value, pool->threads - 1);
    atomic_fetch_add(&pool->round.value, 1);
    wake(&pool->round);
}

/* With all signals blocked: their handlers run on the caller's thread. */
static int start_worker(Worker *worker) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(&worker->thread, NULL, worker_main, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}

WorkerPool *worker_pool_new(uint32_t threads, PoolWork *work, void *context) {
    WorkerPool *pool = aligned_alloc(CACHE_LINE, sizeof *pool);
    ensure(pool && threads >= 1);
    memset(pool, 0, sizeof *pool);
    pool->work = work;
    pool->context = context;
    pool->threads = 1;
    pool->spins = spins_for(threads);
    pool->workers = calloc(threads, sizeof *pool->workers);
    ensure(pool->workers);
    while (pool->threads < threads) {
        Worker *worker = &pool->workers[pool->threads];
        *worker = (Worker){.pool = pool, .number = pool->threads};
        int problem = start_worker(worker);
        if (problem) {
            uint32_t started = pool->threads;
            worker_pool_free(pool);
            user_error("threads: the system gives %u threads, not %u: %s", started, threads,
                       strerror(problem));
        }
        pool->threads++;
    }
    return pool;
}

void worker_pool_run(WorkerPool *pool) {
    if (pool->threads > 1) start_round(pool);
    pool->work(pool->context, 0);
    for (uint32_t left; (left = atomic_load_explicit(&pool->working.value, memory_order_acquire)) != 0;)
        wait_while(&pool->working, left, pool->spins);
}

void worker_pool_free(WorkerPool *pool) {
    if (!pool) return;
    pool->stop = true;
    if (pool->threads > 1) start_round(pool);
    for (uint32_t i = 1; i < pool->threads; i++)
        pthread_join(pool->workers[i].thread, NULL);
    free(pool->workers);
    free(pool);
}
