/* The memory request prioritization buffer: alone, then in front of the tags of an L1 with one MSHR, where
 * the order of the misses shows in what arrives below. And bypass on associativity stalls. */
#include "mem/parts/prioritization_buffer/prioritization_buffer.h"

#include "core/sim/base/random.h"
#include "mem/cache/cache.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 128, SET = 64 * LINE /* lines of one set lie so far apart */ };

/* ---- Alone ---- */

enum { QUEUES = 6, PLACES = 4 };

typedef struct {
    PrioritizationBuffer buffer;
    MemMessage request[QUEUES * PLACES];
    uint64_t arrival[QUEUES * PLACES];
} Alone;

static PrioritizationBuffer *empty_buffer(Alone *alone, uint32_t total) {
    memset(alone, 0, sizeof *alone);
    PrioritizationBuffer *buffer = &alone->buffer;
    *buffer = (PrioritizationBuffer){.queues = QUEUES,
                                     .places = PLACES,
                                     .total = total,
                                     .request = alone->request,
                                     .arrival = alone->arrival};
    prioritization_build(buffer);
    return buffer;
}

static MemMessage request(uint32_t warp, uint64_t number) {
    return of_warp(read_request(number * LINE, LINE), 0, warp, 0);
}

static void push(PrioritizationBuffer *buffer, uint32_t warp, uint64_t number) {
    MemMessage m = request(warp, number);
    ck_assert(prioritization_has_place(buffer, &m));
    prioritization_push(buffer, &m);
}

static uint64_t pop(PrioritizationBuffer *buffer) {
    uint64_t number = prioritization_next(buffer)->address / LINE;
    prioritization_pop(buffer);
    return number;
}

START_TEST(lowest_queue_that_is_not_empty_goes_first_chosen_anew_for_each_request) {
    Alone alone;
    PrioritizationBuffer *buffer = empty_buffer(&alone, 0);
    ck_assert_ptr_null(prioritization_next(buffer));
    push(buffer, 4, 0);
    push(buffer, 2, 1);
    push(buffer, 4, 2);
    push(buffer, 2, 3);
    ck_assert_uint_eq(pop(buffer), 1);
    push(buffer, 0, 4); /* not greedy: queue 2 has another one, but queue 0 is lower */
    ck_assert_uint_eq(pop(buffer), 4);
    ck_assert_uint_eq(pop(buffer), 3);
    ck_assert_uint_eq(pop(buffer), 0);
    ck_assert_uint_eq(pop(buffer), 2);
    ck_assert_ptr_null(prioritization_next(buffer));
    ck_assert_uint_eq(buffer->overtakes, 3); /* 1 before 0, 4 before 0, 3 before 0; 0 and 2 before nobody */
}
END_TEST

START_TEST(warp_has_the_queue_of_its_number_modulo_the_queues) {
    static const uint64_t want[] = {3, 0, 1, 2};
    Alone alone;
    PrioritizationBuffer *buffer = empty_buffer(&alone, 0);
    push(buffer, QUEUES + 3, 0); /* shares queue 3 */
    push(buffer, 3, 1);
    push(buffer, 4, 2);
    push(buffer, 2 * QUEUES + 1, 3); /* queue 1 */
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(pop(buffer), want[i]);
}
END_TEST

START_TEST(each_queue_has_its_places) {
    Alone alone;
    PrioritizationBuffer *buffer = empty_buffer(&alone, 0);
    MemMessage of_full = request(1, 9), of_other = request(2, 9);
    for (uint32_t i = 0; i < PLACES; i++)
        push(buffer, 1, i);
    ck_assert(!prioritization_has_place(buffer, &of_full));
    ck_assert(prioritization_has_place(buffer, &of_other));
    pop(buffer);
    ck_assert(prioritization_has_place(buffer, &of_full));
}
END_TEST

START_TEST(all_queues_together_may_be_limited) {
    Alone alone;
    PrioritizationBuffer *buffer = empty_buffer(&alone, 3);
    MemMessage m = request(5, 9);
    for (uint32_t i = 0; i < 3; i++)
        push(buffer, i, i);
    ck_assert(!prioritization_has_place(buffer, &m));
    pop(buffer);
    ck_assert(prioritization_has_place(buffer, &m));
}
END_TEST

/* Numbers grow, so each warp's must come out growing; and whoever comes out has no lower warp waiting. */
START_TEST(order_of_each_warp_is_kept_and_nothing_is_lost) {
    Alone alone;
    PrioritizationBuffer *buffer = empty_buffer(&alone, 0);
    Random random = {5};
    uint64_t last[QUEUES] = {0}, waiting[QUEUES] = {0}, number = 0, popped = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t warp = (uint32_t)random_below(&random, QUEUES);
        MemMessage m = request(warp, ++number);
        if (random_below(&random, 2) && prioritization_has_place(buffer, &m)) {
            push(buffer, warp, number);
            waiting[warp]++;
        }
        if (!buffer->count || random_below(&random, 2)) continue;
        uint32_t of = prioritization_next(buffer)->warp;
        for (uint32_t lower = 0; lower < of; lower++)
            ck_assert_uint_eq(waiting[lower], 0);
        uint64_t got = pop(buffer);
        ck_assert_uint_gt(got, last[of]);
        last[of] = got;
        waiting[of]--;
        popped++;
    }
    ck_assert_uint_gt(popped, 5000);
    ck_assert_uint_eq(buffer->arrivals, popped + buffer->count);
}
END_TEST

START_TEST(only_requests_that_want_an_answer_are_due_one) {
    Alone alone;
    PrioritizationBuffer *buffer = empty_buffer(&alone, 0);
    MemMessage posted = posted_write_request(0, LINE);
    push(buffer, 1, 0);
    push(buffer, 3, 1);
    prioritization_push(buffer, &posted);
    ck_assert_uint_eq(prioritization_answers_due(buffer), 2);
}
END_TEST

/* ---- In front of the tags ---- */

static CacheRig rig_with(const char *parameters) {
    return cache_rig((CacheBench){.class = "L1", .cache = parameters});
}

static void send(CacheRig *rig, uint64_t cycle, uint32_t warp, uint64_t number) {
    memory_driver_send(rig->driver, cycle, request(warp, number));
}

static void expect_below(const CacheRig *rig, uint32_t count, const uint64_t *numbers) {
    ck_assert_uint_eq(rig_arrivals(rig), count);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(rig_arrival(rig, i)->message.address / LINE, numbers[i]);
}

START_TEST(it_knows_whose_requests_it_holds) {
    Alone alone;
    PrioritizationBuffer *buffer = empty_buffer(&alone, 0);
    push(buffer, 1, 0);
    push(buffer, 1 + QUEUES, 1); /* in the same queue */
    ck_assert(prioritization_holds(buffer, 0, 1));
    ck_assert(!prioritization_holds(buffer, 1, 1));
    ck_assert(!prioritization_holds(buffer, 0, 1 + 2 * QUEUES));
    ck_assert(!prioritization_holds(buffer, 0, 2));
    pop(buffer);
    ck_assert(!prioritization_holds(buffer, 0, 1));
    ck_assert(prioritization_holds(buffer, 0, 1 + QUEUES));
    pop(buffer);
    ck_assert(!prioritization_holds(buffer, 0, 1 + QUEUES));
}
END_TEST

START_TEST(empty_buffer_costs_no_cycle) {
    CacheRig rig = rig_with("prioritization_places=32");
    ck_assert_int_eq(rig_time(&rig, request(7, 0)), RIG_MISS);
    ck_assert_int_eq(rig_time(&rig, request(7, 0)), RIG_HIT);
    ck_assert_int_eq(rig_time(&rig, write_request(0, 32)), RIG_MISS);
    ck_assert_uint_eq(rig_stat(&rig, "prioritization_overtakes"), 0);
    rig_free(&rig);
}
END_TEST

/* Miss 0 has the MSHR while the others come; 6 comes when the last but one has it. */
START_TEST(misses_go_below_by_warp_and_in_order_within_a_warp) {
    static const uint32_t warp[] = {5, 5, 2, 5, 2, 0};
    static const char *const parameters[] = {"mshrs=1", "mshrs=1 prioritization_places=32"};
    static const uint64_t want[2][7] = {{0, 1, 2, 3, 4, 5, 6}, {0, 5, 2, 4, 1, 6, 3}};
    CacheRig rig = rig_with(parameters[_i]);
    uint64_t start = rig_now(&rig) + 1;
    for (uint32_t i = 0; i < 6; i++)
        send(&rig, start + i, warp[i], i);
    send(&rig, start + 7 + 4 * (RIG_MISS - 8), 2, 6); /* the MSHR is free again 23 cycles after a lookup */
    rig_run(&rig);
    expect_below(&rig, 7, want[_i]);
    ck_assert_uint_eq(rig_stat(&rig, "prioritization_overtakes"), _i ? 4 : 0); /* 5, 2, 4 and 6 */
    rig_free(&rig);
}
END_TEST

static void send_hit(CacheRig *rig, uint64_t cycle, uint32_t warp, uint32_t token) {
    memory_driver_send(rig->driver, cycle, of_token(request(warp, 0), token));
}

/* Line 0 is there; misses 1 and 2, of warp 5, want the only MSHR. */
START_TEST(hit_of_a_lower_warp_passes_a_waiting_miss_and_that_of_a_higher_warp_does_not) {
    CacheRig rig = rig_with("mshrs=1 prioritization_places=32");
    rig_time(&rig, request(5, 0));
    uint64_t start = rig_now(&rig) + 1;
    send(&rig, start, 5, 1);
    send(&rig, start + 1, 5, 2);
    send_hit(&rig, start + 2, 9, 100);
    send_hit(&rig, start + 3, 4, 101);
    send_hit(&rig, start + 4, 5, 102); /* behind the miss of its own warp */
    rig_run(&rig);
    ck_assert_uint_eq(rig_answered(&rig, 101), start + 3 + RIG_HIT);
    /* The miss gets the MSHR when the first is answered, one cycle before the answer arrives. */
    ck_assert_uint_eq(rig_answered(&rig, 102), start + RIG_MISS + 1);
    ck_assert_uint_eq(rig_answered(&rig, 100), start + RIG_MISS + 2);
    rig_free(&rig);
}
END_TEST

/* The cache has nothing else to do when the hit comes: nothing but its arrival wakes it. */
START_TEST(hit_of_a_lower_warp_that_comes_long_after_a_waiting_miss_passes_it_at_once) {
    CacheRig rig = rig_with("mshrs=1 prioritization_places=32");
    rig_time(&rig, request(5, 0));
    uint64_t start = rig_now(&rig) + 1, late = start + RIG_DELAY + 6;
    send(&rig, start, 5, 1);
    send(&rig, start + 1, 5, 2);
    send_hit(&rig, late, 4, 100);
    rig_run(&rig);
    ck_assert_uint_lt(late + RIG_HIT, start + RIG_MISS);
    ck_assert_uint_eq(rig_answered(&rig, 100), late + RIG_HIT);
    rig_free(&rig);
}
END_TEST

START_TEST(request_without_a_place_holds_back_what_comes_behind_it) {
    static const char *const parameters[] = {"mshrs=1 prioritization_places=1",
                                             "mshrs=1 prioritization_places=32 prioritization_total=1"};
    CacheRig rig = rig_with(parameters[_i]);
    rig_time(&rig, request(5, 0));
    uint64_t start = rig_now(&rig) + 1;
    send(&rig, start, 5, 1);
    send(&rig, start + 1, 5, 2);       /* has the place */
    send(&rig, start + 2, 5, 3);       /* has none */
    send_hit(&rig, start + 3, 2, 100); /* would have one in its own queue */
    rig_run(&rig);
    /* 2 leaves when 1 is answered, and 3 joins in the next cycle, the hit in the one after that. Where there
     * is one place in all, 3 has it until 2 is answered: RIG_MISS less the way to the tags and the last link.
     */
    uint64_t leaves = start + RIG_MISS - 1, answered = leaves + RIG_MISS - RIG_DELAY - 2;
    ck_assert_uint_eq(rig_answered(&rig, 100), _i ? answered + 2 : leaves + 3);
    rig_free(&rig);
}
END_TEST

/* ---- Bypass on associativity stalls ---- */

/* Two reads and a local write want the only way of a set while the first is in flight. */
static CacheRig crowd(const char *parameters) {
    CacheRig rig = cache_rig((CacheBench){.class = "L1", .cache = parameters});
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, read_request(0, LINE));
    memory_driver_send(rig.driver, start + 1, read_request(SET, LINE));
    memory_driver_send(rig.driver, start + 2, of_local_memory(write_request(2 * SET, LINE)));
    memory_driver_send(rig.driver, start + 3, read_request(0, LINE)); /* joins the first, as ever */
    rig_run(&rig);
    return rig;
}

START_TEST(request_whose_set_is_all_reserved_passes_l1_by_at_once_where_policies_say_so) {
    CacheRig rig = crowd("ways=1 size=8KiB bypass_line_fails=true");
    expect_below(&rig, 3, (uint64_t[]){0, SET / LINE, 2 * SET / LINE});
    ck_assert_uint_eq(rig_arrival(&rig, 1)->cycle, rig_arrival(&rig, 0)->cycle + 1);
    ck_assert_uint_eq(rig_stat(&rig, "line_fail_bypasses"), 2);
    ck_assert_uint_eq(rig_stat(&rig, "read_bypasses"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "local_write_bypasses"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "line_fails"), 0);
    ck_assert_uint_eq(rig_stat(&rig, "read_merges"), 1);
    ck_assert_int_eq(rig_time(&rig, read_request(0, LINE)), RIG_HIT); /* the line was left alone */
    ck_assert_int_eq(rig_time(&rig, read_request(SET, LINE)), RIG_MISS);
    rig_free(&rig);
}
END_TEST

START_TEST(request_whose_set_is_all_reserved_waits_otherwise) {
    CacheRig rig = crowd("ways=1 size=8KiB");
    ck_assert_uint_ge(rig_arrival(&rig, 1)->cycle, rig_arrival(&rig, 0)->cycle + RIG_RESPONDER);
    ck_assert_uint_eq(rig_stat(&rig, "bypasses") + rig_stat(&rig, "line_fail_bypasses"), 0);
    ck_assert_uint_eq(rig_stat(&rig, "line_fails"), 2);
    rig_free(&rig);
}
END_TEST

START_TEST(other_reservation_fails_do_not_bypass) {
    CacheRig rig = crowd("mshrs=1 bypass_line_fails=true");
    ck_assert_uint_eq(rig_stat(&rig, "bypasses"), 0);
    ck_assert_uint_gt(rig_stat(&rig, "mshr_entry_fails"), 0);
    rig_free(&rig);
}
END_TEST

/* Two MSHRs: the first read has one and the only way of its set, the second bypasses, the others want lines of
 * other sets. */
static CacheRig crowd_of_reads(const char *parameters, uint64_t *start) {
    CacheRig rig = cache_rig((CacheBench){.class = "L1", .cache = parameters});
    uint64_t line[] = {0, SET, LINE, 2 * LINE};
    *start = rig_now(&rig) + 1;
    for (uint64_t i = 0; i < 4; i++)
        memory_driver_send(rig.driver, *start + (i ? 4 + i : 0), read_request(line[i], LINE));
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "line_fail_bypasses"), 1);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->cycle, rig_arrival(&rig, 0)->cycle + 5);
    return rig;
}

START_TEST(read_that_bypasses_holds_an_mshr_until_its_answer_comes_where_the_cache_says_so) {
    uint64_t start;
    CacheRig rig = crowd_of_reads("mshrs=2 ways=1 size=8KiB bypass_line_fails=true bypassed_hold_mshrs=true",
                                  &start);
    ck_assert_uint_eq(rig_stat(&rig, "mshr_entry_fails"), 2);
    ck_assert_uint_eq(rig_arrival(&rig, 2)->cycle, start + RIG_MISS - 1 + 2);
    ck_assert_uint_eq(rig_arrival(&rig, 3)->cycle, start + 5 + RIG_MISS - 1 + 2);
    rig_free(&rig);
}
END_TEST

START_TEST(read_that_bypasses_holds_no_mshr_otherwise) {
    uint64_t start;
    CacheRig rig = crowd_of_reads("mshrs=2 ways=1 size=8KiB bypass_line_fails=true", &start);
    ck_assert_uint_eq(rig_stat(&rig, "mshr_entry_fails"), 1);
    ck_assert_uint_eq(rig_arrival(&rig, 2)->cycle, rig_arrival(&rig, 1)->cycle + 1);
    ck_assert_uint_eq(rig_arrival(&rig, 3)->cycle, start + RIG_MISS - 1 + 2);
    rig_free(&rig);
}
END_TEST

START_TEST(read_that_would_bypass_waits_for_an_mshr_that_it_is_to_hold) {
    CacheRig rig = crowd("mshrs=1 ways=1 size=8KiB bypass_line_fails=true bypassed_hold_mshrs=true");
    ck_assert_uint_eq(rig_stat(&rig, "read_bypasses"), 0);
    ck_assert_uint_eq(rig_stat(&rig, "mshr_entry_fails"), 2); /* of the reads, not of the write */
    ck_assert_uint_ge(rig_arrival(&rig, 1)->cycle, rig_arrival(&rig, 0)->cycle + RIG_RESPONDER);
    rig_free(&rig);
}
END_TEST

/* ---- All of it at once ---- */

static void send_mixture(CacheRig *rig) {
    Random random = {11};
    for (uint32_t i = 0; i < 3000; i++) {
        uint64_t address = random_below(&random, 300) * LINE + random_below(&random, 4) * 32,
                 kind = random_below(&random, 8);
        MemMessage m = kind < 5    ? read_request(address, 32)
                       : kind == 5 ? write_request(address, 32)
                       : kind == 6 ? posted_write_request(address, 32)
                                   : of_local_memory(write_request(address + (1 << 20), 32));
        m = of_warp(m, 0, (uint32_t)random_below(&random, 48), (uint32_t)i);
        memory_driver_send(rig->driver, i + random_below(&random, 30), of_token(m, i));
    }
}

/* With and without a re-execution queue behind it. */
static CacheRig mixture(int with_queue, TickOrder order, uint64_t order_seed, uint64_t awake_until) {
    CacheRig rig = cache_rig((CacheBench){
        .class = "L1",
        .cache = with_queue ? "mshrs=6 merges=2 miss_queue=3 prioritization_places=5 size=2KiB ways=2 "
                              "prioritization_queues=40 reexecution_entries=8"
                            : "mshrs=6 merges=2 miss_queue=3 prioritization_places=5 size=2KiB ways=2 "
                              "prioritization_queues=40 prioritization_total=90 bypass_line_fails=true "
                              "bypassed_hold_mshrs=true",
        .below = "capacity=12",
        .driver = "outstanding=60",
        .order = order,
        .order_seed = order_seed,
        .quantum = awake_until != 0});
    send_mixture(&rig);
    rig_run_awake(&rig, awake_until);
    ck_assert_uint_gt(rig_stat(&rig, "prioritization_overtakes"), 300);
    ck_assert_uint_gt(rig_stat(&rig, with_queue ? "reexecution_pushes" : "line_fail_bypasses"), 30);
    return rig;
}

MIXTURE_TESTS(mixture)

Suite *prioritization_buffer_suite(void) {
    Suite *suite = suite_create("prioritization_buffer");
    TCase *tests = tcase_create("prioritization_buffer");
    tcase_add_test(tests, lowest_queue_that_is_not_empty_goes_first_chosen_anew_for_each_request);
    tcase_add_test(tests, warp_has_the_queue_of_its_number_modulo_the_queues);
    tcase_add_test(tests, each_queue_has_its_places);
    tcase_add_test(tests, all_queues_together_may_be_limited);
    tcase_add_test(tests, order_of_each_warp_is_kept_and_nothing_is_lost);
    tcase_add_test(tests, only_requests_that_want_an_answer_are_due_one);
    tcase_add_test(tests, it_knows_whose_requests_it_holds);
    tcase_add_test(tests, empty_buffer_costs_no_cycle);
    tcase_add_loop_test(tests, misses_go_below_by_warp_and_in_order_within_a_warp, 0, 2);
    tcase_add_test(tests, hit_of_a_lower_warp_passes_a_waiting_miss_and_that_of_a_higher_warp_does_not);
    tcase_add_test(tests, hit_of_a_lower_warp_that_comes_long_after_a_waiting_miss_passes_it_at_once);
    tcase_add_loop_test(tests, request_without_a_place_holds_back_what_comes_behind_it, 0, 2);
    tcase_add_test(tests, request_whose_set_is_all_reserved_passes_l1_by_at_once_where_policies_say_so);
    tcase_add_test(tests, request_whose_set_is_all_reserved_waits_otherwise);
    tcase_add_test(tests, other_reservation_fails_do_not_bypass);
    tcase_add_test(tests, read_that_bypasses_holds_an_mshr_until_its_answer_comes_where_the_cache_says_so);
    tcase_add_test(tests, read_that_bypasses_holds_no_mshr_otherwise);
    tcase_add_test(tests, read_that_would_bypass_waits_for_an_mshr_that_it_is_to_hold);
    ADD_MIXTURE_TESTS(tests, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
