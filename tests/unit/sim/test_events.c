/* Events: when listeners are told and what they see, questions, failures. */
#include "tests/unit/sim/bells_fixture.h"

/* --- Told events ------------------------------------------------------------------------------- */

START_TEST(what_happened_is_told_when_the_cycle_is_over_in_path_order) {
    Bell *bells[BELLS];
    Sim *sim = tower((TickOrder)_i, bells);
    Ear ear = {0};
    listen(&ear, bells, BELLS, 1 << BELL_STROKE | 1 << BELL_ECHO);
    run_to(sim, 2 * QUANTUM);
    ck_assert_uint_eq(ear.count, 2 * QUANTUM * BELLS * 2);
    for (uint32_t i = 0; i < ear.count; i++) {
        const Note *note = &ear.notes[i];
        uint64_t cycle = i / (2 * BELLS);
        ck_assert_uint_eq(note->cycle, cycle);
        ck_assert_uint_eq(note->object, i / 2 % BELLS);
        ck_assert_uint_eq(note->event, i % 2 ? BELL_ECHO : BELL_STROKE);
        ck_assert_int_eq(note->argument, (int64_t)cycle + 1);
        ck_assert_uint_eq(note->sum, BELLS * (cycle + 1));
    }
    sim_free(sim);
}
END_TEST

START_TEST(a_listener_hears_the_events_that_it_asked_for_and_no_others) {
    Bell *bells[BELLS];
    Sim *sim = tower(ORDER_PATH, bells);
    Ear ear = {0};
    listen(&ear, bells + 1, 1, 1 << BELL_ECHO);
    ck_assert(!object_is_heard(&bells[0]->obj, BELL_ECHO));
    ck_assert(!object_is_heard(&bells[1]->obj, BELL_STROKE));
    ck_assert(object_is_heard(&bells[1]->obj, BELL_ECHO));
    run_to(sim, QUANTUM);
    ck_assert_uint_eq(ear.count, QUANTUM);
    for (uint32_t i = 0; i < ear.count; i++) {
        ck_assert_uint_eq(ear.notes[i].object, 1);
        ck_assert_uint_eq(ear.notes[i].event, BELL_ECHO);
    }
    sim_free(sim);
}
END_TEST

static char spoken[64];

static int64_t speak(Ear *ear, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)object;
    (void)cycle;
    (void)arguments;
    strcat(spoken, ear->word);
    return NO_ANSWER;
}

START_TEST(all_listeners_of_an_event_are_told_in_the_order_in_which_they_came) {
    Bell *bells[BELLS];
    Sim *sim = tower(ORDER_REVERSED, bells);
    Ear first = {.act = speak, .word = "a"}, second = {.act = speak, .word = "b"};
    spoken[0] = 0;
    listen(&first, bells, 2, 1 << BELL_STROKE);
    listen(&second, bells, 2, 1 << BELL_STROKE);
    run_to(sim, QUANTUM);
    ck_assert_str_eq(spoken, "abababababababab"); /* two bells, four cycles */
    sim_free(sim);
}
END_TEST

/* The second bell's stroke in cycle 5 makes the two others add 10. */
static int64_t quicken(Ear *ear, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)object;
    (void)arguments;
    if (cycle == 5) ear->bells[0]->step = ear->bells[2]->step = 10;
    return NO_ANSWER;
}

static int64_t withhold_even(Ear *ear, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)ear;
    (void)object;
    (void)cycle;
    return arguments[0] % 2 ? NO_ANSWER : WITHHELD;
}

START_TEST(who_listens_first_withholds_events_from_those_who_came_before) {
    Bell *bells[BELLS];
    Sim *sim = tower(ORDER_PATH, bells);
    Ear before = {0}, also = {0}, first = {.act = withhold_even};
    listen(&before, bells, 1, 1 << BELL_STROKE);
    listen(&also, bells, 1, 1 << BELL_STROKE | 1 << BELL_ECHO);
    listen(&first, bells, 0, 0);
    object_listen_first(&bells[0]->obj, &first.listener, 1 << BELL_STROKE);
    run_to(sim, QUANTUM);
    ck_assert_uint_eq(first.count, QUANTUM);
    ck_assert_uint_eq(before.count, QUANTUM / 2);
    ck_assert_uint_eq(also.count, QUANTUM / 2 + QUANTUM); /* all the echoes */
    for (uint32_t i = 0; i < before.count; i++)
        ck_assert_int_eq(before.notes[i].argument, 2 * i + 1);
    sim_free(sim);
}
END_TEST

static int64_t pass_on(Ear *ear, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)object, (void)cycle;
    event_pass_on(&ear->bells[1]->obj, BELL_ECHO, 100 + arguments[0]);
    event_pass_on(&ear->bells[2]->obj, BELL_ECHO, 200); /* nobody listens */
    return NO_ANSWER;
}

START_TEST(what_a_listener_passes_on_is_told_in_the_place_of_what_it_heard) {
    Bell *bells[BELLS];
    Sim *sim = tower((TickOrder)_i, bells);
    Ear first = {.act = pass_on}, second = {0};
    listen(&first, bells, 1, 1 << BELL_STROKE);
    first.bells = bells;
    listen(&second, bells, 2, 1 << BELL_ECHO);
    run_to(sim, QUANTUM);
    ck_assert_uint_eq(second.count, 3 * QUANTUM);
    for (uint32_t i = 0; i < second.count; i++) {
        int64_t cycle = i / 3;
        ck_assert_uint_eq(second.notes[i].cycle, (uint64_t)cycle);
        ck_assert_uint_eq(second.notes[i].event, BELL_ECHO);
        ck_assert_uint_eq(second.notes[i].object, i % 3 != 1); /* before the first bell's own echo */
        ck_assert_int_eq(second.notes[i].argument, (i % 3 ? 0 : 100) + cycle + 1);
    }
    sim_free(sim);
}
END_TEST

START_TEST(a_knob_set_by_a_listener_counts_from_the_next_cycle_on) {
    Bell *bells[BELLS];
    Sim *sim = tower((TickOrder)_i, bells);
    Ear ear = {.act = quicken}, watch = {0};
    listen(&ear, bells + 1, 1, 1 << BELL_STROKE);
    ear.bells = bells;
    listen(&watch, bells, BELLS, 1 << BELL_STROKE);
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

static int64_t add_up(Ear *ear, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)ear;
    (void)object;
    (void)cycle;
    return arguments[0] + arguments[1];
}

static int64_t minus_one_in_cycle_2(Ear *ear, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)ear;
    (void)object;
    (void)arguments;
    return cycle == 2 ? -1 : NO_ANSWER;
}

START_TEST(a_question_is_answered_at_once) {
    Bell *bells[BELLS];
    Sim *sim = tower((TickOrder)_i, bells);
    Ear ear = {.act = add_up};
    listen(&ear, bells, 1, 1 << BELL_HOW);
    run_to(sim, QUANTUM);
    ck_assert_int_eq(bells[0]->answer, 3 * QUANTUM); /* to the last of QUANTUM questions, asked in cycle 3 */
    ck_assert_uint_eq(ear.count, QUANTUM);
    for (uint64_t cycle = 0; cycle < QUANTUM; cycle++)
        ck_assert_uint_eq(ear.notes[cycle].cycle, cycle);
    ck_assert_int_eq(bells[1]->answer, 0);
    sim_free(sim);
}
END_TEST

START_TEST(of_several_answers_the_last_one_counts_and_no_answer_is_none) {
    Bell *bells[BELLS];
    Sim *sim = tower(ORDER_PATH, bells);
    Ear sum = {.act = add_up}, sometimes = {.act = minus_one_in_cycle_2}, silent = {0};
    int64_t answers[QUANTUM];
    listen(&sum, bells, 1, 1 << BELL_HOW);
    listen(&sometimes, bells, 1, 1 << BELL_HOW);
    listen(&silent, bells, 2, 1 << BELL_HOW);
    for (uint64_t cycle = 0; cycle < QUANTUM; cycle++) {
        bell_tick(&bells[0]->obj, sim->clusters[0].now = cycle * bells[0]->obj.period);
        answers[cycle] = bells[0]->answer;
    }
    ck_assert_int_eq(answers[1], 6);
    ck_assert_int_eq(answers[2], -1);
    ck_assert_int_eq(answers[3], 12);
    bell_tick(&bells[1]->obj, 0);
    ck_assert_int_eq(bells[1]->answer, NO_ANSWER);
    sim_free(sim);
}
END_TEST

/* --- Failures ------------------------------------------------------------------------------------ */

/* Three clusters of one bell each. */
static Sim *towers(TickOrder order, uint32_t threads, Bell *bells[BELLS]) {
    static const char *const paths[BELLS] = {"north", "south", "west"};
    Sim *sim = empty(order);
    for (int i = 0; i < BELLS; i++)
        bells[i] = add(sim, paths[i], "core", 1, 1e6);
    sim_set_threads(sim, threads);
    sim_elaborate(sim);
    ck_assert_uint_eq(sim->cluster_count, BELLS);
    return sim;
}

static int64_t fail_in_cycles_5_and_6(Ear *ear, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    char message[64];
    (void)arguments;
    snprintf(message, sizeof message, "%s, %s, %lu", ear->word, object->path, cycle);
    if (cycle == 5 || cycle == 6) object_fail(object, message);
    return NO_ANSWER;
}

static void run_for_long(void *sim) {
    run_to(sim, 100000);
}

/* Clusters 1 and 2 fail in cycles 5 and 6: the run ends at the boundary after that, 8, in all of them. */
START_TEST(a_failing_listener_ends_the_run_at_the_boundary_and_leaves_the_machine_whole) {
    for (TickOrder order = ORDER_PATH; order <= ORDER_SHUFFLED; order++) {
        Bell *bells[BELLS];
        Sim *sim = towers(order, (uint32_t[]){1, 2, 3}[_i], bells);
        Ear ears[BELLS] = {0};
        ears[1] = (Ear){.act = fail_in_cycles_5_and_6, .word = "first"};
        ears[2] = (Ear){.act = fail_in_cycles_5_and_6, .word = "second"};
        for (int i = 0; i < BELLS; i++)
            listen(&ears[i], &bells[i], 1, 1 << BELL_STROKE);
        ck_assert_str_eq(user_error_catch(run_for_long, sim), "first, south, 5");
        ck_assert_uint_eq(cycle_of(sim), 8);
        for (int i = 0; i < BELLS; i++) {
            expect_sum(bells[i], 8);
            ck_assert_uint_eq(ears[i].count, 8);
        }
        ck_assert_uint_eq(sim->faulted, 0);
        sim_check(sim, false);
        sim_free(sim);
    }
}
END_TEST

START_TEST(a_machine_whose_listener_failed_fails_again) {
    Bell *bells[BELLS];
    Sim *sim = towers(ORDER_PATH, 1, bells);
    Ear ear = {.act = fail_in_cycles_5_and_6, .word = "once"};
    listen(&ear, bells, 1, 1 << BELL_STROKE);
    ck_assert_str_eq(user_error_catch(run_for_long, sim), "once, north, 5");
    ck_assert_str_eq(user_error_catch(run_for_long, sim), "once, north, 5");
    sim_free(sim);
}
END_TEST

Suite *events_suite(void) {
    Suite *suite = suite_create("events");
    TCase *told = tcase_create("told"), *questions = tcase_create("questions"),
          *failures = tcase_create("failures");
    tcase_add_loop_test(told, what_happened_is_told_when_the_cycle_is_over_in_path_order, 0, 3);
    tcase_add_test(told, a_listener_hears_the_events_that_it_asked_for_and_no_others);
    tcase_add_test(told, all_listeners_of_an_event_are_told_in_the_order_in_which_they_came);
    tcase_add_test(told, who_listens_first_withholds_events_from_those_who_came_before);
    tcase_add_loop_test(told, what_a_listener_passes_on_is_told_in_the_place_of_what_it_heard, 0, 3);
    tcase_add_loop_test(told, a_knob_set_by_a_listener_counts_from_the_next_cycle_on, 0, 3);
    tcase_add_loop_test(questions, a_question_is_answered_at_once, 0, 3);
    tcase_add_test(questions, of_several_answers_the_last_one_counts_and_no_answer_is_none);
    tcase_add_loop_test(failures,
                        a_failing_listener_ends_the_run_at_the_boundary_and_leaves_the_machine_whole, 0, 3);
    tcase_add_test(failures, a_machine_whose_listener_failed_fails_again);
    suite_add_tcase(suite, told);
    suite_add_tcase(suite, questions);
    suite_add_tcase(suite, failures);
    return suite;
}
