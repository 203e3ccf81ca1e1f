/* Where the virtual registers of a kernel are live.
 *
 * Liveness is per thread: a thread follows one path through the kernel. When the lanes of a warp part, the
 * lanes that wait keep their values in the same slots that the active lanes write to; but writes touch active
 * lanes only, so two registers that are never live on one thread's path may share a slot even when some lanes
 * need the one and others the other at the same time. A guarded write does not end the life of the old value.
 *
 * Instruction i reads at position 2i and writes at 2i + 1. A register that is read lives through the write of
 * the same instruction, so no destination ever overlays a different register among the sources: handlers need
 * not fear partial overlap of operands of different width. */
#ifndef WW_PTX_LIVENESS_H
#define WW_PTX_LIVENESS_H

#include "core/ptx/analysis/control_flow.h"

typedef enum { ACCESS_READ, ACCESS_WRITE, ACCESS_GUARDED_WRITE } AccessKind;

typedef struct {
    uint32_t inst, reg;
    AccessKind kind;
} Access;

typedef struct {
    uint32_t start, end; /* positions, both included */
} LiveSegment;

typedef struct {
    LiveSegment
        *segments; /* register r: [first[r], first[r + 1]), ascending, disjoint; none if never accessed */
    uint32_t *first;
    uint32_t register_count, segment_count;
} LiveRanges;

/* `accesses` in the order of the instructions. */
LiveRanges liveness_find(Arena *arena, const ControlFlow *flow, const Access *accesses, uint32_t access_count,
                         uint32_t register_count);

/* The largest sum of weight[r] over the registers that are live before an instruction. */
uint64_t liveness_peak(Arena *arena, const LiveRanges *ranges, const uint8_t *weight, uint32_t inst_count);

#endif
