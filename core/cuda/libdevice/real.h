// One source for float and double: files that include this are compiled twice, with REAL_BITS=32 and 64.
// NAME(sin) is __nv_sinf or __nv_sin, `real` the type, R(x) a constant of it.
#pragma once

#include "base.h"

#if REAL_BITS == 64

typedef double real;
typedef u64 bits;
typedef i64 signed_bits;
#define NAME(name)       __nv_##name
#define NAME_D(name)     __nv_##name##d // where the double function has a letter of its own
#define R(x)             x
#define MANTISSA_BITS    52
#define EXPONENT_BIAS    1023
#define TO_BITS(x)       bits_of_double(x)
#define OF_BITS(x)       double_of_bits(x)
#define FMA(a, b, c)     __builtin_fma(a, b, c)
#define ABS(x)           __builtin_fabs(x)
#define ROUND_TO_EVEN(x) __builtin_rint(x)
#define TRUNC(x)         __builtin_trunc(x)
#define FLOOR(x)         __builtin_floor(x)
#define COPYSIGN(x, y)   __builtin_copysign(x, y)
#define MAX(a, b)        maximum_d(a, b)
#define MIN(a, b)        minimum_d(a, b)
#define HUGE_EXPONENT    2100                 // beyond any sum of exponents
#define LN2_HIGH         0x1.62e42fefa0000p-1 // with zeros at its end: exact times an exponent
#define LN2_LOW          0x1.cf79abc9e3b3ap-40
#define PI               0x1.921fb54442d18p+1
#define PI_LOW           0x1.1a62633145c07p-53
#define LOG2_E           0x1.71547652b82fep+0
#define LOG2_E_LOW       0x1.777d0ffda0d24p-56
#define LOG10_E          0x1.bcb7b1526e50ep-2
#define LOG10_E_LOW      0x1.95355baaafad3p-57

#else

typedef float real;
typedef uint bits;
typedef int signed_bits;
#define NAME(name)       __nv_##name##f
#define NAME_D(name)     __nv_##name##f
#define R(x)             x##f
#define MANTISSA_BITS    23
#define EXPONENT_BIAS    127
#define TO_BITS(x)       bits_of_float(x)
#define OF_BITS(x)       float_of_bits(x)
#define FMA(a, b, c)     __builtin_fmaf(a, b, c)
#define ABS(x)           __builtin_fabsf(x)
#define ROUND_TO_EVEN(x) __builtin_rintf(x)
#define TRUNC(x)         __builtin_truncf(x)
#define FLOOR(x)         __builtin_floorf(x)
#define COPYSIGN(x, y)   __builtin_copysignf(x, y)
#define MAX(a, b)        maximum_f(a, b)
#define MIN(a, b)        minimum_f(a, b)
#define HUGE_EXPONENT    300
#define LN2_HIGH         0x1.62e400p-1f
#define LN2_LOW          0x1.7f7d1cp-20f
#define PI               0x1.921fb6p+1f
#define PI_LOW           -0x1.777a5cp-24f
#define LOG2_E           0x1.715476p+0f
#define LOG2_E_LOW       0x1.4ae0bep-26f
#define LOG10_E          0x1.bcb7b2p-2f
#define LOG10_E_LOW      -0x1.5b235ep-27f

#endif

#define INFINITE        ((real)__builtin_inf())
#define NOT_A_NUMBER    ((real)__builtin_nan(""))
#define SIGN_BIT        ((bits)1 << (REAL_BITS - 1))
#define MANTISSA_MASK   (((bits)1 << MANTISSA_BITS) - 1)
#define INFINITE_BITS   ((bits)(2 * EXPONENT_BIAS + 1) << MANTISSA_BITS)
#define ONE_BITS        ((bits)EXPONENT_BIAS << MANTISSA_BITS)
#define SUBNORMAL_SHIFT (MANTISSA_BITS + 1)

/// A number as the sum of two, the second below the last place of the first.
typedef struct {
    real high, low;
} Pair;

#if REAL_BITS == 64
#define mul_rn  mul_rn_d
#define add_rn  add_rn_d
#define div_rn  div_rn_d
#define SQRT(x) sqrt_rn_d(x)
#else
#define mul_rn  mul_rn_f
#define add_rn  add_rn_f
#define div_rn  div_rn_f
#define SQRT(x) sqrt_rn_f(x)
#endif

/// a / b: for double rounded correctly, for float within 2 ulp, in one instruction. |b| < 2^126.
INLINE real quotient(real a, real b) {
#if REAL_BITS == 64
    return div_rn(a, b);
#else
    return CHOOSE(__nvvm_div_approx, a, b);
#endif
}

/// 2^n, for n that keep it a normal number.
INLINE real power_of_2(int n) {
    return OF_BITS((bits)(signed_bits)(n + EXPONENT_BIAS) << MANTISSA_BITS);
}

/// x 2^n for |n| <= HUGE_EXPONENT, rounded once where it is subnormal; |x| is 0 or about 1.
INLINE real scale(real x, int n) {
    int half = n >> 1;
    return x * power_of_2(half) * power_of_2(n - half);
}

/// a + b without loss, |a| >= |b|.
INLINE Pair quick_sum(real a, real b) {
    real sum = add_rn(a, b);
    return (Pair){sum, b - (sum - a)};
}

/// a + b without loss.
INLINE Pair exact_sum(real a, real b) {
    real sum = add_rn(a, b), part = sum - a;
    return (Pair){sum, (a - (sum - part)) + (b - part)};
}

/// a * b without loss.
INLINE Pair exact_product(real a, real b) {
    real product = mul_rn(a, b);
    return (Pair){product, FMA(a, b, -product)};
}

INLINE int is_nan(real x) {
    return x != x;
}

INLINE int is_infinite(real x) {
    return ABS(x) == INFINITE;
}

#if REAL_BITS == 64
#include "polynomials_64.h"
#else
#include "polynomials_32.h"
#endif
