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

/* Way -1: the request is in no line. */
#define CACHE_ACCESS_ARGUMENTS "sm, warp, address, pc, write, class, set, way"

/* clang-format off */
#define CACHE_EVENT_ROWS(bypass_question)                                                                                     \
    [CACHE_HIT] = {"hit", CACHE_ACCESS_ARGUMENTS, NULL, "A request found all its sectors"},                \
    [CACHE_MISS] = {"miss", CACHE_ACCESS_ARGUMENTS, NULL,                                                  \
                    "A request found a sector neither there nor in flight; set and way: of the line that it took"},       \
    [CACHE_MERGE] = {"merge", CACHE_ACCESS_ARGUMENTS, NULL, "A request waits for sectors in flight"},      \
    [CACHE_EVICT] = {"evict", "sm, warp, address, class, set, way, dirty, pc, uses", NULL,                                             \
                     "A line was replaced; sm and warp: of the request that had reserved it; class: likewise, or of its last user where insertion_position or retention_priority is set; pc and uses: of the line, as line_pc and line_uses had them, 0 without line_history"},        \
    [CACHE_FILL] = {"fill", "sm, warp, address, hit, set, way, pc, class", NULL,                                                 \
                    "What a warp had fetched has come; hit: the cache below had it"},                        \
    [CACHE_RESERVATION_FAIL] = {"reservation_fail", "sm, warp, address, cause, pc, write, class", NULL,                       \
                                "A request stops at the tags for want of, by cause, 1: a line, 2: an MSHR, " \
                                "3: a place in its line's MSHR, 4: the miss queue"},                         \
    [CACHE_ASK_BYPASS] = {"bypass", "sm, warp, address, pc, class", &yes_or_no, bypass_question},    \
    [CACHE_ASK_VICTIM] = {"victim", "set, ways, lru, sm, warp, address, pc, class", &cache_victim_question,                                                  \
                          "The set is full: which of these ways, a set of bits, shall be replaced by the line of this request? lru: that which the cache would choose. The answer -1: none, and the request passes the cache by, unless it is an atomic"}, \
    [CACHE_ASK_INSERTION] = {"insertion", "set, last, sm, warp, address, pc, write, class, prefetch, gone, dirty, uses", &cache_insertion_question, \
                             "The line of this request enters the set: where, from 0 to last, from which lines go first? With replacement lru: so many places below the most recently used; with srrip and its like: the prediction; with others last is 0. gone: the address of the line that it replaces, -1 for none; dirty, uses: of that line, as evict has them"}, \
    [CACHE_ASK_PROMOTION] = {"promotion", "set, last, at, way, sm, warp, address, pc, write, class", &cache_promotion_question, \
                             "This request hits its line, or merges: where, from 0 to last as for insertion, shall the line stand now? at: where it stood; without an answer it goes to 0"}
/* clang-format on */

#define STREAM_ROWS(T, stream, n, d)                                                                         \
    STAT_NAMED(T, cache.stats.stream_results[stream][RESULT_HIT], n "_hits", "accesses", d " that hit"),     \
        STAT_NAMED(T, cache.stats.stream_results[stream][RESULT_MISS], n "_misses", "accesses",              \
                   d " that missed"),                                                                        \
        STAT_NAMED(T, cache.stats.stream_results[stream][RESULT_MERGE], n "_merges", "accesses",             \
                   d " to sectors in flight"),                                                               \
        STAT_NAMED(T, cache.stats.stream_results[stream][RESULT_BYPASS], n "_bypasses", "accesses",          \
                   d " that bypassed")

#define STALL_ROWS(T, stall, n, d)                                                                           \
    STAT_NAMED(T, cache.stats.stall_events[stall - 1], n "s", "events", "Requests stopped at the tags: " d), \
        STAT_NAMED(T, cache.stats.stall_cycles[stall - 1], n "_cycles", "cycles", "Cycles so stopped")

/* clang-format off */
#define CHOICE_ROW(T, m, n, def, words, d, ...)                                                              \
    {.kind = FIELD_PARAM, .type = TYPE_U32, .name = n, .initial = def, .unit = "choice", .choices = words,   \
     .doc = d, FIELD_AT(T, m), __VA_ARGS__}

#define CACHE_ENABLED_ROW(T)                                                                                 \
    {.kind = FIELD_PARAM, .type = TYPE_U32, .name = "enabled", .initial = "true", .unit = "flag",            \
     .flag = true, .knob = true,                                                                             \
     .doc = "false: everything bypasses, only the tags are kept up to date", FIELD_AT(T, enabled)}

#define CACHE_PARAMETER_ROWS(T)                                                                              \
    PARAM_NAMED(T, cache.parameters.size, "size", REQUIRED, "bytes", "Capacity", .converts = true),          \
    PARAM_NAMED(T, cache.parameters.ways, "ways", REQUIRED, "lines", "Lines per set", .min = 1, .max = 1 << 24, \
                .converts = true),                                                                           \
    PARAM_NAMED(T, cache.parameters.line, "line", "128", "bytes", "Line size: 32, 64 or 128 B"),             \
    PARAM_NAMED(T, cache.parameters.sectors, "sectors", "1", "sectors",                                      \
                "Parts of a line that are fetched alone, at least 32 B each"),                               \
    CHOICE_ROW(T, cache.parameters.index, "index", "linear", "linear|xor",                                   \
               "Set index: line number modulo sets, or parities of address bits", .converts = true),         \
    PARAM_NAMED(T, cache.parameters.index_masks, "index_masks", "", "masks",                                 \
                "For xor: a mask of address bits per index bit, bit 0 first: \"0x80,0x100\"",                \
                .converts = true),                                                                           \
    CHOICE_ROW(T, cache.parameters.allocate, "allocate", "miss", "miss|fill",                                \
               "When a read that missed takes a line; writes that allocate do so at once"),                  \
    PARAM_NAMED(T, cache.parameters.mshrs, "mshrs", REQUIRED, "entries", "Lines with fills in flight",       \
                .min = 1, .max = 65536, .converts = true),                                                   \
    PARAM_NAMED(T, cache.parameters.merges, "merges", "8", "requests",                                       \
                "Requests that one MSHR can hold, the first included", .min = 1, .max = 4096,                \
                .converts = true),                                                                           \
    PARAM_NAMED(T, cache.parameters.miss_queue, "miss_queue", "8", "messages", "Queue for the memory side",  \
                .min = 2, .max = 65536, .converts = true),                                                   \
    PARAM_NAMED(T, cache.parameters.insertion_position, "insertion_position", "", "ways",                                \
                "How far below the most recently used the lines of each class enter, class 0 first: "        \
                "\"0,15,7\"; 0 unless named, 255: at the least", .timing = true),                                            \
    PARAM_NAMED(T, cache.parameters.retention_priority, "retention_priority", "", "ranks",                                 \
                "Lines of a class with less are replaced before those with more, class 0 first; 0 unless named", .timing = true), \
    PARAM_NAMED(T, cache.parameters.retention_uses, "retention_uses", "0", "uses",                           \
                "So many uses of the cache is a step of retention_priority worth; 0: more than any number",  \
                .max = 1ull << 40, .timing = true),                                                          \
    REPLACEMENT_PARAMETER_ROWS(T, cache.replacement)

#define CACHE_STATE_ROWS(T)                                                                                  \
    TAG_ARRAY_STATE_ROWS(T, cache.tags),                                                                     \
    {.kind = FIELD_STATE, .type = TYPE_U32, .name = "lines_used", .unit = "lines",                           \
     .doc = "Of a fully associative cache with more than 64 ways: lines that were ever used",                \
     FIELD_AT(T, cache.tags.hash.fresh)},                                                                    \
    REPLACEMENT_STATE_ROWS(T, cache.replacement),                                                            \
    MSHR_ROWS(T, cache.mshr),                                                                                \
    STATE_ARRAY(T, cache.written, cache.tags.shape.lines, "Bytes written in each line"),                     \
    STATE_ARRAY(T, cache.pipeline.message, cache.pipeline.slots, "Requests in front of the tags"),           \
    STATE_ARRAY(T, cache.pipeline.ready, cache.pipeline.slots, "When each reaches the tags"),                \
    STATE(T, cache.pipeline.slots, "Size of that ring"),                                                     \
    DERIVED(T, cache.pipeline.limit, "Requests it may hold"),                                                \
    STATE(T, cache.pipeline.first, "Oldest request in it"),                                                  \
    STATE(T, cache.pipeline.count, "Requests in it"),                                                        \
    STATE_ARRAY(T, cache.misses.message, cache.misses.slots, "Messages for the memory side"),                \
    STATE_ARRAY(T, cache.misses.sectors, cache.misses.slots, "Sectors that each still has to fetch"),        \
    STATE(T, cache.misses.slots, "Size of that ring"),                                                       \
    DERIVED(T, cache.misses.limit, "Messages it may hold"),                                                  \
    STATE(T, cache.misses.first, "Oldest message in it"),                                                    \
    STATE(T, cache.misses.count, "Messages in it"),                                                          \
    DERIVED(T, cache.period, "Ticks per cycle"),                                                             \
    DERIVED(T, cache.pipeline_ticks, "Ticks from accepting a request to the tags"),                          \
    DERIVED(T, cache.port_mask, "Width of the data port - 1"),                                               \
    DERIVED(T, cache.port_shift, "log2 of the width of the data port"),                                      \
    STATE(T, cache.data_busy_until, "When the data array is free"),                                          \
    STATE(T, cache.stall, "Why the request at the tags waits"),                                              \
    STATE(T, cache.stall_since, "Cycle up to which that is counted"),                                        \
    STATE(T, cache.put_aside, "Requests that came to the tags and wait elsewhere"),                                      \
    STATE(T, cache.ahead.requests, "Accesses that did not come by the link"),                                \
    STATE(T, cache.ahead.answers, "Hits whose answer did not go by the link"),                               \
    STATE(T, cache.ahead.inside, "Such accesses that are not at the tags yet"),                              \
    HOST(T, cache.ahead.owner, "Who keeps them"),                                                            \
    HOST(T, cache.failed, "What the request at the tags is blocked on"),                                 \
    HOST(T, cache.accepts_from, "When the next request may be accepted, where that is ahead of time"),   \
    HOST(T, cache.observers, "Parts that see what it does"),                                                 \
    HOST(T, cache.fronts, "What stands in front of the tags"),                                               \
    HOST(T, cache.last_front, "Of these the nearest to the tags that offers requests"),                      \
    HOST(T, cache.attached, "Of these the objects of their own")

#define CACHE_STAT_ROWS(T)                                                                                   \
    STAT_NAMED(T, cache.stats.accesses, "accesses", "accesses", "Requests accepted"),                        \
    STAT_NAMED(T, cache.stats.results[RESULT_HIT], "hits", "accesses", "All sectors were there"),            \
    STAT_NAMED(T, cache.stats.results[RESULT_MISS], "misses", "accesses",                                    \
               "A sector was neither there nor in flight"),                                                  \
    STAT_NAMED(T, cache.stats.results[RESULT_MERGE], "merges", "accesses", "What was not there was in flight"), \
    STAT_NAMED(T, cache.stats.results[RESULT_BYPASS], "bypasses", "accesses",                                \
               "Sent on without asking the tags for data"),                                                  \
    STREAM_ROWS(T, STREAM_READ, "read", "Reads of global, constant, texture memory and code"),               \
    STREAM_ROWS(T, STREAM_WRITE, "write", "Writes of global memory"),                                        \
    STREAM_ROWS(T, STREAM_LOCAL_READ, "local_read", "Reads of local memory"),                                \
    STREAM_ROWS(T, STREAM_LOCAL_WRITE, "local_write", "Writes of local memory"),                             \
    STREAM_ROWS(T, STREAM_ATOMIC, "atomic", "Atomics"),                                                      \
    STALL_ROWS(T, STALL_LINE, "line_fail", "every way of the set was reserved"),                             \
    STALL_ROWS(T, STALL_MSHR_ENTRY, "mshr_entry_fail", "no MSHR was free"),                                  \
    STALL_ROWS(T, STALL_MSHR_MERGE, "mshr_merge_fail", "the line's MSHR was full"),                          \
    STALL_ROWS(T, STALL_MISS_QUEUE, "miss_queue_fail", "the miss queue was full"),                           \
    STALL_ROWS(T, STALL_BYPASSED, "bypassed_stall", "too many bypassed requests were in flight"),                 \
    STALL_ROWS(T, STALL_RESPONSE, "response_stall", "the response link was taken"),                          \
    STALL_ROWS(T, STALL_DATA_PORT, "data_port_stall", "the data array was busy"),                            \
    STALL_ROWS(T, STALL_REFUSED, "refused_stall", "a policy refuses the warp's misses"),                     \
    STALL_ROWS(T, STALL_QUEUE_FULL, "reexecution_full_stall", "the re-execution queue was full"),            \
    STALL_ROWS(T, STALL_ORDER, "reexecution_order_stall", "their warp has an older instruction in it"),      \
    STAT_NAMED(T, cache.stats.evictions, "evictions", "lines", "Lines replaced"),                            \
    STAT_NAMED(T, cache.tags.protected_evictions, "protected_evictions", "lines",                                                \
               "Replacements that spared the least recently used line, for its class"),                      \
    STAT_NAMED(T, cache.tags.low_priority_insertions, "low_priority_insertions", "lines",                                                    \
               "Lines that did not enter as the most recently used, for their class"),                       \
    STAT_NAMED(T, cache.stats.write_backs, "write_backs", "messages", "Dirty lines written back"),           \
    STAT_NAMED(T, cache.stats.fetches, "fetches", "messages", "Lines or sectors asked for below"),           \
    STAT_NAMED(T, cache.stats.fills, "fills", "messages", "Lines or sectors that came"),                     \
    STAT_NAMED(T, cache.stats.prefetch_reads, "prefetch_reads", "accesses",                                  \
               "Of the accesses, fetches that a cache above sent ahead of demand"),                          \
    STAT_NAMED(T, cache.stats.data_port_cycles, "data_port_cycles", "cycles",                                \
               "The data array's port moved what hit or was written back; of an L1: what was written"),      \
    FORMULA("miss_rate", cache_miss_rate, "fraction",                                                        \
            "misses / (hits + misses + merges), all streams, bypasses left out"),                            \
    FORMULA("miss_or_merge_rate", cache_miss_or_merge_rate, "fraction",                                      \
            "(misses + merges) / (hits + misses + merges)"),                                                 \
    FORMULA("read_miss_rate", cache_read_miss_rate, "fraction", "As miss_rate, of the stream `read` alone")

#define CACHE_ROWS(T)                                                                                        \
    BASE(T),                                                                                                 \
    PORT(T, cpu, memory_protocol, ROLE_RESPONDER, "From the processor side"),                                \
    PORT(T, mem, memory_protocol, ROLE_REQUESTER, "To the memory side"),                                     \
    CACHE_PARAMETER_ROWS(T), CACHE_STATE_ROWS(T), CACHE_STAT_ROWS(T)
/* clang-format on */

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
#define CACHE_CONVERTED_ROWS                                                                                 \
    "cache.tags.tag", "cache.tags.line", "cache.written", "cache.tags.used", "cache.tags.hash.bucket",       \
        "cache.tags.hash.links", REPLACEMENT_ARRAYS
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

/* The steps of a tick. */

/* What lies below has answered: to be called before the cache deals with it. */
COLD void cache_show_answer(const Cache *cache, const MemMessage *m, uint64_t now);
static inline void cache_note_answer(const CacheObject *object, const MemMessage *m, uint64_t now) {
    if (__builtin_expect(object->obj.subscribed & ANSWERS_SUBSCRIBED, 0))
        cache_show_answer(&object->cache, m, now);
}
void cache_send_oldest_woken(Cache *cache, Link *to_cpu, uint64_t now);
/* Answers the oldest request that has all its sectors. */
static inline void cache_send_woken(Cache *cache, Link *to_cpu, uint64_t now) {
    if (cache->mshr.woken_count) cache_send_oldest_woken(cache, to_cpu, now);
}
/* There is one, and the link has room. */
static inline __attribute__((always_inline)) void cache_send_oldest_miss(Cache *c, Link *to_mem,
                                                                         uint64_t now) {
    MissQueue *queue = &c->misses;
    uint32_t slot = queue->first, sectors = queue->sectors[slot];
    MemMessage *oldest = &queue->message[slot];
    uint64_t address = oldest->address;
    if (sectors) {
        oldest->address += (uint64_t)__builtin_ctz(sectors) << c->tags.shape.sector_shift;
        c->stats.fetches++;
        queue->sectors[slot] = sectors &= sectors - 1;
    }
    if (!link_hand_over(to_mem, oldest, now)) *(MemMessage *)link_send_checked(to_mem, now) = *oldest;
    oldest->address = address;
    queue->count -= sectors == 0;
    queue->first = (slot + (sectors == 0)) & (queue->slots - 1);
    if (!sectors) audit_leave(cache_owner(c), QUEUE_MISSES, slot);
}
static inline void cache_send_miss(Cache *cache, Link *to_mem, uint64_t now) {
    if (cache->misses.count && link_can_send_straight(to_mem, now))
        cache_send_oldest_miss(cache, to_mem, now);
}
static inline uint32_t cache_miss_queue_room(const Cache *cache) {
    const MissQueue *queue = &cache->misses;
    return queue->count < queue->limit ? queue->limit - queue->count : 0;
}
/* The request that has reached the tags, or NULL. */
static inline const MemMessage *cache_request_at_tags(const Cache *cache, uint64_t now) {
    const DelayQueue *queue = &cache->pipeline;
    return queue->count && queue->ready[queue->first] <= now ? &queue->message[queue->first] : NULL;
}
/* Would the request at the tags be stopped for the same reason again? A write looks for room for its answer
 * first. */
static inline bool cache_retry_would_fail(const CacheObject *object, const MemMessage *m, uint64_t now) {
    const Cache *c = &object->cache;
    if (c->failed.stall == STALL_NONE || c->failed.stall != c->stall) return false;
    if (m->kind == MEM_WRITE && !link_can_send(object->cpu.send, now)) return false;
    if (c->stall == STALL_MSHR_ENTRY) return mshr_full(&c->mshr);
    return c->stall != STALL_MISS_QUEUE || cache_miss_queue_room(c) < c->failed.messages;
}
/* Debug builds make such tries, to see that they fail. */
#ifdef WW_DEBUG
enum { RETRY_ANYWAY = 1 };
#else
enum { RETRY_ANYWAY = 0 };
#endif
/* Something else than fills has changed what a try depends on: lines, knobs, the data port. */
static inline void cache_forget_failed_try(Cache *cache) {
    cache->failed.stall = STALL_NONE;
}
bool cache_knobs_set(SimObject *object);
void cache_subscribers_changed(SimObject *object);
/* Slots of a ring for so many messages: a power of two. */
uint32_t ring_size(uint32_t messages);
/* Room for as many messages as are in flight in `cycles`. */
void delay_queue_build(DelayQueue *queue, uint32_t cycles);
static inline MemMessage *delay_queue_push(DelayQueue *queue, uint64_t ready, uint32_t *slot) {
    *slot = (queue->first + queue->count++) & (queue->slots - 1);
    queue->ready[*slot] = ready;
    return &queue->message[*slot];
}
/* Takes the first away; returns its slot. */
static inline uint32_t delay_queue_pop(DelayQueue *queue) {
    uint32_t slot = queue->first;
    queue->first = (slot + 1) & (queue->slots - 1);
    queue->count--;
    return slot;
}
/* A user error unless the request is inside one line. */
void cache_require_inside_line(const CacheObject *object, const MemMessage *m);
/* Messages in the queue that want an answer. */
uint64_t delay_queue_answers_due(const DelayQueue *queue);
/* Counts why the access `m`, at the tags, waits. */
void cache_change_stall(CacheObject *object, const MemMessage *m, Stall stall, uint64_t now);
static inline void cache_note_stall(CacheObject *object, const MemMessage *m, Stall stall, uint64_t now) {
    if (stall != object->cache.stall) cache_change_stall(object, m, stall, now);
}
/* What became of it: gone when `stall` is STALL_NONE, else still there. */
static inline void cache_end_access(CacheObject *object, Stall stall, uint64_t now) {
    DelayQueue *queue = &object->cache.pipeline;
    cache_note_stall(object, &queue->message[queue->first], stall, now);
    if (stall) return;
    uint32_t slot = delay_queue_pop(queue);
    audit_leave(&object->obj, QUEUE_PIPELINE, slot);
    (void)slot;
}
static inline __attribute__((always_inline)) void cache_accept_request(CacheObject *object,
                                                                       const MemMessage *m, uint64_t now) {
    Cache *c = &object->cache;
    DelayQueue *queue = &c->pipeline;
    cache_require_inside_line(object, m);
    uint32_t slot;
    *delay_queue_push(queue, now + c->pipeline_ticks, &slot) = *m;
    c->stats.accesses++;
    if (__builtin_expect(m->payload != 0, 0)) c->stats.prefetch_reads += mem_is_prefetch(m);
    audit_enter(&object->obj, QUEUE_PIPELINE, slot);
    audit_promise(&object->obj, !(m->flags & MEM_POSTED));
    link_pop(object->cpu.receive, now);
}
static inline void cache_accept(CacheObject *object, uint64_t now) {
    const DelayQueue *queue = &object->cache.pipeline;
    const MemMessage *m;
    if (queue->count < queue->limit &&
        (m = link_peek(object->cpu.receive, now))) /* more: resumed with a shorter one */
        cache_accept_request(object, m, now);
}

/* Of a cache that is told of requests at the end of a quantum alone, and accepts each as soon as it may: at once those
 * of this quantum that have a place in any case. */
void cache_accept_ahead(CacheObject *object, uint64_t now);
/* Nobody could see that it does so. */
static inline bool cache_may_accept_ahead(const CacheObject *object) {
    return link_is_cut(object->cpu.receive) && object_unseen_until(&object->obj);
}

/* When to tick again. What the host cannot foresee is computed without a branch. */

static inline uint64_t cache_only_if(bool condition, uint64_t time) {
    return time | -(uint64_t)!condition; /* NEVER is all ones */
}
/* A request that waits for an MSHR, a line or the miss queue gets it in a tick that has another reason. */
static inline uint64_t cache_access_time(const CacheObject *object, uint64_t soon) {
    const Cache *c = &object->cache;
    if (c->stall == STALL_NONE) return c->pipeline.ready[c->pipeline.first];
    if (c->stall == STALL_RESPONSE) return link_send_time(object->cpu.send, soon);
    return c->stall == STALL_DATA_PORT ? c->data_busy_until : NEVER;
}
/* `below`: when to look again at what comes from the memory side. */
static inline __attribute__((always_inline)) uint64_t cache_next_tick(const CacheObject *object,
                                                                      uint64_t below, uint64_t now) {
    const Cache *c = &object->cache;
    uint64_t next = below, soon = now + c->period;
    bool waiting = c->pipeline.count != 0, room = c->pipeline.count < c->pipeline.limit;
    next = earlier_of(next, cache_only_if(waiting, cache_access_time(object, soon)));
    next = earlier_of(next, cache_only_if(room, link_next_ready(object->cpu.receive)));
    if (c->misses.count) next = earlier_of(next, link_send_time(object->mem.send, soon));
    if (c->mshr.woken_count) next = earlier_of(next, link_send_time(object->cpu.send, soon));
    return next > soon ? next : soon;
}

/* The parts of an access. */

/* The sectors of its line that the request is about. */
static inline uint32_t cache_sectors(const TagShape *shape, const MemMessage *m) {
    if (shape->sectors == 1 || __builtin_expect(!m->sectors, 1))
        return tag_sectors(shape, m->address, m->bytes);
    uint32_t line_offset = (uint32_t)tag_line_address(shape, m->address) % LINE_BYTES_MAX;
    uint32_t sectors = m->sectors >> line_offset / SECTOR_BYTES;
    if (1u << shape->sector_shift == SECTOR_BYTES) return sectors;
    uint32_t pairs = (sectors | sectors >> 1) & 5; /* two to each of the halves of a whole line */
    return (pairs | pairs >> 1) & 3;
}

/* Looks the request up in the set of `index_address`. */
static inline __attribute__((always_inline)) Lookup cache_lookup(const Cache *cache, const MemMessage *m,
                                                                 uint64_t index_address) {
    Lookup at = {.line_address = tag_line_address(&cache->tags.shape, m->address),
                 .set = tag_set(&cache->tags.shape, index_address),
                 .sectors = cache_sectors(&cache->tags.shape, m)};
    at.line = tag_find(&cache->tags, at.set, at.line_address);
    return at;
}

/* What the last try of this request, the first in the pipeline, found, if it is still so; else NULL. Fills of the set and
 * whatever else changes lines without using them have made that try unknown. */
static inline const Lookup *cache_found(const Cache *cache, const MemMessage *m) {
    const FailedTry *failed = &cache->failed;
    bool same = (failed->request == m) & (failed->stall == cache->stall) & (failed->uses == cache->tags.uses);
    return same && failed->stall ? &failed->at : NULL;
}

/* The MSHR of the line looked up, or NO_MSHR. Where misses take lines at once, one with an MSHR is in the
 * tags and has reserved sectors. */
static inline uint32_t cache_mshr_of(const Cache *c, const Lookup *at) {
    bool reserved = at->line != NO_LINE && c->tags.line[at->line].reserved;
    if (!reserved && c->parameters.allocate == ALLOCATE_ON_MISS) return NO_MSHR;
    return mshr_find(&c->mshr, at->line_address);
}
static inline bool cache_holds(const Cache *cache, const Lookup *at) {
    return at->line != NO_LINE && (at->sectors & ~(uint32_t)cache->tags.line[at->line].valid) == 0;
}
static inline bool cache_is_dirty(const Cache *cache, uint32_t line) {
    return line != NO_LINE && cache->tags.line[line].dirty;
}

/* From init() of a part of the same cluster. */
void cache_observe(Cache *cache, CacheObserver *observer);
COLD void cache_observe_no_more(Cache *cache, const CacheObserver *observer);
/* What a request that does not get on waits for, in words. */
const char *cache_stall_name(Stall stall);
extern const TraceClass cache_trace;
/* Tells subscribers what became of a request. `at`: where the tags have or keep its line by then; NULL: nobody
 * has looked. */
void cache_emit(const Cache *cache, const MemMessage *m, const Lookup *at, Result result);

static inline __attribute__((always_inline)) void cache_count(Cache *cache, const MemMessage *m,
                                                              const Lookup *at, Result result) {
    Stream stream = m->kind == MEM_ATOMIC  ? STREAM_ATOMIC
                    : m->flags & MEM_LOCAL ? (Stream)(STREAM_LOCAL_READ + m->kind)
                                           : (Stream)(STREAM_READ + m->kind);
    cache->stats.results[result]++;
    cache->stats.stream_results[stream][result]++;
    if (__builtin_expect(cache_owner(cache)->subscribed & ACCESSES_SUBSCRIBED, 0)) {
        Lookup shown = at ? *at : (Lookup){0}; /* a copy: so `at` may be in registers of the host */
        cache_emit(cache, m, at ? &shown : NULL, result);
    }
}

/* The answer of policies to CACHE_ASK_BYPASS, for a request in a queue of the cache or the link before it;
 * nobody asks about anything but reads. They are asked once about each request, when it first matters: how
 * often it is tried must not be seen by anyone. */
COLD bool cache_ask_bypass(const Cache *cache, const MemMessage *m);
static inline bool cache_policy_bypasses(const Cache *cache, const MemMessage *m) {
    return object_has_subscriber(cache_owner(cache), CACHE_ASK_BYPASS) && m->kind == MEM_READ &&
           cache_ask_bypass(cache, m);
}
/* A request comes to the line; `found`: and hits, or merges with one that waits for what it lacks. */
COLD void cache_use_watched_line(Cache *cache, const MemMessage *m, uint32_t line, bool found);
/* The same where policies are not asked. */
void cache_reach_line_untold(Cache *cache, const MemMessage *m, uint32_t line, bool found);
static inline void cache_reach_line(Cache *cache, const MemMessage *m, uint32_t line, bool found) {
    if (__builtin_expect(cache->tags.order.bent != 0, 0))
        cache_use_watched_line(cache, m, line, found);
    else
        tag_touch(&cache->tags, line);
}
static inline void cache_use_line(Cache *cache, const MemMessage *m, uint32_t line) {
    cache_reach_line(cache, m, line, true);
}
/* `line`, whose former contents are lost, is that of `m` from now on. */
static inline void cache_install(Cache *cache, uint32_t line, uint64_t line_address, const MemMessage *m) {
    if (__builtin_expect(cache->tags.order.bent & ORDER_WATCHED, 0))
        replacement_entered(&cache->replacement, &cache->tags, line, m);
    tag_install(&cache->tags, line, line_address, m->sm, m->warp, m->class_number);
}
/* The line of the set that `m` would replace, or NO_LINE, where policies are not asked. */
static inline uint32_t cache_candidate(const Cache *cache, const MemMessage *m, uint32_t set) {
    bool watched = __builtin_expect(cache->tags.order.bent & ORDER_WATCHED, 0);
    if (watched && replacement_chooses(&cache->replacement))
        return replacement_victim(&cache->replacement, &cache->tags, m, set);
    return tag_victim(&cache->tags, set);
}
/* Do policies say which line goes instead of the candidate? They have no say where an empty way is taken. */
static inline bool cache_policy_replaces(const Cache *cache, uint32_t candidate) {
    return object_has_subscriber(cache_owner(cache), CACHE_ASK_VICTIM) && candidate != NO_LINE &&
           cache->tags.tag[candidate];
}
/* The line that policies want to be replaced by that of `m`, instead of `candidate` of the set, which is valid; NO_LINE:
 * none. They are asked once, when nothing but their answer is wanting. */
COLD uint32_t cache_ask_victim(const Cache *cache, const MemMessage *m, uint32_t set, uint32_t candidate);
static inline uint32_t cache_victim(const Cache *cache, const MemMessage *m, uint32_t set,
                                    uint32_t candidate) {
    return cache_policy_replaces(cache, candidate) ? cache_ask_victim(cache, m, set, candidate) : candidate;
}
/* Must there be room for a write-back before the candidate of the set, or what policies want instead, is
 * replaced? */
COLD bool cache_any_is_dirty(const Cache *cache, uint32_t set);
static inline bool cache_victim_is_dirty(const Cache *cache, uint32_t set, uint32_t candidate) {
    return cache_policy_replaces(cache, candidate) ? cache_any_is_dirty(cache, set)
                                                   : cache_is_dirty(cache, candidate);
}

/* The request at the tags is blocked on this; STALL_MISS_QUEUE: so many places in it. Until it may have come,
 * cache_retry_would_fail() is true. Returns `stall`. */
static inline Stall cache_fail(Cache *cache, const Lookup *at, Stall stall, uint32_t messages) {
    cache->failed.stall = stall;
    cache->failed.set = at->set;
    cache->failed.messages = messages;
    cache->failed.request = NULL;
    return stall;
}
/* A request whose sectors are not all there waits in an MSHR and fetches what is not in flight. `allocate`:
 * it takes a line now. Changes nothing when it returns a stall; else counts the result and updates `at`. */
Stall cache_miss(Cache *cache, const MemMessage *m, Lookup *at, bool allocate, uint64_t now);
/* Fetches the sectors of `m`, of whose line there is no MSHR, for nobody: no request waits, no result is
 * counted. Changes nothing when it returns a stall. */
Stall cache_fetch_ahead(Cache *cache, const MemMessage *m, Lookup *at, uint64_t now);
/* Writes into the line, which is allocated if need be. `lazy`: sectors written in part are not fetched.
 * Changes nothing when it returns a stall; else counts the result and gives it. */
Stall cache_write(Cache *cache, const MemMessage *m, Lookup *at, bool lazy, uint64_t now, Result *result);
/* Marks the sectors of the line dirty that `m` has changed; for requests that read them first. */
void cache_modify(Cache *cache, const MemMessage *m, const Lookup *at);
/* What sends back the dirty sectors of the line: these of the smallest segment of 32, 64 or 128 B that contains them
 * all, with a mask of the bytes written. */
MemMessage cache_write_back_message(const Cache *cache, uint32_t line, uint64_t now);
/* Sends back what is dirty in the line, which stays. Needs room in the miss queue. */
void cache_write_back_dirty(Cache *cache, uint32_t line, uint64_t now);
static inline void cache_write_back(Cache *cache, uint32_t line, uint64_t now) {
    if (cache->tags.line[line].dirty) cache_write_back_dirty(cache, line, now);
}
/* Writes back and forgets the line; sectors in flight still come. */
void cache_drop(Cache *cache, uint32_t line, uint64_t now);
/* Replaces the contents of `line`, writing back what is dirty. */
void cache_replace(Cache *cache, uint32_t line, const Lookup *at, const MemMessage *m, uint64_t now);
/* A place in the miss queue for the caller to fill at once: with a message that is sent as it is (`sectors`
 * 0), or with a read of the line's first sector that is sent once for each of `sectors`, moved there. */
static inline __attribute__((always_inline)) MemMessage *cache_send_down(Cache *cache, uint32_t sectors) {
    MissQueue *queue = &cache->misses;
    ensure(queue->count < queue->slots);
    uint32_t slot = (queue->first + queue->count++) & (queue->slots - 1);
    queue->sectors[slot] = sectors;
    audit_enter(cache_owner(cache), QUEUE_MISSES, slot);
    return &queue->message[slot];
}
/* Sends the response to a request; the link must have room. */
static inline __attribute__((always_inline)) void cache_respond(Link *to_cpu, const MemMessage *m,
                                                                uint8_t flags, uint64_t now) {
    MemMessage *response = link_send_checked(to_cpu, now);
    *response = *m;
    response->flags |= flags;
}
/* Cycles that `bytes` take through the data array's port, or through that for fills. */
static inline uint64_t cache_port_cycles(const Cache *cache, uint32_t bytes) {
    return (bytes + cache->port_mask) >> cache->port_shift;
}
static inline void cache_use_data_port(Cache *cache, uint32_t bytes, uint64_t now) {
    uint64_t cycles = cache_port_cycles(cache, bytes), until = now + cycles * cache->period;
    cache->stats.data_port_cycles += cycles;
    if (until > cache->data_busy_until) cache->data_busy_until = until;
}

#endif
