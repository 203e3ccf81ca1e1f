/* The ways of requests through objects that only pass them on (Class.passes_on). */
#ifndef WW_SIM_WAYS_H
#define WW_SIM_WAYS_H

#include "core/sim/sim.h"

typedef struct {
    const Link **link; /* that requests may stand in */
    SimObject **end;   /* the objects that they come to */
    uint32_t link_count, end_count;
} Ways;

/* Calls visit(context, port, link) for the requests' link of each wired requester port, in the order of the
 * rows. */
typedef void RequestLinkVisitor(void *context, const Field *port, const Link *requests);
void visit_request_links(const SimObject *object, RequestLinkVisitor *visit, void *context);

/* Adds the ways of what is sent into the link to objects of the class, as far as they stay in its cluster. True
 * when there is one. After sim_elaborate() has cut the machine. */
bool ways_add(Ways *ways, const Link *from, const Class *to);
/* Calls visit(context, link, message) for each request that is on one of the ways now. */
void ways_visit(const Ways *ways, RequestVisitor *visit, void *context);
void ways_free(Ways *ways);

#endif
