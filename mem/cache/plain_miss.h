/* The miss as it mostly is: of a request that finds no line and takes one at once, in a cache of which nobody asks or sees
 * anything and in which use alone says what is replaced. It is cache_miss() without what the other misses need. */
#ifndef WW_MEM_PLAIN_MISS_H
#define WW_MEM_PLAIN_MISS_H

#include "mem/cache/cache_access.h"

/* Are misses without a line of this kind? */
static inline bool cache_is_plain(const Cache *c) {
    bool seen = cache_owner(c)->subscribed != 0, at_once = c->parameters.allocate == ALLOCATE_ON_MISS;
    bool by_use = tag_is_plain(&c->tags);
    return !seen & at_once & by_use;
}

/* A fetch of these sectors for an entry of the MSHRs. */
static inline __attribute__((always_inline)) void
cache_queue_fetch(Cache *c, const MemMessage *m, const Lookup *at, uint32_t entry, uint32_t sectors) {
    MemMessage *fetch = cache_send_down(c, sectors);
    *fetch = *m;
    fetch->payload = mem_is_prefetch(m) ? MEM_PREFETCH : 0;
    fetch->kind = MEM_READ;
    fetch->address = at->line_address;
    fetch->bytes = (uint8_t)(1u << c->tags.shape.sector_shift);
    fetch->sectors = 0;
    fetch->token = entry;
    fetch->flags &= MEM_LOCAL | MEM_INSTRUCTION;
    fetch->byte_mask[0] = fetch->byte_mask[1] = 0;
    mem_begin_route(fetch);
}

/* As cache_fail(), of a request of which the next try need not look at the tags again. */
static inline Stall cache_fail_and_remember(Cache *c, const MemMessage *m, const Lookup *at, uint32_t victim,
                                            Stall stall, uint32_t messages) {
    cache_fail(c, at, stall, messages);
    Lookup kept = *at;
    /* Piece by piece: what has just been stored must not be read back in wider pieces. */
    __asm__("" : "+r"(kept.line_address), "+r"(kept.set), "+r"(kept.line), "+r"(kept.sectors));
    kept.victim = c->tags.order.bent ? 0 : victim + 1; /* NO_LINE + 1 is 0 */
    c->failed.at = kept;
    c->failed.uses = c->tags.uses;
    c->failed.request = m;
    return stall;
}

static inline __attribute__((always_inline)) Stall cache_plain_miss(Cache *c, const MemMessage *m, Lookup *at,
                                                                    uint64_t now) {
    uint32_t line = at->victim ? at->victim - 1 : tag_victim_by_use(&c->tags, at->set);
    if (__builtin_expect(line == NO_LINE, 0)) return cache_fail(c, at, STALL_LINE, 0);
    uint32_t messages = 1u + cache_is_dirty(c, line);
    Stall stall = mshr_full(&c->mshr)                   ? STALL_MSHR_ENTRY
                  : cache_miss_queue_room(c) < messages ? STALL_MISS_QUEUE
                                                        : STALL_NONE;
    if (__builtin_expect(stall != STALL_NONE, 0))
        return cache_fail_and_remember(c, m, at, line, stall, messages);
    c->stats.evictions += c->tags.tag[line] != 0;
    cache_write_back(c, line, now);
    tag_give(&c->tags, line, at->line_address, m->sm, m->warp, m->class_number);
    c->tags.line[line].reserved = (uint8_t)at->sectors;
    uint32_t entry = mshr_open_for(&c->mshr, at->line_address, at->set, line, m, at->sectors);
    cache_queue_fetch(c, m, at, entry, at->sectors);
    audit_enter(cache_owner(c), QUEUE_MSHRS, entry);
    audit_enter(cache_owner(c), QUEUE_WAITING, mshr_last_slot(&c->mshr, entry));
    at->line = line;
    cache_count(c, m, at, RESULT_MISS);
    return STALL_NONE;
}

#endif
