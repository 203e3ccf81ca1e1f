/* The functional side that components of one machine share: device memory and the SMs' tables of atomic
 * payloads. Hangs on Sim.user. An SM fills a payload before it sends the request and reads it after the
 * response; in between it belongs to the L2 slice or the memory controller that performs the atomic. */
#ifndef WW_MEM_FUNCTIONAL_MEMORY_H
#define WW_MEM_FUNCTIONAL_MEMORY_H

#include "core/ptx/execution/exec.h"
#include "core/sim/sim.h"
#include "mem/protocol/memory_protocol.h"

enum { MAX_SMS = 1024 };

typedef struct {
    DeviceMemory *memory;
    AtomicPayload *payloads[MAX_SMS]; /* of each SM: its table, indexed by MemMessage.payload */
} FunctionalMemory;

static inline FunctionalMemory *functional_memory(const SimObject *object) {
    return (FunctionalMemory *)object->sim->user;
}

/* Of the object's own view, which its commit() commits: what it has performed it sees at once, others from the next quantum
 * on. */
void perform_atomic(SimObject *object, MemoryView *view, const MemMessage *m);

#endif
