// Two steps of a particle filter that follows an object in a video. The pixels of a frame are `frames` bytes apart.
#include "../cuda.h"
#include "../double_math.h"

#define THREADS 512

// How likely each particle's place is: one particle per thread. The pixels of a disc around it should be bright, as the
// object, and not dark, as the background. A particle's indices of pixels stand side by side in memory, so the lanes of
// a warp are as many words apart as the disc has points.
extern "C" __global__ void particle_likelihood(const double *x, const double *y, const int *disc, int points, int *index,
                                               const unsigned char *image, int height, int frames, int frame,
                                               int pixels, int particles, double *weight, double *partial) {
    __shared__ double sums[THREADS];
    int particle = blockIdx.x * blockDim.x + threadIdx.x;
    double own = 0;
    if (particle < particles) {
        int row = (int)(x[particle] + 0.5), column = (int)(y[particle] + 0.5);
#pragma unroll 1
        for (int p = 0; p < points; p++) {
            int at = (row + disc[2 * p]) * height * frames + (column + disc[2 * p + 1]) * frames + frame;
            index[particle * points + p] = at < 0 || at >= pixels ? 0 : at;
        }
        forget_memory();
        double likelihood = 0;
#pragma unroll 1
        for (int p = 0; p < points; p++) {
            double background = power((double)(image[index[particle * points + p]] - 100), 2.0);
            forget_memory();
            double object = power((double)(image[index[particle * points + p]] - 228), 2.0);
            likelihood += (background - object) / 50.0;
        }
        own = exponential(likelihood / points) / particles;
        weight[particle] = own;
    }

    sums[threadIdx.x] = own;
    __syncthreads();
#pragma unroll 1
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

// The particles to go on with: thread i takes the first one whose cumulative weight reaches its draw.
extern "C" __global__ void particle_find(const double *cumulative, const double *draw, const double *x, const double *y,
                                         int *found, double *new_x, double *new_y, int particles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles) return;
    double own = draw[i];
    int k = 0;
#pragma unroll 1
    while (k < particles - 1 && cumulative[k] < own)
        k++;
    found[i] = k;
    new_x[i] = x[k];
    new_y[i] = y[k];
}
