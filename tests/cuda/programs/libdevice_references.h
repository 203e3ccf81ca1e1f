// References for libdevice_check.c: functions that neither libm nor libquadmath has, in quadruple precision, and which
// arguments a row of libdevice_rows.h counts. Needs quadmath.h, math.h and the library's declarations.
#pragma once

typedef __float128 quad;

static quad rsqrt_reference(quad x) {
    return 1 / sqrtq(x);
}

static quad exp10_reference(quad x) {
    return powq(10, x);
}

static quad sinpi_reference(quad x) {
    if (!finiteq(x)) return nanq("");
    if (rintq(x) == x) return copysignq(0, x);
    quad r = remainderq(x, 2); // exact, from -1 to 1
    if (r > 0.5Q) r = 1 - r;
    if (r < -0.5Q) r = -1 - r;
    return sinq(M_PIq * r);
}

static quad cospi_reference(quad x) {
    if (!finiteq(x)) return nanq("");
    quad r = fabsq(remainderq(x, 2));
    return r == 0.5Q ? 0 : r < 0.25Q ? cosq(M_PIq * r) : sinq(M_PIq * (0.5Q - r));
}

static quad length(const double *x, int count) {
    quad sum = 0;
    for (int i = 0; i < count; i++) {
        if (isinf(x[i])) return (quad)INFINITY;
        sum += (quad)x[i] * x[i];
    }
    return sqrtq(sum);
}

static quad erfcx_reference(quad x) {
    if (x > 100) {
        quad term = 1, sum = 1;
        for (int k = 1; k < 20; k++)
            sum += term *= -(2 * k - 1) / (2 * x * x);
        return sum / (x * sqrtq(M_PIq));
    }
    return expq(x * x) * erfcq(x);
}

static quad normcdf_reference(quad x) {
    return erfcq(-x * M_SQRT1_2q) / 2;
}

/// The y with erfc(y) = x, by Newton's method for the logarithm, from below, where it cannot jump too far.
static quad erfcinv_reference(quad x) {
    if (!(x > 0 && x < 2)) return x == 0 ? (quad)INFINITY : x == 2 ? -(quad)INFINITY : nanq("");
    if (x > 1) return -erfcinv_reference(2 - x);
    quad y = x < 0.1Q ? sqrtq(-logq(x)) - 0.5Q : 0;
    for (int i = 0; i < 60; i++) {
        quad value = erfcq(y), slope = -2 / sqrtq(M_PIq) * expq(-y * y) / value;
        quad step = (logq(value) - logq(x)) / slope;
        y -= step;
        if (fabsq(step) < 1e-28Q * fabsq(y)) break;
    }
    return y;
}

/// Near 0, where 1 - x would lose the digits of x, for erf itself.
static quad erfinv_reference(quad x) {
    if (!(fabsq(x) < 0.5Q)) return x < 0 ? -erfcinv_reference(1 + x) : erfcinv_reference(1 - x);
    quad y = x * sqrtq(M_PIq) / 2;
    for (int i = 0; i < 60 && x != 0; i++) {
        quad step = (erfq(y) - x) / (2 / sqrtq(M_PIq) * expq(-y * y));
        y -= step;
        if (fabsq(step) < 1e-28Q * fabsq(y)) break;
    }
    return y;
}

static quad normcdfinv_reference(quad x) {
    return -M_SQRT2q * (x == 0.5Q                ? 0
                        : x > 0.25Q && x < 0.75Q ? erfinv_reference(1 - 2 * x)
                                                 : erfcinv_reference(2 * x));
}

/// I of order 0 or 1: the sum of x^(2k + n) / (2^(2k + n) k! (k + n)!).
static quad bessel_i(quad x, int order) {
    if (isinfq(x)) return order && x < 0 ? x : fabsq(x);
    if (fabsq(x) > 800) return order && x < 0 ? -(quad)INFINITY : (quad)INFINITY;
    quad square = x * x / 4, term = order ? x / 2 : 1, sum = term;
    for (int k = 1; fabsq(term) > fabsq(sum) * 1e-36Q; k++)
        sum += term *= square / k / (k + order);
    return sum;
}

static quad i0_reference(quad x) {
    return bessel_i(x, 0);
}

static quad i1_reference(quad x) {
    return bessel_i(x, 1);
}

static float norm_of_4f(const double *x) {
    return __nv_normf(4, (float[]){(float)x[0], (float)x[1], (float)x[2], (float)x[3]});
}

static float rnorm_of_4f(const double *x) {
    return __nv_rnormf(4, (float[]){(float)x[0], (float)x[1], (float)x[2], (float)x[3]});
}

/// Of remquo's quotient the three bits that it must have, with its sign.
static double low_bits_of(double remainder, int quotient) {
    return isnan(remainder) ? 0 : quotient < 0 ? -(-quotient & 7) : quotient & 7;
}

static double low_bits_f(const double *x) {
    int quotient;
    float remainder = __nv_remquof((float)x[0], (float)x[1], &quotient);
    return low_bits_of(remainder, quotient) + 0.0;
}

static double low_bits_d(const double *x) {
    int quotient;
    double remainder = __nv_remquo(x[0], x[1], &quotient);
    return low_bits_of(remainder, quotient) + 0.0;
}

static quad low_bits(const double *x) {
    int quotient;
    double remainder = remquo(x[0], x[1], &quotient);
    return low_bits_of(remainder, quotient);
}

static quad low_bits_q(const double *x) {
    int quotient;
    quad remainder = remquoq(x[0], x[1], &quotient);
    return low_bits_of((double)remainder, quotient);
}

static int exponent_of(double x) {
    return isnan(x) ? 0 : x > 100000 ? 100000 : x < -100000 ? -100000 : (int)x;
}

// ---- which arguments count

// clang-format off
static int away_from_zeros(const double *x) { return !(x[0] > -23.0001 && x[0] < -2.2637); }
static int away_from_zeros_f(const double *x) { return !(x[0] > -10.001 && x[0] < -2.264); }
static int below_7(const double *x) { return fabs(x[0]) < 7; }
static int below_8(const double *x) { return fabs(x[0]) < 8; }
static int from_8(const double *x) { return !(fabs(x[0]) < 8); }
static int from_10_5(const double *x) { return x[0] > 10.5; }
static int below_10000(const double *x) { return fabs(x[0]) < 10000; }
static int half_to_two(const double *x) { return x[0] >= 0.5 && x[0] <= 2; }
static int outside_half_to_two(const double *x) { return !half_to_two(x) && !(fabs(x[0]) < 0x1p-126 && x[0] != 0); }
static int within_10(const double *x) { return fabs(x[0]) <= 10; }
static int within_pi(const double *x) { return fabs(x[0]) <= 3.1415925; }
static int moderate_divisor(const double *x) { return fabs(x[1]) >= 0x1p-126 && fabs(x[1]) <= 0x1p126; }
// clang-format on
