#include "core/lua/policy/policy.h"

#include "core/lua/bindings.h"
#include "core/lua/host/interpreter.h"
#include "core/lua/host/plain_data.h"
#include "core/lua/host/signals.h"
#include "core/lua/machine/objects.h"
#include "core/lua/policy/policy_binding.h"
#include "core/lua/policy/policy_object.h"
#include "core/sim/event.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 2048, NAME_BYTES = 512 };

/* What calls of an instance need lies at the bottom of its stack, from where it is pushed at half the cost of
 * the registry: what warpwright.policy_instance returned, then functions. */
enum { SELF = 1, COUNTERS, PLAIN_HOOKS, PERIOD, KEPT = PERIOD, NO_FUNCTION = 0 };

/* A function of an instance for an event of an object. */
typedef struct Hook {
    Subscriber subscriber; /* first: handle() gets a pointer to it */
    PolicyInstance *instance;
    const char *name;         /* what the policy calls it: "on_l1_evict"; the registry keeps it */
    int function, arguments;  /* the former on the stack; while the instance is made, in the registry */
    const Question *question; /* or NULL */
    SimObject *object;
    uint32_t event;
    struct Hook *next;
} Hook;

struct PolicyInstance {
    lua_State *L;
    Machine *machine;
    char *name;       /* "ccws of sm[3]" */
    SimObject *about; /* whose cluster its errors are reported in */
    Hook *hooks;
    Bindings bindings;
    int start, period, kernel_start, kernel_end, changed; /* functions on the stack, or NO_FUNCTION */
    int at_rest;                                          /* height of the stack between calls */
    bool failed;                                          /* or not made yet: nothing is to be called */
};

/* The length of "FILE:LINE: " at the beginning of a text; 0 without one. */
static size_t location_length(const char *text) {
    size_t colon = strcspn(text, ":\n"),
           digits = text[colon] == ':' ? strspn(text + colon + 1, "0123456789") : 0;
    return digits && strncmp(text + colon + 1 + digits, ": ", 2) == 0 ? colon + digits + 3 : 0;
}

/* An instance that failed says no more: the run ends at the next boundary. The place in the policy's file
 * comes first: where it was thrown, or else where the function is. */
COLD static void note_failure(PolicyInstance *instance, int function, const char *hook, uint64_t now) {
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

/* Whoever runs the machine. Around everything that may run Lua of a policy, finalizers included: bindings
 * that it calls replace this thread's handler of user errors, and may run other machines with policies of
 * their own. */
typedef struct {
    UserErrorReceiver errors;
    lua_State *entered;
} Caller;

static inline Caller present_caller(void) {
    return (Caller){user_error_receiver(), entered_state};
}

static inline void return_to(Caller caller) {
    user_error_restore(caller.errors);
    entered_state = caller.entered;
}

/* Begins a call of a function on the stack with `self`: push its further arguments, then call(). */
static void begin_call(PolicyInstance *instance, int function) {
    lua_pushvalue(instance->L, function);
    lua_pushvalue(instance->L, SELF);
}

/* With so many arguments after `self`; true, with one result, when it returned. */
static bool call(PolicyInstance *instance, int count, int function, const char *hook, uint64_t now) {
    signals_enter(instance->L);
    bool good = lua_pcall(instance->L, 1 + count, 1, 0) == LUA_OK;
    signals_leave();
    if (!good) note_failure(instance, function, hook, now);
    return good;
}

static int argument_count(const Event *event) {
    int count = *event->arguments != 0;
    for (const char *at = event->arguments; *at; at++)
        count += *at == ',';
    return count;
}

/* What the function on top of the stack answered to a question. */
static int64_t answer_of(const Hook *hook, const int64_t *arguments, uint64_t now) {
    lua_State *L = hook->instance->L;
    const Question *question = hook->question;
    int type = lua_type(L, -1), whole = question->legal && type == LUA_TNUMBER;
    if (type == LUA_TNIL) return NO_ANSWER;
    if (!question->legal && type == LUA_TBOOLEAN) return lua_toboolean(L, -1);
    lua_Integer answer = whole ? lua_tointegerx(L, -1, &whole) : 0;
    if (whole && (!question->is_legal || question->is_legal(arguments, answer))) return answer;
    lua_pushfstring(L, "answer: expected %s or nil, got %s",
                    question->legal ? question->legal : "true, false", push_given(L, -1));
    note_failure(hook->instance, hook->function, hook->name, now);
    return NO_ANSWER;
}

static int64_t handle_event(Subscriber *subscriber, SimObject *object, uint32_t event,
                            const int64_t *arguments, uint64_t now) {
    const Hook *hook = (const Hook *)subscriber;
    PolicyInstance *instance = hook->instance;
    lua_State *L = instance->L;
    (void)object, (void)event;
    if (instance->failed) return NO_ANSWER;
    Caller caller = present_caller();
    begin_call(instance, hook->function);
    for (int i = 0; i < hook->arguments; i++)
        lua_pushinteger(L, arguments[i]);
    bool good = call(instance, hook->arguments, hook->function, hook->name, now);
    int64_t answer = good && hook->question ? answer_of(hook, arguments, now) : NO_ANSWER;
    lua_settop(L, instance->at_rest);
    return_to(caller);
    return answer;
}

/* --- What an instance remembers -------------------------------------------------------------- */

/* NULL, or what is not plain in it, which then is on top of the stack. */
static const char *save_state(PolicyInstance *instance, Buffer *buffer) {
    lua_pushliteral(instance->L, "state");
    lua_rawget(instance->L, SELF);
    return plain_save(instance->L, -1, "state", buffer);
}

/* What no checkpoint could hold is found where it is cheap to look, and not only when one is made. */
static void check_state(PolicyInstance *instance, const char *when) {
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

/* --- Hooks that no object tells -------------------------------------------------------------- */

static void call_hook(PolicyInstance *instance, int function, const char *hook, const char *argument) {
    lua_State *L = instance->L;
    if (function == NO_FUNCTION || instance->failed) return;
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

/* The event of the handle at index 1 that index 2 names. */
static uint32_t event_at(lua_State *L, const SimObject *object) {
    int event = event_number(object->class, luaL_checkstring(L, 2));
    if (event < 0) luaL_error(L, "%s: no event matches '%s'", object->path, lua_tostring(L, 2));
    return (uint32_t)event;
}

/* In the instance's state: native.subscribe(handle, event, function, what the policy calls it) */
static int l_subscribe(lua_State *L) {
    PolicyInstance *instance = lua_touserdata(L, lua_upvalueindex(1));
    SimObject *object = policy_object_at(L, 1);
    uint32_t event = event_at(L, object);
    const Event *row = &object->class->events[event];
    const char *name = luaL_checkstring(L, 4);
    lua_settop(L, 4);
    luaL_ref(L, LUA_REGISTRYINDEX);
    Hook *hook = calloc(1, sizeof *hook);
    ensure(hook);
    *hook = (Hook){.subscriber = {handle_event}, .instance = instance, .name = name, .next = instance->hooks};
    hook->function = luaL_ref(L, LUA_REGISTRYINDEX);
    hook->arguments = argument_count(row);
    hook->question = row->question;
    hook->object = object;
    hook->event = event;
    instance->hooks = hook;
    object_subscribe(object, &hook->subscriber, 1u << event);
    return 0;
}

/* In the instance's state: native.bind(handle, event, settings, counter or nil) */
static int l_bind(lua_State *L) {
    PolicyInstance *instance = lua_touserdata(L, lua_upvalueindex(1));
    SimObject *object = policy_object_at(L, 1);
    binding_subscribe(L, &instance->bindings, object, event_at(L, object));
    return 0;
}

/* In the instance's state: native.cycle() -> the present cycle of the clock of the object that it is about */
static int l_cycle(lua_State *L) {
    const SimObject *about = ((PolicyInstance *)lua_touserdata(L, lua_upvalueindex(1)))->about;
    uint64_t in_cycle = about->cluster->now, boundary = about->sim->now;
    lua_pushinteger(L, (lua_Integer)object_cycle(about, in_cycle > boundary ? in_cycle : boundary));
    return 1;
}

/* In the instance's state: native.count_bound_events(self's table of counters) */
static int l_count_bound_events(lua_State *L) {
    PolicyInstance *instance = lua_touserdata(L, lua_upvalueindex(1));
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
    for (Hook *hook = instance->hooks; hook; hook = hook->next) {
        ensure(lua_checkstack(L, LUA_MINSTACK));
        lua_rawgeti(L, LUA_REGISTRYINDEX, hook->function);
        hook->function = lua_gettop(L);
    }
    ensure(lua_checkstack(L, LUA_MINSTACK));
    instance->at_rest = lua_gettop(L);
    instance->failed = instance->bindings.off = false;
    if (instance->period != NO_FUNCTION)
        sim_every(instance->machine->sim, (uint64_t)lua_tointeger(L, PERIOD), on_period, instance);
}

static PolicyInstance *new_instance(lua_State *L, Machine *machine, const char *name, SimObject *about) {
    PolicyInstance *instance = calloc(1, sizeof *instance);
    ensure(instance);
    *instance = (PolicyInstance){.machine = machine, .name = strdup(name), .about = about, .failed = true};
    instance->bindings.off = true;
    instance->L = interpreter_new(interpreter_home(L));
    policy_state_belongs_to(instance->L, instance->name);
    machine->policies = realloc(machine->policies, (machine->policy_count + 1) * sizeof(PolicyInstance *));
    ensure(machine->policies);
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

/* Pushes what the instance's library is called with: handles by name; a list of objects, which may come from
 * any cluster, is a list of handles. A missing handle is false. */
static void push_handles(lua_State *L, int index, const SimObject *about, lua_State *to) {
    lua_newtable(to);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        luaL_argcheck(L, lua_type(L, -2) == LUA_TSTRING, index, "expected names of handles");
        if (lua_istable(L, -1)) {
            lua_newtable(to);
            for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++, lua_pop(L, 1)) {
                push_handle(L, -1, about, true, to);
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

static void push_instance_function(PolicyInstance *instance, const char *name, lua_CFunction function) {
    lua_State *L = instance->L;
    lua_pushlightuserdata(L, instance);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
}

/* Calls what the library returned with the specification, handles and functions that are on the stack above
 * it. */
static bool make_instance(PolicyInstance *instance) {
    signals_enter(instance->L);
    bool good = lua_pcall(instance->L, 3, KEPT, 0) == LUA_OK;
    signals_leave();
    return good;
}

/* Pushes the library's function that makes an instance, or an error. */
static bool push_maker(lua_State *L) {
    lua_getglobal(L, "require");
    lua_pushliteral(L, "warpwright.policy_instance");
    return lua_pcall(L, 1, 1, 0) == LUA_OK;
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
    push_instance_function(instance, "subscribe", l_subscribe);
    push_instance_function(instance, "bind", l_bind);
    push_instance_function(instance, "count_bound_events", l_count_bound_events);
    push_instance_function(instance, "cycle", l_cycle);
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
    bool good = push_maker(instance->L), is_watched = false;
    raise_user_errors_in(L);
    if (good) {
        push_specification(L, 4, instance->L);
        push_handles(L, 5, about, instance->L);
        push_native(instance);
        is_watched = signals_watch(machine, NULL);
        good = make_instance(instance);
    }
    const char *problem = good ? NULL : thrown_text(instance->L);
    raise_user_errors_in(L);
    if (problem && is_watched) signals_unwatch(machine);
    if (problem) user_error("policy %s: %s", name, problem);
    keep_on_stack(instance);
    machine->sim->faulted = 0;
    call_hook(instance, instance->start, "start", NULL);
    check_state(instance, "after start");
    int signal = is_watched ? signals_unwatch(machine) : 0;
    if (instance->failed) raise_from_place(L, sim_failure(machine->sim), "called from");
    if (signal) raise(signal);
    return 0;
}

static void push_counters(PolicyInstance *instance) {
    bindings_count(&instance->bindings, instance->L, COUNTERS);
    lua_pushvalue(instance->L, COUNTERS);
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

/* --- Checkpoints ----------------------------------------------------------------------------- */

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
    return plain_save(instance->L, -1, "counters", buffer);
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

/* Pushes what an instance remembered, and the table of its counters. */
static bool load_state(lua_State *L, Reader *reader) {
    return lua_checkstack(L, LUA_MINSTACK) && plain_load(L, reader) && plain_load(L, reader) &&
           lua_istable(L, -1);
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

/* core.copy_policy_state(machine): its instances go on as those of the machine whose place it took. */
static int l_copy_policy_state(lua_State *L) {
    Machine *machine = machine_at(L, 1);
    char why[MESSAGE_BYTES];
    Buffer buffer = {0};
    if (!machine->before)
        user_error("machine %s: expected one that took the place of another", machine->sim->name);
    bool good = policies_save(machine->before, &buffer, why, sizeof why) &&
                policies_load(machine, &(Reader){.bytes = buffer.bytes, .count = buffer.count}, why,
                              sizeof why);
    buffer_free(&buffer);
    if (!good) user_error("policies: %s", why);
    return 0;
}

static void free_subscribers(PolicyInstance *instance) {
    for (Hook *hook; (hook = instance->hooks) != NULL; free(hook))
        instance->hooks = hook->next;
    bindings_free(&instance->bindings);
}

/* Finalizers of one may set knobs of objects that others subscribe to. */
void policies_free(Machine *machine) {
    Caller caller = present_caller();
    for (uint32_t i = 0; i < machine->policy_count; i++)
        lua_close(machine->policies[i]->L);
    return_to(caller);
    for (uint32_t i = 0; i < machine->policy_count; i++) {
        PolicyInstance *instance = machine->policies[i];
        free_subscribers(instance);
        free(instance->name);
        free(instance);
    }
    free(machine->policies);
    machine->policies = NULL;
    machine->policy_count = 0;
}

void policy_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"attach_policy", l_attach_policy},
        {"policy_counters", l_policy_counters},
        {"copy_policy_state", l_copy_policy_state},
        {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}
