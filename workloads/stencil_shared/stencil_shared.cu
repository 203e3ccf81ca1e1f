// A stencil of seven points in a block of cells (columns x rows x layers). A CTA of 32 x 4 threads marches through the
// layers, two cells of a layer per thread. The middle layer is in shared memory, the ones below and above it in
// registers; cells beyond the CTA's are read from global memory. The outermost cells of the block stay as they are.
#include "../cuda.h"

#define WIDTH  32
#define HEIGHT 4

// A cell: in shared memory when it is the CTA's, else in global memory. The empty asm keeps the two loads apart,
// which the compiler would turn into one from either space.
static inline __device__ float cell(bool shared, const float *tile, const float *global) {
    if (shared) return *tile;
    float value = *global;
    asm volatile("" : "+f"(value));
    return value;
}

extern "C" __global__ void stencil_shared(const float *in, float *out, int columns, int rows, int layers,
                                          int lda, float middle, float side) {
    __shared__ float plane[HEIGHT][2 * WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y, second = tx + WIDTH;
    int x = blockIdx.x * 2 * WIDTH + tx, y = blockIdx.y * HEIGHT + ty;
    int layer = lda * rows, at = y * lda + x;
    bool inner_row = y > 0 && y < rows - 1;
    bool inner = inner_row && x > 0, second_inner = inner_row && x + WIDTH < columns - 1;

    float below = in[at], second_below = in[at + WIDTH];
    at += layer;
    float own = in[at], second_own = in[at + WIDTH];
#pragma unroll 1
    for (int z = 1; z < layers - 1; z++) {
        plane[ty][tx] = own;
        plane[ty][second] = second_own;
        __syncthreads();
        float above = in[at + layer], second_above = in[at + layer + WIDTH];
        if (inner) {
            float north = cell(ty > 0, &plane[ty - 1][tx], &in[at - lda]);
            float south = cell(ty < HEIGHT - 1, &plane[ty + 1][tx], &in[at + lda]);
            float west = cell(tx > 0, &plane[ty][tx - 1], &in[at - 1]);
            float east = plane[ty][tx + 1];
            out[at] = fmaf(side, below + above + north + south + west + east, -(middle * own));
        }
        if (second_inner) {
            float north = cell(ty > 0, &plane[ty - 1][second], &in[at + WIDTH - lda]);
            float south = cell(ty < HEIGHT - 1, &plane[ty + 1][second], &in[at + WIDTH + lda]);
            float west = plane[ty][second - 1];
            float east = cell(tx < WIDTH - 1, &plane[ty][second + 1], &in[at + WIDTH + 1]);
            out[at + WIDTH] = fmaf(side, second_below + second_above + north + south + west + east,
                                   -(middle * second_own));
        }
        __syncthreads();
        below = own;
        second_below = second_own;
        own = above;
        second_own = second_above;
        at += layer;
    }
}
