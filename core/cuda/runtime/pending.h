/* What streams have issued and is not done yet. A kernel in a stream of the program's own waits until somebody waits: what
 * other streams issue until then may run beside it. Behind a wait for one stream or event, kernels of others may be in
 * flight. Between warp_enter() and warp_leave(); these return 0 or an error code, which may be that of a kernel that has
 * failed. */
#ifndef WW_CUDA_PENDING_H
#define WW_CUDA_PENDING_H

#include "core/cuda/runtime/streams.h"
#include "core/cuda/runtime/work.h"

#include <stdbool.h>

/* Does it, or lets it wait. */
int warp_issue(WarpStream *stream, const WarpWork *work);
/* All that waits, and all that is in flight. */
int warp_do_pending(void);
/* The same, where nobody goes on behind it: what waits for a word that is not there is forgotten. */
int warp_end_pending(void);
/* The same, where kernels are in flight: such as a host function of a graph has left. */
int warp_land(void);
/* What the stream has issued; the record of the event. `asks`: CUDA_NOT_READY where it is not done within QUERY_CYCLES. */
int warp_do_pending_of(WarpStream *stream, bool asks);
int warp_do_pending_before(const WarpEvent *event, bool asks);
/* Are kernels in flight? */
bool warp_is_in_flight(void);
/* Is the event recorded behind work that waits? */
bool warp_event_waits(const WarpEvent *event);
/* Of an event whose record is an item of what is pending: who waits for the one before still does. */
void warp_event_forget_record(WarpEvent *event);
void warp_event_note_record(WarpEvent *event, uint32_t item);
/* Nobody asks for the time of that record any more. */
int warp_event_forget(WarpEvent *event);

#endif
