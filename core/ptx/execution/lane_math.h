/* Sine, cosine, 2^x, log2 and 1 / sqrt(x) of a float: in double precision, rounded once. Without branches, tables and calls,
 * so that lane loops of them vectorise; C libraries have several of each function, and choose by the processor.
 *
 * Each host computes the same bits, with fused multiply-adds or without, which change some doubles' last place: both ways
 * have been compared over all floats, and are to be again by whoever changes a polynomial, the order of a sum or a
 * reduction. The result is the float nearest to the value, but for very few whose values lie within 2^-53 of the middle
 * between two; some more lie within 2^-52, to which the polynomials, those of least relative error, are exact. */
#ifndef WW_PTX_LANE_MATH_H
#define WW_PTX_LANE_MATH_H

#include "core/ptx/execution/exec_internal.h"

/* Added and taken away again, it rounds to an integer, which then stands in the low bits of the sum. */
#define ROUNDING_SHIFT 0x1.8p52

static inline double multiply_add(double a, double b, double c) {
#if defined __FMA__ || defined __FP_FAST_FMA
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* c[0] + c[1] x + c[2] x^2 + c[3] x^3, and so on: in pairs, for a chain of single steps takes longer. */
static inline double sum_of_four(const double c[4], double x, double square) {
    return multiply_add(multiply_add(c[3], x, c[2]), square, multiply_add(c[1], x, c[0]));
}
static inline double sum_of_seven(const double c[7], double x) {
    double square = x * x, high = multiply_add(c[6], square, multiply_add(c[5], x, c[4]));
    return multiply_add(high, square * square, sum_of_four(c, x, square));
}
static inline double sum_of_ten(const double c[10], double x) {
    double square = x * x, fourth = square * square;
    double low = multiply_add(sum_of_four(c + 4, x, square), fourth, sum_of_four(c, x, square));
    return multiply_add(multiply_add(c[9], x, c[8]), fourth * fourth, low);
}

/* The nearest float to 1 / sqrt(x) as double precision has it, for each x: a step of Newton's method, of third order, takes
 * less time than that root and that quotient. */
static inline float reciprocal_root(float x) {
    float near = 1.0f / __builtin_sqrtf(x);
    double y = (double)near, rest = multiply_add(-((double)x * y), y, 1);
    float nearest = (float)multiply_add(y * rest, multiply_add(rest, 0.375, 0.5), y);
    return near - near == 0 && near != 0 ? nearest : near;
}

/* Up to here the quarters of a turn have so few bits that their product with the first part of pi/2 is exact. */
#define MOST_TURNED 0x1p20f

/* Of |x| up to MOST_TURNED. */
static inline void sine_and_cosine(float x, float *sine_of_x, float *cosine_of_x) {
    /* sin(r) / r and cos(r), of r^2 up to (pi/4)^2 */
    static const double sine_terms[] = {1,
                                        -0x1.5555555555548p-3,
                                        0x1.111111110f7d0p-7,
                                        -0x1.a01a019bfdedbp-13,
                                        0x1.71de3567d2296p-19,
                                        -0x1.ae5e5a909952dp-26,
                                        0x1.5d8fd16523a47p-33};
    static const double cosine_terms[] = {1,
                                          -0.5,
                                          0x1.5555555552ddbp-5,
                                          -0x1.6c16c167210f8p-10,
                                          0x1.a019fa5ff9313p-16,
                                          -0x1.27e00b8f966aep-22,
                                          0x1.1bbe8dafa3fc9p-29};
    /* 33 bits, and 53 more; negative, so that -0 stays -0 */
    const double minus_half_pi = -0x1.921fb544p0, minus_half_pi_rest = -0x1.0b4611a626331p-34;
    double shifted = multiply_add((double)x, 0x1.45f306dc9c883p-1, ROUNDING_SHIFT);
    double count = shifted - ROUNDING_SHIFT;
    double r = multiply_add(count, minus_half_pi_rest, multiply_add(count, minus_half_pi, (double)x));
    uint32_t sine = bits_of_f32((float)(r * sum_of_seven(sine_terms, r * r)));
    uint32_t cosine = bits_of_f32((float)sum_of_seven(cosine_terms, r * r));
    /* sin(r + quarters * pi/2) is, in turn, sin(r), cos(r), -sin(r), -cos(r) */
    uint32_t quarters = (uint32_t)bits_of_f64(shifted), odd = quarters << 31, half = quarters << 30;
    bool is_odd = (int32_t)odd < 0;
    *sine_of_x = f32_of_bits((is_odd ? cosine : sine) ^ (half & 0x80000000u));
    *cosine_of_x = f32_of_bits((is_odd ? sine : cosine) ^ ((half ^ odd) & 0x80000000u));
}

/* Of |x| up to 200, before it is rounded. */
static inline double power_of_two(float x) {
    /* (2^t - 1) / t, of |t| up to 1/2 */
    static const double terms[] = {0x1.62e42fefa3a12p-1,  0x1.ebfbdff82c431p-3,  0x1.c6b08d703e17ap-5,
                                   0x1.3b2ab6fbd6cfep-7,  0x1.5d87fe9b8f155p-10, 0x1.4309126c0241dp-13,
                                   0x1.ffcb58c9edbe0p-17, 0x1.62c147a0c9e4cp-20, 0x1.b671b32f77151p-24,
                                   0x1.e3a90b27d396dp-28};
    double shifted = (double)x + ROUNDING_SHIFT, whole = shifted - ROUNDING_SHIFT;
    double t = (double)x - whole;
    uint64_t bits = bits_of_f64(multiply_add(t, sum_of_ten(terms, t), 1));
    return f64_of_bits(bits + (bits_of_f64(shifted) << 52)); /* to the exponent */
}

static inline float power_of_two_of_float(float x) {
    float power = (float)power_of_two(x), beyond = x > 200 ? __builtin_inff() : f32_of_bits(0x7fffffffu);
    power = x < -200 ? 0 : power;
    return x <= 200 ? power : beyond;
}

static inline float log2_of_float(float x) {
    /* 2 / ln(2) * atanh(s) / s, of s^2 up to (3 - 2 sqrt(2))^2 */
    static const double terms[] = {0x1.71547652b82ffp+1, 0x1.ec709dc39c9e6p-1, 0x1.2776c516a93ebp-1,
                                   0x1.a6175677245bep-2, 0x1.484fac1fde2d6p-2, 0x1.0bb7bde0d85b0p-2,
                                   0x1.f184c79f9e894p-3};
    const uint32_t half_root = 0x3f3504f3u; /* sqrt(1/2) */
    bool is_subnormal = x < SMALLEST_NORMAL_F32;
    uint32_t bits = bits_of_f32(is_subnormal ? 0x1p24f * x : x);
    int32_t exponent = (int32_t)(bits - half_root) >> 23;
    float m = f32_of_bits(bits - ((uint32_t)exponent << 23)); /* from sqrt(1/2) to sqrt(2) */
    float power = (float)exponent - (is_subnormal ? 24.0f : 0.0f);
    double s = (double)(m - 1) / ((double)m + 1);
    float result = (float)multiply_add(s, sum_of_seven(terms, s * s), (double)power);
    result = x == __builtin_inff() ? x : result;
    result = x == 0 ? -__builtin_inff() : result;
    return x >= 0 ? result : f32_of_bits(0x7fffffffu);
}

#endif
