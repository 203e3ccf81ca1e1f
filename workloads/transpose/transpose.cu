// out = the transpose of a square matrix, by tiles of 32 x 32 that are read and written row by row. A CTA has
// 32 x 8 threads. Rows of the tile lie 33 words apart, so that its columns have no bank conflicts.
//
// transpose_rows_*: CTAs take the tiles row by row, so that those at work at a time write down a column of
// tiles, whose addresses are a row of the matrix apart. transpose_diagonal_*: CTAs take them along diagonals,
// which spreads both reads and writes over the memory channels. *_d2ma: the engine brings the tile and leaves
// a word free behind every 32.
#include "../cuda.h"
#include "../dma.h"

#define TILE 32
#define ROWS 8

struct Place {
    int row, column;
};

static inline __device__ Place along_rows() {
    Place place = {(int)blockIdx.y * TILE, (int)blockIdx.x * TILE};
    return place;
}

static inline __device__ Place along_diagonals() {
    unsigned column = blockIdx.x + blockIdx.y;
    if (column >= gridDim.x) column -= gridDim.x;
    Place place = {(int)blockIdx.x * TILE, (int)column * TILE};
    return place;
}

static inline __device__ void write_out(float (*tile)[TILE + 1], float *out, Place place, int n) {
    int x = threadIdx.x, y = threadIdx.y;
    out += (place.column + y) * n + place.row + x;
#pragma unroll
    for (int i = 0; i < TILE; i += ROWS)
        out[i * n] = tile[x][y + i];
}

static inline __device__ void plain(const float *in, float *out, Place place, int n) {
    __shared__ float tile[TILE][TILE + 1];
    int x = threadIdx.x, y = threadIdx.y;
    in += (place.row + y) * n + place.column + x;
#pragma unroll
    for (int i = 0; i < TILE; i += ROWS)
        tile[y + i][x] = in[i * n];
    dma_mark_tile_end(0);
    __syncthreads();
    write_out(tile, out, place, n);
}

static inline __device__ void d2ma(const float *in, float *out, Place place, int n) {
    __shared__ float tile[TILE][TILE + 1];
    dma_set_datatype_float();
    dma_set_padding(TILE, sizeof(float));
    dma_configure_2d(tile, in + place.row * n + place.column, TILE, TILE, n, 0);
    write_out(tile, out, place, n);
}

extern "C" __global__ void transpose_rows_plain(const float *in, float *out, int n) {
    dma_mark_tile_begin(0);
    plain(in, out, along_rows(), n);
}

extern "C" __global__ void transpose_rows_d2ma(const float *in, float *out, int n) {
    d2ma(in, out, along_rows(), n);
}

extern "C" __global__ void transpose_diagonal_plain(const float *in, float *out, int n) {
    dma_mark_tile_begin(0);
    plain(in, out, along_diagonals(), n);
}

extern "C" __global__ void transpose_diagonal_d2ma(const float *in, float *out, int n) {
    d2ma(in, out, along_diagonals(), n);
}
