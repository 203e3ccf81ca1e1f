/* Integer arithmetic. Results wrap around; only add.sat and sub.sat clamp. */
#include "core/ptx/execution/exec_internal.h"

#include <stdlib.h>

/* The quotient of two 32-bit integers, rounded to double, never reaches the next integer, so truncating it is
 * exact. That is several times faster than 32 integer divisions. Division by zero gives all ones, as on
 * hardware. */
static inline uint32_t divide_u32(uint32_t a, uint32_t b) {
    uint32_t quotient = (uint32_t)((double)a / (double)(b ? b : 1));
    return b ? quotient : UINT32_MAX;
}

static inline uint32_t divide_s32(int32_t a, int32_t b) {
    bool special = b == 0 || b == -1; /* -1: INT32_MIN / -1 wraps around */
    uint32_t quotient = (uint32_t)(int32_t)((double)a / (double)(special ? 1 : b));
    return special ? (b ? 0u - (uint32_t)a : UINT32_MAX) : quotient;
}

static inline uint64_t divide_u64(uint64_t a, uint64_t b) {
    return b ? a / b : UINT64_MAX;
}

static inline uint64_t divide_s64(int64_t a, int64_t b) {
    if (b == 0) return UINT64_MAX;
    if (b == -1) return 0u - (uint64_t)a;
    return (uint64_t)(a / b);
}

/* The remainder of a division by zero is the dividend. */
static inline uint32_t remainder_u32(uint32_t a, uint32_t b) {
    return b ? a - divide_u32(a, b) * b : a;
}
static inline uint32_t remainder_s32(int32_t a, int32_t b) {
    return b ? (uint32_t)a - divide_s32(a, b) * (uint32_t)b : (uint32_t)a;
}
static inline uint64_t remainder_u64(uint64_t a, uint64_t b) {
    return b ? a % b : a;
}
static inline uint64_t remainder_s64(int64_t a, int64_t b) {
    return b ? (uint64_t)a - divide_s64(a, b) * (uint64_t)b : (uint64_t)a;
}

static inline uint64_t high_u64(uint64_t a, uint64_t b) {
    return (uint64_t)((unsigned __int128)a * b >> 64);
}
static inline uint64_t high_s64(int64_t a, int64_t b) {
    return (uint64_t)((__int128)a * b >> 64);
}
static inline uint32_t high_u32(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)a * b >> 32);
}
static inline uint32_t high_s32(int32_t a, int32_t b) {
    return (uint32_t)((int64_t)a * b >> 32);
}

static inline int32_t clamp_to_s32(int64_t value) {
    return (int32_t)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

static inline int32_t low24_s32(uint32_t value) {
    return (int32_t)(value << 8) >> 8;
}
static inline uint32_t low24_u32(uint32_t value) {
    return value & 0xffffff;
}

/* mul24.hi: bits 47..16 of the 48-bit product. */
static inline uint32_t high24_u32(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)low24_u32(a) * low24_u32(b) >> 16);
}
static inline uint32_t high24_s32(uint32_t a, uint32_t b) {
    return (uint32_t)((int64_t)low24_s32(a) * low24_s32(b) >> 16);
}

/* 32 bits */
DEFINE_BINARY(exec_add_u32, LaneU32, LaneU32, a + b)
DEFINE_BINARY(exec_sub_u32, LaneU32, LaneU32, a - b)
DEFINE_BINARY(exec_mul_lo_u32, LaneU32, LaneU32, (a * b))
DEFINE_BINARY(exec_mul_hi_u32, LaneU32, LaneU32, high_u32(a, b))
DEFINE_BINARY(exec_mul_hi_s32, LaneU32, LaneS32, high_s32(a, b))
DEFINE_TERNARY(exec_mad_lo_u32, LaneU32, LaneU32, (a * b) + c)
DEFINE_TERNARY(exec_mad_hi_u32, LaneU32, LaneU32, high_u32(a, b) + c)
DEFINE_TERNARY(exec_mad_hi_s32, LaneU32, LaneS32, high_s32(a, b) + (uint32_t)c)
DEFINE_BINARY(exec_div_u32, LaneU32, LaneU32, divide_u32(a, b))
DEFINE_BINARY(exec_div_s32, LaneU32, LaneS32, divide_s32(a, b))
DEFINE_BINARY(exec_rem_u32, LaneU32, LaneU32, remainder_u32(a, b))
DEFINE_BINARY(exec_rem_s32, LaneU32, LaneS32, remainder_s32(a, b))
DEFINE_BINARY(exec_min_u32, LaneU32, LaneU32, a < b ? a : b)
DEFINE_BINARY(exec_min_s32, LaneS32, LaneS32, a < b ? a : b)
DEFINE_BINARY(exec_max_u32, LaneU32, LaneU32, a > b ? a : b)
DEFINE_BINARY(exec_max_s32, LaneS32, LaneS32, a > b ? a : b)
DEFINE_UNARY(exec_neg_s32, LaneU32, LaneU32, 0u - a)
DEFINE_UNARY(exec_abs_s32, LaneU32, LaneU32, a >> 31 ? 0u - a : a)
DEFINE_BINARY(exec_add_sat_s32, LaneS32, LaneS32, clamp_to_s32((int64_t)a + b))
DEFINE_BINARY(exec_sub_sat_s32, LaneS32, LaneS32, clamp_to_s32((int64_t)a - b))
DEFINE_TERNARY(exec_mad_hi_sat_s32, LaneS32, LaneS32, clamp_to_s32((int64_t)(int32_t)high_s32(a, b) + c))
DEFINE_BINARY(exec_min_relu_s32, LaneU32, LaneS32, a < 0 || b < 0 ? 0 : a < b ? a : b)
DEFINE_BINARY(exec_max_relu_s32, LaneU32, LaneS32, a < 0 && b < 0 ? 0 : a > b ? a : b)
DEFINE_TERNARY(exec_sad_u32, LaneU32, LaneU32, c + (a < b ? b - a : a - b))
DEFINE_TERNARY(exec_sad_s32, LaneU32, LaneS32,
               (uint32_t)c + (a < b ? (uint32_t)b - (uint32_t)a : (uint32_t)a - (uint32_t)b))
DEFINE_BINARY(exec_mul24_lo_u32, LaneU32, LaneU32, low24_u32(a) * low24_u32(b))
DEFINE_BINARY(exec_mul24_lo_s32, LaneU32, LaneU32, (uint32_t)low24_s32(a) * (uint32_t)low24_s32(b))
DEFINE_BINARY(exec_mul24_hi_u32, LaneU32, LaneU32, high24_u32(a, b))
DEFINE_BINARY(exec_mul24_hi_s32, LaneU32, LaneU32, high24_s32(a, b))
DEFINE_TERNARY(exec_mad24_lo_u32, LaneU32, LaneU32, low24_u32(a) * low24_u32(b) + c)
DEFINE_TERNARY(exec_mad24_lo_s32, LaneU32, LaneU32, (uint32_t)low24_s32(a) * (uint32_t)low24_s32(b) + c)
DEFINE_TERNARY(exec_mad24_hi_u32, LaneU32, LaneU32, high24_u32(a, b) + c)
DEFINE_TERNARY(exec_mad24_hi_s32, LaneU32, LaneU32, high24_s32(a, b) + c)
DEFINE_TERNARY(exec_mad24_hi_sat_s32, LaneS32, LaneU32,
               clamp_to_s32((int64_t)(int32_t)high24_s32(a, b) + (int32_t)c))

/* 64 bits */
DEFINE_BINARY(exec_add_u64, LaneU64, LaneU64, a + b)
DEFINE_BINARY(exec_sub_u64, LaneU64, LaneU64, a - b)
DEFINE_BINARY(exec_mul_lo_u64, LaneU64, LaneU64, (a * b))
DEFINE_BINARY(exec_mul_hi_u64, LaneU64, LaneU64, high_u64(a, b))
DEFINE_BINARY(exec_mul_hi_s64, LaneU64, LaneS64, high_s64(a, b))
DEFINE_TERNARY(exec_mad_lo_u64, LaneU64, LaneU64, (a * b) + c)
DEFINE_TERNARY(exec_mad_hi_u64, LaneU64, LaneU64, high_u64(a, b) + c)
DEFINE_TERNARY(exec_mad_hi_s64, LaneU64, LaneS64, high_s64(a, b) + (uint64_t)c)
DEFINE_BINARY(exec_div_u64, LaneU64, LaneU64, divide_u64(a, b))
DEFINE_BINARY(exec_div_s64, LaneU64, LaneS64, divide_s64(a, b))
DEFINE_BINARY(exec_rem_u64, LaneU64, LaneU64, remainder_u64(a, b))
DEFINE_BINARY(exec_rem_s64, LaneU64, LaneS64, remainder_s64(a, b))
DEFINE_BINARY(exec_min_u64, LaneU64, LaneU64, a < b ? a : b)
DEFINE_BINARY(exec_min_s64, LaneS64, LaneS64, a < b ? a : b)
DEFINE_BINARY(exec_max_u64, LaneU64, LaneU64, a > b ? a : b)
DEFINE_BINARY(exec_max_s64, LaneS64, LaneS64, a > b ? a : b)
DEFINE_UNARY(exec_neg_s64, LaneU64, LaneU64, 0u - a)
DEFINE_UNARY(exec_abs_s64, LaneU64, LaneU64, a >> 63 ? 0u - a : a)
DEFINE_TERNARY(exec_sad_u64, LaneU64, LaneU64, c + (a < b ? b - a : a - b))
DEFINE_TERNARY(exec_sad_s64, LaneU64, LaneS64,
               (uint64_t)c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))

/* 16 bits. Results are stored zero-extended. */
DEFINE_BINARY(exec_add_u16, LaneU32, LaneU32, U16(a + b))
DEFINE_BINARY(exec_sub_u16, LaneU32, LaneU32, U16(a - b))
DEFINE_BINARY(exec_mul_lo_u16, LaneU32, LaneU32, U16(a *b))
DEFINE_BINARY(exec_mul_hi_u16, LaneU32, LaneU32, U16(a) * U16(b) >> 16)
DEFINE_BINARY(exec_mul_hi_s16, LaneU32, LaneU32, U16(S16(a) * S16(b) >> 16))
DEFINE_BINARY(exec_mul_wide_u16, LaneU32, LaneU32, U16(a) * U16(b))
DEFINE_BINARY(exec_mul_wide_s16, LaneU32, LaneU32, S16(a) * S16(b))
DEFINE_TERNARY(exec_mad_lo_u16, LaneU32, LaneU32, U16(a *b + c))
DEFINE_TERNARY(exec_mad_hi_u16, LaneU32, LaneU32, U16((U16(a) * U16(b) >> 16) + c))
DEFINE_TERNARY(exec_mad_hi_s16, LaneU32, LaneU32, U16((uint32_t)(S16(a) * S16(b) >> 16) + c))
DEFINE_TERNARY(exec_mad_wide_u16, LaneU32, LaneU32, U16(a) * U16(b) + c)
DEFINE_TERNARY(exec_mad_wide_s16, LaneU32, LaneU32, (uint32_t)(S16(a) * S16(b)) + c)
DEFINE_BINARY(exec_div_u16, LaneU32, LaneU32, U16(divide_u32(U16(a), U16(b))))
DEFINE_BINARY(exec_div_s16, LaneU32, LaneU32, U16(divide_s32(S16(a), S16(b))))
DEFINE_BINARY(exec_rem_u16, LaneU32, LaneU32, U16(remainder_u32(U16(a), U16(b))))
DEFINE_BINARY(exec_rem_s16, LaneU32, LaneU32, U16(remainder_s32(S16(a), S16(b))))
DEFINE_BINARY(exec_min_u16, LaneU32, LaneU32, U16(a) < U16(b) ? U16(a) : U16(b))
DEFINE_BINARY(exec_min_s16, LaneU32, LaneU32, S16(a) < S16(b) ? U16(a) : U16(b))
DEFINE_BINARY(exec_max_u16, LaneU32, LaneU32, U16(a) > U16(b) ? U16(a) : U16(b))
DEFINE_BINARY(exec_max_s16, LaneU32, LaneU32, S16(a) > S16(b) ? U16(a) : U16(b))
DEFINE_UNARY(exec_neg_s16, LaneU32, LaneU32, U16(0u - a))
DEFINE_UNARY(exec_abs_s16, LaneU32, LaneU32, U16(S16(a) < 0 ? 0u - a : a))
DEFINE_TERNARY(exec_sad_u16, LaneU32, LaneU32, U16(c + (U16(a) < U16(b) ? b - a : a - b)))
DEFINE_TERNARY(exec_sad_s16, LaneU32, LaneU32, U16(c + (S16(a) < S16(b) ? b - a : a - b)))

/* Two 16-bit values in a register. */
#define PAIR(low, high) (U16(low) | (uint32_t)U16(high) << 16)
#define LARGER(x, y)    ((x) > (y) ? (x) : (y))
#define SMALLER(x, y)   ((x) < (y) ? (x) : (y))
#define DEFINE_PAIRS(type, VALUE)                                                                            \
    DEFINE_BINARY(exec_add_##type, LaneU32, LaneU32, PAIR(a + b, (a >> 16) + (b >> 16)))                     \
    DEFINE_BINARY(exec_max_##type, LaneU32, LaneU32,                                                         \
                  PAIR(LARGER(VALUE(a), VALUE(b)), LARGER(VALUE(a >> 16), VALUE(b >> 16))))                  \
    DEFINE_BINARY(exec_min_##type, LaneU32, LaneU32,                                                         \
                  PAIR(SMALLER(VALUE(a), VALUE(b)), SMALLER(VALUE(a >> 16), VALUE(b >> 16))))
DEFINE_PAIRS(u16x2, U16)
DEFINE_PAIRS(s16x2, S16)
#define NOT_NEGATIVE(x) LARGER(x, 0)
DEFINE_BINARY(exec_min_relu_s16x2, LaneU32, LaneU32,
              PAIR(NOT_NEGATIVE(SMALLER(S16(a), S16(b))), NOT_NEGATIVE(SMALLER(S16(a >> 16), S16(b >> 16)))))
DEFINE_BINARY(exec_max_relu_s16x2, LaneU32, LaneU32,
              PAIR(NOT_NEGATIVE(LARGER(S16(a), S16(b))), NOT_NEGATIVE(LARGER(S16(a >> 16), S16(b >> 16)))))

/* 32 bits to 64 */
DEFINE_MIXED_BINARY(exec_mul_wide_u32, uint64_t, write_lanes_64, LaneU32, LaneU32, ((uint64_t)a * b))
DEFINE_MIXED_BINARY(exec_mul_wide_s32, int64_t, write_lanes_64, LaneS32, LaneS32, ((int64_t)a * b))
DEFINE_MIXED_TERNARY(exec_mad_wide_u32, uint64_t, write_lanes_64, LaneU32, LaneU32, LaneU64,
                     ((uint64_t)a * b) + c)
DEFINE_MIXED_TERNARY(exec_mad_wide_s32, uint64_t, write_lanes_64, LaneS32, LaneS32, LaneU64,
                     (uint64_t)(((int64_t)a * b)) + c)

/* dp4a: four products of bytes, added to c. */
#define BYTE_U(value, index) ((uint32_t)(uint8_t)((value) >> 8 * (index)))
#define BYTE_S(value, index) ((uint32_t)(int32_t)(int8_t)((value) >> 8 * (index)))
#define DOT4(A, B)           (c + A(a, 0) * B(b, 0) + A(a, 1) * B(b, 1) + A(a, 2) * B(b, 2) + A(a, 3) * B(b, 3))
DEFINE_TERNARY(exec_dp4a_u32_u32, LaneU32, LaneU32, DOT4(BYTE_U, BYTE_U))
DEFINE_TERNARY(exec_dp4a_u32_s32, LaneU32, LaneU32, DOT4(BYTE_U, BYTE_S))
DEFINE_TERNARY(exec_dp4a_s32_u32, LaneU32, LaneU32, DOT4(BYTE_S, BYTE_U))
DEFINE_TERNARY(exec_dp4a_s32_s32, LaneU32, LaneU32, DOT4(BYTE_S, BYTE_S))

/* dp2a: two products of 16-bit values with the low or the high two bytes of b, added to c. */
#define HALF_U(value, index) ((uint32_t)(uint16_t)((value) >> 16 * (index)))
#define HALF_S(value, index) ((uint32_t)(int32_t)(int16_t)((value) >> 16 * (index)))
#define DOT2(A, B, first)    (c + A(a, 0) * B(b, first) + A(a, 1) * B(b, (first) + 1))
DEFINE_TERNARY(exec_dp2a_lo_u32_u32, LaneU32, LaneU32, DOT2(HALF_U, BYTE_U, 0))
DEFINE_TERNARY(exec_dp2a_lo_u32_s32, LaneU32, LaneU32, DOT2(HALF_U, BYTE_S, 0))
DEFINE_TERNARY(exec_dp2a_lo_s32_u32, LaneU32, LaneU32, DOT2(HALF_S, BYTE_U, 0))
DEFINE_TERNARY(exec_dp2a_lo_s32_s32, LaneU32, LaneU32, DOT2(HALF_S, BYTE_S, 0))
DEFINE_TERNARY(exec_dp2a_hi_u32_u32, LaneU32, LaneU32, DOT2(HALF_U, BYTE_U, 2))
DEFINE_TERNARY(exec_dp2a_hi_u32_s32, LaneU32, LaneU32, DOT2(HALF_U, BYTE_S, 2))
DEFINE_TERNARY(exec_dp2a_hi_s32_u32, LaneU32, LaneU32, DOT2(HALF_S, BYTE_U, 2))
DEFINE_TERNARY(exec_dp2a_hi_s32_s32, LaneU32, LaneU32, DOT2(HALF_S, BYTE_S, 2))

/* Extended precision: `x` + `y` + carry, in a type W with room for the carry; `free` is the carry of an instruction that
 * takes none. */
#define DEFINE_CARRY(name, LaneT, T, W, free, x, y, sources)                                                 \
    void name(const Inst *inst, ExecContext *context) {                                                      \
        LaneT *to = destination(inst, context, 0);                                                           \
        const LaneT *from_a = source(inst, context, 0), *from_b = source(inst, context, 1),                  \
                    *from_c = source(inst, context, sources - 1);                                            \
        uint32_t active = context->active, carry_out = 0;                                                    \
        uint32_t carry_in = inst->detail & DETAIL_CARRY_IN ? context->predicates[CARRY_PREDICATE] : free;    \
        for (int lane = 0; lane < WARP_LANES; lane++) {                                                      \
            if (!(active >> lane & 1)) continue;                                                             \
            T a = from_a[lane], b = from_b[lane], c = from_c[lane];                                          \
            (void)c;                                                                                         \
            (void)b;                                                                                         \
            W result = (W)(T)(x) + (W)(T)(y) + (W)(carry_in >> lane & 1);                                    \
            to[lane] = (T)result;                                                                            \
            carry_out |= (uint32_t)(result >> 8 * sizeof(T) & 1) << lane;                                    \
        }                                                                                                    \
        if (inst->detail & DETAIL_CARRY_OUT) write_predicate(context, CARRY_PREDICATE, carry_out);           \
    }

DEFINE_CARRY(exec_add_carry_32, LaneU32, uint32_t, uint64_t, 0, a, b, 2)
DEFINE_CARRY(exec_add_carry_64, LaneU64, uint64_t, unsigned __int128, 0, a, b, 2)
/* As the hardware subtracts, a + ~b + 1: the flag is set where nothing is borrowed. The ISA's text calls it the borrow; what
 * nvcc makes of a division of 128 bits reads it with addc. */
DEFINE_CARRY(exec_sub_carry_32, LaneU32, uint32_t, uint64_t, ~0u, a, ~b, 2)
DEFINE_CARRY(exec_sub_carry_64, LaneU64, uint64_t, unsigned __int128, ~0u, a, ~b, 2)
DEFINE_CARRY(exec_mad_lo_carry_32, LaneU32, uint32_t, uint64_t, 0, (a * b), c, 3)
DEFINE_CARRY(exec_mad_lo_carry_64, LaneU64, uint64_t, unsigned __int128, 0, (a * b), c, 3)
DEFINE_CARRY(exec_mad_hi_carry_u32, LaneU32, uint32_t, uint64_t, 0, high_u32(a, b), c, 3)
DEFINE_CARRY(exec_mad_hi_carry_s32, LaneU32, uint32_t, uint64_t, 0, high_s32((int32_t)a, (int32_t)b), c, 3)
DEFINE_CARRY(exec_mad_hi_carry_u64, LaneU64, uint64_t, unsigned __int128, 0, high_u64(a, b), c, 3)
DEFINE_CARRY(exec_mad_hi_carry_s64, LaneU64, uint64_t, unsigned __int128, 0, high_s64((int64_t)a, (int64_t)b),
             c, 3)
