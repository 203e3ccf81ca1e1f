/* What a device memory is made of: for the files that carry it out. */
#ifndef WW_PTX_MEMORY_STATE_H
#define WW_PTX_MEMORY_STATE_H

#include "core/ptx/execution/memory.h"

#define PAGE 4096ull
_Static_assert(DEVICE_MEMORY_BASE % PAGE == 0, "pages are counted from the base");

typedef struct {
    uint64_t start, end;
} Allocation;

enum { RELEASED_BLOCKS = 256 }; /* that are remembered for messages */

struct DeviceMemory {
    uint8_t *host;        /* of DEVICE_MEMORY_BASE */
    uint8_t *marked;      /* for each page: has a kernel written to it? */
    uint8_t *initialised; /* for each byte; NULL: not tracked */
    uint64_t capacity;
    int shared;      /* a file that holds it, which other processes map; -1: none        */
    uint8_t *parted; /* while `host` is this process's alone: what others see; else NULL */
    Bounds bounds;
    Allocation *live;    /* in address order */
    DeviceBlock *blocks; /* the same, for messages */
    size_t live_count, live_capacity, block_capacity;
    size_t dense_count; /* of the first live ones, from the base on, without a gap that another could fit */
    DeviceBlock released[RELEASED_BLOCKS]; /* a ring */
    size_t released_count;                 /* in all */
    uint32_t call;
    uint64_t bytes_live, bytes_peak;
    MemoryView **views;
    size_t view_count, view_capacity;
};

/* Zero, and touched only when used; in huge pages where the host has them, as most of it is written once, from end to end. */
uint8_t *memory_reserve(uint64_t bytes);
/* The next range within bounds from the live allocation `*index` on; `*range` is the one before, {0, 0} at first. */
bool memory_next_within_bounds(const DeviceMemory *memory, size_t *index, Allocation *range);

#endif
