/* Objects and ports of a machine as Lua holds them. */
#ifndef WW_LUA_OBJECTS_H
#define WW_LUA_OBJECTS_H

#include "core/lua/machine/machine.h"

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

/* The latency in cycles of the sender, before elaboration and after. */
uint64_t link_latency_cycles(const Sim *sim, const Link *link);
/* The length of the first port's path in the link's name, and the second port's path. */
size_t link_name_from(const Link *link);
const char *link_name_to(const Link *link);
/* The link that brings the responses to what link i of the machine brings, or NULL. */
const Link *link_back(const Sim *sim, uint32_t i);

/* Appends the machine as Lua text that builds it again. */
void config_text(const Sim *sim, Buffer *text);

void objects_open(lua_State *L);

#endif
