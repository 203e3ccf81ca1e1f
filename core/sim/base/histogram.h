/* How often each value came. Values below 16 have a bucket each, larger ones share a bucket with those that differ
 * from them by less than an eighth. */
#ifndef WW_SIM_HISTOGRAM_H
#define WW_SIM_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_EXACT = 16, HISTOGRAM_BUCKETS = HISTOGRAM_EXACT + 60 * 8 };

/* All zero: empty. */
typedef struct {
    uint64_t bucket[HISTOGRAM_BUCKETS];
    uint64_t count, sum, max;
} Histogram;

static inline uint32_t histogram_bucket(uint64_t value) {
    if (value < HISTOGRAM_EXACT) return (uint32_t)value;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(value);
    return HISTOGRAM_EXACT + (octave - 4) * 8 + (uint32_t)(value >> (octave - 3) & 7);
}

/* The least value of a bucket. */
static inline uint64_t histogram_from(uint32_t bucket) {
    if (bucket < HISTOGRAM_EXACT) return bucket;
    uint32_t octave = 4 + (bucket - HISTOGRAM_EXACT) / 8, part = bucket % 8;
    return (uint64_t)(8 + part) << (octave - 3);
}

/* The largest value that has come to a bucket at most: its last, or the largest of all. */
static inline uint64_t histogram_last(const Histogram *h, uint32_t bucket) {
    uint64_t last = bucket + 1 < HISTOGRAM_BUCKETS ? histogram_from(bucket + 1) - 1 : UINT64_MAX;
    return last < h->max ? last : h->max;
}

/* The value came so many times. */
static inline void histogram_add(Histogram *h, uint64_t value, uint64_t times) {
    if (!times) return;
    h->bucket[histogram_bucket(value)] += times;
    h->count += times;
    h->sum += value * times;
    if (value > h->max) h->max = value;
}

#endif
