/* What streams have issued and is not done yet. A kernel in a stream of the program's own waits until somebody waits for
 * the device: what other streams issue until then may run beside it. Between warp_enter() and warp_leave(); these return
 * 0 or an error code, which may be that of a kernel that has failed. */
#ifndef WW_CUDA_PENDING_H
#define WW_CUDA_PENDING_H

#include "core/cuda/runtime/streams.h"
#include "core/cuda/runtime/work.h"

#include <stdbool.h>

/* Does it, or lets it wait. */
int warp_issue(WarpStream *stream, const WarpWork *work);
/* All that waits. */
int warp_do_pending(void);
/* Is the event recorded behind work that waits? */
bool warp_event_waits(const WarpEvent *event);

#endif
