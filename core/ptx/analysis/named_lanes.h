/* Instructions that name the lanes that are to execute them together: shuffles, votes, bar.warp.sync. */
#ifndef WW_PTX_NAMED_LANES_H
#define WW_PTX_NAMED_LANES_H

#include "core/ptx/instructions/inst.h"

/* In PTX for targets whose lanes progress independently, these wait until all that they name have come: they become
 * INST_CONVERGENTs. Operands and sources must be known. */
void find_named_lanes(Kernel *kernel, uint32_t target);

#endif
