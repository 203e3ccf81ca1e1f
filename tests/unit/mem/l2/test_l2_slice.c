/* An L2 slice: reads, writes, warming. Timing: see cache_rig.h. Atomics: see test_l2_atomics.c. */
#include "mem/protocol/caches.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <string.h>

static CacheRig rig_of(CacheBench bench) {
    bench.class = "L2";
    return cache_rig(bench);
}

/* Bytes [first, first + count) of the line at `address`, which is the whole segment. */
static MemMessage partial_write(uint64_t address, uint32_t first, uint32_t count) {
    MemMessage m = write_request(address, 128);
    MemMessage bytes = write_request(address + first, count);
    memcpy(m.byte_mask, bytes.byte_mask, sizeof m.byte_mask);
    return m;
}

/* Reads. */

static const uint64_t delays[] = {1, 6, 120};

START_TEST(hit_is_answered_after_the_delay_and_not_before) {
    char parameters[64];
    uint64_t delay = delays[_i];
    snprintf(parameters, sizeof parameters, "rop_delay=%lu", delay);
    CacheRig rig = rig_of((CacheBench){.cache = parameters});
    ck_assert_int_eq(rig_time(&rig, read_request(0x1000, 128)), (int64_t)delay + RIG_RESPONDER + 5);
    ck_assert(!(rig_response(&rig, 0)->message.flags & MEM_HIT));
    ck_assert_int_eq(rig_time(&rig, read_request(0x1000, 128)), (int64_t)delay + 2);
    ck_assert(rig_response(&rig, 1)->message.flags & MEM_HIT);
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.bytes, 128);
    rig_free(&rig);
}
END_TEST

/* Channel 0 of two has the addresses 0-255, 512-767, ...: its lines are 0, 1, 4, 5, ... of the whole memory,
 * and must fill a slice of four sets evenly. */
START_TEST(set_index_counts_the_lines_of_the_slice) {
    static const uint64_t addresses[] = {0, 128, 512, 640};
    CacheRig rig = rig_of((CacheBench){.cache = "size=512 ways=1", .map = "channels=2"});
    for (int i = 0; i < 4; i++)
        rig_hits(&rig, read_request(addresses[i], 128));
    for (int i = 0; i < 4; i++)
        ck_assert(rig_hits(&rig, read_request(addresses[i], 128)));
    ck_assert(!rig_hits(&rig, read_request(1024, 128)));
    ck_assert(!rig_hits(&rig, read_request(0, 128)));
    rig_free(&rig);
}
END_TEST

START_TEST(only_missing_sectors_are_fetched_and_one_answer_goes_back) {
    CacheRig rig = rig_of((CacheBench){.cache = "sectors=4"});
    ck_assert_int_eq(rig_time(&rig, read_request(0x1020, 32)), RIG_MISS);
    ck_assert_int_eq(rig_time(&rig, read_request(0x1000, 128)), RIG_MISS + 2);
    ck_assert_int_eq(rig_time(&rig, read_request(0x2000, 128)), RIG_MISS + 3);
    ck_assert_uint_eq(memory_driver_responses(rig.driver)->count, 3);
    static const uint64_t fetched[] = {0x1020, 0x1000, 0x1040, 0x1060, 0x2000, 0x2020, 0x2040, 0x2060};
    ck_assert_uint_eq(rig_arrivals(&rig), 8);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(rig_arrival(&rig, i)->message.address, fetched[i]);
        ck_assert_uint_eq(rig_arrival(&rig, i)->message.bytes, 32);
    }
    rig_free(&rig);
}
END_TEST

START_TEST(request_merges_with_sectors_under_way_and_fetches_the_rest) {
    CacheRig rig = rig_of((CacheBench){.cache = "sectors=4"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 64));
    memory_driver_send(rig.driver, 11, read_request(0x1020, 32));  /* all in flight    */
    memory_driver_send(rig.driver, 12, read_request(0x1000, 128)); /* half of it is    */
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrivals(&rig), 4);
    ck_assert_uint_eq(rig_stat(&rig, "read_merges"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "read_misses"), 2);
    /* The fetches leave in 11 + RIG_DELAY + 1, 2 (first request) and 3, 4 (third). */
    ck_assert_uint_eq(rig_response(&rig, 0)->cycle, 10 + RIG_MISS + 1);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, 10 + RIG_MISS + 2);
    ck_assert_uint_eq(rig_response(&rig, 2)->cycle, 10 + RIG_MISS + 3);
    ck_assert_uint_eq(rig_response(&rig, 1)->message.bytes, 32);
    rig_free(&rig);
}
END_TEST

START_TEST(narrow_data_port_takes_a_line_in_several_cycles) {
    CacheRig rig = rig_of((CacheBench){.cache = "data_port=32"});
    rig_hits(&rig, read_request(0x1000, 128));
    uint64_t start = rig_now(&rig) + 1;
    for (int i = 0; i < 3; i++)
        memory_driver_send(rig.driver, start, read_request(0x1000, 128));
    memory_driver_send(rig.driver, start, read_request(0x1000, 32));
    memory_driver_send(rig.driver, start, read_request(0x1000, 32));
    rig_run(&rig);
    static const uint64_t expected[] = {0, 4, 8, 12, 13};
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_uint_eq(rig_response(&rig, 1 + i)->cycle, start + RIG_HIT + expected[i]);
    ck_assert_uint_eq(rig_stat(&rig, "data_port_stalls"), 3);
    ck_assert_uint_eq(rig_stat(&rig, "data_port_stall_cycles"), 9);
    ck_assert_uint_eq(rig_stat(&rig, "data_port_cycles"), 3 * 4 + 2);
    rig_free(&rig);
}
END_TEST

START_TEST(narrow_fill_port_takes_a_line_in_several_cycles) {
    CacheRig rig = rig_of((CacheBench){.cache = "data_port=32"});
    for (uint64_t i = 0; i < 3; i++)
        memory_driver_send(rig.driver, 10, read_request(0x1000 + 128 * i, 128));
    rig_run(&rig);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(rig_response(&rig, i)->cycle, 10 + RIG_MISS + 4 * i);
    rig_free(&rig);
}
END_TEST

START_TEST(line_stays_reserved_until_its_last_sector_has_come) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1 sectors=4"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 32));
    rig_run(&rig);
    uint64_t last_fill = 10 + RIG_MISS + 3 - 1, looked_up = 11 + 1 + RIG_DELAY;
    ck_assert_uint_eq(rig_stat(&rig, "line_fail_cycles"), last_fill - looked_up);
    rig_free(&rig);
}
END_TEST

/* Writes. */

START_TEST(write_of_a_whole_line_fetches_nothing) {
    CacheRig rig = rig_of((CacheBench){0});
    ck_assert_int_eq(rig_time(&rig, write_request(0x1000, 128)), RIG_HIT);
    ck_assert(rig_hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(rig_arrivals(&rig), 0);
    ck_assert_uint_eq(rig_stat(&rig, "write_misses"), 1);
    ck_assert(rig_hits(&rig, write_request(0x1020, 32)));
    ck_assert_uint_eq(rig_stat(&rig, "write_hits"), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(write_of_a_part_is_acknowledged_at_once_and_fetches_the_line) {
    CacheRig rig = rig_of((CacheBench){0});
    memory_driver_send(rig.driver, 10, partial_write(0x1000, 4, 4));
    memory_driver_send(rig.driver, 11, partial_write(0x1000, 8, 4));
    memory_driver_send(rig.driver, 12, read_request(0x1000, 32));
    rig_run(&rig);
    ck_assert_uint_eq(rig_response(&rig, 0)->cycle, 10 + RIG_HIT);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, 11 + RIG_HIT);
    ck_assert_uint_eq(rig_response(&rig, 2)->cycle, 10 + RIG_MISS);
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    ck_assert_uint_eq(rig_stat(&rig, "write_misses"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "write_merges"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "read_merges"), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(write_of_whole_sectors_fetches_only_the_others_when_they_are_read) {
    CacheRig rig = rig_of((CacheBench){.cache = "sectors=4"});
    rig_hits(&rig, write_request(0x1020, 32));
    ck_assert(rig_hits(&rig, read_request(0x1020, 32)));
    ck_assert_uint_eq(rig_arrivals(&rig), 0);
    rig_hits(&rig, read_request(0x1000, 128));
    ck_assert_uint_eq(rig_arrivals(&rig), 3);
    rig_free(&rig);
}
END_TEST

START_TEST(write_to_a_sector_under_way_is_not_readable_before_the_fill) {
    CacheRig rig = rig_of((CacheBench){0});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, write_request(0x1000, 128));
    memory_driver_send(rig.driver, 12, read_request(0x1000, 128));
    rig_run(&rig);
    ck_assert_uint_eq(rig_response(&rig, 0)->cycle, 11 + RIG_HIT);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, 10 + RIG_MISS);
    ck_assert_uint_eq(rig_response(&rig, 2)->cycle, 10 + RIG_MISS + 1);
    ck_assert_uint_eq(rig_stat(&rig, "write_merges"), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(write_that_fetches_nothing_needs_no_mshr) {
    CacheRig rig = rig_of((CacheBench){.cache = "mshrs=1"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, write_request(0x2000, 128));
    rig_run(&rig);
    ck_assert_uint_eq(rig_response(&rig, 0)->cycle, 11 + RIG_HIT);
    rig_free(&rig);
}
END_TEST

START_TEST(writes_and_write_backs_take_the_data_port) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1 data_port=32"});
    rig_hits(&rig, write_request(0x1000, 128));
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, write_request(0x1000, 64)); /* a hit: 2 cycles             */
    memory_driver_send(rig.driver, start, write_request(0x2000, 32)); /* evicts 128 B: 4 cycles      */
    memory_driver_send(rig.driver, start, write_request(0x2000, 32)); /* merges: no data moves       */
    memory_driver_send(rig.driver, start, write_request(0x2000, 32));
    rig_run(&rig);
    static const uint64_t expected[] = {0, 2, 6, 7};
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(rig_response(&rig, 1 + i)->cycle, start + RIG_HIT + expected[i]);
    ck_assert_uint_eq(rig_stat(&rig, "data_port_cycles"), 2 + 4);
    rig_free(&rig);
}
END_TEST

START_TEST(lazy_write_fetches_a_sector_when_it_is_read_and_not_before) {
    CacheRig rig = rig_of((CacheBench){.cache = "sectors=4 write_miss=lazy"});
    ck_assert_int_eq(rig_time(&rig, partial_write(0x1000, 36, 4)),
                     RIG_HIT); /* all sectors are in its segment */
    ck_assert_uint_eq(rig_arrivals(&rig), 0);
    ck_assert(!rig_hits(&rig, read_request(0x1020, 32)));
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.address, 0x1020);
    ck_assert(rig_hits(&rig, read_request(0x1020, 32)));
    rig_free(&rig);
}
END_TEST

START_TEST(lazy_writes_that_complete_a_sector_make_it_readable) {
    CacheRig rig = rig_of((CacheBench){.cache = "sectors=4 write_miss=lazy"});
    rig_hits(&rig, partial_write(0x1000, 32, 20));
    ck_assert(rig_hits(&rig, partial_write(0x1000, 52, 12)));
    ck_assert(rig_hits(&rig, read_request(0x1020, 32)));
    ck_assert_uint_eq(rig_arrivals(&rig), 0);
    rig_free(&rig);
}
END_TEST

START_TEST(dirty_line_is_written_back_with_the_bytes_written) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1 sectors=4 write_miss=lazy"});
    MemMessage m = write_request(0x1040, 32);
    m.byte_mask[1] = 0xf0;
    rig_hits(&rig, m);
    rig_hits(&rig, read_request(0x2000, 32));
    ck_assert_uint_eq(rig_arrivals(&rig), 2);
    const MemMessage *back = &rig_arrival(&rig, 0)->message;
    ck_assert_uint_eq(back->kind, MEM_WRITE);
    ck_assert_uint_eq(back->flags, MEM_POSTED);
    ck_assert_uint_eq(back->address, 0x1040);
    ck_assert_uint_eq(back->bytes, 32);
    ck_assert_uint_eq(back->byte_mask[0], 0);
    ck_assert_uint_eq(back->byte_mask[1], 0xf0);
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(posted_write_is_not_acknowledged) {
    CacheRig rig = rig_of((CacheBench){0});
    ck_assert_int_eq(rig_time(&rig, posted_write_request(0x1000, 128)), -1);
    ck_assert(rig_hits(&rig, read_request(0x1000, 128)));
    rig_free(&rig);
}
END_TEST

START_TEST(write_waits_for_a_line_while_every_way_is_reserved) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, write_request(0x2000, 128));
    rig_run(&rig);
    uint64_t filled = 10 + RIG_MISS - 1, looked_up = 11 + 1 + RIG_DELAY;
    ck_assert_uint_eq(rig_stat(&rig, "line_fails"), 1);
    /* The response to the read has the link in the cycle of the fill. */
    ck_assert_uint_eq(rig_stat(&rig, "line_fail_cycles"), filled - looked_up);
    ck_assert_uint_eq(rig_stat(&rig, "response_stall_cycles"), 1);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, filled + 2);
    rig_free(&rig);
}
END_TEST

START_TEST(warm_lines_are_there_at_once_and_clean) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1 sectors=4"});
    l2_warm(rig.cache, 0x1044);
    ck_assert(rig_hits(&rig, read_request(0x1000, 128)));
    rig_hits(&rig, write_request(0x1000, 32));
    l2_warm(rig.cache, 0x1000);
    l2_warm(rig.cache, 0x2000);
    ck_assert(rig_hits(&rig, read_request(0x2000, 128)));
    ck_assert(!rig_hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 0);
    rig_free(&rig);
}
END_TEST

START_TEST(warm_line_comes_no_sooner_when_it_is_under_way) {
    CacheRig rig = rig_of((CacheBench){0});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    sim_run(rig.sim, 20 * rig.cache->period);
    l2_warm(rig.cache, 0x1000);
    memory_driver_send(rig.driver, 21, read_request(0x1000, 128));
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "read_merges"), 1);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, 10 + RIG_MISS + 1);
    rig_free(&rig);
}
END_TEST

START_TEST(warm_line_remembers_nothing_written_before) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1"});
    rig_hits(&rig, write_request(0x1000, 128));
    l2_warm(rig.cache, 0x2000);
    rig_hits(&rig, partial_write(0x2000, 4, 4));
    rig_hits(&rig, read_request(0x3000, 128));
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.address, 0x2000);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.byte_mask[0], 0xf0);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.byte_mask[1], 0);
    rig_free(&rig);
}
END_TEST

START_TEST(range_warms_each_line_that_it_touches_and_no_other) {
    CacheRig rig = rig_of((CacheBench){0});
    l2_warm_range(&rig.cache, 1, 0x10ff, 2);
    l2_warm_range(&rig.cache, 1, 0x1244, 0);
    ck_assert(!rig_hits(&rig, read_request(0x1000, 128)));
    ck_assert(rig_hits(&rig, read_request(0x1080, 128)));
    ck_assert(rig_hits(&rig, read_request(0x1100, 128)));
    ck_assert(!rig_hits(&rig, read_request(0x1180, 128)));
    ck_assert(!rig_hits(&rig, read_request(0x1200, 128)));
    rig_free(&rig);
}
END_TEST

static TCase *read_tests(void) {
    TCase *tests = tcase_create("reads");
    tcase_add_loop_test(tests, hit_is_answered_after_the_delay_and_not_before, 0, 3);
    tcase_add_test(tests, set_index_counts_the_lines_of_the_slice);
    tcase_add_test(tests, only_missing_sectors_are_fetched_and_one_answer_goes_back);
    tcase_add_test(tests, request_merges_with_sectors_under_way_and_fetches_the_rest);
    tcase_add_test(tests, line_stays_reserved_until_its_last_sector_has_come);
    tcase_add_test(tests, narrow_data_port_takes_a_line_in_several_cycles);
    tcase_add_test(tests, narrow_fill_port_takes_a_line_in_several_cycles);
    return tests;
}

static TCase *write_tests(void) {
    TCase *tests = tcase_create("writes");
    tcase_add_test(tests, write_of_a_whole_line_fetches_nothing);
    tcase_add_test(tests, write_of_a_part_is_acknowledged_at_once_and_fetches_the_line);
    tcase_add_test(tests, write_of_whole_sectors_fetches_only_the_others_when_they_are_read);
    tcase_add_test(tests, write_to_a_sector_under_way_is_not_readable_before_the_fill);
    tcase_add_test(tests, write_that_fetches_nothing_needs_no_mshr);
    tcase_add_test(tests, writes_and_write_backs_take_the_data_port);
    tcase_add_test(tests, lazy_write_fetches_a_sector_when_it_is_read_and_not_before);
    tcase_add_test(tests, lazy_writes_that_complete_a_sector_make_it_readable);
    tcase_add_test(tests, dirty_line_is_written_back_with_the_bytes_written);
    tcase_add_test(tests, posted_write_is_not_acknowledged);
    tcase_add_test(tests, write_waits_for_a_line_while_every_way_is_reserved);
    tcase_add_test(tests, warm_lines_are_there_at_once_and_clean);
    tcase_add_test(tests, warm_line_comes_no_sooner_when_it_is_under_way);
    tcase_add_test(tests, warm_line_remembers_nothing_written_before);
    tcase_add_test(tests, range_warms_each_line_that_it_touches_and_no_other);
    return tests;
}

Suite *l2_slice_suite(void) {
    Suite *suite = suite_create("l2_slice");
    suite_add_tcase(suite, read_tests());
    suite_add_tcase(suite, write_tests());
    return suite;
}
