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

/* The best of each kind, kept from one choice to the next: what a command or an arrival changes is mostly one of them, or of
 * one bank only. One that is legal before the next choice has lost against another: it is searched for again, and so
 * is 0. */
typedef struct {
    DramBest column, activate, precharge;
} DramNext;

static inline void dram_next_forget(DramNext *next) {
    next->column = next->activate = next->precharge = 0;
}

static inline __attribute__((always_inline)) DramBest dram_first_of(const Dram *dram,
                                                                    const DramTiming *timing,
                                                                    DramCommand command, uint32_t bank,
                                                                    uint64_t requests, uint64_t floor) {
    uint64_t cycle = later_of(floor, dram_earliest(dram, timing, command, bank));
    return dram_best_at(cycle, 0, command, (uint32_t)__builtin_ctzll(requests));
}

/* Of a bank whose requests were no candidates for this command; what is to be searched for stays so. */
static inline __attribute__((always_inline)) void dram_offer_activate(DramNext *next, const DramQueue *queue,
                                                                      const Dram *dram,
                                                                      const DramTiming *timing, uint32_t bank,
                                                                      uint64_t floor) {
    if (next->activate)
        next->activate = earlier_of(
            next->activate, dram_first_of(dram, timing, DRAM_ACTIVATE, bank, queue->of_bank[bank], floor));
}
static inline __attribute__((always_inline)) void dram_offer_precharge(DramNext *next, const DramQueue *queue,
                                                                       const Dram *dram,
                                                                       const DramTiming *timing,
                                                                       uint32_t bank, uint64_t floor) {
    if (next->precharge)
        next->precharge = earlier_of(
            next->precharge, dram_first_of(dram, timing, DRAM_PRECHARGE, bank, queue->of_bank[bank], floor));
}
static inline __attribute__((always_inline)) void dram_offer_column(DramNext *next, const DramQueue *queue,
                                                                    const Dram *dram,
                                                                    const DramTiming *timing, uint32_t bank,
                                                                    uint64_t hits, uint64_t floor) {
    uint64_t first = hits & -hits;
    DramCommand command = (DramCommand)((queue->write & first) != 0);
    next->column = earlier_of(next->column, dram_first_of(dram, timing, command, bank, first, floor));
}

/* Each of the following is to be called after the queue and the channel have changed; `floor` is the first cycle for another
 * command. */
static inline __attribute__((always_inline)) void dram_next_arrived(DramNext *next, const DramQueue *queue,
                                                                    const Dram *dram,
                                                                    const DramTiming *timing, uint32_t rank,
                                                                    uint64_t floor) {
    uint32_t bank = queue->bank[rank];
    uint64_t bit = 1ull << rank, of_bank = queue->of_bank[bank], hits = of_bank & queue->row_hit;
    if (hits & bit) {
        uint64_t other_way = queue->write ^ -(queue->write >> rank & 1);
        if (next->column && (hits & ~other_way) == bit)
            dram_offer_column(next, queue, dram, timing, bank, bit, floor);
        /* Does the bank keep its row now? */
        if (hits == bit && queue->bank[dram_best_rank(next->precharge)] == bank) next->precharge = 0;
    } else if (of_bank == bit) {
        if (queue->closed & bit)
            dram_offer_activate(next, queue, dram, timing, bank, floor);
        else
            dram_offer_precharge(next, queue, dram, timing, bank, floor);
    }
}

static inline void dram_next_column_issued(DramNext *next) {
    next->column = 0;
}

/* No column command was legal before or in the same cycle. */
static inline __attribute__((always_inline)) void
dram_next_row_issued(DramNext *next, const DramQueue *queue, const Dram *dram, const DramTiming *timing,
                     DramCommand command, uint32_t bank, uint64_t floor) {
    if (command == DRAM_PRECHARGE) {
        next->precharge = 0;
        if (queue->of_bank[bank]) dram_offer_activate(next, queue, dram, timing, bank, floor);
        return;
    }
    next->activate = 0;
    uint64_t hits = queue->of_bank[bank] & queue->row_hit;
    uint64_t reads = hits & ~queue->write, writes = hits & queue->write;
    if (!next->column) return;
    if (reads) dram_offer_column(next, queue, dram, timing, bank, reads, floor);
    if (writes) dram_offer_column(next, queue, dram, timing, bank, writes, floor);
}

/* A request has left, and a column command to its bank has been issued. */
static inline __attribute__((always_inline)) void dram_next_left(DramNext *next, const DramQueue *queue,
                                                                 const Dram *dram, const DramTiming *timing,
                                                                 uint32_t bank, uint64_t floor) {
    uint64_t of_bank = queue->of_bank[bank];
    if (of_bank && !(of_bank & queue->row_hit)) dram_offer_precharge(next, queue, dram, timing, bank, floor);
}

/* What dram_queue_choose() would choose from all. What cannot be legal before the best column command is searched for later. */
static inline __attribute__((always_inline)) DramBest dram_next_choose(DramNext *next, const DramQueue *queue,
                                                                       const Dram *dram,
                                                                       const DramTiming *timing,
                                                                       uint64_t floor) {
    const DramBest now = floor << BEST_CYCLE_AT;
    if (next->column < now)
        next->column = dram_search_columns(queue, 0, dram, timing, queue->row_hit, floor, DRAM_NONE);
    DramBest best = next->column;
    if (dram_best_cycle(best) <= floor) return best; /* no row command is better */
    if (next->precharge < now)
        next->precharge = dram_search(queue, 0, dram, timing, DRAM_PRECHARGE,
                                      queue->ranks & ~queue->row_hit & ~queue->closed, queue->row_hit, floor,
                                      DRAM_NONE);
    best = earlier_of(best, next->precharge);
    if (dram->channel[DRAM_ACTIVATE] > dram_best_cycle(best)) return best;
    if (next->activate < now)
        next->activate = dram_search(queue, 0, dram, timing, DRAM_ACTIVATE, queue->closed, 0, floor,
                                     DRAM_NONE);
    return earlier_of(best, next->activate);
}

#endif
