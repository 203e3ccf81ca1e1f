/* A set of warps of an SM is a uint64_t, one bit per warp slot. */
#ifndef WW_GPU_WARP_SET_H
#define WW_GPU_WARP_SET_H

#include <stdint.h>

enum { MAX_WARPS = 64 };

typedef uint64_t WarpSet;

#define ALL_WARPS (~(WarpSet)0)

static inline WarpSet warp_bit(uint32_t warp) {
    return 1ull << warp;
}
static inline uint32_t first_warp(WarpSet set) {
    return (uint32_t)__builtin_ctzll(set);
}

#endif
