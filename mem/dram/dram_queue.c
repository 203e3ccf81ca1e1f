#include "mem/dram/dram_queue.h"

#include <string.h>

uint32_t dram_queue_add(DramQueue *queue, const Dram *dram, uint32_t bank, uint32_t row, bool write,
                        bool reply) {
    debug_ensure(queue->count < DRAM_QUEUE_MAX);
    uint32_t slot = (uint32_t)__builtin_ctzll(~queue->used_slots), rank = queue->count++;
    queue->used_slots |= 1ull << slot;
    queue->slot[rank] = (uint8_t)slot;
    queue->bank[rank] = (uint8_t)bank;
    queue->row[slot] = row;
    queue->banks |= 1u << bank;
    queue->of_bank[bank] |= 1ull << rank;
    queue->row_hit |= (uint64_t)(dram->banks[bank].open_row == row) << rank;
    queue->closed |= (uint64_t)(dram->banks[bank].open_row == DRAM_NO_ROW) << rank;
    queue->write |= (uint64_t)write << rank;
    queue->unserved_reply |= (uint64_t)reply << rank;
    return slot;
}

/* All younger requests move up by one rank. */
static inline uint64_t without(uint64_t mask, uint64_t older) {
    return (mask & older) | (mask >> 1 & ~older);
}

/* Of half of the banks that there may be, so that the compiler knows how many. Inlined, it is not vectorised. */
static __attribute__((noinline)) void remove_from_banks(uint64_t of_bank[], uint64_t older) {
    for (uint32_t i = 0; i < DRAM_BANKS_MAX / 2; i++)
        of_bank[i] = without(of_bank[i], older);
}

void dram_queue_remove(DramQueue *queue, const DramTiming *timing, uint32_t rank) {
    uint64_t older = (1ull << rank) - 1;
    uint32_t bank = queue->bank[rank], younger = --queue->count - rank;
    queue->used_slots &= ~(1ull << queue->slot[rank]);
    memmove(queue->slot + rank, queue->slot + rank + 1, younger);
    memmove(queue->bank + rank, queue->bank + rank + 1, younger);
    remove_from_banks(queue->of_bank, older);
    if (timing->banks > DRAM_BANKS_MAX / 2) remove_from_banks(queue->of_bank + DRAM_BANKS_MAX / 2, older);
    queue->row_hit = without(queue->row_hit, older);
    queue->closed = without(queue->closed, older);
    queue->write = without(queue->write, older);
    queue->unserved_reply = without(queue->unserved_reply, older);
    if (!queue->of_bank[bank]) queue->banks &= ~(1u << bank);
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

uint64_t dram_queue_heads(const DramQueue *queue) {
    uint64_t heads = 0;
    for (uint32_t banks = queue->banks; banks; banks &= banks - 1) {
        uint64_t of_bank = queue->of_bank[__builtin_ctz(banks)];
        heads |= of_bank & -of_bank;
    }
    return heads;
}
