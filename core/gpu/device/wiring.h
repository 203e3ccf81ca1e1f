/* What a machine's wires must be, beyond joining ports that fit each other: found before it runs. */
#ifndef WW_GPU_WIRING_H
#define WW_GPU_WIRING_H

#include "core/sim/sim.h"

/* Before sim_elaborate(): a user error where requests would go round in a loop or through more networks than
 * they can note, where the lines of a cache are shorter than the requests that come to it, where data comes to
 * a PageWalker or a TLB without `down`, and where the quantum is longer than the longest legal one.
 */
void wiring_check(const Sim *sim);

/* Before sim_elaborate(): the longest quantum, in cycles of the first clock, that parts SMs from L2 slices
 * and memory controllers; 0: none does. UINT32_MAX: there are no two to part. */
uint32_t wiring_longest_quantum(const Sim *sim);

/* In init(): why a link whose ends are in different clusters is no quicker than the quantum, and what the user can do, for
 * messages. */
void wiring_explain_cut(const Link *link, char *text, size_t size);

#endif
