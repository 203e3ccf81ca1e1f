/* Accesses without timing: see Class.take_untimed. Tags, replacement order, dirty sectors and written bytes become what
 * the accesses would have left, each done before the next one comes. */
#ifndef WW_MEM_UNTIMED_H
#define WW_MEM_UNTIMED_H

#include "mem/cache/cache.h"

/* Each returns whether the cache had the sectors, or what a cache below answers to a request that is sent on. */

/* Sent on as it came. */
bool untimed_pass(const CacheObject *object, const MemMessage *m);
/* The line found, if any, is written back and forgotten; the request is sent on. */
bool untimed_drop_and_pass(CacheObject *object, const MemMessage *m, const Lookup *at);
/* Of a read that need not go on: the cache has all its sectors. */
static inline bool untimed_has(CacheObject *object, const MemMessage *m, const Lookup *at) {
    if (!cache_holds(&object->cache, at)) return false;
    cache_forget_failed_try(&object->cache);
    cache_use_line(&object->cache, m, at->line);
    return true;
}
/* The sectors are there afterwards. The request is sent on when every way that it may take is reserved. */
bool untimed_read(CacheObject *object, const MemMessage *m, Lookup *at);
/* The same of cache_write(). */
bool untimed_write(CacheObject *object, const MemMessage *m, Lookup *at, bool lazy);
/* Switched off: tags are kept up to date, and the request is sent on. */
bool untimed_pass_while_off(CacheObject *object, const MemMessage *m, Lookup *at);

#endif
