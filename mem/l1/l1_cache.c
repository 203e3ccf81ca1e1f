/* L1: global memory is written through, local memory is written back. Atomics and bypassing requests pass
 * through, and leave no stale line behind.
 *
 * What papers add stands in parts of their own, mem/parts: in front of the tags (tag_front.h) the
 * prioritization buffer and the re-execution queue; beside them the DMA engine's port, the saturation flag,
 * the ownership of the memory and the warp sampler. */
#include "core/sim/checkpoint/snapshot.h"
#include "mem/cache/bypassed.h"
#include "mem/cache/cache_answers.h"
#include "mem/cache/cache_methods.h"
#include "mem/cache/cache_sound.h"
#include "mem/cache/fill.h"
#include "mem/cache/plain_miss.h"
#include "mem/cache/prefetch.h"
#include "mem/cache/untimed.h"
#include "mem/parts/blocked_hits/blocked_hits.h"
#include "mem/parts/dma_port/l1_dma_port.h"
#include "mem/parts/ownership/ownership.h"
#include "mem/parts/prioritization_buffer/prioritization_front.h"
#include "mem/parts/reexecution_queue/reexecution_front.h"
#include "mem/parts/saturation/saturation.h"
#include "mem/protocol/caches.h"

typedef struct {
    SimObject obj;
    Port cpu, mem;
    Cache cache;
    uint32_t latency, write_policy, local_allocate, keeps_lines;
    uint32_t enabled;           /* a knob */
    uint32_t bypass_line_fails; /* a knob */
    uint32_t off_reads;         /* 0: as many as its MSHRs hold */
    uint32_t pad;
    uint64_t may_allocate; /* a knob: warps that may take a line */
    uint64_t line_fail_bypasses;
    BypassedRequests bypassed;
    /* parts */
    L1DmaPort dma;
    Saturation saturation;
    Ownership ownership;
    PrioritizationFront prioritization;
    ReexecutionFront reexecution;
    BlockedHits blocked_hits;
    Prefetches prefetches;
} L1Cache;

CACHE_IS_FIRST_OF(L1Cache);

typedef enum { L1_SATURATION = CACHE_EVENTS_END, L1_TAKEN, L1_MEMORY_ACCESS } L1Event;

typedef enum { WRITE_EVICT, WRITE_THROUGH, WRITE_NONE } WritePolicy;

static void l1_build(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_build((CacheObject *)object, l1->latency, LINE_BYTES_MAX);
    saturation_build(&l1->saturation, &l1->cache.parameters);
    prioritization_build(&l1->prioritization.buffer);
    bypassed_build(&l1->bypassed);
    prefetch_build(&l1->prefetches, &l1->cache);
}

/* A changed machine may have got accesses of a queue that it has not. */
static void line_up_fronts(L1Cache *l1) {
    CacheObject *object = (CacheObject *)l1;
    cache_begin_fronts(object);
    if (l1->prioritization.buffer.places)
        cache_add_front(object, &l1->prioritization.front, &prioritization_front);
    if (reexecution_is_there(&l1->reexecution))
        cache_add_front(object, &l1->reexecution.front, &reexecution_front);
    if (l1->blocked_hits.watch) cache_add_front(object, &l1->blocked_hits.front, &blocked_hits);
    cache_end_fronts(object);
}

/* Of what the fronts may know of access_request(), beside the sets of warps. */
static void update_fronts(L1Cache *l1) {
    uint32_t switches = l1->enabled | l1->bypass_line_fails << 1;
    line_up_fronts(l1);
    reexecution_knobs_set(&l1->reexecution, l1->ownership.may_miss, l1->may_allocate, switches);
}

static uint64_t bypassed_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->bypassed.count;
}

static uint64_t reexecution_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->reexecution.queue.count;
}

static uint64_t prioritization_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->prioritization.buffer.count;
}

static uint64_t prefetch_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->prefetches.queue.count;
}

static uint64_t index_address(const SimObject *object, uint64_t address) {
    (void)object;
    return address;
}

static void l1_init(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_init(object);
    audit_queue(object, QUEUE_BYPASSED, "requests that passed through", QUEUE_TABLE, l1->bypassed.limit,
                bypassed_count);
    audit_queue(object, QUEUE_REEXECUTION, "accesses to be tried again", QUEUE_TABLE, REEXECUTION_ENTRIES_MAX,
                reexecution_count);
    audit_queue(object, QUEUE_PRIORITIZATION, "requests in the prioritization buffer", QUEUE_TABLE,
                l1->prioritization.buffer.slots, prioritization_count);
    audit_queue(object, QUEUE_PREFETCHES, "prefetches", QUEUE_FIFO, l1->prefetches.queue.slots,
                prefetch_count);
    prefetch_init(&l1->prefetches, (CacheObject *)l1, index_address);
    l1->may_allocate = ~0ull;
    ownership_init(&l1->ownership);
    update_fronts(l1);
}

SimObject *l1_of_part(const SimObject *part, const char *name) {
    char path[512];
    if (part->parent && part->parent->class == &l1_class) return part->parent;
    snprintf(path, sizeof path, "%s.%s", part->parent ? part->parent->path : "", name);
    SimObject *cache = part->parent ? sim_find(part->sim, path) : NULL;
    if (!cache) cache = sim_find(part->sim, name);
    if (!cache || cache->class != &l1_class)
        user_error("%s.cache: expected the name of an L1 beside it or the path of one, got '%s'", part->path,
                   name);
    if (cache->cluster != part->cluster)
        user_error(
            "%s.cache: expected an L1 that shares a cluster with it, got %s, which is behind a slow wire",
            part->path, cache->path);
    return cache;
}

bool l1_keeps_lines(const SimObject *object) {
    ensure(object->class == &l1_class);
    return ((const L1Cache *)object)->keeps_lines;
}

const Link *l1_onward(const SimObject *object, const Link *requests) {
    ensure(object->class == &l1_class);
    return dma_port_onward((const CacheObject *)object, &((const L1Cache *)object)->dma, requests);
}

bool l1_is_saturated(const SimObject *object) {
    ensure(object->class == &l1_class);
    return ((const L1Cache *)object)->saturation.on;
}

uint32_t l1_reexecution_head(const SimObject *object) {
    ensure(object->class == &l1_class);
    bool at_boundary = object_now(object) > object->cluster->now; /* then that cycle has not begun */
    uint64_t cycle = object_cycle(object, object_now(object)) + !at_boundary;
    return reexecution_head_warp(&((const L1Cache *)object)->reexecution, cycle);
}

const MemMessage *l1_bypassed(const SimObject *object, uint32_t token) {
    ensure(object->class == &l1_class);
    const BypassedRequests *bypassed = &((const L1Cache *)object)->bypassed;
    ensure((token & ~BYPASSED_TOKEN) < bypassed->fresh);
    return &bypassed->original[token & ~BYPASSED_TOKEN];
}

bool l1_holds(SimObject *object, uint32_t sm, uint32_t warp) {
    ensure(object->class == &l1_class);
    const Cache *c = &((L1Cache *)object)->cache;
    const DelayQueue *queue = &c->pipeline;
    if (fronts_hold(c, sm, warp)) return true;
    for (uint32_t i = queue->first, end = i + queue->count; i != end; i++) {
        const MemMessage *m = &queue->message[i & (queue->slots - 1)];
        if (m->warp == warp && m->sm == sm) return true;
    }
    return false;
}

void l1_invalidate(SimObject *object) {
    ensure(object->class == &l1_class);
    Cache *c = &((L1Cache *)object)->cache;
    tag_invalidate_all(&c->tags);
    cache_forget_failed_try(c);
    for (uint32_t i = 0; i < tag_lines_used(&c->tags); i++)
        c->written[i] = 0;
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->cleared) o->cleared(o);
}

/* Accesses. */

static Stall drop_and_pass(L1Cache *l1, const MemMessage *m, const Lookup *at, Result result, uint64_t now) {
    return pass_and_drop((CacheObject *)l1, &l1->bypassed, m, at, result, now);
}

static Stall write_global(L1Cache *l1, const MemMessage *m, const Lookup *at, uint64_t now) {
    Result result = cache_holds(&l1->cache, at) ? RESULT_HIT : RESULT_MISS;
    if (l1->write_policy == WRITE_EVICT) return drop_and_pass(l1, m, at, result, now);
    Stall stall = bypassed_stall((CacheObject *)l1, &l1->bypassed, m, false);
    if (stall) return stall;
    if (at->line != NO_LINE) cache_use_line(&l1->cache, m, at->line);
    pass_on((CacheObject *)l1, &l1->bypassed, m);
    cache_count(&l1->cache, m, at, result);
    return STALL_NONE;
}

/* Who may not take a line may use what others have brought, and passes the cache by when there is none. */
static bool may_allocate(const L1Cache *l1, const MemMessage *m) {
    return l1->may_allocate >> (m->warp & 63) & 1;
}

/* What became of a request that wants a line. Policies may let it pass the cache by when every way of its set
 * is reserved. */
static inline Stall wait_or_bypass(L1Cache *l1, const MemMessage *m, Lookup at, Stall stall, uint64_t now) {
    if (stall != STALL_LINE || !l1->bypass_line_fails) return stall;
    stall = drop_and_pass(l1, m, &at, RESULT_BYPASS, now);
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
    if (stall) return wait_or_bypass(l1, m, *at, stall, now);
    if (answered) cache_respond(l1->cpu.send, m, result == RESULT_HIT ? MEM_HIT : 0, now);
    return STALL_NONE;
}

static Stall fetch(L1Cache *l1, const MemMessage *m, Lookup *at, uint64_t now) {
    bool allocate = l1->cache.parameters.allocate == ALLOCATE_ON_MISS;
    Stall stall = cache_miss(&l1->cache, m, at, allocate, now);
    return wait_or_bypass(l1, m, *at, stall, now);
}

/* The cache has taken an access that uses what lies below. */
static inline void note_memory_access(L1Cache *l1, const MemMessage *m) {
    if (ownership_emits(&l1->ownership, m)) object_emit(&l1->obj, L1_MEMORY_ACCESS, m->warp);
}

/* Where policies may let it pass the cache by, a read may do without an MSHR. */
static inline bool needs_mshr(const L1Cache *l1, const MemMessage *m, bool absent) {
    return (l1->cache.parameters.allocate == ALLOCATE_ON_MISS) & absent && may_allocate(l1, m) &&
           !l1->bypass_line_fails && !object_has_subscriber(&l1->obj, CACHE_ASK_BYPASS);
}

static inline __attribute__((always_inline)) void
read_miss_if_allowed(L1Cache *l1, const MemMessage *m, Lookup *at, Outcome *outcome, uint64_t now) {
    Cache *c = &l1->cache;
    bool absent = at->line == NO_LINE;
    outcome->needs_mshr = needs_mshr(l1, m, absent);
    outcome->stall = STALL_REFUSED;
    if (!ownership_may_miss(&l1->ownership, m)) return;
    bool bypass = absent && (!may_allocate(l1, m) || cache_policy_bypasses(c, m));
    outcome->stall = bypass ? drop_and_pass(l1, m, at, RESULT_BYPASS, now) : fetch(l1, m, at, now);
    if (outcome->stall == STALL_NONE) note_memory_access(l1, m);
}

static inline bool all_may_miss(const L1Cache *l1) {
    return (l1->may_allocate & l1->ownership.may_miss) == ~0ull;
}

/* Without fronts, but it merges, or policies have a say or parts look on. */
static __attribute__((noinline)) Stall read_miss_otherwise(L1Cache *l1, const MemMessage *m, Lookup *at,
                                                           uint64_t now) {
    if (all_may_miss(l1) && !(l1->obj.subscribed & ~SEEN_BY_PARTS)) return fetch(l1, m, at, now);
    Outcome outcome;
    read_miss_if_allowed(l1, m, at, &outcome, now);
    return outcome.stall;
}

/* `fronts`: there are some, and as a rule policies have a say. */
static inline __attribute__((always_inline)) void read(L1Cache *l1, const MemMessage *m, Lookup *at,
                                                       bool fronts, Outcome *outcome, uint64_t now) {
    Cache *c = &l1->cache;
    outcome->hit = cache_holds(c, at);
    bool plain = __builtin_expect(at->line == NO_LINE && all_may_miss(l1) && cache_is_plain(c), 1);
    if (!outcome->hit && !fronts && plain) {
        outcome->stall = wait_or_bypass(l1, m, *at, cache_plain_miss(c, m, at, now), now);
    } else if (!outcome->hit) {
        Lookup found = *at; /* what is not handed on can be in registers of the host */
        if (fronts)
            read_miss_if_allowed(l1, m, &found, outcome, now);
        else
            outcome->stall = read_miss_otherwise(l1, m, &found, now);
    } else if (!link_can_send(l1->cpu.send, now)) {
        outcome->hit = false;
        outcome->stall = STALL_RESPONSE;
    } else {
        cache_use_line(c, m, at->line);
        cache_count(c, m, at, RESULT_HIT);
        cache_respond(l1->cpu.send, m, MEM_HIT, now);
        outcome->stall = STALL_NONE;
    }
}

/* Reads that may be in flight while the cache is off: where they are to go is kept in the places in which its
 * MSHRs keep their requests when it is on. */
static uint32_t most_off_reads(const L1Cache *l1) {
    const MshrShape *mshrs = &l1->cache.mshr.shape;
    return l1->off_reads ? l1->off_reads : mshrs->entries * mshrs->merges;
}

static Stall write_or_pass(L1Cache *l1, const MemMessage *m, Lookup *at, bool global_write, uint64_t now) {
    if (!l1->enabled && m->kind == MEM_READ && l1->bypassed.reads >= most_off_reads(l1))
        return STALL_BYPASSED;
    if (m->kind == MEM_ATOMIC || (m->flags & MEM_BYPASS_L1) || (global_write && !l1->enabled))
        return drop_and_pass(l1, m, at, RESULT_BYPASS, now);
    if (!l1->enabled) return pass_while_off((CacheObject *)l1, &l1->bypassed, m, at, now);
    return global_write ? write_global(l1, m, at, now) : write_local(l1, m, at, now);
}

static Outcome write_or_atomic(L1Cache *l1, const MemMessage *m, Lookup *at, uint64_t now) {
    Outcome outcome = {.stall = STALL_REFUSED};
    bool global_write = m->kind == MEM_WRITE && !(m->flags & MEM_LOCAL);
    if (m->kind == MEM_WRITE && l1->write_policy == WRITE_NONE)
        user_error("%s.write_policy: expected \"evict\" or \"through\" (a write of 0x%lx arrived), got "
                   "\"none\", which serves only reads",
                   object_path(&l1->obj), m->address);
    bool local_hit = m->kind == MEM_WRITE && !global_write && cache_holds(&l1->cache, at);
    uint64_t hits = l1->cache.stats.results[RESULT_HIT];
    if (!ownership_may_miss(&l1->ownership, m) && !local_hit) return outcome;
    outcome.stall = write_or_pass(l1, m, at, global_write, now);
    outcome.hit = l1->cache.stats.results[RESULT_HIT] != hits;
    if (outcome.stall == STALL_NONE && !local_hit) note_memory_access(l1, m);
    return outcome;
}

static inline __attribute__((always_inline)) Outcome access_request(L1Cache *l1, const MemMessage *m,
                                                                    bool fronts, uint64_t now) {
    const Lookup *found = fronts ? NULL : cache_found(&l1->cache, m);
    Lookup at = found ? *found : cache_lookup(&l1->cache, m, m->address);
    debug_ensure(at.line == cache_lookup(&l1->cache, m, m->address).line);
    bool is_read = m->kind == MEM_READ && l1->enabled && !(m->flags & MEM_BYPASS_L1);
    if (!is_read) {
        Lookup found_there = at;
        return write_or_atomic(l1, m, &found_there, now);
    }
    Outcome outcome = {.stall = STALL_NONE};
    read(l1, m, &at, fronts, &outcome, now);
    return outcome;
}

/* Without timing. */

static UntimedAnswer write_local_untimed(L1Cache *l1, const MemMessage *m, Lookup *at) {
    bool allocates = l1->local_allocate && may_allocate(l1, m);
    if (at->line == NO_LINE && !allocates) return untimed_pass((CacheObject *)l1, m);
    return untimed_write((CacheObject *)l1, m, at, false);
}

static UntimedAnswer write_global_untimed(L1Cache *l1, const MemMessage *m, const Lookup *at) {
    if (l1->write_policy == WRITE_EVICT) return untimed_drop_and_pass((CacheObject *)l1, m, at);
    if (at->line != NO_LINE) cache_use_line(&l1->cache, m, at->line);
    return untimed_pass((CacheObject *)l1, m);
}

static __attribute__((noinline)) UntimedAnswer write_or_pass_untimed(L1Cache *l1, const MemMessage *m) {
    CacheObject *cache = (CacheObject *)l1;
    Lookup at = cache_lookup(&l1->cache, m, m->address);
    bool global_write = m->kind == MEM_WRITE && !(m->flags & MEM_LOCAL);
    if (m->kind == MEM_ATOMIC || (m->flags & MEM_BYPASS_L1) || (global_write && !l1->enabled))
        return untimed_drop_and_pass(cache, m, &at);
    if (!l1->enabled) return untimed_pass_while_off(cache, m, &at);
    if (global_write) return write_global_untimed(l1, m, &at);
    return write_local_untimed(l1, m, &at);
}

static UntimedAnswer l1_take_untimed(SimObject *object, const void *request) {
    L1Cache *l1 = (L1Cache *)object;
    const MemMessage *m = request;
    bool is_read = (m->kind == MEM_READ) & (l1->enabled != 0) & !(m->flags & MEM_BYPASS_L1);
    if (!is_read) return write_or_pass_untimed(l1, m);
    Lookup at = cache_lookup(&l1->cache, m, m->address);
    if (at.line == NO_LINE && !may_allocate(l1, m)) return untimed_pass((CacheObject *)l1, m);
    return untimed_read((CacheObject *)l1, m, &at);
}

/* The tick. */

static __attribute__((noinline)) uint64_t take_transfer(L1Cache *l1, const MemMessage *m, uint64_t now) {
    if (!dma_port_answer((CacheObject *)l1, &l1->dma, m, now)) return link_space_time(l1->dma.port.send, now);
    link_pop(l1->mem.receive, now);
    return link_next_ready(l1->mem.receive);
}

/* Returns when to look at this side again. */
static uint64_t take_from_below(L1Cache *l1, uint64_t now) {
    const MemMessage *m = link_peek(l1->mem.receive, now);
    if (m) {
        bool bypassed = bypassed_is_token(m->token);
        if (__builtin_expect(dma_port_is_token(m->token), 0)) return take_transfer(l1, m, now);
        if (bypassed && !link_can_send(l1->cpu.send, now)) return link_space_time(l1->cpu.send, now);
        cache_note_answer((CacheObject *)l1, m, now);
        if (bypassed)
            bypassed_answer((CacheObject *)l1, &l1->bypassed, m, now);
        else
            cache_fill(&l1->cache, m, l1->cpu.send, now);
        if (__builtin_expect(l1->cache.fronts != NULL, 0)) fronts_set_changed(&l1->cache, m);
        link_pop(l1->mem.receive, now);
    }
    return link_next_ready(l1->mem.receive);
}

COLD static void change_saturation(L1Cache *l1, uint64_t now) {
    saturation_change(&l1->saturation, object_cycle(&l1->obj, now) + 1);
    object_emit(&l1->obj, L1_SATURATION, (int64_t)l1->saturation.on);
}

COLD static void emit_taken(L1Cache *l1, const MemMessage *m) {
    if (object_has_subscriber(&l1->obj, L1_TAKEN) && !l1_holds(&l1->obj, m->sm, m->warp))
        event_emit(&l1->obj, L1_TAKEN, m->warp);
}
/* While some warps may not miss, policies need to know when those that may are done. */
static inline void note_taken(L1Cache *l1, const MemMessage *m) {
    bool all = __builtin_expect(ownership_all_may_miss(&l1->ownership), 1);
    if (!all && ownership_may_miss(&l1->ownership, m)) emit_taken(l1, m);
}

/* Is there something that they look up, or would, if it could go on? */
static inline __attribute__((always_inline)) bool access_tags(L1Cache *l1, uint64_t now) {
    const MemMessage *m = cache_request_at_tags(&l1->cache, now);
    if (!m) return false;
    bool would_fail = cache_retry_would_fail((CacheObject *)l1, m, now);
    if (would_fail && !RETRY_ANYWAY) return true;
    Stall stall = access_request(l1, m, false, now).stall;
    debug_ensure(!would_fail || stall == l1->cache.stall);
    cache_end_access((CacheObject *)l1, stall, now);
    if (!stall) note_taken(l1, m);
    return true;
}

/* The same behind the fronts. */
static __attribute__((noinline)) bool access_tags_behind_fronts(L1Cache *l1, uint64_t now) {
    const MemMessage *m = cache_offered(&l1->cache, now);
    if (!m) return false;
    MemMessage looked_up = *m; /* it leaves its queue when it is taken */
    Outcome outcome = access_request(l1, m, true, now);
    front_looked_up((CacheObject *)l1, l1->cache.last_front, m, &outcome, now);
    if (outcome.stall == STALL_NONE) note_taken(l1, &looked_up);
    return true;
}

static inline bool has_parts(const L1Cache *l1) {
    return (l1->cache.fronts != NULL) | (l1->dma.port.receive != NULL) | (l1->prefetches.queue.count != 0);
}

static inline void note_saturation(L1Cache *l1, uint64_t now) {
    if (__builtin_expect(saturation_changes(&l1->saturation, &l1->cache), 0)) change_saturation(l1, now);
}

/* What follows the memory side in a tick, with fronts, a DMA engine or prefetches. */
static __attribute__((noinline)) uint64_t go_on_with_parts(L1Cache *l1, uint64_t again, uint64_t now) {
    bool fronts = l1->cache.fronts != NULL;
    bool busy = fronts ? access_tags_behind_fronts(l1, now) : access_tags(l1, now);
    if (l1->prefetches.queue.count) again = prefetch_step(&l1->prefetches, busy, again, now);
    if (l1->dma.port.receive) again = dma_port_take((CacheObject *)l1, &l1->dma, again, now);
    note_saturation(l1, now);
    cache_accept((CacheObject *)l1, now);
    if (fronts) again = earlier_of(again, fronts_end_cycle(&l1->cache, now));
    return cache_next_tick((CacheObject *)l1, again, now);
}

static uint64_t l1_tick(SimObject *object, uint64_t now) {
    L1Cache *l1 = (L1Cache *)object;
    uint64_t again = take_from_below(l1, now);
    cache_send_woken(&l1->cache, l1->cpu.send, now);
    cache_send_miss(&l1->cache, l1->mem.send, now);
    if (__builtin_expect(has_parts(l1), 0)) return go_on_with_parts(l1, again, now);
    access_tags(l1, now);
    note_saturation(l1, now);
    cache_accept((CacheObject *)l1, now);
    return cache_next_tick((CacheObject *)l1, again, now);
}

static void l1_settle(SimObject *object, uint64_t now) {
    L1Cache *l1 = (L1Cache *)object;
    uint64_t cycle = object_cycle(object, now);
    cache_settle(object, now);
    saturation_count(&l1->saturation, cycle);
    dma_port_settle(&l1->dma, &l1->cache, cycle);
    fronts_settle(&l1->cache, cycle);
}

/* Knobs say what becomes of accesses. */
static bool l1_knobs_set(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_knobs_set(object);
    update_fronts(l1);
    return (l1->cache.pipeline.count | l1->cache.put_aside) != 0;
}

/* Only an empty buffer is transferred to one of other sizes. */
static bool l1_convert(SimObject *object, const SavedObject *saved, const SnapshotChanges *changes, char *why,
                       size_t why_size) {
    static const char *const rows[] = {CACHE_CONVERTED_ROWS, PRIORITIZATION_CONVERTED_ROWS,
                                       PREFETCH_CONVERTED_ROWS, NULL};
    L1Cache *l1 = (L1Cache *)object;
    PrioritizationBuffer *buffer = &l1->prioritization.buffer;
    if (!saved_rows_but(saved, rows, why, why_size)) return false;
    bypassed_convert((CacheObject *)l1, &l1->bypassed);
    prefetch_convert(&l1->prefetches, saved);
    if (saved_same(saved, prioritization_params) || prioritization_convert(buffer))
        return cache_convert(object, index_address, saved, changes, why, why_size);
    snprintf(why, why_size,
             "%s.prioritization_places: expected the queues and places of the checkpoint, in which %u "
             "requests wait in the prioritization buffer; a checkpoint of a cycle in which it is empty helps",
             object_path(object), buffer->count);
    return false;
}

static void l1_requests(const SimObject *object, RequestVisitor *visit, void *context) {
    const L1Cache *l1 = (const L1Cache *)object;
    visit_cache((const CacheObject *)object, &l1->bypassed, visit, context);
    fronts_visit(&l1->cache, visit, context);
    const MissQueue *misses = &l1->cache.misses;
    for (uint32_t i = 0; i < misses->count; i++) {
        const MemMessage *m = &misses->message[(misses->first + i) & (misses->slots - 1)];
        if (dma_port_is_token(m->token)) visit(context, l1->dma.port.receive, m);
    }
}

/* The DMA engine's go by the same way. */
static const Link *l1_came_by(const SimObject *object, const void *message, uint32_t *depth) {
    (void)depth;
    const L1Cache *l1 = (const L1Cache *)object;
    return dma_port_is_token(((const MemMessage *)message)->token) ? l1->dma.port.receive : NULL;
}

static uint32_t l1_answer_kinds(const SimObject *object) {
    const L1Cache *l1 = (const L1Cache *)object;
    return cache_answer_kinds(&l1->cache, &l1->bypassed);
}

static uint32_t l1_answer_kind(const SimObject *object, const void *message) {
    const L1Cache *l1 = (const L1Cache *)object;
    return cache_answer_kind(&l1->cache, &l1->bypassed, message);
}

static void l1_answers_awaited(const SimObject *object, uint32_t *awaited) {
    const L1Cache *l1 = (const L1Cache *)object;
    cache_answers_awaited(&l1->cache, &l1->bypassed, awaited);
}

static void l1_is_sound(const SimObject *object, bool fits) {
    const L1Cache *l1 = (const L1Cache *)object;
    const char *path = object_path(object);
    cache_is_sound((const CacheObject *)object, fits);
    bypassed_is_sound(object, &l1->bypassed, fits);
    reexecution_is_sound(&l1->reexecution.queue, path);
    prefetch_is_sound(&l1->prefetches, fits);
    if (fits) {
        const ReexecutionQueue *queue = &l1->reexecution.queue;
        const PrioritizationBuffer *buffer = &l1->prioritization.buffer;
        prioritization_is_sound(buffer, path);
        fronts_are_sound(&l1->cache);
        sound(l1->cache.put_aside == queue->count + buffer->count, "%s: %lu requests put aside", path,
              l1->cache.put_aside);
    }
    sound(l1->dma.wait < DMA_WAITS, "%s.dma.wait: %lu", path, l1->dma.wait);
    sound(l1->dma.port.receive || !l1->cache.mshr.lent, "%s.mshr.lent: %lu", path, l1->cache.mshr.lent);
}

static void l1_check(const SimObject *object, bool idle) {
    cache_check_sets((const CacheObject *)object, index_address);
    const L1Cache *l1 = (const L1Cache *)object;
    uint64_t due, held = fronts_held(&l1->cache, &due);
    if (held != l1->cache.put_aside)
        panic("%s: %lu requests are put aside, but what stands in front of the tags holds %lu",
              object_path(object), l1->cache.put_aside, held);
    cache_check((const CacheObject *)object, l1->bypassed.count, due, idle);
    prefetch_check(&l1->prefetches, idle);
    if (idle && l1->bypassed.count)
        panic("%s is idle but %u requests that passed through are not answered", object_path(object),
              l1->bypassed.count);
}

static void l1_report(const SimObject *object, FILE *out) {
    const L1Cache *l1 = (const L1Cache *)object;
    cache_report(object, out);
    bypassed_report(object, &l1->bypassed, out);
    fronts_report(&l1->cache, out);
    prefetch_report(&l1->prefetches, out);
}

static const Event l1_events[] = {
    CACHE_EVENT_ROWS("Shall this read, which finds no line, pass the cache by?"),
    [L1_SATURATION] = {"saturation", "on", NULL, "MSHRs or miss queue became nearly full, or are no longer"},
    [L1_TAKEN] = {"taken", "warp", NULL,
                  "The cache has taken the last access that it held of a warp, while not all may miss"},
    [L1_MEMORY_ACCESS] =
        {"memory_access", "warp", NULL,
         "The first access of memory_watched that uses what lies below was taken; emitted once"},
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
    PARAM(L1Cache, off_reads, "0", "requests",
          "Reads in flight while enabled is false, at most bypassed_limit; 0: mshrs x merges", .max = 65536,
          .converts = true),
    DERIVED(L1Cache, pad, "Alignment"),
    KNOB(L1Cache, may_allocate, "warps",
         "Warps that may take lines; requests of others that find none bypass"),
    BYPASSED_ROWS(L1Cache, bypassed, "1024"),
    PARAM_FLAG_NAMED(L1Cache, bypassed.hold_mshrs, "bypassed_hold_mshrs", "false",
                     "Each read in flight that passed by holds an MSHR", .converts = true),
    L1_DMA_PORT_ROWS(L1Cache, dma),
    SATURATION_ROWS(L1Cache, saturation),
    OWNERSHIP_ROWS(L1Cache, ownership),
    PRIORITIZATION_FRONT_ROWS(L1Cache, prioritization),
    PARAM_FLAG(L1Cache, bypass_line_fails, "false",
               "Requests that find every way of their set reserved pass the cache by, and do not wait",
               .knob = true),
    PARAM_FLAG(L1Cache, keeps_lines, "false", "The beginning of a kernel leaves its lines valid",
               .timing = true),
    STAT(L1Cache, line_fail_bypasses, "accesses",
         "Bypasses of requests that found every way of their set reserved"),
    REEXECUTION_FRONT_ROWS(L1Cache, reexecution),
    PARAM_FLAG_NAMED(L1Cache, reexecution.use, "reexecution", "true", "Use it", .knob = true),
    BLOCKED_HITS_ROWS(L1Cache, blocked_hits),
    PREFETCH_ROWS(L1Cache, prefetches),
    FIELDS_END};

static void call_reexecution_head(SimObject *object, MethodCall *call) {
    uint32_t warp = l1_reexecution_head(object);
    call->nothing = warp == NO_WARP_WAITS;
    call->result[0].whole = warp;
}

static void call_prefetch(SimObject *object, MethodCall *call) {
    L1Cache *l1 = (L1Cache *)object;
    bool allocates = l1->may_allocate >> (call->argument[1].whole & 63) & 1;
    prefetch_ask(&l1->prefetches, call, l1->enabled && allocates, true);
}

static const Method l1_methods[] = {METHOD("reexecution_head", call_reexecution_head,
                                           "The warp of the access at the head of the re-execution queue",
                                           RETURNS(WHOLE_NUMBER("warp")), MAY_BE_NIL),
                                    PREFETCH_METHOD(call_prefetch), CACHE_METHODS, METHODS_END};

const Class l1_class = {
    .name = "L1",
    .doc = "First-level cache: data, constant, texture or instruction",
    .bytes = sizeof(L1Cache),
    .fields = l1_fields,
    .events = l1_events,
    .methods = l1_methods,
    .trace = &cache_trace,
    .build = l1_build,
    .init = l1_init,
    .tick = l1_tick,
    .take_untimed = l1_take_untimed,
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
