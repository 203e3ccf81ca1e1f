/* What the CTAs of a kernel find in registers, predicates, shared and local memory: zeros, whatever a kernel before has
 * left there. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

/* Adds what it finds to the thread's word of out, and leaves something else. %p1 never holds, which nobody knows before
 * the load; so %r9 and %p3 may be anything that was there. */
#define FINDS_AND_LEAVES(after)                                                                              \
    ".shared .align 4 .b8 tile[256];\n.local .align 4 .b8 own[65536];\n"                                     \
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\nmov.u64 %d1, out;\nadd.u64 %d1, %d1, %d2;\n"           \
    "ld.global.u32 %r2, [out+4096];\nsetp.ne.u32 %p1, %r2, 0;\n"                                             \
    "@%p1 mov.u32 %r9, %r1;\n@%p1 setp.eq.u32 %p3, %r1, 3;\n"                                                \
    "selp.u32 %r3, 1, 0, %p3;\nadd.u32 %r3, %r3, %r9;\n"                                                     \
    "mov.u32 %r4, tile;\nmad.lo.u32 %r4, %r1, 4, %r4;\nld.shared.u32 %r5, [%r4];\nadd.u32 %r3, %r3, %r5;\n"  \
    "ld.local.u32 %r5, [own];\nadd.u32 %r3, %r3, %r5;\n"                                                     \
    "ld.local.u32 %r5, [own+65532];\nadd.u32 %r3, %r3, %r5;\n"                                               \
    "ld.global.u32 %r6, [%d1];\nadd.u32 %r6, %r6, %r3;\nst.global.u32 [%d1], %r6;\n" after

#define LEAVES                                                                                               \
    "mov.u32 %r9, 77;\nadd.u32 %r9, %r9, %r1;\nsetp.lt.u32 %p3, %r1, 64;\nst.shared.u32 [%r4], %r9;\n"       \
    "st.local.u32 [own], %r9;\nst.local.u32 [own+65532], %r9;\nst.global.u32 [%d1+1024], %r9;\n@%p3 "        \
    "st.global.u32 [%d1+2048], %r9;\n"

START_TEST(ctas_find_zeros_after_a_kernel_of_the_same_shape) {
    TinySpec spec = {.body = FINDS_AND_LEAVES(LEAVES), .ctas = 3, .threads = 64};
    TinyMachine *m = tiny_new(spec);
    for (int launch = 0; launch < 3; launch++) {
        tiny_launch(m, spec);
        tiny_finish(m);
        for (uint32_t thread = 0; thread < 64; thread++) {
            ck_assert_uint_eq(tiny_word(m, thread), 0);
            ck_assert_uint_eq(tiny_word(m, 256 + thread), 77 + thread); /* it has left something */
        }
    }
    tiny_free(m);
}
END_TEST

Suite *kernel_memory_suite(void) {
    Suite *suite = suite_create("memory of kernels");
    TCase *tests = tcase_create("memory");
    tcase_add_test(tests, ctas_find_zeros_after_a_kernel_of_the_same_shape);
    suite_add_tcase(suite, tests);
    return suite;
}
