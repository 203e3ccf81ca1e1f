/* Operands to try: edges of their kind in all pairs, then random ones, always the same for a seed. */
#ifndef WW_TESTS_CASES_H
#define WW_TESTS_CASES_H

#include "tests/conformance/exact.h"

#include <stddef.h>

enum { MAX_KINDS = 12 };

/* The kind of a value in a signature:
 *   i16 i32 i64    integers                    nz16 nz32 nz64  without zero
 *   f16 f32 f64 bf16 f16x2 bf16x2  floats      p               0 or 1
 *   f32x2                                        i8             8 bits
 *   narrow32 narrow16x2  f32 and f16x2 near numbers of few digits
 *   amount  how far to shift, positions and widths, 32 bits
 *   lane    0 to 31                            small           -33 to 33
 *   #N      the constant N, as PTX writes it: 7, -3, 0f3F800000, 0d3FF0000000000000 */
typedef struct {
    char name[24];
    int bits; /* of its register; 1 for a predicate */
} Kind;

typedef struct {
    Kind results[MAX_KINDS], sources[MAX_KINDS];
    int result_count, source_count;
    const char *template; /* NULL: d0, s0, s1 ... */
} Signature;

void signature_read(const char *text, Signature *signature);

/* How many cases are tried in full: all pairs of edges and `random_cases`, or every value of a source of 16 bits. */
size_t case_count(const Signature *signature, size_t random_cases);
/* Operand `operand` of case `index` of `count`. */
uint64_t case_value(const Signature *signature, int operand, size_t index, size_t count, uint64_t seed);

#endif
