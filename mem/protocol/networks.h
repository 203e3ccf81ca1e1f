/* Networks between memory ports. They stamp the way back into every request (mem_enter_network()). */
#ifndef WW_MEM_NETWORKS_H
#define WW_MEM_NETWORKS_H

#include "mem/protocol/address_map.h"

extern const Class crossbar_class;          /* requesters to L2 slices       */
extern const Class mux_class;               /* the caches of an SM to one port */
extern const Class memory_controller_class; /* where requests end */

/* From init(): may requests for any slice come to the object? Else a network before it sends it those alone whose slices lie
 * behind it. */
bool gets_every_slice(const SimObject *object);

/* From init() of each of the machine's memory controllers: a user error where the networks let addresses of two channels come
 * to one, which has the same rows and banks for both. */
void check_channel_is_own(const SimObject *controller, const AddressMap *map);

#endif
