/* Routers in meshes, rings and tori: a driver and a slice at each. */
#include "mem/network/router.h"
#include "mem/protocol/networks.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/mem/memory_driver.h"
#include "tests/unit/panic_text.h"
#include "tests/unit/suites.h"

#include <string.h>

Suite *router_suite(void);

enum { MAX_NODES = 16, SLICE_BYTES = 256 };

typedef struct {
    uint32_t columns, rows;
    const char *parameters; /* of all routers */
    uint64_t channel_latency;
    TickOrder order;
    const char *responder; /* parameters */
    uint32_t quantum;      /* cycles; 0: 4 */
} Shape;

static Sim *sim;
static Shape shape;
static SimObject *router[MAX_NODES], *sm[MAX_NODES], *slice[MAX_NODES];

static uint32_t nodes(void) {
    return shape.columns * shape.rows;
}

static SimObject *finished(const char *class, const char *name, uint32_t index, const char *parameters) {
    char path[32];
    snprintf(path, sizeof path, "%s[%u]", name, index);
    return tiny_add(sim, class, path, parameters);
}

static void channel(uint32_t from, const char *port, uint32_t to, const char *to_port) {
    LinkOptions options = {.latency = shape.channel_latency};
    sim_wire(sim, router[from], port, router[to], to_port, options, options);
}

static void wire_neighbours(bool torus) {
    uint32_t columns = shape.columns, rows = shape.rows;
    for (uint32_t i = 0; i < nodes(); i++) {
        uint32_t x = i % columns, y = i / columns, east = y * columns + (x + 1) % columns;
        uint32_t south = (y + 1) % rows * columns + x;
        if (columns > 1 && (torus || x + 1 < columns)) {
            channel(i, "east", east, "from_west");
            channel(east, "west", i, "from_east");
        }
        if (rows > 1 && (torus || y + 1 < rows)) {
            channel(i, "south", south, "from_north");
            channel(south, "north", i, "from_south");
        }
    }
}

static void build(Shape of) {
    char parameters[256];
    class_register_all();
    memory_test_classes();
    shape = of;
    sim = sim_new("test");
    if (of.quantum) sim_set_quantum(sim, of.quantum);
    sim->order = of.order;
    sim->order_seed = 5;
    sim_clock(sim, "clock", 1000000000);
    snprintf(parameters, sizeof parameters, "channels=%u", nodes());
    tiny_add(sim, "AddressMap", "map", parameters);
    for (uint32_t i = 0; i < nodes(); i++) {
        snprintf(parameters, sizeof parameters, "up=1 down=1 x=%u y=%u columns=%u rows=%u %s", i % of.columns,
                 i / of.columns, of.columns, of.rows, of.parameters);
        router[i] = finished("Router", "net", i, parameters);
        sm[i] = finished("MemoryDriver", "sm", i, NULL);
        slice[i] = finished("MemoryResponder", "slice", i, of.responder);
        sim_wire(sim, sm[i], "mem", router[i], "up[0]", (LinkOptions){0}, (LinkOptions){0});
        sim_wire(sim, router[i], "down[0]", slice[i], "cpu", (LinkOptions){0}, (LinkOptions){0});
    }
    wire_neighbours(strstr(of.parameters, "topology=torus") != NULL);
    sim_elaborate(sim);
}

static void tear_down(void) {
    sim_free(sim);
}

static void run_until(uint64_t cycle) {
    sim_run(sim, cycle * sim->clocks[0].period);
    sim_check(sim, false);
}

static uint64_t address_of(uint32_t node, uint64_t line) {
    return (line * nodes() + node) * SLICE_BYTES;
}

static void send(uint32_t from, uint64_t cycle, uint32_t to, MemMessage message) {
    message.sm = (uint16_t)from;
    message.token = from << 16 | to;
    message.address += address_of(to, message.address / SLICE_BYTES) - message.address;
    memory_driver_send(sm[from], cycle, message);
}

static uint64_t sum(const char *stat) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < nodes(); i++)
        total += stat_of(router[i], stat);
    return total;
}

/* ---- Time. */

/* Two links of one cycle; in each router `latency`, in each channel its own. */
static const struct {
    const char *parameters;
    uint32_t from, to, hops;
    uint64_t channel_latency, router_latency;
} ways[] = {
    {"latency=2", 0, 0, 0, 1, 2},
    {"latency=2", 0, 1, 1, 1, 2},
    {"latency=2", 0, 15, 6, 1, 2},
    {"latency=0", 0, 15, 6, 1, 0},
    {"latency=5", 12, 3, 6, 3, 5},
    {"latency=2 topology=torus", 0, 15, 2, 1, 2},
    {"latency=2 topology=torus", 1, 11, 4, 1, 2},
    {"latency=2 routing=adaptive", 5, 10, 2, 4, 2},
    {"latency=1 topology=torus routing=adaptive vcs=3", 0, 10, 4, 1, 1},
};

START_TEST(alone_a_packet_takes_the_shortest_way_at_full_speed) {
    uint64_t hop = ways[_i].router_latency + ways[_i].channel_latency;
    build((Shape){4, 4, ways[_i].parameters, ways[_i].channel_latency, ORDER_PATH, NULL, 1});
    send(ways[_i].from, 10, ways[_i].to, read_request(0, 128));
    uint64_t arrives = 10 + 1 + ways[_i].hops * hop + ways[_i].router_latency + 1;
    run_until(arrives);
    ck_assert_uint_eq(memory_responder_arrivals(slice[ways[_i].to])->count, 0);
    run_until(arrives + 1);
    ck_assert_uint_eq(memory_responder_arrivals(slice[ways[_i].to])->count, 1);
    ck_assert_uint_eq(memory_responder_arrivals(slice[ways[_i].to])->entries[0].cycle, arrives);
    ck_assert_uint_eq(sum("hops"), ways[_i].hops);
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
    sim_check(sim, true);
    /* The response has five flits: its tail comes four cycles behind its head. */
    ck_assert_uint_eq(memory_driver_responses(sm[ways[_i].from])->count, 1);
    ck_assert_uint_eq(memory_driver_responses(sm[ways[_i].from])->entries[0].cycle,
                      arrives + 1 + 1 + ways[_i].hops * hop + ways[_i].router_latency + 4 + 1);
    ck_assert_uint_eq(sum("hops"), 2 * ways[_i].hops);
    tear_down();
}
END_TEST

/* Each flit of a packet takes the channel for a cycle: of packets of five flits from one source a new one comes
 * every five cycles. */
START_TEST(a_channel_carries_one_flit_in_a_cycle) {
    build((Shape){4, 1, "buffer=32", 1, ORDER_PATH, NULL, 0});
    for (uint32_t i = 0; i < 8; i++)
        send(0, 10, 3, posted_write_request(i * SLICE_BYTES, 128));
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
    const MessageLog *log = memory_responder_arrivals(slice[3]);
    ck_assert_uint_eq(log->count, 8);
    for (uint32_t i = 1; i < 8; i++)
        ck_assert_uint_eq(log->entries[i].cycle, log->entries[0].cycle + 5 * i);
    ck_assert_uint_eq(stat_of(router[0], "east_flits"), 40);
    ck_assert_uint_eq(stat_of(router[2], "east_flits"), 40);
    ck_assert_uint_eq(stat_of(router[3], "local_flits"), 40);
    tear_down();
}
END_TEST

/* The packet of SM 1 takes the channel from router 1 to router 2 in cycles 13 to 17. That of SM 0 is there from 16
 * on, and crosses in 18. */
START_TEST(inputs_share_a_channel) {
    build((Shape){4, 1, "buffer=32", 1, ORDER_PATH, NULL, 1});
    send(0, 10, 2, posted_write_request(0, 128));
    send(1, 10, 3, posted_write_request(0, 128));
    run_until(13);
    ck_assert_uint_eq(stat_of(router[1], "east_flits"), 0);
    run_until(14);
    ck_assert_uint_eq(stat_of(router[1], "east_flits"), 5);
    run_until(18);
    ck_assert_uint_eq(stat_of(router[1], "packets_in"), 1);
    ck_assert_uint_eq(stat_of(router[1], "east_flits"), 5);
    run_until(19);
    ck_assert_uint_eq(stat_of(router[1], "east_flits"), 10);
    tear_down();
}
END_TEST

/* A buffer of five flits has room for one packet of five: the next one waits until the tail has left and the
 * credit is back. With a hop of 3 cycles: head in at t, on at t + 2, tail gone at t + 6, credit sent at t + 7
 * at the latest, known at t + 8. */
START_TEST(a_full_buffer_stops_its_sender_until_the_credit_is_back) {
    build((Shape){3, 1, "buffer=5 vcs=1", 1, ORDER_PATH, NULL, 0});
    for (uint32_t i = 0; i < 3; i++)
        send(0, 10, 2, posted_write_request(i * SLICE_BYTES, 128));
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
    sim_check(sim, true);
    const MessageLog *log = memory_responder_arrivals(slice[2]);
    ck_assert_uint_eq(log->count, 3);
    uint64_t apart = log->entries[1].cycle - log->entries[0].cycle;
    ck_assert_uint_gt(apart, 5);
    ck_assert_uint_eq(apart, log->entries[2].cycle - log->entries[1].cycle);
    ck_assert_uint_eq(apart, 8); /* channel 1, router 2, tail 4, credit 1 */
    ck_assert_uint_gt(stat_of(router[0], "credit_stall_cycles"), 0);
    tear_down();
}
END_TEST

/* ---- Deadlock. */

/* Every driver sends to every slice and back, more than the buffers hold; slices refuse for a while. */
static void saturate(uint32_t rounds) {
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t i = 0; i < nodes(); i++)
            for (uint32_t d = 1; d < nodes(); d++) {
                uint64_t line = round * SLICE_BYTES;
                MemMessage m = (round + d) % 3 ? read_request(line, 128) : write_request(line, 128);
                send(i, 1, (i + d * 5 + round) % nodes(), m);
            }
}

static const struct {
    uint32_t columns, rows;
    const char *parameters;
} full[] = {
    {4, 4, "buffer=5 vcs=1"},
    {4, 4, "buffer=5 vcs=2 routing=adaptive"},
    {8, 1, "buffer=5 vcs=2 topology=torus"},
    {5, 1, "buffer=5 vcs=3 topology=torus routing=adaptive"},
    {4, 4, "buffer=5 vcs=2 topology=torus"},
    {4, 3, "buffer=5 vcs=3 topology=torus routing=adaptive"},
    {2, 2, "buffer=5 vcs=2 topology=torus"},
    {1, 7, "buffer=6 vcs=4 topology=torus"},
};

static void expect_drained(void) {
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
    sim_check(sim, true);
    for (uint32_t i = 0; i < nodes(); i++)
        ck_assert_uint_eq(memory_driver_responses(sm[i])->count, memory_driver_sent(sm[i])->count);
    ck_assert_uint_eq(sum("packets_in"), sum("packets_out"));
}

START_TEST(full_networks_with_the_smallest_buffers_drain) {
    build((Shape){full[_i].columns, full[_i].rows, full[_i].parameters, 1, ORDER_PATH,
                  "refuse_from=50 refuse_until=400 capacity=2", 0});
    saturate(6);
    run_until(300); /* every buffer is as full as it gets */
    ck_assert_uint_gt(sum("credit_stall_cycles"), 0);
    expect_drained();
    tear_down();
}
END_TEST

/* Every driver of a ring of five sends two routers on, all in the same direction. */
static void fill_ring(const char *parameters) {
    build((Shape){5, 1, parameters, 1, ORDER_PATH, NULL, 0});
    for (uint32_t k = 0; k < 40; k++)
        for (uint32_t i = 0; i < 5; i++)
            send(i, 1, (i + 2) % 5, posted_write_request(k * SLICE_BYTES, 128));
}

START_TEST(a_ring_hangs_without_its_dateline_and_drains_with_it) {
    fill_ring("topology=torus buffer=5 vcs=2 dateline=true");
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
    ck_assert_uint_eq(sum("packets_out"), 200);
    tear_down();
    fill_ring("topology=torus buffer=5 vcs=1 dateline=false");
    run_until(2000);
    uint64_t out = sum("packets_out"), in = sum("packets_in");
    ck_assert_uint_gt(in - out, 4); /* a packet in each buffer waits for the next one */
    ck_assert_uint_lt(out, 200);
    run_until(20000);
    ck_assert_uint_eq(sum("packets_out"), out);
    ck_assert_uint_eq(sum("packets_in"), in);
    tear_down();
}
END_TEST

/* Responses pass where requests fill everything: slice 3 takes none, the answers of slice 2 come through. */
START_TEST(responses_do_not_wait_for_requests) {
    build((Shape){4, 1, "buffer=5 vcs=1", 1, ORDER_PATH, NULL, 0});
    object_set_number(slice[3], "refuse_until", 4000);
    for (uint32_t k = 0; k < 40; k++)
        send(1, 1, 3, write_request(k * SLICE_BYTES, 128));
    send(3, 1000, 0, read_request(0, 128));
    run_until(1000);
    ck_assert_uint_eq(memory_responder_arrivals(slice[3])->count, 0);
    run_until(1100);
    ck_assert_uint_eq(memory_driver_responses(sm[3])->count, 1);
    ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
    ck_assert_uint_eq(memory_driver_responses(sm[1])->count, 40);
    tear_down();
}
END_TEST

/* ---- Order of ticks. */

static uint64_t fingerprint(TickOrder order) {
    build((Shape){4, 4, "buffer=6 vcs=3 topology=torus routing=adaptive", 2, order,
                  "refuse_from=50 refuse_until=120", 0});
    saturate(3);
    expect_drained();
    uint64_t hash = sum("credit_stall_cycles") * 31 + sum("conflicts") * 7 + sum("buffered_flits");
    for (uint32_t i = 0; i < nodes(); i++) {
        const MessageLog *log = memory_driver_responses(sm[i]);
        for (uint32_t k = 0; k < log->count; k++)
            hash = hash * 1000003 + log->entries[k].cycle * 64 + log->entries[k].message.token;
    }
    tear_down();
    return hash;
}

START_TEST(the_order_of_ticks_changes_nothing) {
    uint64_t first = fingerprint(ORDER_PATH);
    ck_assert_uint_eq(fingerprint(ORDER_REVERSED), first);
    ck_assert_uint_eq(fingerprint(ORDER_SHUFFLED), first);
    ck_assert_uint_eq(fingerprint(ORDER_RESTLESS), first);
}
END_TEST

/* ---- Broken state is refused: checks and soundness. */

static void check_machine(void *context) {
    (void)context;
    sim_check(sim, false);
}

static void check_state(void *context) {
    (void)context;
    router_class.is_sound(router[1], true);
}

START_TEST(broken_state_is_found) {
    build((Shape){4, 1, "buffer=8", 1, ORDER_PATH, NULL, 0});
    Router *r = (Router *)router[1];
    router_class.is_sound(router[1], true);
    r->credits[EAST][0]--;
    assert_panic(check_machine, NULL,
                 "net[1]: channel 0, virtual channel 0: 7 flits of room are accounted for");
    r->credits[EAST][0] = 9;
    assert_panic(check_state, NULL, "net[1]: 9 credits");
    r->credits[EAST][0] = 8;
    r->queue[WEST][1].count = 1;
    assert_panic(check_state, NULL, "net[1]");
    r->queue[WEST][1].count = 0;
    r->turn = 99;
    assert_panic(check_state, NULL, "net[1].turn: 99");
    r->turn = 0;
    r->packets_in++;
    assert_panic(check_machine, NULL, "net[0]: of 1 packets in its network, 0 have left and 0 are inside");
    tear_down();
}
END_TEST

Suite *router_suite(void) {
    Suite *suite = suite_create("router");
    TCase *time = tcase_create("time"), *deadlock = tcase_create("deadlock"), *order = tcase_create("order");
    tcase_add_loop_test(time, alone_a_packet_takes_the_shortest_way_at_full_speed, 0,
                        sizeof ways / sizeof *ways);
    tcase_add_test(time, a_channel_carries_one_flit_in_a_cycle);
    tcase_add_test(time, inputs_share_a_channel);
    tcase_add_test(time, a_full_buffer_stops_its_sender_until_the_credit_is_back);
    tcase_add_loop_test(deadlock, full_networks_with_the_smallest_buffers_drain, 0,
                        sizeof full / sizeof *full);
    tcase_add_test(deadlock, a_ring_hangs_without_its_dateline_and_drains_with_it);
    tcase_add_test(deadlock, responses_do_not_wait_for_requests);
    tcase_add_test(order, broken_state_is_found);
    tcase_add_test(order, the_order_of_ticks_changes_nothing);
    suite_add_tcase(suite, time);
    suite_add_tcase(suite, deadlock);
    suite_add_tcase(suite, order);
    return suite;
}
