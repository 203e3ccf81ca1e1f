// C = alpha A B + beta C for row-major matrices: A is m x k, B is k x n, C is m x n; each a multiple of the
// tile. One CTA of 16 x 16 threads makes one tile of C. It walks along a row of tiles of A and a column of
// tiles of B, copies both tiles to shared memory, and every thread multiplies a row of one with a column of
// the other.
#include "../cuda.h"

#define TILE 16

extern "C" __global__ void sgemm(const float *A, const float *B, float *C, int n, int k, float alpha,
                                 float beta) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;

    float sum = 0;
    for (int t = 0; t < k; t += TILE) {
        tile_a[y][x] = A[row * k + t + x];
        tile_b[y][x] = B[(t + y) * n + column];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++)
            sum = fmaf(tile_a[y][i], tile_b[i][x], sum);
        __syncthreads();
    }
    float *c = &C[row * n + column];
    *c = fmaf(alpha, sum, beta * *c);
}

#define ROWS    128
#define COLUMNS 16
#define STEP    8

// The same with A and C stored by columns, and sums in registers: a CTA of 16 x 8 threads makes 128 x 16 elements of C,
// a row of 16 per thread. Only a tile of 8 x 16 of B is in shared memory; each element of A goes to one thread of the
// CTA, straight from global memory and coalesced, and into 16 sums.
extern "C" __global__ void sgemm_registers(const float *A, const float *B, float *C, int m, int n, int k,
                                           float alpha, float beta) {
    __shared__ float tile_b[STEP][COLUMNS];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.x * ROWS + y * COLUMNS + x, first_column = blockIdx.y * COLUMNS;

    float sums[COLUMNS] = {};
#pragma unroll 1
    for (int t = 0; t < k; t += STEP) {
        tile_b[y][x] = B[(t + y) * n + first_column + x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < STEP; i++) {
            float a = A[(t + i) * m + row];
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                sums[j] = fmaf(a, tile_b[i][j], sums[j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        float *c = &C[(first_column + j) * m + row];
        *c = fmaf(alpha, sums[j], beta * *c);
    }
}
