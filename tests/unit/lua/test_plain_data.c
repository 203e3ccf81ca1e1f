/* Plain Lua values as bytes: what goes in comes out, equal tables are equal bytes, what is not plain is
 * refused with its place, and damaged bytes are refused or harmless. */
#include "core/lua/host/plain_data.h"

#include <check.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

Suite *plain_data_suite(void);

static lua_State *L;

/* A function equal(a, b) of values that are the same in type and contents. */
static const char equal_in_lua[] =
    "function equal(a, b)\n"
    "  if math.type(a) ~= math.type(b) or type(a) ~= type(b) then return false end\n"
    "  if type(a) ~= 'table' then return a == b and 1 / (a == 0 and a or 1) == 1 / (b == 0 and b or 1)\n"
    "    or a ~= a and b ~= b end\n"
    "  for k, v in pairs(a) do if not equal(v, b[k]) then return false end end\n"
    "  for k in pairs(b) do if a[k] == nil then return false end end\n"
    "  return true\n"
    "end\n";

static void open_state(void) {
    L = luaL_newstate();
    luaL_openlibs(L);
    ck_assert_int_eq(luaL_dostring(L, equal_in_lua), LUA_OK);
}

static void close_state(void) {
    lua_close(L);
}

/* Pushes the value of a Lua expression. */
static void push(const char *expression) {
    lua_pushfstring(L, "return %s", expression);
    ck_assert_msg(luaL_dostring(L, lua_tostring(L, -1)) == LUA_OK, "%s", lua_tostring(L, -1));
    lua_remove(L, -2);
}

static Buffer saved(const char *expression) {
    Buffer buffer = {0};
    push(expression);
    plain_save(L, -1, "state", &buffer);
    lua_settop(L, 0);
    return buffer;
}

static bool loads(const uint8_t *bytes, size_t count) {
    uint8_t *exact = malloc(count + 1); /* so that a sanitizer sees reads behind the end */
    memcpy(exact, bytes, count);
    int top = lua_gettop(L);
    bool good = plain_load(L, &(Reader){.bytes = exact, .count = count});
    ck_assert_int_eq(lua_gettop(L), top + good); /* nothing is pushed when it fails */
    free(exact);
    return good;
}

/* --- Round trips ------------------------------------------------------------------------------- */

static const char *const values[] = {
    "nil",
    "true",
    "false",
    "0",
    "-1",
    "math.maxinteger",
    "math.mininteger",
    "1.0",
    "0.1",
    "-0.0",
    "1/0",
    "-1/0",
    "0/0",
    "''",
    "'text'",
    "'\\0\\255\\n'",
    "('x'):rep(100000)",
    "{}",
    "{ 1, 2, 3 }",
    "{ [0] = 'zero', [-5] = true, [2.5] = false, ['2.5'] = 1, ['0'] = 2 }",
    "{ a = { b = { c = { 1, { 2 } } } }, d = {} }",
    "{ [1] = 1, [3] = 3, [1 << 62] = 'far' }",
    "(function() local t = {} for i = 1, 5000 do t[i * 7919 % 65521] = i end return t end)()",
};

START_TEST(what_goes_in_comes_out) {
    Buffer buffer = saved(values[_i]);
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    lua_getglobal(L, "equal");
    push(values[_i]);
    ck_assert(plain_load(L, &reader));
    ck_assert(reader_at_end(&reader));
    lua_call(L, 2, 1);
    ck_assert_msg(lua_toboolean(L, -1), "%s", values[_i]);
    ck_assert_int_eq(lua_gettop(L), 1);
    buffer_free(&buffer);
}
END_TEST

START_TEST(several_values_follow_each_other) {
    Buffer buffer = {0};
    push("{ 1 }");
    plain_save(L, -1, "a", &buffer);
    push("'b'");
    plain_save(L, -1, "b", &buffer);
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    ck_assert(plain_load(L, &reader));
    ck_assert(!reader_at_end(&reader));
    ck_assert(plain_load(L, &reader));
    ck_assert(reader_at_end(&reader));
    ck_assert_str_eq(lua_tostring(L, -1), "b");
    buffer_free(&buffer);
}
END_TEST

START_TEST(another_lua_state_gets_the_same_value) {
    Buffer buffer = saved("{ 1, x = { 'y' } }");
    lua_State *other = luaL_newstate();
    ck_assert(plain_load(other, &(Reader){.bytes = buffer.bytes, .count = buffer.count}));
    lua_getfield(other, -1, "x");
    lua_rawgeti(other, -1, 1);
    ck_assert_str_eq(lua_tostring(other, -1), "y");
    lua_close(other);
    buffer_free(&buffer);
}
END_TEST

/* --- Holes ----------------------------------------------------------------------------------- */

/* What # gives of these tables is not said by their keys, but by how they came to be. */
static const char *const with_holes[] = {
    "{ 1, nil, 3 }",
    "{ 1, nil, nil, 4, nil, 6, x = 1, [-3] = 2, [100] = 5 }",
    "{ nil, nil, 3, 4 }",
    "(function() local t = {} t[1] = 1 t[2] = 2 t[4] = 4 return t end)()",
    "(function() local t = {} for _, i in ipairs { 4, 2, 1 } do t[i] = i end return t end)()",
    "(function() local t = {} for i = 1, 8 do t[i] = i end for i = 2, 7 do t[i] = nil end return t end)()",
    "(function() local t = {} for i = 1, 40 do t[i] = i end for i = 1, 20 do t[i] = nil end return t end)()",
    "(function() local t = {} for i = 20, 40 do t[i] = i end return t end)()",
    ("(function() local t = {} for i = 1, 3000 do t[i] = i end for i = 1, 2998 do t[i] = nil end return t "
     "end)()"),
};

START_TEST(a_table_with_holes_has_the_length_that_it_had) {
    Buffer buffer = {0};
    push(with_holes[_i]);
    ck_assert_ptr_null(plain_save(L, -1, "state", &buffer));
    ck_assert(loads(buffer.bytes, buffer.count));
    ck_assert_uint_eq(lua_rawlen(L, -1), lua_rawlen(L, -2));
    lua_getglobal(L, "equal");
    lua_insert(L, -3);
    lua_call(L, 2, 1);
    ck_assert(lua_toboolean(L, -1));
    buffer_free(&buffer);
}
END_TEST

START_TEST(saving_changes_no_length) {
    Buffer buffer = {0};
    push("(function() local t = {} for i = 1, 16 do t[i] = i end\n"
         "for _, i in ipairs { 16, 15, 13, 12, 11 } do t[i] = nil end return #t == 10 and t end)()");
    ck_assert_ptr_null(plain_save(L, -1, "state", &buffer));
    ck_assert_uint_eq(lua_rawlen(L, -1), 10);
    buffer_free(&buffer);
}
END_TEST

/* --- Order ------------------------------------------------------------------------------------- */

static void expect_same_bytes(const char *one, const char *other, bool same) {
    Buffer a = saved(one), b = saved(other);
    bool equal = a.count == b.count && memcmp(a.bytes, b.bytes, a.count) == 0;
    ck_assert_msg(equal == same, "%s and %s", one, other);
    buffer_free(&a);
    buffer_free(&b);
}

/* Tables whose keys came in different orders, some of them into a table that was larger before. */
START_TEST(equal_tables_are_equal_bytes) {
    expect_same_bytes(
        "{ a = 1, b = 2, c = 3, [1] = 'x', [2] = 'y', [0.5] = 'z' }",
        "(function() local t = {} t.c = 3 t[2] = 'y' t.b = 2 t[0.5] = 'z' t[1] = 'x' t.a = 1 return t end)()",
        true);
    expect_same_bytes(
        "(function() local t = {} for i = 1, 1000 do t[i] = i end for i = 11, 1000 do t[i] = nil end "
        "return t end)()",
        "(function() local t = {} for i = 10, 1, -1 do t[i] = i end return t end)()", true);
    expect_same_bytes(
        "(function() local t = {} for i = 1, 500 do t['k' .. i * 37 % 1009] = i * 37 % 1009 end return t "
        "end)()",
        "(function() local t = {} for i = 500, 1, -1 do t['k' .. i * 37 % 1009] = i * 37 % 1009 end "
        "return t end)()",
        true);
    expect_same_bytes("{ a = 1 }", "{ a = 2 }", false);
    expect_same_bytes("{ a = 1 }", "{ b = 1 }", false);
    expect_same_bytes("{ 1 }", "{ 1.0 }", false);
    expect_same_bytes("{ [1] = 1 }", "{ ['1'] = 1 }", false);
}
END_TEST

/* Where the key whose only letter is `key` stands in the bytes: a text is its length and its letters. */
static size_t place_of(const Buffer *buffer, char key) {
    for (size_t i = 0; i + 9 <= buffer->count; i++) {
        static const uint8_t one[8] = {1};
        if (memcmp(buffer->bytes + i, one, 8) == 0 && buffer->bytes[i + 8] == (uint8_t)key) return i;
    }
    ck_abort_msg("there is no '%c'", key);
}

START_TEST(whole_numbers_come_before_other_numbers_and_those_before_texts) {
    Buffer buffer = saved(
        "{ z = 'a', y = 'b', [7] = 'c', [-7] = 'd', [0.5] = 'e', [-0.5] = 'f', [8] = 'g' }");
    static const char in_order[] = {'d', 'c', 'g', 'f', 'e', 'b', 'a'};
    for (size_t i = 1; i < sizeof in_order; i++)
        ck_assert_uint_lt(place_of(&buffer, in_order[i - 1]), place_of(&buffer, in_order[i]));
    ck_assert_uint_lt(place_of(&buffer, 'y'), place_of(&buffer, 'z'));
    buffer_free(&buffer);
}
END_TEST

/* --- What is not plain --------------------------------------------------------------------------- */

static const struct {
    const char *value, *problem;
} refused[] = {
    {"print", "state: expected a number, string, boolean or table of them, got a function"},
    {"{ a = { 1, 2, function() end } }",
     "state.a[3]: expected a number, string, boolean or table of them, got a function"},
    {"{ [2.5] = coroutine.create(print) }",
     "state[2.5]: expected a number, string, boolean or table of them, got a thread"},
    {"{ files = { io.stdout } }",
     "state.files[1]: expected a number, string, boolean or table of them, got a userdata"},
    {"{ x = { [true] = 1 } }", "state.x: expected numbers and strings as keys, got a boolean"},
    {"{ [{}] = 1 }", "state: expected numbers and strings as keys, got a table"},
    {"(function() local t = {} t.self = t return t end)()",
     "state.self: expected each table once, got one that occurs twice"},
    {"(function() local t = {} t.a = { b = { t } } return t end)()",
     "state.a.b[1]: expected each table once, got one that occurs twice"},
    {"(function() local t = {} return { a = t, b = t } end)()",
     "state.b: expected each table once, got one that occurs twice"},
    {"(function() local t = {} for _ = 1, 33 do t = { t } end return t end)()",
     "expected up to 32 nested tables, got more"},
};

START_TEST(what_is_not_plain_is_refused_with_its_place) {
    Buffer buffer = {0};
    push(refused[_i].value);
    const char *problem = plain_save(L, -1, "state", &buffer);
    ck_assert_msg(problem && strstr(problem, refused[_i].problem), "%s", problem);
    buffer_free(&buffer);
}
END_TEST

START_TEST(tables_nested_to_the_limit_come_back) {
    Buffer buffer = saved("(function() local t = {} for _ = 1, 31 do t = { t } end return t end)()");
    ck_assert(loads(buffer.bytes, buffer.count));
    buffer_free(&buffer);
}
END_TEST

START_TEST(equal_tables_that_are_not_the_same_are_plain) {
    Buffer buffer = saved("{ {}, {}, a = { 1 }, b = { 1 } }");
    ck_assert(loads(buffer.bytes, buffer.count));
    buffer_free(&buffer);
}
END_TEST

/* --- Finalizers --------------------------------------------------------------------------------- */

/* Each adds keys to the table, and counts itself. All garbage is collected whenever anything is made. */
static const char finalizers[] = "collectgarbage('incremental', 1, 1000, 1)\n"
                                 "state, ran = {}, 0\n"
                                 "function litter()\n"
                                 "  for i = 1, 20 do setmetatable({}, { __gc = function()\n"
                                 "    ran = ran + 1 for k = 1, 50 do state[ran .. ' ' .. k] = k end\n"
                                 "  end }) end\n"
                                 "end\n";

static lua_Integer finalizers_that_ran(void) {
    lua_getglobal(L, "ran");
    lua_Integer ran = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return ran;
}

START_TEST(no_finalizer_runs_while_a_value_is_saved) {
    Buffer empty = {0};
    ck_assert_int_eq(luaL_dostring(L, finalizers), LUA_OK);
    for (int i = 0; i < 20; i++) { /* the more, the slower each */
        Buffer buffer = {0};
        ck_assert_int_eq(luaL_dostring(L, "litter()"), LUA_OK);
        lua_getglobal(L, "state");
        lua_Integer ran = finalizers_that_ran();
        ck_assert_ptr_null(plain_save(L, -1, "state", &buffer));
        ck_assert_int_eq(finalizers_that_ran(), ran);
        ck_assert(loads(buffer.bytes, buffer.count));
        buffer_free(&buffer);
        lua_settop(L, 0);
    }
    ck_assert_int_gt(finalizers_that_ran(), 0); /* between two saves */
    ck_assert_int_eq(lua_gc(L, LUA_GCISRUNNING), 1);
    lua_gc(L, LUA_GCSTOP);
    push("{}");
    ck_assert_ptr_null(plain_save(L, -1, "state", &empty));
    buffer_free(&empty);
    ck_assert_int_eq(lua_gc(L, LUA_GCISRUNNING), 0); /* nor is it begun where somebody has stopped it */
}
END_TEST

/* --- Damage -------------------------------------------------------------------------------------- */

static const char sample[] = "{ 1, 2.5, 'three', { four = true, five = { [-6] = 'seven' } }, [0.5] = false }";

START_TEST(bytes_that_are_cut_off_are_refused) {
    Buffer buffer = saved(sample);
    ck_assert(loads(buffer.bytes, buffer.count));
    lua_settop(L, 0);
    for (size_t count = 0; count < buffer.count; count++)
        ck_assert_msg(!loads(buffer.bytes, count), "%zu bytes", count);
    buffer_free(&buffer);
}
END_TEST

/* Whatever comes of a changed byte is a value that can be saved again, and quickly. */
START_TEST(changed_bytes_are_refused_or_give_another_plain_value) {
    Buffer buffer = saved(sample), again = {0};
    uint32_t good = 0, bad = 0;
    for (size_t at = 0; at < buffer.count; at++) {
        uint8_t before = buffer.bytes[at];
        for (uint32_t value = 0; value < 256; value++) {
            buffer.bytes[at] = (uint8_t)value;
            if (loads(buffer.bytes, buffer.count)) {
                good++;
                plain_save(L, -1, "state", &again);
                buffer_free(&again);
                again = (Buffer){0};
            } else {
                bad++;
            }
            lua_settop(L, 0);
        }
        buffer.bytes[at] = before;
    }
    ck_assert_uint_gt(good, 256);
    ck_assert_uint_gt(bad, 256);
    buffer_free(&buffer);
}
END_TEST

static void expect_refused(const char *bytes, size_t count) {
    ck_assert(!loads((const uint8_t *)bytes, count));
}

START_TEST(forged_bytes_are_refused) {
    static const char table_at_1[18] = "\6\1\0\0\0\0\0\0\0\3\1\0\0\0\0\0\0"; /* a table of one key, 1 */
    char deep[40 * sizeof table_at_1 + 1] = "";                              /* ... whose value is nil */
    for (size_t i = 0; i < 40; i++)
        memcpy(deep + i * sizeof table_at_1, table_at_1, sizeof table_at_1);
    expect_refused(deep, sizeof deep);
    expect_refused("\10", 1);                                         /* no such kind of value */
    expect_refused("\7\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 17);         /* a length where nothing is */
    expect_refused("\7\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 17);         /* a length that needs memory */
    expect_refused("\5\377\377\377\377\377\377\377\377x", 10);        /* a text of 2^64 - 1 bytes */
    expect_refused("\6\377\377\377\377\377\377\377\377", 9);          /* a table of 2^64 - 1 keys */
    expect_refused("\6\1\0\0\0\0\0\0\0\0\2", 11);                     /* nil as a key */
    expect_refused("\6\1\0\0\0\0\0\0\0\2\2", 11);                     /* true as a key */
    expect_refused("\6\1\0\0\0\0\0\0\0\4\0\0\0\0\0\0\370\177\2", 19); /* not a number as a key */
}
END_TEST

Suite *plain_data_suite(void) {
    Suite *suite = suite_create("plain_data");
    TCase *data = tcase_create("data");
    tcase_add_checked_fixture(data, open_state, close_state);
    tcase_add_loop_test(data, what_goes_in_comes_out, 0, sizeof values / sizeof *values);
    tcase_add_test(data, several_values_follow_each_other);
    tcase_add_test(data, another_lua_state_gets_the_same_value);
    tcase_add_loop_test(data, a_table_with_holes_has_the_length_that_it_had, 0,
                        sizeof with_holes / sizeof *with_holes);
    tcase_add_test(data, saving_changes_no_length);
    tcase_add_test(data, equal_tables_are_equal_bytes);
    tcase_add_test(data, whole_numbers_come_before_other_numbers_and_those_before_texts);
    tcase_add_loop_test(data, what_is_not_plain_is_refused_with_its_place, 0,
                        sizeof refused / sizeof *refused);
    tcase_add_test(data, tables_nested_to_the_limit_come_back);
    tcase_add_test(data, equal_tables_that_are_not_the_same_are_plain);
    tcase_add_test(data, no_finalizer_runs_while_a_value_is_saved);
    tcase_add_test(data, bytes_that_are_cut_off_are_refused);
    tcase_add_test(data, changed_bytes_are_refused_or_give_another_plain_value);
    tcase_add_test(data, forged_bytes_are_refused);
    suite_add_tcase(suite, data);
    return suite;
}
