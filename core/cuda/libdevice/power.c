// pow and powi.
#include "exponential.h"
#include "logarithm.h"

/// |x|^y for x and y that are neither zero nor infinite nor not a number.
INLINE real power_of(real x, real y) {
    Pair l = REAL_BITS == 64 ? log_pair(ABS(x)) : log_pair_quick(ABS(x));
    Pair p = exact_product(l.high, y);
    real low = FMA(l.low, y, p.low);
    low = ABS(p.high) > -EXP_LOWEST + 40 ? 0 : low; // may be infinite there
    return exp_of_pair(p.high, low);
}

/// x^y, when the power of |x| is known where both are numbers.
INLINE real any_power_of(real x, real y, real result) {
    real a = ABS(x), half = y * R(0.5);
    int whole = TRUNC(y) == y, odd = whole && TRUNC(half) != half;
    result = (x == 0 || is_infinite(x)) ? ((x == 0) == (y < 0) ? INFINITE : 0) : result;
    result = is_infinite(y) ? (a == 1 ? 1 : (a > 1) == (y > 0) ? INFINITE : 0) : result;
    result = x < 0 && !whole && a != INFINITE ? NOT_A_NUMBER : result;
    // the sign of an odd power, -0 and -infinity included
    result = odd ? COPYSIGN(result, x) : result;
    result = is_nan(x) || is_nan(y) ? NOT_A_NUMBER : result;
    return y == 0 || x == 1 ? 1 : result;
}

EXPORT real NAME(pow)(real x, real y) {
    real result = power_of(x, y);
    // as bits, negative numbers are above infinity
    if (x == 0 || TO_BITS(x) >= INFINITE_BITS || !(ABS(y) < INFINITE)) result = any_power_of(x, y, result);
    return result;
}

EXPORT real NAME(powi)(real x, int n) {
    uint left = n < 0 ? 0u - (uint)n : (uint)n;
    real result = 1, factor = x;
    for (; left; left >>= 1) {
        if (left & 1) result *= factor;
        factor *= factor;
    }
    if (n >= 0) return result;
    return is_infinite(result) ? NAME(pow)(x, (real)n) : div_rn(1, result); // which may be a number, if small
}
