/* PTX modules and their kernels as host programs see them. */
#ifndef WW_LUA_MODULES_H
#define WW_LUA_MODULES_H

#include "core/lua/machine/machine.h"

/* A kernel in Lua; its GPU's machine is kept alive by user value 1. */
typedef struct {
    Machine *machine;
    const Kernel *kernel;
    const Module *module; /* that it is of */
} KernelRef;

/* gpu:load(path), gpu:load { text =, name = }: the GPU is at stack index 1. */
int l_gpu_load(lua_State *L);
/* gpu:bind_texture(kernel or kernels, "name", handle): what the .texref of that name reads from now on. */
int l_gpu_bind_texture(lua_State *L);

/* The kernel of this machine at `index`; a user error, which `what` begins, when it is something else. */
const KernelRef *kernel_at(lua_State *L, int index, const Machine *machine, const char *what);

/* In gpu_binding.c. The machine of the GPU at index 1, for a call that changes what is on the device: a user
 * error while a kernel runs, and for scripts that look at a host program from outside. */
Machine *machine_to_change(lua_State *L, const char *what);
/* A call that a resumed program repeats for its effect: its answer follows from the calls before. */
void repeated_call(lua_State *L, Machine *machine);

#endif
