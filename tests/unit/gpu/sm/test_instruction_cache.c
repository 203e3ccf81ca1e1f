/* The SM's instruction cache: hits in the same cycle, lines in flight, and what waits for them. */
#include "core/gpu/sm/structures/instruction_cache.h"

#include <check.h>
#include <stdlib.h>

Suite *instruction_cache_suite(void);

enum { MISSES = 2 };

/* 2 KiB, 4 sets of 4 lines of 128 B. */
static InstructionCache new_cache(void) {
    InstructionCache cache = {0};
    TagGeometry geometry = {.size = 2048, .ways = 4, .line = 128, .sectors = 1};
    tag_shape_init(&cache.tags.shape, "test", &geometry);
    cache.tags.tag = calloc(cache.tags.shape.lines, sizeof *cache.tags.tag);
    cache.tags.used = calloc(cache.tags.shape.lines, sizeof *cache.tags.used);
    cache.tags.line = calloc(cache.tags.shape.lines, sizeof *cache.tags.line);
    return cache;
}

static void free_cache(InstructionCache *cache) {
    free(cache->tags.tag);
    free(cache->tags.used);
    free(cache->tags.line);
}

static FetchResult fetch(InstructionCache *cache, uint64_t address, uint32_t warp) {
    uint32_t entry;
    return instruction_cache_fetch(cache, address, warp, MISSES, &entry);
}

/* Brings the line of `address`, which must not be there. */
static void bring(InstructionCache *cache, uint64_t address) {
    uint32_t entry = MISSES;
    ck_assert_int_eq(instruction_cache_fetch(cache, address, 0, MISSES, &entry), FETCH_MISS);
    ck_assert_uint_eq(instruction_cache_fill(cache, entry), 1);
}

START_TEST(a_line_hits_once_it_has_come_and_not_before) {
    InstructionCache cache = new_cache();
    uint32_t entry = MISSES;
    ck_assert_int_eq(instruction_cache_fetch(&cache, 0x1008, 5, MISSES, &entry), FETCH_MISS);
    ck_assert_uint_eq(cache.miss[entry].line, 0x1000);
    ck_assert_int_eq(fetch(&cache, 0x1008, 5), FETCH_MERGED);
    ck_assert_uint_eq(instruction_cache_fill(&cache, entry), 1ull << 5);
    ck_assert_int_eq(fetch(&cache, 0x1008, 5), FETCH_HIT);
    ck_assert_int_eq(fetch(&cache, 0x107f, 6), FETCH_HIT);
    ck_assert_int_eq(fetch(&cache, 0x1080, 6), FETCH_MISS);
    free_cache(&cache);
}
END_TEST

START_TEST(all_warps_that_wait_for_a_line_are_woken_by_it) {
    InstructionCache cache = new_cache();
    uint32_t entry = MISSES;
    instruction_cache_fetch(&cache, 0x1000, 0, MISSES, &entry);
    for (uint32_t warp = 1; warp < 64; warp += 2)
        ck_assert_int_eq(fetch(&cache, 0x1000 + warp, warp), FETCH_MERGED);
    ck_assert_uint_eq(instruction_cache_fill(&cache, entry), 0xaaaaaaaaaaaaaaaaull | 1);
    free_cache(&cache);
}
END_TEST

START_TEST(a_miss_beyond_the_lines_under_way_fails_until_one_has_come) {
    InstructionCache cache = new_cache();
    uint32_t first = MISSES;
    ck_assert_int_eq(instruction_cache_fetch(&cache, 0x1000, 0, MISSES, &first), FETCH_MISS);
    ck_assert_int_eq(fetch(&cache, 0x2000, 1), FETCH_MISS);
    ck_assert_int_eq(fetch(&cache, 0x3000, 2), FETCH_FAIL);
    ck_assert_int_eq(fetch(&cache, 0x2000, 2), FETCH_MERGED); /* no new line */
    instruction_cache_fill(&cache, first);
    ck_assert_int_eq(fetch(&cache, 0x3000, 2), FETCH_MISS);
    free_cache(&cache);
}
END_TEST

START_TEST(without_room_to_ask_a_miss_fails_and_a_hit_does_not) {
    InstructionCache cache = new_cache();
    uint32_t entry;
    bring(&cache, 0x1000);
    ck_assert_int_eq(instruction_cache_fetch(&cache, 0x1000, 0, 0, &entry), FETCH_HIT);
    ck_assert_int_eq(instruction_cache_fetch(&cache, 0x2000, 0, 0, &entry), FETCH_FAIL);
    free_cache(&cache);
}
END_TEST

START_TEST(the_least_recently_fetched_line_of_the_set_gives_way) {
    InstructionCache cache = new_cache();
    for (uint64_t i = 0; i < 4; i++)
        bring(&cache, 0x10000 + i * 512); /* set 0 */
    ck_assert_int_eq(fetch(&cache, 0x10000, 0), FETCH_HIT);
    bring(&cache, 0x10000 + 4 * 512);
    ck_assert_int_eq(fetch(&cache, 0x10000, 0), FETCH_HIT);
    ck_assert_int_eq(fetch(&cache, 0x10000 + 512, 0), FETCH_MISS);
    ck_assert_int_eq(fetch(&cache, 0x10000 + 2 * 512, 0), FETCH_HIT);
    free_cache(&cache);
}
END_TEST

Suite *instruction_cache_suite(void) {
    Suite *suite = suite_create("instruction cache");
    TCase *tests = tcase_create("fetch");
    tcase_add_test(tests, a_line_hits_once_it_has_come_and_not_before);
    tcase_add_test(tests, all_warps_that_wait_for_a_line_are_woken_by_it);
    tcase_add_test(tests, a_miss_beyond_the_lines_under_way_fails_until_one_has_come);
    tcase_add_test(tests, without_room_to_ask_a_miss_fails_and_a_hit_does_not);
    tcase_add_test(tests, the_least_recently_fetched_line_of_the_set_gives_way);
    suite_add_tcase(suite, tests);
    return suite;
}
