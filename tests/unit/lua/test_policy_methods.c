/* Methods of handles in Lua: arguments and results of every kind, refusals, and what is called wrongly. */
#include "core/lua/policy/policy_object.h"
#include "core/sim/method.h"
#include "tests/unit/sim/tickers_fixture.h"

#include <lauxlib.h>
#include <lualib.h>

typedef struct {
    SimObject obj;
    uint32_t slots, pad;
} Desk;

static const Field desk_fields[] = {BASE(Desk),
                                    PARAM(Desk, slots, "3", "slots", "How many", .min = 1, .max = 9),
                                    DERIVED(Desk, pad, "Alignment"), FIELDS_END};

static const Class desk_class;

/* What it was called with, as results. */
static void echo(SimObject *object, MethodCall *call) {
    (void)object;
    call->result[0].whole = call->argument[0].whole;
    call->result[1].set = call->argument[1].set;
    call->result[2].flag = call->argument[2].flag;
}

static void neighbour(SimObject *object, MethodCall *call) {
    (void)object;
    call->nothing = call->argument[0].object == object;
    call->result[0].object = call->argument[0].object;
}

static void slot(SimObject *object, MethodCall *call) {
    (void)object;
    if (call->argument[0].whole == 1) method_refuse(call, "slot %d is taken by %s", 1, call->caller);
}

static void nothing(SimObject *object, MethodCall *call) {
    (void)object, (void)call;
}

static const Method desk_methods[] = {
    METHOD("echo", echo, "Its arguments",
           TAKES(WHOLE_NUMBER("n", .min = -5, .max = 5), SET_OF("warps", "set"), FLAG_VALUE("on")),
           RETURNS(WHOLE_NUMBER("n"), SET_OF("warps", "set"), FLAG_VALUE("on"))),
    METHOD("neighbour", neighbour, "The desk, unless it is this one", TAKES(OBJECT_OF(desk_class, "desk")),
           RETURNS(OBJECT_OF(desk_class, "desk")), MAY_BE_NIL),
    METHOD("slot", slot, "Takes it", TAKES(WHOLE_NUMBER_BELOW("slot", Desk, slots))),
    METHOD("nothing", nothing, "Does nothing"), METHODS_END};

static uint64_t tick(SimObject *object, uint64_t now) {
    (void)object, (void)now;
    return NEVER;
}

static const Class desk_class = {.name = "Desk",
                                 .doc = "Is called",
                                 .bytes = sizeof(Desk),
                                 .fields = desk_fields,
                                 .methods = desk_methods,
                                 .tick = tick};

static lua_State *L;
static Sim *sim;

static void push_desk(const char *path, const char *name) {
    SimObject *desk = sim_add(sim, "Desk", path, "core");
    sim_finish_object(desk);
    policy_object_push(L, desk);
    lua_setglobal(L, name);
}

static void set_up(void) {
    class_register(&desk_class);
    sim = empty(ORDER_PATH);
    L = luaL_newstate();
    luaL_openlibs(L);
    policy_state_belongs_to(L, "watcher of desk");
    push_desk("desk[0]", "a");
    push_desk("desk[1]", "b");
    policy_object_push(L, &add(sim, "ticker", "core", 1, 1e6)->obj);
    lua_setglobal(L, "ticker");
}

static void tear_down(void) {
    lua_close(L);
    sim_free(sim);
}

static void holds(const char *code) {
    ck_assert_msg(luaL_dostring(L, lua_pushfstring(L, "assert(%s)", code)) == LUA_OK, "%s",
                  lua_tostring(L, -1));
}

static void fails(const char *code, const char *why) {
    ck_assert_msg(luaL_dostring(L, code) != LUA_OK, "%s", code);
    ck_assert_msg(strstr(lua_tostring(L, -1), why) != NULL, "%s: %s", code, lua_tostring(L, -1));
}

START_TEST(arguments_and_results_have_the_kinds_of_their_rows) {
    holds("select('#', a:echo(-5, 7, true)) == 3");
    holds("table.concat({ a:echo(-5, -1, true) }, ' ', 1, 2) == '-5 -1'");
    holds("select(3, a:echo(5, 0, false)) == false and select(3, a:echo(5, 0, true)) == true");
    holds("select(3, a:echo(5, 0, 0)) == false and select(3, a:echo(5, 0, 1)) == true");
    holds("math.type((a:echo(3.0, 1 << 63, true))) == 'integer'");
    holds("tostring(a:neighbour(b)) == 'desk[1]' and a:neighbour(a) == nil");
    holds("select('#', a:nothing()) == 0 and select('#', a:slot(2)) == 0");
}
END_TEST

START_TEST(an_argument_that_is_not_legal_is_named_with_what_is) {
    fails("a:echo(6, 0, true)", "desk[0]:echo: n: expected a whole number from -5 to 5, got 6");
    fails("a:echo(-6, 0, true)", "got -6");
    fails("a:echo(1.5, 0, true)", "n: expected a whole number from -5 to 5, got 1.5");
    fails("a:echo('1', 0, true)", "got '1'");
    fails("a:echo(1, '0', true)", "desk[0]:echo: set: expected a set of warps (a whole number), got '0'");
    fails("a:echo(1, nil, true)", "set: expected a set of warps (a whole number), got nil");
    fails("a:echo(1, 0, 2)", "desk[0]:echo: on: expected true, false, 1 or 0, got 2");
    fails("a:echo(1, 0, '1')", "on: expected true, false, 1 or 0, got '1'");
    fails("a:echo(1, 0)", "on: expected true, false, 1 or 0, got nothing");
    fails("a:echo()", "n: expected a whole number from -5 to 5, got nothing");
    fails("a:neighbour(7)", "desk[0]:neighbour: desk: expected Desk, got 7");
    fails("a:neighbour(ticker)", "desk: expected Desk, got ticker");
    fails("b:slot(3)", "desk[1]:slot: slot: expected a whole number from 0 to 2, got 3");
    fails("b:slot(-1)", "got -1");
}
END_TEST

START_TEST(a_method_may_refuse) {
    fails("b:slot(1)", "desk[1]:slot: slot 1 is taken by watcher of desk");
    holds("select('#', b:slot(0)) == 0");
}
END_TEST

START_TEST(a_method_works_on_any_object_of_its_class_and_on_no_other) {
    holds("tostring(a.neighbour(b, a)) == 'desk[0]'");
    fails("a.slot(ticker, 0)", "Desk:slot: object before the colon: expected Desk, got ticker");
    fails("a.slot(0)", "Desk:slot: object before the colon: expected Desk, got 0");
    fails("a.slot()", "Desk:slot: object before the colon: expected Desk, got nothing");
}
END_TEST

START_TEST(a_name_that_there_is_not_comes_with_the_nearest) {
    fails("a:ehco(1, 0, true)",
          "desk[0]: no value matches 'ehco'; available: none; methods: echo, neighbour, ");
    fails("a:ehco(1, 0, true)", "; did you mean the method echo?");
    fails("a:neigbor(b)", "did you mean the method neighbour?");
    fails("return a.slotss", "did you mean slots?");
    luaL_dostring(L, "return a.quite_another_name");
    ck_assert_ptr_null(strstr(lua_tostring(L, -1), "did you mean"));
}
END_TEST

Suite *policy_methods_suite(void) {
    Suite *suite = suite_create("policy_methods");
    TCase *calls = tcase_create("calls");
    tcase_add_checked_fixture(calls, set_up, tear_down);
    tcase_add_test(calls, arguments_and_results_have_the_kinds_of_their_rows);
    tcase_add_test(calls, an_argument_that_is_not_legal_is_named_with_what_is);
    tcase_add_test(calls, a_method_may_refuse);
    tcase_add_test(calls, a_method_works_on_any_object_of_its_class_and_on_no_other);
    tcase_add_test(calls, a_name_that_there_is_not_comes_with_the_nearest);
    suite_add_tcase(suite, calls);
    return suite;
}
