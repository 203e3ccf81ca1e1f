/* cvt. Every handler computes all lanes into a local array: source and destination may differ in width, and
 * types of at most 32 bits may stand in 64-bit registers (DETAIL_SOURCE_WIDE, DETAIL_DESTINATION_WIDE). */
#include "core/ptx/execution/exec_internal.h"

#include <math.h>

static const LaneU32 *narrow_lanes(const Inst *inst, const ExecContext *context, uint32_t *copy) {
    if (__builtin_expect(!(inst->detail & DETAIL_SOURCE_WIDE), 1)) return source(inst, context, 0);
    const LaneU64 *wide = source(inst, context, 0);
    for (int lane = 0; lane < WARP_LANES; lane++)
        copy[lane] = (uint32_t)wide[lane];
    return copy;
}

static void write_extended(const Inst *inst, ExecContext *context, const uint32_t *result, bool is_signed) {
    if (__builtin_expect(!(inst->detail & DETAIL_DESTINATION_WIDE), 1)) {
        write_lanes_32(destination(inst, context, 0), result, context->active);
        return;
    }
    uint64_t wide[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++) {
        wide[lane] = is_signed ? (uint64_t)(int64_t)(int32_t)result[lane] : result[lane];
    }
    write_lanes_64(destination(inst, context, 0), wide, context->active);
}

static inline void write_wide(const Inst *inst, ExecContext *context, const uint64_t *result,
                              bool is_signed) {
    (void)is_signed;
    write_lanes_64(destination(inst, context, 0), result, context->active);
}

/* The lanes of a source register of 32 and of 64 bits. */
#define NARROW_SOURCE                                                                                        \
    uint32_t copy[WARP_LANES];                                                                               \
    const LaneU32 *from = narrow_lanes(inst, context, copy);
#define WIDE_SOURCE const LaneU64 *from = source(inst, context, 0);

/* Every pair of integer types: X(name, C type, signed, lane type, how to read, how to write). */
#define DEFINE_INTEGER_CVT(to, TO, to_signed, RESULT, write, from_name, FROM, SOURCE)                        \
    void exec_cvt_##to##_##from_name(const Inst *inst, ExecContext *context) {                               \
        SOURCE RESULT result[WARP_LANES];                                                                    \
        FOR_LANES result[lane] = (RESULT)(TO)(FROM)from[lane];                                               \
        write(inst, context, result, to_signed);                                                             \
    }
#define DEFINE_INTEGER_CVTS_FROM(from_name, FROM, SOURCE)                                                    \
    DEFINE_INTEGER_CVT(u8, uint8_t, false, uint32_t, write_extended, from_name, FROM, SOURCE)                \
    DEFINE_INTEGER_CVT(s8, int8_t, true, uint32_t, write_extended, from_name, FROM, SOURCE)                  \
    DEFINE_INTEGER_CVT(u16, uint16_t, false, uint32_t, write_extended, from_name, FROM, SOURCE)              \
    DEFINE_INTEGER_CVT(s16, int16_t, true, uint32_t, write_extended, from_name, FROM, SOURCE)                \
    DEFINE_INTEGER_CVT(u32, uint32_t, false, uint32_t, write_extended, from_name, FROM, SOURCE)              \
    DEFINE_INTEGER_CVT(s32, int32_t, true, uint32_t, write_extended, from_name, FROM, SOURCE)                \
    DEFINE_INTEGER_CVT(u64, uint64_t, false, uint64_t, write_wide, from_name, FROM, SOURCE)                  \
    DEFINE_INTEGER_CVT(s64, int64_t, true, uint64_t, write_wide, from_name, FROM, SOURCE)

DEFINE_INTEGER_CVTS_FROM(u8, uint8_t, NARROW_SOURCE)
DEFINE_INTEGER_CVTS_FROM(s8, int8_t, NARROW_SOURCE)
DEFINE_INTEGER_CVTS_FROM(u16, uint16_t, NARROW_SOURCE)
DEFINE_INTEGER_CVTS_FROM(s16, int16_t, NARROW_SOURCE)
DEFINE_INTEGER_CVTS_FROM(u32, uint32_t, NARROW_SOURCE)
DEFINE_INTEGER_CVTS_FROM(s32, int32_t, NARROW_SOURCE)
DEFINE_INTEGER_CVTS_FROM(u64, uint64_t, WIDE_SOURCE)
DEFINE_INTEGER_CVTS_FROM(s64, int64_t, WIDE_SOURCE)

/* Saturating conversions between integers are rare: one handler goes through 128 bits. */
static __int128 extend(uint64_t value, IntegerType type) {
    switch (type) {
    case TYPE_U8: return (uint8_t)value;
    case TYPE_S8: return (int8_t)value;
    case TYPE_U16: return (uint16_t)value;
    case TYPE_S16: return (int16_t)value;
    case TYPE_U32: return (uint32_t)value;
    case TYPE_S32: return (int32_t)value;
    case TYPE_U64: return value;
    case TYPE_S64: return (int64_t)value;
    }
    return 0;
}

static bool type_is_signed(IntegerType type) {
    return type & 1;
}
static int type_bits(IntegerType type) {
    return 8 << (type >> 1);
}

static uint64_t saturate_to(__int128 value, IntegerType type) {
    int bits = type_bits(type);
    __int128 limit = (__int128)1 << (type_is_signed(type) ? bits - 1 : bits);
    __int128 least = type_is_signed(type) ? -limit : 0;
    return (uint64_t)(value < least ? least : value > limit - 1 ? limit - 1 : value);
}

void exec_cvt_saturate(const Inst *inst, ExecContext *context) {
    IntegerType to = (IntegerType)(inst->detail >> DETAIL_TYPES_SHIFT & 0xf);
    IntegerType from = (IntegerType)(inst->detail >> (DETAIL_TYPES_SHIFT + 4) & 0xf);
    bool wide_source = type_bits(from) == 64 || inst->detail & DETAIL_SOURCE_WIDE;
    const void *lanes = source(inst, context, 0);
    uint64_t wide[WARP_LANES];
    uint32_t narrow[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint64_t value = wide_source ? ((const LaneU64 *)lanes)[lane] : ((const LaneU32 *)lanes)[lane];
        wide[lane] = saturate_to(extend(value, from), to);
        narrow[lane] = (uint32_t)wide[lane];
    }
    if (type_bits(to) == 64) {
        write_wide(inst, context, wide, false);
    } else {
        write_extended(inst, context, narrow, type_is_signed(to));
    }
}

/* cvt.pack: a above b, and what stood in c above both. */
void exec_cvt_pack(const Inst *inst, ExecContext *context) {
    const LaneS32 *a = source(inst, context, 0), *b = source(inst, context, 1);
    const LaneU32 *c = inst->src_count > 2 ? source(inst, context, 2) : NULL;
    uint32_t bits = inst->detail & DETAIL_PACK_BITS, mask = (1u << bits) - 1, result[WARP_LANES];
    int32_t most = (int32_t)(inst->detail & DETAIL_PACK_SIGNED ? mask >> 1 : mask),
            least = inst->detail & DETAIL_PACK_SIGNED ? -most - 1 : 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint32_t above = (uint32_t)(a[lane] < least ? least : a[lane] > most ? most : a[lane]) & mask;
        uint32_t below = (uint32_t)(b[lane] < least ? least : b[lane] > most ? most : b[lane]) & mask;
        result[lane] = above << bits | below | (c ? c[lane] << 2 * bits : 0);
    }
    write_lanes_32(destination(inst, context, 0), result, context->active);
}

/* Integer to float. The loop is a function of its own, so that the host's rounding mode holds for all of
 * it. */
static void finish_f32(const Inst *inst, ExecContext *context, float *result) {
    if (inst->detail & (DETAIL_FTZ | DETAIL_SATURATE)) {
        float smallest = inst->detail & DETAIL_FTZ ? SMALLEST_NORMAL_F32 : 0.0f;
        for (int lane = 0; lane < WARP_LANES; lane++) {
            result[lane] = flush_f32(result[lane], smallest);
            if (inst->detail & DETAIL_SATURATE) result[lane] = saturate_f32(result[lane]);
        }
    }
    write_lanes_32(destination(inst, context, 0), (const LaneU32 *)(const void *)result, context->active);
}

static void finish_f64(const Inst *inst, ExecContext *context, double *result) {
    if (inst->detail & DETAIL_SATURATE) {
        for (int lane = 0; lane < WARP_LANES; lane++)
            result[lane] = saturate_f64(result[lane]);
    }
    write_lanes_64(destination(inst, context, 0), (const LaneU64 *)(const void *)result, context->active);
}

#define DEFINE_ROUNDED_CVT(to, TO, from_name, FROM, SOURCE, expression)                                      \
    __attribute__((noinline)) static void loop_##to##_##from_name(const Inst *inst, ExecContext *context,    \
                                                                  TO *result) {                              \
        SOURCE FOR_LANES {                                                                                   \
            FROM a = (FROM)from[lane];                                                                       \
            result[lane] = expression;                                                                       \
        }                                                                                                    \
    }                                                                                                        \
    void exec_cvt_##to##_##from_name(const Inst *inst, ExecContext *context) {                               \
        TO result[WARP_LANES] __attribute__((aligned(64)));                                                  \
        RoundingMode rounding = (RoundingMode)(inst->detail & DETAIL_ROUNDING);                              \
        if (rounding != ROUND_NEAREST) set_host_rounding(rounding);                                          \
        loop_##to##_##from_name(inst, context, result);                                                      \
        if (rounding != ROUND_NEAREST) set_host_rounding(ROUND_NEAREST);                                     \
        finish_##to(inst, context, result);                                                                  \
    }

#define DEFINE_INTEGER_TO_FLOAT(from_name, FROM, SOURCE)                                                     \
    DEFINE_ROUNDED_CVT(f32, float, from_name, FROM, SOURCE, (float)a)                                        \
    DEFINE_ROUNDED_CVT(f64, double, from_name, FROM, SOURCE, (double)a)

DEFINE_INTEGER_TO_FLOAT(u8, uint8_t, NARROW_SOURCE)
DEFINE_INTEGER_TO_FLOAT(s8, int8_t, NARROW_SOURCE)
DEFINE_INTEGER_TO_FLOAT(u16, uint16_t, NARROW_SOURCE)
DEFINE_INTEGER_TO_FLOAT(s16, int16_t, NARROW_SOURCE)
DEFINE_INTEGER_TO_FLOAT(u32, uint32_t, NARROW_SOURCE)
DEFINE_INTEGER_TO_FLOAT(s32, int32_t, NARROW_SOURCE)
DEFINE_INTEGER_TO_FLOAT(u64, uint64_t, WIDE_SOURCE)
DEFINE_INTEGER_TO_FLOAT(s64, int64_t, WIDE_SOURCE)

/* Float to float of another width. */
#define F32_SOURCE const LaneF32 *from = source(inst, context, 0);
#define F64_SOURCE const LaneF64 *from = source(inst, context, 0);
/* .ftz makes zero what is tiny before it is rounded. */
#define FLUSHED_F64_SOURCE F64_SOURCE double smallest = (double)smallest_kept(inst);
DEFINE_ROUNDED_CVT(f32, float, f64, double, FLUSHED_F64_SOURCE,
                   canonical_f32(__builtin_fabs(a) < smallest ? __builtin_copysignf(0.0f, (float)a)
                                                              : (float)a))

void exec_cvt_f64_f32(const Inst *inst, ExecContext *context) {
    F32_SOURCE double result[WARP_LANES] __attribute__((aligned(64)));
    float smallest = smallest_kept(inst);
    FOR_LANES result[lane] = canonical_f64((double)flush_f32(from[lane], smallest));
    finish_f64(inst, context, result);
}

/* To an integer that is a double, by the mode of cvt.rni, rzi, rmi, rpi. */
static inline double round_to_integer(double value, uint32_t rounding) {
    switch ((RoundingMode)rounding) {
    case ROUND_NEAREST: return rint(value);
    case ROUND_ZERO: return trunc(value);
    case ROUND_DOWN: return floor(value);
    case ROUND_UP: return ceil(value);
    case ROUND_AWAY: return round(value);
    }
    return value;
}

/* cvt.rni.f32.f32 and the like round to an integer, cvt.sat.f32.f32 and cvt.f32.f32 do not. */
static inline void round_in_place(double *values, uint32_t rounding) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        values[lane] = round_to_integer(values[lane], rounding);
}

void exec_cvt_f32_f32(const Inst *inst, ExecContext *context) {
    F32_SOURCE float result[WARP_LANES];
    float smallest = smallest_kept(inst);
    for (int lane = 0; lane < WARP_LANES; lane++)
        result[lane] = canonical_f32(flush_f32(from[lane], smallest));
    finish_f32(inst, context, result);
}

void exec_cvt_f32_f32_integral(const Inst *inst, ExecContext *context) {
    F32_SOURCE float result[WARP_LANES];
    double values[WARP_LANES];
    float smallest = smallest_kept(inst);
    for (int lane = 0; lane < WARP_LANES; lane++)
        values[lane] = (double)flush_f32(from[lane], smallest);
    round_in_place(values, inst->detail & DETAIL_ROUNDING);
    for (int lane = 0; lane < WARP_LANES; lane++)
        result[lane] = canonical_f32((float)values[lane]);
    finish_f32(inst, context, result);
}

void exec_cvt_f64_f64(const Inst *inst, ExecContext *context) {
    F64_SOURCE double result[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++)
        result[lane] = canonical_f64(from[lane]);
    finish_f64(inst, context, result);
}

void exec_cvt_f64_f64_integral(const Inst *inst, ExecContext *context) {
    F64_SOURCE double result[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++)
        result[lane] = canonical_f64(from[lane]);
    round_in_place(result, inst->detail & DETAIL_ROUNDING);
    finish_f64(inst, context, result);
}

/* Float to integer: always saturating. NaN gives 0, but from f64 or to 64 bits only the top bit set. */
static inline int32_t clamped_s32(double value, double least, double most) {
    double clamped = value < least ? least : value > most ? most : value;
    return (int32_t)(value == value ? clamped : 0.0);
}

static inline uint32_t clamped_u32(double value) {
    double clamped = value < 0.0 ? 0.0 : value > 4294967295.0 ? 4294967295.0 : value;
    return (uint32_t)(value == value ? clamped : 0.0);
}

static inline uint64_t clamped_s64(double value) {
    if (value != value) return 1ull << 63;
    if (value >= 0x1p63) return INT64_MAX;
    return (uint64_t)(value < -0x1p63 ? INT64_MIN : (int64_t)value);
}

static inline uint64_t clamped_u64(double value) {
    if (value != value) return 1ull << 63;
    if (value >= 0x1p64) return UINT64_MAX;
    return value <= 0.0 ? 0 : (uint64_t)value;
}

#define INTEGRAL_VALUES                                                                                      \
    double values[WARP_LANES] __attribute__((aligned(64)));                                                  \
    float smallest = smallest_kept(inst);                                                                    \
    FOR_LANES values[lane] = sizeof(*from) == 4 ? (double)flush_f32((float)from[lane], smallest)             \
                                                : (double)from[lane];                                        \
    uint32_t rounding = inst->detail & DETAIL_ROUNDING;                                                      \
    if (rounding != ROUND_ZERO) round_in_place(values, rounding);

/* `nan` replaces the 0 that the clamp makes of NaN. */
#define DEFINE_FLOAT_TO_INTEGER(to, RESULT, write, to_signed, from_name, SOURCE, nan, expression)            \
    void exec_cvt_##to##_##from_name(const Inst *inst, ExecContext *context) {                               \
        SOURCE INTEGRAL_VALUES RESULT result[WARP_LANES] __attribute__((aligned(64)));                       \
        FOR_LANES {                                                                                          \
            double value = values[lane];                                                                     \
            RESULT converted = (RESULT)(expression);                                                         \
            result[lane] = value == value ? converted : (RESULT)(nan);                                       \
        }                                                                                                    \
        write(inst, context, result, to_signed);                                                             \
    }
#define DEFINE_FLOAT_TO_INTEGERS(from_name, SOURCE, nan)                                                     \
    DEFINE_FLOAT_TO_INTEGER(u8, uint32_t, write_extended, false, from_name, SOURCE, nan(0x80u),              \
                            clamped_s32(value, 0.0, 255.0))                                                  \
    DEFINE_FLOAT_TO_INTEGER(s8, uint32_t, write_extended, true, from_name, SOURCE, nan(0xffffff80u),         \
                            clamped_s32(value, -128.0, 127.0))                                               \
    DEFINE_FLOAT_TO_INTEGER(u16, uint32_t, write_extended, false, from_name, SOURCE, nan(0x8000u),           \
                            clamped_s32(value, 0.0, 65535.0))                                                \
    DEFINE_FLOAT_TO_INTEGER(s16, uint32_t, write_extended, true, from_name, SOURCE, nan(0xffff8000u),        \
                            clamped_s32(value, -32768.0, 32767.0))                                           \
    DEFINE_FLOAT_TO_INTEGER(u32, uint32_t, write_extended, false, from_name, SOURCE, nan(0x80000000u),       \
                            clamped_u32(value))                                                              \
    DEFINE_FLOAT_TO_INTEGER(s32, uint32_t, write_extended, true, from_name, SOURCE, nan(0x80000000u),        \
                            clamped_s32(value, -2147483648.0, 2147483647.0))                                 \
    DEFINE_FLOAT_TO_INTEGER(u64, uint64_t, write_wide, false, from_name, SOURCE, 1ull << 63,                 \
                            clamped_u64(value))                                                              \
    DEFINE_FLOAT_TO_INTEGER(s64, uint64_t, write_wide, true, from_name, SOURCE, 1ull << 63,                  \
                            clamped_s64(value))

#define NAN_IS_ZERO(top_bit)    0
#define NAN_IS_TOP_BIT(top_bit) (top_bit)
DEFINE_FLOAT_TO_INTEGERS(f32, F32_SOURCE, NAN_IS_ZERO)
DEFINE_FLOAT_TO_INTEGERS(f64, F64_SOURCE, NAN_IS_TOP_BIT)

/* f16 stands in the low half of a 32-bit slot. */
double f64_of_f16(uint32_t bits) {
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    double magnitude = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                       : exponent == 0 ? fraction * 0x1p-24
                                       : ldexp(fraction + 1024, (int)exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* Exact scaling by a power of two, then one rounding to an integer number of units in the last place. */
uint32_t double_to_f16(double value, uint32_t rounding) {
    if (value != value) return 0x7fff;
    uint32_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (isinf(magnitude)) return sign | 0x7c00;
    int exponent = magnitude == 0.0 ? -14 : ilogb(magnitude);
    if (exponent < -14) exponent = -14;
    double units = fabs(round_to_integer(copysign(ldexp(magnitude, 10 - exponent), value), rounding));
    bool to_infinity = rounding == ROUND_NEAREST || rounding == (sign ? ROUND_DOWN : ROUND_UP);
    uint32_t overflow = sign | (to_infinity ? 0x7c00 : 0x7bff);
    if (exponent > 15) return overflow;
    uint32_t bits = (uint32_t)(exponent + 14) * 1024 + (uint32_t)units;
    return bits >= 0x7c00 ? overflow : sign | bits;
}

void exec_cvt_f16_f32(const Inst *inst, ExecContext *context) {
    F32_SOURCE uint32_t result[WARP_LANES];
    float smallest = smallest_kept(inst);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        float value = flush_f32(from[lane], smallest);
        if (inst->detail & DETAIL_SATURATE) value = saturate_f32(value);
        result[lane] = double_to_f16((double)value, inst->detail & DETAIL_ROUNDING);
    }
    write_lanes_32(destination(inst, context, 0), result, context->active);
}

void exec_cvt_f32_f16(const Inst *inst, ExecContext *context) {
    NARROW_SOURCE float result[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++)
        result[lane] = canonical_f32((float)f64_of_f16(from[lane]));
    finish_f32(inst, context, result);
}

void exec_cvt_f64_f16(const Inst *inst, ExecContext *context) {
    NARROW_SOURCE double result[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++)
        result[lane] = canonical_f64(f64_of_f16(from[lane]));
    finish_f64(inst, context, result);
}
