/* What runs in a Lua state of its own, so that any thread may run it: policies, and objects whose class is
 * written in Lua. */
#ifndef WW_LUA_OWN_STATE_H
#define WW_LUA_OWN_STATE_H

#include "core/sim/base/error.h"

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

/* Whoever runs the machine. Around everything that may run Lua of a state of its own, finalizers included:
 * bindings that it calls replace this thread's handler of user errors, and may run other machines with states
 * of their own. */
typedef struct {
    UserErrorReceiver errors;
    lua_State *entered;
} Caller;

Caller present_caller(void);
void return_to(Caller caller);

/* The length of "FILE:LINE: " at the beginning of a text; 0 without one. */
size_t location_length(const char *text);

/* Pushes the library's function that makes what runs in the state, or an error: false. */
bool push_maker(lua_State *L, const char *module);

#endif
