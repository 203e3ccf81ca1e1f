/* Kernel launches of host programs. */
#ifndef WW_LUA_LAUNCH_H
#define WW_LUA_LAUNCH_H

#include "core/lua/machine/machine.h"

/* Checks the table { grid =, block =, shared =, registers =, args = } at stack index 3: see take_options().
 */
void take_launch_options(lua_State *L, const char *kernel);
/* gpu:launch(kernel, options): the GPU is at stack index 1, the options that were taken at 3. Blocks until
 * the kernel has ended and returns what it did; a coroutine yields where a pause is asked for. With
 * `returns_faults`, as gpu:try_launch(): also the fault that ended it, or nil; of a launch that is refused,
 * nil and why. */
int launch_kernel(lua_State *L, Machine *machine, const Kernel *kernel, bool returns_faults);
/* Is it time for the host program, in `L`, to pause, before the kernel that it is about to launch begins? */
bool pauses_before_launch(lua_State *L, const Machine *machine);

#endif
