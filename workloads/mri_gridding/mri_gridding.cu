// Samples of a space, from along lines through its middle, are brought onto a grid, as magnetic resonance imaging
// does. First each sample finds its bin, which takes a limited number of them; then the samples are put into the
// order of their bins; then each cell of the grid adds up the samples around it. Bins are as large as cells.
#include "../cuda.h"

struct Sample {
    float real, imaginary;
    float x, y, z, weight; // places in cells of the grid
};

// A bin has room as long as its counter is below the limit; a thread that takes it beyond takes that back. The key of
// a sample without room is the number of bins.
extern "C" __global__ void mri_bin(const Sample *samples, unsigned *counters, unsigned *keys,
                                   unsigned *values, int count, unsigned limit, int width, int height,
                                   int depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Sample *own = &samples[i];
    unsigned bin = ((int)own->z * height + (int)own->y) * width + (int)own->x, key = width * height * depth;
    if (counters[bin] < limit) {
        if (atomicAdd(&counters[bin], 1u) < limit)
            key = bin;
        else
            atomicAdd(&counters[bin], -1u);
    }
    keys[i] = key;
    values[i] = i;
}

// Sample i of the new order is the one that order[i] names.
extern "C" __global__ void mri_reorder(const Sample *samples, const unsigned *order, float2 *values,
                                       float4 *places, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Sample *from = &samples[order[i]];
    values[i] = float2{from->real, from->imaginary};
    places[i] = float4{from->x, from->y, from->z, from->weight};
}

#define CELLS_X   8 // of a CTA: a thread for each x and y, and for every four z
#define CELLS_Y   4
#define CELLS_Z   8
#define OF_THREAD 4
#define THREADS   (CELLS_X * CELLS_Y * CELLS_Z / OF_THREAD)

// The Bessel function I0(2 sqrt(v)), by its series: the terms are v^n / n!^2. v is at most 16.
static inline __device__ float bessel(float v) {
    float sum = 1.315780e-22f;
    sum = fmaf(sum, v, 2.578929e-20f);
    sum = fmaf(sum, v, 4.358390e-18f);
    sum = fmaf(sum, v, 6.276081e-16f);
    sum = fmaf(sum, v, 7.594058e-14f);
    sum = fmaf(sum, v, 7.594058e-12f);
    sum = fmaf(sum, v, 6.151187e-10f);
    sum = fmaf(sum, v, 3.936760e-8f);
    sum = fmaf(sum, v, 1.929012e-6f);
    sum = fmaf(sum, v, 6.944444e-5f);
    sum = fmaf(sum, v, 1.736111e-3f);
    sum = fmaf(sum, v, 2.777778e-2f);
    sum = fmaf(sum, v, 0.25f);
    sum = fmaf(sum, v, 1.0f);
    return fmaf(sum, v, 1.0f);
}

static inline __device__ int at_least(int a, int b) {
    return a > b ? a : b;
}
static inline __device__ int at_most(int a, int b) {
    return a < b ? a : b;
}

// Samples nearer than the square root of `far` count, by the window of Kaiser and Bessel. A CTA goes through the rows
// of bins around its cells; first[b] is the first sample of bin b. Its threads take 64 samples at a time into shared
// memory.
extern "C" __global__ void mri_grid(const float2 *values, const float4 *places, const int *first,
                                    float2 *grid, float *density, int width, int height, int depth, float far,
                                    int reach) {
    __shared__ float real[THREADS], imaginary[THREADS];
    __shared__ float x[THREADS], y[THREADS], z[THREADS], weight[THREADS];
    int thread = (threadIdx.z * CELLS_Y + threadIdx.y) * CELLS_X + threadIdx.x;
    int corner_x = blockIdx.x * CELLS_X, corner_y = blockIdx.y * CELLS_Y, corner_z = blockIdx.z * CELLS_Z;
    int own_x = corner_x + threadIdx.x, own_y = corner_y + threadIdx.y,
        own_z = corner_z + OF_THREAD * threadIdx.z;
    int low_x = at_least(corner_x - reach, 0), low_y = at_least(corner_y - reach, 0);
    int low_z = at_least(corner_z - reach, 0), high_x = at_most(corner_x + CELLS_X - 1 + reach, width - 1);
    int high_y = at_most(corner_y + CELLS_Y - 1 + reach, height - 1);
    int high_z = at_most(corner_z + CELLS_Z - 1 + reach, depth - 1);

    float real_sum[OF_THREAD] = {}, imaginary_sum[OF_THREAD] = {}, weights[OF_THREAD] = {};
#pragma unroll 1
    for (int bin_z = low_z; bin_z <= high_z; bin_z++) {
#pragma unroll 1
        for (int bin_y = low_y; bin_y <= high_y; bin_y++) {
            const int *row = &first[(bin_z * height + bin_y) * width];
            int begin = row[low_x], end = row[high_x + 1];
#pragma unroll 1
            for (; begin < end; begin += THREADS) {
                int count = at_most(THREADS, end - begin);
                __syncthreads();
                if (thread < count) {
                    float2 value = values[begin + thread];
                    float4 place = places[begin + thread];
                    real[thread] = value.x;
                    imaginary[thread] = value.y;
                    x[thread] = place.x;
                    y[thread] = place.y;
                    z[thread] = place.z;
                    weight[thread] = place.w;
                }
                __syncthreads();
#pragma unroll 1
                for (int i = 0; i < count; i++) {
                    float dx = x[i] - (float)own_x, dy = y[i] - (float)own_y;
                    float across = fmaf(dx, dx, dy * dy);
                    if (across >= far) continue;
#pragma unroll
                    for (int cell = 0; cell < OF_THREAD; cell++) {
                        float dz = z[i] - (float)(own_z + cell);
                        float square = fmaf(dz, dz, across);
                        if (square >= far) continue;
                        float w = weight[i] * bessel(16.0f - 16.0f * square / far);
                        real_sum[cell] = fmaf(w, real[i], real_sum[cell]);
                        imaginary_sum[cell] = fmaf(w, imaginary[i], imaginary_sum[cell]);
                        weights[cell] += w;
                    }
                }
            }
        }
    }
#pragma unroll
    for (int cell = 0; cell < OF_THREAD; cell++) {
        int at = ((own_z + cell) * height + own_y) * width + own_x;
        grid[at] = float2{real_sum[cell], imaginary_sum[cell]};
        density[at] = weights[cell];
    }
}
