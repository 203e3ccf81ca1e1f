/* A victim cache behind an L1 whose lines are all in one set: what the L1 replaces is kept, and comes back in
 * one cycle more than a hit, in exchange for the line that then goes. */
#include "core/sim/base/random.h"
#include "mem/protocol/caches.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

enum { LINE = 128, WAYS = 4 };

static CacheRig behind(const char *cache, const char *part) {
    return cache_rig((CacheBench){.class = "L1",
                                  .cache = cache,
                                  .part = "VictimCache",
                                  .part_parameters = part,
                                  .device_memory = false});
}

static CacheRig rig_of(const char *part) {
    return behind("size=512 ways=4", part);
}

static uint64_t victims(const CacheRig *rig, const char *name) {
    return stat_of(rig->part, name);
}

static MemMessage read_number(uint32_t line) {
    return read_request(0x1000 + line * LINE, LINE);
}

/* Lines 0 to 3 are in the L1, of which line 0 is the least recently used. */
static void fill_l1(CacheRig *rig) {
    for (uint32_t line = 0; line < WAYS; line++)
        ck_assert_int_eq(rig_time(rig, read_number(line)), RIG_MISS);
    ck_assert_uint_eq(victims(rig, "insertions"), 0);
}

START_TEST(replaced_line_comes_back_one_cycle_after_a_hit_would) {
    CacheRig rig = rig_of("lines=2");
    fill_l1(&rig);
    ck_assert_int_eq(rig_time(&rig, read_number(4)), RIG_MISS); /* replaces line 0 */
    ck_assert_uint_eq(victims(&rig, "insertions"), 1);
    ck_assert_int_eq(rig_time(&rig, read_number(0)), RIG_HIT + 1); /* line 1 goes */
    ck_assert_int_eq(rig_time(&rig, read_number(0)), RIG_HIT);
    ck_assert_uint_eq(rig_arrivals(&rig), WAYS + 1);
    ck_assert_uint_eq(victims(&rig, "exchanges"), 1);
    ck_assert_uint_eq(victims(&rig, "insertions"), 2);
    ck_assert_int_eq(rig_time(&rig, read_number(1)), RIG_HIT + 1); /* line 2 goes */
    ck_assert_uint_eq(rig_stat(&rig, "misses"), WAYS + 1);
    ck_assert_uint_eq(rig_stat(&rig, "hits"), 3);
    rig_free(&rig);
}
END_TEST

START_TEST(least_recent_of_its_lines_is_lost) {
    CacheRig rig = rig_of("lines=2");
    fill_l1(&rig);
    for (uint32_t line = 4; line < 7; line++) /* replace lines 0, 1 and 2 */
        rig_time(&rig, read_number(line));
    ck_assert_int_eq(rig_time(&rig, read_number(0)), RIG_MISS); /* replaces line 3, and that line 1 */
    ck_assert_int_eq(rig_time(&rig, read_number(2)), RIG_HIT + 1);
    rig_free(&rig);
}
END_TEST

/* More lines than can be searched way by way: 100 come, the 80 that came last are kept. */
START_TEST(large_one_keeps_as_many_lines_as_it_has) {
    enum { LINES = 100, KEPT = 80 };
    CacheRig rig = rig_of("lines=80");
    for (uint32_t line = 0; line < WAYS + LINES; line++)
        ck_assert_int_eq(rig_time(&rig, read_number(line)), RIG_MISS);
    ck_assert_uint_eq(victims(&rig, "insertions"), LINES);
    ck_assert_int_eq(rig_time(&rig, read_number(LINES - KEPT - 1)),
                     RIG_MISS);                                  /* the last of those that have left */
    for (uint32_t line = LINES - KEPT + 1; line < LINES; line++) /* that miss took the place of one more */
        ck_assert_int_eq(rig_time(&rig, read_number(line)), RIG_HIT + 1);
    ck_assert_uint_eq(victims(&rig, "exchanges"), KEPT - 1);
    rig_free(&rig);
}
END_TEST

/* Two sets of two: lines 0, 2 and 4 share one, of which line 0 is lost; lines 1 and 3 have the other. */
START_TEST(sets_of_few_ways_lose_the_least_recent_of_the_set) {
    CacheRig rig = rig_of("lines=4 ways=2");
    fill_l1(&rig);
    static const uint32_t others[] = {4, 8, 10, 11, 12}; /* replace lines 0, 1, 2, 3 and 4 */
    for (uint32_t i = 0; i < 5; i++)
        rig_time(&rig, read_number(others[i]));
    ck_assert_uint_eq(victims(&rig, "insertions"), 5);
    ck_assert_int_eq(rig_time(&rig, read_number(1)), RIG_HIT + 1); /* line 8 takes the place of line 2 */
    ck_assert_int_eq(rig_time(&rig, read_number(4)), RIG_HIT + 1);
    ck_assert_int_eq(rig_time(&rig, read_number(0)), RIG_MISS);
    rig_free(&rig);
}
END_TEST

START_TEST(ways_that_do_not_divide_the_lines_are_a_user_error) {
    rig_of("lines=12 ways=8");
}
END_TEST

/* Global memory is written below, past the L1's tags or not: the line kept is stale. */
START_TEST(line_that_is_written_below_is_dropped) {
    CacheRig rig = rig_of("lines=4");
    fill_l1(&rig);
    rig_time(&rig, read_number(4));
    MemMessage m = write_request(0x1000, 32);
    if (_i) m.flags |= MEM_BYPASS_L1;
    rig_time(&rig, m);
    ck_assert_uint_eq(victims(&rig, "drops"), 1);
    ck_assert_int_eq(rig_time(&rig, read_number(0)), RIG_MISS);
    rig_free(&rig);
}
END_TEST

START_TEST(nothing_is_left_when_the_l1_is_invalidated) {
    CacheRig rig = rig_of("lines=4");
    fill_l1(&rig);
    rig_time(&rig, read_number(4));
    l1_invalidate(rig.cache);
    ck_assert_int_eq(rig_time(&rig, read_number(0)), RIG_MISS);
    ck_assert_uint_eq(victims(&rig, "exchanges"), 0);
    rig_free(&rig);
}
END_TEST

/* Line 0 waits in the victim cache when a prefetch fetches it. */
START_TEST(line_that_a_prefetch_brings_is_dropped) {
    CacheRig rig = behind(_i ? "size=512 ways=4 prefetch_queue=4 allocate=fill"
                             : "size=512 ways=4 prefetch_queue=4",
                          "lines=4");
    fill_l1(&rig);
    rig_time(&rig, read_number(4)); /* replaces line 0 */
    rig_prefetch(&rig, read_number(0).address);
    rig_run(&rig); /* replaces line 1 */
    ck_assert_uint_eq(rig_stat(&rig, "prefetches"), 1);
    ck_assert_uint_eq(victims(&rig, "drops"), 1);
    ck_assert_int_eq(rig_time(&rig, read_number(0)), RIG_HIT);
    ck_assert_int_eq(rig_time(&rig, read_number(1)), RIG_HIT + 1);
    ck_assert_uint_eq(victims(&rig, "exchanges"), 1);
    rig_free(&rig);
}
END_TEST

/* A cache that takes lines with the fill has none yet: the request is supplied, and the prefetch comes to a line that
 * is there. */
START_TEST(line_that_is_needed_before_its_prefetch_comes_is_exchanged) {
    CacheRig rig = behind("size=512 ways=4 prefetch_queue=4 allocate=fill", "lines=4");
    fill_l1(&rig);
    rig_time(&rig, read_number(4));
    uint64_t asked = rig_prefetch(&rig, read_number(0).address);
    memory_driver_send(rig.driver, asked, read_number(0));
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "prefetches_late"), 1);
    ck_assert_uint_eq(victims(&rig, "exchanges"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "hits"), 1);
    rig_free(&rig);
}
END_TEST

/* A dirty line is written back when it is exchanged, and comes back clean. */
START_TEST(dirty_line_is_written_back_when_it_is_exchanged) {
    CacheRig rig = rig_of("lines=4");
    rig_time(&rig, of_local_memory(write_request(0x1000, LINE)));
    for (uint32_t line = 1; line <= WAYS; line++) /* the last replaces the dirty line */
        rig_time(&rig, read_number(line));
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 1);
    ck_assert_int_eq(rig_time(&rig, of_local_memory(read_number(0))), RIG_HIT + 1); /* line 1 goes */
    for (uint32_t line = 5; line < 5 + WAYS; line++)
        rig_time(&rig, read_number(line));
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 1);
    rig_free(&rig);
}
END_TEST

/* Requests of four warps for twelve lines of a set of four, with a re-execution queue between the pipeline
 * and the victim cache in every other variant. */
static const char *const parts[] = {"lines=6", "lines=1", "lines=70", "lines=6 ways=2"};

static CacheRig mixture(int variant, TickOrder order, uint64_t order_seed, uint64_t awake_until) {
    CacheRig rig = cache_rig((CacheBench){.class = "L1",
                                          .cache = variant & 1 ? "size=512 ways=4 mshrs=2 miss_queue=2"
                                                               : "size=512 ways=4 mshrs=2 miss_queue=2 "
                                                                 "reexecution_entries=4",
                                          .part = "VictimCache",
                                          .part_parameters = parts[variant >> 1],
                                          .quantum = awake_until ? 1 : 0,
                                          .order = order,
                                          .order_seed = order_seed});
    Random random = {(uint64_t)variant};
    uint64_t cycle = 10;
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t address = 0x1000 + random_below(&random, 12) * LINE;
        MemMessage m = random_below(&random, 5)   ? read_request(address, LINE)
                       : random_below(&random, 2) ? write_request(address, 32)
                                                  : of_local_memory(write_request(address + 0x10000, LINE));
        m.warp = (uint16_t)random_below(&random, 4);
        memory_driver_send(rig.driver, cycle += random_below(&random, 4), of_token(m, i));
    }
    rig_run_awake(&rig, awake_until);
    ck_assert_uint_gt(stat_of(rig.part, "exchanges"), 5);
    return rig;
}
MIXTURE_TESTS(mixture)

START_TEST(place_that_is_not_below_an_l1_is_a_user_error) {
    cache_rig((CacheBench){.class = "L2", .part = "VictimCache"});
}
END_TEST

static void take_untimed(const CacheRig *rig, MemMessage m) {
    rig->cache->class->take_untimed(rig->cache, &m);
}

START_TEST(line_that_comes_without_timing_is_in_one_of_both) {
    CacheRig rig = rig_of("lines=4");
    for (uint32_t line = 0; line <= WAYS; line++)
        take_untimed(&rig, read_number(line));
    ck_assert_uint_eq(victims(&rig, "insertions"), 1); /* line 0 */
    take_untimed(&rig, read_number(0));                /* line 1 goes */
    sim_check(rig.sim, true);
    ck_assert_int_eq(rig_time(&rig, read_number(0)), RIG_HIT);
    ck_assert_int_eq(rig_time(&rig, read_number(1)), RIG_HIT + 1);
    rig_free(&rig);
}
END_TEST

START_TEST(line_that_is_written_below_without_timing_is_dropped) {
    static const char *const policies[] = {"size=512 ways=4 write_policy=evict",
                                           "size=512 ways=4 write_policy=through"};
    CacheRig rig = behind(policies[_i], "lines=4");
    for (uint32_t line = 0; line <= WAYS; line++)
        take_untimed(&rig, read_number(line));
    take_untimed(&rig, write_request(0x1000, 32));
    ck_assert_uint_eq(victims(&rig, "drops"), 1);
    ck_assert_int_eq(rig_time(&rig, read_number(0)), RIG_MISS);
    rig_free(&rig);
}
END_TEST

Suite *victim_cache_suite(void);

Suite *victim_cache_suite(void) {
    Suite *suite = suite_create("victim_cache");
    TCase *tests = tcase_create("victim_cache");
    tcase_add_test(tests, replaced_line_comes_back_one_cycle_after_a_hit_would);
    tcase_add_test(tests, least_recent_of_its_lines_is_lost);
    tcase_add_test(tests, large_one_keeps_as_many_lines_as_it_has);
    tcase_add_test(tests, sets_of_few_ways_lose_the_least_recent_of_the_set);
    tcase_add_exit_test(tests, ways_that_do_not_divide_the_lines_are_a_user_error, EXIT_USER_ERROR);
    tcase_add_loop_test(tests, line_that_is_written_below_is_dropped, 0, 2);
    tcase_add_test(tests, nothing_is_left_when_the_l1_is_invalidated);
    tcase_add_loop_test(tests, line_that_a_prefetch_brings_is_dropped, 0, 2);
    tcase_add_test(tests, line_that_comes_without_timing_is_in_one_of_both);
    tcase_add_loop_test(tests, line_that_is_written_below_without_timing_is_dropped, 0, 2);
    tcase_add_test(tests, line_that_is_needed_before_its_prefetch_comes_is_exchanged);
    tcase_add_test(tests, dirty_line_is_written_back_when_it_is_exchanged);
    ADD_MIXTURE_TESTS(tests, 8);
    tcase_add_exit_test(tests, place_that_is_not_below_an_l1_is_a_user_error, EXIT_USER_ERROR);
    suite_add_tcase(suite, tests);
    return suite;
}
