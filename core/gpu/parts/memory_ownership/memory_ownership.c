#include "core/gpu/parts/memory_ownership/memory_ownership.h"

#include "core/gpu/sm/sm.h"

static MemoryOwnership *of_gate(IssueGate *gate) {
    return (MemoryOwnership *)gate;
}

/* --- Who may issue memory instructions ------------------------------------------------------- */

static uint32_t needed_at(const MemoryOwnership *ownership) {
    return (uint32_t)(ownership->may_issue_memory != ALL_WARPS) << GATE_NARROW |
           (uint32_t)(ownership->watched != 0) << GATE_END_CYCLE;
}

void memory_ownership_update(MemoryOwnership *ownership) {
    gate_set_stages(&ownership->gate, needed_at(ownership));
}

static void knobs_set(IssueGate *gate) {
    memory_watch_those_without_accesses(of_gate(gate));
    memory_ownership_update(of_gate(gate));
}

static WarpSet narrow(IssueGate *gate, WarpSet ready) {
    return ready & (of_gate(gate)->may_issue_memory | ~gate->sm->head_memory);
}

/* --- Watched warps --------------------------------------------------------------------------- */

static void emit(MemoryOwnership *ownership, uint32_t w, SmEvent event) {
    ownership->watched &= ~warp_bit(w);
    object_emit(&ownership->gate.sm->obj, event, w);
}

/* Emits events of those that wait for a load or stand still, also of those that did so before they were watched. */
COLD static void look_at_watched(MemoryOwnership *ownership) {
    const Sm *sm = ownership->gate.sm;
    WarpSet watched = ownership->watched;
    WarpSet parked = watched & sm->gates.parked; /* loads, of which the transfer fetches the data */
    WarpSet stopped = watched & (sm->waiting | ~sm->live) & ~parked;
    WarpSet blocked = watched & sm->blocked & sm->valid & ~(stopped | parked);
    for (; stopped; stopped &= stopped - 1)
        emit(ownership, first_warp(stopped), SM_WATCHED_STOPS);
    for (; parked; parked &= parked - 1)
        emit(ownership, first_warp(parked), SM_LOAD_BLOCKED);
    for (; blocked; blocked &= blocked - 1) {
        uint32_t w = first_warp(blocked);
        if (sm_waits_for_load(sm, w)) emit(ownership, w, SM_LOAD_BLOCKED);
    }
}

static void end_cycle(IssueGate *gate) {
    MemoryOwnership *ownership = of_gate(gate);
    look_at_watched(ownership);
    memory_ownership_update(ownership);
}

/* --- Invariants --------------------------------------------------------------------------------- */

static void check(const IssueGate *gate, bool idle) {
    (void)idle;
    gate_check_stages(gate, needed_at((const MemoryOwnership *)gate));
}

static const char *reason(const IssueGate *gate, uint32_t w, char text[REASON_BYTES]) {
    const Sm *sm = gate->sm;
    WarpSet held = sm_ready_warps(sm) & sm->head_memory & ~((const MemoryOwnership *)gate)->may_issue_memory;
    return held >> w & 1 ? gate_not_allowed(gate, "may_issue_memory", text) : NULL;
}

static const GateClass memory_ownership_class = {
    .name = "memory ownership",
    .narrow = narrow,
    .end_cycle = end_cycle,
    .knobs_set = knobs_set,
    .check = check,
    .reason = reason,
};

void memory_ownership_init(MemoryOwnership *ownership, Sm *sm) {
    gate_add(sm, &ownership->gate, &memory_ownership_class);
    ownership->may_issue_memory = ALL_WARPS;
}

MemoryOwnership *memory_ownership_of(const Sm *sm) {
    return (MemoryOwnership *)gate_find(&sm->gates, &memory_ownership_class);
}
