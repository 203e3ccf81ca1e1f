/* A crossbar that is alone in its cluster: its responses are a cluster of their own. */
#include "core/sim/event.h"
#include "core/sim/halves.h"
#include "tests/unit/mem/network/crossbar_fixture.h"

#include <stdlib.h>

enum { UP = 7, DOWN = 6, QUANTUM = 16, MESSAGES = 300 };

static Network start(uint64_t up_latency, uint32_t threads) {
    Options options = {.up = UP,
                       .down = DOWN,
                       .depth = 4,
                       .link_latency = QUANTUM,
                       .up_latency = up_latency,
                       .quantum = QUANTUM};
    Network net = make_network(options);
    sim_set_threads(net.sim, threads);
    sim_elaborate(net.sim);
    for (uint32_t i = 0; i < UP; i++)
        for (uint32_t k = 0; k < MESSAGES; k++) {
            uint64_t address = (k * 37 + i * 11) % 4096 * 128;
            send(&net, k * 3, i, k % 3 ? read_request(address, 128) : write_request(address, 64));
        }
    return net;
}

static void assert_same_end(const Network *a, const Network *b) {
    char *of_a = stats_text(a->sim), *of_b = stats_text(b->sim);
    ck_assert_str_eq(of_a, of_b);
    free(of_a);
    free(of_b);
}

START_TEST(halves_are_apart_where_all_links_are_cut) {
    Network alone = start(0, 1), joined = start(1, 1);
    const SimObject *half = object_half_apart(alone.crossbar);
    ck_assert_ptr_nonnull(half);
    ck_assert_ptr_ne(half->cluster, alone.crossbar->cluster);
    ck_assert_ptr_eq(object_whole(half), alone.crossbar);
    ck_assert_ptr_eq(object_port(alone.crossbar, "up[0]", &(const Field *){NULL})->send->sender, half);
    ck_assert_ptr_eq(object_port(alone.crossbar, "up[0]", &(const Field *){NULL})->receive->receiver,
                     alone.crossbar);
    ck_assert_ptr_null(object_half_apart(joined.crossbar));
    ck_assert_ptr_eq(object_port(joined.crossbar, "up[0]", &(const Field *){NULL})->send->sender,
                     joined.crossbar);
    sim_free(alone.sim);
    sim_free(joined.sim);
}
END_TEST

/* The first request is at a slice after two links and the switch; nothing is due in the other half before its answer. */
START_TEST(requests_do_not_wake_the_responses) {
    Network net = start(0, 1);
    const SimObject *half = object_half_apart(net.crossbar);
    run_until_cycle(&net, QUANTUM);
    ck_assert_uint_ne(*net.crossbar->due, NEVER);
    ck_assert_uint_eq(*half->due, NEVER);
    ck_assert_uint_eq(object_due(net.crossbar), *net.crossbar->due);
    while (stat(&net, "response_packets_in") == 0) {
        ck_assert_uint_lt(net.sim->now, 8 * QUANTUM * net.crossbar->period);
        run_until_cycle(&net, net.sim->now / net.crossbar->period + QUANTUM);
    }
    ck_assert_uint_ne(*half->due, NEVER);
    sim_free(net.sim);
}
END_TEST

START_TEST(threads_and_joining_change_nothing) {
    Network reference = start(0, 1), other = start(0, _i ? 3 : 1);
    run_to_end(&reference);
    run_until_cycle(&other, 20 * QUANTUM);
    object_join_halves(other.crossbar);
    ck_assert_ptr_null(object_half_apart(other.crossbar));
    ck_assert_ptr_eq(object_port(other.crossbar, "down[2]", &(const Field *){NULL})->receive->receiver,
                     other.crossbar);
    run_to_end(&other);
    assert_same_end(&reference, &other);
    Network threads = start(0, 3);
    run_to_end(&threads);
    assert_same_end(&reference, &threads);
    sim_free(reference.sim);
    sim_free(other.sim);
    sim_free(threads.sim);
}
END_TEST

static int64_t let_pass(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                        uint64_t now) {
    (void)subscriber, (void)object, (void)event, (void)arguments, (void)now;
    return NO_ANSWER;
}

/* What they hear of both halves comes on one thread, in the order of the crossbar's cycles. */
START_TEST(whoever_subscribes_joins_them) {
    Network net = start(0, 1), reference = start(0, 1);
    Subscriber subscriber = {let_pass};
    object_subscribe(net.crossbar, &subscriber, 1u << event_number(&crossbar_class, "arbitrate"));
    ck_assert_ptr_null(object_half_apart(net.crossbar));
    run_to_end(&net);
    run_to_end(&reference);
    assert_same_end(&reference, &net);
    sim_free(net.sim);
    sim_free(reference.sim);
}
END_TEST

Suite *crossbar_halves_suite(void) {
    Suite *suite = suite_create("crossbar_halves");
    TCase *halves = tcase_create("halves");
    tcase_add_test(halves, halves_are_apart_where_all_links_are_cut);
    tcase_add_test(halves, requests_do_not_wake_the_responses);
    tcase_add_loop_test(halves, threads_and_joining_change_nothing, 0, 2);
    tcase_add_test(halves, whoever_subscribes_joins_them);
    suite_add_tcase(suite, halves);
    return suite;
}
