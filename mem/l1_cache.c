/* L1: global memory is written through, local memory is written back. Atomics and bypassing requests pass
 * through, and leave no stale line behind.
 *
 * Mascar (section III) asks three things of it: to say when it is nearly full of misses, to refuse the misses
 * of warps that do not own the memory (a negative acknowledgement), and a re-execution queue (Fig. 8). In the
 * paper the queue stands beside the load/store unit, which learns in the same cycle whether the cache takes
 * an access. Here the unit and the tags are objects apart, and whatever passes between objects takes a cycle
 * at least; with the answers that way, every warp would have to hold its next access back until the last one
 * is known to be taken. So the queue stands where that is known, in front of the tags: the links and the
 * pipeline before it are the unit's last stages, and an access that goes into the queue makes room in them.
 * The prioritization buffer of MRPB, which orders what comes to the tags, stands there for the same reason.
 */
#include "mem/caches.h"
#include "mem/l1_dma_port.h"
#include "mem/passing.h"
#include "mem/prioritization_buffer.h"
#include "mem/reexecution_queue.h"
#include "mem/saturation.h"
#include "mem/warp_sampler.h"

/* Functions for caches with a queue, kept out of the straight path of the others. */
#define ATTENTIVE __attribute__((noinline))

typedef enum { WRITE_EVICT, WRITE_THROUGH, WRITE_NONE } WritePolicy;

typedef struct {
    SimObject obj;
    Port cpu, mem;
    Cache cache;
    uint32_t latency, write_policy, local_allocate;
    uint32_t enabled;      /* a knob                             */
    uint64_t may_allocate; /* a knob: warps that may take a line */
    Passing passing;
    Port dma;
    L1DmaPort transfers;
    WarpSampler *sampler; /* a policy's part of the SM, or NULL */
    Saturation saturation;
    uint64_t may_miss;    /* a knob: warps whose misses are served */
    uint32_t reexecution; /* a knob: put into the queue what the cache does not take */
    uint32_t attentive;   /* there is a queue or a buffer, or blocked hits are watched */
    ReexecutionQueue queue;
    PrioritizationBuffer buffer;       /* holds what is new at the tags, if it has places */
    uint64_t queue_cycle;              /* the first in which it has not had its turn yet */
    uint64_t may_allocate_seen;        /* what its accesses were last tried under */
    uint32_t switches_seen, tags_held; /* the last access waits for the response link */
    uint64_t hits_before;              /* the access of this cycle */
    uint32_t watch_blocked_hits, blocked_hit;
    uint64_t blocked_hit_since;
    uint32_t bypass_line_fails, pad; /* a knob */
    uint64_t line_fail_bypasses;
    uint64_t pushes, refusals, retries, hits_under_miss, blocked_hit_cycles;
} L1Cache;

typedef enum { L1_SATURATION = CACHE_EVENTS_END, L1_TAKEN } L1Event;

CACHE_IS_FIRST_OF(L1Cache);

static void l1_build(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_build((CacheObject *)object, l1->latency, LINE_BYTES_MAX);
    saturation_build(&l1->saturation, &l1->cache.parameters);
    prioritization_build(&l1->buffer);
    reexecution_build(&l1->queue);
    l1->attentive = l1->queue.entries || l1->buffer.places || l1->watch_blocked_hits;
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
    audit_queue(object, QUEUE_REEXECUTION, "accesses to be tried again", QUEUE_TABLE, l1->queue.entries,
                reexecution_count);
    audit_queue(object, QUEUE_PRIORITIZATION, "requests in the prioritization buffer", QUEUE_TABLE,
                l1->buffer.slots, prioritization_count);
    l1->may_allocate = l1->may_miss = ~0ull;
    l1->sampler = sampler_of(object);
}

void l1_invalidate(SimObject *object) {
    ensure(object->class == &l1_class);
    Cache *c = &((L1Cache *)object)->cache;
    tag_invalidate_all(&c->tags);
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

/* May it use what lies below? To join a line that is under way counts as a miss. */
static bool may_miss(const L1Cache *l1, const MemMessage *m) {
    return l1->may_miss >> (m->warp & 63) & 1;
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

static __attribute__((noinline)) Stall read_miss_under_policies(L1Cache *l1, const MemMessage *m, Lookup *at,
                                                                uint64_t now) {
    if (!may_miss(l1, m)) return STALL_REFUSED;
    bool bypass = at->line == NO_LINE && (!may_allocate(l1, m) || cache_policy_bypasses(&l1->cache, m));
    return bypass ? drop_and_pass(l1, m, at, RESULT_BYPASS, now) : fetch(l1, m, at, now);
}

static Stall read(L1Cache *l1, const MemMessage *m, Lookup *at, uint64_t now) {
    Cache *c = &l1->cache;
    if (!cache_holds(c, at)) {
        bool policies = (l1->may_allocate & l1->may_miss) != ~0ull || l1->obj.heard;
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
    if (m->kind == MEM_READ && l1->enabled && !(m->flags & MEM_BYPASS_L1)) return read(l1, m, &at, now);
    bool global_write = m->kind == MEM_WRITE && !(m->flags & MEM_LOCAL);
    if (m->kind == MEM_WRITE && l1->write_policy == WRITE_NONE)
        user_error(
            "%s: a write of 0x%lx has come to a cache with write_policy \"none\", which only serves reads; "
            "legal for data is \"evict\" or \"through\"",
            object_path(&l1->obj), m->address);
    bool local_hit = m->kind == MEM_WRITE && !global_write && cache_holds(&l1->cache, &at);
    if (!may_miss(l1, m) && !local_hit) return STALL_REFUSED;
    if (m->kind == MEM_ATOMIC || (m->flags & MEM_BYPASS_L1) || (global_write && !l1->enabled))
        return drop_and_pass(l1, m, &at, RESULT_BYPASS, now);
    if (!l1->enabled) return pass_while_off((CacheObject *)l1, &l1->passing, m, &at, now);
    return global_write ? write_global(l1, m, &at, now) : write_local(l1, m, &at, now);
}

/* The prioritization buffer. */

/* What is new at the tags joins its warp's queue in the buffer, where there is one, if that has a place.
 * Returns what the tags shall look up, or NULL. */
static const MemMessage *take_turns(L1Cache *l1, const MemMessage *m) {
    if (!l1->buffer.places) return m;
    if (m && prioritization_has_place(&l1->buffer, m)) {
        audit_enter(&l1->obj, QUEUE_PRIORITIZATION, prioritization_push(&l1->buffer, m));
        audit_leave(&l1->obj, QUEUE_PIPELINE, delay_queue_pop(&l1->cache.pipeline));
        l1->cache.put_aside++;
    }
    return prioritization_next(&l1->buffer);
}

/* The new access whose turn it is; there must be one. */
static const MemMessage *new_access(const L1Cache *l1) {
    const DelayQueue *pipeline = &l1->cache.pipeline;
    return l1->buffer.places ? prioritization_next(&l1->buffer) : &pipeline->message[pipeline->first];
}

static void end_new_access(L1Cache *l1, const MemMessage *m, Stall stall, uint64_t now) {
    if (!l1->buffer.places) {
        cache_end_access((CacheObject *)l1, stall, now);
        return;
    }
    cache_note_stall((CacheObject *)l1, m, stall, now);
    if (stall) return;
    audit_leave(&l1->obj, QUEUE_PRIORITIZATION, prioritization_pop(&l1->buffer));
    l1->cache.put_aside--;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}
static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* When to look again at the buffer and at what wants to join it. What stands in front of a full queue gets
 * its place when something leaves. */
static uint64_t next_turn(const L1Cache *l1, uint64_t now) {
    const Cache *c = &l1->cache;
    const DelayQueue *pipeline = &c->pipeline;
    uint64_t soon = now + c->period;
    if (l1->buffer.count && c->stall == STALL_NONE) return soon;
    if (pipeline->count && prioritization_has_place(&l1->buffer, &pipeline->message[pipeline->first]))
        return later(pipeline->ready[pipeline->first], soon);
    if (c->stall != STALL_RESPONSE) return NEVER;
    return link_can_send(l1->cpu.send, now) ? soon : link_space_time(l1->cpu.send, now);
}

/* The re-execution queue. */

/* The access is fine, but what it needs in this very cycle is busy. */
static bool is_hold(Stall stall) {
    return stall == STALL_RESPONSE || stall == STALL_DATA_PORT;
}
static bool is_refusal(Stall stall) {
    return stall != STALL_NONE && !is_hold(stall);
}

/* Brings the queue up to the beginning of `cycle`: in each cycle slept through it turned by one. */
static void catch_up(L1Cache *l1, uint64_t cycle) {
    uint64_t turns = cycle - l1->queue_cycle;
    l1->queue_cycle = cycle;
    if (!turns || !l1->queue.count || l1->tags_held) return;
    reexecution_turn(&l1->queue, turns);
    l1->retries += turns;
}

static uint32_t set_of(const L1Cache *l1, const MemMessage *m) {
    return tag_set(&l1->cache.tags.shape, m->address);
}

/* A line or way has changed for those that wait for one in the set of `m`. */
static void set_has_changed(L1Cache *l1, const MemMessage *m) {
    if (l1->queue.count) reexecution_set_changed(&l1->queue, set_of(l1, m));
}

/* Knobs of which access_request() makes what is taken depend, beside the sets of warps. */
static uint32_t switches(const L1Cache *l1) {
    return l1->enabled | l1->bypass_line_fails << 1;
}

/* What policies allow has changed since the accesses in the queue were not taken; what they answer when they
 * are asked may change at any time. */
static void look_at_permissions(L1Cache *l1) {
    bool same = l1->may_allocate == l1->may_allocate_seen && switches(l1) == l1->switches_seen;
    if (same && !(l1->obj.heard & (1u << CACHE_ASK_BYPASS | 1u << CACHE_ASK_VICTIM))) return;
    reexecution_forget_lacks(&l1->queue);
    l1->may_allocate_seen = l1->may_allocate;
    l1->switches_seen = switches(l1);
}

static uint64_t hopeful(const L1Cache *l1) {
    return reexecution_hopeful(&l1->queue, l1->may_miss, !mshr_full(&l1->cache.mshr),
                               cache_miss_queue_room(&l1->cache));
}

static Lack lack_of(Stall stall) {
    if (stall == STALL_MSHR_ENTRY) return LACKS_MSHR;
    if (stall == STALL_REFUSED) return LACKS_PERMISSION;
    return stall == STALL_MISS_QUEUE || stall == STALL_PASSING ? LACKS_ROOM : LACKS_CHANGE;
}

static void put_aside(L1Cache *l1, const MemMessage *m, Stall stall) {
    uint32_t place = reexecution_push(&l1->queue, m, set_of(l1, m), lack_of(stall));
    audit_enter(&l1->obj, QUEUE_REEXECUTION, place);
    l1->cache.put_aside++;
    l1->pushes++;
    l1->refusals += stall == STALL_REFUSED;
}

static void take_head(L1Cache *l1) {
    audit_leave(&l1->obj, QUEUE_REEXECUTION, reexecution_pop(&l1->queue));
    l1->cache.put_aside--;
}

/* An access of another instruction of the warp that is in the queue, or NULL. */
static const MemMessage *older_in_queue(L1Cache *l1, const MemMessage *m) {
    const MemMessage *other = reexecution_of_warp(&l1->queue, m->sm, m->warp);
    return other && other->token != m->token ? other : NULL;
}

/* Why a new request must wait for the queue. One that is switched off is emptied first. When it is full, a
 * new request still has its look at the tags (Fig. 7: W1 hits): it waits when it is not taken. A warp has one
 * instruction in the queue, so that what it stores and then loads stays in order: the next must wait in front
 * of the tags. Only a load behind a load is let through, to hit or to miss; it waits when it is not taken. */
static Stall what_queue_blocks(L1Cache *l1, const MemMessage *m) {
    const ReexecutionQueue *queue = &l1->queue;
    if (!queue->count) return STALL_NONE;
    if (!l1->reexecution) return STALL_QUEUE_FULL;
    if (reexecution_full(queue) && l1->cache.stall == STALL_QUEUE_FULL) return STALL_QUEUE_FULL;
    const MemMessage *older = older_in_queue(l1, m);
    bool loads = older && older->kind == MEM_READ && m->kind == MEM_READ;
    return older && (!loads || l1->cache.stall == STALL_ORDER) ? STALL_ORDER : STALL_NONE;
}

/* What the tags look up in this cycle: what is new, or the queue's head when there is nothing new or it must
 * wait. NULL: nothing, or a head of which it is known that it would fail. */
ATTENTIVE static const MemMessage *choose_access(L1Cache *l1, const MemMessage *m, uint64_t now) {
    uint64_t cycle = object_cycle(&l1->obj, now);
    catch_up(l1, cycle);
    look_at_permissions(l1);
    l1->queue_cycle = cycle + 1;
    l1->tags_held = 0;
    l1->hits_before = l1->cache.stats.results[RESULT_HIT];
    m = take_turns(l1, m);
    Stall blocked = m ? what_queue_blocks(l1, m) : STALL_NONE;
    if (blocked) end_new_access(l1, m, blocked, now);
    if (!l1->queue.count || (m && !blocked)) return m;
    l1->retries++;
    if (reexecution_head_is(&l1->queue, hopeful(l1))) return reexecution_head(&l1->queue, 0);
    reexecution_turn(&l1->queue, 1);
    return NULL;
}

static void end_retry(L1Cache *l1, Stall stall) {
    if (stall == STALL_NONE)
        take_head(l1);
    else if (is_hold(stall))
        l1->retries--; /* was none */
    else
        reexecution_fail(&l1->queue, lack_of(stall));
}

static void end_new(L1Cache *l1, const MemMessage *m, Stall stall, uint64_t now) {
    bool wanted = is_refusal(stall) && l1->queue.entries && l1->reexecution && !(m->flags & MEM_POSTED);
    if (wanted && older_in_queue(l1, m)) {
        stall = STALL_ORDER;
    } else if (wanted && reexecution_full(&l1->queue)) {
        stall = STALL_QUEUE_FULL;
    } else if (wanted) {
        put_aside(l1, m, stall);
        stall = STALL_NONE;
    }
    end_new_access(l1, m, stall, now);
}

/* What became of the access that was chosen. */
ATTENTIVE static void end_access(L1Cache *l1, const MemMessage *m, Stall stall, uint64_t now) {
    bool hit = l1->cache.stats.results[RESULT_HIT] != l1->hits_before;
    l1->tags_held = is_hold(stall);
    if (stall == STALL_NONE && (!hit || m->kind != MEM_READ)) set_has_changed(l1, m); /* writes may evict */
    if (l1->queue.count && m == reexecution_head(&l1->queue, 0))
        end_retry(l1, stall);
    else
        end_new(l1, m, stall, now);
    l1->hits_under_miss += hit && l1->queue.count;
}

/* Accesses of the warp that have come and are not taken: in front of the tags, in the buffer or in the queue.
 */
static bool holds(L1Cache *l1, uint32_t sm, uint32_t warp) {
    const DelayQueue *queue = &l1->cache.pipeline;
    for (uint32_t i = 0; i < queue->count; i++) {
        const MemMessage *m = &queue->message[(queue->first + i) & (queue->slots - 1)];
        if (m->warp == warp && m->sm == sm) return true;
    }
    return prioritization_holds(&l1->buffer, sm, warp) || reexecution_of_warp(&l1->queue, sm, warp);
}

/* While some warps may not miss, policies want to know when those that may are done. */
SELDOM static void tell_taken(L1Cache *l1, const MemMessage *m) {
    if (object_is_heard(&l1->obj, L1_TAKEN) && may_miss(l1, m) && !holds(l1, m->sm, m->warp))
        event_tell(&l1->obj, L1_TAKEN, m->warp, 0, 0, 0);
}

/* When to look at the queue again. */
ATTENTIVE static uint64_t next_retry(L1Cache *l1, uint64_t now) {
    const Cache *c = &l1->cache;
    uint64_t soon = now + c->period;
    bool blocked = c->stall == STALL_QUEUE_FULL || c->stall == STALL_ORDER;
    if (blocked && !what_queue_blocks(l1, new_access(l1))) return soon;
    if (!l1->queue.count) return NEVER;
    if (l1->tags_held) return link_can_send(l1->cpu.send, now) ? soon : link_space_time(l1->cpu.send, now);
    uint64_t with_hope = hopeful(l1);
    return with_hope ? soon + reexecution_turns_to(&l1->queue, with_hope) * c->period : NEVER;
}

/* Data that cannot be reached (Mascar, Fig. 5): is there, behind an access that the cache does not take, one
 * of another warp that would hit? */
static bool hit_is_blocked(const L1Cache *l1) {
    const DelayQueue *queue = &l1->cache.pipeline;
    if (!is_refusal((Stall)l1->cache.stall)) return false;
    const MemMessage *head = new_access(l1);
    for (uint32_t i = l1->buffer.places ? 0 : 1; i < queue->count; i++) {
        const MemMessage *m = &queue->message[(queue->first + i) & (queue->slots - 1)];
        if (m->kind != MEM_READ || m->flags & MEM_BYPASS_L1 || (m->warp == head->warp && m->sm == head->sm))
            continue;
        Lookup at = cache_lookup(&l1->cache, m, m->address);
        if (cache_holds(&l1->cache, &at)) return true;
    }
    return false;
}

static void count_blocked_hit_until(L1Cache *l1, uint64_t cycle) {
    if (l1->blocked_hit) l1->blocked_hit_cycles += cycle - l1->blocked_hit_since;
    l1->blocked_hit_since = cycle;
}

static void watch_blocked_hits(L1Cache *l1, uint64_t now) {
    count_blocked_hit_until(l1, object_cycle(&l1->obj, now));
    l1->blocked_hit = hit_is_blocked(l1);
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
        if (__builtin_expect(l1->queue.count != 0, 0)) set_has_changed(l1, m);
        link_pop(l1->mem.receive, now);
    }
    return link_next_ready(l1->mem.receive);
}

SELDOM static void change_saturation(L1Cache *l1, uint64_t now) {
    saturation_change(&l1->saturation, object_cycle(&l1->obj, now) + 1);
    object_tell(&l1->obj, L1_SATURATION, (int64_t)l1->saturation.on, 0, 0, 0);
}

/* Returns when to look at queue and buffer again. */
ATTENTIVE static uint64_t end_attentively(L1Cache *l1, const MemMessage *m, Stall stall, uint64_t now) {
    if (m) end_access(l1, m, stall, now);
    if (m && !stall && l1->may_miss != ~0ull) tell_taken(l1, m);
    if (saturation_changes(&l1->saturation, &l1->cache)) change_saturation(l1, now);
    if (l1->watch_blocked_hits) watch_blocked_hits(l1, now);
    uint64_t retry = next_retry(l1, now);
    return l1->buffer.places ? earlier(retry, next_turn(l1, now)) : retry;
}

/* Returns when to look at the tags again, beside when something reaches them. */
static uint64_t access_tags(L1Cache *l1, uint64_t now) {
    const MemMessage *m = cache_request_at_tags(&l1->cache, now);
    if (__builtin_expect(l1->attentive, 0)) m = choose_access(l1, m, now);
    Stall stall = m ? access_request(l1, m, now) : STALL_NONE;
    if (__builtin_expect(l1->attentive, 0)) return end_attentively(l1, m, stall, now);
    if (m) cache_end_access((CacheObject *)l1, stall, now);
    if (m && !stall && l1->may_miss != ~0ull) tell_taken(l1, m);
    if (__builtin_expect(saturation_changes(&l1->saturation, &l1->cache), 0)) change_saturation(l1, now);
    return NEVER;
}

static uint64_t l1_tick(SimObject *object, uint64_t now) {
    L1Cache *l1 = (L1Cache *)object;
    uint64_t below = take_from_below(l1, now);
    if (l1->cache.mshr.woken_count) cache_send_woken(&l1->cache, l1->cpu.send, now);
    if (l1->cache.misses.count) cache_send_miss(&l1->cache, l1->mem.send, now);
    uint64_t again = access_tags(l1, now);
    if (__builtin_expect(l1->dma.receive != NULL, 0))
        again = dma_port_take((CacheObject *)l1, &l1->transfers, &l1->dma, again, now);
    cache_accept((CacheObject *)l1, now);
    return cache_next_tick((CacheObject *)l1, earlier(below, again), now);
}

static void l1_settle(SimObject *object, uint64_t now) {
    L1Cache *l1 = (L1Cache *)object;
    uint64_t cycle = object_cycle(object, now);
    cache_settle(object, now);
    if (l1->queue.count && cycle > l1->queue_cycle) catch_up(l1, cycle);
    saturation_count(&l1->saturation, cycle);
    dma_port_settle(&l1->transfers, &l1->cache, cycle);
    count_blocked_hit_until(l1, cycle);
}

uint32_t l1_reexecution_head(const SimObject *object) {
    ensure(object->class == &l1_class);
    const L1Cache *l1 = (const L1Cache *)object;
    bool at_boundary = object_now(object) > object->cluster->now; /* then that cycle has not begun */
    uint64_t cycle = object_cycle(object, object_now(object)) + !at_boundary;
    if (!l1->queue.count) return NO_WARP_WAITS;
    return reexecution_head(&l1->queue, l1->tags_held ? 0 : cycle - l1->queue_cycle)->warp;
}

bool l1_holds(SimObject *object, uint32_t sm, uint32_t warp) {
    ensure(object->class == &l1_class);
    return holds((L1Cache *)object, sm, warp);
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
    [L1_SATURATION] = {"saturation", "on", false, "MSHRs or miss queue became nearly full, or are no longer"},
    [L1_TAKEN] = {"taken", "warp", false,
                  "The cache has taken the last access that it held of a warp, while not all may miss"},
    {0}};

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
    PORT(L1Cache, dma, memory_protocol, ROLE_RESPONDER, "From a DMA engine", .optional = true),
    L1_DMA_PORT_ROWS(L1Cache, transfers),
    HOST(L1Cache, sampler, "Counts what the second level answers"),
    SATURATION_ROWS(L1Cache, saturation),
    KNOB(L1Cache, may_miss, "warps", "Warps whose misses are served; those of others are refused"),
    PARAM_NAMED(L1Cache, queue.entries, "reexecution_entries", "0", "accesses",
                "Re-execution queue, for accesses that are not taken; 0: they wait at the tags", .max = 64),
    PARAM_FLAG(L1Cache, reexecution, "true", "Use it", .knob = true),
    DERIVED(L1Cache, attentive, "There is a queue or a buffer, or blocked hits are watched"),
    REEXECUTION_ROWS(L1Cache, queue),
    PRIORITIZATION_ROWS(L1Cache, buffer),
    STATE(L1Cache, queue_cycle, "First cycle in which the queue has not had its turn"),
    STATE(L1Cache, may_allocate_seen, "What the accesses in the queue were last tried under"),
    STATE(L1Cache, switches_seen, "The same"),
    STATE(L1Cache, tags_held, "The last access waits for the response link"),
    STATE(L1Cache, hits_before, "Hits before the last access"),
    PARAM_FLAG(L1Cache, watch_blocked_hits, "false", "Count blocked_hit_cycles", .timing = true),
    STATE(L1Cache, blocked_hit, "A hit is blocked"),
    STATE(L1Cache, blocked_hit_since, "Cycle up to which that is counted"),
    PARAM_FLAG(L1Cache, bypass_line_fails, "false",
               "Requests that find every way of their set reserved pass the cache by, and do not wait",
               .knob = true),
    DERIVED(L1Cache, pad, "Alignment"),
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

const Class l1_class = {
    .name = "L1",
    .doc = "First-level cache: data, constant, texture or instruction",
    .bytes = sizeof(L1Cache),
    .fields = l1_fields,
    .events = l1_events,
    .build = l1_build,
    .init = l1_init,
    .tick = l1_tick,
    .settle = l1_settle,
    .check = l1_check,
    .report = l1_report,
    .convert = l1_convert,
};
