// log, log2, log10, log1p, logb, ilogb and the inverse hyperbolic functions.
#include "logarithm.h"

EXPORT real NAME(log)(real x) {
    return with_poles(x, log_of(x));
}

/// log(m) times the factor that `high` and `low` are together, plus n times `whole`, which is in two parts, too.
INLINE real log_by(real x, real high, real low, real whole_high, real whole_low) {
    int n;
    real f = split(x, &n) - 1;
    Pair natural = quick_sum(f, -below_f(f));
    Pair product = exact_product(natural.high, high);
    product.low = FMA(natural.high, low, FMA(natural.low, high, product.low));
    if (whole_low != 0) product.low = FMA((real)n, whole_low, product.low);
    Pair sum = quick_sum(whole_high == 1 ? (real)n : mul_rn((real)n, whole_high), product.high);
    return with_poles(x, sum.high + (sum.low + product.low));
}

EXPORT real NAME(log2)(real x) {
    return log_by(x, LOG2_E, LOG2_E_LOW, 1, 0);
}

EXPORT real NAME(log10)(real x) {
#if REAL_BITS == 64
    return log_by(x, LOG10_E, LOG10_E_LOW, 0x1.34413509f0000p-2, 0x1.e7fbcc47c4acdp-40);
#else
    return log_by(x, LOG10_E, LOG10_E_LOW, 0x1.344p-2f, 0x1.3509f8p-18f);
#endif
}

EXPORT real NAME(log1p)(real x) {
    real result = log1p_of(x);
    result = x == INFINITE ? x : result;
    result = x == -1 ? -INFINITE : result;
    result = x < -1 || is_nan(x) ? NOT_A_NUMBER : result;
    return x == 0 ? x : result;
}

EXPORT int NAME(ilogb)(real x) {
    real a = ABS(x);
    int small = a < OF_BITS((bits)1 << MANTISSA_BITS);
    bits b = TO_BITS(small ? a * power_of_2(SUBNORMAL_SHIFT) : a);
    int n = (int)(b >> MANTISSA_BITS) - EXPONENT_BIAS - (small ? SUBNORMAL_SHIFT : 0);
    n = a == INFINITE ? 0x7fffffff : n;
    return a == 0 || is_nan(x) ? -0x7fffffff - 1 : n;
}

EXPORT real NAME(logb)(real x) {
    real result = (real)NAME(ilogb)(x);
    result = x == 0 ? -INFINITE : result;
    result = is_infinite(x) ? INFINITE : result;
    return is_nan(x) ? x : result;
}

// Above this, x^2 + 1 and x^2 - 1 are x^2.
#define SQUARE_ALONE R(0x1p29)
#define LN2          R(0x1.62e42fefa39efp-1)

EXPORT real NAME(asinh)(real x) {
    real a = ABS(x), square = a * a;
    int large = a > SQUARE_ALONE;
    real small = a + quotient(square, 1 + SQRT(FMA(a, a, 1)));
    real result = log1p_of(large ? a - 1 : small) + (large ? LN2 : 0);
    result = is_infinite(x) || is_nan(x) ? a : result;
    return COPYSIGN(a == 0 ? a : result, x);
}

EXPORT real NAME(acosh)(real x) {
    real t = x - 1;
    int large = x > SQUARE_ALONE;
    real small = t + SQRT(FMA(t, t, 2 * t));
    real result = log1p_of(large ? t : small) + (large ? LN2 : 0);
    result = x == INFINITE ? x : result;
    result = x == 1 ? 0 : result;
    return x >= 1 ? result : NOT_A_NUMBER;
}

EXPORT real NAME(atanh)(real x) {
    real a = ABS(x);
    real result = R(0.5) * log1p_of(div_rn(2 * a, 1 - a));
    result = a == 1 ? INFINITE : result;
    result = a <= 1 ? result : NOT_A_NUMBER;
    return COPYSIGN(a < OF_BITS(ONE_BITS - ((bits)(MANTISSA_BITS / 2 + 2) << MANTISSA_BITS)) ? a : result, x);
}
