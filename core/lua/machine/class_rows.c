/* The rows of a class as Lua tables: for what is generated from them, the reference of policies and what
 * editors know. */
#include "core/lua/bindings.h"
#include "core/sim/method.h"

#include <string.h>

static void set_text(lua_State *L, const char *name, const char *text) {
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void set_flag(lua_State *L, const char *name, bool flag) {
    lua_pushboolean(L, flag);
    lua_setfield(L, -2, name);
}

static void append(lua_State *L) {
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

static const Class *class_at_1(lua_State *L) {
    const Class *class = class_find(luaL_checkstring(L, 1));
    luaL_argcheck(L, class, 1, "expected the name of a class");
    return class;
}

static const char *row_kind(const Field *f) {
    switch (f->kind) {
    case FIELD_PARAM: return "parameter";
    case FIELD_PORT: return "port";
    case FIELD_PORT_ARRAY: return "ports";
    case FIELD_STATE: return "state";
    case FIELD_STAT: return "statistic";
    case FIELD_FORMULA: return "formula";
    case FIELD_CHILD: return "child";
    default: return NULL; /* nobody can name it */
    }
}

static const char *value_kind(const Field *f) {
    if (f->flag) return "flag";
    if (f->choices) return "choice";
    switch (f->type) {
    case TYPE_U32:
    case TYPE_U64: return "whole";
    case TYPE_DOUBLE: return "real";
    case TYPE_STRING: return "text";
    default: return NULL;
    }
}

/* core.class_rows(class) -> { { row = "parameter", "port", "ports", "state", "statistic", "formula" or
 * "child", name =, doc =, unit =, kind = "whole", "real", "flag", "choice", "text" or nil, choices = "a|b",
 * default = text, knob =, class = of a child } ... } */
static int l_class_rows(lua_State *L) {
    const Class *class = class_at_1(L);
    lua_newtable(L);
    for (const Field *f = class->fields; f->kind != FIELD_END; f++) {
        if (!row_kind(f)) continue;
        lua_newtable(L);
        set_text(L, "row", row_kind(f));
        set_text(L, "name", f->name);
        set_text(L, "doc", f->doc);
        set_text(L, "unit", f->unit);
        set_text(L, "kind", value_kind(f));
        set_text(L, "choices", f->choices);
        set_text(L, "default", f->initial);
        set_text(L, "class", f->child_class);
        set_flag(L, "knob", f->knob);
        append(L);
    }
    return 1;
}

/* "warp, pc" -> { "warp", "pc" } */
static void push_words(lua_State *L, const char *words) {
    lua_newtable(L);
    for (; *words; words += strspn(words, ", ")) {
        size_t length = strcspn(words, ", ");
        lua_pushlstring(L, words, length);
        append(L);
        words += length;
    }
}

static void push_event(lua_State *L, const Event *event) {
    lua_createtable(L, 0, 5);
    set_text(L, "name", event->name);
    set_text(L, "doc", event->doc);
    set_flag(L, "question", event->question != NULL);
    set_text(L, "legal", event->question ? event->question->legal : NULL);
    push_words(L, event->arguments);
    lua_setfield(L, -2, "arguments");
}

/* core.class_events(class) -> { { name =, question =, arguments = { name ... }, legal = answers in words or
 * nil: true and false, doc = } ... } */
static int l_class_events(lua_State *L) {
    const Class *class = class_at_1(L);
    lua_newtable(L);
    for (const Event *event = class->events; event && event->name; event++) {
        push_event(L, event);
        append(L);
    }
    return 1;
}

static const Event *event_of(const Class *class, const char *name) {
    for (const Event *event = class->events; event && event->name; event++) {
        if (strcmp(event->name, name) == 0) return event;
    }
    return NULL;
}

/* core.class_event(class, name) -> the one of class_events(class) with this name, or nil */
static int l_class_event(lua_State *L) {
    const Event *event = event_of(class_at_1(L), luaL_checkstring(L, 2));
    if (!event) return 0;
    push_event(L, event);
    return 1;
}

/* core.is_question(name): has a class a question of this name? */
static int l_is_question(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    bool found = false;
    for (uint32_t i = 0; i < class_count() && !found; i++) {
        const Event *event = event_of(class_at(i), name);
        found = event && event->question;
    }
    lua_pushboolean(L, found);
    return 1;
}

static void push_method_parameters(lua_State *L, const MethodParameter *parameter) {
    static const char *const kinds[] = {[VALUE_WHOLE] = "whole",
                                        [VALUE_SET] = "set",
                                        [VALUE_FLAG] = "flag",
                                        [VALUE_OBJECT] = "object",
                                        [VALUE_TEXT] = "text"};
    lua_newtable(L);
    for (; parameter->kind; parameter++) {
        lua_newtable(L);
        set_text(L, "name", parameter->name);
        set_text(L, "kind", kinds[parameter->kind]);
        set_text(L, "unit", parameter->unit);
        set_text(L, "below", parameter->below);
        set_text(L, "class", parameter->class ? parameter->class->name : NULL);
        if (parameter->min != 0 || parameter->max != 0) {
            lua_pushinteger(L, parameter->min);
            lua_setfield(L, -2, "min");
            lua_pushinteger(L, parameter->max);
            lua_setfield(L, -2, "max");
        }
        append(L);
    }
}

/* core.class_methods(class) -> { { name =, doc =, may_be_nil =, arguments = { { name =, kind = "whole",
 * "set", "flag", "object" or "text", unit = of a set, min =, max =, below = the parameter above a whole number, class
 * = of an object } ... }, results = the same } ... } */
static int l_class_methods(lua_State *L) {
    const Class *class = class_at_1(L);
    lua_newtable(L);
    for (const Method *method = class->methods; method && method->name; method++) {
        lua_newtable(L);
        set_text(L, "name", method->name);
        set_text(L, "doc", method->doc);
        set_flag(L, "may_be_nil", method->may_be_nil);
        push_method_parameters(L, method->arguments);
        lua_setfield(L, -2, "arguments");
        push_method_parameters(L, method->results);
        lua_setfield(L, -2, "results");
        append(L);
    }
    return 1;
}

void class_rows_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"class_rows", l_class_rows},       {"class_events", l_class_events},
                                         {"class_event", l_class_event},     {"is_question", l_is_question},
                                         {"class_methods", l_class_methods}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
