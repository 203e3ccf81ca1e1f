/* Warp schedulers: each picks one of its ready warps per cycle, and each slot that stays empty has one
 * cause. */
#include "core/gpu/sm.h"

static uint32_t pick_round_robin(const Scheduler *sched, WarpSet ready) {
    WarpSet behind = ready & ~((warp_bit(sched->last) << 1) - 1);
    return first_warp(behind ? behind : ready);
}

static uint32_t pick_greedy_then_oldest(const Sm *sm, const Scheduler *sched, WarpSet ready) {
    return ready >> sched->last & 1 ? sched->last : sm_oldest(sm, ready);
}

/* The warps of this scheduler in the fetch group of a warp: groups are of neighbouring warp slots. */
static WarpSet group_of(const Sm *sm, uint32_t warp) {
    uint32_t slots = sm->group_size * sm->schedulers, first = warp / slots * slots;
    WarpSet from_first = ~0ull << first;
    return first + slots >= MAX_WARPS ? from_first : from_first & ((1ull << (first + slots)) - 1);
}

/* Two-level scheduling: stays with a group until none of its warps is ready, then goes to that of the oldest
 * ready warp; greedy then oldest within a group. */
static uint32_t pick_by_group(const Sm *sm, const Scheduler *sched, WarpSet ready) {
    WarpSet mine = ready & group_of(sm, sched->last);
    return pick_greedy_then_oldest(sm, sched, mine ? mine : ready);
}

static uint32_t pick(const Sm *sm, const Scheduler *sched, WarpSet ready) {
    switch ((SchedulerOrder)sm->scheduler) {
    case ORDER_LRR: return pick_round_robin(sched, ready);
    case ORDER_OLDEST: return sm_oldest(sm, ready);
    case ORDER_GROUPS: return pick_by_group(sm, sched, ready);
    default: return pick_greedy_then_oldest(sm, sched, ready);
    }
}

/* The answer of a policy; the present order when it gives none that is ready. */
static uint32_t ask_for_pick(Sm *sm, const Scheduler *sched, WarpSet ready) {
    int64_t warp = event_ask(&sm->obj, SM_PICK, sched - sm->sched, (int64_t)ready, 0, 0);
    return warp >= 0 && warp < MAX_WARPS && ready >> warp & 1 ? (uint32_t)warp : pick(sm, sched, ready);
}

/* Of several ready warps, those that policies want first: the preferred, and of them those with a memory or a
 * compute instruction. */
static WarpSet narrow(const Sm *sm, WarpSet ready) {
    WarpSet preferred = ready & sm->preferred;
    if (preferred) ready = preferred;
    if (sm->first == FIRST_ANY) return ready;
    WarpSet wanted = ready & (sm->first == FIRST_MEMORY ? sm->head_memory : ~sm->head_memory);
    return wanted ? wanted : ready;
}

/* Warps whose first instruction has its operands. */
static WarpSet ready_warps(const Sm *sm, const Scheduler *sched, WarpSet waiting) {
    return sched->warps & sm->valid & ~sm->blocked & ~waiting;
}

/* Of these, the ones that policies allow and whose unit takes an instruction now. */
static WarpSet allowed_warps(const Sm *sm, WarpSet ready) {
    return ready & sm->may_issue & (sm->may_issue_memory | ~sm->head_memory) &
           (sm->may_load | ~sm->head_load);
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
    if (sm->first | (sm->preferred + 1)) issuable = narrow(sm, issuable); /* + 1: 0 when all are preferred */
    sched->last = object_is_heard(&sm->obj, SM_PICK) ? ask_for_pick(sm, sched, issuable)
                                                     : pick(sm, sched, issuable);
    object_tell(&sm->obj, SM_ISSUE, sched->last, sm->warp[sched->last].simt.top.pc, 0, 0);
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
