/* Seeded random numbers: splitmix64. The sequence is part of the product's contract: seeded inputs and
 * shuffled orders stay the same for ever. */
#ifndef WW_SIM_RANDOM_H
#define WW_SIM_RANDOM_H

#include <stdint.h>

typedef struct {
    uint64_t state;
} Random;

static inline uint64_t random_next(Random *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* Uniform in [0, bound); bound > 0. */
static inline uint64_t random_below(Random *random, uint64_t bound) {
    return (uint64_t)(((__uint128_t)random_next(random) * bound) >> 64);
}

/* Uniform in [0, 1), 53 bits. */
static inline double random_unit(Random *random) {
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

#endif
