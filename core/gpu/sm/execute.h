/* What executing an instruction takes with timing and without. */
#ifndef WW_GPU_EXECUTE_H
#define WW_GPU_EXECUTE_H

#include "core/gpu/sm/fault.h"

static inline __attribute__((always_inline)) void prepare_registers(const Sm *sm, const WarpPlace *place,
                                                                    uint32_t active) {
    ExecContext *context = sm->context;
    context->predicates = place->predicates;
    context->bank[0] = (uintptr_t)place->registers;
    context->active = active;
}

static inline void prepare_shared(const Sm *sm, WarpPlace *place) {
    ExecContext *context = sm->context;
    context->shared = place->shared;
    context->windows = place->windows;
    context->known_windows = &place->known_windows;
}

/* Only instructions that may access memory look at these. */
static inline void prepare_memory(const Sm *sm, WarpPlace *place) {
    prepare_shared(sm, place);
    sm->context->local = place->local;
}

/* Returns what simt_advance() does. */
static inline bool execute_arithmetic(Sm *sm, uint32_t w, Warp *warp, WarpPlace *place, const Inst *inst,
                                      uint32_t pc) {
    ExecContext *context = sm->context;
    place->known_windows &= (uint8_t)~inst->windows;
    if (context->active) inst->exec(inst, context);
    if (context->fault) sm_meet_fault(sm, w, inst);
    return simt_advance(&warp->simt, &sm->waiting_lanes[w], pc + 1);
}

/* Branches, barriers, fences, exits and all that is no arithmetic and no access. */
void sm_execute_control(Sm *sm, uint32_t w, const Inst *inst, uint32_t pc);

#endif
