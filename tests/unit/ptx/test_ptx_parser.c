/* Statements and declarations of PTX, decoded. */
#include "tests/unit/ptx/ptx_fixture.h"

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

/* Names of files may come behind the text that uses them; what is no number or name is passed over. */
START_TEST(statements_know_their_opcode_and_the_line_that_loc_names) {
    Module *module = parse(HEADER ".file 2 \"later.h\"\n"
                                  ".entry k() { .reg .b32 %r<4>;\n"
                                  "mov.u32 %r1, 1;\n.loc 1 10 3\nadd.s32 %r2, %r1, 2;\n"
                                  "add.s32 %r2, %r2, 3;\n.loc 2 7 0, function_name $a, inlined_at 1 10 3\n"
                                  "xor.b32 %r3, %r2, %r1;\n.loc 3 4 1\nret;\n.loc x\n.loc 1\nret; }\n"
                                  ".file 1 \"main.cu\", 12, 34\n.file x\n.file 99999999 \"far\"");
    const Kernel *kernel = module_kernel(module, "k");
    const InstSource *source = kernel->sources;
    ck_assert_str_eq(source[0].opcode, "mov.u32");
    ck_assert_uint_eq(source[0].line, 0);
    ck_assert_ptr_null(source[0].file);
    ck_assert_str_eq(source[1].opcode, "add.s32");
    for (int i = 1; i < 3; i++) {
        ck_assert_str_eq(source[i].file, "main.cu");
        ck_assert_uint_eq(source[i].line, 10);
    }
    ck_assert_str_eq(source[3].file, "later.h");
    ck_assert_uint_eq(source[3].line, 7);
    ck_assert_uint_eq(source[4].line, 4);
    ck_assert_ptr_null(source[4].file); /* nobody has named it */
    ck_assert_uint_eq(source[5].line, 4);
    module_free(module);
}
END_TEST

START_TEST(statements_of_other_files_know_the_last_place_in_their_kernels_own) {
    Module *module = parse(HEADER ".file 1 \"main.cu\"\n.file 2 \"header.h\"\n"
                                  ".func f() { .reg .u32 %b;\n.loc 1 5 1\n.loc 2 7 1\nmov.u32 %b, 1; ret; }\n"
                                  ".entry k() { .reg .b32 %r<4>;\n.loc 1 10 3\nmov.u32 %r1, 1;\n"
                                  ".loc 2 8 1\nadd.u32 %r1, %r1, 1;\ncall f;\nxor.b32 %r1, %r1, %r1; ret; }\n"
                                  ".entry of_the_header() {\n.loc 2 9 1\nret; }\n");
    const InstSource *source = module_kernel(module, "k")->sources;
    ck_assert_ptr_null(source[0].own_file);
    const struct {
        const char *opcode;
        uint32_t line, own_line;
    } expected[] = {{"add.u32", 8, 10}, {"mov.u32", 7, 5}, {"xor.b32", 8, 10}};
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_str_eq(source[i + 1].opcode, expected[i].opcode);
        ck_assert_uint_eq(source[i + 1].line, expected[i].line);
        ck_assert_str_eq(source[i + 1].own_file, "main.cu");
        ck_assert_uint_eq(source[i + 1].own_line, expected[i].own_line);
    }
    ck_assert_ptr_null(module_kernel(module, "of_the_header")->sources[0].own_file);
    module_free(module);
}
END_TEST

START_TEST(lines_of_a_function_that_is_inlined_end_with_it) {
    Module *module = parse(HEADER
                           ".func f(.reg .u32 %a) { .reg .u32 %b;\n.loc 1 20 1\nadd.u32 %b, %a, 1; ret; }\n"
                           ".entry k() { .reg .b32 %r<4>;\n.loc 1 10 3\nmov.u32 %r1, 1;\n"
                           "call f, (%r1);\nxor.b32 %r3, %r1, %r1; ret; }");
    const Kernel *kernel = module_kernel(module, "k");
    uint32_t inside = 0;
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        bool is_add = !strcmp(kernel->sources[i].opcode, "add.u32");
        ck_assert_uint_eq(kernel->sources[i].line, is_add ? 20 : 10);
        inside += is_add;
    }
    ck_assert_uint_eq(inside, 1);
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
    ck_assert_uint_eq(kernel->sources[2].ptx_line, 7);
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
    ck_assert(kernel->insts[1].flags & INST_GUARD_NEGATED);
    ck_assert_uint_eq(kernel->insts[2].guard, compare->pdst2);
    ck_assert(!(kernel->insts[2].flags & INST_GUARD_NEGATED));
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
    ck_assert_uint_eq(insts[3].bank_mask, 1u << 299 % MASKED_BANKS | 1u << 1);
    ck_assert(insts[3].banks_clash);
    ck_assert(insts[3].has_out_name);
    ck_assert_uint_eq(insts[4].bank_count, 2);
    ck_assert_uint_eq(insts[4].banks[0], 303 % 256);
    ck_assert_uint_eq(insts[4].banks[1], 2);
    ck_assert(!insts[4].banks_clash);
    ck_assert(!insts[4].has_out_name);
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
    ck_assert_uint_eq(module_kernel(module, "k")->sources[0].ptx_line, 9);
    module_free(module);
}
END_TEST

START_TEST(a_kernel_may_use_no_register) {
    Module *module = parse(HEADER ".entry k() { .reg .f32 unused; }");
    ck_assert_uint_eq(module_kernel(module, "k")->inst_count, 1);
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
    assert_refused(text, "expected up to 253 predicates live at once");
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

Suite *ptx_parser_suite(void) {
    Suite *suite = suite_create("ptx_parser");
    TCase *decoding = tcase_create("decoding");
    tcase_add_test(decoding, parameters_are_laid_out_by_their_alignment);
    tcase_add_test(decoding, statements_know_their_opcode_and_the_line_that_loc_names);
    tcase_add_test(decoding, lines_of_a_function_that_is_inlined_end_with_it);
    tcase_add_test(decoding, statements_of_other_files_know_the_last_place_in_their_kernels_own);
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
    tcase_add_test(decoding, a_kernel_may_use_no_register);
    tcase_add_test(decoding, long_initialisers_are_read_whole);
    tcase_add_test(decoding, more_predicates_than_masks_fit_when_few_are_live);
    tcase_add_test(decoding, environment_registers_are_zero);
    tcase_add_test(decoding, a_constant_can_stand_for_the_predicate_of_a_vote);
    tcase_add_test(decoding, an_atom_whose_result_is_not_read_writes_no_register);
    tcase_add_test(decoding, the_result_of_an_atom_on_global_memory_shares_no_slot);
    suite_add_tcase(suite, decoding);
    return suite;
}
