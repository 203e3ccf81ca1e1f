/* Memory of the program's own that kernels find as a shadow in device memory: cudaHostRegister(), and `__managed__` variables
 * that the program has a copy of. What either side has changed since both were the same goes to the other one, byte by byte, so
 * that they may change other parts of it at the same time. Between warp_enter() and warp_leave(); 0 or an error code. */
#ifndef WW_CUDA_SHADOWS_H
#define WW_CUDA_SHADOWS_H

#include "core/cuda/runtime/client.h"

/* What the program has changed, or all of it where the shadow has had nothing yet. `in_flight`: kernels may be changing it. */
int warp_shadow_push(WarpRange *range, bool in_flight);
/* What kernels have changed. */
int warp_shadow_pull(const WarpRange *range);

#endif
