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

EXPORT real NAME(cbrt)(real x) {
    int third;
    real m = split_by_8(ABS(x), &third);
    real r = (real)approximate_power((float)m, 0x1.555556p-2f);
    // Halley's step; r^3 without loss, as far as the difference needs it
    Pair square = exact_product(r, r);
    real error = FMA(-square.low, r, FMA(-square.high, r, m));
    real root = FMA(r, quotient(error, FMA(2 * square.high, r, m)), r) * power_of_2(third);
    return x == 0 || is_infinite(x) || is_nan(x) ? x : COPYSIGN(root, x);
}

EXPORT real NAME(rcbrt)(real x) {
    int third;
    real m = split_by_8(ABS(x), &third);
    real r = (real)approximate_power((float)m, -0x1.555556p-2f);
    Pair square = exact_product(r, r), product = exact_product(m, square.high);
    // 1 - m r^3, then (1 - error)^(-1/3)
    real error = FMA(-r, FMA(m, square.low, product.low), FMA(-product.high, r, 1));
    real grown = error * FMA(error, R(0x1.c71c71c71c71cp-3), R(0x1.5555555555555p-2));
    real root = FMA(r, grown, r) * power_of_2(-third);
    root = x == 0 ? INFINITE : is_infinite(x) ? 0 : root;
    return is_nan(x) ? x : COPYSIGN(root, x);
}

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

INLINE real length(Pair squares, real largest, Scale scale_of) {
    Pair sum = quick_sum(squares.high, squares.low);
    real result = SQRT(sum.high) * scale_of.back;
    return largest == INFINITE ? INFINITE : result;
}

INLINE real inverse_length(Pair squares, real largest, Scale scale_of) {
    Pair sum = quick_sum(squares.high, squares.low);
    real first = div_rn(1, SQRT(sum.high));
    Pair product = exact_product(sum.high, first);
    real error = FMA(-first, FMA(sum.low, first, product.low), FMA(-product.high, first, 1));
    real result = FMA(first * R(0.5), error, first) * scale_of.to;
    result = sum.high == 0 ? INFINITE : result;
    return largest == INFINITE ? 0 : result;
}

// MAX gives the other number where one is none, and sums of squares then find it again.
#define SQUARES_OF_TWO(a, b)                                                                                 \
    real largest = MAX(ABS(a), ABS(b));                                                                      \
    Scale s = scale_for(largest);                                                                            \
    Pair sum = add_square((Pair){0, 0}, (a)*s.to);                                                           \
    sum = add_square(sum, (b)*s.to)
#define SQUARES_OF_THREE(a, b, c)                                                                            \
    real largest = MAX(MAX(ABS(a), ABS(b)), ABS(c));                                                         \
    Scale s = scale_for(largest);                                                                            \
    Pair sum = add_square((Pair){0, 0}, (a)*s.to);                                                           \
    sum = add_square(sum, (b)*s.to);                                                                         \
    sum = add_square(sum, (c)*s.to)
#define SQUARES_OF_FOUR(a, b, c, d)                                                                          \
    real largest = MAX(MAX(ABS(a), ABS(b)), MAX(ABS(c), ABS(d)));                                            \
    Scale s = scale_for(largest);                                                                            \
    Pair sum = add_square((Pair){0, 0}, (a)*s.to);                                                           \
    sum = add_square(sum, (b)*s.to);                                                                         \
    sum = add_square(sum, (c)*s.to);                                                                         \
    sum = add_square(sum, (d)*s.to)

EXPORT real NAME(hypot)(real x, real y) {
    real a = ABS(x), b = ABS(y), largest = MAX(a, b), smallest = MIN(a, b);
    Scale s = scale_for(largest);
    a = largest * s.to;
    b = smallest * s.to;
    real result = SQRT(FMA(a, a, b * b)) * s.back;
    result = is_nan(x) || is_nan(y) ? NOT_A_NUMBER : result;
    return largest == INFINITE ? INFINITE : result;
}

EXPORT real NAME(rhypot)(real x, real y) {
    SQUARES_OF_TWO(x, y);
    return inverse_length(sum, largest, s);
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
    SQUARES_OF_THREE(x, y, z);
    return length(sum, largest, s);
}

EXPORT real NORM4(real x, real y, real z, real w) {
    SQUARES_OF_FOUR(x, y, z, w);
    return length(sum, largest, s);
}

EXPORT real RNORM3(real x, real y, real z) {
    SQUARES_OF_THREE(x, y, z);
    return inverse_length(sum, largest, s);
}

EXPORT real RNORM4(real x, real y, real z, real w) {
    SQUARES_OF_FOUR(x, y, z, w);
    return inverse_length(sum, largest, s);
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
    return length(sum, largest, s);
}

EXPORT real NAME(rnorm)(int count, const real *vector) {
    real largest;
    Scale s;
    Pair sum = squares_of(count, vector, &largest, &s);
    return inverse_length(sum, largest, s);
}
