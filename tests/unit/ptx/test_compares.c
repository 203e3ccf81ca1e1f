/* setp and set of 32-bit values, lane by lane against plain C. */
#include "core/sim/base/random.h"
#include "tests/unit/ptx/warp_fixture.h"

#include <math.h>

typedef struct {
    bool less, equal, greater, unordered; /* when it is true */
} Truth;

static const struct {
    const char *compare, *type;
    Truth truth;
} cases[] = {
    {"eq", "b32", {0, 1, 0, 0}},  {"ne", "b32", {1, 0, 1, 0}},  {"eq", "s32", {0, 1, 0, 0}},
    {"ne", "s32", {1, 0, 1, 0}},  {"lt", "s32", {1, 0, 0, 0}},  {"le", "s32", {1, 1, 0, 0}},
    {"gt", "s32", {0, 0, 1, 0}},  {"ge", "s32", {0, 1, 1, 0}},  {"eq", "u32", {0, 1, 0, 0}},
    {"ne", "u32", {1, 0, 1, 0}},  {"lt", "u32", {1, 0, 0, 0}},  {"le", "u32", {1, 1, 0, 0}},
    {"gt", "u32", {0, 0, 1, 0}},  {"ge", "u32", {0, 1, 1, 0}},  {"lo", "u32", {1, 0, 0, 0}},
    {"ls", "u32", {1, 1, 0, 0}},  {"hi", "u32", {0, 0, 1, 0}},  {"hs", "u32", {0, 1, 1, 0}},
    {"eq", "f32", {0, 1, 0, 0}},  {"ne", "f32", {1, 0, 1, 0}},  {"lt", "f32", {1, 0, 0, 0}},
    {"le", "f32", {1, 1, 0, 0}},  {"gt", "f32", {0, 0, 1, 0}},  {"ge", "f32", {0, 1, 1, 0}},
    {"equ", "f32", {0, 1, 0, 1}}, {"neu", "f32", {1, 0, 1, 1}}, {"ltu", "f32", {1, 0, 0, 1}},
    {"leu", "f32", {1, 1, 0, 1}}, {"gtu", "f32", {0, 0, 1, 1}}, {"geu", "f32", {0, 1, 1, 1}},
    {"num", "f32", {1, 1, 1, 0}}, {"nan", "f32", {0, 0, 0, 1}},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Few enough that equal ones meet. */
static const uint32_t values[] = {0,          1,          2,          0x7fffffff, 0x80000000,
                                  0x80000001, 0xffffffff, 0x00800000, 0x007fffff, 0x3f800000,
                                  0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000};

static float number_of(uint32_t bits, bool flushes) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return flushes && fpclassify(number) == FP_SUBNORMAL ? 0 : number;
}

static bool is_true(int index, uint32_t a, uint32_t b, bool flushes) {
    Truth truth = cases[index].truth;
    double x = a, y = b;
    if (cases[index].type[0] == 's') x = (int32_t)a, y = (int32_t)b;
    if (cases[index].type[0] == 'f') x = (double)number_of(a, flushes), y = (double)number_of(b, flushes);
    if (isnan(x) || isnan(y)) return truth.unordered;
    return x < y ? truth.less : x > y ? truth.greater : truth.equal;
}

static uint32_t lanes_expected(int index, int first, bool flushes) {
    uint32_t lanes = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        lanes |= (uint32_t)is_true(index, get_u32(first, lane), get_u32(first + 1, lane), flushes) << lane;
    return lanes;
}

static void choose_values(Random *random, int first) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int k = first; k < first + 2; k++)
            set_u32(k, lane, values[random_below(random, sizeof values / sizeof *values)]);
    warp.context.active = random_below(random, 2) ? ~0u : (uint32_t)random_below(random, 1ull << 32);
}

START_TEST(setp_is_what_each_lane_compares) {
    Random random = {31};
    uint32_t *p = &warp.predicates[FIRST_FREE_PREDICATE];
    for (int turn = 0; turn < 400; turn++) {
        bool flushes = cases[_i].type[0] == 'f' && turn % 2;
        char form[32];
        snprintf(form, sizeof form, "setp.%s%s.%s", cases[_i].compare, flushes ? ".ftz" : "", cases[_i].type);
        choose_values(&random, 1);
        uint32_t before = p[0] = (uint32_t)random_below(&random, 1ull << 32);
        uint32_t active = warp.context.active;
        execute(form, "p r4 r4");
        ck_assert_uint_eq(p[0], (lanes_expected(_i, 1, flushes) & active) | (before & ~active));
    }
}
END_TEST

START_TEST(set_is_what_each_lane_compares) {
    Random random = {32};
    for (int turn = 0; turn < 400; turn++) {
        bool flushes = cases[_i].type[0] == 'f' && turn % 2, is_float = turn % 4 < 2;
        char form[40];
        snprintf(form, sizeof form, "set.%s%s.%s.%s", cases[_i].compare, flushes ? ".ftz" : "",
                 is_float ? "f32" : "u32", cases[_i].type);
        choose_values(&random, 1);
        for (int lane = 0; lane < WARP_LANES; lane++)
            set_u32(0, lane, 0x12345678);
        execute(form, "r4 r4 r4");
        uint32_t expected = lanes_expected(_i, 1, flushes);
        for (int lane = 0; lane < WARP_LANES; lane++)
            ck_assert_uint_eq(get_u32(0, lane), !(warp.context.active >> lane & 1) ? 0x12345678
                                                : !(expected >> lane & 1)          ? 0
                                                : is_float                         ? F(1)
                                                                                   : UINT32_MAX);
    }
}
END_TEST

Suite *compares_suite(void);
Suite *compares_suite(void) {
    Suite *suite = suite_create("compares");
    TCase *tests = tcase_create("compares");
    tcase_add_checked_fixture(tests, warp_setup, warp_teardown);
    tcase_add_loop_test(tests, setp_is_what_each_lane_compares, 0, CASES);
    tcase_add_loop_test(tests, set_is_what_each_lane_compares, 0, CASES);
    suite_add_tcase(suite, tests);
    return suite;
}
