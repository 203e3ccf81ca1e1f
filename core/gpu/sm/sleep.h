/* Warps that sleep: nanosleep. It is at the SM's gates only to be asked when a warp sleeps; it holds none back that is
 * ready. */
#ifndef WW_GPU_SLEEP_H
#define WW_GPU_SLEEP_H

#include "core/gpu/sm/sm.h"

void sleep_init(Sm *sm);

#endif
