/* The kernels of a launch: when each begins and ends, which SMs have which, and what each has executed.
 *
 * What a kernel executes is counted by its SMs: their counters are taken off its result when they get the kernel, and
 * added when they get another one, or it ends. In between, the result is what is to be added to the SMs' counters. Where
 * SMs have several kernels at once, each CTA counts for itself, and the dispatcher adds them up as they end. */
#include "core/gpu/device/dispatcher.h"
#include "core/gpu/device/gpu_state.h"
#include "mem/protocol/caches.h"

#include <stdlib.h>
#include <string.h>

uint32_t gpu_kernel_count(const Gpu *gpu) {
    return gpu->kernel_count;
}

uint32_t gpu_refused_kernel(const Gpu *gpu) {
    return gpu->checked;
}

LaunchMistake gpu_launch_mistake(const Gpu *gpu) {
    return gpu->mistake;
}

bool gpu_kernel_has_begun(const Gpu *gpu, uint32_t kernel) {
    return gpu->kernels[kernel].has_begun;
}

const uint16_t *gpu_ended_kernels(const Gpu *gpu, uint32_t *count) {
    *count = gpu->ended_count;
    return gpu->ended;
}

void gpu_await(Gpu *gpu, uint32_t kernel) {
    gpu->kernels[kernel].is_awaited = true;
    if (kernel < gpu->first_awaited) gpu->first_awaited = kernel;
    if (kernel >= gpu->awaited_end) gpu->awaited_end = kernel + 1;
    gpu->awaited_has_ended |= gpu->kernels[kernel].has_ended != 0;
}

void gpu_await_none(Gpu *gpu) {
    for (uint32_t k = gpu->first_awaited; k < gpu->awaited_end && k < gpu->kernel_count; k++)
        gpu->kernels[k].is_awaited = false;
    gpu->first_awaited = UINT32_MAX;
    gpu->awaited_end = 0;
    gpu->awaited_has_ended = false;
}

LaunchResult gpu_launch_result(const Gpu *gpu, uint32_t kernel) {
    return kernel < gpu->kernel_count ? gpu->kernels[kernel].result : (LaunchResult){0};
}

const LaunchedKernel *gpu_oldest_kernel(const Gpu *gpu) {
    for (uint32_t k = 0; k + 1 < gpu->kernel_count; k++)
        if (!gpu->kernels[k].has_ended) return &gpu->kernels[k];
    return gpu->kernel_count ? &gpu->kernels[gpu->kernel_count - 1] : NULL;
}

void gpu_on_kernel(Gpu *gpu, void (*on_kernel)(void *context, const char *kernel, bool begins),
                   void *context) {
    gpu->on_kernel = on_kernel;
    gpu->on_kernel_context = context;
}

static void tell(const Gpu *gpu, const LaunchedKernel *kernel, bool begins) {
    if (gpu->on_kernel) gpu->on_kernel(gpu->on_kernel_context, kernel->result.kernel, begins);
}

/* --- Counting ---------------------------------------------------------------------------------- */

static void add_counters(LaunchedKernel *kernel, const Sm *sm) {
    kernel->result.warp_instructions += sm->warp_instructions;
    kernel->result.thread_instructions += sm->thread_instructions;
}

static void take_counters_off(LaunchedKernel *kernel, const Sm *sm) {
    kernel->result.warp_instructions -= sm->warp_instructions;
    kernel->result.thread_instructions -= sm->thread_instructions;
}

/* --- SMs --------------------------------------------------------------------------------------- */

/* The cycles that an SM has slept through are those of the kernel that it had. */
static void account_for_profile(const Gpu *gpu, uint32_t sm) {
    if (gpu->profile) sm_class.settle(&gpu->sms[sm]->obj, gpu->sim->now);
}

void gpu_set_kernel(Gpu *gpu, uint32_t sm, uint32_t kernel) {
    account_for_profile(gpu, sm);
    gpu->kernel_of[sm] = (uint16_t)kernel;
    sm_set_kernel(gpu->sms[sm], &gpu->running[kernel]);
}

/* The L1s of an SM that gets another kernel keep nothing, as all do between launches. */
static void invalidate_l1s_of(const Sm *sm) {
    SimObject *const *caches;
    uint32_t count = lsu_caches(sm->lsu.send->receiver, &caches);
    for (uint32_t i = 0; i < count; i++)
        if (caches[i]->class == &l1_class && !l1_keeps_lines(caches[i])) l1_invalidate(caches[i]);
}

/* What CTAs of the kernels from this one on need. */
static void find_needs(Gpu *gpu, uint32_t first) {
    size_t count = (size_t)gpu->kernel_count * gpu->sm_count;
    gpu->needs = realloc(gpu->needs, count * sizeof *gpu->needs);
    ensure_memory(gpu->needs);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        for (uint32_t k = first; k < gpu->kernel_count; k++)
            gpu->needs[(size_t)k * gpu->sm_count + i] = sm_needs(gpu->sms[i], gpu->running[k]);
}

void gpu_set_all_kernels(Gpu *gpu) {
    find_needs(gpu, 0);
    for (uint32_t i = 0; i < gpu->sm_count; i++) {
        account_for_profile(gpu, i);
        sm_set_kernels(gpu->sms[i], gpu->running, gpu->kernel_count);
    }
}

void gpu_set_priorities(Gpu *gpu, uint32_t first) {
    if (!gpu->priorities) gpu->priorities = calloc(MAX_KERNELS_IN_FLIGHT, sizeof *gpu->priorities);
    ensure_memory(gpu->priorities);
    for (uint32_t k = first; k < gpu->kernel_count; k++)
        gpu->priorities[k] = gpu->kernels[k].priority;
    dispatcher_set_priorities(gpu->dispatcher, gpu->priorities);
}

void gpu_add_kernels(Gpu *gpu, uint32_t first) {
    find_needs(gpu, first);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sm_add_kernels(gpu->sms[i], gpu->kernel_count);
}

void gpu_set_kernel_again(Gpu *gpu, uint32_t sm, uint32_t kernel) {
    if (gpu->has_several_per_sm)
        sm_set_kernels(gpu->sms[sm], gpu->running, gpu->kernel_count);
    else
        gpu_set_kernel(gpu, sm, kernel);
}

static CtaNeeds needs_at_port(void *context, uint32_t port, uint32_t kernel) {
    const Gpu *gpu = context;
    return gpu->needs[(size_t)kernel * gpu->sm_count + gpu->sm_at_port[port]];
}

static CtaNeeds room_at_port(void *context, uint32_t port) {
    const Gpu *gpu = context;
    const Sm *sm = gpu->sms[gpu->sm_at_port[port]];
    return (CtaNeeds){sm->warps, sm->registers, (uint32_t)sm->shared};
}

static const char *name_of_kernel(void *context, uint32_t kernel) {
    const Gpu *gpu = context;
    return gpu->kernels[kernel].result.kernel;
}

static uint32_t tenant_of_kernel(void *context, uint32_t kernel) {
    const Gpu *gpu = context;
    return gpu->kernels[kernel].running.tenant;
}

static bool count_of_kernel(void *context, uint32_t kernel, const char *name, uint64_t *value) {
    const Gpu *gpu = context;
    return kernel_counts_named(gpu->kernel_counts, gpu->kernels[kernel].running.launch, name, value);
}

static uint32_t slots_at_port(void *context, uint32_t port) {
    const Gpu *gpu = context;
    return gpu->sms[gpu->sm_at_port[port]]->ctas;
}

static uint32_t places_at_port(void *context, uint32_t port, uint32_t kernel) {
    const Gpu *gpu = context;
    OccupancyLimit limit;
    char why[OCCUPANCY_WHY_BYTES];
    return sm_occupancy(gpu->sms[gpu->sm_at_port[port]], &gpu->kernels[kernel].running, &limit, why,
                        sizeof why);
}

static void sm_is_given(void *context, uint32_t port, uint32_t kernel) {
    Gpu *gpu = context;
    uint32_t i = gpu->sm_at_port[port];
    LaunchedKernel *before = &gpu->kernels[gpu->kernel_of[i]];
    if (!before->has_ended) add_counters(before, gpu->sms[i]);
    take_counters_off(&gpu->kernels[kernel], gpu->sms[i]);
    invalidate_l1s_of(gpu->sms[i]);
    gpu_set_kernel(gpu, i, kernel);
}

static void share_sms(Gpu *gpu) {
    dispatcher_share(gpu->dispatcher, edge_from_now(gpu->dispatcher));
}

static void tell_kernel_of_sm(const Gpu *gpu, uint32_t sm) {
    event_tell(&gpu->sms[sm]->obj, SM_KERNEL_GIVEN, gpu->has_several_per_sm ? 0 : gpu->kernel_of[sm]);
}

void gpu_tell_kernels_of_sms(const Gpu *gpu) {
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        tell_kernel_of_sm(gpu, i);
}

static void share_sms_again(Gpu *gpu) {
    uint16_t before[MAX_SMS];
    memcpy(before, gpu->kernel_of, sizeof before);
    share_sms(gpu);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        if (gpu->kernel_of[i] != before[i]) tell_kernel_of_sm(gpu, i);
    if (sim_failure(gpu->sim)) user_error("%s", sim_failure(gpu->sim));
}

SmsOfKernels gpu_sms_of_kernels(Gpu *gpu) {
    return (SmsOfKernels){.places = places_at_port,
                          .given = sm_is_given,
                          .needs = needs_at_port,
                          .room = room_at_port,
                          .slots = slots_at_port,
                          .name = name_of_kernel,
                          .tenant = tenant_of_kernel,
                          .count = count_of_kernel,
                          .context = gpu};
}

/* --- Beginning and ending ---------------------------------------------------------------------- */

/* The kernels behind one that has not ended are a list, in which each of them is once: behind the first kernel before it
 * that has not ended. */
static bool waits(Gpu *gpu, uint32_t number) {
    LaunchedKernel *kernel = &gpu->kernels[number];
    for (; kernel->ended_before < kernel->after_count; kernel->ended_before++) {
        LaunchedKernel *before = &gpu->kernels[kernel->after[kernel->ended_before]];
        if (before->has_ended) continue;
        kernel->next_behind = before->first_behind;
        before->first_behind = number + 1;
        return true;
    }
    return false;
}

void gpu_look_at_all_kernels(Gpu *gpu) {
    for (uint32_t k = 0; k < gpu->kernel_count; k++)
        gpu->kernels[k].first_behind = gpu->kernels[k].next_behind = gpu->kernels[k].ended_before = 0;
    gpu->may_begin_count = gpu->looked_at = 0;
}

static void add_those_behind(Gpu *gpu, LaunchedKernel *kernel) {
    for (uint32_t next = kernel->first_behind; next; next = gpu->kernels[next - 1].next_behind)
        gpu->may_begin[gpu->may_begin_count++] = (uint16_t)(next - 1);
    kernel->first_behind = 0;
}

static int compare_numbers(const void *a, const void *b) {
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* In the order of the launch: those that wait no more for the one behind which they stood, and new ones. */
static void find_those_that_may_begin(Gpu *gpu) {
    for (; gpu->looked_at < gpu->kernel_count; gpu->looked_at++)
        gpu->may_begin[gpu->may_begin_count++] = (uint16_t)gpu->looked_at;
    if (!gpu->may_begin_count) return;
    qsort(gpu->may_begin, gpu->may_begin_count, sizeof *gpu->may_begin, compare_numbers);
}

static void begin(Gpu *gpu, uint32_t number) {
    LaunchedKernel *kernel = &gpu->kernels[number];
    kernel->has_begun = 1;
    kernel->result.start_cycle = gpu_cycle(gpu);
    dispatcher_begin(gpu->dispatcher, number, kernel->running.grid, kernel->running.workspace != 0);
}

void gpu_begin_kernels(Gpu *gpu) {
    for (uint32_t i = 0; i < gpu->sm_count && !gpu->has_several_per_sm; i++)
        take_counters_off(gpu->kernels, gpu->sms[i]);
    gpu_look_at_all_kernels(gpu);
    find_those_that_may_begin(gpu);
    for (uint32_t i = 0; i < gpu->may_begin_count; i++)
        if (!waits(gpu, gpu->may_begin[i])) begin(gpu, gpu->may_begin[i]);
    gpu->may_begin_count = 0;
    share_sms(gpu);
}

/* Whether there were any. */
static bool begin_those_that_wait_no_more(Gpu *gpu) {
    bool any = false;
    find_those_that_may_begin(gpu);
    for (uint32_t i = 0; i < gpu->may_begin_count; i++) {
        uint32_t k = gpu->may_begin[i];
        LaunchedKernel *kernel = &gpu->kernels[k];
        if (kernel->has_begun || kernel->has_ended || waits(gpu, k)) continue;
        begin(gpu, k);
        any = true;
        tell(gpu, kernel, true);
    }
    gpu->may_begin_count = 0;
    return any;
}

void gpu_begin_joined_kernels(Gpu *gpu) {
    if (begin_those_that_wait_no_more(gpu)) share_sms_again(gpu);
}

static void end(Gpu *gpu, uint32_t number) {
    LaunchedKernel *kernel = &gpu->kernels[number];
    for (uint32_t i = 0; i < gpu->sm_count && !gpu->has_several_per_sm; i++)
        if (gpu->kernel_of[i] == number) add_counters(kernel, gpu->sms[i]);
    if (gpu->has_several_per_sm)
        dispatcher_instructions(gpu->dispatcher, number, &kernel->result.warp_instructions,
                                &kernel->result.thread_instructions);
    kernel->has_ended = 1;
    add_those_behind(gpu, kernel);
    gpu->awaited_has_ended |= kernel->is_awaited;
    if (kernel->has_begun) kernel->result.cycles = gpu_cycle(gpu) - kernel->result.start_cycle;
}

/* Numbers of kernels in the order of the launch, behind those in gpu->ended; returns how many. */
static uint32_t find_those_that_are_done(Gpu *gpu) {
    const uint16_t *done;
    uint32_t count = dispatcher_take_ended(gpu->dispatcher, &done), left = 0;
    if (!count) return 0;
    uint16_t *ended = gpu->ended + gpu->ended_count;
    for (uint32_t i = 0; i < count; i++)
        if (done[i] < gpu->kernel_count && !gpu->kernels[done[i]].has_ended) ended[left++] = done[i];
    qsort(ended, left, sizeof *ended, compare_numbers);
    return left;
}

/* Whether there were any. */
static bool end_those_that_are_done(Gpu *gpu) {
    uint32_t count = find_those_that_are_done(gpu);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = gpu->ended[gpu->ended_count++];
        end(gpu, k);
        if (gpu->kernels[k].has_begun) tell(gpu, &gpu->kernels[k], false);
    }
    return count != 0;
}

void gpu_attend_to_kernels(Gpu *gpu) {
    bool have_ended = end_those_that_are_done(gpu);
    begin_those_that_wait_no_more(gpu);
    bool is_to_share = have_ended || dispatcher_has_freed(gpu->dispatcher);
    if (is_to_share && !dispatcher_idle(gpu->dispatcher)) share_sms_again(gpu);
}
