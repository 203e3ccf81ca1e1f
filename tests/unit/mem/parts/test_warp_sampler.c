/* Hits and accesses of each warp, emitted when a sample is complete; and the L1 that feeds the counters. */
#include "core/sim/event.h"
#include "mem/parts/warp_sampler/warp_sampler.h"
#include "mem/protocol/caches.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/mem/memory_driver.h"
#include "tests/unit/suites.h"

#include <string.h>

typedef struct {
    Subscriber subscriber;
    uint32_t count;
    int64_t argument[4];
    int64_t warp, hits, accesses;
} Recorder;

static int64_t handle_event(Subscriber *subscriber, SimObject *object, uint32_t event,
                            const int64_t *arguments, uint64_t now) {
    Recorder *recorder = (Recorder *)subscriber;
    (void)object, (void)event, (void)now;
    recorder->count++;
    memcpy(recorder->argument, arguments, sizeof recorder->argument);
    recorder->warp = arguments[0];
    recorder->hits = arguments[1];
    recorder->accesses = arguments[2];
    return NO_ANSWER;
}

static Sim *sim;
static SimObject *sampler, *driver, *l1;
static Recorder recorder;

static const char *parameters; /* of the sampler, beside warm_up */

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
    if (parameters) tiny_set(sampler, parameters);
    parameters = NULL;
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
    start("3", _i ? "12" : "0"); /* MEM_HIT | MEM_FOUND */
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

static void read_four_lines(void) {
    for (uint32_t i = 0; i < 4; i++)
        send(1, read_request(i * 128, 128), 9);
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
}

/* A line that was on its way to the second level is a hit, or it is not. */
START_TEST(merges_in_the_second_level_are_hits_as_told) {
    parameters = _i ? "merges=true" : "merges=false";
    start("4", "4"); /* MEM_FOUND */
    read_four_lines();
    ck_assert_uint_eq(recorder.count, 1);
    ck_assert_int_eq(recorder.hits, _i ? 4 : 0);
    ck_assert_int_eq(recorder.accesses, 4);
    end();
}
END_TEST

START_TEST(requests_that_bypassed_count_as_what_they_would_have_been) {
    parameters = _i & 2 ? "merges=false" : "merges=true";
    start("4", _i & 1 ? "68" : "64"); /* MEM_BYPASSED, with or without MEM_FOUND */
    read_four_lines();
    ck_assert_uint_eq(stat("answers"), 4);
    ck_assert_uint_eq(stat("answers_uncounted"), 0);
    ck_assert_uint_eq(recorder.count, 1);
    ck_assert_int_eq(recorder.hits, _i & 1 ? 4 : 0);
    ck_assert_uint_gt(sampler_served(sampler, 9), 0);
    end();
}
END_TEST

/* A warp whose requests bypass is sampled again while some of them are in flight. */
START_TEST(requests_that_bypassed_say_nothing_when_told_so) {
    parameters = "bypasses=false";
    start("3", "68");
    read_four_lines();
    ck_assert_uint_eq(stat("answers"), 0);
    ck_assert_uint_eq(stat("answers_uncounted"), 4);
    ck_assert_uint_eq(recorder.count, 0);
    ck_assert_uint_eq(sampler_served(sampler, 9), 0);
    end();
}
END_TEST

static void answer_at(uint64_t cycle, uint32_t warp, bool hit) {
    sampler_count((WarpSampler *)sampler, warp, hit, cycle * sampler->period);
    cluster_emit_events(sampler->cluster);
}

/* Three hits until cycle 1002, and a miss `gap` cycles after the last, or one more: a sample of four, or the first of the
 * next four. Another warp in between makes no difference. */
START_TEST(gap_clears_the_counters_of_the_warp) {
    bool cleared = _i;
    parameters = "gap=500";
    start("4", "0");
    for (uint64_t cycle = 1000; cycle <= 1002; cycle++)
        answer_at(cycle, 5, true);
    answer_at(1400, 6, true);
    answer_at(1002 + 500 + cleared, 5, false);
    ck_assert_uint_eq(recorder.count, !cleared);
    ck_assert_uint_eq(stat("gaps"), cleared);
    for (uint64_t i = 0; cleared && i < 3; i++)
        answer_at(1600 + i, 5, false);
    ck_assert_uint_eq(recorder.count, 1);
    ck_assert_int_eq(recorder.warp, 5);
    ck_assert_int_eq(recorder.hits, cleared ? 0 : 3);
    for (uint64_t i = 0; i < 3; i++)
        answer_at(1700 + i, 6, true); /* its first answer was 300 cycles ago */
    ck_assert_uint_eq(recorder.count, 2);
    ck_assert_int_eq(recorder.warp, 6);
    end();
}
END_TEST

/* So a warp that has been sampled is sampled again after a gap, without being restarted. */
START_TEST(warp_is_sampled_again_after_a_gap) {
    parameters = _i ? "gap=500" : "gap=0";
    start("2", "0");
    for (uint64_t i = 0; i < 4; i++)
        answer_at(1000 + i, 5, true);
    ck_assert_uint_eq(recorder.count, 1);
    answer_at(2000, 5, false);
    answer_at(2001, 5, false);
    ck_assert_uint_eq(recorder.count, _i ? 2 : 1);
    ck_assert_int_eq(recorder.hits, _i ? 0 : 2);
    end();
}
END_TEST

START_TEST(answers_to_requests_of_a_class_are_counted) {
    start("100", "64");
    for (uint8_t class = 0; class < 3; class ++) {
        MemMessage m = read_request(class * 128, 128);
        m.class_number = class;
        send(class, m, 9);
    }
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
    ck_assert_uint_eq(stat("answers"), 3);
    ck_assert_uint_eq(stat("answers_of_class"), 2);
    end();
}
END_TEST

/* A load that merges with one in flight asks nobody below, and is not answered from there. */
START_TEST(answers_are_told_one_by_one) {
    Recorder answers = {.subscriber = {handle_event}};
    start("0", _i ? "12" : "0"); /* MEM_HIT | MEM_FOUND */
    object_subscribe(sampler, &answers.subscriber, 2);
    MemMessage m = read_request(128, 128);
    m.pc = 77;
    send(1, m, 9);
    send(2, m, 4);
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
    ck_assert_uint_eq(answers.count, 1);
    ck_assert_int_eq(answers.argument[0], 9);
    ck_assert_int_eq(answers.argument[1], 77);
    ck_assert_int_eq(answers.argument[2], 0);
    ck_assert_int_eq(answers.argument[3], _i);
    m = write_request(128, 32);
    m.pc = 78;
    send(200, m, 5);
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
    ck_assert_uint_eq(answers.count, 2);
    ck_assert_int_eq(answers.argument[0], 5);
    ck_assert_int_eq(answers.argument[1], 78);
    ck_assert_int_eq(answers.argument[2], 1);
    ck_assert_uint_eq(recorder.count, 0);
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
    tcase_add_loop_test(tests, merges_in_the_second_level_are_hits_as_told, 0, 2);
    tcase_add_loop_test(tests, requests_that_bypassed_count_as_what_they_would_have_been, 0, 4);
    tcase_add_test(tests, requests_that_bypassed_say_nothing_when_told_so);
    tcase_add_loop_test(tests, gap_clears_the_counters_of_the_warp, 0, 2);
    tcase_add_loop_test(tests, warp_is_sampled_again_after_a_gap, 0, 2);
    tcase_add_test(tests, answers_to_requests_of_a_class_are_counted);
    tcase_add_loop_test(tests, answers_are_told_one_by_one, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
