/* Integer arithmetic against 128-bit arithmetic, and bits. */
#include "tests/unit/ptx/warp_fixture.h"

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
    ck_assert_uint_eq(warp.predicates[CARRY_PREDICATE], 0); /* it borrows */
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

/* As nvcc's division of 128 bits has it: what a subtraction leaves, an addition reads, and the other way round. */
START_TEST(the_carry_of_a_subtraction_says_that_it_borrows_nothing) {
    for (uint32_t b = 2; b <= 4; b++) {
        set_all("r4 r4 r4", 1, 3);
        set_all("r4 r4 r4", 2, b);
        execute("sub.cc.u32", "r4 r4 r4");
        EXPECT2("addc.u32", "r4 r4 r4", b <= 3, 0, 0);
        set_all("r8 r8 r8", 1, 3);
        set_all("r8 r8 r8", 2, b);
        execute("sub.cc.u64", "r8 r8 r8");
        EXPECT2("addc.u64", "r8 r8 r8", b <= 3, 0, 0);
    }
    EXPECT2("add.cc.u32", "r4 r4 r4", 0, 0, 0);
    EXPECT2("subc.u32", "r4 r4 r4", 0xffffffffu, 0, 0);
    EXPECT2("add.cc.u32", "r4 r4 r4", 0, 0xffffffffu, 1);
    EXPECT2("subc.u32", "r4 r4 r4", 0, 0, 0);
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

Suite *exec_integer_suite(void);
Suite *exec_integer_suite(void) {
    Suite *suite = suite_create("exec_integer");
    TCase *cases = tcase_create("exec_integer");
    tcase_add_checked_fixture(cases, warp_setup, warp_teardown);
    tcase_add_test(cases, integer_binary_operations_agree_with_wide_arithmetic);
    tcase_add_test(cases, division_by_zero_and_overflow_give_hardware_values);
    tcase_add_test(cases, integer_multiply_add_and_its_relatives);
    tcase_add_test(cases, carry_chains_add_and_subtract_128_bits);
    tcase_add_test(cases, the_carry_of_a_subtraction_says_that_it_borrows_nothing);
    tcase_add_test(cases, shift_amounts_are_clamped_to_the_width);
    tcase_add_test(cases, bit_field_operations);
    tcase_add_test(cases, lop3_evaluates_its_table_bitwise);
    tcase_add_test(cases, prmt_selects_and_replicates);
    suite_add_tcase(suite, cases);
    return suite;
}
