#include "mem/memory_controller.h"

#include "core/sim/random.h"
#include "mem/address_map.h"
#include "mem/memory_controller_state.h"
#include "tests/unit/memory_driver.h"
#include "tests/unit/suites.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DRIVERS = 4 };

/* Drivers on the ports of one controller. All share one clock unless a test says otherwise. */
static Sim *sim;
static SimObject *mc, *drivers[MAX_DRIVERS];
static uint32_t link_latency; /* core cycles to the controller and DRAM cycles back */

static void add_map(void) {
    SimObject *map = sim_add(sim, "AddressMap", "map", NULL);
    object_set_number(map, "channels", 1);
    sim_finish_object(map);
}

static void start_with_clocks(uint64_t driver_hertz, uint64_t dram_hertz) {
    sim_free(sim);
    sim = sim_new("test");
    sim_clock(sim, "core", driver_hertz);
    sim_clock(sim, "dram", dram_hertz);
    add_map();
    mc = sim_add(sim, "MemoryController", "mc", "dram");
    object_set_text(mc, "check_commands", "true");
    memset(drivers, 0, sizeof drivers);
}

static void set_up(void) {
    memory_test_classes();
    class_register(&address_map_class);
    class_register(&memory_controller_class);
    link_latency = 1;
    start_with_clocks(924000000, 924000000);
}

static void tear_down(void) {
    user_error_handler(NULL, NULL);
    sim_free(sim);
    sim = NULL;
}

static SimObject *add_driver(uint32_t port) {
    char name[16];
    snprintf(name, sizeof name, "driver[%u]", port);
    drivers[port] = sim_add(sim, "MemoryDriver", name, "core");
    return drivers[port];
}

/* Links of a depth of 64 each way. */
static void elaborate(uint32_t ports) {
    object_set_number(mc, "ports", ports);
    sim_finish_object(mc);
    for (uint32_t port = 0; port < ports; port++) {
        char name[16];
        snprintf(name, sizeof name, "cpu[%u]", port);
        if (!drivers[port]) add_driver(port);
        sim_finish_object(drivers[port]);
        LinkOptions options = {.latency = link_latency, .depth = 64};
        sim_wire(sim, drivers[port], "mem", mc, name, options, options);
    }
    sim_elaborate(sim);
}

static void run(void) {
    ck_assert_int_eq(sim_run(sim, NEVER), STOP_IDLE);
    sim_settle(sim);
    sim_check(sim, true);
}

static const LoggedMessage *response(uint32_t index) {
    ck_assert_uint_lt(index, memory_driver_responses(drivers[0])->count);
    return &memory_driver_responses(drivers[0])->entries[index];
}

/* The one channel of this map: row 27:16, bank {15:13, 8}, column {12:9, 7:0}. */
static uint64_t location(uint32_t row, uint32_t bank, uint32_t line) {
    uint64_t column = line * 128;
    return (uint64_t)row << 16 | (uint64_t)(bank >> 1) << 13 | (uint64_t)(bank & 1) << 8 | (column & 0xff) |
           (column >> 8) << 9;
}

typedef struct {
    const char *name;
    double value;
} Stat;

static void find_stat(void *context, const char *name, double value, bool integral, const char *unit,
                      const char *doc) {
    Stat *stat = context;
    (void)integral, (void)unit, (void)doc;
    if (strncmp(name, "mc.", 3) == 0 && strcmp(name + 3, stat->name) == 0) stat->value = value;
}

static double stat(const char *name) {
    Stat found = {name, -1};
    sim_visit_stats(sim, find_stat, &found);
    ck_assert_msg(found.value >= 0, "no stat %s", name);
    return found.value;
}

#define ck_assert_stat_eq(name, expected) ck_assert_double_eq(stat(name), expected)

/* ---- Latency ---- */

/* Sent at 0, at the port and in the queue at 1, ACTIVATE at 2, READ at 2 + tRCD = 14, data until 14 + tCL + 2
 * = 28, sent back then, received at 29. */
START_TEST(one_burst_of_a_closed_bank_takes_29_cycles) {
    elaborate(1);
    memory_driver_send(drivers[0], 0, read_request(location(3, 5, 0), _i ? 64 : 32));
    run();
    ck_assert_uint_eq(response(0)->cycle, 29);
    ck_assert_stat_eq("average_read_latency", 27);
    ck_assert_stat_eq("read_commands", 1);
    ck_assert_stat_eq("row_misses", 1);
}
END_TEST

/* The second READ waits for tCCDL = 3, since it goes to the same bank: READ at 14 and 17, received at 17
 * + 15. */
START_TEST(a_line_is_two_bursts_tCCDL_apart) {
    elaborate(1);
    memory_driver_send(drivers[0], 0, read_request(location(3, 5, 0), 128));
    run();
    ck_assert_uint_eq(response(0)->cycle, 32);
    ck_assert_stat_eq("read_commands", 2);
    ck_assert_stat_eq("data_bus_cycles", 4);
}
END_TEST

/* In the queue at 101, READ at 102 and 105, received at 120. */
START_TEST(row_hit_saves_activate) {
    elaborate(1);
    memory_driver_send(drivers[0], 0, read_request(location(3, 5, 0), 128));
    memory_driver_send(drivers[0], 100, read_request(location(3, 5, 7), 128));
    run();
    ck_assert_uint_eq(response(1)->cycle, 120);
    ck_assert_stat_eq("row_hits", 1);
    ck_assert_stat_eq("activates", 1);
}
END_TEST

/* PRECHARGE at 102, ACTIVATE at 114, READ at 126 and 129, received at 144. */
START_TEST(row_conflict_adds_precharge) {
    elaborate(1);
    memory_driver_send(drivers[0], 0, read_request(location(3, 5, 0), 128));
    memory_driver_send(drivers[0], 100, read_request(location(4, 5, 0), 128));
    run();
    ck_assert_uint_eq(response(1)->cycle, 144);
    ck_assert_stat_eq("row_conflicts", 1);
    ck_assert_stat_eq("precharges", 1);
}
END_TEST

/* ACTIVATE at 2, WRITE at 2 + tRCDWR = 9 and 12, data until 12 + tWL + 2 = 18, acknowledgement received
 * at 19. */
START_TEST(write_is_acknowledged_when_its_data_are_in) {
    elaborate(1);
    MemMessage write = write_request(location(3, 5, 0), 128);
    write.token = 77;
    memory_driver_send(drivers[0], 0, write);
    run();
    ck_assert_uint_eq(response(0)->cycle, 19);
    ck_assert_uint_eq(response(0)->message.token, 77);
    ck_assert_int_eq(response(0)->message.kind, MEM_WRITE);
    ck_assert_stat_eq("write_bytes", 128);
}
END_TEST

START_TEST(posted_write_is_not_answered) {
    elaborate(1);
    memory_driver_send(drivers[0], 0, posted_write_request(location(3, 5, 0), 128));
    run();
    ck_assert_uint_eq(memory_driver_responses(drivers[0])->count, 0);
    ck_assert_stat_eq("posted_writes", 1);
    ck_assert_stat_eq("write_commands", 2);
}
END_TEST

/* WRITE at 9, READ not before 9 + tWTR = 20: received at 35. The other way round READ at 14, WRITE at 26:
 * received at 26 + 4 + 2 + 1. */
START_TEST(the_data_bus_needs_time_to_turn) {
    MemMessage write = write_request(location(3, 5, 0), 64), read = read_request(location(3, 5, 0), 64);
    elaborate(1);
    memory_driver_send(drivers[0], 0, _i ? write : read);
    memory_driver_send(drivers[0], _i ? 8 : 14, _i ? read : write);
    run();
    ck_assert_int_eq(response(1)->message.kind, _i ? MEM_READ : MEM_WRITE);
    ck_assert_uint_eq(response(1)->cycle, _i ? 35 : 33);
    ck_assert_stat_eq("turnarounds", 1);
}
END_TEST

START_TEST(latency_delays_every_request) {
    object_set_number(mc, "latency", 50);
    elaborate(1);
    memory_driver_send(drivers[0], 0, read_request(location(3, 5, 0), 64));
    memory_driver_send(drivers[0], 100, read_request(location(3, 5, 0), 64));
    run();
    ck_assert_uint_eq(response(0)->cycle, 29 + 50);
    ck_assert_uint_eq(response(1)->cycle, 100 + 17 + 50);
}
END_TEST

/* ---- Order ---- */

static void expect_order(const uint32_t *tokens, uint32_t count) {
    ck_assert_uint_eq(memory_driver_responses(drivers[0])->count, count);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(response(i)->message.token, tokens[i]);
}

static void send_read(uint32_t port, uint64_t cycle, uint64_t address, uint32_t token,
                      uint32_t class_number) {
    MemMessage message = read_request(address, 128);
    message.token = token;
    message.class_number = (uint8_t)class_number;
    memory_driver_send(drivers[port], cycle, message);
}

/* All are in the queue before the first row is open. */
static void send_rows_a_b_a_b(void) {
    elaborate(1);
    for (uint32_t i = 0; i < 4; i++)
        send_read(0, 0, location(i & 1, 0, i), i, 0);
    run();
}

START_TEST(row_hits_go_first) {
    send_rows_a_b_a_b();
    expect_order((uint32_t[]){0, 2, 1, 3}, 4);
    ck_assert_stat_eq("row_hits", 2);
    ck_assert_stat_eq("activates", 2);
}
END_TEST

START_TEST(fcfs_serves_a_bank_in_order) {
    object_set_text(mc, "scheduler", "fcfs");
    send_rows_a_b_a_b();
    expect_order((uint32_t[]){0, 1, 2, 3}, 4);
    ck_assert_stat_eq("activates", 4);
}
END_TEST

/* Bank 0 needs row 1 while its row 0 is open; bank 2 is closed and ready sooner. */
START_TEST(other_banks_do_not_wait_for_a_conflict) {
    elaborate(1);
    send_read(0, 0, location(0, 0, 0), 0, 0);
    send_read(0, 100, location(1, 0, 0), 1, 0);
    send_read(0, 101, location(0, 2, 0), 2, 0);
    run();
    expect_order((uint32_t[]){0, 2, 1}, 3);
}
END_TEST

/* Class 1 has row hits, but the bank belongs to class 0 as soon as class 0 wants it. */
START_TEST(low_queue_goes_before_row_hits_of_a_high_one) {
    object_set_number(mc, "queues", 2);
    elaborate(1);
    for (uint32_t i = 0; i < 8; i++)
        send_read(0, 0, location(0, 0, i), i, 1);
    send_read(0, 24, location(1, 0, 0), 8, 0);
    run();
    /* In the queue at 25: the READs at 14, 17, 20, 23 served requests 0 and 1. */
    expect_order((uint32_t[]){0, 1, 8, 2, 3, 4, 5, 6, 7}, 9);
}
END_TEST

START_TEST(high_queue_uses_banks_that_the_low_one_leaves) {
    object_set_number(mc, "queues", 2);
    elaborate(1);
    send_read(0, 0, location(0, 0, 0), 0, 0);
    send_read(0, 100, location(1, 0, 0), 1, 0); /* conflict: takes 42 cycles */
    send_read(0, 100, location(0, 2, 0), 2, 9); /* the last queue takes all higher classes */
    run();
    expect_order((uint32_t[]){0, 2, 1}, 3);
}
END_TEST

/* As low_queue_goes_before_row_hits_of_a_high_one, with the classes' queues exchanged. */
START_TEST(queues_of_classes_can_be_named) {
    object_set_number(mc, "queues", 2);
    object_set_text(mc, "class_queues", "1,1,0");
    elaborate(1);
    for (uint32_t i = 0; i < 8; i++)
        send_read(0, 0, location(0, 0, i), i, i & 1);
    send_read(0, 24, location(1, 0, 0), 8, 2);
    run();
    expect_order((uint32_t[]){0, 1, 8, 2, 3, 4, 5, 6, 7}, 9);
}
END_TEST

START_TEST(policies_can_send_a_class_to_another_queue) {
    object_set_number(mc, "queues", 2);
    elaborate(1);
    ck_assert_uint_eq(memory_controller_queues(mc), 2);
    memory_controller_set_queue(mc, 0, 1);
    memory_controller_set_queue(mc, 3, 0);
    for (uint32_t i = 0; i < 8; i++)
        send_read(0, 0, location(0, 0, i), i, 0);
    send_read(0, 24, location(1, 0, 0), 8, 3);
    run();
    expect_order((uint32_t[]){0, 1, 8, 2, 3, 4, 5, 6, 7}, 9);
}
END_TEST

/* Two are in the queue of class 1, which is full, the others of this class wait in the link. */
static uint64_t cycle_of_high_request(uint32_t low_requests) {
    object_set_number(mc, "queues", 2);
    object_set_number(mc, "queue_entries", 2);
    elaborate(1);
    for (uint32_t i = 0; i < low_requests; i++)
        send_read(0, 0, location(i, 0, 0), i, 1);
    send_read(0, 20, location(0, 2, 0), 9, 0);
    run();
    for (uint32_t i = 0;; i++)
        if (response(i)->message.token == 9) return response(i)->cycle;
}

START_TEST(request_is_not_held_up_by_those_that_wait_for_room_in_another_queue) {
    uint64_t alone = cycle_of_high_request(0);
    tear_down();
    set_up();
    ck_assert_uint_eq(cycle_of_high_request(6), alone);
    expect_order((uint32_t[]){0, 9, 1, 2, 3, 4, 5}, 7);
}
END_TEST

/* Nobody waits for it: the reads of class 1 come first, though it is of class 0 and older. */
START_TEST(posted_write_is_of_the_last_queue) {
    object_set_number(mc, "queues", 3);
    elaborate(1);
    for (uint32_t i = 0; i < 4; i++) {
        MemMessage write = posted_write_request(location(1, 0, i), 64);
        memory_driver_send(drivers[0], 0, write);
    }
    for (uint32_t i = 0; i < 4; i++)
        send_read(0, 0, location(0, 0, i), i, 1);
    run();
    expect_order((uint32_t[]){0, 1, 2, 3}, 4);
    ck_assert_stat_eq("row_hits", 6);
    ck_assert_stat_eq("activates", 2 + 1); /* the first write had opened its row when the reads came */
}
END_TEST

START_TEST(queue_of_a_class_that_there_is_not_is_a_user_error) {
    object_set_number(mc, "queues", 2);
    object_set_text(mc, "class_queues", "0,2");
    elaborate(1);
}
END_TEST

/* 400 row hits, sent as fast as they are served, against one conflict that came early. */
static uint64_t cycle_of_starved_request(uint32_t age_cap) {
    object_set_number(mc, "age_cap", age_cap);
    object_set_number(add_driver(0), "outstanding", 16);
    elaborate(1);
    for (uint32_t i = 0; i < 400; i++) {
        send_read(0, 0, location(0, 0, i % 32), 0, 0);
        if (i == 8) send_read(0, 0, location(1, 0, 0), 1, 0);
    }
    run();
    for (uint32_t i = 0;; i++)
        if (response(i)->message.token == 1) return response(i)->cycle;
}

START_TEST(without_age_cap_row_hits_starve_a_conflict) {
    ck_assert_uint_gt(cycle_of_starved_request(0), 400 * 6);
    ck_assert_stat_eq("row_conflicts", 1);
}
END_TEST

/* It enters the queue at 10. From 310 on no hit of the bank is served: a READ of the bank at 309 at the
 * latest, then PRECHARGE by 312, ACTIVATE 12, READ 12, READ 3, 15 to the driver. */
START_TEST(age_cap_bounds_the_waiting) {
    uint64_t cycle = cycle_of_starved_request(300);
    ck_assert_uint_ge(cycle, 310 + 12 + 12 + 3 + 15);
    ck_assert_uint_le(cycle, 312 + 12 + 12 + 3 + 15);
    ck_assert_stat_eq("row_conflicts", 2);
}
END_TEST

/* Reads that hit keep the bus in their direction; a write must get its turn: of age 300 cycles after it
 * entered the queue, the last READ in that cycle at the latest, WRITE within tRTW = 12, 7 to the driver. */
START_TEST(age_cap_turns_the_bus) {
    object_set_number(mc, "age_cap", 300);
    object_set_number(add_driver(0), "outstanding", 16);
    elaborate(1);
    for (uint32_t i = 0; i < 400; i++) {
        MemMessage write = write_request(location(0, 0, 31), 64);
        write.token = 1;
        if (i == 30)
            memory_driver_send(drivers[0], 0, write);
        else
            send_read(0, 0, location(0, i & 1, i % 32), 0, 0);
    }
    run();
    uint64_t entered = memory_driver_sent(drivers[0])->entries[30].cycle + 1;
    uint32_t i = 0;
    while (response(i)->message.token != 1)
        i++;
    ck_assert_uint_gt(response(i)->cycle, entered + 300 + 7);
    ck_assert_uint_le(response(i)->cycle, entered + 300 + 12 + 7);
    ck_assert_stat_eq("turnarounds", 2);
}
END_TEST

/* ---- Bandwidth ---- */

/* Lines of one bank, `run` of them in each row. A row takes ACTIVATE, then 2 * run READs from tRCD on, tCCDL
 * apart, then PRECHARGE tRTPL after the last, not before tRAS, then tRP. The pins could move a line in 4
 * cycles. */
START_TEST(one_bank_reaches_its_computed_bandwidth) {
    const uint32_t runs[] = {1, 2, 4, 8, 32}, rows = 50;
    uint32_t lines = runs[_i], last_read = 12 + 3 * (2 * lines - 1);
    uint32_t precharge = last_read + 2 > 28 ? last_read + 2 : 28, period = precharge + 12;
    object_set_number(add_driver(0), "outstanding", 64);
    elaborate(1);
    for (uint32_t i = 0; i < rows * lines; i++)
        send_read(0, 0, location(i / lines, 6, i % lines), i, 0);
    run();
    ck_assert_uint_eq(response(rows * lines - 1)->cycle, 2 + (rows - 1) * period + last_read + 15);
    ck_assert_double_eq_tol(stat("row_hit_rate"), (lines - 1.0) / lines, 1e-12);
    ck_assert_uint_eq((uint32_t)stat("activates"), rows);
    ck_assert_double_eq_tol(stat("bandwidth_utilisation"), 4.0 * lines / period, 0.01);
}
END_TEST

/* Writes: the row takes them from tRCDWR on and is closed tWTP after the last. Data and acknowledgement are
 * at the driver tWL + 2 + 1 after it. */
START_TEST(one_bank_of_writes_reaches_its_computed_bandwidth) {
    const uint32_t runs[] = {1, 2, 4, 8, 32}, rows = 50;
    uint32_t lines = runs[_i], last_write = 7 + 3 * (2 * lines - 1), period = last_write + 18 + 12;
    if (period < 40) period = 40;
    object_set_number(add_driver(0), "outstanding", 64);
    elaborate(1);
    for (uint32_t i = 0; i < rows * lines; i++)
        memory_driver_send(drivers[0], 0, write_request(location(i / lines, 6, i % lines), 128));
    run();
    ck_assert_uint_eq(response(rows * lines - 1)->cycle, 2 + (rows - 1) * period + last_write + 7);
    ck_assert_double_eq_tol(stat("row_hit_rate"), (lines - 1.0) / lines, 1e-12);
    ck_assert_double_eq_tol(stat("bandwidth_utilisation"), 4.0 * lines / period, 0.01);
}
END_TEST

/* `lines` of each row, bank after bank: a row can be opened every tRRD = 6 cycles and keeps the bus for
 * 4 * lines. With single lines READs come at 12 and 15 after their ACTIVATE, where the ACTIVATE after the
 * next could be: it waits a cycle, and then the next one does not. WRITEs come at 7 and 10. */
START_TEST(rows_of_all_banks_reach_their_computed_bandwidth) {
    const uint32_t runs[] = {1, 2, 4, 8}, rows = 3000;
    uint32_t lines = runs[_i / 2];
    bool write = _i % 2;
    double period = lines > 1 ? 4 * lines : write ? 6 : 6.5;
    object_set_number(add_driver(0), "outstanding", 64);
    elaborate(1);
    for (uint32_t i = 0; i < rows * lines; i++) {
        uint64_t address = location(i / lines / 16, i / lines % 16, i % lines);
        memory_driver_send(drivers[0], 0, write ? write_request(address, 128) : read_request(address, 128));
    }
    run();
    ck_assert_double_eq_tol(stat("row_hit_rate"), (lines - 1.0) / lines, 1e-12);
    ck_assert_double_eq_tol(stat("bandwidth_utilisation"), 4.0 * lines / period, 0.002);
}
END_TEST

/* 128 B lines of a channel in order of their addresses: a row of a bank holds 32 of them. */
static void send_sequential_reads(uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        memory_driver_send(drivers[0], 0, read_request(i * 128ull, 128));
}

START_TEST(sequential_reads_stream_at_the_pins) {
    object_set_number(add_driver(0), "outstanding", 64);
    object_set_text(mc, "group_bits", _i ? "high" : "low");
    elaborate(1);
    send_sequential_reads(10000);
    run();
    ck_assert_double_ge(stat("useful_utilisation"), _i ? 0.93 : 0.99);
    ck_assert_double_eq_tol(stat("row_hit_rate"), 31.0 / 32, 0.001);
}
END_TEST

/* A sector of 32 B holds the bus as long as an atom of 64 B. */
START_TEST(sectors_waste_half_of_each_burst) {
    object_set_number(add_driver(0), "outstanding", 64);
    elaborate(1);
    for (uint32_t i = 0; i < 10000; i++)
        memory_driver_send(drivers[0], 0, read_request(i * 32ull, 32));
    run();
    ck_assert_double_ge(stat("bandwidth_utilisation"), 0.99);
    ck_assert_double_eq_tol(stat("useful_utilisation"), stat("bandwidth_utilisation") / 2, 1e-9);
}
END_TEST

/* A copy: read streams and write streams in other rows of the same banks. Batches form by themselves, since
 * the direction that has the bus is the one that is ready. */
START_TEST(a_copy_amortises_turnarounds) {
    object_set_number(add_driver(0), "outstanding", 64);
    elaborate(1);
    for (uint64_t i = 0; i < 5000; i++) {
        memory_driver_send(drivers[0], 0, read_request(i * 128, 128));
        memory_driver_send(drivers[0], 0, posted_write_request((1 << 26) + i * 128, 128));
    }
    run();
    ck_assert_double_ge(stat("useful_utilisation"), 0.9);
}
END_TEST

/* Random rows: at most one ACTIVATE in tRRD = 6 cycles, and a line holds the bus for 4. */
START_TEST(random_lines_are_bound_by_tRRD) {
    Random random = {7};
    object_set_number(add_driver(0), "outstanding", 64);
    elaborate(1);
    for (int i = 0; i < 5000; i++)
        memory_driver_send(drivers[0], 0, read_request(random_below(&random, 1 << 21) * 128, 128));
    run();
    ck_assert_double_lt(stat("row_hit_rate"), 0.01);
    ck_assert_double_le(stat("bandwidth_utilisation"), 4.0 / 6);
    ck_assert_double_ge(stat("bandwidth_utilisation"), 0.9 * 4 / 6);
}
END_TEST

/* Row misses of one bank after another: as fast as tRRD allows; of one bank alone: tRC = 40 each. */
START_TEST(banks_work_in_parallel) {
    object_set_number(add_driver(0), "outstanding", 64);
    elaborate(1);
    for (uint32_t i = 0; i < 1600; i++)
        send_read(0, 0, location(i / 16, i % 16, 0), i, 0);
    run();
    ck_assert_uint_ge(response(1599)->cycle, 1600 * 6);
    ck_assert_uint_le(response(1599)->cycle, 1600 * 6 * 11 / 10);
}
END_TEST

/* ---- Queues and ports ---- */

/* Room for one: the second request is at the port at 2, the first leaves with its second READ at 17. */
START_TEST(cycles_with_a_full_queue_are_counted) {
    object_set_number(mc, "queue_entries", 1);
    elaborate(1);
    send_read(0, 0, location(3, 5, 0), 0, 0);
    send_read(0, 0, location(3, 5, 1), 1, 0);
    run();
    ck_assert_stat_eq("queue_full_cycles", 15);
    ck_assert_uint_eq(response(1)->cycle, 17 + 3 + 3 + 15);
    /* In the queue from 1 to 17 and from 17 to 23. */
    ck_assert_stat_eq("queue_entry_cycles", 22);
    ck_assert_stat_eq("queue_wait_cycles", 22);
}
END_TEST

START_TEST(ports_are_served_fairly) {
    object_set_number(mc, "queue_entries", 4);
    for (uint32_t port = 0; port < 3; port++)
        object_set_number(add_driver(port), "outstanding", 16);
    elaborate(3);
    for (uint32_t i = 0; i < 3000; i++)
        send_read(i % 3, 0, location(0, i % 16, 0), i, 0);
    ck_assert_int_eq(sim_run(sim, 6000 * mc->period), STOP_TIME);
    sim_check(sim, false);
    uint32_t first = memory_driver_responses(drivers[0])->count;
    ck_assert_uint_gt(first, 200);
    for (uint32_t port = 1; port < 3; port++) {
        ck_assert_uint_ge(memory_driver_responses(drivers[port])->count + 3, first);
        ck_assert_uint_le(memory_driver_responses(drivers[port])->count, first + 3);
    }
    run();
}
END_TEST

/* Port 0 takes no response for 5000 cycles: its link and return queue fill, and its requests the queue's
 * places that it can get; the other port goes on, and nothing is lost. */
START_TEST(a_port_that_refuses_responses_does_not_stop_the_other) {
    object_set_number(mc, "return_entries", 4);
    object_set_number(add_driver(0), "outstanding", 90);
    object_set_number(drivers[0], "refuse_until", 5000);
    object_set_number(add_driver(1), "outstanding", 8);
    elaborate(2);
    for (uint32_t i = 0; i < 500; i++) {
        send_read(0, 0, location(i / 64, i % 16, i / 16 % 4), i, 0);
        send_read(1, 0, location(i / 64, i % 16, i / 16 % 4), i, 0);
    }
    run();
    ck_assert_uint_eq(memory_driver_responses(drivers[0])->count, 500);
    ck_assert_uint_eq(memory_driver_responses(drivers[1])->count, 500);
    ck_assert_uint_ge(response(0)->cycle, 5000);
    ck_assert_uint_lt(memory_driver_responses(drivers[1])->entries[499].cycle, 5000);
}
END_TEST

/* READs at 14, 17, 20 and 23, one for each port; the data are there 14 cycles later and at the driver in the
 * next. A response is not held up by those of other ports, nor by an earlier one of its own. */
START_TEST(responses_leave_when_their_data_are_there) {
    const uint32_t ports[][4] = {{0, 1, 2, 0}, {2, 1, 0, 2}, {0, 0, 1, 0}, {1, 0, 0, 1}};
    elaborate(3);
    for (uint32_t i = 0; i < 4; i++) {
        MemMessage message = read_request(location(0, 0, i), 64);
        message.token = i;
        memory_driver_send(drivers[ports[_i][i]], i, message);
    }
    run();
    uint32_t seen = 0;
    for (uint32_t port = 0; port < 3; port++)
        for (uint32_t i = 0; i < memory_driver_responses(drivers[port])->count; i++, seen++) {
            const LoggedMessage *answer = &memory_driver_responses(drivers[port])->entries[i];
            ck_assert_uint_eq(answer->cycle, 14 + 3 * answer->message.token + 14 + 1);
        }
    ck_assert_uint_eq(seen, 4);
}
END_TEST

/* The driver takes nothing until 1000; the link holds 64 responses then and the controller four. In 1000 the
 * driver takes what there is, and frees the link for 1001: one response per cycle follows, received in the
 * next. With longer links the two see each other at the boundaries of quanta only. */
START_TEST(responses_leave_as_soon_as_their_link_has_room) {
    link_latency = _i ? 8 : 1;
    object_set_number(add_driver(0), "refuse_until", 1000);
    elaborate(1);
    for (uint32_t i = 0; i < 68; i++)
        send_read(0, 0, location(0, i % 2, i / 2), i, 0);
    run();
    uint64_t quantum = sim->quantum / mc->period, freed = _i ? (1000 / quantum + 1) * quantum : 1001;
    for (uint32_t i = 64; i < 68; i++)
        ck_assert_uint_eq(response(i)->cycle, freed + (i - 64) + link_latency);
}
END_TEST

/* Two places for responses: with the link full, two requests hold them, and no READ is issued for a third. */
START_TEST(no_read_without_a_place_for_its_response) {
    object_set_number(mc, "return_entries", 2);
    object_set_number(add_driver(0), "refuse_until", 3000);
    elaborate(1);
    for (uint32_t i = 0; i < 80; i++)
        send_read(0, 0, location(0, i % 2, i / 2), i, 0);
    ck_assert_int_eq(sim_run(sim, 2900 * mc->period), STOP_TIME);
    ck_assert_stat_eq("reads_answered", 64);
    ck_assert_stat_eq("read_commands", 2 * 66);
    run();
    ck_assert_stat_eq("reads_answered", 80);
}
END_TEST

/* ---- Determinism ---- */

static void send_mixed_traffic(uint32_t port, uint32_t count) {
    Random random = {port + 1};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = location((uint32_t)random_below(&random, 3), (uint32_t)random_below(&random, 16),
                                    (uint32_t)random_below(&random, 32));
        uint64_t kind = random_below(&random, 4), earliest = i * 3 + random_below(&random, 40);
        uint32_t bytes = 32u << random_below(&random, 3);
        MemMessage message = kind < 2    ? read_request(address, bytes)
                             : kind == 2 ? write_request(address, bytes)
                                         : posted_write_request(address, bytes);
        message.class_number = (uint8_t)random_below(&random, 2);
        memory_driver_send(drivers[port], earliest, message);
    }
}

static void start_mixed_machine(TickOrder order, uint64_t driver_hertz) {
    start_with_clocks(driver_hertz, 924000000);
    sim->order = order;
    sim->order_seed = 5;
    object_set_number(mc, "queues", 2);
    object_set_number(mc, "queue_entries", 12);
    object_set_number(mc, "return_entries", 5);
    object_set_number(mc, "age_cap", 200);
    object_set_number(mc, "latency", 7);
    object_set_number(add_driver(1), "refuse_from", 900);
    object_set_number(drivers[1], "refuse_until", 1700);
    elaborate(3);
    for (uint32_t port = 0; port < 3; port++)
        send_mixed_traffic(port, 600);
}

static char *stats_of_mixed_run(TickOrder order, uint64_t driver_hertz) {
    start_mixed_machine(order, driver_hertz);
    run();
    return stats_text(sim);
}

/* With links of 8 cycles, longer than a quantum, each object is a cluster of its own. */
START_TEST(tick_order_does_not_matter) {
    uint64_t hertz = _i ? 924000000 : 700000000;
    link_latency = _i == 2 ? 8 : 1;
    char *expected = stats_of_mixed_run(ORDER_PATH, hertz);
    ck_assert_uint_eq(sim->cluster_count, _i == 2 ? 5 : 2); /* the map is on its own */
    ck_assert_stat_eq("reads_answered", stat("reads"));
    ck_assert_double_gt(stat("queue_full_cycles"), 0);
    for (TickOrder order = ORDER_REVERSED; order <= ORDER_SHUFFLED; order++) {
        char *text = stats_of_mixed_run(order, hertz);
        ck_assert_str_eq(text, expected);
        free(text);
    }
    free(expected);
}
END_TEST

/* A controller that is ticked in every cycle, and in each looks for responses that may leave, does what one
 * does that sleeps and remembers when the next may: it misses nothing. */
START_TEST(needless_ticks_change_nothing) {
    char *expected = stats_of_mixed_run(ORDER_PATH, 924000000);
    double cycles = stat("cycles");
    start_mixed_machine(ORDER_PATH, 924000000);
    sim->quantum = mc->period;
    while (sim->now < (uint64_t)cycles * mc->period) {
        object_poke(mc, sim->now);
        ((MemoryController *)mc)->response_blocked = 1;
        sim_run(sim, sim->now + mc->period);
    }
    run();
    char *text = stats_text(sim);
    ck_assert_str_eq(text, expected);
    free(text);
    free(expected);
}
END_TEST

/* ---- Errors ---- */

static char error_text[512];
static jmp_buf error_return;

static void keep_error(void *context, const char *message) {
    (void)context;
    snprintf(error_text, sizeof error_text, "%s", message);
    longjmp(error_return, 1);
}

static const char *error_of(const char *name, double value) {
    error_text[0] = 0;
    user_error_handler(keep_error, NULL);
    if (!setjmp(error_return)) {
        object_set_number(mc, name, value);
        elaborate(1);
        memory_driver_send(drivers[0], 0, read_request(location(0, 9, 0), 128));
        run();
    }
    return error_text;
}

START_TEST(a_controller_with_fewer_banks_than_the_map_is_refused) {
    ck_assert_ptr_nonnull(strstr(error_of("banks", 8), "bank 9; this controller has 8 banks"));
}
END_TEST

START_TEST(commands_closer_than_bursts_are_refused) {
    ck_assert_ptr_nonnull(strstr(error_of("tCCD", 1), "mc.tCCD: 1; a burst holds the bus for"));
}
END_TEST

START_TEST(a_quicker_way_within_a_group_is_refused) {
    ck_assert_ptr_nonnull(strstr(error_of("tCCDL", 1), "at least tCCD = 2"));
}
END_TEST

START_TEST(bursts_below_the_width_of_the_bus_are_refused) {
    ck_assert_ptr_nonnull(strstr(error_of("burst_bytes", 16), "less than the 32 bytes"));
}
END_TEST

START_TEST(more_groups_than_banks_are_refused) {
    ck_assert_ptr_nonnull(strstr(error_of("bank_groups", 32), "at most the 16 banks"));
}
END_TEST

START_TEST(report_names_what_waits) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    elaborate(1);
    send_read(0, 0, location(0, 0, 0), 0, 0);
    ck_assert_int_eq(sim_run(sim, 8 * mc->period), STOP_TIME);
    sim_report(sim, out);
    fclose(out);
    ck_assert_str_eq(
        text, "mc: queue 0 holds 1 of 64 requests; the oldest is a read of 0x0, there since cycle 1; next "
              "command at cycle 14\n");
    free(text);
}
END_TEST

static TCase *test_case(const char *name) {
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    return tests;
}

static TCase *latency_tests(void) {
    TCase *tests = test_case("latency");
    tcase_add_loop_test(tests, one_burst_of_a_closed_bank_takes_29_cycles, 0, 2);
    tcase_add_test(tests, a_line_is_two_bursts_tCCDL_apart);
    tcase_add_test(tests, row_hit_saves_activate);
    tcase_add_test(tests, row_conflict_adds_precharge);
    tcase_add_test(tests, write_is_acknowledged_when_its_data_are_in);
    tcase_add_test(tests, posted_write_is_not_answered);
    tcase_add_loop_test(tests, the_data_bus_needs_time_to_turn, 0, 2);
    tcase_add_test(tests, latency_delays_every_request);
    return tests;
}

static TCase *order_tests(void) {
    TCase *tests = test_case("order");
    tcase_add_test(tests, row_hits_go_first);
    tcase_add_test(tests, fcfs_serves_a_bank_in_order);
    tcase_add_test(tests, other_banks_do_not_wait_for_a_conflict);
    tcase_add_test(tests, low_queue_goes_before_row_hits_of_a_high_one);
    tcase_add_test(tests, high_queue_uses_banks_that_the_low_one_leaves);
    tcase_add_test(tests, queues_of_classes_can_be_named);
    tcase_add_test(tests, policies_can_send_a_class_to_another_queue);
    tcase_add_test(tests, request_is_not_held_up_by_those_that_wait_for_room_in_another_queue);
    tcase_add_test(tests, posted_write_is_of_the_last_queue);
    tcase_add_exit_test(tests, queue_of_a_class_that_there_is_not_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_test(tests, without_age_cap_row_hits_starve_a_conflict);
    tcase_add_test(tests, age_cap_bounds_the_waiting);
    tcase_add_test(tests, age_cap_turns_the_bus);
    return tests;
}

static TCase *bandwidth_tests(void) {
    TCase *tests = test_case("bandwidth");
    tcase_add_loop_test(tests, one_bank_reaches_its_computed_bandwidth, 0, 5);
    tcase_add_loop_test(tests, one_bank_of_writes_reaches_its_computed_bandwidth, 0, 5);
    tcase_add_loop_test(tests, rows_of_all_banks_reach_their_computed_bandwidth, 0, 8);
    tcase_add_loop_test(tests, sequential_reads_stream_at_the_pins, 0, 2);
    tcase_add_test(tests, sectors_waste_half_of_each_burst);
    tcase_add_test(tests, a_copy_amortises_turnarounds);
    tcase_add_test(tests, random_lines_are_bound_by_tRRD);
    tcase_add_test(tests, banks_work_in_parallel);
    return tests;
}

static TCase *flow_tests(void) {
    TCase *tests = test_case("flow");
    tcase_add_test(tests, cycles_with_a_full_queue_are_counted);
    tcase_add_test(tests, ports_are_served_fairly);
    tcase_add_test(tests, a_port_that_refuses_responses_does_not_stop_the_other);
    tcase_add_loop_test(tests, responses_leave_when_their_data_are_there, 0, 4);
    tcase_add_loop_test(tests, responses_leave_as_soon_as_their_link_has_room, 0, 2);
    tcase_add_test(tests, no_read_without_a_place_for_its_response);
    tcase_add_loop_test(tests, tick_order_does_not_matter, 0, 3);
    tcase_add_test(tests, needless_ticks_change_nothing);
    return tests;
}

static TCase *error_tests(void) {
    TCase *tests = test_case("errors");
    tcase_add_test(tests, a_controller_with_fewer_banks_than_the_map_is_refused);
    tcase_add_test(tests, commands_closer_than_bursts_are_refused);
    tcase_add_test(tests, a_quicker_way_within_a_group_is_refused);
    tcase_add_test(tests, bursts_below_the_width_of_the_bus_are_refused);
    tcase_add_test(tests, more_groups_than_banks_are_refused);
    tcase_add_test(tests, report_names_what_waits);
    return tests;
}

Suite *memory_controller_suite(void);

Suite *memory_controller_suite(void) {
    Suite *suite = suite_create("memory_controller");
    suite_add_tcase(suite, latency_tests());
    suite_add_tcase(suite, order_tests());
    suite_add_tcase(suite, bandwidth_tests());
    suite_add_tcase(suite, flow_tests());
    suite_add_tcase(suite, error_tests());
    return suite;
}
