// The argument reduction of the trigonometric functions, and their polynomials.
#pragma once

#include "real.h"

/// An angle less a whole number of quarter turns, from about -pi/4 to pi/4, and that number modulo 4.
typedef struct {
    real high, low;
    int quadrant;
} Reduced;

// 2/pi, most significant word first; a word of zeros stands before it.
#if REAL_BITS == 64
TABLE u64 two_over_pi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};
#define MULTIPLY_HIGH(a, b) __nvvm_mulhi_ull(a, b)
#define LEADING_ZEROS(x)    __builtin_clzll(x)
#else
TABLE uint two_over_pi[] = {
    0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
    0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
};
#define MULTIPLY_HIGH(a, b) __nvvm_mulhi_ui(a, b)
#define LEADING_ZEROS(x)    __builtin_clz(x)
#endif

/// A word of 2/pi from this bit on.
INLINE bits word_from(int bit) {
    int word = bit / REAL_BITS, shift = bit % REAL_BITS;
    bits first = two_over_pi[word], next = two_over_pi[word + 1];
    return shift ? first << shift | next >> (REAL_BITS - shift) : first;
}

/// Payne and Hanek's reduction: of the product with 2/pi it makes only the words that are not whole turns. For |x| >= 1.
static LARGE Reduced reduce_large(real x) {
    bits b = TO_BITS(x) & ~SIGN_BIT;
    if (b >= INFINITE_BITS) return (Reduced){NOT_A_NUMBER, NOT_A_NUMBER, 0};
    bits mantissa = (b & MANTISSA_MASK) | ((bits)1 << MANTISSA_BITS);
    // |x| is mantissa 2^e; bit e - 1 of 2/pi is the first that counts, with a weight of two quarter turns
    int e = (int)(b >> MANTISSA_BITS) - EXPONENT_BIAS - MANTISSA_BITS;
    int bit = e - 2 + REAL_BITS;
    bits w0 = word_from(bit), w1 = word_from(bit + REAL_BITS), w2 = word_from(bit + 2 * REAL_BITS);
    bits low = MULTIPLY_HIGH(mantissa, w2);
    bits middle = mantissa * w1 + low;
    bits high = mantissa * w0 + MULTIPLY_HIGH(mantissa, w1) + (middle < low);
    int quadrant = (int)(high >> (REAL_BITS - 2));
    high = high << 2 | middle >> (REAL_BITS - 2);
    middle <<= 2;
    // the nearest quarter turn, and how far it is
    int beyond = (int)(high >> (REAL_BITS - 1));
    quadrant += beyond;
    if (beyond) {
        middle = ~middle + 1;
        high = ~high + (middle == 0);
    }
    int zeros = high ? LEADING_ZEROS(high) : REAL_BITS - 1;
    if (zeros) high = high << zeros | middle >> (REAL_BITS - zeros);
    real first = (real)(high >> (REAL_BITS - MANTISSA_BITS - 1)); // exact
    real second = (real)(high & (((bits)1 << (REAL_BITS - MANTISSA_BITS - 1)) - 1));
    real unit = power_of_2(-(MANTISSA_BITS + 1) - zeros);
    first *= unit;
    second *= unit * power_of_2(-(REAL_BITS - MANTISSA_BITS - 1));
    Pair product = exact_product(first, PI / 2);
    product.low += FMA(second, PI / 2, first * (PI_LOW / 2));
    product = quick_sum(product.high, product.low);
    int negative = (x < 0) != beyond;
    quadrant = x < 0 ? -quadrant : quadrant;
    if (negative) product = (Pair){-product.high, -product.low};
    return (Reduced){product.high, product.low, quadrant};
}

// pi/2 in three parts. The first has zeros at its end for float: x - n times it is exact below 2^16.
#if REAL_BITS == 64
#define HALF_PI_1      0x1.921fb54442d18p+0
#define HALF_PI_2      0x1.1a62633145c06p-54
#define HALF_PI_3      0x1.c1cd129024e08p-107
#define REDUCED_EASILY 0x1p30
#else
#define HALF_PI_1      0x1.921fb4p+0f
#define HALF_PI_2      0x1.4442d0p-24f
#define HALF_PI_3      0x1.846988p-48f
#define REDUCED_EASILY 105615.0f
#endif

INLINE Reduced reduce(real x) {
    if (!(ABS(x) < REDUCED_EASILY)) return reduce_large(x);
    int quadrant = (int)ROUND_TO_EVEN(x * R(0x1.45f306dc9c883p-1));
    real n = (real)quadrant;
    real a = FMA(-n, HALF_PI_1, x);
#if REAL_BITS == 64
    Pair taken = exact_product(n, HALF_PI_2), rest = exact_sum(a, -taken.high);
    rest = quick_sum(rest.high, FMA(-n, HALF_PI_3, rest.low - taken.low));
    return (Reduced){rest.high, rest.low, quadrant};
#else
    return (Reduced){FMA(-n, HALF_PI_3, FMA(-n, HALF_PI_2, a)), 0, quadrant};
#endif
}

/// sin(r + low) less r, |r| <= pi/4.
INLINE real sin_beyond(real r, real low) {
    real z = r * r;
    return FMA(r * z, sin_tail(z), FMA(R(-0.5) * z, low, low));
}

/// cos(r + low) - 1.
INLINE real cos_beyond(real r, real low) {
    real z = r * r;
    return FMA(z, FMA(z, cos_tail(z), R(-0.5)), -(r * low));
}

/// sin(r + low). For float, low is 0.
INLINE real sin_reduced(real r, real low) {
    real z = r * r;
    return REAL_BITS == 32 ? FMA(r * z, sin_tail(z), r) : r + sin_beyond(r, low);
}

INLINE real cos_reduced(real r, real low) {
    real z = r * r;
    return FMA(z, FMA(z, cos_tail(z), R(-0.5)), REAL_BITS == 64 ? FMA(-r, low, R(1.0)) : R(1.0));
}

/// sin() and cos() of so many quarter turns more, from those of the rest.
INLINE real sin_turned(real s, real c, int quadrant) {
    real result = quadrant & 1 ? c : s;
    return quadrant & 2 ? -result : result;
}
