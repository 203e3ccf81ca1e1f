/* Conversions from and to floats of less than 32 bits, alone or two in a register: each value goes through a
 * double that is exact, and is rounded once. */
#include "core/ptx/execution/exec_internal.h"

#include <math.h>

/* `width`: bits from an element of a pair to the next. The largest finite value is the code `largest`;
 * `infinity` and `nan` are 0 for a format that has none. */
typedef struct {
    int mantissa, bias, exponent, width;
    uint32_t largest, infinity, nan;
} Format;

static const Format formats[] = {
    [NARROW_F16] = {10, 15, 5, 16, 0x7bff, 0x7c00, 0x7fff},
    [NARROW_BF16] = {7, 127, 8, 16, 0x7f7f, 0x7f80, 0x7fff},
    [NARROW_TF32] = {10, 127, 8, 32, 0x3fbff, 0x3fc00, 0x3ffff},
    [NARROW_E4M3] = {3, 7, 4, 8, 0x7e, 0, 0x7f},
    [NARROW_E5M2] = {2, 15, 5, 8, 0x7b, 0x7c, 0x7f},
    [NARROW_E2M1] = {1, 1, 2, 4, 7, 0, 0},
    [NARROW_E2M3] = {3, 1, 2, 8, 0x1f, 0, 0},
    [NARROW_E3M2] = {2, 3, 3, 8, 0x1f, 0, 0},
    [NARROW_UE8M0] = {0, 127, 8, 8, 0xfe, 0, 0xff},
};

static double round_digits(double magnitude, RoundingMode rounding, bool negative) {
    switch (rounding) {
    case ROUND_NEAREST: return nearbyint(magnitude);
    case ROUND_ZERO: return trunc(magnitude);
    case ROUND_DOWN: return negative ? ceil(magnitude) : floor(magnitude);
    case ROUND_UP: return negative ? floor(magnitude) : ceil(magnitude);
    case ROUND_AWAY: return round(magnitude);
    }
    return magnitude;
}

/* Beyond the largest value, before the sign. Whatever rounds away from infinity ends at the largest. */
static uint32_t overflow_of(const Format *to, RoundingMode rounding, bool negative, bool infinite) {
    bool away = rounding == ROUND_NEAREST || rounding == ROUND_AWAY ||
                rounding == (negative ? ROUND_DOWN : ROUND_UP);
    return to->infinity && (infinite || away) ? to->infinity : to->largest;
}

/* The power of two at or below the magnitude, or at or above it. Whatever is smaller than all is the smallest. */
static uint32_t encode_power(double value, const Format *to, uint32_t detail) {
    double magnitude = fabs(value), least = ldexp(1, -to->bias), most = ldexp(1, (int)to->largest - to->bias);
    if (value != value) return to->nan;
    if (magnitude <= least) return 0;
    int exponent = ilogb(magnitude);
    bool up = (detail & DETAIL_ROUNDING) == ROUND_UP && magnitude > ldexp(1, exponent);
    if (isinf(magnitude) || (up && magnitude > most))
        return detail & DETAIL_SATFINITE ? to->largest : to->nan;
    return (uint32_t)(exponent + up + to->bias);
}

static uint32_t encode(double value, const Format *to, uint32_t detail) {
    if (to == &formats[NARROW_UE8M0]) return encode_power(value, to, detail);
    RoundingMode rounding = (RoundingMode)(detail & DETAIL_ROUNDING);
    bool negative = signbit(value), finite_only = detail & DETAIL_SATFINITE;
    if (value != value) return to->nan ? to->nan : to->largest;
    if (negative && detail & DETAIL_RELU) return 0;
    uint32_t sign = negative ? 1u << (to->mantissa + to->exponent) : 0;
    double magnitude = fabs(value);
    if (isinf(magnitude))
        return sign | (finite_only ? to->largest : overflow_of(to, rounding, negative, true));
    int exponent = magnitude == 0 ? 1 - to->bias : ilogb(magnitude);
    if (exponent < 1 - to->bias) exponent = 1 - to->bias;
    double digits = round_digits(ldexp(magnitude, to->mantissa - exponent), rounding, negative);
    /* A carry out of the digits counts the exponent up. */
    double code = digits + ldexp(exponent + to->bias - 1, to->mantissa);
    if (code <= to->largest) return sign | (uint32_t)code;
    return sign | (finite_only ? to->largest : overflow_of(to, rounding, negative, false));
}

static double decode_power(uint32_t bits, const Format *from) {
    uint32_t code = bits & 0xff;
    return code == from->nan ? (double)NAN : ldexp(1, (int)code - from->bias);
}

static double decode(uint32_t bits, const Format *from) {
    if (from == &formats[NARROW_UE8M0]) return decode_power(bits, from);
    int top = from->mantissa + from->exponent;
    uint32_t magnitude = bits & ((1u << top) - 1), fraction = magnitude & ((1u << from->mantissa) - 1);
    int exponent = (int)(magnitude >> from->mantissa);
    double value = exponent ? ldexp(fraction + (1u << from->mantissa), exponent - from->bias - from->mantissa)
                            : ldexp(fraction, 1 - from->bias - from->mantissa);
    if (from->nan && magnitude > (from->infinity ? from->infinity : from->largest)) value = (double)NAN;
    if (from->infinity && magnitude == from->infinity) value = (double)INFINITY;
    return bits >> top & 1 ? -value : value;
}

double narrow_float_value(uint32_t bits, NarrowType format) {
    return decode(bits, &formats[format]);
}

uint16_t f16_of_double(double value) {
    return (uint16_t)encode(value, &formats[NARROW_F16], ROUND_NEAREST);
}

uint16_t bf16_of_double(double value) {
    return (uint16_t)encode(value, &formats[NARROW_BF16], ROUND_NEAREST);
}

double double_of_f16(uint16_t bits) {
    return decode(bits, &formats[NARROW_F16]);
}

double double_of_bf16(uint16_t bits) {
    return decode(bits, &formats[NARROW_BF16]);
}

/* Integers of more digits than a double has keep a bit that says so: the one rounding comes out right. */
static double double_of_u64(uint64_t value) {
    return value >> 53 ? (double)(value >> 11 | ((value & 0x7ff) != 0)) * 2048.0 : (double)value;
}

static double value_of_integer(uint64_t bits, NarrowType type) {
    switch (type) {
    case NARROW_U8: return (uint8_t)bits;
    case NARROW_S8: return (int8_t)bits;
    case NARROW_U16: return (uint16_t)bits;
    case NARROW_S16: return (int16_t)bits;
    case NARROW_U32: return (uint32_t)bits;
    case NARROW_S32: return (int32_t)bits;
    case NARROW_S64: return (int64_t)bits < 0 ? -double_of_u64(-bits) : double_of_u64(bits);
    default: return double_of_u64(bits);
    }
}

static double value_of(uint64_t bits, NarrowType type) {
    if (type < NARROW_FORMATS) return narrow_float_value((uint32_t)bits, type);
    if (type == NARROW_F32) return (double)f32_of_bits((uint32_t)bits);
    if (type == NARROW_F64) return f64_of_bits(bits);
    return value_of_integer(bits, type);
}

static double integral(double value, uint32_t detail) {
    bool negative = signbit(value);
    return copysign(round_digits(fabs(value), (RoundingMode)(detail & DETAIL_ROUNDING), negative), value);
}

/* NaN is 0, but to 64 bits only the top bit is set. */
static uint64_t integer_of(double value, NarrowType type, uint32_t detail) {
    int bits = 8 << ((type - NARROW_U8) >> 1), is_signed = (type - NARROW_U8) & 1;
    if (value != value) return bits == 64 ? 1ull << 63 : 0;
    value = integral(value, detail);
    double limit = ldexp(1, bits - is_signed), least = is_signed ? -limit : 0;
    if (value < least) value = least;
    if (value >= limit) return is_signed ? (1ull << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    return is_signed ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static uint64_t bits_of(double value, NarrowType type, uint32_t detail) {
    if (type >= NARROW_U8) return integer_of(value, type, detail);
    if (detail & DETAIL_INTEGRAL && value == value) {
        value = integral(value, detail);
        detail &= ~(uint32_t)DETAIL_ROUNDING; /* what it leaves has its place in the format or none */
    }
    if (detail & DETAIL_SATURATE) value = value > 0 ? (value < 1 ? value : 1) : 0;
    if (type < NARROW_FORMATS) {
        uint32_t bits = encode(value, &formats[type], detail);
        return type == NARROW_TF32 ? (value == value ? bits << 13 : 0x7fffffff) : bits;
    }
    if (type == NARROW_F64) return bits_of_f64(canonical_f64(value));
    return bits_of_f32(
        flush_f32(canonical_f32((float)value), detail & DETAIL_FTZ ? SMALLEST_NORMAL_F32 : 0.0f));
}

static uint64_t source_lane(const Inst *inst, const ExecContext *context, int operand, bool wide, int lane) {
    const void *from = source(inst, context, operand);
    return wide ? ((const LaneU64 *)from)[lane] : ((const LaneU32 *)from)[lane];
}

static uint64_t flushed(uint64_t bits, NarrowType type, uint32_t detail) {
    if (type != NARROW_F32 || !(detail & DETAIL_FTZ)) return bits;
    return bits_of_f32(flush_f32(f32_of_bits((uint32_t)bits), SMALLEST_NORMAL_F32));
}

static bool is_wide(NarrowType type) {
    return type == NARROW_F64 || type == NARROW_U64 || type == NARROW_S64;
}

/* Of a pair the first source is the upper element, or one source has both. */
static uint64_t convert_lane(const Inst *inst, const ExecContext *context, int lane) {
    uint32_t detail = inst->detail;
    NarrowType to = (NarrowType)(detail >> DETAIL_TO_SHIFT & 0x1f),
               from = (NarrowType)(detail >> DETAIL_FROM_SHIFT & 0x1f);
    bool wide = is_wide(from) || detail & DETAIL_SOURCE_WIDE;
    uint64_t first = flushed(source_lane(inst, context, 0, wide, lane), from, detail);
    if (!(detail & DETAIL_PAIR)) return bits_of(value_of(first, from), to, detail);
    uint64_t upper = first, lower = first;
    if (from < NARROW_FORMATS)
        upper >>= formats[from].width;
    else
        lower = flushed(source_lane(inst, context, 1, false, lane), from, detail);
    return bits_of(value_of(upper, from), to, detail) << formats[to].width |
           bits_of(value_of(lower, from), to, detail);
}

void exec_cvt_narrow(const Inst *inst, ExecContext *context) {
    NarrowType to = (NarrowType)(inst->detail >> DETAIL_TO_SHIFT & 0x1f);
    bool wide = is_wide(to) || inst->detail & DETAIL_DESTINATION_WIDE;
    uint64_t result[WARP_LANES];
    uint32_t narrow[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++) {
        result[lane] = convert_lane(inst, context, lane);
        narrow[lane] = (uint32_t)result[lane];
    }
    if (wide)
        write_lanes_64(destination(inst, context, 0), result, context->active);
    else
        write_lanes_32(destination(inst, context, 0), narrow, context->active);
}
