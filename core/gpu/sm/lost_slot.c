#include "core/gpu/sm/lost_slot.h"

/* The oldest of the first of these sets that has any; NO_WARP: none has. */
static uint32_t blamed_warp(const Sm *sm, WarpSet first, WarpSet second) {
    WarpSet set = first ? first : second;
    return set ? sm_oldest(sm, set) : NO_WARP;
}

uint32_t sm_slot_lost_to(const Sm *sm, const Scheduler *sched, SlotCause cause) {
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
