/* Hits and accesses of each warp, emitted when a sample is complete; and the L1 that feeds the counters. */
#include "core/sim/event.h"
#include "mem/parts/warp_sampler/warp_sampler.h"
#include "mem/protocol/caches.h"
#include "tests/unit/mem/memory_driver.h"
#include "tests/unit/suites.h"

#include <string.h>

typedef struct {
    Subscriber subscriber;
    uint32_t count;
    int64_t warp, hits, accesses;
} Recorder;

static int64_t handle_event(Subscriber *subscriber, SimObject *object, uint32_t event,
                            const int64_t *arguments, uint64_t now) {
    Recorder *recorder = (Recorder *)subscriber;
    (void)object, (void)event, (void)now;
    recorder->count++;
    recorder->warp = arguments[0];
    recorder->hits = arguments[1];
    recorder->accesses = arguments[2];
    return NO_ANSWER;
}

static Sim *sim;
static SimObject *sampler, *driver, *l1;
static Recorder recorder;

/* The sampler belongs to what the L1 belongs to; any object will do, here a responder that nobody asks. */
static void start(const char *warm_up, const char *response_flags) {
    sim = sim_new("test");
    memory_test_classes();
    class_register(&l1_class);
    class_register(&warp_sampler_class);
    sim_clock(sim, "clock", 1000000000);
    SimObject *below = sim_add(sim, "MemoryResponder", "sm", NULL);
    object_set_text(below, "response_flags", response_flags);
    sim_finish_object(below);
    driver = sim_add(sim, "MemoryDriver", "driver", NULL);
    sim_finish_object(driver);
    l1 = sim_add(sim, "L1", "sm.l1", NULL);
    object_set_text(l1, "size", "16KiB");
    object_set_text(l1, "ways", "4");
    object_set_text(l1, "mshrs", "32");
    sim_finish_object(l1);
    sampler = sim_add(sim, "WarpSampler", "sm.sampler", NULL);
    object_set_text(sampler, "warm_up", warm_up);
    sim_finish_object(sampler);
    sim_wire(sim, driver, "mem", l1, "cpu", (LinkOptions){0}, (LinkOptions){0});
    sim_wire(sim, l1, "mem", below, "cpu", (LinkOptions){0}, (LinkOptions){0});
    sim_elaborate(sim);
    recorder = (Recorder){.subscriber = {handle_event}};
    object_subscribe(sampler, &recorder.subscriber, 1);
}

static void end(void) {
    sim_free(sim);
}

static void answers(uint32_t warp, uint32_t hits, uint32_t misses) {
    for (uint32_t i = 0; i < hits + misses; i++)
        sampler_count((WarpSampler *)sampler, warp, i < hits, 0);
    cluster_emit_events(sampler->cluster);
}

START_TEST(sample_is_told_with_its_last_access_and_once) {
    start("10", "0");
    answers(5, 3, 6);
    ck_assert_uint_eq(recorder.count, 0);
    answers(6, 0, 9); /* another warp */
    ck_assert_uint_eq(recorder.count, 0);
    answers(5, 1, 0);
    ck_assert_uint_eq(recorder.count, 1);
    ck_assert_int_eq(recorder.warp, 5);
    ck_assert_int_eq(recorder.hits, 4);
    ck_assert_int_eq(recorder.accesses, 10);
    answers(5, 20, 20);
    ck_assert_uint_eq(recorder.count, 1);
    end();
}
END_TEST

START_TEST(restarted_warps_are_sampled_from_zero) {
    start("4", "0");
    answers(0, 3, 0);
    answers(63, 4, 0);
    answers(7, 3, 0);
    ck_assert_uint_eq(recorder.count, 1);
    sampler_restart(sampler, 1ull << 63 | 1);
    answers(0, 0, 3);
    ck_assert_uint_eq(recorder.count, 1);
    answers(63, 0, 4);
    ck_assert_uint_eq(recorder.count, 2);
    ck_assert_int_eq(recorder.hits, 0);
    answers(7, 0, 1); /* was not restarted */
    ck_assert_uint_eq(recorder.count, 3);
    ck_assert_int_eq(recorder.hits, 3);
    end();
}
END_TEST

START_TEST(warm_up_0_takes_no_samples) {
    start("0", "0");
    answers(1, 100, 100);
    ck_assert_uint_eq(recorder.count, 0);
    end();
}
END_TEST

static uint64_t stat(const char *name) {
    return stat_of(sampler, name);
}

static void send(uint64_t cycle, MemMessage m, uint32_t warp) {
    m.warp = (uint16_t)warp;
    memory_driver_send(driver, cycle, m);
}

/* Of warp 9, below L1: a fetch for the first two reads, one of them merged; a write; and no hit in L1. */
START_TEST(l1_counts_what_comes_from_below_for_the_warp_that_had_asked) {
    start("3", _i ? "8" : "0");
    send(1, read_request(0, 32), 9);
    send(2, read_request(32, 32), 4);  /* merges: asks nobody below */
    send(50, read_request(64, 32), 4); /* hits */
    send(60, write_request(0, 32), 9);
    send(70, write_request(4096, 32), 9);
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
    ck_assert_uint_eq(stat("answers"), 3);
    ck_assert_uint_eq(stat("answers_hit"), _i ? 3 : 0);
    ck_assert_uint_eq(recorder.count, 1);
    ck_assert_int_eq(recorder.warp, 9);
    ck_assert_int_eq(recorder.hits, _i ? 3 : 0);
    ck_assert_uint_eq(sampler_served(sampler, 4), 0);
    ck_assert_uint_gt(sampler_served(sampler, 9), 70);
    end();
}
END_TEST

/* A warp whose requests bypass is sampled again while some of them are in flight. */
START_TEST(answers_that_bypassed_the_second_level_say_nothing) {
    start("3", "64");
    for (uint32_t i = 0; i < 4; i++)
        send(1, read_request(i * 128, 128), 9);
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
    ck_assert_uint_eq(stat("answers"), 0);
    ck_assert_uint_eq(recorder.count, 0);
    ck_assert_uint_eq(sampler_served(sampler, 9), 0);
    end();
}
END_TEST

Suite *warp_sampler_suite(void) {
    Suite *suite = suite_create("warp_sampler");
    TCase *tests = tcase_create("warp_sampler");
    tcase_add_test(tests, sample_is_told_with_its_last_access_and_once);
    tcase_add_test(tests, restarted_warps_are_sampled_from_zero);
    tcase_add_test(tests, warm_up_0_takes_no_samples);
    tcase_add_loop_test(tests, l1_counts_what_comes_from_below_for_the_warp_that_had_asked, 0, 2);
    tcase_add_test(tests, answers_that_bypassed_the_second_level_say_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
