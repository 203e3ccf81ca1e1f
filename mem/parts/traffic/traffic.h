/* Ends of memory ports that need no program: a TrafficSource makes requests at random, a TrafficSink answers
 * them. They measure a network, a cache or a memory controller alone. */
#ifndef WW_MEM_TRAFFIC_H
#define WW_MEM_TRAFFIC_H

#include "core/sim/object.h"

extern const Class traffic_source_class; /* port `mem`, requester */
/* Between quanta: a source makes no requests from now on; goes on as if no time had passed. In between there is
 * no checkpoint. */
void traffic_source_rest(SimObject *source);
void traffic_source_go_on(SimObject *source);

extern const Class traffic_sink_class; /* port `cpu`, responder */

#endif
