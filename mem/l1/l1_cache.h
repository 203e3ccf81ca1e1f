/* The state of an L1, shared by its files: l1_cache.c, the class, what an access means; l1_front.c, what
 * stands in front of the tags. */
#ifndef WW_MEM_L1_CACHE_H
#define WW_MEM_L1_CACHE_H

#include "mem/cache/passing.h"
#include "mem/parts/dma_port/l1_dma_port.h"
#include "mem/parts/prioritization_buffer/prioritization_buffer.h"
#include "mem/parts/reexecution_queue/reexecution_queue.h"
#include "mem/parts/saturation/saturation.h"
#include "mem/parts/warp_sampler/warp_sampler.h"
#include "mem/protocol/caches.h"

/* Functions for caches with a queue or a buffer, kept out of the straight path of the others. */
#define ATTENTIVE __attribute__((noinline))

typedef struct {
    SimObject obj;
    Port cpu, mem;
    Cache cache;
    uint32_t latency, write_policy, local_allocate;
    uint32_t enabled;      /* a knob                             */
    uint64_t may_allocate; /* a knob: warps that may take a line */
    Passing passing;
    Port dma;
    L1DmaPort transfers;
    WarpSampler *sampler; /* a policy's part of the SM, or NULL */
    Saturation saturation;
    uint64_t may_miss;                 /* a knob: warps whose misses are served */
    uint64_t memory_watched;           /* a knob: of whose next memory_accesses the first is told */
    uint32_t reexecution;              /* a knob: put into the queue what the cache does not take */
    uint32_t attentive;                /* there is a queue or a buffer, or blocked hits are watched */
    uint64_t queue_cycle;              /* the first in which the queue has not had its turn yet */
    uint64_t may_allocate_seen;        /* what its accesses were last tried under */
    uint32_t switches_seen, tags_held; /* the last access is looked up until it is taken */
    uint32_t watch_blocked_hits, blocked_hit;
    ReexecutionQueue queue;
    PrioritizationBuffer buffer; /* holds what is new at the tags, if it has places */
    uint64_t blocked_hit_since;
    uint32_t bypass_line_fails; /* a knob */
    uint32_t keeps_lines;
    uint64_t line_fail_bypasses;
    uint64_t needs_mshr; /* what was last tried in vain is a read of which no MSHR has the line */
    uint64_t pushes, refusals, retries, hits_under_miss, blocked_hit_cycles;
} L1Cache;

typedef enum { L1_SATURATION = CACHE_EVENTS_END, L1_TAKEN, L1_MEMORY_ACCESS } L1Event;

CACHE_IS_FIRST_OF(L1Cache);

/* May it use what lies below? To join a line that is under way counts as a miss. */
static inline bool l1_may_miss(const L1Cache *l1, const MemMessage *m) {
    return l1->may_miss >> (m->warp & 63) & 1;
}

/* The access looks the tags up. */
Stall l1_access(L1Cache *l1, const MemMessage *m, uint64_t now);
SELDOM void l1_tell_taken(L1Cache *l1, const MemMessage *m);
/* While some warps may not miss, policies want to know when those that may are done. */
static inline void l1_note_taken(L1Cache *l1, const MemMessage *m) {
    if (__builtin_expect(l1->may_miss != ~0ull, 0) && l1_may_miss(l1, m)) l1_tell_taken(l1, m);
}

/* --- l1_front.c --- */
/* A line or way has changed for those that wait for one in the set of `m`. */
static inline void l1_set_has_changed(L1Cache *l1, const MemMessage *m) {
    const TagShape *shape = &l1->cache.tags.shape;
    if (!l1->queue.count) return;
    reexecution_set_changed(&l1->queue, tag_set(shape, m->address), m->address, shape->line_bytes);
}
/* The tags' part of a cycle in an attentive cache. Returns when to look at the queue again. */
uint64_t l1_attend(L1Cache *l1, uint64_t now);
/* The end of its cycle. Returns when to look again at the buffer and at what wants to join it. */
uint64_t l1_end_cycle(L1Cache *l1, uint64_t now);
/* Knobs have been set, by policies or by a snapshot, or have their first values. */
void l1_front_knobs_set(L1Cache *l1);
/* Counts up to the beginning of `cycle`. */
void l1_settle_front(L1Cache *l1, uint64_t cycle);

#endif
