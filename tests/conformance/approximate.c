/* Approximations: within the error that the ISA documents of the result in long double. */
#include "tests/conformance/reference.h"

#include <math.h>
#include <string.h>

typedef enum { DIV, DIV_FULL, RCP, SQRT, RSQRT, SIN, COS, EX2, LG2, TANH } Operation;

static long double number_of(uint64_t bits, Format format) {
    Exact exact = exact_of(bits, format);
    long double sign = exact.negative ? -1 : 1;
    if (exact.kind == CLASS_NAN) return NAN;
    if (exact.kind == CLASS_INFINITE) return sign * INFINITY;
    return sign * ldexpl((long double)(uint64_t)exact.digits, exact.exponent);
}

static long double computed(const Job *job, long double a, long double b) {
    switch ((Operation)job->selector) {
    case DIV: return fabsl(b) > 0x1p126L ? a * copysignl(0, b) : a / b;
    case DIV_FULL: return a / b;
    case RCP: return 1 / a;
    case SQRT: return sqrtl(a);
    case RSQRT: return a < 0 ? NAN : a == 0 ? copysignl(INFINITY, a) : 1 / sqrtl(a);
    case SIN: return sinl(a);
    case COS: return cosl(a);
    case EX2: return exp2l(a);
    case LG2: return log2l(a);
    case TANH: return tanhl(a);
    }
    return NAN;
}

/* The error that is allowed of a result, relative unless it is absolute. */
static long double error_of(const Job *job, long double a, long double value) {
    bool wide = job->format.fraction == format_f64.fraction;
    long double magnitude = fabsl(value);
    switch ((Operation)job->selector) {
    case DIV:
    case DIV_FULL: return magnitude * 0x1p-22L;
    case RCP: return magnitude * (wide ? 0x1p-20L : 0x1p-23L);
    case SQRT: return magnitude * 0x1p-23L;
    case RSQRT: return magnitude * (wide ? 0x1p-20L : 0x1.13p-23L);
    case SIN:
    case COS: return fabsl(a) <= 2 * (long double)M_PI ? 0x1.6ap-21L : 0x1.3bp-15L;
    case EX2: return magnitude * 0x1p-22L;
    case LG2: return a > 0.5L && a < 2 ? 0x1p-22L : magnitude * 0x1p-22L;
    case TANH: return magnitude * 0x1p-11L;
    }
    return 0;
}

static void apply_approximate(const Job *job, const uint64_t *in, Result *out) {
    Format format = job->format;
    bool wide = format.fraction == format_f64.fraction, binary = job->selector <= DIV_FULL;
    uint64_t first = wide && job->ftz ? in[0] & 0xffffffff00000000u : in[0], second = binary ? in[1] : 0;
    long double a = number_of(job->ftz ? exact_flushed(first, format) : first, format);
    long double b = number_of(job->ftz ? exact_flushed(second, format) : second, format);
    long double value = computed(job, a, b), error = isfinite(value) ? error_of(job, a, value) : 0;
    long double least_normal = wide ? 0x1p-1022L : 0x1p-126L, least_step = wide ? 0x1p-1074L : 0x1p-149L;
    long double limit = wide ? 0x1.fffffffffffffp1023L : 0x1.fffffep127L;
    *out = (Result){.kind = RESULT_WITHIN, .format = format, .least = value - error, .most = value + error};
    if (isnan(value)) return;
    /* The ISA bounds the error up to 100 pi. */
    bool is_unbounded = (job->selector == SIN || job->selector == COS) && fabsl(a) > 100 * (long double)M_PI;
    if (is_unbounded) {
        out->least = -1;
        out->most = 1;
        return;
    }
    /* Half a unit more for subnormal results, and both roundings where the result may be flushed or overflow. */
    if (fabsl(value) < 2 * least_normal) out->least -= least_step, out->most += least_step;
    if (job->ftz && fabsl(value) < least_normal * 1.0001L) {
        out->least = out->least > 0 ? 0 : out->least;
        out->most = out->most < 0 ? 0 : out->most;
    }
    if (isfinite(value) && out->most > limit) out->most = INFINITY;
    if (isfinite(value) && out->least < -limit) out->least = -INFINITY;
}

bool approximate_reference(Job *job) {
    static const char *const names[] = {"div", "div", "rcp", "sqrt", "rsqrt",
                                        "sin", "cos", "ex2", "lg2",  "tanh"};
    Form *form = &job->form;
    job->selector = -1;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(form->opcode, names[i]) == 0 && job->selector < 0) job->selector = i;
    if (job->selector < 0 || form->type_count != 1) return false;
    bool wide = strcmp(form->types[0], "f64") == 0;
    if (!wide && strcmp(form->types[0], "f32") != 0) return false;
    job->ftz = take_word(form, "ftz");
    job->format = wide ? format_f64 : format_f32;
    if (job->selector == DIV && take_word(form, "full")) {
        job->selector = DIV_FULL;
    } else if (!take_word(form, "approx")) {
        job_refused(job, NOT_IN_ISA, "these opcodes are approximate, and say so");
        return true;
    }
    if (wide && (job->selector == SQRT || job->selector <= DIV_FULL || (job->selector == RCP && !job->ftz))) {
        job_refused(job, NOT_IN_ISA, "div and sqrt of f64 have no approx and no full, rcp has approx.ftz");
        return true;
    }
    if (!only_types(form)) {
        bool lenient = take_one_of(form, "rn rz rm rp sat approx full") >= 0;
        job_refused(job, lenient ? NOT_IN_ISA : UNKNOWN_FORM,
                    lenient ? "approx and full exclude rounding and sat" : "a modifier without a reference");
        return true;
    }
    job_done(job, "approximations", apply_approximate, NULL);
    add_signature(job, job->selector <= DIV_FULL ? "f%1$d:f%1$d,f%1$d" : "f%1$d:f%1$d", wide ? 64 : 32);
    return true;
}
