/* Which L2s the requests for an address pass, and where its atomics meet. */
#ifndef WW_MEM_REQUEST_WAYS_H
#define WW_MEM_REQUEST_WAYS_H

#include "core/sim/sim.h"

typedef bool LinkTest(const Link *requests);

/* Once all objects have been initialised: tells L2s for which slices of the address map requests come to them, and each
 * that does not get all atomics on these addresses to pass atomics on. So they are performed at the first L2 that gets all,
 * or at the memory controller. A user error when nobody gets all of an address.
 *
 * Objects with several ways onward that are no Crossbar or Router may send any request by any of them: what lies behind them
 * is taken to get every address, or those that nobody else beside it gets. */
void request_ways_find(Sim *sim, LinkTest *begins_atomics);

#endif
