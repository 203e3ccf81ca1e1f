/* What is in flight in a cache, transferred to one with other MSHRs, queues and latencies. */
#include "core/sim/base/random.h"
#include "core/sim/checkpoint/snapshot.h"
#include "mem/cache/cache.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 128 };

static MemMessage read_line(uint32_t number) {
    return of_token(read_request(number * LINE, LINE), number);
}

static CacheRig rig_of(const char *class, const char *parameters) {
    return cache_rig((CacheBench){.class = class, .cache = parameters, .quantum = 1});
}

static void run_to(const CacheRig *rig, uint64_t cycle) {
    sim_run(rig->sim, cycle * rig->cache->period);
}

/* `rig` goes on as `next`, which has its own script. */
static void transfer(CacheRig *rig, CacheRig next) {
    SnapshotChanges changes = {.allowed = true};
    Buffer buffer = {0};
    char why[512] = "";
    sim_save(rig->sim, &buffer);
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    ck_assert_msg(sim_load(next.sim, &reader, &changes, why, sizeof why), "%s", why);
    sim_check(next.sim, false);
    buffer_free(&buffer);
    rig_free(rig);
    *rig = next;
}

static const Cache *cache_of(const CacheRig *rig) {
    return &((const CacheObject *)rig->cache)->cache;
}

/* The first cycle after `cycle` in which the line came below; 0: it did not. */
static uint64_t came_below(const CacheRig *rig, uint32_t line) {
    for (uint32_t i = 0; i < rig_arrivals(rig); i++)
        if (rig_arrival(rig, i)->message.address == line * LINE) return rig_arrival(rig, i)->cycle;
    return 0;
}

static void send_reads(const CacheRig *rig, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        memory_driver_send(rig->driver, i, read_line(i));
}

static CacheRig rig_with_reads(const char *class, const char *parameters, uint32_t count) {
    CacheRig rig = rig_of(class, parameters);
    send_reads(&rig, count);
    return rig;
}

/* The second read is at the tags from 8 on. In the first cycle of the changed machine, 12, it gets its MSHR;
 * the fetch leaves in the next, and is below one later. */
START_TEST(miss_gets_an_mshr_in_the_first_cycle_in_which_there_are_more) {
    CacheRig rig = rig_with_reads("L1", "mshrs=1", 2);
    run_to(&rig, 12);
    transfer(&rig, rig_with_reads("L1", "mshrs=2", 2));
    run_to(&rig, 12);
    ck_assert_uint_eq(cache_of(&rig)->mshr.used, 1);
    run_to(&rig, 13);
    ck_assert_uint_eq(cache_of(&rig)->mshr.used, 2);
    rig_run(&rig);
    ck_assert_uint_eq(came_below(&rig, 1), 14);
    rig_free(&rig);
}
END_TEST

/* The four lines come back in 30 to 33. Only with the third are fewer than two MSHRs in use, for which the
 * fifth read waits since 11. */
START_TEST(more_mshrs_than_there_may_be_are_in_use_until_their_fills_have_come) {
    CacheRig rig = rig_with_reads("L1", "mshrs=4", 5);
    run_to(&rig, 15);
    transfer(&rig, rig_with_reads("L1", "mshrs=2", 5));
    run_to(&rig, 32);
    ck_assert_uint_eq(cache_of(&rig)->mshr.used, 2);
    run_to(&rig, 33);
    ck_assert_uint_eq(cache_of(&rig)->mshr.used, 2); /* one was given back, one taken */
    rig_run(&rig);
    ck_assert_uint_eq(came_below(&rig, 4), 34);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_uint_eq(rig_answered(&rig, i), i < 4 ? i + RIG_MISS : 34 + RIG_RESPONDER + 2);
    rig_free(&rig);
}
END_TEST

static CacheRig rig_with_reads_of_one_line(const char *parameters, uint32_t count) {
    CacheRig rig = rig_of("L1", parameters);
    for (uint32_t i = 0; i < count; i++)
        memory_driver_send(rig.driver, i, of_token(read_line(0), i + 1));
    return rig;
}

START_TEST(request_merges_as_soon_as_its_line_s_mshr_may_hold_more) {
    CacheRig rig = rig_with_reads_of_one_line("merges=2", 3);
    run_to(&rig, 12);
    ck_assert_uint_eq(cache_of(&rig)->stall, STALL_MSHR_MERGE);
    transfer(&rig, rig_with_reads_of_one_line("merges=9", 3));
    run_to(&rig, 13);
    ck_assert_uint_eq(rig_stat(&rig, "merges"), 2);
    rig_run(&rig);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(rig_answered(&rig, i + 1), RIG_MISS + i);
    rig_free(&rig);
}
END_TEST

/* Five wait in it when it may hold two: all are answered, one per cycle, and the sixth hits behind them. */
START_TEST(requests_that_are_too_many_for_an_mshr_are_answered_and_no_more_merge) {
    CacheRig rig = rig_with_reads_of_one_line("merges=8", 6);
    run_to(&rig, 12);
    ck_assert_uint_eq(rig_stat(&rig, "merges"), 4);
    transfer(&rig, rig_with_reads_of_one_line("merges=2", 6));
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "merges"), 4);
    ck_assert_uint_eq(rig_stat(&rig, "hits"), 1);
    for (uint32_t i = 0; i < 6; i++)
        ck_assert_uint_eq(rig_answered(&rig, i + 1), RIG_MISS + i);
    rig_free(&rig);
}
END_TEST

/* Six are inside after cycle 6, in which the sixth was accepted. One leaves per cycle from 7 on, and with the
 * fifth, in 11, fewer than two are inside. */
START_TEST(pipeline_that_became_shorter_accepts_nothing_before_it_has_drained) {
    CacheRig rig = rig_with_reads("L1", "latency=6", 9);
    run_to(&rig, 7);
    ck_assert_uint_eq(cache_of(&rig)->pipeline.count, 6);
    transfer(&rig, rig_with_reads("L1", "latency=2", 9));
    run_to(&rig, 11);
    ck_assert_uint_eq(rig_stat(&rig, "accesses"), 6);
    run_to(&rig, 12);
    ck_assert_uint_eq(rig_stat(&rig, "accesses"), 7);
    rig_run(&rig);
    ck_assert_uint_eq(came_below(&rig, 5), 14); /* looked up in 12, as if nothing had happened */
    ck_assert_uint_eq(rig_stat(&rig, "accesses"), 9);
    rig_free(&rig);
}
END_TEST

/* In the ring of eight the oldest of the six inside, the thirteenth, is in slot 4. They come to the tags as
 * they would have; the next one 20 cycles after its acceptance. */
START_TEST(pipeline_that_became_longer_keeps_the_times_of_what_is_inside) {
    CacheRig rig = rig_with_reads("L2", "rop_delay=6", 24);
    run_to(&rig, 19);
    ck_assert_uint_eq(cache_of(&rig)->pipeline.first, 4);
    transfer(&rig, rig_with_reads("L2", "rop_delay=20", 24));
    rig_run(&rig);
    for (uint32_t i = 12; i < 18; i++)
        ck_assert_uint_eq(came_below(&rig, i), i + 1 + 6 + 2);
    ck_assert_uint_eq(came_below(&rig, 18), 18 + 1 + 20 + 2);
    rig_free(&rig);
}
END_TEST

static CacheRig rig_with_bypassed_reads(const char *parameters) {
    CacheRig rig = rig_of("L1", parameters);
    for (uint32_t i = 0; i < 5; i++) {
        MemMessage m = read_line(i);
        m.flags |= MEM_BYPASS_L1;
        memory_driver_send(rig.driver, i, m);
    }
    return rig;
}

/* The fifth is at the tags in 11. Four are in flight, whose answers come in 30 to 33. */
START_TEST(requests_that_pass_are_as_many_as_they_may_be) {
    static const uint64_t below[] = {17, 32, 35};
    static const char *const limits[] = {"bypassed_limit=5", "bypassed_limit=4", "bypassed_limit=1"};
    CacheRig rig = rig_with_bypassed_reads("bypassed_limit=4");
    run_to(&rig, 15);
    transfer(&rig, rig_with_bypassed_reads(limits[_i]));
    rig_run(&rig);
    ck_assert_uint_eq(came_below(&rig, 4), below[_i]);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(rig_answered(&rig, i), i + RIG_MISS);
    rig_free(&rig);
}
END_TEST

/* ---- All of it at once ---- */

typedef struct {
    const char *class, *part, *parameters, *larger, *smaller;
} Machine;

/* What is the same in all of a machine's forms; its sizes; larger and smaller ones. */
static const char *const always[] = {
    "size=2KiB ways=2 ",
    "size=2KiB ways=2 sectors=4 ",
    "size=1KiB ways=1 sectors=2 allocate=fill ",
    "size=4KiB ways=4 bypass=true bypass_classes=2 bypass_rate=50 ",
    "size=4KiB ways=4 sectors=4 allocate=fill bypass=true bypass_classes=2 ",
};
static const char *const sizes[][3] = {
    {"mshrs=4 merges=3 miss_queue=3 bypassed_limit=6 latency=6 ",
     "mshrs=77 merges=20 miss_queue=70 bypassed_limit=100 latency=30 ",
     "mshrs=1 merges=1 miss_queue=2 bypassed_limit=1 latency=1 "},
    {"mshrs=5 merges=3 miss_queue=3 bypassed_limit=6 rop_delay=11 bypass_delay=5 ",
     "mshrs=9 merges=5 miss_queue=40 bypassed_limit=7 rop_delay=100 bypass_delay=77 queue_entries=300 ",
     "mshrs=2 merges=2 miss_queue=2 bypassed_limit=1 rop_delay=2 bypass_delay=1 queue_entries=1 "},
};
enum { MACHINES = sizeof always / sizeof *always, FIRST_L2 = 3, MIXED_REQUESTS = 1500, TIMES = 12 };

static void send_mixture(const CacheRig *rig, bool l1) {
    Random random = {7};
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < MIXED_REQUESTS; i++) {
        uint64_t bytes = 32ull << random_below(&random, 3), kind = random_below(&random, 4);
        uint64_t address = random_below(&random, 64) * LINE + random_below(&random, LINE / bytes) * bytes;
        MemMessage m = kind < 2    ? read_request(address, (uint32_t)bytes)
                       : kind == 2 ? write_request(address, (uint32_t)bytes)
                                   : posted_write_request(address, (uint32_t)bytes);
        if (l1 && random_below(&random, 3) == 0) m.flags |= MEM_LOCAL;
        if (l1 && random_below(&random, 8) == 0) m.flags |= MEM_BYPASS_L1;
        cycle += random_below(&random, 3);
        memory_driver_send(rig->driver, cycle, of_class(of_token(m, i), (uint32_t)random_below(&random, 5)));
    }
}

static CacheRig mixed_rig(uint32_t machine, uint32_t form) {
    bool l1 = machine < FIRST_L2;
    char parameters[512];
    snprintf(parameters, sizeof parameters, "%s%s", always[machine], sizes[!l1][form]);
    CacheRig rig = cache_rig((CacheBench){.class = l1 ? "L1" : "L2",
                                          .cache = parameters,
                                          .part = l1 ? NULL : "QueueDelays",
                                          .below = "capacity=9",
                                          .response = {.depth = 2},
                                          .quantum = 1});
    send_mixture(&rig, l1);
    return rig;
}

/* The answers of `b` are the last ones of `a`. */
static void expect_same_end(const CacheRig *a, const CacheRig *b) {
    const MessageLog *all = memory_driver_responses(a->driver), *last = memory_driver_responses(b->driver);
    char *want = stats_text(a->sim), *got = stats_text(b->sim);
    ck_assert_str_eq(got, want);
    ck_assert_uint_le(last->count, all->count);
    ck_assert_mem_eq(last->entries, all->entries + all->count - last->count,
                     last->count * sizeof *last->entries);
    free(want);
    free(got);
}

/* Through a machine with larger sizes, one with smaller ones that do not hold what is in flight, and back to
 * its own: it ends as if nothing had happened. */
START_TEST(what_is_under_way_comes_back_from_other_sizes_as_it_was) {
    uint32_t machine = (uint32_t)_i / TIMES, time = (uint32_t)_i % TIMES;
    CacheRig straight = mixed_rig(machine, 0), rig = mixed_rig(machine, 0);
    rig_run(&straight);
    run_to(&rig, 60 + 61 * time);
    uint64_t used = cache_of(&rig)->mshr.used;
    transfer(&rig, mixed_rig(machine, 1));
    transfer(&rig, mixed_rig(machine, 2));
    transfer(&rig, mixed_rig(machine, 0));
    ck_assert_uint_eq(cache_of(&rig)->mshr.used, used);
    rig_run(&rig);
    expect_same_end(&straight, &rig);
    rig_free(&straight);
    rig_free(&rig);
}
END_TEST

static uint32_t answers(const CacheRig *rig) {
    return memory_driver_responses(rig->driver)->count;
}

/* As many as are answered when nothing is changed. */
static uint32_t answers_wanted(uint32_t machine) {
    CacheRig rig = mixed_rig(machine, 0);
    rig_run(&rig);
    uint32_t wanted = answers(&rig);
    rig_free(&rig);
    return wanted;
}

/* It goes on with other sizes, larger or smaller, and is saved and resumed like any other. */
START_TEST(machine_that_goes_on_with_other_sizes_answers_all_and_can_be_resumed) {
    uint32_t machine = (uint32_t)_i / TIMES, time = (uint32_t)_i % TIMES, form = 1 + time % 2;
    CacheRig straight = mixed_rig(machine, 0), rig = mixed_rig(machine, 0);
    run_to(&straight, 60 + 61 * time);
    uint32_t before = answers(&straight);
    transfer(&straight, mixed_rig(machine, form));
    run_to(&rig, 60 + 61 * time);
    transfer(&rig, mixed_rig(machine, form));
    run_to(&rig, 60 + 61 * time + 15);
    transfer(&rig, mixed_rig(machine, form));
    rig_run(&straight);
    rig_run(&rig);
    expect_same_end(&straight, &rig);
    ck_assert_uint_eq(before + answers(&straight), answers_wanted(machine));
    rig_free(&straight);
    rig_free(&rig);
}
END_TEST

Suite *cache_transfer_suite(void);

Suite *cache_transfer_suite(void) {
    Suite *suite = suite_create("cache_transfer");
    TCase *tests = tcase_create("cache_transfer");
    tcase_add_test(tests, miss_gets_an_mshr_in_the_first_cycle_in_which_there_are_more);
    tcase_add_test(tests, more_mshrs_than_there_may_be_are_in_use_until_their_fills_have_come);
    tcase_add_test(tests, request_merges_as_soon_as_its_line_s_mshr_may_hold_more);
    tcase_add_test(tests, requests_that_are_too_many_for_an_mshr_are_answered_and_no_more_merge);
    tcase_add_test(tests, pipeline_that_became_shorter_accepts_nothing_before_it_has_drained);
    tcase_add_test(tests, pipeline_that_became_longer_keeps_the_times_of_what_is_inside);
    tcase_add_loop_test(tests, requests_that_pass_are_as_many_as_they_may_be, 0, 3);
    tcase_add_loop_test(tests, what_is_under_way_comes_back_from_other_sizes_as_it_was, 0, MACHINES * TIMES);
    tcase_add_loop_test(tests, machine_that_goes_on_with_other_sizes_answers_all_and_can_be_resumed, 0,
                        MACHINES * TIMES);
    suite_add_tcase(suite, tests);
    return suite;
}
