/* A machine as Lua holds it: the simulation, its GPU, and what must live as long as they do. */
#ifndef WW_LUA_MACHINE_H
#define WW_LUA_MACHINE_H

#include "core/gpu/device/gpu.h"
#include "core/lua/host/host_log.h"

#include <lua.h>

typedef struct PolicyInstance PolicyInstance;

/* The host program is a script that asks the GPU itself, until there is one that sim:start() began. */
typedef enum { PROGRAM_IS_SCRIPT, PROGRAM_WAITS, PROGRAM_RUNS, PROGRAM_HAS_ENDED } HostProgram;

typedef struct Machine {
    Sim *sim; /* NULL once its memory was given back */
    Gpu *gpu; /* NULL before core.gpu() */
    Module **modules;
    uint32_t module_count;
    uint64_t cycle_limit;  /* kernels stop here */
    double seconds;        /* host time spent in kernels */
    double kernel_started; /* host time */
    uint64_t kernel_first_cycle;
    char *progress_prefix; /* first words of the progress line */
    bool progress_shown;
    const char *stopped;      /* why the last kernel did not end, or NULL */
    bool untimed_was_stopped; /* and it was one without timing */
    struct PolicyInstance **policies;
    uint32_t policy_count;
    HostLog log;
    struct Resume *resume;     /* the checkpoint to go on from, or NULL */
    uint64_t checkpoint_cycle; /* when the checkpoint function is called next */
    uint64_t pause_cycle;      /* when the host program yields                */
    uint64_t pause_launch;     /* in front of which launch it does            */
    HostProgram host_program;
    lua_State *coroutine;    /* of the host program while it runs */
    uint32_t forward_launch; /* see gpu:set_fast_forward() */
    double forward_share, forward_warm;
    bool forwards;
    struct SampledLaunch *sampled; /* the present launch, while it is sampled; or NULL */
    uint64_t estimated_cycles;     /* of launches that were sampled */
    bool launched;                 /* a kernel, which has not ended */
    struct InFlight *in_flight;    /* kernels that others may join; NULL: none */
    bool waits;                    /* the host program, for some of them */
    uint64_t wait_cycle;           /* when it goes on in any case, or NEVER */
    bool returns_faults;           /* the launch that is running, or was last */
    bool returns_list;             /* likewise: it is of a list of kernels */
    bool tells_launch_ends;        /* to the checkpoint function */
    bool closed;                   /* for Lua: what it has may still be there */
    struct Machine *before;        /* those whose place it took; their objects may be held by scripts */
    bool (*caller_has_gone)(void *caller); /* who launches, if not this process */
    void *caller;
} Machine;

/* Is what is asked of the GPU asked by the host program, whose log a checkpoint holds? */
static inline bool asked_by_host_program(const Machine *machine) {
    return machine->host_program == PROGRAM_IS_SCRIPT || machine->host_program == PROGRAM_RUNS;
}

/* Does a call of the host program wait for kernels? Between its calls some may be in flight. */
static inline bool host_program_waits(const Machine *machine) {
    return machine->launched && (!machine->in_flight || machine->waits);
}

static inline bool machine_is_open(const Machine *machine) {
    return machine->sim && !machine->closed;
}

/* User value of a machine in Lua: its GPU, once it has one. */
enum { MACHINE_GPU = 1, MACHINE_USER_VALUES = MACHINE_GPU };

/* User values of a GPU in Lua. */
enum {
    GPU_MACHINE = 1,
    GPU_LAUNCHES,
    GPU_CHECKPOINT_FUNCTION,
    GPU_SAMPLER,
    GPU_CALLER,
    GPU_IN_FLIGHT, /* results of kernels that have ended, while others are in flight */
    GPU_USER_VALUES = GPU_IN_FLIGHT
};

/* The machine at `index`; a user error when it was closed. */
Machine *machine_at(lua_State *L, int index);
/* Brings its counters up to date and checks the laws between them. `idle`: nothing is in flight. */
void machine_settle(const Machine *machine, bool idle);
/* The machine of the GPU at `index`; a user error when it was closed. */
Machine *gpu_at(lua_State *L, int index);

/* From now on, a boundary of a quantum. */
void machine_set_clock(Sim *sim, const char *clock, const char *frequency);

/* Pushes what the clock's objects have counted, settled, at each frequency; since the last change is the last:
 * { { frequency =, seconds =, counters = { ["sm[0].issued"] = ... } } ... } */
void machine_push_clock_shares(lua_State *L, const Sim *sim, const Clock *clock);
/* Simulated time. */
double machine_seconds(const Sim *sim);

/* machine:stats(), in stats.c */
int stats_of_machine(lua_State *L);

#endif
