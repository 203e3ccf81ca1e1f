/* Integer arithmetic, in 128 bits. */
#include "tests/conformance/reference.h"

#include <stdio.h>
#include <string.h>

typedef enum { ADD, SUB, MUL, MAD, DIV, REM, MIN, MAX, NEG, ABS, SAD, MUL24, MAD24, DP4A, DP2A } Operation;

static SignedWide source(const Job *job, uint64_t value) {
    return as_integer(value, job->bits, job->is_signed);
}

static SignedWide clamped(SignedWide value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
}

/* The part of the product that mul takes. */
static SignedWide part_of(const Job *job, SignedWide product, int bits) {
    return job->high ? product >> bits : product;
}

static void apply_plain(const Job *job, const uint64_t *in, Result *out) {
    SignedWide a = source(job, in[0]), b = source(job, in[1]), value = 0;
    switch ((Operation)job->selector) {
    case ADD: value = a + b; break;
    case SUB: value = a - b; break;
    case DIV: value = a / b; break;
    case REM: value = a % b; break;
    case MIN: value = a < b ? a : b; break;
    case MAX: value = a > b ? a : b; break;
    case NEG: value = -a; break;
    case ABS: value = a < 0 ? -a : a; break;
    default: value = as_integer(in[2], job->bits, job->is_signed) + (a > b ? a - b : b - a); break;
    }
    if (job->saturate) value = clamped(value);
    if (job->relu && value < 0) value = 0;
    put(out, low_bits((uint64_t)value, job->bits));
}

/* Nothing says what a division by zero is: there are none. */
static void apply_division(const Job *job, const uint64_t *in, Result *out) {
    uint64_t defined[3] = {in[0], low_bits(in[1], job->bits) ? in[1] : 1, 0};
    apply_plain(job, defined, out);
}

static void apply_pair(const Job *job, const uint64_t *in, Result *out) {
    uint64_t value = 0;
    for (int half = 0; half < 2; half++) {
        uint64_t halves[3] = {in[0] >> 16 * half & 0xffff, in[1] >> 16 * half & 0xffff, 0};
        Result result;
        apply_plain(job, halves, &result);
        value |= result.value << 16 * half;
    }
    put(out, value);
}

/* An unsigned product of 64 bits each does not fit a signed number of 128. */
static SignedWide product_of(const Job *job, uint64_t x, uint64_t y) {
    if (!job->is_signed) {
        Wide product = (Wide)low_bits(x, job->bits) * low_bits(y, job->bits);
        return (SignedWide)(job->high ? product >> job->bits : product);
    }
    return part_of(job, source(job, x) * source(job, y), job->bits);
}

static void apply_multiply(const Job *job, const uint64_t *in, Result *out) {
    SignedWide value = product_of(job, in[0], in[1]);
    int result_bits = job->wide ? 2 * job->bits : job->bits;
    if (job->selector == MAD) value += as_integer(in[2], result_bits, job->is_signed);
    if (job->saturate) value = clamped(value);
    put(out, low_bits((uint64_t)value, result_bits));
}

/* Two instructions, of which the first makes the carry and the second, which is the form, takes it; where the form
 * makes one, a third adds it to zero. */
static void apply_carry(const Job *job, const uint64_t *in, Result *out) {
    Wide mask = ((Wide)1 << job->bits) - 1, sum;
    Operation operation = (Operation)job->selector;
    bool subtracts = operation == SUB;
    /* sources: a, b [, c], and the value whose lowest bit is the carry that comes in */
    int last = operation == MAD ? 3 : 2;
    Wide carry = job->carry_in ? in[last] & 1 : subtracts; /* of a subtraction, that nothing is borrowed */
    Wide a = (Wide)in[0] & mask, b = (Wide)in[1] & mask;
    if (operation == MAD) {
        a = (Wide)product_of(job, in[0], in[1]) & mask;
        b = (Wide)in[2] & mask;
    }
    sum = a + (subtracts ? ~b & mask : b) + carry;
    put(&out[0], (uint64_t)(sum & mask));
    put(&out[1], (uint64_t)(sum >> job->bits) & 1);
}

static void apply_24(const Job *job, const uint64_t *in, Result *out) {
    SignedWide product = as_integer(in[0], 24, job->is_signed) * as_integer(in[1], 24, job->is_signed);
    SignedWide value = job->high ? product >> 16 : product;
    if (job->selector == MAD24) value += (SignedWide)(int32_t)in[2];
    if (job->saturate)
        value = clamped((SignedWide)(int32_t)(job->high ? product >> 16 : product) + (int32_t)in[2]);
    put(out, (uint32_t)value);
}

static void apply_dot(const Job *job, const uint64_t *in, Result *out) {
    SignedWide sum = (SignedWide)(uint32_t)in[2];
    bool quads = job->selector == DP4A;
    for (int i = 0; i < (quads ? 4 : 2); i++) {
        SignedWide a = quads ? as_integer(in[0] >> 8 * i, 8, job->is_signed)
                             : as_integer(in[0] >> 16 * i, 16, job->is_signed);
        sum += a * as_integer(in[1] >> 8 * (i + (job->high ? 2 : 0)), 8, job->from_signed);
    }
    put(out, (uint32_t)sum);
}

static bool is_integer_type(const char *type) {
    return *type == 'u' || *type == 's';
}

static void carry_job(Job *job) {
    char list[64];
    if (job->bits < 32) return job_refused(job, UNKNOWN_FORM, "no reference for a carry of this type");
    snprintf(list, sizeof list, job->selector == MAD ? "i%d,i%d,i%d" : "i%d,i%d", job->bits, job->bits,
             job->bits);
    job_done(job, "carry chains", apply_carry, NULL);
    add_signature(job, "i%d%s:%s%s carry", job->bits, job->carry_out ? ",i32" : "", list,
                  job->carry_in ? ",i32" : "");
}

static void multiply_job(Job *job) {
    int part = take_one_of(&job->form, "lo hi wide");
    if (part < 0) return job_refused(job, NOT_IN_ISA, "mul and mad of integers have lo, hi or wide");
    job->high = part == 1;
    job->wide = part == 2;
    if (job->carry_in || job->carry_out) return carry_job(job);
    job->saturate = take_word(&job->form, "sat");
    int bits = job->bits, result_bits = job->wide ? 2 * bits : bits;
    job_done(job, "mul, mad", apply_multiply, NULL);
    if (job->selector == MAD) {
        add_signature(job, "i%d:i%d,i%d,i%d", result_bits, bits, bits, result_bits);
    } else {
        add_signature(job, "i%d:i%d,i%d", result_bits, bits, bits);
    }
}

static void plain_job(Job *job) {
    Operation operation = (Operation)job->selector;
    int bits = job->bits;
    job->saturate = take_word(&job->form, "sat");
    job_done(job, "integer arithmetic", operation == DIV || operation == REM ? apply_division : apply_plain,
             NULL);
    if (operation == NEG || operation == ABS) {
        add_signature(job, "i%d:i%d", bits, bits);
    } else if (operation == SAD) {
        add_signature(job, "i%d:i%d,i%d,i%d", bits, bits, bits, bits);
    } else {
        add_signature(job, "i%d:i%d,%s%d", bits, bits, operation == DIV || operation == REM ? "nz" : "i",
                      bits);
    }
}

static void special_job(Job *job) {
    Form *form = &job->form;
    switch ((Operation)job->selector) {
    case MUL24:
    case MAD24:
        job->high = take_one_of(form, "lo hi") == 1;
        job->saturate = take_word(form, "sat");
        job_done(job, "mul24, mad24", apply_24, job->selector == MUL24 ? "i32:i32,i32" : "i32:i32,i32,i32");
        return;
    default:
        job->high = take_one_of(form, "lo hi") == 1;
        job->is_signed = form->types[0][0] == 's';
        job->from_signed = form->types[1][0] == 's';
        job_done(job, "dp4a, dp2a", apply_dot, "i32:i32,i32,i32");
        return;
    }
}

bool integer_reference(Job *job) {
    static const char *const names[] = {"add", "sub", "mul", "mad",   "div",   "rem",  "min", "max",
                                        "neg", "abs", "sad", "mul24", "mad24", "dp4a", "dp2a"};
    Form *form = &job->form;
    char name[16];
    size_t length = strlen(form->opcode);
    job->carry_in = length == 4 && form->opcode[3] == 'c'; /* addc, subc, madc */
    snprintf(name, sizeof name, "%.*s", job->carry_in ? 3 : 15, form->opcode);
    job->selector = -1;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(name, names[i]) == 0) job->selector = i;
    if (job->selector < 0 || form->type_count == 0) return false;
    if (job->carry_in && job->selector != ADD && job->selector != SUB && job->selector != MAD) return false;
    const char *type = form->types[0];
    bool carry_of_bits = *type == 'b' && type[1] == '3';
    if (!is_integer_type(type) && !carry_of_bits) return false;
    job->carry_out = take_word(form, "cc");
    job->relu = (job->selector == MIN || job->selector == MAX) && take_word(form, "relu");
    if (carry_of_bits) {
        job_refused(job, NOT_IN_ISA, "add.cc has types u32, s32, u64 and s64");
        return true;
    }
    job->bits = type_bits(type);
    job->is_signed = *type == 's';
    if (job->selector >= MUL24) {
        special_job(job);
    } else if (strstr(type, "16x2")) {
        job->bits = 16;
        job_done(job, "integer arithmetic", apply_pair, "i32:i32,i32");
    } else if (job->selector == MUL || job->selector == MAD) {
        multiply_job(job);
    } else if (job->carry_in || job->carry_out) {
        carry_job(job);
    } else {
        plain_job(job);
    }
    if (job->standing == HAS_REFERENCE && !only_types(form))
        job_refused(job, UNKNOWN_FORM, "a modifier without a reference");
    return true;
}
