/* The books of answers of a cache; see Class. */
#ifndef WW_MEM_CACHE_ANSWERS_H
#define WW_MEM_CACHE_ANSWERS_H

#include "mem/cache/passing.h"

void visit_delay_queue(const CacheObject *object, const DelayQueue *queue, RequestVisitor *visit,
                       void *context);
/* Those in front of the tags, in MSHRs, and passed on. */
void visit_cache(const CacheObject *object, const Passing *passing, RequestVisitor *visit, void *context);

uint32_t cache_answer_kinds(const Cache *c, const Passing *passing);
uint32_t cache_answer_kind(const Cache *c, const Passing *passing, const MemMessage *m);
void cache_answers_awaited(const Cache *c, const Passing *passing, uint32_t *awaited);

#endif
