// exp, exp2, exp10, expm1 and the hyperbolic functions.
#include "exponential.h"

EXPORT real NAME(exp)(real x) {
    return exp_scaled(x, 0);
}

EXPORT real NAME(exp2)(real x) {
#if REAL_BITS == 64
    double n = ROUND_TO_EVEN(x), r = x - n;
    double high = mul_rn(r, 0x1.62e42fefa39efp-1);
    double low = FMA(r, 0x1.abc9e3b39803fp-56, FMA(r, 0x1.62e42fefa39efp-1, -high));
    double grown = high + FMA(high * high, exp_tail(high), low);
    double result = scale(grown + 1, (int)n);
    result = x >= 1024 ? INFINITE : result;
    return x < -1080 ? 0 : result;
#else
    return power_of_2_approx(x);
#endif
}

EXPORT real NAME(exp10)(real x) {
#if REAL_BITS == 64
    double n = ROUND_TO_EVEN(x * 0x1.a934f0979a371p+1);
    double r = FMA(-n, 0x1.34413509f0000p-2, x); // log10(2), in two parts
    r = FMA(-n, 0x1.e7fbcc47c4acdp-40, r);
    double high = mul_rn(r, 0x1.26bb1bbb55516p+1); // log(10), in two parts
    double low = FMA(r, -0x1.f48ad494ea3e9p-53, FMA(r, 0x1.26bb1bbb55516p+1, -high));
    double grown = high + FMA(high * high, exp_tail(high), low);
    double result = scale(grown + 1, (int)n);
    result = x > 310 ? INFINITE : result;
    return x < -330 ? 0 : result;
#else
    float n = TRUNC(x * 0x1.a934f0p+1f);
    float r = FMA(-n, 0x1.344p-2f, x);
    r = FMA(-n, 0x1.3509f8p-18f, r);
    float result = power_of_2_approx(FMA(r, 0x1.2f346ep-24f, r * 0x1.a934f0p+1f)) * power_of_2_approx(n);
    result = x > 46.0f ? INFINITE : result;
    return x < -46.0f ? 0.0f : result;
#endif
}

INLINE real expm1_of(real x) {
    real n = ROUND_TO_EVEN(x * LOG2_E);
    real r = FMA(-n, LN2_HIGH, x);
    r = FMA(-n, LN2_LOW, r);
    real square = r * r, tail = exp_tail(r);
    // 2^n may be beyond the range where the result is not: half of it, twice
    real half = power_of_2((int)MAX(MIN(n, (real)EXPONENT_BIAS + 1), R(-100.0)) - 1);
    real result = FMA(square * half, tail, FMA(r, half, half - R(0.5))) * 2;
    result = n == 0 ? FMA(square, tail, r) : result;
    result = x > EXP_HIGHEST ? INFINITE : result;
    return x < R(-50.0) ? R(-1.0) : result;
}

EXPORT real NAME(expm1)(real x) {
    return x == 0 ? x : expm1_of(x);
}

EXPORT real NAME(sinh)(real x) {
    real a = ABS(x), z = x * x;
    real half = exp_scaled(a, -1);
    real large = half - quotient(R(0.25), half);
    real small = FMA(a * z, sinh_tail(z), a);
    large = a > R(30.0) ? half : large;
    return COPYSIGN(a < 1 ? small : large, x);
}

EXPORT real NAME(cosh)(real x) {
    real a = ABS(x);
    real half = exp_scaled(a, -1);
    return a > R(30.0) ? half : half + quotient(R(0.25), half);
}

EXPORT real NAME(tanh)(real x) {
    real a = ABS(x), z = x * x;
    real large = 1 - quotient(R(2.0), add_rn(exp_scaled(2 * MIN(a, R(30.0)), 0), 1));
    real small = FMA(a * z, tanh_tail(z), a);
    large = is_nan(x) ? x : large;
    return COPYSIGN(a < R(0.55) ? small : large, x);
}
