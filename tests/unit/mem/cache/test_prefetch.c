/* The prefetch queue of a cache: when a prefetch is looked up, why it is dropped, and what became of it. */
#include "mem/cache/cache.h"
#include "mem/protocol/caches.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

enum {
    LINE = 128,
    SET = 64 * LINE,         /* lines of one set lie so far apart            */
    BELOW = 2,               /* from the lookup to the arrival below         */
    FILL = 3 + RIG_RESPONDER /* from the lookup to the cycle of its fill     */
};

static const char *const classes[] = {"L1", "L2"};

static MemMessage read_line(uint64_t address) {
    return read_request(address, LINE);
}

static CacheRig rig_of(const char *class, const char *parameters) {
    return cache_rig((CacheBench){.class = class, .cache = parameters});
}

static void expect(const CacheRig *rig, const char *name, uint64_t want) {
    ck_assert_msg(rig_stat(rig, name) == want, "%s: expected %lu, got %lu", name, want, rig_stat(rig, name));
}

/* All of them. */
static void expect_fates(const CacheRig *rig, uint64_t sent, uint64_t useful, uint64_t late,
                         uint64_t useless) {
    expect(rig, "prefetches", sent);
    expect(rig, "prefetches_useful", useful);
    expect(rig, "prefetches_late", late);
    expect(rig, "prefetches_useless", useless);
}

START_TEST(prefetch_brings_its_line_for_a_later_hit_and_is_no_access) {
    CacheRig rig = rig_of(classes[_i], "prefetch_queue=4");
    uint64_t asked = rig_prefetch(&rig, 0x1050);
    expect_fates(&rig, 0, 0, 0, 0);
    rig_run(&rig);
    expect_fates(&rig, 1, 0, 0, 0);
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    const MemMessage *fetch = &rig_arrival(&rig, 0)->message;
    ck_assert_uint_eq(rig_arrival(&rig, 0)->cycle, asked + BELOW);
    ck_assert_uint_eq(fetch->address, 0x1000);
    ck_assert_uint_eq(fetch->bytes, LINE);
    ck_assert_uint_eq(fetch->warp, 7);
    ck_assert_uint_eq(fetch->sm, 3);
    ck_assert(mem_is_prefetch(fetch));
    expect(&rig, "accesses", 0);
    ck_assert_uint_eq(memory_driver_responses(rig.driver)->count, 0);
    ck_assert_int_eq(rig_time(&rig, read_line(0x1000)), RIG_HIT);
    expect_fates(&rig, 1, 1, 0, 0);
    ck_assert_int_eq(rig_time(&rig, read_line(0x1000)), RIG_HIT);
    expect_fates(&rig, 1, 1, 0, 0); /* the first one alone counts */
    expect(&rig, "accesses", 2);
    expect(&rig, "hits", 2);
    rig_free(&rig);
}
END_TEST

/* The demand is looked up `_i` cycles after the prefetch: in the cycle of the fill it hits, in the one before
 * it merges. */
START_TEST(access_that_finds_it_in_flight_makes_it_late) {
    bool in_time = _i & 1, l2 = _i & 2, on_fill = _i & 4;
    uint64_t after = in_time ? FILL : FILL - 1;
    CacheRig rig = rig_of(classes[l2], on_fill ? "prefetch_queue=4 allocate=fill" : "prefetch_queue=4");
    uint64_t asked = rig_prefetch(&rig, 0x1000);
    memory_driver_send(rig.driver, asked + after - 1 - RIG_DELAY, read_line(0x1000));
    rig_run(&rig);
    expect_fates(&rig, 1, in_time, !in_time, 0);
    expect(&rig, "merges", !in_time);
    expect(&rig, "hits", in_time);
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    rig_time(&rig, read_line(0x1000));
    expect_fates(&rig, 1, in_time, !in_time, 0);
    rig_free(&rig);
}
END_TEST

START_TEST(line_that_leaves_before_an_access_makes_it_useless) {
    CacheRig rig = rig_of(classes[_i], "prefetch_queue=4");
    rig_prefetch(&rig, 0);
    rig_run(&rig);
    for (uint64_t way = 1; way <= 8; way++) {
        expect_fates(&rig, 1, 0, 0, 0); /* eight ways: the eighth other line replaces it */
        rig_time(&rig, read_line(way * SET));
    }
    expect_fates(&rig, 1, 0, 0, 1);
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_MISS);
    expect_fates(&rig, 1, 0, 0, 1);
    rig_free(&rig);
}
END_TEST

/* No access ever looks at the sector that was prefetched. */
START_TEST(line_that_is_replaced_for_another_sector_makes_it_useless) {
    CacheRig rig = rig_of(classes[_i], "prefetch_queue=4 sectors=4");
    rig_prefetch(&rig, 32);
    rig_run(&rig);
    for (uint64_t way = 1; way <= 8; way++) {
        expect_fates(&rig, 1, 0, 0, 0);
        rig_time(&rig, read_request(way * SET, 32));
    }
    expect_fates(&rig, 1, 0, 0, 1);
    rig_free(&rig);
}
END_TEST

START_TEST(emptied_cache_makes_it_useless) {
    CacheRig rig = rig_of("L1", "prefetch_queue=4");
    rig_prefetch(&rig, 0);
    rig_run(&rig);
    l1_invalidate(rig.cache);
    expect_fates(&rig, 1, 0, 0, 1);
    rig_free(&rig);
}
END_TEST

/* Of a line of four sectors one is brought, and what an access wants beside it misses. */
START_TEST(sectors_are_prefetched_one_by_one) {
    CacheRig rig = rig_of(classes[_i], "prefetch_queue=4 sectors=4");
    rig_prefetch(&rig, 0x1045);
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.address, 0x1040);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.bytes, 32);
    ck_assert_int_eq(rig_time(&rig, read_request(0x1000, 32)), RIG_MISS);
    expect_fates(&rig, 1, 0, 0, 0);
    ck_assert_int_eq(rig_time(&rig, read_request(0x1040, 32)), RIG_HIT);
    expect_fates(&rig, 1, 1, 0, 0);
    rig_prefetch(&rig, 0x1060); /* into the line that is there */
    rig_run(&rig);
    ck_assert_int_eq(rig_time(&rig, read_request(0x1060, 32)), RIG_HIT);
    expect_fates(&rig, 2, 2, 0, 0);
    rig_free(&rig);
}
END_TEST

/* The request is at the tags in the cycle in which the prefetch might be looked up. */
START_TEST(request_at_the_tags_goes_first) {
    CacheRig rig = cache_rig((CacheBench){.class = classes[_i], .cache = "prefetch_queue=4", .quantum = 1});
    memory_driver_send(rig.driver, 0, read_line(0x4000));
    ck_assert_int_eq(sim_run(rig.sim, (1 + RIG_DELAY) * rig.cache->period), STOP_TIME);
    uint64_t asked = rig_prefetch(&rig, 0x1000);
    ck_assert_uint_eq(asked, 1 + RIG_DELAY);
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->cycle, asked + BELOW);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.address, 0x4000);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->cycle, asked + BELOW + 1);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.address, 0x1000);
    rig_free(&rig);
}
END_TEST

/* With one MSHR the second read stands at the tags until the first has come and been answered. */
START_TEST(request_that_is_stopped_at_the_tags_keeps_them) {
    CacheRig rig = cache_rig(
        (CacheBench){.class = classes[_i], .cache = "prefetch_queue=4 mshrs=1", .quantum = 1});
    memory_driver_send(rig.driver, 0, read_line(0x4000));
    memory_driver_send(rig.driver, 1, read_line(0x5000));
    ck_assert_int_eq(sim_run(rig.sim, (4 + RIG_DELAY) * rig.cache->period), STOP_TIME);
    rig_prefetch(&rig, 0x1000);
    ck_assert_int_eq(sim_run(rig.sim, (1 + RIG_DELAY + FILL) * rig.cache->period), STOP_TIME);
    expect(&rig, "prefetch_drops_mshr", 0); /* it waits */
    rig_run(&rig);
    expect(&rig, "prefetch_drops_mshr", 1); /* the second read has the MSHR then */
    rig_free(&rig);
}
END_TEST

START_TEST(drops_are_counted_by_cause) {
    CacheRig rig = rig_of(classes[_i], "prefetch_queue=2 mshrs=2 prefetch_mshr_reserve=1");
    rig_prefetch(&rig, 0);
    rig_prefetch(&rig, LINE);
    rig_prefetch(&rig, 2 * LINE);
    expect(&rig, "prefetch_drops_queue", 1); /* the third of two */
    rig_run(&rig);
    expect(&rig, "prefetches", 1);
    expect(&rig, "prefetch_drops_mshr", 1); /* one of the two MSHRs is kept */
    rig_prefetch(&rig, 0);
    rig_run(&rig);
    expect(&rig, "prefetch_drops_there", 1);
    rig_prefetch(&rig, 4 * LINE);
    rig_prefetch(&rig, 4 * LINE + 1);
    rig_run(&rig);
    expect(&rig, "prefetch_drops_in_flight", 1);
    rig_set(&rig, "enabled", "false");
    rig_prefetch(&rig, 8 * LINE);
    rig_set(&rig, "enabled", "true");
    expect(&rig, "prefetch_drops_off", 1);
    rig_prefetch(&rig, 1ull << 52);
    rig_prefetch(&rig, ~0ull);
    expect(&rig, "prefetch_drops_outside", 2);
    rig_run(&rig);
    expect(&rig, "prefetches_asked", 9);
    expect_fates(&rig, 2, 0, 0, 0);
    rig_free(&rig);
}
END_TEST

START_TEST(policies_that_keep_all_lines_drop_it) {
    CacheRig rig = rig_of(classes[_i], "size=128 ways=1 prefetch_queue=8");
    rig_time(&rig, read_line(0));
    rig_subscribe(&rig, 1u << CACHE_ASK_VICTIM, -1);
    rig_prefetch(&rig, LINE);
    rig_run(&rig);
    ck_assert_uint_eq(rig.recorder->count, 1);
    expect_fates(&rig, 0, 0, 0, 0);
    expect(&rig, "prefetch_drops_line", 1);
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_HIT);
    rig_free(&rig);
}
END_TEST

START_TEST(full_set_and_full_miss_queue_drop_it) {
    CacheRig rig = cache_rig((CacheBench){.class = classes[_i],
                                          .cache = "size=128 ways=1 prefetch_queue=8 miss_queue=2",
                                          .below = "refuse_from=0 refuse_until=100 capacity=1"});
    rig_prefetch(&rig, 0);
    rig_prefetch(&rig, LINE);
    rig_run(&rig);
    expect_fates(&rig, 1, 0, 0, 0);
    expect(&rig, "prefetch_drops_line", 1);
    rig_free(&rig);
    rig = cache_rig((CacheBench){.class = classes[_i],
                                 .cache = "prefetch_queue=32 miss_queue=2",
                                 .below = "refuse_from=0 refuse_until=100 capacity=1"});
    for (uint64_t i = 0; i < 32; i++)
        rig_prefetch(&rig, i * LINE);
    rig_run(&rig);
    uint64_t dropped = rig_stat(&rig, "prefetch_drops_miss_queue");
    ck_assert_uint_gt(dropped, 0);
    expect_fates(&rig, 32 - dropped, 0, 0, 0);
    rig_free(&rig);
}
END_TEST

START_TEST(cache_without_a_queue_takes_none) {
    CacheRig rig = rig_of(classes[_i], "");
    rig_prefetch(&rig, 0);
    rig_run(&rig);
    expect(&rig, "prefetch_drops_queue", 1);
    ck_assert_uint_eq(rig_arrivals(&rig), 0);
    rig_free(&rig);
}
END_TEST

START_TEST(addresses_outside_of_device_memory_are_dropped) {
    CacheRig rig = cache_rig(
        (CacheBench){.class = classes[_i], .cache = "prefetch_queue=8", .device_memory = true});
    rig_prefetch(&rig, rig.base);
    rig_prefetch(&rig, rig.base + RIG_MEMORY - 1);
    rig_prefetch(&rig, rig.base - 1);
    rig_prefetch(&rig, rig.base + RIG_MEMORY);
    rig_run(&rig);
    expect(&rig, "prefetches", 2);
    expect(&rig, "prefetch_drops_outside", 2);
    rig_free(&rig);
}
END_TEST

/* Prefetches that were asked for before the request came to the tags. The reads of 0x4000 and 0x8000 are at the tags in
 * cycles 1 + RIG_DELAY and 2 + RIG_DELAY; the two prefetches may be looked up in the former at the earliest. */
static void expect_order(const char *class, const char *priority, const uint64_t *address,
                         const uint64_t *after) {
    char parameters[64];
    snprintf(parameters, sizeof parameters, "prefetch_queue=4 prefetch_priority=%s", priority);
    CacheRig rig = cache_rig((CacheBench){.class = class, .cache = parameters, .quantum = 1});
    memory_driver_send(rig.driver, 0, read_line(0x4000));
    memory_driver_send(rig.driver, 1, read_line(0x8000));
    ck_assert_int_eq(sim_run(rig.sim, (1 + RIG_DELAY) * rig.cache->period), STOP_TIME);
    ck_assert_uint_eq(rig_prefetch(&rig, 0x1000), 1 + RIG_DELAY);
    rig_prefetch(&rig, 0x2000);
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrivals(&rig), 4);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(rig_arrival(&rig, i)->message.address, address[i]);
        ck_assert_uint_eq(rig_arrival(&rig, i)->cycle, 1 + RIG_DELAY + BELOW + after[i]);
    }
    expect_fates(&rig, 2, 0, 0, 0);
    rig_free(&rig);
}

/* The first read came in the same cycle as the prefetches, and goes before them; the second came later. */
START_TEST(priority_says_who_is_looked_up_first) {
    const char *class = classes[_i];
    expect_order(class, "demand", (uint64_t[]){0x4000, 0x8000, 0x1000, 0x2000}, (uint64_t[]){0, 1, 2, 3});
    expect_order(class, "oldest", (uint64_t[]){0x4000, 0x1000, 0x2000, 0x8000}, (uint64_t[]){0, 1, 2, 3});
    expect_order(class, "own_port", (uint64_t[]){0x4000, 0x1000, 0x8000, 0x2000}, (uint64_t[]){0, 1, 2, 3});
}
END_TEST

/* With one MSHR the second read stands at the tags: a prefetch that came later waits behind it, but for one with a port
 * of its own, which finds no MSHR. */
START_TEST(request_that_is_stopped_keeps_prefetches_that_are_younger_or_have_no_port) {
    static const char *const priorities[] = {"demand", "oldest", "own_port"};
    for (uint32_t i = 0; i < 3; i++) {
        char parameters[64];
        snprintf(parameters, sizeof parameters, "prefetch_queue=4 mshrs=1 prefetch_priority=%s",
                 priorities[i]);
        CacheRig rig = cache_rig((CacheBench){.class = classes[_i], .cache = parameters, .quantum = 1});
        memory_driver_send(rig.driver, 0, read_line(0x4000));
        memory_driver_send(rig.driver, 1, read_line(0x5000));
        ck_assert_int_eq(sim_run(rig.sim, (4 + RIG_DELAY) * rig.cache->period), STOP_TIME);
        rig_prefetch(&rig, 0x1000);
        ck_assert_int_eq(sim_run(rig.sim, (1 + RIG_DELAY + FILL) * rig.cache->period), STOP_TIME);
        expect(&rig, "prefetch_drops_mshr", i == 2);
        rig_run(&rig);
        expect(&rig, "prefetch_drops_mshr", 1);
        rig_free(&rig);
    }
}
END_TEST

/* A read is stopped since all ways of its set are reserved. The line comes that the prefetch of its own port replaces
 * with the next; the read, whose try is remembered as one that must fail, finds out. */
START_TEST(prefetch_beside_a_stopped_request_leaves_it_a_fair_try) {
    CacheRig rig = cache_rig(
        (CacheBench){.class = classes[_i],
                     .cache = "size=128 ways=1 mshrs=4 prefetch_queue=4 prefetch_priority=own_port",
                     .quantum = 1});
    memory_driver_send(rig.driver, 0, read_line(0x4000));
    memory_driver_send(rig.driver, 1, read_line(0x5000));
    for (uint64_t cycle = 4; cycle < 4 + 2 * FILL; cycle++) {
        ck_assert_int_eq(sim_run(rig.sim, cycle * rig.cache->period), STOP_TIME);
        rig_prefetch(&rig, 0x1000);
    }
    rig_run(&rig);
    ck_assert_uint_eq(memory_driver_responses(rig.driver)->count, 2);
    expect(&rig, "misses", 2);
    rig_free(&rig);
}
END_TEST

/* Of three for a queue of two: the newest goes, or the oldest. */
START_TEST(full_queue_drops_the_newest_or_the_oldest) {
    for (uint32_t oldest = 0; oldest < 2; oldest++) {
        CacheRig rig = rig_of(classes[_i],
                              oldest ? "prefetch_queue=2 prefetch_drop=oldest" : "prefetch_queue=2");
        for (uint64_t line = 1; line <= 3; line++)
            rig_prefetch(&rig, line * 0x1000);
        expect(&rig, "prefetch_drops_queue", 1);
        rig_run(&rig);
        ck_assert_uint_eq(rig_arrivals(&rig), 2);
        ck_assert_uint_eq(rig_arrival(&rig, 0)->message.address, oldest ? 0x2000 : 0x1000);
        ck_assert_uint_eq(rig_arrival(&rig, 1)->message.address, oldest ? 0x3000 : 0x2000);
        expect(&rig, "prefetches_asked", 3);
        rig_free(&rig);
        rig = rig_of(classes[_i], oldest ? "prefetch_drop=oldest" : "");
        rig_prefetch(&rig, 0);
        expect(&rig, "prefetch_drops_queue", 1); /* no queue: it goes itself */
        rig_free(&rig);
    }
}
END_TEST

START_TEST(fetch_for_a_cache_above_is_counted_below) {
    CacheRig rig = rig_of(classes[_i], "");
    MemMessage m = read_line(0);
    m.payload = MEM_PREFETCH;
    rig_time(&rig, m);
    rig_time(&rig, read_line(0));
    expect(&rig, "prefetch_reads", 1);
    expect(&rig, "accesses", 2);
    ck_assert(mem_is_prefetch(&rig_arrival(&rig, 0)->message));
    rig_free(&rig);
}
END_TEST

Suite *prefetch_suite(void);

Suite *prefetch_suite(void) {
    Suite *suite = suite_create("prefetch");
    TCase *tests = tcase_create("prefetch");
    tcase_add_loop_test(tests, prefetch_brings_its_line_for_a_later_hit_and_is_no_access, 0, 2);
    tcase_add_loop_test(tests, access_that_finds_it_in_flight_makes_it_late, 0, 8);
    tcase_add_loop_test(tests, line_that_leaves_before_an_access_makes_it_useless, 0, 2);
    tcase_add_loop_test(tests, line_that_is_replaced_for_another_sector_makes_it_useless, 0, 2);
    tcase_add_test(tests, emptied_cache_makes_it_useless);
    tcase_add_loop_test(tests, sectors_are_prefetched_one_by_one, 0, 2);
    tcase_add_loop_test(tests, request_at_the_tags_goes_first, 0, 2);
    tcase_add_loop_test(tests, request_that_is_stopped_at_the_tags_keeps_them, 0, 2);
    tcase_add_loop_test(tests, drops_are_counted_by_cause, 0, 2);
    tcase_add_loop_test(tests, policies_that_keep_all_lines_drop_it, 0, 2);
    tcase_add_loop_test(tests, full_set_and_full_miss_queue_drop_it, 0, 2);
    tcase_add_loop_test(tests, cache_without_a_queue_takes_none, 0, 2);
    tcase_add_loop_test(tests, addresses_outside_of_device_memory_are_dropped, 0, 2);
    tcase_add_loop_test(tests, priority_says_who_is_looked_up_first, 0, 2);
    tcase_add_loop_test(tests, request_that_is_stopped_keeps_prefetches_that_are_younger_or_have_no_port, 0,
                        2);
    tcase_add_loop_test(tests, prefetch_beside_a_stopped_request_leaves_it_a_fair_try, 0, 2);
    tcase_add_loop_test(tests, full_queue_drops_the_newest_or_the_oldest, 0, 2);
    tcase_add_loop_test(tests, fetch_for_a_cache_above_is_counted_below, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
