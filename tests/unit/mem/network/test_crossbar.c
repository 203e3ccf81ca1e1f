/* A crossbar cycle by cycle: what packets take, who goes first, what stops them; users' errors. */
#include "core/sim/event.h"
#include "tests/unit/mem/network/crossbar_fixture.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

/* Sent at 10, over the link ready at 11 and granted there, sent on at 11 + latency 3, over the link at 15.
 * Back: taken and answered with latency 1 at 16, ready at 17, granted, its 5 flits sent on at 17 + 3 + 4,
 * over the link at 25. */
START_TEST(packet_alone_takes_its_latency_and_its_flits) {
    Network net = start_network((Options){.up = 2, .down = 2, .latency = "3", .link_latency = 1});
    send(&net, 10, 1, read_request(address_of(&net, 1, 0), 128));
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 1, 0)->cycle, 15);
    ck_assert_uint_eq(response(&net, 1, 0)->cycle, 25);
    ck_assert_uint_eq(stat(&net, "request_flits_out"), 1);
    ck_assert_uint_eq(stat(&net, "response_flits_out"), 5);
    ck_assert_uint_eq(stat(&net, "request_latency_ticks"), 3 * net.crossbar->period);
    ck_assert_uint_eq(stat(&net, "response_latency_ticks"), 7 * net.crossbar->period);
    sim_free(net.sim);
}
END_TEST

/* Cut links of 4 cycles: sent at 10, ready at 14, sent on at 15, ready at 19; back: sent at 20, ready at 24,
 * sent on at 24 + 1 + 4, ready at 33. Also where a head is known of long before it is ready, as another one is, and while
 * others cross. */
START_TEST(cut_links_add_nothing_but_their_latency) {
    static const uint64_t latencies[] = {4, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 200};
    uint64_t latency = latencies[_i];
    Network net = start_network((Options){.up = 4, .down = 4, .link_latency = latency, .depth = 512});
    ck_assert_uint_gt(net.sim->cluster_count, 1);
    send(&net, 10, 0, read_request(address_of(&net, 1, 0), 128));
    send(&net, 90, 1, read_request(address_of(&net, 0, 0), 128));
    for (uint64_t cycle = 0; cycle < 400; cycle++) /* two flits each: something crosses in every cycle */
        send_posted(&net, cycle, 2 + cycle % 2, 2 + cycle % 2, 32);
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 1, 0)->cycle, 11 + 2 * latency);
    ck_assert_uint_eq(response(&net, 0, 0)->cycle, 17 + 4 * latency);
    ck_assert_uint_eq(arrival(&net, 0, 0)->cycle, 91 + 2 * latency);
    ck_assert_uint_eq(response(&net, 1, 0)->cycle, 97 + 4 * latency);
    sim_free(net.sim);
}
END_TEST

/* At twice the clock: sent at 10, ready at 11, i.e. 22 of the crossbar, sent on at 23, one slow cycle later
 * 25, which the slice sees at its next edge, 26 or 13 of its own. */
START_TEST(crossbar_runs_on_its_own_clock) {
    Network net = start_network((Options){.up = 1, .down = 1, .link_latency = 1, .clock = "fast"});
    send(&net, 10, 0, posted_write_request(0, 32));
    run_to_end(&net);
    ck_assert_uint_eq(stat(&net, "request_latency_ticks"), 2 * net.crossbar->period);
    ck_assert_uint_eq(arrival(&net, 0, 0)->cycle, 13);
    sim_free(net.sim);
}
END_TEST

/* A write of 128 bytes is 136 bytes, 5 flits of 32. */
START_TEST(packet_occupies_its_output_for_as_many_cycles_as_flits) {
    Network net = start_network((Options){.up = 3, .down = 2, .link_latency = 1});
    send_posted(&net, 10, 0, 0, 128);
    send_posted(&net, 10, 1, 0, 128);
    send_posted(&net, 10, 2, 1, 128);
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 0, 0)->cycle, 17);
    ck_assert_uint_eq(arrival(&net, 0, 1)->cycle, 22);
    ck_assert_uint_eq(arrival(&net, 1, 0)->cycle, 17);
    ck_assert_uint_eq(stat(&net, "request_conflicts"), 1);
    sim_free(net.sim);
}
END_TEST

START_TEST(packet_occupies_its_input_for_as_many_cycles_as_flits) {
    Network net = start_network((Options){.up = 1, .down = 2, .link_latency = 1});
    send_posted(&net, 10, 0, 0, 128);
    send_posted(&net, 11, 0, 1, 128);
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 0, 0)->cycle, 17);
    ck_assert_uint_eq(arrival(&net, 1, 0)->cycle, 22);
    ck_assert_uint_eq(stat(&net, "request_conflicts"), 0);
    sim_free(net.sim);
}
END_TEST

START_TEST(flits_are_rounded_up) {
    Network net = start_network((Options){.up = 1, .down = 1, .flit = "40", .link_latency = 1});
    send_posted(&net, 10, 0, 0, 32);  /* 40 bytes: 1 flit   */
    send_posted(&net, 20, 0, 0, 64);  /* 72 bytes: 2 flits  */
    send_posted(&net, 30, 0, 0, 128); /* 136 bytes: 4 flits */
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 0, 0)->cycle, 13);
    ck_assert_uint_eq(arrival(&net, 0, 1)->cycle, 24);
    ck_assert_uint_eq(arrival(&net, 0, 2)->cycle, 36);
    sim_free(net.sim);
}
END_TEST

/* An acknowledgement is a flit. The way back takes 4 cycles from the arrival for a packet of one, and one
 * more for each other flit: taken and answered, ready a cycle later, sent on a cycle later, over the link. */
START_TEST(each_sector_that_is_written_may_be_acknowledged) {
    static const struct {
        uint64_t byte_mask[2];
        uint32_t sectors;
    } writes[] = {
        {{~0ull, ~0ull}, 4}, {{~0ull, 0}, 2}, {{1, 1ull << 63}, 2}, {{0, 0xf00000000}, 1}, {{0, 0}, 1}};
    for (uint32_t each = 0; each < 2; each++) {
        Network net = start_network((Options){.up = 1,
                                              .down = 1,
                                              .flit = "40",
                                              .response_part = "1",
                                              .acknowledgements = each ? "sector" : "write",
                                              .link_latency = 1});
        uint32_t flits = 0;
        for (uint32_t i = 0; i < 5; i++) {
            MemMessage write = write_request(0, 128);
            memcpy(write.byte_mask, writes[i].byte_mask, sizeof write.byte_mask);
            send(&net, 10 + 20 * i, 0, write);
            flits += each ? writes[i].sectors : 1;
        }
        run_to_end(&net);
        for (uint32_t i = 0; i < 5; i++)
            ck_assert_uint_eq(response(&net, 0, i)->cycle,
                              arrival(&net, 0, i)->cycle + 4 + (each ? writes[i].sectors - 1 : 0));
        ck_assert_uint_eq(stat(&net, "response_flits_out"), flits);
        ck_assert_uint_eq(stat(&net, "response_packets_out"), 5);
        sim_free(net.sim);
    }
}
END_TEST

/* From two slices to one SM, in parts: by turns, so that both are there when nearly all has crossed. */
START_TEST(acknowledgements_of_sectors_cross_by_turns) {
    Network net = start_network((Options){.up = 1,
                                          .down = 2,
                                          .flit = "40",
                                          .response_part = "1",
                                          .acknowledgements = "sector",
                                          .link_latency = 1});
    send(&net, 10, 0, write_request(address_of(&net, 0, 0), 128));
    send(&net, 11, 0, write_request(address_of(&net, 1, 0), 128));
    run_to_end(&net);
    uint64_t first = arrival(&net, 0, 0)->cycle, second = arrival(&net, 1, 0)->cycle;
    ck_assert_uint_eq(second, first + 4); /* four flits of the first request leave before */
    ck_assert_uint_eq(response(&net, 0, 0)->cycle, first + 4 + 3);
    ck_assert_uint_eq(response(&net, 0, 1)->cycle, second + 4 + 3);
    sim_free(net.sim);
}
END_TEST

START_TEST(requests_go_to_the_slice_of_their_address_and_responses_back) {
    Network net = start_network((Options){.up = 5, .down = 6, .link_latency = 1});
    const AddressMap *map = address_map_find(net.crossbar);
    for (uint32_t k = 0; k < 200; k++)
        send(&net, k, k % 5, read_request((uint64_t)k * 12345 / 128 * 128, 128));
    run_to_end(&net);
    for (uint32_t j = 0; j < 6; j++) {
        const MessageLog *log = memory_responder_arrivals(net.slice[j]);
        ck_assert_uint_gt(log->count, 0);
        for (uint32_t k = 0; k < log->count; k++) {
            ck_assert_uint_eq(address_map_slice(map, log->entries[k].message.address), j);
        }
    }
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(memory_driver_responses(net.sm[i])->count, 40);
        for (uint32_t k = 0; k < 40; k++) {
            ck_assert_uint_eq(response(&net, i, k)->message.sm, i);
            ck_assert_uint_eq(response(&net, i, k)->message.route_depth, 0);
        }
    }
    sim_free(net.sim);
}
END_TEST

START_TEST(output_serves_its_inputs_in_turn) {
    Network net = start_network((Options){.up = 4, .down = 1, .link_latency = 1});
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < 4; i++)
            send_posted(&net, 10, i, 0, 16);
    run_to_end(&net);
    for (uint32_t k = 0; k < 12; k++) {
        ck_assert_uint_eq(arrival(&net, 0, k)->message.sm, k % 4);
        ck_assert_uint_eq(arrival(&net, 0, k)->cycle, 13 + k);
    }
    sim_free(net.sim);
}
END_TEST

START_TEST(turn_goes_to_the_input_after_the_last_winner) {
    Network net = start_network((Options){.up = 4, .down = 1, .link_latency = 1});
    send_posted(&net, 10, 2, 0, 16);
    for (uint32_t i = 0; i < 4; i++)
        send_posted(&net, 20, i, 0, 16);
    run_to_end(&net);
    for (uint32_t k = 0; k < 5; k++)
        ck_assert_uint_eq(arrival(&net, 0, k)->message.sm, (k + 2) % 4);
    sim_free(net.sim);
}
END_TEST

/* SM 1's long packet holds slice 0 in cycles 10 to 14 after it is granted at 10. SM 0's head wants slice 0
 * and blocks its packet for slice 1, to which SM 2 passes freely. */
START_TEST(blocked_head_blocks_what_stands_behind_it) {
    Network net = start_network((Options){.up = 3, .down = 2, .link_latency = 1});
    send_posted(&net, 9, 1, 0, 128);
    send_posted(&net, 10, 0, 0, 16);
    send_posted(&net, 11, 0, 1, 16);
    send_posted(&net, 11, 2, 1, 16);
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 1, 0)->message.sm, 2);
    ck_assert_uint_eq(arrival(&net, 1, 0)->cycle, 14);
    ck_assert_uint_eq(arrival(&net, 0, 1)->message.sm, 0);
    ck_assert_uint_eq(arrival(&net, 0, 1)->cycle, 17);
    ck_assert_uint_eq(arrival(&net, 1, 1)->message.sm, 0);
    ck_assert_uint_eq(arrival(&net, 1, 1)->cycle, 18);
    sim_free(net.sim);
}
END_TEST

/* Slice 0 takes nothing: 4 packets stay in the link to it, 8 flits in the output buffer, 4 in the link from
 * the SM. */
START_TEST(slice_that_takes_nothing_stops_requests_at_their_source) {
    Network net = make_network(
        (Options){.up = 2, .down = 2, .link_latency = 1, .depth = 4, .output_buffer = "8"});
    object_set_number(net.slice[0], "refuse_until", 200);
    sim_elaborate(net.sim);
    for (uint32_t k = 0; k < 40; k++)
        send_posted(&net, 10, 0, 0, 16);
    for (uint32_t k = 0; k < 40; k++)
        send_posted(&net, 10, 1, 1, 16);
    run_until_cycle(&net, 196);
    ck_assert_uint_eq(memory_driver_sent(net.sm[0])->count, 4 + 8 + 4);
    ck_assert_uint_eq(memory_responder_arrivals(net.slice[0])->count, 0);
    ck_assert_uint_eq(memory_responder_arrivals(net.slice[1])->count, 40);
    ck_assert_uint_eq(arrival(&net, 1, 39)->cycle, 13 + 39);
    run_to_end(&net);
    ck_assert_uint_eq(memory_responder_arrivals(net.slice[0])->count, 40);
    /* The buffer was full from cycle 23, after 4 + 8 grants from 11 on, until the first was sent on: the
     * slice's pop at 200 is space in the link at 201. */
    ck_assert_uint_eq(stat(&net, "request_blocked_cycles"), 201 - 23);
    sim_free(net.sim);
}
END_TEST

/* The way up is stopped in the same way, and the requests' way down is not. */
START_TEST(sm_that_takes_nothing_stops_responses_but_not_requests) {
    Network net = make_network((Options){.up = 2, .down = 1, .link_latency = 1, .depth = 4});
    object_set_number(net.sm[0], "refuse_until", 400);
    sim_elaborate(net.sim);
    for (uint32_t k = 0; k < 20; k++)
        send(&net, 10, 0, read_request(address_of(&net, 0, k), 128));
    run_until_cycle(&net, 396);
    ck_assert_uint_eq(memory_responder_arrivals(net.slice[0])->count, 20);
    ck_assert_uint_eq(memory_driver_responses(net.sm[0])->count, 0);
    /* 4 of 5 flits each in the link up, 3 in the buffer of 16 flits. */
    ck_assert_uint_eq(stat(&net, "response_packets_in"), 4 + 3);
    run_to_end(&net);
    ck_assert_uint_eq(memory_driver_responses(net.sm[0])->count, 20);
    sim_free(net.sim);
}
END_TEST

/* 7 flits hold one packet of 5 at a time: granted at 11, sent on at 16, when the next is granted. */
START_TEST(grant_waits_for_room_for_the_whole_packet) {
    Network net = start_network((Options){.up = 2, .down = 1, .link_latency = 1, .output_buffer = "7"});
    send_posted(&net, 10, 0, 0, 128);
    send_posted(&net, 10, 1, 0, 128);
    send_posted(&net, 11, 0, 0, 16);
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 0, 0)->cycle, 17);
    ck_assert_uint_eq(arrival(&net, 0, 1)->cycle, 22);
    ck_assert_uint_eq(arrival(&net, 0, 2)->cycle, 23);
    ck_assert_uint_eq(stat(&net, "request_blocked_cycles"), 0);
    sim_free(net.sim);
}
END_TEST

/* Two packets of one flit cross in the cycle; the output channel still sends one flit per cycle. */
START_TEST(speedup_lets_several_flits_cross_in_a_cycle) {
    Network net = start_network(
        (Options){.up = 2, .down = 2, .speedup = "2", .link_latency = 1, .depth = 16});
    send_posted(&net, 10, 0, 0, 16);
    send_posted(&net, 10, 1, 0, 16);
    send_posted(&net, 11, 1, 1, 16);
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 0, 0)->cycle, 13);
    ck_assert_uint_eq(arrival(&net, 0, 1)->cycle, 14);
    ck_assert_uint_eq(arrival(&net, 1, 0)->cycle, 14); /* without speed-up its head would have gone at 12 */
    sim_free(net.sim);
}
END_TEST

/* A speed-up does not let a packet overtake its own tail: SM 0's second packet comes in behind 5 flits. */
START_TEST(speedup_does_not_shorten_the_channels) {
    Network net = start_network((Options){.up = 1, .down = 2, .speedup = "4", .link_latency = 1});
    send_posted(&net, 10, 0, 0, 128);
    send_posted(&net, 11, 0, 1, 128);
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 0, 0)->cycle, 17);
    ck_assert_uint_eq(arrival(&net, 1, 0)->cycle, 22);
    sim_free(net.sim);
}
END_TEST

/* ---- Users' errors. */

START_TEST(port_count_must_be_the_maps) {
    Network net = make_network((Options){.up = 2, .down = 2, .link_latency = 1});
    object_set_number(sim_find(net.sim, "map"), "channels", 3);
    sim_elaborate(net.sim);
}
END_TEST

START_TEST(buffer_must_hold_the_longest_packet) {
    start_network((Options){.up = 2, .down = 2, .link_latency = 1, .output_buffer = "4"});
}
END_TEST

START_TEST(buffer_of_exactly_the_longest_packet_is_legal) {
    Network net = start_network((Options){.up = 1, .down = 1, .link_latency = 1, .output_buffer = "5"});
    for (uint32_t k = 0; k < 10; k++)
        send_posted(&net, 0, 0, 0, 128);
    run_to_end(&net);
    ck_assert_uint_eq(memory_responder_arrivals(net.slice[0])->count, 10);
    sim_free(net.sim);
}
END_TEST

/* ---- Pages ---- */

typedef struct {
    Subscriber subscriber;
    uint32_t count;
    int64_t page[4], sm[4];
} Placer;

/* A page lies where the number of the SM that asks first says. */
static int64_t place_at_sm(Subscriber *subscriber, SimObject *object, uint32_t event,
                           const int64_t *arguments, uint64_t now) {
    Placer *p = (Placer *)subscriber;
    (void)object, (void)event, (void)now;
    ck_assert_uint_lt(p->count, 4);
    p->page[p->count] = arguments[0];
    p->sm[p->count++] = arguments[1];
    return arguments[1];
}

/* SM 2 asks for page 9 a cycle before SM 0 does, in a quantum of four cycles; SMs 1 and 3 for page 5 in one; SM 3 for page 9
 * again, later. Page 7 is that of SM 3, who alone asks for it. */
START_TEST(a_page_is_placed_for_who_comes_first_and_of_several_for_the_lowest_port) {
    static const TickOrder orders[] = {ORDER_PATH, ORDER_REVERSED, ORDER_SHUFFLED, ORDER_RESTLESS};
    Placer placer = {.subscriber = {place_at_sm}};
    Network net = start_network(
        (Options){.up = 4, .down = 4, .link_latency = 4, .page_size = "4096", .order = orders[_i]});
    SimObject *map = (SimObject *)(uintptr_t)address_map_object(address_map_find(net.crossbar));
    object_subscribe(map, &placer.subscriber, 1);
    send(&net, 10, 0, read_request(9 * 4096, 32));
    send(&net, 9, 2, read_request(9 * 4096 + 512, 32));
    send(&net, 9, 3, read_request(5 * 4096, 32));
    send(&net, 9, 1, read_request(5 * 4096 + 64, 32));
    send(&net, 11, 3, read_request(7 * 4096, 32));
    send(&net, 30, 3, read_request(9 * 4096, 32));
    run_to_end(&net);
    ck_assert_uint_eq(placer.count, 3);
    static const int64_t pages[] = {5, 9, 7}, sms[] = {1, 2, 3};
    ck_assert_mem_eq(placer.page, pages, sizeof pages);
    ck_assert_mem_eq(placer.sm, sms, sizeof sms);
    static const uint32_t at_slice[] = {0, 2, 3, 1};
    for (uint32_t slice = 0; slice < 4; slice++)
        ck_assert_uint_eq(memory_responder_arrivals(net.slice[slice])->count, at_slice[slice]);
    sim_free(net.sim);
}
END_TEST

static jmp_buf error_return;
static char error_text[400];

static void keep_error(void *context, const char *message) {
    (void)context;
    snprintf(error_text, sizeof error_text, "%s", message);
    longjmp(error_return, 1);
}

START_TEST(pages_ask_for_wires_of_a_quantum_and_name_one_that_is_shorter) {
    Network net = start_network((Options){.up = 2, .down = 2, .link_latency = 3, .page_size = "4096"});
    send(&net, 10, 0, read_request(4096, 32));
    user_error_handler(keep_error, NULL);
    if (!setjmp(error_return)) run_to_end(&net);
    user_error_handler(NULL, NULL);
    ck_assert_ptr_nonnull(strstr(error_text, "got one for 0x1000 by a shorter one, sm[0] -> xbar"));
    sim_free(net.sim);
}
END_TEST

Suite *crossbar_suite(void) {
    Suite *suite = suite_create("crossbar");
    TCase *timing = tcase_create("timing"), *errors = tcase_create("errors");
    tcase_add_test(timing, packet_alone_takes_its_latency_and_its_flits);
    tcase_add_loop_test(timing, cut_links_add_nothing_but_their_latency, 0, 13);
    tcase_add_test(timing, crossbar_runs_on_its_own_clock);
    tcase_add_test(timing, packet_occupies_its_output_for_as_many_cycles_as_flits);
    tcase_add_test(timing, packet_occupies_its_input_for_as_many_cycles_as_flits);
    tcase_add_test(timing, flits_are_rounded_up);
    tcase_add_test(timing, each_sector_that_is_written_may_be_acknowledged);
    tcase_add_test(timing, acknowledgements_of_sectors_cross_by_turns);
    tcase_add_test(timing, requests_go_to_the_slice_of_their_address_and_responses_back);
    tcase_add_test(timing, output_serves_its_inputs_in_turn);
    tcase_add_test(timing, turn_goes_to_the_input_after_the_last_winner);
    tcase_add_test(timing, blocked_head_blocks_what_stands_behind_it);
    tcase_add_test(timing, slice_that_takes_nothing_stops_requests_at_their_source);
    tcase_add_test(timing, sm_that_takes_nothing_stops_responses_but_not_requests);
    tcase_add_test(timing, grant_waits_for_room_for_the_whole_packet);
    tcase_add_test(timing, speedup_lets_several_flits_cross_in_a_cycle);
    tcase_add_test(timing, speedup_does_not_shorten_the_channels);
    tcase_add_loop_test(timing, a_page_is_placed_for_who_comes_first_and_of_several_for_the_lowest_port, 0,
                        4);
    tcase_add_test(errors, pages_ask_for_wires_of_a_quantum_and_name_one_that_is_shorter);
    tcase_add_exit_test(errors, port_count_must_be_the_maps, EXIT_USER_ERROR);
    tcase_add_exit_test(errors, buffer_must_hold_the_longest_packet, EXIT_USER_ERROR);
    tcase_add_test(errors, buffer_of_exactly_the_longest_packet_is_legal);
    suite_add_tcase(suite, timing);
    suite_add_tcase(suite, errors);
    return suite;
}
