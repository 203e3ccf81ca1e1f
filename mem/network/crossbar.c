/* Crossbar from requesters (ports `up`: SMs, caches, other networks) towards the L2 slices (ports `down`): two
 * independent subnets, requests down, responses up. A request leaves by the port behind which its slice lies
 * (slices.h).
 *
 * A subnet is an input-queued switch with output buffers. The FIFO of an input is its link; so an input asks
 * for one output at a time, and its head blocks what stands behind it. Every free output grants one asking
 * input (arbitration.h): unless told otherwise the first at or after its round-robin pointer, which moves past the winner: what one iteration of iSLIP
 * comes to when each input has a single request, so there is nothing left to accept.
 *
 * The switch runs in steps, `speedup` of them in a cycle. A packet of n flits comes in over the input channel
 * and leaves over the output channel at one flit per cycle each; between the two it occupies its input and
 * its output for n steps, though not less than until its tail has come in. Granted in cycle g, its tail is
 * sent on in cycle g + latency + n - 1, later when the output channel is busy or the link beyond is full. A
 * grant takes room for the whole packet in the output buffer, and returns it when the packet is sent on.
 *
 * A sectored L2 answers a request for a line sector by sector, each in a packet of its own. Here the answer
 * stays one packet, but with `response_part` it crosses in parts, each of which is granted like a packet, so
 * that parts from different inputs come to an output by turns. Room is taken with the last part: packets that
 * have begun to cross cannot keep each other from ending. Such an L2 also acknowledges each sector of a
 * write: with `acknowledgements` the one that crosses has the flits of so many. */
#include "mem/protocol/networks.h"

#include "mem/network/arbitration.h"
#include "mem/network/slices.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/memory_protocol.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_PORTS = 64, /* of a side: a set of ports is one word */
    MAX_PACKET_BYTES = HEADER_BYTES + LINE_BYTES_MAX,
    SECTOR_BYTES = 32,
    LATENCY_MAX = 1000,
};

typedef enum { REQUESTS, RESPONSES } Direction;
typedef enum { FOR_EACH_WRITE, FOR_EACH_SECTOR } Acknowledgements;

typedef struct {
    uint64_t free;         /* step from which its next part may cross                          */
    uint64_t channel_free; /* step by which the input channel has brought the last part's tail */
    uint64_t crossed;      /* flits of its head that have crossed in parts                     */
} Input;

typedef struct {
    uint64_t free;         /* step from which the next part may cross to it             */
    uint64_t channel_free; /* first time at which the output channel can take a flit    */
    uint64_t all_left;     /* by when what has crossed has left, if the link is not full */
    uint32_t first, count; /* packets in its ring                                       */
    uint32_t flits;        /* room taken in its buffer                                  */
    uint32_t pointer;      /* input with the highest priority                           */
} Output;

typedef struct {
    MemMessage message;
    uint64_t arrived;          /* ready at the input                           */
    uint64_t leaves;           /* earliest time at which its tail is sent on   */
    uint32_t flits, last_part; /* last_part: flits that crossed last */
} Packet;

/* What an input's link holds, as far as the switch has looked. */
typedef struct {
    Link *link;
    uint64_t ready; /* step in which the head is ready    */
    uint64_t step;  /* from which its first part may cross */
    uint32_t output, flits;
} Head;

typedef struct {
    Link *link;
    uint64_t inputs; /* that ask for this output                                      */
    uint64_t asked;  /* step in which the first of them asked since there were none */
} Target;

/* Each input with a head is in `timed` until the head's step has come, then among its target's inputs until
 * it has crossed; an input whose link was empty is in `idle`. All of it follows from links and state. */
typedef struct {
    Head head[MAX_PORTS];
    Target target[MAX_PORTS];
    uint64_t requested; /* outputs that inputs ask for */
    uint64_t timed, idle;
    uint64_t first_timed; /* no later than the step of any head in `timed` */
    uint64_t crossing;    /* step from which something may cross           */
    uint64_t sending;     /* time from which a packet may be sent on       */
    /* Inputs whose link may bring something in any cycle; a cut link does so at quantum boundaries only. */
    uint64_t uncut;
    uint64_t seen_quantum; /* the links have been looked at in this quantum                */
    uint64_t all_cut;      /* between the boundaries only the subnet itself changes anything */
    uint64_t latency;      /* of the switch, in ticks                                        */
} View;

typedef struct {
    uint32_t inputs, outputs;
    uint32_t ring; /* packets per output, a power of two */
    uint32_t packet_slots;
    uint64_t part;    /* flits that cross with one grant    */
    uint64_t sending; /* outputs with packets */
    Input input[MAX_PORTS];
    Output output[MAX_PORTS];
    Packet *packets; /* outputs * ring */
    uint64_t packets_in, packets_out, flits_in, flits_out;
    uint64_t conflicts, blocked_cycles, latency_ticks;
    View view;
} Subnet;

typedef struct {
    SimObject obj;
    uint32_t up_count, down_count;
    uint64_t flit;
    uint32_t latency, speedup, output_buffer, response_part, speedup_shift, acknowledgements;
    uint32_t arbitration, unused_number;
    char *class_priority;
    ClassTable priority;
    uint8_t flits[MAX_PACKET_BYTES + 1]; /* of a packet, by its bytes */
    uint8_t unused[7];
    Port *up, *down;
    const AddressMap *map;
    uint16_t *output_of; /* by number of the slice */
    Subnet request, response;
} Crossbar;

/* What a subnet does in a cycle is compiled once for each direction: they differ in questions whose answers
 * the host cannot foresee when both ask them in the same place. */
#define OF_EACH static inline __attribute__((always_inline))

/* An output's buffer among the queues of the object. */
static uint32_t buffer_queue(Direction direction, uint32_t output) {
    return direction * MAX_PORTS + output;
}

static const Packet *packet_at(const Subnet *net, uint32_t j, uint32_t place) {
    return &net->packets[j * net->ring + ((net->output[j].first + place) & (net->ring - 1))];
}

static Packet *oldest_packet(const Subnet *net, uint32_t j) {
    return &net->packets[j * net->ring + net->output[j].first];
}

/* When the tail of the output's oldest packet can be sent on, the link permitting. Its earlier parts have
 * left before. */
static uint64_t sending_time(const Crossbar *x, const Subnet *net, uint32_t j) {
    const Packet *packet = oldest_packet(net, j);
    return later_of(packet->leaves, net->output[j].channel_free + (packet->last_part - 1) * x->obj.period);
}

OF_EACH void send_oldest_packet(const Crossbar *x, Subnet *net, Direction direction, uint32_t j,
                                uint64_t now) {
    Output *output = &net->output[j];
    const Packet *packet = oldest_packet(net, j);
    memcpy(link_send(net->view.target[j].link, now), &packet->message, sizeof packet->message);
    net->packets_out++;
    net->flits_out += packet->flits;
    net->latency_ticks += now - packet->arrived;
    output->flits -= packet->flits;
    output->channel_free = now + x->obj.period;
    uint32_t slot = output->first;
    output->first = --output->count ? (slot + 1) & (net->ring - 1) : 0; /* few slots stay warm */
    audit_leave(&x->obj, buffer_queue(direction, j), slot);
    if (!output->count) net->sending &= ~(1ull << j);
}

/* When to look at the output again, which has sent what it can. */
OF_EACH uint64_t drain_output(const Crossbar *x, Subnet *net, Direction direction, uint32_t j, uint64_t now) {
    Link *link = net->view.target[j].link;
    uint64_t time = sending_time(x, net, j);
    if (time > now) return time;
    if (!link_can_send(link, now)) return link_space_time(link, now);
    send_oldest_packet(x, net, direction, j, now);
    net->view.crossing &= -(uint64_t)!net->view.target[j].inputs; /* there is room for who asks */
    return net->output[j].count ? sending_time(x, net, j) : NEVER;
}

OF_EACH void drain_outputs(const Crossbar *x, Subnet *net, Direction direction, uint64_t now) {
    uint64_t next = NEVER;
    for (uint64_t rest = net->sending; rest; rest &= rest - 1)
        next = earlier_of(next, drain_output(x, net, direction, (uint32_t)__builtin_ctzll(rest), now));
    net->view.sending = next;
}

/* Finds from when the head of an input that is not in `timed` may cross. Whether there is one the host cannot
 * foresee: without, the step is NEVER. */
static inline void look_at_input(const Crossbar *x, Subnet *net, uint32_t i) {
    View *view = &net->view;
    Head *head = &view->head[i];
    const Input *input = &net->input[i];
    uint64_t ready = link_next_ready(head->link), none = ready == NEVER;
    head->ready = object_cycle(&x->obj, ready) << x->speedup_shift;
    head->step = later_of(head->ready, later_of(input->free, input->channel_free)) | -none;
    view->idle = (view->idle & ~(1ull << i)) | none << i;
    view->timed |= (none ^ 1) << i;
    view->first_timed = earlier_of(view->first_timed, head->step);
    view->crossing = earlier_of(view->crossing, head->step);
}

static inline void look_at_idle_inputs(const Crossbar *x, Subnet *net, uint64_t inputs) {
    uint64_t filled = 0;
    for (uint64_t rest = net->view.idle & inputs; rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(rest);
        filled |= (uint64_t)(link_next_ready(net->view.head[i].link) != NEVER) << i;
    }
    for (; filled; filled &= filled - 1)
        look_at_input(x, net, (uint32_t)__builtin_ctzll(filled));
}

OF_EACH uint32_t route(const Crossbar *x, const MemMessage *message, Direction direction) {
    if (direction == REQUESTS) return x->output_of[address_map_slice(x->map, message->address)];
    uint32_t port = mem_route_top(message);
    ensure(port < x->up_count);
    return port;
}

/* Of the acknowledgements of a write: one for each sector in which a byte is written. */
static __attribute__((noinline)) uint32_t acknowledging_flits(const Crossbar *x, const MemMessage *message) {
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < LINE_BYTES_MAX / SECTOR_BYTES; i++)
        sectors += (uint32_t)(message->byte_mask[i / 2] >> i % 2 * SECTOR_BYTES) != 0;
    return x->flits[HEADER_BYTES] * (sectors ? sectors : 1);
}

OF_EACH uint32_t flits_of(const Crossbar *x, const MemMessage *message, Direction direction) {
    uint32_t bytes = direction == REQUESTS ? mem_request_bytes(message) : mem_response_bytes(message);
    if (direction == RESPONSES && x->acknowledgements == FOR_EACH_SECTOR && message->kind == MEM_WRITE)
        return acknowledging_flits(x, message);
    ensure(bytes <= MAX_PACKET_BYTES);
    return x->flits[bytes];
}

OF_EACH void ask(const Crossbar *x, Subnet *net, Direction direction, uint32_t i, uint64_t now) {
    View *view = &net->view;
    Head *head = &view->head[i];
    const MemMessage *message = link_peek(head->link, now);
    head->output = route(x, message, direction);
    head->flits = flits_of(x, message, direction);
    Target *target = &view->target[head->output];
    target->asked = earlier_of(target->asked | -(uint64_t)!target->inputs, head->step);
    target->inputs |= 1ull << i;
    view->requested |= 1ull << head->output;
}

OF_EACH void raise_requests(const Crossbar *x, Subnet *net, Direction direction, uint64_t step,
                            uint64_t now) {
    View *view = &net->view;
    uint64_t first = NEVER, come = 0;
    if (view->first_timed > step) return;
    for (uint64_t rest = view->timed; rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(rest);
        uint64_t time = view->head[i].step, comes = time <= step;
        come |= comes << i;
        first = earlier_of(first, time | -comes);
    }
    view->timed &= ~come;
    view->first_timed = first;
    for (; come; come &= come - 1)
        ask(x, net, direction, (uint32_t)__builtin_ctzll(come), now);
}

/* Steps in which the output could have been crossed to, had there been room in its buffer. Who has asked
 * since before the last grant could not have crossed before the output was free again; so `asked` may be that
 * of an input that has been served since. */
static uint64_t steps_blocked(const Subnet *net, uint32_t j, uint64_t step) {
    return step - later_of(net->view.target[j].asked, net->output[j].free);
}

OF_EACH void stamp(MemMessage *message, uint32_t input, Direction direction) {
    if (direction == REQUESTS)
        mem_enter_network(message, input);
    else
        mem_leave_network(message);
}

/* Takes room in the buffer of output j for a packet, which the caller fills. */
static Packet *enter_buffer(Subnet *net, uint32_t j, uint32_t flits) {
    Output *output = &net->output[j];
    uint32_t slot = (output->first + output->count++) & (net->ring - 1);
    output->flits += flits;
    net->sending |= 1ull << j;
    net->packets_in++;
    net->flits_in += flits;
    return &net->packets[j * net->ring + slot];
}

/* The head of input i, of which the last part has crossed, is in the buffer of output j. */
OF_EACH void end_crossing(const Crossbar *x, Subnet *net, Direction direction, uint32_t i, uint32_t j,
                          uint32_t last_part, uint64_t now) {
    Link *link = net->view.head[i].link;
    Packet *packet = enter_buffer(net, j, net->view.head[i].flits);
    audit_enter(&x->obj, buffer_queue(direction, j), (uint32_t)(packet - &net->packets[j * net->ring]));
    packet->message = *(const MemMessage *)link_peek(link, now);
    stamp(&packet->message, i, direction);
    packet->arrived = link_next_ready(link);
    packet->leaves = net->output[j].all_left - x->obj.period;
    packet->flits = net->view.head[i].flits;
    packet->last_part = last_part;
    if (net->output[j].count == 1) net->view.sending = earlier_of(net->view.sending, sending_time(x, net, j));
    net->input[i].crossed = 0;
    link_pop(link, now);
}

static void withdraw_request(View *view, uint32_t i, uint32_t j) {
    uint64_t inputs = view->target[j].inputs &= ~(1ull << i);
    view->requested &= ~((uint64_t)(inputs == 0) << j);
}

/* A part of the head of input i, or all of it, crosses to output j. As long as there is more of it, the input
 * goes on asking: the output is not free before the input is. */
OF_EACH void transfer(const Crossbar *x, Subnet *net, Direction direction, uint32_t i, uint32_t j,
                      uint64_t step, uint64_t now) {
    const Head *head = &net->view.head[i];
    Input *input = &net->input[i];
    Output *output = &net->output[j];
    uint64_t rest = head->flits - input->crossed, flits = rest < net->part ? rest : net->part;
    input->channel_free = later_of(head->ready, input->channel_free) + (flits << x->speedup_shift);
    input->free = output->free = later_of(step + flits, input->channel_free);
    input->crossed += flits;
    output->pointer = (i + 1) & (MAX_PORTS - 1); /* none of the inputs: as 0 */
    output->all_left = later_of(now + net->view.latency, output->all_left) + flits * x->obj.period;
    if (flits < rest) return;
    end_crossing(x, net, direction, i, j, (uint32_t)flits, now);
    withdraw_request(&net->view, i, j);
    look_at_input(x, net, i);
}

static Candidate candidate(const void *context, uint32_t i) {
    const Link *link = ((const Subnet *)context)->view.head[i].link;
    return (Candidate){link_peek(link, NEVER - 1), link_next_ready(link)};
}

/* Subscribers choose among those for which there is room, so that whoever they name crosses. */
static uint64_t with_room(const Crossbar *x, const Subnet *net, uint32_t j, uint64_t inputs) {
    uint64_t fit = 0;
    for (uint64_t rest = inputs; rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(rest);
        fit |= (uint64_t)(net->output[j].flits + net->view.head[i].flits <= x->output_buffer) << i;
    }
    return fit;
}

static __attribute__((noinline)) uint32_t choose_otherwise(const Crossbar *x, const Subnet *net,
                                                           Direction direction, uint32_t j, uint64_t inputs) {
    uint32_t winner = arbitration_winner(x->arbitration, &x->priority, inputs, net->output[j].pointer,
                                         candidate, net);
    uint64_t fit = with_room(x, net, j, inputs);
    if (!object_has_subscriber(&x->obj, ARBITRATE) || !(fit >> winner & 1)) return winner;
    return arbitration_ask((SimObject *)(uintptr_t)&x->obj, direction == RESPONSES, j, fit, winner);
}

/* Returns the first step in which an output is free that was busy. Those that wait for room are looked at
 * again when a packet has been sent. */
OF_EACH uint64_t arbitrate(const Crossbar *x, Subnet *net, Direction direction, bool by_turns, uint64_t step,
                           uint64_t now) {
    View *view = &net->view;
    uint64_t next = NEVER;
    for (uint64_t rest = view->requested; rest; rest &= rest - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(rest);
        const Output *output = &net->output[j];
        if (output->free <= step) {
            uint64_t inputs = view->target[j].inputs;
            uint32_t winner = by_turns ? first_at_or_after(inputs, output->pointer)
                                       : choose_otherwise(x, net, direction, j, inputs);
            /* The winner waits for room; were others let past, long packets would starve. */
            if (output->flits + view->head[winner].flits > x->output_buffer) continue;
            net->conflicts += (uint64_t)__builtin_popcountll(inputs) - 1;
            net->blocked_cycles += steps_blocked(net, j, step) >> x->speedup_shift;
            transfer(x, net, direction, winner, j, step, now);
        }
        next = earlier_of(next, output->free);
    }
    return next;
}

OF_EACH void cross(const Crossbar *x, Subnet *net, Direction direction, uint64_t first_step, uint64_t now) {
    uint64_t free = NEVER;
    bool by_turns = __builtin_expect((x->arbitration | x->obj.subscribed) == 0, 1);
    for (uint64_t step = first_step; step < first_step + x->speedup; step++) {
        raise_requests(x, net, direction, step, now);
        free = arbitrate(x, net, direction, by_turns, step, now);
    }
    net->view.crossing = earlier_of(net->view.first_timed, free);
}

static uint64_t wake_time(const Crossbar *x, const View *view) {
    if (view->crossing == NEVER) return view->sending;
    return earlier_of(view->sending, (view->crossing >> x->speedup_shift) * x->obj.period);
}

OF_EACH uint64_t tick_subnet(const Crossbar *x, Subnet *net, Direction direction, uint64_t now) {
    View *view = &net->view;
    uint64_t first_step = object_cycle(&x->obj, now) << x->speedup_shift, quantum = x->obj.sim->now;
    bool boundary = view->seen_quantum != quantum;
    view->seen_quantum = quantum;
    if (now >= view->sending || boundary || !view->all_cut) drain_outputs(x, net, direction, now);
    look_at_idle_inputs(x, net, boundary ? ~0ull : view->uncut);
    if (view->crossing < first_step + x->speedup) cross(x, net, direction, first_step, now);
    return wake_time(x, view);
}

static uint64_t tick_crossbar(SimObject *object, uint64_t now) {
    Crossbar *x = (Crossbar *)object;
    uint64_t requests = tick_subnet(x, &x->request, REQUESTS, now);
    uint64_t responses = tick_subnet(x, &x->response, RESPONSES, now);
    return requests < responses ? requests : responses;
}

static void size_subnet(Subnet *net, uint32_t inputs, uint32_t outputs, uint32_t output_buffer) {
    net->inputs = inputs;
    net->outputs = outputs;
    net->ring = 1;
    while (net->ring < output_buffer)
        net->ring *= 2;
    net->packet_slots = outputs * net->ring;
}

/* In flits. */
static uint32_t longest_packet(const Crossbar *x) {
    uint32_t data = x->flits[MAX_PACKET_BYTES], written = x->flits[HEADER_BYTES];
    if (x->acknowledgements == FOR_EACH_SECTOR) written *= LINE_BYTES_MAX / SECTOR_BYTES;
    return data > written ? data : written;
}

static void build_crossbar(SimObject *object) {
    Crossbar *x = (Crossbar *)object;
    for (uint32_t bytes = 1; bytes <= MAX_PACKET_BYTES; bytes++)
        x->flits[bytes] = (uint8_t)((bytes + x->flit - 1) / x->flit);
    uint32_t longest = longest_packet(x);
    arbitration_read_classes(&x->priority, object, x->class_priority);
    x->speedup_shift = (uint32_t)__builtin_ctz(x->speedup);
    if (x->output_buffer < longest)
        user_error("%s.output_buffer: expected %u flits (the longest packet) or more, got %u", object->path,
                   longest, x->output_buffer);
    size_subnet(&x->request, x->up_count, x->down_count, x->output_buffer);
    size_subnet(&x->response, x->down_count, x->up_count, x->output_buffer);
    x->request.part = longest;
    x->response.part = x->response_part ? x->response_part : longest;
}

static void init_view(const Crossbar *x, Subnet *net, const Port *from, const Port *to) {
    View *view = &net->view;
    memset(view, 0, sizeof *view);
    view->seen_quantum = view->first_timed = NEVER;
    view->all_cut = 1;
    view->latency = x->latency * x->obj.period;
    for (uint32_t i = 0; i < net->inputs; i++) {
        view->head[i].link = from[i].receive;
        view->idle |= 1ull << i;
        if (!link_is_cut(from[i].receive)) view->uncut |= 1ull << i;
    }
    for (uint32_t j = 0; j < net->outputs; j++) {
        view->target[j].link = to[j].send;
        view->all_cut &= link_is_cut(to[j].send);
    }
}

static uint64_t packets_in_buffer(const SimObject *object, uint32_t queue) {
    const Crossbar *x = (const Crossbar *)object;
    const Subnet *net = queue < MAX_PORTS ? &x->request : &x->response;
    return net->output[queue % MAX_PORTS].count;
}

static void audit_buffers(Crossbar *x, const Subnet *net, Direction direction) {
    const char *name = direction == REQUESTS ? "requests in an output buffer"
                                             : "responses in an output buffer";
    for (uint32_t j = 0; j < net->outputs; j++)
        audit_queue(&x->obj, buffer_queue(direction, j), name, QUEUE_FIFO, net->ring, packets_in_buffer);
}

static void init_crossbar(SimObject *object) {
    Crossbar *x = (Crossbar *)object;
    x->map = address_map_find(object);
    x->output_of = slices_behind_ports(object, x->down, x->down_count);
    init_view(x, &x->request, x->up, x->down);
    init_view(x, &x->response, x->down, x->up);
    audit_buffers(x, &x->request, REQUESTS);
    audit_buffers(x, &x->response, RESPONSES);
}

static void destroy_crossbar(SimObject *object) {
    free(((Crossbar *)object)->output_of);
}

/* The packets of an output's buffer, counted anew from their messages. */
static uint64_t flits_in_buffer(const Crossbar *x, const Subnet *net, Direction direction, uint32_t j) {
    const Output *output = &net->output[j];
    uint64_t flits = 0;
    for (uint32_t k = 0; k < output->count; k++) {
        const Packet *packet = packet_at(net, j, k);
        flits += flits_of(x, &packet->message, direction);
    }
    if (flits != output->flits || flits > x->output_buffer)
        panic("%s: output %u holds %lu flits in %u packets, but counts %u; its buffer is of %u flits",
              x->obj.path, j, flits, output->count, output->flits, x->output_buffer);
    return flits;
}

static uint64_t taken_from_inputs(const Subnet *net) {
    uint64_t packets = 0;
    for (uint32_t i = 0; i < net->inputs; i++)
        packets += link_received(net->view.head[i].link);
    return packets;
}

static uint64_t given_to_outputs(const Subnet *net) {
    uint64_t packets = 0;
    for (uint32_t j = 0; j < net->outputs; j++)
        packets += link_sent(net->view.target[j].link);
    return packets;
}

static void check_subnet(const Crossbar *x, const Subnet *net, Direction direction, bool idle) {
    const char *path = x->obj.path, *name = direction == REQUESTS ? "requests" : "responses";
    uint64_t packets = 0, flits = 0, taken = taken_from_inputs(net), given = given_to_outputs(net);
    for (uint32_t j = 0; j < net->outputs; j++) {
        packets += net->output[j].count;
        flits += flits_in_buffer(x, net, direction, j);
    }
    if (net->packets_in - net->packets_out != packets || net->flits_in - net->flits_out != flits)
        panic("%s: of %lu %s (%lu flits), %lu (%lu flits) have left and %lu (%lu flits) are inside", path,
              net->packets_in, name, net->flits_in, net->packets_out, net->flits_out, packets, flits);
    if (net->packets_in != taken || net->packets_out != given)
        panic("%s: %lu %s came and %lu left, but its links gave it %lu and took %lu", path, net->packets_in,
              name, net->packets_out, taken, given);
    if (idle && packets) panic("%s: %lu %s are inside although the machine is idle", path, packets, name);
}

/* Times of steps and ticks are at most as far ahead as the longest packet, its latency, and one that has
 * crossed before take. */
static void output_is_sound(const Crossbar *x, const Subnet *net, Direction direction, uint32_t j) {
    const Output *output = &net->output[j];
    const char *path = x->obj.path;
    uint64_t now = x->obj.sim->now, period = x->obj.period,
             ahead = longest_packet(x) + x->output_buffer + LATENCY_MAX;
    uint64_t latest = now + ahead * period, step = (object_cycle(&x->obj, now) + ahead) << x->speedup_shift;
    sound(output->first < net->ring && output->count <= net->ring && output->pointer < MAX_PORTS,
          "%s: output %u: %u packets from %u on", path, j, output->count, output->first);
    sound((net->sending >> j & 1) == (output->count != 0), "%s: output %u is marked as sending", path, j);
    sound(output->free <= step && output->channel_free <= latest && output->channel_free % period == 0 &&
              output->all_left <= latest && output->all_left % period == 0,
          "%s: output %u is free at step %lu, tick %lu", path, j, output->free, output->channel_free);
    for (uint32_t i = 0; i < output->count; i++) {
        const Packet *packet = packet_at(net, j, i);
        mem_message_is_sound(path, &packet->message);
        uint32_t flits = flits_of(x, &packet->message, direction);
        sound(packet->flits == flits && packet->last_part && packet->last_part <= flits &&
                  packet->leaves <= latest && packet->leaves % period == 0,
              "%s: output %u: a packet of %u flits, which leaves at tick %lu", path, j, packet->flits,
              packet->leaves);
    }
}

static void subnet_is_sound(const Crossbar *x, const Subnet *net, Direction direction) {
    const char *path = x->obj.path;
    uint64_t ahead = longest_packet(x) + x->output_buffer;
    uint64_t step = (object_cycle(&x->obj, x->obj.sim->now) + ahead) << x->speedup_shift;
    for (uint32_t i = 0; i < net->inputs; i++)
        sound(net->input[i].free <= step && net->input[i].channel_free <= step &&
                  net->input[i].crossed < longest_packet(x),
              "%s: input %u is free at step %lu", path, i, net->input[i].free);
    for (uint32_t j = 0; j < net->outputs; j++)
        output_is_sound(x, net, direction, j);
    sound(net->outputs == MAX_PORTS || net->sending >> net->outputs == 0, "%s: outputs 0x%lx send", path,
          net->sending);
}

static const Link *crossbar_came_by(const SimObject *object, const void *message, uint32_t *depth) {
    const Crossbar *x = (const Crossbar *)object;
    return mem_came_by(message, depth, x->up, x->up_count);
}

/* A request here knows already by which port it came, an answer no longer. */
static void crossbar_requests(const SimObject *object, RequestVisitor *visit, void *context) {
    const Crossbar *x = (const Crossbar *)object;
    for (uint32_t j = 0; j < x->request.outputs; j++)
        for (uint32_t i = 0; i < x->request.output[j].count; i++) {
            const MemMessage *m = &packet_at(&x->request, j, i)->message;
            if (!(m->flags & MEM_POSTED)) visit(context, x->down[j].send, m);
        }
    for (uint32_t j = 0; j < x->response.outputs; j++)
        for (uint32_t i = 0; i < x->response.output[j].count; i++)
            visit(context, x->up[j].receive, &packet_at(&x->response, j, i)->message);
}

static void crossbar_is_sound(const SimObject *object, bool fits) {
    const Crossbar *x = (const Crossbar *)object;
    (void)fits;
    subnet_is_sound(x, &x->request, REQUESTS);
    subnet_is_sound(x, &x->response, RESPONSES);
}

/* Every message that has come knows its way; a head of which some has crossed is there, and longer. */
static void check_inputs(const Crossbar *x, const Subnet *net, Direction direction) {
    for (uint32_t i = 0; i < net->inputs; i++) {
        const Link *link = net->view.head[i].link;
        FOR_LINK_MESSAGES (link, k) {
            const MemMessage *m = link_message(link, k);
            bool good = direction == REQUESTS ? m->route_depth < ROUTE_DEPTH
                                              : mem_route_top(m) < net->outputs;
            if (!good) panic("%s: a message for 0x%lx that has lost its way", x->obj.path, m->address);
        }
        if (!net->input[i].crossed) continue;
        if (link_sent(link) == link_received(link) ||
            net->input[i].crossed >= flits_of(x, link_message(link, link_received(link)), direction))
            panic("%s: %lu flits of the head of input %u have crossed, and it is not longer", x->obj.path,
                  net->input[i].crossed, i);
    }
}

static void check_crossbar(const SimObject *object, bool idle) {
    const Crossbar *x = (const Crossbar *)object;
    check_subnet(x, &x->request, REQUESTS, idle);
    check_subnet(x, &x->response, RESPONSES, idle);
    check_inputs(x, &x->request, REQUESTS);
    check_inputs(x, &x->response, RESPONSES);
}

static void report_subnet(const Crossbar *x, const Subnet *net, const char *from, const char *to, FILE *out) {
    const char *path = x->obj.path;
    for (uint64_t rest = net->sending; rest; rest &= rest - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(rest);
        const Packet *oldest = oldest_packet(net, j);
        fprintf(out, "%s.%s[%u]: %u packets (%u flits) wait to be sent on; the oldest came at tick %lu\n",
                path, to, j, net->output[j].count, net->output[j].flits, oldest->arrived);
    }
    for (uint32_t j = 0; j < net->outputs; j++)
        for (uint64_t rest = net->view.target[j].inputs; rest; rest &= rest - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(rest);
            fprintf(out, "%s.%s[%u]: its head has asked for %s[%u] since cycle %lu\n", path, from, i, to, j,
                    later_of(net->view.head[i].step, net->input[i].free) >> x->speedup_shift);
        }
}

static void report_crossbar(const SimObject *object, FILE *out) {
    const Crossbar *x = (const Crossbar *)object;
    report_subnet(x, &x->request, "up", "down", out);
    report_subnet(x, &x->response, "down", "up", out);
}

static Ratio utilisation(const SimObject *object, const Subnet *net) {
    return ratio_of(net->flits_out, object_cycle(object, object->sim->now) * net->outputs);
}

static Ratio mean_latency(const SimObject *object, const Subnet *net) {
    return ratio_of(net->latency_ticks, net->packets_out * object->period);
}

static Ratio request_utilisation(const SimObject *o) {
    return utilisation(o, &((const Crossbar *)o)->request);
}
static Ratio response_utilisation(const SimObject *o) {
    return utilisation(o, &((const Crossbar *)o)->response);
}
static Ratio request_latency(const SimObject *o) {
    return mean_latency(o, &((const Crossbar *)o)->request);
}
static Ratio response_latency(const SimObject *o) {
    return mean_latency(o, &((const Crossbar *)o)->response);
}

/* clang-format off */
#define SUBNET(net)                                                                                           \
    DERIVED(Crossbar, net.inputs, "Input ports"),                                                             \
    DERIVED(Crossbar, net.outputs, "Output ports"),                                                           \
    DERIVED(Crossbar, net.ring, "Packet slots per output"),                                                   \
    DERIVED(Crossbar, net.packet_slots, "Packet slots in all"),                                               \
    DERIVED(Crossbar, net.part, "Flits that cross with one grant"),                                           \
    STATE(Crossbar, net.sending, "Outputs with packets"),                                                     \
    STATE(Crossbar, net.input, "When each input is free"),                                                    \
    STATE(Crossbar, net.output, "Each output's ring, buffer and round-robin pointer"),                        \
    STATE_ARRAY(Crossbar, net.packets, net.packet_slots, "Packets in the output buffers"),                    \
    STAT_NAMED(Crossbar, net.packets_in, #net "_packets_in", "packets", "Packets that left their input"),     \
    STAT_NAMED(Crossbar, net.packets_out, #net "_packets_out", "packets", "Packets sent on"),                 \
    STAT_NAMED(Crossbar, net.flits_in, #net "_flits_in", "flits", "Flits that left their input"),             \
    STAT_NAMED(Crossbar, net.flits_out, #net "_flits_out", "flits", "Flits sent on"),                         \
    STAT_NAMED(Crossbar, net.conflicts, #net "_conflicts", "packets",                                         \
               "Packets that lost an arbitration, once for each"),                                            \
    STAT_NAMED(Crossbar, net.blocked_cycles, #net "_blocked_cycles", "cycles",                                \
               "Cycles in which the next packet found no room in its output's buffer, over all outputs"),     \
    STAT_NAMED(Crossbar, net.latency_ticks, #net "_latency_ticks", "ticks",                                   \
               "Time from ready at the input to sent on, over all packets"),                                  \
    HOST(Crossbar, net.view, "What the links hold, as far as the switch has looked"),                         \
    FORMULA(#net "_utilisation", net##_utilisation, "ratio", "Busy part of the output channels"),             \
    FORMULA(#net "_latency", net##_latency, "cycles", "Mean time from ready at the input to sent on")
/* clang-format on */

static void call_head(SimObject *object, MethodCall *call) {
    const Crossbar *x = (const Crossbar *)object;
    const Subnet *net = call->argument[0].flag ? &x->response : &x->request;
    uint32_t input = (uint32_t)call->argument[1].whole;
    if (input < net->inputs)
        arbitration_head(call, candidate(net, input));
    else
        method_refuse(call, "input: expected 0 to %u, got %u", net->inputs - 1, input);
}

static const Method crossbar_methods[] = {
    METHOD("head", call_head, HEAD_DOC,
           TAKES(FLAG_VALUE("responses"), WHOLE_NUMBER("input", .min = 0, .max = MAX_PORTS - 1)),
           HEAD_RESULTS, MAY_BE_NIL),
    METHODS_END};

static const Field crossbar_fields[] = {
    BASE(Crossbar),
    PARAM_NAMED(Crossbar, up_count, "up", REQUIRED, "ports", "Ports towards the SMs", .min = 1,
                .max = MAX_PORTS),
    PARAM_NAMED(Crossbar, down_count, "down", REQUIRED, "ports",
                "Ports towards the L2 slices; each slice lies behind one of them", .min = 1,
                .max = MAX_PORTS),
    PARAM(Crossbar, flit, "32B", "bytes", "What a channel carries in a cycle", .min = 1, .max = 1024),
    PARAM(Crossbar, latency, "1", "cycles", "From a flit's crossing to the output channel", .min = 1,
          .max = LATENCY_MAX, .timing = true),
    PARAM(Crossbar, speedup, "1", "steps", "Flits that cross from an input to an output in a cycle", .min = 1,
          .max = 8, .power_of_two = true, .timing = true),
    PARAM(Crossbar, output_buffer, "16", "flits", "Buffer of each output", .min = 1, .max = 4096),
    PARAM(Crossbar, response_part, "0", "flits",
          "Responses cross in parts of so many, each arbitrated for like a packet; 0: as a whole",
          .max = 1024),
    PARAM_CHOICE(Crossbar, acknowledgements, "write", "write|sector",
                 "Packets that acknowledge a write: one, or one for each sector of 32 B in which it wrote"),
    PARAM_CHOICE(Crossbar, arbitration, "round_robin", ARBITRATION_WORDS, ARBITRATION_DOC, .timing = true),
    PARAM(Crossbar, class_priority, "", "priorities", CLASS_PRIORITY_DOC, .timing = true),
    DERIVED(Crossbar, priority, "Of each class"),
    DERIVED(Crossbar, unused_number, "Padding"),
    DERIVED(Crossbar, speedup_shift, "log2(speedup)"),
    DERIVED(Crossbar, flits, "Flits of a packet, by its bytes"),
    DERIVED(Crossbar, unused, "Padding"),
    PORT_ARRAY(Crossbar, up, up_count, memory_protocol, ROLE_RESPONDER, "Towards the SMs"),
    PORT_ARRAY(Crossbar, down, down_count, memory_protocol, ROLE_REQUESTER, "Towards the L2 slices"),
    HOST(Crossbar, map, "The machine's address map"),
    HOST(Crossbar, output_of, "The port behind which each slice lies"),
    SUBNET(request),
    SUBNET(response),
    FIELDS_END,
};

const Class crossbar_class = {
    .name = "Crossbar",
    .doc = "Crossbar network from requesters to L2 slices: arbitration for each output, back-pressure",
    .passes_on = true,
    .bytes = sizeof(Crossbar),
    .fields = crossbar_fields,
    .events = arbitration_events,
    .methods = crossbar_methods,
    .build = build_crossbar,
    .init = init_crossbar,
    .tick = tick_crossbar,
    .is_sound = crossbar_is_sound,
    .came_by = crossbar_came_by,
    .requests_inside = crossbar_requests,
    .check = check_crossbar,
    .report = report_crossbar,
    .destroy = destroy_crossbar,
};
REGISTER_CLASS(crossbar_class);
