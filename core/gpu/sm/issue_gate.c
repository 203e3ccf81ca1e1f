/* The gates of an SM: who is asked, in which order; parking. */
#include "core/gpu/sm/sm.h"
#include "core/sim/sim.h"

#include <string.h>

void gate_add(Sm *sm, IssueGate *gate, const GateClass *class) {
    ensure(sm->gates.count < MAX_GATES);
    gate->class = class;
    gate->sm = sm;
    gate->number = sm->gates.count;
    sm->gates.gate[sm->gates.count++] = gate;
}

void gate_add_of_part(const SimObject *part, IssueGate *gate, const GateClass *class) {
    const char *dot = strrchr(part->path, '.');
    if (!part->parent || part->parent->class != &sm_class)
        user_error("%s: expected a place below an SM, such as sm[0].%s", part->path,
                   dot ? dot + 1 : part->path);
    gate_add((Sm *)part->parent, gate, class);
}

void gate_knobs_set(IssueGate *gate) {
    gate->sm->gates.parked |= gate->parked;
    if (gate->class->knobs_set) gate->class->knobs_set(gate);
}

IssueGate *gate_find(const GateList *gates, const GateClass *class) {
    for (uint32_t i = 0; i < gates->count; i++)
        if (gates->gate[i]->class == class) return gates->gate[i];
    panic("an SM without gate %s", class->name);
}

/* Those for which there is a function. */
static uint32_t stages_of(const GateClass *class) {
    return (uint32_t)(class->narrow != NULL) << GATE_NARROW |
           (uint32_t)(class->prefer != NULL) << GATE_PREFER |
           (uint32_t)(class->lets_issue != NULL) << GATE_LETS_ISSUE |
           (uint32_t)(class->issued != NULL) << GATE_ISSUED |
           (uint32_t)(class->begin_cycle != NULL) << GATE_BEGIN_CYCLE |
           (uint32_t)(class->pass != NULL) << GATE_PASS |
           (uint32_t)(class->end_cycle != NULL) << GATE_END_CYCLE |
           (uint32_t)(class->next != NULL) << GATE_NEXT |
           (uint32_t)(class->warps_changed != NULL) << GATE_WARPS_CHANGED;
}

void gate_set_stages(IssueGate *gate, uint32_t stages) {
    GateList *gates = &gate->sm->gates;
    uint32_t bit = 1u << gate->number;
    stages &= stages_of(gate->class);
    if (stages == gate->stages) return;
    gate->stages = stages;
    gates->at_work = (gates->at_work & ~bit) | (uint32_t)(stages != 0) << gate->number;
    for (uint32_t i = 0; i < GATE_STAGES; i++)
        gates->asked[i] = (uint16_t)((gates->asked[i] & ~bit) | (stages >> i & 1) << gate->number);
}

void gate_check_stages(const IssueGate *gate, uint32_t stages) {
    stages &= stages_of(gate->class);
    if (gate->stages != stages)
        panic("%s: gate %s is at work at stages 0x%x, its state needs it at 0x%x", gate->sm->obj.path,
              gate->class->name, gate->stages, stages);
}

const char *gate_not_allowed(const IssueGate *gate, const char *knob, char text[REASON_BYTES]) {
    const char *policies = gate->sm->obj.sim->policies;
    snprintf(text, REASON_BYTES, "is not allowed to issue by %s%s: %s", policies ? "policy " : "the config",
             policies ? policies : "", knob);
    return text;
}

/* --- Warps that do not issue ----------------------------------------------------------------- */

void gate_squash(IssueGate *gate, uint32_t w) {
    sm_leave_buffer(gate->sm, w);
}

void gate_park(IssueGate *gate, uint32_t w) {
    gate->parked |= warp_bit(w);
    gate->sm->gates.parked |= warp_bit(w);
    gate->sm->waiting |= warp_bit(w);
    gate_squash(gate, w);
}

void gate_release(IssueGate *gate, WarpSet warps) {
    warps &= gate->parked;
    gate->parked &= ~warps;
    gate->sm->gates.parked &= ~warps;
    gate->sm->waiting &= ~warps;
}

/* --- For the stages of the SM ---------------------------------------------------------------- */

/* Every gate of a set of numbers that does this, in turn. */
#define FOR_GATES(gates, numbers, g, what)                                                                   \
    for (uint32_t rest_ = (numbers); rest_; rest_ &= rest_ - 1)                                              \
        for (IssueGate *g = (gates)->gate[__builtin_ctz(rest_)]; g && g->class->what; g = NULL)

/* Those that are asked at a stage. */
#define FOR_GATES_AT_WORK(gates, g, stage)                                                                   \
    for (uint32_t rest_ = (gates)->asked[stage]; rest_; rest_ &= rest_ - 1)                                  \
        for (IssueGate *g = (gates)->gate[__builtin_ctz(rest_)]; g; g = NULL)
#define FOR_ALL_GATES(gates, g, what) FOR_GATES(gates, (1u << (gates)->count) - 1, g, what)

WarpSet gates_narrow(const GateList *gates, WarpSet ready) {
    if (!ready) return 0;
    FOR_GATES_AT_WORK (gates, gate, GATE_NARROW)
        ready = gate->class->narrow(gate, ready);
    return ready;
}

WarpSet gates_prefer(const GateList *gates, WarpSet issuable) {
    FOR_GATES_AT_WORK (gates, gate, GATE_PREFER)
        issuable = gate->class->prefer(gate, issuable);
    return issuable;
}

bool gates_let_issue(const GateList *gates, uint32_t w, uint64_t cycle, uint64_t now) {
    FOR_GATES_AT_WORK (gates, gate, GATE_LETS_ISSUE)
        if (!gate->class->lets_issue(gate, w, cycle, now)) return false;
    return true;
}

void gates_issued(const GateList *gates, uint32_t w) {
    FOR_GATES_AT_WORK (gates, gate, GATE_ISSUED)
        gate->class->issued(gate, w);
}

void gates_begin_cycle(const GateList *gates, uint64_t now) {
    FOR_GATES_AT_WORK (gates, gate, GATE_BEGIN_CYCLE)
        gate->class->begin_cycle(gate, now);
}

void gates_pass(const GateList *gates, uint64_t cycles, bool issued) {
    FOR_GATES_AT_WORK (gates, gate, GATE_PASS)
        gate->class->pass(gate, cycles, issued);
}

void gates_end_cycle(const GateList *gates) {
    FOR_GATES_AT_WORK (gates, gate, GATE_END_CYCLE)
        gate->class->end_cycle(gate);
}

uint64_t gates_next(const GateList *gates, uint64_t next) {
    FOR_GATES_AT_WORK (gates, gate, GATE_NEXT) {
        uint64_t at = gate->class->next(gate);
        if (at < next) next = at;
    }
    return next;
}

void gates_execute(const GateList *gates, uint32_t w, const Inst *inst) {
    FOR_ALL_GATES (gates, gate, execute)
        if (gate->class->kind == inst->kind) gate->class->execute(gate, w, inst);
}

void gates_kernel_set(const GateList *gates) {
    FOR_ALL_GATES (gates, gate, kernel_set)
        gate->class->kernel_set(gate);
}

void gates_cta_starts(const GateList *gates, uint32_t slot) {
    FOR_ALL_GATES (gates, gate, cta_starts)
        gate->class->cta_starts(gate, slot);
}

bool gates_keep_cta(const GateList *gates, uint32_t slot) {
    FOR_ALL_GATES (gates, gate, keeps_cta)
        if (gate->class->keeps_cta(gate, slot)) return true;
    return false;
}

void gates_cta_ends(const GateList *gates, uint32_t slot, uint64_t cycle) {
    FOR_ALL_GATES (gates, gate, cta_ends)
        gate->class->cta_ends(gate, slot, cycle);
}

void gates_warps_changed(const GateList *gates) {
    FOR_GATES_AT_WORK (gates, gate, GATE_WARPS_CHANGED)
        gate->class->warps_changed(gate);
}

void gates_knobs_set(GateList *gates) {
    gates->parked = 0;
    for (uint32_t i = 0; i < gates->count; i++)
        gates->parked |= gates->gate[i]->parked;
    FOR_ALL_GATES (gates, gate, knobs_set)
        gate->class->knobs_set(gate);
}

void gates_are_sound(const GateList *gates) {
    FOR_ALL_GATES (gates, gate, is_sound)
        gate->class->is_sound(gate);
}

void gates_check(const GateList *gates, bool idle) {
    FOR_ALL_GATES (gates, gate, check)
        gate->class->check(gate, idle);
}

const char *gates_reason(const GateList *gates, uint32_t w, char text[REASON_BYTES]) {
    const char *reason = NULL;
    FOR_ALL_GATES (gates, gate, reason)
        if (!reason) reason = gate->class->reason(gate, w, text);
    for (uint32_t i = 0; i < gates->count && !reason; i++) {
        if (!(gates->gate[i]->parked >> w & 1)) continue;
        snprintf(text, REASON_BYTES, "is parked by gate %s", gates->gate[i]->class->name);
        reason = text;
    }
    return reason;
}
