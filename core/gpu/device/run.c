/* What goes on until a launch has ended: progress, hangs, and faults that give its kernel up. */
#include "core/gpu/device/dispatcher.h"
#include "core/gpu/device/gpu_state.h"
#include "core/gpu/sm/spinning.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double host_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void gpu_maybe_report(Gpu *gpu) {
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

void gpu_describe_spinning(const Gpu *gpu, char *text, size_t size) {
    const Sm *first = NULL;
    uint32_t warps = 0;
    char loop[512];
    text[0] = 0;
    for (uint32_t i = 0; i < gpu->sm_count; i++) {
        if (!first && gpu->sms[i]->spinning) first = gpu->sms[i];
        warps += (uint32_t)__builtin_popcountll(gpu->sms[i]->spinning);
    }
    if (!first) return;
    spinning_describe(first, first_warp(first->spinning), loop, sizeof loop);
    snprintf(text, size, "; %u warp%s, warp %u of %s %s", warps, warps == 1 ? " spins" : "s spin",
             first_warp(first->spinning), first->obj.path, loop);
}

/* All kernels of a launch return faults and are given up, or none of them. */
static bool returns_faults(const Gpu *gpu) {
    return gpu->kernel_count && gpu->kernels->running.faults;
}

static bool is_aborted(const Gpu *gpu) {
    return gpu->kernel_count && gpu->kernels->running.aborted;
}

static const char *running_name(const Gpu *gpu) {
    return gpu_oldest_kernel(gpu)->running.kernel->name;
}

_Noreturn static void raise_hang(const Gpu *gpu, uint64_t since) {
    const char *kernel = running_name(gpu);
    const char *waits = dispatcher_is_kept_waiting(gpu->dispatcher)
                            ? "; policies let SMs with room wait for a CTA (place, next_cta, next_kernel)"
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
    for (uint32_t k = 0; k < gpu->kernel_count; k++)
        gpu->kernels[k].running.aborted = true;
    dispatcher_stop(gpu->dispatcher);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sm_abort(gpu->sms[i], edge_from_now(&gpu->sms[i]->obj));
}

/* A kernel that hangs twice has a machine that does. */
static void hang(Gpu *gpu, uint64_t since) {
    if (!returns_faults(gpu) || is_aborted(gpu)) raise_hang(gpu, since);
    LaunchFault fault = {.kind = FAULT_TIMEOUT, .kernel = (uint32_t)(gpu_oldest_kernel(gpu) - gpu->kernels)};
    if (!write_hang_report(gpu)) sim_report_in_groups(gpu->sim, stderr);
    snprintf(fault.message, sizeof fault.message,
             "kernel %.120s hangs: no progress since cycle %lu (now %lu)", running_name(gpu), since,
             gpu_cycle(gpu));
    abort_kernel(gpu, &fault);
}

void gpu_give_up(Gpu *gpu, const char *why) {
    if (!returns_faults(gpu) || is_aborted(gpu)) return;
    gpu->fault = (LaunchFault){.kind = FAULT_GIVEN_UP,
                               .kernel = (uint32_t)(gpu_oldest_kernel(gpu) - gpu->kernels)};
    snprintf(gpu->fault.message, sizeof gpu->fault.message, "kernel %.120s was given up at cycle %lu: %s",
             running_name(gpu), gpu_cycle(gpu), why);
}

static void abort_after_fault(Gpu *gpu) {
    if (!returns_faults(gpu) || is_aborted(gpu)) return;
    for (uint32_t i = 0; i < gpu->sm_count; i++) {
        const LaunchFault *fault = &gpu->faults[gpu->sms[i]->number];
        if (fault->kind == FAULT_NONE) continue;
        if (!gpu->has_several_per_sm) gpu->faults[gpu->sms[i]->number].kernel = gpu->kernel_of[i];
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
    if (is_aborted(gpu)) return;
    if (stop == STOP_IDLE && !dispatcher_idle(gpu->dispatcher) && !sim_skip_to_periodic(gpu->sim, until))
        hang(gpu, gpu_cycle(gpu));
    if (progress_count(gpu) != gpu->progress) {
        gpu->progress = progress_count(gpu);
        gpu->progress_cycle = gpu_cycle(gpu);
    } else if (gpu_cycle(gpu) - gpu->progress_cycle > gpu->hang_cycles && !any_warp_sleeps(gpu) &&
               !message_comes_later(gpu->sim)) {
        hang(gpu, gpu->progress_cycle);
    }
    gpu_maybe_report(gpu);
    if (gpu->fault.kind == FAULT_GIVEN_UP) abort_kernel(gpu, &gpu->fault);
}

/* What a kernel that was given up has in flight comes to its end at once: no checkpoint knows of it. */
static void finish_aborted(Gpu *gpu) {
    uint64_t begun = gpu_cycle(gpu);
    while (is_aborted(gpu) && !dispatcher_idle(gpu->dispatcher)) {
        uint64_t until = (gpu_cycle(gpu) + SLICE_CYCLES) * gpu->sim->clocks[0].period;
        bool idle = sim_run(gpu->sim, until) == STOP_IDLE && !dispatcher_idle(gpu->dispatcher);
        bool late = gpu_cycle(gpu) - begun > gpu->hang_cycles + gpu_wire_cycles(gpu);
        if ((idle && !sim_skip_to_periodic(gpu->sim, until)) || late) raise_hang(gpu, begun);
    }
}

RunStatus gpu_run(Gpu *gpu, uint64_t cycle_limit) {
    const Clock *core = &gpu->sim->clocks[0];
    while (!dispatcher_idle(gpu->dispatcher)) {
        uint64_t cycle = gpu_cycle(gpu), end = cycle + SLICE_CYCLES;
        if (gpu->awaited_has_ended) return RUN_KERNEL_ENDED;
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
        gpu_attend_to_kernels(gpu);
    }
    gpu_attend_to_kernels(gpu);
    return RUN_DONE;
}

void gpu_run_instructions(Gpu *gpu, uint64_t instructions, uint64_t ctas) {
    enum { STEP_CYCLES = 64 };
    while (!dispatcher_idle(gpu->dispatcher) && gpu_warp_instructions(gpu) < instructions &&
           dispatcher_ctas_done(gpu->dispatcher) < ctas)
        run_slice(gpu, (gpu_cycle(gpu) + STEP_CYCLES) * gpu->sim->clocks[0].period);
}

void gpu_pause_at_ctas(Gpu *gpu, uint64_t ctas) {
    gpu->pause_at_ctas = ctas;
    dispatcher_pause_at(gpu->dispatcher, ctas);
}

void gpu_interrupt(Gpu *gpu) {
    gpu->interrupted = 1;
    sim_request_stop(gpu->sim);
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
