#include "mem/reexecution_queue.h"

#include <string.h>

static uint64_t bit(uint32_t number) {
    return 1ull << number % 64;
}

static uint64_t *places_of_warp(const ReexecutionQueue *queue, uint32_t warp) {
    return &queue->of_warp[warp % REEXECUTION_BUCKETS];
}
static uint64_t *places_of_set(const ReexecutionQueue *queue, uint32_t set) {
    return &queue->of_set[set % REEXECUTION_BUCKETS];
}

const MemMessage *reexecution_of_warp(const ReexecutionQueue *queue, uint32_t sm, uint32_t warp) {
    if (!queue->count) return NULL; /* also when there is no queue */
    for (uint64_t rest = *places_of_warp(queue, warp); rest; rest &= rest - 1) {
        const MemMessage *m = &queue->access[__builtin_ctzll(rest)];
        if (m->warp == warp && m->sm == sm) return m;
    }
    return NULL;
}

static void give_hope(ReexecutionQueue *queue, uint64_t places) {
    for (uint32_t i = 0; i < LACKS; i++)
        queue->lacking[i] &= ~places;
}

/* Every word is written, and by one kind of store. */
static void set_lack(ReexecutionQueue *queue, uint32_t place, Lack lack) {
    bool both = lack == LACKS_MSHR_AND_PERMISSION;
    uint32_t words = both ? 1u << LACKS_MSHR | 1u << LACKS_PERMISSION : 1u << lack;
    for (uint32_t i = 0; i < LACKS; i++)
        queue->lacking[i] = (queue->lacking[i] & ~bit(place)) | (uint64_t)(words >> i & 1) << place;
}

/* The tail is what stands in front of the head. */
uint32_t reexecution_push(ReexecutionQueue *queue, const MemMessage *m, uint32_t set, Lack lack) {
    ensure(!reexecution_full(queue));
    uint32_t place = (uint32_t)__builtin_ctzll(~queue->taken), tail = queue->head;
    memmove(queue->order + tail + 1, queue->order + tail, queue->count - tail);
    queue->order[tail] = (uint8_t)place;
    if (queue->count++) queue->head++;
    queue->taken |= bit(place);
    *places_of_warp(queue, m->warp) |= bit(place);
    *places_of_set(queue, set) |= bit(place);
    queue->access[place] = *m;
    queue->set[place] = set;
    set_lack(queue, place, lack);
    return place;
}

uint32_t reexecution_pop(ReexecutionQueue *queue) {
    ensure(queue->count > 0);
    uint32_t place = queue->order[queue->head];
    queue->count--;
    memmove(queue->order + queue->head, queue->order + queue->head + 1, queue->count - queue->head);
    if (queue->head == queue->count) queue->head = 0;
    queue->taken &= ~bit(place);
    *places_of_warp(queue, queue->access[place].warp) &= ~bit(place);
    *places_of_set(queue, queue->set[place]) &= ~bit(place);
    return place;
}

void reexecution_fail(ReexecutionQueue *queue, Lack lack) {
    set_lack(queue, queue->order[queue->head], lack);
    reexecution_turn_once(queue);
}

void reexecution_give_hope_in_set(ReexecutionQueue *queue, uint32_t set, uint64_t address,
                                  uint32_t line_bytes) {
    uint64_t lucky = 0, refused = queue->lacking[LACKS_PERMISSION];
    for (uint64_t rest = *places_of_set(queue, set); rest; rest &= rest - 1) {
        uint32_t place = (uint32_t)__builtin_ctzll(rest);
        bool same_line = (queue->access[place].address ^ address) < line_bytes;
        bool has_hope = (queue->set[place] == set) & (same_line | !(refused >> place & 1));
        lucky |= (uint64_t)has_hope << place;
    }
    if (lucky) give_hope(queue, lucky);
}

void reexecution_forget_lacks(ReexecutionQueue *queue) {
    memset(queue->lacking, 0, sizeof queue->lacking);
}
