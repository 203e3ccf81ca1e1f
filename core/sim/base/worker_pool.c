#include "core/sim/base/worker_pool.h"

#include "core/sim/base/error.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CACHE_LINE = 64, SPINS = 20000 }; /* longer than what a caller does between two rounds of a busy run */
enum { NO_CORE = -1 };

typedef struct {
    WorkerPool *pool;
    uint32_t number;
    int core; /* where it stays; NO_CORE: where the system puts it */
    pthread_t thread;
} Worker;

/* What all threads look at: the number of the round, whether it is open for workers to enter, and how many
 * are in it. The caller does not wait for a worker that has not entered, because the system runs something
 * else on its core, perhaps: it closes the round when there is nothing left to do. */
typedef uint64_t Round;
#define ROUND_ENTERED 0xffffffffull
#define ROUND_OPEN    (1ull << 32)
#define ROUND_NEXT    (1ull << 33)

struct WorkerPool {
    _Atomic Round round __attribute__((aligned(CACHE_LINE)));
    _Atomic uint32_t opened __attribute__((aligned(CACHE_LINE))); /* rounds: what sleepers wait for */
    _Atomic uint32_t sleepers;
    PoolWork *work __attribute__((aligned(CACHE_LINE)));
    void *context;
    Worker *workers;
    uint32_t threads;
    uint32_t spins;
    _Atomic bool stop;
    bool pinned;
    cpu_set_t cores; /* of the caller before it was pinned */
};

/* Between the look at `opened` and the sleep, nothing can be missed: the sleeper announces itself first, the
 * caller changes the number first, and futex looks at the number again. */
static void sleep_until_opened(WorkerPool *pool, uint32_t seen) {
    atomic_fetch_add(&pool->sleepers, 1);
    syscall(SYS_futex, &pool->opened, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    atomic_fetch_sub(&pool->sleepers, 1);
}

/* Returns the number of the newest round, which is another than `seen`. */
static uint32_t wait_for_round(WorkerPool *pool, uint32_t seen) {
    for (;;) {
        for (uint32_t i = 0; i <= pool->spins; i++) {
            uint32_t opened = atomic_load_explicit(&pool->opened, memory_order_acquire);
            if (opened != seen) return opened;
            pause_briefly();
        }
        sleep_until_opened(pool, seen);
    }
}

static bool enter(WorkerPool *pool) {
    Round round = atomic_load(&pool->round);
    while (round & ROUND_OPEN)
        if (atomic_compare_exchange_weak(&pool->round, &round, round + 1)) return true;
    return false;
}

static int core_of_thread(const WorkerPool *pool, uint32_t number) {
    int core = NO_CORE;
    for (uint32_t i = 0; pool->pinned && i <= number; i++)
        do
            core++;
        while (!CPU_ISSET((size_t)core, &pool->cores));
    return core;
}

/* Where the system does not allow it the thread runs as well, only slower. */
static void stay_on(int core) {
    if (core == NO_CORE) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)core, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void *worker_main(void *context) {
    Worker *worker = context;
    WorkerPool *pool = worker->pool;
    stay_on(worker->core);
    for (uint32_t seen = 0;;) {
        seen = wait_for_round(pool, seen);
        if (atomic_load(&pool->stop)) return NULL;
        if (!enter(pool)) continue;
        pool->work(pool->context, worker->number);
        atomic_fetch_sub(&pool->round, 1);
    }
}

static cpu_set_t cores_of_process(void) {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) CPU_ZERO(&cores);
    return cores;
}

void worker_pool_require_cores(uint32_t threads) {
    cpu_set_t cores = cores_of_process();
    uint32_t count = (uint32_t)CPU_COUNT(&cores);
    if (threads > count) user_error("pin: expected a core for each of %u threads, got %u", threads, count);
}

/* Who shares a core with others must not burn its time. */
static uint32_t spins_for(const cpu_set_t *cores, uint32_t threads) {
    return threads <= (uint32_t)CPU_COUNT(cores) ? SPINS : 0;
}

static void wake_workers(WorkerPool *pool) {
    atomic_fetch_add(&pool->opened, 1);
    if (atomic_load(&pool->sleepers)) syscall(SYS_futex, &pool->opened, FUTEX_WAKE_PRIVATE, INT_MAX);
}

/* No worker enters any more; returns when those that have entered are done. */
static void close_round(WorkerPool *pool) {
    Round round = atomic_fetch_and(&pool->round, ~ROUND_OPEN);
    for (uint32_t i = 0; round & ROUND_ENTERED; i++) {
        if (i < SPINS)
            pause_briefly();
        else
            sched_yield();
        round = atomic_load_explicit(&pool->round, memory_order_acquire);
    }
}

/* With all signals blocked: their handlers run on the caller's thread. SIGURG is for worker_pool_signal(). */
static int start_worker(Worker *worker) {
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGURG);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(&worker->thread, NULL, worker_main, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}

WorkerPool *worker_pool_new(uint32_t threads, bool pinned, PoolWork *work, void *context) {
    if (pinned) worker_pool_require_cores(threads);
    WorkerPool *pool = aligned_alloc(CACHE_LINE, sizeof *pool);
    ensure(pool && threads >= 1);
    memset(pool, 0, sizeof *pool);
    pool->work = work;
    pool->context = context;
    pool->threads = 1;
    pool->cores = cores_of_process();
    pool->spins = spins_for(&pool->cores, threads);
    pool->pinned = pinned;
    pool->workers = calloc(threads, sizeof *pool->workers);
    ensure(pool->workers);
    while (pool->threads < threads) {
        Worker *worker = &pool->workers[pool->threads];
        *worker = (Worker){
            .pool = pool, .number = pool->threads, .core = core_of_thread(pool, pool->threads)};
        int problem = start_worker(worker);
        if (problem) {
            uint32_t started = pool->threads;
            worker_pool_free(pool);
            user_error("threads: expected %u threads of the system, got %u: %s", threads, started,
                       strerror(problem));
        }
        pool->threads++;
    }
    stay_on(core_of_thread(pool, 0));
    return pool;
}

void worker_pool_run(WorkerPool *pool) {
    if (pool->threads > 1) {
        atomic_fetch_add(&pool->round, ROUND_NEXT + ROUND_OPEN);
        wake_workers(pool);
    }
    pool->work(pool->context, 0);
    if (pool->threads > 1) close_round(pool);
}

void worker_pool_signal(WorkerPool *pool, int signal) {
    for (uint32_t i = 1; i < pool->threads; i++)
        pthread_kill(pool->workers[i].thread, signal);
}

void worker_pool_free(WorkerPool *pool) {
    if (!pool) return;
    atomic_store(&pool->stop, true);
    wake_workers(pool);
    for (uint32_t i = 1; i < pool->threads; i++)
        pthread_join(pool->workers[i].thread, NULL);
    if (pool->pinned) sched_setaffinity(0, sizeof pool->cores, &pool->cores);
    free(pool->workers);
    free(pool);
}
