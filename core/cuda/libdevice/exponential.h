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

/// exp(high + low) 2^shift. `low` is small beside the last place of 1.
INLINE real exp_of_pair(real high, real low, int shift) {
    real n = ROUND_TO_EVEN(high * LOG2_E);
    real r = FMA(-n, LN2_HIGH, high);
    r = FMA(-n, LN2_LOW, r);
    real grown = r + FMA(r * r, exp_tail(r), low);
    real result = scale(grown + 1, (int)n + shift);
    // away from where the exponent of the result leaves the range of scale()
    result = high > EXP_HIGHEST + 40 ? INFINITE : result;
    return high < EXP_LOWEST - 40 ? 0 : result;
}

#if REAL_BITS == 32
INLINE float power_of_2_approx(float x) {
    return FLUSHES ? __nvvm_ex2_approx_ftz_f(x) : __nvvm_ex2_approx_f(x);
}
#endif

/// exp(x) 2^shift.
INLINE real exp_scaled(real x, int shift) {
#if REAL_BITS == 64
    return exp_of_pair(x, 0, shift);
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
