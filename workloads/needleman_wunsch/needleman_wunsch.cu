// The best alignment of two sequences of n elements (Needleman and Wunsch): the scores of all their beginnings, an
// (n + 1) x (n + 1) matrix whose first row and column are given. Tiles of 16 x 16, each made by a CTA of 16 threads
// in shared memory, diagonal by diagonal; those on one diagonal of the matrix are made by one launch.
#include "../cuda.h"

#define TILE 16

// Each thread takes a column of the tile, downwards.
static inline __device__ void make_tile(const int *likeness, int *score, int stride, int penalty, int tile_x,
                                        int tile_y) {
    __shared__ int scores[TILE + 1][TILE + 1], alike[TILE][TILE];
    int x = threadIdx.x;
    int corner = tile_y * TILE * stride + tile_x * TILE; // of the row above and the column on the left
    int first = corner + stride + 1 + x;

    if (x == 0) scores[0][0] = score[corner];
#pragma unroll
    for (int y = 0; y < TILE; y++)
        alike[y][x] = likeness[first + y * stride];
    __syncthreads();
    scores[x + 1][0] = score[corner + (x + 1) * stride];
    __syncthreads();
    scores[0][x + 1] = score[corner + x + 1];
    __syncthreads();

#pragma unroll 1
    for (int diagonal = 0; diagonal < 2 * TILE - 1; diagonal++) {
        int y = diagonal - x;
        if (0 <= y && y < TILE) {
            int both = scores[y][x] + alike[y][x];
            int gap_above = scores[y][x + 1] - penalty, gap_left = scores[y + 1][x] - penalty;
            int best = both > gap_above ? both : gap_above;
            scores[y + 1][x + 1] = best > gap_left ? best : gap_left;
        }
        __syncthreads();
    }

#pragma unroll
    for (int y = 0; y < TILE; y++)
        score[first + y * stride] = scores[y + 1][x + 1];
}

// The matrix's upper left half: `diagonal` tiles.
extern "C" __global__ void align_upper(const int *likeness, int *score, int stride, int penalty,
                                       int diagonal) {
    int tile_x = blockIdx.x;
    make_tile(likeness, score, stride, penalty, tile_x, diagonal - 1 - tile_x);
}

// The lower right half: `diagonal` tiles of a matrix of `tiles` rows of them.
extern "C" __global__ void align_lower(const int *likeness, int *score, int stride, int penalty, int diagonal,
                                       int tiles) {
    int tile_x = tiles - diagonal + blockIdx.x;
    make_tile(likeness, score, stride, penalty, tile_x, 2 * tiles - diagonal - 1 - tile_x);
}
