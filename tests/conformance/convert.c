/* cvt. */
#include "tests/conformance/reference.h"

#include <string.h>

static uint64_t in_unit_interval(uint64_t bits, Format format) {
    Exact value = exact_of(bits, format), one = exact_of_integer(1);
    if (value.kind == CLASS_NAN || value.kind == CLASS_ZERO || value.negative) return 0;
    return exact_compare(value, one) > 0 ? exact_round(one, format, TO_NEAREST) : bits;
}

/* A value of job->bits in a register that may be wider: extended as its type says. */
static uint64_t in_register(const Job *job, uint64_t value) {
    uint64_t extended = (uint64_t)as_integer(value, job->bits, job->is_signed);
    return low_bits(extended, job->result_bits);
}

static void apply_integer(const Job *job, const uint64_t *in, Result *out) {
    SignedWide value = as_integer(in[0], job->from_bits, job->from_signed);
    SignedWide most = ((SignedWide)1 << (job->is_signed ? job->bits - 1 : job->bits)) - 1;
    SignedWide least = job->is_signed ? -most - 1 : 0;
    if (job->saturate) value = value > most ? most : value < least ? least : value;
    put(out, in_register(job, (uint64_t)value));
}

static void apply_to_float(const Job *job, const uint64_t *in, Result *out) {
    Exact value = exact_of_integer(as_integer(in[0], job->from_bits, job->from_signed));
    uint64_t bits = exact_round(value, job->format, job->rounding);
    if (job->saturate) bits = in_unit_interval(bits, job->format);
    put_number(out, bits, job->format);
}

static Exact source_of(const Job *job, uint64_t bits) {
    if (job->ftz && job->from_bits == 32) bits = exact_flushed(bits, format_f32);
    return exact_of(bits, job->from_format);
}

static void apply_to_integer(const Job *job, const uint64_t *in, Result *out) {
    Exact value = source_of(job, in[0]);
    uint64_t bits;
    if (value.kind != CLASS_NAN) {
        bits = exact_to_integer(value, job->rounding, job->bits, job->is_signed);
    } else {
        /* 0 where neither side has 64 bits */
        bits = job->from_bits != 64 && job->bits != 64 ? 0 : 1ull << (job->bits - 1);
    }
    put(out, in_register(job, bits));
}

static void apply_float(const Job *job, const uint64_t *in, Result *out) {
    Exact value = source_of(job, in[0]);
    if (job->wide) value = exact_integral(value, job->rounding);
    uint64_t bits = exact_round(value, job->format, job->rounding);
    if (job->ftz && job->bits == 32) bits = exact_flushed(bits, format_f32);
    if (job->saturate) bits = in_unit_interval(bits, job->format);
    if (job->relu && value.kind != CLASS_NAN && (value.negative || value.kind == CLASS_ZERO)) bits = 0;
    put_number(out, bits, job->format);
    out->any_zero = job->saturate || job->relu;
}

static void apply_pair(const Job *job, const uint64_t *in, Result *out) {
    Result above, below;
    apply_float(job, &in[0], &above);
    apply_float(job, &in[1], &below);
    put_number(out, above.value << 16 | below.value, job->format);
    out->pair = true;
    out->any_zero = job->relu || job->saturate;
}

static bool format_of(const char *type, Format *format) {
    static const struct {
        const char *name;
        const Format *format;
    } formats[] = {{"f16", &format_f16},     {"f16x2", &format_f16}, {"bf16", &format_bf16},
                   {"bf16x2", &format_bf16}, {"f32", &format_f32},   {"f64", &format_f64}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, type) != 0) continue;
        *format = *formats[i].format;
        return true;
    }
    return false;
}

/* Types of at most 32 bits may stand in wider registers, on both sides. */
static void add_registers(Job *job, bool from_float) {
    int to = job->bits < 16 ? 16 : job->bits, from = job->from_bits < 16 ? 16 : job->from_bits;
    for (int to_bits = to; to_bits <= 64; to_bits *= 2) {
        if (from_float) {
            add_signature(job, "i%d:%s", to_bits, job->form.types[1]);
            continue;
        }
        for (int bits = from; bits <= 64 && job->signature_count < MAX_SIGNATURES; bits *= 2)
            add_signature(job, "i%d:i%d", to_bits, bits);
    }
}

static void integer_job(Job *job, bool from_float, int rounding) {
    if (!from_float) {
        if (rounding >= 0 || job->ftz) return job_refused(job, NOT_IN_ISA, "integers are not rounded");
        job_done(job, "cvt: integer to integer", apply_integer, NULL);
    } else {
        if (rounding < 0) return job_refused(job, NOT_IN_ISA, "cvt from float to integer says how it rounds");
        if (job->ftz && job->from_bits == 64) return job_refused(job, NOT_IN_ISA, "ftz is for f32");
        if (job->ftz && job->from_bits == 16) return job_refused(job, NOT_IN_ISA, "ftz is for f32");
        job_done(job, "cvt: float to integer", apply_to_integer, NULL);
    }
    add_registers(job, from_float);
}

static void to_float_job(Job *job, int rounding) {
    if (rounding < 0) return job_refused(job, NOT_IN_ISA, "cvt from integer to float says how it rounds");
    if (job->ftz)
        return job_refused(job, NOT_IN_ISA,
                           "ftz is for conversions from or to f32 that are floats on both sides");
    job_done(job, "cvt: integer to float", apply_to_float, NULL);
    int from = job->from_bits < 16 ? 16 : job->from_bits;
    for (int bits = from; bits <= 64; bits *= 2)
        add_signature(job, "i%d:i%d", job->bits, bits);
}

static void float_job(Job *job, int rounding, int integral) {
    const char *to = job->form.types[0], *from = job->form.types[1];
    bool narrows = job->bits < job->from_bits, same = job->bits == job->from_bits,
         f32 = job->bits == 32 || job->from_bits == 32;
    bool brain = *to == 'b' || *from == 'b';
    job->wide = integral >= 0;
    if (strstr(to, "x2")) narrows = true, same = false;
    const char *why = NULL;
    if (job->ftz && !f32) why = "ftz is for f32";
    if (narrows && rounding < 0) why = "a conversion to fewer bits says how it rounds";
    if (!narrows && rounding >= 0) why = "a conversion to no fewer bits is not rounded";
    if (integral >= 0 && !same) why = "only between equal types floats become integral";
    if (brain && narrows && (job->saturate || job->ftz)) why = "bf16 has neither sat nor ftz";
    if (job->relu && !narrows) why = "relu is for conversions from f32 to halves";
    if (job->relu && job->saturate) why = "relu excludes sat";
    if (job->relu && job->ftz) why = "relu excludes ftz";
    if (strstr(to, "x2") && job->ftz) why = "pairs have no ftz";
    if (why) return job_refused(job, NOT_IN_ISA, why);
    if (strstr(to, "x2")) {
        job->bits = 16;
        job_done(job, "cvt: float to float", apply_pair, "i32:f32,f32");
        return;
    }
    job_done(job, "cvt: float to float", apply_float, NULL);
    add_signature(job, "i%d:%s", job->bits, from);
}

bool convert_reference(Job *job) {
    Form *form = &job->form;
    if (strcmp(form->opcode, "cvt") != 0) return false;
    if (form->type_count != 2) return job_refused(job, UNKNOWN_FORM, "no reference of these types"), true;
    const char *to = form->types[0], *from = form->types[1];
    int rounding = take_one_of(form, "rn rz rm rp"), integral = take_one_of(form, "rni rzi rmi rpi");
    job->ftz = take_word(form, "ftz");
    job->saturate = take_word(form, "sat");
    job->relu = take_word(form, "relu");
    job->rounding = rounding >= 0 ? (Rounding)rounding : integral >= 0 ? (Rounding)integral : TO_NEAREST;
    job->bits = type_bits(to);
    job->from_bits = type_bits(from);
    job->is_signed = *to == 's';
    job->from_signed = *from == 's';
    bool to_float = format_of(to, &job->format), from_float = format_of(from, &job->from_format);
    bool known = (to_float || *to == 'u' || *to == 's') && (from_float || *from == 'u' || *from == 's');
    if (!known || !only_types(form))
        return job_refused(job, UNKNOWN_FORM, "no reference of these types or modifiers"), true;
    if (to_float && from_float) {
        float_job(job, rounding, integral);
    } else if (to_float) {
        to_float_job(job, rounding);
    } else {
        integer_job(job, from_float, integral);
    }
    return true;
}
