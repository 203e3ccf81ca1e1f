/* Which command a DRAM channel issues next, and when: the first that becomes legal for a waiting request. */
#ifndef WW_MEM_DRAM_CHOICE_H
#define WW_MEM_DRAM_CHOICE_H

#include "core/sim/base/times.h"
#include "mem/dram/dram_queue.h"

/* A command and when to issue it. */
typedef struct {
    uint64_t cycle; /* UINT64_MAX: none */
    uint32_t reserved;
    uint8_t queue, rank, bank, command;
} DramChoice;

#define DRAM_NO_CHOICE ((DramChoice){.cycle = UINT64_MAX})

/* The same as one number while it is searched for, of which the lower is the better. From the top: cycle, queue, whether it
 * is a row command, rank, command. */
typedef uint64_t DramBest;
#define DRAM_NONE UINT64_MAX
enum { BEST_RANK_AT = 4, BEST_ROW_AT = 10, BEST_QUEUE_AT = 11, BEST_CYCLE_AT = 16 };
/* Of none; no simulation comes so far. */
#define DRAM_NO_CYCLE (DRAM_NONE >> BEST_CYCLE_AT)

/* The command that becomes legal first, at `floor` or later, for the requests of `eligible`, if it is better
 * than `best`: earlier; or in the same cycle and of a lower queue number; or of the same queue, and a column
 * command instead of a row command, or for an older request. A bank with an eligible row hit keeps its row.
 */
DramBest dram_queue_choose(const DramQueue *queue, uint32_t queue_number, const Dram *dram,
                           const DramTiming *timing, uint64_t eligible, uint64_t floor, DramBest best);
static inline uint64_t dram_best_cycle(DramBest best) {
    return best >> BEST_CYCLE_AT;
}
static inline uint32_t dram_best_queue(DramBest best) {
    return best >> BEST_QUEUE_AT & ((1 << (BEST_CYCLE_AT - BEST_QUEUE_AT)) - 1);
}
static inline uint32_t dram_best_rank(DramBest best) {
    return best >> BEST_RANK_AT & (DRAM_QUEUE_MAX - 1);
}
static inline DramCommand dram_best_command(DramBest best) {
    return (DramCommand)(best & ((1 << BEST_RANK_AT) - 1));
}
static inline DramBest dram_best_at(uint64_t cycle, uint32_t queue, DramCommand command, uint32_t rank) {
    uint32_t row = !dram_is_column(command);
    return cycle << BEST_CYCLE_AT | queue << BEST_QUEUE_AT | row << BEST_ROW_AT | rank << BEST_RANK_AT |
           command;
}
static inline DramBest dram_best_of(const DramChoice *choice) {
    if (choice->cycle == UINT64_MAX) return DRAM_NONE;
    return dram_best_at(choice->cycle, choice->queue, (DramCommand)choice->command, choice->rank);
}
/* Of the array `queues`. */
static inline DramChoice dram_choice_of(DramBest best, const DramQueue *queues) {
    if (best == DRAM_NONE) return DRAM_NO_CHOICE;
    uint32_t queue = dram_best_queue(best), rank = dram_best_rank(best);
    return (DramChoice){.cycle = best >> BEST_CYCLE_AT,
                        .queue = (uint8_t)queue,
                        .rank = (uint8_t)rank,
                        .bank = queues[queue].bank[rank],
                        .command = (uint8_t)dram_best_command(best)};
}

#endif
