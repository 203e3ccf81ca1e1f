/* Crossbar from requesters (ports `up`: SMs, caches, other networks) towards the L2 slices (ports `down`): two
 * independent subnets, requests down, responses up. A request leaves by the port behind which its slice lies
 * (slices.h).
 *
 * A subnet is an input-queued switch with output buffers. The FIFO of an input is its link; so an input asks
 * for one output at a time, and its head blocks what stands behind it. Every free output grants one asking
 * input (arbitration.h): unless told otherwise the first at or after its round-robin pointer, which moves past
 * the winner: what one iteration of iSLIP comes to when each input has a single request, so there is nothing
 * left to accept.
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
#include "mem/network/crossbar_state.h"

#include <string.h>

/* What a subnet does in a cycle is compiled once for each direction: they differ in questions whose answers
 * the host cannot foresee when both ask them in the same place. And once more for plain crossbars, as nearly all
 * are: a cycle has one step, turns decide, and nobody subscribes. `wide`: sets of ports have several words. */
#define OF_EACH static inline __attribute__((always_inline))

typedef struct {
    Direction direction;
    bool wide, plain;
} Kind;

OF_EACH bool is_plain(const Crossbar *x) {
    return (x->speedup_shift | x->arbitration | x->obj.subscribed) == 0;
}

OF_EACH bool by_turns(const Crossbar *x, Kind kind) {
    return kind.plain || (x->arbitration | x->obj.subscribed) == 0;
}

OF_EACH uint32_t speedup_shift(const Crossbar *x, Kind kind) {
    return kind.plain ? 0 : x->speedup_shift;
}

OF_EACH uint32_t words_of(uint32_t words, Kind kind) {
    return kind.wide ? words : 1;
}

OF_EACH uint32_t word_of(uint32_t port, Kind kind) {
    return kind.wide ? port / PORTS_IN_WORD : 0;
}

/* The word of the inputs that ask for output j in which input i is. */
OF_EACH uint64_t *asking_word(Subnet *net, Kind kind, uint32_t j, uint32_t i) {
    return kind.wide ? &net->view.wide_asking[j * net->input_words + i / PORTS_IN_WORD]
                     : &net->view.target[j].inputs;
}

OF_EACH uint64_t bit_of(uint32_t port) {
    return 1ull << (port & (PORTS_IN_WORD - 1));
}

OF_EACH bool nobody_asks(Subnet *net, Kind kind, uint32_t j) {
    return kind.wide ? !ports_any(asking_for(net, j)) : net->view.target[j].inputs == 0;
}

OF_EACH uint32_t port_at(uint32_t word, uint64_t members) {
    return word * PORTS_IN_WORD + (uint32_t)__builtin_ctzll(members);
}

/* When the tail of the output's oldest packet can be sent on, the link permitting. Its earlier parts have
 * left before. */
OF_EACH uint64_t sending_time(const Crossbar *x, Subnet *net, Kind kind, uint32_t j) {
    const Output *output = output_at(net, kind.wide, j);
    const Packet *packet = &net->packets[j * net->ring + output->first];
    return later_of(packet->leaves, output->channel_free + (packet->last_part - 1) * x->obj.period);
}

OF_EACH void send_oldest_packet(const Crossbar *x, Subnet *net, Kind kind, uint32_t j, uint64_t now) {
    Output *output = output_at(net, kind.wide, j);
    const Packet *packet = &net->packets[j * net->ring + output->first];
    memcpy(link_send(target_at(&net->view, kind.wide, j)->link, now), &packet->message,
           sizeof packet->message);
    net->packets_out++;
    net->flits_out += packet->flits;
    net->latency_ticks += now - packet->arrived;
    output->flits -= packet->flits;
    output->channel_free = now + x->obj.period;
    uint32_t slot = output->first;
    output->first = --output->count ? (slot + 1) & (net->ring - 1) : 0; /* few slots stay warm */
    audit_leave(crossbar_half(x, kind.direction), buffer_queue(kind.direction, j), slot);
    if (!output->count) net->sending[word_of(j, kind)] &= ~bit_of(j);
}

/* When to look at the output again, which has sent what it can. */
OF_EACH uint64_t drain_output(const Crossbar *x, Subnet *net, Kind kind, uint32_t j, uint64_t now) {
    Link *link = target_at(&net->view, kind.wide, j)->link;
    uint64_t time = sending_time(x, net, kind, j);
    if (time > now) return time;
    if (!link_can_send(link, now)) return link_space_time(link, now);
    send_oldest_packet(x, net, kind, j, now);
    net->view.crossing &= -(uint64_t)nobody_asks(net, kind, j); /* there is room for who asks */
    return output_at(net, kind.wide, j)->count ? sending_time(x, net, kind, j) : NEVER;
}

OF_EACH void drain_outputs(const Crossbar *x, Subnet *net, Kind kind, uint64_t now) {
    uint64_t next = NEVER;
    for (uint32_t w = 0; w < words_of(net->output_words, kind); w++)
        for (uint64_t rest = net->sending[w]; rest; rest &= rest - 1)
            next = earlier_of(next, drain_output(x, net, kind, port_at(w, rest), now));
    net->view.sending = next;
}

/* Finds from when the head of an input may cross, which is ready then; returns that step. Another cluster has written the
 * message: by then the host's cache will have it. */
OF_EACH uint64_t time_head(const Crossbar *x, Subnet *net, Kind kind, uint32_t i, const Link *link) {
    Head *head = head_at(&net->view, kind.wide, i);
    uint64_t ready = object_cycle(&x->obj, link_next_ready(link)) << speedup_shift(x, kind);
    const MemMessage *message = link_message_at(link, 0);
    __builtin_prefetch(message);
    head->message = message;
    head->ready = ready;
    return head->step = later_of(ready, input_at(net, kind.wide, i)->free);
}

static __attribute__((noinline)) void expect_far(View *view, uint32_t i, uint64_t step) {
    port_add(&view->ports[i / PORTS_IN_WORD].far, i % PORTS_IN_WORD);
    view->first_far = earlier_of(view->first_far, step);
}

/* Enters an input into the calendar if it has a head (1, else 0): the host cannot foresee that. */
OF_EACH void expect(View *view, Kind kind, uint32_t i, uint64_t step, uint64_t has_head) {
    if (__builtin_expect((step - view->begin >= CALENDAR_STEPS) & has_head, 0)) {
        expect_far(view, i, step);
        return;
    }
    uint32_t place = step & (CALENDAR_STEPS - 1);
    view->ports[word_of(i, kind)].coming[place] |= has_head << (i & (PORTS_IN_WORD - 1));
    view->steps |= has_head << place;
}

/* From `far` into the calendar, as far as it goes now. */
static __attribute__((noinline)) void bring_near(Subnet *net) {
    View *view = &net->view;
    view->first_far = NEVER;
    for (uint32_t w = 0; w < net->input_words; w++) {
        uint64_t far = view->ports[w].far;
        view->ports[w].far = 0;
        for (; far; far &= far - 1) {
            uint32_t i = w * PORTS_IN_WORD + (uint32_t)__builtin_ctzll(far);
            expect(view, (Kind){.wide = true}, i, subnet_head(net, i)->step, 1);
        }
    }
}

/* The first step at which an input is coming, or NEVER. */
OF_EACH uint64_t first_coming(const View *view) {
    uint32_t turn = view->begin & (CALENDAR_STEPS - 1);
    uint64_t steps = view->steps >> turn | view->steps << (-turn & (CALENDAR_STEPS - 1));
    return earlier_of(view->first_far, steps ? view->begin + (uint64_t)__builtin_ctzll(steps) : NEVER);
}

/* At an input whose head has just left. */
OF_EACH void look_behind_head(const Crossbar *x, Subnet *net, Kind kind, uint32_t i, const Link *link) {
    View *view = &net->view;
    uint64_t none = link_next_ready(link) == NEVER, step = time_head(x, net, kind, i, link);
    view->ports[word_of(i, kind)].idle |= none << (i & (PORTS_IN_WORD - 1));
    expect(view, kind, i, step, none ^ 1);
}

/* At an input that was idle and has a head now. */
OF_EACH void look_at_new_head(const Crossbar *x, Subnet *net, Kind kind, uint32_t i) {
    View *view = &net->view;
    uint64_t step = time_head(x, net, kind, i, head_at(view, kind.wide, i)->link);
    view->ports[word_of(i, kind)].idle &= ~bit_of(i);
    expect(view, kind, i, later_of(step, view->begin), 1);
    view->crossing = earlier_of(view->crossing, step);
}

OF_EACH void look_at_idle_inputs(const Crossbar *x, Subnet *net, Kind kind) {
    for (uint32_t w = 0; w < words_of(net->input_words, kind); w++) {
        uint64_t filled = 0;
        for (uint64_t rest = net->view.ports[w].idle; rest; rest &= rest - 1) {
            uint32_t i = port_at(w, rest);
            filled |= (uint64_t)(link_next_ready(head_at(&net->view, kind.wide, i)->link) != NEVER)
                      << (i & (PORTS_IN_WORD - 1));
        }
        for (; filled; filled &= filled - 1)
            look_at_new_head(x, net, kind, port_at(w, filled));
    }
}

OF_EACH uint32_t route(const Crossbar *x, const MemMessage *message, Direction direction) {
    if (direction == REQUESTS) return x->output_of[address_map_slice(x->map, message->address)];
    uint32_t port = mem_route_top(message);
    ensure(port < x->up_count);
    return port;
}

/* Of the acknowledgements of a write: one for each sector in which a byte is written. */
static __attribute__((noinline)) uint32_t acknowledging_flits(const Crossbar *x, const MemMessage *message) {
    uint32_t sectors = (uint32_t)__builtin_popcount(mem_sectors_of_bytes(message->byte_mask));
    return x->flits[HEADER_BYTES] * (sectors ? sectors : 1);
}

OF_EACH uint32_t flits_of(const Crossbar *x, const MemMessage *message, Direction direction) {
    if (direction == RESPONSES && __builtin_expect(mem_brings_segment(message), 1)) {
        ensure(message->bytes <= LINE_BYTES_MAX);
        return x->flits[HEADER_BYTES + message->bytes];
    }
    uint32_t bytes = direction == REQUESTS ? mem_request_bytes(message) : mem_response_bytes(message);
    if (direction == RESPONSES && x->acknowledgements == FOR_EACH_SECTOR && message->kind == MEM_WRITE)
        return acknowledging_flits(x, message);
    ensure(bytes <= MAX_PACKET_BYTES);
    return x->flits[bytes];
}

uint32_t packet_flits(const Crossbar *x, const MemMessage *message, Direction direction) {
    return flits_of(x, message, direction);
}

/* Finds where the head of input i goes. */
OF_EACH uint32_t find_output(const Crossbar *x, Subnet *net, Kind kind, uint32_t i) {
    Head *head = head_at(&net->view, kind.wide, i);
    head->flits = flits_of(x, head->message, kind.direction);
    return head->output = route(x, head->message, kind.direction);
}

OF_EACH void ask(Subnet *net, Kind kind, uint32_t i) {
    View *view = &net->view;
    const Head *head = head_at(view, kind.wide, i);
    uint32_t j = head->output;
    Target *target = target_at(view, kind.wide, j);
    target->asked = earlier_of(target->asked | -(uint64_t)nobody_asks(net, kind, j), head->step);
    *asking_word(net, kind, j, i) |= bit_of(i);
    view->ports[word_of(j, kind)].requested |= bit_of(j);
}

/* Takes from a word the inputs whose step has come. */
OF_EACH uint64_t take_come(View *view, uint32_t w, uint64_t step) {
    uint64_t *coming = &view->ports[w].coming[step & (CALENDAR_STEPS - 1)], come = *coming;
    *coming = 0;
    return come;
}

/* Steps in which the output could have been crossed to, had there been room in its buffer. Who has asked
 * since before the last grant could not have crossed before the output was free again; so `asked` may be that
 * of an input that has been served since. */
OF_EACH uint64_t steps_blocked(Subnet *net, Kind kind, uint32_t j, uint64_t step) {
    return step - later_of(target_at(&net->view, kind.wide, j)->asked, output_at(net, kind.wide, j)->free);
}

OF_EACH void copy_across(MemMessage *to, const MemMessage *message, uint32_t input, Direction direction) {
    if (direction == REQUESTS)
        mem_enter_network(to, message, input);
    else
        mem_leave_network(to, message);
}

/* Takes room in the buffer of output j for a packet, which the caller fills. */
OF_EACH Packet *enter_buffer(Subnet *net, Kind kind, uint32_t j, uint32_t flits) {
    Output *output = output_at(net, kind.wide, j);
    uint32_t slot = (output->first + output->count++) & (net->ring - 1);
    output->flits += flits;
    net->sending[word_of(j, kind)] |= bit_of(j);
    net->packets_in++;
    net->flits_in += flits;
    return &net->packets[j * net->ring + slot];
}

/* When the output is free again to which a part of so many flits has just crossed. */
OF_EACH uint64_t time_free(const Crossbar *x, Subnet *net, Kind kind, uint32_t j, uint32_t part,
                           uint64_t now) {
    if (kind.plain) return now + part * x->obj.period;
    return object_time(&x->obj, output_at(net, kind.wide, j)->free >> x->speedup_shift);
}

/* When the tail of a packet that has just crossed to the empty output j is sent on, if nothing that happens until then
 * can change it and nobody can see it earlier: the link has room and keeps it to itself until the end of the quantum, and
 * nobody asks for its room in the buffer before it is sent. Else NEVER. */
OF_EACH uint64_t certain_sending_time(const Crossbar *x, Subnet *net, Kind kind, uint32_t j,
                                      uint32_t last_part, uint64_t now) {
    const Output *output = output_at(net, kind.wide, j);
    uint64_t period = x->obj.period;
    uint64_t time = later_of(output->all_left, output->channel_free + last_part * period) - period;
    bool certain = output->count == 0 && time < net->view.unseen_until &&
                   time <= time_free(x, net, kind, j, last_part, now) &&
                   link_has_room(target_at(&net->view, kind.wide, j)->link, now);
    return certain ? time : NEVER;
}

/* Past the buffer, ahead of time. */
OF_EACH MemMessage *send_ahead(const Crossbar *x, Subnet *net, Kind kind, uint32_t j, uint32_t flits,
                               uint64_t arrived, uint64_t time) {
    net->packets_in++;
    net->flits_in += flits;
    net->packets_out++;
    net->flits_out += flits;
    net->latency_ticks += time - arrived;
    output_at(net, kind.wide, j)->channel_free = time + x->obj.period;
    return link_send_first_cut(target_at(&net->view, kind.wide, j)->link, time);
}

/* Into the buffer of output j. */
OF_EACH MemMessage *keep_packet(const Crossbar *x, Subnet *net, Kind kind, uint32_t j, uint32_t flits,
                                uint32_t last_part, uint64_t arrived) {
    Packet *packet = enter_buffer(net, kind, j, flits);
    audit_enter(crossbar_half(x, kind.direction), buffer_queue(kind.direction, j),
                (uint32_t)(packet - &net->packets[j * net->ring]));
    packet->arrived = arrived;
    packet->leaves = output_at(net, kind.wide, j)->all_left - x->obj.period;
    packet->flits = flits;
    packet->last_part = last_part;
    if (output_at(net, kind.wide, j)->count == 1)
        net->view.sending = earlier_of(net->view.sending, sending_time(x, net, kind, j));
    return &packet->message;
}

/* The head of input i, of which the last part has crossed, leaves it for output j. */
OF_EACH void end_crossing(const Crossbar *x, Subnet *net, Kind kind, uint32_t i, uint32_t j,
                          uint32_t last_part, uint64_t now) {
    const Head *head = head_at(&net->view, kind.wide, i);
    Link *link = head->link;
    uint64_t arrived = link_next_ready(link), ahead = certain_sending_time(x, net, kind, j, last_part, now);
    MemMessage *message = ahead != NEVER ? send_ahead(x, net, kind, j, head->flits, arrived, ahead)
                                         : keep_packet(x, net, kind, j, head->flits, last_part, arrived);
    copy_across(message, head->message, i, kind.direction);
    link_pop(link, now);
    look_behind_head(x, net, kind, i, link);
}

OF_EACH void withdraw_request(Subnet *net, Kind kind, uint32_t i, uint32_t j) {
    *asking_word(net, kind, j, i) &= ~bit_of(i);
    uint64_t none = nobody_asks(net, kind, j);
    net->view.ports[word_of(j, kind)].requested &= ~(none << (j & (PORTS_IN_WORD - 1)));
}

/* So many flits of the head of input i cross to output j. */
OF_EACH void move_flits(const Crossbar *x, Subnet *net, Kind kind, uint32_t i, uint32_t j, uint64_t flits,
                        uint64_t step, uint64_t now) {
    const Head *head = head_at(&net->view, kind.wide, i);
    Input *input = input_at(net, kind.wide, i);
    Output *output = output_at(net, kind.wide, j);
    input->free = output->free = step + flits;
    if (!kind.plain && x->speedup_shift) {
        input->channel_free = later_of(head->ready, input->channel_free) + (flits << x->speedup_shift);
        input->free = output->free = later_of(step + flits, input->channel_free);
    }
    /* Behind the last input is as before the first. */
    if (kind.wide)
        output->pointer = i + 1 == net->inputs ? 0 : i + 1;
    else
        output->pointer = (i + 1) & (PORTS_IN_WORD - 1);
    output->all_left = later_of(now + net->view.latency, output->all_left) + flits * x->obj.period;
}

/* Requests never cross in parts. */
OF_EACH bool crosses_whole(const Subnet *net, Kind kind, uint64_t flits) {
    return kind.direction == REQUESTS || flits <= net->part;
}

/* A part of the head of input i, or all of it, crosses to output j. As long as there is more of it, the input
 * goes on asking: the output is not free before the input is. */
OF_EACH void transfer(const Crossbar *x, Subnet *net, Kind kind, uint32_t i, uint32_t j, uint64_t step,
                      uint64_t now) {
    Input *input = input_at(net, kind.wide, i);
    uint64_t rest = head_at(&net->view, kind.wide, i)->flits - input->crossed;
    uint64_t flits = crosses_whole(net, kind, rest) ? rest : net->part;
    move_flits(x, net, kind, i, j, flits, step, now);
    if (flits < rest) {
        input->crossed += flits;
        return;
    }
    input->crossed = 0;
    end_crossing(x, net, kind, i, j, (uint32_t)flits, now);
    withdraw_request(net, kind, i, j);
}

/* Can input i, whose step has come, cross to an output that no other asks for? */
OF_EACH bool can_cross_whole(const Crossbar *x, Subnet *net, Kind kind, uint32_t i, uint64_t step) {
    const Head *head = head_at(&net->view, kind.wide, i);
    const Output *output = output_at(net, kind.wide, head->output);
    return (output->free <= step) & (output->flits + head->flits <= x->output_buffer) &
           crosses_whole(net, kind, head->flits);
}

/* The same as transfer() of one that has asked alone. */
OF_EACH void cross_whole(const Crossbar *x, Subnet *net, Kind kind, uint32_t i, uint64_t step, uint64_t now) {
    const Head *head = head_at(&net->view, kind.wide, i);
    uint32_t j = head->output, flits = head->flits;
    /* It has waited since before the links were looked at anew. */
    if (__builtin_expect(head->step != step, 0)) {
        uint64_t since = later_of(head->step, output_at(net, kind.wide, j)->free);
        net->blocked_cycles += (step - since) >> speedup_shift(x, kind);
    }
    move_flits(x, net, kind, i, j, flits, step, now);
    end_crossing(x, net, kind, i, j, flits, now);
}

/* Of inputs whose step has come, those ask for their output that are not alone there or cannot cross at once; the
 * others cross, without being looked for among those that ask. */
OF_EACH void cross_or_ask(const Crossbar *x, Subnet *net, Kind kind, const uint64_t *come, uint64_t step,
                          uint64_t now) {
    uint64_t wanted[PORT_WORDS], contested[PORT_WORDS];
    for (uint32_t w = 0; w < words_of(net->output_words, kind); w++)
        wanted[w] = contested[w] = net->view.ports[w].requested;
    for (uint32_t w = 0; w < words_of(net->input_words, kind); w++)
        for (uint64_t rest = come[w]; rest; rest &= rest - 1) {
            uint32_t j = find_output(x, net, kind, port_at(w, rest)), word = word_of(j, kind);
            contested[word] |= wanted[word] & bit_of(j);
            wanted[word] |= bit_of(j);
        }
    for (uint32_t w = 0; w < words_of(net->input_words, kind); w++)
        for (uint64_t rest = come[w]; rest; rest &= rest - 1) {
            uint32_t i = port_at(w, rest), j = head_at(&net->view, kind.wide, i)->output;
            bool alone = !(contested[word_of(j, kind)] & bit_of(j));
            if (__builtin_expect(alone & can_cross_whole(x, net, kind, i, step), 1))
                cross_whole(x, net, kind, i, step, now);
            else
                ask(net, kind, i);
        }
}

OF_EACH void ask_all(const Crossbar *x, Subnet *net, Kind kind, const uint64_t *come) {
    for (uint32_t w = 0; w < words_of(net->input_words, kind); w++)
        for (uint64_t rest = come[w]; rest; rest &= rest - 1) {
            find_output(x, net, kind, port_at(w, rest));
            ask(net, kind, port_at(w, rest));
        }
}

OF_EACH void raise_requests(const Crossbar *x, Subnet *net, Kind kind, uint64_t step, uint64_t now) {
    View *view = &net->view;
    uint64_t place = 1ull << (step & (CALENDAR_STEPS - 1)), come[PORT_WORDS];
    if (__builtin_expect(view->first_far <= step, 0)) bring_near(net);
    if (!(view->steps & place)) return;
    view->steps &= ~place;
    for (uint32_t w = 0; w < words_of(net->input_words, kind); w++)
        come[w] = take_come(view, w, step);
    if (by_turns(x, kind))
        cross_or_ask(x, net, kind, come, step, now);
    else
        ask_all(x, net, kind, come);
}

Candidate crossbar_head(const void *context, uint32_t i) {
    const Link *link = subnet_head(context, i)->link;
    return (Candidate){link_peek(link, NEVER - 1), link_next_ready(link)};
}

/* Subscribers choose among those for which there is room, so that whoever they name crosses. */
static void with_room(const Crossbar *x, const Subnet *net, uint32_t j, uint64_t fit[PORT_WORDS]) {
    PortSet asking = asking_for(net, j);
    for (uint32_t w = 0; w < asking.words; w++) {
        fit[w] = 0;
        for (uint64_t rest = asking.word[w]; rest; rest &= rest - 1) {
            uint32_t i = port_at(w, rest);
            if (subnet_output(net, j)->flits + subnet_head(net, i)->flits <= x->output_buffer)
                port_add(fit, i);
        }
    }
}

static __attribute__((noinline)) uint32_t choose_otherwise(const Crossbar *x, const Subnet *net,
                                                           Direction direction, uint32_t j) {
    uint64_t fit[PORT_WORDS];
    PortSet asking = asking_for(net, j), with = {fit, asking.words};
    uint32_t winner = arbitration_winner(x->arbitration, &x->priority, asking, subnet_output(net, j)->pointer,
                                         crossbar_head, net);
    with_room(x, net, j, fit);
    if (!object_has_subscriber(&x->obj, ARBITRATE) || !port_in(with, winner)) return winner;
    return arbitration_ask((SimObject *)(uintptr_t)&x->obj, direction == RESPONSES, j, with, winner);
}

OF_EACH uint32_t winner_of(const Crossbar *x, Subnet *net, Kind kind, uint32_t j) {
    if (!by_turns(x, kind)) return choose_otherwise(x, net, kind.direction, j);
    uint32_t pointer = output_at(net, kind.wide, j)->pointer;
    return kind.wide ? ports_first_from(asking_for(net, j), pointer)
                     : first_at_or_after(net->view.target[j].inputs, pointer);
}

OF_EACH uint32_t inputs_asking(const Subnet *net, Kind kind, uint32_t j) {
    return kind.wide ? ports_count(asking_for(net, j))
                     : (uint32_t)__builtin_popcountll(net->view.target[j].inputs);
}

/* Returns the first step in which an output is free that was busy and that inputs go on asking for. Those that wait for room
 * are looked at again when a packet has been sent. */
OF_EACH uint64_t arbitrate(const Crossbar *x, Subnet *net, Kind kind, uint64_t step, uint64_t now) {
    View *view = &net->view;
    uint64_t next = NEVER;
    for (uint32_t w = 0; w < words_of(net->output_words, kind); w++)
        for (uint64_t rest = view->ports[w].requested; rest; rest &= rest - 1) {
            uint32_t j = port_at(w, rest);
            const Output *output = output_at(net, kind.wide, j);
            if (output->free <= step) {
                uint32_t winner = winner_of(x, net, kind, j);
                /* The winner waits for room; were others let past, long packets would starve. */
                if (output->flits + head_at(view, kind.wide, winner)->flits > x->output_buffer) continue;
                net->conflicts += inputs_asking(net, kind, j) - 1;
                net->blocked_cycles += steps_blocked(net, kind, j, step) >> speedup_shift(x, kind);
                transfer(x, net, kind, winner, j, step, now);
            }
            next = earlier_of(next, output->free | -(uint64_t)nobody_asks(net, kind, j));
        }
    return next;
}

OF_EACH void cross(const Crossbar *x, Subnet *net, Kind kind, uint64_t first_step, uint64_t now) {
    uint64_t free = NEVER, steps = 1ull << speedup_shift(x, kind);
    for (uint64_t step = first_step; step < first_step + steps; step++) {
        raise_requests(x, net, kind, step, now);
        free = arbitrate(x, net, kind, step, now);
    }
    net->view.crossing = earlier_of(first_coming(&net->view), free);
}

/* A cycle in which something may have changed; in links from outside, too? */
OF_EACH void do_cycle(const Crossbar *x, Subnet *net, Kind kind, bool outside, uint64_t cycle, uint64_t now) {
    View *view = &net->view;
    uint64_t first_step = cycle << speedup_shift(x, kind);
    view->begin = first_step;
    if (now >= view->sending || outside) drain_outputs(x, net, kind, now);
    if (outside) look_at_idle_inputs(x, net, kind);
    if (view->crossing >> speedup_shift(x, kind) <= cycle) cross(x, net, kind, first_step, now);
}

/* When the subnet may have something to do again, and the cycle that begins then. */
OF_EACH uint64_t wake_time(const Crossbar *x, const View *view, Kind kind, uint64_t *cycle) {
    if (view->crossing != NEVER) {
        *cycle = view->crossing >> speedup_shift(x, kind);
        uint64_t time = object_time(&x->obj, *cycle);
        if (__builtin_expect(view->sending >= time, 1)) return time;
    }
    *cycle = object_cycle(&x->obj, view->sending);
    return view->sending;
}

/* Where all links are cut, nothing from outside reaches the subnet within a quantum: it goes through its cycles at
 * once, unless somebody looks on. */
OF_EACH uint64_t tick_subnet(const Crossbar *x, Subnet *net, Kind kind, uint64_t now) {
    View *view = &net->view;
    uint64_t quantum = x->obj.sim->now, cycle = object_cycle(&x->obj, now);
    bool outside = view->seen_quantum != quantum || !view->all_cut;
    view->seen_quantum = quantum;
    view->unseen_until = view->outputs_cut ? object_unseen_until(crossbar_half(x, kind.direction)) : 0;
    uint64_t until = view->all_cut ? view->unseen_until : 0;
    do {
        do_cycle(x, net, kind, outside, cycle, now);
        now = wake_time(x, view, kind, &cycle);
        outside = false;
    } while (now < until);
    return now;
}

static __attribute__((noinline)) uint64_t tick_narrow(Crossbar *x, Direction direction, uint64_t now) {
    return direction == REQUESTS ? tick_subnet(x, &x->request, (Kind){.direction = REQUESTS}, now)
                                 : tick_subnet(x, &x->response, (Kind){.direction = RESPONSES}, now);
}

static __attribute__((noinline)) uint64_t tick_wide(Crossbar *x, Direction direction, uint64_t now) {
    return direction == REQUESTS
               ? tick_subnet(x, &x->request, (Kind){.direction = REQUESTS, .wide = true}, now)
               : tick_subnet(x, &x->response, (Kind){.direction = RESPONSES, .wide = true}, now);
}

/* hot: else compilers leave links' functions out of the ways that they take for rare. */
__attribute__((hot, noinline)) static uint64_t tick_wide_responses(Crossbar *x, uint64_t now) {
    if (__builtin_expect(!is_plain(x), 0)) return tick_wide(x, RESPONSES, now);
    return tick_subnet(x, &x->response, (Kind){.direction = RESPONSES, .wide = true, .plain = true}, now);
}

__attribute__((hot, noinline)) static uint64_t tick_wide_requests(Crossbar *x, uint64_t now) {
    if (__builtin_expect(!is_plain(x), 0)) return tick_wide(x, REQUESTS, now);
    return tick_subnet(x, &x->request, (Kind){.direction = REQUESTS, .wide = true, .plain = true}, now);
}

__attribute__((hot)) static uint64_t tick_responses(Crossbar *x, uint64_t now) {
    if (x->wide) return tick_wide_responses(x, now);
    if (__builtin_expect(!is_plain(x), 0)) return tick_narrow(x, RESPONSES, now);
    return tick_subnet(x, &x->response, (Kind){.direction = RESPONSES, .plain = true}, now);
}

__attribute__((hot)) static uint64_t tick_requests(Crossbar *x, uint64_t now) {
    if (x->wide) return tick_wide_requests(x, now);
    if (__builtin_expect(!is_plain(x), 0)) return tick_narrow(x, REQUESTS, now);
    return tick_subnet(x, &x->request, (Kind){.direction = REQUESTS, .plain = true}, now);
}

uint64_t tick_crossbar_responses(SimObject *half, uint64_t now) {
    return tick_responses((Crossbar *)((char *)half - offsetof(Crossbar, responses)), now);
}

uint64_t tick_crossbar(SimObject *object, uint64_t now) {
    Crossbar *x = (Crossbar *)object;
    bool apart = x->responses.due != object->due;
    uint64_t requests = tick_requests(x, now);
    return apart ? requests : earlier_of(requests, tick_responses(x, now));
}
