/* The conservation of answers in a cache; see Class. */
#ifndef WW_MEM_CACHE_ANSWERS_H
#define WW_MEM_CACHE_ANSWERS_H

#include "mem/cache/bypassed.h"

void visit_delay_queue(const CacheObject *object, const DelayQueue *queue, RequestVisitor *visit,
                       void *context);
/* Those in front of the tags, in MSHRs, and passed on. */
void visit_cache(const CacheObject *object, const BypassedRequests *bypassed, RequestVisitor *visit,
                 void *context);

uint32_t cache_answer_kinds(const Cache *c, const BypassedRequests *bypassed);
uint32_t cache_answer_kind(const Cache *c, const BypassedRequests *bypassed, const MemMessage *m);
void cache_answers_awaited(const Cache *c, const BypassedRequests *bypassed, uint32_t *awaited);

#endif
