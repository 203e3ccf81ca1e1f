/* f16 and bf16, alone or two in a register. Values are computed in double precision and rounded once: sums
 * are rounded to odd first, which leaves the second rounding as if it had seen all digits. */
#include "core/ptx/execution/lane_math.h"

#include <math.h>

typedef struct {
    int mantissa, bias;
} Format;

static const Format formats[2] = {{10, 15}, {7, 127}};

enum { HALF_NAN = 0x7fff, HALF_SIGN = 0x8000 };

static inline int format_of(const Inst *inst) {
    return (inst->detail & DETAIL_BRAIN) != 0;
}

static inline double value_of(uint32_t bits, int format) {
    return format ? (double)f32_of_bits(bits << 16) : f64_of_f16(bits & 0xffff);
}

static uint32_t half_of(double value, int format) {
    const Format *to = &formats[format];
    uint32_t sign = signbit(value) ? HALF_SIGN : 0, infinity = (uint32_t)(2 * to->bias + 1) << to->mantissa;
    double magnitude = fabs(value);
    if (value != value) return HALF_NAN;
    if (magnitude == 0) return sign;
    if (isinf(magnitude)) return sign | infinity;
    int exponent = ilogb(magnitude) < 1 - to->bias ? 1 - to->bias : ilogb(magnitude);
    double digits = nearbyint(scalbn(magnitude, to->mantissa - exponent));
    /* A carry out of the digits counts the exponent up. */
    uint32_t bits = (uint32_t)digits + ((uint32_t)(exponent + to->bias - 1) << to->mantissa);
    return sign | (bits < infinity ? bits : infinity);
}

static double add_to_odd(double a, double b) {
    double sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
    uint64_t bits = bits_of_f64(sum);
    if (error == 0 || !isfinite(sum) || bits & 1) return sum;
    return f64_of_bits((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/* The sources of one half of a lane. */
typedef struct {
    double a, b, c;
} Terms;

typedef double HalfOperation(Terms terms);

static double sum_of(Terms t) {
    return add_to_odd(t.a, t.b);
}
static double difference_of(Terms t) {
    return add_to_odd(t.a, -t.b);
}
static double product_of(Terms t) {
    return t.a * t.b;
}
static double fused_of(Terms t) {
    return add_to_odd(t.a * t.b, t.c);
}
/* fmin() may take either zero. */
static double smaller_of(Terms t) {
    return t.a == t.b ? (signbit(t.a) ? t.a : t.b) : fmin(t.a, t.b);
}
static double larger_of(Terms t) {
    return t.a == t.b ? (signbit(t.a) ? t.b : t.a) : fmax(t.a, t.b);
}

uint32_t half_combined(AtomicOp operation, uint32_t a, uint32_t b, bool brain) {
    Terms terms = {value_of(a, brain), value_of(b, brain), 0};
    double value = operation == ATOMIC_ADD   ? sum_of(terms)
                   : operation == ATOMIC_MIN ? smaller_of(terms)
                                             : larger_of(terms);
    return half_of(value, brain);
}

static double magnitude_of(Terms t) {
    return fabs(t.a);
}
static double negative_of(Terms t) {
    return -t.a;
}
static double power_of(Terms t) {
    return t.a == t.a ? power_of_two((float)fmax(-200, fmin(t.a, 200))) : t.a;
}
static double tangent_of(Terms t) {
    return tanh(t.a);
}

/* min.xorsign.abs and its kin: of magnitudes, with the sign that the product would have. */
static double with_sign_of_product(Terms t, HalfOperation *operation) {
    bool negative = signbit(t.a) != signbit(t.b);
    double value = operation((Terms){fabs(t.a), fabs(t.b), 0});
    return negative ? -value : value;
}

static double flush(double value, uint32_t detail, int format) {
    bool subnormal = fabs(value) < ldexp(1, 1 - formats[format].bias);
    return detail & DETAIL_FTZ && subnormal ? copysign(0, value) : value;
}

/* .ftz makes zero what is tiny before it is rounded. */
static uint32_t finish(double value, uint32_t detail, int format) {
    value = flush(value, detail, format);
    if (detail & DETAIL_SATURATE) value = value > 1 ? 1 : value > 0 ? value : 0;
    if (detail & DETAIL_RELU && value <= 0) value = 0; /* -0, too */
    return half_of(value, format);
}

static inline void compute(const Inst *inst, ExecContext *context, int sources, HalfOperation *operation) {
    const LaneU32 *from[3];
    uint32_t result[WARP_LANES], detail = inst->detail;
    int format = format_of(inst), halves = detail & DETAIL_PAIR ? 2 : 1;
    for (int k = 0; k < 3; k++)
        from[k] = source(inst, context, k < sources ? k : 0);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        result[lane] = 0;
        for (int half = 0; half < halves; half++) {
            Terms terms = {flush(value_of(from[0][lane] >> 16 * half, format), detail, format),
                           flush(value_of(from[1][lane] >> 16 * half, format), detail, format),
                           flush(value_of(from[2][lane] >> 16 * half, format), detail, format)};
            double value = detail & DETAIL_XORSIGN ? with_sign_of_product(terms, operation)
                                                   : operation(terms);
            if (detail & DETAIL_NAN && (terms.a != terms.a || terms.b != terms.b)) value = NAN;
            result[lane] |= finish(value, detail, format) << 16 * half;
        }
    }
    write_lanes_32(destination(inst, context, 0), result, context->active);
}

void exec_add_half(const Inst *inst, ExecContext *context) {
    compute(inst, context, 2, sum_of);
}
void exec_sub_half(const Inst *inst, ExecContext *context) {
    compute(inst, context, 2, difference_of);
}
void exec_mul_half(const Inst *inst, ExecContext *context) {
    compute(inst, context, 2, product_of);
}
void exec_fma_half(const Inst *inst, ExecContext *context) {
    compute(inst, context, 3, fused_of);
}
void exec_min_half(const Inst *inst, ExecContext *context) {
    compute(inst, context, 2, smaller_of);
}
void exec_max_half(const Inst *inst, ExecContext *context) {
    compute(inst, context, 2, larger_of);
}

void exec_ex2_half(const Inst *inst, ExecContext *context) {
    compute(inst, context, 1, power_of);
}
void exec_tanh_half(const Inst *inst, ExecContext *context) {
    compute(inst, context, 1, tangent_of);
}
void exec_neg_half(const Inst *inst, ExecContext *context) {
    compute(inst, context, 1, negative_of);
}
void exec_abs_half(const Inst *inst, ExecContext *context) {
    compute(inst, context, 1, magnitude_of);
}

DEFINE_UNARY(exec_neg_f16, LaneU32, LaneU32, (a ^ HALF_SIGN) & 0xffff)
DEFINE_UNARY(exec_abs_f16, LaneU32, LaneU32, a & 0x7fff)
DEFINE_UNARY(exec_neg_f16x2, LaneU32, LaneU32, a ^ 0x80008000u)
DEFINE_UNARY(exec_abs_f16x2, LaneU32, LaneU32, a & 0x7fff7fffu)

/* Compares. */

static bool holds(uint32_t compare, double a, double b) {
    bool unordered = a != a || b != b;
    switch ((HalfCompare)compare) {
    case HALF_EQ: return a == b;
    case HALF_NE: return !unordered && a != b;
    case HALF_LT: return a < b;
    case HALF_LE: return a <= b;
    case HALF_GT: return a > b;
    case HALF_GE: return a >= b;
    case HALF_EQU: return unordered || a == b;
    case HALF_NEU: return a != b;
    case HALF_LTU: return unordered || a < b;
    case HALF_LEU: return unordered || a <= b;
    case HALF_GTU: return unordered || a > b;
    case HALF_GEU: return unordered || a >= b;
    case HALF_NUM: return !unordered;
    case HALF_NAN_: return unordered;
    }
    return false;
}

static uint32_t compared_lanes(const Inst *inst, const ExecContext *context, int half) {
    const LaneU32 *a = source(inst, context, 0), *b = source(inst, context, 1);
    uint32_t mask = 0, detail = inst->detail;
    int format = format_of(inst);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        double x = flush(value_of(a[lane] >> 16 * half, format), detail, format);
        double y = flush(value_of(b[lane] >> 16 * half, format), detail, format);
        mask |= (uint32_t)holds(detail >> DETAIL_COMPARE_SHIFT, x, y) << lane;
    }
    return mask;
}

/* The second predicate: of a pair, the compare of the upper halves; else the inverse. */
void exec_setp_half(const Inst *inst, ExecContext *context) {
    uint32_t first = compared_lanes(inst, context, 0);
    uint32_t second = inst->detail & DETAIL_PAIR ? compared_lanes(inst, context, 1) : ~first;
    first = combine(inst, context, first, 2);
    second = combine(inst, context, second, 2);
    write_predicate(context, inst->pdst, first);
    write_predicate(context, inst->pdst2, second);
}

static void set_halves(const Inst *inst, ExecContext *context, uint32_t yes, uint32_t yes_above) {
    uint32_t result[WARP_LANES], low = combine(inst, context, compared_lanes(inst, context, 0), 2);
    uint32_t high = inst->detail & DETAIL_PAIR ? combine(inst, context, compared_lanes(inst, context, 1), 2)
                                               : 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        result[lane] = (low >> lane & 1 ? yes : 0) | (high >> lane & 1 ? yes_above : 0);
    write_lanes_32(destination(inst, context, 0), result, context->active);
}

/* set.f16, set.bf16 and pairs of them: 1.0. */
void exec_set_half(const Inst *inst, ExecContext *context) {
    bool brain = format_of(inst) || inst->detail & DETAIL_HALF_RESULT; /* set.bf16.f16 */
    uint32_t one = brain ? 0x3f80 : 0x3c00;
    set_halves(inst, context, one, one << 16);
}

/* set.u16, set.u32: all ones; of a pair, those of each half. */
void exec_set_half_mask(const Inst *inst, ExecContext *context) {
    bool pair = inst->detail & DETAIL_PAIR, wide = inst->detail & DETAIL_FLOAT_RESULT;
    set_halves(inst, context, pair || !wide ? 0xffff : UINT32_MAX, 0xffff0000u);
}
