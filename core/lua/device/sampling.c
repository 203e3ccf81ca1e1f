/* What a sampler is made of: the launch that is offered to it executes without timing, in steps, and in forks of the process the
 * machine takes over and runs. The library's sampling.lua decides where, and what follows from it. */
#include "core/lua/device/sampling.h"

#include "core/lua/bindings.h"
#include "core/lua/component/lua_objects.h"
#include "core/lua/policy/policy.h"
#include "mem/protocol/caches.h"

#include <stdlib.h>

/* While the sampler has it. */
struct SampledLaunch {
    const Kernel *kernel;
    const Launch *launch;
    uint64_t resident;
    uint64_t cycles, warp_instructions, thread_instructions; /* estimated */
};

typedef struct {
    Gpu *gpu;
    struct SampledLaunch *sampled;
} FitQuestion;

static void find_resident(void *context) {
    FitQuestion *question = context;
    struct SampledLaunch *sampled = question->sampled;
    sampled->resident = gpu_resident_ctas(question->gpu, sampled->kernel, sampled->launch);
}

static void set_count(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void push_offer(lua_State *L, Machine *machine) {
    const struct SampledLaunch *sampled = machine->sampled;
    const uint32_t *grid = sampled->launch->grid;
    lua_newtable(L);
    lua_pushstring(L, sampled->kernel->name);
    lua_setfield(L, -2, "kernel");
    lua_pushboolean(L, sampled->kernel->dma_line != 0);
    lua_setfield(L, -2, "uses_dma");
    lua_pushboolean(L, sampled->launch->is_cooperative);
    lua_setfield(L, -2, "is_cooperative");
    set_count(L, "number", gpu_launch_count(machine->gpu));
    set_count(L, "ctas", (uint64_t)grid[0] * grid[1] * grid[2]);
    set_count(L, "threads_per_cta",
              (uint64_t)sampled->launch->block[0] * sampled->launch->block[1] * sampled->launch->block[2]);
    set_count(L, "resident", sampled->resident);
    set_count(L, "sms", gpu_sm_count(machine->gpu));
}

static uint64_t field(lua_State *L, const char *name) {
    lua_getfield(L, -1, name);
    uint64_t value = (uint64_t)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    return value;
}

/* What the sampler returned is on top of the stack: nil, or { cycles =, warp_instructions =, thread_instructions = }. */
static bool take_estimate(lua_State *L, Machine *machine) {
    bool taken = lua_istable(L, -1);
    if (taken) {
        machine->sampled->cycles = field(L, "cycles");
        machine->sampled->warp_instructions = field(L, "warp_instructions");
        machine->sampled->thread_instructions = field(L, "thread_instructions");
    }
    return taken;
}

static void forget(Machine *machine) {
    free(machine->sampled);
    machine->sampled = NULL;
}

bool sampling_takes(lua_State *L, Machine *machine, const Kernel *kernel, const Launch *launch) {
    if (lua_getiuservalue(L, 1, GPU_SAMPLER) != LUA_TFUNCTION) {
        lua_pop(L, 1);
        return false;
    }
    machine->sampled = calloc(1, sizeof *machine->sampled);
    ensure_memory(machine->sampled);
    *machine->sampled = (struct SampledLaunch){.kernel = kernel, .launch = launch};
    bool legal = !user_error_catch(find_resident, &(FitQuestion){machine->gpu, machine->sampled});
    raise_user_errors_in(L);
    if (legal) {
        push_offer(L, machine);
        int failed = lua_pcall(L, 1, 1, 0);
        gpu_at(L, 1);
        if (failed) {
            forget(machine);
            lua_error(L);
        }
    }
    bool taken = legal && take_estimate(L, machine);
    lua_pop(L, 1);
    if (!taken) forget(machine);
    return taken;
}

void sampling_answer(Machine *machine, uint64_t *cycles, uint64_t *warp_instructions,
                     uint64_t *thread_instructions) {
    *cycles = machine->sampled->cycles;
    *warp_instructions = machine->sampled->warp_instructions;
    *thread_instructions = machine->sampled->thread_instructions;
    machine->estimated_cycles += *cycles;
    forget(machine);
}

/* --- For the sampler ------------------------------------------------------------------------- */

/* The machine of the GPU at index 1, while a launch is offered. */
static Machine *offered(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    if (!machine->sampled) user_error("sampling: expected a launch that is offered, got none");
    return machine;
}

/* core.on_launch(gpu, sampler): a function that each launch with timing is offered to. */
static int l_on_launch(lua_State *L) {
    gpu_at(L, 1);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_setiuservalue(L, 1, GPU_SAMPLER);
    return 0;
}

static void forget_requests(const Sim *sim) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class == &l2_class) l2_forget_untimed(sim->objects[i]);
}

static void push_requests(lua_State *L, const Sim *sim) {
    lua_Integer slices = 0;
    lua_newtable(L);
    for (uint32_t i = 0; i < sim->object_count; i++) {
        if (sim->objects[i]->class != &l2_class) continue;
        lua_pushinteger(L, (lua_Integer)l2_untimed_requests(sim->objects[i]));
        lua_rawseti(L, -2, ++slices);
    }
}

/* core.forward_begin(gpu): the launch begins without timing. */
static int l_forward_begin(lua_State *L) {
    Machine *machine = offered(L);
    forget_requests(machine->sim);
    gpu_launch_forward(machine->gpu, machine->sampled->kernel, machine->sampled->launch);
    return 0;
}

/* core.forward_until(gpu, ctas) -> warp instructions so far, CTAs that have ended, counts so far { loads =,
 * cycles = of the SMs' own time, accesses = of load/store units, sectors = from and to memory, conflicts = cycles by those
 * of shared memory, constants = further accesses of instructions that load these }, requests of each slice of an L2 */
static int l_forward_until(lua_State *L) {
    Machine *machine = offered(L);
    ForwardProgress progress = gpu_forward_until(machine->gpu, (uint64_t)luaL_checkinteger(L, 2));
    if (gpu_fault(machine->gpu)) user_error("%s", gpu_fault(machine->gpu)->message);
    lua_pushinteger(L, (lua_Integer)progress.warp_instructions);
    lua_pushinteger(L, (lua_Integer)progress.ctas);
    lua_newtable(L);
    set_count(L, "loads", progress.loads);
    set_count(L, "cycles", progress.cycles);
    set_count(L, "accesses", progress.traffic.accesses);
    set_count(L, "sectors", progress.traffic.sectors);
    set_count(L, "conflicts", progress.conflict_cycles);
    set_count(L, "constants", progress.traffic.constants);
    push_requests(L, machine->sim);
    return 4;
}

/* core.loads(gpu) -> warp instructions with timing that have loaded from memory since the machine was made, and
 * cycles of conflicts in shared memory */
static int l_loads(lua_State *L) {
    const Gpu *gpu = gpu_at(L, 1)->gpu;
    lua_pushinteger(L, (lua_Integer)gpu_loads(gpu));
    lua_pushinteger(L, (lua_Integer)gpu_conflict_cycles(gpu));
    return 2;
}

/* core.forward_end(gpu): the machine takes over what is resident. */
static int l_forward_end(lua_State *L) {
    Machine *machine = offered(L);
    gpu_forward_end(machine->gpu);
    return 0;
}

/* core.begin_timing(gpu): as behind a launch: policies hear of the kernel. */
static int l_begin_timing(lua_State *L) {
    Machine *machine = offered(L);
    machine->launched = true;
    lua_objects_kernel_start(machine->sim, machine->sampled->kernel->name);
    policies_kernel_start(machine, machine->sampled->kernel->name);
    gpu_tell_kernels_of_sms(machine->gpu);
    return 0;
}

/* core.run_instructions(gpu, n, ctas) -> has the kernel ended: until n warp instructions have issued since the
 * machine was made, or so many CTAs of the launch have ended */
static int l_run_instructions(lua_State *L) {
    Machine *machine = offered(L);
    gpu_run_instructions(machine->gpu, (uint64_t)luaL_checkinteger(L, 2),
                         (uint64_t)luaL_optinteger(L, 3, INT64_MAX));
    if (gpu_fault(machine->gpu)) user_error("%s", gpu_fault(machine->gpu)->message);
    if (sim_failure(machine->sim)) user_error("%s", sim_failure(machine->sim));
    GpuProgress progress = gpu_progress(machine->gpu);
    lua_pushboolean(L, progress.ctas_done == progress.ctas);
    return 1;
}

/* core.part_memory(gpu): what forks write stays theirs, also of a CUDA program's memory, which the program maps */
static int l_part_memory(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    raise_user_errors_in(L);
    device_memory_part(gpu_memory(machine->gpu));
    return 0;
}

/* core.rejoin_memory(gpu): the program sees what has been written meanwhile */
static int l_rejoin_memory(lua_State *L) {
    device_memory_rejoin(gpu_memory(gpu_at(L, 1)->gpu));
    return 0;
}

void sampling_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"on_launch", l_on_launch},
                                         {"forward_begin", l_forward_begin},
                                         {"forward_until", l_forward_until},
                                         {"forward_end", l_forward_end},
                                         {"loads", l_loads},
                                         {"begin_timing", l_begin_timing},
                                         {"run_instructions", l_run_instructions},
                                         {"part_memory", l_part_memory},
                                         {"rejoin_memory", l_rejoin_memory},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
