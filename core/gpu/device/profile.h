/* What --profile counts, by instruction of each kernel: its issues, the issue slots that were lost while it was what
 * a scheduler waited for, and what its accesses found in the caches; the same by allocation of device memory; and what
 * each CTA did. It looks on, as an issue gate of every SM that holds nothing back and an observer of every cache; each
 * counts for itself, so that no order and no thread can change a sum. A run without it pays nothing.
 *
 * A lost slot is put to the instruction of one warp: of the scheduler's warps that stood in the way of its cause, the
 * oldest. So the slots of all instructions, and those with nobody to blame, add up to the SMs' own. */
#ifndef WW_GPU_PROFILE_H
#define WW_GPU_PROFILE_H

#include "core/gpu/device/allocation_profile.h"
#include "core/gpu/sm/sm.h"
#include "core/sim/checkpoint/buffer.h"

enum { PROFILE_GROUPS = 16 };

typedef struct {
    uint64_t issues, threads;
    uint64_t slots[SLOT_CAUSES]; /* lost; of SLOT_ISSUED: as `issues` */
} InstSlots;

typedef struct {
    uint64_t hits, misses, merges;
} InstAccesses;

/* Of a kernel, over all its launches; where SMs hold CTAs of several, one without instructions stands for none. The
 * last element of each array, insts[inst_count], is of no instruction: slots without a warp, accesses of none of its
 * instructions. */
typedef struct {
    const Kernel *kernel;
    uint64_t first_launch; /* that it was met in */
    InstSlots *insts;
    InstSlots *warps; /* by number in the CTA: WARPS_OF_CTA of them */
    InstAccesses *accesses[PROFILE_GROUPS];
} KernelProfile;

enum { WARPS_OF_CTA = MAX_WARPS };

typedef struct {
    uint32_t launch, ctaid[3], sm, slot;
    uint64_t from, to, warp_instructions; /* core cycles; `to` is 0 until it has ended */
} CtaProfile;

typedef struct Profile Profile;

/* Looks on from now on, at all SMs and caches of an elaborated machine that has not run. */
Profile *profile_new(Sim *sim);
void profile_free(Profile *profile);

/* Names of the groups of caches, such as sm[*].l1d; returns how many. Caches that are alike but for indices are one
 * group; those beyond PROFILE_GROUPS are the last one's. */
uint32_t profile_groups(const Profile *profile, const char **names);
/* Sums over SMs and caches, kernels in the order in which they ran; to be freed by profile_free_kernels(). */
uint32_t profile_kernels(const Profile *profile, KernelProfile **kernels);
void profile_free_kernels(KernelProfile *kernels, uint32_t count);
/* All CTAs that have started, in the order of SMs and of their starts; to be freed. */
uint64_t profile_ctas(const Profile *profile, CtaProfile **ctas);

/* Sums over the caches of a group; to be emptied. */
AllocationCounts profile_allocations(const Profile *profile, uint32_t group);
/* A kernel is launched: allocations have the name of the first argument that was their address. */
void profile_note_arguments(Profile *profile, const RunningKernel *running);
/* Of a variable; else of such an argument, "vecadd a"; else "". */
void profile_name_allocation(const Profile *profile, const AllocationAccesses *of, char *name, size_t size);

/* For checkpoints, between quanta. */
void profile_save(const Profile *profile, Buffer *buffer);
/* The kernel whose code lies there, or NULL. */
typedef const Kernel *FindKernel(const void *context, uint64_t code_address);
/* After the machine has its saved state and the host program has loaded its modules. False when the bytes are of
 * another machine or another program, or damaged. */
bool profile_load(Profile *profile, Reader *reader, FindKernel *find, const void *context);
/* It is empty, and counts from now on: CTAs that are resident begin now. */
void profile_restart(Profile *profile);

#endif
