/* PTX texts for tests of the parser, and what became of them. */
#ifndef WW_TESTS_PTX_FIXTURE_H
#define WW_TESTS_PTX_FIXTURE_H

#include "core/ptx/module.h"
#include "core/sim/base/error.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three lines, so that what follows begins in line 4. */
#define HEADER ".version 7.0\n.target sm_70\n.address_size 64\n"
#define REGISTERS                                                                                            \
    ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b16 "     \
    "%rs<9>;\n"
/* A kernel whose statements begin in line 6. */
#define KERNEL_HEAD  HEADER ".visible .entry k(.param .u64 a, .param .u32 n) {\n" REGISTERS
#define KERNEL(body) KERNEL_HEAD body "\n}\n"

/* A function for such kernels, and a call of it. */
#define ADD_FUNCTION                                                                                         \
    ".func (.param .b32 result) add(.param .b32 left, .param .b32 right) { .reg .b32 %r<4>; .reg .pred "     \
    "%p<2>;\n"                                                                                               \
    "ld.param.u32 %r1, [left]; ld.param.u32 %r2, [right]; add.s32 %r3, %r1, %r2; st.param.b32 [result+0], "  \
    "%r3;\n"                                                                                                 \
    "setp.eq.s32 %p1, %r3, 0; @%p1 ret; mov.u32 %r3, 7; st.param.b32 [result+0], %r3; ret; }\n"
#define CALL_ADD(to)                                                                                         \
    "{ .param .b32 p0; st.param.b32 [p0+0], %r1; .param .b32 p1; st.param.b32 [p1+0], 5; .param .b32 "       \
    "back;\n"                                                                                                \
    "call.uni (back),\nadd,\n(\np0,\np1\n); ld.param.b32 " to ", [back+0]; }\n"

/* Why the last text was refused. */
static char message[4096];

typedef struct {
    const char *text;
    size_t length;
    Module *module;
} Parsing;

static inline void parse_text(void *context) {
    Parsing *parsing = context;
    parsing->module = module_parse("test.ptx", parsing->text, parsing->length);
}

/* NULL when the text is refused. */
static inline Module *try_parse(const char *text, size_t length) {
    Parsing parsing = {text, length, NULL};
    const char *error = user_error_catch(parse_text, &parsing);
    snprintf(message, sizeof message, "%s", error ? error : "");
    return parsing.module;
}

static inline Module *parse(const char *text) {
    Module *module = try_parse(text, strlen(text));
    ck_assert_msg(module != NULL, "%s", message);
    return module;
}

static inline void assert_refused(const char *text, const char *expected) {
    Module *module = try_parse(text, strlen(text));
    ck_assert_ptr_null(module);
    ck_assert_msg(strstr(message, expected) != NULL, "\"%s\" should say \"%s\"", message, expected);
}

static inline void *constant(const Kernel *kernel, uint32_t operand) {
    ck_assert(operand & OPERAND_CONST);
    ck_assert_uint_lt((operand & OPERAND_OFFSET) / SLOT_BYTES, kernel->constant_slots);
    return kernel->constants + (operand & OPERAND_OFFSET);
}

/* The value of an immediate, which must be the same in all lanes. */
static inline uint64_t lanes32(const Kernel *kernel, uint32_t operand) {
    const uint32_t *lanes = constant(kernel, operand);
    for (int lane = 1; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(lanes[lane], lanes[0]);
    return lanes[0];
}

static inline uint64_t lanes64(const Kernel *kernel, uint32_t operand) {
    ck_assert_uint_eq((operand & OPERAND_OFFSET) % (2 * SLOT_BYTES), 0);
    const uint64_t *lanes = constant(kernel, operand);
    for (int lane = 1; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(lanes[lane], lanes[0]);
    return lanes[0];
}

#endif
