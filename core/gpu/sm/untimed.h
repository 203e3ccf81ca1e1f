/* Kernels without timing: their instructions execute, and no cycle passes. */
#ifndef WW_GPU_UNTIMED_H
#define WW_GPU_UNTIMED_H

#include "core/gpu/sm/sm.h"

/* Runs all CTAs of the kernel that the SMs were given by sm_set_kernel(), at a quantum boundary with nothing in
 * flight. As many CTAs as fit are there at once, and take turns. Nothing is counted, nobody is told, and the SMs are
 * as they were; memory has what the kernel wrote, and with `warms_caches` the caches have its lines. Ends after the first
 * fault, which is where the running kernel keeps them. False when the warps that are left wait for each other. */
bool sms_run_untimed(Sm *const *sms, uint32_t count, const RunningKernel *running, bool warms_caches);

/* What an SM has written, all see. Its loads look through its writes until then, so there are never many. */
enum { UNTIMED_MOST_WRITES = 64 };
void untimed_show_writes(Sm *sm);
/* Policies and parts of the SM have no say from now on, and hear nothing. */
void untimed_make_deaf(Sm *sm);

#endif
