/* MemoryController: one DRAM channel and the queue in front of it. Port array `cpu` (memory_protocol,
 * responder), one port per L2 slice of the channel; needs an AddressMap in the machine. */
#ifndef WW_MEM_MEMORY_CONTROLLER_H
#define WW_MEM_MEMORY_CONTROLLER_H

#include "core/sim/object.h"

extern const Class memory_controller_class;

#endif
