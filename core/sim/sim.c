/* Running a machine, quantum by quantum. */
#include "core/sim/checkpoint/answers.h"
#include "core/sim/event.h"

#include <stdlib.h>
#include <string.h>

/* --- A cycle of a cluster ------------------------------------------------------------------------ */

/* Returns when the object is due after `now`. */
static inline uint64_t take_turn(Cluster *cluster, Turn *turn, uint64_t now) {
    if (turn->due > now) return turn->due;
    SimObject *object = cluster->current = turn->object;
    turn->due = NEVER;
    uint64_t next = turn->tick(object, now), poked = turn->due;
    debug_ensure(next > now && (next == NEVER || next % object->period == 0));
    return turn->due = next < poked ? next : poked;
}

/* Whoever is poked by an object ticked earlier in the same cycle finds the message in its links anyway, so
 * the order of the objects cannot matter. */
static void cluster_run(Cluster *cluster, uint64_t end) {
    while (cluster->next < end) {
        uint64_t now = cluster->now = cluster->next, next = NEVER;
        cluster->next = NEVER; /* lowered by pokes, to objects that have had their turn among others */
        for (Turn *turn = cluster->turns, *last = turn + cluster->places; turn < last; turn += TURNS_IN_STEP)
#pragma GCC unroll 3
            for (uint32_t i = 0; i < TURNS_IN_STEP; i++) {
                uint64_t due = take_turn(cluster, turn + i, now);
                next = due < next ? due : next;
            }
        if (cluster->emitted_count) cluster_emit_events(cluster);
        cluster->next = next < cluster->next ? next : cluster->next;
    }
    cluster->current = NULL;
}

void cluster_note_observers(Cluster *cluster) {
    cluster->observed = 0;
    for (uint32_t i = 0; i < cluster->count; i++) {
        const Turn *turn = &cluster->turns[i];
        const Class *class = turn->object->class;
        cluster->observed |= turn->object->subscriber_count || turn->tick != class->tick ||
                             class->made_at_run_time;
    }
}

void cluster_begin_to_watch(Cluster *cluster) {
    cluster_note_observers(cluster);
    for (uint32_t i = 0; i < cluster->count; i++) {
        SimObject *object = cluster->turns[i].object;
        if (object->class->put_back) object->class->put_back(object, object->sim->now);
    }
}

/* --- The same without sleep ---------------------------------------------------------------------- */

static uint64_t next_edge(const Cluster *cluster, uint64_t after) {
    uint64_t edge = NEVER;
    for (uint32_t i = 0; i < cluster->count; i++) {
        uint64_t period = cluster->turns[i].object->period, own = after / period * period + period;
        edge = own < edge ? own : edge;
    }
    return edge;
}

/* What it is due for later stands, as if it had slept: when the machine is idle must not depend on this. */
static void take_turn_awake(Cluster *cluster, Turn *turn, uint64_t now) {
    uint64_t due = turn->due;
    if (now % turn->object->period) return;
    turn->due = now;
    take_turn(cluster, turn, now);
    if (due > now && due < turn->due) turn->due = due;
}

static uint64_t first_due(const Cluster *cluster) {
    uint64_t first = NEVER;
    for (uint32_t i = 0; i < cluster->count; i++)
        first = cluster->turns[i].due < first ? cluster->turns[i].due : first;
    return first;
}

/* From `begin` to `end`, every object in every cycle of its clock. When the cluster is due next is found out as
 * it is where objects sleep: in cycles in which it is due. */
static void cluster_run_restless(Cluster *cluster, uint64_t begin, uint64_t end) {
    for (uint64_t now = begin ? next_edge(cluster, begin - 1) : 0; now < end; now = next_edge(cluster, now)) {
        bool due = cluster->next <= now;
        cluster->now = now;
        if (due) cluster->next = NEVER;
        for (uint32_t i = 0; i < cluster->count; i++)
            take_turn_awake(cluster, &cluster->turns[i], now);
        if (cluster->emitted_count) cluster_emit_events(cluster);
        uint64_t next = due ? first_due(cluster) : NEVER;
        cluster->next = next < cluster->next ? next : cluster->next;
    }
    cluster->current = NULL;
}

static void commit_objects(Sim *sim) {
    if (!sim->commit_requested) return;
    sim->commit_requested = 0;
    for (uint32_t i = 0; i < sim->committer_count; i++) {
        SimObject *object = sim->committers[i];
        if (!object->commit_requested) continue;
        object->commit_requested = 0;
        object->class->commit(object);
    }
}

/* --- A quantum, on one thread or several --------------------------------------------------------- */

static bool claim(Cluster *cluster, uint64_t end) {
    uint64_t last = __atomic_load_n(&cluster->claimed, __ATOMIC_RELAXED);
    return last != end && __atomic_compare_exchange_n(&cluster->claimed, &last, end, false, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED);
}

static Cluster *cluster_at(const Sim *sim, uint32_t position) {
    bool forward = sim->order == ORDER_PATH || sim->order == ORDER_RESTLESS;
    return &sim->clusters[forward ? position : sim->cluster_count - 1 - position];
}

static void run_cluster(Share *share, Cluster *cluster) {
    bool restless = share->sim->order == ORDER_RESTLESS;
    if (cluster->next >= share->end && !restless) return;
    share->running = cluster;
    cluster->unseen_until = cluster->observed ? 0 : share->end;
    if (__builtin_expect(restless, 0))
        cluster_run_restless(cluster, share->sim->now, share->end);
    else
        cluster_run(cluster, share->end);
}

static COLD void run_cluster_measured(Share *share, Cluster *cluster) {
    uint64_t begun = host_nanoseconds();
    run_cluster(share, cluster);
    cluster->measured += host_nanoseconds() - begun;
}

/* The thread whose run has it comes to it in a moment, as a rule. To take it over at once would move it from core to
 * core. */
static void wait_a_moment(const Cluster *cluster, uint64_t end) {
    enum { MOMENT = 64 };
    for (uint32_t i = 0; i < MOMENT && __atomic_load_n(&cluster->claimed, __ATOMIC_RELAXED) != end; i++)
        pause_briefly();
}

/* First its own run of the chain; then, from the chain's other end, what other threads have not begun: the system may
 * run something else on their cores. */
static void run_claimed(Share *share) {
    const Sim *sim = share->sim;
    const uint32_t *begin = &sim->split.begin[share->thread];
    uint32_t count = sim->cluster_count, own = begin[1] - begin[0];
    while (share->position < count) {
        uint32_t position = share->position++;
        bool is_own = position < own;
        uint32_t place = is_own ? begin[0] + position : (begin[1] + count - 1 - position) % count;
        Cluster *cluster = sim->split.chain[place];
        if (!is_own) wait_a_moment(cluster, share->end);
        if (!claim(cluster, share->end)) continue;
        work_split_fetch_incoming(sim, place, share->end);
        if (__builtin_expect(sim->measuring, 0))
            run_cluster_measured(share, cluster);
        else
            run_cluster(share, cluster);
    }
}

static void run_clusters(void *context) {
    Share *share = context;
    const Sim *sim = share->sim;
    if (sim->active > 1)
        run_claimed(share);
    else
        while (share->position < sim->cluster_count)
            run_cluster(share, cluster_at(sim, share->position++));
}

static void keep_first_fault(Share *share, Cluster *cluster, const char *message) {
    if (share->faulted && share->faulted < cluster) return;
    free(share->fault);
    share->faulted = cluster;
    share->fault = strdup(message);
}

/* The rest of the quantum goes on after a fault, so that every thread count and order finds the same one. */
static void run_share(void *context, uint32_t thread) {
    Sim *sim = context;
    Share *share = &sim->shares[thread];
    const char *message;
    share->position = 0;
    while ((message = user_error_catch(run_clusters, share)) != NULL) {
        share->running->current = NULL;
        keep_first_fault(share, share->running, message);
    }
}

static void raise_fault(Sim *sim) {
    const Share *first = NULL;
    for (uint32_t i = 0; i < sim->threads; i++) {
        const Share *share = &sim->shares[i];
        if (share->faulted && (!first || share->faulted < first->faulted)) first = share;
    }
    if (!first) return;
    sim->faulted = 1;
    user_error("%s", first->fault);
}

const char *sim_failure(const Sim *sim) {
    for (uint32_t i = 0; sim->failed && i < sim->cluster_count; i++)
        if (sim->clusters[i].fault) return sim->clusters[i].fault;
    return NULL;
}

/* What subscribers found wrong; the machine is in order. */
static void raise_failure(const Sim *sim) {
    if (sim->failed) user_error("%s", sim_failure(sim));
}

static void choose_threads(Sim *sim) {
    bool measured = sim->measuring;
    uint32_t active = thread_choice_is_one(&sim->thread_choice) ? 1 : sim->threads;
    sim->measuring = thread_choice_is_measuring(&sim->thread_choice);
    if (measured && !sim->measuring) work_split_adjust(sim);
    if (active == sim->active) return;
    sim->active = active;
    sim_share_exchanges(sim);
}

static void run_quantum(Sim *sim, uint64_t end) {
    if (sim->threads > 1) choose_threads(sim);
    for (uint32_t i = 0; i < sim->threads; i++)
        sim->shares[i].end = end;
    if (sim->active > 1)
        worker_pool_run(sim->pool);
    else
        run_share(sim, 0);
    raise_fault(sim);
    for (uint32_t i = 0; i < sim->exchange_count; i++)
        link_exchange(&sim->exchanges[i], end);
    commit_objects(sim);
    sim->now = end;
    raise_failure(sim);
}

void sim_set_threads(Sim *sim, uint32_t threads) {
    if (threads < 1 || threads > MAX_THREADS)
        user_error("threads: expected 1 to %d, got %u", MAX_THREADS, threads);
    sim_stop_threads(sim);
    sim->threads = sim->active = threads;
}

void sim_pin_threads(Sim *sim) {
    worker_pool_require_cores(sim->threads);
    sim_stop_threads(sim);
    sim->pins_threads = true;
}

void sim_stop_threads(Sim *sim) {
    WorkerPool *pool = sim->pool;
    __atomic_store_n(&sim->pool, NULL, __ATOMIC_SEQ_CST); /* first: sim_signal_threads() may interrupt this */
    worker_pool_free(pool);
    for (uint32_t i = 0; sim->shares && i < sim->threads; i++)
        free(sim->shares[i].fault);
    free(sim->shares);
    sim->shares = NULL;
    work_split_free(sim);
}

void sim_signal_threads(Sim *sim, int signal) {
    if (sim->pool) worker_pool_signal(sim->pool, signal);
}

static void start_threads(Sim *sim) {
    if (sim->shares) return;
    sim_share_exchanges(sim);
    work_split_new(sim);
    if (sim->threads > 1) sim->pool = worker_pool_new(sim->threads, sim->pins_threads, run_share, sim);
    sim->shares = aligned_alloc(_Alignof(Share), sim->threads * sizeof(Share));
    ensure(sim->shares);
    for (uint32_t i = 0; i < sim->threads; i++)
        sim->shares[i] = (Share){.sim = sim, .thread = i};
}

/* --- Periodic hooks -------------------------------------------------------------------------- */

static void set_next_periodic(Sim *sim) {
    sim->next_periodic = NEVER;
    for (uint32_t i = 0; i < sim->periodic_count; i++)
        if (sim->periodics[i].next < sim->next_periodic) sim->next_periodic = sim->periodics[i].next;
}

static void schedule_periodic(const Sim *sim, Periodic *periodic) {
    uint64_t due = (sim->now / periodic->every + 1) * periodic->every;
    periodic->next = (due + sim->quantum - 1) / sim->quantum * sim->quantum;
}

void sim_every(Sim *sim, uint64_t cycles, BoundaryHook *hook, void *context) {
    ensure(sim->elaborated && cycles > 0);
    sim->periodics = realloc(sim->periodics, (sim->periodic_count + 1) * sizeof *sim->periodics);
    ensure(sim->periodics);
    Periodic *periodic = &sim->periodics[sim->periodic_count++];
    *periodic = (Periodic){.call = hook, .context = context, .every = cycles * sim->clocks[0].period};
    schedule_periodic(sim, periodic);
    set_next_periodic(sim);
}

void sim_at_boundary(Sim *sim, BoundaryHook *hook, void *context) {
    ensure(sim->elaborated);
    sim->boundary_calls = realloc(sim->boundary_calls,
                                  (sim->boundary_call_count + 1) * sizeof *sim->boundary_calls);
    ensure(sim->boundary_calls);
    sim->boundary_calls[sim->boundary_call_count++] = (BoundaryCall){hook, context};
}

void sim_at_boundary_no_more(Sim *sim, const void *context) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sim->boundary_call_count; i++)
        if (sim->boundary_calls[i].context != context) sim->boundary_calls[kept++] = sim->boundary_calls[i];
    sim->boundary_call_count = kept;
}

static void make_boundary_calls(Sim *sim) {
    sim->boundary_requested = 0;
    for (uint32_t i = 0; i < sim->boundary_call_count; i++)
        sim->boundary_calls[i].call(sim->boundary_calls[i].context, sim);
}

void sim_reset_periodics(Sim *sim) {
    for (uint32_t i = 0; i < sim->periodic_count; i++)
        schedule_periodic(sim, &sim->periodics[i]);
    set_next_periodic(sim);
}

static void call_periodics(Sim *sim) {
    for (uint32_t i = 0; i < sim->periodic_count; i++) {
        Periodic *periodic = &sim->periodics[i];
        if (periodic->next > sim->now) continue;
        schedule_periodic(sim, periodic);
        periodic->call(periodic->context, sim);
    }
    set_next_periodic(sim);
}

/* When the first object is due, or any time before `end` at which one is. */
static uint64_t next_work(const Sim *sim, uint64_t end) {
    uint64_t first = NEVER;
    for (uint32_t i = 0; i < sim->cluster_count && first >= end; i++)
        if (sim->clusters[i].next < first) first = sim->clusters[i].next;
    return first;
}

StopReason sim_run(Sim *sim, uint64_t until) {
    ensure(sim->elaborated);
    if (sim->faulted) user_error("machine %s was stopped by an error and cannot go on", sim->name);
    start_threads(sim);
    sim->stop_requested = 0;
    while (sim->now < until) {
        uint64_t end = sim->now + sim->quantum, work = next_work(sim, end);
        if (work == NEVER) return STOP_IDLE;
        if (sim->order == ORDER_RESTLESS) work = sim->now;
        if (sim->next_periodic - 1 < work) work = sim->next_periodic - 1; /* the quantum that ends there */
        if (work >= end) { /* quanta in which nothing is due are skipped: time jumps */
            uint64_t quantum_of_work = work / sim->quantum * sim->quantum;
            if (quantum_of_work >= until) {
                sim->now = (until + sim->quantum - 1) / sim->quantum * sim->quantum;
                return STOP_TIME;
            }
            sim->now = quantum_of_work;
            end = sim->now + sim->quantum;
        }
        if (__builtin_expect(end > sim->call_at, 0)) sim->call_before_quantum(sim->tracer, sim);
        run_quantum(sim, end);
        if (sim->boundary_requested) make_boundary_calls(sim);
        if (sim->next_periodic <= sim->now) call_periodics(sim);
        if (sim->stop_requested) return STOP_REQUESTED;
    }
    return STOP_TIME;
}

bool sim_skip_to_periodic(Sim *sim, uint64_t until) {
    if (sim->next_periodic == NEVER) return false;
    uint64_t boundary = (until + sim->quantum - 1) / sim->quantum * sim->quantum;
    sim->now = boundary < sim->next_periodic ? boundary : sim->next_periodic;
    if (sim->next_periodic <= sim->now) call_periodics(sim);
    return true;
}

void sim_settle(Sim *sim) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class->settle) sim->objects[i]->class->settle(sim->objects[i], sim->now);
}

static void check_links(const Sim *sim, bool idle) {
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        uint64_t inside = link->pushed - link->popped;
        if (inside > link->depth || (idle && inside))
            panic("link %s holds %lu of at most %u messages%s", link->name, inside, link->depth,
                  idle ? " although the machine is idle" : "");
    }
}

void sim_check(const Sim *sim, bool idle) {
    check_links(sim, idle);
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class->check) sim->objects[i]->class->check(sim->objects[i], idle);
    answers_check(sim);
    sim_audit(sim);
}

uint64_t sim_progress(const Sim *sim) {
    uint64_t progress = 0;
    for (uint32_t i = 0; i < sim->cluster_count; i++)
        progress += sim->clusters[i].progress;
    return progress;
}

void sim_visit_stats(const Sim *sim, StatVisitor *visit, void *context) {
    char name[512];
    for (uint32_t i = 0; i < sim->object_count; i++) {
        const SimObject *object = sim->objects[i];
        size_t path = (size_t)snprintf(name, sizeof name, "%s.", object->path);
        if (path >= sizeof name) path = sizeof name - 1;
        for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
            if (f->kind != FIELD_STAT && f->kind != FIELD_FORMULA) continue;
            VisitedStat stat = {
                .name = name, .integral = f->kind == FIELD_STAT, .unit = f->unit, .doc = f->doc};
            Ratio ratio = {0};
            if (stat.integral)
                stat.value = (double)*(const uint64_t *)((const char *)object + f->offset);
            else
                ratio = f->formula(object);
            stat.whole = ratio.whole;
            if (ratio.whole != 0) stat.value = ratio.part / ratio.whole;
            size_t room = sizeof name - path, length = strnlen(f->name, room - 1);
            memcpy(name + path, f->name, length);
            name[path + length] = 0;
            visit(context, &stat);
        }
    }
}
