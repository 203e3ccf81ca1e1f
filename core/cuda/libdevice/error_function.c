// The error function, the normal distribution, and their inverses.
#include "exponential.h"
#include "logarithm.h"

/// exp(x^2) erfc(x) for x >= 0.
INLINE real erfcx_positive(real x) {
    real t = exact_quotient(x - 4, x + 4);
    real result = exact_quotient(erfcx_part(t), FMA(2, x, 1));
    real far = exact_quotient(R(0x1.20dd750429b6dp-1),
                              x); // 1 / sqrt(pi): the next term is beyond the last place
    return x > R(1e9) ? far : result;
}

/// exp(-x^2 / divisor), divisor being 1 or 2.
INLINE real exp_of_square(real x, real by) {
    Pair square = exact_product(x, x);
    real high = square.high * by;
    return exp_of_pair(high, is_infinite(high) ? 0 : square.low * by, 0);
}

INLINE real erfc_positive(real x) {
    real result = exp_of_square(x, -1) * erfcx_positive(x);
    return x > R(30.0) ? 0 : result;
}

EXPORT real NAME(erfcx)(real x) {
    real a = ABS(x);
    real result = erfcx_positive(a);
    real grown = exp_of_square(a, 1);
    result = x < 0 ? FMA(2, grown, -result) : result;
    return is_nan(x) ? x : x < R(-30.0) ? INFINITE : result;
}

EXPORT real NAME(erfc)(real x) {
    real result = erfc_positive(ABS(x));
    result = x < 0 ? 2 - result : result;
    return is_nan(x) ? x : result;
}

EXPORT real NAME(erf)(real x) {
    real a = ABS(x), z = x * x;
    real small = FMA(a, erf_tail(z), a);
#if REAL_BITS == 64
    double large = 1 - erfc_positive(a);
#else
    float large = 1 - power_of_2_approx(erf_log(MIN(a, 4.0f) - 2.5f));
#endif
    return is_nan(x) ? x : COPYSIGN(a < 1 ? small : large, x);
}

EXPORT real NAME(normcdf)(real x) {
    real a = ABS(x);
    real result = exp_of_square(a, R(-0.5)) * (R(0.5) * erfcx_positive(a * SQRT_HALF));
    result = a > R(45.0) ? 0 : result;
    result = x > 0 ? 1 - result : result;
    return is_nan(x) ? x : result;
}

/// erfinv(x) / x of w = -log(1 - x^2), 0 <= w.
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
    real result = x * erfinv_part(-log_of(FMA(-x, x, 1)));
    result = ABS(x) < 1 ? result : NOT_A_NUMBER;
    return ABS(x) == 1 ? x * INFINITE : result;
}

INLINE real erfcinv_of(real x) {
    real result = (1 - x) * erfinv_part(-log_of(FMA(-x, x, 2 * x)));
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
