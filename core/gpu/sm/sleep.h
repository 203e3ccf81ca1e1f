/* Warps that sleep: by nanosleep, or as a policy says. It is at the SM's gates only to be asked when a warp sleeps;
 * it holds none back that is ready. */
#ifndef WW_GPU_SLEEP_H
#define WW_GPU_SLEEP_H

#include "core/gpu/sm/sm.h"

enum { LONGEST_SLEEP = 1 << 20 }; /* cycles that a policy may ask for */

void sleep_init(Sm *sm);
/* A warp that lives and waits for nothing issues next in this cycle. */
void sleep_until(Sm *sm, uint32_t warp, uint64_t cycle);

#endif
