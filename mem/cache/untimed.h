/* Accesses without timing: see Class.take_untimed. Tags, replacement order, dirty sectors and written bytes become what
 * the accesses would have left, each done before the next one comes. */
#ifndef WW_MEM_UNTIMED_H
#define WW_MEM_UNTIMED_H

#include "mem/cache/cache_access.h"

/* Each returns whether the cache had the sectors, or what a cache below answers to a request that is sent on. Only the
 * first cache says that a request repeats: those before it may have changed by it. */

/* Sent on as it came. */
static inline UntimedAnswer untimed_pass(const CacheObject *object, const MemMessage *m) {
    if (!link_takes_untimed(object->mem.send)) object->obj.sim->untimed.sectors++;
    return link_send_untimed(object->mem.send, m) == UNTIMED_MISSES ? UNTIMED_MISSES : UNTIMED_HITS;
}
/* The line found, if any, is written back and forgotten; the request is sent on. */
UntimedAnswer untimed_drop_and_pass(CacheObject *object, const MemMessage *m, const Lookup *at);
/* Uses the line that was found, or takes one, which holds nothing yet. False: no way of the set is to be had. */
static inline bool untimed_take_line(CacheObject *object, const MemMessage *m, Lookup *at);
/* The sectors are there afterwards. The request is sent on when every way that it may take is reserved. */
static inline UntimedAnswer untimed_read(CacheObject *object, const MemMessage *m, Lookup *at);
/* The same of cache_write(). */
UntimedAnswer untimed_write(CacheObject *object, const MemMessage *m, Lookup *at, bool lazy);
/* Switched off: tags are kept up to date, and the request is sent on. */
UntimedAnswer untimed_pass_while_off(CacheObject *object, const MemMessage *m, Lookup *at);

/* Implementation: in a header, because most of what an access without timing takes would be calls and returns. */

/* To the observers that keep lines of their own. */
void untimed_tell(const Cache *c, uint64_t address);
void untimed_send_write_back(CacheObject *object, uint32_t line);
void untimed_install_otherwise(Cache *c, const MemMessage *m, uint32_t line, uint64_t line_address);
void untimed_send_fetch(const CacheObject *object, const MemMessage *m, uint64_t line_address,
                        uint32_t sectors);

/* Is there somebody below who remembers requests? */
static inline bool untimed_reaches_others(const CacheObject *object) {
    return link_takes_untimed(object->mem.send);
}

static inline void untimed_write_back(CacheObject *object, uint32_t line) {
    TagLine *old = &object->cache.tags.line[line];
    if (__builtin_expect(old->dirty != 0, 0)) untimed_send_write_back(object, line);
}

static inline bool untimed_take_another_line(CacheObject *object, const MemMessage *m, Lookup *at) {
    Cache *c = &object->cache;
    bool is_plain = tag_is_plain(&c->tags) & !c->observers;
    at->line = is_plain ? tag_victim_by_use(&c->tags, at->set) : cache_candidate(c, m, at->set);
    if (__builtin_expect(at->line == NO_LINE, 0)) return false;
    untimed_write_back(object, at->line);
    if (is_plain)
        tag_give(&c->tags, at->line, at->line_address, m->sm, m->warp, m->class_number);
    else
        untimed_install_otherwise(c, m, at->line, at->line_address);
    return true;
}

static inline bool untimed_take_line(CacheObject *object, const MemMessage *m, Lookup *at) {
    cache_forget_failed_try(&object->cache);
    if (at->line == NO_LINE) return untimed_take_another_line(object, m, at);
    const TagLine *line = &object->cache.tags.line[at->line];
    uint32_t known = line->valid | line->reserved | (m->kind == MEM_WRITE ? line->dirty : 0u);
    cache_reach_line_untold(&object->cache, m, at->line, (at->sectors & ~known) == 0);
    return true;
}

static inline void untimed_fetch(const CacheObject *object, const MemMessage *m, uint64_t line_address,
                                 uint32_t sectors) {
    if (!sectors) return;
    if (untimed_reaches_others(object))
        untimed_send_fetch(object, m, line_address, sectors);
    else
        object->obj.sim->untimed.sectors += (uint64_t)__builtin_popcount(sectors);
}

static inline UntimedAnswer untimed_read(CacheObject *object, const MemMessage *m, Lookup *at) {
    if (!untimed_take_line(object, m, at)) return untimed_pass(object, m);
    TagLine *line = &object->cache.tags.line[at->line];
    uint32_t absent = at->sectors & ~(uint32_t)(line->valid | line->reserved);
    line->valid |= (uint8_t)absent;
    untimed_fetch(object, m, at->line_address, absent);
    if (absent) return UNTIMED_MISSES;
    return tag_is_plain(&object->cache.tags) ? UNTIMED_REPEATS : UNTIMED_HITS;
}

#endif
