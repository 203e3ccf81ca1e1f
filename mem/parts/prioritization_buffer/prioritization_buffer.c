#include "mem/parts/prioritization_buffer/prioritization_buffer.h"

#include <string.h>

static uint32_t queue_of(const PrioritizationBuffer *buffer, const MemMessage *m) {
    return m->warp % buffer->queues;
}

static uint32_t slot_of(const PrioritizationBuffer *buffer, uint32_t queue, uint32_t i) {
    return queue * buffer->places + (buffer->first[queue] + i) % buffer->places;
}

static uint32_t lowest_queue(const PrioritizationBuffer *buffer) {
    return (uint32_t)__builtin_ctzll(buffer->waiting);
}

void prioritization_build(PrioritizationBuffer *buffer) {
    buffer->slots = buffer->queues * buffer->places;
    buffer->limit = buffer->total ? buffer->total : buffer->slots;
}

const char *const prioritization_params[] = {"prioritization_queues", "prioritization_places",
                                             "prioritization_total", NULL};

bool prioritization_convert(PrioritizationBuffer *buffer) {
    memset(buffer->first, 0, sizeof buffer->first); /* places are others */
    return buffer->count == 0;
}

bool prioritization_has_place(const PrioritizationBuffer *buffer, const MemMessage *m) {
    return buffer->count < buffer->limit && buffer->length[queue_of(buffer, m)] < buffer->places;
}

uint32_t prioritization_push(PrioritizationBuffer *buffer, const MemMessage *m) {
    ensure(prioritization_has_place(buffer, m));
    uint32_t queue = queue_of(buffer, m), slot = slot_of(buffer, queue, buffer->length[queue]++);
    buffer->request[slot] = *m;
    buffer->arrival[slot] = buffer->arrivals++;
    buffer->waiting |= 1ull << queue;
    buffer->count++;
    return slot;
}

const MemMessage *prioritization_next(const PrioritizationBuffer *buffer) {
    return buffer->waiting ? &buffer->request[slot_of(buffer, lowest_queue(buffer), 0)] : NULL;
}

/* Does one that came before `arrival` wait? The first of each queue is its oldest. */
static bool older_waits(const PrioritizationBuffer *buffer, uint64_t arrival) {
    for (uint64_t rest = buffer->waiting; rest; rest &= rest - 1) {
        uint32_t queue = (uint32_t)__builtin_ctzll(rest);
        if (buffer->arrival[slot_of(buffer, queue, 0)] < arrival) return true;
    }
    return false;
}

uint32_t prioritization_pop(PrioritizationBuffer *buffer) {
    ensure(buffer->waiting != 0);
    uint32_t queue = lowest_queue(buffer), slot = slot_of(buffer, queue, 0);
    buffer->overtakes += older_waits(buffer, buffer->arrival[slot]);
    buffer->first[queue] = (buffer->first[queue] + 1) % buffer->places;
    if (--buffer->length[queue] == 0) buffer->waiting &= ~(1ull << queue);
    buffer->count--;
    return slot;
}

bool prioritization_holds(const PrioritizationBuffer *buffer, uint32_t sm, uint32_t warp) {
    uint32_t queue = warp % buffer->queues;
    for (uint32_t i = 0; i < buffer->length[queue]; i++) {
        const MemMessage *m = &buffer->request[slot_of(buffer, queue, i)];
        if (m->warp == warp && m->sm == sm) return true;
    }
    return false;
}

uint32_t prioritization_answers_due(const PrioritizationBuffer *buffer) {
    uint32_t due = 0;
    for (uint64_t rest = buffer->waiting; rest; rest &= rest - 1) {
        uint32_t queue = (uint32_t)__builtin_ctzll(rest);
        for (uint32_t i = 0; i < buffer->length[queue]; i++)
            due += !(buffer->request[slot_of(buffer, queue, i)].flags & MEM_POSTED);
    }
    return due;
}

void prioritization_is_sound(const PrioritizationBuffer *buffer, const char *path) {
    uint64_t waiting = 0, count = 0;
    for (uint32_t q = 0; q < PRIORITIZATION_QUEUES_MAX; q++) {
        uint32_t length = buffer->length[q];
        sound(length <= (q < buffer->queues ? buffer->places : 0) &&
                  (length == 0 || buffer->first[q] < buffer->places),
              "%s.buffer: queue %u of length %u", path, q, length);
        waiting |= (uint64_t)(length != 0) << q;
        count += length;
        for (uint32_t i = 0; i < length; i++) {
            const MemMessage *m = &buffer->request[slot_of(buffer, q, i)];
            sound(m->bytes && queue_of(buffer, m) == q, "%s.buffer: a request of warp %u in queue %u", path,
                  m->warp, q);
        }
    }
    sound(waiting == buffer->waiting && count == buffer->count && count <= buffer->limit,
          "%s.buffer: %u requests", path, buffer->count);
}

void prioritization_visit(const PrioritizationBuffer *buffer, const Link *by, RequestVisitor *visit,
                          void *context) {
    for (uint64_t rest = buffer->waiting; rest; rest &= rest - 1) {
        uint32_t queue = (uint32_t)__builtin_ctzll(rest);
        for (uint32_t i = 0; i < buffer->length[queue]; i++) {
            const MemMessage *m = &buffer->request[slot_of(buffer, queue, i)];
            if (!(m->flags & MEM_POSTED)) visit(context, by, m);
        }
    }
}
