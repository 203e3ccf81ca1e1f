/* Whom an issue slot was lost to, for those that look on at an SM. */
#ifndef WW_GPU_LOST_SLOT_H
#define WW_GPU_LOST_SLOT_H

#include "core/gpu/sm/sm.h"

/* A warp of the scheduler, NO_WARP if there was none: of those that stood in the way of the cause the oldest. State is
 * that of the end of the cycle: who has been decoded since may be among them. */
uint32_t sm_slot_lost_to(const Sm *sm, const Scheduler *sched, SlotCause cause);

#endif
