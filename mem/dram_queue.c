#include "mem/dram_queue.h"

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

void dram_queue_remove(DramQueue *queue, uint32_t rank) {
    uint64_t older = (1ull << rank) - 1;
    uint32_t bank = queue->bank[rank], younger = --queue->count - rank;
    queue->used_slots &= ~(1ull << queue->slot[rank]);
    memmove(queue->slot + rank, queue->slot + rank + 1, younger);
    memmove(queue->bank + rank, queue->bank + rank + 1, younger);
    for (uint32_t b = 0; b < DRAM_BANKS_MAX; b++)
        queue->of_bank[b] = without(queue->of_bank[b], older);
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

static inline uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static inline uint32_t priority_of(uint32_t queue, DramCommand command, uint32_t rank) {
    return queue << 16 | (uint32_t)!dram_is_column(command) << 8 | rank;
}

static inline bool is_better(const DramChoice *choice, uint64_t cycle, uint32_t priority) {
    return cycle < choice->cycle || (cycle == choice->cycle && priority < choice->priority);
}

/* The best of `candidates`, all of which want `command`. Only the oldest of a bank can be it, and none that
 * would not be better even if it were legal as soon as the channel allows: mostly the first or second look
 * ends the search. */
static inline void choose(const DramQueue *queue, uint32_t number, const Dram *dram, const DramTiming *timing,
                          DramCommand command, uint64_t candidates, uint64_t floor, DramChoice *choice) {
    uint64_t gate = later(floor, dram->channel[command]);
    while (candidates) {
        uint32_t rank = (uint32_t)__builtin_ctzll(candidates), bank = queue->bank[rank];
        uint32_t priority = priority_of(number, command, rank);
        if (!is_better(choice, gate, priority)) return;
        uint64_t cycle = later(floor, dram_earliest(dram, timing, command, bank));
        if (is_better(choice, cycle, priority))
            *choice = (DramChoice){cycle,         priority,      (uint8_t)number,
                                   (uint8_t)rank, (uint8_t)bank, (uint8_t)command};
        candidates &= ~queue->of_bank[bank];
    }
}

/* Of requests that found another row open: those whose bank has no hit among `hits` any more. */
static uint64_t without_hits(const DramQueue *queue, uint64_t conflicts, uint64_t hits) {
    while (hits && conflicts) {
        uint64_t of_bank = queue->of_bank[queue->bank[__builtin_ctzll(hits)]];
        conflicts &= ~of_bank;
        hits &= ~of_bank;
    }
    return conflicts;
}

void dram_queue_choose(const DramQueue *queue, uint32_t number, const Dram *dram, const DramTiming *timing,
                       uint64_t eligible, uint64_t floor, DramChoice *choice) {
    uint64_t hits = eligible & queue->row_hit, closed = eligible & queue->closed;
    choose(queue, number, dram, timing, DRAM_READ, hits & ~queue->write, floor, choice);
    choose(queue, number, dram, timing, DRAM_WRITE, hits & queue->write, floor, choice);
    if (choice->cycle == floor) return;
    choose(queue, number, dram, timing, DRAM_ACTIVATE, closed, floor, choice);
    uint64_t conflicts = without_hits(queue, eligible & ~queue->row_hit & ~queue->closed, hits);
    choose(queue, number, dram, timing, DRAM_PRECHARGE, conflicts, floor, choice);
}
