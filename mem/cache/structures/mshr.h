/* Miss status holding registers: one entry per line with fills in flight, and in each the requests that wait
 * for it. Plain data and functions, embedded in a cache object. All-zero state is an empty table. Places for
 * requests grow with what merges: of the thousands that large caches may hold, few are ever used.
 *
 * An entry lives from the first miss until its last waiting request has been answered. Once all its fills are
 * in, it can no longer be found: a later miss on the line opens a new entry. */
#ifndef WW_MEM_MSHR_H
#define WW_MEM_MSHR_H

#include "mem/protocol/memory_protocol.h"

#define NO_MSHR UINT32_MAX

enum { MSHR_PLACES_MAX = 1 << 16, MSHR_REQUESTS_AT_FIRST = 4 /* of each entry, that there is room for */ };

typedef struct {
    uint64_t address; /* of the line                                                          */
    uint32_t set;
    uint32_t line;       /* the line of the tag array reserved for it, or NO_LINE                */
    uint32_t pending;    /* sectors in flight                                                    */
    uint16_t merged;     /* requests that ever waited here, the first included                   */
    uint16_t waiting;    /* of those, not answered yet                                           */
    uint32_t prefetched; /* of `pending`: fetched ahead of demand, and not asked for since (prefetch.h) */
    uint32_t pad;
} MshrEntry;

/* A table that was larger keeps its places, and may hold more than its limits until it has drained. */
typedef struct {
    uint32_t entries; /* at most in use                         */
    uint32_t merges;  /* requests per entry, the first included */
    uint32_t places;  /* entries that there is room for         */
    /* Request i of entry e waits in slot (i << entry_shift) + e: the first ones of all entries, which most are, stand side by
     * side in the host's memory. */
    uint32_t entry_shift;
    uint32_t slots;                 /* that there is room for so far */
    uint32_t buckets, bucket_shift; /* hash table over the line addresses of entries with fills in flight */
    uint32_t hints; /* of the table: its buckets have the entry opened last, in flight or not */
} MshrShape;

typedef struct {
    MshrShape shape;
    MshrEntry *entry;
    MemMessage *request;            /* per slot */
    uint32_t *missing;              /* per slot: sectors that the request still waits for           */
    uint32_t *woken;                /* ring of slots: requests that may be answered, oldest first   */
    uint32_t *bucket;               /* entry + 1, or 0; linear probing, unless it has hints         */
    uint32_t *released;             /* stack of entries that were used before and are free          */
    uint64_t used;                  /* entries in use                                    */
    uint32_t released_count, fresh; /* entries fresh and up were never used              */
    uint32_t woken_first, woken_count;
    uint64_t lent; /* of those in use: to requests that no line and nobody else knows of (l1_dma_port.h) */
    uint64_t held; /* of those in use: by reads that passed the cache by (bypassed.h)                    */
} Mshr;

#define MSHR_ROWS(T, m)                                                                                      \
    DERIVED(T, m.shape.entries, "MSHRs that may be in use")                                                  \
    , DERIVED(T, m.shape.merges, "Requests that one may hold")                                               \
    , STATE(T, m.shape.places, "Size of the MSHR table")                                                     \
    , STATE(T, m.shape.entry_shift, "log2 of the slots from a request of an entry to its next")              \
    , STATE(T, m.shape.slots, "Requests that there is room for")                                             \
    , STATE(T, m.shape.buckets, "Size of its hash table")                                                    \
    , STATE(T, m.shape.bucket_shift, "64 - log2 of that")                                                    \
    , DERIVED(T, m.shape.hints, "The hash table has hints")                                                  \
    , STATE_ARRAY(T, m.entry, m.shape.places, "MSHR entries")                                                \
    , STATE_ARRAY(T, m.request, m.shape.slots, "Requests waiting in MSHRs")                                  \
    , STATE_ARRAY(T, m.missing, m.shape.slots, "Sectors that each of them waits for")                        \
    , STATE_ARRAY(T, m.woken, m.shape.slots, "Requests whose data has come, in order")                       \
    , STATE_ARRAY(T, m.bucket, m.shape.buckets, "Hash table from line address to entry")                     \
    , STATE_ARRAY(T, m.released, m.shape.places, "Free entries that were used before")                       \
    , STATE(T, m.used, "Entries in use")                                                                     \
    , STATE(T, m.lent, "Entries in use for a DMA engine")                                                    \
    , STATE(T, m.held, "Entries in use for reads that passed by")                                            \
    , STATE(T, m.released_count, "Entries in the list of free ones")                                         \
    , STATE(T, m.fresh, "First entry that was never used")                                                   \
    , STATE(T, m.woken_first, "Oldest woken request")                                                        \
    , STATE(T, m.woken_count, "Woken requests")

/* 1 <= entries <= 65536, 1 <= merges <= 65535. */
void mshr_shape_init(MshrShape *shape, uint32_t entries, uint32_t merges);
/* The most slots that there will be. */
static inline uint32_t mshr_most_slots(const MshrShape *shape) {
    return shape->merges << shape->entry_shift;
}
/* A table that was transferred from another machine: room for the entries that this one allows. */
void mshr_make_room(Mshr *mshr);

static inline bool mshr_full(const Mshr *mshr) {
    return mshr->used >= mshr->shape.entries;
}
/* The hash table. */
static inline uint32_t mshr_home_bucket(const Mshr *mshr, uint64_t line_address) {
    return (uint32_t)((line_address >> 5) * 0x9e3779b97f4a7c15ull >> mshr->shape.bucket_shift);
}
static inline uint32_t mshr_next_bucket(const Mshr *mshr, uint32_t bucket) {
    return (bucket + 1) & (mshr->shape.buckets - 1);
}
/* Where the cache hardly asks for lines that have no entry, a search may take long: nothing is ever removed. */
static inline void mshr_hint(Mshr *mshr, uint32_t entry, uint64_t line_address) {
    mshr->bucket[mshr_home_bucket(mshr, line_address)] = entry + 1;
}

/* A free entry, which is in use from now on. */
static inline uint32_t mshr_take_entry(Mshr *mshr) {
    debug_ensure(!mshr_full(mshr));
    mshr->used++;
    return mshr->released_count ? mshr->released[--mshr->released_count] : mshr->fresh++;
}
/* Of an entry that was opened: has its last request been answered? Two reads: one of both numbers would wait for what has just
 * been stored in one of them. */
static inline bool mshr_is_free(const Mshr *mshr, uint32_t entry) {
    uint32_t pending = mshr->entry[entry].pending, waiting = mshr->entry[entry].waiting;
    __asm__("" : "+r"(pending));
    return !pending & !waiting;
}
/* Where request `number` of an entry is kept, and of which entry the request in a slot is. */
static inline uint32_t mshr_slot(const MshrShape *shape, uint32_t entry, uint32_t number) {
    return (number << shape->entry_shift) + entry;
}
static inline uint32_t mshr_entry_of(const MshrShape *shape, uint32_t slot) {
    return slot & ((1u << shape->entry_shift) - 1);
}
/* Where the request that began to wait last in an entry is kept. */
static inline uint32_t mshr_last_slot(const Mshr *mshr, uint32_t entry) {
    return mshr_slot(&mshr->shape, entry, mshr->entry[entry].merged - 1u);
}
/* Requests per entry that there is room for. */
static inline uint32_t mshr_slots_per_entry(const MshrShape *shape) {
    return shape->slots >> shape->entry_shift;
}
static inline bool mshr_can_merge(const Mshr *mshr, uint32_t entry) {
    return mshr->entry[entry].merged < mshr->shape.merges;
}

/* The entry with fills in flight for the line, or NO_MSHR. */
uint32_t mshr_find(const Mshr *mshr, uint64_t line_address);
/* Opens an entry without fills in flight yet; the table must not be full and must not have one for the line.
 * The caller adds to `pending` what it fetches. */
uint32_t mshr_open(Mshr *mshr, uint64_t line_address, uint32_t set, uint32_t line);
/* mshr_open() and mshr_wait() for a request of which all that is missing is fetched now. The table has hints. */
static inline __attribute__((always_inline)) uint32_t mshr_open_for(Mshr *mshr, uint64_t line_address,
                                                                    uint32_t set, uint32_t line,
                                                                    const MemMessage *request,
                                                                    uint32_t missing) {
    uint32_t entry = mshr_take_entry(mshr), slot = mshr_slot(&mshr->shape, entry, 0);
    mshr->entry[entry] = (MshrEntry){
        .address = line_address, .set = set, .line = line, .pending = missing, .merged = 1, .waiting = 1};
    mshr_hint(mshr, entry, line_address);
    mshr->request[slot] = *request;
    mshr->missing[slot] = missing;
    return entry;
}
/* Lets a request wait until the sectors `missing` have come. */
void mshr_wait(Mshr *mshr, uint32_t entry, const MemMessage *request, uint32_t missing);
/* Sectors that were in flight have come: wakes the requests that wait for nothing else, oldest first. */
void mshr_fill(Mshr *mshr, uint32_t entry, uint32_t sectors);

/* Does the entry hold a single request, which these sectors would wake, and which would be the only one woken? */
static inline bool mshr_wakes_one(const Mshr *mshr, uint32_t entry, uint32_t sectors) {
    const MshrEntry *e = &mshr->entry[entry];
    return (e->merged == 1) & (e->waiting == 1) & (e->pending == sectors) & (mshr->woken_count == 0);
}
/* Such a request has been answered in the cycle in which the sectors came: as mshr_fill() and mshr_pop_woken(). */
void mshr_answer_one(Mshr *mshr, uint32_t entry);

/* The oldest woken request, or NULL. */
static inline const MemMessage *mshr_woken(const Mshr *mshr) {
    return mshr->woken_count ? &mshr->request[mshr->woken[mshr->woken_first]] : NULL;
}
/* It has been answered. */
void mshr_pop_woken(Mshr *mshr);

#endif
