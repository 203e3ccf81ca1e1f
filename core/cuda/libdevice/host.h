// The device library's instructions in C, so that the same sources run on the host: for tests. Approximate instructions
// are those of the simulator, computed in double and rounded.
#pragma once

#include <fenv.h>
#include <math.h>

#define CHOOSE(name, ...)          name##_f(__VA_ARGS__)
#define CHOOSE_CONVERSION(name, x) name(x)

// volatile: no compiler may compute before or after the rounding mode holds
#define HOST_BINARY(name, mode_name, mode, operation)                                                        \
    INLINE float name##_##mode_name##_f(float x, float y) {                                                  \
        volatile float a = x, b = y, result;                                                                 \
        fesetround(mode);                                                                                    \
        result = a operation b;                                                                              \
        fesetround(FE_TONEAREST);                                                                            \
        return result;                                                                                       \
    }                                                                                                        \
    INLINE double name##_##mode_name##_d(double x, double y) {                                               \
        volatile double a = x, b = y, result;                                                                \
        fesetround(mode);                                                                                    \
        result = a operation b;                                                                              \
        fesetround(FE_TONEAREST);                                                                            \
        return result;                                                                                       \
    }
#define HOST_OTHERS(type, letter, mode_name, mode, root, fused)                                              \
    INLINE type __nvvm_rcp_##mode_name##_##letter(type x) {                                                  \
        return __nvvm_div_##mode_name##_##letter(1, x);                                                      \
    }                                                                                                        \
    INLINE type __nvvm_sqrt_##mode_name##_##letter(type x) {                                                 \
        volatile type a = x, result;                                                                         \
        fesetround(mode);                                                                                    \
        result = root(a);                                                                                    \
        fesetround(FE_TONEAREST);                                                                            \
        return result;                                                                                       \
    }                                                                                                        \
    INLINE type __nvvm_fma_##mode_name##_##letter(type x, type y, type z) {                                  \
        volatile type a = x, b = y, c = z, result;                                                           \
        fesetround(mode);                                                                                    \
        result = fused(a, b, c);                                                                             \
        fesetround(FE_TONEAREST);                                                                            \
        return result;                                                                                       \
    }
// Without AVX-512 a computer subtracts to convert 64 bits, and 0 becomes -0 when it rounds down.
#define HOST_CONVERSION(name, to, from, mode_name, mode)                                                     \
    INLINE to name##_##mode_name(from x) {                                                                   \
        volatile from a = x;                                                                                 \
        volatile to result;                                                                                  \
        if (x == 0) return (to)x;                                                                            \
        fesetround(mode);                                                                                    \
        result = (to)a;                                                                                      \
        fesetround(FE_TONEAREST);                                                                            \
        return result;                                                                                       \
    }
// to integers: saturating; NaN gives `nan`
#define HOST_TO_INTEGER(name, to, from, lowest, beyond, highest, nan, mode_name, mode)                       \
    INLINE to __nvvm_##name##_##mode_name(from x) {                                                          \
        volatile from a = x, rounded;                                                                        \
        fesetround(mode);                                                                                    \
        rounded = (from)rint((double)a);                                                                     \
        fesetround(FE_TONEAREST);                                                                            \
        if (x != x) return nan;                                                                              \
        if ((double)rounded >= beyond) return highest;                                                       \
        return (double)rounded <= (double)(lowest) ? lowest : (to)rounded;                                   \
    }
#define I64_LOWEST (-0x7fffffffffffffffll - 1)
#define HOST_MODE(name, mode)                                                                                \
    HOST_BINARY(__nvvm_add, name, mode, +)                                                                   \
    HOST_BINARY(__nvvm_mul, name, mode, *)                                                                   \
    HOST_BINARY(__nvvm_div, name, mode, /)                                                                   \
    HOST_OTHERS(float, f, name, mode, sqrtf, fmaf)                                                           \
    HOST_OTHERS(double, d, name, mode, sqrt, fma)                                                            \
    HOST_CONVERSION(__nvvm_d2f, float, double, name, mode)                                                   \
    HOST_CONVERSION(convert_i2f, float, int, name, mode)                                                     \
    HOST_CONVERSION(convert_ui2f, float, uint, name, mode)                                                   \
    HOST_CONVERSION(convert_ll2f, float, i64, name, mode)                                                    \
    HOST_CONVERSION(convert_ull2f, float, u64, name, mode)                                                   \
    HOST_CONVERSION(convert_ll2d, double, i64, name, mode)                                                   \
    HOST_CONVERSION(convert_ull2d, double, u64, name, mode)                                                  \
    HOST_TO_INTEGER(d2i, int, double, -0x7fffffff - 1, 0x1p31, 0x7fffffff, -0x7fffffff - 1, name, mode)      \
    HOST_TO_INTEGER(d2ui, uint, double, 0u, 0x1p32, 0xffffffffu, 0x80000000u, name, mode)                    \
    HOST_TO_INTEGER(d2ll, i64, double, I64_LOWEST, 0x1p63, 0x7fffffffffffffffll, I64_LOWEST, name, mode)     \
    HOST_TO_INTEGER(d2ull, u64, double, 0ull, 0x1p64, ~0ull, 1ull << 63, name, mode)                         \
    HOST_TO_INTEGER(f2i, int, float, -0x7fffffff - 1, 0x1p31, 0x7fffffff, 0, name, mode)                     \
    HOST_TO_INTEGER(f2ui, uint, float, 0u, 0x1p32, 0xffffffffu, 0u, name, mode)                              \
    HOST_TO_INTEGER(f2ll, i64, float, I64_LOWEST, 0x1p63, 0x7fffffffffffffffll, I64_LOWEST, name, mode)      \
    HOST_TO_INTEGER(f2ull, u64, float, 0ull, 0x1p64, ~0ull, 1ull << 63, name, mode)
HOST_MODE(rn, FE_TONEAREST)
HOST_MODE(rz, FE_TOWARDZERO)
HOST_MODE(rp, FE_UPWARD)
HOST_MODE(rm, FE_DOWNWARD)

// clang-format off
INLINE float add_rn_f(float a, float b) { return a + b; }
INLINE float mul_rn_f(float a, float b) { return a * b; }
INLINE float div_rn_f(float a, float b) { return a / b; }
INLINE float rcp_rn_f(float a) { return 1 / a; }
INLINE float sqrt_rn_f(float a) { return sqrtf(a); }
INLINE double add_rn_d(double a, double b) { return a + b; }
INLINE double mul_rn_d(double a, double b) { return a * b; }
INLINE double div_rn_d(double a, double b) { return a / b; }
INLINE double rcp_rn_d(double a) { return 1 / a; }
INLINE double sqrt_rn_d(double a) { return sqrt(a); }

INLINE float __nvvm_saturate_f(float a) { return a > 0 ? a < 1 ? a : 1 : 0; }
/* The reciprocal of more than 2^126 is flushed to zero. */
INLINE float __nvvm_div_approx_f(float a, float b) { return fabsf(b) > 0x1p126f ? a * copysignf(0, b) : a / b; }
INLINE float __nvvm_sqrt_approx_f(float a) { return sqrtf(a); }
INLINE float __nvvm_rsqrt_approx_f(float a) { return (float)(1 / sqrt((double)a)); }
INLINE float __nvvm_sin_approx_f(float a) { return (float)sin((double)a); }
INLINE float __nvvm_cos_approx_f(float a) { return (float)cos((double)a); }
INLINE float __nvvm_ex2_approx_f(float a) { return (float)exp2((double)a); }
INLINE float __nvvm_lg2_approx_f(float a) { return (float)log2((double)a); }

INLINE int __nvvm_mulhi_i(int a, int b) { return (int)((i64)a * b >> 32); }
INLINE uint __nvvm_mulhi_ui(uint a, uint b) { return (uint)((u64)a * b >> 32); }
INLINE i64 __nvvm_mulhi_ll(i64 a, i64 b) { return (i64)((__int128)a * b >> 64); }
INLINE u64 __nvvm_mulhi_ull(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
INLINE int __nvvm_mul24_i(int a, int b) { return (int)((i64)((int)((uint)a << 8) >> 8) * ((int)((uint)b << 8) >> 8)); }
INLINE uint __nvvm_mul24_ui(uint a, uint b) { return (a & 0xffffff) * (b & 0xffffff); }
INLINE int __nvvm_sad_i(int a, int b, int c) { return (int)((a > b ? (uint)a - (uint)b : (uint)b - (uint)a) + (uint)c); }
INLINE uint __nvvm_sad_ui(uint a, uint b, uint c) { return (a > b ? a - b : b - a) + c; }
// clang-format on

/// Without the selector's bits that copy a sign.
INLINE uint __nvvm_prmt(uint a, uint b, uint selector) {
    u64 both = (u64)b << 32 | a;
    uint result = 0;
    for (int i = 0; i < 4; i++)
        result |= (uint)(both >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
    return result;
}

INLINE float sqrt_as_asked(float x) {
    return sqrtf(x);
}

// The number wins over what is none, and -0 is less than 0.
#define HOST_EXTREMES(type, letter)                                                                          \
    INLINE type maximum_##letter(type a, type b) {                                                           \
        return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;                      \
    }                                                                                                        \
    INLINE type minimum_##letter(type a, type b) {                                                           \
        return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;                      \
    }
HOST_EXTREMES(float, f)
HOST_EXTREMES(double, d)

// clang before 15 has _Float16 on processors with arithmetic for it alone, and this on all.
#ifdef __clang__
typedef __fp16 Half;
#else
typedef _Float16 Half;
#endif

INLINE u16 half_of_float(float x) {
    return x != x ? 0x7fff : __builtin_bit_cast(u16, (Half)x);
}

INLINE float float_of_half(u16 x) {
    return (float)__builtin_bit_cast(Half, x);
}

/// The reciprocal of a number's upper word, of which the upper word is kept; subnormals are zeros.
INLINE double __nvvm_rcp_approx_ftz_d(double x) {
    const u64 upper = 0xffffffff00000000ull;
    double a = __builtin_bit_cast(double, __builtin_bit_cast(u64, x) & upper);
    double result = 1 / (fabs(a) < 0x1p-1022 ? copysign(0.0, a) : a);
    result = fabs(result) < 0x1p-1022 ? copysign(0.0, result) : result;
    return __builtin_bit_cast(double, __builtin_bit_cast(u64, result) & upper);
}
