/* Handles of objects in Lua: knobs, which wake a sleeper; settings; what can be read and not set. */
#include "core/lua/policy/policy_object.h"
#include "tests/unit/sim/tickers_fixture.h"

#include <lauxlib.h>
#include <lualib.h>

static lua_State *L;

/* A ticker that strikes in every cycle, above one that would sleep for long. */
static Sim *sleeper_below(TickOrder order, const char *clock, Ticker *tickers[2]) {
    Sim *sim = empty(order);
    tickers[0] = add(sim, "tower", "core", 1, 1e6);
    tickers[1] = add(sim, "tower.sleeper", clock, 1e5, 1e6);
    sim_elaborate(sim);
    L = luaL_newstate();
    policy_object_push(L, &tickers[1]->obj);
    lua_setglobal(L, "sleeper");
    return sim;
}

static void close_sleeper(Sim *sim) {
    lua_close(L);
    sim_free(sim);
}

static int64_t run_in_cycle_5(Recorder *recorder, SimObject *object, uint64_t cycle,
                              const int64_t *arguments) {
    (void)object, (void)arguments;
    if (cycle == 5) ck_assert_msg(luaL_dostring(L, recorder->word) == LUA_OK, "%s", lua_tostring(L, -1));
    return NO_ANSWER;
}

static void expect_sleeper(TickOrder order, const char *clock, const char *code_in_cycle_5,
                           uint64_t last_tick, uint64_t step) {
    Ticker *tickers[2];
    Sim *sim = sleeper_below(order, clock, tickers);
    Recorder recorder = {.act = run_in_cycle_5, .word = code_in_cycle_5};
    record_events(&recorder, tickers, 1, 1 << TICKER_TICKED);
    run_to(sim, 2 * QUANTUM);
    ck_assert_uint_eq(tickers[1]->last_tick, last_tick);
    ck_assert_uint_eq(tickers[1]->step, step);
    close_sleeper(sim);
}

START_TEST(setting_a_knob_wakes_a_sleeper_in_the_next_cycle) {
    expect_sleeper((TickOrder)_i, "core", "sleeper.step = 7", 6, 7);
}
END_TEST

/* Its third cycle is the core's sixth. */
START_TEST(setting_a_knob_wakes_a_sleeper_of_a_slower_clock_at_its_next_edge) {
    expect_sleeper((TickOrder)_i, "slow", "sleeper.step = 7", 3, 7);
}
END_TEST

START_TEST(a_sleeper_that_has_nothing_to_do_under_its_knobs_sleeps_on) {
    expect_sleeper((TickOrder)_i, "core", "sleeper.step = 9", 0, IDLE_STEP);
}
END_TEST

static void turn_knob_at_8(BoundaryWatcher *watcher, const Sim *sim) {
    (void)watcher;
    if (cycle_of(sim) == 8) ck_assert_int_eq(luaL_dostring(L, "sleeper.step = sleeper.step + 1"), LUA_OK);
}

START_TEST(setting_a_knob_at_a_boundary_wakes_a_sleeper_in_the_cycle_that_begins_there) {
    Ticker *tickers[2];
    Sim *sim = sleeper_below(ORDER_PATH, _i ? "slow" : "core", tickers);
    BoundaryWatcher watcher = {.act = turn_knob_at_8};
    sim_every(sim, 8, note_boundary, &watcher);
    run_to(sim, 12);
    ck_assert_uint_eq(tickers[1]->last_tick, _i ? 4 : 8);
    ck_assert_uint_eq(tickers[1]->step, 2);
    close_sleeper(sim);
}
END_TEST

static int64_t apply_setting(Recorder *recorder, SimObject *object, uint64_t cycle,
                             const int64_t *arguments) {
    (void)recorder;
    (void)object;
    (void)arguments;
    if (cycle == 5 || cycle == 8)
        ck_assert_msg(luaL_dostring(L, "apply()") == LUA_OK, "%s", lua_tostring(L, -1));
    return NO_ANSWER;
}

START_TEST(a_setting_sets_its_knobs_when_it_is_called_and_wakes_if_one_had_another_value) {
    Ticker *tickers[2];
    Sim *sim = sleeper_below((TickOrder)_i, "core", tickers);
    Recorder recorder = {.act = apply_setting};
    record_events(&recorder, tickers, 1, 1 << TICKER_TICKED);
    ck_assert_int_eq(luaL_dostring(L, "apply = sleeper:setting { step = 7 }"), LUA_OK);
    ck_assert_uint_eq(tickers[1]->step, 1);
    run_to(sim, 3 * QUANTUM);
    ck_assert_uint_eq(tickers[1]->step, 7);
    ck_assert_uint_eq(tickers[1]->last_tick, 6); /* not 9: it had this value */
    close_sleeper(sim);
}
END_TEST

START_TEST(a_setting_of_several_objects_wakes_those_of_which_it_changes_a_knob) {
    Ticker *tickers[2];
    Sim *sim = sleeper_below((TickOrder)_i, "core", tickers);
    Recorder recorder = {.act = apply_setting};
    record_events(&recorder, tickers, 1, 1 << TICKER_TICKED);
    policy_object_push(L, &tickers[0]->obj);
    lua_setglobal(L, "tower");
    ck_assert_int_eq(luaL_dostring(L, "apply = sleeper:setting({ step = 7 }, tower, { step = 1 })"), LUA_OK);
    run_to(sim, 3 * QUANTUM);
    ck_assert_uint_eq(tickers[1]->step, 7);
    ck_assert_uint_eq(tickers[1]->last_tick, 6);
    ck_assert_uint_eq(tickers[0]->step, 1);
    ck_assert_int_eq(luaL_dostring(L, "tower:setting({ step = 2 }, sleeper, { step = 3 })()"), LUA_OK);
    ck_assert_uint_eq(tickers[0]->step, 2);
    ck_assert_uint_eq(tickers[1]->step, 3);
    close_sleeper(sim);
}
END_TEST

/* Garbage is collected all the time. The value that is added comes after the other in some rounds: the place
 * of a name in a large table depends on the name, and on the process. */
START_TEST(a_setting_to_which_a_finalizer_adds_a_value_is_refused) {
    Ticker *tickers[2];
    Sim *sim = sleeper_below(ORDER_PATH, "core", tickers);
    luaL_openlibs(L);
    ck_assert_int_eq(luaL_dostring(L,
                                   "collectgarbage('incremental', 1, 1000, 1) refused = 0\n"
                                   "local values = { step = 7 }\n"
                                   "for i = 1, 1000 do values['y' .. i] = 1 end\n"
                                   "for i = 1, 1000 do values['y' .. i] = nil end\n"
                                   "for round = 1, 10000 do\n"
                                   "  setmetatable({}, { __gc = function() values['x' .. round] = 1 end })\n"
                                   "  local made, problem = pcall(sleeper.setting, sleeper, values)\n"
                                   "  if not made and problem:find 'setting: values were added' then\n"
                                   "    refused = refused + 1\n"
                                   "  end\n"
                                   "  values['x' .. round] = nil\n"
                                   "end\n"),
                     LUA_OK);
    lua_getglobal(L, "refused");
    ck_assert_int_gt(lua_tointeger(L, -1), 0);
    close_sleeper(sim);
}
END_TEST

START_TEST(a_setting_is_checked_when_it_is_written_down) {
    Ticker *tickers[2];
    Sim *sim = sleeper_below(ORDER_PATH, "core", tickers);
    static const char *const refused[] = {"sleeper:setting { sum = 1 }",
                                          "sleeper:setting { none = 1 }",
                                          "sleeper:setting { step = 1.5 }",
                                          "sleeper:setting { step = '7' }",
                                          "sleeper:setting(7)",
                                          "sleeper:setting({ step = 7 }, sleeper)",
                                          "sleeper:setting({ step = 7 }, 7, { step = 7 })",
                                          "sleeper.setting({}, { step = 7 })"};
    static const char *const why[] = {"no knob matches 'sum'",
                                      "no knob matches 'none'",
                                      "step: expected a whole number, got 1.5",
                                      "step: expected a whole number, got '7'",
                                      "table expected",
                                      "table expected",
                                      "warpwright.policy_object expected",
                                      "warpwright.policy_object expected"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ck_assert_msg(luaL_dostring(L, refused[i]) != LUA_OK, "%s", refused[i]);
        ck_assert_msg(strstr(lua_tostring(L, -1), why[i]) != NULL, "%s", lua_tostring(L, -1));
    }
    ck_assert_uint_eq(tickers[1]->step, 1);
    close_sleeper(sim);
}
END_TEST

START_TEST(a_handle_is_known_by_its_type) {
    Ticker *tickers[2];
    Sim *sim = sleeper_below(ORDER_PATH, "core", tickers);
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
    Ticker *tickers[2];
    Sim *sim = sleeper_below(ORDER_PATH, "core", tickers);
    tickers[1]->sum = 5;
    ck_assert_int_eq(luaL_dostring(L, "return sleeper.sum, sleeper.every, sleeper.step"), LUA_OK);
    ck_assert_int_eq(lua_tointeger(L, -3), 5);
    ck_assert_int_eq(lua_tointeger(L, -2), 100000);
    ck_assert_int_eq(lua_tointeger(L, -1), 1);
    static const char *const refused[] = {"sleeper.sum = 1",   "sleeper.done = 1",   "return sleeper.done",
                                          "sleeper.every = 1", "sleeper.step = 1.5", "sleeper.step = '7'"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        ck_assert_msg(luaL_dostring(L, refused[i]) != LUA_OK, "%s", refused[i]);
    ck_assert_uint_eq(tickers[1]->sum, 5);
    ck_assert_uint_eq(tickers[1]->step, 1);
    close_sleeper(sim);
}
END_TEST

Suite *policy_handles_suite(void) {
    Suite *suite = suite_create("policy_handles");
    TCase *knobs = tcase_create("knobs");
    tcase_add_loop_test(knobs, setting_a_knob_wakes_a_sleeper_in_the_next_cycle, 0, 3);
    tcase_add_loop_test(knobs, a_sleeper_that_has_nothing_to_do_under_its_knobs_sleeps_on, 0, 3);
    tcase_add_loop_test(knobs, a_setting_sets_its_knobs_when_it_is_called_and_wakes_if_one_had_another_value,
                        0, 3);
    tcase_add_loop_test(knobs, a_setting_of_several_objects_wakes_those_of_which_it_changes_a_knob, 0, 3);
    tcase_add_test(knobs, a_setting_is_checked_when_it_is_written_down);
    tcase_add_test(knobs, a_setting_to_which_a_finalizer_adds_a_value_is_refused);
    tcase_add_test(knobs, a_handle_is_known_by_its_type);
    tcase_add_loop_test(knobs, setting_a_knob_wakes_a_sleeper_of_a_slower_clock_at_its_next_edge, 0, 3);
    tcase_add_loop_test(knobs, setting_a_knob_at_a_boundary_wakes_a_sleeper_in_the_cycle_that_begins_there, 0,
                        2);
    tcase_add_test(knobs, state_that_is_no_knob_can_be_read_and_not_set);
    suite_add_tcase(suite, knobs);
    return suite;
}
