/* Which bytes of its parameters a kernel can read. */
#include "core/ptx/module.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <string.h>

#define BEGIN ".version 7.0\n.target sm_70\n.address_size 64\n.entry k("
#define BODY  ") {.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<4>;\n"

/* As text: an r for each byte that is read, a dash for each other one. */
static void assert_reads(const char *text, const char *expected) {
    Module *module = module_parse("test.ptx", text, strlen(text));
    const Kernel *kernel = module_kernel(module, "k");
    char read[128] = "";
    ck_assert_uint_lt(kernel->param_bytes, sizeof read);
    for (uint32_t i = 0; i < kernel->param_bytes; i++)
        read[i] = kernel->param_reads[i] == 0xff ? 'r' : kernel->param_reads[i] ? '?' : '-';
    ck_assert_str_eq(read, expected);
    module_free(module);
}

START_TEST(padding_of_a_struct_is_not_read) {
    assert_reads(BEGIN ".param .align 8 .b8 s[16]" BODY
                       "ld.param.u8 %r1, [s]; ld.param.u64 %rd1, [s+8]; st.global.u32 [%rd1], %r1;}",
                 "r-------rrrrrrrr");
}
END_TEST

START_TEST(a_parameter_that_no_instruction_names_is_not_read) {
    assert_reads(BEGIN ".param .u64 a, .param .align 1 .b8 unused[4], .param .u32 n" BODY
                       "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n]; st.global.u32 [%rd1], %r1;}",
                 "rrrrrrrr----rrrr");
}
END_TEST

START_TEST(a_vector_reads_all_its_elements) {
    assert_reads(BEGIN ".param .align 16 .b8 s[32]" BODY
                       "ld.param.v2.u32 {%r1, %r2}, [s+8]; ld.param.u16 %h1, [s+18];\n"
                       "cvt.u64.u32 %rd1, %r1; st.global.u32 [%rd1], %r2; st.global.u16 [%rd1], %h1;}",
                 "--------rrrrrrrr--rr------------");
}
END_TEST

START_TEST(a_parameter_whose_address_is_taken_is_read_as_a_whole) {
    assert_reads(BEGIN ".param .u64 a, .param .align 4 .b8 table[8]" BODY
                       "mov.b64 %rd1, table; mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 4; cvt.u64.u32 %rd2, "
                       "%r1;\n add.u64 %rd1, %rd1, %rd2; ld.param.u32 %r2, [%rd1]; st.global.u32 [%rd2], "
                       "%r2;}",
                 "--------rrrrrrrr");
}
END_TEST

/* As clang compiles an iterator of thrust with a functor that is empty: bytes 8 to 15 are never written. */
START_TEST(an_address_in_a_register_that_only_loads_use_reads_what_these_do) {
    assert_reads(BEGIN ".param .align 8 .b8 s[32], .param .u32 n" BODY
                       "mov.b64 %rd1, s; mov.u64 %rd2, %rd1; add.s64 %rd3, %rd2, 16;\n"
                       "ld.param.u64 %rd4, [%rd2]; ld.param.v2.u16 {%h1, %h2}, [%rd3+4];\n"
                       "st.global.u16 [%rd4], %h1; st.global.u16 [%rd4], %h2;}",
                 "rrrrrrrr------------rrrr--------"
                 "----");
}
END_TEST

START_TEST(a_load_in_front_of_the_move_in_the_text_counts) {
    assert_reads(BEGIN ".param .align 8 .b8 s[16]" BODY
                       "bra.uni L2; L1: ld.param.u8 %r1, [%rd2+8]; st.global.u32 [%rd3], %r1; exit;\n"
                       "L2: ld.param.u64 %rd3, [s]; mov.u64 %rd1, s; mov.u64 %rd2, %rd1; bra.uni L1;}",
                 "rrrrrrrrr-------");
}
END_TEST

START_TEST(a_register_that_may_hold_something_else_reads_as_a_whole) {
    static const char *const others[] = {
        "mov.u64 %rd1, s; @%p1 mov.u64 %rd1, t; ld.param.u8 %r1, [%rd1];", /* two addresses     */
        "@%p1 mov.u64 %rd1, s; ld.param.u8 %r1, [t]; ld.param.u8 %r1, [%rd1];",
        "mov.u64 %rd1, s; st.global.u64 [%rd2], %rd1; ld.param.u8 %r1, [t];", /* it is kept      */
        "mov.u64 %rd1, s+4; add.u64 %rd3, %rd1, %rd2; ld.param.u8 %r1, [%rd3]; ld.param.u8 %r1, [t];",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "%s.param .align 8 .b8 s[8], .param .align 8 .b8 t[8]%s.reg .pred %%p<2>; "
                 "setp.eq.u32 %%p1, %%r2, 0; %s st.global.u32 [%%rd2], %%r1;}",
                 BEGIN, BODY, others[i]);
        assert_reads(text, i ? "rrrrrrrrr-------" : "rrrrrrrrrrrrrrrr");
    }
}
END_TEST

Suite *param_reads_suite(void) {
    Suite *suite = suite_create("param_reads");
    TCase *tests = tcase_create("param_reads");
    tcase_add_test(tests, padding_of_a_struct_is_not_read);
    tcase_add_test(tests, a_parameter_that_no_instruction_names_is_not_read);
    tcase_add_test(tests, a_vector_reads_all_its_elements);
    tcase_add_test(tests, a_parameter_whose_address_is_taken_is_read_as_a_whole);
    tcase_add_test(tests, an_address_in_a_register_that_only_loads_use_reads_what_these_do);
    tcase_add_test(tests, a_load_in_front_of_the_move_in_the_text_counts);
    tcase_add_test(tests, a_register_that_may_hold_something_else_reads_as_a_whole);
    suite_add_tcase(suite, tests);
    return suite;
}
