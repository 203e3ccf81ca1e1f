/* Where a router's state lies, for its files: router.c, its cycle; router_class.c, its rows and building;
 * router_check.c, its conservation laws. */
#ifndef WW_MEM_ROUTER_STATE_H
#define WW_MEM_ROUTER_STATE_H

#include "mem/network/router.h"

/* Virtual channels that keep packets of a ring apart: those that have yet to go round its end, and the others. */
static inline uint32_t escape_classes(const Router *r) {
    bool round = r->topology == TORUS && (r->columns > 1 || r->rows > 1);
    return round && r->dateline ? 2 : 1;
}

static inline Link *local_input(const Router *r, uint32_t input) {
    return input < r->up_count ? r->up[input].receive : r->down[input - r->up_count].receive;
}

static inline uint32_t queue_number(const Router *r, uint32_t k, uint32_t vc) {
    return k * router_vcs(r) + vc;
}

static inline RouterSlot *slot_at(const Router *r, uint32_t k, uint32_t vc, uint32_t place) {
    uint32_t slot = (r->queue[k][vc].first + place) & (r->ring - 1);
    return &r->slots[queue_number(r, k, vc) * r->ring + slot];
}

static inline RouterSlot *local_slot_at(const Router *r, uint32_t port, uint32_t place) {
    return &r->local_slots[port * r->output_buffer + (r->local[port].first + place) % r->output_buffer];
}

static inline const Router *destination_router(const Router *r, const RouterPacket *packet) {
    return is_response_vc(r, packet->vc) ? r->network->up_router[packet->destination]
                                         : r->network->down_router[packet->destination];
}

/* The local port, of those of its router, by which a packet leaves. */
static inline uint32_t local_port_of(const Router *r, const RouterPacket *packet) {
    return is_response_vc(r, packet->vc) ? r->network->up_port[packet->destination]
                                         : r->up_count + r->network->down_port[packet->destination];
}

static inline Link *local_output(const Router *r, uint32_t port) {
    return port < r->up_count ? r->up[port].send : r->down[port - r->up_count].send;
}

static inline uint32_t local_queue_number(const Router *r, uint32_t port) {
    return DIRECTIONS * router_vcs(r) + port;
}

/* --- router.c */
uint64_t tick_router(SimObject *object, uint64_t now);

/* --- router_check.c */
void check_router(const SimObject *object, bool idle);
void router_is_sound(const SimObject *object, bool fits);
const Link *router_came_by(const SimObject *object, const void *message, uint32_t *depth);
void router_requests(const SimObject *object, RequestVisitor *visit, void *context);
void report_router(const SimObject *object, FILE *out);

#endif
