/* Behind which port of a network each L2 slice lies: found by following the wires. */
#ifndef WW_MEM_SLICES_H
#define WW_MEM_SLICES_H

#include "core/sim/sim.h"

/* From init(): for each slice of the address map the index of the port, to be freed. Requests are followed
 * through caches, muxes and other networks to where they end: the ports of the memory controllers, or whatever
 * sends nothing further. A network with one port for each slice, each of which leads to one end, numbers them
 * by its ports. Where no network does, the ends are the slices in the order in which their objects were made.
 *
 * Of several ports that lead to a slice it is the one from which the fewest wires do. A user error that names the
 * object when two are as near, and when a port leads to slices and is nearest to none; also when a slice lies
 * behind no port, unless every request has passed a network that sends it those alone whose slices lie behind it. */
uint16_t *slices_behind_ports(const SimObject *object, const Port *down, uint32_t count);

#endif
