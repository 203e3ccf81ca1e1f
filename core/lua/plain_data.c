#include "core/lua/plain_data.h"

#include <lauxlib.h>
#include <string.h>

enum { TAG_NIL, TAG_FALSE, TAG_TRUE, TAG_INTEGER, TAG_FLOAT, TAG_STRING, TAG_TABLE, MAX_DEPTH = 32 };

static void save(lua_State *L, int index, Buffer *buffer, int depth);

static void save_string(lua_State *L, int index, Buffer *buffer) {
    size_t length;
    const char *text = lua_tolstring(L, index, &length);
    buffer_u64(buffer, length);
    buffer_append(buffer, text, length);
}

/* Numbers before strings; lua_compare() orders each kind. */
static bool comes_before(lua_State *L, int a, int b) {
    int type_a = lua_type(L, a), type_b = lua_type(L, b);
    if (type_a != type_b) return type_a == LUA_TNUMBER;
    return lua_compare(L, a, b, LUA_OPLT);
}

static void check_key(lua_State *L, int index) {
    int type = lua_type(L, index);
    if (type != LUA_TNUMBER && type != LUA_TSTRING)
        luaL_error(L, "policy state: a %s as key; legal are numbers and strings", luaL_typename(L, index));
}

/* Pushes the list of the table's keys, sorted by insertion: tables of policies are small. */
static lua_Integer push_sorted_keys(lua_State *L, int table) {
    lua_Integer count = 0;
    lua_newtable(L);
    int keys = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        check_key(L, -2);
        lua_Integer at = ++count;
        for (; at > 1; at--) {
            lua_rawgeti(L, keys, at - 1);
            bool in_place = comes_before(L, -1, -3);
            if (in_place) {
                lua_pop(L, 1);
                break;
            }
            lua_rawseti(L, keys, at);
        }
        lua_pushvalue(L, -2);
        lua_rawseti(L, keys, at);
    }
    return count;
}

static void save_table(lua_State *L, int index, Buffer *buffer, int depth) {
    luaL_checkstack(L, 12, "policy state");
    if (depth == MAX_DEPTH) luaL_error(L, "policy state: tables nested more than %d deep", MAX_DEPTH);
    lua_Integer count = push_sorted_keys(L, index);
    int keys = lua_gettop(L);
    buffer_u64(buffer, (uint64_t)count);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, keys, i);
        save(L, lua_gettop(L), buffer, depth + 1);
        lua_rawget(L, index);
        save(L, lua_gettop(L), buffer, depth + 1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void save_tag(Buffer *buffer, uint8_t tag) {
    buffer_append(buffer, &tag, 1);
}

static void save(lua_State *L, int index, Buffer *buffer, int depth) {
    switch (lua_type(L, index)) {
    case LUA_TNIL: save_tag(buffer, TAG_NIL); break;
    case LUA_TBOOLEAN: save_tag(buffer, lua_toboolean(L, index) ? TAG_TRUE : TAG_FALSE); break;
    case LUA_TSTRING:
        save_tag(buffer, TAG_STRING);
        save_string(L, index, buffer);
        break;
    case LUA_TTABLE:
        save_tag(buffer, TAG_TABLE);
        save_table(L, index, buffer, depth);
        break;
    case LUA_TNUMBER:
        if (lua_isinteger(L, index)) {
            save_tag(buffer, TAG_INTEGER);
            buffer_u64(buffer, (uint64_t)lua_tointeger(L, index));
        } else {
            lua_Number number = lua_tonumber(L, index);
            save_tag(buffer, TAG_FLOAT);
            buffer_append(buffer, &number, sizeof number);
        }
        break;
    default:
        luaL_error(L, "policy state: a %s; legal are numbers, strings, booleans and tables of them",
                   luaL_typename(L, index));
    }
}

void plain_save(lua_State *L, int index, Buffer *buffer) {
    save(L, lua_absindex(L, index), buffer, 0);
}

static bool load(lua_State *L, Reader *reader, int depth);

static bool load_table(lua_State *L, Reader *reader, int depth) {
    uint64_t count = reader_u64(reader);
    if (depth == MAX_DEPTH || !lua_checkstack(L, 6)) return false;
    lua_newtable(L);
    for (uint64_t i = 0; i < count; i++) {
        if (!load(L, reader, depth + 1)) return lua_pop(L, 1), false;
        int type = lua_type(L, -1);
        bool is_nan = type == LUA_TNUMBER && lua_tonumber(L, -1) != lua_tonumber(L, -1);
        if ((type != LUA_TNUMBER && type != LUA_TSTRING) || is_nan) return lua_pop(L, 2), false;
        if (!load(L, reader, depth + 1)) return lua_pop(L, 2), false;
        lua_rawset(L, -3);
    }
    return true;
}

static bool load(lua_State *L, Reader *reader, int depth) {
    const uint8_t *tag = reader_bytes(reader, 1), *bytes;
    lua_Number number;
    uint64_t length;
    if (!tag) return false;
    switch (*tag) {
    case TAG_NIL: lua_pushnil(L); return true;
    case TAG_FALSE:
    case TAG_TRUE: lua_pushboolean(L, *tag == TAG_TRUE); return true;
    case TAG_INTEGER: lua_pushinteger(L, (lua_Integer)reader_u64(reader)); break;
    case TAG_FLOAT:
        if (!(bytes = reader_bytes(reader, sizeof number))) return false;
        memcpy(&number, bytes, sizeof number);
        lua_pushnumber(L, number);
        return true;
    case TAG_STRING:
        length = reader_u64(reader);
        if (!(bytes = reader_bytes(reader, length))) return false;
        lua_pushlstring(L, (const char *)bytes, length);
        return true;
    case TAG_TABLE: return load_table(L, reader, depth);
    default: return false;
    }
    if (!reader->failed) return true;
    lua_pop(L, 1);
    return false;
}

bool plain_load(lua_State *L, Reader *reader) {
    return load(L, reader, 0);
}
