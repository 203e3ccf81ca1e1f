#include "mem/parts/blocked_hits/blocked_hits.h"

#include "mem/cache/cache_access.h"

/* Is the request in the pipeline, of another warp than `head`, one that would hit? */
static bool would_hit(const Cache *c, const MemMessage *m, const MemMessage *head) {
    if (m->kind != MEM_READ || m->flags & MEM_BYPASS_L1) return false;
    if (m->warp == head->warp && m->sm == head->sm) return false;
    Lookup at = cache_lookup(c, m, m->address);
    return cache_holds(c, &at);
}

static bool hit_is_blocked(const TagFront *front) {
    const Cache *c = &front->object->cache;
    const DelayQueue *queue = &c->pipeline;
    Stall stall = (Stall)c->stall;
    if (stall == STALL_NONE || stall == STALL_RESPONSE || stall == STALL_DATA_PORT) return false;
    const MemMessage *head = source_next(front);
    for (uint32_t i = 0; head && i < queue->count; i++)
        if (would_hit(c, &queue->message[(queue->first + i) & (queue->slots - 1)], head)) return true;
    return false;
}

static void settle(TagFront *front, uint64_t cycle) {
    BlockedHits *b = (BlockedHits *)front;
    if (b->blocked) b->cycles += cycle - b->since;
    b->since = cycle;
}

/* Looked at when everything of the cycle has happened: it holds until the next tick. */
static uint64_t end_cycle(TagFront *front, uint64_t now) {
    settle(front, object_cycle(&front->object->obj, now));
    ((BlockedHits *)front)->blocked = hit_is_blocked(front);
    return NEVER;
}

const TagFrontClass blocked_hits = {.end_cycle = end_cycle, .settle = settle};
