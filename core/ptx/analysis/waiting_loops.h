/* Loops that look again at what others may change, for a lock, a flag, a ticket; and those of them in which a lane may wait
 * for what another lane of its warp does. */
#ifndef WW_PTX_WAITING_LOOPS_H
#define WW_PTX_WAITING_LOOPS_H

#include "core/ptx/front_end/arena.h"
#include "core/ptx/instructions/inst.h"

/* PTX for this target and later ones counts on each lane to make progress, whatever the others of its warp do. */
enum { TARGET_OF_INDEPENDENT_LANES = 70 };

/* Makes INST_LOOKING_BRANCHes of the branches that close such loops, and INST_LEAVING_BRANCHes of those that lead out. Of a
 * kernel for a `target` whose lanes may wait for each other, those become INST_WAITING_BRANCHes, or inner ones, behind which
 * lanes may wait. Operands and sources must be known. */
void find_waiting_loops(Arena *scratch, Kernel *kernel, uint32_t target);

#endif
