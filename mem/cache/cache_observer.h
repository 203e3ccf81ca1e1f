/* Parts that see what a cache does, called from its own tick. A cache without one takes no notice of it. */
#ifndef WW_MEM_CACHE_OBSERVER_H
#define WW_MEM_CACHE_OBSERVER_H

#include "mem/protocol/memory_protocol.h"

typedef struct CacheObserver CacheObserver;

/* What an observer leaves NULL is not called. `result` is a Result, `line` a line of the tag array or
 * NO_LINE.
 */
struct CacheObserver {
    CacheObserver *next;
    /* A request has been served or has begun to wait: lines are as they are then, but for one that the
     * request itself drops, which is still there. */
    void (*accessed)(CacheObserver *observer, const MemMessage *m, uint32_t result);
    /* A fetch has been answered, and the line has its sectors. */
    void (*filled)(CacheObserver *observer, const MemMessage *m, uint32_t line);
    /* What the line holds, if anything, is about to be replaced. */
    void (*replaced)(CacheObserver *observer, uint32_t line);
    /* Nothing valid is left. Between quanta. */
    void (*cleared)(CacheObserver *observer);
};

#endif
