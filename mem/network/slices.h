/* Behind which port of a network each L2 slice lies: found by following the wires. */
#ifndef WW_MEM_SLICES_H
#define WW_MEM_SLICES_H

#include "core/sim/sim.h"

/* From init(): for each slice of the address map the index of the port, to be freed. Requests are followed
 * through caches, muxes and other networks to where they end: the ports of the memory controllers, or whatever
 * sends nothing further. A network with one port for each slice, each of which leads to one end, numbers them
 * by its ports. Where no network does, the ends are the slices in the order in which their objects were made.
 *
 * A user error that names the object when a slice lies behind two ports; and when one lies behind none, unless
 * every request has passed a network that sends it those alone whose slices lie behind it. */
uint16_t *slices_behind_ports(const SimObject *object, const Port *down, uint32_t count);

#endif
