/* Kernels without timing: their instructions execute, and no cycle passes. */
#ifndef WW_GPU_UNTIMED_H
#define WW_GPU_UNTIMED_H

#include "core/gpu/sm/fault.h"

/* A plain instruction computes, loads or stores, and the one behind it is the next; atomics beyond shared memory and what
 * waits are others. What is known of the instructions of a kernel, one entry each, to be freed. */
PlainInst *untimed_find_plain(const Kernel *kernel);

typedef struct {
    uint32_t lanes, span, degree;
} LastConflict;

/* How many cycles instructions keep the banks of shared memory beyond the first, by conflicts. */
typedef struct ConflictCount {
    uint64_t cycles;
    const Sm *sm; /* at work */
    const Inst *insts;
    LastConflict last[]; /* by instruction: of its last access */
} ConflictCount;

/* Of the SMs' kernel, to be freed. Instructions of `plain`, of untimed_find_plain(), count there from now on where the
 * context has it. */
ConflictCount *untimed_count_conflicts(PlainInst *plain, const Kernel *kernel);
/* When each instruction would issue in a warp of the SM that has it to itself and executes all of them in line: a cycle after
 * the one before, or when the results that it needs are there. Those of shared memory take `shared_cycles`; for what comes
 * from beyond the SM nobody waits. */
void untimed_find_times(PlainInst *plain, const Sm *sm, const Kernel *kernel, uint32_t shared_cycles);

typedef struct {
    uint32_t executed; /* instructions */
    uint32_t cycles;   /* that the warp would take for them alone, by untimed_find_times() */
    bool has_loaded;   /* the last of them has loaded from memory; Sm.untimed_miss says more */
    bool has_lanes;    /* likewise, and the load/store unit would count it                    */
} WarpTurn;

/* The warp executes up to `most` instructions, the first of them when the clock shows `clock`, the next one a cycle later.
 * What it writes, all see at once: nobody else executes meanwhile. */
WarpTurn untimed_take_turn(Sm *sm, uint32_t warp, PlainInst *plain, uint32_t most, uint64_t clock,
                           TurnEnd end);

static inline bool untimed_has_fault(const Sm *sm) {
    return sm->running->faults && sm->running->faults[sm->number].kind != FAULT_NONE;
}

/* Runs all CTAs of the kernel that the SMs were given by sm_set_kernel(), at a quantum boundary with nothing in
 * flight. The SMs take turns, and in each its CTAs, as many as fit: a CTA goes on from barrier to barrier, and what
 * executes for long makes room for the next one. Nothing is counted, nobody is told, and the SMs are as they were;
 * memory has what the kernel wrote, and the caches have the lines of its CTAs but for the first `cold_ctas`: an SM's
 * accesses leave none until it starts a later one. Ends after the first fault, which is where the running kernel
 * keeps them, or when `is_given_up`, which is asked every now and then, says so. False when the warps that are left
 * wait for each other. */
bool sms_run_untimed(Sm *const *sms, uint32_t count, const RunningKernel *running, uint64_t cold_ctas,
                     bool (*is_given_up)(void *context), void *context);

typedef enum { TURN_STUCK, TURN_PROGRESS, TURN_FAULT } CtaTurn;

/* The CTA goes on from barrier to barrier, and `clock` by an instruction at a time. It ends when its warps have. Who
 * executes for long may wait for others to write: the turn ends without them, and is progress. */
CtaTurn untimed_take_cta_turn(Sm *sm, uint32_t slot, PlainInst *plain, uint64_t *clock);

/* Policies and parts of the SM have no say from now on, and hear nothing; what it writes all see at once. */
void untimed_make_deaf(Sm *sm);

#endif
