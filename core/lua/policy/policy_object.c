#include "core/lua/policy/policy_object.h"

#include "core/gpu/sm/sm.h"
#include "core/lua/bindings.h"
#include "core/lua/policy/method_call.h"
#include "core/sim/base/near_name.h"
#include "core/sim/base/units.h"
#include "core/sim/method.h"
#include "core/sim/sim.h"
#include "core/sim/trace/trace.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

static const char handle_type[] = "warpwright.policy_object";

/* Its user value is the table of the object's class: name -> Field as light userdata, or method. `type` is
 * handle_type: policies set knobs so often that luaL_checkudata(), which looks the type up by its name, would
 * be a third of the cost. */
typedef struct {
    const char *type;
    SimObject *object;
} Handle;

static const char instance_key[] = "warpwright.policy_instance";

void policy_state_belongs_to(lua_State *L, const char *instance) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)instance);
    lua_rawsetp(L, LUA_REGISTRYINDEX, instance_key);
}

const char *policy_of_state(lua_State *L) {
    const char *instance = lua_rawgetp(L, LUA_REGISTRYINDEX, instance_key) == LUA_TLIGHTUSERDATA
                               ? lua_touserdata(L, -1)
                               : "";
    lua_pop(L, 1);
    return instance;
}

SimObject *policy_object_test(lua_State *L, int index) {
    const Handle *handle = lua_type(L, index) == LUA_TUSERDATA ? lua_touserdata(L, index) : NULL;
    bool good = handle && lua_rawlen(L, index) == sizeof *handle && handle->type == handle_type;
    return good ? handle->object : NULL;
}

SimObject *policy_object_at(lua_State *L, int index) {
    SimObject *object = policy_object_test(L, index);
    if (!object) luaL_typeerror(L, index, handle_type);
    return object;
}

/* Caches call parts of SMs while they tick. */
bool policy_depends_on_order(const SimObject *object) {
    const SimObject *asking = policy_asking();
    if (!asking || asking == object) return false;
    bool own_part = object->class->part && object->parent == asking;
    return !own_part || asking->class == &sm_class;
}

void policy_refuse_in_question(lua_State *L, const SimObject *object, const char *of_it, const char *meant) {
    luaL_error(
        L,
        "%s%s: in a question, expected %s of %s, which asks, got one of another object, which may have "
        "ticked in this cycle or not; use it in a hook, and remember in self.state what the answer needs",
        object->path, of_it, meant, policy_asking()->path);
    abort();
}

static void check_question(lua_State *L, const SimObject *object, const Field *f, const char *meant) {
    if (policy_depends_on_order(object))
        policy_refuse_in_question(L, object, lua_pushfstring(L, ".%s", f->name), meant);
}

static bool is_visible(const Field *f) {
    bool kind = f->kind == FIELD_PARAM || f->kind == FIELD_STAT || f->kind == FIELD_STATE;
    return kind && (f->type == TYPE_U32 || f->type == TYPE_U64 || f->type == TYPE_DOUBLE);
}

/* Parameters are too many for a message. */
static void list_names(const Class *class, bool knobs, luaL_Buffer *text) {
    bool first = true;
    for (const Field *f = class->fields; f->kind != FIELD_END; f++) {
        if (!is_visible(f) || (!f->knob && (knobs || f->kind != FIELD_STATE))) continue;
        if (!first) luaL_addstring(text, ", ");
        luaL_addstring(text, f->name);
        first = false;
    }
}

static void list_methods(const Class *class, luaL_Buffer *text) {
    const char *before = "; methods: ";
    for (const Method *m = class->methods; m && m->name; m++, before = ", ") {
        luaL_addstring(text, before);
        luaL_addstring(text, m->name);
    }
    luaL_addstring(text, "; also parameters and statistics, as --describe ");
    luaL_addstring(text, class->name);
    luaL_addstring(text, " has them");
}

/* The name that was meant, if one is near. */
static void add_near_name(lua_State *L, const SimObject *object, bool knob, const char *name) {
    NearName near = near_name(name);
    const char *kind = "";
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        if (is_visible(f) && (f->knob || !knob)) near_name_try(&near, f->name);
    const char *value = near.name;
    for (const Method *m = knob ? NULL : object->class->methods; m && m->name; m++)
        near_name_try(&near, m->name);
    if (near.name != value) kind = "the method ";
    lua_pushfstring(L, near.name ? "; did you mean %s%s?" : "", kind, near.name);
}

static int no_such_name(lua_State *L, const SimObject *object, bool knob) {
    luaL_Buffer text;
    const char *name = luaL_tolstring(L, 2, NULL);
    luaL_buffinit(L, &text);
    list_names(object->class, knob, &text);
    if (!luaL_bufflen(&text)) luaL_addstring(&text, "none");
    if (!knob) list_methods(object->class, &text);
    luaL_pushresult(&text);
    const char *names = lua_tostring(L, -1);
    add_near_name(L, object, knob, name);
    return luaL_error(L, "%s: no %s matches '%s'; available: %s%s", object->path, knob ? "knob" : "value",
                      name, names, lua_tostring(L, -1));
}

static void push_choice(lua_State *L, const Field *f, uint32_t index) {
    const char *word = f->choices;
    while (index--)
        word = strchr(word, '|') + 1;
    lua_pushlstring(L, word, strcspn(word, "|"));
}

/* A counter of an object that sleeps goes on where somebody looks: it must not show who sleeps. Not in a question, which
 * comes in the midst of a cycle. */
static COLD void settle(SimObject *object) {
    bool begun = object->sim->now != 0 || object->cluster->now != 0;
    if (begun && !policy_asking()) object->class->settle(object, object_next_cycle(object));
}

static void push_value(lua_State *L, SimObject *object, const Field *f) {
    if (f->kind == FIELD_STAT && object->class->settle) settle(object);
    if (f->kind == FIELD_STATE) object_touch(object);
    const void *at = (const char *)object + f->offset;
    const uint64_t *whole = at;
    if (f->flag)
        lua_pushboolean(L, *(const uint32_t *)at != 0);
    else if (f->choices)
        push_choice(L, f, *(const uint32_t *)at);
    else if (f->type == TYPE_DOUBLE)
        lua_pushnumber(L, *(const double *)at);
    else
        lua_pushinteger(L, f->type == TYPE_U32 ? *(const uint32_t *)at : (lua_Integer)*whole);
}

/* Pushes what the name stands for in the class: a Field as light userdata, a method, or nil. */
static int push_member(lua_State *L) {
    lua_getiuservalue(L, 1, 1);
    lua_pushvalue(L, 2);
    return lua_rawget(L, -2);
}

/* handle.name, which is no method. Upvalues: the object and the table of its class. */
static int l_index(lua_State *L) {
    SimObject *object = lua_touserdata(L, lua_upvalueindex(1));
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) == LUA_TLIGHTUSERDATA) {
        const Field *f = lua_touserdata(L, -1);
        if (f->kind != FIELD_PARAM || f->knob) check_question(L, object, f, "a parameter, or a value");
        push_value(L, object, f);
        return 1;
    }
    const char *name = lua_isstring(L, 2) ? lua_tostring(L, 2) : "";
    if (strcmp(name, "path") == 0) return lua_pushstring(L, object->path), 1;
    if (strcmp(name, "class") == 0) return lua_pushstring(L, object->class->name), 1;
    return no_such_name(L, object, false);
}

_Noreturn static void refuse(lua_State *L, const SimObject *object, const Field *f, const char *expected) {
    luaL_error(L, "%s.%s: expected %s, got %s", object->path, f->name, expected, push_given(L, 3));
    abort();
}

static uint32_t choice_at(lua_State *L, const SimObject *object, const Field *f) {
    const char *word = lua_type(L, 3) == LUA_TSTRING ? lua_tostring(L, 3) : "";
    size_t length = strlen(word);
    uint32_t index = 0;
    for (const char *at = f->choices; at && length; index++) {
        if (strncmp(at, word, length) == 0 && (at[length] == '|' || at[length] == 0)) return index;
        at = strchr(at, '|');
        if (at) at++;
    }
    refuse(L, object, f, lua_pushfstring(L, "one of %s", luaL_gsub(L, f->choices, "|", ", ")));
}

static bool is_bounded(const Field *f) {
    return f->min != 0 || f->max != 0;
}

static bool is_outside(const Field *f, double value) {
    return is_bounded(f) && (value < f->min || value > f->max);
}

/* Pushes what is legal for a number, in words. */
static const char *push_wanted_number(lua_State *L, const Field *f) {
    char bounds[2 * sizeof(NumberText) + 16] = "";
    bool whole = f->type != TYPE_DOUBLE,
         set = whole && !is_bounded(f) && (strcmp(f->unit, "warps") == 0 || strcmp(f->unit, "classes") == 0);
    if (is_bounded(f))
        snprintf(bounds, sizeof bounds, " from %s to %s", number_text(f->min, (NumberText){0}),
                 number_text(f->max, (NumberText){0}));
    else if (f->type == TYPE_U32)
        snprintf(bounds, sizeof bounds, " from 0 to %u", UINT32_MAX);
    if (set) return lua_pushfstring(L, "a set of %s (a whole number%s)", f->unit, bounds);
    return lua_pushfstring(L, "a %s%s",
                           f->power_of_two ? "power of two"
                           : whole         ? "whole number"
                                           : "number",
                           bounds);
}

/* Texts are no numbers here: policies compute. */
static lua_Integer whole_number_at(lua_State *L, const SimObject *object, const Field *f) {
    int whole = lua_type(L, 3) == LUA_TNUMBER;
    lua_Integer value = whole ? lua_tointegerx(L, 3, &whole) : 0;
    bool small = f->type == TYPE_U32 && (value < 0 || value > UINT32_MAX);
    bool broken = f->power_of_two && (value <= 0 || (value & (value - 1)) != 0);
    if (whole && !small && !broken && !is_outside(f, (double)value)) return value;
    refuse(L, object, f, push_wanted_number(L, f));
}

static double number_at(lua_State *L, const SimObject *object, const Field *f) {
    double value = lua_tonumber(L, 3);
    if (lua_type(L, 3) != LUA_TNUMBER || is_outside(f, value) || value != value)
        refuse(L, object, f, push_wanted_number(L, f));
    return value;
}

static uint32_t flag_at(lua_State *L, const SimObject *object, const Field *f) {
    if (!lua_isboolean(L, 3)) refuse(L, object, f, "true or false");
    return (uint32_t)lua_toboolean(L, 3);
}

/* The value at index 3, which must be legal for the knob, as the bytes of the field. */
static void value_at(lua_State *L, const SimObject *object, const Field *f, void *at) {
    if (f->flag)
        *(uint32_t *)at = flag_at(L, object, f);
    else if (f->choices)
        *(uint32_t *)at = choice_at(L, object, f);
    else if (f->type == TYPE_DOUBLE)
        *(double *)at = number_at(L, object, f);
    else if (f->type == TYPE_U32)
        *(uint32_t *)at = (uint32_t)whole_number_at(L, object, f);
    else
        *(uint64_t *)at = (uint64_t)whole_number_at(L, object, f);
}

/* Returns whether a knob had another value. All have four or eight bytes. */
static bool put_value(void *at, uint64_t bytes, uint64_t value) {
    uint64_t before = bytes == sizeof before ? *(uint64_t *)at : *(uint32_t *)at;
    if (bytes == sizeof before)
        *(uint64_t *)at = value;
    else
        *(uint32_t *)at = (uint32_t)value;
    return before != value;
}

static void knobs_changed(SimObject *object) {
    if (object->class->knobs_set && !object->class->knobs_set(object)) return;
    object_wake(object); /* to look at the knobs, which count from the next cycle on */
}

/* The knob that index 2 names; its value, at index 3, as `value`. */
static const Field *knob_at(lua_State *L, const SimObject *object, uint64_t *value) {
    const Field *f = push_member(L) == LUA_TLIGHTUSERDATA ? lua_touserdata(L, -1) : NULL;
    if (!f || !f->knob) no_such_name(L, object, true);
    *value = 0;
    value_at(L, object, f, value);
    return f;
}

/* handle.name = value; nothing happens when it has this value. */
static int l_newindex(lua_State *L) {
    SimObject *object = policy_object_at(L, 1);
    uint64_t value;
    const Field *f = knob_at(L, object, &value);
    check_question(L, object, f, "a knob");
    object_touch(object);
    if (!put_value((char *)object + f->offset, f->bytes, value)) return 0;
    trace_knob(object, f->name, value);
    knobs_changed(object);
    return 0;
}

/* What a knob is set to: the value; or, with 1 as value and MAX_WARP to shift by, the set of the warp that
 * the argument is; or, with 0 as value and all bits to take, the argument. Nothing else is looked at when it
 * is set: settings are made so seldom that each line of them is a miss. */
typedef struct {
    SimObject *object;
    void *at;
    uint64_t value, taken; /* bits of the argument */
    uint8_t bytes, shift;  /* bits of the argument */
    bool last;             /* of those of the object, which stand together */
} KnobValue;

enum { MAX_WARP = 63 };

/* Values for several knobs, checked when they were written down. */
struct Setting {
    uint32_t count;
    bool wants_argument, wants_warp;
    KnobValue row[];
};

bool policy_setting_takes(const Setting *setting, uint64_t argument) {
    return !setting->wants_warp || argument <= MAX_WARP;
}

static COLD const Field *knob_of(const KnobValue *row) {
    size_t offset = (size_t)((const char *)row->at - (const char *)row->object);
    const Field *f = row->object->class->fields;
    while (!f->knob || f->offset != offset)
        f++;
    return f;
}

void policy_setting_apply(const Setting *setting, uint64_t argument) {
    bool changed = false;
    for (const KnobValue *row = setting->row, *end = row + setting->count; row < end; row++) {
        uint64_t value = row->value << (argument & row->shift) | (argument & row->taken);
        object_touch(row->object);
        if (put_value(row->at, row->bytes, value)) {
            changed = true;
            if (__builtin_expect(row->object->sim->tracer != NULL, 0))
                trace_knob(row->object, knob_of(row)->name, value);
        }
        if (!row->last) continue;
        if (changed) knobs_changed(row->object);
        changed = false;
    }
}

bool policy_setting_is_within(const Setting *setting, const Cluster *cluster) {
    for (uint64_t i = 0; i < setting->count; i++)
        if (setting->row[i].object->cluster != cluster) return false;
    return true;
}

/* It may have no argument at all. */
_Noreturn COLD static void refuse_argument(lua_State *L, const Setting *setting) {
    const KnobValue *row = setting->row;
    lua_settop(L, 1);
    while (!(setting->wants_warp ? row->shift != 0 : row->taken != 0))
        row++;
    luaL_error(L, "%s.%s: expected a %s as argument of the setting, got %s", row->object->path,
               knob_of(row)->name, setting->wants_warp ? "warp from 0 to 63" : "whole number",
               push_given(L, 1));
    abort();
}

static int l_set(lua_State *L) {
    const Setting *setting = lua_touserdata(L, lua_upvalueindex(1));
    int is_whole = 1;
    lua_Integer argument = setting->wants_argument ? lua_tointegerx(L, 1, &is_whole) : 0;
    if (!is_whole || !policy_setting_takes(setting, (uint64_t)argument)) refuse_argument(L, setting);
    for (uint32_t i = 0; policy_asking() && i < setting->count; i++)
        check_question(L, setting->row[i].object, knob_of(&setting->row[i]), "a knob");
    policy_setting_apply(setting, (uint64_t)argument);
    return 0;
}

const Setting *policy_setting_at(lua_State *L, int index) {
    if (lua_tocfunction(L, index) != l_set || !lua_getupvalue(L, index, 1)) return NULL;
    const Setting *setting = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return setting;
}

/* Is the value at the index this function of the library? */
static bool is_library_function(lua_State *L, int index, const char *module, const char *name) {
    int top = lua_gettop(L);
    if (!lua_isfunction(L, index)) return false;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    bool same = lua_getfield(L, -1, module) == LUA_TTABLE && lua_getfield(L, -1, name) == LUA_TFUNCTION &&
                lua_rawequal(L, -1, index);
    lua_settop(L, top);
    return same;
}

static bool is_set(const Field *f) {
    return f->type == TYPE_U64 && !f->flag && !f->choices && !f->power_of_two && f->min == 0 && f->max == 0;
}

/* (handle, name, value, KnobValue), as a function so that the values stand where others look for them. */
static int l_write_down(lua_State *L) {
    KnobValue *row = lua_touserdata(L, 4);
    SimObject *object = policy_object_at(L, 1);
    bool bits_of = is_library_function(L, 3, "warpwright.bits", "of");
    bool argument = is_library_function(L, 3, "warpwright.policy", "argument");
    if (bits_of || argument) { /* checked as the set of the first warp */
        lua_pushinteger(L, 1);
        lua_replace(L, 3);
    }
    *row = (KnobValue){.object = object, .shift = bits_of ? MAX_WARP : 0, .taken = argument ? ~0ull : 0};
    const Field *knob = knob_at(L, object, &row->value);
    if ((bits_of || argument) && !is_set(knob))
        luaL_error(L, "%s.%s: expected a value, got %s, which is for sets", object->path, knob->name,
                   bits_of ? "bits.of" : "policy.argument");
    if (argument) row->value = 0;
    row->at = (char *)object + knob->offset;
    row->bytes = (uint8_t)knob->bytes;
    return 0;
}

/* What a C function threw that another one has called names no line. */
_Noreturn COLD static void raise_at_caller(lua_State *L) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
    lua_error(L);
    abort();
}

static void write_down(lua_State *L, int handle, Setting *setting, uint64_t capacity) {
    uint32_t first = setting->count;
    for (lua_pushnil(L); lua_next(L, handle + 1); lua_pop(L, 1)) {
        if (setting->count == capacity) /* a finalizer is at work */
            luaL_error(L, "setting: values were added while they were written down");
        KnobValue *row = &setting->row[setting->count++];
        lua_pushcfunction(L, l_write_down);
        lua_pushvalue(L, handle);
        lua_pushvalue(L, -4);
        lua_pushvalue(L, -4);
        lua_pushlightuserdata(L, row);
        if (lua_pcall(L, 4, 0, 0) != LUA_OK) raise_at_caller(L);
        setting->wants_warp |= row->shift != 0;
        setting->wants_argument |= (row->shift | row->taken) != 0;
    }
    if (setting->count > first) setting->row[setting->count - 1].last = true;
}

/* handle:setting({ name = value, ... } [, handle, { ... }]...) -> a function that sets them all. It has an
 * argument when values are bits.of or policy.argument. */
static int l_setting(lua_State *L) {
    size_t count = 0;
    int end = lua_gettop(L) + 1;
    for (int handle = 1; handle < end || handle == 1; handle += 2) {
        policy_object_at(L, handle);
        luaL_checktype(L, handle + 1, LUA_TTABLE);
        for (lua_pushnil(L); lua_next(L, handle + 1); lua_pop(L, 1))
            count++;
    }
    Setting *setting = lua_newuserdatauv(L, sizeof *setting + count * sizeof *setting->row, 0);
    *setting = (Setting){0};
    for (int handle = 1; handle < end; handle += 2)
        write_down(L, handle, setting, count);
    lua_pushcclosure(L, l_set, 1);
    return 1;
}

static int l_tostring(lua_State *L) {
    lua_pushstring(L, policy_object_at(L, 1)->path);
    return 1;
}

/* Pushes the table of a class's fields, made when it is first wanted. */
static void push_class_table(lua_State *L, const Class *class) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, class) == LUA_TTABLE) return;
    lua_pop(L, 1);
    lua_newtable(L);
    for (const Field *f = class->fields; f->kind != FIELD_END; f++) {
        if (!is_visible(f)) continue;
        lua_pushlightuserdata(L, (void *)(uintptr_t)f);
        lua_setfield(L, -2, f->name);
    }
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, class);
}

static void push_methods(lua_State *L, const Handle *handle) {
    lua_newtable(L);
    method_calls_push(L, handle, handle->object);
    lua_pushcfunction(L, l_setting);
    lua_setfield(L, -2, "setting");
}

/* A handle has a metatable of its own, whose __index is a table: Lua finds methods there without a call, and
 * what is none where that table's own __index, which knows the object, looks. */
void policy_object_push(lua_State *L, SimObject *object) {
    static const luaL_Reg metamethods[] = {
        {"__newindex", l_newindex}, {"__tostring", l_tostring}, {NULL, NULL}};
    Handle *handle = lua_newuserdatauv(L, sizeof *handle, 1);
    *handle = (Handle){handle_type, object};
    push_class_table(L, object->class);
    lua_setiuservalue(L, -2, 1);
    luaL_newlib(L, metamethods);
    lua_pushstring(L, handle_type);
    lua_setfield(L, -2, "__name");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    push_methods(L, handle);
    lua_newtable(L);
    lua_pushlightuserdata(L, object);
    push_class_table(L, object->class);
    lua_pushcclosure(L, l_index, 2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}
