/* Which bytes of its parameters a kernel can read. What lies between them, the padding of structs, say, is whatever the
 * host's memory held. */
#ifndef WW_PTX_PARAM_READS_H
#define WW_PTX_PARAM_READS_H

#include "core/ptx/execution/exec.h"
#include "core/ptx/front_end/parser.h"

/* Per byte of the parameters: all ones where an instruction may read it, else 0. A parameter whose address is more than that of
 * a load is read as a whole. The kernel's instructions are selected; of `storage`. */
uint8_t *param_reads_find(const KernelBody *body, const Kernel *kernel, const OperandPlan *plans,
                          Arena *storage);

#endif
