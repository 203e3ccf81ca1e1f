/* The re-execution queue of Mascar (section III-C): accesses that the cache could not take, or would not, and
 * that are tried again. Plain data and functions, embedded in a cache object; allocates nothing. All-zero
 * state is an empty queue.
 *
 * Whoever is tried at the head and not taken goes to the tail: the queue turns, by one in each cycle in which
 * the tags have nothing else to do. Most of these tries cannot succeed, since what the access is blocked on
 * has not come. The queue keeps what each one is blocked on, so that the cache can sleep through such tries: to turn
 * by n is the same as n tries that fail. An access that is eligible and fails again costs a look at the tags,
 * nothing else; one that is forgotten would wait too long. */
#ifndef WW_MEM_REEXECUTION_QUEUE_H
#define WW_MEM_REEXECUTION_QUEUE_H

#include "mem/protocol/memory_protocol.h"

#ifdef __SSSE3__
#include <tmmintrin.h>
#endif

enum { REEXECUTION_ENTRIES_MAX = 64, REEXECUTION_SETS = 256 /* that are told from each other */ };

/* What an access lacked when it was last tried. */
typedef enum {
    BLOCKED_ON_CHANGE,     /* something must happen in its set */
    BLOCKED_ON_PERMISSION, /* its line must come, or its warp's misses must be served */
    BLOCKED_ON_MSHR,       /* and this permission */
    BLOCKED_ON_ROOM,       /* for what must be sent down */
    BLOCK_REASONS,         /* kinds of them */
    BLOCKED_ON_MSHR_AND_PERMISSION =
        BLOCK_REASONS, /* both, and but for its line no change in its set helps */
    BLOCKED_ON_WAY     /* a change: there must be a way for its line */
} BlockReason;

typedef struct {
    uint32_t entries;                   /* accesses that it takes; 0: no queue        */
    uint32_t count;                     /* in it; more than that: resumed with fewer entries   */
    uint64_t head;                      /* of order                                            */
    uint64_t taken;                     /* bit per place: places in use                        */
    uint64_t may_miss;                  /* warps, modulo 64, whose misses are served           */
    uint64_t permitted;                 /* the places of their accesses                        */
    uint64_t wants_way;                 /* ... whose set had no way for their line when tried  */
    uint64_t blocked_on[BLOCK_REASONS]; /* ... that are blocked on this                                  */
    uint8_t order[2 * REEXECUTION_ENTRIES_MAX]; /* places; behind the last comes the first; then zeros */
    uint8_t warp[REEXECUTION_ENTRIES_MAX];      /* per place: low bits of the warp                     */
    uint8_t set[REEXECUTION_ENTRIES_MAX];       /* ... of the set of the cache that it falls into      */
    MemMessage access[REEXECUTION_ENTRIES_MAX];
} ReexecutionQueue;

#define REEXECUTION_ROWS(T, m)                                                                               \
    STATE(T, m.count, "Accesses in the re-execution queue")                                                  \
    , STATE(T, m.head, "Its head, in the order")                                                             \
    , STATE(T, m.taken, "Its places in use")                                                                 \
    , HOST(T, m.may_miss, "Warps whose misses are served")                                                   \
    , HOST(T, m.permitted, "Places of their accesses")                                                       \
    , STATE(T, m.wants_way, "Those for whose line there was no way")                                         \
    , STATE(T, m.blocked_on, "What each access is blocked on")                                               \
    , STATE(T, m.order, "Places in order")                                                                   \
    , STATE(T, m.warp, "Low bits of each access's warp")                                                     \
    , STATE(T, m.set, "Low bits of each access's set")                                                       \
    , STATE(T, m.access, "The accesses, by place")

/* Panics, naming `path`, unless it can be worked with; see Class.is_sound. */
void reexecution_is_sound(const ReexecutionQueue *queue, const char *path);

static inline bool reexecution_full(const ReexecutionQueue *queue) {
    return queue->count >= queue->entries;
}

/* The access at the head. The queue must not be empty. */
static inline const MemMessage *reexecution_head(const ReexecutionQueue *queue) {
    return &queue->access[queue->order[queue->head]];
}
/* The same, after so many more turns. */
static inline const MemMessage *reexecution_after(const ReexecutionQueue *queue, uint64_t turns) {
    return &queue->access[queue->order[(queue->head + turns) % queue->count]];
}

/* The warp's access in it, or NULL. All of them belong to one instruction. */
const MemMessage *reexecution_of_warp(const ReexecutionQueue *queue, uint32_t sm, uint32_t warp);

/* Puts an access that was not taken at the tail; there must be a place. Returns the place. */
uint32_t reexecution_push(ReexecutionQueue *queue, const MemMessage *m, uint32_t set, BlockReason reason);
/* The head was taken. Returns its place. */
uint32_t reexecution_pop(ReexecutionQueue *queue);
/* The retry of the head failed: it goes to the tail. */
void reexecution_fail(ReexecutionQueue *queue, BlockReason reason);
/* So many retries that fail, all of accesses that are not eligible. */
static inline void reexecution_turn(ReexecutionQueue *queue, uint64_t turns) {
    uint64_t count = queue->count;
    if (__builtin_expect(turns > count, 0)) turns %= count;
    uint64_t head = queue->head + turns;
    queue->head = head - (count & -(uint64_t)(head >= count));
}

/* Numbers of the bytes that have this value, as bits. */
static inline uint64_t reexecution_find(const uint8_t bytes[REEXECUTION_ENTRIES_MAX], uint8_t value) {
    uint64_t found = 0;
#ifdef __SSSE3__
    for (uint32_t i = 0; i < REEXECUTION_ENTRIES_MAX; i += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        __m128i equal = _mm_cmpeq_epi8(part, _mm_set1_epi8((char)value));
        found |= (uint64_t)(uint32_t)_mm_movemask_epi8(equal) << i;
    }
#else
    for (uint32_t i = 0; i < REEXECUTION_ENTRIES_MAX; i++)
        found |= (uint64_t)(bytes[i] == value) << i;
#endif
    return found;
}

/* Numbers of the bytes whose value is in the set, as bits; they must be below 64. */
static inline uint64_t reexecution_find_any(const uint8_t bytes[REEXECUTION_ENTRIES_MAX], uint64_t values) {
    uint64_t found = 0;
#ifdef __SSSE3__
    __m128i set = _mm_set1_epi64x((long long)values), bit_of = _mm_set1_epi64x((long long)0x8040201008040201);
    for (uint32_t i = 0; i < REEXECUTION_ENTRIES_MAX; i += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        __m128i eighth = _mm_and_si128(_mm_srli_epi16(part, 3), _mm_set1_epi8(7));
        __m128i bit = _mm_shuffle_epi8(bit_of, _mm_and_si128(part, _mm_set1_epi8(7)));
        __m128i common = _mm_and_si128(_mm_shuffle_epi8(set, eighth), bit);
        found |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(common, bit)) << i;
    }
#else
    for (uint32_t i = 0; i < REEXECUTION_ENTRIES_MAX; i++)
        found |= (values >> bytes[i] & 1) << i;
#endif
    return found;
}

/* From now on the misses of these warps are served: bit n for all that are n modulo 64. To be called before
 * the first access comes, and when state has been put in place. */
static inline void reexecution_permit(ReexecutionQueue *queue, uint64_t warps) {
    queue->may_miss = warps;
    queue->permitted = queue->taken & reexecution_find_any(queue->warp, warps);
}
/* Those that would fail for the same reason as last time are none of these; of misses, in Mascar's MP mode,
 * only the owner's are. */
static inline uint64_t reexecution_eligible(const ReexecutionQueue *queue, bool mshr_free, bool room) {
    const uint64_t *blocked_on = queue->blocked_on;
    uint64_t misses = blocked_on[BLOCKED_ON_PERMISSION] | blocked_on[BLOCKED_ON_MSHR];
    uint64_t blocked = blocked_on[BLOCKED_ON_CHANGE] | (misses & ~queue->permitted) |
                       (mshr_free ? 0 : blocked_on[BLOCKED_ON_MSHR]) |
                       (room ? 0 : blocked_on[BLOCKED_ON_ROOM]);
    return queue->taken & ~blocked;
}
void reexecution_make_eligible(ReexecutionQueue *queue, uint64_t places, uint64_t address,
                               uint32_t line_bytes);
/* A line or a way of the set came or went, for an access to the line of `line_bytes` with this address. Only
 * the latter can give what is blocked on permission a hit. */
static inline void reexecution_set_changed(ReexecutionQueue *queue, uint32_t set, uint64_t address,
                                           uint32_t line_bytes) {
    uint64_t places = queue->taken & reexecution_find(queue->set, (uint8_t)set);
    if (places) reexecution_make_eligible(queue, places, address, line_bytes);
}
/* Every way of the set is reserved: those that need one are no longer eligible for a change there. */
static inline void reexecution_set_is_full(ReexecutionQueue *queue, uint32_t set) {
    queue->blocked_on[BLOCKED_ON_CHANGE] |= queue->wants_way & reexecution_find(queue->set, (uint8_t)set);
}
/* Any of them may be taken now. */
void reexecution_forget_reasons(ReexecutionQueue *queue);

/* Turns until one of these is at the head; they must not be empty. */
static inline uint64_t reexecution_turns_to(const ReexecutionQueue *queue, uint64_t eligible) {
    uint64_t valid = ~0ull >> (REEXECUTION_ENTRIES_MAX - queue->count);
    uint64_t in_order = reexecution_find_any(queue->order, eligible) & valid,
             behind = in_order >> queue->head;
    uint64_t once_round = (uint64_t)__builtin_ctzll(in_order) + queue->count - queue->head;
    return behind ? (uint64_t)__builtin_ctzll(behind) : once_round;
}

#endif
