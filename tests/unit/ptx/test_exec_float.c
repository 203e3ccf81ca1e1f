/* Floating-point arithmetic, compares and conversions. */
#include "core/sim/base/random.h"
#include "tests/unit/ptx/warp_fixture.h"

#include <math.h>

/* Floating point. */

START_TEST(float_arithmetic_rounds_once) {
    EXPECT2("add.f32", "r4 r4 r4", F(3.75f), F(1.5f), F(2.25f));
    EXPECT2("sub.f32", "r4 r4 r4", F(-0.75f), F(1.5f), F(2.25f));
    EXPECT2("mul.f32", "r4 r4 r4", F(3.375f), F(1.5f), F(2.25f));
    float third = 1.0f / 3.0f, square = third * third;
    EXPECT2("mul.rn.f32", "r4 r4 r4", F(square), F(third), F(third));
    EXPECT3("fma.rn.f32", "r4 r4 r4 r4", F((float)((double)third * (double)third - (double)square)), F(third),
            F(third), F(-square));
    EXPECT3("mad.f32", "r4 r4 r4 r4", F((float)((double)third * (double)third - (double)square)), F(third),
            F(third), F(-square));
    EXPECT3("fma.rn.f64", "r8 r8 r8 r8", D(0x1p-104), D(1.0 + 0x1p-52), D(1.0 + 0x1p-52), D(-1.0 - 0x1p-51));
    EXPECT2("div.rn.f32", "r4 r4 r4", F(third), F(1), F(3));
    EXPECT2("div.full.f32", "r4 r4 r4", F(third), F(1), F(3));
    EXPECT2("div.rn.f64", "r8 r8 r8", D(1.0 / 3.0), D(1), D(3));
    EXPECT2("div.rn.f32", "r4 r4 r4", INF_F32, F(1), F(0));
    EXPECT1("sqrt.rn.f32", "r4 r4", F(1.41421354f), F(2));
    EXPECT1("sqrt.rn.f32", "r4 r4", NAN_F32, F(-1));
    EXPECT1("sqrt.rn.f64", "r8 r8", NAN_F64, D(-1));
    EXPECT1("rcp.rn.f32", "r4 r4", F(0.25f), F(4));
    EXPECT1("rcp.rn.f64", "r8 r8", D(0.25), D(4));
    EXPECT1("rcp.approx.ftz.f64", "r8 r8", 0x3fd5555500000000ull, D(3));
    EXPECT1("rsqrt.approx.f32", "r4 r4", F(0.5f), F(4));
    EXPECT1("rsqrt.approx.f32", "r4 r4", INF_F32, F(0));
}
END_TEST

START_TEST(approximate_division_by_more_than_2_to_126_gives_zero) {
    const uint32_t minus_zero = 0x80000000u;
    static const char *const forms[] = {"div.approx.f32", "div.approx.ftz.f32"};
    for (int i = 0; i < 2; i++) {
        EXPECT2(forms[i], "r4 r4 r4", F(1.5f), F(0x1.8p126f), F(0x1p126f));
        EXPECT2(forms[i], "r4 r4 r4", 0, F(0x1p127f), F(0x1.000002p126f));
        EXPECT2(forms[i], "r4 r4 r4", minus_zero, F(1), F(-2e38f));
        EXPECT2(forms[i], "r4 r4 r4", minus_zero, F(-1), F(2e38f));
        EXPECT2(forms[i], "r4 r4 r4", NAN_F32, INF_F32, F(2e38f));
        EXPECT2(forms[i], "r4 r4 r4", 0, F(1), INF_F32);
    }
    EXPECT2("div.full.f32", "r4 r4 r4", F(1), F(0x1p127f), F(0x1p127f));
}
END_TEST

START_TEST(directed_rounding_applies_to_one_instruction_only) {
    EXPECT2("add.rz.f32", "r4 r4 r4", F(1.0f), F(1), F(0x1.8p-24f));
    EXPECT2("add.rp.f32", "r4 r4 r4", F(1.0f + 0x1p-23f), F(1), F(0x1p-40f));
    EXPECT2("add.rm.f32", "r4 r4 r4", F(1.0f), F(1), F(0x1.8p-24f));
    EXPECT2("add.rn.f32", "r4 r4 r4", F(1.0f + 0x1p-23f), F(1), F(0x1.8p-24f));
    EXPECT2("add.rm.f32", "r4 r4 r4", F(-1.0f - 0x1p-23f), F(-1), F(-0x1p-40f));
    EXPECT3("fma.rp.f32", "r4 r4 r4 r4", F(1.0f + 0x1p-23f), F(0x1p-30f), F(0x1p-30f), F(1));
    EXPECT3("fma.rz.f64", "r8 r8 r8 r8", D(1.0 - 0x1p-53), D(-0x1p-60), D(0x1p-60), D(1));
    EXPECT2("div.rm.f32", "r4 r4 r4", F(0x1.555554p-2f), F(1), F(3));
    EXPECT2("div.rp.f32", "r4 r4 r4", F(0x1.555556p-2f), F(1), F(3));
    EXPECT1("sqrt.rp.f32", "r4 r4", F(0x1.6a09e8p+0f), F(2));
    EXPECT1("sqrt.rm.f32", "r4 r4", F(0x1.6a09e6p+0f), F(2));
    EXPECT2("mul.rp.f64", "r8 r8 r8", D(1.0 + 0x1p-51 + 0x1p-52), D(1.0 + 0x1p-52), D(1.0 + 0x1p-52));
}
END_TEST

/* Each of these is rounded to the smallest normal number, or is it. */
START_TEST(ftz_flushes_what_is_tiny_before_it_is_rounded) {
    static const uint32_t least = 0x00800000u, minus_least = 0x80800000u, below_one = 0x3f7fffffu;
    EXPECT2("mul.f32", "r4 r4 r4", least, below_one, least);
    EXPECT2("mul.ftz.f32", "r4 r4 r4", 0, below_one, least);
    EXPECT2("mul.ftz.f32", "r4 r4 r4", least, F(0.5f), 2 * least);
    EXPECT2("mul.ftz.f32", "r4 r4 r4", 0, 0x3f7ffffe, 0x00800001); /* (1 - 2^-46) * 2^-126 */
    EXPECT2("mul.rp.ftz.f32", "r4 r4 r4", 0, below_one, least);
    EXPECT2("mul.rm.ftz.f32", "r4 r4 r4", 0x80000000u, below_one, minus_least);
    EXPECT2("mul.rn.ftz.sat.f32", "r4 r4 r4", 0, below_one, least);
    EXPECT3("fma.rn.f32", "r4 r4 r4 r4", least, below_one, least, 0);
    EXPECT3("fma.rn.ftz.f32", "r4 r4 r4 r4", 0, below_one, least, 0);
    EXPECT3("fma.rn.ftz.f32", "r4 r4 r4 r4", 0, 0x9f800000u, 0x14000000, 0x00800000); /* 2^-126 - 2^-151 */
    EXPECT3("fma.rz.ftz.f32", "r4 r4 r4 r4", least, F(1), least, 0);
    EXPECT2("div.rn.ftz.f32", "r4 r4 r4", 0, below_one, 0x7e800000);
    EXPECT2("div.rp.ftz.f32", "r4 r4 r4", 0, least, 0x3f800001);
    EXPECT2("div.rp.f32", "r4 r4 r4", least, least, 0x3f800001);
    EXPECT2("div.rm.ftz.f32", "r4 r4 r4", 0x80000000u, minus_least, 0x3f800001);
    EXPECT1("rcp.rp.ftz.f32", "r4 r4", 0, 0x7e800001);
    EXPECT1("rcp.rp.ftz.f32", "r4 r4", least, 0x7e800000);
    EXPECT2("mul.ftz.f32x2", "r8 r8 r8", 0x0080000000000000ull, 0x3f8000003f7fffffull, 0x0080000000800000ull);
    EXPECT2("mul.f16", "r2 r2 r2", 0x0400, 0x3bff, 0x0400);
    EXPECT2("mul.ftz.f16", "r2 r2 r2", 0, 0x3bff, 0x0400);
    EXPECT3("fma.rn.ftz.f16x2", "r4 r4 r4 r4", 0x0400, 0x3bff3c00, 0x04000400, 0);
    EXPECT1("cvt.rn.f32.f64", "r4 r8", least, 0x380fffffe0000000ull);
    EXPECT1("cvt.rn.ftz.f32.f64", "r4 r8", 0, 0x380fffffe0000000ull);
    EXPECT1("cvt.rp.ftz.f32.f64", "r4 r8", 0, 0x380fffffffffffffull);
    EXPECT1("cvt.rp.ftz.f32.f64", "r4 r8", least, 0x3810000000000000ull);
}
END_TEST

START_TEST(ftz_flushes_inputs_and_results_and_sat_clamps) {
    uint32_t subnormal = 0x00000fff;
    EXPECT2("add.f32", "r4 r4 r4", 2 * subnormal, subnormal, subnormal);
    EXPECT2("add.ftz.f32", "r4 r4 r4", 0, subnormal, subnormal);
    EXPECT2("add.ftz.f32", "r4 r4 r4", 0x80000000u, subnormal | 0x80000000u, 0x80000000u);
    EXPECT2("mul.ftz.f32", "r4 r4 r4", 0, 0x00800000u, F(0.5f));
    EXPECT2("mul.f32", "r4 r4 r4", 0x00400000u, 0x00800000u, F(0.5f));
    EXPECT2("add.sat.f32", "r4 r4 r4", F(1), F(1), F(1));
    EXPECT2("sub.sat.f32", "r4 r4 r4", 0, F(1), F(2));
    EXPECT2("mul.sat.f32", "r4 r4 r4", 0, INF_F32, 0);
    EXPECT3("fma.rn.ftz.sat.f32", "r4 r4 r4 r4", F(0.75f), F(0.5f), F(1), F(0.25f));
    EXPECT1("neg.ftz.f32", "r4 r4", 0x80000000u, subnormal);
    EXPECT1("abs.f32", "r4 r4", subnormal, subnormal | 0x80000000u);
}
END_TEST

START_TEST(nan_results_are_canonical_and_min_max_prefer_numbers) {
    EXPECT2("add.f32", "r4 r4 r4", NAN_F32, 0xffc01234u, F(1));
    EXPECT2("sub.f32", "r4 r4 r4", NAN_F32, INF_F32, INF_F32);
    EXPECT2("add.f64", "r8 r8 r8", NAN_F64, 0x7ff8000000001234ull, D(1));
    EXPECT2("min.f32", "r4 r4 r4", F(1), 0xffc00000u, F(1));
    EXPECT2("min.f32", "r4 r4 r4", F(1), F(1), 0x7fc00000u);
    EXPECT2("max.f32", "r4 r4 r4", F(-1), 0x7fc00000u, F(-1));
    EXPECT2("max.f32", "r4 r4 r4", NAN_F32, 0x7fc00000u, 0xffc00000u);
    EXPECT2("min.f32", "r4 r4 r4", 0x80000000u, 0, 0x80000000u);
    EXPECT2("min.f32", "r4 r4 r4", 0x80000000u, 0x80000000u, 0);
    EXPECT2("max.f32", "r4 r4 r4", 0, 0, 0x80000000u);
    EXPECT2("max.f64", "r8 r8 r8", D(2), D(2), D(NAN));
    EXPECT2("min.f64", "r8 r8 r8", D(-0.0), D(-0.0), D(0.0));
    EXPECT2("max.NaN.f32", "r4 r4 r4", NAN_F32, 0x7fc00000u, F(1));
    EXPECT2("copysign.f32", "r4 r4 r4", F(-2), F(-1), F(2));
    EXPECT2("copysign.f64", "r8 r8 r8", D(2), D(1), D(-2));
}
END_TEST

/* Whether any lane has one is asked of all of them at once. */
START_TEST(a_nan_in_any_lane_is_canonical_and_the_others_are_sums) {
    for (int odd = 0; odd < WARP_LANES; odd++) {
        for (int lane = 0; lane < WARP_LANES; lane++) {
            set_u32(1, lane, lane == odd ? 0xffc01234u : F((float)lane));
            set_u32(2, lane, F(1));
        }
        execute("add.f32", "r4 r4 r4");
        for (int lane = 0; lane < WARP_LANES; lane++)
            ck_assert_uint_eq(get_u32(0, lane), lane == odd ? NAN_F32 : F((float)lane + 1));
    }
}
END_TEST

/* The nearest float to what double precision has, which a step from a root and a quotient of floats finds. */
START_TEST(reciprocal_roots_are_those_of_double_precision) {
    for (uint64_t start = 0; start < 1ull << 32; start += 32 * 10007) {
        for (int lane = 0; lane < WARP_LANES; lane++)
            set_u32(1, lane, (uint32_t)(start + 10007 * (uint64_t)lane));
        execute("rsqrt.approx.f32", "r4 r4");
        for (int lane = 0; lane < WARP_LANES; lane++) {
            float argument;
            uint32_t bits = get_u32(1, lane);
            memcpy(&argument, &bits, sizeof argument);
            float root = (float)(1.0 / sqrt((double)argument));
            ck_assert_uint_eq(get_u32(0, lane), isnan(root) ? NAN_F32 : F(root));
        }
    }
    EXPECT1("rsqrt.approx.f32", "r4 r4", F(-INFINITY), F(-0.0f));
    EXPECT1("rsqrt.approx.f32", "r4 r4", F(0x1p74f), F(0x1p-148f));
    EXPECT1("rsqrt.approx.f32", "r4 r4", 0, INF_F32);
}
END_TEST

START_TEST(transcendental_functions_are_accurate_to_the_last_place) {
    EXPECT1("sin.approx.f32", "r4 r4", F((float)sin(1.25)), F(1.25f));
    EXPECT1("cos.approx.ftz.f32", "r4 r4", F((float)cos(1.25)), F(1.25f));
    EXPECT1("ex2.approx.f32", "r4 r4", F(8), F(3));
    EXPECT1("ex2.approx.f32", "r4 r4", 0x00400000u, F(-127));
    EXPECT1("ex2.approx.ftz.f32", "r4 r4", 0, F(-127));
    EXPECT1("lg2.approx.f32", "r4 r4", F(-3), F(0.125f));
    EXPECT1("lg2.approx.f32", "r4 r4", NAN_F32, F(-1));
    EXPECT1("tanh.approx.f32", "r4 r4", F(1), F(40));
    EXPECT1("lg2.approx.f32", "r4 r4", F(-INFINITY), F(-0.0f));
    EXPECT1("lg2.approx.f32", "r4 r4", F(INFINITY), F(INFINITY));
    EXPECT1("lg2.approx.f32", "r4 r4", F(-149), 1);
    EXPECT1("ex2.approx.f32", "r4 r4", F(INFINITY), F(128));
    EXPECT1("ex2.approx.f32", "r4 r4", 0, F(-INFINITY));
    EXPECT1("ex2.approx.f32", "r4 r4", NAN_F32, 0xffc00000u);
    EXPECT1("sin.approx.f32", "r4 r4", 0x80000000u, F(-0.0f));
    EXPECT1("sin.approx.f32", "r4 r4", NAN_F32, F(INFINITY));
    EXPECT1("cos.approx.f32", "r4 r4", NAN_F32, 0x7f800001u);
}
END_TEST

/* Arguments of which the value lies so close to the middle between two floats, within 2^-50 of itself, that the least
 * inexactness would show. */
START_TEST(transcendental_functions_tell_floats_apart_that_are_hardest_to_tell) {
    static const struct {
        const char *form;
        uint32_t argument, expected;
    } hardest[] = {
        {"cos.approx.f32", 0x39800000, 0x3f800000}, {"cos.approx.f32", 0x3a0f1bbd, 0x3f7ffffd},
        {"cos.approx.f32", 0x3a544395, 0x3f7ffffb}, {"cos.approx.f32", 0x3c107fe6, 0x3f7ffd74},
        {"cos.approx.f32", 0x42378db8, 0xbea87a07}, {"cos.approx.f32", 0x424790ce, 0x3f6e4c01},
        {"cos.approx.f32", 0x47a0e238, 0x3f7e19dd}, {"sin.approx.f32", 0x3dcf5597, 0x3dcefaf9},
        {"sin.approx.f32", 0x3ef3830f, 0x3eea6f45}, {"sin.approx.f32", 0x4371ade3, 0x3e62da56},
        {"sin.approx.f32", 0x45a8abb3, 0x3e51ade2}, {"sin.approx.f32", 0x46199998, 0xbeb1fa5e},
        {"sin.approx.f32", 0xc6199998, 0x3eb1fa5e}, {"sin.approx.f32", 0x4967cb9b, 0x3ec9df85},
        {"ex2.approx.f32", 0x36879cf7, 0x3f800018}, {"ex2.approx.f32", 0x3a07857c, 0x3f800bbe},
        {"ex2.approx.f32", 0x3b429d37, 0x3f804384}, {"ex2.approx.f32", 0x3c02a9ad, 0x3f80b5a3},
        {"ex2.approx.f32", 0xb52d1f9a, 0x3f7ffff8}, {"ex2.approx.f32", 0xb8d3d026, 0x3f7ffb69},
        {"ex2.approx.f32", 0xbaec2b40, 0x3f7fae34}, {"ex2.approx.f32", 0xbcf3a937, 0x3f7ac6b0},
        {"ex2.approx.f32", 0xbe1f29de, 0x3f65da56}, {"lg2.approx.f32", 0x3ea07ab9, 0xbfd63da2},
        {"lg2.approx.f32", 0x40207ab9, 0x3fa9c25e}, {"lg2.approx.f32", 0x7f114a90, 0x42fe5d98},
        {"lg2.approx.f32", 0x00914a90, 0xc2fba268}, {"lg2.approx.f32", 0x3f6cdb80, 0xbde5a1c1},
        {"lg2.approx.f32", 0x3f7e3274, 0xbc270e8b},
    };
    for (uint32_t i = 0; i < sizeof hardest / sizeof *hardest; i++)
        EXPECT1(hardest[i].form, "r4 r4", hardest[i].expected, hardest[i].argument);
}
END_TEST

static uint32_t flushed(uint32_t bits) {
    return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

/* The same as without .ftz, but for subnormal numbers: among them are arguments, and powers of two. */
START_TEST(transcendental_functions_flush_arguments_and_results_alone) {
    static const char *const forms[][2] = {{"sin.approx.f32", "sin.approx.ftz.f32"},
                                           {"cos.approx.f32", "cos.approx.ftz.f32"},
                                           {"ex2.approx.f32", "ex2.approx.ftz.f32"},
                                           {"lg2.approx.f32", "lg2.approx.ftz.f32"}};
    Random random = {7};
    for (int turn = 0; turn < 1000; turn++) {
        uint32_t arguments[WARP_LANES];
        Slot plain;
        for (int lane = 0; lane < WARP_LANES; lane++) {
            uint32_t bits = (uint32_t)random_below(&random, 1ull << 32);
            if (turn % 2) bits &= 0xbfffffffu; /* below 2, so that no sine needs the slow way */
            arguments[lane] = lane % 4 == 0   ? bits & 0x807fffffu
                              : lane % 4 == 1 ? F(-120 - (float)(bits % 4096) / 128)
                                              : bits;
            set_u32(1, lane, flushed(arguments[lane]));
        }
        warp.context.active = random_below(&random, 2) ? ~0u : (uint32_t)random_below(&random, 1ull << 32);
        memset(&warp.registers[0], 0x55, sizeof warp.registers[0]);
        execute(forms[_i][0], "r4 r4");
        plain = warp.registers[0];
        for (int lane = 0; lane < WARP_LANES; lane++)
            set_u32(1, lane, arguments[lane]);
        memset(&warp.registers[0], 0x55, sizeof warp.registers[0]);
        execute(forms[_i][1], "r4 r4");
        for (int lane = 0; lane < WARP_LANES; lane++) {
            uint32_t without;
            memcpy(&without, (const uint8_t *)&plain + 4 * lane, sizeof without);
            ck_assert_msg(get_u32(0, lane) == flushed(without), "%s of 0x%x: 0x%x, expected 0x%x",
                          forms[_i][1], arguments[lane], get_u32(0, lane), flushed(without));
        }
    }
}
END_TEST

/* As C libraries have them, nearly always: both round once what is exact to 48 bits. One lane far away among near ones,
 * and inactive ones, change nothing. */
START_TEST(transcendental_functions_of_all_kinds_of_numbers_are_those_of_the_library) {
    static const struct {
        const char *form;
        double (*function)(double);
    } functions[] = {
        {"sin.approx.f32", sin}, {"cos.approx.f32", cos}, {"ex2.approx.f32", exp2}, {"lg2.approx.f32", log2}};
    uint32_t different = 0, compared = 0;
    for (uint64_t start = 0; start < 1ull << 32; start += 32 * 104729) {
        for (int lane = 0; lane < WARP_LANES; lane++) {
            set_u32(1, lane, (uint32_t)(start + 104729 * (uint64_t)lane));
            set_u32(0, lane, 0x12345678);
        }
        warp.context.active = start % 3 ? UINT32_MAX : 0x7ffffffe;
        execute(functions[_i].form, "r4 r4");
        for (int lane = 0; lane < WARP_LANES; lane++) {
            float argument;
            uint32_t bits = get_u32(1, lane);
            memcpy(&argument, &bits, sizeof argument);
            double value = functions[_i].function((double)argument);
            uint32_t expected = isnan(value) ? NAN_F32 : F((float)value), got = get_u32(0, lane);
            if (!(warp.context.active >> lane & 1)) expected = 0x12345678;
            uint32_t apart = got > expected ? got - expected : expected - got;
            ck_assert_msg(apart <= 1, "%s of %a: 0x%x, expected 0x%x", functions[_i].form, (double)argument,
                          got, expected);
            different += apart;
            compared++;
        }
    }
    ck_assert_uint_gt(compared, 40000);
    ck_assert_uint_le(different, 1);
}
END_TEST

/* Sines and cosines of the arguments before are kept. Whatever came before, results have the bits that a context without
 * a past has: sets of arguments that differ in one lane, one of them too far away for the quick way, in which an inactive
 * lane may be; with .ftz and without. */
START_TEST(sines_and_cosines_are_those_of_a_fresh_context) {
    static const char *const forms[] = {"sin.approx.f32", "cos.approx.f32", "sin.approx.ftz.f32",
                                        "cos.approx.ftz.f32"};
    enum { SETS = 4, FORMS = sizeof forms / sizeof *forms };
    Random random = {41};
    static const float elsewhere[] = {0x1p-140f, 2.5f, 1e10f};
    for (int turn = 0; turn < 20000; turn++) {
        const char *form = forms[random_below(&random, FORMS)];
        uint64_t set = random_below(&random, SETS);
        int lane_elsewhere = turn / 100 % WARP_LANES;
        Slot kept, fresh;
        for (int lane = 0; lane < WARP_LANES; lane++)
            set_u32(1, lane,
                    lane % 8 == 7 ? 0x00001000u + (uint32_t)lane : F(0.37f * (float)(lane + turn / 1000)));
        if (set) set_u32(1, lane_elsewhere, F(elsewhere[set - 1]));
        warp.context.active = random_below(&random, 2) ? ~0u : (uint32_t)random_below(&random, 1ull << 32);
        memset(&warp.registers[0], 0x55, sizeof warp.registers[0]);
        execute(form, "r4 r4");
        kept = warp.registers[0];
        Turned turned = warp.context.turned;
        memset(&warp.context.turned, 0, sizeof turned);
        memset(&warp.registers[0], 0x55, sizeof warp.registers[0]);
        execute(form, "r4 r4");
        fresh = warp.registers[0];
        warp.context.turned = turned;
        ck_assert_mem_eq(&kept, &fresh, sizeof kept);
    }
}
END_TEST

/* Compares and predicates. */

static void check_float_compare(const char *compare, bool less, bool equal, bool greater, bool unordered) {
    char form[32];
    for (int wide = 0; wide < 2; wide++) {
        snprintf(form, sizeof form, "setp.%s.f%d", compare, wide ? 64 : 32);
        const char *operands = wide ? "p r8 r8" : "p r4 r4";
        uint64_t one = wide ? D(1) : F(1), two = wide ? D(2) : F(2), nan = wide ? D(NAN) : NAN_F32;
        EXPECT2(form, operands, less, one, two);
        EXPECT2(form, operands, equal, one, one);
        EXPECT2(form, operands, greater, two, one);
        EXPECT2(form, operands, unordered, one, nan);
        EXPECT2(form, operands, unordered, nan, nan);
    }
}

START_TEST(float_compares_ordered_and_unordered) {
    check_float_compare("eq", false, true, false, false);
    check_float_compare("ne", true, false, true, false);
    check_float_compare("lt", true, false, false, false);
    check_float_compare("le", true, true, false, false);
    check_float_compare("gt", false, false, true, false);
    check_float_compare("ge", false, true, true, false);
    check_float_compare("equ", false, true, false, true);
    check_float_compare("neu", true, false, true, true);
    check_float_compare("ltu", true, false, false, true);
    check_float_compare("leu", true, true, false, true);
    check_float_compare("gtu", false, false, true, true);
    check_float_compare("geu", false, true, true, true);
    check_float_compare("num", true, true, true, false);
    check_float_compare("nan", false, false, false, true);
    EXPECT2("setp.lt.f32", "p r4 r4", 1, 0, 1);
    EXPECT2("setp.lt.ftz.f32", "p r4 r4", 0, 0, 1);
}
END_TEST

START_TEST(integer_compares_respect_sign_and_width) {
    static const struct {
        const char *compare, *type;
        bool less, equal, greater;
    } cases[] = {
        {"eq", "b32", 0, 1, 0}, {"ne", "s32", 1, 0, 1}, {"lt", "s32", 1, 0, 0}, {"le", "s32", 1, 1, 0},
        {"gt", "s32", 0, 0, 1}, {"ge", "s32", 0, 1, 1}, {"lo", "u32", 0, 0, 1}, {"ls", "u32", 0, 1, 1},
        {"hi", "u32", 1, 0, 0}, {"hs", "u32", 1, 1, 0}, {"lt", "u16", 0, 0, 1}, {"lt", "s16", 1, 0, 0},
        {"lt", "s64", 1, 0, 0}, {"gt", "u64", 1, 0, 0}, {"eq", "b64", 0, 1, 0}, {"ge", "u32", 1, 1, 0}};
    for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
        char form[32];
        snprintf(form, sizeof form, "setp.%s.%s", cases[index].compare, cases[index].type);
        int width = atoi(cases[index].type + 1);
        const char *operands = width == 64 ? "p r8 r8" : width == 16 ? "p r2 r2" : "p r4 r4";
        /* -1 against 1, with rubbish above 16 bits: less when signed, greater when unsigned */
        uint64_t minus = width == 16 ? 0x7777ffff : UINT64_MAX;
        EXPECT2(form, operands, cases[index].less, minus, 1);
        EXPECT2(form, operands, cases[index].equal, minus, width == 16 ? 0xffff : UINT64_MAX);
        EXPECT2(form, operands, cases[index].greater, 1, minus);
    }
}
END_TEST

START_TEST(setp_combines_with_a_predicate_and_writes_the_inverse) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        set_u32(2, lane, (uint32_t)lane);
        set_u32(3, lane, 16);
    }
    uint32_t *p = &warp.predicates[FIRST_FREE_PREDICATE];
    p[0] = p[1] = 0xaaaaaaaau;
    p[4] = 0x00ff00ffu;
    warp.context.active = 0x0fffffffu;
    execute("setp.lt.and.s32", "p p r4 r4 p");
    ck_assert_uint_eq(p[0], 0xa00000ffu);
    ck_assert_uint_eq(p[1], 0xa0ff0000u);
    execute("setp.lt.or.s32", "p p r4 r4 !p");
    ck_assert_uint_eq(p[0], 0xaf00ffffu);
    ck_assert_uint_eq(p[1], 0xafffff00u);
    execute("setp.lt.xor.s32", "p _ r4 r4 p");
    ck_assert_uint_eq(p[0], 0xa0ffff00u);
    ck_assert_uint_eq(p[1], 0xafffff00u);
    execute("setp.lt.s32", "p p r4 r4");
    ck_assert_uint_eq(p[0], 0xa000ffffu);
    ck_assert_uint_eq(p[1], 0xafff0000u);
}
END_TEST

START_TEST(set_writes_ones_or_one) {
    EXPECT2("set.lt.u32.s32", "r4 r4 r4", 0xffffffffu, 1, 2);
    EXPECT2("set.lt.f32.s32", "r4 r4 r4", F(1), 1, 2);
    EXPECT2("set.gt.u32.f32", "r4 r4 r4", 0, F(1), F(2));
    EXPECT3("set.lt.and.u32.s32", "r4 r4 r4 p", 0, 1, 2, 0);
}
END_TEST

START_TEST(predicate_logic_changes_active_lanes_only) {
    uint32_t *p = &warp.predicates[FIRST_FREE_PREDICATE];
    warp.context.active = 0x0000ffffu;
    p[1] = 0x0ff00ff0u, p[2] = 0x33333333u;
    p[0] = 0x12340000u;
    execute("and.pred", "p p p");
    ck_assert_uint_eq(p[0], 0x12340330u);
    execute("or.pred", "p p !p");
    ck_assert_uint_eq(p[0], 0x1234cffcu);
    execute("xor.pred", "p p p");
    ck_assert_uint_eq(p[0], 0x12343cc3u);
    execute("not.pred", "p p");
    ck_assert_uint_eq(p[0], 0x1234f00fu);
    execute("mov.pred", "p !p");
    ck_assert_uint_eq(p[0], 0x1234f00fu);
}
END_TEST

START_TEST(selections) {
    EXPECT3("selp.b32", "r4 r4 r4 p", 7, 7, 9, 1);
    EXPECT3("selp.f64", "r8 r8 r8 p", 9, 7, 9, 0);
    EXPECT3("selp.s32", "r4 i4 r4 !p", 9, 7, 9, 1);
    EXPECT3("slct.u32.s32", "r4 r4 r4 r4", 7, 7, 9, 0);
    EXPECT3("slct.u32.s32", "r4 r4 r4 r4", 9, 7, 9, 0xffffffffu);
    EXPECT3("slct.f32.f32", "r4 r4 r4 r4", 9, 7, 9, NAN_F32);
    EXPECT3("slct.b64.f32", "r8 r8 r8 r4", 7, 7, 9, 0x80000000u);
    EXPECT1("testp.subnormal.f32", "p r4", 1, 0x80000001u);
    EXPECT1("testp.normal.f32", "p r4", 1, 0);
    EXPECT1("testp.finite.f64", "p r8", 0, D(-INFINITY));
    EXPECT1("testp.notanumber.f64", "p r8", 1, D(NAN));
}
END_TEST

/* Conversions. */

START_TEST(integer_conversions_extend_truncate_and_saturate) {
    EXPECT1("cvt.s64.s32", "r8 r4", UINT64_MAX, 0xffffffffu);
    EXPECT1("cvt.u64.u32", "r8 r4", 0xffffffffu, 0xffffffffu);
    EXPECT1("cvt.u32.u64", "r4 r8", 0x9abcdef0u, 0x123456789abcdef0ull);
    EXPECT1("cvt.u16.u32", "r2 r4", 0x5678, 0x12345678u);
    EXPECT1("cvt.u16.u32", "r4 r4", 0x5678, 0x12345678u);
    EXPECT1("cvt.s32.s16", "r4 r2", 0xffff8000u, 0x12348000u);
    EXPECT1("cvt.s32.s8", "r4 r4", 0xffffff80u, 0x12345680u);
    EXPECT1("cvt.s16.s8", "r2 r2", 0xffffff80u, 0x80);
    EXPECT1("cvt.s64.s8", "r8 r8", (uint64_t)-128, 0x1234567812345680ull);
    EXPECT1("cvt.u32.u8", "r8 r2", 0x80, 0xff80);
    EXPECT1("cvt.s16.s32", "r8 r4", (uint64_t)-1, 0x1ffff);
    EXPECT1("cvt.sat.u8.s32", "r4 r4", 0, 0xffffffffu);
    EXPECT1("cvt.sat.u8.s32", "r4 r4", 255, 300);
    EXPECT1("cvt.sat.s8.s32", "r4 r4", 0xffffff80u, 0x80000000u);
    EXPECT1("cvt.sat.s32.u64", "r4 r8", 0x7fffffff, UINT64_MAX);
    EXPECT1("cvt.sat.u32.s64", "r4 r8", 0, (uint64_t)-5);
}
END_TEST

START_TEST(float_to_integer_saturates_and_rounds_by_mode) {
    EXPECT1("cvt.rzi.s32.f32", "r4 r4", (uint32_t)-2, F(-2.75f));
    EXPECT1("cvt.rni.s32.f32", "r4 r4", 2, F(2.5f));
    EXPECT1("cvt.rni.s32.f32", "r4 r4", 4, F(3.5f));
    EXPECT1("cvt.rmi.s32.f32", "r4 r4", (uint32_t)-3, F(-2.25f));
    EXPECT1("cvt.rpi.s32.f32", "r4 r4", (uint32_t)-2, F(-2.75f));
    EXPECT1("cvt.rzi.s32.f32", "r4 r4", 0x7fffffff, F(3e9f));
    EXPECT1("cvt.rzi.s32.f32", "r4 r4", 0x80000000u, F(-INFINITY));
    EXPECT1("cvt.rzi.s32.f32", "r4 r4", 0, 0x7fc00000u);
    EXPECT1("cvt.rzi.u32.f32", "r4 r4", 0, F(-5));
    EXPECT1("cvt.rzi.u32.f32", "r4 r4", 0xffffffffu, F(5e9f));
    EXPECT1("cvt.rzi.u32.f32", "r4 r4", 4000000000u, F(4e9f));
    EXPECT1("cvt.rzi.u32.f64", "r4 r8", 0x80000000u, D(NAN));
    EXPECT1("cvt.rzi.s64.f32", "r8 r4", 1ull << 63, 0x7fc00000u);
    EXPECT1("cvt.rzi.s64.f64", "r8 r8", INT64_MAX, D(1e19));
    EXPECT1("cvt.rzi.s64.f64", "r8 r8", (uint64_t)INT64_MIN, D(-1e19));
    EXPECT1("cvt.rzi.u64.f64", "r8 r8", 10000000000000000000ull, D(1e19));
    EXPECT1("cvt.rzi.u64.f64", "r8 r8", UINT64_MAX, D(2e19));
    EXPECT1("cvt.rzi.u8.f32", "r4 r4", 255, F(1000));
    EXPECT1("cvt.rzi.s16.f32", "r2 r4", 0xffff8000u, F(-1e6f));
    EXPECT1("cvt.rni.f32.f32", "r4 r4", F(-4), F(-3.5f));
    EXPECT1("cvt.rzi.f32.f32", "r4 r4", 0x80000000u, F(-0.5f));
    EXPECT1("cvt.rpi.f64.f64", "r8 r8", D(3), D(2.25));
}
END_TEST

START_TEST(conversions_to_float_round_by_mode) {
    EXPECT1("cvt.rn.f32.s32", "r4 r4", F(-1), 0xffffffffu);
    EXPECT1("cvt.rn.f32.u32", "r4 r4", F(4294967296.0f), 0xffffffffu);
    EXPECT1("cvt.rz.f32.u32", "r4 r4", F(4294967040.0f), 0xffffffffu);
    EXPECT1("cvt.rp.f32.s32", "r4 r4", F(16777218.0f), 16777217);
    EXPECT1("cvt.rn.f32.u64", "r4 r8", F(0x1p64f), UINT64_MAX);
    EXPECT1("cvt.rz.f32.s64", "r4 r8", F(0x1.fffffep62f), INT64_MAX);
    EXPECT1("cvt.rn.f64.s32", "r8 r4", D(-2147483648.0), 0x80000000u);
    EXPECT1("cvt.rn.f64.u64", "r8 r8", D(0x1p64), UINT64_MAX);
    EXPECT1("cvt.rn.f32.u8", "r4 r2", F(255), 0xffff);
    EXPECT1("cvt.rn.f32.s16", "r4 r2", F(-1), 0xffff);
    EXPECT1("cvt.rn.f32.f64", "r4 r8", F(0.1f), D(0.1));
    EXPECT1("cvt.rm.f32.f64", "r4 r8", F(0x1.999998p-4f), D(0.1));
    EXPECT1("cvt.rn.f32.f64", "r4 r8", INF_F32, D(1e300));
    EXPECT1("cvt.rz.f32.f64", "r4 r8", 0x7f7fffffu, D(1e300));
    EXPECT1("cvt.f64.f32", "r8 r4", D(0.5), F(0.5f));
    EXPECT1("cvt.f64.f32", "r8 r4", NAN_F64, 0x7fc00001u);
    EXPECT1("cvt.sat.f32.f32", "r4 r4", F(1), F(7));
    EXPECT1("cvt.sat.f32.f32", "r4 r4", F(0.3f), F(0.3f));
    EXPECT1("cvt.ftz.f64.f32", "r8 r4", 0, 1);
}
END_TEST

START_TEST(half_precision_conversions) {
    EXPECT1("cvt.rn.f16.f32", "r2 r4", 0x3c00, F(1));
    EXPECT1("cvt.rn.f16.f32", "r2 r4", 0x7bff, F(65504));
    EXPECT1("cvt.rn.f16.f32", "r2 r4", 0x7bff, F(65519));
    EXPECT1("cvt.rn.f16.f32", "r2 r4", 0x7c00, F(65520));
    EXPECT1("cvt.rz.f16.f32", "r2 r4", 0x7bff, F(1e9f));
    EXPECT1("cvt.rn.f16.f32", "r2 r4", 0x8001, F(-0x1p-24f));
    EXPECT1("cvt.rn.f16.f32", "r2 r4", 0x0000, F(0x1p-25f));
    EXPECT1("cvt.rn.f16.f32", "r2 r4", 0x0001, F(0x1.8p-25f));
    EXPECT1("cvt.rn.f16.f32", "r2 r4", 0x7fff, NAN_F32);
    EXPECT1("cvt.f32.f16", "r4 r2", F(1.0009765625f), 0xabcd3c01u);
    EXPECT1("cvt.f32.f16", "r4 r2", F(0x1p-24f), 1);
    EXPECT1("cvt.f32.f16", "r4 r2", F(-INFINITY), 0xfc00);
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        set_u32(1, (int)(bits & 31), bits);
        if ((bits & 31) != 31) continue;
        execute("cvt.f32.f16", "r4 r2");
        for (int lane = 0; lane < WARP_LANES; lane++)
            set_u32(1, lane, get_u32(0, lane));
        execute("cvt.rn.f16.f32", "r2 r4");
        for (int lane = 0; lane < WARP_LANES; lane++)
            ck_assert_uint_eq(get_u32(0, lane), bits - 31 + (uint32_t)lane);
    }
}
END_TEST

/* Halves: 0x3c00 is 1 in f16, 0x3f80 in bf16. */

START_TEST(halves_are_rounded_once) {
    EXPECT2("add.rn.f16", "r2 r2 r2", 0x4000, 0x3c00, 0xffff3c00u); /* only the low half counts */
    EXPECT2("add.f16", "r2 r2 r2", 0x6800, 0x6800, 0x3c00);         /* 2048 + 1: a tie, to even */
    EXPECT2("add.f16", "r2 r2 r2", 0x6802, 0x6801, 0x3c00);
    EXPECT2("sub.f16", "r2 r2 r2", 0x8001, 0x0001, 0x0002);
    EXPECT2("sub.ftz.f16", "r2 r2 r2", 0x0000, 0x0001, 0x0002);
    EXPECT2("mul.f16", "r2 r2 r2", 0x7c00, 0x7bff, 0x4000);
    EXPECT2("mul.f16", "r2 r2 r2", 0x7fff, 0x7c00, 0x0000);
    EXPECT2("add.sat.f16", "r2 r2 r2", 0x3c00, 0x3c00, 0x3c00);
    EXPECT2("add.sat.f16", "r2 r2 r2", 0x0000, 0x7e00, 0x3c00);
    EXPECT3("fma.rn.f16", "r2 r2 r2 r2", 0x6800, 0x6800, 0x3c00, 0x3c00);
    EXPECT3("fma.rn.relu.f16", "r2 r2 r2 r2", 0, 0xbc00, 0x3c00, 0x0000);
    EXPECT3("fma.rn.f16x2", "r4 r4 r4 r4", 0x45004000, 0x40003c00, 0x40003c00, 0x3c003c00);
    EXPECT2("add.rn.bf16", "r2 r2 r2", 0x4000, 0x3f80, 0x3f80);
    EXPECT2("add.rn.bf16", "r2 r2 r2", 0x4380, 0x4380, 0x3f80); /* 256 + 1 */
    EXPECT2("mul.rn.bf16x2", "r4 r4 r4", 0x40804000, 0x40003f80, 0x40004000);
    /* 1.5 * (1 + 2^-7) is a tie; less 2^-100, which no double holds beside it, it is none. */
    EXPECT3("fma.rn.bf16", "r2 r2 r2 r2", 0x3fc2, 0x3fc0, 0x3f81, 0x0000);
    EXPECT3("fma.rn.bf16", "r2 r2 r2 r2", 0x3fc1, 0x3fc0, 0x3f81, 0x8d80);
}
END_TEST

START_TEST(halves_compare_and_change_sign) {
    EXPECT2("min.f16", "r2 r2 r2", 0x8000, 0x0000, 0x8000);
    EXPECT2("max.f16", "r2 r2 r2", 0x0000, 0x8000, 0x0000);
    EXPECT2("max.f16", "r2 r2 r2", 0x3c00, 0x7e00, 0x3c00);
    EXPECT2("max.NaN.f16", "r2 r2 r2", 0x7fff, 0x7e00, 0x3c00);
    EXPECT2("min.f16x2", "r4 r4 r4", 0xc0003c00u, 0x40003c00, 0xc0004000u);
    EXPECT3("fma.rn.relu.f16", "r2 r2 r2 r2", 0, 0x3c00, 0x8000, 0x8000);
    EXPECT3("fma.rn.relu.ftz.f16", "r2 r2 r2 r2", 0, 0x3c00, 0x8000, 0x83ff);
    EXPECT1("neg.f16", "r2 r2", 0xbc00, 0x3c00);
    EXPECT1("abs.f16x2", "r4 r4", 0x3c004000, 0xbc00c000u);
    EXPECT2("setp.lt.f16", "p r2 r2", 1, 0xbc00, 0x3c00);
    EXPECT2("setp.geu.f16", "p r2 r2", 1, 0x7e00, 0x3c00);
    EXPECT2("setp.ne.f16", "p r2 r2", 0, 0x7e00, 0x3c00);
    EXPECT2("setp.eq.bf16", "p r2 r2", 1, 0x8000, 0x0000);
    EXPECT2("set.nan.f16.f16", "r2 r2 r2", 0x3c00, 0x7e00, 0x3c00);
    EXPECT2("set.gt.bf16.bf16", "r2 r2 r2", 0x3f80, 0x4000, 0x3f80);
    EXPECT2("set.lt.f16x2.f16x2", "r4 r4 r4", 0x3c000000, 0x3c003c00, 0x40003c00);
    EXPECT2("set.eq.u32.f16", "r4 r2 r2", UINT32_MAX, 0x3c00, 0x3c00);
    EXPECT2("set.eq.u32.f16x2", "r4 r4 r4", 0x0000ffff, 0x3c003c00, 0x40003c00);
    EXPECT2("cvt.rn.f16x2.f32", "r4 r4 r4", 0x3c004000, F(1), F(2));
    EXPECT2("cvt.rn.bf16x2.f32", "r4 r4 r4", 0x3f804000, F(1), F(2));
    EXPECT1("cvt.rn.bf16.f32", "r2 r4", 0x3f80, F(1.00390625f)); /* a tie, to even */
    EXPECT1("cvt.f32.bf16", "r4 r2", F(-2), 0xc000);
}
END_TEST

Suite *exec_float_suite(void);
Suite *exec_float_suite(void) {
    Suite *suite = suite_create("exec float");
    TCase *cases = tcase_create("exec float");
    tcase_add_checked_fixture(cases, warp_setup, warp_teardown);
    tcase_add_test(cases, float_arithmetic_rounds_once);
    tcase_add_test(cases, approximate_division_by_more_than_2_to_126_gives_zero);
    tcase_add_test(cases, directed_rounding_applies_to_one_instruction_only);
    tcase_add_test(cases, ftz_flushes_inputs_and_results_and_sat_clamps);
    tcase_add_test(cases, ftz_flushes_what_is_tiny_before_it_is_rounded);
    tcase_add_test(cases, nan_results_are_canonical_and_min_max_prefer_numbers);
    tcase_add_test(cases, a_nan_in_any_lane_is_canonical_and_the_others_are_sums);
    tcase_add_test(cases, reciprocal_roots_are_those_of_double_precision);
    tcase_add_test(cases, transcendental_functions_are_accurate_to_the_last_place);
    tcase_add_test(cases, transcendental_functions_tell_floats_apart_that_are_hardest_to_tell);
    tcase_add_loop_test(cases, transcendental_functions_flush_arguments_and_results_alone, 0, 4);
    tcase_add_loop_test(cases, transcendental_functions_of_all_kinds_of_numbers_are_those_of_the_library, 0,
                        4);
    tcase_add_test(cases, sines_and_cosines_are_those_of_a_fresh_context);
    tcase_add_test(cases, float_compares_ordered_and_unordered);
    tcase_add_test(cases, integer_compares_respect_sign_and_width);
    tcase_add_test(cases, setp_combines_with_a_predicate_and_writes_the_inverse);
    tcase_add_test(cases, set_writes_ones_or_one);
    tcase_add_test(cases, predicate_logic_changes_active_lanes_only);
    tcase_add_test(cases, selections);
    tcase_add_test(cases, integer_conversions_extend_truncate_and_saturate);
    tcase_add_test(cases, float_to_integer_saturates_and_rounds_by_mode);
    tcase_add_test(cases, conversions_to_float_round_by_mode);
    tcase_add_test(cases, half_precision_conversions);
    tcase_add_test(cases, halves_are_rounded_once);
    tcase_add_test(cases, halves_compare_and_change_sign);
    suite_add_tcase(suite, cases);
    return suite;
}
