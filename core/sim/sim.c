/* Running a machine, quantum by quantum. */
#include "core/sim/sim.h"

/* Whoever is poked by an object ticked earlier in the same cycle finds the message in its links anyway, so
 * the order of the objects cannot matter. */
static void tick_object(Cluster *cluster, uint32_t index, uint64_t now) {
    SimObject *object = cluster->current = cluster->objects[index];
    cluster->due[index] = NEVER;
    uint64_t next = object->class->tick(object, now);
    debug_ensure(next > now && (next == NEVER || next % object->period == 0));
    if (next < cluster->due[index]) cluster->due[index] = next;
}

static void cluster_run(Cluster *cluster, uint64_t end) {
    while (cluster->next < end) {
        uint64_t now = cluster->now = cluster->next;
        cluster->next = NEVER; /* lowered below, and by pokes to objects that have had their turn */
        for (uint32_t i = 0; i < cluster->count; i++) {
            if (cluster->due[i] <= now) tick_object(cluster, i, now);
            if (cluster->due[i] < cluster->next) cluster->next = cluster->due[i];
        }
        cluster->current = NULL;
    }
}

/* Lets the two ends of the cut links touched in this quantum see each other's progress. */
static void exchange_links(Cluster *cluster, uint64_t boundary) {
    for (uint32_t i = 0; i < cluster->exchange_count; i++) {
        Link *link = cluster->exchange[i];
        if (link->push_listed && link->sender->cluster == cluster) {
            link->push_listed = 0;
            if (link->pushed_seen != link->pushed) {
                uint64_t first = link->ready[link->pushed_seen & link->slot_mask];
                link->pushed_seen = link->pushed;
                link_update_next_ready(link);
                object_poke(link->receiver, first);
            }
        }
        if (link->pop_listed && link->receiver->cluster == cluster) {
            bool was_full = link->pushed - link->popped_seen == link->depth;
            uint64_t period = link->sender->period;
            link->pop_listed = 0;
            link->popped_seen = link->popped;
            if (was_full) object_poke(link->sender, (boundary + period - 1) / period * period);
        }
    }
    cluster->exchange_count = 0;
}

static void commit_objects(Sim *sim) {
    for (uint32_t i = 0; i < sim->committer_count; i++) {
        SimObject *object = sim->committers[i];
        if (!object->commit_requested) continue;
        object->commit_requested = 0;
        object->class->commit(object);
    }
}

static void run_quantum(Sim *sim, uint64_t end) {
    bool reversed = sim->order != ORDER_PATH;
    for (uint32_t i = 0; i < sim->cluster_count; i++)
        cluster_run(&sim->clusters[reversed ? sim->cluster_count - 1 - i : i], end);
    for (uint32_t i = 0; i < sim->cluster_count; i++)
        exchange_links(&sim->clusters[i], end);
    commit_objects(sim);
    sim->now = end;
}

/* Quanta in which nothing is due are skipped: time jumps. */
static uint64_t next_work(const Sim *sim) {
    uint64_t first = NEVER;
    for (uint32_t i = 0; i < sim->cluster_count; i++)
        if (sim->clusters[i].next < first) first = sim->clusters[i].next;
    return first;
}

StopReason sim_run(Sim *sim, uint64_t until) {
    ensure(sim->elaborated);
    sim->stop_requested = 0;
    while (sim->now < until) {
        uint64_t work = next_work(sim), end = sim->now + sim->quantum;
        if (work == NEVER) return STOP_IDLE;
        if (work >= end) {
            uint64_t quantum_of_work = work / sim->quantum * sim->quantum;
            if (quantum_of_work >= until) {
                sim->now = (until + sim->quantum - 1) / sim->quantum * sim->quantum;
                return STOP_TIME;
            }
            sim->now = quantum_of_work;
            end = sim->now + sim->quantum;
        }
        run_quantum(sim, end);
        if (sim->stop_requested) return STOP_REQUESTED;
    }
    return STOP_TIME;
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
}

void sim_report(const Sim *sim, FILE *out) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class->report) sim->objects[i]->class->report(sim->objects[i], out);
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        if (link->pushed != link->popped)
            fprintf(out, "link %s holds %lu of %u messages, the oldest ready at tick %lu (now %lu)\n",
                    link->name, link->pushed - link->popped, link->depth,
                    link->ready[link->popped & link->slot_mask], sim->now);
    }
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
        for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
            if (f->kind != FIELD_STAT && f->kind != FIELD_FORMULA) continue;
            bool integral = f->kind == FIELD_STAT;
            double value = integral ? (double)*(const uint64_t *)((const char *)object + f->offset)
                                    : f->formula(object);
            snprintf(name, sizeof name, "%s.%s", object->path, f->name);
            visit(context, name, value, integral, f->unit, f->doc);
        }
    }
}
