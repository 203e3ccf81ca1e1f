/* Registers with the same value in all threads of a launch: which they are, and their values. */
#include "core/ptx/execution/exec.h"
#include "core/ptx/module.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER    ".version 7.0\n.target sm_70\n.address_size 64\n"
#define REGISTERS ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"

static Module *parse(const char *text) {
    return module_parse("test.ptx", text, strlen(text));
}

static bool is_launch_constant(const Kernel *kernel, uint32_t inst) {
    bool constant = kernel->insts[inst].dst[0] & OPERAND_CONST, step = false;
    for (uint32_t i = 0; i < kernel->launch_step_count; i++)
        step |= kernel->launch_steps[i].inst == inst;
    ck_assert(step == constant);
    return constant;
}

START_TEST(what_is_the_same_in_all_threads_of_a_launch_is_a_launch_constant) {
    Module *module = parse(HEADER
                           ".global .u32 v;\n.entry k(.param .u64 a, .param .u32 n) {" REGISTERS
                           "ld.param.u64 %rd1, [a]; cvta.to.global.u64 %rd2, %rd1;\n"
                           "mov.u32 %r1, %ntid.x; ld.param.u32 %r2, [n]; mad.lo.s32 %r3, %r1, %r2, 4;\n"
                           "cvt.u64.u32 %rd3, %r3; mov.u64 %rd4, v; mov.b64 {%r4, %r5}, %rd1;\n"
                           "div.s32 %r6, %r3, 0; L: add.s64 %rd5, %rd4, %rd3; @%p1 bra L; }");
    const Kernel *kernel = module_kernel(module, "k");
    for (uint32_t i = 0; i < 10; i++)
        ck_assert_msg(is_launch_constant(kernel, i), "instruction %u", i);
    ck_assert_uint_eq(kernel->slots, 0);
    ck_assert_uint_eq(kernel->registers_per_thread, 7); /* as ever */
    module_free(module);
}
END_TEST

START_TEST(what_differs_or_changes_is_no_launch_constant) {
    static const struct {
        const char *body;
        uint32_t inst;
    } cases[] = {
        {"mov.u32 %r1, %tid.x;", 0},
        {"mov.u32 %r1, %ctaid.x;", 0},
        {"mov.u32 %r1, %smid;", 0},
        {"mov.u32 %r1, %clock;", 0},
        {"mov.u32 %r1, %laneid; add.s32 %r2, %r1, 1;", 1},
        {"mov.u32 %r1, 1; add.s32 %r1, %r1, 1;", 0}, /* written twice */
        {"mov.u32 %r1, 1; add.s32 %r1, %r1, 1;", 1},
        {"@%p1 mov.u32 %r1, 1; st.global.u32 [%rd1], %r1;", 0}, /* 1 or what it was */
        {"st.global.u32 [%rd1], %r1; mov.u32 %r1, 1;", 1},      /* read before it is written */
        {"L: add.s32 %r2, %r1, 1; mov.u32 %r1, 1; @%p1 bra L;", 1},
        {"add.cc.u32 %r1, 1, 2;", 0},
        {"addc.u32 %r1, 1, 2;", 0},
        {"activemask.b32 %r1;", 0},
        {"selp.u32 %r1, 1, 2, %p1;", 0},
        {"mov.u32 %r1, 0; ld.param.u32 %r2, [a+8];", 1}, /* not there: a fault when it executes */
        {"mov.u64 %rd1, 4; ld.global.u32 %r1, [%rd1];", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(text, sizeof text, "%s %s }", HEADER ".entry k(.param .u64 a) {" REGISTERS, cases[i].body);
        Module *module = parse(text);
        ck_assert_msg(!is_launch_constant(module_kernel(module, "k"), cases[i].inst), "%s", cases[i].body);
        module_free(module);
    }
}
END_TEST

START_TEST(launch_constants_are_computed_for_each_launch) {
    Module *module = parse(HEADER ".global .u32 v;\n.entry k(.param .u64 a, .param .u32 n) {" REGISTERS
                                  "ld.param.u32 %r1, [n]; mad.lo.s32 %r2, %r1, %ntid.x, 4;\n"
                                  "mul.wide.u32 %rd1, %r2, %nctaid.y; mov.u64 %rd2, v;\n"
                                  "add.s64 %rd3, %rd1, %rd2; add.s32 %r3, %r2, %tid.x; }");
    const Kernel *kernel = module_kernel(module, "k");
    module->variables[0].address = 0x1000;
    module_place(module);
    for (uint32_t launch = 1; launch < 4; launch++) {
        WarpIdentity identity = {.ntid = {32 * launch, 1, 1}, .nctaid = {1, launch, 1}};
        uint8_t params[16] = {[8] = (uint8_t)(10 * launch)};
        uint8_t *bank = exec_launch_constants(kernel, &identity, params);
        const uint32_t *r2 = (const void *)(bank + (kernel->insts[5].src[0] & OPERAND_OFFSET));
        const uint64_t *rd3 = (const void *)(bank + (kernel->insts[4].dst[0] & OPERAND_OFFSET));
        for (int lane = 0; lane < WARP_LANES; lane++) {
            ck_assert_uint_eq(r2[lane], 10 * launch * 32 * launch + 4);
            ck_assert_uint_eq(rd3[lane], (uint64_t)r2[lane] * launch + 0x1000);
        }
        free(bank);
    }
    module_free(module);
}
END_TEST

Suite *launch_constants_suite(void) {
    Suite *suite = suite_create("launch_constants");
    TCase *cases = tcase_create("launch constants");
    tcase_add_test(cases, what_is_the_same_in_all_threads_of_a_launch_is_a_launch_constant);
    tcase_add_test(cases, what_differs_or_changes_is_no_launch_constant);
    tcase_add_test(cases, launch_constants_are_computed_for_each_launch);
    suite_add_tcase(suite, cases);
    return suite;
}
