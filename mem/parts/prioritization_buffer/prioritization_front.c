#include "mem/parts/prioritization_buffer/prioritization_front.h"

#include "mem/cache/cache_sound.h"
#include "mem/cache/cache_tick.h"

static PrioritizationBuffer *buffer_of(TagFront *front) {
    return &((PrioritizationFront *)front)->buffer;
}
static const PrioritizationBuffer *the_buffer(const TagFront *front) {
    return &((const PrioritizationFront *)front)->buffer;
}

static const MemMessage *offer(TagFront *front, uint64_t now) {
    PrioritizationBuffer *buffer = buffer_of(front);
    CacheObject *object = front->object;
    const MemMessage *m = cache_request_at_tags(&object->cache, now);
    ensure(!front->source); /* it takes requests from the pipeline */
    if (m && prioritization_has_place(buffer, m)) {
        audit_enter(&object->obj, QUEUE_PRIORITIZATION, prioritization_push(buffer, m));
        audit_leave(&object->obj, QUEUE_PIPELINE, delay_queue_pop(&object->cache.pipeline));
        object->cache.put_aside++;
    }
    return prioritization_next(buffer);
}

static void looked_up(TagFront *front, const MemMessage *m, const Outcome *outcome, uint64_t now) {
    cache_note_stall(front->object, m, outcome->stall, now);
    if (outcome->stall) return;
    audit_leave(&front->object->obj, QUEUE_PRIORITIZATION, prioritization_pop(buffer_of(front)));
    front->object->cache.put_aside--;
}

static const MemMessage *next(const TagFront *front) {
    return prioritization_next(the_buffer(front));
}

/* What stands in front of a full queue gets its place when something leaves. */
static uint64_t end_cycle(TagFront *front, uint64_t now) {
    const PrioritizationBuffer *buffer = buffer_of(front);
    const Cache *c = &front->object->cache;
    const DelayQueue *pipeline = &c->pipeline;
    const Link *to_cpu = front->object->cpu.send;
    uint64_t soon = now + c->period;
    if (buffer->count && c->stall == STALL_NONE) return soon;
    if (pipeline->count && prioritization_has_place(buffer, &pipeline->message[pipeline->first])) {
        uint64_t ready = pipeline->ready[pipeline->first];
        return ready > soon ? ready : soon;
    }
    if (c->stall != STALL_RESPONSE) return NEVER;
    return link_can_send(to_cpu, now) ? soon : link_space_time(to_cpu, now);
}

static bool holds(const TagFront *front, uint32_t sm, uint32_t warp) {
    return the_buffer(front)->count && prioritization_holds(the_buffer(front), sm, warp);
}

static void visit(const TagFront *front, RequestVisitor *visitor, void *context) {
    prioritization_visit(the_buffer(front), front->object->cpu.receive, visitor, context);
}

static uint64_t held(const TagFront *front, uint64_t *answers_due) {
    *answers_due = prioritization_answers_due(the_buffer(front));
    return the_buffer(front)->count;
}

static void is_sound(const TagFront *front) {
    const PrioritizationBuffer *buffer = the_buffer(front);
    for (const MemMessage *m = buffer->request; m < buffer->request + buffer->slots; m++)
        if (m->bytes) cache_request_is_sound(front->object, m); /* else the slot was never used */
}

static void report(const TagFront *front, FILE *out) {
    if (the_buffer(front)->count)
        fprintf(out, "%s: %u requests in the prioritization buffer\n", object_path(&front->object->obj),
                the_buffer(front)->count);
}

const TagFrontClass prioritization_front = {
    .offer = offer,
    .looked_up = looked_up,
    .next = next,
    .end_cycle = end_cycle,
    .holds = holds,
    .visit = visit,
    .held = held,
    .is_sound = is_sound,
    .report = report,
};
