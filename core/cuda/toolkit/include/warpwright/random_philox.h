/* Philox4x32-10 (Salmon and others, Parallel Random Numbers: As Easy as 1, 2, 3, 2011): a block of four words is what ten
 * rounds with the seed as key make of a counter of 128 bits. Its upper half is the subsequence. */
struct curandStatePhilox4_32_10 {
    uint4 ctr, output; /* of the block at ctr, of which STATE words have been taken */
    uint2 key;
    unsigned STATE;
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

WARPWRIGHT_DEVICE uint4 curand_Philox4x32_10(uint4 c, uint2 key) {
    for (int round = 0; round < 10; round++) {
        unsigned low0 = 0xd2511f53 * c.x, high0 = __umulhi(0xd2511f53, c.x);
        unsigned low1 = 0xcd9e8d57 * c.z, high1 = __umulhi(0xcd9e8d57, c.z);
        c = make_uint4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
        key.x += 0x9e3779b9;
        key.y += 0xbb67ae85;
    }
    return c;
}

/* Of `low`, the lower half, and `high`. */
WARPWRIGHT_DEVICE void __warpwright_add(unsigned &low, unsigned &high, unsigned long long n) {
    unsigned long long sum = ((unsigned long long)high << 32 | low) + n;
    low = (unsigned)sum;
    high = (unsigned)(sum >> 32);
}

WARPWRIGHT_DEVICE void __warpwright_next_blocks(curandStatePhilox4_32_10_t *state, unsigned long long n) {
    unsigned long long before = (unsigned long long)state->ctr.y << 32 | state->ctr.x;
    __warpwright_add(state->ctr.x, state->ctr.y, n);
    if (before + n < before) __warpwright_add(state->ctr.z, state->ctr.w, 1);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

WARPWRIGHT_DEVICE unsigned __warpwright_word(uint4 block, unsigned i) {
    return i == 0 ? block.x : i == 1 ? block.y : i == 2 ? block.z : block.w;
}

WARPWRIGHT_DEVICE unsigned curand(curandStatePhilox4_32_10_t *state) {
    unsigned word = __warpwright_word(state->output, state->STATE++);
    if (state->STATE == 4) {
        state->STATE
        = 0;
        __warpwright_next_blocks(state, 1);
    }
    return word;
}

/* The next four words. */
WARPWRIGHT_DEVICE uint4 curand4(curandStatePhilox4_32_10_t *state) {
    uint4 first = state->output;
    __warpwright_next_blocks(state, 1);
    uint4 second = state->output;
    switch (state->STATE) {
    case 0: return first;
    case 1: return make_uint4(first.y, first.z, first.w, second.x);
    case 2: return make_uint4(first.z, first.w, second.x, second.y);
    default: return make_uint4(first.w, second.x, second.y, second.z);
    }
}

/* By n numbers. */
WARPWRIGHT_ONCE void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *state) {
    state->STATE
    += (unsigned)(n & 3);
    __warpwright_next_blocks(state, n / 4 + state->STATE / 4);
    state->STATE
    %= 4;
}

/* By n sequences of 2^66 numbers. */
WARPWRIGHT_ONCE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *state) {
    __warpwright_add(state->ctr.z, state->ctr.w, n);
    __warpwright_next_blocks(state, 0);
}

WARPWRIGHT_ONCE void curand_init(unsigned long long seed, unsigned long long subsequence,
                                 unsigned long long offset, curandStatePhilox4_32_10_t *state) {
    *state = {make_uint4(0, 0, 0, 0), make_uint4(0, 0, 0, 0),
              make_uint2((unsigned)seed, (unsigned)(seed >> 32))};
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}
