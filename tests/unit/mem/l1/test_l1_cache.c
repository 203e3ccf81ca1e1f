/* An L1: reads, what stops requests at the tags, and random requests of all kinds. Timing: see cache_rig.h.
 */
#include "core/sim/base/random.h"
#include "mem/protocol/caches.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

static CacheRig rig_of(CacheBench bench) {
    bench.class = "L1";
    return cache_rig(bench);
}

/* Reads. */

static const uint64_t latencies[] = {1, 2, 5, 35};

START_TEST(hit_is_answered_after_the_latency_and_not_before) {
    char parameters[64];
    uint64_t latency = latencies[_i];
    snprintf(parameters, sizeof parameters, "latency=%lu", latency);
    CacheRig rig = rig_of((CacheBench){.cache = parameters});
    ck_assert_int_eq(rig_time(&rig, read_request(0x1000, 128)), (int64_t)latency + RIG_RESPONDER + 5);
    ck_assert(!(rig_response(&rig, 0)->message.flags & MEM_HIT));
    ck_assert_int_eq(rig_time(&rig, read_request(0x1000, 128)), (int64_t)latency + 2);
    ck_assert(rig_response(&rig, 1)->message.flags & MEM_HIT);
    ck_assert_int_eq(rig_time(&rig, read_request(0x1060, 32)), (int64_t)latency + 2);
    ck_assert(rig_response(&rig, 2)->message.flags & MEM_HIT);
    rig_free(&rig);
}
END_TEST

START_TEST(response_is_the_request_with_only_the_hit_flag_added) {
    CacheRig rig = rig_of((CacheBench){0});
    MemMessage m = of_token(read_request(0x1020, 32), 0x12345678);
    m.pc = 77, m.sm = 5, m.warp = 9, m.class_number = 3, m.flags = MEM_INSTRUCTION;
    mem_enter_network(&m, &m, 6);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(rig_hits(&rig, m), i == 1);
        MemMessage expected = memory_driver_sent(rig.driver)->entries[i].message;
        expected.flags |= i ? MEM_HIT : 0;
        ck_assert_mem_eq(&rig_response(&rig, (uint32_t)i)->message, &expected, sizeof expected);
    }
    rig_free(&rig);
}
END_TEST

START_TEST(miss_fetches_the_whole_line_on_behalf_of_the_requester) {
    CacheRig rig = rig_of((CacheBench){0});
    MemMessage m = read_request(0x10a0, 32);
    m.pc = 77, m.sm = 5, m.warp = 9, m.class_number = 3;
    mem_enter_network(&m, &m, 6);
    memory_driver_send(rig.driver, 10, m);
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    const LoggedMessage *fetch = rig_arrival(&rig, 0);
    ck_assert_uint_eq(fetch->cycle, 10 + RIG_DELAY + 3);
    ck_assert_uint_eq(fetch->message.kind, MEM_READ);
    ck_assert_uint_eq(fetch->message.address, 0x1080);
    ck_assert_uint_eq(fetch->message.bytes, 128);
    ck_assert_uint_eq(fetch->message.pc, 77);
    ck_assert_uint_eq(fetch->message.sm, 5);
    ck_assert_uint_eq(fetch->message.warp, 9);
    ck_assert_uint_eq(fetch->message.class_number, 3);
    ck_assert_uint_eq(fetch->message.route_depth, 0);
    ck_assert_uint_eq(fetch->message.issued, memory_driver_sent(rig.driver)->entries[0].message.issued);
    rig_free(&rig);
}
END_TEST

START_TEST(hits_flow_one_per_cycle) {
    CacheRig rig = rig_of((CacheBench){0});
    rig_hits(&rig, read_request(0x1000, 128));
    uint64_t start = rig_now(&rig) + 1;
    for (uint64_t i = 0; i < 20; i++)
        memory_driver_send(rig.driver, start, read_request(0x1000, 128));
    rig_run(&rig);
    for (uint32_t i = 0; i < 20; i++)
        ck_assert_uint_eq(rig_response(&rig, 1 + i)->cycle, start + RIG_HIT + i);
    ck_assert_uint_eq(rig_stat(&rig, "read_hits"), 20);
    rig_free(&rig);
}
END_TEST

START_TEST(requests_for_a_line_under_way_merge_and_are_answered_one_per_cycle_in_order) {
    CacheRig rig = rig_of((CacheBench){0});
    for (uint32_t i = 0; i < 4; i++)
        memory_driver_send(rig.driver, 10 + 3 * i, of_token(read_request(0x1000 + 32 * i, 32), i));
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(rig_response(&rig, i)->cycle, 10 + RIG_MISS + i);
        ck_assert_uint_eq(rig_response(&rig, i)->message.token, i);
        ck_assert_uint_eq(rig_response(&rig, i)->message.flags, i ? MEM_FOUND : 0);
    }
    ck_assert_uint_eq(rig_stat(&rig, "misses"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "merges"), 3);
    rig_free(&rig);
}
END_TEST

START_TEST(least_recently_used_line_is_replaced) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=512 ways=4"});
    for (uint64_t i = 0; i < 4; i++)
        ck_assert(!rig_hits(&rig, read_request(i * 128, 128)));
    ck_assert(rig_hits(&rig, read_request(0, 128)));
    ck_assert(!rig_hits(&rig, read_request(4 * 128, 128))); /* replaces line 1 */
    ck_assert(rig_hits(&rig, read_request(2 * 128, 128)));
    ck_assert(rig_hits(&rig, read_request(0, 128)));
    ck_assert(!rig_hits(&rig, read_request(1 * 128, 128))); /* replaces line 3 */
    ck_assert(rig_hits(&rig, read_request(4 * 128, 128)));
    ck_assert(!rig_hits(&rig, read_request(3 * 128, 128)));
    ck_assert_uint_eq(rig_stat(&rig, "evictions"), 3);
    rig_free(&rig);
}
END_TEST

START_TEST(xor_index_spreads_what_collides_linearly) {
    static const char *const caches[] = {"size=1KiB ways=1",
                                         "size=1KiB ways=1 index=xor index_masks=0x480,0x900,0x1200"};
    for (int i = 0; i < 2; i++) {
        CacheRig rig = rig_of((CacheBench){.cache = caches[i]});
        for (uint64_t line = 0; line < 8; line++)
            rig_hits(&rig, read_request(line * 1024, 128));
        for (uint64_t line = 0; line < 8; line++)
            ck_assert_int_eq(rig_hits(&rig, read_request(line * 1024, 128)), i == 1);
        rig_free(&rig);
    }
}
END_TEST

START_TEST(sectors_are_fetched_alone_and_only_when_missing) {
    CacheRig rig = rig_of((CacheBench){.cache = "sectors=4"});
    ck_assert(!rig_hits(&rig, read_request(0x1020, 32)));
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.address, 0x1020);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.bytes, 32);
    /* Three more fetches leave in consecutive cycles; the answer goes back with the last. */
    ck_assert_int_eq(rig_time(&rig, read_request(0x1000, 128)), RIG_MISS + 2);
    ck_assert_uint_eq(rig_arrivals(&rig), 4);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.address, 0x1000);
    ck_assert_uint_eq(rig_arrival(&rig, 2)->message.address, 0x1040);
    ck_assert_uint_eq(rig_arrival(&rig, 3)->message.address, 0x1060);
    ck_assert_uint_eq(memory_driver_responses(rig.driver)->count, 2);
    ck_assert(rig_hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(rig_stat(&rig, "read_misses"), 2);
    ck_assert_uint_eq(rig_stat(&rig, "fetches"), 4);
    rig_free(&rig);
}
END_TEST

START_TEST(sector_miss_makes_its_line_the_most_recently_used) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=256 ways=2 sectors=4"});
    rig_hits(&rig, read_request(0x1000, 32));
    rig_hits(&rig, read_request(0x2000, 32));
    ck_assert(!rig_hits(&rig, read_request(0x1020, 32)));
    rig_hits(&rig, read_request(0x3000, 32));
    ck_assert(rig_hits(&rig, read_request(0x1000, 32)));
    ck_assert(!rig_hits(&rig, read_request(0x2000, 32)));
    rig_free(&rig);
}
END_TEST

/* Reservation fails. */

static MemMessage bypassing(MemMessage m) {
    m.flags |= MEM_BYPASS_L1;
    return m;
}

START_TEST(second_line_waits_for_the_only_mshr) {
    CacheRig rig = rig_of((CacheBench){.cache = "mshrs=1"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 128));
    rig_run(&rig);
    uint64_t first_answered = 10 + RIG_MISS - 1, looked_up = 11 + 1 + RIG_DELAY;
    expect_one_stall(&rig, "mshr_entry_fails", looked_up, first_answered);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, first_answered + RIG_RESPONDER + 4);
    rig_free(&rig);
}
END_TEST

START_TEST(merge_beyond_the_limit_waits_for_the_fill_and_then_hits) {
    CacheRig rig = rig_of((CacheBench){.cache = "merges=2", .response = {.width = 2}});
    for (uint64_t i = 0; i < 3; i++)
        memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    rig_run(&rig);
    uint64_t filled = 10 + RIG_MISS - 1, looked_up = 12 + 1 + RIG_DELAY;
    expect_one_stall(&rig, "mshr_merge_fails", looked_up, filled);
    ck_assert_uint_eq(rig_response(&rig, 0)->cycle, filled + 1);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, filled + 1);
    ck_assert_uint_eq(rig_response(&rig, 2)->cycle, filled + 2);
    ck_assert_uint_eq(rig_response(&rig, 1)->message.flags, MEM_HIT);
    ck_assert_uint_eq(rig_stat(&rig, "read_hits"), 1);
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    rig_free(&rig);
}
END_TEST

/* Off, so that every read goes below: `places` reads are in flight, one in each cycle from 10 on, and the next
 * one waits for the first answer. */
static void expect_off_reads(const char *cache, uint32_t places) {
    CacheRig rig = rig_of((CacheBench){.cache = cache});
    for (uint32_t i = 0; i <= places; i++)
        memory_driver_send(rig.driver, 10 + i, read_request(0x1000 * (i + 1), 128));
    rig_run(&rig);
    expect_one_stall(&rig, "bypassed_stalls", 10 + places + 1 + RIG_DELAY, 10 + RIG_MISS - 1);
    ck_assert_uint_eq(rig_arrival(&rig, places - 1)->cycle, 10 + places - 1 + RIG_DELAY + 3);
    ck_assert_uint_eq(rig_arrival(&rig, places)->cycle, 10 + RIG_MISS - 1 + 2);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), places + 1);
    rig_free(&rig);
}

START_TEST(an_l1_that_is_off_has_as_many_reads_in_flight_as_its_mshrs_hold) {
    expect_off_reads("enabled=false mshrs=2 merges=2", 4);
    expect_off_reads("enabled=false mshrs=3 merges=1", 3);
    expect_off_reads("enabled=false mshrs=2 merges=2 off_reads=7", 7);
    expect_off_reads("enabled=false off_reads=1", 1);
}
END_TEST

/* Reads that bypass by their instruction hold a place as well; writes and atomics do not. */
START_TEST(only_reads_count_among_those_of_an_l1_that_is_off) {
    CacheRig rig = rig_of((CacheBench){.cache = "enabled=false off_reads=1"});
    MemMessage atomic = write_request(0x1000, 32);
    atomic.kind = MEM_ATOMIC;
    memory_driver_send(rig.driver, 10, write_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, atomic);
    memory_driver_send(rig.driver, 12, read_request(0x2000, 128));
    memory_driver_send(rig.driver, 13, write_request(0x3000, 128));
    memory_driver_send(rig.driver, 14, bypassing(read_request(0x4000, 128)));
    rig_run(&rig);
    expect_one_stall(&rig, "bypassed_stalls", 14 + 1 + RIG_DELAY, 12 + RIG_MISS - 1);
    rig_free(&rig);
}
END_TEST

START_TEST(an_l1_that_is_on_has_no_limit_of_off_reads) {
    CacheRig rig = rig_of((CacheBench){.cache = "mshrs=1 merges=1 off_reads=1"});
    for (uint32_t i = 0; i < 8; i++)
        memory_driver_send(rig.driver, 10 + i, bypassing(read_request(0x1000 * (i + 1), 128)));
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "bypassed_stalls"), 0);
    ck_assert_uint_eq(rig_arrival(&rig, 7)->cycle, 17 + RIG_DELAY + 3);
    rig_free(&rig);
}
END_TEST

START_TEST(line_cannot_be_taken_while_every_way_is_reserved) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 128));
    rig_run(&rig);
    uint64_t filled = 10 + RIG_MISS - 1, looked_up = 11 + 1 + RIG_DELAY;
    expect_one_stall(&rig, "line_fails", looked_up, filled);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, filled + RIG_RESPONDER + 4);
    rig_free(&rig);
}
END_TEST

START_TEST(allocation_on_fill_reserves_no_line) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1 allocate=fill"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 128));
    rig_run(&rig);
    ck_assert_uint_eq(rig_response(&rig, 0)->cycle, 10 + RIG_MISS);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, 11 + RIG_MISS);
    ck_assert_uint_eq(rig_stat(&rig, "line_fails"), 0);
    ck_assert(rig_hits(&rig, read_request(0x2000, 128)));
    ck_assert(!rig_hits(&rig, read_request(0x1000, 128)));
    rig_free(&rig);
}
END_TEST

START_TEST(allocation_on_fill_evicts_no_line_before_the_fill) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1 allocate=fill", .response = {.width = 2}});
    rig_hits(&rig, read_request(0x1000, 128));
    uint64_t start = rig_now(&rig) + 1, filled = start + RIG_MISS - 1;
    memory_driver_send(rig.driver, start, read_request(0x2000, 128));
    memory_driver_send(rig.driver, filled - RIG_DELAY - 2,
                       read_request(0x1000, 128)); /* looked up one cycle before */
    memory_driver_send(rig.driver, filled - RIG_DELAY - 1,
                       read_request(0x1000, 128)); /* in the cycle of the fill  */
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "read_hits"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "read_misses"), 3);
    rig_free(&rig);
}
END_TEST

/* The responder takes nothing until cycle 100, so the link below fills up with 8 fetches, and then the miss
 * queue. */
START_TEST(miss_waits_for_room_in_the_miss_queue) {
    CacheRig rig = rig_of((CacheBench){.cache = "miss_queue=2", .below = "refuse_until=100"});
    for (uint64_t i = 0; i < 11; i++)
        memory_driver_send(rig.driver, 10, read_request(0x1000 + 128 * i, 128));
    rig_run(&rig);
    /* Request 10 reaches the tags in 10 + 10 + 1 + RIG_DELAY. The responder pops in 100 and thereby frees the
     * link for 101: a fetch leaves the queue and in the same cycle the request goes on. */
    expect_one_stall(&rig, "miss_queue_fails", 10 + 10 + 1 + RIG_DELAY, 101);
    ck_assert_uint_eq(rig_arrival(&rig, 10)->cycle, 104);
    rig_free(&rig);
}
END_TEST

START_TEST(hit_waits_for_the_response_link) {
    CacheRig rig = rig_of(
        (CacheBench){.driver = "refuse_from=50 refuse_until=100", .response = {.depth = 1}});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 60, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 61, read_request(0x1000, 128));
    rig_run(&rig);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, 100);
    ck_assert_uint_eq(rig_response(&rig, 2)->cycle, 102);
    expect_one_stall(&rig, "response_stalls", 61 + 1 + RIG_DELAY, 101);
    rig_free(&rig);
}
END_TEST

START_TEST(stalls_are_counted_alike_however_often_the_counters_are_read) {
    CacheRig rig = rig_of((CacheBench){.cache = "mshrs=1"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 128));
    while (sim_run(rig.sim, rig.sim->now + 1) != STOP_IDLE)
        sim_settle(rig.sim);
    expect_one_stall(&rig, "mshr_entry_fails", 11 + 1 + RIG_DELAY, 10 + RIG_MISS - 1);
    rig_free(&rig);
}
END_TEST

START_TEST(report_names_the_request_at_the_tags_and_what_it_waits_for) {
    CacheRig rig = rig_of((CacheBench){.cache = "mshrs=1"});
    char *text;
    size_t size;
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 128));
    sim_run(rig.sim, 20 * rig.cache->period);
    FILE *out = open_memstream(&text, &size);
    rig.cache->class->report(rig.cache, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "1 of 1 MSHRs"));
    ck_assert_ptr_nonnull(strstr(text, "read of 128 B at 0x2000"));
    ck_assert_ptr_nonnull(strstr(text, "waits for a free MSHR"));
    free(text);
    rig_free(&rig);
}
END_TEST

/* Requests of all kinds. */

enum { RANDOM_REQUESTS = 3000 };

static MemMessage random_request(Random *random) {
    uint64_t bytes = 32ull << random_below(random, 3);
    uint64_t address = random_below(random, 64) * 128 + random_below(random, 128 / bytes) * bytes;
    MemMessage m = random_below(random, 3) ? read_request(address, (uint32_t)bytes)
                                           : write_request(address, (uint32_t)bytes);
    if (random_below(random, 3) == 0) m.flags |= MEM_LOCAL;
    if (random_below(random, 8) == 0) m.flags |= MEM_BYPASS_L1;
    if (random_below(random, 8) == 0) m.kind = MEM_ATOMIC;
    m.warp = (uint16_t)random_below(random, 48);
    return m;
}

static const char *const tight_caches[] = {
    "size=2KiB ways=2 mshrs=4 merges=2 miss_queue=2 bypassed_limit=6",
    "size=2KiB ways=2 mshrs=4 merges=2 miss_queue=2 sectors=4",
    "size=1KiB ways=1 mshrs=3 merges=3 miss_queue=2 sectors=2 allocate=fill",
    "size=1KiB ways=4 mshrs=3 miss_queue=3 write_policy=through local_allocate=false",
    "size=1KiB ways=4 mshrs=3 miss_queue=3 enabled=false",
    "size=1KiB ways=4 mshrs=2 merges=1 miss_queue=3 enabled=false",
};
enum { TIGHT_CACHES = sizeof tight_caches / sizeof *tight_caches };

static CacheRig mixture(int variant, TickOrder order, uint64_t order_seed, uint64_t awake_until) {
    CacheRig rig = rig_of((CacheBench){.cache = tight_caches[variant],
                                       .driver = "refuse_from=2000 refuse_until=2300",
                                       .below = "capacity=5 refuse_from=4000 refuse_until=4400",
                                       .response = {.depth = 2},
                                       .order = order,
                                       .order_seed = order_seed,
                                       .quantum = awake_until != 0});
    Random random = {7};
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < RANDOM_REQUESTS; i++) {
        cycle += random_below(&random, 4);
        memory_driver_send(rig.driver, cycle, of_token(random_request(&random), i));
    }
    rig_run_awake(&rig, awake_until);
    return rig;
}

MIXTURE_TESTS(mixture)

START_TEST(every_request_is_answered_once_and_as_it_came) {
    CacheRig rig = mixture(_i, ORDER_PATH, 0, 0);
    ck_assert_uint_eq(memory_driver_sent(rig.driver)->count, RANDOM_REQUESTS);
    expect_every_request_answered_once(&rig);
    rig_free(&rig);
}
END_TEST

static TCase *read_tests(void) {
    TCase *tests = tcase_create("reads");
    tcase_add_loop_test(tests, hit_is_answered_after_the_latency_and_not_before, 0, 4);
    tcase_add_test(tests, response_is_the_request_with_only_the_hit_flag_added);
    tcase_add_test(tests, miss_fetches_the_whole_line_on_behalf_of_the_requester);
    tcase_add_test(tests, hits_flow_one_per_cycle);
    tcase_add_test(tests, requests_for_a_line_under_way_merge_and_are_answered_one_per_cycle_in_order);
    tcase_add_test(tests, least_recently_used_line_is_replaced);
    tcase_add_test(tests, xor_index_spreads_what_collides_linearly);
    tcase_add_test(tests, sectors_are_fetched_alone_and_only_when_missing);
    tcase_add_test(tests, sector_miss_makes_its_line_the_most_recently_used);
    return tests;
}

static TCase *stall_tests(void) {
    TCase *tests = tcase_create("stalls");
    tcase_add_test(tests, second_line_waits_for_the_only_mshr);
    tcase_add_test(tests, merge_beyond_the_limit_waits_for_the_fill_and_then_hits);
    tcase_add_test(tests, an_l1_that_is_off_has_as_many_reads_in_flight_as_its_mshrs_hold);
    tcase_add_test(tests, only_reads_count_among_those_of_an_l1_that_is_off);
    tcase_add_test(tests, an_l1_that_is_on_has_no_limit_of_off_reads);
    tcase_add_test(tests, line_cannot_be_taken_while_every_way_is_reserved);
    tcase_add_test(tests, allocation_on_fill_reserves_no_line);
    tcase_add_test(tests, allocation_on_fill_evicts_no_line_before_the_fill);
    tcase_add_test(tests, miss_waits_for_room_in_the_miss_queue);
    tcase_add_test(tests, hit_waits_for_the_response_link);
    tcase_add_test(tests, stalls_are_counted_alike_however_often_the_counters_are_read);
    tcase_add_test(tests, report_names_the_request_at_the_tags_and_what_it_waits_for);
    return tests;
}

static TCase *mixture_tests(void) {
    TCase *tests = tcase_create("mixtures");
    ADD_MIXTURE_TESTS(tests, TIGHT_CACHES);
    tcase_add_loop_test(tests, every_request_is_answered_once_and_as_it_came, 0, TIGHT_CACHES);
    return tests;
}

Suite *l1_cache_suite(void) {
    Suite *suite = suite_create("l1_cache");
    suite_add_tcase(suite, read_tests());
    suite_add_tcase(suite, stall_tests());
    suite_add_tcase(suite, mixture_tests());
    return suite;
}
