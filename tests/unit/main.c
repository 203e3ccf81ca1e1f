/* Runs the unit tests: unit_tests [--alone] [SUITE | SUITE:TEXT | :TEXT ...]. Of a suite, or of any, those tests
 * whose names contain TEXT; all when nothing is named. The last line is "N passed, M failed", with ", K skipped"
 * where some were.
 *
 * One process runs the tests of a suite, one after the other: a process for each takes longer than most tests,
 * above all under LeakSanitizer, which goes through all memory at the end of each. With --alone, each test is
 * a process. So is one that should exit or die; and all of a suite that failed in one process, which says
 * which it was. */
#include "tests/unit/suites.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the processes that run tests tell the first one, in memory that they share. */
typedef struct {
    int skipped;
    int run;       /* by the last process of a suite, see run_together() */
    bool finished; /* it came to its end */
} Told;

static Told *told;

void skip_test(const char *name, const char *why) {
    __atomic_add_fetch(&told->skipped, 1, __ATOMIC_RELAXED);
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
typedef enum { ANY, RETURNS, DIES } TestEnd; /* DIES: a test that should exit, or die of a signal */
static TestEnd wanted_end;
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
    TestEnd end_of_test = signal != 0 || status != 0 ? DIES : RETURNS;
    if (!is_wanted(suite_name, test->name) || (wanted_end != ANY && wanted_end != end_of_test)) return;
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

/* Adds this suite with its tests that end so; without any, to `others`, which nobody runs. Returns their number. */
static int add_suite(const UnitSuite *s, TestEnd end, SRunner *runner, SRunner *others) {
    suite_name = s->name;
    wanted_end = end;
    chosen = 0;
    Suite *suite = s->make();
    srunner_add_suite(chosen ? runner : others, suite);
    return chosen;
}

/* A test that does not end is known by its own processor time, of which a busy machine takes nothing. By the
 * clock, after an hour, only one that waits for ever. */
enum { CLOCK_LIMIT = 3600 };

static void limit_tests(void) {
    enum { SECONDS = 300 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) == 0 && (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > SECONDS)) {
        limit.rlim_cur = SECONDS;
        setrlimit(RLIMIT_CPU, &limit);
    }
    char clock_limit[16];
    snprintf(clock_limit, sizeof clock_limit, "%d", CLOCK_LIMIT);
    setenv("CK_DEFAULT_TIMEOUT", clock_limit, 0);
}

/* Runs these tests in one process of their own; false when any failed, or the process died, or leaked. */
static bool run_together(SRunner *runner) {
    int status, skipped_before = told->skipped;
    told->finished = false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        main_process = getpid();
        alarm(CLOCK_LIMIT);
        srunner_set_fork_status(runner, CK_NOFORK);
        srunner_run_all(runner, CK_SILENT);
        int failed = srunner_ntests_failed(runner);
        if (failed > 0) srunner_print(runner, CK_NORMAL);
        told->run = srunner_ntests_run(runner);
        told->finished = true;
        srunner_free(runner);
        exit(failed > 0);
    }
    bool good = child > 0 && waitpid(child, &status, 0) == child && status == 0 && told->finished;
    if (!good) told->skipped = skipped_before;
    return good;
}

typedef struct {
    SRunner *alone;  /* runs each test in a process of its own */
    SRunner *others; /* does not run */
    bool each_alone;
    int wanted, passed;
    const char **failed; /* suites whose tests failed in one process */
    int failed_count;
} Plan;

/* Runs the tests of a suite in one process; what cannot be, and all if it failed, is left to `alone`. */
static void plan_suite(Plan *plan, const UnitSuite *s) {
    SRunner *together = srunner_create(NULL);
    int count = plan->each_alone ? 0 : add_suite(s, RETURNS, together, plan->others);
    TestEnd left = plan->each_alone ? ANY : DIES;
    if (count > 0 && run_together(together)) {
        plan->wanted += count;
        plan->passed += told->run;
    } else if (count > 0) {
        plan->failed[plan->failed_count++] = s->name;
        left = ANY;
    }
    plan->wanted += add_suite(s, left, plan->alone, plan->others);
    srunner_free(together);
}

/* Runs what is left; returns how many failed. A suite that failed in one process is a failure also when each of its
 * tests passes alone. */
static int run_alone(Plan *plan) {
    srunner_run_all(plan->alone, CK_NORMAL);
    int failed = srunner_ntests_failed(plan->alone);
    plan->passed += srunner_ntests_run(plan->alone) - failed - told->skipped;
    for (int i = 0; i < plan->failed_count; i++)
        printf("unit_tests: %s failed in one process, with what stands above; then each test ran alone\n",
               plan->failed[i]);
    return failed < plan->failed_count ? plan->failed_count : failed;
}

static int suite_count(void) {
    int count = 0;
    while (unit_suites[count].name)
        count++;
    return count;
}

int main(int argc, char **argv) {
    bool each_alone = argc > 1 && strcmp(argv[1], "--alone") == 0;
    wanted_count = argc - 1 - each_alone;
    wanted = argv + 1 + each_alone;
    reject_unknown();
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED) return EXIT_FAILURE;
    limit_tests();
    keep_places();
    Plan plan = {.alone = srunner_create(NULL),
                 .others = srunner_create(NULL),
                 .each_alone = each_alone,
                 .failed = calloc((size_t)suite_count(), sizeof *plan.failed)};
    if (!plan.failed) return EXIT_FAILURE;
    for (const UnitSuite *s = unit_suites; s->name; s++)
        plan_suite(&plan, s);
    if (plan.wanted == 0) {
        fprintf(stderr, "unit_tests: expected (a part of) the name of a test, got '%s'\n", wanted[0]);
        return 2;
    }
    int failed = run_alone(&plan);
    srunner_free(plan.alone);
    srunner_free(plan.others);
    free(plan.failed);
    printf("%d passed, %d failed", plan.passed, failed);
    if (told->skipped) printf(", %d skipped", told->skipped);
    putchar('\n');
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
