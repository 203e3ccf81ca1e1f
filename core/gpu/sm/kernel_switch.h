/* Of an SM that has CTAs of several kernels at once: whose instruction executes, and what each CTA has executed. A gate, so
 * that an SM with one kernel asks nothing. */
#ifndef WW_GPU_KERNEL_SWITCH_H
#define WW_GPU_KERNEL_SWITCH_H

#include "core/gpu/sm/sm.h"

void kernel_switch_init(Sm *sm);
/* Call when the kernels of the SM are others. */
void kernel_switch_set(Sm *sm);

#endif
