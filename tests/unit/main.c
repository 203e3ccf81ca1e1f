/* Runs the unit tests: unit_tests [SUITE ...], all suites when none is named. The last line is "N passed, M
 * failed". */
#include "tests/unit/suites.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv) {
    int count = argc - 1;
    char **wanted = argv + 1;
    reject_unknown(count, wanted);
    setenv("CK_DEFAULT_TIMEOUT", "120", 0); /* seconds; a sanitizer build on a busy machine is slow */
    SRunner *runner = srunner_create(NULL);
    for (const UnitSuite *s = unit_suites; s->name; s++)
        if (is_wanted(s->name, count, wanted)) srunner_add_suite(runner, s->make());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), passed = srunner_ntests_run(runner) - failed;
    srunner_free(runner);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
