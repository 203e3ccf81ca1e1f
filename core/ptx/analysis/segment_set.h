/* Sets of disjoint segments of positions: a treap each, so that no order in which segments come makes it
 * slow. */
#ifndef WW_PTX_SEGMENT_SET_H
#define WW_PTX_SEGMENT_SET_H

#include "core/ptx/analysis/liveness.h"
#include "core/sim/base/random.h"

#include <stdbool.h>

typedef struct {
    LiveSegment segment;
    uint32_t priority; /* not below its children's */
    uint32_t left, right;
} SegmentNode;

/* The nodes of many sets. Begins zeroed, apart from the arena. */
typedef struct {
    Arena *arena;
    SegmentNode *nodes; /* number 0 is none */
    uint32_t count, capacity;
    Random random;
} SegmentPool;

typedef uint32_t SegmentSet; /* the number of its root; 0: empty */

/* `segment` overlaps none of the set. */
void segments_add(SegmentPool *pool, SegmentSet *set, LiveSegment segment);
/* The first segment that ends at `position` or later, or NULL. Valid until the next
 * segments_add(). */
const LiveSegment *segments_from(const SegmentPool *pool, SegmentSet set, uint32_t position);
/* Whoever asks does so in the order in which what is asked for starts: a set that ends before that is emptied.
 */
bool segments_overlap(const SegmentPool *pool, SegmentSet *set, const LiveSegment *wanted, uint32_t count);

#endif
