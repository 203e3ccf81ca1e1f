/* What the issue stage asks of a gate, and when: with a gate of the test's own on a small SM. */
#include "core/gpu/sm/issue_gate.h"
#include "core/sim/checkpoint/snapshot.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/panic_text.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

enum { OPEN = 50, NEVER_OPENS = 1 << 30, WARPS = 2 };

static const char *const six_moves = "mov.u32 %r1, 1;\n mov.u32 %r2, 1;\n mov.u32 %r3, 1;\n"
                                     "mov.u32 %r4, 1;\n mov.u32 %r5, 1;\n mov.u32 %r6, 1;\n";

/* It holds back warps in one of the ways that gates have until cycle `opens`. */
typedef struct {
    IssueGate gate;
    uint64_t opens;
    WarpSet holds, prefers, parks, squashes;
    bool keeps_ctas;
    uint64_t issued[WARPS], cycles, issue_cycles, ended_cycles, cta_end;
} Probe;

static Probe probe;

static uint64_t cycle_of(const IssueGate *gate, uint64_t now) {
    return object_cycle(&gate->sm->obj, now);
}

static WarpSet narrow(IssueGate *gate, WarpSet ready) {
    (void)gate;
    return ready & ~probe.holds;
}

static WarpSet prefer(IssueGate *gate, WarpSet issuable) {
    (void)gate;
    return issuable & probe.prefers ? issuable & probe.prefers : issuable;
}

static bool lets_issue(IssueGate *gate, uint32_t warp, uint64_t cycle, uint64_t now) {
    ck_assert_uint_eq(cycle, cycle_of(gate, now));
    if (probe.parks & warp_bit(warp))
        gate_park(gate, warp);
    else if (probe.squashes & warp_bit(warp))
        gate_squash(gate, warp);
    else
        return true;
    return false;
}

static void issued(IssueGate *gate, uint32_t warp) {
    (void)gate;
    probe.issued[warp]++;
}

static void begin_cycle(IssueGate *gate, uint64_t now) {
    if (cycle_of(gate, now) < probe.opens) return;
    probe.opens = NEVER_OPENS;
    probe.holds = probe.parks = probe.squashes = 0;
    gate_release(gate, ALL_WARPS);
    if (!probe.keeps_ctas) return;
    probe.keeps_ctas = false;
    sm_release_cta(gate->sm, 0);
}

static void pass(IssueGate *gate, uint64_t cycles, bool has_issued) {
    (void)gate;
    probe.cycles += cycles;
    probe.issue_cycles += has_issued;
    ck_assert(cycles == 1 || !has_issued);
}

static void end_cycle(IssueGate *gate) {
    (void)gate;
    probe.ended_cycles++;
}

static uint64_t next(const IssueGate *gate) {
    return probe.opens < NEVER_OPENS ? probe.opens * gate->sm->obj.period : NEVER;
}

static bool keeps_cta(const IssueGate *gate, uint32_t slot) {
    (void)gate, (void)slot;
    return probe.keeps_ctas;
}

static void cta_ends(IssueGate *gate, uint32_t slot, uint64_t cycle) {
    (void)gate;
    ck_assert_uint_eq(slot, 0);
    probe.cta_end = cycle;
}

static const char *reason(const IssueGate *gate, uint32_t warp, char text[REASON_BYTES]) {
    if (!((gate->parked | probe.holds) >> warp & 1)) return NULL;
    snprintf(text, REASON_BYTES, "waits at the probe");
    return text;
}

static const GateClass probe_class = {
    .name = "probe",
    .narrow = narrow,
    .prefer = prefer,
    .lets_issue = lets_issue,
    .issued = issued,
    .begin_cycle = begin_cycle,
    .pass = pass,
    .end_cycle = end_cycle,
    .next = next,
    .keeps_cta = keeps_cta,
    .cta_ends = cta_ends,
    .reason = reason,
};

static const TinySpec two_warps = {.threads = WARPS * 32, .sm = "schedulers=1 scheduler=oldest"};

/* With the probe at work, launched. */
static TinyMachine *launched(Probe settings) {
    TinySpec spec = two_warps;
    spec.body = six_moves;
    TinyMachine *m = tiny_new(spec);
    probe = settings;
    gate_add(m->sm[0], &probe.gate, &probe_class);
    gate_set_stages(&probe.gate, GATE_AT_WORK);
    tiny_launch(m, spec);
    return m;
}

static TinyMachine *run(Probe settings) {
    TinyMachine *m = launched(settings);
    tiny_finish(m);
    return m;
}

/* --- At issue -------------------------------------------------------------------------------- */

START_TEST(a_gate_that_does_nothing_changes_nothing) {
    TinySpec spec = two_warps;
    spec.body = six_moves;
    TinyMachine *plain = tiny_run(spec), *m = run((Probe){.opens = 0});
    ck_assert_uint_eq(tiny_cycles(m), tiny_cycles(plain));
    ck_assert_uint_eq(m->issue_count, plain->issue_count);
    ck_assert_int_eq(memcmp(m->issues, plain->issues, m->issue_count * sizeof *m->issues), 0);
    tiny_free(plain);
    tiny_free(m);
}
END_TEST

/* The SM sleeps while both warps are held back, and wakes when the gate says so. */
START_TEST(warps_that_are_held_back_issue_in_the_cycle_in_which_the_gate_opens) {
    TinyMachine *m = run((Probe){.opens = OPEN, .holds = ALL_WARPS});
    ck_assert_uint_eq(tiny_issued(m, 0, 0), OPEN);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_policy"), OPEN - TINY_FIRST_ISSUE);
    tiny_free(m);
}
END_TEST

START_TEST(a_warp_that_is_held_back_does_not_hold_up_others) {
    TinyMachine *m = run((Probe){.opens = OPEN, .holds = warp_bit(0)});
    ck_assert_uint_eq(tiny_issued(m, 1, 0), TINY_FIRST_ISSUE);
    ck_assert_uint_lt(tiny_issued(m, 1, 6), OPEN);
    ck_assert_uint_eq(tiny_issued(m, 0, 0), OPEN);
    tiny_free(m);
}
END_TEST

/* In cycle 4 both warps can issue: the oldest is 0. */
START_TEST(preferred_warps_go_before_others_and_hold_nobody_back) {
    TinyMachine *plain = run((Probe){.opens = 0}), *m = run((Probe){.opens = 0, .prefers = warp_bit(1)});
    ck_assert_uint_eq(plain->issues[1].warp, 0);
    ck_assert_uint_eq(m->issues[1].warp, 1);
    ck_assert_uint_eq(m->issues[1].cycle, TINY_FIRST_ISSUE + 1);
    ck_assert_uint_eq(probe.issued[0], probe.issued[1]);
    tiny_free(plain);
    tiny_free(m);
}
END_TEST

/* Each attempt costs a slot, and the time in which the warp's instructions are fetched again. */
START_TEST(a_squashed_warp_tries_again) {
    TinyMachine *m = run((Probe){.opens = OPEN, .squashes = warp_bit(0)});
    uint64_t squashes = tiny_stat(m, "sm[0]", "slots_dma");
    ck_assert_uint_gt(squashes, 5);
    ck_assert_uint_lt(squashes, OPEN / 2);
    ck_assert_uint_ge(tiny_issued(m, 0, 0), OPEN);
    ck_assert_uint_lt(tiny_issued(m, 0, 0), OPEN + 5);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "warp_instructions"), 2 * 7);
    tiny_free(m);
}
END_TEST

/* It tries once. While nobody else has instructions, the slots are lost to the gate. */
START_TEST(a_parked_warp_goes_on_in_the_cycle_in_which_it_is_released) {
    TinyMachine *m = run((Probe){.opens = OPEN, .parks = ALL_WARPS});
    ck_assert_uint_eq(tiny_issued(m, 0, 0), OPEN);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_dma"), OPEN - TINY_FIRST_ISSUE);
    ck_assert_uint_eq(probe.gate.parked | m->sm[0]->gates.parked | m->sm[0]->waiting, 0);
    tiny_free(m);
}
END_TEST

START_TEST(a_gate_releases_only_warps_that_it_has_parked) {
    TinyMachine *m = launched((Probe){.opens = 2 * OPEN, .parks = ALL_WARPS});
    IssueGate other = {.class = NULL};
    gate_add(m->sm[0], &other, &(GateClass){.name = "other"});
    tiny_step_to(m, OPEN);
    ck_assert_uint_eq(m->sm[0]->gates.parked, 3);
    gate_release(&other, ALL_WARPS);
    ck_assert_uint_eq(m->sm[0]->gates.parked, 3);
    gate_release(&probe.gate, warp_bit(1));
    ck_assert_uint_eq(m->sm[0]->gates.parked, 1);
    ck_assert_uint_eq(m->sm[0]->waiting, 1);
    tiny_free(m);
}
END_TEST

START_TEST(a_gate_is_called_for_every_instruction_that_issues) {
    TinyMachine *m = run((Probe){.opens = 0});
    ck_assert_uint_eq(probe.issued[0], 7);
    ck_assert_uint_eq(probe.issued[1], 7);
    tiny_free(m);
}
END_TEST

/* --- In a cycle ------------------------------------------------------------------------------ */

/* Also of those that the SM sleeps through, but only those in which it ticks end. */
START_TEST(every_cycle_passes_once) {
    TinyMachine *m = run((Probe){.opens = OPEN, .holds = ALL_WARPS});
    ck_assert_uint_eq(probe.cycles, m->sm[0]->accounted);
    ck_assert_uint_eq(probe.issue_cycles, tiny_stat(m, "sm[0]", "slots_issued"));
    ck_assert_uint_lt(probe.ended_cycles, probe.cycles - OPEN / 2);
    tiny_free(m);
}
END_TEST

START_TEST(a_gate_that_is_not_at_work_is_not_asked) {
    TinyMachine *m = launched((Probe){.opens = NEVER_OPENS, .holds = ALL_WARPS, .squashes = ALL_WARPS});
    gate_set_stages(&probe.gate, GATE_AT_REST);
    tiny_finish(m);
    ck_assert_uint_eq(probe.cycles | probe.ended_cycles | probe.issued[0], 0);
    tiny_free(m);
}
END_TEST

/* --- CTAs ------------------------------------------------------------------------------------ */

START_TEST(a_cta_that_a_gate_keeps_ends_when_it_is_released) {
    TinyMachine *m = run((Probe){.opens = 100, .keeps_ctas = true});
    ck_assert_uint_eq(probe.cta_end, 100);
    ck_assert_uint_eq(tiny_cycles(m), 100 + 2); /* the message to the dispatcher, and its cycle */
    ck_assert_uint_eq(m->sm[0]->ending, 0);
    tiny_free(m);
}
END_TEST

/* --- Hangs and invariants ------------------------------------------------------------------------- */

static void finish(void *machine) {
    tiny_finish(machine);
}

static void assert_hangs_at_the_probe(Probe settings) {
    TinyMachine *m = launched(settings);
    char *report = NULL;
    gpu_hang_limit(m->gpu, 1000);
    ck_assert_ptr_nonnull(strstr(tiny_error(finish, m, &report), "kernel tiny hangs"));
    ck_assert_ptr_nonnull(strstr(report, "waits at the probe"));
    free(report);
    tiny_free(m);
}

START_TEST(the_hang_report_says_what_a_gate_waits_for) {
    assert_hangs_at_the_probe((Probe){.opens = NEVER_OPENS, .parks = ALL_WARPS});
    assert_hangs_at_the_probe((Probe){.opens = NEVER_OPENS, .holds = ALL_WARPS});
}
END_TEST

static void check_needed(void *gate) {
    gate_check_stages(gate, GATE_AT_WORK);
}

START_TEST(a_gate_that_is_not_at_work_where_it_is_needed_is_found) {
    TinyMachine *m = launched((Probe){.opens = 0});
    gate_check_stages(&probe.gate, GATE_AT_WORK);
    gate_set_stages(&probe.gate, GATE_AT_REST);
    assert_panic(check_needed, &probe.gate, "gate probe is at work at stages 0x0, its state needs it at 0x");
    tiny_free(m);
}
END_TEST

/* --- A part with a gate ---------------------------------------------------------------------- */

/* An object below an SM: it parks the warps of `parks` until cycle `opens`. */
typedef struct {
    SimObject obj;
    IssueGate gate;
    WarpSet parks;
    uint64_t opens;
} ParkingPart;

static const Field parking_fields[] = {
    BASE(ParkingPart), PARKING_GATE_ROWS(ParkingPart, gate, "parked", "Warps that it has parked"),
    KNOB(ParkingPart, parks, "warps", "Warps that it parks"),
    KNOB(ParkingPart, opens, "cycle", "When it releases them"), FIELDS_END};

static ParkingPart *part_of_gate(const IssueGate *gate) {
    return (ParkingPart *)((char *)(uintptr_t)gate - offsetof(ParkingPart, gate));
}

static bool part_lets_issue(IssueGate *gate, uint32_t warp, uint64_t cycle, uint64_t now) {
    (void)cycle, (void)now;
    bool parks = part_of_gate(gate)->parks & warp_bit(warp);
    if (parks) gate_park(gate, warp);
    return !parks;
}

static void part_begin_cycle(IssueGate *gate, uint64_t now) {
    ParkingPart *part = part_of_gate(gate);
    if (cycle_of(gate, now) < part->opens) return;
    part->parks = 0;
    gate_release(gate, ALL_WARPS);
    gate_set_stages(gate, GATE_AT_REST);
}

static uint64_t part_next(const IssueGate *gate) {
    return part_of_gate(gate)->opens * gate->sm->obj.period;
}

static void part_gate_knobs_set(IssueGate *gate) {
    gate_set_stages(gate, part_of_gate(gate)->parks ? GATE_AT_WORK : GATE_AT_REST);
}

static const GateClass parking_gate = {.name = "parking",
                                       .lets_issue = part_lets_issue,
                                       .begin_cycle = part_begin_cycle,
                                       .next = part_next,
                                       .knobs_set = part_gate_knobs_set};

static void init_part(SimObject *object) {
    gate_add_of_part(object, &((ParkingPart *)object)->gate, &parking_gate);
}

static bool part_knobs_set(SimObject *object) {
    gate_knobs_set(&((ParkingPart *)object)->gate);
    return true;
}

static uint64_t part_tick(SimObject *object, uint64_t now) {
    (void)object, (void)now;
    return NEVER;
}

static const Class parking_class = {.name = "ParkingPart",
                                    .doc = "Parks warps",
                                    .bytes = sizeof(ParkingPart),
                                    .fields = parking_fields,
                                    .part = true,
                                    .init = init_part,
                                    .knobs_set = part_knobs_set,
                                    .tick = part_tick};

static const TinySpec with_part = {.body = "mov.u32 %r1, 1;\n mov.u32 %r2, 1;\n",
                                   .threads = WARPS * 32,
                                   .sm = "schedulers=1 scheduler=oldest",
                                   .part = "ParkingPart"};

static ParkingPart *part_of_machine(const TinyMachine *m) {
    return (ParkingPart *)sim_find(m->sim, "sm[0].part");
}

static void park(ParkingPart *part, WarpSet warps, uint64_t opens) {
    part->parks = warps;
    part->opens = opens;
    part_knobs_set(&part->obj);
}

START_TEST(an_object_below_an_sm_brings_a_gate_of_its_own) {
    class_register(&parking_class);
    TinyMachine *m = tiny_new(with_part);
    park(part_of_machine(m), warp_bit(1), OPEN);
    tiny_launch(m, with_part);
    tiny_finish(m);
    ck_assert_uint_eq(tiny_issued(m, 0, 0), TINY_FIRST_ISSUE + 1); /* warp 1 is fetched first, and parked */
    ck_assert_uint_eq(tiny_issued(m, 1, 0), OPEN);
    tiny_free(m);
}
END_TEST

/* What is derived from the part's state is found again: the SM's set of parked warps, the stages. */
START_TEST(a_gate_of_an_object_is_as_it_was_after_a_resume) {
    class_register(&parking_class);
    TinyMachine *m = tiny_new(with_part);
    ParkingPart *part = part_of_machine(m);
    Buffer buffer = {0};
    char why[200];
    park(part, ALL_WARPS, OPEN);
    tiny_launch(m, with_part);
    tiny_step_to(m, OPEN / 2);
    sim_save(m->sim, &buffer);
    gate_release(&part->gate, ALL_WARPS);
    park(part, 0, 0);
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    ck_assert_msg(sim_load(m->sim, &reader, NULL, why, sizeof why), "%s", why);
    buffer_free(&buffer);
    ck_assert_uint_eq(part->gate.parked, 3);
    ck_assert_uint_eq(m->sm[0]->gates.parked, 3);
    gate_check_stages(&part->gate, GATE_AT_WORK);
    tiny_finish(m);
    ck_assert_uint_eq(tiny_issued(m, 0, 0), OPEN);
    tiny_free(m);
}
END_TEST

START_TEST(the_hang_report_names_the_gate_that_has_parked_a_warp) {
    class_register(&parking_class);
    TinyMachine *m = tiny_new(with_part);
    char *report = NULL;
    park(part_of_machine(m), ALL_WARPS, NEVER_OPENS);
    tiny_launch(m, with_part);
    gpu_hang_limit(m->gpu, 1000);
    ck_assert_ptr_nonnull(strstr(tiny_error(finish, m, &report), "kernel tiny hangs"));
    ck_assert_ptr_nonnull(strstr(report, "is parked by gate parking"));
    free(report);
    tiny_free(m);
}
END_TEST

static void add_gate(void *part) {
    static IssueGate gate;
    gate_add_of_part(part, &gate, &parking_gate);
}

START_TEST(a_gate_below_anything_else_than_an_sm_is_refused) {
    class_register(&parking_class);
    TinyMachine *m = tiny_new(with_part);
    char path[] = "dispatcher.part";
    SimObject part = {.path = path, .parent = m->dispatcher};
    ck_assert_str_eq(tiny_error(add_gate, &part, NULL),
                     "dispatcher.part: expected a place below an SM, such as sm[0].part");
    tiny_free(m);
}
END_TEST

Suite *issue_gate_suite(void);

Suite *issue_gate_suite(void) {
    Suite *suite = suite_create("issue_gate");
    TCase *gates = tcase_create("gates");
    tcase_add_test(gates, a_gate_that_does_nothing_changes_nothing);
    tcase_add_test(gates, warps_that_are_held_back_issue_in_the_cycle_in_which_the_gate_opens);
    tcase_add_test(gates, a_warp_that_is_held_back_does_not_hold_up_others);
    tcase_add_test(gates, preferred_warps_go_before_others_and_hold_nobody_back);
    tcase_add_test(gates, a_squashed_warp_tries_again);
    tcase_add_test(gates, a_parked_warp_goes_on_in_the_cycle_in_which_it_is_released);
    tcase_add_test(gates, a_gate_releases_only_warps_that_it_has_parked);
    tcase_add_test(gates, a_gate_is_called_for_every_instruction_that_issues);
    tcase_add_test(gates, every_cycle_passes_once);
    tcase_add_test(gates, a_gate_that_is_not_at_work_is_not_asked);
    tcase_add_test(gates, a_cta_that_a_gate_keeps_ends_when_it_is_released);
    tcase_add_test(gates, the_hang_report_says_what_a_gate_waits_for);
    tcase_add_test(gates, a_gate_that_is_not_at_work_where_it_is_needed_is_found);
    tcase_add_test(gates, an_object_below_an_sm_brings_a_gate_of_its_own);
    tcase_add_test(gates, a_gate_of_an_object_is_as_it_was_after_a_resume);
    tcase_add_test(gates, the_hang_report_names_the_gate_that_has_parked_a_warp);
    tcase_add_test(gates, a_gate_below_anything_else_than_an_sm_is_refused);
    suite_add_tcase(suite, gates);
    return suite;
}
