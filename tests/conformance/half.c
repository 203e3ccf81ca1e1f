/* f16, bf16, and two of them in a register. */
#include "tests/conformance/reference.h"

#include <math.h>
#include <string.h>

typedef enum { ADD, SUB, MUL, FMA, MIN, MAX, NEG, ABS, EX2, TANH } Operation;

static uint64_t finished(const Job *job, uint64_t bits) {
    Exact value = exact_of(bits, job->format), one = exact_of_integer(1);
    bool low = value.kind != CLASS_NAN && (value.negative || value.kind == CLASS_ZERO);
    if (job->ftz) bits = exact_flushed(bits, job->format);
    if (job->relu && low) return 0;
    if (!job->saturate) return bits;
    if (low || value.kind == CLASS_NAN) return 0;
    return exact_compare(value, one) > 0 ? exact_round(one, job->format, TO_NEAREST) : bits;
}

static uint64_t smaller_or_larger(const Job *job, uint64_t a, uint64_t b) {
    bool a_nan = is_nan(a, job->format), b_nan = is_nan(b, job->format);
    if ((a_nan && b_nan) || (job->nan_wins && (a_nan || b_nan))) return 0x7fff;
    if (a_nan || b_nan) return a_nan ? b : a;
    Exact x = exact_of(a, job->format), y = exact_of(b, job->format);
    int order = exact_compare(x, y);
    if (order == 0 && x.negative != y.negative) order = x.negative ? -1 : 1;
    return (order <= 0) == (job->selector == MIN) ? a : b;
}

/* Of magnitudes, with the sign that the product has. */
static uint64_t extreme(const Job *job, uint64_t a, uint64_t b) {
    if (!job->high) return smaller_or_larger(job, a, b);
    uint64_t d = smaller_or_larger(job, a & 0x7fff, b & 0x7fff);
    return is_nan(d, job->format) ? d : d | ((a ^ b) & 0x8000);
}

static uint64_t rounded(const Job *job, Exact value) {
    return job->ftz ? exact_round_flushed(value, job->format, TO_NEAREST)
                    : exact_round(value, job->format, TO_NEAREST);
}

static uint64_t computed(const Job *job, const uint64_t *in, int shift) {
    uint64_t bits[3];
    Exact x[3];
    for (int k = 0; k < 3; k++) {
        bits[k] = in[k] >> shift & 0xffff;
        if (job->ftz) bits[k] = exact_flushed(bits[k], job->format);
        x[k] = exact_of(bits[k], job->format);
    }
    switch ((Operation)job->selector) {
    case ADD: return rounded(job, exact_add(x[0], x[1], TO_NEAREST));
    case SUB: return rounded(job, exact_add(x[0], exact_negated(x[1]), TO_NEAREST));
    case MUL: return rounded(job, exact_multiply(x[0], x[1]));
    case FMA: return rounded(job, exact_add(exact_multiply(x[0], x[1]), x[2], TO_NEAREST));
    case NEG: return bits[0] ^ 0x8000;
    case ABS: return bits[0] & 0x7fff;
    default: return extreme(job, bits[0], bits[1]);
    }
}

static void apply_half(const Job *job, const uint64_t *in, Result *out) {
    uint64_t value = 0;
    for (int half = 0; half < job->lanes; half++)
        value |= finished(job, computed(job, in, 16 * half)) << 16 * half;
    put_number(out, value, job->format);
    out->part_bits = job->lanes > 1 ? 16 : 0;
    out->any_zero = job->saturate || job->relu;
    /* Arithmetic makes one NaN; neg and abs keep one. */
    if (job->selector < NEG && !out->any_zero) out->kind = RESULT_EXACT;
}

static void bounds(const Job *job, uint64_t bits, long double *least, long double *most) {
    bool brain = job->format.fraction == format_bf16.fraction;
    Exact exact = exact_of(job->ftz ? exact_flushed(bits, job->format) : bits, job->format);
    long double a = ldexpl((long double)(uint64_t)exact.digits, exact.exponent);
    if (exact.kind == CLASS_INFINITE) a = INFINITY;
    if (exact.kind == CLASS_NAN) a = NAN;
    if (exact.negative) a = -a;
    long double value = job->selector == EX2 ? exp2l(a) : tanhl(a);
    long double error = job->selector == TANH ? (brain ? 0x1p-8L : 0x1.03p-11L)
                                              : value * (brain ? 0x1p-7L : 0x1.13p-10L);
    long double limit = brain ? 0x1.fep127L : 65504;
    long double least_normal = brain ? 0x1p-126L : 0x1p-14L, least_step = brain ? 0x1p-133L : 0x1p-24L;
    if (!isfinite(value) || exact.kind == CLASS_INFINITE) error = 0;
    *least = value - error;
    *most = value + error;
    if (job->selector == TANH) return;
    if (value < 2 * least_normal) *least -= least_step, *most += least_step;
    if (job->ftz && value < least_normal * 1.001L) *least = 0;
    if (isfinite(value) && *most > limit) *most = INFINITY;
}

/* Within the errors that the ISA documents. */
static void apply_approximate(const Job *job, const uint64_t *in, Result *out) {
    *out = (Result){.kind = RESULT_WITHIN, .format = job->format, .part_bits = job->lanes > 1 ? 16 : 0};
    bounds(job, in[0] & 0xffff, &out->least, &out->most);
    bounds(job, in[0] >> 16, &out->least_above, &out->most_above);
}

/* What the ISA does not have. */
static const char *illegal(const Job *job, bool brain, bool rounded) {
    Operation operation = (Operation)job->selector;
    if (job->relu && operation != FMA) return "of these only fma has relu";
    if (job->relu && job->saturate) return "relu excludes sat";
    if (operation == EX2 && brain != job->ftz) return "ex2 of bf16 has ftz, of f16 not";
    if (operation == TANH && job->ftz) return "tanh has no ftz";
    if (brain && (job->saturate || (job->ftz && operation != EX2))) return "bf16 has neither ftz nor sat";
    if (operation == FMA && !rounded) return "fma says how it rounds";
    return NULL;
}

bool half_reference(Job *job) {
    static const char *const names[] = {"add", "sub", "mul", "fma", "min",
                                        "max", "neg", "abs", "ex2", "tanh"};
    static const char *const types[] = {"f16", "f16x2", "bf16", "bf16x2"};
    Form *form = &job->form;
    job->selector = -1;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(form->opcode, names[i]) == 0) job->selector = i;
    int type = -1;
    for (int i = 0; i < 4 && form->type_count == 1; i++)
        if (strcmp(form->types[0], types[i]) == 0) type = i;
    if (job->selector < 0 || type < 0) return false;
    Operation operation = (Operation)job->selector;
    job->format = type < 2 ? format_f16 : format_bf16;
    job->lanes = type % 2 + 1;
    job->ftz = take_word(form, "ftz");
    job->saturate = take_word(form, "sat");
    job->relu = take_word(form, "relu");
    job->nan_wins = take_word(form, "NaN");
    bool rounded = take_word(form, "rn"), approximate = take_word(form, "approx");
    job->high = has_word(form, "xorsign") && has_word(form, "abs");
    if (job->high) take_word(form, "xorsign"), take_word(form, "abs");
    const char *why = illegal(job, type >= 2, rounded);
    if (operation >= EX2 && !approximate) why = "ex2 and tanh are approximate, and say so";
    if (why) return job_refused(job, NOT_IN_ISA, why), true;
    job_done(job, "half precision", operation >= EX2 ? apply_approximate : apply_half, NULL);
    if (!only_types(form)) job_refused(job, UNKNOWN_FORM, "a modifier without a reference");
    const char *kind = types[type];
    if (operation == FMA) {
        add_signature(job, "%s:%s,%s,%s", kind, kind, kind, kind);
    } else if (operation >= NEG) {
        add_signature(job, "%s:%s", kind, kind);
    } else {
        add_signature(job, "%s:%s,%s", kind, kind, kind);
    }
    return true;
}
