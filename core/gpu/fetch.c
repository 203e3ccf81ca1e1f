/* Instruction buffers: one warp with an empty buffer is fetched per cycle, decoded in the next, and can issue
 * in the one after. */
#include "core/gpu/sm.h"

/* One word after the other on purpose: a word of `pending` has just been written, and a vector load over it
 * would wait until that store has left the host's store buffer. */
static bool names_conflict(const Warp *warp, const Inst *inst) {
    uint64_t common = 0;
    for (uint32_t i = 0; i < SCOREBOARD_NAMES / 64; i++) {
        common |= warp->pending[i] & inst->names[i];
        __asm__("" : "+r"(common));
    }
    return common != 0;
}

/* Atomics on global memory change memory only when they reach the L2 slice, loads and stores at issue: a
 * warp's own program order is kept by letting the latter wait. */
static bool waits_for_atomics(const Warp *warp, const Inst *inst) {
    return warp->atomics_in_flight && (inst->kind == INST_LOAD || inst->kind == INST_STORE) &&
           (inst->space == SPACE_GLOBAL || inst->space == SPACE_GENERIC);
}

static void set_bit(WarpSet *set, uint32_t warp, bool on) {
    *set = (*set & ~warp_bit(warp)) | (WarpSet)on << warp;
}

void sm_update_head(Sm *sm, uint32_t w) {
    const Warp *warp = &sm->warp[w];
    if (warp->buffered == 0) return;
    const Inst *inst = sm_inst(sm, sm->warp[w].simt.top.pc);
    set_bit(&sm->blocked, w, names_conflict(warp, inst) || waits_for_atomics(warp, inst));
    set_bit(&sm->head_memory, w, inst->timing == TIMING_MEM);
    set_bit(&sm->head_sfu, w, sm->timing[inst->timing].unit == UNIT_SFU);
}

static void empty_buffer(Sm *sm, uint32_t w) {
    sm->warp[w].buffered = 0;
    sm->valid &= ~warp_bit(w);
}

void sm_advance_buffer(Sm *sm, uint32_t w, bool jumped) {
    Warp *warp = &sm->warp[w];
    warp->buffered--;
    if (sm->warp[w].simt.depth == 0) {
        empty_buffer(sm, w);
    } else if (jumped) {
        /* What was fetched behind the jump is found to be wrong a cycle later; had nothing been left in the
         * buffer, the wrong instructions would first have to arrive. */
        sm->refetch[warp->buffered ? 0 : 1] |= warp_bit(w);
        empty_buffer(sm, w);
    } else if (warp->buffered == 0) {
        empty_buffer(sm, w);
        sm->want_fetch |= warp_bit(w);
    } else {
        sm_update_head(sm, w);
    }
}

bool sm_decode(Sm *sm) {
    uint32_t w = sm->decode_warp;
    if (w == NO_WARP) return false;
    uint32_t left = sm->running->kernel->inst_count - sm->warp[w].simt.top.pc;
    sm->decode_warp = NO_WARP;
    sm->warp[w].buffered = (uint8_t)(left < INSTRUCTION_BUFFER ? left : INSTRUCTION_BUFFER);
    sm->valid |= warp_bit(w);
    sm_update_head(sm, w);
    return true;
}

/* Round robin over the warps that want instructions. */
void sm_fetch(Sm *sm) {
    WarpSet wanting = sm->want_fetch;
    if (wanting) {
        WarpSet behind = wanting & ~((warp_bit(sm->last_fetched) << 1) - 1);
        sm->last_fetched = first_warp(behind ? behind : wanting);
        sm->decode_warp = sm->last_fetched;
        sm->want_fetch &= ~warp_bit(sm->last_fetched);
    }
    sm->want_fetch |= sm->refetch[0];
    sm->refetch[0] = sm->refetch[1];
    sm->refetch[1] = 0;
}
