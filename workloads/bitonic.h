// Bitonic sorts of a power of two of items: compare and exchange items `distance` apart, for distances of a half of
// `run`, a quarter and so on, for runs of 2, 4 and so on. lib/bitonic.lua launches the kernels made of these.
#pragma once

#include "cuda.h"

// The items that the thread of this number compares. In the end they ascend from low to high if low & run is 0,
// else descend.
struct Exchange {
    int low, high;
};

static inline __device__ Exchange exchange_of(int thread, int distance) {
    int low = thread / distance * 2 * distance + thread % distance;
    return {low, low + distance};
}

// One step, of items in global memory. `after`(a, b) says whether a belongs behind b.
template <typename Item, typename After>
static inline __device__ void bitonic_step(Item *items, int distance, int run, After after) {
    Exchange at = exchange_of(blockIdx.x * blockDim.x + threadIdx.x, distance);
    Item a = items[at.low], b = items[at.high];
    bool ascending = (at.low & run) == 0;
    if (after(a, b) != ascending) return;
    items[at.low] = b;
    items[at.high] = a;
}

// All steps of the runs from first_run to last_run that stay among the CTA's items, two of each thread, in shared
// memory.
template <typename Item, typename After>
static inline __device__ void bitonic_block(Item *items, Item *block, int first_run, int last_run,
                                            After after) {
    int threads = blockDim.x, first = blockIdx.x * 2 * threads;
    block[threadIdx.x] = items[first + threadIdx.x];
    block[threads + threadIdx.x] = items[first + threads + threadIdx.x];
#pragma unroll 1
    for (int run = first_run; run <= last_run; run *= 2) {
#pragma unroll 1
        for (int distance = run / 2 < threads ? run / 2 : threads; distance > 0; distance /= 2) {
            __syncthreads();
            Exchange at = exchange_of(threadIdx.x, distance);
            bool ascending = ((first + at.low) & run) == 0;
            Item a = block[at.low], b = block[at.high];
            if (after(a, b) == ascending) {
                block[at.low] = b;
                block[at.high] = a;
            }
        }
    }
    __syncthreads();
    items[first + threadIdx.x] = block[threadIdx.x];
    items[first + threads + threadIdx.x] = block[threads + threadIdx.x];
}
