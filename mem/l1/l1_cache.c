/* L1: global memory is written through, local memory is written back. Atomics and bypassing requests pass
 * through, and leave no stale line behind. */
#include "mem/l1/l1_cache.h"

#include "core/sim/checkpoint/snapshot.h"
#include "mem/cache/cache_answers.h"
#include "mem/cache/cache_methods.h"
#include "mem/cache/cache_sound.h"

typedef enum { WRITE_EVICT, WRITE_THROUGH, WRITE_NONE } WritePolicy;

static void l1_build(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_build((CacheObject *)object, l1->latency, LINE_BYTES_MAX);
    saturation_build(&l1->saturation, &l1->cache.parameters);
    prioritization_build(&l1->buffer);
    passing_build(&l1->passing);
}

/* A changed machine may have taken over accesses of a queue that it has not. */
static void decide_attentive(L1Cache *l1) {
    l1->attentive = l1->queue.entries || l1->queue.count || l1->buffer.places || l1->watch_blocked_hits;
}

static uint64_t passing_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->passing.count;
}

static uint64_t reexecution_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->queue.count;
}

static uint64_t prioritization_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->buffer.count;
}

static void l1_init(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_init(object);
    audit_queue(object, QUEUE_PASSING, "requests that passed through", QUEUE_TABLE, l1->passing.limit,
                passing_count);
    audit_queue(object, QUEUE_REEXECUTION, "accesses to be tried again", QUEUE_TABLE, REEXECUTION_ENTRIES_MAX,
                reexecution_count);
    audit_queue(object, QUEUE_PRIORITIZATION, "requests in the prioritization buffer", QUEUE_TABLE,
                l1->buffer.slots, prioritization_count);
    l1->may_allocate = l1->may_miss = ~0ull;
    l1->sampler = sampler_of(object);
    decide_attentive(l1);
    l1_front_knobs_set(l1);
}

SimObject *l1_beside(const SimObject *part, const char *name) {
    char path[512];
    if (!part->parent) user_error("%s: it must belong to what its L1 belongs to", part->path);
    snprintf(path, sizeof path, "%s.%s", part->parent->path, name);
    SimObject *cache = sim_find(part->sim, path);
    if (!cache || cache->class != &l1_class)
        user_error("%s.cache: there is no L1 '%s'; legal is the name of one beside %s", part->path, path,
                   part->path);
    return cache;
}

bool l1_keeps_lines(const SimObject *object) {
    ensure(object->class == &l1_class);
    return ((const L1Cache *)object)->keeps_lines;
}

bool l1_is_saturated(const SimObject *object) {
    ensure(object->class == &l1_class);
    return ((const L1Cache *)object)->saturation.on;
}

void l1_invalidate(SimObject *object) {
    ensure(object->class == &l1_class);
    Cache *c = &((L1Cache *)object)->cache;
    tag_invalidate_all(&c->tags);
    cache_forget_failed_try(c);
    for (uint32_t i = 0; i < tag_lines_used(&c->tags); i++)
        c->written[i] = 0;
    if (c->victims) victim_tags_clear(c->victims);
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->cleared) o->cleared(o);
}

/* Accesses. */

static Stall drop_and_pass(L1Cache *l1, const MemMessage *m, const Lookup *at, Result result, uint64_t now) {
    return pass_and_drop((CacheObject *)l1, &l1->passing, m, at, result, now);
}

static Stall write_global(L1Cache *l1, const MemMessage *m, const Lookup *at, uint64_t now) {
    Result result = cache_holds(&l1->cache, at) ? RESULT_HIT : RESULT_MISS;
    if (l1->write_policy == WRITE_EVICT) return drop_and_pass(l1, m, at, result, now);
    Stall stall = passing_lacks((CacheObject *)l1, &l1->passing, m, false);
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

/* What became of a request that wants a line. Policies may let it pass the cache by when every way of its set
 * is reserved. */
static Stall wait_or_bypass(L1Cache *l1, const MemMessage *m, const Lookup *at, Stall stall, uint64_t now) {
    if (stall != STALL_LINE || !l1->bypass_line_fails) return stall;
    stall = drop_and_pass(l1, m, at, RESULT_BYPASS, now);
    l1->line_fail_bypasses += stall == STALL_NONE;
    return stall;
}

/* Acknowledged once it is in the line or the line is on its way. */
static Stall write_local(L1Cache *l1, const MemMessage *m, Lookup *at, uint64_t now) {
    bool answered = !(m->flags & MEM_POSTED);
    if (at->line == NO_LINE && !l1->local_allocate) return drop_and_pass(l1, m, at, RESULT_MISS, now);
    if (at->line == NO_LINE && !may_allocate(l1, m)) return drop_and_pass(l1, m, at, RESULT_BYPASS, now);
    if (answered && !link_can_send(l1->cpu.send, now)) return STALL_RESPONSE;
    Result result;
    Stall stall = cache_write(&l1->cache, m, at, false, now, &result);
    if (stall) return wait_or_bypass(l1, m, at, stall, now);
    if (answered) cache_respond(l1->cpu.send, m, result == RESULT_HIT ? MEM_HIT : 0, now);
    return STALL_NONE;
}

static Stall fetch(L1Cache *l1, const MemMessage *m, Lookup *at, uint64_t now) {
    bool allocate = l1->cache.parameters.allocate == ALLOCATE_ON_MISS;
    return wait_or_bypass(l1, m, at, cache_miss(&l1->cache, m, at, allocate, now), now);
}

/* The cache has taken an access that uses what lies below. */
static inline void note_memory_access(L1Cache *l1, const MemMessage *m) {
    if (__builtin_expect(!(l1->memory_watched >> (m->warp & 63) & 1), 1)) return;
    l1->memory_watched = 0;
    object_tell(&l1->obj, L1_MEMORY_ACCESS, m->warp, 0, 0, 0);
}

static inline __attribute__((always_inline)) Stall read_miss_if_allowed(L1Cache *l1, const MemMessage *m,
                                                                        Lookup *at, uint64_t now) {
    Cache *c = &l1->cache;
    bool allocates = c->parameters.allocate == ALLOCATE_ON_MISS, absent = at->line == NO_LINE;
    l1->needs_mshr = allocates & absent & may_allocate(l1, m);
    if (!l1_may_miss(l1, m)) return STALL_REFUSED;
    bool bypass = absent && (!may_allocate(l1, m) || cache_policy_bypasses(c, m));
    Stall stall = bypass ? drop_and_pass(l1, m, at, RESULT_BYPASS, now) : fetch(l1, m, at, now);
    if (stall == STALL_NONE) note_memory_access(l1, m);
    return stall;
}

static __attribute__((noinline)) Stall read_miss_under_policies(L1Cache *l1, const MemMessage *m, Lookup *at,
                                                                uint64_t now) {
    return read_miss_if_allowed(l1, m, at, now);
}

/* `attentive`: as a rule policies have a say. */
static inline __attribute__((always_inline)) Stall read(L1Cache *l1, const MemMessage *m, Lookup *at,
                                                        bool attentive, uint64_t now) {
    Cache *c = &l1->cache;
    if (!cache_holds(c, at)) {
        if (attentive) return read_miss_if_allowed(l1, m, at, now);
        bool policies = (l1->may_allocate & l1->may_miss) != ~0ull || l1->obj.heard;
        return policies ? read_miss_under_policies(l1, m, at, now) : fetch(l1, m, at, now);
    }
    if (!link_can_send(l1->cpu.send, now)) return STALL_RESPONSE;
    tag_touch(&c->tags, at->line);
    cache_count(c, m, RESULT_HIT);
    cache_respond(l1->cpu.send, m, MEM_HIT, now);
    return STALL_NONE;
}

static Stall write_or_pass(L1Cache *l1, const MemMessage *m, Lookup *at, bool global_write, uint64_t now) {
    if (m->kind == MEM_ATOMIC || (m->flags & MEM_BYPASS_L1) || (global_write && !l1->enabled))
        return drop_and_pass(l1, m, at, RESULT_BYPASS, now);
    if (!l1->enabled) return pass_while_off((CacheObject *)l1, &l1->passing, m, at, now);
    return global_write ? write_global(l1, m, at, now) : write_local(l1, m, at, now);
}

static inline __attribute__((always_inline)) Stall access_request(L1Cache *l1, const MemMessage *m,
                                                                  bool attentive, uint64_t now) {
    Lookup at = cache_lookup(&l1->cache, m, m->address);
    if (m->kind == MEM_READ && l1->enabled && !(m->flags & MEM_BYPASS_L1))
        return read(l1, m, &at, attentive, now);
    bool global_write = m->kind == MEM_WRITE && !(m->flags & MEM_LOCAL);
    if (m->kind == MEM_WRITE && l1->write_policy == WRITE_NONE)
        user_error(
            "%s: a write of 0x%lx has come to a cache with write_policy \"none\", which only serves reads; "
            "legal for data is \"evict\" or \"through\"",
            object_path(&l1->obj), m->address);
    l1->needs_mshr = 0;
    bool local_hit = m->kind == MEM_WRITE && !global_write && cache_holds(&l1->cache, &at);
    if (!l1_may_miss(l1, m) && !local_hit) return STALL_REFUSED;
    Stall stall = write_or_pass(l1, m, &at, global_write, now);
    if (stall == STALL_NONE && !local_hit) note_memory_access(l1, m);
    return stall;
}

/* The tick. */

static ATTENTIVE uint64_t take_transfer(L1Cache *l1, const MemMessage *m, uint64_t now) {
    if (!dma_port_answer((CacheObject *)l1, &l1->transfers, &l1->dma, m, now))
        return link_space_time(l1->dma.send, now);
    link_pop(l1->mem.receive, now);
    return link_next_ready(l1->mem.receive);
}

/* Returns when to look at this side again. */
static uint64_t take_from_below(L1Cache *l1, uint64_t now) {
    const MemMessage *m = link_peek(l1->mem.receive, now);
    if (m) {
        bool passing = passing_is_token(m->token);
        if (__builtin_expect(dma_port_is_token(m->token), 0)) return take_transfer(l1, m, now);
        if (passing && !link_can_send(l1->cpu.send, now)) return link_space_time(l1->cpu.send, now);
        if (l1->sampler && !(m->flags & MEM_BYPASSED))
            sampler_count(l1->sampler, m->warp, m->flags & MEM_HIT, now);
        if (passing)
            passing_answer((CacheObject *)l1, &l1->passing, m, now);
        else
            cache_fill(&l1->cache, m, now);
        if (__builtin_expect(l1->queue.count != 0, 0)) l1_set_has_changed(l1, m);
        link_pop(l1->mem.receive, now);
    }
    return link_next_ready(l1->mem.receive);
}

SELDOM static void change_saturation(L1Cache *l1, uint64_t now) {
    saturation_change(&l1->saturation, object_cycle(&l1->obj, now) + 1);
    object_tell(&l1->obj, L1_SATURATION, (int64_t)l1->saturation.on, 0, 0, 0);
}

void l1_tell_taken(L1Cache *l1, const MemMessage *m) {
    if (object_is_heard(&l1->obj, L1_TAKEN) && !l1_holds(&l1->obj, m->sm, m->warp))
        event_tell(&l1->obj, L1_TAKEN, m->warp, 0, 0, 0);
}

static inline void access_tags(L1Cache *l1, uint64_t now) {
    const MemMessage *m = cache_request_at_tags(&l1->cache, now);
    if (!m) return;
    bool vain = cache_tries_in_vain((CacheObject *)l1, m, now);
    if (vain && !TRIES_IN_VAIN) return;
    Stall stall = access_request(l1, m, false, now);
    debug_ensure(!vain || stall == l1->cache.stall);
    cache_end_access((CacheObject *)l1, stall, now);
    if (!stall) l1_note_taken(l1, m);
}

/* For l1_attend(): the straight path of the others has its own copy. */
ATTENTIVE Stall l1_access(L1Cache *l1, const MemMessage *m, uint64_t now) {
    return access_request(l1, m, true, now);
}

static uint64_t l1_tick(SimObject *object, uint64_t now) {
    L1Cache *l1 = (L1Cache *)object;
    uint64_t below = take_from_below(l1, now);
    if (l1->cache.mshr.woken_count) cache_send_woken(&l1->cache, l1->cpu.send, now);
    if (l1->cache.misses.count) cache_send_miss(&l1->cache, l1->mem.send, now);
    uint64_t again = NEVER;
    if (__builtin_expect(l1->attentive, 0))
        again = l1_attend(l1, now);
    else
        access_tags(l1, now);
    if (__builtin_expect(l1->dma.receive != NULL, 0))
        again = dma_port_take((CacheObject *)l1, &l1->transfers, &l1->dma, again, now);
    if (__builtin_expect(saturation_changes(&l1->saturation, &l1->cache), 0)) change_saturation(l1, now);
    cache_accept((CacheObject *)l1, now);
    if (__builtin_expect(l1->attentive, 0)) again = earlier_of(again, l1_end_cycle(l1, now));
    return cache_next_tick((CacheObject *)l1, below < again ? below : again, now);
}

static void l1_settle(SimObject *object, uint64_t now) {
    L1Cache *l1 = (L1Cache *)object;
    uint64_t cycle = object_cycle(object, now);
    cache_settle(object, now);
    saturation_count(&l1->saturation, cycle);
    dma_port_settle(&l1->transfers, &l1->cache, cycle);
    l1_settle_front(l1, cycle);
}

/* Knobs say what becomes of accesses. */
static bool l1_knobs_set(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_knobs_set(object);
    decide_attentive(l1);
    l1_front_knobs_set(l1);
    return (l1->cache.pipeline.count | l1->queue.count | l1->buffer.count) != 0;
}

static uint64_t index_address(const SimObject *object, uint64_t address) {
    (void)object;
    return address;
}

/* Only an empty buffer is taken over by one of other sizes. */
static bool l1_convert(SimObject *object, const SavedObject *saved, const SnapshotChanges *changes, char *why,
                       size_t why_size) {
    static const char *const rows[] = {CACHE_CONVERTED_ROWS, PRIORITIZATION_CONVERTED_ROWS, NULL};
    L1Cache *l1 = (L1Cache *)object;
    PrioritizationBuffer *buffer = &l1->buffer;
    if (!saved_rows_but(saved, rows, why, why_size)) return false;
    passing_make_room(&l1->passing);
    if (saved_same(saved, prioritization_params) || prioritization_convert(buffer))
        return cache_convert(object, index_address, saved, changes, why, why_size);
    snprintf(
        why, why_size,
        "%s.prioritization_places: %u requests wait in the prioritization buffer; legal are the queues and "
        "places of the checkpoint, or one of a cycle in which it is empty",
        object_path(object), buffer->count);
    return false;
}

static void l1_requests(const SimObject *object, RequestVisitor *visit, void *context) {
    const L1Cache *l1 = (const L1Cache *)object;
    visit_cache((const CacheObject *)object, &l1->passing, visit, context);
    for (uint64_t rest = l1->queue.taken; rest; rest &= rest - 1)
        visit(context, l1->cpu.receive, &l1->queue.access[__builtin_ctzll(rest)]);
    prioritization_visit(&l1->buffer, l1->cpu.receive, visit, context);
    const MissQueue *misses = &l1->cache.misses;
    for (uint32_t i = 0; i < misses->count; i++) {
        const MemMessage *m = &misses->message[(misses->first + i) & (misses->slots - 1)];
        if (dma_port_is_token(m->token)) visit(context, l1->dma.receive, m);
    }
}

/* The DMA engine's go by the same way. */
static const Link *l1_came_by(const SimObject *object, const void *message, uint32_t *depth) {
    (void)depth;
    return dma_port_is_token(((const MemMessage *)message)->token) ? ((const L1Cache *)object)->dma.receive
                                                                   : NULL;
}

static uint32_t l1_answer_kinds(const SimObject *object) {
    const L1Cache *l1 = (const L1Cache *)object;
    return cache_answer_kinds(&l1->cache, &l1->passing);
}

static uint32_t l1_answer_kind(const SimObject *object, const void *message) {
    const L1Cache *l1 = (const L1Cache *)object;
    return cache_answer_kind(&l1->cache, &l1->passing, message);
}

static void l1_answers_awaited(const SimObject *object, uint32_t *awaited) {
    const L1Cache *l1 = (const L1Cache *)object;
    cache_answers_awaited(&l1->cache, &l1->passing, awaited);
}

static void queued_are_sound(const L1Cache *l1) {
    for (uint64_t rest = l1->queue.taken; rest; rest &= rest - 1)
        cache_request_is_sound((const CacheObject *)l1, &l1->queue.access[__builtin_ctzll(rest)]);
    for (const MemMessage *m = l1->buffer.request; m < l1->buffer.request + l1->buffer.slots; m++)
        if (m->bytes) cache_request_is_sound((const CacheObject *)l1, m); /* else it was never used */
}

static void l1_is_sound(const SimObject *object, bool fits) {
    const L1Cache *l1 = (const L1Cache *)object;
    const char *path = object_path(object);
    cache_is_sound((const CacheObject *)object, fits);
    passing_is_sound(object, &l1->passing, fits);
    reexecution_is_sound(&l1->queue, path);
    if (fits) {
        prioritization_is_sound(&l1->buffer, path);
        queued_are_sound(l1);
        sound(l1->cache.put_aside == l1->queue.count + l1->buffer.count, "%s: %lu requests put aside", path,
              l1->cache.put_aside);
    }
    sound(l1->transfers.wait < DMA_WAITS, "%s.transfers.wait: %lu", path, l1->transfers.wait);
    sound(l1->dma.receive || !l1->cache.mshr.lent, "%s.mshr.lent: %lu", path, l1->cache.mshr.lent);
}

static void l1_check(const SimObject *object, bool idle) {
    cache_check_sets((const CacheObject *)object, index_address);
    const L1Cache *l1 = (const L1Cache *)object;
    uint64_t due = l1->queue.count + prioritization_answers_due(&l1->buffer);
    cache_check((const CacheObject *)object, l1->passing.count, due, idle);
    if (idle && l1->passing.count)
        panic("%s is idle but %u requests that passed through are not answered", object_path(object),
              l1->passing.count);
}

static void l1_report(const SimObject *object, FILE *out) {
    const L1Cache *l1 = (const L1Cache *)object;
    cache_report(object, out);
    passing_report(object, &l1->passing, out);
    if (l1->buffer.count)
        fprintf(out, "%s: %u requests in the prioritization buffer\n", object_path(object), l1->buffer.count);
}

static const Event l1_events[] = {
    CACHE_EVENT_ROWS("Shall this read, which finds no line, pass the cache by?"),
    [L1_SATURATION] = {"saturation", "on", NULL, "MSHRs or miss queue became nearly full, or are no longer"},
    [L1_TAKEN] = {"taken", "warp", NULL,
                  "The cache has taken the last access that it held of a warp, while not all may miss"},
    [L1_MEMORY_ACCESS] =
        {"memory_access", "warp", NULL,
         "The first access of memory_watched that uses what lies below was taken; told once"},
    {0}};

static const Field l1_fields[] = {
    CACHE_ROWS(L1Cache),
    PARAM(L1Cache, latency, "1", "cycles", "From accepting a request to the response of a hit", .min = 1,
          .max = 1024, .converts = true),
    PARAM_CHOICE(L1Cache, write_policy, "evict", "evict|through|none",
                 "Writes of global memory go on below and evict the line or update it; none: reads only"),
    PARAM_FLAG(L1Cache, local_allocate, "true",
               "Writes of local memory that miss take a line; else they go on below"),
    CACHE_ENABLED_ROW(L1Cache),
    KNOB(L1Cache, may_allocate, "warps",
         "Warps that may take lines; requests of others that find none bypass"),
    PASSING_ROWS(L1Cache, passing, "1024"),
    PORT(L1Cache, dma, memory_protocol, ROLE_RESPONDER, "From a DMA engine", .optional = true),
    L1_DMA_PORT_ROWS(L1Cache, transfers),
    HOST(L1Cache, sampler, "Counts what the second level answers"),
    SATURATION_ROWS(L1Cache, saturation),
    KNOB(L1Cache, may_miss, "warps", "Warps whose misses are served; those of others are refused"),
    KNOB(L1Cache, memory_watched, "warps", "The first of them whose access uses what lies below is told"),
    PARAM_NAMED(L1Cache, queue.entries, "reexecution_entries", "0", "accesses",
                "Re-execution queue, for accesses that are not taken; 0: they wait at the tags",
                .max = REEXECUTION_ENTRIES_MAX, .timing = true),
    PARAM_FLAG(L1Cache, reexecution, "true", "Use it", .knob = true),
    HOST(L1Cache, attentive, "There is a queue or a buffer, or blocked hits are watched"),
    REEXECUTION_ROWS(L1Cache, queue),
    PRIORITIZATION_ROWS(L1Cache, buffer),
    STATE(L1Cache, queue_cycle, "First cycle in which the queue has not had its turn"),
    STATE(L1Cache, may_allocate_seen, "What the accesses in the queue were last tried under"),
    STATE(L1Cache, switches_seen, "The same"),
    HOST(L1Cache, needs_mshr, "What was last tried in vain needs an MSHR"),
    STATE(L1Cache, tags_held, "The last access is looked up until it is taken"),
    PARAM_FLAG(L1Cache, watch_blocked_hits, "false", "Count blocked_hit_cycles", .timing = true),
    STATE(L1Cache, blocked_hit, "A hit is blocked"),
    STATE(L1Cache, blocked_hit_since, "Cycle up to which that is counted"),
    PARAM_FLAG(L1Cache, bypass_line_fails, "false",
               "Requests that find every way of their set reserved pass the cache by, and do not wait",
               .knob = true),
    PARAM_FLAG(L1Cache, keeps_lines, "false", "The beginning of a kernel leaves its lines valid",
               .timing = true),
    STAT(L1Cache, line_fail_bypasses, "accesses",
         "Bypasses of requests that found every way of their set reserved"),
    STAT_NAMED(L1Cache, pushes, "reexecution_pushes", "accesses", "Put into the re-execution queue"),
    STAT_NAMED(L1Cache, refusals, "reexecution_refusals", "accesses",
               "Of them, as misses of warps that may not"),
    STAT_NAMED(L1Cache, retries, "reexecution_retries", "tries", "Tries of its head"),
    STAT(L1Cache, hits_under_miss, "accesses", "Hits while the re-execution queue held others"),
    STAT(L1Cache, blocked_hit_cycles, "cycles",
         "The request at the tags waited, and one behind it, of another warp, would have hit"),
    FIELDS_END};

static void call_reexecution_head(SimObject *object, MethodCall *call) {
    uint32_t warp = l1_reexecution_head(object);
    call->nothing = warp == NO_WARP_WAITS;
    call->result[0].whole = warp;
}

static const Method l1_methods[] = {METHOD("reexecution_head", call_reexecution_head,
                                           "The warp of the access at the head of the re-execution queue",
                                           RETURNS(WHOLE_NUMBER("warp")), MAY_BE_NIL),
                                    CACHE_METHODS, METHODS_END};

const Class l1_class = {
    .name = "L1",
    .doc = "First-level cache: data, constant, texture or instruction",
    .bytes = sizeof(L1Cache),
    .fields = l1_fields,
    .events = l1_events,
    .methods = l1_methods,
    .build = l1_build,
    .init = l1_init,
    .tick = l1_tick,
    .knobs_set = l1_knobs_set,
    .settle = l1_settle,
    .is_sound = l1_is_sound,
    .requests_inside = l1_requests,
    .came_by = l1_came_by,
    .answer_kinds = l1_answer_kinds,
    .answer_kind = l1_answer_kind,
    .answers_awaited = l1_answers_awaited,
    .check = l1_check,
    .report = l1_report,
    .convert = l1_convert,
};
REGISTER_CLASS(l1_class);
