#include "mem/parts/access_trace/l1_trace.h"

#include "mem/cache/cache_access.h"
#include "mem/parts/access_trace/access_trace.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    SimObject obj;
    /* parameters */
    char *cache, *folder;
    CacheObserver observer; /* host */
    const CacheObject *feeder;
    TraceWriter *writer;       /* from the first record on */
    uint32_t failed, may_drop; /* host; writes of global memory evict their line */
    uint64_t records;
} L1Trace;

static const Field fields[] = {
    BASE(L1Trace),
    PARAM(L1Trace, cache, "l1d", "name",
          "The L1 that it records, unless it belongs to one: by its name beside the trace, or its path"),
    PARAM(L1Trace, folder, REQUIRED, "path", "Folder for the file, PATH.trace; made if need be",
          .timing = true),
    HOST(L1Trace, observer, "How the cache calls it"),
    HOST(L1Trace, feeder, "The cache"),
    HOST(L1Trace, writer, "The file"),
    HOST(L1Trace, failed, "It could not be written"),
    HOST(L1Trace, may_drop, "Whether writes evict"),
    STAT(L1Trace, records, "records", "Accesses, fills and invalidations recorded"),
    FIELDS_END};

static L1Trace *trace_of(CacheObserver *observer) {
    return (L1Trace *)((char *)observer - offsetof(L1Trace, observer));
}

/* --- The file -------------------------------------------------------------------------------- */

static void file_name(const L1Trace *trace, char *name, size_t size) {
    snprintf(name, size, "%s/%s.trace", trace->folder, trace->feeder->obj.path);
}

static void cannot(L1Trace *trace, const char *why) {
    char name[1024], message[2048];
    file_name(trace, name, sizeof name);
    snprintf(message, sizeof message, "%s: %s: %s", trace->obj.path, name, why);
    trace->failed = 1;
    object_fail(&trace->obj, message);
}

/* The request at work has been counted already. */
static TraceHeader header_of(const L1Trace *trace, uint64_t counted) {
    const CacheParameters *p = &trace->feeder->cache.parameters;
    TraceHeader header = {
        .geometry =
            {.size = p->size, .ways = p->ways, .line = p->line, .sectors = p->sectors, .index = p->index},
        .before = cache_looked_up(&trace->feeder->cache.stats) +
                  trace->feeder->cache.stats.results[RESULT_BYPASS] - counted,
        .on_fill = p->allocate == ALLOCATE_ON_FILL,
    };
    snprintf(header.path, sizeof header.path, "%s", trace->feeder->obj.path);
    snprintf(header.masks, sizeof header.masks, "%s", p->index_masks);
    return header;
}

static bool open_file(L1Trace *trace, uint64_t counted) {
    char name[1024], why[TRACE_WHY];
    if (trace->writer) return true;
    TraceHeader header = header_of(trace, counted);
    file_name(trace, name, sizeof name);
    if (mkdir(trace->folder, 0777) != 0 && errno != EEXIST) {
        cannot(trace, strerror(errno));
        return false;
    }
    trace->writer = trace_create(name, &header, why);
    if (!trace->writer) cannot(trace, why);
    return trace->writer != NULL;
}

static void add(L1Trace *trace, TraceRecord record, uint64_t counted) {
    char why[TRACE_WHY];
    trace->records++;
    if (trace->failed || !open_file(trace, counted)) return;
    if (!trace_add(trace->writer, record, why)) cannot(trace, why);
}

/* --- What the cache does --------------------------------------------------------------------- */

/* A local write that missed and finds no line has not been given one. */
static TraceKind kind_of(const L1Trace *trace, const MemMessage *m, uint32_t result, uint32_t line) {
    if (result == RESULT_BYPASS || m->kind == MEM_ATOMIC) return TRACE_DROP;
    if (m->kind == MEM_READ) return TRACE_READ;
    if (m->flags & MEM_LOCAL) return line == NO_LINE ? TRACE_DROP : TRACE_LOCAL_WRITE;
    return trace->may_drop ? TRACE_DROP : TRACE_TOUCH;
}

static void accessed(CacheObserver *observer, const MemMessage *m, uint32_t result) {
    L1Trace *trace = trace_of(observer);
    const Cache *c = &trace->feeder->cache;
    Lookup at = cache_lookup(c, m, m->address);
    TraceKind kind = kind_of(trace, m, result, at.line);
    TraceRecord record = {.address = at.line_address,
                          .kind = (uint8_t)kind,
                          .result = (uint8_t)result,
                          .sectors = (uint8_t)at.sectors};
    if (kind == TRACE_LOCAL_WRITE) { /* what is neither there nor on its way need not come */
        const TagLine *line = &c->tags.line[at.line];
        record.completed = (uint8_t)(at.sectors & ~(uint32_t)(line->valid | line->reserved));
    }
    add(trace, record, 1);
}

static void filled(CacheObserver *observer, const MemMessage *m, uint32_t line) {
    L1Trace *trace = trace_of(observer);
    const TagShape *shape = &trace->feeder->cache.tags.shape;
    (void)line;
    add(trace,
        (TraceRecord){.address = tag_line_address(shape, m->address),
                      .kind = TRACE_FILL,
                      .sectors = (uint8_t)tag_sectors(shape, m->address, m->bytes)},
        0);
}

static void cleared(CacheObserver *observer) {
    L1Trace *trace = trace_of(observer);
    if (trace->records)
        add(trace, (TraceRecord){.kind = TRACE_CLEAR}, 0); /* a resumed run may have no file yet */
}

/* --- The class ------------------------------------------------------------------------------- */

static void init(SimObject *object) {
    L1Trace *trace = (L1Trace *)object;
    SimObject *cache = l1_of_part(object, trace->cache);
    char *policy = object_get_text(cache, object_field(cache, FIELD_PARAM, "write_policy"));
    trace->may_drop = strcmp(policy, "evict") == 0;
    free(policy);
    trace->feeder = (CacheObject *)cache;
    trace->observer = (CacheObserver){.accessed = accessed, .filled = filled, .cleared = cleared};
    cache_observe(&((CacheObject *)cache)->cache, &trace->observer);
}

static void destroy(SimObject *object) {
    L1Trace *trace = (L1Trace *)object;
    char why[TRACE_WHY];
    if (!trace->writer || trace_finish(trace->writer, why)) return;
    fprintf(stderr, "warpwright: error: %s: %s/%s.trace: %s\n", object->path, trace->folder,
            trace->feeder->obj.path, why);
}

const Class l1_trace_class = {
    .name = "L1Trace",
    .doc = "Records what an L1 is asked for into a file",
    .part = true,
    .bytes = sizeof(L1Trace),
    .fields = fields,
    .init = init,
    .tick = part_sleeps,
    .destroy = destroy,
};
REGISTER_CLASS(l1_trace_class);
