// The cheapest way through a grid from its first row to its last, a step down or diagonally down at a time: a
// row's costs are wall + the least of the three neighbours in the row before. A launch makes `steps` rows, up
// to HALO. A CTA of 256 threads takes 216 columns of costs and 20 on either side into shared memory, goes on
// with a column less on either side at every step, and writes its 216 columns. Beyond the grid every cost is
// the largest integer. The walls come from global memory, as every one is used once.
//
// pathfinder_d2ma: the engine brings the costs; the sides are a halo of 20 columns.
#include "../cuda.h"
#include "../dma.h"

#define THREADS 256
#define HALO    20
#define COLUMNS (THREADS - 2 * HALO)
#define NEVER   0x7fffffff

static inline __device__ int least(int a, int b) {
    return a < b ? a : b;
}

static inline __device__ void walk(int (*costs)[THREADS], const int *wall, int *out, int columns, int steps) {
    int thread = threadIdx.x, column = (int)blockIdx.x * COLUMNS - HALO + thread;
    bool inside = column >= 0 && column < columns;
    wall += column;
    int(*now)[THREADS] = costs, (*then)[THREADS] = costs + 1;
    for (int i = 1; i <= steps; i++) {
        if (inside && thread >= i && thread < THREADS - i)
            (*then)[thread] = *wall + least(least((*now)[thread - 1], (*now)[thread]), (*now)[thread + 1]);
        else
            (*then)[thread] = NEVER;
        wall += columns;
        int(*swap)[THREADS] = now;
        now = then;
        then = swap;
        __syncthreads();
    }
    if (thread >= HALO && thread < THREADS - HALO) out[column] = (*now)[thread];
}

extern "C" __global__ void pathfinder_plain(const int *before, const int *wall, int *out, int columns,
                                            int steps) {
    __shared__ int costs[2][THREADS];
    dma_mark_tile_begin(0);
    int column = (int)blockIdx.x * COLUMNS - HALO + (int)threadIdx.x;
    costs[0][threadIdx.x] = column >= 0 && column < columns ? before[column] : NEVER;
    dma_mark_tile_end(0);
    __syncthreads();
    walk(costs, wall, out, columns, steps);
}

extern "C" __global__ void pathfinder_d2ma(const int *before, const int *wall, int *out, int columns,
                                           int steps) {
    __shared__ int costs[2][THREADS];
    unsigned borders = (blockIdx.x == 0 ? DMA_LEFT : 0) | (blockIdx.x == gridDim.x - 1 ? DMA_RIGHT : 0);
    dma_set_datatype(sizeof(int));
    dma_set_halo(0, HALO, borders, NEVER);
    dma_configure_2d(costs[0], before + blockIdx.x * COLUMNS, 1, COLUMNS, COLUMNS, 0);
    walk(costs, wall, out, columns, steps);
}
