/* One slice of L2: write-back, write-allocate, and the place where atomics happen. */
#include "mem/address_map.h"
#include "mem/cache.h"
#include "mem/caches.h"
#include "mem/functional_memory.h"

typedef enum { WRITE_MISS_FETCH, WRITE_MISS_LAZY } WriteMiss;

typedef struct {
    SimObject obj;
    Port cpu, mem;
    Cache cache;
    uint32_t rop_delay, data_port, write_miss, atomic_latency, host_copies, pad;
    uint64_t atomic_begun;    /* the atomic at the tags has the data array to itself */
    uint64_t fill_busy_until; /* when the fill port is free */
    const AddressMap *map;
    MemoryView view; /* what this slice's atomics wrote in this quantum */
} L2Slice;

CACHE_IS_FIRST_OF(L2Slice);

static void l2_build(SimObject *object) {
    L2Slice *l2 = (L2Slice *)object;
    cache_build((CacheObject *)object, l2->rop_delay, l2->data_port);
}

/* A machine without functional memory can be driven as long as no atomic arrives. */
static void l2_init(SimObject *object) {
    L2Slice *l2 = (L2Slice *)object;
    cache_init(object);
    l2->map = address_map_find(object);
    if (functional_memory(object)) view_init(&l2->view, functional_memory(object)->memory);
}

static void l2_destroy(SimObject *object) {
    L2Slice *l2 = (L2Slice *)object;
    if (l2->view.memory) view_free(&l2->view);
}

static void l2_commit(SimObject *object) {
    view_commit(&((L2Slice *)object)->view);
}

static Lookup look_up(const L2Slice *l2, const MemMessage *m) {
    return cache_lookup(&l2->cache, m, address_map_within_slice(l2->map, m->address));
}

bool l2_keeps_host_copies(const SimObject *object) {
    ensure(object->class == &l2_class);
    return ((const L2Slice *)object)->host_copies;
}

void l2_warm(SimObject *object, uint64_t address) {
    ensure(object->class == &l2_class);
    L2Slice *l2 = (L2Slice *)object;
    TagArray *tags = &l2->cache.tags;
    MemMessage host = {.address = tag_line_address(&tags->shape, address),
                       .bytes = (uint16_t)tags->shape.line_bytes};
    Lookup at = look_up(l2, &host);
    if (at.line == NO_LINE) {
        at.line = tag_victim(tags, at.set);
        if (at.line == NO_LINE) return;
        tag_install(tags, at.line, at.line_address, NOBODY, NOBODY, 0);
        l2->cache.written[at.line] = 0;
    } else {
        tag_touch(tags, at.line);
    }
    TagLine *line = &tags->line[at.line];
    line->valid |= (uint8_t)(tags->shape.all_sectors & ~(uint32_t)line->reserved);
}

/* Accesses. */

/* Acknowledged once it is in the line or the line is on its way. */
static Stall write(L2Slice *l2, const MemMessage *m, Lookup *at, uint64_t now) {
    bool answered = !(m->flags & MEM_POSTED);
    if (answered && !link_can_send(l2->cpu.send, now)) return STALL_RESPONSE;
    Result result;
    Stall stall = cache_write(&l2->cache, m, at, l2->write_miss == WRITE_MISS_LAZY, now, &result);
    if (stall) return stall;
    if (answered) cache_respond(l2->cpu.send, m, result == RESULT_HIT ? MEM_HIT : 0, now);
    return STALL_NONE;
}

static Stall read(L2Slice *l2, const MemMessage *m, Lookup *at, uint64_t now) {
    Cache *c = &l2->cache;
    bool allocate = c->parameters.allocate == ALLOCATE_ON_MISS || m->kind == MEM_ATOMIC;
    if (!cache_holds(c, at)) return cache_miss(c, m, at, allocate, now);
    if (!link_can_send(l2->cpu.send, now)) return STALL_RESPONSE;
    tag_touch(&c->tags, at->line);
    cache_count(c, m, RESULT_HIT);
    cache_use_data_port(c, m->bytes, now);
    cache_respond(l2->cpu.send, m, MEM_HIT, now);
    return STALL_NONE;
}

static uint32_t lanes_of(const AtomicPayload *payload, const MemMessage *m) {
    uint32_t lanes = 0;
    if (m->lanes) return m->lanes & payload->mask;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        lanes |= (uint32_t)(payload->address[lane] - m->address < m->bytes) << lane;
    return lanes & payload->mask;
}

static void perform_atomic(L2Slice *l2, const MemMessage *m) {
    FunctionalMemory *functional = functional_memory(&l2->obj);
    ensure(functional && m->sm < MAX_SMS && functional->payloads[m->sm]);
    AtomicPayload *payload = &functional->payloads[m->sm][m->payload];
    if (!atomic_perform(payload, lanes_of(payload, m), &l2->view))
        panic("%s: an atomic of sm %u warp %u on 0x%lx is out of bounds, which the SM should have found at "
              "issue",
              object_path(&l2->obj), m->sm, m->warp, m->address);
    if (l2->view.log_count) object_request_commit(&l2->obj);
}

/* Values change when the request is accepted, in order of arrival, whether the line is there or must be
 * fetched. */
static Stall atomic(L2Slice *l2, const MemMessage *m, Lookup *at, uint64_t now) {
    if (l2->atomic_latency && !l2->atomic_begun) {
        l2->atomic_begun = 1;
        l2->cache.data_busy_until = now + l2->atomic_latency * l2->cache.period;
        return STALL_DATA_PORT;
    }
    Stall stall = read(l2, m, at, now);
    if (stall) return stall;
    l2->atomic_begun = 0;
    cache_modify(&l2->cache, m, at);
    perform_atomic(l2, m);
    return STALL_NONE;
}

static Stall access_request(L2Slice *l2, const MemMessage *m, uint64_t now) {
    if (l2->cache.data_busy_until > now) return STALL_DATA_PORT;
    Lookup at = look_up(l2, m);
    switch ((MemKind)m->kind) {
    case MEM_READ: return read(l2, m, &at, now);
    case MEM_WRITE: return write(l2, m, &at, now);
    case MEM_ATOMIC: return atomic(l2, m, &at, now);
    }
    panic("%s: a request of kind %u", object_path(&l2->obj), m->kind);
}

/* The tick. */

/* Returns when to look at this side again. */
static uint64_t take_from_below(L2Slice *l2, uint64_t now) {
    Link *from_mem = l2->mem.receive;
    const MemMessage *m = link_peek(from_mem, now);
    if (m && l2->fill_busy_until <= now) {
        cache_fill(&l2->cache, m, now);
        l2->fill_busy_until = now + cache_port_ticks(&l2->cache, m->bytes);
        link_pop(from_mem, now);
    }
    uint64_t ready = link_next_ready(from_mem);
    return ready > l2->fill_busy_until ? ready : l2->fill_busy_until;
}

static void access_tags(L2Slice *l2, uint64_t now) {
    const MemMessage *m = cache_request_at_tags(&l2->cache, now);
    if (m) cache_end_access((CacheObject *)l2, access_request(l2, m, now), now);
}

static uint64_t l2_tick(SimObject *object, uint64_t now) {
    L2Slice *l2 = (L2Slice *)object;
    uint64_t below = take_from_below(l2, now);
    cache_send_woken(&l2->cache, l2->cpu.send, now);
    cache_send_miss(&l2->cache, l2->mem.send, now);
    access_tags(l2, now);
    cache_accept((CacheObject *)l2, now);
    return cache_next_tick((CacheObject *)l2, below, now);
}

static uint64_t index_address(const SimObject *object, uint64_t address) {
    return address_map_within_slice(((const L2Slice *)object)->map, address);
}

static bool l2_convert(SimObject *object, const SavedObject *saved, const struct SnapshotChanges *changes,
                       char *why, size_t why_size) {
    return cache_convert(object, index_address, saved, changes, why, why_size);
}

static void l2_check(const SimObject *object, bool idle) {
    cache_check_sets((const CacheObject *)object, index_address);
    const L2Slice *l2 = (const L2Slice *)object;
    const CacheStats *stats = &l2->cache.stats;
    cache_check((const CacheObject *)object, 0, idle);
    if (stats->fills != l2->mem.receive->popped)
        panic("%s: %lu fills, but %lu messages came from the memory side", object_path(object), stats->fills,
              l2->mem.receive->popped);
}

static const Field l2_fields[] = {
    CACHE_ROWS(L2Slice),
    PARAM(L2Slice, rop_delay, "120", "cycles", "From accepting a request to the tags", .min = 1, .max = 4096,
          .timing = true),
    PARAM(L2Slice, data_port, "128", "bytes",
          "Width per cycle of the data array's two ports, one for hits and "
          "write-backs, one for fills; 128: no limit",
          .min = 1, .max = LINE_BYTES_MAX, .power_of_two = true, .timing = true),
    PARAM_CHOICE(L2Slice, write_miss, "fetch", "fetch|lazy",
                 "Sectors written in part are fetched at once, or when they are read"),
    PARAM(L2Slice, atomic_latency, "0", "cycles",
          "How long an atomic has the data array to itself before it is done", .max = 1024, .timing = true),
    PARAM_FLAG(L2Slice, host_copies, "false", "Copies from the host leave their lines here", .timing = true),
    DERIVED(L2Slice, pad, "Alignment"),
    STATE(L2Slice, atomic_begun, "The atomic at the tags has the data array"),
    STATE(L2Slice, fill_busy_until, "When the fill port is free"),
    HOST(L2Slice, map, "The machine's address map"),
    HOST(L2Slice, view, "What this slice's atomics wrote in this quantum"),
    FIELDS_END};

const Class l2_class = {
    .name = "L2",
    .doc = "Slice of the second-level cache, where atomics are performed",
    .bytes = sizeof(L2Slice),
    .fields = l2_fields,
    .build = l2_build,
    .init = l2_init,
    .tick = l2_tick,
    .commit = l2_commit,
    .settle = cache_settle,
    .check = l2_check,
    .report = cache_report,
    .convert = l2_convert,
    .destroy = l2_destroy,
};
