#include "core/sim/random.h"
#include "mem/address_map.h"
#include "mem/networks.h"
#include "tests/unit/memory_driver.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENDS = 16, SLICE_BYTES = 256 };

typedef struct {
    uint32_t up, down;
    const char *flit, *latency, *speedup, *output_buffer, *response_part;
    uint64_t link_latency; /* cycles; from the quantum of 4 cycles on, the links are cut */
    uint32_t depth;
    uint32_t quantum; /* cycles of the slow clock, 0: 4 */
    TickOrder order;
    const char *clock; /* the crossbar's: "fast" has twice the frequency of "slow" */
} Options;

typedef struct {
    Sim *sim;
    SimObject *crossbar, *sm[MAX_ENDS], *slice[MAX_ENDS];
    Options options;
} Network;

static SimObject *add(Sim *sim, const char *class, const char *name, uint32_t index, const char *clock) {
    char path[32];
    snprintf(path, sizeof path, "%s[%u]", name, index);
    return sim_add(sim, class, path, clock);
}

static void wire(Network *net, SimObject *end, const char *end_port, const char *port, uint32_t index) {
    char name[16];
    LinkOptions link = {.latency = net->options.link_latency, .depth = net->options.depth};
    LinkOptions from_fast = link; /* the same time, in cycles of a sender twice as fast */
    if (strcmp(net->options.clock, "fast") == 0) from_fast.latency *= 2;
    bool upwards = strcmp(port, "up") == 0;
    snprintf(name, sizeof name, "%s[%u]", port, index);
    sim_wire(net->sim, end, end_port, net->crossbar, name, upwards ? link : from_fast,
             upwards ? from_fast : link);
}

static void set_if_given(SimObject *object, const char *name, const char *value) {
    if (value) object_set_text(object, name, value);
}

/* Finished objects, not yet elaborated: `up` drivers and `down` responders around a crossbar. */
static Network make_network(Options options) {
    if (!options.clock) options.clock = "slow";
    Network net = {.sim = sim_new("test"), .options = options};
    memory_test_classes();
    class_register(&crossbar_class);
    class_register(&address_map_class);
    if (options.quantum) sim_set_quantum(net.sim, options.quantum);
    net.sim->order = options.order;
    net.sim->order_seed = 7;
    sim_clock(net.sim, "slow", 1000000000);
    sim_clock(net.sim, "fast", 2000000000);
    SimObject *map = sim_add(net.sim, "AddressMap", "map", NULL);
    object_set_number(map, "channels", options.down);
    sim_finish_object(map);
    net.crossbar = sim_add(net.sim, "Crossbar", "xbar", options.clock);
    object_set_number(net.crossbar, "up", options.up);
    object_set_number(net.crossbar, "down", options.down);
    set_if_given(net.crossbar, "flit", options.flit);
    set_if_given(net.crossbar, "latency", options.latency);
    set_if_given(net.crossbar, "speedup", options.speedup);
    set_if_given(net.crossbar, "output_buffer", options.output_buffer);
    set_if_given(net.crossbar, "response_part", options.response_part);
    sim_finish_object(net.crossbar);
    for (uint32_t i = 0; i < options.up; i++) {
        net.sm[i] = add(net.sim, "MemoryDriver", "sm", i, "slow");
        sim_finish_object(net.sm[i]);
        wire(&net, net.sm[i], "mem", "up", i);
    }
    for (uint32_t j = 0; j < options.down; j++) {
        net.slice[j] = add(net.sim, "MemoryResponder", "slice", j, "slow");
        sim_finish_object(net.slice[j]);
        wire(&net, net.slice[j], "cpu", "down", j);
    }
    return net;
}

static Network start_network(Options options) {
    Network net = make_network(options);
    sim_elaborate(net.sim);
    return net;
}

static void run_until_cycle(Network *net, uint64_t cycle) {
    sim_run(net->sim, cycle * net->sim->clocks[0].period);
}

static void run_to_end(Network *net) {
    ck_assert_int_eq(sim_run(net->sim, UINT64_MAX), STOP_IDLE);
    sim_check(net->sim, true);
}

/* Line `line` of the lines that slice `slice` owns. */
static uint64_t address_of(const Network *net, uint32_t slice, uint64_t line) {
    return (line * net->options.down + slice) * SLICE_BYTES;
}

static void send(Network *net, uint64_t cycle, uint32_t sm, MemMessage message) {
    message.sm = (uint16_t)sm;
    memory_driver_send(net->sm[sm], cycle, message);
}

static void send_posted(Network *net, uint64_t cycle, uint32_t sm, uint32_t slice, uint32_t bytes) {
    send(net, cycle, sm, posted_write_request(address_of(net, slice, 0), bytes));
}

static const LoggedMessage *arrival(const Network *net, uint32_t slice, uint32_t index) {
    const MessageLog *log = memory_responder_arrivals(net->slice[slice]);
    ck_assert_uint_lt(index, log->count);
    return &log->entries[index];
}

static const LoggedMessage *response(const Network *net, uint32_t sm, uint32_t index) {
    const MessageLog *log = memory_driver_responses(net->sm[sm]);
    ck_assert_uint_lt(index, log->count);
    return &log->entries[index];
}

static uint64_t stat(const Network *net, const char *name) {
    return stat_of(net->crossbar, name);
}

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
 * sent on at 24 + 1 + 4, ready at 33. */
START_TEST(cut_links_add_nothing_but_their_latency) {
    Network net = start_network((Options){.up = 2, .down = 2, .link_latency = 4});
    ck_assert_uint_gt(net.sim->cluster_count, 1);
    send(&net, 10, 0, read_request(address_of(&net, 1, 0), 128));
    run_to_end(&net);
    ck_assert_uint_eq(arrival(&net, 1, 0)->cycle, 19);
    ck_assert_uint_eq(response(&net, 0, 0)->cycle, 33);
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
            ck_assert_uint_eq(log->entries[k].message.slice, j);
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

/* ---- Responses in parts. */

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
        ck_assert_uint_eq(response(&net, 0, 0)->message.slice, 0);
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

/* ---- The law: nothing depends on the order in which objects are ticked. */

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

static void assert_same_run(const Network *a, const Network *b) {
    for (uint32_t i = 0; i < a->options.up; i++)
        assert_same_log(memory_driver_responses(a->sm[i]), memory_driver_responses(b->sm[i]));
    for (uint32_t j = 0; j < a->options.down; j++)
        assert_same_log(memory_responder_arrivals(a->slice[j]), memory_responder_arrivals(b->slice[j]));
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
        object_poke(poked.crossbar, cycle * poked.crossbar->period);
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

Suite *crossbar_suite(void);

Suite *crossbar_suite(void) {
    Suite *suite = suite_create("crossbar");
    TCase *timing = tcase_create("timing"), *law = tcase_create("law"), *errors = tcase_create("errors");
    tcase_add_test(timing, packet_alone_takes_its_latency_and_its_flits);
    tcase_add_test(timing, cut_links_add_nothing_but_their_latency);
    tcase_add_test(timing, crossbar_runs_on_its_own_clock);
    tcase_add_test(timing, packet_occupies_its_output_for_as_many_cycles_as_flits);
    tcase_add_test(timing, packet_occupies_its_input_for_as_many_cycles_as_flits);
    tcase_add_test(timing, flits_are_rounded_up);
    tcase_add_test(timing, requests_go_to_the_slice_of_their_address_and_responses_back);
    tcase_add_test(timing, output_serves_its_inputs_in_turn);
    tcase_add_test(timing, turn_goes_to_the_input_after_the_last_winner);
    tcase_add_test(timing, blocked_head_blocks_what_stands_behind_it);
    tcase_add_test(timing, slice_that_takes_nothing_stops_requests_at_their_source);
    tcase_add_test(timing, sm_that_takes_nothing_stops_responses_but_not_requests);
    tcase_add_test(timing, grant_waits_for_room_for_the_whole_packet);
    tcase_add_test(timing, speedup_lets_several_flits_cross_in_a_cycle);
    tcase_add_test(timing, speedup_does_not_shorten_the_channels);
    tcase_add_test(timing, parts_of_responses_come_to_an_output_by_turns);
    tcase_add_test(timing, parts_take_no_longer_than_the_whole_when_nobody_competes);
    tcase_add_test(timing, requests_cross_as_a_whole);
    tcase_add_test(timing, parts_leave_at_one_flit_per_cycle_whatever_the_speedup);
    tcase_add_test(timing, responses_that_have_begun_to_cross_do_not_keep_each_other_from_ending);
    tcase_add_loop_test(law, tick_order_changes_nothing, 0, sizeof law_cases / sizeof *law_cases);
    tcase_add_loop_test(law, spurious_ticks_change_nothing, 0, 2);
    tcase_add_exit_test(errors, port_count_must_be_the_maps, EXIT_USER_ERROR);
    tcase_add_exit_test(errors, buffer_must_hold_the_longest_packet, EXIT_USER_ERROR);
    tcase_add_test(errors, buffer_of_exactly_the_longest_packet_is_legal);
    suite_add_tcase(suite, timing);
    suite_add_tcase(suite, law);
    suite_add_tcase(suite, errors);
    return suite;
}
