// The device library as compiled for this computer, beside functions of higher precision.
//   libdevice_check ulps SEED COUNT [NAME]   a line for each row of libdevice_rows.h: name, bits, largest error in units in the
//                                            last place, the same as CUDA counts (from the number that is rounded
//                                            correctly), where, how many values, CUDA's bound, and its verdict
//   libdevice_check all NAME                 the same with all floats, for a function of one
//   libdevice_check calls SEED COUNT FILE    all functions with COUNT arguments each: arguments and results
//   libdevice_check exact                    results that programs expect to be exact
//   libdevice_check typical COUNT FILE       arguments alone, from the ranges of the rows
//   libdevice_check names                    the functions in the order of that file
#define _GNU_SOURCE
#include <math.h>
#include <quadmath.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE
#define DECLARE
#include "libdevice_calls.h"

#include "libdevice_references.h"

// ---- rows

#define EVERYWHERE  NULL
#define ABSOLUTE(e) (-(e))
#define NONE        1e300

typedef struct {
    const char *name;
    int bits, arity;
    double (*call)(const double *x);
    quad (*reference)(const double *x);
    double bound; // < 0: absolute
    int (*within)(const double *x);
    double range[4];
} Row;

#define ROW_FUNCTIONS_2(name, line, what, reference)                                                         \
    static double row_call_##line(const double *x) {                                                         \
        return what;                                                                                         \
    }                                                                                                        \
    static quad row_reference_##line(const double *x) {                                                      \
        return (quad)(reference);                                                                            \
    }
#define ROW_FUNCTIONS(name, line, what, reference)   ROW_FUNCTIONS_2(name, line, what, reference)
#define ROW(name, bits, arity, what, reference, ...) ROW_FUNCTIONS(name, __LINE__, what, reference)
#include "libdevice_rows.h"
#undef ROW

#define ROW_ENTRY_2(name, line, bits, arity, bound, within, ...)                                             \
    {#name, bits, arity, row_call_##line, row_reference_##line, bound, within, {__VA_ARGS__}},
#define ROW_ENTRY(name, line, ...)                   ROW_ENTRY_2(name, line, __VA_ARGS__)
#define ROW(name, bits, arity, what, reference, ...) ROW_ENTRY(name, __LINE__, bits, arity, __VA_ARGS__)
static const Row rows[] = {
#include "libdevice_rows.h"
};
#undef ROW

// ---- random arguments

static uint64_t state;

static uint64_t random_bits(void) { // xorshift64*
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1dull;
}

static double random_unit(void) {
    return (double)(random_bits() >> 11) * 0x1p-53;
}

static double to_bits(double x, int bits) {
    return bits == 32 ? (double)(float)x : x;
}

static double any_number(int bits) {
    uint64_t word = random_bits();
    return bits == 32 ? (double)GET_float(word >> 32) : GET_double(word);
}

static const double edges[] = {
    0.0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    12,
    13,
    16,
    17,
    20,
    33,
    34,
    35,
    64,
    100,
    128,
    170,
    171,
    171.5,
    172,
    1000,
    0.5,
    0.25,
    0.75,
    1.5,
    2.5,
    3.5,
    1e-3,
    1e-5,
    1e-8,
    1e-15,
    1e-20,
    1e-30,
    1e-37,
    1e-38,
    1e-40,
    1.5e-45,
    1e-100,
    1e-300,
    2.3e-308,
    1e-310,
    5e-324,
    0x1p-126,
    0x1.fffffcp-127,
    0x1p-149,
    0x1p-1022,
    0x1.fffffffffffffp-1023,
    1e5,
    105615,
    1e8,
    0x1p23,
    0x1p24,
    0x1p31,
    0x1p32,
    0x1p52,
    0x1p53,
    0x1p63,
    0x1p64,
    1e10,
    1e15,
    1e20,
    1e22,
    1e30,
    1e38,
    0x1.fffffep127,
    0x1p127,
    1e100,
    1e300,
    0x1.fffffffffffffp1023,
    0x1.f37f5ap+95 /* near a multiple of pi/2 for float */,
    0x1.6ac5b262ca1ffp+849 /* and for double */,
    16367173 * 0x1p72,
    INFINITY,
    NAN,
    0x1.62e43p+6,
    88.72284,
    709.782712893384,
    -87.33655,
    -103.97208,
    -745.13321910194,
    -708.39641853226,
    1.4142135623730951,
    0.7071067811865476,
    3.141592653589793,
    1.5707963267948966,
    6.283185307179586,
    0.7853981633974483,
    2.718281828459045,
};
#define EDGES ((int)(sizeof edges / sizeof *edges))

/// An edge, or a number or two beside it, with either sign.
static double edge(uint64_t n, int bits) {
    double x = to_bits(edges[n / 6 % EDGES], bits);
    if (n % 3)
        x = bits == 32 ? (double)nextafterf((float)x, n % 3 == 1 ? INFINITY : 0)
                       : nextafter(x, n % 3 == 1 ? INFINITY : 0);
    return n / 3 % 2 ? -x : x;
}

#define EDGE_VALUES ((uint64_t)(6 * EDGES))

static double spread(double low, double high, int bits) {
    return to_bits(low + (high - low) * random_unit(), bits);
}

/// A multiple of a quarter or of pi/4, and beside it by a few units in the last place.
static double near_special(int bits) {
    double step = random_bits() & 1 ? 0.25 : 0.78539816339744830962;
    double x = to_bits(step * (double)((int64_t)(random_bits() % 4001) - 2000), bits);
    for (int steps = (int)(random_bits() % 5); steps; steps--)
        x = bits == 32 ? (double)nextafterf((float)x, 1) : nextafter(x, 1);
    return x;
}

static void choose(const Row *row, uint64_t i, double x[4]) {
    const double *range = row->range;
    if (i < EDGE_VALUES * (row->arity > 1 ? 3 : 1)) {
        x[0] = edge(i, row->bits);
        for (int k = 1; k < 4; k++)
            x[k] = edge(random_bits() % EDGE_VALUES, row->bits);
        return;
    }
    int way = (int)(i % 4);
    if (row->arity == 2 && way == 3) { // a small logarithm times a large number
        int k = (int)(random_bits() % (uint64_t)(row->bits == 32 ? 24 : 53));
        x[0] = to_bits(1 + (random_unit() - 0.5) * ldexp(1, -k), row->bits);
        x[1] = to_bits((random_unit() - 0.5) * ldexp(row->bits == 32 ? 400 : 3000, k), row->bits);
        return;
    }
    for (int k = 0; k < 4; k++) {
        double low = range[k ? 2 : 0], high = range[k ? 3 : 1];
        x[k] = way == 0   ? any_number(row->bits)
               : way == 3 ? near_special(row->bits)
                          : spread(low, high, row->bits);
    }
    if (row->arity > 2 && i % 8 == 0) // of one size
        for (int k = 1; k < 4; k++)
            x[k] = to_bits(x[0] * (random_unit() * 4 - 2), row->bits);
}

// ---- errors

/// The size of a unit in the last place of the numbers of so many bits around x.
static quad unit_at(quad x, int bits) {
    int exponent, lowest = bits == 32 ? -149 : -1074, mantissa = bits == 32 ? 24 : 53;
    frexpq(x, &exponent);
    return scalbnq(1, exponent - mantissa > lowest ? exponent - mantissa : lowest);
}

typedef struct {
    double error, counted; // from what is right, from its rounded value
    double where[4];
    uint64_t values;
} Worst;

static double difference(const Row *row, double got, quad want, double *counted) {
    double rounded = row->bits == 32 ? (double)(float)want : (double)want;
    if (isnan(rounded) || isnan(got)) return *counted = isnan(rounded) == isnan(got) ? 0 : INFINITY;
    if (row->bound < 0 && !isinf(rounded) && !isinf(got)) return *counted = (double)fabsq(got - want);
    if (rounded == 0 && got == 0 && want == 0)
        return *counted = signbit(rounded) == signbit(got) ? 0 : INFINITY;
    if (isinf(rounded) && isinf(got)) return *counted = rounded == got ? 0 : INFINITY;
    // infinity as the number after the largest
    quad over = row->bits == 32 ? 0x1p128Q : 0x1p1024Q;
    quad g = isinf(got) ? copysignq(over, got) : got, r = isinf(rounded) ? copysignq(over, rounded) : rounded;
    quad unit = unit_at(fabsq(r) < over ? r : over / 2, row->bits);
    *counted = (double)(fabsq(g - r) / unit);
    return isinf(rounded) ? *counted : (double)(fabsq(g - want) / unit_at(want, row->bits));
}

static void measure(const Row *row, const double x[4], Worst *worst) {
    if (row->within && !row->within(x)) return;
    double got = row->call(x), counted, error = difference(row, got, row->reference(x), &counted);
    worst->values++;
    if (counted > worst->counted) worst->counted = counted;
    if (error <= worst->error) return;
    worst->error = error;
    memcpy(worst->where, x, sizeof worst->where);
}

static int tell(const Row *row, const Worst *worst) {
    int bad = row->bound < 0 ? worst->counted > -row->bound : worst->counted > row->bound;
    printf("%s %d %.3g %.3g %llu %g %s", row->name, row->bits, worst->error, worst->counted,
           (unsigned long long)worst->values, row->bound, bad ? "WORSE" : "good");
    for (int k = 0; k < row->arity; k++)
        printf(" %a", worst->where[k]);
    printf("\n");
    fflush(stdout);
    return bad;
}

static int ulps(uint64_t seed, uint64_t count, const char *name) {
    int bad = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (name && strcmp(name, rows[r].name) != 0) continue;
        Worst worst = {0};
        state = seed * 0x9e3779b97f4a7c15ull + r + 1;
        for (uint64_t i = 0; i < count; i++) {
            double x[4];
            choose(&rows[r], i, x);
            measure(&rows[r], x, &worst);
        }
        bad |= tell(&rows[r], &worst);
    }
    return bad;
}

static int all_floats(const char *name) {
    int bad = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (strcmp(name, rows[r].name) != 0 || rows[r].bits != 32 || rows[r].arity != 1) continue;
        Worst worst = {0};
        for (uint64_t i = 0; i >> 32 == 0; i++)
            measure(&rows[r], (double[4]){(double)GET_float(i)}, &worst);
        bad |= tell(&rows[r], &worst);
    }
    return bad;
}

// ---- what programs expect to be exact

static int wrong;

static void exact(const char *what, double of, double got, double want) {
    if (got == want && signbit(got) == signbit(want)) return;
    printf("%s of %a: got %a, expected %a\n", what, of, got, want);
    wrong = 1;
}

static int exact_results(void) {
    for (int n = -149; n < 128; n++) {
        exact("powf(2)", n, (double)__nv_powf(2, (float)n), ldexp(1, n));
        exact("powf(-2)", n, (double)__nv_powf(-2, (float)n), ldexp(n % 2 ? -1 : 1, n));
        exact("powif(2)", n, (double)__nv_powif(2, n), ldexp(1, n));
        exact("exp2f", n, (double)__nv_exp2f((float)n), ldexp(1, n));
        exact("log2f", n, (double)__nv_log2f(ldexpf(1, n)), n);
    }
    for (int n = -1074; n < 1024; n++) {
        exact("pow(2)", n, __nv_pow(2, n), ldexp(1, n));
        exact("powi(2)", n, __nv_powi(2, n), ldexp(1, n));
        exact("exp2", n, __nv_exp2(n), ldexp(1, n));
        exact("log2", n, __nv_log2(ldexp(1, n)), n);
    }
    for (int n = 0; n < 256; n++) {
        exact("cbrtf", n, (double)__nv_cbrtf((float)(n * n * n)), n);
        exact("cbrt", n, __nv_cbrt((double)n * n * n), n);
        exact("powf(square)", n, (double)__nv_powf((float)n, 2), (double)n * n);
        exact("pow(cube)", n, __nv_pow(n, 3), (double)n * n * n);
        exact("hypotf", n, (double)__nv_hypotf(3 * (float)n, 4 * (float)n), 5 * (double)n);
        exact("sinpi", n, __nv_sinpi(n), 0);
        exact("cospif", n, (double)__nv_cospif((float)n), n % 2 ? -1 : 1);
    }
    double factorial = 1, ten = 1;
    for (int n = 1; n < 12; n++) {
        exact("tgamma", n, round(__nv_tgamma(n)), factorial);
        factorial *= n;
        ten *= 10;
        exact("log10", ten, __nv_log10(ten), n);
        exact("exp10", n, __nv_exp10(n), ten);
        exact("log10f", ten, (double)__nv_log10f((float)ten), n);
    }
    exact("exp", 0, __nv_exp(0), 1);
    exact("expf", 0, (double)__nv_expf(0), 1);
    exact("cosf", 0, (double)__nv_cosf(0), 1);
    exact("logf", 1, (double)__nv_logf(1), 0);
    exact("lgamma", 2, __nv_lgamma(2), 0);
    exact("erf", INFINITY, __nv_erf(INFINITY), 1);
    exact("atan2", 0, __nv_atan2(0, -1), M_PI);
    return wrong;
}

// ---- all functions, for the comparison with kernels

typedef struct {
    const char *name, *types; // of the arguments, with commas and spaces between them
    void (*call)(const u64 *in, u64 *out);
} Call;

#define CALL1(name, r, ...)        {#name, #__VA_ARGS__, call_##name},
#define CALL2                      CALL1
#define CALL3                      CALL1
#define CALL4                      CALL1
#define CALL1_AND(name, r, s, ...) {#name, #__VA_ARGS__, call_##name},
#define CALL2_AND                  CALL1_AND
#define TWO_RESULTS(name, type)    {#name, #type, call_##name},
#define VECTOR(name, type)         {#name, #type ", " #type ", " #type ", " #type, call_##name},
static const Call calls[] = {
#include "libdevice_functions.h"
};
#define CALLS (sizeof calls / sizeof *calls)

static u64 argument_of(const char *type, uint64_t i, int small) {
    static const int64_t whole[] = {0,
                                    1,
                                    -1,
                                    2,
                                    31,
                                    32,
                                    33,
                                    127,
                                    -128,
                                    255,
                                    32767,
                                    -32768,
                                    0x7fffffff,
                                    -0x80000000ll,
                                    0x100000000ll,
                                    INT64_MAX,
                                    INT64_MIN,
                                    0x8000800080008000ll,
                                    0x7fff7fff7fff7fffll,
                                    0x0102030405060708ll};
    if (strncmp(type, "float", 5) == 0 || strncmp(type, "double", 6) == 0) {
        int bits = *type == 'f' ? 32 : 64, way = (int)(random_bits() % 4);
        double x = way == 0   ? edge(i < EDGE_VALUES ? i : random_bits() % EDGE_VALUES, bits)
                   : way == 1 ? any_number(bits)
                   : way == 2 ? near_special(bits)
                              : spread(-4, 4, bits);
        return bits == 32 ? BIT_CAST(uint, float, x) : BIT_CAST(u64, double, x);
    }
    if (small) return random_bits() % 40;
    u64 word = random_bits() & 1 ? random_bits() : (u64)whole[random_bits() % (sizeof whole / sizeof *whole)];
    return random_bits() & 1 ? word : word >> random_bits() % 64;
}

/// For each function WORDS_IN arguments COUNT times, evenly from the range of its row; those without a row get 1.5s.
static int write_typical(uint64_t count, const char *path) {
    FILE *file = fopen(path, "wb");
    if (!file) return perror(path), 1;
    state = 1;
    for (size_t c = 0; c < CALLS; c++) {
        const Row *row = NULL;
        for (size_t r = 0; !row && r < sizeof rows / sizeof *rows; r++)
            if (!strcmp(rows[r].name, calls[c].name)) row = &rows[r];
        for (uint64_t i = 0; i < count; i++) {
            u64 in[WORDS_IN];
            int first = strncmp(calls[c].types, "int", 3) == 0; // the order of a Bessel function
            for (int k = 0; k < WORDS_IN; k++) {
                int of = k - first;
                double x = row ? spread(row->range[of > 0 ? 2 : 0], row->range[of > 0 ? 3 : 1], row->bits)
                               : 1.5;
                in[k] = !row || row->bits == 64 ? BIT_CAST(u64, double, x) : BIT_CAST(uint, float, x);
            }
            if (first) in[0] = 7;
            fwrite(in, sizeof in, 1, file);
        }
    }
    return fclose(file) != 0;
}

/// For each function WORDS_IN arguments and WORDS_OUT results, COUNT times.
static int write_calls(uint64_t seed, uint64_t count, const char *path) {
    FILE *file = fopen(path, "wb");
    u64 *in = calloc(count, WORDS_IN * sizeof *in), *out = calloc(count, WORDS_OUT * sizeof *out);
    if (!file || !in || !out) return perror(path), 1;
    for (size_t c = 0; c < CALLS; c++) {
        state = seed * 0x9e3779b97f4a7c15ull + c + 1;
        memset(in, 0, count * WORDS_IN * sizeof *in);
        memset(out, 0, count * WORDS_OUT * sizeof *out);
        int small = calls[c].name[1] == 'n' &&
                    strchr("jy", calls[c].name[0]) != NULL; // orders of Bessel functions
        for (uint64_t i = 0; i < count; i++) {
            const char *type = calls[c].types;
            for (int k = 0; type; k++) {
                in[WORDS_IN * i + (uint64_t)k] = argument_of(type, i, small);
                type = strchr(type, ',') ? strchr(type, ',') + 2 : NULL;
            }
            calls[c].call(in + WORDS_IN * i, out + WORDS_OUT * i);
        }
        fwrite(in, WORDS_IN * sizeof *in, count, file);
        fwrite(out, WORDS_OUT * sizeof *out, count, file);
    }
    return fclose(file) != 0;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (!strcmp(what, "ulps") && count >= 4)
        return ulps(strtoull(arguments[2], NULL, 0), strtoull(arguments[3], NULL, 0),
                    count > 4 ? arguments[4] : NULL);
    if (!strcmp(what, "all") && count == 3) return all_floats(arguments[2]);
    if (!strcmp(what, "calls") && count == 5)
        return write_calls(strtoull(arguments[2], NULL, 0), strtoull(arguments[3], NULL, 0), arguments[4]);
    if (!strcmp(what, "exact")) return exact_results();
    if (!strcmp(what, "typical") && count == 4)
        return write_typical(strtoull(arguments[2], NULL, 0), arguments[3]);
    if (!strcmp(what, "names")) {
        for (size_t c = 0; c < CALLS; c++)
            puts(calls[c].name);
        return 0;
    }
    fprintf(stderr,
            "libdevice_check: expected ulps SEED COUNT [NAME], all NAME, exact, calls SEED COUNT FILE, "
            "typical COUNT FILE or names\n");
    return 2;
}
