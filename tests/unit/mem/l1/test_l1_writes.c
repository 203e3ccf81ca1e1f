/* What an L1 does with writes of global and of local memory, requests that pass through, while it is switched
 * off, and when it is invalidated. Timing: see cache_rig.h. */
#include "mem/protocol/caches.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

static CacheRig rig_of(CacheBench bench) {
    bench.class = "L1";
    return cache_rig(bench);
}

/* Writes. */

START_TEST(global_write_evicts_its_line_and_goes_on_below) {
    CacheRig rig = rig_of((CacheBench){0});
    rig_hits(&rig, read_request(0x1000, 128));
    MemMessage m = of_token(write_request(0x1020, 32), 99);
    mem_enter_network(&m, &m, 3);
    ck_assert_int_eq(rig_time(&rig, m), RIG_MISS);
    const MemMessage *below = &rig_arrival(&rig, 1)->message, *ack = &rig_response(&rig, 1)->message;
    ck_assert_uint_eq(below->kind, MEM_WRITE);
    ck_assert_uint_eq(below->address, 0x1020);
    ck_assert_uint_eq(below->bytes, 32);
    ck_assert_uint_eq(below->byte_mask[0], 0xffffffff00000000);
    ck_assert_uint_eq(below->route_depth, 0);
    ck_assert_mem_eq(ack, &memory_driver_sent(rig.driver)->entries[1].message, sizeof *ack);
    ck_assert(!rig_hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(rig_stat(&rig, "write_hits"), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(global_write_that_misses_takes_no_line) {
    CacheRig rig = rig_of((CacheBench){0});
    rig_hits(&rig, write_request(0x1000, 128));
    ck_assert(!rig_hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(rig_stat(&rig, "write_misses"), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(write_through_keeps_the_line) {
    CacheRig rig = rig_of((CacheBench){.cache = "write_policy=through"});
    rig_hits(&rig, read_request(0x1000, 128));
    rig_hits(&rig, write_request(0x1000, 128));
    ck_assert(rig_hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(rig_arrivals(&rig), 2);
    rig_free(&rig);
}
END_TEST

START_TEST(write_through_makes_the_line_the_most_recently_used) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=256 ways=2 write_policy=through"});
    rig_hits(&rig, read_request(0x1000, 128));
    rig_hits(&rig, read_request(0x2000, 128));
    rig_hits(&rig, write_request(0x1000, 128));
    rig_hits(&rig, read_request(0x3000, 128));
    ck_assert(rig_hits(&rig, read_request(0x1000, 128)));
    rig_free(&rig);
}
END_TEST

/* A link of depth 1 takes a message every other cycle, since a pop frees its slot one cycle later. */
START_TEST(acknowledgement_waits_for_the_response_link) {
    for (TickOrder order = ORDER_PATH; order <= ORDER_REVERSED; order++) {
        CacheRig rig = rig_of((CacheBench){.response = {.depth = 1}, .order = order});
        for (uint64_t i = 0; i < 3; i++)
            memory_driver_send(rig.driver, 10, write_request(0x1000, 128));
        rig_run(&rig);
        for (uint32_t i = 0; i < 3; i++)
            ck_assert_uint_eq(rig_response(&rig, i)->cycle, 10 + RIG_MISS + 2 * i);
        rig_free(&rig);
    }
}
END_TEST

START_TEST(posted_write_passes_without_an_answer) {
    CacheRig rig = rig_of((CacheBench){0});
    ck_assert_int_eq(rig_time(&rig, posted_write_request(0x1000, 128)), -1);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.flags, MEM_POSTED);
    rig_free(&rig);
}
END_TEST

START_TEST(write_waits_while_too_many_pass_through) {
    CacheRig rig = rig_of((CacheBench){.cache = "bypassed_limit=1"});
    memory_driver_send(rig.driver, 10, write_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, write_request(0x2000, 128));
    rig_run(&rig);
    expect_one_stall(&rig, "bypassed_stalls", 11 + 1 + RIG_DELAY, 10 + RIG_MISS - 1);
    rig_free(&rig);
}
END_TEST

START_TEST(write_to_a_read_only_cache_is_a_user_error) {
    CacheRig rig = rig_of((CacheBench){.cache = "write_policy=none"});
    memory_driver_send(rig.driver, 10, write_request(0x1000, 128));
    sim_run(rig.sim, UINT64_MAX);
}
END_TEST

START_TEST(request_across_lines_is_a_user_error) {
    CacheRig rig = rig_of((CacheBench){.cache = "line=64"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    sim_run(rig.sim, UINT64_MAX);
}
END_TEST

START_TEST(local_write_of_a_whole_line_stays_here) {
    CacheRig rig = rig_of((CacheBench){0});
    ck_assert_int_eq(rig_time(&rig, of_local_memory(write_request(0x1000, 128))), RIG_HIT);
    ck_assert(rig_hits(&rig, of_local_memory(read_request(0x1000, 128))));
    ck_assert_uint_eq(rig_arrivals(&rig), 0);
    ck_assert_uint_eq(rig_stat(&rig, "local_write_misses"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "local_read_hits"), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(local_write_of_a_part_fetches_the_rest) {
    CacheRig rig = rig_of((CacheBench){0});
    uint64_t start = 10;
    memory_driver_send(rig.driver, start, of_local_memory(write_request(0x1000, 32)));
    memory_driver_send(rig.driver, start + 1, of_local_memory(read_request(0x1000, 32)));
    rig_run(&rig);
    ck_assert_uint_eq(rig_response(&rig, 0)->cycle, start + RIG_HIT);
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, start + RIG_MISS);
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.kind, MEM_READ);
    ck_assert_uint_eq(rig_stat(&rig, "local_read_merges"), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(dirty_local_line_is_written_back_when_replaced) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1"});
    MemMessage m = of_local_memory(write_request(0x1040, 32));
    m.sm = 2, m.warp = 31;
    rig_hits(&rig, m);
    ck_assert(!rig_hits(&rig, read_request(0x2000, 128)));
    ck_assert_uint_eq(rig_arrivals(&rig),
                      3); /* the fetch for the write, the write-back, the fetch for the read */
    const MemMessage *back = &rig_arrival(&rig, 1)->message;
    ck_assert_uint_eq(back->kind, MEM_WRITE);
    ck_assert_uint_eq(back->flags, MEM_POSTED);
    ck_assert_uint_eq(back->address, 0x1000);
    ck_assert_uint_eq(back->bytes, 128);
    ck_assert_uint_eq(back->byte_mask[0], 0);
    ck_assert_uint_eq(back->byte_mask[1], 0xffffffff);
    ck_assert_uint_eq(back->sm, 2);
    ck_assert_uint_eq(back->warp, 31);
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 1);
    rig_hits(&rig, read_request(0x3000, 128));
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(write_back_is_no_larger_than_its_dirty_sectors_need) {
    static const struct {
        uint64_t first, second, address;
        uint32_t bytes;
    } cases[] = {
        {0x20, 0x20, 0x20, 32}, {0x40, 0x60, 0x40, 64}, {0x20, 0x40, 0x00, 128}, {0x00, 0x20, 0x00, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1 sectors=4"});
        rig_hits(&rig, of_local_memory(write_request(0x1000 + cases[i].first, 32)));
        rig_hits(&rig, of_local_memory(write_request(0x1000 + cases[i].second, 32)));
        rig_hits(&rig, read_request(0x2000, 32));
        ck_assert_uint_eq(rig_arrivals(&rig), 2);
        ck_assert_uint_eq(rig_arrival(&rig, 0)->message.address, 0x1000 + cases[i].address);
        ck_assert_uint_eq(rig_arrival(&rig, 0)->message.bytes, cases[i].bytes);
        rig_free(&rig);
    }
}
END_TEST

START_TEST(local_write_may_pass_without_taking_a_line) {
    CacheRig rig = rig_of((CacheBench){.cache = "local_allocate=false"});
    ck_assert_int_eq(rig_time(&rig, of_local_memory(write_request(0x1000, 128))), RIG_MISS);
    ck_assert(!rig_hits(&rig, of_local_memory(read_request(0x1000, 128))));
    ck_assert(rig_hits(&rig, of_local_memory(write_request(0x1000, 128))));
    ck_assert_uint_eq(rig_arrivals(&rig), 2);
    rig_free(&rig);
}
END_TEST

START_TEST(lines_taken_at_a_fill_write_back_although_the_miss_queue_is_full) {
    CacheRig rig = rig_of(
        (CacheBench){.cache = "size=128 ways=1 allocate=fill miss_queue=2", .below = "latency=60"});
    memory_driver_send(rig.driver, 10, read_request(0x2000, 128));
    memory_driver_send(rig.driver, 20, of_local_memory(write_request(0x1000, 128)));
    for (uint64_t i = 0; i < 30; i++)
        memory_driver_send(rig.driver, 30, write_request(0x8000 + 128 * i, 128));
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 1);
    ck_assert(rig_hits(&rig, read_request(0x2000, 128)));
    rig_free(&rig);
}
END_TEST

/* Requests that pass through. */

START_TEST(atomics_and_bypassing_requests_leave_no_line_behind) {
    MemMessage requests[] = {read_request(0x1000, 32), read_request(0x1000, 32), write_request(0x1000, 32)};
    requests[0].kind = MEM_ATOMIC;
    requests[0].payload = 5;
    requests[1].flags = requests[2].flags = MEM_BYPASS_L1;
    for (int i = 0; i < 3; i++) {
        CacheRig rig = rig_of((CacheBench){.below = "response_flags=8"});
        rig_hits(&rig, read_request(0x1000, 128));
        ck_assert_int_eq(rig_time(&rig, requests[i]), RIG_MISS);
        ck_assert_uint_eq(rig_arrival(&rig, 1)->message.kind, requests[i].kind);
        ck_assert_uint_eq(rig_arrival(&rig, 1)->message.bytes, 32);
        ck_assert_uint_eq(rig_arrival(&rig, 1)->message.payload, requests[i].payload);
        ck_assert_uint_eq(rig_response(&rig, 1)->message.flags,
                          requests[i].flags | MEM_HIT); /* what L2 said */
        ck_assert(!rig_hits(&rig, read_request(0x1000, 128)));
        ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 1);
        rig_free(&rig);
    }
}
END_TEST

START_TEST(bypassing_request_writes_a_dirty_line_back_first) {
    CacheRig rig = rig_of((CacheBench){0});
    rig_hits(&rig, of_local_memory(write_request(0x1000, 128)));
    MemMessage m = of_local_memory(read_request(0x1000, 128));
    m.flags |= MEM_BYPASS_L1;
    rig_hits(&rig, m);
    ck_assert_uint_eq(rig_arrivals(&rig), 2);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.flags, MEM_POSTED);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.kind, MEM_READ);
    rig_free(&rig);
}
END_TEST

START_TEST(switched_off_it_keeps_its_tags_and_comes_back) {
    CacheRig rig = rig_of((CacheBench){0});
    rig_hits(&rig, read_request(0x1000, 128));
    object_set_text(rig.cache, "enabled", "false");
    ck_assert_int_eq(rig_time(&rig, read_request(0x1000, 32)), RIG_MISS);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.bytes, 32);
    ck_assert_int_eq(rig_time(&rig, read_request(0x2000, 128)), RIG_MISS);
    ck_assert_int_eq(rig_time(&rig, read_request(0x2000, 128)), RIG_MISS);
    ck_assert_uint_eq(rig_stat(&rig, "off_hits"), 2);
    ck_assert_uint_eq(rig_stat(&rig, "off_misses"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 3);
    object_set_text(rig.cache, "enabled", "true");
    ck_assert(rig_hits(&rig, read_request(0x1000, 128)));  /* was here before */
    ck_assert(!rig_hits(&rig, read_request(0x2000, 128))); /* has a tag, but no data */
    ck_assert(rig_hits(&rig, read_request(0x2000, 128)));
    rig_free(&rig);
}
END_TEST

START_TEST(switched_off_it_writes_dirty_lines_back_once) {
    CacheRig rig = rig_of((CacheBench){.cache = "size=128 ways=1"});
    rig_hits(&rig, of_local_memory(write_request(0x1000, 32)));
    object_set_text(rig.cache, "enabled", "false");
    rig_hits(&rig, of_local_memory(read_request(0x1000, 32)));
    ck_assert_uint_eq(rig_arrivals(&rig), 3); /* fetch, write-back, read */
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.byte_mask[0], 0xffffffff);
    object_set_text(rig.cache, "enabled", "true");
    rig_hits(&rig, of_local_memory(write_request(0x1020, 32)));
    rig_hits(&rig, read_request(0x2000, 128));
    ck_assert_uint_eq(rig_arrivals(&rig), 5);
    ck_assert_uint_eq(rig_arrival(&rig, 3)->message.byte_mask[0], 0xffffffff00000000);
    rig_free(&rig);
}
END_TEST

START_TEST(local_write_while_switched_off_leaves_no_stale_data) {
    CacheRig rig = rig_of((CacheBench){0});
    rig_hits(&rig, of_local_memory(read_request(0x1000, 128)));
    object_set_text(rig.cache, "enabled", "false");
    ck_assert_int_eq(rig_time(&rig, of_local_memory(write_request(0x1000, 128))), RIG_MISS);
    object_set_text(rig.cache, "enabled", "true");
    ck_assert(!rig_hits(&rig, of_local_memory(read_request(0x1000, 128))));
    rig_free(&rig);
}
END_TEST

START_TEST(invalidation_forgets_all_lines_and_drops_dirty_ones) {
    CacheRig rig = rig_of((CacheBench){0});
    rig_hits(&rig, read_request(0x1000, 128));
    rig_hits(&rig, of_local_memory(write_request(0x2000, 128)));
    l1_invalidate(rig.cache);
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    ck_assert(!rig_hits(&rig, read_request(0x1000, 128)));
    ck_assert(!rig_hits(&rig, of_local_memory(read_request(0x2000, 128))));
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 0);
    rig_free(&rig);
}
END_TEST

static TCase *write_tests(void) {
    TCase *tests = tcase_create("writes");
    tcase_add_test(tests, global_write_evicts_its_line_and_goes_on_below);
    tcase_add_test(tests, global_write_that_misses_takes_no_line);
    tcase_add_test(tests, write_through_keeps_the_line);
    tcase_add_test(tests, write_through_makes_the_line_the_most_recently_used);
    tcase_add_test(tests, posted_write_passes_without_an_answer);
    tcase_add_test(tests, acknowledgement_waits_for_the_response_link);
    tcase_add_test(tests, write_waits_while_too_many_pass_through);
    tcase_add_exit_test(tests, write_to_a_read_only_cache_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_exit_test(tests, request_across_lines_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_test(tests, local_write_of_a_whole_line_stays_here);
    tcase_add_test(tests, local_write_of_a_part_fetches_the_rest);
    tcase_add_test(tests, dirty_local_line_is_written_back_when_replaced);
    tcase_add_test(tests, write_back_is_no_larger_than_its_dirty_sectors_need);
    tcase_add_test(tests, local_write_may_pass_without_taking_a_line);
    tcase_add_test(tests, lines_taken_at_a_fill_write_back_although_the_miss_queue_is_full);
    return tests;
}

static TCase *bypassed_tests(void) {
    TCase *tests = tcase_create("bypassed, switching");
    tcase_add_test(tests, atomics_and_bypassing_requests_leave_no_line_behind);
    tcase_add_test(tests, bypassing_request_writes_a_dirty_line_back_first);
    tcase_add_test(tests, switched_off_it_keeps_its_tags_and_comes_back);
    tcase_add_test(tests, switched_off_it_writes_dirty_lines_back_once);
    tcase_add_test(tests, local_write_while_switched_off_leaves_no_stale_data);
    tcase_add_test(tests, invalidation_forgets_all_lines_and_drops_dirty_ones);
    return tests;
}

Suite *l1_writes_suite(void) {
    Suite *suite = suite_create("l1_writes");
    suite_add_tcase(suite, write_tests());
    suite_add_tcase(suite, bypassed_tests());
    return suite;
}
