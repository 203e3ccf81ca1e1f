/* Can the state that a snapshot has brought to an SM and its load/store unit be worked with? All of these
 * panic when it cannot. The kernel that runs is that of the host program, which has launched it again. */
#ifndef WW_GPU_SM_SOUND_H
#define WW_GPU_SM_SOUND_H

#include "core/gpu/sm/sm.h"

/* Cycles for which an access to shared memory may hold its banks. */
enum { CONFLICTS_MAX = WARP_LANES * 4 };

/* See Class.is_sound. */
void sm_is_sound(const SimObject *sm, bool fits);
/* An instruction of the kernel that is on its way through the load/store unit. */
void sm_memory_done_is_sound(const Sm *sm, const char *where, const MemoryDone *done);
/* The same as the SM sends it; of one that the unit has begun with, all but the addresses is kept. */
void sm_memory_op_is_sound(const Sm *sm, const char *where, const MemoryOp *op, bool begun);
void sm_cta_start_is_sound(const Sm *sm, const char *where, const CtaStart *start);
/* CTA slots and warp slots that the kernels use. */
uint32_t sm_ctas_in_use(const Sm *sm);
WarpSet sm_warps_in_use(const Sm *sm);

#endif
