// How many pairs of points on the sky are how far apart: two sets of points per CTA, and for each a histogram of the
// angles between points of one set and of the other. Set 0 is the data, the others are random: CTA 0 compares the data
// with itself, the next ones compare it with each random set, the last ones compare each random set with itself.
#include "../cuda.h"

#define THREADS 256
#define BINS    20
#define COLUMNS (THREADS / 2)

// Cosines of the angles where a bin begins, descending; bin 0 begins at 0 degrees.
__constant__ float edges[BINS];

extern "C" __global__ void where_is_edges(unsigned long *answer) {
    *answer = (unsigned long)edges;
}

static inline __device__ int bin_of(float cosine) {
    int low = 0, high = BINS; // the bin is one of low .. high - 1
#pragma unroll 1
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (cosine < edges[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

extern "C" __global__ void tpacf(const float *x, const float *y, const float *z, unsigned *histograms,
                                 int points, int random_sets) {
    __shared__ float tile_x[THREADS], tile_y[THREADS], tile_z[THREADS];
    __shared__ unsigned counts[BINS][COLUMNS]; // 16 histograms of a warp: two lanes share one
    int thread = threadIdx.x, cta = blockIdx.x;
    int first = cta <= random_sets ? 0 : cta - random_sets, second = cta <= random_sets ? cta : first;
    bool itself = first == second; // then each pair counts once

#pragma unroll 1
    for (int i = thread; i < BINS * COLUMNS; i += THREADS)
        counts[0][i] = 0;
#pragma unroll 1
    for (int begin = 0; begin < points; begin += THREADS) {
        __syncthreads();
        int from = second * points + begin + thread;
        tile_x[thread] = x[from];
        tile_y[thread] = y[from];
        tile_z[thread] = z[from];
        __syncthreads();
#pragma unroll 1
        for (int own = thread; own < points; own += THREADS) {
            float own_x = x[first * points + own], own_y = y[first * points + own],
                  own_z = z[first * points + own];
#pragma unroll 1
            for (int i = 0; i < THREADS; i++) {
                if (itself && begin + i <= own) continue;
                float cosine = own_x * tile_x[i] + own_y * tile_y[i] + own_z * tile_z[i];
                atomicAdd(&counts[bin_of(cosine)][thread / 2], 1u);
            }
        }
    }

#pragma unroll 1
    for (int half = COLUMNS / 2; half > 0; half /= 2) {
        __syncthreads();
#pragma unroll 1
        for (int i = thread; i < BINS * half; i += THREADS)
            counts[i / half][i % half] += counts[i / half][i % half + half];
    }
    __syncthreads();
    if (thread < BINS) histograms[cta * BINS + thread] = counts[thread][0];
}
