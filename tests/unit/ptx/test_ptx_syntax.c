/* Syntax that compilers of all ages write, and programs of several texts. */
#include "tests/unit/ptx/ptx_fixture.h"

START_TEST(constant_expressions_have_their_values) {
    static const struct {
        const char *text;
        uint32_t value;
    } cases[] = {{"(3+4)*2", 14},
                 {"1<<4|3", 19},
                 {"~7", 0xfffffff8u},
                 {"!3+!0", 1},
                 {"5>3?10:20", 10},
                 {"0?10:1?30:20", 30},
                 {"-(5)", 0xfffffffbu},
                 {"7/2*2", 6},
                 {"-7/2", 0xfffffffdu},
                 {"-7 % 4", 1},
                 {"0x8000000000000000 >> 63", 1},
                 {"0xffffffffffffffff > 1", 1},
                 {"~0 >> 60", 15},
                 {"~0 > 0", 1},
                 {"(1 ? -1 : 0U) > 0", 1},
                 {"10-3-2", 5},
                 {"0xF0&0x3C^1", 0x31},
                 {"1&&0||1", 1},
                 {"3==3!=0", 1},
                 {"(.s64)-8>>1", 0xfffffffcu},
                 {"1>>70", 0},
                 {"1U<2U", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text, HEADER ".entry k() { .reg .b32 %%r1;\nmov.u32 %%r1, %s; }",
                 cases[i].text);
        Module *module = parse(text);
        const Kernel *kernel = module_kernel(module, "k");
        ck_assert_msg(lanes32(kernel, kernel->insts[0].src[0]) == cases[i].value, "%s is 0x%lx",
                      cases[i].text, lanes32(kernel, kernel->insts[0].src[0]));
        module_free(module);
    }
    assert_refused(KERNEL("mov.u32 %r1, 1/0;"), "test.ptx:6: an operand: a division by 0");
    assert_refused(KERNEL("mov.u32 %r1, 1.0+2;"), "expected integers between operators, got a float");
    assert_refused(KERNEL("mov.u32 %r1, (1;"), "expected ')' after an expression, got ';'");
    char deep[4000] = HEADER ".entry k() { .reg .b32 %r1; mov.u32 %r1, ";
    memset(deep + strlen(deep), '(', 3000);
    strcat(deep, "1; }");
    assert_refused(deep, "expected up to 64 levels of parentheses");
}
END_TEST

START_TEST(addresses_and_initialisers_take_expressions) {
    Module *module = parse(HEADER
                           ".global .u32 v[2*4];\n.global .u64 t[3] = {v+4*2, generic(v)+-4, v - 8 + 2};\n"
                           ".entry k() { .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
                           "ld.global.u32 %r1, [%rd1+(2*8)]; ld.global.u32 %r1, [v + 1*4];\n"
                           "ld.global.u32 %r2, [%rd1+-1024]; st.global.u32 [%rd1], %r2; }");
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(module->variables[0].bytes, 32);
    ck_assert_int_eq(kernel->insts[0].displacement, 16);
    ck_assert_int_eq(kernel->insts[2].displacement, -1024);
    module->variables[0].address = 0xc0001000;
    module->variables[1].address = 0xc0002000;
    module_place(module);
    const uint64_t *table = (const uint64_t *)(const void *)module->variables[1].init;
    ck_assert_uint_eq(table[0], 0xc0001008);
    ck_assert_uint_eq(table[1], 0xc0000ffc);
    ck_assert_uint_eq(table[2], 0xc0000ffa);
    module_free(module);
}
END_TEST

START_TEST(decimal_floats_need_no_digits_on_one_side_of_the_point) {
    static const struct {
        const char *text;
        double value;
    } cases[] = {{".5", 0.5}, {"-.25", -0.25}, {".5e3", 500}, {".5E-1", 0.05},
                 {"5.", 5},   {"0.", 0},       {"1.5e2", 150}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text, HEADER ".global .f64 d[2] = {%s,%s};\n.entry k() { ret; }", cases[i].text,
                 cases[i].text);
        Module *module = parse(text);
        const double *values = (const double *)(const void *)module->variables[0].init;
        ck_assert_double_eq(values[0], cases[i].value);
        ck_assert_double_eq(values[1], cases[i].value);
        module_free(module);
    }
    Module *bits = parse(
        HEADER ".global .b32 w[2] = {1.5, 0f3F800000};\n.global .b64 d = 1.5;\n.entry k() { ret; }");
    const uint32_t *words = (const uint32_t *)(const void *)bits->variables[0].init;
    ck_assert_uint_eq(words[0], 0x3fc00000);
    ck_assert_uint_eq(words[1], 0x3f800000);
    const uint64_t *wide = (const uint64_t *)(const void *)bits->variables[1].init;
    ck_assert_uint_eq(wide[0], 0x3ff8000000000000);
    module_free(bits);
    assert_refused(HEADER ".global .u32 w = 1.5;\n",
                   "a 64-bit float constant needs a float or 64-bit operand");
    module_free(parse(KERNEL("mov.f32 %f1, .5; add.f32 %f1,%f1,.5;")));
    assert_refused(KERNEL("mov.f32 %f1, .5f;"), "test.ptx:6: expected ");
    assert_refused(KERNEL("mov.f32 %f1, .5.5;"), "test.ptx:6: expected ';'");
}
END_TEST

START_TEST(elements_of_arrays_are_named_by_an_index) {
    Module *module = parse(HEADER
                           ".global .u32 v[8];\n.entry k(.param .u32 p[4]) {\n"
                           ".reg .b32 %r<3>; .reg .b64 %rd<2>; .local .b64 l[2]; .shared .u16 s[2][3];\n"
                           "mov.u64 %rd1, v[3]; ld.global.u32 %r1, v[2*2]; ld.param.u32 %r2, p[2];\n"
                           "st.local.b64 l[1], %rd1; ld.shared.u16 %r1, [s[1]+2];\n"
                           "atom.global.add.u32 %r1, v[1], %r2; st.global.u32 v[1]+8, %r1; }");
    const Kernel *kernel = module_kernel(module, "k");
    static const int64_t displacements[] = {0, 16, 8, 8, 8, 4, 12};
    for (size_t i = 1; i < sizeof displacements / sizeof *displacements; i++)
        ck_assert_int_eq(kernel->insts[i].displacement, displacements[i]);
    module->variables[0].address = 0xc0001000;
    module_place(module);
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[0].src[0]), 0xc000100c);
    module_free(module);
    assert_refused(KERNEL(".shared .u32 s[4];\nld.shared.u32 %r1, s[%r2];"),
                   "test.ptx:7: expected the index of an array, got '%r2'");
    assert_refused(KERNEL("ld.shared.u32 %r1, %r2[1];"),
                   "test.ptx:6: expected ';' after a statement, got '['");
}
END_TEST

START_TEST(masks_take_sums_generic_addresses_and_numbers) {
    Module *module = parse(HEADER
                           ".global .u32 v[4];\n"
                           ".global .u8 a[3] = {0xff(v+4), 0xff00(v + 4), 0xff0000(v+4)};\n"
                           ".global .u8 b[2] = {0xff(generic(v)), 0xFF00(generic(v)+4)};\n"
                           ".global .u8 c[3] = {0xFF(1000 + 546), 0xFF00(1000 + 546), 0xff0000(131187)};\n"
                           ".global .u16 d = 0xffff00(0x123456);\n.entry k() { ret; }");
    module->variables[0].address = 0xc0ab1002;
    module_place(module);
    const uint8_t expected[][3] = {{0x06, 0x10, 0xab}, {0x02, 0x10}, {0x0a, 0x06, 0x02}, {0x34, 0x12}};
    for (int i = 0; i < 4; i++)
        ck_assert_mem_eq(module->variables[i + 1].init, expected[i], module->variables[i + 1].bytes);
    module_free(module);
    assert_refused(HEADER ".global .u8 a = 0xff(v+4;",
                   "test.ptx:4: expected ')' after a value behind a mask");
    assert_refused(HEADER ".global .u8 a = 0xff(1.5);",
                   "test.ptx:4: a value behind a mask: expected an integer");
}
END_TEST

START_TEST(registers_of_several_elements_are_as_many_registers) {
    Module *module = parse(KERNEL(".reg .v4 .f32 %q, %v<2>; .reg .v2 .b32 %w;\nld.global.v4.f32 %q, [%rd1];\n"
                                  "add.f32 %f1, %q.y, %q.a; mov.b32 %w.x, 3; mov.b32 %w.y, 4;\n"
                                  "st.global.v2.b32 [%rd1], %w; mov.f32 %v1.z, %f1;\n"
                                  "st.global.v4.f32 [%rd1], {%q.x, %f1, %v1.b, %q.z};"));
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_ptr_null(kernel->refusal);
    const Inst *load = &kernel->insts[0], *add = &kernel->insts[1], *pair = &kernel->insts[4],
               *store = &kernel->insts[6];
    ck_assert_uint_eq(load->elements, 4);
    ck_assert_uint_eq(add->src[0], load->dst[1]);
    ck_assert_uint_eq(add->src[1], load->dst[3]);
    ck_assert_uint_eq(pair->elements, 2);
    ck_assert_uint_eq(store->src[1], load->dst[0]);
    ck_assert_uint_eq(store->src[4], load->dst[2]);
    ck_assert_uint_eq(store->src[3], kernel->insts[5].dst[0]);
    module_free(module);
    assert_refused(KERNEL(".reg .v2 .b32 %w; mov.b32 %w.z, 3;"),
                   "test.ptx:6: expected an element of a vector");
    assert_refused(KERNEL(".reg .v2 .b32 %w; add.u32 %r1, !%w, 3;"), "expected .x, .y, .z or .w after");
}
END_TEST

START_TEST(registers_and_local_memory_of_the_module_are_each_kernels_own) {
    Module *module = parse(HEADER ".reg .b32 %m<4>; .reg .u32 mm;\n.local .align 4 .b8 loc[16];\n"
                                  ".func f() { add.u32 %m1, %m1, mm; ret; }\n"
                                  ".entry j() { mov.u32 mm, 2; st.local.u32 [loc+4], mm; ret; }\n"
                                  ".entry k() { .local .u32 before; mov.u32 %m1, 1; mov.u32 mm, 2; call f;\n"
                                  "st.local.u32 [loc+4], %m1; st.local.u32 [before], %m1; ret; }\n");
    const Kernel *j = module_kernel(module, "j"), *k = module_kernel(module, "k");
    ck_assert_uint_eq(j->local_bytes, 16);
    ck_assert_int_eq(j->insts[1].displacement, 4);
    ck_assert_uint_eq(k->local_bytes, 20);
    ck_assert_int_eq(k->insts[3].displacement, 8);
    ck_assert_uint_eq(k->insts[2].src[0], k->insts[0].dst[0]); /* the function's registers are the kernel's */
    module_free(module);
}
END_TEST

START_TEST(a_variable_of_a_body_is_one_of_the_module) {
    Module *module = parse(HEADER ".func f() { .reg .b32 %r1; .global .align 8 .u32 g[2] = {7, 8}, h;\n"
                                  "ld.global.u32 %r1, [g+4]; st.global.u32 [h], %r1; ret; }\n"
                                  ".entry k() { .const .u32 g = 5; call f; call f; ret; }\n"
                                  ".entry l() { call f; ret; }\n");
    ck_assert_uint_eq(module->variable_count, 3);
    ck_assert_str_eq(module->variables[0].name, "g");
    ck_assert_uint_eq(module->variables[0].space, SPACE_CONST);
    ck_assert_uint_eq(((const uint32_t *)(const void *)module->variables[1].init)[1], 8);
    module_free(module);
}
END_TEST

START_TEST(declarations_end_as_compilers_of_all_ages_end_them) {
    Module *module = parse(
        ".version 9.3\n.target sm_121a, debug\n.address_size 64\n"
        ".extern .func stop(.param .b64 a) .noreturn;\n.extern .func gone(.param .b64 a)\n.noreturn\n;\n"
        ".func (.reg .u32 out) twice (.reg .u32 in)\n.func none\n"
        ".func (.reg .u32 out) twice (.reg .u32 in) { add.u32 out, in, in; ret; }\n"
        ".visible .func plain() .noreturn { exit; }\n.visible .func other();\n.alias other, plain;\n"
        ".func .attribute(.unified(19, 95)) (.param .b32 r) z(.param .b32 x) .abi_preserve 4 { ret; }\n"
        ".visible .global .attribute(.managed, .unified(1, 2)) .align 4 .u32 g;\n"
        ".section .debug_str {\n.b8 1, 2\n.b32 .debug_abbrev\n.b64 a+4\nlabel:\n.b8 0\n}\n"
        ".file 1 \"a.cu\", 123456, 789\n"
        ".visible .entry k(.param .u64 p, .hidden .param .u32 h)\n{ .reg .u32 r; .hidden .param .b32 q;\n"
        ".loc 1 5 3, function_name $L__info_string0+4, inlined_at 1 22 0\n"
        ".pragma \"nounroll\"; call (r), twice, (r); call other; ret; }\n"
        ".extern .func last(.param .b32 a)");
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_ptr_null(kernel->refusal);
    ck_assert_uint_eq(kernel->param_bytes, 12);
    ck_assert_uint_eq(kernel->sources[0].line, 5);
    ck_assert_str_eq(kernel->sources[0].file, "a.cu");
    ck_assert_uint_eq(kernel->insts[kernel->inst_count - 2].kind, INST_EXIT); /* other() is plain() */
    module_free(module);
    assert_refused(HEADER ".alias a, b;\n", "test.ptx:4: expected two declared functions after .alias");
    assert_refused(HEADER ".entry k() .nonsense { ret; }\n", "test.ptx:4: expected '{', .maxntid");
}
END_TEST

START_TEST(an_alias_has_the_address_of_its_target) {
    Module *module = parse(HEADER ".visible .func other();\n.visible .func other2();\n"
                                  ".func plain() { trap; ret; }\n.func last() { exit; }\n"
                                  ".alias other, plain;\n.alias other2, other;\n"
                                  ".global .u64 table[4] = {other, other2, plain, last};\n"
                                  ".entry k() { .reg .b64 %rd<2>; call %rd1; ret; }");
    const uint64_t *table = (const uint64_t *)(const void *)module->variables[0].init;
    ck_assert_uint_eq(table[0], table[2]);
    ck_assert_uint_eq(table[1], table[2]);
    ck_assert_uint_ne(table[3], table[2]);
    const Kernel *kernel = module_kernel(module, "k");
    uint32_t compares = 0;
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        compares += !strncmp(kernel->sources[i].opcode, "setp", 4);
    ck_assert_uint_eq(compares, 2); /* plain and last */
    module_free(module);
    assert_refused(HEADER ".func a(.param .b32 x);\n.func b(.param .b64 x) { ret; }\n.alias a, b;\n",
                   "test.ptx:6: 'a': expected results and parameters of the sizes that 'b' has, got others");
    assert_refused(HEADER ".func (.reg .pred x) a();\n.func b() { ret; }\n.alias a, b;\n", "test.ptx:6: 'a'");
}
END_TEST

START_TEST(old_compilers_lines_for_debuggers_and_constant_banks_are_read) {
    Module *module = parse(".version 1.4\n.target sm_10\n@@DWARF .section .debug_pubnames\n"
                           ".const[2] .u32 x[2] = {1, 2};\n.extern .const[3] .u32 open[];\n"
                           ".entry k (.param .u32 p) { .reg .u32 %r<4>; ld.param.u32 %r1, [p];\n"
                           "  @@DWARF .byte 0x0,'a'\n"
                           "ld.const[2].u32 %r2, [x+4]; st.global.u32 [%r1], %r2; exit; }\n"
                           "@@DWARF end: .4byte end - 4\n");
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(module->variables[0].space, SPACE_CONST);
    ck_assert_uint_eq(kernel->insts[1].space, SPACE_CONST);
    ck_assert_int_eq(kernel->insts[1].displacement, 4);
    module_free(module);
    assert_refused(HEADER ".const[11] .u32 x;",
                   "test.ptx:4: a constant bank: expected an integer from 0 to 10");
}
END_TEST

START_TEST(samplers_may_have_initialisers) {
    Module *module = parse(
        HEADER ".global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest };\n"
               ".global .samplerref t;\n.entry k() { ret; }");
    ck_assert_uint_eq(module->variable_count, 2);
    module_free(module);
}
END_TEST

START_TEST(hints_of_caches_and_launches_change_nothing) {
    Module *module = parse(KERNEL(
        "ld.global.L1::evict_last.L2::128B.u32 %r1, [%rd1]; ld.global.u32 %r1, [%rd1];\n"
        "atom.global.add.L2::cache_hint.u32 %r1, [%rd1], %r2, %rd2; atom.global.add.u32 %r1, [%rd1], %r2;\n"
        "st.mmio.relaxed.sys.global.L2::cache_hint.v2.u32 [%rd1], {%r1, %r1}, %rd2;\n"
        "setmaxnreg.inc.sync.aligned.u32 96; griddepcontrol.wait; pmevent 3; pmevent.mask 7; exit;"));
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_ptr_null(kernel->refusal);
    for (int i = 0; i < 4; i += 2) {
        const Inst *hinted = &kernel->insts[i], *plain = &kernel->insts[i + 1];
        ck_assert(hinted->exec == plain->exec);
        ck_assert_uint_eq(hinted->src_count, plain->src_count);
        ck_assert_uint_eq(hinted->cache_op, plain->cache_op);
    }
    ck_assert_uint_eq(kernel->insts[4].src_count, 3);
    for (int i = 5; i < 9; i++)
        ck_assert_uint_eq(kernel->insts[i].kind, INST_NOP);
    module_free(module);
    assert_refused(KERNEL("ld.global.L2::cache_hint.u32 %r1, [%rd1];"), "wrong number of operands");
}
END_TEST

START_TEST(a_constant_may_stand_for_a_predicate) {
    Module *module = parse(
        KERNEL("selp.b32 %r1, %r2, %r3, 1; selp.f64 %fd1, %fd2, %fd3, 0; or.pred %p1, %p2, 1;\n"
               "st.global.u32 [%rd1], %r1; st.global.f64 [%rd1], %fd1; @%p1 st.global.u32 [%rd1], 1;"));
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_ptr_null(kernel->refusal);
    ck_assert_uint_eq(kernel->insts[0].src[2], TRUE_PREDICATE);
    ck_assert_uint_eq(kernel->insts[1].src[2], TRUE_PREDICATE | OPERAND_NEGATED);
    ck_assert_uint_eq(kernel->insts[2].src[1], TRUE_PREDICATE);
    module_free(module);
}
END_TEST

START_TEST(markers_of_a_preprocessor_are_passed_over) {
    Module *module = parse("# 1 \"a.cu\"\n" HEADER "#line 5\n.entry k() {\n # 7 \"b.cu\" 2 ; {\nret; }");
    ck_assert_uint_eq(module_kernel(module, "k")->sources[0].ptx_line, 8);
    module_free(module);
    assert_refused(HEADER "#define X 1\n", "test.ptx:4: expected a directive, got '#'");
    assert_refused(HEADER ".entry k() { .reg .u32 %r; mov.u32 %r, # 1\n; ret; }", "test.ptx:4: ");
}
END_TEST

START_TEST(variables_of_128_bits_are_pairs) {
    Module *module = parse(HEADER
                           ".global .b128 g, a[3];\n.entry k(.param .b128 p) { .reg .b128 w; .reg .b64 l;\n"
                           "ld.param.b128 w, [p]; st.global.b128 [g], w; mov.b128 {l, _}, w; ret; }\n");
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_ptr_null(kernel->refusal);
    ck_assert_uint_eq(module->variables[0].bytes, 16);
    ck_assert_uint_eq(module->variables[0].align, 16);
    ck_assert_uint_eq(module->variables[1].bytes, 48);
    ck_assert_uint_eq(kernel->param_bytes, 16);
    module_free(module);
}
END_TEST

START_TEST(a_fetch_from_a_texture_tells_that_its_texels_are_resident) {
    Module *module = parse(KERNEL("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%rd1, {%f5, %f6}];\n"
                                  "@!%p2 tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p3, [%rd1, {%f5, %f6}];\n"
                                  "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}|_, [%rd1, {%f5}];\n"
                                  "@%p1 st.global.f32 [%rd1], %f1; @%p3 st.global.f32 [%rd1], %f1;"));
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_ptr_null(kernel->refusal);
    ck_assert_uint_eq(kernel->inst_count, 8);
    ck_assert_uint_eq(kernel->insts[1].pdst, kernel->insts[5].guard);
    ck_assert_uint_eq(kernel->insts[1].src[0], TRUE_PREDICATE);
    ck_assert_uint_eq(kernel->insts[3].pdst, kernel->insts[6].guard);
    ck_assert_uint_eq(kernel->insts[3].guard, kernel->insts[2].guard);
    ck_assert(kernel->insts[3].flags & INST_GUARD_NEGATED);
    module_free(module);
    assert_refused(KERNEL("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%r1, [%rd1, {%f5}];"),
                   "expected a predicate after '|'");
    assert_refused(KERNEL("ld.global.v2.f32 {%f1, %f2}|%p1, [%rd1];"),
                   "expected ';' after a statement, got '|'");
}
END_TEST

START_TEST(addresses_of_32_bits_stand_in_registers_of_32) {
    Module *module = parse(".version 1.4\n.target sm_13, map_f64_to_f32\n.address_size 32\n.global .u32 g;\n"
                           ".entry k(.param .u32 p) { .reg .u32 r<4>;\nld.param.u32 r1, [p];\n"
                           "mov.u32 r2, g; ld.global.u32 r3, [r1+4]; st.global.u32 [r2], r3; }");
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_ptr_null(kernel->refusal);
    ck_assert_uint_eq(kernel->param_bytes, 4);
    module->variables[0].address = 0xc0000100;
    module_place(module);
    ck_assert_uint_eq(lanes32(kernel, kernel->insts[1].src[0]), 0xc0000100);
    module_free(module);
}
END_TEST

/* --- Several texts --------------------------------------------------------------------------- */

static ModuleText texts[3];
static uint32_t text_count;

static void link_texts(void *module) {
    *(Module **)module = module_link(texts, text_count, false);
}

static Module *try_link(const char *a, const char *b, const char *c) {
    const char *const given[] = {a, b, c}, *const names[] = {"a.ptx", "b.ptx", "c.ptx"};
    Module *module = NULL;
    for (text_count = 0; text_count < 3 && given[text_count]; text_count++)
        texts[text_count] = (ModuleText){names[text_count], given[text_count], strlen(given[text_count])};
    const char *error = user_error_catch(link_texts, &module);
    snprintf(message, sizeof message, "%s", error ? error : "");
    return module;
}

static void assert_not_linked(const char *a, const char *b, const char *expected) {
    ck_assert_ptr_null(try_link(a, b, NULL));
    ck_assert_msg(strstr(message, expected) != NULL, "\"%s\" should say \"%s\"", message, expected);
}

START_TEST(texts_of_a_program_see_what_the_others_define) {
    Module *module = try_link(
        HEADER ".file 1 \"a.cu\"\n.extern .global .u32 x;\n.extern .func (.param .b32 r) f(.param .b32 a);\n"
               ".global .u32 own = 1;\n.func (.param .b32 r) g() { ret; }\n"
               ".entry k() { .reg .b32 %r<3>; .loc 1 3 0\n ld.global.u32 %r1, [x];\n"
               "{ .param .b32 p, q; st.param.b32 [p], %r1; call (q), f, (p); ld.param.b32 %r2, [q]; }\n"
               "st.global.u32 [own], %r2; ret; }",
        HEADER
        ".file 1 \"b.cu\"\n.visible .global .u32 x = 5;\n.global .u32 own = 2;\n"
        ".func (.param .b32 r) g() { ret; }\n"
        ".visible .func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<3>; .loc 1 7 0\n"
        "ld.param.b32 %r1, [a]; ld.global.u32 %r2, [own]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1;\n"
        "ret; }",
        NULL);
    ck_assert_msg(module, "%s", message);
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(module->variable_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        module->variables[i].address = 0xc0000000 + 0x100 * i;
    module_place(module);
    ck_assert_str_eq(kernel->sources[0].file, "a.cu");
    ck_assert_uint_eq(kernel->sources[0].line, 3);
    ck_assert_uint_eq(lanes64(kernel, kernel->insts[0].src[0]), 0xc0000100);
    uint32_t other = 0, own = 0;
    for (uint32_t i = 1; i < kernel->inst_count; i++) {
        const Inst *inst = &kernel->insts[i];
        if (inst->kind == INST_LOAD) other = (uint32_t)lanes64(kernel, inst->src[0]);
        if (inst->kind == INST_LOAD) ck_assert_str_eq(kernel->sources[i].file, "b.cu");
        if (inst->kind == INST_STORE) own = (uint32_t)lanes64(kernel, inst->src[0]);
    }
    ck_assert_uint_eq(other, 0xc0000200);
    ck_assert_uint_eq(own, 0xc0000000);
    module_free(module);
}
END_TEST

START_TEST(weak_definitions_are_merged_and_strong_ones_win) {
    Module *module = try_link(
        HEADER ".weak .global .u32 w = 1;\n.common .global .u32 c[2];\n.weak .global .u32 s[2] = {1, 2};\n"
               ".weak .func f() { trap; ret; }\n.weak .entry k() { .reg .b64 %rd1; mov.u64 %rd1, s; ret; }\n"
               ".extern .shared .b8 dynamic[];\n",
        HEADER ".weak .global .u32 w = 2;\n.common .global .u32 c[4];\n.visible .global .u32 s = 3;\n"
               ".visible .func f() { exit; }\n.weak .entry k() { trap; trap; trap; }\n"
               ".extern .shared .align 16 .b8 dynamic[];\n.entry l() { call f; ret; }",
        NULL);
    ck_assert_msg(module, "%s", message);
    uint32_t named = 0;
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const ModuleVariable *variable = &module->variables[i];
        const uint32_t *init = (const uint32_t *)(const void *)variable->init;
        named += variable->name[0] != 0;
        if (!strcmp(variable->name, "w")) ck_assert_uint_eq(init[0], 1);
        if (!strcmp(variable->name, "c")) ck_assert_uint_eq(variable->bytes, 16);
        if (!strcmp(variable->name, "s")) ck_assert_uint_eq(init[0], 3);
        if (!strcmp(variable->name, "s")) ck_assert_uint_eq(variable->bytes, 4);
    }
    ck_assert_uint_eq(named, 3);
    ck_assert_uint_eq(module->kernel_count, 2);
    ck_assert_uint_eq(module_kernel(module, "k")->inst_count, 2);
    ck_assert_uint_eq(module_kernel(module, "l")->insts[0].kind, INST_EXIT);
    module_free(module);
}
END_TEST

START_TEST(what_cannot_be_linked_is_refused_with_the_text_it_is_in) {
    static const char *const x = HEADER ".visible .global .u32 x;\n.entry k() { ret; }";
    assert_not_linked(x, HEADER "\n.visible .global .u32 x;", "b.ptx:5: 'x' is already declared in a.ptx:4");
    assert_not_linked(x, HEADER ".entry k() { ret; }", "b.ptx:4: 'k' is already declared in a.ptx:5");
    assert_not_linked(HEADER ".visible .func f() { ret; }", HEADER ".visible .func f() { ret; }",
                      "b.ptx:4: 'f' is already declared in a.ptx:4");
    assert_not_linked(x, HEADER ".extern .func x();", "b.ptx:4: 'x' is already declared in a.ptx:4");
    assert_not_linked(x, HEADER ".global .u64 p = y;", "b.ptx:4: expected a .global or .const variable");
    assert_not_linked(HEADER ".visible .func f() {\nfrobnicate; ret; }",
                      HEADER ".extern .func f();\n.entry k() { call f; ret; }",
                      "a.ptx:5: frobnicate: opcode 'frobnicate'");
    assert_not_linked(HEADER ".visible .func f() { .reg .b32 r;\nadd.u32 r, r, nowhere; ret; }",
                      HEADER ".extern .func f();\n.entry k() { call f; ret; }",
                      "a.ptx:5: 'nowhere' is not declared");
    assert_not_linked("nothing", x, "a.ptx:1: expected '.version'");
}
END_TEST

Suite *ptx_syntax_suite(void) {
    Suite *suite = suite_create("ptx_syntax");
    TCase *syntax = tcase_create("syntax");
    tcase_add_test(syntax, constant_expressions_have_their_values);
    tcase_add_test(syntax, addresses_and_initialisers_take_expressions);
    tcase_add_test(syntax, decimal_floats_need_no_digits_on_one_side_of_the_point);
    tcase_add_test(syntax, elements_of_arrays_are_named_by_an_index);
    tcase_add_test(syntax, masks_take_sums_generic_addresses_and_numbers);
    tcase_add_test(syntax, registers_of_several_elements_are_as_many_registers);
    tcase_add_test(syntax, registers_and_local_memory_of_the_module_are_each_kernels_own);
    tcase_add_test(syntax, a_variable_of_a_body_is_one_of_the_module);
    tcase_add_test(syntax, declarations_end_as_compilers_of_all_ages_end_them);
    tcase_add_test(syntax, an_alias_has_the_address_of_its_target);
    tcase_add_test(syntax, old_compilers_lines_for_debuggers_and_constant_banks_are_read);
    tcase_add_test(syntax, samplers_may_have_initialisers);
    tcase_add_test(syntax, hints_of_caches_and_launches_change_nothing);
    tcase_add_test(syntax, a_constant_may_stand_for_a_predicate);
    tcase_add_test(syntax, markers_of_a_preprocessor_are_passed_over);
    tcase_add_test(syntax, variables_of_128_bits_are_pairs);
    tcase_add_test(syntax, a_fetch_from_a_texture_tells_that_its_texels_are_resident);
    tcase_add_test(syntax, addresses_of_32_bits_stand_in_registers_of_32);
    suite_add_tcase(suite, syntax);
    TCase *linking = tcase_create("linking");
    tcase_add_test(linking, texts_of_a_program_see_what_the_others_define);
    tcase_add_test(linking, weak_definitions_are_merged_and_strong_ones_win);
    tcase_add_test(linking, what_cannot_be_linked_is_refused_with_the_text_it_is_in);
    suite_add_tcase(suite, linking);
    return suite;
}
