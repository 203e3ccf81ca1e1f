/* Logic, shifts, bit fields and permutations. */
#include "core/ptx/execution/exec_internal.h"

DEFINE_BINARY(exec_and_b32, LaneU32, LaneU32, (a & b))
DEFINE_BINARY(exec_or_b32, LaneU32, LaneU32, a | b)
DEFINE_BINARY(exec_xor_b32, LaneU32, LaneU32, a ^ b)
DEFINE_UNARY(exec_not_b32, LaneU32, LaneU32, ~a)
DEFINE_UNARY(exec_cnot_b32, LaneU32, LaneU32, a == 0)
DEFINE_BINARY(exec_and_b64, LaneU64, LaneU64, (a & b))
DEFINE_BINARY(exec_or_b64, LaneU64, LaneU64, a | b)
DEFINE_BINARY(exec_xor_b64, LaneU64, LaneU64, a ^ b)
DEFINE_UNARY(exec_not_b64, LaneU64, LaneU64, ~a)
DEFINE_UNARY(exec_cnot_b64, LaneU64, LaneU64, a == 0)
DEFINE_BINARY(exec_and_b16, LaneU32, LaneU32, U16(a &b))
DEFINE_BINARY(exec_or_b16, LaneU32, LaneU32, U16(a | b))
DEFINE_BINARY(exec_xor_b16, LaneU32, LaneU32, U16(a ^ b))
DEFINE_UNARY(exec_not_b16, LaneU32, LaneU32, U16(~a))
DEFINE_UNARY(exec_cnot_b16, LaneU32, LaneU32, U16(a) == 0)

/* Shift amounts are 32-bit and clamped to the width of the type. */
DEFINE_BINARY(exec_shl_b32, LaneU32, LaneU32, b > 31 ? 0 : a << (b & 31))
DEFINE_BINARY(exec_shr_u32, LaneU32, LaneU32, b > 31 ? 0 : a >> (b & 31))
DEFINE_BINARY(exec_shr_s32, LaneU32, LaneU32, (int32_t)a >> (b > 31 ? 31 : b))
DEFINE_BINARY(exec_shl_b16, LaneU32, LaneU32, b > 15 ? 0 : U16(a << (b & 15)))
DEFINE_BINARY(exec_shr_u16, LaneU32, LaneU32, b > 15 ? 0 : U16(a) >> (b & 15))
DEFINE_BINARY(exec_shr_s16, LaneU32, LaneU32, U16(S16(a) >> (b > 15 ? 15 : b)))
DEFINE_MIXED_BINARY(exec_shl_b64, uint64_t, write_lanes_64, LaneU64, LaneU32, b > 63 ? 0 : a << (b & 63))
DEFINE_MIXED_BINARY(exec_shr_u64, uint64_t, write_lanes_64, LaneU64, LaneU32, b > 63 ? 0 : a >> (b & 63))
DEFINE_MIXED_BINARY(exec_shr_s64, int64_t, write_lanes_64, LaneS64, LaneU32, a >> (b > 63 ? 63 : b))

/* shf: the 64-bit value b:a shifted; the high word of a left shift, the low word of a right shift. */
DEFINE_TERNARY(exec_shf_l_wrap, LaneU32, LaneU32, (((uint64_t)b << 32 | a) << (c & 31)) >> 32)
DEFINE_TERNARY(exec_shf_l_clamp, LaneU32, LaneU32, (((uint64_t)b << 32 | a) << (c > 32 ? 32 : c)) >> 32)
DEFINE_TERNARY(exec_shf_r_wrap, LaneU32, LaneU32, ((uint64_t)b << 32 | a) >> (c & 31))
DEFINE_TERNARY(exec_shf_r_clamp, LaneU32, LaneU32, ((uint64_t)b << 32 | a) >> (c > 32 ? 32 : c))

static inline uint32_t reverse_b32(uint32_t value) {
    value = (value >> 1 & 0x55555555u) | (value & 0x55555555u) << 1;
    value = (value >> 2 & 0x33333333u) | (value & 0x33333333u) << 2;
    value = (value >> 4 & 0x0f0f0f0fu) | (value & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(value);
}

static inline uint64_t reverse_b64(uint64_t value) {
    return (uint64_t)reverse_b32((uint32_t)value) << 32 | reverse_b32((uint32_t)(value >> 32));
}

static inline uint32_t leading_zeros_b32(uint32_t value) {
    return value ? (uint32_t)__builtin_clz(value) : 32;
}
static inline uint32_t leading_zeros_b64(uint64_t value) {
    return value ? (uint32_t)__builtin_clzll(value) : 64;
}

DEFINE_UNARY(exec_brev_b32, LaneU32, LaneU32, reverse_b32(a))
DEFINE_UNARY(exec_brev_b64, LaneU64, LaneU64, reverse_b64(a))
DEFINE_UNARY(exec_popc_b32, LaneU32, LaneU32, __builtin_popcount(a))
DEFINE_MIXED_UNARY(exec_popc_b64, uint32_t, write_lanes_32, LaneU64, __builtin_popcountll(a))
DEFINE_UNARY(exec_clz_b32, LaneU32, LaneU32, leading_zeros_b32(a))
DEFINE_MIXED_UNARY(exec_clz_b64, uint32_t, write_lanes_32, LaneU64, leading_zeros_b64(a))

/* The most significant bit that is not a sign bit, or all ones. .shiftamt: the left shift
 * that would bring it to the top. */
static inline uint32_t find_high_bit(uint64_t value, uint32_t width, uint32_t detail) {
    if (value == 0) return UINT32_MAX;
    uint32_t position = 63 - leading_zeros_b64(value);
    return detail & DETAIL_SHIFT_AMOUNT ? width - 1 - position : position;
}

DEFINE_UNARY(exec_bfind_u32, LaneU32, LaneU32, find_high_bit(a, 32, inst->detail))
DEFINE_UNARY(exec_bfind_s32, LaneU32, LaneS32, find_high_bit((uint32_t)(a < 0 ? ~a : a), 32, inst->detail))
DEFINE_MIXED_UNARY(exec_bfind_u64, uint32_t, write_lanes_32, LaneU64, find_high_bit(a, 64, inst->detail))
DEFINE_MIXED_UNARY(exec_bfind_s64, uint32_t, write_lanes_32, LaneS64,
                   find_high_bit((uint64_t)(a < 0 ? ~a : a), 64, inst->detail))

/* Position and length of a bit field are the low bytes of their operands. A field that runs over the top is
 * filled with the sign (0 when unsigned); an empty one is 0. */
static inline uint64_t extract_unsigned(uint64_t value, uint32_t position, uint32_t length, uint32_t width) {
    position &= 0xff;
    length &= 0xff;
    uint64_t field = position >= width ? 0 : value >> (position & 63);
    return length >= width ? field : field & ((1ull << (length & 63)) - 1);
}

static inline uint64_t extract_signed(int64_t value, uint32_t position, uint32_t length, uint32_t width) {
    position &= 0xff;
    length &= 0xff;
    if (length == 0) return 0;
    int64_t field = value >> (position >= width ? width - 1 : position);
    uint32_t unused = length >= 64 ? 0 : 64 - length;
    return (uint64_t)((int64_t)((uint64_t)field << unused) >> unused);
}

static inline uint64_t insert_field(uint64_t field, uint64_t into, uint32_t position, uint32_t length,
                                    uint32_t width) {
    position &= 0xff;
    length &= 0xff;
    if (position >= width) return into;
    uint64_t mask = (length >= 64 ? UINT64_MAX : (1ull << length) - 1) << position;
    return (into & ~mask) | (field << position & mask);
}

DEFINE_TERNARY(exec_bfe_u32, LaneU32, LaneU32, extract_unsigned(a, b, c, 32))
DEFINE_TERNARY(exec_bfe_s32, LaneU32, LaneU32, extract_signed((int32_t)a, b, c, 32))
DEFINE_MIXED_TERNARY(exec_bfe_u64, uint64_t, write_lanes_64, LaneU64, LaneU32, LaneU32,
                     extract_unsigned(a, b, c, 64))
DEFINE_MIXED_TERNARY(exec_bfe_s64, uint64_t, write_lanes_64, LaneS64, LaneU32, LaneU32,
                     extract_signed(a, b, c, 64))

void exec_bfi_b32(const Inst *inst, ExecContext *context) {
    const LaneU32 *field = source(inst, context, 0), *into = source(inst, context, 1),
                  *position = source(inst, context, 2), *length = source(inst, context, 3);
    DEFINE_MIXED_BODY(uint32_t, write_lanes_32, (void)0,
                      insert_field(field[lane], into[lane], position[lane], length[lane], 32))
}

void exec_bfi_b64(const Inst *inst, ExecContext *context) {
    const LaneU64 *field = source(inst, context, 0), *into = source(inst, context, 1);
    const LaneU32 *position = source(inst, context, 2), *length = source(inst, context, 3);
    DEFINE_MIXED_BODY(uint64_t, write_lanes_64, (void)0,
                      insert_field(field[lane], into[lane], position[lane], length[lane], 64))
}

/* b ones starting at bit a. */
static inline uint32_t ones_from(uint32_t position, uint32_t length, uint32_t detail) {
    if (detail & DETAIL_WRAP) {
        position &= 31;
        length &= 31;
    }
    if (position > 31) return 0;
    return (uint32_t)((length > 31 ? UINT32_MAX : (1ull << length) - 1) << position);
}

DEFINE_BINARY(exec_bmsk, LaneU32, LaneU32, ones_from(a, b, inst->detail))

/* The lowest b bits of a, extended: mode .clamp takes all from 32 on, .wrap is modulo 32. */
static inline uint32_t extended(uint32_t value, uint32_t length, uint32_t detail) {
    if (detail & DETAIL_WRAP) length &= 31;
    if (length > 31) return value;
    uint32_t field = value & ((1u << length) - 1);
    bool negative = detail & DETAIL_SIGNED && length && field >> (length - 1);
    return negative ? field | UINT32_MAX << length : field;
}

DEFINE_BINARY(exec_szext, LaneU32, LaneU32, extended(a, b, inst->detail))

/* The table's bit 4a + 2b + c is the result for the input bits a, b, c. The table is an immediate. */
static inline void spread_table(const Inst *inst, const ExecContext *context, uint32_t term[8]) {
    uint32_t table = *(const LaneU32 *)source(inst, context, 3);
    for (int index = 0; index < 8; index++)
        term[index] = table >> index & 1 ? UINT32_MAX : 0;
}

static inline uint32_t logic_of(uint32_t a, uint32_t b, uint32_t c, const uint32_t term[8]) {
    uint32_t without_a = (~b & ((~c & term[0]) | (c & term[1]))) | (b & ((~c & term[2]) | (c & term[3])));
    uint32_t with_a = (~b & ((~c & term[4]) | (c & term[5]))) | (b & ((~c & term[6]) | (c & term[7])));
    return (~a & without_a) | (a & with_a);
}

void exec_lop3(const Inst *inst, ExecContext *context) {
    LaneU32 *to = destination(inst, context, 0);
    const LaneU32 *a = source(inst, context, 0), *b = source(inst, context, 1), *c = source(inst, context, 2);
    uint32_t term[8], active = context->active;
    spread_table(inst, context, term);
    FOR_LANES {
        uint32_t result = logic_of(a[lane], b[lane], c[lane], term);
        to[lane] = active & 1u << lane ? result : to[lane];
    }
}

/* lop3.or and lop3.and: whether the result has a bit, combined with a predicate. */
void exec_lop3_predicate(const Inst *inst, ExecContext *context) {
    const LaneU32 *a = source(inst, context, 0), *b = source(inst, context, 1), *c = source(inst, context, 2);
    uint32_t result[WARP_LANES], term[8], set = 0;
    spread_table(inst, context, term);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        result[lane] = logic_of(a[lane], b[lane], c[lane], term);
        set |= (uint32_t)(result[lane] != 0) << lane;
    }
    set = combine(inst, context, set, 4);
    if (inst->dst_count) write_lanes_32(destination(inst, context, 0), result, context->active);
    write_predicate(context, inst->pdst, set);
}

/* prmt picks four bytes of b:a; bit 3 of a selector replicates the sign of the byte instead. */
static inline uint32_t select_byte(uint64_t bytes, uint32_t selector) {
    uint32_t byte = (uint32_t)(bytes >> (selector & 7) * 8) & 0xff;
    return selector & 8 ? (byte >> 7) * 0xff : byte;
}

static inline uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t selectors) {
    uint64_t bytes = (uint64_t)b << 32 | a;
    return select_byte(bytes, selectors) | select_byte(bytes, selectors >> 4) << 8 |
           select_byte(bytes, selectors >> 8) << 16 | select_byte(bytes, selectors >> 12) << 24;
}

/* The selectors that the modes of prmt stand for, by the two low bits of c. */
static const uint16_t forward_extract[4] = {0x3210, 0x4321, 0x5432, 0x6543};
static const uint16_t backward_extract[4] = {0x5670, 0x6701, 0x7012, 0x0123};
static const uint16_t replicate_byte[4] = {0x0000, 0x1111, 0x2222, 0x3333};
static const uint16_t clamp_left[4] = {0x3210, 0x3211, 0x3222, 0x3333};
static const uint16_t clamp_right[4] = {0x0000, 0x1110, 0x2210, 0x3210};
static const uint16_t replicate_half[4] = {0x1010, 0x3232, 0x1010, 0x3232};

DEFINE_TERNARY(exec_prmt, LaneU32, LaneU32, permute_bytes(a, b, c))
DEFINE_TERNARY(exec_prmt_f4e, LaneU32, LaneU32, permute_bytes(a, b, forward_extract[c & 3]))
DEFINE_TERNARY(exec_prmt_b4e, LaneU32, LaneU32, permute_bytes(a, b, backward_extract[c & 3]))
DEFINE_TERNARY(exec_prmt_rc8, LaneU32, LaneU32, permute_bytes(a, b, replicate_byte[c & 3]))
DEFINE_TERNARY(exec_prmt_ecl, LaneU32, LaneU32, permute_bytes(a, b, clamp_left[c & 3]))
DEFINE_TERNARY(exec_prmt_ecr, LaneU32, LaneU32, permute_bytes(a, b, clamp_right[c & 3]))
DEFINE_TERNARY(exec_prmt_rc16, LaneU32, LaneU32, permute_bytes(a, b, replicate_half[c & 3]))

/* fns: the position of the n-th set bit, upwards or (n < 0) downwards from `base`. */
static inline uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t n) {
    int64_t position = base, left = n < 0 ? -(int64_t)n : n, step = n < 0 ? -1 : 1;
    if (n == 0) return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
    for (; position >= 0 && position < 32; position += step)
        if ((mask >> position & 1) && --left == 0) return (uint32_t)position;
    return UINT32_MAX;
}

DEFINE_TERNARY(exec_fns, LaneU32, LaneU32, find_nth_set(a, b, (int32_t)c))
