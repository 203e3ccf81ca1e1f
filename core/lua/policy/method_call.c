#include "core/lua/policy/method_call.h"

#include "core/lua/bindings.h"
#include "core/sim/method.h"

#include <stdlib.h>

/* A method of a handle. */
typedef struct {
    const Method *method;
    const void *handle;
    SimObject *object;
    const char *caller;
} BoundMethod;

enum { FIRST_ARGUMENT = 2 }; /* in Lua's stack, behind the object */

/* Before anything else is pushed: an argument that is missing has no place on the stack. */
static const char *push_given_value(lua_State *L, int index) {
    if (lua_isnone(L, index)) return lua_pushliteral(L, "nothing");
    const SimObject *object = policy_object_test(L, index);
    return object ? lua_pushstring(L, object->path) : push_given(L, index);
}

/* Pushes what is legal for an argument, in words. */
static const char *push_expected(lua_State *L, const MethodParameter *argument, const SimObject *object) {
    MethodBounds bounds = method_bounds(argument, object);
    switch (argument->kind) {
    case VALUE_SET: return lua_pushfstring(L, "a set of %s (a whole number)", argument->unit);
    case VALUE_FLAG: return lua_pushliteral(L, "true, false, 1 or 0");
    case VALUE_OBJECT: return lua_pushstring(L, argument->class->name);
    case VALUE_TEXT: return lua_pushliteral(L, "a text");
    default: break;
    }
    if (bounds.min == bounds.max) return lua_pushfstring(L, "%I", (LUAI_UACINT)bounds.min);
    if (bounds.min == INT64_MIN) return lua_pushliteral(L, "a whole number");
    return lua_pushfstring(L, "a whole number from %I to %I", (LUAI_UACINT)bounds.min,
                           (LUAI_UACINT)bounds.max);
}

_Noreturn COLD static void refuse(lua_State *L, const BoundMethod *bound, const SimObject *object, int i) {
    const MethodParameter *argument = &bound->method->arguments[i];
    const char *given = push_given_value(L, FIRST_ARGUMENT + i);
    luaL_error(L, "%s:%s: %s: expected %s, got %s", object->path, bound->method->name, argument->name,
               push_expected(L, argument, object), given);
    abort();
}

/* Texts are no numbers here: policies compute. */
static bool read_whole(lua_State *L, int index, int64_t *value) {
    int is_whole;
    *value = lua_tointegerx(L, index, &is_whole);
    return is_whole && lua_type(L, index) == LUA_TNUMBER;
}

/* Events and questions have flags as 1 and 0, which are handed on as they came. */
static bool read_flag(lua_State *L, int index, bool *flag) {
    int64_t number;
    *flag = lua_toboolean(L, index);
    if (lua_isboolean(L, index)) return true;
    if (!read_whole(L, index, &number)) return false;
    *flag = number == 1;
    return number == 0 || number == 1;
}

/* Of an argument that is no number. */
static bool read_other(lua_State *L, int index, const MethodParameter *argument, MethodValue *value) {
    if (argument->kind == VALUE_FLAG) return read_flag(L, index, &value->flag);
    if (argument->kind == VALUE_TEXT) {
        bool is_text = lua_type(L, index) == LUA_TSTRING;
        value->text = is_text ? lua_tostring(L, index) : NULL;
        return is_text;
    }
    value->object = policy_object_test(L, index);
    return value->object && value->object->class == argument->class;
}

/* Reads the value at the index, if it is legal for the argument. */
static inline bool read_argument(lua_State *L, int index, const MethodParameter *argument,
                                 const SimObject *object, MethodValue *value) {
    if (argument->kind == VALUE_SET) return read_whole(L, index, &value->whole);
    if (argument->kind != VALUE_WHOLE) return read_other(L, index, argument, value);
    MethodBounds bounds = method_bounds(argument, object);
    return read_whole(L, index, &value->whole) && value->whole >= bounds.min && value->whole <= bounds.max;
}

static void push_result(lua_State *L, const MethodParameter *result, const MethodValue *value) {
    switch (result->kind) {
    case VALUE_FLAG: lua_pushboolean(L, value->flag); break;
    case VALUE_OBJECT: policy_object_push(L, value->object); break;
    case VALUE_TEXT: lua_pushstring(L, value->text); break;
    default: lua_pushinteger(L, value->whole);
    }
}

static int push_results(lua_State *L, const Method *method, const MethodCall *call) {
    int count = 0;
    if (call->nothing) return lua_pushnil(L), 1;
    for (; method->results[count].kind; count++)
        push_result(L, &method->results[count], &call->result[count]);
    return count;
}

/* Somebody took the method from one handle and calls it with another, or without the colon. */
COLD static SimObject *other_object(lua_State *L, const BoundMethod *bound) {
    SimObject *object = policy_object_test(L, 1);
    const char *class = bound->object->class->name;
    if (!object || object->class != bound->object->class)
        luaL_error(L, "%s:%s: object before the colon: expected %s, got %s", class, bound->method->name,
                   class, push_given_value(L, 1));
    return object;
}

static int l_call(lua_State *L) {
    const BoundMethod *bound = lua_touserdata(L, lua_upvalueindex(1));
    const Method *method = bound->method;
    bool own = lua_touserdata(L, 1) == bound->handle;
    SimObject *object = own ? bound->object : other_object(L, bound);
    MethodCall call;
    call.elsewhere = policy_depends_on_order(object);
    if (!method->fixed && call.elsewhere)
        policy_refuse_in_question(L, object, lua_pushfstring(L, ":%s", method->name), "a method");
    call.caller = bound->caller;
    call.asked = policy_asking() != NULL;
    call.nothing = false;
    call.refusal[0] = 0;
    for (int i = 0; method->arguments[i].kind; i++)
        if (!read_argument(L, FIRST_ARGUMENT + i, &method->arguments[i], object, &call.argument[i]))
            refuse(L, bound, object, i);
    if (!method->fixed) object_touch(object);
    method->call(object, &call);
    if (call.refusal[0]) luaL_error(L, "%s:%s: %s", object->path, method->name, call.refusal);
    return push_results(L, method, &call);
}

void method_calls_push(lua_State *L, const void *handle, SimObject *object) {
    const char *caller = policy_of_state(L);
    for (const Method *method = object->class->methods; method && method->name; method++) {
        BoundMethod *bound = lua_newuserdatauv(L, sizeof *bound, 0);
        *bound = (BoundMethod){method, handle, object, caller};
        lua_pushcclosure(L, l_call, 1);
        lua_setfield(L, -2, method->name);
    }
}
