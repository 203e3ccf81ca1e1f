/* Events: when listeners are told and what they see, questions, failures, and hooks at quantum boundaries. A
 * small class, Bell, strikes every so many cycles and tells of it; bells below a tower share its cluster. */
#include "core/lua/policy_object.h"
#include "core/sim/snapshot.h"

#include <check.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

Suite *events_suite(void);

enum { QUANTUM = 4, BELLS = 3, NOTES = 256 };

/* --- Bells ----------------------------------------------------------------------------------- */

typedef struct {
    SimObject obj;
    uint64_t every, strokes; /* parameters */
    uint64_t step;           /* knob */
    uint64_t done;           /* strokes so far */
    uint64_t sum;            /* of the steps */
    int64_t answer;
    uint64_t last_tick; /* cycle */
} Bell;

enum { BELL_STROKE, BELL_ECHO, BELL_HOW };

static const Event bell_events[] = {
    [BELL_STROKE] = {"stroke", "sum", false, "It struck"},
    [BELL_ECHO] = {"echo", "sum", false, "It struck, once more"},
    [BELL_HOW] = {"how", "sum, again", true, "How shall it strike?"},
    {0},
};

static const Field bell_fields[] = {
    BASE(Bell),
    PARAM(Bell, every, "1", "cycles", "From stroke to stroke", .min = 1, .max = 1e9),
    PARAM(Bell, strokes, "1000000", "strokes", "How many"),
    KNOB(Bell, step, "units", "What a stroke adds"),
    STATE(Bell, done, "Strokes so far"),
    VISIBLE(Bell, sum, "units", "Of all strokes"),
    STATE(Bell, answer, "To its last question"),
    HOST(Bell, last_tick, "Cycle of the last tick"),
    FIELDS_END};

static void bell_init(SimObject *object) {
    ((Bell *)object)->step = 1;
}

/* For this step it need not wake. */
enum { IDLE_STEP = 9 };

static bool bell_knobs_set(SimObject *object) {
    return ((Bell *)object)->step != IDLE_STEP;
}

static uint64_t bell_tick(SimObject *object, uint64_t now) {
    Bell *bell = (Bell *)object;
    uint64_t cycle = object_cycle(object, now);
    bell->last_tick = cycle;
    if (bell->done == bell->strokes) return NEVER;
    if (cycle % bell->every == 0) {
        bell->done++;
        bell->sum += bell->step;
        object_tell(object, BELL_STROKE, (int64_t)bell->sum, 0, 0, 0);
        object_tell(object, BELL_ECHO, (int64_t)bell->sum, 0, 0, 0);
        if (object_is_heard(object, BELL_HOW))
            bell->answer = event_ask(object, BELL_HOW, (int64_t)bell->sum, 2 * (int64_t)bell->sum, 0, 0);
    }
    return bell->done == bell->strokes ? NEVER : (cycle / bell->every + 1) * bell->every * object->period;
}

static const Class bell_class = {.name = "Bell",
                                 .doc = "For tests",
                                 .bytes = sizeof(Bell),
                                 .fields = bell_fields,
                                 .events = bell_events,
                                 .init = bell_init,
                                 .tick = bell_tick,
                                 .knobs_set = bell_knobs_set};

static Sim *empty(TickOrder order) {
    class_register(&bell_class);
    Sim *sim = sim_new("bells");
    sim_clock(sim, "core", 700000000);
    sim_clock(sim, "slow", 350000000);
    sim_set_quantum(sim, QUANTUM);
    sim->order = order;
    sim->order_seed = 5;
    return sim;
}

static Bell *add(Sim *sim, const char *path, const char *clock, double every, double strokes) {
    SimObject *object = sim_add(sim, "Bell", path, clock);
    object_set_number(object, "every", every);
    object_set_number(object, "strokes", strokes);
    sim_finish_object(object);
    return (Bell *)object;
}

/* Three bells in one cluster that strike in every cycle. */
static Sim *tower(TickOrder order, Bell *bells[BELLS]) {
    static const char *const paths[BELLS] = {"tower", "tower.low", "tower.high"};
    Sim *sim = empty(order);
    for (int i = 0; i < BELLS; i++)
        bells[i] = add(sim, paths[i], "core", 1, 1e6);
    sim_elaborate(sim);
    ck_assert_uint_eq(sim->cluster_count, 1);
    return sim;
}

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

static void run_to(Sim *sim, uint64_t cycle) {
    sim_run(sim, cycle * sim->clocks[0].period);
}

static uint64_t cycle_of(const Sim *sim) {
    return clock_cycle(&sim->clocks[0], sim->now);
}

/* --- A listener that takes notes --------------------------------------------------------------- */

typedef struct {
    uint32_t object, event;
    int64_t argument;
    uint64_t cycle, sum; /* of all bells when it was told */
} Note;

typedef struct Ear Ear;
struct Ear {
    Listener listener;
    Note notes[NOTES];
    uint32_t count;
    int64_t (*act)(Ear *ear, SimObject *object, uint64_t cycle, const int64_t *arguments); /* or NULL */
    Bell **bells;
    const char *word;
};

static int64_t hear(Listener *listener, SimObject *object, uint32_t event, const int64_t *arguments,
                    uint64_t now) {
    Ear *ear = (Ear *)listener;
    const Sim *sim = object->sim;
    ck_assert_uint_lt(ear->count, NOTES);
    Note *note = &ear->notes[ear->count++];
    *note = (Note){object->id, event, arguments[0], object_cycle(object, now), 0};
    for (uint32_t i = 0; i < object->cluster->count; i++)
        note->sum += ((const Bell *)object->cluster->turns[i].object)->sum;
    ck_assert_uint_ge(now, sim->now);
    return ear->act ? ear->act(ear, object, note->cycle, arguments) : NO_ANSWER;
}

static void listen(Ear *ear, Bell *bells[], uint32_t count, uint32_t events) {
    *ear = (Ear){.listener = {hear}, .act = ear->act, .bells = bells, .word = ear->word};
    for (uint32_t i = 0; i < count; i++)
        object_listen(&bells[i]->obj, &ear->listener, events);
}

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

static void expect_sum(const Bell *bell, uint64_t want) {
    ck_assert_msg(bell->sum == want, "%s: %lu, want %lu", bell->obj.path, bell->sum, want);
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

/* --- Hooks at boundaries ------------------------------------------------------------------------- */

typedef struct Clerk Clerk;
struct Clerk {
    uint64_t cycles[NOTES];
    uint32_t count;
    char letter; /* written into *text at every call */
    char *text;
    void (*act)(Clerk *clerk, const Sim *sim);
    Bell *bell;
};

static void note_boundary(void *context, Sim *sim) {
    Clerk *clerk = context;
    ck_assert_uint_lt(clerk->count, NOTES);
    ck_assert_uint_eq(sim->now % sim->quantum, 0);
    clerk->cycles[clerk->count++] = cycle_of(sim);
    if (clerk->text) strncat(clerk->text, &clerk->letter, 1);
    if (clerk->act) clerk->act(clerk, sim);
}

/* The boundary at or after each multiple of `every` up to `end`, each once. */
static void expect_boundaries(const Clerk *clerk, uint64_t every, uint64_t from, uint64_t end) {
    uint32_t count = 0;
    uint64_t last = from;
    for (uint64_t due = every; due <= end; due += every) {
        uint64_t boundary = (due + QUANTUM - 1) / QUANTUM * QUANTUM;
        if (boundary <= last || boundary > end) continue;
        ck_assert_uint_lt(count, clerk->count);
        ck_assert_uint_eq(clerk->cycles[count], last = boundary);
        count++;
    }
    ck_assert_uint_eq(clerk->count, count);
}

START_TEST(a_periodic_hook_is_called_at_the_first_boundary_at_or_after_each_multiple) {
    uint64_t every = (uint64_t[]){1, 3, 4, 6, 7, 8, 50}[_i];
    Bell *bells[BELLS];
    Sim *sim = tower(ORDER_PATH, bells);
    Clerk clerk = {0};
    sim_every(sim, every, note_boundary, &clerk);
    run_to(sim, 200);
    expect_boundaries(&clerk, every, 0, 200);
    sim_free(sim);
}
END_TEST

START_TEST(it_is_called_while_the_machine_sleeps_through_many_quanta) {
    Sim *sim = empty(ORDER_PATH);
    Clerk clerk = {0};
    Bell *bell = add(sim, "bell", "core", 1000, 4);
    sim_elaborate(sim);
    sim_every(sim, 30, note_boundary, &clerk);
    run_to(sim, 10 * QUANTUM); /* in two parts: the first ends between two calls */
    run_to(sim, 2000);
    expect_boundaries(&clerk, 30, 0, 2000);
    ck_assert_uint_eq(bell->done, 2);
    sim_free(sim);
}
END_TEST

START_TEST(it_is_not_called_once_the_machine_has_nothing_to_do) {
    Sim *sim = empty(ORDER_PATH);
    Clerk clerk = {0};
    add(sim, "bell", "core", 10, 3); /* in cycles 0, 10 and 20 */
    sim_elaborate(sim);
    sim_every(sim, 8, note_boundary, &clerk);
    ck_assert_int_eq(sim_run(sim, 10000 * sim->quantum), STOP_IDLE);
    expect_boundaries(&clerk, 8, 0, 24);
    sim_free(sim);
}
END_TEST

START_TEST(hooks_that_are_due_at_once_are_called_in_the_order_in_which_they_were_added) {
    Bell *bells[BELLS];
    Sim *sim = tower(ORDER_REVERSED, bells);
    char text[32] = "";
    Clerk first = {.letter = 'a', .text = text}, second = {.letter = 'b', .text = text};
    sim_every(sim, 12, note_boundary, &first);
    sim_every(sim, 8, note_boundary, &second);
    run_to(sim, 24);
    ck_assert_str_eq(text, "bab"
                           "ab"); /* 8: b, 12: a, 16: b, 24: both */
    sim_free(sim);
}
END_TEST

static void quicken_at_8(Clerk *clerk, const Sim *sim) {
    if (cycle_of(sim) == 8) clerk->bell->step = 10;
}

START_TEST(a_knob_set_at_a_boundary_counts_in_the_cycle_that_begins_there) {
    Bell *bells[BELLS];
    Sim *sim = tower(ORDER_PATH, bells);
    Clerk clerk = {.act = quicken_at_8, .bell = bells[1]};
    Ear ear = {0};
    sim_every(sim, QUANTUM, note_boundary, &clerk);
    listen(&ear, bells + 1, 1, 1 << BELL_STROKE);
    run_to(sim, 12);
    ck_assert_int_eq(ear.notes[7].argument, 8);
    ck_assert_int_eq(ear.notes[8].argument, 18);
    sim_free(sim);
}
END_TEST

/* Saved at each boundary in turn, and loaded into a machine that has made its hook at time 0. */
START_TEST(after_a_snapshot_was_loaded_hooks_come_when_they_would_have_come) {
    enum { EVERY = 10 };
    char why[256];
    for (uint64_t boundary = QUANTUM; boundary <= 32; boundary += QUANTUM) {
        Bell *bells[BELLS];
        Clerk before = {0}, after = {0};
        Buffer buffer = {0};
        Sim *sim = tower(ORDER_PATH, bells);
        sim_every(sim, EVERY, note_boundary, &before);
        run_to(sim, boundary);
        sim_save(sim, &buffer);
        sim_free(sim);
        sim = tower(ORDER_PATH, bells);
        sim_every(sim, EVERY, note_boundary, &after);
        Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
        ck_assert_msg(sim_load(sim, &reader, NULL, why, sizeof why), "%s", why);
        run_to(sim, 60);
        expect_boundaries(&before, EVERY, 0, boundary);
        expect_boundaries(&after, EVERY, boundary, 60);
        expect_sum(bells[0], 60);
        buffer_free(&buffer);
        sim_free(sim);
    }
}
END_TEST

/* --- Handles in Lua: knobs wake a sleeper --------------------------------------------------------- */

static lua_State *L;

static int64_t turn_knob(Ear *ear, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)ear;
    (void)object;
    (void)arguments;
    if (cycle == 5) ck_assert_msg(luaL_dostring(L, "sleeper.step = 7") == LUA_OK, "%s", lua_tostring(L, -1));
    return NO_ANSWER;
}

/* A bell that strikes in every cycle, above one that would sleep for long. */
static Sim *sleeper_below(TickOrder order, const char *clock, Bell *bells[2]) {
    Sim *sim = empty(order);
    bells[0] = add(sim, "tower", "core", 1, 1e6);
    bells[1] = add(sim, "tower.sleeper", clock, 1e5, 1e6);
    sim_elaborate(sim);
    L = luaL_newstate();
    policy_object_push(L, &bells[1]->obj);
    lua_setglobal(L, "sleeper");
    return sim;
}

static void close_sleeper(Sim *sim) {
    lua_close(L);
    sim_free(sim);
}

START_TEST(setting_a_knob_wakes_a_sleeper_in_the_next_cycle) {
    Bell *bells[2];
    Sim *sim = sleeper_below((TickOrder)_i, "core", bells);
    Ear ear = {.act = turn_knob};
    listen(&ear, bells, 1, 1 << BELL_STROKE);
    run_to(sim, 2 * QUANTUM);
    ck_assert_uint_eq(bells[1]->last_tick, 6);
    ck_assert_uint_eq(bells[1]->step, 7);
    close_sleeper(sim);
}
END_TEST

START_TEST(setting_a_knob_wakes_a_sleeper_of_a_slower_clock_at_its_next_edge) {
    Bell *bells[2];
    Sim *sim = sleeper_below((TickOrder)_i, "slow", bells);
    Ear ear = {.act = turn_knob};
    listen(&ear, bells, 1, 1 << BELL_STROKE);
    run_to(sim, 2 * QUANTUM);
    ck_assert_uint_eq(bells[1]->last_tick, 3); /* its third cycle is the core's sixth */
    close_sleeper(sim);
}
END_TEST

static int64_t turn_knob_to_idle(Ear *ear, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)ear, (void)object, (void)arguments;
    if (cycle == 5) ck_assert_int_eq(luaL_dostring(L, "sleeper.step = 9"), LUA_OK);
    return NO_ANSWER;
}

START_TEST(a_sleeper_that_has_nothing_to_do_under_its_knobs_sleeps_on) {
    Bell *bells[2];
    Sim *sim = sleeper_below((TickOrder)_i, "core", bells);
    Ear ear = {.act = turn_knob_to_idle};
    listen(&ear, bells, 1, 1 << BELL_STROKE);
    run_to(sim, 2 * QUANTUM);
    ck_assert_uint_eq(bells[1]->last_tick, 0);
    ck_assert_uint_eq(bells[1]->step, IDLE_STEP);
    close_sleeper(sim);
}
END_TEST

static void turn_knob_at_8(Clerk *clerk, const Sim *sim) {
    (void)clerk;
    if (cycle_of(sim) == 8) ck_assert_int_eq(luaL_dostring(L, "sleeper.step = sleeper.step + 1"), LUA_OK);
}

START_TEST(setting_a_knob_at_a_boundary_wakes_a_sleeper_in_the_cycle_that_begins_there) {
    Bell *bells[2];
    Sim *sim = sleeper_below(ORDER_PATH, _i ? "slow" : "core", bells);
    Clerk clerk = {.act = turn_knob_at_8};
    sim_every(sim, 8, note_boundary, &clerk);
    run_to(sim, 12);
    ck_assert_uint_eq(bells[1]->last_tick, _i ? 4 : 8);
    ck_assert_uint_eq(bells[1]->step, 2);
    close_sleeper(sim);
}
END_TEST

static int64_t apply_setting(Ear *ear, SimObject *object, uint64_t cycle, const int64_t *arguments) {
    (void)ear;
    (void)object;
    (void)arguments;
    if (cycle == 5 || cycle == 8)
        ck_assert_msg(luaL_dostring(L, "apply()") == LUA_OK, "%s", lua_tostring(L, -1));
    return NO_ANSWER;
}

START_TEST(a_setting_sets_its_knobs_when_it_is_called_and_wakes_if_one_had_another_value) {
    Bell *bells[2];
    Sim *sim = sleeper_below((TickOrder)_i, "core", bells);
    Ear ear = {.act = apply_setting};
    listen(&ear, bells, 1, 1 << BELL_STROKE);
    ck_assert_int_eq(luaL_dostring(L, "apply = sleeper:setting { step = 7 }"), LUA_OK);
    ck_assert_uint_eq(bells[1]->step, 1);
    run_to(sim, 3 * QUANTUM);
    ck_assert_uint_eq(bells[1]->step, 7);
    ck_assert_uint_eq(bells[1]->last_tick, 6); /* not 9: it had this value */
    close_sleeper(sim);
}
END_TEST

START_TEST(a_setting_of_several_objects_wakes_those_of_which_it_changes_a_knob) {
    Bell *bells[2];
    Sim *sim = sleeper_below((TickOrder)_i, "core", bells);
    Ear ear = {.act = apply_setting};
    listen(&ear, bells, 1, 1 << BELL_STROKE);
    policy_object_push(L, &bells[0]->obj);
    lua_setglobal(L, "tower");
    ck_assert_int_eq(luaL_dostring(L, "apply = sleeper:setting({ step = 7 }, tower, { step = 1 })"), LUA_OK);
    run_to(sim, 3 * QUANTUM);
    ck_assert_uint_eq(bells[1]->step, 7);
    ck_assert_uint_eq(bells[1]->last_tick, 6);
    ck_assert_uint_eq(bells[0]->step, 1);
    ck_assert_int_eq(luaL_dostring(L, "tower:setting({ step = 2 }, sleeper, { step = 3 })()"), LUA_OK);
    ck_assert_uint_eq(bells[0]->step, 2);
    ck_assert_uint_eq(bells[1]->step, 3);
    close_sleeper(sim);
}
END_TEST

START_TEST(a_setting_is_checked_when_it_is_written_down) {
    Bell *bells[2];
    Sim *sim = sleeper_below(ORDER_PATH, "core", bells);
    static const char *const refused[] = {"sleeper:setting { sum = 1 }",
                                          "sleeper:setting { none = 1 }",
                                          "sleeper:setting { step = 1.5 }",
                                          "sleeper:setting { step = '7' }",
                                          "sleeper:setting(7)",
                                          "sleeper:setting({ step = 7 }, sleeper)",
                                          "sleeper:setting({ step = 7 }, 7, { step = 7 })",
                                          "sleeper.setting({}, { step = 7 })"};
    static const char *const why[] = {"no knob 'sum'",
                                      "no knob 'none'",
                                      "step: 1.5",
                                      "step: 7",
                                      "table expected",
                                      "table expected",
                                      "warpwright.policy_object expected",
                                      "warpwright.policy_object expected"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ck_assert_msg(luaL_dostring(L, refused[i]) != LUA_OK, "%s", refused[i]);
        ck_assert_msg(strstr(lua_tostring(L, -1), why[i]) != NULL, "%s", lua_tostring(L, -1));
    }
    ck_assert_uint_eq(bells[1]->step, 1);
    close_sleeper(sim);
}
END_TEST

START_TEST(a_handle_is_known_by_its_type) {
    Bell *bells[2];
    Sim *sim = sleeper_below(ORDER_PATH, "core", bells);
    memset(lua_newuserdatauv(L, 2 * sizeof(void *), 0), 0, 2 * sizeof(void *)); /* as large as a handle */
    lua_setglobal(L, "stranger");
    lua_newuserdatauv(L, 0, 0);
    lua_setglobal(L, "nothing");
    static const char *const strangers[] = {"stranger", "nothing", "nil", "7", "'sleeper'", "{}"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        const char *code = lua_pushfstring(L, "sleeper.setting(%s, {})", strangers[i]);
        ck_assert_msg(luaL_dostring(L, code) != LUA_OK, "%s", code);
    }
    close_sleeper(sim);
}
END_TEST

START_TEST(state_that_is_no_knob_can_be_read_and_not_set) {
    Bell *bells[2];
    Sim *sim = sleeper_below(ORDER_PATH, "core", bells);
    bells[1]->sum = 5;
    ck_assert_int_eq(luaL_dostring(L, "return sleeper.sum, sleeper.every, sleeper.step"), LUA_OK);
    ck_assert_int_eq(lua_tointeger(L, -3), 5);
    ck_assert_int_eq(lua_tointeger(L, -2), 100000);
    ck_assert_int_eq(lua_tointeger(L, -1), 1);
    static const char *const refused[] = {"sleeper.sum = 1",   "sleeper.done = 1",   "return sleeper.done",
                                          "sleeper.every = 1", "sleeper.step = 1.5", "sleeper.step = '7'"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        ck_assert_msg(luaL_dostring(L, refused[i]) != LUA_OK, "%s", refused[i]);
    ck_assert_uint_eq(bells[1]->sum, 5);
    ck_assert_uint_eq(bells[1]->step, 1);
    close_sleeper(sim);
}
END_TEST

Suite *events_suite(void) {
    Suite *suite = suite_create("events");
    TCase *told = tcase_create("told"), *questions = tcase_create("questions"),
          *failures = tcase_create("failures"), *hooks = tcase_create("hooks"),
          *knobs = tcase_create("knobs");
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
    tcase_add_loop_test(hooks, a_periodic_hook_is_called_at_the_first_boundary_at_or_after_each_multiple, 0,
                        7);
    tcase_add_test(hooks, it_is_called_while_the_machine_sleeps_through_many_quanta);
    tcase_add_test(hooks, it_is_not_called_once_the_machine_has_nothing_to_do);
    tcase_add_test(hooks, hooks_that_are_due_at_once_are_called_in_the_order_in_which_they_were_added);
    tcase_add_test(hooks, a_knob_set_at_a_boundary_counts_in_the_cycle_that_begins_there);
    tcase_add_test(hooks, after_a_snapshot_was_loaded_hooks_come_when_they_would_have_come);
    tcase_add_loop_test(knobs, setting_a_knob_wakes_a_sleeper_in_the_next_cycle, 0, 3);
    tcase_add_loop_test(knobs, a_sleeper_that_has_nothing_to_do_under_its_knobs_sleeps_on, 0, 3);
    tcase_add_loop_test(knobs, a_setting_sets_its_knobs_when_it_is_called_and_wakes_if_one_had_another_value,
                        0, 3);
    tcase_add_loop_test(knobs, a_setting_of_several_objects_wakes_those_of_which_it_changes_a_knob, 0, 3);
    tcase_add_test(knobs, a_setting_is_checked_when_it_is_written_down);
    tcase_add_test(knobs, a_handle_is_known_by_its_type);
    tcase_add_loop_test(knobs, setting_a_knob_wakes_a_sleeper_of_a_slower_clock_at_its_next_edge, 0, 3);
    tcase_add_loop_test(knobs, setting_a_knob_at_a_boundary_wakes_a_sleeper_in_the_cycle_that_begins_there, 0,
                        2);
    tcase_add_test(knobs, state_that_is_no_knob_can_be_read_and_not_set);
    suite_add_tcase(suite, told);
    suite_add_tcase(suite, questions);
    suite_add_tcase(suite, failures);
    suite_add_tcase(suite, hooks);
    suite_add_tcase(suite, knobs);
    return suite;
}
