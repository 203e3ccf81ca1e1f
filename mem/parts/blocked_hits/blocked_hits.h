/* Counts the cycles in which a hit is blocked (Mascar, Sethia et al., HPCA 2015, Fig. 5: data that cannot be
 * reached): behind an access that the cache does not take stands one of another warp that would hit. A tag
 * front that offers nothing itself. */
#ifndef WW_MEM_BLOCKED_HITS_H
#define WW_MEM_BLOCKED_HITS_H

#include "mem/cache/tag_front.h"

typedef struct {
    TagFront front;
    uint32_t watch;   /* parameter */
    uint32_t blocked; /* a hit is */
    uint64_t since, cycles;
} BlockedHits;

#define BLOCKED_HITS_ROWS(T, m)                                                                              \
    TAG_FRONT_ROWS(T, m.front)                                                                               \
    ,                                                                                                        \
        PARAM_FLAG_NAMED(T, m.watch, "watch_blocked_hits", "false", "Count blocked_hit_cycles",              \
                         .timing = true),                                                                    \
        STATE(T, m.blocked, "A hit is blocked")                                                              \
    , STATE(T, m.since, "Cycle up to which that is counted")                                                 \
    , STAT_NAMED(T, m.cycles, "blocked_hit_cycles", "cycles",                                                \
                 "The request at the tags waited, and one behind it, of another warp, would have hit")

extern const TagFrontClass blocked_hits;

#endif
