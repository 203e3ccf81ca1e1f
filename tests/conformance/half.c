/* f16, bf16, and two of them in a register. */
#include "tests/conformance/reference.h"

#include <string.h>

typedef enum { ADD, SUB, MUL, FMA, MIN, MAX, NEG, ABS } Operation;

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

static uint64_t computed(const Job *job, const uint64_t *in, int shift) {
    uint64_t bits[3];
    Exact x[3];
    for (int k = 0; k < 3; k++) {
        bits[k] = in[k] >> shift & 0xffff;
        if (job->ftz) bits[k] = exact_flushed(bits[k], job->format);
        x[k] = exact_of(bits[k], job->format);
    }
    switch ((Operation)job->selector) {
    case ADD: return exact_round(exact_add(x[0], x[1], TO_NEAREST), job->format, TO_NEAREST);
    case SUB: return exact_round(exact_add(x[0], exact_negated(x[1]), TO_NEAREST), job->format, TO_NEAREST);
    case MUL: return exact_round(exact_multiply(x[0], x[1]), job->format, TO_NEAREST);
    case FMA:
        return exact_round(exact_add(exact_multiply(x[0], x[1]), x[2], TO_NEAREST), job->format, TO_NEAREST);
    case NEG: return bits[0] ^ 0x8000;
    case ABS: return bits[0] & 0x7fff;
    default: return smaller_or_larger(job, bits[0], bits[1]);
    }
}

static void apply_half(const Job *job, const uint64_t *in, Result *out) {
    uint64_t value = 0;
    for (int half = 0; half < job->lanes; half++)
        value |= finished(job, computed(job, in, 16 * half)) << 16 * half;
    put_number(out, value, job->format);
    out->pair = job->lanes > 1;
    out->any_zero = job->saturate || job->relu;
    /* Arithmetic makes one NaN; neg and abs keep one. */
    if (job->selector < NEG && !out->any_zero) out->kind = RESULT_EXACT;
}

bool half_reference(Job *job) {
    static const char *const names[] = {"add", "sub", "mul", "fma", "min", "max", "neg", "abs"};
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
    bool rounded = take_word(form, "rn"), brain = type >= 2;
    const char *why = NULL;
    if (job->relu && operation != FMA) why = "of these only fma has relu";
    if (job->relu && job->saturate) why = "relu excludes sat";
    if (brain && (job->saturate || job->ftz)) why = "bf16 has neither ftz nor sat";
    if (operation == FMA && !rounded) why = "fma says how it rounds";
    if (why) return job_refused(job, NOT_IN_ISA, why), true;
    job_done(job, "half precision", apply_half, NULL);
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
