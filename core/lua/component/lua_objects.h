/* The objects of a machine whose classes are written in Lua. */
#ifndef WW_LUA_OBJECTS_OF_MACHINE_H
#define WW_LUA_OBJECTS_OF_MACHINE_H

#include "core/sim/sim.h"

/* Tells each, in order, that a kernel starts. sim_failure() says whether one failed. */
void lua_objects_kernel_start(Sim *sim, const char *kernel);
/* Can a checkpoint hold what each remembers? False, and why not. */
bool lua_objects_can_be_saved(const Sim *sim, char *why, size_t why_size);
/* When nothing is in flight any more: a user error when one holds a message that somebody waits for. */
void lua_objects_require_nothing_held(const Sim *sim);

#endif
