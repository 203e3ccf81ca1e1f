#include "tests/unit/warp_fixture.h"

/* Integer arithmetic against 128-bit arithmetic. */

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 31,
                                 32,
                                 33,
                                 63,
                                 64,
                                 65,
                                 0x7f,
                                 0x80,
                                 0xff,
                                 0x7fff,
                                 0x8000,
                                 0xffff,
                                 0x10000,
                                 0x12345678,
                                 0x7fffffff,
                                 0x80000000,
                                 0xdeadbeef,
                                 0xfffffffe,
                                 0xffffffff,
                                 0x100000000,
                                 0x123456789abcdef0,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xfffffffffffffff0,
                                 0xffffffffffffffff};
enum { EDGES = sizeof edges / sizeof *edges };

typedef __int128 Wide;

static Wide as_type(uint64_t bits, char sign, int width) {
    if (width < 64) bits &= (1ull << width) - 1;
    if (sign == 's' && bits >> (width - 1)) return (Wide)bits - ((Wide)1 << width);
    return (Wide)bits;
}

typedef Wide Reference(Wide a, Wide b, int width);

static Wide reference_add(Wide a, Wide b, int width) {
    return (void)width, a + b;
}
static Wide reference_sub(Wide a, Wide b, int width) {
    return (void)width, a - b;
}
static Wide reference_mul(Wide a, Wide b, int width) {
    return (void)width, (Wide)((unsigned __int128)a * (unsigned __int128)b);
}
static Wide reference_mul_hi(Wide a, Wide b, int width) {
    if (a >= 0 && b >= 0) return (Wide)((unsigned __int128)a * (unsigned __int128)b >> width);
    return (Wide)(a * b) >> width;
}
static Wide reference_div(Wide a, Wide b, int width) {
    return (void)width, b == 0 ? -1 : a / b;
}
static Wide reference_rem(Wide a, Wide b, int width) {
    return (void)width, b == 0 ? a : a % b;
}
static Wide reference_min(Wide a, Wide b, int width) {
    return (void)width, a < b ? a : b;
}
static Wide reference_max(Wide a, Wide b, int width) {
    return (void)width, a > b ? a : b;
}
static Wide reference_and(Wide a, Wide b, int width) {
    return (void)width, a & b;
}
static Wide reference_or(Wide a, Wide b, int width) {
    return (void)width, a | b;
}
static Wide reference_xor(Wide a, Wide b, int width) {
    return (void)width, a ^ b;
}

typedef struct {
    const char *prefix, *types; /* "mul.lo", "s32 u32" */
    Reference *reference;
} BinaryCase;

static const BinaryCase binary_cases[] = {{"add", "s16 u16 s32 u32 s64 u64", reference_add},
                                          {"sub", "s16 u16 s32 u32 s64 u64", reference_sub},
                                          {"mul.lo", "s16 u16 s32 u32 s64 u64", reference_mul},
                                          {"mul.hi", "s16 u16 s32 u32 s64 u64", reference_mul_hi},
                                          {"div", "s16 u16 s32 u32 s64 u64", reference_div},
                                          {"rem", "s16 u16 s32 u32 s64 u64", reference_rem},
                                          {"min", "s16 u16 s32 u32 s64 u64", reference_min},
                                          {"max", "s16 u16 s32 u32 s64 u64", reference_max},
                                          {"and", "b16 b32 b64", reference_and},
                                          {"or", "b16 b32 b64", reference_or},
                                          {"xor", "b16 b32 b64", reference_xor}};

static void check_binary(const char *prefix, const char *type, Reference *reference) {
    char form[32];
    snprintf(form, sizeof form, "%s.%.3s", prefix, type);
    int width = atoi(type + 1);
    uint64_t mask = width == 64 ? UINT64_MAX : (1ull << width) - 1;
    const char *operands = width == 64 ? "r8 r8 r8" : width == 16 ? "r2 r2 r2" : "r4 r4 r4";
    for (int i = 0; i < EDGES * EDGES; i += WARP_LANES) {
        for (int lane = 0; lane < WARP_LANES; lane++) {
            uint64_t a = edges[(i + lane) / EDGES % EDGES], b = edges[(i + lane) % EDGES];
            width == 64 ? set_u64(1, lane, a) : set_u32(1, lane, (uint32_t)a);
            width == 64 ? set_u64(2, lane, b) : set_u32(2, lane, (uint32_t)b);
        }
        execute(form, operands);
        for (int lane = 0; lane < WARP_LANES; lane++) {
            uint64_t a = edges[(i + lane) / EDGES % EDGES], b = edges[(i + lane) % EDGES];
            uint64_t expected = (uint64_t)reference(as_type(a, *type, width), as_type(b, *type, width),
                                                    width) &
                                mask;
            uint64_t result = width == 64 ? get_u64(0, lane) : get_u32(0, lane);
            ck_assert_msg(result == expected, "%s(0x%llx, 0x%llx) = 0x%llx, expected 0x%llx", form,
                          (unsigned long long)a, (unsigned long long)b, (unsigned long long)result,
                          (unsigned long long)expected);
        }
    }
}

START_TEST(integer_binary_operations_agree_with_wide_arithmetic) {
    for (size_t index = 0; index < sizeof binary_cases / sizeof *binary_cases; index++) {
        for (const char *type = binary_cases[index].types; *type; type += type[3] ? 4 : 3) {
            check_binary(binary_cases[index].prefix, type, binary_cases[index].reference);
        }
    }
}
END_TEST

START_TEST(division_by_zero_and_overflow_give_hardware_values) {
    EXPECT2("div.s32", "r4 r4 r4", 0x80000000u, 0x80000000u, 0xffffffffu);
    EXPECT2("rem.s32", "r4 r4 r4", 0, 0x80000000u, 0xffffffffu);
    EXPECT2("div.s64", "r8 r8 r8", 1ull << 63, 1ull << 63, UINT64_MAX);
    EXPECT2("div.u32", "r4 r4 r4", 0xffffffffu, 5, 0);
    EXPECT2("rem.u32", "r4 r4 r4", 5, 5, 0);
    EXPECT2("div.u32", "r4 r4 r4", 0xffffffffu, 0xffffffffu, 1);
    EXPECT2("div.u32", "r4 r4 r4", 1, 0xffffffffu, 0xfffffffeu);
}
END_TEST

START_TEST(integer_multiply_add_and_its_relatives) {
    EXPECT3("mad.lo.s32", "r4 r4 r4 r4", 0xfffffff9u, 0xfffffffeu, 3, 0xffffffffu);
    EXPECT3("mad.lo.u32", "r4 i4 r4 i4", 0x00000003u, 0x80000001u, 2, 1);
    EXPECT3("mad.hi.s32", "r4 r4 r4 r4", 0x40000001u, 0x80000000u, 0x80000000u, 1);
    EXPECT3("mad.hi.u32", "r4 r4 r4 r4", 0xffffffffu, 0xffffffffu, 0xffffffffu, 1);
    EXPECT3("mad.wide.s32", "r8 r4 r4 r8", (uint64_t)-7, 0xffffffffu, 8, 1);
    EXPECT3("mad.wide.u32", "r8 r4 r4 r8", 0x7fffffff9ull, 0xffffffffu, 8, 1);
    EXPECT3("mad.lo.s64", "r8 r8 r8 r8", 7, 1ull << 63, 2, 7);
    EXPECT3("mad.lo.u16", "r2 r2 r2 r2", 0x0001, 0xffff, 0xffff, 0);
    EXPECT2("mul.wide.s32", "r8 r4 r4", (uint64_t)-2147483648ll * 2, 0x80000000u, 2);
    EXPECT2("mul.wide.u32", "r8 r4 r4", 0x100000000ull, 0x80000000u, 2);
    EXPECT2("mul.wide.s16", "r4 r2 r2", 0xffff0000u, 0x8000, 2);
    EXPECT2("mul.wide.u16", "r4 r2 r2", 0x10000u, 0xabcd8000u, 2);
    EXPECT2("add.sat.s32", "r4 r4 r4", 0x7fffffff, 0x7fffffff, 1);
    EXPECT2("sub.sat.s32", "r4 r4 r4", 0x80000000u, 0x80000000u, 1);
    EXPECT3("sad.s32", "r4 r4 r4 r4", 15, 0xfffffffbu, 5, 5);
    EXPECT3("sad.u32", "r4 r4 r4 r4", 5 + 0xfffffff6u, 0xfffffffbu, 5, 5);
    EXPECT2("mul24.lo.s32", "r4 r4 r4", 0xfffffffeu, 0x00ffffffu, 2);
    EXPECT2("mul24.lo.u32", "r4 r4 r4", 0x01fffffeu, 0xffffffffu, 2);
    EXPECT2("mul24.hi.u32", "r4 r4 r4", 0xfffffe00u, 0xffffffu, 0xffffffu);
    EXPECT3("mad24.lo.s32", "r4 r4 r4 r4", 1, 0x00ffffffu, 2, 3);
    EXPECT3("dp4a.s32.s32", "r4 r4 r4 r4", (uint32_t)(100 - 1 + 6 - 128 * 127 + 4), 0x8003ff02u, 0x7f020102u,
            100);
    EXPECT3("dp4a.u32.s32", "r4 r4 r4 r4", (uint32_t)(255 * -1), 0x000000ffu, 0x000000ffu, 0);
    EXPECT3("dp2a.lo.s32.s32", "r4 r4 r4 r4", 10 + 128 + 3 * -1, 0x0003ffffu, 0x0502ff80u, 10);
    EXPECT3("dp2a.hi.s32.s32", "r4 r4 r4 r4", 10 - 2 + 3 * 5, 0x0003ffffu, 0x0502ff80u, 10);
    EXPECT3("dp2a.lo.u32.u32", "r4 r4 r4 r4", 10 + 65535 * 128 + 3 * 255, 0x0003ffffu, 0x0502ff80u, 10);
    EXPECT3("dp2a.hi.u32.s32", "r4 r4 r4 r4", 10 + 65535 * 2 + 3 * 5, 0x0003ffffu, 0x0502ff80u, 10);
    EXPECT3("dp2a.lo.s32.u32", "r4 r4 r4 r4", (uint32_t)(10 - 128 + 3 * 255), 0x0003ffffu, 0x0502ff80u, 10);
    EXPECT3("vabsdiff4.u32.u32.u32", "r4 r4 r4 r4", 0x01fe0001, 0x01ff8005, 0x02018006, 100);
    EXPECT3("vabsdiff4.u32.s32.s32", "r4 r4 r4 r4", 0x010200ff, 0x01ff8080, 0x0201807f, 100);
    EXPECT3("vabsdiff4.u32.u32.u32.add", "r4 r4 r4 r4", 356, 0x01ff8005, 0x02018006, 100);
    EXPECT3("vabsdiff4.u32.s32.s32.add", "r4 r4 r4 r4", 358, 0x01ff8080, 0x0201807f, 100);
    EXPECT2("add.s16x2", "r4 r4 r4", 0x8000fffeu, 0x7fffffffu, 0x0001ffffu);
    EXPECT2("add.u16x2", "r4 r4 r4", 0x00000000u, 0xffff0001u, 0x0001ffffu);
    EXPECT2("min.s16x2", "r4 r4 r4", 0x8000ffffu, 0x80000001u, 0x7fffffffu);
    EXPECT2("min.u16x2", "r4 r4 r4", 0x7fff0001u, 0x80000001u, 0x7fffffffu);
    EXPECT2("max.s16x2", "r4 r4 r4", 0x7fff0001u, 0x80000001u, 0x7fffffffu);
    EXPECT2("max.u16x2", "r4 r4 r4", 0x8000ffffu, 0x80000001u, 0x7fffffffu);
    EXPECT1("neg.s32", "r4 r4", 0x80000000u, 0x80000000u);
    EXPECT1("abs.s32", "r4 r4", 5, 0xfffffffbu);
    EXPECT1("abs.s16", "r2 r2", 5, 0xfffb);
    EXPECT1("neg.s16", "r2 r2", 0xffff, 1);
    EXPECT1("abs.s64", "r8 r8", 5, (uint64_t)-5);
}
END_TEST

START_TEST(carry_chains_add_and_subtract_128_bits) {
    warp.context.active = 0x55555555u;
    warp.predicates[CARRY_PREDICATE] = 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        set_u32(1, lane, lane % 4 == 0 ? 0xffffffffu : 5);
        set_u32(2, lane, 1);
    }
    execute("add.cc.u32", "r4 r4 r4");
    ck_assert_uint_eq(warp.predicates[CARRY_PREDICATE], 0x11111111u);
    ck_assert_uint_eq(get_u32(0, 0), 0);
    execute("addc.u32", "r4 r4 r4");
    ck_assert_uint_eq(get_u32(0, 0), 1);
    ck_assert_uint_eq(get_u32(0, 2), 6);
    ck_assert_uint_eq(warp.predicates[CARRY_PREDICATE], 0x11111111u);
    warp.context.active = UINT32_MAX;

    set_all("r4 r4 r4", 1, 3);
    set_all("r4 r4 r4", 2, 4);
    execute("sub.cc.s32", "r4 r4 r4");
    ck_assert_uint_eq(get_u32(0, 7), 0xffffffffu);
    ck_assert_uint_eq(warp.predicates[CARRY_PREDICATE], UINT32_MAX);
    execute("subc.cc.u32", "r4 r4 r4");
    ck_assert_uint_eq(get_u32(0, 7), 0xfffffffeu);

    warp.predicates[CARRY_PREDICATE] = UINT32_MAX;
    EXPECT3("madc.lo.cc.u32", "r4 r4 r4 r4", 0, 0xffffffffu, 1, 0);
    ck_assert_uint_eq(warp.predicates[CARRY_PREDICATE], UINT32_MAX);
    EXPECT3("madc.hi.u32", "r4 r4 r4 r4", 0xffffffffu, 0xffffffffu, 0xffffffffu, 0);
    EXPECT3("mad.lo.cc.u64", "r8 r8 r8 r8", 0, UINT64_MAX, 1, 1);
    ck_assert_uint_eq(warp.predicates[CARRY_PREDICATE], UINT32_MAX);
}
END_TEST

START_TEST(shift_amounts_are_clamped_to_the_width) {
    EXPECT2("shl.b32", "r4 r4 r4", 0x80000000u, 1, 31);
    EXPECT2("shl.b32", "r4 r4 r4", 0, 1, 32);
    EXPECT2("shl.b32", "r4 r4 r4", 0, 0xffffffffu, 0xffffffffu);
    EXPECT2("shr.u32", "r4 r4 r4", 1, 0x80000000u, 31);
    EXPECT2("shr.u32", "r4 r4 r4", 0, 0x80000000u, 32);
    EXPECT2("shr.s32", "r4 r4 r4", 0xffffffffu, 0x80000000u, 32);
    EXPECT2("shr.s32", "r4 r4 r4", 0, 0x7fffffffu, 0x80000000u);
    EXPECT2("shl.b64", "r8 r8 r4", 1ull << 63, 1, 63);
    EXPECT2("shl.b64", "r8 r8 r4", 0, 1, 64);
    EXPECT2("shr.u64", "r8 r8 i4", 0, UINT64_MAX, 64);
    EXPECT2("shr.s64", "r8 r8 r4", UINT64_MAX, 1ull << 63, 1000);
    EXPECT2("shl.b16", "r2 r2 r4", 0x8000, 1, 15);
    EXPECT2("shl.b16", "r2 r2 r4", 0, 1, 16);
    EXPECT2("shr.s16", "r2 r2 r4", 0xffff, 0x8000, 15);
    EXPECT2("shr.s16", "r2 r2 r4", 0xffff, 0x18000, 40);
    EXPECT2("shr.u16", "r2 r2 r4", 0x7fff, 0xabcdffffu, 1);
    EXPECT3("shf.l.wrap.b32", "r4 r4 r4 r4", 0xdeadbeefu, 0x12345678u, 0xdeadbeefu, 32);
    EXPECT3("shf.l.clamp.b32", "r4 r4 r4 r4", 0x12345678u, 0x12345678u, 0xdeadbeefu, 40);
    EXPECT3("shf.l.wrap.b32", "r4 r4 r4 r4", 0xeadbeef1u, 0x12345678u, 0xdeadbeefu, 4);
    EXPECT3("shf.r.wrap.b32", "r4 r4 r4 r4", 0xf1234567u, 0x12345678u, 0xdeadbeefu, 36);
    EXPECT3("shf.r.clamp.b32", "r4 r4 r4 r4", 0xdeadbeefu, 0x12345678u, 0xdeadbeefu, 33);
}
END_TEST

START_TEST(bit_field_operations) {
    EXPECT3("bfe.u32", "r4 r4 r4 r4", 0x56, 0x12345678u, 8, 8);
    EXPECT3("bfe.u32", "r4 r4 r4 r4", 0x1, 0x12345678u, 28, 255);
    EXPECT3("bfe.u32", "r4 r4 r4 r4", 0, 0x12345678u, 32, 8);
    EXPECT3("bfe.u32", "r4 r4 r4 r4", 0, 0x12345678u, 3, 0);
    EXPECT3("bfe.s32", "r4 r4 r4 r4", 0xffffff88u, 0x00000880u, 4, 8);
    EXPECT3("bfe.s32", "r4 r4 r4 r4", 0xffffffffu, 0x80000000u, 40, 8);
    EXPECT3("bfe.s32", "r4 r4 r4 r4", 0, 0x80000000u, 40, 0);
    EXPECT3("bfe.u64", "r8 r8 r4 r4", 0x123456789abcdef0ull >> 4, 0x123456789abcdef0ull, 4, 200);
    EXPECT3("bfe.s64", "r8 r8 r4 r4", UINT64_MAX, 1ull << 40, 40, 1);
    EXPECT4("bfi.b32", "r4 r4 r4 r4 r4", 0x1234ff78u, 0xffff, 0x12345678u, 8, 8);
    EXPECT4("bfi.b32", "r4 r4 r4 r4 r4", 0x12345678u, 0xffff, 0x12345678u, 32, 8);
    EXPECT4("bfi.b32", "r4 r4 r4 r4 r4", 0xf2345678u, 0xff, 0x12345678u, 28, 64);
    EXPECT4("bfi.b64", "r8 r8 r8 r4 r4", 0xff00000000000000ull, 0xff, 0, 56, 8);
    EXPECT1("bfind.u32", "r4 r4", 31, 0x80000000u);
    EXPECT1("bfind.u32", "r4 r4", 0xffffffffu, 0);
    EXPECT1("bfind.s32", "r4 r4", 0xffffffffu, 0xffffffffu);
    EXPECT1("bfind.s32", "r4 r4", 3, 0xfffffff0u);
    EXPECT1("bfind.shiftamt.u32", "r4 r4", 24, 0xff);
    EXPECT1("bfind.u64", "r4 r8", 40, 1ull << 40);
    EXPECT1("brev.b32", "r4 r4", 0x1e6a2c48u, 0x12345678u);
    EXPECT1("brev.b64", "r8 r8", 1, 1ull << 63);
    EXPECT1("clz.b32", "r4 r4", 32, 0);
    EXPECT1("clz.b64", "r4 r8", 1, 1ull << 62);
    EXPECT1("popc.b32", "r4 r4", 32, 0xffffffffu);
    EXPECT3("fns.b32", "r4 r4 r4 r4", 2, 0xb4, 0, 1);
    EXPECT3("fns.b32", "r4 r4 r4 r4", 5, 0xb4, 3, 2);
    EXPECT3("fns.b32", "r4 r4 r4 r4", 4, 0xb4, 5, -2);
    EXPECT3("fns.b32", "r4 r4 r4 r4", 4, 0xb4, 4, 0);
    EXPECT3("fns.b32", "r4 r4 r4 r4", UINT32_MAX, 0xb4, 3, 0);
    EXPECT3("fns.b32", "r4 r4 r4 r4", UINT32_MAX, 0xb4, 0, 5);
    EXPECT1("popc.b64", "r4 r8", 33, 0x1ffffffffull);
    EXPECT2("bmsk.clamp.b32", "r4 r4 r4", 0xff0u, 4, 8);
    EXPECT2("bmsk.clamp.b32", "r4 r4 r4", 0, 32, 8);
    EXPECT2("bmsk.wrap.b32", "r4 r4 r4", 0xff, 32, 8);
    EXPECT1("not.b32", "r4 r4", 0xffff0000u, 0xffff);
    EXPECT1("not.b16", "r2 r2", 0xff00, 0xff);
    EXPECT1("cnot.b32", "r4 r4", 1, 0);
    EXPECT1("cnot.b64", "r8 r8", 0, 5);
}
END_TEST

START_TEST(lop3_evaluates_its_table_bitwise) {
    uint32_t a = 0x0f0f1234u, b = 0x3333abcdu, c = 0x55550ff0u;
    EXPECT4("lop3.b32", "r4 r4 r4 r4 i4", a ^ b ^ c, a, b, c, 0x96);
    EXPECT4("lop3.b32", "r4 r4 r4 r4 i4", (a & b) | (~a & c), a, b, c, 0xca);
    EXPECT4("lop3.b32", "r4 r4 r4 r4 i4", a & ~b, a, b, c, 0x30);
}
END_TEST

START_TEST(prmt_selects_and_replicates) {
    EXPECT3("prmt.b32", "r4 r4 r4 r4", 0x78f0de12u, 0x12345678u, 0x9abcdef0u, 0x0453);
    EXPECT3("prmt.b32", "r4 r4 r4 r4", 0xff00ff00u, 0x12345678u, 0x9abcdef0u, 0xc8f8);
    EXPECT3("prmt.b32.f4e", "r4 r4 r4 r4", 0xf0123456u, 0x12345678u, 0x9abcdef0u, 1);
    EXPECT3("prmt.b32.rc16", "r4 r4 r4 r4", 0x12341234u, 0x12345678u, 0x9abcdef0u, 1);
    EXPECT3("prmt.b32.ecl", "r4 r4 r4 r4", 0x12345656u, 0x12345678u, 0x9abcdef0u, 1);
}
END_TEST

/* Moves and special registers. */

START_TEST(moves_pack_and_unpack) {
    EXPECT1("mov.u16", "r2 r2", 0x5678, 0x12345678u);
    EXPECT1("mov.f64", "r8 i8", D(1.5), D(1.5));
    EXPECT2("mov.b64", "r8 r4 r4", 0x9abcdef012345678ull, 0x12345678u, 0x9abcdef0u);
    EXPECT2("mov.b32", "r4 r2 r2", 0xdef05678u, 0x12345678u, 0x9abcdef0u);
    EXPECT4("mov.b64", "r8 r2 r2 r2 r2", 0x4444333322221111ull, 0x11111, 0x22222, 0x33333, 0x44444);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(2, lane, UINT64_C(0x4444333322221111) + (uint64_t)lane);
    execute("mov.b64", "r4 r4 r8");
    ck_assert_uint_eq(get_u32(0, 5), 0x22221116u);
    ck_assert_uint_eq(get_u32(1, 5), 0x44443333u);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(2, lane, 0x22221111);
    execute("mov.b32", "r2 r2 r4"); /* the same number of registers as when it packs */
    ck_assert_uint_eq(get_u32(0, 7), 0x1111);
    ck_assert_uint_eq(get_u32(1, 7), 0x2222);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(2, lane, UINT64_C(0x4444333322221111) + (uint64_t)lane);
    execute("mov.b64", "_ r4 r8");
    ck_assert_uint_eq(warp.inst.dst_count, 1);
    ck_assert_uint_eq(get_u32(1, 31), 0x44443333u);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(4, lane, 0x4444333322221111ull);
    execute("mov.b64", "r2 _ r2 r2 r8");
    ck_assert_uint_eq(get_u32(0, 0), 0x1111);
    ck_assert_uint_eq(get_u32(2, 0), 0x3333);
    ck_assert_uint_eq(get_u32(3, 0), 0x4444);
}
END_TEST

START_TEST(generic_addresses_convert_both_ways) {
    EXPECT1("cvta.shared.u64", "r8 r8", SHARED_WINDOW + 16, 16);
    EXPECT1("cvta.to.shared.u64", "r8 r8", 16, SHARED_WINDOW + 16);
    EXPECT1("cvta.local.u64", "r8 r8", LOCAL_WINDOW + 16, 16);
    EXPECT1("cvta.to.local.u64", "r8 r8", 16, LOCAL_WINDOW + 16);
    EXPECT1("cvta.to.global.u64", "r8 r8", DEVICE_MEMORY_BASE, DEVICE_MEMORY_BASE);
    EXPECT1("isspacep.shared", "p r8", 1, SHARED_WINDOW + WINDOW_BYTES - 1);
    EXPECT1("isspacep.shared", "p r8", 0, SHARED_WINDOW + WINDOW_BYTES);
    EXPECT1("isspacep.local", "p r8", 1, LOCAL_WINDOW);
    EXPECT1("isspacep.global", "p r8", 0, LOCAL_WINDOW);
    EXPECT1("isspacep.global", "p r8", 1, DEVICE_MEMORY_BASE);
}
END_TEST

START_TEST(clocks_are_read_when_executed) {
    Statement statement = {.opcode = "mov",
                           .modifiers = {"u64"},
                           .modifier_count = 1,
                           .operand_count = 2,
                           .shapes = {OPERAND_REGISTER, OPERAND_SPECIAL},
                           .register_bytes = {8, 0},
                           .special = SPECIAL_CLOCK64};
    Inst inst = {.pdst = NO_PREDICATE, .pdst2 = NO_PREDICATE};
    OperandPlan plan = {0};
    char why[100];
    ck_assert(isa_select(&statement, &inst, &plan, why, sizeof why));
    ck_assert_int_eq(plan.roles[1], ROLE_IGNORE);
    inst.dst_count = 1;
    warp.context.clock = 0x123456789ull;
    warp.context.globaltimer = 42;
    inst.exec(&inst, &warp.context);
    ck_assert_uint_eq(get_u64(0, 31), 0x123456789ull);
    statement.special = SPECIAL_GLOBALTIMER;
    ck_assert(isa_select(&statement, &inst, &plan, why, sizeof why));
    inst.exec(&inst, &warp.context);
    ck_assert_uint_eq(get_u64(0, 0), 42);
    statement.modifiers[0] = "u32";
    statement.register_bytes[0] = 4;
    statement.special = SPECIAL_CLOCK;
    ck_assert(isa_select(&statement, &inst, &plan, why, sizeof why));
    inst.exec(&inst, &warp.context);
    ck_assert_uint_eq(get_u32(0, 9), 0x23456789u);
}
END_TEST

START_TEST(special_registers_of_a_warp) {
    SpecialSlot slots[] = {{SPECIAL_TID_X, 0},
                           {SPECIAL_TID_Y, 128},
                           {SPECIAL_TID_Z, 256},
                           {SPECIAL_LANEMASK_GT, 384},
                           {SPECIAL_CTAID_Y, 512}};
    WarpIdentity identity = {.ctaid = {1, 2, 3}, .ntid = {10, 3, 4}, .warp_in_cta = 1};
    exec_fill_specials(slots, 5, &identity, (uint8_t *)warp.registers);
    const uint32_t *lanes = (const uint32_t *)(const void *)warp.registers;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        uint32_t thread = 32 + lane;
        ck_assert_uint_eq(lanes[lane] + 10 * (lanes[32 + lane] + 3 * lanes[64 + lane]), thread);
        ck_assert_uint_lt(lanes[lane], 10);
        ck_assert_uint_lt(lanes[32 + lane], 3);
        ck_assert_uint_eq(lanes[96 + lane], lane == 31 ? 0 : UINT32_MAX << (lane + 1));
        ck_assert_uint_eq(lanes[128 + lane], 2);
    }
}
END_TEST

/* Lanes that see each other. */

static void shuffle(const char *form, uint32_t b, uint32_t c) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(2, lane, 100 + (uint32_t)lane);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(3, lane, b);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(4, lane, c);
    execute(form, "r4 p r4 r4 r4 i4");
}

START_TEST(shuffles_stay_in_their_segment) {
    uint32_t *in_range = &warp.predicates[FIRST_FREE_PREDICATE + 1];
    shuffle("shfl.sync.up.b32", 1, 0);
    ck_assert_uint_eq(*in_range, 0xfffffffeu);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), (uint32_t)(100 + (lane ? lane - 1 : 0)));
    shuffle("shfl.sync.down.b32", 2, 31 | 24 << 8);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        ck_assert_uint_eq(get_u32(0, lane), (uint32_t)(100 + lane + (lane % 8 < 6 ? 2 : 0)));
    }
    ck_assert_uint_eq(*in_range, 0x3f3f3f3fu);
    shuffle("shfl.sync.bfly.b32", 16, 31);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), (uint32_t)(100 + (lane ^ 16)));
    shuffle("shfl.sync.idx.b32", 3, 31 | 24 << 8);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), (uint32_t)(100 + lane / 8 * 8 + 3));
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(1, lane, (uint32_t)lane);
    set_constant(2, 4, 1);
    set_constant(3, 4, 31);
    execute("shfl.down.b32", "r4 r4 i4 i4");
    ck_assert_uint_eq(get_u32(0, 30), 31);
    ck_assert_uint_eq(get_u32(0, 31), 31);
}
END_TEST

START_TEST(votes_count_active_members_only) {
    uint32_t *p = &warp.predicates[FIRST_FREE_PREDICATE];
    warp.context.active = 0x0000ffffu;
    p[1] = 0xffff00ffu;
    set_constant(2, 4, UINT32_MAX);
    set_u32(0, 20, 77);
    execute("vote.sync.ballot.b32", "r4 p i4");
    ck_assert_uint_eq(get_u32(0, 3), 0x00ffu);
    ck_assert_uint_eq(get_u32(0, 20), 77);
    execute("vote.ballot.sync.b32", "r4 !p i4");
    ck_assert_uint_eq(get_u32(0, 3), 0xff00u);
    set_constant(2, 4, 0xf);
    execute("vote.sync.ballot.b32", "r4 p i4");
    ck_assert_uint_eq(get_u32(0, 3), 0xfu);
    execute("vote.all.pred", "p p");
    ck_assert_uint_eq(p[0], 0);
    execute("vote.any.pred", "p p");
    ck_assert_uint_eq(p[0], 0x0000ffffu);
    execute("vote.uni.pred", "p p");
    ck_assert_uint_eq(p[0], 0);
    warp.context.active = 0x000000ffu;
    execute("vote.all.pred", "p p");
    ck_assert_uint_eq(p[0], 0xff);
    execute("activemask.b32", "r4");
    ck_assert_uint_eq(get_u32(0, 0), 0xff);
}
END_TEST

START_TEST(match_and_redux) {
    set_constant(2, 4, UINT32_MAX);
    set_constant(3, 4, UINT32_MAX);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(1, lane, (uint32_t)lane % 2 - 1);
    execute("match.any.sync.b32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 4), 0x55555555u);
    ck_assert_uint_eq(get_u32(0, 5), 0xaaaaaaaau);
    execute("redux.sync.min.s32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 5), UINT32_MAX);
    execute("redux.sync.min.u32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 5), 0);
    execute("redux.sync.add.s32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 5), (uint32_t)-16);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(2, lane, 5ull << 40);
    execute("match.all.sync.b64", "r4 p r8 i4");
    ck_assert_uint_eq(get_u32(0, 0), UINT32_MAX);
    ck_assert_uint_eq(warp.predicates[FIRST_FREE_PREDICATE + 1], UINT32_MAX);
}
END_TEST

/* Laws that hold for every arithmetic row: inactive lanes keep their value, and the destination may be a
 * source. */

static const struct {
    const char *form, *operands;
} law_cases[] = {{"add.s32", "r4 r4 r4"},
                 {"mad.lo.s32", "r4 r4 r4 r4"},
                 {"mul.wide.s32", "r8 r4 r4"},
                 {"mad.wide.u32", "r8 r4 r4 r8"},
                 {"div.s32", "r4 r4 r4"},
                 {"rem.u64", "r8 r8 r8"},
                 {"add.s64", "r8 r8 r8"},
                 {"min.s16", "r2 r2 r2"},
                 {"add.cc.u32", "r4 r4 r4"},
                 {"fma.rn.f32", "r4 r4 r4 r4"},
                 {"fma.rz.ftz.f32", "r4 r4 r4 r4"},
                 {"fma.rn.f64", "r8 r8 r8 r8"},
                 {"sqrt.rn.f32", "r4 r4"},
                 {"sin.approx.f32", "r4 r4"},
                 {"and.b32", "r4 r4 r4"},
                 {"shl.b64", "r8 r8 r4"},
                 {"lop3.b32", "r4 r4 r4 r4 i4"},
                 {"prmt.b32", "r4 r4 r4 r4"},
                 {"bfe.s64", "r8 r8 r4 r4"},
                 {"bfi.b32", "r4 r4 r4 r4 r4"},
                 {"popc.b64", "r4 r8"},
                 {"selp.b32", "r4 r4 r4 p"},
                 {"selp.b64", "r8 r8 r8 p"},
                 {"set.lt.u32.s32", "r4 r4 r4"},
                 {"slct.b64.f32", "r8 r8 r8 r4"},
                 {"mov.b32", "r4 r4"},
                 {"mov.b64", "r8 r8"},
                 {"mov.b64", "r8 r4 r4"},
                 {"cvt.s64.s32", "r8 r4"},
                 {"cvt.u32.u64", "r4 r8"},
                 {"cvt.rn.f32.s64", "r4 r8"},
                 {"cvt.rzi.s64.f32", "r8 r4"},
                 {"cvt.f64.f32", "r8 r4"},
                 {"cvt.rn.f16.f32", "r2 r4"},
                 {"cvt.s32.s8", "r8 r8"},
                 {"shfl.sync.bfly.b32", "r4 r4 r4 r4 i4"},
                 {"min.f32", "r4 r4 r4"},
                 {"cvta.shared.u64", "r8 r8"},
                 {"neg.s32", "r4 r4"},
                 {"dp4a.u32.s32", "r4 r4 r4 r4"}};
enum { LAW_CASES = sizeof law_cases / sizeof *law_cases };

static uint64_t scramble(uint64_t x) {
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
    return x ^ x >> 29;
}

static void fill_registers(uint64_t seed) {
    for (int slot = 0; slot < FIXTURE_SLOTS; slot++) {
        for (int lane = 0; lane < WARP_LANES; lane++) {
            warp.registers[slot].lanes[lane] = scramble(seed * 977 + (uint64_t)(slot * WARP_LANES + lane) +
                                                        1);
            warp.constants[slot].lanes[lane] = scramble(seed + (uint64_t)slot + 5);
        }
        warp.predicates[FIRST_FREE_PREDICATE + slot] = (uint32_t)scramble(seed + 3 * (uint64_t)slot);
    }
}

static int slot_lane_bytes(const char *operands) {
    return operands[1] == '8' ? 8 : 4;
}

START_TEST(inactive_lanes_are_left_alone) {
    const char *form = law_cases[_i].form, *operands = law_cases[_i].operands;
    static const uint32_t masks[] = {0, 1, 0x80000000u, 0x0f0ff00fu, 0x7fffffffu};
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        fill_registers(7);
        Slot before = warp.registers[0];
        warp.context.active = UINT32_MAX;
        execute(form, operands);
        Slot full = warp.registers[0];
        fill_registers(7);
        warp.context.active = masks[m];
        execute(form, operands);
        int bytes = slot_lane_bytes(operands);
        for (int lane = 0; lane < WARP_LANES; lane++) {
            const Slot *expected = masks[m] >> lane & 1 ? &full : &before;
            int differs = memcmp((uint8_t *)&warp.registers[0] + lane * bytes,
                                 (const uint8_t *)expected + lane * bytes, (size_t)bytes);
            ck_assert_msg(differs == 0, "%s mask 0x%x lane %d", form, masks[m], lane);
        }
        if (bytes == 4) ck_assert_mem_eq((uint8_t *)&warp.registers[0] + 128, (uint8_t *)&before + 128, 128);
    }
}
END_TEST

START_TEST(destination_may_overlay_a_source) {
    const char *form = law_cases[_i].form, *operands = law_cases[_i].operands;
    int bytes = slot_lane_bytes(operands);
    fill_registers(11);
    execute(form, operands);
    Slot expected = warp.registers[0];
    for (int k = 0; k < warp.inst.src_count; k++) {
        if (warp.inst.src[k] & OPERAND_CONST || warp.inst.src[k] < sizeof(Slot)) continue;
        /* A 32-bit destination may also overlay the upper slot of a 64-bit source. */
        for (uint32_t upper = 0; upper <= (bytes == 4 ? SLOT_BYTES : 0); upper += SLOT_BYTES) {
            fill_registers(11);
            warp.inst.dst[0] = warp.inst.src[k] + upper;
            warp.inst.exec(&warp.inst, &warp.context);
            const uint8_t *result = (const uint8_t *)warp.registers + warp.inst.dst[0];
            ck_assert_msg(memcmp(result, &expected, (size_t)bytes * WARP_LANES) == 0, "%s over source %d",
                          form, k);
        }
    }
}
END_TEST

/* Control and errors of selection. */

START_TEST(control_instructions_have_their_kind) {
    static const struct {
        const char *form, *operands;
        InstKind kind;
    } cases[] = {{"bra", "label", INST_BRANCH},
                 {"bra.uni", "label", INST_BRANCH},
                 {"ret", "", INST_EXIT},
                 {"exit", "", INST_EXIT},
                 {"bar.sync", "i4", INST_BARRIER},
                 {"bar.arrive", "i4 r4", INST_BARRIER},
                 {"barrier.sync.aligned", "r4 i4", INST_BARRIER},
                 {"bar.warp.sync", "i4", INST_NOP},
                 {"membar.gl", "", INST_FENCE},
                 {"fence.sc.gpu", "", INST_FENCE},
                 {"nanosleep.u32", "i4", INST_NOP},
                 {"prefetch.global.L1", "a8", INST_NOP},
                 {"add.s32", "r4 r4 r4", INST_ALU},
                 {"ld.global.f32", "r4 a8", INST_LOAD},
                 {"st.shared.u8", "a4 r2", INST_STORE},
                 {"red.global.add.u32", "a8 r4", INST_ATOMIC}};
    for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
        char why[200] = "";
        ck_assert_msg(choose(cases[index].form, cases[index].operands, why, sizeof why), "%s: %s",
                      cases[index].form, why);
        ck_assert_int_eq(warp.inst.kind, cases[index].kind);
    }
    char why[200];
    ck_assert(choose("bar.arrive", "i4 r4", why, sizeof why));
    ck_assert_uint_eq(warp.inst.detail, BARRIER_ARRIVE);
    ck_assert_int_eq(warp.plan.roles[0], ROLE_SRC);
}
END_TEST

START_TEST(trap_faults_in_the_first_active_lane) {
    warp.context.active = 0x30;
    execute("trap", "");
    ck_assert_uint_eq(warp.context.fault, FAULT_TRAP);
    ck_assert_uint_eq(warp.context.fault_lane, 4);
}
END_TEST

START_TEST(unsupported_forms_are_refused_by_name) {
    static const struct {
        const char *form, *operands, *why;
    } cases[] = {
        {"frobnicate.s32", "r4 r4", "opcode 'frobnicate' is not supported"},
        {"add.wobbly.s32", "r4 r4 r4", "'add.wobbly.s32': modifier '.wobbly' is not supported"},
        {"add.ftz.s32", "r4 r4 r4", "'add.ftz.s32': this combination of modifiers is not supported"},
        {"add.s32", "r4 r4", "'add.s32': number, width or kind of the operands does not fit"},
        {"add.s64", "r8 r8 r4", "'add.s64': number, width or kind of the operands does not fit"},
        {"setp.lt.and.s32", "p r4 r4",
         "'setp.lt.and.s32': number, width or kind of the operands does not fit"},
        {"ld.global.v8.f32", "r4 a8", "'ld.global.v8.f32': modifier '.v8' is not supported"},
        {"ld.global", "r4 a8", "'ld.global': the type is missing"},
        {"st.const.u32", "a8 r4", "'st.const.u32': not possible in this address space"},
        {"ld.global.f64", "r4 a8", "'ld.global.f64': the registers do not have the width of the type"},
        {"atom.global.and.f32", "r4 a8 r4", "'atom.global.and.f32': no such atomic operation on this type"},
        {"st.global.u32", "a8 _", "'st.global.u32': the sink '_' has no value"}};
    for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
        char why[200] = "";
        ck_assert(!choose(cases[index].form, cases[index].operands, why, sizeof why));
        ck_assert_str_eq(why, cases[index].why);
    }
    char small[16];
    ck_assert(!choose("frobnicate.s32", "r4", small, sizeof small));
    ck_assert_uint_lt(strlen(small), sizeof small);
}
END_TEST

static void check_timing(const char *form, const char *operands, TimingClass timing) {
    char why[200] = "";
    ck_assert_msg(choose(form, operands, why, sizeof why), "%s", why);
    ck_assert_msg(warp.inst.timing == timing, "%s", form);
}

START_TEST(timing_classes) {
    check_timing("sub.s64", "r8 r8 r8", TIMING_INT_ADD);
    check_timing("max.u32", "r4 r4 r4", TIMING_INT_MAX);
    check_timing("mul.wide.u32", "r8 r4 r4", TIMING_INT_MUL);
    check_timing("mad.lo.s32", "r4 r4 r4 r4", TIMING_INT_MAD);
    check_timing("rem.s32", "r4 r4 r4", TIMING_INT_DIV);
    check_timing("sub.f32", "r4 r4 r4", TIMING_FP_ADD);
    check_timing("fma.rn.ftz.f32", "r4 r4 r4 r4", TIMING_FP_MAD);
    check_timing("div.full.f32", "r4 r4 r4", TIMING_FP_DIV);
    check_timing("fma.rn.f64", "r8 r8 r8 r8", TIMING_DP_MAD);
    check_timing("sqrt.rn.f64", "r8 r8", TIMING_DP_DIV);
    check_timing("sqrt.approx.f32", "r4 r4", TIMING_SFU);
    check_timing("shfl.idx.b32", "r4 r4 r4 r4", TIMING_SHUFFLE);
    check_timing("ld.param.u32", "r4 ai", TIMING_MEM);
    check_timing("setp.eq.s32", "p r4 i4", TIMING_OTHER);
}
END_TEST

static void count_row(void *context, const char *row) {
    ck_assert_uint_gt(strlen(row), 2);
    ++*(int *)context;
}

START_TEST(all_rows_can_be_listed) {
    int count = 0;
    isa_print_rows(count_row, &count);
    ck_assert_int_gt(count, 500);
}
END_TEST

Suite *exec_suite(void);
Suite *exec_suite(void) {
    Suite *suite = suite_create("exec");
    TCase *cases = tcase_create("exec");
    tcase_add_checked_fixture(cases, warp_setup, warp_teardown);
    tcase_add_test(cases, integer_binary_operations_agree_with_wide_arithmetic);
    tcase_add_test(cases, division_by_zero_and_overflow_give_hardware_values);
    tcase_add_test(cases, integer_multiply_add_and_its_relatives);
    tcase_add_test(cases, carry_chains_add_and_subtract_128_bits);
    tcase_add_test(cases, shift_amounts_are_clamped_to_the_width);
    tcase_add_test(cases, bit_field_operations);
    tcase_add_test(cases, lop3_evaluates_its_table_bitwise);
    tcase_add_test(cases, prmt_selects_and_replicates);
    tcase_add_test(cases, moves_pack_and_unpack);
    tcase_add_test(cases, generic_addresses_convert_both_ways);
    tcase_add_test(cases, clocks_are_read_when_executed);
    tcase_add_test(cases, special_registers_of_a_warp);
    tcase_add_test(cases, shuffles_stay_in_their_segment);
    tcase_add_test(cases, votes_count_active_members_only);
    tcase_add_test(cases, match_and_redux);
    tcase_add_loop_test(cases, inactive_lanes_are_left_alone, 0, LAW_CASES);
    tcase_add_loop_test(cases, destination_may_overlay_a_source, 0, LAW_CASES);
    tcase_add_test(cases, control_instructions_have_their_kind);
    tcase_add_test(cases, trap_faults_in_the_first_active_lane);
    tcase_add_test(cases, unsupported_forms_are_refused_by_name);
    tcase_add_test(cases, timing_classes);
    tcase_add_test(cases, all_rows_can_be_listed);
    suite_add_tcase(suite, cases);
    return suite;
}
