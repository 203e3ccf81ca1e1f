/* One slice of L2: write-back, write-allocate, and the place where atomics happen, but for addresses that come to
 * others as well. */
#include "mem/l2/l2_state.h"

#include "core/sim/base/random.h"
#include "mem/cache/cache_access.h"
#include "mem/cache/fill.h"
#include "mem/cache/plain_miss.h"
#include "mem/cache/untimed.h"
#include "mem/protocol/caches.h"

static inline __attribute__((always_inline)) Lookup look_up(const L2Slice *l2, const MemMessage *m) {
    return cache_lookup(&l2->cache, m, address_map_within_slice(l2->set_map, m->address));
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
                       .bytes = (uint8_t)tags->shape.line_bytes,
                       .sm = NOBODY,
                       .warp = NOBODY};
    Lookup at = look_up(l2, &host);
    if (at.line == NO_LINE) {
        at.line = cache_candidate(&l2->cache, &host, at.set);
        if (at.line == NO_LINE) return;
        for (CacheObserver *o = l2->cache.observers; o; o = o->next)
            if (o->replaced) o->replaced(o, at.line);
        cache_install(&l2->cache, at.line, at.line_address, &host);
        l2->cache.written[at.line] = 0;
    } else {
        host.class_number = tags->line[at.line].class_number;
        cache_reach_line_untold(&l2->cache, &host, at.line, true);
    }
    cache_forget_failed_try(&l2->cache);
    TagLine *line = &tags->line[at.line];
    line->valid |= (uint8_t)(tags->shape.all_sectors & ~(uint32_t)line->reserved);
}

/* Accesses. */

static bool is_load(const MemMessage *m) {
    return m->kind == MEM_READ && !(m->flags & MEM_INSTRUCTION) && !mem_is_prefetch(m);
}

static inline void learn(L2Slice *l2, const MemMessage *m, bool hit) {
    if (__builtin_expect(l2->pc_table != NULL, 0) && is_load(m)) pc_table_learn(l2->pc_table, m->pc, hit);
}

/* Of a class that may not take a line, and there is none. */
static bool passes(const L2Slice *l2, const MemMessage *m, const Lookup *at) {
    return at->line == NO_LINE && !class_in(l2->allocate_classes, m->class_number) && m->kind != MEM_ATOMIC;
}

static inline Stall pass(L2Slice *l2, const MemMessage *m, Lookup at, uint64_t now) {
    return pass_and_drop((CacheObject *)l2, &l2->bypassed, m, &at, RESULT_BYPASS, now);
}

static uint8_t flags_of(Result result) {
    return result == RESULT_HIT ? MEM_HIT | MEM_FOUND : result == RESULT_MERGE ? MEM_FOUND : 0;
}

/* Acknowledged once it is in the line or the line is on its way. */
static Stall write(L2Slice *l2, const MemMessage *m, Lookup *at, uint64_t now) {
    bool answered = !(m->flags & MEM_POSTED);
    if (passes(l2, m, at)) return pass(l2, m, *at, now);
    if (answered && !link_can_send(l2->cpu.send, now)) return STALL_RESPONSE;
    Result result;
    Stall stall = cache_write(&l2->cache, m, at, l2->write_miss == WRITE_MISS_LAZY, now, &result);
    if (stall) return stall == PASSES_BY ? pass(l2, m, *at, now) : stall;
    if (answered) cache_respond(l2->cpu.send, m, flags_of(result), now);
    return STALL_NONE;
}

/* It merges, or policies have a say or parts look on. What was found is copied: so that of others may be in registers
 * of the host. */
static inline Stall miss_otherwise(L2Slice *l2, const MemMessage *m, Lookup *at, uint64_t now) {
    bool allocate = l2->cache.parameters.allocate == ALLOCATE_ON_MISS || m->kind == MEM_ATOMIC;
    Lookup found = *at;
    Stall stall = cache_miss(&l2->cache, m, &found, allocate, now);
    at->line = found.line;
    return stall == PASSES_BY ? pass(l2, m, *at, now) : stall;
}

static inline __attribute__((always_inline)) Stall read(L2Slice *l2, const MemMessage *m, Lookup *at,
                                                        uint64_t now) {
    Cache *c = &l2->cache;
    if (!cache_holds(c, at)) {
        if (passes(l2, m, at)) return pass(l2, m, *at, now);
        bool plain = __builtin_expect(at->line == NO_LINE && cache_is_plain(c), 1);
        Stall stall = plain ? cache_plain_miss(c, m, at, now) : miss_otherwise(l2, m, at, now);
        if (!stall) learn(l2, m, false);
        return stall;
    }
    if (!link_can_send(l2->cpu.send, now)) return STALL_RESPONSE;
    cache_use_line(c, m, at->line);
    cache_count(c, m, at, RESULT_HIT);
    learn(l2, m, true);
    cache_use_data_port(c, mem_data_bytes(m), now);
    cache_respond(l2->cpu.send, m, flags_of(RESULT_HIT), now);
    return STALL_NONE;
}

/* Values change when the request is accepted, in order of arrival, whether the line is there or must be
 * fetched. */
static __attribute__((noinline)) Stall atomic(L2Slice *l2, const MemMessage *m, Lookup *at, uint64_t now) {
    if (l2->passes_atomics) return pass(l2, m, *at, now);
    if (l2->atomic_latency && !l2->atomic_begun) {
        l2->atomic_begun = 1;
        l2->cache.data_busy_until = now + l2->atomic_latency * l2->cache.period;
        return STALL_DATA_PORT;
    }
    Stall stall = read(l2, m, at, now);
    if (stall) return stall;
    l2->atomic_begun = 0;
    cache_modify(&l2->cache, m, at);
    perform_atomic(&l2->obj, &l2->view, m);
    return STALL_NONE;
}

/* Switched off, all but atomics pass on: here these are performed, unless it passes them on as well. */
static __attribute__((noinline)) Stall access_otherwise(L2Slice *l2, const MemMessage *m, Lookup *at,
                                                        uint64_t now) {
    if (!l2->enabled && m->kind != MEM_ATOMIC)
        return pass_while_off((CacheObject *)l2, &l2->bypassed, m, at, now);
    switch ((MemKind)m->kind) {
    case MEM_READ: break;
    case MEM_WRITE: return write(l2, m, at, now);
    case MEM_ATOMIC: return atomic(l2, m, at, now);
    }
    panic("%s: a request of kind %u", object_path(&l2->obj), m->kind);
}

static inline __attribute__((always_inline)) Stall access_request(L2Slice *l2, const MemMessage *m,
                                                                  uint64_t now) {
    if (l2->cache.data_busy_until > now) return STALL_DATA_PORT;
    const Lookup *found = cache_found(&l2->cache, m);
    Lookup at = found ? *found : look_up(l2, m);
    debug_ensure(at.line == look_up(l2, m).line);
    bool reads = (m->kind == MEM_READ) & (l2->enabled != 0);
    if (reads) return read(l2, m, &at, now);
    Lookup kept = at; /* what does not leave this function can be in registers of the host */
    return access_otherwise(l2, m, &kept, now);
}

/* Without timing. Who bypasses by chance, or because policies or their tables say so, does not. */
static __attribute__((noinline)) UntimedAnswer take_otherwise_untimed(L2Slice *l2, const MemMessage *m) {
    CacheObject *cache = (CacheObject *)l2;
    Lookup at = look_up(l2, m);
    bool is_atomic = m->kind == MEM_ATOMIC;
    if (l2->bypass && !is_atomic && class_in(l2->bypass_classes, m->class_number))
        return untimed_drop_and_pass(cache, m, &at);
    if (!l2->enabled && !is_atomic) return untimed_pass_while_off(cache, m, &at);
    if (passes(l2, m, &at)) return untimed_pass(cache, m);
    if (m->kind == MEM_WRITE) return untimed_write(cache, m, &at, l2->write_miss == WRITE_MISS_LAZY);
    if (is_atomic && l2->passes_atomics) return untimed_drop_and_pass(cache, m, &at);
    UntimedAnswer answer = untimed_read(cache, m, &at);
    if (is_atomic && at.line != NO_LINE) cache_modify(&l2->cache, m, &at);
    return answer;
}

UntimedAnswer l2_take_untimed(SimObject *object, const void *request) {
    L2Slice *l2 = (L2Slice *)object;
    const MemMessage *m = request;
    bool reads = (m->kind == MEM_READ) & (l2->enabled != 0) & !l2->bypass;
    l2->untimed_requests++;
    if (!reads) return take_otherwise_untimed(l2, m);
    Lookup at = look_up(l2, m);
    if (passes(l2, m, &at)) return untimed_pass((CacheObject *)l2, m);
    return untimed_read((CacheObject *)l2, m, &at);
}

uint64_t l2_untimed_requests(const SimObject *object) {
    ensure(object->class == &l2_class);
    return ((const L2Slice *)object)->untimed_requests;
}

void l2_forget_untimed(SimObject *object) {
    ensure(object->class == &l2_class);
    ((L2Slice *)object)->untimed_requests = 0;
}

/* The tick. */

/* Requests that bypass: they stand in no queue for the tags and wait for no reserved line; the line that they
 * may find is written back, or forgotten when they write. */

/* A number of its own for each request that the slice has accepted. */
static bool drawn_to_bypass(const L2Slice *l2) {
    Random random = {(l2->bypass_seed << 32 | l2->number << 16) + l2->cache.stats.accesses};
    return random_below(&random, 1000) < l2->bypass_rate;
}

static bool bypasses(const L2Slice *l2, const MemMessage *m) {
    if (m->kind == MEM_ATOMIC) return false;
    if (class_in(l2->bypass_classes, m->class_number)) return true;
    if (l2->bypass_rate && drawn_to_bypass(l2)) return true;
    if (l2->pc_table && is_load(m) && pc_table_bypasses(l2->pc_table, m->pc)) return true;
    return cache_policy_bypasses(&l2->cache, m);
}

static void accept_bypassing(L2Slice *l2, const MemMessage *m, uint64_t now) {
    uint32_t slot;
    cache_require_inside_line((CacheObject *)l2, m);
    MemMessage *bypassing = delay_queue_push(&l2->bypassing, now + l2->bypass_ticks, &slot);
    *bypassing = *m;
    bypassing->flags |= MEM_BYPASSED;
    l2->cache.stats.accesses++;
    cache_count(&l2->cache, m, NULL, RESULT_BYPASS);
    audit_enter(&l2->obj, QUEUE_BYPASSING, slot);
    audit_promise(&l2->obj, !(m->flags & MEM_POSTED));
    link_pop(l2->cpu.receive, now);
}

static __attribute__((noinline)) void note_arrival(L2Slice *l2, uint64_t now) {
    const DelayQueue *queue = &l2->cache.pipeline;
    if (queue->count >= queue->limit || !link_peek(l2->cpu.receive, now)) return;
    queue_delays_enter(l2->delays, link_next_ready(l2->cpu.receive));
}

static inline void accept_request(L2Slice *l2, uint64_t now) {
    if (__builtin_expect(l2->delays != NULL, 0)) note_arrival(l2, now);
    cache_accept((CacheObject *)l2, now);
}

/* Those of the quantum, where nobody sees that, or that of the cycle. */
static inline void accept_requests(L2Slice *l2, uint64_t now) {
    if (cache_may_accept_ahead((CacheObject *)l2) & (l2->delays == NULL))
        cache_accept_ahead((CacheObject *)l2, now);
    else
        accept_request(l2, now);
}

/* Whether the first request bypasses is a matter of its own and of what was accepted before it, not of the
 * cycle in which its queue has room. */
static void accept_or_bypass(L2Slice *l2, uint64_t now) {
    const MemMessage *m = link_peek(l2->cpu.receive, now);
    const DelayQueue *pipeline = &l2->cache.pipeline;
    if (!m) return;
    bool bypass = l2->bypass && bypasses(l2, m);
    const DelayQueue *queue = bypass ? &l2->bypassing : pipeline;
    if (queue->count >= queue->limit) return;
    if (l2->bypass && l2->pc_table && is_load(m)) pc_table_accept(l2->pc_table, m->pc);
    if (bypass)
        accept_bypassing(l2, m, now);
    else
        accept_request(l2, now);
}

static bool bypassing_is_older(const L2Slice *l2) {
    const DelayQueue *bypassing = &l2->bypassing, *pipeline = &l2->cache.pipeline;
    if (!bypassing->count || !pipeline->count) return bypassing->count;
    return bypassing->ready[bypassing->first] <= pipeline->ready[pipeline->first];
}

/* Would it have hit, or merged? Its tag is looked up in any case, for a line that must be written back. What
 * others that passed by would have brought is known to the shadow tags alone. */
static bool would_be_found(const L2Slice *l2, const Lookup *at) {
    const TagLine *line = at->line == NO_LINE ? NULL : &l2->cache.tags.line[at->line];
    bool found = line && (at->sectors & ~(uint32_t)(line->valid | line->reserved)) == 0;
    if (l2->shadow) {
        uint64_t address = address_map_within_slice(l2->set_map, at->line_address);
        found |= shadow_tags_ask(l2->shadow, address >> l2->cache.tags.shape.line_shift, at->line_address);
    }
    return found;
}

/* Has one been sent? */
static bool send_bypassing(L2Slice *l2, uint64_t now) {
    DelayQueue *queue = &l2->bypassing;
    if (!queue->count || queue->ready[queue->first] > now) return false;
    MemMessage *m = &queue->message[queue->first];
    Lookup at = look_up(l2, m);
    uint32_t line = at.line;
    if (bypassed_stall((CacheObject *)l2, &l2->bypassed, m, cache_is_dirty(&l2->cache, line))) return false;
    m->flags |= would_be_found(l2, &at) ? MEM_FOUND : 0;
    if (line != NO_LINE) {
        if (m->kind == MEM_WRITE)
            cache_drop(&l2->cache, line, now);
        else
            cache_write_back(&l2->cache, line, now);
    }
    pass_on((CacheObject *)l2, &l2->bypassed, m);
    audit_leave(&l2->obj, QUEUE_BYPASSING, delay_queue_pop(queue));
    return true;
}

static bool next_passes(const Link *from_mem) {
    const MemMessage *m = link_peek(from_mem, NEVER - 1);
    return m && bypassed_is_token(m->token);
}

/* What passes on does not take the fill port. Returns when to look at this side again. */
static uint64_t take_from_below(L2Slice *l2, uint64_t now) {
    Link *from_mem = l2->mem.receive;
    const MemMessage *m = link_peek(from_mem, now);
    bool bypassed = m && bypassed_is_token(m->token);
    if (bypassed && !link_can_send(l2->cpu.send, now)) return link_space_time(l2->cpu.send, now);
    if (bypassed) {
        cache_note_answer((CacheObject *)l2, m, now);
        bypassed_answer((CacheObject *)l2, &l2->bypassed, m, now);
        link_pop(from_mem, now);
    } else if (m && l2->fill_busy_until <= now) {
        cache_note_answer((CacheObject *)l2, m, now);
        cache_fill(&l2->cache, m, l2->cpu.send, now);
        l2->fill_busy_until = now + cache_port_cycles(&l2->cache, m->bytes) * l2->cache.period;
        link_pop(from_mem, now);
    }
    uint64_t ready = link_next_ready(from_mem);
    if (l2->bypassed.count && next_passes(from_mem)) return ready;
    return ready > l2->fill_busy_until ? ready : l2->fill_busy_until;
}

/* The access that the tags have taken, hit or miss, has a port of the bank to itself until it is done. The next
 * one waits for the data array until a port is free. */
static __attribute__((noinline)) void hold_port(L2Slice *l2, uint64_t now) {
    uint64_t *port = l2->port_busy_until, free = NEVER;
    uint32_t first = 0;
    for (uint32_t i = 1; i < l2->ports; i++)
        first = port[i] < port[first] ? i : first;
    port[first] = now + l2->bank_ticks;
    for (uint32_t i = 0; i < l2->ports; i++)
        free = earlier_of(free, port[i]);
    if (free > l2->cache.data_busy_until) l2->cache.data_busy_until = free;
}

/* Is there something that they look up, or would, if it could go on? */
static inline __attribute__((always_inline)) bool access_tags(L2Slice *l2, uint64_t now) {
    const MemMessage *m = cache_request_at_tags(&l2->cache, now);
    if (!m) return false;
    bool would_fail = cache_retry_would_fail((CacheObject *)l2, m, now);
    if (would_fail && !RETRY_ANYWAY) return true;
    Stall stall = access_request(l2, m, now);
    debug_ensure(!would_fail || stall == l2->cache.stall);
    if (__builtin_expect(l2->delays != NULL, 0) && !stall)
        queue_delays_leave(l2->delays, l2->cache.pipeline.count, now);
    if (__builtin_expect(l2->bank_ticks != 0, 0) && !stall) hold_port(l2, now);
    cache_end_access((CacheObject *)l2, stall, now);
    return true;
}

/* While prefetches may wait. */
static uint64_t access_tags_or_prefetch(L2Slice *l2, uint64_t below, uint64_t now) {
    bool busy = !prefetch_goes_first(&l2->prefetches, now) && access_tags(l2, now);
    return l2->prefetches.queue.count ? prefetch_step(&l2->prefetches, busy, below, now) : below;
}

/* While requests may bypass: of the two that may put something into the miss queue, the tags and who bypasses
 * them, the older goes first. True when it is not the tags. */
static __attribute__((noinline)) bool bypass_before_tags(L2Slice *l2, uint64_t now) {
    bool older = bypassing_is_older(l2);
    if (older) send_bypassing(l2, now);
    return older;
}

/* The rest of a tick. The pipeline may be full, and a request that bypasses it come. One that is sent behind
 * the access of the tags may take the data port with a write-back: what the tags wait for is found out in the
 * next cycle. */
static __attribute__((noinline)) uint64_t bypass_after_tags(L2Slice *l2, bool sent, uint64_t below,
                                                            uint64_t now) {
    const DelayQueue *queue = &l2->bypassing;
    if (!sent && send_bypassing(l2, now)) below = now;
    accept_or_bypass(l2, now);
    if (queue->count) below = earlier_of(below, queue->ready[queue->first]);
    if (queue->count < queue->limit) below = earlier_of(below, link_next_ready(l2->cpu.receive));
    return below;
}

/* Does it await nothing from the memory side, and send nothing there? */
static inline bool awaits_nothing(const L2Slice *l2) {
    const Cache *c = &l2->cache;
    if (__builtin_expect(c->mshr.used != 0, 1)) return false;
    return (l2->bypassed.count | c->misses.count | l2->prefetches.queue.count) == 0;
}

/* Does it know by now of all that can come to it up to `next`, and of all room for what it sends? What is below acts when
 * it is due. Nobody sees answers before the end of the quantum. */
static inline bool foresees(const L2Slice *l2, uint64_t next) {
    if (next >= object_unseen_until(&l2->obj) || l2->obj.subscribed) return false;
    return next <= *l2->below_due || (l2->answers_later && awaits_nothing(l2));
}

/* The message of this cycle, unless the cycle before has sent it. */
static __attribute__((noinline)) void send_miss(L2Slice *l2, uint64_t now) {
    if (l2->mem.send->last_push != now) cache_send_miss(&l2->cache, l2->mem.send, now);
}
/* The next cycle will begin with sending the oldest message if there is room: where nobody sees that, it is sent now. But
 * a request that waits for its place goes on in that cycle, and a taker would be asked too early. */
static inline __attribute__((always_inline)) void send_miss_ahead(L2Slice *l2, uint64_t next) {
    Link *to_mem = l2->mem.send;
    bool unseen = (next < object_unseen_until(&l2->obj)) & (to_mem->taker == NULL);
    bool waited_for = l2->cache.stall == STALL_MISS_QUEUE;
    if (unseen & !waited_for && link_can_send(to_mem, next)) cache_send_oldest_miss(&l2->cache, to_mem, next);
}

/* While requests may bypass, or prefetches wait. */
static __attribute__((noinline)) uint64_t go_on_otherwise(L2Slice *l2, uint64_t below, uint64_t now) {
    bool bypass = l2->bypass | l2->bypassing.count;
    bool sent = bypass && bypass_before_tags(l2, now);
    below = access_tags_or_prefetch(l2, below, now);
    if (bypass)
        below = bypass_after_tags(l2, sent, below, now);
    else
        accept_request(l2, now);
    return cache_next_tick((CacheObject *)l2, below, now);
}

/* What follows the memory side in a cycle. Returns when there is something to do again. */
static inline __attribute__((always_inline)) uint64_t end_cycle(L2Slice *l2, uint64_t below, uint64_t now) {
    access_tags(l2, now);
    if (link_next_ready(l2->cpu.receive) != NEVER) accept_requests(l2, now);
    if (l2->cache.misses.count) send_miss_ahead(l2, now + l2->cache.period);
    return cache_next_tick((CacheObject *)l2, below, now);
}

/* This cycle, and ahead of time those after it in which nothing happens that it does not know of. */
uint64_t l2_tick(SimObject *object, uint64_t now) {
    L2Slice *l2 = (L2Slice *)object;
    if (__builtin_expect(now < l2->done_before, 0)) return l2->done_before;
    for (;;) {
        uint64_t below = take_from_below(l2, now);
        cache_send_woken(&l2->cache, l2->cpu.send, now);
        if (l2->cache.misses.count) send_miss(l2, now);
        if (__builtin_expect(l2->bypass | l2->bypassing.count | l2->prefetches.queue.count, 0))
            return go_on_otherwise(l2, below, now);
        uint64_t next = end_cycle(l2, below, now);
        if (!foresees(l2, next)) return next;
        l2->done_before = next + l2->cache.period;
        now = next;
    }
}
