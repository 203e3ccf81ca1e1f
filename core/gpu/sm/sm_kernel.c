/* The kernel that an SM runs: how many of its CTAs fit, and the memory that they take. */
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

uint32_t sm_occupancy(const Sm *sm, const RunningKernel *running, OccupancyLimit *limit, char *why,
                      size_t why_size) {
    uint64_t registers = ((uint64_t)running->registers + sm->register_unit - 1) / sm->register_unit *
                         sm->register_unit;
    uint64_t kept = registers_to_fit(sm, running, registers);
    if (kept) registers = kept;
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
    if (running->shared_bytes > sm->shared) {
        snprintf(why, why_size, "expected up to %lu bytes of shared memory per CTA, got %u", sm->shared,
                 running->shared_bytes);
        return 0;
    }
    *limit = LIMIT_CTA_SLOTS;
    lower(&fits, sm->warps / running->warps_per_cta, limit, LIMIT_WARPS);
    if (per_cta) lower(&fits, sm->registers / per_cta, limit, LIMIT_REGISTERS);
    if (running->shared_bytes) lower(&fits, sm->shared / running->shared_bytes, limit, LIMIT_SHARED_MEMORY);
    return fits;
}

static size_t room_for(size_t bytes) {
    return bytes ? (bytes + 255) / 256 * 256 : 256;
}

/* Zeros. */
static void *resized(void *array, size_t bytes) {
    size_t room = room_for(bytes);
    free(array);
    void *memory = aligned_alloc(256, room);
    ensure(memory);
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
static void take_local_memory(Sm *sm, const RunningKernel *running, uint32_t warps) {
    uint32_t bytes = warps * (uint32_t)local_memory_bytes(running->local_bytes);
    if (!sm->local_memory || bytes != sm->local_count) {
        free(sm->local_memory);
        sm->local_count = 0;
        sm->local_memory = aligned_alloc(256, room_for(bytes));
        if (!sm->local_memory)
            user_error("kernel %s: expected %u B of local memory a thread for which the host has room, %u B "
                       "of %s, got none",
                       running->kernel->name, running->local_bytes, bytes, sm->obj.path);
    }
    sm->local_count = bytes;
    zero_lazily(sm->local_memory, bytes);
}

/* What starting CTAs rely on being zero is local memory alone. */
static void take_memory(Sm *sm, const RunningKernel *running) {
    uint32_t warps = sm->kernel.ctas * running->warps_per_cta;
    uint32_t shared = sm->shared_count, registers = sm->register_count, predicates = sm->predicate_count;
    sm->shared_count = sm->kernel.ctas * running->shared_bytes;
    sm->register_count = warps * sm->kernel.register_bytes;
    sm->predicate_count = warps * running->kernel->predicates;
    sm->shared_memory = kept_or_resized(sm->shared_memory, shared, sm->shared_count);
    sm->register_file = kept_or_resized(sm->register_file, registers, sm->register_count);
    take_local_memory(sm, running, warps);
    sm->predicates = kept_or_resized(sm->predicates, predicates * sizeof *sm->predicates,
                                     sm->predicate_count * sizeof *sm->predicates);
    if (sm->shared_banks >= WARP_LANES) /* else accesses within a window may conflict: the addresses count */
        sm->windows = resized(sm->windows, warps * running->kernel->windows * sizeof *sm->windows);
}

static bool uses_sfu(const Sm *sm, const Kernel *kernel) {
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        if (sm->timing[kernel->insts[i].timing].unit == UNIT_SFU) return true;
    return false;
}

void sm_set_kernel(Sm *sm, const RunningKernel *running) {
    const Kernel *kernel = running->kernel;
    OccupancyLimit limit;
    char why[OCCUPANCY_WHY_BYTES];
    ensure(kernel->inst_count <= WRITER_INSTS);
    sm->running = running;
    sm->kernel = (SmKernel){.insts = kernel->insts,
                            .inst_count = kernel->inst_count,
                            .register_bytes = kernel->slots * SLOT_BYTES,
                            .predicates = kernel->predicates,
                            .windows = kernel->windows,
                            .is_fresh = 1,
                            .name_words = kernel->name_words,
                            .uses_sfu = uses_sfu(sm, kernel),
                            .ctas = sm_occupancy(sm, running, &limit, why, sizeof why),
                            .code_start = (uint32_t)(kernel->code_address % sm->code_line / INST_BYTES)};
    sm->head_sfu = 0;
    take_memory(sm, running);
    memset(sm->known_windows, 0, sizeof sm->known_windows);
    sm->context->bank[1] = running->constants;
    sm->context->params = running->params;
    sm->context->param_bytes = kernel->param_bytes;
    sm->context->textures = running->textures;
    sm->context->cycle_ticks = sm->obj.period;
    sm->context->ticks_per_second = sm->obj.sim->ticks_per_second;
    sm->context->shared_bytes = running->shared_bytes;
    sm->context->local_bytes = running->local_bytes;
    gates_kernel_set(&sm->gates);
    if (sm->memcheck) memcheck_set_kernel(sm);
}
