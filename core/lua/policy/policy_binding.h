/* Settings that answer events of objects without Lua: what a policy binds to its hooks. */
#ifndef WW_LUA_POLICY_BINDING_H
#define WW_LUA_POLICY_BINDING_H

#include "core/lua/policy/policy_object.h"

typedef struct Binding Binding;

/* Those of an instance. */
typedef struct Bindings {
    Binding *list;
    bool off;       /* the instance has failed */
    bool uncounted; /* there are events that a counter does not know of yet */
} Bindings;

/* From now on the event of the object is answered so: index 3 is a setting, or a table of settings by the
 * event's first argument; 4 the name of its counter or nil; 5 what the policy calls it. */
void binding_subscribe(lua_State *L, Bindings *bindings, SimObject *object, uint32_t event);

/* From now on those of this event and of the name at index 4 answer what passes the filter at 3 alone. */
void bindings_filter(lua_State *L, const Bindings *bindings, const SimObject *object, uint32_t event);

/* Before anybody looks at the table of counters, at this index. */
void bindings_count(Bindings *bindings, lua_State *L, int counters);
void bindings_free(Bindings *bindings);

#endif
