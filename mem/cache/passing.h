/* Requests that pass through a cache: sent on below as they are, and kept until their answer comes. */
#ifndef WW_MEM_PASSING_H
#define WW_MEM_PASSING_H

#include "mem/cache/cache.h"

/* Set in the tokens of requests that pass through; other tokens are MSHRs. */
#define PASSING_TOKEN (1u << 31)

typedef struct {
    uint32_t limit;
    uint32_t places; /* that there is room for: more than the limit in a machine that took over more */
    uint32_t count, released_count, fresh, pad;
    MemMessage *original; /* requests sent on and not answered yet, as they came              */
    uint32_t *released;   /* stack of places in `original` that were used before and are free */
    uint64_t answered;
    uint64_t off_hits, off_misses;
} Passing;

#define PASSING_ROWS(T, m, most)                                                                             \
    PARAM_NAMED(T, m.limit, "passing_limit", most, "requests",                                               \
                "Writes, atomics and bypassing reads in flight", .min = 1, .max = 65536, .converts = true),  \
        STATE(T, m.places, "How many there is room for")                                                     \
    , DERIVED(T, m.pad, "Alignment")                                                                         \
    , STATE(T, m.count, "Requests that passed through and are not answered")                                 \
    , STATE(T, m.released_count, "Places in the list of free ones")                                          \
    , STATE(T, m.fresh, "First place that was never used")                                                   \
    , STATE_ARRAY(T, m.original, m.places, "Requests that passed through, as they came")                     \
    , STATE_ARRAY(T, m.released, m.places, "Free places that were used before")                              \
    , STATE(T, m.answered, "Answers passed on")                                                              \
    ,                                                                                                        \
        STAT_NAMED(T, m.off_hits, "off_hits", "accesses",                                                    \
                   "While switched off: bypassing accesses whose line had a tag"),                           \
        STAT_NAMED(T, m.off_misses, "off_misses", "accesses",                                                \
                   "While switched off: bypassing accesses whose line had none")

static inline bool passing_is_token(uint32_t token) {
    return token & PASSING_TOKEN;
}

/* Is there room to pass `m` on, and before that, when a `dirty` line must go, to write it back? */
Stall passing_stall(const CacheObject *object, const Passing *passing, const MemMessage *m, bool dirty);
/* Sends it on; there is room. The caller counts the result. */
void pass_on(CacheObject *object, Passing *passing, const MemMessage *m);
/* Sends the answer on; the link has room. */
void passing_answer(CacheObject *object, Passing *passing, const MemMessage *response, uint64_t now);

/* Passes `m` on and forgets the line, if present, which would be stale afterwards. Changes nothing when it
 * returns a stall; else counts `result`. */
Stall pass_and_drop(CacheObject *object, Passing *passing, const MemMessage *m, const Lookup *at,
                    Result result, uint64_t now);
/* The cache is switched off: the tags go on as if it were in use, so that its hit rate stays known and it can
 * come back, but the data comes from below. A line taken in this state has a tag and no valid sector. */
Stall pass_while_off(CacheObject *object, Passing *passing, const MemMessage *m, const Lookup *at,
                     uint64_t now);

/* For the class's build() and, when it was taken over from a machine with another limit, convert(). */
void passing_build(Passing *passing);
void passing_make_room(Passing *passing);

/* Panics unless it can be worked with; see Class.is_sound. */
void passing_is_sound(const SimObject *object, const Passing *passing, bool fits);
void passing_report(const SimObject *object, const Passing *passing, FILE *out);

#endif
