/* Sine, cosine, 2^x and log2 of a float, in double precision, to be rounded once: within 2^-48 of the value, by comparison
 * with a C library over millions of floats. Without branches, tables and calls, so that lane loops of them vectorise, and
 * of plain sums and products, so that each host computes the same bits; C libraries have several of each function, and
 * choose by the processor. The polynomials are those of Taylor, as long as a double can tell. */
#ifndef WW_PTX_LANE_MATH_H
#define WW_PTX_LANE_MATH_H

#include "core/ptx/execution/exec_internal.h"

/* Added and taken away again, it rounds to an integer, which then stands in the low bits of the sum. */
#define ROUNDING_SHIFT 0x1.8p52

/* Of c[0] + c[1] x + ... */
#define POLYNOMIAL(name, ...)                                                                                \
    static inline double name(double x) {                                                                    \
        static const double c[] = {__VA_ARGS__};                                                             \
        double sum = 0;                                                                                      \
        for (int i = (int)(sizeof c / sizeof *c) - 1; i >= 0; i--)                                           \
            sum = sum * x + c[i];                                                                            \
        return sum;                                                                                          \
    }

/* sin(r) / r and cos(r), of r^2 up to (pi/4)^2. */
POLYNOMIAL(sine_series, 1, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
           -1.0 / 1307674368000)
POLYNOMIAL(cosine_series, 1, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
           -1.0 / 87178291200, 1.0 / 20922789888000)

/* Up to here the quarters of a turn have so few bits that their product with the first part of pi/2 is exact. */
#define MOST_TURNED 0x1p20

/* sin(r + quarters * pi/2), given sin(r) and cos(r). */
static inline double turned_by(double sine, double cosine, uint64_t quarters) {
    uint64_t odd = -(quarters & 1), sign = (quarters & 2) << 62;
    return f64_of_bits(((bits_of_f64(cosine) & odd) | (bits_of_f64(sine) & ~odd)) ^ sign);
}

/* Of |x| up to MOST_TURNED. */
static inline void sine_and_cosine(double x, double *sine_of_x, double *cosine_of_x) {
    const double half_pi = 0x1.921fb544p0, half_pi_rest = 0x1.0b4611a626331p-34; /* 33 bits, and 53 more */
    double shifted = x * 0x1.45f306dc9c883p-1 + ROUNDING_SHIFT, count = shifted - ROUNDING_SHIFT;
    double r = (x - count * half_pi) - count * half_pi_rest, square = r * r;
    double sine = r * sine_series(square), cosine = cosine_series(square);
    *sine_of_x = turned_by(sine, cosine, bits_of_f64(shifted));
    *cosine_of_x = turned_by(sine, cosine, bits_of_f64(shifted) + 1);
}

/* e^t, of |t| up to ln(2) / 2. */
POLYNOMIAL(exponential_series, 1, 1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
           1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800)

/* Beyond 2^+-200 no float can tell. */
static inline double power_of_two(double x) {
    double within = x > 200 ? 200 : x, bounded = within < -200 ? -200 : within; /* NaN stays */
    double shifted = bounded + ROUNDING_SHIFT, whole = shifted - ROUNDING_SHIFT;
    double scale = f64_of_bits((bits_of_f64(shifted) << 52) + 0x3ff0000000000000ull);
    return scale * exponential_series((bounded - whole) * 0x1.62e42fefa39efp-1);
}

/* atanh(s) / s, of s^2 up to (3 - 2 sqrt(2))^2. */
POLYNOMIAL(atanh_series, 1, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
           1.0 / 19, 1.0 / 21)

/* Floats below the normal ones are normal as doubles. */
static inline double log2_of_float(double x) {
    uint64_t bits = bits_of_f64(x), exponent = bits >> 52;
    double m = f64_of_bits((bits & 0xfffffffffffffull) | 0x3ff0000000000000ull);
    bool is_upper = m > 0x1.6a09e667f3bcdp0;
    m = is_upper ? 0.5 * m : m;
    double power = f64_of_bits(exponent | 0x4330000000000000ull) -
                   (0x1p52 + 1023); /* a small integer's bits */
    power = is_upper ? power + 1 : power;
    double s = (m - 1) / (m + 1), result = power + s * atanh_series(s * s) * 0x1.71547652b82fep+1;
    result = x > 0x1p128 ? x : result; /* infinity */
    result = x == 0 ? -__builtin_inf() : result;
    return x >= 0 ? result : __builtin_nan("");
}

#endif
