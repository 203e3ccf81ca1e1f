// Rounding to whole numbers, parts of numbers, comparisons.
#include "real.h"

EXPORT real NAME(ceil)(real x) {
#if REAL_BITS == 64
    return __builtin_ceil(x);
#else
    return __builtin_ceilf(x);
#endif
}

EXPORT real NAME(floor)(real x) {
    return FLOOR(x);
}

EXPORT real NAME(trunc)(real x) {
    return TRUNC(x);
}

EXPORT real NAME(rint)(real x) {
    return ROUND_TO_EVEN(x);
}

EXPORT real NAME(nearbyint)(real x) {
    return ROUND_TO_EVEN(x);
}

INLINE real round_of(real x) {
    // the number before 1/2: with 1/2 itself, the number before 1/2 would be rounded up
    return TRUNC(x + COPYSIGN(OF_BITS(ONE_BITS - ((bits)1 << MANTISSA_BITS) - 1), x));
}

EXPORT real NAME(round)(real x) {
    return round_of(x);
}

INLINE i64 to_i64(real x) {
#if REAL_BITS == 64
    return __nvvm_d2ll_rn(x);
#else
    return CHOOSE_CONVERSION(__nvvm_f2ll_rn, x);
#endif
}

EXPORT i64 NAME(llrint)(real x) {
    return to_i64(x);
}

EXPORT i64 NAME(llround)(real x) {
    return to_i64(round_of(x));
}

EXPORT real NAME(fabs)(real x) {
    return ABS(x);
}

EXPORT real NAME(copysign)(real x, real y) {
    return COPYSIGN(x, y);
}

EXPORT real NAME(fma)(real x, real y, real z) {
    return FMA(x, y, z);
}

EXPORT real NAME(fmax)(real x, real y) {
    return MAX(x, y);
}

EXPORT real NAME(fmin)(real x, real y) {
    return MIN(x, y);
}

EXPORT real NAME(fdim)(real x, real y) {
    real result = x <= y ? 0 : x - y;
    return result;
}

EXPORT real NAME(nextafter)(real x, real y) {
    if (is_nan(x) || is_nan(y)) return NOT_A_NUMBER;
    if (x == y) return y;
    bits b = TO_BITS(x);
    if ((b & ~SIGN_BIT) == 0) return COPYSIGN(OF_BITS(1), y);
    return OF_BITS((x < y) == (x > 0) ? b + 1 : b - 1);
}

EXPORT real NAME(modf)(real x, real *whole) {
    real t = TRUNC(x);
    *whole = t;
    return COPYSIGN(is_infinite(x) ? 0 : x - t, x);
}

/// x as a number of which |m| is from 1/2 to 1, and a power of two; x is finite and not zero.
INLINE real fraction_of(real x, int *n) {
    int small = ABS(x) < OF_BITS((bits)1 << MANTISSA_BITS);
    bits b = TO_BITS(small ? x * power_of_2(SUBNORMAL_SHIFT) : x);
    *n = (int)((b & ~SIGN_BIT) >> MANTISSA_BITS) - (EXPONENT_BIAS - 1) - (small ? SUBNORMAL_SHIFT : 0);
    return OF_BITS((b & (SIGN_BIT | MANTISSA_MASK)) | (ONE_BITS - ((bits)1 << MANTISSA_BITS)));
}

EXPORT real NAME(frexp)(real x, int *n) {
    int exponent;
    real m = fraction_of(x, &exponent);
    int special = x == 0 || is_infinite(x) || is_nan(x);
    *n = special ? 0 : exponent;
    return special ? x : m;
}

EXPORT real NAME(ldexp)(real x, int n) {
    int exponent;
    real m = fraction_of(x, &exponent);
    if (x == 0 || is_infinite(x) || is_nan(x)) return x;
    n = n < -3 * HUGE_EXPONENT ? -3 * HUGE_EXPONENT : n > 3 * HUGE_EXPONENT ? 3 * HUGE_EXPONENT : n;
    exponent += n;
    const int limit = EXPONENT_BIAS + MANTISSA_BITS + 8;
    exponent = exponent < -limit ? -limit : exponent > limit ? limit : exponent;
    return scale(m, exponent);
}

EXPORT real NAME(scalbn)(real x, int n) {
    return NAME(ldexp)(x, n);
}

EXPORT int NAME_D(isnan)(real x) {
    return is_nan(x);
}

EXPORT int NAME_D(isinf)(real x) {
    return is_infinite(x);
}

#if REAL_BITS == 64
EXPORT int __nv_isfinited(double x)
#else
EXPORT int __nv_finitef(float x)
#endif
{
    return ABS(x) < INFINITE;
}

EXPORT int NAME_D(signbit)(real x) {
    return (TO_BITS(x) & SIGN_BIT) != 0;
}

EXPORT real NAME(nan)(const signed char *text) {
    (void)text; // its characters choose among the quiet ones; all instructions give this one
    return REAL_BITS == 32 ? OF_BITS(INFINITE_BITS | MANTISSA_MASK)
                           : OF_BITS(INFINITE_BITS | (MANTISSA_MASK / 2 + 1));
}
