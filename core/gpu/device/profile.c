#include "core/gpu/device/profile.h"

#include "core/gpu/sm/lost_slot.h"
#include "core/sim/sim.h"
#include "mem/cache/cache.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/functional_memory.h"

#include <stdlib.h>
#include <string.h>

/* What one of those who look on has counted. */
typedef struct {
    KernelProfile *kernels; /* in the order in which it met them */
    uint32_t count;
    KernelProfile *now; /* of the kernel that runs, or ran last */
} Counts;

typedef struct {
    IssueGate gate;
    Counts counts;
    uint32_t pc;             /* of the instruction that is about to issue */
    uint64_t threads_before; /* thread_instructions of the SM before it   */
    CtaProfile *ctas;        /* in the order of their starts */
    uint64_t cta_count, cta_capacity;
    uint64_t in_slot[MAX_CTAS]; /* the CTA in it */
} SmProfile;

typedef struct {
    CacheObserver observer;
    const Profile *profile;
    uint32_t group;
    Counts counts;
    AllocationCounts allocations;
} CacheProfile;

/* The first argument of a kernel that was the address of an allocation. */
typedef struct {
    uint64_t start, made_by;
    const Kernel *kernel;
    uint32_t param;
} Argument;

struct Profile {
    Sim *sim;
    const DeviceMemory *memory;
    Argument *arguments;
    uint32_t argument_count, argument_capacity;
    SmProfile *sms;
    CacheProfile *caches;
    uint32_t sm_count, cache_count, group_count;
    char *groups[PROFILE_GROUPS];
};

static void *zeroed(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    ensure_memory(memory);
    return memory;
}

/* --- Kernels ------------------------------------------------------------------------------------ */

static KernelProfile *profile_of(Counts *counts, const Kernel *kernel, uint64_t launch) {
    if (counts->now && counts->now->kernel == kernel) return counts->now;
    for (uint32_t i = 0; i < counts->count; i++)
        if (counts->kernels[i].kernel == kernel) return counts->now = &counts->kernels[i];
    counts->kernels = realloc(counts->kernels, (counts->count + 1) * sizeof *counts->kernels);
    ensure_memory(counts->kernels);
    counts->now = &counts->kernels[counts->count++];
    *counts->now = (KernelProfile){.kernel = kernel, .first_launch = launch};
    return counts->now;
}

/* Where an SM holds CTAs of several kernels, slots without a warp and accesses of none are of no kernel. It is behind all
 * others. */
static const Kernel no_kernel = {.name = "(no kernel)"};

/* Without a warp: of the SM's kernel, when it has one alone. */
static KernelProfile *profile_of_warp(Counts *counts, const Sm *sm, uint32_t warp) {
    bool is_of_warp = warp < sm->warps;
    if (!is_of_warp && sm->kernels.are_several) return profile_of(counts, &no_kernel, UINT64_MAX);
    const RunningKernel *running = is_of_warp ? sm_kernel_of(sm, warp) : sm->running;
    return profile_of(counts, running->kernel, running->launch);
}

static uint32_t known_pc(const Kernel *kernel, uint64_t pc) {
    return pc < kernel->inst_count ? (uint32_t)pc : kernel->inst_count;
}

/* --- SMs ---------------------------------------------------------------------------------------- */

static KernelProfile *slots_of_warp(SmProfile *profile, uint32_t warp) {
    KernelProfile *of = profile_of_warp(&profile->counts, profile->gate.sm, warp);
    if (!of->insts) {
        of->insts = zeroed(of->kernel->inst_count + 1, sizeof *of->insts);
        of->warps = zeroed(WARPS_OF_CTA, sizeof *of->warps);
    }
    return of;
}

static void add_lost(SmProfile *profile, const Scheduler *sched, SlotCause cause, uint64_t cycles) {
    const Sm *sm = profile->gate.sm;
    if (!sm->running) return; /* before the first kernel */
    uint32_t warp = sm_slot_lost_to(sm, sched, cause);
    KernelProfile *of = slots_of_warp(profile, warp);
    uint32_t pc = of->kernel->inst_count;
    if (warp != NO_WARP) {
        pc = sm->warp[warp].simt.top.pc;
        if (cause == SLOT_BARRIER && pc) pc--; /* it stands behind the barrier */
        of->warps[sm->warp[warp].warp_in_cta].slots[cause] += cycles;
    }
    of->insts[known_pc(of->kernel, pc)].slots[cause] += cycles;
}

/* Cycles in which the SM ticked, one by one, or those that it slept through, with the cause of the last one. */
static void pass(IssueGate *gate, uint64_t cycles, bool issued) {
    SmProfile *profile = (SmProfile *)gate;
    const Sm *sm = gate->sm;
    for (uint32_t i = 0; i < sm->schedulers; i++) {
        SlotCause cause = sm->slot_cause[i];
        if (cause == SLOT_ISSUED && issued) continue;
        add_lost(profile, &sm->sched[i], cause == SLOT_ISSUED ? SLOT_FETCH : cause, cycles);
    }
}

/* The last gate that is asked: the warp issues. */
static bool lets_issue(IssueGate *gate, uint32_t warp, uint64_t cycle, uint64_t now) {
    SmProfile *profile = (SmProfile *)gate;
    (void)cycle, (void)now;
    profile->pc = gate->sm->warp[warp].simt.top.pc;
    profile->threads_before = gate->sm->thread_instructions;
    return true;
}

static void count_issue(InstSlots *of, uint64_t threads) {
    of->issues++;
    of->threads += threads;
    of->slots[SLOT_ISSUED]++;
}

static void issued(IssueGate *gate, uint32_t warp) {
    SmProfile *profile = (SmProfile *)gate;
    const Sm *sm = gate->sm;
    KernelProfile *of = slots_of_warp(profile, warp);
    uint64_t threads = sm->thread_instructions - profile->threads_before;
    count_issue(&of->insts[known_pc(of->kernel, profile->pc)], threads);
    count_issue(&of->warps[sm->warp[warp].warp_in_cta], threads);
    profile->ctas[profile->in_slot[sm->warp[warp].cta_slot]].warp_instructions++;
}

static CtaProfile *another_cta(SmProfile *of) {
    if (of->cta_count == of->cta_capacity) {
        of->cta_capacity = of->cta_capacity ? 2 * of->cta_capacity : 64;
        of->ctas = realloc(of->ctas, of->cta_capacity * sizeof *of->ctas);
        ensure_memory(of->ctas);
    }
    return &of->ctas[of->cta_count++];
}

static void add_cta(SmProfile *profile, uint32_t slot, uint64_t from) {
    const Sm *sm = profile->gate.sm;
    CtaProfile *cta = another_cta(profile);
    *cta = (CtaProfile){
        .launch = sm_kernel_of_slot(sm, slot)->launch, .sm = sm->number, .slot = slot, .from = from};
    memcpy(cta->ctaid, sm->cta[slot].ctaid, sizeof cta->ctaid);
    profile->in_slot[slot] = profile->cta_count - 1;
}

static void cta_starts(IssueGate *gate, uint32_t slot) {
    const Sm *sm = gate->sm;
    add_cta((SmProfile *)gate, slot, object_cycle(&sm->obj, object_now(&sm->obj)));
}

static void cta_ends(IssueGate *gate, uint32_t slot, uint64_t cycle) {
    SmProfile *profile = (SmProfile *)gate;
    profile->ctas[profile->in_slot[slot]].to = cycle;
}

static const GateClass profile_gate = {.name = "profile",
                                       .lets_issue = lets_issue,
                                       .issued = issued,
                                       .pass = pass,
                                       .cta_starts = cta_starts,
                                       .cta_ends = cta_ends};

/* --- Caches ------------------------------------------------------------------------------------- */

/* What belongs to no SM is of no kernel. */
static void count_access(CacheObserver *observer, const MemMessage *m, uint32_t result) {
    CacheProfile *profile = (CacheProfile *)observer;
    if (result == RESULT_BYPASS || m->sm >= profile->profile->sm_count) return;
    const Sm *sm = profile->profile->sms[m->sm].gate.sm;
    if (!sm->running) return;
    KernelProfile *of = profile_of_warp(&profile->counts, sm, m->warp);
    InstAccesses **accesses = &of->accesses[profile->group];
    if (!*accesses) *accesses = zeroed(of->kernel->inst_count + 1, sizeof **accesses);
    InstAccesses *inst = &(*accesses)[known_pc(of->kernel, m->pc)];
    if (result == RESULT_HIT)
        inst->hits++;
    else if (result == RESULT_MISS)
        inst->misses++;
    else
        inst->merges++;
    allocations_count(&profile->allocations, profile->profile->memory, m, result);
}

/* The path with [*] for every index. */
static char *pattern_of(const char *path) {
    char *pattern = zeroed(2 * strlen(path) + 1, 1), *to = pattern;
    for (; *path; path++) {
        *to++ = *path;
        if (*path != '[') continue;
        *to++ = '*';
        while (path[1] >= '0' && path[1] <= '9')
            path++;
    }
    return pattern;
}

static uint32_t group_of(Profile *profile, const char *path) {
    char *pattern = pattern_of(path);
    uint32_t i = 0;
    while (i < profile->group_count && strcmp(profile->groups[i], pattern) != 0)
        i++;
    if (i == profile->group_count && i < PROFILE_GROUPS) {
        profile->groups[profile->group_count++] = pattern;
        return i;
    }
    free(pattern);
    return i < PROFILE_GROUPS ? i : PROFILE_GROUPS - 1;
}

/* --- The whole ---------------------------------------------------------------------------------- */

static bool is_cache(const SimObject *object) {
    return object->class == &l1_class || object->class == &l2_class;
}

/* SMs by number. */
static void look_at_sm(Profile *profile, Sm *sm) {
    SmProfile *of = &profile->sms[sm->number];
    gate_add(sm, &of->gate, &profile_gate);
    gate_set_stages(&of->gate, GATE_AT_WORK);
}

static void look_at_cache(Profile *profile, SimObject *cache) {
    CacheProfile *of = &profile->caches[profile->cache_count++];
    *of = (CacheProfile){
        .observer = {.accessed = count_access}, .profile = profile, .group = group_of(profile, cache->path)};
    cache_observe(&((CacheObject *)cache)->cache, &of->observer);
}

Profile *profile_new(Sim *sim) {
    Profile *profile = zeroed(1, sizeof *profile);
    uint32_t caches = 0;
    profile->sim = sim;
    profile->memory = ((const FunctionalMemory *)sim->user)->memory;
    for (uint32_t i = 0; i < sim->object_count; i++) {
        profile->sm_count += sim->objects[i]->class == &sm_class;
        caches += is_cache(sim->objects[i]);
    }
    profile->sms = zeroed(profile->sm_count, sizeof *profile->sms);
    profile->caches = zeroed(caches, sizeof *profile->caches);
    for (uint32_t i = 0; i < sim->object_count; i++) {
        if (sim->objects[i]->class == &sm_class) look_at_sm(profile, (Sm *)sim->objects[i]);
        if (is_cache(sim->objects[i])) look_at_cache(profile, sim->objects[i]);
    }
    return profile;
}

void profile_free_kernels(KernelProfile *kernels, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free(kernels[i].insts);
        free(kernels[i].warps);
        for (uint32_t g = 0; g < PROFILE_GROUPS; g++)
            free(kernels[i].accesses[g]);
    }
    free(kernels);
}

static void empty(Counts *counts) {
    profile_free_kernels(counts->kernels, counts->count);
    *counts = (Counts){0};
}

static void profile_empty(Profile *profile) {
    for (uint32_t i = 0; i < profile->sm_count; i++) {
        empty(&profile->sms[i].counts);
        profile->sms[i].cta_count = 0;
    }
    for (uint32_t i = 0; i < profile->cache_count; i++) {
        empty(&profile->caches[i].counts);
        allocations_empty(&profile->caches[i].allocations);
    }
}

void profile_free(Profile *profile) {
    if (!profile) return;
    profile_empty(profile);
    for (uint32_t i = 0; i < profile->sm_count; i++)
        free(profile->sms[i].ctas);
    for (uint32_t i = 0; i < profile->group_count; i++)
        free(profile->groups[i]);
    free(profile->sms);
    free(profile->caches);
    free(profile->arguments);
    free(profile);
}

uint32_t profile_groups(const Profile *profile, const char **names) {
    for (uint32_t i = 0; i < profile->group_count; i++)
        names[i] = profile->groups[i];
    return profile->group_count;
}

/* --- Sums --------------------------------------------------------------------------------------- */

static void add_words(void *sums, const void *more, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
        ((uint64_t *)sums)[i] += ((const uint64_t *)more)[i];
}

/* All counts are 64-bit words. */
_Static_assert(sizeof(InstSlots) == (2 + SLOT_CAUSES) * sizeof(uint64_t), "padding");
_Static_assert(sizeof(InstAccesses) == 3 * sizeof(uint64_t), "padding");

static void add_array(void *sums, const void *more, size_t count, size_t size) {
    void **to = sums;
    if (!more) return;
    if (!*to) *to = zeroed(count, size);
    add_words(*to, more, count * size);
}

static void add_counts(Counts *sums, const Counts *more) {
    for (uint32_t i = 0; i < more->count; i++) {
        const KernelProfile *from = &more->kernels[i];
        KernelProfile *to = profile_of(sums, from->kernel, from->first_launch);
        if (from->first_launch < to->first_launch) to->first_launch = from->first_launch;
        size_t insts = from->kernel->inst_count + 1u;
        add_array(&to->insts, from->insts, insts, sizeof *to->insts);
        add_array(&to->warps, from->warps, WARPS_OF_CTA, sizeof *to->warps);
        for (uint32_t g = 0; g < PROFILE_GROUPS; g++)
            add_array(&to->accesses[g], from->accesses[g], insts, sizeof **to->accesses);
    }
}

static int by_first_launch(const void *a, const void *b) {
    uint64_t first = ((const KernelProfile *)a)->first_launch,
             second = ((const KernelProfile *)b)->first_launch;
    return (first > second) - (first < second);
}

static uint32_t sum_kernels(const Profile *profile, KernelProfile **kernels) {
    Counts sums = {0};
    for (uint32_t i = 0; i < profile->sm_count; i++)
        add_counts(&sums, &profile->sms[i].counts);
    for (uint32_t i = 0; i < profile->cache_count; i++)
        add_counts(&sums, &profile->caches[i].counts);
    if (sums.count) qsort(sums.kernels, sums.count, sizeof *sums.kernels, by_first_launch);
    *kernels = sums.kernels;
    return sums.count;
}

uint32_t profile_kernels(const Profile *profile, KernelProfile **kernels) {
    sim_settle(profile->sim);
    return sum_kernels(profile, kernels);
}

uint64_t profile_ctas(const Profile *profile, CtaProfile **ctas) {
    uint64_t count = 0, at = 0;
    for (uint32_t i = 0; i < profile->sm_count; i++)
        count += profile->sms[i].cta_count;
    *ctas = zeroed(count, sizeof **ctas);
    for (uint32_t i = 0; i < profile->sm_count; i++) {
        uint64_t of_sm = profile->sms[i].cta_count;
        if (of_sm) memcpy(*ctas + at, profile->sms[i].ctas, of_sm * sizeof **ctas);
        at += of_sm;
    }
    return count;
}

/* --- Allocations -------------------------------------------------------------------------------- */

AllocationCounts profile_allocations(const Profile *profile, uint32_t group) {
    AllocationCounts sums = {0};
    for (uint32_t i = 0; i < profile->cache_count; i++)
        if (profile->caches[i].group == group) allocations_add(&sums, &profile->caches[i].allocations);
    return sums;
}

static const Argument *argument_of(const Profile *profile, uint64_t start, uint64_t made_by) {
    for (const Argument *a = profile->arguments; a < profile->arguments + profile->argument_count; a++)
        if (a->start == start && a->made_by == made_by) return a;
    return NULL;
}

static void note_argument(Profile *profile, Argument argument) {
    if (argument_of(profile, argument.start, argument.made_by)) return;
    if (profile->argument_count == profile->argument_capacity) {
        profile->argument_capacity = profile->argument_capacity ? 2 * profile->argument_capacity : 16;
        profile->arguments = realloc(profile->arguments,
                                     profile->argument_capacity * sizeof *profile->arguments);
        ensure_memory(profile->arguments);
    }
    profile->arguments[profile->argument_count++] = argument;
}

void profile_note_arguments(Profile *profile, const RunningKernel *running) {
    const Kernel *kernel = running->kernel;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        DeviceBlock block;
        uint64_t address;
        if (kernel->params[i].bytes != sizeof address) continue;
        memcpy(&address, running->params + kernel->params[i].offset, sizeof address);
        if (device_nearest(profile->memory, address, &block) && block.start == address)
            note_argument(profile, (Argument){address, block.made_by, kernel, i});
    }
}

/* Compilers name a parameter after its kernel. */
static void name_argument(const Argument *argument, char *name, size_t size) {
    const char *kernel = argument->kernel->name, *param = argument->kernel->params[argument->param].name;
    bool has_kernel = strncmp(param, kernel, strlen(kernel)) == 0;
    snprintf(name, size, "%s%s%s", has_kernel ? "" : kernel, has_kernel ? "" : " ", param);
}

void profile_name_allocation(const Profile *profile, const AllocationAccesses *of, char *name, size_t size) {
    DeviceBlock block;
    const Argument *argument = argument_of(profile, of->start, of->made_by);
    bool is_live = device_nearest(profile->memory, of->start, &block) && block.start == of->start &&
                   block.made_by == of->made_by;
    *name = 0;
    if (is_live && block.name)
        snprintf(name, size, "%s", block.name);
    else if (argument)
        name_argument(argument, name, size);
}

/* --- Checkpoints -------------------------------------------------------------------------------- */

static void save_array(Buffer *buffer, const void *counts, size_t count, size_t size) {
    buffer_u32(buffer, counts != NULL);
    if (counts) buffer_append(buffer, counts, count * size);
}

static void save_kernel(const KernelProfile *of, Buffer *buffer) {
    size_t insts = of->kernel->inst_count + 1u;
    buffer_u64(buffer, of->kernel->code_address);
    buffer_u32(buffer, of->kernel->inst_count);
    buffer_u64(buffer, of->first_launch);
    save_array(buffer, of->insts, insts, sizeof *of->insts);
    save_array(buffer, of->warps, WARPS_OF_CTA, sizeof *of->warps);
    for (uint32_t g = 0; g < PROFILE_GROUPS; g++)
        save_array(buffer, of->accesses[g], insts, sizeof *of->accesses[g]);
}

static void save_ctas(const SmProfile *of, Buffer *buffer) {
    buffer_u64(buffer, of->cta_count);
    for (uint64_t i = 0; i < of->cta_count; i++) {
        const CtaProfile *cta = &of->ctas[i];
        buffer_u32(buffer, cta->launch);
        for (int d = 0; d < 3; d++)
            buffer_u32(buffer, cta->ctaid[d]);
        buffer_u32(buffer, cta->slot);
        buffer_u64(buffer, cta->from);
        buffer_u64(buffer, cta->to);
        buffer_u64(buffer, cta->warp_instructions);
    }
    buffer_append(buffer, of->in_slot, sizeof of->in_slot);
}

/* Cycles that an SM sleeps through are not counted yet, here as in the SM. */
void profile_save(const Profile *profile, Buffer *buffer) {
    KernelProfile *kernels;
    uint32_t count = sum_kernels(profile, &kernels);
    buffer_u32(buffer, profile->group_count);
    for (uint32_t g = 0; g < profile->group_count; g++)
        buffer_text(buffer, profile->groups[g]);
    buffer_u32(buffer, count);
    for (uint32_t i = 0; i < count; i++)
        save_kernel(&kernels[i], buffer);
    profile_free_kernels(kernels, count);
    for (uint32_t g = 0; g < profile->group_count; g++) {
        AllocationCounts sums = profile_allocations(profile, g);
        allocations_save(&sums, buffer);
        allocations_empty(&sums);
    }
    buffer_u32(buffer, profile->sm_count);
    for (uint32_t i = 0; i < profile->sm_count; i++)
        save_ctas(&profile->sms[i], buffer);
}

static bool load_groups(const Profile *profile, Reader *reader) {
    char name[1024];
    if (reader_u32(reader) != profile->group_count) return false;
    for (uint32_t g = 0; g < profile->group_count; g++)
        if (!reader_text(reader, name, sizeof name) || strcmp(name, profile->groups[g]) != 0) return false;
    return true;
}

static bool load_array(Reader *reader, void *counts, size_t count, size_t size) {
    void **to = counts;
    uint32_t is_there = reader_u32(reader);
    if (is_there > 1 || reader->failed) return false;
    if (!is_there) return true;
    const uint8_t *bytes = reader_bytes(reader, count * size);
    if (!bytes) return false;
    *to = zeroed(count, size);
    memcpy(*to, bytes, count * size);
    return true;
}

/* Sums are those of the first SM from now on. */
static bool load_kernel(Counts *counts, Reader *reader, FindKernel *find, const void *context) {
    uint64_t code_address = reader_u64(reader);
    const Kernel *kernel = code_address ? find(context, code_address) : &no_kernel;
    if (!kernel || reader_u32(reader) != kernel->inst_count) return false;
    uint32_t before = counts->count;
    KernelProfile *of = profile_of(counts, kernel, reader_u64(reader));
    size_t insts = kernel->inst_count + 1u;
    if (counts->count == before || !load_array(reader, &of->insts, insts, sizeof *of->insts) ||
        !load_array(reader, &of->warps, WARPS_OF_CTA, sizeof *of->warps) || !of->insts != !of->warps)
        return false;
    for (uint32_t g = 0; g < PROFILE_GROUPS; g++)
        if (!load_array(reader, &of->accesses[g], insts, sizeof *of->accesses[g])) return false;
    return true;
}

static void load_cta(SmProfile *of, Reader *reader) {
    CtaProfile cta = {.launch = reader_u32(reader), .sm = of->gate.sm->number};
    for (int d = 0; d < 3; d++)
        cta.ctaid[d] = reader_u32(reader);
    cta.slot = reader_u32(reader);
    cta.from = reader_u64(reader);
    cta.to = reader_u64(reader);
    cta.warp_instructions = reader_u64(reader);
    *another_cta(of) = cta;
}

/* Resident CTAs are among those that have started, and go on counting. */
static bool knows_residents(const SmProfile *of) {
    for (uint32_t slots = sm_resident_slots(of->gate.sm); slots; slots &= slots - 1) {
        uint32_t slot = (uint32_t)__builtin_ctz(slots);
        uint64_t cta = of->in_slot[slot];
        if (cta >= of->cta_count || of->ctas[cta].slot != slot || of->ctas[cta].to) return false;
    }
    return true;
}

static bool load_ctas(SmProfile *of, Reader *reader) {
    for (uint64_t left = reader_u64(reader); left && !reader->failed; left--)
        load_cta(of, reader);
    const uint8_t *slots = reader_bytes(reader, sizeof of->in_slot);
    if (!slots) return false;
    memcpy(of->in_slot, slots, sizeof of->in_slot);
    return knows_residents(of);
}

/* Likewise those of the first cache of the group. */
static bool load_allocations(Profile *profile, Reader *reader) {
    for (uint32_t g = 0; g < profile->group_count; g++) {
        uint32_t first = 0;
        while (profile->caches[first].group != g)
            first++;
        if (!allocations_load(&profile->caches[first].allocations, reader)) return false;
    }
    return true;
}

bool profile_load(Profile *profile, Reader *reader, FindKernel *find, const void *context) {
    profile_empty(profile);
    if (!load_groups(profile, reader)) return false;
    for (uint32_t left = reader_u32(reader); left && !reader->failed; left--)
        if (!load_kernel(&profile->sms[0].counts, reader, find, context)) return false;
    if (!load_allocations(profile, reader) || reader_u32(reader) != profile->sm_count) return false;
    for (uint32_t i = 0; i < profile->sm_count; i++)
        if (!load_ctas(&profile->sms[i], reader)) return false;
    return reader_at_end(reader);
}

void profile_restart(Profile *profile) {
    profile_empty(profile);
    for (uint32_t i = 0; i < profile->sm_count; i++) {
        SmProfile *of = &profile->sms[i];
        const Sm *sm = of->gate.sm;
        for (uint32_t slots = sm_resident_slots(sm); slots; slots &= slots - 1)
            add_cta(of, (uint32_t)__builtin_ctz(slots), object_cycle(&sm->obj, profile->sim->now));
    }
}
