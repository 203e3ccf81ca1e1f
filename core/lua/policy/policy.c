#include "core/lua/policy/policy.h"

#include "core/lua/host/interpreter.h"
#include "core/lua/host/plain_data.h"
#include "core/lua/host/signals.h"
#include "core/lua/machine/objects.h"
#include "core/lua/policy/policy_instance.h"
#include "core/lua/policy/policy_object.h"
#include "mem/protocol/address_map.h"

#include <stdlib.h>
#include <string.h>

/* The place in the policy's file comes first: where it was thrown, or else where the function is. */
void note_failure(PolicyInstance *instance, int function, const char *hook, uint64_t now) {
    char message[MESSAGE_BYTES];
    const char *text = thrown_text(instance->L), *place = text;
    size_t length = location_length(text);
    if (length == 0) {
        push_definition_location(instance->L, function);
        place = lua_tolstring(instance->L, -1, &length);
    } else {
        text += length;
    }
    snprintf(message, sizeof message, "%.*spolicy %s, in %s at cycle %lu: %s", (int)length, place,
             instance->name, hook, object_cycle(instance->about, now), text);
    instance->failed = instance->bindings.off = true;
    object_fail(instance->about, message);
}

bool call(PolicyInstance *instance, int count, int function, const char *hook, uint64_t now) {
    signals_enter(instance->L);
    bool good = lua_pcall(instance->L, 1 + count, 1, MESSAGE_HANDLER) == LUA_OK;
    signals_leave();
    if (!good) note_failure(instance, function, hook, now);
    return good;
}

/* --- Hooks that no object tells -------------------------------------------------------------- */

static void call_hook(PolicyInstance *instance, int function, const char *hook, const char *argument) {
    lua_State *L = instance->L;
    if (function == NOT_THERE || instance->failed) return;
    Caller caller = present_caller();
    begin_call(instance, function);
    if (argument) lua_pushstring(L, argument);
    call(instance, argument != NULL, function, hook, instance->machine->sim->now);
    lua_settop(L, instance->at_rest);
    return_to(caller);
}

/* The launch that catches the error says where it was. */
static void on_period(void *context, Sim *sim) {
    PolicyInstance *instance = context;
    call_hook(instance, instance->period, "on_period", NULL);
    if (instance->failed) user_error("%s", sim_failure(sim));
}

void policies_kernel_start(Machine *machine, const char *kernel) {
    for (uint32_t i = 0; i < machine->policy_count; i++)
        call_hook(machine->policies[i], machine->policies[i]->kernel_start, "on_kernel_start", kernel);
}

void policies_kernel_end(Machine *machine, const char *kernel) {
    for (uint32_t i = 0; i < machine->policy_count; i++)
        call_hook(machine->policies[i], machine->policies[i]->kernel_end, "on_kernel_end", kernel);
    for (uint32_t i = 0; i < machine->policy_count; i++)
        check_state(machine->policies[i], "at the end of a kernel");
}

/* --- Making instances ------------------------------------------------------------------------ */

/* In the instance's state: native.cycle() -> the present cycle of the clock of the object that it is about */
static int l_cycle(lua_State *L) {
    const SimObject *about = instance_of_function(L)->about;
    uint64_t in_cycle = about->cluster->now, boundary = about->sim->now;
    lua_pushinteger(L, (lua_Integer)object_cycle(about, in_cycle > boundary ? in_cycle : boundary));
    return 1;
}

/* In the instance's state, of a coordinator, whose hooks are called at boundaries: native.set_clock(name, frequency) */
static int l_set_clock(lua_State *L) {
    const PolicyInstance *instance = instance_of_function(L);
    const char *name = luaL_checkstring(L, 1), *text = luaL_tolstring(L, 2, NULL);
    raise_user_errors_in(L);
    machine_set_clock(instance->machine->sim, name, text);
    return 0;
}

/* native.clock(name) -> Hz at present, and the least and the most that it may have; or nil */
static int l_clock(lua_State *L) {
    const Clock *clock = sim_find_clock(instance_of_function(L)->machine->sim, luaL_checkstring(L, 1));
    if (!clock) return 0;
    lua_pushinteger(L, (lua_Integer)clock->frequency);
    lua_pushinteger(L, (lua_Integer)clock->slowest);
    lua_pushinteger(L, (lua_Integer)clock->fastest);
    return 3;
}

/* In the instance's state, of a coordinator: native.objects() -> { { handle =, clock = its name } ... }, all of the machine's */
static int l_objects(lua_State *L) {
    const Sim *sim = instance_of_function(L)->machine->sim;
    lua_createtable(L, (int)sim->object_count, 0);
    for (uint32_t i = 0; i < sim->object_count; i++) {
        lua_createtable(L, 0, 2);
        policy_object_push(L, sim->objects[i]);
        lua_setfield(L, -2, "handle");
        lua_pushstring(L, sim->objects[i]->clock->name);
        lua_setfield(L, -2, "clock");
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* Of a coordinator: native.clock_shares(name) -> as machine:clock_shares() */
static int l_clock_shares(lua_State *L) {
    Sim *sim = instance_of_function(L)->machine->sim;
    sim_settle(sim);
    machine_push_clock_shares(L, sim, sim_find_clock(sim, luaL_checkstring(L, 1)));
    return 1;
}

/* Of a coordinator: native.seconds() of simulated time */
static int l_seconds(lua_State *L) {
    lua_pushnumber(L, machine_seconds(instance_of_function(L)->machine->sim));
    return 1;
}

/* native.channel_of(address) -> memory channel, L2 slice, bank and row in which it lies; nil: its page lies nowhere yet */
static int l_channel_of(lua_State *L) {
    const SimObject *about = instance_of_function(L)->about;
    uint64_t address = (uint64_t)luaL_checkinteger(L, 1);
    raise_user_errors_in(L);
    const AddressMap *map = address_map_find(about);
    if (!address_map_is_placed(map, address)) return 0;
    DramLocation place = address_map_locate(map, address);
    lua_pushinteger(L, place.channel);
    lua_pushinteger(L, place.slice);
    lua_pushinteger(L, place.bank);
    lua_pushinteger(L, place.row);
    return 4;
}

/* In the instance's state: native.count_bound_events(self's table of counters) */
static int l_count_bound_events(lua_State *L) {
    PolicyInstance *instance = instance_of_function(L);
    bindings_count(&instance->bindings, L, 1);
    return 0;
}

/* Pushes what all calls of an instance need, once, above what its library returned. */
static void keep_on_stack(PolicyInstance *instance) {
    static const char *const names[] = {"start", "period", "kernel_start", "kernel_end", "changed"};
    int *const functions[] = {&instance->start, &instance->period, &instance->kernel_start,
                              &instance->kernel_end, &instance->changed};
    lua_State *L = instance->L;
    for (int i = 0; i < 5; i++) {
        if (lua_getfield(L, PLAIN_HOOKS, names[i]) == LUA_TFUNCTION)
            *functions[i] = lua_gettop(L);
        else
            lua_pop(L, 1);
    }
    hooks_keep_on_stack(instance);
    ensure(lua_checkstack(L, LUA_MINSTACK));
    instance->at_rest = lua_gettop(L);
    instance->failed = instance->bindings.off = false;
    if (instance->period != NOT_THERE)
        sim_every(instance->machine->sim, (uint64_t)lua_tointeger(L, PERIOD), on_period, instance);
}

/* Of a state: nearly all that setting it up makes stays, so that collecting garbage before would find none. A policy that
 * makes more has it collected. */
enum { KIB_BEFORE_COLLECTION = 1024 };

static PolicyInstance *new_instance(lua_State *L, Machine *machine, const char *name, SimObject *about) {
    PolicyInstance *instance = calloc(1, sizeof *instance);
    ensure_memory(instance);
    *instance = (PolicyInstance){.machine = machine, .name = strdup(name), .about = about, .failed = true};
    instance->bindings.off = true;
    instance->L = interpreter_new(interpreter_home(L));
    lua_gc(instance->L, LUA_GCSTEP, -KIB_BEFORE_COLLECTION);
    push_message_handler(instance->L);
    policy_state_belongs_to(instance->L, instance->name);
    machine->policies = realloc(machine->policies, (machine->policy_count + 1) * sizeof(PolicyInstance *));
    ensure_memory(machine->policies);
    machine->policies[machine->policy_count++] = instance;
    return instance;
}

/* An object of another cluster runs at the same time on another thread: an instance must not see it unless it
 * is about the machine. */
static void push_handle(lua_State *L, int index, const SimObject *about, bool of_any_cluster, lua_State *to) {
    SimObject *object = lua_toboolean(L, index) ? object_at(L, index) : NULL;
    if (object && object->sim != about->sim)
        user_error("%s: expected an object of this machine, got one of another", object->path);
    if (object && (of_any_cluster || object->cluster == about->cluster))
        policy_object_push(to, object);
    else
        lua_pushboolean(to, false);
}

/* Pushes what the instance's library is called with: handles by name; a list of objects is a list of handles. A
 * missing handle is false. Those of a coordinator may come from any cluster. */
static void push_handles(lua_State *L, int index, const SimObject *about, bool coordinates, lua_State *to) {
    lua_newtable(to);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        luaL_argcheck(L, lua_type(L, -2) == LUA_TSTRING, index, "expected names of handles");
        if (lua_istable(L, -1)) {
            lua_newtable(to);
            for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++, lua_pop(L, 1)) {
                push_handle(L, -1, about, coordinates, to);
                lua_rawseti(to, -2, i);
            }
            lua_pop(L, 1);
        } else {
            push_handle(L, -1, about, false, to);
        }
        lua_setfield(to, -2, lua_tostring(L, -2));
    }
}

static void load_plain(lua_State *L, const Buffer *buffer) {
    ensure(plain_load(L, &(Reader){.bytes = buffer->bytes, .count = buffer->count}));
}

void push_instance_function(PolicyInstance *instance, const char *name, lua_CFunction function) {
    lua_State *L = instance->L;
    lua_pushlightuserdata(L, instance);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
}

/* Calls what the library returned with the specification, handles and functions that are on the stack above
 * it. */
static bool make_instance(PolicyInstance *instance) {
    signals_enter(instance->L);
    bool good = lua_pcall(instance->L, 3, RETURNED, MESSAGE_HANDLER) == LUA_OK;
    signals_leave();
    return good;
}

static void push_specification(lua_State *L, int index, lua_State *to) {
    Buffer plain = {0};
    const char *problem = plain_save(L, index, "specification", &plain);
    if (!problem) load_plain(to, &plain);
    buffer_free(&plain);
    if (problem) user_error("%s", problem);
}

static void push_native(PolicyInstance *instance) {
    lua_newtable(instance->L);
    hooks_push_functions(instance);
    shared_push_functions(instance);
    push_instance_function(instance, "count_bound_events", l_count_bound_events);
    push_instance_function(instance, "cycle", l_cycle);
    push_instance_function(instance, "set_clock", l_set_clock);
    push_instance_function(instance, "clock", l_clock);
    push_instance_function(instance, "channel_of", l_channel_of);
    push_instance_function(instance, "objects", l_objects);
    push_instance_function(instance, "clock_shares", l_clock_shares);
    push_instance_function(instance, "seconds", l_seconds);
}

/* The place in the policy's file comes first, if the problem has one. */
_Noreturn static void raise_problem(lua_State *L, const char *name, const char *problem) {
    char message[MESSAGE_BYTES];
    size_t length = location_length(problem);
    if (length == 0) user_error("policy %s: %s", name, problem);
    snprintf(message, sizeof message, "%.*spolicy %s: %s", (int)length, problem, name, problem + length);
    raise_from_place(L, message, "called from");
}

/* The object that an instance on the machine is about. */
static SimObject *about_at(lua_State *L, int index, const Machine *machine) {
    SimObject *about = object_at(L, index);
    if (about->sim != machine->sim)
        user_error("%s: expected an object of this machine, got one of another", about->path);
    if (!machine->sim->elaborated) user_error("machine %s is not built yet", machine->sim->name);
    if (machine->sim->faulted) user_error("machine %s was stopped by an error", machine->sim->name);
    return about;
}

/* core.attach_policy(machine, name, about, specification, handles, what it is about or nil): an instance
 * about this object, whose path is said unless there is something else to say. `specification` is plain, for
 * warpwright.policy_instance; handles = { name = object, list of objects or false }. After an error the
 * machine cannot go on: objects may tell of events already what does not work. */
static int l_attach_policy(lua_State *L) {
    Machine *machine = machine_at(L, 1);
    char name[NAME_BYTES];
    SimObject *about = about_at(L, 3, machine);
    snprintf(name, sizeof name, "%s of %s", luaL_checkstring(L, 2), luaL_optstring(L, 6, about->path));
    luaL_checktype(L, 5, LUA_TTABLE);
    machine->sim->faulted = 1;
    PolicyInstance *instance = new_instance(L, machine, name, about);
    bool good = push_maker(instance->L, "warpwright.policy_instance"), is_watched = false;
    raise_user_errors_in(L);
    if (good) {
        push_specification(L, 4, instance->L);
        push_handles(L, 5, about, !lua_isnoneornil(L, 6), instance->L);
        push_native(instance);
        is_watched = signals_watch(machine, NULL);
        good = make_instance(instance);
    }
    const char *problem = good ? NULL : thrown_text(instance->L);
    raise_user_errors_in(L);
    if (problem && is_watched) signals_unwatch(machine);
    if (problem) raise_problem(L, name, problem);
    keep_on_stack(instance);
    machine->sim->faulted = 0;
    call_hook(instance, instance->start, "start", NULL);
    check_state(instance, "after start");
    int signal = is_watched ? signals_unwatch(machine) : 0;
    if (instance->failed) raise_from_place(L, sim_failure(machine->sim), "called from");
    if (signal) raise(signal);
    return 0;
}

/* In another Lua state; a user error there when they are not plain. */
static void push_copy_of_counters(lua_State *L, PolicyInstance *instance) {
    char message[MESSAGE_BYTES];
    Caller caller = present_caller();
    Buffer plain = {0};
    push_counters(instance);
    const char *problem = plain_save(instance->L, -1, "counters", &plain);
    if (problem) snprintf(message, sizeof message, "policy %s: %s", instance->name, problem);
    lua_settop(instance->L, instance->at_rest);
    return_to(caller);
    if (!problem) load_plain(L, &plain);
    buffer_free(&plain);
    if (problem) user_error("%s", message);
}

/* core.policy_counters(machine) -> { { about = path, policy = name, counters = { name = value } } ... } */
static int l_policy_counters(lua_State *L) {
    const Machine *machine = machine_at(L, 1);
    if (machine->sim->faulted) user_error("machine %s was stopped by an error", machine->sim->name);
    lua_newtable(L);
    for (uint32_t i = 0; i < machine->policy_count; i++) {
        PolicyInstance *instance = machine->policies[i];
        lua_newtable(L);
        lua_pushstring(L, instance->about->path);
        lua_setfield(L, -2, "about");
        lua_pushlstring(L, instance->name, strcspn(instance->name, " "));
        lua_setfield(L, -2, "policy");
        push_copy_of_counters(L, instance);
        lua_setfield(L, -2, "counters");
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static void free_instance(PolicyInstance *instance) {
    hooks_free(instance);
    bindings_free(&instance->bindings);
    free(instance->next);
    free(instance->shared_rows);
    free(instance->name);
    free(instance);
}

/* Finalizers of one may set knobs of objects that others subscribe to. */
void policies_free(Machine *machine) {
    Caller caller = present_caller();
    for (uint32_t i = 0; i < machine->policy_count; i++)
        lua_close(machine->policies[i]->L);
    return_to(caller);
    for (uint32_t i = 0; i < machine->policy_count; i++)
        free_instance(machine->policies[i]);
    free(machine->policies);
    machine->policies = NULL;
    machine->policy_count = 0;
}

void policy_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"attach_policy", l_attach_policy},
        {"policy_counters", l_policy_counters},
        {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}
