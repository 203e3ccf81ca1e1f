#!/usr/bin/env python3
"""Remakes polynomials_32.h and polynomials_64.h, the polynomials of the device library: fit.py (needs python3-mpmath).

Each is the interpolation of a function at the Chebyshev nodes of an interval, within a factor of two or so of the best
polynomial of that degree, computed with 50 digits and then rounded. An entry has a name, what it approximates (in C's
words), the function, the interval of the polynomial's argument, and the degree in float and in double.
"""
import os
import struct
import subprocess
from mpmath import mp, mpf, chebyt, besselj, bessely, besseli, erfc, erf, exp, expm1, log, log1p, sqrt, sin, cos, pi
from mpmath import asin, atan, atanh, tanh, sinh, gamma, loggamma, erfinv, findroot, besseljzero, besselyzero, cospi
from mpmath import sinpi

mp.dps = 50
HERE = os.path.dirname(os.path.abspath(__file__))


def root(z):
    return sqrt(mpf(z))


def by_square(f, at_zero):
    """f as a function of its argument's square."""
    return lambda z: f(root(z)) if z > mpf(10) ** -30 else mpf(at_zero)


J0_ZERO, J0_ZERO_2 = besseljzero(0, 1), besseljzero(0, 2)
J1_ZERO, J1_ZERO_2 = besseljzero(1, 1), besseljzero(1, 2)
Y0_ZERO, Y0_ZERO_2, Y0_ZERO_3 = (besselyzero(0, k) for k in (1, 2, 3))
Y1_ZERO, Y1_ZERO_2 = besselyzero(1, 1), besselyzero(1, 2)


def modulus(n):
    """The modulus of J + iY beside sqrt(2 / (pi x)), of w = 64 / x^2."""
    def f(w):
        if w < mpf(10) ** -12:
            return mpf(1)
        x = 8 / root(w)
        return sqrt((besselj(n, x) ** 2 + bessely(n, x) ** 2) * pi * x / 2)
    return f


def phase(n):
    """x times what the phase of J + iY has beyond x - (2n + 1) pi / 4, of w = 64 / x^2."""
    def f(w):
        if w < mpf(10) ** -12:
            return mpf(4 * n * n - 1) / 8
        x = 8 / root(w)
        turn = x - (2 * n + 1) * pi / 4
        j, y = besselj(n, x), bessely(n, x)
        return x * mp.atan2(y * cos(turn) - j * sin(turn), j * cos(turn) + y * sin(turn))
    return f


def inverse_erfc(c):
    """The y with erfc(y) = c."""
    if c > mpf('1e-3'):
        return erfinv(1 - c)
    w = -log(c)
    return findroot(lambda y: log(erfc(y)) + w, sqrt(w) - log(w) / (4 * sqrt(w)))


def inverse_erf_by(w):
    """erfinv(x) / x of w = -log(1 - x^2)."""
    if w < mpf(10) ** -30:
        return sqrt(pi) / 2
    c = exp(-w) / (1 + sqrt(1 - exp(-w)))  # 1 - x
    return inverse_erfc(c) / (1 - c)


def erfcx(x):
    if x > 100:
        terms, total, k = mpf(1), mpf(1), 1
        while abs(terms) > mpf(10) ** -45 and k < 60:
            terms *= -(2 * k - 1) / (2 * x * x)
            total, k = total + terms, k + 1
        return total / (x * sqrt(pi))
    return exp(x * x) * erfc(x)


def erfcx_by(t):
    """(1 + 2 x) erfcx(x) of t = (x - 4) / (x + 4)."""
    if 1 - t < mpf(10) ** -30:
        return 2 / sqrt(pi)
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * erfcx(x)


def stirling(v):
    """x (lgamma(x) - ((x - 1/2) log(x) - x + log(2 pi) / 2)) of v = 1 / x^2."""
    if v < mpf(10) ** -10:
        return mpf(1) / 12 - v / 360
    x = 1 / root(v)
    return x * (loggamma(x) - ((x - 0.5) * log(x) - x + log(2 * pi) / 2))


def scaled_i(n):
    """sqrt(x) exp(-x) I_n(x) of t = 16 / x - 1."""
    def f(t):
        if 1 + t < mpf(10) ** -10:
            return 1 / sqrt(2 * pi)
        x = 16 / (1 + t)
        return sqrt(x) * exp(-x) * besseli(n, x)
    return f


def ratio(f, g, at_zero):
    return lambda x: f(x) / g(x) if abs(x) > mpf(10) ** -25 else mpf(at_zero)


HALF_LN2 = log(2) / 2
QUARTER = (pi / 4) ** 2

TABLE = [
    ('exp_tail', '(exp(t) - 1 - t) / t^2', ratio(lambda t: expm1(t) - t, lambda t: t * t, 0.5),
     -HALF_LN2 * mpf('1.01'), HALF_LN2 * mpf('1.01'), 4, 10),
    ('log_tail', '(2 atanh(s) - 2 s) / s^3 of t = s^2', by_square(lambda s: (2 * atanh(s) - 2 * s) / s ** 3, mpf(2) / 3),
     0, mpf('0.0298'), 3, 6),
    ('log_tail_2', '(2 atanh(s) - 2 s - 2/3 s^3) / s^5 of t = s^2',
     by_square(lambda s: (2 * atanh(s) - 2 * s - 2 * s ** 3 / 3) / s ** 5, mpf(2) / 5), 0, mpf('0.0298'), 2, 7),
    ('sin_tail', '(sin(x) - x) / x^3 of t = x^2', by_square(lambda x: (sin(x) - x) / x ** 3, -mpf(1) / 6),
     0, QUARTER * mpf('1.02'), 2, 5),
    ('cos_tail', '(cos(x) - 1 + x^2 / 2) / x^4 of t = x^2',
     by_square(lambda x: (cos(x) - 1 + x * x / 2) / x ** 4, mpf(1) / 24), 0, QUARTER * mpf('1.02'), 2, 5),
    ('sinpi_tail', '(sin(pi x) - pi x) / x^3 of t = x^2', by_square(lambda x: (sinpi(x) - pi * x) / x ** 3, -pi ** 3 / 6),
     0, mpf('0.0626'), 2, 5),
    ('cospi_tail', '(cos(pi x) - 1) / x^2 of t = x^2', by_square(lambda x: (cospi(x) - 1) / x ** 2, -pi ** 2 / 2),
     0, mpf('0.0626'), 3, 6),
    ('asin_tail', '(asin(x) - x) / x^3 of t = x^2', by_square(lambda x: (asin(x) - x) / x ** 3, mpf(1) / 6),
     0, mpf('0.25'), 5, 13),
    ('atan_tail', '(atan(x) - x) / x^3 of t = x^2', by_square(lambda x: (atan(x) - x) / x ** 3, -mpf(1) / 3), 0, 1, 8, 20),
    ('sinh_tail', '(sinh(x) - x) / x^3 of t = x^2', by_square(lambda x: (sinh(x) - x) / x ** 3, mpf(1) / 6), 0, 1, 3, 6),
    ('tanh_tail', '(tanh(x) - x) / x^3 of t = x^2', by_square(lambda x: (tanh(x) - x) / x ** 3, -mpf(1) / 3),
     0, mpf('0.31'), 5, 11),
    ('erf_tail', 'erf(x) / x - 1 of t = x^2', by_square(lambda x: erf(x) / x - 1, 2 / sqrt(pi) - 1), 0, 1, 7, 12),
    ('erfcx_part', '(1 + 2 x) erfcx(x) of t = (x - 4) / (x + 4)', erfcx_by, -1, 1, 11, 24),
    ('erf_log', 'log2(erfc(x)) of t = x - 2.5', lambda t: log(erfc(t + 2.5)) / log(2), mpf('-1.51'), mpf('1.6'), 8, None),
    ('erfinv_centre', 'erfinv(x) / x - 1 of t = w - 3, w = -log(1 - x^2)', lambda t: inverse_erf_by(t + 3) - 1, -3, 3, 10, 23),
    ('erfinv_small', 'erfinv(x) / x - 1 of t = x^2', by_square(lambda x: erfinv(x) / x - 1, sqrt(pi) / 2 - 1), 0, mpf('0.7'), 12, None),
    ('erfinv_near', 'erfinv(x) / x - 1 of t = sqrt(w) - 3.2', lambda t: inverse_erf_by((t + mpf('3.2')) ** 2) - 1,
     mpf('2.44') - mpf('3.2'), mpf('4.01') - mpf('3.2'), 8, 20),
    ('erfinv_far', 'erfinv(x) / x - 1 of t = sqrt(w) - 5', lambda t: inverse_erf_by((t + 5) ** 2) - 1,
     mpf('-1.01'), mpf('1.2'), 6, 19),
    ('erfinv_farther', 'erfinv(x) / x - 1 of t = sqrt(w) - 9', lambda t: inverse_erf_by((t + 9) ** 2) - 1,
     mpf('-3'), mpf('3.1'), 7, 19),
    ('erfinv_farthest', 'erfinv(x) / x - 1 of t = sqrt(w) - 19', lambda t: inverse_erf_by((t + 19) ** 2) - 1,
     mpf('-7.01'), mpf('8.4'), None, 20),
    ('lgamma_at_1', 'lgamma(1 + t) / t', ratio(lambda t: loggamma(1 + t), lambda t: t, -mp.euler),
     mpf('-0.2501'), mpf('0.5'), 9, 22),
    ('lgamma_at_2', 'lgamma(2 + t) / t', ratio(lambda t: loggamma(2 + t), lambda t: t, 1 - mp.euler),
     mpf('-0.5'), 1, 9, 22),
    ('stirling', 'x (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) of t = 1 / x^2', stirling, 0, mpf(1) / 64, 2, 7),
    ('gamma_inverse', '(1 / tgamma(1 + t) - 1) / t', ratio(lambda t: 1 / gamma(1 + t) - 1, lambda t: t, mp.euler),
     mpf('-0.5'), mpf('0.5'), 8, 15),
    ('j0_near', 'j0(x) / (x^2 - z^2) of t = x^2 - 8, z its first zero',
     lambda t: besselj(0, root(max(t + 8, 0))) / (t + 8 - J0_ZERO ** 2), -8, 8, 6, 11),
    ('j0_far', 'j0(x) / (x - z) of t = x - 6, z its second zero',
     lambda t: besselj(0, t + 6) / (t + 6 - J0_ZERO_2), -2, 2, 10, 20),
    ('j1_near', 'j1(x) / (x (x^2 - z^2)) of t = x^2 - 12.5, z its first zero',
     lambda t: (besselj(1, root(t + 12.5)) / root(t + 12.5) if t + 12.5 > mpf(10) ** -25 else mpf(0.5)) /
     (t + 12.5 - J1_ZERO ** 2), mpf('-12.5'), mpf('12.5'), 6, 12),
    ('j1_far', 'j1(x) / (x - z) of t = x - 6.5, z its second zero',
     lambda t: besselj(1, t + 6.5) / (t + 6.5 - J1_ZERO_2), mpf('-1.5'), mpf('1.5'), 9, 18),
    ('y0_near', '(y0(x) - 2 / pi log(x / z) j0(x)) / (x^2 - z^2) of t = x^2, z its first zero',
     by_square(lambda x: (bessely(0, x) - 2 / pi * log(x / Y0_ZERO) * besselj(0, x)) / (x * x - Y0_ZERO ** 2),
               (2 / pi * (mp.euler - log(2) + log(Y0_ZERO))) / -Y0_ZERO ** 2), 0, 9, 5, 9),
    ('y0_middle', 'y0(x) / (x - z) of t = x - 4.25, z its second zero',
     lambda t: bessely(0, t + 4.25) / (t + 4.25 - Y0_ZERO_2), mpf('-1.25'), mpf('1.25'), 9, 20),
    ('y0_far', 'y0(x) / (x - z) of t = x - 6.75, z its third zero',
     lambda t: bessely(0, t + 6.75) / (t + 6.75 - Y0_ZERO_3), mpf('-1.25'), mpf('1.25'), 9, 18),
    ('y1_near', '(y1(x) - 2 / pi log(x / z) j1(x)) x / (x^2 - z^2) of t = x^2, z its first zero',
     by_square(lambda x: (bessely(1, x) - 2 / pi * log(x / Y1_ZERO) * besselj(1, x)) * x / (x * x - Y1_ZERO ** 2),
               2 / pi / Y1_ZERO ** 2), 0, 16, 6, 11),
    ('y1_far', 'y1(x) / (x - z) of t = x - 6, z its second zero',
     lambda t: bessely(1, t + 6) / (t + 6 - Y1_ZERO_2), -2, 2, 10, 22),
    ('modulus_0', 'sqrt((j0^2 + y0^2) pi x / 2) of t = 64 / x^2', modulus(0), 0, 1, 3, 10),
    ('phase_0', 'x (the phase of j0 + i y0 - x + pi / 4) of t = 64 / x^2', phase(0), 0, 1, 4, 11),
    ('modulus_1', 'sqrt((j1^2 + y1^2) pi x / 2) of t = 64 / x^2', modulus(1), 0, 1, 3, 10),
    ('phase_1', 'x (the phase of j1 + i y1 - x + 3 pi / 4) of t = 64 / x^2', phase(1), 0, 1, 4, 11),
    ('i0_near', '(i0(x) - 1) / x^2 of t = x^2', by_square(lambda x: (besseli(0, x) - 1) / x ** 2, 0.25), 0, 16, 6, 10),
    ('i0_middle', 'i0(x) exp(-x) of t = x - 6', lambda t: besseli(0, t + 6) * exp(-t - 6), -2, 2, 9, 19),
    ('i0_far', 'i0(x) exp(-x) sqrt(x) of t = 16 / x - 1', scaled_i(0), -1, 1, 8, 25),
    ('i1_near', '(i1(x) / x - 1/2) / x^2 of t = x^2',
     by_square(lambda x: (besseli(1, x) / x - 0.5) / x ** 2 if x > mpf('1e-10') else mpf(1) / 16, mpf(1) / 16),
     0, 16, 6, 10),
    ('i1_middle', 'i1(x) exp(-x) of t = x - 6', lambda t: besseli(1, t + 6) * exp(-t - 6), -2, 2, 9, 19),
    ('i1_far', 'i1(x) exp(-x) sqrt(x) of t = 16 / x - 1', scaled_i(1), -1, 1, 8, 25),
]


def interpolate(f, low, high, degree):
    """Coefficients of t^0, t^1, ... of the interpolation at the Chebyshev nodes, and its largest error beside f."""
    middle, half, count = (mpf(low) + high) / 2, (mpf(high) - low) / 2, degree + 1
    nodes = [cos(pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    values = [f(middle + half * node) for node in nodes]
    series = [sum(v * cos(pi * j * (2 * k + 1) / (2 * count)) for k, v in enumerate(values)) * 2 / count
              for j in range(count)]
    series[0] /= 2
    # Chebyshev series to powers of u = (t - middle) / half, then to powers of t
    powers, before, now = [mpf(0)] * count, [mpf(1)], [mpf(0), mpf(1)]
    for j in range(count):
        for k, c in enumerate(before):
            powers[k] += series[j] * c
        double = [mpf(0)] + [2 * c for c in now]
        before, now = now, [d - (before[k] if k < len(before) else 0) for k, d in enumerate(double)]
    result = [powers[-1]]
    for c in reversed(powers[:-1]):  # Horner with (t - middle) / half
        shifted = [mpf(0)] + [r / half for r in result]
        for k, r in enumerate(result):
            shifted[k] -= r * middle / half
        shifted[0] += c
        result = shifted
    worst = mpf(0)
    for k in range(0, 3 * count + 1):
        t = middle + half * cos(pi * k / (3 * count))
        value = f(t)
        worst = max(worst, abs(mp.polyval(list(reversed(result)), t) / value - 1) if value else 0)
    return result, worst


def literal(value, bits):
    if bits == 64:
        return float(value).hex()
    return struct.unpack('f', struct.pack('f', float(value)))[0].hex() + 'f'


def write(bits):
    path = os.path.join(HERE, 'polynomials_%d.h' % bits)
    with open(path, 'w') as out:
        out.write('// Polynomials of the device library in %s precision, made by fit.py: change them there.\n'
                  '// The comment of each: what it approximates, where, and its relative error before rounding.\n'
                  '#pragma once\n' % ('double' if bits == 64 else 'single'))
        for name, text, f, low, high, *degrees in TABLE:
            degree = degrees[bits == 64]
            if degree is None:
                continue
            coefficients, worst = interpolate(f, low, high, degree)
            out.write('\n// %s, t in [%s, %s]: 2^%.1f\n' %
                      (text, mp.nstr(mpf(low), 6), mp.nstr(mpf(high), 6), float(log(worst) / log(2))))
            out.write('INLINE real %s(real t)\n{\n    real p = %s;\n' % (name, literal(coefficients[-1], bits)))
            for c in reversed(coefficients[:-1]):
                out.write('    p = FMA(p, t, %s);\n' % literal(c, bits))
            out.write('    return p;\n}\n')
            print(bits, name, mp.nstr(worst, 3), flush=True)
    subprocess.run(['clang-format', '-i', path], check=True)


write(32)
write(64)
