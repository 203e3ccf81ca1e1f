// Square and cube roots, and the lengths of vectors.
#include "real.h"

EXPORT real NAME(sqrt)(real x) {
#if REAL_BITS == 64
    return SQRT(x);
#else
    return sqrt_as_asked(x);
#endif
}

EXPORT real NAME(rsqrt)(real x) {
#if REAL_BITS == 64
    double root = SQRT(x), first = div_rn(1, root);
    // what the root and the quotient rounded off
    double error = FMA(FMA(root, root, -x) * 0.5 * first, first, FMA(-root, first, 1));
    double result = FMA(first, error, first);
    return x > 0 && x < INFINITE ? result : first;
#else
    return CHOOSE(__nvvm_rsqrt_approx, x);
#endif
}

INLINE float approximate_power(float x, float power) {
    return __nvvm_ex2_approx_f(__nvvm_lg2_approx_f(x) * power);
}

/// A number as m 8^third, m from 1 to 8; it is positive.
INLINE real split_by_8(real x, int *third) {
    int small = x < OF_BITS((bits)1 << MANTISSA_BITS);
    bits b = TO_BITS(
        small ? x * power_of_2(SUBNORMAL_SHIFT + (SUBNORMAL_SHIFT % 3 ? 3 - SUBNORMAL_SHIFT % 3 : 0)) : x);
    int n = (int)(b >> MANTISSA_BITS) - EXPONENT_BIAS + 3 * 1024;
    *third = n / 3 - 1024;
    n -= n / 3 * 3;
    if (small) *third -= (SUBNORMAL_SHIFT + 2) / 3;
    return OF_BITS((b & MANTISSA_MASK) | (bits)(n + EXPONENT_BIAS) << MANTISSA_BITS);
}

#if REAL_BITS == 32
/// |x|^power beside what one step of Newton's method makes of it, for power 1/3 and -1/3: x is made no smaller than 2^-80,
/// so that the step's differences are no subnormals; `back` is what the root is to be multiplied by.
INLINE float first_root(float *x, float power, float *back) {
    int small = *x < 0x1p-80f;
    *x = small ? *x * 0x1p48f : *x;
    *back = small ? (power > 0 ? 0x1p-16f : 0x1p16f) : 1.0f;
    return approximate_power(*x, power);
}

EXPORT float __nv_cbrtf(float x) {
    float m = ABS(x), back, r = first_root(&m, 0x1.555556p-2f, &back);
    Pair square = exact_product(r, r);
    float error = FMA(-square.low, r, FMA(-square.high, r, m));
    float root = FMA(error, quotient(0x1.555556p-2f, square.high), r) * back;
    return is_nan(root) ? x : COPYSIGN(root, x); // of 0 and infinity, too
}

EXPORT float __nv_rcbrtf(float x) {
    float m = ABS(x), back, r = first_root(&m, -0x1.555556p-2f, &back);
    Pair square = exact_product(r, r), product = exact_product(m, square.high);
    float error = FMA(-r, FMA(m, square.low, product.low), FMA(-product.high, r, 1));
    float root = FMA(r * error, 0x1.555556p-2f, r) * back;
    return is_nan(root) ? div_rn(1, x) : COPYSIGN(root, x);
}
#else
EXPORT double NAME(cbrt)(double x) {
    int third;
    double m = split_by_8(ABS(x), &third);
    double r = (double)approximate_power((float)m, 0x1.555556p-2f);
    // Halley's step; r^3 without loss, as far as the difference needs it
    Pair square = exact_product(r, r);
    double error = FMA(-square.low, r, FMA(-square.high, r, m));
    double root = FMA(r, quotient(error, FMA(2 * square.high, r, m)), r) * power_of_2(third);
    return x == 0 || is_infinite(x) || is_nan(x) ? x : COPYSIGN(root, x);
}

EXPORT double NAME(rcbrt)(double x) {
    int third;
    double m = split_by_8(ABS(x), &third);
    double r = (double)approximate_power((float)m, -0x1.555556p-2f);
    Pair square = exact_product(r, r), product = exact_product(m, square.high);
    // 1 - m r^3, then (1 - error)^(-1/3)
    double error = FMA(-r, FMA(m, square.low, product.low), FMA(-product.high, r, 1));
    double grown = error * FMA(error, R(0x1.c71c71c71c71cp-3), R(0x1.5555555555555p-2));
    double root = FMA(r, grown, r) * power_of_2(-third);
    root = x == 0 ? INFINITE : is_infinite(x) ? 0 : root;
    return is_nan(x) ? x : COPYSIGN(root, x);
}
#endif

/// The power of two by which the components of a vector are to be multiplied, and its inverse: from its largest component.
typedef struct {
    real to, back;
} Scale;

INLINE Scale scale_for(real largest) {
    int n = (int)(TO_BITS(largest) >> MANTISSA_BITS);
    n = n < 1 ? 1 : n > 2 * EXPONENT_BIAS - 1 ? 2 * EXPONENT_BIAS - 1 : n;
    return (Scale){OF_BITS((bits)(2 * EXPONENT_BIAS - n) << MANTISSA_BITS),
                   OF_BITS((bits)n << MANTISSA_BITS)};
}

INLINE Pair add_square(Pair sum, real x) {
    Pair square = exact_product(x, x), both = exact_sum(sum.high, square.high);
    both.low += sum.low + square.low;
    return both;
}

INLINE real length(real squares, real largest, Scale scale_of) {
    real result = SQRT(squares) * scale_of.back;
    return largest == INFINITE ? INFINITE : result;
}

/// From the sum of squares in two parts for double, where one that is rounded would not be good enough.
INLINE real inverse_length(Pair squares, real largest, Scale scale_of) {
#if REAL_BITS == 64
    Pair sum = quick_sum(squares.high, squares.low);
    double first = div_rn(1, SQRT(sum.high));
    Pair product = exact_product(sum.high, first);
    double error = FMA(-first, FMA(sum.low, first, product.low), FMA(-product.high, first, 1));
    double result = FMA(first * 0.5, error, first) * scale_of.to;
    result = sum.high == 0 ? INFINITE : result;
#else
    float result = CHOOSE(__nvvm_rsqrt_approx, squares.high + squares.low) * scale_of.to;
#endif
    return largest == INFINITE ? 0 : result;
}

// MAX gives the other number where one is none, and sums of squares then find it again.
#define LARGEST_OF_3(a, b, c)    MAX(MAX(ABS(a), ABS(b)), ABS(c))
#define LARGEST_OF_4(a, b, c, d) MAX(LARGEST_OF_3(a, b, c), ABS(d))

EXPORT real NAME(hypot)(real x, real y) {
    real largest = MAX(ABS(x), ABS(y));
    Scale s = scale_for(largest);
    x *= s.to;
    y *= s.to;
    return length(FMA(x, x, y * y), largest, s);
}

EXPORT real NAME(rhypot)(real x, real y) {
    real largest = MAX(ABS(x), ABS(y));
    Scale s = scale_for(largest);
    x *= s.to;
    y *= s.to;
#if REAL_BITS == 64
    return inverse_length(add_square(exact_product(x, x), y), largest, s);
#else
    return inverse_length((Pair){FMA(x, x, y * y), 0}, largest, s);
#endif
}

#if REAL_BITS == 64
#define NORM3  __nv_norm3d
#define NORM4  __nv_norm4d
#define RNORM3 __nv_rnorm3d
#define RNORM4 __nv_rnorm4d
#else
#define NORM3  __nv_norm3df
#define NORM4  __nv_norm4df
#define RNORM3 __nv_rnorm3df
#define RNORM4 __nv_rnorm4df
#endif

EXPORT real NORM3(real x, real y, real z) {
    real largest = LARGEST_OF_3(x, y, z);
    Scale s = scale_for(largest);
    x *= s.to;
    y *= s.to;
    z *= s.to;
    return length(FMA(x, x, FMA(y, y, z * z)), largest, s);
}

EXPORT real NORM4(real x, real y, real z, real w) {
    real largest = LARGEST_OF_4(x, y, z, w);
    Scale s = scale_for(largest);
    x *= s.to;
    y *= s.to;
    z *= s.to;
    w *= s.to;
    return length(FMA(x, x, FMA(y, y, FMA(z, z, w * w))), largest, s);
}

EXPORT real RNORM3(real x, real y, real z) {
    real largest = LARGEST_OF_3(x, y, z);
    Scale s = scale_for(largest);
    x *= s.to;
    y *= s.to;
    z *= s.to;
#if REAL_BITS == 64
    return inverse_length(add_square(add_square(exact_product(x, x), y), z), largest, s);
#else
    return inverse_length((Pair){FMA(x, x, FMA(y, y, z * z)), 0}, largest, s);
#endif
}

EXPORT real RNORM4(real x, real y, real z, real w) {
    real largest = LARGEST_OF_4(x, y, z, w);
    Scale s = scale_for(largest);
    x *= s.to;
    y *= s.to;
    z *= s.to;
    w *= s.to;
#if REAL_BITS == 64
    Pair half = add_square(exact_product(x, x), y);
    return inverse_length(add_square(add_square(half, z), w), largest, s);
#else
    return inverse_length((Pair){FMA(x, x, FMA(y, y, FMA(z, z, w * w))), 0}, largest, s);
#endif
}

INLINE Pair squares_of(int count, const real *vector, real *largest, Scale *scale_of) {
    *largest = 0;
    for (int i = 0; i < count; i++)
        *largest = MAX(*largest, ABS(vector[i]));
    *scale_of = scale_for(*largest);
    Pair sum = {0, 0};
    for (int i = 0; i < count; i++)
        sum = add_square(sum, vector[i] * scale_of->to);
    return sum;
}

EXPORT real NAME(norm)(int count, const real *vector) {
    real largest;
    Scale s;
    Pair sum = squares_of(count, vector, &largest, &s);
    return length(sum.high + sum.low, largest, s);
}

EXPORT real NAME(rnorm)(int count, const real *vector) {
    real largest;
    Scale s;
    Pair sum = squares_of(count, vector, &largest, &s);
    return inverse_length(sum, largest, s);
}
