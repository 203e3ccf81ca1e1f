#include "mem/parts/utility_monitor/utility_monitor.h"

#include "core/sim/method.h"
#include "mem/cache/cache.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/part.h"

#include <string.h>

typedef enum { BY_SM, BY_CLASS } MonitorBy;

typedef struct {
    SimObject obj;
    uint32_t by, sharers, sampled_sets; /* parameters */
    uint32_t ways, tags, counters;      /* derived    */
    uint32_t sets, stride;              /* derived: sampled ones, and from one to the next */
    CacheObserver observer;             /* host       */
    const CacheObject *cache;
    const AddressMap *map; /* of an L2 */
    uint64_t *tag;         /* line address | 1, by sharer, set and place: the most recently used first */
    uint64_t *hits;        /* by sharer and place */
    uint64_t *misses;      /* by sharer */
    uint64_t sampled, found;
} UtilityMonitor;

static UtilityMonitor *of_observer(CacheObserver *observer) {
    return (UtilityMonitor *)((char *)observer - offsetof(UtilityMonitor, observer));
}

/* Could the request take a line? */
static bool counts(const UtilityMonitor *u, const MemMessage *m) {
    bool local = m->flags & MEM_LOCAL;
    return u->map || m->kind == MEM_READ || (m->kind == MEM_WRITE && local);
}

/* Moves the tag to the front of its set; returns the place where it was, or that behind the last. */
static uint32_t move_to_front(uint64_t *set, uint32_t ways, uint64_t tag) {
    uint32_t place = 0;
    while (place < ways && set[place] != tag)
        place++;
    uint32_t moved = place < ways ? place : ways - 1;
    memmove(set + 1, set, moved * sizeof *set);
    set[0] = tag;
    return place;
}

static void accessed(CacheObserver *observer, const MemMessage *m, uint32_t result) {
    UtilityMonitor *u = of_observer(observer);
    const TagShape *shape = &u->cache->cache.tags.shape;
    uint32_t sharer = u->by == BY_SM ? m->sm : m->class_number;
    if (result == RESULT_BYPASS || sharer >= u->sharers || !counts(u, m)) return;
    uint32_t set = tag_set(shape, u->map ? address_map_within_slice(u->map, m->address) : m->address);
    if (set % u->stride || set / u->stride >= u->sets) return;
    size_t first = ((size_t)sharer * u->sets + set / u->stride) * u->ways;
    uint32_t place = move_to_front(&u->tag[first], u->ways, tag_line_address(shape, m->address) | 1);
    bool found = place < u->ways;
    u->sampled++;
    u->found += found;
    (*(found ? &u->hits[(size_t)sharer * u->ways + place] : &u->misses[sharer]))++;
}

static void build(SimObject *object) {
    UtilityMonitor *u = (UtilityMonitor *)object;
    const SimObject *cache = object->parent;
    if (!cache || (cache->class != &l1_class && cache->class != &l2_class))
        user_error("%s: expected a place below an L1 or L2 (l2[0].utility)", object_path(object));
    const TagShape *shape = &((const CacheObject *)cache)->cache.tags.shape;
    if (shape->ways > 64)
        user_error("%s: expected a cache of up to 64 ways, got %u", object_path(object), shape->ways);
    u->ways = shape->ways;
    u->sets = u->sampled_sets < shape->sets ? u->sampled_sets : shape->sets;
    u->stride = shape->sets / u->sets;
    u->counters = u->sharers * u->ways;
    u->tags = u->counters * u->sets;
}

static void init(SimObject *object) {
    UtilityMonitor *u = (UtilityMonitor *)object;
    u->cache = (const CacheObject *)object->parent;
    u->map = object->parent->class == &l2_class ? l2_set_map(object->parent) : NULL;
    u->observer = (CacheObserver){.accessed = accessed};
    cache_observe(&((CacheObject *)object->parent)->cache, &u->observer);
}

/* No tag is twice in a set, and the free places are behind the others. */
static void is_sound(const SimObject *object, bool fits) {
    const UtilityMonitor *u = (const UtilityMonitor *)object;
    if (!fits) return;
    for (uint32_t first = 0; first < u->tags; first += u->ways)
        for (uint32_t i = 0; i < u->ways; i++)
            for (uint32_t k = 0; k < i; k++)
                sound(u->tag[first + i] != u->tag[first + k] || !u->tag[first + i], "%s: tag %u",
                      object->path, first + i);
}

static void check(const SimObject *object, bool idle) {
    const UtilityMonitor *u = (const UtilityMonitor *)object;
    (void)idle;
    if (u->found > u->sampled) panic("%s: %lu accesses found, of %lu", object->path, u->found, u->sampled);
}

static void call_hits(SimObject *object, MethodCall *call) {
    const UtilityMonitor *u = (const UtilityMonitor *)object;
    size_t sharer = (size_t)call->argument[0].whole, place = (size_t)call->argument[1].whole;
    call->result[0].whole = (int64_t)u->hits[sharer * u->ways + place];
}

static void call_misses(SimObject *object, MethodCall *call) {
    const UtilityMonitor *u = (const UtilityMonitor *)object;
    call->result[0].whole = (int64_t)u->misses[call->argument[0].whole];
}

static void call_halve(SimObject *object, MethodCall *call) {
    UtilityMonitor *u = (UtilityMonitor *)object;
    (void)call;
    for (uint32_t i = 0; i < u->counters; i++)
        u->hits[i] /= 2;
    for (uint32_t i = 0; i < u->sharers; i++)
        u->misses[i] /= 2;
}

static const Method methods[] = {
    METHOD("hits", call_hits,
           "Hits of SM or class `sharer` at this place in the order of use, 0 for the most recently used",
           TAKES(WHOLE_NUMBER_BELOW("sharer", UtilityMonitor, sharers),
                 WHOLE_NUMBER_BELOW("place", UtilityMonitor, ways)),
           RETURNS(WHOLE_NUMBER("hits"))),
    METHOD("missed", call_misses, "Its accesses that would miss with all ways, too",
           TAKES(WHOLE_NUMBER_BELOW("sharer", UtilityMonitor, sharers)), RETURNS(WHOLE_NUMBER("misses"))),
    METHOD("halve", call_halve, "Halves all these counts"), METHODS_END};

static const Field fields[] = {
    BASE(UtilityMonitor),
    PARAM_CHOICE(UtilityMonitor, by, "sm", "sm|class", "Who shares the cache"),
    PARAM(UtilityMonitor, sharers, "2", "sharers", "SMs or classes that are monitored, from 0 on", .min = 1,
          .max = 64),
    PARAM(UtilityMonitor, sampled_sets, "32", "sets", "Sets of the cache that are sampled, at most all",
          .min = 1, .max = 4096),
    DERIVED(UtilityMonitor, ways, "Of the cache"),
    DERIVED(UtilityMonitor, tags, "Tags of all directories"),
    DERIVED(UtilityMonitor, counters, "Counters of hits"),
    DERIVED(UtilityMonitor, sets, "Sets of a directory"),
    DERIVED(UtilityMonitor, stride, "From one sampled set of the cache to the next"),
    HOST(UtilityMonitor, observer, "How the cache calls it"),
    HOST(UtilityMonitor, cache, "The cache"),
    HOST(UtilityMonitor, map, "Address map"),
    STATE_ARRAY(UtilityMonitor, tag, tags, "Auxiliary tag directories"),
    STATE_ARRAY(UtilityMonitor, hits, counters, "Hits by sharer and place"),
    STATE_ARRAY(UtilityMonitor, misses, sharers, "Misses by sharer"),
    STAT(UtilityMonitor, sampled, "accesses", "Accesses to sampled sets"),
    STAT(UtilityMonitor, found, "accesses", "Of these: that a directory had"),
    FIELDS_END};

const Class utility_monitor_class = {
    .name = "UtilityMonitor",
    .doc = "Counts the hits that each SM or class would have with any number of ways of a cache",
    .part = true,
    .bytes = sizeof(UtilityMonitor),
    .fields = fields,
    .methods = methods,
    .build = build,
    .init = init,
    .tick = part_sleeps,
    .is_sound = is_sound,
    .check = check,
};
REGISTER_CLASS(utility_monitor_class);
