#include "core/ptx/analysis/named_lanes.h"

#include "core/ptx/analysis/waiting_loops.h"

#include <string.h>

static bool names_its_lanes(const char *opcode) {
    static const char *const opcodes[] = {"bar.warp.sync", "shfl.sync.",  "vote.sync.",
                                          "match.",        "redux.sync.", "elect.sync"};
    for (uint32_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (!strncmp(opcode, opcodes[i], strlen(opcodes[i]))) return true;
    return false;
}

void find_named_lanes(Kernel *kernel, uint32_t target) {
    if (target < TARGET_OF_INDEPENDENT_LANES) return;
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        Inst *inst = &kernel->insts[i];
        if (inst->src_count && names_its_lanes(kernel->sources[i].opcode)) inst->kind = INST_CONVERGENT;
    }
}
