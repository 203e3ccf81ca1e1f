/* Hands out the CTAs of a kernel to the SMs, at most one per SM and cycle, in turn. */
#ifndef WW_GPU_DISPATCHER_H
#define WW_GPU_DISPATCHER_H

#include "core/gpu/protocol/protocols.h"

/* Between quanta, nothing running: begins to hand out the grid. */
void dispatcher_start(SimObject *dispatcher, const uint32_t grid[3], uint32_t ctas_per_sm, uint64_t now);
/* Where kernels may begin in the address space of their code. */
uint64_t dispatcher_code_align(const SimObject *dispatcher);
/* Between quanta: no more CTAs of the grid are handed out; the kernel ends when those that were are done. */
void dispatcher_stop(SimObject *dispatcher);
uint64_t dispatcher_ctas_done(const SimObject *dispatcher);
/* sim_run() ends at the boundary behind the cycle in which so many CTAs of a kernel are done; 0: it does not. */
void dispatcher_pause_at(SimObject *dispatcher, uint64_t ctas);
/* True when every CTA of the grid has finished. */
bool dispatcher_idle(const SimObject *dispatcher);

#endif
