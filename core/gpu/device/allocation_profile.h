/* What a profile counts of the accesses to each allocation of device memory. */
#ifndef WW_GPU_ALLOCATION_PROFILE_H
#define WW_GPU_ALLOCATION_PROFILE_H

#include "core/ptx/execution/memory.h"
#include "core/sim/checkpoint/buffer.h"
#include "mem/protocol/memory_protocol.h"

enum { ALLOCATION_RESULTS = 3 }; /* hits, misses, merges: Result */

/* Of an allocation, which its start and the host program's call that made it tell apart. That with a start of 0 is what
 * lies in none: local memory, constants, code. All are 64-bit words. */
typedef struct {
    uint64_t start, bytes, made_by;
    uint64_t kinds[MEM_ATOMIC + 1]; /* by MemKind */
    uint64_t results[ALLOCATION_RESULTS];
} AllocationAccesses;

/* By made_by, then start. */
typedef struct {
    AllocationAccesses *of;
    uint32_t count, capacity;
    uint32_t last; /* that was found */
} AllocationCounts;

void allocations_count(AllocationCounts *counts, const DeviceMemory *memory, const MemMessage *m,
                       uint32_t result);
/* That of the same allocation, or NULL. */
const AllocationAccesses *allocations_find(const AllocationCounts *counts, const AllocationAccesses *like);
void allocations_add(AllocationCounts *sums, const AllocationCounts *more);
void allocations_empty(AllocationCounts *counts);
void allocations_save(const AllocationCounts *counts, Buffer *buffer);
/* Into empty counts. False when the bytes are damaged. */
bool allocations_load(AllocationCounts *counts, Reader *reader);

#endif
