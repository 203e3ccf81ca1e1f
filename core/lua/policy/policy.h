/* Policies at work: each instance is a Lua state of its own, so that it can run on whatever thread runs the
 * objects that it subscribes to. */
#ifndef WW_LUA_POLICY_H
#define WW_LUA_POLICY_H

#include "core/lua/machine/machine.h"

/* Tells every instance of the machine, in order, that a kernel starts or has ended; looks then at what they
 * remember. sim_failure() says whether one failed. */
void policies_kernel_start(Machine *machine, const char *kernel);
void policies_kernel_end(Machine *machine, const char *kernel);

/* What all instances remember: false, and why, when one remembers what cannot be saved; and the same back,
 * for instances of the same names in the same order. */
bool policies_save(Machine *machine, Buffer *buffer, char *why, size_t why_size);
bool policies_load(Machine *machine, Reader *reader, char *why, size_t why_size);
/* Are the bytes damaged, as far as that can be seen without the instances? */
bool policies_check(lua_State *L, Reader *reader, char *why, size_t why_size);

void policies_free(Machine *machine);

#endif
