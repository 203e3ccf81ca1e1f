/* Launches without timing: all of one, or its first CTAs, which the machine then takes over. */
#include "core/gpu/device/dispatcher.h"
#include "core/gpu/device/gpu_state.h"
#include "core/gpu/sm/untimed.h"

static void refuse_dma(const Kernel *kernel) {
    if (kernel->dma_line)
        user_error(
            "kernel %s, PTX line %u: expected a kernel without intrinsics of the DMA engine, which work in "
            "timed launches alone",
            kernel->name, kernel->dma_line);
}

/* The first fault of the SMs, if there is one. */
static void take_fault(Gpu *gpu) {
    for (uint32_t i = 0; gpu->faults && i < gpu->sm_count && gpu->fault.kind == FAULT_NONE; i++)
        gpu->fault = gpu->faults[gpu->sms[i]->number];
}

/* Without timing, warps wait for each other, or a policy gives none of the CTAs that are left. */
static void raise_untimed_hang(Gpu *gpu, const Kernel *kernel, bool returns_faults, bool policies_wait) {
    gpu->fault.kind = FAULT_TIMEOUT;
    snprintf(gpu->fault.message, sizeof gpu->fault.message, "kernel %.120s hangs: %s", kernel->name,
             policies_wait ? "policies let SMs with room wait for a CTA (next_cta)"
                           : "its warps wait for each other");
    if (!returns_faults) user_error("%s", gpu->fault.message);
}

static bool is_given_up(void *context) {
    Gpu *gpu = context;
    gpu_maybe_report(gpu);
    return gpu->fault.kind == FAULT_GIVEN_UP;
}

void gpu_stop_untimed(Gpu *gpu) {
    gpu->fault = (LaunchFault){.kind = FAULT_GIVEN_UP};
}

void gpu_launch_forward(Gpu *gpu, const Kernel *kernel, const Launch *launch) {
    gpu->mistake = MISTAKE_OTHER;
    refuse_dma(kernel);
    gpu_begin_launch(gpu, &(KernelLaunch){.kernel = kernel, .launch = launch}, 1);
    gpu->forward = forward_begin(gpu->sms, gpu->sm_count, gpu->dispatcher, launch->cold_ctas, is_given_up,
                                 gpu);
}

ForwardProgress gpu_forward_until(Gpu *gpu, uint64_t ctas) {
    Forward *forward = gpu->forward;
    const LaunchedKernel *kernel = gpu->kernels;
    uint64_t all = kernel->result.ctas;
    if (!forward) return (ForwardProgress){.ctas = all}; /* the kernel was given up */
    ForwardResult result = forward_until(forward, ctas < all ? ctas : all);
    ForwardProgress progress = {.ctas = dispatcher_ctas_done(gpu->dispatcher)};
    bool policies_wait = dispatcher_is_kept_waiting(gpu->dispatcher);
    const char *failure = sim_failure(gpu->sim); /* of a policy that chooses CTAs */
    progress.warp_instructions = forward_instructions(forward, &progress.loads);
    progress.cycles = forward_cycles(forward);
    progress.conflict_cycles = forward_conflict_cycles(forward);
    progress.traffic = forward_traffic(forward);
    if (result == FORWARD_DONE && !failure) return progress;
    forward_end(forward, false);
    gpu->forward = NULL;
    if (failure) user_error("%s", failure);
    if (result == FORWARD_FAULT)
        take_fault(gpu);
    else
        raise_untimed_hang(gpu, kernel->running.kernel, kernel->running.faults != NULL, policies_wait);
    return progress;
}

void gpu_forward_end(Gpu *gpu) {
    if (gpu->forward) forward_end(gpu->forward, true);
    gpu->forward = NULL;
}

/* SMs have the kernels one after the other. False: it did not come to its end. */
static bool run_untimed(Gpu *gpu, uint32_t number, const Launch *launch) {
    LaunchedKernel *kernel = &gpu->kernels[number];
    for (uint32_t i = 0; number && i < gpu->sm_count; i++)
        gpu_set_kernel(gpu, i, number);
    kernel->result.start_cycle = gpu_cycle(gpu);
    if (launch->cold_ctas < kernel->result.ctas) gpu_invalidate_l1s(gpu);
    bool ended = sms_run_untimed(gpu->sms, gpu->sm_count, &kernel->running, launch->cold_ctas, is_given_up,
                                 gpu);
    kernel->has_begun = kernel->has_ended = 1;
    take_fault(gpu);
    gpu->fault.kernel = number;
    if (!ended) raise_untimed_hang(gpu, kernel->running.kernel, launch->returns_faults, false);
    return gpu->fault.kind == FAULT_NONE;
}

void gpu_launch_untimed_in_turn(Gpu *gpu, const KernelLaunch *launches, uint32_t count) {
    bool goes_on = true;
    gpu->mistake = MISTAKE_OTHER;
    for (uint32_t k = 0; k < count; k++)
        refuse_dma(launches[k].kernel);
    gpu_prepare(gpu, launches, count);
    for (uint32_t k = 0; k < count && goes_on; k++)
        goes_on = run_untimed(gpu, k, launches[k].launch);
}

void gpu_launch_untimed(Gpu *gpu, const Kernel *kernel, const Launch *launch) {
    gpu_launch_untimed_in_turn(gpu, &(KernelLaunch){.kernel = kernel, .launch = launch}, 1);
}
