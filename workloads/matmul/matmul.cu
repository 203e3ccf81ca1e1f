// C = A B for row-major matrices: A is m x k, B is k x n; m and n are multiples of the tile, k of two tiles.
// One CTA of 16 x 16 threads makes one tile of C from a row of tiles of A and a column of tiles of B.
//
// matmul_plain: every thread brings an element of both tiles; then they multiply; then the next two tiles.
// matmul_d2ma: room for two tiles of each, and the next two are in flight while these are multiplied. One
// barrier for every step is left: nobody may still read what the next transfers overwrite.
#include "../cuda.h"
#include "../dma.h"

#define TILE 16

#define ELEMENTS (TILE * TILE)

// A row of one tile times a column of the other.
static inline __device__ float multiply(const float *row, const float *column, float sum) {
#pragma unroll
    for (int i = 0; i < TILE; i++)
        sum = fmaf(row[i], column[i * TILE], sum);
    return sum;
}

extern "C" __global__ void matmul_plain(const float *A, const float *B, float *C, int n, int k) {
    __shared__ float a[ELEMENTS], b[ELEMENTS];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int t = 0; t < k; t += TILE) {
        dma_mark_tile_begin(0);
        a[y * TILE + x] = A[row * k + t + x];
        dma_mark_tile_end(0);
        dma_mark_tile_begin(1);
        b[y * TILE + x] = B[(t + y) * n + column];
        dma_mark_tile_end(1);
        __syncthreads();
        sum = multiply(a + y * TILE, b + x, sum);
        __syncthreads();
    }
    C[row * n + column] = sum;
}

extern "C" __global__ void matmul_d2ma(const float *A, const float *B, float *C, int n, int k) {
    __shared__ float a[2][ELEMENTS], b[2][ELEMENTS];
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    A += row * k;
    B += column;
    dma_set_datatype_float();
    dma_configure_2d(a[0], A, TILE, TILE, k, 0);
    dma_configure_2d(b[0], B, TILE, TILE, n, 1);
    dma_configure_2d(a[1], A + TILE, TILE, TILE, k, 2);
    dma_configure_2d(b[1], B + TILE * n, TILE, TILE, n, 3);
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int t = 2 * TILE; t < k; t += 2 * TILE) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            sum = multiply(&a[i][y * TILE], &b[i][x], sum);
            __syncthreads();
            dma_execute(a[i], A + t + i * TILE, 2 * i);
            dma_execute(b[i], B + (t + i * TILE) * n, 2 * i + 1);
        }
    }
    sum = multiply(&a[0][y * TILE], &b[0][x], sum);
    sum = multiply(&a[1][y * TILE], &b[1][x], sum);
    C[(row + y) * n + column + x] = sum;
}
