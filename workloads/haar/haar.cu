// The Haar wavelet transform of a vector of n = 2^k elements: each level makes of n averages n / 2 new ones,
// (a + b) / sqrt 2 of neighbours, and n / 2 details, (a - b) / sqrt 2. A CTA takes 2 * blockDim.x elements
// into shared memory, makes all levels of them down to one average, and writes the details where they belong:
// those of the first level to the second half of `details`, those of the next to the quarter before, and so
// on. The CTAs' averages are the next launch's input.
//
// haar_d2ma: the elements come without the threads' help.
#include "../cuda.h"
#include "../dma.h"

#define MOST_THREADS 256
#define ROOT_HALF    0.70710678f

static inline __device__ void levels(float *tile, float *details, float *averages, int n) {
    int thread = threadIdx.x;
    for (int half = blockDim.x; half > 0; half >>= 1) {
        float a = 0, b = 0;
        n >>= 1;
        if (thread < half) {
            a = tile[2 * thread];
            b = tile[2 * thread + 1];
            details[n + blockIdx.x * half + thread] = (a - b) * ROOT_HALF;
        }
        __syncthreads();
        if (thread < half) tile[thread] = (a + b) * ROOT_HALF;
        __syncthreads();
    }
    if (thread == 0) averages[blockIdx.x] = tile[0];
}

extern "C" __global__ void haar_plain(const float *in, float *details, float *averages, int n) {
    __shared__ float tile[2 * MOST_THREADS];
    dma_mark_tile_begin(0);
    int thread = threadIdx.x, threads = blockDim.x;
    in += 2 * threads * blockIdx.x;
    tile[thread] = in[thread];
    tile[thread + threads] = in[thread + threads];
    dma_mark_tile_end(0);
    __syncthreads();
    levels(tile, details, averages, n);
}

extern "C" __global__ void haar_d2ma(const float *in, float *details, float *averages, int n) {
    __shared__ float tile[2 * MOST_THREADS];
    dma_set_datatype_float();
    dma_configure_flat_unit_stride(tile, in + 2 * blockDim.x * blockIdx.x, 2 * blockDim.x, 0);
    levels(tile, details, averages, n);
}
