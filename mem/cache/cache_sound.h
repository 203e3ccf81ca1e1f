/* Can the state that a snapshot has brought to a cache be worked with? All of these panic when it cannot. */
#ifndef WW_MEM_CACHE_SOUND_H
#define WW_MEM_CACHE_SOUND_H

#include "mem/cache/cache.h"

/* Tags, MSHRs, queues. See Class.is_sound. */
void cache_is_sound(const CacheObject *object, bool fits);
/* A request that looks up the tags, or has. */
void cache_request_is_sound(const CacheObject *object, const MemMessage *m);
/* A queue of it called `name`. */
void delay_queue_is_sound(const CacheObject *object, const DelayQueue *queue, const char *name);
/* A time until which something is busy. */
bool tick_is_sound(const SimObject *object, uint64_t tick);
/* A stack of numbers below `limit`, each of which is in it once at the most. */
void stack_is_sound(const char *path, const char *name, const uint32_t *stack, uint32_t count,
                    uint32_t limit);

#endif
