/* Class `QueueDelays`: how long requests wait at an L2 slice beside the time that its pipeline takes, from
 * the cycle in which they could have been accepted to that in which the tags answer them (Figure 5 of
 * MeDiC). */
#ifndef WW_MEM_QUEUE_DELAYS_H
#define WW_MEM_QUEUE_DELAYS_H

#include "core/sim/object.h"

typedef struct QueueDelays QueueDelays;

extern const Class queue_delays_class;

/* Below a cache, or NULL. */
QueueDelays *queue_delays_of(const SimObject *cache);
/* The request that came at `arrived` is accepted into the pipeline. */
void queue_delays_enter(QueueDelays *delays, uint64_t arrived);
/* The oldest of so many requests in the pipeline leaves the tags. */
void queue_delays_leave(QueueDelays *delays, uint32_t requests, uint64_t now);

#endif
