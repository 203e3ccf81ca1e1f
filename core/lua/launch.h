/* Kernel launches of host programs. */
#ifndef WW_LUA_LAUNCH_H
#define WW_LUA_LAUNCH_H

#include "core/lua/machine.h"

/* gpu:launch(kernel, { grid =, block =, shared =, registers =, args = }): the GPU is at stack index 1, the
 * table at 3. Blocks until the kernel has ended and returns what it did; a coroutine yields where a pause is
 * wanted. */
int launch_kernel(lua_State *L, Machine *machine, const Kernel *kernel);

#endif
