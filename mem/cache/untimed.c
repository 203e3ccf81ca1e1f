#include "mem/cache/untimed.h"

#include "mem/cache/cache_access.h"
#include "mem/cache/line_bytes.h"

void untimed_send_write_back(CacheObject *object, uint32_t line) {
    Cache *c = &object->cache;
    if (untimed_reaches_others(object)) {
        MemMessage message = cache_write_back_message(c, line, object->obj.sim->now);
        untimed_pass(object, &message);
    } else {
        object->obj.sim->untimed.sectors += (uint64_t)__builtin_popcount(c->tags.line[line].dirty);
    }
    c->tags.line[line].dirty = 0;
    c->written[line] = 0;
}

void untimed_send_fetch(const CacheObject *object, const MemMessage *m, uint64_t line_address,
                        uint32_t sectors) {
    const TagShape *shape = &object->cache.tags.shape;
    /* Member by member: the host would have to wait for all of them to copy them at once. */
    MemMessage message = {
        .issued = m->issued,
        .lanes = m->lanes,
        .pc = m->pc,
        .cta = m->cta,
        .bytes = (uint8_t)(1u << shape->sector_shift),
        .sm = m->sm,
        .warp = m->warp,
        .kind = MEM_READ,
        .flags = m->flags & (MEM_LOCAL | MEM_INSTRUCTION),
        .class_number = m->class_number,
    };
    for (; sectors; sectors &= sectors - 1) {
        message.address = line_address + ((uint64_t)__builtin_ctz(sectors) << shape->sector_shift);
        untimed_pass(object, &message);
    }
}

void untimed_tell(const Cache *c, uint64_t address) {
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->untold) o->untold(o, address);
}

/* What the tags count of lines that classes spare or let in low stays as it is. */
void untimed_install_otherwise(Cache *c, const MemMessage *m, uint32_t line, uint64_t line_address) {
    uint64_t evictions = c->tags.protected_evictions, insertions = c->tags.low_priority_insertions;
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->replaced) o->replaced(o, line);
    cache_install(c, line, line_address, m);
    untimed_tell(c, line_address);
    c->tags.protected_evictions = evictions;
    c->tags.low_priority_insertions = insertions;
}

UntimedAnswer untimed_drop_and_pass(CacheObject *object, const MemMessage *m, const Lookup *at) {
    if (at->line != NO_LINE && !mem_is_line_only(m)) {
        untimed_write_back(object, at->line);
        cache_forget_failed_try(&object->cache);
        tag_invalidate(&object->cache.tags, at->line);
    }
    return untimed_pass(object, m);
}

UntimedAnswer untimed_write(CacheObject *object, const MemMessage *m, Lookup *at, bool lazy) {
    Cache *c = &object->cache;
    if (!untimed_take_line(object, m, at)) return untimed_pass(object, m);
    TagLine *line = &c->tags.line[at->line];
    ByteMask written = bytes_written_by(m) | c->written[at->line];
    uint32_t open = at->sectors & ~(uint32_t)(line->valid | line->reserved);
    uint32_t complete = complete_sectors(&c->tags.shape, at->line_address, open, written);
    uint32_t fetched = lazy ? 0 : open & ~complete;
    line->valid |= (uint8_t)(complete | fetched);
    line->dirty |= (uint8_t)at->sectors;
    c->written[at->line] = written;
    untimed_fetch(object, m, at->line_address, fetched);
    return open ? UNTIMED_MISSES : UNTIMED_HITS;
}

UntimedAnswer untimed_pass_while_off(CacheObject *object, const MemMessage *m, Lookup *at) {
    if (at->line != NO_LINE) {
        untimed_write_back(object, at->line);
        if (m->kind == MEM_WRITE) object->cache.tags.line[at->line].valid = 0;
    }
    untimed_take_line(object, m, at);
    return untimed_pass(object, m);
}
