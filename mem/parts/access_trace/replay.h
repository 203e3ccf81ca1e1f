/* What a cache would have missed under other replacement: a recorded trace again, under LRU and under
 * Belady's optimal replacement (Rogers et al., section 4), which replaces the line whose next use is
 * farthest. */
#ifndef WW_MEM_REPLAY_H
#define WW_MEM_REPLAY_H

#include "mem/parts/access_trace/access_trace.h"

enum { REPLAY_WAYS_MAX = 4096 };

/* Of reads, and of writes that take a line. Where a line is there at once, nothing merges. */
typedef struct {
    uint64_t hits, misses, merges;
} ReplayCounts;

typedef struct {
    ReplayCounts measured; /* what the cache did                                                       */
    ReplayCounts timed;    /* LRU with the fills when they came: with the same geometry, what it did   */
    ReplayCounts lru;      /* LRU, lines there at once                                                 */
    ReplayCounts optimal;  /* the line used latest, or never again, is replaced; lines there at once   */
} Replay;

/* Reads the trace twice, backwards and forwards. Holds a block of it in memory, the cache, and the lines in
 * use between two invalidations; the next uses, 8 B a record, go to a temporary file. False with the reason
 * in `why`, of TRACE_WHY bytes, when the trace is damaged. `shape` must have the trace's line and sectors. */
bool replay_trace(TraceReader *trace, const TagShape *shape, Replay *replay, char *why);

#endif
