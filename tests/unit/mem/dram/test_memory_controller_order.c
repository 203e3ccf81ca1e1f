/* In which order a memory controller serves what waits in its queues: row hits, queues of classes, age. */
#include "core/sim/base/random.h"
#include "tests/unit/mem/dram/memory_controller_fixture.h"

#include <stdlib.h>

static void expect_order(const uint32_t *tokens, uint32_t count) {
    ck_assert_uint_eq(memory_driver_responses(drivers[0])->count, count);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(response(i)->message.token, tokens[i]);
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

/* Row hits in the high queue, of these classes by turns, and from cycle 25 on a conflict in the low one, to
 * which the bank belongs as soon as it wants it: the READs at 14, 17, 20, 23 served requests 0 and 1. */
static void expect_low_queue_first(uint32_t high_class, uint32_t other_high_class, uint32_t low_class) {
    for (uint32_t i = 0; i < 8; i++)
        send_read(0, 0, location(0, 0, i), i, i & 1 ? other_high_class : high_class);
    send_read(0, 24, location(1, 0, 0), 8, low_class);
    run();
    expect_order((uint32_t[]){0, 1, 8, 2, 3, 4, 5, 6, 7}, 9);
}

START_TEST(low_queue_goes_before_row_hits_of_a_high_one) {
    object_set_number(mc, "queues", 2);
    elaborate(1);
    expect_low_queue_first(1, 1, 0);
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

/* Of the READs of request 0, at 14 and 17, the first has taken the only place for responses when the low
 * queue comes to want the bank: its request cannot be served before request 0 has left. */
START_TEST(request_without_a_return_place_reserves_no_bank) {
    object_set_number(mc, "queues", 2);
    object_set_number(mc, "return_entries", 1);
    elaborate(1);
    send_read(0, 0, location(0, 0, 0), 0, 1);
    send_read(0, 14, location(1, 0, 0), 1, 0);
    run();
    expect_order((uint32_t[]){0, 1}, 2);
}
END_TEST

START_TEST(queues_of_classes_can_be_named) {
    object_set_number(mc, "queues", 2);
    object_set_text(mc, "class_queues", "1,1,0");
    elaborate(1);
    expect_low_queue_first(0, 1, 2);
}
END_TEST

START_TEST(policies_can_send_a_class_to_another_queue) {
    object_set_number(mc, "queues", 2);
    elaborate(1);
    ck_assert_uint_eq(memory_controller_queues(mc), 2);
    memory_controller_set_queue(mc, 0, 1);
    memory_controller_set_queue(mc, 3, 0);
    expect_low_queue_first(0, 0, 3);
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

/* What of the controller and its links a run varies. Requests take longer than a quantum to the controller or, `near`, only
 * some cycles. */
typedef struct {
    const char *parameter;
    uint32_t value, depth, quantum;
    bool near;
} Bursts;

/* Two ports, of which requests come in bursts; the first driver takes no response for some time. Responses are quicker
 * than a quantum, as those to an L2 slice. */
static void send_bursts(Bursts bursts) {
    Random random = {7};
    start_with_clocks(700000000, 924000000);
    sim_set_quantum(sim, bursts.quantum);
    object_set_number(mc, bursts.parameter, bursts.value);
    if (bursts.near) object_set_number(mc, "latency", 2);
    object_set_number(mc, "ports", 2);
    object_set_number(mc, "age_cap", 200);
    sim_finish_object(mc);
    for (uint32_t port = 0; port < 2; port++) {
        char name[16];
        snprintf(name, sizeof name, "cpu[%u]", port);
        object_set_number(add_driver(port), "refuse_from", 300);
        object_set_number(drivers[port], "refuse_until", port ? 0 : 400);
        sim_finish_object(drivers[port]);
        sim_wire(sim, drivers[port], "mem", mc, name,
                 (LinkOptions){.latency = bursts.near ? 1 : bursts.quantum * 3 / 4, .depth = bursts.depth},
                 (LinkOptions){.depth = bursts.quantum > 16 ? 2 : 3});
    }
    sim_elaborate(sim);
    for (uint32_t i = 0; i < 800; i++) {
        uint64_t address = location((uint32_t)random_below(&random, 3),
                                    (uint32_t)random_below(&random, bursts.quantum > 16 ? 1 : 16),
                                    (uint32_t)random_below(&random, 32));
        uint64_t kind = random_below(&random, 4);
        MemMessage message = kind < 2    ? read_request(address, 128)
                             : kind == 2 ? write_request(address, 64)
                                         : posted_write_request(address, 32);
        message.token = i;
        message.class_number = (uint8_t)random_below(&random, 2);
        memory_driver_send(drivers[i & 1], i / 100 * 900 + random_below(&random, 300), message);
    }
}

/* Stats, and when each response came. */
static char *traffic(Bursts bursts, bool seen, TickOrder order) {
    char *text = NULL;
    size_t size = 0;
    send_bursts(bursts);
    sim->order = order;
    sim->order_seed = 7;
    if (seen) look_on(mc);
    run();
    char *stats = stats_text(sim);
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "%s", stats);
    for (uint32_t port = 0; port < 2; port++) {
        const MessageLog *log = memory_driver_responses(drivers[port]);
        for (uint32_t i = 0; i < log->count; i++)
            fprintf(out, "%u: %u at %lu\n", port, log->entries[i].message.token, log->entries[i].cycle);
    }
    fclose(out);
    free(stats);
    return text;
}

/* Unseen, it goes through the cycles of a quantum at once, where links have room. */
START_TEST(being_seen_changes_nothing) {
    static const Bursts cases[] = {{.parameter = "queues", .value = 1},
                                   {.parameter = "queues", .value = 2},
                                   {.parameter = "return_entries", .value = 2},
                                   {.parameter = "tREFI", .value = 400}};
    Bursts bursts = cases[_i / 4 % 4];
    bursts.quantum = _i < 16 ? 16 : 64; /* in the longer one a link of responses may fill */
    bursts.depth = _i % 2 ? 8 : 4 * bursts.quantum;
    bursts.near = _i / 2 % 2;
    char *seen = traffic(bursts, true, ORDER_PATH);
    ck_assert(stat("reads_answered") > 300);
    for (TickOrder order = ORDER_PATH; order <= ORDER_RESTLESS; order++) {
        char *unseen = traffic(bursts, false, order);
        ck_assert_msg(strcmp(unseen, seen) == 0, "order %d",
                      order); /* longer than messages of libcheck may be */
        free(unseen);
    }
    free(seen);
}
END_TEST

Suite *memory_controller_order_suite(void);

Suite *memory_controller_order_suite(void) {
    Suite *suite = suite_create("memory_controller_order");
    TCase *tests = test_case("order");
    tcase_add_test(tests, row_hits_go_first);
    tcase_add_test(tests, fcfs_serves_a_bank_in_order);
    tcase_add_test(tests, other_banks_do_not_wait_for_a_conflict);
    tcase_add_test(tests, low_queue_goes_before_row_hits_of_a_high_one);
    tcase_add_test(tests, high_queue_uses_banks_that_the_low_one_leaves);
    tcase_add_test(tests, request_without_a_return_place_reserves_no_bank);
    tcase_add_test(tests, queues_of_classes_can_be_named);
    tcase_add_test(tests, policies_can_send_a_class_to_another_queue);
    tcase_add_test(tests, request_is_not_held_up_by_those_that_wait_for_room_in_another_queue);
    tcase_add_test(tests, posted_write_is_of_the_last_queue);
    tcase_add_exit_test(tests, queue_of_a_class_that_there_is_not_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_test(tests, without_age_cap_row_hits_starve_a_conflict);
    tcase_add_test(tests, age_cap_bounds_the_waiting);
    tcase_add_test(tests, age_cap_turns_the_bus);
    suite_add_tcase(suite, tests);
    TCase *ahead = test_case("ahead");
    tcase_add_loop_test(ahead, being_seen_changes_nothing, 0, 32);
    suite_add_tcase(suite, ahead);
    return suite;
}
