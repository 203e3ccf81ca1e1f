// Scalar products of pairs of vectors. A CTA of 256 threads takes a pair and goes through it in steps of 1024 elements,
// with as many sums in shared memory, four a thread; then it adds these up in a tree. CTAs take pairs a grid apart. All
// loads are whole lines, used once.
#include "../cuda.h"

#define SUMS 1024

extern "C" __global__ void scalar_product(const float *a, const float *b, float *product, int pairs,
                                          int elements) {
    __shared__ float sums[SUMS];
#pragma unroll 1
    for (int pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
        const float *u = &a[pair * elements], *v = &b[pair * elements];
#pragma unroll 1
        for (int i = threadIdx.x; i < SUMS; i += blockDim.x) {
            float sum = 0;
#pragma unroll 1
            for (int at = i; at < elements; at += SUMS)
                sum = fmaf(u[at], v[at], sum);
            sums[i] = sum;
        }
#pragma unroll 1
        for (int half = SUMS / 2; half > 0; half /= 2) {
            __syncthreads();
#pragma unroll 1
            for (int i = threadIdx.x; i < half; i += blockDim.x)
                sums[i] += sums[half + i];
        }
        if (threadIdx.x == 0) product[pair] = sums[0];
        __syncthreads(); // the next pair's sums replace these
    }
}
