#include "mem/dram/dram_next.h"

DramBest dram_queue_choose(const DramQueue *queue, uint32_t number, const Dram *dram,
                           const DramTiming *timing, uint64_t eligible, uint64_t floor, DramBest best) {
    uint64_t hits = eligible & queue->row_hit, others = eligible & ~queue->row_hit;
    best = dram_search_columns(queue, number, dram, timing, hits, floor, best);
    return dram_search_rows(queue, number, dram, timing, others, hits, floor, best);
}
