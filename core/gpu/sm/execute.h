/* What executing an instruction takes with timing and without. */
#ifndef WW_GPU_EXECUTE_H
#define WW_GPU_EXECUTE_H

#include "core/gpu/sm/fault.h"

static inline __attribute__((always_inline)) void prepare_registers(const Sm *sm, uint32_t w,
                                                                    uint32_t active) {
    ExecContext *context = sm->context;
    context->bank[0] = (uintptr_t)sm_registers(sm, w);
    context->predicates = sm_predicates(sm, w);
    context->active = active;
}

static inline void prepare_shared(Sm *sm, uint32_t w) {
    ExecContext *context = sm->context;
    context->shared = sm->shared_memory + (size_t)sm->warp[w].cta_slot * sm->kernels.shared_bytes;
    context->windows = sm->windows ? sm->windows + (size_t)w * sm->kernels.windows : NULL;
    context->known_windows = &sm->known_windows[w];
}

/* Only instructions that may access memory look at these. */
static inline void prepare_memory(Sm *sm, uint32_t w) {
    prepare_shared(sm, w);
    sm->context->local = sm->local_memory + w * local_memory_bytes(sm->kernels.local_bytes);
}

/* Returns what simt_advance() does. */
static inline bool execute_arithmetic(Sm *sm, uint32_t w, Warp *warp, const Inst *inst, uint32_t pc) {
    ExecContext *context = sm->context;
    sm->known_windows[w] &= (uint8_t)~inst->windows;
    if (context->active) inst->exec(inst, context);
    if (context->fault) sm_meet_fault(sm, w, inst);
    return simt_advance(&warp->simt, &sm->waiting_lanes[w], pc + 1);
}

/* Branches, barriers, fences, exits and all that is no arithmetic and no access. */
void sm_execute_control(Sm *sm, uint32_t w, const Inst *inst, uint32_t pc);

#endif
