#include "mem/parts/victim_tags/victim_tags.h"

#include "core/sim/event.h"
#include "mem/cache/cache.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/part.h"

struct VictimTags {
    SimObject obj;
    /* parameters */
    char *cache;
    uint32_t warps, entries, ways, sm;
    uint32_t sets, pad; /* derived: of one warp */
    TagArray tags;      /* the sets of warp 0, then those of warp 1, ... */
    /* host */
    CacheObserver observer;
    const Cache *feeder;
    /* statistics */
    uint64_t insertions, probes, hits;
};

static const Event events[] = {
    [VICTIM_TAGS_HIT] = {"hit", "warp, address, pc", NULL,
                         "A warp missed a line that it had lost before; pc: of the access that missed"},
    {0}};

static const Field fields[] = {
    BASE(VictimTags),
    PARAM(VictimTags, cache, "l1d", "name",
          "The L1 that it is attached to: by its name beside these tags, or its path"),
    PARAM(VictimTags, warps, "48", "warps", "Warps that have an array", .min = 1, .max = 64),
    PARAM(VictimTags, entries, "16", "tags", "Tags of each warp", .min = 1, .max = 4096),
    PARAM(VictimTags, ways, "8", "tags", "Tags per set", .min = 1, .max = 4096),
    PARAM(VictimTags, sm, "65535", "SM", "Number of the SM that it serves; 65535: all that use the cache",
          .max = ANY_SM),
    DERIVED(VictimTags, sets, "Sets of each warp"),
    DERIVED(VictimTags, pad, "Alignment"),
    TAG_ARRAY_ROWS(VictimTags, tags),
    HOST(VictimTags, observer, "How the cache calls it"),
    HOST(VictimTags, feeder, "The cache that it is attached to"),
    STAT(VictimTags, insertions, "lines", "Replaced lines whose tags were kept"),
    STAT(VictimTags, probes, "accesses", "Misses looked up"),
    STAT(VictimTags, hits, "accesses", "Of them, of lines that the warp had lost"),
    FIELDS_END};

static void build(SimObject *object) {
    VictimTags *v = (VictimTags *)object;
    if (v->entries % v->ways)
        user_error("%s.entries: expected a multiple of ways = %u, got %u", object->path, v->ways, v->entries);
    v->sets = v->entries / v->ways;
    tag_shape_init(&v->tags.shape, object->path,
                   &(TagGeometry){.size = (uint64_t)v->warps * v->entries * LINE_BYTES_MAX,
                                  .ways = v->ways,
                                  .line = LINE_BYTES_MAX,
                                  .sectors = 1});
}

static uint32_t set_of(const VictimTags *v, uint32_t warp, uint64_t line_address) {
    return warp * v->sets + (uint32_t)((line_address >> v->feeder->tags.shape.line_shift) % v->sets);
}

void victim_tags_insert(VictimTags *v, uint32_t warp, uint64_t line_address) {
    if (warp >= v->warps) return; /* one without an array, or nobody */
    uint32_t set = set_of(v, warp, line_address), line = tag_find(&v->tags, set, line_address);
    if (line == NO_LINE) line = tag_victim(&v->tags, set);
    tag_install(&v->tags, line, line_address, 0, (uint16_t)warp, 0);
    v->insertions++;
}

void victim_tags_probe(VictimTags *v, uint32_t warp, uint64_t line_address, uint32_t pc) {
    if (warp >= v->warps) return;
    uint32_t line = tag_find(&v->tags, set_of(v, warp, line_address), line_address);
    v->probes++;
    if (line == NO_LINE) return;
    tag_invalidate(&v->tags, line);
    v->hits++;
    object_emit(&v->obj, VICTIM_TAGS_HIT, warp, (int64_t)line_address, pc);
}

uint64_t victim_tags_hits(const SimObject *victims) {
    return ((const VictimTags *)victims)->hits;
}

static VictimTags *of_observer(CacheObserver *observer) {
    return (VictimTags *)((char *)observer - offsetof(VictimTags, observer));
}

static bool serves(const VictimTags *v, uint32_t sm) {
    return v->sm == ANY_SM || v->sm == sm;
}

static void missed(CacheObserver *observer, const MemMessage *m, uint64_t line_address) {
    VictimTags *v = of_observer(observer);
    if (serves(v, m->sm)) victim_tags_probe(v, m->warp, line_address, m->pc);
}

static void evicted(CacheObserver *observer, uint32_t line) {
    VictimTags *v = of_observer(observer);
    const TagArray *tags = &v->feeder->tags;
    if (serves(v, tags->line[line].sm)) victim_tags_insert(v, tags->line[line].warp, tag_address(tags, line));
}

/* What the cache held is nobody's loss. */
static void cleared(CacheObserver *observer) {
    tag_invalidate_all(&of_observer(observer)->tags);
}

static bool overlap(const VictimTags *a, const VictimTags *b) {
    return serves(a, b->sm) || serves(b, a->sm);
}

static void init(SimObject *object) {
    VictimTags *v = (VictimTags *)object;
    SimObject *cache = l1_of_part(object, v->cache);
    Cache *feeder = &((CacheObject *)cache)->cache;
    for (CacheObserver *o = feeder->observers; o; o = o->next)
        if (o->missed == missed && overlap(v, of_observer(o)))
            user_error("%s: expected one VictimTags for %s and an SM, got a second", object->path,
                       cache->path);
    v->feeder = feeder;
    v->observer = (CacheObserver){.missed = missed, .evicted = evicted, .cleared = cleared};
    cache_observe(feeder, &v->observer);
}

static void is_sound(const SimObject *object, bool fits) {
    const TagArray *tags = &((const VictimTags *)object)->tags;
    (void)fits;
    tag_array_is_sound(tags, object->path);
    for (uint32_t i = 0; i < tags->shape.lines; i++)
        sound(!tags->line[i].reserved, "%s: line %u is reserved", object->path, i);
}

static void check(const SimObject *object, bool idle) {
    const VictimTags *v = (const VictimTags *)object;
    uint64_t kept = 0;
    (void)idle;
    for (uint32_t i = 0; i < v->tags.shape.lines; i++)
        kept += v->tags.tag[i] != 0;
    if (v->hits > v->probes || v->hits + kept > v->insertions)
        panic("%s: %lu tags were kept and %lu are there; %lu of %lu probes found one", object->path,
              v->insertions, kept, v->hits, v->probes);
}

const Class victim_tags_class = {
    .name = "VictimTags",
    .doc = "Tags of the lines that each warp has lost from an L1",
    .part = true,
    .bytes = sizeof(VictimTags),
    .fields = fields,
    .events = events,
    .build = build,
    .init = init,
    .tick = part_sleeps,
    .is_sound = is_sound,
    .check = check,
};
REGISTER_CLASS(victim_tags_class);
