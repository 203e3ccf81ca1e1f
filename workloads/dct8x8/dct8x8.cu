// The discrete cosine transform (DCT-II, orthonormal) of an image's blocks of 8 x 8 pixels. A CTA of 128
// threads takes a tile of 32 x 32 pixels into shared memory; a thread transforms one row of one block in
// place, and then one column, which it writes out. Rows of the tile lie 33 words apart, so that neither pass
// has bank conflicts.
//
// dct8x8_d2ma has the engine leave a word free behind every 32 elements.
#include "../cuda.h"
#include "../dma.h"

#define TILE    32
#define THREADS 128

// Half the cosines of k pi / 16
#define C1 0.490392640f
#define C2 0.461939766f
#define C3 0.415734806f
#define C4 0.353553391f
#define C5 0.277785117f
#define C6 0.191341716f
#define C7 0.097545161f

// The transform of eight numbers: the even coefficients come from sums of the first and the last, the odd
// ones from their differences.
static inline __device__ void dct8(float *v) {
    float s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
    float d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
    float outer = s0 + s3, inner = s1 + s2, p = s0 - s3, q = s1 - s2;
    v[0] = C4 * (outer + inner);
    v[4] = C4 * (outer - inner);
    v[2] = fmaf(C2, p, C6 * q);
    v[6] = fmaf(C6, p, -C2 * q);
    v[1] = fmaf(C1, d0, fmaf(C3, d1, fmaf(C5, d2, C7 * d3)));
    v[3] = fmaf(C3, d0, fmaf(-C7, d1, fmaf(-C1, d2, -C5 * d3)));
    v[5] = fmaf(C5, d0, fmaf(-C1, d1, fmaf(C7, d2, C3 * d3)));
    v[7] = fmaf(C7, d0, fmaf(-C5, d1, fmaf(C3, d2, -C1 * d3)));
}

static inline __device__ void transform(float (*tile)[TILE + 1], float *out, int width) {
    unsigned thread = threadIdx.x;
    float v[8], *row = &tile[thread / 4][thread % 4 * 8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        v[i] = row[i];
    dct8(v);
#pragma unroll
    for (int i = 0; i < 8; i++)
        row[i] = v[i];
    __syncthreads();
    int column = thread % TILE, top = thread / TILE * 8;
#pragma unroll
    for (int i = 0; i < 8; i++)
        v[i] = tile[top + i][column];
    dct8(v);
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[(top + i) * width + column] = v[i];
}

extern "C" __global__ void dct8x8_plain(const float *in, float *out, int width) {
    __shared__ float tile[TILE][TILE + 1];
    dma_mark_tile_begin(0);
    int column = threadIdx.x % TILE, top = threadIdx.x / TILE;
    int corner = blockIdx.y * TILE * width + blockIdx.x * TILE;
    in += corner + top * width + column;
#pragma unroll
    for (int y = 0; y < TILE; y += THREADS / TILE)
        tile[top + y][column] = in[y * width];
    dma_mark_tile_end(0);
    __syncthreads();
    transform(tile, out + corner, width);
}

extern "C" __global__ void dct8x8_d2ma(const float *in, float *out, int width) {
    __shared__ float tile[TILE][TILE + 1];
    int corner = blockIdx.y * TILE * width + blockIdx.x * TILE;
    dma_set_datatype_float();
    dma_set_padding(TILE, sizeof(float));
    dma_configure_2d(tile, in + corner, TILE, TILE, width, 0);
    transform(tile, out + corner, width);
}
