/* Launches that a sampler, a function of Lua, estimates: --sample. */
#ifndef WW_LUA_SAMPLING_H
#define WW_LUA_SAMPLING_H

#include "core/lua/machine/machine.h"

/* Asks the sampler of the GPU at index 1, if it has one. True when it took the launch: it has been executed without
 * timing, and machine->sampled has what it is estimated to have taken until sampling_answer(). False: it is to run. */
bool sampling_takes(lua_State *L, Machine *machine, const Kernel *kernel, const Launch *launch);
/* Once for each launch that was taken. */
void sampling_answer(Machine *machine, uint64_t *cycles, uint64_t *warp_instructions,
                     uint64_t *thread_instructions);

#endif
