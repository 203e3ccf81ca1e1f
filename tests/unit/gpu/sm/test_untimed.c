/* Launches without timing: what kernels compute is what they compute with timing. Runs of instructions and branches stay
 * in one loop there, which must reconverge, and stop at faults, where timing does. */
#include "core/gpu/sm/untimed.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>

/* %d1: the thread's word of out. */
#define BEGIN                                                                                                \
    "mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n mov.u32 %r3, %ntid.x;\n mad.lo.u32 %r4, %r2, %r3, "     \
    "%r1;\n mul.wide.u32 %d2, %r4, 4;\n mov.u64 %d1, out;\n add.u64 %d1, %d1, %d2;\n mov.u32 %r9, 1;\n"
#define END "st.global.u32 [%d1], %r9;\n"
/* Takes part in a result that depends on the order of what comes here, and on which lanes do together. */
#define COUNT(n)                                                                                             \
    "setp.eq.u32 %p7, %r1, %r1;\n vote.ballot.b32 %r12, %p7;\n mad.lo.u32 %r9, %r9, 31, %r12;\n"             \
    "mad.lo.u32 %r9, %r9, 31, " #n ";\n"

static const char *const bodies[] = {
    /* all lanes turn as often; each as often as its number says; loops in loops, left in the middle */
    BEGIN "mov.u32 %r5, 0;\nAGAIN:\n" COUNT(3) "add.u32 %r5, %r5, 1;\n setp.lt.u32 %p1, %r5, 700;\n"
                                               "@%p1 bra AGAIN;\n" COUNT(5) END,
    BEGIN "and.b32 %r5, %r1, 7;\nAGAIN:\n" COUNT(3) "setp.eq.u32 %p1, %r5, 0;\n sub.u32 %r5, %r5, 1;\n"
                                                    "@!%p1 bra AGAIN;\n" COUNT(5) END,
    BEGIN "mov.u32 %r5, 0;\nOUTER:\n mov.u32 %r6, %r5;\nINNER:\n" COUNT(
        7) "setp.gt.u32 %p2, %r6, %r1;\n @%p2 bra LEFT;\n add.u32 %r6, %r6, 2;\n setp.lt.u32 %p1, %r6, 20;\n"
           "@%p1 bra INNER;\n" COUNT(2) "LEFT:\n" COUNT(
               11) "add.u32 %r5, %r5, 1;\n setp.lt.u32 %p1, %r5, 9;\n"
                   "@%p1 bra OUTER;\n" COUNT(5) END,
    /* both sides of branches, uniform in some warps and not in others; a side without instructions; lanes that exit */
    BEGIN "setp.lt.u32 %p1, %r1, 40;\n and.b32 %r5, %r1, 1;\n setp.eq.u32 %p2, %r5, 0;\n @%p1 bra "
          "ONE;\n" COUNT(3) "@%p2 bra MEET;\n" COUNT(4) "bra.uni MEET;\nONE:\n" COUNT(
              6) "@!%p2 bra MEET;\n" COUNT(7) "MEET:\n" COUNT(8) END
    "setp.eq.u32 %p3, %r1, 5;\n @%p3 exit;\n" COUNT(9) END,
    /* shared memory and its atomics: of warps of one CTA, and of lanes at one word */
    ".shared .align 4 .b8 own[256];\n" BEGIN
    "and.b32 %r5, %r1, 3;\n shl.b32 %r6, %r1, 2;\n mov.u32 %r7, own;\n add.u32 %r6, %r6, %r7;\n"
    "st.shared.u32 [%r6], %r1;\n bar.sync 0;\n shl.b32 %r8, %r5, 2;\n add.u32 %r8, %r8, %r7;\n"
    "atom.shared.add.u32 %r10, [%r8], 1;\n red.shared.max.u32 [%r8+16], %r1;\n" COUNT(
        3) "setp.lt.u32 %p1, %r1, 9;\n @%p1 atom.shared.exch.b32 %r10, [%r6+128], %r9;\n bar.sync 0;\n"
           "ld.shared.u32 %r11, [%r6];\n mad.lo.u32 %r9, %r9, 31, %r11;\n" END,
    /* accesses to memory in loops: each sees those before */
    BEGIN
    "mov.u32 %r5, 0;\n st.global.u32 [%d1], %r1;\nAGAIN:\n ld.global.u32 %r6, [%d1];\n mad.lo.u32 %r6, %r6, "
    "3, 1;\n st.global.u32 [%d1], %r6;\n add.u32 %r5, %r5, 1;\n setp.lt.u32 %p1, %r5, %r1;\n"
    "@%p1 bra AGAIN;\n ld.global.u32 %r9, [%d1];\n" COUNT(5) END,
};
enum { BODIES = sizeof bodies / sizeof *bodies, CTAS = 5, THREADS = 64 };

/* With timing, as the first CTAs of a launch that are all of it, and as a launch without timing. */
typedef enum { TIMED, FORWARD, UNTIMED, MODES } Mode;

static TinySpec spec_of(const char *body, Mode mode) {
    return (TinySpec){.body = body,
                      .ctas = CTAS,
                      .threads = THREADS,
                      .forward_ctas = mode == FORWARD ? CTAS : 0,
                      .untimed = mode == UNTIMED};
}

static TinyMachine *run(const char *body, Mode mode) {
    TinySpec spec = spec_of(body, mode);
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    tiny_finish(m);
    return m;
}

START_TEST(kernels_compute_what_they_compute_with_timing) {
    TinyMachine *timed = run(bodies[_i], TIMED);
    ck_assert_uint_gt(tiny_cycles(timed), 0);
    for (Mode mode = FORWARD; mode < MODES; mode++) {
        TinyMachine *untimed = run(bodies[_i], mode);
        ck_assert_uint_eq(tiny_cycles(untimed), 0);
        for (uint32_t i = 0; i < CTAS * THREADS; i++)
            ck_assert_uint_eq(tiny_word(untimed, i), tiny_word(timed, i));
        ck_assert_uint_ne(tiny_word(untimed, 0), 0);
        tiny_free(untimed);
    }
    tiny_free(timed);
}
END_TEST

/* Each executes in 8 lanes, whose rows it accesses, and what follows in all. */
START_TEST(instructions_behind_accesses_to_rows_execute_in_all_lanes) {
    static const char *const accesses[] = {
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r6];\n",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r6], {%r1};\n ld.shared.u32 %r9, [%r6];\n",
    };
    static const char before[] = ".shared .align 16 .b8 own[1024];\n" BEGIN
                                 "shl.b32 %r6, %r1, 4;\n mov.u32 %r7, own;\n add.u32 %r6, %r6, %r7;\n"
                                 "st.shared.u32 [%r6], %r1;\n bar.sync 0;\n";
    static const char behind[] = "mad.lo.u32 %r9, %r9, 31, %r1;\n add.u32 %r9, %r9, 1;\n" END;
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        char body[1500];
        snprintf(body, sizeof body, "%s%s%s", before, accesses[i], behind);
        TinySpec spec = spec_of(body, TIMED);
        spec.target = 90;
        TinyMachine *timed = tiny_run(spec), *untimed;
        spec.untimed = true;
        untimed = tiny_run(spec);
        for (uint32_t k = 0; k < CTAS * THREADS; k++)
            ck_assert_uint_eq(tiny_word(untimed, k), tiny_word(timed, k));
        ck_assert_uint_ne(tiny_word(timed, 20), tiny_word(timed, 21));
        tiny_free(timed);
        tiny_free(untimed);
    }
}
END_TEST

typedef struct {
    TinyMachine *machine;
    TinySpec spec;
} Run;

static void launch_and_finish(void *context) {
    const Run *r = context;
    tiny_launch(r->machine, r->spec);
    tiny_finish(r->machine);
}

/* Of the run [0, 3], [4, 8] of a loop, thread 37 of the last CTA misses its memory in turn 3, and nothing behind it is
 * done. */
START_TEST(a_fault_in_the_middle_of_a_run_is_that_of_its_instruction) {
    static const struct {
        const char *access;
        uint32_t line; /* of the body */
    } accesses[] = {
        {"add.u32 %r9, %r9, 1;\n@%p1 st.global.u32 [%d3], %r9;\nst.global.u32 [%d1], %r9;\n", 18},
        {"add.u32 %r9, %r9, 1;\nadd.u32 %r9, %r9, 2;\n@%p1 st.shared.u32 [%r6], %r9;\nst.global.u32 [%d1], "
         "%r9;\n",
         19},
        {"@%p1 ld.local.u32 %r9, [stack+16];\nst.global.u32 [%d1], %r9;\n", 17},
        {"selp.u32 %r7, %r6, 0, %p1;\nst.shared.u32 [%r7], %r9;\nst.global.u32 [%d1], %r9;\n", 18},
    };
    static const char before[] = ".shared .align 4 .b8 own[256];\n.local .align 4 .b8 stack[16];\n" BEGIN
                                 "mov.u32 %r5, 0;\nmov.u32 %r6, 4096;\nmov.u64 %d3, 16;\nAGAIN:\n"
                                 "setp.eq.u32 %p1, %r5, 3;\n";
    static const char behind[] = "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 9;\n@%p2 bra AGAIN;\n" END;
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        char body[1200], expected[80];
        snprintf(body, sizeof body, "%s%s%d%s%s%s", before, "setp.eq.and.u32 %p1, %r4, ",
                 (CTAS - 1) * THREADS + 37, ", %p1;\n", accesses[i].access, behind);
        for (Mode mode = TIMED; mode < MODES; mode++) {
            Run r = {.spec = spec_of(body, mode)};
            r.machine = tiny_new(r.spec);
            const char *message = tiny_error(launch_and_finish, &r, NULL);
            snprintf(expected, sizeof expected,
                     "kernel tiny, PTX line %u:", TINY_BODY_LINE + accesses[i].line - 1);
            ck_assert_msg(strstr(message, expected) != NULL, "%s should say %s", message, expected);
            snprintf(expected, sizeof expected, "CTA (%d, 0, 0), thread (37, 0, 0)", CTAS - 1);
            ck_assert_msg(strstr(message, expected) != NULL, "%s should say %s", message, expected);
            tiny_free(r.machine);
        }
    }
}
END_TEST

/* Each needs what the one before has computed. */
START_TEST(instructions_that_need_each_other_take_the_time_that_they_take_with_timing) {
    static const TinySpec spec = {
        .body = "mov.u32 %r1, %tid.x;\n add.u32 %r2, %r1, 5;\n mul.lo.u32 %r2, %r2, 3;\n"
                "mad.lo.u32 %r2, %r2, 3, 7;\n cvt.rn.f32.u32 %f1, %r2;\n add.rn.f32 %f1, %f1, 0f40000000;\n"
                "fma.rn.f32 %f1, %f1, 0f40000000, 0f3F800000;\n sqrt.approx.f32 %f1, %f1;\n"
                "div.rn.f32 %f1, %f1, 0f40400000;\n cvt.rzi.u32.f32 %r2, %f1;\n rem.u32 %r2, %r2, 7;\n"
                "setp.eq.u32 %p1, %r2, 1;\n selp.u32 %r2, 3, 4, %p1;\n mov.u64 %d1, out;\n"
                "st.global.u32 [%d1], %r2;\n"};
    enum { FIRST = 1, LAST = 12 };
    TinyMachine *m = tiny_run(spec);
    const Kernel *kernel = m->sm[0]->running->kernel;
    PlainInst *plain = untimed_find_plain(kernel);
    untimed_find_times(plain, m->sm[0], kernel, 40);
    for (uint32_t pc = FIRST; pc < LAST; pc++)
        ck_assert_uint_eq(plain[pc + 1].issues - plain[pc].issues,
                          tiny_issued_at(m, 0, pc + 1, 0) - tiny_issued_at(m, 0, pc, 0));
    free(plain);
    tiny_free(m);
}
END_TEST

Suite *untimed_suite(void);
Suite *untimed_suite(void) {
    Suite *suite = suite_create("untimed");
    TCase *tests = tcase_create("untimed");
    tcase_add_loop_test(tests, kernels_compute_what_they_compute_with_timing, 0, BODIES);
    tcase_add_test(tests, a_fault_in_the_middle_of_a_run_is_that_of_its_instruction);
    tcase_add_test(tests, instructions_behind_accesses_to_rows_execute_in_all_lanes);
    tcase_add_test(tests, instructions_that_need_each_other_take_the_time_that_they_take_with_timing);
    suite_add_tcase(suite, tests);
    return suite;
}
