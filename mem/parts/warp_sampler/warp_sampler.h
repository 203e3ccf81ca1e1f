/* Class `WarpSampler`: counts for each warp of an SM how many of its requests to the second level hit there.
 * The L2 marks in its answers what hit, and the sampler counts them as an observer of the SM's L1 caches: the two counters
 * that MeDiC adds to each warp's metadata (3.1). A hit in L1, or a merge with a request in flight there,
 * never came to the L2 and does not count. */
#ifndef WW_MEM_WARP_SAMPLER_H
#define WW_MEM_WARP_SAMPLER_H

#include "core/sim/object.h"

typedef struct WarpSampler WarpSampler;

extern const Class warp_sampler_class;

/* The second level has answered a request of this warp. */
void sampler_count(WarpSampler *sampler, uint32_t warp, bool hit, uint64_t now);

/* The warps, a set of bits, are sampled from zero again. */
void sampler_restart(SimObject *sampler, uint64_t warps);
/* The core cycle in which the second level last answered a request of the warp; 0: never. */
uint64_t sampler_served(const SimObject *sampler, uint32_t warp);

#endif
