/* Forms of plain instructions by hand: each with its sources and what it must come to. */
#include "tests/unit/ptx/warp_fixture.h"
#include "tests/unit/suites.h"

typedef struct {
    const char *form, *operands;
    uint64_t source[6], result; /* of operands 1, 2, ...; of operand 0 */
} Case;

static uint64_t result_of(const Case *c, int lane) {
    return c->operands[1] == '8' ? get_u64(0, lane) : get_u32(0, lane);
}

static void check_cases(const Case *cases, size_t count) {
    for (const Case *c = cases; c < cases + count; c++) {
        int k = 0;
        for (const char *word = c->operands; *word; word += strcspn(word, " "), word += *word == ' ', k++)
            if (k > 0) set_all(c->operands, k, c->source[k - 1]);
        for (int lane = 0; lane < WARP_LANES; lane++)
            warp.registers[0].lanes[lane] = 0x7777777777777777ull;
        warp.context.active = 0x0ffffff7;
        execute(c->form, c->operands);
        ck_assert_msg(result_of(c, 0) == c->result && result_of(c, 27) == c->result,
                      "%s of 0x%lx, 0x%lx, 0x%lx: 0x%lx, expected 0x%lx", c->form, c->source[0], c->source[1],
                      c->source[2], result_of(c, 0), c->result);
        ck_assert_uint_eq(get_u32(0, c->operands[1] == '8' ? 6 : 3), 0x77777777); /* lane 3 was off */
    }
}
#define CHECK(cases) check_cases(cases, sizeof cases / sizeof *cases)

START_TEST(halves_have_powers_tangents_and_signs) {
    static const Case cases[] = {
        {"ex2.approx.f16", "r2 r2", {0x4200}, 0x4800}, /* 2^3 */
        {"ex2.approx.f16", "r2 r2", {0xcc00}, 0x0100}, /* 2^-16, subnormal */
        {"ex2.approx.f16x2", "r4 r4", {0x4200bc00}, 0x48003800},
        {"ex2.approx.ftz.bf16", "r2 r2", {0x4040}, 0x4100},
        {"ex2.approx.ftz.bf16x2", "r4 r4", {0x40400000}, 0x41003f80},
        {"tanh.approx.f16", "r2 r2", {0x3800}, 0x3765}, /* tanh 0.5 = 0.46212 */
        {"tanh.approx.f16x2", "r4 r4", {0x7c000000}, 0x3c000000},
        {"tanh.approx.bf16", "r2 r2", {0xff80}, 0xbf80},
        {"tanh.approx.bf16x2", "r4 r4", {0x7fc1ff80}, 0x7fffbf80},
        {"neg.ftz.f16", "r2 r2", {0x0001}, 0x8000},
        {"neg.ftz.f16", "r2 r2", {0x3c00}, 0xbc00},
        {"abs.ftz.f16x2", "r4 r4", {0xbc008001}, 0x3c000000},
        {"min.xorsign.abs.f16", "r2 r2 r2", {0xc000, 0x4200}, 0xc000}, /* -2, 3 */
        {"max.xorsign.abs.f16", "r2 r2 r2", {0xc000, 0x4200}, 0xc200},
        {"max.xorsign.abs.f16x2", "r4 r4 r4", {0xc000c000, 0x4200c200}, 0xc2004200},
        {"min.NaN.xorsign.abs.bf16", "r2 r2 r2", {0xffc0, 0x3f80}, 0x7fff},
        {"min.xorsign.abs.bf16", "r2 r2 r2", {0xffc0, 0x3f80}, 0xbf80},
        {"min.xorsign.abs.bf16x2", "r4 r4 r4", {0x3f80bf80, 0x4000c000}, 0x3f803f80},
    };
    CHECK(cases);
}
END_TEST

#define ONE   0x3f800000
#define TWO   0x40000000
#define THREE 0x40400000
#define MINUS 0x80000000

START_TEST(floats_have_extremes_of_three_and_of_magnitudes) {
    static const Case cases[] = {
        {"min.f32", "r4 r4 r4 r4", {TWO, ONE, THREE}, ONE},
        {"max.f32", "r4 r4 r4 r4", {TWO, ONE, THREE}, THREE},
        {"max.f32", "r4 r4 r4 r4", {TWO, ONE, MINUS | THREE}, TWO},
        {"max.abs.f32", "r4 r4 r4 r4", {TWO, ONE, MINUS | THREE}, THREE},
        {"min.f32", "r4 r4 r4 r4", {NAN_F32, ONE, NAN_F32}, ONE},
        {"min.NaN.f32", "r4 r4 r4 r4", {TWO, ONE, NAN_F32}, NAN_F32},
        {"min.NaN.f32", "r4 r4 r4 r4", {NAN_F32, ONE, ONE}, NAN_F32},
        {"max.ftz.NaN.abs.f32", "r4 r4 r4 r4", {0x80000001, 0x80000002, 3}, 0},
        {"max.abs.f32", "r4 r4 r4 r4", {0x80000001, 0x80000002, 1}, 2},
        {"min.xorsign.abs.f32", "r4 r4 r4", {MINUS | TWO, ONE}, MINUS | ONE},
        {"max.xorsign.abs.f32", "r4 r4 r4", {MINUS | TWO, MINUS | ONE}, TWO},
        {"max.xorsign.abs.f32", "r4 r4 r4", {0xffc00000, ONE}, MINUS | ONE},
        {"max.NaN.xorsign.abs.f32", "r4 r4 r4", {0xffc00000, ONE}, NAN_F32},
        {"min.ftz.xorsign.abs.f32", "r4 r4 r4", {0x80000001, ONE}, MINUS},
    };
    CHECK(cases);
}
END_TEST

START_TEST(integers_have_extremes_that_are_not_negative) {
    static const Case cases[] = {
        {"min.relu.s32", "r4 r4 r4", {5, 7}, 5},
        {"min.relu.s32", "r4 r4 r4", {5, 0xffffffff}, 0},
        {"max.relu.s32", "r4 r4 r4", {0x80000000, 0xffffffff}, 0},
        {"max.relu.s32", "r4 r4 r4", {3, 0xffffffff}, 3},
        {"min.relu.s16x2", "r4 r4 r4", {0x0005ffff, 0x00077fff}, 0x00050000},
        {"max.relu.s16x2", "r4 r4 r4", {0x8000ffff, 0xffff7fff}, 0x00007fff},
    };
    CHECK(cases);
}
END_TEST

START_TEST(halves_and_floats_mix_without_a_rounding_between) {
    static const Case cases[] = {
        {"add.f32.f16", "r4 r2 r4", {0x3c01, 0x33800000}, 0x3f802000}, /* 1 + 2^-10 + 2^-24 to even */
        {"add.rp.f32.f16", "r4 r2 r4", {0x3c01, 0x33800000}, 0x3f802001},
        {"add.rz.sat.f32.bf16", "r4 r2 r4", {0x3f80, ONE}, ONE},
        {"sub.f32.bf16", "r4 r2 r4", {0x4040, ONE}, TWO},
        {"sub.sat.f32.f16", "r4 r2 r4", {0x7e00, ONE}, 0},
        {"fma.rn.f32.f16", "r4 r2 r2 r4", {0x7bff, 0x7bff, 0}, 0x4f7fc004}, /* 65504^2, no f16 */
        {"fma.rn.f32.f16", "r4 r2 r2 r4", {0x4000, 0x4200, MINUS | ONE}, 0x40a00000},
        {"fma.rm.sat.f32.bf16", "r4 r2 r2 r4", {0x3f00, 0x3f00, 0}, 0x3e800000},
        {"fma.rz.f32.bf16", "r4 r2 r2 r4", {0x3f80, 0x3f80, 0xb3000000}, 0x3f7fffff}, /* 1 - 2^-25 */
    };
    CHECK(cases);
}
END_TEST

START_TEST(two_floats_in_a_register_are_computed_alike) {
    static const Case cases[] = {
        {"add.rn.f32x2", "r8 r8 r8", {0x3f80000040000000, 0x3f8000003f800000}, 0x4000000040400000},
        {"sub.f32x2", "r8 r8 r8", {0x4040000000000001, 0x3f80000000000000}, 0x4000000000000001},
        {"sub.ftz.f32x2", "r8 r8 r8", {0x4040000000000001, 0x3f80000000000000}, 0x4000000000000000},
        {"mul.rz.f32x2", "r8 r8 r8", {0x3f800001c0000000, 0x3f80000140400000}, 0x3f800002c0c00000},
        {"mul.rp.f32x2", "r8 r8 r8", {0x3f800001c0000000, 0x3f80000140400000}, 0x3f800003c0c00000},
        {"fma.rn.f32x2",
         "r8 r8 r8 r8",
         {0x3f80000040000000, 0x4000000040400000, 0x3f800000bf800000},
         0x4040000040a00000},
    };
    CHECK(cases);
}
END_TEST

START_TEST(integers_are_packed_saturated) {
    static const Case cases[] = {
        {"cvt.pack.sat.s16.s32", "r4 r4 r4", {0x8000, 0xffff7fff}, 0x7fff8000},
        {"cvt.pack.sat.u16.s32", "r4 r4 r4", {0x12345, 0xffffffff}, 0xffff0000},
        {"cvt.pack.sat.s8.s32.b32", "r4 r4 r4 r4", {200, -200ull & 0xffffffff, 0xabcd1234}, 0x12347f80},
        {"cvt.pack.sat.u8.s32.b32", "r4 r4 r4 r4", {3, 300, 7}, 0x000703ff},
        {"cvt.pack.sat.s4.s32.b32", "r4 r4 r4 r4", {9, 0xffffffff, 0x12}, 0x0000127f},
        {"cvt.pack.sat.u4.s32.b32", "r4 r4 r4 r4", {5, 99, 0xff000001}, 0x0000015f},
        {"cvt.pack.sat.u2.s32.b32", "r4 r4 r4 r4", {1, 7, 0x5}, 0x57},
        {"cvt.pack.sat.s2.s32.b32", "r4 r4 r4 r4", {0xfffffff0, 1, 0}, 0x9},
    };
    CHECK(cases);
}
END_TEST

START_TEST(bits_are_extended_packed_and_multiplied) {
    static const Case cases[] = {
        {"szext.clamp.s32", "r4 r4 r4", {0x17f, 8}, 0x7f},
        {"szext.clamp.s32", "r4 r4 r4", {0x180, 8}, 0xffffff80},
        {"szext.clamp.u32", "r4 r4 r4", {0xffffffff, 9}, 0x1ff},
        {"szext.clamp.s32", "r4 r4 r4", {0x80000001, 32}, 0x80000001},
        {"szext.clamp.u32", "r4 r4 r4", {0x80000001, 0xffffffff}, 0x80000001},
        {"szext.clamp.s32", "r4 r4 r4", {0xffffffff, 0}, 0},
        {"szext.wrap.s32", "r4 r4 r4", {0xffffffff, 32}, 0},
        {"szext.wrap.s32", "r4 r4 r4", {0x18, 36}, 0x8 | 0xfffffff0},
        {"szext.wrap.u32", "r4 r4 r4", {0xff, 36}, 0xf},
        {"mad24.hi.sat.s32", "r4 r4 r4 r4", {0x7fffff, 0x7fffff, 0x7fffffff}, 0x7fffffff},
        {"mad24.hi.sat.s32", "r4 r4 r4 r4", {0x800000, 0x7fffff, 0x80000000}, 0x80000000},
        {"mad24.hi.sat.s32", "r4 r4 r4 r4", {0x10000, 0x30000, 5}, 0x30005},
        {"mov.b16", "r2 r1 r1", {0x7712, 0x34}, 0x3412},
        {"mov.b32", "r4 r1 r1 r1 r1", {0x12, 0x34, 0x7756, 0x78}, 0x78563412},
    };
    CHECK(cases);
    set_all("r1 _ r1 r1 r4", 4, 0x78563412);
    execute("mov.b32", "r1 r1 r1 r1 r4");
    ck_assert_uint_eq(get_u32(1, 9), 0x34);
    set_u32(1, 9, 0);
    execute("mov.b32", "r1 _ r1 r1 r4");
    ck_assert_uint_eq(get_u32(1, 9), 0);
    ck_assert_uint_eq(get_u32(0, 9), 0x12);
    ck_assert_uint_eq(get_u32(2, 9), 0x56);
    ck_assert_uint_eq(get_u32(3, 9), 0x78);
    set_all("r1 r1 r2", 2, 0x3412);
    execute("mov.b16", "r1 r1 r2");
    ck_assert_uint_eq(get_u32(1, 9), 0x34);
}
END_TEST

START_TEST(registers_of_128_bits_are_moved_by_halves) {
    set_all("r8 r8 r8 r8", 2, 0x1111111111111111);
    set_all("r8 r8 r8 r8", 3, 0x2222222222222222);
    execute("mov.b128", "r8 r8 r8 r8");
    ck_assert_uint_eq(get_u64(0, 30), 0x1111111111111111);
    ck_assert_uint_eq(get_u64(1, 30), 0x2222222222222222);
    set_u64(0, 30, 7);
    execute("mov.b128", "_ r8 r8 r8");
    ck_assert_uint_eq(get_u64(0, 30), 7);
    set_all("r8 r8 r8 r8", 1, 0);
    execute("mov.b128", "_ r8 r8 r8");
    ck_assert_uint_eq(get_u64(1, 30), 0x2222222222222222);
    warp.context.active = 1;
    execute("mov.b128", "r8 _ r8 r8");
    ck_assert_uint_eq(get_u64(0, 0), 0x1111111111111111);
    ck_assert_uint_eq(get_u64(0, 30), 7);
}
END_TEST

/* Operand 1 is the predicate that it writes, operand 6 the one it reads. */
START_TEST(logic_of_three_has_a_predicate) {
    static const char form[] = "r4 p r4 r4 r4 i4 p";
    static const uint32_t is_set = 0x0000ffff, other = 0x00ff00ff;
    warp.context.active = 0x7fffffff;
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(2, lane, is_set >> lane & 1 ? 6 : 1);
    set_all(form, 3, 0xff0f);
    set_all(form, 4, 0);
    set_all(form, 5, 0x40); /* a & b & ~c */
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(3, lane, 0xfffffffe);
    warp.predicates[FIRST_FREE_PREDICATE + 6] = other;
    warp.predicates[FIRST_FREE_PREDICATE + 1] = 0;
    execute("lop3.or.b32", form);
    ck_assert_uint_eq(get_u32(0, 0), 6);
    ck_assert_uint_eq(get_u32(0, 16), 0);
    ck_assert_uint_eq(warp.predicates[FIRST_FREE_PREDICATE + 1], is_set | other);
    execute("lop3.and.b32", "_ p r4 r4 r4 i4 !p");
    ck_assert_uint_eq(warp.predicates[FIRST_FREE_PREDICATE + 1], is_set & ~other);
}
END_TEST

START_TEST(compares_set_halves_and_policies_are_none) {
    static const Case cases[] = {
        {"set.lt.f16.s32", "r2 r4 r4", {UINT32_MAX, 0}, 0x3c00},
        {"set.lt.f16.u32", "r2 r4 r4", {UINT32_MAX, 0}, 0},
        {"set.ge.bf16.f64", "r2 r8 r8", {0x4000000000000000, 0x4000000000000000}, 0x3f80},
        {"set.lt.bf16.f16", "r2 r2 r2", {0x3c00, 0x4000}, 0x3f80},
        {"set.lt.bf16.f16", "r2 r2 r2", {0x4000, 0x3c00}, 0},
        {"set.neu.bf16.f32", "r2 r4 r4", {NAN_F32, NAN_F32}, 0x3f80},
        {"createpolicy.fractional.L2::evict_last.b64", "r8", {0}, 0},
        {"createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64", "r8 i4", {0x3f000000}, 0},
        {"createpolicy.range.global.L2::evict_last.b64", "r8 a8 r4 i4", {0, 16, 32}, 0},
        {"createpolicy.range.L2::evict_first.L2::evict_first.b64", "r8 a8 r4 i4", {0, 16, 32}, 0},
        {"createpolicy.cvt.L2.b64", "r8 r8", {7}, 0},
    };
    CHECK(cases);
}
END_TEST

/* Behind the operands: which parts, as core/ptx/instructions/video.h says. */
#define A(part)       ((part) << 4)
#define B(part)       ((part) << 16)
#define ALL_OF_TWO    (3 | A(1 << 3) | B(2 | 3 << 3))
#define ALL_OF_FOUR   (0xf | A(1 << 3 | 2 << 6 | 3 << 9) | B(4 | 5 << 3 | 6 << 6 | 7 << 9))
#define MINUS_PRODUCT (1 << 28)
#define MINUS_SUM     (1 << 29)
enum { B1 = 2, H1 = 6 };

START_TEST(words_halves_and_bytes_are_computed_as_video_instructions_say) {
    static const Case cases[] = {
        {"vadd.s32.u32.s32", "r4 r4 r4 i4", {0x0000ff00, 0x80000000, A(B1) | B(H1)}, 0xffff80ff},
        {"vadd.u32.u32.u32.sat", "r4 r4 r4 i4", {UINT32_MAX, 2, 0}, UINT32_MAX},
        {"vsub.s32.u32.u32.sat", "r4 r4 r4 i4", {0, UINT32_MAX, 0}, 0x80000000},
        {"vabsdiff.u32.s32.s32.add", "r4 r4 r4 r4 i4", {UINT32_MAX, 1, 10, 0}, 12},
        {"vmax.s32.s32.s32.min", "r4 r4 r4 r4 i4", {7, 9, UINT32_MAX, 0}, UINT32_MAX},
        {"vshl.u32.u32.u32.clamp", "r4 r4 r4 i4", {1, 33, 0}, 0},
        {"vshl.u32.u32.u32.wrap", "r4 r4 r4 i4", {1, 33, 0}, 2},
        {"vshl.u32.u32.u32.sat.clamp", "r4 r4 r4 i4", {3, 31, 0}, UINT32_MAX},
        {"vshr.s32.s32.u32.clamp", "r4 r4 r4 i4", {0x80000000, 40, 0}, UINT32_MAX},
        {"vset.u32.s32.gt", "r4 r4 r4 i4", {0, UINT32_MAX, 0}, 1},
        {"vmad.u32.u32.u32.shr15", "r4 r4 r4 r4 i4", {0x8000, 0x8000, 0x8000, 0}, 0x8001},
        {"vmad.u32.u32.u32.po.shr7", "r4 r4 r4 r4 i4", {1, 126, 1, 0}, 1},
        {"vmad.s32.s32.u32.sat", "r4 r4 r4 r4 i4", {2, 3, 10, MINUS_SUM}, -4ull & UINT32_MAX},
        {"vmad.s32.u32.u32.sat", "r4 r4 r4 r4 i4", {UINT32_MAX, 2, 0, MINUS_PRODUCT}, 0x80000000},
        {"vadd2.s32.s32.s32.sat", "r4 r4 r4 r4 i4", {0x7fff0001, 0x00010002, 0, ALL_OF_TWO}, 0x7fff0003},
        {"vsub2.u32.u32.u32", "r4 r4 r4 r4 i4", {1, 2, 0xaaaabbbb, ALL_OF_TWO & ~2}, 0xaaaaffff},
        {"vavrg2.u32.u32.u32", "r4 r4 r4 r4 i4", {0x0001ffff, 0x0002ffff, 0, ALL_OF_TWO}, 0x0002ffff},
        {"vavrg4.s32.s32.s32", "r4 r4 r4 r4 i4", {0xff000000, 0xfe000000, 0, ALL_OF_FOUR}, 0xfe000000},
        {"vset4.u32.u32.ne.add", "r4 r4 r4 r4 i4", {0x01020304, 0x01000300, 100, ALL_OF_FOUR}, 102},
        {"vabsdiff4.u32.u32.u32", "r4 r4 r4 r4 i4", {0x01ff8005, 0x02018006, 9, ALL_OF_FOUR}, 0x01fe0001},
        {"vabsdiff4.u32.s32.s32", "r4 r4 r4 r4 i4", {0x01ff8080, 0x0201807f, 9, ALL_OF_FOUR}, 0x010200ff},
        {"vabsdiff4.u32.s32.s32.add", "r4 r4 r4 r4 i4", {0x01ff8080, 0x0201807f, 100, ALL_OF_FOUR}, 358},
    };
    CHECK(cases);
}
END_TEST

ExecFn exec_mov_clock_32;

START_TEST(clocks_have_upper_halves) {
    static const struct {
        SpecialRegister special;
        uint32_t value;
    } cases[] = {{SPECIAL_CLOCK, 0x33334444},
                 {SPECIAL_CLOCK_HI, 0x11112222},
                 {SPECIAL_GLOBALTIMER, 0x1999a222},
                 {SPECIAL_GLOBALTIMER_HI, 0x08889111}};
    warp.context.clock = 0x1111222233334444;
    warp.context.cycle_ticks = 3; /* half a nanosecond */
    warp.context.ticks_per_second = 6000000000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        warp.inst = (Inst){.detail = cases[i].special, .dst_count = 1};
        exec_mov_clock_32(&warp.inst, &warp.context);
        ck_assert_uint_eq(get_u32(0, 7), cases[i].value);
    }
}
END_TEST

Suite *plain_forms_suite(void) {
    Suite *suite = suite_create("plain_forms");
    TCase *values = tcase_create("values");
    tcase_add_checked_fixture(values, warp_setup, warp_teardown);
    tcase_add_test(values, halves_have_powers_tangents_and_signs);
    tcase_add_test(values, floats_have_extremes_of_three_and_of_magnitudes);
    tcase_add_test(values, integers_have_extremes_that_are_not_negative);
    tcase_add_test(values, halves_and_floats_mix_without_a_rounding_between);
    tcase_add_test(values, two_floats_in_a_register_are_computed_alike);
    tcase_add_test(values, integers_are_packed_saturated);
    tcase_add_test(values, bits_are_extended_packed_and_multiplied);
    tcase_add_test(values, logic_of_three_has_a_predicate);
    tcase_add_test(values, compares_set_halves_and_policies_are_none);
    tcase_add_test(values, registers_of_128_bits_are_moved_by_halves);
    tcase_add_test(values, words_halves_and_bytes_are_computed_as_video_instructions_say);
    tcase_add_test(values, clocks_have_upper_halves);
    suite_add_tcase(suite, values);
    return suite;
}
