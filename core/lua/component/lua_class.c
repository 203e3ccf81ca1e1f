#include "core/lua/component/lua_class.h"

#include "core/lua/host/interpreter.h"
#include "core/sim/base/units.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 256, WORD = 8 };

/* The rows in the making. */
typedef struct {
    lua_State *L;
    LuaClass *class;
    Field rows[ROWS_MAX];
    uint32_t count;
    size_t end; /* of the struct so far */
} Maker;

const LuaClass *lua_class_of(const SimObject *object) {
    return object->class->tick == lua_object_class.tick ? (const LuaClass *)(const void *)object->class
                                                        : NULL;
}

static Field *add_row(Maker *maker, Field row) {
    ensure(maker->count + 1 < ROWS_MAX);
    maker->rows[maker->count] = row;
    maker->rows[maker->count].offset = row.bytes ? maker->end : 0;
    maker->end += row.bytes;
    return &maker->rows[maker->count++];
}

static void add_base_rows(Maker *maker) {
    static const Field base[] = {
        BASE(LuaObject),
        HOST(LuaObject, run, "Its Lua state"),
        STATE_ARRAY(LuaObject, held, holds,
                    "Messages that it has taken and not yet sent on, and requests of its own"),
        STATE_ARRAY(LuaObject, state, state_bytes, "self.state as plain data"),
        STATE(LuaObject, next_id, "Number of the next message that it takes"),
        STATE(LuaObject, made, "Requests of its own that it has sent"),
        STATE(LuaObject, ended, "Messages that it has dropped, and answers to requests of its own"),
        PARAM(LuaObject, holds, "64", "messages", "Messages that it may hold, requests of its own included",
              .min = 1, .max = HOLDS_MAX),
        STATE(LuaObject, state_bytes, "Bytes of self.state as plain data"),
    };
    for (uint32_t i = 0; i < sizeof base / sizeof *base; i++) {
        size_t offset = base[i].offset;
        Field *row = add_row(maker, base[i]);
        row->offset = offset;
    }
    maker->end = sizeof(LuaObject);
}

/* Texts live as long as the class, which is for good. Of the table on top of the stack. */
static char *text_field(lua_State *L, const char *name) {
    char *text = lua_getfield(L, -1, name) == LUA_TSTRING ? strdup(lua_tostring(L, -1)) : NULL;
    lua_pop(L, 1);
    return text;
}
static bool flag_field(lua_State *L, const char *name) {
    lua_getfield(L, -1, name);
    bool flag = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return flag;
}
static double number_field(lua_State *L, const char *name) {
    lua_getfield(L, -1, name);
    double number = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return number;
}

static bool is(const char *text, const char *word) {
    return text && strcmp(text, word) == 0;
}

static Field port_row(Maker *maker, bool array) {
    char *role = text_field(maker->L, "role");
    Field row = {.kind = array ? FIELD_PORT_ARRAY : FIELD_PORT,
                 .name = text_field(maker->L, "name"),
                 .doc = text_field(maker->L, "doc"),
                 .protocol = &memory_protocol,
                 .role = is(role, "requester") ? ROLE_REQUESTER : ROLE_RESPONDER,
                 .optional = flag_field(maker->L, "optional"),
                 .bytes = array ? sizeof(Port *) : sizeof(Port),
                 .element_bytes = array ? sizeof(Port) : 0};
    free(role);
    return row;
}

static void add_port(Maker *maker) {
    char *count = text_field(maker->L, "count");
    Field *row = add_row(maker, port_row(maker, count != NULL));
    row->unit = count; /* until that parameter has a place */
}

static void add_stat(Maker *maker) {
    add_row(maker, (Field){.kind = FIELD_STAT,
                           .type = TYPE_U64,
                           .name = text_field(maker->L, "name"),
                           .unit = text_field(maker->L, "unit"),
                           .doc = text_field(maker->L, "doc"),
                           .bytes = sizeof(uint64_t)});
}

static void add_parameter(Maker *maker, bool word) {
    lua_State *L = maker->L;
    char *kind = text_field(L, "kind");
    bool flag = is(kind, "flag"), count = is(kind, "count"), choice = is(kind, "choice");
    bool is_word = !(flag || count || choice);
    if (is_word == word) {
        FieldType type = !is_word           ? TYPE_U32
                         : is(kind, "text") ? TYPE_STRING
                         : is(kind, "real") ? TYPE_DOUBLE
                                            : TYPE_U64;
        add_row(maker, (Field){.kind = FIELD_PARAM,
                               .type = type,
                               .name = text_field(L, "name"),
                               .unit = text_field(L, "unit"),
                               .doc = text_field(L, "doc"),
                               .initial = text_field(L, "default"),
                               .choices = text_field(L, "choices"),
                               .min = number_field(L, "min"),
                               .max = number_field(L, "max"),
                               .flag = flag,
                               .power_of_two = flag_field(L, "power_of_two"),
                               .timing = flag_field(L, "timing"),
                               .bytes = is_word ? WORD : sizeof(uint32_t)});
    }
    free(kind);
}

/* Calls add() for each element of the list in the field of the table on top of the stack. */
static void for_each(Maker *maker, const char *list, void (*add)(Maker *maker)) {
    lua_State *L = maker->L;
    lua_getfield(L, -1, list);
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++, lua_pop(L, 1))
        add(maker);
    lua_pop(L, 2);
}

static void add_word_parameter(Maker *maker) {
    add_parameter(maker, true);
}
static void add_half_parameter(Maker *maker) {
    add_parameter(maker, false);
}

static void add_heard(Maker *maker) {
    LuaClass *class = maker->class;
    class->heard = realloc(class->heard, (class->heard_count + 1) * sizeof *class->heard);
    ensure_memory(class->heard);
    class->heard[class->heard_count++] = (HeardRow){text_field(maker->L, "port"),
                                                    text_field(maker->L, "event")};
}

/* Arrays of ports are as long as their parameters say. */
static void find_counts(Maker *maker) {
    for (uint32_t i = 0; i < maker->count; i++) {
        Field *row = &maker->rows[i];
        if (row->kind != FIELD_PORT_ARRAY) continue;
        for (uint32_t k = 0; k < maker->count; k++)
            if (maker->rows[k].kind == FIELD_PARAM && is(row->unit, maker->rows[k].name))
                row->count_offset = maker->rows[k].offset;
        ensure(row->count_offset);
    }
}

static void make_rows(Maker *maker) {
    add_base_rows(maker);
    for_each(maker, "ports", add_port);
    for_each(maker, "stats", add_stat);
    for_each(maker, "params", add_word_parameter);
    for_each(maker, "params", add_half_parameter);
    find_counts(maker);
    if (maker->end % WORD)
        add_row(maker, (Field){.kind = FIELD_HOST,
                               .name = "padding",
                               .doc = "Padding",
                               .bytes = WORD - maker->end % WORD});
    add_row(maker, (Field){.kind = FIELD_END});
    for_each(maker, "hears", add_heard);
}

/* The class of the table on top of the stack. */
static LuaClass *new_class(lua_State *L, char *digest) {
    LuaClass *class = calloc(1, sizeof *class);
    Maker *maker = calloc(1, sizeof *maker);
    ensure_memory(class && maker);
    *maker = (Maker){.L = L, .class = class};
    make_rows(maker);
    class->fields = malloc(maker->count * sizeof(Field));
    ensure_memory(class->fields);
    memcpy(class->fields, maker->rows, maker->count * sizeof(Field));
    class->class = lua_object_class;
    class->class.name = text_field(L, "name");
    class->class.doc = text_field(L, "doc");
    class->class.passes_on = flag_field(L, "passes_on");
    class->class.bytes = maker->end;
    class->class.fields = class->fields;
    class->home = strdup(interpreter_home(L));
    class->path = text_field(L, "path");
    class->line = (uint32_t)number_field(L, "line");
    class->digest = digest;
    ensure(asprintf(&class->source, "%s:%u", class->path, class->line) >= 0);
    free(maker);
    return class;
}

/* core.define_class(rows, digest of them): from now on objects of its name are of this class. `rows` has name, doc,
 * path, line, passes_on, and the lists ports, params, stats and hears, all checked. */
static int l_define_class(lua_State *L) {
    lua_settop(L, 2);
    const char *digest = luaL_checkstring(L, 2);
    lua_getfield(L, 1, "name");
    const Class *before = class_find(luaL_checkstring(L, -1));
    if (before && before->made_at_run_time &&
        strcmp(((const LuaClass *)(const void *)before)->digest, digest) == 0)
        return 0;
    lua_settop(L, 1);
    class_register(&new_class(L, strdup(digest))->class);
    return 0;
}

/* core.class_source(class) -> its file and line; nothing when it is written in C */
static int l_class_source(lua_State *L) {
    const Class *class = class_find(luaL_checkstring(L, 1));
    if (!class || !class->made_at_run_time) return 0;
    const LuaClass *lua = (const LuaClass *)(const void *)class;
    lua_pushstring(L, lua->path);
    lua_pushinteger(L, lua->line);
    return 2;
}

/* core.parse_quantity(text, unit) -> number, or nil and what would be one */
static int l_parse_quantity(lua_State *L) {
    double value;
    const char *unit = luaL_checkstring(L, 2);
    if (parse_quantity(luaL_checkstring(L, 1), unit, &value)) {
        lua_pushnumber(L, value);
        return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, quantity_examples(unit));
    return 2;
}

void lua_class_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"define_class", l_define_class},
                                         {"class_source", l_class_source},
                                         {"parse_quantity", l_parse_quantity},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
