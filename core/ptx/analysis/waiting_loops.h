/* Loops in which a lane may wait for what another lane of its warp does: for a lock, a flag, a ticket. */
#ifndef WW_PTX_WAITING_LOOPS_H
#define WW_PTX_WAITING_LOOPS_H

#include "core/ptx/front_end/arena.h"
#include "core/ptx/instructions/inst.h"

/* PTX for this target and later ones counts on each lane to make progress, whatever the others of its warp do. */
enum { TARGET_OF_INDEPENDENT_LANES = 70 };

/* Makes INST_WAITING_BRANCHes of the branches that close such loops, or inner ones, and, if there are any, INST_CONVERGENTs of the
 * instructions that name the lanes that are to execute them together. Operands and sources must be known. */
void find_waiting_loops(Arena *scratch, Kernel *kernel);

#endif
