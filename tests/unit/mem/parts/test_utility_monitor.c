/* The counts of a utility monitor after streams of which each hit's place in the order of use is known. The L2 slice has
 * 8 sets of four lines; every second set is sampled. */
#include "core/sim/method.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

enum { LINE = 128, SETS = 8 };

static CacheRig monitored(const char *parameters) {
    return cache_rig((CacheBench){
        .class = "L2", .cache = "size=4KiB ways=4", .part = "UtilityMonitor", .part_parameters = parameters});
}

/* Line `number` of a set, by this SM. */
static void read_by(CacheRig *rig, uint32_t sm, uint32_t set, uint64_t number) {
    rig_time(rig, of_warp(read_request((number * SETS + set) * LINE, LINE), (uint16_t)sm, 0, 0));
}

static int64_t call(const CacheRig *rig, const char *name, int64_t sharer, int64_t place) {
    MethodCall call = {.argument = {{.whole = sharer}, {.whole = place}}};
    class_method(rig->part->class, name)->call(rig->part, &call);
    return call.result[0].whole;
}

static void expect_hits(const CacheRig *rig, int64_t sharer, const int64_t *want, int64_t misses) {
    for (int64_t place = 0; place < 4; place++)
        ck_assert_int_eq(call(rig, "hits", sharer, place), want[place]);
    ck_assert_int_eq(call(rig, "missed", sharer, 0), misses);
}

START_TEST(hits_are_counted_by_their_place_in_the_order_of_use) {
    CacheRig rig = monitored("sampled_sets=4");
    static const uint64_t stream[] = {1, 1, 2, 1, 3, 4, 1, 2, 5, 3, 3};
    /* places:                         -  0  -  1  -  -  2  3  -  -  0: 5 pushes 3 out */
    for (uint32_t i = 0; i < 11; i++)
        read_by(&rig, 0, 2, stream[i]);
    expect_hits(&rig, 0, (const int64_t[]){2, 1, 1, 1}, 6);
    expect_hits(&rig, 1, (const int64_t[]){0, 0, 0, 0}, 0);
    ck_assert_int_eq(call(&rig, "halve", 0, 0), 0);
    expect_hits(&rig, 0, (const int64_t[]){1, 0, 0, 0}, 3);
    rig_free(&rig);
}
END_TEST

/* What another SM reads in between does not show, though the cache has lost the line. */
START_TEST(each_sharer_has_the_cache_to_itself) {
    CacheRig rig = monitored("sampled_sets=4");
    read_by(&rig, 0, 2, 1);
    for (uint64_t number = 10; number < 20; number++)
        read_by(&rig, 1, 2, number);
    uint64_t misses = rig_stat(&rig, "misses");
    read_by(&rig, 0, 2, 1);
    ck_assert_uint_eq(rig_stat(&rig, "misses"), misses + 1);
    expect_hits(&rig, 0, (const int64_t[]){1, 0, 0, 0}, 1);
    expect_hits(&rig, 1, (const int64_t[]){0, 0, 0, 0}, 10);
    rig_free(&rig);
}
END_TEST

START_TEST(sets_that_are_not_sampled_and_sms_that_are_not_monitored_do_not_count) {
    CacheRig rig = monitored("sampled_sets=4");
    for (uint32_t set = 0; set < SETS; set++)
        read_by(&rig, 0, set, 1);
    expect_hits(&rig, 0, (const int64_t[]){0, 0, 0, 0}, 4);
    read_by(&rig, 2, 0, 1);
    expect_hits(&rig, 0, (const int64_t[]){0, 0, 0, 0}, 4);
    rig_free(&rig);
}
END_TEST

START_TEST(classes_can_be_monitored_instead) {
    CacheRig rig = monitored("sampled_sets=4 by=class sharers=3");
    for (int i = 0; i < 2; i++)
        rig_time(&rig, of_class(of_warp(read_request(0, LINE), 7, 0, 0), 2));
    expect_hits(&rig, 2, (const int64_t[]){1, 0, 0, 0}, 1);
    rig_free(&rig);
}
END_TEST

Suite *utility_monitor_suite(void) {
    Suite *suite = suite_create("utility_monitor");
    TCase *tests = tcase_create("utility_monitor");
    tcase_add_test(tests, hits_are_counted_by_their_place_in_the_order_of_use);
    tcase_add_test(tests, each_sharer_has_the_cache_to_itself);
    tcase_add_test(tests, sets_that_are_not_sampled_and_sms_that_are_not_monitored_do_not_count);
    tcase_add_test(tests, classes_can_be_monitored_instead);
    suite_add_tcase(suite, tests);
    return suite;
}
