/* What executing an instruction takes with timing and without. */
#ifndef WW_GPU_EXECUTE_H
#define WW_GPU_EXECUTE_H

#include "core/gpu/sm/fault.h"

static inline __attribute__((always_inline)) void prepare_registers(const Sm *sm, uint32_t w,
                                                                    uint32_t active) {
    ExecContext *context = sm->context;
    context->predicates = sm->place[w].predicates;
    context->bank[0] = (uintptr_t)sm->place[w].registers;
    context->active = active;
}

static inline void prepare_shared(Sm *sm, uint32_t w) {
    ExecContext *context = sm->context;
    context->shared = sm->place[w].shared;
    context->windows = sm->place[w].windows;
    context->known_windows = &sm->place[w].known_windows;
}

/* Only instructions that may access memory look at these. */
static inline void prepare_memory(Sm *sm, uint32_t w) {
    prepare_shared(sm, w);
    sm->context->local = sm->place[w].local;
}

/* Returns what simt_advance() does. */
static inline bool execute_arithmetic(Sm *sm, uint32_t w, Warp *warp, const Inst *inst, uint32_t pc) {
    ExecContext *context = sm->context;
    sm->place[w].known_windows &= (uint8_t)~inst->windows;
    if (context->active) inst->exec(inst, context);
    if (context->fault) sm_meet_fault(sm, w, inst);
    return simt_advance(&warp->simt, &sm->waiting_lanes[w], pc + 1);
}

/* Branches, barriers, fences, exits and all that is no arithmetic and no access. */
void sm_execute_control(Sm *sm, uint32_t w, const Inst *inst, uint32_t pc);

#endif
