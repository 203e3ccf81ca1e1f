/* The re-execution queue as a tag front (Mascar, Sethia et al., HPCA 2015, section III-C and Fig. 8):
 * accesses that the cache does not take are put aside and tried again, so that others of the load/store unit
 * go on.
 *
 * In the paper the queue stands beside the load/store unit, which learns in the same cycle whether the cache
 * takes an access. Here the unit and the tags are objects apart, and whatever passes between objects takes a
 * cycle at least; with the answers that way, every warp would have to hold its next access back until the
 * last one is known to be taken. So the queue stands where that is known, in front of the tags: the links and
 * the pipeline before it are the unit's last stages, and an access that goes into the queue makes room in
 * them. */
#ifndef WW_MEM_REEXECUTION_FRONT_H
#define WW_MEM_REEXECUTION_FRONT_H

#include "mem/cache/tag_front.h"
#include "mem/parts/reexecution_queue/reexecution_queue.h"

typedef struct {
    TagFront front;
    ReexecutionQueue queue;
    uint64_t queue_cycle; /* the first in which the queue has not had its turn yet */
    uint64_t again;       /* when to look at it again */
    uint64_t allowed;     /* warps that may take lines: what its accesses were last tried under */
    uint32_t switches;    /* the same, of the cache's other knobs */
    uint32_t tags_held;   /* the last access is looked up until it is taken */
    uint32_t use;         /* a knob: put into the queue what the cache does not take */
    uint32_t is_new;      /* what was offered is new, not the queue's head */
    uint32_t has_older;   /* ... and its warp has another in the queue */
    uint32_t pad;
    uint64_t pushes, refusals, retries, hits_under_miss;
} ReexecutionFront;

#define REEXECUTION_FRONT_ROWS(T, m)                                                                         \
    PARAM_NAMED(T, m.queue.entries, "reexecution_entries", "0", "accesses",                                  \
                "Re-execution queue, for accesses that are not taken; 0: they wait at the tags",             \
                .max = REEXECUTION_ENTRIES_MAX, .timing = true)                                              \
    , TAG_FRONT_ROWS(T, m.front), REEXECUTION_ROWS(T, m.queue),                                              \
        STATE(T, m.queue_cycle, "First cycle in which the queue has not had its turn")                       \
    , HOST(T, m.again, "When to look at it again")                                                           \
    , STATE(T, m.allowed, "What the accesses in the queue were last tried under")                            \
    , STATE(T, m.switches, "The same")                                                                       \
    , STATE(T, m.tags_held, "The last access is looked up until it is taken")                                \
    , HOST(T, m.is_new, "What is looked up is new")                                                          \
    , HOST(T, m.has_older, "Its warp has another in the queue")                                              \
    , DERIVED(T, m.pad, "Alignment")                                                                         \
    , STAT_NAMED(T, m.pushes, "reexecution_pushes", "accesses", "Put into the re-execution queue"),          \
        STAT_NAMED(T, m.refusals, "reexecution_refusals", "accesses",                                        \
                   "Of them, as misses of warps that may not"),                                              \
        STAT_NAMED(T, m.retries, "reexecution_retries", "tries", "Tries of its head"),                       \
        STAT_NAMED(T, m.hits_under_miss, "hits_under_miss", "accesses",                                      \
                   "Hits while the re-execution queue held others")

extern const TagFrontClass reexecution_front;

/* Is there a queue, or one that was transferred to a changed machine? */
static inline bool reexecution_is_there(const ReexecutionFront *r) {
    return (r->queue.entries | r->queue.count) != 0;
}
/* Knobs of the cache on which depends what it takes: warps whose misses it serves, warps that may take lines,
 * and switches, by value. */
void reexecution_knobs_set(ReexecutionFront *r, uint64_t may_miss, uint64_t may_allocate, uint32_t switches);
/* The warp of the access at its head at the beginning of `cycle`; NO_WARP_WAITS. */
uint32_t reexecution_head_warp(const ReexecutionFront *r, uint64_t cycle);

#endif
