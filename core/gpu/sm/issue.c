/* Warp schedulers: each picks one of its ready warps per cycle, and each slot that stays empty has one
 * cause. */
#include "core/gpu/sm/sm.h"

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

/* Two-level scheduling: stays with a group until none of its warps is ready. Then group_order says which
 * group comes next: the one of the oldest ready warp, or in turn the next one with a ready warp; it is also
 * the order within the group. */
static uint32_t pick_by_group(const Sm *sm, const Scheduler *sched, WarpSet ready) {
    WarpSet mine = ready & group_of(sm, sched->last), from = mine ? mine : ready;
    return sm->group_order == ORDER_LRR ? pick_round_robin(sched, from)
                                        : pick_greedy_then_oldest(sm, sched, from);
}

static inline __attribute__((always_inline)) uint32_t pick(const Sm *sm, const Scheduler *sched,
                                                           WarpSet ready) {
    if (sm->scheduler == ORDER_GTO) return pick_greedy_then_oldest(sm, sched, ready);
    if (sm->scheduler == ORDER_LRR) return pick_round_robin(sched, ready);
    return sm->scheduler == ORDER_OLDEST ? sm_oldest(sm, ready) : pick_by_group(sm, sched, ready);
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

WarpSet oldest_warps(const WarpSet *cta_by_age, uint32_t ctas, WarpSet set, uint32_t n) {
    WarpSet oldest = 0;
    for (uint32_t i = 0; i < ctas && n; i++)
        for (WarpSet of_cta = cta_by_age[i] & set; of_cta && n; of_cta &= of_cta - 1, n--)
            oldest |= of_cta & -of_cta;
    return oldest;
}

/* Warps that others of their CTA wait for at a barrier. */
static WarpSet lagging_warps(const Sm *sm) {
    WarpSet at_barrier = sm->waiting & ~(sm->fencing | sm->gates.parked), lagging = 0;
    for (uint32_t i = 0; at_barrier && i < sm->resident; i++)
        if (sm->cta_by_age[i] & at_barrier) lagging |= sm->cta_by_age[i] & ~at_barrier;
    return lagging;
}

#define PICKS (1u << SM_PICK | 1u << SM_ISSUE)

/* Has a policy a say in which warps may issue and which of them does, or does one listen? Nothing that
 * happens in a cycle changes this. */
static inline bool is_guided(const Sm *sm) {
    uint64_t restricted = (sm->allowed & sm->may_issue_memory & sm->may_load & sm->preferred) + 1;
    return (restricted | sm->first | (sm->obj.heard & PICKS) | (sm->warp_limit < MAX_WARPS)) != 0;
}

void sm_update_allowed(Sm *sm) {
    WarpSet within = ~0ull;
    if (sm->warp_limit < MAX_WARPS) {
        within = lagging_warps(sm);
        for (uint32_t i = 0; i < sm->schedulers; i++)
            within |= oldest_warps(sm->cta_by_age, sm->resident, sm->sched[i].warps, sm->warp_limit);
    }
    sm->allowed = sm->may_issue & within;
    if (!is_guided(sm)) sm->head_known = 0; /* unguided issue does not care for it */
}

/* For what policies have a say in: out of the way of the SMs without one, and as fast as they are. */
#define GUIDED __attribute__((noinline))

SELDOM static uint32_t pick_and_tell(Sm *sm, const Scheduler *sched, WarpSet ready) {
    int64_t warp = NO_ANSWER;
    if (object_is_heard(&sm->obj, SM_PICK))
        warp = event_ask(&sm->obj, SM_PICK, sched - sm->sched, (int64_t)ready, 0, 0);
    bool good = warp >= 0 && warp < MAX_WARPS && ready >> warp & 1;
    uint32_t picked = good ? (uint32_t)warp : pick(sm, sched, ready);
    object_tell(&sm->obj, SM_ISSUE, picked, sm->warp[picked].simt.top.pc, 0, 0);
    return picked;
}

static inline uint32_t guided_pick(Sm *sm, const Scheduler *sched, WarpSet ready) {
    ready = narrow(sm, ready);
    return sm->obj.heard & PICKS ? pick_and_tell(sm, sched, ready) : pick(sm, sched, ready);
}

/* Of a set whose next instructions are for the LSU: loads and atomics that go to L1 and beyond. */
GUIDED static WarpSet find_loads(const Sm *sm, WarpSet set) {
    const uint32_t spaces = 1u << SPACE_GLOBAL | 1u << SPACE_LOCAL | 1u << SPACE_GENERIC;
    WarpSet loads = 0;
    for (; set; set &= set - 1) {
        uint32_t w = first_warp(set);
        const Inst *inst = sm_inst(sm, sm->warp[w].simt.top.pc);
        bool reads = inst->kind == INST_LOAD || inst->kind == INST_ATOMIC;
        if (reads && (spaces >> inst->space & 1)) loads |= warp_bit(w);
    }
    return loads;
}

/* Those that may not load are ready for long, and stand at the same instruction: it is looked at once. */
static inline WarpSet loads_among(Sm *sm, WarpSet set) {
    WarpSet unknown = set & ~sm->head_known;
    if (unknown) {
        sm->head_loads = (sm->head_loads & ~unknown) | find_loads(sm, unknown);
        sm->head_known |= unknown;
    }
    debug_ensure((sm->head_loads & set) == find_loads(sm, set));
    return sm->head_loads & set;
}

/* Without those that may not load. */
static inline WarpSet may_issue_next(const Sm *sm, WarpSet ready) {
    return ready & sm->allowed & (sm->may_issue_memory | ~sm->head_memory);
}

static inline WarpSet restricted_warps(Sm *sm, WarpSet ready) {
    WarpSet allowed = may_issue_next(sm, ready), memory = allowed & sm->head_memory & ~sm->may_load;
    return memory ? allowed & ~loads_among(sm, memory) : allowed;
}

bool sm_policy_allows(const Sm *sm, uint32_t w) {
    WarpSet allowed = may_issue_next(sm, warp_bit(w)), memory = allowed & sm->head_memory & ~sm->may_load;
    return (allowed & ~find_loads(sm, memory)) != 0;
}

static inline WarpSet all_or_none(bool all) {
    return -(WarpSet)all;
}

/* Of these, the ones whose unit takes an instruction now. No branch: the host could not predict it. */
static inline __attribute__((always_inline)) WarpSet issuable_warps(const Sm *sm, WarpSet allowed,
                                                                    uint64_t cycle, uint64_t now) {
    WarpSet memory = all_or_none(collector_accepts(&sm->collector, UNIT_MEM, cycle)) &
                     all_or_none(link_can_send(sm->lsu.send, now)) &
                     all_or_none(sm->payloads_in_use != sm->atomic_payloads),
            sfu = all_or_none(collector_accepts(&sm->collector, UNIT_SFU, cycle)),
            sp = all_or_none(collector_accepts(&sm->collector, UNIT_SP, cycle));
    WarpSet takes = (memory & sm->head_memory) | (sfu & sm->head_sfu) |
                    (sp & ~(sm->head_memory | sm->head_sfu));
    return allowed & takes;
}

/* Of several causes the slot has the first. That a unit took nothing keeps the SM awake behind an LSU stall,
 * too, and so stands in `causes` in any case. */
static SlotCause cause_of_idleness(const Sm *sm, const Scheduler *sched, WarpSet waiting, WarpSet ready,
                                   WarpSet allowed, uint32_t *causes) {
    WarpSet mine = sched->warps, decoded = mine & sm->valid & ~waiting;
    if (allowed & ~sm->head_memory) *causes |= 1u << SLOT_UNIT;
    if (allowed & sm->head_memory) return SLOT_LSU;
    if (allowed) return SLOT_UNIT;
    if (ready) return SLOT_POLICY;
    if (!mine) return SLOT_IDLE;
    if (decoded & sm->loading) return SLOT_MEMORY;
    if (decoded) return SLOT_SCOREBOARD;
    if (mine & waiting & sm->gates.parked) return SLOT_GATE;
    return mine & waiting ? SLOT_BARRIER : SLOT_FETCH;
}

/* Does the scheduler issue one of its warps, sched->last? Else the cause why not. */
static inline SlotCause choose_warp(Sm *sm, Scheduler *sched, WarpSet all_ready, WarpSet waiting,
                                    uint64_t cycle, uint64_t now, uint32_t *causes) {
    WarpSet ready = all_ready & sched->warps,
            issuable = all_ready ? issuable_warps(sm, ready, cycle, now) : 0;
    if (!issuable) return cause_of_idleness(sm, sched, waiting, ready, ready, causes);
    sched->last = pick(sm, sched, issuable);
    return SLOT_ISSUED;
}

static inline SlotCause choose_guided(Sm *sm, Scheduler *sched, WarpSet ready, WarpSet waiting,
                                      uint64_t cycle, uint64_t now, uint32_t *causes) {
    WarpSet allowed = restricted_warps(sm, ready),
            issuable = allowed ? issuable_warps(sm, allowed, cycle, now) : 0;
    if (!issuable) return cause_of_idleness(sm, sched, waiting, ready, allowed, causes);
    sched->last = guided_pick(sm, sched, issuable);
    sm->head_known &= ~warp_bit(sched->last);
    return gates_let_issue(&sm->gates, sched->last, cycle, now) ? SLOT_ISSUED : SLOT_GATE;
}

/* Their order rotates. */
static inline uint32_t first_scheduler(const Sm *sm, uint64_t cycle) {
    bool power_of_two = (sm->schedulers & (sm->schedulers - 1)) == 0; /* else a division */
    return (uint32_t)(power_of_two ? cycle & (sm->schedulers - 1) : cycle % sm->schedulers);
}

uint32_t sm_issue(Sm *sm, uint64_t cycle, uint64_t now) {
    uint32_t which = first_scheduler(sm, cycle), causes = 0;
    bool guided = is_guided(sm);
    /* Who is released in this cycle may issue in the next; else a scheduler changes nothing for the warps of
     * another, but that a transfer which it starts is to be watched at once. */
    WarpSet waiting = sm->waiting, ready = sm->valid & ~sm->blocked & ~waiting;
    for (uint32_t i = 0; i < sm->schedulers; i++) {
        Scheduler *sched = &sm->sched[which];
        SlotCause cause = __builtin_expect(guided | (sm->gates.at_work != 0), 0)
                              ? choose_guided(sm, sched, ready & sched->warps, waiting, cycle, now, &causes)
                              : choose_warp(sm, sched, ready, waiting, cycle, now, &causes);
        if (cause == SLOT_ISSUED) sm_execute(sm, sched->last, cycle, now);
        sm->slots[cause]++;
        sm->slot_cause[which] = cause;
        causes |= 1u << cause;
        which = (which + 1) & -(uint32_t)(which + 1 != sm->schedulers);
    }
    return causes;
}
