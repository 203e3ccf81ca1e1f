#include "mem/parts/warp_sampler/warp_sampler.h"

#include "core/sim/event.h"
#include "core/sim/method.h"
#include "mem/cache/cache.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/part.h"

#include <stdlib.h>
#include <string.h>

enum { WARPS = 64, CACHES = 8 };

typedef enum { SAMPLER_SAMPLED, SAMPLER_ANSWERED } SamplerEvent;

/* How an L1 calls it. */
typedef struct {
    CacheObserver observer; /* first: answered() gets a pointer to it */
    WarpSampler *sampler;
} Tap;

struct WarpSampler {
    SimObject obj;
    Tap tap[CACHES]; /* host: into each L1 of the SM */
    char *caches;
    uint32_t warm_up, merges, bypasses, sm;
    uint64_t gap;                          /* core cycles */
    uint32_t accesses[WARPS], hits[WARPS]; /* up to warm_up accesses */
    uint64_t served[WARPS];                /* core cycle             */
    uint64_t answers, answers_hit, answers_uncounted, answers_of_class, samples, gaps;
};

/* A warp that was not served for too long has gone on to something else, or is another one in its place. */
static void forget_after_gap(WarpSampler *sampler, uint32_t warp, uint64_t cycle) {
    if (!sampler->gap || cycle - sampler->served[warp] <= sampler->gap) return;
    sampler->gaps += sampler->accesses[warp] != 0;
    sampler->accesses[warp] = sampler->hits[warp] = 0;
}

void sampler_count(WarpSampler *sampler, uint32_t warp, bool hit, uint64_t now) {
    ensure(warp < WARPS);
    uint64_t cycle = object_cycle(&sampler->obj, now);
    forget_after_gap(sampler, warp, cycle);
    sampler->answers++;
    sampler->answers_hit += hit;
    sampler->served[warp] = cycle;
    if (sampler->accesses[warp] == sampler->warm_up) return;
    sampler->hits[warp] += hit;
    if (++sampler->accesses[warp] < sampler->warm_up) return;
    sampler->samples++;
    object_emit(&sampler->obj, SAMPLER_SAMPLED, warp, sampler->hits[warp], sampler->accesses[warp]);
}

void sampler_restart(SimObject *object, uint64_t warps) {
    WarpSampler *sampler = (WarpSampler *)object;
    for (; warps; warps &= warps - 1)
        sampler->accesses[__builtin_ctzll(warps)] = sampler->hits[__builtin_ctzll(warps)] = 0;
}

uint64_t sampler_served(const SimObject *object, uint32_t warp) {
    return ((const WarpSampler *)object)->served[warp];
}

static const Event events[] = {
    [SAMPLER_SAMPLED] = {"sampled", "warp, hits, accesses", NULL,
                         "A warp has made warm_up requests to the second level since it was restarted"},
    [SAMPLER_ANSWERED] = {"answered", "warp, pc, write, hit", NULL,
                          "The second level has answered a request that is counted; write: 0 for a load"},
    {0}};

static const Field fields[] = {
    BASE(WarpSampler),
    HOST(WarpSampler, tap, "How the L1s call it"),
    PARAM(WarpSampler, warm_up, "100", "accesses", "Answers that make a sample; 0: none does", .min = 0,
          .max = 1 << 30),
    PARAM(WarpSampler, gap, "10000", "cycles",
          "A warp that gets no answer for longer is counted from zero again; 0: it never is"),
    PARAM_FLAG(WarpSampler, merges, "true", "A request for a line on its way to the second level is a hit"),
    PARAM_FLAG(WarpSampler, bypasses, "true",
               "Requests that passed the second level by are counted: as hits where they would have hit"),
    PARAM(WarpSampler, caches, "", "paths",
          "The caches before the second level, PATH,PATH...; empty: the L1s beside it", .converts = true),
    PARAM(WarpSampler, sm, "65535", "SM", "Number of the SM that it serves; 65535: all that use these caches",
          .max = ANY_SM),
    STATE(WarpSampler, accesses, "Answers to each warp since it was restarted or a gap, up to warm_up"),
    STATE(WarpSampler, hits, "Of these: hit in the second level"),
    STATE(WarpSampler, served, "When the second level last answered each warp"),
    STAT(WarpSampler, answers, "answers", "Answers of the second level"),
    STAT(WarpSampler, answers_hit, "answers", "Of these: it had the data, or as merges and bypasses say"),
    STAT(WarpSampler, answers_uncounted, "answers",
         "Answers to requests that passed it by, where these are not counted"),
    STAT(WarpSampler, answers_of_class, "answers", "Of both: to requests of a class other than 0"),
    STAT(WarpSampler, samples, "samples", "Times that a warp reached warm_up answers"),
    STAT(WarpSampler, gaps, "gaps", "Times that a gap cleared counters"),
    FIELDS_END};

static void answered(CacheObserver *observer, const MemMessage *m, uint64_t now) {
    WarpSampler *sampler = ((Tap *)observer)->sampler;
    if (sampler->sm != ANY_SM && sampler->sm != m->sm) return;
    sampler->answers_of_class += m->class_number != 0;
    bool bypassed = m->flags & MEM_BYPASSED;
    if (bypassed && !sampler->bypasses) {
        sampler->answers_uncounted++;
        return;
    }
    /* Of what bypassed it is not known whether it would have hit or merged. */
    bool hit = m->flags & (sampler->merges || bypassed ? MEM_FOUND : MEM_HIT);
    object_emit(&sampler->obj, SAMPLER_ANSWERED, m->warp, m->pc, m->kind != MEM_READ, hit);
    sampler_count(sampler, m->warp, hit, now);
}

static void observe(WarpSampler *sampler, SimObject *cache, uint32_t place) {
    if (place == CACHES)
        user_error("%s: expected at most %d caches before the second level, got more", sampler->obj.path,
                   CACHES);
    if (cache->cluster != sampler->obj.cluster)
        user_error(
            "%s.caches: expected caches that share a cluster with it, got %s, which is behind a slow wire",
            sampler->obj.path, cache->path);
    sampler->tap[place] = (Tap){{.answered = answered}, sampler};
    cache_observe(&((CacheObject *)cache)->cache, &sampler->tap[place].observer);
}

/* Every L1 that belongs to what the sampler belongs to. */
static void observe_those_beside(WarpSampler *sampler) {
    const SimObject *object = &sampler->obj;
    uint32_t count = 0;
    for (uint32_t i = 0; object->parent && i < object->sim->object_count; i++) {
        SimObject *cache = object->sim->objects[i];
        if (cache->parent == object->parent && cache->class == &l1_class) observe(sampler, cache, count++);
    }
}

/* "sm[0].l1d,sm[0].texture_cache" */
static void observe_those_named(WarpSampler *sampler) {
    char *names = strdup(sampler->caches), *rest = names;
    uint32_t count = 0;
    ensure_memory(names);
    for (const char *path; (path = strsep(&rest, ",")) != NULL;) {
        SimObject *cache = sim_find(sampler->obj.sim, path);
        if (!cache || (cache->class != &l1_class && cache->class != &l2_class))
            user_error("%s.caches: expected paths of caches, got '%s'", sampler->obj.path, sampler->caches);
        observe(sampler, cache, count++);
    }
    free(names);
}

static void init(SimObject *object) {
    WarpSampler *sampler = (WarpSampler *)object;
    if (*sampler->caches)
        observe_those_named(sampler);
    else
        observe_those_beside(sampler);
}

static void call_restart(SimObject *object, MethodCall *call) {
    sampler_restart(object, call->argument[0].set);
}

static void call_served(SimObject *object, MethodCall *call) {
    call->result[0].whole = (int64_t)sampler_served(object, (uint32_t)call->argument[0].whole);
}

static const Method methods[] = {
    METHOD("restart", call_restart, "These warps are sampled from zero again",
           TAKES(SET_OF("warps", "warps"))),
    METHOD("served", call_served, "The core cycle of the second level's last answer to the warp; 0: none yet",
           TAKES(WHOLE_NUMBER("warp", .max = WARPS - 1)), RETURNS(WHOLE_NUMBER("cycle"))),
    METHODS_END};

const Class warp_sampler_class = {
    .name = "WarpSampler",
    .doc = "Counts for each warp of an SM its requests to the second level, and those that hit there",
    .bytes = sizeof(WarpSampler),
    .fields = fields,
    .events = events,
    .methods = methods,
    .init = init,
    .tick = part_sleeps,
    .part = true,
};
REGISTER_CLASS(warp_sampler_class);
