#include "mem/parts/line_reuse/line_reuse.h"

#include "mem/cache/cache_access.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/part.h"

/* From the widest to the narrowest: the first that holds counts. */
typedef enum {
    REUSE_OTHER,        /* one of the two accesses is no warp's, or nobody knows the former one */
    REUSE_INTER_KERNEL, /* the line was touched by an earlier kernel          */
    REUSE_INTER_CORE,   /* ... by another SM                                  */
    REUSE_INTRA_CORE,   /* ... by another CTA of the SM                       */
    REUSE_INTRA_CTA,    /* ... by another warp of the CTA                     */
    REUSE_INTER_THREAD, /* ... by the warp, but by none of the threads        */
    REUSE_INTRA_THREAD, /* ... by at least one of the threads                 */
    REUSE_CLASSES
} Reuse;

typedef enum { SINCE_LAST, SINCE_FIRST } Since;

/* Who touched a line. */
typedef struct {
    uint32_t lanes;  /* threads of the warp, since it is the last to touch it */
    uint32_t kernel; /* number of the kernel + 1; 0: nobody                   */
    uint16_t sm, warp, cta, pad;
} Toucher;

typedef struct {
    SimObject obj;
    /* parameters */
    uint32_t since, lines /* derived */;
    CacheObserver observer; /* host */
    const CacheObject *cache;
    const AddressMap *map; /* of an L2 */
    Toucher *toucher;      /* per line */
    uint32_t kernel;       /* a knob   */
    uint32_t begun;
    uint64_t hits_before, merges_before; /* that the cache had counted when this part came */
    uint64_t reused[2][REUSE_CLASSES];   /* by hits, by merges */
} LineReuse;

#define REUSE_ROWS(class, name, doc)                                                                         \
    STAT_NAMED(LineReuse, reused[0][class], name "_hits", "accesses", "Hits " doc),                          \
        STAT_NAMED(LineReuse, reused[1][class], name "_merges", "accesses", "Merges " doc)

static const Field fields[] = {
    BASE(LineReuse),
    PARAM_CHOICE(LineReuse, since, "last", "last|first",
                 "Whose touch counts: of the last to touch the line, or of who had it brought"),
    DERIVED(LineReuse, lines, "Lines of the cache"),
    HOST(LineReuse, observer, "How the cache calls it"),
    HOST(LineReuse, cache, "The cache"),
    HOST(LineReuse, map, "Address map"),
    STATE_ARRAY(LineReuse, toucher, lines, "Who touched each line"),
    KNOB(LineReuse, kernel, "kernels", "Number of the kernel that runs"),
    STATE(LineReuse, begun, "The cache had an access"),
    STATE(LineReuse, hits_before, "Hits of the cache before"),
    STATE(LineReuse, merges_before, "Merges of the cache before"),
    REUSE_ROWS(REUSE_INTRA_THREAD, "intra_thread", "on lines that a thread of the access had touched"),
    REUSE_ROWS(REUSE_INTER_THREAD, "inter_thread", "on lines that other threads of the warp had touched"),
    REUSE_ROWS(REUSE_INTRA_CTA, "intra_cta", "on lines that another warp of the CTA had touched"),
    REUSE_ROWS(REUSE_INTRA_CORE, "intra_core", "on lines that another CTA on the SM had touched"),
    REUSE_ROWS(REUSE_INTER_CORE, "inter_core", "on lines that another SM had touched"),
    REUSE_ROWS(REUSE_INTER_KERNEL, "inter_kernel", "on lines that an earlier kernel had touched"),
    REUSE_ROWS(REUSE_OTHER, "other", "by or behind write-backs, code and copies of the host"),
    FIELDS_END};

static void build(SimObject *object) {
    const SimObject *cache = object->parent;
    if (!cache || (cache->class != &l1_class && cache->class != &l2_class))
        user_error("%s: expected a place below an L1 or L2 (sm[0].l1d.reuse)", object->path);
    ((LineReuse *)object)->lines = ((const CacheObject *)cache)->cache.tags.shape.lines;
}

static LineReuse *reuse_of(CacheObserver *observer) {
    return (LineReuse *)((char *)observer - offsetof(LineReuse, observer));
}

static bool is_of_a_warp(const MemMessage *m) {
    return !(m->flags & (MEM_POSTED | MEM_INSTRUCTION)) && m->warp != NOBODY;
}

/* Unknown lanes may be any of the warp. */
static uint32_t lanes_of(const MemMessage *m) {
    return m->lanes ? m->lanes : ~0u;
}

static Reuse class_of(const LineReuse *reuse, const Toucher *last, const MemMessage *m) {
    if (!last->kernel || !is_of_a_warp(m)) return REUSE_OTHER;
    if (last->kernel != reuse->kernel + 1) return REUSE_INTER_KERNEL;
    if (last->sm != m->sm) return REUSE_INTER_CORE;
    if (last->cta != m->cta) return REUSE_INTRA_CORE;
    if (last->warp != m->warp) return REUSE_INTRA_CTA;
    return last->lanes & lanes_of(m) ? REUSE_INTRA_THREAD : REUSE_INTER_THREAD;
}

static void touch(const LineReuse *reuse, Toucher *last, const MemMessage *m) {
    if (!is_of_a_warp(m) || (last->kernel && reuse->since == SINCE_FIRST)) return;
    bool same = last->kernel == reuse->kernel + 1 && last->sm == m->sm && last->cta == m->cta &&
                last->warp == m->warp;
    *last = (Toucher){.lanes = lanes_of(m) | (same ? last->lanes : 0),
                      .kernel = reuse->kernel + 1,
                      .sm = m->sm,
                      .warp = m->warp,
                      .cta = m->cta};
}

static uint32_t line_of(const LineReuse *reuse, const MemMessage *m) {
    uint64_t index = reuse->map ? address_map_within_slice(reuse->map, m->address) : m->address;
    return cache_lookup(&reuse->cache->cache, m, index).line;
}

static void begin(LineReuse *reuse, Result result) {
    const uint64_t *counted = reuse->cache->cache.stats.results;
    if (reuse->begun) return;
    reuse->begun = 1;
    reuse->hits_before = counted[RESULT_HIT] - (result == RESULT_HIT);
    reuse->merges_before = counted[RESULT_MERGE] - (result == RESULT_MERGE);
}

static void accessed(CacheObserver *observer, const MemMessage *m, uint32_t result) {
    LineReuse *reuse = reuse_of(observer);
    Toucher nobody = {0};
    if (result == RESULT_BYPASS) return;
    begin(reuse, (Result)result);
    uint32_t line = line_of(reuse, m);
    Toucher *last = line == NO_LINE ? &nobody : &reuse->toucher[line];
    if (result != RESULT_MISS) reuse->reused[result == RESULT_MERGE][class_of(reuse, last, m)]++;
    touch(reuse, last, m);
}

/* In a cache that takes lines when they come, nobody has touched this one before. */
static void filled(CacheObserver *observer, const MemMessage *m, uint32_t line) {
    LineReuse *reuse = reuse_of(observer);
    if (line != NO_LINE && !reuse->toucher[line].kernel) touch(reuse, &reuse->toucher[line], m);
}

static void replaced(CacheObserver *observer, uint32_t line) {
    reuse_of(observer)->toucher[line] = (Toucher){0};
}

static void init(SimObject *object) {
    LineReuse *reuse = (LineReuse *)object;
    reuse->cache = (const CacheObject *)object->parent;
    reuse->map = object->parent->class == &l2_class ? l2_set_map(object->parent) : NULL;
    reuse->observer = (CacheObserver){.accessed = accessed, .filled = filled, .replaced = replaced};
    cache_observe(&((CacheObject *)object->parent)->cache, &reuse->observer);
}

static void check_sum(const LineReuse *reuse, int kind, uint64_t counted) {
    uint64_t sum = 0;
    for (int class = 0; class < REUSE_CLASSES; class ++)
        sum += reuse->reused[kind][class];
    if (sum != counted)
        panic("%s: %lu %s in all classes, but %s has counted %lu", reuse->obj.path, sum,
              kind ? "merges" : "hits", reuse->cache->obj.path, counted);
}

static void check(const SimObject *object, bool idle) {
    const LineReuse *reuse = (const LineReuse *)object;
    const uint64_t *counted = reuse->cache->cache.stats.results;
    (void)idle;
    if (!reuse->begun) return;
    check_sum(reuse, 0, counted[RESULT_HIT] - reuse->hits_before);
    check_sum(reuse, 1, counted[RESULT_MERGE] - reuse->merges_before);
}

const Class line_reuse_class = {
    .name = "LineReuse",
    .doc = "Classes the hits of a cache by who touched the line before",
    .part = true,
    .bytes = sizeof(LineReuse),
    .fields = fields,
    .build = build,
    .init = init,
    .tick = part_sleeps,
    .check = check,
};
REGISTER_CLASS(line_reuse_class);
