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

/* All requests. */
static inline uint64_t dram_queue_all(const DramQueue *queue) {
    return queue->count ? UINT64_MAX >> (DRAM_QUEUE_MAX - queue->count) : 0;
}
/* The oldest request of each bank. */
uint64_t dram_queue_heads(const DramQueue *queue);

#endif
