/* Router of a mesh, a torus or a ring. Virtual cut-through: a packet goes on as soon as its head has come, if the
 * next buffer has room for all of it; then its flits follow without a gap, one in a cycle. So a packet that is
 * blocked lies in one buffer. Why nothing can wait in a circle: README.md.
 *
 * The head of each buffer, and of each local port's link, asks for the output buffers that its routing allows.
 * Each virtual channel of an output has a round-robin pointer over the heads that ask for it; its winner waits
 * for room, or long packets would starve. Of the winners that have room one crosses, by turns. An input and an
 * output are taken for as many cycles as the packet has flits. */
#include "mem/network/router.h"

#include <string.h>

enum { LATENCY_MAX = 1000 };

/* --- Where to ------------------------------------------------------------------------------------ */

/* How far it is along one dimension in the direction of growing numbers, and in the other; 0: there. */
typedef struct {
    uint32_t forward, backward;
} Distance;

static Distance distance(const Router *r, uint32_t from, uint32_t to, uint32_t side) {
    if (from == to) return (Distance){0, 0};
    if (r->topology == TORUS) return (Distance){(to + side - from) % side, (from + side - to) % side};
    return to > from ? (Distance){to - from, UINT32_MAX} : (Distance){UINT32_MAX, from - to};
}

/* Both ways of a ring may be as long: then half of the routers go forward. Only the first router has such a
 * choice. */
static bool goes_forward(Distance d, uint32_t from) {
    return d.forward < d.backward || (d.forward == d.backward && from % 2 == 0);
}

/* Virtual channels that keep packets of a ring apart: those that have yet to go round its end, and the others. */
static uint32_t escape_classes(const Router *r) {
    bool round = r->topology == TORUS && (r->columns > 1 || r->rows > 1);
    return round && r->dateline ? 2 : 1;
}

static uint32_t escape_class(const Router *r, bool forward, uint32_t from, uint32_t to) {
    if (escape_classes(r) == 1) return 0;
    return forward ? from > to : from < to;
}

/* The heads that ask for each output, as sets. */
typedef struct {
    uint64_t channel[DIRECTIONS][CHANNEL_VCS_MAX];
    uint64_t local[ROUTER_HEADS_MAX];
} Asks;

typedef struct {
    const Router *router;
    uint32_t x, y; /* of the router to which the packet goes */
    uint64_t head; /* as a set of one */
    bool response;
} Asking;

static void ask_for_classes(const Asking *a, Asks *asks, RouterDirection k, uint32_t class, bool adaptive) {
    const Router *r = a->router;
    uint32_t base = a->response ? r->vcs : 0, classes = escape_classes(r);
    if (adaptive) {
        asks->channel[k][base + class] |= a->head;
        return;
    }
    for (uint32_t v = class; v < r->vcs; v += classes)
        asks->channel[k][base + v] |= a->head;
}

static void ask_for_any(const Asking *a, Asks *asks, RouterDirection k) {
    uint32_t base = a->response ? a->router->vcs : 0;
    for (uint32_t v = escape_classes(a->router); v < a->router->vcs; v++)
        asks->channel[k][base + v] |= a->head;
}

static void ask_for_channels(const Asking *a, Asks *asks) {
    const Router *r = a->router;
    Distance row = distance(r, r->x, a->x, r->columns), column = distance(r, r->y, a->y, r->rows);
    bool adaptive = r->routing == ADAPTIVE;
    if (adaptive && row.forward) { /* any of the shortest ways */
        if (row.forward <= row.backward) ask_for_any(a, asks, EAST);
        if (row.backward <= row.forward) ask_for_any(a, asks, WEST);
    }
    if (adaptive && column.forward) {
        if (column.forward <= column.backward) ask_for_any(a, asks, SOUTH);
        if (column.backward <= column.forward) ask_for_any(a, asks, NORTH);
    }
    if (row.forward) {
        bool forward = goes_forward(row, r->x);
        ask_for_classes(a, asks, forward ? EAST : WEST, escape_class(r, forward, r->x, a->x), adaptive);
    } else {
        bool forward = goes_forward(column, r->y);
        ask_for_classes(a, asks, forward ? SOUTH : NORTH, escape_class(r, forward, r->y, a->y), adaptive);
    }
}

/* --- Inputs -------------------------------------------------------------------------------------- */

/* Heads are numbered: those of the up ports' links, of the down ports', then of the buffers. */
static uint32_t buffer_head(const Router *r, uint32_t k, uint32_t vc) {
    return r->up_count + r->down_count + k * router_vcs(r) + vc;
}

/* Up ports, down ports, directions. */
static uint32_t input_of(const Router *r, uint32_t head) {
    uint32_t local = r->up_count + r->down_count;
    return head < local ? head : local + (head - local) / router_vcs(r);
}

/* As a set. */
static uint64_t heads_of(const Router *r, uint32_t input) {
    uint32_t local = r->up_count + r->down_count;
    return input < local ? 1ull << input : ((1ull << router_vcs(r)) - 1) << buffer_head(r, input - local, 0);
}

static Link *local_input(const Router *r, uint32_t input) {
    return input < r->up_count ? r->up[input].receive : r->down[input - r->up_count].receive;
}

static uint32_t queue_number(const Router *r, uint32_t k, uint32_t vc) {
    return k * router_vcs(r) + vc;
}

static RouterSlot *slot_at(const Router *r, uint32_t k, uint32_t vc, uint32_t place) {
    uint32_t slot = (r->queue[k][vc].first + place) & (r->ring - 1);
    return &r->slots[queue_number(r, k, vc) * r->ring + slot];
}

static RouterSlot *local_slot_at(const Router *r, uint32_t port, uint32_t place) {
    return &r->local_slots[port * r->output_buffer + (r->local[port].first + place) % r->output_buffer];
}

/* A message at a local port as a packet. */
static RouterPacket packet_of(const Router *r, uint32_t input, const MemMessage *m, uint64_t ready) {
    bool response = input >= r->up_count;
    RouterPacket packet = {.message = *m, .entered = ready};
    packet.flits = (uint8_t)router_flits(r, m, response);
    if (response) {
        uint32_t port = mem_route_top(m);
        ensure(port < r->network->up_count);
        packet.destination = (uint16_t)port;
        packet.vc = (uint8_t)r->vcs;
    } else {
        packet.destination = r->network->slice_at[address_map_slice(r->map, m->address)];
        mem_enter_network(&packet.message, (uint32_t)r->first_up + input);
    }
    return packet;
}

static const Router *destination_router(const Router *r, const RouterPacket *packet) {
    return is_response_vc(r, packet->vc) ? r->network->up_router[packet->destination]
                                         : r->network->down_router[packet->destination];
}

/* The local port, of those of its router, by which a packet leaves. */
static uint32_t local_port_of(const Router *r, const RouterPacket *packet) {
    return is_response_vc(r, packet->vc) ? r->network->up_port[packet->destination]
                                         : r->up_count + r->network->down_port[packet->destination];
}

static void receive_packets(Router *r, uint32_t k, uint64_t now) {
    if (!r->in[k].receive) return;
    for (const RouterPacket *packet; (packet = link_peek(r->in[k].receive, now));) {
        RouterQueue *queue = &r->queue[k][packet->vc];
        ensure(queue->flits + packet->flits <= r->buffer);
        RouterSlot *slot = slot_at(r, k, packet->vc, queue->count);
        slot->packet = *packet;
        slot->time = link_next_ready(r->in[k].receive);
        queue->count++;
        queue->flits += packet->flits;
        r->filled |= 1ull << queue_number(r, k, packet->vc);
        r->buffered += packet->flits;
        r->inside++;
        audit_enter(&r->obj, queue_number(r, k, packet->vc),
                    (uint32_t)(slot - &r->slots[queue_number(r, k, packet->vc) * r->ring]));
        link_pop(r->in[k].receive, now);
    }
}

static void receive_credits(Router *r, uint32_t k, uint64_t now) {
    if (!r->out[k].receive) return;
    for (const RouterCredit *credit; (credit = link_peek(r->out[k].receive, now));) {
        r->credits[k][credit->vc] += credit->flits;
        ensure(r->credits[k][credit->vc] <= r->buffer);
        link_pop(r->out[k].receive, now);
    }
}

/* One message in a cycle for each virtual channel, while the link takes them. True when some are left. */
static bool return_to(Router *r, uint32_t k, uint64_t now) {
    Leaving *leaving = &r->leaving[k];
    if (leaving->flits && leaving->at <= now) {
        r->owed[k][leaving->vc] += leaving->flits;
        *leaving = (Leaving){0};
    }
    for (uint32_t vc = 0; vc < router_vcs(r); vc++) {
        if (!r->owed[k][vc]) continue;
        if (!link_can_send(r->in[k].send, now)) return true;
        *(RouterCredit *)link_send(r->in[k].send, now) = (RouterCredit){vc, r->owed[k][vc]};
        r->owed[k][vc] = 0;
    }
    return leaving->flits;
}

static void return_credits(Router *r, uint64_t now) {
    bool left = false;
    for (uint32_t k = 0; k < DIRECTIONS; k++)
        if (r->in[k].send) left |= return_to(r, k, now);
    r->owed_anything = left;
}

/* --- Outputs ------------------------------------------------------------------------------------- */

static Link *local_output(const Router *r, uint32_t port) {
    return port < r->up_count ? r->up[port].send : r->down[port - r->up_count].send;
}

static uint32_t local_queue_number(const Router *r, uint32_t port) {
    return DIRECTIONS * router_vcs(r) + port;
}

static void send_on(Router *r, uint32_t port, uint64_t now) {
    RouterQueue *queue = &r->local[port];
    const RouterSlot *slot = local_slot_at(r, port, 0);
    if (slot->time > now || !link_can_send(local_output(r, port), now)) return;
    MemMessage *sent = link_send(local_output(r, port), now);
    *sent = slot->packet.message;
    if (port < r->up_count) mem_leave_network(sent);
    r->packets_out++;
    r->hops += slot->packet.hops;
    r->latency_ticks += now - slot->packet.entered;
    queue->flits -= slot->packet.flits;
    uint32_t first = queue->first;
    queue->first = (first + 1) % r->output_buffer;
    queue->count--;
    r->inside--;
    audit_leave(&r->obj, local_queue_number(r, port), first);
}

/* --- The switch ---------------------------------------------------------------------------------- */

/* What a head is, while the switch is set. */
typedef struct {
    const RouterPacket *packet[ROUTER_HEADS_MAX];
    RouterPacket entering[ROUTER_HEADS_MAX]; /* of the local ports */
    uint64_t came[ROUTER_HEADS_MAX];
    Asks asks;
    uint64_t busy; /* heads whose inputs are taken */
} Heads;

static void ask(const Router *r, Heads *heads, uint32_t head) {
    const RouterPacket *packet = heads->packet[head];
    const Router *to = destination_router(r, packet);
    Asking asking = {r, to->x, to->y, 1ull << head, is_response_vc(r, packet->vc)};
    if (to == r)
        heads->asks.local[local_port_of(r, packet)] |= asking.head;
    else
        ask_for_channels(&asking, &heads->asks);
}

/* Raises the requests of heads whose time has come. */
static bool raise_requests(const Router *r, Heads *heads, uint64_t now) {
    uint64_t pipeline = r->latency * r->obj.period, any = 0;
    uint32_t locals = r->up_count + r->down_count;
    for (uint32_t i = 0; i < locals; i++) {
        uint64_t ready = link_next_ready(local_input(r, i));
        if (ready > now || ready + pipeline > now || r->input_free[i] > now) continue;
        heads->entering[i] = packet_of(r, i, link_peek(local_input(r, i), now), ready);
        heads->packet[i] = &heads->entering[i];
        heads->came[i] = ready;
        ask(r, heads, i);
        any = 1;
    }
    for (uint64_t rest = r->filled; rest; rest &= rest - 1) {
        uint32_t queue = (uint32_t)__builtin_ctzll(rest), k = queue / router_vcs(r);
        const RouterSlot *slot = slot_at(r, k, queue % router_vcs(r), 0);
        if (r->input_free[locals + k] > now || slot->time + pipeline > now) continue;
        heads->packet[locals + queue] = &slot->packet;
        heads->came[locals + queue] = slot->time;
        ask(r, heads, locals + queue);
        any = 1;
    }
    return any;
}

static Candidate candidate(const void *context, uint32_t head) {
    const Heads *heads = context;
    return (Candidate){&heads->packet[head]->message, heads->came[head]};
}

static uint32_t choose(const Router *r, const Heads *heads, uint64_t asking, uint32_t pointer) {
    PortSet set = {&asking, 1};
    return arbitration_winner(r->arbitration, &r->priority, set, pointer, candidate, heads);
}

/* The head has crossed: it leaves its link or its buffer, and its input is taken. */
static void leave_input(Router *r, Heads *heads, uint32_t head, uint64_t now) {
    uint32_t locals = r->up_count + r->down_count, input = input_of(r, head);
    const RouterPacket *packet = heads->packet[head];
    r->input_free[input] = now + packet->flits * r->obj.period;
    heads->busy |= heads_of(r, input);
    if (head < locals) {
        link_pop(local_input(r, head), now);
        r->packets_in++;
        r->inside++;
        return;
    }
    uint32_t k = input - locals, vc = packet->vc;
    RouterQueue *queue = &r->queue[k][vc];
    uint32_t slot = queue->first;
    queue->first = (slot + 1) & (r->ring - 1);
    if (--queue->count == 0) r->filled &= ~(1ull << queue_number(r, k, vc));
    audit_leave(&r->obj, queue_number(r, k, vc), slot);
    queue->flits -= packet->flits;
    r->buffered -= packet->flits;
    r->owed_anything = 1;
    r->leaving[k] = (Leaving){now + (packet->flits - 1) * r->obj.period, vc, packet->flits};
}

static void cross_to_channel(Router *r, Heads *heads, uint32_t head, uint32_t k, uint32_t vc, uint64_t now) {
    leave_input(r, heads, head, now);
    RouterPacket *sent = link_send(r->out[k].send, now);
    *sent = *heads->packet[head];
    sent->vc = (uint8_t)vc;
    sent->hops++;
    r->inside--;
    r->credits[k][vc] -= sent->flits;
    r->channel_flits[k] += sent->flits;
    r->output_free[k] = now + sent->flits * r->obj.period;
    r->vc_pointer[k][vc] = (head + 1) % ROUTER_HEADS_MAX;
    r->channel_pointer[k] = (vc + 1) % router_vcs(r);
}

/* True when a packet crosses. */
static bool serve_channel(Router *r, Heads *heads, uint32_t k, uint64_t now) {
    uint32_t vcs = router_vcs(r);
    for (uint32_t i = 0; i < vcs; i++) {
        uint32_t vc = (r->channel_pointer[k] + i) % vcs;
        uint64_t asking = heads->asks.channel[k][vc] & ~heads->busy;
        if (!asking) continue;
        uint32_t winner = choose(r, heads, asking, r->vc_pointer[k][vc]);
        if (r->credits[k][vc] < heads->packet[winner]->flits) {
            r->credit_stall_cycles++;
            continue;
        }
        if (!link_can_send(r->out[k].send, now)) return false;
        r->conflicts += (uint64_t)__builtin_popcountll(asking) - 1;
        cross_to_channel(r, heads, winner, k, vc, now);
        return true;
    }
    return false;
}

static bool serve_local(Router *r, Heads *heads, uint32_t port, uint64_t now) {
    uint64_t asking = heads->asks.local[port] & ~heads->busy;
    if (!asking) return false;
    uint32_t winner = choose(r, heads, asking, r->local_pointer[port]);
    const RouterPacket *packet = heads->packet[winner];
    RouterQueue *queue = &r->local[port];
    if (queue->flits + packet->flits > r->output_buffer) return false;
    leave_input(r, heads, winner, now);
    uint32_t flits = packet->flits;
    RouterSlot *slot = local_slot_at(r, port, queue->count++);
    *slot = (RouterSlot){*packet, now + (flits - 1) * r->obj.period};
    queue->flits += flits;
    audit_enter(&r->obj, local_queue_number(r, port),
                (uint32_t)(slot - &r->local_slots[port * r->output_buffer]));
    r->conflicts += (uint64_t)__builtin_popcountll(asking) - 1;
    r->local_flits += flits;
    r->output_free[DIRECTIONS + port] = now + flits * r->obj.period;
    r->local_pointer[port] = (winner + 1) % ROUTER_HEADS_MAX;
    return true;
}

static void set_switch(Router *r, uint64_t now) {
    Heads heads;
    for (uint32_t k = 0; k < DIRECTIONS; k++)
        memset(heads.asks.channel[k], 0, router_vcs(r) * sizeof heads.asks.channel[k][0]);
    memset(heads.asks.local, 0, r->local_count * sizeof heads.asks.local[0]);
    heads.busy = 0;
    if (!raise_requests(r, &heads, now)) return;
    uint32_t first = r->turn;
    for (uint32_t i = 0; i < r->outputs; i++) {
        uint32_t output = (first + i) % r->outputs;
        if (r->output_free[output] > now) continue;
        bool crossed = output < DIRECTIONS ? serve_channel(r, &heads, output, now)
                                           : serve_local(r, &heads, output - DIRECTIONS, now);
        if (crossed) r->turn = (output + 1) % r->outputs;
    }
}

/* The first of its links' messages that it has not taken. */
static uint64_t next_arrival(const Router *r) {
    uint64_t next = NEVER;
    for (uint32_t i = 0; i < r->up_count + r->down_count; i++)
        next = earlier_of(next, link_next_ready(local_input(r, i)));
    for (uint32_t k = 0; k < DIRECTIONS; k++) {
        if (!r->out[k].send) continue;
        next = earlier_of(next, link_next_ready(r->in[k].receive));
        next = earlier_of(next, link_next_ready(r->out[k].receive));
    }
    return next;
}

static uint64_t tick_router(SimObject *object, uint64_t now) {
    Router *r = (Router *)object;
    for (uint32_t k = 0; k < DIRECTIONS; k++) {
        receive_packets(r, k, now);
        receive_credits(r, k, now);
    }
    if (r->owed_anything) return_credits(r, now);
    r->buffered_flits += r->buffered;
    set_switch(r, now);
    for (uint32_t port = 0; port < r->local_count; port++)
        if (r->local[port].count) send_on(r, port, now);
    uint64_t arrival = next_arrival(r), soon = now + r->obj.period;
    if (r->inside || r->owed_anything) return soon;
    return later_of(arrival, soon) | -(uint64_t)(arrival == NEVER);
}

/* --- Building ------------------------------------------------------------------------------------ */

static void check_vcs(const Router *r) {
    uint32_t classes = escape_classes(r), least = classes + (r->routing == ADAPTIVE);
    if (r->vcs < least)
        user_error("%s.vcs: expected %u or more (%s%s), got %u", r->obj.path, least,
                   classes == 2 ? "two for a torus' dateline" : "one in dimension order",
                   r->routing == ADAPTIVE ? ", one to be chosen freely" : "", r->vcs);
}

static void build_router(SimObject *object) {
    Router *r = (Router *)object;
    for (uint32_t bytes = 1; bytes <= PACKET_BYTES_MAX; bytes++)
        r->flits_of[bytes] = (uint8_t)((bytes + r->flit - 1) / r->flit);
    uint32_t longest = r->flits_of[PACKET_BYTES_MAX];
    if (r->x >= r->columns || r->y >= r->rows)
        user_error("%s: expected x below columns = %u and y below rows = %u, got x = %u, y = %u",
                   object->path, r->columns, r->rows, r->x, r->y);
    if (r->buffer < longest || r->output_buffer < longest)
        user_error("%s.%s: expected %u flits (the longest packet) or more, got %u", object->path,
                   r->buffer < longest ? "buffer" : "output_buffer", longest,
                   r->buffer < longest ? r->buffer : r->output_buffer);
    check_vcs(r);
    arbitration_read_classes(&r->priority, object, r->class_priority);
    r->local_count = r->up_count + r->down_count;
    r->heads = r->local_count + DIRECTIONS * router_vcs(r);
    if (r->heads > ROUTER_HEADS_MAX)
        user_error("%s: expected up + down + 8 * vcs up to %d, got %u + %u + 8 * %u", object->path,
                   ROUTER_HEADS_MAX, r->up_count, r->down_count, r->vcs);
    r->ring = 1;
    while (r->ring < r->buffer)
        r->ring *= 2;
    r->slot_count = DIRECTIONS * router_vcs(r) * r->ring;
    r->local_slot_count = r->local_count * r->output_buffer;
    r->outputs = r->input_count = DIRECTIONS + r->local_count;
}

static uint64_t packets_in_queue(const SimObject *object, uint32_t queue) {
    const Router *r = (const Router *)object;
    uint32_t buffers = DIRECTIONS * router_vcs(r);
    if (queue >= buffers) return r->local[queue - buffers].count;
    return r->queue[queue / router_vcs(r)][queue % router_vcs(r)].count;
}

static void init_router(SimObject *object) {
    Router *r = (Router *)object;
    r->map = address_map_find(object);
    router_join_network(r);
    for (uint32_t k = 0; k < DIRECTIONS; k++)
        for (uint32_t vc = 0; vc < router_vcs(r); vc++) {
            r->credits[k][vc] = r->out[k].send ? r->buffer : 0;
            audit_queue(object, queue_number(r, k, vc), "packets in a buffer", QUEUE_FIFO, r->ring,
                        packets_in_queue);
        }
    for (uint32_t port = 0; port < r->local_count; port++)
        audit_queue(object, local_queue_number(r, port), "packets at a local port", QUEUE_FIFO,
                    r->output_buffer, packets_in_queue);
}

static void destroy_router(SimObject *object) {
    router_leave_network((Router *)object);
}

/* --- Checks -------------------------------------------------------------------------------------- */

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

static void check_router(const SimObject *object, bool idle) {
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

static void router_is_sound(const SimObject *object, bool fits) {
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

static const Link *router_came_by(const SimObject *object, const void *message, uint32_t *depth) {
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

static void router_requests(const SimObject *object, RequestVisitor *visit, void *context) {
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

static void report_router(const SimObject *object, FILE *out) {
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

static Ratio mean_hops(const SimObject *object) {
    const Router *r = (const Router *)object;
    return ratio_of(r->hops, r->packets_out);
}

static Ratio mean_latency(const SimObject *object) {
    const Router *r = (const Router *)object;
    return ratio_of(r->latency_ticks, r->packets_out * object->period);
}

static Ratio mean_occupancy(const SimObject *object) {
    const Router *r = (const Router *)object;
    return ratio_of(r->buffered_flits, object_cycle(object, object->sim->now));
}

#define NEIGHBOUR(k, n)                                                                                      \
    PORT_NAMED(Router, out[k], n, router_channel_protocol, ROLE_REQUESTER, "Channel to the router there",    \
               .optional = true),                                                                            \
        PORT_NAMED(Router, in[k], "from_" n, router_channel_protocol, ROLE_RESPONDER,                        \
                   "Channel from the router there", .optional = true)

static const Field router_fields[] = {
    BASE(Router),
    PARAM_NAMED(Router, up_count, "up", "1", "ports", "Local ports towards requesters",
                .max = ROUTER_HEADS_MAX),
    PARAM_NAMED(Router, down_count, "down", "0", "ports", "Local ports towards the L2 slices",
                .max = ROUTER_HEADS_MAX),
    PARAM(Router, x, "0", "routers", "Its place in its row, from the west", .max = SIDE_MAX - 1),
    PARAM(Router, y, "0", "routers", "Its place in its column, from the north", .max = SIDE_MAX - 1),
    PARAM(Router, columns, REQUIRED, "routers", "Routers in a row of the network", .min = 1, .max = SIDE_MAX),
    PARAM(Router, rows, "1", "routers", "Routers in a column of the network", .min = 1, .max = SIDE_MAX),
    PARAM_CHOICE(Router, topology, "mesh", "mesh|torus",
                 "torus: rows and columns are rings; of one row: a ring"),
    PARAM_CHOICE(Router, routing, "dimension_order", "dimension_order|adaptive",
                 "dimension_order: along the row, then along the column; adaptive: any shortest way"),
    PARAM(Router, vcs, "2", "channels", "Virtual channels for requests, and as many for responses", .min = 1,
          .max = ROUTER_VCS_MAX),
    PARAM(Router, flit, "32B", "bytes", "What a channel carries in a cycle", .min = 1, .max = 1024),
    PARAM(Router, buffer, "8", "flits", "Buffer of each virtual channel of an input", .min = 1, .max = 1024),
    PARAM(Router, output_buffer, "16", "flits", "Buffer of each local output", .min = 1, .max = 1024),
    PARAM(Router, latency, "2", "cycles", "From a head's arrival to its crossing", .max = LATENCY_MAX,
          .timing = true),
    PARAM_CHOICE(Router, arbitration, "round_robin", ARBITRATION_WORDS, ARBITRATION_DOC, .timing = true),
    PARAM(Router, class_priority, "", "priorities", CLASS_PRIORITY_DOC, .timing = true),
    DERIVED(Router, priority, "Of each class"),
    DERIVED(Router, padding, "Padding"),
    PARAM_FLAG(Router, dateline, "true",
               "Packets that have yet to go round the end of a ring have virtual channels of their own; "
               "false: a full "
               "ring may hang"),
    DERIVED(Router, ring, "Packet slots of a buffer"),
    PORT_ARRAY(Router, up, up_count, memory_protocol, ROLE_RESPONDER, "From requesters"),
    PORT_ARRAY(Router, down, down_count, memory_protocol, ROLE_REQUESTER, "Towards the L2 slices"),
    NEIGHBOUR(EAST, "east"),
    NEIGHBOUR(WEST, "west"),
    NEIGHBOUR(SOUTH, "south"),
    NEIGHBOUR(NORTH, "north"),
    HOST(Router, map, "The machine's address map"),
    HOST(Router, network, "What the routers of a network share"),
    HOST(Router, first_up, "Number of its first up port in the network"),
    DERIVED(Router, heads, "Heads of inputs"),
    DERIVED(Router, outputs, "Channels and local ports"),
    DERIVED(Router, slot_count, "Packet slots of all buffers"),
    DERIVED(Router, local_slot_count, "Packet slots of all local outputs"),
    DERIVED(Router, input_count, "Local ports and channels"),
    DERIVED(Router, local_count, "Local ports"),
    DERIVED(Router, flits_of, "Flits of a packet, by its bytes"),
    DERIVED(Router, unused, "Padding"),
    STATE(Router, queue, "Each buffer's ring"),
    STATE_ARRAY(Router, slots, slot_count, "Packets in the buffers"),
    STATE_ARRAY(Router, local, local_count, "Each local output's ring"),
    STATE_ARRAY(Router, local_slots, local_slot_count, "Packets at the local outputs"),
    STATE_ARRAY(Router, input_free, input_count, "When each input is free"),
    STATE_ARRAY(Router, output_free, outputs, "When each output is free"),
    STATE(Router, credits, "Flits of room behind each channel"),
    STATE(Router, owed, "Credits to be returned"),
    STATE(Router, leaving, "Packet that is leaving each input"),
    STATE(Router, vc_pointer, "Each virtual channel's round-robin pointer"),
    STATE(Router, channel_pointer, "Each channel's round-robin pointer"),
    STATE_ARRAY(Router, local_pointer, local_count, "Each local output's round-robin pointer"),
    STATE(Router, filled, "Buffers with packets"),
    STATE(Router, turn, "Output that is looked at first"),
    STATE(Router, inside, "Packets inside"),
    STATE(Router, buffered, "Flits in the buffers"),
    STATE(Router, owed_anything, "There are credits to be returned"),
    STAT(Router, packets_in, "packets", "Packets that entered the network here"),
    STAT(Router, packets_out, "packets", "Packets that left the network here"),
    STAT(Router, hops, "channels", "Channels that the packets which left here have crossed"),
    STAT(Router, latency_ticks, "ticks", "Time in the network of the packets that left here"),
    STAT(Router, conflicts, "packets", "Packets that lost an arbitration, once for each"),
    STAT(Router, credit_stall_cycles, "cycles",
         "Cycles in which a virtual channel's next packet found no room behind a free channel"),
    STAT(Router, buffered_flits, "flits", "Flits in the buffers, summed over cycles"),
    STAT_NAMED(Router, channel_flits[EAST], "east_flits", "flits", "Flits sent to the east"),
    STAT_NAMED(Router, channel_flits[WEST], "west_flits", "flits", "Flits sent to the west"),
    STAT_NAMED(Router, channel_flits[SOUTH], "south_flits", "flits", "Flits sent to the south"),
    STAT_NAMED(Router, channel_flits[NORTH], "north_flits", "flits", "Flits sent to the north"),
    STAT(Router, local_flits, "flits", "Flits that crossed to local ports"),
    FORMULA("mean_hops", mean_hops, "channels", "Channels that a packet which left here has crossed"),
    FORMULA("latency_mean", mean_latency, "cycles", "Time in the network of a packet that left here"),
    FORMULA("occupancy", mean_occupancy, "flits", "Flits in the buffers in a cycle"),
    FIELDS_END,
};

const Class router_class = {
    .name = "Router",
    .doc = "Router of a mesh, a torus or a ring: virtual cut-through, credits, virtual channels",
    .bytes = sizeof(Router),
    .fields = router_fields,
    .build = build_router,
    .init = init_router,
    .tick = tick_router,
    .is_sound = router_is_sound,
    .came_by = router_came_by,
    .requests_inside = router_requests,
    .check = check_router,
    .report = report_router,
    .destroy = destroy_router,
};
REGISTER_CLASS(router_class);
