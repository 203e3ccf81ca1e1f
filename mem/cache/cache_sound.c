/* Can the state of a cache be worked with? It was brought by a snapshot. */
#include "mem/cache/cache_sound.h"

#include <stdlib.h>

enum { LATENCY_MAX = 8192 }; /* cycles in front of the tags of any cache, generously */

bool tick_is_sound(const SimObject *object, uint64_t tick) {
    return tick % object->period == 0 && tick <= object->sim->now + LATENCY_MAX * object->period;
}

static bool is_power_of_two(uint32_t n) {
    return n && (n & (n - 1)) == 0;
}

void cache_request_is_sound(const CacheObject *object, const MemMessage *m) {
    const char *path = object_path(&object->obj);
    uint32_t line = object->cache.tags.shape.line_bytes;
    mem_message_is_sound(path, m);
    sound((m->address & (line - 1)) + m->bytes <= line, "%s: a request for %u B at 0x%lx", path, m->bytes,
          m->address);
}

/* What is on its way goes on in its time when a resumed run has another latency. */
void delay_queue_is_sound(const CacheObject *object, const DelayQueue *queue, const char *name) {
    const char *path = object_path(&object->obj);
    uint64_t period = object->obj.period, latest = object->obj.sim->now + LATENCY_MAX * period;
    sound(is_power_of_two(queue->slots) && queue->first < queue->slots && queue->count <= queue->slots,
          "%s.%s: %u of %u from %u on", path, name, queue->count, queue->slots, queue->first);
    for (uint32_t i = 0; i < queue->count; i++) {
        uint32_t slot = (queue->first + i) & (queue->slots - 1);
        sound(queue->ready[slot] <= latest && queue->ready[slot] % period == 0, "%s.%s: ready at tick %lu",
              path, name, queue->ready[slot]);
        cache_request_is_sound(object, &queue->message[slot]);
    }
}

void stack_is_sound(const char *path, const char *name, const uint32_t *stack, uint32_t count,
                    uint32_t limit) {
    uint8_t *seen = calloc(limit + 1, 1);
    bool good = seen && count <= limit;
    for (uint32_t i = 0; good && i < count; i++)
        good = stack[i] < limit && !seen[stack[i]]++;
    free(seen);
    sound(good, "%s.%s: %u free ones of %u", path, name, count, limit);
}

/* --- MSHRs */

static void shape_is_sound(const char *path, const MshrShape *shape) {
    MshrShape made;
    sound(shape->places && shape->places <= MSHR_PLACES_MAX, "%s.mshr: %u places", path, shape->places);
    mshr_shape_init(&made, shape->places, 1);
    sound(shape->entry_shift == made.entry_shift && mshr_slots_per_entry(shape) >= 1 &&
              mshr_slots_per_entry(shape) <= UINT16_MAX &&
              mshr_slot(shape, 0, mshr_slots_per_entry(shape)) == shape->slots,
          "%s.mshr: %u places, %u slots", path, shape->places, shape->slots);
    sound(is_power_of_two(shape->buckets) && shape->buckets > shape->places &&
              shape->bucket_shift == 64 - (uint32_t)__builtin_ctz(shape->buckets),
          "%s.mshr: %u buckets", path, shape->buckets);
}

/* What a limit that was raised on a resume allows, there is room for by then. */
static void has_room(const char *path, const MshrShape *shape) {
    sound(shape->entries <= shape->places, "%s.mshr: room for %u entries", path, shape->places);
}

static bool is_released(const Mshr *mshr, uint32_t entry) {
    return mshr_is_free(mshr, entry);
}

/* Its set is that of the cache that it comes from. */
static void entry_is_sound(const CacheObject *object, uint32_t number, bool fits) {
    const Cache *c = &object->cache;
    const MshrEntry *e = &c->mshr.entry[number];
    const char *path = object_path(&object->obj);
    uint32_t waits = 0;
    sound((e->pending & ~c->tags.shape.all_sectors) == 0 &&
              e->merged <= mshr_slots_per_entry(&c->mshr.shape) && e->waiting <= e->merged,
          "%s: MSHR %u", path, number);
    if (is_released(&c->mshr, number)) return;
    sound(e->address == tag_line_address(&c->tags.shape, e->address) && e->address >> MAX_ADDRESS_BITS == 0 &&
              (!fits || e->set < c->tags.shape.sets),
          "%s: MSHR %u: the line of 0x%lx, set %u", path, number, e->address, e->set);
    sound((e->prefetched & ~e->pending) == 0, "%s: MSHR %u: what it prefetches does not come", path, number);
    for (uint32_t i = 0; i < e->merged; i++) {
        uint32_t slot = mshr_slot(&c->mshr.shape, number, i), missing = c->mshr.missing[slot];
        sound((missing & ~e->pending) == 0, "%s: MSHR %u: request %u misses what does not come", path, number,
              i);
        waits += missing != 0;
        cache_request_is_sound(object, &c->mshr.request[slot]);
    }
    sound(waits <= e->waiting, "%s: MSHR %u: %u of %u requests wait", path, number, waits, e->waiting);
}

/* Those in use are in the table, one for each line, and nothing else is, unless it has hints. */
static void mshr_table_is_sound(const char *path, const Mshr *mshr) {
    uint32_t entries = 0, pending = 0;
    for (uint32_t b = 0; b < mshr->shape.buckets; b++) {
        sound(mshr->bucket[b] <= mshr->fresh, "%s.mshr: bucket %u", path, b);
        entries += mshr->bucket[b] != 0;
    }
    for (uint32_t e = 0; e < mshr->fresh; e++)
        pending += mshr->entry[e].pending != 0;
    sound(entries == pending || mshr->shape.hints, "%s.mshr: %u buckets in use for %u lines", path, entries,
          pending);
    for (uint32_t e = 0; e < mshr->fresh; e++)
        if (mshr->entry[e].pending)
            sound(mshr_find(mshr, mshr->entry[e].address) == e, "%s: MSHR %u is not found", path, e);
}

/* Each woken request is one that waits for no data: so many as its entry says wait for something. */
static void woken_are_sound(const char *path, const Mshr *mshr) {
    uint32_t slots = mshr->shape.slots;
    sound(mshr->woken_first < slots && mshr->woken_count <= slots, "%s.mshr: %u woken requests", path,
          mshr->woken_count);
    uint16_t *awaits = calloc(mshr->fresh + 1, sizeof *awaits);
    uint8_t *seen = calloc(slots + 1, 1);
    bool good = awaits && seen;
    for (uint32_t i = 0; good && i < mshr->woken_count; i++) {
        uint32_t slot = mshr->woken[(mshr->woken_first + i) % slots], e = mshr_entry_of(&mshr->shape, slot);
        good = slot < slots && e < mshr->fresh && !seen[slot]++ &&
               slot >> mshr->shape.entry_shift < mshr->entry[e].merged && !mshr->missing[slot];
        if (good) awaits[e]++;
    }
    for (uint32_t e = 0; good && e < mshr->fresh; e++) {
        for (uint32_t i = 0; i < mshr->entry[e].merged; i++)
            if (mshr->missing[mshr_slot(&mshr->shape, e, i)]) awaits[e]++;
        good = awaits[e] == mshr->entry[e].waiting;
    }
    free(awaits);
    free(seen);
    sound(good, "%s.mshr: woken requests", path);
}

static void mshrs_are_sound(const CacheObject *object, bool fits) {
    const Mshr *mshr = &object->cache.mshr;
    const char *path = object_path(&object->obj);
    shape_is_sound(path, &mshr->shape);
    sound(mshr->fresh <= mshr->shape.places && mshr->released_count <= mshr->fresh &&
              mshr->lent <= mshr->used && mshr->held <= mshr->used - mshr->lent &&
              mshr->used - mshr->lent - mshr->held == mshr->fresh - mshr->released_count,
          "%s.mshr: %lu in use, %lu lent, %lu held, %u ever used, %u released", path, mshr->used, mshr->lent,
          mshr->held, mshr->fresh, mshr->released_count);
    stack_is_sound(path, "mshr.released", mshr->released, mshr->released_count, mshr->fresh);
    for (uint32_t i = 0; i < mshr->released_count; i++)
        sound(is_released(mshr, mshr->released[i]), "%s: MSHR %u was released", path, mshr->released[i]);
    for (uint32_t e = 0; e < mshr->fresh; e++)
        entry_is_sound(object, e, fits);
    mshr_table_is_sound(path, mshr);
    woken_are_sound(path, mshr);
}

/* --- Lines */

static void lines_are_sound(const CacheObject *object) {
    const Cache *c = &object->cache;
    const char *path = object_path(&object->obj);
    tag_array_is_sound(&c->tags, path);
    for (uint32_t i = 0; i < c->tags.shape.lines; i++) {
        uint64_t address = tag_address(&c->tags, i);
        sound(address == tag_line_address(&c->tags.shape, address) && address >> MAX_ADDRESS_BITS == 0,
              "%s: line %u of 0x%lx", path, i, address);
        sound(c->tags.line[i].dirty || !c->written[i], "%s: bytes written in line %u", path, i);
    }
}

/* A fill finds its line, which waits for just these sectors. */
static void fills_are_sound(const CacheObject *object) {
    const Cache *c = &object->cache;
    const char *path = object_path(&object->obj);
    uint32_t reserved = 0, lines = 0;
    for (uint32_t e = 0; e < c->mshr.fresh; e++) {
        const MshrEntry *entry = &c->mshr.entry[e];
        if (!entry->pending || entry->line == NO_LINE) continue;
        sound(entry->line < c->tags.shape.lines && tag_address(&c->tags, entry->line) == entry->address &&
                  c->tags.line[entry->line].reserved == entry->pending,
              "%s: MSHR %u: its line %u", path, e, entry->line);
        lines++;
    }
    for (uint32_t i = 0; i < c->tags.shape.lines; i++)
        reserved += c->tags.line[i].reserved != 0;
    sound(reserved == lines, "%s: %u lines are reserved, by %u MSHRs", path, reserved, lines);
}

/* --- The miss queue */

static void misses_are_sound(const CacheObject *object) {
    const Cache *c = &object->cache;
    const MissQueue *queue = &c->misses;
    const char *path = object_path(&object->obj);
    sound(is_power_of_two(queue->slots) && queue->first < queue->slots && queue->count <= queue->slots,
          "%s.misses: %u of %u from %u on", path, queue->count, queue->slots, queue->first);
    for (uint32_t i = 0; i < queue->count; i++) {
        uint32_t slot = (queue->first + i) & (queue->slots - 1), sectors = queue->sectors[slot];
        const MemMessage *m = &queue->message[slot];
        cache_request_is_sound(object, m);
        if (!sectors) continue;
        sound(m->token < c->mshr.fresh && (sectors & ~c->mshr.entry[m->token].pending) == 0 &&
                  c->mshr.entry[m->token].address == m->address && m->kind == MEM_READ &&
                  m->bytes == 1u << c->tags.shape.sector_shift,
              "%s.misses: message %u fetches what no MSHR waits for", path, i);
    }
}

/* Lines that fills will push out, whether there is room in the queue for their write-backs or not. */
static uint32_t forced_messages(const Cache *c) {
    uint32_t forced = 0;
    for (uint32_t e = 0; e < c->mshr.fresh && c->parameters.allocate == ALLOCATE_ON_FILL; e++)
        forced += c->mshr.entry[e].pending && c->mshr.entry[e].line == NO_LINE;
    return forced;
}

/* As far as this machine lets them be filled. */
static void queues_have_room(const CacheObject *object) {
    const Cache *c = &object->cache;
    uint32_t forced = forced_messages(c);
    has_room(object_path(&object->obj), &c->mshr.shape);
    sound(c->pipeline.limit <= c->pipeline.slots && c->misses.limit + forced <= c->misses.slots &&
              c->misses.count + forced <= c->misses.slots,
          "%s: %u and %u slots of its queues", object_path(&object->obj), c->pipeline.slots, c->misses.slots);
}

/* --- All of it */

void cache_is_sound(const CacheObject *object, bool fits) {
    const Cache *c = &object->cache;
    const char *path = object_path(&object->obj);
    mshrs_are_sound(object, fits);
    if (fits) lines_are_sound(object);
    if (fits) replacement_is_sound(&c->replacement, &c->tags, path);
    delay_queue_is_sound(object, &c->pipeline, "pipeline");
    misses_are_sound(object);
    if (fits) fills_are_sound(object);
    if (fits) queues_have_room(object);
    sound(c->stall < STALLS, "%s.stall: %lu", path, c->stall);
    sound(tick_is_sound(&object->obj, c->data_busy_until), "%s.data_busy_until: tick %lu", path,
          c->data_busy_until);
}
