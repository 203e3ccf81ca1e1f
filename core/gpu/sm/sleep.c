#include "core/gpu/sm/sleep.h"

#include "core/gpu/sm/paths.h"
#include "core/sim/sim.h"

/* The PTX ISA: no sleep is longer than a millisecond. */
enum { LONGEST_NS = 1000000, NS_PER_SECOND = 1000000000 };

static uint32_t longest_of_lanes(const Inst *inst, const ExecContext *context) {
    uint32_t longest = 0;
    const uint32_t *ns = operand_lanes(context, inst->src[0]);
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1)
        if (ns[__builtin_ctz(lanes)] > longest) longest = ns[__builtin_ctz(lanes)];
    return longest < LONGEST_NS ? longest : LONGEST_NS;
}

/* Whole cycles of a clock of this period, none shorter than the time asked for. */
static uint64_t cycles_of(const Sm *sm, uint32_t ns, uint64_t ticks_per_second) {
    unsigned __int128 second = (unsigned __int128)sm->obj.period * NS_PER_SECOND;
    return (uint64_t)(((unsigned __int128)ns * ticks_per_second + second - 1) / second);
}

void sleep_until(Sm *sm, uint32_t w, uint64_t cycle) {
    sm->wakes[w] = cycle;
    sm->sleeping |= warp_bit(w);
    sm->waiting |= warp_bit(w);
    gate_set_stages(&sm->sleepers, GATE_AT_WORK);
}

/* nanosleep: the warp goes on when the longest time of its active lanes has passed. */
static void execute(IssueGate *gate, uint32_t w, const Inst *inst) {
    Sm *sm = gate->sm;
    uint64_t cycles = cycles_of(sm, longest_of_lanes(inst, sm->context), sm->obj.sim->ticks_per_second);
    if (cycles && paths_sleep(sm, w)) sleep_until(sm, w, sm->context->clock + cycles);
}

/* Those whose time has come may issue in this cycle. */
static void begin_cycle(IssueGate *gate, uint64_t now) {
    Sm *sm = gate->sm;
    for (WarpSet left = sm->sleeping; left; left &= left - 1) {
        uint32_t w = first_warp(left);
        if (sm->wakes[w] > object_cycle(&sm->obj, now)) continue;
        sm->sleeping &= ~warp_bit(w);
        sm->waiting &= ~warp_bit(w);
    }
    if (!sm->sleeping) gate_set_stages(gate, GATE_AT_REST);
}

static uint64_t next(const IssueGate *gate) {
    const Sm *sm = gate->sm;
    uint64_t cycle = UINT64_MAX;
    for (WarpSet left = sm->sleeping; left; left &= left - 1)
        if (sm->wakes[first_warp(left)] < cycle) cycle = sm->wakes[first_warp(left)];
    return cycle == UINT64_MAX ? NEVER : cycle * sm->obj.period;
}

static void knobs_set(IssueGate *gate) {
    gate_set_stages(gate, gate->sm->sleeping ? GATE_AT_WORK : GATE_AT_REST);
}

static void is_sound(const IssueGate *gate) {
    const Sm *sm = gate->sm;
    const Clock *first = sm->obj.sim->clocks; /* was asked for at any of its frequencies */
    uint64_t latest = object_cycle(&sm->obj, sm->obj.sim->now) + LONGEST_SLEEP +
                      cycles_of(sm, LONGEST_NS, first->fastest * first->period);
    for (WarpSet left = sm->sleeping; left; left &= left - 1)
        sound(sm->wakes[first_warp(left)] <= latest, "%s.wakes", sm->obj.path);
}

static const GateClass sleep_class = {
    .name = "sleep",
    .begin_cycle = begin_cycle,
    .next = next,
    .kind = INST_SLEEP,
    .execute = execute,
    .knobs_set = knobs_set,
    .is_sound = is_sound,
};

void sleep_init(Sm *sm) {
    gate_add(sm, &sm->sleepers, &sleep_class);
}
