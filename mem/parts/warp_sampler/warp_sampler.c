#include "mem/parts/warp_sampler/warp_sampler.h"

#include "core/sim/event.h"
#include "core/sim/method.h"
#include "mem/cache/cache.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/part.h"

enum { WARPS = 64, CACHES = 8 };

typedef enum { SAMPLER_SAMPLED } SamplerEvent;

/* How an L1 calls it. */
typedef struct {
    CacheObserver observer; /* first: answered() gets a pointer to it */
    WarpSampler *sampler;
} Tap;

struct WarpSampler {
    SimObject obj;
    Tap tap[CACHES]; /* host: into each L1 of the SM */
    uint32_t warm_up, pad;
    uint32_t accesses[WARPS], hits[WARPS]; /* up to warm_up accesses */
    uint64_t served[WARPS];                /* core cycle             */
    uint64_t answers, answers_hit, samples;
};

void sampler_count(WarpSampler *sampler, uint32_t warp, bool hit, uint64_t now) {
    ensure(warp < WARPS);
    sampler->answers++;
    sampler->answers_hit += hit;
    sampler->served[warp] = object_cycle(&sampler->obj, now);
    if (sampler->accesses[warp] == sampler->warm_up) return;
    sampler->hits[warp] += hit;
    if (++sampler->accesses[warp] < sampler->warm_up) return;
    sampler->samples++;
    object_emit(&sampler->obj, SAMPLER_SAMPLED, warp, sampler->hits[warp], sampler->accesses[warp], 0);
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
    {0}};

static const Field fields[] = {
    BASE(WarpSampler),
    HOST(WarpSampler, tap, "How the L1s call it"),
    PARAM(WarpSampler, warm_up, "100", "accesses", "Answers that make a sample; 0: none does", .min = 0,
          .max = 1 << 30),
    DERIVED(WarpSampler, pad, "Alignment"),
    STATE(WarpSampler, accesses, "Answers to each warp since it was restarted, up to warm_up"),
    STATE(WarpSampler, hits, "Of these: hit in the second level"),
    STATE(WarpSampler, served, "When the second level last answered each warp"),
    STAT(WarpSampler, answers, "answers", "Answers of the second level"),
    STAT(WarpSampler, answers_hit, "answers", "Of these: it had the data"),
    STAT(WarpSampler, samples, "samples", "Times that a warp reached warm_up answers"),
    FIELDS_END};

static void answered(CacheObserver *observer, const MemMessage *m, uint64_t now) {
    if (!(m->flags & MEM_BYPASSED))
        sampler_count(((Tap *)observer)->sampler, m->warp, m->flags & MEM_HIT, now);
}

/* Observes every L1 that belongs to what the sampler belongs to. */
static void init(SimObject *object) {
    WarpSampler *sampler = (WarpSampler *)object;
    uint32_t count = 0;
    for (uint32_t i = 0; object->parent && i < object->sim->object_count; i++) {
        SimObject *cache = object->sim->objects[i];
        if (cache->parent != object->parent || cache->class != &l1_class) continue;
        if (count == CACHES)
            user_error("%s: expected at most %d L1 caches beside it, got more", object->path, CACHES);
        sampler->tap[count] = (Tap){{.answered = answered}, sampler};
        cache_observe(&((CacheObject *)cache)->cache, &sampler->tap[count++].observer);
    }
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
