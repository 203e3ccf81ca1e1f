/* The locality scoring system of cache-conscious wavefront scheduling (Rogers et al., section 3.3). Each
 * active warp has a score, at least the base score, that falls by one per cycle until it is back at the base.
 * The scores are stacked up, the highest at the bottom, of equal ones that of the oldest warp. A warp that
 * stands above the cut-off, which is the base score times the active warps, may not load: with edge `bottom`
 * one whose score begins there or higher, with `top` already one whose score reaches above it. */
#ifndef WW_GPU_LOCALITY_SCORES_H
#define WW_GPU_LOCALITY_SCORES_H

#include "core/gpu/sm/sm.h"

extern const Class locality_scores_class;

/* Called by subscribers or between quanta; they count from the next cycle on. */

/* The warps that take part, and their ages, as in Sm. One that did not take part begins at the base score. */
void scores_set_active(SimObject *scores, WarpSet active, const WarpSet *cta_by_age, uint32_t ctas);
/* The score of an active warp; below the base means the base, above the cut-off the cut-off. */
void scores_set(SimObject *scores, uint32_t warp, uint64_t score);
/* From now on a hit of a warp in these victim tags of its SM gives it the score of Rogers et al., MICRO 2012:
 *   (hits in these tags / instructions that the SM issued) * k_throttle * cut-off
 * To be called again when the machine has forgotten its subscribers. */
void scores_update_on_hits(SimObject *scores, SimObject *victim_tags, const Sm *sm, uint32_t k_throttle);
/* The present score of a warp; 0 when it does not take part. */
uint64_t scores_get(const SimObject *scores, uint32_t warp);

#endif
