/* The state of an L1, shared by its files: l1_cache.c, its accesses and its tick; l1_class.c, its rows, building, transfer
 * and checks, and what others ask of it. */
#ifndef WW_MEM_L1_STATE_H
#define WW_MEM_L1_STATE_H

#include "mem/cache/bypassed.h"
#include "mem/cache/prefetch.h"
#include "mem/parts/blocked_hits/blocked_hits.h"
#include "mem/parts/dma_port/l1_dma_port.h"
#include "mem/parts/ownership/ownership.h"
#include "mem/parts/prioritization_buffer/prioritization_front.h"
#include "mem/parts/reexecution_queue/reexecution_front.h"
#include "mem/parts/saturation/saturation.h"
#include "mem/protocol/address_map.h"

typedef struct {
    SimObject obj;
    Port cpu, mem;
    Cache cache;
    uint32_t latency, write_policy, local_allocate, keeps_lines;
    uint32_t enabled;           /* a knob */
    uint32_t bypass_line_fails; /* a knob */
    uint32_t off_reads;         /* 0: as many as its MSHRs hold */
    uint32_t pad;
    uint64_t may_allocate; /* a knob: warps that may take a line */
    uint64_t line_fail_bypasses;
    BypassedRequests bypassed;
    /* parts */
    L1DmaPort dma;
    Saturation saturation;
    Ownership ownership;
    PrioritizationFront prioritization;
    ReexecutionFront reexecution;
    BlockedHits blocked_hits;
    Prefetches prefetches;
    const AddressMap *map; /* with `gets`                                                         */
    uint8_t *gets;         /* of each slice of the map: whether requests for it come; NULL: all do */
    uint32_t gets_count;   /* how many do                                                         */
    uint32_t pad2;
} L1Cache;

CACHE_IS_FIRST_OF(L1Cache);

typedef enum { L1_SATURATION = CACHE_EVENTS_END, L1_TAKEN, L1_MEMORY_ACCESS, L1_INVALIDATED } L1Event;

typedef enum { WRITE_EVICT, WRITE_THROUGH, WRITE_NONE } WritePolicy;

uint64_t l1_tick(SimObject *object, uint64_t now);
UntimedAnswer l1_take_untimed(SimObject *object, const void *request);
/* At a boundary: its lines or knobs may be changed, or looked at. */
void l1_put_back_hits(SimObject *object);

#endif
