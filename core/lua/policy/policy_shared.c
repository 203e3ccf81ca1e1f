/* Numbers that the instances of a policy tell each other. What one says the others see from the next boundary of
 * a quantum on: sooner, it would depend on which of them a thread had run first. */
#include "core/lua/policy/policy_instance.h"

#include <stdlib.h>
#include <string.h>

enum { SHARED_MAX = 65536 };

/* Are they instances of the same policy? */
static bool are_siblings(const PolicyInstance *a, const PolicyInstance *b) {
    size_t length = strcspn(a->name, " ");
    return length == strcspn(b->name, " ") && memcmp(a->name, b->name, length) == 0;
}

static void show_to_others(void *context, Sim *sim) {
    PolicyInstance *instance = context;
    (void)sim;
    memcpy(instance->shared, instance->next, instance->shared_count * sizeof *instance->shared);
}

/* native.share_numbers(count): before the others */
static int l_share_numbers(lua_State *L) {
    PolicyInstance *instance = instance_of_function(L);
    lua_Integer count = luaL_checkinteger(L, 1);
    luaL_argcheck(L, count > 0 && count <= SHARED_MAX && !instance->next, 1, "expected 1 to 65536");
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

/* native.shared(i) -> a list of what all instances of the policy have said, in their order, the caller's place in
 * it */
static int l_shared(lua_State *L) {
    const PolicyInstance *instance = instance_of_function(L);
    uint32_t i = number_at(L, instance);
    lua_Integer count = 0, own = 0;
    lua_newtable(L);
    for (uint32_t k = 0; k < instance->machine->policy_count; k++) {
        const PolicyInstance *other = instance->machine->policies[k];
        if (!are_siblings(instance, other) || i >= other->shared_count) continue;
        push_number(L, &other->shared[i]);
        lua_rawseti(L, -2, ++count);
        if (other == instance) own = count;
    }
    lua_pushinteger(L, own);
    return 2;
}

void shared_push_functions(PolicyInstance *instance) {
    push_instance_function(instance, "share_numbers", l_share_numbers);
    push_instance_function(instance, "share", l_share);
    push_instance_function(instance, "shared", l_shared);
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
    return good;
}
