/* Of two times, in ticks or in cycles of one clock. */
#ifndef WW_SIM_TIMES_H
#define WW_SIM_TIMES_H

#include <stdint.h>

static inline uint64_t earlier_of(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}
static inline uint64_t later_of(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

#endif
