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
