/* A request that failed at the tags is not tried again before what it is blocked on may have come. That saves
 * the host work and must cost no cycle: here it goes on in the cycle in which it gets what it waits for, in
 * L1 and in L2. Timing: see cache_rig.h. */
#include "mem/cache/cache.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

enum {
    LINE = 128,
    FILLED = 10 + RIG_MISS - 1,      /* the fill for what was sent at 10                  */
    LOOKED_UP = 11 + 1 + RIG_DELAY,  /* what was sent at 11 is at the tags                */
    ANSWER_DELAY = RIG_RESPONDER + 4 /* of a miss, from going on at the tags to the driver */
};

static CacheRig rig_of(int level, const char *parameters, const char *below) {
    return cache_rig((CacheBench){.class = level ? "L2" : "L1", .cache = parameters, .below = below});
}

static MemMessage read_line(uint64_t address) {
    return read_request(address, LINE);
}

/* Two sectors of the only line come one after the other; the first leaves it reserved. */
START_TEST(line_is_waited_for_until_its_last_sector_has_come) {
    CacheRig rig = rig_of(_i, "size=128 ways=1 sectors=2", NULL);
    memory_driver_send(rig.driver, 10, read_line(0x1000));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 64));
    rig_run(&rig);
    expect_one_stall(&rig, "line_fails", LOOKED_UP, FILLED + 1);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, FILLED + 1 + ANSWER_DELAY);
    rig_free(&rig);
}
END_TEST

/* The line of another set comes first, and then that of its own: both in sets of two ways. */
START_TEST(line_is_waited_for_when_another_set_is_filled_first) {
    CacheRig rig = rig_of(_i, "size=256 ways=1", NULL);
    memory_driver_send(rig.driver, 10, read_line(0x1000));
    memory_driver_send(rig.driver, 11, read_line(0x1080));
    memory_driver_send(rig.driver, 12, read_line(0x2080));
    rig_run(&rig);
    expect_one_stall(&rig, "line_fails", LOOKED_UP + 1, FILLED + 1);
    ck_assert_uint_eq(rig_response(&rig, 2)->cycle, FILLED + 1 + ANSWER_DELAY);
    rig_free(&rig);
}
END_TEST

/* The only MSHR is in use until the second of its requests has been answered, a cycle after the fill. */
START_TEST(mshr_is_waited_for_until_its_last_request_is_answered) {
    CacheRig rig = rig_of(_i, "mshrs=1", NULL);
    memory_driver_send(rig.driver, 10, read_line(0x1000));
    memory_driver_send(rig.driver, 11, read_line(0x1000));
    memory_driver_send(rig.driver, 12, read_line(0x2000));
    rig_run(&rig);
    expect_one_stall(&rig, "mshr_entry_fails", LOOKED_UP + 1, FILLED + 1);
    ck_assert_uint_eq(rig_response(&rig, 2)->cycle, FILLED + 1 + ANSWER_DELAY);
    rig_free(&rig);
}
END_TEST

/* The third request of the line finds it full until the fill, and hits in that cycle; in L2 there is no other
 * answer in the way. */
START_TEST(place_in_an_mshr_is_waited_for_until_the_fill) {
    CacheRig rig = rig_of(_i, "merges=1", NULL);
    memory_driver_send(rig.driver, 10, read_line(0x1000));
    memory_driver_send(rig.driver, 11, read_line(0x1000));
    rig_run(&rig);
    expect_one_stall(&rig, "mshr_merge_fails", LOOKED_UP, FILLED);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, FILLED + 2); /* one answer per cycle */
    rig_free(&rig);
}
END_TEST

/* Until cycle 100 nothing is taken below: 8 fetches fill the link and `queued` the miss queue. From 101 on
 * one leaves the queue in each cycle. */
static void fill_link_and_miss_queue(CacheRig *rig, uint32_t queued) {
    for (uint32_t i = 0; i < 8 + queued; i++)
        memory_driver_send(rig->driver, 50, read_line(0x1080 + LINE * i));
}

enum { SET = 64 * 1024 /* lines of one set lie so far apart when there is one way */ };

/* Who replaces a clean line needs one place in the miss queue, and who replaces a dirty one two. */
START_TEST(as_many_places_in_the_miss_queue_are_waited_for_as_are_needed) {
    bool dirty = _i & 1;
    CacheRig rig = rig_of(_i >> 1, "ways=1 miss_queue=2", "refuse_until=100");
    if (dirty) memory_driver_send(rig.driver, 10, of_local_memory(write_request(0x1000, LINE)));
    fill_link_and_miss_queue(&rig, 2);
    memory_driver_send(rig.driver, 70, of_local_memory(read_line(0x1000 + SET)));
    rig_run(&rig);
    expect_one_stall(&rig, "miss_queue_fails", 70 + 1 + RIG_DELAY, dirty ? 102 : 101);
    /* Sent behind what was in the queue and the write-back, taken a cycle later. */
    ck_assert_uint_eq(rig_arrival(&rig, 10 + dirty)->message.address, 0x1000 + SET);
    ck_assert_uint_eq(rig_arrival(&rig, 10 + dirty)->cycle, dirty ? 102 + 3 : 101 + 3);
    rig_free(&rig);
}
END_TEST

/* A place becomes free in 101, 102 and 103. In 102 a request that bypasses the tags, and is the older one,
 * takes the two that there are, and writes the line back that the one at the tags wants to replace. That now
 * needs one place instead of two. For this cycle it waits for the data port, which the write-back has, and in
 * 103 it goes on. */
START_TEST(fewer_places_are_waited_for_when_the_line_has_been_written_back) {
    CacheRig rig = rig_of(1, "ways=1 miss_queue=2 bypass=true bypass_classes=8 bypass_delay=2",
                          "refuse_until=100");
    memory_driver_send(rig.driver, 10, write_request(0x1000, LINE));
    fill_link_and_miss_queue(&rig, 2);
    memory_driver_send(rig.driver, 70,
                       of_class(_i ? write_request(0x1000, 32) : read_request(0x1000, 32), 3));
    memory_driver_send(rig.driver, 71, read_line(0x1000 + SET));
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 1);
    expect_one_stall(&rig, "miss_queue_fails", 71 + 1 + RIG_DELAY, 102);
    expect_one_stall(&rig, "data_port_stalls", 102, 103);
    ck_assert_uint_eq(rig_arrival(&rig, 12)->message.address, 0x1000 + SET);
    rig_free(&rig);
}
END_TEST

/* The link below is full, and the request at the tags waits for a place in its MSHR. In 73 a younger request
 * that bypasses the tags writes a line back, which takes the data port up to 89. From 74 to then it is the
 * port that the request at the tags waits for, also in a slice that nothing else wakes. */
START_TEST(data_port_that_a_bypassing_request_takes_is_waited_for) {
    static const TickOrder orders[] = {ORDER_PATH, ORDER_REVERSED, ORDER_RESTLESS};
    CacheRig rig = cache_rig(
        (CacheBench){.class = "L2",
                     .cache = "merges=1 data_port=8 bypass=true bypass_classes=8 bypass_delay=2",
                     .below = "refuse_until=100",
                     .order = orders[_i]});
    memory_driver_send(rig.driver, 10, write_request(0x5000, 32));
    fill_link_and_miss_queue(&rig, 0);
    memory_driver_send(rig.driver, 58, read_line(0x1080));
    memory_driver_send(rig.driver, 70, of_class(read_request(0x5000, 32), 3));
    sim_run(rig.sim, 95 * rig.cache->period);
    ck_assert_uint_eq(rig_stat(&rig, "data_port_stalls"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "data_port_stall_cycles"), 89 - 74);
    ck_assert_uint_eq(rig_stat(&rig, "mshr_merge_fails"), 2);
    rig_free(&rig);
}
END_TEST

/* Switched off in cycle 20 the cache passes on what waited for its MSHR, without one. */
START_TEST(what_it_was_blocked_on_is_forgotten_when_knobs_are_set) {
    CacheRig rig = rig_of(_i, "mshrs=1", NULL);
    memory_driver_send(rig.driver, 10, read_line(0x1000));
    memory_driver_send(rig.driver, 11, read_line(0x2000));
    sim_run(rig.sim, 20 * rig.cache->period);
    rig_set(&rig, "enabled", "false");
    rig.cache->class->knobs_set(rig.cache);
    rig_run(&rig);
    expect_one_stall(&rig, "mshr_entry_fails", LOOKED_UP, 20);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, 20 + ANSWER_DELAY);
    rig_free(&rig);
}
END_TEST

Suite *failed_tries_suite(void) {
    Suite *suite = suite_create("failed_tries");
    TCase *tests = tcase_create("failed_tries");
    tcase_add_loop_test(tests, line_is_waited_for_until_its_last_sector_has_come, 0, 2);
    tcase_add_loop_test(tests, data_port_that_a_bypassing_request_takes_is_waited_for, 0, 3);
    tcase_add_loop_test(tests, line_is_waited_for_when_another_set_is_filled_first, 0, 2);
    tcase_add_loop_test(tests, mshr_is_waited_for_until_its_last_request_is_answered, 0, 2);
    tcase_add_loop_test(tests, place_in_an_mshr_is_waited_for_until_the_fill, 0, 2);
    tcase_add_loop_test(tests, as_many_places_in_the_miss_queue_are_waited_for_as_are_needed, 0, 4);
    tcase_add_loop_test(tests, fewer_places_are_waited_for_when_the_line_has_been_written_back, 0, 2);
    tcase_add_loop_test(tests, what_it_was_blocked_on_is_forgotten_when_knobs_are_set, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
