/* Registers that hold one value in all threads of a launch: kernel parameters, %ntid, %nctaid and the like,
 * and what is computed of them and of immediates. They lie in the constant bank instead of in the registers
 * of each warp, and are computed once, when the kernel is launched: in most kernels they are a third of the
 * registers, and a warp's registers compete for the host's caches. Timing does not see it: the instructions
 * issue, read banks and take scoreboard names as ever. */
#ifndef WW_PTX_LAUNCH_CONSTANTS_H
#define WW_PTX_LAUNCH_CONSTANTS_H

#include "core/ptx/analysis/liveness.h"
#include "core/ptx/execution/exec.h"
#include "core/ptx/front_end/parser.h"

typedef struct {
    bool *of_register; /* per register of the body                               */
    bool *of_inst;     /* per instruction: all that it writes are such registers */
} LaunchConstants;

/* A register is one of them when a single instruction writes it, unconditionally, before any reads it, and
 * from such sources alone: so it cannot matter when, and for which lanes, that is. The kernel's instructions
 * are selected, their operands not set yet. */
LaunchConstants launch_constants_find(const KernelBody *body, const Kernel *kernel, const OperandPlan *plans,
                                      const LiveRanges *ranges, const Access *accesses,
                                      uint32_t access_count);
bool launch_constants_has_special(uint32_t special);

/* What warps execute in place of an instruction that writes launch constants, and of a load that does. */
ExecFn exec_nothing, exec_param_address;

#endif
