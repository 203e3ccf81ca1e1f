/* Refreshes of a memory controller: when they come, what waits for them, and that nobody has to look for them to be done. */
#include "core/sim/base/random.h"
#include "core/sim/checkpoint/snapshot.h"
#include "mem/dram/memory_controller_state.h"
#include "tests/unit/mem/dram/memory_controller_fixture.h"

#include <stdlib.h>

enum { REFI = 1000, RFC = 100 };

static void refresh(uint32_t interval) {
    object_set_number(mc, "tREFI", interval);
    object_set_number(mc, "tRFC", RFC);
}

static void read_at(uint64_t cycle, uint32_t row, uint32_t bank) {
    memory_driver_send(drivers[0], cycle, read_request(location(row, bank, 0), 32));
}

static uint64_t answered_at(uint32_t index) {
    return response(index)->cycle;
}

/* Sent at cycle c, in the queue at c + 1, ACTIVATE at c + 2 at the earliest; received 27 cycles behind ACTIVATE. */
enum { TO_ACTIVATE = 2, FROM_ACTIVATE = 27 };

START_TEST(a_bank_can_be_opened_tRFC_after_the_refresh_is_due_and_not_before) {
    static const struct {
        uint64_t activate_without, activate;
    } cases[] = {{REFI - 1, REFI - 1},          {REFI, REFI + RFC},       {REFI + 1, REFI + RFC},
                 {REFI + RFC - 1, REFI + RFC},  {REFI + RFC, REFI + RFC}, {REFI + RFC + 1, REFI + RFC + 1},
                 {7 * REFI + 1, 7 * REFI + RFC}};
    refresh(REFI);
    elaborate(1);
    read_at(cases[_i].activate_without - TO_ACTIVATE, 3, 5);
    run();
    /* The first case has its READ when the refresh is due: it waits until the row has been open for tRAS, is
     * refreshed and opened again. */
    uint64_t activate = cases[_i].activate;
    if (_i == 0) activate += 28 + 12 + RFC;
    ck_assert_uint_eq(answered_at(0), activate + FROM_ACTIVATE);
    ck_assert_stat_eq("activates", _i == 0 ? 2 : 1);
}
END_TEST

/* ACTIVATE at 972, READ at 984: the row may be closed at 1000, tRAS behind. REFRESH at 1012. */
START_TEST(a_refresh_waits_for_open_rows_and_closes_them) {
    refresh(REFI);
    elaborate(1);
    read_at(970, 3, 5);
    read_at(REFI + 1, 3, 5);
    run();
    ck_assert_uint_eq(answered_at(0), 972 + FROM_ACTIVATE);
    ck_assert_uint_eq(answered_at(1), REFI + 12 + RFC + FROM_ACTIVATE);
    ck_assert_stat_eq("row_hits", 0);
    ck_assert_stat_eq("row_misses", 2);
    ck_assert_stat_eq("precharges", 1);
    ck_assert_stat_eq("refreshes", 1);
}
END_TEST

/* ---- Of one bank after the other ---- */

enum { TURN = 1000, RFC_PB = 50, BANK = 5, DUE = (BANK + 1) * TURN };

static void refresh_by_bank(void) {
    object_set_text(mc, "refresh", "bank");
    object_set_number(mc, "tREFI", 16 * TURN);
    object_set_number(mc, "tRFCpb", RFC_PB);
}

START_TEST(a_bank_can_be_opened_tRFCpb_after_its_turn_and_the_others_go_on) {
    static const struct {
        uint64_t asked, activate, of_another;
    } cases[] = {{DUE - 1, DUE - 1, DUE - 1},
                 {DUE, DUE + RFC_PB, DUE + 1}, /* REFRESH is the command of this cycle */
                 {DUE + 1, DUE + RFC_PB, DUE + 1},
                 {DUE + RFC_PB - 1, DUE + RFC_PB, DUE + RFC_PB - 1},
                 {DUE + RFC_PB, DUE + RFC_PB, DUE + RFC_PB},
                 {DUE + RFC_PB + 1, DUE + RFC_PB + 1, DUE + RFC_PB + 1},
                 {DUE + 16 * TURN + 1, DUE + 16 * TURN + RFC_PB, DUE + 16 * TURN + 1}};
    uint32_t c = (uint32_t)_i / 2, bank = _i % 2 ? BANK + 1 : BANK;
    refresh_by_bank();
    elaborate(1);
    read_at(cases[c].asked - TO_ACTIVATE, 3, bank);
    run();
    uint64_t activate = bank == BANK ? cases[c].activate : cases[c].of_another;
    /* As with all banks: its READ would have come too late. */
    if (_i == 0) activate += 28 + 12 + RFC_PB;
    ck_assert_uint_eq(answered_at(0), activate + FROM_ACTIVATE);
}
END_TEST

/* The bank's row, opened a cycle before, can be closed tRAS behind that. Row hits of it have to wait; another bank is
 * opened tRRD behind it, and read. */
START_TEST(others_go_on_while_a_bank_waits_until_it_can_be_closed) {
    refresh_by_bank();
    elaborate(1);
    read_at(DUE - 1 - TO_ACTIVATE, 3, BANK);
    read_at(DUE, 3, BANK + 1);
    read_at(DUE, 3, BANK);
    run();
    ck_assert_uint_eq(answered_at(0), DUE - 1 + 6 + FROM_ACTIVATE);
    ck_assert_uint_eq(answered_at(1), DUE - 1 + 28 + 12 + RFC_PB + FROM_ACTIVATE);
    ck_assert_stat_eq("row_hits", 1); /* the two of the refreshed bank are together behind it */
    ck_assert_stat_eq("precharges", 1);
    ck_assert_stat_eq("refreshes", BANK + 1);
}
END_TEST

START_TEST(banks_that_nobody_wants_are_refreshed_in_turn_without_keeping_the_machine_busy) {
    refresh_by_bank();
    elaborate(1);
    read_at(0, 3, 5);
    ck_assert_int_eq(sim_run(sim, NEVER), STOP_IDLE);
    ck_assert_uint_lt(sim->now, 100 * mc->period);
    sim->now = (10 * 16 * TURN + 3 * TURN + TURN / 2) * mc->period;
    sim_settle(sim);
    sim_check(sim, true);
    ck_assert_stat_eq("refreshes", 10 * 16 + 3);
    ck_assert_stat_eq("precharges", 1);
    const MemoryController *controller = (const MemoryController *)mc;
    ck_assert_uint_eq(controller->refresh_bank, 3);
    for (uint32_t bank = 0; bank < 16; bank++) { /* its last one */
        uint64_t turn = (bank < 3 ? 10u : 9u) * 16 + bank + 1;
        ck_assert_uint_eq(controller->dram.banks[bank].earliest[DRAM_ACTIVATE], turn * TURN + RFC_PB);
    }
}
END_TEST

/* A READ of an open row that is legal before the refresh is due goes first; the next one, legal a cycle too late, does not. */
START_TEST(what_is_legal_before_it_is_due_goes_first) {
    refresh(REFI);
    elaborate(1);
    read_at(900, 3, 5);
    read_at(REFI - TO_ACTIVATE - (uint64_t)_i, 3, 5);
    run();
    ck_assert_stat_eq("row_hits", _i);
    ck_assert_stat_eq("row_misses", 2 - _i);
}
END_TEST

START_TEST(a_controller_without_requests_keeps_no_machine_busy_and_counts_its_refreshes) {
    refresh(REFI);
    elaborate(1);
    read_at(0, 3, 5);
    ck_assert_int_eq(sim_run(sim, NEVER), STOP_IDLE);
    ck_assert_uint_lt(sim->now, 100 * mc->period);
    sim->now = (10 * REFI + REFI / 2) * mc->period;
    sim_settle(sim);
    sim_check(sim, true);
    ck_assert_stat_eq("refreshes", 10);
    ck_assert_stat_eq("precharges", 1);
    sim_settle(sim);
    ck_assert_stat_eq("refreshes", 10);
}
END_TEST

static void stream(uint32_t lines) {
    for (uint32_t i = 0; i < lines; i++)
        send_read(0, 0, location(i / 256, i % 16, i / 16 % 16), i, 0);
}

static double cycles_of_stream(uint32_t interval, const char *banks) {
    start_with_clocks(924000000, 924000000);
    refresh(interval);
    object_set_text(mc, "refresh", banks);
    elaborate(1);
    stream(2000);
    run();
    ck_assert_stat_eq("reads_answered", 2000);
    return stat("cycles");
}

/* Each takes the channel away for tRP + tRFC, and what it takes to open the rows again. */
START_TEST(a_stream_loses_the_time_of_the_refreshes) {
    double without = cycles_of_stream(0, "all");
    ck_assert_stat_eq("refreshes", 0);
    double with = cycles_of_stream(REFI, "all"), refreshes = stat("refreshes"),
           each = (with - without) / refreshes;
    ck_assert_double_ge(refreshes, 8);
    ck_assert_double_eq(refreshes, (double)((uint64_t)with / REFI));
    ck_assert_double_ge(each, RFC + 12);
    ck_assert_double_le(each, RFC + 12 + 12 + 12 + 2 * 28);
    double by_bank = cycles_of_stream(REFI, "bank");
    ck_assert_double_ge(stat("refreshes"), 16 * refreshes - 16);
    ck_assert_double_gt(by_bank, without);
    ck_assert_double_lt(by_bank - without, (with - without) / 2);
}
END_TEST

static bool by_bank; /* the drawn traffic */

static void start_drawn_traffic(TickOrder order) {
    Random random = {11};
    start_with_clocks(700000000, 924000000);
    sim->order = order;
    refresh(by_bank ? 480 : 400);
    object_set_text(mc, "refresh", by_bank ? "bank" : "all");
    object_set_number(mc, "queues", by_bank ? 1 : 2);
    object_set_text(mc, "page_policy", by_bank ? "timeout" : "open");
    elaborate(2);
    for (uint32_t i = 0; i < 800; i++) {
        uint64_t address = location((uint32_t)random_below(&random, 3), (uint32_t)random_below(&random, 16),
                                    i % 16);
        uint64_t pause = i / 100 * 2000; /* of several refreshes, now and then */
        MemMessage message = i % 4 ? read_request(address, 128) : posted_write_request(address, 128);
        message.class_number = (uint8_t)random_below(&random, 2);
        memory_driver_send(drivers[i % 2], pause + i * 2 + random_below(&random, 30), message);
    }
}

static char *stats_of_drawn_traffic(TickOrder order) {
    start_drawn_traffic(order);
    run();
    return stats_text(sim);
}

START_TEST(refreshes_do_not_depend_on_the_tick_order) {
    by_bank = _i;
    char *expected = stats_of_drawn_traffic(ORDER_PATH);
    ck_assert_double_gt(stat("refreshes"), 30);
    for (TickOrder order = ORDER_REVERSED; order <= ORDER_RESTLESS; order++) {
        char *text = stats_of_drawn_traffic(order);
        ck_assert_str_eq(text, expected);
        free(text);
    }
    free(expected);
}
END_TEST

/* A controller like the present one, from its snapshot, goes on in its place. */
static void go_on_from_snapshot(void (*build)(void)) {
    Buffer buffer = {0};
    char why[256] = "";
    sim_save(sim, &buffer);
    build();
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    SnapshotChanges changes = {.allowed = true};
    bool good = sim_load(sim, &reader, &changes, why, sizeof why);
    ck_assert_msg(good, "%s", why);
    buffer_free(&buffer);
}

static void start_drawn_traffic_by_path(void) {
    start_drawn_traffic(ORDER_PATH);
}

START_TEST(who_looks_at_the_counters_or_resumes_in_between_changes_nothing) {
    by_bank = _i;
    char *expected = stats_of_drawn_traffic(ORDER_PATH);
    uint64_t end = sim->now;
    start_drawn_traffic(ORDER_PATH);
    for (uint32_t round = 0; sim->now < end; round++) {
        sim_run(sim, sim->now + 37 * mc->period);
        sim_settle(sim);
        sim_check(sim, false);
        if (round % 32 == 31) go_on_from_snapshot(start_drawn_traffic_by_path);
    }
    run();
    char *text = stats_text(sim);
    ck_assert_str_eq(text, expected);
    free(text);
    free(expected);
}
END_TEST

/* --- Checkpoints in the midst of it ----------------------------------------------------------- */

enum { FAR = 1000000 };

static void build_with_places(uint32_t places) {
    start_with_clocks(924000000, 924000000);
    refresh(FAR);
    object_set_number(mc, "return_entries", places);
    add_driver(0);
    object_set_number(drivers[0], "refuse_until", 50000);
    elaborate(1);
}

static void build_with_one_place(void) {
    build_with_places(1);
}

/* The driver takes no response, so that the link fills, and the one place: what waits waits for the next refresh, as far as the
 * controller knows. */
START_TEST(a_snapshot_may_be_taken_long_before_a_refresh_for_which_alone_a_controller_waits) {
    build_with_one_place();
    for (uint32_t i = 0; i < 80; i++)
        read_at(i, 3, 5);
    sim_run(sim, 10000 * mc->period);
    const MemoryController *controller = (const MemoryController *)mc;
    ck_assert_uint_gt(controller->waiting, 0);
    ck_assert_uint_eq(controller->plan.cycle, FAR);
    go_on_from_snapshot(build_with_one_place);
    controller = (const MemoryController *)mc;
    ck_assert_uint_eq(controller->plan.cycle, FAR);
}
END_TEST

static void build_plain(void) {
    start_with_clocks(924000000, 924000000);
    sim_set_quantum(sim, 1);
    refresh(REFI);
    elaborate(1);
}

/* As much room as is taken: nothing can be planned for the request before the refresh, and nothing is. */
START_TEST(other_room_for_responses_leaves_the_next_refresh_planned) {
    build_with_places(2);
    for (uint32_t i = 0; i < 80; i++)
        read_at(i, 3, 5);
    sim_run(sim, 10000 * mc->period);
    go_on_from_snapshot(build_with_one_place);
    ck_assert_uint_eq(((const MemoryController *)mc)->plan.cycle, FAR);
}
END_TEST

static void build_with_queues(uint32_t queues) {
    start_with_clocks(924000000, 924000000);
    refresh(REFI);
    object_set_number(mc, "queues", queues);
    elaborate(1);
}

static void build_with_one_queue(void) {
    build_with_queues(1);
}

/* All that waits is in the second queue when the refresh is planned. */
START_TEST(other_queues_leave_a_refresh_in_its_cycle) {
    uint64_t refreshes[2];
    for (uint32_t converts = 0; converts < 2; converts++) {
        build_with_queues(2);
        send_read(0, 970, location(3, 5, 0), 0, 1);
        for (uint32_t row = 4; row < 8; row++)
            send_read(0, 975, location(row, 5, 0), 0, 1);
        sim_run(sim, 995 * mc->period);
        const MemoryController *controller = (const MemoryController *)mc;
        ck_assert_uint_eq(controller->plan.command, DRAM_REFRESH);
        if (converts) go_on_from_snapshot(build_with_one_queue);
        controller = (const MemoryController *)mc;
        refreshes[converts] = controller->plan.cycle;
    }
    ck_assert_uint_eq(refreshes[1], refreshes[0]);
}
END_TEST

/* A policy that hears of an event reads counters as they are a cycle later. */
START_TEST(a_snapshot_may_be_taken_when_a_policy_has_looked_at_the_cycle_of_a_refresh_before_it_comes) {
    build_plain();
    read_at(REFI - 100, 3, 5);
    sim_run(sim, NEVER);
    sim->now = (REFI - 1) * mc->period;
    memory_controller_settle(mc, REFI * mc->period);
    ck_assert_stat_eq("refreshes", 1);
    go_on_from_snapshot(build_plain);
    ck_assert_stat_eq("refreshes", 1);
}
END_TEST

static void build_with_interval(void *interval) {
    refresh(*(uint32_t *)interval);
    elaborate(1);
}

static void set_tRCD(bool is_long) {
    start_with_clocks(924000000, 924000000);
    if (is_long) object_set_number(mc, "tRCD", 100);
}

/* tRC + tRFC + tRCD and 16 banks: 40 + 100 + 12 + 16. */
START_TEST(refreshes_that_leave_no_time_for_a_row_are_a_user_error) {
    uint32_t least = _i ? 256 : 168, interval = least - 1;
    char expected[64];
    snprintf(expected, sizeof expected, "mc.tREFI: expected 0, or %u or more", least);
    set_tRCD(_i);
    const char *message = user_error_catch(build_with_interval, &interval);
    ck_assert_ptr_nonnull(message);
    ck_assert_ptr_nonnull(strstr(message, expected));
    set_tRCD(_i);
    refresh(least);
    elaborate(1);
    stream(20);
    sim_run(sim, 20000 * mc->period);
    ck_assert_stat_eq("reads_answered", 20);
}
END_TEST

static void build_by_bank(void *interval) {
    object_set_text(mc, "refresh", "bank");
    build_with_interval(interval);
}

/* In a sixteenth of it a row that has just been opened is closed: 16 * (tRAS + 1). */
START_TEST(turns_of_banks_that_leave_no_time_to_close_one_are_a_user_error) {
    uint32_t interval = 463;
    const char *message = user_error_catch(build_by_bank, &interval);
    ck_assert_ptr_nonnull(message);
    ck_assert_ptr_nonnull(strstr(message, "mc.tREFI: expected 0, or 464 or more"));
    set_tRCD(false);
    interval = 464;
    build_by_bank(&interval);
    stream(2000);
    run();
    ck_assert_stat_eq("reads_answered", 2000);
}
END_TEST

Suite *refresh_suite(void);

Suite *refresh_suite(void) {
    Suite *suite = suite_create("refresh");
    TCase *tests = test_case("refresh");
    tcase_add_loop_test(tests, a_bank_can_be_opened_tRFC_after_the_refresh_is_due_and_not_before, 0, 7);
    tcase_add_test(tests, a_refresh_waits_for_open_rows_and_closes_them);
    tcase_add_loop_test(tests, what_is_legal_before_it_is_due_goes_first, 0, 2);
    tcase_add_test(tests, a_controller_without_requests_keeps_no_machine_busy_and_counts_its_refreshes);
    tcase_add_test(tests, a_stream_loses_the_time_of_the_refreshes);
    tcase_add_loop_test(tests, a_bank_can_be_opened_tRFCpb_after_its_turn_and_the_others_go_on, 0, 14);
    tcase_add_test(tests, others_go_on_while_a_bank_waits_until_it_can_be_closed);
    tcase_add_test(tests, banks_that_nobody_wants_are_refreshed_in_turn_without_keeping_the_machine_busy);
    tcase_add_loop_test(tests, refreshes_do_not_depend_on_the_tick_order, 0, 2);
    tcase_add_loop_test(tests, who_looks_at_the_counters_or_resumes_in_between_changes_nothing, 0, 2);
    tcase_add_test(tests, a_snapshot_may_be_taken_long_before_a_refresh_for_which_alone_a_controller_waits);
    tcase_add_test(tests, other_room_for_responses_leaves_the_next_refresh_planned);
    tcase_add_test(tests, other_queues_leave_a_refresh_in_its_cycle);
    tcase_add_test(
        tests, a_snapshot_may_be_taken_when_a_policy_has_looked_at_the_cycle_of_a_refresh_before_it_comes);
    tcase_add_test(tests, turns_of_banks_that_leave_no_time_to_close_one_are_a_user_error);
    tcase_add_loop_test(tests, refreshes_that_leave_no_time_for_a_row_are_a_user_error, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
