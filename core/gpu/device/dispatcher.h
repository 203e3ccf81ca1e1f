/* Hands out the CTAs of a kernel to the SMs, at most one per SM and cycle, in turn. */
#ifndef WW_GPU_DISPATCHER_H
#define WW_GPU_DISPATCHER_H

#include "core/gpu/protocol/protocols.h"

/* Between quanta, nothing running: begins to hand out the grid. `places`: how many CTAs each SM may hold at once, in the order
 * of the ports. */
void dispatcher_start(SimObject *dispatcher, const uint32_t grid[3], const uint32_t *places, uint64_t now);
/* Where kernels may begin in the address space of their code. */
uint64_t dispatcher_code_align(const SimObject *dispatcher);
/* Between quanta: no more CTAs of the grid are handed out; the kernel ends when those that were are done. */
void dispatcher_stop(SimObject *dispatcher);
uint64_t dispatcher_ctas_done(const SimObject *dispatcher);
/* sim_run() ends at the boundary behind the cycle in which so many CTAs of a kernel are done; 0: it does not. */
void dispatcher_pause_at(SimObject *dispatcher, uint64_t ctas);
/* True when every CTA of the grid has finished. */
bool dispatcher_idle(const SimObject *dispatcher);
/* True while CTAs wait and SMs have room for them, where policies decide: they may let them wait for ever. */
bool dispatcher_is_kept_waiting(const SimObject *dispatcher);

/* --- For CTAs that execute without timing: core/gpu/device/forward.h */

/* The place of an SM among those that it serves; less than 0: none. */
int dispatcher_port_of(const SimObject *dispatcher, const SimObject *sm);
/* The next CTA of the grid, or that which policies choose for the SM, and a slot for it, if there is one and the SM has
 * room. */
bool dispatcher_forward(SimObject *dispatcher, uint32_t sm, uint32_t ctaid[3], uint32_t *slot);
void dispatcher_forward_end(SimObject *dispatcher, uint32_t sm, uint32_t slot);
/* Those that have not ended are the SMs' from now on, who tell when they have. */
void dispatcher_hand_over(SimObject *dispatcher);
/* They are no more, and no others come. */
void dispatcher_give_up(SimObject *dispatcher);

#endif
