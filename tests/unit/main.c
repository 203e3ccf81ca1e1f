/* Runs the unit tests: unit_tests [SUITE | SUITE:TEXT | :TEXT ...]. Of a suite, or of any, those tests whose
 * names contain TEXT; all when nothing is named. The last line is "N passed, M failed", with ", K skipped"
 * where some were. */
#include "tests/unit/suites.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* What the command line names, and the suite that is being made: _tcase_add_test() has no room for them. */
static int wanted_count;
static char **wanted;
static const char *suite_name;
static int chosen; /* tests of this suite */

static bool is_wanted(const char *suite, const char *test) {
    size_t length = strlen(suite);
    for (int i = 0; i < wanted_count; i++) {
        const char *text = strchr(wanted[i], ':');
        size_t named = text ? (size_t)(text - wanted[i]) : strlen(wanted[i]);
        bool in_suite = named == 0 || (named == length && memcmp(wanted[i], suite, length) == 0);
        if (in_suite && (!text || strstr(test, text + 1))) return true;
    }
    return wanted_count == 0;
}

/* The linker puts this in front of libcheck's function, which every tcase_add_...() calls. */
void __real__tcase_add_test(TCase *tcase, const TTest *test, int signal, int status, int start, int end);
void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int status, int start, int end);
void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int status, int start, int end) {
    if (!is_wanted(suite_name, test->name)) return;
    chosen++;
    __real__tcase_add_test(tcase, test, signal, status, start, end);
}

/* libcheck writes the place of every check to a file, in case the test dies before the next one: millions of
 * writes. A test here keeps the place to itself, and writes it when it dies. What fails writes its own. */
static _Thread_local const char *last_file;
static _Thread_local int last_line;
static pid_t main_process;

void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line) {
    last_file = file;
    last_line = line;
}

static void write_last_place(void) {
    if (last_file && getpid() != main_process) __real__mark_point(last_file, last_line);
}

static void die_of(int signal_number) { /* its handler is the default one again */
    write_last_place();
    raise(signal_number);
}

/* The sanitizers' own handlers stay: they show more. */
static void keep_places(void) {
    main_process = getpid();
    atexit(write_last_place);
    const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) {
        struct sigaction now, writing = {.sa_handler = die_of, .sa_flags = (int)SA_RESETHAND};
        if (sigaction(deadly[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(deadly[i], &writing, NULL);
    }
}

static void reject_unknown(void) {
    char name[64];
    for (int i = 0; i < wanted_count; i++) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(wanted[i], ":"), wanted[i]);
        if (is_known(name) || wanted[i][0] == ':') continue;
        fprintf(stderr, "unit_tests: no suite matches '%s'; available:", name);
        for (const UnitSuite *s = unit_suites; s->name; s++)
            fprintf(stderr, " %s", s->name);
        fputc('\n', stderr);
        exit(2);
    }
}

/* Suites without a test that is wanted go to `others`, which nobody runs. */
static int add_suites(SRunner *runner, SRunner *others) {
    int all = 0;
    for (const UnitSuite *s = unit_suites; s->name; s++) {
        suite_name = s->name;
        chosen = 0;
        Suite *suite = s->make();
        srunner_add_suite(chosen ? runner : others, suite);
        all += chosen;
    }
    return all;
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
    wanted_count = argc - 1;
    wanted = argv + 1;
    reject_unknown();
    skipped = mmap(NULL, sizeof *skipped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (skipped == MAP_FAILED) return EXIT_FAILURE;
    limit_tests();
    keep_places();
    SRunner *runner = srunner_create(NULL), *others = srunner_create(NULL);
    if (add_suites(runner, others) == 0) {
        fprintf(stderr, "unit_tests: expected (a part of) the name of a test, got '%s'\n", wanted[0]);
        return 2;
    }
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), passed = srunner_ntests_run(runner) - failed - *skipped;
    srunner_free(runner);
    srunner_free(others);
    printf("%d passed, %d failed", passed, failed);
    if (*skipped) printf(", %d skipped", *skipped);
    putchar('\n');
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
