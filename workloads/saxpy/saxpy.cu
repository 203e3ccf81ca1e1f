// y = a x + y, by tiles of x and y in shared memory. A CTA makes `tiles` tiles that follow each other; the
// vectors hold tiles * gridDim.x of them.
//
// saxpy_plain brings the two tiles one after the other through registers. saxpy_indexed_plain does it with addresses
// computed from the tile's number where they are used, which a compiler would take out of the loop. saxpy_d2ma has two transfers under
// way at a time, and the next two begin when the last warp has used the tiles that they replace.
#include "../cuda.h"
#include "../dma.h"

#define THREADS 256
#define TILE    1024

static inline __device__ void bring(float *tile, const float *from) {
    int thread = threadIdx.x;
#pragma unroll
    for (int i = 0; i < TILE; i += THREADS)
        tile[thread + i] = from[thread + i];
}

static inline __device__ void add(const float *tile_x, const float *tile_y, float *y, float a) {
    int thread = threadIdx.x;
#pragma unroll
    for (int i = 0; i < TILE; i += THREADS)
        y[thread + i] = fmaf(a, tile_x[thread + i], tile_y[thread + i]);
}

extern "C" __global__ void saxpy_plain(const float *x, float *y, float a, int tiles) {
    __shared__ float tile_x[TILE], tile_y[TILE];
    int first = blockIdx.x * tiles * TILE;
    x += first;
    y += first;
    for (int t = 0; t < tiles; t++) {
        dma_mark_tile_begin(0);
        bring(tile_x, x);
        dma_mark_tile_end(0);
        dma_mark_tile_begin(1);
        bring(tile_y, y);
        dma_mark_tile_end(1);
        __syncthreads();
        add(tile_x, tile_y, y, a);
        __syncthreads();
        x += TILE;
        y += TILE;
    }
}

// Keeps what follows from the number behind this point.
static inline __device__ int here(int number) {
    asm volatile("" : "+r"(number));
    return number;
}

extern "C" __global__ void saxpy_indexed_plain(const float *x, float *y, float a, int tiles) {
    __shared__ float tile_x[TILE], tile_y[TILE];
    for (int t = 0; t < tiles; t++) {
        dma_mark_tile_begin(0);
        bring(tile_x, x + (blockIdx.x * tiles + here(t)) * TILE);
        dma_mark_tile_end(0);
        dma_mark_tile_begin(1);
        bring(tile_y, y + (blockIdx.x * tiles + here(t)) * TILE);
        dma_mark_tile_end(1);
        __syncthreads();
        add(tile_x, tile_y, y + (blockIdx.x * tiles + here(t)) * TILE, a);
        __syncthreads();
    }
}

extern "C" __global__ void saxpy_d2ma(const float *x, float *y, float a, int tiles) {
    __shared__ float tile_x[TILE], tile_y[TILE];
    int first = blockIdx.x * tiles * TILE;
    x += first;
    y += first;
    dma_set_datatype_float();
    dma_configure_flat_unit_stride(tile_x, x, TILE, 0);
    dma_configure_flat_unit_stride(tile_y, y, TILE, 1);
    for (int t = 1; t < tiles; t++) {
        add(tile_x, tile_y, y, a);
        x += TILE;
        y += TILE;
        __syncthreads();
        dma_execute(tile_x, x, 0);
        dma_execute(tile_y, y, 1);
    }
    add(tile_x, tile_y, y, a);
}
