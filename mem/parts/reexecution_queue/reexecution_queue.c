#include "mem/parts/reexecution_queue/reexecution_queue.h"

#include <string.h>

enum { WARPS = 64 };

static uint64_t bit(uint32_t number) {
    return 1ull << number % 64;
}

const MemMessage *reexecution_of_warp(const ReexecutionQueue *queue, uint32_t sm, uint32_t warp) {
    if (!queue->count) return NULL; /* also when there is no queue */
    uint64_t places = queue->taken & reexecution_find(queue->warp, (uint8_t)(warp % WARPS));
    for (uint64_t rest = places; rest; rest &= rest - 1) {
        const MemMessage *m = &queue->access[__builtin_ctzll(rest)];
        if (m->warp == warp && m->sm == sm) return m;
    }
    return NULL;
}

static void make_eligible(ReexecutionQueue *queue, uint64_t places) {
    for (uint32_t i = 0; i < BLOCK_REASONS; i++)
        queue->blocked_on[i] &= ~places;
}

/* Every word is written, and by one kind of store. */
static void set_reason(ReexecutionQueue *queue, uint32_t place, BlockReason reason) {
    static const uint8_t words_of[] = {
        [BLOCKED_ON_CHANGE] = 1 << BLOCKED_ON_CHANGE,
        [BLOCKED_ON_PERMISSION] = 1 << BLOCKED_ON_PERMISSION,
        [BLOCKED_ON_MSHR] = 1 << BLOCKED_ON_MSHR,
        [BLOCKED_ON_ROOM] = 1 << BLOCKED_ON_ROOM,
        [BLOCKED_ON_MSHR_AND_PERMISSION] = 1 << BLOCKED_ON_MSHR | 1 << BLOCKED_ON_PERMISSION,
        [BLOCKED_ON_WAY] = 1 << BLOCKED_ON_CHANGE,
    };
    for (uint32_t i = 0; i < BLOCK_REASONS; i++)
        queue->blocked_on[i] = (queue->blocked_on[i] & ~bit(place)) | (uint64_t)(words_of[reason] >> i & 1)
                                                                          << place;
    queue->wants_way = (queue->wants_way & ~bit(place)) | (uint64_t)(reason == BLOCKED_ON_WAY) << place;
}

/* So many places of the order, whatever stands there, from one end or the other of the same bytes: of a
 * constant length, since one that follows from the count would be a branch that nobody foresees. */
static void shift_order(uint8_t *to, const uint8_t *from) {
    typedef uint8_t Places __attribute__((vector_size(REEXECUTION_ENTRIES_MAX / 4), aligned(1), may_alias));
    const Places *old = (const Places *)from;
    Places *new = (Places *)to, first = old[0], second = old[1], third = old[2], fourth = old[3];
    new[0] = first, new[1] = second, new[2] = third, new[3] = fourth;
}

/* The tail is what stands in front of the head. */
uint32_t reexecution_push(ReexecutionQueue *queue, const MemMessage *m, uint32_t set, BlockReason reason) {
    ensure(!reexecution_full(queue));
    uint32_t place = (uint32_t)__builtin_ctzll(~queue->taken);
    uint64_t tail = queue->head;
    shift_order(queue->order + tail + 1, queue->order + tail);
    queue->order[tail] = (uint8_t)place;
    if (queue->count++) queue->head++;
    queue->taken |= bit(place);
    queue->permitted |= (queue->may_miss >> m->warp % WARPS & 1) << place;
    queue->access[place] = *m;
    queue->warp[place] = (uint8_t)(m->warp % WARPS);
    queue->set[place] = (uint8_t)set;
    set_reason(queue, place, reason);
    return place;
}

uint32_t reexecution_pop(ReexecutionQueue *queue) {
    ensure(queue->count > 0);
    uint32_t place = queue->order[queue->head];
    queue->count--;
    shift_order(queue->order + queue->head, queue->order + queue->head + 1);
    if (queue->head == queue->count) queue->head = 0;
    queue->taken &= ~bit(place);
    queue->permitted &= ~bit(place);
    queue->wants_way &= ~bit(place);
    return place;
}

void reexecution_fail(ReexecutionQueue *queue, BlockReason reason) {
    set_reason(queue, queue->order[queue->head], reason);
    reexecution_turn(queue, 1);
}

void reexecution_make_eligible(ReexecutionQueue *queue, uint64_t places, uint64_t address,
                               uint32_t line_bytes) {
    uint64_t refused = queue->blocked_on[BLOCKED_ON_PERMISSION], of_line = 0;
    for (uint64_t rest = places & (refused | queue->wants_way); rest; rest &= rest - 1) {
        uint32_t place = (uint32_t)__builtin_ctzll(rest);
        bool same_line = (queue->access[place].address ^ address) < line_bytes;
        of_line |= (uint64_t)same_line << place;
    }
    queue->wants_way &= ~of_line;
    uint64_t lucky = (places & ~refused) | of_line;
    if (lucky) make_eligible(queue, lucky);
}

void reexecution_forget_reasons(ReexecutionQueue *queue) {
    memset(queue->blocked_on, 0, sizeof queue->blocked_on);
    queue->wants_way = 0;
}

void reexecution_is_sound(const ReexecutionQueue *queue, const char *path) {
    uint64_t places = 0;
    sound(queue->count <= REEXECUTION_ENTRIES_MAX && queue->head <= (queue->count ? queue->count - 1 : 0),
          "%s.queue: %u accesses, the head at %lu", path, queue->count, queue->head);
    for (uint32_t i = 0; i < 2 * REEXECUTION_ENTRIES_MAX; i++)
        sound(queue->order[i] < REEXECUTION_ENTRIES_MAX, "%s.queue: place %u", path, queue->order[i]);
    for (uint32_t i = 0; i < queue->count; i++)
        places |= bit(queue->order[i]);
    sound(places == queue->taken && (uint32_t)__builtin_popcountll(places) == queue->count,
          "%s.queue: places 0x%lx of its order, 0x%lx are taken", path, places, queue->taken);
    for (uint64_t rest = places; rest; rest &= rest - 1) {
        uint32_t place = (uint32_t)__builtin_ctzll(rest);
        sound(queue->warp[place] == queue->access[place].warp % WARPS, "%s.queue: warp at place %u", path,
              place);
    }
}
