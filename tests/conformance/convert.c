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

/* Flushed subnormals do not arise from integers. */
static void apply_to_float(const Job *job, const uint64_t *in, Result *out) {
    Exact value = exact_of_integer(as_integer(in[0], job->from_bits, job->from_signed));
    uint64_t bits = exact_round(value, job->format, job->rounding);
    if (job->saturate) bits = in_unit_interval(bits, job->format);
    put_number(out, bits, job->format);
}

static Exact source_of(const Job *job, uint64_t bits) {
    bool flush = job->ftz && job->from_format.fraction == format_f32.fraction;
    return exact_of(flush ? exact_flushed(bits, format_f32) : bits, job->from_format);
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

static uint64_t converted(const Job *job, uint64_t bits) {
    Exact value = source_of(job, bits);
    if (job->wide) value = exact_integral(value, job->rounding);
    bool flush = job->ftz && job->format.fraction == format_f32.fraction;
    bits = flush ? exact_round_flushed(value, job->format, job->rounding)
                 : exact_round(value, job->format, job->rounding);
    if (job->saturate) bits = in_unit_interval(bits, job->format);
    if (job->relu && value.kind != CLASS_NAN && (value.negative || value.kind == CLASS_ZERO)) bits = 0;
    return job->finite ? exact_finite(bits, job->format) : bits;
}

static void apply_float(const Job *job, const uint64_t *in, Result *out) {
    uint64_t bits = converted(job, in[0]);
    bool tf32 = job->format.fraction == format_tf32.fraction && job->format.exponent == format_tf32.exponent;
    if (tf32) bits <<= format_f32.fraction - format_tf32.fraction;
    put_number(out, bits, tf32 ? format_f32 : job->format);
    out->any_zero = job->saturate || job->relu;
}

/* Bits from a value of a pair to the next. */
static int part_bits(Format format) {
    int bits = 1 + format.exponent + format.fraction;
    return bits > 8 ? 16 : bits > 4 ? 8 : 4;
}

/* The upper value is the first of two sources, or the upper one of a source. */
static void apply_pair(const Job *job, const uint64_t *in, Result *out) {
    int part = part_bits(job->format), from_part = part_bits(job->from_format);
    bool packed = job->lanes > 1;
    uint64_t above = packed ? in[0] >> from_part : in[0], below = packed ? in[0] : in[1];
    if (packed) {
        int width = 1 + job->from_format.exponent + job->from_format.fraction;
        above = low_bits(above, width);
        below = low_bits(below, width);
    }
    put_number(out, converted(job, above) << part | converted(job, below), job->format);
    out->part_bits = part;
    out->any_zero = job->relu;
}

static bool format_of(const char *type, Format *format) {
    static const struct {
        const char *name;
        const Format *format;
    } formats[] = {{"f16", &format_f16},     {"f16x2", &format_f16},   {"bf16", &format_bf16},
                   {"bf16x2", &format_bf16}, {"f32", &format_f32},     {"f64", &format_f64},
                   {"tf32", &format_tf32},   {"e4m3x2", &format_e4m3}, {"e5m2x2", &format_e5m2},
                   {"e2m1x2", &format_e2m1}, {"e2m3x2", &format_e2m3}, {"e3m2x2", &format_e3m2}};
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

static bool is_brain(const char *type) {
    return strncmp(type, "bf16", 4) == 0;
}

static void integer_job(Job *job, bool from_float, int rounding) {
    const char *from = job->form.types[1], *why = NULL;
    if (!from_float) {
        if (rounding >= 0 || job->ftz) return job_refused(job, NOT_IN_ISA, "integers are not rounded");
        job_done(job, "cvt: integer to integer", apply_integer, NULL);
    } else {
        if (rounding < 0) why = "cvt from float to integer says how it rounds";
        if (job->ftz && job->from_bits != 32) why = "ftz is for f32";
        if (job->saturate && is_brain(from)) why = "bf16 has no sat";
        if (why) return job_refused(job, NOT_IN_ISA, why);
        job_done(job, "cvt: float to integer", apply_to_integer, NULL);
    }
    add_registers(job, from_float);
}

static void to_float_job(Job *job, int rounding) {
    const char *why = NULL;
    if (rounding < 0) why = "cvt from integer to float says how it rounds";
    if (job->ftz && job->bits != 32) why = "ftz is for f32";
    if (job->saturate && is_brain(job->form.types[0])) why = "bf16 has no sat";
    if (why) return job_refused(job, NOT_IN_ISA, why);
    job_done(job, "cvt: integer to float", apply_to_float, NULL);
    int from = job->from_bits < 16 ? 16 : job->from_bits;
    for (int bits = from; bits <= 64; bits *= 2)
        add_signature(job, "i%d:i%d", job->bits, bits);
}

static void float_job(Job *job, int rounding, int integral) {
    const char *to = job->form.types[0], *from = job->form.types[1], *why = NULL;
    bool same = strcmp(to, from) == 0, f32 = job->bits == 32 || job->from_bits == 32;
    job->wide = integral >= 0;
    if (job->ftz && !f32) why = "ftz is for f32";
    if (job->bits < job->from_bits && rounding < 0) why = "a conversion to fewer bits says how it rounds";
    if (rounding >= 0 && (same || job->bits > job->from_bits))
        why = "a conversion to no fewer bits is not rounded";
    if (rounding == TO_NEAREST_AWAY) why = "rna is for tf32";
    if (integral >= 0 && !same) why = "only between equal types floats become integral";
    if (job->saturate && (is_brain(to) || is_brain(from))) why = "bf16 has no sat";
    if (why) return job_refused(job, NOT_IN_ISA, why);
    job_done(job, "cvt: float to float", apply_float, NULL);
    add_signature(job, "i%d:%s", job->bits, from);
}

/* Floats of less than 32 bits with relu and satfinite, in pairs, and smaller than halves. */
static void narrow_job(Job *job, int rounding, int integral) {
    const char *to = job->form.types[0], *from = job->form.types[1], *why = NULL;
    bool small = *to == 'e', from_small = *from == 'e', tf32 = *to == 't';
    if (job->ftz || job->saturate || integral >= 0) why = "these conversions have no ftz, no sat, no rni";
    if (small || from_small) {
        if (rounding != TO_NEAREST) why = "conversions from and to floats of 8 bits and less have rn";
        if (job->finite != small) why = "to floats of 8 bits and less there is satfinite, from them not";
        if (strcmp(small ? from : to, "f16x2") != 0 && strcmp(from, "f32") != 0)
            return job_refused(job, UNKNOWN_FORM, "no reference of these types");
    } else {
        if (strcmp(from, "f32") != 0) why = "relu and satfinite are for conversions from f32";
        if (rounding != TO_NEAREST && rounding != TO_ZERO && rounding != TO_NEAREST_AWAY)
            why = "conversions with relu or satfinite, to pairs and to tf32 have rn or rz";
        if (rounding == TO_NEAREST_AWAY && (!tf32 || job->relu)) why = "rna is for tf32, and excludes relu";
    }
    if (why) return job_refused(job, NOT_IN_ISA, why);
    bool pair = strstr(to, "x2"), packed = strstr(from, "x2");
    int bits = small ? 16 : job->bits;
    job->lanes = packed ? 2 : 1;
    job_done(job, "cvt: narrow floats", pair ? apply_pair : apply_float, NULL);
    if (from_small) {
        add_signature(job, "i32:i16");
    } else if (packed) {
        add_signature(job, "i16:narrow16x2");
    } else {
        add_signature(job, pair ? "i%d:f32,f32" : "i%d:f32", bits);
        if (small) add_signature(job, "i%d:narrow32,narrow32", bits);
    }
}

/* Of sources a, b and c: a above b, and above both what c has. */
static void apply_pack(const Job *job, const uint64_t *in, Result *out) {
    uint64_t value = job->lanes > 2 ? in[2] << 2 * job->bits : 0;
    SignedWide most = ((SignedWide)1 << (job->is_signed ? job->bits - 1 : job->bits)) - 1;
    SignedWide least = job->is_signed ? -most - 1 : 0;
    for (int k = 0; k < 2; k++) {
        SignedWide element = as_integer(in[k], 32, true);
        element = element > most ? most : element < least ? least : element;
        value |= low_bits((uint64_t)element, job->bits) << (k == 0 ? job->bits : 0);
    }
    put(out, (uint32_t)value);
}

static void pack_job(Job *job) {
    Form *form = &job->form;
    const char *type = form->types[0];
    job->lanes = form->type_count;
    job->bits = type_bits(type);
    job->is_signed = *type == 's';
    bool known = take_word(form, "sat") && only_types(form) && strcmp(form->types[1], "s32") == 0 &&
                 (job->bits == 16 ? job->lanes == 2 : job->lanes == 3 && strcmp(form->types[2], "b32") == 0);
    if (!known) return job_refused(job, UNKNOWN_FORM, "no reference of these types or modifiers");
    job_done(job, "cvt.pack", apply_pack, job->lanes == 2 ? "i32:i32,i32" : "i32:i32,i32,i32");
}

bool convert_reference(Job *job) {
    static const Rounding roundings[] = {TO_NEAREST, TO_ZERO, TO_BELOW, TO_ABOVE, TO_NEAREST_AWAY};
    Form *form = &job->form;
    if (strcmp(form->opcode, "cvt") != 0) return false;
    if (take_word(form, "pack")) return pack_job(job), true;
    if (form->type_count != 2) return job_refused(job, UNKNOWN_FORM, "no reference of these types"), true;
    const char *to = form->types[0], *from = form->types[1];
    int rounding = take_one_of(form, "rn rz rm rp rna"), integral = take_one_of(form, "rni rzi rmi rpi");
    job->ftz = take_word(form, "ftz");
    job->saturate = take_word(form, "sat");
    job->relu = take_word(form, "relu");
    job->finite = take_word(form, "satfinite");
    job->rounding = rounding >= 0 || integral >= 0 ? roundings[rounding >= 0 ? rounding : integral]
                                                   : TO_NEAREST;
    job->bits = type_bits(to);
    job->from_bits = type_bits(from);
    job->is_signed = *to == 's';
    job->from_signed = *from == 's';
    bool to_float = format_of(to, &job->format), from_float = format_of(from, &job->from_format);
    bool known = (to_float || *to == 'u' || *to == 's') && (from_float || *from == 'u' || *from == 's');
    bool narrow = job->relu || job->finite || strstr(to, "x2") || strstr(from, "x2") || *to == 't';
    if (!known || !only_types(form))
        return job_refused(job, UNKNOWN_FORM, "no reference of these types or modifiers"), true;
    if (narrow) {
        narrow_job(job, rounding, integral);
    } else if (to_float && from_float) {
        float_job(job, rounding, integral);
    } else if (to_float) {
        to_float_job(job, rounding);
    } else {
        integer_job(job, from_float, integral);
    }
    return true;
}
