/* The memory saturation flag of an L1 (Mascar, section III-A): up before MSHRs or miss queue are full, so
 * that the warp that owns the memory can still issue. */
#ifndef WW_MEM_SATURATION_H
#define WW_MEM_SATURATION_H

#include "mem/cache/cache.h"

typedef struct {
    uint32_t free, relief;                /* parameters, permille                                        */
    uint32_t mshr_mark[2], queue_mark[2]; /* so many in use begin it; so many, once it is on, keep it on */
    uint64_t on;
    uint64_t since; /* cycle up to which it is counted */
    uint64_t events, cycles;
} Saturation;

#define SATURATION_ROWS(T, m)                                                                                \
    PARAM_NAMED(T, m.free, "saturation_free", "125", "permille",                                             \
                "Saturated when no more of the MSHRs, or of the places in the miss queue, are free",         \
                .max = 500, .timing = true),                                                                 \
        PARAM_NAMED(T, m.relief, "saturation_relief", "125", "permille",                                     \
                    "No longer saturated when so many more of both are free", .max = 400, .timing = true),   \
        DERIVED(T, m.mshr_mark, "MSHRs in use that begin and that keep up saturation")                       \
    , DERIVED(T, m.queue_mark, "Messages in the miss queue that begin and that keep up saturation")          \
    ,                                                                                                        \
        {.kind = FIELD_STATE,                                                                                \
         .type = TYPE_U64,                                                                                   \
         .name = "saturated",                                                                                \
         .doc = "MSHRs or miss queue are nearly full",                                                       \
         .unit = "flag",                                                                                     \
         FIELD_AT(T, m.on)},                                                                                 \
        STATE(T, m.since, "Cycle up to which saturation is counted")                                         \
    , STAT_NAMED(T, m.events, "saturations", "events", "MSHRs or miss queue became nearly full"),            \
        STAT_NAMED(T, m.cycles, "saturated_cycles", "cycles", "MSHRs or miss queue were nearly full")

void saturation_build(Saturation *saturation, const CacheParameters *parameters);

/* It can rise when an access has passed the tags, and fall at any time. */
static inline bool saturation_changes(const Saturation *saturation, const Cache *cache) {
    uint64_t mshrs = cache->mshr.used;
    uint32_t messages = cache->misses.count;
    if (__builtin_expect(!saturation->on, 1))
        return mshrs >= saturation->mshr_mark[0] || messages >= saturation->queue_mark[0];
    return mshrs < saturation->mshr_mark[1] && messages < saturation->queue_mark[1];
}
/* It has changed in the cycle before `cycle`. */
void saturation_change(Saturation *saturation, uint64_t cycle);
/* Counts up to `cycle`. */
void saturation_count(Saturation *saturation, uint64_t cycle);

#endif
