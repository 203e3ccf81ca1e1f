/* Router of a mesh, a torus or a ring. Virtual cut-through: a packet goes on as soon as its head has come, if the
 * next buffer has room for all of it; then its flits follow without a gap, one in a cycle. So a packet that is
 * blocked lies in one buffer. Why nothing can wait in a circle: README.md.
 *
 * The head of each buffer, and of each local port's link, asks for the output buffers that its routing allows.
 * Each virtual channel of an output has a round-robin pointer over the heads that ask for it; its winner waits
 * for room, or long packets would starve. Of the winners that have room one crosses, by turns. An input and an
 * output are taken for as many cycles as the packet has flits. */
#include "mem/network/router_state.h"

#include <string.h>

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
        mem_enter_network(&packet.message, m, (uint32_t)r->first_up + input);
    }
    return packet;
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

static void send_on(Router *r, uint32_t port, uint64_t now) {
    RouterQueue *queue = &r->local[port];
    const RouterSlot *slot = local_slot_at(r, port, 0);
    if (slot->time > now || !link_can_send(local_output(r, port), now)) return;
    MemMessage *sent = link_send(local_output(r, port), now);
    if (port < r->up_count)
        mem_leave_network(sent, &slot->packet.message);
    else
        *sent = slot->packet.message;
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

/* Of these heads, those with so many flits or fewer. */
static uint64_t that_fit(const Heads *heads, uint64_t asking, uint64_t flits) {
    uint64_t fit = 0;
    for (; asking; asking &= asking - 1) {
        uint32_t head = (uint32_t)__builtin_ctzll(asking);
        fit |= (uint64_t)(heads->packet[head]->flits <= flits) << head;
    }
    return fit;
}

/* The winner fits; subscribers choose among those that do, so that whoever they name crosses. */
COLD static uint32_t ask_policies(Router *r, const Heads *heads, uint32_t output, uint64_t asking,
                                  uint64_t flits, uint32_t winner) {
    uint64_t fit = that_fit(heads, asking, flits);
    bool responses = is_response_vc(r, heads->packet[winner]->vc);
    return arbitration_ask(&r->obj, responses, output, (PortSet){&fit, 1}, winner);
}

Candidate router_head(const Router *r, uint32_t head) {
    uint32_t locals = r->up_count + r->down_count, queue = head - locals;
    uint64_t now = r->obj.cluster->now;
    if (head >= r->heads) return (Candidate){0};
    if (head < locals) {
        Link *link = local_input(r, head);
        return (Candidate){link_peek(link, now), link_next_ready(link)};
    }
    if (!(r->filled >> queue & 1)) return (Candidate){0};
    const RouterSlot *slot = slot_at(r, queue / router_vcs(r), queue % router_vcs(r), 0);
    return (Candidate){&slot->packet.message, slot->time};
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
        if (object_has_subscriber(&r->obj, ARBITRATE))
            winner = ask_policies(r, heads, k, asking, r->credits[k][vc], winner);
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
    RouterQueue *queue = &r->local[port];
    if (queue->flits + heads->packet[winner]->flits > r->output_buffer) return false;
    if (object_has_subscriber(&r->obj, ARBITRATE))
        winner = ask_policies(r, heads, DIRECTIONS + port, asking, r->output_buffer - queue->flits, winner);
    const RouterPacket *packet = heads->packet[winner];
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

uint64_t tick_router(SimObject *object, uint64_t now) {
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
