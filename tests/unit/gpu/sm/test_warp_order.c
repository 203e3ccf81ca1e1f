/* Which warp a scheduler issues, cycle by cycle: its order, and the limit of active warps. What the comments
 * count with: see test_sm_timing.c. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>

/* --- Order of the schedulers ----------------------------------------------------------------- */

static const char *const six_moves = "mov.u32 %r1, 1;\n mov.u32 %r2, 1;\n mov.u32 %r3, 1;\n"
                                     "mov.u32 %r4, 1;\n mov.u32 %r5, 1;\n mov.u32 %r6, 1;\n";

/* The warps that issue, cycle by cycle from 3 on; '.' where none does. */
static void assert_order(const TinyMachine *machine, const char *order) {
    uint32_t n = 0;
    for (uint64_t cycle = 3; *order; order++, cycle++) {
        if (*order == '.') continue;
        ck_assert_uint_lt(n, machine->issue_count);
        ck_assert_msg(machine->issues[n].cycle == cycle &&
                          machine->issues[n].warp == (uint32_t)(*order - '0'),
                      "cycle %lu: warp %u, and not warp %c in %lu", machine->issues[n].cycle,
                      machine->issues[n].warp, *order, cycle);
        n++;
    }
    ck_assert_uint_eq(n, machine->issue_count);
}

/* Warps 1, 2, 0 can issue from cycles 3, 4, 5 on. Each has six moves and an exit; its buffer is empty for a
 * cycle after every second. Round robin never comes back to a warp before its third cycle, so no cycle is
 * lost. */
START_TEST(loose_round_robin_takes_the_warps_in_turn) {
    TinyMachine *m = tiny_run(
        (TinySpec){.threads = 96, .sm = "schedulers=1 scheduler=lrr", .body = six_moves});
    assert_order(m, "120120120120120120120");
    ck_assert_uint_eq(tiny_cycles(m), 23 + TINY_AFTER_EXIT);
    tiny_free(m);
}
END_TEST

/* Greedy: a warp issues both instructions of its buffer. Then, with its buffer empty, the oldest that can:
 * the two oldest fill all cycles between them, and warp 2 gets its first slot when both have left, in
 * cycle 17. Alone, it issues two in three cycles. */
START_TEST(greedy_then_oldest_stays_with_a_warp_and_then_takes_the_oldest) {
    TinyMachine *m = tiny_run(
        (TinySpec){.threads = 96, .sm = "schedulers=1 scheduler=gto", .body = six_moves});
    assert_order(m, "11001100110010"
                    "22.22.22.2");
    ck_assert_uint_eq(tiny_cycles(m), 26 + TINY_AFTER_EXIT);
    tiny_free(m);
}
END_TEST

/* Round robin skips a warp that cannot issue: warp 1 waits for its divide, which takes 151 cycles, while the
 * others come to their ends. */
START_TEST(loose_round_robin_skips_warps_that_wait) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 96,
                                         .sm = "schedulers=1 scheduler=lrr",
                                         .body = "mov.u32 %r1, %tid.x;\n"
                                                 "shr.u32 %r1, %r1, 5;\n"
                                                 "setp.ne.u32 %p1, %r1, 1;\n"
                                                 "@%p1 bra REST;\n"
                                                 "div.u32 %r2, %r1, 3;\n"
                                                 "mov.u32 %r3, %r2;\n"
                                                 "REST: mov.u32 %r4, 1;\n"});
    uint64_t divide = tiny_issued_at(m, 1, 4, 0);
    ck_assert_uint_eq(tiny_issued_at(m, 1, 5, 0), divide + 151);
    for (uint32_t warp = 0; warp <= 2; warp += 2)
        ck_assert_uint_lt(tiny_issued_at(m, warp, 7, 0), divide + 10);
    tiny_free(m);
}
END_TEST

/* Fetch groups {0, 1} and {2, 3}; warps 1, 2, 3, 0 can issue from cycles 3, 4, 5, 6 on. The first group
 * stalls when warp 1 has issued two, before warp 0 comes. The other fills every cycle from 5 on, greedy then
 * oldest, and keeps the slot until both its warps have left, though warp 0 is older. */
START_TEST(two_level_stays_with_a_group_until_all_its_warps_have_stalled) {
    TinyMachine *m = tiny_run(
        (TinySpec){.threads = 128, .sm = "schedulers=1 scheduler=groups group_size=2", .body = six_moves});
    assert_order(m, "11"
                    "22332233223323"
                    "001100110010");
    tiny_free(m);
}
END_TEST

/* Three groups of one warp each, and only the oldest when the slot is free: as greedy-then-oldest. */
START_TEST(two_level_goes_on_with_the_group_of_the_oldest_ready_warp) {
    TinyMachine *m = tiny_run(
        (TinySpec){.threads = 96, .sm = "schedulers=1 scheduler=groups group_size=1", .body = six_moves});
    assert_order(m, "11001100110010"
                    "22.22.22.2");
    tiny_free(m);
}
END_TEST

/* The same with round robin: in turn within a group, and from group {0, 1} to {2, 3} and back. */
START_TEST(two_level_round_robin_takes_the_warps_of_a_group_and_the_groups_in_turn) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 128,
                                         .sm = "schedulers=1 scheduler=groups group_size=2 group_order=lrr",
                                         .body = six_moves});
    assert_order(m, "11"
                    "23232323232323"
                    "01010101010.0");
    tiny_free(m);
}
END_TEST

/* Three groups of one warp: warp 1 stalls after two, then warp 2, and then it is warp 0's turn. */
START_TEST(two_level_round_robin_goes_on_with_the_next_group) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 96,
                                         .sm = "schedulers=1 scheduler=groups group_size=1 group_order=lrr",
                                         .body = six_moves});
    assert_order(m, "112200112200112200120");
    tiny_free(m);
}
END_TEST

/* --- The limit of active warps --------------------------------------------------------------- */

/* Warp 1 could issue from cycle 3 on, but warp 0 is older; it comes in 5. The exit of one lets the next issue
 * in the cycle after. */
START_TEST(with_a_limit_of_one_only_the_oldest_warp_issues) {
    TinyMachine *m = tiny_run(
        (TinySpec){.threads = 96, .sm = "schedulers=1 warp_limit=1", .body = six_moves});
    assert_order(m, "..00.00.00.0"
                    "11.11.11.1"
                    "22.22.22.2");
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_policy"), 2 + 3 + 3);
    tiny_free(m);
}
END_TEST

START_TEST(the_limit_counts_for_each_scheduler) {
    TinyMachine *m = tiny_run(
        (TinySpec){.threads = 128, .sm = "schedulers=2 warp_limit=1", .body = six_moves});
    ASSERT_ISSUES(m, 0, 6, 7, 9, 10, 12, 13, 15);
    ASSERT_ISSUES(m, 1, 3, 4, 7, 8, 10, 11, 13);
    ASSERT_ISSUES(m, 2, 16, 17, 19, 20, 22, 23, 25);
    ASSERT_ISSUES(m, 3, 14, 15, 17, 18, 20, 21, 23);
    tiny_free(m);
}
END_TEST

/* CTA 0 leaves; CTA 3 gets its slot, warp 0, and is the youngest: it waits until both older warps have left.
 */
START_TEST(the_limit_lets_the_oldest_of_all_ctas_issue) {
    TinyMachine *m = tiny_run((TinySpec){.ctas = 4,
                                         .sm = "schedulers=1 warp_limit=1 ctas=3",
                                         .body = "mov.u32 %r1, %ctaid.x;\n setp.eq.u32 %p1, %r1, 0;\n"
                                                 "@%p1 exit;\n mov.u32 %r2, 1;\n mov.u32 %r3, 1;\n"
                                                 "mov.u32 %r4, 1;\n mov.u32 %r5, 1;\n"});
    uint64_t end_of_1 = tiny_issued_at(m, 1, 7, 0), end_of_2 = tiny_issued_at(m, 2, 7, 0);
    ck_assert_uint_gt(tiny_issued_at(m, 2, 0, 0), end_of_1);
    ck_assert_uint_gt(tiny_issued_at(m, 0, 0, 1), end_of_2);
    tiny_free(m);
}
END_TEST

/* Warp 0 waits at the barrier from 6 on: both others may come after it. From their release in 10 on the limit
 * holds again. */
START_TEST(warps_beyond_the_limit_catch_up_to_a_barrier) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 96,
                                         .sm = "schedulers=1 warp_limit=1",
                                         .body = "mov.u32 %r1, 1;\n bar.sync 0;\n mov.u32 %r2, 1;\n"});
    assert_order(m, "..00"
                    "1122"
                    "001122");
    tiny_free(m);
}
END_TEST

/* A warp at a fence waits for its stores alone. */
START_TEST(nobody_catches_up_to_a_fence) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 64,
                                         .sm = "schedulers=1 warp_limit=1",
                                         .body = "st.global.u32 [out], 1;\n membar.gl;\n mov.u32 %r2, 1;\n"});
    ck_assert_uint_gt(tiny_issued(m, 0, 3), tiny_issued(m, 0, 1) + TINY_MEMORY_LATENCY);
    ck_assert_uint_eq(tiny_issued(m, 1, 0), tiny_issued(m, 0, 3) + 1);
    tiny_free(m);
}
END_TEST

/* Age is that of the CTA, not of the slot. CTA 0 leaves at once, and CTA 3 gets its slot, warp 0, while warps
 * 1 and 2 have 30 moves each: between them they fill every cycle, as above, until one has left. */
START_TEST(the_oldest_warp_is_the_one_that_started_first) {
    char *moves = tiny_repeated("mov.u32 %r2, 1;\n mov.u32 %r3, 1;\n mov.u32 %r4, 1;\n mov.u32 %r5, 1;\n"
                                "mov.u32 %r6, 1;\n mov.u32 %r7, 1;\n mov.u32 %r8, 1;\n mov.u32 %r9, 1;\n"
                                "mov.u32 %r10, 1;\n mov.u32 %r11, 1;\n",
                                3);
    char *body = NULL;
    ck_assert_int_gt(
        asprintf(&body, "mov.u32 %%r1, %%ctaid.x;\n setp.eq.u32 %%p1, %%r1, 0;\n @%%p1 exit;\n%s", moves), 0);
    TinyMachine *m = tiny_run((TinySpec){.ctas = 4, .sm = "schedulers=1 scheduler=gto ctas=3", .body = body});
    uint64_t first_end = tiny_issued_at(m, 1, 33, 0), other_end = tiny_issued_at(m, 2, 33, 0);
    if (other_end < first_end) first_end = other_end;
    ck_assert_uint_gt(tiny_issued_at(m, 0, 0, 1), first_end);
    ck_assert_uint_lt(tiny_stat(m, "sm[0]", "ctas_started"), 5);
    tiny_free(m);
    free(body);
    free(moves);
}
END_TEST

Suite *warp_order_suite(void) {
    Suite *suite = suite_create("warp_order");
    TCase *order = tcase_create("order");
    tcase_add_test(order, loose_round_robin_takes_the_warps_in_turn);
    tcase_add_test(order, loose_round_robin_skips_warps_that_wait);
    tcase_add_test(order, greedy_then_oldest_stays_with_a_warp_and_then_takes_the_oldest);
    tcase_add_test(order, two_level_stays_with_a_group_until_all_its_warps_have_stalled);
    tcase_add_test(order, two_level_goes_on_with_the_group_of_the_oldest_ready_warp);
    tcase_add_test(order, two_level_round_robin_takes_the_warps_of_a_group_and_the_groups_in_turn);
    tcase_add_test(order, two_level_round_robin_goes_on_with_the_next_group);
    tcase_add_test(order, with_a_limit_of_one_only_the_oldest_warp_issues);
    tcase_add_test(order, the_limit_counts_for_each_scheduler);
    tcase_add_test(order, the_limit_lets_the_oldest_of_all_ctas_issue);
    tcase_add_test(order, warps_beyond_the_limit_catch_up_to_a_barrier);
    tcase_add_test(order, nobody_catches_up_to_a_fence);
    tcase_add_test(order, the_oldest_warp_is_the_one_that_started_first);
    suite_add_tcase(suite, order);
    return suite;
}
