/* SIMT stack of one warp with reconvergence at the immediate post-dominator (PDOM).
 *
 * The top entry runs. An entry whose pc reaches its reconvergence point is popped; the entry below it, which
 * waits at that very pc, carries the lanes of both sides. Entries side by side, which meet at the same point, follow
 * each other; the one that waits for them is below the first. */
#ifndef WW_GPU_SIMT_STACK_H
#define WW_GPU_SIMT_STACK_H

#include "core/sim/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* A divergence replaces one entry by at most three and splits its lanes, so 2 * 32 + 1 entries suffice. */
enum { SIMT_DEPTH = 72 };

typedef struct {
    uint32_t pc, reconverge, lanes;
} SimtEntry;

/* The entry that runs is apart from those that wait below it: it is all that most instructions look at. */
typedef struct {
    SimtEntry top;
    uint32_t depth; /* entries, top included; 0: every lane has exited */
} SimtStack;

typedef struct {
    SimtEntry entry[SIMT_DEPTH]; /* the lowest first */
} SimtWaiting;

void simt_start(SimtStack *stack, uint32_t lanes, uint32_t inst_count);
/* The top is at its reconvergence point, or without lanes: takes up the first waiting entry that is
 * neither. */
void simt_pop_reconverged(SimtStack *stack, const SimtWaiting *waiting);
/* Lanes `taken` of the top go to `target`, the others to `fall_through`. */
void simt_branch(SimtStack *stack, SimtWaiting *waiting, uint32_t taken, uint32_t target,
                 uint32_t fall_through, uint32_t reconverge);
/* The top waits, and other lanes of the warp go on: first those that wait where the top would meet them, which they no
 * longer do; then paths that would meet it there as well, by turns. `outwards`: these may all wait for lanes that are none
 * of them, and are no longer to meet before those. Returns false when there are no others. */
bool simt_yield(SimtStack *stack, SimtWaiting *waiting, bool outwards);
/* The top, and those by turns with it. */
uint32_t simt_paths_beside(const SimtStack *stack, const SimtWaiting *waiting);
/* The top takes up the lanes that wait at its pc since they yielded. */
void simt_join(SimtStack *stack, SimtWaiting *waiting);
/* All lanes of the warp that have not exited. */
uint32_t simt_lanes(const SimtStack *stack, const SimtWaiting *waiting);
/* Lanes exit the kernel; the top's others, if any, go on at `next_pc`. */
void simt_exit(SimtStack *stack, SimtWaiting *waiting, uint32_t lanes, uint32_t next_pc);

/* The top's lanes go on at `pc`, all of them. Returns whether they are the top there still. */
static inline bool simt_advance(SimtStack *stack, const SimtWaiting *waiting, uint32_t pc) {
    stack->top.pc = pc;
    if (__builtin_expect(pc != stack->top.reconverge, 1)) return true;
    simt_pop_reconverged(stack, waiting);
    return false;
}

#endif
