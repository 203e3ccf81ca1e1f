/* The requests inside a cache that are to be answered, and the answers that it awaits itself: fills, sector
 * by sector, and answers to what it has passed on. */
#include "mem/cache/cache_answers.h"

#include <stdlib.h>

enum { SECTORS_MAX = LINE_BYTES_MAX / SECTOR_BYTES };

void visit_delay_queue(const CacheObject *object, const DelayQueue *queue, RequestVisitor *visit,
                       void *context) {
    for (uint32_t i = 0; i < queue->count; i++) {
        const MemMessage *m = &queue->message[(queue->first + i) & (queue->slots - 1)];
        if (!(m->flags & MEM_POSTED)) visit(context, object->cpu.receive, m);
    }
}

static void visit_mshrs(const CacheObject *object, RequestVisitor *visit, void *context) {
    const Mshr *mshr = &object->cache.mshr;
    for (uint32_t e = 0; e < mshr->fresh; e++)
        for (uint32_t i = 0; i < mshr->entry[e].merged && mshr->entry[e].pending; i++) {
            uint32_t slot = mshr_slot(&mshr->shape, e, i);
            if (mshr->missing[slot]) visit(context, object->cpu.receive, &mshr->request[slot]);
        }
    for (uint32_t i = 0; i < mshr->woken_count; i++)
        visit(context, object->cpu.receive,
              &mshr->request[mshr->woken[(mshr->woken_first + i) % mshr->shape.slots]]);
}

/* Of the places that were ever used, those that are not in the list of free ones; to be freed. */
static uint8_t *used_places(const BypassedRequests *bypassed) {
    uint8_t *used = calloc(bypassed->fresh + 1, 1);
    ensure_memory(used);
    for (uint32_t i = 0; i < bypassed->fresh; i++)
        used[i] = 1;
    for (uint32_t i = 0; i < bypassed->released_count; i++)
        used[bypassed->released[i]] = 0;
    return used;
}

void visit_cache(const CacheObject *object, const BypassedRequests *bypassed, RequestVisitor *visit,
                 void *context) {
    uint8_t *used = used_places(bypassed);
    visit_delay_queue(object, &object->cache.pipeline, visit, context);
    visit_mshrs(object, visit, context);
    for (uint32_t i = 0; i < bypassed->fresh; i++)
        if (used[i]) visit(context, object->cpu.receive, &bypassed->original[i]);
    free(used);
}

/* --- What it awaits: first the sectors of each MSHR, then what was passed on */

uint32_t cache_answer_kinds(const Cache *c, const BypassedRequests *bypassed) {
    return c->mshr.fresh * SECTORS_MAX + bypassed->fresh;
}

uint32_t cache_answer_kind(const Cache *c, const BypassedRequests *bypassed, const MemMessage *m) {
    uint32_t fills = c->mshr.fresh * SECTORS_MAX, place = m->token & ~BYPASSED_TOKEN;
    if (bypassed_is_token(m->token)) return place < bypassed->fresh ? fills + place : NO_ANSWER_AWAITED;
    if (m->token >= c->mshr.fresh) return NO_ANSWER_AWAITED;
    uint64_t offset = m->address - c->mshr.entry[m->token].address;
    bool is_sector = offset < c->tags.shape.line_bytes && m->bytes == 1u << c->tags.shape.sector_shift &&
                     offset % m->bytes == 0 && m->kind == MEM_READ;
    return is_sector ? m->token * SECTORS_MAX + (uint32_t)(offset >> c->tags.shape.sector_shift)
                     : NO_ANSWER_AWAITED;
}

/* What stands in the miss queue is not on its way yet. */
static void leave_out_unsent(const Cache *c, const BypassedRequests *bypassed, uint32_t *awaited) {
    const MissQueue *queue = &c->misses;
    for (uint32_t i = 0; i < queue->count; i++) {
        uint32_t slot = (queue->first + i) & (queue->slots - 1);
        MemMessage m = queue->message[slot];
        if (m.flags & MEM_POSTED) continue;
        uint64_t line = m.address;
        uint32_t sectors = queue->sectors[slot] ? queue->sectors[slot] : 1;
        for (; sectors; sectors &= sectors - 1) {
            if (queue->sectors[slot])
                m.address = line + ((uint64_t)__builtin_ctz(sectors) << c->tags.shape.sector_shift);
            uint32_t kind = cache_answer_kind(c, bypassed, &m);
            if (kind != NO_ANSWER_AWAITED) awaited[kind]--;
        }
    }
}

void cache_answers_awaited(const Cache *c, const BypassedRequests *bypassed, uint32_t *awaited) {
    uint32_t fills = c->mshr.fresh * SECTORS_MAX;
    for (uint32_t e = 0; e < c->mshr.fresh; e++)
        for (uint32_t sectors = c->mshr.entry[e].pending; sectors; sectors &= sectors - 1)
            awaited[e * SECTORS_MAX + (uint32_t)__builtin_ctz(sectors)]++;
    for (uint32_t i = 0; i < bypassed->fresh; i++)
        awaited[fills + i]++;
    for (uint32_t i = 0; i < bypassed->released_count; i++)
        awaited[fills + bypassed->released[i]]--;
    leave_out_unsent(c, bypassed, awaited);
}
