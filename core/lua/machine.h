/* A machine as Lua holds it: the simulation, its GPU, and what must live as long as they do. */
#ifndef WW_LUA_MACHINE_H
#define WW_LUA_MACHINE_H

#include "core/gpu/gpu.h"
#include "core/lua/host_log.h"

#include <lua.h>

typedef struct PolicyInstance PolicyInstance;

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
    struct PolicyInstance **policies;
    uint32_t policy_count;
    HostLog log;
    struct Resume *resume;     /* the checkpoint to go on from, or NULL */
    uint64_t checkpoint_cycle; /* when the checkpoint function is called next */
    uint64_t pause_cycle;      /* when a host program in a coroutine yields   */
} Machine;

/* User values of a GPU in Lua. */
enum { GPU_MACHINE = 1, GPU_LAUNCHES, GPU_CHECKPOINT_FUNCTION, GPU_USER_VALUES = GPU_CHECKPOINT_FUNCTION };

/* The machine at `index`; a user error when it was closed. */
Machine *machine_at(lua_State *L, int index);
/* The machine of the GPU at `index`; a user error when it was closed. */
Machine *gpu_at(lua_State *L, int index);

#endif
