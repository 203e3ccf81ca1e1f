/* The state of a slice of L2, shared by its files: l2_slice.c, its accesses and its tick; l2_class.c, its rows, building,
 * transfer and checks. */
#ifndef WW_MEM_L2_STATE_H
#define WW_MEM_L2_STATE_H

#include "mem/cache/bypassed.h"
#include "mem/cache/prefetch.h"
#include "mem/parts/pc_bypass_table/pc_bypass_table.h"
#include "mem/parts/queue_delays/queue_delays.h"
#include "mem/parts/shadow_tags/shadow_tags.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/functional_memory.h"

typedef enum { WRITE_MISS_FETCH, WRITE_MISS_LAZY } WriteMiss;

enum { PORTS_MAX = 8 };

typedef struct {
    SimObject obj;
    Port cpu, mem;
    Cache cache;
    uint32_t rop_delay, queue_entries, data_port, write_miss, atomic_latency, host_copies, bypass_delay;
    uint32_t bank_busy, ports;
    uint32_t enabled, bypass, bypass_rate;     /* knobs                                           */
    uint64_t bypass_classes, allocate_classes; /* knobs: sets of classes                          */
    uint64_t number;                           /* of this slice among all                         */
    uint64_t bypass_seed;
    uint64_t bypass_ticks; /* from accepting a bypassing request to sending it on */
    DelayQueue bypassing;  /* requests that never stand in front of the tags      */
    BypassedRequests bypassed;
    uint64_t atomic_begun;               /* the atomic at the tags has the data array to itself */
    uint64_t fill_busy_until;            /* when the fill port is free */
    uint64_t bank_ticks;                 /* bank_busy in ticks         */
    uint64_t port_busy_until[PORTS_MAX]; /* when each port of the bank is free; only with bank_busy */
    const AddressMap *map;
    const AddressMap *set_map; /* says which set an address has: the same, or address_itself */
    uint8_t *gets;             /* of each slice of the map: whether requests for it come; NULL: all do */
    MemoryView view;           /* what this slice's atomics wrote in this quantum */
    uint64_t untimed_requests; /* without timing, since l2_forget_untimed() */
    uint64_t passes_atomics;   /* others get requests for its addresses, too */
    PcBypassTable *pc_table;   /* policies' parts, or NULL */
    QueueDelays *delays;
    ShadowTags *shadow;
    const uint64_t
        *below_due; /* host: when what is below does something that this slice may see; see foresees() */
    uint64_t answers_later; /* host: those above see at the end of a quantum alone what it does */
    uint64_t done_before;   /* host: cycles before this one are done, some ahead of time; 0: unknown */
    Prefetches prefetches;
} L2Slice;

CACHE_IS_FIRST_OF(L2Slice);

uint64_t l2_tick(SimObject *object, uint64_t now);
UntimedAnswer l2_take_untimed(SimObject *object, const void *request);

#endif
