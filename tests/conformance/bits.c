/* Logic, shifts, bit fields, permutations. */
#include "tests/conformance/reference.h"

#include <string.h>

typedef enum {
    AND,
    OR,
    XOR,
    NOT,
    CNOT,
    SHL,
    SHR,
    SHF,
    LOP3,
    PRMT,
    BREV,
    POPC,
    CLZ,
    FNS,
    BFIND,
    BFE,
    BFI,
    BMSK,
    SZEXT
} Operation;

static void apply_logic(const Job *job, const uint64_t *in, Result *out) {
    uint64_t a = low_bits(in[0], job->bits), b = low_bits(in[1], job->bits), value = 0;
    switch ((Operation)job->selector) {
    case AND: value = a & b; break;
    case OR: value = a | b; break;
    case XOR: value = a ^ b; break;
    case NOT: value = ~a; break;
    default: value = a == 0; break;
    }
    put(out, low_bits(value, job->bits));
}

/* Amounts beyond the width shift everything out. */
static void apply_shift(const Job *job, const uint64_t *in, Result *out) {
    uint32_t amount = (uint32_t)in[1], width = (uint32_t)job->bits;
    if (amount > width) amount = width;
    SignedWide a = as_integer(in[0], job->bits, job->is_signed);
    Wide value = job->selector == SHL ? (Wide)a << amount : (Wide)(a >> amount);
    put(out, low_bits((uint64_t)value, job->bits));
}

static void apply_funnel(const Job *job, const uint64_t *in, Result *out) {
    uint64_t both = in[1] << 32 | (uint32_t)in[0];
    uint32_t amount = (uint32_t)in[2];
    if (job->saturate) {
        amount = amount > 32 ? 32 : amount;
    } else {
        amount &= 31;
    }
    put(out, (uint32_t)(job->high ? (Wide)both << amount >> 32 : (Wide)both >> amount));
}

static void apply_lop3(const Job *job, const uint64_t *in, Result *out) {
    uint32_t value = 0;
    for (int bit = 0; bit < 32; bit++) {
        uint64_t row = (in[0] >> bit & 1) << 2 | (in[1] >> bit & 1) << 1 | (in[2] >> bit & 1);
        value |= (uint32_t)(in[3] >> row & 1) << bit;
    }
    put(out, value);
    /* lop3.or and lop3.and */
    bool set = value != 0, with = in[4] & 1;
    if (job->lanes > 1) put(&out[1], job->high ? set || with : set && with);
}

/* The bytes that a mode of prmt picks, lowest first, by the two low bits of its selector. */
static const char *const permutations[] = {"0123 1234 2345 3456", "0765 1076 2107 3210",
                                           "0000 1111 2222 3333", "0123 1123 2223 3333",
                                           "0000 0111 0122 0123", "0101 2323 0101 2323"};

static void apply_prmt(const Job *job, const uint64_t *in, Result *out) {
    uint64_t both = in[1] << 32 | (uint32_t)in[0];
    uint32_t value = 0;
    for (int k = 0; k < 4; k++) {
        uint64_t picked = in[2] >> 4 * k & 0xf;
        if (job->from_bits)
            picked = (uint64_t)(permutations[job->from_bits - 1][5 * (in[2] & 3) + (uint64_t)k] - '0');
        uint8_t byte = (uint8_t)(both >> 8 * (picked & 7));
        if (picked & 8) byte = byte & 0x80 ? 0xff : 0;
        value |= (uint32_t)byte << 8 * k;
    }
    put(out, value);
}

static void apply_count(const Job *job, const uint64_t *in, Result *out) {
    uint64_t a = low_bits(in[0], job->bits), reversed = 0;
    uint32_t ones = 0, leading = 0;
    for (int bit = 0; bit < job->bits; bit++) {
        ones += (uint32_t)(a >> bit & 1);
        leading = a >> bit & 1 ? 0 : leading + 1;
        reversed |= (a >> bit & 1) << (job->bits - 1 - bit);
    }
    put(out, job->selector == POPC ? ones : job->selector == CLZ ? leading : reversed);
}

static void apply_bfind(const Job *job, const uint64_t *in, Result *out) {
    uint64_t a = low_bits(in[0], job->bits);
    if (job->is_signed && a >> (job->bits - 1) & 1) a = low_bits(~a, job->bits);
    uint32_t found = UINT32_MAX;
    for (int bit = 0; bit < job->bits; bit++)
        if (a >> bit & 1) found = (uint32_t)bit;
    if (job->high && found != UINT32_MAX) found = (uint32_t)job->bits - 1 - found;
    put(out, found);
}

/* Positions and lengths are bytes; what lies beyond the source is its sign. */
static void apply_bfe(const Job *job, const uint64_t *in, Result *out) {
    uint32_t position = (uint32_t)in[1] & 0xff, length = (uint32_t)in[2] & 0xff,
             top = (uint32_t)job->bits - 1;
    uint64_t a = low_bits(in[0], job->bits), sign = 0, value = 0;
    if (job->is_signed && length > 0)
        sign = a >> (position + length - 1 < top ? position + length - 1 : top) & 1;
    for (uint32_t i = 0; i <= top; i++) {
        uint64_t bit = i < length && position + i <= top ? a >> (position + i) & 1 : sign;
        value |= bit << i;
    }
    put(out, value);
}

static void apply_bfi(const Job *job, const uint64_t *in, Result *out) {
    uint32_t position = (uint32_t)in[2] & 0xff, length = (uint32_t)in[3] & 0xff,
             top = (uint32_t)job->bits - 1;
    uint64_t value = low_bits(in[1], job->bits);
    for (uint32_t i = 0; i < length && position + i <= top; i++) {
        value &= ~(1ull << (position + i));
        value |= (in[0] >> i & 1) << (position + i);
    }
    put(out, value);
}

static void apply_bmsk(const Job *job, const uint64_t *in, Result *out) {
    uint32_t first = (uint32_t)in[0], width = (uint32_t)in[1], value = 0;
    if (job->saturate) {
        first = first > 32 ? 32 : first;
        width = width > 32 ? 32 : width;
    } else {
        first &= 31;
        width &= 31;
    }
    for (uint32_t bit = first; bit < 32 && bit - first < width; bit++)
        value |= 1u << bit;
    put(out, value);
}

static void apply_szext(const Job *job, const uint64_t *in, Result *out) {
    uint32_t width = (uint32_t)in[1];
    if (!job->saturate) width &= 31;
    uint32_t a = (uint32_t)in[0];
    if (width == 0) {
        put(out, 0);
    } else if (width >= 32) {
        put(out, a);
    } else {
        put(out, (uint32_t)as_integer(a, (int)width, job->is_signed));
    }
}

static void apply_fns(const Job *job, const uint64_t *in, Result *out) {
    uint32_t mask = (uint32_t)in[0], base = (uint32_t)in[1] & 31, found = UINT32_MAX;
    int32_t offset = (int32_t)in[2];
    (void)job;
    if (offset == 0) {
        if (mask >> base & 1) found = base;
    } else {
        int64_t left = offset < 0 ? -(int64_t)offset : offset;
        for (int at = (int)base; at >= 0 && at < 32 && found == UINT32_MAX; at += offset < 0 ? -1 : 1)
            if (mask >> at & 1 && --left == 0) found = (uint32_t)at;
    }
    put(out, found);
}

static void logic_job(Job *job) {
    Operation operation = (Operation)job->selector;
    const char *type = job->form.types[0];
    if (strcmp(type, "pred") != 0 && *type != 'b')
        return job_refused(job, NOT_IN_ISA, "logic has types b16, b32, b64, pred");
    bool predicate = strcmp(type, "pred") == 0, single = operation == NOT || operation == CNOT;
    job_done(job, "logic", apply_logic, NULL);
    if (predicate) {
        add_signature(job, single ? "p:p" : "p:p,p");
    } else {
        add_signature(job, single ? "i%d:i%d" : "i%d:i%d,i%d", job->bits, job->bits, job->bits);
    }
}

static void shift_job(Job *job) {
    const char *type = job->form.types[0];
    if (job->selector == SHL && *type != 'b')
        return job_refused(job, NOT_IN_ISA, "shl has types b16, b32, b64");
    job_done(job, "shifts", apply_shift, NULL);
    add_signature(job, "i%d:i%d,amount", job->bits, job->bits);
}

static void lop3_job(Job *job) {
    int boolean = take_one_of(&job->form, "and or");
    job->high = boolean == 1;
    job->lanes = boolean < 0 ? 1 : 2; /* results */
    job_done(job, "logic", apply_lop3, NULL);
    static const int tables[] = {0x80, 0xfe, 0x96, 0xe8, 0xca, 0x1b, 0x47, 0xd5};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        add_signature(
            job, boolean < 0 ? "i32:i32,i32,i32,#%d" : "i32,p:i32,i32,i32,#%d,p d0|d1, s0, s1, s2, s3, s4",
            tables[i]);
}

static void count_job(Job *job) {
    job_done(job, "bit fields, permutations", apply_count, NULL);
    if (*job->form.types[0] != 'b') job_refused(job, UNKNOWN_FORM, "no reference of this type");
    add_signature(job, "i%d:i%d", job->selector == BREV ? job->bits : 32, job->bits);
}

static void field_job(Job *job) {
    Form *form = &job->form;
    const char *group = "bit fields, permutations";
    switch ((Operation)job->selector) {
    case SHF:
        job->high = take_one_of(form, "r l") == 1;
        job->saturate = take_one_of(form, "wrap clamp") == 1;
        job_done(job, "shifts", apply_funnel, "i32:i32,i32,amount");
        return;
    case PRMT:
        job->from_bits = take_one_of(form, "f4e b4e rc8 ecl ecr rc16") + 1;
        job_done(job, group, apply_prmt, "i32:i32,i32,i32");
        return;
    case FNS: job_done(job, group, apply_fns, "i32:i32,lane,small"); return;
    case BFIND:
        job->high = take_word(form, "shiftamt");
        job_done(job, group, apply_bfind, NULL);
        add_signature(job, "i32:i%d", job->bits);
        return;
    case BFE:
        job_done(job, group, apply_bfe, NULL);
        add_signature(job, "i%d:i%d,amount,amount", job->bits, job->bits);
        return;
    case BFI:
        job_done(job, group, apply_bfi, NULL);
        add_signature(job, "i%d:i%d,i%d,amount,amount", job->bits, job->bits, job->bits);
        return;
    case BMSK:
        job->saturate = take_one_of(form, "wrap clamp") == 1;
        job_done(job, group, apply_bmsk, "i32:amount,amount");
        return;
    default:
        job->saturate = take_one_of(form, "wrap clamp") == 1;
        job_done(job, group, apply_szext, "i32:i32,amount");
        return;
    }
}

bool bits_reference(Job *job) {
    static const char *const names[] = {"and",   "or",   "xor",  "not",  "cnot", "shl", "shr",
                                        "shf",   "lop3", "prmt", "brev", "popc", "clz", "fns",
                                        "bfind", "bfe",  "bfi",  "bmsk", "szext"};
    Form *form = &job->form;
    job->selector = -1;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(form->opcode, names[i]) == 0) job->selector = i;
    if (job->selector < 0) return false;
    if (form->type_count != 1) return job_refused(job, UNKNOWN_FORM, "no reference of these types"), true;
    job->bits = type_bits(form->types[0]);
    job->is_signed = form->types[0][0] == 's';
    switch ((Operation)job->selector) {
    case AND:
    case OR:
    case XOR:
    case NOT:
    case CNOT: logic_job(job); break;
    case SHL:
    case SHR: shift_job(job); break;
    case LOP3: lop3_job(job); break;
    case BREV:
    case POPC:
    case CLZ: count_job(job); break;
    default: field_job(job); break;
    }
    if (job->standing == HAS_REFERENCE && !only_types(form))
        job_refused(job, UNKNOWN_FORM, "a modifier without a reference");
    return true;
}
