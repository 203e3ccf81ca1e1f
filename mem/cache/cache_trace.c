/* What traces show of a cache: what became of each request, with its identity; whose fetch it waits for; what
 * holds up the one at the tags. */
#include "core/sim/trace/trace.h"
#include "mem/cache/cache.h"

typedef struct {
    CacheObserver observer; /* first */
    const SimObject *object;
    uint64_t stall, mshrs;
} Memory;

static const Cache *cache_of(const SimObject *object) {
    return &((const CacheObject *)object)->cache;
}

static TraceRecord *record(const Memory *memory, const char *name, const MemMessage *m) {
    const SimObject *object = memory->object;
    TraceRecord *made = trace_record(object, TRACE_NOTE, name, object_now(object));
    if (made && m) mem_trace(m, &made->message);
    return made;
}

/* The request whose fetch brings the line: the first in its MSHR. */
static void show_fetcher(const Memory *memory, const MemMessage *m, TraceRecord *made) {
    const Cache *c = cache_of(memory->object);
    uint32_t entry = mshr_find(&c->mshr, tag_line_address(&c->tags.shape, m->address));
    if (entry == NO_MSHR || !c->mshr.entry[entry].merged) return;
    const MemMessage *first = &c->mshr.request[mshr_slot(&c->mshr.shape, entry, 0)];
    const Sim *sim = memory->object->sim;
    made->detail = "behind %d.%d.%d.%x";
    made->number[0] = first->sm;
    made->number[1] = first->warp;
    made->number[2] = (int64_t)clock_cycle(&sim->clocks[0], first->issued);
    made->number[3] = (int64_t)(first->address >> 7);
}

static void accessed(CacheObserver *observer, const MemMessage *m, uint32_t result) {
    static const char *const names[] = {"hit", "miss", "merge", "bypass"};
    const Memory *memory = (const Memory *)observer;
    TraceRecord *made = record(memory, names[result], m);
    if (made && result == RESULT_MERGE) show_fetcher(memory, m, made);
}

static void filled(CacheObserver *observer, const MemMessage *m, uint32_t line) {
    const Memory *memory = (const Memory *)observer;
    TraceRecord *made = record(memory, "fill", m);
    uint32_t ways = cache_of(memory->object)->tags.shape.ways;
    if (!made || line == NO_LINE) return;
    made->detail = "set %d way %d";
    made->number[0] = line / ways;
    made->number[1] = line % ways;
}

static void evicted(CacheObserver *observer, uint32_t line) {
    const Memory *memory = (const Memory *)observer;
    const Cache *c = cache_of(memory->object);
    const TagLine *l = &c->tags.line[line];
    TraceRecord *made = record(memory, "evict", NULL);
    if (!made) return;
    made->message.sm = l->sm;
    made->message.warp = l->warp;
    made->detail = l->dirty ? "dirty line 0x%x set %d way %d" : "line 0x%x set %d way %d";
    made->number[0] = (int64_t)tag_address(&c->tags, line);
    made->number[1] = line / c->tags.shape.ways;
    made->number[2] = line % c->tags.shape.ways;
}

static void count_mshrs(const Cache *c, Memory *memory, uint64_t now) {
    if (c->mshr.used == memory->mshrs) return;
    memory->mshrs = c->mshr.used;
    trace_record(memory->object, TRACE_COUNTER, "mshrs", now)->number[0] = (int64_t)c->mshr.used;
}

static void begin(SimObject *object, void *memory_of_it, uint64_t now) {
    Memory *memory = memory_of_it;
    Cache *c = &((CacheObject *)object)->cache;
    *memory = (Memory){.observer = {.accessed = accessed, .filled = filled, .evicted = evicted},
                       .object = object,
                       .stall = c->stall};
    cache_observe(c, &memory->observer);
    count_mshrs(c, memory, now);
}

static void end(SimObject *object, void *memory) {
    cache_observe_no_more(&((CacheObject *)object)->cache, &((Memory *)memory)->observer);
}

/* Where a front queue chooses who comes to the tags, the first in the pipeline is not the one. */
static void look_at_stall(const Cache *c, Memory *memory, uint64_t now) {
    if (c->stall == memory->stall) return;
    memory->stall = c->stall;
    TraceRecord *made = trace_record(memory->object, TRACE_NOTE, "stall", now);
    made->detail = c->stall ? cache_stall_name((Stall)c->stall) : "over";
    if (c->stall && c->pipeline.count && !c->fronts)
        mem_trace(&c->pipeline.message[c->pipeline.first], &made->message);
}

static void look(SimObject *object, void *memory_of_it, uint64_t now) {
    Memory *memory = memory_of_it;
    const Cache *c = cache_of(object);
    look_at_stall(c, memory, now);
    count_mshrs(c, memory, now);
}

static const char *const names[] = {"hit", "miss", "merge", "bypass", "fill", "evict", "stall", NULL};

const TraceClass cache_trace = {.names = names,
                                .replaces = 1u << CACHE_HIT | 1u << CACHE_MISS | 1u << CACHE_MERGE |
                                            1u << CACHE_FILL | 1u << CACHE_EVICT,
                                .memory_bytes = sizeof(Memory),
                                .begin = begin,
                                .look = look,
                                .end = end};
