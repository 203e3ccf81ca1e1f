/* Starting and finishing CTAs and their warps. */
#include "core/gpu/sm/memcheck.h"
#include "core/sim/sim.h"

#include <string.h>

static uint32_t lanes_of_warp(const RunningKernel *running, uint32_t warp_in_cta) {
    uint32_t left = running->threads_per_cta - warp_in_cta * WARP_LANES;
    return left >= WARP_LANES ? ~0u : (1u << left) - 1;
}

static void fill_specials(Sm *sm, uint32_t w, const Cta *cta, uint32_t warp_in_cta) {
    const RunningKernel *running = sm_kernel_of(sm, w);
    WarpIdentity identity = {
        .warp_in_cta = warp_in_cta,
        .sm = sm->number,
        .sm_count = sm->sm_count,
        .warp_slot = w,
        .grid = running->launch,
        .dynamic_shared_bytes = running->dynamic_shared_bytes,
        .total_shared_bytes = running->shared_bytes,
    };
    memcpy(identity.ctaid, cta->ctaid, sizeof identity.ctaid);
    memcpy(identity.nctaid, running->grid, sizeof identity.nctaid);
    memcpy(identity.ntid, running->block, sizeof identity.ntid);
    exec_fill_specials(running->kernel->specials, running->kernel->special_count, &identity,
                       sm_registers(sm, w));
}

static void start_warp(Sm *sm, uint32_t w, uint32_t slot, uint32_t warp_in_cta) {
    const RunningKernel *running = sm_kernel_of_slot(sm, slot);
    const Kernel *kernel = running->kernel;
    sm->warp[w] = (Warp){.cta_slot = (uint8_t)slot,
                         .warp_in_cta = (uint8_t)warp_in_cta,
                         .cta_number = (uint32_t)sm->ctas_started};
    sm_give_kernel(sm, w);
    uint32_t *predicates = sm_predicates(sm, w);
    memset(sm_registers(sm, w), 0, (size_t)kernel->slots * SLOT_BYTES);
    memset(predicates, 0, kernel->predicates * sizeof *predicates);
    predicates[TRUE_PREDICATE] = ~0u;
    simt_start(&sm->warp[w].simt, lanes_of_warp(running, warp_in_cta), kernel->inst_count);
    fill_specials(sm, w, &sm->cta[slot], warp_in_cta);
    sm->async[w] = (AsyncCopies){.committed = 0};
    sm->paths[w] = (Paths){0};
    sm->turn[w] = (SpinTurn){0};
    sm->vote[w] = (BarrierVote){0}; /* a launch without timing that failed may have left one */
    sm->live |= warp_bit(w);
    sm->want_fetch |= warp_bit(w);
    sm_show_next(sm, w);
    sm->sched[w % sm->schedulers].warps |= warp_bit(w);
}

/* Of one kernel, the warps of a slot are always the same; of several, the first ones that no CTA has. */
static WarpSet warps_for(const Sm *sm, uint32_t slot, uint32_t count) {
    WarpSet free_warps = ~(WarpSet)0 << (sm->kernels.are_several ? 0 : slot * count), warps = 0;
    for (uint32_t i = 0; i < sm->resident; i++)
        free_warps &= ~sm->cta_by_age[i];
    for (; count; count--, free_warps &= free_warps - 1)
        warps |= free_warps & -free_warps;
    return warps;
}

static Cta *begin_cta(Sm *sm, const CtaStart *start) {
    const RunningKernel *running = sm->launched[start->kernel];
    Cta *cta = &sm->cta[start->slot];
    *cta = (Cta){.kernel = start->kernel, .unfinished = running->warps_per_cta};
    memcpy(cta->ctaid, start->ctaid, sizeof cta->ctaid);
    cta->warps = warps_for(sm, start->slot, running->warps_per_cta);
    memset(sm->shared_memory + (size_t)start->slot * sm->kernels.shared_bytes, 0, running->shared_bytes);
    return cta;
}

__attribute__((noinline)) void sm_start_cta(Sm *sm, const CtaStart *start) {
    uint32_t slot = start->slot, number = 0;
    Cta *cta = begin_cta(sm, start);
    for (WarpSet left = cta->warps; left; left &= left - 1)
        start_warp(sm, first_warp(left), slot, number++);
    sm->cta_by_age[sm->resident++] = cta->warps;
    sm->ctas_started++;
    gates_cta_starts(&sm->gates, slot);
    if (sm->memcheck) memcheck_cta_starts(sm, slot);
    sm_warps_changed(sm);
    object_emit(&sm->obj, SM_CTA_START, slot, (int64_t)cta->warps);
    object_emit(&sm->obj, SM_WARPS_CHANGED, 0);
}

uint32_t sm_resident_slots(const Sm *sm) {
    uint32_t slots = 0;
    /* A check asks, too, of an SM whose state may be broken. */
    for (uint32_t i = 0; i < sm->resident && sm->cta_by_age[i]; i++)
        slots |= 1u << sm->warp[first_warp(sm->cta_by_age[i])].cta_slot;
    return slots;
}

void sm_accept_cta(Sm *sm, uint64_t now) {
    const CtaStart *start = link_peek(sm->dispatch.receive, now);
    if (!start) return;
    sm_start_cta(sm, start);
    if (sm->running->aborted) sm_abort(sm, now);
    link_pop(sm->dispatch.receive, now);
    object_progress(&sm->obj);
}

static void forget_age(Sm *sm, WarpSet warps) {
    uint32_t at = 0;
    while (sm->cta_by_age[at] != warps)
        at++;
    sm->resident--;
    memmove(sm->cta_by_age + at, sm->cta_by_age + at + 1, (sm->resident - at) * sizeof(WarpSet));
}

void sm_end_cta_untimed(Sm *sm, uint32_t slot) {
    forget_age(sm, sm->cta[slot].warps);
    sm->cta[slot].warps = 0;
}

/* All its warps have left, and nothing of it is in flight. */
static void end_cta(Sm *sm, uint32_t slot) {
    gates_cta_ends(&sm->gates, slot, object_cycle(&sm->obj, sm->obj.cluster->now));
    object_emit(&sm->obj, SM_CTA_END, slot, (int64_t)sm->cta[slot].warps);
    forget_age(sm, sm->cta[slot].warps);
    sm->ctas_finished++;
    sm->finished_ctas |= 1u << slot;
}

__attribute__((noinline)) void sm_retire_warp(Sm *sm, uint32_t w) {
    uint32_t slot = sm->warp[w].cta_slot;
    object_emit(&sm->obj, SM_WARP_END, w);
    object_emit(&sm->obj, SM_WARPS_CHANGED, 0);
    if (--sm->cta[slot].unfinished) return;
    if (gates_keep_cta(&sm->gates, slot))
        sm->ending |= 1u << slot;
    else
        end_cta(sm, slot);
}

void sm_release_cta(Sm *sm, uint32_t slot) {
    if (!(sm->ending >> slot & 1) || gates_keep_cta(&sm->gates, slot)) return;
    sm->ending &= ~(1u << slot);
    end_cta(sm, slot);
}

void sm_report_finished_cta(Sm *sm, uint64_t now) {
    if (!sm->finished_ctas || !link_can_send(sm->dispatch.send, now)) return;
    uint32_t slot = (uint32_t)__builtin_ctz(sm->finished_ctas);
    const Cta *cta = &sm->cta[slot];
    *(CtaDone *)link_send(sm->dispatch.send,
                          now) = (CtaDone){.slot = slot,
                                           .warp_instructions = cta->warp_instructions,
                                           .thread_instructions = cta->thread_instructions};
    sm->finished_ctas &= sm->finished_ctas - 1;
}

/* It waits for nothing any more, and has no instruction. */
static void forget_waits(Sm *sm, WarpSet warps) {
    WarpSet *const sets[] = {&sm->valid,    &sm->blocked,    &sm->waiting,    &sm->fencing,    &sm->copying,
                             &sm->sleeping, &sm->want_fetch, &sm->refetch[0], &sm->refetch[1], &sm->fetched};
    for (uint32_t i = 0; i < sm->gates.count; i++)
        gate_release(sm->gates.gate[i], warps);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        *sets[i] &= ~warps;
}

void sm_abort(Sm *sm, uint64_t now) {
    WarpSet warps = sm->live;
    for (uint32_t slots = sm_resident_slots(sm); slots; slots &= slots - 1) {
        Cta *cta = &sm->cta[__builtin_ctz(slots)];
        memset(cta->barrier, 0, sizeof cta->barrier);
        cta->cluster = (SplitBarrier){0};
    }
    forget_waits(sm, warps);
    for (WarpSet left = warps; left; left &= left - 1) {
        uint32_t w = first_warp(left);
        sm->vote[w] = (BarrierVote){0};
        sm->warp[w].buffered = 0;
        sm_exit_warp(sm, w);
        if (!sm->warp[w].in_flight) sm_retire_warp(sm, w);
    }
    object_poke(&sm->obj, now);
}
