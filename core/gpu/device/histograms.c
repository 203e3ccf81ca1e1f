#include "core/gpu/device/histograms.h"

#include "core/gpu/lsu/lsu_state.h"
#include "core/sim/tick_watch.h"
#include "mem/cache/bypassed.h"
#include "mem/dram/memory_controller_state.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/functional_memory.h"

#include <stdlib.h>
#include <string.h>

/* Where the data of an access came from. Of a load with several accesses the deepest counts. */
typedef enum { FROM_L1, FROM_L2, FROM_BEYOND, LEVELS } Level;

typedef enum { LOAD_DATA, LOAD_CONSTANT, LOAD_TEXTURE, LOADS } Load;

enum { LATENCIES = LOADS * LEVELS, MEASURES_MAX = LATENCIES + 2 };

/* A histogram of one object. Of a queue: each cycle counts, with the requests that it holds then. What `length` says
 * changes in ticks of the object alone; requests that are ready in a link join it. */
typedef struct {
    char *name;
    const char *unit;
    Histogram histogram;
    bool is_length;
    uint64_t (*length)(const SimObject *object); /* or NULL: 0 */
    uint64_t last_length;                        /* since the last tick */
    const Link **link;                           /* each is a queue, or the end of the queue */
    uint32_t link_count;
} Measure;

typedef struct {
    TickWatcher watcher;
    SimObject *object;
    uint64_t accounted; /* cycles of the object that are counted: all below this one */
    Measure measure[MEASURES_MAX];
    uint32_t count;
    uint8_t *
        levels; /* of an LSU: of each instruction with outstanding answers, the levels below the L1 that answered */
} Watched;

/* An L1 that serves LSUs of its cluster. */
typedef struct {
    CacheObserver observer;
    SimObject *l1;
    const Histograms *all;
} WatchedL1;

struct Histograms {
    Sim *sim;
    Watched **watched;
    WatchedL1 *l1s;
    uint32_t watched_count, l1_count;
    Watched *lsu[MAX_SMS]; /* by number of the SM */
};

static void *zeroed(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    ensure_memory(memory);
    return memory;
}

/* --- Lengths ------------------------------------------------------------------------------------ */

/* From cycle `from` to `to`, before which nothing was taken from the link; NULL: there is none. */
static void add_length(const SimObject *object, Measure *m, const Link *link, uint64_t from, uint64_t to) {
    uint64_t length = m->last_length;
    for (uint64_t place = 0; link; place++) {
        uint64_t ready = link_ready_at(link, place);
        uint64_t cycle = ready == NEVER ? NEVER : object_cycle(object, ready);
        if (cycle >= to) break;
        if (cycle > from) {
            histogram_add(&m->histogram, length, cycle - from);
            from = cycle;
        }
        length++;
    }
    histogram_add(&m->histogram, length, to - from);
}

static void add_lengths(Watched *w, uint64_t now) {
    uint64_t cycle = object_cycle(w->object, now);
    for (Measure *m = w->measure; m < w->measure + w->count; m++) {
        if (!m->is_length) continue;
        if (!m->link_count) add_length(w->object, m, NULL, w->accounted, cycle);
        for (uint32_t i = 0; i < m->link_count; i++)
            add_length(w->object, m, m->link[i], w->accounted, cycle);
    }
    w->accounted = cycle;
}

static void before_tick(TickWatcher *watcher, SimObject *object, uint64_t now) {
    (void)object;
    add_lengths((Watched *)watcher, now);
}

static void after_tick(TickWatcher *watcher, SimObject *object, uint64_t now) {
    Watched *w = (Watched *)watcher;
    (void)now;
    for (Measure *m = w->measure; m < w->measure + w->count; m++)
        if (m->length) m->last_length = m->length(object);
}

/* --- Latencies ---------------------------------------------------------------------------------- */

static Load load_of(const MemoryDone *done) {
    if (done->space == SPACE_TEXTURE) return LOAD_TEXTURE;
    return space_is_constant(done->space) ? LOAD_CONSTANT : LOAD_DATA;
}

static Level deepest(uint32_t levels) {
    return levels ? (Level)(31 - __builtin_clz(levels)) : FROM_L1;
}

/* An answer that the LSU is about to take. No L1 has told of what went past all of those that are watched. */
static void look_at_answer(Watched *w, const Port *port, uint64_t now) {
    const MemMessage *m = port->receive ? link_peek(port->receive, now) : NULL;
    const Lsu *lsu = (const Lsu *)w->object;
    if (!m || m->token >= lsu->entries) return;
    const Outstanding *entry = &lsu->outstanding[m->token];
    uint8_t *levels = &w->levels[m->token];
    if (!(m->flags & MEM_HIT) && !*levels) *levels = 1 << FROM_BEYOND;
    if (entry->remaining > 1 || entry->unsent) return;
    if (entry->done.kind == INST_LOAD && !entry->is_prefetch) {
        Measure *measure = &w->measure[load_of(&entry->done) * LEVELS + deepest(*levels)];
        histogram_add(&measure->histogram, (now - entry->begun) / lsu->obj.sim->clocks[0].period, 1);
    }
    *levels = 0;
}

static void before_lsu_tick(TickWatcher *watcher, SimObject *object, uint64_t now) {
    Watched *w = (Watched *)watcher;
    const Lsu *lsu = (const Lsu *)object;
    add_lengths(w, now);
    look_at_answer(w, &lsu->mem, now);
    look_at_answer(w, &lsu->constant, now);
    look_at_answer(w, &lsu->texture, now);
}

/* The answer to a request of an LSU has come from this level. */
static void mark(const WatchedL1 *of, const MemMessage *request, Level level) {
    if (request->kind != MEM_READ || request->payload || (request->flags & MEM_INSTRUCTION)) return;
    Watched *w = request->sm < MAX_SMS ? of->all->lsu[request->sm] : NULL;
    if (!w || w->object->cluster != of->l1->cluster) return;
    if (request->token < ((const Lsu *)w->object)->entries)
        w->levels[request->token] |= (uint8_t)(1 << level);
}

static void l1_answered(CacheObserver *observer, const MemMessage *m, uint64_t now) {
    const WatchedL1 *of = (const WatchedL1 *)observer;
    const Cache *c = &((const CacheObject *)of->l1)->cache;
    Level level = m->flags & MEM_HIT ? FROM_L2 : FROM_BEYOND;
    (void)now;
    if (bypassed_is_token(m->token)) {
        mark(of, l1_bypassed(of->l1, m->token), level);
    } else if (m->token < c->mshr.fresh) {
        uint32_t sectors = tag_sectors(&c->tags.shape, m->address, m->bytes);
        for (uint32_t i = 0; i < c->mshr.entry[m->token].merged; i++) {
            uint32_t slot = mshr_slot(&c->mshr.shape, m->token, i);
            if (c->mshr.missing[slot] & sectors) mark(of, &c->mshr.request[slot], level);
        }
    }
}

/* --- What is watched ---------------------------------------------------------------------------- */

static uint64_t active_warps(const SimObject *object) {
    return (uint64_t)__builtin_popcountll(((const Sm *)object)->live);
}
static uint64_t outstanding_instructions(const SimObject *object) {
    return ((const Lsu *)object)->in_use;
}
static uint64_t requests_at_tags(const SimObject *object) {
    return ((const CacheObject *)object)->cache.pipeline.count;
}
static uint64_t queued_misses(const SimObject *object) {
    return ((const CacheObject *)object)->cache.misses.count;
}
static uint64_t mshrs_in_use(const SimObject *object) {
    return ((const CacheObject *)object)->cache.mshr.used;
}
static uint64_t requests_at_dram(const SimObject *object) {
    return ((const MemoryController *)object)->waiting;
}

static Measure *add_measure(Watched *w, const char *name, const char *unit) {
    ensure(w->count < MEASURES_MAX);
    Measure *m = &w->measure[w->count++];
    m->name = zeroed(strlen(w->object->path) + strlen(name) + 2, 1);
    sprintf(m->name, "%s.%s", w->object->path, name);
    m->unit = unit;
    return m;
}

static Measure *add_queue(Watched *w, const char *name, const char *unit,
                          uint64_t (*length)(const SimObject *object)) {
    Measure *m = add_measure(w, name, unit);
    m->is_length = true;
    m->length = length;
    m->last_length = length ? length(w->object) : 0;
    return m;
}

/* Links that bring the object requests of this protocol. */
static void add_links(Measure *m, const SimObject *object, const Protocol *protocol) {
    const Sim *sim = object->sim;
    m->link = zeroed(sim->link_count, sizeof *m->link);
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        if (link->receiver == object && link->protocol == protocol && !link->requests)
            m->link[m->link_count++] = link;
    }
}

static void watch_cache(Watched *w) {
    add_links(add_queue(w, "queue", "requests", requests_at_tags), w->object, &memory_protocol);
    add_queue(w, "miss_queue", "messages", queued_misses);
    add_queue(w, "mshrs_in_use", "entries", mshrs_in_use);
}

static void watch_l1(Histograms *all, SimObject *l1) {
    for (uint32_t i = 0; i < all->l1_count; i++)
        if (all->l1s[i].l1 == l1) return;
    WatchedL1 *of = &all->l1s[all->l1_count++];
    *of = (WatchedL1){.observer = {.answered = l1_answered}, .l1 = l1, .all = all};
    cache_observe(&((CacheObject *)l1)->cache, &of->observer);
}

static void watch_lsu(Histograms *all, Watched *w) {
    static const char *const names[LATENCIES] = {
        "load_latency_l1",     "load_latency_l2",     "load_latency_dram",
        "constant_latency_l1", "constant_latency_l2", "constant_latency_dram",
        "texture_latency_l1",  "texture_latency_l2",  "texture_latency_dram",
    };
    const Lsu *lsu = (const Lsu *)w->object;
    SimObject *const *caches, *sm = lsu->sm.receive->sender;
    for (uint32_t i = 0; i < LATENCIES; i++)
        add_measure(w, names[i], "cycles");
    add_links(add_queue(w, "queue", "instructions", NULL), w->object, &memory_op_protocol);
    add_queue(w, "outstanding", "instructions", outstanding_instructions);
    w->watcher.before = before_lsu_tick;
    w->levels = zeroed(lsu->entries, sizeof *w->levels);
    if (sm->class == &sm_class) all->lsu[sm_number(sm)] = w;
    for (uint32_t i = 0, count = lsu_caches(w->object, &caches); i < count; i++)
        watch_l1(all, caches[i]);
}

/* Networks, and what else passes requests on: what waits at each of its inputs. */
static void watch_inputs(Watched *w) {
    Measure *m = add_queue(w, "input_queue", "requests", NULL);
    add_links(m, w->object, &memory_protocol);
}

static bool takes_requests(const SimObject *object) {
    const Sim *sim = object->sim;
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        if (link->receiver == object && link->protocol == &memory_protocol && !link->requests) return true;
    }
    return false;
}

static bool is_watched(const SimObject *object) {
    return object->class == &sm_class || object->class == &lsu_class || takes_requests(object);
}

static Watched *watch(Histograms *all, SimObject *object) {
    Watched *w = zeroed(1, sizeof *w);
    w->watcher = (TickWatcher){before_tick, after_tick};
    w->object = object;
    w->accounted = object_cycle(object, object->sim->now);
    if (object->class == &sm_class)
        add_queue(w, "active_warps", "warps", active_warps);
    else if (object->class == &lsu_class)
        watch_lsu(all, w);
    else if (object->class == &l1_class || object->class == &l2_class)
        watch_cache(w);
    else if (object->class == &memory_controller_class)
        add_queue(w, "queue", "requests", requests_at_dram);
    else
        watch_inputs(w);
    object_watch_ticks(object, &w->watcher);
    return w;
}

Histograms *histograms_new(Sim *sim) {
    Histograms *all = zeroed(1, sizeof *all);
    all->sim = sim;
    all->watched = zeroed(sim->object_count, sizeof *all->watched);
    all->l1s = zeroed(sim->object_count, sizeof *all->l1s);
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (is_watched(sim->objects[i])) all->watched[all->watched_count++] = watch(all, sim->objects[i]);
    return all;
}

void histograms_free(Histograms *all) {
    if (!all) return;
    for (uint32_t i = 0; i < all->watched_count; i++) {
        Watched *w = all->watched[i];
        for (uint32_t k = 0; k < w->count; k++) {
            free(w->measure[k].name);
            free(w->measure[k].link);
        }
        free(w->levels);
        free(w);
    }
    free(all->watched);
    free(all->l1s);
    free(all);
}

uint32_t histograms_list(Histograms *all, NamedHistogram *list, uint32_t capacity) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->watched_count; i++) {
        Watched *w = all->watched[i];
        add_lengths(w, all->sim->now);
        for (const Measure *m = w->measure; m < w->measure + w->count; m++, count++)
            if (count < capacity) list[count] = (NamedHistogram){w->object, m->name, m->unit, &m->histogram};
    }
    return count;
}

/* --- Checkpoints -------------------------------------------------------------------------------- */

static void save_histogram(const Histogram *h, Buffer *buffer) {
    uint32_t buckets = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        buckets += h->bucket[i] != 0;
    buffer_u64(buffer, h->sum);
    buffer_u64(buffer, h->max);
    buffer_u32(buffer, buckets);
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (!h->bucket[i]) continue;
        buffer_u32(buffer, i);
        buffer_u64(buffer, h->bucket[i]);
    }
}

void histograms_save(Histograms *all, Buffer *buffer) {
    for (uint32_t i = 0; i < all->watched_count; i++) {
        Watched *w = all->watched[i];
        add_lengths(w, all->sim->now);
        for (const Measure *m = w->measure; m < w->measure + w->count; m++) {
            buffer_text(buffer, m->name);
            save_histogram(&m->histogram, buffer);
        }
        if (w->levels) buffer_append(buffer, w->levels, ((const Lsu *)w->object)->entries);
    }
}

static bool load_histogram(Histogram *h, Reader *reader) {
    h->sum = reader_u64(reader);
    h->max = reader_u64(reader);
    uint32_t last = 0;
    for (uint32_t left = reader_u32(reader); left && !reader->failed; left--) {
        uint32_t bucket = reader_u32(reader);
        uint64_t count = reader_u64(reader);
        if (bucket >= HISTOGRAM_BUCKETS || h->bucket[bucket] || !count || h->count + count < count)
            return false;
        h->bucket[bucket] = count;
        h->count += count;
        last = bucket > last ? bucket : last;
    }
    return !reader->failed && (h->count ? histogram_bucket(h->max) == last : !h->max);
}

static bool load_levels(const Watched *w, Reader *reader) {
    uint32_t entries = ((const Lsu *)w->object)->entries;
    const uint8_t *levels = reader_bytes(reader, entries);
    for (uint32_t i = 0; levels && i < entries; i++)
        if (levels[i] >> LEVELS) return false;
    if (levels) memcpy(w->levels, levels, entries);
    return levels != NULL;
}

static bool load_watched(Watched *w, Reader *reader) {
    char name[1024];
    for (Measure *m = w->measure; m < w->measure + w->count; m++)
        if (!reader_text(reader, name, sizeof name) || strcmp(name, m->name) != 0 ||
            !load_histogram(&m->histogram, reader))
            return false;
    return !w->levels || load_levels(w, reader);
}

bool histograms_load(Histograms *all, Reader *reader) {
    bool good = true;
    histograms_restart(all);
    for (uint32_t i = 0; good && i < all->watched_count; i++)
        good = load_watched(all->watched[i], reader);
    return good && reader_at_end(reader);
}

void histograms_restart(Histograms *all) {
    for (uint32_t i = 0; i < all->watched_count; i++) {
        Watched *w = all->watched[i];
        w->accounted = object_cycle(w->object, all->sim->now);
        for (Measure *m = w->measure; m < w->measure + w->count; m++) {
            memset(&m->histogram, 0, sizeof m->histogram);
            m->last_length = m->length ? m->length(w->object) : 0;
        }
        if (w->levels) memset(w->levels, 0, ((const Lsu *)w->object)->entries);
    }
}
