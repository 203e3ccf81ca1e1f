/* Running a machine, quantum by quantum. */
#include "core/sim/checkpoint/answers.h"
#include "core/sim/event.h"
#include "core/sim/halves.h"
#include "core/sim/threads.h"

#include <stdlib.h>
#include <string.h>

/* --- A cycle of a cluster ------------------------------------------------------------------------ */

/* An object that is due at once for ever would keep the machine in this cycle. */
static inline void check_next(const SimObject *object, uint64_t now, uint64_t next) {
#ifdef WW_CHECK_TICKS
    if (next <= now || (next != NEVER && next % object->period))
        panic("%s: tick at %lu: expected a later edge of its clock (every %lu) or NEVER, got %lu",
              object->path, now, object->period, next);
#else
    (void)object, (void)now, (void)next;
#endif
}

/* Returns when the object is due after `now`. */
static inline uint64_t take_turn(Cluster *cluster, Turn *turn, uint64_t now) {
    if (turn->due > now) return turn->due;
    SimObject *object = cluster->current = turn->object;
    turn->due = NEVER;
    uint64_t next = turn->tick(object, now), poked = turn->due;
    check_next(object, now, next);
    return turn->due = next < poked ? next : poked;
}

/* From turn `first` on, one step at least. Returns when the first of them is due after `now`. */
static inline __attribute__((always_inline)) uint64_t take_turns(Cluster *cluster, Turn *first,
                                                                 const Turn *end, uint64_t now) {
    uint64_t next = NEVER;
    do
#pragma GCC unroll 3
        for (uint32_t i = 0; i < TURNS_IN_STEP; i++)
            next = earlier_of(take_turn(cluster, first++, now), next);
    while (first < end);
    return next;
}

/* When the first of the first step's turns is due. */
static inline uint64_t first_turn_due(const Turn *first) {
    uint64_t due = NEVER;
#pragma GCC unroll 3
    for (uint32_t i = 0; i < TURNS_IN_STEP; i++)
        due = earlier_of(first[i].due, due);
    return due;
}

/* Pokes lower `later`, to objects that have had their turn among others. */
static inline void take_later_turns(Cluster *cluster, uint64_t now) {
    uint64_t later = NEVER;
    cluster->later = cluster->kept_later;
    cluster->kept_later = NEVER;
    if (cluster->places > TURNS_IN_STEP)
        later = take_turns(cluster, cluster->turns + TURNS_IN_STEP, cluster->turns + cluster->places, now);
    cluster->later = earlier_of(later, cluster->later);
    if (cluster->emitted_count) cluster_emit_events(cluster);
}

/* From `now`, when it is due, to `end`. Whoever is poked by an object ticked earlier in the same cycle finds the
 * message in its links anyway, so the order of the objects cannot matter. The time for which it was poked counts in
 * any case, by `next`: else when the machine is idle would depend on who has had a turn before. Where something is
 * emitted, `later` is lowered to the present cycle (event.c): cycles ask about no more than that. */
static inline __attribute__((always_inline)) void cluster_run(Cluster *cluster, uint64_t now, uint64_t end) {
    Turn *const first = cluster->turns;
    uint64_t next;
    if (cluster->emitted_count) cluster_lower_later(cluster, now); /* between quanta */
    do {
        cluster->now = now;
        cluster->next = NEVER;
        take_turns(cluster, first, first + TURNS_IN_STEP, now);
        if (cluster->later <= now) take_later_turns(cluster, now);
        next = earlier_of(first_turn_due(first), cluster->next);
        now = earlier_of(next, cluster->later);
    } while (now < end);
    cluster->next = next;
    cluster->current = NULL;
}

void cluster_note_observers(Cluster *cluster) {
    cluster->observed = 0;
    for (uint32_t i = 0; i < cluster->count; i++) {
        const Turn *turn = &cluster->turns[i];
        const Class *class = turn->object->class;
        cluster->observed |= turn->object->subscriber_count || turn->tick != turn_own_tick(turn) ||
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

/* From `begin` to `end`, every object in every cycle of its clock, of which it does what belongs to it and nothing ahead of
 * time. When the cluster is due next is found out as it is where objects sleep: in cycles in which it is due. */
static __attribute__((noinline)) void cluster_run_restless(Cluster *cluster, uint64_t begin, uint64_t end) {
    cluster->unseen_until = 0;
    for (uint64_t now = begin ? next_edge(cluster, begin - 1) : 0; now < end; now = next_edge(cluster, now)) {
        bool due = cluster_first_due(cluster) <= now;
        cluster->now = now;
        if (due) cluster_forget_due(cluster);
        for (uint32_t i = 0; i < cluster->count; i++)
            take_turn_awake(cluster, &cluster->turns[i], now);
        if (cluster->emitted_count) cluster_emit_events(cluster);
        uint64_t next = due ? first_due(cluster) : NEVER;
        cluster->next = earlier_of(next, cluster->next);
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

static Cluster *cluster_at(const Sim *sim, uint32_t position) {
    bool forward = sim->order == ORDER_PATH || sim->order == ORDER_RESTLESS;
    return &sim->clusters[forward ? position : sim->cluster_count - 1 - position];
}

static inline __attribute__((always_inline)) void run_cluster(Share *share, Cluster *cluster) {
    bool restless = share->sim->order == ORDER_RESTLESS;
    uint64_t due = cluster_first_due(cluster);
    if (due >= share->end && !restless) return;
    share->running = cluster;
    cluster->unseen_until = cluster->observed ? 0 : share->end;
    if (__builtin_expect(restless, 0))
        cluster_run_restless(cluster, share->sim->now, share->end);
    else
        cluster_run(cluster, due, share->end);
}

void share_run_cluster(Share *share, Cluster *cluster) {
    run_cluster(share, cluster);
}

static void run_clusters(void *context) {
    Share *share = context;
    const Sim *sim = share->sim;
    if (sim->active > 1)
        threads_run_clusters(share);
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
void share_run(Sim *sim, uint32_t thread) {
    Share *share = &sim->shares[thread];
    const char *message;
    share->run = thread;
    share->position = sim->active > 1 ? sim->split.begin[thread + 1] : 0;
    share->end = sim->end;
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
static void raise_failure(Sim *sim) {
    if (!sim->failed) return;
    threads_read_mail(sim);
    user_error("%s", sim_failure(sim));
}

static void exchange_links(Sim *sim) {
    for (uint32_t i = 0; i < sim->exchange_count; i++)
        link_exchange(&sim->exchanges[i], sim->end);
}

static void run_quantum(Sim *sim, uint64_t end) {
    if (sim->threads > 1) threads_choose(sim);
    sim->end = end;
    if (sim->active > 1)
        threads_run_quantum(sim);
    else
        share_run(sim, 0);
    raise_fault(sim);
    if (sim->active == 1) exchange_links(sim);
    commit_objects(sim);
    sim->now = end;
    raise_failure(sim);
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
    ensure_memory(sim->periodics);
    Periodic *periodic = &sim->periodics[sim->periodic_count++];
    *periodic = (Periodic){.call = hook, .context = context, .every = cycles * sim->clocks[0].period};
    schedule_periodic(sim, periodic);
    set_next_periodic(sim);
}

void sim_at_boundary(Sim *sim, BoundaryHook *hook, void *context) {
    sim->boundary_calls = realloc(sim->boundary_calls,
                                  (sim->boundary_call_count + 1) * sizeof *sim->boundary_calls);
    ensure_memory(sim->boundary_calls);
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
    threads_read_mail(sim);
    for (uint32_t i = 0; i < sim->boundary_call_count; i++)
        sim->boundary_calls[i].call(sim->boundary_calls[i].context, sim);
}

void sim_reset_periodics(Sim *sim) {
    for (uint32_t i = 0; i < sim->periodic_count; i++)
        schedule_periodic(sim, &sim->periodics[i]);
    set_next_periodic(sim);
}

static void call_periodics(Sim *sim) {
    threads_read_mail(sim);
    for (uint32_t i = 0; i < sim->periodic_count; i++) {
        Periodic *periodic = &sim->periodics[i];
        if (periodic->next > sim->now) continue;
        schedule_periodic(sim, periodic);
        periodic->call(periodic->context, sim);
    }
    set_next_periodic(sim);
}

/* When the first object is due, or any time before `end` at which one is. */
static uint64_t next_work(Sim *sim, uint64_t end) {
    uint64_t first = threads_first_work(sim);
    if (first < end) return first;
    threads_read_mail(sim);
    first = NEVER;
    for (uint32_t i = 0; i < sim->cluster_count && first >= end; i++)
        first = earlier_of(first, cluster_first_due(&sim->clusters[i]));
    return first;
}

StopReason sim_run(Sim *sim, uint64_t until) {
    ensure(sim->elaborated);
    if (sim->faulted) user_error("machine %s was stopped by an error and cannot go on", sim->name);
    threads_start(sim);
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
        if (__builtin_expect(end > sim->call_at, 0)) {
            threads_read_mail(sim);
            sim->call_before_quantum(sim->tracer, sim);
        }
        run_quantum(sim, end);
        if (sim->boundary_requested) make_boundary_calls(sim);
        if (sim->next_periodic <= sim->now) call_periodics(sim);
        if (sim->stop_requested) break;
    }
    threads_read_mail(sim);
    return sim->stop_requested ? STOP_REQUESTED : STOP_TIME;
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
