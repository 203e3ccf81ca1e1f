/* Forms of plain instructions by hand: each with its sources and what it must come to. */
#include "tests/unit/ptx/warp_fixture.h"
#include "tests/unit/suites.h"

typedef struct {
    const char *form, *operands;
    uint64_t source[4], result; /* of operands 1, 2, ...; of operand 0 */
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

Suite *plain_forms_suite(void) {
    Suite *suite = suite_create("plain_forms");
    TCase *values = tcase_create("values");
    tcase_add_checked_fixture(values, warp_setup, warp_teardown);
    tcase_add_test(values, halves_have_powers_tangents_and_signs);
    suite_add_tcase(suite, values);
    return suite;
}
