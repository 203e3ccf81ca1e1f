/* Objects as policies hold them: what is visible by name may be read, knobs may be set. */
#ifndef WW_LUA_POLICY_OBJECT_H
#define WW_LUA_POLICY_OBJECT_H

#include "core/sim/event.h"

#include <lua.h>

/* Whose state this is, "ccws of sm[3]": a text that outlives it. */
void policy_state_belongs_to(lua_State *L, const char *instance);
const char *policy_of_state(lua_State *L); /* "" when nobody has said */

/* Pushes a handle of the object. It must not outlive it. */
void policy_object_push(lua_State *L, SimObject *object);
/* The object of the handle at `index`; a Lua error when it is none. */
SimObject *policy_object_at(lua_State *L, int index);
SimObject *policy_object_test(lua_State *L, int index); /* NULL when it is none */

/* Whose question is being answered, in the midst of a cycle; NULL: nobody's. In policy_hooks.c. */
const SimObject *policy_asking(void);
/* Would an answer that follows from the object, or a change of it, depend on whether it has ticked in this cycle? */
bool policy_depends_on_order(const SimObject *object);
/* Of such an object, in a question: an error that names what of it, ".loading", was `meant`: "a value". */
_Noreturn COLD void policy_refuse_in_question(lua_State *L, const SimObject *object, const char *of_it,
                                              const char *meant);

/* Values for several knobs: what handle:setting() returns is a function that sets them. */
typedef struct Setting Setting;
/* That of the function at `index`; NULL when it is no such function, which keeps it. */
const Setting *policy_setting_at(lua_State *L, int index);
/* Sets them. Where the value is bits.of, the knob gets the set of the warp that the argument is;
 * where it is policy.argument, the argument. */
void policy_setting_apply(const Setting *setting, uint64_t argument);
bool policy_setting_takes(const Setting *setting, uint64_t argument);
/* Do all of these knobs belong to objects of the cluster? */
bool policy_setting_is_within(const Setting *setting, const Cluster *cluster);

#endif
