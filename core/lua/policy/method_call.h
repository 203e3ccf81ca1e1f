/* Calls of methods of objects from Lua: arguments checked against the method's row, results passed on. */
#ifndef WW_LUA_METHOD_CALL_H
#define WW_LUA_METHOD_CALL_H

#include "core/lua/policy/policy_object.h"

/* Adds a function for each method of the object's class to the table on top of the stack. `handle`: the
 * userdata that Lua calls them with. */
void method_calls_push(lua_State *L, const void *handle, SimObject *object);

#endif
