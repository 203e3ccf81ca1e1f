/* L1: global memory is written through, local memory is written back. Atomics and bypassing requests pass
 * through, and leave no stale line behind. */
#include "mem/cache.h"
#include "mem/caches.h"

typedef enum { WRITE_EVICT, WRITE_THROUGH, WRITE_NONE } WritePolicy;

/* Set in the tokens of requests that pass through; other tokens are MSHRs. */
#define PASSING_TOKEN (1u << 31)

typedef struct {
    SimObject obj;
    Port cpu, mem;
    Cache cache;
    uint32_t latency, write_policy, local_allocate, enabled;
    uint32_t passing_limit;
    uint32_t passing_count, passing_released_count, passing_fresh;
    MemMessage *passing;        /* requests sent on and not answered yet, as they came */
    uint32_t *passing_released; /* stack of places in `passing` that were used before and are free */
    uint64_t off_hits, off_misses;
} L1Cache;

CACHE_IS_FIRST_OF(L1Cache);

static void l1_build(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_build((CacheObject *)object, l1->latency, LINE_BYTES_MAX);
}

static uint64_t passing_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->passing_count;
}

static void l1_init(SimObject *object) {
    cache_init(object);
    audit_queue(object, QUEUE_PASSING, "requests that passed through", QUEUE_TABLE,
                ((const L1Cache *)object)->passing_limit, passing_count);
}

void l1_invalidate(SimObject *object) {
    ensure(object->class == &l1_class);
    Cache *c = &((L1Cache *)object)->cache;
    tag_invalidate_all(&c->tags);
    for (uint32_t i = 0; i < c->tags.shape.lines; i++)
        c->written[i] = 0;
}

/* Requests that pass through. */

/* Is there room to pass `m` on, and to write back `dirty_line` (or NO_LINE) before? */
static Stall what_passing_lacks(const L1Cache *l1, const MemMessage *m, uint32_t dirty_line) {
    if (cache_miss_queue_room(&l1->cache) < 1u + cache_is_dirty(&l1->cache, dirty_line))
        return STALL_MISS_QUEUE;
    if (!(m->flags & MEM_POSTED) && l1->passing_count == l1->passing_limit) return STALL_PASSING;
    return STALL_NONE;
}

static uint32_t keep_original(L1Cache *l1, const MemMessage *m) {
    uint32_t place = l1->passing_released_count ? l1->passing_released[--l1->passing_released_count]
                                                : l1->passing_fresh++;
    l1->passing[place] = *m;
    l1->passing_count++;
    audit_enter(&l1->obj, QUEUE_PASSING, place);
    return place;
}

static void pass_on(L1Cache *l1, const MemMessage *m) {
    MemMessage *sent = cache_send_down(&l1->cache, 0);
    *sent = *m;
    sent->token = m->flags & MEM_POSTED ? 0 : PASSING_TOKEN | keep_original(l1, m);
    sent->route_depth = 0;
}

static void answer_passing(L1Cache *l1, const MemMessage *response, uint64_t now) {
    uint32_t place = response->token & ~PASSING_TOKEN;
    ensure(place < l1->passing_fresh);
    cache_respond(l1->cpu.send, &l1->passing[place], response->flags & (MEM_HIT | MEM_NACK), now);
    l1->passing_released[l1->passing_released_count++] = place;
    l1->passing_count--;
    audit_leave(&l1->obj, QUEUE_PASSING, place);
}

/* Accesses. */

/* The line, if present, would be stale afterwards. */
static Stall drop_and_pass(L1Cache *l1, const MemMessage *m, const Lookup *at, Result result, uint64_t now) {
    Stall stall = what_passing_lacks(l1, m, at->line);
    if (stall) return stall;
    if (at->line != NO_LINE) cache_drop(&l1->cache, at->line, now);
    pass_on(l1, m);
    cache_count(&l1->cache, m, result);
    return STALL_NONE;
}

static Stall write_global(L1Cache *l1, const MemMessage *m, const Lookup *at, uint64_t now) {
    Result result = cache_holds(&l1->cache, at) ? RESULT_HIT : RESULT_MISS;
    if (l1->write_policy == WRITE_EVICT) return drop_and_pass(l1, m, at, result, now);
    Stall stall = what_passing_lacks(l1, m, NO_LINE);
    if (stall) return stall;
    if (at->line != NO_LINE) tag_touch(&l1->cache.tags, at->line);
    pass_on(l1, m);
    cache_count(&l1->cache, m, result);
    return STALL_NONE;
}

/* Acknowledged once it is in the line or the line is on its way. */
static Stall write_local(L1Cache *l1, const MemMessage *m, Lookup *at, uint64_t now) {
    bool answered = !(m->flags & MEM_POSTED);
    if (at->line == NO_LINE && !l1->local_allocate) return drop_and_pass(l1, m, at, RESULT_MISS, now);
    if (answered && !link_can_send(l1->cpu.send, now)) return STALL_RESPONSE;
    Result result;
    Stall stall = cache_write(&l1->cache, m, at, false, now, &result);
    if (stall) return stall;
    if (answered) cache_respond(l1->cpu.send, m, result == RESULT_HIT ? MEM_HIT : 0, now);
    return STALL_NONE;
}

static Stall read(L1Cache *l1, const MemMessage *m, Lookup *at, uint64_t now) {
    Cache *c = &l1->cache;
    if (!cache_holds(c, at)) return cache_miss(c, m, at, c->parameters.allocate == ALLOCATE_ON_MISS, now);
    if (!link_can_send(l1->cpu.send, now)) return STALL_RESPONSE;
    tag_touch(&c->tags, at->line);
    cache_count(c, m, RESULT_HIT);
    cache_respond(l1->cpu.send, m, MEM_HIT, now);
    return STALL_NONE;
}

/* Switched off: the tags go on as if the cache were in use, so that its hit rate stays known and it can come
 * back, but the data comes from below. A line taken in this state has a tag and no valid sector. */
static Stall pass_while_off(L1Cache *l1, const MemMessage *m, const Lookup *at, uint64_t now) {
    Cache *c = &l1->cache;
    uint32_t line = at->line != NO_LINE ? at->line : tag_victim(&c->tags, at->set);
    Stall stall = what_passing_lacks(l1, m, line);
    if (stall) return stall;
    if (at->line == NO_LINE) {
        l1->off_misses++;
        if (line != NO_LINE) cache_replace(c, line, at, m, now);
    } else {
        l1->off_hits++;
        cache_write_back(c, line, now);
        if (m->kind == MEM_WRITE) c->tags.line[line].valid = 0;
        tag_touch(&c->tags, line);
    }
    pass_on(l1, m);
    cache_count(c, m, RESULT_BYPASS);
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
    if (!l1->enabled) return pass_while_off(l1, m, &at, now);
    if (global_write) return write_global(l1, m, &at, now);
    if (m->kind == MEM_WRITE) return write_local(l1, m, &at, now);
    return read(l1, m, &at, now);
}

/* The tick. */

/* Returns when to look at this side again. */
static uint64_t take_from_below(L1Cache *l1, uint64_t now) {
    const MemMessage *m = link_peek(l1->mem.receive, now);
    if (m) {
        bool passing = m->token & PASSING_TOKEN;
        if (passing && !link_can_send(l1->cpu.send, now)) return link_space_time(l1->cpu.send, now);
        if (passing)
            answer_passing(l1, m, now);
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
    cache_check((const CacheObject *)object, l1->passing_count, idle);
    if (idle && l1->passing_count)
        panic("%s is idle but %u requests that passed through are not answered", object_path(object),
              l1->passing_count);
}

static void l1_report(const SimObject *object, FILE *out) {
    const L1Cache *l1 = (const L1Cache *)object;
    cache_report(object, out);
    if (l1->passing_count)
        fprintf(out, "%s: %u requests that passed through are not answered\n", object_path(object),
                l1->passing_count);
}

static const Field l1_fields[] = {
    CACHE_ROWS(L1Cache),
    PARAM(L1Cache, latency, "1", "cycles", "From accepting a request to the response of a hit", .min = 1,
          .max = 1024, .timing = true),
    PARAM_CHOICE(L1Cache, write_policy, "evict", "evict|through|none",
                 "Writes of global memory go on below and evict the line or update it; none: reads only"),
    PARAM_FLAG(L1Cache, local_allocate, "true",
               "Writes of local memory that miss take a line; else they go on below"),
    PARAM_FLAG(L1Cache, enabled, "true", "false: everything bypasses, only the tags are kept up to date"),
    PARAM(L1Cache, passing_limit, "1024", "requests", "Writes, atomics and bypassing reads under way",
          .min = 1, .max = 65536),
    STATE(L1Cache, passing_count, "Requests that passed through and are not answered"),
    STATE(L1Cache, passing_released_count, "Places in the list of free ones"),
    STATE(L1Cache, passing_fresh, "First place that was never used"),
    STATE_ARRAY(L1Cache, passing, passing_limit, "Requests that passed through, as they came"),
    STATE_ARRAY(L1Cache, passing_released, passing_limit, "Free places that were used before"),
    STAT(L1Cache, off_hits, "accesses", "While switched off: bypassing accesses whose line had a tag"),
    STAT(L1Cache, off_misses, "accesses", "While switched off: bypassing accesses whose line had none"),
    FIELDS_END};

const Class l1_class = {
    .name = "L1",
    .doc = "First-level cache: data, constant, texture or instruction",
    .bytes = sizeof(L1Cache),
    .fields = l1_fields,
    .build = l1_build,
    .init = l1_init,
    .tick = l1_tick,
    .settle = cache_settle,
    .check = l1_check,
    .report = l1_report,
    .convert = l1_convert,
};
