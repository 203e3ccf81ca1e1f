/* Recording: who is traced, what they record in a quantum, and the order in which writers get it. */
#include "core/sim/halves.h"
#include "core/sim/trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* A port, with as much of its links as has been shown. */
typedef struct {
    char name[PORT_NAME_MAX + 1];
    Link *send, *receive;
    uint64_t sent, received;
    const Protocol *protocol;
    bool sends_requests;
} TracedPort;

typedef struct {
    SimObject *object;
    uint64_t (*tick)(SimObject *object, uint64_t now);
    Turn *turn;
    void *memory;
    TracedPort *ports;
    uint32_t port_count;
    uint32_t events; /* bit per event */
    int32_t sm;      /* whose warps it is about; -1: of all, or none */
    uint32_t pad;
} Traced;

typedef struct {
    TraceRecord *record;
    uint32_t count, capacity;
} __attribute__((aligned(64))) Records;

/* A record's place in the order: by time, then by object; in a cycle it receives, works, gets knobs, and sends. What is
 * of one rank keeps its order; but knobs that a policy sets together have none, and go by their names. */
typedef struct {
    uint64_t time;
    const char *knob; /* or "" */
    uint32_t object, cluster, index, rank;
} Place;

enum { WRITERS_MAX = 4 };

struct Tracer {
    Subscriber subscriber;
    Sim *sim;
    Traced **traced;  /* by SimObject.id; NULL: is not */
    Records *records; /* of each cluster */
    Place *places;
    uint32_t place_capacity, writer_count;
    TraceWriter *writer[WRITERS_MAX];
    uint64_t from, to; /* ticks */
    uint64_t begins;   /* the boundary at which the window does */
    uint64_t written;
    bool active;
};

const Sim *tracer_sim(const Tracer *tracer) {
    return tracer->sim;
}

bool tracer_traces(const Tracer *tracer, const SimObject *object) {
    return tracer->traced[object->id] != NULL;
}

/* --- Records ------------------------------------------------------------------------------------- */

static TraceRecord *add_record(Tracer *tracer, const SimObject *object, TraceKind kind, const char *name,
                               uint64_t now) {
    Records *records = &tracer->records[object->cluster - tracer->sim->clusters];
    if (records->count == records->capacity) {
        records->capacity = records->capacity ? 2 * records->capacity : 256;
        records->record = realloc(records->record, records->capacity * sizeof *records->record);
        ensure_memory(records->record);
    }
    if (!records->count) sim_request_boundary(tracer->sim);
    TraceRecord *record = &records->record[records->count++];
    *record = (TraceRecord){.time = now, .object = object, .kind = kind, .name = name};
    record->message.sm = record->message.warp = record->message.pc = -1;
    return record;
}

TraceRecord *trace_record(const SimObject *object, TraceKind kind, const char *name, uint64_t now) {
    Tracer *tracer = object->sim->tracer;
    return tracer && tracer->active ? add_record(tracer, object, kind, name, now) : NULL;
}

void trace_knob(const SimObject *object, const char *name, uint64_t value) {
    const Tracer *tracer = object->sim->tracer;
    if (!tracer || !tracer->active || !tracer->traced[object->id]) return;
    TraceRecord *record = trace_record(object, TRACE_KNOB, "knob", object_now(object));
    record->detail = name;
    record->number[0] = (int64_t)value;
}

/* What objects have recorded in cycles: by time and object, as whoever ticks first must not matter. */
static int compare_places(const void *a, const void *b) {
    const Place *one = a, *other = b;
    if (one->time != other->time) return one->time < other->time ? -1 : 1;
    if (one->object != other->object) return one->object < other->object ? -1 : 1;
    if (one->rank != other->rank) return one->rank < other->rank ? -1 : 1;
    int by_name = strcmp(one->knob, other->knob);
    if (by_name != 0) return by_name;
    return one->index < other->index ? -1 : one->index > other->index;
}

static uint32_t rank_of(TraceKind kind) {
    switch (kind) {
    case TRACE_RECEIVE: return 0;
    case TRACE_KNOB: return 2;
    case TRACE_SEND: return 3;
    default: return 1;
    }
}

static uint32_t collect_places(Tracer *tracer) {
    const Sim *sim = tracer->sim;
    uint32_t count = 0;
    for (uint32_t c = 0; c < sim->cluster_count; c++)
        count += tracer->records[c].count;
    if (count > tracer->place_capacity) {
        tracer->place_capacity = 2 * count;
        tracer->places = realloc(tracer->places, tracer->place_capacity * sizeof *tracer->places);
        ensure_memory(tracer->places);
    }
    count = 0;
    for (uint32_t c = 0; c < sim->cluster_count; c++)
        for (uint32_t i = 0; i < tracer->records[c].count; i++) {
            const TraceRecord *record = &tracer->records[c].record[i];
            tracer->places[count++] = (Place){.time = record->time,
                                              .knob = record->kind == TRACE_KNOB ? record->detail : "",
                                              .object = record->object->id,
                                              .cluster = c,
                                              .index = i,
                                              .rank = rank_of(record->kind)};
        }
    return count;
}

/* At the end of a quantum. */
static void write_records(void *context, Sim *sim) {
    Tracer *tracer = context;
    uint32_t count = collect_places(tracer);
    (void)sim;
    if (!count) return;
    qsort(tracer->places, count, sizeof *tracer->places, compare_places);
    for (uint32_t w = 0; w < tracer->writer_count; w++)
        for (uint32_t i = 0; i < count; i++) {
            const Place *place = &tracer->places[i];
            tracer->writer[w]->record(tracer->writer[w],
                                      &tracer->records[place->cluster].record[place->index]);
        }
    tracer->written += count;
    for (uint32_t c = 0; c < tracer->sim->cluster_count; c++)
        tracer->records[c].count = 0;
}

/* --- A traced object's turn ------------------------------------------------------------------------- */

/* Inside an SM, numbers of warps are of that SM. */
static void complete_warp(TraceRecord *record) {
    const SimObject *object = record->object;
    if (record->message.warp >= 0 && record->message.sm < 0)
        record->message.sm = object->sim->tracer->traced[object->id]->sm;
}

static void record_message(const TracedPort *port, const SimObject *object, TraceKind kind, const void *bytes,
                           uint64_t now) {
    bool is_request = (kind == TRACE_SEND) == port->sends_requests;
    const Protocol *protocol = port->protocol;
    void (*show)(const void *, TraceMessage *) = is_request ? protocol->trace_request
                                                            : protocol->trace_response;
    TraceRecord *record = trace_record(object, kind, kind == TRACE_SEND ? "send" : "receive", now);
    record->detail = port->name;
    record->message.is_response = !is_request;
    if (show) show(bytes, &record->message);
    complete_warp(record);
}

static void look_at_port(TracedPort *port, const SimObject *object, uint64_t now) {
    if (port->receive)
        for (; port->received != port->receive->popped; port->received++)
            record_message(port, object, TRACE_RECEIVE, link_message(port->receive, port->received), now);
    if (!port->send) return;
    const Link *link = port->send;
    for (; port->sent != link->pushed; port->sent++)
        record_message(port, object, TRACE_SEND,
                       link->to_slots + (port->sent & link->to_slot_mask) * link->to_message_bytes, now);
}

static uint64_t traced_tick(SimObject *object, uint64_t now) {
    Traced *traced = object->sim->tracer->traced[object->id];
    uint64_t next = traced->tick(object, now);
    for (uint32_t i = 0; i < traced->port_count; i++)
        look_at_port(&traced->ports[i], object, now);
    const TraceClass *trace = object->class->trace;
    if (trace && trace->look) trace->look(object, traced->memory, now);
    return next;
}

/* "sm, warp, address": which of them is this? -1: none */
static int argument_index(const char *arguments, const char *name) {
    size_t length = strlen(name);
    for (int i = 0; *arguments; i++) {
        size_t here = strcspn(arguments, ",");
        if (here == length && memcmp(arguments, name, length) == 0) return i;
        arguments += here;
        arguments += strspn(arguments, ", ");
    }
    return -1;
}

static int64_t handle_event(Subscriber *subscriber, SimObject *object, uint32_t event,
                            const int64_t *arguments, uint64_t now) {
    (void)subscriber;
    const Event *what = &object->class->events[event];
    TraceRecord *record = trace_record(object, TRACE_EVENT, what->name, now);
    if (!record) return NO_ANSWER;
    record->detail = what->arguments;
    memcpy(record->number, arguments, sizeof record->number);
    int sm = argument_index(what->arguments, "sm"), warp = argument_index(what->arguments, "warp"),
        pc = argument_index(what->arguments, "pc");
    if (sm >= 0) record->message.sm = (int32_t)arguments[sm];
    if (warp >= 0) record->message.warp = (int32_t)arguments[warp];
    if (pc >= 0) record->message.pc = (int32_t)arguments[pc];
    complete_warp(record);
    return NO_ANSWER;
}

/* --- Names of events --------------------------------------------------------------------------------- */

void tracer_visit_events(const Tracer *tracer, void (*visit)(void *context, const char *name),
                         void *context) {
    visit(context, "send");
    visit(context, "receive");
    visit(context, "knob");
    for (uint32_t i = 0; i < tracer->sim->object_count; i++) {
        if (!tracer->traced[i]) continue;
        const Class *class = tracer->traced[i]->object->class;
        for (uint32_t e = 0; class->events && class->events[e].name; e++)
            if (tracer->traced[i]->events >> e & 1) visit(context, class->events[e].name);
        for (uint32_t n = 0; class->trace && class->trace->names[n]; n++)
            visit(context, class->trace->names[n]);
    }
}

/* --- Who is traced ----------------------------------------------------------------------------------- */

/* A "*" at the end stands for all that follows: "sm[3]*" is the SM with everything below it. */
static bool pattern_selects(const char *pattern, size_t length, const char *path) {
    char text[OBJECT_PATH_MAX + 1], start[OBJECT_PATH_MAX + 1];
    if (!length || length >= sizeof text) return false;
    memcpy(text, pattern, length);
    text[length] = 0;
    if (path_matches(text, path)) return true;
    if (text[length - 1] != '*') return false;
    text[length - 1] = 0;
    if (length == 1) return true;
    snprintf(start, sizeof start, "%s", path);
    for (size_t end = strlen(start); end; end--) {
        start[end] = 0;
        if (path_matches(text, start)) return true;
    }
    return false;
}

bool trace_selects(const char *patterns, const char *path) {
    while (*patterns) {
        size_t length = strcspn(patterns, ",");
        if (pattern_selects(patterns, length, path)) return true;
        patterns += length;
        patterns += strspn(patterns, ", ");
    }
    return false;
}

static void add_port(Traced *traced, const Field *field, Port *port, uint32_t index) {
    traced->ports = realloc(traced->ports, (traced->port_count + 1) * sizeof *traced->ports);
    ensure_memory(traced->ports);
    TracedPort *shown = &traced->ports[traced->port_count++];
    *shown = (TracedPort){.send = port->send,
                          .receive = port->receive,
                          .protocol = field->protocol,
                          .sends_requests = field->role == ROLE_REQUESTER};
    if (field->kind == FIELD_PORT)
        snprintf(shown->name, sizeof shown->name, "%s", field->name);
    else
        snprintf(shown->name, sizeof shown->name, "%s[%u]", field->name, index);
}

static void add_ports(Traced *traced) {
    char *object = (char *)traced->object;
    for (const Field *f = traced->object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind == FIELD_PORT) add_port(traced, f, (Port *)(object + f->offset), 0);
        if (f->kind != FIELD_PORT_ARRAY) continue;
        for (uint32_t i = 0; i < object_count(traced->object, f); i++)
            add_port(traced, f, *(Port **)(object + f->offset) + i, i);
    }
}

static int32_t sm_of(const SimObject *object) {
    for (; object; object = object->parent)
        if (object->class->trace && object->class->trace->sm) return object->class->trace->sm(object);
    return -1;
}

static Traced *traced_new(SimObject *object) {
    Traced *traced = calloc(1, sizeof *traced);
    ensure_memory(traced);
    const Class *class = object->class;
    traced->object = object;
    traced->sm = sm_of(object);
    for (uint32_t i = 0; class->events && class->events[i].name; i++)
        if (!class->events[i].question) traced->events |= 1u << i;
    if (class->trace) {
        traced->events &= ~class->trace->replaces;
        traced->memory = calloc(1, class->trace->memory_bytes + 1);
        ensure_memory(traced->memory);
    }
    add_ports(traced);
    return traced;
}

static Turn *turn_of(const SimObject *object) {
    for (uint32_t i = 0; i < object->cluster->count; i++)
        if (object->cluster->turns[i].object == object) return &object->cluster->turns[i];
    return NULL;
}

static void begin_object(Tracer *tracer, Traced *traced) {
    SimObject *object = traced->object;
    object_join_halves(object);
    traced->turn = turn_of(object);
    ensure(traced->turn);
    traced->tick = traced->turn->tick;
    traced->turn->tick = traced_tick;
    cluster_begin_to_watch(object->cluster);
    for (uint32_t i = 0; i < traced->port_count; i++) {
        TracedPort *port = &traced->ports[i];
        if (port->send) port->sent = port->send->pushed;
        if (port->receive) port->received = port->receive->popped;
    }
    if (traced->events) object_subscribe(object, &tracer->subscriber, traced->events);
    if (object->class->trace && object->class->trace->begin)
        object->class->trace->begin(object, traced->memory, tracer->begins);
}

static void end_object(const Tracer *tracer, Traced *traced) {
    traced->turn->tick = traced->tick;
    object_unsubscribe(traced->object, &tracer->subscriber);
    cluster_note_observers(traced->object->cluster);
    const TraceClass *trace = traced->object->class->trace;
    if (trace && trace->end) trace->end(traced->object, traced->memory);
}

static void begin(Tracer *tracer, Sim *sim) {
    tracer->active = true;
    sim->call_at = tracer->to;
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (tracer->traced[i]) begin_object(tracer, tracer->traced[i]);
}

static void end(Tracer *tracer, Sim *sim) {
    sim->call_at = NEVER;
    if (!tracer->active) return;
    tracer->active = false;
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (tracer->traced[i]) end_object(tracer, tracer->traced[i]);
}

/* Before the first quantum of the window in which something is due, and before the first behind it. In quanta that
 * were skipped nothing has changed. */
static void window(void *context, Sim *sim) {
    Tracer *tracer = context;
    if (!tracer->active && tracer->begins < tracer->to) begin(tracer, sim);
    if (sim->now >= tracer->to) end(tracer, sim);
}

static uint64_t ticks_of(const Sim *sim, uint64_t cycle) {
    uint64_t period = sim->clocks[0].period;
    return cycle > (NEVER - 1) / period ? NEVER : cycle * period;
}

void tracer_time_has_moved(Tracer *tracer) {
    if (tracer->begins < tracer->sim->now) tracer->begins = tracer->sim->now;
}

Tracer *tracer_new(Sim *sim, const TraceOptions *options) {
    ensure(sim->elaborated && !sim->tracer);
    Tracer *tracer = calloc(1, sizeof *tracer);
    ensure_memory(tracer);
    tracer->subscriber.handle = handle_event;
    tracer->sim = sim;
    tracer->traced = calloc(sim->object_count + 1, sizeof *tracer->traced);
    tracer->records = aligned_alloc(_Alignof(Records), (sim->cluster_count + 1) * sizeof *tracer->records);
    ensure_memory(tracer->traced && tracer->records);
    memset(tracer->records, 0, (sim->cluster_count + 1) * sizeof *tracer->records);
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (trace_selects(options->patterns, sim->objects[i]->path))
            tracer->traced[i] = traced_new(sim->objects[i]);
    tracer->from = ticks_of(sim, options->from);
    tracer->to = ticks_of(sim, options->to);
    if (tracer->to != NEVER) tracer->to = (tracer->to + sim->quantum - 1) / sim->quantum * sim->quantum;
    tracer->begins = tracer->from == NEVER ? NEVER : tracer->from / sim->quantum * sim->quantum;
    sim->tracer = tracer;
    tracer_time_has_moved(tracer);
    sim->call_at = tracer->from;
    sim->call_before_quantum = window;
    sim_at_boundary(sim, write_records, tracer);
    return tracer;
}

void tracer_add_writer(Tracer *tracer, TraceWriter *writer) {
    ensure(tracer->writer_count < WRITERS_MAX);
    tracer->writer[tracer->writer_count++] = writer;
    writer->begin(writer, tracer);
}

char *tracer_close(Tracer *tracer, uint64_t *records) {
    Sim *sim = tracer->sim;
    char *problem = NULL;
    end(tracer, sim);
    write_records(tracer, sim);
    if (records) *records = tracer->written;
    for (uint32_t w = 0; w < tracer->writer_count; w++) {
        char *of_this = tracer->writer[w]->close(tracer->writer[w]);
        if (problem)
            free(of_this);
        else
            problem = of_this;
    }
    for (uint32_t i = 0; i < sim->object_count; i++) {
        if (!tracer->traced[i]) continue;
        free(tracer->traced[i]->memory);
        free(tracer->traced[i]->ports);
        free(tracer->traced[i]);
    }
    for (uint32_t c = 0; c < sim->cluster_count; c++)
        free(tracer->records[c].record);
    free(tracer->records);
    free(tracer->traced);
    free(tracer->places);
    sim_at_boundary_no_more(sim, tracer);
    sim->tracer = NULL;
    free(tracer);
    return problem;
}
