/* The best column and the best row command of a queue that is alone and of which all requests may be served, kept from one
 * command to the next; and the searches for them. All of it is inlined into the cycle of the memory controller. */
#ifndef WW_MEM_DRAM_NEXT_H
#define WW_MEM_DRAM_NEXT_H

#include "mem/dram/dram_choice.h"

/* The best of `candidates`, all of which want `command`, or `best` if none is better. Only the oldest of a
 * bank can be it, and of these the first that is legal as soon as the channel allows: mostly the first or second look ends
 * the search. Banks of `kept` requests are left alone. */
static inline __attribute__((always_inline)) DramBest
dram_search(const DramQueue *queue, uint32_t number, const Dram *dram, const DramTiming *timing,
            DramCommand command, uint64_t candidates, uint64_t kept, uint64_t floor, DramBest best) {
    if (!candidates) return best;
    uint64_t gate = later_of(floor, dram->channel[command]), soonest = DRAM_NO_CYCLE;
    uint32_t first = 0;
    if (best != DRAM_NONE && gate > dram_best_cycle(best)) return best;
    do {
        uint32_t rank = (uint32_t)__builtin_ctzll(candidates), bank = queue->bank[rank];
        uint64_t of_bank = queue->of_bank[bank], cycle = later_of(gate, dram->banks[bank].earliest[command]);
        if (dram_is_column(command)) cycle = later_of(cycle, dram->group[timing->group_of_bank[bank]]);
        candidates &= ~of_bank;
        if (kept & of_bank) continue;
        bool sooner = cycle < soonest;
        first = sooner ? rank : first;
        soonest = sooner ? cycle : soonest;
        if (soonest == gate) break;
    } while (candidates);
    return soonest == DRAM_NO_CYCLE ? best : earlier_of(best, dram_best_at(soonest, number, command, first));
}

/* Of these row hits. */
static inline __attribute__((always_inline)) DramBest
dram_search_columns(const DramQueue *queue, uint32_t number, const Dram *dram, const DramTiming *timing,
                    uint64_t hits, uint64_t floor, DramBest best) {
    best = dram_search(queue, number, dram, timing, DRAM_READ, hits & ~queue->write, 0, floor, best);
    return dram_search(queue, number, dram, timing, DRAM_WRITE, hits & queue->write, 0, floor, best);
}

/* Of these others; `hits` keep the rows of their banks. */
static inline __attribute__((always_inline)) DramBest
dram_search_rows(const DramQueue *queue, uint32_t number, const Dram *dram, const DramTiming *timing,
                 uint64_t others, uint64_t hits, uint64_t floor, DramBest best) {
    best = dram_search(queue, number, dram, timing, DRAM_ACTIVATE, others & queue->closed, 0, floor, best);
    return dram_search(queue, number, dram, timing, DRAM_PRECHARGE, others & ~queue->closed, hits, floor,
                       best);
}

/* What a command or an arrival changes is mostly one of both, or of one bank only. */
typedef enum { STALE_COLUMN = 1, STALE_ROW = 2, STALE_BOTH = 3 } DramStale;
typedef struct {
    DramBest column, row;
    uint32_t stale; /* DramStale: to be searched for again */
    uint32_t pad;
} DramNext;

static inline __attribute__((always_inline)) DramBest dram_first_of(const Dram *dram,
                                                                    const DramTiming *timing,
                                                                    DramCommand command, uint32_t bank,
                                                                    uint64_t requests, uint64_t floor) {
    uint64_t cycle = later_of(floor, dram_earliest(dram, timing, command, bank));
    return requests ? dram_best_at(cycle, 0, command, (uint32_t)__builtin_ctzll(requests)) : DRAM_NONE;
}

static inline __attribute__((always_inline)) void dram_offer_columns(DramNext *next, const DramQueue *queue,
                                                                     const Dram *dram,
                                                                     const DramTiming *timing, uint32_t bank,
                                                                     uint64_t hits, uint64_t floor) {
    next->column = earlier_of(next->column,
                              dram_first_of(dram, timing, DRAM_READ, bank, hits & ~queue->write, floor));
    next->column = earlier_of(next->column,
                              dram_first_of(dram, timing, DRAM_WRITE, bank, hits & queue->write, floor));
}

/* Of a bank without row hits. */
static inline __attribute__((always_inline)) void dram_offer_row(DramNext *next, const DramQueue *queue,
                                                                 const Dram *dram, const DramTiming *timing,
                                                                 uint32_t bank, uint64_t floor) {
    DramCommand command = dram->banks[bank].open_row == DRAM_NO_ROW ? DRAM_ACTIVATE : DRAM_PRECHARGE;
    next->row = earlier_of(next->row,
                           dram_first_of(dram, timing, command, bank, queue->of_bank[bank], floor));
}

/* Each of the following is to be called after the queue and the channel have changed; `floor` is the first cycle for another command. */
static inline __attribute__((always_inline)) void dram_next_arrived(DramNext *next, const DramQueue *queue,
                                                                    const Dram *dram,
                                                                    const DramTiming *timing, uint32_t rank,
                                                                    uint64_t floor) {
    uint32_t bank = queue->bank[rank];
    uint64_t hits = queue->of_bank[bank] & queue->row_hit, bit = 1ull << rank;
    if (next->stale == STALE_BOTH) return;
    if (!hits) {
        dram_offer_row(next, queue, dram, timing, bank, floor);
    } else if (hits & bit) {
        dram_offer_columns(next, queue, dram, timing, bank, bit, floor);
        uint32_t of_row = next->row >> BEST_RANK_AT & (DRAM_QUEUE_MAX - 1);
        if (queue->bank[of_row] == bank) next->stale |= STALE_ROW; /* the bank keeps its row */
    }
}

/* No row command was legal before; but those that lost in the same cycle may come in another order now. */
static inline __attribute__((always_inline)) void dram_next_column_issued(DramNext *next, uint64_t floor) {
    next->stale |= STALE_COLUMN | (dram_best_cycle(next->row) < floor ? STALE_ROW : 0);
}

/* No column command was legal before or in the same cycle. */
static inline __attribute__((always_inline)) void dram_next_row_issued(DramNext *next, const DramQueue *queue,
                                                                       const Dram *dram,
                                                                       const DramTiming *timing,
                                                                       uint32_t bank, uint64_t floor) {
    next->stale |= STALE_ROW;
    uint64_t hits = queue->of_bank[bank] & queue->row_hit;
    if (hits && !(next->stale & STALE_COLUMN))
        dram_offer_columns(next, queue, dram, timing, bank, hits, floor);
}

/* A request has left, and a column command to its bank has been issued. */
static inline __attribute__((always_inline)) void dram_next_left(DramNext *next, const DramQueue *queue,
                                                                 const Dram *dram, const DramTiming *timing,
                                                                 uint32_t bank, uint64_t floor) {
    if (next->stale & STALE_ROW || !queue->of_bank[bank]) return;
    if (!(queue->of_bank[bank] & queue->row_hit)) dram_offer_row(next, queue, dram, timing, bank, floor);
}

/* What dram_queue_choose() would choose from all. */
static inline __attribute__((always_inline)) DramBest dram_next_choose(DramNext *next, const DramQueue *queue,
                                                                       const Dram *dram,
                                                                       const DramTiming *timing,
                                                                       uint64_t floor) {
    uint64_t hits = queue->row_hit;
    if (next->stale & STALE_COLUMN) {
        next->column = dram_search_columns(queue, 0, dram, timing, hits, floor, DRAM_NONE);
        next->stale &= STALE_ROW;
    }
    if (dram_best_cycle(next->column) <= floor) return next->column; /* no row command is better */
    if (next->stale) {
        uint64_t others = queue->ranks & ~hits;
        next->row = dram_search_rows(queue, 0, dram, timing, others, hits, floor, DRAM_NONE);
        next->stale = 0;
    }
    return earlier_of(next->column, next->row);
}

#endif
