/* What policies can do with a cache: switch it off, let classes and warps bypass it or not take lines, hear
 * of what happens in it, and answer its questions. Timing: see test_l1_cache.c and test_l2_slice.c. A request
 * that bypasses an L2 slice is on its way to memory as soon as one that misses would be. */
#include "core/sim/base/random.h"
#include "mem/cache/cache.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

enum {
    DELAY = RIG_DELAY,
    MEMORY = 3 + RIG_DELAY,
    LINE = 128,
    SET = 64 * LINE /* lines of one set lie so far apart */
};

static MemMessage read_line(uint64_t address) {
    return read_request(address, LINE);
}

/* ---- Bypass of an L2 slice by class ---- */

START_TEST(request_of_a_bypassing_class_takes_as_long_as_a_miss_and_leaves_no_line) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = "bypass=true bypass_classes=8"});
    MemMessage m = of_class(of_warp(read_request(0x1040, 32), 5, 9, 77), 3);
    m.token = 4711;
    ck_assert_int_eq(rig_time(&rig, m), RIG_MISS);
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    const MemMessage *below = &rig_arrival(&rig, 0)->message;
    ck_assert_uint_eq(below->address, 0x1040);
    ck_assert_uint_eq(below->bytes, 32); /* as it is, not the line */
    ck_assert_uint_eq(below->class_number, 3);
    const MemMessage *answer = &memory_driver_responses(rig.driver)->entries[0].message;
    ck_assert_uint_eq(answer->token, 4711);
    ck_assert_uint_eq(answer->warp, 9);
    ck_assert_uint_eq(answer->flags, MEM_BYPASSED);
    ck_assert_uint_eq(rig_stat(&rig, "read_bypasses"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "misses") + rig_stat(&rig, "fetches"), 0);
    ck_assert_int_eq(rig_time(&rig, m), RIG_MISS); /* nothing was kept */
    rig_free(&rig);
}
END_TEST

START_TEST(bypass_delay_is_the_time_to_the_queue_for_memory) {
    static const char *const delays[] = {"bypass=true bypass_classes=8 bypass_delay=1",
                                         "bypass=true bypass_classes=8 bypass_delay=17"};
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = delays[_i]});
    ck_assert_int_eq(rig_time(&rig, of_class(read_line(0), 3)), RIG_MISS - DELAY + (_i ? 17 : 1));
    rig_free(&rig);
}
END_TEST

START_TEST(classes_that_are_not_named_and_caches_that_are_not_told_to_do_not_bypass) {
    CacheRig rig = cache_rig(
        (CacheBench){.class = "L2", .cache = _i ? "bypass=true bypass_classes=8" : "bypass_classes=15"});
    ck_assert_int_eq(rig_time(&rig, of_class(read_line(0), _i ? 2 : 3)), RIG_MISS);
    ck_assert_int_eq(rig_time(&rig, of_class(read_line(0), _i ? 4 : 3)), RIG_HIT);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 0);
    rig_free(&rig);
}
END_TEST

/* With one MSHR the second read stands at the tags until the first has come, and with a pipeline of two
 * requests the third fills it. The fourth, still in the link when that happens, bypasses them all. */
START_TEST(bypassing_request_waits_for_nobody_at_the_tags) {
    uint64_t latency = (uint64_t)_i;
    CacheRig rig = cache_rig(
        (CacheBench){.class = "L2",
                     .cache = "bypass=true bypass_classes=8 mshrs=1 rop_delay=2 bypass_delay=2",
                     .request = {.latency = latency}});
    for (uint32_t i = 0; i < 3; i++)
        memory_driver_send(rig.driver, i, read_line(i * LINE));
    memory_driver_send(rig.driver, 4, of_class(read_line(3 * LINE), 3));
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.address, 0);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.address, 3 * LINE);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->cycle, 4 + latency + 2 + 2);
    ck_assert_uint_gt(rig_arrival(&rig, 2)->cycle, RIG_RESPONDER);
    rig_free(&rig);
}
END_TEST

/* A bypassing request whose turn comes later than that of the request at the tags does not push it aside. */
START_TEST(older_request_gets_the_place_in_the_miss_queue) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2",
                                          .cache = "bypass=true bypass_classes=8 miss_queue=2",
                                          .below = "refuse_until=60 capacity=1"});
    for (uint32_t i = 0; i < 24; i++) /* the link below holds 8, the miss queue 2: these wait */
        memory_driver_send(rig.driver, i, of_class(read_line(i * LINE), i % 3 == 2 ? 3 : 0));
    rig_run(&rig);
    for (uint32_t i = 0; i < 24; i++)
        ck_assert_uint_eq(rig_arrival(&rig, i)->message.address, i * LINE);
    rig_free(&rig);
}
END_TEST

START_TEST(bypassing_read_of_a_dirty_line_is_behind_its_write_back_and_leaves_the_line) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = "bypass=true bypass_classes=8"});
    rig_time(&rig, write_request(0, LINE));
    ck_assert_uint_eq(rig_arrivals(&rig), 0); /* all bytes are written: nothing is fetched */
    ck_assert_int_eq(rig_time(&rig, of_class(read_line(0), 3)), RIG_MISS + 1);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.kind, MEM_WRITE);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.kind, MEM_READ);
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_HIT);
    rig_free(&rig);
}
END_TEST

START_TEST(bypassing_write_is_answered_by_memory_and_forgets_the_line) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = "bypass=true bypass_classes=8"});
    rig_time(&rig, read_line(0));
    ck_assert_int_eq(rig_time(&rig, of_class(write_request(0, 32), 3)), RIG_MISS);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.kind, MEM_WRITE);
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_MISS);
    ck_assert_int_eq(rig_time(&rig, of_class(posted_write_request(0, 32), 3)), -1);
    ck_assert_uint_eq(rig_stat(&rig, "write_bypasses"), 2);
    rig_free(&rig);
}
END_TEST

START_TEST(requests_under_way_bypass_to_their_end_when_it_is_switched_off) {
    CacheRig rig = cache_rig(
        (CacheBench){.class = "L2", .cache = "bypass=true bypass_classes=8 bypass_delay=40"});
    memory_driver_send(rig.driver, 1, of_class(read_line(0), 3));
    sim_run(rig.sim, 20 * rig.cache->period);
    rig_set(&rig, "bypass", "false");
    rig_run(&rig);
    ck_assert_uint_eq(memory_driver_responses(rig.driver)->count, 1);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->cycle, 1 + 3 + 40);
    rig_free(&rig);
}
END_TEST

/* A line takes the fill port for four cycles. Answers are in flight for three, so several are in the link. */
START_TEST(answer_that_passes_does_not_wait_for_the_fill_port) {
    CacheRig rig = cache_rig((CacheBench){
        .class = "L2", .cache = "bypass=true bypass_classes=8 data_port=32", .answer = {.latency = 3}});
    memory_driver_send(rig.driver, 1, read_line(0));
    memory_driver_send(rig.driver, 2, of_class(read_line(LINE), 3));
    memory_driver_send(rig.driver, 3, read_line(2 * LINE));
    rig_run(&rig);
    const LoggedMessage *answers = memory_driver_responses(rig.driver)->entries;
    ck_assert_uint_eq(answers[0].cycle, 1 + 2 + RIG_MISS);
    ck_assert_uint_eq(answers[1].cycle, 2 + 2 + RIG_MISS);
    ck_assert_uint_eq(answers[2].cycle, 1 + 2 + RIG_MISS + 4);
    rig_free(&rig);
}
END_TEST

/* ---- Random bypass ---- */

static uint64_t bypasses_of_1000(const char *parameters, TickOrder order) {
    CacheRig rig = cache_rig(
        (CacheBench){.class = "L2", .cache = parameters, .driver = "outstanding=16", .order = order});
    for (uint32_t i = 0; i < 1000; i++)
        memory_driver_send(rig.driver, 0, read_line(i * LINE));
    rig_run(&rig);
    uint64_t bypasses = rig_stat(&rig, "bypasses");
    rig_free(&rig);
    return bypasses;
}

START_TEST(given_part_of_all_requests_bypasses_at_random) {
    ck_assert_uint_eq(bypasses_of_1000("bypass=true bypass_rate=0", ORDER_PATH), 0);
    ck_assert_uint_eq(bypasses_of_1000("bypass=true bypass_rate=1000", ORDER_PATH), 1000);
    uint64_t some = bypasses_of_1000("bypass=true bypass_rate=300", ORDER_PATH); /* deviation 14.5 */
    ck_assert_uint_gt(some, 300 - 58);
    ck_assert_uint_lt(some, 300 + 58);
    ck_assert_uint_eq(bypasses_of_1000("bypass=true bypass_rate=300", ORDER_REVERSED), some);
    ck_assert_uint_ne(bypasses_of_1000("bypass=true bypass_rate=300 bypass_seed=2", ORDER_PATH), some);
}
END_TEST

/* ---- Classes and warps that may not take lines ---- */

START_TEST(class_without_the_right_uses_lines_of_others_and_takes_none) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = "allocate_classes=0xfffd"});
    ck_assert_int_eq(rig_time(&rig, of_class(read_line(0), 1)), RIG_MISS);
    ck_assert_int_eq(rig_time(&rig, of_class(write_request(LINE, 32), 1)), RIG_MISS);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 2);
    ck_assert_int_eq(rig_time(&rig, of_class(read_line(0), 0)), RIG_MISS); /* brings the line */
    ck_assert_int_eq(rig_time(&rig, of_class(read_line(0), 1)), RIG_HIT);
    ck_assert_int_eq(rig_time(&rig, of_class(write_request(0, 32), 1)), RIG_HIT);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 2);
    rig_free(&rig);
}
END_TEST

/* A set of two lines: the first, of class 1, is worth 4 uses more than it has had. The second is used until the sum of uses
 * is 5, or 6; then a third comes, and replaces it, or the first. */
START_TEST(line_that_a_class_keeps_ages_with_the_uses_of_the_cache) {
    CacheRig rig = cache_rig((CacheBench){
        .class = _i & 1 ? "L1" : "L2", .cache = "size=256 ways=2 retention_priority=0,1 retention_uses=4"});
    bool aged = _i >= 2;
    rig_hits(&rig, of_class(read_line(0), 1));
    for (int use = 2; use <= (aged ? 6 : 4); use++)
        rig_hits(&rig, of_class(read_line(LINE), 0));
    rig_hits(&rig, of_class(read_line(2 * LINE), 0));
    ck_assert_int_eq(rig_hits(&rig, of_class(read_line(0), 1)), !aged);
    rig_free(&rig);
}
END_TEST

/* Of three reads and a write of the first line the last is of class 1, which is kept. */
START_TEST(hit_makes_a_line_one_of_the_class_that_hits) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = "size=256 ways=2 retention_priority=0,1"});
    rig_hits(&rig, read_line(0));
    rig_hits(&rig, of_class(_i ? write_request(0, LINE) : read_line(0), 1));
    for (uint64_t line = 1; line < 4; line++)
        rig_hits(&rig, read_line(line * LINE));
    ck_assert(rig_hits(&rig, read_line(0))); /* and with this one of class 0 */
    rig_hits(&rig, read_line(4 * LINE));
    rig_hits(&rig, read_line(5 * LINE));
    ck_assert(!rig_hits(&rig, read_line(0)));
    rig_free(&rig);
}
END_TEST

START_TEST(warp_without_the_right_uses_lines_of_others_in_l1_and_takes_none) {
    CacheRig rig = cache_rig((CacheBench){.class = "L1"});
    MemMessage local_write = of_local_memory(of_warp(write_request(SET, LINE), 0, 2, 0));
    ck_assert_int_eq(rig_time(&rig, of_warp(read_line(0), 0, 2, 0)), RIG_MISS); /* all have it at first */
    rig_set_warps(&rig, "may_allocate", 1ull << 3 | 1ull << 63);
    ck_assert_int_eq(rig_time(&rig, of_warp(read_line(0), 0, 2, 0)), RIG_HIT);
    ck_assert_int_eq(rig_time(&rig, of_warp(read_line(LINE), 0, 2, 0)), RIG_MISS);
    ck_assert_int_eq(rig_time(&rig, of_warp(read_line(LINE), 0, 2, 0)), RIG_MISS);
    ck_assert_int_eq(rig_time(&rig, of_warp(read_line(LINE), 0, 63, 0)), RIG_MISS);
    ck_assert_int_eq(rig_time(&rig, of_warp(read_line(LINE), 0, 2, 0)), RIG_HIT);
    ck_assert_uint_eq(rig_stat(&rig, "read_bypasses"), 2);
    ck_assert_int_eq(rig_time(&rig, local_write), RIG_MISS);
    ck_assert_uint_eq(rig_stat(&rig, "local_write_bypasses"), 1);
    rig_free(&rig);
}
END_TEST

/* ---- Switched off, tags alive ---- */

static const char *const classes[] = {"L1", "L2"};

START_TEST(tags_go_on_while_a_cache_is_off_but_bring_no_data) {
    CacheRig rig = cache_rig((CacheBench){.class = classes[_i]});
    rig_time(&rig, read_line(0));
    rig_set(&rig, "enabled", "false");
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_MISS); /* from memory, though it is here */
    ck_assert_int_eq(rig_time(&rig, read_line(LINE)), RIG_MISS);
    ck_assert_int_eq(rig_time(&rig, read_line(LINE)), RIG_MISS);
    ck_assert_uint_eq(rig_stat(&rig, "off_hits"), 2);
    ck_assert_uint_eq(rig_stat(&rig, "off_misses"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 3);
    rig_set(&rig, "enabled", "true");
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_HIT);     /* its data never left        */
    ck_assert_int_eq(rig_time(&rig, read_line(LINE)), RIG_MISS); /* has a tag, but no data yet */
    ck_assert_int_eq(rig_time(&rig, read_line(LINE)), RIG_HIT);
    ck_assert_uint_eq(rig_stat(&rig, "misses"), 2);
    rig_free(&rig);
}
END_TEST

START_TEST(tags_are_replaced_in_order_of_use_while_a_cache_is_off) {
    CacheRig rig = cache_rig((CacheBench){.class = classes[_i], .cache = "enabled=false ways=2 size=16KiB"});
    static const uint64_t line[] = {0, 1, 0, 2, 0, 1}; /* 2 replaces 1, then 1 replaces 2 */
    for (uint32_t i = 0; i < 6; i++)
        rig_time(&rig, read_line(line[i] * SET));
    ck_assert_uint_eq(rig_stat(&rig, "off_hits"), 2);
    ck_assert_uint_eq(rig_stat(&rig, "off_misses"), 4);
    rig_free(&rig);
}
END_TEST

START_TEST(reads_are_counted_apart_from_writes_while_a_cache_is_off) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = "enabled=false"});
    rig_time(&rig, read_line(0));
    rig_time(&rig, write_request(0, LINE)); /* where it was read: this one has a tag */
    rig_time(&rig, write_request(LINE, LINE));
    rig_time(&rig, read_line(LINE));
    rig_time(&rig, read_line(2 * LINE));
    ck_assert_uint_eq(rig_stat(&rig, "off_hits"), 2);
    ck_assert_uint_eq(rig_stat(&rig, "off_read_hits"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "off_misses"), 3);
    ck_assert_uint_eq(rig_stat(&rig, "off_read_misses"), 2);
    rig_free(&rig);
}
END_TEST

START_TEST(dirty_line_goes_back_before_a_request_passes_and_a_write_while_off_makes_it_stale) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2"});
    rig_time(&rig, write_request(0, LINE));
    rig_set(&rig, "enabled", "false");
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_MISS + 1);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.kind, MEM_WRITE);
    ck_assert_int_eq(rig_time(&rig, write_request(0, 32)), RIG_MISS);
    rig_set(&rig, "enabled", "true");
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_MISS);
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 1);
    rig_free(&rig);
}
END_TEST

/* ---- Events and questions ---- */

static void expect_arguments(const CacheRig *rig, uint32_t i, uint32_t event, const int64_t *arguments) {
    ck_assert_uint_lt(i, rig->recorder->count);
    const Record *record = &rig->recorder->record[i];
    ck_assert_uint_eq(record->event, event);
    for (uint32_t a = 0; a < EVENT_ARGUMENTS; a++)
        ck_assert_int_eq(record->arguments[a], arguments[a]);
}
#define expect_event(rig, i, event, ...) expect_arguments(rig, i, event, EVENT_ARGUMENTS_OF(__VA_ARGS__))

START_TEST(hits_misses_merges_fills_and_evictions_are_told_with_who_and_where) {
    CacheRig rig = cache_rig(
        (CacheBench){.class = classes[_i], .cache = "ways=1 size=8KiB", .below = "response_flags=8"});
    rig_subscribe(
        &rig, 1u << CACHE_HIT | 1u << CACHE_MISS | 1u << CACHE_MERGE | 1u << CACHE_EVICT | 1u << CACHE_FILL,
        NO_ANSWER);
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, of_class(of_warp(read_line(0), 3, 17, 40), 2));
    memory_driver_send(rig.driver, start + 1, of_warp(read_line(0), 3, 18, 41));
    rig_run(&rig);
    rig_time(&rig, of_warp(read_request(32, 32), 3, 19, 42));
    rig_time(&rig, of_warp(read_line(SET), 4, 20, 43));
    expect_event(&rig, 0, CACHE_MISS, 3, 17, 0, 40, 0, 2, 0, 0);
    ck_assert_uint_eq(rig.recorder->record[0].cycle, start + 1 + DELAY);
    expect_event(&rig, 1, CACHE_MERGE, 3, 18, 0, 41, 0, 0, 0, 0);
    expect_event(&rig, 2, CACHE_FILL, 3, 17, 0, 1, 0, 0, 40,
                 2); /* what came says that the cache below had it */
    ck_assert_uint_eq(rig.recorder->record[2].cycle, start + RIG_MISS - 1);
    expect_event(&rig, 3, CACHE_HIT, 3, 19, 32, 42, 0, 0, 0, 0);
    expect_event(&rig, 4, CACHE_EVICT, 3, 17, 0, 2, 0, 0, 0); /* of whom it was, not of who needs its place */
    expect_event(&rig, 5, CACHE_MISS, 4, 20, SET, 43, 0, 0, 0, 0);
    expect_event(&rig, 6, CACHE_FILL, 4, 20, SET, 1, 0, 0, 43, 0);
    ck_assert_uint_eq(rig.recorder->count, 7);
    rig_free(&rig);
}
END_TEST

/* The second of two ways, in the third set; a write, whose line is dirty when it goes; a read that passes by is in
 * no line. */
START_TEST(events_name_set_and_way_writes_and_dirty_lines) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = "ways=2 size=16KiB bypass_classes=8"});
    rig_time(&rig, read_line(2 * LINE));
    rig_subscribe(&rig, 1u << CACHE_HIT | 1u << CACHE_MISS | 1u << CACHE_EVICT, NO_ANSWER);
    rig_time(&rig, of_class(of_warp(write_request(SET + 2 * LINE, LINE), 3, 17, 40), 5));
    rig_time(&rig, of_warp(write_request(SET + 2 * LINE, 32), 3, 18, 41));
    rig_time(&rig, of_warp(read_line(2 * LINE), 3, 19, 42));
    rig_time(&rig, of_warp(read_line(2 * SET + 2 * LINE), 4, 20, 43));
    expect_event(&rig, 0, CACHE_MISS, 3, 17, SET + 2 * LINE, 40, 1, 5, 2, 1);
    expect_event(&rig, 1, CACHE_HIT, 3, 18, SET + 2 * LINE, 41, 1, 0, 2, 1);
    expect_event(&rig, 2, CACHE_HIT, 3, 19, 2 * LINE, 42, 0, 0, 2, 0);
    expect_event(&rig, 3, CACHE_EVICT, 3, 17, SET + 2 * LINE, 5, 2, 1, 1);
    expect_event(&rig, 4, CACHE_MISS, 4, 20, 2 * SET + 2 * LINE, 43, 0, 0, 2, 1);
    rig_free(&rig);
}
END_TEST

START_TEST(event_of_a_write_that_an_l1_does_not_keep_names_no_way) {
    CacheRig rig = cache_rig((CacheBench){.class = "L1"});
    rig_subscribe(&rig, 1u << CACHE_MISS, NO_ANSWER);
    rig_time(&rig, of_warp(write_request(3 * LINE, 32), 3, 17, 40));
    expect_event(&rig, 0, CACHE_MISS, 3, 17, 3 * LINE, 40, 1, 0, 3, -1);
    rig_free(&rig);
}
END_TEST

/* The first read gets what there is of it, the second stops at the tags a cycle later, with one event,
 * however long it waits. */
START_TEST(reservation_fail_is_told_once_with_its_cause) {
    static const struct {
        const char *cache, *below;
        uint64_t second;
        int64_t cause;
    } cases[] = {{"ways=1 size=8KiB", "", SET, 1},
                 {"mshrs=1", "", LINE, 2},
                 {"merges=1", "", 0, 3},
                 {"miss_queue=2", "refuse_until=80 capacity=1", 10 * LINE, 4}};
    bool queue = cases[_i / 2].cause == 4;
    CacheRig rig = cache_rig(
        (CacheBench){.class = classes[_i % 2], .cache = cases[_i / 2].cache, .below = cases[_i / 2].below});
    rig_subscribe(&rig, 1u << CACHE_RESERVATION_FAIL, NO_ANSWER);
    uint64_t start = rig_now(&rig) + 1;
    uint32_t before = queue ? 10 : 1; /* the link below holds 8 */
    for (uint32_t i = 0; i < before; i++)
        memory_driver_send(rig.driver, start + i, of_warp(read_line(i * LINE), 3, 17, 40));
    memory_driver_send(rig.driver, start + before, of_warp(read_line(cases[_i / 2].second), 4, 18, 41));
    rig_run(&rig);
    expect_event(&rig, 0, CACHE_RESERVATION_FAIL, 4, 18, (int64_t)cases[_i / 2].second, cases[_i / 2].cause,
                 41, 0, 0);
    ck_assert_uint_eq(rig.recorder->record[0].cycle, start + before + 1 + DELAY);
    ck_assert_uint_eq(rig.recorder->count, 1);
    rig_free(&rig);
}
END_TEST

START_TEST(read_passes_an_l1_by_when_it_finds_no_line_and_policies_say_so) {
    CacheRig rig = cache_rig((CacheBench){.class = "L1"});
    rig_subscribe(&rig, 1u << CACHE_ASK_BYPASS, 1);
    ck_assert_int_eq(rig_time(&rig, of_warp(read_line(0), 3, 17, 40)), RIG_MISS);
    expect_event(&rig, 0, CACHE_ASK_BYPASS, 3, 17, 0, 40, 0);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 1);
    rig.recorder->answer = 0;
    rig_time(&rig, read_line(0));
    ck_assert_uint_eq(rig.recorder->count, 2);
    rig.recorder->answer = 1;
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_HIT); /* not asked */
    rig_time(&rig, write_request(0, 32));
    ck_assert_uint_eq(rig.recorder->count, 2);
    rig_free(&rig);
}
END_TEST

/* A policy that counts while it answers must not see how often a request is tried: it waits for a way of its
 * set, then for room below, and the cache may look at it in any of these cycles. */
static uint64_t run_asking(uint64_t awake_until) {
    CacheRig rig = cache_rig((CacheBench){.class = "L1",
                                          .cache = "ways=2 size=16KiB miss_queue=2",
                                          .below = "refuse_until=400 capacity=1",
                                          .quantum = awake_until != 0});
    rig_subscribe(&rig, 1u << CACHE_ASK_BYPASS | 1u << CACHE_ASK_VICTIM, 0);
    uint64_t start = rig_now(&rig) + 1;
    for (uint32_t i = 0; i < 12; i++)
        memory_driver_send(rig.driver, start + i, read_line(i * SET));
    rig_run_awake(&rig, awake_until);
    ck_assert_uint_eq(rig.recorder->count, 12 + 10); /* the first two lines find empty ways */
    ck_assert_uint_gt(rig_stat(&rig, "line_fail_cycles"), 100);
    uint64_t end = rig.sim->now;
    rig_free(&rig);
    return end;
}

START_TEST(policies_are_asked_once_about_each_request_that_waits_at_the_tags) {
    uint64_t asleep = run_asking(0), awake = run_asking(asleep);
    ck_assert_uint_eq(asleep, awake);
}
END_TEST

START_TEST(read_passes_an_l2_by_when_policies_say_so) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = "bypass=true"});
    rig_subscribe(&rig, 1u << CACHE_ASK_BYPASS, 1);
    ck_assert_int_eq(rig_time(&rig, of_warp(read_line(0), 3, 17, 40)), RIG_MISS);
    expect_event(&rig, 0, CACHE_ASK_BYPASS, 3, 17, 0, 40, 0);
    ck_assert_int_eq(rig_time(&rig, write_request(0, LINE)),
                     RIG_HIT + 0); /* answered when it is in the line */
    ck_assert_uint_eq(rig.recorder->count, 1);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(policies_choose_the_line_to_replace_among_those_that_are_not_under_way) {
    CacheRig rig = cache_rig((CacheBench){.class = classes[_i], .cache = "ways=2 size=16KiB"});
    rig_time(&rig, read_line(0));
    rig_time(&rig, read_line(SET));
    rig_subscribe(&rig, 1u << CACHE_ASK_VICTIM,
                  1); /* way 1, which has the second line; LRU would take way 0 */
    rig_time(&rig, of_class(of_warp(read_line(2 * SET), 3, 17, 40), 2));
    expect_event(&rig, 0, CACHE_ASK_VICTIM, 0, 3, 0, 3, 17, 2 * SET, 40, 2);
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_HIT);
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, read_line(3 * SET));
    memory_driver_send(rig.driver, start + 1, read_line(4 * SET)); /* way 1 is in flight: LRU decides */
    rig_run(&rig);
    expect_event(&rig, 1, CACHE_ASK_VICTIM, 0, 3, 1, 0, 0, 3 * SET);
    expect_event(&rig, 2, CACHE_ASK_VICTIM, 0, 1, 0, 0, 0, 4 * SET);
    ck_assert_int_eq(rig_time(&rig, read_line(3 * SET)), RIG_HIT);
    ck_assert_int_eq(rig_time(&rig, read_line(4 * SET)), RIG_HIT);
    rig_free(&rig);
}
END_TEST

/* Two ways: the first two lines and, once a write has dropped one of them, a third find an empty way. */
START_TEST(policies_are_asked_for_a_victim_only_when_a_valid_line_must_go) {
    CacheRig rig = cache_rig((CacheBench){.class = "L1", .cache = "ways=2 size=16KiB"});
    rig_subscribe(&rig, 1u << CACHE_ASK_VICTIM, 0);
    rig_time(&rig, read_line(0));
    rig_time(&rig, read_line(SET));
    ck_assert_uint_eq(rig.recorder->count, 0);
    rig_time(&rig, write_request(SET, 32));
    rig_time(&rig, read_line(2 * SET));
    ck_assert_uint_eq(rig.recorder->count, 0);
    ck_assert_uint_eq(rig_stat(&rig, "evictions"), 0);
    rig_time(&rig, read_line(3 * SET));
    ck_assert_uint_eq(rig.recorder->count, 1);
    expect_event(&rig, 0, CACHE_ASK_VICTIM, 0, 3, 0, 0, 0, 3 * SET);
    ck_assert_uint_eq(rig_stat(&rig, "evictions"), 1);
    rig_free(&rig);
}
END_TEST

/* Two ways, both taken; answers to victim are "none". */
static CacheRig rig_that_keeps_its_lines(const char *class, const char *cache) {
    CacheRig rig = cache_rig((CacheBench){.class = class, .cache = cache, .device_memory = true});
    rig_time(&rig, read_line(0));
    rig_time(&rig, read_line(SET));
    rig_subscribe(&rig, 1u << CACHE_ASK_VICTIM, -1);
    return rig;
}

START_TEST(read_passes_by_rather_than_replace_a_line_when_policies_say_so) {
    CacheRig rig = rig_that_keeps_its_lines(classes[_i], "ways=2 size=16KiB");
    for (int i = 0; i < 2; i++) /* nothing is kept of it */
        ck_assert_int_eq(rig_time(&rig, read_request(2 * SET + 32, 32)), RIG_MISS);
    ck_assert_uint_eq(rig_arrival(&rig, 2)->message.address, 2 * SET + 32);
    ck_assert_uint_eq(rig_arrival(&rig, 2)->message.bytes, 32); /* as it is, not the line */
    ck_assert_uint_eq(rig.recorder->count, 2);
    ck_assert_uint_eq(rig_stat(&rig, "read_bypasses"), 2);
    ck_assert_uint_eq(rig_stat(&rig, "misses"), 2); /* the first two */
    ck_assert_uint_eq(rig_stat(&rig, "evictions"), 0);
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_HIT);
    ck_assert_int_eq(rig_time(&rig, read_line(SET)), RIG_HIT);
    rig.recorder->answer = NO_ANSWER;
    rig_time(&rig, read_line(2 * SET));
    ck_assert_uint_eq(rig_stat(&rig, "evictions"), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(write_passes_by_rather_than_replace_a_line_when_policies_say_so) {
    CacheRig rig = rig_that_keeps_its_lines(classes[_i], "ways=2 size=16KiB");
    ck_assert_int_eq(rig_time(&rig, of_local_memory(write_request(2 * SET, 32))), RIG_MISS);
    ck_assert_uint_eq(rig_arrivals(&rig), 3);
    ck_assert_uint_eq(rig_arrival(&rig, 2)->message.kind, MEM_WRITE);
    ck_assert_uint_eq(rig_arrival(&rig, 2)->message.bytes, 32);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "evictions"), 0);
    rig_free(&rig);
}
END_TEST

/* It is performed there. */
START_TEST(atomic_takes_a_line_though_policies_would_keep_all) {
    CacheRig rig = rig_that_keeps_its_lines("L2", "ways=2 size=16KiB");
    MemMessage m = read_request(2 * SET, 32);
    m.kind = MEM_ATOMIC;
    rig_time(&rig, m);
    ck_assert_uint_eq(rig.recorder->count, 1);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 0);
    ck_assert_uint_eq(rig_stat(&rig, "evictions"), 1);
    rig_free(&rig);
}
END_TEST

/* The policy is asked when the data come, which wake who waits and are not kept. */
START_TEST(fill_is_not_kept_when_policies_keep_all_lines) {
    CacheRig rig = rig_that_keeps_its_lines(classes[_i], "ways=2 size=16KiB allocate=fill");
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(rig_time(&rig, read_line(2 * SET)), RIG_MISS);
    ck_assert_uint_eq(rig.recorder->count, 2);
    ck_assert_uint_eq(rig_stat(&rig, "misses"), 4);
    ck_assert_uint_eq(rig_stat(&rig, "evictions"), 0);
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_HIT);
    ck_assert_int_eq(rig_time(&rig, read_line(SET)), RIG_HIT);
    rig_free(&rig);
}
END_TEST

/* They wait, one behind the other, for the only one that may pass by at a time. */
START_TEST(policies_that_keep_all_lines_are_asked_once_about_each_request) {
    CacheRig rig = rig_that_keeps_its_lines(classes[_i], "ways=2 size=16KiB bypassed_limit=1");
    uint64_t start = rig_now(&rig) + 1;
    for (uint32_t i = 0; i < 4; i++)
        memory_driver_send(rig.driver, start + i, read_line((2 + i) * SET));
    rig_run(&rig);
    ck_assert_uint_eq(rig.recorder->count, 4);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 4);
    ck_assert_uint_gt(rig_stat(&rig, "bypassed_stall_cycles"), 3 * RIG_RESPONDER);
    rig_free(&rig);
}
END_TEST

/* Two ways. A line that enters at the last position goes before the older one. */
START_TEST(policies_choose_where_a_line_enters_whether_another_must_go_or_not) {
    CacheRig rig = cache_rig((CacheBench){.class = classes[_i], .cache = "ways=2 size=16KiB"});
    rig_subscribe(&rig, 1u << CACHE_ASK_INSERTION, 1);
    rig.recorder->answer = 0;
    rig_time(&rig, of_class(of_warp(read_line(0), 3, 17, 40), 2));
    expect_event(&rig, 0, CACHE_ASK_INSERTION, 0, 1, 3, 17, 0, 40, 0, 2, 0, -1);
    rig.recorder->answer = 1;
    rig_time(&rig, read_line(SET));
    rig_time(&rig, read_line(2 * SET)); /* instead of the second line, and as the next to go */
    expect_event(&rig, 2, CACHE_ASK_INSERTION, 0, 1, 0, 0, 2 * SET, 0, 0, 0, 0, SET);
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_HIT);
    rig.recorder->answer = NO_ANSWER;
    rig_time(&rig, read_line(3 * SET));
    ck_assert_int_eq(rig_time(&rig, read_line(0)), RIG_HIT);
    ck_assert_uint_eq(rig.recorder->count, 4); /* hits enter nothing */
    rig_free(&rig);
}
END_TEST

/* The answer counts in place of what the class of the request has, in both directions. */
START_TEST(policies_that_choose_where_a_line_enters_overrule_its_class) {
    CacheRig rig = cache_rig((CacheBench){.class = classes[_i % 2],
                                          .cache = _i < 2 ? "ways=2 size=16KiB insertion_position=1"
                                                          : "ways=2 size=16KiB replacement=srrip"});
    int64_t last = _i < 2 ? 1 : 3;
    rig_subscribe(&rig, 1u << CACHE_ASK_INSERTION, 0);
    rig_time(&rig, read_line(0));
    rig.recorder->answer = last;
    rig_time(&rig, read_line(SET));
    expect_event(&rig, 1, CACHE_ASK_INSERTION, 0, last, 0, 0, SET, 0, 0, 0, 0, -1);
    rig.recorder->answer = 0;
    rig_time(&rig, read_line(2 * SET)); /* instead of the second line */
    rig_time(&rig, read_line(3 * SET)); /* instead of the first */
    ck_assert_int_eq(rig_time(&rig, read_line(2 * SET)), RIG_HIT);
    ck_assert_uint_eq(rig.recorder->count, 4);
    rig_free(&rig);
}
END_TEST

/* ---- All of it at once ---- */

static void send_mixture(CacheRig *rig) {
    Random random = {7};
    for (uint32_t i = 0; i < 3000; i++) {
        uint64_t address = random_below(&random, 600) * LINE + random_below(&random, 4) * 32,
                 kind = random_below(&random, 4);
        MemMessage m = kind < 2    ? read_request(address, 32)
                       : kind == 2 ? write_request(address, 32)
                                   : posted_write_request(address, 32);
        m = of_warp(m, 0, (uint32_t)random_below(&random, 48), (uint32_t)random_below(&random, 9));
        memory_driver_send(rig->driver, i + random_below(&random, 30),
                           of_class(m, (uint32_t)random_below(&random, 5)));
    }
}

/* Of two lines in three, none goes for the other lines of its set. */
static int64_t keep_lines(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                          uint64_t now) {
    (void)subscriber, (void)object, (void)event, (void)now;
    return arguments[5] / LINE % 3 ? -1 : NO_ANSWER;
}

static CacheRig mixture_that_keeps_lines(const char *class, TickOrder order, uint64_t order_seed,
                                         uint64_t awake_until) {
    static Subscriber keeper = {keep_lines};
    CacheRig rig = cache_rig((CacheBench){.class = class,
                                          .cache = "ways=2 size=16KiB mshrs=8 merges=2 miss_queue=3 "
                                                   "bypassed_limit=9",
                                          .below = "capacity=12",
                                          .driver = "outstanding=40",
                                          .order = order,
                                          .order_seed = order_seed,
                                          .quantum = awake_until != 0});
    object_subscribe(rig.cache, &keeper, 1u << CACHE_ASK_VICTIM);
    send_mixture(&rig);
    rig_run_awake(&rig, awake_until);
    ck_assert_uint_gt(rig_stat(&rig, "read_bypasses"), 300);
    ck_assert_uint_gt(rig_stat(&rig, "evictions"), 100);
    ck_assert_uint_gt(rig_stat(&rig, "bypassed_stall_cycles"), 100);
    return rig;
}

static CacheRig mixture(int variant, TickOrder order, uint64_t order_seed, uint64_t awake_until) {
    if (variant) return mixture_that_keeps_lines(classes[variant - 1], order, order_seed, awake_until);
    CacheRig rig = cache_rig((CacheBench){.class = "L2",
                                          .cache = "bypass=true bypass_classes=2 allocate_classes=0xfffb "
                                                   "bypass_rate=50 insertion_position=0,0,0,255,3 "
                                                   "retention_priority=1,0,2 mshrs=8 merges=2 miss_queue=3 "
                                                   "bypassed_limit=9 rop_delay=5 bypass_delay=9 "
                                                   "data_port=32",
                                          .part = "PcBypassTable",
                                          .part_parameters = "entries=4 warm_up=8 threshold=60 window=64",
                                          .below = "capacity=12",
                                          .driver = "outstanding=40",
                                          .order = order,
                                          .order_seed = order_seed,
                                          .quantum = awake_until != 0});
    send_mixture(&rig);
    rig_run_awake(&rig, awake_until);
    ck_assert_uint_gt(stat_of(rig.part, "bypassed"), 30);
    ck_assert_uint_gt(rig_stat(&rig, "write_bypasses"), 300);
    return rig;
}

MIXTURE_TESTS(mixture)

Suite *cache_knobs_suite(void) {
    Suite *suite = suite_create("cache_knobs");
    TCase *tests = tcase_create("cache_knobs");
    tcase_add_test(tests, request_of_a_bypassing_class_takes_as_long_as_a_miss_and_leaves_no_line);
    tcase_add_loop_test(tests, line_that_a_class_keeps_ages_with_the_uses_of_the_cache, 0, 4);
    tcase_add_loop_test(tests, hit_makes_a_line_one_of_the_class_that_hits, 0, 2);
    tcase_add_loop_test(tests, bypass_delay_is_the_time_to_the_queue_for_memory, 0, 2);
    tcase_add_loop_test(tests, classes_that_are_not_named_and_caches_that_are_not_told_to_do_not_bypass, 0,
                        2);
    tcase_add_loop_test(tests, bypassing_request_waits_for_nobody_at_the_tags, 1, 5);
    tcase_add_test(tests, older_request_gets_the_place_in_the_miss_queue);
    tcase_add_test(tests, bypassing_read_of_a_dirty_line_is_behind_its_write_back_and_leaves_the_line);
    tcase_add_test(tests, bypassing_write_is_answered_by_memory_and_forgets_the_line);
    tcase_add_test(tests, requests_under_way_bypass_to_their_end_when_it_is_switched_off);
    tcase_add_test(tests, answer_that_passes_does_not_wait_for_the_fill_port);
    tcase_add_test(tests, given_part_of_all_requests_bypasses_at_random);
    tcase_add_test(tests, class_without_the_right_uses_lines_of_others_and_takes_none);
    tcase_add_test(tests, warp_without_the_right_uses_lines_of_others_in_l1_and_takes_none);
    tcase_add_loop_test(tests, tags_go_on_while_a_cache_is_off_but_bring_no_data, 0, 2);
    tcase_add_loop_test(tests, tags_are_replaced_in_order_of_use_while_a_cache_is_off, 0, 2);
    tcase_add_test(tests, reads_are_counted_apart_from_writes_while_a_cache_is_off);
    tcase_add_test(tests, dirty_line_goes_back_before_a_request_passes_and_a_write_while_off_makes_it_stale);
    tcase_add_loop_test(tests, hits_misses_merges_fills_and_evictions_are_told_with_who_and_where, 0, 2);
    tcase_add_test(tests, events_name_set_and_way_writes_and_dirty_lines);
    tcase_add_test(tests, event_of_a_write_that_an_l1_does_not_keep_names_no_way);
    tcase_add_loop_test(tests, reservation_fail_is_told_once_with_its_cause, 0, 8);
    tcase_add_test(tests, read_passes_an_l1_by_when_it_finds_no_line_and_policies_say_so);
    tcase_add_test(tests, policies_are_asked_once_about_each_request_that_waits_at_the_tags);
    tcase_add_test(tests, read_passes_an_l2_by_when_policies_say_so);
    tcase_add_loop_test(tests, policies_choose_the_line_to_replace_among_those_that_are_not_under_way, 0, 2);
    tcase_add_loop_test(tests, policies_choose_where_a_line_enters_whether_another_must_go_or_not, 0, 2);
    tcase_add_loop_test(tests, policies_that_choose_where_a_line_enters_overrule_its_class, 0, 4);
    tcase_add_test(tests, policies_are_asked_for_a_victim_only_when_a_valid_line_must_go);
    tcase_add_loop_test(tests, read_passes_by_rather_than_replace_a_line_when_policies_say_so, 0, 2);
    tcase_add_loop_test(tests, write_passes_by_rather_than_replace_a_line_when_policies_say_so, 0, 2);
    tcase_add_test(tests, atomic_takes_a_line_though_policies_would_keep_all);
    tcase_add_loop_test(tests, fill_is_not_kept_when_policies_keep_all_lines, 0, 2);
    tcase_add_loop_test(tests, policies_that_keep_all_lines_are_asked_once_about_each_request, 0, 2);
    ADD_MIXTURE_TESTS(tests, 3);
    suite_add_tcase(suite, tests);
    return suite;
}
