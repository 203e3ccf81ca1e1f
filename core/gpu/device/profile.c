#include "core/gpu/device/profile.h"

#include "core/sim/event.h"
#include "core/sim/sim.h"
#include "mem/cache/cache.h"
#include "mem/protocol/caches.h"

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
    Subscriber subscriber;
    const Profile *profile;
    uint32_t group;
    Counts counts;
} CacheProfile;

struct Profile {
    Sim *sim;
    SmProfile *sms;
    CacheProfile *caches;
    uint32_t sm_count, cache_count, group_count;
    char *groups[PROFILE_GROUPS];
};

static void *zeroed(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    ensure(memory);
    return memory;
}

/* --- Kernels ------------------------------------------------------------------------------------ */

static KernelProfile *profile_of(Counts *counts, const Kernel *kernel) {
    if (counts->now && counts->now->kernel == kernel) return counts->now;
    for (uint32_t i = 0; i < counts->count; i++)
        if (counts->kernels[i].kernel == kernel) return counts->now = &counts->kernels[i];
    counts->kernels = realloc(counts->kernels, (counts->count + 1) * sizeof *counts->kernels);
    ensure(counts->kernels);
    counts->now = &counts->kernels[counts->count++];
    *counts->now = (KernelProfile){.kernel = kernel};
    return counts->now;
}

static uint32_t known_pc(const Kernel *kernel, uint64_t pc) {
    return pc < kernel->inst_count ? (uint32_t)pc : kernel->inst_count;
}

/* --- SMs ---------------------------------------------------------------------------------------- */

static KernelProfile *profile_of_sm(SmProfile *profile) {
    const Kernel *kernel = profile->gate.sm->running->kernel;
    KernelProfile *of = profile_of(&profile->counts, kernel);
    if (!of->insts) {
        of->insts = zeroed(kernel->inst_count + 1, sizeof *of->insts);
        of->warps = zeroed(WARPS_OF_CTA, sizeof *of->warps);
    }
    return of;
}

/* The oldest of the first of these sets that has any; NO_WARP: none has. */
static uint32_t blamed_warp(const Sm *sm, WarpSet first, WarpSet second) {
    WarpSet set = first ? first : second;
    return set ? sm_oldest(sm, set) : NO_WARP;
}

/* The warp of a scheduler that a slot was lost to. State is that of the end of the cycle: who has been decoded since
 * may be among them. */
static uint32_t lost_to(const Sm *sm, const Scheduler *sched, SlotCause cause) {
    WarpSet mine = sched->warps, decoded = mine & sm->valid & ~sm->waiting;
    WarpSet ready = mine & sm_ready_warps(sm);
    switch (cause) {
    case SLOT_IDLE: return NO_WARP;
    case SLOT_SCOREBOARD: return blamed_warp(sm, decoded & ~ready, mine);
    case SLOT_MEMORY: return blamed_warp(sm, decoded & sm->loading, mine);
    case SLOT_BARRIER: return blamed_warp(sm, mine & sm->waiting, mine);
    case SLOT_UNIT: return blamed_warp(sm, ready & ~sm->head_memory, mine);
    case SLOT_LSU: return blamed_warp(sm, ready & sm->head_memory, mine);
    case SLOT_POLICY: return blamed_warp(sm, ready, mine);
    case SLOT_GATE: return blamed_warp(sm, mine & sm->gates.parked, mine);
    default: return blamed_warp(sm, mine & ~sm->valid, mine);
    }
}

static void add_lost(SmProfile *profile, const Scheduler *sched, SlotCause cause, uint64_t cycles) {
    const Sm *sm = profile->gate.sm;
    if (!sm->running) return; /* before the first kernel */
    KernelProfile *of = profile_of_sm(profile);
    uint32_t warp = lost_to(sm, sched, cause), pc = of->kernel->inst_count;
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
    KernelProfile *of = profile_of_sm(profile);
    uint64_t threads = sm->thread_instructions - profile->threads_before;
    count_issue(&of->insts[known_pc(of->kernel, profile->pc)], threads);
    count_issue(&of->warps[sm->warp[warp].warp_in_cta], threads);
    profile->ctas[profile->in_slot[sm->warp[warp].cta_slot]].warp_instructions++;
}

static uint64_t cycle_of(const Sm *sm) {
    return object_cycle(&sm->obj, sm->obj.cluster->now);
}

static void cta_starts(IssueGate *gate, uint32_t slot) {
    SmProfile *profile = (SmProfile *)gate;
    const Sm *sm = gate->sm;
    if (profile->cta_count == profile->cta_capacity) {
        profile->cta_capacity = profile->cta_capacity ? 2 * profile->cta_capacity : 64;
        profile->ctas = realloc(profile->ctas, profile->cta_capacity * sizeof *profile->ctas);
        ensure(profile->ctas);
    }
    CtaProfile *cta = &profile->ctas[profile->cta_count];
    *cta = (CtaProfile){.launch = sm->running->launch, .sm = sm->number, .slot = slot, .from = cycle_of(sm)};
    memcpy(cta->ctaid, sm->cta[slot].ctaid, sizeof cta->ctaid);
    profile->in_slot[slot] = profile->cta_count++;
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

/* Arguments: sm, warp, address, pc, ... What belongs to no SM is of no kernel. */
static int64_t count_access(Subscriber *subscriber, SimObject *object, uint32_t event,
                            const int64_t *arguments, uint64_t now) {
    CacheProfile *profile = (CacheProfile *)subscriber;
    (void)object, (void)now;
    if (arguments[0] < 0 || arguments[0] >= profile->profile->sm_count) return NO_ANSWER;
    const Sm *sm = profile->profile->sms[arguments[0]].gate.sm;
    if (!sm->running) return NO_ANSWER;
    KernelProfile *of = profile_of(&profile->counts, sm->running->kernel);
    InstAccesses **accesses = &of->accesses[profile->group];
    if (!*accesses) *accesses = zeroed(of->kernel->inst_count + 1, sizeof **accesses);
    InstAccesses *inst = &(*accesses)[known_pc(of->kernel, (uint64_t)arguments[3])];
    if (event == CACHE_HIT)
        inst->hits++;
    else if (event == CACHE_MISS)
        inst->misses++;
    else
        inst->merges++;
    return NO_ANSWER;
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
        .subscriber = {count_access}, .profile = profile, .group = group_of(profile, cache->path)};
    object_subscribe(cache, &of->subscriber, 1u << CACHE_HIT | 1u << CACHE_MISS | 1u << CACHE_MERGE);
}

Profile *profile_new(Sim *sim) {
    Profile *profile = zeroed(1, sizeof *profile);
    uint32_t caches = 0;
    profile->sim = sim;
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

void profile_free(Profile *profile) {
    if (!profile) return;
    for (uint32_t i = 0; i < profile->sm_count; i++) {
        profile_free_kernels(profile->sms[i].counts.kernels, profile->sms[i].counts.count);
        free(profile->sms[i].ctas);
    }
    for (uint32_t i = 0; i < profile->cache_count; i++)
        profile_free_kernels(profile->caches[i].counts.kernels, profile->caches[i].counts.count);
    for (uint32_t i = 0; i < profile->group_count; i++)
        free(profile->groups[i]);
    free(profile->sms);
    free(profile->caches);
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
        KernelProfile *to = profile_of(sums, from->kernel);
        size_t insts = from->kernel->inst_count + 1u;
        add_array(&to->insts, from->insts, insts, sizeof *to->insts);
        add_array(&to->warps, from->warps, WARPS_OF_CTA, sizeof *to->warps);
        for (uint32_t g = 0; g < PROFILE_GROUPS; g++)
            add_array(&to->accesses[g], from->accesses[g], insts, sizeof **to->accesses);
    }
}

uint32_t profile_kernels(const Profile *profile, KernelProfile **kernels) {
    Counts sums = {0};
    sim_settle(profile->sim);
    for (uint32_t i = 0; i < profile->sm_count; i++)
        add_counts(&sums, &profile->sms[i].counts);
    for (uint32_t i = 0; i < profile->cache_count; i++)
        add_counts(&sums, &profile->caches[i].counts);
    *kernels = sums.kernels;
    return sums.count;
}

uint64_t profile_ctas(const Profile *profile, CtaProfile **ctas) {
    uint64_t count = 0, at = 0;
    for (uint32_t i = 0; i < profile->sm_count; i++)
        count += profile->sms[i].cta_count;
    *ctas = zeroed(count, sizeof **ctas);
    for (uint32_t i = 0; i < profile->sm_count; at += profile->sms[i++].cta_count)
        memcpy(*ctas + at, profile->sms[i].ctas, profile->sms[i].cta_count * sizeof **ctas);
    return count;
}
