/* A network of routers: a rectangle of them, in a mesh or a torus. A ring is a torus of one row. */
#include "mem/network/router.h"

#include "core/sim/base/host_memory.h"
#include "core/sim/ways.h"
#include "mem/network/slices.h"

#include <stdlib.h>

static const char *const to_name[DIRECTIONS] = {"east", "west", "south", "north"};
static const char *const from_name[DIRECTIONS] = {"from_east", "from_west", "from_south", "from_north"};
static const RouterDirection opposite[DIRECTIONS] = {WEST, EAST, NORTH, SOUTH};

/* Where a channel of this direction leads; false: over the edge of a mesh, or back to the router itself. */
static bool neighbour(const Router *r, RouterDirection direction, uint32_t *x, uint32_t *y) {
    bool along_row = direction == EAST || direction == WEST;
    uint32_t side = along_row ? r->columns : r->rows, at = along_row ? r->x : r->y;
    bool forward = direction == EAST || direction == SOUTH;
    bool edge = forward ? at == side - 1 : at == 0;
    if (side == 1 || (edge && r->topology == MESH)) return false;
    uint32_t to = forward ? (edge ? 0 : at + 1) : (edge ? side - 1 : at - 1);
    *x = along_row ? to : r->x;
    *y = along_row ? r->y : to;
    return true;
}

static void check_alike(const Router *r, const Router *other) {
    bool alike = r->columns == other->columns && r->rows == other->rows && r->topology == other->topology &&
                 r->routing == other->routing && r->vcs == other->vcs && r->buffer == other->buffer &&
                 r->flit == other->flit && r->dateline == other->dateline && r->obj.clock == other->obj.clock;
    if (!alike)
        user_error(
            "%s: expected the columns, rows, topology, routing, vcs, buffer, flit, dateline and clock of "
            "%s, to which it is wired, got others",
            object_path(&other->obj), object_path(&r->obj));
}

static const Router *receiver_of(const Router *r, RouterDirection k) {
    const SimObject *object = r->out[k].send->receiver;
    return (const Router *)object;
}

static void check_channel(const Router *r, RouterDirection k) {
    uint32_t x = 0, y = 0;
    bool wanted = neighbour(r, k, &x, &y);
    const char *path = object_path(&r->obj);
    if (!wanted && (r->out[k].send || r->in[k].send))
        user_error("%s.%s: expected no wire, as router x = %u, y = %u of %u columns and %u rows has no "
                   "neighbour there, got one",
                   path, r->out[k].send ? to_name[k] : from_name[k], r->x, r->y, r->columns, r->rows);
    if (!wanted) return;
    if (!r->out[k].send || !r->in[k].send)
        user_error("%s.%s: expected a wire %s the router at x = %u, y = %u, got none", path,
                   r->out[k].send ? from_name[k] : to_name[k], r->out[k].send ? "from" : "to", x, y);
    const Router *to = receiver_of(r, k);
    check_alike(r, to);
    if (to->x != x || to->y != y || to->in[opposite[k]].receive != r->out[k].send)
        user_error("%s.%s: expected a wire to port %s of the router at x = %u, y = %u, got one to %s "
                   "(x = %u, y = %u): %s",
                   path, to_name[k], from_name[opposite[k]], x, y, object_path(&to->obj), to->x, to->y,
                   r->out[k].send->name);
}

static void find(RouterNetwork *network, Router *r) {
    if (r->network) return;
    r->network = network;
    network->found[network->count++] = r;
}

/* Checks a router, and finds those to which its channels lead. */
static void gather(RouterNetwork *network, Router *r) {
    Router **place = &network->routers[router_node(r)];
    for (uint32_t k = 0; k < DIRECTIONS; k++)
        check_channel(r, (RouterDirection)k);
    if (*place)
        user_error("%s: expected another x or y than %s has, got x = %u, y = %u", object_path(&r->obj),
                   object_path(&(*place)->obj), r->x, r->y);
    *place = r;
    network->up_count += r->up_count;
    network->down_count += r->down_count;
    for (uint32_t k = 0; k < DIRECTIONS; k++)
        if (r->out[k].send) find(network, (Router *)(uintptr_t)receiver_of(r, (RouterDirection)k));
}

static void number_ports(RouterNetwork *network, uint32_t places) {
    uint32_t ups = 0, downs = 0;
    network->up_router = zeroed(network->up_count, sizeof(Router *));
    network->up_port = zeroed(network->up_count, sizeof(uint32_t));
    network->down_router = zeroed(network->down_count, sizeof(Router *));
    network->down_port = zeroed(network->down_count, sizeof(uint32_t));
    network->down = zeroed(network->down_count, sizeof(Port));
    for (uint32_t i = 0; i < places; i++) {
        Router *r = network->routers[i];
        r->first_up = ups;
        for (uint32_t p = 0; p < r->up_count; p++, ups++) {
            network->up_router[ups] = r;
            network->up_port[ups] = p;
        }
        for (uint32_t p = 0; p < r->down_count; p++, downs++) {
            network->down_router[downs] = r;
            network->down_port[downs] = p;
            network->down[downs] = r->down[p];
        }
    }
}

void router_join_network(Router *r) {
    if (r->network) return;
    RouterNetwork *network = zeroed(1, sizeof *network);
    uint32_t places = r->columns * r->rows;
    network->routers = zeroed(places, sizeof(Router *));
    network->owner = r;
    /* Of more routers than places two have the same, which shows at the latest when one more than places has been
     * looked at. */
    network->found = zeroed((size_t)DIRECTIONS * places + 1, sizeof(Router *));
    find(network, r);
    for (uint32_t i = 0; i < network->count; i++)
        gather(network, network->found[i]);
    ensure(network->count == places);
    number_ports(network, places);
    if (network->up_count > ROUTE_PORTS || !network->down_count)
        user_error("%s: expected up to %d ports up and one port down or more in its network, got %u and %u",
                   object_path(&r->obj), ROUTE_PORTS, network->up_count, network->down_count);
    network->slice_at = slices_behind_ports(&r->obj, network->down, network->down_count);
}

void router_leave_network(Router *r) {
    RouterNetwork *network = r->network;
    if (!network || network->owner != r) return;
    free(network->routers);
    free(network->found);
    free(network->up_router);
    free(network->up_port);
    free(network->down_router);
    free(network->down_port);
    free(network->down);
    free(network->slice_at);
    free(network);
}

/* --- For walks over the machine ------------------------------------------------------------------ */

typedef struct {
    RequestLinkVisitor *visit;
    void *context;
} Onward;

static void visit_if_memory(void *context, const Field *port, const Link *requests) {
    const Onward *onward = context;
    if (requests->protocol != &router_channel_protocol) onward->visit(onward->context, port, requests);
}

void visit_onward_links(const SimObject *object, RequestLinkVisitor *visit, void *context) {
    Onward onward = {visit, context};
    const Router *r = (const Router *)object;
    if (object->class != &router_class || !r->network) {
        visit_request_links(object, visit_if_memory, &onward);
        return;
    }
    const Field *port = object_field(object, FIELD_PORT_ARRAY, "down");
    for (uint32_t i = 0; i < r->network->down_count; i++)
        visit(context, port, r->network->down[i].send);
}
