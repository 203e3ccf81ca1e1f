/* Loops in which lanes may wait for others of their warp, and what names the lanes that are to be together. */
#include "tests/unit/ptx/ptx_fixture.h"

static const char head[] = ".shared .b32 s; .shared .b64 m;\n.visible .entry k(.param .u64 a) {\n" REGISTERS;

/* Of the kernel with this body, how many instructions are of the kind. */
static uint32_t count(const char *target, const char *body, InstKind kind) {
    char text[2000];
    snprintf(text, sizeof text, ".version 7.0\n.target %s\n.address_size 64\n%s%s }\n", target, head, body);
    Module *module = parse(text);
    const Kernel *kernel = module_kernel(module, "k");
    uint32_t found = 0;
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        found += kernel->insts[i].kind == kind;
    module_free(module);
    return found;
}

static uint32_t waiting(const char *body) {
    return count("sm_70", body, INST_WAITING_BRANCH);
}

#define TEST "setp.ne.u32 %p1, %r1, 0; "

START_TEST(a_loop_that_looks_again_at_what_others_may_change_waits) {
    ck_assert_uint_eq(waiting("L: atom.global.cas.b32 %r1, [%rd1], 0, 1; " TEST "@%p1 bra L; ret;"), 1);
    ck_assert_uint_eq(waiting("L: atom.shared.exch.b32 %r1, [s], 1; " TEST "@%p1 bra L; ret;"), 1);
    ck_assert_uint_eq(waiting("L: ld.volatile.global.u32 %r1, [%rd1]; " TEST "@%p1 bra L; ret;"), 1);
    ck_assert_uint_eq(waiting("L: ld.relaxed.gpu.global.u32 %r1, [%rd1]; " TEST "@%p1 bra L; ret;"), 1);
    ck_assert_uint_eq(waiting("L: ld.acquire.cta.shared.u32 %r1, [s]; " TEST "@%p1 bra L; ret;"), 1);
    ck_assert_uint_eq(waiting("L: ld.volatile.u32 %r1, [%rd1]; nanosleep.u32 20; " TEST "@%p1 bra L; ret;"),
                      1);
    ck_assert_uint_eq(waiting("L: ld.volatile.shared.u32 %r1, [s]; " TEST "@!%p1 bra E; bra L; E: ret;"), 1);
    ck_assert_uint_eq(waiting("L: mbarrier.test_wait.shared.b64 %p1, [m], %rd1; @!%p1 bra L; ret;"), 1);
}
END_TEST

/* The last two count their turns; of these, the second stores by what it sees. */
START_TEST(a_loop_that_stores_waits_where_what_it_sees_ends_it) {
    ck_assert_uint_eq(waiting("L: atom.global.cas.b32 %r1, [%rd1], 0, 1; " TEST
                              "@%p1 bra M; st.shared.u32 [s], %r1; M: @%p1 bra L; ret;"),
                      1);
    ck_assert_uint_eq(
        waiting("L: ld.volatile.global.u32 %r1, [%rd1]; st.global.u32 [%rd2], %r1; " TEST "@%p1 bra L; ret;"),
        1);
    ck_assert_uint_eq(
        waiting("L: ld.acquire.cta.shared.u32 %r2, [s]; st.shared.u32 [s], 0; add.u32 %r1, %r2, 1; " TEST
                "@%p1 bra E; bra L; E: ret;"),
        1);
    ck_assert_uint_eq(
        waiting("L: ld.volatile.shared.u32 %r2, [s]; st.shared.u32 [s], %r2; add.u32 %r1, %r1, 1; " TEST
                "@%p1 bra L; ret;"),
        0);
    ck_assert_uint_eq(waiting("L: atom.shared.exch.b32 %r2, [s], 1; setp.eq.u32 %p2, %r2, 0; @%p2 bra M;\n"
                              "st.shared.u32 [s], %r2; M: add.u32 %r1, %r1, 1; " TEST "@%p1 bra L; ret;"),
                      0);
}
END_TEST

START_TEST(a_loop_with_a_barrier_or_nothing_to_look_at_does_not_wait) {
    ck_assert_uint_eq(waiting("L: ld.volatile.shared.u32 %r1, [s]; bar.sync 0; " TEST "@%p1 bra L; ret;"), 0);
    ck_assert_uint_eq(waiting("L: ld.global.u32 %r1, [%rd1]; " TEST "@%p1 bra L; ret;"), 0);
    ck_assert_uint_eq(waiting("L: red.shared.add.u32 [s], 1; add.u32 %r1, %r1, 1; " TEST "@%p1 bra L; ret;"),
                      0);
}
END_TEST

/* Loops at 2 and 4 of one that begins at 0: their branches are at 3, 6 and 7. */
START_TEST(branches_back_within_a_loop_that_waits_are_inner_ones_and_lead_where_they_did) {
    const char *const body = "L: ld.volatile.shared.u32 %r1, [s]; " TEST
                             "M: ld.volatile.shared.u32 %r2, [s]; @%p1 bra M;\n"
                             "N: ld.volatile.shared.u32 %r3, [s]; " TEST "@%p1 bra N; @!%p1 bra L; ret;";
    static const uint32_t at[] = {3, 6, 7}, target[] = {2, 4, 0};
    ck_assert_uint_eq(count("sm_70", body, INST_INNER_WAITING_BRANCH), 2);
    ck_assert_uint_eq(waiting(body), 1);
    char text[2000];
    snprintf(text, sizeof text, ".version 7.0\n.target sm_70\n.address_size 64\n%s%s }\n", head, body);
    Module *module = parse(text);
    const Inst *insts = module_kernel(module, "k")->insts;
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(insts[at[i]].kind, i < 2 ? INST_INNER_WAITING_BRANCH : INST_WAITING_BRANCH);
        ck_assert_uint_eq(insts[at[i]].target, target[i]);
    }
    module_free(module);
}
END_TEST

/* Without optimisation compilers keep variables in local memory, and reach it by generic addresses. */
START_TEST(what_a_lane_stores_for_itself_is_nothing_for_others) {
    ck_assert_uint_eq(
        waiting("L: atom.global.cas.b32 %r1, [%rd1], 0, 1; st.u32 [%rd2], %r1; " TEST "@%p1 bra L; ret;"), 1);
    ck_assert_uint_eq(
        waiting(".local .b32 v; L: ld.volatile.shared.u32 %r1, [s]; st.local.u32 [v], %r1; " TEST
                "@%p1 bra L; ret;"),
        1);
}
END_TEST

START_TEST(a_loop_around_one_that_waits_does_not_when_it_stores) {
    ck_assert_uint_eq(waiting("M: L: ld.volatile.shared.u32 %r1, [s]; " TEST
                              "@%p1 bra L; st.shared.u32 [s], 0; @%p2 bra M; ret;"),
                      1);
    ck_assert_uint_eq(waiting("st.shared.u32 [s], 0; L: ld.volatile.shared.u32 %r1, [s]; " TEST
                              "@%p1 bra L; st.shared.u32 [s], 0; @%p2 bra E; E: ret;"),
                      1);
}
END_TEST

#define WAIT "L: ld.volatile.shared.u32 %r1, [s]; " TEST "@%p1 bra L; "
#define NAMING                                                                                               \
    "bar.warp.sync -1; shfl.sync.up.b32 %r2, %r1, 1, 0, -1; vote.sync.ballot.b32 %r3, %p1, -1; "             \
    "match.any.sync.b32 %r4, %r1, -1; redux.sync.add.s32 %r5, %r1, -1; "

START_TEST(what_names_lanes_keeps_them_together) {
    ck_assert_uint_eq(count("sm_80", WAIT NAMING "ret;", INST_CONVERGENT), 5);
    ck_assert_uint_eq(count("sm_80", NAMING "ret;", INST_CONVERGENT), 5);
    ck_assert_uint_eq(count("sm_80", WAIT "activemask.b32 %r1; bar.sync 0; ret;", INST_CONVERGENT), 0);
}
END_TEST

START_TEST(before_sm_70_no_lane_counts_on_the_others) {
    ck_assert_uint_eq(count("sm_70, texmode_independent", WAIT "ret;", INST_WAITING_BRANCH), 1);
    ck_assert_uint_eq(count("sm_90a", WAIT "ret;", INST_WAITING_BRANCH), 1);
    ck_assert_uint_eq(count("sm_69", WAIT "ret;", INST_WAITING_BRANCH), 0);
    ck_assert_uint_eq(count("sm_69", WAIT NAMING "ret;", INST_CONVERGENT), 0);
}
END_TEST

/* A loop that ends by its count, and loops of an older target, whose lanes do not wait for each other. */
START_TEST(loops_that_look_again_are_known_though_no_lane_waits_for_another) {
    const char *const lock = "L: atom.global.cas.b32 %r1, [%rd1], 0, 1; " TEST
                             "@%p1 bra M; st.global.u32 [%rd2], %r1; M: @%p1 bra L; ret;";
    const char *const counts =
        "L: ld.volatile.shared.u32 %r2, [s]; st.shared.u32 [s], 0; add.u32 %r1, %r1, 1; " TEST
        "@%p1 bra L; ret;";
    ck_assert_uint_eq(count("sm_20", lock, INST_LOOKING_BRANCH), 1);
    ck_assert_uint_eq(count("sm_70", counts, INST_LOOKING_BRANCH), 1);
    ck_assert_uint_eq(count("sm_20", lock, INST_LEAVING_BRANCH), 0);
    ck_assert_uint_eq(count("sm_69", WAIT "ret;", INST_LOOKING_BRANCH), 1);
    ck_assert_uint_eq(count("sm_70", WAIT "ret;", INST_LOOKING_BRANCH), 0);
    ck_assert_uint_eq(
        count("sm_20", "L: ld.global.u32 %r1, [%rd1]; " TEST "@%p1 bra L; ret;", INST_LOOKING_BRANCH), 0);
}
END_TEST

START_TEST(branches_out_of_a_loop_that_looks_again_are_known) {
    const char *const body = "L: ld.volatile.shared.u32 %r1, [s]; " TEST
                             "@!%p1 bra E; @%p2 bra M; add.u32 %r2, %r2, 1; M: bra L; E: ret;";
    ck_assert_uint_eq(count("sm_20", body, INST_LEAVING_BRANCH), 1);
    ck_assert_uint_eq(count("sm_70", body, INST_LEAVING_BRANCH), 1);
    ck_assert_uint_eq(count("sm_20", body, INST_BRANCH), 1);
}
END_TEST

Suite *waiting_loops_suite(void) {
    Suite *suite = suite_create("waiting_loops");
    TCase *tcase = tcase_create("waiting_loops");
    tcase_add_test(tcase, a_loop_that_looks_again_at_what_others_may_change_waits);
    tcase_add_test(tcase, a_loop_that_stores_waits_where_what_it_sees_ends_it);
    tcase_add_test(tcase, a_loop_with_a_barrier_or_nothing_to_look_at_does_not_wait);
    tcase_add_test(tcase, branches_back_within_a_loop_that_waits_are_inner_ones_and_lead_where_they_did);
    tcase_add_test(tcase, what_a_lane_stores_for_itself_is_nothing_for_others);
    tcase_add_test(tcase, a_loop_around_one_that_waits_does_not_when_it_stores);
    tcase_add_test(tcase, what_names_lanes_keeps_them_together);
    tcase_add_test(tcase, before_sm_70_no_lane_counts_on_the_others);
    tcase_add_test(tcase, loops_that_look_again_are_known_though_no_lane_waits_for_another);
    tcase_add_test(tcase, branches_out_of_a_loop_that_looks_again_are_known);
    suite_add_tcase(suite, tcase);
    return suite;
}
