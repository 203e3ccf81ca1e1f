#include "core/gpu/sm/kernel_switch.h"

static bool lets_issue(IssueGate *gate, uint32_t w, uint64_t cycle, uint64_t now) {
    Sm *sm = gate->sm;
    (void)cycle, (void)now;
    sm->kernel_switch.threads_before = sm->thread_instructions;
    if (sm_kernel_of(sm, w) != sm->running) sm_take_kernel_of(sm, w);
    return true;
}

static void issued(IssueGate *gate, uint32_t w) {
    Sm *sm = gate->sm;
    Cta *cta = &sm->cta[sm->warp[w].cta_slot];
    cta->warp_instructions++;
    cta->thread_instructions += sm->thread_instructions - sm->kernel_switch.threads_before;
}

static void set_stages(IssueGate *gate) {
    gate_set_stages(gate, gate->sm->kernels.are_several ? GATE_AT_WORK : GATE_AT_REST);
}

static const GateClass kernel_switch_class = {
    .name = "kernel_switch",
    .lets_issue = lets_issue,
    .issued = issued,
    .knobs_set = set_stages,
};

void kernel_switch_init(Sm *sm) {
    gate_add(sm, &sm->kernel_switch.gate, &kernel_switch_class);
}

void kernel_switch_set(Sm *sm) {
    set_stages(&sm->kernel_switch.gate);
}
