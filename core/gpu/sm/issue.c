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

WarpSet oldest_warps(const WarpSet *cta_by_age, uint32_t ctas, WarpSet set, uint32_t n) {
    WarpSet oldest = 0;
    for (uint32_t i = 0; i < ctas && n; i++)
        for (WarpSet of_cta = cta_by_age[i] & set; of_cta && n; of_cta &= of_cta - 1, n--)
            oldest |= of_cta & -of_cta;
    return oldest;
}

#define PICKS (1u << SM_PICK | 1u << SM_ISSUE | 1u << SM_BRANCH)

COLD static void emit_issue(Sm *sm, uint32_t warp) {
    uint32_t pc = sm->warp[warp].simt.top.pc;
    const Inst *inst = sm_inst(sm, warp, pc);
    uint32_t lanes = sm_active_lanes(sm, warp, inst);
    object_emit(&sm->obj, SM_ISSUE, warp, pc, lanes);
    if (!kind_is_branch(inst->kind)) return;
    object_emit(&sm->obj, SM_BRANCH, warp, pc, lanes, sm->warp[warp].simt.top.lanes & ~lanes);
}

/* Policies that subscribe may pick themselves. */
COLD static uint32_t ask_or_pick(Sm *sm, const Scheduler *sched, WarpSet issuable) {
    int64_t warp = NO_ANSWER;
    if (object_has_subscriber(&sm->obj, SM_PICK))
        warp = event_ask(&sm->obj, SM_PICK, sched - sm->sched, (int64_t)issuable);
    bool good = warp >= 0 && warp < MAX_WARPS && issuable >> warp & 1;
    return good ? (uint32_t)warp : pick(sm, sched, issuable);
}

static inline WarpSet all_or_none(bool all) {
    return -(WarpSet)all;
}

/* `unspent`: nothing has gone to the unit in this cycle. */
static inline bool lsu_accepts(const Sm *sm, uint32_t sub_core, bool unspent, uint64_t cycle, uint64_t now) {
    uint32_t reads = collector_accepts(&sm->collector, sub_core, UNIT_MEM, cycle),
             spent = unspent ? 0 : fixed_is_way_spent(sm->fixed, sm->lsu.send, now),
             sends = fixed_leaves_place(sm->fixed, sm->lsu.send, now) & ~spent,
             has_payload = sm->payloads_in_use != sm->atomic_payloads; /* numbers: no branch */
    return reads & sends & has_payload;
}

/* Of the ready warps of a sub-core, whose next instructions go to SP, SFU and LSU, those whose unit takes one now. No branch
 * on what changes from cycle to cycle: the host could not predict it. */
static inline __attribute__((always_inline)) WarpSet
accepted_warps(const Sm *sm, uint32_t sub_core, WarpSet ready, bool unspent, uint64_t cycle, uint64_t now) {
    WarpSet memory = ready & sm->head_memory, sfu = ready & sm->head_sfu;
    WarpSet accepted = ready & ~memory & ~sfu &
                       all_or_none(collector_accepts(&sm->collector, sub_core, UNIT_SP, cycle));
    accepted |= memory & all_or_none(lsu_accepts(sm, sub_core, unspent, cycle, now));
    if (sfu) accepted |= sfu & all_or_none(collector_accepts(&sm->collector, sub_core, UNIT_SFU, cycle));
    return accepted;
}

/* The same, whatever units there are. */
static inline WarpSet accepted_of_any(const Sm *sm, uint32_t sub_core, WarpSet ready, uint64_t cycle,
                                      uint64_t now) {
    if (sm->kernels.other_units != SEVERAL_UNITS)
        return accepted_warps(sm, sub_core, ready, false, cycle, now);
    const OperandCollector *collector = &sm->collector;
    WarpSet integer = ready & sm->head_int, rare = ready & (sm->head_dp | sm->head_matrix);
    WarpSet accepted = accepted_warps(sm, sub_core, ready & ~integer & ~rare, false, cycle, now);
    accepted |= integer & all_or_none(collector_accepts(collector, sub_core, UNIT_INT, cycle));
    if (!rare) return accepted;
    if (collector_accepts(collector, sub_core, UNIT_DP, cycle)) accepted |= rare & sm->head_dp;
    if (collector_accepts(collector, sub_core, UNIT_MATRIX, cycle)) accepted |= rare & sm->head_matrix;
    return accepted;
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

/* A cycle of issue. Who is released in it may issue in the next; else a scheduler changes nothing for the warps of
 * another, but that a gate may go to work at once, and that a unit takes no more. */
typedef struct {
    uint64_t cycle, now;
    WarpSet waiting, ready, memory, sfu; /* as it began; memory, sfu: warps for the LSU, for the SFU */
    WarpSet accepted;                    /* as accepted_warps() */
    uint32_t causes;
} IssueCycle;

/* Does the scheduler issue one of its warps, sched->last? Else the cause why not. `plain`: no gate is at work, and no
 * policy picks. */
static inline __attribute__((always_inline)) SlotCause choose_warp(Sm *sm, Scheduler *sched, IssueCycle *c,
                                                                   bool plain) {
    const GateList *gates = &sm->gates;
    WarpSet ready = c->ready & sched->warps, allowed = ready;
    if (!plain && GATES_ASKED(gates, GATE_NARROW)) allowed = gates_narrow(gates, ready);
    WarpSet accepted = c->accepted;
    if (!plain && allowed)
        accepted = accepted_of_any(sm, (uint32_t)(sched - sm->sched) & (sm->shape.sub_cores - 1), allowed,
                                   c->cycle, c->now);
    WarpSet issuable = allowed & accepted;
    if (!issuable) return cause_of_idleness(sm, sched, c->waiting, ready, allowed, &c->causes);
    if (!plain && GATES_ASKED(gates, GATE_PREFER)) issuable = gates_prefer(gates, issuable);
    bool has_subscriber = !plain && __builtin_expect((sm->obj.subscribed & PICKS) != 0, 0);
    sched->last = has_subscriber ? ask_or_pick(sm, sched, issuable) : pick(sm, sched, issuable);
    bool may_refuse = !plain && GATES_ASKED(gates, GATE_LETS_ISSUE);
    if (may_refuse && !gates_let_issue(gates, sched->last, c->cycle, c->now)) return SLOT_GATE;
    if (has_subscriber) emit_issue(sm, sched->last);
    return SLOT_ISSUED;
}

/* The warps that cannot issue any more in this cycle, if the unit, that has just got an instruction, takes no
 * other. The way to the LSU mostly takes one in a cycle. */
static inline WarpSet shut_out(const Sm *sm, UnitClass unit, const IssueCycle *c) {
    if (unit == UNIT_MEM) {
        bool spent = fixed_is_way_spent(sm->fixed, sm->lsu.send, c->now);
        return __builtin_expect(spent, 1)
                   ? c->memory
                   : c->memory & ~all_or_none(lsu_accepts(sm, 0, true, c->cycle, c->now));
    }
    return (unit == UNIT_SFU ? c->sfu : ~(c->memory | c->sfu)) &
           ~all_or_none(collector_accepts(&sm->collector, 0, unit, c->cycle));
}

static inline __attribute__((always_inline)) void count_turn(Sm *sm, uint32_t which, IssueCycle *c,
                                                             SlotCause cause) {
    sm->slots[cause]++;
    sm->slot_cause[which] = cause;
    c->causes |= 1u << cause;
    __asm__("" : "+r"(c->causes)); /* else gcc keeps what they would be after each cause of the next turn */
}

/* A scheduler's turn. */
static inline __attribute__((always_inline)) void take_turn(Sm *sm, uint32_t which, IssueCycle *c, bool plain,
                                                            bool is_last) {
    Scheduler *sched = &sm->sched[which];
    SlotCause cause = choose_warp(sm, sched, c, plain);
    if (cause == SLOT_ISSUED) {
        UnitClass unit = sm_execute(sm, sched->last, c->cycle, c->now);
        if (GATES_AT_WORK(&sm->gates)) gates_issued(&sm->gates, sched->last);
        if (plain && !is_last) c->accepted &= ~shut_out(sm, unit, c);
    }
    count_turn(sm, which, c, cause);
}

/* Member by member: the host would have to wait for those just stored to copy them at once. */
static inline IssueCycle copy_of(const IssueCycle *c) {
    return (IssueCycle){.cycle = c->cycle,
                        .now = c->now,
                        .waiting = c->waiting,
                        .ready = c->ready,
                        .memory = c->memory,
                        .sfu = c->sfu,
                        .accepted = c->accepted,
                        .causes = c->causes};
}

/* `c` is the caller's copy: of what another function may see, the quick path would have to keep one in memory. */
static __attribute__((noinline)) uint32_t take_turns(Sm *sm, uint32_t which, uint32_t left, IssueCycle *c) {
    for (; left; left--) {
        take_turn(sm, which, c, false, left == 1);
        which = which + 1 == sm->schedulers ? 0 : which + 1;
    }
    return c->causes;
}

/* --- Four schedulers, each of which has a sub-core to itself ---------------------------------- */

/* The warps of those sub-cores that have a latch for one more instruction of the class: warps go by turns to the four. */
static inline __attribute__((always_inline)) WarpSet accepting_sub_cores(const OperandCollector *state,
                                                                         UnitClass class, uint64_t cycle) {
    const uint64_t *at = state->accepts_at[class];
    uint64_t accept = 0;
#ifdef __AVX2__
    typedef int64_t Times __attribute__((vector_size(MAX_SUB_CORES * sizeof(int64_t)), aligned(8)));
    typedef double Signs __attribute__((vector_size(MAX_SUB_CORES * sizeof(double))));
    Times now = {0};
    now += (int64_t)cycle;
    accept = (uint32_t)__builtin_ia32_movmskpd256((Signs)(*(const Times *)at <= now));
#else
    for (uint32_t i = 0; i < MAX_SUB_CORES; i++)
        accept |= (uint64_t)(at[i] <= cycle) << i;
#endif
    return accept * 0x1111111111111111ull;
}

/* One latch each, one way for all to the load/store unit. */
static inline WarpSet lsu_accepts_of(const Sm *sm, bool unspent, uint64_t cycle, uint64_t now) {
    bool spent = !unspent && fixed_is_way_spent(sm->fixed, sm->lsu.send, now);
    bool sends = fixed_leaves_place(sm->fixed, sm->lsu.send, now) & !spent &
                 (sm->payloads_in_use != sm->atomic_payloads);
    return accepting_sub_cores(&sm->collector, UNIT_MEM, cycle) & all_or_none(sends);
}

/* Of all ready warps, those whose unit in their sub-core takes their next instruction, at the begin of a cycle. */
static inline __attribute__((always_inline)) WarpSet accepted_of_all(const Sm *sm, WarpSet ready,
                                                                     uint64_t cycle, uint64_t now) {
    const OperandCollector *state = &sm->collector;
    WarpSet memory = sm->head_memory, sfu = sm->head_sfu, integer = sm->head_int, dp = sm->head_dp,
            matrix = sm->head_matrix, rare = ready & (sfu | dp | matrix), accepted;
    accepted = ~(memory | sfu | integer | dp | matrix) & accepting_sub_cores(state, UNIT_SP, cycle);
    accepted |= integer & accepting_sub_cores(state, UNIT_INT, cycle);
    if (ready & memory) accepted |= memory & lsu_accepts_of(sm, true, cycle, now);
    if (!rare) return accepted;
    accepted |= sfu & accepting_sub_cores(state, UNIT_SFU, cycle);
    accepted |= dp & accepting_sub_cores(state, UNIT_DP, cycle);
    return accepted | (matrix & accepting_sub_cores(state, UNIT_MATRIX, cycle));
}

/* No warp is ready. Does each scheduler have one that waits for a load? Then that is the cause of all. */
static inline __attribute__((always_inline)) bool all_wait_for_memory(Sm *sm, IssueCycle *c) {
    WarpSet waiting = sm->valid & ~c->waiting & sm->loading;
    for (uint32_t half = MAX_WARPS / 2; half >= MAX_SUB_CORES; half /= 2)
        waiting |= waiting >> half;
    if (~waiting & ((1u << MAX_SUB_CORES) - 1)) return false;
    sm->slots[SLOT_MEMORY] += MAX_SUB_CORES;
    for (uint32_t i = 0; i < MAX_SUB_CORES; i++)
        sm->slot_cause[i] = SLOT_MEMORY;
    c->causes |= 1u << SLOT_MEMORY;
    return true;
}

/* As take_turns(), while no gate is at work and no policy picks: what one scheduler issues takes nothing from the others but
 * the way to the load/store unit. */
static inline uint32_t take_turns_apart(Sm *sm, uint32_t first, IssueCycle *c) {
    if (c->ready)
        c->accepted = accepted_of_all(sm, c->ready, c->cycle, c->now);
    else if (all_wait_for_memory(sm, c))
        return c->causes;
    for (uint32_t turn = 0; turn < MAX_SUB_CORES; turn++) {
        uint32_t which = (first + turn) & (MAX_SUB_CORES - 1);
        Scheduler *sched = &sm->sched[which];
        SlotCause cause = choose_warp(sm, sched, c, true);
        UnitClass unit = UNIT_SP;
        if (cause == SLOT_ISSUED) unit = sm_execute(sm, sched->last, c->cycle, c->now);
        count_turn(sm, which, c, cause);
        if (unit == UNIT_MEM) c->accepted &= ~c->memory | lsu_accepts_of(sm, false, c->cycle, c->now);
        if (__builtin_expect(GATES_AT_WORK(&sm->gates), 0)) {
            gates_issued(&sm->gates, sched->last);
            return take_turns(sm, (which + 1) & (MAX_SUB_CORES - 1), MAX_SUB_CORES - 1 - turn, c);
        }
    }
    return c->causes;
}

/* --- A cycle ---------------------------------------------------------------------------------- */

/* Their order rotates. */
static inline uint32_t first_scheduler(const Sm *sm, uint64_t cycle) {
    bool power_of_two = (sm->schedulers & (sm->schedulers - 1)) == 0; /* else a division */
    return (uint32_t)(power_of_two ? cycle & (sm->schedulers - 1) : cycle % sm->schedulers);
}

static inline bool is_plain(const Sm *sm) {
    return __builtin_expect(!(sm->gates.at_work | (sm->obj.subscribed & PICKS)), 1);
}

__attribute__((hot, noinline)) static uint32_t take_all_turns(Sm *sm, uint32_t first, IssueCycle *c) {
    if (sm->issue_way == ISSUES_APART && is_plain(sm)) return take_turns_apart(sm, first, c);
    return take_turns(sm, first, sm->schedulers, c);
}

/* Two schedulers, as a rule, have code of their own: the host has too few registers for what the loop must keep. */
uint32_t sm_issue(Sm *sm, uint64_t cycle, uint64_t now) {
    IssueCycle c = {.cycle = cycle,
                    .now = now,
                    .waiting = sm->waiting,
                    .ready = sm_ready_warps(sm),
                    .memory = sm->head_memory,
                    .sfu = sm->head_sfu};
    if (__builtin_expect(sm->issue_way != ISSUES_IN_PAIR, 0) || !is_plain(sm)) {
        IssueCycle copy = copy_of(&c);
        return take_all_turns(sm, first_scheduler(sm, cycle), &copy);
    }
    if (c.ready) c.accepted = accepted_warps(sm, 0, c.ready, true, cycle, now);
    uint32_t which = cycle & 1;
    take_turn(sm, which, &c, true, false);
    if (GATES_AT_WORK(&sm->gates)) {
        IssueCycle copy = copy_of(&c);
        return take_turns(sm, which ^ 1, 1, &copy);
    }
    take_turn(sm, which ^ 1, &c, true, true);
    return c.causes;
}
