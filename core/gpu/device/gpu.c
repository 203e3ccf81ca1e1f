#include "core/gpu/device/gpu_state.h"

#include "core/gpu/device/dispatcher.h"
#include "core/gpu/device/wiring.h"
#include "core/gpu/dma/dma_gate.h"
#include "core/gpu/lsu/lsu_state.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/caches.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    HANG_CYCLES = 2000000,
    MAX_CTA_THREADS = 1024,
    MAX_GRID_X = 0x7fffffff, /* CUDA's limits */
    MAX_GRID_YZ = 65535,
    MAX_LOCAL_BYTES = 512 << 10, /* per thread */
    SHARED_GRANULE = 128,        /* shared memory is allocated in such pieces */
};

/* The places between issue and LSU: latch, two collectors, dispatch register; and the LSU itself, which
 * leaves an instruction here while it works on it. */
#define LSU_LINK ((LinkOptions){.depth = 5})

/* The SM's port to its own load/store unit needs no wiring by hand. */
static void wire_lsus(Sim *sim) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        SimObject *lsu = sim->objects[i];
        if (lsu->class != &lsu_class) continue;
        if (!lsu->parent || lsu->parent->class != &sm_class)
            user_error("%s: expected an LSU below an SM, which has one as it is made, got one %s%s",
                       lsu->path, lsu->parent ? "below " : "by itself", lsu->parent ? lsu->parent->path : "");
        if (((Sm *)lsu->parent)->lsu.send) continue;
        sim_wire(sim, lsu->parent, "lsu", lsu, "sm", LSU_LINK, LSU_LINK);
    }
}

static void find_objects(Gpu *gpu) {
    for (uint32_t i = 0; i < gpu->sim->object_count; i++) {
        SimObject *object = gpu->sim->objects[i];
        if (object->class == &dispatcher_class) {
            if (gpu->dispatcher)
                user_error("%s: expected one Dispatcher in machine %s, got a second", object->path,
                           gpu->sim->name);
            gpu->dispatcher = object;
        }
        if (object->class == &l2_class && gpu->slice_count < MAX_SLICES)
            gpu->slices[gpu->slice_count++] = object;
        if (object->class == &sm_class && gpu->sm_count < MAX_SMS) gpu->sms[gpu->sm_count++] = (Sm *)object;
    }
    if (!gpu->dispatcher) user_error("machine %s: expected a Dispatcher, got none", gpu->sim->name);
    if (!gpu->sm_count) user_error("machine %s: expected an SM or more, got none", gpu->sim->name);
}

Gpu *gpu_new(Sim *sim, uint64_t memory_bytes) {
    DeviceMemory *memory = device_memory_new(memory_bytes);
    Gpu *gpu = calloc(1, sizeof *gpu);
    ensure(gpu);
    gpu->sim = sim;
    gpu->hang_cycles = HANG_CYCLES;
    gpu->heap_bytes = HEAP_BYTES;
    gpu->printed.limit = PRINT_BYTES;
    gpu->functional.memory = memory;
    sim->user = &gpu->functional;
    return gpu;
}

void gpu_elaborate(Gpu *gpu) {
    find_objects(gpu);
    wire_lsus(gpu->sim);
    wiring_check(gpu->sim);
    sim_elaborate(gpu->sim);
}

void gpu_free(Gpu *gpu) {
    if (!gpu) return;
    profile_free(gpu->profile);
    histograms_free(gpu->histograms);
    forward_free(gpu->forward);
    free(gpu->running.params);
    free(gpu->running.constants);
    free(gpu->faults);
    free(gpu->hang_report);
    free(gpu->modules);
    buffer_free(&gpu->printed.text);
    texture_table_free(&gpu->textures);
    device_memory_free(gpu->functional.memory);
    free(gpu);
}

DeviceMemory *gpu_memory(Gpu *gpu) {
    return gpu->functional.memory;
}

TextureTable *gpu_textures(Gpu *gpu) {
    return &gpu->textures;
}

/* Slice s is the s-th L2 of the machine. */
static void warm_l2(Gpu *gpu, uint64_t address, uint64_t count) {
    enum { LINE = 128 };
    if (!gpu->slice_count || !l2_keeps_host_copies(gpu->slices[0])) return;
    const AddressMap *map = address_map_find(gpu->slices[0]);
    for (uint64_t line = address / LINE * LINE; line < address + count; line += LINE) {
        uint32_t slice = address_map_slice(map, line);
        if (slice < gpu->slice_count) l2_warm(gpu->slices[slice], line);
    }
}

void gpu_write(Gpu *gpu, uint64_t address, const void *bytes, uint64_t count) {
    device_write(gpu->functional.memory, address, bytes, count);
    warm_l2(gpu, address, count);
}

void gpu_wrote(Gpu *gpu, uint64_t address, uint64_t count) {
    device_initialise(gpu->functional.memory, address, count);
    if (count) warm_l2(gpu, address, count);
}

void gpu_fill(Gpu *gpu, uint64_t address, uint8_t byte, uint64_t count) {
    device_fill(gpu->functional.memory, address, byte, count);
}

/* Code lies beyond device and local memory: only instruction caches and L2 see its addresses. */
#define CODE_BASE (1ull << 41)

static void place_code(Gpu *gpu, Module *module) {
    uint64_t align = dispatcher_code_align(gpu->dispatcher);
    for (uint32_t i = 0; i < module->kernel_count; i++) {
        module->kernels[i].code_address = CODE_BASE + gpu->code_bytes;
        gpu->code_bytes += (module->kernels[i].inst_count * INST_BYTES + align - 1) / align * align;
    }
}

bool gpu_set_heap(Gpu *gpu, uint64_t bytes) {
    if (gpu->heap_start) return bytes == gpu->heap_bytes;
    gpu->heap_bytes = bytes;
    return true;
}

void gpu_set_print_limit(Gpu *gpu, uint64_t bytes) {
    gpu->printed.limit = bytes;
}

static void place_heap(Gpu *gpu, const Module *module) {
    if (!module->uses_heap || gpu->heap_start || !gpu->heap_bytes) return;
    gpu->heap_start = device_alloc(gpu->functional.memory, gpu->heap_bytes);
    if (!gpu->heap_start)
        user_error("%s: the heap of malloc (%lu bytes) does not fit in device memory", module->path,
                   gpu->heap_bytes);
}

static void add_module(Gpu *gpu, const Module *module) {
    gpu->modules = realloc(gpu->modules, (gpu->module_count + 1) * sizeof(*gpu->modules));
    ensure(gpu->modules);
    gpu->modules[gpu->module_count++] = module;
}

const Kernel *gpu_kernel_at(const Gpu *gpu, uint64_t code_address) {
    for (uint32_t m = 0; m < gpu->module_count; m++)
        for (uint32_t k = 0; k < gpu->modules[m]->kernel_count; k++)
            if (gpu->modules[m]->kernels[k].code_address == code_address) return &gpu->modules[m]->kernels[k];
    return NULL;
}

void gpu_place_module(Gpu *gpu, Module *module) {
    add_module(gpu, module);
    place_code(gpu, module);
    place_heap(gpu, module);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        ModuleVariable *variable = &module->variables[i];
        variable->address = variable->space == SPACE_TEXTURE
                                ? texture_reserve(&gpu->textures)
                                : device_alloc_aligned(gpu->functional.memory, variable->bytes,
                                                       variable->align, variable->name);
        if (!variable->address)
            user_error("%s: variable '%s' (%lu bytes) does not fit in device memory", module->path,
                       variable->name, variable->bytes);
    }
    module_place(module);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const ModuleVariable *variable = &module->variables[i];
        if (variable->init)
            gpu_write(gpu, variable->address, variable->init, variable->bytes);
        else if (variable->space != SPACE_TEXTURE) /* it is zero */
            device_initialise(gpu->functional.memory, variable->address, variable->bytes);
    }
}

/* --- Launching ------------------------------------------------------------------------------- */

static void check_required_block(const Kernel *kernel, const uint32_t block[3]) {
    const uint32_t *required = kernel->required;
    if (required[0] && memcmp(required, block, sizeof kernel->required) != 0)
        user_error("kernel %s: block: expected (%u, %u, %u) (.reqntid of the kernel), got (%u, %u, %u)",
                   kernel->name, required[0], required[1], required[2], block[0], block[1], block[2]);
}

static void check_extents(const Kernel *kernel, const Launch *launch, const RunningKernel *running) {
    for (int i = 0; i < 3; i++)
        if (launch->grid[i] == 0 || launch->block[i] == 0)
            user_error("kernel %s: expected grid and block of 1 or more in each dimension, got grid (%u, %u, "
                       "%u) and block (%u, %u, %u)",
                       kernel->name, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                       launch->block[1], launch->block[2]);
    if (launch->grid[0] > MAX_GRID_X || launch->grid[1] > MAX_GRID_YZ || launch->grid[2] > MAX_GRID_YZ)
        user_error("kernel %s: grid: expected up to (%d, %d, %d), got (%u, %u, %u)", kernel->name, MAX_GRID_X,
                   MAX_GRID_YZ, MAX_GRID_YZ, launch->grid[0], launch->grid[1], launch->grid[2]);
    double threads = (double)launch->block[0] * launch->block[1] * launch->block[2]; /* does not overflow */
    if (threads > MAX_CTA_THREADS)
        user_error("kernel %s: block: expected up to %d threads, got %.0f", kernel->name, MAX_CTA_THREADS,
                   threads);
    check_required_block(kernel, launch->block);
    if (kernel->max_threads && running->threads_per_cta > kernel->max_threads)
        user_error("kernel %s: block: expected up to %u threads (.maxntid of the kernel), got %u",
                   kernel->name, kernel->max_threads, running->threads_per_cta);
    if (running->local_bytes > MAX_LOCAL_BYTES)
        user_error("kernel %s: expected up to %d bytes of local memory per thread, got %u", kernel->name,
                   MAX_LOCAL_BYTES, running->local_bytes);
    if (launch->shared_bytes > UINT32_MAX - kernel->shared_bytes - SHARED_GRANULE)
        user_error("kernel %s: shared: expected up to the shared memory of an SM, got %u bytes", kernel->name,
                   launch->shared_bytes);
}

static uint8_t *constants_of_launch(const Gpu *gpu, const RunningKernel *running) {
    WarpIdentity identity = {
        .sm_count = gpu->sm_count,
        .grid = running->launch,
        .workspace = running->workspace,
        .dynamic_shared_bytes = running->dynamic_shared_bytes,
        .total_shared_bytes = running->shared_bytes,
    };
    memcpy(identity.nctaid, running->grid, sizeof identity.nctaid);
    memcpy(identity.ntid, running->block, sizeof identity.ntid);
    return exec_launch_constants(running->kernel, &identity, running->params);
}

static uint32_t stack_of(const Launch *launch) {
    uint32_t bytes = launch->stack_bytes ? launch->stack_bytes : STACK_BYTES;
    return bytes < MAX_LOCAL_BYTES ? (bytes + 15) / 16 * 16 : MAX_LOCAL_BYTES;
}

/* CTAs of a kernel that fit each SM. */
static uint32_t ctas_that_fit(const Gpu *gpu, const RunningKernel *running, uint32_t registers) {
    const Kernel *kernel = running->kernel;
    uint32_t least = UINT32_MAX;
    char why[160];
    for (uint32_t i = 0; i < gpu->sm_count; i++) {
        uint32_t fits = sm_occupancy(gpu->sms[i], running,
                                     registers ? registers : kernel->registers_per_thread, why, sizeof why);
        if (!fits) user_error("kernel %s does not fit on %s: %s", kernel->name, gpu->sms[i]->obj.path, why);
        if (fits < least) least = fits;
        if (kernel->dma_line && !dma_gate_of(gpu->sms[i])->engine)
            user_error("kernel %s, PTX line %u: expected a DmaEngine at the port transfers of %s (see "
                       "configs/gtx480_d2ma.lua), got none",
                       kernel->name, kernel->dma_line, gpu->sms[i]->obj.path);
    }
    return least;
}

/* What CUDA's headers compile cooperative_groups' grid barrier to: a workspace in device memory, whose address is the
 * 64 bits of %envreg1 and %envreg2, with a counter in its second word, which keeps its value between launches. */
enum { WORKSPACE_BYTES = 64 };

static uint64_t workspace_of_grid(Gpu *gpu, const RunningKernel *running) {
    const uint32_t *grid = running->grid;
    uint64_t ctas = (uint64_t)grid[0] * grid[1] * grid[2],
             fit = (uint64_t)running->ctas_per_sm * gpu->sm_count;
    if (ctas > fit)
        user_error(
            "kernel %s: expected up to %lu CTAs in a cooperative launch (%u on each of %u SMs), got %lu",
            running->kernel->name, fit, running->ctas_per_sm, gpu->sm_count, ctas);
    if (gpu->workspace) return gpu->workspace;
    gpu->workspace = device_alloc(gpu->functional.memory, WORKSPACE_BYTES);
    if (!gpu->workspace)
        user_error("kernel %s: the %d bytes of a cooperative launch do not fit in device memory",
                   running->kernel->name, WORKSPACE_BYTES);
    gpu_fill(gpu, gpu->workspace, 0, WORKSPACE_BYTES);
    return gpu->workspace;
}

/* A room for the fault of each SM, whose numbers are below the machine's. */
static LaunchFault *empty_faults(Gpu *gpu) {
    if (!gpu->faults) gpu->faults = calloc(MAX_SMS, sizeof *gpu->faults);
    ensure(gpu->faults);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        gpu->faults[i].kind = FAULT_NONE;
    return gpu->faults;
}

/* What is wrong with a launch is found before anything changes. */
static RunningKernel plan_kernel(Gpu *gpu, const Kernel *kernel, const Launch *launch) {
    if (kernel->refusal) user_error("kernel %s cannot be launched: %s", kernel->name, kernel->refusal);
    RunningKernel running = {.kernel = kernel,
                             .launch = gpu->launches,
                             .textures = &gpu->textures,
                             .printed = &gpu->printed,
                             .heap_start = gpu->heap_start,
                             .heap_bytes = gpu->heap_bytes};
    memcpy(running.grid, launch->grid, sizeof running.grid);
    memcpy(running.block, launch->block, sizeof running.block);
    running.threads_per_cta = launch->block[0] * launch->block[1] * launch->block[2];
    running.local_bytes = kernel->local_bytes + (kernel->uses_stack ? stack_of(launch) : 0);
    check_extents(kernel, launch, &running);
    running.warps_per_cta = (running.threads_per_cta + WARP_LANES - 1) / WARP_LANES;
    running.dynamic_shared_bytes = launch->shared_bytes;
    running.shared_bytes = (kernel->shared_bytes + launch->shared_bytes + SHARED_GRANULE - 1) /
                           SHARED_GRANULE * SHARED_GRANULE;
    running.ctas_per_sm = ctas_that_fit(gpu, &running, launch->registers);
    return running;
}

static void prepare_kernel(Gpu *gpu, const Kernel *kernel, const Launch *launch) {
    RunningKernel running = plan_kernel(gpu, kernel, launch);
    if (launch->is_cooperative) running.workspace = workspace_of_grid(gpu, &running);
    running.params = malloc(kernel->param_bytes ? kernel->param_bytes : 1);
    ensure(running.params);
    if (kernel->param_bytes) memcpy(running.params, launch->params, kernel->param_bytes);
    running.constants = constants_of_launch(gpu, &running);
    running.faults = launch->returns_faults ? empty_faults(gpu) : NULL;
    free(gpu->running.params);
    free(gpu->running.constants);
    gpu->running = running;
    gpu->fault.kind = FAULT_NONE;
}

/* The first edge of an object's clock at or after the present boundary. */
static uint64_t edge_from_now(const SimObject *object) {
    return (object->sim->now + object->period - 1) / object->period * object->period;
}

void gpu_count(const Gpu *gpu, LaunchResult *result, bool add) {
    uint64_t warps = gpu_warp_instructions(gpu), threads = gpu_thread_instructions(gpu),
             cycle = gpu_cycle(gpu);
    result->warp_instructions = add ? warps - result->warp_instructions : warps;
    result->thread_instructions = add ? threads - result->thread_instructions : threads;
    if (add)
        result->cycles = cycle - result->start_cycle;
    else
        result->start_cycle = cycle;
}

void gpu_prepare(Gpu *gpu, const Kernel *kernel, const Launch *launch) {
    prepare_kernel(gpu, kernel, launch);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sm_set_kernel(gpu->sms[i], &gpu->running);
    gpu->printed.text.count = gpu->printed.dropped = 0;
    gpu->result = (LaunchResult){.kernel = kernel->name, .printed = &gpu->printed};
    gpu->result.ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    gpu->result.threads_per_cta = gpu->running.threads_per_cta;
    gpu->launches++;
}

void gpu_invalidate_l1s(const Gpu *gpu) {
    for (uint32_t i = 0; i < gpu->sim->object_count; i++) {
        SimObject *object = gpu->sim->objects[i];
        if (object->class == &l1_class && !l1_keeps_lines(object)) l1_invalidate(object);
    }
}

void gpu_begin_launch(Gpu *gpu, const Kernel *kernel, const Launch *launch) {
    if (!dispatcher_idle(gpu->dispatcher))
        user_error("kernel %s: kernel %s is still running", kernel->name, gpu->running.kernel->name);
    gpu_prepare(gpu, kernel, launch);
    gpu_invalidate_l1s(gpu);
    gpu_count(gpu, &gpu->result, false);
    gpu->progress_cycle = gpu_cycle(gpu);
    dispatcher_start(gpu->dispatcher, launch->grid, gpu->running.ctas_per_sm, edge_from_now(gpu->dispatcher));
}

void gpu_launch(Gpu *gpu, const Kernel *kernel, const Launch *launch) {
    if (launch->forward_ctas) {
        gpu_launch_forward(gpu, kernel, launch);
        gpu_forward_until(gpu, launch->forward_ctas);
        gpu_forward_end(gpu);
    } else {
        gpu_begin_launch(gpu, kernel, launch);
    }
}

uint64_t gpu_resident_ctas(Gpu *gpu, const Kernel *kernel, const Launch *launch) {
    return (uint64_t)plan_kernel(gpu, kernel, launch).ctas_per_sm * gpu->sm_count;
}

/* --- Running --------------------------------------------------------------------------------- */

static double host_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void maybe_report(Gpu *gpu) {
    if (!gpu->report) return;
    double now = host_seconds();
    if (now - gpu->last_report < gpu->report_seconds) return;
    gpu->last_report = now;
    gpu->report(gpu->report_context);
}

static uint64_t progress_count(const Gpu *gpu) {
    return sim_progress(gpu->sim) + gpu_warp_instructions(gpu);
}

static bool any_warp_sleeps(const Gpu *gpu) {
    WarpSet sleeping = 0;
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sleeping |= gpu->sms[i]->sleeping;
    return sleeping != 0;
}

/* Is there one on a wire that has not arrived yet? A slow wire is no hang. */
static bool message_comes_later(const Sim *sim) {
    for (uint32_t i = 0; i < sim->link_count; i++) {
        uint64_t ready = link_next_ready(sim->links[i]);
        if (ready != NEVER && ready > sim->now) return true;
    }
    return false;
}

uint64_t gpu_wire_cycles(const Gpu *gpu) {
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < gpu->sim->link_count; i++)
        ticks += gpu->sim->links[i]->latency;
    return ticks / gpu->sim->clocks[0].period;
}

/* To the file, if there is one and it takes it. */
static bool write_hang_report(const Gpu *gpu) {
    FILE *file = gpu->hang_report ? fopen(gpu->hang_report, "w") : NULL;
    if (!file) return false;
    sim_report(gpu->sim, file);
    return fclose(file) == 0;
}

_Noreturn static void raise_hang(const Gpu *gpu, uint64_t since) {
    const char *kernel = gpu->running.kernel->name;
    const char *waits = dispatcher_is_kept_waiting(gpu->dispatcher)
                            ? "; policies let SMs with room wait for a CTA (place, next_cta)"
                            : "";
    uint64_t now = gpu_cycle(gpu);
    if (!write_hang_report(gpu)) {
        sim_report(gpu->sim, stderr);
        user_error(
            "kernel %s hangs: no progress since cycle %lu (now %lu)%s; the report above says what each "
            "warp waits for",
            kernel, since, now, waits);
    }
    sim_report_in_groups(gpu->sim, stderr);
    user_error("kernel %s hangs: no progress since cycle %lu (now %lu)%s; the report above says what warps "
               "wait for, and %s has each warp",
               kernel, since, now, waits, gpu->hang_report);
}

/* --- Giving a kernel up ---------------------------------------------------------------------- */

static void abort_kernel(Gpu *gpu, const LaunchFault *fault) {
    gpu->fault = *fault;
    gpu->running.aborted = true;
    dispatcher_stop(gpu->dispatcher);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sm_abort(gpu->sms[i], edge_from_now(&gpu->sms[i]->obj));
}

/* A kernel that hangs twice has a machine that does. */
static void hang(Gpu *gpu, uint64_t since) {
    if (!gpu->running.faults || gpu->running.aborted) raise_hang(gpu, since);
    LaunchFault fault = {.kind = FAULT_TIMEOUT};
    if (!write_hang_report(gpu)) sim_report_in_groups(gpu->sim, stderr);
    snprintf(fault.message, sizeof fault.message,
             "kernel %.120s hangs: no progress since cycle %lu (now %lu)", gpu->running.kernel->name, since,
             gpu_cycle(gpu));
    abort_kernel(gpu, &fault);
}

static void abort_after_fault(Gpu *gpu) {
    if (!gpu->running.faults || gpu->running.aborted) return;
    for (uint32_t i = 0; i < gpu->sm_count; i++) {
        const LaunchFault *fault = &gpu->faults[gpu->sms[i]->number];
        if (fault->kind == FAULT_NONE) continue;
        abort_kernel(gpu, fault);
        return;
    }
}

const LaunchFault *gpu_fault(const Gpu *gpu) {
    return gpu->fault.kind != FAULT_NONE ? &gpu->fault : NULL;
}

void gpu_hang_report(Gpu *gpu, const char *path) {
    free(gpu->hang_report);
    gpu->hang_report = path ? strdup(path) : NULL;
}

/* A slice, and what is to be done about what has come of it. */
static void run_slice(Gpu *gpu, uint64_t until) {
    StopReason stop = sim_run(gpu->sim, until);
    abort_after_fault(gpu);
    if (gpu->running.aborted) return;
    if (stop == STOP_IDLE && !dispatcher_idle(gpu->dispatcher) && !sim_skip_to_periodic(gpu->sim, until))
        hang(gpu, gpu_cycle(gpu));
    if (progress_count(gpu) != gpu->progress) {
        gpu->progress = progress_count(gpu);
        gpu->progress_cycle = gpu_cycle(gpu);
    } else if (gpu_cycle(gpu) - gpu->progress_cycle > gpu->hang_cycles && !any_warp_sleeps(gpu) &&
               !message_comes_later(gpu->sim)) {
        hang(gpu, gpu->progress_cycle);
    }
    maybe_report(gpu);
}

/* What a kernel that was given up has in flight comes to its end at once: no checkpoint knows of it. */
static void finish_aborted(Gpu *gpu) {
    uint64_t begun = gpu_cycle(gpu);
    while (gpu->running.aborted && !dispatcher_idle(gpu->dispatcher)) {
        uint64_t until = (gpu_cycle(gpu) + SLICE_CYCLES) * gpu->sim->clocks[0].period;
        bool idle = sim_run(gpu->sim, until) == STOP_IDLE && !dispatcher_idle(gpu->dispatcher);
        bool late = gpu_cycle(gpu) - begun > gpu->hang_cycles + gpu_wire_cycles(gpu);
        if ((idle && !sim_skip_to_periodic(gpu->sim, until)) || late) raise_hang(gpu, begun);
    }
}

RunStatus gpu_run(Gpu *gpu, uint64_t cycle_limit) {
    const Clock *core = &gpu->sim->clocks[0];
    if (dispatcher_idle(gpu->dispatcher)) return RUN_DONE;
    while (!dispatcher_idle(gpu->dispatcher)) {
        uint64_t cycle = gpu_cycle(gpu), end = cycle + SLICE_CYCLES;
        if (cycle >= cycle_limit) return RUN_CYCLE_LIMIT;
        if (gpu->interrupted) {
            gpu->interrupted = 0;
            return RUN_INTERRUPTED;
        }
        if (gpu->pause_at_ctas && dispatcher_ctas_done(gpu->dispatcher) >= gpu->pause_at_ctas) {
            gpu_pause_at_ctas(gpu, 0);
            return RUN_CTAS_DONE;
        }
        run_slice(gpu, (end < cycle_limit ? end : cycle_limit) * core->period);
        finish_aborted(gpu);
    }
    gpu_count(gpu, &gpu->result, true);
    return RUN_DONE;
}

void gpu_run_instructions(Gpu *gpu, uint64_t instructions, uint64_t ctas) {
    enum { STEP_CYCLES = 64 };
    while (!dispatcher_idle(gpu->dispatcher) && gpu_warp_instructions(gpu) < instructions &&
           dispatcher_ctas_done(gpu->dispatcher) < ctas)
        run_slice(gpu, (gpu_cycle(gpu) + STEP_CYCLES) * gpu->sim->clocks[0].period);
}

void gpu_memcheck(Gpu *gpu) {
    device_track_initialised(gpu->functional.memory);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        gpu->sms[i]->memcheck = memcheck_new();
}

void gpu_start_profile(Gpu *gpu) {
    ensure(!gpu->profile);
    gpu->profile = profile_new(gpu->sim);
}

Profile *gpu_profile(const Gpu *gpu) {
    return gpu->profile;
}

void gpu_start_histograms(Gpu *gpu) {
    ensure(!gpu->histograms);
    gpu->histograms = histograms_new(gpu->sim);
}

Histograms *gpu_histograms(const Gpu *gpu) {
    return gpu->histograms;
}

bool gpu_has_memcheck(const Gpu *gpu) {
    return gpu->sms[0]->memcheck != NULL;
}

uint32_t gpu_memcheck_sites(const Gpu *gpu, MemcheckSite **sites) {
    return memcheck_collect(gpu->sms, gpu->sm_count, sites);
}

uint32_t gpu_launch_count(const Gpu *gpu) {
    return gpu->launches;
}

LaunchResult gpu_last_launch(const Gpu *gpu) {
    return gpu->result;
}
uint64_t gpu_cycle(const Gpu *gpu) {
    return clock_cycle(&gpu->sim->clocks[0], gpu->sim->now);
}

uint64_t gpu_warp_instructions(const Gpu *gpu) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sum += gpu->sms[i]->warp_instructions;
    return sum;
}

uint64_t gpu_loads(const Gpu *gpu) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < gpu->sim->object_count; i++) {
        if (gpu->sim->objects[i]->class != &lsu_class) continue;
        const Lsu *lsu = (const Lsu *)gpu->sim->objects[i];
        sum += lsu->global_loads + lsu->local_loads + lsu->texture_loads + lsu->atomics;
    }
    return sum;
}

uint64_t gpu_thread_instructions(const Gpu *gpu) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sum += gpu->sms[i]->thread_instructions;
    return sum;
}

void gpu_pause_at_ctas(Gpu *gpu, uint64_t ctas) {
    gpu->pause_at_ctas = ctas;
    dispatcher_pause_at(gpu->dispatcher, ctas);
}

void gpu_interrupt(Gpu *gpu) {
    gpu->interrupted = 1;
    sim_request_stop(gpu->sim);
}

GpuProgress gpu_progress(const Gpu *gpu) {
    return (GpuProgress){.kernel = gpu->running.kernel ? gpu->running.kernel->name : "",
                         .ctas_done = dispatcher_ctas_done(gpu->dispatcher),
                         .ctas = gpu->result.ctas};
}

void gpu_on_progress(Gpu *gpu, double seconds, void (*report)(void *context), void *context) {
    gpu->report = report;
    gpu->report_context = context;
    gpu->report_seconds = seconds;
    gpu->last_report = host_seconds();
}

void gpu_hang_limit(Gpu *gpu, uint64_t cycles) {
    gpu->hang_cycles = cycles;
}

/* --- Checkpoints ----------------------------------------------------------------------------- */

enum { RESULT_NUMBERS = 5 };

/* Beside the number of launches: what the last one has printed follows. Checkpoints of kernels that print nothing
 * have none of it. */
#define HAS_PRINTED (1u << 31)

static void save_printed(const PrintedText *printed, Buffer *buffer) {
    buffer_u64(buffer, printed->dropped);
    buffer_u64(buffer, printed->text.count);
    buffer_append(buffer, printed->text.bytes, printed->text.count);
}

/* `printed` may be NULL: it is passed over. */
static void load_printed(PrintedText *printed, Reader *reader) {
    uint64_t dropped = reader_u64(reader), bytes = reader_u64(reader);
    const uint8_t *text = reader_bytes(reader, bytes);
    if (!printed || !text) return;
    printed->text.count = 0;
    printed->dropped = dropped;
    buffer_append(&printed->text, text, bytes);
}

void gpu_save(const Gpu *gpu, Buffer *buffer) {
    const LaunchResult *result = &gpu->result;
    const uint64_t numbers[RESULT_NUMBERS] = {result->start_cycle, result->cycles, result->warp_instructions,
                                              result->thread_instructions, result->ctas};
    bool has_printed = gpu->printed.text.count || gpu->printed.dropped;
    buffer_u32(buffer, gpu->launches | (has_printed ? HAS_PRINTED : 0));
    buffer_append(buffer, numbers, sizeof numbers);
    if (has_printed) save_printed(&gpu->printed, buffer);
    sim_save(gpu->sim, buffer);
}

bool gpu_list(Reader *reader, uint64_t *now, SnapshotVisitor *visit, void *context, char *why,
              size_t why_size) {
    uint32_t launches = reader_u32(reader);
    reader_bytes(reader, RESULT_NUMBERS * sizeof(uint64_t));
    if (launches & HAS_PRINTED) load_printed(NULL, reader);
    return snapshot_list(reader, now, visit, context, why, why_size);
}

bool gpu_load(Gpu *gpu, Reader *reader, const SnapshotChanges *changes, char *why, size_t why_size) {
    LaunchResult *result = &gpu->result;
    uint32_t launches = reader_u32(reader);
    uint64_t numbers[RESULT_NUMBERS];
    for (int i = 0; i < RESULT_NUMBERS; i++)
        numbers[i] = reader_u64(reader);
    gpu->printed.text.count = gpu->printed.dropped = 0;
    if (launches & HAS_PRINTED) load_printed(&gpu->printed, reader);
    launches &= ~HAS_PRINTED;
    if (reader->failed || launches != gpu->launches) {
        snprintf(why, why_size,
                 "expected %u kernel launches as in the checkpoint, got %u of the host program", launches,
                 gpu->launches);
        return false;
    }
    result->start_cycle = numbers[0];
    result->cycles = numbers[1];
    result->warp_instructions = numbers[2];
    result->thread_instructions = numbers[3];
    result->ctas = numbers[4];
    return sim_load(gpu->sim, reader, changes, why, why_size);
}

bool gpu_move(Gpu *gpu, Sim *to, const SnapshotChanges *changes, char *why, size_t why_size) {
    Buffer saved = {0};
    gpu_save(gpu, &saved);
    gpu->sim = to;
    gpu->dispatcher = NULL;
    gpu->sm_count = gpu->slice_count = 0;
    to->user = &gpu->functional;
    gpu_elaborate(gpu);
    for (uint32_t i = 0; gpu->running.kernel && i < gpu->sm_count; i++)
        sm_set_kernel(gpu->sms[i], &gpu->running);
    bool good = gpu_load(gpu, &(Reader){.bytes = saved.bytes, .count = saved.count}, changes, why, why_size);
    buffer_free(&saved);
    return good;
}
