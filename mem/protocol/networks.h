/* Networks between memory ports. They stamp the way back into every request (mem_enter_network()). */
#ifndef WW_MEM_NETWORKS_H
#define WW_MEM_NETWORKS_H

#include "core/sim/sim.h"

extern const Class crossbar_class; /* requesters to L2 slices       */
extern const Class mux_class;      /* the caches of an SM to one port */

#endif
