/* Class `VictimCache`: a cache, small and fully associative as a rule, of the lines that an L1 has replaced (Jouppi, ISCA
 * 1990, section 3.2). A request that misses in the L1 and finds its line here exchanges it with the line that
 * the L1 would replace: one cycle more than a hit, and no fetch. A line is in one of the two, never in both.
 *
 * It stands in front of the L1's tags as a tag front, and sees what the L1 replaces as an observer. Its
 * lines are clean: what is dirty in a line is written back when the L1 replaces it. */
#ifndef WW_MEM_VICTIM_CACHE_H
#define WW_MEM_VICTIM_CACHE_H

#include "core/sim/object.h"

extern const Class victim_cache_class;

#endif
