/* The re-execution queue of Mascar (section III-C): accesses that the cache could not take, or would not, and
 * that are tried again. Plain data and functions, embedded in a cache object; allocates nothing. All-zero
 * state is an empty queue.
 *
 * Whoever is tried at the head and not taken goes to the tail: the queue turns, by one in each cycle in which
 * the tags have nothing else to do. Most of these tries cannot succeed, since what the access lacks has not
 * come. The queue keeps what each one lacks, so that the cache can sleep through such tries: to turn by n is
 * the same as n tries that fail. An access that is said to have hope and has none costs a look at the tags,
 * nothing else; one that is forgotten would wait too long. */
#ifndef WW_MEM_REEXECUTION_QUEUE_H
#define WW_MEM_REEXECUTION_QUEUE_H

#include "mem/memory_protocol.h"

enum { REEXECUTION_ENTRIES_MAX = 64, REEXECUTION_BUCKETS = 64 };

/* What an access lacked when it was last tried. */
typedef enum {
    LACKS_CHANGE,                     /* something must happen in its set */
    LACKS_PERMISSION,                 /* its line must come, or its warp's misses must be served */
    LACKS_MSHR,                       /* and this permission */
    LACKS_ROOM,                       /* for what must be sent down */
    LACKS,                            /* kinds of them */
    LACKS_MSHR_AND_PERMISSION = LACKS /* both, and but for its line no change in its set helps */
} Lack;

typedef struct {
    uint32_t entries;                       /* places; 0: there is no queue                       */
    uint32_t head, count;                   /* of order                                           */
    uint32_t buckets;                       /* of of_warp and of_set                              */
    MemMessage *access;                     /* per place                                          */
    uint32_t *set;                          /* ... of the cache that it falls into                */
    uint64_t *of_warp, *of_set;             /* per warp and set modulo buckets: its places        */
    uint64_t taken;                         /* bit per place: places in use                       */
    uint64_t lacking[LACKS];                /* ... that lack this                                 */
    uint8_t order[REEXECUTION_ENTRIES_MAX]; /* places; behind the last of them comes the first    */
} ReexecutionQueue;

#define REEXECUTION_ROWS(T, m)                                                                               \
    STATE_ARRAY(T, m.access, m.entries, "Accesses in the re-execution queue")                                \
    , STATE_ARRAY(T, m.set, m.entries, "Their sets")                                                         \
    , STATE(T, m.head, "Its head, in the order")                                                             \
    , STATE(T, m.count, "Accesses in it")                                                                    \
    , DERIVED(T, m.buckets, "Lists of places by warp, and by set")                                           \
    , STATE_ARRAY(T, m.of_warp, m.buckets, "Places of each warp's accesses")                                 \
    , STATE_ARRAY(T, m.of_set, m.buckets, "Places of each set's accesses")                                   \
    , STATE(T, m.taken, "Its places in use")                                                                 \
    , STATE(T, m.lacking, "What each access lacks")                                                          \
    , STATE(T, m.order, "Places in order")

static inline void reexecution_build(ReexecutionQueue *queue) {
    queue->buckets = queue->entries ? REEXECUTION_BUCKETS : 0;
}

static inline bool reexecution_full(const ReexecutionQueue *queue) {
    return queue->count == queue->entries;
}

/* The access at the head, after so many more turns. The queue must not be empty. */
static inline const MemMessage *reexecution_head(const ReexecutionQueue *queue, uint64_t turns) {
    return &queue->access[queue->order[(queue->head + turns) % queue->count]];
}

/* The warp's access in it, or NULL. All of them belong to one instruction. */
const MemMessage *reexecution_of_warp(const ReexecutionQueue *queue, uint32_t sm, uint32_t warp);

/* Puts an access that was not taken at the tail; there must be a place. Returns the place. */
uint32_t reexecution_push(ReexecutionQueue *queue, const MemMessage *m, uint32_t set, Lack lack);
/* The head was taken. Returns its place. */
uint32_t reexecution_pop(ReexecutionQueue *queue);
/* The head was tried in vain: it goes to the tail. */
void reexecution_fail(ReexecutionQueue *queue, Lack lack);
static inline void reexecution_turn_once(ReexecutionQueue *queue) {
    queue->head = (queue->head + 1) & -(uint32_t)(queue->head + 1 != queue->count);
}
/* So many tries in vain, all of accesses without hope. */
static inline void reexecution_turn(ReexecutionQueue *queue, uint64_t turns) {
    uint64_t count = queue->count;
    if (__builtin_expect(turns > count, 0)) turns %= count;
    uint64_t head = queue->head + turns;
    queue->head = (uint32_t)(head - (count & -(uint64_t)(head >= count)));
}

/* The places of these warps' accesses: bit n for all warps that are n modulo 64. */
static inline uint64_t reexecution_of_warps(const ReexecutionQueue *queue, uint64_t warps) {
    uint64_t places = 0;
    if (warps == ~0ull) return queue->taken;
    for (; warps; warps &= warps - 1)
        places |= queue->of_warp[__builtin_ctzll(warps)];
    return places;
}
/* Those that would fail for the same reason as last time are none of these. `may_miss`: warps whose misses
 * are served, so that in Mascar's MP mode only the owner's are tried. */
static inline uint64_t reexecution_hopeful(const ReexecutionQueue *queue, uint64_t may_miss, bool mshr_free,
                                           bool room) {
    const uint64_t *lacking = queue->lacking;
    uint64_t misses = lacking[LACKS_PERMISSION] | lacking[LACKS_MSHR];
    uint64_t hopeless = lacking[LACKS_CHANGE] | (misses & ~reexecution_of_warps(queue, may_miss)) |
                        (mshr_free ? 0 : lacking[LACKS_MSHR]) | (room ? 0 : lacking[LACKS_ROOM]);
    return queue->taken & ~hopeless;
}
void reexecution_give_hope_in_set(ReexecutionQueue *queue, uint32_t set, uint64_t address,
                                  uint32_t line_bytes);
/* A line or a way of the set came or went, for an access to the line of `line_bytes` with this address. Only
 * the latter can give what lacks permission a hit. */
static inline void reexecution_set_changed(ReexecutionQueue *queue, uint32_t set, uint64_t address,
                                           uint32_t line_bytes) {
    if (queue->of_set[set % REEXECUTION_BUCKETS])
        reexecution_give_hope_in_set(queue, set, address, line_bytes);
}
/* Any of them may be taken now. */
void reexecution_forget_lacks(ReexecutionQueue *queue);

/* Turns until one of these is at the head; they must not be empty. */
static inline uint32_t reexecution_turns_to(const ReexecutionQueue *queue, uint64_t hopeful) {
    uint32_t turns = 0, at = queue->head;
    while (!(hopeful >> queue->order[at] & 1)) {
        turns++;
        at = (at + 1) & -(uint32_t)(at + 1 != queue->count);
    }
    return turns;
}

#endif
