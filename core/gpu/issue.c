/* Warp schedulers: each picks one of its ready warps per cycle, and each slot that stays empty has one
 * cause. */
#include "core/gpu/sm.h"

typedef enum { ORDER_LRR, ORDER_GTO } SchedulerOrder;

static uint32_t pick_round_robin(const Scheduler *sched, WarpSet ready) {
    WarpSet behind = ready & ~((warp_bit(sched->last) << 1) - 1);
    return first_warp(behind ? behind : ready);
}

static uint32_t pick_greedy_then_oldest(const Sm *sm, const Scheduler *sched, WarpSet ready) {
    return ready >> sched->last & 1 ? sched->last : sm_oldest(sm, ready);
}

/* Warps whose first instruction has its operands. */
static WarpSet ready_warps(const Sm *sm, const Scheduler *sched, WarpSet waiting) {
    return sched->warps & sm->valid & ~sm->blocked & ~waiting;
}

/* Of these, the ones that policies allow and whose unit takes an instruction now. */
static WarpSet allowed_warps(const Sm *sm, WarpSet ready) {
    return ready & sm->may_issue & (sm->may_issue_memory | ~sm->head_memory);
}

static WarpSet issuable_warps(const Sm *sm, WarpSet allowed, uint64_t cycle, uint64_t now) {
    WarpSet memory = allowed & sm->head_memory, sfu = allowed & sm->head_sfu, sp = allowed & ~memory & ~sfu;
    if (memory && (!collector_accepts(&sm->collector, UNIT_MEM, cycle) || !link_can_send(sm->lsu.send, now) ||
                   sm->payloads_in_use == sm->atomic_payloads))
        allowed &= ~memory;
    if (sfu && !collector_accepts(&sm->collector, UNIT_SFU, cycle)) allowed &= ~sfu;
    if (sp && !collector_accepts(&sm->collector, UNIT_SP, cycle)) allowed &= ~sp;
    return allowed;
}

static SlotCause cause_of_idleness(const Sm *sm, const Scheduler *sched, WarpSet waiting, WarpSet ready,
                                   WarpSet allowed) {
    WarpSet mine = sched->warps, decoded = mine & sm->valid & ~waiting;
    if (allowed & sm->head_memory) return SLOT_LSU;
    if (allowed) return SLOT_UNIT;
    if (ready) return SLOT_POLICY;
    if (!mine) return SLOT_IDLE;
    if (decoded & sm->loading) return SLOT_MEMORY;
    if (decoded) return SLOT_SCOREBOARD;
    return mine & waiting ? SLOT_BARRIER : SLOT_FETCH;
}

static SlotCause run_scheduler(Sm *sm, Scheduler *sched, WarpSet waiting, uint64_t cycle, uint64_t now) {
    WarpSet ready = ready_warps(sm, sched, waiting), allowed = allowed_warps(sm, ready);
    WarpSet issuable = allowed ? issuable_warps(sm, allowed, cycle, now) : 0;
    if (!issuable) return cause_of_idleness(sm, sched, waiting, ready, allowed);
    sched->last = sm->scheduler == ORDER_GTO ? pick_greedy_then_oldest(sm, sched, issuable)
                                             : pick_round_robin(sched, issuable);
    sm_execute(sm, sched->last, cycle, now);
    return SLOT_ISSUED;
}

void sm_issue(Sm *sm, uint64_t cycle, uint64_t now) {
    uint32_t which = (uint32_t)(cycle % sm->schedulers); /* their order rotates */
    WarpSet waiting = sm->waiting; /* who is released in this cycle may issue in the next */
    for (uint32_t i = 0; i < sm->schedulers; i++) {
        SlotCause cause = run_scheduler(sm, &sm->sched[which], waiting, cycle, now);
        sm->slots[cause]++;
        sm->slot_cause[which] = cause;
        if (++which == sm->schedulers) which = 0;
    }
}
