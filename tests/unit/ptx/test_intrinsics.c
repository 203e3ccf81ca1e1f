/* Calls of the DMA engine's intrinsics as compilers write them, and marks. */
#include "core/ptx/module.h"
#include "core/sim/base/error.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                                 \
    ".version 6.0\n.target sm_20\n.address_size 64\n"                                                        \
    ".extern .func dma_configure_2d (.param .b64 a, .param .b64 b, .param .b32 c, .param .b32 d, "           \
    ".param .b32 e, .param .b32 f);\n"                                                                       \
    ".extern .func dma_execute (.param .b64 a, .param .b64 b, .param .b32 c);\n"                             \
    ".extern .func dma_mark_tile_begin_0 ();\n.extern .func dma_mark_tile_end_0 ();\n"                       \
    ".extern .func dma_mark_tile_begin_4 ();\n.extern .func other (.param .b32 a);\n"                        \
    ".visible .entry k(.param .u32 n)\n{\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<3>;\n"
#define BEGIN "call.uni dma_mark_tile_begin_0, ();\n"
#define END   "call.uni dma_mark_tile_end_0, ();\n"

static Module *parse(const char *body) {
    char text[8192]; /* of this frame, which a parse error leaves behind */
    int length = snprintf(text, sizeof text, "%s%s\n}\n", HEAD, body);
    ck_assert(length > 0 && length < (int)sizeof text);
    return module_parse("k.ptx", text, (size_t)length);
}

static const char *stored_call = "mov.u64 %d1, 1;\n mov.u64 %d2, 2;\n mov.u32 %r3, 3;\n mov.u32 %r4, 4;\n"
                                 "{ .param .b64 p0;\n st.param.b64 [p0+0], %d1;\n .param .b64 p1;\n"
                                 "st.param.b64 [p1+0], %d2;\n .param .b32 p2;\n st.param.b32 [p2+0], %r3;\n"
                                 ".param .b32 p3;\n st.param.b32 [p3+0], 77;\n .param .b32 p4;\n"
                                 "st.param.b32 [p4+0], %r4;\n .param .b32 p5;\n st.param.b32 [p5+0], %r3;\n"
                                 "call.uni dma_configure_2d, (p0, p1, p2, p3, p4, p5);\n }\n ret;";

START_TEST(a_call_is_one_instruction_on_the_registers_that_were_passed) {
    Module *module = parse(stored_call);
    const Kernel *kernel = &module->kernels[0];
    ck_assert_uint_eq(kernel->inst_count, 4 + 1 + 1);
    const Inst *inst = &kernel->insts[4];
    ck_assert_uint_eq(inst->kind, INST_DMA);
    ck_assert_uint_eq(inst->detail, DMA_CONFIGURE_2D);
    ck_assert_uint_eq(inst->src_count, 6);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(inst->src[i], kernel->insts[i].dst[0]);
    ck_assert(inst->src[3] & OPERAND_CONST);
    ck_assert_uint_eq(*(const uint32_t *)(const void *)(kernel->constants + (inst->src[3] & OPERAND_OFFSET)),
                      77);
    ck_assert_uint_eq(inst->src[4], kernel->insts[3].dst[0]);
    ck_assert_uint_eq(inst->src[5], kernel->insts[2].dst[0]);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert(inst->names[kernel->insts[i].out_names[0] / 64] >> kernel->insts[i].out_names[0] % 64 & 1);
    ck_assert_uint_eq(kernel->dma_line, kernel_ptx_line(kernel, inst));
    ck_assert_uint_eq(kernel->mark_count, 0);
    module_free(module);
}
END_TEST

static void parse_body(void *body) {
    module_free(parse(body));
}

START_TEST(other_functions_without_a_body_stay_errors) {
    static const struct {
        const char *body, *error;
    } cases[] = {
        {"call other, (3);\n ret;", "the function has no body in this module"},
        {"call dma_mark_tile_begin_4, ();\n ret;", "the function has no body in this module"},
        {"call dma_execute, (%d1, %d2);\n ret;", "operands of another number, width or kind"},
        {"call dma_execute, (%d1, %r2, %r3);\n ret;", "operands of another number, width or kind"},
        {"{ .param .b32 p0;\n st.param.b32 [p0+0], %r1;\n mov.u32 %r2, %r3;\n call dma_execute, (%d1, %d2, "
         "p0);\n }\n"
         "ret;",
         "a parameter of an intrinsic is not stored right before the call"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *error = tiny_error(parse_body, (void *)(uintptr_t)cases[i].body, NULL);
        ck_assert_msg(strstr(error, cases[i].error), "'%s' is not in '%s'", cases[i].error, error);
    }
}
END_TEST

typedef struct {
    const char *body;
    uint32_t instructions;
    TileMark marks[2];
} MarkCase;

/* A mark goes with the instruction behind it. Before a label, to which others jump, it goes with the one
 * before; where that one is not on every way to the mark either, it takes an instruction of its own. */
START_TEST(marks_are_passed_by_those_that_pass_their_place) {
    static const MarkCase cases[] = {
        {"mov.u32 %r1, 1;\n" BEGIN "mov.u32 %r2, 2;\n mov.u32 %r3, 3;\n" END "ret;",
         4,
         {{1, 0, false}, {3, 0, true}}},
        {"mov.u32 %r1, 1;\n" BEGIN "L: mov.u32 %r2, 2;\n" END "bra L;", 3, {{0, 0, false}, {2, 0, true}}},
        {"mov.u32 %r1, 1;\n L:" BEGIN "M: mov.u32 %r2, 2;\n" END "@%p1 bra L;\n bra M;",
         5,
         {{1, 0, false}, {3, 0, true}}},
        {"mov.u32 %r1, 1;\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bra M;\n" BEGIN "M: mov.u32 %r2, 2;\n" END "ret;",
         6,
         {{3, 0, false}, {5, 0, true}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Module *module = parse(cases[i].body);
        const Kernel *kernel = &module->kernels[0];
        ck_assert_uint_eq(kernel->inst_count, cases[i].instructions);
        ck_assert_uint_eq(kernel->mark_count, 2);
        for (uint32_t m = 0; m < 2; m++) {
            ck_assert_uint_eq(kernel->marks[m].inst, cases[i].marks[m].inst);
            ck_assert_int_eq(kernel->marks[m].ends, cases[i].marks[m].ends);
        }
        ck_assert_uint_eq(kernel->dma_line, 0);
        module_free(module);
    }
}
END_TEST

Suite *intrinsics_suite(void) {
    Suite *suite = suite_create("intrinsics");
    TCase *calls = tcase_create("calls");
    tcase_add_test(calls, a_call_is_one_instruction_on_the_registers_that_were_passed);
    tcase_add_test(calls, other_functions_without_a_body_stay_errors);
    tcase_add_test(calls, marks_are_passed_by_those_that_pass_their_place);
    suite_add_tcase(suite, calls);
    return suite;
}
