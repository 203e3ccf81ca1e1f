/* The crossbar under load, against what is known of input-queued switches: Karol, Hluchyj and Morgan, "Input
 * Versus Output Queueing on a Space-Division Packet Switch", 1987. Links of one cycle, packets of one flit
 * unless a test says otherwise. */
#include "mem/parts/traffic/traffic.h"

#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/mem/memory_driver.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

Suite *crossbar_traffic_suite(void);

enum {
    MAX_ENDS = 64,
    BEGIN = 500,  /* cycle: by then all queues are full */
    UNLOADED = 3, /* cycles: two links and the crossbar */
};

static Sim *sim;
static uint32_t ends;
static SimObject *source[MAX_ENDS], *slice[MAX_ENDS];

/* What a source does; its destination is (5 i + 3) mod ends for `share` of its packets. */
typedef struct {
    double rate, share;
    uint32_t bytes; /* of payload: writes that want no answer */
    bool to_one;    /* the destination is slice 0 for all */
} Traffic;

static SimObject *finished(const char *class, const char *name, uint32_t index, const char *parameters) {
    char path[32];
    snprintf(path, sizeof path, "%s[%u]", name, index);
    return tiny_add(sim, class, path, parameters);
}

static void wire(SimObject *end, const char *end_port, SimObject *crossbar, const char *port,
                 uint32_t index) {
    char name[16];
    snprintf(name, sizeof name, "%s[%u]", port, index);
    sim_wire(sim, end, end_port, crossbar, name, (LinkOptions){0}, (LinkOptions){0});
}

static SimObject *add_source(uint32_t i, Traffic traffic) {
    char parameters[256];
    snprintf(parameters, sizeof parameters,
             "writes=1 posted=true rate=%.9g destination_share=%.9g destination=%u bytes=%u footprint=%u",
             traffic.rate, traffic.share, traffic.to_one ? 0 : (5 * i + 3) % ends,
             traffic.bytes ? traffic.bytes : 16, ends * 256 * 4);
    return finished("TrafficSource", "source", i, parameters);
}

/* Square; `sink`: the class that takes the packets. */
static SimObject *start(uint32_t count, const char *crossbar_parameters, const char *sink) {
    char parameters[128];
    class_register_all();
    memory_test_classes();
    ends = count;
    sim = sim_new("test");
    sim_clock(sim, "clock", 1000000000);
    snprintf(parameters, sizeof parameters, "channels=%u", count);
    tiny_add(sim, "AddressMap", "map", parameters);
    snprintf(parameters, sizeof parameters, "up=%u down=%u %s", count, count, crossbar_parameters);
    SimObject *crossbar = tiny_add(sim, "Crossbar", "xbar", parameters);
    for (uint32_t j = 0; j < count; j++) {
        slice[j] = finished(sink, "slice", j, NULL);
        wire(slice[j], "cpu", crossbar, "down", j);
    }
    return crossbar;
}

static void build(uint32_t count, const char *crossbar_parameters, const char *sink, Traffic traffic) {
    SimObject *crossbar = start(count, crossbar_parameters, sink);
    for (uint32_t i = 0; i < count; i++) {
        source[i] = add_source(i, traffic);
        wire(source[i], "mem", crossbar, "up", i);
    }
    sim_elaborate(sim);
}

static void tear_down(void) {
    sim_free(sim);
}

static void run_until(uint64_t cycle) {
    sim_run(sim, cycle * sim->clocks[0].period);
    sim_check(sim, false);
}

static uint64_t received(void) {
    uint64_t count = 0;
    for (uint32_t j = 0; j < ends; j++)
        count += stat_of(slice[j], "received");
    return count;
}

/* Packets per port and cycle after BEGIN, when all queues have filled. */
static double throughput(uint64_t cycles) {
    run_until(BEGIN);
    uint64_t before = received();
    run_until(BEGIN + cycles);
    return (double)(received() - before) / (double)cycles / ends;
}

/* Cycles from a packet's coming into being to its being taken, less links and crossbar: its waiting. */
static double mean_wait(uint64_t cycles, uint32_t flits) {
    uint64_t ticks = 0;
    run_until(cycles);
    for (uint32_t j = 0; j < ends; j++)
        ticks += stat_of(slice[j], "latency_ticks");
    return (double)ticks / (double)received() / (double)sim->clocks[0].period - UNLOADED - (flits - 1);
}

/* ---- Saturation. */

/* Table I of the paper; an input-queued switch of very many ports passes 2 - sqrt(2). Which of the heads that
 * want an output wins makes no difference to it. */
static const struct {
    uint32_t ports;
    double throughput;
} saturation[] = {{1, 1},      {2, 0.75},   {3, 0.6825}, {4, 0.6553},
                  {5, 0.6399}, {6, 0.6302}, {7, 0.6234}, {8, 0.6184}};

START_TEST(uniform_traffic_saturates_where_head_of_line_blocking_says) {
    build(saturation[_i].ports, "", "TrafficSink", (Traffic){.rate = 1});
    ck_assert_double_eq_tol(throughput(40000), saturation[_i].throughput, 0.004);
}
END_TEST

START_TEST(many_ports_come_near_the_limit_from_above) {
    build(MAX_ENDS, "", "TrafficSink", (Traffic){.rate = 1});
    double passed = throughput(4000);
    ck_assert_double_ge(passed, 0.5858);
    ck_assert_double_le(passed, 0.598);
}
END_TEST

/* Five flits a packet: heads ask at other times, but the fraction of time that an output is busy stays near
 * that of single flits. */
START_TEST(long_packets_saturate_near_short_ones) {
    build(4, "", "TrafficSink", (Traffic){.rate = 1, .bytes = 128});
    double flits = 5 * throughput(60000);
    ck_assert_double_ge(flits, 0.6553);
    ck_assert_double_le(flits, 0.72);
}
END_TEST

START_TEST(speedup_of_two_all_but_removes_head_of_line_blocking) {
    build(16, "speedup=2", "TrafficSink", (Traffic){.rate = 1});
    ck_assert_double_ge(throughput(5000), 0.9);
}
END_TEST

START_TEST(below_saturation_everything_passes) {
    build(8, "", "TrafficSink", (Traffic){.rate = 0.55});
    ck_assert_double_eq_tol(throughput(20000), 0.55, 0.01);
}
END_TEST

START_TEST(permutation_passes_at_full_rate) {
    build(16, "", "TrafficSink", (Traffic){.rate = 1, .share = 1});
    ck_assert_double_eq(throughput(1000), 1);
    ck_assert_uint_eq(stat_of(sim_find(sim, "xbar"), "request_conflicts"), 0);
}
END_TEST

/* ---- Waiting. */

/* All to one output is a single server with constant service and, in each cycle, a binomial number of
 * arrivals: the mean wait is (N - 1) / N * load / (2 (1 - load)), equation (2) of the paper. */
static const double loads[] = {0.2, 0.5, 0.8};

START_TEST(one_output_waits_like_a_queue_with_constant_service) {
    double load = loads[_i], n = 8;
    build(8, "", "TrafficSink", (Traffic){.rate = load / n, .share = 1, .to_one = true});
    double expected = (n - 1) / n * load / (2 * (1 - load));
    ck_assert_double_eq_tol(mean_wait(300000, 1), expected, 0.05 * expected);
}
END_TEST

/* One source and packets of five flits: a server of constant service n and Bernoulli arrivals, whose mean
 * wait is p n (n - 1) / (2 (1 - p n)); M/D/1 for long packets. */
START_TEST(long_packets_of_one_source_wait_like_a_queue_with_constant_service) {
    double load = loads[_i], n = 5, p = load / n;
    build(1, "", "TrafficSink", (Traffic){.rate = p, .bytes = 128});
    double expected = p * n * (n - 1) / (2 * (1 - p * n));
    ck_assert_double_eq_tol(mean_wait(400000, 5), expected, 0.05 * expected);
}
END_TEST

START_TEST(packet_alone_does_not_wait) {
    build(8, "", "TrafficSink", (Traffic){.rate = 0.05, .share = 1});
    ck_assert_double_eq(mean_wait(20000, 1), 0);
}
END_TEST

/* At low load a packet that finds others before it finds one, at its output as with output queues; blocking
 * at the input is of second order. */
START_TEST(uniform_traffic_at_low_load_waits_as_with_output_queues) {
    double load = 0.1, n = 8, output_queued = (n - 1) / n * load / (2 * (1 - load));
    build(8, "", "TrafficSink", (Traffic){.rate = load});
    double wait = mean_wait(60000, 1);
    ck_assert_double_ge(wait, 0.97 * output_queued);
    ck_assert_double_le(wait, 1.25 * output_queued);
}
END_TEST

/* ---- Fairness. */

typedef struct {
    double jain; /* Jain's index: 1 when all send equally many */
    double least_to_most, throughput;
} Shares;

/* Of what the sources sent in a window after BEGIN. */
static Shares shares_in_window(uint64_t cycles) {
    uint64_t before[MAX_ENDS];
    double sum = 0, squares = 0, least = 1e30, most = 0;
    run_until(BEGIN);
    for (uint32_t i = 0; i < ends; i++)
        before[i] = stat_of(source[i], "sent");
    run_until(BEGIN + cycles);
    for (uint32_t i = 0; i < ends; i++) {
        double sent = (double)(stat_of(source[i], "sent") - before[i]);
        sum += sent;
        squares += sent * sent;
        if (sent < least) least = sent;
        if (sent > most) most = sent;
    }
    return (Shares){sum * sum / (ends * squares), least / most, sum / (double)cycles / ends};
}

START_TEST(hot_output_is_always_busy_and_shared_equally) {
    build(16, "", "TrafficSink", (Traffic){.rate = 1, .share = 1, .to_one = true});
    Shares shares = shares_in_window(16 * 200);
    ck_assert_double_ge(shares.jain, 0.99999);
    ck_assert_double_ge(shares.least_to_most, 199.0 / 201);
    ck_assert_uint_eq(stat_of(slice[0], "received"), BEGIN + 16 * 200 - UNLOADED);
}
END_TEST

/* Slice 0 gets half of the packets and 1/16 of the rest: it is busy all the time, and so all together pass
 * 32/17 packets per cycle. */
START_TEST(hot_spot_limits_everybody_and_favours_nobody) {
    build(16, "", "TrafficSink", (Traffic){.rate = 1, .share = 0.5, .to_one = true});
    Shares shares = shares_in_window(20000);
    ck_assert_double_eq_tol(shares.throughput, 32.0 / 17 / 16, 0.002);
    ck_assert_uint_ge(stat_of(slice[0], "received"), 20000);
    ck_assert_double_ge(shares.jain, 0.999);
    ck_assert_double_ge(shares.least_to_most, 0.9);
}
END_TEST

/* ---- Nobody starves. An output serves each other input at most once before it serves the head that waits:
 * between two packets of an input pass at most as many cycles as the packets of all inputs have flits. */

static uint64_t longest_gap(uint32_t of_source, uint64_t *packets) {
    uint64_t gap = 0, previous = 0, cycle;
    uint32_t next[MAX_ENDS] = {0};
    *packets = 0;
    for (;;) { /* merges the logs of all slices */
        const LoggedMessage *first = NULL;
        uint32_t at = 0;
        for (uint32_t j = 0; j < ends; j++) {
            const MessageLog *log = memory_responder_arrivals(slice[j]);
            while (next[j] < log->count && log->entries[next[j]].message.sm != of_source)
                next[j]++;
            if (next[j] == log->count || (first && log->entries[next[j]].cycle >= first->cycle)) continue;
            first = &log->entries[next[j]];
            at = j;
        }
        if (!first) return gap;
        cycle = first->cycle;
        if (previous && cycle - previous > gap) gap = cycle - previous;
        previous = cycle;
        next[at]++;
        ++*packets;
    }
}

static const Traffic crowds[] = {
    {.rate = 1, .share = 1, .to_one = true},
    {.rate = 1, .share = 0.5, .to_one = true},
    {.rate = 1},
    {.rate = 1, .bytes = 128},
    {.rate = 1, .share = 0.9, .to_one = true, .bytes = 128},
};

START_TEST(no_input_waits_longer_than_for_one_packet_of_each_other) {
    uint32_t flits = crowds[_i].bytes ? 5 : 1;
    uint64_t packets, bound = 8 * flits;
    build(8, "", "MemoryResponder", crowds[_i]);
    run_until(4000);
    for (uint32_t i = 0; i < ends; i++) {
        ck_assert_uint_le(longest_gap(i, &packets), bound);
        ck_assert_uint_ge(packets, 4000 / bound - 1);
    }
}
END_TEST

/* Source 0 sends five flits, the others one: it has its turn as often as they, every 5 + 7 cycles. */
START_TEST(long_packets_do_not_starve_among_short_ones) {
    uint64_t packets;
    SimObject *crossbar = start(8, "output_buffer=5", "MemoryResponder");
    for (uint32_t i = 0; i < 8; i++) {
        source[i] = add_source(i, (Traffic){.rate = 1, .share = 1, .to_one = true, .bytes = i ? 16 : 128});
        wire(source[i], "mem", crossbar, "up", i);
    }
    sim_elaborate(sim);
    run_until(4000);
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t gap = longest_gap(i, &packets);
        ck_assert_uint_ge(gap, 12);
        ck_assert_uint_le(gap, 12 + 5); /* the buffer holds no more than the long packet */
        ck_assert_uint_ge(packets, 4000 / 17);
    }
}
END_TEST

Suite *crossbar_traffic_suite(void) {
    Suite *suite = suite_create("crossbar under load");
    TCase *tests = tcase_create("traffic");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_loop_test(tests, uniform_traffic_saturates_where_head_of_line_blocking_says, 0,
                        sizeof saturation / sizeof *saturation);
    tcase_add_test(tests, many_ports_come_near_the_limit_from_above);
    tcase_add_test(tests, long_packets_saturate_near_short_ones);
    tcase_add_test(tests, speedup_of_two_all_but_removes_head_of_line_blocking);
    tcase_add_test(tests, below_saturation_everything_passes);
    tcase_add_test(tests, permutation_passes_at_full_rate);
    tcase_add_loop_test(tests, one_output_waits_like_a_queue_with_constant_service, 0, 3);
    tcase_add_loop_test(tests, long_packets_of_one_source_wait_like_a_queue_with_constant_service, 0, 3);
    tcase_add_test(tests, packet_alone_does_not_wait);
    tcase_add_test(tests, uniform_traffic_at_low_load_waits_as_with_output_queues);
    tcase_add_test(tests, hot_output_is_always_busy_and_shared_equally);
    tcase_add_test(tests, hot_spot_limits_everybody_and_favours_nobody);
    tcase_add_loop_test(tests, no_input_waits_longer_than_for_one_packet_of_each_other, 0,
                        sizeof crowds / sizeof *crowds);
    tcase_add_test(tests, long_packets_do_not_starve_among_short_ones);
    suite_add_tcase(suite, tests);
    return suite;
}
