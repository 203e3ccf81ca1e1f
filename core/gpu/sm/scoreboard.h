/* The scoreboard, and what issue knows of each warp's next instruction: sets of warps that follow from it. */
#ifndef WW_GPU_SCOREBOARD_H
#define WW_GPU_SCOREBOARD_H

#include "core/gpu/sm/sm.h"

/* Names of which a word stands for each. Most kernels have two words at most: of these no more are asked. One word after the
 * other on purpose: a word of `pending` has just been written, and a vector load over it would wait until that store has
 * left the host's store buffer. */
static inline uint64_t common_in_two(const Warp *warp, const Inst *inst) {
    uint64_t common = warp->pending[0] & inst->names[0];
    __asm__("" : "+r"(common));
    return common | (warp->pending[1] & inst->names[1]);
}

static inline uint64_t common_in_others(const Warp *warp, const Inst *inst) {
    uint64_t common = 0;
    for (uint32_t i = 2; i < SCOREBOARD_NAMES / 64; i++) {
        common |= warp->pending[i] & inst->names[i];
        __asm__("" : "+r"(common));
    }
    return common;
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

/* `common`: names of it that are pending. Without a branch on whether there are any. */
static inline void set_blocked(Sm *sm, uint32_t w, const Warp *warp, const Inst *inst, uint64_t common) {
    uint32_t conflict = common != 0;
    set_warp(&sm->blocked, w, conflict | waits_for_atomics(sm, warp, inst));
}

/* Computes anew whether the instruction, the warp's next one, can issue: call when the scoreboard changed. */
static inline void update_blocked(Sm *sm, uint32_t w, const Warp *warp, const Inst *inst) {
    uint64_t common = common_in_two(warp, inst);
    if (__builtin_expect(sm->kernels.name_words > 2, 0)) common |= common_in_others(warp, inst);
    set_blocked(sm, w, warp, inst, common);
}

static inline void show_unit(Sm *sm, uint32_t w, const Inst *inst) {
    uint32_t unit = sm->timing[inst->timing].unit;
    set_warp(&sm->head_sfu, w, unit == UNIT_SFU);
    if (sm->kernels.other_units != SEVERAL_UNITS) return;
    set_warp(&sm->head_int, w, unit == UNIT_INT);
    set_warp(&sm->head_dp, w, unit == UNIT_DP);
    set_warp(&sm->head_matrix, w, unit == UNIT_MATRIX);
}

/* The warp's next instruction is this one, decoded or not: what issue asks of it is known from now on. */
static inline void show_instruction(Sm *sm, uint32_t w, const Warp *warp, const Inst *inst) {
    uint64_t common = common_in_two(warp, inst);
    set_warp(&sm->head_memory, w, inst->timing == TIMING_MEM);
    if (sm->kernels.shows_more) {
        if (sm->kernels.other_units) show_unit(sm, w, inst);
        if (sm->kernels.name_words > 2) common |= common_in_others(warp, inst);
    }
    set_blocked(sm, w, warp, inst, common);
}

/* Most instructions write one register, some none: no branch tells these apart, the host could not predict
 * it. */
static inline uint64_t first_out_name(const Inst *inst) {
    return (uint64_t)inst->has_out_name << (inst->out_names[0] % 64);
}

static inline void set_first_pending(uint64_t *pending, const Inst *inst) {
    pending[inst->out_word] |= first_out_name(inst);
}

/* Where it writes more names than one: INST_WRITES_MORE_NAMES. */
static __attribute__((noinline, unused)) void set_others_pending(uint64_t *pending, const Inst *inst) {
    for (uint32_t i = 1; i < inst->out_name_count; i++)
        pending[inst->out_names[i] / 64] |= 1ull << (inst->out_names[i] % 64);
}

static inline void clear_others_pending(uint64_t *pending, const Inst *inst) {
    for (uint32_t i = 1; i < inst->out_name_count; i++)
        pending[inst->out_names[i] / 64] &= ~(1ull << (inst->out_names[i] % 64));
}

static inline void clear_first_pending(uint64_t *pending, const Inst *inst) {
    pending[inst->out_word] &= ~first_out_name(inst);
}

#endif
