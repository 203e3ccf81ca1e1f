/* Prefetches of a cache. A policy asks for a sector (of a cache whose lines have one, for the line); it waits
 * in a queue of its own and is looked up when `prefetch_priority` gives it the tags. What is there or in flight
 * by then, or finds nothing free, is dropped. Else it takes a line as a miss would, and an MSHR in which nobody
 * waits.
 *
 * Each one that was sent has one fate. Until it is known, the sector is marked: in its MSHR while it is in
 * flight, then beside its line.
 *
 *   useful    the first access of the cache that finds the sector there
 *   late      the first one that finds it still in flight
 *   useless   it was replaced or forgotten before, or found no line when it came
 *
 * Embedded in a cache object. With `prefetch_queue` 0 it costs a look at an empty queue in a tick. */
#ifndef WW_MEM_PREFETCH_H
#define WW_MEM_PREFETCH_H

#include "core/sim/method.h"
#include "mem/cache/cache.h"
#include "mem/protocol/functional_memory.h"

typedef enum {
    DROP_OFF,        /* the cache is off, or may take no line for the warp          */
    DROP_OUTSIDE,    /* outside of what device memory holds, or of the slice        */
    DROP_QUEUE,      /* the queue was full                                          */
    DROP_THERE,      /* the cache has it                                            */
    DROP_IN_FLIGHT,  /* the line has an MSHR                                        */
    DROP_MSHR,       /* no MSHR was free beside those kept for demand               */
    DROP_LINE,       /* every way of the set was reserved, or policies kept it      */
    DROP_MISS_QUEUE, /* no room in it                                               */
    PREFETCH_DROPS
} PrefetchDrop;

/* Who is looked up in a cycle in which a request is at the tags, too. */
typedef enum {
    PREFETCH_AFTER_DEMAND, /* the request, even one that is stopped there                          */
    PREFETCH_BY_AGE,       /* which came to the tags first; the request if both came in one cycle  */
    PREFETCH_OWN_PORT      /* both                                                                 */
} PrefetchPriority;

/* Which goes when the queue is full. */
typedef enum { PREFETCH_DROP_NEWEST, PREFETCH_DROP_OLDEST } PrefetchVictim;

typedef struct {
    uint32_t places, reserve; /* parameters: of the queue; MSHRs that prefetches leave free */
    uint32_t priority, drops; /* parameters: PrefetchPriority, PrefetchVictim               */
    DelayQueue queue;
    uint8_t *mark;  /* per line: sectors that came by prefetch and that nobody has asked for since */
    uint32_t marks; /* lines, 0 without a queue */
    uint32_t pad;
    CacheObserver observer;
    CacheObject *object; /* the cache, and which address its set index is computed from */
    CacheIndex *index;
    uint64_t asked, sent, useful, late, useless, dropped[PREFETCH_DROPS];
} Prefetches;

#define DROP_ROW(T, m, cause, n, d)                                                                          \
    STAT_NAMED(T, m.dropped[cause], "prefetch_drops_" n, "prefetches", "Dropped: " d)

#define PREFETCH_ROWS(T, m)                                                                                  \
    PARAM_NAMED(T, m.places, "prefetch_queue", "0", "prefetches",                                            \
                "Prefetches that may wait for the tags; 0: the cache takes none", .max = 4096,               \
                .converts = true),                                                                           \
        PARAM_NAMED(T, m.reserve, "prefetch_mshr_reserve", "0", "entries",                                   \
                    "MSHRs that prefetches leave free for demand", .max = 65536, .timing = true),            \
        PARAM_CHOICE_NAMED(T, m.priority, "prefetch_priority", "demand", "demand|oldest|own_port",           \
                           "In a cycle in which a request is at the tags: the request goes first, even one " \
                           "that is stopped there; which came first; a port of the tags is for prefetches",  \
                           .timing = true),                                                                  \
        PARAM_CHOICE_NAMED(T, m.drops, "prefetch_drop", "newest", "newest|oldest",                           \
                           "Which prefetch goes when the queue is full", .timing = true),                    \
        STATE_ARRAY(T, m.queue.message, m.queue.slots, "Prefetches that wait for the tags")                  \
    , STATE_ARRAY(T, m.queue.ready, m.queue.slots, "When each may be looked up")                             \
    , STATE(T, m.queue.slots, "Size of that ring")                                                           \
    , DERIVED(T, m.queue.limit, "Prefetches it may hold")                                                    \
    , STATE(T, m.queue.first, "Oldest of them")                                                              \
    , STATE(T, m.queue.count, "How many there are")                                                          \
    , DERIVED(T, m.marks, "Lines that may be marked as prefetched")                                          \
    , STATE_ARRAY(T, m.mark, m.marks, "Sectors of each line that were prefetched and not used yet")          \
    , DERIVED(T, m.pad, "Alignment")                                                                         \
    , HOST(T, m.observer, "How it sees what the cache does")                                                 \
    , HOST(T, m.object, "The cache")                                                                         \
    , HOST(T, m.index, "What its set index is computed from")                                                \
    , STAT_NAMED(T, m.asked, "prefetches_asked", "prefetches", "What policies asked for"),                   \
        STAT_NAMED(T, m.sent, "prefetches", "prefetches", "Of them, those that fetch"),                      \
        STAT_NAMED(T, m.useful, "prefetches_useful", "prefetches",                                           \
                   "Of those, found there by an access before they left"),                                   \
        STAT_NAMED(T, m.late, "prefetches_late", "prefetches", "Of those, found in flight by an access"),    \
        STAT_NAMED(T, m.useless, "prefetches_useless", "prefetches",                                         \
                   "Of those, replaced or forgotten before an access found them"),                           \
        DROP_ROW(T, m, DROP_OFF, "off", "the cache was off, or may take no line for the warp"),              \
        DROP_ROW(T, m, DROP_OUTSIDE, "outside", "in no allocation of device memory, or in another slice"),   \
        DROP_ROW(T, m, DROP_QUEUE, "queue", "the queue was full"),                                           \
        DROP_ROW(T, m, DROP_THERE, "there", "the cache had it"),                                             \
        DROP_ROW(T, m, DROP_IN_FLIGHT, "in_flight", "its line had an MSHR"),                                 \
        DROP_ROW(T, m, DROP_MSHR, "mshr", "no MSHR was free beside the reserve"),                            \
        DROP_ROW(T, m, DROP_LINE, "line", "every way of the set was reserved, or policies kept its line"),   \
        DROP_ROW(T, m, DROP_MISS_QUEUE, "miss_queue", "the miss queue had no room")

#define PREFETCH_CONVERTED_ROWS "prefetches.mark"

/* For the class's build(), behind cache_build(), and init(). */
void prefetch_build(Prefetches *prefetches, const Cache *cache);
void prefetch_init(Prefetches *prefetches, CacheObject *object, CacheIndex *index);

/* Of a policy: `allowed`, the cache takes lines for the warp; `own`, the address is one of the cache's. */
void prefetch_ask(Prefetches *prefetches, const MethodCall *call, bool allowed, bool own);
#define PREFETCH_METHOD(function)                                                                            \
    METHOD("prefetch", function,                                                                             \
           "Fetches the sector at the address ahead of demand, for a warp of an SM, unless it is dropped, "  \
           "as all are with prefetch_queue = 0, the default, which configure() can raise",                   \
           TAKES(WHOLE_NUMBER("address"), WHOLE_NUMBER("warp", .max = 63),                                   \
                 WHOLE_NUMBER("sm", .max = MAX_SMS - 1)))

/* Is the first prefetch older than the request at the tags, which is to wait for a cycle then? Requests that a part
 * in front of the tags has put aside go before both. */
COLD bool prefetch_goes_first(const Prefetches *prefetches, uint64_t now);

/* The step of a tick in which a prefetch waits. `busy`: the tags have something else to look up. `next`: when
 * the cache must tick again; returns the same with what the queue needs. */
COLD uint64_t prefetch_step(Prefetches *prefetches, bool busy, uint64_t next, uint64_t now);

/* See Class.is_sound, convert, check and report. */
void prefetch_is_sound(const Prefetches *prefetches, bool fits);
void prefetch_convert(Prefetches *prefetches, const SavedObject *saved);
void prefetch_check(const Prefetches *prefetches, bool idle);
void prefetch_report(const Prefetches *prefetches, FILE *out);

#endif
