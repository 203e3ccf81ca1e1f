// Trigonometric functions and their inverses.
#include "trigonometry.h"

EXPORT real NAME(sin)(real x) {
    Reduced r = reduce(x);
    real result = sin_turned(sin_reduced(r.high, r.low), cos_reduced(r.high, r.low), r.quadrant);
    return x == 0 ? x : result;
}

EXPORT real NAME(cos)(real x) {
    Reduced r = reduce(x);
    return sin_turned(sin_reduced(r.high, r.low), cos_reduced(r.high, r.low), r.quadrant + 1);
}

EXPORT void NAME(sincos)(real x, real *sine, real *cosine) {
    Reduced r = reduce(x);
    real s = sin_reduced(r.high, r.low), c = cos_reduced(r.high, r.low);
    *sine = x == 0 ? x : sin_turned(s, c, r.quadrant);
    *cosine = sin_turned(s, c, r.quadrant + 1);
}

EXPORT real NAME(tan)(real x) {
    Reduced r = reduce(x);
#if REAL_BITS == 64
    // both to more than a number's bits: the quotient of two that are rounded is not good enough
    Pair s = quick_sum(r.high, sin_beyond(r.high, r.low)), c = quick_sum(1, cos_beyond(r.high, r.low));
    Pair upper = r.quadrant & 1 ? (Pair){-c.high, -c.low} : s, lower = r.quadrant & 1 ? s : c;
    real first = div_rn(upper.high, lower.high);
    real rest = FMA(-first, lower.high, upper.high) + FMA(-first, lower.low, upper.low);
    real result = first + div_rn(rest, lower.high);
#else
    real s = sin_reduced(r.high, 0), c = cos_reduced(r.high, 0);
    real result = r.quadrant & 1 ? quotient(-c, s) : quotient(s, c);
#endif
    return x == 0 ? x : result;
}

/// sin(pi x) and cos(pi x) for |x| <= 1/4.
INLINE real sinpi_reduced(real r) {
    real z = r * r;
    return FMA(r, PI, r * FMA(z, sinpi_tail(z), PI_LOW));
}

INLINE real cospi_reduced(real r) {
    real z = r * r;
    return FMA(z, cospi_tail(z), 1);
}

/// x less a whole number of halves, which it counts modulo 4.
INLINE real less_halves(real x, int *quadrant) {
    real turns = TRUNC(x * R(0.5));
    real left = FMA(turns, R(-2.0), x);
    real halves = ROUND_TO_EVEN(2 * left);
    *quadrant = (int)halves;
    return FMA(halves, R(-0.5), left);
}

INLINE real sinpi_of(real x, real r, int quadrant) {
    real result = sin_turned(sinpi_reduced(r), cospi_reduced(r), quadrant);
    return r == 0 && !(quadrant & 1) ? COPYSIGN(R(0.0), x) : result;
}

INLINE real cospi_of(real r, int quadrant) {
    return sin_turned(sinpi_reduced(r), cospi_reduced(r), quadrant + 1) + 0; // never -0
}

EXPORT real NAME(sinpi)(real x) {
    int quadrant;
    real r = less_halves(x, &quadrant);
    return sinpi_of(x, r, quadrant);
}

EXPORT real NAME(cospi)(real x) {
    int quadrant;
    real r = less_halves(x, &quadrant);
    return cospi_of(r, quadrant);
}

EXPORT void NAME(sincospi)(real x, real *sine, real *cosine) {
    int quadrant;
    real r = less_halves(x, &quadrant);
    *sine = sinpi_of(x, r, quadrant);
    *cosine = cospi_of(r, quadrant);
}

EXPORT real NAME(asin)(real x) {
    real a = ABS(x);
    int large = a > R(0.5);
    real square = large ? FMA(a, R(-0.5), R(0.5)) : a * a;
    real s = large ? SQRT(square) : a;
    real cube = s * square, tail = asin_tail(square);
    real result = large ? PI / 2 - FMA(2, s, FMA(2 * cube, tail, -PI_LOW / 2)) : FMA(cube, tail, s);
    return COPYSIGN(result, x);
}

EXPORT real NAME(acos)(real x) {
    real a = ABS(x);
    int large = a > R(0.5);
    real square = large ? FMA(a, R(-0.5), R(0.5)) : a * a;
    real s = large ? SQRT(square) : x;
    real cube = s * square, tail = asin_tail(square);
    real small = PI / 2 - (s + FMA(cube, tail, -PI_LOW / 2));
    real right = 2 * FMA(cube, tail, s);
    real left = PI - FMA(2, s, FMA(2 * cube, tail, -PI_LOW));
    return large ? (x > 0 ? right : left) : small;
}

/// atan(q), 0 <= q <= 1, or pi/2 less that.
INLINE real atan_of(real q, int turned) {
    real z = q * q, cube = q * z, tail = atan_tail(z);
    return turned ? PI / 2 - (q + FMA(cube, tail, -PI_LOW / 2)) : FMA(cube, tail, q);
}

EXPORT real NAME(atan)(real x) {
    real a = ABS(x);
    int turned = a > 1;
    return COPYSIGN(atan_of(turned ? div_rn(1, a) : a, turned), x);
}

EXPORT real NAME(atan2)(real y, real x) {
    real a = ABS(y), b = ABS(x);
    int turned = a > b;
    real larger = turned ? a : b, smaller = turned ? b : a;
    real q = div_rn(smaller, larger);
    q = a == b ? (a == 0 ? 0 : 1) : q; // of infinities, too
    real result = atan_of(q, turned);
    result = TO_BITS(x) & SIGN_BIT ? PI - (result - PI_LOW) : result;
    return is_nan(x) || is_nan(y) ? NOT_A_NUMBER : COPYSIGN(result, y);
}
