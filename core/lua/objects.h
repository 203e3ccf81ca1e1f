/* Objects and ports of a machine as Lua holds them. */
#ifndef WW_LUA_OBJECTS_H
#define WW_LUA_OBJECTS_H

#include "core/lua/machine.h"

enum { PORT_NAME_BYTES = 512 };

/* Pushes the object. `holder` is the stack index of its machine, or of another of the machine's objects. */
void object_push(lua_State *L, int holder, Machine *machine, SimObject *object);

/* The object at `index`; a user error when its machine was closed. */
SimObject *object_at(lua_State *L, int index);

/* One end of a wire at `index`: a port, or its path "sm[0].lsu.mem". Returns the object and fills `name` with
 * the port's name in it. A user error when it is neither. */
SimObject *port_at(lua_State *L, int index, Sim *sim, char name[PORT_NAME_BYTES]);

/* Was the object made together with its parent, by a row of the parent's class? */
bool made_with_parent(const SimObject *object);

void objects_open(lua_State *L);

#endif
