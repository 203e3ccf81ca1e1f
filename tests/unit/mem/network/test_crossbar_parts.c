/* A crossbar that hands on responses in parts. */
#include "tests/unit/mem/network/crossbar_fixture.h"

/* Both answers are for SM 0 and have 4 flits; ready at the crossbar at 15 and at 16. As a whole the first
 * crosses in 15 to 18 and the second in 19 to 22, and their tails reach the SM two cycles after they have
 * crossed. In single flits they cross by turns, and the first ends in 21. In pairs the first crosses in 15,
 * 16 and 19, 20. */
START_TEST(parts_of_responses_come_to_an_output_by_turns) {
    static const struct {
        const char *part;
        uint64_t first, second;
        uint64_t conflicts;
    } cases[] = {{"0", 20, 24, 0}, {"1", 23, 24, 6}, {"2", 22, 24, 2}, {"4", 20, 24, 0}, {"9", 20, 24, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Network net = start_network(
            (Options){.up = 2, .down = 2, .flit = "40", .response_part = cases[i].part, .link_latency = 1});
        send(&net, 10, 0, read_request(address_of(&net, 0, 0), 128));
        send(&net, 11, 0, read_request(address_of(&net, 1, 0), 128));
        run_to_end(&net);
        ck_assert_uint_eq(response(&net, 0, 0)->cycle, cases[i].first);
        ck_assert_uint_eq(response(&net, 0, 1)->cycle, cases[i].second);
        ck_assert_uint_eq(stat(&net, "response_conflicts"), cases[i].conflicts);
        ck_assert_uint_eq(stat(&net, "response_packets_in"), 2);
        ck_assert_uint_eq(stat(&net, "response_flits_out"), 8);
        sim_free(net.sim);
    }
}
END_TEST

/* Sent at 10, answered at 14, ready at 15: 4 flits cross in 15 to 18 and are there at 20, the 8 flits of two
 * answers from one slice at 24. */
START_TEST(parts_take_no_longer_than_the_whole_when_nobody_competes) {
    for (uint32_t part = 0; part <= 4; part++) {
        char text[8];
        snprintf(text, sizeof text, "%u", part);
        Network net = start_network(
            (Options){.up = 1, .down = 1, .flit = "40", .response_part = text, .link_latency = 1});
        send(&net, 10, 0, read_request(0, 128));
        send(&net, 11, 0, read_request(128, 128));
        run_to_end(&net);
        ck_assert_uint_eq(response(&net, 0, 0)->cycle, 20);
        ck_assert_uint_eq(response(&net, 0, 1)->cycle, 24);
        sim_free(net.sim);
    }
}
END_TEST

/* A write has one header and is one packet: SM 0's is granted at 11, SM 1's 4 cycles later. */
START_TEST(requests_cross_as_a_whole) {
    Network net = start_network(
        (Options){.up = 2, .down = 1, .flit = "40", .response_part = "1", .link_latency = 1});
    send_posted(&net, 10, 0, 0, 128);
    send_posted(&net, 10, 1, 0, 128);
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 0, 0)->cycle, 16);
    ck_assert_uint_eq(arrival(&net, 0, 1)->cycle, 20);
    sim_free(net.sim);
}
END_TEST

/* Two flits may cross in a cycle, but one leaves: the 8 flits of both answers cross in 15 to 19, as fast as
 * the input channels bring them, and leave in 16 to 23. The tail of the first answer is the seventh. */
START_TEST(parts_leave_at_one_flit_per_cycle_whatever_the_speedup) {
    Network net = start_network(
        (Options){.up = 2, .down = 2, .flit = "40", .speedup = "2", .response_part = "1", .link_latency = 1});
    send(&net, 10, 0, read_request(address_of(&net, 0, 0), 128));
    send(&net, 11, 0, read_request(address_of(&net, 1, 0), 128));
    run_to_end(&net);
    ck_assert_uint_eq(response(&net, 0, 0)->cycle, 23);
    ck_assert_uint_eq(response(&net, 0, 1)->cycle, 24);
    sim_free(net.sim);
}
END_TEST

/* Room for one answer, for which three have begun to cross: each ends all the same. */
START_TEST(responses_that_have_begun_to_cross_do_not_keep_each_other_from_ending) {
    Network net = make_network((Options){.up = 1,
                                         .down = 3,
                                         .flit = "40",
                                         .response_part = "1",
                                         .output_buffer = "4",
                                         .link_latency = 1,
                                         .depth = 2});
    object_set_number(net.sm[0], "refuse_until", 200);
    sim_elaborate(net.sim);
    for (uint32_t k = 0; k < 30; k++)
        send(&net, 10, 0, read_request(address_of(&net, k % 3, k), 128));
    run_to_end(&net);
    ck_assert_uint_eq(memory_driver_responses(net.sm[0])->count, 30);
    ck_assert_uint_eq(stat(&net, "response_flits_out"), 120);
    sim_free(net.sim);
}
END_TEST

Suite *crossbar_parts_suite(void) {
    Suite *suite = suite_create("crossbar_parts");
    TCase *parts = tcase_create("parts");
    tcase_add_test(parts, parts_of_responses_come_to_an_output_by_turns);
    tcase_add_test(parts, parts_take_no_longer_than_the_whole_when_nobody_competes);
    tcase_add_test(parts, requests_cross_as_a_whole);
    tcase_add_test(parts, parts_leave_at_one_flit_per_cycle_whatever_the_speedup);
    tcase_add_test(parts, responses_that_have_begun_to_cross_do_not_keep_each_other_from_ending);
    suite_add_tcase(suite, parts);
    return suite;
}
