/* Lanes of a warp that wait for each other: which path goes on, and where all are one again. */
#include "core/sim/base/random.h"
#include "tests/unit/gpu/sm/simt_fixture.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>

/* --- The SIMT stack --------------------------------------------------------------------------- */

/* Lanes 4 to 7 go round in a loop at 5, which ends at 10; lanes 0 to 3 have left it and wait there. */
static void spin(SimtStack *stack, SimtWaiting *waiting) {
    simt_start(stack, 0xff, END);
    simt_branch(stack, waiting, 0xf0, 5, 10, 10);
    assert_top(stack, 5, 0xf0);
}

START_TEST(who_yields_lets_the_lanes_go_on_that_wait_for_it) {
    SimtStack stack;
    SimtWaiting waiting;
    spin(&stack, &waiting);
    ck_assert(simt_yield(&stack, &waiting, false));
    assert_top(&stack, 10, 0x0f);
    ck_assert_uint_eq(stack.depth, 2);
    simt_exit(&stack, &waiting, 0x0f, 11);
    assert_top(&stack, 5, 0xf0);
    ck_assert_uint_eq(simt_lanes(&stack, &waiting), 0xf0);
    simt_exit(&stack, &waiting, 0xf0, 6);
    ck_assert_uint_eq(stack.depth, 0);
}
END_TEST

/* The loop stands on one side of a branch whose sides meet at 40. */
START_TEST(lanes_that_yielded_meet_the_others_where_the_branch_around_the_loop_ends) {
    SimtStack stack;
    SimtWaiting waiting;
    simt_start(&stack, 0xffff, END);
    simt_branch(&stack, &waiting, 0x00ff, 1, 30, 40);
    simt_branch(&stack, &waiting, 0x00f0, 5, 10, 10);
    assert_top(&stack, 5, 0x00f0);
    ck_assert(simt_yield(&stack, &waiting, false));
    assert_top(&stack, 10, 0x000f);
    simt_advance(&stack, &waiting, 40);
    assert_top(&stack, 5, 0x00f0);
    simt_branch(&stack, &waiting, 0, 5, 10, 10); /* they leave the loop */
    assert_top(&stack, 10, 0x00f0);
    simt_advance(&stack, &waiting, 40);
    assert_top(&stack, 30, 0xff00);
    simt_advance(&stack, &waiting, 40);
    assert_top(&stack, 40, 0xffff);
    ck_assert_uint_eq(stack.depth, 1);
}
END_TEST

START_TEST(paths_side_by_side_take_turns_when_nobody_waits_for_them) {
    SimtStack stack;
    SimtWaiting waiting;
    simt_start(&stack, 0xf, END);
    simt_branch(&stack, &waiting, 0x3, 10, 20, 40);
    simt_branch(&stack, &waiting, 0x1, 11, 15, 40); /* three paths that meet at 40 */
    assert_top(&stack, 11, 0x1);
    ck_assert(simt_yield(&stack, &waiting, false));
    assert_top(&stack, 15, 0x2);
    ck_assert(simt_yield(&stack, &waiting, false));
    assert_top(&stack, 20, 0xc);
    ck_assert(simt_yield(&stack, &waiting, false));
    assert_top(&stack, 11, 0x1);
    ck_assert_uint_eq(simt_lanes(&stack, &waiting), 0xf);
}
END_TEST

/* Two paths that meet at 30, of a side of a branch whose other side is at 40; the sides meet at 50. */
START_TEST(paths_that_had_their_turns_make_way_for_those_that_they_would_meet_later) {
    SimtStack stack;
    SimtWaiting waiting;
    simt_start(&stack, 0xff, END);
    simt_branch(&stack, &waiting, 0x0f, 10, 40, 50);
    simt_branch(&stack, &waiting, 0x03, 11, 20, 30);
    assert_top(&stack, 11, 0x03);
    ck_assert_uint_eq(simt_paths_beside(&stack, &waiting), 2);
    ck_assert(simt_yield(&stack, &waiting, false));
    assert_top(&stack, 20, 0x0c);
    ck_assert(simt_yield(&stack, &waiting, true));
    ck_assert_uint_eq(simt_paths_beside(&stack, &waiting), 3);
    ck_assert(simt_yield(&stack, &waiting, false));
    assert_top(&stack, 40, 0xf0);
    simt_advance(&stack, &waiting, 50);
    simt_advance(&stack, &waiting, 50);
    simt_advance(&stack, &waiting, 50);
    assert_top(&stack, 50, 0xff);
    ck_assert_uint_eq(stack.depth, 1);
}
END_TEST

/* The same within a branch whose other side is at 60; its sides meet at 70. */
START_TEST(paths_that_had_their_turns_leave_one_level_at_a_time) {
    SimtStack stack;
    SimtWaiting waiting;
    simt_start(&stack, 0xfff, END);
    simt_branch(&stack, &waiting, 0x0ff, 1, 60, 70);
    simt_branch(&stack, &waiting, 0x00f, 10, 40, 50);
    simt_branch(&stack, &waiting, 0x003, 11, 20, 30);
    ck_assert(simt_yield(&stack, &waiting, true));
    ck_assert_uint_eq(simt_paths_beside(&stack, &waiting), 3);
    ck_assert_uint_eq(stack.top.reconverge, 50);
    ck_assert(simt_yield(&stack, &waiting, true));
    ck_assert_uint_eq(simt_paths_beside(&stack, &waiting), 4);
    ck_assert_uint_eq(stack.top.reconverge, 70);
    ck_assert_uint_eq(simt_lanes(&stack, &waiting), 0xfff);
}
END_TEST

START_TEST(a_path_alone_does_not_yield) {
    SimtStack stack;
    SimtWaiting waiting;
    simt_start(&stack, 0xf, END);
    ck_assert(!simt_yield(&stack, &waiting, false));
    assert_top(&stack, 0, 0xf);
    /* They never meet: nobody waits behind the last instruction. */
    simt_branch(&stack, &waiting, 0x3, 10, 20, END);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert(simt_yield(&stack, &waiting, false));
        assert_top(&stack, i % 2 ? 10 : 20, i % 2 ? 0x3 : 0xc);
    }
    simt_exit(&stack, &waiting, 0xc, 21);
    assert_top(&stack, 10, 0x3);
    ck_assert(!simt_yield(&stack, &waiting, false));
    assert_top(&stack, 10, 0x3);
    simt_exit(&stack, &waiting, 0x3, 11);
    ck_assert_uint_eq(stack.depth, 0);
}
END_TEST

START_TEST(paths_at_the_same_instruction_become_one) {
    SimtStack stack;
    SimtWaiting waiting;
    spin(&stack, &waiting);
    ck_assert(simt_yield(&stack, &waiting, false));
    simt_advance(&stack, &waiting, 12);
    simt_join(&stack, &waiting);
    assert_top(&stack, 12, 0x0f);
    ck_assert(simt_yield(&stack, &waiting, false));
    simt_branch(&stack, &waiting, 0, 5, 10, 10);
    simt_advance(&stack, &waiting, 12);
    assert_top(&stack, 12, 0xf0);
    simt_join(&stack, &waiting);
    assert_top(&stack, 12, 0xff);
    ck_assert_uint_eq(stack.depth, 1);
}
END_TEST

/* Four ifs, one inside the other, at 0, 10, 20, 30, with or without an else at 5, 15, 25, 35; their sides meet at 90, 80, 70,
 * 60. In the innermost, at 45, a loop. Returns the lanes that exit. */
static uint32_t step(SimtStack *stack, SimtWaiting *waiting, Random *random) {
    uint32_t pc = stack->top.pc, lanes = stack->top.lanes, some = (uint32_t)random_next(random) & lanes;
    uint32_t meets = 90 - pc / 10 * 10;
    if (pc >= 90) {
        simt_exit(stack, waiting, lanes, pc + 1);
        return lanes;
    }
    if (pc == 45)
        simt_branch(stack, waiting, some, 45, 60, 60);
    else if (pc < 40 && pc % 10 == 0)
        simt_branch(stack, waiting, some, random_next(random) % 2 ? meets : pc + 5, pc + 10, meets);
    else
        simt_advance(stack, waiting, pc == 40 ? 45 : pc < 40 ? meets : pc + 10);
    return 0;
}

START_TEST(yields_anywhere_lose_no_lane) {
    Random random = {1};
    for (uint32_t round = 0; round < 2000; round++) {
        SimtStack stack;
        SimtWaiting waiting;
        uint32_t left = 0xffffffff, steps = 0;
        simt_start(&stack, left, END);
        while (stack.depth && steps++ < 100000) {
            uint32_t chance = (uint32_t)random_next(&random) % 8;
            if (chance == 0) simt_yield(&stack, &waiting, random_below(&random, 2));
            if (chance == 1) simt_join(&stack, &waiting);
            uint32_t before = stack.top.lanes, gone = step(&stack, &waiting, &random);
            ck_assert_uint_ne(before, 0);
            ck_assert_uint_eq(gone & ~left, 0);
            left &= ~gone;
            ck_assert_uint_eq(stack.depth ? simt_lanes(&stack, &waiting) : 0, left);
        }
        ck_assert_uint_eq(left, 0);
    }
}
END_TEST

/* --- A warp ------------------------------------------------------------------------------------ */

/* Lanes 0 to 15 wait behind the loop, in which the others look for what they write then. Instruction 3 is the load, 5 the
 * branch back, 6 the first behind the loop. */
#define LOOK                                                                                                 \
    "mov.u32 %r1, %laneid;\n setp.lt.u32 %p1, %r1, 16;\n@%p1 bra GO;\n"                                      \
    "L: ld.volatile.shared.u32 %r2, [flag];\n setp.eq.u32 %p2, %r2, 0;\n@%p2 bra L;\n"                       \
    "GO: st.volatile.shared.u32 [flag], 1;\n"
#define BODY ".shared .align 4 .b32 flag;\n" LOOK
enum { AT_LOAD = 3, AT_STORE = 6, TURNS = 64 };

/* Issues of the warp at `pc` before its first at `until`. */
static uint32_t issues_before(const TinyMachine *m, uint32_t pc, uint32_t until) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->issue_count && m->issues[i].pc != until; i++)
        count += m->issues[i].pc == pc;
    return count;
}

static const Issue *last_issue_at(const TinyMachine *m, uint32_t pc) {
    const Issue *last = NULL;
    for (uint32_t i = 0; i < m->issue_count; i++)
        if (m->issues[i].pc == pc) last = &m->issues[i];
    ck_assert_ptr_nonnull(last);
    return last;
}

START_TEST(a_path_yields_after_so_many_turns_in_which_all_of_it_went_on) {
    TinyMachine *m = tiny_run((TinySpec){.body = BODY, .target = 70});
    ck_assert_uint_eq(issues_before(m, AT_LOAD, AT_STORE), TURNS);
    ck_assert_uint_eq(last_issue_at(m, AT_STORE)->lanes, 0xffff0000);
    tiny_free(m);
}
END_TEST

/* Lane i waits for lane i - 1: 64 turns in the first of which lane 0 leaves, four for each of 30 lanes, and lane 31 is alone. */
START_TEST(a_path_of_a_warp_that_has_yielded_does_so_sooner) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "mov.u32 %r1, %laneid;\n add.u32 %r3, %r1, 1;\n"
                           "L: ld.volatile.shared.u32 %r2, [0];\n setp.ne.u32 %p1, %r2, %r1;\n@%p1 bra L;\n"
                           "st.volatile.shared.u32 [0], %r3;\n",
                   .shared_bytes = 4,
                   .target = 70});
    ck_assert_uint_eq(issues_before(m, 2, UINT32_MAX), TURNS + 30 * 4 + 1);
    tiny_free(m);
}
END_TEST

/* Lanes 0 to 30 wait in two loops for what lane 31, on the other side of the branch around both, writes. */
START_TEST(two_paths_that_wait_for_a_lane_further_out_do_not_hand_the_turn_to_each_other_for_ever) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "mov.u32 %r1, %laneid;\n setp.eq.u32 %p1, %r1, 31;\n@%p1 bra LAST;\n"
                           "setp.lt.u32 %p2, %r1, 16;\n@%p2 bra B;\n"
                           "A: ld.volatile.shared.u32 %r2, [0];\n setp.eq.u32 %p3, %r2, 0;\n"
                           "@%p3 bra A;\n bra MEET;\n"
                           "B: ld.volatile.shared.u32 %r2, [0];\n setp.ne.u32 %p3, %r2, 1;\n"
                           "@%p3 bra B;\n"
                           "MEET: st.global.u32 [out], %r2;\n bra END;\n"
                           "LAST: st.volatile.shared.u32 [0], 1;\n"
                           "END: st.global.u32 [out+4], %r1;\n",
                   .shared_bytes = 4,
                   .target = 70});
    ck_assert_uint_eq(tiny_word(m, 0), 1);
    tiny_free(m);
}
END_TEST

/* Lanes 16 to 31 go round by the second of two branches back, as behind a time that is up. */
START_TEST(a_branch_back_that_is_not_taken_leaves_no_loop_in_which_it_stands) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "mov.u32 %r1, %laneid;\n setp.lt.u32 %p1, %r1, 16;\n"
                           "setp.gt.u32 %p3, %r1, 99;\n@%p1 bra GO;\n"
                           "L: ld.volatile.shared.u32 %r2, [0];\n setp.ne.u32 %p2, %r2, 0;\n"
                           "@%p2 bra GO;\n@%p3 bra L;\n bra L;\n"
                           "GO: st.volatile.shared.u32 [0], 1;\n",
                   .shared_bytes = 4,
                   .target = 70});
    ck_assert_uint_eq(issues_before(m, 4, 9), TURNS);
    tiny_free(m);
}
END_TEST

/* Lanes 16 to 31 look, sleep for 10 us and look again, for what the others write: these need not wait for 64 sleeps. */
START_TEST(a_path_that_sleeps_in_a_loop_that_waits_lets_the_others_go_on) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "mov.u32 %r1, %laneid;\n setp.lt.u32 %p1, %r1, 16;\n@%p1 bra GO;\n"
                           "L: ld.volatile.shared.u32 %r2, [0];\n setp.eq.u32 %p2, %r2, 0;\n"
                           "nanosleep.u32 10000;\n@%p2 bra L;\n"
                           "GO: st.volatile.shared.u32 [0], 1;\n",
                   .shared_bytes = 4,
                   .target = 70});
    ck_assert_uint_eq(issues_before(m, 3, 7), 2);
    tiny_free(m);
}
END_TEST

/* As on GPUs before that. */
START_TEST(lanes_of_ptx_for_older_targets_wait_forever) {
    TinySpec spec = {.body = BODY, .target = 60};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    tiny_step_to(m, 30000);
    ck_assert_uint_gt(issues_before(m, AT_LOAD, AT_STORE), 2 * TURNS);
    tiny_free(m);
}
END_TEST

/* Lane by lane, as each sees its own number: 31 leaves first, then the next one, which the turn before did not see. */
START_TEST(turns_in_which_lanes_leave_do_not_count) {
    TinyMachine *m = tiny_run((TinySpec){
        .body = "mov.u32 %r1, %laneid;\n mov.u32 %r3, 1000;\n"
                "L: ld.volatile.shared.u32 %r2, [0];\n sub.u32 %r3, %r3, 1;\n shr.u32 %r4, %r3, 4;\n"
                "setp.gt.u32 %p1, %r4, %r1;\n@%p1 bra L;\n st.global.u32 [out], %r1;\n",
        .shared_bytes = 4,
        .target = 70});
    /* Lane 31 stays for 489 turns, and each next one for 16 more. */
    ck_assert_uint_eq(last_issue_at(m, 7)->lanes, 0xffffffff);
    tiny_free(m);
}
END_TEST

START_TEST(all_lanes_are_one_path_again_at_a_barrier) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = BODY "bar.sync 0;\n st.global.u32 [out], %r1;\n", .target = 70});
    ck_assert_uint_eq(issues_before(m, AT_LOAD, AT_STORE), TURNS);
    ck_assert_uint_eq(last_issue_at(m, AT_STORE + 2)->lanes, 0xffffffff);
    tiny_free(m);
}
END_TEST

#define SHUFFLE(lane, mask) "shfl.sync.idx.b32 %r3, %r1, " lane ", 31, " mask ";\n"
#define SHOW                                                                                                 \
    "mul.wide.u32 %d1, %r1, 4;\n mov.u64 %d2, out;\n add.u64 %d1, %d1, %d2;\n st.global.u32 [%d1], %r3;\n"

START_TEST(lanes_wait_for_those_that_an_instruction_names) {
    TinyMachine *m = tiny_run((TinySpec){.body = BODY SHUFFLE("31", "-1") SHOW, .target = 70});
    for (uint32_t lane = 0; lane < 32; lane++)
        ck_assert_uint_eq(tiny_word(m, lane), 31);
    ck_assert_uint_eq(last_issue_at(m, AT_STORE + 1)->lanes,
                      0xffff0000); /* as they came: then all took part */
    ck_assert_uint_eq(last_issue_at(m, AT_STORE + 2)->lanes, 0xffffffff);
    tiny_free(m);
}
END_TEST

START_TEST(lanes_do_not_wait_for_those_that_it_does_not_name) {
    const char *const body = BODY "@!%p1 bra E;\n" SHUFFLE("15", "0xffff") SHOW
        "E: st.global.u32 [out+256], %r1;\n";
    TinyMachine *m = tiny_run((TinySpec){.body = body, .target = 70});
    for (uint32_t lane = 0; lane < 16; lane++)
        ck_assert_uint_eq(tiny_word(m, lane), 15);
    ck_assert_uint_eq(issues_before(m, AT_STORE + 2, UINT32_MAX), 1);
    tiny_free(m);
}
END_TEST

/* What PTX leaves undefined ends all the same. */
START_TEST(lanes_that_wait_for_each_other_at_different_places_go_on) {
    const char *const body = BODY "@%p1 bra A;\n bar.warp.sync -1;\n bra E;\nA: bar.warp.sync -1;\n"
                                  "E: st.global.u32 [out], %r1;\n";
    TinyMachine *m = tiny_run((TinySpec){.body = body, .target = 70});
    ck_assert_uint_eq(issues_before(m, AT_LOAD, AT_STORE), TURNS);
    tiny_free(m);
}
END_TEST

START_TEST(lanes_that_have_left_do_not_hold_up_the_others) {
    const char *const body = BODY "@%p1 exit;\n bar.warp.sync -1;\n st.global.u32 [out], 5;\n";
    TinyMachine *m = tiny_run((TinySpec){.body = body, .target = 70});
    ck_assert_uint_eq(tiny_word(m, 0), 5);
    tiny_free(m);
}
END_TEST

Suite *paths_suite(void) {
    Suite *suite = suite_create("paths");
    TCase *tcase = tcase_create("paths");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, who_yields_lets_the_lanes_go_on_that_wait_for_it);
    tcase_add_test(tcase, lanes_that_yielded_meet_the_others_where_the_branch_around_the_loop_ends);
    tcase_add_test(tcase, paths_side_by_side_take_turns_when_nobody_waits_for_them);
    tcase_add_test(tcase, paths_that_had_their_turns_make_way_for_those_that_they_would_meet_later);
    tcase_add_test(tcase, paths_that_had_their_turns_leave_one_level_at_a_time);
    tcase_add_test(tcase, a_path_alone_does_not_yield);
    tcase_add_test(tcase, paths_at_the_same_instruction_become_one);
    tcase_add_test(tcase, yields_anywhere_lose_no_lane);
    tcase_add_test(tcase, a_path_yields_after_so_many_turns_in_which_all_of_it_went_on);
    tcase_add_test(tcase, a_path_of_a_warp_that_has_yielded_does_so_sooner);
    tcase_add_test(tcase, a_path_that_sleeps_in_a_loop_that_waits_lets_the_others_go_on);
    tcase_add_test(tcase, a_branch_back_that_is_not_taken_leaves_no_loop_in_which_it_stands);
    tcase_add_test(tcase,
                   two_paths_that_wait_for_a_lane_further_out_do_not_hand_the_turn_to_each_other_for_ever);
    tcase_add_test(tcase, lanes_of_ptx_for_older_targets_wait_forever);
    tcase_add_test(tcase, turns_in_which_lanes_leave_do_not_count);
    tcase_add_test(tcase, all_lanes_are_one_path_again_at_a_barrier);
    tcase_add_test(tcase, lanes_wait_for_those_that_an_instruction_names);
    tcase_add_test(tcase, lanes_do_not_wait_for_those_that_it_does_not_name);
    tcase_add_test(tcase, lanes_that_wait_for_each_other_at_different_places_go_on);
    tcase_add_test(tcase, lanes_that_have_left_do_not_hold_up_the_others);
    suite_add_tcase(suite, tcase);
    return suite;
}
