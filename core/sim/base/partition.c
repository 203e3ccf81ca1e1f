#include "core/sim/base/partition.h"

#include <stdbool.h>

/* Cuts off runs of at most `limit` from the beginning; false when there are too few of them. */
static bool cut(const uint64_t *cost, uint32_t count, uint32_t runs, uint64_t limit, uint32_t *begin) {
    uint32_t item = 0;
    begin[0] = 0;
    for (uint32_t run = 1; run <= runs; run++) {
        for (uint64_t sum = 0; item < count && sum + cost[item] <= limit; item++)
            sum += cost[item];
        begin[run] = item;
    }
    return item == count;
}

uint64_t partition_cost(const uint64_t *cost, uint32_t runs, const uint32_t *begin) {
    uint64_t most = 0;
    for (uint32_t run = 0; run < runs; run++) {
        uint64_t sum = 0;
        for (uint32_t item = begin[run]; item < begin[run + 1]; item++)
            sum += cost[item];
        most = sum > most ? sum : most;
    }
    return most;
}

void partition(const uint64_t *cost, uint32_t count, uint32_t runs, uint32_t *begin) {
    uint64_t too_little = 0, enough = 0; /* limits; nothing costs nothing, so that the first is never tried */
    for (uint32_t item = 0; item < count; item++)
        enough += cost[item];
    while (enough - too_little > 1) {
        uint64_t limit = too_little + (enough - too_little) / 2;
        if (cut(cost, count, runs, limit, begin))
            enough = limit;
        else
            too_little = limit;
    }
    cut(cost, count, runs, enough, begin);
}
