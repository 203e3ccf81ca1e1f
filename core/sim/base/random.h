/* Seeded random numbers: splitmix64. The sequence is part of the product's contract: seeded inputs and
 * shuffled orders stay the same for ever. */
#ifndef WW_SIM_RANDOM_H
#define WW_SIM_RANDOM_H

#include <stdint.h>

typedef struct {
    uint64_t state;
} Random;

#define RANDOM_STEP 0x9e3779b97f4a7c15ull

static inline uint64_t random_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static inline uint64_t random_next(Random *random) {
    return random_mix(random->state += RANDOM_STEP);
}

/* Number i of the sequence from `seed` on, counted from 0: without those before it, so a loop vectorises. */
static inline uint64_t random_at(uint64_t seed, uint64_t i) {
    return random_mix(seed + (i + 1) * RANDOM_STEP);
}

/* Uniform in [0, bound); bound > 0. */
static inline uint64_t random_below(Random *random, uint64_t bound) {
    return (uint64_t)(((__uint128_t)random_next(random) * bound) >> 64);
}

/* Uniform in [0, 1), 53 bits, from a number of the sequence. */
static inline double unit_of(uint64_t number) {
    return (double)(int64_t)(number >> 11) * 0x1p-53;
}

static inline double random_unit(Random *random) {
    return unit_of(random_next(random));
}

#endif
