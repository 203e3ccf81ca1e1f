// Filters of 3 x 3 pixels over an image, which is 0 beyond its edges: Gauss (weights 1 2 1, 2 4 2, 1 2 1 over
// 16), mean, and Sobel (|gx| + |gy|). A CTA of 32 x 8 threads takes its pixels and a halo of one pixel into
// shared memory; a thread makes one pixel.
//
// *_plain: threads at the tile's edges bring the halo, too, after a look at whether there is one. *_d2ma: the
// engine knows at which edges the image ends.
#include "../cuda.h"
#include "../dma.h"

#define WIDTH  32
#define HEIGHT 8

typedef float Tile[HEIGHT + 2][WIDTH + 2];

static inline __device__ void bring(Tile tile, const float *in, int width, int height) {
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * WIDTH + tx, y = blockIdx.y * HEIGHT + ty;
    bool above = y > 0, below = y + 1 < height, before = x > 0, behind = x + 1 < width;
    const float *at = in + y * width + x;
    tile[ty + 1][tx + 1] = at[0];
    if (ty == 0) tile[0][tx + 1] = above ? at[-width] : 0;
    if (ty == HEIGHT - 1) tile[HEIGHT + 1][tx + 1] = below ? at[width] : 0;
    if (tx == 0) {
        tile[ty + 1][0] = before ? at[-1] : 0;
        if (ty == 0) tile[0][0] = above && before ? at[-width - 1] : 0;
        if (ty == HEIGHT - 1) tile[HEIGHT + 1][0] = below && before ? at[width - 1] : 0;
    }
    if (tx == WIDTH - 1) {
        tile[ty + 1][WIDTH + 1] = behind ? at[1] : 0;
        if (ty == 0) tile[0][WIDTH + 1] = above && behind ? at[-width + 1] : 0;
        if (ty == HEIGHT - 1) tile[HEIGHT + 1][WIDTH + 1] = below && behind ? at[width + 1] : 0;
    }
}

static inline __device__ void transfer(Tile tile, const float *in, int width) {
    unsigned borders = (blockIdx.y == 0 ? DMA_TOP : 0) | (blockIdx.y == gridDim.y - 1 ? DMA_BOTTOM : 0) |
                       (blockIdx.x == 0 ? DMA_LEFT : 0) | (blockIdx.x == gridDim.x - 1 ? DMA_RIGHT : 0);
    dma_set_datatype_float();
    dma_set_halo(1, 1, borders, 0);
    dma_configure_2d(tile, in + blockIdx.y * HEIGHT * width + blockIdx.x * WIDTH, HEIGHT, WIDTH, width, 0);
}

static inline __device__ void write_out(float *out, int width, float value) {
    out[(blockIdx.y * HEIGHT + threadIdx.y) * width + blockIdx.x * WIDTH + threadIdx.x] = value;
}

static inline __device__ float gauss(Tile tile) {
    int x = threadIdx.x, y = threadIdx.y;
    float corners = tile[y][x] + tile[y][x + 2] + tile[y + 2][x] + tile[y + 2][x + 2];
    float sides = tile[y][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2] + tile[y + 2][x + 1];
    return fmaf(4, tile[y + 1][x + 1], fmaf(2, sides, corners)) * 0.0625f;
}

static inline __device__ float mean(Tile tile) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            sum += tile[threadIdx.y + i][threadIdx.x + j];
    return sum * (1.0f / 9);
}

static inline __device__ float magnitude(float x) {
    return __builtin_fabsf(x);
}

static inline __device__ float sobel(Tile tile) {
    int x = threadIdx.x, y = threadIdx.y;
    float nw = tile[y][x], n = tile[y][x + 1], ne = tile[y][x + 2], w = tile[y + 1][x],
          e = tile[y + 1][x + 2];
    float sw = tile[y + 2][x], s = tile[y + 2][x + 1], se = tile[y + 2][x + 2];
    float gx = fmaf(2, e - w, ne - nw + (se - sw)), gy = fmaf(2, s - n, sw - nw + (se - ne));
    return magnitude(gx) + magnitude(gy);
}

#define VERSIONS(FILTER)                                                                                     \
    extern "C" __global__ void FILTER##_plain(const float *in, float *out, int width, int height) {          \
        __shared__ Tile tile;                                                                                \
        dma_mark_tile_begin(0);                                                                              \
        bring(tile, in, width, height);                                                                      \
        dma_mark_tile_end(0);                                                                                \
        __syncthreads();                                                                                     \
        write_out(out, width, FILTER(tile));                                                                 \
    }                                                                                                        \
    extern "C" __global__ void FILTER##_d2ma(const float *in, float *out, int width, int) {                  \
        __shared__ Tile tile;                                                                                \
        transfer(tile, in, width);                                                                           \
        write_out(out, width, FILTER(tile));                                                                 \
    }

VERSIONS(gauss)
VERSIONS(mean)
VERSIONS(sobel)
