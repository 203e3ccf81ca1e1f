/* Lane loops: how the handlers of exec_*.c are written.
 *
 * A handler reads its operands through pointers that may alias, because a destination register may be a
 * source too. Lane i of the result depends on lane i of the sources only, so as long as all of them are lanes
 * of the same width FOR_LANES may promise the compiler that iterations are independent. Handlers that mix
 * widths (mul.wide, cvt) compute into a local array first: there, lane i of the destination overlays other
 * lanes of the source.
 *
 * 16-bit registers take a 32-bit slot. Whoever reads one takes the low half of the slot and extends it as the
 * instruction's type says; 16-bit results are stored zero-extended. */
#ifndef WW_PTX_EXEC_INTERNAL_H
#define WW_PTX_EXEC_INTERNAL_H

#include "core/ptx/execution/exec.h"

#include <fenv.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

typedef uint32_t __attribute__((may_alias)) LaneU32;
typedef int32_t __attribute__((may_alias)) LaneS32;
typedef uint64_t __attribute__((may_alias)) LaneU64;
typedef int64_t __attribute__((may_alias)) LaneS64;
typedef float __attribute__((may_alias)) LaneF32;
typedef double __attribute__((may_alias)) LaneF64;

#ifdef __clang__
/* Without it, clang warns of each lane loop that it cannot vectorise, calls of fma() on hosts without FMA,
 * say. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#define INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif
#define FOR_LANES INDEPENDENT_ITERATIONS for (int lane = 0; lane < WARP_LANES; lane++)

#define ALL_LANES 0xffffffffu

/* Parts of a register, as wide as compilers store results. Who reads one reads such vectors: from stores of single lanes, or
 * of narrower vectors, the host would not forward a wider one, which then waits for its cache. */
typedef uint32_t EightLanes __attribute__((vector_size(32), may_alias));
typedef uint64_t FourLanes __attribute__((vector_size(32), may_alias));

/* What a compiler makes of a loop over all bits waits for one vector operation after the other: the host has an
 * instruction for it. */
static inline bool has_bits(const FourLanes *lanes) {
#ifdef __AVX2__
    typedef long long Signed __attribute__((vector_size(32)));
    return !__builtin_ia32_ptestz256((Signed)*lanes, (Signed)*lanes);
#else
    return (*lanes)[0] | (*lanes)[1] | (*lanes)[2] | (*lanes)[3];
#endif
}

/* Inst.detail of arithmetic, conversions and compares. The rounding field is a RoundingMode. */
enum {
    DETAIL_ROUNDING = 0x7,
    DETAIL_FTZ = 0x8,
    DETAIL_SATURATE = 0x10,
    DETAIL_SOURCE_WIDE = 0x20,      /* a type of at most 32 bits in a 64-bit register */
    DETAIL_DESTINATION_WIDE = 0x40, /* likewise                                       */
    DETAIL_BOOLEAN = 0x180,         /* setp.and and the like: BooleanOp               */
    DETAIL_BOOLEAN_SHIFT = 7,
    DETAIL_FLOAT_RESULT = 0x200, /* set.f32                                        */
    DETAIL_CARRY_IN = 0x400,
    DETAIL_CARRY_OUT = 0x800,
    DETAIL_WRAP = 0x1000,         /* shf.wrap, bmsk.wrap: shift amounts are taken modulo the width */
    DETAIL_SHIFT_AMOUNT = 0x2000, /* bfind.shiftamt */
    DETAIL_SIGNED = 0x2000,       /* szext.s32 */
    DETAIL_PAIR = 0x4000,         /* two halves in a register */
    DETAIL_BRAIN = 0x8000,        /* halves are bf16, not f16 */
    DETAIL_RELU = 0x10000,        /* fma of halves            */
    DETAIL_HALF_RESULT = 0x10000, /* set.f16, set.bf16        */
    DETAIL_NAN = 0x20000,         /* min, max of halves       */
    DETAIL_COMPARE_SHIFT = 20,    /* halves: HalfCompare      */
    DETAIL_XORSIGN = 0x40000,     /* min, max: of magnitudes, with the product of the signs */
    DETAIL_MAGNITUDE = 0x80000,   /* min, max of three: of magnitudes                */
    DETAIL_SATFINITE = 0x40000,   /* cvt: the largest number instead of infinity     */
    DETAIL_INTEGRAL = 0x80000,    /* cvt of floats to floats: to an integer          */
    DETAIL_TO_SHIFT = 20,         /* cvt of narrow floats: NarrowType, 5 bits each   */
    DETAIL_FROM_SHIFT = 25,
    DETAIL_TYPES_SHIFT = 16, /* destination and source IntegerType of a saturating cvt, 4 bits each */
};

/* Inst.detail of cvt.pack. */
enum { DETAIL_PACK_BITS = 0x1f, DETAIL_PACK_SIGNED = 0x20 };

/* Inst.detail of video instructions: a VideoOperation, whose types are signed, and groups of modifiers. */
enum {
    VIDEO_OPERATION = 0xf,
    VIDEO_SIGNED_D = 0x10,
    VIDEO_SIGNED_A = 0x20,
    VIDEO_SIGNED_B = 0x40,
    VIDEO_SATURATE = 0x80,
    VIDEO_SECOND = 0x300, /* the second operation, with c */
    VIDEO_SECOND_ADD = 0x100,
    VIDEO_SECOND_MIN = 0x200,
    VIDEO_SECOND_MAX = 0x300,
    VIDEO_MODE = 0xc00, /* of shifts */
    VIDEO_CLAMP = 0x400,
    VIDEO_WRAP = 0x800,
    VIDEO_PLUS_ONE = 0x1000,
    VIDEO_SCALE = 0x1e000, /* by how many bits vmad shifts */
    VIDEO_SCALE_SHIFT = 13,
    VIDEO_RELATION = 0xe0000, /* of vset */
    VIDEO_EQ = 0x20000,
    VIDEO_NE = 0x40000,
    VIDEO_LT = 0x60000,
    VIDEO_LE = 0x80000,
    VIDEO_GT = 0xa0000,
    VIDEO_GE = 0xc0000,
    VIDEO_FOUR = 0x100000, /* four elements, not two */
};
typedef enum {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_DIFFERENCE,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVERAGE,
    VIDEO_COMPARE,
    VIDEO_SHIFT_LEFT,
    VIDEO_SHIFT_RIGHT,
    VIDEO_PRODUCT,
} VideoOperation;

typedef enum {
    HALF_EQ,
    HALF_NE,
    HALF_LT,
    HALF_LE,
    HALF_GT,
    HALF_GE,
    HALF_EQU,
    HALF_NEU,
    HALF_LTU,
    HALF_LEU,
    HALF_GTU,
    HALF_GEU,
    HALF_NUM,
    HALF_NAN_,
} HalfCompare;
/* ROUND_AWAY: to nearest, of two the one farther from zero; of cvt.rna alone. */
typedef enum { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_AWAY } RoundingMode;
typedef enum { BOOLEAN_NONE, BOOLEAN_AND, BOOLEAN_OR, BOOLEAN_XOR } BooleanOp;
typedef enum { TYPE_U8, TYPE_S8, TYPE_U16, TYPE_S16, TYPE_U32, TYPE_S32, TYPE_U64, TYPE_S64 } IntegerType;

/* What cvt of narrow floats converts from and to; those before NARROW_FORMATS are floats of up to 19 bits. */
typedef enum {
    NARROW_F16,
    NARROW_BF16,
    NARROW_TF32,
    NARROW_E4M3,
    NARROW_E5M2,
    NARROW_E2M1,
    NARROW_E2M3,
    NARROW_E3M2,
    NARROW_UE8M0, /* powers of two */
    NARROW_FORMATS,
    NARROW_F32 = NARROW_FORMATS,
    NARROW_F64,
    NARROW_U8, /* the integers: by width, the signed one behind the unsigned */
    NARROW_S8,
    NARROW_U16,
    NARROW_S16,
    NARROW_U32,
    NARROW_S32,
    NARROW_U64,
    NARROW_S64,
} NarrowType;

/* Of a format below NARROW_FORMATS; bits above its own are ignored. */
double narrow_float_value(uint32_t bits, NarrowType format);

/* Inst.detail of loads, stores and atomics: an AtomicOp in bits 0-7, an AtomicType in bits 8-15, and
 * these. */
enum {
    DETAIL_ADDRESS_32 = 0x10000, /* the base register is 32 bits wide                              */
    DETAIL_ATOMIC_MASK = 0xffff,
    DETAIL_ASYNC_TARGET_32 = 0x40000,
    DETAIL_ASYNC_SIZE = 0x80000,    /* source 3: the bytes that are read */
    DETAIL_ASYNC_IGNORE = 0x100000, /* source 3: a predicate, lanes that read none */
};

/* Inst.detail of texture fetches. Sources behind the handle: the layer, then a coordinate for each axis. */
enum {
    DETAIL_TEXTURE_AXES = 3,    /* how many: 1 to 3                                 */
    DETAIL_TEXTURE_FLOAT = 4,   /* coordinates                                      */
    DETAIL_TEXTURE_LAYERED = 8, /* source 1 is the layer                            */
    DETAIL_TEXTURE_CUBE = 0x10, /* three coordinates make a direction               */
    DETAIL_TEXTURE_GATHER = 0x20,
    DETAIL_COMPONENT_SHIFT = 6, /* the channel gathered                             */
};

/* Inst.detail of surface accesses, beside DETAIL_TEXTURE_AXES and _LAYERED. */
enum {
    DETAIL_CLAMP_SHIFT = 6,     /* SurfaceClamp                                      */
    DETAIL_REDUCTION_SHIFT = 16 /* what an atomic has in its DETAIL_ATOMIC_MASK bits */
};
typedef enum { SURFACE_TRAP, SURFACE_CLAMP, SURFACE_ZERO } SurfaceClamp;

/* Inst.detail of txq and suq. */
enum { DETAIL_QUERY = 0xff };
typedef enum {
    QUERY_WIDTH,
    QUERY_HEIGHT,
    QUERY_DEPTH,
    QUERY_ARRAY_SIZE,
    QUERY_LEVELS,
    QUERY_SAMPLES,
    QUERY_CHANNEL_TYPE,
    QUERY_CHANNEL_ORDER,
    QUERY_NORMALIZED,
    QUERY_UNNORMALIZED,
    QUERY_FILTER,
    QUERY_ADDRESS_0,
    QUERY_ADDRESS_1,
    QUERY_ADDRESS_2,
    QUERY_LAYOUT,
} TextureQuery;

typedef enum {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_EXCH,
    ATOMIC_CAS,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
} AtomicOp;
typedef enum {
    ATOMIC_U32,
    ATOMIC_S32,
    ATOMIC_F32,
    ATOMIC_U64,
    ATOMIC_S64,
    ATOMIC_F64,
    ATOMIC_U16,
    ATOMIC_F16,
    ATOMIC_BF16,
    ATOMIC_F16X2,
    ATOMIC_BF16X2,
} AtomicType;

static inline const void *source(const Inst *inst, const ExecContext *context, int index) {
    return operand_lanes(context, inst->src[index]);
}

/* Of a matrix instruction, which may have more. */
static inline const void *any_source(const Inst *inst, const ExecContext *context, uint32_t index) {
    return operand_lanes(context, index < MAX_SRC ? inst->src[index] : inst->more_src[index - MAX_SRC]);
}

static inline void *destination(const Inst *inst, const ExecContext *context, int index) {
    void *lanes = (void *)(context->bank[0] + inst->dst[index]);
    return __builtin_assume_aligned(lanes, 64); /* without a cast: see operand_lanes() */
}

static inline uint32_t predicate_source(const Inst *inst, const ExecContext *context, int index) {
    uint32_t operand = inst->src[index], mask = context->predicates[operand & OPERAND_OFFSET];
    return operand & OPERAND_NEGATED ? ~mask : mask;
}

/* setp.and and the like: the result of a compare with the predicate that is source `predicate`. */
static inline uint32_t combine(const Inst *inst, const ExecContext *context, uint32_t compared,
                               int predicate) {
    switch ((BooleanOp)((inst->detail & DETAIL_BOOLEAN) >> DETAIL_BOOLEAN_SHIFT)) {
    case BOOLEAN_NONE: return compared;
    case BOOLEAN_AND: return compared & predicate_source(inst, context, predicate);
    case BOOLEAN_OR: return compared | predicate_source(inst, context, predicate);
    case BOOLEAN_XOR: return compared ^ predicate_source(inst, context, predicate);
    }
    return compared;
}

static inline void write_predicate(ExecContext *context, uint8_t predicate, uint32_t mask) {
    if (predicate == NO_PREDICATE) return;
    uint32_t *target = &context->predicates[predicate];
    *target = (*target & ~context->active) | (mask & context->active);
}

static inline void write_lanes_32(LaneU32 *to, const LaneU32 *from, uint32_t active) {
    if (active == ALL_LANES) {
        memcpy(to, from, WARP_LANES * sizeof *to);
    } else {
        FOR_LANES to[lane] = active & 1u << lane ? from[lane] : to[lane];
    }
}

static inline void write_lanes_64(LaneU64 *to, const LaneU64 *from, uint32_t active) {
    if (active == ALL_LANES) {
        memcpy(to, from, WARP_LANES * sizeof *to);
    } else {
        FOR_LANES to[lane] = active & 1u << lane ? from[lane] : to[lane];
    }
}

static inline void fault_at(ExecContext *context, FaultKind kind, int lane, uint64_t address) {
    context->fault = kind;
    context->unwatched_end = 0;
    context->fault_lane = (uint32_t)lane;
    context->fault_space = context->space;
    context->fault_address = address;
}

static inline uint32_t bits_of_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float f32_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits_of_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double f64_of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Exact. */
double f64_of_f16(uint32_t bits);
/* add, min or max of f16 or bf16 (`brain`). */
uint32_t half_combined(AtomicOp operation, uint32_t a, uint32_t b, bool brain);
/* Rounded as `rounding`, a RoundingMode, says. */
uint32_t double_to_f16(double value, uint32_t rounding);

/* PTX generates one NaN for f32. What the host's instructions propagate depends on the order in which the
 * compiler puts the operands of a commutative operation, so f64 needs one as well. */
static inline float canonical_f32(float value) {
    return value == value ? value : f32_of_bits(0x7fffffffu);
}
static inline double canonical_f64(double value) {
    return value == value ? value : f64_of_bits(0xfff8000000000000ull);
}

/* Flushes magnitudes below `smallest` to zero of the same sign; 0 flushes nothing. */
static inline float flush_f32(float value, float smallest) {
    return __builtin_fabsf(value) < smallest ? __builtin_copysignf(0.0f, value) : value;
}

/* To [0, 1]; NaN and -0 become +0. */
static inline float saturate_f32(float value) {
    return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f;
}
static inline double saturate_f64(double value) {
    return value > 0.0 ? (value < 1.0 ? value : 1.0) : 0.0;
}

/* The operand that is a number wins over NaN, and -0 counts as less than +0. */
static inline float minimum_f32(float a, float b) {
    float least = a < b ? a : b;
    least = a == b ? f32_of_bits(bits_of_f32(a) | bits_of_f32(b)) : least;
    return b == b ? least : a;
}
static inline float maximum_f32(float a, float b) {
    float most = a > b ? a : b;
    most = a == b ? f32_of_bits(bits_of_f32(a) & bits_of_f32(b)) : most;
    return b == b ? most : a;
}
/* The larger, if `most`, or the smaller; with .NaN any NaN makes it one. */
static inline float extreme_f32(float a, float b, bool most, uint32_t detail) {
    if (detail & DETAIL_NAN && (a != a || b != b)) return f32_of_bits(0x7fffffffu);
    return most ? maximum_f32(a, b) : minimum_f32(a, b);
}

#define SMALLEST_NORMAL_F32 0x1p-126f

/* For flush_f32(): what .ftz in the instruction asks for. */
static inline float smallest_kept(const Inst *inst) {
    return inst->detail & DETAIL_FTZ ? SMALLEST_NORMAL_F32 : 0.0f;
}

/* The value of a 16-bit register, from its slot. */
#define U16(value) ((uint32_t)(uint16_t)(value))
#define S16(value) ((int32_t)(int16_t)(value))

/* Sets the host's rounding mode around a lane loop, which must stand in a function that is not inlined: the
 * compiler moves no calls across this one. fesetround() would also set the x87 mode, at ten times the
 * cost. */
static inline void set_host_rounding(RoundingMode mode) {
#ifdef __SSE__
    static const unsigned modes[] = {[ROUND_NEAREST] = _MM_ROUND_NEAREST,
                                     [ROUND_ZERO] = _MM_ROUND_TOWARD_ZERO,
                                     [ROUND_DOWN] = _MM_ROUND_DOWN,
                                     [ROUND_UP] = _MM_ROUND_UP};
    _mm_setcsr((_mm_getcsr() & ~(unsigned)_MM_ROUND_MASK) | modes[mode]);
#else
    static const int modes[] = {[ROUND_NEAREST] = FE_TONEAREST,
                                [ROUND_ZERO] = FE_TOWARDZERO,
                                [ROUND_DOWN] = FE_DOWNWARD,
                                [ROUND_UP] = FE_UPWARD};
    fesetround(modes[mode]);
#endif
}

/* Handlers whose operands all have lanes of one width. `a`, `b`, `c` are the values of the sources in
 * `expression`. */
#define DEFINE_UNARY(name, D, A, expression)                                                                 \
    void name(const Inst *inst, ExecContext *context) {                                                      \
        D *to = destination(inst, context, 0);                                                               \
        const A *from_a = source(inst, context, 0);                                                          \
        uint32_t active = context->active;                                                                   \
        if (active == ALL_LANES) {                                                                           \
            FOR_LANES {                                                                                      \
                A a = from_a[lane];                                                                          \
                to[lane] = (D)(expression);                                                                  \
            }                                                                                                \
        } else {                                                                                             \
            FOR_LANES {                                                                                      \
                A a = from_a[lane];                                                                          \
                D result = (D)(expression);                                                                  \
                to[lane] = active & 1u << lane ? result : to[lane];                                          \
            }                                                                                                \
        }                                                                                                    \
    }

#define DEFINE_BINARY_BODY(D, A, expression)                                                                 \
    D *to = destination(inst, context, 0);                                                                   \
    const A *from_a = source(inst, context, 0), *from_b = source(inst, context, 1);                          \
    uint32_t active = context->active;                                                                       \
    if (active == ALL_LANES) {                                                                               \
        FOR_LANES {                                                                                          \
            A a = from_a[lane], b = from_b[lane];                                                            \
            to[lane] = (D)(expression);                                                                      \
        }                                                                                                    \
    } else {                                                                                                 \
        FOR_LANES {                                                                                          \
            A a = from_a[lane], b = from_b[lane];                                                            \
            D result = (D)(expression);                                                                      \
            to[lane] = active & 1u << lane ? result : to[lane];                                              \
        }                                                                                                    \
    }

#define DEFINE_BINARY(name, D, A, expression)                                                                \
    void name(const Inst *inst, ExecContext *context) {                                                      \
        DEFINE_BINARY_BODY(D, A, expression)                                                                 \
    }

#define DEFINE_TERNARY(name, D, A, expression)                                                               \
    void name(const Inst *inst, ExecContext *context) {                                                      \
        D *to = destination(inst, context, 0);                                                               \
        const A *from_a = source(inst, context, 0), *from_b = source(inst, context, 1),                      \
                *from_c = source(inst, context, 2);                                                          \
        uint32_t active = context->active;                                                                   \
        if (active == ALL_LANES) {                                                                           \
            FOR_LANES {                                                                                      \
                A a = from_a[lane], b = from_b[lane], c = from_c[lane];                                      \
                to[lane] = (D)(expression);                                                                  \
            }                                                                                                \
        } else {                                                                                             \
            FOR_LANES {                                                                                      \
                A a = from_a[lane], b = from_b[lane], c = from_c[lane];                                      \
                D result = (D)(expression);                                                                  \
                to[lane] = active & 1u << lane ? result : to[lane];                                          \
            }                                                                                                \
        }                                                                                                    \
    }

/* Handlers with sources of other widths than the destination: up to three sources of types A, B, C. */
#define DEFINE_MIXED_BODY(D, write, load, expression)                                                        \
    D result[WARP_LANES] __attribute__((aligned(64)));                                                       \
    FOR_LANES {                                                                                              \
        load;                                                                                                \
        result[lane] = (D)(expression);                                                                      \
    }                                                                                                        \
    write(destination(inst, context, 0), (const void *)result, context->active);

/* The registers that begin at `to` and `from`, `a` and `b` bytes in all lanes, have no byte in common. */
static inline bool are_apart(const void *to, uint64_t a, const void *from, uint64_t b) {
    return (uintptr_t)to - (uintptr_t)from + a - 1 >= a + b - 1;
}
#define ARE_APART(from) are_apart(to, WARP_LANES * sizeof *to, from, WARP_LANES * sizeof *from)

/* Where the destination is apart from the sources, the results need no array of their own. */
#define DEFINE_MIXED(name, D, write, sources, apart, load, expression)                                       \
    void name(const Inst *inst, ExecContext *context) {                                                      \
        typedef D __attribute__((may_alias)) Result;                                                         \
        sources;                                                                                             \
        Result *to = destination(inst, context, 0);                                                          \
        if (__builtin_expect(context->active == ALL_LANES && (apart), 1)) {                                  \
            FOR_LANES {                                                                                      \
                load;                                                                                        \
                to[lane] = (D)(expression);                                                                  \
            }                                                                                                \
            return;                                                                                          \
        }                                                                                                    \
        DEFINE_MIXED_BODY(D, write, load, expression)                                                        \
    }

#define DEFINE_MIXED_UNARY(name, D, write, A, expression)                                                    \
    DEFINE_MIXED(name, D, write, const A *from_a = source(inst, context, 0), ARE_APART(from_a),              \
                 A a = from_a[lane], expression)

#define DEFINE_MIXED_BINARY(name, D, write, A, B, expression)                                                \
    DEFINE_MIXED(name, D, write, const A *from_a = source(inst, context, 0);                                 \
                 const B *from_b = source(inst, context, 1), ARE_APART(from_a) && ARE_APART(from_b),         \
                 A a = from_a[lane];                                                                         \
                 B b = from_b[lane], expression)

#define DEFINE_MIXED_TERNARY(name, D, write, A, B, C, expression)                                            \
    DEFINE_MIXED(name, D, write, const A *from_a = source(inst, context, 0);                                 \
                 const B *from_b = source(inst, context, 1);                                                 \
                 const C *from_c = source(inst, context, 2),                                                 \
                 ARE_APART(from_a) && ARE_APART(from_b) && ARE_APART(from_c), A a = from_a[lane];            \
                 B b = from_b[lane]; C c = from_c[lane], expression)

#endif
