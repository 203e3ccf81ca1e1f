/* setp, set, selp, slct, testp. */
#include "tests/conformance/reference.h"

#include <string.h>

typedef enum { EQ, NE, LT, LE, GT, GE, LO, LS, HI, HS, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_ } Operator;
typedef enum { NO_BOOLEAN = -1, AND, OR, XOR } Boolean;

/* -1, 0, 1; 2: unordered. */
static int order_of(const Job *job, uint64_t a, uint64_t b) {
    if (job->format.fraction == 0) {
        SignedWide x = as_integer(a, job->bits, job->is_signed), y = as_integer(b, job->bits, job->is_signed);
        return x < y ? -1 : x > y;
    }
    a = job->ftz ? exact_flushed(a, job->format) : a;
    b = job->ftz ? exact_flushed(b, job->format) : b;
    if (is_nan(a, job->format) || is_nan(b, job->format)) return 2;
    return exact_compare(exact_of(a, job->format), exact_of(b, job->format));
}

static bool holds(Operator operator, int order) {
    bool unordered = order == 2;
    switch (operator) {
    case EQ: return order == 0;
    case NE: return !unordered && order != 0;
    case LT:
    case LO: return order == -1;
    case LE:
    case LS: return order == -1 || order == 0;
    case GT:
    case HI: return order == 1;
    case GE:
    case HS: return order == 1 || order == 0;
    case EQU: return unordered || order == 0;
    case NEU: return order != 0;
    case LTU: return unordered || order == -1;
    case LEU: return unordered || order <= 0;
    case GTU: return order > 0;
    case GEU: return order >= 0;
    case NUM: return !unordered;
    case NAN_: return unordered;
    }
    return false;
}

static bool combined(const Job *job, bool compared, uint64_t with) {
    switch ((Boolean)job->from_bits) {
    case AND: return compared && with;
    case OR: return compared || with;
    case XOR: return compared != (with != 0);
    default: return compared;
    }
}

static bool compared(const Job *job, const uint64_t *in, int shift) {
    uint64_t a = job->lanes > 1 ? in[0] >> shift & 0xffff : in[0],
             b = job->lanes > 1 ? in[1] >> shift & 0xffff : in[1];
    return holds((Operator)job->selector, order_of(job, a, b));
}

static void apply_setp(const Job *job, const uint64_t *in, Result *out) {
    bool first = compared(job, in, 0), second = job->lanes > 1 ? compared(job, in, 16) : !first;
    put(&out[0], combined(job, first, in[2]));
    put(&out[1], combined(job, second, in[2]));
}

static void apply_set(const Job *job, const uint64_t *in, Result *out) {
    const char *type = job->form.types[0];
    uint64_t one = 0xffffffff;
    bool low = combined(job, compared(job, in, 0), in[2]);
    if (strcmp(type, "f32") == 0) one = 0x3f800000;
    if (strncmp(type, "f16", 3) == 0) one = 0x3c00;
    if (strncmp(type, "bf16", 4) == 0) one = 0x3f80;
    if (strcmp(type, "u16") == 0 || strcmp(type, "s16") == 0 ||
        (job->lanes > 1 && *type != 'f' && *type != 'b'))
        one = 0xffff;
    uint64_t value = low ? one : 0;
    if (job->lanes > 1 && combined(job, compared(job, in, 16), in[2])) value |= one << 16;
    put(out, value);
}

static void compare_job(Job *job, bool is_set) {
    Form *form = &job->form;
    const char *type = form->types[is_set ? 1 : 0];
    bool half = strstr(type, "f16") != NULL;
    if (form->type_count != (is_set ? 2 : 1))
        return job_refused(job, UNKNOWN_FORM, "no reference of these types");
    job->from_bits = take_one_of(form, "and or xor");
    job->selector = take_one_of(form, "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan");
    job->ftz = take_word(form, "ftz");
    job->bits = type_bits(type);
    job->is_signed = *type == 's';
    job->lanes = strstr(type, "x2") ? 2 : 1;
    if (*type == 'b' && !half && job->selector > NE)
        return job_refused(job, NOT_IN_ISA, "bits are equal or not");
    if (strstr(type, "bf16") && job->ftz) return job_refused(job, NOT_IN_ISA, "compares of bf16 have no ftz");
    if (strcmp(type, "f32") == 0) job->format = format_f32;
    if (strcmp(type, "f64") == 0) job->format = format_f64;
    if (half) job->format = *type == 'f' ? format_f16 : format_bf16;
    const char *kind = half || *type == 'f' ? type
                       : job->bits == 16    ? "i16"
                       : job->bits == 32    ? "i32"
                                            : "i64";
    const char *with = job->from_bits >= 0 ? ",p" : "";
    job_done(job, is_set ? "set" : "setp", is_set ? apply_set : apply_setp, NULL);
    if (job->selector < 0 || !only_types(form))
        return job_refused(job, UNKNOWN_FORM, "a modifier without a reference");
    if (is_set) {
        int bits = type_bits(form->types[0]);
        if (job->lanes > 1 && bits == 16) return job_refused(job, NOT_IN_ISA, "set of pairs gives 32 bits");
        add_signature(job, "i%d:%s,%s%s", bits, kind, kind, with);
        return;
    }
    if (job->lanes == 1) add_signature(job, "p:%s,%s%s", kind, kind, with);
    add_signature(job, "p,p:%s,%s%s d0|d1, s0, s1%s", kind, kind, with, *with ? ", s2" : "");
}

static void apply_selp(const Job *job, const uint64_t *in, Result *out) {
    put(out, low_bits(in[2] ? in[0] : in[1], job->bits));
}

static void apply_slct(const Job *job, const uint64_t *in, Result *out) {
    bool first = as_integer(in[2], 32, true) >= 0;
    if (job->is_signed == false) {
        uint64_t c = job->ftz ? exact_flushed(in[2], format_f32) : in[2];
        Exact value = exact_of(c, format_f32);
        first = value.kind == CLASS_ZERO || (value.kind != CLASS_NAN && !value.negative);
    }
    put(out, low_bits(first ? in[0] : in[1], job->bits));
}

static void select_job(Job *job, bool is_slct) {
    Form *form = &job->form;
    job->bits = type_bits(form->types[0]);
    job->ftz = take_word(form, "ftz");
    if (is_slct) {
        job->is_signed = strcmp(form->types[1], "s32") == 0;
        job_done(job, "selp, slct, testp", apply_slct, NULL);
        add_signature(job, "i%d:i%d,i%d,%s", job->bits, job->bits, job->bits, job->is_signed ? "i32" : "f32");
        return;
    }
    if (strstr(form->types[0], "f16"))
        return job_refused(job, NOT_IN_ISA, "selp of halves has type b16 or b32");
    job_done(job, "selp, slct, testp", apply_selp, NULL);
    add_signature(job, "i%d:i%d,i%d,p", job->bits, job->bits, job->bits);
}

static void apply_testp(const Job *job, const uint64_t *in, Result *out) {
    NumberClass kind = exact_of(in[0], job->format).kind;
    bool subnormal = kind == CLASS_FINITE && exact_flushed(in[0], job->format) != in[0];
    const bool answers[] = {kind <= CLASS_FINITE,
                            kind == CLASS_INFINITE,
                            kind != CLASS_NAN,
                            kind == CLASS_NAN,
                            kind <= CLASS_FINITE && !subnormal,
                            subnormal};
    put(out, answers[job->selector]);
}

bool compare_reference(Job *job) {
    Form *form = &job->form;
    const char *opcode = form->opcode;
    if (form->type_count == 0) return false;
    if (strcmp(opcode, "setp") == 0) return compare_job(job, false), true;
    if (strcmp(opcode, "set") == 0) return compare_job(job, true), true;
    if (strcmp(opcode, "selp") == 0) return select_job(job, false), true;
    if (strcmp(opcode, "slct") == 0 && form->type_count == 2) return select_job(job, true), true;
    if (strcmp(opcode, "testp") != 0) return false;
    job->selector = take_one_of(form, "finite infinite number notanumber normal subnormal");
    job->bits = type_bits(form->types[0]);
    job->format = job->bits == 32 ? format_f32 : format_f64;
    job_done(job, "selp, slct, testp", apply_testp, NULL);
    add_signature(job, "p:f%d", job->bits);
    if (job->selector < 0 || !only_types(form))
        job_refused(job, UNKNOWN_FORM, "a modifier without a reference");
    return true;
}
