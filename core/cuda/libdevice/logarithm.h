// What log() and the functions made of it share.
#pragma once

#include "real.h"

#define SQRT_HALF R(0x1.6a09e667f3bcdp-1)

/// A positive number as m 2^n, m about 1; a subnormal one, too.
INLINE real split(real x, int *n) {
    int small = x < OF_BITS((bits)1 << MANTISSA_BITS);
    bits b = TO_BITS(small ? x * power_of_2(SUBNORMAL_SHIFT) : x);
    *n = (int)((signed_bits)(b - TO_BITS(SQRT_HALF)) >> MANTISSA_BITS);
    b -= (bits)(signed_bits)*n << MANTISSA_BITS;
    *n -= small ? SUBNORMAL_SHIFT : 0;
    return OF_BITS(b);
}

/// log(1 + f) for 1 + f from sqrt(1/2) to sqrt(2): f less this. It is small beside f.
INLINE real below_f(real f) {
    real s = quotient(f, f + 2), z = s * s;
    return mul_rn(s, FMA(-z, log_tail(z), f));
}

/// log(1 + f) + n log(2).
INLINE real log_of_parts(real f, int n) {
    real whole = (real)n;
    real below = FMA(-whole, LN2_LOW, below_f(f));
    return FMA(whole, LN2_HIGH, f - below);
}

/// log() of what is positive and finite.
INLINE real log_of(real x) {
    int n;
    real m = split(x, &n);
    return log_of_parts(m - 1, n);
}

/// The result for any number, when it is known for those that are positive and finite.
INLINE real with_poles(real x, real result) {
    // negative numbers, infinity and what is no number are above all others as bits
    result = TO_BITS(x) >= INFINITE_BITS ? FMA(x, INFINITE, INFINITE) : result;
    return x == 0 ? -INFINITE : result;
}

/// log(1 + x), -1 < x < infinity.
INLINE real log1p_of(real x) {
    real sum = x + 1;
    int n;
    real m = split(sum, &n);
    // 2^-n, which is subnormal for the largest n; these numbers lose nothing when 1 is left out
    real factor = power_of_2(-(n < EXPONENT_BIAS - 2 ? n : EXPONENT_BIAS - 2));
    real f = FMA(x, factor, factor - 1);
    f = n > MANTISSA_BITS + 2 ? m - 1 : f;
    return log_of_parts(f, n);
}

/// log() as a sum. m 2^n is the number, s is (m - 1) / (m + 1); the sum is n log(2) + 2 s + what is left.
typedef struct {
    real whole;    // n
    real s, s_low; // in two parts
    Pair sum;      // of n log(2) and 2 s, without what is small
} LogParts;

INLINE LogParts log_parts(real x) {
    int n;
    real m = split(x, &n);
    LogParts l = {.whole = (real)n};
    real f = m - 1, d = m + 1, d_low = m - (d - 1), inverse = quotient(1, d);
    l.s = mul_rn(f, inverse);
    l.s_low = FMA(-l.s, d_low, FMA(-l.s, d, f)) * inverse;
    l.sum = quick_sum(mul_rn(l.whole, LN2_HIGH), l.s + l.s);
    return l;
}

/// log() as a sum that is good to some ten bits more than a number has.
INLINE Pair log_pair(real x) {
    LogParts l = log_parts(x);
    Pair square = exact_product(l.s, l.s);
    square.low = FMA(2 * l.s, l.s_low, square.low);
    // s^3 (2/3 + rest), 2/3 in two parts
#if REAL_BITS == 64
    const real two_thirds = 0x1.5555555555555p-1, two_thirds_low = 0x1.5555555555555p-55;
#else
    const real two_thirds = 0x1.555556p-1f, two_thirds_low = -0x1.555556p-26f;
#endif
    Pair factor = quick_sum(two_thirds, FMA(square.high, log_tail_2(square.high), two_thirds_low));
    Pair cube = exact_product(square.high, l.s);
    cube.low += FMA(square.high, l.s_low, square.low * l.s);
    Pair last = exact_product(cube.high, factor.high);
    last.low += FMA(cube.high, factor.low, cube.low * factor.high);
    Pair total = quick_sum(l.sum.high, last.high);
    real low = total.low + (l.sum.low + (FMA(l.whole, LN2_LOW, 2 * l.s_low) + last.low));
    return quick_sum(total.high, low);
}

/// The same, good to some five bits more: what is left is at most a hundredth of it all, and rounded once.
INLINE Pair log_pair_quick(real x) {
    LogParts l = log_parts(x);
    real square = l.s * l.s;
    real low = l.sum.low + FMA(l.whole, LN2_LOW, 2 * l.s_low);
    return quick_sum(l.sum.high, FMA(l.s * square, log_tail(square), low));
}
