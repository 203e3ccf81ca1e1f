/* Which registers' addresses are kept as windows (exec.h). */
#ifndef WW_PTX_WINDOWS_H
#define WW_PTX_WINDOWS_H

#include "core/ptx/front_end/arena.h"
#include "core/ptx/instructions/inst.h"

/* Sets `windows` of a kernel and of its instructions, whose operands must be known. */
void assign_windows(Arena *scratch, Kernel *kernel);

#endif
