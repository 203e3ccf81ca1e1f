/* Basic blocks and immediate post-dominators of a kernel. */
#ifndef WW_PTX_CONTROL_FLOW_H
#define WW_PTX_CONTROL_FLOW_H

#include "core/ptx/front_end/arena.h"
#include "core/ptx/instructions/inst.h"

#define NO_BLOCK UINT32_MAX

typedef struct {
    uint32_t first, end;    /* instructions [first, end)                            */
    uint32_t successors[2]; /* fall-through first; NO_BLOCK: none, or the exit      */
    uint32_t predecessors;  /* where its list begins in ControlFlow.predecessors    */
    uint32_t predecessor_count;
    uint32_t post_dominator; /* immediate; NO_BLOCK: the exit of the kernel          */
} BasicBlock;

typedef struct {
    BasicBlock *blocks;
    uint32_t count;
    uint32_t *predecessors;
} ControlFlow;

/* Needs kind, guard (NO_PREDICATE or anything else) and target of the instructions; the last one must not
 * fall through. Sets `reconverge` of every branch.
 *
 * A guarded exit is no edge to the exit: the lanes that leave are gone from every mask, and the others still
 * meet again inside the kernel. An endless loop counts as reaching the exit from its last block, so that
 * lanes reconverge inside such loops, too. */
ControlFlow control_flow_build(Arena *arena, Inst *insts, uint32_t count);

#endif
