/* What typed arrays are made of, and what becomes of them: tables, strings of bytes, files, other arrays. */
#include "core/lua/device/array.h"

#include "core/lua/bindings.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t elements_in(uint64_t bytes, uint32_t element_bytes, const char *what) {
    if (bytes % element_bytes)
        user_error("%s: expected a multiple of %u bytes, the size of an element, got %lu bytes", what,
                   element_bytes, bytes);
    return bytes / element_bytes;
}

static void from_string(lua_State *L, ElementType type, int index) {
    size_t bytes;
    const char *text = lua_tolstring(L, index, &bytes);
    Array *array = array_new(L, type, elements_in(bytes, array_element_bytes(type), "array_from"));
    if (bytes) memcpy(array->data, text, bytes);
}

/* Plain: a metatable's __index does not run. */
static void from_list(lua_State *L, ElementType type, int index) {
    Array *array = array_new(L, type, lua_rawlen(L, index));
    for (uint64_t i = 0; i < array->count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        array_set_element(L, array, i, -1);
        lua_pop(L, 1);
    }
}

/* Element by element, so that each is checked against the type. */
static void from_array(lua_State *L, ElementType type, const Array *from) {
    Array *array = array_new(L, type, from->count);
    bool to_float = array_is_float(array); /* a u64 of 2^63 or more is no Lua integer, but has a float */
    for (uint64_t i = 0; i < array->count; i++) {
        if (to_float)
            lua_pushnumber(L, array_number(from, i));
        else
            array_push_element(L, from, i);
        array_set_element(L, array, i, -1);
        lua_pop(L, 1);
    }
}

/* core.array_from(type, list of numbers, string of bytes, or array) */
static int l_array_from(lua_State *L) {
    raise_user_errors_in(L);
    ElementType type = array_type_at(L, 1);
    const Array *from = array_test(L, 2);
    lua_settop(L, 2);
    if (from)
        from_array(L, type, from);
    else if (lua_type(L, 2) == LUA_TSTRING)
        from_string(L, type, 2);
    else if (lua_istable(L, 2))
        from_list(L, type, 2);
    else
        user_error_got(L, 2, "array_from: expected a list of numbers, a string of bytes, or an array");
    return 1;
}

/* The number of bytes in a file that can be read as a whole; what cannot is a user error. */
static uint64_t file_bytes(FILE *file, const char *path) {
    struct stat status; /* devices say that they have no bytes, and have no end */
    if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && fseek(file, 0, SEEK_END) == 0) {
        long bytes = ftell(file);
        if (bytes >= 0 && bytes < 1l << 40 && fseek(file, 0, SEEK_SET) == 0) return (uint64_t)bytes;
    }
    fclose(file);
    user_error("file_array: %s: expected a file that can be read, got none", path);
}

/* core.file_array(path, type): all of the file */
static int l_file_array(lua_State *L) {
    raise_user_errors_in(L);
    if (lua_type(L, 1) != LUA_TSTRING) user_error_got(L, 1, "file_array: expected the path of a file");
    const char *path = lua_tostring(L, 1);
    ElementType type = array_type_at(L, 2);
    char what[512];
    FILE *file = fopen(path, "rb");
    if (!file) user_error("file_array: %s: cannot open it: %s", path, strerror(errno));
    uint64_t bytes = file_bytes(file, path);
    snprintf(what, sizeof what, "file_array: %s", path);
    if (bytes % array_element_bytes(type)) fclose(file);
    uint64_t count = elements_in(bytes, array_element_bytes(type), what);
    Array *array = array_new(L, type, count);
    uint64_t got = fread(array->data, 1, bytes, file);
    fclose(file);
    if (got != bytes) user_error("%s: expected %lu bytes, got %lu", what, bytes, got);
    return 1;
}

/* a:write(path): its bytes as a file */
static int l_write(lua_State *L) {
    raise_user_errors_in(L);
    const Array *array = array_at(L, 1, "method of an array, called as a:write(path)");
    if (lua_type(L, 2) != LUA_TSTRING) user_error_got(L, 2, "write: expected the path of a file");
    const char *path = lua_tostring(L, 2);
    FILE *file = fopen(path, "wb");
    if (!file) user_error("write: %s: cannot open it: %s", path, strerror(errno));
    size_t written = fwrite(array->data, 1, array_bytes(array), file);
    int failed = fclose(file);
    if (failed || written != array_bytes(array)) user_error("write: %s: %s", path, strerror(errno));
    return 0;
}

/* Optional first element and count at two indices; what is left out goes to the end. */
static uint64_t optional_range(lua_State *L, int first_index, const Array *array, uint64_t *count) {
    if (lua_isnoneornil(L, first_index)) {
        *count = array->count;
        return 0;
    }
    uint64_t first = array_count_at(L, first_index, "first element");
    if (first > array->count)
        user_error("array: expected a first element up to %lu, got %lu", array->count, first);
    *count = lua_isnoneornil(L, first_index + 1) ? array->count - first
                                                 : array_count_at(L, first_index + 1, "count");
    if (*count > array->count - first)
        user_error("array: expected a range within its %lu elements, got %lu elements from %lu on",
                   array->count, *count, first);
    return first;
}

/* a:string(), a:string(first, count): elements as a string of bytes */
static int l_string(lua_State *L) {
    raise_user_errors_in(L);
    const Array *array = array_at(L, 1, "method of an array, called as a:string()");
    uint64_t count, first = optional_range(L, 2, array, &count);
    lua_pushlstring(L, (const char *)array->data + first * array->element_bytes,
                    count * array->element_bytes);
    return 1;
}

/* `bytes` of the array from element `at` on, for the caller to write to. */
static uint8_t *room_at(Array *array, uint64_t at, uint64_t bytes) {
    uint64_t count = elements_in(bytes, array->element_bytes, "put");
    if (at > array->count || count > array->count - at)
        user_error("put: expected a range within the %lu elements, got %lu elements from %lu on",
                   array->count, count, at);
    return array->data + at * array->element_bytes;
}

/* a:put(at, b), a:put(at, b, first, count) -> a: copies elements of b, of the same type, to a from element
 * `at` on; b may be a. a:put(at, string) copies the string's bytes. */
static int l_put(lua_State *L) {
    raise_user_errors_in(L);
    Array *array = array_at(L, 1, "method of an array, called as a:put(at, b)");
    uint64_t at = array_count_at(L, 2, "put: first element"), count;
    if (lua_type(L, 3) == LUA_TSTRING) {
        size_t bytes;
        const char *text = lua_tolstring(L, 3, &bytes);
        memcpy(room_at(array, at, bytes), text, bytes);
        lua_settop(L, 1);
        return 1;
    }
    const Array *from = array_at(L, 3, "put");
    uint64_t first = optional_range(L, 4, from, &count);
    if (from->type != array->type)
        user_error("put: expected an array of type %s, got %s", array_type_name(array),
                   array_type_name(from));
    uint64_t bytes = count * array->element_bytes;
    memmove(room_at(array, at, bytes), from->data + first * array->element_bytes, bytes);
    lua_settop(L, 1);
    return 1;
}

/* a:table(), a:table(first, count), a:table(first, count, into): elements in a table, numbered from 0. Lua comes to them
 * several times as fast. What `into` has beyond them stays. */
static int l_table(lua_State *L) {
    raise_user_errors_in(L);
    const Array *array = array_at(L, 1, "method of an array, called as a:table()");
    uint64_t count, first = optional_range(L, 2, array, &count);
    if (count > INT_MAX) user_error("table: expected at most %d elements, got %lu", INT_MAX, count);
    bool is_given = !lua_isnoneornil(L, 4);
    if (is_given && !lua_istable(L, 4)) user_error_got(L, 4, "table: expected a table to write to");
    lua_settop(L, 4);
    if (!is_given) lua_createtable(L, count ? (int)count - 1 : 0, count != 0);
    for (uint64_t i = 0; i < count; i++) {
        array_push_element(L, array, first + i);
        lua_rawseti(L, -2, (lua_Integer)i);
    }
    return 1;
}

/* a:gather(places) -> a new array of a's elements at the places that an array of whole numbers holds */
static int l_gather(lua_State *L) {
    raise_user_errors_in(L);
    const Array *array = array_at(L, 1, "method of an array, called as a:gather(places)");
    const Array *places = array_at(L, 2, "gather");
    if (places->type >= ELEMENT_F32)
        user_error("gather: expected an array of whole numbers, got %s", array_type_name(places));
    Array *gathered = array_new(L, array->type, places->count);
    uint32_t bytes = array->element_bytes;
    for (uint64_t i = 0; i < places->count; i++) {
        uint64_t place = (uint64_t)array_integer(places, i);
        if (place >= array->count)
            user_error("gather: expected places below %lu, got %" PRId64 " as number %lu", array->count,
                       (int64_t)place, i);
        memcpy(gathered->data + i * bytes, array->data + place * bytes, bytes);
    }
    return 1;
}

const luaL_Reg array_data_methods[] = {{"string", l_string}, {"put", l_put},     {"gather", l_gather},
                                       {"table", l_table},   {"write", l_write}, {NULL, NULL}};

void array_data_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"array_from", l_array_from}, {"file_array", l_file_array}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
