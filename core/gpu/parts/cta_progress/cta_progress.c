/* Class `CtaProgress`: how many instructions the CTA in each slot of an SM has issued, which lazy CTA scheduling asks
 * when the first of them ends. An issue gate that refuses nothing. */
#include "core/gpu/sm/sm.h"
#include "core/sim/method.h"
#include "mem/protocol/part.h"

typedef struct {
    SimObject obj;
    IssueGate gate;
    uint64_t issued[MAX_CTAS]; /* by the CTA that is, or was last, in the slot */
} CtaProgress;

static CtaProgress *of_gate(IssueGate *gate) {
    return (CtaProgress *)((char *)gate - offsetof(CtaProgress, gate));
}

static void count_issue(IssueGate *gate, uint32_t warp) {
    of_gate(gate)->issued[gate->sm->warp[warp].cta_slot]++;
}

static void begin_cta(IssueGate *gate, uint32_t slot) {
    of_gate(gate)->issued[slot] = 0;
}

static void set_stages(IssueGate *gate) {
    gate_set_stages(gate, 1 << GATE_ISSUED);
}

static void check_gate(const IssueGate *gate, bool idle) {
    const CtaProgress *progress = of_gate((IssueGate *)(uintptr_t)gate);
    uint64_t sum = 0;
    (void)idle;
    gate_check_stages(gate, 1 << GATE_ISSUED);
    for (uint32_t slot = 0; slot < MAX_CTAS; slot++)
        sum += progress->issued[slot];
    if (sum > gate->sm->warp_instructions)
        panic("%s: %lu instructions of CTAs, but the SM has issued %lu", progress->obj.path, sum,
              gate->sm->warp_instructions);
}

static const GateClass cta_progress_gate = {
    .name = "CTA progress",
    .issued = count_issue,
    .cta_starts = begin_cta,
    .knobs_set = set_stages,
    .check = check_gate,
};

static void init(SimObject *object) {
    CtaProgress *progress = (CtaProgress *)object;
    gate_add_of_part(object, &progress->gate, &cta_progress_gate);
    set_stages(&progress->gate);
}

static bool knobs_set(SimObject *object) {
    gate_knobs_set(&((CtaProgress *)object)->gate);
    return false;
}

static void call_issued(SimObject *object, MethodCall *call) {
    call->result[0].whole = (int64_t)((const CtaProgress *)object)->issued[call->argument[0].whole];
}

static const Method methods[] = {
    METHOD("issued", call_issued, "Instructions of the CTA that is, or was last, in the slot",
           TAKES(WHOLE_NUMBER("slot", .max = MAX_CTAS - 1)), RETURNS(WHOLE_NUMBER("instructions"))),
    METHODS_END};

static const Field fields[] = {BASE(CtaProgress), GATE_ROWS(CtaProgress, gate),
                               STATE(CtaProgress, issued, "Instructions issued by the CTA in each slot"),
                               FIELDS_END};

static const Class cta_progress_class = {
    .name = "CtaProgress",
    .doc = "Counts the instructions of each CTA of an SM",
    .part = true,
    .bytes = sizeof(CtaProgress),
    .fields = fields,
    .methods = methods,
    .init = init,
    .tick = part_sleeps,
    .knobs_set = knobs_set,
};
REGISTER_CLASS(cta_progress_class);
