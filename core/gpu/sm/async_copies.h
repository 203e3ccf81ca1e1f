/* Asynchronous copies of an SM's warps: groups of them, and warps that wait for groups. */
#ifndef WW_GPU_ASYNC_COPIES_H
#define WW_GPU_ASYNC_COPIES_H

#include "core/gpu/sm/sm.h"

/* A copy of the warp goes to the load/store unit: its number, which comes back when it is complete. Legal numbers:
 * async_is_number(). */
uint32_t async_begin(Sm *sm, uint32_t warp);
void async_end(Sm *sm, uint32_t warp, uint32_t number);
void async_commit(Sm *sm, uint32_t warp);
/* The warp waits until at most `groups` of its groups are not complete, up to ASYNC_GROUPS; ASYNC_ALL: for all its copies;
 * ASYNC_ROOM: until it can keep another arrival. */
void async_wait(Sm *sm, uint32_t warp, uint32_t groups);
/* cp.async.mbarrier.arrive: the warp's active lanes arrive at the mbarriers of the context's addresses in shared
 * memory, when its copies so far are complete. Of a bulk copy, its bytes do; else there are 0. */
void async_arrive(Sm *sm, uint32_t warp, uint32_t bytes);
bool async_is_number(uint32_t number);
void async_is_sound(const Sm *sm, uint32_t warp);
/* Are the copies that are counted those that the load/store unit has? */
bool async_adds_up(const Sm *sm);

#endif
