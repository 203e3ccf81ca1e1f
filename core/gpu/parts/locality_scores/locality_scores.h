/* The locality scoring system of cache-conscious wavefront scheduling (Rogers et al., section 3.3). Each
 * active warp has a score, at least the base score, that falls by one per cycle until it is back at the base.
 * The scores are stacked up, the highest at the bottom, of equal ones that of the oldest warp. A warp that
 * stands above the cut-off, which is the base score times the active warps, may not load.
 *
 * "Performs a prefix sum, and clears the Can Issue bit for wavefronts attempting to issue loads whose LLS is
 * above the cutoff" may be read in two ways, by the parameter `edge`:
 *   bottom  the sum of the scores below it: its score begins at the cut-off or higher (default)
 *   top     the sum with its own: its score reaches above the cut-off
 * For `bottom` speaks Figure 8: at T3 "the scores for W2 and W0 have decreased enough to allow both W1 and W3
 * to issue loads again". With `top` the last warp loads again only when every score is back at the base, and
 * a single point above it blocks that warp. For `top` speaks that a prefix sum as a rule contains its own
 * element. */
#ifndef WW_GPU_LOCALITY_SCORES_H
#define WW_GPU_LOCALITY_SCORES_H

#include "core/gpu/sm/sm.h"

extern const Class locality_scores_class;

/* Called by subscribers or between quanta; they count from the next cycle on. */

/* The warps that take part, and their ages, as in Sm. One that did not take part begins at the base score. */
void scores_set_active(SimObject *scores, WarpSet active, const WarpSet *cta_by_age, uint32_t ctas);
/* The score of an active warp; below the base means the base, above the cut-off the cut-off. */
void scores_set(SimObject *scores, uint32_t warp, uint64_t score);
/* The same where its present score is lower; else nothing. */
void scores_raise(SimObject *scores, uint32_t warp, uint64_t score);
/* From now on a hit of a warp in these victim tags of its SM raises its score to that of Rogers et al., MICRO
 * 2012:
 *   (hits in these tags / instructions that the SM issued) * k_throttle * cut-off
 * As more instructions are issued per hit this may fall below the score that the warp still has. It keeps
 * that: "a wavefront's LLS can increase when the LLD sends a VTA hit signal" (section 3.3); only time lowers
 * scores.
 * To be called again when the machine has forgotten its subscribers. */
void scores_update_on_hits(SimObject *scores, SimObject *victim_tags, const Sm *sm, uint32_t k_throttle);
/* The present score of a warp; 0 when it does not take part. */
uint64_t scores_get(const SimObject *scores, uint32_t warp);

#endif
