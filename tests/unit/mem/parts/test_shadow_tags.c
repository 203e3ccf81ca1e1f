/* What an L2 slice's answers say about finding a line (MEM_FOUND): hits, merges, and requests that bypass and would have
 * been either, by the slice's own tags and by the shadow tags. The slice has sets of two lines; requests of class 3
 * bypass. */
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

enum { LINE = 128, SETS = 4, BOTH = MEM_HIT | MEM_FOUND };

/* Without parameters the slice has no shadow tags. */
static CacheRig slice(const char *parameters) {
    return cache_rig((CacheBench){.class = "L2",
                                  .cache = "bypass=true bypass_classes=8 size=1KiB ways=2",
                                  .part = parameters ? "ShadowTags" : NULL,
                                  .part_parameters = parameters});
}

/* Of set 0. */
static MemMessage read_line(uint64_t number) {
    return read_request(number * SETS * LINE, LINE);
}

static MemMessage write_line(uint64_t number) {
    return write_request(number * SETS * LINE, LINE);
}

static MemMessage bypassing(MemMessage m) {
    return of_class(m, 3);
}

/* Of its answer, when all is quiet. */
static uint32_t flags(CacheRig *rig, MemMessage m) {
    uint32_t before = memory_driver_responses(rig->driver)->count;
    rig_time(rig, m);
    return rig_response(rig, before)->message.flags;
}

static uint32_t flags_of_token(const CacheRig *rig, uint32_t token) {
    const MessageLog *log = memory_driver_responses(rig->driver);
    for (uint32_t i = 0; i < log->count; i++)
        if (log->entries[i].message.token == token) return log->entries[i].message.flags;
    ck_abort_msg("no answer with token %u", token);
}

START_TEST(hit_is_found_and_miss_is_not) {
    CacheRig rig = slice(NULL);
    ck_assert_uint_eq(flags(&rig, read_line(1)), 0);
    ck_assert_uint_eq(flags(&rig, read_line(1)), BOTH);
    ck_assert_uint_eq(flags(&rig, write_line(2)), 0);
    ck_assert_uint_eq(flags(&rig, write_line(2)), BOTH);
    rig_free(&rig);
}
END_TEST

/* Two reads of a line on its way, and a write to a part of it. */
START_TEST(merge_is_found_but_is_no_hit) {
    CacheRig rig = slice(NULL);
    memory_driver_send(rig.driver, 10, of_token(read_line(1), 100));
    memory_driver_send(rig.driver, 11, of_token(read_line(1), 101));
    memory_driver_send(rig.driver, 12, of_token(read_line(1), 102));
    memory_driver_send(rig.driver, 13, of_token(write_request(SETS * LINE, 32), 103));
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "merges"), 3);
    ck_assert_uint_eq(flags_of_token(&rig, 100), 0);
    for (uint32_t merged = 101; merged <= 103; merged++)
        ck_assert_uint_eq(flags_of_token(&rig, merged), MEM_FOUND);
    rig_free(&rig);
}
END_TEST

START_TEST(request_that_bypasses_is_found_where_it_would_have_hit) {
    CacheRig rig = slice(NULL);
    ck_assert_uint_eq(flags(&rig, bypassing(read_line(1))), MEM_BYPASSED);
    ck_assert_uint_eq(flags(&rig, bypassing(read_line(1))), MEM_BYPASSED); /* it has left no line */
    flags(&rig, read_line(1));
    ck_assert_uint_eq(flags(&rig, bypassing(read_line(1))), MEM_BYPASSED | MEM_FOUND);
    ck_assert_uint_eq(flags(&rig, bypassing(read_line(2))), MEM_BYPASSED);
    for (uint32_t i = 0; i < rig_arrivals(&rig); i++) /* memory is not told */
        ck_assert_uint_eq(rig_arrival(&rig, i)->message.flags, 0);
    rig_free(&rig);
}
END_TEST

START_TEST(request_that_bypasses_is_found_where_it_would_have_merged) {
    CacheRig rig = slice(NULL);
    memory_driver_send(rig.driver, 10, of_token(read_line(1), 100));
    memory_driver_send(rig.driver, 20, of_token(bypassing(read_line(1)), 101));
    memory_driver_send(rig.driver, 20, of_token(bypassing(read_line(2)), 102));
    rig_run(&rig);
    ck_assert_uint_eq(flags_of_token(&rig, 101), MEM_BYPASSED | MEM_FOUND);
    ck_assert_uint_eq(flags_of_token(&rig, 102), MEM_BYPASSED);
    rig_free(&rig);
}
END_TEST

START_TEST(request_that_bypasses_is_not_found_where_a_sector_is_absent) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = "bypass=true bypass_classes=8 sectors=4"});
    flags(&rig, read_request(0, 32));
    ck_assert_uint_eq(flags(&rig, bypassing(read_request(0, 32))), MEM_BYPASSED | MEM_FOUND);
    ck_assert_uint_eq(flags(&rig, bypassing(read_request(32, 32))), MEM_BYPASSED);
    ck_assert_uint_eq(flags(&rig, bypassing(read_request(0, 64))), MEM_BYPASSED);
    rig_free(&rig);
}
END_TEST

/* Lines 1 and 2 fill the set, and 1 is the older: it goes when 3 comes, whether requests that bypass have asked for it or
 * not, and what was asked for by these alone is not there. */
START_TEST(asking_does_not_change_what_the_slice_holds) {
    CacheRig rig = slice(_i ? "entries=16 ways=4" : NULL);
    flags(&rig, read_line(1));
    flags(&rig, read_line(2));
    flags(&rig, bypassing(read_line(1)));
    flags(&rig, bypassing(read_line(4)));
    flags(&rig, read_line(3));
    ck_assert_uint_eq(flags(&rig, read_line(2)), BOTH);
    ck_assert_uint_eq(flags(&rig, read_line(1)), 0);
    ck_assert_uint_eq(flags(&rig, read_line(4)), 0);
    rig_free(&rig);
}
END_TEST

/* Three tags of one set: the fourth line takes that of the line asked for longest ago. */
START_TEST(shadow_tags_know_the_lines_asked_for_last_by_requests_that_bypass) {
    static const struct {
        uint64_t line;
        uint32_t found;
    } reads[] = {{1, 0}, {2, 0},         {3, 0},         {1, MEM_FOUND}, {4, 0},
                 {2, 0}, {1, MEM_FOUND}, {4, MEM_FOUND}, {3, 0}};
    CacheRig rig = slice("entries=3 ways=3");
    for (uint32_t i = 0; i < sizeof reads / sizeof *reads; i++)
        ck_assert_uint_eq(flags(&rig, bypassing(read_line(reads[i].line))), MEM_BYPASSED | reads[i].found);
    ck_assert_uint_eq(stat_of(rig.part, "asked"), 9);
    ck_assert_uint_eq(stat_of(rig.part, "found"), 3);
    rig_free(&rig);
}
END_TEST

/* Neighbouring lines of the slice are of different sets. */
START_TEST(shadow_tags_have_sets) {
    CacheRig rig = slice("entries=2 ways=1");
    flags(&rig, bypassing(read_request(0, LINE)));
    flags(&rig, bypassing(read_request(LINE, LINE)));
    ck_assert_uint_eq(flags(&rig, bypassing(read_request(0, LINE))), MEM_BYPASSED | MEM_FOUND);
    flags(&rig, bypassing(read_request(2 * LINE, LINE)));
    ck_assert_uint_eq(flags(&rig, bypassing(read_request(0, LINE))), MEM_BYPASSED);
    ck_assert_uint_eq(flags(&rig, bypassing(read_request(LINE, LINE))), MEM_BYPASSED | MEM_FOUND);
    rig_free(&rig);
}
END_TEST

START_TEST(requests_that_do_not_bypass_take_no_shadow_tag) {
    CacheRig rig = slice("entries=4 ways=4");
    for (uint64_t line = 1; line <= 3; line++)
        flags(&rig, read_line(line));
    ck_assert_uint_eq(stat_of(rig.part, "asked"), 0);
    ck_assert_uint_eq(flags(&rig, bypassing(read_line(1))), MEM_BYPASSED); /* long replaced */
    rig_free(&rig);
}
END_TEST

/* The slice forgets the line that a bypassing write finds. Had it not bypassed, the line would be there. */
START_TEST(line_that_a_bypassing_write_drops_is_known_to_the_shadow_tags) {
    CacheRig rig = slice(_i ? "entries=4 ways=4" : NULL);
    flags(&rig, read_line(1));
    ck_assert_uint_eq(flags(&rig, bypassing(write_line(1))), MEM_BYPASSED | MEM_FOUND);
    ck_assert_uint_eq(flags(&rig, bypassing(read_line(1))), MEM_BYPASSED | (_i ? MEM_FOUND : 0));
    rig_free(&rig);
}
END_TEST

/* Without a free place for the answer the request is tried again and again: it has asked once. */
START_TEST(request_that_waits_for_its_way_to_memory_asks_once) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2",
                                          .cache = "bypass=true bypass_classes=8 bypassed_limit=1",
                                          .part = "ShadowTags",
                                          .part_parameters = "entries=64 ways=16"});
    for (uint32_t i = 0; i < 4; i++)
        memory_driver_send(rig.driver, i, of_token(bypassing(read_line(i % 2)), 100 + i));
    rig_run(&rig);
    ck_assert_uint_eq(stat_of(rig.part, "asked"), 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(flags_of_token(&rig, 100 + i), MEM_BYPASSED | (i < 2 ? 0 : MEM_FOUND));
    rig_free(&rig);
}
END_TEST

Suite *shadow_tags_suite(void) {
    Suite *suite = suite_create("shadow_tags");
    TCase *tests = tcase_create("shadow_tags");
    tcase_add_test(tests, hit_is_found_and_miss_is_not);
    tcase_add_test(tests, merge_is_found_but_is_no_hit);
    tcase_add_test(tests, request_that_bypasses_is_found_where_it_would_have_hit);
    tcase_add_test(tests, request_that_bypasses_is_found_where_it_would_have_merged);
    tcase_add_test(tests, request_that_bypasses_is_not_found_where_a_sector_is_absent);
    tcase_add_loop_test(tests, asking_does_not_change_what_the_slice_holds, 0, 2);
    tcase_add_test(tests, shadow_tags_know_the_lines_asked_for_last_by_requests_that_bypass);
    tcase_add_test(tests, shadow_tags_have_sets);
    tcase_add_test(tests, requests_that_do_not_bypass_take_no_shadow_tag);
    tcase_add_loop_test(tests, line_that_a_bypassing_write_drops_is_known_to_the_shadow_tags, 0, 2);
    tcase_add_test(tests, request_that_waits_for_its_way_to_memory_asks_once);
    suite_add_tcase(suite, tests);
    return suite;
}
