// C = A B for row-major matrices whose rows are lda elements apart, straight from global memory: one element of C
// per thread, CTAs of 32 x 8. A[i][step] is one word for the whole warp, B[step][j] one line. When lda is a large
// power of two, the rows of A and C and those of B that follow each other fall into the same set of the L1.
// accumulate=memory: every step loads and stores the element of C. accumulate=stored: the plain loop over the
// element of C in memory; what a step has stored the compiler hands to the next one, which need not load it.
#include "../cuda.h"

extern "C" __global__ void mm_memory(const float *A, const float *B, float *C, int m, int n, int k, int lda) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    C[i * lda + j] = 0;
    forget_memory();
#pragma unroll 1
    for (int step = 0; step < k; step++) {
        C[i * lda + j] = fmaf(A[i * lda + step], B[step * lda + j], C[i * lda + j]);
        forget_memory();
    }
}

extern "C" __global__ void mm_stored(const float *A, const float *B, float *C, int m, int n, int k, int lda) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    C[i * lda + j] = 0;
#pragma unroll 1
    for (int step = 0; step < k; step++)
        C[i * lda + j] = fmaf(A[i * lda + step], B[step * lda + j], C[i * lda + j]);
}

extern "C" __global__ void mm_register(const float *A, const float *B, float *C, int m, int n, int k, int lda) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = 0;
#pragma unroll 1
    for (int step = 0; step < k; step++)
        sum = fmaf(A[i * lda + step], B[step * lda + j], sum);
    C[i * lda + j] = sum;
}
