#include "mem/dram/dram_queue.h"

/* The bits of the mask at these ranks, moved together. */
static inline uint64_t moved_together(uint64_t mask, uint64_t ranks) {
#ifdef __BMI2__
    return __builtin_ia32_pext_di(mask, ranks);
#else
    for (uint64_t gaps = ~ranks & UINT64_MAX >> __builtin_clzll(ranks); gaps;) {
        uint64_t older = (1ull << (63 - __builtin_clzll(gaps))) - 1; /* than the youngest gap */
        mask = (mask & older) | (mask >> 1 & ~older);
        gaps &= older;
    }
    return mask;
#endif
}

void dram_queue_close_gaps(DramQueue *queue) {
    uint64_t ranks = queue->ranks;
    uint32_t rank = (uint32_t)__builtin_ctzll(~ranks); /* the first gap */
    for (uint64_t rest = ranks >> rank << rank; rest; rest &= rest - 1, rank++) {
        uint32_t from = (uint32_t)__builtin_ctzll(rest);
        queue->slot[rank] = queue->slot[from];
        queue->bank[rank] = queue->bank[from];
        queue->slot[from] = queue->bank[from] = 0;
    }
    for (uint32_t banks = queue->banks; banks; banks &= banks - 1) {
        uint64_t *of_bank = &queue->of_bank[__builtin_ctz(banks)];
        *of_bank = moved_together(*of_bank, ranks);
    }
    queue->row_hit = moved_together(queue->row_hit, ranks);
    queue->closed = moved_together(queue->closed, ranks);
    queue->write = moved_together(queue->write, ranks);
    queue->unserved_reply = moved_together(queue->unserved_reply, ranks);
    queue->ranks = moved_together(ranks, ranks);
}

void dram_queue_row_changed(DramQueue *queue, const Dram *dram, uint32_t bank) {
    uint32_t open_row = dram->banks[bank].open_row;
    uint64_t of_bank = queue->of_bank[bank];
    queue->row_hit &= ~of_bank;
    queue->closed |= of_bank;
    if (open_row == DRAM_NO_ROW) return;
    queue->closed &= ~of_bank;
    for (; of_bank; of_bank &= of_bank - 1) {
        uint32_t rank = (uint32_t)__builtin_ctzll(of_bank);
        if (queue->row[queue->slot[rank]] == open_row) queue->row_hit |= of_bank & -of_bank;
    }
}

uint64_t dram_queue_in_order(const DramQueue *queue, uint64_t requests) {
    return queue->ranks ? moved_together(requests & queue->ranks, queue->ranks) : 0;
}

uint32_t dram_queue_rank_of(const DramQueue *queue, uint32_t before) {
    uint64_t rest = queue->ranks;
    debug_ensure(before < queue->count);
    while (before--)
        rest &= rest - 1;
    return (uint32_t)__builtin_ctzll(rest);
}

uint64_t dram_queue_heads(const DramQueue *queue) {
    uint64_t heads = 0;
    for (uint32_t banks = queue->banks; banks; banks &= banks - 1) {
        uint64_t of_bank = queue->of_bank[__builtin_ctz(banks)];
        heads |= of_bank & -of_bank;
    }
    return heads;
}
