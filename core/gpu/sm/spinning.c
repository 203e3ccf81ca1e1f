#include "core/gpu/sm/spinning.h"

#include "core/gpu/sm/fault.h"
#include "core/sim/checkpoint/buffer.h"

static bool is_register(uint32_t source) {
    /* else a constant, or a predicate by its number */
    return !(source & (OPERAND_CONST | OPERAND_NEGATED)) && source % SLOT_BYTES == 0;
}

/* Of the instructions from `first` to before `last` that set predicates, the registers that they compare. Of 64 bits it is
 * those of half the lanes: these come along. */
static uint64_t hash_compared(const Sm *sm, uint32_t w, uint32_t first, uint32_t last) {
    enum { COMPARED = 2 };
    const uint8_t *registers = sm_registers(sm, w);
    uint64_t hash = 0;
    for (uint32_t i = first; i < last; i++) {
        const Inst *inst = sm_inst(sm, w, i);
        if (inst->pdst == NO_PREDICATE || !inst->bank_count) continue; /* it reads no register */
        for (uint32_t s = 0; s < inst->src_count && s < COMPARED; s++)
            if (is_register(inst->src[s])) hash = hash_bytes(hash, registers + inst->src[s], SLOT_BYTES);
    }
    return hash;
}

static void begin(Sm *sm, uint32_t w) {
    if (sm->spinning >> w & 1) return;
    sm->spinning |= warp_bit(w);
    sm_warps_changed(sm);
}

static void end(Sm *sm, uint32_t w) {
    if (!(sm->spinning >> w & 1)) return;
    sm->spinning &= ~warp_bit(w);
    sm_warps_changed(sm);
    object_emit(&sm->obj, SM_SPIN_END, w);
}

void spinning_count_turn(Sm *sm, uint32_t w, const Inst *inst, uint32_t pc, uint32_t lanes, uint32_t taken) {
    SpinTurn *turn = &sm->turn[w], before = *turn;
    if (!taken && before.branch != pc) return; /* the warp goes round by another branch */
    *turn = (SpinTurn){.lanes = taken, .branch = pc};
    if (taken) turn->compared = hash_compared(sm, w, inst->target, pc);
    bool repeats = before.branch == pc && before.compared == turn->compared;
    if (!repeats || taken != lanes || before.lanes != lanes) {
        end(sm, w);
        return;
    }
    begin(sm, w);
    object_emit(&sm->obj, SM_SPIN, w);
}

void spinning_end(Sm *sm, uint32_t w) {
    sm->turn[w].lanes = 0;
    end(sm, w);
}

void spinning_describe(const Sm *sm, uint32_t w, char *text, size_t size) {
    char first[FAULT_PLACE_BYTES], last[FAULT_PLACE_BYTES];
    uint32_t branch = sm->turn[w].branch, pc = sm->warp[w].simt.top.pc;
    text[0] = 0;
    if (!sm->turn[w].lanes || branch >= sm->place[w].inst_count) return;
    const Kernel *kernel = sm_kernel_of(sm, w)->kernel;
    const Inst *inst = sm_inst(sm, w, branch);
    if (pc < inst->target || pc > branch) return;
    fault_place(kernel, sm_inst(sm, w, inst->target), first, sizeof first);
    fault_place(kernel, inst, last, sizeof last);
    snprintf(text, size, "in the loop from %s to %s", first, last);
}
