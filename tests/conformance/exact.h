/* Arithmetic on numbers of any size, which is rounded once: what the reference computes floating point with. It is
 * made of integers, and uses neither the host's floating point nor the simulator. */
#ifndef WW_TESTS_EXACT_H
#define WW_TESTS_EXACT_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

typedef enum { CLASS_ZERO, CLASS_FINITE, CLASS_INFINITE, CLASS_NAN } NumberClass;
typedef enum { TO_NEAREST, TO_ZERO, TO_BELOW, TO_ABOVE } Rounding;

/* digits * 2^exponent and, if something was cut off, more than that by less than 2^exponent. */
typedef struct {
    NumberClass kind;
    bool negative, cut_off;
    Wide digits;
    int exponent;
} Exact;

/* Bits of the fraction and of the exponent. */
typedef struct {
    int fraction, exponent;
} Format;

extern const Format format_f16, format_bf16, format_f32, format_f64;

Exact exact_of(uint64_t bits, Format format);
Exact exact_of_integer(SignedWide value);
/* NaN becomes the one of the format that PTX generates. */
uint64_t exact_round(Exact value, Format format, Rounding rounding);
/* The nearest integer in this direction, clamped to a type of `bits` bits; `value` is no NaN. */
uint64_t exact_to_integer(Exact value, Rounding rounding, int bits, bool is_signed);
/* The nearest integer in this direction as a number: zeros keep the sign. */
Exact exact_integral(Exact value, Rounding rounding);

/* The direction tells which zero a sum is that cancels. */
Exact exact_add(Exact a, Exact b, Rounding rounding);
Exact exact_multiply(Exact a, Exact b);
Exact exact_divide(Exact a, Exact b);
Exact exact_root(Exact a);
Exact exact_negated(Exact a);
/* -1, 0 or 1; neither is NaN. */
int exact_compare(Exact a, Exact b);

/* A subnormal number of the format becomes a zero of its sign. */
uint64_t exact_flushed(uint64_t bits, Format format);
bool is_nan(uint64_t bits, Format format);

#endif
