/* The port of a DMA engine at an L1 (D2MA, Jamshidi et al., PACT 2014, section 4.2): its requests take an
 * MSHR and a place in the miss queue, and pass by tags and data. The processor side goes first. */
#ifndef WW_MEM_L1_DMA_PORT_H
#define WW_MEM_L1_DMA_PORT_H

#include "mem/cache/cache.h"

/* Set in the tokens of its requests, beside their own; see BYPASSED_TOKEN. */
#define DMA_TOKEN (1u << 30)

/* Why the first request at the port waits. */
typedef enum { DMA_WAIT_NONE, DMA_WAIT_MSHR, DMA_WAIT_MISS_QUEUE, DMA_WAIT_PRIORITY, DMA_WAITS } DmaWait;

typedef struct {
    Port port;            /* unwired: no engine */
    uint64_t wait, since; /* DmaWait, and the cycle up to which it and the MSHRs are counted */
    uint64_t seen;        /* accesses that needed an MSHR or a place in the miss queue, so far */
    uint64_t requests, mshr_cycles, wait_cycles[DMA_WAITS - 1];
} L1DmaPort;

#define L1_DMA_PORT_ROWS(T, m)                                                                               \
    PORT_NAMED(T, m.port, "dma", memory_protocol, ROLE_RESPONDER, "From a DMA engine", .optional = true)     \
    , STATE(T, m.wait, "Why the request of the DMA engine waits")                                            \
    , STATE(T, m.since, "Cycle up to which that is counted")                                                 \
    , STATE(T, m.seen, "Accesses that needed an MSHR or the miss queue")                                     \
    ,                                                                                                        \
        STAT_NAMED(T, m.requests, "dma_requests", "requests",                                                \
                   "Of a DMA engine, each with an MSHR of its own"),                                         \
        STAT_NAMED(T, m.mshr_cycles, "dma_mshr_cycles", "cycles", "Of MSHRs in use for them"),               \
        STAT_NAMED(T, m.wait_cycles[DMA_WAIT_MSHR - 1], "dma_mshr_stall_cycles", "cycles",                   \
                   "In which one of them waited for an MSHR"),                                               \
        STAT_NAMED(T, m.wait_cycles[DMA_WAIT_MISS_QUEUE - 1], "dma_miss_queue_stall_cycles", "cycles",       \
                   "In which one of them waited for the miss queue"),                                        \
        STAT_NAMED(T, m.wait_cycles[DMA_WAIT_PRIORITY - 1], "dma_priority_stall_cycles", "cycles",           \
                   "In which one of them waited for the processor side")

static inline bool dma_port_is_token(uint32_t token) {
    return (token >> 30) == 1;
}

/* After the access of this cycle: takes a request of the engine, if there is one and it may. Returns when to
 * look again, at the latest `again`. */
uint64_t dma_port_take(CacheObject *object, L1DmaPort *port, uint64_t again, uint64_t now);
/* Passes an answer on; false when the link has no room. */
bool dma_port_answer(CacheObject *object, L1DmaPort *port, const MemMessage *m, uint64_t now);
/* The link that requests of this one go on by with their route, or NULL: it is not that of the port. */
const Link *dma_port_onward(const CacheObject *object, const L1DmaPort *port, const Link *requests);
void dma_port_settle(L1DmaPort *port, const Cache *cache, uint64_t cycle);

#endif
