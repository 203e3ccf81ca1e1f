/* Floating-point arithmetic.
 *
 * Each operation has a fast handler for round-to-nearest without .ftz and .sat, and a `_modified` one that
 * obeys the modifiers in Inst.detail. Directed rounding sets the host's rounding mode around the lane loop,
 * which is a function of its own that is not inlined: between two calls the compiler cannot move it. */
#include "core/ptx/execution/lane_math.h"

#include <math.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

typedef void LaneLoop(const Inst *inst, ExecContext *context, bool saturate);

static void run_rounded(LaneLoop *loop, const Inst *inst, ExecContext *context) {
    RoundingMode rounding = (RoundingMode)(inst->detail & DETAIL_ROUNDING);
    bool saturate = inst->detail & DETAIL_SATURATE;
    if (rounding == ROUND_NEAREST) {
        loop(inst, context, saturate);
        return;
    }
    set_host_rounding(rounding);
    loop(inst, context, saturate);
    set_host_rounding(ROUND_NEAREST);
}

/* An operation; `into`, unless NULL, gets what it computes before .sat, in place of its destination. */
typedef void FloatLoop(const Inst *inst, ExecContext *context, LaneF32 *into);

static void run_rounded_floats(FloatLoop *loop, const Inst *inst, ExecContext *context) {
    RoundingMode rounding = (RoundingMode)(inst->detail & DETAIL_ROUNDING);
    if (rounding != ROUND_NEAREST) set_host_rounding(rounding);
    loop(inst, context, NULL);
    if (rounding != ROUND_NEAREST) set_host_rounding(ROUND_NEAREST);
}

/* .ftz makes zero what is tiny before it is rounded. Rounded, that is subnormal, or in rare cases the smallest normal
 * number. Then the same rounded toward zero tells. */
__attribute__((cold, noinline)) static void flush_tiny(FloatLoop *loop, const Inst *inst,
                                                       ExecContext *context, LaneF32 *result, int count) {
    LaneF32 truncated[2 * WARP_LANES] __attribute__((aligned(64)));
    set_host_rounding(ROUND_ZERO);
    loop(inst, context, truncated);
    set_host_rounding((RoundingMode)(inst->detail & DETAIL_ROUNDING));
    for (int i = 0; i < count; i++) {
        bool is_tiny = __builtin_fabsf(result[i]) == SMALLEST_NORMAL_F32 && truncated[i] != result[i];
        result[i] = is_tiny ? __builtin_copysignf(0.0f, result[i]) : result[i];
    }
}

/* Among `count` numbers, or the same below zero. In vectors of 32 bytes: the host does not forward those of 64 from stores
 * of the narrower ones that compilers prefer. */
static inline bool has_smallest_normal(const LaneF32 *value, int count) {
    uint32_t found = 0;
#if defined __AVX2__
    __m256i smallest = _mm256_set1_epi32((int)bits_of_f32(SMALLEST_NORMAL_F32) << 1),
            all = _mm256_setzero_si256();
    for (int i = 0; i < count; i += 8) {
        __m256i bits = _mm256_load_si256((const void *)(value + i));
        all = _mm256_or_si256(all, _mm256_cmpeq_epi32(_mm256_add_epi32(bits, bits), smallest));
    }
    found = (uint32_t)_mm256_movemask_epi8(all);
#else
    for (int i = 0; i < count; i++)
        found |= bits_of_f32(value[i]) << 1 == bits_of_f32(SMALLEST_NORMAL_F32) << 1;
#endif
    return found != 0;
}

/* Operands and results are flushed where .ftz says so. The destination may be a source, which flush_tiny() reads again. */
#define DEFINE_FLOAT_LOOP(name, sources, floats, write, expression)                                          \
    __attribute__((noinline)) static void name(const Inst *inst, ExecContext *context, LaneF32 *into) {      \
        const LaneF32 *from_a = source(inst, context, 0),                                                    \
                      *from_b = source(inst, context, sources > 1 ? 1 : 0),                                  \
                      *from_c = source(inst, context, sources > 2 ? 2 : 0);                                  \
        float smallest = smallest_kept(inst);                                                                \
        LaneF32 apart[floats] __attribute__((aligned(64)));                                                  \
        LaneF32 *result = __builtin_assume_aligned(into ? into : apart, 64);                                 \
        INDEPENDENT_ITERATIONS for (int i = 0; i < floats; i++) {                                            \
            float a = flush_f32(from_a[i], smallest);                                                        \
            float b = flush_f32(from_b[i], smallest);                                                        \
            float c = flush_f32(from_c[i], smallest);                                                        \
            (void)b;                                                                                         \
            (void)c;                                                                                         \
            result[i] = flush_f32(canonical_f32(expression), smallest);                                      \
        }                                                                                                    \
        if (into) return;                                                                                    \
        if (inst->detail & DETAIL_FTZ && has_smallest_normal(result, floats))                                \
            flush_tiny(name, inst, context, result, floats);                                                 \
        if (inst->detail & DETAIL_SATURATE) FOR_LANES result[lane] = saturate_f32(result[lane]);             \
        write(destination(inst, context, 0), (const void *)result, context->active);                         \
    }

#define DEFINE_MODIFIED_F32(name, sources, expression)                                                       \
    DEFINE_FLOAT_LOOP(name##_lanes, sources, WARP_LANES, write_lanes_32, expression)                         \
    void name##_modified(const Inst *inst, ExecContext *context) {                                           \
        run_rounded_floats(name##_lanes, inst, context);                                                     \
    }

#define DEFINE_MODIFIED_F64(name, sources, expression)                                                       \
    __attribute__((noinline)) static void name##_lanes(const Inst *inst, ExecContext *context,               \
                                                       bool saturate) {                                      \
        LaneF64 *to = destination(inst, context, 0);                                                         \
        const LaneF64 *from_a = source(inst, context, 0),                                                    \
                      *from_b = source(inst, context, sources > 1 ? 1 : 0),                                  \
                      *from_c = source(inst, context, sources > 2 ? 2 : 0);                                  \
        uint32_t active = context->active;                                                                   \
        (void)saturate;                                                                                      \
        FOR_LANES {                                                                                          \
            double a = from_a[lane], b = from_b[lane], c = from_c[lane];                                     \
            (void)b;                                                                                         \
            (void)c;                                                                                         \
            double result = canonical_f64(expression);                                                       \
            to[lane] = active & 1u << lane ? result : to[lane];                                              \
        }                                                                                                    \
    }                                                                                                        \
    void name##_modified(const Inst *inst, ExecContext *context) {                                           \
        run_rounded(name##_lanes, inst, context);                                                            \
    }

/* Of results of all lanes. */
static inline bool has_nan_f32(const LaneF32 *value) {
#if defined __AVX2__
    __m256 first = _mm256_cmp_ps(_mm256_load_ps(value), _mm256_load_ps(value + 8), _CMP_UNORD_Q);
    __m256 second = _mm256_cmp_ps(_mm256_load_ps(value + 16), _mm256_load_ps(value + 24), _CMP_UNORD_Q);
    return _mm256_movemask_ps(_mm256_or_ps(first, second));
#else
    uint32_t found = 0;
    FOR_LANES found |= value[lane] != value[lane];
    return found;
#endif
}
static inline bool has_nan_f64(const LaneF64 *value) {
    uint64_t found = 0;
    FOR_LANES found |= value[lane] != value[lane];
    return found;
}

/* Few results are no numbers: where one is, is found out beside what reads them next, which need not wait for it. */
#define DEFINE_FLOAT(name, F, f, sources, expression)                                                        \
    void name##_##f(const Inst *inst, ExecContext *context) {                                                \
        F *to = destination(inst, context, 0);                                                               \
        const F *from_a = source(inst, context, 0), *from_b = source(inst, context, sources > 1 ? 1 : 0),    \
                *from_c = source(inst, context, sources > 2 ? 2 : 0);                                        \
        uint32_t active = context->active;                                                                   \
        if (active == ALL_LANES) {                                                                           \
            FOR_LANES {                                                                                      \
                F a = from_a[lane], b = from_b[lane], c = from_c[lane];                                      \
                (void)b;                                                                                     \
                (void)c;                                                                                     \
                to[lane] = expression;                                                                       \
            }                                                                                                \
            if (__builtin_expect(has_nan_##f(to), 0)) FOR_LANES to[lane] = canonical_##f(to[lane]);          \
        } else {                                                                                             \
            FOR_LANES {                                                                                      \
                F a = from_a[lane], b = from_b[lane], c = from_c[lane];                                      \
                (void)b;                                                                                     \
                (void)c;                                                                                     \
                F result = canonical_##f(expression);                                                        \
                to[lane] = active & 1u << lane ? result : to[lane];                                          \
            }                                                                                                \
        }                                                                                                    \
    }

/* clang-format off */
#define FLOAT(name, sources, in_f32, in_f64)                                                                 \
    DEFINE_FLOAT(name, LaneF32, f32, sources, in_f32)                                                        \
    DEFINE_MODIFIED_F32(name##_f32, sources, in_f32)                                                         \
    DEFINE_FLOAT(name, LaneF64, f64, sources, in_f64)                                                        \
    DEFINE_MODIFIED_F64(name##_f64, sources, in_f64)
/* clang-format on */

FLOAT(exec_add, 2, a + b, a + b)
FLOAT(exec_sub, 2, a - b, a - b)
FLOAT(exec_mul, 2, (a * b), (a * b))
FLOAT(exec_div, 2, a / b, a / b)
/* div.approx multiplies by the reciprocal, which is flushed to zero from 2^126 on. */
static inline float approximate_divisor(float b) {
    return __builtin_fabsf(b) > 0x1p126f ? __builtin_copysignf(INFINITY, b) : b;
}
DEFINE_FLOAT(exec_div_approx, LaneF32, f32, 2, a / approximate_divisor(b))
DEFINE_MODIFIED_F32(exec_div_approx_f32, 2, a / approximate_divisor(b))
FLOAT(exec_fma, 3, __builtin_fmaf(a, b, c), __builtin_fma(a, b, c))
FLOAT(exec_rcp, 1, 1.0f / a, 1.0 / a)
FLOAT(exec_sqrt, 1, __builtin_sqrtf(a), __builtin_sqrt(a))

/* The approximate forms are evaluated in double precision and rounded once. */
DEFINE_FLOAT(exec_rsqrt, LaneF32, f32, 1, reciprocal_root(a))
DEFINE_MODIFIED_F32(exec_rsqrt_f32, 1, reciprocal_root(a))
DEFINE_FLOAT(exec_rsqrt, LaneF64, f64, 1, 1.0 / __builtin_sqrt(a))

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 work on the high words only. */
static inline double high_word(double value) {
    return f64_of_bits(bits_of_f64(value) & 0xffffffff00000000ull);
}
static inline double flush_f64(double value) {
    return __builtin_fabs(value) < 0x1p-1022 ? __builtin_copysign(0.0, value) : value;
}
DEFINE_UNARY(exec_rcp_approx_f64, LaneF64, LaneF64,
             canonical_f64(high_word(flush_f64(1.0 / flush_f64(high_word(a))))))
DEFINE_UNARY(exec_rsqrt_approx_f64, LaneF64, LaneF64,
             canonical_f64(high_word(flush_f64(1.0 / __builtin_sqrt(flush_f64(high_word(a)))))))

/* Lane by lane: what is rare, or has no quick way. */
typedef double Transcendental(double argument);
static void call_library(const Inst *inst, ExecContext *context, Transcendental *function) {
    LaneF32 *to = destination(inst, context, 0);
    const LaneF32 *from = source(inst, context, 0);
    float smallest = smallest_kept(inst);
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        double argument = (double)flush_f32(from[lane], smallest);
        to[lane] = flush_f32(canonical_f32((float)function(argument)), smallest);
    }
}

static void flush_lanes(LaneF32 *to, const LaneF32 *from) {
    FOR_LANES to[lane] = flush_f32(from[lane], SMALLEST_NORMAL_F32);
}

#define DEFINE_TRANSCENDENTAL(name, expression)                                                              \
    void name(const Inst *inst, ExecContext *context) {                                                      \
        const LaneF32 *from = source(inst, context, 0);                                                      \
        bool is_flushed = inst->detail & DETAIL_FTZ;                                                         \
        LaneF32 flushed[WARP_LANES] __attribute__((aligned(64)));                                            \
        LaneF32 result[WARP_LANES] __attribute__((aligned(64)));                                             \
        if (is_flushed) {                                                                                    \
            flush_lanes(flushed, from);                                                                      \
            from = flushed;                                                                                  \
        }                                                                                                    \
        FOR_LANES {                                                                                          \
            float a = from[lane];                                                                            \
            result[lane] = expression;                                                                       \
        }                                                                                                    \
        if (is_flushed) flush_lanes(result, result);                                                         \
        write_lanes_32(destination(inst, context, 0), (const void *)result, context->active);                \
    }

/* The lanes with arguments for which there is no quick way: they are too large, or not numbers. */
static inline uint32_t turned_far(const LaneF32 *from) {
    uint32_t far = 0;
#ifdef __AVX2__
    __m256 most = _mm256_set1_ps(MOST_TURNED), sign = _mm256_set1_ps(-0.0f);
    for (int lane = 0; lane < WARP_LANES; lane += 8) {
        __m256 magnitudes = _mm256_andnot_ps(sign, _mm256_load_ps(from + lane));
        far |= (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(magnitudes, most, _CMP_NLE_UQ)) << lane;
    }
#else
    FOR_LANES far |= (uint32_t) !(__builtin_fabsf(from[lane]) <= MOST_TURNED) << lane;
#endif
    return far;
}

static inline bool are_same_lanes(const LaneU32 *a, const LaneU32 *b) {
    EightLanes differences = {0};
    for (int lane = 0; lane < WARP_LANES; lane += 8)
        differences |= *(const EightLanes *)(a + lane) ^ *(const EightLanes *)(b + lane);
    return !has_bits((const FourLanes *)&differences);
}

static bool are_turned(const Turned *turned, const LaneF32 *from, uint32_t kind) {
    return turned->kind == kind && are_same_lanes(turned->argument, (const void *)from);
}

/* Arguments need no flush: what it would change has a sine that is flushed, and the cosine 1. */
static void turn(Turned *turned, const LaneF32 *from, uint32_t kind) {
    FOR_LANES sine_and_cosine(from[lane], &turned->sine[lane], &turned->cosine[lane]);
    if (kind == TURNED_FLUSHED) {
        flush_lanes(turned->sine, turned->sine);
        flush_lanes(turned->cosine, turned->cosine);
    }
    memcpy(turned->argument, from, sizeof turned->argument);
}

/* Both are computed, at little more than what one takes: mostly the other one of the same arguments follows. */
static void find_turned(const Inst *inst, ExecContext *context, Transcendental *function,
                        const float result[WARP_LANES]) {
    const LaneF32 *from = source(inst, context, 0);
    uint32_t active = context->active, kind = inst->detail & DETAIL_FTZ ? TURNED_FLUSHED : TURNED_EXACTLY;
    if (!are_turned(&context->turned, from, kind)) {
        uint32_t far = turned_far(from);
        if (far & active) {
            call_library(inst, context, function);
            return;
        }
        turn(&context->turned, from, kind);
        context->turned.kind = far ? TURNED_NONE : kind;
    }
    write_lanes_32(destination(inst, context, 0), (const void *)result, active);
}

void exec_sin(const Inst *inst, ExecContext *context) {
    find_turned(inst, context, sin, context->turned.sine);
}
void exec_cos(const Inst *inst, ExecContext *context) {
    find_turned(inst, context, cos, context->turned.cosine);
}
void exec_tanh(const Inst *inst, ExecContext *context) {
    call_library(inst, context, tanh);
}

DEFINE_TRANSCENDENTAL(exec_ex2, power_of_two_of_float(a))
DEFINE_TRANSCENDENTAL(exec_lg2, log2_of_float(a))

static inline double minimum_f64(double a, double b) {
    double least = a < b ? a : b;
    least = a == b ? f64_of_bits(bits_of_f64(a) | bits_of_f64(b)) : least;
    return b == b ? least : a;
}
static inline double maximum_f64(double a, double b) {
    double most = a > b ? a : b;
    most = a == b ? f64_of_bits(bits_of_f64(a) & bits_of_f64(b)) : most;
    return b == b ? most : a;
}

DEFINE_BINARY(exec_min_f32, LaneF32, LaneF32, canonical_f32(minimum_f32(a, b)))
DEFINE_BINARY(exec_max_f32, LaneF32, LaneF32, canonical_f32(maximum_f32(a, b)))
DEFINE_MODIFIED_F32(exec_min_f32, 2, minimum_f32(a, b))
DEFINE_MODIFIED_F32(exec_max_f32, 2, maximum_f32(a, b))
DEFINE_BINARY(exec_min_f64, LaneF64, LaneF64, canonical_f64(minimum_f64(a, b)))
DEFINE_BINARY(exec_max_f64, LaneF64, LaneF64, canonical_f64(maximum_f64(a, b)))
DEFINE_MODIFIED_F32(exec_min_nan_f32, 2, a != a ? a : b != b ? b : minimum_f32(a, b))
DEFINE_MODIFIED_F32(exec_max_nan_f32, 2, a != a ? a : b != b ? b : maximum_f32(a, b))

DEFINE_UNARY(exec_neg_f32, LaneU32, LaneU32, a ^ 0x80000000u)
DEFINE_UNARY(exec_abs_f32, LaneU32, LaneU32, a & 0x7fffffffu)
DEFINE_UNARY(exec_neg_f64, LaneU64, LaneU64, a ^ 0x8000000000000000ull)
DEFINE_UNARY(exec_abs_f64, LaneU64, LaneU64, a & 0x7fffffffffffffffull)
DEFINE_MODIFIED_F32(exec_neg_f32, 1, -a)
DEFINE_MODIFIED_F32(exec_abs_f32, 1, __builtin_fabsf(a))

/* The sign of a, the magnitude of b. */
DEFINE_BINARY(exec_copysign_f32, LaneU32, LaneU32, (a & 0x80000000u) | (b & 0x7fffffffu))
DEFINE_BINARY(exec_copysign_f64, LaneU64, LaneU64, (a & 0x8000000000000000ull) | (b & 0x7fffffffffffffffull))

/* min and max with .xorsign.abs, of three operands, and with .abs; .NaN is for all of them. */
static float any_extreme(float a, float b, float c, bool most, uint32_t detail) {
    if (detail & DETAIL_XORSIGN) {
        float sign = f32_of_bits(bits_of_f32(a) ^ bits_of_f32(b));
        float value = extreme_f32(__builtin_fabsf(a), __builtin_fabsf(b), most, detail);
        return value == value ? __builtin_copysignf(value, sign) : value;
    }
    if (detail & DETAIL_MAGNITUDE) a = __builtin_fabsf(a), b = __builtin_fabsf(b), c = __builtin_fabsf(c);
    return extreme_f32(extreme_f32(a, b, most, detail), c, most, detail);
}

/* With two sources the last counts twice, which changes nothing. */
static void find_extremes(const Inst *inst, ExecContext *context, bool most) {
    LaneF32 *to = destination(inst, context, 0);
    const LaneF32 *a = source(inst, context, 0), *b = source(inst, context, 1),
                  *c = source(inst, context, inst->src_count - 1);
    float smallest = smallest_kept(inst);
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        float value = any_extreme(flush_f32(a[lane], smallest), flush_f32(b[lane], smallest),
                                  flush_f32(c[lane], smallest), most, inst->detail);
        to[lane] = canonical_f32(value);
    }
}

void exec_least_f32(const Inst *inst, ExecContext *context) {
    find_extremes(inst, context, false);
}
void exec_greatest_f32(const Inst *inst, ExecContext *context) {
    find_extremes(inst, context, true);
}

/* Mixed precision: the first operands are halves, the last one and the result f32. */
static inline float float_of_half(uint32_t bits, uint32_t detail) {
    return detail & DETAIL_BRAIN ? f32_of_bits(bits << 16) : (float)f64_of_f16(bits);
}

#define DEFINE_MIXED_PRECISION(name, expression)                                                             \
    __attribute__((noinline)) static void name##_lanes(const Inst *inst, ExecContext *context,               \
                                                       bool saturate) {                                      \
        LaneF32 *to = destination(inst, context, 0);                                                         \
        const LaneU32 *from_a = source(inst, context, 0), *from_b = source(inst, context, 1);                \
        const LaneF32 *from_c = source(inst, context, inst->src_count - 1);                                  \
        for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {                                  \
            int lane = __builtin_ctz(lanes);                                                                 \
            float a = float_of_half(from_a[lane], inst->detail);                                             \
            float b = float_of_half(from_b[lane], inst->detail), c = from_c[lane];                           \
            (void)b;                                                                                         \
            float result = canonical_f32(expression);                                                        \
            to[lane] = saturate ? saturate_f32(result) : result;                                             \
        }                                                                                                    \
    }                                                                                                        \
    void name(const Inst *inst, ExecContext *context) {                                                      \
        run_rounded(name##_lanes, inst, context);                                                            \
    }

DEFINE_MIXED_PRECISION(exec_add_mixed, a + c)
DEFINE_MIXED_PRECISION(exec_sub_mixed, a - c)
DEFINE_MIXED_PRECISION(exec_fma_mixed, __builtin_fmaf(a, b, c))

/* Two f32 in a register of 64 bits: the lanes of a register are 64 floats in a row. */
#define DEFINE_PAIR_F32(name, sources, expression)                                                           \
    DEFINE_FLOAT_LOOP(name##_lanes, sources, 2 * WARP_LANES, write_lanes_64, expression)                     \
    void name(const Inst *inst, ExecContext *context) {                                                      \
        run_rounded_floats(name##_lanes, inst, context);                                                     \
    }

DEFINE_PAIR_F32(exec_add_f32x2, 2, a + b)
DEFINE_PAIR_F32(exec_sub_f32x2, 2, a - b)
DEFINE_PAIR_F32(exec_mul_f32x2, 2, (a * b))
DEFINE_PAIR_F32(exec_fma_f32x2, 3, __builtin_fmaf(a, b, c))
