// Pi by chance: of random points in a square, the part that lies in the quarter of a circle. Each thread has a
// generator of random numbers whose six words are in local memory, where its L1 caches them: all of a warp's words
// are six lines, loaded and stored with every number.
#include "../cuda.h"

#define THREADS 128

// Marsaglia's xorwow
static inline __device__ unsigned draw(unsigned *state) {
    unsigned t = state[0] ^ (state[0] >> 2);
    unsigned last = state[4];
    state[0] = state[1];
    state[1] = state[2];
    state[2] = state[3];
    state[3] = last;
    last = (last ^ (last << 4)) ^ (t ^ (t << 1));
    state[4] = last;
    state[5] += 362437;
    unsigned number = last + state[5];
    forget_memory();
    return number;
}

// From 0 to 1, in steps that a single holds exactly
static inline __device__ float fraction(unsigned number) {
    return (float)(number >> 8) * (1.0f / (1 << 24));
}

// Adds up a number of each thread of the CTA. Thread 0 has the sum.
static inline __device__ int sum_of(int *sums, int own) {
    int thread = threadIdx.x;
    sums[thread] = own;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) sums[thread] += sums[thread + half];
    }
    return sums[0];
}

// How many of the points of each CTA are in the circle. Six words per thread are the states to begin with.
extern "C" __global__ void count_inside(const unsigned *states, int *counts, int draws) {
    __shared__ int sums[THREADS];
    int thread = blockIdx.x * THREADS + threadIdx.x;
    unsigned state[6];
    keep_in_memory(state);
#pragma unroll
    for (int i = 0; i < 6; i++)
        state[i] = states[6 * thread + i];

    int inside = 0;
#pragma unroll 1
    for (int i = 0; i < draws; i++) {
        float x = fraction(draw(state)), y = fraction(draw(state));
        if (fmaf(x, x, y * y) < 1.0f) inside++;
    }
    int sum = sum_of(sums, inside);
    if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}

extern "C" __global__ void add_counts(const int *counts, int ctas, int *total) {
    __shared__ int sums[THREADS];
    int own = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < ctas; i += THREADS)
        own += counts[i];
    int sum = sum_of(sums, own);
    if (threadIdx.x == 0) *total = sum;
}
