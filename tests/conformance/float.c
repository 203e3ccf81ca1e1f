/* f32 and f64: everything that the ISA defines to the last bit. */
#include "tests/conformance/reference.h"

#include <string.h>

typedef enum { ADD, SUB, MUL, FMA, MAD, DIV, RCP, SQRT, MIN, MAX, NEG, ABS, COPYSIGN } Operation;

static Exact operand(const Job *job, uint64_t bits) {
    return exact_of(job->ftz ? exact_flushed(bits, job->format) : bits, job->format);
}

static Exact computed(const Job *job, const uint64_t *in) {
    Exact a = operand(job, in[0]), b = operand(job, in[1]), one = exact_of_integer(1);
    switch ((Operation)job->selector) {
    case ADD: return exact_add(a, b, job->rounding);
    case SUB: return exact_add(a, exact_negated(b), job->rounding);
    case MUL: return exact_multiply(a, b);
    case FMA:
    case MAD: return exact_add(exact_multiply(a, b), operand(job, in[2]), job->rounding);
    case DIV: return exact_divide(a, b);
    case RCP: return exact_divide(one, a);
    default: return exact_root(a);
    }
}

static uint64_t saturated(uint64_t bits, Format format) {
    Exact value = exact_of(bits, format), one = exact_of_integer(1);
    if (value.kind == CLASS_NAN || value.kind == CLASS_ZERO || value.negative) return 0;
    return exact_compare(value, one) > 0 ? exact_round(one, format, TO_NEAREST) : bits;
}

static void finish(const Job *job, uint64_t bits, Result *out) {
    if (job->ftz) bits = exact_flushed(bits, job->format);
    if (job->saturate) bits = saturated(bits, job->format);
    put_number(out, bits, job->format);
    out->any_zero = job->saturate;
    /* f32 has one NaN. */
    if (job->format.fraction == format_f32.fraction && is_nan(bits, job->format)) out->kind = RESULT_EXACT;
}

static void apply_rounded(const Job *job, const uint64_t *in, Result *out) {
    Exact value = computed(job, in);
    uint64_t bits = job->ftz ? exact_round_flushed(value, job->format, job->rounding)
                             : exact_round(value, job->format, job->rounding);
    finish(job, bits, out);
}

/* A number wins over NaN, unless .NaN says otherwise; -0 is less than +0. */
static uint64_t extreme(const Job *job, uint64_t a, uint64_t b) {
    bool a_nan = is_nan(a, job->format), b_nan = is_nan(b, job->format);
    if ((a_nan && b_nan) || (job->nan_wins && (a_nan || b_nan)))
        return exact_round((Exact){.kind = CLASS_NAN}, job->format, TO_NEAREST);
    if (a_nan || b_nan) return a_nan ? b : a;
    Exact x = exact_of(a, job->format), y = exact_of(b, job->format);
    int order = exact_compare(x, y);
    if (order == 0) order = x.negative == y.negative ? 0 : x.negative ? -1 : 1;
    return (order <= 0) == (job->selector == MIN) ? a : b;
}

/* Of two or three; `high`: of magnitudes; `wide`: of magnitudes, with the sign of the product. */
static void apply_min_max(const Job *job, const uint64_t *in, Result *out) {
    uint64_t sign = 1ull << (job->bits - 1), bits[3];
    for (int k = 0; k < 3; k++) {
        bits[k] = job->ftz ? exact_flushed(in[k], job->format) : in[k];
        if (job->high || job->wide) bits[k] &= ~sign;
    }
    uint64_t value = extreme(job, bits[0], bits[1]);
    if (job->source_count == 3) value = extreme(job, value, bits[2]);
    if (job->wide && !is_nan(value, job->format)) value |= (in[0] ^ in[1]) & sign;
    finish(job, value, out);
}

static void apply_sign(const Job *job, const uint64_t *in, Result *out) {
    uint64_t sign = 1ull << (job->bits - 1), a = job->ftz ? exact_flushed(in[0], job->format) : in[0], value;
    switch ((Operation)job->selector) {
    case NEG: value = a ^ sign; break;
    case ABS: value = a & ~sign; break;
    default: put(out, (in[0] & sign) | (in[1] & (sign - 1))); return;
    }
    put_number(out, value, job->format);
}

/* Two values in a register, each for itself. */
static void apply_pair(const Job *job, const uint64_t *in, Result *out) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 32) {
        uint64_t parts[3] = {in[0] >> shift & UINT32_MAX, in[1] >> shift & UINT32_MAX,
                             in[2] >> shift & UINT32_MAX};
        apply_rounded(job, parts, out);
        value |= out->value << shift;
    }
    put_number(out, value, job->format);
    out->part_bits = 32;
}

/* All operands but the last are halves. */
static void apply_mixed(const Job *job, const uint64_t *in, Result *out) {
    Exact a = exact_of(in[0], job->from_format),
          last = exact_of(in[job->selector == FMA ? 2 : 1], job->format);
    if (job->selector == FMA) a = exact_multiply(a, exact_of(in[1], job->from_format));
    if (job->selector == SUB) last = exact_negated(last);
    finish(job, exact_round(exact_add(a, last, job->rounding), job->format, job->rounding), out);
}

static bool mixed_reference(Job *job) {
    Form *form = &job->form;
    bool brain = strcmp(form->types[1], "bf16") == 0;
    if (strcmp(form->types[0], "f32") != 0 || (!brain && strcmp(form->types[1], "f16") != 0)) return false;
    int rounding = take_one_of(form, "rn rz rm rp");
    job->selector = strcmp(form->opcode, "add") == 0   ? ADD
                    : strcmp(form->opcode, "sub") == 0 ? SUB
                    : strcmp(form->opcode, "fma") == 0 ? FMA
                                                       : -1;
    if (job->selector < 0) return false;
    job->rounding = rounding < 0 ? TO_NEAREST : (Rounding)rounding;
    job->saturate = take_word(form, "sat");
    job->format = format_f32;
    job->from_format = brain ? format_bf16 : format_f16;
    if (!only_types(form)) return job_refused(job, UNKNOWN_FORM, "a modifier without a reference"), true;
    if (job->selector == FMA && rounding < 0)
        return job_refused(job, NOT_IN_ISA, "fma says how it rounds"), true;
    job_done(job, "mixed precision", apply_mixed, NULL);
    add_signature(job, job->selector == FMA ? "f32:%1$s,%1$s,f32" : "f32:%s,f32", form->types[1]);
    return true;
}

static void rounded_job(Job *job) {
    Form *form = &job->form;
    Operation operation = (Operation)job->selector;
    int rounding = take_one_of(form, "rn rz rm rp");
    bool single = job->bits == 32;
    job->rounding = rounding < 0 ? TO_NEAREST : (Rounding)rounding;
    job->saturate = take_word(form, "sat");
    if (has_word(form, "approx") || has_word(form, "full")) {
        if (operation == DIV || operation == RCP || operation == SQRT) return; /* approximate.c */
        return job_refused(job, NOT_IN_ISA, "only div, rcp and sqrt have approx, only div has full");
    }
    if (!single && (job->saturate || job->ftz)) return job_refused(job, UNKNOWN_FORM, "ftz and sat of f64");
    if (operation >= DIV && job->saturate)
        return job_refused(job, NOT_IN_ISA, "div, rcp and sqrt have no sat");
    if (rounding < 0 && (operation == FMA || operation >= DIV))
        return job_refused(job, NOT_IN_ISA, "fma, div, rcp and sqrt say how they round");
    bool unary = operation == RCP || operation == SQRT, ternary = operation == FMA || operation == MAD;
    if (job->lanes > 1) {
        job_done(job, "float add, mul, fma", apply_pair,
                 ternary ? "f32x2:f32x2,f32x2,f32x2" : "f32x2:f32x2,f32x2");
        return;
    }
    job_done(job, unary || operation == DIV ? "div, rcp, sqrt" : "float add, mul, fma", apply_rounded, NULL);
    const char *const lists[] = {"f%d:f%d", "f%d:f%d,f%d", "f%d:f%d,f%d,f%d"};
    add_signature(job, lists[unary ? 0 : ternary ? 2 : 1], job->bits, job->bits, job->bits, job->bits);
}

bool float_reference(Job *job) {
    static const char *const names[] = {"add",  "sub", "mul", "fma", "mad", "div",     "rcp",
                                        "sqrt", "min", "max", "neg", "abs", "copysign"};
    Form *form = &job->form;
    if (form->type_count == 2) return mixed_reference(job);
    if (form->type_count != 1) return false;
    job->lanes = strcmp(form->types[0], "f32x2") == 0 ? 2 : 1;
    bool single = strcmp(form->types[0], "f32") == 0 || job->lanes == 2;
    if (!single && strcmp(form->types[0], "f64") != 0) return false;
    job->selector = -1;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(form->opcode, names[i]) == 0) job->selector = i;
    if (job->selector < 0) return false;
    if (job->selector >= DIV && job->selector <= SQRT && (has_word(form, "approx") || has_word(form, "full")))
        return false;
    job->bits = single ? 32 : 64;
    job->format = single ? format_f32 : format_f64;
    job->ftz = take_word(form, "ftz");
    switch ((Operation)job->selector) {
    case MIN:
    case MAX:
        job->nan_wins = take_word(form, "NaN");
        job->wide = take_word(form, "xorsign");
        job->high = take_word(form, "abs") && !job->wide;
        job_done(job, "float min, max, neg, abs, copysign", apply_min_max, NULL);
        if (!job->high) add_signature(job, "f%d:f%d,f%d", job->bits, job->bits, job->bits);
        if (single && !job->wide) add_signature(job, "f32:f32,f32,f32");
        break;
    case NEG:
    case ABS:
    case COPYSIGN:
        job_done(job, "float min, max, neg, abs, copysign", apply_sign, NULL);
        add_signature(job, job->selector == COPYSIGN ? "f%d:f%d,f%d" : "f%d:f%d", job->bits, job->bits,
                      job->bits);
        break;
    default: rounded_job(job); break;
    }
    if (job->standing == HAS_REFERENCE && !only_types(form))
        job_refused(job, UNKNOWN_FORM, "a modifier without a reference");
    return true;
}
