/* A machine as Lua holds it: the simulation, its GPU, and what must live as long as they do. */
#ifndef WW_LUA_MACHINE_H
#define WW_LUA_MACHINE_H

#include "core/gpu/gpu.h"

#include <lua.h>

typedef struct {
    Sim *sim; /* NULL once closed */
    Gpu *gpu; /* NULL before core.gpu() */
    Module **modules;
    uint32_t module_count;
    uint64_t cycle_limit;  /* kernels stop here */
    double seconds;        /* host time spent in kernels */
    double kernel_started; /* host time */
    uint64_t kernel_first_cycle;
    char *progress_prefix; /* first words of the progress line */
    bool progress_shown;
    const char *stopped; /* why the last kernel did not end, or NULL */
} Machine;

/* The machine at `index`; a user error when it was closed. */
Machine *machine_at(lua_State *L, int index);

#endif
