/* A small class, Bell, strikes every so many cycles and tells of it; bells below a tower share its cluster.
 * Ears hear them, and clerks are called at boundaries of quanta. */
#ifndef WW_TESTS_BELLS_FIXTURE_H
#define WW_TESTS_BELLS_FIXTURE_H

#include "core/sim/event.h"
#include "core/sim/sim.h"
#include "tests/unit/suites.h"

#include <string.h>

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

static const Question how = {.legal = "whole numbers"};

static const Event bell_events[] = {
    [BELL_STROKE] = {"stroke", "sum", NULL, "It struck"},
    [BELL_ECHO] = {"echo", "sum", NULL, "It struck, once more"},
    [BELL_HOW] = {"how", "sum, again", &how, "How shall it strike?"},
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

static inline void bell_init(SimObject *object) {
    ((Bell *)object)->step = 1;
}

/* For this step it need not wake. */
enum { IDLE_STEP = 9 };

static inline bool bell_knobs_set(SimObject *object) {
    return ((Bell *)object)->step != IDLE_STEP;
}

static inline uint64_t bell_tick(SimObject *object, uint64_t now) {
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

static inline Sim *empty(TickOrder order) {
    class_register(&bell_class);
    Sim *sim = sim_new("bells");
    sim_clock(sim, "core", 700000000);
    sim_clock(sim, "slow", 350000000);
    sim_set_quantum(sim, QUANTUM);
    sim->order = order;
    sim->order_seed = 5;
    return sim;
}

static inline Bell *add(Sim *sim, const char *path, const char *clock, double every, double strokes) {
    SimObject *object = sim_add(sim, "Bell", path, clock);
    object_set_number(object, "every", every);
    object_set_number(object, "strokes", strokes);
    sim_finish_object(object);
    return (Bell *)object;
}

/* Three bells in one cluster that strike in every cycle. */
static inline Sim *tower(TickOrder order, Bell *bells[BELLS]) {
    static const char *const paths[BELLS] = {"tower", "tower.low", "tower.high"};
    Sim *sim = empty(order);
    for (int i = 0; i < BELLS; i++)
        bells[i] = add(sim, paths[i], "core", 1, 1e6);
    sim_elaborate(sim);
    ck_assert_uint_eq(sim->cluster_count, 1);
    return sim;
}

static inline void run_to(Sim *sim, uint64_t cycle) {
    sim_run(sim, cycle * sim->clocks[0].period);
}

static inline uint64_t cycle_of(const Sim *sim) {
    return clock_cycle(&sim->clocks[0], sim->now);
}

static inline void expect_sum(const Bell *bell, uint64_t want) {
    ck_assert_msg(bell->sum == want, "%s: %lu, want %lu", bell->obj.path, bell->sum, want);
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

static inline int64_t hear(Listener *listener, SimObject *object, uint32_t event, const int64_t *arguments,
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

static inline void listen(Ear *ear, Bell *bells[], uint32_t count, uint32_t events) {
    *ear = (Ear){.listener = {hear}, .act = ear->act, .bells = bells, .word = ear->word};
    for (uint32_t i = 0; i < count; i++)
        object_listen(&bells[i]->obj, &ear->listener, events);
}

/* --- A hook that takes notes --------------------------------------------------------------------- */

typedef struct Clerk Clerk;
struct Clerk {
    uint64_t cycles[NOTES];
    uint32_t count;
    char letter; /* written into *text at every call */
    char *text;
    void (*act)(Clerk *clerk, const Sim *sim);
    Bell *bell;
};

static inline void note_boundary(void *context, Sim *sim) {
    Clerk *clerk = context;
    ck_assert_uint_lt(clerk->count, NOTES);
    ck_assert_uint_eq(sim->now % sim->quantum, 0);
    clerk->cycles[clerk->count++] = cycle_of(sim);
    if (clerk->text) strncat(clerk->text, &clerk->letter, 1);
    if (clerk->act) clerk->act(clerk, sim);
}

#endif
