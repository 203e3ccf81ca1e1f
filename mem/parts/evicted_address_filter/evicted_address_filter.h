/* Class `EvictedAddressFilter`: a Bloom filter of the addresses that a cache evicted lately (Seshadri et al.,
 * PACT 2012). A line that comes back soon after it was evicted has reuse: it enters as the most recently
 * used. One that the filter does not know enters as the least recently used, now and then as the most
 * (bimodal insertion). The filter is cleared when as many addresses are in it as the cache has lines. */
#ifndef WW_MEM_EVICTED_ADDRESS_FILTER_H
#define WW_MEM_EVICTED_ADDRESS_FILTER_H

#include "core/sim/object.h"

extern const Class evicted_address_filter_class;

#endif
