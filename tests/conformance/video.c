/* vadd, vadd2, vadd4 and their kin: the selectors stand in the template of the signature. */
#include "tests/conformance/reference.h"

#include <stdlib.h>
#include <string.h>

typedef enum { ADD, SUB, DIFFERENCE, MIN, MAX, SET, AVERAGE, LEFT, RIGHT, MAD } Operation;
typedef enum { EQ, NE, LT, LE, GT, GE } Relation;
enum { NO_SECOND = -1, SECOND_ADD, SECOND_MIN, SECOND_MAX };

/* What stands behind the dot of "d0", "s0", ... in the template: ".h1" is "h1"; "" where there is none. */
static const char *selector_of(const Job *job, const char *operand, char *text, size_t size) {
    const char *at = strstr(job->template, operand);
    *text = '\0';
    if (!at || at[2] != '.') return text;
    size_t length = strcspn(at + 3, ", ");
    if (length >= size) abort();
    memcpy(text, at + 3, length);
    text[length] = '\0';
    return text;
}

static bool is_negated(const Job *job, const char *operand) {
    const char *at = strstr(job->template, operand);
    return at && at > job->template && at[-1] == '-';
}

/* "b2": bytes from 16 on. */
static void part_of(const char *selector, int *first, int *width) {
    *width = *selector == 'b' ? 8 : *selector == 'h' ? 16 : 32;
    *first = *selector ? (selector[1] - '0') * *width : 0;
}

static SignedWide picked(const Job *job, const char *operand, uint64_t value, bool is_signed) {
    char text[8];
    int first, width;
    part_of(selector_of(job, operand, text, sizeof text), &first, &width);
    return as_integer(value >> first, width, is_signed);
}

static SignedWide limited(SignedWide value, int width, bool is_signed) {
    SignedWide most = ((SignedWide)1 << (is_signed ? width - 1 : width)) - 1,
               least = is_signed ? -most - 1 : 0;
    return value > most ? most : value < least ? least : value;
}

static SignedWide shifted(const Job *job, SignedWide a, SignedWide b) {
    int amount = job->wide ? (int)(b % 32) : b > 32 ? 32 : (int)b; /* wide: .wrap */
    SignedWide factor = (SignedWide)1 << amount;
    if (job->selector == LEFT) return a * factor;
    return a >= 0 ? a / factor : -((-a + factor - 1) / factor);
}

static SignedWide computed(const Job *job, SignedWide a, SignedWide b) {
    switch ((Operation)job->selector) {
    case ADD: return a + b;
    case SUB: return a - b;
    case DIFFERENCE: return a < b ? b - a : a - b;
    case MIN: return a < b ? a : b;
    case MAX: return a < b ? b : a;
    case AVERAGE: return a + b >= 0 ? (a + b + 1) / 2 : -((-(a + b) + 1) / 2);
    case LEFT:
    case RIGHT: return shifted(job, a, b);
    case MAD: return a * b;
    case SET: break;
    }
    switch ((Relation)job->relation) {
    case EQ: return a == b;
    case NE: return a != b;
    case LT: return a < b;
    case LE: return a <= b;
    case GT: return a > b;
    case GE: return a >= b;
    }
    return 0;
}

static void apply_scalar(const Job *job, const uint64_t *in, Result *out) {
    char text[8];
    int first, width;
    part_of(selector_of(job, "d0", text, sizeof text), &first, &width);
    SignedWide value = computed(job, picked(job, "s0", in[0], job->from_signed),
                                picked(job, "s1", in[1], job->high));
    if (job->saturate) value = limited(value, width, job->is_signed);
    uint64_t word = low_bits((uint64_t)value, 32), c = low_bits(in[2], 32);
    SignedWide x = as_integer(word, 32, job->is_signed), y = as_integer(c, 32, job->is_signed);
    switch (job->second) {
    case SECOND_ADD: word = low_bits(word + c, 32); break;
    case SECOND_MIN: word = x < y ? word : c; break;
    case SECOND_MAX: word = x < y ? c : word; break;
    default: break;
    }
    if (width < 32) {
        uint64_t mask = low_bits(UINT64_MAX, width) << first;
        word = (word << first & mask) | (c & ~mask);
    }
    put(out, word);
}

/* from_signed: a is signed; high: b is; carry_in: .po; second: the scale. */
static void apply_mad(const Job *job, const uint64_t *in, Result *out) {
    SignedWide product = computed(job, picked(job, "s0", in[0], job->from_signed),
                                  picked(job, "s1", in[1], job->high));
    bool minus = is_negated(job, "s0") != is_negated(job, "s1"), minus_c = is_negated(job, "s2");
    bool is_signed = job->from_signed || job->high || minus || minus_c;
    uint32_t c = (uint32_t)in[2];
    SignedWide sum = minus ? -product : product;
    sum += as_integer(minus_c ? (uint32_t)~c : c, 32, is_signed) + (job->carry_in || minus_c ? 1 : 0);
    SignedWide divisor = (SignedWide)1 << job->second;
    sum = sum >= 0 ? sum / divisor : -((-sum + divisor - 1) / divisor);
    if (job->saturate) sum = limited(sum, 32, is_signed);
    put(out, low_bits((uint64_t)sum, 32));
}

/* The digit of a selector for element `i`, of which the last one is for element 0. */
static int digit_of(const char *selector, int i, int otherwise) {
    if (!*selector) return otherwise;
    return selector[strlen(selector) - 1 - (size_t)i] - '0';
}

static void apply_elements(const Job *job, const uint64_t *in, Result *out) {
    char mask[8], of_a[8], of_b[8], digit[2] = "";
    int count = job->lanes, width = 32 / count;
    selector_of(job, "d0", mask, sizeof mask);
    selector_of(job, "s0", of_a, sizeof of_a);
    selector_of(job, "s1", of_b, sizeof of_b);
    /* a is below b, element 0 the lowest of a */
    uint64_t all = low_bits(in[1], 32) << 32 | low_bits(in[0], 32), c = low_bits(in[2], 32), d = c;
    for (int i = 0; i < count; i++) {
        *digit = (char)('0' + i);
        if (*mask && !strstr(mask + 1, digit)) continue;
        SignedWide a = as_integer(all >> width * digit_of(of_a, i, i), width, job->from_signed);
        SignedWide b = as_integer(all >> width * digit_of(of_b, i, count + i), width, job->high);
        SignedWide value = computed(job, a, b);
        if (job->saturate) value = limited(value, width, job->is_signed);
        uint64_t place = low_bits(UINT64_MAX, width) << width * i;
        if (job->second == SECOND_ADD)
            d = low_bits(d + (uint64_t)value, 32);
        else
            d = (d & ~place) | ((uint64_t)value << width * i & place);
    }
    put(out, d);
}

static void add_signatures(Job *job) {
    static const char *const plain[] = {"d0, s0, s1", "d0, s0.b1, s1.h1", "d0, s0.h0, s1.b3", NULL};
    static const char *const merging[] = {"d0.h1, s0, s1, s2", "d0.b2, s0.b3, s1.b0, s2",
                                          "d0.h0, s0.h1, s1.h0, s2", NULL};
    static const char *const third[] = {"d0, s0, s1, s2", "d0, s0.b2, s1.h1, s2", "d0, s0.h0, s1.b0, s2",
                                        NULL};
    static const char *const negated[] = {"d0, s0, s1, s2",
                                          "d0, s0.b2, s1.h1, s2",
                                          "d0, -s0, s1, s2",
                                          "d0, s0.h1, -s1.b0, s2",
                                          "d0, s0, s1, -s2",
                                          "d0, -s0, -s1, s2",
                                          NULL};
    static const char *const pairs[] = {"d0, s0, s1, s2", "d0.h1, s0.h31, s1.h02, s2",
                                        "d0.h10, s0.h22, s1.h13, s2", NULL};
    static const char *const quads[] = {"d0, s0, s1, s2", "d0.b310, s0.b7052, s1.b0123, s2",
                                        "d0.b2, s0.b6543, s1.b1717, s2", NULL};
    bool second = job->second != NO_SECOND;
    const char *const *lists[] = {job->selector == MAD ? (job->carry_in ? third : negated)
                                  : job->lanes == 4    ? quads
                                  : job->lanes == 2    ? pairs
                                  : second             ? third
                                                       : plain,
                                  job->selector != MAD && job->lanes == 1 && !second ? merging : NULL};
    for (int list = 0; list < 2 && lists[list]; list++)
        for (int i = 0; lists[list][i]; i++)
            add_signature(job, strstr(lists[list][i], "s2") ? "i32:i32,i32,i32 %s" : "i32:i32,i32 %s",
                          lists[list][i]);
}

bool video_reference(Job *job) {
    static const char *const names[] = {"vadd", "vsub",  "vabsdiff", "vmin", "vmax",
                                        "vset", "vavrg", "vshl",     "vshr", "vmad"};
    Form *form = &job->form;
    job->selector = -1;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strncmp(form->opcode, names[i], strlen(names[i])) == 0) job->selector = i;
    if (job->selector < 0) return false;
    char last = form->opcode[strlen(form->opcode) - 1];
    job->lanes = last == '2' ? 2 : last == '4' ? 4 : 1;
    bool set = job->selector == SET, mad = job->selector == MAD;
    if (form->type_count != (set ? 2 : 3))
        return job_refused(job, UNKNOWN_FORM, "no reference of these types"), true;
    job->is_signed = !set && *form->types[0] == 's';
    job->from_signed = *form->types[set ? 0 : 1] == 's';
    job->high = *form->types[set ? 1 : 2] == 's';
    job->relation = take_one_of(form, "eq ne lt le gt ge");
    job->saturate = take_word(form, "sat");
    job->carry_in = take_word(form, "po");
    job->wide = take_one_of(form, "clamp wrap") == 1;
    int scale = take_one_of(form, "shr7 shr15");
    job->second = mad ? (scale == 0 ? 7 : scale == 1 ? 15 : 0) : take_one_of(form, "add min max");
    if (!only_types(form)) return job_refused(job, UNKNOWN_FORM, "a modifier without a reference"), true;
    job_done(job, job->lanes > 1 ? "video instructions on vectors" : "video instructions",
             mad              ? apply_mad
             : job->lanes > 1 ? apply_elements
                              : apply_scalar,
             NULL);
    add_signatures(job);
    return true;
}
