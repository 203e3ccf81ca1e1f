#include "mem/parts/queue_delays/queue_delays.h"

#include "core/sim/checkpoint/snapshot.h"
#include "mem/cache/cache.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/part.h"

enum { BUCKETS = 12 }; /* 0; 1; 2 to 3; 4 to 7; ... 1024 and more */

struct QueueDelays {
    SimObject obj;
    uint64_t *arrived; /* ring: of the requests in the pipeline that came after this part did */
    uint32_t slots;    /* of it, a power of two                                               */
    uint32_t first, count, pad;
    uint64_t pipeline_ticks;
    uint64_t bucket[BUCKETS], requests, cycles;
};

QueueDelays *queue_delays_of(const SimObject *cache) {
    return (QueueDelays *)part_of(cache, &queue_delays_class);
}

/* A slice that was transferred from another machine may hold more than this one lets in. */
void queue_delays_enter(QueueDelays *delays, uint64_t arrived) {
    if (delays->count == delays->slots) {
        delays->arrived = ring_grown(delays->arrived, delays->slots, 2 * delays->slots,
                                     sizeof *delays->arrived);
        delays->slots *= 2;
    }
    delays->arrived[(delays->first + delays->count++) & (delays->slots - 1)] = arrived;
}

static uint32_t bucket_of(uint64_t delay) {
    uint32_t bucket = delay ? 64 - (uint32_t)__builtin_clzll(delay) : 0;
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

void queue_delays_leave(QueueDelays *delays, uint32_t requests, uint64_t now) {
    if (requests > delays->count) return;
    /* Who came when the way was shorter has not waited. */
    uint64_t due = delays->arrived[delays->first] + delays->pipeline_ticks;
    uint64_t delay = now > due ? (now - due) / delays->obj.period : 0;
    delays->first = (delays->first + 1) & (delays->slots - 1);
    delays->count--;
    delays->bucket[bucket_of(delay)]++;
    delays->requests++;
    delays->cycles += delay;
}

static void build(SimObject *object) {
    QueueDelays *delays = (QueueDelays *)object;
    const SimObject *cache = object->parent;
    if (!cache || cache->class != &l2_class)
        user_error("%s: expected a place below an L2 (l2[0].delays)", object_path(object));
    delays->slots = ((const CacheObject *)cache)->cache.pipeline.slots;
    delays->pipeline_ticks = ((const CacheObject *)cache)->cache.pipeline_ticks;
}

static Ratio average(const SimObject *object) {
    const QueueDelays *delays = (const QueueDelays *)object;
    return ratio_of(delays->cycles, delays->requests);
}

#define BUCKET(number, name, doc) STAT_NAMED(QueueDelays, bucket[number], name, "requests", "Waited " doc)

static const Field fields[] = {BASE(QueueDelays),
                               STATE_ARRAY(QueueDelays, arrived, slots, "When each request came"),
                               STATE(QueueDelays, slots, "Size of that ring"),
                               STATE(QueueDelays, first, "Oldest request in it"),
                               STATE(QueueDelays, count, "Requests in it"),
                               DERIVED(QueueDelays, pad, "Alignment"),
                               DERIVED(QueueDelays, pipeline_ticks, "Time from acceptance to the tags"),
                               BUCKET(0, "delay_0", "for nothing"),
                               BUCKET(1, "delay_1", "1 cycle"),
                               BUCKET(2, "delay_2", "2 to 3 cycles"),
                               BUCKET(3, "delay_4", "4 to 7 cycles"),
                               BUCKET(4, "delay_8", "8 to 15 cycles"),
                               BUCKET(5, "delay_16", "16 to 31 cycles"),
                               BUCKET(6, "delay_32", "32 to 63 cycles"),
                               BUCKET(7, "delay_64", "64 to 127 cycles"),
                               BUCKET(8, "delay_128", "128 to 255 cycles"),
                               BUCKET(9, "delay_256", "256 to 511 cycles"),
                               BUCKET(10, "delay_512", "512 to 1023 cycles"),
                               BUCKET(11, "delay_1024", "1024 cycles or more"),
                               STAT(QueueDelays, requests, "requests", "Requests that the tags answered"),
                               STAT(QueueDelays, cycles, "cycles", "Sum of their delays"),
                               FORMULA("average_delay", average, "cycles", "cycles / requests"),
                               FIELDS_END};

static void is_sound(const SimObject *object, bool fits) {
    const QueueDelays *delays = (const QueueDelays *)object;
    uint32_t slots = delays->slots;
    (void)fits;
    sound(slots && !(slots & (slots - 1)) && delays->first < slots && delays->count <= slots,
          "%s: %u of %u requests from %u on", object->path, delays->count, slots, delays->first);
}

const Class queue_delays_class = {
    .name = "QueueDelays",
    .doc = "Distribution of the delays of requests that queue for the tags of an L2 slice",
    .bytes = sizeof(QueueDelays),
    .fields = fields,
    .build = build,
    .is_sound = is_sound,
    .tick = part_sleeps,
    .part = true,
};
REGISTER_CLASS(queue_delays_class);
