/* Lines that policies write back before they are replaced: when the write-back goes, what it takes, and what is left. */
#include "core/sim/base/random.h"
#include "core/sim/method.h"
#include "mem/cache/cache.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

enum {
    LINE = 128,
    SET = 64 * LINE /* lines of one set lie so far apart */
};

static const char *const classes[] = {"L1", "L2"};

static MethodValue call_method(SimObject *cache, const char *name, uint64_t set, uint64_t other, bool asked,
                               bool *refused) {
    MethodCall call = {.argument = {{.whole = (int64_t)set}, {.set = other}}, .asked = asked};
    class_method(cache->class, name)->call(cache, &call);
    *refused = call.refusal[0] || call.nothing;
    return call.result[0];
}

static bool clean(SimObject *cache, uint64_t set, uint64_t way) {
    bool refused, cleaned = call_method(cache, "clean", set, way, false, &refused).flag;
    ck_assert(!refused);
    return cleaned;
}

static uint64_t dirty_ways(const CacheRig *rig, uint64_t set) {
    bool refused;
    uint64_t ways = call_method(rig->cache, "dirty_ways", set, 0, false, &refused).set;
    ck_assert(!refused);
    return ways;
}

/* -1: nil. */
static int64_t first_to_go(const CacheRig *rig, uint64_t set, uint64_t ways) {
    bool nothing;
    int64_t way = call_method(rig->cache, "first_to_go", set, ways, false, &nothing).whole;
    return nothing ? -1 : way;
}

/* What an L1 keeps, too. */
static MemMessage dirtying(uint64_t address, uint32_t bytes) {
    return of_local_memory(write_request(address, bytes));
}

START_TEST(a_clean_line_stays_and_its_write_back_goes_in_the_next_cycle) {
    CacheRig rig = cache_rig((CacheBench){.class = classes[_i]});
    rig_time(&rig, of_warp(of_class(dirtying(LINE, LINE), 3), 2, 9, 5));
    uint32_t before = rig_arrivals(&rig);
    ck_assert_uint_eq(dirty_ways(&rig, 1), 1);
    uint64_t next = object_cycle(rig.cache, object_next_cycle(rig.cache));
    ck_assert(clean(rig.cache, 1, 0));
    ck_assert_uint_eq(dirty_ways(&rig, 1), 0);
    ck_assert(!clean(rig.cache, 1, 0));
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrivals(&rig), before + 1);
    const MemMessage *back = &rig_arrival(&rig, before)->message;
    ck_assert_uint_eq(rig_arrival(&rig, before)->cycle, next + 1);
    ck_assert_uint_eq(back->kind, MEM_WRITE);
    ck_assert_uint_eq(back->flags, MEM_POSTED);
    ck_assert_uint_eq(back->address, LINE);
    ck_assert_uint_eq(back->bytes, LINE);
    ck_assert_uint_eq(back->sm, 2);
    ck_assert_uint_eq(back->warp, 9);
    ck_assert_uint_eq(back->class_number, 3);
    ck_assert_int_eq(rig_time(&rig, of_local_memory(read_request(LINE, LINE))), RIG_HIT);
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "evictions"), 0);
    rig_free(&rig);
}
END_TEST

START_TEST(a_clean_line_is_replaced_without_a_write_back_and_a_line_written_again_with_one) {
    CacheRig rig = cache_rig((CacheBench){.class = classes[_i % 2], .cache = "ways=1 size=8KiB"});
    bool again = _i >= 2;
    rig_time(&rig, dirtying(0, LINE));
    ck_assert(clean(rig.cache, 0, 0));
    rig_run(&rig);
    if (again) rig_time(&rig, dirtying(0, 32));
    ck_assert_uint_eq(dirty_ways(&rig, 0), again);
    rig_time(&rig, of_local_memory(read_request(SET, LINE)));
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 1 + again);
    ck_assert_uint_eq(rig_stat(&rig, "evictions"), 1);
    rig_free(&rig);
}
END_TEST

/* At the hit of a read, cleans or leaves alone the line of the next set. */
typedef struct {
    Subscriber subscriber;
    bool cleans;
} Cleaner;

static int64_t clean_at_first_hit(Subscriber *subscriber, SimObject *object, uint32_t event,
                                  const int64_t *arguments, uint64_t now) {
    Cleaner *cleaner = (Cleaner *)subscriber;
    (void)event, (void)arguments, (void)now;
    if (cleaner->cleans) ck_assert(clean(object, 1, 0));
    cleaner->cleans = false;
    return NO_ANSWER;
}

/* 128 B take the port of 32 B for four cycles from the one on in which a hit of 32 B has it for the first: the next
 * hit comes three cycles later than it would. An eviction in the place of that hit takes as long. */
START_TEST(a_write_back_has_the_data_port_as_long_as_one_of_an_eviction) {
    uint64_t second[3];
    for (uint32_t how = 0; how < 3; how++) {
        CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = "ways=1 size=8KiB data_port=32"});
        Cleaner cleaner = {.subscriber = {clean_at_first_hit}, .cleans = how == 1};
        rig_time(&rig, read_request(0, LINE));
        rig_time(&rig, write_request(LINE, LINE));
        object_subscribe(rig.cache, &cleaner.subscriber, 1u << CACHE_HIT);
        uint64_t start = rig_now(&rig) + 1;
        memory_driver_send(rig.driver, start, how == 2 ? read_request(LINE + SET, 32) : read_request(0, 32));
        memory_driver_send(rig.driver, start + 1, of_token(read_request(0, 32), 77));
        rig_run(&rig);
        ck_assert_uint_eq(rig_stat(&rig, "write_backs"), how != 0);
        second[how] = rig_answered(&rig, 77) - start;
        rig_free(&rig);
    }
    ck_assert_uint_eq(second[0], 1 + RIG_HIT);
    ck_assert_uint_eq(second[1], second[0] + 3);
    ck_assert_uint_eq(second[2], second[1]);
}
END_TEST

START_TEST(no_line_is_cleaned_without_room_in_the_miss_queue) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = "miss_queue=2"});
    for (uint64_t way = 0; way < 3; way++)
        rig_time(&rig, write_request(way * SET, LINE));
    ck_assert_uint_eq(dirty_ways(&rig, 0), 7);
    ck_assert(clean(rig.cache, 0, 2));
    ck_assert(clean(rig.cache, 0, 0));
    ck_assert(!clean(rig.cache, 0, 1));
    ck_assert_uint_eq(dirty_ways(&rig, 0), 2);
    rig_run(&rig);
    ck_assert(clean(rig.cache, 0, 1));
    rig_run(&rig);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.address, 2 * SET);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->cycle + 1, rig_arrival(&rig, 1)->cycle);
    ck_assert_uint_eq(rig_stat(&rig, "write_backs"), 3);
    rig_free(&rig);
}
END_TEST

/* A write of a part of a line fetches the rest. */
START_TEST(a_line_in_flight_is_not_cleaned_and_no_first_to_go) {
    CacheRig rig = cache_rig((CacheBench){.class = "L2"});
    MemMessage part = write_request(0, 32);
    part.byte_mask[0] = 0xf;
    memory_driver_send(rig.driver, 1, part);
    sim_run(rig.sim, (RIG_DELAY + 5) * rig.cache->period);
    ck_assert_uint_eq(rig_stat(&rig, "fetches"), 1);
    ck_assert_uint_eq(dirty_ways(&rig, 0), 0);
    ck_assert_int_eq(first_to_go(&rig, 0, 0xff), -1);
    ck_assert(!clean(rig.cache, 0, 0));
    rig_run(&rig);
    ck_assert_uint_eq(dirty_ways(&rig, 0), 1);
    ck_assert_int_eq(first_to_go(&rig, 0, 0xff), 0);
    ck_assert(clean(rig.cache, 0, 0));
    rig_run(&rig);
    rig_free(&rig);
}
END_TEST

START_TEST(first_to_go_is_the_line_that_a_miss_replaces) {
    static const char *const choices[] = {"replacement=lru ways=4",    "replacement=fifo ways=4",
                                          "replacement=random ways=4", "replacement=srrip ways=4",
                                          "replacement=nru ways=4",    "replacement=tree_plru ways=4"};
    static const uint64_t used[] = {0, 2, 1, 0, 3};
    CacheRig rig = cache_rig((CacheBench){.class = "L2", .cache = choices[_i]});
    uint64_t apart = 2 * SET; /* of four ways */
    ck_assert_int_eq(first_to_go(&rig, 0, ~0ull), -1);
    for (uint64_t way = 0; way < 4; way++)
        rig_time(&rig, write_request(way * apart, LINE));
    for (uint32_t i = 0; i < 5; i++)
        rig_time(&rig, read_request(used[i] * apart, LINE));
    int64_t first = first_to_go(&rig, 0, 0xf);
    ck_assert_int_eq(first_to_go(&rig, 0, 1u << first), first);
    ck_assert_int_ne(first_to_go(&rig, 0, 0xfu & ~(1u << first)), first);
    rig_time(&rig, read_request(4 * apart, LINE));
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.kind, MEM_WRITE);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.address, (uint64_t)first * apart);
    if (_i == 0) ck_assert_int_eq(first, 2);
    rig_free(&rig);
}
END_TEST

START_TEST(sets_that_there_are_not_questions_and_too_many_ways_are_refused) {
    bool refused;
    CacheRig rig = cache_rig((CacheBench){.class = classes[_i]});
    rig_time(&rig, dirtying(0, LINE));
    call_method(rig.cache, "clean", 0, 0, true, &refused);
    ck_assert(refused);
    ck_assert_uint_eq(dirty_ways(&rig, 0), 1);
    call_method(rig.cache, "clean", 64, 0, false, &refused);
    ck_assert(refused);
    call_method(rig.cache, "dirty_ways", 64, 0, false, &refused);
    ck_assert(refused);
    rig_free(&rig);
    rig = cache_rig((CacheBench){.class = classes[_i], .cache = "ways=128"});
    call_method(rig.cache, "dirty_ways", 0, 0, false, &refused);
    ck_assert(refused);
    rig_time(&rig, dirtying(0, LINE));
    ck_assert(clean(rig.cache, 0, 0)); /* which needs no set of ways */
    rig_run(&rig);
    rig_free(&rig);
}
END_TEST

/* ---- Eager write-back amid other traffic ---- */

/* At each access, of the dirty lines of its set that which goes first. */
static int64_t clean_first(Subscriber *subscriber, SimObject *object, uint32_t event,
                           const int64_t *arguments, uint64_t now) {
    bool refused;
    (void)subscriber, (void)event, (void)now;
    uint64_t set = (uint64_t)arguments[6],
             dirty = call_method(object, "dirty_ways", set, 0, false, &refused).set;
    if (!dirty) return NO_ANSWER;
    int64_t way = call_method(object, "first_to_go", set, dirty, false, &refused).whole;
    ck_assert(!refused);
    clean(object, set, (uint64_t)way);
    return NO_ANSWER;
}

static CacheRig mixture(int variant, TickOrder order, uint64_t order_seed, uint64_t awake_until) {
    static Subscriber cleaner = {clean_first};
    CacheRig rig = cache_rig((CacheBench){.class = classes[variant % 2],
                                          .cache = variant < 2
                                                       ? "size=8KiB ways=4 mshrs=64 merges=2 miss_queue=3"
                                                       : "size=8KiB ways=4 mshrs=64 merges=2 miss_queue=3 "
                                                         "sectors=4 allocate=fill",
                                          .below = "capacity=5",
                                          .order = order,
                                          .order_seed = order_seed,
                                          .quantum = awake_until != 0});
    Random random = {7};
    for (uint32_t i = 0; i < 3000; i++) {
        uint64_t address = random_below(&random, 100) * LINE + random_below(&random, 4) * 32;
        MemMessage m = random_below(&random, 2) ? read_request(address, 32) : write_request(address, 32);
        memory_driver_send(rig.driver, i + random_below(&random, 30), of_local_memory(of_token(m, i)));
    }
    object_subscribe(rig.cache, &cleaner, 1u << CACHE_HIT | 1u << CACHE_MISS | 1u << CACHE_MERGE);
    rig_run_awake(&rig, awake_until);
    ck_assert_uint_gt(rig_stat(&rig, "write_backs"), 500);
    ck_assert_uint_gt(rig_stat(&rig, "miss_queue_fails"), 10);
    return rig;
}

MIXTURE_TESTS(mixture)

Suite *cleaning_suite(void) {
    Suite *suite = suite_create("cleaning");
    TCase *tests = tcase_create("cleaning");
    tcase_add_loop_test(tests, a_clean_line_stays_and_its_write_back_goes_in_the_next_cycle, 0, 2);
    tcase_add_loop_test(
        tests, a_clean_line_is_replaced_without_a_write_back_and_a_line_written_again_with_one, 0, 4);
    tcase_add_test(tests, a_write_back_has_the_data_port_as_long_as_one_of_an_eviction);
    tcase_add_test(tests, no_line_is_cleaned_without_room_in_the_miss_queue);
    tcase_add_test(tests, a_line_in_flight_is_not_cleaned_and_no_first_to_go);
    tcase_add_loop_test(tests, first_to_go_is_the_line_that_a_miss_replaces, 0, 6);
    tcase_add_loop_test(tests, sets_that_there_are_not_questions_and_too_many_ways_are_refused, 0, 2);
    ADD_MIXTURE_TESTS(tests, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
