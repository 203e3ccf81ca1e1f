/* What L1 and L2 caches have in common: a pipeline in front of the tags, the tag array, MSHRs with the fills
 * in flight, a queue of messages for the memory side, and counters. The two classes differ in what an access
 * means.
 *
 * A tick goes through the cache from its memory side to its processor side: take a fill, answer one request
 * that it woke, send one message down, look up one request, accept one. So whatever an older request gives
 * back in a cycle (an MSHR, a line, a place in the miss queue) the request that waits at the tags can take in
 * the same cycle. */
#ifndef WW_MEM_CACHE_H
#define WW_MEM_CACHE_H

#include "core/sim/event.h"
#include "mem/cache/cache_observer.h"
#include "mem/cache/replacement/replacement.h"
#include "mem/cache/structures/mshr.h"
#include "mem/cache/structures/tag_array.h"
#include "mem/protocol/caches.h"

/* Why the request at the tags cannot go on. The first four are the reservation fails. */
typedef enum {
    STALL_NONE,
    STALL_LINE,       /* every way of the set is reserved                       */
    STALL_MSHR_ENTRY, /* no MSHR is free                                        */
    STALL_MSHR_MERGE, /* the line's MSHR has all the requests it can hold       */
    STALL_MISS_QUEUE, /* no room for what must be sent down                     */
    STALL_BYPASSED,   /* too many requests in flight that only pass through     */
    STALL_RESPONSE,   /* the response link is full or its width used up         */
    STALL_DATA_PORT,  /* the data array is busy with earlier accesses           */
    STALL_REFUSED,    /* a policy does not let the warp's misses go below       */
    STALL_QUEUE_FULL, /* the re-execution queue has no place                    */
    STALL_ORDER,      /* an older instruction of its warp is in that queue      */
    STALLS,
    PASSES_BY = STALLS /* none: policies keep all lines of the set, and the request passes the cache by */
} Stall;

typedef enum {
    RESULT_HIT,    /* all sectors were there                                         */
    RESULT_MISS,   /* at least one sector was neither there nor in flight            */
    RESULT_MERGE,  /* those that were not there were in flight                       */
    RESULT_BYPASS, /* sent on without asking the tags for data                       */
    RESULTS
} Result;

typedef enum {
    STREAM_READ,
    STREAM_WRITE,
    STREAM_LOCAL_READ,
    STREAM_LOCAL_WRITE,
    STREAM_ATOMIC,
    STREAMS
} Stream;

typedef enum { ALLOCATE_ON_MISS, ALLOCATE_ON_FILL } Allocation;

/* Events that policies can subscribe to in every cache. A class's own events follow. */
typedef enum {
    CACHE_HIT,
    CACHE_MISS,
    CACHE_MERGE,
    CACHE_EVICT,
    CACHE_FILL,
    CACHE_RESERVATION_FAIL,
    CACHE_ASK_BYPASS,
    CACHE_ASK_VICTIM,
    CACHE_ASK_INSERTION,
    CACHE_ASK_PROMOTION,
    CACHE_EVENTS_END,
} CacheEvent;

/* In SimObject.subscribed of a cache: subscribers and observers. */
#define ACCESSES_SUBSCRIBED                                                                                  \
    (SEEN_BY_PART(SEES_ACCESSES) | 1u << CACHE_HIT | 1u << CACHE_MISS | 1u << CACHE_MERGE)
#define MISSES_SUBSCRIBED SEEN_BY_PART(SEES_MISSES)
#define REPLACEMENTS_SUBSCRIBED                                                                              \
    (SEEN_BY_PART(SEES_REPLACEMENTS) | 1u << CACHE_EVICT | 1u << CACHE_ASK_INSERTION)
#define FILLS_SUBSCRIBED       (SEEN_BY_PART(SEES_FILLS) | 1u << CACHE_FILL)
#define ANSWERS_SUBSCRIBED     SEEN_BY_PART(SEES_ANSWERS)
#define WRITE_BACKS_SUBSCRIBED SEEN_BY_PART(SEES_WRITE_BACKS)

/* One bit per byte of the 128 B block that holds an address. */
typedef __uint128_t ByteMask;

typedef struct {
    uint64_t size, retention_uses;
    char *index_masks, *insertion_position, *retention_priority;
    uint32_t ways, line, sectors, index, allocate, mshrs, merges, miss_queue;
} CacheParameters;

/* Messages in front of the tags, each with the time at which it reaches them. A ring that was larger keeps
 * its size, and may hold more than its limit until it has drained. */
typedef struct {
    MemMessage *message;
    uint64_t *ready;
    uint32_t slots, limit; /* ring size, a power of two; messages that may be inside */
    uint32_t first, count;
} DelayQueue;

/* Messages for the memory side. One that fetches names all sectors of its line that are needed, and leaves
 * sector by sector. */
typedef struct {
    MemMessage *message;
    uint32_t *sectors;     /* still to be fetched; 0: the message is sent as it is */
    uint32_t slots, limit; /* ring size, a power of two; messages that an access may find inside */
    uint32_t first, count;
} MissQueue;

typedef struct {
    uint64_t accesses, results[RESULTS], stream_results[STREAMS][RESULTS];
    uint64_t stall_events[STALLS - 1], stall_cycles[STALLS - 1]; /* of stall s: [s - 1] */
    uint64_t evictions, write_backs, fetches, fills, data_port_cycles, prefetch_reads;
} CacheStats;

/* Reads that a requester has not sent, as both know that they will hit: l1_hit_ahead(). */
typedef struct {
    uint64_t requests;      /* accepted that did not come by the link                    */
    uint64_t answers;       /* hits of which no answer went by the link                  */
    uint64_t inside;        /* of those accepted, still on their way to the tags         */
    const HitsAhead *owner; /* host: who keeps them; NULL: there are none           */
} AheadStats;

/* What the tags know of a request. */
typedef struct {
    uint64_t line_address;
    uint32_t set, line; /* line: NO_LINE when the tags do not have it */
    uint32_t sectors;   /* of the line that the request is about      */
    uint32_t victim;    /* 1 + the line that it would replace; 0: nobody has looked */
} Lookup;

/* What the request at the tags lacked when it was last tried and missed. Until that may have come another
 * try would end the same way, and is not made. */
typedef struct {
    uint64_t stall;            /* STALL_LINE to STALL_MISS_QUEUE; STALL_NONE: unknown */
    uint32_t set;              /* in which it wants a line                            */
    uint32_t messages;         /* places in the miss queue that it needs              */
    Lookup at;                 /* what was found, which still holds while */
    uint64_t uses;             /* the tags have counted no further use    */
    const MemMessage *request; /* which it was; NULL: nothing is known of what was found */
} FailedTry;

typedef struct TagFront TagFront; /* tag_front.h */

typedef struct {
    CacheParameters parameters;
    TagArray tags;
    Mshr mshr;
    ByteMask *written; /* per line: bytes written since it was brought in */
    DelayQueue pipeline;
    MissQueue misses;
    uint64_t period;                /* ticks */
    uint64_t pipeline_ticks;        /* from accepting a request to the tags */
    uint64_t port_mask, port_shift; /* width of the data array's port, bytes: mask + 1 = 1 << shift */
    uint64_t data_busy_until;
    uint64_t stall;                /* Stall of the request at the tags, as of its last try */
    uint64_t stall_since;          /* cycle up to which that stall is counted              */
    FailedTry failed;              /* host: unknown after a resume                      */
    uint64_t accepts_from;         /* host: cache_accept_ahead(), the next one; at a boundary that is past */
    uint64_t put_aside;            /* requests that came to the tags and wait elsewhere */
    CacheObserver *observers;      /* parts that look on; NULL: none */
    TagFront *fronts, *last_front; /* in front of the tags, all and the nearest that offers; NULL: none */
    TagFront *attached;            /* those that are objects of their own */
    CacheStats stats;
    Replacement replacement;
    AheadStats ahead;
} Cache;

/* How every cache object begins. */
typedef struct {
    SimObject obj;
    Port cpu, mem;
    Cache cache;
} CacheObject;

static inline SimObject *cache_owner(const Cache *cache) {
    return (SimObject *)((char *)(uintptr_t)cache - offsetof(CacheObject, cache));
}

/* Where messages wait in a cache, for the audit of its queues. */
typedef enum {
    QUEUE_PIPELINE,
    QUEUE_MISSES,
    QUEUE_MSHRS,
    QUEUE_WAITING,
    QUEUE_BYPASSED,
    QUEUE_REEXECUTION,
    QUEUE_BYPASSING,
    QUEUE_PRIORITIZATION,
    QUEUE_PREFETCHES,
} CacheQueue;

#define CACHE_IS_FIRST_OF(T)                                                                                 \
    _Static_assert(offsetof(T, cpu) == offsetof(CacheObject, cpu) &&                                         \
                       offsetof(T, cache) == offsetof(CacheObject, cache),                                   \
                   "a cache object begins like CacheObject")

extern const Question cache_victim_question, cache_insertion_question, cache_promotion_question;

/* Derives shapes and sizes from the parameters; for the class's build(). `pipeline_cycles` >= 1, `port_bytes`
 * a power of two. */
void cache_build(CacheObject *object, uint32_t pipeline_cycles, uint32_t port_bytes);

/* What the class table needs. */
/* The address that the set index of a line is computed from. */
typedef uint64_t CacheIndex(const SimObject *object, uint64_t address);
/* Takes over the lines of a cache of another size, ways or set index, and what is in flight in one with other
 * MSHRs and queues; see Class.convert. Beside its own, the rows of CACHE_CONVERTED_ROWS need not fit. */
bool cache_convert(SimObject *object, CacheIndex *index, const SavedObject *saved,
                   const struct SnapshotChanges *changes, char *why, size_t why_size);
/* Of a queue that was transferred from another machine: room for as many messages as this one allows. */
void delay_queue_make_room(DelayQueue *queue);
/* Panics unless every line stands in its set. */
void cache_check_sets(const CacheObject *object, CacheIndex *index);
void cache_init(SimObject *object);
/* See Class.clocks_changed. */
void cache_clocks_changed(CacheObject *object, const Clock *was);
void delay_queue_clocks_changed(const SimObject *object, DelayQueue *queue, const Clock *was);
void cache_settle(SimObject *object, uint64_t now);
/* Requests that were answered by the tags: all but bypasses. */
static inline uint64_t cache_looked_up(const CacheStats *stats) {
    return stats->results[RESULT_HIT] + stats->results[RESULT_MISS] + stats->results[RESULT_MERGE];
}
/* In cache_check.c. */
uint64_t cache_requests_in_mshrs(const Cache *cache);
/* `bypassed`: requests that were passed on and wait for their answer; `due`: others, neither in front of the
 * tags nor in MSHRs, that want one. */
void cache_check(const CacheObject *object, uint64_t bypassed, uint64_t due, bool idle);
void cache_report(const SimObject *object, FILE *out);
Ratio cache_miss_rate(const SimObject *object);
Ratio cache_miss_or_merge_rate(const SimObject *object);
Ratio cache_read_miss_rate(const SimObject *object);

/* From init() of a part of the same cluster. */
void cache_observe(Cache *cache, CacheObserver *observer);
COLD void cache_observe_no_more(Cache *cache, const CacheObserver *observer);
/* What a request that does not get on waits for, in words. */
const char *cache_stall_name(Stall stall);
extern const TraceClass cache_trace;

#endif
