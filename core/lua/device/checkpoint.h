/* Checkpoints of a machine and its host program: written at quantum boundaries, transferred to a host program
 * that runs again from its start. A checkpoint file has the sections
 *   run     text of the library: config, workload, size, policy ...
 *   host    the log of host calls
 *   gpu     the machine, row by row
 *   memory  the pages of device memory that kernels wrote */
#ifndef WW_LUA_CHECKPOINT_H
#define WW_LUA_CHECKPOINT_H

#include "core/lua/machine/machine.h"

/* Calls the GPU's checkpoint function, if it has one, with why it is called ("cycle", "resumed", or the name
 * of a signal) and the core cycle. It returns the next cycle at which it wants to be called. The GPU is at
 * stack index 1. */
void call_checkpoint_function(lua_State *L, Machine *machine, const char *why);

/* To be called after every host call that the log answered: takes the checkpoint over once the host program
 * has caught up with it. */
void after_host_call(lua_State *L, Machine *machine);
/* The same in the middle of a call: the kernel that it launched was running. */
void restore_checkpoint(lua_State *L, Machine *machine);

/* A user error, of what is asked for, while the host program has not caught up with the checkpoint: the
 * machine has no state yet. */
void require_caught_up(const Machine *machine, const char *what);

void checkpoint_free(Machine *machine);

#endif
