#include "tests/conformance/exact.h"

const Format format_f16 = {10, 5, ENDS_AT_INFINITY}, format_bf16 = {7, 8, ENDS_AT_INFINITY},
             format_f32 = {23, 8, ENDS_AT_INFINITY}, format_f64 = {52, 11, ENDS_AT_INFINITY},
             format_tf32 = {10, 8, ENDS_AT_INFINITY}, format_e4m3 = {3, 4, ENDS_AT_NAN},
             format_e5m2 = {2, 5, ENDS_AT_INFINITY}, format_e2m1 = {1, 2, ENDS_AT_NUMBER},
             format_e2m3 = {3, 2, ENDS_AT_NUMBER}, format_e3m2 = {2, 3, ENDS_AT_NUMBER};

enum { TOP_BIT = 124 }; /* of digits that are about to be added: a carry has room */

static int length_of(Wide digits) {
    int length = 0;
    for (; digits; digits >>= 1)
        length++;
    return length;
}

static int bias_of(Format format) {
    return (1 << (format.exponent - 1)) - 1;
}

static uint64_t infinity_of(Format format) {
    return ((1ull << format.exponent) - 1) << format.fraction;
}

static uint64_t sign_of(Format format) {
    return 1ull << (format.fraction + format.exponent);
}

static uint64_t largest_of(Format format) {
    switch (format.end) {
    case ENDS_AT_INFINITY: return infinity_of(format) - 1;
    case ENDS_AT_NAN: return sign_of(format) - 2;
    case ENDS_AT_NUMBER: return sign_of(format) - 1;
    }
    return 0;
}

bool is_nan(uint64_t bits, Format format) {
    return (bits & (sign_of(format) - 1)) > largest_of(format) + (format.end == ENDS_AT_INFINITY ? 1 : 0);
}

uint64_t exact_finite(uint64_t bits, Format format) {
    bool infinite = format.end == ENDS_AT_INFINITY && (bits & (sign_of(format) - 1)) == infinity_of(format);
    return bits - infinite;
}

uint64_t exact_flushed(uint64_t bits, Format format) {
    bool subnormal = (bits & infinity_of(format)) == 0;
    return subnormal ? bits & sign_of(format) : bits;
}

Exact exact_of(uint64_t bits, Format format) {
    uint64_t field = (bits & infinity_of(format)) >> format.fraction;
    uint64_t fraction = bits & ((1ull << format.fraction) - 1);
    Exact value = {.kind = CLASS_FINITE, .negative = (bits & sign_of(format)) != 0};
    if ((bits & (sign_of(format) - 1)) > largest_of(format)) {
        value.kind = is_nan(bits, format) ? CLASS_NAN : CLASS_INFINITE;
        return value;
    }
    value.digits = field ? fraction | 1ull << format.fraction : fraction;
    value.exponent = (int)(field ? field : 1) - bias_of(format) - format.fraction;
    if (value.digits == 0) value.kind = CLASS_ZERO;
    return value;
}

Exact exact_of_integer(SignedWide value) {
    Exact exact = {.kind = value ? CLASS_FINITE : CLASS_ZERO, .negative = value < 0};
    exact.digits = value < 0 ? -(Wide)value : (Wide)value;
    return exact;
}

Exact exact_negated(Exact a) {
    a.negative = !a.negative;
    return a;
}

/* Whether digits, of which `cut` were cut off at bit `places`, become one more. */
static bool rounds_up(Exact value, Wide kept, Wide cut, int places, Rounding rounding) {
    bool inexact = cut || value.cut_off;
    Wide half = places > 0 && places <= 127 ? (Wide)1 << (places - 1) : 0;
    switch (rounding) {
    case TO_ZERO: return false;
    case TO_BELOW: return value.negative && inexact;
    case TO_ABOVE: return !value.negative && inexact;
    case TO_NEAREST_AWAY: return half && cut >= half;
    case TO_NEAREST: break;
    }
    if (!half || cut < half) return false;
    return cut > half || value.cut_off || (kept & 1);
}

/* The digits in units of 2^unit. */
static Wide rounded_digits(Exact value, int unit, Rounding rounding) {
    int places = unit - value.exponent;
    if (places <= 0) {
        Wide kept = value.digits << -places;
        return kept + rounds_up(value, kept, 0, 0, rounding);
    }
    if (places > 127) return rounds_up(value, 0, value.digits, places, rounding);
    Wide kept = value.digits >> places;
    return kept + rounds_up(value, kept, value.digits & (((Wide)1 << places) - 1), places, rounding);
}

static uint64_t overflowed(bool negative, Format format, Rounding rounding) {
    bool away = rounding == TO_NEAREST || rounding == TO_NEAREST_AWAY ||
                rounding == (negative ? TO_BELOW : TO_ABOVE);
    return away && format.end == ENDS_AT_INFINITY ? infinity_of(format) : largest_of(format);
}

uint64_t exact_round(Exact value, Format format, Rounding rounding) {
    uint64_t sign = value.negative ? sign_of(format) : 0;
    switch (value.kind) {
    case CLASS_ZERO: return sign;
    case CLASS_INFINITE: return sign | overflowed(value.negative, format, TO_NEAREST);
    case CLASS_NAN: return sign_of(format) - 1;
    case CLASS_FINITE: break;
    }
    int least = 1 - bias_of(format), top = value.exponent + length_of(value.digits) - 1;
    int unit = (top < least ? least : top) - format.fraction;
    if (top > bias_of(format) + 1) return sign | overflowed(value.negative, format, rounding);
    /* The leading digit of a normal number counts the exponent up by one, and so does a carry. */
    Wide digits = rounded_digits(value, unit, rounding);
    uint64_t bits = (uint64_t)(digits + ((Wide)(unit - (least - format.fraction)) << format.fraction));
    return sign | (bits > largest_of(format) ? overflowed(value.negative, format, rounding) : bits);
}

uint64_t exact_round_flushed(Exact value, Format format, Rounding rounding) {
    int top = value.exponent + length_of(value.digits) - 1;
    bool is_tiny = value.kind == CLASS_FINITE && top < 1 - bias_of(format);
    if (is_tiny) value.kind = CLASS_ZERO;
    return exact_round(value, format, rounding);
}

Exact exact_integral(Exact value, Rounding rounding) {
    if (value.kind != CLASS_FINITE || value.exponent >= 0) return value;
    value.digits = rounded_digits(value, 0, rounding);
    value.exponent = 0;
    value.cut_off = false;
    if (value.digits == 0) value.kind = CLASS_ZERO;
    return value;
}

uint64_t exact_to_integer(Exact value, Rounding rounding, int bits, bool is_signed) {
    Wide most = ((Wide)1 << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? most + 1 : 0;
    Wide limit = value.negative ? least : most;
    value = exact_integral(value, rounding);
    Wide magnitude = value.digits;
    if (value.kind == CLASS_ZERO) magnitude = 0;
    if (value.kind == CLASS_FINITE && value.exponent > 0)
        magnitude = length_of(value.digits) + value.exponent > 100 ? limit : value.digits << value.exponent;
    if (value.kind == CLASS_INFINITE || magnitude > limit) magnitude = limit;
    return (uint64_t)(value.negative ? -magnitude : magnitude);
}

static Exact normalized(Exact a) {
    int shift = TOP_BIT + 1 - length_of(a.digits);
    a.digits <<= shift;
    a.exponent -= shift;
    return a;
}

static int compare_magnitudes(Exact a, Exact b) {
    if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
    if (a.kind != CLASS_FINITE) return 0;
    a = normalized(a);
    b = normalized(b);
    if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
    return a.digits < b.digits ? -1 : a.digits > b.digits;
}

int exact_compare(Exact a, Exact b) {
    if (a.kind == CLASS_ZERO && b.kind == CLASS_ZERO) return 0;
    bool a_below = a.kind != CLASS_ZERO && a.negative, b_below = b.kind != CLASS_ZERO && b.negative;
    if (a_below != b_below) return a_below ? -1 : 1;
    return a_below ? -compare_magnitudes(a, b) : compare_magnitudes(a, b);
}

/* Both finite. Of the smaller one digits may be cut off; then the larger one is so much larger that no more than one
 * of its leading digits can cancel. */
static Exact add_finite(Exact a, Exact b, Rounding rounding) {
    if (compare_magnitudes(a, b) < 0) return add_finite(b, a, rounding);
    a = normalized(a);
    b = normalized(b);
    int distance = a.exponent - b.exponent;
    Wide smaller = distance > 127 ? 0 : b.digits >> distance;
    bool cut_off = distance > 127 || (b.digits & (((Wide)1 << distance) - 1)) != 0;
    if (a.negative == b.negative) {
        a.digits += smaller;
    } else {
        a.digits -= smaller + (cut_off ? 1 : 0);
    }
    a.cut_off = cut_off;
    if (a.digits == 0 && !cut_off) a = (Exact){.kind = CLASS_ZERO, .negative = rounding == TO_BELOW};
    return a;
}

Exact exact_add(Exact a, Exact b, Rounding rounding) {
    if (a.kind == CLASS_NAN || b.kind == CLASS_NAN) return (Exact){.kind = CLASS_NAN};
    if (a.kind == CLASS_INFINITE && b.kind == CLASS_INFINITE && a.negative != b.negative)
        return (Exact){.kind = CLASS_NAN};
    if (a.kind == CLASS_INFINITE || b.kind == CLASS_INFINITE) return a.kind == CLASS_INFINITE ? a : b;
    if (a.kind == CLASS_ZERO && b.kind == CLASS_ZERO) {
        a.negative = a.negative == b.negative ? a.negative : rounding == TO_BELOW;
        return a;
    }
    if (a.kind == CLASS_ZERO || b.kind == CLASS_ZERO) return a.kind == CLASS_ZERO ? b : a;
    return add_finite(a, b, rounding);
}

Exact exact_multiply(Exact a, Exact b) {
    Exact product = {.kind = CLASS_FINITE, .negative = a.negative != b.negative};
    if (a.kind == CLASS_NAN || b.kind == CLASS_NAN) {
        product.kind = CLASS_NAN;
    } else if (a.kind == CLASS_INFINITE || b.kind == CLASS_INFINITE) {
        product.kind = a.kind == CLASS_ZERO || b.kind == CLASS_ZERO ? CLASS_NAN : CLASS_INFINITE;
    } else if (a.kind == CLASS_ZERO || b.kind == CLASS_ZERO) {
        product.kind = CLASS_ZERO;
    }
    product.digits = a.digits * b.digits;
    product.exponent = a.exponent + b.exponent;
    return product;
}

Exact exact_divide(Exact a, Exact b) {
    Exact quotient = {.kind = CLASS_FINITE, .negative = a.negative != b.negative};
    if (a.kind == CLASS_NAN || b.kind == CLASS_NAN || (a.kind == b.kind && a.kind != CLASS_FINITE)) {
        quotient.kind = CLASS_NAN;
    } else if (a.kind == CLASS_INFINITE || b.kind == CLASS_ZERO) {
        quotient.kind = CLASS_INFINITE;
    } else if (a.kind == CLASS_ZERO || b.kind == CLASS_INFINITE) {
        quotient.kind = CLASS_ZERO;
    } else {
        a = normalized(a);
        quotient.digits = a.digits / b.digits;
        quotient.cut_off = a.digits % b.digits != 0;
        quotient.exponent = a.exponent - b.exponent;
    }
    return quotient;
}

Exact exact_root(Exact a) {
    if (a.kind == CLASS_NAN || a.kind == CLASS_ZERO) return a;
    if (a.negative) return (Exact){.kind = CLASS_NAN};
    if (a.kind == CLASS_INFINITE) return a;
    a = normalized(a);
    if (a.exponent % 2 != 0) {
        a.digits >>= 1; /* it has zeros below */
        a.exponent++;
    }
    Wide root = 0;
    for (int bit = TOP_BIT / 2; bit >= 0; bit--) {
        Wide tried = root | (Wide)1 << bit;
        if (tried * tried <= a.digits) root = tried;
    }
    a.cut_off = root * root != a.digits;
    a.digits = root;
    a.exponent /= 2;
    return a;
}
