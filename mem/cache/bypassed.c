#include "mem/cache/bypassed.h"

#include "core/sim/checkpoint/snapshot.h"
#include "mem/cache/cache_access.h"
#include "mem/cache/cache_sound.h"

void bypassed_build(BypassedRequests *bypassed) {
    bypassed->places = bypassed->limit;
}

/* So many of the MSHRs in use are held. */
static void hold(Mshr *mshr, uint64_t held) {
    mshr->used += held - mshr->held;
    mshr->held = held;
}

void bypassed_convert(CacheObject *object, BypassedRequests *bypassed) {
    uint32_t before = bypassed->places, places = bypassed->limit;
    hold(&object->cache.mshr, bypassed->hold_mshrs ? bypassed->reads : 0);
    if (places <= before) return;
    bypassed->original = array_grown(bypassed->original, before, places, sizeof *bypassed->original);
    bypassed->released = array_grown(bypassed->released, before, places, sizeof *bypassed->released);
    bypassed->places = places;
}

Stall bypassed_stall(const CacheObject *object, const BypassedRequests *bypassed, const MemMessage *m,
                     bool dirty) {
    if (!(m->flags & MEM_POSTED) && bypassed->count >= bypassed->limit) return STALL_BYPASSED;
    return cache_miss_queue_room(&object->cache) < 1u + dirty ? STALL_MISS_QUEUE : STALL_NONE;
}

/* The same for the request at the tags, a read among them, which need not be tried again before there is an MSHR or room in
 * the miss queue. */
static Stall stall_at_tags(CacheObject *object, const BypassedRequests *bypassed, const MemMessage *m,
                           const Lookup *at, bool dirty) {
    bool holds = (bypassed->hold_mshrs != 0) & (m->kind == MEM_READ) & !(m->flags & MEM_POSTED);
    if (holds && mshr_full(&object->cache.mshr)) return cache_fail(&object->cache, at, STALL_MSHR_ENTRY, 0);
    Stall stall = bypassed_stall(object, bypassed, m, dirty);
    return stall == STALL_MISS_QUEUE ? cache_fail(&object->cache, at, stall, 1u + dirty) : stall;
}

static uint32_t keep_original(CacheObject *object, BypassedRequests *bypassed, const MemMessage *m) {
    uint32_t place = bypassed->released_count ? bypassed->released[--bypassed->released_count]
                                              : bypassed->fresh++;
    bypassed->original[place] = *m;
    bypassed->count++;
    bypassed->reads += m->kind == MEM_READ;
    if (bypassed->hold_mshrs) hold(&object->cache.mshr, bypassed->reads);
    audit_enter(&object->obj, QUEUE_BYPASSED, place);
    return place;
}

void pass_on(CacheObject *object, BypassedRequests *bypassed, const MemMessage *m) {
    MemMessage *sent = cache_send_down(&object->cache, 0);
    *sent = *m;
    /* The next cache has policies, and tags, of its own. */
    sent->flags &= (uint8_t) ~(MEM_ASKED | MEM_BYPASSED | MEM_FOUND);
    sent->token = m->flags & MEM_POSTED ? m->token : BYPASSED_TOKEN | keep_original(object, bypassed, m);
    mem_begin_route(sent);
}

void bypassed_answer(CacheObject *object, BypassedRequests *bypassed, const MemMessage *response,
                     uint64_t now) {
    uint32_t place = response->token & ~BYPASSED_TOKEN;
    ensure(place < bypassed->fresh);
    cache_respond(object->cpu.send, &bypassed->original[place], response->flags & MEM_HIT, now);
    bypassed->released[bypassed->released_count++] = place;
    bypassed->count--;
    bypassed->reads -= bypassed->original[place].kind == MEM_READ;
    if (bypassed->hold_mshrs) hold(&object->cache.mshr, bypassed->reads);
    bypassed->answered++;
    audit_leave(&object->obj, QUEUE_BYPASSED, place);
}

Stall pass_and_drop(CacheObject *object, BypassedRequests *bypassed, const MemMessage *m, const Lookup *at,
                    Result result, uint64_t now) {
    Stall stall = stall_at_tags(object, bypassed, m, at, cache_is_dirty(&object->cache, at->line));
    if (stall) return stall;
    cache_count(&object->cache, m, at, result); /* observers see the line that it found */
    if (at->line != NO_LINE && !mem_is_line_only(m)) cache_drop(&object->cache, at->line, now);
    pass_on(object, bypassed, m);
    return STALL_NONE;
}

Stall pass_while_off(CacheObject *object, BypassedRequests *bypassed, const MemMessage *m, const Lookup *at,
                     uint64_t now) {
    Cache *c = &object->cache;
    Stall stall = stall_at_tags(object, bypassed, m, at, false);
    if (stall) return stall;
    bool absent = at->line == NO_LINE;
    uint32_t line = absent ? cache_candidate(c, m, at->set) : at->line;
    bool dirty = absent ? cache_victim_is_dirty(c, at->set, line) : cache_is_dirty(c, line);
    stall = stall_at_tags(object, bypassed, m, at, dirty);
    if (stall) return stall;
    bool is_read = m->kind == MEM_READ;
    if (absent) {
        bypassed->off_misses++;
        bypassed->off_read_misses += is_read;
        line = cache_victim(c, m, at->set, line);
        if (line != NO_LINE) cache_replace(c, line, at, m, now);
    } else {
        bypassed->off_hits++;
        bypassed->off_read_hits += is_read;
        cache_write_back(c, line, now);
        if (m->kind == MEM_WRITE) c->tags.line[line].valid = 0;
        cache_use_line(c, m, line);
    }
    pass_on(object, bypassed, m);
    cache_count(c, m, at, RESULT_BYPASS);
    return STALL_NONE;
}

/* Of the first places, or of those in the list of free ones. */
static uint32_t count_reads(const BypassedRequests *bypassed) {
    uint32_t reads = 0;
    for (uint32_t i = 0; i < bypassed->fresh; i++)
        reads += bypassed->original[i].kind == MEM_READ;
    for (uint32_t i = 0; i < bypassed->released_count; i++)
        reads -= bypassed->original[bypassed->released[i]].kind == MEM_READ;
    return reads;
}

/* Free places keep what was in them. */
void bypassed_is_sound(const SimObject *object, const BypassedRequests *bypassed, bool fits) {
    const char *path = object_path(object);
    sound(bypassed->fresh <= bypassed->places && bypassed->released_count <= bypassed->fresh &&
              bypassed->count == bypassed->fresh - bypassed->released_count &&
              (!fits || bypassed->limit <= bypassed->places),
          "%s.bypassed: %u requests, %u places, %u ever used, %u released", path, bypassed->count,
          bypassed->places, bypassed->fresh, bypassed->released_count);
    stack_is_sound(path, "bypassed.released", bypassed->released, bypassed->released_count, bypassed->fresh);
    for (uint32_t i = 0; i < bypassed->fresh; i++)
        mem_message_is_sound(path, &bypassed->original[i]);
    sound(bypassed->reads == count_reads(bypassed), "%s.bypassed: %u reads", path, bypassed->reads);
    uint64_t held = ((const CacheObject *)object)->cache.mshr.held;
    sound(!fits || held == (bypassed->hold_mshrs ? bypassed->reads : 0), "%s.mshr.held: %lu", path, held);
}

void bypassed_report(const SimObject *object, const BypassedRequests *bypassed, FILE *out) {
    if (bypassed->count)
        fprintf(out, "%s: %u requests that passed through are not answered\n", object_path(object),
                bypassed->count);
}
