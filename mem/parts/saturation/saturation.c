#include "mem/parts/saturation/saturation.h"

static uint32_t mark(uint32_t entries, uint32_t free_permille) {
    return entries - (uint32_t)((uint64_t)entries * free_permille / 1000);
}

void saturation_build(Saturation *saturation, const CacheParameters *parameters) {
    for (uint32_t on = 0; on < 2; on++) {
        uint32_t permille = saturation->free + on * saturation->relief;
        saturation->mshr_mark[on] = mark(parameters->mshrs, permille);
        saturation->queue_mark[on] = mark(parameters->miss_queue, permille);
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
