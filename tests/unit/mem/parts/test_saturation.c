#include "mem/parts/saturation/saturation.h"
#include "tests/unit/suites.h"

/* Entries, permille free, permille of relief; in use: so many begin it, so many keep it on. */
static const struct {
    uint32_t entries, free, relief, begin, keep;
} marks[] = {
    {64, 125, 125, 56, 48}, {32, 125, 125, 28, 24}, {8, 125, 125, 7, 6}, {64, 0, 0, 64, 64},
    {64, 500, 400, 32, 7},  {2, 125, 125, 2, 2},    {1, 500, 400, 1, 1}, {65536, 500, 0, 32768, 32768},
};

START_TEST(almost_full_is_a_share_of_the_entries_and_at_least_one_is_in_use) {
    Saturation saturation = {.free = marks[_i].free, .relief = marks[_i].relief};
    saturation_build(&saturation, &(CacheParameters){.mshrs = marks[_i].entries, .miss_queue = 8});
    ck_assert_uint_eq(saturation.mshr_mark[0], marks[_i].begin);
    ck_assert_uint_eq(saturation.mshr_mark[1], marks[_i].keep);
    saturation_build(&saturation, &(CacheParameters){.mshrs = 8, .miss_queue = marks[_i].entries});
    ck_assert_uint_eq(saturation.queue_mark[0], marks[_i].begin);
    ck_assert_uint_eq(saturation.queue_mark[1], marks[_i].keep);
}
END_TEST

/* 8 MSHRs and 16 places: up at 7 or 14, down below 6 and below 12. */
static bool changes(uint64_t on, uint64_t mshrs, uint32_t messages) {
    Saturation saturation = {.free = 125, .relief = 125, .on = on};
    Cache cache = {.mshr.used = mshrs, .misses.count = messages};
    saturation_build(&saturation, &(CacheParameters){.mshrs = 8, .miss_queue = 16});
    return saturation_changes(&saturation, &cache);
}

START_TEST(it_rises_with_either_and_falls_with_both) {
    ck_assert(!changes(0, 6, 13));
    ck_assert(changes(0, 7, 0));
    ck_assert(changes(0, 0, 14));
    ck_assert(!changes(1, 6, 0));
    ck_assert(!changes(1, 0, 12));
    ck_assert(changes(1, 5, 11));
}
END_TEST

START_TEST(cycles_and_events_of_saturation_are_counted) {
    Saturation saturation = {0};
    saturation_count(&saturation, 10);
    ck_assert_uint_eq(saturation.cycles, 0);
    saturation_change(&saturation, 15);
    saturation_count(&saturation, 18);
    ck_assert_uint_eq(saturation.cycles, 3);
    saturation_change(&saturation, 25);
    saturation_count(&saturation, 100);
    ck_assert_uint_eq(saturation.cycles, 10);
    ck_assert_uint_eq(saturation.events, 1);
    saturation_change(&saturation, 101);
    ck_assert_uint_eq(saturation.events, 2);
}
END_TEST

Suite *saturation_suite(void) {
    Suite *suite = suite_create("saturation");
    TCase *tests = tcase_create("saturation");
    tcase_add_loop_test(tests, almost_full_is_a_share_of_the_entries_and_at_least_one_is_in_use, 0,
                        sizeof marks / sizeof *marks);
    tcase_add_test(tests, it_rises_with_either_and_falls_with_both);
    tcase_add_test(tests, cycles_and_events_of_saturation_are_counted);
    suite_add_tcase(suite, tests);
    return suite;
}
