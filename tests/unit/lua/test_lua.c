/* The interpreter: how errors leave it, and what it makes of a class. */
#include "core/lua/host/interpreter.h"
#include "core/sim/sim.h"

#include <check.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

static const Protocol word_protocol = {.name = "word", .request_bytes = 8, .response_bytes = 8};

typedef struct {
    SimObject obj;
    uint64_t size;
    double share;
    uint32_t outs, mode, on, unused;
    Port in, *out;
    uint64_t count;
} Box;

static Ratio half(const SimObject *object) {
    return ratio_of(((const Box *)object)->count, 2);
}

static const Field box_fields[] = {
    BASE(Box),
    PARAM(Box, size, "1KiB", "bytes", "Size", .max = 4096),
    PARAM(Box, share, "0.25", "fraction", "Share"),
    PARAM_NAMED(Box, outs, "out", "2", "ports", "Ports"),
    PARAM_CHOICE(Box, mode, "fast", "slow|fast", "Mode"),
    PARAM_FLAG(Box, on, "true", "Switch"),
    HOST(Box, unused, "Padding"),
    PORT(Box, in, word_protocol, ROLE_RESPONDER, "In", .optional = true),
    PORT_ARRAY(Box, out, outs, word_protocol, ROLE_REQUESTER, "Out", .optional = true),
    STAT(Box, count, "words", "Words"),
    FORMULA("half", half, "words", "Half of them"),
    FIELDS_END,
};

static uint64_t sleep_for_ever(SimObject *object, uint64_t now) {
    (void)object;
    (void)now;
    return NEVER;
}

static const Class box_class = {
    .name = "LuaTestBox", .doc = "Box", .bytes = sizeof(Box), .fields = box_fields, .tick = sleep_for_ever};

/* Runs Lua text as the file "test.lua"; returns its error message, or the text it returned. The caller frees
 * it. */
static char *run(const char *text) {
    char *home = interpreter_find_home();
    lua_State *L = interpreter_new(home);
    class_register(&box_class);
    luaL_loadbuffer(L, text, strlen(text), "@test.lua");
    lua_call(L, 0, 1);
    char *result = strdup(luaL_tolstring(L, -1, NULL));
    lua_close(L);
    user_error_handler(NULL, NULL);
    free(home);
    return result;
}

static void expect(const char *text, const char *wanted) {
    char *result = run(text);
    ck_assert_str_eq(result, wanted);
    free(result);
}

#define CORE "local core = require 'warpwright.core' "
#define BOX                                                                                                  \
    CORE "local m = core.machine 'm' m:clock('core', '700MHz') local box = m:add('LuaTestBox', 'box') "

START_TEST(user_error_names_the_line_of_the_users_code) {
    expect(CORE
           "\nlocal ok, problem = pcall(function()\n core.machine('m'):add('None', 'x') end)\nreturn problem",
           "test.lua:3: x: no class matches 'None'");
}
END_TEST

START_TEST(user_error_in_a_coroutine_reaches_its_caller) {
    expect(CORE "local co = coroutine.create(function() core.machine('m'):add('None', 'x') end)\n"
                "return select(2, coroutine.resume(co))",
           "test.lua:1: x: no class matches 'None'");
}
END_TEST

START_TEST(user_error_skips_the_librarys_own_lines) {
    expect("local ww = require 'warpwright'\nreturn select(2, pcall(function() return ww.nothing end))",
           "test.lua:2: warpwright: no function matches 'nothing'");
}
END_TEST

START_TEST(parameters_have_the_lua_type_of_their_row) {
    expect(BOX
           "core.finish(box) return table.concat({ box.size, box.share, box.mode, tostring(box.on) }, ' ')",
           "1024 0.25 fast true");
}
END_TEST

START_TEST(parameters_are_set_from_texts_numbers_and_flags) {
    expect(BOX "core.set(box, 'size', '4KiB') core.set(box, 'share', 0.5) core.set(box, 'on', false) "
               "core.set(box, 'mode', 'slow') core.finish(box) "
               "return table.concat({ box.size, box.share, box.mode, tostring(box.on) }, ' ')",
           "4096 0.5 slow false");
}
END_TEST

START_TEST(parameter_out_of_bounds_names_object_and_bounds) {
    expect(BOX "return select(2, pcall(core.set, box, 'size', 4097))",
           "test.lua:1: box.size: expected 0 to 4096 (bytes), got 4097");
}
END_TEST

START_TEST(override_reports_how_many_parameters_matched) {
    expect(BOX "return core.override(box, 'box.s*', 1) .. core.override(box, 'bo*.size', 8) "
               ".. core.override(box, 'fox.size', 16) .. ' ' .. box.size",
           "210 8");
}
END_TEST

START_TEST(port_array_hides_the_parameter_of_its_name) {
    expect(BOX "core.set(box, 'out', 3) core.finish(box) return #box.out .. ' ' .. tostring(box.out[2])",
           "3 box.out[2]");
}
END_TEST

START_TEST(index_of_a_port_array_is_checked) {
    expect(BOX "core.finish(box) return select(2, pcall(function() return box.out[2] end))",
           "test.lua:1: box.out: expected a port from 0 to 1, got 2");
}
END_TEST

START_TEST(wire_takes_ports_and_paths) {
    expect(BOX "core.finish(box) local b = m:add('LuaTestBox', 'b') core.finish(b) "
               "m:wire(box.out[1], 'b.in', { latency = 3, back = { depth = 5 } }) local w = m:wires()[1] "
               "return w.from .. ' ' .. w.to .. ' ' .. w.forward.latency .. ' ' .. w.back.latency .. ' ' .. "
               "w.back.depth",
           "box.out[1] b.in 3 1 5");
}
END_TEST

START_TEST(object_of_a_closed_machine_is_an_error) {
    expect(BOX "m:close() return select(2, pcall(core.finish, box))",
           "test.lua:1: object: its machine was closed");
}
END_TEST

START_TEST(stats_are_integers_and_formulas_floats) {
    expect(BOX
           "core.finish(box) local s = m:stats() "
           "local name, value = s:row(1) local other, ratio = s:row(2) "
           "return name .. ' ' .. math.type(value) .. ' ' .. other .. ' ' .. math.type(ratio) .. ' ' .. #s",
           "box.count integer box.half float 2");
}
END_TEST

START_TEST(command_line_returns_the_exit_status) {
    char *home = interpreter_find_home();
    lua_State *L = interpreter_new(home);
    char program[] = "warpwright", version[] = "--version", unknown[] = "--unknown";
    char *good[] = {program, version}, *bad[] = {program, unknown};
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    ck_assert_int_eq(interpreter_run(L, 2, good), 0);
    ck_assert_int_eq(interpreter_run(L, 2, bad), EXIT_USER_ERROR);
    lua_close(L);
    free(home);
}
END_TEST

Suite *lua_suite(void) {
    Suite *suite = suite_create("lua");
    TCase *tests = tcase_create("lua");
    tcase_add_test(tests, user_error_names_the_line_of_the_users_code);
    tcase_add_test(tests, user_error_in_a_coroutine_reaches_its_caller);
    tcase_add_test(tests, user_error_skips_the_librarys_own_lines);
    tcase_add_test(tests, parameters_have_the_lua_type_of_their_row);
    tcase_add_test(tests, parameters_are_set_from_texts_numbers_and_flags);
    tcase_add_test(tests, parameter_out_of_bounds_names_object_and_bounds);
    tcase_add_test(tests, override_reports_how_many_parameters_matched);
    tcase_add_test(tests, port_array_hides_the_parameter_of_its_name);
    tcase_add_test(tests, index_of_a_port_array_is_checked);
    tcase_add_test(tests, wire_takes_ports_and_paths);
    tcase_add_test(tests, object_of_a_closed_machine_is_an_error);
    tcase_add_test(tests, stats_are_integers_and_formulas_floats);
    tcase_add_test(tests, command_line_returns_the_exit_status);
    suite_add_tcase(suite, tests);
    return suite;
}
