/* What policies watch behind the load/store unit: whether the L1s there, for data, constants and textures,
 * have taken what warps have issued, and whether one of them is nearly full of misses. */
#include "core/gpu/parts/memory_ownership/memory_ownership.h"

#include "core/gpu/sm/sm.h"

#include "mem/protocol/caches.h"

static uint32_t caches_behind(const Sm *sm, SimObject *const **caches) {
    return lsu_caches(sm->lsu.send->receiver, caches);
}

static void subscribe_to_caches(const Sm *sm, Subscriber *subscriber, const char *name) {
    SimObject *const *cache;
    uint32_t count = caches_behind(sm, &cache);
    for (uint32_t i = 0; i < count; i++) {
        int event = event_number(cache[i]->class, name);
        ensure(event >= 0);
        object_subscribe(cache[i], subscriber, 1u << event);
    }
}

/* --- Accesses that have issued and are not taken --------------------------------------------- */

bool sm_holds_accesses(const Sm *sm, uint32_t w) {
    SimObject *const *cache;
    bool holds = lsu_holds(sm->lsu.send->receiver, sm->number, w);
    for (uint32_t i = 0, count = caches_behind(sm, &cache); i < count && !holds; i++)
        holds = l1_holds(cache[i], sm->number, w);
    return holds;
}

void memory_watch_those_without_accesses(MemoryOwnership *ownership) {
    if (!ownership->taken.handle) return;
    for (WarpSet rest = ownership->watched; rest; rest &= rest - 1)
        if (sm_holds_accesses(ownership->gate.sm, first_warp(rest))) ownership->watched &= ~(rest & -rest);
}

/* An L1 has taken what it held of a warp. Another, or the load/store unit, may hold more: then it is not told
 * that the warp waits, and what takes the last of it comes here again. */
static void watch_taken(MemoryOwnership *ownership, WarpSet warp) {
    WarpSet owners = ownership->may_issue_memory;
    bool chosen = owners != ALL_WARPS && (owners & warp);
    if (!chosen || ownership->watched & warp) return;
    ownership->watched |= warp;
    memory_ownership_update(ownership);
    object_wake(&ownership->gate.sm->obj);
}

/* Of an L1, or of the SM itself. */
static int64_t on_taken(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                        uint64_t now) {
    MemoryOwnership *ownership = (MemoryOwnership *)((char *)subscriber - offsetof(MemoryOwnership, taken));
    const Sm *sm = ownership->gate.sm;
    uint32_t w = (uint32_t)arguments[0];
    (void)event, (void)now;
    if (object == &sm->obj) return sm_holds_accesses(sm, w) ? WITHHELD : NO_ANSWER;
    watch_taken(ownership, warp_bit(w));
    return NO_ANSWER;
}

void sm_watch_taken(Sm *sm) {
    Subscriber *taken = &memory_ownership_of(sm)->taken;
    *taken = (Subscriber){on_taken};
    subscribe_to_caches(sm, taken, "taken");
    object_subscribe_first(&sm->obj, taken, 1u << SM_LOAD_BLOCKED | 1u << SM_WATCHED_STOPS);
}

/* --- The memory saturation flag -------------------------------------------------------------- */

static bool is_saturated(const MemoryOwnership *ownership) {
    SimObject *const *cache;
    bool saturated = false;
    for (uint32_t i = 0, count = caches_behind(ownership->gate.sm, &cache); i < count; i++)
        saturated |= l1_is_saturated(cache[i]);
    return saturated;
}

/* Of an L1. All are seen at the end of the cycle, so that what is emitted does not depend on which of several is
 * seen first. */
static int64_t on_saturation(Subscriber *subscriber, SimObject *object, uint32_t event,
                             const int64_t *arguments, uint64_t now) {
    MemoryOwnership *ownership = (MemoryOwnership *)((char *)subscriber -
                                                     offsetof(MemoryOwnership, saturation));
    uint64_t saturated = is_saturated(ownership);
    (void)object, (void)event, (void)arguments, (void)now;
    if (saturated == ownership->saturated) return NO_ANSWER;
    ownership->saturated = saturated;
    event_pass_on(&ownership->gate.sm->obj, SM_SATURATION, (int64_t)saturated);
    return NO_ANSWER;
}

/* Another L1 may have taken one before, and in the same cycle the last may no longer be saturated. */
static int64_t on_memory_access(Subscriber *subscriber, SimObject *object, uint32_t event,
                                const int64_t *arguments, uint64_t now) {
    const MemoryOwnership *ownership = (MemoryOwnership *)((char *)subscriber -
                                                           offsetof(MemoryOwnership, memory_access));
    (void)object, (void)event, (void)now;
    if (ownership->saturated && ownership->may_issue_memory == ALL_WARPS)
        event_pass_on(&ownership->gate.sm->obj, SM_MEMORY_ACCESS, arguments[0]);
    return NO_ANSWER;
}

void sm_watch_caches(Sm *sm) {
    MemoryOwnership *ownership = memory_ownership_of(sm);
    ownership->saturation = (Subscriber){on_saturation};
    ownership->memory_access = (Subscriber){on_memory_access};
    subscribe_to_caches(sm, &ownership->saturation, "saturation");
    subscribe_to_caches(sm, &ownership->memory_access, "memory_access");
}
