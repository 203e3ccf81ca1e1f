/* The unit tests' table of suites. The build writes it from the names of the files: tests/unit/test_PART.c
 * exports PART_suite(). */
#ifndef WW_TESTS_UNIT_SUITES_H
#define WW_TESTS_UNIT_SUITES_H

#include <check.h>

typedef struct {
    const char *name;
    Suite *(*make)(void);
} UnitSuite;

extern const UnitSuite unit_suites[]; /* ends with a NULL name */

/* In a test that returns then: what it needs is not permitted here. It counts neither as passed nor as
 * failed. */
void skip_test(const char *name, const char *why);

#endif
