#include "core/gpu/barrier.h"

static uint32_t operand(const Sm *sm, const Inst *inst, uint32_t index) {
    uint32_t source = inst->src[index];
    const ExecContext *context = sm->context;
    uint32_t lane = context->active ? (uint32_t)__builtin_ctz(context->active) : 0;
    return ((const uint32_t *)(const void *)(context->bank[source >> 31] + (source & OPERAND_OFFSET)))[lane];
}

static void release(Sm *sm, Barrier *barrier) {
    sm->waiting &= ~barrier->waiting;
    object_tell(&sm->obj, SM_WARPS_CHANGED, 0, 0, 0, 0);
    *barrier = (Barrier){0};
}

/* Without a count, a barrier is complete when every warp of the CTA that still lives has arrived: threads
 * that have exited do not hold it up. */
static bool complete(const Sm *sm, const Cta *cta, const Barrier *barrier) {
    if (!barrier->present) return false;
    if (barrier->threads) return barrier->present >= barrier->threads;
    return (cta->warps & sm->live & ~barrier->waiting) == 0;
}

void barrier_arrive(Sm *sm, uint32_t w, const Inst *inst) {
    Cta *cta = &sm->cta[sm->warp[w].cta_slot];
    uint32_t id = inst->src_count > 0 ? operand(sm, inst, 0) : 0;
    if (id >= NAMED_BARRIERS)
        user_error("%s: kernel %s, line %u: barrier %u does not exist; legal are 0 to %d", sm->obj.path,
                   sm->running->kernel->name, inst->line, id, NAMED_BARRIERS - 1);
    Barrier *barrier = &cta->barrier[id];
    if (inst->src_count > 1) barrier->threads = operand(sm, inst, 1);
    barrier->present += WARP_LANES;
    if (inst->detail == BARRIER_SYNC) {
        barrier->waiting |= warp_bit(w);
        sm->waiting |= warp_bit(w);
        object_tell(&sm->obj, SM_WARPS_CHANGED, 0, 0, 0, 0);
    }
    sm->barriers++;
    if (complete(sm, cta, barrier)) release(sm, barrier);
    sm_update_allowed(sm);
}

void sm_check_barriers(Sm *sm, Cta *cta) {
    for (uint32_t i = 0; i < NAMED_BARRIERS; i++)
        if (complete(sm, cta, &cta->barrier[i])) release(sm, &cta->barrier[i]);
}
