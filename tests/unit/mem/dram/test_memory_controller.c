/* A memory controller: what a single request takes, its queues and ports, and what it refuses. */
#include "core/sim/base/random.h"
#include "core/sim/event.h"
#include "mem/dram/bank_counters.h"
#include "mem/dram/memory_controller_state.h"
#include "tests/unit/mem/dram/memory_controller_fixture.h"

#include <stdlib.h>

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

enum { ADDS = 3 };

static void add_to_word(FunctionalMemory *functional, uint32_t payload, uint64_t word, uint32_t port) {
    AtomicPayload add = {.bytes = 4, .mask = 1, .address = {word}, .operand = {10}}; /* atom.add.u32 */
    functional->payloads[0][payload] = add;
    MemMessage m = read_request(word, 32);
    m.kind = MEM_ATOMIC;
    m.payload = (uint16_t)payload;
    memory_driver_send(drivers[port], payload, m);
}

/* Each takes the time of a read; rows and banks are as in the test above. */
START_TEST(atomics_of_all_ports_are_performed_in_the_order_of_arrival) {
    FunctionalMemory functional = {.memory = device_memory_new(1 << 20)};
    functional.payloads[0] = calloc(ADDS, sizeof(AtomicPayload));
    uint64_t word = device_alloc(functional.memory, 256);
    uint32_t sum;
    sim->user = &functional;
    elaborate(2);
    for (uint32_t i = 0; i < ADDS; i++)
        add_to_word(&functional, i, word, i % 2);
    run();
    for (uint32_t i = 0; i < ADDS; i++)
        ck_assert_uint_eq(functional.payloads[0][i].result[0], 10 * i);
    device_read(functional.memory, word, &sum, sizeof sum);
    ck_assert_uint_eq(sum, 10 * ADDS);
    ck_assert_uint_eq(response(0)->cycle, 29);
    ck_assert_stat_eq("reads", ADDS);
    ck_assert_stat_eq("reads_answered", ADDS);
    tear_down();
    free(functional.payloads[0]);
    device_memory_free(functional.memory);
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

typedef struct {
    Subscriber subscriber; /* first */
    uint32_t count;
    uint64_t cycle[4];
    int64_t arguments[4][EVENT_ARGUMENTS];
} EventLog;

static int64_t log_event(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                         uint64_t now) {
    EventLog *log = (EventLog *)subscriber;
    (void)event;
    ck_assert_uint_lt(log->count, 4);
    memcpy(log->arguments[log->count], arguments, sizeof log->arguments[0]);
    log->cycle[log->count++] = object_cycle(object, now);
    return NO_ANSWER;
}

static void expect_event(const EventLog *log, uint32_t i, uint64_t cycle, int64_t sm, int64_t warp,
                         int64_t class_number, int64_t write) {
    const int64_t want[] = {sm, warp, class_number, write};
    ck_assert_uint_eq(log->cycle[i], cycle);
    ck_assert_mem_eq(log->arguments[i], want, sizeof want);
}

/* READ at 14 and 17, as above. The write is ACTIVATEd at 102, its WRITEs come tRCDWR = 7 and tCCDL = 3 later.
 */
START_TEST(a_request_is_told_to_be_served_with_its_last_burst) {
    EventLog log = {.subscriber = {log_event}};
    MemMessage read = read_request(location(3, 5, 0), 128),
               write = posted_write_request(location(3, 6, 0), 128);
    read.sm = 7, read.warp = 41, read.class_number = 3;
    write.sm = 2, write.warp = 5, write.class_number = 0;
    elaborate(1);
    object_subscribe(mc, &log.subscriber, 1u << event_number(mc->class, "served"));
    memory_driver_send(drivers[0], 0, read);
    memory_driver_send(drivers[0], 100, write);
    run();
    ck_assert_uint_eq(log.count, 2);
    expect_event(&log, 0, 17, 7, 41, 3, 0);
    expect_event(&log, 1, 112, 2, 5, 0, 1);
}
END_TEST

/* At the port at 1, 6 and 100. The queue has room for one: the second enters when the first has had its last READ, at 17. */
START_TEST(a_request_is_told_to_have_arrived_when_it_enters_its_queue) {
    EventLog log = {.subscriber = {log_event}};
    MemMessage read[] = {read_request(location(3, 5, 0), 128), read_request(location(9, 6, 1), 32)},
               write = posted_write_request(location(4, 7, 2), 128);
    read[0].sm = 7, read[0].warp = 41, read[0].class_number = 3, read[0].pc = 19;
    read[1].sm = 7, read[1].warp = 40;
    write.sm = 7, write.warp = 41;
    object_set_number(mc, "queue_entries", 1);
    elaborate(1);
    object_subscribe(mc, &log.subscriber, 1u << event_number(mc->class, "arrived"));
    memory_driver_send(drivers[0], 0, read[0]);
    memory_driver_send(drivers[0], 5, read[1]);
    memory_driver_send(drivers[0], 99, write);
    run();
    ck_assert_uint_eq(log.count, 3);
    expect_event(&log, 0, 1, 7, 41, 3, 0);
    expect_event(&log, 1, 17, 7, 40, 0, 0);
    expect_event(&log, 2, 100, 7, 41, 0, 1);
    const int64_t rest[] = {5, 3, (int64_t)read[0].address, 128, 19};
    ck_assert_mem_eq(log.arguments[0] + 4, rest, sizeof rest);
}
END_TEST

/* Two reads of a warp to one bank, one of another warp of its SM, and a write-back of a line of the first. */
START_TEST(requests_of_a_warp_are_those_that_wait_and_no_write_backs) {
    static const uint32_t warps[] = {41, 40, 41, 41};
    elaborate(1);
    for (uint32_t i = 0; i < 4; i++) {
        MemMessage m = i == 2 ? posted_write_request(location(3, 1, 0), 64)
                              : read_request(location(i, 5, 0), 64);
        m.sm = 7, m.warp = (uint16_t)warps[i], m.class_number = i % 2 ? 5 : 1;
        memory_driver_send(drivers[0], i, m);
    }
    ck_assert_uint_eq(memory_controller_of_warp(mc, 0, 7, 41), 0);
    ck_assert_int_eq(sim_run(sim, 8 * mc->period), STOP_TIME);
    ck_assert_uint_eq(memory_controller_of_warp(mc, 0, 7, 41), 1 << 0 | 1 << 3);
    ck_assert_uint_eq(memory_controller_of_warp(mc, 0, 7, 40), 1 << 1);
    ck_assert_uint_eq(memory_controller_of_warp(mc, 0, 6, 41), 0);
    ck_assert_uint_eq(memory_controller_write_backs(mc, 0), 1 << 2);
    ck_assert_uint_eq(memory_controller_of_sm(mc, 0, 7), 0xf);
    ck_assert_uint_eq(memory_controller_of_class(mc, 0, 5), 1 << 1 | 1 << 3);
    ck_assert_uint_eq(memory_controller_of_class(mc, 0, 1), 1 << 0 | 1 << 2);
    ck_assert_uint_eq(memory_controller_of_class(mc, 0, 0), 0);
    /* The first has left, and the write-back. */
    ck_assert_int_eq(sim_run(sim, 45 * mc->period), STOP_TIME);
    WaitingRequest waiting;
    ck_assert_uint_eq(memory_controller_of_warp(mc, 0, 7, 40), 1 << 0);
    ck_assert_uint_eq(memory_controller_of_warp(mc, 0, 7, 41), 1 << 1);
    ck_assert_uint_eq(memory_controller_of_bank(mc, 0, 5), 1 << 0 | 1 << 1);
    ck_assert_uint_eq(memory_controller_write_backs(mc, 0), 0);
    ck_assert(memory_controller_waiting(mc, 0, 1, &waiting) && waiting.row == 3 && waiting.bank == 5);
    ck_assert(!memory_controller_waiting(mc, 0, 2, &waiting));
    run();
    ck_assert_uint_eq(memory_controller_of_warp(mc, 0, 7, 41) | memory_controller_write_backs(mc, 0), 0);
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

static const struct {
    const char *parameter;
    double value;
    const char *why;
} refused[] = {{"banks", 8, "mc.banks: expected 16 or more"}, /* the map has so many */
               {"tCCD", 1, "mc.tCCD: expected burst_bytes / bus_bytes = "},
               {"tCCDL", 1, "mc.tCCDL: expected tCCD = 2 or more, got 1"},
               {"tRRDL", 5, "mc.tRRDL: expected 0, or tRRD = 6 or more, got 5"},
               {"burst_bytes", 16, "mc.burst_bytes: expected bus_bytes = 32 or more, got 16"},
               {"bank_groups", 32, "mc.bank_groups: expected up to banks = 16, got 32"}};

static void elaborate_with_one_port(void *context) {
    (void)context;
    elaborate(1);
}

START_TEST(parameters_that_contradict_each_other_are_refused) {
    object_set_number(mc, refused[_i].parameter, refused[_i].value);
    const char *message = user_error_catch(elaborate_with_one_port, NULL);
    ck_assert_ptr_nonnull(message);
    ck_assert_ptr_nonnull(strstr(message, refused[_i].why));
}
END_TEST

static void add_bank_counters(const char *path, double bank) {
    SimObject *counters = sim_add(sim, "BankCounters", path, NULL);
    object_set_number(counters, "bank", bank);
    sim_finish_object(counters);
}

START_TEST(a_bank_is_counted_once_and_only_if_there_is_one) {
    class_register(&bank_counters_class);
    add_bank_counters("mc.bank", 15);
    add_bank_counters("mc.other", _i ? 15 : 16);
    const char *message = user_error_catch(elaborate_with_one_port, NULL);
    ck_assert_ptr_nonnull(message);
    ck_assert_str_eq(message, _i ? "mc.other.bank: expected one that mc.bank does not count, got 15"
                                 : "mc.other.bank: expected less than mc.banks = 16, got 16");
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

static TCase *latency_tests(void) {
    TCase *tests = test_case("latency");
    tcase_add_loop_test(tests, one_burst_of_a_closed_bank_takes_29_cycles, 0, 2);
    tcase_add_test(tests, atomics_of_all_ports_are_performed_in_the_order_of_arrival);
    tcase_add_test(tests, a_line_is_two_bursts_tCCDL_apart);
    tcase_add_test(tests, a_request_is_told_to_be_served_with_its_last_burst);
    tcase_add_test(tests, a_request_is_told_to_have_arrived_when_it_enters_its_queue);
    tcase_add_test(tests, requests_of_a_warp_are_those_that_wait_and_no_write_backs);
    tcase_add_test(tests, row_hit_saves_activate);
    tcase_add_test(tests, row_conflict_adds_precharge);
    tcase_add_test(tests, write_is_acknowledged_when_its_data_are_in);
    tcase_add_test(tests, posted_write_is_not_answered);
    tcase_add_loop_test(tests, the_data_bus_needs_time_to_turn, 0, 2);
    tcase_add_test(tests, latency_delays_every_request);
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
    tcase_add_loop_test(tests, parameters_that_contradict_each_other_are_refused, 0,
                        sizeof refused / sizeof *refused);
    tcase_add_loop_test(tests, a_bank_is_counted_once_and_only_if_there_is_one, 0, 2);
    tcase_add_test(tests, report_names_what_waits);
    return tests;
}

Suite *memory_controller_suite(void);

Suite *memory_controller_suite(void) {
    Suite *suite = suite_create("memory_controller");
    suite_add_tcase(suite, latency_tests());
    suite_add_tcase(suite, flow_tests());
    suite_add_tcase(suite, error_tests());
    return suite;
}
