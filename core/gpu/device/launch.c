/* What begins a launch: it is checked, and the SMs and the dispatcher are given its kernel. */
#include "core/gpu/device/dispatcher.h"
#include "core/gpu/device/gpu_state.h"
#include "core/gpu/dma/dma_gate.h"
#include "mem/protocol/caches.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_CTA_THREADS = 1024,
    MAX_GRID_X = 0x7fffffff, /* CUDA's limits */
    MAX_GRID_YZ = 65535,
    MAX_LOCAL_BYTES = 512 << 10, /* per thread */
    SHARED_GRANULE = 128,        /* shared memory is allocated in such pieces */
};

static void check_required_block(const Kernel *kernel, const uint32_t block[3]) {
    const uint32_t *required = kernel->required;
    if (required[0] && memcmp(required, block, sizeof kernel->required) != 0)
        user_error("kernel %s: block: expected (%u, %u, %u) (%s), got (%u, %u, %u)", kernel->name,
                   required[0], required[1], required[2],
                   kernel->grid[0] ? "as it was recorded" : ".reqntid of the kernel", block[0], block[1],
                   block[2]);
}

static void check_recorded_grid(const Kernel *kernel, const uint32_t grid[3]) {
    const uint32_t *recorded = kernel->grid;
    if (recorded[0] && memcmp(recorded, grid, sizeof kernel->grid) != 0)
        user_error("kernel %s: grid: expected (%u, %u, %u) (as it was recorded), got (%u, %u, %u)",
                   kernel->name, recorded[0], recorded[1], recorded[2], grid[0], grid[1], grid[2]);
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
    check_recorded_grid(kernel, launch->grid);
    if (kernel->max_threads && running->threads_per_cta > kernel->max_threads)
        user_error("kernel %s: block: expected up to %u threads (.maxntid of the kernel), got %u",
                   kernel->name, kernel->max_threads, running->threads_per_cta);
}

static void check_memory(const Kernel *kernel, const Launch *launch, const RunningKernel *running) {
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

/* As many bytes as were asked for, if there are so many beside the kernel's own variables. */
static uint32_t stack_of(const Kernel *kernel, const Launch *launch) {
    uint32_t bytes = launch->stack_bytes ? launch->stack_bytes : STACK_BYTES;
    uint32_t most = kernel->local_bytes < MAX_LOCAL_BYTES ? (MAX_LOCAL_BYTES - kernel->local_bytes) / 16 * 16
                                                          : 0;
    return bytes < most ? (bytes + 15) / 16 * 16 : most;
}

static void check_engine(const Sm *sm, const Kernel *kernel) {
    if (kernel->dma_line && !dma_gate_of(sm)->engine)
        user_error("kernel %s, PTX line %u: expected a DmaEngine at the port transfers of %s (see "
                   "configs/gtx480_d2ma.lua), got none",
                   kernel->name, kernel->dma_line, sm->obj.path);
}

static uint64_t ctas_of_grid(const uint32_t grid[3]) {
    return (uint64_t)grid[0] * grid[1] * grid[2];
}

/* CTAs of a kernel that the machine holds at once. Some of unlike SMs may hold none. */
static uint64_t ctas_that_fit(Gpu *gpu, RunningKernel *running) {
    uint64_t all = 0;
    OccupancyLimit limit;
    char why[OCCUPANCY_WHY_BYTES];
    running->most_ctas = 0;
    for (uint32_t i = 0; i < gpu->sm_count; i++) {
        uint32_t fit = sm_occupancy(gpu->sms[i], running, &limit, why, sizeof why);
        if (fit) check_engine(gpu->sms[i], running->kernel);
        if (fit > running->most_ctas) running->most_ctas = fit, running->limit = limit;
        all += fit;
    }
    if (!all) {
        gpu->mistake = MISTAKE_RESOURCES;
        sm_occupancy(gpu->sms[0], running, &limit, why, sizeof why);
        user_error("kernel %s does not fit on %s: %s", running->kernel->name, gpu->sms[0]->obj.path, why);
    }
    if (ctas_of_grid(running->grid) < all) running->limit = LIMIT_GRID;
    return all;
}

/* What CUDA's headers compile cooperative_groups' grid barrier to: a workspace in device memory, whose address is the
 * 64 bits of %envreg1 and %envreg2, with a counter in its second word, which keeps its value between launches. */
enum { WORKSPACE_BYTES = 64 };

static uint64_t workspace_of_grid(Gpu *gpu, RunningKernel *running) {
    uint64_t ctas = ctas_of_grid(running->grid), fit = ctas_that_fit(gpu, running);
    if (ctas > fit) {
        gpu->mistake = MISTAKE_COOPERATIVE;
        user_error("kernel %s: expected up to %lu CTAs in a cooperative launch (up to %u on each of %u SMs), "
                   "got %lu",
                   running->kernel->name, fit, running->most_ctas, gpu->sm_count, ctas);
    }
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
    ensure_memory(gpu->faults);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        gpu->faults[i].kind = FAULT_NONE;
    return gpu->faults;
}

static RunningKernel plan_kernel(Gpu *gpu, const Kernel *kernel, const Launch *launch) {
    gpu->mistake = MISTAKE_OTHER;
    if (kernel->refusal) user_error("kernel %s cannot be launched: %s", kernel->name, kernel->refusal);
    RunningKernel running = {.kernel = kernel,
                             .launch = gpu->launches,
                             .tenant = launch->tenant,
                             .textures = &gpu->textures,
                             .heap_start = gpu->heap_start,
                             .heap_bytes = gpu->heap_bytes};
    memcpy(running.grid, launch->grid, sizeof running.grid);
    memcpy(running.block, launch->block, sizeof running.block);
    running.threads_per_cta = launch->block[0] * launch->block[1] * launch->block[2];
    running.local_bytes = kernel->local_bytes + (kernel->uses_stack ? stack_of(kernel, launch) : 0);
    gpu->mistake = MISTAKE_EXTENTS;
    check_extents(kernel, launch, &running);
    gpu->mistake = MISTAKE_OTHER;
    check_memory(kernel, launch, &running);
    running.warps_per_cta = (running.threads_per_cta + WARP_LANES - 1) / WARP_LANES;
    running.dynamic_shared_bytes = launch->shared_bytes;
    running.shared_bytes = (kernel->shared_bytes + launch->shared_bytes + SHARED_GRANULE - 1) /
                           SHARED_GRANULE * SHARED_GRANULE;
    running.registers = launch->registers ? launch->registers : kernel->registers_per_thread;
    ctas_that_fit(gpu, &running);
    return running;
}

uint32_t gpu_module_of(const Gpu *gpu, const Kernel *kernel) {
    uint32_t number = 1;
    for (uint32_t m = 0; m < gpu->module_count; m++) {
        for (uint32_t k = 0; k < gpu->modules[m]->kernel_count; k++) {
            const Kernel *other = &gpu->modules[m]->kernels[k];
            if (other == kernel) return number;
            number += strcmp(other->name, kernel->name) == 0;
        }
    }
    panic("kernel %s is of no module", kernel->name);
}

static LaunchResult result_of(const Gpu *gpu, const LaunchedKernel *kernel) {
    const RunningKernel *running = &kernel->running;
    return (LaunchResult){.kernel = running->kernel->name,
                          .module = gpu_module_of(gpu, running->kernel),
                          .tenant = running->tenant,
                          .ctas = ctas_of_grid(running->grid),
                          .threads_per_cta = running->threads_per_cta,
                          .ctas_per_sm = running->most_ctas,
                          .limit = running->limit,
                          .printed = &kernel->printed};
}

static void *copied(const void *bytes, size_t count) {
    void *copy = malloc(count ? count : 1);
    ensure_memory(copy);
    return count ? memcpy(copy, bytes, count) : copy;
}

/* A user error where it is not legal. */
static void plan(Gpu *gpu, LaunchedKernel *kernel, const KernelLaunch *launch) {
    kernel->running = plan_kernel(gpu, launch->kernel, launch->launch);
    if (launch->launch->is_cooperative) kernel->running.workspace = workspace_of_grid(gpu, &kernel->running);
}

/* Of the kernels in front of this one: 1 + the number of the last one whose CTAs meet where its own do, or 0. */
static uint32_t cooperative_before(const LaunchedKernel *kernels, uint32_t number) {
    if (!kernels[number].running.workspace) return 0;
    while (number && !kernels[number - 1].running.workspace)
        number--;
    return number;
}

/* Cooperative kernels run one after the other: parts of two would wait for each other's SMs for ever. */
static void note_kernels_before(LaunchedKernel *kernels, uint32_t number, const KernelLaunch *launch) {
    LaunchedKernel *kernel = &kernels[number];
    uint32_t before = cooperative_before(kernels, number), count = launch->after_count;
    kernel->after = calloc(count + 1, sizeof *kernel->after);
    ensure_memory(kernel->after);
    if (count) memcpy(kernel->after, launch->after, count * sizeof *launch->after);
    if (before) kernel->after[count++] = before - 1;
    kernel->after_count = count;
}

/* `number`: among these kernels, of which it is the last that is known. */
static void fill_in(Gpu *gpu, LaunchedKernel *kernels, uint32_t number, const KernelLaunch *launch) {
    LaunchedKernel *kernel = &kernels[number];
    RunningKernel *running = &kernel->running;
    kernel->printed.limit = gpu->print_limit;
    note_kernels_before(kernels, number, launch);
    kernel->priority = launch->priority;
    running->launch = gpu->launches++;
    running->printed = &kernel->printed;
    running->params = copied(launch->launch->params, launch->kernel->param_bytes);
    running->constants = constants_of_launch(gpu, running);
    running->faults = launch->launch->returns_faults ? empty_faults(gpu) : NULL;
    kernel->result = result_of(gpu, kernel);
}

void gpu_free_kernels(LaunchedKernel *kernels, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        free(kernels[k].running.params);
        free(kernels[k].running.constants);
        free(kernels[k].after);
        buffer_free(&kernels[k].printed.text);
    }
    free(kernels);
}

/* The room for kernels that join later is megabytes, which nobody touches before they do. */
static LaunchedKernel *planned_kernels(Gpu *gpu, uint32_t count, uint32_t room) {
    gpu_free_kernels(gpu->planned, gpu->planned_count); /* of a launch that was refused */
    gpu->planned = malloc(room * sizeof *gpu->planned);
    ensure_memory(gpu->planned);
    memset(gpu->planned, 0, count * sizeof *gpu->planned);
    gpu->planned_count = count;
    return gpu->planned;
}

/* Without timing they run one after the other. */
static bool has_several_per_sm(const Gpu *gpu, const KernelLaunch *launches, uint32_t count) {
    return !launches->launch->is_untimed && dispatcher_runs_several_per_sm(gpu->dispatcher, count);
}

/* The engine's buffers and marks are those of one kernel. */
static void check_several_per_sm(const Gpu *gpu, const KernelLaunch *launches, uint32_t count,
                                 uint32_t room) {
    if (!has_several_per_sm(gpu, launches, room)) return;
    for (uint32_t k = 0; k < count; k++) {
        const Kernel *kernel = launches[k].kernel;
        if (kernel->dma_line || kernel->mark_count)
            user_error("kernel %s: expected no intrinsics of the DMA engine where an SM holds CTAs of "
                       "several kernels (the dispatcher's kernels_per_sm), got some",
                       kernel->name);
    }
}

/* They are planned no more. */
static void take_kernels(Gpu *gpu, LaunchedKernel *kernels, uint32_t count, uint32_t room) {
    gpu->planned = NULL;
    gpu->planned_count = 0;
    gpu->kernels = kernels;
    gpu->kernel_count = count;
    gpu->running = realloc(gpu->running, room * sizeof *gpu->running);
    gpu->ended = realloc(gpu->ended, room * sizeof *gpu->ended);
    gpu->may_begin = realloc(gpu->may_begin, room * sizeof *gpu->may_begin);
    ensure_memory(gpu->running && gpu->ended && gpu->may_begin);
    gpu->ended_count = 0;
    gpu_look_at_all_kernels(gpu);
    for (uint32_t k = 0; k < count; k++)
        gpu->running[k] = &kernels[k].running;
}

static void give_kernels(Gpu *gpu) {
    if (gpu->has_several_per_sm) gpu_set_all_kernels(gpu);
    for (uint32_t i = 0; !gpu->has_several_per_sm && i < gpu->sm_count; i++)
        gpu_set_kernel(gpu, i, 0);
}

/* What is wrong with a launch is found before anything changes. The kernels of the launch before are freed when no SM
 * has any of them. */
static void prepare(Gpu *gpu, const KernelLaunch *launches, uint32_t count, uint32_t room) {
    LaunchedKernel *before = gpu->kernels, *kernels = planned_kernels(gpu, count, room);
    uint32_t count_before = gpu->kernel_count;
    gpu->mistake = MISTAKE_OTHER;
    check_several_per_sm(gpu, launches, count, room);
    for (uint32_t k = 0; k < count; k++) {
        gpu->checked = k;
        plan(gpu, &kernels[k], &launches[k]);
    }
    for (uint32_t k = 0; k < count; k++)
        fill_in(gpu, kernels, k, &launches[k]);
    take_kernels(gpu, kernels, count, room);
    gpu->is_async = gpu->awaited_has_ended = false;
    gpu->fault.kind = FAULT_NONE;
    for (uint32_t k = 0; gpu->profile && k < count; k++)
        profile_note_arguments(gpu->profile, &kernels[k].running);
    if (gpu->kernel_counts) kernel_counts_launches(gpu->kernel_counts, gpu->launches);
    if (!launches->launch->is_untimed) gpu->expected = room;
    dispatcher_expect(gpu->dispatcher, gpu->expected);
    gpu_set_priorities(gpu, 0);
    gpu->has_several_per_sm = has_several_per_sm(gpu, launches, room);
    give_kernels(gpu);
    gpu_free_kernels(before, count_before);
}

void gpu_prepare(Gpu *gpu, const KernelLaunch *launches, uint32_t count) {
    prepare(gpu, launches, count, count);
}

void gpu_invalidate_l1s(const Gpu *gpu) {
    for (uint32_t i = 0; i < gpu->sim->object_count; i++) {
        SimObject *object = gpu->sim->objects[i];
        if (object->class == &l1_class && !l1_keeps_lines(object)) l1_invalidate(object);
    }
}

static void require_idle(Gpu *gpu, const KernelLaunch *launches) {
    gpu->checked = 0;
    gpu->mistake = MISTAKE_OTHER;
    if (!dispatcher_idle(gpu->dispatcher))
        user_error("kernel %s: kernel %s is still running", launches->kernel->name,
                   gpu_oldest_kernel(gpu)->running.kernel->name);
}

static void begin_prepared(Gpu *gpu, uint32_t count) {
    gpu_invalidate_l1s(gpu);
    gpu->progress_cycle = gpu_cycle(gpu);
    dispatcher_start(gpu->dispatcher, count);
    gpu_begin_kernels(gpu);
}

void gpu_begin_launch(Gpu *gpu, const KernelLaunch *launches, uint32_t count) {
    require_idle(gpu, launches);
    gpu_prepare(gpu, launches, count);
    begin_prepared(gpu, count);
}

/* `number`: among the kernels of the launch. */
static void check_launched_together(Gpu *gpu, const KernelLaunch *launch, uint32_t number, bool is_untimed) {
    const Launch *how = launch->launch;
    const char *name = launch->kernel->name;
    gpu->mistake = MISTAKE_OTHER;
    if (how->is_untimed != is_untimed || how->forward_ctas)
        user_error(
            "kernel %s: expected timing for all kernels that are launched together, or for none, got some",
            name);
    for (uint32_t i = 0; i < launch->after_count; i++)
        if (launch->after[i] >= number)
            user_error(
                "kernel %s: after: expected kernels that stand before it in the list, got number %u of %u",
                name, launch->after[i] + 1, number + 1);
}

void gpu_launch_together(Gpu *gpu, const KernelLaunch *launches, uint32_t count) {
    bool is_untimed = launches->launch->is_untimed;
    if (count < 1 || count > MAX_KERNELS_TOGETHER)
        user_error("expected 1 to %d kernels to be launched together, got %u", MAX_KERNELS_TOGETHER, count);
    for (uint32_t k = 0; k < count; k++) {
        gpu->checked = k;
        check_launched_together(gpu, &launches[k], k, is_untimed);
    }
    if (is_untimed)
        gpu_launch_untimed_in_turn(gpu, launches, count);
    else
        gpu_begin_launch(gpu, launches, count);
}

/* --- Kernels that join others --------------------------------------------------------------------- */

/* What is wrong with any of them is found before anything changes. */
static void join(Gpu *gpu, const KernelLaunch *launches, uint32_t count) {
    const LaunchedKernel *planned = planned_kernels(gpu, count, count);
    LaunchedKernel *kernels = &gpu->kernels[gpu->kernel_count];
    for (uint32_t k = 0; k < count; k++) {
        gpu->checked = k;
        plan(gpu, &gpu->planned[k], &launches[k]);
    }
    for (uint32_t k = 0; k < count; k++) {
        kernels[k] = (LaunchedKernel){.running = planned[k].running};
        fill_in(gpu, gpu->kernels, gpu->kernel_count, &launches[k]);
        gpu->running[gpu->kernel_count++] = &kernels[k].running;
        if (gpu->profile) profile_note_arguments(gpu->profile, &kernels[k].running);
    }
    gpu_set_priorities(gpu, gpu->kernel_count - count);
    if (gpu->has_several_per_sm) gpu_add_kernels(gpu, gpu->kernel_count - count);
    if (gpu->kernel_counts) kernel_counts_launches(gpu->kernel_counts, gpu->launches);
}

static void check_async(Gpu *gpu, const KernelLaunch *launches, uint32_t count, bool joins) {
    uint32_t present = joins ? gpu->kernel_count : 0;
    gpu->checked = 0;
    gpu->mistake = MISTAKE_OTHER;
    if (gpu_has_memcheck(gpu) && has_several_per_sm(gpu, launches, MAX_KERNELS_IN_FLIGHT))
        user_error("kernel %s: expected kernels_per_sm = 1 of the dispatcher where kernels join others with "
                   "memcheck",
                   launches->kernel->name);
    check_several_per_sm(gpu, launches, count, MAX_KERNELS_IN_FLIGHT);
    if (count < 1 || count > MAX_KERNELS_IN_FLIGHT - present)
        user_error(
            "kernel %s: expected up to %d kernels from the first to the last that is in flight, got %u",
            launches->kernel->name, MAX_KERNELS_IN_FLIGHT, present + count);
    for (uint32_t k = 0; k < count; k++) {
        gpu->checked = k;
        check_launched_together(gpu, &launches[k], present + k, false);
    }
}

void gpu_prepare_async(Gpu *gpu, const KernelLaunch *launches, uint32_t count, bool joins) {
    ensure(!joins || gpu->is_async);
    check_async(gpu, launches, count, joins);
    if (joins) {
        join(gpu, launches, count);
        return;
    }
    require_idle(gpu, launches);
    prepare(gpu, launches, count, MAX_KERNELS_IN_FLIGHT);
    gpu->is_async = true;
}

void gpu_begin_async(Gpu *gpu, uint32_t count, bool joins) {
    if (!joins) {
        begin_prepared(gpu, count);
        return;
    }
    dispatcher_join(gpu->dispatcher, count);
    gpu_begin_joined_kernels(gpu);
}

void gpu_launch(Gpu *gpu, const Kernel *kernel, const Launch *launch) {
    if (launch->forward_ctas) {
        gpu_launch_forward(gpu, kernel, launch);
        gpu_forward_until(gpu, launch->forward_ctas);
        gpu_forward_end(gpu);
    } else {
        gpu_begin_launch(gpu, &(KernelLaunch){.kernel = kernel, .launch = launch}, 1);
    }
}

uint64_t gpu_resident_ctas(Gpu *gpu, const Kernel *kernel, const Launch *launch) {
    RunningKernel running = plan_kernel(gpu, kernel, launch);
    return ctas_that_fit(gpu, &running);
}
