// The error function, the normal distribution, and their inverses.
#include "exponential.h"
#include "logarithm.h"

/// exp(x^2) erfc(x) for x >= 0.
INLINE real erfcx_positive(real x) {
    real t = div_rn(x - 4, x + 4);
    real result = div_rn(erfcx_part(t), FMA(2, x, 1));
    real far = div_rn(R(0x1.20dd750429b6dp-1),
                      x); // 1 / sqrt(pi): the next term is beyond the last place
    return x > R(1e9) ? far : result;
}

/// exp(-x^2 / divisor), divisor being 1 or 2.
INLINE real exp_of_square(real x, real by) {
    Pair square = exact_product(x, x);
    real high = square.high * by;
    return exp_of_pair(high, is_infinite(high) ? 0 : square.low * by);
}

/// erf(x) for |x| < 1.
INLINE real erf_small(real x) {
    return FMA(x, erf_tail(x * x), x);
}

INLINE real erfc_positive(real x) {
    real result = mul_rn(exp_of_square(x, -1), erfcx_positive(x));
    return x > R(30.0) ? 0 : result;
}

EXPORT real NAME(erfcx)(real x) {
    real a = ABS(x);
    if (a < R(0.5)) return exp_of_square(a, 1) * (1 - erf_small(x));
    real result = erfcx_positive(a);
    real grown = exp_of_square(a, 1);
    result = x < 0 ? FMA(2, grown, -result) : result;
    return is_nan(x) ? x : x < R(-30.0) ? INFINITE : result;
}

EXPORT real NAME(erfc)(real x) {
    real a = ABS(x);
    if (a < R(0.5)) return 1 - erf_small(x);
    real result = erfc_positive(a);
    result = x < 0 ? 2 - result : result;
    return is_nan(x) ? x : result;
}

EXPORT real NAME(erf)(real x) {
    real a = ABS(x), small = erf_small(a);
#if REAL_BITS == 64
    double large = 1 - erfc_positive(a);
#else
    float large = 1 - power_of_2_approx(erf_log(MIN(a, 4.0f) - 2.5f));
#endif
    return is_nan(x) ? x : COPYSIGN(a < 1 ? small : large, x);
}

EXPORT real NAME(normcdf)(real x) {
    real a = ABS(x);
    if (a < R(0.7)) return FMA(erf_small(x * SQRT_HALF), R(0.5), R(0.5));
    real result = mul_rn(exp_of_square(a, R(-0.5)), R(0.5) * erfcx_positive(mul_rn(a, SQRT_HALF)));
    result = a > R(45.0) ? 0 : result;
    result = x > 0 ? 1 - result : result;
    return is_nan(x) ? x : result;
}

/// erfinv(x) / x - 1 of w = -log(1 - x^2), 0 <= w.
INLINE real erfinv_part(real w) {
    if (w < 6) return erfinv_centre(w - 3);
    real s = SQRT(w);
    if (s < 4) return erfinv_near(s - R(3.2));
    if (s < 6) return erfinv_far(s - 5);
#if REAL_BITS == 64
    if (s > 12) return erfinv_farthest(s - 19);
#endif
    return erfinv_farther(s - 9);
}

EXPORT real NAME(erfinv)(real x) {
#if REAL_BITS == 64
    real result = FMA(x, erfinv_part(-log_of(FMA(-x, x, 1))), x);
#else
    real z = x * x;
    real result = FMA(x, z < 0.7f ? erfinv_small(z) : erfinv_part(-log_of(FMA(-x, x, 1))), x);
#endif
    result = ABS(x) < 1 ? COPYSIGN(result, x) : NOT_A_NUMBER;
    return ABS(x) == 1 ? x * INFINITE : result;
}

INLINE real erfcinv_of(real x) {
    real result = FMA(1 - x, erfinv_part(-log_of(FMA(-x, x, 2 * x))), 1 - x);
    result = x > 0 && x < 2 ? result : NOT_A_NUMBER;
    result = x == 0 ? INFINITE : result;
    return x == 2 ? -INFINITE : result;
}

EXPORT real NAME(erfcinv)(real x) {
    return erfcinv_of(x);
}

EXPORT real NAME(normcdfinv)(real x) {
    return erfcinv_of(2 * x) * R(-0x1.6a09e667f3bcdp+0);
}
