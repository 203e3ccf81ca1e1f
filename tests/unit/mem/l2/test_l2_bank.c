/* How long an access holds a bank of the L2 (`bank_busy`, `ports`), and what does not wait for it. A request that is sent
 * in cycle t is at the tags in t + 1 + RIG_DELAY; a hit comes back in t + RIG_HIT. See cache_rig.h. */
#include "core/sim/base/random.h"
#include "mem/protocol/caches.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINE = 128, BUSY = 10 };

static CacheRig slice(const char *parameters) {
    return cache_rig((CacheBench){.class = "L2", .cache = parameters, .part = "QueueDelays"});
}

static MemMessage read_line(uint64_t number) {
    return read_request(number * LINE, LINE);
}

/* Lines 0 and 1 are there, and the bank is idle: returns a cycle to begin in. */
static uint64_t with_two_lines(CacheRig *rig) {
    rig_hits(rig, read_line(0));
    rig_hits(rig, read_line(1));
    return rig_now(rig) + 100;
}

/* Both are at the tags one after the other; the second hit is answered when a port is free and not a cycle sooner. */
START_TEST(hit_holds_the_bank_for_the_whole_access) {
    static const struct {
        const char *parameters;
        uint64_t wait;
    } banks[] = {{"", 1}, {"bank_busy=1", 1}, {"bank_busy=2", 2}, {"bank_busy=10", BUSY}};
    CacheRig rig = slice(banks[_i].parameters);
    uint64_t start = with_two_lines(&rig);
    memory_driver_send(rig.driver, start, of_token(read_line(0), 100));
    memory_driver_send(rig.driver, start + 1, of_token(read_line(1), 101));
    rig_run(&rig);
    ck_assert_uint_eq(rig_answered(&rig, 100), start + RIG_HIT);
    ck_assert_uint_eq(rig_answered(&rig, 101), start + RIG_HIT + banks[_i].wait);
    rig_free(&rig);
}
END_TEST

/* The second comes when the first is done, or a cycle before that. */
START_TEST(bank_is_free_when_the_access_is_done_and_not_before) {
    CacheRig rig = slice("bank_busy=10");
    uint64_t start = with_two_lines(&rig), early = (uint64_t)_i, second = start + BUSY - early;
    memory_driver_send(rig.driver, start, of_token(read_line(0), 100));
    memory_driver_send(rig.driver, second, of_token(read_line(1), 101));
    rig_run(&rig);
    ck_assert_uint_eq(rig_answered(&rig, 101), start + BUSY + RIG_HIT);
    ck_assert_uint_eq(rig_stat(&rig, "data_port_stalls"), early);
    ck_assert_uint_eq(rig_stat(&rig, "data_port_stall_cycles"), early);
    ck_assert_uint_eq(stat_of(rig.part, "cycles"), early);
    rig_free(&rig);
}
END_TEST

/* A read that misses, one that merges with it, and writes that hit and miss: the hit behind each waits as long. */
START_TEST(misses_merges_and_writes_hold_the_bank_as_well) {
    CacheRig rig = slice("bank_busy=10");
    uint64_t start = with_two_lines(&rig);
    const MemMessage first[] = {read_line(7), write_request(0, LINE), write_request(7 * LINE, LINE),
                                posted_write_request(7 * LINE, LINE)};
    memory_driver_send(rig.driver, start, of_token(first[_i], 100));
    memory_driver_send(rig.driver, start + 1, of_token(read_line(1), 101));
    rig_run(&rig);
    ck_assert_uint_eq(rig_answered(&rig, 101), start + RIG_HIT + BUSY);
    rig_free(&rig);
}
END_TEST

START_TEST(merge_holds_the_bank_as_well) {
    CacheRig rig = slice("bank_busy=10");
    uint64_t start = with_two_lines(&rig);
    memory_driver_send(rig.driver, start, of_token(read_line(7), 100));
    memory_driver_send(rig.driver, start + 1, of_token(read_line(7), 101));
    memory_driver_send(rig.driver, start + 2, of_token(read_line(1), 102));
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "read_merges"), 1);
    ck_assert_uint_eq(rig_answered(&rig, 102), start + RIG_HIT + 2 * BUSY);
    rig_free(&rig);
}
END_TEST

/* Three hits: with two ports the second begins at once, the third when the first is done. */
START_TEST(each_port_serves_an_access_at_a_time) {
    static const struct {
        const char *parameters;
        uint64_t at[5];
    } banks[] = {{"bank_busy=10 ports=1", {0, 10, 20, 30, 40}},
                 {"bank_busy=10 ports=2", {0, 1, 10, 11, 20}},
                 {"bank_busy=10 ports=4", {0, 1, 2, 3, 10}}};
    CacheRig rig = slice(banks[_i].parameters);
    uint64_t start = with_two_lines(&rig), waited = 0;
    for (uint32_t i = 0; i < 5; i++)
        memory_driver_send(rig.driver, start + i, of_token(read_line(0), 100 + i));
    rig_run(&rig);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(rig_answered(&rig, 100 + i), start + RIG_HIT + banks[_i].at[i]);
        waited += banks[_i].at[i] - i;
    }
    ck_assert_uint_eq(stat_of(rig.part, "cycles"), waited); /* Figure 5 is measurable */
    rig_free(&rig);
}
END_TEST

/* With one MSHR, taken by line 7, the read of line 8 is tried in each cycle and not taken. It holds no port: once line 7 has
 * been answered it is taken at once. */
START_TEST(request_that_is_not_taken_holds_nothing) {
    CacheRig rig = slice("bank_busy=10 mshrs=1");
    memory_driver_send(rig.driver, 10, of_token(read_line(7), 100));
    memory_driver_send(rig.driver, 11, of_token(read_line(8), 101));
    rig_run(&rig);
    ck_assert_uint_eq(rig_answered(&rig, 101), rig_answered(&rig, 100) - 1 + RIG_RESPONDER + 4);
    rig_free(&rig);
}
END_TEST

/* Of a busy bank: a fill, its answer, and a request that bypasses. */
START_TEST(fills_and_requests_that_bypass_do_not_wait_for_the_bank) {
    CacheRig rig = slice("bank_busy=200 bypass=true bypass_classes=8 bypass_delay=1");
    memory_driver_send(rig.driver, 10, of_token(read_line(7), 100));
    memory_driver_send(rig.driver, 11, of_token(read_line(8), 101));
    memory_driver_send(rig.driver, 30, of_token(of_class(read_line(9), 3), 102));
    memory_driver_send(rig.driver, 31, of_token(of_class(read_line(10), 3), 103));
    rig_run(&rig);
    ck_assert_uint_eq(rig_answered(&rig, 100), 10 + RIG_MISS);
    ck_assert_uint_eq(rig_answered(&rig, 101), 10 + RIG_MISS + 200);
    ck_assert_uint_eq(rig_answered(&rig, 102), 30 + RIG_MISS - RIG_DELAY + 1); /* past the tags' delay, too */
    ck_assert_uint_eq(rig_answered(&rig, 103), 31 + RIG_MISS - RIG_DELAY + 1);
    ck_assert_uint_eq(stat_of(rig.part, "requests"), 2);
    rig_free(&rig);
}
END_TEST

/* Three requests bypass, and only one may be in flight: the hit behind them does not wait for that. */
START_TEST(requests_that_bypass_have_places_of_their_own) {
    CacheRig rig = slice("bypass=true bypass_classes=8 bypassed_limit=1 bypass_delay=1");
    uint64_t start = with_two_lines(&rig);
    for (uint32_t i = 0; i < 3; i++)
        memory_driver_send(rig.driver, start + i, of_token(of_class(read_line(9 + i), 3), 100 + i));
    memory_driver_send(rig.driver, start + 3, of_token(read_line(0), 103));
    rig_run(&rig);
    ck_assert_uint_eq(rig_answered(&rig, 103), start + 3 + RIG_HIT);
    ck_assert_uint_gt(rig_answered(&rig, 102), start + 3 * RIG_RESPONDER);
    rig_free(&rig);
}
END_TEST

static CacheRig mixture(int variant, TickOrder order, uint64_t order_seed, uint64_t awake_until) {
    static const char *const banks[] = {
        "bank_busy=7 ports=2 mshrs=4 miss_queue=3 bypass=true bypass_classes=8 rop_delay=5 bypass_delay=1",
        "bank_busy=3 data_port=32 mshrs=8 merges=2 queue_entries=40 bypass=true bypass_classes=8"};
    CacheRig rig = cache_rig((CacheBench){.class = "L2",
                                          .cache = banks[variant],
                                          .below = "capacity=12",
                                          .driver = "outstanding=40",
                                          .order = order,
                                          .order_seed = order_seed,
                                          .quantum = awake_until != 0});
    Random random = {11};
    for (uint32_t i = 0; i < 1500; i++) {
        uint64_t line = random_below(&random, 700);
        bool reads = random_below(&random, 4) != 0;
        MemMessage m = reads ? read_line(line) : write_request(line * LINE, LINE);
        memory_driver_send(rig.driver, i + random_below(&random, 30),
                           of_token(of_class(m, (uint32_t)random_below(&random, 5)), i));
    }
    rig_run_awake(&rig, awake_until);
    ck_assert_uint_gt(rig_stat(&rig, "data_port_stalls"), 100);
    ck_assert_uint_gt(rig_stat(&rig, "bypasses"), 100);
    expect_every_request_answered_once(&rig);
    return rig;
}

/* Behind cut links, in quanta of 16 cycles. With the last variant but one what is below goes by another clock, between whose
 * cycles there is room for messages down; with the last, a link up keeps what is below waiting. */
static CacheRig far_mixture(int variant, bool seen, TickOrder order) {
    static const char *const slices[] = {
        "mshrs=4 miss_queue=3 rop_delay=5", "mshrs=8 merges=2 queue_entries=40", "rop_delay=60 data_port=32",
        "mshrs=16 miss_queue=4 queue_entries=40", "mshrs=16 queue_entries=40"};
    CacheRig rig = cache_rig((CacheBench){.class = "L2",
                                          .cache = slices[variant],
                                          .below = variant == 3 ? "capacity=3 latency=2" : "capacity=12",
                                          .below_hertz = variant == 3 ? 700000000 : 0,
                                          .fetch = {.depth = variant == 3 ? 2 : 0},
                                          .answer = {.depth = variant == 4, .latency = 7 * (variant == 4)},
                                          .request = {.latency = 16, .depth = 64, .width = 2},
                                          .response = {.latency = 16, .depth = 64},
                                          .quantum = 16,
                                          .order = order});
    Random random = {12};
    if (seen) look_on(rig.cache);
    for (uint32_t i = 0, cycle = 0; i < 1500; i++) {
        uint64_t line = random_below(&random, 700);
        bool reads = random_below(&random, 4) != 0;
        cycle += (uint32_t)random_below(&random, i % 500 < 250 ? 2 : 9);
        memory_driver_send(rig.driver, cycle,
                           of_token(reads ? read_line(line) : write_request(line * LINE, LINE), i));
    }
    return rig;
}

/* Unseen, it accepts the requests of a quantum ahead of time, and does the cycles of which it knows all. */
START_TEST(being_seen_changes_nothing) {
    CacheRig seen = far_mixture(_i / 2, true, ORDER_PATH);
    CacheRig unseen = far_mixture(_i / 2, false, _i % 2 ? ORDER_RESTLESS : ORDER_PATH);
    for (uint64_t cycle = 16; cycle < 4000; cycle += 16) {
        sim_run(seen.sim, cycle * seen.sim->clocks[0].period);
        sim_run(unseen.sim, cycle * unseen.sim->clocks[0].period);
        ck_assert_uint_eq(rig_stat(&seen, "accesses"), rig_stat(&unseen, "accesses"));
    }
    rig_run(&seen);
    rig_run(&unseen);
    expect_every_request_answered_once(&unseen);
    char *stats_seen = stats_text(seen.sim), *stats_unseen = stats_text(unseen.sim);
    ck_assert_str_eq(stats_seen, stats_unseen);
    ck_assert_uint_eq(rig_arrivals(&seen), rig_arrivals(&unseen));
    for (uint32_t i = 0; i < rig_arrivals(&seen); i++)
        ck_assert_uint_eq(rig_arrival(&seen, i)->cycle, rig_arrival(&unseen, i)->cycle);
    for (uint32_t i = 0; i < 1500; i++)
        ck_assert_uint_eq(rig_answered(&seen, i), rig_answered(&unseen, i));
    free(stats_seen);
    free(stats_unseen);
    rig_free(&seen);
    rig_free(&unseen);
}
END_TEST

MIXTURE_TESTS(mixture)

Suite *l2_bank_suite(void) {
    Suite *suite = suite_create("l2_bank");
    TCase *tests = tcase_create("l2_bank");
    tcase_add_loop_test(tests, hit_holds_the_bank_for_the_whole_access, 0, 4);
    tcase_add_loop_test(tests, bank_is_free_when_the_access_is_done_and_not_before, 0, 2);
    tcase_add_loop_test(tests, misses_merges_and_writes_hold_the_bank_as_well, 0, 4);
    tcase_add_test(tests, merge_holds_the_bank_as_well);
    tcase_add_loop_test(tests, each_port_serves_an_access_at_a_time, 0, 3);
    tcase_add_test(tests, request_that_is_not_taken_holds_nothing);
    tcase_add_test(tests, fills_and_requests_that_bypass_do_not_wait_for_the_bank);
    tcase_add_test(tests, requests_that_bypass_have_places_of_their_own);
    tcase_add_loop_test(tests, being_seen_changes_nothing, 0, 10);
    ADD_MIXTURE_TESTS(tests, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
