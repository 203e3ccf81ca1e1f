#include "mem/cache/tag_front.h"

#include "mem/protocol/caches.h"

static void append(CacheObject *object, TagFront *front) {
    Cache *c = &object->cache;
    TagFront **end = &c->fronts;
    while (*end)
        end = &(*end)->next;
    *end = front;
    front->next = NULL;
    front->source = c->last_front;
    if (front->class->offer) c->last_front = front;
}

void cache_begin_fronts(CacheObject *object) {
    object->cache.fronts = object->cache.last_front = NULL;
}

void cache_add_front(CacheObject *object, TagFront *front, const TagFrontClass *class) {
    front->class = class;
    front->object = object;
    append(object, front);
}

void cache_end_fronts(CacheObject *object) {
    for (TagFront *front = object->cache.attached; front; front = front->next_attached)
        append(object, front);
}

void cache_attach_front(CacheObject *object, TagFront *front, const TagFrontClass *class) {
    TagFront **end = &object->cache.attached;
    ensure(object->obj.class == &l1_class);
    while (*end)
        end = &(*end)->next_attached;
    *end = front;
    front->next_attached = NULL;
    cache_add_front(object, front, class);
}

const MemMessage *source_next(const TagFront *front) {
    const DelayQueue *pipeline = &front->object->cache.pipeline;
    const TagFront *source = front->source;
    if (source) return source->class->next(source);
    return pipeline->count ? &pipeline->message[pipeline->first] : NULL;
}

/* All fronts of a cache. */

void fronts_set_changed(const Cache *c, const MemMessage *m) {
    for (TagFront *front = c->fronts; front; front = front->next)
        if (front->class->set_changed) front->class->set_changed(front, m);
}

uint64_t fronts_end_cycle(const Cache *c, uint64_t now) {
    uint64_t again = NEVER;
    for (TagFront *front = c->fronts; front; front = front->next)
        if (front->class->end_cycle) again = earlier_of(again, front->class->end_cycle(front, now));
    return again;
}

void fronts_settle(const Cache *c, uint64_t cycle) {
    for (TagFront *front = c->fronts; front; front = front->next)
        if (front->class->settle) front->class->settle(front, cycle);
}

bool fronts_hold(const Cache *c, uint32_t sm, uint32_t warp) {
    for (const TagFront *front = c->fronts; front; front = front->next)
        if (front->class->holds && front->class->holds(front, sm, warp)) return true;
    return false;
}

void fronts_visit(const Cache *c, RequestVisitor *visit, void *context) {
    for (const TagFront *front = c->fronts; front; front = front->next)
        if (front->class->visit) front->class->visit(front, visit, context);
}

uint64_t fronts_held(const Cache *c, uint64_t *answers_due) {
    uint64_t held = 0;
    *answers_due = 0;
    for (const TagFront *front = c->fronts; front; front = front->next) {
        uint64_t due = 0;
        if (front->class->held) held += front->class->held(front, &due);
        *answers_due += due;
    }
    return held;
}

void fronts_are_sound(const Cache *c) {
    for (const TagFront *front = c->fronts; front; front = front->next)
        if (front->class->is_sound) front->class->is_sound(front);
}

void fronts_report(const Cache *c, FILE *out) {
    for (const TagFront *front = c->fronts; front; front = front->next)
        if (front->class->report) front->class->report(front, out);
}
