/* Marsaglia's XORWOW (Xorshift RNGs, 2003), seeded as cuRAND seeds it: the numbers are NVIDIA's. */
#include "xorwow_jumps.h"

struct curandStateXORWOW {
    unsigned d, v[5];
    int boxmuller_flag, boxmuller_flag_double; /* the other number of a pair is in extra */
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;

enum { __warpwright_weyl_step = 362437 };

WARPWRIGHT_DEVICE void __warpwright_step(unsigned v[5]) {
    unsigned t = v[0] ^ v[0] >> 2;
    v[0] = v[1];
    v[1] = v[2];
    v[2] = v[3];
    v[3] = v[4];
    v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
}

WARPWRIGHT_DEVICE unsigned curand(curandStateXORWOW_t *state) {
    __warpwright_step(state->v);
    state->d += __warpwright_weyl_step;
    return state->v[4] + state->d;
}

/* As many steps as the polynomial stands for: the sum of v after 0, 1, 2, ... steps, times its coefficients. */
WARPWRIGHT_ONCE void __warpwright_jump(unsigned v[5], const unsigned polynomial[5]) {
    unsigned sum[5] = {0, 0, 0, 0, 0};
#pragma unroll 1
    for (int word = 0; word < 5; word++) {
        unsigned coefficients = polynomial[word];
#pragma unroll
        for (int bit = 0; bit < 32; bit++) {
            unsigned is_added = 0 - (coefficients >> bit & 1);
            for (int i = 0; i < 5; i++)
                sum[i] ^= v[i] & is_added;
            __warpwright_step(v);
        }
    }
    for (int i = 0; i < 5; i++)
        v[i] = sum[i];
}

WARPWRIGHT_ONCE void __warpwright_jumps(unsigned v[5], unsigned long long n,
                                        const unsigned polynomials[16 * 16][5]) {
    for (int digit = 0; n; digit++, n >>= 4)
        if (n & 15) __warpwright_jump(v, polynomials[16 * digit + (int)(n & 15)]);
}

/* By n numbers. */
WARPWRIGHT_ONCE void skipahead(unsigned long long n, curandStateXORWOW_t *state) {
    __warpwright_jumps(state->v, n, __warpwright_xorwow_steps);
    state->d += __warpwright_weyl_step * (unsigned)n;
}

/* By n sequences of 2^67 numbers, after which d is what it was. */
WARPWRIGHT_ONCE void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *state) {
    __warpwright_jumps(state->v, n, __warpwright_xorwow_sequences);
}

WARPWRIGHT_ONCE void curand_init(unsigned long long seed, unsigned long long subsequence,
                                 unsigned long long offset, curandStateXORWOW_t *state) {
    unsigned low = ((unsigned)seed ^ 0xaad26b49) * 1099087573;
    unsigned high = ((unsigned)(seed >> 32) ^ 0xf7dcefdd) * 2591861531;
    *state = {6615241 + high + low,
              {123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low}};
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}
