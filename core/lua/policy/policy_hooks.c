/* Functions of an instance that objects call: for events, for questions, and, of a coordinator, for events of
 * any object, which it hears when the quantum is over. */
#include "core/lua/host/signals.h"
#include "core/lua/policy/policy_filter.h"
#include "core/lua/policy/policy_instance.h"
#include "core/lua/policy/policy_object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a coordinator is to hear at the next boundary. */
typedef struct {
    uint64_t now;
    uint32_t object, order; /* the object's number; of those with the same hook */
    int64_t arguments[EVENT_ARGUMENTS];
    Hook *hook;
} HeardEvent;

/* A function of an instance for an event of an object. */
struct Hook {
    Subscriber subscriber; /* first: handle() gets a pointer to it */
    PolicyInstance *instance;
    const char *name;           /* what the policy calls it: "on_l1_evict"; the registry keeps it */
    int function, speaker;      /* on the stack; while the instance is made, in the registry. speaker: the
                                    object's handle, its first argument; or NOT_THERE */
    int arguments, sm_argument; /* how many; which of them is an SM's number, -1: none that matters */
    int64_t sm;                 /* the one that it concerns */
    Filter *filter;             /* or NULL: it is called for all */
    const Question *question;   /* or NULL */
    SimObject *object;
    uint32_t event, heard_count, heard_capacity;
    HeardEvent *heard; /* of a coordinator: in this quantum */
    Hook *next;
};

static _Thread_local const SimObject *asking;

const SimObject *policy_asking(void) {
    return asking;
}

static int argument_count(const Event *event) {
    int count = *event->arguments != 0;
    for (const char *at = event->arguments; *at; at++)
        count += *at == ',';
    return count;
}

/* Which of the event's arguments has the name; -1 for none. */
static int argument_number(const Event *event, const char *name, size_t name_length) {
    int argument = 0;
    for (const char *at = event->arguments; *at; argument++) {
        size_t length = strcspn(at, ",");
        if (length == name_length && memcmp(at, name, length) == 0) return argument;
        at += length + strspn(at + length, ", ");
    }
    return -1;
}

/* Pushes the value of the argument that the words for what is legal name: "; `ready` = 0x15" of a set, which is one that
 * the answer is "of"; "; `channels` = 6"; or "". */
static const char *push_what_is_legal_of(const Hook *hook, const int64_t *arguments) {
    char text[64] = "";
    const char *name = hook->question->legal ? strchr(hook->question->legal, '`') : NULL;
    size_t length = name ? strcspn(name + 1, "`") : 0;
    int i = name ? argument_number(&hook->object->class->events[hook->event], name + 1, length) : -1;
    bool is_set = name && name - hook->question->legal >= 3 && memcmp(name - 3, "of ", 3) == 0;
    if (i >= 0)
        snprintf(text, sizeof text, is_set ? "; %.*s = 0x%lx" : "; %.*s = %ld", (int)length + 2, name,
                 (long)arguments[i]);
    return lua_pushstring(hook->instance->L, text);
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
    const char *given = push_given(L, -1);
    lua_pushfstring(L, "answer: expected %s or nil, got %s%s",
                    question->legal ? question->legal : "true, false", given,
                    push_what_is_legal_of(hook, arguments));
    note_failure(hook->instance, hook->function, hook->name, now);
    return NO_ANSWER;
}

static int64_t call_hook(const Hook *hook, const int64_t *arguments, uint64_t now) {
    PolicyInstance *instance = hook->instance;
    lua_State *L = instance->L;
    int count = hook->arguments;
    if (instance->failed) return NO_ANSWER;
    Caller caller = present_caller();
    begin_call(instance, hook->function);
    if (hook->speaker != NOT_THERE) {
        lua_pushvalue(L, hook->speaker);
        count++;
    }
    for (int i = 0; i < hook->arguments; i++)
        lua_pushinteger(L, arguments[i]);
    const SimObject *asked_before = asking;
    if (!asking && hook->question) asking = hook->object;
    bool good = call(instance, count, hook->function, hook->name, now);
    asking = asked_before;
    int64_t answer = good && hook->question ? answer_of(hook, arguments, now) : NO_ANSWER;
    lua_settop(L, instance->at_rest);
    return_to(caller);
    return answer;
}

static int64_t handle_event(Subscriber *subscriber, SimObject *object, uint32_t event,
                            const int64_t *arguments, uint64_t now) {
    const Hook *hook = (const Hook *)subscriber;
    (void)object, (void)event;
    if (hook->sm_argument >= 0 && arguments[hook->sm_argument] != hook->sm) return NO_ANSWER;
    if (!filter_passes(hook->filter, arguments)) return NO_ANSWER;
    return call_hook(hook, arguments, now);
}

/* --- Coordinators ---------------------------------------------------------------------------- */

/* On whatever thread runs the object. */
static int64_t note_event(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                          uint64_t now) {
    Hook *hook = (Hook *)subscriber;
    (void)event;
    if (!filter_passes(hook->filter, arguments)) return NO_ANSWER;
    if (object->sim->tells_at_rest) return call_hook(hook, arguments, now);
    if (hook->heard_count == hook->heard_capacity) {
        hook->heard_capacity = hook->heard_capacity ? 2 * hook->heard_capacity : 16;
        hook->heard = realloc(hook->heard, hook->heard_capacity * sizeof *hook->heard);
        ensure_memory(hook->heard);
    }
    HeardEvent *heard = &hook->heard[hook->heard_count];
    *heard = (HeardEvent){.now = now, .object = object->id, .order = hook->heard_count++, .hook = hook};
    memcpy(heard->arguments, arguments, sizeof heard->arguments);
    sim_request_boundary(object->sim);
    return NO_ANSWER;
}

static int by_time(const void *a, const void *b) {
    const HeardEvent *x = a, *y = b;
    if (x->now != y->now) return x->now < y->now ? -1 : 1;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    if (x->hook->event != y->hook->event) return x->hook->event < y->hook->event ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* All that was heard in the quantum, by time, then in the order of the objects' construction, which is that of
 * no thread; of one object in one cycle by event. */
static HeardEvent *take_heard(PolicyInstance *instance, uint32_t *count) {
    uint32_t all = 0;
    for (const Hook *hook = instance->hooks; hook; hook = hook->next)
        all += hook->heard_count;
    HeardEvent *heard = malloc((all + 1) * sizeof *heard);
    ensure_memory(heard);
    *count = 0;
    for (Hook *hook = instance->hooks; hook; hook = hook->next) {
        if (hook->heard_count) memcpy(&heard[*count], hook->heard, hook->heard_count * sizeof *heard);
        *count += hook->heard_count;
        hook->heard_count = 0;
    }
    qsort(heard, *count, sizeof *heard, by_time);
    return heard;
}

static void tell_coordinator(void *context, Sim *sim) {
    PolicyInstance *instance = context;
    uint32_t count;
    HeardEvent *heard = take_heard(instance, &count);
    for (uint32_t i = 0; i < count; i++)
        call_hook(heard[i].hook, heard[i].arguments, heard[i].now);
    free(heard);
    if (instance->failed) user_error("%s", sim_failure(sim));
}

/* --- Making them ----------------------------------------------------------------------------- */

/* The event of the handle at index 1 that index 2 names. */
static uint32_t event_at(lua_State *L, const SimObject *object) {
    int event = event_number(object->class, luaL_checkstring(L, 2));
    if (event < 0) luaL_error(L, "%s: no event matches '%s'", object->path, lua_tostring(L, 2));
    return (uint32_t)event;
}

static void subscribe(lua_State *L, PolicyInstance *instance, Hook *hook) {
    bool later = lua_toboolean(L, 7), first = true;
    for (const Hook *other = instance->hooks; other; other = other->next)
        first &= other->subscriber.handle != note_event;
    hook->subscriber.handle = later ? note_event : handle_event;
    hook->next = instance->hooks;
    instance->hooks = hook;
    if (later && first) sim_at_boundary(instance->machine->sim, tell_coordinator, instance);
    object_subscribe_policy(hook->object, &hook->subscriber, 1u << hook->event, instance->name);
}

/* In the instance's state: native.subscribe(handle, event, function, what the policy calls it, whether the
 * handle is its first argument, the SM whose events alone it is called for or nil, whether at the next
 * boundary) */
static int l_subscribe(lua_State *L) {
    PolicyInstance *instance = instance_of_function(L);
    SimObject *object = policy_object_at(L, 1);
    uint32_t event = event_at(L, object);
    const Event *row = &object->class->events[event];
    Hook *hook = calloc(1, sizeof *hook);
    ensure_memory(hook);
    lua_settop(L, 7);
    *hook = (Hook){.instance = instance, .object = object, .event = event, .name = luaL_checkstring(L, 4)};
    hook->arguments = argument_count(row);
    hook->question = row->question;
    hook->sm_argument = lua_isnil(L, 6) ? -1 : argument_number(row, "sm", 2);
    hook->sm = lua_tointeger(L, 6);
    subscribe(L, instance, hook);
    lua_pushvalue(L, 4);
    luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushvalue(L, 3);
    hook->function = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushvalue(L, 1);
    hook->speaker = lua_toboolean(L, 5) ? luaL_ref(L, LUA_REGISTRYINDEX) : NOT_THERE;
    return 0;
}

/* In the instance's state: native.bind(handle, event, settings, counter or nil, what the policy calls it) */
static int l_bind(lua_State *L) {
    PolicyInstance *instance = instance_of_function(L);
    SimObject *object = policy_object_at(L, 1);
    binding_subscribe(L, &instance->bindings, object, event_at(L, object));
    return 0;
}

/* In the instance's state: native.only(handle, event, conditions, what the policy calls it): what it has subscribed
 * and bound under this name hears of these events alone. */
static int l_only(lua_State *L) {
    PolicyInstance *instance = instance_of_function(L);
    const SimObject *object = policy_object_at(L, 1);
    uint32_t event = event_at(L, object);
    const char *name = luaL_checkstring(L, 4);
    for (Hook *hook = instance->hooks; hook; hook = hook->next) {
        if (hook->object != object || hook->event != event || strcmp(hook->name, name) != 0) continue;
        filter_free(hook->filter);
        hook->filter = filter_new(L, 3);
    }
    bindings_filter(L, &instance->bindings, object, event);
    return 0;
}

void hooks_push_functions(PolicyInstance *instance) {
    push_instance_function(instance, "only", l_only);
    push_instance_function(instance, "subscribe", l_subscribe);
    push_instance_function(instance, "bind", l_bind);
}

/* What the registry keeps goes to the stack. */
static int kept_at(lua_State *L, int reference) {
    ensure(lua_checkstack(L, LUA_MINSTACK));
    lua_rawgeti(L, LUA_REGISTRYINDEX, reference);
    return lua_gettop(L);
}

void hooks_keep_on_stack(PolicyInstance *instance) {
    for (Hook *hook = instance->hooks; hook; hook = hook->next) {
        hook->function = kept_at(instance->L, hook->function);
        if (hook->speaker != NOT_THERE) hook->speaker = kept_at(instance->L, hook->speaker);
    }
}

void hooks_free(PolicyInstance *instance) {
    for (Hook *hook; (hook = instance->hooks) != NULL; free(hook)) {
        instance->hooks = hook->next;
        filter_free(hook->filter);
        free(hook->heard);
    }
}
