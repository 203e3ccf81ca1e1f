/* Atomics in an L2 slice, alone and among random requests of all kinds. Timing: see cache_rig.h. */
#include "core/sim/base/random.h"
#include "mem/protocol/caches.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

/* Reads a word through a view of its own in every cycle up to `until`, and remembers when it first was not
 * 0. */
typedef struct {
    SimObject obj;
    uint64_t until, address, first_seen;
    MemoryView view;
} Watcher;

static uint64_t watcher_tick(SimObject *object, uint64_t now) {
    Watcher *watcher = (Watcher *)object;
    uint64_t value = 0, cycle = object_cycle(object, now);
    if (watcher->address) ck_assert(view_load(&watcher->view, watcher->address, 4, &value));
    if (value && !watcher->first_seen) watcher->first_seen = cycle;
    return cycle < watcher->until ? now + object->period : NEVER;
}

static void watcher_destroy(SimObject *object) {
    Watcher *watcher = (Watcher *)object;
    if (watcher->view.memory) view_free(&watcher->view);
}

static const Field watcher_fields[] = {BASE(Watcher),
                                       PARAM(Watcher, until, "200", "cycle", "Last cycle"),
                                       HOST(Watcher, address, "The word"),
                                       HOST(Watcher, first_seen, "Cycle in which it was not 0"),
                                       HOST(Watcher, view, "Its view"),
                                       FIELDS_END};

static const Class watcher_class = {.name = "Watcher",
                                    .doc = "Watches a word of device memory",
                                    .bytes = sizeof(Watcher),
                                    .fields = watcher_fields,
                                    .tick = watcher_tick,
                                    .destroy = watcher_destroy};

static void watch_base(CacheRig *rig) {
    Watcher *watcher = (Watcher *)rig->beside;
    view_init(&watcher->view, rig->functional->memory);
    watcher->address = rig->base;
}

static CacheRig rig_of(CacheBench bench) {
    bench.class = "L2";
    return cache_rig(bench);
}

/* Atomics. */

enum { ADD_U32 = 0 }; /* Inst.detail of atom.add.u32 */

static MemMessage add_request(CacheRig *rig, uint32_t payload, uint64_t segment, uint32_t bytes) {
    AtomicPayload *p = &rig->functional->payloads[0][payload];
    *p = (AtomicPayload){.operation = ADD_U32, .bytes = 4};
    return (MemMessage){.address = segment,
                        .bytes = (uint8_t)bytes,
                        .kind = MEM_ATOMIC,
                        .payload = (uint16_t)payload,
                        .token = payload};
}

static void add_lane(CacheRig *rig, uint32_t payload, uint32_t lane, uint64_t address, uint64_t operand) {
    AtomicPayload *p = &rig->functional->payloads[0][payload];
    p->mask |= 1u << lane;
    p->address[lane] = address;
    p->operand[lane] = operand;
}

static uint64_t old_value(const CacheRig *rig, uint32_t payload, uint32_t lane) {
    return rig->functional->payloads[0][payload].result[lane];
}

static uint32_t word_at(const CacheRig *rig, uint64_t address) {
    uint32_t value;
    device_read(rig->functional->memory, address, &value, sizeof value);
    return value;
}

START_TEST(atomics_happen_in_the_order_of_arrival) {
    CacheRig rig = rig_of((CacheBench){.device_memory = true});
    for (uint32_t i = 0; i < 3; i++) {
        memory_driver_send(rig.driver, 10 + i, add_request(&rig, i, rig.base, 32));
        add_lane(&rig, i, 0, rig.base, 10);
        add_lane(&rig, i, 7, rig.base, 100);
    }
    rig_run(&rig);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(old_value(&rig, i, 0), 110 * i);
        ck_assert_uint_eq(old_value(&rig, i, 7), 110 * i + 10);
    }
    ck_assert_uint_eq(word_at(&rig, rig.base), 330);
    ck_assert_uint_eq(rig_stat(&rig, "atomic_misses"), 1);
    ck_assert_uint_eq(rig_stat(&rig, "atomic_merges"), 2);
    rig_free(&rig);
}
END_TEST

START_TEST(atomic_touches_only_lanes_in_its_segment) {
    CacheRig rig = rig_of((CacheBench){.device_memory = true});
    memory_driver_send(rig.driver, 10, add_request(&rig, 0, rig.base + 64, 64));
    add_lane(&rig, 0, 0, rig.base + 60, 1);
    add_lane(&rig, 0, 1, rig.base + 64, 2);
    add_lane(&rig, 0, 2, rig.base + 124, 3);
    add_lane(&rig, 0, 3, rig.base + 128, 4);
    rig_run(&rig);
    ck_assert_uint_eq(word_at(&rig, rig.base + 60), 0);
    ck_assert_uint_eq(word_at(&rig, rig.base + 64), 2);
    ck_assert_uint_eq(word_at(&rig, rig.base + 124), 3);
    ck_assert_uint_eq(word_at(&rig, rig.base + 128), 0);
    rig_free(&rig);
}
END_TEST

static const uint64_t atomic_send_cycles[] = {16, 24, 25, 40};

/* With a quantum of 16 cycles, what is performed in a cycle is seen by others from the next multiple of 16
 * on. */
START_TEST(others_see_an_atomic_from_the_next_quantum_on) {
    uint64_t sent = atomic_send_cycles[_i], performed = sent + 1 + RIG_DELAY;
    class_register(&watcher_class);
    CacheRig rig = rig_of((CacheBench){.device_memory = true, .quantum = 16, .beside = "Watcher"});
    watch_base(&rig);
    memory_driver_send(rig.driver, sent, add_request(&rig, 0, rig.base, 32));
    add_lane(&rig, 0, 0, rig.base, 1);
    rig_run(&rig);
    ck_assert_uint_eq(((Watcher *)rig.beside)->first_seen, (performed / 16 + 1) * 16);
    rig_free(&rig);
}
END_TEST

START_TEST(atomic_makes_its_line_dirty) {
    CacheRig rig = rig_of((CacheBench){.device_memory = true, .cache = "size=128 ways=1 sectors=4"});
    MemMessage m = add_request(&rig, 0, rig.base + 32, 32);
    add_lane(&rig, 0, 0, rig.base + 32, 1);
    ck_assert_int_eq(rig_time(&rig, m), RIG_MISS);
    ck_assert_int_eq(rig_time(&rig, m), RIG_HIT);
    rig_hits(&rig, read_request(0x2000, 32));
    ck_assert_uint_eq(rig_arrivals(&rig), 3);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.kind, MEM_READ);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.kind, MEM_WRITE);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.address, rig.base + 32);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.byte_mask[0], 0xffffffff00000000);
    rig_free(&rig);
}
END_TEST

START_TEST(atomic_has_the_data_array_to_itself) {
    CacheRig rig = rig_of((CacheBench){.device_memory = true, .cache = "atomic_latency=5"});
    l2_warm(rig.cache, rig.base);
    for (uint32_t i = 0; i < 2; i++) {
        memory_driver_send(rig.driver, 10 + i, add_request(&rig, i, rig.base, 32));
        add_lane(&rig, i, 0, rig.base, 1);
    }
    memory_driver_send(rig.driver, 12, read_request(rig.base, 32));
    rig_run(&rig);
    ck_assert_uint_eq(rig_response(&rig, 0)->cycle, 10 + RIG_HIT + 5);
    /* The read after write of the data takes one cycle of its port. */
    ck_assert_uint_eq(rig_response(&rig, 1)->cycle, rig_response(&rig, 0)->cycle + 6);
    ck_assert_uint_eq(rig_response(&rig, 2)->cycle, rig_response(&rig, 1)->cycle + 1);
    rig_free(&rig);
}
END_TEST

/* The line is stale afterwards: what was written in it goes down first, and the next read fetches it anew. */
START_TEST(slice_whose_addresses_others_share_passes_atomics_on_and_forgets_their_lines) {
    CacheRig rig = rig_of((CacheBench){.device_memory = true});
    MemMessage atomic = add_request(&rig, 0, rig.base, 32);
    add_lane(&rig, 0, 0, rig.base, 1);
    l2_pass_atomics_on(rig.cache);
    memory_driver_send(rig.driver, 10, write_request(rig.base, 128));
    memory_driver_send(rig.driver, 11, atomic);
    rig_run(&rig);
    ck_assert_uint_eq(word_at(&rig, rig.base), 0);
    ck_assert_uint_eq(rig_arrivals(&rig), 2);
    ck_assert_uint_eq(rig_arrival(&rig, 0)->message.kind, MEM_WRITE);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.kind, MEM_ATOMIC);
    ck_assert_uint_eq(rig_arrival(&rig, 1)->message.payload, 0);
    ck_assert_int_eq(rig_time(&rig, read_request(rig.base, 32)), RIG_MISS);
    rig_free(&rig);
}
END_TEST

/* Requests of all kinds. */

enum { RANDOM_REQUESTS = 3000 };

static MemMessage random_request(CacheRig *rig, Random *random, uint32_t token) {
    uint64_t bytes = 32ull << random_below(random, 3);
    uint64_t address = rig->base + random_below(random, RIG_MEMORY / bytes) * bytes;
    MemMessage m = random_below(random, 2) ? read_request(address, (uint32_t)bytes)
                                           : write_request(address, (uint32_t)bytes);
    if (random_below(random, 3) == 0)
        m.byte_mask[0] &= random_next(random), m.byte_mask[1] &= random_next(random);
    if (m.kind == MEM_WRITE && random_below(random, 4) == 0) m.flags |= MEM_POSTED;
    if (random_below(random, 4) == 0) {
        m = add_request(rig, token, address, (uint32_t)bytes);
        for (uint32_t lane = 0; lane < 4; lane++)
            add_lane(rig, token, lane, address + random_below(random, bytes / 4) * 4,
                     random_below(random, 100));
    }
    m.token = token;
    return m;
}

static const char *const tight_slices[] = {
    "size=2KiB ways=2 mshrs=4 merges=2 miss_queue=2",
    "size=2KiB ways=2 mshrs=4 merges=2 miss_queue=2 sectors=4 data_port=32",
    "size=2KiB ways=2 mshrs=4 merges=2 miss_queue=3 sectors=4 write_miss=lazy atomic_latency=3",
    "size=1KiB ways=1 mshrs=3 merges=3 miss_queue=2 sectors=2 allocate=fill",
};
enum { TIGHT_SLICES = sizeof tight_slices / sizeof *tight_slices };

static CacheRig mixture(int variant, TickOrder order, uint64_t order_seed, uint64_t awake_until) {
    CacheRig rig = rig_of((CacheBench){.cache = tight_slices[variant],
                                       .driver = "refuse_from=2000 refuse_until=2300",
                                       .below = "capacity=5 refuse_from=4000 refuse_until=4400",
                                       .device_memory = true,
                                       .order = order,
                                       .order_seed = order_seed,
                                       .quantum = awake_until != 0});
    Random random = {11};
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < RANDOM_REQUESTS; i++) {
        cycle += random_below(&random, 4);
        memory_driver_send(rig.driver, cycle, random_request(&rig, &random, i));
    }
    rig_run_awake(&rig, awake_until);
    return rig;
}

MIXTURE_TESTS(mixture)

START_TEST(every_request_is_answered_once_and_as_it_came) {
    CacheRig rig = mixture(_i, ORDER_PATH, 0, 0);
    ck_assert_uint_eq(memory_driver_sent(rig.driver)->count, RANDOM_REQUESTS);
    expect_every_request_answered_once(&rig);
    rig_free(&rig);
}
END_TEST

static TCase *atomic_tests(void) {
    TCase *tests = tcase_create("atomics");
    tcase_add_test(tests, atomics_happen_in_the_order_of_arrival);
    tcase_add_test(tests, atomic_touches_only_lanes_in_its_segment);
    tcase_add_loop_test(tests, others_see_an_atomic_from_the_next_quantum_on, 0, 4);
    tcase_add_test(tests, atomic_makes_its_line_dirty);
    tcase_add_test(tests, atomic_has_the_data_array_to_itself);
    tcase_add_test(tests, slice_whose_addresses_others_share_passes_atomics_on_and_forgets_their_lines);
    return tests;
}

static TCase *mixture_tests(void) {
    TCase *tests = tcase_create("mixtures");
    ADD_MIXTURE_TESTS(tests, TIGHT_SLICES);
    tcase_add_loop_test(tests, every_request_is_answered_once_and_as_it_came, 0, TIGHT_SLICES);
    return tests;
}

Suite *l2_atomics_suite(void) {
    Suite *suite = suite_create("l2_atomics");
    suite_add_tcase(suite, atomic_tests());
    suite_add_tcase(suite, mixture_tests());
    return suite;
}
