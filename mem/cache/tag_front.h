/* A tag front stands between a cache's pipeline and its tags. It decides which request the tags look up in a
 * cycle, and where one goes that the cache does not take: into a queue of its own, back to the tags, nowhere.
 *
 * Fronts form a chain from the pipeline to the tags. Each takes what the one before it, its source, offers;
 * the first takes what the pipeline offers. The cache asks the last one, looks the request up, and tells that
 * one the outcome, which passes it on to its source if the request is still there.
 *
 *   pipeline -> prioritization buffer -> re-execution queue -> tags
 *
 * A front is embedded in its cache or is an object of its own, below the cache (cache_attach_front()). All of
 * its functions are called from the cache's own cycle; none may change the tags while a request is looked up.
 * What a front leaves NULL is not called. A cache without one pays a null test. */
#ifndef WW_MEM_TAG_FRONT_H
#define WW_MEM_TAG_FRONT_H

#include "mem/cache/cache_tick.h"

/* What became of a request that the tags have looked up. */
typedef struct {
    Stall stall; /* STALL_NONE: the cache has taken it */
    bool hit;    /* taken, and all its sectors were there */
    /* Not taken: a read of whose line there is no MSHR, and that may not pass the cache by. */
    bool needs_mshr;
} Outcome;

typedef struct {
    /* Chooses what the tags look up in this cycle; NULL: nothing. At most once in a cycle. A request that is
     * offered and not looked up, because a front nearer to the tags holds it back, has no outcome; it may be
     * offered again in a later cycle. */
    const MemMessage *(*offer)(TagFront *front, uint64_t now);
    /* What it offered is held back in this cycle, in which it was made sure that it hits: a front that has
     * others of its own to offer keeps it for the next cycle, or they would undo it by turns for ever. */
    void (*held_back)(TagFront *front, uint64_t now);
    /* What it offered was looked up. It passes on to its source what that offered. */
    void (*looked_up)(TagFront *front, const MemMessage *m, const Outcome *outcome, uint64_t now);
    /* The new request that is next, at any time between two cycles, or NULL. */
    const MemMessage *(*next)(const TagFront *front);
    /* A line or a way of the set of `m` came or went. */
    void (*set_changed)(TagFront *front, const MemMessage *m);
    /* The end of the cycle, everything of it has happened. Returns the time of the next cycle that it needs,
     * NEVER if what it waits for comes with a cycle that has another reason. */
    uint64_t (*end_cycle)(TagFront *front, uint64_t now);
    /* Counts up to the beginning of `cycle`. */
    void (*settle)(TagFront *front, uint64_t cycle);
    /* Does it hold a request of the warp? */
    bool (*holds)(const TagFront *front, uint32_t sm, uint32_t warp);
    /* Every request in it that wants an answer, once. */
    void (*visit)(const TagFront *front, RequestVisitor *visit, void *context);
    /* A line of the hang report. */
    void (*report)(const TagFront *front, FILE *out);
    /* How many requests it holds, and how many of them need an answer: Cache.put_aside counts them. */
    uint64_t (*held)(const TagFront *front, uint64_t *answers_due);
    /* Panics unless the requests that a snapshot has brought can be worked with; see Class.is_sound. */
    void (*is_sound)(const TagFront *front);
} TagFrontClass;

struct TagFront {
    const TagFrontClass *class;
    CacheObject *object; /* whose tags it stands in front of */
    TagFront *next;      /* of all fronts of the cache, from the pipeline to the tags */
    TagFront *next_attached;
    TagFront *source; /* the nearest before it that offers requests; NULL: the pipeline */
};

/* Host state that init() makes anew. */
#define TAG_FRONT_ROWS(T, m) HOST(T, m, "Its place between pipeline and tags")

/* Puts a front of an object of its own nearest to the tags of an L1; an L2 asks no fronts. From that object's
 * init(). */
void cache_attach_front(CacheObject *object, TagFront *front, const TagFrontClass *class);
/* The fronts that are embedded in a cache stand before those attached to it. Each call begins the chain anew.
 */
void cache_begin_fronts(CacheObject *object);
void cache_add_front(CacheObject *object, TagFront *front, const TagFrontClass *class);
void cache_end_fronts(CacheObject *object);

/* What the tags look up in this cycle, of a cache that has fronts. */
static inline const MemMessage *cache_offered(const Cache *cache, uint64_t now) {
    TagFront *front = cache->last_front;
    return front ? front->class->offer(front, now) : cache_request_at_tags(cache, now);
}
/* The outcome of that, for the cache and for a front that passes it on to its source. */
static inline void front_looked_up(CacheObject *object, TagFront *front, const MemMessage *m,
                                   const Outcome *outcome, uint64_t now) {
    if (front)
        front->class->looked_up(front, m, outcome, now);
    else
        cache_end_access(object, outcome->stall, now);
}
/* What the source of a front offers. */
static inline const MemMessage *source_offers(const TagFront *front, uint64_t now) {
    TagFront *source = front->source;
    return source ? source->class->offer(source, now) : cache_request_at_tags(&front->object->cache, now);
}
/* What that offered is held back. */
static inline void source_is_held_back(const TagFront *front, uint64_t now) {
    for (TagFront *source = front->source; source; source = source->source)
        if (source->class->held_back) source->class->held_back(source, now);
}
/* The next new request of the source. */
const MemMessage *source_next(const TagFront *front);

/* All fronts of a cache. */
void fronts_set_changed(const Cache *cache, const MemMessage *m);
uint64_t fronts_end_cycle(const Cache *cache, uint64_t now);
void fronts_settle(const Cache *cache, uint64_t cycle);
bool fronts_hold(const Cache *cache, uint32_t sm, uint32_t warp);
void fronts_visit(const Cache *cache, RequestVisitor *visit, void *context);
uint64_t fronts_held(const Cache *cache, uint64_t *answers_due);
void fronts_are_sound(const Cache *cache);
void fronts_report(const Cache *cache, FILE *out);

#endif
