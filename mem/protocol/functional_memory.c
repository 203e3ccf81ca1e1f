#include "mem/protocol/functional_memory.h"

static uint32_t lanes_of(const AtomicPayload *payload, const MemMessage *m) {
    uint32_t lanes = 0;
    if (m->lanes) return m->lanes & payload->mask;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        lanes |= (uint32_t)(payload->address[lane] - m->address < m->bytes) << lane;
    return lanes & payload->mask;
}

void perform_atomic(SimObject *object, MemoryView *view, const MemMessage *m) {
    FunctionalMemory *functional = functional_memory(object);
    ensure(functional && m->sm < MAX_SMS && functional->payloads[m->sm]);
    AtomicPayload *payload = &functional->payloads[m->sm][m->payload];
    if (!atomic_perform(payload, lanes_of(payload, m), view))
        panic("%s: an atomic of sm %u warp %u on 0x%lx is out of bounds, which the SM should have found at "
              "issue",
              object_path(object), m->sm, m->warp, m->address);
    if (view->log_count) object_request_commit(object);
}
