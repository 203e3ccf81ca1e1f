/* L'Ecuyer's MRG32k3a (Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators,
 * 1999). How NVIDIA makes a state of a seed is not documented: for a seed cuRAND may have others. */
struct curandStateMRG32k3a {
    unsigned s1[3], s2[3]; /* the oldest first */
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

enum : unsigned { __warpwright_m1 = 4294967087, __warpwright_m2 = 4294944443 };

/* From 1 to m1. */
WARPWRIGHT_DEVICE unsigned __warpwright_mrg(curandStateMRG32k3a_t *state) {
    const unsigned long long m1 = __warpwright_m1, m2 = __warpwright_m2;
    unsigned *s1 = state->s1, *s2 = state->s2;
    unsigned first = (unsigned)((1403580 * (unsigned long long)s1[1] + 810728 * (m1 - s1[0])) % m1);
    unsigned second = (unsigned)((527612 * (unsigned long long)s2[2] + 1370589 * (m2 - s2[0])) % m2);
    s1[0] = s1[1];
    s1[1] = s1[2];
    s1[2] = first;
    s2[0] = s2[1];
    s2[1] = s2[2];
    s2[2] = second;
    return first > second ? first - second : first - second + __warpwright_m1;
}

/* All 32 bits are as good as random, though not every word comes. */
WARPWRIGHT_DEVICE unsigned curand(curandStateMRG32k3a_t *state) {
    return (unsigned)(__warpwright_mrg(state) * 1.000000048662);
}

struct __warpwright_matrix {
    unsigned at[3][3];
};

WARPWRIGHT_ONCE __warpwright_matrix __warpwright_product(const __warpwright_matrix &a,
                                                         const __warpwright_matrix &b, unsigned modulus) {
    __warpwright_matrix result;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            unsigned long long sum = 0;
            for (int k = 0; k < 3; k++)
                sum = (sum + (unsigned long long)a.at[i][k] * b.at[k][j] % modulus) % modulus;
            result.at[i][j] = (unsigned)sum;
        }
    return result;
}

WARPWRIGHT_ONCE void __warpwright_apply(const __warpwright_matrix &a, unsigned s[3], unsigned modulus) {
    unsigned result[3];
    for (int i = 0; i < 3; i++) {
        unsigned long long sum = 0;
        for (int k = 0; k < 3; k++)
            sum = (sum + (unsigned long long)a.at[i][k] * s[k] % modulus) % modulus;
        result[i] = (unsigned)sum;
    }
    for (int i = 0; i < 3; i++)
        s[i] = result[i];
}

/* By n times 2^doublings steps, of which `step` is one. */
WARPWRIGHT_ONCE void __warpwright_advance(unsigned s[3], __warpwright_matrix step, unsigned modulus,
                                          unsigned long long n, int doublings) {
    for (int i = 0; n && i < doublings; i++)
        step = __warpwright_product(step, step, modulus);
    for (; n; n >>= 1) {
        if (n & 1) __warpwright_apply(step, s, modulus);
        if (n > 1) step = __warpwright_product(step, step, modulus);
    }
}

WARPWRIGHT_ONCE void __warpwright_advance(curandStateMRG32k3a_t *state, unsigned long long n, int doublings) {
    const unsigned m1 = __warpwright_m1, m2 = __warpwright_m2;
    __warpwright_advance(state->s1, {{{0, 1, 0}, {0, 0, 1}, {m1 - 810728, 1403580, 0}}}, m1, n, doublings);
    __warpwright_advance(state->s2, {{{0, 1, 0}, {0, 0, 1}, {m2 - 1370589, 0, 527612}}}, m2, n, doublings);
}

WARPWRIGHT_ONCE void skipahead(unsigned long long n, curandStateMRG32k3a_t *state) {
    __warpwright_advance(state, n, 0);
}

/* By n subsequences of 2^76 numbers. */
WARPWRIGHT_ONCE void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *state) {
    __warpwright_advance(state, n, 76);
}

/* By n sequences of 2^127 numbers. */
WARPWRIGHT_ONCE void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *state) {
    __warpwright_advance(state, n, 127);
}

WARPWRIGHT_ONCE void curand_init(unsigned long long seed, unsigned long long subsequence,
                                 unsigned long long offset, curandStateMRG32k3a_t *state) {
    *state = {{12345, 12345, 12345}, {12345, 12345, 12345}};
    if (seed) {
        unsigned long long low = (unsigned)seed ^ 0x55555555u, high = (unsigned)(seed >> 32) ^ 0xaaaaaaaau;
        for (int i = 0; i < 3; i++) {
            state->s1[i] = (unsigned)(12345 * (i == 1 ? high : low) % __warpwright_m1);
            state->s2[i] = (unsigned)(12345 * (i == 1 ? low : high) % __warpwright_m2);
        }
    }
    skipahead_subsequence(subsequence, state);
    skipahead(offset, state);
}
