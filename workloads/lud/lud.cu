// LU decomposition in place, without pivoting, of a row-major matrix of n x n, n a multiple of 16, by blocks
// of 16 x 16. For each step k three launches: lud_diagonal_* decomposes the block on the diagonal (one CTA of
// 16 threads, one for each row); lud_perimeter makes the blocks of U to its right and of L below it (a CTA of
// 16 threads for each); lud_internal_* subtracts L U of those from all blocks to the right and below (a CTA
// of 16 x 16 threads for each).
//
// *_plain and *_d2ma differ in who brings the blocks to shared memory. lud_diagonal and lud_internal are the
// plain versions without annotations, for decompositions in which the other kernel is measured.
#include "../cuda.h"
#include "../dma.h"

#define BLOCK 16

// A column more than it has, so that 16 threads in a column meet no bank twice.
typedef float Padded[BLOCK][BLOCK + 1];
typedef float Block[BLOCK][BLOCK];

static inline __device__ float *block_at(float *A, int n, int row, int column) {
    return A + row * BLOCK * n + column * BLOCK;
}

static inline __device__ void bring_rows(Padded block, const float *A, int n) {
    int column = threadIdx.x;
#pragma unroll
    for (int row = 0; row < BLOCK; row++)
        block[row][column] = A[row * n + column];
}

// Thread t has row t; step j takes column j out of the rows below j.
static inline __device__ void decompose(Padded block, float *A, int n) {
    int row = threadIdx.x;
    for (int j = 0; j < BLOCK - 1; j++) {
        if (row > j) {
            float factor = block[row][j] / block[j][j];
            block[row][j] = factor;
#pragma unroll 1
            for (int i = j + 1; i < BLOCK; i++)
                block[row][i] = fmaf(-factor, block[j][i], block[row][i]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < BLOCK; i++)
        A[i * n + row] = block[i][row];
}

template <bool MARKED> static inline __device__ void diagonal(float *A, int n, int k) {
    __shared__ Padded block;
    if (MARKED) dma_mark_tile_begin(0);
    A = block_at(A, n, k, k);
    bring_rows(block, A, n);
    if (MARKED) dma_mark_tile_end(0);
    __syncthreads();
    decompose(block, A, n);
}

extern "C" __global__ void lud_diagonal(float *A, int n, int k) {
    diagonal<false>(A, n, k);
}

extern "C" __global__ void lud_diagonal_plain(float *A, int n, int k) {
    diagonal<true>(A, n, k);
}

extern "C" __global__ void lud_diagonal_d2ma(float *A, int n, int k) {
    __shared__ Padded block;
    A = block_at(A, n, k, k);
    dma_set_datatype_float();
    dma_set_padding(BLOCK, sizeof(float));
    dma_configure_2d(block, A, BLOCK, BLOCK, n, 0);
    decompose(block, A, n);
}

// blockIdx.y 0: a block of U, L U = A, thread t has column t. blockIdx.y 1: a block of L, L U = A, thread t
// has row t.
extern "C" __global__ void lud_perimeter(float *A, int n, int k) {
    __shared__ Padded corner, block;
    int thread = threadIdx.x, other = k + 1 + blockIdx.x;
    bool is_upper = blockIdx.y == 0;
    float *here = is_upper ? block_at(A, n, k, other) : block_at(A, n, other, k);
    bring_rows(corner, block_at(A, n, k, k), n);
    bring_rows(block, here, n);
    __syncthreads();
    for (int j = 0; j < BLOCK; j++) {
        float value = is_upper ? block[j][thread] : block[thread][j];
#pragma unroll 1
        for (int i = 0; i < j; i++)
            value = is_upper ? fmaf(-corner[j][i], block[i][thread], value)
                             : fmaf(-block[thread][i], corner[i][j], value);
        if (is_upper)
            block[j][thread] = value;
        else
            block[thread][j] = value / corner[j][j];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BLOCK; i++)
        here[i * n + thread] = block[i][thread];
}

static inline __device__ void subtract(Block lower, Block upper, float *A, int n) {
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < BLOCK; i++)
        sum = fmaf(lower[y][i], upper[i][x], sum);
    A[y * n + x] -= sum;
}

template <bool MARKED> static inline __device__ void internal(float *A, int n, int k) {
    __shared__ Block lower, upper;
    if (MARKED) dma_mark_tile_begin(0);
    int x = threadIdx.x, y = threadIdx.y, row = k + 1 + blockIdx.y, column = k + 1 + blockIdx.x;
    lower[y][x] = block_at(A, n, row, k)[y * n + x];
    if (MARKED) {
        dma_mark_tile_end(0);
        dma_mark_tile_begin(1);
    }
    upper[y][x] = block_at(A, n, k, column)[y * n + x];
    if (MARKED) dma_mark_tile_end(1);
    __syncthreads();
    subtract(lower, upper, block_at(A, n, row, column), n);
}

extern "C" __global__ void lud_internal(float *A, int n, int k) {
    internal<false>(A, n, k);
}

extern "C" __global__ void lud_internal_plain(float *A, int n, int k) {
    internal<true>(A, n, k);
}

extern "C" __global__ void lud_internal_d2ma(float *A, int n, int k) {
    __shared__ Block lower, upper;
    int row = k + 1 + blockIdx.y, column = k + 1 + blockIdx.x;
    dma_set_datatype_float();
    dma_configure_2d(lower, block_at(A, n, row, k), BLOCK, BLOCK, n, 0);
    dma_configure_2d(upper, block_at(A, n, k, column), BLOCK, BLOCK, n, 1);
    subtract(lower, upper, block_at(A, n, row, column), n);
}
