// Speckle-reducing diffusion of an image (rows x columns, both multiples of 16), two kernels an iteration, one pixel
// per thread, CTAs of 16 x 16 that hold their pixels and those around them in tiles of shared memory. A warp is two
// rows of a tile. When a row is a power of two long, all rows of a tile fall into one or two sets of the L1.
#include "../cuda.h"

#define TILE 16

static inline __device__ int limited(int i, int count) {
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

// The differences to the four neighbours, and how much each pixel may diffuse: 1 in even regions, 0 at edges.
// Every thread loads a pixel of each side of the tile, so that each row above or below is loaded 16 times.
extern "C" __global__ void srad_coefficients(const float *image, float *north, float *south, float *west, float *east,
                                             float *coefficient, int rows, int columns, float speckle) {
    __shared__ float tile[TILE][TILE], above[TILE][TILE], below[TILE][TILE];
    __shared__ float left[TILE][TILE], right[TILE][TILE], result[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    int at = (first_row + y) * columns + first_column + x;

    above[y][x] = image[limited(first_row - 1, rows) * columns + first_column + x];
    below[y][x] = image[limited(first_row + TILE, rows) * columns + first_column + x];
    left[y][x] = image[(first_row + y) * columns + limited(first_column - 1, columns)];
    right[y][x] = image[(first_row + y) * columns + limited(first_column + TILE, columns)];
    __syncthreads();
    tile[y][x] = image[at];
    __syncthreads();

    float own = tile[y][x];
    float to_north = (y == 0 ? above[y][x] : tile[y - 1][x]) - own;
    float to_south = (y == TILE - 1 ? below[y][x] : tile[y + 1][x]) - own;
    float to_west = (x == 0 ? left[y][x] : tile[y][x - 1]) - own;
    float to_east = (x == TILE - 1 ? right[y][x] : tile[y][x + 1]) - own;

    float squares = fmaf(to_east, to_east, fmaf(to_west, to_west, fmaf(to_south, to_south, to_north * to_north)));
    float gradient = squares / (own * own);
    float laplacian = (((to_north + to_south) + to_west) + to_east) / own;
    float numerator = fmaf(-0.0625f * laplacian, laplacian, 0.5f * gradient);
    float denominator = fmaf(0.25f, laplacian, 1.0f);
    float variation = numerator / (denominator * denominator);
    float excess = (variation - speckle) / fmaf(speckle, speckle, speckle);
    float c = 1.0f / (1.0f + excess);
    result[y][x] = c < 0 ? 0 : c > 1 ? 1 : c;
    __syncthreads();

    coefficient[at] = result[y][x];
    __syncthreads();
    north[at] = to_north;
    south[at] = to_south;
    west[at] = to_west;
    east[at] = to_east;
}

// Each pixel takes its part of the differences. `rate` is a quarter of the step.
extern "C" __global__ void srad_update(float *image, const float *north, const float *south, const float *west,
                                       const float *east, const float *coefficient, int rows, int columns, float rate) {
    __shared__ float tile[TILE][TILE], below[TILE][TILE], right[TILE][TILE], pixels[TILE][TILE];
    __shared__ float result[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    int at = (first_row + y) * columns + first_column + x;

    pixels[y][x] = image[at];
    __syncthreads();
    below[y][x] = coefficient[limited(first_row + TILE, rows) * columns + first_column + x];
    right[y][x] = coefficient[(first_row + y) * columns + limited(first_column + TILE, columns)];
    __syncthreads();
    tile[y][x] = coefficient[at];
    __syncthreads();

    float own = tile[y][x];
    float c_south = y == TILE - 1 ? below[y][x] : tile[y + 1][x];
    float c_east = x == TILE - 1 ? right[y][x] : tile[y][x + 1];
    float flow = own * north[at];
    flow = fmaf(c_south, south[at], flow);
    flow = fmaf(own, west[at], flow);
    flow = fmaf(c_east, east[at], flow);
    result[y][x] = fmaf(rate, flow, pixels[y][x]);
    __syncthreads();
    image[at] = result[y][x];
}
