/* SIMT stack of one warp with reconvergence at the immediate post-dominator (PDOM).
 *
 * The top entry runs. An entry whose pc reaches its reconvergence point is popped; the entry below it, which
 * waits at that very pc, carries the lanes of both sides. */
#ifndef WW_GPU_SIMT_STACK_H
#define WW_GPU_SIMT_STACK_H

#include "core/sim/error.h"

#include <stdbool.h>
#include <stdint.h>

/* A divergence replaces one entry by at most three and splits its lanes, so 2 * 32 + 1 entries suffice. */
enum { SIMT_DEPTH = 72 };

typedef struct {
    uint32_t pc, reconverge, lanes;
} SimtEntry;

typedef struct {
    SimtEntry entry[SIMT_DEPTH];
    uint32_t depth; /* 0: every lane has exited */
} SimtStack;

static inline SimtEntry *simt_top(SimtStack *stack) {
    return &stack->entry[stack->depth - 1];
}

void simt_start(SimtStack *stack, uint32_t lanes, uint32_t inst_count);
/* The top's lanes go on at `pc`, all of them. Returns whether entries were popped: the pc may then be
 * another. */
void simt_advance(SimtStack *stack, uint32_t pc);
/* Lanes `taken` of the top go to `target`, the others to `fall_through`. */
void simt_branch(SimtStack *stack, uint32_t taken, uint32_t target, uint32_t fall_through,
                 uint32_t reconverge);
/* Lanes leave the kernel for good; the top's others, if any, go on at `next_pc`. */
void simt_exit(SimtStack *stack, uint32_t lanes, uint32_t next_pc);

#endif
