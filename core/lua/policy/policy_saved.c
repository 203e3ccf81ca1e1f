/* What instances remember, in checkpoints and from one machine to the one that takes its place. */
#include "core/lua/host/plain_data.h"
#include "core/lua/policy/policy.h"
#include "core/lua/policy/policy_instance.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void push_counters(PolicyInstance *instance) {
    bindings_count(&instance->bindings, instance->L, COUNTERS);
    lua_pushvalue(instance->L, COUNTERS);
}

/* NULL, or what is not plain in it, which then is on top of the stack. */
static const char *save_state(PolicyInstance *instance, Buffer *buffer) {
    lua_pushliteral(instance->L, "state");
    lua_rawget(instance->L, SELF);
    return plain_save_table(instance->L, -1, "state", buffer);
}

void check_state(PolicyInstance *instance, const char *when) {
    char message[MESSAGE_BYTES];
    Buffer buffer = {0};
    if (instance->failed) return;
    Caller caller = present_caller();
    const char *problem = save_state(instance, &buffer);
    buffer_free(&buffer);
    if (problem) {
        snprintf(message, sizeof message, "policy %s, %s, at cycle %lu: %s", instance->name, when,
                 object_cycle(instance->about, instance->machine->sim->now), problem);
        instance->failed = instance->bindings.off = true;
        object_fail(instance->about, message);
    }
    lua_settop(instance->L, instance->at_rest);
    return_to(caller);
}

/* A resumed run calls start() anew: what was remembered in what that makes would be lost. NULL, or what it
 * is, on top of the stack. */
static const char *find_change(PolicyInstance *instance) {
    begin_call(instance, instance->changed);
    lua_pcall(instance->L, 1, 1, 0);
    return lua_isnil(instance->L, -1) ? NULL : thrown_text(instance->L);
}

static const char *save_instance(PolicyInstance *instance, Buffer *buffer) {
    buffer_text(buffer, instance->name);
    const char *problem = save_state(instance, buffer);
    if (!problem) problem = find_change(instance);
    if (problem) return problem;
    push_counters(instance);
    problem = plain_save(instance->L, -1, "counters", buffer);
    if (problem) return problem;
    shared_push(instance);
    return plain_save(instance->L, -1, "what is shared", buffer);
}

bool policies_save(Machine *machine, Buffer *buffer, char *why, size_t why_size) {
    Caller caller = present_caller();
    const char *problem = NULL;
    buffer_u32(buffer, machine->policy_count);
    for (uint32_t i = 0; i < machine->policy_count && !problem; i++) {
        PolicyInstance *instance = machine->policies[i];
        problem = save_instance(instance, buffer);
        if (problem) snprintf(why, why_size, "policy %s: %s", instance->name, problem);
        lua_settop(instance->L, instance->at_rest);
    }
    return_to(caller);
    if (problem) buffer_free(buffer);
    return !problem;
}

/* Pushes what an instance remembered, what it shares, and the table of its counters. */
static bool load_state(lua_State *L, Reader *reader) {
    if (!lua_checkstack(L, LUA_MINSTACK) || !plain_load(L, reader) || !plain_load(L, reader)) return false;
    bool good = lua_istable(L, -1) && plain_load(L, reader);
    if (good) lua_insert(L, -2);
    return good;
}

/* Those on top of the stack, which must be the instance's. Its table stays the same one: the instance's
 * library holds it, too. */
static bool take_counters(PolicyInstance *instance) {
    lua_State *L = instance->L;
    bindings_count(&instance->bindings, L, COUNTERS); /* which are those of start(), and go */
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        bool known = lua_rawget(L, COUNTERS) == LUA_TNUMBER && lua_isinteger(L, -2);
        lua_pop(L, 1);
        if (!known) return false;
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, COUNTERS);
    }
    return true;
}

static bool fail(char *why, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
static bool fail(char *why, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, size, format, arguments);
    va_end(arguments);
    return false;
}

static bool load_instance(PolicyInstance *instance, Reader *reader, char *why, size_t why_size) {
    char name[NAME_BYTES];
    lua_State *L = instance->L;
    if (!reader_name(reader, name, sizeof name) || strcmp(name, instance->name) != 0)
        return fail(why, why_size, "it was made with another policy");
    bool good = load_state(L, reader) && take_counters(instance);
    if (good) lua_settop(L, instance->at_rest + 2);
    good = good && shared_take(instance);
    if (good) {
        lua_pushliteral(L, "state");
        lua_pushvalue(L, instance->at_rest + 1);
        lua_rawset(L, SELF);
    }
    lua_settop(L, instance->at_rest);
    return good || fail(why, why_size, "policy %s: its saved state is damaged", instance->name);
}

bool policies_load(Machine *machine, Reader *reader, char *why, size_t why_size) {
    Caller caller = present_caller();
    uint32_t count = reader_u32(reader);
    bool good = count == machine->policy_count || fail(why, why_size, "it was made with another policy");
    for (uint32_t i = 0; good && i < count; i++)
        good = load_instance(machine->policies[i], reader, why, why_size);
    return_to(caller);
    return good &&
           (reader_at_end(reader) || fail(why, why_size, "damaged: bytes after the state of policies"));
}

bool policies_check(lua_State *L, Reader *reader, char *why, size_t why_size) {
    char name[NAME_BYTES] = "";
    int top = lua_gettop(L);
    uint32_t count = reader_u32(reader);
    bool good = !reader->failed;
    for (uint32_t i = 0; good && i < count; i++) {
        good = reader_name(reader, name, sizeof name) && load_state(L, reader);
        lua_settop(L, top);
    }
    return (good && reader_at_end(reader)) ||
           fail(why, why_size, "policy %s: its saved state is damaged", name);
}
