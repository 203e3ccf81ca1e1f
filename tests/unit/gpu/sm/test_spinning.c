/* Warps that spin: which loops and turns count, when it is over, and that they take no place of the warp limit. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

/* Warps but the first take the branch. */
#define OTHERS(label) "mov.u32 %r1, %tid.x;\n setp.ge.u32 %p1, %r1, 32;\n@%p1 bra " label ";\n"
/* Until the word of shared memory is not 0. Its branch back is the third instruction. */
#define WAIT(label, word)                                                                                    \
    label ": ld.volatile.shared.u32 %r2, [" word "];\n setp.eq.u32 %p2, %r2, 0;\n@%p2 bra " label ";\n"
#define LATE(word)                                                                                           \
    "ld.global.u32 %r3, [out];\n add.u32 %r3, %r3, 1;\n ld.global.u32 %r4, [out+4];\n"                       \
    "add.u32 %r3, %r3, %r4;\n st.volatile.shared.u32 [" word "], %r3;\n"
enum { BRANCH = 5 }; /* of WAIT behind OTHERS */

static uint32_t issues_at(const TinyMachine *m, uint32_t warp, uint32_t pc) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->issue_count; i++)
        count += m->issues[i].warp == warp && m->issues[i].pc == pc;
    return count;
}

/* Of warp 0, how often the instruction at `pc` had issued when it began to spin, when that had ended, and at last. */
typedef struct {
    uint32_t begun, ended, last, times;
} Spins;

static Spins watch(TinySpec spec, uint32_t pc) {
    TinyMachine *m = tiny_new(spec);
    Spins spins = {0};
    WarpSet before = 0;
    tiny_launch(m, spec);
    for (bool goes_on = true; goes_on;) {
        goes_on = tiny_step(m);
        WarpSet now = m->sm[0]->spinning & 1;
        if (now && !before) spins.times++;
        if (now && !before) spins.begun = issues_at(m, 0, pc);
        if (before && !now) spins.ended = issues_at(m, 0, pc);
        before = now;
    }
    ck_assert_uint_eq(m->sm[0]->spinning, 0);
    spins.last = issues_at(m, 0, pc);
    tiny_free(m);
    return spins;
}

#define FLAG OTHERS("SET") WAIT("L", "0") "bra E;\nSET: " LATE("0") "E: st.global.u32 [out+8], %r1;\n"

START_TEST(a_warp_spins_from_the_second_turn_in_which_nothing_is_new_until_it_leaves_the_loop) {
    static const uint32_t targets[] = {20, 70};
    for (uint32_t i = 0; i < 2; i++) {
        Spins spins = watch((TinySpec){.body = FLAG, .threads = 64, .shared_bytes = 4, .target = targets[i]},
                            BRANCH);
        ck_assert_uint_eq(spins.times, 1);
        ck_assert_uint_eq(spins.begun, 2);
        ck_assert_uint_gt(spins.ended, 3);
        ck_assert_uint_eq(spins.ended, spins.last);
    }
}
END_TEST

START_TEST(a_warp_that_leaves_by_a_branch_within_the_loop_spins_no_more) {
    const char *const body = OTHERS(
        "SET") "L: ld.volatile.shared.u32 %r2, [0];\n setp.ne.u32 %p2, %r2, 0;\n@%p2 bra E;\n bra L;\n"
               "SET: " LATE("0") "E: st.global.u32 [out+8], %r1;\n"
                                 "st.global.u32 [out+8], %r2;\n";
    Spins spins = watch((TinySpec){.body = body, .threads = 64, .shared_bytes = 4}, BRANCH);
    ck_assert_uint_eq(spins.times, 1);
    ck_assert_uint_gt(spins.ended, 3);
    ck_assert_uint_eq(spins.ended, spins.last);
}
END_TEST

START_TEST(a_warp_whose_lanes_exit_within_the_loop_spins_no_more) {
    const char *const body = OTHERS(
        "SET") "L: ld.volatile.shared.u32 %r2, [0];\n setp.ne.u32 %p2, %r2, 0;\n@%p2 exit;\n bra L;\n"
               "SET: " LATE("0");
    ck_assert_uint_eq(watch((TinySpec){.body = body, .threads = 64, .shared_bytes = 4}, BRANCH).times, 1);
}
END_TEST

/* Warp 1 has the lock while it loads; it works within the loop, as the one that gets it later does. */
START_TEST(a_warp_spins_for_a_lock_whose_loop_has_the_work_in_it) {
    const char *const body = "mov.u32 %r1, %tid.x;\n and.b32 %r5, %r1, 31;\n setp.eq.u32 %p3, %r5, 0;\n"
                             "@!%p3 exit;\n"
                             "L: atom.shared.cas.b32 %r2, [0], 0, 1;\n setp.ne.u32 %p2, %r2, 0;\n"
                             "@%p2 bra M;\n ld.global.u32 %r3, [out];\n add.u32 %r3, %r3, 1;\n"
                             "st.global.u32 [out], %r3;\n st.volatile.shared.u32 [0], 0;\n"
                             "M: @%p2 bra L;\n";
    Spins spins = watch((TinySpec){.body = body, .threads = 64, .shared_bytes = 4}, 11);
    ck_assert_uint_eq(spins.times, 1);
    ck_assert_uint_eq(spins.begun, 2);
}
END_TEST

/* Predicate operands have the numbers of predicates: the constants stand for the first, as it is and negated. */
START_TEST(predicates_that_a_loop_sets_to_constants_hide_no_spinning) {
    const char *const body = OTHERS(
        "SET") "L: mov.pred %p3, 0;\n mov.pred %p4, -1;\n ld.volatile.shared.u32 %r2, [0];\n"
               "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra L;\n bra E;\nSET: " LATE(
                   "0") "E: st.global.u32 [out+8], %r1;\n";
    Spins spins = watch((TinySpec){.body = body, .threads = 64, .shared_bytes = 4}, BRANCH + 2);
    ck_assert_uint_eq(spins.times, 1);
    ck_assert_uint_eq(spins.begun, 2);
}
END_TEST

START_TEST(what_changes_from_turn_to_turn_is_no_spinning) {
    static const char *const bodies[] = {
        /* a loop that counts its turns, */
        "mov.u32 %r3, 20;\nL: ld.volatile.shared.u32 %r2, [0];\n sub.u32 %r3, %r3, 1;\n"
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\n",
        /* one that looks at something else each time, and compares that, */
        "mov.u32 %r3, 0;\nL: atom.shared.add.u32 %r3, [0], 1;\n setp.lt.u32 %p1, %r3, 640;\n@%p1 bra L;\n",
        /* and one that a lane leaves in each turn. */
        "mov.u32 %r1, %tid.x;\n mov.u32 %r3, 0;\nL: ld.volatile.shared.u32 %r2, [0];\n add.u32 %r3, %r3, 1;\n"
        "setp.lt.u32 %p1, %r3, %r1;\n@%p1 bra L;\n",
        "mov.u32 %r3, 20;\nL: ld.shared.u32 %r2, [0];\n setp.ne.u32 %p2, %r2, 0;\n add.u32 %r3, %r3, -1;\n"
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\n"};
    for (uint32_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        ck_assert_uint_eq(watch((TinySpec){.body = bodies[i], .shared_bytes = 4}, 0).times, 0);
}
END_TEST

/* Lanes 16 to 31 look for what the others, who wait behind the loop, write when the path has yielded. */
START_TEST(a_path_that_lets_others_of_its_warp_go_on_spins_no_more) {
    Spins spins = watch(
        (TinySpec){.body = "mov.u32 %r1, %laneid;\n setp.lt.u32 %p1, %r1, 16;\n@%p1 bra GO;\n" WAIT(
                       "L", "0") "GO: st.volatile.shared.u32 [0], 1;\n",
                   .shared_bytes = 4,
                   .target = 70},
        BRANCH);
    ck_assert_uint_eq(spins.times, 1);
    ck_assert_uint_eq(spins.ended, 64);
}
END_TEST

/* --- The warp limit ---------------------------------------------------------------------------- */

/* The first warp is the oldest; what it waits for comes from the second. */
START_TEST(warps_that_spin_take_no_place_of_the_warp_limit) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = FLAG, .threads = 64, .shared_bytes = 4, .sm = "schedulers=1 warp_limit=1"});
    ck_assert_uint_gt(issues_at(m, 0, BRANCH), 3);
    tiny_free(m);
}
END_TEST

/* The first warp of CTA 0 waits for CTA 1, the second one at a barrier for the first. */
START_TEST(warps_at_a_barrier_for_one_that_spins_take_no_place_either) {
    const char *const body = "mov.u32 %r5, %ctaid.x;\n setp.ne.u32 %p3, %r5, 0;\n@%p3 bra LAST;\n" OTHERS(
        "MEET") "L: ld.volatile.global.u32 %r2, [out];\n setp.eq.u32 %p2, %r2, 0;\n@%p2 bra L;\n"
                "MEET: bar.sync 0;\n exit;\nLAST: st.volatile.global.u32 [out], 1;\n";
    TinySpec spec = {.body = body, .threads = 64, .ctas = 2, .sm = "schedulers=1 warp_limit=1", .l2 = true};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    tiny_finish(m);
    ck_assert_uint_gt(issues_at(m, 0, 8), 2);
    tiny_free(m);
}
END_TEST

START_TEST(the_books_of_the_limit_hold_in_every_cycle) {
    TinySpec spec = {.body = FLAG, .threads = 128, .shared_bytes = 4, .sm = "schedulers=2 warp_limit=1"};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    while (tiny_step(m))
        sim_check(m->sim, false);
    tiny_free(m);
}
END_TEST

/* --- The report -------------------------------------------------------------------------------- */

START_TEST(the_report_says_in_which_loop_a_warp_goes_round) {
    const char *const forever = WAIT("L", "0");
    TinySpec spec = {.body = forever, .shared_bytes = 4};
    TinyMachine *m = tiny_new(spec);
    char *report = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&report, &bytes);
    tiny_launch(m, spec);
    tiny_step_to(m, 2000);
    sim_report(m->sim, memory);
    fclose(memory);
    ck_assert_ptr_nonnull(strstr(report, ", in the loop from PTX line 12 to PTX line 14; "));
    free(report);
    tiny_free(m);
}
END_TEST

Suite *spinning_suite(void) {
    Suite *suite = suite_create("spinning");
    TCase *tcase = tcase_create("spinning");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_warp_spins_from_the_second_turn_in_which_nothing_is_new_until_it_leaves_the_loop);
    tcase_add_test(tcase, a_warp_that_leaves_by_a_branch_within_the_loop_spins_no_more);
    tcase_add_test(tcase, a_warp_whose_lanes_exit_within_the_loop_spins_no_more);
    tcase_add_test(tcase, a_warp_spins_for_a_lock_whose_loop_has_the_work_in_it);
    tcase_add_test(tcase, predicates_that_a_loop_sets_to_constants_hide_no_spinning);
    tcase_add_test(tcase, what_changes_from_turn_to_turn_is_no_spinning);
    tcase_add_test(tcase, a_path_that_lets_others_of_its_warp_go_on_spins_no_more);
    tcase_add_test(tcase, warps_that_spin_take_no_place_of_the_warp_limit);
    tcase_add_test(tcase, warps_at_a_barrier_for_one_that_spins_take_no_place_either);
    tcase_add_test(tcase, the_books_of_the_limit_hold_in_every_cycle);
    tcase_add_test(tcase, the_report_says_in_which_loop_a_warp_goes_round);
    suite_add_tcase(suite, tcase);
    return suite;
}
