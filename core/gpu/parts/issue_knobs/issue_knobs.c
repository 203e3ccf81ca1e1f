#include "core/gpu/parts/issue_knobs/issue_knobs.h"

#include "core/gpu/sm/sm.h"

static IssueKnobs *of_gate(IssueGate *gate) {
    return (IssueKnobs *)gate;
}

/* --- Who may issue --------------------------------------------------------------------------- */

static WarpSet warps_at_barriers(const Sm *sm) {
    return sm->waiting & ~(sm->fencing | sm->sleeping | sm->copying | sm->gates.parked);
}

/* Warps that others of their CTA wait for at a barrier. Those that wait for something else lag themselves. */
static WarpSet lagging_warps(const Sm *sm) {
    WarpSet at_barrier = warps_at_barriers(sm), lagging = 0;
    for (uint32_t i = 0; at_barrier && i < sm->resident; i++)
        if (sm->cta_by_age[i] & at_barrier) lagging |= sm->cta_by_age[i] & ~at_barrier;
    return lagging;
}

/* Warps that spin, and those of their CTA if all the others wait for them at barriers: what they wait for is up to warps of
 * other CTAs. */
static WarpSet warps_that_wait(const Sm *sm) {
    WarpSet wait = sm->spinning;
    for (uint32_t i = 0; sm->spinning && i < sm->resident; i++) {
        WarpSet warps = sm->cta_by_age[i] & sm->live;
        if (warps & sm->spinning && !(warps & ~(sm->spinning | warps_at_barriers(sm)))) wait |= warps;
    }
    return wait;
}

/* Warps that spin go on to look, and have no place: others may have what they wait for. */
static WarpSet within_limit(const Sm *sm, uint32_t limit) {
    if (limit >= MAX_WARPS) return ALL_WARPS;
    WarpSet wait = warps_that_wait(sm), within = lagging_warps(sm) | wait;
    for (uint32_t i = 0; i < sm->schedulers; i++)
        within |= oldest_warps(sm->cta_by_age, sm->resident, sm->sched[i].warps & ~wait, limit);
    return within;
}

static void warps_changed(IssueGate *gate) {
    IssueKnobs *knobs = of_gate(gate);
    knobs->allowed = knobs->may_issue & within_limit(gate->sm, knobs->warp_limit);
}

static uint32_t needed_at(const IssueKnobs *knobs) {
    uint32_t stages = GATE_AT_REST;
    if (knobs->may_issue != ALL_WARPS || knobs->warp_limit < MAX_WARPS)
        stages |= 1u << GATE_NARROW | 1u << GATE_WARPS_CHANGED;
    if (knobs->preferred != ALL_WARPS || knobs->first != FIRST_ANY) stages |= 1u << GATE_PREFER;
    return stages;
}

static void knobs_set(IssueGate *gate) {
    warps_changed(gate);
    gate_set_stages(gate, needed_at(of_gate(gate)));
}

static WarpSet narrow(IssueGate *gate, WarpSet ready) {
    return ready & of_gate(gate)->allowed;
}

/* --- Who goes first -------------------------------------------------------------------------- */

/* The preferred, and of them those with a memory or a compute instruction. */
static WarpSet prefer(IssueGate *gate, WarpSet issuable) {
    const IssueKnobs *knobs = of_gate(gate);
    WarpSet memory = gate->sm->head_memory, preferred = issuable & knobs->preferred;
    if (preferred) issuable = preferred;
    if (knobs->first == FIRST_ANY) return issuable;
    WarpSet wanted = issuable & (knobs->first == FIRST_MEMORY ? memory : ~memory);
    return wanted ? wanted : issuable;
}

/* --- Invariants --------------------------------------------------------------------------------- */

static void check(const IssueGate *gate, bool idle) {
    const IssueKnobs *knobs = (const IssueKnobs *)gate;
    WarpSet allowed = knobs->may_issue & within_limit(gate->sm, knobs->warp_limit);
    (void)idle;
    gate_check_stages(gate, needed_at(knobs));
    if ((knobs->allowed ^ allowed) & gate->sm->live)
        panic("%s: warps 0x%lx are allowed to issue, by may_issue and warp_limit it is 0x%lx",
              gate->sm->obj.path, knobs->allowed, allowed);
}

static const char *reason(const IssueGate *gate, uint32_t w, char text[REASON_BYTES]) {
    const IssueKnobs *knobs = (const IssueKnobs *)gate;
    if (knobs->allowed >> w & 1) return NULL;
    return gate_not_allowed(gate, knobs->may_issue >> w & 1 ? "warp_limit" : "may_issue", text);
}

static const GateClass issue_knobs_class = {
    .name = "issue knobs",
    .narrow = narrow,
    .prefer = prefer,
    .warps_changed = warps_changed,
    .knobs_set = knobs_set,
    .check = check,
    .reason = reason,
};

void issue_knobs_init(IssueKnobs *knobs, Sm *sm) {
    gate_add(sm, &knobs->gate, &issue_knobs_class);
    knobs->may_issue = knobs->preferred = knobs->allowed = ALL_WARPS;
    gate_set_stages(&knobs->gate, needed_at(knobs));
}
