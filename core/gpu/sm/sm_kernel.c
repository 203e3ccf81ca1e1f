/* The kernels that an SM runs: how many CTAs fit, and the memory that they take. */
#include "core/gpu/sm/kernel_switch.h"
#include "core/gpu/sm/memcheck.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* .maxntid promises how large the CTAs are, so that a compiler for the machine would keep as many registers as fit
 * and spill the others. The accesses to what it spills are not simulated. */
static uint64_t registers_to_fit(const Sm *sm, const RunningKernel *running, uint64_t registers) {
    uint64_t warps = (running->kernel->max_threads + WARP_LANES - 1) / WARP_LANES;
    if (!warps || registers * running->warps_per_cta * WARP_LANES <= sm->registers) return registers;
    return sm->registers / (warps * WARP_LANES) / sm->register_unit * sm->register_unit;
}

static void lower(uint32_t *fits, uint64_t most, OccupancyLimit *limit, OccupancyLimit of) {
    if (*fits <= most) return;
    *fits = (uint32_t)most;
    *limit = of;
}

/* As they are allocated, of a thread. */
static uint64_t registers_per_thread(const Sm *sm, const RunningKernel *running) {
    uint64_t registers = ((uint64_t)running->registers + sm->register_unit - 1) / sm->register_unit *
                         sm->register_unit;
    uint64_t kept = registers_to_fit(sm, running, registers);
    return kept ? kept : registers;
}

static uint64_t shared_per_cta(const Sm *sm, const RunningKernel *running) {
    return running->shared_bytes + sm->reserved_shared;
}

static uint64_t most_shared_of_cta(const Sm *sm) {
    return sm->shared > sm->reserved_shared ? sm->shared - sm->reserved_shared : 0;
}

uint32_t sm_occupancy(const Sm *sm, const RunningKernel *running, OccupancyLimit *limit, char *why,
                      size_t why_size) {
    uint64_t registers = registers_per_thread(sm, running);
    uint64_t per_cta = registers * running->warps_per_cta * WARP_LANES;
    uint32_t fits = sm->ctas;
    if (running->warps_per_cta > sm->warps) {
        snprintf(why, why_size, "expected up to %u warps per CTA, got %u", sm->warps, running->warps_per_cta);
        return 0;
    }
    if (per_cta > sm->registers) {
        snprintf(why, why_size, "expected up to %u registers per CTA, got %lu (%lu per thread)",
                 sm->registers, per_cta, registers);
        return 0;
    }
    if (shared_per_cta(sm, running) > sm->shared) {
        snprintf(why, why_size, "expected up to %lu bytes of shared memory per CTA, got %u, in pieces of 128",
                 most_shared_of_cta(sm), running->shared_bytes);
        return 0;
    }
    *limit = LIMIT_CTA_SLOTS;
    lower(&fits, sm->warps / running->warps_per_cta, limit, LIMIT_WARPS);
    if (per_cta) lower(&fits, sm->registers / per_cta, limit, LIMIT_REGISTERS);
    uint64_t shared = shared_per_cta(sm, running);
    if (shared) lower(&fits, sm->shared / shared, limit, LIMIT_SHARED_MEMORY);
    return fits;
}

CtaNeeds sm_needs(const Sm *sm, const RunningKernel *running) {
    OccupancyLimit limit;
    char why[OCCUPANCY_WHY_BYTES];
    uint64_t registers = registers_per_thread(sm, running) * running->warps_per_cta * WARP_LANES;
    if (!sm_occupancy(sm, running, &limit, why, sizeof why)) return (CtaNeeds){0};
    return (CtaNeeds){running->warps_per_cta, (uint32_t)registers, (uint32_t)shared_per_cta(sm, running)};
}

static size_t room_for(size_t bytes) {
    return bytes ? (bytes + 255) / 256 * 256 : 256;
}

/* Zeros. */
static void *resized(void *array, size_t bytes) {
    size_t room = room_for(bytes);
    free(array);
    void *memory = aligned_alloc(256, room);
    ensure_memory(memory);
    return memset(memory, 0, room);
}

/* What each CTA zeroes for itself as it starts: of the same size, it stays as the kernel before has left it. */
static void *kept_or_resized(void *array, size_t before, size_t bytes) {
    return array && before == bytes ? array : resized(array, bytes);
}

/* The host gives pages of zeros for those in between, when they are touched. */
static void zero_lazily(uint8_t *memory, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)memory, end = start + bytes;
    uintptr_t first = (start + page - 1) / page * page, last = end / page * page;
    bool has_pages = first < last && madvise((void *)first, last - first, MADV_DONTNEED) == 0;
    memset(memory, 0, has_pages ? first - start : bytes);
    if (has_pages) memset((void *)last, 0, end - last);
}

/* Most kernels use a small part of the stacks that they may have, of all warps of all SMs. */
static void take_local_memory(Sm *sm) {
    uint32_t bytes = sm->kernels.warps * (uint32_t)local_memory_bytes(sm->kernels.local_bytes);
    if (!sm->local_memory || bytes != sm->local_count) {
        free(sm->local_memory);
        sm->local_count = 0;
        sm->local_memory = aligned_alloc(256, room_for(bytes));
        if (!sm->local_memory)
            user_error("kernel %s: expected %u B of local memory a thread for which the host has room, %u B "
                       "of %s, got none",
                       sm->running->kernel->name, sm->kernels.local_bytes, bytes, sm->obj.path);
    }
    sm->local_count = bytes;
    zero_lazily(sm->local_memory, bytes);
}

/* What starting CTAs rely on being zero is local memory alone. */
static void take_memory(Sm *sm) {
    const SmKernels *sizes = &sm->kernels;
    uint32_t shared = sm->shared_count, registers = sm->register_count, predicates = sm->predicate_count;
    sm->shared_count = sizes->ctas * sizes->shared_bytes;
    sm->register_count = sizes->warps * sizes->register_bytes;
    sm->predicate_count = sizes->warps * sizes->predicates;
    sm->shared_memory = kept_or_resized(sm->shared_memory, shared, sm->shared_count);
    sm->register_file = kept_or_resized(sm->register_file, registers, sm->register_count);
    take_local_memory(sm);
    sm->predicates = kept_or_resized(sm->predicates, predicates * sizeof *sm->predicates,
                                     sm->predicate_count * sizeof *sm->predicates);
    if (sm->shared_banks >= WARP_LANES) /* else accesses within a window may conflict: the addresses count */
        sm->windows = resized(sm->windows, sizes->warps * sizes->windows * sizeof *sm->windows);
}

static OtherUnits other_units(const Sm *sm, const Kernel *kernel) {
    OtherUnits others = NO_OTHER_UNIT;
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        uint32_t unit = sm->timing[kernel->insts[i].timing].unit;
        if (unit == UNIT_SFU && others == NO_OTHER_UNIT) others = SFU_ALONE;
        if (unit != UNIT_SP && unit != UNIT_SFU && unit != UNIT_MEM) others = SEVERAL_UNITS;
    }
    return others;
}

static uint32_t greater_of(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static void add_kernel(const Sm *sm, SmKernels *sizes, const RunningKernel *running) {
    const Kernel *kernel = running->kernel;
    ensure(kernel->inst_count <= WRITER_INSTS);
    sizes->register_bytes = greater_of(sizes->register_bytes, kernel->slots * SLOT_BYTES);
    sizes->predicates = greater_of(sizes->predicates, kernel->predicates);
    sizes->windows = greater_of(sizes->windows, kernel->windows);
    sizes->shared_bytes = greater_of(sizes->shared_bytes, running->shared_bytes);
    sizes->local_bytes = greater_of(sizes->local_bytes, running->local_bytes);
    sizes->name_words = greater_of(sizes->name_words, kernel->name_words);
    sizes->other_units = greater_of(sizes->other_units, other_units(sm, kernel));
}

/* One kernel has CTA slots for as many CTAs as fit, with the warps of each side by side. The warps for which local memory
 * has places are the same in all SMs. */
static SmKernels sizes_of(const Sm *sm, const RunningKernel *const *kernels, uint32_t count,
                          bool are_several) {
    SmKernels sizes = {
        .is_fresh = 1, .ctas = sm->ctas, .warps = sm->warps, .local_warps = (uint32_t)sm->most_warps};
    OccupancyLimit limit;
    char why[OCCUPANCY_WHY_BYTES];
    for (uint32_t k = 0; k < count; k++)
        add_kernel(sm, &sizes, kernels[k]);
    sizes.are_several = are_several;
    sizes.shows_more = sizes.other_units || sizes.name_words > 2;
    if (are_several) return sizes;
    sizes.ctas = sm_occupancy(sm, kernels[0], &limit, why, sizeof why);
    sizes.warps = sizes.ctas * kernels[0]->warps_per_cta;
    sizes.local_warps = kernels[0]->most_ctas * kernels[0]->warps_per_cta;
    return sizes;
}

static void give_place(Sm *sm, uint32_t w, const Kernel *kernel, uint32_t cta_slot) {
    const SmKernels *sizes = &sm->kernels;
    sm->place[w] = (WarpPlace){
        .insts = kernel->insts,
        .predicates = sm->predicates + (size_t)w * sizes->predicates,
        .registers = sm->register_file + (size_t)w * sizes->register_bytes,
        .shared = sm->shared_memory + (size_t)cta_slot * sizes->shared_bytes,
        .windows = sm->windows ? sm->windows + (size_t)w * sizes->windows : NULL,
        .local = sm->local_memory + w * local_memory_bytes(sizes->local_bytes),
        .inst_count = kernel->inst_count,
    };
}

static void take_kernel(Sm *sm, const RunningKernel *running) {
    ExecContext *context = sm->context;
    sm->running = running;
    context->bank[1] = constant_bank(running->constants);
    context->params = running->params;
    context->param_bytes = running->kernel->param_bytes;
    context->textures = running->textures;
    context->shared_bytes = running->shared_bytes;
    context->local_bytes = running->local_bytes;
}

void sm_take_kernel_of(Sm *sm, uint32_t w) {
    take_kernel(sm, sm_kernel_of(sm, w));
    sm->system.kernel = sm->cta[sm->warp[w].cta_slot].kernel;
}

void sm_give_kernel(Sm *sm, uint32_t w) {
    give_place(sm, w, sm_kernel_of(sm, w)->kernel, sm->warp[w].cta_slot);
}

void sm_find_kernels(Sm *sm) {
    for (uint32_t i = 0; i < sm->resident; i++)
        for (WarpSet warps = sm->cta_by_age[i]; warps; warps &= warps - 1)
            sm_give_kernel(sm, first_warp(warps));
}

void sm_set_time(Sm *sm) {
    const Sim *sim = sm->obj.sim;
    sm->context->cycle_ticks = sm->obj.period;
    sm->context->ticks_per_second = sim->ticks_per_second;
    sm->context->rated_at = sim->rated_at;
    sm->context->rated_time = sim->rated_time;
}

static void set_kernels(Sm *sm, const RunningKernel *const *kernels, uint32_t count, bool are_several) {
    sm->launched = kernels;
    sm->launched_count = count;
    sm->kernels = sizes_of(sm, kernels, count, are_several);
    for (uint32_t slot = 0; slot < MAX_CTAS; slot++)
        sm->cta[slot].kernel = 0;
    take_kernel(sm, kernels[0]);
    sm->system.kernel = 0;
    sm->head_sfu = sm->head_int = sm->head_dp = sm->head_matrix = 0;
    take_memory(sm);
    for (uint32_t w = 0; w < MAX_WARPS; w++)
        give_place(sm, w, kernels[0]->kernel, 0);
    sm_set_time(sm);
    kernel_switch_set(sm);
    gates_kernel_set(&sm->gates);
    if (sm->memcheck) memcheck_set_kernel(sm);
}

void sm_set_kernel(Sm *sm, const RunningKernel *const *kernel) {
    set_kernels(sm, kernel, 1, false);
}

void sm_set_kernels(Sm *sm, const RunningKernel *const *kernels, uint32_t count) {
    set_kernels(sm, kernels, count, true);
}

/* --- Kernels that come to CTAs of others ---------------------------------------------------------- */

/* Places of so many bytes each become larger ones, whose first bytes are what they were. */
static void *moved(void *array, uint32_t places, size_t before, size_t bytes) {
    uint8_t *to = resized(NULL, places * bytes);
    const uint8_t *from = array;
    for (uint32_t i = 0; i < places; i++)
        memcpy(to + i * bytes, from + i * before, before);
    free(array);
    return to;
}

/* None becomes smaller, since the kernels of before are among them. */
static void enlarge_memory(Sm *sm, const SmKernels *before) {
    const SmKernels *sizes = &sm->kernels;
    size_t local_before = (size_t)local_memory_bytes(before->local_bytes),
           local = (size_t)local_memory_bytes(sizes->local_bytes);
    if (sizes->shared_bytes > before->shared_bytes)
        sm->shared_memory = moved(sm->shared_memory, sizes->ctas, before->shared_bytes, sizes->shared_bytes);
    if (sizes->register_bytes > before->register_bytes)
        sm->register_file = moved(sm->register_file, sizes->warps, before->register_bytes,
                                  sizes->register_bytes);
    if (sizes->predicates > before->predicates)
        sm->predicates = moved(sm->predicates, sizes->warps, before->predicates * sizeof *sm->predicates,
                               sizes->predicates * sizeof *sm->predicates);
    if (local > local_before) sm->local_memory = moved(sm->local_memory, sizes->warps, local_before, local);
    sm->shared_count = sizes->ctas * sizes->shared_bytes;
    sm->register_count = sizes->warps * sizes->register_bytes;
    sm->predicate_count = sizes->warps * sizes->predicates;
    sm->local_count = sizes->warps * (uint32_t)local;
    if (sm->windows) sm->windows = resized(sm->windows, sizes->warps * sizes->windows * sizeof *sm->windows);
}

void sm_add_kernels(Sm *sm, uint32_t count) {
    const SmKernels before = sm->kernels;
    ensure(before.are_several && !sm->memcheck);
    sm->launched_count = count;
    sm->kernels = sizes_of(sm, sm->launched, count, true);
    enlarge_memory(sm, &before);
    for (uint32_t w = 0; w < MAX_WARPS; w++)
        give_place(sm, w, sm->launched[0]->kernel, 0);
    sm_find_kernels(sm);
}
