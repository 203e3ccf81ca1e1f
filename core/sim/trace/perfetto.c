/* A track for each object, below that of the object that it belongs to; in it a track for each warp, each bank,
 * each number that is counted, and as many for requests as are there at once: slices of a track must nest. A
 * request's slices share a flow. */
#include "core/sim/trace/perfetto.h"

#include "core/sim/trace/protobuf.h"
#include "core/sim/trace/sink.h"

#include <stdlib.h>

enum {
    LINE_SHIFT = 7,
    CYCLE_NANOSECONDS = 1000,
    IPC_CYCLES = 256,
    LANES_MAX = 4096,
    NAMES_MAX = 1024,
    KEYED_MAX = 256
};

/* Fields of TracePacket, TrackEvent, TrackDescriptor. */
enum {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_COUNTER = 30,
    EVENT_FLOW = 47,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_ORDERING = 11,
    TRACK_RANK = 12,
};
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum { INCREMENTAL_CLOCK = 64, BOOT_CLOCK = 6, STATE_CLEARED = 1, NEEDS_STATE = 2, ORDER_EXPLICIT = 3 };
enum { NO_LANE = UINT32_MAX };

/* A slice of a request in an object. */
typedef struct {
    uint64_t line, issued;
    int32_t sm, warp;
    uint32_t track; /* 0: free */
    bool is_own;    /* the object sent it first */
} Lane;

typedef struct {
    uint32_t track;
    bool is_network;
    Lane *lane;
    uint32_t lanes, issues, issues_shown, ipc_track;
    uint32_t warp_track[KEYED_MAX], bank_track[KEYED_MAX];
    bool warp_is_open[KEYED_MAX];
    struct {
        const char *name;
        uint32_t track;
    } counter[4];
} Shown;

typedef struct {
    TraceWriter writer;
    const Tracer *tracer;
    const Sim *sim;
    Sink *sink;
    Shown *shown; /* by SimObject.id */
    uint32_t tracks, names;
    const char *name[NAMES_MAX]; /* by number - 1; by address: names are constants */
    uint64_t time, bucket;       /* of the last packet; of the instructions counted last */
    uint64_t last;               /* tick of the last record */
} Perfetto;

/* --- Packets ------------------------------------------------------------------------------------- */

static void put_packet(Perfetto *p, const Protobuf *packet) {
    Protobuf out = {.count = 0};
    protobuf_message(&out, 1, packet);
    sink_write(p->sink, out.byte, out.count);
}

static void begin_packet(Protobuf *packet) {
    packet->count = 0;
    protobuf_number(packet, PACKET_SEQUENCE, 1);
}

static void put_clocks(Perfetto *p) {
    Protobuf packet, clock = {.count = 0}, boot = {.count = 0}, clocks = {.count = 0},
                     defaults = {.count = 0};
    begin_packet(&packet);
    protobuf_number(&packet, PACKET_FLAGS, STATE_CLEARED);
    protobuf_number(&clock, 1, INCREMENTAL_CLOCK);
    protobuf_number(&clock, 2, 0);
    protobuf_number(&clock, 3, 1); /* is_incremental */
    protobuf_number(&clock, 4, CYCLE_NANOSECONDS);
    protobuf_number(&boot, 1, BOOT_CLOCK);
    protobuf_number(&boot, 2, 0);
    protobuf_message(&clocks, 1, &clock);
    protobuf_message(&clocks, 1, &boot);
    protobuf_message(&packet, PACKET_CLOCK_SNAPSHOT, &clocks);
    protobuf_number(&defaults, PACKET_CLOCK, INCREMENTAL_CLOCK);
    protobuf_message(&packet, PACKET_DEFAULTS, &defaults);
    put_packet(p, &packet);
}

/* Returns its number. */
static uint32_t put_track(Perfetto *p, uint32_t parent, const char *name, uint32_t rank, bool counts) {
    Protobuf packet, track = {.count = 0};
    uint32_t uuid = ++p->tracks;
    begin_packet(&packet);
    protobuf_number(&track, TRACK_UUID, uuid);
    protobuf_text(&track, TRACK_NAME, name);
    if (parent) protobuf_number(&track, TRACK_PARENT, parent);
    if (counts) protobuf_bytes(&track, TRACK_COUNTER, "", 0);
    protobuf_number(&track, TRACK_ORDERING, ORDER_EXPLICIT);
    protobuf_number(&track, TRACK_RANK, rank);
    protobuf_message(&packet, PACKET_TRACK, &track);
    put_packet(p, &packet);
    return uuid;
}

/* 0 when there are too many. */
static uint32_t number_of_name(Perfetto *p, const char *name) {
    for (uint32_t i = 0; i < p->names; i++)
        if (p->name[i] == name) return i + 1;
    if (p->names == NAMES_MAX) return 0;
    Protobuf packet, interned = {.count = 0}, entry = {.count = 0};
    p->name[p->names++] = name;
    begin_packet(&packet);
    protobuf_number(&entry, 1, p->names);
    protobuf_text(&entry, 2, name);
    protobuf_message(&interned, 2, &entry);
    protobuf_message(&packet, PACKET_INTERNED, &interned);
    put_packet(p, &packet);
    return p->names;
}

/* Cycles since the last packet with a time, which this one is from now on. */
static uint64_t time_passed(Perfetto *p, uint64_t ticks) {
    uint64_t time = clock_cycle(&p->sim->clocks[0], ticks), passed = time - p->time;
    p->time = time;
    return passed;
}

typedef struct {
    uint32_t type, track;
    const char *name; /* NULL: none */
    uint64_t flow;    /* 0: none */
    uint64_t value;
    const char *value_name; /* of an annotation */
} Shot;

static void put_event(Perfetto *p, uint64_t ticks, const Shot *shot) {
    Protobuf packet, event = {.count = 0};
    uint32_t name = shot->name ? number_of_name(p, shot->name) : 0;
    protobuf_number(&event, EVENT_TYPE, shot->type);
    protobuf_number(&event, EVENT_TRACK, shot->track);
    if (name) protobuf_number(&event, EVENT_NAME, name);
    if (shot->type == TYPE_COUNTER) protobuf_number(&event, EVENT_COUNTER, shot->value);
    if (shot->flow) protobuf_fixed(&event, EVENT_FLOW, shot->flow);
    if (shot->value_name) {
        Protobuf annotation = {.count = 0};
        protobuf_text(&annotation, 10, shot->value_name);
        protobuf_number(&annotation, 3, shot->value);
        protobuf_message(&event, EVENT_ANNOTATION, &annotation);
    }
    begin_packet(&packet);
    if (name) protobuf_number(&packet, PACKET_FLAGS, NEEDS_STATE);
    protobuf_number(&packet, PACKET_TIMESTAMP, time_passed(p, ticks));
    protobuf_message(&packet, PACKET_EVENT, &event);
    put_packet(p, &packet);
}

/* --- Tracks -------------------------------------------------------------------------------------- */

static uint32_t track_of(Perfetto *p, const SimObject *object) {
    Shown *shown = &p->shown[object->id];
    if (shown->track) return shown->track;
    uint32_t parent = object->parent ? track_of(p, object->parent) : 0;
    const char *name = object->path;
    if (object->parent) name += strlen(object->parent->path) + 1;
    shown->track = put_track(p, parent, name, object->id, false);
    shown->is_network = object->class->passes_on || object->class->stamps_route;
    return shown->track;
}

static uint32_t keyed_track(Perfetto *p, const SimObject *object, uint32_t *tracks, uint32_t key,
                            const char *format) {
    char name[64];
    if (tracks[key]) return tracks[key];
    snprintf(name, sizeof name, format, key);
    return tracks[key] = put_track(p, track_of(p, object), name, 1 + key, false);
}

static uint32_t warp_track(Perfetto *p, const SimObject *object, uint32_t warp) {
    Shown *shown = &p->shown[object->id];
    return keyed_track(p, object, shown->warp_track, warp % KEYED_MAX, "warp %u");
}

static uint32_t bank_track(Perfetto *p, const SimObject *object, uint64_t bank) {
    Shown *shown = &p->shown[object->id];
    return keyed_track(p, object, shown->bank_track, (uint32_t)bank % KEYED_MAX, "bank %u");
}

/* --- Requests ------------------------------------------------------------------------------------- */

static uint64_t flow_of(const TraceMessage *m) {
    uint64_t flow = (m->address >> LINE_SHIFT) * 0x9e3779b97f4a7c15u;
    flow = (flow ^ flow >> 29 ^ m->issued) * 0xbf58476d1ce4e5b9u;
    flow = (flow ^ flow >> 32 ^ (uint64_t)(uint32_t)m->sm << 16 ^ (uint64_t)(uint32_t)m->warp) *
           0x94d049bb133111ebu;
    return (flow ^ flow >> 31) | 1;
}

static Lane *lane_of(const Shown *shown, const TraceMessage *m) {
    for (uint32_t i = 0; i < shown->lanes; i++) {
        Lane *lane = &shown->lane[i];
        if (lane->line == m->address >> LINE_SHIFT && lane->issued == m->issued && lane->warp == m->warp &&
            lane->sm == m->sm)
            return lane;
    }
    return NULL;
}

static const Lane free_lane = {.line = NEVER, .issued = NEVER, .sm = -2};

static Lane *lane_new(Perfetto *p, const SimObject *object) {
    Shown *shown = &p->shown[object->id];
    char name[64];
    for (uint32_t i = 0; i < shown->lanes; i++)
        if (shown->lane[i].sm == free_lane.sm) return &shown->lane[i];
    if (shown->lanes == LANES_MAX) return NULL;
    shown->lane = realloc(shown->lane, (shown->lanes + 1) * sizeof *shown->lane);
    ensure_memory(shown->lane);
    Lane *lane = &shown->lane[shown->lanes++];
    *lane = free_lane;
    snprintf(name, sizeof name, "requests %u", shown->lanes);
    lane->track = put_track(p, track_of(p, object), name, KEYED_MAX + shown->lanes, false);
    return lane;
}

static void open_slice(Perfetto *p, const TraceRecord *r, bool is_own) {
    const TraceMessage *m = &r->message;
    Lane *lane = lane_new(p, r->object);
    if (!lane) return;
    *lane = (Lane){m->address >> LINE_SHIFT, m->issued, m->sm, m->warp, lane->track, is_own};
    put_event(p, r->time,
              &(Shot){.type = TYPE_BEGIN, .track = lane->track, .name = m->what, .flow = flow_of(m)});
}

static void close_slice(Perfetto *p, const TraceRecord *r, Lane *lane) {
    uint32_t track = lane->track;
    *lane = free_lane;
    lane->track = track;
    put_event(p, r->time, &(Shot){.type = TYPE_END, .track = track});
}

static void show_instant(Perfetto *p, const TraceRecord *r, uint32_t track, const char *name, bool flows) {
    put_event(
        p, r->time,
        &(Shot){
            .type = TYPE_INSTANT, .track = track, .name = name, .flow = flows ? flow_of(&r->message) : 0});
}

/* A network has a request from when it takes it until it sends it on, and likewise the answer. Others have it until
 * they answer; who sent it first, until the answer comes. */
static void show_message(Perfetto *p, const TraceRecord *r) {
    const TraceMessage *m = &r->message;
    Shown *shown = &p->shown[r->object->id];
    bool receives = r->kind == TRACE_RECEIVE;
    if (!m->is_request) {
        if (m->what) show_instant(p, r, track_of(p, r->object), m->what, false);
        return;
    }
    track_of(p, r->object);
    Lane *lane = lane_of(shown, m);
    bool opens = shown->is_network ? receives : !m->is_response && !m->is_posted && (receives || !lane);
    bool closes = shown->is_network ? !receives : m->is_response && lane && lane->is_own == receives;
    if (opens)
        open_slice(p, r, !receives);
    else if (closes && lane)
        close_slice(p, r, lane);
    else if (m->is_posted)
        show_instant(p, r, track_of(p, r->object), m->what, true);
}

static void show_note(Perfetto *p, const TraceRecord *r) {
    const Lane *lane = r->message.is_request ? lane_of(&p->shown[r->object->id], &r->message) : NULL;
    show_instant(p, r, lane ? lane->track : track_of(p, r->object), r->name, false);
}

/* --- Warps, numbers ------------------------------------------------------------------------------- */

static void show_state(Perfetto *p, const TraceRecord *r) {
    uint32_t warp = (uint32_t)r->message.warp % KEYED_MAX, track = warp_track(p, r->object, warp);
    bool *is_open = &p->shown[r->object->id].warp_is_open[warp];
    if (*is_open) put_event(p, r->time, &(Shot){.type = TYPE_END, .track = track});
    *is_open = strcmp(r->detail, "ended") != 0;
    if (*is_open) put_event(p, r->time, &(Shot){.type = TYPE_BEGIN, .track = track, .name = r->detail});
}

static void show_counter(Perfetto *p, const TraceRecord *r) {
    Shown *shown = &p->shown[r->object->id];
    uint32_t i = 0;
    while (i < 3 && shown->counter[i].name && shown->counter[i].name != r->name)
        i++;
    if (!shown->counter[i].track)
        shown->counter[i].track = put_track(p, track_of(p, r->object), r->name, 0, true);
    shown->counter[i].name = r->name;
    put_event(
        p, r->time,
        &(Shot){.type = TYPE_COUNTER, .track = shown->counter[i].track, .value = (uint64_t)r->number[0]});
}

static void show_event(Perfetto *p, const TraceRecord *r) {
    bool is_issue = strcmp(r->name, "issue") == 0;
    int32_t warp = r->message.warp;
    if (is_issue) p->shown[r->object->id].issues++;
    uint32_t track = is_issue && warp >= 0 ? warp_track(p, r->object, (uint32_t)warp)
                                           : track_of(p, r->object);
    show_instant(p, r, track, r->name, false);
}

/* Once in IPC_CYCLES: instructions of each object since the last time. */
static void show_instructions(Perfetto *p, const TraceRecord *r) {
    uint64_t bucket = clock_cycle(&p->sim->clocks[0], r->time) / IPC_CYCLES;
    if (bucket == p->bucket) return;
    p->bucket = bucket;
    for (uint32_t i = 0; i < p->sim->object_count; i++) {
        Shown *shown = &p->shown[i];
        if (shown->issues == shown->issues_shown) {
            shown->issues = 0;
            continue;
        }
        if (!shown->ipc_track)
            shown->ipc_track = put_track(p, shown->track, "instructions in 256 cycles", 0, true);
        shown->issues_shown = shown->issues;
        put_event(p, r->time,
                  &(Shot){.type = TYPE_COUNTER, .track = shown->ipc_track, .value = shown->issues});
        shown->issues = 0;
    }
}

static void show_record(TraceWriter *writer, const TraceRecord *r) {
    Perfetto *p = (Perfetto *)writer;
    p->last = r->time;
    show_instructions(p, r);
    switch (r->kind) {
    case TRACE_RECEIVE:
    case TRACE_SEND: show_message(p, r); break;
    case TRACE_NOTE: show_note(p, r); break;
    case TRACE_STATE: show_state(p, r); break;
    case TRACE_COMMAND: {
        bool moves_data = r->name[0] != 'A' && r->name[0] != 'P';
        show_instant(p, r, bank_track(p, r->object, (uint64_t)r->number[0]), r->name, moves_data);
        break;
    }
    case TRACE_EVENT: show_event(p, r); break;
    case TRACE_COUNTER: show_counter(p, r); break;
    case TRACE_KNOB:
        put_event(p, r->time,
                  &(Shot){.type = TYPE_INSTANT,
                          .track = track_of(p, r->object),
                          .name = "policy sets a knob",
                          .value_name = r->detail,
                          .value = (uint64_t)r->number[0]});
    }
}

static void begin(TraceWriter *writer, const Tracer *tracer) {
    Perfetto *p = (Perfetto *)writer;
    p->tracer = tracer;
    p->sim = tracer_sim(tracer);
    p->shown = calloc(p->sim->object_count + 1, sizeof *p->shown);
    ensure_memory(p->shown);
    put_clocks(p);
    for (uint32_t i = 0; i < p->sim->object_count; i++)
        if (tracer_traces(tracer, p->sim->objects[i])) track_of(p, p->sim->objects[i]);
}

/* What is still there at the end of the window ends with it. */
static void end_slices(Perfetto *p, const Shown *shown) {
    for (uint32_t w = 0; w < KEYED_MAX; w++)
        if (shown->warp_is_open[w])
            put_event(p, p->last, &(Shot){.type = TYPE_END, .track = shown->warp_track[w]});
    for (uint32_t i = 0; i < shown->lanes; i++)
        if (shown->lane[i].sm != free_lane.sm)
            put_event(p, p->last, &(Shot){.type = TYPE_END, .track = shown->lane[i].track});
}

static char *close_perfetto(TraceWriter *writer) {
    Perfetto *p = (Perfetto *)writer;
    for (uint32_t i = 0; i < p->sim->object_count; i++) {
        end_slices(p, &p->shown[i]);
        free(p->shown[i].lane);
    }
    char *problem = sink_close(p->sink);
    free(p->shown);
    free(p);
    return problem;
}

TraceWriter *perfetto_new(const char *path, char **problem) {
    Sink *sink = sink_open(path, problem);
    if (!sink) return NULL;
    Perfetto *p = calloc(1, sizeof *p);
    ensure_memory(p);
    p->writer = (TraceWriter){begin, show_record, close_perfetto};
    p->sink = sink;
    return &p->writer;
}
