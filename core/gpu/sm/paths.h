/* Lanes of a warp that wait for each other, in kernels whose PTX counts on each lane to make progress.
 *
 * A SIMT stack runs one path until it meets the others. A path that goes round and round in a loop that waits, for a lock that
 * a lane of another path holds, would never meet them: after some turns it yields, and the others go on. They are one path
 * again where all of them would have met, at barriers, and at instructions that name the lanes that take part. */
#ifndef WW_GPU_PATHS_H
#define WW_GPU_PATHS_H

#include "core/gpu/sm/sm.h"

/* After an INST_WAITING_BRANCH, or an inner one that is taken, which those of `lanes` that are in `taken` took: its path may
 * yield. */
void paths_count_turn(Sm *sm, uint32_t warp, uint32_t lanes, uint32_t taken);

/* A path of the warp is to sleep: false where it goes round in a loop that waits, and others may go on in the meantime; then
 * it yields at the end of the loop. */
bool paths_sleep(Sm *sm, uint32_t warp);

/* Before an instruction that all lanes of the warp execute together, or those that it names. False when some of them
 * have still to come: another path goes on, and the instruction is to execute later. */
bool paths_meet_in(Sm *sm, uint32_t warp, const Inst *inst);
static inline bool paths_meet(Sm *sm, uint32_t warp, const Inst *inst) {
    return __builtin_expect(!sm->paths[warp].yielded, 1) || paths_meet_in(sm, warp, inst);
}
/* The same of an INST_CONVERGENT, whose lanes may also come apart where none has waited in a loop: one that can be reached
 * by two ways out of a branch, as `if (a || b)` has them, is no place where a SIMT stack joins them. */
bool paths_meet_named_in(Sm *sm, uint32_t warp, const Inst *inst);
static inline bool paths_meet_named(Sm *sm, uint32_t warp, const Inst *inst) {
    return __builtin_expect(sm->warp[warp].simt.depth == 1, 1) || paths_meet_named_in(sm, warp, inst);
}

/* The lanes that each lane names, by an INST_CONVERGENT. */
const uint32_t *masks_of_lanes(const Sm *sm, const Inst *inst);

#endif
