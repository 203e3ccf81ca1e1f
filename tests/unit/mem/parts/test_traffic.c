/* Sources and sinks: how many requests come into being, when, where they go, and what they measure. */
#include "mem/parts/traffic/traffic.h"

#include "core/sim/checkpoint/snapshot.h"
#include "mem/dram/memory_controller.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/caches.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/mem/memory_driver.h"
#include "tests/unit/panic_text.h"
#include "tests/unit/suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *traffic_suite(void);

static Sim *sim;
static SimObject *source, *end;

static void start_with(const char *map) {
    class_register_all();
    memory_test_classes();
    sim = sim_new("test");
    sim_clock(sim, "clock", 1000000000);
    tiny_add(sim, "AddressMap", "map", map);
}

static void start(void) {
    start_with("channels=3 slices_per_channel=2 slice_mask=0x100");
}

static void tear_down(void) {
    sim_free(sim);
}

/* A source wired to an object of `class`, by links of one cycle. */
static void build(const char *source_parameters, const char *class, const char *end_parameters) {
    start();
    source = tiny_add(sim, "TrafficSource", "source", source_parameters);
    end = tiny_add(sim, class, "end", end_parameters);
    sim_wire(sim, source, "mem", end, "cpu", (LinkOptions){0}, (LinkOptions){0});
    sim_elaborate(sim);
}

static void run_cycles(uint64_t cycles) {
    sim_run(sim, sim->now + cycles * source->period);
}

static void run_to_end(void) {
    ck_assert_int_eq(sim_run(sim, NEVER - sim->quantum), STOP_IDLE);
    sim_settle(sim);
    sim_check(sim, true);
}

/* A sum of n draws with probability p, within 4 standard deviations. */
static void assert_binomial(uint64_t count, uint64_t n, double p) {
    ck_assert_double_eq_tol((double)count, (double)n * p, 4 * sqrt((double)n * p * (1 - p)) + 1e-9);
}

/* ---- When. */

START_TEST(source_sends_at_its_rate) {
    static const char *const rates[] = {"rate=0.001", "rate=0.25", "rate=0.9"};
    static const double values[] = {0.001, 0.25, 0.9};
    build(rates[_i], "TrafficSink", NULL);
    run_cycles(40000);
    sim_check(sim, false);
    assert_binomial(stat_of(source, "sent"), 40000, values[_i]);
    ck_assert_uint_eq(stat_of(source, "wait_cycles"), 0);
    ck_assert_uint_eq(stat_of(source, "longest_wait_cycles"), 0);
}
END_TEST

START_TEST(rate_of_one_is_a_request_in_every_cycle) {
    build("rate=1", "TrafficSink", NULL);
    run_cycles(1000);
    ck_assert_uint_eq(stat_of(source, "sent"), 1000);
    ck_assert_uint_eq(stat_of(end, "received"), 999);
}
END_TEST

/* Each cycle decides for itself: after a request the next cycle has one with the same probability. */
START_TEST(requests_come_independently_of_each_other) {
    uint64_t pairs = 0;
    build("rate=0.3", "MemoryResponder", "capacity=100000");
    run_cycles(30000);
    const MessageLog *log = memory_responder_arrivals(end);
    for (uint32_t i = 1; i < log->count; i++)
        pairs += log->entries[i].cycle == log->entries[i - 1].cycle + 1;
    assert_binomial(log->count, 30000, 0.3);
    assert_binomial(pairs, log->count, 0.3);
}
END_TEST

/* Request k comes into being in cycle k and is taken in cycle 1 + 4 k. */
START_TEST(time_counts_from_coming_into_being) {
    enum { TAKEN = 500 };
    build("writes=1 posted=true", "TrafficSink", "interval=4");
    run_cycles(4 * TAKEN);
    ck_assert_uint_eq(stat_of(end, "received"), TAKEN);
    ck_assert_uint_eq(stat_of(end, "latency_ticks"),
                      (TAKEN + 3 * TAKEN * (TAKEN - 1) / 2) * (uint64_t)source->period);
    ck_assert_uint_eq(stat_of(end, "longest_latency_ticks"), (1 + 3 * (TAKEN - 1)) * source->period);
    /* Those in the link wait there: 8, and the pop of cycle 1 + 4 k is a place in the next cycle. */
    uint64_t sent = stat_of(source, "sent"), last_sent = 4 * (sent - 1 - 8) + 2;
    ck_assert_uint_eq(sent, TAKEN + 8);
    ck_assert_uint_eq(stat_of(source, "longest_wait_cycles"), last_sent - (sent - 1));
}
END_TEST

/* From sending to the answer: 1 + 18 + 1 cycles. */
START_TEST(no_more_requests_than_outstanding_wait_for_an_answer) {
    build("outstanding=4", "TrafficSink", "latency=18");
    run_cycles(2000);
    ck_assert_uint_eq(stat_of(source, "sent"), 4 * 100);
    ck_assert_uint_eq(stat_of(source, "answered"), 4 * 99);
}
END_TEST

START_TEST(sink_holds_no_more_answers_than_its_capacity) {
    build("", "TrafficSink", "latency=10 capacity=2");
    run_cycles(2000);
    /* Taken in 1 and 2, 11 and 12, ... */
    ck_assert_uint_eq(stat_of(end, "received"), 2 * 200);
    ck_assert_uint_eq(stat_of(end, "answered"), 2 * 199);
    sim_check(sim, false);
}
END_TEST

START_TEST(source_stops_at_its_limit) {
    build("limit=1234 rate=0.5 writes=0.5", "TrafficSink", "latency=7");
    run_to_end();
    ck_assert_uint_eq(stat_of(source, "sent"), 1234);
    ck_assert_uint_eq(stat_of(source, "answered"), 1234);
    /* 1 + 7 + 1 cycles each: nothing ever waits. */
    ck_assert_uint_eq(stat_of(source, "latency_ticks"), 1234 * 9 * source->period);
    ck_assert_uint_eq(stat_of(source, "longest_latency_ticks"), 9 * source->period);
}
END_TEST

/* ---- What. */

static uint64_t bytes_marked(const MemMessage *m) {
    return (uint64_t)(__builtin_popcountll(m->byte_mask[0]) + __builtin_popcountll(m->byte_mask[1]));
}

START_TEST(requests_are_what_the_parameters_say) {
    uint64_t writes = 0;
    build("bytes=32 writes=0.25 posted=true base=4096 footprint=8192 limit=4000", "MemoryResponder",
          "capacity=5000");
    run_to_end();
    const MessageLog *log = memory_responder_arrivals(end);
    ck_assert_uint_eq(log->count, 4000);
    for (uint32_t i = 0; i < log->count; i++) {
        const MemMessage *m = &log->entries[i].message;
        bool write = m->kind == MEM_WRITE;
        writes += write;
        ck_assert_uint_eq(m->bytes, 32);
        ck_assert_uint_eq(m->address % 32, 0);
        ck_assert_uint_ge(m->address, 4096);
        ck_assert_uint_lt(m->address, 4096 + 8192);
        ck_assert_uint_eq(m->flags, write ? MEM_POSTED : 0);
        ck_assert_uint_eq(bytes_marked(m), write ? 32 : 0);
        uint64_t word = m->byte_mask[m->address % LINE_BYTES_MAX / 64];
        ck_assert(!write || (word >> m->address % 64 & 0xffffffff) == 0xffffffff);
    }
    assert_binomial(writes, 4000, 0.25);
    ck_assert_uint_eq(stat_of(source, "posted_sent"), writes);
    ck_assert_uint_eq(stat_of(source, "answered"), 4000 - writes);
    ck_assert_uint_eq(stat_of(source, "sent_bytes"), 4000 * 32);
}
END_TEST

START_TEST(every_place_of_the_footprint_is_as_likely) {
    uint64_t count[16] = {0};
    build("base=2048 footprint=2048 limit=16000", "MemoryResponder", "capacity=20000");
    run_to_end();
    const MessageLog *log = memory_responder_arrivals(end);
    for (uint32_t i = 0; i < log->count; i++)
        count[(log->entries[i].message.address - 2048) / 128]++;
    for (int i = 0; i < 16; i++)
        assert_binomial(count[i], 16000, 1.0 / 16);
}
END_TEST

START_TEST(sequential_addresses_go_round) {
    build("addresses=sequential base=1024 footprint=700 bytes=64 limit=35", "MemoryResponder", NULL);
    run_to_end();
    const MessageLog *log = memory_responder_arrivals(end);
    for (uint32_t i = 0; i < 35; i++) /* 10 whole requests fit 700 bytes */
        ck_assert_uint_eq(log->entries[i].message.address, 1024 + i % 10 * 64);
}
END_TEST

/* Six slices: the aimed half and a sixth of the others. */
START_TEST(share_of_the_requests_goes_to_the_destination) {
    uint64_t hits = 0;
    build("destination=3 destination_share=0.5 limit=9000", "MemoryResponder", "capacity=10000");
    const AddressMap *map = address_map_find(source);
    run_to_end();
    const MessageLog *log = memory_responder_arrivals(end);
    for (uint32_t i = 0; i < log->count; i++)
        hits += address_map_slice(map, log->entries[i].message.address) == 3;
    assert_binomial(hits, 9000, 0.5 + 0.5 / 6);
}
END_TEST

START_TEST(share_of_one_is_all_of_them) {
    static const char *const ways[] = {"destination=5 destination_share=1 limit=2000",
                                       "destination=5 destination_share=1 limit=2000 addresses=sequential"};
    build(ways[_i], "MemoryResponder", "capacity=3000");
    const AddressMap *map = address_map_find(source);
    run_to_end();
    const MessageLog *log = memory_responder_arrivals(end);
    for (uint32_t i = 0; i < 2000; i++)
        ck_assert_uint_eq(address_map_slice(map, log->entries[i].message.address), 5);
}
END_TEST

/* ---- The same again. */

/* Two sources, both to a sink of their own. */
static char *stats_of_two(const char *parameters, TickOrder order, bool *differ) {
    SimObject *sources[2];
    char path[16];
    start();
    sim->order = order;
    sim->order_seed = 5;
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "source[%u]", i);
        sources[i] = tiny_add(sim, "TrafficSource", path, parameters);
        snprintf(path, sizeof path, "sink[%u]", i);
        sim_wire(sim, sources[i], "mem", tiny_add(sim, "TrafficSink", path, "latency=9 capacity=3"), "cpu",
                 (LinkOptions){.depth = 2}, (LinkOptions){0});
    }
    sim_elaborate(sim);
    sim_run(sim, 3000 * sim->clocks[0].period);
    *differ = stat_of(sources[0], "sent") != stat_of(sources[1], "sent");
    return stats_text(sim);
}

START_TEST(seed_decides_and_nothing_else) {
    static const char mixed[] = "rate=0.2 writes=0.5 seed=7", other_seed[] = "rate=0.2 writes=0.5 seed=8";
    bool differ, ignored;
    char *first = stats_of_two(mixed, ORDER_PATH, &differ);
    ck_assert_msg(differ, "both sources send the same");
    for (TickOrder order = ORDER_PATH; order <= ORDER_SHUFFLED; order++) {
        tear_down();
        char *again = stats_of_two(mixed, order, &ignored);
        ck_assert_str_eq(first, again);
        free(again);
    }
    tear_down();
    char *other = stats_of_two(other_seed, ORDER_PATH, &ignored);
    ck_assert_str_ne(first, other);
    free(first);
    free(other);
}
END_TEST

START_TEST(saved_source_and_sink_go_on_as_if_they_had_never_stopped) {
    static const char parameters[] = "rate=0.4 writes=0.3 outstanding=3 addresses=sequential";
    Buffer buffer = {0};
    char why[200];
    build(parameters, "TrafficSink", "latency=9 capacity=2");
    run_cycles(500);
    sim_save(sim, &buffer);
    run_cycles(1500);
    char *expected = stats_text(sim);
    tear_down();
    build(parameters, "TrafficSink", "latency=9 capacity=2");
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    ck_assert_msg(sim_load(sim, &reader, NULL, why, sizeof why), "%s", why);
    run_cycles(1500);
    char *got = stats_text(sim);
    ck_assert_str_eq(got, expected);
    sim_check(sim, false);
    buffer_free(&buffer);
    free(expected);
    free(got);
}
END_TEST

/* ---- What it is for: a part alone. */

/* All lines are there after the first round. */
START_TEST(source_measures_a_cache_alone) {
    start();
    source = tiny_add(sim, "TrafficSource", "source",
                      "addresses=sequential footprint=4KiB rate=0.05 limit=320");
    SimObject *l1 = tiny_add(sim, "L1", "l1", "size=16KiB ways=4 mshrs=8 latency=3");
    end = tiny_add(sim, "TrafficSink", "below", "latency=20");
    sim_wire(sim, source, "mem", l1, "cpu", (LinkOptions){0}, (LinkOptions){0});
    sim_wire(sim, l1, "mem", end, "cpu", (LinkOptions){0}, (LinkOptions){0});
    sim_elaborate(sim);
    run_to_end();
    ck_assert_uint_eq(stat_of(l1, "misses"), 32);
    ck_assert_uint_eq(stat_of(l1, "hits"), 320 - 32);
    ck_assert_uint_eq(stat_of(end, "received"), 32);
}
END_TEST

/* One burst per read and no row is ever left: two cycles each, less what the first row takes to open. */
START_TEST(source_measures_a_memory_controller_alone) {
    start_with("channels=1");
    source = tiny_add(sim, "TrafficSource", "source",
                      "addresses=sequential bytes=64 footprint=256 limit=2000");
    end = tiny_add(sim, "MemoryController", "mc", "check_commands=true bank_groups=1 tCCDL=2");
    sim_wire(sim, source, "mem", end, "cpu[0]", (LinkOptions){.depth = 64}, (LinkOptions){.depth = 64});
    sim_elaborate(sim);
    run_to_end();
    ck_assert_uint_eq(stat_of(end, "row_hits"), 1999);
    ck_assert_uint_eq(stat_of(end, "data_bus_cycles"), 4000);
    ck_assert_uint_le(stat_of(end, "cycles"), 4000 + 100);
}
END_TEST

/* ---- Broken invariants. */

static void receive_once_more(void *context) {
    const Field *f = object_field(end, FIELD_STAT, context);
    ++*(uint64_t *)(void *)((char *)end + f->offset);
    sim_check(sim, false);
}

START_TEST(broken_book_of_a_sink_is_found) {
    build("rate=0.5", "TrafficSink", "latency=50");
    run_cycles(1000);
    sim_check(sim, false);
    assert_panic(receive_once_more, "received", "requests received and");
    assert_panic(receive_once_more, "answered", "requests received and");
    assert_panic(receive_once_more, "posted_received", "requests need an answer,");
}
END_TEST

/* ---- Users' errors. */

static const struct {
    const char *parameters, *message;
} mistakes[] = {
    {"destination=6 destination_share=0.1",
     "source.destination: expected a slice of the address map (0 to 5), got 6"},
    {"footprint=64", "source: expected a footprint of bytes = 128 or more and a base that is a multiple of "
                     "it, got 64 and 0x0"},
    {"base=64", "a base that is a multiple of it, got 67108864 and 0x40"},
    {"rate=0", "source.rate"},
    {"rate=1.5", "source.rate"},
    {"bytes=256", "source.bytes"},
    {"bytes=96", "source.bytes"},
    {"footprint=128 destination=5 destination_share=1",
     "source.destination: expected an address of slice 5 between 0x0 and 0x80, got none in 65536 tries"},
};

static void build_and_run(void *parameters) {
    build(parameters, "TrafficSink", NULL);
    run_cycles(10);
}

START_TEST(mistake_is_an_error_that_says_what_is_legal) {
    const char *message = tiny_error(build_and_run, (void *)(uintptr_t)mistakes[_i].parameters, NULL);
    ck_assert_msg(strstr(message, mistakes[_i].message), "%s", message);
}
END_TEST

Suite *traffic_suite(void) {
    Suite *suite = suite_create("traffic");
    TCase *tests = tcase_create("traffic");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_loop_test(tests, source_sends_at_its_rate, 0, 3);
    tcase_add_test(tests, rate_of_one_is_a_request_in_every_cycle);
    tcase_add_test(tests, requests_come_independently_of_each_other);
    tcase_add_test(tests, time_counts_from_coming_into_being);
    tcase_add_test(tests, no_more_requests_than_outstanding_wait_for_an_answer);
    tcase_add_test(tests, sink_holds_no_more_answers_than_its_capacity);
    tcase_add_test(tests, source_stops_at_its_limit);
    tcase_add_test(tests, requests_are_what_the_parameters_say);
    tcase_add_test(tests, every_place_of_the_footprint_is_as_likely);
    tcase_add_test(tests, sequential_addresses_go_round);
    tcase_add_test(tests, share_of_the_requests_goes_to_the_destination);
    tcase_add_loop_test(tests, share_of_one_is_all_of_them, 0, 2);
    tcase_add_test(tests, seed_decides_and_nothing_else);
    tcase_add_test(tests, saved_source_and_sink_go_on_as_if_they_had_never_stopped);
    tcase_add_test(tests, source_measures_a_cache_alone);
    tcase_add_test(tests, source_measures_a_memory_controller_alone);
    tcase_add_test(tests, broken_book_of_a_sink_is_found);
    tcase_add_loop_test(tests, mistake_is_an_error_that_says_what_is_legal, 0,
                        sizeof mistakes / sizeof *mistakes);
    suite_add_tcase(suite, tests);
    return suite;
}
