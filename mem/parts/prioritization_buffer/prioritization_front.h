/* The prioritization buffer as a tag front: what is new at the tags joins its warp's queue, and the lowest
 * queue that is not empty has its turn. */
#ifndef WW_MEM_PRIORITIZATION_FRONT_H
#define WW_MEM_PRIORITIZATION_FRONT_H

#include "mem/cache/tag_front.h"
#include "mem/parts/prioritization_buffer/prioritization_buffer.h"

typedef struct {
    TagFront front;
    PrioritizationBuffer buffer; /* places 0: none */
} PrioritizationFront;

#define PRIORITIZATION_FRONT_ROWS(T, m) TAG_FRONT_ROWS(T, m.front), PRIORITIZATION_ROWS(T, m.buffer)

extern const TagFrontClass prioritization_front;

#endif
