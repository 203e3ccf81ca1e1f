/* Requests that pass through a cache: sent on below as they are, and kept until their answer comes. */
#ifndef WW_MEM_BYPASSED_H
#define WW_MEM_BYPASSED_H

#include "mem/cache/cache.h"

/* Set in the tokens of requests that pass through; other tokens are MSHRs. */
#define BYPASSED_TOKEN (1u << 31)

typedef struct {
    uint32_t limit;
    uint32_t places; /* that there is room for: more than the limit in a machine that was transferred more */
    uint32_t count, released_count, fresh;
    uint32_t reads;      /* of those that are counted */
    uint32_t hold_mshrs; /* does each of these hold an MSHR? of an L1 */
    uint32_t pad;
    MemMessage *original; /* requests sent on and not answered yet, as they came              */
    uint32_t *released;   /* stack of places in `original` that were used before and are free */
    uint64_t answered;
    uint64_t off_hits, off_misses, off_read_hits, off_read_misses;
} BypassedRequests;

#define BYPASSED_ROWS(T, m, most)                                                                            \
    PARAM_NAMED(T, m.limit, "bypassed_limit", most, "requests",                                              \
                "Writes, atomics and bypassing reads in flight", .min = 1, .max = 65536, .converts = true),  \
        DERIVED(T, m.pad, "Alignment")                                                                       \
    , STATE(T, m.places, "How many there is room for")                                                       \
    , STATE(T, m.count, "Requests that passed through and are not answered")                                 \
    , STATE(T, m.reads, "Of them, reads")                                                                    \
    , STATE(T, m.released_count, "Places in the list of free ones")                                          \
    , STATE(T, m.fresh, "First place that was never used")                                                   \
    , STATE_ARRAY(T, m.original, m.places, "Requests that passed through, as they came")                     \
    , STATE_ARRAY(T, m.released, m.places, "Free places that were used before")                              \
    , STATE(T, m.answered, "Answers passed on")                                                              \
    ,                                                                                                        \
        STAT_NAMED(T, m.off_hits, "off_hits", "accesses",                                                    \
                   "While switched off: bypassing accesses whose line had a tag"),                           \
        STAT_NAMED(T, m.off_misses, "off_misses", "accesses",                                                \
                   "While switched off: bypassing accesses whose line had none"),                            \
        STAT_NAMED(T, m.off_read_hits, "off_read_hits", "accesses", "Of off_hits, reads"),                   \
        STAT_NAMED(T, m.off_read_misses, "off_read_misses", "accesses", "Of off_misses, reads")

static inline bool bypassed_is_token(uint32_t token) {
    return token & BYPASSED_TOKEN;
}

/* Is there room to pass `m`, which is no read, on, and before that, when a `dirty` line must go, to write it
 * back? */
Stall bypassed_stall(const CacheObject *object, const BypassedRequests *bypassed, const MemMessage *m,
                     bool dirty);
/* Sends it on; there is room. The caller counts the result. */
void pass_on(CacheObject *object, BypassedRequests *bypassed, const MemMessage *m);
/* Sends the answer on; the link has room. */
void bypassed_answer(CacheObject *object, BypassedRequests *bypassed, const MemMessage *response,
                     uint64_t now);

/* Passes `m` on and forgets the line, if present, which would be stale afterwards. Changes nothing when it
 * returns a stall; else counts `result`. */
Stall pass_and_drop(CacheObject *object, BypassedRequests *bypassed, const MemMessage *m, const Lookup *at,
                    Result result, uint64_t now);
/* The cache is switched off: the tags go on as if it were in use, so that its hit rate stays known and it can
 * come back, but the data comes from below. A line taken in this state has a tag and no valid sector. */
Stall pass_while_off(CacheObject *object, BypassedRequests *bypassed, const MemMessage *m, const Lookup *at,
                     uint64_t now);

/* For the class's build() and, when it was transferred from a machine with other parameters, convert(). */
void bypassed_build(BypassedRequests *bypassed);
void bypassed_convert(CacheObject *object, BypassedRequests *bypassed);

/* Panics unless it can be worked with; see Class.is_sound. */
void bypassed_is_sound(const SimObject *object, const BypassedRequests *bypassed, bool fits);
void bypassed_report(const SimObject *object, const BypassedRequests *bypassed, FILE *out);

#endif
