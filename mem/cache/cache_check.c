/* The conservation laws of a cache. */
#include "mem/cache/cache_tick.h"

static void check_idle(const char *path, const Cache *c) {
    uint64_t requests = c->pipeline.count + c->put_aside + c->ahead.inside;
    if (c->mshr.used || c->mshr.woken_count || c->misses.count || requests)
        panic("%s is idle but holds %lu MSHRs, %u messages for the memory side and %lu requests", path,
              c->mshr.used, c->misses.count, requests);
    if (c->stats.fetches != c->stats.fills)
        panic("%s fetched %lu times and was filled %lu times", path, c->stats.fetches, c->stats.fills);
    for (uint32_t i = 0; i < tag_lines_used(&c->tags); i++)
        if (c->tags.line[i].reserved) panic("%s is idle but line %u is reserved", path, i);
}

static void check_results(const char *path, const Cache *c) {
    const CacheStats *stats = &c->stats;
    uint64_t done = cache_looked_up(stats) + stats->results[RESULT_BYPASS];
    uint64_t undone = c->pipeline.count + c->put_aside + c->ahead.inside;
    if (stats->accesses != done + undone)
        panic(
            "%s: %lu accesses, but %lu hits, misses, merges and bypasses, and %lu still in front of the tags "
            "or put aside",
            path, stats->accesses, done, undone);
    for (int result = 0; result < RESULTS; result++) {
        uint64_t sum = 0;
        for (int stream = 0; stream < STREAMS; stream++)
            sum += stats->stream_results[stream][result];
        if (sum != stats->results[result])
            panic("%s: the streams' results of kind %d add up to %lu, not %lu", path, result, sum,
                  stats->results[result]);
    }
}

/* MSHRs that were ever in use; a damaged snapshot may claim more than there are. */
static uint32_t opened_mshrs(const Mshr *mshr) {
    return mshr->fresh < mshr->shape.places ? mshr->fresh : mshr->shape.places;
}

/* Sectors in flight, those that have not been sent for yet included. */
static uint64_t sectors_pending(const Mshr *mshr) {
    uint64_t sectors = 0;
    for (uint32_t entry = 0; entry < opened_mshrs(mshr); entry++)
        sectors += (uint64_t)__builtin_popcount(mshr->entry[entry].pending);
    return sectors;
}

static uint64_t sectors_to_send_for(const MissQueue *queue) {
    uint64_t sectors = 0;
    for (uint32_t i = 0; i < queue->count; i++)
        sectors += (uint64_t)__builtin_popcount(queue->sectors[(queue->first + i) & (queue->slots - 1)]);
    return sectors;
}

static void check_fetches(const char *path, const Cache *c) {
    uint64_t pending = sectors_pending(&c->mshr), unsent = sectors_to_send_for(&c->misses), used = 0;
    if (c->stats.fetches + unsent != c->stats.fills + pending)
        panic("%s: %lu sectors fetched and %lu filled, but %lu are in flight, of which %lu still to be sent "
              "for",
              path, c->stats.fetches, c->stats.fills, pending, unsent);
    for (uint32_t entry = 0; entry < opened_mshrs(&c->mshr); entry++)
        used += !mshr_is_free(&c->mshr, entry);
    used += c->mshr.lent + c->mshr.held;
    if (used != c->mshr.used)
        panic("%s: %lu MSHRs wait for a fill or to answer or are lent or held, %lu are counted", path, used,
              c->mshr.used);
}

uint64_t cache_requests_in_mshrs(const Cache *c) {
    const Mshr *mshr = &c->mshr;
    uint64_t waiting = 0;
    for (uint32_t entry = 0; entry < opened_mshrs(mshr); entry++)
        waiting += mshr->entry[entry].waiting;
    return waiting;
}

uint64_t delay_queue_answers_due(const DelayQueue *queue) {
    uint64_t due = 0;
    for (uint32_t i = 0; i < queue->count; i++)
        due += !(queue->message[(queue->first + i) & (queue->slots - 1)].flags & MEM_POSTED);
    return due;
}

/* Who asked is answered exactly once. How many writes want no answer is known in debug builds alone. */
static void check_answers(const CacheObject *object, uint64_t unanswered) {
    const Cache *c = &object->cache;
    uint64_t answers = link_sent(object->cpu.send) + c->ahead.answers, promises;
    uint64_t taken = link_received(object->cpu.receive) + c->ahead.requests;
    if (c->stats.accesses != taken)
        panic("%s: %lu accesses, but %lu requests were taken", object_path(&object->obj), c->stats.accesses,
              taken);
    unanswered += c->ahead.inside + cache_requests_in_mshrs(c) + delay_queue_answers_due(&c->pipeline);
    if (answers + unanswered > c->stats.accesses)
        panic("%s: %lu answers and %lu requests to be answered after %lu accesses", object_path(&object->obj),
              answers, unanswered, c->stats.accesses);
    if (audit_promises(&object->obj, &promises) && answers + unanswered != promises)
        panic("%s: %lu requests need an answer; %lu answers were sent and %lu are still to come",
              object_path(&object->obj), promises, answers, unanswered);
}

static uint64_t messages_waiting_as_they_are(const MissQueue *queue) {
    uint64_t messages = 0;
    for (uint32_t i = 0; i < queue->count; i++)
        messages += queue->sectors[(queue->first + i) & (queue->slots - 1)] == 0;
    return messages;
}

/* What went below and is neither fetch nor write-back was passed on, and what came back and is no fill
 * answers it. Posted requests that are passed on, which write-backs from a cache above are, have no answer.
 */
static void check_memory_side(const CacheObject *object, uint64_t bypassed) {
    const Cache *c = &object->cache;
    bypassed += c->mshr.lent;
    uint64_t sent = link_sent(object->mem.send) + messages_waiting_as_they_are(&c->misses);
    uint64_t own = c->stats.fetches + c->stats.write_backs, came = link_received(object->mem.receive);
    if (sent < own || came < c->stats.fills || sent - own < came - c->stats.fills + bypassed)
        panic("%s: %lu messages for the memory side, %lu of them fetches and write-backs; %lu came back, %lu "
              "of "
              "them fills, and %lu passed on wait for their answer",
              object_path(&object->obj), sent, own, came, c->stats.fills, bypassed);
}

void cache_check(const CacheObject *object, uint64_t bypassed, uint64_t due, bool idle) {
    const char *path = object_path(&object->obj);
    check_results(path, &object->cache);
    check_fetches(path, &object->cache);
    check_answers(object, bypassed + due);
    check_memory_side(object, bypassed);
    if (idle) check_idle(path, &object->cache);
}
