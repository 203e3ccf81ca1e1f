/* What the PTX ISA says that an instruction computes. A form is an instruction with its modifiers, "add.rn.ftz.f32"; a
 * family of opcodes has a function that turns a form into a Job, or tells why it has none. */
#ifndef WW_TESTS_REFERENCE_H
#define WW_TESTS_REFERENCE_H

#include "tests/conformance/exact.h"

#include <stddef.h>

enum { MAX_WORDS = 16, MAX_SOURCES = 5, MAX_RESULTS = 4, MAX_SIGNATURES = 9, SIGNATURE_SIZE = 128 };

typedef struct {
    char storage[96];
    const char *opcode, *words[MAX_WORDS]; /* the words behind the opcode */
    int count;
    const char *types[MAX_WORDS]; /* those that are types, in their order */
    int type_count;
} Form;

typedef enum {
    HAS_REFERENCE,
    NOT_IN_ISA, /* the decoder takes it, the ISA does not have it */
    ELSEWHERE,  /* compared by another test */
    UNKNOWN_FORM
} Standing;

typedef enum {
    RESULT_EXACT,
    RESULT_NUMBER, /* exact, but any NaN serves for a NaN, and with `any_zero` either zero for a zero */
    RESULT_WITHIN, /* a float from `least` to `most`, or any NaN when these are NaN */
} ResultKind;

typedef struct {
    ResultKind kind;
    uint64_t value;
    Format format;
    bool any_zero;
    int part_bits;  /* 0, or of two values in a register, each for itself */
    bool has_other; /* `other` is right as well */
    uint64_t other;
    long double least, most, least_above, most_above; /* _above: of the upper value of two */
} Result;

typedef struct Job Job;
typedef void Apply(const Job *job, const uint64_t *in, Result *out);

struct Job {
    Form form;
    Standing standing;
    const char *group; /* of the table */
    const char *why;   /* where there is no reference */
    Apply *apply;
    /* "results : sources [ template]": kinds of values, see cases.c; a template is "d0, {s0, s1}". */
    char signatures[MAX_SIGNATURES][SIGNATURE_SIZE];
    int signature_count;
    /* What the families keep for their functions. */
    int bits, from_bits;
    bool is_signed, from_signed, ftz, saturate, relu, nan_wins, finite, wide, high, carry_in, carry_out;
    Rounding rounding;
    Format format, from_format;
    int selector;         /* an enumeration of the family's */
    int relation, second; /* of video instructions: the compare; the second operation, or the scale */
    int lanes;            /* values in a register: 2 for f16x2 */
    int result_bits;      /* of the register of the first result, by the signature at hand */
    int source_count;     /* by the signature at hand */
    const char *template; /* likewise; NULL: none */
};

/* The families. Each returns false when the opcode is not its own. */
bool integer_reference(Job *job);
bool bits_reference(Job *job);
bool float_reference(Job *job);
bool approximate_reference(Job *job);
bool half_reference(Job *job);
bool compare_reference(Job *job);
bool convert_reference(Job *job);
bool move_reference(Job *job);
bool access_reference(Job *job);
bool video_reference(Job *job);

void reference_find(const char *form, Job *job);
bool result_fits(const Result *result, uint64_t got);

bool has_word(const Form *form, const char *word);
/* Takes away the word; whether it was there. */
bool take_word(Form *form, const char *word);
/* Which of the words, separated by blanks, is there, and takes it away; -1: none. */
int take_one_of(Form *form, const char *words);
/* Nothing is left but types. */
bool only_types(const Form *form);

void job_done(Job *job, const char *group, Apply *apply, const char *signature);
void add_signature(Job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));
void job_refused(Job *job, Standing standing, const char *why);

int type_bits(const char *type);
static inline bool type_is_float(const char *type) {
    return *type == 'f';
}
static inline uint64_t low_bits(uint64_t value, int bits) {
    return bits >= 64 ? value : value & ((1ull << bits) - 1);
}
static inline SignedWide as_integer(uint64_t value, int bits, bool is_signed) {
    value = low_bits(value, bits);
    return is_signed && value >> (bits - 1) & 1 ? (SignedWide)value - ((SignedWide)1 << bits)
                                                : (SignedWide)value;
}
static inline void put(Result *out, uint64_t value) {
    *out = (Result){.kind = RESULT_EXACT, .value = value};
}
static inline void put_number(Result *out, uint64_t value, Format format) {
    *out = (Result){.kind = RESULT_NUMBER, .value = value, .format = format};
}

#endif
