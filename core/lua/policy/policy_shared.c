/* Numbers that the instances of a policy tell each other. What one says the others see from the next boundary of
 * a quantum on: sooner, it would depend on which of them a thread had run first. */
#include "core/lua/policy/policy_instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_MAX = 65536 };

/* Is it an instance of the policy, whose name has this length? */
static bool is_of(const PolicyInstance *instance, const char *policy, size_t length) {
    return length == strcspn(instance->name, " ") && memcmp(instance->name, policy, length) == 0;
}

static void show_to_others(void *context, Sim *sim) {
    PolicyInstance *instance = context;
    (void)sim;
    memcpy(instance->shared, instance->next, instance->shared_count * sizeof *instance->shared);
}

/* native.share_numbers(count, rows): before the others. rows: "NAME FIRST COUNT\n" of each name. */
static int l_share_numbers(lua_State *L) {
    PolicyInstance *instance = instance_of_function(L);
    lua_Integer count = luaL_checkinteger(L, 1);
    luaL_argcheck(L, count > 0 && count <= SHARED_MAX && !instance->next, 1, "expected 1 to 65536");
    instance->shared_rows = strdup(luaL_checkstring(L, 2));
    ensure_memory(instance->shared_rows);
    instance->shared_count = (uint32_t)count;
    instance->next = malloc(2 * (size_t)count * sizeof *instance->next);
    ensure_memory(instance->next);
    instance->shared = instance->next + count;
    for (lua_Integer i = 0; i < 2 * count; i++)
        instance->next[i] = (SharedNumber){.is_whole = true};
    sim_at_boundary(instance->machine->sim, show_to_others, instance);
    return 0;
}

static uint32_t number_at(lua_State *L, const PolicyInstance *instance) {
    lua_Integer i = luaL_checkinteger(L, 1);
    luaL_argcheck(L, i >= 0 && i < instance->shared_count, 1, "expected a number that is shared");
    return (uint32_t)i;
}

/* native.share(i, value) */
static int l_share(lua_State *L) {
    PolicyInstance *instance = instance_of_function(L);
    SharedNumber *number = &instance->next[number_at(L, instance)];
    *number = (SharedNumber){.is_whole = lua_isinteger(L, 2)};
    if (number->is_whole)
        number->whole = lua_tointeger(L, 2);
    else
        number->real = luaL_checknumber(L, 2);
    sim_request_boundary(instance->machine->sim);
    return 0;
}

static void push_number(lua_State *L, const SharedNumber *number) {
    if (number->is_whole)
        lua_pushinteger(L, number->whole);
    else
        lua_pushnumber(L, number->real);
}

/* Pushes a list of what all instances of the policy have said, in their order. Returns the caller's place in it, or 0. */
static lua_Integer push_said(lua_State *L, const PolicyInstance *caller, const char *policy, size_t length,
                             uint32_t i) {
    lua_Integer count = 0, own = 0;
    lua_newtable(L);
    for (uint32_t k = 0; k < caller->machine->policy_count; k++) {
        const PolicyInstance *other = caller->machine->policies[k];
        if (!is_of(other, policy, length) || i >= other->shared_count) continue;
        push_number(L, &other->shared[i]);
        lua_rawseti(L, -2, ++count);
        if (other == caller) own = count;
    }
    return own;
}

/* native.shared(i) -> that list of the caller's policy, the caller's place in it */
static int l_shared(lua_State *L) {
    const PolicyInstance *instance = instance_of_function(L);
    uint32_t i = number_at(L, instance);
    lua_pushinteger(L, push_said(L, instance, instance->name, strcspn(instance->name, " "), i));
    return 2;
}

/* The row of a name, or NULL. */
static const char *row_of(const char *rows, const char *name) {
    size_t length = strlen(name);
    for (const char *row = rows; *row; row = strchr(row, '\n') + 1)
        if (strncmp(row, name, length) == 0 && row[length] == ' ') return row + length;
    return NULL;
}

/* native.shared_by(policy, name, index) -> that list of another policy; or nil, and what is wrong: "policy" nobody of
 * that name shares numbers, the rows of those that it shares, or the last index. */
static int l_shared_by(lua_State *L) {
    const PolicyInstance *instance = instance_of_function(L), *first = NULL;
    size_t length;
    const char *policy = luaL_checklstring(L, 1, &length), *name = luaL_checkstring(L, 2);
    lua_Integer index = luaL_checkinteger(L, 3);
    uint32_t from = 0, count = 0;
    for (uint32_t k = 0; !first && k < instance->machine->policy_count; k++) {
        const PolicyInstance *other = instance->machine->policies[k];
        if (is_of(other, policy, length) && other->shared_count) first = other;
    }
    const char *row = first ? row_of(first->shared_rows, name) : NULL;
    if (row) (void)sscanf(row, "%u %u", &from, &count);
    if (row && index >= 1 && index <= count) {
        (void)push_said(L, instance, policy, length, from + (uint32_t)index - 1);
        return 1;
    }
    lua_pushnil(L);
    if (row)
        lua_pushinteger(L, count);
    else
        lua_pushstring(L, first ? first->shared_rows : "policy");
    return 2;
}

void shared_push_functions(PolicyInstance *instance) {
    push_instance_function(instance, "share_numbers", l_share_numbers);
    push_instance_function(instance, "share", l_share);
    push_instance_function(instance, "shared", l_shared);
    push_instance_function(instance, "shared_by", l_shared_by);
}

void shared_push(const PolicyInstance *instance) {
    if (!instance->shared_count) {
        lua_pushnil(instance->L);
        return;
    }
    lua_newtable(instance->L);
    for (uint32_t i = 0; i < 2 * instance->shared_count; i++) {
        push_number(instance->L, &instance->next[i]);
        lua_rawseti(instance->L, -2, i + 1);
    }
}

static bool take_number(lua_State *L, SharedNumber *number) {
    *number = (SharedNumber){.is_whole = lua_isinteger(L, -1)};
    if (number->is_whole)
        number->whole = lua_tointeger(L, -1);
    else
        number->real = lua_tonumber(L, -1);
    return lua_type(L, -1) == LUA_TNUMBER;
}

/* Had it said something that nobody had seen when it was saved, at the end of a period, say? */
static bool has_news(const PolicyInstance *instance) {
    for (uint32_t i = 0; i < instance->shared_count; i++) {
        const SharedNumber *said = &instance->next[i], *seen = &instance->shared[i];
        if (said->is_whole != seen->is_whole || said->whole != seen->whole || said->real != seen->real)
            return true;
    }
    return false;
}

bool shared_take(PolicyInstance *instance) {
    lua_State *L = instance->L;
    uint32_t count = 2 * instance->shared_count;
    if (!count) return lua_isnil(L, -1);
    if (!lua_istable(L, -1) || lua_rawlen(L, -1) != count) return false;
    bool good = true;
    for (uint32_t i = 0; good && i < count; i++) {
        lua_rawgeti(L, -1, i + 1);
        good = take_number(L, &instance->next[i]);
        lua_pop(L, 1);
    }
    if (good && has_news(instance)) sim_request_boundary(instance->machine->sim);
    return good;
}
