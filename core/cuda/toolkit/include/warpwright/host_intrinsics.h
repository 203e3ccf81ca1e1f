/* Intrinsics of the device for host code, so that functions of both sides may call them. */
#ifndef WARPWRIGHT_HOST_INTRINSICS_H
#define WARPWRIGHT_HOST_INTRINSICS_H

#if defined(__CUDA__) && defined(__cplusplus)

#include <math.h>
#include <string.h>

#define WARPWRIGHT_HOST static __inline__ __attribute__((host, unused))

/* ---- the same bits as another type */

#define WARPWRIGHT_CAST(name, from, to)                                                                      \
    WARPWRIGHT_HOST to name(from value) {                                                                    \
        to result;                                                                                           \
        memcpy(&result, &value, sizeof result);                                                              \
        return result;                                                                                       \
    }
WARPWRIGHT_CAST(__int_as_float, int, float)
WARPWRIGHT_CAST(__uint_as_float, unsigned, float)
WARPWRIGHT_CAST(__float_as_int, float, int)
WARPWRIGHT_CAST(__float_as_uint, float, unsigned)
WARPWRIGHT_CAST(__longlong_as_double, long long, double)
WARPWRIGHT_CAST(__double_as_longlong, double, long long)
#undef WARPWRIGHT_CAST

WARPWRIGHT_HOST int __double2hiint(double x) {
    return (int)(__double_as_longlong(x) >> 32);
}
WARPWRIGHT_HOST int __double2loint(double x) {
    return (int)__double_as_longlong(x);
}
WARPWRIGHT_HOST double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

/* ---- bits and products of integers */

WARPWRIGHT_HOST int __popc(unsigned x) {
    return __builtin_popcount(x);
}
WARPWRIGHT_HOST int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}
WARPWRIGHT_HOST int __clz(int x) {
    return x ? __builtin_clz((unsigned)x) : 32;
}
WARPWRIGHT_HOST int __clzll(long long x) {
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
WARPWRIGHT_HOST int __ffs(int x) {
    return __builtin_ffs(x);
}
WARPWRIGHT_HOST int __ffsll(long long x) {
    return __builtin_ffsll(x);
}
WARPWRIGHT_HOST unsigned __brev(unsigned x) {
    return __builtin_bitreverse32(x);
}
WARPWRIGHT_HOST unsigned long long __brevll(unsigned long long x) {
    return __builtin_bitreverse64(x);
}
WARPWRIGHT_HOST unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(bytes >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
    return result;
}
WARPWRIGHT_HOST unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
WARPWRIGHT_HOST unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
WARPWRIGHT_HOST int __mulhi(int x, int y) {
    return (int)((long long)x * y >> 32);
}
WARPWRIGHT_HOST unsigned __umulhi(unsigned x, unsigned y) {
    return (unsigned)((unsigned long long)x * y >> 32);
}
WARPWRIGHT_HOST long long __mul64hi(long long x, long long y) {
    return (long long)((__int128)x * y >> 64);
}
WARPWRIGHT_HOST unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}

/* ---- arithmetic that rounds to the nearest */

#define WARPWRIGHT_ROUNDED(type, letter, root, fused)                                                        \
    WARPWRIGHT_HOST type __##letter##add_rn(type x, type y) {                                                \
        return x + y;                                                                                        \
    }                                                                                                        \
    WARPWRIGHT_HOST type __##letter##sub_rn(type x, type y) {                                                \
        return x - y;                                                                                        \
    }                                                                                                        \
    WARPWRIGHT_HOST type __##letter##mul_rn(type x, type y) {                                                \
        return x * y;                                                                                        \
    }                                                                                                        \
    WARPWRIGHT_HOST type __##letter##div_rn(type x, type y) {                                                \
        return x / y;                                                                                        \
    }                                                                                                        \
    WARPWRIGHT_HOST type __##letter##rcp_rn(type x) {                                                        \
        return 1 / x;                                                                                        \
    }                                                                                                        \
    WARPWRIGHT_HOST type __##letter##sqrt_rn(type x) {                                                       \
        return root(x);                                                                                      \
    }                                                                                                        \
    WARPWRIGHT_HOST type __##fused##_rn(type x, type y, type z) {                                            \
        return __builtin_##fused(x, y, z);                                                                   \
    }
WARPWRIGHT_ROUNDED(float, f, sqrtf, fmaf)
WARPWRIGHT_ROUNDED(double, d, sqrt, fma)
#undef WARPWRIGHT_ROUNDED

WARPWRIGHT_HOST float __fdividef(float x, float y) {
    return x / y;
}
WARPWRIGHT_HOST float __saturatef(float x) {
    return x > 0 ? x < 1 ? x : 1.0f : 0.0f;
}

/* ---- loads */

template <class T> WARPWRIGHT_HOST T __ldg(const T *address) {
    return *address;
}

#undef WARPWRIGHT_HOST

#endif
#endif
