/* Nothing that a crossbar does depends on the order in which objects are ticked, or on how often. */
#include "core/sim/base/random.h"
#include "core/sim/halves.h"
#include "tests/unit/mem/network/crossbar_fixture.h"

#include <stdlib.h>

/* Reads and writes at random times; slice 1 and SM 2 refuse for a while, so that both ways run full. */
static Network start_mixed_traffic(Options options) {
    Network net = make_network(options);
    object_set_number(net.slice[1], "refuse_from", 200);
    object_set_number(net.slice[1], "refuse_until", 300);
    object_set_number(net.sm[2], "refuse_from", 400);
    object_set_number(net.sm[2], "refuse_until", 600);
    sim_elaborate(net.sim);
    for (uint32_t i = 0; i < options.up; i++) {
        Random random = {100 + i};
        uint64_t cycle = 0;
        for (uint32_t k = 0; k < 400; k++) {
            uint64_t address = random_below(&random, 1 << 12) * 128;
            bool is_write = random_below(&random, 3) == 0;
            cycle += random_below(&random, 6);
            send(&net, cycle, i, is_write ? write_request(address, 64) : read_request(address, 128));
        }
    }
    return net;
}

static Network seen_traffic(Options options) {
    Network net = start_mixed_traffic(options);
    look_on(net.crossbar);
    run_to_end(&net);
    return net;
}

static Network mixed_traffic(Options options) {
    Network net = start_mixed_traffic(options);
    run_to_end(&net);
    return net;
}

static void assert_same_log(const MessageLog *a, const MessageLog *b) {
    ck_assert_uint_eq(a->count, b->count);
    for (uint32_t k = 0; k < a->count; k++)
        ck_assert_int_eq(memcmp(&a->entries[k], &b->entries[k], sizeof a->entries[k]), 0);
}

static void assert_same_messages(const Network *a, const Network *b) {
    for (uint32_t i = 0; i < a->options.up; i++)
        assert_same_log(memory_driver_responses(a->sm[i]), memory_driver_responses(b->sm[i]));
    for (uint32_t j = 0; j < a->options.down; j++)
        assert_same_log(memory_responder_arrivals(a->slice[j]), memory_responder_arrivals(b->slice[j]));
}

static void assert_same_run(const Network *a, const Network *b) {
    assert_same_messages(a, b);
    char *stats_a = stats_text(a->sim), *stats_b = stats_text(b->sim);
    ck_assert_str_eq(stats_a, stats_b);
    free(stats_a);
    free(stats_b);
}

static const struct {
    uint64_t link_latency;
    const char *clock, *speedup, *response_part;
} law_cases[] = {{1, "slow", "1", "0"}, {1, "fast", "1", "0"}, {4, "slow", "2", "0"}, {4, "fast", "1", "0"},
                 {5, "fast", "2", "0"}, {1, "slow", "1", "1"}, {4, "fast", "2", "2"}};

START_TEST(tick_order_changes_nothing) {
    Options options = {.up = 7,
                       .down = 6,
                       .depth = 3,
                       .output_buffer = "6",
                       .link_latency = law_cases[_i].link_latency,
                       .clock = law_cases[_i].clock,
                       .speedup = law_cases[_i].speedup,
                       .response_part = law_cases[_i].response_part};
    Network by_path = mixed_traffic(options);
    ck_assert_uint_gt(stat(&by_path, "request_conflicts"), 0);
    ck_assert_uint_gt(stat(&by_path, "request_blocked_cycles"), 0);
    ck_assert_uint_gt(stat(&by_path, "response_blocked_cycles"), 0);
    for (TickOrder order = ORDER_REVERSED; order <= ORDER_SHUFFLED; order++) {
        options.order = order;
        Network other = mixed_traffic(options);
        assert_same_run(&by_path, &other);
        sim_free(other.sim);
    }
    sim_free(by_path.sim);
}
END_TEST

/* Unseen, it goes past its buffers where it can, and where all links are cut through a quantum at once: not where only
 * those to the slices are. Buffers of six flits are short for packets of five; those of sixteen hold three. */
START_TEST(being_seen_changes_nothing) {
    Options options = {.up = 7,
                       .down = 6,
                       .depth = 3,
                       .output_buffer = _i % 4 < 2 ? "6" : "16",
                       .latency = _i % 4 < 2 ? "1" : "4",
                       .link_latency = 16,
                       .up_latency = _i % 2 ? 1 : 16,
                       .quantum = 16,
                       .clock = law_cases[_i / 2].clock,
                       .speedup = law_cases[_i / 2].speedup,
                       .response_part = law_cases[_i / 2].response_part};
    Network seen = seen_traffic(options), unseen = mixed_traffic(options);
    options.order = ORDER_RESTLESS;
    Network restless = mixed_traffic(options);
    ck_assert_uint_gt(stat(&seen, "request_conflicts"), 0);
    assert_same_run(&seen, &unseen);
    assert_same_run(&seen, &restless);
    sim_free(seen.sim);
    sim_free(unseen.sim);
    sim_free(restless.sim);
}
END_TEST

/* With them sets of ports have two words, for which the crossbar has ways of its own. */
START_TEST(ports_that_nobody_uses_change_nothing) {
    static const char *const counters[] = {"request_packets_out",    "response_packets_out",
                                           "request_conflicts",      "response_conflicts",
                                           "request_blocked_cycles", "response_blocked_cycles"};
    bool cut = _i % 2;
    Options options = {.up = 7,
                       .down = 6,
                       .depth = 3,
                       .output_buffer = cut ? "16" : "6",
                       .link_latency = cut ? 16 : law_cases[_i / 2].link_latency,
                       .quantum = cut ? 16 : 0,
                       .clock = law_cases[_i / 2].clock,
                       .speedup = law_cases[_i / 2].speedup,
                       .response_part = law_cases[_i / 2].response_part};
    Network narrow = mixed_traffic(options);
    options.idle = 70;
    Network wide = mixed_traffic(options);
    assert_same_messages(&narrow, &wide);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        ck_assert_uint_eq(stat(&narrow, counters[i]), stat(&wide, counters[i]));
    ck_assert_uint_gt(stat(&wide, "request_conflicts"), 0);
    sim_free(narrow.sim);
    sim_free(wide.sim);
}
END_TEST

/* With a quantum of one cycle the crossbar can be woken in every cycle. */
START_TEST(spurious_ticks_change_nothing) {
    Options options = {.up = 4,
                       .down = 4,
                       .depth = 3,
                       .link_latency = 4,
                       .speedup = "2",
                       .response_part = _i ? "1" : "0",
                       .quantum = 1};
    Network calm = start_mixed_traffic(options), poked = start_mixed_traffic(options);
    for (uint64_t cycle = 0; cycle < 4000; cycle++) {
        object_poke_whole(poked.crossbar, cycle * poked.crossbar->period);
        run_until_cycle(&poked, cycle + 1);
    }
    run_to_end(&calm);
    ck_assert_uint_lt(calm.sim->now, 4000 * calm.sim->clocks[0].period);
    calm.sim->now = poked.sim->now; /* formulas divide by it */
    assert_same_run(&calm, &poked);
    sim_free(calm.sim);
    sim_free(poked.sim);
}
END_TEST

Suite *crossbar_order_suite(void) {
    Suite *suite = suite_create("crossbar_order");
    TCase *law = tcase_create("law");
    tcase_add_loop_test(law, tick_order_changes_nothing, 0, sizeof law_cases / sizeof *law_cases);
    tcase_add_loop_test(law, being_seen_changes_nothing, 0, 2 * sizeof law_cases / sizeof *law_cases);
    tcase_add_loop_test(law, ports_that_nobody_uses_change_nothing, 0,
                        2 * sizeof law_cases / sizeof *law_cases);
    tcase_add_loop_test(law, spurious_ticks_change_nothing, 0, 2);
    suite_add_tcase(suite, law);
    return suite;
}
