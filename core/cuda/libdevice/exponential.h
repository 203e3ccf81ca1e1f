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

#if REAL_BITS == 32
INLINE float power_of_2_approx(float x) {
    return CHOOSE(__nvvm_ex2_approx, x);
}
#endif

/// exp(high + low), of numbers. `low` is small beside 1, but where `high` is beyond all results.
INLINE real exp_of_pair(real high, real low) {
    real x = MAX(MIN(high, EXP_HIGHEST + 40), EXP_LOWEST - 40);
    real n = ROUND_TO_EVEN(x * LOG2_E);
    real r = FMA(-n, LN2_HIGH, x);
    Pair sum = quick_sum(FMA(-n, LN2_LOW, r), low);
    real grown = sum.high + FMA(sum.high * sum.high, exp_tail(sum.high), sum.low);
#if REAL_BITS == 64
    return scale(grown + 1, (int)n);
#else
    // the power of a whole number is exact; but 2^n itself may be infinite or 0 where the result is not
    int small = n < -100;
    float factor = small ? 0x1p-24f : 2.0f;
    return FMA(grown, factor, factor) * power_of_2_approx(n + (small ? 24.0f : -1.0f));
#endif
}

/// exp(x) 2^shift.
INLINE real exp_scaled(real x, int shift) {
#if REAL_BITS == 64
    double n = ROUND_TO_EVEN(x * LOG2_E);
    double r = FMA(-n, LN2_HIGH, x);
    r = FMA(-n, LN2_LOW, r);
    double result = scale(FMA(r * r, exp_tail(r), r) + 1, (int)n + shift);
    // away from where the exponent of the result leaves the range of scale()
    result = x > EXP_HIGHEST + 40 ? INFINITE : result;
    return x < EXP_LOWEST - 40 ? 0 : result;
#else
    // beyond the bounds of n the rest of x is so large that its power is infinite or 0, too
    float n = TRUNC(MAX(MIN(x * LOG2_E, 160.0f), -160.0f));
    float r = FMA(-n, LN2_HIGH, x);
    r = FMA(-n, LN2_LOW, r);
    // n + shift is whole, so that its power is exact even where it is subnormal
    return power_of_2_approx(r * LOG2_E) * power_of_2_approx(n + (float)shift);
#endif
}
