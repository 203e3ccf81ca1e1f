// Sums of absolute differences of larger blocks of a picture from those of blocks of 4 x 4 pixels, for all positions of
// a search. A macroblock has 16 x 16 pixels. Each block has POSITIONS sums of 16 bits, two of which are added at a
// time: no sum of a macroblock exceeds 16 bits. All accesses are coalesced, and nothing is read twice.
#include "../cuda.h"

#define REACH  16 // pixels that a block is moved in each direction
#define SPAN   (2 * REACH + 1)
#define PADDED 1096
#define PAIRS  (PADDED / 2) // pairs of positions of a block: 1089 positions, padded to 1096

// Blocks of a macroblock are in the order of reading; a.b is a block that is a pixels wide and b high.
// Four 8.8 blocks of each macroblock: a row of 32 threads makes one of them, and the 8.4 and 4.8 blocks in it.
extern "C" __global__ void sad_8x8(const unsigned *sums4x4, unsigned *sums8x4, unsigned *sums4x8,
                                   unsigned *sums8x8) {
    int macroblock = blockIdx.x, quadrant = threadIdx.y;
    int down = quadrant / 2, right = quadrant % 2;
    const unsigned *upper = sums4x4 + (macroblock * 16 + 8 * down + 2 * right) * PAIRS,
                   *lower = upper + 4 * PAIRS;
    unsigned *wide = sums8x4 + (macroblock * 8 + 4 * down + right) * PAIRS;
    unsigned *high = sums4x8 + (macroblock * 8 + 4 * down + 2 * right) * PAIRS;
    unsigned *whole = sums8x8 + (macroblock * 4 + quadrant) * PAIRS;

#pragma unroll 1
    for (int p = threadIdx.x; p < PAIRS; p += 32) {
        unsigned a = upper[p], b = upper[p + PAIRS], c = lower[p], d = lower[p + PAIRS];
        wide[p] = a + b;
        wide[p + 2 * PAIRS] = c + d;
        high[p] = a + c;
        high[p + PAIRS] = b + d;
        whole[p] = a + b + c + d;
    }
}

// The 16.8, 8.16 and 16.16 blocks of a macroblock, one CTA of 32 threads each.
extern "C" __global__ void sad_16x16(const unsigned *sums8x8, unsigned *sums16x8, unsigned *sums8x16,
                                     unsigned *sums16x16) {
    int macroblock = blockIdx.x;
    const unsigned *quadrants = sums8x8 + macroblock * 4 * PAIRS;
    unsigned *wide = sums16x8 + macroblock * 2 * PAIRS, *high = sums8x16 + macroblock * 2 * PAIRS;
    unsigned *whole = sums16x16 + macroblock * PAIRS;

#pragma unroll 1
    for (int p = threadIdx.x; p < PAIRS; p += 32) {
        unsigned a = quadrants[p], b = quadrants[p + PAIRS], c = quadrants[p + 2 * PAIRS],
                 d = quadrants[p + 3 * PAIRS];
        wide[p] = a + b;
        wide[p + PAIRS] = c + d;
        high[p] = a + c;
        high[p + PAIRS] = b + d;
        whole[p] = a + b + c + d;
    }
}

#define THREADS  61
#define TOGETHER 3 // positions of a thread at a time

// The sums of a block of 4.4 pixels with the picture before it, one CTA of 61 threads each. The earlier picture is a
// texture; pixels beyond its edges are those at the edges. The block and its sums are in shared memory.
extern "C" __global__ void sad_4x4(cudaTextureObject_t earlier, const unsigned short *picture,
                                   unsigned long *sums) {
    __shared__ unsigned short block[4][4];
    __shared__ unsigned long result[PADDED / 4];
    int thread = threadIdx.x, left = blockIdx.x * 4, top = blockIdx.y * 4;
    if (thread < 16)
        block[thread / 4][thread % 4] = picture[(top + thread / 4) * (gridDim.x * 4) + left + thread % 4];
    if (thread < 2) result[PADDED / 4 - 1 - thread] = 0;
    __syncthreads();

#pragma unroll 1
    for (int p = thread * TOGETHER; p < SPAN * SPAN; p += THREADS * TOGETHER) {
        int x = left + p % SPAN - REACH, y = top + p / SPAN - REACH;
        int sum[TOGETHER] = {};
#pragma unroll
        for (int i = 0; i < 16; i++) {
            int pixel = block[i / 4][i % 4];
#pragma unroll
            for (int j = 0; j < TOGETHER; j++)
                sum[j] += __builtin_abs(pixel - tex2D<unsigned short>(earlier, x + i % 4 + j, y + i / 4));
        }
#pragma unroll
        for (int j = 0; j < TOGETHER; j++)
            ((unsigned short *)result)[p + j] = sum[j];
    }
    __syncthreads();

    int macroblock = blockIdx.y / 4 * (gridDim.x / 4) + blockIdx.x / 4;
    unsigned long *to = &sums[(macroblock * 16 + blockIdx.y % 4 * 4 + blockIdx.x % 4) * (PADDED / 4)];
#pragma unroll 1
    for (int i = thread; i < PADDED / 4; i += THREADS)
        to[i] = result[i];
}
