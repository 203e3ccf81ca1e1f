/* Arithmetic on numbers of any size, which is rounded once: what the reference computes floating point with. It is
 * made of integers, and uses neither the host's floating point nor the simulator. */
#ifndef WW_TESTS_EXACT_H
#define WW_TESTS_EXACT_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

typedef enum { CLASS_ZERO, CLASS_FINITE, CLASS_INFINITE, CLASS_NAN } NumberClass;
/* TO_NEAREST: of two equally near ones the even; TO_NEAREST_AWAY: the one farther from zero. */
typedef enum { TO_NEAREST, TO_ZERO, TO_BELOW, TO_ABOVE, TO_NEAREST_AWAY } Rounding;

/* digits * 2^exponent and, if something was cut off, more than that by less than 2^exponent. */
typedef struct {
    NumberClass kind;
    bool negative, cut_off;
    Wide digits;
    int exponent;
} Exact;

/* What the greatest exponent is for: infinity and NaN; numbers, and NaN as the greatest code; numbers alone. */
typedef enum { ENDS_AT_INFINITY, ENDS_AT_NAN, ENDS_AT_NUMBER } FormatEnd;

/* Bits of the fraction and of the exponent. */
typedef struct {
    int fraction, exponent;
    FormatEnd end;
} Format;

extern const Format format_f16, format_bf16, format_f32, format_f64, format_tf32, format_e4m3, format_e5m2,
    format_e2m1, format_e2m3, format_e3m2;

Exact exact_of(uint64_t bits, Format format);
Exact exact_of_integer(SignedWide value);
/* NaN becomes the one of the format that PTX generates; where there is none, the largest number. */
uint64_t exact_round(Exact value, Format format, Rounding rounding);
/* What is tiny, below all normal numbers before it is rounded, becomes a zero of its sign. */
uint64_t exact_round_flushed(Exact value, Format format, Rounding rounding);
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
/* An infinity becomes the largest number of its sign. */
uint64_t exact_finite(uint64_t bits, Format format);

#endif
