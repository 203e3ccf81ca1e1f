// A step of heat flow in a block of cells (columns x rows x layers): each cell takes its share from its six neighbours
// and of a source of heat. A thread goes up through the layers at its place, with its own column of cells in registers,
// and loads the four neighbours in its layer from global memory. Rows are lda cells apart. When lda is a large power of
// two, all rows that a CTA reads fall into the same sets of the L1. The cells at the edges have themselves as
// neighbours.
#include "../cuda.h"

static inline __device__ void march(const float *in, const float *heat, float *out, int columns, int rows, int layers,
                                    int lda, float middle, float side, float source) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows) return;
    int west = x == 0 ? 0 : -1, east = x == columns - 1 ? 0 : 1;
    int north = y == 0 ? 0 : -lda, south = y == rows - 1 ? 0 : lda;
    int at = y * lda + x, layer = rows * lda;

    float own = in[at], below = own, above = in[layers > 1 ? at + layer : at];
#pragma unroll 1
    for (int z = 0; z < layers; z++) {
        float sum = middle * own;
        sum = fmaf(side, in[at + west], sum);
        sum = fmaf(side, in[at + east], sum);
        sum = fmaf(side, in[at + north], sum);
        sum = fmaf(side, in[at + south], sum);
        sum = fmaf(side, below, sum);
        sum = fmaf(side, above, sum);
        if (heat) sum = fmaf(source, heat[at], sum);
        out[at] = sum;
        below = own;
        own = above;
        at += layer;
        if (z + 2 < layers) above = in[at + layer];
    }
}

extern "C" __global__ void stencil3d_heated(const float *in, const float *heat, float *out, int columns, int rows,
                                            int layers, int lda, float middle, float side, float source) {
    march(in, heat, out, columns, rows, layers, lda, middle, side, source);
}

extern "C" __global__ void stencil3d_plain(const float *in, float *out, int columns, int rows, int layers, int lda,
                                           float middle, float side) {
    march(in, nullptr, out, columns, rows, layers, lda, middle, side, 0);
}
