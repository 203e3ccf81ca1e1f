// Warps that differ in how often they hit in a shared cache, and keep to it: in every round each lane reads one word of a line
// drawn at random, the first lanes of a warp from a large array that no cache holds, the others from a small set that one
// does. How many the first are is a matter of the warp's number. No two lanes of a load read the same line but by chance.
#include "../cuda.h"

// Warp w of the grid has the cold lanes of byte w % 4 of `cold_lanes`, and `rounds` rounds; if all its lanes are cold,
// `cold_rounds`. The arrays have 2^cold_bits and 2^hot_bits lines of 32 words.
extern "C" __global__ void draw_lines(const unsigned *cold, const unsigned *hot, unsigned *sums, unsigned cold_lanes,
                                      int cold_bits, int hot_bits, int rounds, int cold_rounds) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, lane = thread % 32;
    unsigned lanes = cold_lanes >> thread / 32 % 4 * 8 & 255;
    const unsigned *lines = lane < lanes ? cold : hot;
    int shift = 32 - (lane < lanes ? cold_bits : hot_bits);
    if (lanes == 32) rounds = cold_rounds;

    unsigned sum = 0, draw = thread * 2654435769u;
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        draw = draw * 1664525 + 1013904223;
        sum += lines[(draw >> shift) * 32 + lane];
    }
    sums[thread] = sum;
}
