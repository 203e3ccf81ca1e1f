/* Parts that look on at what a cache does, called from its own tick. What no observer sees costs a look at
 * SimObject.subscribed, which is there for events. */
#ifndef WW_MEM_CACHE_OBSERVER_H
#define WW_MEM_CACHE_OBSERVER_H

#include "mem/protocol/memory_protocol.h"

typedef struct CacheObserver CacheObserver;

/* Bits of SimObject.subscribed, for SEEN_BY_PART. */
typedef enum {
    SEES_ACCESSES,
    SEES_MISSES,
    SEES_REPLACEMENTS,
    SEES_FILLS,
    SEES_ANSWERS,
    SEES_WRITE_BACKS
} CacheSight;

/* What an observer leaves NULL is not called. `result` is a Result, `line` a line of the tag array or
 * NO_LINE.
 */
struct CacheObserver {
    CacheObserver *next;
    /* A request misses and will be taken; nothing has changed yet. */
    void (*missed)(CacheObserver *observer, const MemMessage *m, uint64_t line_address);
    /* A request has been served or has begun to wait: lines are as they are then, but for one that the
     * request itself drops, which is still there. */
    void (*accessed)(CacheObserver *observer, const MemMessage *m, uint32_t result);
    /* The same of one that writes and does not bypass, in a line. */
    void (*wrote)(CacheObserver *observer, const MemMessage *m, uint32_t line);
    /* What is dirty in the line is sent back. Nobody reads the token of `m`, which is not answered: it may say to the
     * observers of the caches and memories below whose it is. */
    void (*written_back)(CacheObserver *observer, MemMessage *m, uint32_t line);
    /* A fetch has been answered, and the line has its sectors. */
    void (*filled)(CacheObserver *observer, const MemMessage *m, uint32_t line);
    /* How many places below the most recently used a missing line enters; of several observers, the last. It
     * is asked before `replaced`. */
    uint32_t (*insertion_depth)(CacheObserver *observer, uint64_t line_address);
    /* A request is about to replace what the line holds. */
    void (*evicted)(CacheObserver *observer, uint32_t line);
    /* What the line holds, if anything, is about to be replaced by a request or a copy of the host. */
    void (*replaced)(CacheObserver *observer, uint32_t line);
    /* Without timing: a request has brought the line, or goes on below to change it there. */
    void (*untold)(CacheObserver *observer, uint64_t address);
    /* What lies below has answered a request of this cache, which has not dealt with it yet. */
    void (*answered)(CacheObserver *observer, const MemMessage *m, uint64_t now);
    /* Nothing valid is left. Between quanta. */
    void (*cleared)(CacheObserver *observer);
};

#endif
