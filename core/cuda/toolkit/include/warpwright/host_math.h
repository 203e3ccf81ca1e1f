/* The functions of CUDA's mathematics that the C library has not, for host code of CUDA programs. */
#ifndef WARPWRIGHT_HOST_MATH_H
#define WARPWRIGHT_HOST_MATH_H

#if defined(__CUDA__) && defined(__cplusplus)

#include <math.h>

#define WARPWRIGHT_HOST static __inline__ __attribute__((host, unused))

/* ---- roots, and lengths of vectors */

WARPWRIGHT_HOST double rsqrt(double x) {
    return 1 / sqrt(x);
}
WARPWRIGHT_HOST double rcbrt(double x) {
    return 1 / cbrt(x);
}
WARPWRIGHT_HOST double rhypot(double x, double y) {
    return 1 / hypot(x, y);
}
WARPWRIGHT_HOST double norm3d(double x, double y, double z) {
    return hypot(hypot(x, y), z);
}
WARPWRIGHT_HOST double norm4d(double x, double y, double z, double w) {
    return hypot(hypot(x, y), hypot(z, w));
}
WARPWRIGHT_HOST double rnorm3d(double x, double y, double z) {
    return 1 / norm3d(x, y, z);
}
WARPWRIGHT_HOST double rnorm4d(double x, double y, double z, double w) {
    return 1 / norm4d(x, y, z, w);
}
WARPWRIGHT_HOST double norm(int count, const double *x) {
    double length = 0;
    for (int i = 0; i < count; i++)
        length = hypot(length, x[i]);
    return length;
}
WARPWRIGHT_HOST double rnorm(int count, const double *x) {
    return 1 / norm(count, x);
}
WARPWRIGHT_HOST double fdivide(double x, double y) {
    return x / y;
}

/* ---- sine and cosine of multiples of pi. The remainder is exact, so is what comes of multiples of 1/2. */

WARPWRIGHT_HOST double sinpi(double x) {
    double quarter = rint(2 * x), part = (x - quarter / 2) * 3.14159265358979323846;
    if (!(fabs(x) < INFINITY)) return x - x;
    switch ((int)(quarter - 4 * floor(quarter / 4))) {
    case 0: return part == 0 ? copysign(0.0, x) : sin(part);
    case 1: return cos(part);
    case 2: return part == 0 ? copysign(0.0, x) : -sin(part);
    default: return -cos(part);
    }
}
WARPWRIGHT_HOST double cospi(double x) {
    double quarter = rint(2 * x), part = (x - quarter / 2) * 3.14159265358979323846;
    if (!(fabs(x) < INFINITY)) return x - x;
    switch ((int)(quarter - 4 * floor(quarter / 4))) {
    case 0: return cos(part);
    case 1: return part == 0 ? 0.0 : -sin(part);
    case 2: return -cos(part);
    default: return part == 0 ? 0.0 : sin(part);
    }
}
WARPWRIGHT_HOST void sincospi(double x, double *sine, double *cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}

/* ---- the error function's relatives */

/* exp(x * x) * erfc(x). For large x the continued fraction, from its end. */
WARPWRIGHT_HOST double erfcx(double x) {
    if (x < 10) return exp(x * x) * erfc(x);
    double tail = x;
    for (int i = 40; i > 0; i--)
        tail = x + i / 2.0 / tail;
    return 0.56418958354775628695 / tail;
}

/* The x whose erf is y, for y between -0.5 and 0.5: Halley's steps. */
WARPWRIGHT_HOST double __warpwright_erfinv_centre(double y) {
    double x = 0.88622692545275801365 * y;
    for (int i = 0; i < 4; i++) {
        double step = (erf(x) - y) / (1.12837916709551257390 * exp(-x * x));
        x -= step / (1 + x * step);
    }
    return x;
}

/* The x whose erfc is y. In the tails a start from their asymptote, then Halley's steps on the smaller tail. */
WARPWRIGHT_HOST double erfcinv(double y) {
    if (!(y >= 0 && y <= 2)) return NAN;
    if (y == 0) return INFINITY;
    if (y == 2) return -INFINITY;
    if (y > 0.5 && y < 1.5) return __warpwright_erfinv_centre(1 - y);
    double tail = y < 1 ? y : 2 - y, t = sqrt(-2 * log(tail / 2));
    double x = 0.70710678118654752440 * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
    for (int i = 0; i < 3; i++) {
        double step = (erfc(x) - tail) / (1.12837916709551257390 * exp(-x * x));
        x += step / (1 - x * step);
    }
    return y < 1 ? x : -x;
}

WARPWRIGHT_HOST double erfinv(double y) {
    if (fabs(y) <= 0.5) return __warpwright_erfinv_centre(y);
    return y < 0 ? -erfcinv(1 + y) : erfcinv(1 - y);
}

WARPWRIGHT_HOST double normcdf(double x) {
    return erfc(x * -0.70710678118654752440) / 2;
}
WARPWRIGHT_HOST double normcdfinv(double y) {
    return -1.41421356237309504880 * erfcinv(2 * y);
}

/* ---- modified Bessel functions: the power series, and the asymptotic one from where it has full precision */

WARPWRIGHT_HOST double __warpwright_bessel_i(int order, double x) {
    double term = order ? x / 2 : 1, sum = term, size = fabs(x);
    if (size < 40) {
        for (int i = 1; fabs(term) > 1e-17 * fabs(sum); i++)
            sum += term *= x * x / 4 / i / (i + order);
        return sum;
    }
    term = sum = 1;
    for (int i = 1; i < 40 && fabs(term) > 1e-17; i++)
        sum += term *= -(4.0 * order * order - (2 * i - 1) * (2 * i - 1)) / (8 * size * i);
    sum *= exp(size / 2) / sqrt(6.28318530717958647693 * size) * exp(size / 2);
    return order && x < 0 ? -sum : sum;
}
WARPWRIGHT_HOST double cyl_bessel_i0(double x) {
    return __warpwright_bessel_i(0, x);
}
WARPWRIGHT_HOST double cyl_bessel_i1(double x) {
    return __warpwright_bessel_i(1, x);
}

/* ---- the same for float */

#define WARPWRIGHT_FLOAT(name)                                                                               \
    WARPWRIGHT_HOST float name##f(float x) {                                                                 \
        return (float)name((double)x);                                                                       \
    }
WARPWRIGHT_FLOAT(rsqrt)
WARPWRIGHT_FLOAT(rcbrt)
WARPWRIGHT_FLOAT(sinpi)
WARPWRIGHT_FLOAT(cospi)
WARPWRIGHT_FLOAT(erfcx)
WARPWRIGHT_FLOAT(erfcinv)
WARPWRIGHT_FLOAT(erfinv)
WARPWRIGHT_FLOAT(normcdf)
WARPWRIGHT_FLOAT(normcdfinv)
WARPWRIGHT_FLOAT(cyl_bessel_i0)
WARPWRIGHT_FLOAT(cyl_bessel_i1)
#undef WARPWRIGHT_FLOAT

WARPWRIGHT_HOST float rhypotf(float x, float y) {
    return (float)rhypot(x, y);
}
WARPWRIGHT_HOST float norm3df(float x, float y, float z) {
    return (float)norm3d(x, y, z);
}
WARPWRIGHT_HOST float norm4df(float x, float y, float z, float w) {
    return (float)norm4d(x, y, z, w);
}
WARPWRIGHT_HOST float rnorm3df(float x, float y, float z) {
    return (float)rnorm3d(x, y, z);
}
WARPWRIGHT_HOST float rnorm4df(float x, float y, float z, float w) {
    return (float)rnorm4d(x, y, z, w);
}
WARPWRIGHT_HOST float normf(int count, const float *x) {
    double length = 0;
    for (int i = 0; i < count; i++)
        length = hypot(length, x[i]);
    return (float)length;
}
WARPWRIGHT_HOST float rnormf(int count, const float *x) {
    return 1 / normf(count, x);
}
WARPWRIGHT_HOST float fdividef(float x, float y) {
    return x / y;
}
WARPWRIGHT_HOST void sincospif(float x, float *sine, float *cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}

#undef WARPWRIGHT_HOST

#endif
#endif
