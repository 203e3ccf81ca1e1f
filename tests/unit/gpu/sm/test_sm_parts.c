/* The SM's parts that need no machine around them: SIMT stack, operand collector, write-backs. */
#include "core/gpu/sm/structures/collector_issue.h"
#include "core/gpu/sm/structures/write_backs.h"
#include "core/sim/base/random.h"
#include "tests/unit/gpu/sm/simt_fixture.h"

#include <check.h>
#include <string.h>

Suite *sm_parts_suite(void);

/* --- SIMT stack ------------------------------------------------------------------------------ */

START_TEST(both_sides_of_a_branch_run_and_meet_at_the_post_dominator) {
    /* 0: branch to 10, reconverge at 20; the side without the highest lane runs first */
    SimtStack stack;
    SimtWaiting waiting;
    simt_start(&stack, 0xffffffff, END);
    simt_branch(&stack, &waiting, 0x0000ffff, 10, 1, 20);
    assert_top(&stack, 10, 0x0000ffff);
    simt_advance(&stack, &waiting, 20);
    assert_top(&stack, 1, 0xffff0000);
    simt_advance(&stack, &waiting, 20);
    assert_top(&stack, 20, 0xffffffff);
    ck_assert_uint_eq(stack.depth, 1);
}
END_TEST

START_TEST(a_side_that_begins_at_the_post_dominator_waits_there) {
    SimtStack stack;
    SimtWaiting waiting;
    simt_start(&stack, 0xff, END);
    simt_branch(&stack, &waiting, 0x0f, 20, 1, 20); /* if without else */
    assert_top(&stack, 1, 0xf0);
    simt_advance(&stack, &waiting, 20);
    assert_top(&stack, 20, 0xff);
}
END_TEST

START_TEST(a_loop_left_lane_by_lane_does_not_grow_the_stack) {
    /* 5: body ... 9: branch back to 5 with fewer and fewer lanes, reconverge at 10 */
    SimtStack stack;
    SimtWaiting waiting;
    simt_start(&stack, 0xffffffff, END);
    simt_advance(&stack, &waiting, 9);
    for (uint32_t left = 31; left > 0; left--) {
        uint32_t lanes = (1u << left) - 1;
        simt_branch(&stack, &waiting, lanes, 5, 10, 10);
        assert_top(&stack, 5, lanes);
        ck_assert_uint_le(stack.depth, 2);
        simt_advance(&stack, &waiting, 9);
    }
    simt_branch(&stack, &waiting, 0, 5, 10, 10);
    assert_top(&stack, 10, 0xffffffff);
    ck_assert_uint_eq(stack.depth, 1);
}
END_TEST

START_TEST(nested_branches_meet_inside_out) {
    SimtStack stack;
    SimtWaiting waiting;
    simt_start(&stack, 0xf, END);
    simt_branch(&stack, &waiting, 0x3, 10, 1, 40);
    simt_branch(&stack, &waiting, 0x1, 20, 11, 30); /* inside the first side */
    assert_top(&stack, 20, 0x1);
    simt_advance(&stack, &waiting, 30);
    assert_top(&stack, 11, 0x2);
    simt_advance(&stack, &waiting, 30);
    assert_top(&stack, 30, 0x3);
    simt_advance(&stack, &waiting, 40);
    assert_top(&stack, 1, 0xc);
    simt_advance(&stack, &waiting, 40);
    assert_top(&stack, 40, 0xf);
}
END_TEST

START_TEST(lanes_that_exit_are_missing_at_the_meeting_and_the_last_ends_the_warp) {
    SimtStack stack;
    SimtWaiting waiting;
    simt_start(&stack, 0xf, END);
    simt_branch(&stack, &waiting, 0x3, 10, 1, 40);
    simt_exit(&stack, &waiting, 0x3, 11);
    assert_top(&stack, 1, 0xc);
    simt_advance(&stack, &waiting, 40);
    assert_top(&stack, 40, 0xc);
    simt_exit(&stack, &waiting, 0x4, 41); /* guarded exit: the other lane goes on */
    assert_top(&stack, 41, 0x8);
    simt_exit(&stack, &waiting, 0x8, 42);
    ck_assert_uint_eq(stack.depth, 0);
}
END_TEST

START_TEST(a_branch_whose_sides_only_meet_at_the_end_runs_both_to_their_exits) {
    SimtStack stack;
    SimtWaiting waiting;
    simt_start(&stack, 0xf, END);
    simt_branch(&stack, &waiting, 0x8, 10, 1, END);
    assert_top(&stack, 1, 0x7);
    simt_exit(&stack, &waiting, 0x7, 2);
    assert_top(&stack, 10, 0x8);
    simt_exit(&stack, &waiting, 0x8, 11);
    ck_assert_uint_eq(stack.depth, 0);
}
END_TEST

/* --- Operand collector ----------------------------------------------------------------------- */

static CollectorShape fermi = {
    .shape = {[UNIT_SP] = {2, 6, 2}, [UNIT_SFU] = {1, 8, 1}, [UNIT_MEM] = {1, 2, 1}},
    .sub_cores = 1,
    .banks = 16,
    .result_bus_width = 2,
    .dispatch_cycles = 2,
    .result_cycles = 2,
};

static void init_fermi(void) {
    for (UnitClass class = UNIT_INT; class < UNIT_MEM; class ++)
        fermi.shape[class] = (UnitShape){1, 1, 1};
    collector_shape_init(&fermi, false);
    ck_assert(fermi.dispatch_latch && fermi.is_common);
}

static Inst with_sources(uint32_t count, uint8_t a, uint8_t b, uint8_t c) {
    const uint8_t numbers[] = {a, b, c};
    Inst inst = {0};
    for (uint32_t i = 0; i < count; i++)
        inst_reads_register(&inst, numbers[i]);
    return inst;
}

START_TEST(a_result_is_written_six_cycles_and_the_latency_after_issue) {
    OperandCollector state = {0};
    Inst inst = with_sources(2, 0, 1, 0);
    ck_assert_uint_eq(collector_issue(&state, &fermi, UNIT_SP, &inst, 0, 4, 1, 100), 100 + 6 + 4);
}
END_TEST

START_TEST(operands_in_one_bank_are_read_one_after_the_other) {
    OperandCollector state = {0};
    Inst inst = with_sources(3, 0, 16, 32); /* all in bank 0 */
    ck_assert_uint_eq(collector_issue(&state, &fermi, UNIT_SP, &inst, 0, 4, 1, 100), 100 + 6 + 4 + 2);
    ck_assert_uint_eq(state.sub_core[0].bank_conflicts, 2);
}
END_TEST

START_TEST(the_bank_of_a_register_moves_with_the_warp) {
    OperandCollector state = {0};
    Inst one = with_sources(1, 0, 0, 0), other = with_sources(1, 15, 0, 0);
    collector_issue(&state, &fermi, UNIT_SP, &one, 1, 4, 1, 100);                 /* bank 1 */
    uint64_t at = collector_issue(&state, &fermi, UNIT_SP, &other, 2, 4, 1, 100); /* bank 1 as well */
    ck_assert_uint_eq(at, 100 + 6 + 4 + 1);
}
END_TEST

START_TEST(a_result_has_its_bank_before_a_later_read) {
    /* Issued at 100 without operands, latency 4: written at 109, in bank 3. What issues at 107 reads at 109.
     */
    OperandCollector state = {0};
    Inst writer = {.dst_count = 1}, reader = with_sources(1, 3, 0, 0), other = with_sources(1, 4, 0, 0);
    inst_writes_register(&writer, 3);
    ck_assert_uint_eq(collector_issue(&state, &fermi, UNIT_SP, &writer, 0, 4, 1, 100), 109);
    ck_assert_uint_eq(collector_issue(&state, &fermi, UNIT_SP, &other, 0, 4, 1, 107), 107 + 6 + 4);
    ck_assert_uint_eq(collector_issue(&state, &fermi, UNIT_SP, &reader, 0, 4, 1, 107), 107 + 6 + 4 + 1);
}
END_TEST

START_TEST(a_bank_is_free_again_when_its_place_is_that_of_a_later_cycle) {
    OperandCollector state = {0};
    Inst inst = with_sources(1, 3, 0, 0);
    for (uint64_t at = 100, step = 1; at < 100 + 40 * BANK_RING;
         at += step * BANK_WINDOW, step = step % 5 + 1) {
        collector_begin(&state, &fermi, at);
        ck_assert_uint_eq(collector_issue(&state, &fermi, UNIT_SP, &inst, 0, 4, 1, at), at + 6 + 4);
        ck_assert_uint_eq(collector_issue(&state, &fermi, UNIT_SP, &inst, 0, 4, 1, at), at + 6 + 4 + 1);
    }
}
END_TEST

START_TEST(a_unit_takes_the_next_instruction_after_its_initiation_interval) {
    OperandCollector state = {0};
    Inst inst = with_sources(0, 0, 0, 0);
    uint64_t first = collector_issue(&state, &fermi, UNIT_SFU, &inst, 0, 8, 8, 100);
    uint64_t second = collector_issue(&state, &fermi, UNIT_SFU, &inst, 1, 8, 8, 101);
    ck_assert_uint_eq(first, 100 + 5 + 8); /* no operand to read: one cycle less */
    ck_assert_uint_eq(second, first + 8);
}
END_TEST

START_TEST(two_results_share_a_cycle_of_the_result_bus_and_the_third_waits) {
    CollectorShape wide = fermi;
    wide.shape[UNIT_SP].units = 4;
    collector_shape_init(&wide, false);
    OperandCollector state = {0};
    Inst inst = with_sources(0, 0, 0, 0);
    uint64_t first = collector_issue(&state, &wide, UNIT_SP, &inst, 0, 4, 1, 100);
    ck_assert_uint_eq(collector_issue(&state, &wide, UNIT_SP, &inst, 1, 4, 1, 100), first);
    ck_assert_uint_eq(collector_issue(&state, &wide, UNIT_SP, &inst, 2, 4, 1, 100), first + 1);
    ck_assert_uint_eq(state.result_bus[first % RESULT_BUS_RING], 2);
    ck_assert_uint_eq(state.result_bus[(first + 1) % RESULT_BUS_RING], 1);
}
END_TEST

START_TEST(issue_stalls_while_all_latches_wait_for_a_collector) {
    /* 2 memory collectors and 1 latch; the LSU takes one instruction per cycle, each is in a collector from
     * the cycle after issue until a cycle before the LSU takes it. */
    OperandCollector state = {0};
    Inst inst = with_sources(3, 0, 16, 32);
    ck_assert(collector_accepts(&state, 0, UNIT_MEM, 100));
    collector_issue_memory(&state, &fermi, &inst, 0, 100);
    ck_assert(!collector_accepts(&state, 0, UNIT_MEM, 100));
    ck_assert(collector_accepts(&state, 0, UNIT_MEM, 101));
    collector_issue_memory(&state, &fermi, &inst, 0, 101);
    collector_issue_memory(&state, &fermi, &inst, 0, 102); /* waits in the latch for a collector */
    uint64_t free = collector_accepts_at(&state, 0, UNIT_MEM);
    ck_assert_uint_gt(free, 103);
    ck_assert(!collector_accepts(&state, 0, UNIT_MEM, free - 1));
    ck_assert(collector_accepts(&state, 0, UNIT_MEM, free));
}
END_TEST

/* --- Write-backs ----------------------------------------------------------------------------- */

static WriteBacks write_backs;
static OperandCollector bus;

static void begin_write_backs(void) {
    memset(&write_backs, 0, sizeof write_backs);
    memset(&bus, 0, sizeof bus);
}

static void add_result(uint64_t cycle, Writer writer) {
    bus.result_bus[cycle % RESULT_BUS_RING]++; /* as collector_issue() does */
    write_backs_add(&write_backs, &bus, &fermi, cycle, writer);
}

/* Their places are zero again. */
static uint32_t take_results(uint64_t cycle, Writer results[MAX_RESULT_BUS]) {
    uint32_t count = write_backs_begin(&write_backs, &bus, cycle);
    for (uint32_t i = 0; i < count; i++) {
        results[i] = write_backs_take(&write_backs, &fermi, cycle, i);
        ck_assert_uint_eq(write_backs_take(&write_backs, &fermi, cycle, i), 0);
    }
    return count;
}

START_TEST(write_backs_come_in_their_cycle_and_in_the_order_of_issue) {
    Writer results[MAX_RESULT_BUS];
    begin_write_backs();
    ck_assert_uint_eq(write_backs_next(&write_backs, &bus, 5), UINT64_MAX);
    add_result(2060, writer_of(11, 1)); /* beyond one turn from 12 */
    add_result(2060, writer_of(12, 63));
    ck_assert_uint_eq(write_backs_next(&write_backs, &bus, 13), 2060);
    ck_assert_uint_eq(take_results(2059, results), 0);
    ck_assert_uint_eq(write_backs_next(&write_backs, &bus, 2059), 2060);
    ck_assert_uint_eq(take_results(2060, results), 2);
    ck_assert_uint_eq(writer_warp(results[0]), 1);
    ck_assert_uint_eq(writer_inst(results[0]), 11);
    ck_assert_uint_eq(writer_warp(results[1]), 63);
    ck_assert_uint_eq(writer_inst(results[1]), 12);
    ck_assert_uint_eq(take_results(2060, results), 0);
    ck_assert_uint_eq(write_backs_next(&write_backs, &bus, 2060), UINT64_MAX);
}
END_TEST

START_TEST(instructions_without_a_lane_end_in_their_cycle_one_after_the_other) {
    Writer writer, results[MAX_RESULT_BUS];
    begin_write_backs();
    for (uint32_t turn = 0; turn < 3; turn++) { /* round the ring */
        for (uint32_t i = 0; i < LANELESS - 4; i++)
            write_backs_add_laneless(&write_backs, 100 + turn * 50 + i, writer_of(i, turn));
        for (uint32_t i = 0; i < LANELESS - 4; i++) {
            uint64_t ends = 100 + turn * 50 + i;
            ck_assert_uint_eq(write_backs_next(&write_backs, &bus, ends - 1), ends);
            ck_assert(!write_backs_take_laneless(&write_backs, ends - 1, &writer));
            ck_assert(write_backs_take_laneless(&write_backs, ends, &writer));
            ck_assert_uint_eq(writer, writer_of(i, turn));
        }
        ck_assert_uint_eq(write_backs_next(&write_backs, &bus, 100), UINT64_MAX);
    }
    write_backs_add_laneless(&write_backs, 500, writer_of(0, 0));
    add_result(400, writer_of(1, 0));
    add_result(600, writer_of(2, 0));
    ck_assert_uint_eq(write_backs_next(&write_backs, &bus, 399), 400);
    ck_assert_uint_eq(take_results(400, results), 1);
    ck_assert_uint_eq(write_backs_next(&write_backs, &bus, 400), 500);
}
END_TEST

START_TEST(write_backs_agree_with_a_list_under_random_use) {
    uint64_t due[512];
    Writer whose[512];
    uint32_t count = 0;
    Random random = {7};
    begin_write_backs();
    for (uint64_t cycle = 0; cycle < 20000; cycle++) {
        Writer results[MAX_RESULT_BUS];
        uint32_t taken = take_results(cycle, results), expected = 0;
        for (uint32_t i = 0; i < count;) {
            if (due[i] != cycle) {
                i++;
                continue;
            }
            ck_assert_uint_lt(expected, taken);
            ck_assert(whose[i] == results[0] || whose[i] == results[1]);
            expected++;
            count--;
            due[i] = due[count];
            whose[i] = whose[count];
        }
        ck_assert_uint_eq(taken, expected);
        uint64_t next = UINT64_MAX;
        while (count < 500 && random_below(&random, 3)) {
            uint64_t at = cycle + 1 + random_below(&random, RESULT_BUS_RING - 1);
            if (bus.result_bus[at % RESULT_BUS_RING] == fermi.result_bus_width) continue;
            due[count] = at;
            whose[count] = (Writer)(cycle * 64 + count % 64);
            add_result(at, whose[count++]);
        }
        for (uint32_t i = 0; i < count; i++)
            next = due[i] < next ? due[i] : next;
        ck_assert_uint_eq(write_backs_next(&write_backs, &bus, cycle), next);
    }
}
END_TEST

Suite *sm_parts_suite(void) {
    Suite *suite = suite_create("parts of the SM");
    TCase *tests = tcase_create("parts");
    tcase_add_test(tests, both_sides_of_a_branch_run_and_meet_at_the_post_dominator);
    tcase_add_test(tests, a_side_that_begins_at_the_post_dominator_waits_there);
    tcase_add_test(tests, a_loop_left_lane_by_lane_does_not_grow_the_stack);
    tcase_add_test(tests, nested_branches_meet_inside_out);
    tcase_add_test(tests, lanes_that_exit_are_missing_at_the_meeting_and_the_last_ends_the_warp);
    tcase_add_test(tests, a_branch_whose_sides_only_meet_at_the_end_runs_both_to_their_exits);
    tcase_add_test(tests, a_result_is_written_six_cycles_and_the_latency_after_issue);
    tcase_add_test(tests, operands_in_one_bank_are_read_one_after_the_other);
    tcase_add_test(tests, the_bank_of_a_register_moves_with_the_warp);
    tcase_add_test(tests, a_result_has_its_bank_before_a_later_read);
    tcase_add_test(tests, a_bank_is_free_again_when_its_place_is_that_of_a_later_cycle);
    tcase_add_test(tests, a_unit_takes_the_next_instruction_after_its_initiation_interval);
    tcase_add_test(tests, two_results_share_a_cycle_of_the_result_bus_and_the_third_waits);
    tcase_add_test(tests, issue_stalls_while_all_latches_wait_for_a_collector);
    tcase_add_test(tests, write_backs_come_in_their_cycle_and_in_the_order_of_issue);
    tcase_add_test(tests, instructions_without_a_lane_end_in_their_cycle_one_after_the_other);
    tcase_add_test(tests, write_backs_agree_with_a_list_under_random_use);
    tcase_add_checked_fixture(tests, init_fermi, NULL);
    suite_add_tcase(suite, tests);
    return suite;
}
