#include "mem/parts/blocked_hits/blocked_hits.h"

#include "mem/cache/cache_access.h"

/* Is the request, of another warp than `head`, one that would hit? */
static bool would_hit(const Cache *c, const MemMessage *m, const MemMessage *head) {
    if (m->kind != MEM_READ || m->flags & MEM_BYPASS_L1) return false;
    if (m->warp == head->warp && m->sm == head->sm) return false;
    Lookup at = cache_lookup(c, m, m->address);
    return cache_holds(c, &at);
}

/* The request that is stopped at the tags by what keeps all behind it waiting, or NULL. */
static const MemMessage *stopped(const TagFront *front) {
    Stall stall = (Stall)front->object->cache.stall;
    if (stall == STALL_NONE || stall == STALL_RESPONSE || stall == STALL_DATA_PORT) return NULL;
    return source_next(front);
}

/* Behind it: in the pipeline, and what has come on the link and finds the pipeline full. */
static bool hit_is_behind(const CacheObject *object, const MemMessage *head, uint64_t now) {
    const Cache *c = &object->cache;
    const DelayQueue *queue = &c->pipeline;
    const Link *link = object->cpu.receive;
    for (uint32_t i = 0; i < queue->count; i++)
        if (would_hit(c, &queue->message[(queue->first + i) & (queue->slots - 1)], head)) return true;
    for (uint64_t place = 0; link_ready_at(link, place) <= now; place++)
        if (would_hit(c, link_message_at(link, place), head)) return true;
    return false;
}

static void settle(TagFront *front, uint64_t cycle) {
    BlockedHits *b = (BlockedHits *)front;
    if (b->blocked) b->cycles += cycle - b->since;
    b->since = cycle;
}

/* Looked at when everything of the cycle has happened. A hit that is blocked stays so until the next tick;
 * while none is, one may come in any cycle, and a link wakes nobody for what comes behind other messages. */
static uint64_t end_cycle(TagFront *front, uint64_t now) {
    const SimObject *object = &front->object->obj;
    const MemMessage *head = stopped(front);
    BlockedHits *b = (BlockedHits *)front;
    settle(front, object_cycle(object, now));
    b->blocked = head && hit_is_behind(front->object, head, now);
    return head && !b->blocked ? now + object->period : NEVER;
}

const TagFrontClass blocked_hits = {.end_cycle = end_cycle, .settle = settle};
