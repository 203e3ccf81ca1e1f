#include "mem/dram/dram_choice.h"

/* The best of `candidates`, all of which want `command`, or `best` if none is better. Only the oldest of a
 * bank can be it, and none that would not be better even if it were legal as soon as the channel allows:
 * mostly the first or second look ends the search. Banks of `kept` requests are left alone. */
static inline __attribute__((always_inline)) DramBest choose(const DramQueue *queue, uint32_t number,
                                                             const Dram *dram, const DramTiming *timing,
                                                             DramCommand command, uint64_t candidates,
                                                             uint64_t kept, uint64_t floor, DramBest best) {
    if (!candidates) return best;
    uint64_t gate = later_of(floor, dram->channel[command]);
    uint64_t order = dram_best_at(0, number, command, 0), soonest = gate << BEST_CYCLE_AT | order;
    do {
        uint64_t rank = (uint64_t)__builtin_ctzll(candidates), of_rank = rank << BEST_RANK_AT;
        if ((soonest | of_rank) >= best) break;
        uint32_t bank = queue->bank[rank];
        uint64_t of_bank = queue->of_bank[bank], cycle = later_of(gate, dram->banks[bank].earliest[command]);
        if (dram_is_column(command)) cycle = later_of(cycle, dram->group[timing->group_of_bank[bank]]);
        DramBest this = cycle << BEST_CYCLE_AT | order | of_rank;
        if (this < best && !(of_bank & kept)) best = this;
        candidates &= ~of_bank;
    } while (candidates);
    return best;
}

/* Of these row hits. */
static inline __attribute__((always_inline)) DramBest choose_column(const DramQueue *queue, uint32_t number,
                                                                    const Dram *dram,
                                                                    const DramTiming *timing, uint64_t hits,
                                                                    uint64_t floor, DramBest best) {
    best = choose(queue, number, dram, timing, DRAM_READ, hits & ~queue->write, 0, floor, best);
    return choose(queue, number, dram, timing, DRAM_WRITE, hits & queue->write, 0, floor, best);
}

/* Of these others; `hits` keep the rows of their banks. */
static inline __attribute__((always_inline)) DramBest choose_row(const DramQueue *queue, uint32_t number,
                                                                 const Dram *dram, const DramTiming *timing,
                                                                 uint64_t others, uint64_t hits,
                                                                 uint64_t floor, DramBest best) {
    best = choose(queue, number, dram, timing, DRAM_ACTIVATE, others & queue->closed, 0, floor, best);
    return choose(queue, number, dram, timing, DRAM_PRECHARGE, others & ~queue->closed, hits, floor, best);
}

DramBest dram_queue_choose(const DramQueue *queue, uint32_t number, const Dram *dram,
                           const DramTiming *timing, uint64_t eligible, uint64_t floor, DramBest best) {
    uint64_t hits = eligible & queue->row_hit, others = eligible & ~queue->row_hit;
    best = choose_column(queue, number, dram, timing, hits, floor, best);
    return choose_row(queue, number, dram, timing, others, hits, floor, best);
}

/* ---- Kept from one command to the next ---- */

static inline DramBest first_of(const Dram *dram, const DramTiming *timing, DramCommand command,
                                uint32_t bank, uint64_t requests, uint64_t floor) {
    uint64_t cycle = later_of(floor, dram_earliest(dram, timing, command, bank));
    return requests ? dram_best_at(cycle, 0, command, (uint32_t)__builtin_ctzll(requests)) : DRAM_NONE;
}

static inline void offer_columns(DramNext *next, const DramQueue *queue, const Dram *dram,
                                 const DramTiming *timing, uint32_t bank, uint64_t hits, uint64_t floor) {
    next->column = earlier_of(next->column,
                              first_of(dram, timing, DRAM_READ, bank, hits & ~queue->write, floor));
    next->column = earlier_of(next->column,
                              first_of(dram, timing, DRAM_WRITE, bank, hits & queue->write, floor));
}

/* Of a bank without row hits. */
static inline void offer_row(DramNext *next, const DramQueue *queue, const Dram *dram,
                             const DramTiming *timing, uint32_t bank, uint64_t floor) {
    DramCommand command = dram->banks[bank].open_row == DRAM_NO_ROW ? DRAM_ACTIVATE : DRAM_PRECHARGE;
    next->row = earlier_of(next->row, first_of(dram, timing, command, bank, queue->of_bank[bank], floor));
}

void dram_next_arrived(DramNext *next, const DramQueue *queue, const Dram *dram, const DramTiming *timing,
                       uint32_t rank, uint64_t floor) {
    uint32_t bank = queue->bank[rank];
    uint64_t hits = queue->of_bank[bank] & queue->row_hit, bit = 1ull << rank;
    if (next->stale == STALE_BOTH) return;
    if (!hits) {
        offer_row(next, queue, dram, timing, bank, floor);
    } else if (hits & bit) {
        offer_columns(next, queue, dram, timing, bank, bit, floor);
        uint32_t of_row = next->row >> BEST_RANK_AT & (DRAM_QUEUE_MAX - 1);
        if (queue->bank[of_row] == bank) next->stale |= STALE_ROW; /* the bank keeps its row */
    }
}

/* No row command was legal before; but those that lost in the same cycle may come in another order now. */
void dram_next_column_issued(DramNext *next, uint64_t floor) {
    next->stale |= STALE_COLUMN | (dram_best_cycle(next->row) < floor ? STALE_ROW : 0);
}

/* No column command was legal before or in the same cycle. */
void dram_next_row_issued(DramNext *next, const DramQueue *queue, const Dram *dram, const DramTiming *timing,
                          uint32_t bank, uint64_t floor) {
    next->stale |= STALE_ROW;
    uint64_t hits = queue->of_bank[bank] & queue->row_hit;
    if (hits && !(next->stale & STALE_COLUMN)) offer_columns(next, queue, dram, timing, bank, hits, floor);
}

void dram_next_left(DramNext *next, const DramQueue *queue, const Dram *dram, const DramTiming *timing,
                    uint32_t bank, uint64_t floor) {
    if (next->stale & STALE_ROW || !queue->of_bank[bank]) return;
    if (!(queue->of_bank[bank] & queue->row_hit)) offer_row(next, queue, dram, timing, bank, floor);
}

DramBest dram_next_choose(DramNext *next, const DramQueue *queue, const Dram *dram, const DramTiming *timing,
                          uint64_t floor) {
    uint64_t hits = queue->row_hit;
    if (next->stale & STALE_COLUMN) {
        next->column = choose_column(queue, 0, dram, timing, hits, floor, DRAM_NONE);
        next->stale &= STALE_ROW;
    }
    if (dram_best_cycle(next->column) <= floor) return next->column; /* no row command is better */
    if (next->stale) {
        uint64_t others = queue->ranks & ~hits;
        next->row = choose_row(queue, 0, dram, timing, others, hits, floor, DRAM_NONE);
        next->stale = 0;
    }
    return earlier_of(next->column, next->row);
}
