/* The common case has code of its own: reads that miss in a cache that nobody asks or sees, requests that a slice of L2
 * handles ahead of time, messages that it sends ahead of time. Whoever looks on, and any order of ticks, makes the
 * cache take the general path. All must give the same answers, messages and stats, in the same cycles. */
#include "core/sim/base/random.h"
#include "mem/cache/cache.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

enum { LINE = 128, REQUESTS = 1500, PHASE = 300, HOT_LINES = 24, LINES = 900 };

typedef enum { UNSEEN, SEEN, SUBSCRIBED, RESTLESS, WAYS } Way;

typedef struct {
    const char *class, *cache, *below;
} Variant;

static const Variant variants[] = {
    {"L1", "size=16KiB ways=4", NULL},
    {"L1", "size=8KiB ways=4 mshrs=4 miss_queue=2", "capacity=4"},
    {"L1", "size=16KiB ways=8 sectors=4 merges=2", NULL},
    {"L2", "size=64KiB ways=16", NULL},
    {"L2", "size=16KiB ways=4 mshrs=4 miss_queue=2 rop_delay=3", "capacity=4"},
    {"L2", "size=32KiB ways=8 sectors=4 data_port=32 write_miss=lazy", NULL},
    {"L2", "size=16KiB ways=4 bank_busy=3 queue_entries=8", "latency=3"},
};

enum { VARIANTS = sizeof variants / sizeof *variants };

static MemMessage request_for(Random *random, uint32_t i) {
    bool hot = i % (2 * PHASE) >= PHASE;
    uint64_t address = random_below(random, hot ? HOT_LINES : LINES) * LINE;
    bool writes = random_below(random, 8) == 0;
    MemMessage m = writes ? write_request(address, LINE) : read_request(address, LINE);
    m.token = i;
    m.warp = (uint16_t)random_below(random, 48);
    return m;
}

static int64_t ignore(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                      uint64_t now) {
    (void)subscriber, (void)object, (void)event, (void)arguments, (void)now;
    return 0;
}

static Subscriber subscriber = {.handle = ignore};

/* Bursts and pauses, in phases of many lines and of few. */
static CacheRig run_of(const Variant *variant, Way way) {
    CacheRig rig = cache_rig((CacheBench){.class = variant->class,
                                          .cache = variant->cache,
                                          .below = variant->below,
                                          .request = {.latency = 16, .depth = 64},
                                          .response = {.latency = 16, .depth = 64},
                                          .quantum = 16,
                                          .order = way == RESTLESS ? ORDER_RESTLESS : ORDER_PATH});
    Random random = {7};
    if (way == SEEN) look_on(rig.cache);
    if (way == SUBSCRIBED) object_subscribe(rig.cache, &subscriber, (1u << CACHE_ASK_BYPASS) - 1);
    for (uint32_t i = 0, cycle = 0; i < REQUESTS; i++) {
        cycle += (uint32_t)random_below(&random, random_below(&random, 30) ? 3 : 200);
        memory_driver_send(rig.driver, cycle, request_for(&random, i));
    }
    rig_run(&rig);
    return rig;
}

START_TEST(short_paths_change_nothing) {
    const Variant *variant = &variants[_i / (WAYS - 1)];
    CacheRig unseen = run_of(variant, UNSEEN), other = run_of(variant, (Way)(_i % (WAYS - 1) + 1));
    ck_assert_uint_gt(rig_stat(&unseen, "read_hits"), 200);
    ck_assert_uint_gt(rig_stat(&unseen, "read_misses"), 200);
    expect_same_runs(&unseen, &other);
    rig_free(&unseen);
    rig_free(&other);
}
END_TEST

Suite *short_paths_suite(void) {
    Suite *suite = suite_create("short_paths");
    TCase *tests = tcase_create("short_paths");
    tcase_add_loop_test(tests, short_paths_change_nothing, 0, VARIANTS * (WAYS - 1));
    suite_add_tcase(suite, tests);
    return suite;
}
