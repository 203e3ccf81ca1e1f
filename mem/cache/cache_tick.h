/* The steps of a tick that all caches have, in front of the tags and behind them, and when to tick again. */
#ifndef WW_MEM_CACHE_TICK_H
#define WW_MEM_CACHE_TICK_H

#include "mem/cache/cache.h"

/* What lies below has answered: to be called before the cache deals with it. */
COLD void cache_show_answer(const Cache *cache, const MemMessage *m, uint64_t now);
static inline void cache_note_answer(const CacheObject *object, const MemMessage *m, uint64_t now) {
    if (__builtin_expect(object->obj.subscribed & ANSWERS_SUBSCRIBED, 0))
        cache_show_answer(&object->cache, m, now);
}
void cache_send_oldest_woken(Cache *cache, Link *to_cpu, uint64_t now);
/* Answers the oldest request that has all its sectors. */
static inline void cache_send_woken(Cache *cache, Link *to_cpu, uint64_t now) {
    if (cache->mshr.woken_count) cache_send_oldest_woken(cache, to_cpu, now);
}
/* Of a message that leaves sector by sector, the first of those that are still to be fetched. */
void cache_send_oldest_sector(Cache *cache, Link *to_mem, uint64_t now);
/* There is one, and the link has room. In caches without sectors none but the first is ever named. */
static inline __attribute__((always_inline)) void cache_send_oldest_miss(Cache *c, Link *to_mem,
                                                                         uint64_t now) {
    MissQueue *queue = &c->misses;
    uint32_t slot = queue->first, sectors = queue->sectors[slot];
    const MemMessage *oldest = &queue->message[slot];
    if (__builtin_expect(sectors > 1, 0)) {
        cache_send_oldest_sector(c, to_mem, now);
        return;
    }
    c->stats.fetches += sectors;
    if (!link_hand_over(to_mem, oldest, now)) *(MemMessage *)link_send_checked(to_mem, now) = *oldest;
    queue->count--;
    queue->first = (slot + 1) & (queue->slots - 1);
    audit_leave(cache_owner(c), QUEUE_MISSES, slot);
}
static inline void cache_send_miss(Cache *cache, Link *to_mem, uint64_t now) {
    if (cache->misses.count && link_can_send_straight(to_mem, now))
        cache_send_oldest_miss(cache, to_mem, now);
}
static inline uint32_t cache_miss_queue_room(const Cache *cache) {
    const MissQueue *queue = &cache->misses;
    return queue->count < queue->limit ? queue->limit - queue->count : 0;
}
/* The request that has reached the tags, or NULL. */
static inline const MemMessage *cache_request_at_tags(const Cache *cache, uint64_t now) {
    const DelayQueue *queue = &cache->pipeline;
    return queue->count && queue->ready[queue->first] <= now ? &queue->message[queue->first] : NULL;
}
/* Would the request at the tags be stopped for the same reason again? A write looks for room for its answer
 * first. */
static inline bool cache_retry_would_fail(const CacheObject *object, const MemMessage *m, uint64_t now) {
    const Cache *c = &object->cache;
    if (c->failed.stall == STALL_NONE || c->failed.stall != c->stall) return false;
    if (m->kind == MEM_WRITE && !link_can_send(object->cpu.send, now)) return false;
    if (c->stall == STALL_MSHR_ENTRY) return mshr_full(&c->mshr);
    return c->stall != STALL_MISS_QUEUE || cache_miss_queue_room(c) < c->failed.messages;
}
/* Debug builds make such tries, to see that they fail. */
#ifdef WW_DEBUG
enum { RETRY_ANYWAY = 1 };
#else
enum { RETRY_ANYWAY = 0 };
#endif
/* Something else than fills has changed what a try depends on: lines, knobs, the data port. */
static inline void cache_forget_failed_try(Cache *cache) {
    cache->failed.stall = STALL_NONE;
}
bool cache_knobs_set(SimObject *object);
void cache_subscribers_changed(SimObject *object);
/* Slots of a ring for so many messages: a power of two. */
uint32_t ring_size(uint32_t messages);
/* Room for as many messages as are in flight in `cycles`. */
void delay_queue_build(DelayQueue *queue, uint32_t cycles);
static inline MemMessage *delay_queue_push(DelayQueue *queue, uint64_t ready, uint32_t *slot) {
    *slot = (queue->first + queue->count++) & (queue->slots - 1);
    queue->ready[*slot] = ready;
    return &queue->message[*slot];
}
/* Takes the first away; returns its slot. */
static inline uint32_t delay_queue_pop(DelayQueue *queue) {
    uint32_t slot = queue->first;
    queue->first = (slot + 1) & (queue->slots - 1);
    queue->count--;
    return slot;
}
/* A user error unless the request is inside one line. */
_Noreturn void cache_refuse_request(const CacheObject *object, const MemMessage *m);
static inline void cache_require_inside_line(const CacheObject *object, const MemMessage *m) {
    uint64_t line_bytes = object->cache.tags.shape.line_bytes, offset = m->address & (line_bytes - 1);
    uint64_t further = m->bytes - 1u; /* of none, more than any line has */
    if (__builtin_expect(offset + further >= line_bytes, 0)) cache_refuse_request(object, m);
}
/* Messages in the queue that want an answer. */
uint64_t delay_queue_answers_due(const DelayQueue *queue);
/* Counts why the access `m`, at the tags, waits. */
void cache_change_stall(CacheObject *object, const MemMessage *m, Stall stall, uint64_t now);
static inline void cache_note_stall(CacheObject *object, const MemMessage *m, Stall stall, uint64_t now) {
    if (stall != object->cache.stall) cache_change_stall(object, m, stall, now);
}
/* What became of it: gone when `stall` is STALL_NONE, else still there. */
static inline void cache_end_access(CacheObject *object, Stall stall, uint64_t now) {
    DelayQueue *queue = &object->cache.pipeline;
    cache_note_stall(object, &queue->message[queue->first], stall, now);
    if (stall) return;
    uint32_t slot = delay_queue_pop(queue);
    audit_leave(&object->obj, QUEUE_PIPELINE, slot);
    (void)slot;
}
static inline __attribute__((always_inline)) void cache_accept_request(CacheObject *object,
                                                                       const MemMessage *m, uint64_t now) {
    Cache *c = &object->cache;
    DelayQueue *queue = &c->pipeline;
    cache_require_inside_line(object, m);
    uint32_t slot;
    *delay_queue_push(queue, now + c->pipeline_ticks, &slot) = *m;
    c->stats.accesses++;
    if (__builtin_expect(m->payload != 0, 0)) c->stats.prefetch_reads += mem_is_prefetch(m);
    audit_enter(&object->obj, QUEUE_PIPELINE, slot);
    audit_promise(&object->obj, !(m->flags & MEM_POSTED));
    link_pop(object->cpu.receive, now);
}
static inline void cache_accept(CacheObject *object, uint64_t now) {
    const DelayQueue *queue = &object->cache.pipeline;
    const MemMessage *m;
    if (queue->count < queue->limit &&
        (m = link_peek(object->cpu.receive, now))) /* more: resumed with a shorter one */
        cache_accept_request(object, m, now);
}

/* Of a cache that is told of requests at the end of a quantum alone, and accepts each as soon as it may: at once those
 * of this quantum that have a place in any case. */
void cache_accept_ahead(CacheObject *object, uint64_t now);
/* Nobody could see that it does so. */
static inline bool cache_may_accept_ahead(const CacheObject *object) {
    return link_is_cut(object->cpu.receive) && object_unseen_until(&object->obj);
}

/* When to tick again. What the host cannot foresee is computed without a branch. */

static inline uint64_t cache_only_if(bool condition, uint64_t time) {
    return time | -(uint64_t)!condition; /* NEVER is all ones */
}
/* A request that waits for an MSHR, a line or the miss queue gets it in a tick that has another reason. */
static inline uint64_t cache_access_time(const CacheObject *object, uint64_t soon) {
    const Cache *c = &object->cache;
    if (c->stall == STALL_NONE) return c->pipeline.ready[c->pipeline.first];
    if (c->stall == STALL_RESPONSE) return link_send_time(object->cpu.send, soon);
    return c->stall == STALL_DATA_PORT ? c->data_busy_until : NEVER;
}
/* `below`: when to look again at what comes from the memory side. */
static inline __attribute__((always_inline)) uint64_t cache_next_tick(const CacheObject *object,
                                                                      uint64_t below, uint64_t now) {
    const Cache *c = &object->cache;
    uint64_t next = below, soon = now + c->period;
    bool waiting = c->pipeline.count != 0, room = c->pipeline.count < c->pipeline.limit;
    next = earlier_of(next, cache_only_if(waiting, cache_access_time(object, soon)));
    next = earlier_of(next, cache_only_if(room, link_next_ready(object->cpu.receive)));
    if (c->misses.count) next = earlier_of(next, link_send_time(object->mem.send, soon));
    if (c->mshr.woken_count) next = earlier_of(next, link_send_time(object->cpu.send, soon));
    return next > soon ? next : soon;
}

#endif
