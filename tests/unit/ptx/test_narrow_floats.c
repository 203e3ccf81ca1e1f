/* Conversions of floats of less than 32 bits, against a search in the list of all numbers that a format has. */
#include "tests/unit/ptx/warp_fixture.h"
#include "tests/unit/suites.h"

#include <math.h>

enum { MAX_NUMBERS = 1 << 18 };

/* Numbers of a format ascend with their codes; the first code that is no number is `count`. */
typedef struct {
    const char *name;
    int exponent_bits, fraction_bits, bias, shift;
    uint32_t count, infinity, nan;
} Format;

static const Format formats[] = {{"f16", 5, 10, 15, 0, 0x7c00, 0x7c00, 0x7fff},
                                 {"bf16", 8, 7, 127, 0, 0x7f80, 0x7f80, 0x7fff},
                                 {"tf32", 8, 10, 127, 13, 0x3fc00, 0x3fc00, 0x3ffff},
                                 {"e4m3x2", 4, 3, 7, 0, 0x7f, 0, 0x7f},
                                 {"e5m2x2", 5, 2, 15, 0, 0x7c, 0x7c, 0x7f},
                                 {"e2m1x2", 2, 1, 1, 0, 8, 0, 0},
                                 {"e2m3x2", 2, 3, 1, 0, 32, 0, 0},
                                 {"e3m2x2", 3, 2, 3, 0, 32, 0, 0}};
enum { FORMATS = sizeof formats / sizeof *formats, F16 = 0, BF16 = 1, TF32 = 2, E4M3 = 3, E2M1 = 5 };

static double numbers[MAX_NUMBERS]; /* of the format that list_numbers() was called with */

static double number_of(const Format *format, uint32_t code) {
    uint32_t unit = 1u << format->fraction_bits, exponent = code / unit;
    double value = exponent ? 1.0 + (double)(code % unit) / unit : (double)(code % unit) / unit;
    int power = (int)(exponent ? exponent : 1) - format->bias;
    return value * pow(2.0, power);
}

static void list_numbers(const Format *format) {
    for (uint32_t code = 0; code < format->count; code++)
        numbers[code] = number_of(format, code);
}

typedef struct {
    bool relu, finite;
    char mode; /* n, z, a(way) */
} Rounding;

/* The code of the greatest number that is not greater. */
static uint32_t floor_code(const Format *format, double magnitude) {
    uint32_t low = 0, high = format->count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (numbers[middle] <= magnitude)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t expected(const Format *format, double value, Rounding how) {
    uint32_t sign = 1u << (format->exponent_bits + format->fraction_bits), largest = format->count - 1;
    bool negative = signbit(value);
    double magnitude = fabs(value);
    if (isnan(value)) return format->nan ? format->nan : largest;
    if (negative && how.relu) return 0;
    if (!negative) sign = 0;
    uint32_t beyond = how.finite || !format->infinity ? largest : format->infinity;
    if (isinf(magnitude)) return sign | beyond;
    uint32_t code = floor_code(format, magnitude);
    double gap = numbers[largest] - numbers[largest - 1];
    double above = code == largest ? numbers[largest] + gap : numbers[code + 1];
    double middle = numbers[code] + (above - numbers[code]) / 2;
    bool up = how.mode != 'z' &&
              (magnitude > middle || (magnitude == middle && (how.mode == 'a' || code % 2 == 1)));
    if (code == largest && up) return sign | beyond;
    if (code == largest) return sign | largest;
    return sign | (code + up);
}

static uint32_t random_bits(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 32);
}

/* Numbers of the format, the middles between them, their neighbours in f32, and whatever there is. */
static float sample(const Format *format, int i) {
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000,
                                       0x7fc00000, 0xffffffff, 0x7f7fffff, 1,
                                       0x00800000, 0x33800000, 0x33000000, 0xb3000001};
    uint32_t code = random_bits() % format->count, bits = random_bits();
    if (i < 12)
        memcpy(&bits, &special[i], 4);
    else if (i % 4) {
        double value = number_of(format, code);
        if (i % 2) value = (value + number_of(format, code + 1)) / 2;
        float near = (float)value;
        memcpy(&bits, &near, 4);
        if (i % 8 > 4) bits += i % 16 > 8 ? 1u : bits ? -1u : 0;
        bits ^= random_bits() & 0x80000000u;
    }
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static void check_lanes(const Format *format, const char *form, Rounding how, bool pair) {
    enum { ROUNDS = 400 };
    list_numbers(format);
    for (int round = 0; round < ROUNDS; round++) {
        float a[WARP_LANES], b[WARP_LANES];
        for (int lane = 0; lane < WARP_LANES; lane++) {
            a[lane] = sample(format, round * WARP_LANES + lane);
            b[lane] = sample(format, round * WARP_LANES + (lane + 7) % WARP_LANES);
            set_u32(1, lane, F(a[lane]));
            set_u32(2, lane, F(b[lane]));
        }
        execute(form, pair ? "r4 r4 r4" : "r4 r4");
        int width = !strncmp(format->name, "e2m1", 4) ? 4 : format->name[0] == 'e' ? 8 : 16;
        for (int lane = 0; lane < WARP_LANES; lane++) {
            uint32_t want = expected(format, (double)a[lane], how);
            if (format->shift) want = isnan(a[lane]) ? 0x7fffffff : want << format->shift;
            if (pair) want = want << width | expected(format, (double)b[lane], how);
            ck_assert_msg(get_u32(0, lane) == want, "%s of %a, %a: 0x%x, expected 0x%x", form,
                          (double)a[lane], (double)b[lane], get_u32(0, lane), want);
        }
    }
}

START_TEST(floats_of_16_and_19_bits_are_rounded_once) {
    static const char *const words[] = {"rn", "rz", "rna"};
    for (int f = F16; f <= TF32; f++)
        for (int modes = 0; modes < 12; modes++) {
            Rounding how = {modes / 3 % 2, modes / 6, "nza"[modes % 3]};
            char form[64];
            if (how.mode == 'a' && (f != TF32 || how.relu)) continue;
            snprintf(form, sizeof form, "cvt.%s%s%s.%s.f32", words[modes % 3], how.relu ? ".relu" : "",
                     how.finite ? ".satfinite" : "", formats[f].name);
            check_lanes(&formats[f], form, how, false);
            if (f == TF32) continue;
            snprintf(form, sizeof form, "cvt.%s%s%s.%sx2.f32", words[modes % 3], how.relu ? ".relu" : "",
                     how.finite ? ".satfinite" : "", formats[f].name);
            check_lanes(&formats[f], form, how, true);
        }
}
END_TEST

START_TEST(pairs_of_8_bits_and_less_end_at_the_largest_number) {
    for (int f = E4M3; f < FORMATS; f++)
        for (int relu = 0; relu < 2; relu++) {
            char form[64];
            snprintf(form, sizeof form, "cvt.rn.satfinite%s.%s.f32", relu ? ".relu" : "", formats[f].name);
            check_lanes(&formats[f], form, (Rounding){relu, true, 'n'}, true);
        }
}
END_TEST

static double f16_value(uint32_t bits) {
    double value = (bits & 0x7fff) < 0x7c00    ? number_of(&formats[F16], bits & 0x7fff)
                   : (bits & 0x7fff) == 0x7c00 ? INFINITY
                                               : NAN;
    return bits & 0x8000 ? -value : value;
}

/* All codes become f16, and the f16 they become turn back into them. */
START_TEST(pairs_of_8_bits_and_less_become_f16_and_come_back) {
    for (int f = E4M3; f < FORMATS; f++) {
        const Format *format = &formats[f];
        int digits = format->exponent_bits + format->fraction_bits, width = f == E2M1 ? 4 : 8;
        char there[64], back[64];
        snprintf(there, sizeof there, "cvt.rn.f16x2.%s", format->name);
        snprintf(back, sizeof back, "cvt.rn.satfinite.%s.f16x2", format->name);
        for (uint32_t code = 0; code < format->count; code++) {
            uint32_t lower = code | 1u << digits;
            set_all("r4 r4", 1, code << width | lower);
            execute(there, "r4 r4");
            uint32_t pair = get_u32(0, 5);
            ck_assert_double_eq(f16_value(pair >> 16), number_of(format, code));
            ck_assert_double_eq(f16_value(pair & 0xffff), -number_of(format, code));
            set_all("r4 r4", 1, pair);
            execute(back, "r4 r4");
            ck_assert_uint_eq(get_u32(0, 5), code << width | lower);
        }
        if (!format->nan) continue;
        set_all("r4 r4", 1, format->nan << 8 | (format->infinity ? format->infinity : 0x7e));
        execute(there, "r4 r4");
        ck_assert_uint_eq(get_u32(0, 0), 0x7fff0000 | (format->infinity ? 0x7c00 : 0x5f00)); /* 448 */
    }
}
END_TEST

/* The exponent, one more where digits are left and it rounds up. */
static uint32_t power_above(float value, bool up, bool finite) {
    uint32_t bits = F(fabsf(value)), code = bits >> 23;
    if (isnan(value)) return 0xff;
    if (up && (bits & 0x7fffff) && bits > 0x400000) code++; /* 0x400000: 2^-127 */
    return finite && code == 0xff ? 0xfe : code;
}

START_TEST(scales_are_powers_of_two) {
    for (int kind = 0; kind < 8; kind++) {
        bool up = kind & 1, finite = kind & 2, packed = kind & 4;
        char form[64];
        snprintf(form, sizeof form, "cvt.%s%s.ue8m0x2.%s", up ? "rp" : "rz", finite ? ".satfinite" : "",
                 packed ? "bf16x2" : "f32");
        for (int i = 0; i < 4096; i++) {
            uint32_t kept = packed ? 0xffff0000 : UINT32_MAX, a = F(sample(&formats[BF16], i)) & kept,
                     b = F(sample(&formats[TF32], i + 5)) & kept;
            float upper, lower;
            if (i % 3 == 0) a &= 0x807fffff; /* too small for an exponent */
            memcpy(&upper, &a, 4);
            memcpy(&lower, &b, 4);
            set_all("r4 r4 r4", 1, packed ? a | b >> 16 : a);
            if (!packed) set_all("r4 r4 r4", 2, b);
            execute(form, packed ? "r4 r4" : "r4 r4 r4");
            ck_assert_msg(get_u32(0, 3) ==
                              (power_above(upper, up, finite) << 8 | power_above(lower, up, finite)),
                          "%s of %a, %a: 0x%x", form, (double)upper, (double)lower, get_u32(0, 3));
        }
    }
    for (uint32_t code = 0; code < 256; code++) {
        set_all("r4 r4", 1, code << 8 | (255 - code));
        execute("cvt.rn.bf16x2.ue8m0x2", "r4 r4");
        for (int i = 0; i < 2; i++) {
            uint32_t one = i ? code : 255 - code;
            uint32_t want = one == 255 ? 0x7fff : F((float)pow(2.0, (double)one - 127)) >> 16;
            ck_assert_uint_eq(get_u32(0, 9) >> 16 * i & 0xffff, want);
        }
    }
}
END_TEST

/* What an integer type holds of a value that was rounded to an integer. */
static uint64_t clamped(double value, int bits, bool is_signed) {
    if (isnan(value)) return bits == 64 ? 1ull << 63 : 0;
    double limit = pow(2.0, bits - is_signed), least = is_signed ? -limit : 0;
    if (value >= limit) return is_signed ? (1ull << (bits - 1)) - 1 : ~0ull >> (64 - bits);
    if (value < least) value = least;
    return value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
}

START_TEST(all_f16_and_bf16_become_integers) {
    static const char *const types[] = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
    static const char *const modes[] = {"rni", "rzi", "rmi", "rpi"};
    for (int kind = 0; kind < 2 * 8 * 4; kind++) {
        int type = kind / 2 % 8, mode = kind / 16, bits = 8 << (type / 2);
        char form[64];
        snprintf(form, sizeof form, "cvt.%s.%s.%s", modes[mode], types[type], kind % 2 ? "bf16" : "f16");
        for (uint32_t first = 0; first < 0x10000; first += WARP_LANES) {
            for (int lane = 0; lane < WARP_LANES; lane++)
                set_u32(1, lane, first + (uint32_t)lane);
            execute(form, bits == 64 ? "r8 r2" : "r4 r2");
            for (int lane = 0; lane < WARP_LANES; lane++) {
                uint32_t code = first + (uint32_t)lane;
                float wide;
                uint32_t above = code << 16;
                memcpy(&wide, &above, 4);
                double value = kind % 2 ? (double)wide : f16_value(code);
                value = mode == 0   ? rint(value)
                        : mode == 1 ? trunc(value)
                        : mode == 2 ? floor(value)
                                    : ceil(value);
                uint64_t want = clamped(value, bits, type % 2),
                         mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
                uint64_t got = bits == 64 ? get_u64(0, lane) : get_u32(0, lane);
                ck_assert_msg((got & mask) == (want & mask), "%s of 0x%x: 0x%lx, expected 0x%lx", form, code,
                              got, want);
            }
        }
    }
}
END_TEST

START_TEST(integers_become_f16_and_bf16_by_one_rounding) {
    static const char *const types[] = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
    for (int kind = 0; kind < 16; kind++) {
        const Format *format = &formats[kind / 8];
        int type = kind % 8, bits = 8 << (type / 2);
        char form[64];
        list_numbers(format);
        snprintf(form, sizeof form, "cvt.rn.%s.%s", format->name, types[type]);
        for (int round = 0; round < 200; round++) {
            uint64_t raw[WARP_LANES];
            for (int lane = 0; lane < WARP_LANES; lane++) {
                raw[lane] = ((uint64_t)random_bits() << 32 | random_bits()) >> random_bits() % 64;
                /* Just beside the middle between two numbers of 8 digits, in the last bit */
                if (bits == 64 && lane % 2)
                    raw[lane] = (0x8080ull + 2 * (random_bits() & 0x7f00)) << 46 | (random_bits() & 1);
                if (bits == 64)
                    set_u64(1, lane, raw[lane]);
                else
                    set_u32(1, lane, (uint32_t)raw[lane]);
            }
            execute(form, bits == 64 ? "r4 r8" : "r4 r4");
            for (int lane = 0; lane < WARP_LANES; lane++) {
                uint64_t value = bits == 64 ? raw[lane] : raw[lane] & ((1ull << bits) - 1);
                bool negative = type % 2 && value >> (bits - 1) & 1;
                if (negative) value = (0 - value) & (bits == 64 ? ~0ull : (1ull << bits) - 1);
                /* A long double has all digits. */
                uint32_t code = floor_code(format, (double)(value >> 53 ? value >> 11 << 11 : value));
                long double low = (long double)numbers[code], exact = (long double)value;
                if (code + 1 < format->count) {
                    long double high = (long double)numbers[code + 1], middle = low + (high - low) / 2;
                    if (exact > middle || (exact == middle && code % 2)) code++;
                } else if (exact >= 65520) {
                    code = format->infinity;
                }
                uint32_t want = code | (negative ? 0x8000 : 0);
                ck_assert_msg(get_u32(0, lane) == want, "%s of 0x%lx: 0x%x, expected 0x%x", form, raw[lane],
                              get_u32(0, lane), want);
            }
        }
    }
}
END_TEST

START_TEST(f16_and_bf16_round_to_integers_and_saturate) {
    static const struct {
        const char *form;
        uint32_t from, to;
    } cases[] = {{"cvt.rni.f16.f16", 0x3e00, 0x4000},   {"cvt.rzi.f16.f16", 0x3e00, 0x3c00},   /* 1.5 */
                 {"cvt.rmi.f16.f16", 0xb800, 0xbc00},   {"cvt.rpi.f16.f16", 0xb800, 0x8000},   /* -0.5 */
                 {"cvt.rni.bf16.bf16", 0x4020, 0x4000}, {"cvt.rpi.bf16.bf16", 0x4020, 0x4040}, /* 2.5 */
                 {"cvt.sat.f16.f16", 0x4000, 0x3c00},   {"cvt.sat.f16.f16", 0xbc00, 0},
                 {"cvt.sat.f16.f16", 0x7e00, 0},        {"cvt.rni.f16.f16", 0x7c00, 0x7c00},
                 {"cvt.rn.bf16.f16", 0x3c01, 0x3f80},   {"cvt.rn.f16.bf16", 0x3f81, 0x3c08},
                 {"cvt.rn.f16.bf16", 0x7f00, 0x7c00},   {"cvt.rz.f16.bf16", 0x7f00, 0x7bff},
                 {"cvt.f16.bf16", 0x3f81, 0x3c08},      {"cvt.bf16.f16", 0x3c0c, 0x3f82}, /* a tie */
                 {"cvt.rn.f16.bf16", 0xffff, 0x7fff}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_all("r2 r2", 1, cases[i].from);
        execute(cases[i].form, "r2 r2");
        ck_assert_msg(get_u32(0, 3) == cases[i].to, "%s of 0x%x: 0x%x, expected 0x%x", cases[i].form,
                      cases[i].from, get_u32(0, 3), cases[i].to);
    }
    set_all("r8 r2", 1, 0xc049);
    execute("cvt.f64.bf16", "r8 r2");
    ck_assert_uint_eq(get_u64(0, 0), D(-3.140625));
    set_all("r4 r2", 1, 1); /* a subnormal */
    execute("cvt.f32.bf16", "r4 r2");
    ck_assert_uint_eq(get_u32(0, 0), 0x10000);
    execute("cvt.ftz.f32.bf16", "r4 r2");
    ck_assert_uint_eq(get_u32(0, 0), 0);
    set_all("r2 r8", 1,
            D(1.00390625 + 0x1p-40)); /* above the middle of 1 and the next bf16 in the last place */
    execute("cvt.rn.bf16.f64", "r2 r8");
    ck_assert_uint_eq(get_u32(0, 0), 0x3f81);
}
END_TEST

Suite *narrow_floats_suite(void) {
    Suite *suite = suite_create("narrow_floats");
    TCase *values = tcase_create("values");
    tcase_add_checked_fixture(values, warp_setup, warp_teardown);
    tcase_set_timeout(values, 60);
    tcase_add_test(values, floats_of_16_and_19_bits_are_rounded_once);
    tcase_add_test(values, pairs_of_8_bits_and_less_end_at_the_largest_number);
    tcase_add_test(values, pairs_of_8_bits_and_less_become_f16_and_come_back);
    tcase_add_test(values, scales_are_powers_of_two);
    tcase_add_test(values, all_f16_and_bf16_become_integers);
    tcase_add_test(values, integers_become_f16_and_bf16_by_one_rounding);
    tcase_add_test(values, f16_and_bf16_round_to_integers_and_saturate);
    suite_add_tcase(suite, values);
    return suite;
}
