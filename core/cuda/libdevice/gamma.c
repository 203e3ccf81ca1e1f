// The gamma function and its logarithm.
#include "exponential.h"
#include "logarithm.h"

#if REAL_BITS == 64
#define HALF_LOG_2PI 0x1.d67f1c864beb5p-1
#define SQRT_2PI     0x1.40d931ff62706p+1
#define LOG_PI       0x1.250d048e7a1bdp+0
#else
#define HALF_LOG_2PI 0x1.d67f1cp-1f
#define SQRT_2PI     0x1.40d932p+1f
#define LOG_PI       0x1.250d04p+0f
#endif

/// sin(pi x), for the reflection formulas.
real NAME(sinpi)(real x);

/// lgamma(x) for x > 0.
INLINE real lgamma_positive(real x) {
    if (x >= 8) {
        real inverse = div_rn(1, x), rest = FMA(stirling(inverse * inverse), inverse, HALF_LOG_2PI);
        // log(x) - 1 loses nothing: log(8) is above 2
        return FMA(x - R(0.5), log_of(x) - 1, rest - R(0.5));
    }
    real factor = 1, t = x;
    while (t >= 3) {
        t -= 1;
        factor *= t;
    }
    real zero, part; // of the logarithm, and the quotient by what t is beyond it
    if (t < R(0.5) || (t >= R(0.75) && t < R(1.5))) {
        zero = t < R(0.5) ? 0 : 1; // 0 is the zero of lgamma(t + 1)
        part = lgamma_at_1(t - zero);
    } else {
        zero = t < R(0.75) ? 1 : 2;
        part = lgamma_at_2(t - zero);
    }
    if (t < R(0.75)) return FMA(t - zero, part, -log_of(t));
    return x < 3 ? (t - zero) * part : FMA(t - zero, part, log_of(factor));
}

EXPORT real NAME(lgamma)(real x) {
    real a = ABS(x);
    if (is_nan(x)) return x;
    if (a == INFINITE) return INFINITE;
    if (x <= 0 && FLOOR(x) == x) return INFINITE;
    if (a < OF_BITS(ONE_BITS - ((bits)(MANTISSA_BITS + 8) << MANTISSA_BITS))) return -log_of(a);
    real result = lgamma_positive(a);
    if (x > 0) return result + 0; // of 1 and 2 it is +0
    return log_of(div_rn(PI, a * ABS(NAME(sinpi)(a)))) - result;
}

/// tgamma(x) for 1/2 <= x, or 1 / tgamma(x + 1) times what is missing for x < 1/2: near 0, by recurrence.
INLINE real tgamma_near(real x) {
    real factor = 1, t = x;
    while (t > R(1.5)) {
        t -= 1;
        factor *= t;
    }
    real below = 1;
    while (t < R(0.5)) {
        below *= t;
        t += 1;
    }
    real u = t - 1;
    // a sum t that was rounded is far from where it matters: below 1/2, t + 1 loses what u regains
    u = below == 1 || x < R(-0.5) ? u : x;
    return div_rn(factor, below * FMA(u, gamma_inverse(u), 1));
}

/// The root of tgamma(x) / sqrt(2 pi), or of its inverse, for large x: it overflows no earlier than tgamma(x).
INLINE real root_of_gamma(real x, int invert) {
    real inverse = div_rn(1, x), rest = mul_rn(stirling(inverse * inverse), inverse);
    Pair l = log_pair(x);
    real y = x - R(0.5);
    Pair p = exact_product(l.high, y);
    p.low = FMA(l.low, y, p.low);
    Pair exponent = quick_sum(p.high, -x);
    exponent.low += p.low;
    Pair all = quick_sum(exponent.high, rest);
    all.low += exponent.low;
    real half = invert ? R(-0.5) : R(0.5);
    return exp_of_pair(all.high * half, all.low * half);
}

EXPORT real NAME(tgamma)(real x) {
    real a = ABS(x);
    if (is_nan(x)) return x;
    if (x == 0) return div_rn(1, x);
    if (a == INFINITE) return x > 0 ? x : NOT_A_NUMBER;
    if (x < 0 && FLOOR(x) == x) return NOT_A_NUMBER;
    if (a < OF_BITS(ONE_BITS - ((bits)(MANTISSA_BITS + 8) << MANTISSA_BITS))) return div_rn(1, x);
    if (a < 10) return tgamma_near(x);
    if (a > R(200.0)) {
        real none = FLOOR(x * R(0.5)) * 2 == FLOOR(x) ? R(0.0) : R(-0.0);
        return x > 0 ? INFINITE : none;
    }
    real root = root_of_gamma(a, x < 0);
    if (x > 0) return SQRT_2PI * root * root;
    // -pi / (x sin(pi x) tgamma(-x))
    return div_rn(PI, a * -NAME(sinpi)(a) * SQRT_2PI) * root * root;
}
