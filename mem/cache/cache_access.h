/* The parts of an access: what the tags know of a request, and what becomes of it. */
#ifndef WW_MEM_CACHE_ACCESS_H
#define WW_MEM_CACHE_ACCESS_H

#include "mem/cache/cache_tick.h"

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

/* Tells subscribers what became of a request. `at`: where the tags have or keep its line by then; NULL: nobody
 * has looked. */
void cache_emit(const Cache *cache, const MemMessage *m, const Lookup *at, Result result);

static inline Stream cache_stream_of(const MemMessage *m) {
    return m->kind == MEM_ATOMIC  ? STREAM_ATOMIC
           : m->flags & MEM_LOCAL ? (Stream)(STREAM_LOCAL_READ + m->kind)
                                  : (Stream)(STREAM_READ + m->kind);
}
static inline __attribute__((always_inline)) void
cache_count_in(Cache *cache, const MemMessage *m, const Lookup *at, Result result, Stream stream) {
    cache->stats.results[result]++;
    cache->stats.stream_results[stream][result]++;
    if (__builtin_expect(cache_owner(cache)->subscribed & ACCESSES_SUBSCRIBED, 0)) {
        Lookup shown = at ? *at : (Lookup){0}; /* a copy: so `at` may be in registers of the host */
        cache_emit(cache, m, at ? &shown : NULL, result);
    }
}
static inline __attribute__((always_inline)) void cache_count(Cache *cache, const MemMessage *m,
                                                              const Lookup *at, Result result) {
    cache_count_in(cache, m, at, result, cache_stream_of(m));
}
/* The same of a read. */
static inline __attribute__((always_inline)) void cache_count_read(Cache *cache, const MemMessage *m,
                                                                   const Lookup *at, Result result) {
    debug_ensure(m->kind == MEM_READ);
    cache_count_in(cache, m, at, result, m->flags & MEM_LOCAL ? STREAM_LOCAL_READ : STREAM_READ);
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
