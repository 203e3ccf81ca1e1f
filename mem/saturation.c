#include "mem/saturation.h"

/* All in use but `left`, and never less than half of the entries: a cache with two MSHRs is not saturated for
 * good. */
static uint32_t mark(uint32_t entries, uint32_t left) {
    uint32_t half = (entries + 1) / 2;
    return entries > left && entries - left > half ? entries - left : half;
}

void saturation_build(Saturation *saturation, const CacheParameters *parameters) {
    for (uint32_t on = 0; on < 2; on++) {
        uint32_t more = on * saturation->relief;
        saturation->mshr_mark[on] = mark(parameters->mshrs, saturation->mshrs + more);
        saturation->queue_mark[on] = mark(parameters->miss_queue, saturation->queue + more);
    }
}

void saturation_count(Saturation *saturation, uint64_t cycle) {
    if (saturation->on) saturation->cycles += cycle - saturation->since;
    saturation->since = cycle;
}

void saturation_change(Saturation *saturation, uint64_t cycle) {
    saturation_count(saturation, cycle);
    saturation->on = !saturation->on;
    saturation->events += saturation->on;
}
