/* When a memory controller closes rows that no request waits for. */
#include "core/sim/base/random.h"
#include "core/sim/checkpoint/snapshot.h"
#include "mem/dram/memory_controller_state.h"
#include "tests/unit/mem/dram/memory_controller_fixture.h"

#include <stdlib.h>

static void page_policy(const char *policy) {
    object_set_text(mc, "page_policy", policy);
}

static void send_at(uint64_t cycle, MemMessage message) {
    memory_driver_send(drivers[0], cycle, message);
}

static void read_at(uint64_t cycle, uint32_t row, uint32_t bank) {
    send_at(cycle, read_request(location(row, bank, 0), 32));
}

static uint64_t answered_at(uint32_t index) {
    return response(index)->cycle;
}

/* Sent at cycle c, in the queue at c + 1, ACTIVATE at c + 2 at the earliest; READ 12 cycles behind it; received 15 behind
 * that. */
enum { TO_COMMAND = 2, RCD = 12, RP = 12, FROM_READ = 15, FROM_ACTIVATE = RCD + FROM_READ };

/* ---- Closed ---- */

/* The bank of an alone READ: ACTIVATE at 102, READ at 114, closed at 130, tRAS after ACTIVATE, which is later than tRTPL after
 * READ; open to ACTIVATE at 142: tRP behind, and tRC behind ACTIVATE. */
START_TEST(a_read_alone_closes_its_row_and_the_bank_is_ready_tRP_behind) {
    static const struct {
        uint64_t sent, activate;
    } cases[] = {{139, 142}, {140, 142}, {141, 143}, {500, 502}};
    page_policy("closed");
    elaborate(1);
    read_at(100, 3, 5);
    read_at(cases[_i].sent, 3 + (uint32_t)_i % 2, 5); /* the same row or another */
    run();
    ck_assert_uint_eq(answered_at(0), 102 + FROM_ACTIVATE);
    ck_assert_uint_eq(answered_at(1), cases[_i].activate + FROM_ACTIVATE);
    ck_assert_stat_eq("row_hits", 0);
    ck_assert_stat_eq("row_misses", 2);
    ck_assert_stat_eq("row_conflicts", 0);
    ck_assert_stat_eq("activates", 2);
    ck_assert_stat_eq("precharges", 2);
}
END_TEST

/* Slow columns let tRTPL decide: READ at 114, closed at 134 at the earliest, open to ACTIVATE at 146. */
START_TEST(a_read_closes_its_row_no_sooner_than_tRTPL) {
    page_policy("closed");
    object_set_number(mc, "tRTPL", 20);
    elaborate(1);
    read_at(100, 3, 5);
    read_at(142 + (uint64_t)_i, 4, 5);
    run();
    ck_assert_uint_eq(answered_at(1), (_i < 3 ? 146 : 144 + (uint64_t)_i) + FROM_ACTIVATE);
}
END_TEST

/* ACTIVATE at 102, WRITE at 109 (tRCD - tWL - 1), its data at 113 and 114, closed at 145, tWR behind these, which is later than
 * tRAS. */
START_TEST(a_write_closes_its_row_tWR_after_its_data) {
    page_policy("closed");
    object_set_number(mc, "tWR", 30);
    elaborate(1);
    send_at(100, posted_write_request(location(3, 5, 0), 32));
    read_at(150 + (uint64_t)_i, 4, 5);
    run();
    uint64_t closed = 102 + RCD - 5 + 4 + 2 + 30, ready = closed + RP, asked = 152 + (uint64_t)_i;
    ck_assert_uint_eq(answered_at(0), (asked > ready ? asked : ready) + FROM_ACTIVATE);
    ck_assert_uint_eq(ready, 157);
}
END_TEST

/* Of four requests for a row that wait together only the last closes it; one of two bursts is one request. */
START_TEST(a_row_that_another_request_waits_for_stays_open) {
    page_policy("closed");
    elaborate(1);
    for (uint32_t i = 0; i < 4; i++)
        send_at(100, read_request(location(3, 5, i), 128));
    read_at(100, 4, 5);
    run();
    ck_assert_stat_eq("activates", 2);
    ck_assert_stat_eq("precharges", 2);
    ck_assert_stat_eq("row_hits", 3);
    ck_assert_stat_eq("row_misses", 2);
    ck_assert_stat_eq("read_commands", 9);
}
END_TEST

/* ---- Timeout ---- */

enum { TIMEOUT = 200, READ_AT = 114 };

/* The second request is in the queue one cycle before the time has run out, or in that cycle and later. Another row: without
 * the timeout it had to close the first one by a command; the closed bank is ready tRP after the time has run out. */
START_TEST(a_row_is_closed_when_its_time_has_run_out_and_not_before) {
    static const struct {
        int64_t enters; /* cycles after the time has run out */
        uint64_t hit, other_row;
    } cases[] = {{-1, FROM_READ, RP + FROM_ACTIVATE},
                 {0, RP - 1 + FROM_ACTIVATE, RP - 1 + FROM_ACTIVATE},
                 {1, RP - 2 + FROM_ACTIVATE, RP - 2 + FROM_ACTIVATE},
                 {RP - 1, FROM_ACTIVATE, FROM_ACTIVATE},
                 {RP, FROM_ACTIVATE, FROM_ACTIVATE},
                 {1000, FROM_ACTIVATE, FROM_ACTIVATE}};
    bool same_row = _i % 2;
    uint64_t enters = (uint64_t)(READ_AT + TIMEOUT + cases[_i / 2].enters);
    page_policy("timeout");
    object_set_number(mc, "page_timeout", TIMEOUT);
    elaborate(1);
    read_at(100, 3, 5);
    read_at(enters - 1, same_row ? 3 : 4, 5);
    run();
    ck_assert_uint_eq(answered_at(1), enters + 1 + (same_row ? cases[_i / 2].hit : cases[_i / 2].other_row));
    bool open = cases[_i / 2].enters < 0;
    ck_assert_stat_eq("row_hits", open && same_row);
    ck_assert_stat_eq("row_conflicts", open && !same_row);
    ck_assert_stat_eq("row_misses", open ? 1 : 2);
    ck_assert_stat_eq("activates", open && same_row ? 1 : 2);
}
END_TEST

/* A time shorter than the timings: the row is closed when tRAS allows. */
START_TEST(a_short_time_waits_for_the_timings) {
    page_policy("timeout");
    object_set_number(mc, "page_timeout", 1);
    elaborate(1);
    read_at(100, 3, 5);
    read_at(139 + (uint64_t)_i, 3, 5);
    run();
    ck_assert_uint_eq(answered_at(1), (_i < 2 ? 142 : 141 + (uint64_t)_i) + FROM_ACTIVATE);
}
END_TEST

START_TEST(each_column_command_begins_the_time_anew) {
    page_policy("timeout");
    object_set_number(mc, "page_timeout", TIMEOUT);
    elaborate(1);
    for (uint32_t i = 0; i < 10; i++)
        read_at(100 + i * (TIMEOUT - 20), 3, 5);
    run();
    ck_assert_stat_eq("row_hits", 9);
    ck_assert_stat_eq("activates", 1);
}
END_TEST

START_TEST(a_sleeping_controller_counts_the_rows_whose_time_has_run_out) {
    page_policy("timeout");
    object_set_number(mc, "page_timeout", TIMEOUT);
    elaborate(1);
    read_at(100, 3, 5);
    read_at(100, 3, 6);
    ck_assert_int_eq(sim_run(sim, NEVER), STOP_IDLE);
    ck_assert_uint_lt(sim->now, 200 * mc->period);
    sim->now = 5000 * mc->period;
    sim_settle(sim);
    sim_check(sim, true);
    ck_assert_stat_eq("precharges", 2);
}
END_TEST

/* ---- Both, with refreshes ---- */

/* A refresh of rows that have been closed begins when it is due; rows that are open would put it off by tRP. */
START_TEST(a_refresh_of_closed_rows_begins_when_it_is_due) {
    static const char *const policies[] = {"open", "closed", "timeout"};
    page_policy(policies[_i]);
    object_set_number(mc, "page_timeout", TIMEOUT);
    object_set_number(mc, "tREFI", 1000);
    elaborate(1);
    read_at(100, 3, 5);
    read_at(1001, 3, 5);
    run();
    ck_assert_uint_eq(answered_at(1), 1000 + (_i == 0 ? RP : 0) + 100 + FROM_ACTIVATE);
    ck_assert_stat_eq("precharges", _i == 1 ? 2 : 1);
    ck_assert_stat_eq("refreshes", 1);
}
END_TEST

/* ---- Drawn traffic ---- */

static const char *const drawn_policies[] = {"closed", "timeout"};

static void start_drawn_traffic(int policy, TickOrder order) {
    Random random = {11};
    start_with_clocks(700000000, 924000000);
    sim->order = order;
    page_policy(drawn_policies[policy]);
    object_set_number(mc, "page_timeout", 60);
    object_set_number(mc, "tREFI", 400);
    object_set_number(mc, "queues", 2);
    elaborate(2);
    for (uint32_t i = 0; i < 800; i++) {
        uint64_t address = location((uint32_t)random_below(&random, 3), (uint32_t)random_below(&random, 16),
                                    i % 16);
        MemMessage message = i % 4 ? read_request(address, 128) : posted_write_request(address, 128);
        message.class_number = (uint8_t)random_below(&random, 2);
        memory_driver_send(drivers[i % 2], i / 100 * 2000 + i * 4 + random_below(&random, 90), message);
    }
}

static char *stats_of_drawn_traffic(int policy, TickOrder order) {
    start_drawn_traffic(policy, order);
    run();
    return stats_text(sim);
}

START_TEST(closing_rows_does_not_depend_on_the_tick_order) {
    char *expected = stats_of_drawn_traffic(_i, ORDER_PATH);
    for (TickOrder order = ORDER_REVERSED; order <= ORDER_RESTLESS; order++) {
        char *text = stats_of_drawn_traffic(_i, order);
        ck_assert_str_eq(text, expected);
        free(text);
    }
    free(expected);
}
END_TEST

/* A controller of the same kind goes on from a snapshot of the present one. */
static void go_on_from_snapshot(int policy) {
    Buffer buffer = {0};
    char why[256] = "";
    sim_save(sim, &buffer);
    start_drawn_traffic(policy, ORDER_PATH);
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    SnapshotChanges changes = {0};
    bool good = sim_load(sim, &reader, &changes, why, sizeof why);
    ck_assert_msg(good, "%s", why);
    buffer_free(&buffer);
}

START_TEST(who_looks_at_the_counters_or_resumes_in_between_changes_nothing) {
    char *expected = stats_of_drawn_traffic(_i, ORDER_PATH);
    uint64_t end = sim->now;
    start_drawn_traffic(_i, ORDER_PATH);
    for (uint32_t round = 0; sim->now < end; round++) {
        sim_run(sim, sim->now + 37 * mc->period);
        sim_settle(sim);
        sim_check(sim, false);
        if (round % 32 == 31) go_on_from_snapshot(_i);
    }
    run();
    char *text = stats_text(sim);
    ck_assert_str_eq(text, expected);
    free(text);
    free(expected);
}
END_TEST

/* ---- Policies ---- */

static void stop_at_every_cycle(void) {
    sim_set_quantum(sim, 1);
    elaborate(1);
}

static MethodCall call_method(const char *name, int64_t argument, bool asked) {
    MethodCall call = {.argument = {{.whole = argument}}, .asked = asked};
    class_method(mc->class, name)->call(mc, &call);
    return call;
}

/* Of a bank as it is when this cycle begins; -1: none. */
static int64_t open_row(uint64_t cycle, uint32_t bank) {
    if (sim_run(sim, cycle * mc->period) == STOP_IDLE) sim->now = cycle * mc->period;
    MethodCall call = call_method("open_row", bank, false);
    return call.nothing ? -1 : call.result[0].whole;
}

static bool close_row(uint64_t cycle, uint32_t bank) {
    if (sim_run(sim, cycle * mc->period) == STOP_IDLE) sim->now = cycle * mc->period;
    MethodCall call = call_method("close_row", bank, false);
    ck_assert_str_eq(call.refusal, "");
    return call.result[0].flag;
}

START_TEST(policies_see_a_row_from_its_activate_until_it_is_closed) {
    page_policy("timeout");
    object_set_number(mc, "page_timeout", TIMEOUT);
    stop_at_every_cycle();
    read_at(100, 3, 5);
    ck_assert_int_eq(open_row(102, 5), -1);
    ck_assert_int_eq(open_row(103, 5), 3);
    ck_assert_int_eq(open_row(103, 4), -1);
    ck_assert_int_eq(open_row(READ_AT + TIMEOUT - 1, 5), 3);
    ck_assert_int_eq(open_row(READ_AT + TIMEOUT, 5), -1);
}
END_TEST

START_TEST(policies_see_no_row_once_a_refresh_is_due) {
    object_set_number(mc, "tREFI", 1000);
    stop_at_every_cycle();
    read_at(100, 3, 5);
    ck_assert_int_eq(open_row(999, 5), 3);
    ck_assert_int_eq(open_row(1000, 5), -1);
}
END_TEST

/* Without it the row stayed open, and would be hit. Before tRAS, it is closed as soon as that has passed. */
START_TEST(a_row_that_a_policy_closes_is_open_to_activate_tRP_behind) {
    static const struct {
        uint64_t closed, sent, activate;
    } cases[] = {{200, 209, 212}, {200, 210, 212}, {200, 211, 213}, {200, 500, 502},
                 {120, 135, 142}, {120, 140, 142}, {120, 141, 143}};
    stop_at_every_cycle();
    read_at(100, 3, 5);
    read_at(cases[_i].sent, 3, 5);
    ck_assert(close_row(cases[_i].closed, 5));
    ck_assert(!close_row(cases[_i].closed, 5));
    ck_assert(!close_row(cases[_i].closed, 4));
    run();
    ck_assert_uint_eq(answered_at(1), cases[_i].activate + FROM_ACTIVATE);
    ck_assert_stat_eq("row_hits", 0);
    ck_assert_stat_eq("row_misses", 2);
    ck_assert_stat_eq("activates", 2);
    ck_assert_stat_eq("precharges", 1);
}
END_TEST

/* A request that has its READ to come opens the row again; one for another bank goes on as it would. */
START_TEST(a_row_that_a_request_waits_for_is_opened_again) {
    stop_at_every_cycle();
    read_at(100, 3, 5);
    read_at(107, 7, 6);
    ck_assert(close_row(114, 5)); /* its READ is planned for this cycle */
    ck_assert_uint_eq(call_method("row_hits", 0, false).result[0].set, 2);
    run();
    ck_assert_uint_eq(answered_at(0), 109 + FROM_ACTIVATE);
    ck_assert_uint_eq(answered_at(1), 142 + FROM_ACTIVATE);
    ck_assert_stat_eq("row_misses", 2);
    ck_assert_stat_eq("activates", 3);
}
END_TEST

START_TEST(policies_close_no_row_in_the_midst_of_a_cycle) {
    stop_at_every_cycle();
    MethodCall call = call_method("close_row", 0, true);
    ck_assert_str_eq(call.refusal,
                     "expected a call from a hook, got one from a question, in the midst of a cycle");
}
END_TEST

Suite *page_policy_suite(void);

Suite *page_policy_suite(void) {
    Suite *suite = suite_create("page_policy");
    TCase *tests = test_case("page_policy");
    tcase_add_loop_test(tests, a_read_alone_closes_its_row_and_the_bank_is_ready_tRP_behind, 0, 4);
    tcase_add_loop_test(tests, a_read_closes_its_row_no_sooner_than_tRTPL, 0, 5);
    tcase_add_loop_test(tests, a_write_closes_its_row_tWR_after_its_data, 0, 8);
    tcase_add_test(tests, a_row_that_another_request_waits_for_stays_open);
    tcase_add_loop_test(tests, a_row_is_closed_when_its_time_has_run_out_and_not_before, 0, 12);
    tcase_add_loop_test(tests, a_short_time_waits_for_the_timings, 0, 5);
    tcase_add_test(tests, each_column_command_begins_the_time_anew);
    tcase_add_test(tests, a_sleeping_controller_counts_the_rows_whose_time_has_run_out);
    tcase_add_loop_test(tests, a_refresh_of_closed_rows_begins_when_it_is_due, 0, 3);
    tcase_add_loop_test(tests, closing_rows_does_not_depend_on_the_tick_order, 0, 2);
    tcase_add_loop_test(tests, who_looks_at_the_counters_or_resumes_in_between_changes_nothing, 0, 2);
    tcase_add_test(tests, policies_see_a_row_from_its_activate_until_it_is_closed);
    tcase_add_test(tests, policies_see_no_row_once_a_refresh_is_due);
    tcase_add_loop_test(tests, a_row_that_a_policy_closes_is_open_to_activate_tRP_behind, 0, 7);
    tcase_add_test(tests, a_row_that_a_request_waits_for_is_opened_again);
    tcase_add_test(tests, policies_close_no_row_in_the_midst_of_a_cycle);
    suite_add_tcase(suite, tests);
    return suite;
}
