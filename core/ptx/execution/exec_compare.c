/* Compares, selections and predicate logic. A predicate is a mask of lanes. */
#include "core/ptx/execution/exec_internal.h"

#ifdef __AVX512VL__
#include <immintrin.h>
#endif

/* setp p|q: q is the combination of the inverted compare. */
static __attribute__((noinline)) void write_combined(const Inst *inst, ExecContext *context,
                                                     uint32_t compared) {
    uint32_t second = inst->pdst2 == NO_PREDICATE ? 0 : combine(inst, context, ~compared, 2);
    write_predicate(context, inst->pdst, combine(inst, context, compared, 2));
    write_predicate(context, inst->pdst2, second);
}

static inline void write_compared(const Inst *inst, ExecContext *context, uint32_t compared) {
    bool has_more = (inst->pdst2 != NO_PREDICATE) | ((inst->detail & DETAIL_BOOLEAN) != 0);
    if (__builtin_expect(has_more, 0))
        write_combined(inst, context, compared);
    else
        write_predicate(context, inst->pdst, compared);
}

static void write_set(const Inst *inst, ExecContext *context, uint32_t compared) {
    uint32_t mask = combine(inst, context, compared, 2);
    uint32_t yes = inst->detail & DETAIL_FLOAT_RESULT ? 0x3f800000u : UINT32_MAX, active = context->active;
    if (inst->detail & DETAIL_HALF_RESULT) yes = inst->detail & DETAIL_BRAIN ? 0x3f80 : 0x3c00;
    LaneU32 *to = destination(inst, context, 0);
    FOR_LANES {
        uint32_t result = mask & 1u << lane ? yes : 0;
        to[lane] = active & 1u << lane ? result : to[lane];
    }
}

#define DEFINE_COMPARE_HANDLERS(name)                                                                        \
    void exec_setp_##name(const Inst *inst, ExecContext *context) {                                          \
        write_compared(inst, context, lanes_##name(inst, context));                                          \
    }                                                                                                        \
    void exec_set_##name(const Inst *inst, ExecContext *context) {                                           \
        write_set(inst, context, lanes_##name(inst, context));                                               \
    }

#define COMPARE_EACH(A, condition)                                                                           \
    const A *from_a = source(inst, context, 0), *from_b = source(inst, context, 1);                          \
    uint32_t mask = 0;                                                                                       \
    for (int lane = 0; lane < WARP_LANES; lane++) {                                                          \
        A a = from_a[lane], b = from_b[lane];                                                                \
        mask |= (uint32_t)(condition) << lane;                                                               \
    }                                                                                                        \
    return mask;

/* `order` is of COMPARE_WORDS(). */
#define DEFINE_INTEGER_COMPARE(name, A, condition, order)                                                    \
    static inline uint32_t lanes_##name(const Inst *inst, const ExecContext *context){                       \
        COMPARE_EACH(A, condition)} DEFINE_COMPARE_HANDLERS(name)

#define DEFINE_INTEGER_COMPARES(define, type, A, a, b)                                                       \
    define(eq_##type, A, (a) == (b), _MM_CMPINT_EQ) define(ne_##type, A, (a) != (b), _MM_CMPINT_NE)          \
        define(lt_##type, A, (a) < (b), _MM_CMPINT_LT) define(le_##type, A, (a) <= (b), _MM_CMPINT_LE)       \
            define(gt_##type, A, (a) > (b), _MM_CMPINT_NLE) define(ge_##type, A, (a) >= (b), _MM_CMPINT_NLT)

/* Of lanes of 32 bits. Branches wait for compares, and the mask that a compiler makes of a loop waits for one vector
 * operation after the other: the host has an instruction for it. `order`: what AVX-512 calls the condition. */
#if defined __AVX512VL__
#define EIGHT(from)                _mm256_load_si256((const void *)(from))
#define ORDER_LaneU32(a, b, order) _mm256_cmp_epu32_mask(EIGHT(a), EIGHT(b), order)
#define ORDER_LaneS32(a, b, order) _mm256_cmp_epi32_mask(EIGHT(a), EIGHT(b), order)
#define ORDER_LaneF32(a, b, order) _mm256_cmp_ps_mask(_mm256_load_ps(a), _mm256_load_ps(b), order)

#define COMPARE_WORDS(A, condition, order)                                                                   \
    const A *a = source(inst, context, 0), *b = source(inst, context, 1);                                    \
    uint32_t mask = 0;                                                                                       \
    for (int lane = 0; lane < WARP_LANES; lane += 8)                                                         \
        mask |= (uint32_t)ORDER_##A(a + lane, b + lane, order) << lane;                                      \
    return mask;
#elif defined __AVX2__
enum { COMPARED = 8 };
typedef uint32_t VectorOfLaneU32 __attribute__((vector_size(COMPARED * 4), may_alias));
typedef int32_t VectorOfLaneS32 __attribute__((vector_size(COMPARED * 4), may_alias));
typedef float VectorOfLaneF32 __attribute__((vector_size(COMPARED * 4), may_alias));

#define COMPARE_WORDS(A, condition, order)                                                                   \
    const VectorOf##A *from_a = source(inst, context, 0), *from_b = source(inst, context, 1);                \
    uint32_t mask = 0;                                                                                       \
    for (int i = 0; i < WARP_LANES / COMPARED; i++) {                                                        \
        VectorOf##A a = from_a[i], b = from_b[i];                                                            \
        mask |= (uint32_t)__builtin_ia32_movmskps256((VectorOfLaneF32)(condition)) << i * COMPARED;          \
    }                                                                                                        \
    return mask;
#else
#define COMPARE_WORDS(A, condition, order) COMPARE_EACH(A, condition)
#endif

#define DEFINE_WORD_COMPARE(name, A, condition, order)                                                       \
    static inline uint32_t lanes_##name(const Inst *inst, const ExecContext *context){                       \
        COMPARE_WORDS(A, condition, order)} DEFINE_COMPARE_HANDLERS(name)

DEFINE_INTEGER_COMPARES(DEFINE_INTEGER_COMPARE, u16, LaneU32, U16(a), U16(b))
DEFINE_INTEGER_COMPARES(DEFINE_INTEGER_COMPARE, s16, LaneU32, S16(a), S16(b))
DEFINE_INTEGER_COMPARES(DEFINE_WORD_COMPARE, u32, LaneU32, a, b)
DEFINE_INTEGER_COMPARES(DEFINE_WORD_COMPARE, s32, LaneS32, a, b)
DEFINE_INTEGER_COMPARES(DEFINE_INTEGER_COMPARE, u64, LaneU64, a, b)
DEFINE_INTEGER_COMPARES(DEFINE_INTEGER_COMPARE, s64, LaneS64, a, b)

/* True in the lanes in which the condition is not `but`. Without && and ||, which vectors do not have. */
#define DEFINE_FLOAT_COMPARE(name, but, condition, order)                                                    \
    static inline uint32_t flushed_lanes_##name(const Inst *inst, const ExecContext *context) {              \
        const LaneF32 *from_a = source(inst, context, 0), *from_b = source(inst, context, 1);                \
        uint32_t mask = 0;                                                                                   \
        for (int lane = 0; lane < WARP_LANES; lane++) {                                                      \
            float a = flush_f32(from_a[lane], SMALLEST_NORMAL_F32);                                          \
            float b = flush_f32(from_b[lane], SMALLEST_NORMAL_F32);                                          \
            mask |= (uint32_t)(condition) << lane;                                                           \
        }                                                                                                    \
        return mask;                                                                                         \
    }                                                                                                        \
    static inline uint32_t exact_lanes_##name(const Inst *inst, const ExecContext *context) {                \
        COMPARE_WORDS(LaneF32, condition, order)                                                             \
    }                                                                                                        \
    static inline uint32_t lanes_##name##_f32(const Inst *inst, const ExecContext *context) {                \
        bool flushes = inst->detail & DETAIL_FTZ;                                                            \
        uint32_t mask = flushes ? flushed_lanes_##name(inst, context) : exact_lanes_##name(inst, context);   \
        return but ? ~mask : mask;                                                                           \
    }                                                                                                        \
    DEFINE_COMPARE_HANDLERS(name##_f32)                                                                      \
    DEFINE_INTEGER_COMPARE(name##_f64, LaneF64, (condition) != but, order)

/* Ordered compares are false when an operand is NaN, unordered ones (..u) true. */
DEFINE_FLOAT_COMPARE(eq, false, a == b, _CMP_EQ_OQ)
DEFINE_FLOAT_COMPARE(ne, false, (a < b) | (a > b), _CMP_NEQ_OQ)
DEFINE_FLOAT_COMPARE(lt, false, a < b, _CMP_LT_OQ)
DEFINE_FLOAT_COMPARE(le, false, a <= b, _CMP_LE_OQ)
DEFINE_FLOAT_COMPARE(gt, false, a > b, _CMP_GT_OQ)
DEFINE_FLOAT_COMPARE(ge, false, a >= b, _CMP_GE_OQ)
DEFINE_FLOAT_COMPARE(equ, true, (a < b) | (a > b), _CMP_NEQ_OQ)
DEFINE_FLOAT_COMPARE(neu, true, a == b, _CMP_EQ_OQ)
DEFINE_FLOAT_COMPARE(ltu, true, a >= b, _CMP_GE_OQ)
DEFINE_FLOAT_COMPARE(leu, true, a > b, _CMP_GT_OQ)
DEFINE_FLOAT_COMPARE(gtu, true, a <= b, _CMP_LE_OQ)
DEFINE_FLOAT_COMPARE(geu, true, a < b, _CMP_LT_OQ)
DEFINE_FLOAT_COMPARE(num, false, (a == a) & (b == b), _CMP_ORD_Q)
DEFINE_FLOAT_COMPARE(nan, true, (a == a) & (b == b), _CMP_ORD_Q)

#define DEFINE_TESTP(name, condition_f32, condition_f64)                                                     \
    void exec_testp_##name##_f32(const Inst *inst, ExecContext *context) {                                   \
        const LaneF32 *from = source(inst, context, 0);                                                      \
        uint32_t mask = 0;                                                                                   \
        for (int lane = 0; lane < WARP_LANES; lane++) {                                                      \
            float a = __builtin_fabsf(from[lane]);                                                           \
            mask |= (uint32_t)(condition_f32) << lane;                                                       \
        }                                                                                                    \
        write_predicate(context, inst->pdst, mask);                                                          \
    }                                                                                                        \
    void exec_testp_##name##_f64(const Inst *inst, ExecContext *context) {                                   \
        const LaneF64 *from = source(inst, context, 0);                                                      \
        uint32_t mask = 0;                                                                                   \
        for (int lane = 0; lane < WARP_LANES; lane++) {                                                      \
            double a = __builtin_fabs(from[lane]);                                                           \
            mask |= (uint32_t)(condition_f64) << lane;                                                       \
        }                                                                                                    \
        write_predicate(context, inst->pdst, mask);                                                          \
    }

#define INFINITY_F32 __builtin_inff()
#define INFINITY_F64 __builtin_inf()
/* Zero counts as normal. */
DEFINE_TESTP(finite, a < INFINITY_F32, a < INFINITY_F64)
DEFINE_TESTP(infinite, a == INFINITY_F32, a == INFINITY_F64)
DEFINE_TESTP(number, a == a, a == a)
DEFINE_TESTP(notanumber, a != a, a != a)
DEFINE_TESTP(normal, (a >= SMALLEST_NORMAL_F32 && a < INFINITY_F32) || a == 0,
             (a >= 0x1p-1022 && a < INFINITY_F64) || a == 0)
DEFINE_TESTP(subnormal, (a > 0) && (a < SMALLEST_NORMAL_F32), (a > 0) && (a < 0x1p-1022))

static inline uint32_t combine_sources(const Inst *inst, const ExecContext *context, BooleanOp operation) {
    uint32_t a = predicate_source(inst, context, 0), b = predicate_source(inst, context, 1);
    return operation == BOOLEAN_AND ? a & b : operation == BOOLEAN_OR ? a | b : a ^ b;
}

void exec_and_pred(const Inst *inst, ExecContext *context) {
    write_predicate(context, inst->pdst, combine_sources(inst, context, BOOLEAN_AND));
}

void exec_or_pred(const Inst *inst, ExecContext *context) {
    write_predicate(context, inst->pdst, combine_sources(inst, context, BOOLEAN_OR));
}

void exec_xor_pred(const Inst *inst, ExecContext *context) {
    write_predicate(context, inst->pdst, combine_sources(inst, context, BOOLEAN_XOR));
}

void exec_not_pred(const Inst *inst, ExecContext *context) {
    write_predicate(context, inst->pdst, ~predicate_source(inst, context, 0));
}

void exec_mov_pred(const Inst *inst, ExecContext *context) {
    write_predicate(context, inst->pdst, predicate_source(inst, context, 0));
}

#define DEFINE_SELP(name, T)                                                                                 \
    static inline void name##_by(const Inst *inst, ExecContext *context, uint32_t chosen) {                  \
        DEFINE_BINARY_BODY(T, T, chosen & 1u << lane ? a : b)                                                \
    }                                                                                                        \
    void name(const Inst *inst, ExecContext *context) {                                                      \
        name##_by(inst, context, predicate_source(inst, context, 2));                                        \
    }
DEFINE_SELP(exec_selp_b32, LaneU32)
DEFINE_SELP(exec_selp_b64, LaneU64)

DEFINE_TERNARY(exec_slct_b32_s32, LaneU32, LaneU32, (int32_t)c >= 0 ? a : b)
DEFINE_MIXED_TERNARY(exec_slct_b64_s32, uint64_t, write_lanes_64, LaneU64, LaneU64, LaneS32, c >= 0 ? a : b)
/* A NaN selects b; -0 counts as >= 0. */
static inline bool selects_first(float c, uint32_t detail) {
    return flush_f32(c, detail & DETAIL_FTZ ? SMALLEST_NORMAL_F32 : 0.0f) >= 0.0f;
}
DEFINE_MIXED_TERNARY(exec_slct_b32_f32, uint32_t, write_lanes_32, LaneU32, LaneU32, LaneF32,
                     selects_first(c, inst->detail) ? a : b)
DEFINE_MIXED_TERNARY(exec_slct_b64_f32, uint64_t, write_lanes_64, LaneU64, LaneU64, LaneF32,
                     selects_first(c, inst->detail) ? a : b)
