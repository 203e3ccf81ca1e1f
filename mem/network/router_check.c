/* Conservation and soundness of a router and of its network, what its buffers hold, and its report. */
#include "mem/network/router_state.h"

/* Of the room behind a channel every flit is with the sender as a credit, taken by a packet, or on its way
 * back. */
static void check_room(const Router *r, uint32_t k, uint32_t vc) {
    const Link *there = r->out[k].send, *back = r->out[k].receive;
    const Router *to = (const Router *)there->receiver;
    uint32_t from = k ^ 1; /* the port by which it comes in there: the opposite direction */
    uint64_t room = r->credits[k][vc] + to->queue[from][vc].flits + to->owed[from][vc];
    if (to->leaving[from].vc == vc) room += to->leaving[from].flits;
    FOR_LINK_MESSAGES (there, i) {
        const RouterPacket *packet = link_message(there, i);
        if (packet->vc == vc) room += packet->flits;
    }
    FOR_LINK_MESSAGES (back, i) {
        const RouterCredit *credit = link_message(back, i);
        if (credit->vc == vc) room += credit->flits;
    }
    if (room != r->buffer)
        panic("%s: channel %u, virtual channel %u: %lu flits of room are accounted for, of %u", r->obj.path,
              k, vc, room, r->buffer);
}

static uint64_t flits_of_queue(const Router *r, uint32_t k, uint32_t vc) {
    uint64_t flits = 0;
    for (uint32_t i = 0; i < r->queue[k][vc].count; i++)
        flits += slot_at(r, k, vc, i)->packet.flits;
    return flits;
}

static uint64_t packets_inside(const Router *r) {
    uint64_t packets = 0, buffered = 0;
    for (uint32_t k = 0; k < DIRECTIONS; k++)
        for (uint32_t vc = 0; vc < router_vcs(r); vc++) {
            if (flits_of_queue(r, k, vc) != r->queue[k][vc].flits)
                panic("%s: buffer %u of channel %u holds other flits than it counts, %u", r->obj.path, vc, k,
                      r->queue[k][vc].flits);
            packets += r->queue[k][vc].count;
            buffered += r->queue[k][vc].flits;
        }
    if (buffered != r->buffered)
        panic("%s: %lu flits are in its buffers, but it counts %u", r->obj.path, buffered, r->buffered);
    for (uint32_t port = 0; port < r->local_count; port++)
        packets += r->local[port].count;
    return packets;
}

static void check_network(const RouterNetwork *network, bool idle) {
    uint64_t in = 0, out = 0, inside = 0;
    for (uint32_t i = 0; i < network->count; i++) {
        const Router *r = network->routers[i];
        in += r->packets_in;
        out += r->packets_out;
        inside += r->inside;
        for (uint32_t k = 0; k < DIRECTIONS; k++)
            if (r->out[k].send) inside += link_sent(r->out[k].send) - link_received(r->out[k].send);
    }
    if (in - out != inside || (idle && inside))
        panic("%s: of %lu packets in its network, %lu have left and %lu are inside%s",
              network->owner->obj.path, in, out, inside, idle ? " although the machine is idle" : "");
}

void check_router(const SimObject *object, bool idle) {
    const Router *r = (const Router *)object;
    uint64_t inside = packets_inside(r), came = 0, left = 0;
    if (inside != r->inside) panic("%s: holds %lu packets, but counts %u", object->path, inside, r->inside);
    for (uint32_t i = 0; i < r->local_count; i++) {
        came += link_received(local_input(r, i));
        left += link_sent(local_output(r, i));
    }
    if (came != r->packets_in || left != r->packets_out)
        panic("%s: %lu packets came and %lu left, but its links gave it %lu and took %lu", object->path,
              r->packets_in, r->packets_out, came, left);
    for (uint32_t k = 0; k < DIRECTIONS; k++)
        for (uint32_t vc = 0; vc < router_vcs(r) && r->out[k].send; vc++)
            check_room(r, k, vc);
    if (r->network->owner == r) check_network(r->network, idle);
}

static void packet_is_sound(const char *where, const Router *r, const RouterPacket *packet) {
    mem_message_is_sound(where, &packet->message);
    sound(packet->vc < router_vcs(r), "%s: a packet in virtual channel %u", where, packet->vc);
    bool response = is_response_vc(r, packet->vc);
    uint32_t ports = response ? r->network->up_count : r->network->down_count;
    sound(packet->destination < ports, "%s: a packet for port %u of the network", where, packet->destination);
    sound(packet->flits == router_flits(r, &packet->message, response), "%s: a packet of %u flits", where,
          packet->flits);
    sound(mem_route_top(&packet->message) < r->network->up_count, "%s: a packet that came by no port", where);
    sound(packet->entered <= r->obj.sim->now, "%s: a packet that entered at tick %lu", where,
          packet->entered);
}

static void queue_is_sound(const Router *r, uint32_t k, uint32_t vc) {
    const RouterQueue *queue = &r->queue[k][vc];
    const char *path = r->obj.path;
    uint64_t flits = 0;
    sound(queue->first < r->ring && queue->count <= r->ring, "%s: a buffer of %u packets from %u on", path,
          queue->count, queue->first);
    for (uint32_t i = 0; i < queue->count; i++) {
        const RouterSlot *slot = slot_at(r, k, vc, i);
        packet_is_sound(path, r, &slot->packet);
        sound(slot->packet.vc == vc && slot->time <= r->obj.sim->now, "%s: a packet in the wrong buffer",
              path);
        flits += slot->packet.flits;
    }
    sound((r->filled >> queue_number(r, k, vc) & 1) == (queue->count != 0), "%s.filled: 0x%lx", path,
          r->filled);
    sound(flits == queue->flits && flits <= r->buffer, "%s: a buffer with %lu flits that counts %u", path,
          flits, queue->flits);
    sound(r->credits[k][vc] <= r->buffer && r->owed[k][vc] <= r->buffer &&
              r->vc_pointer[k][vc] < ROUTER_HEADS_MAX,
          "%s: %u credits, %u owed, pointer %u", path, r->credits[k][vc], r->owed[k][vc],
          r->vc_pointer[k][vc]);
}

static void local_is_sound(const Router *r, uint32_t port, uint64_t latest) {
    const RouterQueue *queue = &r->local[port];
    uint64_t flits = 0;
    sound(queue->first < r->output_buffer && queue->count <= r->output_buffer &&
              r->local_pointer[port] < ROUTER_HEADS_MAX,
          "%s: a local port with %u packets from %u on", r->obj.path, queue->count, queue->first);
    for (uint32_t i = 0; i < queue->count; i++) {
        const RouterSlot *slot = local_slot_at(r, port, i);
        packet_is_sound(r->obj.path, r, &slot->packet);
        sound(local_port_of(r, &slot->packet) == port && slot->time <= latest,
              "%s: a packet at the wrong local port", r->obj.path);
        flits += slot->packet.flits;
    }
    sound(flits == queue->flits && flits <= r->output_buffer,
          "%s: a local port with %lu flits that counts %u", r->obj.path, flits, queue->flits);
}

void router_is_sound(const SimObject *object, bool fits) {
    const Router *r = (const Router *)object;
    uint64_t latest = object->sim->now + (PACKET_BYTES_MAX + 1) * object->period;
    (void)fits;
    for (uint32_t k = 0; k < DIRECTIONS; k++) {
        for (uint32_t vc = 0; vc < router_vcs(r); vc++)
            queue_is_sound(r, k, vc);
        sound(r->leaving[k].vc < router_vcs(r) && r->leaving[k].flits <= r->buffer &&
                  r->leaving[k].at <= latest && r->channel_pointer[k] < router_vcs(r),
              "%s: %u flits leave virtual channel %u", object->path, r->leaving[k].flits, r->leaving[k].vc);
    }
    for (uint32_t port = 0; port < r->local_count; port++)
        local_is_sound(r, port, latest);
    for (uint32_t i = 0; i < r->outputs; i++)
        sound(r->input_free[i] <= latest && r->output_free[i] <= latest, "%s: busy until tick %lu",
              object->path, later_of(r->input_free[i], r->output_free[i]));
    sound(r->turn < r->outputs, "%s.turn: %u", object->path, r->turn);
    sound(r->filled >> (DIRECTIONS * router_vcs(r) - 1) <= 1, "%s.filled: 0x%lx", object->path, r->filled);
    sound(packets_inside(r) == r->inside, "%s.inside: %u", object->path, r->inside);
}

static void channel_packet_is_sound(const char *link, const SimObject *receiver, const void *message) {
    packet_is_sound(link, (const Router *)receiver, message);
}

static void credit_is_sound(const char *link, const SimObject *receiver, const void *message) {
    const Router *r = (const Router *)receiver;
    const RouterCredit *credit = message;
    sound(credit->vc < router_vcs(r) && credit->flits <= r->buffer,
          "%s: a credit of %u flits of virtual channel %u", link, credit->flits, credit->vc);
}

const Protocol router_channel_protocol = {.name = "router_channel",
                                          .request_bytes = sizeof(RouterPacket),
                                          .response_bytes = sizeof(RouterCredit),
                                          .request_is_sound = channel_packet_is_sound,
                                          .response_is_sound = credit_is_sound};

/* --- For the conservation of answers ------------------------------------------------------------- */

const Link *router_came_by(const SimObject *object, const void *message, uint32_t *depth) {
    const RouterNetwork *network = ((const Router *)object)->network;
    const MemMessage *m = message;
    if (!*depth || *depth > m->route_depth) return NULL;
    uint32_t port = mem_route_at(m, --*depth);
    return port < network->up_count ? network->up_router[port]->up[network->up_port[port]].receive : NULL;
}

/* Requests and responses inside know by which port the request came: as if they stood behind a port `down`. */
static void visit_packet(const Router *r, const RouterPacket *packet, RequestVisitor *visit, void *context) {
    if (!(packet->message.flags & MEM_POSTED)) visit(context, r->network->down[0].send, &packet->message);
}

void router_requests(const SimObject *object, RequestVisitor *visit, void *context) {
    const Router *r = (const Router *)object;
    for (uint32_t k = 0; k < DIRECTIONS; k++) {
        for (uint32_t vc = 0; vc < router_vcs(r); vc++)
            for (uint32_t i = 0; i < r->queue[k][vc].count; i++)
                visit_packet(r, &slot_at(r, k, vc, i)->packet, visit, context);
        if (!r->in[k].receive) continue;
        FOR_LINK_MESSAGES (r->in[k].receive, i)
            visit_packet(r, link_message(r->in[k].receive, i), visit, context);
    }
    for (uint32_t port = 0; port < r->local_count; port++)
        for (uint32_t i = 0; i < r->local[port].count; i++)
            visit_packet(r, &local_slot_at(r, port, i)->packet, visit, context);
}

void report_router(const SimObject *object, FILE *out) {
    static const char *const name[DIRECTIONS] = {"from_east", "from_west", "from_south", "from_north"};
    const Router *r = (const Router *)object;
    for (uint32_t k = 0; k < DIRECTIONS; k++)
        for (uint32_t vc = 0; vc < router_vcs(r); vc++) {
            if (!r->queue[k][vc].count) continue;
            const RouterSlot *slot = slot_at(r, k, vc, 0);
            const Router *to = destination_router(r, &slot->packet);
            fprintf(out,
                    "%s.%s: virtual channel %u: %u packets (%u flits); the first goes to %s, here since tick "
                    "%lu\n",
                    object->path, name[k], vc, r->queue[k][vc].count, r->queue[k][vc].flits, to->obj.path,
                    slot->time);
        }
    for (uint32_t port = 0; port < r->local_count; port++)
        if (r->local[port].count)
            fprintf(out, "%s: %u packets wait to be sent on by %s\n", object->path, r->local[port].count,
                    local_output(r, port)->name);
    for (uint32_t i = 0; i < r->local_count; i++)
        if (link_peek(local_input(r, i), object->sim->now))
            fprintf(out, "%s: a message waits in %s\n", object->path, local_input(r, i)->name);
}
