// Integer functions.
#include "base.h"

EXPORT int __nv_abs(int x) {
    return x < 0 ? (int)(0u - (uint)x) : x;
}

EXPORT i64 __nv_llabs(i64 x) {
    return x < 0 ? (i64)(0ull - (u64)x) : x;
}

#define MIN_MAX(type, minimum, maximum)                                                                      \
    EXPORT type minimum(type a, type b) {                                                                    \
        return a < b ? a : b;                                                                                \
    }                                                                                                        \
    EXPORT type maximum(type a, type b) {                                                                    \
        return a > b ? a : b;                                                                                \
    }
MIN_MAX(int, __nv_min, __nv_max)
MIN_MAX(uint, __nv_umin, __nv_umax)
MIN_MAX(i64, __nv_llmin, __nv_llmax)
MIN_MAX(u64, __nv_ullmin, __nv_ullmax)

EXPORT int __nv_brev(int x) {
    return (int)__builtin_bitreverse32((uint)x);
}

EXPORT i64 __nv_brevll(i64 x) {
    return (i64)__builtin_bitreverse64((u64)x);
}

EXPORT int __nv_clz(int x) {
    return x ? __builtin_clz((uint)x) : 32;
}

EXPORT int __nv_clzll(i64 x) {
    return x ? __builtin_clzll((u64)x) : 64;
}

EXPORT int __nv_ffs(int x) {
    return x ? __builtin_ctz((uint)x) + 1 : 0;
}

EXPORT int __nv_ffsll(i64 x) {
    return x ? __builtin_ctzll((u64)x) + 1 : 0;
}

EXPORT int __nv_popc(int x) {
    return __builtin_popcount((uint)x);
}

EXPORT int __nv_popcll(i64 x) {
    return __builtin_popcountll((u64)x);
}

EXPORT int __nv_byte_perm(int a, int b, int selector) {
    // the hardware's bit for copies of a sign is not part of this function
    return (int)__nvvm_prmt((uint)a, (uint)b, (uint)selector & 0x7777);
}

EXPORT int __nv_mul24(int a, int b) {
    return __nvvm_mul24_i(a, b);
}

EXPORT uint __nv_umul24(uint a, uint b) {
    return (uint)__nvvm_mul24_ui(a, b);
}

EXPORT int __nv_mulhi(int a, int b) {
    return __nvvm_mulhi_i(a, b);
}

EXPORT uint __nv_umulhi(uint a, uint b) {
    return (uint)__nvvm_mulhi_ui(a, b);
}

EXPORT i64 __nv_mul64hi(i64 a, i64 b) {
    return __nvvm_mulhi_ll(a, b);
}

EXPORT u64 __nv_umul64hi(u64 a, u64 b) {
    return (u64)__nvvm_mulhi_ull(a, b);
}

EXPORT int __nv_sad(int a, int b, uint c) {
    return __nvvm_sad_i(a, b, (int)c);
}

EXPORT uint __nv_usad(uint a, uint b, uint c) {
    return (uint)__nvvm_sad_ui(a, b, c);
}

// Averages: what both numbers have in common and half of where they differ; no sum overflows.
EXPORT int __nv_hadd(int a, int b) {
    return (a & b) + ((a ^ b) >> 1);
}

EXPORT uint __nv_uhadd(uint a, uint b) {
    return (a & b) + ((a ^ b) >> 1);
}

EXPORT int __nv_rhadd(int a, int b) {
    return (a | b) - ((a ^ b) >> 1);
}

EXPORT uint __nv_urhadd(uint a, uint b) {
    return (a | b) - ((a ^ b) >> 1);
}
