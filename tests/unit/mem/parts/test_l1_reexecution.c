/* What Mascar (section III) asks of an L1: a saturation flag, refusal of misses, and the re-execution queue.
 * Timing of the rig: a request sent in cycle s is looked up in s + 1 + DELAY; a hit is answered then and is
 * back at s + RIG_HIT; a miss is below at s + BELOW. */
#include "core/sim/base/random.h"
#include "mem/cache/cache.h"
#include "mem/protocol/caches.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

#define ALL (~0ull)

enum {
    LINE = 128,
    LOOKUP = 1 + RIG_DELAY,
    BELOW = LOOKUP + 2, /* through the miss queue and a link */
    SATURATION = CACHE_EVENTS_END,
    TAKEN,
    MEMORY_ACCESS
};

static CacheRig rig_of(const char *parameters) {
    return cache_rig((CacheBench){.class = "L1", .cache = parameters, .quantum = 1});
}

/* A read of a line by a warp; every one is another instruction. */
static MemMessage read_by(uint32_t warp, uint32_t line) {
    return of_token(of_warp(read_request(line * LINE, LINE), 0, warp, 0), warp * 1000 + line);
}

static MemMessage write_by(uint32_t warp, uint32_t line) {
    return of_token(of_warp(write_request(line * LINE, LINE), 0, warp, 0), warp * 1000 + 500 + line);
}

static uint64_t *memory_watched(CacheRig *rig) {
    const Field *f = object_field(rig->cache, FIELD_STATE, "memory_watched");
    ck_assert(f && f->knob);
    return (uint64_t *)(void *)((char *)rig->cache + f->offset);
}

static void set_may_miss(CacheRig *rig, uint64_t warps) {
    rig_set_warps(rig, "may_miss", warps);
}

/* Time passes also when nothing moves. */
static void run_to(CacheRig *rig, uint64_t cycle) {
    while (rig->sim->now < cycle * rig->cache->period) {
        object_wake(rig->driver);
        sim_run(rig->sim, rig->sim->now + rig->cache->period);
    }
    sim_settle(rig->sim);
}

static uint64_t answered(const CacheRig *rig, MemMessage m) {
    return rig_answered(rig, m.token);
}

static uint64_t line_below(const CacheRig *rig, uint32_t i) {
    return rig_arrival(rig, i)->message.address / LINE;
}

/* Line 9 is there. In `start`: warp 0 takes the only MSHR, warp 1 misses, warp 2 would hit. */
static uint64_t hit_behind_a_miss(CacheRig *rig) {
    rig_time(rig, read_by(7, 9));
    uint64_t start = rig_now(rig) + 1;
    memory_driver_send(rig->driver, start, read_by(0, 1));
    memory_driver_send(rig->driver, start + 1, read_by(1, 2));
    memory_driver_send(rig->driver, start + 2, read_by(2, 9));
    rig_run(rig);
    return start;
}

START_TEST(hit_passes_a_miss_that_waits_for_an_mshr) {
    CacheRig rig = rig_of("mshrs=1 reexecution_entries=4");
    uint64_t start = hit_behind_a_miss(&rig);
    ck_assert_uint_eq(answered(&rig, read_by(0, 1)), start + RIG_MISS);
    ck_assert_uint_eq(answered(&rig, read_by(2, 9)), start + 2 + RIG_HIT);
    /* The fill has come one cycle before its answer is back; the MSHR is free then. */
    ck_assert_uint_eq(answered(&rig, read_by(1, 2)), start + 2 * RIG_MISS - 1 - LOOKUP);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_pushes"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "hits_under_miss"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "mshr_entry_fails"), 0); /* nothing stood at the tags */
    rig_free(&rig);
}
END_TEST

START_TEST(without_the_queue_the_hit_waits_behind_the_miss) {
    CacheRig rig = rig_of(_i ? "mshrs=1 reexecution_entries=4 reexecution=false" : "mshrs=1");
    uint64_t start = hit_behind_a_miss(&rig);
    ck_assert_uint_gt(answered(&rig, read_by(2, 9)), start + RIG_MISS);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_pushes"), 0);
    ck_assert_uint_eq(rig_stat(&rig, "mshr_entry_fails"), 1);
    rig_free(&rig);
}
END_TEST

/* Fig. 7: one MSHR, taken by an earlier request whose line will evict that of W1; W0, W1, W2 and W3 come one
 * after the other. (a) W0 stalls, and W1 finds its line gone. (b) W0 goes into the queue, which has one
 * entry, W1 hits under it, W2 must wait, W3 behind it. */
START_TEST(figure_7) {
    const char *parameters = _i ? "size=512 ways=1 mshrs=1 allocate=fill reexecution_entries=1"
                                : "size=512 ways=1 mshrs=1 allocate=fill";
    CacheRig rig = rig_of(parameters);
    rig_time(&rig, read_by(7, 8));
    uint64_t start = rig_now(&rig) + 1;
    const MemMessage earlier = read_by(9, 12),
                     w[] = {read_by(0, 1), read_by(1, 8), read_by(2, 2), read_by(3, 3)};
    memory_driver_send(rig.driver, start, earlier);
    for (uint32_t i = 0; i < 4; i++)
        memory_driver_send(rig.driver, start + 1 + i, w[i]);
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "hits"), _i ? 1 : 0);
    ck_assert_uint_eq(rig_stat(&rig, "misses"), 1 + (_i ? 4 : 5));
    ck_assert_uint_eq(rig_arrivals(&rig), 1 + (_i ? 4 : 5)); /* what W1 has lost is fetched again */
    if (_i) {
        ck_assert_uint_eq(answered(&rig, w[1]), start + 2 + RIG_HIT);
        ck_assert_uint_gt(rig_stat(&rig, "reexecution_full_stall_cycles"), RIG_RESPONDER - 10);
        for (uint32_t i = 2; i < 5; i++) /* the earlier request, W0, W2, W3 */
            ck_assert_uint_eq(line_below(&rig, i), i - 1);
    } else {
        ck_assert_uint_gt(answered(&rig, w[1]), start + 3 * RIG_RESPONDER);
    }
    rig_free(&rig);
}
END_TEST

/* Warp 2 finds the MSHR taken and the queue full; behind it stands a hit. */
START_TEST(access_for_which_there_is_no_place_stalls_all_behind_it_until_there_is_one) {
    CacheRig rig = rig_of("mshrs=1 reexecution_entries=1");
    rig_time(&rig, read_by(7, 9));
    uint64_t start = rig_now(&rig) + 1;
    for (uint32_t warp = 0; warp < 3; warp++)
        memory_driver_send(rig.driver, start + warp, read_by(warp, warp));
    memory_driver_send(rig.driver, start + 3, read_by(3, 9));
    rig_run(&rig);
    /* Warp 1 is taken when the fill of warp 0 comes, in the cycle after which its place is free; warp 2 is
     * put into it in the next, and the hit is looked up in the one after. */
    uint64_t fill = start + RIG_MISS - 1;
    ck_assert_uint_eq(answered(&rig, read_by(3, 9)), fill + 2 + 1);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_pushes"), 2);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_full_stalls"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_full_stall_cycles"), fill + 1 - (start + 2 + LOOKUP));
    rig_free(&rig);
}
END_TEST

START_TEST(misses_of_warps_that_may_not_are_refused_and_their_hits_go_on) {
    CacheRig rig = rig_of("reexecution_entries=4");
    rig_time(&rig, read_by(7, 9));
    set_may_miss(&rig, 1);
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, read_by(1, 1));
    memory_driver_send(rig.driver, start + 1, write_by(2, 2));
    memory_driver_send(rig.driver, start + 2, read_by(3, 9));
    memory_driver_send(rig.driver, start + 3, read_by(0, 3));
    run_to(&rig, start + 200);
    ck_assert_uint_eq(answered(&rig, read_by(3, 9)), start + 2 + RIG_HIT);
    ck_assert_uint_eq(answered(&rig, read_by(0, 3)), start + 3 + RIG_MISS);
    ck_assert_uint_eq(rig_arrivals(&rig), 2);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_refusals"), 2);
    set_may_miss(&rig, 7);
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrivals(&rig), 4);
    rig_free(&rig);
}
END_TEST

/* A line that is in flight is not there yet. */
START_TEST(warps_that_may_not_miss_do_not_join_a_line_that_is_under_way) {
    CacheRig rig = rig_of("reexecution_entries=4");
    set_may_miss(&rig, 1);
    memory_driver_send(rig.driver, 10, read_by(0, 1));
    memory_driver_send(rig.driver, 11, read_by(1, 1));
    rig_run(&rig);
    ck_assert_uint_eq(rig_stat(&rig, "merges"), 0);
    ck_assert_uint_eq(rig_stat(&rig, "hits"), 1); /* tried again when it had come */
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    rig_free(&rig);
}
END_TEST

START_TEST(without_a_queue_a_refused_miss_stands_at_the_tags) {
    CacheRig rig = rig_of("");
    rig_time(&rig, read_by(7, 9));
    set_may_miss(&rig, 1);
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, read_by(1, 1));
    memory_driver_send(rig.driver, start + 1, read_by(0, 9));
    run_to(&rig, start + 100);
    ck_assert_uint_eq(answered(&rig, read_by(0, 9)), 0);
    ck_assert_uint_eq(rig_stat(&rig, "refused_stall_cycles"), 100 - LOOKUP);
    set_may_miss(&rig, 3);
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->cycle, start + 100 + 2);
    ck_assert_uint_gt(answered(&rig, read_by(0, 9)), start + 100);
    rig_free(&rig);
}
END_TEST

/* Three refused accesses, whose retries fail, one per cycle; then the warp of one of them becomes the owner.
 */
START_TEST(queue_turns_to_the_access_of_the_owner_wherever_it_is) {
    CacheRig rig = rig_of("reexecution_entries=4");
    set_may_miss(&rig, 0);
    for (uint32_t warp = 0; warp < 3; warp++)
        memory_driver_send(rig.driver, 10 + warp, read_by(warp, warp));
    run_to(&rig, 100);
    uint32_t head = l1_reexecution_head(rig.cache), owner = (head + (uint32_t)_i) % 3;
    set_may_miss(&rig, 1u << owner);
    run_to(&rig, 200);
    ck_assert_uint_eq(rig_arrivals(&rig), 1);
    ck_assert_uint_eq(line_below(&rig, 0), owner);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->cycle, 100 + (uint32_t)_i + 2);
    set_may_miss(&rig, 7);
    rig_run(&rig);
    rig_free(&rig);
}
END_TEST

START_TEST(head_turns_by_one_in_each_cycle) {
    CacheRig rig = rig_of("reexecution_entries=4");
    set_may_miss(&rig, 0);
    ck_assert_uint_eq(l1_reexecution_head(rig.cache), NO_WARP_WAITS);
    for (uint32_t warp = 0; warp < 3; warp++)
        memory_driver_send(rig.driver, 10 + warp, read_by(warp, warp));
    run_to(&rig, 50);
    uint32_t first = l1_reexecution_head(rig.cache);
    for (uint32_t i = 1; i < 7; i++) {
        run_to(&rig, 50 + i);
        ck_assert_uint_eq(l1_reexecution_head(rig.cache), (first + i) % 3);
    }
    set_may_miss(&rig, 7);
    rig_run(&rig);
    rig_free(&rig);
}
END_TEST

/* "If a store is followed by a load to the same address, they are serviced in sequential order". */
START_TEST(load_does_not_pass_a_store_of_its_warp) {
    CacheRig rig = rig_of("reexecution_entries=4");
    rig_time(&rig, read_by(7, 1));
    set_may_miss(&rig, 1);
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, write_by(1, 1));
    memory_driver_send(rig.driver, start + 1, read_by(1, 1)); /* would hit */
    run_to(&rig, start + 100);
    ck_assert_uint_eq(rig_stat(&rig, "hits"), 0);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_pushes"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_order_stall_cycles"), 100 - 1 - LOOKUP);
    set_may_miss(&rig, 3);
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.kind, MEM_WRITE);
    ck_assert_uint_eq(rig_arrival(&rig, 2)->message.kind, MEM_READ); /* the store had evicted the line */
    rig_free(&rig);
}
END_TEST

START_TEST(warp_has_one_instruction_in_the_queue_with_all_its_accesses) {
    CacheRig rig = rig_of("reexecution_entries=8");
    set_may_miss(&rig, 1);
    for (uint32_t i = 0; i < 3; i++)
        memory_driver_send(rig.driver, 10 + i, of_token(read_by(1, i), 77));
    memory_driver_send(rig.driver, 13, read_by(1, 5));
    memory_driver_send(rig.driver, 14, read_by(2, 6)); /* stands behind it */
    run_to(&rig, 100);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_pushes"), 3);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_order_stalls"), 1);
    set_may_miss(&rig, 3);
    run_to(&rig, 200);
    ck_assert_uint_eq(rig_arrivals(&rig), 4); /* the second instruction was let in when the first had left */
    ck_assert_uint_eq(line_below(&rig, 3), 5);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_pushes"), 4); /* warp 2 */
    set_may_miss(&rig, 7);
    rig_run(&rig);
    rig_free(&rig);
}
END_TEST

START_TEST(load_that_hits_passes_a_load_of_its_warp) {
    CacheRig rig = rig_of("reexecution_entries=8");
    rig_time(&rig, read_by(7, 9));
    set_may_miss(&rig, 1);
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, read_by(1, 1));
    memory_driver_send(rig.driver, start + 1, read_by(1, 9));
    run_to(&rig, start + 100);
    ck_assert_uint_eq(answered(&rig, read_by(1, 9)), start + 1 + RIG_HIT);
    set_may_miss(&rig, 3);
    rig_run(&rig);
    rig_free(&rig);
}
END_TEST

/* 8 MSHRs: saturated with 7, and until 5 are left. */
START_TEST(saturation_is_told_in_the_cycle_in_which_it_changes) {
    CacheRig rig = rig_of("mshrs=8 saturation_free=125 saturation_relief=125");
    rig_subscribe(&rig, 1u << SATURATION, NO_ANSWER);
    for (uint32_t i = 0; i < 7; i++)
        memory_driver_send(rig.driver, 10, read_by(i, i));
    rig_run(&rig);
    ck_assert_uint_eq(rig.recorder->count, 2);
    ck_assert_int_eq(rig.recorder->record[0].arguments[0], 1);
    ck_assert_uint_eq(rig.recorder->record[0].cycle, 10 + 6 + LOOKUP); /* the seventh, sent in cycle 16 */
    ck_assert_int_eq(rig.recorder->record[1].arguments[0], 0);
    /* The second answer: back in 11 + RIG_MISS, sent a cycle before. */
    ck_assert_uint_eq(rig.recorder->record[1].cycle, 11 + RIG_MISS - 1);
    ck_assert_uint_eq(rig_stat(&rig, "saturations"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "saturated_cycles"),
                      rig.recorder->record[1].cycle - rig.recorder->record[0].cycle);
    rig_free(&rig);
}
END_TEST

/* The refused access waits in the queue, in the prioritization buffer, or at the tags. */
START_TEST(knobs_matter_to_a_cache_while_accesses_wait_in_it) {
    static const char *const places[] = {"reexecution_entries=8", "prioritization_places=8", ""};
    CacheRig rig = rig_of(places[_i]);
    bool (*knobs_set)(SimObject *) = rig.cache->class->knobs_set;
    set_may_miss(&rig, 1);
    ck_assert(!knobs_set(rig.cache));
    memory_driver_send(rig.driver, 10, read_by(1, 0));
    run_to(&rig, 100);
    ck_assert(knobs_set(rig.cache));
    set_may_miss(&rig, ALL);
    rig_run(&rig);
    ck_assert(answered(&rig, read_by(1, 0)) > 100);
    ck_assert(!knobs_set(rig.cache));
    rig_free(&rig);
}
END_TEST

static void note_warp(void *context, const Link *by, const void *message) {
    uint64_t *warps = context;
    (void)by;
    *warps = *warps << 8 | ((const MemMessage *)message)->warp;
}

/* The queue has one place, for the miss of warp 1; those of warps 2, 3 and 1 wait at the tags. */
START_TEST(what_is_in_the_queue_is_no_longer_arriving) {
    CacheRig rig = rig_of("reexecution_entries=1");
    uint64_t warps = 0;
    set_may_miss(&rig, 0);
    for (uint32_t i = 1; i <= 3; i++)
        memory_driver_send(rig.driver, 10 + i, read_by(i, i));
    memory_driver_send(rig.driver, 14, read_by(1, 4));
    run_to(&rig, 100);
    l1_visit_arriving(rig.cache, note_warp, &warps);
    ck_assert_uint_eq(warps, 2 << 16 | 3 << 8 | 1);
    set_may_miss(&rig, 1 << 1); /* it leaves; the miss of warp 2 takes its place */
    run_to(&rig, 110);
    warps = 0;
    l1_visit_arriving(rig.cache, note_warp, &warps);
    ck_assert_uint_eq(warps, 3 << 8 | 1);
    set_may_miss(&rig, ALL);
    rig_run(&rig);
    warps = 0;
    l1_visit_arriving(rig.cache, note_warp, &warps);
    ck_assert_uint_eq(warps, 0);
    rig_free(&rig);
}
END_TEST

/* Warp 1 has three accesses in the queue, or in the prioritization buffer; warp 2 one. */
START_TEST(warp_that_may_miss_is_told_of_when_its_last_access_is_taken) {
    CacheRig rig = rig_of(_i ? "prioritization_places=8" : "reexecution_entries=8");
    rig_subscribe(&rig, 1u << TAKEN, NO_ANSWER);
    set_may_miss(&rig, 1);
    for (uint32_t i = 0; i < 3; i++)
        memory_driver_send(rig.driver, 10 + i, of_token(read_by(1, i), 77));
    memory_driver_send(rig.driver, 13, read_by(2, 6));
    run_to(&rig, 100);
    ck_assert_uint_eq(rig.recorder->count, 0);
    ck_assert(l1_holds(rig.cache, 0, 1));
    ck_assert(!l1_holds(rig.cache, 0, 3));
    set_may_miss(&rig, 2);
    run_to(&rig, 200);
    ck_assert_uint_eq(rig.recorder->count, 1);
    ck_assert_int_eq(rig.recorder->record[0].arguments[0], 1);
    ck_assert_uint_eq(rig.recorder->record[0].cycle, rig_arrival(&rig, 2)->cycle - 2);
    ck_assert(!l1_holds(rig.cache, 0, 1));
    ck_assert(l1_holds(rig.cache, 0, 2));
    set_may_miss(&rig, ALL); /* all may: no event */
    rig_run(&rig);
    ck_assert_uint_eq(rig.recorder->count, 1);
    rig_free(&rig);
}
END_TEST

/* Of the watched warps 1, 2 and 3, warp 2 hits; then one of warp 1 is taken, by kind a read that misses, one
 * that joins a line on its way, a write of global memory, though the line is there, or a read that bypasses.
 * Before that the unwatched warp 0 misses, behind it the watched warp 3. */
START_TEST(first_watched_warp_that_uses_what_lies_below_is_told_of_once) {
    MemMessage kinds[] = {read_by(1, 1), read_by(1, 5), write_by(1, 9), read_by(1, 9)};
    kinds[3].flags |= MEM_BYPASS_L1;
    CacheRig rig = rig_of("");
    rig_time(&rig, read_by(7, 9));
    rig_subscribe(&rig, 1u << MEMORY_ACCESS, NO_ANSWER);
    uint64_t *watched = memory_watched(&rig);
    ck_assert_uint_eq(*watched, 0);
    *watched = 0xe;
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, read_by(0, 5));
    memory_driver_send(rig.driver, start + 1, read_by(2, 9));
    memory_driver_send(rig.driver, start + 2, kinds[_i]);
    memory_driver_send(rig.driver, start + 3, read_by(3, 3));
    run_to(&rig, start + 2 + LOOKUP);
    ck_assert_uint_eq(rig.recorder->count, 0);
    ck_assert_uint_eq(*watched, 0xe);
    run_to(&rig, start + 2 + LOOKUP + 1);
    ck_assert_uint_eq(rig.recorder->count, 1);
    ck_assert_int_eq(rig.recorder->record[0].arguments[0], 1);
    ck_assert_uint_eq(rig.recorder->record[0].cycle, start + 2 + LOOKUP);
    ck_assert_uint_eq(*watched, 0);
    rig_run(&rig);
    ck_assert_uint_eq(rig.recorder->count, 1);
    rig_free(&rig);
}
END_TEST

/* In the queue because it was refused, or for want of the only MSHR: the event comes when it is taken. */
START_TEST(watched_warp_whose_access_is_not_taken_is_not_told_of) {
    CacheRig rig = rig_of("mshrs=1 reexecution_entries=4");
    rig_subscribe(&rig, 1u << MEMORY_ACCESS, NO_ANSWER);
    uint64_t *watched = memory_watched(&rig);
    *watched = 2;
    set_may_miss(&rig, _i ? 1 : ALL);
    memory_driver_send(rig.driver, 10, read_by(0, 0));
    memory_driver_send(rig.driver, 11, read_by(1, 1));
    run_to(&rig, 10 + RIG_MISS - 2);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_pushes"), 1);
    ck_assert_uint_eq(rig.recorder->count, 0);
    ck_assert_uint_eq(*watched, 2);
    run_to(&rig, 300);
    ck_assert_uint_eq(rig.recorder->count, _i ? 0 : 1);
    set_may_miss(&rig, ALL);
    rig_run(&rig);
    ck_assert_uint_eq(rig.recorder->count, 1);
    ck_assert_uint_eq(rig.recorder->record[0].cycle, rig_arrival(&rig, 1)->cycle - 2);
    ck_assert_uint_eq(*watched, 0);
    rig_free(&rig);
}
END_TEST

/* Warp 1 is refused from its lookup on; what stands behind it, from `start` + 2 + LOOKUP on in the pipeline
 * of RIG_DELAY requests, would hit: an access of warp 2, or of warp 1 itself. */
START_TEST(cycles_with_a_hit_behind_a_stalled_access_of_another_warp_are_counted) {
    CacheRig rig = rig_of("watch_blocked_hits=true");
    rig_time(&rig, read_by(7, 9));
    set_may_miss(&rig, 1);
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, read_by(1, 1));
    memory_driver_send(rig.driver, start + 1, _i == 2 ? read_by(2, 8) : read_by(_i ? 1 : 2, 9));
    run_to(&rig, start + 100);
    ck_assert_uint_eq(rig_stat(&rig, "blocked_hit_cycles"), _i ? 0 : 100 - LOOKUP);
    set_may_miss(&rig, 7);
    run_to(&rig, start + 200);
    ck_assert_uint_eq(rig_stat(&rig, "blocked_hit_cycles"), _i ? 0 : 100 - LOOKUP);
    rig_run(&rig);
    rig_free(&rig);
}
END_TEST

/* Warp 1 is refused, and the cache asleep, when the hit of warp 2 comes in cycle `start` + 31: into the
 * pipeline, or, of one request, to its end of the link. */
START_TEST(hit_that_comes_late_behind_a_stalled_access_counts_from_its_cycle_on) {
    CacheRig rig = rig_of(_i ? "watch_blocked_hits=true latency=1" : "watch_blocked_hits=true");
    rig_time(&rig, read_by(7, 9));
    set_may_miss(&rig, 1);
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, read_by(1, 1));
    memory_driver_send(rig.driver, start + 30, read_by(2, 9));
    for (uint64_t cycle = 30; cycle < 40; cycle++) {
        run_to(&rig, start + cycle);
        ck_assert_uint_eq(rig_stat(&rig, "blocked_hit_cycles"), cycle < 31 ? 0 : cycle - 31);
    }
    set_may_miss(&rig, 7);
    rig_run(&rig);
    rig_free(&rig);
}
END_TEST

/* Warp 10 fetches line 1, of which no second miss is merged: warp 6 goes into the queue for that, after warp
 * 5, whose misses are not served, and warp 7 waits in front of the full queue. The write of warp 5 that comes
 * before it in the prioritization buffer waits for the same reason, until the fill lets warp 6 leave the
 * queue, and from the next cycle on for the older access of its warp. */
START_TEST(access_in_front_of_a_queue_that_is_no_longer_full_waits_for_its_order_from_the_next_cycle_on) {
    CacheRig rig = rig_of("merges=1 reexecution_entries=2 prioritization_places=4");
    set_may_miss(&rig, ALL ^ 1 << 5);
    uint64_t start = rig_now(&rig) + 1;
    memory_driver_send(rig.driver, start, read_by(10, 1));
    memory_driver_send(rig.driver, start + 1, read_by(5, 2));
    memory_driver_send(rig.driver, start + 2, read_by(6, 1));
    memory_driver_send(rig.driver, start + 3, read_by(7, 1));
    memory_driver_send(rig.driver, start + 9, write_by(5, 3));
    run_to(&rig, start + 200);
    uint64_t left = answered(&rig, read_by(6, 1)) - 1;
    ck_assert_uint_gt(left, start + 12);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_full_stall_cycles"), left + 1 - (start + 3 + LOOKUP));
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_order_stall_cycles"), start + 200 - (left + 1));
    set_may_miss(&rig, ALL);
    rig_run(&rig);
    rig_free(&rig);
}
END_TEST

/* Random requests, while warps that may miss change. */

static void send_mixture(CacheRig *rig, bool posted) {
    Random random = {5};
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t warp = (uint32_t)random_below(&random, 12), line = (uint32_t)random_below(&random, 40);
        cycle += random_below(&random, 5);
        MemMessage m = random_below(&random, 5) ? read_by(warp, line) : write_by(warp, line);
        m.token = i / 3; /* instructions of three accesses */
        if (random_below(&random, 6) == 0) m.flags |= MEM_LOCAL;
        if (posted && m.kind == MEM_WRITE) m.flags |= MEM_POSTED;
        memory_driver_send(rig->driver, cycle, m);
    }
}

/* With writes that want no answer, which do not go into the queue, and without. */
static CacheRig mixture(int posted, TickOrder order, uint64_t order_seed, uint64_t awake_until) {
    static const uint64_t sets[] = {5, ALL, 0xf0, ALL, 0};
    CacheRig rig = cache_rig((CacheBench){.class = "L1",
                                          .cache = "size=4KiB ways=2 mshrs=4 merges=2 miss_queue=3 "
                                                   "bypassed_limit=3 reexecution_entries=6 "
                                                   "watch_blocked_hits=true",
                                          .below = "capacity=12",
                                          .driver = "outstanding=40 refuse_from=3000 refuse_until=3100",
                                          .quantum = 1,
                                          .order = order,
                                          .order_seed = order_seed});
    send_mixture(&rig, posted);
    for (uint64_t cycle = 1; cycle < 20000; cycle++) {
        if (cycle % 40 == 0) set_may_miss(&rig, sets[cycle / 40 % 5]);
        if (awake_until) object_wake(rig.cache);
        run_to(&rig, cycle);
    }
    set_may_miss(&rig, ALL);
    rig_run(&rig);
    ck_assert_uint_gt(rig_stat(&rig, "reexecution_refusals"), 50);
    ck_assert_uint_gt(rig_stat(&rig, "reexecution_pushes"), rig_stat(&rig, "reexecution_refusals") + 50);
    ck_assert_uint_gt(rig_stat(&rig, "reexecution_full_stalls"), 5);
    ck_assert_uint_gt(rig_stat(&rig, "reexecution_order_stalls"), 5);
    ck_assert_uint_gt(rig_stat(&rig, "hits_under_miss"), 50);
    ck_assert_uint_gt(rig_stat(&rig, "blocked_hit_cycles"), 50);
    return rig;
}

MIXTURE_TESTS(mixture)

static void set_entries(CacheRig *rig, uint32_t entries) {
    const Field *f = object_field(rig->cache, FIELD_PARAM, "reexecution_entries");
    ck_assert_ptr_nonnull(f);
    *(uint32_t *)(void *)((char *)rig->cache + f->offset) = entries;
}

/* As after a checkpoint under a longer queue. Warp 0 has the MSHR, 1 and 2 wait for it, 3 and 4 would hit. */
START_TEST(queue_that_is_no_longer_there_is_emptied_before_anything_new_is_looked_up) {
    bool is_there = _i;
    CacheRig rig = rig_of("mshrs=1 reexecution_entries=4");
    rig_time(&rig, read_by(7, 9));
    uint64_t start = rig_now(&rig) + 1, changed = start + 4 + LOOKUP;
    for (uint32_t warp = 0; warp < 3; warp++)
        memory_driver_send(rig.driver, start + warp, read_by(warp, 1 + warp));
    memory_driver_send(rig.driver, start + 3, read_by(3, 9));
    run_to(&rig, changed);
    ck_assert_uint_eq(rig_stat(&rig, "reexecution_pushes"), 2);
    set_entries(&rig, is_there ? 2 : 0);
    memory_driver_send(rig.driver, changed + 1, read_by(4, 9));
    rig_run(&rig);
    ck_assert_uint_eq(answered(&rig, read_by(3, 9)), start + 3 + RIG_HIT);
    /* The fill of the one that left the queue first lets the other go. */
    uint64_t empty = earlier_of(answered(&rig, read_by(1, 2)), answered(&rig, read_by(2, 3)));
    ck_assert_uint_gt(empty, changed + 1 + RIG_HIT);
    ck_assert_uint_eq(answered(&rig, read_by(4, 9)), is_there ? changed + 1 + RIG_HIT : empty + 1);
    rig_free(&rig);
}
END_TEST

Suite *l1_reexecution_suite(void) {
    Suite *suite = suite_create("l1_reexecution");
    TCase *tests = tcase_create("l1_reexecution");
    tcase_add_test(tests, hit_passes_a_miss_that_waits_for_an_mshr);
    tcase_add_loop_test(tests, queue_that_is_no_longer_there_is_emptied_before_anything_new_is_looked_up, 0,
                        2);
    tcase_add_loop_test(tests, without_the_queue_the_hit_waits_behind_the_miss, 0, 2);
    tcase_add_loop_test(tests, figure_7, 0, 2);
    tcase_add_test(tests, access_for_which_there_is_no_place_stalls_all_behind_it_until_there_is_one);
    tcase_add_test(tests, misses_of_warps_that_may_not_are_refused_and_their_hits_go_on);
    tcase_add_test(tests, warps_that_may_not_miss_do_not_join_a_line_that_is_under_way);
    tcase_add_test(tests, without_a_queue_a_refused_miss_stands_at_the_tags);
    tcase_add_loop_test(tests, queue_turns_to_the_access_of_the_owner_wherever_it_is, 0, 3);
    tcase_add_test(tests, head_turns_by_one_in_each_cycle);
    tcase_add_test(tests, load_does_not_pass_a_store_of_its_warp);
    tcase_add_test(tests, warp_has_one_instruction_in_the_queue_with_all_its_accesses);
    tcase_add_test(tests, load_that_hits_passes_a_load_of_its_warp);
    tcase_add_test(tests, saturation_is_told_in_the_cycle_in_which_it_changes);
    tcase_add_loop_test(tests, knobs_matter_to_a_cache_while_accesses_wait_in_it, 0, 3);
    tcase_add_test(tests, what_is_in_the_queue_is_no_longer_arriving);
    tcase_add_loop_test(tests, warp_that_may_miss_is_told_of_when_its_last_access_is_taken, 0, 2);
    tcase_add_loop_test(tests, first_watched_warp_that_uses_what_lies_below_is_told_of_once, 0, 4);
    tcase_add_loop_test(tests, watched_warp_whose_access_is_not_taken_is_not_told_of, 0, 2);
    tcase_add_loop_test(tests, cycles_with_a_hit_behind_a_stalled_access_of_another_warp_are_counted, 0, 3);
    tcase_add_loop_test(tests, hit_that_comes_late_behind_a_stalled_access_counts_from_its_cycle_on, 0, 2);
    tcase_add_test(
        tests, access_in_front_of_a_queue_that_is_no_longer_full_waits_for_its_order_from_the_next_cycle_on);
    ADD_MIXTURE_TESTS(tests, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
