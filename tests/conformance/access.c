/* ld, st, atom and red, of a place of 16 bytes, or one element, which a thread has for itself. */
#include "tests/conformance/reference.h"

#include <stdio.h>
#include <string.h>

enum { PLACE_BYTES = 16 };

typedef enum { ADD, MIN, MAX, EXCH, CAS, INC, DEC, AND, OR, XOR } Operation;

/* Sources: the place. Results: the elements. */
static void apply_load(const Job *job, const uint64_t *in, Result *out) {
    uint8_t place[PLACE_BYTES];
    memcpy(place, in, sizeof place);
    for (int k = 0; k < job->lanes; k++) {
        uint64_t value = 0;
        for (int i = 0; i < job->bits / 8; i++)
            value |= (uint64_t)place[k * job->bits / 8 + i] << 8 * i;
        put(&out[k], low_bits((uint64_t)as_integer(value, job->bits, job->is_signed), job->result_bits));
    }
}

/* Sources: the place as it was, then the elements. Results: the place. */
static void apply_store(const Job *job, const uint64_t *in, Result *out) {
    uint8_t place[PLACE_BYTES];
    uint64_t words[2];
    memcpy(place, in, sizeof place);
    for (int k = 0; k < job->lanes; k++)
        for (int i = 0; i < job->bits / 8; i++)
            place[k * job->bits / 8 + i] = (uint8_t)(in[2 + k] >> 8 * i);
    memcpy(words, place, sizeof words);
    put(&out[0], words[0]);
    put(&out[1], words[1]);
}

static uint64_t float_sum(const Job *job, uint64_t a, uint64_t b, bool flushes) {
    if (flushes) {
        a = exact_flushed(a, job->format);
        b = exact_flushed(b, job->format);
    }
    Exact sum = exact_add(exact_of(a, job->format), exact_of(b, job->format), TO_NEAREST);
    uint64_t bits = exact_round(sum, job->format, TO_NEAREST);
    return flushes ? exact_flushed(bits, job->format) : bits;
}

/* A number wins over NaN; -0 is less than +0. */
static uint64_t extreme(const Job *job, uint64_t a, uint64_t b) {
    bool a_nan = is_nan(a, job->format), b_nan = is_nan(b, job->format);
    if (a_nan && b_nan) return exact_round((Exact){.kind = CLASS_NAN}, job->format, TO_NEAREST);
    if (a_nan || b_nan) return a_nan ? b : a;
    Exact x = exact_of(a, job->format), y = exact_of(b, job->format);
    int order = exact_compare(x, y);
    if (order == 0) order = x.negative == y.negative ? 0 : x.negative ? -1 : 1;
    return (order <= 0) == (job->selector == MIN) ? a : b;
}

static uint64_t changed_float(const Job *job, uint64_t old, uint64_t b) {
    int part = 1 + job->format.fraction + job->format.exponent;
    uint64_t value = 0;
    for (int shift = 0; shift < job->bits; shift += part) {
        uint64_t x = low_bits(old >> shift, part), y = low_bits(b >> shift, part);
        value |= (job->selector == ADD ? float_sum(job, x, y, job->ftz) : extreme(job, x, y)) << shift;
    }
    return value;
}

static uint64_t changed(const Job *job, const uint64_t *in) {
    uint64_t old = low_bits(in[0], job->bits), b = low_bits(in[1], job->bits);
    if (job->format.fraction && job->selector <= MAX) return changed_float(job, old, b);
    SignedWide x = as_integer(old, job->bits, job->is_signed), y = as_integer(b, job->bits, job->is_signed);
    switch ((Operation)job->selector) {
    case ADD: return old + b;
    case MIN: return x < y ? old : b;
    case MAX: return x > y ? old : b;
    case EXCH: return b;
    case CAS: return old == b ? in[2] : old;
    case INC: return old >= b ? 0 : old + 1;
    case DEC: return old == 0 || old > b ? b : old - 1;
    case AND: return old & b;
    case OR: return old | b;
    case XOR: return old ^ b;
    }
    return 0;
}

/* Sources: the element and the operands. Results: what it was, of atom, and what it is. */
static void apply_atomic(const Job *job, const uint64_t *in, Result *out) {
    int results = 0;
    if (!job->wide) put(&out[results++], low_bits(in[0], job->bits));
    uint64_t value = low_bits(changed(job, in), job->bits);
    put(&out[results], value);
    if (!job->format.fraction) return;
    put_number(&out[results], value, job->format);
    int part = 1 + job->format.fraction + job->format.exponent;
    if (part < job->bits) out[results].part_bits = part;
    out[results].has_other = job->high;
    if (job->high) out[results].other = float_sum(job, in[0], in[1], true);
}

/* Sources: the place as it was, then the operands. Results: what the elements were, of atom, and the place. */
static void apply_vector(const Job *job, const uint64_t *in, Result *out) {
    uint8_t place[PLACE_BYTES];
    uint64_t words[2];
    int bytes = job->bits / 8, results = 0;
    memcpy(place, in, sizeof place);
    for (int k = 0; k < job->lanes; k++) {
        uint64_t pair[2] = {0, in[2 + k]};
        for (int i = 0; i < bytes; i++)
            pair[0] |= (uint64_t)place[k * bytes + i] << 8 * i;
        if (!job->wide) put(&out[results++], pair[0]);
        uint64_t value = changed(job, pair);
        for (int i = 0; i < bytes; i++)
            place[k * bytes + i] = (uint8_t)(value >> 8 * i);
    }
    memcpy(words, place, sizeof words);
    put(&out[results++], words[0]);
    put(&out[results], words[1]);
}

static const char *element_list(char *text, size_t size, int bits, int count) {
    size_t length = 0;
    for (int k = 0; k < count; k++)
        length += (size_t)snprintf(text + length, size - length, "%si%d", k ? "," : "", bits);
    return text;
}

/* Generic addresses lead to every space. */
static const char *places_of(Form *form, bool atomic) {
    static const char *const spaces[] = {"global", "shared", "shared::cta", "local"};
    static const char *const places[] = {"global", "shared", "shared", "local"};
    for (int i = 0; i < (atomic ? 3 : 4); i++)
        if (take_word(form, spaces[i])) return places[i];
    return atomic ? "global shared" : "global shared local";
}

static void add_places(Job *job, const char *places, const char *kind, const char *results,
                       const char *sources) {
    for (const char *place = places; *place;) {
        int length = (int)strcspn(place, " ");
        add_signature(job, "%s:%s %s@%.*s", results, sources, kind, length, place);
        place += length + (place[length] == ' ');
    }
}

static void plain_job(Job *job, bool loads) {
    Form *form = &job->form;
    char elements[40], sources[60];
    const char *places = places_of(form, false);
    job->lanes = take_word(form, "v4") ? 4 : take_word(form, "v2") ? 2 : 1;
    if (take_one_of(form, "weak volatile relaxed acquire release") >= 0) take_one_of(form, "cta gpu sys");
    take_one_of(form, "ca cg cs lu cv wb wt");
    take_word(form, "nc");
    take_word(form, "mmio");
    for (int i = 0; i < 3; i++)
        take_one_of(form,
                    "L1::evict_last L1::evict_first L1::evict_unchanged L1::evict_normal L1::no_allocate "
                    "L2::evict_last L2::evict_first L2::64B L2::128B");
    job_done(job, loads ? "ld" : "st", loads ? apply_load : apply_store, NULL);
    if (!only_types(form) || form->type_count != 1)
        return job_refused(job, UNKNOWN_FORM, "a modifier without a reference");
    if (job->lanes * job->bits / 8 > PLACE_BYTES)
        return job_refused(job, UNKNOWN_FORM, "no reference of more than 16 bytes");
    if (job->bits == 128) job->lanes = 2, job->bits = 64;
    bool fixed = *form->types[0] == 'f';
    for (int bits = job->bits < 16 ? 16 : job->bits; bits <= (fixed ? job->bits : 64); bits *= 2) {
        element_list(elements, sizeof elements, bits, job->lanes);
        snprintf(sources, sizeof sources, "i64,i64,%s", elements);
        if (loads) {
            add_places(job, places, "load", elements, "i64,i64");
        } else {
            add_places(job, places, "store", "i64,i64", sources);
        }
    }
}

static Format format_of(const char *type) {
    if (strcmp(type, "f32") == 0) return format_f32;
    if (strcmp(type, "f64") == 0) return format_f64;
    if (strncmp(type, "f16", 3) == 0) return format_f16;
    if (strncmp(type, "bf16", 4) == 0) return format_bf16;
    return (Format){0};
}

static void vector_job(Job *job, const char *type) {
    char elements[60] = "", olds[64] = "";
    size_t length = 0;
    for (int k = 0; k < job->lanes; k++)
        length += (size_t)snprintf(elements + length, sizeof elements - length, "%s%s", k ? "," : "", type);
    if (!job->wide) snprintf(olds, sizeof olds, "%s,", elements);
    job_done(job, job->wide ? "red" : "atom", apply_vector, NULL);
    add_signature(job, "%si64,i64:i64,i64,%s %s@global", olds, elements, job->wide ? "vred" : "vatom");
}

static void atomic_job(Job *job, bool has_result) {
    Form *form = &job->form;
    const char *places = places_of(form, true), *type = form->types[0];
    char kind[8], sources[40];
    if (take_one_of(form, "relaxed acquire release acq_rel") >= 0) take_one_of(form, "cta gpu sys");
    job->selector = take_one_of(form, "add min max exch cas inc dec and or xor");
    job->wide = !has_result;
    job->format = format_of(type);
    take_word(form, "noftz");
    job->lanes = take_word(form, "v8") ? 8 : take_word(form, "v4") ? 4 : take_word(form, "v2") ? 2 : 1;
    /* In global memory sums of f32 flush subnormal numbers, in shared memory they keep them. */
    job->ftz = (strcmp(places, "global") == 0 || job->lanes > 1) && strcmp(type, "f32") == 0;
    job->high = strchr(places, ' ') && strcmp(type, "f32") == 0;
    job_done(job, has_result ? "atom" : "red", apply_atomic, NULL);
    if (job->selector < 0 || !only_types(form))
        return job_refused(job, UNKNOWN_FORM, "no reference of this operation");
    if (job->lanes > 1) return vector_job(job, type);
    if (job->format.fraction)
        snprintf(kind, sizeof kind, "%s", type);
    else
        snprintf(kind, sizeof kind, "i%d", job->bits);
    snprintf(sources, sizeof sources, "%s,%s%s%s", kind, kind, job->selector == CAS ? "," : "",
             job->selector == CAS ? kind : "");
    char both[24];
    snprintf(both, sizeof both, "%s,%s", kind, kind);
    add_places(job, places, has_result ? "atom" : "red", has_result ? both : kind, sources);
}

bool access_reference(Job *job) {
    Form *form = &job->form;
    const char *opcode = form->opcode;
    bool loads = strcmp(opcode, "ld") == 0 || strcmp(opcode, "ldu") == 0, stores = strcmp(opcode, "st") == 0;
    bool atomic = strcmp(opcode, "atom") == 0, reduces = strcmp(opcode, "red") == 0;
    if ((!loads && !stores && !atomic && !reduces) || form->type_count != 1) return false;
    job->bits = type_bits(form->types[0]);
    job->is_signed = *form->types[0] == 's';
    if (loads || stores) {
        plain_job(job, loads);
    } else {
        atomic_job(job, atomic);
    }
    return true;
}
