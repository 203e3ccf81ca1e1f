/* Sources and sinks of memory requests.
 *
 * A source is open-loop: requests come into being at random cycles, whether the port takes them or not, and
 * wait in order in a queue without bound until they can be sent. That queue holds nothing: when a request was
 * sent, the cycle in which the next one came into being is drawn, and it may lie in the past. Latencies count
 * from there, so that they show what waiting costs; `outstanding` turns it into a closed loop. */
#include "mem/parts/traffic/traffic.h"

#include "core/sim/base/random.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/memory_protocol.h"

enum { MAX_TRIES = 1 << 16 };

typedef enum { ADDRESSES_RANDOM, ADDRESSES_SEQUENTIAL } Addresses;

typedef struct {
    SimObject obj;
    double rate, writes, destination_share;
    uint64_t seed, limit, outstanding, base, footprint;
    uint32_t bytes, addresses, posted, destination;
    uint32_t number; /* of this source among all */
    uint32_t unused;
    Port mem;
    Random random;
    uint64_t due;       /* cycle in which the next request came or comes into being; NEVER: none */
    uint64_t next;      /* sequential: place of the next request in the footprint, in requests */
    uint64_t token_sum; /* of the requests without an answer */
    uint64_t sent, sent_bytes, posted_sent, answered;
    uint64_t wait_cycles, longest_wait_cycles, latency_ticks, longest_latency_ticks;
    const AddressMap *map;
    uint64_t rests, rests_since; /* makes no requests, since this cycle */
} TrafficSource;

static bool wants_answer(const MemMessage *message) {
    return !(message->flags & MEM_POSTED);
}

static Ratio mean_cycles(const SimObject *object, uint64_t ticks, uint64_t count) {
    return ratio_of(ticks, count * object->period);
}

/* ---- The source ---- */

static void source_build(SimObject *object) {
    TrafficSource *source = (TrafficSource *)object;
    if (source->footprint < source->bytes || source->base % source->bytes)
        user_error("%s: expected a footprint of bytes = %u or more and a base that is a multiple of it, got "
                   "%lu and 0x%lx",
                   object->path, source->bytes, source->footprint, source->base);
    for (uint32_t i = 0; i < object->id; i++)
        source->number += object->sim->objects[i]->class == &traffic_source_class;
}

/* The cycle from `cycle` on in which the next request comes into being. */
static uint64_t next_due(TrafficSource *source, uint64_t cycle) {
    if (source->limit && source->sent == source->limit) return NEVER;
    while (random_unit(&source->random) >= source->rate)
        cycle++;
    return cycle;
}

static void source_init(SimObject *object) {
    TrafficSource *source = (TrafficSource *)object;
    /* The generator's states are a walk of equal steps: neighbouring seeds are taken far apart. */
    Random mix = {source->seed ^ (source->number + 1) * 0xd1342543de82ef95ull};
    source->random.state = random_next(&mix);
    source->due = next_due(source, 0);
    if (source->destination_share == 0) return;
    source->map = address_map_find(object);
    if (address_map_has_pages(source->map))
        user_error("%s.destination_share: expected 0 with %s.page_size, got %g", object->path,
                   object_path(address_map_object(source->map)), source->destination_share);
    if (source->destination >= address_map_slices(source->map))
        user_error("%s.destination: expected a slice of the address map (0 to %u), got %u", object->path,
                   address_map_slices(source->map) - 1, source->destination);
}

static uint64_t next_address(TrafficSource *source) {
    uint64_t places = source->footprint / source->bytes;
    if (source->addresses == ADDRESSES_RANDOM)
        return source->base + random_below(&source->random, places) * source->bytes;
    uint64_t address = source->base + source->next * source->bytes;
    source->next = source->next + 1 == places ? 0 : source->next + 1;
    return address;
}

static uint64_t address_of_destination(TrafficSource *source) {
    for (uint32_t i = 0; i < MAX_TRIES; i++) {
        uint64_t address = next_address(source);
        if (address_map_slice(source->map, address) == source->destination) return address;
    }
    user_error("%s.destination: expected an address of slice %u between 0x%lx and 0x%lx, got none in %d "
               "tries; a larger footprint may reach the slice",
               source->obj.path, source->destination, source->base, source->base + source->footprint,
               MAX_TRIES);
}

static void mark_all_bytes(MemMessage *message) {
    uint64_t first = message->address % LINE_BYTES_MAX;
    for (uint64_t byte = first; byte < first + message->bytes; byte++)
        message->byte_mask[byte / 64] |= 1ull << byte % 64;
}

static void fill_request(TrafficSource *source, MemMessage *message) {
    bool aimed = source->destination_share > 0 && random_unit(&source->random) < source->destination_share;
    bool write = source->writes > 0 && random_unit(&source->random) < source->writes;
    *message = (MemMessage){
        .address = aimed ? address_of_destination(source) : next_address(source),
        .issued = source->due * source->obj.period,
        .token = write && source->posted ? 0 : (uint32_t)source->sent,
        .bytes = (uint8_t)source->bytes,
        .sm = (uint16_t)source->number,
        .kind = write ? MEM_WRITE : MEM_READ,
        .flags = write && source->posted ? MEM_POSTED : 0,
    };
    if (write) mark_all_bytes(message);
}

static uint64_t unanswered(const TrafficSource *source) {
    return source->sent - source->posted_sent - source->answered;
}

static void count_request(TrafficSource *source, const MemMessage *message, uint64_t cycle) {
    uint64_t wait = cycle - source->due;
    source->sent++;
    source->sent_bytes += message->bytes;
    source->posted_sent += !wants_answer(message);
    source->token_sum += wants_answer(message) ? message->token : 0;
    source->wait_cycles += wait;
    source->longest_wait_cycles = later_of(source->longest_wait_cycles, wait);
}

/* Returns when there may be something to send. */
static uint64_t send_requests(TrafficSource *source, uint64_t now, uint64_t cycle) {
    if (source->rests) return NEVER;
    while (source->due <= cycle) {
        if (source->outstanding && unanswered(source) == source->outstanding) return NEVER;
        if (!link_can_send(source->mem.send, now)) return link_space_time(source->mem.send, now);
        MemMessage *message = link_send(source->mem.send, now);
        fill_request(source, message);
        count_request(source, message, cycle);
        source->due = next_due(source, source->due + 1);
        object_progress(&source->obj);
    }
    return source->due == NEVER ? NEVER : source->due * source->obj.period;
}

static void take_answers(TrafficSource *source, uint64_t now) {
    const MemMessage *answer;
    while ((answer = link_peek(source->mem.receive, now))) {
        uint64_t latency = now - answer->issued;
        source->answered++;
        source->token_sum -= answer->token;
        source->latency_ticks += latency;
        source->longest_latency_ticks = later_of(source->longest_latency_ticks, latency);
        link_pop(source->mem.receive, now);
    }
}

static uint64_t source_tick(SimObject *object, uint64_t now) {
    TrafficSource *source = (TrafficSource *)object;
    take_answers(source, now);
    uint64_t next = send_requests(source, now, object_cycle(object, now));
    return earlier_of(next, link_next_ready(source->mem.receive));
}

void traffic_source_rest(SimObject *object) {
    TrafficSource *source = (TrafficSource *)object;
    ensure(object->class == &traffic_source_class);
    if (source->rests) return;
    source->rests = 1;
    source->rests_since = object_cycle(object, object_edge(object, object->sim->now));
    object_poke(object,
                object_edge(object, object->sim->now)); /* it is not due for the next request any more */
}

void traffic_source_go_on(SimObject *object) {
    TrafficSource *source = (TrafficSource *)object;
    uint64_t edge = object_edge(object, object->sim->now);
    ensure(object->class == &traffic_source_class && source->rests);
    source->rests = 0;
    if (source->due == NEVER) return;
    source->due += object_cycle(object, edge) - source->rests_since;
    object_poke(object, edge);
}

static void source_check(const SimObject *object, bool idle) {
    const TrafficSource *source = (const TrafficSource *)object;
    uint64_t waiting = unanswered(source);
    if (source->sent != link_sent(source->mem.send) || source->answered != link_received(source->mem.receive))
        panic("%s: %lu requests sent and %lu answered, but its links took %lu and brought %lu", object->path,
              source->sent, source->answered, link_sent(source->mem.send),
              link_received(source->mem.receive));
    if (source->answered > source->sent - source->posted_sent || (idle && waiting) ||
        (!waiting && source->token_sum))
        panic("%s: %lu requests need an answer and %lu were answered; the sum of the others' tokens is %lu",
              object->path, source->sent - source->posted_sent, source->answered, source->token_sum);
}

static void source_report(const SimObject *object, FILE *out) {
    const TrafficSource *source = (const TrafficSource *)object;
    if (unanswered(source))
        fprintf(out, "%s: %lu of %lu requests are not answered\n", object->path, unanswered(source),
                source->sent);
}

static Ratio source_latency(const SimObject *object) {
    const TrafficSource *source = (const TrafficSource *)object;
    return mean_cycles(object, source->latency_ticks, source->answered);
}

static const Field source_fields[] = {
    BASE(TrafficSource),
    PARAM(TrafficSource, rate, "1", "requests/cycle", "Probability of a request in each cycle", .min = 1e-6,
          .max = 1),
    PARAM(TrafficSource, writes, "0", "fraction", "Of the requests that are writes; the others are reads",
          .min = 0, .max = 1),
    PARAM(TrafficSource, destination_share, "0", "fraction",
          "Of the requests that go to addresses of slice `destination`; the others go anywhere", .min = 0,
          .max = 1),
    PARAM(TrafficSource, seed, "1", "seed", "Of the random numbers; each source has its own sequence"),
    PARAM(TrafficSource, limit, "0", "requests", "How many to send in all; 0: no end"),
    PARAM(TrafficSource, outstanding, "0", "requests", "Most that may wait for an answer; 0: any number"),
    PARAM(TrafficSource, base, "0", "bytes", "First address", .max = 1e15),
    PARAM(TrafficSource, footprint, "64MiB", "bytes", "Addresses from there on", .min = 1, .max = 1e15),
    PARAM(TrafficSource, bytes, "128", "bytes", "Of a request", .min = 1, .max = LINE_BYTES_MAX,
          .power_of_two = true),
    PARAM_CHOICE(TrafficSource, addresses, "random", "random|sequential",
                 "Uniformly at random, or one after the other, again from the start at the end"),
    PARAM_FLAG(TrafficSource, posted, "false", "Writes want no answer"),
    PARAM(TrafficSource, destination, "0", "slice", "See destination_share"),
    DERIVED(TrafficSource, number, "Of this source among all"),
    DERIVED(TrafficSource, unused, "Padding"),
    PORT(TrafficSource, mem, memory_protocol, ROLE_REQUESTER, "What is driven"),
    STATE(TrafficSource, random, "Random numbers"),
    STATE(TrafficSource, due, "Cycle in which the next request came or comes into being"),
    STATE(TrafficSource, next, "Place of the next sequential request"),
    STATE(TrafficSource, token_sum, "Sum of the tokens without an answer"),
    STAT(TrafficSource, sent, "requests", "Requests sent"),
    STAT(TrafficSource, sent_bytes, "bytes", "Asked for or written by them"),
    STAT(TrafficSource, posted_sent, "requests", "Of these: want no answer"),
    STAT(TrafficSource, answered, "requests", "Answers"),
    STAT(TrafficSource, wait_cycles, "cycles", "From coming into being to being sent, over all requests"),
    STAT(TrafficSource, longest_wait_cycles, "cycles", "The longest of these times"),
    STAT(TrafficSource, latency_ticks, "ticks", "From coming into being to the answer, over all answers"),
    STAT(TrafficSource, longest_latency_ticks, "ticks", "The longest of these times"),
    FORMULA("latency", source_latency, "cycles", "Mean time from coming into being to the answer"),
    HOST(TrafficSource, map, "The machine's address map"),
    HOST(TrafficSource, rests, "Makes no requests"),
    HOST(TrafficSource, rests_since, "From this cycle on"),
    FIELDS_END};

const Class traffic_source_class = {
    .name = "TrafficSource",
    .doc = "Makes memory requests at random, to measure what serves them",
    .bytes = sizeof(TrafficSource),
    .fields = source_fields,
    .build = source_build,
    .init = source_init,
    .tick = source_tick,
    .check = source_check,
    .report = source_report,
};
REGISTER_CLASS(traffic_source_class);

/* ---- The sink ---- */

typedef struct {
    MemMessage message;
    uint64_t ready; /* cycle in which the answer may leave */
} Answer;

typedef struct {
    SimObject obj;
    uint64_t latency, interval;
    uint32_t capacity;
    uint32_t first, held;
    uint32_t unused;
    Port cpu;
    Answer *answers; /* ring */
    uint64_t free;   /* first cycle in which the next request is taken */
    uint64_t received, received_bytes, posted_received, answered, latency_ticks, longest_latency_ticks;
} TrafficSink;

static uint64_t answers_held(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const TrafficSink *)object)->held;
}

static void sink_init(SimObject *object) {
    audit_queue(object, 0, "answers", QUEUE_FIFO, ((const TrafficSink *)object)->capacity, answers_held);
}

/* Returns when the next answer may leave. */
static uint64_t send_answers(TrafficSink *sink, uint64_t now, uint64_t cycle) {
    while (sink->held) {
        const Answer *oldest = &sink->answers[sink->first];
        if (oldest->ready > cycle) return oldest->ready * sink->obj.period;
        if (!link_can_send(sink->cpu.send, now)) return link_space_time(sink->cpu.send, now);
        *(MemMessage *)link_send(sink->cpu.send, now) = oldest->message;
        sink->answered++;
        sink->held--;
        audit_leave(&sink->obj, 0, sink->first);
        if (++sink->first == sink->capacity) sink->first = 0;
    }
    return NEVER;
}

static void keep_answer(TrafficSink *sink, const MemMessage *message, uint64_t cycle) {
    uint32_t slot = sink->first + sink->held++;
    if (slot >= sink->capacity) slot -= sink->capacity;
    sink->answers[slot] = (Answer){*message, cycle + sink->latency};
    audit_enter(&sink->obj, 0, slot);
}

static void count_arrival(TrafficSink *sink, const MemMessage *message, uint64_t now) {
    mem_refuse_atomics(&sink->obj, message);
    uint64_t latency = now - message->issued;
    sink->received++;
    sink->received_bytes += mem_data_bytes(message);
    sink->posted_received += !wants_answer(message);
    sink->latency_ticks += latency;
    sink->longest_latency_ticks = later_of(sink->longest_latency_ticks, latency);
}

/* Returns when to look for the next request; one that finds no room is looked at when an answer leaves. */
static uint64_t take_requests(TrafficSink *sink, uint64_t now, uint64_t cycle) {
    const MemMessage *message = sink->free <= cycle ? link_peek(sink->cpu.receive, now) : NULL;
    if (message) {
        if (wants_answer(message) && sink->held == sink->capacity) return NEVER;
        count_arrival(sink, message, now);
        if (wants_answer(message)) keep_answer(sink, message, cycle);
        link_pop(sink->cpu.receive, now);
        sink->free = cycle + sink->interval;
        object_progress(&sink->obj);
    }
    uint64_t ready = link_next_ready(sink->cpu.receive);
    return ready == NEVER ? NEVER : later_of(ready, sink->free * sink->obj.period);
}

/* Answers leave first, to make room; what was just taken has its answer in a later cycle. */
static uint64_t sink_tick(SimObject *object, uint64_t now) {
    TrafficSink *sink = (TrafficSink *)object;
    uint64_t cycle = object_cycle(object, now);
    send_answers(sink, now, cycle);
    uint64_t next = take_requests(sink, now, cycle);
    return earlier_of(next, send_answers(sink, now, cycle));
}

static void sink_check(const SimObject *object, bool idle) {
    const TrafficSink *sink = (const TrafficSink *)object;
    if (sink->received != link_received(sink->cpu.receive) || sink->answered != link_sent(sink->cpu.send))
        panic("%s: %lu requests received and %lu answered, but its links brought %lu and took %lu",
              object->path, sink->received, sink->answered, link_received(sink->cpu.receive),
              link_sent(sink->cpu.send));
    if (sink->received - sink->posted_received != sink->answered + sink->held || (idle && sink->held))
        panic("%s: %lu requests need an answer, %lu were answered and %u are held", object->path,
              sink->received - sink->posted_received, sink->answered, sink->held);
}

static Ratio sink_latency(const SimObject *object) {
    const TrafficSink *sink = (const TrafficSink *)object;
    return mean_cycles(object, sink->latency_ticks, sink->received);
}

static void sink_requests(const SimObject *object, RequestVisitor *visit, void *context) {
    const TrafficSink *sink = (const TrafficSink *)object;
    for (uint32_t i = 0; i < sink->held; i++)
        visit(context, sink->cpu.receive, &sink->answers[(sink->first + i) % sink->capacity].message);
}

static void sink_is_sound(const SimObject *object, bool fits) {
    const TrafficSink *sink = (const TrafficSink *)object;
    uint64_t cycle = object_cycle(object, object->sim->now);
    (void)fits;
    sound(sink->first < sink->capacity && sink->held <= sink->capacity, "%s: %u answers from %u on",
          object->path, sink->held, sink->first);
    sound(sink->free <= cycle + sink->interval, "%s.free: cycle %lu", object->path, sink->free);
    for (uint32_t i = 0; i < sink->held; i++) {
        const Answer *answer = &sink->answers[(sink->first + i) % sink->capacity];
        mem_message_is_sound(object->path, &answer->message);
        sound(answer->ready <= cycle + sink->latency, "%s.answers: cycle %lu", object->path, answer->ready);
    }
}

static const Field sink_fields[] = {
    BASE(TrafficSink),
    PARAM(TrafficSink, latency, "1", "cycles", "From taking a request to its answer", .min = 1, .max = 1e9),
    PARAM(TrafficSink, interval, "1", "cycles", "From taking a request to taking the next", .min = 1,
          .max = 1e9),
    PARAM(TrafficSink, capacity, "64", "requests", "Most between taken and answered", .min = 1, .max = 1e6),
    STATE(TrafficSink, first, "Oldest of the answers held"),
    STATE(TrafficSink, held, "Answers held"),
    DERIVED(TrafficSink, unused, "Padding"),
    PORT(TrafficSink, cpu, memory_protocol, ROLE_RESPONDER, "Who asks"),
    STATE_ARRAY(TrafficSink, answers, capacity, "Answers held"),
    STATE(TrafficSink, free, "First cycle in which the next request is taken"),
    STAT(TrafficSink, received, "requests", "Requests taken"),
    STAT(TrafficSink, received_bytes, "bytes", "Asked for or written by them"),
    STAT(TrafficSink, posted_received, "requests", "Of these: want no answer"),
    STAT(TrafficSink, answered, "requests", "Answers sent"),
    STAT(TrafficSink, latency_ticks, "ticks", "From coming into being to being taken, over all requests"),
    STAT(TrafficSink, longest_latency_ticks, "ticks", "The longest of these times"),
    FORMULA("latency", sink_latency, "cycles", "Mean time from coming into being to being taken"),
    FIELDS_END};

const Class traffic_sink_class = {
    .name = "TrafficSink",
    .doc = "Takes and answers memory requests after a fixed time",
    .bytes = sizeof(TrafficSink),
    .fields = sink_fields,
    .init = sink_init,
    .is_sound = sink_is_sound,
    .requests_inside = sink_requests,
    .tick = sink_tick,
    .check = sink_check,
};
REGISTER_CLASS(traffic_sink_class);
