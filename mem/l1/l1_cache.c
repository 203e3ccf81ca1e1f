/* L1: global memory is written through, local memory is written back. Atomics and bypassing requests pass
 * through, and leave no stale line behind.
 *
 * What papers add stands in parts of their own, mem/parts: in front of the tags (tag_front.h) the
 * prioritization buffer and the re-execution queue; beside them the DMA engine's port, the saturation flag,
 * the ownership of the memory and the warp sampler. */
#include "mem/l1/l1_state.h"

#include "mem/cache/cache_access.h"
#include "mem/cache/fill.h"
#include "mem/cache/plain_miss.h"
#include "mem/cache/untimed.h"
#include "mem/protocol/caches.h"

static Stall drop_and_pass(L1Cache *l1, const MemMessage *m, const Lookup *at, Result result, uint64_t now) {
    return pass_and_drop((CacheObject *)l1, &l1->bypassed, m, at, result, now);
}

static Stall write_global(L1Cache *l1, const MemMessage *m, const Lookup *at, uint64_t now) {
    Result result = cache_holds(&l1->cache, at) ? RESULT_HIT : RESULT_MISS;
    if (l1->write_policy == WRITE_EVICT) return drop_and_pass(l1, m, at, result, now);
    Stall stall = bypassed_stall((CacheObject *)l1, &l1->bypassed, m, false);
    if (stall) return stall;
    if (at->line != NO_LINE) cache_reach_line(&l1->cache, m, at->line, result == RESULT_HIT);
    pass_on((CacheObject *)l1, &l1->bypassed, m);
    cache_count(&l1->cache, m, at, result);
    return STALL_NONE;
}

/* Who may not take a line may use what others have brought, and passes the cache by when there is none. */
static bool may_allocate(const L1Cache *l1, const MemMessage *m) {
    return l1->may_allocate >> (m->warp & 63) & 1;
}

/* What became of a request that wants a line. Policies may let it pass the cache by when every way of its set
 * is reserved, or rather than replace a line. */
static inline Stall wait_or_bypass(L1Cache *l1, const MemMessage *m, Lookup at, Stall stall, uint64_t now) {
    if (stall == PASSES_BY) return drop_and_pass(l1, m, &at, RESULT_BYPASS, now);
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
        cache_count_read(c, m, at, RESULT_HIT);
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
    if (at->line != NO_LINE) cache_reach_line_untold(&l1->cache, m, at->line, cache_holds(&l1->cache, at));
    return untimed_pass((CacheObject *)l1, m);
}

static __attribute__((noinline)) UntimedAnswer write_or_pass_untimed(L1Cache *l1, const MemMessage *m) {
    CacheObject *cache = (CacheObject *)l1;
    Lookup at = cache_lookup(&l1->cache, m, m->address);
    bool global_write = m->kind == MEM_WRITE && !(m->flags & MEM_LOCAL);
    if (m->kind != MEM_READ) untimed_tell(&l1->cache, m->address);
    if (m->kind == MEM_ATOMIC || (m->flags & MEM_BYPASS_L1) || (global_write && !l1->enabled))
        return untimed_drop_and_pass(cache, m, &at);
    if (!l1->enabled) return untimed_pass_while_off(cache, m, &at);
    if (global_write) return write_global_untimed(l1, m, &at);
    return write_local_untimed(l1, m, &at);
}

UntimedAnswer l1_take_untimed(SimObject *object, const void *request) {
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
    bool prefetches = l1->prefetches.queue.count != 0;
    bool waits = prefetches && prefetch_goes_first(&l1->prefetches, now);
    bool busy = !waits && (fronts ? access_tags_behind_fronts(l1, now) : access_tags(l1, now));
    if (prefetches) again = prefetch_step(&l1->prefetches, busy, again, now);
    if (l1->dma.port.receive) again = dma_port_take((CacheObject *)l1, &l1->dma, again, now);
    note_saturation(l1, now);
    cache_accept((CacheObject *)l1, now);
    if (fronts) again = earlier_of(again, fronts_end_cycle(&l1->cache, now));
    return cache_next_tick((CacheObject *)l1, again, now);
}

uint64_t l1_tick(SimObject *object, uint64_t now) {
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
