#include "core/sim/base/random.h"
#include "mem/protocol/networks.h"
#include "tests/unit/mem/memory_driver.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { CACHES = 3 };

typedef struct {
    Sim *sim;
    SimObject *mux, *cache[CACHES], *memory;
} Network;

/* Finished objects, not yet elaborated: three drivers, a mux, and a responder behind a link of `latency` cycles. The
 * link of the first driver takes `first` cycles. */
static Network make_uneven_network(const char *arbitration, uint64_t first, uint64_t latency,
                                   TickOrder order) {
    Network net = {.sim = sim_new("test")};
    LinkOptions near = {.latency = 1, .depth = 4}, far = {.latency = latency, .depth = 8};
    LinkOptions to_first = {.latency = first, .depth = 4 * (uint32_t)first};
    memory_test_classes();
    class_register(&mux_class);
    net.sim->order = order;
    net.sim->order_seed = 3;
    sim_clock(net.sim, "core", 700000000);
    net.mux = sim_add(net.sim, "Mux", "port", NULL);
    object_set_number(net.mux, "up", CACHES);
    object_set_text(net.mux, "arbitration", arbitration);
    sim_finish_object(net.mux);
    for (uint32_t i = 0; i < CACHES; i++) {
        char path[32], port[32];
        snprintf(path, sizeof path, "cache[%u]", i);
        snprintf(port, sizeof port, "up[%u]", i);
        net.cache[i] = sim_add(net.sim, "MemoryDriver", path, NULL);
        sim_finish_object(net.cache[i]);
        sim_wire(net.sim, net.cache[i], "mem", net.mux, port, i ? near : to_first, i ? near : to_first);
    }
    net.memory = sim_add(net.sim, "MemoryResponder", "memory", NULL);
    sim_finish_object(net.memory);
    sim_wire(net.sim, net.mux, "down", net.memory, "cpu", far, far);
    return net;
}

static Network make_network(const char *arbitration, uint64_t latency, TickOrder order) {
    return make_uneven_network(arbitration, 1, latency, order);
}

static Network start_network(const char *arbitration) {
    Network net = make_network(arbitration, 1, ORDER_PATH);
    sim_elaborate(net.sim);
    return net;
}

static void run_to_end(Network *net) {
    ck_assert_int_eq(sim_run(net->sim, UINT64_MAX), STOP_IDLE);
    sim_check(net->sim, true);
}

static void send(Network *net, uint64_t cycle, uint32_t cache, MemMessage message) {
    message.warp = (uint16_t)cache;
    memory_driver_send(net->cache[cache], cycle, message);
}

static const LoggedMessage *arrival(const Network *net, uint32_t index) {
    const MessageLog *log = memory_responder_arrivals(net->memory);
    ck_assert_uint_lt(index, log->count);
    return &log->entries[index];
}

static uint64_t stat(const Network *net, const char *name) {
    return stat_of(net->mux, name);
}

/* Sent at 10, ready at 11 and passed on, taken at 12; answered at 13, ready and passed on at 14, back at
 * 15. */
START_TEST(request_and_response_pass_in_the_cycle_they_are_ready) {
    Network net = start_network("round_robin");
    send(&net, 10, 1, read_request(0x1000, 128));
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 0)->cycle, 12);
    ck_assert_uint_eq(arrival(&net, 0)->message.route_depth, 1);
    const MessageLog *responses = memory_driver_responses(net.cache[1]);
    ck_assert_uint_eq(responses->count, 1);
    ck_assert_uint_eq(responses->entries[0].cycle, 15);
    ck_assert_uint_eq(responses->entries[0].message.route_depth, 0);
    ck_assert_uint_eq(memory_driver_responses(net.cache[0])->count, 0);
    sim_free(net.sim);
}
END_TEST

START_TEST(responses_return_to_who_asked) {
    Network net = start_network("round_robin");
    for (uint32_t k = 0; k < 60; k++)
        send(&net, k, k * 7 % CACHES, read_request(k * 128, 128));
    run_to_end(&net);
    for (uint32_t i = 0; i < CACHES; i++) {
        const MessageLog *log = memory_driver_responses(net.cache[i]);
        ck_assert_uint_eq(log->count, 20);
        for (uint32_t k = 0; k < log->count; k++)
            ck_assert_uint_eq(log->entries[k].message.warp, i);
    }
    ck_assert_uint_eq(stat(&net, "requests"), 60);
    ck_assert_uint_eq(stat(&net, "responses"), 60);
    sim_free(net.sim);
}
END_TEST

static void send_three_each(Network *net) {
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < CACHES; i++)
            send(net, 10, i, posted_write_request(0, 32));
    run_to_end(net);
    for (uint32_t k = 0; k < 9; k++)
        ck_assert_uint_eq(arrival(net, k)->cycle, 12 + k);
}

START_TEST(round_robin_takes_turns_one_request_a_cycle) {
    Network net = start_network("round_robin");
    send_three_each(&net);
    for (uint32_t k = 0; k < 9; k++)
        ck_assert_uint_eq(arrival(&net, k)->message.warp, k % CACHES);
    /* Two lose in each of the cycles in which all three ask (7 of them), one in the last but one. */
    ck_assert_uint_eq(stat(&net, "conflicts"), 7 * 2 + 1);
    ck_assert_uint_eq(stat(&net, "request_blocked_cycles"), 0);
    sim_free(net.sim);
}
END_TEST

START_TEST(priority_serves_the_lowest_port_first) {
    Network net = start_network("priority");
    send_three_each(&net);
    for (uint32_t k = 0; k < 9; k++)
        ck_assert_uint_eq(arrival(&net, k)->message.warp, k / 3);
    sim_free(net.sim);
}
END_TEST

/* 8 requests stay in the link to the memory, which takes nothing until 100, and 4 in the cache's link. The
 * first pop at 100 makes room at 101; the 9th request was ready at 19, when the link had just been filled by
 * the one of 18. */
START_TEST(full_link_down_stops_requests) {
    Network net = make_network("round_robin", 1, ORDER_PATH);
    object_set_number(net.memory, "refuse_until", 100);
    sim_elaborate(net.sim);
    for (uint32_t k = 0; k < 30; k++)
        send(&net, 10, 0, posted_write_request(0, 32));
    sim_run(net.sim, 96 * net.sim->clocks[0].period);
    ck_assert_uint_eq(memory_driver_sent(net.cache[0])->count, 8 + 4);
    run_to_end(&net);
    ck_assert_uint_eq(memory_responder_arrivals(net.memory)->count, 30);
    ck_assert_uint_eq(stat(&net, "request_blocked_cycles"), 101 - 19);
    sim_free(net.sim);
}
END_TEST

/* Cache 0 takes nothing until 100: its 4 responses fill the link up, the 5th blocks the one for cache 1
 * behind it. */
START_TEST(full_link_up_blocks_the_responses_behind) {
    Network net = make_network("round_robin", 1, ORDER_PATH);
    object_set_number(net.cache[0], "refuse_until", 100);
    sim_elaborate(net.sim);
    for (uint32_t k = 0; k < 5; k++)
        send(&net, 10, 0, read_request(0, 32));
    send(&net, 30, 1, read_request(0, 32));
    run_to_end(&net);
    ck_assert_uint_eq(memory_driver_responses(net.cache[0])->entries[4].cycle, 102);
    ck_assert_uint_eq(memory_driver_responses(net.cache[1])->entries[0].cycle, 103);
    /* The 5th was ready at 18, four cycles after the first. */
    ck_assert_uint_eq(stat(&net, "response_blocked_cycles"), 101 - 18);
    sim_free(net.sim);
}
END_TEST

static void assert_same_log(const MessageLog *a, const MessageLog *b) {
    ck_assert_uint_eq(a->count, b->count);
    for (uint32_t k = 0; k < a->count; k++)
        ck_assert_int_eq(memcmp(&a->entries[k], &b->entries[k], sizeof a->entries[k]), 0);
}

static Network make_bursty_network(uint64_t first, uint64_t latency, TickOrder order) {
    Network net = make_uneven_network("round_robin", first, latency, order);
    object_set_number(net.cache[1], "refuse_from", 60);
    object_set_number(net.cache[1], "refuse_until", 120);
    object_set_number(net.memory, "refuse_from", 300);
    object_set_number(net.memory, "refuse_until", 400);
    return net;
}

static Network run_bursts(uint64_t latency, TickOrder order) {
    Network net = make_bursty_network(1, latency, order);
    sim_elaborate(net.sim);
    for (uint32_t i = 0; i < CACHES; i++)
        for (uint32_t k = 0; k < 200; k++)
            send(&net, k * (i + 2), i, read_request(k * 128, 128));
    run_to_end(&net);
    return net;
}

static void assert_same_run(const Network *a, const Network *b) {
    assert_same_log(memory_responder_arrivals(a->memory), memory_responder_arrivals(b->memory));
    for (uint32_t i = 0; i < CACHES; i++)
        assert_same_log(memory_driver_responses(a->cache[i]), memory_driver_responses(b->cache[i]));
    char *stats_a = stats_text(a->sim), *stats_b = stats_text(b->sim);
    ck_assert_str_eq(stats_a, stats_b);
    free(stats_a);
    free(stats_b);
}

/* At random times, alone and against each other, over many quanta of 8 cycles. */
static Network run_seen(bool seen, uint64_t first, TickOrder order) {
    Network net = make_bursty_network(first, 8, order);
    sim_set_quantum(net.sim, 8);
    sim_elaborate(net.sim);
    if (seen) look_on(net.mux);
    for (uint32_t i = 0; i < CACHES; i++) {
        Random random = {10 + i};
        uint64_t cycle = 0;
        for (uint32_t k = 0; k < 300; k++) {
            cycle += random_below(&random, 4 + 3 * i);
            send(&net, cycle, i,
                 random_below(&random, 4) ? read_request(k * 128, 128) : posted_write_request(k * 128, 64));
        }
    }
    run_to_end(&net);
    return net;
}

/* Unseen, requests and responses are moved ahead of time. */
START_TEST(being_seen_changes_nothing) {
    uint64_t first = _i % 2 ? 4 : 1; /* what is sent later on the others' links comes earlier */
    Network seen = run_seen(true, first, ORDER_PATH), unseen = run_seen(false, first, (TickOrder)(_i / 2));
    ck_assert_uint_gt(stat(&seen, "conflicts"), 0);
    ck_assert_uint_gt(stat(&seen, "request_blocked_cycles"), 0);
    ck_assert_uint_gt(stat(&seen, "response_blocked_cycles"), 0);
    assert_same_run(&seen, &unseen);
    sim_free(seen.sim);
    sim_free(unseen.sim);
}
END_TEST

/* The mux takes the first as it is sent, ahead of time, and each of the others in a cycle of its own. */
START_TEST(requests_sent_in_one_cycle_pass_one_after_the_other) {
    Network net = make_network("round_robin", 8, ORDER_PATH);
    SimObject *wide = sim_add(net.sim, "MemoryDriver", "wide", NULL),
              *mux = sim_add(net.sim, "Mux", "other", NULL);
    SimObject *memory = sim_add(net.sim, "MemoryResponder", "its_memory", NULL);
    LinkOptions three = {.latency = 1, .depth = 16, .width = 3}, far = {.latency = 8, .depth = 16};
    object_set_number(mux, "up", 1);
    sim_finish_object(wide);
    sim_finish_object(mux);
    sim_finish_object(memory);
    sim_wire(net.sim, wide, "mem", mux, "up[0]", three, three);
    sim_wire(net.sim, mux, "down", memory, "cpu", far, far);
    sim_set_quantum(net.sim, 8);
    sim_elaborate(net.sim);
    for (uint32_t k = 0; k < 6; k++)
        memory_driver_send(wide, 10, posted_write_request(128 * k, 32));
    run_to_end(&net);
    const MessageLog *log = memory_responder_arrivals(memory);
    ck_assert_uint_eq(log->count, 6);
    for (uint32_t k = 0; k < 6; k++) {
        ck_assert_uint_eq(log->entries[k].message.address, 128 * k);
        ck_assert_uint_eq(log->entries[k].cycle, 19 + k);
    }
    sim_free(net.sim);
}
END_TEST

/* With a near link and with one that cuts the machine. */
START_TEST(tick_order_changes_nothing) {
    uint64_t latency = _i == 0 ? 1 : 4;
    Network by_path = run_bursts(latency, ORDER_PATH);
    ck_assert_uint_gt(stat(&by_path, "response_blocked_cycles"), 0);
    for (TickOrder order = ORDER_REVERSED; order <= ORDER_SHUFFLED; order++) {
        Network other = run_bursts(latency, order);
        assert_same_run(&by_path, &other);
        sim_free(other.sim);
    }
    sim_free(by_path.sim);
}
END_TEST

Suite *mux_suite(void);

Suite *mux_suite(void) {
    Suite *suite = suite_create("mux");
    TCase *tests = tcase_create("mux");
    tcase_add_test(tests, request_and_response_pass_in_the_cycle_they_are_ready);
    tcase_add_test(tests, responses_return_to_who_asked);
    tcase_add_test(tests, round_robin_takes_turns_one_request_a_cycle);
    tcase_add_test(tests, priority_serves_the_lowest_port_first);
    tcase_add_test(tests, full_link_down_stops_requests);
    tcase_add_test(tests, full_link_up_blocks_the_responses_behind);
    tcase_add_loop_test(tests, tick_order_changes_nothing, 0, 2);
    tcase_add_test(tests, requests_sent_in_one_cycle_pass_one_after_the_other);
    tcase_add_loop_test(tests, being_seen_changes_nothing, 2 * ORDER_PATH, 2 * (ORDER_RESTLESS + 1));
    suite_add_tcase(suite, tests);
    return suite;
}
