// y = alpha A x + beta B x for row-major matrices of rows x columns, one row per thread.
// The 32 lanes of a warp read 32 rows at once, a row's length apart: 32 lines of A and 32 of B in every step,
// which fall into few sets of a cache when that length is a power of two.
#include "../cuda.h"

extern "C" __global__ void gesummv(const float *A, const float *B, const float *x, float *y, int rows,
                                   int columns, float alpha, float beta) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    float sum_a = 0, sum_b = 0;
#pragma unroll 1
    for (int j = 0; j < columns; j++) {
        sum_a = fmaf(A[row * columns + j], x[j], sum_a);
        sum_b = fmaf(B[row * columns + j], x[j], sum_b);
    }
    y[row] = fmaf(alpha, sum_a, beta * sum_b);
}

// The same with rows that are lda elements apart. With the sums in memory, as in the benchmarks of the papers, every
// step loads and stores them: y first takes the sum of B x, tmp that of A x.
extern "C" __global__ void gesummv_memory(const float *A, const float *B, const float *x, float *y, float *tmp,
                                          int rows, int columns, int lda, float alpha, float beta) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

#pragma unroll 1
    for (int j = 0; j < columns; j++) {
        tmp[row] = fmaf(A[row * lda + j], x[j], tmp[row]);
        y[row] = fmaf(B[row * lda + j], x[j], y[row]);
        forget_memory();
    }
    y[row] = fmaf(alpha, tmp[row], beta * y[row]);
}

extern "C" __global__ void gesummv_register(const float *A, const float *B, const float *x, float *y, float *,
                                            int rows, int columns, int lda, float alpha, float beta) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    float sum_a = 0, sum_b = 0;
#pragma unroll 1
    for (int j = 0; j < columns; j++) {
        sum_a = fmaf(A[row * lda + j], x[j], sum_a);
        sum_b = fmaf(B[row * lda + j], x[j], sum_b);
    }
    y[row] = fmaf(alpha, sum_a, beta * sum_b);
}
