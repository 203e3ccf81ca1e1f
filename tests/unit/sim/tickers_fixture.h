/* A small class, Ticker, strikes every so many cycles and tells of it; tickers below a tower share its cluster.
 * Recorders subscribe to them, and watchers are called at boundaries of quanta. */
#ifndef WW_TESTS_BELLS_FIXTURE_H
#define WW_TESTS_BELLS_FIXTURE_H

#include "core/sim/event.h"
#include "core/sim/sim.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { QUANTUM = 4, BELLS = 3, NOTES = 256 };

/* --- Tickers ----------------------------------------------------------------------------------- */

typedef struct {
    SimObject obj;
    uint64_t every, strokes; /* parameters */
    uint64_t step;           /* knob */
    uint64_t done;           /* strokes so far */
    uint64_t sum;            /* of the steps */
    int64_t answer;
    uint64_t last_tick; /* cycle */
} Ticker;

enum { TICKER_TICKED, TICKER_ECHO, TICKER_HOW };

static const Question how = {.legal = "whole numbers"};

static const Event ticker_events[] = {
    [TICKER_TICKED] = {"stroke", "sum", NULL, "It struck"},
    [TICKER_ECHO] = {"echo", "sum", NULL, "It struck, once more"},
    [TICKER_HOW] = {"how", "sum, again", &how, "How shall it strike?"},
    {0},
};

static const Field ticker_fields[] = {
    BASE(Ticker),
    PARAM(Ticker, every, "1", "cycles", "From stroke to stroke", .min = 1, .max = 1e9),
    PARAM(Ticker, strokes, "1000000", "strokes", "How many"),
    KNOB(Ticker, step, "units", "What a stroke adds"),
    STATE(Ticker, done, "Strokes so far"),
    VISIBLE(Ticker, sum, "units", "Of all strokes"),
    STATE(Ticker, answer, "To its last question"),
    HOST(Ticker, last_tick, "Cycle of the last tick"),
    FIELDS_END};

static inline void ticker_init(SimObject *object) {
    ((Ticker *)object)->step = 1;
}

/* For this step it need not wake. */
enum { IDLE_STEP = 9 };

static inline bool ticker_knobs_set(SimObject *object) {
    return ((Ticker *)object)->step != IDLE_STEP;
}

static inline uint64_t ticker_tick(SimObject *object, uint64_t now) {
    Ticker *ticker = (Ticker *)object;
    uint64_t cycle = object_cycle(object, now);
    ticker->last_tick = cycle;
    if (ticker->done == ticker->strokes) return NEVER;
    if (cycle % ticker->every == 0) {
        ticker->done++;
        ticker->sum += ticker->step;
        object_emit(object, TICKER_TICKED, (int64_t)ticker->sum);
        object_emit(object, TICKER_ECHO, (int64_t)ticker->sum);
        if (object_has_subscriber(object, TICKER_HOW))
            ticker->answer = event_ask(object, TICKER_HOW, (int64_t)ticker->sum, 2 * (int64_t)ticker->sum);
    }
    return ticker->done == ticker->strokes ? NEVER
                                           : (cycle / ticker->every + 1) * ticker->every * object->period;
}

static const Class ticker_class = {.name = "Ticker",
                                   .doc = "For tests",
                                   .bytes = sizeof(Ticker),
                                   .fields = ticker_fields,
                                   .events = ticker_events,
                                   .init = ticker_init,
                                   .tick = ticker_tick,
                                   .knobs_set = ticker_knobs_set};

static inline Sim *empty(TickOrder order) {
    class_register(&ticker_class);
    Sim *sim = sim_new("tickers");
    sim_clock(sim, "core", 700000000);
    sim_clock(sim, "slow", 350000000);
    sim_set_quantum(sim, QUANTUM);
    sim->order = order;
    sim->order_seed = 5;
    return sim;
}

static inline Ticker *add(Sim *sim, const char *path, const char *clock, double every, double strokes) {
    SimObject *object = sim_add(sim, "Ticker", path, clock);
    object_set_number(object, "every", every);
    object_set_number(object, "strokes", strokes);
    sim_finish_object(object);
    return (Ticker *)object;
}

/* Three tickers in one cluster that strike in every cycle. */
static inline Sim *tower(TickOrder order, Ticker *tickers[BELLS]) {
    static const char *const paths[BELLS] = {"tower", "tower.low", "tower.high"};
    Sim *sim = empty(order);
    for (int i = 0; i < BELLS; i++)
        tickers[i] = add(sim, paths[i], "core", 1, 1e6);
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

static inline void expect_sum(const Ticker *ticker, uint64_t want) {
    ck_assert_msg(ticker->sum == want, "%s: %lu, want %lu", ticker->obj.path, ticker->sum, want);
}

/* --- A subscriber that takes notes --------------------------------------------------------------- */

typedef struct {
    uint32_t object, event;
    int64_t argument;
    uint64_t cycle, sum; /* of all tickers when it was emitted */
} Note;

typedef struct Recorder Recorder;
struct Recorder {
    Subscriber subscriber;
    Note notes[NOTES];
    uint32_t count;
    int64_t (*act)(Recorder *recorder, SimObject *object, uint64_t cycle,
                   const int64_t *arguments); /* or NULL */
    Ticker **tickers;
    const char *word;
};

static inline int64_t handle_event(Subscriber *subscriber, SimObject *object, uint32_t event,
                                   const int64_t *arguments, uint64_t now) {
    Recorder *recorder = (Recorder *)subscriber;
    const Sim *sim = object->sim;
    ck_assert_uint_lt(recorder->count, NOTES);
    Note *note = &recorder->notes[recorder->count++];
    *note = (Note){object->id, event, arguments[0], object_cycle(object, now), 0};
    for (uint32_t i = 0; i < object->cluster->count; i++)
        note->sum += ((const Ticker *)object->cluster->turns[i].object)->sum;
    ck_assert_uint_ge(now, sim->now);
    return recorder->act ? recorder->act(recorder, object, note->cycle, arguments) : NO_ANSWER;
}

static inline void record_events(Recorder *recorder, Ticker *tickers[], uint32_t count, uint32_t events) {
    *recorder = (Recorder){
        .subscriber = {handle_event}, .act = recorder->act, .tickers = tickers, .word = recorder->word};
    for (uint32_t i = 0; i < count; i++)
        object_subscribe(&tickers[i]->obj, &recorder->subscriber, events);
}

/* --- A hook that takes notes --------------------------------------------------------------------- */

typedef struct BoundaryWatcher BoundaryWatcher;
struct BoundaryWatcher {
    uint64_t cycles[NOTES];
    uint32_t count;
    char letter; /* written into *text at every call */
    char *text;
    void (*act)(BoundaryWatcher *watcher, const Sim *sim);
    Ticker *ticker;
};

static inline void note_boundary(void *context, Sim *sim) {
    BoundaryWatcher *watcher = context;
    ck_assert_uint_lt(watcher->count, NOTES);
    ck_assert_uint_eq(sim->now % sim->quantum, 0);
    watcher->cycles[watcher->count++] = cycle_of(sim);
    if (watcher->text) strncat(watcher->text, &watcher->letter, 1);
    if (watcher->act) watcher->act(watcher, sim);
}

#endif
