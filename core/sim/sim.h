/* The simulation kernel: builds a machine out of objects and links, cuts it into clusters, and runs it
 * quantum by quantum. Knows nothing of GPUs.
 *
 * Time is counted in ticks: the least common multiple of all clock frequencies, so that the edges of every
 * clock are exact multiples of a whole period. */
#ifndef WW_SIM_SIM_H
#define WW_SIM_SIM_H

#include "core/sim/base/thread_choice.h"
#include "core/sim/base/worker_pool.h"
#include "core/sim/link.h"
#include "core/sim/mailbox.h"
#include "core/sim/object_index.h"
#include "core/sim/work_split.h"

/* What a clock's objects have counted at one of its frequencies (clock_shares.h). */
typedef struct {
    uint64_t frequency, picoseconds;
    uint64_t *counters;
} ClockShare;

struct Clock {
    char *name;
    uint64_t hertz;            /* at first */
    uint64_t slowest, fastest; /* Hz that it may have during a run */
    uint64_t frequency;        /* Hz, at present                          */
    uint64_t period;           /* ticks; known after sim_elaborate()      */
    uint64_t first_period;     /* what it was then: the unit of sums of times, which know no changes */
    uint64_t inverse;          /* for clock_cycle()                       */
    uint64_t shift;            /* cycles that a change has put it forward, or back, modulo 2^64 */
    uint64_t changes;
    ClockShare *shares;    /* of the time until it last changed */
    uint64_t *counted;     /* what its objects had counted then */
    uint64_t counted_time; /* picoseconds                       */
    uint32_t share_count, counter_count;
};

typedef struct {
    SimObject *object;
    uint32_t event;
    int64_t arguments[EVENT_ARGUMENTS];
} EmittedEvent;

/* An object's place among those of its cluster. */
typedef struct {
    uint64_t due; /* when it ticks next; NEVER: not unless it is poked */
    uint64_t (*tick)(SimObject *object, uint64_t now);
    SimObject *object;
} Turn;

/* The loop over the turns of a cycle is unrolled so far. Then most objects of an SM's cluster, and of a
 * memory partition's, have a branch and an indirect call of their own, which the host foresees. */
enum { TURNS_IN_STEP = 3 };

/* Objects that see each other every cycle. Clusters meet through cut links only. A host thread runs a cluster
 * through a whole quantum, so no two clusters share a cache line. */
struct Cluster {
    uint64_t next;  /* first: none of the first step's turns is due earlier */
    uint64_t later; /* none of the others is: most cycles pass them over */
    uint64_t now;
    Turn *turns; /* in tick order; behind them such as are never due, to fill up the last step */
    uint32_t places, emitted_count; /* places: turns with these */
    SimObject *current;             /* the object at work, for panics */
    uint64_t progress;              /* counts what object_progress() reports */
    EmittedEvent *emitted;          /* in this cycle, for subscribers */

    uint32_t count, emitted_capacity; /* count: of the objects */
    char *fault;                      /* what object_fail() said */
    uint64_t measured;                /* ns that it took in measured quanta */
    uint64_t unseen_until;            /* object_unseen_until() */
    uint64_t observed;                /* somebody looks at its objects in the middle of a quantum */
    uint64_t kept_later;              /* `later` as it was, where it has been lowered; else NEVER */
} __attribute__((aligned(64)));

_Static_assert(offsetof(Cluster, next) == 0, "object_poke_counted() finds it there");

/* One thread's part in a quantum. */
typedef struct {
    Sim *sim;
    uint64_t end; /* of the quantum */
    uint32_t thread;
    /* One thread: in its round through the clusters; several: behind what is left of `run`. */
    uint32_t position;
    Cluster *running;
    char *fault;   /* the message of `faulted` */
    uint64_t lost; /* ns, for runs of threads that have not come; the caller counts its own in each round */
    uint32_t run; /* several threads: of clusters, that it is at: its own, or that of one that has not come */

    /* For the caller, afterwards. */
    uint64_t round
        __attribute__((aligned(64))); /* several threads: the last one that it has come to work in */
    uint64_t first_work; /* in its clusters then: when an object is due first, or a message ready */
    Cluster *faulted;    /* first of those in which an object raised a user error; NULL: none */
} __attribute__((aligned(64))) Share;

typedef struct {
    uint64_t latency; /* sender cycles; 0: one cycle */
    uint32_t depth;   /* messages; 0: 8                                            */
    uint32_t width;   /* messages per sender cycle; 0: 1                           */
} LinkOptions;

/* ORDER_RESTLESS: as ORDER_PATH, and no object sleeps. For tests that no object sleeps through what it has to
 * do. */
typedef enum { ORDER_PATH, ORDER_REVERSED, ORDER_SHUFFLED, ORDER_RESTLESS } TickOrder;

typedef enum { STOP_TIME, STOP_REQUESTED, STOP_IDLE } StopReason;

/* Called at a quantum boundary, by the thread that called sim_run(). */
typedef void BoundaryHook(void *context, Sim *sim);
typedef struct {
    BoundaryHook *call;
    void *context;
    uint64_t every; /* ticks */
    uint64_t next;  /* a boundary at or after the next multiple of `every` */
} Periodic;

/* Called at the end of each quantum in which somebody asked for it. */
typedef struct {
    BoundaryHook *call;
    void *context;
} BoundaryCall;

/* Of requests without timing, since the machine was made; the classes on their way count them. No statistic: what a launch
 * asks of each part tells its phases apart where no cycle does. */
typedef struct {
    uint64_t accesses;  /* that were begun, but those of constants                      */
    uint64_t constants; /* accesses of constants beyond the first of an instruction     */
    uint64_t sectors;   /* that have been read from and written to what ends all ways   */
} UntimedTraffic;

/* What the caller writes between quanta, what hardly anybody writes, and what threads write in a quantum have lines of the
 * host's cache of their own: one that another core has written since takes as long as hundreds of instructions. */
struct Sim {
    /* What changes from quantum to quantum, for all threads to read. */
    uint64_t now;          /* ticks; always a quantum boundary outside sim_run() */
    uint64_t end;          /* of the present quantum, or the last one */
    uint64_t round;        /* of quanta on several threads; counted from 1 and never again from there */
    uint64_t unread_round; /* whose mail has not been read; 0: all has */

    /* What they read in each. */
    Share *shares __attribute__((aligned(64))); /* of each thread */
    Cluster *clusters;
    Exchange *exchanges; /* one thread: the first, of all clusters; else one of each cluster */
    uint32_t cluster_count, exchange_count;
    uint32_t threads, active; /* active: that run the present quantum, all or one */
    WorkSplit split;          /* of several threads */
    Mail *mail[2];            /* of each of them, in even and in odd rounds */
    TickOrder order;
    bool measuring; /* how long each cluster takes, in the present quantum */
    bool pins_threads;
    uint64_t order_seed;

    char *name;
    Clock *clocks;
    uint32_t clock_count;
    SimObject **objects; /* in order of construction */
    uint32_t object_count, object_capacity;
    ObjectIndex by_path;
    Link **links;
    uint32_t link_count, link_capacity;
    SimObject **committers; /* objects whose class has commit() */
    uint32_t committer_count;
    uint64_t quantum;                   /* ticks */
    uint32_t quantum_cycles;            /* of the first clock */
    uint32_t build_began, elaborated;   /* after an error in between it is good for nothing */
    uint64_t ticks_per_second;          /* at the present frequency of the first clock */
    uint64_t rated_at, rated_time;      /* since when, in ticks, and in picoseconds     */
    uint64_t memory_left;               /* bytes of this computer's memory that the machine does not take */
    void *user;                         /* what the layer above keeps per machine */
    char *policies;                     /* the names of those at work, for messages; NULL: none */
    struct TickWatcher **tick_watchers; /* by number of the object; NULL: nobody looks on (tick_watch.h) */

    /* What any of them writes. */
    uint32_t commit_requested __attribute__((aligned(64)));
    uint32_t stop_requested, boundary_requested;
    uint32_t failed;    /* object_fail() was called */
    bool tells_at_rest; /* in event_tell(): no cycle is under way */
    UntimedTraffic untimed;

    /* The caller's. */
    ThreadChoice thread_choice __attribute__((aligned(64)));
    WorkerPool *pool; /* NULL with one thread, and before the first run */
    Periodic *periodics;
    uint32_t periodic_count;
    uint32_t faulted;       /* an object raised a user error: the state is that of the middle of a cycle */
    uint64_t next_periodic; /* the earliest of them; NEVER: none */
    BoundaryCall *boundary_calls;
    uint32_t boundary_call_count;
    uint64_t call_at; /* a trace is told before the first quantum that ends later; NEVER: none is */
    BoundaryHook *call_before_quantum;
    struct Tracer *tracer;
};

Sim *sim_new(const char *name);
void sim_free(Sim *sim);

/* The first clock defines the quantum. Clock addresses are stable only after sim_elaborate(). */
void sim_clock(Sim *sim, const char *name, uint64_t hertz);
/* It may have any frequency between these during a run, its first one among them. */
void sim_clock_may_change(Sim *sim, const char *name, uint64_t slowest, uint64_t fastest);
Clock *sim_find_clock(const Sim *sim, const char *name); /* or NULL */
_Noreturn void no_such_clock(const Sim *sim, const char *where, const char *name);
void sim_set_quantum(Sim *sim, uint32_t cycles_of_first_clock);

/* Creates an object (path must be new; "a.b" belongs to its existing parent "a") with its default parameters,
 * and its children. sim_finish_object() must follow once its parameters are set: from then on it has
 * ports. */
SimObject *sim_add(Sim *sim, const char *class_name, const char *path, const char *clock_name);
void sim_finish_object(SimObject *object);
SimObject *sim_find(const Sim *sim, const char *path); /* or NULL */

/* Connects a requester and a responder of the same protocol, in either order. A wrong role or protocol, or a
 * port wired twice, is a user error. Objects joined by a link whose latency is below the quantum share a
 * cluster; where both directions take a quantum or longer, the machine may be cut. */
void sim_wire(Sim *sim, SimObject *a, const char *port_a, SimObject *b, const char *port_b,
              LinkOptions request, LinkOptions response);

/* Checks that required ports are wired, cuts the machine, allocates arrays, calls init(). */
void sim_elaborate(Sim *sim);

/* How many threads run the clusters, 1 unless called; a user error when it is not in 1 to MAX_THREADS. They
 * change no result. */
enum { MAX_THREADS = 256 };
void sim_set_threads(Sim *sim, uint32_t threads);
/* Each of the threads that were set stays on a core of its own from now on. A user error when there are not so many. */
void sim_pin_threads(Sim *sim);
/* Ends the threads until the next sim_run(). */
void sim_stop_threads(Sim *sim);
/* Sends a signal to each thread that helps the caller of sim_run(). May be called in a handler. */
void sim_signal_threads(Sim *sim, int signal);
/* What object_fail() was told, of the first cluster in which it was called; or NULL. */
const char *sim_failure(const Sim *sim);

/* Calls hook(context) at the first boundary at or after each multiple of so many cycles of the first clock,
 * while anything in the machine has something to do. Of several due at once, those that were added first come
 * first. After sim_elaborate(). */
void sim_every(Sim *sim, uint64_t cycles, BoundaryHook *hook, void *context);
/* Calls hook(context) at the end of each quantum in which sim_request_boundary() was called, or at whose
 * beginning it was, before what is due by time; in the order in which they were added. From init() of an
 * object on. */
void sim_at_boundary(Sim *sim, BoundaryHook *hook, void *context);
void sim_at_boundary_no_more(Sim *sim, const void *context);
static inline void sim_request_boundary(Sim *sim) {
    __atomic_store_n(&sim->boundary_requested, 1, __ATOMIC_RELAXED);
}
/* Is no cycle under way? */
static inline bool sim_is_at_rest(const Sim *sim) {
    return sim->now >= sim->end;
}
/* Makes them due after the present time: after a snapshot was loaded. */
void sim_reset_periodics(Sim *sim);

/* Runs to the first quantum boundary at or after `until` (ticks), or until a stop is requested, or until no
 * object has anything to do. A user error of an object is raised once all clusters have run through its
 * quantum; when there are several, the one of the first cluster: the same with any number of threads. The
 * machine cannot go on then. */
StopReason sim_run(Sim *sim, uint64_t until) __attribute__((noinline)); /* where counting tools look */
/* When sim_run() found nothing to do: lets the time pass to the next periodic hook, which may give objects
 * something to do, and calls it; no further than `until`. False when no such hook is due. */
bool sim_skip_to_periodic(Sim *sim, uint64_t until);
/* For objects and hooks: stop at the end of this quantum. */
static inline void sim_request_stop(Sim *sim) {
    __atomic_store_n(&sim->stop_requested, 1, __ATOMIC_RELAXED);
}

/* Every clock's cycle at a time; exact for all times that a run can reach. */
static inline uint64_t clock_cycle(const Clock *clock, uint64_t time) {
    return multiply_high(time, clock->inverse) + clock->shift;
}
static inline uint64_t object_cycle(const SimObject *object, uint64_t time) {
    return multiply_high(time, object->inverse) + object->shift;
}
/* The inverse of an edge. */
static inline uint64_t object_time(const SimObject *object, uint64_t cycle) {
    return (cycle - object->shift) * object->period;
}
/* How many cycles a span of time is, rounded down. */
static inline uint64_t object_cycles_in(const SimObject *object, uint64_t ticks) {
    return multiply_high(ticks, object->inverse);
}
/* The first edge of its clock from `time` on. */
static inline uint64_t object_edge(const SimObject *object, uint64_t time) {
    return (time + object->period - 1) / object->period * object->period;
}
/* For objects: their commit() is to be called at the end of this quantum. */
static inline void object_request_commit(SimObject *object) {
    object->commit_requested = 1;
    uint32_t *any = &object->sim->commit_requested;
    /* Written once: as long as nobody writes it again, all threads have its line. */
    if (!__atomic_load_n(any, __ATOMIC_RELAXED)) __atomic_store_n(any, 1, __ATOMIC_RELAXED);
}

/* Until then, at most the end of the quantum, nobody but the objects of its cluster sees what an object does.
 * Its cut links show it at the end of the quantum alone, so what nothing else can change any more it may do
 * ahead of time. 0: somebody looks on cycle by cycle, a subscriber, a watcher, a trace. */
static inline uint64_t object_unseen_until(const SimObject *object) {
    return object->cluster->unseen_until;
}
/* Whether somebody does has changed. */
void cluster_note_observers(Cluster *cluster);
/* Somebody begins to look at each cycle's messages, at a boundary. */
void cluster_begin_to_watch(Cluster *cluster);

/* No object of the cluster is due earlier. */
static inline uint64_t cluster_first_due(const Cluster *cluster) {
    return earlier_of(cluster->next, cluster->later);
}
/* To the present cycle: what is emitted is looked at with the later turns. */
static inline void cluster_lower_later(Cluster *cluster, uint64_t now) {
    if (cluster->later <= now) return;
    cluster->kept_later = cluster->later;
    cluster->later = now;
}
/* Before all of its objects are poked anew. */
static inline void cluster_forget_due(Cluster *cluster) {
    cluster->next = cluster->later = NEVER;
}

static inline void object_progress(SimObject *object) {
    object->cluster->progress++;
}

/* For the files of this folder. The exchanges of a machine whose links know whether they are cut. */
void sim_make_exchanges(Sim *sim);
/* At a boundary, when all sets are empty: which exchange each cut link stands in, from now on. */
void sim_share_exchanges(Sim *sim);
/* Runs it through the quantum that ends at share->end. */
void share_run_cluster(Share *share, Cluster *cluster);
/* What one thread does in a quantum; a user error of an object is kept until all is done. */
void share_run(Sim *sim, uint32_t thread);

/* Brings lazily kept counters up to date; call before reading stats. */
void sim_settle(Sim *sim);
/* Runs all conservation checks. `idle`: nothing may be in flight any more. */
void sim_check(const Sim *sim, bool idle);
/* What every object holds and waits for: the hang report, in report.c. */
void sim_report(const Sim *sim, FILE *out);
/* The same shortened: of lines that differ in numbers alone the first, and of which objects the others are.
 */
void sim_report_in_groups(const Sim *sim, FILE *out);
/* Sum of all progress counts; unchanged for long means a hang. */
uint64_t sim_progress(const Sim *sim);

typedef struct {
    const char *name;
    double value; /* of a counter, which is integral, or of a ratio, 0 when `whole` is */
    double whole; /* of a ratio */
    bool integral;
    const char *unit, *doc;
} VisitedStat;

/* Visits every stat in order of construction, rows in table order. */
typedef void StatVisitor(void *context, const VisitedStat *stat);
void sim_visit_stats(const Sim *sim, StatVisitor *visit, void *context);

#endif
