#include "tests/unit/mem/memory_driver.h"

#include "core/sim/tick_watch.h"

#include <check.h>
#include <stdlib.h>

typedef struct {
    uint64_t earliest;
    MemMessage message;
} ScriptedMessage;

typedef struct {
    SimObject obj;
    uint64_t outstanding, refuse_from, refuse_until;
    Port mem;
    uint32_t next, script_count, script_capacity, waiting;
    ScriptedMessage *script;
    MessageLog sent, responses;
} MemoryDriver;

typedef struct {
    SimObject obj;
    uint64_t refuse_from, refuse_until, latency;
    uint32_t capacity, response_flags;
    Port cpu;
    uint32_t first, held;
    LoggedMessage *ring; /* cycle: when to answer */
    MessageLog arrivals;
} MemoryResponder;

static void append(MessageLog *log, uint64_t cycle, const MemMessage *message) {
    if (log->count == log->capacity) {
        log->capacity = log->capacity ? 2 * log->capacity : 64;
        log->entries = realloc(log->entries, log->capacity * sizeof *log->entries);
        ensure(log->entries);
    }
    log->entries[log->count++] = (LoggedMessage){cycle, *message};
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static bool wants_response(const MemMessage *message) {
    return !(message->flags & MEM_POSTED);
}

static uint64_t take_responses(MemoryDriver *driver, uint64_t now, uint64_t cycle) {
    const MemMessage *response;
    while ((response = link_peek(driver->mem.receive, now))) {
        if (cycle >= driver->refuse_from && cycle < driver->refuse_until)
            return driver->refuse_until * driver->obj.period;
        append(&driver->responses, cycle, response);
        ensure(driver->waiting > 0);
        driver->waiting--;
        link_pop(driver->mem.receive, now);
    }
    return link_next_ready(driver->mem.receive);
}

static uint64_t send_requests(MemoryDriver *driver, uint64_t now, uint64_t cycle) {
    for (; driver->next < driver->script_count; driver->next++) {
        ScriptedMessage *item = &driver->script[driver->next];
        bool answered = wants_response(&item->message);
        if (item->earliest > cycle) return item->earliest * driver->obj.period;
        if (answered && driver->outstanding && driver->waiting == driver->outstanding) return NEVER;
        if (!link_can_send(driver->mem.send, now)) return link_space_time(driver->mem.send, now);
        item->message.issued = now;
        if (!link_hand_over(driver->mem.send, &item->message, now))
            *(MemMessage *)link_send(driver->mem.send, now) = item->message;
        append(&driver->sent, cycle, &item->message);
        driver->waiting += answered;
    }
    return NEVER;
}

static uint64_t driver_tick(SimObject *object, uint64_t now) {
    MemoryDriver *driver = (MemoryDriver *)object;
    uint64_t cycle = object_cycle(object, now);
    uint64_t next_response = take_responses(driver, now, cycle);
    return earlier(next_response, send_requests(driver, now, cycle));
}

static void driver_destroy(SimObject *object) {
    MemoryDriver *driver = (MemoryDriver *)object;
    free(driver->script);
    free(driver->sent.entries);
    free(driver->responses.entries);
}

static const Field driver_fields[] = {
    BASE(MemoryDriver),
    PARAM(MemoryDriver, outstanding, "0", "requests",
          "Most requests that may wait for a response; 0: any number"),
    PARAM(MemoryDriver, refuse_from, "0", "cycle", "First cycle in which no response is taken"),
    PARAM(MemoryDriver, refuse_until, "0", "cycle", "First cycle in which responses are taken again"),
    PORT(MemoryDriver, mem, memory_protocol, ROLE_REQUESTER, "What is being driven"),
    STATE(MemoryDriver, next, "Messages of the script that were sent"),
    HOST(MemoryDriver, script_count, "Messages in the script"),
    HOST(MemoryDriver, script_capacity, "Room in the script"),
    STATE(MemoryDriver, waiting, "Requests without a response so far"),
    HOST(MemoryDriver, script, "What to send"),
    HOST(MemoryDriver, sent, "What was sent"),
    HOST(MemoryDriver, responses, "What came back"),
    FIELDS_END};

const Class memory_driver_class = {
    .name = "MemoryDriver",
    .doc = "Sends a script of memory requests",
    .bytes = sizeof(MemoryDriver),
    .fields = driver_fields,
    .tick = driver_tick,
    .destroy = driver_destroy,
};

static uint64_t answer_requests(MemoryResponder *responder, uint64_t now, uint64_t cycle) {
    while (responder->held) {
        const LoggedMessage *oldest = &responder->ring[responder->first];
        if (oldest->cycle > cycle) return oldest->cycle * responder->obj.period;
        if (!link_can_send(responder->cpu.send, now)) return link_space_time(responder->cpu.send, now);
        *(MemMessage *)link_send(responder->cpu.send, now) = oldest->message;
        responder->first = (responder->first + 1) % responder->capacity;
        responder->held--;
    }
    return NEVER;
}

static uint64_t take_requests(MemoryResponder *responder, uint64_t now, uint64_t cycle) {
    const MemMessage *request;
    while ((request = link_peek(responder->cpu.receive, now))) {
        if (cycle >= responder->refuse_from && cycle < responder->refuse_until)
            return responder->refuse_until * responder->obj.period;
        if (wants_response(request)) {
            if (responder->held == responder->capacity) return NEVER;
            LoggedMessage *slot =
                &responder->ring[(responder->first + responder->held++) % responder->capacity];
            *slot = (LoggedMessage){cycle + responder->latency, *request};
            slot->message.flags |= (uint8_t)responder->response_flags;
        }
        append(&responder->arrivals, cycle, request);
        link_pop(responder->cpu.receive, now);
    }
    return link_next_ready(responder->cpu.receive);
}

/* Answers first, so that the place of an answered request is free in the same cycle. */
static uint64_t responder_tick(SimObject *object, uint64_t now) {
    MemoryResponder *responder = (MemoryResponder *)object;
    uint64_t cycle = object_cycle(object, now);
    answer_requests(responder, now, cycle);
    uint64_t next_request = take_requests(responder, now, cycle);
    return earlier(next_request, answer_requests(responder, now, cycle));
}

static void responder_destroy(SimObject *object) {
    MemoryResponder *responder = (MemoryResponder *)object;
    free(responder->arrivals.entries);
}

static const Field responder_fields[] = {
    BASE(MemoryResponder),
    PARAM(MemoryResponder, refuse_from, "0", "cycle", "First cycle in which no request is taken"),
    PARAM(MemoryResponder, refuse_until, "0", "cycle", "First cycle in which requests are taken again"),
    PARAM(MemoryResponder, latency, "1", "cycles", "From taking a request to sending its response", .min = 1,
          .max = 1e9),
    PARAM(MemoryResponder, capacity, "64", "requests", "Most requests between taken and answered", .min = 1,
          .max = 1e6),
    PARAM(MemoryResponder, response_flags, "0", "flags", "Set in every response"),
    PORT(MemoryResponder, cpu, memory_protocol, ROLE_RESPONDER, "Who asks"),
    STATE(MemoryResponder, first, "Oldest request of the ring"),
    STATE(MemoryResponder, held, "Requests in the ring"),
    STATE_ARRAY(MemoryResponder, ring, capacity, "Requests that wait for their answer"),
    HOST(MemoryResponder, arrivals, "What was taken"),
    FIELDS_END};

const Class memory_responder_class = {
    .name = "MemoryResponder",
    .doc = "Answers memory requests after a fixed time",
    .bytes = sizeof(MemoryResponder),
    .fields = responder_fields,
    .tick = responder_tick,
    .destroy = responder_destroy,
};

void memory_test_classes(void) {
    class_register(&memory_driver_class);
    class_register(&memory_responder_class);
}

void memory_driver_send(SimObject *object, uint64_t earliest_cycle, MemMessage message) {
    MemoryDriver *driver = (MemoryDriver *)object;
    if (driver->script_count == driver->script_capacity) {
        driver->script_capacity = driver->script_capacity ? 2 * driver->script_capacity : 64;
        driver->script = realloc(driver->script, driver->script_capacity * sizeof *driver->script);
        ensure(driver->script);
    }
    driver->script[driver->script_count++] = (ScriptedMessage){earliest_cycle, message};
    /* A driver that had nothing left to send is asleep. */
    uint64_t period = object->period;
    object_poke(object, (object->sim->now + period - 1) / period * period);
}

const MessageLog *memory_driver_responses(const SimObject *driver) {
    return &((const MemoryDriver *)driver)->responses;
}

const MessageLog *memory_driver_sent(const SimObject *driver) {
    return &((const MemoryDriver *)driver)->sent;
}

const MessageLog *memory_responder_arrivals(const SimObject *responder) {
    return &((const MemoryResponder *)responder)->arrivals;
}

MemMessage read_request(uint64_t address, uint32_t bytes) {
    return (MemMessage){.address = address, .bytes = (uint8_t)bytes, .kind = MEM_READ};
}

MemMessage write_request(uint64_t address, uint32_t bytes) {
    MemMessage message = {.address = address, .bytes = (uint8_t)bytes, .kind = MEM_WRITE};
    for (uint64_t byte = address % LINE_BYTES_MAX; byte < address % LINE_BYTES_MAX + bytes; byte++)
        message.byte_mask[byte / 64] |= 1ull << byte % 64;
    return message;
}

MemMessage posted_write_request(uint64_t address, uint32_t bytes) {
    MemMessage message = write_request(address, bytes);
    message.flags = MEM_POSTED;
    return message;
}

static void see_nothing(TickWatcher *watcher, SimObject *object, uint64_t now) {
    (void)watcher, (void)object, (void)now;
}

void look_on(SimObject *object) {
    static TickWatcher watcher = {see_nothing, see_nothing};
    object_watch_ticks(object, &watcher);
}

uint64_t stat_of(const SimObject *object, const char *name) {
    const Field *f = object_field(object, FIELD_STAT, name);
    ck_assert_msg(f, "%s has no counter '%s'", object->path, name);
    return *(const uint64_t *)(const void *)((const char *)object + f->offset);
}

static void print_stat(void *out, const VisitedStat *stat) {
    fprintf(out, "%s %.17g\n", stat->name, stat->value);
}

char *stats_text(Sim *sim) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ensure(out);
    sim_settle(sim);
    sim_visit_stats(sim, print_stat, out);
    fclose(out);
    return text;
}
