/* An instance of a policy, as the files of this folder share it. */
#ifndef WW_LUA_POLICY_INSTANCE_H
#define WW_LUA_POLICY_INSTANCE_H

#include "core/lua/bindings.h"
#include "core/lua/host/own_state.h"
#include "core/lua/machine/machine.h"
#include "core/lua/policy/policy_binding.h"
#include "core/sim/event.h"

enum { MESSAGE_BYTES = 2048, NAME_BYTES = 512 };

/* What calls of an instance need lies at the bottom of its stack, from where it is pushed at half the cost of
 * the registry: the message handler, the RETURNED values of warpwright.policy_instance, then functions and
 * handles. */
enum {
    MESSAGE_HANDLER = 1,
    SELF,
    COUNTERS,
    PLAIN_HOOKS,
    PERIOD,
    RETURNED = PERIOD - SELF + 1,
    NOT_THERE = 0
};

typedef struct Hook Hook;

/* A number that an instance shares with those like it. */
typedef struct {
    double real;
    int64_t whole;
    bool is_whole;
} SharedNumber;

struct PolicyInstance {
    lua_State *L;
    Machine *machine;
    char *name;       /* "ccws of sm[3]" */
    SimObject *about; /* whose cluster its errors are reported in */
    Hook *hooks;
    Bindings bindings;
    SharedNumber *next, *shared; /* what it has said, and what others see of it: from the next boundary on */
    char *shared_rows;           /* "NAME FIRST COUNT\n" of each name of those: which they are */
    uint32_t shared_count;
    int start, period, kernel_start, kernel_end, changed; /* functions on the stack, or NOT_THERE */
    int at_rest;                                          /* height of the stack between calls */
    bool failed;                                          /* or not made yet: nothing is to be called */
};

/* Begins a call of a function on the stack with `self`: push its further arguments, then call(). */
static inline void begin_call(PolicyInstance *instance, int function) {
    lua_pushvalue(instance->L, function);
    lua_pushvalue(instance->L, SELF);
}
/* With so many arguments after `self`; true, with one result, when it returned. Else the instance has failed. */
bool call(PolicyInstance *instance, int count, int function, const char *hook, uint64_t now);
/* An instance that failed says no more: the run ends at the next boundary. What went wrong is on top of the
 * stack. */
COLD void note_failure(PolicyInstance *instance, int function, const char *hook, uint64_t now);

/* In policy_hooks.c: native.subscribe(), native.bind(). */
void hooks_push_functions(PolicyInstance *instance);
/* Functions and handles of hooks to the stack, from where they were kept until now. */
void hooks_keep_on_stack(PolicyInstance *instance);
void hooks_free(PolicyInstance *instance);

/* In policy_shared.c: native.share(), native.shared(), native.shared_by(). */
void shared_push_functions(PolicyInstance *instance);
/* Pushes what it shares, as plain data; takes it back from the top of the stack: false when that is damaged. */
void shared_push(const PolicyInstance *instance);
bool shared_take(PolicyInstance *instance);

/* In policy_saved.c: what it remembers must be plain; looked at where that is cheap, and not only when a
 * checkpoint is made. */
void check_state(PolicyInstance *instance, const char *when);
void push_counters(PolicyInstance *instance);

/* Adds a function that has the instance as its upvalue to the table on top of the stack. */
void push_instance_function(PolicyInstance *instance, const char *name, lua_CFunction function);
static inline PolicyInstance *instance_of_function(lua_State *L) {
    return lua_touserdata(L, lua_upvalueindex(1));
}

#endif
