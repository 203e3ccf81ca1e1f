// Remainders, exact for all arguments: division of the mantissas as whole numbers.
#include "real.h"

/// |x| as a whole number times 2^(exponent - EXPONENT_BIAS - MANTISSA_BITS).
INLINE u64 whole_of(real x, int *exponent) {
    bits b = TO_BITS(x) & ~SIGN_BIT;
    *exponent = (int)(b >> MANTISSA_BITS);
    if (*exponent == 0) {
        *exponent = 1;
        return b;
    }
    return (b & MANTISSA_MASK) | ((bits)1 << MANTISSA_BITS);
}

/// The number of that whole number and exponent; it needs no rounding.
INLINE real real_of(u64 whole, int exponent) {
    if (exponent < 1) {
        whole >>= 1;
        exponent = 1;
    }
    if (whole == 0) return 0;
    int shift = __builtin_clzll(whole) - (63 - MANTISSA_BITS);
    if (shift >= exponent) return OF_BITS((bits)whole << (exponent - 1));
    bits mantissa = shift < 0 ? (bits)(whole >> -shift) : (bits)(whole << shift);
    return OF_BITS(((bits)(exponent - shift) << MANTISSA_BITS) + (mantissa & MANTISSA_MASK));
}

/// rest 2^places modulo `divisor`; the quotient's last bits are shifted into *quotient. divisor < 2^(MANTISSA_BITS + 2).
INLINE u64 divide(u64 rest, int places, u64 divisor, u64 *quotient) {
    const int step = 64 - (MANTISSA_BITS + 2);
    *quotient = rest / divisor;
    rest %= divisor;
    while (places > 0) {
        int now = places < step ? places : step;
        rest <<= now;
        *quotient = *quotient << now | rest / divisor;
        rest %= divisor;
        places -= now;
    }
    return rest;
}

/// Whether the remainder is known without division; *result is set then.
INLINE int is_special(real x, real y, real *result) {
    if (is_nan(x) || is_nan(y) || is_infinite(x) || y == 0) {
        *result = NOT_A_NUMBER;
        return 1;
    }
    *result = x;
    return is_infinite(y) || x == 0;
}

static LARGE real fmod_of(real x, real y) {
    real result;
    if (is_special(x, y, &result) || ABS(x) < ABS(y)) return result;
    int ex, ey;
    u64 quotient;
    u64 a = whole_of(x, &ex), b = whole_of(y, &ey);
    u64 rest = divide(a, ex - ey, b, &quotient);
    return COPYSIGN(real_of(rest, ey), x);
}

static LARGE real remainder_of(real x, real y, int *quotient) {
    real result;
    *quotient = 0;
    if (is_special(x, y, &result)) return result;
    int ex, ey, negative = (TO_BITS(x) & SIGN_BIT) != 0;
    u64 count;
    // in halves of y's last place: a remainder may be as small
    u64 a = whole_of(x, &ex), b = whole_of(y, &ey) * 2;
    ey--;
    if (ex < ey) return x;
    u64 rest = divide(a, ex - ey, b, &count);
    if (2 * rest > b || (2 * rest == b && (count & 1))) {
        rest = b - rest;
        negative = !negative;
        count++;
    }
    int low = (int)(count & 7);
    *quotient = (TO_BITS(x) ^ TO_BITS(y)) & SIGN_BIT ? -low : low;
    real size = real_of(rest, ey);
    if (rest == 0) return COPYSIGN(size, x);
    return negative ? -size : size;
}

// A quotient below this is a whole number when it is rounded to one, and off by one at most: what then remains is no more
// than y and a multiple of y's last place, and so exact.
#define QUOTIENT_EXACT OF_BITS(ONE_BITS + ((bits)(MANTISSA_BITS - 1) << MANTISSA_BITS))

EXPORT real NAME(fmod)(real x, real y) {
    real a = ABS(x), b = ABS(y), quotient = div_rn(a, b);
    if (!(quotient < QUOTIENT_EXACT && b < INFINITE)) return fmod_of(x, y);
    real rest = FMA(-TRUNC(quotient), b, a);
    rest = rest < 0 ? rest + b : rest;
    return COPYSIGN(rest, x);
}

INLINE real remainder_and_quotient(real x, real y, int *quotient) {
    real a = ABS(x), b = ABS(y), near = div_rn(a, b);
    if (!(near < QUOTIENT_EXACT && b < INFINITE)) return remainder_of(x, y, quotient);
    real whole = ROUND_TO_EVEN(near), rest = FMA(-whole, b, a), twice = rest + rest;
    i64 count = (i64)whole;
    // the quotient was rounded, perhaps to a half between two, or to beyond it
    int up = twice > b || (twice == b && (count & 1)), down = twice < -b || (twice == -b && (count & 1));
    rest = up ? rest - b : down ? rest + b : rest;
    int low = (int)(count + up - down) & 7;
    *quotient = (TO_BITS(x) ^ TO_BITS(y)) & SIGN_BIT ? -low : low;
    return rest == 0 ? COPYSIGN(rest, x) : TO_BITS(x) & SIGN_BIT ? -rest : rest;
}

EXPORT real NAME(remainder)(real x, real y) {
    int quotient;
    return remainder_and_quotient(x, y, &quotient);
}

EXPORT real NAME(remquo)(real x, real y, int *quotient) {
    return remainder_and_quotient(x, y, quotient);
}
