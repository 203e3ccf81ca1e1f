// Functions of double precision that have no instruction: e to the power of x, and x to the power of y.
#pragma once

static inline __device__ long double_bits(double x) {
    return __builtin_bit_cast(long, x);
}
static inline __device__ double from_bits(long bits) {
    return __builtin_bit_cast(double, bits);
}

// e to the power of high + low, where low is a small correction. The exponent is taken apart into whole multiples of the
// logarithm of 2, which are shifts, and a rest of at most half of that, for which a polynomial is good enough.
static inline __device__ double exponential_of_sum(double high, double low) {
    const double whole = 6755399441055744.0; // added to a number, it leaves the nearest whole one in the low bits
    if (high > 709.7) return __builtin_huge_val();
    if (high < -708.3) return 0;
    double shifted = __builtin_fma(high, 1.4426950408889634, whole);
    int exponent = (int)double_bits(shifted);
    double n = shifted - whole;
    double x = __builtin_fma(n, -6.93147180369123816490e-01, high);
    x = __builtin_fma(n, -1.90821492927058770002e-10, x) + low;
    double sum = 1.0 / 479001600;
    sum = __builtin_fma(sum, x, 1.0 / 39916800);
    sum = __builtin_fma(sum, x, 1.0 / 3628800);
    sum = __builtin_fma(sum, x, 1.0 / 362880);
    sum = __builtin_fma(sum, x, 1.0 / 40320);
    sum = __builtin_fma(sum, x, 1.0 / 5040);
    sum = __builtin_fma(sum, x, 1.0 / 720);
    sum = __builtin_fma(sum, x, 1.0 / 120);
    sum = __builtin_fma(sum, x, 1.0 / 24);
    sum = __builtin_fma(sum, x, 1.0 / 6);
    sum = __builtin_fma(sum, x, 0.5);
    sum = __builtin_fma(sum, x, 1.0);
    sum = __builtin_fma(sum, x, 1.0);
    return sum * from_bits((long)(exponent + 1023) << 52);
}

static inline __device__ double exponential(double x) {
    return exponential_of_sum(x, 0);
}

// x to the power of y, general: the logarithm to more than double precision, times y, and the exponential of that.
static inline __device__ double power(double x, double y) {
    double size = x < 0 ? -x : x;
    if (y == 0) return 1;
    if (size == 0) return y > 0 ? 0 : __builtin_huge_val();

    // size = m * 2^e, with m near 1
    long bits = double_bits(size);
    int e = (int)(bits >> 52) - 1023;
    double m = from_bits((bits & 0xfffffffffffffl) | 0x3ff0000000000000l);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        e++;
    }
    // log m = 2 (s + s^3 / 3 + s^5 / 5 ...), where s = (m - 1) / (m + 1) is a sum of two doubles
    double above = m - 1, below = m + 1;
    double below_low = m - (below - 1);
    double inverse = 1.0 / below;
    double s = above * inverse;
    double s_low = (__builtin_fma(-s, below, above) - s * below_low) * inverse;
    double q = s * s;
    double series = 2.0 / 21;
    series = __builtin_fma(series, q, 2.0 / 19);
    series = __builtin_fma(series, q, 2.0 / 17);
    series = __builtin_fma(series, q, 2.0 / 15);
    series = __builtin_fma(series, q, 2.0 / 13);
    series = __builtin_fma(series, q, 2.0 / 11);
    series = __builtin_fma(series, q, 2.0 / 9);
    series = __builtin_fma(series, q, 2.0 / 7);
    series = __builtin_fma(series, q, 2.0 / 5);
    series = __builtin_fma(series, q, 2.0 / 3);
    double tail = __builtin_fma(s * q, series, 2 * s_low);
    // log size = e log 2 + 2 s + tail, as a sum of two doubles
    double twos = e * 6.93147180369123816490e-01;
    double high = twos + 2 * s;
    double part = high - twos;
    double low = (twos - (high - part)) + (2 * s - part);
    low += tail + e * 1.90821492927058770002e-10;
    // times y
    double exponent = y * high;
    double exponent_low = __builtin_fma(y, high, -exponent) + y * low;
    double result = exponential_of_sum(exponent, exponent_low);

    if (x < 0) {
        long whole = (long)y;
        if ((double)whole != y) return __builtin_nan("");
        if (whole & 1) result = -result;
    }
    return result;
}
