// How often each value of a byte occurs. Threads read words of four bytes, coalesced, in a loop over all of the input.
// Each warp counts in a histogram of its own in shared memory; at the end the CTA adds these up and adds the sums to
// the result in global memory.
#include "../cuda.h"

#define BINS    256
#define THREADS 192
#define WARPS   (THREADS / 32)
#define COUNT   0x07ffffffu // a counter's bits below the tag

// Counts without atomics, as GPUs that have none for shared memory must. The lanes of a warp that want the same counter
// store their number in its upper bits; a lane that then reads another's number lost its turn, and tries again.
static inline __device__ void count_tagged(volatile unsigned *counter, unsigned tag) {
    unsigned next;
    do {
        next = ((*counter & COUNT) + 1) | tag;
        *counter = next;
    } while (*counter != next);
}

template <bool atomic>
static inline __device__ void histogram(const unsigned *words, unsigned *result, int count) {
    __shared__ unsigned bins[WARPS][BINS];
#pragma unroll 1
    for (int i = threadIdx.x; i < WARPS * BINS; i += THREADS)
        bins[0][i] = 0;
    __syncthreads();

    unsigned *own = bins[threadIdx.x / 32], tag = threadIdx.x << 27;
#pragma unroll 1
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
        unsigned word = words[i];
#pragma unroll
        for (int byte = 0; byte < 4; byte++) {
            unsigned *counter = &own[word >> 8 * byte & 255];
            if (atomic)
                atomicAdd(counter, 1u);
            else
                count_tagged(counter, tag);
        }
    }
    __syncthreads();

#pragma unroll 1
    for (int bin = threadIdx.x; bin < BINS; bin += THREADS) {
        unsigned sum = 0;
#pragma unroll
        for (int warp = 0; warp < WARPS; warp++)
            sum += bins[warp][bin] & COUNT;
        atomicAdd(&result[bin], sum);
    }
}

extern "C" __global__ void histogram_tags(const unsigned *words, unsigned *result, int count) {
    histogram<false>(words, result, count);
}
extern "C" __global__ void histogram_atomics(const unsigned *words, unsigned *result, int count) {
    histogram<true>(words, result, count);
}
