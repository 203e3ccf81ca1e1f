/* Driver -> L2 slice -> responder, all links of one cycle. A request sent in cycle s is looked up in s + 1 +
 * DELAY; a hit comes back at s + 2 + DELAY, a miss at s + 5 + DELAY + RESPONDER (see test_l1_cache.c). */
#include "core/sim/random.h"
#include "mem/address_map.h"
#include "mem/caches.h"
#include "mem/functional_memory.h"
#include "tests/unit/memory_driver.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

enum { DELAY = 6, RESPONDER = 20, HIT_TIME = DELAY + 2, MISS_TIME = DELAY + RESPONDER + 5 };

typedef struct {
    const char *l2; /* parameters "name=value name=value", over the defaults below */
    const char *map, *driver, *responder;
    TickOrder order;
    uint64_t order_seed;
    uint32_t quantum; /* cycles; 0: the default */
    bool functional;  /* with device memory and an object that watches `base` */
} Bench;

enum { PAYLOADS = 4096, MEMORY_BYTES = 1 << 20, COUNTERS_BYTES = 4096 };

typedef struct {
    Sim *sim;
    SimObject *driver, *l2, *responder, *watcher;
    FunctionalMemory functional;
    uint64_t base; /* of an allocation of COUNTERS_BYTES */
} Rig;

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

static void set_parameters(SimObject *object, const char *text) {
    char name[64], value[64];
    for (int used; text && sscanf(text, " %63[^=]=%63s%n", name, value, &used) == 2; text += used)
        object_set_text(object, name, value);
}

static SimObject *add(Sim *sim, const char *class, const char *path, const char *defaults,
                      const char *parameters) {
    SimObject *object = sim_add(sim, class, path, NULL);
    set_parameters(object, defaults);
    set_parameters(object, parameters);
    sim_finish_object(object);
    return object;
}

static void add_functional_memory(Rig *rig) {
    rig->functional.memory = device_memory_new(MEMORY_BYTES);
    rig->functional.payloads[0] = calloc(PAYLOADS, sizeof(AtomicPayload));
    rig->base = device_alloc(rig->functional.memory, COUNTERS_BYTES);
    ck_assert_uint_eq(rig->base, DEVICE_MEMORY_BASE);
    rig->sim->user = &rig->functional;
}

static void watch_base(Rig *rig) {
    Watcher *watcher = (Watcher *)rig->watcher;
    view_init(&watcher->view, rig->functional.memory);
    watcher->address = rig->base;
}

static void make_rig(Rig *rig, Bench bench) {
    *rig = (Rig){.sim = sim_new("test")};
    memory_test_classes();
    class_register(&l2_class);
    class_register(&address_map_class);
    class_register(&watcher_class);
    sim_clock(rig->sim, "clock", 1000000000);
    add(rig->sim, "AddressMap", "map", "channels=1", bench.map);
    rig->driver = add(rig->sim, "MemoryDriver", "driver", NULL, bench.driver);
    rig->l2 = add(rig->sim, "L2", "l2", "size=64KiB ways=8 mshrs=32 rop_delay=6", bench.l2);
    rig->responder = add(rig->sim, "MemoryResponder", "below", "latency=20", bench.responder);
    if (bench.functional) rig->watcher = add(rig->sim, "Watcher", "watcher", NULL, NULL);
    sim_wire(rig->sim, rig->driver, "mem", rig->l2, "cpu", (LinkOptions){0}, (LinkOptions){0});
    sim_wire(rig->sim, rig->l2, "mem", rig->responder, "cpu", (LinkOptions){0}, (LinkOptions){0});
    if (bench.quantum) sim_set_quantum(rig->sim, bench.quantum);
    rig->sim->order = bench.order;
    rig->sim->order_seed = bench.order_seed;
    if (bench.functional) add_functional_memory(rig);
    sim_elaborate(rig->sim);
    if (bench.functional) watch_base(rig);
}

static void free_rig(Rig *rig) {
    sim_free(rig->sim);
    free(rig->functional.payloads[0]);
    if (rig->functional.memory) device_memory_free(rig->functional.memory);
}

static void run_idle(Rig *rig) {
    ck_assert_int_eq(sim_run(rig->sim, UINT64_MAX), STOP_IDLE);
    sim_settle(rig->sim);
    sim_check(rig->sim, true);
}

static uint64_t stat(const Rig *rig, const char *name) {
    const Field *f = object_field(rig->l2, FIELD_STAT, name);
    ck_assert_ptr_nonnull(f);
    return *(const uint64_t *)((const char *)rig->l2 + f->offset);
}

static const LoggedMessage *response(const Rig *rig, uint32_t i) {
    ck_assert_uint_lt(i, memory_driver_responses(rig->driver)->count);
    return &memory_driver_responses(rig->driver)->entries[i];
}

static const LoggedMessage *arrival(const Rig *rig, uint32_t i) {
    ck_assert_uint_lt(i, memory_responder_arrivals(rig->responder)->count);
    return &memory_responder_arrivals(rig->responder)->entries[i];
}

static uint32_t arrivals(const Rig *rig) {
    return memory_responder_arrivals(rig->responder)->count;
}

static int64_t time_of(Rig *rig, MemMessage m, bool *hit) {
    uint32_t before = memory_driver_responses(rig->driver)->count;
    uint64_t start = object_cycle(rig->l2, rig->sim->now) + 1;
    memory_driver_send(rig->driver, start, m);
    run_idle(rig);
    if (memory_driver_responses(rig->driver)->count == before) return -1;
    const LoggedMessage *r = response(rig, before);
    if (hit) *hit = r->message.flags & MEM_HIT;
    return (int64_t)(r->cycle - start);
}

static bool hits(Rig *rig, MemMessage m) {
    bool hit;
    time_of(rig, m, &hit);
    return hit;
}

/* Bytes [first, first + count) of the line at `address`, which is the whole segment. */
static MemMessage partial_write(uint64_t address, uint32_t first, uint32_t count) {
    MemMessage m = write_request(address, 128);
    MemMessage bytes = write_request(address + first, count);
    memcpy(m.byte_mask, bytes.byte_mask, sizeof m.byte_mask);
    return m;
}

/* Reads. */

static const uint64_t delays[] = {1, 6, 120};

START_TEST(hit_is_answered_after_the_delay_and_not_before) {
    char parameters[64];
    bool hit;
    uint64_t delay = delays[_i];
    snprintf(parameters, sizeof parameters, "rop_delay=%lu", delay);
    Rig rig;
    make_rig(&rig, (Bench){.l2 = parameters});
    ck_assert_int_eq(time_of(&rig, read_request(0x1000, 128), &hit), (int64_t)delay + RESPONDER + 5);
    ck_assert(!hit);
    ck_assert_int_eq(time_of(&rig, read_request(0x1000, 128), &hit), (int64_t)delay + 2);
    ck_assert(hit);
    ck_assert_uint_eq(arrivals(&rig), 1);
    ck_assert_uint_eq(arrival(&rig, 0)->message.bytes, 128);
    free_rig(&rig);
}
END_TEST

/* Channel 0 of two has the addresses 0-255, 512-767, ...: its lines are 0, 1, 4, 5, ... of the whole memory,
 * and must fill a slice of four sets evenly. */
START_TEST(set_index_counts_the_lines_of_the_slice) {
    static const uint64_t addresses[] = {0, 128, 512, 640};
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "size=512 ways=1", .map = "channels=2"});
    for (int i = 0; i < 4; i++)
        hits(&rig, read_request(addresses[i], 128));
    for (int i = 0; i < 4; i++)
        ck_assert(hits(&rig, read_request(addresses[i], 128)));
    ck_assert(!hits(&rig, read_request(1024, 128)));
    ck_assert(!hits(&rig, read_request(0, 128)));
    free_rig(&rig);
}
END_TEST

START_TEST(only_missing_sectors_are_fetched_and_one_answer_goes_back) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "sectors=4"});
    ck_assert_int_eq(time_of(&rig, read_request(0x1020, 32), NULL), MISS_TIME);
    ck_assert_int_eq(time_of(&rig, read_request(0x1000, 128), NULL), MISS_TIME + 2);
    ck_assert_int_eq(time_of(&rig, read_request(0x2000, 128), NULL), MISS_TIME + 3);
    ck_assert_uint_eq(memory_driver_responses(rig.driver)->count, 3);
    static const uint64_t fetched[] = {0x1020, 0x1000, 0x1040, 0x1060, 0x2000, 0x2020, 0x2040, 0x2060};
    ck_assert_uint_eq(arrivals(&rig), 8);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(arrival(&rig, i)->message.address, fetched[i]);
        ck_assert_uint_eq(arrival(&rig, i)->message.bytes, 32);
    }
    free_rig(&rig);
}
END_TEST

START_TEST(request_merges_with_sectors_under_way_and_fetches_the_rest) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "sectors=4"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 64));
    memory_driver_send(rig.driver, 11, read_request(0x1020, 32));  /* all under way    */
    memory_driver_send(rig.driver, 12, read_request(0x1000, 128)); /* half of it is    */
    run_idle(&rig);
    ck_assert_uint_eq(arrivals(&rig), 4);
    ck_assert_uint_eq(stat(&rig, "read_merges"), 1);
    ck_assert_uint_eq(stat(&rig, "read_misses"), 2);
    /* The fetches leave in 11 + DELAY + 1, 2 (first request) and 3, 4 (third). */
    ck_assert_uint_eq(response(&rig, 0)->cycle, 10 + MISS_TIME + 1);
    ck_assert_uint_eq(response(&rig, 1)->cycle, 10 + MISS_TIME + 2);
    ck_assert_uint_eq(response(&rig, 2)->cycle, 10 + MISS_TIME + 3);
    ck_assert_uint_eq(response(&rig, 1)->message.bytes, 32);
    free_rig(&rig);
}
END_TEST

START_TEST(narrow_data_port_takes_a_line_in_several_cycles) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "data_port=32"});
    hits(&rig, read_request(0x1000, 128));
    uint64_t start = object_cycle(rig.l2, rig.sim->now) + 1;
    for (int i = 0; i < 3; i++)
        memory_driver_send(rig.driver, start, read_request(0x1000, 128));
    memory_driver_send(rig.driver, start, read_request(0x1000, 32));
    memory_driver_send(rig.driver, start, read_request(0x1000, 32));
    run_idle(&rig);
    static const uint64_t expected[] = {0, 4, 8, 12, 13};
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_uint_eq(response(&rig, 1 + i)->cycle, start + HIT_TIME + expected[i]);
    ck_assert_uint_eq(stat(&rig, "data_port_stalls"), 3);
    ck_assert_uint_eq(stat(&rig, "data_port_stall_cycles"), 9);
    free_rig(&rig);
}
END_TEST

START_TEST(narrow_fill_port_takes_a_line_in_several_cycles) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "data_port=32"});
    for (uint64_t i = 0; i < 3; i++)
        memory_driver_send(rig.driver, 10, read_request(0x1000 + 128 * i, 128));
    run_idle(&rig);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(response(&rig, i)->cycle, 10 + MISS_TIME + 4 * i);
    free_rig(&rig);
}
END_TEST

START_TEST(line_stays_reserved_until_its_last_sector_has_come) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "size=128 ways=1 sectors=4"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 32));
    run_idle(&rig);
    uint64_t last_fill = 10 + MISS_TIME + 3 - 1, looked_up = 11 + 1 + DELAY;
    ck_assert_uint_eq(stat(&rig, "line_fail_cycles"), last_fill - looked_up);
    free_rig(&rig);
}
END_TEST

/* Writes. */

START_TEST(write_of_a_whole_line_fetches_nothing) {
    Rig rig;
    make_rig(&rig, (Bench){0});
    ck_assert_int_eq(time_of(&rig, write_request(0x1000, 128), NULL), HIT_TIME);
    ck_assert(hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(arrivals(&rig), 0);
    ck_assert_uint_eq(stat(&rig, "write_misses"), 1);
    ck_assert(hits(&rig, write_request(0x1020, 32)));
    ck_assert_uint_eq(stat(&rig, "write_hits"), 1);
    free_rig(&rig);
}
END_TEST

START_TEST(write_of_a_part_is_acknowledged_at_once_and_fetches_the_line) {
    Rig rig;
    make_rig(&rig, (Bench){0});
    memory_driver_send(rig.driver, 10, partial_write(0x1000, 4, 4));
    memory_driver_send(rig.driver, 11, partial_write(0x1000, 8, 4));
    memory_driver_send(rig.driver, 12, read_request(0x1000, 32));
    run_idle(&rig);
    ck_assert_uint_eq(response(&rig, 0)->cycle, 10 + HIT_TIME);
    ck_assert_uint_eq(response(&rig, 1)->cycle, 11 + HIT_TIME);
    ck_assert_uint_eq(response(&rig, 2)->cycle, 10 + MISS_TIME);
    ck_assert_uint_eq(arrivals(&rig), 1);
    ck_assert_uint_eq(stat(&rig, "write_misses"), 1);
    ck_assert_uint_eq(stat(&rig, "write_merges"), 1);
    ck_assert_uint_eq(stat(&rig, "read_merges"), 1);
    free_rig(&rig);
}
END_TEST

START_TEST(write_of_whole_sectors_fetches_only_the_others_when_they_are_read) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "sectors=4"});
    hits(&rig, write_request(0x1020, 32));
    ck_assert(hits(&rig, read_request(0x1020, 32)));
    ck_assert_uint_eq(arrivals(&rig), 0);
    hits(&rig, read_request(0x1000, 128));
    ck_assert_uint_eq(arrivals(&rig), 3);
    free_rig(&rig);
}
END_TEST

START_TEST(write_to_a_sector_under_way_is_not_readable_before_the_fill) {
    Rig rig;
    make_rig(&rig, (Bench){0});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, write_request(0x1000, 128));
    memory_driver_send(rig.driver, 12, read_request(0x1000, 128));
    run_idle(&rig);
    ck_assert_uint_eq(response(&rig, 0)->cycle, 11 + HIT_TIME);
    ck_assert_uint_eq(response(&rig, 1)->cycle, 10 + MISS_TIME);
    ck_assert_uint_eq(response(&rig, 2)->cycle, 10 + MISS_TIME + 1);
    ck_assert_uint_eq(stat(&rig, "write_merges"), 1);
    free_rig(&rig);
}
END_TEST

START_TEST(write_that_fetches_nothing_needs_no_mshr) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "mshrs=1"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, write_request(0x2000, 128));
    run_idle(&rig);
    ck_assert_uint_eq(response(&rig, 0)->cycle, 11 + HIT_TIME);
    free_rig(&rig);
}
END_TEST

START_TEST(writes_and_write_backs_take_the_data_port) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "size=128 ways=1 data_port=32"});
    hits(&rig, write_request(0x1000, 128));
    uint64_t start = object_cycle(rig.l2, rig.sim->now) + 1;
    memory_driver_send(rig.driver, start, write_request(0x1000, 64)); /* a hit: 2 cycles             */
    memory_driver_send(rig.driver, start, write_request(0x2000, 32)); /* evicts 128 B: 4 cycles      */
    memory_driver_send(rig.driver, start, write_request(0x2000, 32)); /* merges: no data moves       */
    memory_driver_send(rig.driver, start, write_request(0x2000, 32));
    run_idle(&rig);
    static const uint64_t expected[] = {0, 2, 6, 7};
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(response(&rig, 1 + i)->cycle, start + HIT_TIME + expected[i]);
    free_rig(&rig);
}
END_TEST

START_TEST(lazy_write_fetches_a_sector_when_it_is_read_and_not_before) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "sectors=4 write_miss=lazy"});
    ck_assert_int_eq(time_of(&rig, partial_write(0x1000, 36, 4), NULL),
                     HIT_TIME); /* all sectors are in its segment */
    ck_assert_uint_eq(arrivals(&rig), 0);
    ck_assert(!hits(&rig, read_request(0x1020, 32)));
    ck_assert_uint_eq(arrivals(&rig), 1);
    ck_assert_uint_eq(arrival(&rig, 0)->message.address, 0x1020);
    ck_assert(hits(&rig, read_request(0x1020, 32)));
    free_rig(&rig);
}
END_TEST

START_TEST(lazy_writes_that_complete_a_sector_make_it_readable) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "sectors=4 write_miss=lazy"});
    hits(&rig, partial_write(0x1000, 32, 20));
    ck_assert(hits(&rig, partial_write(0x1000, 52, 12)));
    ck_assert(hits(&rig, read_request(0x1020, 32)));
    ck_assert_uint_eq(arrivals(&rig), 0);
    free_rig(&rig);
}
END_TEST

START_TEST(dirty_line_is_written_back_with_the_bytes_written) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "size=128 ways=1 sectors=4 write_miss=lazy"});
    MemMessage m = write_request(0x1040, 32);
    m.byte_mask[1] = 0xf0;
    hits(&rig, m);
    hits(&rig, read_request(0x2000, 32));
    ck_assert_uint_eq(arrivals(&rig), 2);
    const MemMessage *back = &arrival(&rig, 0)->message;
    ck_assert_uint_eq(back->kind, MEM_WRITE);
    ck_assert_uint_eq(back->flags, MEM_POSTED);
    ck_assert_uint_eq(back->address, 0x1040);
    ck_assert_uint_eq(back->bytes, 32);
    ck_assert_uint_eq(back->byte_mask[0], 0);
    ck_assert_uint_eq(back->byte_mask[1], 0xf0);
    ck_assert_uint_eq(stat(&rig, "write_backs"), 1);
    free_rig(&rig);
}
END_TEST

START_TEST(posted_write_is_not_acknowledged) {
    Rig rig;
    make_rig(&rig, (Bench){0});
    ck_assert_int_eq(time_of(&rig, posted_write_request(0x1000, 128), NULL), -1);
    ck_assert(hits(&rig, read_request(0x1000, 128)));
    free_rig(&rig);
}
END_TEST

START_TEST(write_waits_for_a_line_while_every_way_is_reserved) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "size=128 ways=1"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, write_request(0x2000, 128));
    run_idle(&rig);
    uint64_t filled = 10 + MISS_TIME - 1, looked_up = 11 + 1 + DELAY;
    ck_assert_uint_eq(stat(&rig, "line_fails"), 1);
    /* The response to the read has the link in the cycle of the fill. */
    ck_assert_uint_eq(stat(&rig, "line_fail_cycles"), filled - looked_up);
    ck_assert_uint_eq(stat(&rig, "response_stall_cycles"), 1);
    ck_assert_uint_eq(response(&rig, 1)->cycle, filled + 2);
    free_rig(&rig);
}
END_TEST

START_TEST(warm_lines_are_there_at_once_and_clean) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "size=128 ways=1 sectors=4"});
    l2_warm(rig.l2, 0x1044);
    ck_assert(hits(&rig, read_request(0x1000, 128)));
    hits(&rig, write_request(0x1000, 32));
    l2_warm(rig.l2, 0x1000);
    l2_warm(rig.l2, 0x2000);
    ck_assert(hits(&rig, read_request(0x2000, 128)));
    ck_assert(!hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(stat(&rig, "write_backs"), 0);
    free_rig(&rig);
}
END_TEST

START_TEST(warm_line_comes_no_sooner_when_it_is_under_way) {
    Rig rig;
    make_rig(&rig, (Bench){0});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    sim_run(rig.sim, 20 * rig.l2->period);
    l2_warm(rig.l2, 0x1000);
    memory_driver_send(rig.driver, 21, read_request(0x1000, 128));
    run_idle(&rig);
    ck_assert_uint_eq(stat(&rig, "read_merges"), 1);
    ck_assert_uint_eq(response(&rig, 1)->cycle, 10 + MISS_TIME + 1);
    free_rig(&rig);
}
END_TEST

START_TEST(warm_line_remembers_nothing_written_before) {
    Rig rig;
    make_rig(&rig, (Bench){.l2 = "size=128 ways=1"});
    hits(&rig, write_request(0x1000, 128));
    l2_warm(rig.l2, 0x2000);
    hits(&rig, partial_write(0x2000, 4, 4));
    hits(&rig, read_request(0x3000, 128));
    ck_assert_uint_eq(arrival(&rig, 0)->message.address, 0x2000);
    ck_assert_uint_eq(arrival(&rig, 0)->message.byte_mask[0], 0xf0);
    ck_assert_uint_eq(arrival(&rig, 0)->message.byte_mask[1], 0);
    free_rig(&rig);
}
END_TEST

/* Atomics. */

enum { ADD_U32 = 0 }; /* Inst.detail of atom.add.u32 */

static MemMessage add_request(Rig *rig, uint32_t payload, uint64_t segment, uint32_t bytes) {
    AtomicPayload *p = &rig->functional.payloads[0][payload];
    *p = (AtomicPayload){.operation = ADD_U32, .bytes = 4};
    return (MemMessage){.address = segment,
                        .bytes = (uint16_t)bytes,
                        .kind = MEM_ATOMIC,
                        .payload = (uint16_t)payload,
                        .token = payload};
}

static void add_lane(Rig *rig, uint32_t payload, uint32_t lane, uint64_t address, uint64_t operand) {
    AtomicPayload *p = &rig->functional.payloads[0][payload];
    p->mask |= 1u << lane;
    p->address[lane] = address;
    p->operand[lane] = operand;
}

static uint64_t old_value(const Rig *rig, uint32_t payload, uint32_t lane) {
    return rig->functional.payloads[0][payload].result[lane];
}

static uint32_t word_at(const Rig *rig, uint64_t address) {
    uint32_t value;
    device_read(rig->functional.memory, address, &value, sizeof value);
    return value;
}

START_TEST(atomics_happen_in_the_order_of_arrival) {
    Rig rig;
    make_rig(&rig, (Bench){.functional = true});
    for (uint32_t i = 0; i < 3; i++) {
        memory_driver_send(rig.driver, 10 + i, add_request(&rig, i, rig.base, 32));
        add_lane(&rig, i, 0, rig.base, 10);
        add_lane(&rig, i, 7, rig.base, 100);
    }
    run_idle(&rig);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(old_value(&rig, i, 0), 110 * i);
        ck_assert_uint_eq(old_value(&rig, i, 7), 110 * i + 10);
    }
    ck_assert_uint_eq(word_at(&rig, rig.base), 330);
    ck_assert_uint_eq(stat(&rig, "atomic_misses"), 1);
    ck_assert_uint_eq(stat(&rig, "atomic_merges"), 2);
    free_rig(&rig);
}
END_TEST

START_TEST(atomic_touches_only_lanes_in_its_segment) {
    Rig rig;
    make_rig(&rig, (Bench){.functional = true});
    memory_driver_send(rig.driver, 10, add_request(&rig, 0, rig.base + 64, 64));
    add_lane(&rig, 0, 0, rig.base + 60, 1);
    add_lane(&rig, 0, 1, rig.base + 64, 2);
    add_lane(&rig, 0, 2, rig.base + 124, 3);
    add_lane(&rig, 0, 3, rig.base + 128, 4);
    run_idle(&rig);
    ck_assert_uint_eq(word_at(&rig, rig.base + 60), 0);
    ck_assert_uint_eq(word_at(&rig, rig.base + 64), 2);
    ck_assert_uint_eq(word_at(&rig, rig.base + 124), 3);
    ck_assert_uint_eq(word_at(&rig, rig.base + 128), 0);
    free_rig(&rig);
}
END_TEST

static const uint64_t atomic_send_cycles[] = {16, 24, 25, 40};

/* With a quantum of 16 cycles, what is performed in a cycle is seen by others from the next multiple of 16
 * on. */
START_TEST(others_see_an_atomic_from_the_next_quantum_on) {
    Rig rig;
    uint64_t sent = atomic_send_cycles[_i], performed = sent + 1 + DELAY;
    make_rig(&rig, (Bench){.functional = true, .quantum = 16});
    memory_driver_send(rig.driver, sent, add_request(&rig, 0, rig.base, 32));
    add_lane(&rig, 0, 0, rig.base, 1);
    run_idle(&rig);
    ck_assert_uint_eq(((Watcher *)rig.watcher)->first_seen, (performed / 16 + 1) * 16);
    free_rig(&rig);
}
END_TEST

START_TEST(atomic_makes_its_line_dirty) {
    Rig rig;
    make_rig(&rig, (Bench){.functional = true, .l2 = "size=128 ways=1 sectors=4"});
    MemMessage m = add_request(&rig, 0, rig.base + 32, 32);
    add_lane(&rig, 0, 0, rig.base + 32, 1);
    ck_assert_int_eq(time_of(&rig, m, NULL), MISS_TIME);
    ck_assert_int_eq(time_of(&rig, m, NULL), HIT_TIME);
    hits(&rig, read_request(0x2000, 32));
    ck_assert_uint_eq(arrivals(&rig), 3);
    ck_assert_uint_eq(arrival(&rig, 0)->message.kind, MEM_READ);
    ck_assert_uint_eq(arrival(&rig, 1)->message.kind, MEM_WRITE);
    ck_assert_uint_eq(arrival(&rig, 1)->message.address, rig.base + 32);
    ck_assert_uint_eq(arrival(&rig, 1)->message.byte_mask[0], 0xffffffff00000000);
    free_rig(&rig);
}
END_TEST

START_TEST(atomic_has_the_data_array_to_itself) {
    Rig rig;
    make_rig(&rig, (Bench){.functional = true, .l2 = "atomic_latency=5"});
    l2_warm(rig.l2, rig.base);
    for (uint32_t i = 0; i < 2; i++) {
        memory_driver_send(rig.driver, 10 + i, add_request(&rig, i, rig.base, 32));
        add_lane(&rig, i, 0, rig.base, 1);
    }
    memory_driver_send(rig.driver, 12, read_request(rig.base, 32));
    run_idle(&rig);
    ck_assert_uint_eq(response(&rig, 0)->cycle, 10 + HIT_TIME + 5);
    /* The read after write of the data takes one cycle of its port. */
    ck_assert_uint_eq(response(&rig, 1)->cycle, response(&rig, 0)->cycle + 6);
    ck_assert_uint_eq(response(&rig, 2)->cycle, response(&rig, 1)->cycle + 1);
    free_rig(&rig);
}
END_TEST

/* Determinism. */

enum { RANDOM_REQUESTS = 3000 };

static MemMessage random_request(Rig *rig, Random *random, uint32_t token) {
    uint64_t bytes = 32ull << random_below(random, 3);
    uint64_t address = rig->base + random_below(random, COUNTERS_BYTES / bytes) * bytes;
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

static void make_random_rig(Rig *rig, const char *l2, TickOrder order, uint64_t seed, uint32_t quantum) {
    make_rig(rig, (Bench){.l2 = l2,
                          .driver = "refuse_from=2000 refuse_until=2300",
                          .responder = "capacity=5 refuse_from=4000 refuse_until=4400",
                          .order = order,
                          .order_seed = seed,
                          .quantum = quantum,
                          .functional = true});
    Random random = {11};
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < RANDOM_REQUESTS; i++) {
        cycle += random_below(&random, 4);
        memory_driver_send(rig->driver, cycle, random_request(rig, &random, i));
    }
}

static void check_same(Rig *a, Rig *b) {
    const MessageLog *x[] = {memory_driver_responses(a->driver), memory_responder_arrivals(a->responder)};
    const MessageLog *y[] = {memory_driver_responses(b->driver), memory_responder_arrivals(b->responder)};
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(x[i]->count, y[i]->count);
        ck_assert_mem_eq(x[i]->entries, y[i]->entries, x[i]->count * sizeof(LoggedMessage));
    }
    ck_assert_mem_eq(a->functional.payloads[0], b->functional.payloads[0], PAYLOADS * sizeof(AtomicPayload));
    ck_assert_uint_eq(device_digest(a->functional.memory), device_digest(b->functional.memory));
    char *stats_a = stats_text(a->sim), *stats_b = stats_text(b->sim);
    ck_assert_str_eq(stats_a, stats_b);
    free(stats_a);
    free(stats_b);
}

START_TEST(tick_order_changes_nothing) {
    Rig first;
    make_random_rig(&first, tight_slices[_i], ORDER_PATH, 0, 0);
    run_idle(&first);
    for (uint64_t other = 0; other < 4; other++) {
        Rig rig;
        make_random_rig(&rig, tight_slices[_i], other ? ORDER_SHUFFLED : ORDER_REVERSED, other, 0);
        run_idle(&rig);
        check_same(&first, &rig);
        free_rig(&rig);
    }
    free_rig(&first);
}
END_TEST

/* Ticked in every cycle the slice must do what it does when it sleeps as long as it says. */
START_TEST(needless_ticks_change_nothing) {
    Rig sleeping, awake;
    make_random_rig(&sleeping, tight_slices[_i], ORDER_PATH, 0, 0);
    make_random_rig(&awake, tight_slices[_i], ORDER_PATH, 0, 1);
    run_idle(&sleeping);
    do
        object_poke(awake.l2, awake.sim->now);
    while (sim_run(awake.sim, awake.sim->now + awake.l2->period) != STOP_IDLE &&
           awake.sim->now < sleeping.sim->now);
    run_idle(&awake);
    check_same(&sleeping, &awake);
    free_rig(&sleeping);
    free_rig(&awake);
}
END_TEST

START_TEST(every_request_is_answered_once_and_as_it_came) {
    Rig rig;
    make_random_rig(&rig, tight_slices[_i], ORDER_PATH, 0, 0);
    run_idle(&rig);
    const MessageLog *sent = memory_driver_sent(rig.driver), *back = memory_driver_responses(rig.driver);
    bool *seen = calloc(RANDOM_REQUESTS, sizeof *seen);
    for (uint32_t i = 0; i < back->count; i++) {
        MemMessage m = back->entries[i].message;
        ck_assert_uint_lt(m.token, RANDOM_REQUESTS);
        ck_assert(!seen[m.token]);
        seen[m.token] = true;
        m.flags &= (uint8_t)~MEM_HIT;
        ck_assert_mem_eq(&m, &sent->entries[m.token].message, sizeof m);
    }
    for (uint32_t i = 0; i < RANDOM_REQUESTS; i++)
        ck_assert_int_eq(seen[i], !(sent->entries[i].message.flags & MEM_POSTED));
    free(seen);
    free_rig(&rig);
}
END_TEST

static TCase *read_tests(void) {
    TCase *tests = tcase_create("reads");
    tcase_add_loop_test(tests, hit_is_answered_after_the_delay_and_not_before, 0, 3);
    tcase_add_test(tests, set_index_counts_the_lines_of_the_slice);
    tcase_add_test(tests, only_missing_sectors_are_fetched_and_one_answer_goes_back);
    tcase_add_test(tests, request_merges_with_sectors_under_way_and_fetches_the_rest);
    tcase_add_test(tests, line_stays_reserved_until_its_last_sector_has_come);
    tcase_add_test(tests, narrow_data_port_takes_a_line_in_several_cycles);
    tcase_add_test(tests, narrow_fill_port_takes_a_line_in_several_cycles);
    return tests;
}

static TCase *write_tests(void) {
    TCase *tests = tcase_create("writes");
    tcase_add_test(tests, write_of_a_whole_line_fetches_nothing);
    tcase_add_test(tests, write_of_a_part_is_acknowledged_at_once_and_fetches_the_line);
    tcase_add_test(tests, write_of_whole_sectors_fetches_only_the_others_when_they_are_read);
    tcase_add_test(tests, write_to_a_sector_under_way_is_not_readable_before_the_fill);
    tcase_add_test(tests, write_that_fetches_nothing_needs_no_mshr);
    tcase_add_test(tests, writes_and_write_backs_take_the_data_port);
    tcase_add_test(tests, lazy_write_fetches_a_sector_when_it_is_read_and_not_before);
    tcase_add_test(tests, lazy_writes_that_complete_a_sector_make_it_readable);
    tcase_add_test(tests, dirty_line_is_written_back_with_the_bytes_written);
    tcase_add_test(tests, posted_write_is_not_acknowledged);
    tcase_add_test(tests, write_waits_for_a_line_while_every_way_is_reserved);
    tcase_add_test(tests, warm_lines_are_there_at_once_and_clean);
    tcase_add_test(tests, warm_line_comes_no_sooner_when_it_is_under_way);
    tcase_add_test(tests, warm_line_remembers_nothing_written_before);
    return tests;
}

static TCase *atomic_tests(void) {
    TCase *tests = tcase_create("atomics");
    tcase_add_test(tests, atomics_happen_in_the_order_of_arrival);
    tcase_add_test(tests, atomic_touches_only_lanes_in_its_segment);
    tcase_add_loop_test(tests, others_see_an_atomic_from_the_next_quantum_on, 0, 4);
    tcase_add_test(tests, atomic_makes_its_line_dirty);
    tcase_add_test(tests, atomic_has_the_data_array_to_itself);
    return tests;
}

static TCase *determinism_tests(void) {
    TCase *tests = tcase_create("determinism");
    tcase_add_loop_test(tests, tick_order_changes_nothing, 0, TIGHT_SLICES);
    tcase_add_loop_test(tests, needless_ticks_change_nothing, 0, TIGHT_SLICES);
    tcase_add_loop_test(tests, every_request_is_answered_once_and_as_it_came, 0, TIGHT_SLICES);
    return tests;
}

Suite *l2_slice_suite(void) {
    Suite *suite = suite_create("l2_slice");
    suite_add_tcase(suite, read_tests());
    suite_add_tcase(suite, write_tests());
    suite_add_tcase(suite, atomic_tests());
    suite_add_tcase(suite, determinism_tests());
    return suite;
}
