/* SMs whose schedulers have fetch, register banks, collectors and units of their own, and SMs with units of more classes.
 * What the comments count with stands in test_sm_timing.c. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>

/* --- Fetch ----------------------------------------------------------------------------------- */

/* With one sub-core, warp 1 is fetched in cycle 1 and warp 0 in 2. */
START_TEST(each_sub_core_fetches_a_warp_in_a_cycle) {
    TinySpec spec = {.threads = 64,
                     .sm = "sub_cores=2",
                     .body = "mov.u32 %r1, 1;\n mov.u32 %r2, 1;\n mov.u32 %r3, 1;\n mov.u32 %r4, 1;\n"};
    TinyMachine *m = tiny_run(spec);
    ASSERT_ISSUES(m, 0, 3, 4, 6, 7, 9);
    ASSERT_ISSUES(m, 1, 3, 4, 6, 7, 9);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_issued"), 10);
    tiny_free(m);
}
END_TEST

/* Warps 0, 2 and 4 are of one sub-core, 1 and 3 of the other: 2 and 1 are fetched first, then 4 and 3, at last 0. */
START_TEST(a_sub_core_fetches_its_warps_in_turn) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 160, .sm = "sub_cores=2", .body = "exit;\n"});
    ASSERT_ISSUES(m, 2, 3);
    ASSERT_ISSUES(m, 1, 3);
    ASSERT_ISSUES(m, 4, 4);
    ASSERT_ISSUES(m, 3, 4);
    ASSERT_ISSUES(m, 0, 5);
    tiny_free(m);
}
END_TEST

/* Eight warps, four schedulers: without sub-cores one warp, two instructions, is fetched per cycle. */
START_TEST(four_sub_cores_issue_four_instructions_in_a_cycle) {
    char *body = tiny_repeated("mov.u32 %r1, 1;\n mov.u32 %r2, 1;\n mov.u32 %r3, 1;\n mov.u32 %r4, 1;\n"
                               "mov.u32 %r5, 1;\n mov.u32 %r6, 1;\n mov.u32 %r7, 1;\n mov.u32 %r8, 1;\n",
                               10);
    TinySpec spec = {
        .threads = 256, .sm = "schedulers=4 sub_cores=4 result_bus=8 other_interval=1", .body = body};
    TinyMachine *m = tiny_run(spec);
    uint64_t divided = tiny_cycles(m), issued = 8 * 81;
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_issued"), issued);
    ck_assert_uint_le(divided, 3 + issued / 4 + 2 + TINY_AFTER_EXIT);
    tiny_free(m);
    spec.sm = "schedulers=4 result_bus=8 sp_units=4 sp_collectors=16 sp_latches=4";
    m = tiny_run(spec);
    ck_assert_uint_ge(tiny_cycles(m), 3 + issued / 2);
    tiny_free(m);
    free(body);
}
END_TEST

/* --- Units and registers --------------------------------------------------------------------- */

/* Both warps issue their add in cycle 3. Of one sub-core's unit, the second would begin eight cycles later. */
START_TEST(a_busy_unit_of_one_sub_core_delays_no_other) {
    TinySpec spec = {.threads = 64,
                     .sm = "sub_cores=2 sp_units=1 int_add_interval=8",
                     .body = "add.s32 %r1, %r2, %r3;\n mov.u32 %r4, %r1;\n"};
    TinyMachine *m = tiny_run(spec);
    ASSERT_ISSUES(m, 0, 3, 3 + 10);
    ASSERT_ISSUES(m, 1, 3, 3 + 10);
    tiny_free(m);
    spec.sm = "sp_units=1 int_add_interval=8";
    m = tiny_run(spec);
    ASSERT_ISSUES(m, 1, 3, 3 + 10);
    ASSERT_ISSUES(m, 0, 4, 4 + 10 + 7);
    tiny_free(m);
}
END_TEST

/* %r1 of warp 0 and %r0 of warp 1 have the same bank, and are read in the same cycle. */
START_TEST(sub_cores_have_register_banks_of_their_own) {
    TinySpec spec = {.threads = 64,
                     .sm = "sub_cores=2 register_banks=1",
                     .body = "add.s32 %r4, %r1, 1;\n mov.u32 %r6, %r4;\n"};
    TinyMachine *m = tiny_run(spec);
    ASSERT_ISSUES(m, 0, 3, 3 + 10);
    ASSERT_ISSUES(m, 1, 3, 3 + 10);
    tiny_free(m);
}
END_TEST

/* In cycle 3 both could issue; scheduler 1 comes first in odd cycles. The other one's slot is the LSU's. */
START_TEST(sub_cores_share_the_way_to_the_load_store_unit) {
    TinySpec spec = {
        .threads = 64, .sm = "sub_cores=2", .shared_bytes = 4, .body = "st.shared.u32 [%r1], %r2;\n"};
    TinyMachine *m = tiny_run(spec);
    ASSERT_ISSUES(m, 1, 3);
    ck_assert_uint_eq(tiny_issued(m, 0, 0), 4);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_lsu"), 1);
    tiny_free(m);
}
END_TEST

/* One scheduler issues the add in 3 and the multiply in 4: with one unit for both, the multiply begins eight cycles behind
 * the add. */
START_TEST(integers_with_units_of_their_own_do_not_wait_for_single_precision) {
    TinySpec spec = {.sm = "sp_units=1 int_units=1 int_add_unit=int int_add_interval=8 fp_mul_interval=8",
                     .body = "add.s32 %r1, %r2, %r3;\n mul.f32 %f1, %f2, %f3;\n mov.u32 %r5, %r1;\n"
                             "mov.f32 %f4, %f1;\n"};
    TinyMachine *m = tiny_run(spec);
    ASSERT_ISSUES(m, 0, 3, 4, 13, 14);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "int_instructions"), 1);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "sp_instructions"), 4);
    tiny_free(m);
    spec.sm = "sp_units=1 int_add_interval=8 fp_mul_interval=8";
    m = tiny_run(spec);
    ASSERT_ISSUES(m, 0, 3, 4, 13, 14 + 7);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "int_instructions"), 0);
    tiny_free(m);
}
END_TEST

/* The second add waits in the latch until the collector is free, in cycle 7 (four cycles, one operand each of the first's
 * three); the third cannot issue before. Multiplications go on. */
START_TEST(a_full_latch_of_one_class_stops_no_instruction_of_another) {
    static const char *const sm = "schedulers=1 int_collectors=1 int_latches=1 int_mad_unit=int";
    TinyMachine *m = tiny_run((TinySpec){.sm = sm,
                                         .threads = 64,
                                         .body = "mov.u32 %r1, %tid.x;\n setp.lt.u32 %p1, %r1, 32;\n"
                                                 "@%p1 bra MADS;\n mul.f32 %f1, %f2, %f3;\n"
                                                 "mul.f32 %f4, %f2, %f3;\n mul.f32 %f5, %f2, %f3;\n"
                                                 "mul.f32 %f6, %f2, %f3;\n exit;\n"
                                                 "MADS: mad.lo.s32 %r3, %r2, %r18, %r34;\n"
                                                 "mad.lo.s32 %r4, %r2, %r18, %r34;\n"
                                                 "mad.lo.s32 %r5, %r2, %r18, %r34;\n"
                                                 "mad.lo.s32 %r6, %r2, %r18, %r34;\n"});
    uint64_t first = tiny_issued_at(m, 0, 8, 0);
    ck_assert_uint_eq(tiny_issued_at(m, 0, 9, 0), first + 1);
    ck_assert_uint_ge(tiny_issued_at(m, 0, 10, 0), first + 5);
    ck_assert_uint_gt(tiny_stat(m, "sm[0]", "slots_unit"), 0);
    ck_assert_uint_lt(tiny_issued_at(m, 1, 6, 0), tiny_issued_at(m, 0, 11, 0));
    tiny_free(m);
}
END_TEST

/* --- Stages ---------------------------------------------------------------------------------- */

/* Collector in t + 1, operands in t + 2, the unit a cycle later, its result in the next: as Volta's. */
START_TEST(stages_between_issue_and_write_back_are_parameters) {
    static const struct {
        const char *sm;
        uint64_t distance;
    } cases[] = {
        {"dispatch_cycles=1 result_cycles=0 int_add_latency=1", 4},
        {"dispatch_cycles=1 result_cycles=2 int_add_latency=1", 6},
        {"dispatch_cycles=5 result_cycles=0 int_add_latency=1", 8},
        {"dispatch_cycles=2 result_cycles=2 int_add_latency=1", 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TinyMachine *m = tiny_run(
            (TinySpec){.sm = cases[i].sm, .body = "add.s32 %r1, %r2, %r3;\n mov.u32 %r4, %r1;\n"});
        ck_assert_uint_eq(tiny_issued(m, 0, 1) - tiny_issued(m, 0, 0), cases[i].distance);
        tiny_free(m);
    }
}
END_TEST

/* One collector. With a latch behind it, an instruction leaves it a cycle before it enters the unit. */
START_TEST(a_collector_is_taken_until_its_operands_have_been_read) {
    static const struct {
        const char *sm;
        uint64_t apart;
    } cases[] = {
        {"schedulers=1 sp_collectors=1 sp_latches=1 dispatch_cycles=1", 2},
        {"schedulers=1 sp_collectors=1 sp_latches=1 dispatch_cycles=2", 2},
        {"schedulers=1 sp_collectors=1 sp_latches=1 dispatch_cycles=4", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TinyMachine *m = tiny_run((TinySpec){.sm = cases[i].sm,
                                             .body = "add.s32 %r1, %r2, %r3;\n add.s32 %r4, %r2, %r3;\n"
                                                     "mov.u32 %r5, %r1;\n mov.u32 %r6, %r4;\n"});
        uint64_t first = tiny_issued(m, 0, 2), second = tiny_issued(m, 0, 3);
        ck_assert_msg(second - first == cases[i].apart, "%s: %lu and %lu", cases[i].sm, first, second);
        tiny_free(m);
    }
}
END_TEST

Suite *sub_cores_suite(void) {
    Suite *suite = suite_create("sub_cores");
    TCase *fetch = tcase_create("fetch");
    tcase_add_test(fetch, each_sub_core_fetches_a_warp_in_a_cycle);
    tcase_add_test(fetch, a_sub_core_fetches_its_warps_in_turn);
    tcase_add_test(fetch, four_sub_cores_issue_four_instructions_in_a_cycle);
    suite_add_tcase(suite, fetch);
    TCase *units = tcase_create("units");
    tcase_add_test(units, a_busy_unit_of_one_sub_core_delays_no_other);
    tcase_add_test(units, sub_cores_have_register_banks_of_their_own);
    tcase_add_test(units, sub_cores_share_the_way_to_the_load_store_unit);
    tcase_add_test(units, integers_with_units_of_their_own_do_not_wait_for_single_precision);
    tcase_add_test(units, a_full_latch_of_one_class_stops_no_instruction_of_another);
    tcase_add_test(units, stages_between_issue_and_write_back_are_parameters);
    tcase_add_test(units, a_collector_is_taken_until_its_operands_have_been_read);
    suite_add_tcase(suite, units);
    return suite;
}
