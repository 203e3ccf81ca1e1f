/* Fast-forward within a launch: its first CTAs execute without timing, and those that are resident then are handed over
 * in mid-flight to the machine.
 *
 * The order is fixed. CTAs are handed out as the dispatcher would, one to each SM in turn while there is room. Each SM
 * has a time of its own: in each cycle of it the oldest ready warp executes an instruction, and goes on until it loads,
 * waits or exits; one that has not executed for FORWARD_MOST_PASSED cycles goes before it, or warps that wait for it in a
 * loop could keep it waiting for ever. Then its warp waits as long as it would have waited for results of these
 * instructions if it had the SM to itself (untimed_find_times()): without that the oldest CTA would leave the others
 * behind, as it does not with timing, and those would be near their beginnings at the hand-over. A load of global or
 * local memory makes it wait FORWARD_HIT_CYCLES more where the first cache has the line, and FORWARD_MISS_CYCLES else.
 * Caches take each access when it executes. An SM's first CTA runs alone, FORWARD_MOST_ALONE at most, and those that fit
 * beside it begin at equal intervals in the time that one has taken, in each SM a part of the interval later than in the
 * one before: so CTAs of all ages are resident in the machine when it takes over. The SMs take turns of
 * FORWARD_ROUND_CYCLES, in the order of their paths; then CTAs that have ended leave, and new ones come.
 *
 * CTAs before these, which leave no lines in the caches, need no ages: in the order of their paths, the SMs execute as
 * many as fit each, one after the other from its beginning to its end (untimed_take_cta_turn()). */
#ifndef WW_GPU_FORWARD_H
#define WW_GPU_FORWARD_H

#include "core/gpu/sm/sm.h"

enum {
    FORWARD_HIT_CYCLES = 40,
    FORWARD_MISS_CYCLES = 400,
    FORWARD_ROUND_CYCLES = 64,
    FORWARD_MOST_PASSED = 1 << 16, /* looked at as often */
    FORWARD_MOST_ALONE = 1 << 20
};

typedef enum { FORWARD_DONE, FORWARD_FAULT, FORWARD_STUCK } ForwardResult;

typedef struct Forward Forward;

/* At a quantum boundary with nothing in flight, the dispatcher at the beginning of the grid. Nothing is counted and no
 * cycle passes until forward_end(), which frees it. `cold`: so many CTAs end before any leaves lines in the caches.
 * `is_given_up` is asked every now and then. */
Forward *forward_begin(Sm *const *sms, uint32_t count, SimObject *dispatcher, uint64_t cold,
                       bool (*is_given_up)(void *context), void *context);
/* Executes until so many CTAs have ended, those before included. A fault is where the running kernel keeps them, or that
 * the kernel is given up; stuck are warps that wait for each other. */
ForwardResult forward_until(Forward *forward, uint64_t ctas);
/* Warp instructions so far, and of these those that have loaded from memory, atomics included. */
uint64_t forward_instructions(const Forward *forward, uint64_t *loads);
/* So many cycles of their own time the SMs have been at it. */
uint64_t forward_cycles(const Forward *forward);
/* So many cycles conflicts of shared memory have kept its banks: an estimate, by one of 32 CTAs. */
uint64_t forward_conflict_cycles(const Forward *forward);
/* Since it began. */
UntimedTraffic forward_traffic(const Forward *forward);
/* The machine gets what is resident, if `hands_over`. Else the grid is given up and the SMs are as they were. */
void forward_end(Forward *forward, bool hands_over);
/* Without forward_end(), of a machine that is no more, since a fault was an error of the user's; NULL is none. */
void forward_free(Forward *forward);

#endif
