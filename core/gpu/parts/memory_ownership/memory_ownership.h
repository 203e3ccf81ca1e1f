/* The issue gate of memory ownership, as in Mascar (Sethia, Jamshidi, Mahlke, HPCA 2015, section III-A):
 * which warps may issue memory instructions, and what a policy has to watch in order to choose them: whether
 * a warp waits for its loads, whether the L1s behind the load/store unit have taken what it has issued, and
 * whether one of them is saturated. At work while some warp may not issue memory instructions, or one is
 * watched.
 *
 *   memory_ownership.c  the gate; watched warps
 *   memory_watch.c      what the L1s tell
 */
#ifndef WW_GPU_MEMORY_OWNERSHIP_H
#define WW_GPU_MEMORY_OWNERSHIP_H

#include "core/gpu/sm/issue_gate.h"
#include "core/sim/event.h"

typedef struct {
    IssueGate gate;
    WarpSet may_issue_memory;             /* a knob */
    WarpSet watched;                      /* a knob: whose next load_blocked or watched_stops is emitted */
    Subscriber taken;                     /* by an L1, and what watched warps do: sm_watch_taken()    */
    Subscriber saturation, memory_access; /* of L1s: sm_watch_caches() */
    uint64_t saturated;                   /* one of these is */
} MemoryOwnership;

/* The rows of a MemoryOwnership `m`: they stand among those of the SM. */
#define MEMORY_OWNERSHIP_OWNERS_ROW(T, m)                                                                    \
    KNOB_NAMED(T, m.may_issue_memory, "may_issue_memory", "warps", "Warps that may issue memory instructions")
#define MEMORY_OWNERSHIP_WATCH_ROWS(T, m)                                                                    \
    KNOB_NAMED(T, m.watched, "watched", "warps",                                                             \
               "Watched warps: one emits an event once it waits for a load or stops, and is then no longer " \
               "watched; nor is one that does not live yet, so a warp is watched from on_cta_start on"),     \
        HOST(T, m.taken, "Adds to them")                                                                     \
    , HOST(T, m.saturation, "Handles events of the L1s behind the load/store unit")                          \
    , HOST(T, m.memory_access, "Handles what they take")                                                     \
    ,                                                                                                        \
        VISIBLE_NAMED(                                                                                       \
            T, m.saturated, "saturated", "flag",                                                             \
            "After watch_caches(): one of the L1s behind the load/store unit is nearly full of misses"),     \
        GATE_ROWS(T, m.gate)

void memory_ownership_init(MemoryOwnership *ownership, Sm *sm);
/* Of an SM. */
MemoryOwnership *memory_ownership_of(const Sm *sm);
/* The watched warps have changed. */
void memory_ownership_update(MemoryOwnership *ownership);

/* --- memory_watch.c, for policies */
/* At the end of a cycle: is there an access of the warp that has issued, and that the L1 which serves it has
 * not taken? */
bool sm_holds_accesses(const Sm *sm, uint32_t warp);
/* From now on warps are watched when an L1 tells that it has taken the last access that it held of them,
 * unless all warps may issue memory instructions. No event is emitted for a watched warp that holds accesses. */
void sm_watch_taken(Sm *sm);
/* From now on SM_SATURATION is emitted, for the first L1 that is saturated, and when the last no longer is; and
 * between these two SM_MEMORY_ACCESS, while all warps may issue memory instructions. */
void sm_watch_caches(Sm *sm);

/* --- memory_watch.c, for memory_ownership.c */
/* Of the warps that a policy has set, those that hold accesses are not watched yet. */
void memory_watch_those_without_accesses(MemoryOwnership *ownership);

#endif
