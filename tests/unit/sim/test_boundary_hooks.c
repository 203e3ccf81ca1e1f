/* Hooks at boundaries of quanta: when they are called, what a knob that they set means, and a snapshot. */
#include "core/sim/checkpoint/snapshot.h"
#include "tests/unit/sim/tickers_fixture.h"

/* The boundary at or after each multiple of `every` up to `end`, each once. */
static void expect_boundaries(const BoundaryWatcher *watcher, uint64_t every, uint64_t from, uint64_t end) {
    uint32_t count = 0;
    uint64_t last = from;
    for (uint64_t due = every; due <= end; due += every) {
        uint64_t boundary = (due + QUANTUM - 1) / QUANTUM * QUANTUM;
        if (boundary <= last || boundary > end) continue;
        ck_assert_uint_lt(count, watcher->count);
        ck_assert_uint_eq(watcher->cycles[count], last = boundary);
        count++;
    }
    ck_assert_uint_eq(watcher->count, count);
}

START_TEST(a_periodic_hook_is_called_at_the_first_boundary_at_or_after_each_multiple) {
    uint64_t every = (uint64_t[]){1, 3, 4, 6, 7, 8, 50}[_i];
    Ticker *tickers[BELLS];
    Sim *sim = tower(ORDER_PATH, tickers);
    BoundaryWatcher watcher = {0};
    sim_every(sim, every, note_boundary, &watcher);
    run_to(sim, 200);
    expect_boundaries(&watcher, every, 0, 200);
    sim_free(sim);
}
END_TEST

START_TEST(it_is_called_while_the_machine_sleeps_through_many_quanta) {
    Sim *sim = empty(ORDER_PATH);
    BoundaryWatcher watcher = {0};
    Ticker *ticker = add(sim, "ticker", "core", 1000, 4);
    sim_elaborate(sim);
    sim_every(sim, 30, note_boundary, &watcher);
    run_to(sim, 10 * QUANTUM); /* in two parts: the first ends between two calls */
    run_to(sim, 2000);
    expect_boundaries(&watcher, 30, 0, 2000);
    ck_assert_uint_eq(ticker->done, 2);
    sim_free(sim);
}
END_TEST

START_TEST(it_is_not_called_once_the_machine_has_nothing_to_do) {
    Sim *sim = empty(ORDER_PATH);
    BoundaryWatcher watcher = {0};
    add(sim, "ticker", "core", 10, 3); /* in cycles 0, 10 and 20 */
    sim_elaborate(sim);
    sim_every(sim, 8, note_boundary, &watcher);
    ck_assert_int_eq(sim_run(sim, 10000 * sim->quantum), STOP_IDLE);
    expect_boundaries(&watcher, 8, 0, 24);
    sim_free(sim);
}
END_TEST

START_TEST(hooks_that_are_due_at_once_are_called_in_the_order_in_which_they_were_added) {
    Ticker *tickers[BELLS];
    Sim *sim = tower(ORDER_REVERSED, tickers);
    char text[32] = "";
    BoundaryWatcher first = {.letter = 'a', .text = text}, second = {.letter = 'b', .text = text};
    sim_every(sim, 12, note_boundary, &first);
    sim_every(sim, 8, note_boundary, &second);
    run_to(sim, 24);
    ck_assert_str_eq(text, "bab"
                           "ab"); /* 8: b, 12: a, 16: b, 24: both */
    sim_free(sim);
}
END_TEST

static void quicken_at_8(BoundaryWatcher *watcher, const Sim *sim) {
    if (cycle_of(sim) == 8) watcher->ticker->step = 10;
}

START_TEST(a_knob_set_at_a_boundary_counts_in_the_cycle_that_begins_there) {
    Ticker *tickers[BELLS];
    Sim *sim = tower(ORDER_PATH, tickers);
    BoundaryWatcher watcher = {.act = quicken_at_8, .ticker = tickers[1]};
    Recorder recorder = {0};
    sim_every(sim, QUANTUM, note_boundary, &watcher);
    record_events(&recorder, tickers + 1, 1, 1 << TICKER_TICKED);
    run_to(sim, 12);
    ck_assert_int_eq(recorder.notes[7].argument, 8);
    ck_assert_int_eq(recorder.notes[8].argument, 18);
    sim_free(sim);
}
END_TEST

/* Saved at each boundary in turn, and loaded into a machine that has made its hook at time 0. */
START_TEST(after_a_snapshot_was_loaded_hooks_come_when_they_would_have_come) {
    enum { EVERY = 10 };
    char why[256];
    for (uint64_t boundary = QUANTUM; boundary <= 32; boundary += QUANTUM) {
        Ticker *tickers[BELLS];
        BoundaryWatcher before = {0}, after = {0};
        Buffer buffer = {0};
        Sim *sim = tower(ORDER_PATH, tickers);
        sim_every(sim, EVERY, note_boundary, &before);
        run_to(sim, boundary);
        sim_save(sim, &buffer);
        sim_free(sim);
        sim = tower(ORDER_PATH, tickers);
        sim_every(sim, EVERY, note_boundary, &after);
        Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
        ck_assert_msg(sim_load(sim, &reader, NULL, why, sizeof why), "%s", why);
        run_to(sim, 60);
        expect_boundaries(&before, EVERY, 0, boundary);
        expect_boundaries(&after, EVERY, boundary, 60);
        expect_sum(tickers[0], 60);
        buffer_free(&buffer);
        sim_free(sim);
    }
}
END_TEST

Suite *boundary_hooks_suite(void) {
    Suite *suite = suite_create("boundary_hooks");
    TCase *hooks = tcase_create("hooks");
    tcase_add_loop_test(hooks, a_periodic_hook_is_called_at_the_first_boundary_at_or_after_each_multiple, 0,
                        7);
    tcase_add_test(hooks, it_is_called_while_the_machine_sleeps_through_many_quanta);
    tcase_add_test(hooks, it_is_not_called_once_the_machine_has_nothing_to_do);
    tcase_add_test(hooks, hooks_that_are_due_at_once_are_called_in_the_order_in_which_they_were_added);
    tcase_add_test(hooks, a_knob_set_at_a_boundary_counts_in_the_cycle_that_begins_there);
    tcase_add_test(hooks, after_a_snapshot_was_loaded_hooks_come_when_they_would_have_come);
    suite_add_tcase(suite, hooks);
    return suite;
}
