// What exp() and the functions made of it share.
#pragma once

#include "real.h"

#if REAL_BITS == 64
#define EXP_HIGHEST 709.79
#define EXP_LOWEST  -745.14
#else
#define EXP_HIGHEST 88.73f
#define EXP_LOWEST  -103.98f
#endif

/// exp(r + rest) 2^n, |r| <= 0.36; `rest` is below the last place of 1. `x` is about the exponent of it all.
INLINE real exp_of_parts(real r, real rest, int n, real x) {
    real grown = r + FMA(r * r, exp_tail(r), rest);
    real result = scale(grown + 1, n);
    // away from where the exponent of the result leaves the range of scale()
    result = x > EXP_HIGHEST + 40 ? INFINITE : result;
    return x < EXP_LOWEST - 40 ? 0 : result;
}

/// exp(high + low). `low` is small beside 1.
INLINE real exp_of_pair(real high, real low) {
    real n = ROUND_TO_EVEN(high * LOG2_E);
    real r = FMA(-n, LN2_HIGH, high);
    r = FMA(-n, LN2_LOW, r);
    Pair sum = quick_sum(r, low);
    return exp_of_parts(sum.high, sum.low, (int)n, high);
}

#if REAL_BITS == 32
INLINE float power_of_2_approx(float x) {
    return CHOOSE(__nvvm_ex2_approx, x);
}
#endif

/// exp(x) 2^shift.
INLINE real exp_scaled(real x, int shift) {
#if REAL_BITS == 64
    double n = ROUND_TO_EVEN(x * LOG2_E);
    double r = FMA(-n, LN2_HIGH, x);
    return exp_of_parts(FMA(-n, LN2_LOW, r), 0, (int)n + shift, x);
#else
    float n = TRUNC(x * LOG2_E);
    float r = FMA(-n, LN2_HIGH, x);
    r = FMA(-n, LN2_LOW, r);
    // n + shift is whole, so that its power is exact even where it is subnormal
    float result = power_of_2_approx(r * LOG2_E) * power_of_2_approx(n + (float)shift);
    result = x > 105.0f ? INFINITE : result;
    return x < -105.0f ? 0.0f : result;
#endif
}
