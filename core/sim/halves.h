/* Objects in two halves: of a crossbar, the requests and the responses, which share nothing that changes within a quantum.
 *
 * Where such an object is alone in its cluster, its response half is apart: in a cluster of its own, with a turn of its own,
 * and the links that carry responses have the half as their end. So two threads may run a crossbar, which is the longest of
 * all clusters. Whoever subscribes to its events or looks on joins the halves first, since what it sees comes in the order
 * of the whole object's cycles. Whether they are apart changes no result. */
#ifndef WW_SIM_HALVES_H
#define WW_SIM_HALVES_H

#include "core/sim/sim.h"

/* The response half, if the object has one and it is apart; else NULL. */
static inline SimObject *object_half_apart(const SimObject *object) {
    SimObject *half = object->class->response_half ? object->class->response_half(object) : NULL;
    return half && half->due != object->due ? half : NULL;
}

/* What an end of a link is an object or a half of. */
static inline SimObject *object_whole(const SimObject *end) {
    return end->sim->objects[end->id];
}

/* Pokes the object and, where it is apart, its half. */
void object_poke_whole(SimObject *object, uint64_t time);
/* When the first of both is due. */
uint64_t object_due(const SimObject *object);
/* At rest: from now on it is one. */
void object_join_halves(SimObject *object);

/* For the files of this folder. Takes the object's half, a copy of it so far, apart. */
void halves_part(SimObject *object, Cluster *cluster);
/* As much of the object as its half has a copy of has changed. */
void halves_update(const SimObject *object);
/* The tick of a turn that is neither traced nor watched. */
static inline uint64_t (*turn_own_tick(const Turn *turn))(SimObject *, uint64_t) {
    const SimObject *object = turn->object;
    return object_whole(object) == object ? object->class->tick : object->class->tick_responses;
}

#endif
