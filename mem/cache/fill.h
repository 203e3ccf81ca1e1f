/* What a cache does with the answers to its fetches. */
#ifndef WW_MEM_FILL_H
#define WW_MEM_FILL_H

#include "mem/cache/cache_access.h"

/* A line for an MSHR that was opened without one. When all ways of the set are reserved the data is not
 * kept. */
void cache_take_line_at_fill(Cache *c, MshrEntry *e, const MemMessage *m, uint64_t now);
COLD void cache_emit_fill(const Cache *c, const MemMessage *m, uint32_t set, uint32_t line);

/* The request that waits in the first slot of the entry, and nothing else does, is answered at once. */
static inline void cache_answer_one(Cache *c, uint32_t entry, Link *to_cpu, uint64_t now) {
    uint32_t slot = mshr_slot(&c->mshr.shape, entry, 0);
    cache_respond(to_cpu, &c->mshr.request[slot], 0, now);
    mshr_answer_one(&c->mshr, entry);
    audit_leave(cache_owner(c), QUEUE_WAITING, slot);
    audit_leave(cache_owner(c), QUEUE_MSHRS, entry);
}

/* Takes the answer to a fetch that this cache sent. When it wakes one request, and no other has been woken before, that
 * is answered, too. */
static inline __attribute__((always_inline)) void cache_fill(Cache *c, const MemMessage *m, Link *to_cpu,
                                                             uint64_t now) {
    ensure(m->token < c->mshr.fresh);
    uint32_t entry = (uint32_t)m->token;
    MshrEntry *e = &c->mshr.entry[entry];
    ensure(m->address - e->address < c->tags.shape.line_bytes);
    uint32_t sectors = tag_sectors(&c->tags.shape, m->address, m->bytes);
    if (e->line == NO_LINE) cache_take_line_at_fill(c, e, m, now);
    if (e->line != NO_LINE) {
        TagLine *line = &c->tags.line[e->line];
        line->reserved &= (uint8_t)~sectors;
        line->valid |= (uint8_t)sectors;
    }
    c->failed.stall &= -(uint64_t)(e->set != c->failed.set); /* STALL_NONE, where the line was wanted */
    c->stats.fills++;
    if (__builtin_expect(cache_owner(c)->subscribed & FILLS_SUBSCRIBED, 0))
        cache_emit_fill(c, m, e->set, e->line);
    if (mshr_wakes_one(&c->mshr, entry, sectors) && link_can_send(to_cpu, now)) {
        cache_answer_one(c, entry, to_cpu, now);
        return;
    }
    mshr_fill(&c->mshr, entry, sectors);
    if (mshr_is_free(&c->mshr, entry)) audit_leave(cache_owner(c), QUEUE_MSHRS, entry);
}

#endif
