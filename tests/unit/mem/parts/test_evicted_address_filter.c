/* An L2 slice of one set of four ways with an evicted-address filter: capacity 4. */
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

#include <stdlib.h>

enum { LINE = 128 };

static CacheRig filtered(const char *parameters) {
    return cache_rig((CacheBench){.class = "L2",
                                  .cache = "size=512 ways=4 mshrs=4",
                                  .part = "EvictedAddressFilter",
                                  .part_parameters = parameters});
}

static bool hits(CacheRig *rig, uint64_t line) {
    return rig_time(rig, read_request(line * LINE, LINE)) == RIG_HIT;
}

static void bring(CacheRig *rig, uint64_t first, uint64_t last) {
    for (uint64_t line = first; line <= last; line++)
        ck_assert(!hits(rig, line));
}

/* 1 in 2^20: none here. */
static const char *const no_luck = "bimodal=1048576 bits_per_address=64";

START_TEST(unknown_line_enters_as_the_least_recently_used) {
    CacheRig rig = filtered(no_luck);
    bring(&rig, 0, 6); /* 3 takes the last free way; 4, 5 and 6 each replace the one before */
    ck_assert(hits(&rig, 0) && hits(&rig, 1) && hits(&rig, 2) && hits(&rig, 6));
    ck_assert_uint_eq(stat_of(rig.part, "unknown"), 7);
    ck_assert_uint_eq(stat_of(rig.part, "unknown_kept"), 0);
    ck_assert_uint_eq(stat_of(rig.part, "added"), 3);
    rig_free(&rig);
}
END_TEST

START_TEST(line_that_comes_back_after_its_eviction_enters_as_the_most_recently_used) {
    CacheRig rig = filtered(no_luck);
    bring(&rig, 0, 4); /* 4 has replaced 3 */
    bring(&rig, 3, 3); /* known: it replaces 4, and is used last */
    ck_assert_uint_eq(stat_of(rig.part, "recalled"), 1);
    bring(&rig, 8, 8); /* replaces 2, which entered below 1 and 0 */
    ck_assert(hits(&rig, 3) && !hits(&rig, 2));
    rig_free(&rig);
}
END_TEST

START_TEST(filter_is_cleared_when_as_many_addresses_are_in_it_as_the_cache_has_lines) {
    CacheRig rig = filtered(no_luck);
    bring(&rig, 0, 6); /* 3, 4 and 5 were evicted */
    ck_assert_uint_eq(stat_of(rig.part, "clears"), 0);
    bring(&rig, 5, 5); /* known; evicts 6: four addresses */
    ck_assert_uint_eq(stat_of(rig.part, "recalled"), 1);
    ck_assert_uint_eq(stat_of(rig.part, "clears"), 1);
    bring(&rig, 3, 4);
    ck_assert_uint_eq(stat_of(rig.part, "recalled"), 1);
    rig_free(&rig);
}
END_TEST

/* As many as 1 in 8 of 2048 lines, with a deviation of 15; the same ones every time. */
START_TEST(some_unknown_lines_enter_as_the_most_recently_used_at_random_and_repeatably) {
    uint64_t kept[3];
    for (int i = 0; i < 3; i++) {
        CacheRig rig = filtered(i == 2 ? "bimodal=8 seed=9" : "bimodal=8");
        for (uint64_t line = 0; line < 2048; line++)
            memory_driver_send(rig.driver, 0, read_request(line * LINE, LINE));
        rig_run(&rig);
        kept[i] = stat_of(rig.part, "unknown_kept");
        ck_assert_uint_eq(stat_of(rig.part, "unknown") + stat_of(rig.part, "recalled"), 2048);
        ck_assert_uint_gt(kept[i], 256 - 70);
        ck_assert_uint_lt(kept[i], 256 + 70);
        rig_free(&rig);
    }
    ck_assert_uint_eq(kept[0], kept[1]);
    ck_assert_uint_ne(kept[0], kept[2]);
}
END_TEST

START_TEST(when_all_unknown_lines_are_kept_it_is_plain_lru) {
    CacheRig rig = filtered("bimodal=1");
    bring(&rig, 0, 5);
    ck_assert(hits(&rig, 2) && hits(&rig, 5) && !hits(&rig, 0));
    rig_free(&rig);
}
END_TEST

/* 8 bits for each of 512 addresses and 4 hashes give 2.4 % false answers when the filter is full, half of it
 * on the way. */
START_TEST(filter_seldom_knows_what_it_has_not_seen) {
    CacheRig rig = cache_rig(
        (CacheBench){.class = "L2", .cache = "size=64KiB ways=8 mshrs=32", .part = "EvictedAddressFilter"});
    for (uint64_t line = 0; line < 8192; line++)
        memory_driver_send(rig.driver, 0, read_request(line * LINE, LINE));
    rig_run(&rig);
    ck_assert_uint_lt(stat_of(rig.part, "recalled"), 8192 * 2 / 100);
    ck_assert_uint_gt(stat_of(rig.part, "clears"), 13);
    rig_free(&rig);
}
END_TEST

Suite *evicted_address_filter_suite(void) {
    Suite *suite = suite_create("evicted_address_filter");
    TCase *tests = tcase_create("evicted_address_filter");
    tcase_add_test(tests, unknown_line_enters_as_the_least_recently_used);
    tcase_add_test(tests, line_that_comes_back_after_its_eviction_enters_as_the_most_recently_used);
    tcase_add_test(tests, filter_is_cleared_when_as_many_addresses_are_in_it_as_the_cache_has_lines);
    tcase_add_test(tests, some_unknown_lines_enter_as_the_most_recently_used_at_random_and_repeatably);
    tcase_add_test(tests, when_all_unknown_lines_are_kept_it_is_plain_lru);
    tcase_add_test(tests, filter_seldom_knows_what_it_has_not_seen);
    suite_add_tcase(suite, tests);
    return suite;
}
