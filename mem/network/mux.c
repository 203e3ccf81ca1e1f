/* Multiplexer: joins several requesters (the caches of an SM) into one network port, and takes the responses
 * apart again. One message per cycle each way, nothing is stored: what cannot move waits in its link. */
#include "mem/protocol/networks.h"

#include "mem/network/arbitration.h"
#include "mem/protocol/memory_protocol.h"

#include <stdlib.h>

/* Of a port: when its head is ready, and when its sender is due, which may send something then. */
typedef struct {
    const uint64_t *ready, *due;
} Rival;

typedef struct {
    SimObject obj;
    uint32_t up_count;
    uint32_t arbitration;
    char *class_priority;
    ClassTable priority;
    Port *up;
    Port down;
    uint64_t request_free, response_free; /* first times at which the next message may move */
    uint32_t pointer;                     /* port with the highest priority                 */
    uint32_t guarded;                     /* ports, a bit each: as is_guarded() says        */
    Rival *rivals;                        /* of each port, twice                            */
    uint64_t requests, responses, conflicts, request_blocked_cycles, response_blocked_cycles;
} Mux;

/* When the first of the ports' heads became or becomes ready. */
static uint64_t first_ready(const Mux *mux) {
    uint64_t first = NEVER;
    for (uint32_t i = 0; i < mux->up_count; i++)
        first = earlier_of(first, link_next_ready(mux->up[i].receive));
    return first;
}

/* What is compiled once for muxes whose ports fit into a word, as nearly all do, and once for others. */
#define OF_EACH static inline __attribute__((always_inline))

/* Of 64 ports from `first` on those whose head is ready; *coming: no later than when the first of the other heads
 * becomes ready. */
OF_EACH uint64_t ready_in_word(const Mux *mux, uint32_t first, uint32_t end, uint64_t now, uint64_t *coming) {
    uint64_t ready = 0;
    for (uint32_t i = first; i < end; i++) {
        uint64_t time = link_next_ready(mux->up[i].receive);
        ready |= (uint64_t)(time <= now) << (i - first);
        *coming = earlier_of(*coming, time <= now ? NEVER : time);
    }
    return ready;
}

OF_EACH PortSet ready_ports(const Mux *mux, bool wide, uint64_t *ready, uint64_t now, uint64_t *coming) {
    uint32_t words = wide ? words_for_ports(mux->up_count) : 1;
    *coming = NEVER;
    for (uint32_t w = 0; w < words; w++) {
        uint32_t first = w * PORTS_IN_WORD, left = mux->up_count - first;
        ready[w] = ready_in_word(mux, first, first + (wide && left > PORTS_IN_WORD ? PORTS_IN_WORD : left),
                                 now, coming);
    }
    return (PortSet){ready, words};
}

static Candidate candidate(const void *context, uint32_t i) {
    const Link *link = ((const Mux *)context)->up[i].receive;
    return (Candidate){link_peek(link, NEVER - 1), link_next_ready(link)};
}

static __attribute__((noinline)) uint32_t choose_otherwise(Mux *mux, PortSet ready) {
    uint32_t winner = arbitration_winner(mux->arbitration, &mux->priority, ready, mux->pointer, candidate,
                                         mux);
    return object_has_subscriber(&mux->obj, ARBITRATE) ? arbitration_ask(&mux->obj, false, 0, ready, winner)
                                                       : winner;
}

OF_EACH uint32_t choose(Mux *mux, bool wide, PortSet ready) {
    if (__builtin_expect((mux->arbitration | mux->obj.subscribed) != 0, 0))
        return choose_otherwise(mux, ready);
    return wide ? ports_first_from(ready, mux->pointer) : first_at_or_after(*ready.word, mux->pointer);
}

/* A request of port i leaves. */
OF_EACH void pass_down(Mux *mux, uint32_t i, const MemMessage *request, uint64_t now) {
    mem_enter_network(link_send_first(mux->down.send, now), request, i);
    mux->requests++;
    if (mux->arbitration != LOWEST_PORT) mux->pointer = i + 1 == mux->up_count ? 0 : i + 1;
}

OF_EACH void send_down(Mux *mux, uint32_t i, uint64_t now) {
    Link *link = mux->up[i].receive;
    pass_down(mux, i, link_message_at(link, 0), now);
    link_pop(link, now);
}

/* Cycles for which something that was ready since `ready` and may move since `free` has waited. */
static uint64_t cycles_blocked(const Mux *mux, uint64_t ready, uint64_t free, uint64_t now) {
    return object_cycles_in(&mux->obj, now - later_of(ready, free));
}

OF_EACH uint64_t move_requests(Mux *mux, bool wide, uint64_t now) {
    if (now < mux->request_free) return mux->request_free;
    uint64_t first = first_ready(mux), coming, words[PORT_WORDS];
    if (first > now) return first;
    if (!link_can_send(mux->down.send, now)) return link_space_time(mux->down.send, now);
    PortSet ready = ready_ports(mux, wide, words, now, &coming);
    uint32_t winner = choose(mux, wide, ready), count = ports_count(ready);
    send_down(mux, winner, now);
    mux->conflicts += count - 1;
    mux->request_blocked_cycles += cycles_blocked(mux, first, mux->request_free, now);
    mux->request_free = now + mux->obj.period;
    if (count > 1) return mux->request_free;
    return later_of(earlier_of(coming, link_next_ready(mux->up[winner].receive)), mux->request_free);
}

/* Will no other port have anything by then? Senders of this cluster that have not had their turn in this cycle may still
 * send. */
static inline bool rivals_are_late(const Mux *mux, uint32_t port, uint64_t ready) {
    uint64_t now = mux->obj.cluster->now;
    bool alone = true;
    const Rival *others = mux->rivals + port + 1;
    for (uint32_t i = 0; i + 1 < mux->up_count; i++)
        alone &= (*others[i].ready > ready) & (*others[i].due > now);
    return alone;
}

/* Are all senders but that of this port, and the mux itself, among the later turns of the cluster? While the sender has its
 * turn, none of them is due before the first of these is; nor is a request of theirs ready, of which the mux would know. */
static bool is_guarded(const Mux *mux, uint32_t port) {
    const uint64_t *later = &mux->obj.cluster->later;
    bool guarded = mux->obj.sim->order != ORDER_RESTLESS && mux->obj.cluster_due == later;
    for (uint32_t i = 0; i < mux->up_count; i++) {
        const Link *link = mux->up[i].receive;
        guarded &= !link_is_cut(link) && (link->sender->cluster_due == later) == (i != port);
    }
    return guarded;
}

static inline bool comes_alone(const Mux *mux, uint32_t port, uint64_t ready) {
    bool guarded = (mux->guarded >> (port & 31) & 1) && mux->obj.cluster->later > ready;
    debug_ensure(!guarded || rivals_are_late(mux, port, ready));
    return guarded || rivals_are_late(mux, port, ready);
}

/* A request that no other can get before goes on as soon as it has come, unless the link down is full: ahead of time, if
 * that link keeps it to itself until the end of the quantum. */
static bool take_request(SimObject *object, uint32_t port, const void *message, uint64_t ready) {
    Mux *mux = (Mux *)object;
    if (mux->request_free > ready || !link_has_room(mux->down.send, ready) || !comes_alone(mux, port, ready))
        return false;
    pass_down(mux, port, message, ready);
    mux->request_free = ready + mux->obj.period;
    return true;
}

/* What is sent later on the link of another port may come earlier: it is quicker, or has the same sender. */
static bool another_may_pass(const Mux *mux, uint32_t port) {
    const Link *link = mux->up[port].receive;
    bool may = false;
    for (uint32_t i = 0; i < mux->up_count; i++) {
        const Link *other = mux->up[i].receive;
        may |= other->latency < link->latency || (i != port && other->sender == link->sender);
    }
    return may;
}

static void init_mux(SimObject *object) {
    static const uint64_t never = NEVER; /* what comes over a cut link is known of before */
    Mux *mux = (Mux *)object;
    mux->rivals = calloc(2 * (size_t)mux->up_count, sizeof *mux->rivals);
    ensure_memory(mux->rivals);
    for (uint32_t i = 0; i < mux->up_count; i++) {
        Link *link = mux->up[i].receive;
        mux->rivals[i] = mux->rivals[mux->up_count + i] = (Rival){
            &link->next_ready, link_is_cut(link) ? &never : link->sender->due};
        if (link_is_cut(mux->down.send) && !another_may_pass(mux, i)) link_set_taker(link, take_request, i);
    }
    for (uint32_t i = 0; mux->up_count <= 32 && i < mux->up_count; i++)
        mux->guarded |= (uint32_t)is_guarded(mux, i) << i;
}

static void destroy_mux(SimObject *object) {
    free(((Mux *)object)->rivals);
}

static __attribute__((noinline)) uint64_t move_requests_of_many(Mux *mux, uint64_t now) {
    return move_requests(mux, true, now);
}

/* The first response, which could move since then, goes up its link at `time`. */
static inline void send_up(Mux *mux, Link *from, Link *to, uint64_t since, uint64_t time) {
    mem_leave_network(link_send_first(to, time), link_message_at(from, 0));
    mux->responses++;
    if (time != since) mux->response_blocked_cycles += object_cycles_in(&mux->obj, time - since);
    link_pop(from, time);
    mux->response_free = time + mux->obj.period;
}

static inline Link *way_up(const Mux *mux, const MemMessage *response) {
    uint32_t port = mem_route_top(response);
    ensure(port < mux->up_count);
    return mux->up[port].send;
}

/* Ahead of time also those whose turn comes in this quantum and for which there is room already: nothing can stop them,
 * and nobody sees that a cut link has lost them early. Returns when the next one may move. */
static inline uint64_t move_responses(Mux *mux, uint64_t now) {
    Link *from = mux->down.receive;
    uint64_t unseen = link_is_cut(from) ? object_unseen_until(&mux->obj) : 0,
             until = later_of(unseen, now + 1);
    uint64_t time;
    while ((time = later_of(link_next_ready(from), mux->response_free)) < until) {
        Link *to = way_up(mux, link_message_at(from, 0));
        if (!link_has_room(to, now)) return time > now ? time : link_space_time(to, now);
        send_up(mux, from, to, time, later_of(time, now));
    }
    return time;
}

static uint64_t tick_mux(SimObject *object, uint64_t now) {
    Mux *mux = (Mux *)object;
    bool wide = __builtin_expect(mux->up_count > PORTS_IN_WORD, 0);
    uint64_t requests = wide ? move_requests_of_many(mux, now) : move_requests(mux, false, now);
    uint64_t responses = move_responses(mux, now);
    return requests < responses ? requests : responses;
}

static void check_ways(const Mux *mux) {
    const Link *link = mux->down.receive;
    FOR_LINK_MESSAGES (link, i) {
        const MemMessage *m = link_message(link, i);
        if (mem_route_top(m) >= mux->up_count)
            panic("%s: a response for 0x%lx that has lost its way", mux->obj.path, m->address);
    }
    for (uint32_t port = 0; port < mux->up_count; port++) {
        link = mux->up[port].receive;
        FOR_LINK_MESSAGES (link, i)
            if (((const MemMessage *)link_message(link, i))->route_depth >= ROUTE_DEPTH)
                panic("%s: a request has crossed more than %d networks", mux->obj.path, ROUTE_DEPTH);
    }
}

/* Nothing is stored: what came in has gone out. */
static void check_mux(const SimObject *object, bool idle) {
    const Mux *mux = (const Mux *)object;
    uint64_t came = 0, left = 0;
    (void)idle;
    for (uint32_t i = 0; i < mux->up_count; i++) {
        came += link_received(mux->up[i].receive);
        left += link_sent(mux->up[i].send);
    }
    check_ways(mux);
    if (mux->requests != came || mux->requests != link_sent(mux->down.send))
        panic("%s: %lu requests passed, but %lu came and %lu went down", object->path, mux->requests, came,
              link_sent(mux->down.send));
    if (mux->responses != left || mux->responses != link_received(mux->down.receive))
        panic("%s: %lu responses passed, but %lu came and %lu went up", object->path, mux->responses,
              link_received(mux->down.receive), left);
}

static const Link *mux_came_by(const SimObject *object, const void *message, uint32_t *depth) {
    const Mux *mux = (const Mux *)object;
    return mem_came_by(message, depth, mux->up, mux->up_count);
}

static void mux_is_sound(const SimObject *object, bool fits) {
    const Mux *mux = (const Mux *)object;
    uint64_t next = object->sim->now + object->period;
    (void)fits;
    sound(mux->request_free <= next && mux->request_free % object->period == 0 &&
              mux->response_free <= next && mux->response_free % object->period == 0,
          "%s: free at ticks %lu and %lu", object->path, mux->request_free, mux->response_free);
    sound(mux->pointer < mux->up_count, "%s.pointer: %u", object->path, mux->pointer);
}

static void report_mux(const SimObject *object, FILE *out) {
    const Mux *mux = (const Mux *)object;
    uint64_t now = object->sim->now;
    for (uint32_t i = 0; i < mux->up_count; i++)
        if (link_next_ready(mux->up[i].receive) <= now)
            fprintf(out, "%s.up[%u]: a request waits for %s\n", object->path, i, mux->down.send->name);
    const MemMessage *response = link_peek(mux->down.receive, now);
    if (response && response->route_depth > 0)
        fprintf(out, "%s.down: a response waits for up[%u]\n", object->path, mem_route_top(response));
}

static void build_mux(SimObject *object) {
    Mux *mux = (Mux *)object;
    arbitration_read_classes(&mux->priority, object, mux->class_priority);
}

static void call_head(SimObject *object, MethodCall *call) {
    const Mux *mux = (const Mux *)object;
    Candidate head = candidate(mux, (uint32_t)call->argument[0].whole);
    arbitration_head(call, head);
}

static const Method mux_methods[] = {METHOD("head", call_head, HEAD_DOC,
                                            TAKES(WHOLE_NUMBER_BELOW("input", Mux, up_count)), HEAD_RESULTS,
                                            MAY_BE_NIL),
                                     METHODS_END};

static const Field mux_fields[] = {
    BASE(Mux),
    PARAM_NAMED(Mux, up_count, "up", REQUIRED, "ports", "Ports to be joined", .min = 1, .max = MAX_PORTS),
    PARAM_CHOICE(Mux, arbitration, "round_robin", ARBITRATION_WORDS, ARBITRATION_DOC, .timing = true),
    PARAM(Mux, class_priority, "", "priorities", CLASS_PRIORITY_DOC, .timing = true),
    DERIVED(Mux, priority, "Of each class"),
    PORT_ARRAY(Mux, up, up_count, memory_protocol, ROLE_RESPONDER, "From the caches"),
    PORT(Mux, down, memory_protocol, ROLE_REQUESTER, "Towards the network"),
    STATE(Mux, request_free, "First time at which the next request may move"),
    STATE(Mux, response_free, "First time at which the next response may move"),
    STATE(Mux, pointer, "Port with the highest priority"),
    HOST(Mux, guarded, "Ports whose rivals wait until the cluster's later turns"),
    HOST(Mux, rivals, "What its ports may still bring"),
    STAT(Mux, requests, "messages", "Requests passed down"),
    STAT(Mux, responses, "messages", "Responses passed up"),
    STAT(Mux, conflicts, "messages", "Requests that were ready and lost an arbitration, once for each"),
    STAT(Mux, request_blocked_cycles, "cycles",
         "Cycles in which a request was ready and the link down was full"),
    STAT(Mux, response_blocked_cycles, "cycles",
         "Cycles in which a response was ready and its link up was full"),
    FIELDS_END,
};

static UntimedAnswer take_untimed(SimObject *object, const void *request) {
    return link_send_untimed(((const Mux *)object)->down.send, request);
}

const Class mux_class = {
    .name = "Mux",
    .doc = "Joins several requesters into one network port: a message a cycle each way, whatever its bytes",
    .passes_on = true,
    .take_untimed = take_untimed,
    .bytes = sizeof(Mux),
    .fields = mux_fields,
    .events = arbitration_events,
    .methods = mux_methods,
    .build = build_mux,
    .init = init_mux,
    .tick = tick_mux,
    .is_sound = mux_is_sound,
    .came_by = mux_came_by,
    .check = check_mux,
    .report = report_mux,
    .destroy = destroy_mux,
};
REGISTER_CLASS(mux_class);
