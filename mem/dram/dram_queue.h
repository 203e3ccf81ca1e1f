/* Requests that wait for a DRAM channel, in order of arrival. Rank 0 is the oldest; bit r of every mask
 * stands for the request of rank r, so "the oldest of these" is the lowest bit. What the requests are is the
 * owner's matter: each has a slot, constant while it waits, under which the owner keeps it. Plain data; all
 * zero is the empty queue. */
#ifndef WW_MEM_DRAM_QUEUE_H
#define WW_MEM_DRAM_QUEUE_H

#include "mem/dram/dram.h"

enum { DRAM_QUEUE_MAX = 64 };

typedef struct {
    uint64_t of_bank[DRAM_BANKS_MAX];
    uint64_t row_hit; /* its row is open in its bank          */
    uint64_t closed;  /* no row is open in its bank           */
    uint64_t write;
    uint64_t unserved_reply; /* wants a reply, and no burst was issued yet */
    uint64_t used_slots;
    uint32_t banks; /* bit b: of_bank[b] is not empty       */
    uint32_t count;
    uint32_t row[DRAM_QUEUE_MAX]; /* by slot */
    uint8_t slot[DRAM_QUEUE_MAX]; /* by rank */
    uint8_t bank[DRAM_QUEUE_MAX]; /* by rank */
} DramQueue;

/* Appends the youngest request, if there are fewer than DRAM_QUEUE_MAX. Returns its slot: the lowest free
 * one. */
uint32_t dram_queue_add(DramQueue *queue, const Dram *dram, uint32_t bank, uint32_t row, bool write,
                        bool reply);
void dram_queue_remove(DramQueue *queue, const DramTiming *timing, uint32_t rank);
/* To be called after ACTIVATE and PRECHARGE of `bank`. */
void dram_queue_row_changed(DramQueue *queue, const Dram *dram, uint32_t bank);

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
/* The same of all requests of queue 0, alone. */
DramBest dram_queue_choose_alone(const DramQueue *queue, const Dram *dram, const DramTiming *timing,
                                 uint64_t floor);
static inline uint64_t dram_best_cycle(DramBest best) {
    return best >> BEST_CYCLE_AT;
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
    uint32_t queue = best >> BEST_QUEUE_AT & ((1 << (BEST_CYCLE_AT - BEST_QUEUE_AT)) - 1);
    uint32_t rank = best >> BEST_RANK_AT & (DRAM_QUEUE_MAX - 1);
    return (DramChoice){.cycle = best >> BEST_CYCLE_AT,
                        .queue = (uint8_t)queue,
                        .rank = (uint8_t)rank,
                        .bank = queues[queue].bank[rank],
                        .command = (uint8_t)(best & ((1 << BEST_RANK_AT) - 1))};
}
/* All requests. */
static inline uint64_t dram_queue_all(const DramQueue *queue) {
    return queue->count ? UINT64_MAX >> (DRAM_QUEUE_MAX - queue->count) : 0;
}
/* The oldest request of each bank. */
uint64_t dram_queue_heads(const DramQueue *queue);

#endif
