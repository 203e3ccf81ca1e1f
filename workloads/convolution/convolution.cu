// An image (rows x columns) filtered with 17 taps along its rows, and then along its columns. A CTA takes what it
// needs into shared memory, with 0 beyond the image's edges; a thread has 8 results. The CTAs of the second
// kernel are 64 B wide: two of them load the same lines.
#include "../cuda.h"

#define RADIUS         8
#define RESULTS        8 // of a thread
#define ROWS_WIDTH     16
#define ROWS_HEIGHT    4
#define COLUMNS_WIDTH  16
#define COLUMNS_HEIGHT 8

__constant__ float taps[2 * RADIUS + 1];

extern "C" __global__ void where_is_taps(unsigned long *answer) {
    *answer = (unsigned long)taps;
}

// CTAs of 16 x 4 threads for 128 x 4 pixels, with 16 more on the left and on the right.
extern "C" __global__ void convolve_rows(const float *in, float *out, int columns) {
    __shared__ float tile[ROWS_HEIGHT][(RESULTS + 2) * ROWS_WIDTH];
    int x = threadIdx.x, y = threadIdx.y;
    int first = (int)(blockIdx.x * RESULTS - 1) * ROWS_WIDTH +
                x; // column of the thread's first element of the tile
    int start = (blockIdx.y * ROWS_HEIGHT + y) * columns + first;
    in += start;
    out += start;

#pragma unroll
    for (int i = 1; i <= RESULTS; i++)
        tile[y][i * ROWS_WIDTH + x] = in[i * ROWS_WIDTH];
    tile[y][x] = first >= 0 ? in[0] : 0;
    const int last = (RESULTS + 1) * ROWS_WIDTH;
    tile[y][last + x] = first + last < columns ? in[last] : 0;
    __syncthreads();

#pragma unroll
    for (int i = 1; i <= RESULTS; i++) {
        float sum = 0;
#pragma unroll
        for (int tap = -RADIUS; tap <= RADIUS; tap++)
            sum = fmaf(taps[RADIUS + tap], tile[y][i * ROWS_WIDTH + x + tap], sum);
        out[i * ROWS_WIDTH] = sum;
    }
}

// CTAs of 16 x 8 threads for 16 x 64 pixels, with 8 more above and below. The tile's columns lie in rows, padded
// by a word against bank conflicts.
extern "C" __global__ void convolve_columns(const float *in, float *out, int columns, int rows) {
    __shared__ float tile[COLUMNS_WIDTH][(RESULTS + 2) * COLUMNS_HEIGHT + 1];
    int x = threadIdx.x, y = threadIdx.y;
    int first = (int)(blockIdx.y * RESULTS - 1) * COLUMNS_HEIGHT + y; // row of the thread's first element
    int start = first * columns + (int)blockIdx.x * COLUMNS_WIDTH + x;
    in += start;
    out += start;

#pragma unroll
    for (int i = 1; i <= RESULTS; i++)
        tile[x][i * COLUMNS_HEIGHT + y] = in[i * COLUMNS_HEIGHT * columns];
    tile[x][y] = first >= 0 ? in[0] : 0;
    const int last = (RESULTS + 1) * COLUMNS_HEIGHT;
    tile[x][last + y] = first + last < rows ? in[last * columns] : 0;
    __syncthreads();

#pragma unroll
    for (int i = 1; i <= RESULTS; i++) {
        float sum = 0;
#pragma unroll
        for (int tap = -RADIUS; tap <= RADIUS; tap++)
            sum = fmaf(taps[RADIUS + tap], tile[x][i * COLUMNS_HEIGHT + y + tap], sum);
        out[i * COLUMNS_HEIGHT * columns] = sum;
    }
}
