/* How long requests wait at an L2 slice beside their way through it, and how many find room in front of its
 * tags. A request that is sent in cycle t is at the tags in t + 1 + RIG_DELAY when nothing is in its way. */
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

enum { LINE = 128 };

static CacheRig slice(const char *parameters) {
    return cache_rig((CacheBench){.class = "L2", .cache = parameters, .part = "QueueDelays"});
}

static MemMessage read_line(uint64_t number) {
    return read_request(number * LINE, LINE);
}

static uint64_t of(const CacheRig *rig, const char *stat) {
    return stat_of(rig->part, stat);
}

START_TEST(request_with_nothing_in_its_way_waits_for_nothing) {
    CacheRig rig = slice("");
    ck_assert_int_eq(rig_time(&rig, read_line(0)),
                     RIG_MISS); /* the wait for memory is no wait for the tags */
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_HIT);
    ck_assert_uint_eq(of(&rig, "requests"), 2);
    ck_assert_uint_eq(of(&rig, "delay_0"), 2);
    ck_assert_uint_eq(of(&rig, "cycles"), 0);
    rig_free(&rig);
}
END_TEST

/* With one MSHR the second read stands at the tags until the first has been answered; the third is behind. */
START_TEST(wait_at_the_tags_is_as_long_as_the_answer_comes_later) {
    CacheRig rig = slice("mshrs=1");
    memory_driver_send(rig.driver, 0, read_line(0));
    memory_driver_send(rig.driver, 1, read_line(1));
    memory_driver_send(rig.driver, 2, read_line(0));
    rig_run(&rig);
    const MessageLog *answers = memory_driver_responses(rig.driver);
    uint64_t second = answers->entries[2].cycle - RIG_MISS - 1, third = second;
    ck_assert_uint_eq(answers->entries[2].message.address, LINE);
    ck_assert_uint_gt(second, 16);
    ck_assert_uint_lt(second, 32);
    ck_assert_uint_eq(of(&rig, "delay_0"), 1);
    ck_assert_uint_eq(of(&rig, "delay_16"), 2);
    ck_assert_uint_eq(of(&rig, "cycles"), second + third);
    rig_free(&rig);
}
END_TEST

/* The pipeline holds one request: the second, there in cycle 2, is accepted when the first leaves in 1 + 6.
 */
START_TEST(wait_for_acceptance_counts) {
    CacheRig rig = slice("queue_entries=1");
    memory_driver_send(rig.driver, 0, read_line(0));
    memory_driver_send(rig.driver, 1, read_line(1));
    rig_run(&rig);
    ck_assert_uint_eq(memory_driver_responses(rig.driver)->entries[1].cycle, RIG_MISS + RIG_DELAY);
    ck_assert_uint_eq(of(&rig, "delay_0"), 1);
    ck_assert_uint_eq(of(&rig, "delay_4"), 1);
    ck_assert_uint_eq(of(&rig, "cycles"), RIG_DELAY - 1);
    rig_free(&rig);
}
END_TEST

/* Twelve requests stand in front of tags that wait for memory. One that bypasses them comes behind: it goes
 * on at once where the queue has room for the twelve, and else after some of them have left. */
START_TEST(request_that_bypasses_is_not_behind_a_queue_with_room_for_all) {
    static const char *const parameters[] = {"bypass=true bypass_classes=8 mshrs=1 queue_entries=12",
                                             "bypass=true bypass_classes=8 mshrs=1"};
    CacheRig rig = slice(parameters[_i]);
    for (uint32_t i = 0; i < 12; i++)
        memory_driver_send(rig.driver, i, read_line(i));
    memory_driver_send(rig.driver, 12, of_class(read_line(90), 3));
    rig_run(&rig);
    uint64_t bypassed_at = 0;
    for (uint32_t i = 0; i < rig_arrivals(&rig); i++)
        if (rig_arrival(&rig, i)->message.address == 90 * LINE) bypassed_at = rig_arrival(&rig, i)->cycle;
    uint64_t unhindered = 12 + 1 + RIG_DELAY + 2;
    if (_i == 0)
        ck_assert_uint_eq(bypassed_at, unhindered);
    else
        ck_assert_uint_gt(bypassed_at, unhindered + 2 * RIG_RESPONDER);
    ck_assert_uint_eq(of(&rig, "requests"), 12);
    rig_free(&rig);
}
END_TEST

START_TEST(every_request_is_in_one_bucket) {
    static const char *const buckets[] = {"delay_0",   "delay_1",   "delay_2",   "delay_4",
                                          "delay_8",   "delay_16",  "delay_32",  "delay_64",
                                          "delay_128", "delay_256", "delay_512", "delay_1024"};
    CacheRig rig = cache_rig(
        (CacheBench){.class = "L2", .cache = "mshrs=1", .part = "QueueDelays", .request = {.depth = 64}});
    for (uint32_t i = 0; i < 60; i++)
        memory_driver_send(rig.driver, 0, read_line(i));
    rig_run(&rig);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 12; i++)
        sum += of(&rig, buckets[i]);
    ck_assert_uint_eq(sum, 60);
    ck_assert_uint_eq(of(&rig, "requests"), 60);
    ck_assert_uint_gt(of(&rig, "delay_1024"), 10);
    ck_assert_uint_gt(of(&rig, "delay_512"), 10);
    rig_free(&rig);
}
END_TEST

Suite *queue_delays_suite(void) {
    Suite *suite = suite_create("queue_delays");
    TCase *tests = tcase_create("queue_delays");
    tcase_add_test(tests, request_with_nothing_in_its_way_waits_for_nothing);
    tcase_add_test(tests, wait_at_the_tags_is_as_long_as_the_answer_comes_later);
    tcase_add_test(tests, wait_for_acceptance_counts);
    tcase_add_loop_test(tests, request_that_bypasses_is_not_behind_a_queue_with_room_for_all, 0, 2);
    tcase_add_test(tests, every_request_is_in_one_bucket);
    suite_add_tcase(suite, tests);
    return suite;
}
