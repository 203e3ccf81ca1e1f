/* Reads that hit, ahead of time: what their owner does with an L1; see caches.h. */
#include "mem/l1/l1_state.h"

#include "mem/cache/cache_access.h"
#include "mem/protocol/caches.h"

uint64_t l1_let_hits_ahead(SimObject *object, const HitsAhead *owner) {
    ensure(object->class == &l1_class);
    Cache *c = &((L1Cache *)object)->cache;
    c->ahead.owner = owner;
    return c->pipeline_ticks;
}

static inline bool is_at_rest(const L1Cache *l1) {
    const Cache *c = &l1->cache;
    uint64_t inside = c->pipeline.count | c->put_aside | c->mshr.used | c->misses.count | l1->bypassed.count |
                      l1->prefetches.queue.count;
    uint64_t watched = l1->obj.subscribed | c->tags.order.bent;
    return (inside | watched) == 0 && l1->enabled && !c->fronts && !l1->dma.port.receive &&
           link_next_ready(l1->cpu.receive) == NEVER;
}

bool l1_hit_ahead(SimObject *object, uint64_t address, uint32_t bytes) {
    L1Cache *l1 = (L1Cache *)object;
    Cache *c = &l1->cache;
    if (!is_at_rest(l1)) return false;
    MemMessage m = {.address = address, .bytes = (uint8_t)bytes};
    Lookup at = cache_lookup(c, &m, address);
    if (!cache_holds(c, &at)) return false;
    tag_touch(&c->tags, at.line);
    return true;
}

void l1_count_ahead(SimObject *object, uint32_t accepted, uint32_t hits) {
    Cache *c = &((L1Cache *)object)->cache;
    c->stats.accesses += accepted;
    c->stats.results[RESULT_HIT] += hits;
    c->stats.stream_results[STREAM_READ][RESULT_HIT] += hits;
    c->ahead.requests += accepted;
    c->ahead.answers += hits;
    c->ahead.inside += (uint64_t)accepted - hits;
    if (accepted) audit_promise(object, true);
}

COLD void l1_put_back_request(SimObject *object, const MemMessage *m, uint64_t at_tags) {
    Cache *c = &((L1Cache *)object)->cache;
    uint32_t slot;
    *delay_queue_push(&c->pipeline, at_tags, &slot) = *m;
    c->ahead.inside--;
    audit_enter(object, QUEUE_PIPELINE, slot);
    object_poke(object, at_tags);
}

COLD void l1_put_back_answer(SimObject *object, const MemMessage *m, uint64_t sent) {
    L1Cache *l1 = (L1Cache *)object;
    cache_respond(l1->cpu.send, m, MEM_HIT, sent);
    l1->cache.ahead.answers--;
}

void l1_put_back_hits(SimObject *object) {
    const HitsAhead *owner = ((const L1Cache *)object)->cache.ahead.owner;
    if (owner) owner->put_back(owner->object);
}
