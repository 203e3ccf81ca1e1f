/* CTA barriers: 16 named ones per CTA, for all its threads or a given number of them. */
#ifndef WW_GPU_BARRIER_H
#define WW_GPU_BARRIER_H

#include "core/gpu/lsu/coalescer.h"
#include "core/gpu/sm/sm.h"

/* A warp executes bar.sync (it waits) or bar.arrive (it goes on). */
void barrier_arrive(Sm *sm, uint32_t warp, const Inst *inst);

#endif
