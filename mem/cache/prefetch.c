#include "mem/cache/prefetch.h"

#include "core/sim/checkpoint/snapshot.h"
#include "mem/cache/cache_access.h"
#include "mem/cache/cache_sound.h"
#include "mem/cache/tag_front.h"

#include <stdlib.h>
#include <string.h>

static uint64_t count_of(uint32_t sectors) {
    return (uint64_t)__builtin_popcount(sectors);
}

/* The fates. */

static Prefetches *prefetches_of(CacheObserver *observer) {
    return (Prefetches *)((char *)observer - offsetof(Prefetches, observer));
}

/* A mark outlives its sector where the cache forgets the line without replacing it. */
static void end_marks(Prefetches *p, uint32_t line, uint32_t sectors, uint32_t valid) {
    uint32_t ended = p->mark[line] & sectors;
    p->useful += count_of(ended & valid);
    p->useless += count_of(ended & ~valid);
    p->mark[line] &= (uint8_t)~sectors;
}

static void accessed(CacheObserver *observer, const MemMessage *m, uint32_t result) {
    Prefetches *p = prefetches_of(observer);
    Cache *c = &p->object->cache;
    if (result == RESULT_BYPASS) return;
    Lookup at = cache_lookup(c, m, p->index(&p->object->obj, m->address));
    if (at.line != NO_LINE) end_marks(p, at.line, at.sectors, c->tags.line[at.line].valid);
    uint32_t entry = cache_mshr_of(c, &at);
    if (entry == NO_MSHR) return;
    p->late += count_of(c->mshr.entry[entry].prefetched & at.sectors);
    c->mshr.entry[entry].prefetched &= ~at.sectors;
}

static void filled(CacheObserver *observer, const MemMessage *m, uint32_t line) {
    Prefetches *p = prefetches_of(observer);
    Cache *c = &p->object->cache;
    MshrEntry *e = &c->mshr.entry[m->token];
    uint32_t came = e->prefetched & tag_sectors(&c->tags.shape, m->address, m->bytes);
    if (!came) return;
    e->prefetched &= ~came;
    if (line == NO_LINE) {
        p->useless += count_of(came);
        return;
    }
    end_marks(p, line, came, 0);
    p->mark[line] |= (uint8_t)came;
}

static void replaced(CacheObserver *observer, uint32_t line) {
    end_marks(prefetches_of(observer), line, UINT8_MAX, 0);
}

static void cleared(CacheObserver *observer) {
    Prefetches *p = prefetches_of(observer);
    for (uint32_t line = 0; line < p->marks; line++)
        end_marks(p, line, UINT8_MAX, 0);
}

/* Building. */

void prefetch_build(Prefetches *p, const Cache *c) {
    delay_queue_build(&p->queue, p->places);
    p->marks = p->places ? c->tags.shape.lines : 0;
}

void prefetch_init(Prefetches *p, CacheObject *object, CacheIndex *index) {
    p->object = object;
    p->index = index;
    if (!p->places) return;
    p->observer = (CacheObserver){
        .accessed = accessed, .filled = filled, .replaced = replaced, .cleared = cleared};
    cache_observe(&object->cache, &p->observer);
}

/* The queue. */

static bool is_in_memory(const SimObject *object, uint64_t address, uint32_t bytes) {
    if (address >> MAX_ADDRESS_BITS) return false;
    const FunctionalMemory *functional = functional_memory(object);
    return !functional || device_covers(functional->memory, address, bytes);
}

static void drop(Prefetches *p, PrefetchDrop cause) {
    p->dropped[cause]++;
}

/* The first one leaves the queue. */
static MemMessage take_first(Prefetches *p) {
    MemMessage m = p->queue.message[p->queue.first];
    audit_leave(&p->object->obj, QUEUE_PREFETCHES, delay_queue_pop(&p->queue));
    return m;
}

/* Is there room for one more, if need be in the place of the oldest? */
static bool has_room(Prefetches *p) {
    if (p->queue.count < p->queue.limit) return true;
    drop(p, DROP_QUEUE);
    if (p->drops == PREFETCH_DROP_NEWEST || p->queue.count > p->queue.limit || !p->queue.limit) return false;
    take_first(p);
    return true;
}

void prefetch_ask(Prefetches *p, const MethodCall *call, bool allowed, bool own) {
    SimObject *object = &p->object->obj;
    uint32_t bytes = 1u << p->object->cache.tags.shape.sector_shift, slot;
    uint64_t address = (uint64_t)call->argument[0].whole & -(uint64_t)bytes;
    p->asked++;
    if (!allowed) return drop(p, DROP_OFF);
    if (!own || !is_in_memory(object, address, bytes)) return drop(p, DROP_OUTSIDE);
    if (!has_room(p)) return;
    uint64_t next = object_next_cycle(object);
    *delay_queue_push(&p->queue, next, &slot) = (MemMessage){.address = address,
                                                             .issued = next,
                                                             .bytes = (uint8_t)bytes,
                                                             .kind = MEM_READ,
                                                             .payload = MEM_PREFETCH,
                                                             .warp = (uint16_t)call->argument[1].whole,
                                                             .sm = (uint16_t)call->argument[2].whole};
    audit_enter(object, QUEUE_PREFETCHES, slot);
    object_wake(object);
}

static PrefetchDrop cause_of(Stall stall) {
    if (stall == STALL_LINE || stall == PASSES_BY) return DROP_LINE;
    return stall == STALL_MSHR_ENTRY ? DROP_MSHR : DROP_MISS_QUEUE;
}

static bool has_free_mshr(const Prefetches *p) {
    const Mshr *mshr = &p->object->cache.mshr;
    return mshr->used + p->reserve < mshr->shape.entries;
}

static void look_up(Prefetches *p, const MemMessage *m, uint64_t now) {
    Cache *c = &p->object->cache;
    Lookup at = cache_lookup(c, m, p->index(&p->object->obj, m->address));
    if (cache_holds(c, &at)) return drop(p, DROP_THERE);
    if (cache_mshr_of(c, &at) != NO_MSHR) return drop(p, DROP_IN_FLIGHT);
    if (!has_free_mshr(p)) return drop(p, DROP_MSHR);
    Stall stall = cache_fetch_ahead(c, m, &at, now);
    if (stall) return drop(p, cause_of(stall));
    c->mshr.entry[cache_mshr_of(c, &at)].prefetched = at.sectors;
    p->sent++;
    cache_forget_failed_try(c); /* of a request that is stopped at the tags */
    fronts_set_changed(c, m);
}

bool prefetch_goes_first(const Prefetches *p, uint64_t now) {
    const Cache *c = &p->object->cache;
    const DelayQueue *requests = &c->pipeline;
    if (p->priority != PREFETCH_BY_AGE || !p->queue.count || c->put_aside || !requests->count) return false;
    uint64_t ready = p->queue.ready[p->queue.first];
    return ready <= now && ready < requests->ready[requests->first];
}

/* May the first one be looked up in the next cycle? Requests that stand in fronts come when they may. */
static bool may_go_soon(const Prefetches *p, uint64_t soon) {
    const Cache *c = &p->object->cache;
    const DelayQueue *queue = &c->pipeline;
    if (p->priority == PREFETCH_OWN_PORT || prefetch_goes_first(p, soon)) return true;
    return c->fronts || !queue->count || queue->ready[queue->first] > soon;
}

uint64_t prefetch_step(Prefetches *p, bool busy, uint64_t next, uint64_t now) {
    uint64_t soon = now + p->object->cache.period;
    bool is_free = !busy || p->priority == PREFETCH_OWN_PORT;
    if (prefetch_goes_first(p, now)) next = earlier_of(next, soon); /* for the request */
    if (is_free && p->queue.ready[p->queue.first] <= now) {
        MemMessage m = take_first(p);
        look_up(p, &m, now);
    }
    return p->queue.count && may_go_soon(p, soon) ? earlier_of(next, soon) : next;
}

/* State from elsewhere. */

static uint64_t marked(const uint8_t *mark, size_t count) {
    uint64_t sectors = 0;
    for (size_t i = 0; i < count; i++)
        sectors += count_of(mark[i]);
    return sectors;
}

static uint64_t in_flight(const Mshr *mshr) {
    uint64_t sectors = 0;
    for (uint32_t e = 0; e < mshr->fresh; e++)
        sectors += count_of(mshr->entry[e].prefetched);
    return sectors;
}

/* The cache takes no prefetches any more: those that it has not finished end here. */
static void end_all(Prefetches *p) {
    Mshr *mshr = &p->object->cache.mshr;
    p->useless += in_flight(mshr);
    for (uint32_t e = 0; e < mshr->fresh; e++)
        mshr->entry[e].prefetched = 0;
    p->dropped[DROP_OFF] += p->queue.count;
    p->queue.count = 0;
}

void prefetch_convert(Prefetches *p, const SavedObject *saved) {
    static const char *const geometry[] = {"size", "ways", "index", "index_masks", NULL};
    delay_queue_make_room(&p->queue);
    if (!p->places) end_all(p);
    if (p->places && saved_same(saved, geometry)) return;
    size_t count = 0;
    const uint8_t *mark = saved_row(saved, PREFETCH_CONVERTED_ROWS, &count);
    p->useless += mark ? marked(mark, count) : 0;
    if (p->marks) memset(p->mark, 0, p->marks);
}

void prefetch_is_sound(const Prefetches *p, bool fits) {
    const char *path = object_path(&p->object->obj);
    delay_queue_is_sound(p->object, &p->queue, "prefetches.queue");
    for (uint32_t i = 0; i < p->queue.count; i++) {
        const MemMessage *m = &p->queue.message[(p->queue.first + i) & (p->queue.slots - 1)];
        sound(m->kind == MEM_READ && !m->flags, "%s.prefetches.queue: number %u is no prefetch", path, i);
    }
    if (!fits) return;
    sound(p->queue.limit <= p->queue.slots, "%s.prefetches.queue: %u slots", path, p->queue.slots);
    for (uint32_t line = 0; line < p->marks; line++)
        sound((p->mark[line] & ~p->object->cache.tags.shape.all_sectors) == 0, "%s.prefetches.mark: line %u",
              path, line);
}

/* The conservation laws. */

void prefetch_check(const Prefetches *p, bool idle) {
    const char *path = object_path(&p->object->obj);
    uint64_t done = p->sent + p->queue.count, ended = p->useful + p->late + p->useless;
    for (int cause = 0; cause < PREFETCH_DROPS; cause++)
        done += p->dropped[cause];
    if (p->asked != done)
        panic("%s: policies asked for %lu prefetches, but %lu were sent or dropped or wait", path, p->asked,
              done);
    uint64_t left = marked(p->mark, p->marks) + in_flight(&p->object->cache.mshr);
    if (p->sent != ended + left)
        panic("%s: %lu prefetches, but %lu that were useful, late or useless, and %lu in flight or not used "
              "yet",
              path, p->sent, ended, left);
    if (idle && p->queue.count) panic("%s is idle but %u prefetches wait for the tags", path, p->queue.count);
}

void prefetch_report(const Prefetches *p, FILE *out) {
    if (p->queue.count)
        fprintf(out, "%s: %u prefetches wait for the tags\n", object_path(&p->object->obj), p->queue.count);
}
