/* nanosleep: a warp that sleeps from its issue on goes on in the cycle in which the time has passed. A cycle is
 * a nanosecond. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdio.h>

#define SLEEP(time) "nanosleep.u32 " time ";\n mov.u32 %r9, 1;\n"

static uint64_t issued(TinySpec spec, uint32_t warp, uint32_t index) {
    TinyMachine *m = tiny_run(spec);
    uint64_t cycle = tiny_issued(m, warp, index);
    tiny_free(m);
    return cycle;
}

START_TEST(a_warp_goes_on_when_the_time_has_passed) {
    ck_assert_uint_eq(issued((TinySpec){.body = SLEEP("0")}, 0, 1), TINY_FIRST_ISSUE + 1);
    ck_assert_uint_eq(issued((TinySpec){.body = SLEEP("1")}, 0, 1), TINY_FIRST_ISSUE + 1);
    ck_assert_uint_eq(issued((TinySpec){.body = SLEEP("20")}, 0, 1), TINY_FIRST_ISSUE + 20);
    /* Longer than the ring of write-backs. */
    ck_assert_uint_eq(issued((TinySpec){.body = SLEEP("5000")}, 0, 1), TINY_FIRST_ISSUE + 5000);
}
END_TEST

START_TEST(slots_of_a_warp_that_sleeps_are_lost_as_at_a_barrier) {
    TinyMachine *m = tiny_run((TinySpec){.body = SLEEP("100")});
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_barrier"), 99);
    tiny_free(m);
}
END_TEST

/* Lanes 0 to 31 ask for 0 to 310 ns; those of the guard are the even ones. */
START_TEST(of_its_lanes_the_longest_time_counts) {
    const char *const all = "mov.u32 %r1, %laneid;\n mul.lo.u32 %r1, %r1, 10;\n" SLEEP("%r1");
    const char *const even = "mov.u32 %r1, %laneid;\n and.b32 %r2, %r1, 1;\n mul.lo.u32 %r1, %r1, 10;\n"
                             "setp.eq.u32 %p1, %r2, 0;\n@%p1 " SLEEP("%r1");
    const char *const none = "setp.ne.u32 %p1, %laneid, %laneid;\n@%p1 " SLEEP("400");
    TinySpec spec = {.body = all};
    ck_assert_uint_eq(issued(spec, 0, 3), issued(spec, 0, 2) + 310);
    spec.body = even;
    ck_assert_uint_eq(issued(spec, 0, 5), issued(spec, 0, 4) + 300);
    spec.body = none;
    ck_assert_uint_lt(issued(spec, 0, 2), issued(spec, 0, 1) + 5);
}
END_TEST

/* The one that does not sleep is at its end long before. */
START_TEST(other_warps_go_on) {
    TinySpec spec = {.body = "setp.lt.u32 %p1, %tid.x, 32;\n@%p1 " SLEEP("300"), .threads = 64};
    ck_assert_uint_eq(issued(spec, 0, 2), issued(spec, 0, 1) + 300);
    ck_assert_uint_lt(issued(spec, 1, 3), 30);
}
END_TEST

static TinyMachine *asleep(TinySpec spec) {
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    tiny_step_to(m, TINY_FIRST_ISSUE + 2);
    ck_assert_uint_eq(m->sm[0]->sleeping, 1);
    return m;
}

START_TEST(no_sleep_is_longer_than_a_millisecond) {
    TinyMachine *m = asleep((TinySpec){.body = SLEEP("4000000000")});
    ck_assert_uint_eq(m->sm[0]->wakes[0], TINY_FIRST_ISSUE + 1000000);
    tiny_free(m);
}
END_TEST

START_TEST(a_machine_whose_warps_sleep_does_not_hang) {
    TinyMachine *m = asleep((TinySpec){.body = SLEEP("900000")});
    gpu_hang_limit(m->gpu, 1000);
    tiny_finish(m);
    ck_assert_uint_eq(tiny_issued(m, 0, 1), TINY_FIRST_ISSUE + 900000);
    tiny_free(m);
}
END_TEST

Suite *sleep_suite(void) {
    Suite *suite = suite_create("sleep");
    TCase *tcase = tcase_create("sleep");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_warp_goes_on_when_the_time_has_passed);
    tcase_add_test(tcase, slots_of_a_warp_that_sleeps_are_lost_as_at_a_barrier);
    tcase_add_test(tcase, of_its_lanes_the_longest_time_counts);
    tcase_add_test(tcase, other_warps_go_on);
    tcase_add_test(tcase, no_sleep_is_longer_than_a_millisecond);
    tcase_add_test(tcase, a_machine_whose_warps_sleep_does_not_hang);
    suite_add_tcase(suite, tcase);
    return suite;
}
