/* Kernel launches of host programs. */
#ifndef WW_LUA_LAUNCH_H
#define WW_LUA_LAUNCH_H

#include "core/lua/machine/machine.h"

/* gpu:launch(kernel, options): the GPU is at stack index 1, the options that were taken at 3. Blocks until
 * the kernel has ended and returns what it did; a coroutine yields where a pause is asked for. With
 * `returns_faults`, as gpu:try_launch(): also the fault that ended it, or nil; of a launch that is refused,
 * nil and why. */
int launch_kernel(lua_State *L, Machine *machine, const Kernel *kernel, bool returns_faults);
/* gpu:launch_together(list): as launch_kernel(), of the list that was taken. Returns a list of what the kernels did; with
 * `returns_faults` also the fault that ended them, or nil. */
int launch_kernels_together(lua_State *L, Machine *machine, bool returns_faults);
/* gpu:launch_async(list): of the list that was taken, whose kernels begin beside those in flight. Returns the number of the
 * first; with `returns_faults` nil and why of a launch that is refused. */
int launch_kernels_async(lua_State *L, Machine *machine, bool returns_faults);
/* Runs until what was launched, or what is waited for, has ended; returns what the call of the host program returns. */
int run_until_ended(lua_State *L);
/* Is it time for the host program, in `L`, to pause, before the kernel that it is about to launch begins? */
bool pauses_before_launch(lua_State *L, const Machine *machine, uint64_t kernels);
/* Yields core.pause from the host program, in `L`, which goes on with `go_on`. */
int pause_host_program(lua_State *L, lua_KContext context, lua_KFunction go_on);

#endif
