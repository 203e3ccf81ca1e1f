#include "core/sim/base/worker_pool.h"

#include "core/sim/base/error.h"
#include "core/sim/base/thread_choice.h"

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

/* Where a worker is: the number of a round, and what it is to that round. The caller does not wait for a worker that has not
 * come, because the system runs something else on its core, perhaps: it shuts the round for it when there is nothing left to
 * do. On a line of its own, so that to come costs a worker nothing. */
typedef uint64_t Whereabouts;
enum { LEFT, INSIDE, SHUT_OUT };
static Whereabouts whereabouts(uint32_t round, uint32_t what) {
    return (Whereabouts)round << 2 | what;
}

typedef struct {
    _Atomic Whereabouts whereabouts __attribute__((aligned(CACHE_LINE)));
    WorkerPool *pool;
    uint32_t number;
    int core; /* where it stays; NO_CORE: where the system puts it */
    pthread_t thread;
} Worker;

struct WorkerPool {
    _Atomic uint32_t round __attribute__((aligned(CACHE_LINE))); /* the newest: what all workers wait for */
    _Atomic uint32_t sleepers __attribute__((aligned(CACHE_LINE)));
    PoolWork *work __attribute__((aligned(CACHE_LINE)));
    PoolWork *ask; /* or NULL */
    void *context;
    Worker *workers;
    uint32_t threads;
    uint32_t spins;
    _Atomic bool stop;
    bool pinned;
    cpu_set_t cores; /* of this process */
};

/* Pools that pin their caller: one of each machine, perhaps. */
static struct {
    uint32_t pools;
    cpu_set_t cores; /* of the caller before the first of them */
} pinning;

/* Between the look at `round` and the sleep, nothing can be missed: the sleeper announces itself first, the
 * caller changes the number first, and futex looks at the number again. */
static void sleep_until_next_round(WorkerPool *pool, uint32_t seen) {
    atomic_fetch_add(&pool->sleepers, 1);
    syscall(SYS_futex, &pool->round, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    atomic_fetch_sub(&pool->sleepers, 1);
}

/* Returns the number of the newest round, which is another than `seen`. */
static uint32_t wait_for_round(WorkerPool *pool, uint32_t seen) {
    for (;;) {
        for (uint32_t i = 0; i <= pool->spins; i++) {
            uint32_t round = atomic_load_explicit(&pool->round, memory_order_acquire);
            if (round != seen) return round;
            pause_briefly();
        }
        sleep_until_next_round(pool, seen);
    }
}

/* False when it is something to this round, or a later one, already. */
static bool change_whereabouts(Worker *worker, uint32_t round, uint32_t what) {
    Whereabouts before = atomic_load_explicit(&worker->whereabouts, memory_order_relaxed);
    bool is_older = (int32_t)((uint32_t)(before >> 2) - round) < 0;
    return is_older &&
           atomic_compare_exchange_strong(&worker->whereabouts, &before, whereabouts(round, what));
}

static void ask_first(const WorkerPool *pool, uint32_t thread) {
    if (pool->ask) pool->ask(pool->context, thread);
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
    sched_setaffinity(0, sizeof pool->cores, &pool->cores); /* the caller may be pinned, by another pool */
    stay_on(worker->core);
    for (uint32_t round = 0;;) {
        round = wait_for_round(pool, round);
        if (atomic_load_explicit(&pool->stop, memory_order_relaxed)) return NULL;
        ask_first(pool, worker->number);
        if (!change_whereabouts(worker, round, INSIDE)) continue;
        pool->work(pool->context, worker->number);
        atomic_store_explicit(&worker->whereabouts, whereabouts(round, LEFT), memory_order_release);
    }
}

static cpu_set_t cores_of_process(void) {
    cpu_set_t cores;
    if (pinning.pools) return pinning.cores;
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

static uint32_t open_round(WorkerPool *pool) {
    uint32_t round = atomic_fetch_add(&pool->round, 1) + 1;
    if (atomic_load(&pool->sleepers)) syscall(SYS_futex, &pool->round, FUTEX_WAKE_PRIVATE, INT_MAX);
    return round;
}

/* Who has waited long lets others have its core. */
static void pause_or_yield(uint32_t times) {
    if (times < SPINS)
        pause_briefly();
    else
        sched_yield();
}

/* Returns when the worker has done its part, or cannot come any more. */
static void shut_round(Worker *worker, uint32_t round) {
    for (uint32_t i = 0;; i++) {
        Whereabouts at = atomic_load_explicit(&worker->whereabouts, memory_order_acquire);
        if (at == whereabouts(round, LEFT) || at == whereabouts(round, SHUT_OUT)) return;
        if (at == whereabouts(round, INSIDE))
            pause_or_yield(i);
        else if (change_whereabouts(worker, round, SHUT_OUT))
            return;
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
    pinning.cores = pool->cores;
    pinning.pools += pinned;
    pool->workers = aligned_alloc(CACHE_LINE, threads * sizeof *pool->workers);
    ensure_memory(pool->workers);
    memset(pool->workers, 0, threads * sizeof *pool->workers);
    while (pool->threads < threads) {
        Worker *worker = &pool->workers[pool->threads];
        worker->pool = pool;
        worker->number = pool->threads;
        worker->core = core_of_thread(pool, pool->threads);
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

/* Longer than any thread's part differs from another's. */
enum { LONG_WAIT = 20000 };

uint64_t worker_pool_run(WorkerPool *pool) {
    uint64_t begun = host_nanoseconds();
    uint32_t round = open_round(pool);
    pool->work(pool->context, 0);
    uint64_t done = host_nanoseconds();
    for (uint32_t i = 1; i < pool->threads; i++)
        shut_round(&pool->workers[i], round);
    ask_first(pool, 0);
    uint64_t waited = host_nanoseconds() - done;
    return waited > LONG_WAIT && waited > done - begun ? waited : 0;
}

void worker_pool_ask_first(WorkerPool *pool, PoolWork *ask) {
    pool->ask = ask;
}

/* The round cannot end while somebody is at work in it. */
static uint32_t round_at_work(const WorkerPool *pool) {
    return atomic_load_explicit(&pool->round, memory_order_relaxed);
}

bool worker_pool_has_come(const WorkerPool *pool, uint32_t thread) {
    Whereabouts at = atomic_load_explicit(&pool->workers[thread].whereabouts, memory_order_relaxed);
    return (uint32_t)(at >> 2) == round_at_work(pool);
}

bool worker_pool_replace(WorkerPool *pool, uint32_t thread) {
    return change_whereabouts(&pool->workers[thread], round_at_work(pool), SHUT_OUT);
}

void worker_pool_signal(WorkerPool *pool, int signal) {
    for (uint32_t i = 1; i < pool->threads; i++)
        pthread_kill(pool->workers[i].thread, signal);
}

void worker_pool_free(WorkerPool *pool) {
    if (!pool) return;
    atomic_store(&pool->stop, true);
    open_round(pool);
    for (uint32_t i = 1; i < pool->threads; i++)
        pthread_join(pool->workers[i].thread, NULL);
    if (pool->pinned && --pinning.pools == 0) sched_setaffinity(0, sizeof pool->cores, &pool->cores);
    free(pool->workers);
    free(pool);
}
