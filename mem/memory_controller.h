/* MemoryController: one DRAM channel and the queue in front of it. Port array `cpu` (memory_protocol,
 * responder), one port per L2 slice of the channel; needs an AddressMap in the machine. */
#ifndef WW_MEM_MEMORY_CONTROLLER_H
#define WW_MEM_MEMORY_CONTROLLER_H

#include "core/sim/object.h"

extern const Class memory_controller_class;

/* Requests of the class that come from now on go to this queue, one of those that the controller has. */
void memory_controller_set_queue(SimObject *mc, uint32_t class_number, uint32_t queue);
uint32_t memory_controller_queues(const SimObject *mc);

#endif
