// Bessel functions.
#include "exponential.h"
#include "logarithm.h"
#include "trigonometry.h"

#define TWO_OVER_PI R(0x1.45f306dc9c883p-1)

// The zeros below 8, in two parts each.
#if REAL_BITS == 64
#define J0_ZERO_1 0x1.33d152e971b40p+1, -0x1.0f539d7da258ep-53
#define J0_ZERO_2 0x1.6148f5b2c2e45p+2, 0x1.75054cd60a517p-54
#define J1_ZERO_1 0x1.ea75575af6f09p+1, -0x1.60155a9d1b256p-53
#define J1_ZERO_2 0x1.c0ff5f3b47250p+2, -0x1.b226d9d243827p-54
#define Y0_ZERO_1 0x1.c982eb8d417eap-1, 0x1.ea9d270347f83p-56
#define Y0_ZERO_2 0x1.fa9534d98569cp+1, -0x1.f06ae7804384ep-54
#define Y0_ZERO_3 0x1.c581dc4e72103p+2, -0x1.9774a495f56cfp-54
#define Y1_ZERO_1 0x1.193bed4dff243p+1, -0x1.bd1e50d219bfdp-55
#define Y1_ZERO_2 0x1.5b7fe4e87b02ep+2, 0x1.dfe7bac228e8cp-52
#else
#define J0_ZERO_1 0x1.33d152p+1f, 0x1.d2e368p-24f
#define J0_ZERO_2 0x1.6148f6p+2f, -0x1.34f46ep-24f
#define J1_ZERO_1 0x1.ea7558p+1f, -0x1.4a121ep-24f
#define J1_ZERO_2 0x1.c0ff60p+2f, -0x1.8971b6p-23f
#define Y0_ZERO_1 0x1.c982ecp-1f, -0x1.cafa06p-27f
#define Y0_ZERO_2 0x1.fa9534p+1f, 0x1.b30ad4p-24f
#define Y0_ZERO_3 0x1.c581dcp+2f, 0x1.39c840p-24f
#define Y1_ZERO_1 0x1.193beep+1f, -0x1.6401b8p-24f
#define Y1_ZERO_2 0x1.5b7fe4p+2f, 0x1.d0f606p-23f
#endif

INLINE real beyond_of(real x, real zero, real zero_low) {
    return (x - zero) - zero_low;
}
#define BEYOND(x, ...) beyond_of(x, __VA_ARGS__)

INLINE real zero_of(real zero, real zero_low) {
    return zero + 0 * zero_low;
}
#define ZERO(...) zero_of(__VA_ARGS__)

/// x^2 less a zero's.
#define SQUARE_BEYOND(x, ...) (BEYOND(x, __VA_ARGS__) * ((x) + ZERO(__VA_ARGS__)))

INLINE real log_beside(real x, real beyond, real zero) {
    // near the zero the difference is exact, far from it the quotient, which must be no subnormal
    if (x > R(0.5) * zero) return log1p_of(div_rn(beyond, zero));
    return x < R(0x1p-80)
               ? log_of(div_rn(x * R(0x1p80), zero)) - R(55.45177444479562475337856971665) // log(2^80)
               : log_of(div_rn(x, zero));
}

/// The functions beyond 8: the modulus times the cosine (turn 0) or the sine (turn -1) of the phase. Orders 0 and 1.
static LARGE real bessel_far(real x, int order, int turn) {
    real inverse = div_rn(8, x), w = inverse * inverse;
    real modulus = order ? modulus_1(w) : modulus_0(w);
    real beyond = (order ? phase_1(w) : phase_0(w)) * inverse; // 8 times it
    Reduced r = reduce(x);
    // less pi/4, and a quarter turn more for order 1
    real angle = r.high + (r.low + FMA(beyond, R(0.125), -PI / 4));
    int quadrant = r.quadrant - order + turn;
    if (angle < -PI / 4) {
        angle += PI / 2;
        quadrant--;
    }
    real cosine = sin_turned(sin_reduced(angle, 0), cos_reduced(angle, 0), quadrant + 1);
    real result = modulus * SQRT(div_rn(TWO_OVER_PI, x)) * cosine;
    return x == INFINITE ? 0 : result;
}

INLINE real j0_below_5(real x) {
    return SQUARE_BEYOND(x, J0_ZERO_1) * j0_near(FMA(x, x, -8));
}

static LARGE real j0_of(real x) {
    real a = ABS(x);
    if (!(a < 8)) return bessel_far(a, 0, 0);
    return a < 4 ? j0_below_5(a) : BEYOND(a, J0_ZERO_2) * j0_far(a - 6);
}

INLINE real j1_below_5(real x) {
    return x * (SQUARE_BEYOND(x, J1_ZERO_1) * j1_near(FMA(x, x, R(-12.5))));
}

static LARGE real j1_of(real x) {
    real a = ABS(x), result;
    if (!(a < 8))
        result = bessel_far(a, 1, 0);
    else
        result = a < 5 ? j1_below_5(a) : BEYOND(a, J1_ZERO_2) * j1_far(a - R(6.5));
    return x < 0 || x == 0 ? COPYSIGN(R(1.0), x) * result : result;
}

/// What y0, y1 and yn are of zero and of negative numbers.
INLINE real of_positive(real x, real result) {
    result = x == 0 ? -INFINITE : result;
    return x < 0 || is_nan(x) ? NOT_A_NUMBER : result;
}

static LARGE real y0_of(real x) {
    if (!(x < 8)) return of_positive(x, bessel_far(x, 0, -1));
    if (x >= R(5.5)) return BEYOND(x, Y0_ZERO_3) * y0_far(x - R(6.75));
    if (x >= 3) return BEYOND(x, Y0_ZERO_2) * y0_middle(x - R(4.25));
    real log_part = log_beside(x, BEYOND(x, Y0_ZERO_1), ZERO(Y0_ZERO_1));
    return of_positive(
        x, FMA(TWO_OVER_PI * log_part, j0_below_5(x), SQUARE_BEYOND(x, Y0_ZERO_1) * y0_near(x * x)));
}

static LARGE real y1_of(real x) {
    if (!(x < 8)) return of_positive(x, bessel_far(x, 1, -1));
    if (x >= 4) return BEYOND(x, Y1_ZERO_2) * y1_far(x - 6);
    real log_part = log_beside(x, BEYOND(x, Y1_ZERO_1), ZERO(Y1_ZERO_1));
    real rest = div_rn(SQUARE_BEYOND(x, Y1_ZERO_1) * y1_near(x * x), x);
    return of_positive(x, FMA(TWO_OVER_PI * log_part, j1_below_5(x), rest));
}

EXPORT real NAME(j0)(real x) {
    return j0_of(x);
}

EXPORT real NAME(j1)(real x) {
    return j1_of(x);
}

EXPORT real NAME(y0)(real x) {
    return y0_of(x);
}

EXPORT real NAME(y1)(real x) {
    return y1_of(x);
}

/// The recurrence upwards, which is stable for jn while n < x, and for yn always.
INLINE real upwards(int n, real x, real before, real now) {
    for (int k = 1; k < n && now != -INFINITE; k++) {
        real next = FMA(div_rn(2 * (real)k, x), now, -before);
        before = now;
        now = next;
    }
    return now;
}

/// Miller's recurrence downwards from where jn is nothing, scaled by j0 + 2 (j2 + j4 + ...) = 1.
INLINE real downwards(int n, real x) {
    int start = n + (int)SQRT((real)(REAL_BITS == 64 ? 60 : 40) * (real)n);
    start = (start / 2 + (REAL_BITS == 64 ? 12 : 8)) * 2;
    real above = 0, now = 1, sum = 0, result = 0;
    real two_over_x = div_rn(2, x);
    real limit = power_of_2(EXPONENT_BIAS / 2), shrink = power_of_2(-EXPONENT_BIAS / 2);
    for (int k = start; k > 0; k--) {
        real below = FMA((real)k * two_over_x, now, -above);
        above = now;
        now = below;
        if (ABS(now) > limit) {
            above *= shrink;
            now *= shrink;
            sum *= shrink;
            result *= shrink;
        }
        if (k - 1 == n) result = now;
        if (k & 1) sum += now; // the order k - 1 is even
    }
    return div_rn(result, FMA(2, sum, -now));
}

#define TINY_ARGUMENT OF_BITS(ONE_BITS - ((bits)(EXPONENT_BIAS / 4) << MANTISSA_BITS))

static LARGE real jn_of(int n, real x) {
    if (n < 0) return NOT_A_NUMBER;
    if (n == 0) return j0_of(x);
    if (n == 1) return j1_of(x);
    real a = ABS(x), result;
    if (is_nan(x)) return x;
    if (a == INFINITE)
        result = 0;
    else if (a > (real)n)
        result = upwards(n, a, j0_of(a), j1_of(a));
    else
        result = a < TINY_ARGUMENT ? 0 : downwards(n, a);
    return x < 0 && (n & 1) ? -result : result;
}

static LARGE real yn_of(int n, real x) {
    if (n < 0) return NOT_A_NUMBER;
    if (n == 0) return y0_of(x);
    real first = y1_of(x);
    if (n == 1 || !(x > 0) || x == INFINITE) return first;
    return upwards(n, x, y0_of(x), first);
}

EXPORT real NAME(jn)(int n, real x) {
    return jn_of(n, x);
}

EXPORT real NAME(yn)(int n, real x) {
    return yn_of(n, x);
}

/// exp(x) times a part and 1 / sqrt(x), x >= 8, where exp(x) alone may overflow.
INLINE real grown(real x, real part) {
    real half = exp_scaled(R(0.5) * x, 0);
    return div_rn(part, SQRT(x)) * half * half;
}

EXPORT real NAME(cyl_bessel_i0)(real x) {
    real a = ABS(x), z = x * x;
    if (a < 4) return FMA(z, i0_near(z), 1);
    if (a < 8) return exp_scaled(a, 0) * i0_middle(a - 6);
    return is_nan(x) ? x : a > R(720.0) ? INFINITE : grown(a, i0_far(div_rn(16, a) - 1));
}

EXPORT real NAME(cyl_bessel_i1)(real x) {
    real a = ABS(x), z = x * x, result;
    if (a < 4) return x * FMA(z, i1_near(z), R(0.5));
    if (a < 8)
        result = exp_scaled(a, 0) * i1_middle(a - 6);
    else
        result = is_nan(x) ? x : a > R(720.0) ? INFINITE : grown(a, i1_far(div_rn(16, a) - 1));
    return COPYSIGN(result, x);
}
