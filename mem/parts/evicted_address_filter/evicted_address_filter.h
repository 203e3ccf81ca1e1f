/* Class `EvictedAddressFilter`: a Bloom filter of the addresses that a cache evicted lately (Seshadri et al.,
 * PACT 2012). A line that comes back soon after it was evicted has reuse: it enters as the most recently
 * used. One that the filter does not know enters as the least recently used, now and then as the most
 * (bimodal insertion). The filter is cleared when as many addresses are in it as the cache has lines. */
#ifndef WW_MEM_EVICTED_ADDRESS_FILTER_H
#define WW_MEM_EVICTED_ADDRESS_FILTER_H

#include "core/sim/object.h"

typedef struct EvictedAddressFilter EvictedAddressFilter;

extern const Class evicted_address_filter_class;

/* The filter below a cache; NULL when there is none. */
EvictedAddressFilter *filter_of(const SimObject *cache);
/* A line was evicted. */
void filter_add(EvictedAddressFilter *filter, uint64_t line_address);
/* A line missed and is to be brought in: how many places below the most recently used it enters. */
uint32_t filter_depth(EvictedAddressFilter *filter, uint64_t line_address);

#endif
