#include "core/gpu/sm/barrier.h"

#include "core/gpu/sm/fault.h"
#include "core/gpu/sm/memcheck.h"

static uint32_t operand(const Sm *sm, const Inst *inst, uint32_t index) {
    const ExecContext *context = sm->context;
    uint32_t lane = context->active ? (uint32_t)__builtin_ctz(context->active) : 0;
    return ((const uint32_t *)operand_lanes(context, inst->src[index]))[lane];
}

/* Lanes whose predicate, the last source of a bar.red, is true. */
static uint32_t voting_lanes(const Sm *sm, const Inst *inst) {
    uint32_t source = inst->src[inst->src_count - 1];
    uint32_t lanes = sm->context->predicates[source & OPERAND_OFFSET];
    return (source & OPERAND_NEGATED ? ~lanes : lanes) & sm->context->active;
}

static void vote(Sm *sm, Barrier *barrier, uint32_t w, const Inst *inst) {
    uint32_t lanes = sm->context->active;
    sm->vote[w] = (BarrierVote){sm_inst_index(sm, w, inst), lanes};
    barrier->voters += (uint32_t)__builtin_popcount(lanes);
    barrier->votes += (uint32_t)__builtin_popcount(voting_lanes(sm, inst));
}

static void write_result(const Sm *sm, uint32_t w, const Inst *inst, const Barrier *barrier) {
    uint32_t lanes = sm->vote[w].lanes;
    if (inst->detail == BARRIER_RED_POPC) {
        uint32_t *count = (uint32_t *)(void *)(sm_registers(sm, w) + inst->dst[0]);
        for (; inst->dst_count && lanes; lanes &= lanes - 1)
            count[__builtin_ctz(lanes)] = barrier->votes;
    } else if (inst->pdst != NO_PREDICATE) {
        bool all = barrier->votes == barrier->voters;
        bool holds = inst->detail == BARRIER_RED_AND ? all : barrier->votes > 0;
        uint32_t *to = sm_predicates(sm, w) + inst->pdst;
        *to = holds ? *to | lanes : *to & ~lanes;
    }
}

static void announce_votes(Sm *sm, const Barrier *barrier) {
    for (WarpSet left = barrier->waiting; left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        if (sm->vote[w].lanes) write_result(sm, w, sm_inst(sm, w, sm->vote[w].inst), barrier);
        sm->vote[w] = (BarrierVote){0};
    }
}

/* All threads of the CTA that live have come, or some. */
COLD static void tell_memcheck(const Sm *sm, const Barrier *barrier) {
    if (!barrier->waiting) return;
    uint32_t slot = sm->warp[first_warp(barrier->waiting)].cta_slot;
    bool is_whole = (sm->cta[slot].warps & sm->live & ~barrier->waiting) == 0;
    memcheck_barrier(sm, slot, barrier->waiting, is_whole);
}

static void release(Sm *sm, Barrier *barrier) {
    if (sm->memcheck) tell_memcheck(sm, barrier);
    if (barrier->voters) announce_votes(sm, barrier);
    sm->waiting &= ~barrier->waiting;
    object_emit(&sm->obj, SM_WARPS_CHANGED, 0);
    *barrier = (Barrier){0};
}

/* Without a count, a barrier is complete when every warp of the CTA that still lives has arrived: threads
 * that have exited do not hold it up. */
static bool complete(const Sm *sm, const Cta *cta, const Barrier *barrier) {
    if (!barrier->present) return false;
    if (barrier->threads) return barrier->present >= barrier->threads;
    return (cta->warps & sm->live & ~barrier->waiting) == 0;
}

/* --- barrier.cluster ------------------------------------------------------------------------- */

static void end_phase_if_complete(Sm *sm, Cta *cta) {
    SplitBarrier *split = &cta->cluster;
    if (!split->arrived || cta->warps & sm->live & ~split->arrived) return;
    split->passed |= split->arrived & ~split->waiting;
    if (split->waiting) object_emit(&sm->obj, SM_WARPS_CHANGED, 0);
    if (sm->memcheck)
        memcheck_barrier(sm, sm->warp[first_warp(split->arrived)].cta_slot, split->arrived, true);
    sm->waiting &= ~split->waiting;
    split->arrived = split->waiting = 0;
}

static void cluster_arrive(Sm *sm, Cta *cta, uint32_t w) {
    cta->cluster.arrived |= warp_bit(w);
    cta->cluster.passed &= ~warp_bit(w);
    sm->barriers++;
    end_phase_if_complete(sm, cta);
    sm_warps_changed(sm);
}

/* Who has not arrived has nothing to wait for. */
static void cluster_wait(Sm *sm, Cta *cta, uint32_t w) {
    SplitBarrier *split = &cta->cluster;
    bool must_wait = split->arrived & ~split->passed & warp_bit(w);
    split->passed &= ~warp_bit(w);
    if (!must_wait) return;
    split->waiting |= warp_bit(w);
    sm->waiting |= warp_bit(w);
    object_emit(&sm->obj, SM_WARPS_CHANGED, 0);
    sm_warps_changed(sm);
}

/* --- Named barriers -------------------------------------------------------------------------- */

COLD static void meet_illegal_number(Sm *sm, uint32_t w, const Inst *inst, uint32_t id) {
    ExecContext *context = sm->context;
    context->fault = FAULT_NO_BARRIER;
    context->fault_lane = (uint32_t)__builtin_ctz(context->active);
    context->fault_space = SPACE_NONE;
    context->fault_address = id;
    sm_meet_fault(sm, w, inst);
}

void barrier_arrive(Sm *sm, uint32_t w, const Inst *inst) {
    Cta *cta = &sm->cta[sm->warp[w].cta_slot];
    if (inst->detail == BARRIER_CLUSTER_ARRIVE) return cluster_arrive(sm, cta, w);
    if (inst->detail == BARRIER_CLUSTER_WAIT) return cluster_wait(sm, cta, w);
    uint32_t id = inst->src_count > 0 ? operand(sm, inst, 0) : 0;
    if (__builtin_expect(id >= NAMED_BARRIERS, 0)) {
        meet_illegal_number(sm, w, inst, id);
        return;
    }
    Barrier *barrier = &cta->barrier[id];
    bool votes = inst->detail >= BARRIER_RED_POPC;
    if (inst->src_count > 1u + votes) barrier->threads = operand(sm, inst, 1);
    if (votes) vote(sm, barrier, w, inst);
    barrier->present += WARP_LANES;
    if (inst->detail != BARRIER_ARRIVE) {
        barrier->waiting |= warp_bit(w);
        sm->waiting |= warp_bit(w);
        object_emit(&sm->obj, SM_WARPS_CHANGED, 0);
    }
    sm->barriers++;
    if (complete(sm, cta, barrier)) release(sm, barrier);
    sm_warps_changed(sm);
}

void sm_check_barriers(Sm *sm, Cta *cta) {
    for (uint32_t i = 0; i < NAMED_BARRIERS; i++)
        if (complete(sm, cta, &cta->barrier[i])) release(sm, &cta->barrier[i]);
    end_phase_if_complete(sm, cta);
}
