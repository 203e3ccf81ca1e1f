/* What is executed once, when a kernel is launched. */
#include "core/ptx/execution/exec_internal.h"
#include "core/sim/base/error.h"

#include <stdlib.h>
#include <string.h>

uint8_t *exec_launch_constants(const Kernel *kernel, const WarpIdentity *identity, const uint8_t *params) {
    size_t bytes = (size_t)kernel->constant_slots * SLOT_BYTES;
    uint8_t *bank = aligned_alloc(64, bytes ? bytes : 64);
    uint32_t predicates[FIRST_FREE_PREDICATE] = {[TRUE_PREDICATE] = ~0u};
    ensure_memory(bank);
    if (bytes) memcpy(bank, kernel->constants, bytes);
    exec_fill_specials(kernel->launch_specials, kernel->launch_special_count, identity, bank);
    ExecContext context = {.bank = {(uintptr_t)bank, constant_bank(bank)},
                           .predicates = predicates,
                           .active = ~0u,
                           .params = params,
                           .param_bytes = kernel->param_bytes};
    for (uint32_t i = 0; i < kernel->launch_step_count; i++) {
        const LaunchStep *step = &kernel->launch_steps[i];
        Inst inst = kernel->insts[step->inst];
        for (uint32_t d = 0; d < inst.dst_count; d++)
            inst.dst[d] &= OPERAND_OFFSET;
        step->exec(&inst, &context);
        ensure(context.fault == FAULT_NONE);
    }
    return bank;
}
