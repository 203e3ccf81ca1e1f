/* Requests that wait for a DRAM channel, in order of arrival. Rank 0 is the oldest; bit r of every mask
 * stands for the request of rank r, so "the oldest of these" is the lowest bit. A request that leaves may leave a gap
 * between the ranks, until somebody closes the gaps: so one step closes several. What the requests are is the
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
    uint64_t ranks; /* those of all requests                */
    uint32_t banks; /* bit b: of_bank[b] is not empty       */
    uint32_t count;
    uint32_t row[DRAM_QUEUE_MAX]; /* by slot */
    uint8_t slot[DRAM_QUEUE_MAX]; /* by rank */
    uint8_t bank[DRAM_QUEUE_MAX]; /* by rank */
} DramQueue;

/* The rank of the next request. */
static inline uint32_t dram_queue_end(const DramQueue *queue) {
    return queue->ranks ? DRAM_QUEUE_MAX - (uint32_t)__builtin_clzll(queue->ranks) : 0;
}
/* Appends the youngest request, if dram_queue_end() is less than DRAM_QUEUE_MAX. Returns its slot: the lowest free
 * one. */
static inline uint32_t dram_queue_add(DramQueue *queue, const Dram *dram, uint32_t bank, uint32_t row,
                                      bool write, bool reply) {
    uint32_t slot = (uint32_t)__builtin_ctzll(~queue->used_slots), rank = dram_queue_end(queue);
    uint32_t open_row = dram->banks[bank].open_row;
    debug_ensure(rank < DRAM_QUEUE_MAX);
    queue->count++;
    queue->ranks |= 1ull << rank;
    queue->used_slots |= 1ull << slot;
    queue->slot[rank] = (uint8_t)slot;
    queue->bank[rank] = (uint8_t)bank;
    queue->row[slot] = row;
    queue->banks |= 1u << bank;
    queue->of_bank[bank] |= 1ull << rank;
    queue->row_hit |= (uint64_t)(open_row == row) << rank;
    queue->closed |= (uint64_t)(open_row == DRAM_NO_ROW) << rank;
    queue->write |= (uint64_t)write << rank;
    queue->unserved_reply |= (uint64_t)reply << rank;
    return slot;
}
static inline bool dram_queue_has_gaps(const DramQueue *queue) {
    return (queue->ranks & (queue->ranks + 1)) != 0;
}
/* Leaves a gap, if it is not the youngest. */
static inline void dram_queue_remove(DramQueue *queue, uint32_t rank) {
    uint64_t others = ~(1ull << rank);
    uint32_t bank = queue->bank[rank];
    queue->used_slots &= ~(1ull << queue->slot[rank]);
    queue->of_bank[bank] &= others;
    queue->banks &= ~((uint32_t)(queue->of_bank[bank] == 0) << bank);
    queue->row_hit &= others;
    queue->closed &= others;
    queue->write &= others;
    queue->unserved_reply &= others;
    queue->ranks &= others;
    queue->slot[rank] = queue->bank[rank] = 0;
    queue->count--;
}
/* The ranks are those below `count` again. */
void dram_queue_close_gaps(DramQueue *queue);
/* To be called after ACTIVATE and PRECHARGE of `bank`. */
void dram_queue_row_changed(DramQueue *queue, const Dram *dram, uint32_t bank);

/* A set of requests as those see it who know no gaps: bit n for the one before which n others came. */
uint64_t dram_queue_in_order(const DramQueue *queue, uint64_t requests);
/* The rank of the one before which so many came, fewer than `count`. */
uint32_t dram_queue_rank_of(const DramQueue *queue, uint32_t before);
/* The oldest request of each bank. */
uint64_t dram_queue_heads(const DramQueue *queue);
/* Each of them, the oldest first. */
#define FOR_RANKS(queue, rank)                                                                               \
    for (uint64_t rest = (queue)->ranks; rest && (rank = (uint32_t)__builtin_ctzll(rest), true);             \
         rest &= rest - 1)

#endif
