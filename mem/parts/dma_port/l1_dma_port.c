#include "mem/parts/dma_port/l1_dma_port.h"

#include "mem/cache/cache_access.h"

void dma_port_settle(L1DmaPort *port, const Cache *cache, uint64_t cycle) {
    if (cycle <= port->since) return;
    port->mshr_cycles += cache->mshr.lent * (cycle - port->since);
    if (port->wait) port->wait_cycles[port->wait - 1] += cycle - port->since;
    port->since = cycle;
}

/* Accesses so far that took an MSHR or a place in the miss queue: those that fetch or are passed on. Counted
 * with their results, so that a cache without an engine need not look. */
static uint64_t needs(const Cache *c) {
    const CacheStats *stats = &c->stats;
    return stats->results[RESULT_MISS] + stats->results[RESULT_BYPASS] +
           stats->stream_results[STREAM_WRITE][RESULT_HIT] + stats->write_backs;
}

/* Did the access of this cycle need one, or is it stopped for want of one? */
static bool processor_needs(const Cache *c, const L1DmaPort *port) {
    return needs(c) != port->seen || c->stall == STALL_MSHR_ENTRY || c->stall == STALL_MISS_QUEUE;
}

static _Noreturn COLD void refuse(const CacheObject *object, const MemMessage *m) {
    static const char *const kinds[] = {"a read", "a write", "an atomic"};
    const char *path = object_path(&object->obj);
    user_error(
        "%s.dma: expected reads of a DMA engine, got %s of %u B at 0x%lx by sm %u warp %u that no engine "
        "has sent; other accesses go to %s.cpu",
        path, kinds[m->kind], m->bytes, m->address, m->sm, m->warp, path);
}

/* It goes on as it came, with the route that leads its answer back through the networks in front of the port:
 * nothing is kept of it. */
static void take(CacheObject *object, L1DmaPort *port, const MemMessage *m) {
    Cache *c = &object->cache;
    if (m->token >= DMA_TOKEN || m->kind != MEM_READ) refuse(object, m);
    MemMessage *sent = cache_send_down(c, 0);
    *sent = *m;
    sent->token |= DMA_TOKEN;
    c->mshr.used++;
    c->mshr.lent++;
    port->requests++;
}

const Link *dma_port_onward(const CacheObject *object, const L1DmaPort *port, const Link *requests) {
    return requests == port->port.receive ? object->mem.send : NULL;
}

uint64_t dma_port_take(CacheObject *object, L1DmaPort *port, uint64_t again, uint64_t now) {
    Cache *c = &object->cache;
    const MemMessage *m = link_peek(port->port.receive, now);
    dma_port_settle(port, c, object_cycle(&object->obj, now));
    port->wait = DMA_WAIT_NONE;
    if (m) {
        port->wait = mshr_full(&c->mshr)         ? DMA_WAIT_MSHR
                     : !cache_miss_queue_room(c) ? DMA_WAIT_MISS_QUEUE
                     : processor_needs(c, port)  ? DMA_WAIT_PRIORITY
                                                 : DMA_WAIT_NONE;
    }
    port->seen = needs(c);
    if (m && !port->wait) {
        take(object, port, m);
        link_pop(port->port.receive, now);
        object_progress(&object->obj);
    }
    /* What it waits for comes with a tick that has another reason, unless it is only that it has to be
     * second. */
    uint64_t next = port->wait == DMA_WAIT_MSHR || port->wait == DMA_WAIT_MISS_QUEUE ? NEVER
                    : port->wait                                                     ? now + c->period
                                 : link_next_ready(port->port.receive);
    return next < again ? next : again;
}

bool dma_port_answer(CacheObject *object, L1DmaPort *port, const MemMessage *m, uint64_t now) {
    Cache *c = &object->cache;
    if (!link_can_send(port->port.send, now)) return false;
    ensure(c->mshr.lent);
    dma_port_settle(port, c, object_cycle(&object->obj, now));
    MemMessage *answer = link_send(port->port.send, now);
    *answer = *m;
    answer->token &= ~DMA_TOKEN;
    c->mshr.used--;
    c->mshr.lent--;
    return true;
}
