/* Runs the unit tests: unit_tests [SUITE ...], all suites when none is named. The last line is "N passed, M
 * failed", with ", K skipped" where some were. */
#include "tests/unit/suites.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static int *skipped; /* each test is a process of its own */

void skip_test(const char *name, const char *why) {
    __atomic_add_fetch(skipped, 1, __ATOMIC_RELAXED);
    printf("SKIPPED %s: %s\n", name, why);
}

static bool is_known(const char *name) {
    for (const UnitSuite *s = unit_suites; s->name; s++)
        if (strcmp(s->name, name) == 0) return true;
    return false;
}

static bool is_wanted(const char *name, int count, char **wanted) {
    for (int i = 0; i < count; i++)
        if (strcmp(wanted[i], name) == 0) return true;
    return count == 0;
}

static void reject_unknown(int count, char **wanted) {
    for (int i = 0; i < count; i++) {
        if (is_known(wanted[i])) continue;
        fprintf(stderr, "unit_tests: there is no suite '%s'; there are", wanted[i]);
        for (const UnitSuite *s = unit_suites; s->name; s++)
            fprintf(stderr, " %s", s->name);
        fputc('\n', stderr);
        exit(2);
    }
}

/* A test that does not end is known by its own processor time, of which a busy machine takes nothing. By the
 * clock, after an hour, only one that waits for ever. */
static void limit_tests(void) {
    enum { SECONDS = 300 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) == 0 && (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > SECONDS)) {
        limit.rlim_cur = SECONDS;
        setrlimit(RLIMIT_CPU, &limit);
    }
    setenv("CK_DEFAULT_TIMEOUT", "3600", 0);
}

int main(int argc, char **argv) {
    int count = argc - 1;
    char **wanted = argv + 1;
    reject_unknown(count, wanted);
    skipped = mmap(NULL, sizeof *skipped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (skipped == MAP_FAILED) return EXIT_FAILURE;
    limit_tests();
    SRunner *runner = srunner_create(NULL);
    for (const UnitSuite *s = unit_suites; s->name; s++)
        if (is_wanted(s->name, count, wanted)) srunner_add_suite(runner, s->make());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), passed = srunner_ntests_run(runner) - failed - *skipped;
    srunner_free(runner);
    printf("%d passed, %d failed", passed, failed);
    if (*skipped) printf(", %d skipped", *skipped);
    putchar('\n');
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
