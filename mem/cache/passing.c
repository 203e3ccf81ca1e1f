#include "mem/cache/passing.h"

#include "core/sim/checkpoint/snapshot.h"
#include "mem/cache/cache_sound.h"

void passing_build(Passing *passing) {
    passing->places = passing->limit;
}

void passing_make_room(Passing *passing) {
    uint32_t before = passing->places, places = passing->limit;
    if (places <= before) return;
    passing->original = array_grown(passing->original, before, places, sizeof *passing->original);
    passing->released = array_grown(passing->released, before, places, sizeof *passing->released);
    passing->places = places;
}

Stall passing_stall(const CacheObject *object, const Passing *passing, const MemMessage *m, bool dirty) {
    if (!(m->flags & MEM_POSTED) && passing->count >= passing->limit) return STALL_PASSING;
    return cache_miss_queue_room(&object->cache) < 1u + dirty ? STALL_MISS_QUEUE : STALL_NONE;
}

/* The same for the request at the tags, which need not be tried again before the miss queue has room. */
static Stall stall_at_tags(CacheObject *object, const Passing *passing, const MemMessage *m, const Lookup *at,
                           bool dirty) {
    Stall stall = passing_stall(object, passing, m, dirty);
    return stall == STALL_MISS_QUEUE ? cache_fail(&object->cache, at, stall, 1u + dirty) : stall;
}

static uint32_t keep_original(CacheObject *object, Passing *passing, const MemMessage *m) {
    uint32_t place = passing->released_count ? passing->released[--passing->released_count]
                                             : passing->fresh++;
    passing->original[place] = *m;
    passing->count++;
    audit_enter(&object->obj, QUEUE_PASSING, place);
    return place;
}

void pass_on(CacheObject *object, Passing *passing, const MemMessage *m) {
    MemMessage *sent = cache_send_down(&object->cache, 0);
    *sent = *m;
    sent->flags &= (uint8_t) ~(MEM_ASKED | MEM_BYPASSED); /* the next cache has policies of its own */
    sent->token = m->flags & MEM_POSTED ? 0 : PASSING_TOKEN | keep_original(object, passing, m);
    sent->route_depth = 0;
}

void passing_answer(CacheObject *object, Passing *passing, const MemMessage *response, uint64_t now) {
    uint32_t place = response->token & ~PASSING_TOKEN;
    ensure(place < passing->fresh);
    cache_respond(object->cpu.send, &passing->original[place], response->flags & MEM_HIT, now);
    passing->released[passing->released_count++] = place;
    passing->count--;
    passing->answered++;
    audit_leave(&object->obj, QUEUE_PASSING, place);
}

Stall pass_and_drop(CacheObject *object, Passing *passing, const MemMessage *m, const Lookup *at,
                    Result result, uint64_t now) {
    Stall stall = stall_at_tags(object, passing, m, at, cache_is_dirty(&object->cache, at->line));
    if (stall) return stall;
    cache_count(&object->cache, m, result); /* observers see the line that it found */
    if (at->line != NO_LINE) cache_drop(&object->cache, at->line, now);
    pass_on(object, passing, m);
    return STALL_NONE;
}

Stall pass_while_off(CacheObject *object, Passing *passing, const MemMessage *m, const Lookup *at,
                     uint64_t now) {
    Cache *c = &object->cache;
    Stall stall = stall_at_tags(object, passing, m, at, false);
    if (stall) return stall;
    bool absent = at->line == NO_LINE;
    uint32_t line = absent ? cache_candidate(c, at->set) : at->line;
    bool dirty = absent ? cache_victim_is_dirty(c, at->set, line) : cache_is_dirty(c, line);
    stall = stall_at_tags(object, passing, m, at, dirty);
    if (stall) return stall;
    if (absent) {
        passing->off_misses++;
        line = cache_victim(c, at->set, line);
        if (line != NO_LINE) cache_replace(c, line, at, m, now);
    } else {
        passing->off_hits++;
        cache_write_back(c, line, now);
        if (m->kind == MEM_WRITE) c->tags.line[line].valid = 0;
        tag_touch(&c->tags, line);
    }
    pass_on(object, passing, m);
    cache_count(c, m, RESULT_BYPASS);
    return STALL_NONE;
}

/* Free places keep what was in them. */
void passing_is_sound(const SimObject *object, const Passing *passing, bool fits) {
    const char *path = object_path(object);
    sound(passing->fresh <= passing->places && passing->released_count <= passing->fresh &&
              passing->count == passing->fresh - passing->released_count &&
              (!fits || passing->limit <= passing->places),
          "%s.passing: %u requests, %u places, %u ever used, %u released", path, passing->count,
          passing->places, passing->fresh, passing->released_count);
    stack_is_sound(path, "passing.released", passing->released, passing->released_count, passing->fresh);
    for (uint32_t i = 0; i < passing->fresh; i++)
        mem_message_is_sound(path, &passing->original[i]);
}

void passing_report(const SimObject *object, const Passing *passing, FILE *out) {
    if (passing->count)
        fprintf(out, "%s: %u requests that passed through are not answered\n", object_path(object),
                passing->count);
}
