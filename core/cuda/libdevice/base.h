// What all files of the device library share: attributes, bits of numbers, and what the compiler may not combine.
//
// The library is compiled for no architecture in particular. A caller's compiler decides whether float arithmetic
// flushes subnormals to zero; where an instruction has a name of its own for that, FLUSHES asks __nvvm_reflect(), which
// the compiler answers before it makes code. As it also turns `a * b + c` into one fused operation wherever it likes,
// products that must be rounded are written mul_rn(a, b), and fused ones FMA(a, b, c).
#pragma once

#define INLINE static inline __attribute__((always_inline, unused))
#define EXPORT __attribute__((always_inline)) // inlined even by -O0, as programs' fast paths rely on it
#define LARGE  __attribute__((noinline))      // called rarely, or too long to be copied to each place of use
#ifdef __NVPTX__
#define TABLE static const __attribute__((address_space(4)))
#else
#define TABLE static const
#endif

typedef unsigned int uint;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned short u16;

#ifdef __NVPTX__
// Its name becomes __nvvm_reflect when this library is optimised: under that name it would be answered before.
int reflect_later(const char *question) __attribute__((const));
#define FLUSHES                    reflect_later("__CUDA_FTZ")
#define CHOOSE(name, ...)          (FLUSHES ? name##_ftz_f(__VA_ARGS__) : name##_f(__VA_ARGS__))
#define CHOOSE_CONVERSION(name, x) (FLUSHES ? name##_ftz(x) : name(x))

// Rounded whatever the program's compiler may do: it joins no instruction of these with another, nor approximates them.
#define ROUNDED_BINARY(name)                                                                                 \
    INLINE float name##_rn_f(float a, float b) {                                                             \
        float result;                                                                                        \
        if (FLUSHES)                                                                                         \
            __asm__(#name ".rn.ftz.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));                        \
        else                                                                                                 \
            __asm__(#name ".rn.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));                            \
        return result;                                                                                       \
    }                                                                                                        \
    INLINE double name##_rn_d(double a, double b) {                                                          \
        double result;                                                                                       \
        __asm__(#name ".rn.f64 %0, %1, %2;" : "=d"(result) : "d"(a), "d"(b));                                \
        return result;                                                                                       \
    }
#define ROUNDED_UNARY(name)                                                                                  \
    INLINE float name##_rn_f(float a) {                                                                      \
        float result;                                                                                        \
        if (FLUSHES)                                                                                         \
            __asm__(#name ".rn.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));                                    \
        else                                                                                                 \
            __asm__(#name ".rn.f32 %0, %1;" : "=f"(result) : "f"(a));                                        \
        return result;                                                                                       \
    }                                                                                                        \
    INLINE double name##_rn_d(double a) {                                                                    \
        double result;                                                                                       \
        __asm__(#name ".rn.f64 %0, %1;" : "=d"(result) : "d"(a));                                            \
        return result;                                                                                       \
    }
ROUNDED_BINARY(add)
ROUNDED_BINARY(mul)
ROUNDED_BINARY(div)
ROUNDED_UNARY(rcp)
ROUNDED_UNARY(sqrt)

// clang-14 takes the conversions with .rz for such to nearest.
#define FROM_INTEGER(name, to, to_ptx, to_letter, from, from_ptx, from_letter, mode)                         \
    INLINE to convert_##name##_##mode(from x) {                                                              \
        to result;                                                                                           \
        __asm__("cvt." #mode "." to_ptx "." from_ptx " %0, %1;" : to_letter(result) : from_letter(x));       \
        return result;                                                                                       \
    }
#define FROM_INTEGERS(mode)                                                                                  \
    FROM_INTEGER(i2f, float, "f32", "=f", int, "s32", "r", mode)                                             \
    FROM_INTEGER(ui2f, float, "f32", "=f", uint, "u32", "r", mode)                                           \
    FROM_INTEGER(ll2f, float, "f32", "=f", i64, "s64", "l", mode)                                            \
    FROM_INTEGER(ull2f, float, "f32", "=f", u64, "u64", "l", mode)                                           \
    FROM_INTEGER(ll2d, double, "f64", "=d", i64, "s64", "l", mode)                                           \
    FROM_INTEGER(ull2d, double, "f64", "=d", u64, "u64", "l", mode)
FROM_INTEGERS(rn)
FROM_INTEGERS(rz)
FROM_INTEGERS(rp)
FROM_INTEGERS(rm)

/// clang has no question for -prec-sqrt=false; but -use_fast_math, of which it is a part, flushes.
INLINE float sqrt_as_asked(float x) {
    return FLUSHES ? __nvvm_sqrt_approx_ftz_f(x) : sqrt_rn_f(x);
}

#define maximum_f(a, b) __builtin_fmaxf(a, b)
#define minimum_f(a, b) __builtin_fminf(a, b)
#define maximum_d(a, b) __builtin_fmax(a, b)
#define minimum_d(a, b) __builtin_fmin(a, b)

INLINE u16 half_of_float(float x) {
    u16 half;
    if (FLUSHES)
        __asm__("cvt.rn.ftz.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    else
        __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return half;
}

INLINE float float_of_half(u16 x) {
    float wide;
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x));
    return wide;
}
#else
#include "host.h" // the same functions in C, by which tests run this library
#endif

INLINE uint bits_of_float(float x) {
    return __builtin_bit_cast(uint, x);
}

INLINE float float_of_bits(uint bits) {
    return __builtin_bit_cast(float, bits);
}

INLINE u64 bits_of_double(double x) {
    return __builtin_bit_cast(u64, x);
}

INLINE double double_of_bits(u64 bits) {
    return __builtin_bit_cast(double, bits);
}
