/* The class of first-level caches: their rows, and what is no access and no tick. */
#include "mem/l1/l1_state.h"

#include "core/sim/checkpoint/snapshot.h"
#include "mem/cache/cache_answers.h"
#include "mem/cache/cache_methods.h"
#include "mem/cache/cache_rows.h"
#include "mem/cache/cache_sound.h"
#include "mem/cache/cache_tick.h"
#include "mem/protocol/caches.h"

#include <stdlib.h>

static void l1_build(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_build((CacheObject *)object, l1->latency, LINE_BYTES_MAX);
    saturation_build(&l1->saturation, &l1->cache.parameters);
    prioritization_build(&l1->prioritization.buffer);
    bypassed_build(&l1->bypassed);
    prefetch_build(&l1->prefetches, &l1->cache);
}

/* A changed machine may have got accesses of a queue that it has not. */
static void line_up_fronts(L1Cache *l1) {
    CacheObject *object = (CacheObject *)l1;
    cache_begin_fronts(object);
    if (l1->prioritization.buffer.places)
        cache_add_front(object, &l1->prioritization.front, &prioritization_front);
    if (reexecution_is_there(&l1->reexecution))
        cache_add_front(object, &l1->reexecution.front, &reexecution_front);
    if (l1->blocked_hits.watch) cache_add_front(object, &l1->blocked_hits.front, &blocked_hits);
    cache_end_fronts(object);
}

/* Of what the fronts may know of access_request(), beside the sets of warps. */
static void update_fronts(L1Cache *l1) {
    uint32_t switches = l1->enabled | l1->bypass_line_fails << 1;
    line_up_fronts(l1);
    reexecution_knobs_set(&l1->reexecution, l1->ownership.may_miss, l1->may_allocate, switches);
}

static uint64_t bypassed_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->bypassed.count;
}

static uint64_t reexecution_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->reexecution.queue.count;
}

static uint64_t prioritization_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->prioritization.buffer.count;
}

static uint64_t prefetch_count(const SimObject *object, uint32_t queue) {
    (void)queue;
    return ((const L1Cache *)object)->prefetches.queue.count;
}

static uint64_t index_address(const SimObject *object, uint64_t address) {
    (void)object;
    return address;
}

static void l1_init(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_init(object);
    audit_queue(object, QUEUE_BYPASSED, "requests that passed through", QUEUE_TABLE, l1->bypassed.limit,
                bypassed_count);
    audit_queue(object, QUEUE_REEXECUTION, "accesses to be tried again", QUEUE_TABLE, REEXECUTION_ENTRIES_MAX,
                reexecution_count);
    audit_queue(object, QUEUE_PRIORITIZATION, "requests in the prioritization buffer", QUEUE_TABLE,
                l1->prioritization.buffer.slots, prioritization_count);
    audit_queue(object, QUEUE_PREFETCHES, "prefetches", QUEUE_FIFO, l1->prefetches.queue.slots,
                prefetch_count);
    prefetch_init(&l1->prefetches, (CacheObject *)l1, index_address);
    l1->may_allocate = ~0ull;
    ownership_init(&l1->ownership);
    update_fronts(l1);
}

void l1_gets_slice(SimObject *object, const AddressMap *map, uint32_t slice) {
    ensure(object->class == &l1_class);
    L1Cache *l1 = (L1Cache *)object;
    if (!l1->gets) l1->gets = calloc(address_map_slices(map), 1);
    ensure_memory(l1->gets);
    l1->map = map;
    l1->gets_count += !l1->gets[slice];
    l1->gets[slice] = 1;
}

/* Is this bit the same in the numbers of all slices whose requests come? */
static bool is_constant(const L1Cache *l1, uint32_t bit) {
    uint32_t seen = 0;
    for (uint32_t slice = 0; slice < address_map_slices(l1->map); slice++)
        if (l1->gets[slice]) seen |= 1u << (slice >> bit & 1);
    return seen != 3;
}

void l1_slices_known(SimObject *object) {
    ensure(object->class == &l1_class);
    L1Cache *l1 = (L1Cache *)object;
    uint64_t chosen = 0;
    if (!l1->gets || l1->gets_count == address_map_slices(l1->map)) return;
    for (uint32_t bit = 0; address_map_slices(l1->map) >> bit > 1; bit++)
        if (is_constant(l1, bit)) chosen |= address_map_slice_bit(l1->map, bit);
    tag_shape_leave_out(&l1->cache.tags.shape, chosen);
}

/* Do requests for the address come to it? Where those of all slices do, pages need not lie anywhere yet. */
static bool gets(const L1Cache *l1, uint64_t address) {
    if (!l1->gets || l1->gets_count == address_map_slices(l1->map)) return true;
    return !(address >> MAX_ADDRESS_BITS) && address_map_is_placed(l1->map, address) &&
           l1->gets[address_map_slice(l1->map, address)];
}

static void l1_destroy(SimObject *object) {
    free(((L1Cache *)object)->gets);
}

SimObject *l1_of_part(const SimObject *part, const char *name) {
    char path[512];
    if (part->parent && part->parent->class == &l1_class) return part->parent;
    snprintf(path, sizeof path, "%s.%s", part->parent ? part->parent->path : "", name);
    SimObject *cache = part->parent ? sim_find(part->sim, path) : NULL;
    if (!cache) cache = sim_find(part->sim, name);
    if (!cache || cache->class != &l1_class)
        user_error("%s.cache: expected the name of an L1 beside it or the path of one, got '%s'", part->path,
                   name);
    if (cache->cluster != part->cluster)
        user_error(
            "%s.cache: expected an L1 that shares a cluster with it, got %s, which is behind a slow wire",
            part->path, cache->path);
    return cache;
}

bool l1_keeps_lines(const SimObject *object) {
    ensure(object->class == &l1_class);
    return ((const L1Cache *)object)->keeps_lines;
}

bool l1s_have_sectors(const Sim *sim) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class == &l1_class &&
            ((const L1Cache *)sim->objects[i])->cache.parameters.sectors > 1)
            return true;
    return false;
}

const Link *l1_onward(const SimObject *object, const Link *requests) {
    ensure(object->class == &l1_class);
    return dma_port_onward((const CacheObject *)object, &((const L1Cache *)object)->dma, requests);
}

bool l1_is_saturated(const SimObject *object) {
    ensure(object->class == &l1_class);
    return ((const L1Cache *)object)->saturation.on;
}

uint32_t l1_reexecution_head(const SimObject *object) {
    ensure(object->class == &l1_class);
    bool at_boundary = object_now(object) > object->cluster->now; /* then that cycle has not begun */
    uint64_t cycle = object_cycle(object, object_now(object)) + !at_boundary;
    return reexecution_head_warp(&((const L1Cache *)object)->reexecution, cycle);
}

const MemMessage *l1_bypassed(const SimObject *object, uint32_t token) {
    ensure(object->class == &l1_class);
    const BypassedRequests *bypassed = &((const L1Cache *)object)->bypassed;
    ensure((token & ~BYPASSED_TOKEN) < bypassed->fresh);
    return &bypassed->original[token & ~BYPASSED_TOKEN];
}

bool l1_holds(SimObject *object, uint32_t sm, uint32_t warp) {
    ensure(object->class == &l1_class);
    const Cache *c = &((L1Cache *)object)->cache;
    const DelayQueue *queue = &c->pipeline;
    if (fronts_hold(c, sm, warp)) return true;
    for (uint32_t i = queue->first, end = i + queue->count; i != end; i++) {
        const MemMessage *m = &queue->message[i & (queue->slots - 1)];
        if (m->warp == warp && m->sm == sm) return true;
    }
    return false;
}

void l1_visit_arriving(const SimObject *object, RequestVisitor *visit, void *context) {
    ensure(object->class == &l1_class);
    const CacheObject *cache = (const CacheObject *)object;
    const DelayQueue *queue = &cache->cache.pipeline;
    for (uint32_t i = queue->first, end = i + queue->count; i != end; i++)
        visit(context, cache->cpu.receive, &queue->message[i & (queue->slots - 1)]);
}

void l1_invalidate(SimObject *object) {
    ensure(object->class == &l1_class);
    Cache *c = &((L1Cache *)object)->cache;
    l1_put_back_hits(object);
    tag_invalidate_all(&c->tags);
    cache_forget_failed_try(c);
    for (uint32_t i = 0; i < tag_lines_used(&c->tags); i++)
        c->written[i] = 0;
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->cleared) o->cleared(o);
    event_tell(object, L1_INVALIDATED, 0);
}

static void l1_settle(SimObject *object, uint64_t now) {
    L1Cache *l1 = (L1Cache *)object;
    uint64_t cycle = object_cycle(object, now);
    const HitsAhead *owner = l1->cache.ahead.owner;
    if (owner) owner->settle(owner->object, now);
    cache_settle(object, now);
    saturation_count(&l1->saturation, cycle);
    dma_port_settle(&l1->dma, &l1->cache, cycle);
    fronts_settle(&l1->cache, cycle);
}

/* Knobs say what becomes of accesses. */
static bool l1_knobs_set(SimObject *object) {
    L1Cache *l1 = (L1Cache *)object;
    cache_knobs_set(object);
    update_fronts(l1);
    return (l1->cache.pipeline.count | l1->cache.put_aside) != 0;
}

/* Only an empty buffer is transferred to one of other sizes. */
static bool l1_convert(SimObject *object, const SavedObject *saved, const SnapshotChanges *changes, char *why,
                       size_t why_size) {
    static const char *const rows[] = {CACHE_CONVERTED_ROWS, PRIORITIZATION_CONVERTED_ROWS,
                                       PREFETCH_CONVERTED_ROWS, NULL};
    L1Cache *l1 = (L1Cache *)object;
    PrioritizationBuffer *buffer = &l1->prioritization.buffer;
    if (!saved_rows_but(saved, rows, why, why_size)) return false;
    bypassed_convert((CacheObject *)l1, &l1->bypassed);
    prefetch_convert(&l1->prefetches, saved);
    if (saved_same(saved, prioritization_params) || prioritization_convert(buffer))
        return cache_convert(object, index_address, saved, changes, why, why_size);
    snprintf(why, why_size,
             "%s.prioritization_places: expected the queues and places of the checkpoint, in which %u "
             "requests wait in the prioritization buffer; a checkpoint of a cycle in which it is empty helps",
             object_path(object), buffer->count);
    return false;
}

static void l1_requests(const SimObject *object, RequestVisitor *visit, void *context) {
    const L1Cache *l1 = (const L1Cache *)object;
    visit_cache((const CacheObject *)object, &l1->bypassed, visit, context);
    fronts_visit(&l1->cache, visit, context);
    const MissQueue *misses = &l1->cache.misses;
    for (uint32_t i = 0; i < misses->count; i++) {
        const MemMessage *m = &misses->message[(misses->first + i) & (misses->slots - 1)];
        if (dma_port_is_token(m->token)) visit(context, l1->dma.port.receive, m);
    }
}

/* The DMA engine's go by the same way. */
static const Link *l1_came_by(const SimObject *object, const void *message, uint32_t *depth) {
    (void)depth;
    const L1Cache *l1 = (const L1Cache *)object;
    return dma_port_is_token(((const MemMessage *)message)->token) ? l1->dma.port.receive : NULL;
}

static uint32_t l1_answer_kinds(const SimObject *object) {
    const L1Cache *l1 = (const L1Cache *)object;
    return cache_answer_kinds(&l1->cache, &l1->bypassed);
}

static uint32_t l1_answer_kind(const SimObject *object, const void *message) {
    const L1Cache *l1 = (const L1Cache *)object;
    return cache_answer_kind(&l1->cache, &l1->bypassed, message);
}

static void l1_answers_awaited(const SimObject *object, uint32_t *awaited) {
    const L1Cache *l1 = (const L1Cache *)object;
    cache_answers_awaited(&l1->cache, &l1->bypassed, awaited);
}

static void l1_is_sound(const SimObject *object, bool fits) {
    const L1Cache *l1 = (const L1Cache *)object;
    const char *path = object_path(object);
    cache_is_sound((const CacheObject *)object, fits);
    bypassed_is_sound(object, &l1->bypassed, fits);
    reexecution_is_sound(&l1->reexecution.queue, path);
    prefetch_is_sound(&l1->prefetches, fits);
    if (fits) {
        const ReexecutionQueue *queue = &l1->reexecution.queue;
        const PrioritizationBuffer *buffer = &l1->prioritization.buffer;
        prioritization_is_sound(buffer, path);
        fronts_are_sound(&l1->cache);
        sound(l1->cache.put_aside == queue->count + buffer->count, "%s: %lu requests put aside", path,
              l1->cache.put_aside);
    }
    sound(l1->dma.wait < DMA_WAITS, "%s.dma.wait: %lu", path, l1->dma.wait);
    sound(l1->dma.port.receive || !l1->cache.mshr.lent, "%s.mshr.lent: %lu", path, l1->cache.mshr.lent);
}

static void l1_check(const SimObject *object, bool idle) {
    cache_check_sets((const CacheObject *)object, index_address);
    const L1Cache *l1 = (const L1Cache *)object;
    uint64_t due, held = fronts_held(&l1->cache, &due);
    if (held != l1->cache.put_aside)
        panic("%s: %lu requests are put aside, but what stands in front of the tags holds %lu",
              object_path(object), l1->cache.put_aside, held);
    cache_check((const CacheObject *)object, l1->bypassed.count, due, idle);
    prefetch_check(&l1->prefetches, idle);
    if (idle && l1->bypassed.count)
        panic("%s is idle but %u requests that passed through are not answered", object_path(object),
              l1->bypassed.count);
}

static void l1_report(const SimObject *object, FILE *out) {
    const L1Cache *l1 = (const L1Cache *)object;
    cache_report(object, out);
    bypassed_report(object, &l1->bypassed, out);
    fronts_report(&l1->cache, out);
    prefetch_report(&l1->prefetches, out);
}

static const Event l1_events[] = {
    CACHE_EVENT_ROWS("Shall this read, which finds no line, pass the cache by?"),
    [L1_SATURATION] = {"saturation", "on", NULL, "MSHRs or miss queue became nearly full, or are no longer"},
    [L1_TAKEN] = {"taken", "warp", NULL,
                  "The cache has taken the last access that it held of a warp, while not all may miss"},
    [L1_MEMORY_ACCESS] =
        {"memory_access", "warp", NULL,
         "The first access of memory_watched that uses what lies below was taken; emitted once"},
    [L1_INVALIDATED] = {"invalidated", "", NULL,
                        "Between cycles: all its lines were dropped, as a launch begins or the SM gets "
                        "another kernel"},
    {0}};

static const Field l1_fields[] = {
    CACHE_ROWS(L1Cache),
    PARAM(L1Cache, latency, "1", "cycles", "From accepting a request to the response of a hit", .min = 1,
          .max = 1024, .converts = true),
    PARAM_CHOICE(L1Cache, write_policy, "evict", "evict|through|none",
                 "Writes of global memory go on below and evict the line or update it; none: reads only"),
    PARAM_FLAG(L1Cache, local_allocate, "true",
               "Writes of local memory that miss take a line; else they go on below"),
    CACHE_ENABLED_ROW(L1Cache),
    PARAM(L1Cache, off_reads, "0", "requests",
          "Reads in flight while enabled is false, at most bypassed_limit; 0: mshrs x merges", .max = 65536,
          .converts = true),
    DERIVED(L1Cache, pad, "Alignment"),
    KNOB(L1Cache, may_allocate, "warps",
         "Warps that may take lines; requests of others that find none bypass"),
    BYPASSED_ROWS(L1Cache, bypassed, "1024"),
    PARAM_FLAG_NAMED(L1Cache, bypassed.hold_mshrs, "bypassed_hold_mshrs", "false",
                     "Each read in flight that passed by holds an MSHR", .converts = true),
    L1_DMA_PORT_ROWS(L1Cache, dma),
    SATURATION_ROWS(L1Cache, saturation),
    OWNERSHIP_ROWS(L1Cache, ownership),
    PRIORITIZATION_FRONT_ROWS(L1Cache, prioritization),
    PARAM_FLAG(L1Cache, bypass_line_fails, "false",
               "Requests that find every way of their set reserved pass the cache by, and do not wait",
               .knob = true),
    PARAM_FLAG(L1Cache, keeps_lines, "false", "The beginning of a kernel leaves its lines valid",
               .timing = true),
    STAT(L1Cache, line_fail_bypasses, "accesses",
         "Bypasses of requests that found every way of their set reserved"),
    REEXECUTION_FRONT_ROWS(L1Cache, reexecution),
    PARAM_FLAG_NAMED(L1Cache, reexecution.use, "reexecution", "true", "Use it", .knob = true),
    BLOCKED_HITS_ROWS(L1Cache, blocked_hits),
    PREFETCH_ROWS(L1Cache, prefetches),
    HOST(L1Cache, map, "Where addresses lie"),
    HOST(L1Cache, gets, "For which slices of the map requests come"),
    HOST(L1Cache, gets_count, "For how many"),
    HOST(L1Cache, pad2, "Alignment"),
    FIELDS_END};

static void call_reexecution_head(SimObject *object, MethodCall *call) {
    uint32_t warp = l1_reexecution_head(object);
    call->nothing = warp == NO_WARP_WAITS;
    call->result[0].whole = warp;
}

static void call_prefetch(SimObject *object, MethodCall *call) {
    L1Cache *l1 = (L1Cache *)object;
    bool allocates = l1->may_allocate >> (call->argument[1].whole & 63) & 1;
    bool own = gets((const L1Cache *)object, (uint64_t)call->argument[0].whole);
    prefetch_ask(&l1->prefetches, call, l1->enabled && allocates, own);
}

static void call_set_of(SimObject *object, MethodCall *call) {
    cache_call_set_of(object, call, index_address);
}

static void call_find(SimObject *object, MethodCall *call) {
    cache_call_find(object, call, index_address);
}

static const Method l1_methods[] = {METHOD("reexecution_head", call_reexecution_head,
                                           "The warp of the access at the head of the re-execution queue",
                                           RETURNS(WHOLE_NUMBER("warp")), MAY_BE_NIL),
                                    PREFETCH_METHOD(call_prefetch),
                                    METHODS_BY_ADDRESS(call_set_of, call_find), CACHE_METHODS, METHODS_END};

const Class l1_class = {
    .name = "L1",
    .doc = "First-level cache: data, constant, texture or instruction",
    .bytes = sizeof(L1Cache),
    .fields = l1_fields,
    .events = l1_events,
    .methods = l1_methods,
    .trace = &cache_trace,
    .build = l1_build,
    .init = l1_init,
    .destroy = l1_destroy,
    .tick = l1_tick,
    .take_untimed = l1_take_untimed,
    .knobs_set = l1_knobs_set,
    .subscribers_changed = cache_subscribers_changed,
    .touched = l1_put_back_hits,
    .settle = l1_settle,
    .is_sound = l1_is_sound,
    .requests_inside = l1_requests,
    .came_by = l1_came_by,
    .answer_kinds = l1_answer_kinds,
    .answer_kind = l1_answer_kind,
    .answers_awaited = l1_answers_awaited,
    .check = l1_check,
    .report = l1_report,
    .convert = l1_convert,
};
REGISTER_CLASS(l1_class);
