#include "mem/parts/victim_cache/victim_cache.h"

#include "mem/cache/cache_access.h"
#include "mem/cache/tag_front.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/part.h"

typedef struct {
    SimObject obj;
    uint32_t lines, ways;
    uint32_t exchanged; /* in this cycle */
    uint32_t pad;
    uint64_t open_ways; /* a knob */
    TagArray tags;
    TagFront front;
    CacheObserver observer;
    uint64_t insertions, exchanges, drops;
} VictimCache;

static const Field fields[] = {
    BASE(VictimCache),
    PARAM(VictimCache, lines, "4", "lines", "Lines that it holds", .min = 1, .max = 65536),
    PARAM(VictimCache, ways, "0", "ways",
          "Of each set, a divisor of lines; 0: as lines, it is fully associative", .max = 65536),
    KNOB(VictimCache, open_ways, "ways",
         "Ways of each set that take lines; what the others hold is dropped. More than 64: all or none"),
    HOST(VictimCache, exchanged, "A line was exchanged in this cycle"),
    HOST(VictimCache, pad, "Alignment"),
    TAG_ARRAY_ROWS(VictimCache, tags),
    TAG_FRONT_ROWS(VictimCache, front),
    HOST(VictimCache, observer, "Sees what the L1 replaces"),
    STAT(VictimCache, insertions, "lines", "Lines that the L1 has replaced"),
    STAT(VictimCache, exchanges, "accesses", "Misses of the L1 that found their line here; a cycle each"),
    STAT(VictimCache, drops, "lines",
         "Lines that were written below, fetched again, or in ways that were closed"),
    FIELDS_END};

static VictimCache *of_front(const TagFront *front) {
    return (VictimCache *)((uintptr_t)front - offsetof(VictimCache, front));
}
static VictimCache *of_observer(CacheObserver *observer) {
    return (VictimCache *)((uintptr_t)observer - offsetof(VictimCache, observer));
}

static uint32_t find(const VictimCache *v, uint64_t line_address) {
    return tag_find(&v->tags, tag_set(&v->tags.shape, line_address), line_address);
}

/* Of the L1. */

static bool is_open(const VictimCache *v, uint32_t way) {
    return tag_is_hashed(&v->tags) ? v->open_ways != 0 : v->open_ways >> way & 1;
}

/* The place of the next line of the set, or NO_LINE. */
static uint32_t next_place(const VictimCache *v, uint32_t set) {
    uint32_t ways = v->tags.shape.ways;
    uint64_t all = ways < 64 ? (1ull << ways) - 1 : ~0ull;
    if (__builtin_expect((v->open_ways & all) == all, 1)) return tag_victim(&v->tags, set);
    if (tag_is_hashed(&v->tags)) return v->open_ways ? tag_victim(&v->tags, set) : NO_LINE;
    return tag_victim_among(&v->tags, set, v->open_ways & all);
}

/* What the L1 replaces comes here. */
static void replaced(CacheObserver *observer, uint32_t line) {
    VictimCache *v = of_observer(observer);
    const TagArray *l1 = &v->front.object->cache.tags;
    if (!l1->tag[line] || !l1->line[line].valid) return;
    uint64_t address = tag_address(l1, line);
    uint32_t place = next_place(v, tag_set(&v->tags.shape, address));
    if (place == NO_LINE) return;
    tag_install(&v->tags, place, address, l1->line[line].sm, l1->line[line].warp, 0);
    v->tags.line[place].valid = l1->line[line].valid;
    v->insertions++;
}

static void drop(VictimCache *v, uint64_t line_address) {
    uint32_t place = find(v, line_address);
    if (place == NO_LINE) return;
    tag_invalidate(&v->tags, place);
    v->drops++;
}

/* A write or an atomic on its way below makes the line stale; a line that is fetched again comes into the L1.
 */
static void accessed(CacheObserver *observer, const MemMessage *m, uint32_t result) {
    VictimCache *v = of_observer(observer);
    bool fetched = result == RESULT_MISS || result == RESULT_MERGE;
    if (m->kind != MEM_READ || fetched) drop(v, tag_line_address(&v->tags.shape, m->address));
}

/* A prefetch is no access: what it brings is seen when it comes. */
static void filled(CacheObserver *observer, const MemMessage *m, uint32_t line) {
    VictimCache *v = of_observer(observer);
    if (line != NO_LINE) drop(v, tag_line_address(&v->tags.shape, m->address));
}

static void untold(CacheObserver *observer, uint64_t address) {
    VictimCache *v = of_observer(observer);
    drop(v, tag_line_address(&v->tags.shape, address));
}

static void cleared(CacheObserver *observer) {
    VictimCache *v = of_observer(observer);
    for (uint32_t place = 0; place < v->lines; place++)
        v->drops += v->tags.tag[place] != 0;
    tag_invalidate_all(&v->tags);
}

/* In front of its tags. */

/* The place of what the request needs, and the L1 has not; NO_LINE. */
static uint32_t supplied(const VictimCache *v, const MemMessage *m, const Lookup *at) {
    bool local_write = m->kind == MEM_WRITE && (m->flags & MEM_LOCAL);
    if (at->line != NO_LINE || (m->flags & MEM_BYPASS_L1) || (m->kind != MEM_READ && !local_write))
        return NO_LINE;
    uint32_t place = find(v, at->line_address);
    return place != NO_LINE && !(at->sectors & ~(uint32_t)v->tags.line[place].valid) ? place : NO_LINE;
}

/* The line comes into the L1, the one that goes there takes its place here. False, and nothing is changed,
 * when every way of the set is reserved or a dirty line has no room to be written back. */
static bool exchange(VictimCache *v, const MemMessage *m, const Lookup *at, uint32_t place, uint64_t now) {
    Cache *c = &v->front.object->cache;
    uint32_t line = cache_candidate(c, m, at->set);
    if (line == NO_LINE || (cache_is_dirty(c, line) && !cache_miss_queue_room(c))) return false;
    uint8_t valid = v->tags.line[place].valid;
    tag_invalidate(&v->tags, place);
    cache_replace(c, line, at, m, now);
    c->tags.line[line].valid = valid;
    cache_forget_failed_try(c);
    v->exchanges++;
    return true;
}

/* The request of an exchange is looked up in the next cycle, and hits. */
static const MemMessage *offer(TagFront *front, uint64_t now) {
    VictimCache *v = of_front(front);
    const MemMessage *m = source_offers(front, now);
    v->exchanged = false;
    if (!m) return NULL;
    Lookup at = cache_lookup(&front->object->cache, m, m->address);
    uint32_t place = supplied(v, m, &at);
    v->exchanged = place != NO_LINE && exchange(v, m, &at, place, now);
    if (!v->exchanged) return m;
    source_is_held_back(front, now);
    return NULL;
}

static void looked_up(TagFront *front, const MemMessage *m, const Outcome *outcome, uint64_t now) {
    front_looked_up(front->object, front->source, m, outcome, now);
}

static const MemMessage *next(const TagFront *front) {
    return source_next(front);
}

static uint64_t end_cycle(TagFront *front, uint64_t now) {
    bool exchanged = of_front(front)->exchanged;
    of_front(front)->exchanged = false;
    return exchanged ? now + front->object->cache.period : NEVER;
}

/* Closed ways are empty. */
static bool knobs_set(SimObject *object) {
    VictimCache *v = (VictimCache *)object;
    for (uint32_t place = 0; place < v->lines; place++) {
        if (!v->tags.tag[place] || is_open(v, place % v->tags.shape.ways)) continue;
        tag_invalidate(&v->tags, place);
        v->drops++;
    }
    return false;
}

static const TagFrontClass victim_cache_front = {
    .offer = offer,
    .looked_up = looked_up,
    .next = next,
    .end_cycle = end_cycle,
};

/* The class. */

static void build(SimObject *object) {
    VictimCache *v = (VictimCache *)object;
    SimObject *l1 = object->parent;
    if (!l1 || l1->class != &l1_class)
        user_error("%s: expected a place below an L1 (sm[0].l1d.victims)", object->path);
    if (v->ways && v->lines % v->ways)
        user_error("%s.ways: expected a divisor of lines = %u, got %u", object->path, v->lines, v->ways);
    const CacheParameters *p = &((CacheObject *)l1)->cache.parameters;
    tag_shape_init(&v->tags.shape, object->path,
                   &(TagGeometry){.size = (uint64_t)v->lines * p->line,
                                  .ways = v->ways ? v->ways : v->lines,
                                  .line = p->line,
                                  .sectors = p->sectors});
}

static void init(SimObject *object) {
    VictimCache *v = (VictimCache *)object;
    CacheObject *l1 = (CacheObject *)object->parent;
    for (CacheObserver *o = l1->cache.observers; o; o = o->next)
        if (o->accessed == accessed)
            user_error("%s: expected one VictimCache below %s, got a second", object->path, l1->obj.path);
    v->open_ways = ~0ull;
    v->observer = (CacheObserver){
        .accessed = accessed, .filled = filled, .replaced = replaced, .untold = untold, .cleared = cleared};
    cache_observe(&l1->cache, &v->observer);
    cache_attach_front(l1, &v->front, &victim_cache_front);
}

static void is_sound(const SimObject *object, bool fits) {
    const TagArray *tags = &((const VictimCache *)object)->tags;
    (void)fits;
    tag_array_is_sound(tags, object->path);
    for (uint32_t i = 0; i < tags->shape.lines; i++)
        sound(!tags->line[i].reserved && !tags->line[i].dirty, "%s: line %u is reserved or dirty",
              object->path, i);
}

/* No line is in both, none in a closed way, and every one that came is there, was exchanged or dropped, or was replaced. */
static void check(const SimObject *object, bool idle) {
    const VictimCache *v = (const VictimCache *)object;
    const TagArray *l1 = &v->front.object->cache.tags;
    uint64_t kept = 0;
    (void)idle;
    for (uint32_t i = 0; i < v->lines; i++) {
        if (!v->tags.tag[i]) continue;
        uint64_t address = tag_address(&v->tags, i);
        uint32_t line = tag_find(l1, tag_set(&l1->shape, address), address);
        if (line != NO_LINE && l1->line[line].valid)
            panic("%s: line 0x%lx is in the L1, too", object->path, address);
        if (!is_open(v, i % v->tags.shape.ways))
            panic("%s: line 0x%lx is in a closed way", object->path, address);
        kept++;
    }
    if (v->exchanges + v->drops + kept > v->insertions)
        panic("%s: %lu lines came, but %lu were exchanged, %lu dropped and %lu are there", object->path,
              v->insertions, v->exchanges, v->drops, kept);
}

const Class victim_cache_class = {
    .name = "VictimCache",
    .doc = "Lines that an L1 has replaced, to be exchanged when they are needed again",
    .part = true,
    .bytes = sizeof(VictimCache),
    .fields = fields,
    .build = build,
    .init = init,
    .tick = part_sleeps,
    .knobs_set = knobs_set,
    .is_sound = is_sound,
    .check = check,
};

REGISTER_CLASS(victim_cache_class);
