#include "core/gpu/parts/load_gate/load_gate.h"

#include "core/gpu/sm/sm.h"

static LoadGate *of_gate(IssueGate *gate) {
    return (LoadGate *)gate;
}

/* Of a set whose next instructions are for the LSU: loads and atomics that go to L1 and beyond. */
static WarpSet find_loads(const Sm *sm, WarpSet set) {
    const uint32_t spaces = 1u << SPACE_GLOBAL | 1u << SPACE_LOCAL | 1u << SPACE_GENERIC;
    WarpSet loads = 0;
    for (; set; set &= set - 1) {
        uint32_t w = first_warp(set);
        const Inst *inst = sm_inst(sm, w, sm->warp[w].simt.top.pc);
        bool reads = inst->kind == INST_LOAD || inst->kind == INST_ATOMIC;
        if (reads && (spaces >> inst->space & 1)) loads |= warp_bit(w);
    }
    return loads;
}

/* Those that may not load are ready for long, and stand at the same instruction: it is looked at once. */
static WarpSet loads_among(LoadGate *gate, WarpSet set) {
    const Sm *sm = gate->gate.sm;
    WarpSet unknown = set & ~gate->known;
    if (unknown) {
        gate->loads = (gate->loads & ~unknown) | find_loads(sm, unknown);
        gate->known |= unknown;
    }
    debug_ensure((gate->loads & set) == find_loads(sm, set));
    return gate->loads & set;
}

static WarpSet narrow(IssueGate *gate, WarpSet ready) {
    WarpSet memory = ready & gate->sm->head_memory & ~of_gate(gate)->may_load;
    return memory ? ready & ~loads_among(of_gate(gate), memory) : ready;
}

static void issued(IssueGate *gate, uint32_t w) {
    of_gate(gate)->known &= ~warp_bit(w);
}

static uint32_t needed_at(const LoadGate *gate) {
    return gate->may_load != ALL_WARPS ? GATE_AT_WORK : GATE_AT_REST;
}

/* What is known is of warps whose issue it has heard of since. */
static void knobs_set(IssueGate *gate) {
    uint32_t stages = needed_at(of_gate(gate));
    if (!stages) of_gate(gate)->known = 0;
    gate_set_stages(gate, stages);
}

/* --- Invariants --------------------------------------------------------------------------------- */

static void check(const IssueGate *gate, bool idle) {
    const LoadGate *loads = (const LoadGate *)gate;
    const Sm *sm = gate->sm;
    WarpSet known = loads->known & sm->valid & sm->head_memory;
    (void)idle;
    gate_check_stages(gate, needed_at(loads));
    if ((loads->loads & known) != find_loads(sm, known))
        panic("%s: of warps 0x%lx, 0x%lx are about to load, the load gate knows of 0x%lx", sm->obj.path,
              known, find_loads(sm, known), loads->loads & known);
}

static const char *reason(const IssueGate *gate, uint32_t w, char text[REASON_BYTES]) {
    const Sm *sm = gate->sm;
    WarpSet held = sm_ready_warps(sm) & sm->head_memory & ~((const LoadGate *)gate)->may_load & warp_bit(w);
    return find_loads(sm, held) ? gate_not_allowed(gate, "may_load", text) : NULL;
}

static const GateClass load_gate_class = {
    .name = "load gate",
    .narrow = narrow,
    .issued = issued,
    .knobs_set = knobs_set,
    .check = check,
    .reason = reason,
};

void load_gate_init(LoadGate *loads, Sm *sm) {
    gate_add(sm, &loads->gate, &load_gate_class);
    loads->may_load = ALL_WARPS;
}
