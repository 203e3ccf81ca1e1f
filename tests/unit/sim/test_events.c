/* Events: when subscribers are called and what they see, questions, failures. */
#include "tests/unit/sim/tickers_fixture.h"

/* --- Emitted events ------------------------------------------------------------------------------- */

START_TEST(what_happened_is_told_when_the_cycle_is_over_in_path_order) {
    Ticker *tickers[BELLS];
    Sim *sim = tower((TickOrder)_i, tickers);
    Recorder recorder = {0};
    record_events(&recorder, tickers, BELLS, 1 << TICKER_TICKED | 1 << TICKER_ECHO);
    run_to(sim, 2 * QUANTUM);
    ck_assert_uint_eq(recorder.count, 2 * QUANTUM * BELLS * 2);
    for (uint32_t i = 0; i < recorder.count; i++) {
        const Note *note = &recorder.notes[i];
        uint64_t cycle = i / (2 * BELLS);
        ck_assert_uint_eq(note->cycle, cycle);
        ck_assert_uint_eq(note->object, i / 2 % BELLS);
        ck_assert_uint_eq(note->event, i % 2 ? TICKER_ECHO : TICKER_TICKED);
        ck_assert_int_eq(note->argument, (int64_t)cycle + 1);
        ck_assert_uint_eq(note->sum, BELLS * (cycle + 1));
    }
    sim_free(sim);
}
END_TEST

START_TEST(a_subscriber_gets_the_events_that_it_asked_for_and_no_others) {
    Ticker *tickers[BELLS];
    Sim *sim = tower(ORDER_PATH, tickers);
    Recorder recorder = {0};
    record_events(&recorder, tickers + 1, 1, 1 << TICKER_ECHO);
    ck_assert(!object_has_subscriber(&tickers[0]->obj, TICKER_ECHO));
    ck_assert(!object_has_subscriber(&tickers[1]->obj, TICKER_TICKED));
    ck_assert(object_has_subscriber(&tickers[1]->obj, TICKER_ECHO));
    run_to(sim, QUANTUM);
    ck_assert_uint_eq(recorder.count, QUANTUM);
    for (uint32_t i = 0; i < recorder.count; i++) {
        ck_assert_uint_eq(recorder.notes[i].object, 1);
        ck_assert_uint_eq(recorder.notes[i].event, TICKER_ECHO);
    }
    sim_free(sim);
}
END_TEST

static char spoken[64];

static int64_t speak(Recorder *recorder, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)object;
    (void)cycle;
    (void)arguments;
    strcat(spoken, recorder->word);
    return NO_ANSWER;
}

START_TEST(all_subscribers_of_an_event_are_called_in_the_order_in_which_they_came) {
    Ticker *tickers[BELLS];
    Sim *sim = tower(ORDER_REVERSED, tickers);
    Recorder first = {.act = speak, .word = "a"}, second = {.act = speak, .word = "b"};
    spoken[0] = 0;
    record_events(&first, tickers, 2, 1 << TICKER_TICKED);
    record_events(&second, tickers, 2, 1 << TICKER_TICKED);
    run_to(sim, QUANTUM);
    ck_assert_str_eq(spoken, "abababababababab"); /* two tickers, four cycles */
    sim_free(sim);
}
END_TEST

/* The second ticker's stroke in cycle 5 makes the two others add 10. */
static int64_t quicken(Recorder *recorder, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)object;
    (void)arguments;
    if (cycle == 5) recorder->tickers[0]->step = recorder->tickers[2]->step = 10;
    return NO_ANSWER;
}

static int64_t withhold_even(Recorder *recorder, SimObject *object, uint64_t cycle,
                             const int64_t *arguments) {
    (void)recorder;
    (void)object;
    (void)cycle;
    return arguments[0] % 2 ? NO_ANSWER : WITHHELD;
}

START_TEST(who_subscribes_first_withholds_events_from_those_who_came_before) {
    Ticker *tickers[BELLS];
    Sim *sim = tower(ORDER_PATH, tickers);
    Recorder before = {0}, also = {0}, first = {.act = withhold_even};
    record_events(&before, tickers, 1, 1 << TICKER_TICKED);
    record_events(&also, tickers, 1, 1 << TICKER_TICKED | 1 << TICKER_ECHO);
    record_events(&first, tickers, 0, 0);
    object_subscribe_first(&tickers[0]->obj, &first.subscriber, 1 << TICKER_TICKED);
    run_to(sim, QUANTUM);
    ck_assert_uint_eq(first.count, QUANTUM);
    ck_assert_uint_eq(before.count, QUANTUM / 2);
    ck_assert_uint_eq(also.count, QUANTUM / 2 + QUANTUM); /* all the echoes */
    for (uint32_t i = 0; i < before.count; i++)
        ck_assert_int_eq(before.notes[i].argument, 2 * i + 1);
    sim_free(sim);
}
END_TEST

static int64_t pass_on(Recorder *recorder, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)object, (void)cycle;
    event_pass_on(&recorder->tickers[1]->obj, TICKER_ECHO, 100 + arguments[0]);
    event_pass_on(&recorder->tickers[2]->obj, TICKER_ECHO, 200); /* nobody has subscribed */
    return NO_ANSWER;
}

START_TEST(what_a_subscriber_passes_on_is_emitted_in_the_place_of_what_it_got) {
    Ticker *tickers[BELLS];
    Sim *sim = tower((TickOrder)_i, tickers);
    Recorder first = {.act = pass_on}, second = {0};
    record_events(&first, tickers, 1, 1 << TICKER_TICKED);
    first.tickers = tickers;
    record_events(&second, tickers, 2, 1 << TICKER_ECHO);
    run_to(sim, QUANTUM);
    ck_assert_uint_eq(second.count, 3 * QUANTUM);
    for (uint32_t i = 0; i < second.count; i++) {
        int64_t cycle = i / 3;
        ck_assert_uint_eq(second.notes[i].cycle, (uint64_t)cycle);
        ck_assert_uint_eq(second.notes[i].event, TICKER_ECHO);
        ck_assert_uint_eq(second.notes[i].object, i % 3 != 1); /* before the first ticker's own echo */
        ck_assert_int_eq(second.notes[i].argument, (i % 3 ? 0 : 100) + cycle + 1);
    }
    sim_free(sim);
}
END_TEST

START_TEST(a_knob_set_by_a_subscriber_counts_from_the_next_cycle_on) {
    Ticker *tickers[BELLS];
    Sim *sim = tower((TickOrder)_i, tickers);
    Recorder recorder = {.act = quicken}, watch = {0};
    record_events(&recorder, tickers + 1, 1, 1 << TICKER_TICKED);
    recorder.tickers = tickers;
    record_events(&watch, tickers, BELLS, 1 << TICKER_TICKED);
    run_to(sim, 2 * QUANTUM);
    for (uint64_t cycle = 0; cycle < 2 * QUANTUM; cycle++) {
        uint64_t later = cycle > 5 ? cycle - 5 : 0; /* strokes with the new step */
        for (uint32_t i = 0; i < BELLS; i++) {
            int64_t want = (int64_t)(cycle + 1 + (i == 1 ? 0 : 9 * later));
            ck_assert_int_eq(watch.notes[cycle * BELLS + i].argument, want);
        }
    }
    sim_free(sim);
}
END_TEST

/* --- Questions ----------------------------------------------------------------------------------- */

static int64_t add_up(Recorder *recorder, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)recorder;
    (void)object;
    (void)cycle;
    return arguments[0] + arguments[1];
}

static int64_t minus_one_in_cycle_2(Recorder *recorder, SimObject *object, uint64_t cycle,
                                    const int64_t *arguments) {
    (void)recorder;
    (void)object;
    (void)arguments;
    return cycle == 2 ? -1 : NO_ANSWER;
}

START_TEST(a_question_is_answered_at_once) {
    Ticker *tickers[BELLS];
    Sim *sim = tower((TickOrder)_i, tickers);
    Recorder recorder = {.act = add_up};
    record_events(&recorder, tickers, 1, 1 << TICKER_HOW);
    run_to(sim, QUANTUM);
    ck_assert_int_eq(tickers[0]->answer,
                     3 * QUANTUM); /* to the last of QUANTUM questions, asked in cycle 3 */
    ck_assert_uint_eq(recorder.count, QUANTUM);
    for (uint64_t cycle = 0; cycle < QUANTUM; cycle++)
        ck_assert_uint_eq(recorder.notes[cycle].cycle, cycle);
    ck_assert_int_eq(tickers[1]->answer, 0);
    sim_free(sim);
}
END_TEST

START_TEST(of_several_answers_the_last_one_counts_and_no_answer_is_none) {
    Ticker *tickers[BELLS];
    Sim *sim = tower(ORDER_PATH, tickers);
    Recorder sum = {.act = add_up}, sometimes = {.act = minus_one_in_cycle_2}, silent = {0};
    int64_t answers[QUANTUM];
    record_events(&sum, tickers, 1, 1 << TICKER_HOW);
    record_events(&sometimes, tickers, 1, 1 << TICKER_HOW);
    record_events(&silent, tickers, 2, 1 << TICKER_HOW);
    for (uint64_t cycle = 0; cycle < QUANTUM; cycle++) {
        ticker_tick(&tickers[0]->obj, sim->clusters[0].now = cycle * tickers[0]->obj.period);
        answers[cycle] = tickers[0]->answer;
    }
    ck_assert_int_eq(answers[1], 6);
    ck_assert_int_eq(answers[2], -1);
    ck_assert_int_eq(answers[3], 12);
    ticker_tick(&tickers[1]->obj, 0);
    ck_assert_int_eq(tickers[1]->answer, NO_ANSWER);
    sim_free(sim);
}
END_TEST

/* --- Failures ------------------------------------------------------------------------------------ */

/* Three clusters of one ticker each. */
static Sim *towers(TickOrder order, uint32_t threads, Ticker *tickers[BELLS]) {
    static const char *const paths[BELLS] = {"north", "south", "west"};
    Sim *sim = empty(order);
    for (int i = 0; i < BELLS; i++)
        tickers[i] = add(sim, paths[i], "core", 1, 1e6);
    sim_set_threads(sim, threads);
    sim_elaborate(sim);
    ck_assert_uint_eq(sim->cluster_count, BELLS);
    return sim;
}

static int64_t fail_in_cycles_5_and_6(Recorder *recorder, SimObject *object, uint64_t cycle,
                                      const int64_t *arguments) {
    char message[64];
    (void)arguments;
    snprintf(message, sizeof message, "%s, %s, %lu", recorder->word, object->path, cycle);
    if (cycle == 5 || cycle == 6) object_fail(object, message);
    return NO_ANSWER;
}

static void run_for_long(void *sim) {
    run_to(sim, 100000);
}

/* Clusters 1 and 2 fail in cycles 5 and 6: the run ends at the boundary after that, 8, in all of them. */
START_TEST(a_failing_subscriber_ends_the_run_at_the_boundary_and_leaves_the_machine_whole) {
    for (TickOrder order = ORDER_PATH; order <= ORDER_SHUFFLED; order++) {
        Ticker *tickers[BELLS];
        Sim *sim = towers(order, (uint32_t[]){1, 2, 3}[_i], tickers);
        Recorder recorders[BELLS] = {0};
        recorders[1] = (Recorder){.act = fail_in_cycles_5_and_6, .word = "first"};
        recorders[2] = (Recorder){.act = fail_in_cycles_5_and_6, .word = "second"};
        for (int i = 0; i < BELLS; i++)
            record_events(&recorders[i], &tickers[i], 1, 1 << TICKER_TICKED);
        ck_assert_str_eq(user_error_catch(run_for_long, sim), "first, south, 5");
        ck_assert_uint_eq(cycle_of(sim), 8);
        for (int i = 0; i < BELLS; i++) {
            expect_sum(tickers[i], 8);
            ck_assert_uint_eq(recorders[i].count, 8);
        }
        ck_assert_uint_eq(sim->faulted, 0);
        sim_check(sim, false);
        sim_free(sim);
    }
}
END_TEST

START_TEST(a_machine_whose_subscriber_failed_fails_again) {
    Ticker *tickers[BELLS];
    Sim *sim = towers(ORDER_PATH, 1, tickers);
    Recorder recorder = {.act = fail_in_cycles_5_and_6, .word = "once"};
    record_events(&recorder, tickers, 1, 1 << TICKER_TICKED);
    ck_assert_str_eq(user_error_catch(run_for_long, sim), "once, north, 5");
    ck_assert_str_eq(user_error_catch(run_for_long, sim), "once, north, 5");
    sim_free(sim);
}
END_TEST

Suite *events_suite(void) {
    Suite *suite = suite_create("events");
    TCase *emitted = tcase_create("emitted"), *questions = tcase_create("questions"),
          *failures = tcase_create("failures");
    tcase_add_loop_test(emitted, what_happened_is_told_when_the_cycle_is_over_in_path_order, 0, 3);
    tcase_add_test(emitted, a_subscriber_gets_the_events_that_it_asked_for_and_no_others);
    tcase_add_test(emitted, all_subscribers_of_an_event_are_called_in_the_order_in_which_they_came);
    tcase_add_test(emitted, who_subscribes_first_withholds_events_from_those_who_came_before);
    tcase_add_loop_test(emitted, what_a_subscriber_passes_on_is_emitted_in_the_place_of_what_it_got, 0, 3);
    tcase_add_loop_test(emitted, a_knob_set_by_a_subscriber_counts_from_the_next_cycle_on, 0, 3);
    tcase_add_loop_test(questions, a_question_is_answered_at_once, 0, 3);
    tcase_add_test(questions, of_several_answers_the_last_one_counts_and_no_answer_is_none);
    tcase_add_loop_test(failures,
                        a_failing_subscriber_ends_the_run_at_the_boundary_and_leaves_the_machine_whole, 0, 3);
    tcase_add_test(failures, a_machine_whose_subscriber_failed_fails_again);
    suite_add_tcase(suite, emitted);
    suite_add_tcase(suite, questions);
    suite_add_tcase(suite, failures);
    return suite;
}
