#include "core/ptx/module.h"
#include "core/sim/error.h"

#include <check.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three lines, so that what follows begins in line 4. */
#define HEADER ".version 7.0\n.target sm_70\n.address_size 64\n"
#define REGISTERS                                                                                            \
    ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b16 "     \
    "%rs<9>;\n"
/* A kernel whose statements begin in line 6. */
#define KERNEL(body) HEADER ".visible .entry k(.param .u64 a, .param .u32 n) {\n" REGISTERS body "\n}\n"

static jmp_buf failed;
static char message[4096];

static void catch_error(void *context, const char *text) {
    (void)context;
    snprintf(message, sizeof message, "%s", text);
    longjmp(failed, 1);
}

/* NULL when the text is refused; `message` says why. */
static Module *try_parse(const char *text, size_t length) {
    Module *volatile module = NULL;
    message[0] = 0;
    user_error_handler(catch_error, NULL);
    if (!setjmp(failed)) module = module_parse("test.ptx", text, length);
    user_error_handler(NULL, NULL);
    return module;
}

static Module *parse(const char *text) {
    Module *module = try_parse(text, strlen(text));
    ck_assert_msg(module != NULL, "%s", message);
    return module;
}

static void assert_refused(const char *text, const char *expected) {
    Module *module = try_parse(text, strlen(text));
    ck_assert_ptr_null(module);
    ck_assert_msg(strstr(message, expected) != NULL, "\"%s\" should say \"%s\"", message, expected);
}

static void *constant(const Kernel *kernel, uint32_t operand) {
    ck_assert(operand & OPERAND_CONST);
    ck_assert_uint_lt((operand & OPERAND_OFFSET) / SLOT_BYTES, kernel->constant_slots);
    return kernel->constants + (operand & OPERAND_OFFSET);
}

/* The value of an immediate, which must be the same in all lanes. */
static uint64_t lanes32(const Kernel *kernel, uint32_t operand) {
    const uint32_t *lanes = constant(kernel, operand);
    for (int lane = 1; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(lanes[lane], lanes[0]);
    return lanes[0];
}

static uint64_t lanes64(const Kernel *kernel, uint32_t operand) {
    ck_assert_uint_eq((operand & OPERAND_OFFSET) % (2 * SLOT_BYTES), 0);
    const uint64_t *lanes = constant(kernel, operand);
    for (int lane = 1; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(lanes[lane], lanes[0]);
    return lanes[0];
}

static bool has_name(const Inst *inst, uint8_t name) {
    return inst->names[name / 64] >> name % 64 & 1;
}

START_TEST(parameters_are_laid_out_by_their_alignment) {
    Module *module = parse(
        HEADER ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 4 b,\n"
               ".param .align 16 .b8 c[20], .param .f32 d) .maxntid 64, 2 .minnctapersm 1 { ret; }");
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(kernel->param_count, 4);
    ck_assert_uint_eq(kernel->params[0].offset, 0);
    ck_assert_uint_eq(kernel->params[1].offset, 8);
    ck_assert_uint_eq(kernel->params[2].offset, 16);
    ck_assert_uint_eq(kernel->params[2].bytes, 20);
    ck_assert_uint_eq(kernel->params[3].offset, 36);
    ck_assert_str_eq(kernel->params[3].name, "d");
    ck_assert_uint_eq(kernel->param_bytes, 40);
    ck_assert_uint_eq(kernel->max_threads, 128);
    ck_assert_uint_eq(kernel->registers_per_thread, 1);
    ck_assert_ptr_null(module_kernel(module, "other"));
    module_free(module);
}
END_TEST

START_TEST(immediates_of_every_form_are_broadcast) {
    Module *module = parse(
        KERNEL("mov.u32 %r1, 0x1F; mov.u32 %r2, -3; mov.u32 %r3, 4294967295U; mov.u32 %r4, 0b101;\n"
               "mov.u32 %r5, 017; mov.f32 %f1, 0f3F800000; mov.f32 %f2, 2; mov.f32 %f3, 0d4008000000000000;\n"
               "mov.u64 %rd1, 18446744073709551615; mov.u64 %rd2, -9223372036854775808; mov.f64 %fd1, 1.5;\n"
               "mov.f64 %fd2, 0f3F800000; mov.u32 %r6, WARP_SZ; mov.f32 %f4, -0f3F800000;"));
    const Kernel *kernel = module_kernel(module, "k");
    const uint64_t narrow[] = {0x1f, 0xfffffffd, 0xffffffff, 5, 15, 0x3f800000, 0x40000000, 0x40400000};
    for (int i = 0; i < 8; i++)
        ck_assert_uint_eq(lanes32(kernel, kernel->insts[i].src[0]), narrow[i]);
    const uint64_t wide[] = {UINT64_MAX, 1ull << 63, 0x3ff8000000000000ull, 0x3ff0000000000000ull};
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(lanes64(kernel, kernel->insts[8 + i].src[0]), wide[i]);
    ck_assert_uint_eq(lanes32(kernel, kernel->insts[12].src[0]), 32);
    ck_assert_uint_eq(lanes32(kernel, kernel->insts[13].src[0]), 0xbf800000);
    ck_assert_uint_eq((uintptr_t)kernel->constants % 64, 0);
    module_free(module);
}
END_TEST

START_TEST(equal_immediates_share_a_slot_and_pairs_begin_at_even_ones) {
    Module *module = parse(KERNEL(
        "mov.u32 %r1, 5; mov.u64 %rd1, 5; add.s32 %r2, %r1, 5; mov.u32 %r3, 6; add.s64 %rd2, %rd1, 5;"));
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(kernel->insts[0].src[0], kernel->insts[2].src[1]);
    ck_assert_uint_eq(kernel->insts[1].src[0], kernel->insts[4].src[1]);
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[1].src[0]), 5);
    /* The slot left over before the pair; behind launch constants. */
    uint32_t first = kernel->insts[0].src[0], pair = kernel->insts[1].src[0];
    ck_assert_uint_eq(pair % (2 * SLOT_BYTES), 0);
    ck_assert_uint_eq(kernel->insts[3].src[0],
                      first % (2 * SLOT_BYTES) ? pair + 2 * SLOT_BYTES : first + SLOT_BYTES);
    module_free(module);
}
END_TEST

START_TEST(addresses_take_offsets_of_both_signs) {
    Module *module = parse(
        KERNEL(".shared .align 4 .b8 s[8], t[8];\n"
               "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n+0]; ld.global.u32 %r2, [%rd1+-1024];\n"
               "ld.global.u32 %r3, [%rd1-4]; ld.shared.u32 %r4, [t+4]; ld.shared.u32 %r5, [12];\n"
               "mov.u32 %r6, t; st.shared.u32 [%r6+4], %r1;"));
    const Kernel *kernel = module_kernel(module, "k");
    const int64_t displacement[] = {0, 8, -1024, -4, 12, 12, 0, 4};
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(kernel->insts[i].displacement, displacement[i]);
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[1].src[0]), 0);
    ck_assert_uint_eq(kernel->insts[2].src[0], kernel->insts[0].dst[0]);
    ck_assert_uint_eq(lanes32(kernel, kernel->insts[6].src[0]), 8);
    ck_assert_uint_eq(kernel->insts[7].src[1], kernel->insts[1].dst[0]);
    ck_assert_uint_eq(kernel->insts[7].src_count, 2);
    ck_assert_uint_eq(kernel->shared_bytes, 16);
    ck_assert_uint_eq(kernel->insts[2].line, 7);
    module_free(module);
}
END_TEST

START_TEST(dynamic_shared_memory_begins_behind_the_static) {
    Module *module = parse(
        HEADER
        ".extern .shared .align 16 .b8 dyn[];\n.shared .align 8 .b8 used[20]; .shared .b32 unused[64];\n"
        ".entry one() { .reg .b32 %r<3>; mov.u32 %r1, used; mov.u32 %r2, dyn; ret; }\n"
        ".entry two() { .reg .b32 %r<3>; .shared .b8 own; mov.u32 %r1, used; ret; }\n");
    const Kernel *one = module_kernel(module, "one"), *two = module_kernel(module, "two");
    ck_assert_uint_eq(lanes32(one, one->insts[1].src[0]), 32);
    ck_assert_uint_eq(one->shared_bytes, 32);
    ck_assert_uint_eq(lanes32(two, two->insts[0].src[0]), 8);
    ck_assert_uint_eq(two->shared_bytes, 28);
    module_free(module);
}
END_TEST

START_TEST(initialisers_fill_what_they_name_and_zero_the_rest) {
    Module *module = parse(
        HEADER
        ".global .align 4 .u16 a[4] = {1, -2, 0x10};\n.const .f32 f[2][2] = {{0f3F800000}, {2, 1.5}};\n"
        ".global .f64 d = 0f3F800000;\n.global .b8 s[] = {72, 105, 0};\n.global .u32 none;\n");
    const ModuleVariable *variables = module->variables;
    ck_assert_uint_eq(module->variable_count, 5);
    ck_assert_uint_eq(variables[0].bytes, 8);
    ck_assert_uint_eq(variables[0].align, 4);
    ck_assert_mem_eq(variables[0].init, "\x01\x00\xfe\xff\x10\x00\x00\x00", 8);
    ck_assert_int_eq(variables[1].space, SPACE_CONST);
    ck_assert_mem_eq(variables[1].init, "\0\0\x80\x3f\0\0\0\0\0\0\0\x40\0\0\xc0\x3f", 16);
    ck_assert_mem_eq(variables[2].init, "\0\0\0\0\0\0\xf0\x3f", 8);
    ck_assert_uint_eq(variables[3].bytes, 3);
    ck_assert_mem_eq(variables[3].init, "Hi", 3);
    ck_assert_ptr_null(variables[4].init);
    module_free(module);
}
END_TEST

START_TEST(addresses_of_variables_appear_when_the_module_is_placed) {
    Module *module = parse(
        HEADER ".extern .global .u32 x;\n.global .u64 table[3] = {x, generic(c)+8, f};\n.global .u32 x;\n"
               ".const .u32 c[4];\n.global .b8 bytes[2] = {0xFF(x), 0xFF00(x)};\n.func f() { ret; }\n"
               ".entry k() { .reg .b64 %rd<3>; .reg .b32 %r<3>; mov.u64 %rd1, x; ld.const.u32 %r1, [c+4]; "
               "mov.u64 %rd2, c+12; ret; }");
    for (uint32_t i = 0; i < module->variable_count; i++)
        module->variables[i].address = 0xc0001200 + 0x1000 * i;
    module_place(module);
    const uint64_t *table = (const uint64_t *)(const void *)module->variables[0].init;
    ck_assert_uint_eq(table[0], 0xc0002200);
    ck_assert_uint_eq(table[1], 0xc0003208);
    ck_assert_uint_eq(table[2], 16); /* functions have numbers */
    ck_assert_mem_eq(module->variables[3].init, "\x00\x22", 2);
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[0].src[0]), 0xc0002200);
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[1].src[0]), 0xc0003200);
    ck_assert_int_eq(kernel->insts[1].displacement, 4);
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[2].src[0]), 0xc000320c);
    module_free(module);
}
END_TEST

START_TEST(sinks_have_no_destination) {
    Module *module = parse(
        KERNEL("ld.param.u64 %rd1, [a]; ld.global.v4.u32 {%r1, _, %r2, _}, [%rd1]; add.s32 %r3, %r1, %r2;"));
    const Inst *load = &module_kernel(module, "k")->insts[1];
    ck_assert_uint_eq(load->dst_count, 2);
    ck_assert_uint_eq(load->dst_mask, 5);
    ck_assert_uint_ne(load->dst[0], load->dst[1]);
    ck_assert_uint_eq(load->out_name_count, 2);
    module_free(module);
}
END_TEST

START_TEST(predicates_may_be_negated_paired_and_guards) {
    Module *module = parse(
        KERNEL("setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3; @!%p1 mov.u32 %r2, 1; @%p2 mov.u32 %r3, 1;"));
    const Kernel *kernel = module_kernel(module, "k");
    const Inst *compare = &kernel->insts[0];
    ck_assert_uint_ne(compare->pdst, compare->pdst2);
    ck_assert_uint_ge(compare->pdst, FIRST_FREE_PREDICATE);
    ck_assert(compare->src[2] & OPERAND_NEGATED);
    ck_assert_uint_eq(kernel->insts[1].guard, compare->pdst);
    ck_assert(kernel->insts[1].guard_negated);
    ck_assert_uint_eq(kernel->insts[2].guard, compare->pdst2);
    ck_assert(!kernel->insts[2].guard_negated);
    ck_assert(has_name(&kernel->insts[1], compare->out_names[0]));
    ck_assert(has_name(&kernel->insts[2], compare->out_names[1]));
    ck_assert_uint_eq(kernel->predicates, 5);
    module_free(module);
}
END_TEST

START_TEST(special_registers_are_slots_but_clocks_are_not) {
    Module *module = parse(
        KERNEL("mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.y; add.s32 %r3, %r1, %tid.x; mov.u32 %r4, %clock;\n"
               "add.s32 %r5, %r4, %r2;"));
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(kernel->special_count, 2);
    ck_assert_uint_eq(kernel->specials[0].special, SPECIAL_TID_X);
    ck_assert_uint_eq(kernel->specials[1].special, SPECIAL_CTAID_Y);
    ck_assert_uint_eq(kernel->insts[0].src[0], kernel->specials[0].offset);
    ck_assert_uint_eq(kernel->insts[2].src[1], kernel->specials[0].offset);
    ck_assert_uint_eq(kernel->specials[1].offset, (kernel->slots - 1) * SLOT_BYTES);
    ck_assert_uint_eq(kernel->insts[3].src_count, 0);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_uint_lt(kernel->insts[i].dst[0], kernel->specials[0].offset);
    module_free(module);
}
END_TEST

START_TEST(scopes_shadow_registers_and_labels) {
    Module *module = parse(KERNEL(
        "mov.u32 %r1, 1; bra L;\n{ .reg .b32 %r<2>, plain; mov.u32 %r1, 2; mov.u32 plain, %r1; L: bra L; }\n"
        "{ L: bra L; bra out; }\nL: add.s32 %r2, %r1, 1; out:"));
    const Inst *insts = module_kernel(module, "k")->insts;
    ck_assert_uint_eq(insts[1].target, 7);
    ck_assert_uint_eq(insts[4].target, 4);
    ck_assert_uint_eq(insts[5].target, 5);
    ck_assert_uint_eq(insts[6].target, 8);
    ck_assert_uint_eq(insts[8].kind, INST_EXIT); /* added: the label needs an instruction behind it */
    ck_assert_uint_ne(insts[2].out_names[0], insts[0].out_names[0]);
    ck_assert(has_name(&insts[7], insts[0].out_names[0]));
    module_free(module);
}
END_TEST

START_TEST(branches_know_target_reconvergence_and_uniformity) {
    Module *module = parse(
        KERNEL("setp.lt.s32 %p1, %r1, %r2; @%p1 bra $L__BB0_2; mov.u32 %r3, 1; bra.uni $L__BB0_3;\n"
               "$L__BB0_2: mov.u32 %r3, 2;\n$L__BB0_3: ret;"));
    const Inst *insts = module_kernel(module, "k")->insts;
    ck_assert_uint_eq(insts[1].target, 4);
    ck_assert_uint_eq(insts[1].reconverge, 5);
    ck_assert_uint_eq(module_kernel(module, "k")->inst_count, 6);
    module_free(module);
}
END_TEST

START_TEST(names_and_banks_follow_the_virtual_registers) {
    Module *module = parse(HEADER ".entry k() { .reg .b32 %r<300>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
                                  "mov.u32 %r299, 1; mov.u64 %rd3, 2; mov.u32 %r1, 3;\n"
                                  "mad.lo.s32 %r2, %r299, %r1, %r1; @%p1 st.global.u32 [%rd3], %r2; }");
    const Inst *insts = module_kernel(module, "k")->insts;
    ck_assert_uint_eq(insts[3].bank_count, 3);
    ck_assert_uint_eq(insts[3].banks[0], 299 % 256);
    ck_assert_uint_eq(insts[3].banks[1], 1);
    ck_assert_uint_eq(insts[3].banks[2], 1);
    ck_assert_uint_eq(insts[3].bank_mask, 1u << 299 % 32 | 1u << 1);
    ck_assert_uint_eq(insts[4].bank_count, 2);
    ck_assert_uint_eq(insts[4].banks[0], 303 % 256);
    ck_assert_uint_eq(insts[4].banks[1], 2);
    ck_assert_uint_eq(insts[4].out_name_count, 0);
    int names = 0;
    for (int i = 0; i < 4; i++)
        names += __builtin_popcountll(insts[4].names[i]);
    ck_assert_int_eq(names, 3); /* guard, address, value */
    ck_assert(has_name(&insts[4], insts[1].out_names[0]));
    ck_assert(has_name(&insts[4], insts[3].out_names[0]));
    ck_assert_uint_eq(insts[1].dst[0] % (2 * SLOT_BYTES), 0);
    ck_assert_uint_eq(module_kernel(module, "k")->registers_per_thread, 4);
    module_free(module);
}
END_TEST

START_TEST(the_carry_flag_is_a_dependence) {
    Module *module = parse(KERNEL("add.cc.u32 %r1, %r1, %r2; mov.u32 %r3, 1; addc.u32 %r4, %r3, %r3;"));
    const Inst *insts = module_kernel(module, "k")->insts;
    ck_assert_uint_eq(insts[0].out_name_count, 2);
    ck_assert(has_name(&insts[2], insts[0].out_names[1]));
    ck_assert_uint_eq(module_kernel(module, "k")->predicates, FIRST_FREE_PREDICATE);
    module_free(module);
}
END_TEST

START_TEST(lines_of_debug_information_are_skipped) {
    Module *module = parse(
        "// banner\n/* two\nlines */ .version 9.0\n.target sm_75, debug\n.file 1 \"a.cu\", 1, 2\n"
        ".entry k() {\n.loc 1 22 0, function_name $L__info, inlined_at 1 2 0\n.pragma \"nounroll\";\n"
        "ret;\n}\n.section .debug_str {\n L: .b8 1, 2 { \"}\" }\n}\n");
    ck_assert_uint_eq(module_kernel(module, "k")->inst_count, 1);
    ck_assert_uint_eq(module_kernel(module, "k")->insts[0].line, 9);
    module_free(module);
}
END_TEST

START_TEST(a_trailing_nul_is_no_text) {
    static const char text[] = KERNEL("ret;");
    Module *module = try_parse(text, sizeof text);
    ck_assert_msg(module != NULL, "%s", message);
    module_free(module);
}
END_TEST

START_TEST(long_initialisers_are_read_whole) {
    enum { COUNT = 200000 };
    char *text = malloc(COUNT * 4 + 200), *at = text;
    at += sprintf(at, HEADER ".global .b8 big[%d] = {", COUNT);
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at, "%s%d", i ? "," : "", i % 256);
    sprintf(at, "};");
    Module *module = parse(text);
    ck_assert_uint_eq(module->variables[0].init[COUNT - 1], (COUNT - 1) % 256);
    module_free(module);
    free(text);
}
END_TEST

START_TEST(more_predicates_than_masks_fit_when_few_are_live) {
    char text[40000], *at = text;
    at += sprintf(at, HEADER ".entry k() { .reg .pred %%p<400>; .reg .b32 %%r<2>;\n");
    for (int i = 0; i < 400; i++)
        at += sprintf(at, "setp.eq.s32 %%p%d, %%r1, %d; @%%p%d mov.u32 %%r1, 1;\n", i, i, i);
    sprintf(at, "}");
    Module *module = parse(text);
    ck_assert_uint_eq(module_kernel(module, "k")->predicates, FIRST_FREE_PREDICATE + 1);
    module_free(module);
    at = text + sprintf(text, HEADER ".entry k() { .reg .pred %%p<400>; .reg .b32 %%r<2>;\n");
    for (int i = 0; i < 400; i++)
        at += sprintf(at, "@%%p%d mov.u32 %%r1, 1;\n", i);
    sprintf(at, "}");
    assert_refused(text, "more than 253 predicates live at once");
}
END_TEST

/* An atomic's result arrives when others have executed that could own its slot. */

START_TEST(an_atom_whose_result_is_not_read_writes_no_register) {
    Module *module = parse(KERNEL("ld.param.u64 %rd1, [a]; atom.global.add.u32 %r1, [%rd1], 1;\n"
                                  "atom.global.add.u32 %r2, [%rd1], %r2; atom.shared.add.u32 %r3, [4], 1;\n"
                                  "atom.global.add.u64 %rd2, [%rd1], 1; st.global.u64 [%rd1], %rd2;"));
    const Kernel *kernel = module_kernel(module, "k");
    const uint32_t results[] = {0, 0, 1, 1};
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(kernel->insts[i + 1].dst_count, results[i]);
        ck_assert_uint_eq(kernel->insts[i + 1].out_name_count, results[i]);
    }
    ck_assert_uint_eq(kernel->insts[2].src_count, 2);
    module_free(module);
}
END_TEST

START_TEST(the_result_of_an_atom_on_global_memory_shares_no_slot) {
    Module *module = parse(
        KERNEL("ld.param.u64 %rd1, [a]; atom.global.add.u32 %r1, [%rd1], 1;\n"
               "@%p1 bra L; st.global.u32 [%rd1], %r1; L: mov.u32 %r2, %laneid;\n"
               "st.global.u32 [%rd1], %r2; mov.u32 %r3, %laneid; st.global.u32 [%rd1], %r3;"));
    const Inst *insts = module_kernel(module, "k")->insts;
    ck_assert_uint_ne(insts[4].dst[0], insts[1].dst[0]); /* not even where %r1 is dead */
    ck_assert_uint_eq(insts[6].dst[0], insts[4].dst[0]);
    module_free(module);
}
END_TEST

START_TEST(environment_registers_are_zero) {
    Module *module = parse(KERNEL("mov.u32 %r1, %envreg2; mov.b32 %r2, %envreg31;"));
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(lanes32(kernel, kernel->insts[0].src[0]), 0);
    ck_assert_uint_eq(lanes32(kernel, kernel->insts[1].src[0]), 0);
    module_free(module);
}
END_TEST

START_TEST(a_constant_can_stand_for_the_predicate_of_a_vote) {
    Module *module = parse(KERNEL("vote.ballot.b32 %r1, 1; vote.sync.any.pred %p1, 0, -1;"));
    const Inst *insts = module_kernel(module, "k")->insts;
    ck_assert_uint_eq(insts[0].src[0], TRUE_PREDICATE);
    ck_assert_uint_eq(insts[1].src[0], TRUE_PREDICATE | OPERAND_NEGATED);
    ck_assert_uint_eq(insts[1].src_count, 2);
    module_free(module);
}
END_TEST

/* Calls. */

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

START_TEST(calls_are_inlined_with_parameters_in_registers) {
    Module *module = parse(HEADER ADD_FUNCTION ".entry k() { .reg .b32 %r<9>; mov.u32 %r1, 1;\n" CALL_ADD(
        "%r2") CALL_ADD("%r3") "add.s32 %r4, %r2, %r3; ret; }");
    const Kernel *kernel = module_kernel(module, "k");
    uint32_t branches = 0;
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        ck_assert_uint_ne(kernel->insts[i].kind, INST_LOAD);
        ck_assert_uint_ne(kernel->insts[i].kind, INST_STORE);
        if (kernel->insts[i].kind != INST_BRANCH) continue;
        branches++;
        ck_assert_uint_eq(kernel->insts[i].target, i + 3); /* the guarded return jumps behind the body */
    }
    ck_assert_uint_eq(branches, 2);
    ck_assert_uint_eq(kernel->inst_count, 1 + 2 * (2 + 8 + 1) + 2);
    ck_assert_uint_eq(kernel->local_bytes, 0);
    module_free(module);
}
END_TEST

START_TEST(parameters_accessed_in_parts_live_in_local_memory) {
    Module *module = parse(
        HEADER
        ".func f(.param .align 8 .b8 s[16]) { .reg .b64 %rd<2>; .reg .b32 %r<3>;\n"
        "ld.param.u64 %rd1, [s+8]; ld.param.v2.u32 {%r1, %r2}, [s]; ret; }\n"
        ".entry k() { .reg .b32 %r<9>; .local .align 4 .b8 depot[12];\n"
        "{ .param .align 8 .b8 p[16]; st.param.v4.b32 [p], {%r1, %r2, %r3, %r4}; call f, (p); } ret; }");
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(kernel->inst_count, 8);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(kernel->insts[i].kind, INST_STORE);
        ck_assert_uint_eq(kernel->insts[i].space, SPACE_LOCAL);
        ck_assert_int_eq(kernel->insts[i].displacement, 16 + 4 * (int64_t)i);
    }
    ck_assert_int_eq(kernel->insts[4].displacement, 24);
    ck_assert_uint_eq(kernel->local_bytes, 32);
    module_free(module);
}
END_TEST

START_TEST(a_guarded_call_is_branched_around) {
    Module *module = parse(
        HEADER ".func (.reg .u32 out) f(.reg .u32 in) { add.u32 out, in, 1; ret; }\n"
               ".entry k() { .reg .b32 %r<3>; .reg .pred %p<2>; @%p1 call (%r2), f, (%r1); ret; }");
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(kernel->inst_count, 5); /* bra, mov, add, mov, ret */
    ck_assert_uint_eq(kernel->insts[0].target, 4);
    ck_assert(kernel->insts[0].guard_negated);
    ck_assert_uint_eq(kernel->insts[2].src[0], kernel->insts[1].dst[0]);
    ck_assert_uint_eq(kernel->insts[3].src[0], kernel->insts[2].dst[0]);
    module_free(module);
}
END_TEST

START_TEST(calls_that_cannot_be_inlined_are_unsupported) {
    assert_refused(HEADER ".func f() { call f; ret; }\n.entry k() { call f; ret; }",
                   "test.ptx:4: call f: recursive calls");
    assert_refused(HEADER ".extern .func (.param .b32 r) other(.param .b64 a);\n"
                          ".entry k() { .param .b32 r; .param .b64 a;\ncall.uni (r), other, (a); ret; }",
                   "test.ptx:6: call.uni (r), other, (a): the function has no body");
    assert_refused(HEADER ".extern .func (.param .b64 r) malloc(.param .b64 a);\n"
                          ".entry k() { .param .b64 r; .param .b64 a;\ncall.uni (r), malloc, (a); ret; }",
                   "no heap");
    assert_refused(HEADER ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a);\n"
                          ".entry k() { .param .b32 r; .param .b64 a;\n"
                          "call.uni (r), __cudaCDP2LaunchDeviceV2, (a); ret; }",
                   "kernels cannot launch kernels");
    assert_refused(HEADER
                   ".entry k() { .reg .b64 %rd<2>;\ncall %rd1, proto;\nproto: .callprototype _ ();\nret; }",
                   "test.ptx:5: call %rd1, proto: no function whose address is taken has these parameters");
    assert_refused(HEADER ".func f(.param .b32 a) { ret; }\n.entry k() {\ncall f; ret; }",
                   "test.ptx:6: 'f' takes 1");
}
END_TEST

/* f and g fit, h has other parameters, and nobody takes the address of i. */
START_TEST(an_indirect_call_decides_between_the_functions_that_fit) {
    Module *module = parse(
        HEADER ".func f(.param .b32 a) { trap; ret; }\n.func g(.param .b32 a) { exit; }\n"
               ".func h(.param .b64 a) { ret; }\n.func i(.param .b32 a) { ret; }\n"
               ".global .u64 table[3] = {f, 0, h};\n"
               ".entry k() { .reg .b64 %rd<3>; .reg .b32 %r<3>; mov.u64 %rd1, g;\n"
               "{ .param .b32 p; st.param.b32 [p+0], %r1;\nproto: .callprototype () _ (.param .b32 _);\n"
               "call %rd1, (p), proto; } call i, (%r1); ret; }");
    const Kernel *kernel = module_kernel(module, "k");
    const uint64_t *table = (const uint64_t *)(const void *)module->variables[0].init;
    ck_assert_uint_eq(table[0], 16);
    ck_assert_uint_eq(table[1], 0);
    ck_assert_uint_eq(table[2], 48);
    /* mov, mov of the parameter; setp, bra, trap, bra; setp, bra, exit, bra; trap; mov, ret */
    const uint8_t kinds[] = {INST_ALU,    INST_ALU, INST_ALU,    INST_BRANCH, INST_ALU,
                             INST_BRANCH, INST_ALU, INST_BRANCH, INST_EXIT,   INST_BRANCH,
                             INST_ALU,    INST_ALU, INST_EXIT};
    ck_assert_uint_eq(kernel->inst_count, sizeof kinds);
    for (uint32_t n = 0; n < sizeof kinds; n++)
        ck_assert_uint_eq(kernel->insts[n].kind, kinds[n]);
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[0].src[0]), 32);
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[2].src[1]), 16);
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[6].src[1]), 32);
    ck_assert_uint_eq(kernel->insts[3].target, 6);
    ck_assert_uint_eq(kernel->insts[5].target, 11);
    ck_assert_uint_eq(kernel->insts[7].target, 10);
    module_free(module);
}
END_TEST

START_TEST(an_indirect_branch_decides_between_its_labels) {
    static const char *const forms[] = {"T: .branchtargets A, B, C;\nbrx.idx %r1, T;\n",
                                        "brx.idx.uni %r1, T;\nT: .branchtargets A, B, C;\n"};
    for (int form = 0; form < 2; form++) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s%s", HEADER ".entry k() { .reg .b32 %r<3>;\n", forms[form],
                 "A: mov.u32 %r2, 1; B: mov.u32 %r2, 2; C: mov.u32 %r2, 3; }");
        Module *module = parse(text);
        const Inst *insts = module_kernel(module, "k")->insts;
        ck_assert_uint_eq(lanes32(module_kernel(module, "k"), insts[0].src[1]), 1); /* setp.ge %r1, 1 */
        ck_assert_uint_eq(insts[1].target, 3);
        ck_assert_uint_eq(insts[2].target, 7); /* A */
        ck_assert_uint_eq(lanes32(module_kernel(module, "k"), insts[3].src[1]), 2);
        ck_assert_uint_eq(insts[4].target, 6);
        ck_assert_uint_eq(insts[5].target, 8); /* B */
        ck_assert_uint_eq(insts[6].target, 9); /* C */
        module_free(module);
    }
    assert_refused(KERNEL("A: brx.idx %r1, A;"), "test.ptx:6: 'A' is not a list of labels");
    assert_refused(KERNEL("brx.idx %r1, T;"), "test.ptx:6: 'T' is not a list of labels");
    assert_refused(KERNEL("T: .branchtargets A;\nbrx.idx %r1, T;"),
                   "test.ptx:7: the label 'A' is not declared");
}
END_TEST

START_TEST(printf_is_evaluated_and_prints_nothing) {
    Module *module = parse(
        HEADER ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
               ".entry k() { .reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
               "{ .param .b64 p0; st.param.b64 [p0+0], %rd1; .param .b64 p1; st.param.b64 [p1+0], %rd2;\n"
               ".param .b32 r; call.uni (r), vprintf, (p0, p1); ld.param.b32 %r1, [r+0]; } ret; }");
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(kernel->inst_count, 5); /* two parameters, the result, and it is fetched */
    ck_assert_uint_eq(lanes32(kernel, kernel->insts[2].src[0]), 0);
    ck_assert_uint_eq(kernel->insts[3].src[0], kernel->insts[2].dst[0]);
    module_free(module);
}
END_TEST

START_TEST(chains_of_calls_that_explode_are_refused) {
    char text[8000], *at = text;
    at += sprintf(at, HEADER ".func f0() { ret; }\n");
    for (int i = 1; i < 40; i++)
        at += sprintf(at, ".func f%d() { call f%d; call f%d; }\n", i, i - 1, i - 1);
    sprintf(at, ".entry k() { call f39; ret; }");
    assert_refused(text, "calls, inlined functions included");
}
END_TEST

/* Errors. */

START_TEST(errors_name_file_and_line) {
    assert_refused("", "test.ptx:1: expected '.version'");
    assert_refused(KERNEL("add.s32 %r1, %r2, %r9;"), "test.ptx:6: '%r9' is not declared");
    assert_refused(KERNEL("\nadd.s32 %r1, %r2, %q;"), "test.ptx:7: '%q' is not declared");
    assert_refused(KERNEL("ld.global.u32 %r1, [nowhere];"), "test.ptx:6: 'nowhere' is not declared");
    assert_refused(KERNEL("{ L: }\nbra L;"), "test.ptx:7: the label 'L' is not declared in this scope");
    assert_refused(KERNEL("L:\nL: ret;"), "test.ptx:7: 'L' is already declared in line 6");
    assert_refused(KERNEL(".reg .u32 %r<2>;"), "test.ptx:6: '%r<' is already declared in line 5");
    assert_refused(KERNEL(".reg .u32 %r3;"), "test.ptx:6: '%r3' is already declared in line 5");
    assert_refused(KERNEL("@%r1 ret;"), "test.ptx:6: '%r1', behind '@', is not a declared predicate");
    assert_refused(KERNEL("mov.u32 %r1, 99999999999999999999;"), "more than 64 bits");
    assert_refused(KERNEL("mov.u32 %r1, 0x;"), "without digits");
    assert_refused(KERNEL("mov.f32 %f1, 0f123;"), "0f needs 8");
    assert_refused(KERNEL("mov.u32 %r1, 5"), "test.ptx:7: expected ';' after a statement, found '}'");
    assert_refused(KERNEL(".shared .u32 s;\nld.global.u32 %r1, [s];"),
                   "test.ptx:7: 's' is not a variable in .global memory");
    assert_refused(KERNEL("mov.u32 %r1, %tid;"), "expected .x, .y or .z");
    assert_refused(HEADER ".entry k() { ret;", "the '{' of this line is never closed");
    assert_refused(HEADER ".entry k() { ret; }\n.entry k() { ret; }",
                   "test.ptx:5: 'k' is already declared in line 4");
    assert_refused(HEADER "/* never", "comment without its end");
    assert_refused(HEADER ".global .u32 a[2] = {1,2,3};",
                   "test.ptx:4: more initial values than the 2 elements");
    assert_refused(HEADER ".global .u32 a[99999999][99999999];", "2^40 bytes");
    assert_refused(HEADER ".global .u32 a[4294967296] = {1};", "268435456 bytes");
    assert_refused(HEADER ".global .u64 a = b;", "test.ptx:4: 'b' is not a .global or .const variable");
    assert_refused(HEADER ".extern .global .u32 x;\n.entry k() { .reg .b64 %rd<2>;\nmov.u64 %rd1, x; ret; }",
                   "test.ptx:6: 'x' is declared .extern in line 4, but this module does not define it");
    assert_refused(".version 7.0 .target sm_20 .address_size 32", "only .address_size 64");
}
END_TEST

START_TEST(unsupported_statements_of_all_kernels_come_in_one_message) {
    assert_refused(
        HEADER ".entry k() { .reg .b32 %r<9>;\nfrobnicate.b32 %r1,\n   %r2; ret; }\n"
               ".entry l() { .reg .b64 %rd<9>; mov.u64 %rd1, %pm1;\nsuld.b %rd1, %rd2; ret; }",
        "test.ptx:5: 3 unsupported statements\ntest.ptx:5: frobnicate.b32 %r1, %r2: opcode 'frobnicate'");
    ck_assert_ptr_nonnull(strstr(message, "\ntest.ptx:7: mov.u64 %rd1, %pm1: "));
    ck_assert_ptr_nonnull(strstr(message, "\ntest.ptx:8: suld.b %rd1, %rd2: "));
}
END_TEST

START_TEST(a_kernel_with_unsupported_statements_is_refused_and_the_others_are_not) {
    Module *module = parse(HEADER ".func f() { .reg .b32 %q; frobnicate.b32 %q, %q; ret; }\n"
                                  ".entry a() { .reg .b32 %r<9>;\nsuld.b %r1, %r2; ret; }\n"
                                  ".entry k() { .reg .b32 %r<9>; mov.u32 %r1, 7; ret; }\n"
                                  ".entry b() {\ncall f, (); ret; }\n.entry c() {\ncall f, (); ret; }\n");
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_ptr_null(kernel->refusal);
    ck_assert_uint_eq(kernel->inst_count, 2);
    ck_assert_ptr_nonnull(strstr(module_kernel(module, "a")->refusal,
                                 "test.ptx:6: 1 unsupported statement\ntest.ptx:6: suld.b %r1, %r2: "));
    /* Each names the function's statement. */
    for (const char *name = "b"; name; name = *name == 'b' ? "c" : NULL)
        ck_assert_str_eq(module_kernel(module, name)->refusal,
                         "test.ptx:4: 1 unsupported statement\n"
                         "test.ptx:4: frobnicate.b32 %q, %q: opcode 'frobnicate' is not supported");
    module_free(module);
}
END_TEST

/* What newer machines have and one kernel of a module may use. */
START_TEST(wide_registers_and_clusters_refuse_only_the_kernels_that_have_them) {
    Module *module = parse(
        HEADER ".entry declares() { .reg .b128 %w; .reg .b128 %q<2>; .reg .b32 %r<9>;\n"
               "mov.u32 %r1, 7; ret; }\n"
               ".entry uses() { .reg .b128 %q<2>; .reg .b64 %d<3>;\n"
               "mov.b128 %q1, {%d1, %d2}; ret; }\n"
               ".entry clusters()\n.reqnctapercluster 2, 1, 1\n.maxntid 64\n{ ret; }\n"
               ".entry limits()\n.maxclusterrank 8\n.maxntid 32, 2, 1\n.minnctapersm 2\n{ ret; }\n");
    ck_assert_ptr_null(module_kernel(module, "declares")->refusal);
    ck_assert_str_eq(module_kernel(module, "uses")->refusal,
                     "test.ptx:7: 1 unsupported statement\n"
                     "test.ptx:7: mov.b128 %q1, {%d1, %d2}: it uses a register of 128 bits");
    ck_assert_str_eq(module_kernel(module, "clusters")->refusal,
                     "test.ptx:9: 1 unsupported statement\n"
                     "test.ptx:9: .reqnctapercluster: clusters of CTAs are not supported");
    ck_assert_ptr_null(module_kernel(module, "limits")->refusal);
    ck_assert_uint_eq(module_kernel(module, "limits")->max_threads, 64);
    module_free(module);
}
END_TEST

START_TEST(a_long_list_of_unsupported_statements_ends_with_a_count) {
    char text[4000], *at = text;
    at += sprintf(at, HEADER ".entry k() { .reg .b32 %%r<9>;\n");
    for (int i = 0; i < 50; i++)
        at += sprintf(at, "frobnicate.b32 %%r1, %%r2;\n");
    sprintf(at, "}");
    assert_refused(text, "50 unsupported statements");
    ck_assert_ptr_nonnull(strstr(message, "... and 30 more"));
}
END_TEST

START_TEST(a_missing_file_is_an_error) {
    user_error_handler(catch_error, NULL);
    if (!setjmp(failed)) {
        module_free(module_load("/nonexistent/file.ptx"));
        ck_abort_msg("loaded a file that does not exist");
    }
    user_error_handler(NULL, NULL);
    ck_assert_ptr_nonnull(strstr(message, "/nonexistent/file.ptx: cannot be opened"));
}
END_TEST

/* Garbage. */

static const char sample[] = HEADER
    ".extern .shared .align 16 .b8 dyn[];\n.global .align 8 .u64 t[2] = {generic(c)+4, 0xFF(c)};\n"
    ".const .f32 c[2][2] = {{0f3F800000}, {1.5}};\n" ADD_FUNCTION
    ".visible .entry k(.param .u64 a, .param .align 4 .b8 s[8])\n.maxntid 64, 1, 1\n{\n" REGISTERS
    ".local .align 4 .b8 depot[8]; .loc 1 2 3\nmov.u64 %rd1, depot; ld.param.v2.u32 {%r1, _}, [s+0]; // x\n"
    "ld.param.u64 %rd2, [a]; cvta.to.global.u64 %rd3, %rd2; mov.u32 %r2, %tid.x; mov.u32 %r3, dyn;\n"
    "setp.lt.and.s32 %p1|%p2, %r1, -5, !%p3; @!%p1 bra $L__BB0_1; /* y */\n" CALL_ADD(
        "%r4") "{ .reg .b32 t; add.s32 t, %r4, 0x10; st.global.u32 [%rd3+-4], t; }\n"
               "$L__BB0_1: .pragma \"nounroll\"; bar.sync 0; mov.b64 %rd5, {%r1, %r2}; @%p2 ret; bra.uni "
               "$L__BB0_1;\n}\n";

START_TEST(every_prefix_of_a_module_is_refused_or_parsed) {
    size_t accepted = 0;
    for (size_t length = 0; length < sizeof sample; length++) {
        char *copy = malloc(length + 1); /* exact, so that a read behind the end is seen */
        memcpy(copy, sample, length);
        char *exact = realloc(copy, length ? length : 1);
        Module *module = try_parse(exact, length);
        accepted += module != NULL;
        ck_assert(module || message[0]);
        module_free(module);
        free(exact);
    }
    ck_assert_uint_ge(accepted, 2); /* the whole, and after some module-level lines */
}
END_TEST

START_TEST(flipped_bytes_are_refused_or_parsed) {
    uint32_t state = 1;
    for (int round = 0; round < 4000; round++) {
        char *copy = malloc(sizeof sample - 1);
        memcpy(copy, sample, sizeof sample - 1);
        for (int flips = 0; flips < 1 + round % 3; flips++) {
            state = state * 1664525u + 1013904223u;
            copy[(state >> 8) % (sizeof sample - 1)] ^= (char)(1 << (state >> 5 & 7));
        }
        Module *module = try_parse(copy, sizeof sample - 1);
        ck_assert(module || message[0]);
        module_free(module);
        free(copy);
    }
}
END_TEST

START_TEST(words_in_any_order_are_refused_or_parsed) {
    static const char *const words[] = {
        "{",       "}",       "(",      ")",       "[",          "]",   ";",     ",",     "@",
        "!",       "%p1",     "%r1",    "%rd1",    "L",          "L:",  ".reg",  ".b32",  ".pred",
        ".param",  ".func",   ".entry", "k",       "call",       "bra", "ret",   "mov",   ".u32",
        "1",       "-",       "+",      "<",       ">",          "=",   "_",     "|",     ".x",
        "ld",      "st",      ".v2",    "%tid",    ".align",     "16",  "f",     "\n",    ".shared",
        ".global", ".extern", ".local", "generic", "0f3F800000", "a",   "%p<9>", "%r<9>", ".section",
    };
    uint32_t state = 7;
    for (int round = 0; round < 4000; round++) {
        char text[600] = HEADER
            ".func f(.param .b32 a) { ret; } .entry k() { .reg .b32 %r<9>; .reg .pred %p<9>; ";
        for (int i = 0; i < 30; i++) {
            state = state * 1664525u + 1013904223u;
            strcat(text, words[(state >> 8) % (sizeof words / sizeof *words)]);
            strcat(text, " ");
        }
        strcat(text, round % 2 ? "; ret; }" : "");
        Module *module = try_parse(text, strlen(text));
        ck_assert(module || message[0]);
        module_free(module);
    }
}
END_TEST

START_TEST(deep_nesting_costs_no_stack) {
    enum { DEPTH = 200000 };
    char *text = malloc(3 * DEPTH + 200), *at = text;
    at += sprintf(at, HEADER ".entry k() {");
    memset(at, '{', DEPTH);
    memset(at + DEPTH, '}', DEPTH);
    strcpy(at + 2 * DEPTH, "}");
    module_free(parse(text));
    strcpy(text, HEADER ".entry k() { .reg .b32 %r<2>; mov.u32 %r1, ");
    at = text + strlen(text);
    memset(at, '-', DEPTH);
    strcpy(at + DEPTH, "1; }");
    module_free(parse(text));
    free(text);
}
END_TEST

Suite *ptx_parser_suite(void);
Suite *ptx_parser_suite(void) {
    Suite *suite = suite_create("ptx_parser");
    TCase *decoding = tcase_create("decoding");
    tcase_add_test(decoding, parameters_are_laid_out_by_their_alignment);
    tcase_add_test(decoding, immediates_of_every_form_are_broadcast);
    tcase_add_test(decoding, equal_immediates_share_a_slot_and_pairs_begin_at_even_ones);
    tcase_add_test(decoding, addresses_take_offsets_of_both_signs);
    tcase_add_test(decoding, dynamic_shared_memory_begins_behind_the_static);
    tcase_add_test(decoding, initialisers_fill_what_they_name_and_zero_the_rest);
    tcase_add_test(decoding, addresses_of_variables_appear_when_the_module_is_placed);
    tcase_add_test(decoding, sinks_have_no_destination);
    tcase_add_test(decoding, predicates_may_be_negated_paired_and_guards);
    tcase_add_test(decoding, special_registers_are_slots_but_clocks_are_not);
    tcase_add_test(decoding, scopes_shadow_registers_and_labels);
    tcase_add_test(decoding, branches_know_target_reconvergence_and_uniformity);
    tcase_add_test(decoding, names_and_banks_follow_the_virtual_registers);
    tcase_add_test(decoding, the_carry_flag_is_a_dependence);
    tcase_add_test(decoding, lines_of_debug_information_are_skipped);
    tcase_add_test(decoding, a_trailing_nul_is_no_text);
    tcase_add_test(decoding, long_initialisers_are_read_whole);
    tcase_add_test(decoding, more_predicates_than_masks_fit_when_few_are_live);
    tcase_add_test(decoding, environment_registers_are_zero);
    tcase_add_test(decoding, a_constant_can_stand_for_the_predicate_of_a_vote);
    tcase_add_test(decoding, an_atom_whose_result_is_not_read_writes_no_register);
    tcase_add_test(decoding, the_result_of_an_atom_on_global_memory_shares_no_slot);
    suite_add_tcase(suite, decoding);
    TCase *calls = tcase_create("calls");
    tcase_set_timeout(calls, 30);
    tcase_add_test(calls, calls_are_inlined_with_parameters_in_registers);
    tcase_add_test(calls, parameters_accessed_in_parts_live_in_local_memory);
    tcase_add_test(calls, a_guarded_call_is_branched_around);
    tcase_add_test(calls, calls_that_cannot_be_inlined_are_unsupported);
    tcase_add_test(calls, an_indirect_call_decides_between_the_functions_that_fit);
    tcase_add_test(calls, an_indirect_branch_decides_between_its_labels);
    tcase_add_test(calls, printf_is_evaluated_and_prints_nothing);
    tcase_add_test(calls, chains_of_calls_that_explode_are_refused);
    suite_add_tcase(suite, calls);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, errors_name_file_and_line);
    tcase_add_test(errors, unsupported_statements_of_all_kernels_come_in_one_message);
    tcase_add_test(errors, a_kernel_with_unsupported_statements_is_refused_and_the_others_are_not);
    tcase_add_test(errors, wide_registers_and_clusters_refuse_only_the_kernels_that_have_them);
    tcase_add_test(errors, a_long_list_of_unsupported_statements_ends_with_a_count);
    tcase_add_test(errors, a_missing_file_is_an_error);
    suite_add_tcase(suite, errors);
    TCase *garbage = tcase_create("garbage");
    tcase_set_timeout(garbage, 120);
    tcase_add_test(garbage, every_prefix_of_a_module_is_refused_or_parsed);
    tcase_add_test(garbage, flipped_bytes_are_refused_or_parsed);
    tcase_add_test(garbage, words_in_any_order_are_refused_or_parsed);
    tcase_add_test(garbage, deep_nesting_costs_no_stack);
    suite_add_tcase(suite, garbage);
    return suite;
}
