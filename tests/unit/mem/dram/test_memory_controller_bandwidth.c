/* How much of its bandwidth a memory controller gets out of a channel: computed for each pattern of accesses.
 */
#include "core/sim/base/random.h"
#include "tests/unit/mem/dram/memory_controller_fixture.h"

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

/* The same, of which four may come within tFAW = 40 cycles: one in 10. */
START_TEST(random_lines_are_bound_by_tFAW) {
    Random random = {7};
    object_set_number(add_driver(0), "outstanding", 64);
    object_set_number(mc, "tFAW", 40);
    object_set_number(mc, "check_commands", _i);
    elaborate(1);
    for (int i = 0; i < 5000; i++)
        memory_driver_send(drivers[0], 0, read_request(random_below(&random, 1 << 21) * 128, 128));
    run();
    ck_assert_double_le(stat("bandwidth_utilisation"),
                        4.0 / 10 / 0.99); /* row hits, less than one in a hundred */
    ck_assert_double_ge(stat("bandwidth_utilisation"), 0.98 * 4 / 10);
}
END_TEST

/* Row misses of banks 0, 4, 8 and 12, which are a group: one ACTIVATE in tRRDL = 20 cycles; with tRC = 40 alone they come
 * four in 40. */
START_TEST(rows_of_a_bank_group_are_bound_by_tRRDL) {
    object_set_number(add_driver(0), "outstanding", 64);
    object_set_number(mc, "tRRDL", 20);
    object_set_number(mc, "check_commands", _i);
    elaborate(1);
    for (uint32_t i = 0; i < 1600; i++)
        send_read(0, 0, location(i / 4, i % 4 * 4, 0), i, 0);
    run();
    ck_assert_uint_ge(response(1599)->cycle, 1600 * 20);
    ck_assert_uint_le(response(1599)->cycle, 1600 * 20 * 21 / 20);
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

Suite *memory_controller_bandwidth_suite(void);

Suite *memory_controller_bandwidth_suite(void) {
    Suite *suite = suite_create("memory_controller_bandwidth");
    TCase *tests = test_case("bandwidth");
    tcase_add_loop_test(tests, one_bank_reaches_its_computed_bandwidth, 0, 5);
    tcase_add_loop_test(tests, one_bank_of_writes_reaches_its_computed_bandwidth, 0, 5);
    tcase_add_loop_test(tests, rows_of_all_banks_reach_their_computed_bandwidth, 0, 8);
    tcase_add_loop_test(tests, sequential_reads_stream_at_the_pins, 0, 2);
    tcase_add_test(tests, sectors_waste_half_of_each_burst);
    tcase_add_test(tests, a_copy_amortises_turnarounds);
    tcase_add_test(tests, random_lines_are_bound_by_tRRD);
    tcase_add_loop_test(tests, random_lines_are_bound_by_tFAW, 0, 2);
    tcase_add_loop_test(tests, rows_of_a_bank_group_are_bound_by_tRRDL, 0, 2);
    tcase_add_test(tests, banks_work_in_parallel);
    suite_add_tcase(suite, tests);
    return suite;
}
