/* What each kernel had of a machine that others use, too: instructions, issue slots, loads, and what its accesses found
 * in the caches and asked of the memory controllers, by launch. It looks on, as an issue gate of every SM that holds
 * nothing back and an observer of every other object; each counts for itself, so that no order and no thread can change a
 * sum. A run without it pays nothing. Sums over all launches, with what is of none, are the objects' own statistics.
 *
 * A request is its CTA's, by the number that it carries. A line is written back for the launch that wrote it last. What
 * nobody has asked for is of none: slots without a warp, what a cache fetches ahead, traffic that SMs do not make. */
#ifndef WW_GPU_KERNEL_COUNTS_H
#define WW_GPU_KERNEL_COUNTS_H

#include "core/sim/checkpoint/buffer.h"
#include "core/sim/sim.h"

typedef struct KernelCounts KernelCounts;

enum { NO_LAUNCH = UINT32_MAX };

/* Objects whose paths differ in indices alone have theirs together, as "sm_l1d_hits": no path, so that nobody takes
 * it for the statistic of an object. */
typedef struct {
    char *name;
    const char *unit, *doc;
} KernelColumn;

/* Looks on from now on, at an elaborated machine. */
KernelCounts *kernel_counts_new(Sim *sim);
void kernel_counts_free(KernelCounts *all);

uint32_t kernel_counts_columns(const KernelCounts *all, const KernelColumn **columns);
/* A number for each column, until the next call of any of these; NULL: it has counted nothing. Between quanta. */
const uint64_t *kernel_counts_of(KernelCounts *all, uint32_t launch);
/* One of them; false: no column has this name. */
bool kernel_counts_named(KernelCounts *all, uint32_t launch, const char *name, uint64_t *value);
/* Before launches begin: all have numbers below this one. */
void kernel_counts_launches(KernelCounts *all, uint32_t launches);

/* For checkpoints, between quanta. */
void kernel_counts_save(KernelCounts *all, Buffer *buffer);
/* After the machine has its saved state. False when the bytes are of another machine, or damaged. */
bool kernel_counts_load(KernelCounts *all, Reader *reader);
/* They are empty, and count from now on. */
void kernel_counts_restart(KernelCounts *all);
/* For a machine that is to take the place of another, and has nothing yet: goes on with what that has counted. Lines of a
 * cache that has become another one are of no launch when they are written back. */
void kernel_counts_take_over(KernelCounts *all, KernelCounts *before);
/* It has the other's state by now, or a saved one: the CTAs that it holds are known. */
void kernel_counts_know_residents(KernelCounts *all);

#endif
