/* Calls and branches to where a register points: what they become, and which are refused. */
#include "tests/unit/ptx/ptx_fixture.h"

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
    ck_assert(kernel->insts[0].flags & INST_GUARD_NEGATED);
    ck_assert_uint_eq(kernel->insts[2].src[0], kernel->insts[1].dst[0]);
    ck_assert_uint_eq(kernel->insts[3].src[0], kernel->insts[2].dst[0]);
    module_free(module);
}
END_TEST

/* The last call is a real one, as the function may call itself. */
START_TEST(a_number_passed_to_a_float_is_that_float) {
    Module *module = parse(
        HEADER ".func f(.reg .f32 x) { trap; ret; }\n.func g(.param .f64 x) { trap; ret; }\n"
               ".func h(.param .f32 x) { .reg .f32 %f<2>; ld.param.f32 %f1, [x]; call h, (%f1); ret; }\n"
               ".func i(.param .b32 x) { trap; ret; }\n"
               ".entry k() { call f, (1); call f, (-1.5); call g, (2); call g, (0f3F800000); call i, (3);\n"
               "call h, (0.25); ret; }");
    const Kernel *kernel = module_kernel(module, "k");
    static const uint64_t expected[] = {0x3f800000,         0xbfc00000, 0x4000000000000000,
                                        0x3ff0000000000000, 3,          0x3e800000};
    uint32_t inst = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++, inst++) {
        while (strncmp(kernel->sources[inst].opcode, "mov.b", 5) != 0)
            inst++;
        uint32_t source = kernel->insts[inst].src[0];
        bool wide = !strcmp(kernel->sources[inst].opcode, "mov.b64");
        ck_assert_uint_eq(wide ? lanes64(kernel, source) : lanes32(kernel, source), expected[i]);
    }
    module_free(module);
}
END_TEST

START_TEST(calls_that_cannot_be_inlined_are_unsupported) {
    assert_refused(HEADER ".extern .func (.param .b32 r) other(.param .b64 a);\n"
                          ".entry k() { .param .b32 r; .param .b64 a;\ncall.uni (r), other, (a); ret; }",
                   "test.ptx:6: call.uni (r), other, (a): the function has no body");
    assert_refused(HEADER ".extern .func (.param .b64 r) malloc(.param .b16 a);\n"
                          ".entry k() { .param .b64 r; .param .b16 a;\ncall.uni (r), malloc, (a); ret; }",
                   "test.ptx:6: call.uni (r), malloc, (a): the parameters are not those");
    assert_refused(HEADER ".extern .func (.param .f32 r) __nv_cosf(.param .f32 a);\n"
                          ".entry k() { .param .f32 r; .param .f32 a;\ncall.uni (r), __nv_cosf, (a); ret; }",
                   "a function of CUDA's device library that is not linked");
    assert_refused(HEADER ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a);\n"
                          ".entry k() { .param .b32 r; .param .b64 a;\n"
                          "call.uni (r), __cudaCDP2LaunchDeviceV2, (a); ret; }",
                   "kernels cannot launch kernels");
    assert_refused(HEADER ".func f(.param .b32 a) { ret; }\n.entry k() {\ncall f; ret; }",
                   "test.ptx:6: 'f': expected 1 parameters");
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

START_TEST(an_indirect_call_that_no_function_fits_is_a_fault_when_it_executes) {
    Module *module = parse(HEADER ".entry k() { .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
                                  "@%p1 call %rd1, proto;\nproto: .callprototype _ ();\nret; }");
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(kernel->inst_count, 3);
    ck_assert_uint_eq(kernel->insts[0].kind, INST_BRANCH);
    ck_assert_uint_eq(kernel->insts[0].target, 2);
    ck_assert_str_eq(kernel->sources[1].opcode, "trap.indirect");
    module_free(module);
}
END_TEST

START_TEST(the_address_of_a_kernel_is_a_number_of_its_own) {
    Module *module = parse(HEADER ".func f() { ret; }\n.entry a() { ret; }\n.entry b();\n"
                                  ".global .u64 table[4] = {f, a, b, k};\n"
                                  ".entry k() { .reg .b64 %rd<3>; mov.u64 %rd1, a; mov.u64 %rd2, b;\n"
                                  "st.global.u64 [table], %rd1; st.global.u64 [table], %rd2; ret; }\n"
                                  ".entry b() { ret; }");
    const Kernel *kernel = module_kernel(module, "k");
    const uint64_t *table = (const uint64_t *)(const void *)module->variables[0].init;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            ck_assert_uint_ne(table[i], table[j]);
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[0].src[0]), table[1]);
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[1].src[0]), table[2]);
    module_free(module);
}
END_TEST

START_TEST(an_indirect_call_fits_functions_by_the_sizes_of_registers) {
    Module *module = parse(HEADER
                           ".func f(.reg .f64 a) { trap; ret; }\n.func g(.param .b32 a) { exit; }\n"
                           ".func h(.reg .pred a) { trap; ret; }\n.global .u64 table[3] = {f, g, h};\n"
                           ".entry k() { .reg .b64 %rd<3>; .reg .f32 %f<3>; call %rd1, (%f1), P; ret;\n"
                           "P: .callprototype _ (.param .f32 _) .noreturn; }");
    const Kernel *kernel = module_kernel(module, "k");
    uint32_t traps = 0;
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        traps += !strcmp(kernel->sources[i].opcode, "trap");
    ck_assert_uint_eq(traps, 0); /* but for that of an unknown address, trap.indirect */
    module_free(module);
}
END_TEST

#define INDIRECT(prototype, call)                                                                            \
    HEADER ".func (.param .b32 r) f(.param .b64 a) { ret; }\n.global .u64 table = f;\n"                      \
           ".entry k() { .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p; .param .b32 b; .param .b64 a;\n"  \
           "P: " prototype ";\n" call "; ret; }\n.func later() { Q: .callprototype _; ret; }"

START_TEST(an_indirect_call_is_checked_against_its_prototype) {
    module_free(
        parse(INDIRECT(".callprototype (.param .b32 _) _ (.param .b64 _)", "call (b), %rd1, (a), P")));
    module_free(parse(INDIRECT(".calltargets f", "call (b), %rd1, (a), P")));
    assert_refused(INDIRECT(".callprototype (.param .b32 _) _ (.param .b64 _)", "call (b), %rd1, (a), Q"),
                   "test.ptx:8: expected a prototype (.callprototype or .calltargets), got 'Q'");
    assert_refused(INDIRECT(".callprototype (.param .b32 _) _", "call (b), %rd1, (a), P"),
                   "test.ptx:8: call by 'P': expected 0 parameters, got 1");
    assert_refused(INDIRECT(".callprototype _ (.param .b64 _)", "call (b), %rd1, (a), P"),
                   "test.ptx:8: call by 'P': expected 0 results, got 1");
    assert_refused(INDIRECT(".callprototype (.param .b32 _) _ (.param .b32 _)", "call (b), %rd1, (a), P"),
                   "test.ptx:8: call by 'P': parameter 1: expected 4 bytes, got 8 bytes");
    assert_refused(INDIRECT(".callprototype (.param .b32 _) _ (.reg .b64 _)", "call (%r1), %rd1, (%r1), P"),
                   "test.ptx:8: call by 'P': parameter 1: expected 8 bytes, got 4 bytes");
    assert_refused(INDIRECT(".callprototype (.param .b32 _) _ (.reg .b64 _)", "call (%p), %rd1, (%rd1), P"),
                   "test.ptx:8: call by 'P': result 1: expected 4 bytes, got a predicate");
    assert_refused(INDIRECT(".callprototype (.param .b32 _) _ (.param .b8 _[8])", "call (b), %rd1, (5), P"),
                   "test.ptx:8: call by 'P': parameter 1: expected a .param variable, got none");
}
END_TEST

START_TEST(a_parameter_without_size_takes_arrays_of_any) {
    static const char functions[] = HEADER
        ".func f(.param .align 8 .b8 b[]) { .reg .b32 %r<2>; ld.param.b32 %r1, [b+4]; ret; }\n"
        ".func g(.param .align 8 .b8 b[]) { call g, (b); ret; }\n";
    char text[1000];
    snprintf(
        text, sizeof text,
        "%s.entry k() { .param .align 8 .b8 small[8], large[24]; call f, (small); call f, (large); ret; }",
        functions);
    Module *module = parse(text);
    ck_assert_uint_eq(module_kernel(module, "k")->insts[0].kind, INST_ALU); /* moves of registers */
    module_free(module);
    snprintf(text, sizeof text, "%s.entry k() { .param .align 8 .b8 small[8];\ncall g, (small); ret; }",
             functions);
    assert_refused(
        text,
        "test.ptx:7: call of 'g': expected parameters with a size, as the call is not inlined, got 'b'");
    snprintf(text, sizeof text, "%s.entry k() { .param .b8 tiny[4];\ncall f, (tiny); ret; }", functions);
    assert_refused(text, "test.ptx:4: expected an access within the 4 bytes of 'tiny'");
    snprintf(text, sizeof text, "%s.entry k() {\ncall f, (5); ret; }", functions);
    assert_refused(text, "test.ptx:7: 'b' needs a .param variable");
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
    assert_refused(KERNEL("A: brx.idx %r1, A;"),
                   "test.ptx:6: expected a list of labels (.branchtargets), got 'A'");
    assert_refused(KERNEL("brx.idx %r1, T;"),
                   "test.ptx:6: expected a list of labels (.branchtargets), got 'T'");
    assert_refused(KERNEL("T: .branchtargets A;\nbrx.idx %r1, T;"),
                   "test.ptx:7: the label 'A' is not declared");
}
END_TEST

START_TEST(calls_of_the_device_runtime_are_one_instruction_on_registers) {
    Module *module = parse(
        HEADER ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
               ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
               ".entry k() { .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p;\n"
               "{ .param .b64 p0; st.param.b64 [p0+0], %rd1; .param .b64 p1; st.param.b64 [p1+0], %rd2;\n"
               ".param .b32 r; @%p call.uni (r), vprintf, (p0, p1); ld.param.b32 %r1, [r+0]; }\n"
               "call (%rd1), malloc, (16); call free, (%rd1); st.global.u32 [%rd2], %r1; }");
    const Kernel *kernel = module_kernel(module, "k");
    uint32_t calls = 0;
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        calls += kernel->insts[i].kind == INST_SYSTEM;
        if (strcmp(kernel->sources[i].opcode, "call.vprintf") != 0) continue;
        ck_assert_uint_ne(kernel->insts[i].guard, NO_PREDICATE);
        ck_assert_uint_eq(kernel->insts[i].src_count, 2);
    }
    ck_assert_uint_eq(calls, 3);
    ck_assert(module->uses_heap);
    module_free(module);
}
END_TEST

/* 2^39 calls of f0, were all inlined. */
START_TEST(chains_of_calls_that_explode_end_in_real_calls) {
    char text[8000], *at = text;
    at += sprintf(at, HEADER ".func f0() { ret; }\n");
    for (int i = 1; i < 40; i++)
        at += sprintf(at, ".func f%d() { call f%d; call f%d; }\n", i, i - 1, i - 1);
    sprintf(at, ".entry k() { call f39; ret; }");
    Module *module = parse(text);
    ck_assert_uint_lt(module_kernel(module, "k")->inst_count, 1000);
    ck_assert(!module_kernel(module, "k")->uses_stack);
    module_free(module);
}
END_TEST

/* A function that calls itself is once in the kernel, saves what it needs behind the call, and ends with a
 * decision between its two calls; one that it inlines is part of it. */
START_TEST(a_recursive_call_saves_registers_on_a_stack) {
    Module *module = parse(
        HEADER
        ".func g(.param .b32 y) { .reg .b32 %s; ld.param.b32 %s, [y]; trap; ret; }\n"
        ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %a, %b; .reg .b64 %c; .reg .pred %p;\n"
        ".local .align 8 .b8 depot[24];\n"
        "ld.param.b32 %a, [x]; setp.eq.s32 %p, %a, 0; cvt.u64.u32 %c, %a; @%p ret; st.local.u32 [depot+4], "
        "%a;\n"
        "{ .param .b32 i, o; st.param.b32 [i], %a; call (o), f, (i); ld.param.b32 %b, [o]; }\n"
        "call g, (%b); cvt.u32.u64 %a, %c; @%p add.u32 %b, %b, %a; st.param.b32 [r], %b; }\n"
        ".entry k() { .local .b8 own[20]; .param .b32 i, o; st.param.b32 [i], 5; call (o), f, (i); ret; }");
    const Kernel *kernel = module_kernel(module, "k");
    uint32_t stores = 0, loads = 0, traps = 0;
    uint64_t slots = 0;
    ck_assert(kernel->uses_stack);
    ck_assert_uint_eq(kernel->local_bytes, 32);
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        const Inst *inst = &kernel->insts[i];
        bool local = inst->space == SPACE_LOCAL;
        stores += local && inst->kind == INST_STORE;
        loads += local && inst->kind == INST_LOAD;
        traps += !strcmp(kernel->sources[i].opcode, "trap");
        if (local && inst->kind == INST_LOAD) slots |= 1ull << inst->displacement;
    }
    /* %c, %p, and the number of the call; the other store is that to the depot. */
    ck_assert_uint_eq(loads, 3);
    ck_assert_uint_eq(stores, 4);
    ck_assert_uint_eq(traps, 1);
    ck_assert_uint_eq(slots, 1ull << 24 | 1ull << 32 | 1ull << 40); /* behind the depot */
    module_free(module);
}
END_TEST

static Module *parse_stream(FILE *stream, char **text) {
    fclose(stream);
    Module *module = parse(*text);
    free(*text);
    return module;
}

/* What is inlined is bounded; then a call and a function have a few instructions each, not each pair of them. */
START_TEST(many_indirect_calls_between_many_functions_share_the_decision) {
    enum { FUNCTIONS = 300, CALLS = 500, INLINED = 1 << 16, OF_EACH = 20 };
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    fputs(HEADER, stream);
    for (int i = 0; i < FUNCTIONS; i++)
        fprintf(stream,
                ".func (.reg .b32 r) f%d(.reg .b32 a) { add.s32 r, a, %d; ret; }\n.global .u64 g%d = f%d;\n",
                i, i, i, i);
    fputs(
        ".entry k() { .reg .b32 %r<2>; .reg .b64 %rd<2>; P: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n",
        stream);
    for (int i = 0; i < CALLS; i++)
        fputs("call (%r1), %rd1, (%r1), P;\n", stream);
    fputs("ret; }\n", stream);
    Module *module = parse_stream(stream, &text);
    ck_assert_uint_gt(module_kernel(module, "k")->inst_count, INLINED);
    ck_assert_uint_lt(module_kernel(module, "k")->inst_count, INLINED + OF_EACH * (FUNCTIONS + CALLS));
    module_free(module);
}
END_TEST

START_TEST(a_kernel_that_is_too_large_is_refused_alone) {
    enum { LABELS = 4096, BRANCHES = 100 }; /* of three statements for each label */
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    fputs(HEADER ".entry large(.param .u64 a) { .reg .b32 %r<2>;\nT: .branchtargets A", stream);
    for (int i = 1; i < LABELS; i++)
        fputs(",A", stream);
    fputs(";\nA:\n", stream);
    for (int i = 0; i < BRANCHES; i++)
        fputs("brx.idx %r1, T;\n", stream);
    fputs("ret; }\n.entry small() { ret; }\n", stream);
    Module *module = parse_stream(stream, &text);
    const Kernel *large = module_kernel(module, "large");
    ck_assert_ptr_nonnull(large->refusal);
    ck_assert_ptr_nonnull(strstr(large->refusal, "expected up to 1048576 statements in a kernel"));
    ck_assert_uint_eq(large->param_count, 1);
    ck_assert_ptr_null(module_kernel(module, "small")->refusal);
    module_free(module);
}
END_TEST

Suite *ptx_calls_suite(void) {
    Suite *suite = suite_create("ptx_calls");
    TCase *calls = tcase_create("calls");
    tcase_set_timeout(calls, 30);
    tcase_add_test(calls, calls_are_inlined_with_parameters_in_registers);
    tcase_add_test(calls, parameters_accessed_in_parts_live_in_local_memory);
    tcase_add_test(calls, a_guarded_call_is_branched_around);
    tcase_add_test(calls, a_number_passed_to_a_float_is_that_float);
    tcase_add_test(calls, calls_that_cannot_be_inlined_are_unsupported);
    tcase_add_test(calls, an_indirect_call_decides_between_the_functions_that_fit);
    tcase_add_test(calls, an_indirect_call_that_no_function_fits_is_a_fault_when_it_executes);
    tcase_add_test(calls, the_address_of_a_kernel_is_a_number_of_its_own);
    tcase_add_test(calls, an_indirect_call_fits_functions_by_the_sizes_of_registers);
    tcase_add_test(calls, an_indirect_call_is_checked_against_its_prototype);
    tcase_add_test(calls, a_parameter_without_size_takes_arrays_of_any);
    tcase_add_test(calls, an_indirect_branch_decides_between_its_labels);
    tcase_add_test(calls, calls_of_the_device_runtime_are_one_instruction_on_registers);
    tcase_add_test(calls, chains_of_calls_that_explode_end_in_real_calls);
    tcase_add_test(calls, many_indirect_calls_between_many_functions_share_the_decision);
    tcase_add_test(calls, a_kernel_that_is_too_large_is_refused_alone);
    tcase_add_test(calls, a_recursive_call_saves_registers_on_a_stack);
    suite_add_tcase(suite, calls);
    return suite;
}
