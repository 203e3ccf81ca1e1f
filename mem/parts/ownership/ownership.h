/* Who may use what lies below a cache, and who is watched using it (Mascar, Sethia et al., HPCA 2015, section
 * III-B: in MP mode only the misses of the warp that owns the memory are served). To join a line in flight
 * counts as a miss. */
#ifndef WW_MEM_OWNERSHIP_H
#define WW_MEM_OWNERSHIP_H

#include "mem/protocol/memory_protocol.h"

typedef struct {
    uint64_t may_miss; /* a knob: warps whose misses are served */
    uint64_t watched;  /* a knob: whose next access to what lies below emits an event, the first */
} Ownership;

#define OWNERSHIP_ROWS(T, m)                                                                                 \
    KNOB_NAMED(T, m.may_miss, "may_miss", "warps",                                                           \
               "Warps whose misses are served; those of others are refused")                                 \
    , KNOB_NAMED(T, m.watched, "memory_watched", "warps",                                                    \
                 "The first of them whose access uses what lies below emits an event")

static inline void ownership_init(Ownership *ownership) {
    ownership->may_miss = ~0ull;
}
static inline bool ownership_all_may_miss(const Ownership *ownership) {
    return ownership->may_miss == ~0ull;
}
static inline bool ownership_may_miss(const Ownership *ownership, const MemMessage *m) {
    return ownership->may_miss >> (m->warp & 63) & 1;
}
/* The request was taken and uses what lies below: does it emit an event? */
static inline bool ownership_emits(Ownership *ownership, const MemMessage *m) {
    if (__builtin_expect(!(ownership->watched >> (m->warp & 63) & 1), 1)) return false;
    ownership->watched = 0;
    return true;
}

#endif
