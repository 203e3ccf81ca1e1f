#include "mem/cache/untimed.h"

#include "mem/cache/line_bytes.h"

bool untimed_pass(const CacheObject *object, const MemMessage *m) {
    return link_send_untimed(object->mem.send, m);
}

/* Is there somebody below who remembers requests? */
static inline bool reaches_others(const CacheObject *object) {
    return link_takes_untimed(object->mem.send);
}

static __attribute__((noinline)) void send_write_back(CacheObject *object, uint32_t line) {
    MemMessage message = cache_write_back_message(&object->cache, line, object->obj.sim->now);
    untimed_pass(object, &message);
}

static inline void write_back(CacheObject *object, uint32_t line) {
    Cache *c = &object->cache;
    if (!c->tags.line[line].dirty) return;
    if (reaches_others(object)) send_write_back(object, line);
    c->tags.line[line].dirty = 0;
    c->written[line] = 0;
}

static __attribute__((noinline)) void send_fetch(const CacheObject *object, const MemMessage *m,
                                                 const Lookup *at, uint32_t sectors) {
    const TagShape *shape = &object->cache.tags.shape;
    /* Member by member: the host would have to wait for all of them to copy them at once. */
    MemMessage message = {
        .issued = m->issued,
        .lanes = m->lanes,
        .pc = m->pc,
        .cta = m->cta,
        .bytes = (uint16_t)(1u << shape->sector_shift),
        .sm = m->sm,
        .warp = m->warp,
        .kind = MEM_READ,
        .flags = m->flags & (MEM_LOCAL | MEM_INSTRUCTION),
        .class_number = m->class_number,
    };
    for (; sectors; sectors &= sectors - 1) {
        message.address = at->line_address + ((uint64_t)__builtin_ctz(sectors) << shape->sector_shift);
        untimed_pass(object, &message);
    }
}

static inline void fetch(const CacheObject *object, const MemMessage *m, const Lookup *at, uint32_t sectors) {
    if (sectors && reaches_others(object)) send_fetch(object, m, at, sectors);
}

/* What the tags count of lines that classes spare or let in low stays as it is. */
static void install(Cache *c, uint32_t line, const Lookup *at, const MemMessage *m) {
    uint64_t evictions = c->tags.protected_evictions, insertions = c->tags.low_priority_insertions;
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->replaced) o->replaced(o, line);
    cache_install(c, line, at->line_address, m);
    c->tags.protected_evictions = evictions;
    c->tags.low_priority_insertions = insertions;
}

static __attribute__((noinline)) bool take_another_line(CacheObject *object, const MemMessage *m,
                                                        Lookup *at) {
    Cache *c = &object->cache;
    at->line = cache_candidate(c, m, at->set);
    if (at->line == NO_LINE) return false;
    write_back(object, at->line);
    install(c, at->line, at, m);
    return true;
}

/* Uses the line that was found, or takes one. */
static inline bool take_line(CacheObject *object, const MemMessage *m, Lookup *at) {
    Cache *c = &object->cache;
    cache_forget_failed_try(c);
    if (at->line == NO_LINE) return take_another_line(object, m, at);
    cache_use_line(c, m, at->line);
    return true;
}

bool untimed_drop_and_pass(CacheObject *object, const MemMessage *m, const Lookup *at) {
    if (at->line != NO_LINE && !mem_is_line_only(m)) {
        write_back(object, at->line);
        cache_forget_failed_try(&object->cache);
        tag_invalidate(&object->cache.tags, at->line);
    }
    return untimed_pass(object, m);
}

bool untimed_read(CacheObject *object, const MemMessage *m, Lookup *at) {
    Cache *c = &object->cache;
    if (!take_line(object, m, at)) return untimed_pass(object, m);
    TagLine *line = &c->tags.line[at->line];
    uint32_t absent = at->sectors & ~(uint32_t)(line->valid | line->reserved);
    line->valid |= (uint8_t)absent;
    fetch(object, m, at, absent);
    return !absent;
}

bool untimed_write(CacheObject *object, const MemMessage *m, Lookup *at, bool lazy) {
    Cache *c = &object->cache;
    if (!take_line(object, m, at)) return untimed_pass(object, m);
    TagLine *line = &c->tags.line[at->line];
    ByteMask written = bytes_written_by(m) | c->written[at->line];
    uint32_t open = at->sectors & ~(uint32_t)(line->valid | line->reserved);
    uint32_t complete = complete_sectors(&c->tags.shape, at->line_address, open, written);
    uint32_t fetched = lazy ? 0 : open & ~complete;
    line->valid |= (uint8_t)(complete | fetched);
    line->dirty |= (uint8_t)at->sectors;
    c->written[at->line] = written;
    fetch(object, m, at, fetched);
    return !open;
}

bool untimed_pass_while_off(CacheObject *object, const MemMessage *m, Lookup *at) {
    if (at->line != NO_LINE) {
        write_back(object, at->line);
        if (m->kind == MEM_WRITE) object->cache.tags.line[at->line].valid = 0;
    }
    take_line(object, m, at);
    return untimed_pass(object, m);
}
