#include "core/lua/policy/policy_binding.h"

#include "core/lua/policy/policy_filter.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BOUND = 64 };

struct Binding {
    Subscriber subscriber; /* first */
    Bindings *all;
    const Setting *any; /* whatever the event's first argument is; the registry keeps the settings */
    int64_t uncounted;  /* events of which the counter does not know yet */
    int counter;        /* its name in the registry; LUA_NOREF: none */
    Binding *next;
    Filter *filter;          /* or NULL: all events */
    const SimObject *object; /* whose event it answers */
    const char *name;        /* what the policy calls that; the registry keeps it */
    uint32_t event;
    const Setting *setting[MAX_BOUND]; /* by the first argument */
};

/* Other clusters are run by other threads. */
static const Setting *setting_at(lua_State *L, int index, const SimObject *emitter) {
    const Setting *setting = policy_setting_at(L, index);
    if (setting && !policy_setting_is_within(setting, emitter->cluster))
        luaL_error(L, "bind: expected settings of %s and its neighbours, got one of other objects",
                   emitter->path);
    return setting;
}

static void take_settings(lua_State *L, Binding *binding, const SimObject *emitter) {
    binding->any = setting_at(L, 3, emitter);
    if (binding->any) return;
    luaL_checktype(L, 3, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, 3);) {
        const Setting *value = setting_at(L, -1, emitter);
        lua_Integer which = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : -1;
        if (which < 0 || which >= MAX_BOUND || !value)
            luaL_error(
                L, "bind: expected { [argument] = what handle:setting() returned }, arguments from 0 to %d",
                MAX_BOUND - 1);
        binding->setting[which] = value;
        luaL_ref(L, LUA_REGISTRYINDEX);
    }
}

static int64_t handle_event(Subscriber *subscriber, SimObject *object, uint32_t event,
                            const int64_t *arguments, uint64_t now) {
    Binding *binding = (Binding *)subscriber;
    uint64_t which = (uint64_t)arguments[0];
    const Setting *setting = binding->any;
    (void)object, (void)event, (void)now;
    if (!filter_passes(binding->filter, arguments)) return NO_ANSWER;
    if (!setting && which < MAX_BOUND) setting = binding->setting[which];
    if (binding->all->off || !setting || !policy_setting_takes(setting, which)) return NO_ANSWER;
    policy_setting_apply(setting, which);
    binding->uncounted++;
    binding->all->uncounted = true;
    return NO_ANSWER;
}

void binding_subscribe(lua_State *L, Bindings *bindings, SimObject *object, uint32_t event) {
    Binding *binding = calloc(1, sizeof *binding);
    ensure_memory(binding);
    *binding = (Binding){.subscriber = {handle_event},
                         .all = bindings,
                         .counter = LUA_NOREF,
                         .next = bindings->list,
                         .object = object,
                         .event = event};
    bindings->list = binding;
    lua_settop(L, 5);
    binding->name = luaL_checkstring(L, 5);
    luaL_ref(L, LUA_REGISTRYINDEX);
    take_settings(L, binding, object);
    if (lua_isnil(L, 4))
        lua_pop(L, 1);
    else
        binding->counter = luaL_ref(L, LUA_REGISTRYINDEX);
    luaL_ref(L, LUA_REGISTRYINDEX); /* the settings */
    object_subscribe(object, &binding->subscriber, 1u << event);
}

void bindings_filter(lua_State *L, const Bindings *bindings, const SimObject *object, uint32_t event) {
    for (Binding *binding = bindings->list; binding; binding = binding->next) {
        if (binding->object != object || binding->event != event) continue;
        if (strcmp(binding->name, lua_tostring(L, 4)) != 0) continue;
        filter_free(binding->filter);
        binding->filter = filter_new(L, 3);
    }
}

void bindings_count(Bindings *bindings, lua_State *L, int counters) {
    if (!bindings->uncounted) return;
    bindings->uncounted = false;
    for (Binding *b = bindings->list; b; b = b->next) {
        if (b->counter == LUA_NOREF || !b->uncounted) continue;
        lua_rawgeti(L, LUA_REGISTRYINDEX, b->counter);
        lua_pushvalue(L, -1);
        lua_rawget(L, counters);
        lua_Integer before = lua_tointeger(L, -1);
        lua_pop(L, 1);
        lua_pushinteger(L, before + b->uncounted);
        lua_rawset(L, counters);
        b->uncounted = 0;
    }
}

void bindings_free(Bindings *bindings) {
    for (Binding *binding; (binding = bindings->list) != NULL; free(binding)) {
        bindings->list = binding->next;
        filter_free(binding->filter);
    }
}
