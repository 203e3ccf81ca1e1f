#include "core/lua/host/plain_data.h"

#include "core/lua/bindings.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG_NIL,
    TAG_FALSE,
    TAG_TRUE,
    TAG_INTEGER,
    TAG_FLOAT,
    TAG_STRING,
    TAG_TABLE,
    TAG_TABLE_WITH_HOLES, /* its length goes with it: no other says what # gives */
    MAX_DEPTH = 32,
    MAX_EMPTY_PLACES = 4096 /* up to the length of a table with holes */
};

/* --- Saving ---------------------------------------------------------------------------------- */

/* Where a value stands: at a key (a stack index) of a table; the outermost has a name. */
typedef struct Place {
    const struct Place *outer;
    const char *name;
    int key, depth;
} Place;

typedef struct {
    lua_State *L;
    Buffer *buffer;
    int seen; /* stack index of a table whose keys are the tables met so far */
} Saver;

static void save(const Saver *saver, int index, const Place *place);

/* Pushes "state.warps[3]". */
static void push_place(lua_State *L, const Place *place) {
    luaL_checkstack(L, 4, "plain data");
    if (!place->outer) {
        lua_pushstring(L, place->name);
        return;
    }
    push_place(L, place->outer);
    bool named = lua_type(L, place->key) == LUA_TSTRING;
    lua_pushstring(L, named ? "." : "[");
    luaL_tolstring(L, place->key, NULL);
    lua_pushstring(L, named ? "" : "]");
    lua_concat(L, 4);
}

_Noreturn static void refuse(const Saver *saver, const Place *place, const char *what) {
    push_place(saver->L, place);
    luaL_error(saver->L, "%s: %s", lua_tostring(saver->L, -1), what);
    abort();
}

/* --- Keys in order */

typedef struct {
    enum { KEY_INTEGER, KEY_FLOAT, KEY_STRING } kind;
    lua_Integer integer;
    lua_Number number;
    const char *text; /* the table keeps it */
    size_t length;
    lua_Integer place; /* of its value */
} Key;

static int compare_texts(const Key *a, const Key *b) {
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, shorter);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_keys(const void *first, const void *second) {
    const Key *a = first, *b = second;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->kind == KEY_INTEGER) return (a->integer > b->integer) - (a->integer < b->integer);
    if (a->kind == KEY_FLOAT) return (a->number > b->number) - (a->number < b->number);
    return compare_texts(a, b);
}

static Key key_at(const Saver *saver, int index, const Place *place) {
    lua_State *L = saver->L;
    Key key = {.kind = KEY_STRING};
    if (lua_type(L, index) == LUA_TSTRING)
        key.text = lua_tolstring(L, index, &key.length);
    else if (lua_isinteger(L, index))
        key = (Key){.kind = KEY_INTEGER, .integer = lua_tointeger(L, index)};
    else if (lua_type(L, index) == LUA_TNUMBER)
        key = (Key){.kind = KEY_FLOAT, .number = lua_tonumber(L, index)};
    else
        refuse(saver, place,
               lua_pushfstring(L, "expected numbers and strings as keys, got a %s", luaL_typename(L, index)));
    return key;
}

static void push_key(lua_State *L, const Key *key) {
    if (key->kind == KEY_INTEGER)
        lua_pushinteger(L, key->integer);
    else if (key->kind == KEY_FLOAT)
        lua_pushnumber(L, key->number);
    else
        lua_pushlstring(L, key->text, key->length);
}

/* Pushes a list of the table's values, and a block of memory that holds its keys in order. No value is looked up
 * by its key: Lua takes a look at a number for a hint at what # is to give. */
static Key *push_sorted_entries(const Saver *saver, int table, uint64_t *count, const Place *place) {
    lua_State *L = saver->L;
    *count = 0;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        ++*count;
    lua_newtable(L);
    int values = lua_gettop(L);
    Key *keys = lua_newuserdatauv(L, *count * sizeof(Key) + 1, 0), *next = keys;
    for (lua_pushnil(L); lua_next(L, table); next++) {
        *next = key_at(saver, lua_gettop(L) - 1, place);
        next->place = next - keys + 1;
        lua_rawseti(L, values, next->place);
    }
    if (*count) qsort(keys, *count, sizeof(Key), compare_keys);
    return keys;
}

/* Is there more than one number that # may give? */
static bool has_holes(const Key *keys, uint64_t count) {
    lua_Integer elements = 0, last = 0;
    for (uint64_t i = 0; i < count && keys[i].kind == KEY_INTEGER; i++) {
        if (keys[i].integer < 1) continue;
        elements++;
        last = keys[i].integer;
    }
    return elements != last;
}

/* --- Values */

static void save_tag(Buffer *buffer, uint8_t tag) {
    buffer_append(buffer, &tag, 1);
}

static void save_string(lua_State *L, int index, Buffer *buffer) {
    size_t length;
    const char *text = lua_tolstring(L, index, &length);
    save_tag(buffer, TAG_STRING);
    buffer_u64(buffer, length);
    buffer_append(buffer, text, length);
}

static void save_number(lua_State *L, int index, Buffer *buffer) {
    if (lua_isinteger(L, index)) {
        save_tag(buffer, TAG_INTEGER);
        buffer_u64(buffer, (uint64_t)lua_tointeger(L, index));
    } else {
        lua_Number number = lua_tonumber(L, index);
        save_tag(buffer, TAG_FLOAT);
        buffer_append(buffer, &number, sizeof number);
    }
}

static void note_table(const Saver *saver, int index, const Place *place) {
    lua_State *L = saver->L;
    lua_pushvalue(L, index);
    if (lua_rawget(L, saver->seen) != LUA_TNIL)
        refuse(saver, place, "expected each table once, got one that occurs twice");
    lua_pop(L, 1);
    lua_pushvalue(L, index);
    lua_pushboolean(L, true);
    lua_rawset(L, saver->seen);
}

static void save_size(const Saver *saver, int index, const Key *keys, uint64_t count) {
    bool holes = has_holes(keys, count);
    uint64_t length = holes ? lua_rawlen(saver->L, index) : 0;
    bool is_told = holes && length <= count + MAX_EMPTY_PLACES;
    save_tag(saver->buffer, is_told ? TAG_TABLE_WITH_HOLES : TAG_TABLE);
    buffer_u64(saver->buffer, count);
    if (is_told) buffer_u64(saver->buffer, length);
}

static void save_table(const Saver *saver, int index, const Place *place) {
    lua_State *L = saver->L;
    uint64_t count;
    luaL_checkstack(L, 12, "plain data");
    note_table(saver, index, place);
    if (lua_getmetatable(L, index))
        refuse(saver, place, "expected a table without a metatable, got one with it");
    if (place->depth == MAX_DEPTH) refuse(saver, place, "expected up to 32 nested tables, got more");
    const Key *keys = push_sorted_entries(saver, index, &count, place);
    int values = lua_gettop(L) - 1;
    save_size(saver, index, keys, count);
    for (uint64_t i = 0; i < count; i++) {
        push_key(L, &keys[i]);
        int key = lua_gettop(L);
        Place inner = {place, NULL, key, place->depth + 1};
        save(saver, key, &inner);
        lua_rawgeti(L, values, keys[i].place);
        save(saver, key + 1, &inner);
        lua_settop(L, key - 1);
    }
    lua_pop(L, 2);
}

/* "userdata": handles of objects, which have the object's path as their text, are told apart. */
_Noreturn static void refuse_value(const Saver *saver, int index, const Place *place) {
    lua_State *L = saver->L;
    bool is_handle = luaL_getmetafield(L, index, "__name") == LUA_TSTRING &&
                     strcmp(lua_tostring(L, -1), "warpwright.policy_object") == 0;
    refuse(saver, place,
           lua_pushfstring(L, "expected a number, string, boolean or table of them, got a %s%s",
                           is_handle ? "handle of " : luaL_typename(L, index),
                           is_handle ? luaL_tolstring(L, index, NULL) : ""));
}

static void save(const Saver *saver, int index, const Place *place) {
    lua_State *L = saver->L;
    switch (lua_type(L, index)) {
    case LUA_TNIL: save_tag(saver->buffer, TAG_NIL); break;
    case LUA_TBOOLEAN: save_tag(saver->buffer, lua_toboolean(L, index) ? TAG_TRUE : TAG_FALSE); break;
    case LUA_TSTRING: save_string(L, index, saver->buffer); break;
    case LUA_TTABLE: save_table(saver, index, place); break;
    case LUA_TNUMBER: save_number(L, index, saver->buffer); break;
    default: refuse_value(saver, index, place);
    }
}

/* (value, name of the value, buffer) */
static int l_save(lua_State *L) {
    lua_newtable(L);
    save(&(Saver){L, lua_touserdata(L, 3), lua_gettop(L)}, 1, &(Place){.name = lua_tostring(L, 2)});
    return 0;
}

/* No garbage is collected: a finalizer could add keys to the table whose keys are being looked at, or take
 * them away. */
const char *plain_save(lua_State *L, int index, const char *name, Buffer *buffer) {
    bool collects = lua_gc(L, LUA_GCISRUNNING) ==
                    1; /* not in a finalizer, and where the user has not stopped it */
    index = lua_absindex(L, index);
    luaL_checkstack(L, 4, "plain data");
    if (collects) lua_gc(L, LUA_GCSTOP);
    lua_pushcfunction(L, l_save);
    lua_pushvalue(L, index);
    lua_pushstring(L, name);
    lua_pushlightuserdata(L, buffer);
    bool good = lua_pcall(L, 3, 0, 0) == LUA_OK;
    if (collects) lua_gc(L, LUA_GCRESTART);
    if (good) return NULL;
    const char *problem = lua_tostring(L, -1);
    return problem ? problem : "cannot be saved";
}

const char *plain_save_table(lua_State *L, int index, const char *name, Buffer *buffer) {
    if (lua_istable(L, index)) return plain_save(L, index, name, buffer);
    const char *given = push_given(L, index);
    return lua_pushfstring(L, "%s: expected a table, got %s", name, given);
}

/* --- Loading --------------------------------------------------------------------------------- */

static bool load(lua_State *L, Reader *reader, int depth);

/* Replaces the table on top of the stack by one with room for so many elements in its array. */
static void lay_out(lua_State *L, uint64_t places, uint64_t count) {
    lua_createtable(L, (int)places, (int)count);
    for (lua_pushnil(L); lua_next(L, -3);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_replace(L, -2);
}

/* Gives the table on top of the stack the length that the saved one had: with an array as Lua makes them, or else
 * one that ends there. False: it cannot have it. */
static bool set_length(lua_State *L, uint64_t length, uint64_t count) {
    uint64_t places = 1;
    while (places < length)
        places *= 2;
    if (lua_rawlen(L, -1) != length) lay_out(L, places, count);
    if (lua_rawlen(L, -1) != length) lay_out(L, length, count);
    return lua_rawlen(L, -1) == length;
}

static bool load_entry(lua_State *L, Reader *reader, int depth) {
    int top = lua_gettop(L);
    if (load(L, reader, depth + 1)) {
        int type = lua_type(L, -1);
        bool is_nan = type == LUA_TNUMBER && lua_tonumber(L, -1) != lua_tonumber(L, -1);
        if ((type == LUA_TNUMBER || type == LUA_TSTRING) && !is_nan && load(L, reader, depth + 1)) {
            lua_rawset(L, -3);
            return true;
        }
    }
    lua_settop(L, top);
    return false;
}

static bool load_table(lua_State *L, Reader *reader, bool has_length, int depth) {
    uint64_t count = reader_u64(reader), length = has_length ? reader_u64(reader) : 0;
    bool good = length <= count + MAX_EMPTY_PLACES;
    if (reader->failed || !good || depth == MAX_DEPTH || !lua_checkstack(L, 6)) return false;
    lua_newtable(L);
    for (uint64_t i = 0; i < count && good; i++)
        good = load_entry(L, reader, depth);
    if (good && has_length) good = set_length(L, length, count);
    if (!good) lua_pop(L, 1);
    return good;
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
    case TAG_TABLE:
    case TAG_TABLE_WITH_HOLES: return load_table(L, reader, *tag == TAG_TABLE_WITH_HOLES, depth);
    default: return false;
    }
    if (!reader->failed) return true;
    lua_pop(L, 1);
    return false;
}

bool plain_load(lua_State *L, Reader *reader) {
    return load(L, reader, 0);
}
