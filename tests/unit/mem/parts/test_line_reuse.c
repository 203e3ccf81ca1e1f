/* A cache with LineReuse: who touched a line before decides the class of a hit on it. */
#include "mem/protocol/caches.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { LINE = 128 };

/* A thread's access: which of its warp's lanes take part. */
typedef struct {
    uint32_t kernel, sm, cta, warp, lanes;
} Who;

static CacheRig watched(const char *class, const char *part) {
    return cache_rig((CacheBench){.class = class, .part = "LineReuse", .part_parameters = part});
}

static MemMessage request_of(Who who, uint64_t line) {
    MemMessage m = of_warp(read_request(line * LINE, LINE), who.sm, who.warp, 0);
    m.cta = (uint16_t)who.cta;
    m.lanes = who.lanes;
    return m;
}

static void set_kernel(CacheRig *rig, uint32_t kernel) {
    const Field *f = object_field(rig->part, FIELD_STATE, "kernel");
    ck_assert(f && f->knob);
    *(uint32_t *)(void *)((char *)rig->part + f->offset) = kernel;
}

static void touch(CacheRig *rig, Who who, uint64_t line) {
    set_kernel(rig, who.kernel);
    rig_time(rig, request_of(who, line));
}

static const char *const classes[] = {"intra_thread", "inter_thread", "intra_cta", "intra_core",
                                      "inter_core",   "inter_kernel", "other"};

/* Nothing but this has been counted. */
static void expect(const CacheRig *rig, const char *kind, const char *class, uint64_t count) {
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_%s", classes[i], kind);
        ck_assert_msg(stat_of(rig->part, name) == (strcmp(class, classes[i]) == 0 ? count : 0),
                      "%s is %lu when %s is expected", name, stat_of(rig->part, name), class);
    }
}

static const Who bringer = {.kernel = 3, .sm = 1, .cta = 7, .warp = 4, .lanes = 0xf0};

static const struct {
    Who who;
    const char *class;
} second[] = {
    {{3, 1, 7, 4, 0x10}, "intra_thread"}, {{3, 1, 7, 4, 0xff}, "intra_thread"},
    {{3, 1, 7, 4, 0x0f}, "inter_thread"}, {{3, 1, 7, 5, 0xf0}, "intra_cta"},
    {{3, 1, 8, 4, 0xf0}, "intra_core"},   {{3, 1, 8, 5, 0xf0}, "intra_core"},
    {{3, 2, 7, 4, 0xf0}, "inter_core"},   {{4, 1, 7, 4, 0xf0}, "inter_kernel"},
    {{4, 2, 8, 5, 0xf0}, "inter_kernel"}, {{3, 1, 7, 4, 0}, "intra_thread"},
};

START_TEST(hit_is_classed_by_the_access_before_it) {
    CacheRig rig = watched("L2", "");
    touch(&rig, bringer, 5);
    expect(&rig, "hits", "", 0);
    touch(&rig, second[_i].who, 5);
    expect(&rig, "hits", second[_i].class, 1);
    expect(&rig, "merges", "", 0);
    rig_free(&rig);
}
END_TEST

START_TEST(merge_is_classed_like_a_hit) {
    CacheRig rig = watched("L2", "");
    set_kernel(&rig, 3);
    memory_driver_send(rig.driver, 1, request_of(bringer, 5));
    memory_driver_send(rig.driver, 1, request_of(second[_i].who, 5));
    rig_run(&rig);
    expect(&rig, "hits", "", 0);
    expect(&rig, "merges", second[_i].class, 1);
    rig_free(&rig);
}
END_TEST

/* Lanes 4-7, then 0-3, then 4-7: the third access finds what its threads have touched, although others of the
 * warp came between; of two warps that take turns none is the last. */
START_TEST(a_warp_s_threads_are_remembered_while_it_is_the_last_to_touch_the_line) {
    CacheRig rig = watched("L1", "");
    Who others = bringer, warp = bringer;
    others.lanes = 0x0f;
    touch(&rig, bringer, 5);
    touch(&rig, others, 5);
    expect(&rig, "hits", "inter_thread", 1);
    touch(&rig, bringer, 5);
    ck_assert_uint_eq(stat_of(rig.part, "intra_thread_hits"), 1);
    warp.warp = 9;
    touch(&rig, warp, 5);
    touch(&rig, bringer, 5);
    ck_assert_uint_eq(stat_of(rig.part, "intra_cta_hits"), 2);
    touch(&rig, others, 5);
    ck_assert_uint_eq(stat_of(rig.part, "inter_thread_hits"), 2);
    rig_free(&rig);
}
END_TEST

START_TEST(since_first_counts_who_brought_the_line) {
    CacheRig rig = watched("L1", "since=first");
    Who other = bringer;
    other.warp = 9;
    touch(&rig, bringer, 5);
    touch(&rig, other, 5);
    touch(&rig, other, 5);
    expect(&rig, "hits", "intra_cta", 2);
    touch(&rig, bringer, 5);
    ck_assert_uint_eq(stat_of(rig.part, "intra_thread_hits"), 1);
    rig_free(&rig);
}
END_TEST

/* One set of one way: line 6 takes the place of line 5, and is nobody's but its own warp's. */
START_TEST(what_replaces_a_line_inherits_nothing) {
    CacheRig rig = cache_rig((CacheBench){.class = "L1", .cache = "size=128 ways=1", .part = "LineReuse"});
    Who other = {.kernel = 3, .sm = 2, .cta = 1, .warp = 1, .lanes = 1};
    touch(&rig, bringer, 5);
    touch(&rig, other, 6);
    touch(&rig, other, 6);
    expect(&rig, "hits", "intra_thread", 1);
    rig_free(&rig);
}
END_TEST

/* Line 6 comes while nothing has timing: nobody is known to have touched it. */
START_TEST(line_taken_without_timing_is_nobody_s) {
    static const char *const levels[] = {"L1", "L2"};
    CacheRig rig = cache_rig(
        (CacheBench){.class = levels[_i], .cache = "size=128 ways=1", .part = "LineReuse"});
    MemMessage untimed = request_of(bringer, 6);
    touch(&rig, bringer, 5);
    rig.cache->class->take_untimed(rig.cache, &untimed);
    touch(&rig, bringer, 6);
    expect(&rig, "hits", "other", 1);
    rig_free(&rig);
}
END_TEST

START_TEST(line_taken_at_its_fill_is_that_of_who_fetched_it) {
    CacheRig rig = cache_rig((CacheBench){.class = "L1", .cache = "allocate=fill", .part = "LineReuse"});
    Who other = bringer;
    other.warp = 9;
    touch(&rig, bringer, 5);
    touch(&rig, other, 5);
    expect(&rig, "hits", "intra_cta", 1);
    rig_free(&rig);
}
END_TEST

/* A write that evicts the line it finds has hit it. */
START_TEST(write_that_evicts_is_classed_by_the_line_that_it_evicts) {
    CacheRig rig = watched("L1", "");
    MemMessage write = write_request(5 * LINE, LINE);
    touch(&rig, bringer, 5);
    write.sm = (uint16_t)bringer.sm;
    write.warp = 9;
    write.cta = (uint16_t)bringer.cta;
    rig_time(&rig, write);
    ck_assert_uint_eq(rig_stat(&rig, "write_hits"), 1);
    expect(&rig, "hits", "intra_cta", 1);
    rig_free(&rig);
}
END_TEST

/* By a write-back, on a line of the host, behind code. */
START_TEST(what_no_warp_did_is_other) {
    CacheRig rig = watched("L2", "");
    MemMessage code = request_of(bringer, 8);
    code.flags |= MEM_INSTRUCTION;
    touch(&rig, bringer, 5);
    rig_time(&rig, posted_write_request(5 * LINE, LINE));
    l2_warm(rig.cache, 6 * LINE);
    touch(&rig, bringer, 6);
    rig_time(&rig, code);
    touch(&rig, bringer, 8);
    expect(&rig, "hits", "other", 3);
    touch(&rig, bringer, 5);
    touch(&rig, bringer, 6);
    touch(&rig, bringer, 8);
    ck_assert_uint_eq(stat_of(rig.part, "intra_thread_hits"), 3);
    rig_free(&rig);
}
END_TEST

Suite *line_reuse_suite(void) {
    Suite *suite = suite_create("line_reuse");
    TCase *tests = tcase_create("line_reuse");
    tcase_add_loop_test(tests, hit_is_classed_by_the_access_before_it, 0,
                        (int)(sizeof second / sizeof *second));
    tcase_add_loop_test(tests, merge_is_classed_like_a_hit, 0, 7);
    tcase_add_test(tests, a_warp_s_threads_are_remembered_while_it_is_the_last_to_touch_the_line);
    tcase_add_test(tests, since_first_counts_who_brought_the_line);
    tcase_add_test(tests, what_replaces_a_line_inherits_nothing);
    tcase_add_loop_test(tests, line_taken_without_timing_is_nobody_s, 0, 2);
    tcase_add_test(tests, line_taken_at_its_fill_is_that_of_who_fetched_it);
    tcase_add_test(tests, write_that_evicts_is_classed_by_the_line_that_it_evicts);
    tcase_add_test(tests, what_no_warp_did_is_other);
    suite_add_tcase(suite, tests);
    return suite;
}
