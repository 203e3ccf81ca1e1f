/* What policies watch behind the load/store unit: whether the L1s there, for data, constants and textures,
 * have taken what warps have issued, and whether one of them is nearly full of misses. */
#include "core/gpu/sm/sm.h"

#include "mem/protocol/caches.h"

static uint32_t caches_behind(const Sm *sm, SimObject *cache[LSU_CACHES]) {
    return lsu_caches(sm->lsu.send->receiver, cache);
}

static void listen_to_caches(const Sm *sm, Listener *listener, const char *name) {
    SimObject *cache[LSU_CACHES];
    uint32_t count = caches_behind(sm, cache);
    for (uint32_t i = 0; i < count; i++) {
        int event = event_number(cache[i]->class, name);
        ensure(event >= 0);
        object_listen(cache[i], listener, 1u << event);
    }
}

/* --- Accesses that have issued and are not taken --------------------------------------------- */

bool sm_holds_accesses(const Sm *sm, uint32_t w) {
    SimObject *cache[LSU_CACHES];
    bool holds = lsu_holds(sm->lsu.send->receiver, w);
    for (uint32_t i = 0, count = holds ? 0 : caches_behind(sm, cache); i < count && !holds; i++)
        holds = l1_holds(cache[i], sm->number, w);
    return holds;
}

void sm_watch_those_without_accesses(Sm *sm) {
    if (!sm->taken.hear) return;
    for (WarpSet rest = sm->watched; rest; rest &= rest - 1)
        if (sm_holds_accesses(sm, first_warp(rest))) sm->watched &= ~(rest & -rest);
}

/* An L1 has taken what it held of a warp. Another, or the load/store unit, may hold more: then it is not told
 * that the warp waits, and what takes the last of it comes here again. */
static void watch_taken(Sm *sm, WarpSet warp) {
    bool chosen = sm->may_issue_memory != ~0ull && (sm->may_issue_memory & warp);
    if (!chosen || sm->watched & warp) return;
    sm->watched |= warp;
    object_wake(&sm->obj);
}

/* Of an L1, or of the SM itself. */
static int64_t hear_taken(Listener *listener, SimObject *object, uint32_t event, const int64_t *arguments,
                          uint64_t now) {
    Sm *sm = (Sm *)((char *)listener - offsetof(Sm, taken));
    uint32_t w = (uint32_t)arguments[0];
    (void)event, (void)now;
    if (object == &sm->obj) return sm_holds_accesses(sm, w) ? WITHHELD : NO_ANSWER;
    watch_taken(sm, warp_bit(w));
    return NO_ANSWER;
}

void sm_watch_taken(Sm *sm) {
    sm->taken = (Listener){hear_taken};
    listen_to_caches(sm, &sm->taken, "taken");
    object_listen_first(&sm->obj, &sm->taken, 1u << SM_LOAD_BLOCKED | 1u << SM_WATCHED_STOPS);
}

/* --- The memory saturation flag -------------------------------------------------------------- */

/* Of an L1. All are seen at the end of the cycle, so that what is told does not depend on which of several is
 * heard first. */
static int64_t hear_saturation(Listener *listener, SimObject *object, uint32_t event,
                               const int64_t *arguments, uint64_t now) {
    Sm *sm = (Sm *)((char *)listener - offsetof(Sm, saturation));
    SimObject *cache[LSU_CACHES];
    uint64_t saturated = 0;
    (void)object, (void)event, (void)arguments, (void)now;
    for (uint32_t i = 0, count = caches_behind(sm, cache); i < count; i++)
        saturated |= l1_is_saturated(cache[i]);
    if (saturated == sm->saturated) return NO_ANSWER;
    sm->saturated = saturated;
    event_pass_on(&sm->obj, SM_SATURATION, (int64_t)saturated);
    return NO_ANSWER;
}

/* Another L1 may have taken one before, and in the same cycle the last may no longer be saturated. */
static int64_t hear_memory_access(Listener *listener, SimObject *object, uint32_t event,
                                  const int64_t *arguments, uint64_t now) {
    Sm *sm = (Sm *)((char *)listener - offsetof(Sm, memory_access));
    (void)object, (void)event, (void)now;
    if (sm->saturated && sm->may_issue_memory == ~0ull)
        event_pass_on(&sm->obj, SM_MEMORY_ACCESS, arguments[0]);
    return NO_ANSWER;
}

void sm_watch_caches(Sm *sm) {
    sm->saturation = (Listener){hear_saturation};
    sm->memory_access = (Listener){hear_memory_access};
    listen_to_caches(sm, &sm->saturation, "saturation");
    listen_to_caches(sm, &sm->memory_access, "memory_access");
}
