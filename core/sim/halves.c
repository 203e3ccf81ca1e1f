#include "core/sim/halves.h"

#include "core/sim/threads.h"
#include "core/sim/work_split.h"

void object_poke_whole(SimObject *object, uint64_t time) {
    SimObject *half = object_half_apart(object);
    object_poke(object, time);
    if (half) object_poke(half, time);
}

uint64_t object_due(const SimObject *object) {
    const SimObject *half = object_half_apart(object);
    return half && *half->due < *object->due ? *half->due : *object->due;
}

static void give_response_links(const Sim *sim, const SimObject *from, SimObject *to) {
    for (uint32_t i = 0; i < sim->link_count; i++) {
        Link *link = sim->links[i];
        if (link->requests && link->sender == from) link->sender = to;
        if (link->requests && link->receiver == from) link->receiver = to;
    }
}

void halves_update(const SimObject *object) {
    SimObject *half = object->class->response_half ? object->class->response_half(object) : NULL;
    if (!half) return;
    half->period = object->period;
    half->inverse = object->inverse;
    half->shift = object->shift;
}

void halves_part(SimObject *object, Cluster *cluster) {
    SimObject *half = object->class->response_half(object);
    Turn *turn = &cluster->turns[cluster->count++];
    *turn = (Turn){.object = half, .tick = object->class->tick_responses};
    half->cluster = cluster;
    half->due = &turn->due;
    half->cluster_due = &cluster->next;
    give_response_links(object->sim, object, half);
}

static uint64_t nothing_to_do(SimObject *half, uint64_t now) {
    (void)half, (void)now;
    return NEVER;
}

static void empty_turn(const SimObject *half) {
    for (Turn *turn = half->cluster->turns;; turn++) {
        if (turn->object != half) continue;
        turn->due = NEVER;
        turn->tick = nothing_to_do;
        return;
    }
}

void object_join_halves(SimObject *object) {
    SimObject *half = object_half_apart(object);
    Sim *sim = object->sim;
    if (!half) return;
    ensure(sim_is_at_rest(sim));
    threads_read_mail(sim);
    object_poke(object, *half->due);
    empty_turn(half);
    half->cluster = object->cluster;
    half->due = object->due;
    half->cluster_due = object->cluster_due;
    give_response_links(sim, half, object);
    if (sim->split.chain) work_split_note_threads(sim);
    sim_share_exchanges(sim);
}
