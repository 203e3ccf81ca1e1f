/* L1: global memory is written through, local memory is written back. Atomics and bypassing requests pass
 * through, and leave no stale line behind. */
#include "mem/caches.h"
#include "mem/passing.h"
#include "mem/warp_sampler.h"

typedef enum { WRITE_EVICT, WRITE_THROUGH, WRITE_NONE } WritePolicy;

typedef struct {
    SimObject obj;
    Port cpu, mem;
    Cache cache;
    uint32_t latency, write_policy, local_allocate;
    uint32_t enabled;      /* a knob                             */
    uint64_t may_allocate; /* a knob: warps that may take a line */
    Passing passing;
    WarpSampler *sampler; /* a policy's part of the SM, or NULL */
} L1Cache;

CACHE_IS_FIRST_OF(L1Cache);

static void l1_build(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_build((CacheObject *)object, l1->latency, LINE_BYTES_MAX);
}

static uint64_t passing_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->passing.count;
}

static void l1_init(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_init(object);
    audit_queue(object, QUEUE_PASSING, "requests that passed through", QUEUE_TABLE, l1->passing.limit,
                passing_count);
    l1->may_allocate = ~0ull;
    l1->sampler = sampler_of(object);
}

void l1_invalidate(SimObject *object) {
    ensure(object->class == &l1_class);
    Cache *c = &((L1Cache *)object)->cache;
    tag_invalidate_all(&c->tags);
    for (uint32_t i = 0; i < c->tags.shape.lines; i++)
        c->written[i] = 0;
    if (c->victims) victim_tags_clear(c->victims);
}

/* Accesses. */

static Stall drop_and_pass(L1Cache *l1, const MemMessage *m, const Lookup *at, Result result, uint64_t now) {
    return pass_and_drop((CacheObject *)l1, &l1->passing, m, at, result, now);
}

static Stall write_global(L1Cache *l1, const MemMessage *m, const Lookup *at, uint64_t now) {
    Result result = cache_holds(&l1->cache, at) ? RESULT_HIT : RESULT_MISS;
    if (l1->write_policy == WRITE_EVICT) return drop_and_pass(l1, m, at, result, now);
    Stall stall = passing_lacks((CacheObject *)l1, &l1->passing, m, NO_LINE);
    if (stall) return stall;
    if (at->line != NO_LINE) tag_touch(&l1->cache.tags, at->line);
    pass_on((CacheObject *)l1, &l1->passing, m);
    cache_count(&l1->cache, m, result);
    return STALL_NONE;
}

/* Who may not take a line may use what others have brought, and passes the cache by when there is none. */
static bool may_allocate(const L1Cache *l1, const MemMessage *m) {
    return l1->may_allocate >> (m->warp & 63) & 1;
}

/* Acknowledged once it is in the line or the line is on its way. */
static Stall write_local(L1Cache *l1, const MemMessage *m, Lookup *at, uint64_t now) {
    bool answered = !(m->flags & MEM_POSTED);
    if (at->line == NO_LINE && !l1->local_allocate) return drop_and_pass(l1, m, at, RESULT_MISS, now);
    if (at->line == NO_LINE && !may_allocate(l1, m)) return drop_and_pass(l1, m, at, RESULT_BYPASS, now);
    if (answered && !link_can_send(l1->cpu.send, now)) return STALL_RESPONSE;
    Result result;
    Stall stall = cache_write(&l1->cache, m, at, false, now, &result);
    if (stall) return stall;
    if (answered) cache_respond(l1->cpu.send, m, result == RESULT_HIT ? MEM_HIT : 0, now);
    return STALL_NONE;
}

static Stall fetch(L1Cache *l1, const MemMessage *m, Lookup *at, uint64_t now) {
    return cache_miss(&l1->cache, m, at, l1->cache.parameters.allocate == ALLOCATE_ON_MISS, now);
}

static __attribute__((noinline)) Stall read_miss_under_policies(L1Cache *l1, const MemMessage *m, Lookup *at,
                                                                uint64_t now) {
    bool bypass = at->line == NO_LINE && (!may_allocate(l1, m) || cache_policy_bypasses(&l1->cache, m));
    return bypass ? drop_and_pass(l1, m, at, RESULT_BYPASS, now) : fetch(l1, m, at, now);
}

static Stall read(L1Cache *l1, const MemMessage *m, Lookup *at, uint64_t now) {
    Cache *c = &l1->cache;
    if (!cache_holds(c, at)) {
        bool policies = l1->may_allocate != ~0ull || l1->obj.heard;
        return policies ? read_miss_under_policies(l1, m, at, now) : fetch(l1, m, at, now);
    }
    if (!link_can_send(l1->cpu.send, now)) return STALL_RESPONSE;
    tag_touch(&c->tags, at->line);
    cache_count(c, m, RESULT_HIT);
    cache_respond(l1->cpu.send, m, MEM_HIT, now);
    return STALL_NONE;
}

static Stall access_request(L1Cache *l1, const MemMessage *m, uint64_t now) {
    Lookup at = cache_lookup(&l1->cache, m, m->address);
    bool global_write = m->kind == MEM_WRITE && !(m->flags & MEM_LOCAL);
    if (m->kind == MEM_WRITE && l1->write_policy == WRITE_NONE)
        user_error(
            "%s: a write of 0x%lx has come to a cache with write_policy \"none\", which only serves reads; "
            "legal for data is \"evict\" or \"through\"",
            object_path(&l1->obj), m->address);
    if (m->kind == MEM_ATOMIC || (m->flags & MEM_BYPASS_L1) || (global_write && !l1->enabled))
        return drop_and_pass(l1, m, &at, RESULT_BYPASS, now);
    if (!l1->enabled) return pass_while_off((CacheObject *)l1, &l1->passing, m, &at, now);
    if (global_write) return write_global(l1, m, &at, now);
    if (m->kind == MEM_WRITE) return write_local(l1, m, &at, now);
    return read(l1, m, &at, now);
}

/* The tick. */

/* Returns when to look at this side again. */
static uint64_t take_from_below(L1Cache *l1, uint64_t now) {
    const MemMessage *m = link_peek(l1->mem.receive, now);
    if (m) {
        bool passing = passing_is_token(m->token);
        if (passing && !link_can_send(l1->cpu.send, now)) return link_space_time(l1->cpu.send, now);
        if (l1->sampler) sampler_count(l1->sampler, m->warp, m->flags & MEM_HIT, now);
        if (passing)
            passing_answer((CacheObject *)l1, &l1->passing, m, now);
        else
            cache_fill(&l1->cache, m, now);
        link_pop(l1->mem.receive, now);
    }
    return link_next_ready(l1->mem.receive);
}

static void access_tags(L1Cache *l1, uint64_t now) {
    const MemMessage *m = cache_request_at_tags(&l1->cache, now);
    if (m) cache_end_access((CacheObject *)l1, access_request(l1, m, now), now);
}

static uint64_t l1_tick(SimObject *object, uint64_t now) {
    L1Cache *l1 = (L1Cache *)object;
    uint64_t below = take_from_below(l1, now);
    cache_send_woken(&l1->cache, l1->cpu.send, now);
    cache_send_miss(&l1->cache, l1->mem.send, now);
    access_tags(l1, now);
    cache_accept((CacheObject *)l1, now);
    return cache_next_tick((CacheObject *)l1, below, now);
}

static uint64_t index_address(const SimObject *object, uint64_t address) {
    (void)object;
    return address;
}

static bool l1_convert(SimObject *object, const SavedObject *saved, const struct SnapshotChanges *changes,
                       char *why, size_t why_size) {
    return cache_convert(object, index_address, saved, changes, why, why_size);
}

static void l1_check(const SimObject *object, bool idle) {
    cache_check_sets((const CacheObject *)object, index_address);
    const L1Cache *l1 = (const L1Cache *)object;
    cache_check((const CacheObject *)object, l1->passing.count, 0, idle);
    if (idle && l1->passing.count)
        panic("%s is idle but %u requests that passed through are not answered", object_path(object),
              l1->passing.count);
}

static void l1_report(const SimObject *object, FILE *out) {
    const L1Cache *l1 = (const L1Cache *)object;
    cache_report(object, out);
    passing_report(object, &l1->passing, out);
}

static const Event l1_events[] = {
    CACHE_EVENT_ROWS("Shall this read, which finds no line, pass the cache by?"), {0}};

static const Field l1_fields[] = {
    CACHE_ROWS(L1Cache),
    PARAM(L1Cache, latency, "1", "cycles", "From accepting a request to the response of a hit", .min = 1,
          .max = 1024, .timing = true),
    PARAM_CHOICE(L1Cache, write_policy, "evict", "evict|through|none",
                 "Writes of global memory go on below and evict the line or update it; none: reads only"),
    PARAM_FLAG(L1Cache, local_allocate, "true",
               "Writes of local memory that miss take a line; else they go on below"),
    CACHE_ENABLED_ROW(L1Cache),
    KNOB(L1Cache, may_allocate, "warps",
         "Warps that may take lines; requests of others that find none bypass"),
    PASSING_ROWS(L1Cache, passing, "1024"),
    HOST(L1Cache, sampler, "Counts what the second level answers"),
    FIELDS_END};

const Class l1_class = {
    .name = "L1",
    .doc = "First-level cache: data, constant, texture or instruction",
    .bytes = sizeof(L1Cache),
    .fields = l1_fields,
    .events = l1_events,
    .build = l1_build,
    .init = l1_init,
    .tick = l1_tick,
    .settle = cache_settle,
    .check = l1_check,
    .report = l1_report,
    .convert = l1_convert,
};
