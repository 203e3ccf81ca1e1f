#include "mem/parts/evicted_address_filter/evicted_address_filter.h"

#include "core/sim/base/random.h"
#include "mem/cache/cache.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/part.h"

#include <string.h>

enum { MAX_HASHES = 16, WORD_BITS = 64 };

typedef struct {
    SimObject obj;
    CacheObserver observer; /* host */
    const TagArray *tags;   /* host: of the cache */
    uint32_t bits_per_address, hashes, bimodal;
    uint32_t words; /* of the bit vector */
    uint64_t seed;
    uint64_t capacity; /* addresses at which it is cleared: the lines of the cache */
    uint64_t *bits;
    uint64_t held; /* addresses added since it was cleared */
    uint64_t recalled, unknown, unknown_kept, added, clears;
} EvictedAddressFilter;

static EvictedAddressFilter *of_observer(CacheObserver *observer) {
    return (EvictedAddressFilter *)((char *)observer - offsetof(EvictedAddressFilter, observer));
}

/* Hash i of a line address is first + i * step, modulo the bits. */
typedef struct {
    uint64_t first, step, bits;
} Hashes;

static Hashes hashes_of(const EvictedAddressFilter *filter, uint64_t line_address) {
    Random random = {line_address ^ filter->seed};
    uint64_t first = random_next(&random);
    return (Hashes){first, random_next(&random) | 1, (uint64_t)filter->words * WORD_BITS};
}

static uint64_t bit_number(const Hashes *hashes, uint32_t i) {
    return (uint64_t)(((__uint128_t)(hashes->first + i * hashes->step) * hashes->bits) >> 64);
}

static void add(EvictedAddressFilter *filter, uint64_t line_address) {
    Hashes hashes = hashes_of(filter, line_address);
    for (uint32_t i = 0; i < filter->hashes; i++) {
        uint64_t bit = bit_number(&hashes, i);
        filter->bits[bit / WORD_BITS] |= 1ull << bit % WORD_BITS;
    }
    filter->added++;
    if (++filter->held < filter->capacity) return;
    memset(filter->bits, 0, filter->words * sizeof *filter->bits);
    filter->held = 0;
    filter->clears++;
}

static bool holds(const EvictedAddressFilter *filter, uint64_t line_address) {
    Hashes hashes = hashes_of(filter, line_address);
    for (uint32_t i = 0; i < filter->hashes; i++) {
        uint64_t bit = bit_number(&hashes, i);
        if (!(filter->bits[bit / WORD_BITS] >> bit % WORD_BITS & 1)) return false;
    }
    return true;
}

static uint32_t insertion_depth(CacheObserver *observer, uint64_t line_address) {
    EvictedAddressFilter *filter = of_observer(observer);
    if (holds(filter, line_address)) {
        filter->recalled++;
        return 0;
    }
    Random random = {filter->seed + filter->unknown++};
    bool kept = random_below(&random, filter->bimodal) == 0;
    filter->unknown_kept += kept;
    return kept ? 0 : LEAST_RECENT;
}

static void evicted(CacheObserver *observer, uint32_t line) {
    EvictedAddressFilter *filter = of_observer(observer);
    add(filter, tag_address(filter->tags, line));
}

static void init(SimObject *object) {
    EvictedAddressFilter *filter = (EvictedAddressFilter *)object;
    Cache *cache = &((CacheObject *)object->parent)->cache;
    filter->tags = &cache->tags;
    filter->observer = (CacheObserver){.insertion_depth = insertion_depth, .evicted = evicted};
    cache_observe(cache, &filter->observer);
}

static void build(SimObject *object) {
    EvictedAddressFilter *filter = (EvictedAddressFilter *)object;
    const SimObject *cache = object->parent;
    if (!cache || (cache->class != &l1_class && cache->class != &l2_class))
        user_error("%s: expected a place below an L1 or L2 (sm[0].l1d.filter)", object_path(object));
    filter->capacity = ((const CacheObject *)cache)->cache.tags.shape.lines;
    filter->words = (uint32_t)((filter->capacity * filter->bits_per_address + WORD_BITS - 1) / WORD_BITS);
}

static const Field fields[] = {
    BASE(EvictedAddressFilter),
    HOST(EvictedAddressFilter, observer, "How the cache calls it"),
    HOST(EvictedAddressFilter, tags, "Tags of the cache"),
    PARAM(EvictedAddressFilter, bits_per_address, "8", "bits", "Bits of the filter per line of the cache",
          .min = 1, .max = 64),
    PARAM(EvictedAddressFilter, hashes, "4", "hashes", "Bits that an address sets", .min = 1,
          .max = MAX_HASHES),
    PARAM(EvictedAddressFilter, bimodal, "64", "lines",
          "One of so many lines that the filter does not know enters as the most recently used", .min = 1,
          .max = 1 << 20),
    DERIVED(EvictedAddressFilter, words, "Words of the filter"),
    PARAM(EvictedAddressFilter, seed, "1", "", "Of the hashes and of bimodal insertion"),
    DERIVED(EvictedAddressFilter, capacity, "Addresses at which it is cleared"),
    STATE_ARRAY(EvictedAddressFilter, bits, words, "The filter"),
    VISIBLE(EvictedAddressFilter, held, "addresses", "Addresses added since it was cleared"),
    STAT(EvictedAddressFilter, recalled, "lines", "Lines brought in that the filter knew"),
    STAT(EvictedAddressFilter, unknown, "lines", "Lines brought in that it did not know"),
    STAT(EvictedAddressFilter, unknown_kept, "lines", "Of these: entered as the most recently used"),
    STAT(EvictedAddressFilter, added, "lines", "Lines evicted"),
    STAT(EvictedAddressFilter, clears, "times", "It was full and was cleared"),
    FIELDS_END};

const Class evicted_address_filter_class = {
    .name = "EvictedAddressFilter",
    .doc = "Bloom filter of addresses that a cache evicted lately, which decides where lines enter",
    .bytes = sizeof(EvictedAddressFilter),
    .fields = fields,
    .build = build,
    .init = init,
    .tick = part_sleeps,
    .part = true,
};
REGISTER_CLASS(evicted_address_filter_class);
