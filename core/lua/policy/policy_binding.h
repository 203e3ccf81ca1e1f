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

/* Makes one for an event of the object with another subscriber, or for binding_subscribe(): index 3 is a
 * setting, or a table of settings by the event's first argument; 4 the name of its counter or nil; 5 a
 * condition or nil. */
Binding *binding_new(lua_State *L, Bindings *bindings, const SimObject *emitter);
void binding_subscribe(Binding *binding, SimObject *object, uint32_t event);
/* Makes the setting, and returns true, if there is one for these arguments and the condition holds. */
bool binding_answers(Binding *binding, const int64_t *arguments);

/* Before anybody looks at the table of counters, at this index. */
void bindings_count(Bindings *bindings, lua_State *L, int counters);
void bindings_free(Bindings *bindings);

#endif
