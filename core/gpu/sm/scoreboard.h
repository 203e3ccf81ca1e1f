/* The scoreboard, and what issue knows of each warp's next instruction: sets of warps that follow from it. */
#ifndef WW_GPU_SCOREBOARD_H
#define WW_GPU_SCOREBOARD_H

#include "core/gpu/sm/sm.h"

/* One word after the other on purpose: a word of `pending` has just been written, and a vector load over it would
 * wait until that store has left the host's store buffer. Most kernels have names in the first word only. */
static inline bool names_conflict(const Sm *sm, const Warp *warp, const Inst *inst) {
    uint64_t common = warp->pending[0] & inst->names[0];
    if (sm->kernels.name_words > 1) common |= warp->pending[1] & inst->names[1];
    for (uint32_t i = 2; i < SCOREBOARD_NAMES / 64 && sm->kernels.name_words > 2; i++) {
        common |= warp->pending[i] & inst->names[i];
        __asm__("" : "+r"(common));
    }
    return common != 0;
}

/* Atomics on global memory change memory only when they reach the L2 slice, loads and stores at issue: a
 * warp's own program order is kept by letting the latter wait. */
static inline bool waits_for_atomics(const Sm *sm, const Warp *warp, const Inst *inst) {
    if (__builtin_expect(!warp->atomics_in_flight, 1)) return false;
    return sm->atomics_stall ||
           ((inst->kind == INST_LOAD || inst->kind == INST_STORE) &&
            (inst->space == SPACE_GLOBAL || inst->space == SPACE_GENERIC || inst->space == SPACE_SURFACE));
}

/* The barrier keeps compilers from making one vector operation of several, which takes longer. */
static inline void set_warp(WarpSet *set, uint32_t warp, bool on) {
    WarpSet changed = (*set & ~warp_bit(warp)) | (WarpSet)on << warp;
    __asm__("" : "+r"(changed));
    *set = changed;
}

/* Computes anew whether the instruction, the warp's next one, can issue: call when the scoreboard changed. */
static inline void update_blocked(Sm *sm, uint32_t w, const Warp *warp, const Inst *inst) {
    uint32_t conflict = names_conflict(sm, warp, inst); /* a number, to be combined without a branch */
    set_warp(&sm->blocked, w, conflict | waits_for_atomics(sm, warp, inst));
}

/* The warp's next instruction is this one, decoded or not: what issue asks of it is known from now on. */
static inline void show_instruction(Sm *sm, uint32_t w, const Warp *warp, const Inst *inst) {
    set_warp(&sm->head_memory, w, inst->timing == TIMING_MEM);
    if (sm->kernels.other_units) {
        uint32_t unit = sm->timing[inst->timing].unit;
        set_warp(&sm->head_sfu, w, unit == UNIT_SFU);
        if (sm->kernels.other_units == SEVERAL_UNITS) {
            set_warp(&sm->head_int, w, unit == UNIT_INT);
            set_warp(&sm->head_dp, w, unit == UNIT_DP);
            set_warp(&sm->head_matrix, w, unit == UNIT_MATRIX);
        }
    }
    update_blocked(sm, w, warp, inst);
}

/* Most instructions write one register, some none: no branch tells these apart, the host could not predict
 * it. */
static inline uint64_t first_out_name(const Inst *inst) {
    return (uint64_t)inst->has_out_name << (inst->out_names[0] % 64);
}

static inline void set_pending(Warp *warp, const Inst *inst) {
    warp->pending[inst->out_names[0] / 64] |= first_out_name(inst);
    for (uint32_t i = 1; __builtin_expect(i < inst->out_name_count, 0); i++)
        warp->pending[inst->out_names[i] / 64] |= 1ull << (inst->out_names[i] % 64);
}

static inline void clear_pending(Warp *warp, const Inst *inst) {
    warp->pending[inst->out_names[0] / 64] &= ~first_out_name(inst);
    for (uint32_t i = 1; __builtin_expect(i < inst->out_name_count, 0); i++)
        warp->pending[inst->out_names[i] / 64] &= ~(1ull << (inst->out_names[i] % 64));
}

#endif
