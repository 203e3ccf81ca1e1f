/* An L2 slice with a table of load instructions: decides after 4 loads, below a hit rate of 50 %, halves
 * after 8, and every third load that would bypass does not. */
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

enum { LINE = 128 };

static CacheRig with_table(const char *parameters) {
    return cache_rig((CacheBench){
        .class = "L2", .cache = "bypass=true", .part = "PcBypassTable", .part_parameters = parameters});
}

static const char *const usual = "warm_up=4 threshold=50 window=8 probe=3";

/* Did the load at `pc` bypass? */
static bool bypassed(CacheRig *rig, uint32_t pc, uint64_t line) {
    uint64_t before = rig_stat(rig, "bypasses");
    rig_time(rig, of_warp(read_request(line * LINE, LINE), 0, 0, pc));
    return rig_stat(rig, "bypasses") != before;
}

START_TEST(load_that_misses_bypasses_after_the_warm_up_and_every_third_is_a_probe) {
    static const bool want[] = {false, false, false, false, true, true, false, true, true, false, true, true};
    CacheRig rig = with_table(usual);
    for (uint32_t i = 0; i < 12; i++)
        ck_assert_int_eq(bypassed(&rig, 7, 100 + i), want[i]);
    ck_assert_uint_eq(stat_of(rig.part, "bypassed"), 6);
    ck_assert_uint_eq(stat_of(rig.part, "probes"), 2);
    ck_assert_uint_eq(stat_of(rig.part, "learnt"), 6);
    rig_free(&rig);
}
END_TEST

START_TEST(load_that_hits_three_times_of_four_does_not_bypass) {
    CacheRig rig = with_table(usual);
    for (uint64_t access = 0; access < 80; access++)
        ck_assert(!bypassed(&rig, 7, access / 4));
    ck_assert_uint_eq(stat_of(rig.part, "learnt_hits"), 60);
    rig_free(&rig);
}
END_TEST

/* Four misses; then probes that hit: 1 of 5, 2 of 6, 3 of 7, 4 of 8, which is half of them. */
START_TEST(load_comes_back_when_its_probes_hit) {
    CacheRig rig = with_table(usual);
    for (uint64_t line = 0; line < 4; line++)
        ck_assert(!bypassed(&rig, 7, line));
    for (uint32_t i = 0; i < 4; i++)
        ck_assert(bypassed(&rig, 7, 0) && bypassed(&rig, 7, 0) && !bypassed(&rig, 7, 0));
    for (uint32_t i = 0; i < 5; i++)
        ck_assert(!bypassed(&rig, 7, 0));
    rig_free(&rig);
}
END_TEST

START_TEST(loads_are_told_apart_by_their_address_if_their_entries_are) {
    CacheRig rig = with_table(_i ? "entries=1 warm_up=4 threshold=50 window=8 probe=3" : usual);
    for (uint64_t line = 0; line < 4; line++)
        bypassed(&rig, 7, line);
    ck_assert_int_eq(bypassed(&rig, 8, 50), _i);
    rig_free(&rig);
}
END_TEST

START_TEST(writes_and_code_are_no_loads) {
    CacheRig rig = with_table(usual);
    for (uint64_t line = 0; line < 10; line++) {
        MemMessage code = of_warp(read_request((50 + line) * LINE, LINE), 0, 0, 7);
        code.flags |= MEM_INSTRUCTION;
        rig_time(&rig, code);
        rig_time(&rig, of_warp(write_request(line * LINE, 32), 0, 0, 7));
    }
    ck_assert_uint_eq(stat_of(rig.part, "learnt"), 0);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 0);
    rig_free(&rig);
}
END_TEST

START_TEST(threshold_0_lets_none_bypass) {
    CacheRig rig = with_table("warm_up=1 threshold=0");
    for (uint64_t line = 0; line < 50; line++)
        ck_assert(!bypassed(&rig, 7, line));
    rig_free(&rig);
}
END_TEST

START_TEST(warm_up_beyond_half_of_the_window_is_a_user_error) {
    with_table("warm_up=5 window=8");
}
END_TEST

Suite *pc_bypass_table_suite(void) {
    Suite *suite = suite_create("pc_bypass_table");
    TCase *tests = tcase_create("pc_bypass_table");
    tcase_add_test(tests, load_that_misses_bypasses_after_the_warm_up_and_every_third_is_a_probe);
    tcase_add_test(tests, load_that_hits_three_times_of_four_does_not_bypass);
    tcase_add_test(tests, load_comes_back_when_its_probes_hit);
    tcase_add_loop_test(tests, loads_are_told_apart_by_their_address_if_their_entries_are, 0, 2);
    tcase_add_test(tests, writes_and_code_are_no_loads);
    tcase_add_test(tests, threshold_0_lets_none_bypass);
    tcase_add_exit_test(tests, warm_up_beyond_half_of_the_window_is_a_user_error, EXIT_USER_ERROR);
    suite_add_tcase(suite, tests);
    return suite;
}
