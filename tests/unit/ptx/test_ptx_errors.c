/* What the parser says of texts that are wrong, and that it survives any text. */
#include "tests/unit/ptx/ptx_fixture.h"

START_TEST(errors_name_file_and_line) {
    assert_refused("", "test.ptx:1: expected '.version'");
    assert_refused(KERNEL("add.s32 %r1, %r2, %r9;"), "test.ptx:6: '%r9' is not declared");
    assert_refused(KERNEL("\nadd.s32 %r1, %r2, %q;"), "test.ptx:7: '%q' is not declared");
    assert_refused(KERNEL("ld.global.u32 %r1, [nowhere];"), "test.ptx:6: 'nowhere' is not declared");
    assert_refused(KERNEL("{ L: }\nbra L;"), "test.ptx:7: the label 'L' is not declared in this scope");
    assert_refused(KERNEL("L:\nL: ret;"), "test.ptx:7: 'L' is already declared in line 6");
    assert_refused(KERNEL(".reg .u32 %r<2>;"), "test.ptx:6: '%r<' is already declared in line 5");
    assert_refused(KERNEL(".reg .u32 %r3;"), "test.ptx:6: '%r3' is already declared in line 5");
    assert_refused(KERNEL("@%r1 ret;"), "test.ptx:6: expected a declared predicate after '@', got '%r1'");
    assert_refused(KERNEL("mov.u32 %r1, 99999999999999999999;"), "more than 64 bits");
    assert_refused(KERNEL("mov.u32 %r1, 0x;"), "without digits");
    assert_refused(KERNEL("mov.f32 %f1, 0f123;"), "0f needs 8");
    assert_refused(KERNEL("mov.u32 %r1, 5"), "test.ptx:7: expected ';' after a statement, got '}'");
    assert_refused(KERNEL(".shared .u32 s;\nld.global.u32 %r1, [s];"),
                   "test.ptx:7: expected a variable in .global memory, got 's'");
    assert_refused(KERNEL("mov.u32 %r1, %tid;"), "expected .x, .y, .z or .w");
    assert_refused(HEADER ".entry k() { ret;", "test.ptx:4: expected a '}' that closes the '{' of this line");
    assert_refused(HEADER ".entry k() { ret; }\n.entry k() { ret; }",
                   "test.ptx:5: 'k' is already declared in line 4");
    assert_refused(HEADER "/* never", "comment without its end");
    assert_refused(HEADER ".global .u32 a[2] = {1,2,3};", "test.ptx:4: expected up to 2 initial values");
    assert_refused(HEADER ".global .u32 a[99999999][99999999];", "2^40 bytes");
    assert_refused(HEADER ".global .u32 a[4294967296] = {1};", "268435456 bytes");
    assert_refused(HEADER ".entry k(.param .u32 n,\n.param .b8 a[]) { ret; }", "test.ptx:5: 'a' has no size");
    assert_refused(HEADER ".entry k(.param .pred p) { ret; }",
                   "test.ptx:4: expected a type with a size, got .pred");
    assert_refused(HEADER ".global .u64 a = b;",
                   "test.ptx:4: expected a .global or .const variable of this module, got 'b'");
    assert_refused(HEADER ".extern .global .u32 x;\n.entry k() { .reg .b64 %rd<2>;\nmov.u64 %rd1, x; ret; }",
                   "test.ptx:6: 'x' is declared .extern in line 4, but this module does not define it");
    assert_refused(".version 7.0 .target sm_20 .address_size 16", "expected .address_size 32 or 64, got 16");
}
END_TEST

START_TEST(a_constant_of_the_wrong_kind_is_named_with_its_statement) {
    assert_refused(
        KERNEL("\nadd.u32 %r1,\n%r2, -1.5;"),
        "test.ptx:7: 'add.u32 %r1, %r2, -1.5': constant -1.5: a 64-bit float constant needs a float");
    assert_refused(
        KERNEL("mov.u64 %rd1, 0f3F800000;"),
        "test.ptx:6: 'mov.u64 %rd1, 0f3F800000': constant 0f3F800000: a 0f constant stands for 32");
    assert_refused(KERNEL("and.pred %p1, %p2, 0d3FF0000000000000;"),
                   "test.ptx:6: 'and.pred %p1, %p2, 0d3FF0000000000000': constant 1: expected a predicate");
}
END_TEST

/* 2147483647 * 2147483649 words are 4 bytes fewer than 2^64: the second element would lie in front of the
 * first. 2^38 words are 2^40 bytes, of which 2^24 are 2^64. */
START_TEST(an_empty_dimension_hides_no_overflow) {
    assert_refused(HEADER ".global .u32 a[][2147483647][2147483649] = {{{1}}, {{2}}};",
                   "test.ptx:4: expected an array of up to 2^40 bytes, got more");
    assert_refused(HEADER ".global .u32 a[0][2147483647][2147483649];", "2^40 bytes");
    assert_refused(HEADER ".global .u32 a[2147483647][2147483649][0];", "2^40 bytes");
    assert_refused(HEADER ".global .u32 a[][274877906944] = {{}, {}};", "268435456 bytes");
    assert_refused(HEADER ".global .u32 a[7][0] = {{1}};", "expected up to 0 initial values");
    Module *module = parse(HEADER ".global .u32 a[7][0][9], b[0] = {};\n.entry k(.param .b8 c[0]) { ret; }");
    ck_assert_uint_eq(module->variables[0].bytes, 0);
    ck_assert_uint_eq(module->variables[1].bytes, 0);
    ck_assert_uint_eq(module_kernel(module, "k")->param_bytes, 0);
    module_free(module);
}
END_TEST

START_TEST(unsupported_statements_of_all_kernels_come_in_one_message) {
    assert_refused(
        HEADER
        ".entry k() { .reg .b32 %r<9>;\nfrobnicate.b32 %r1,\n   %r2; ret; }\n"
        ".entry l() { .reg .b64 %rd<9>; mov.u64 %rd1, %is_explicit_cluster;\nsuld.b %rd1, %rd2; ret; }",
        "test.ptx:5: 3 unsupported statements\ntest.ptx:5: frobnicate.b32 %r1, %r2: opcode 'frobnicate'");
    ck_assert_ptr_nonnull(strstr(message, "\ntest.ptx:7: mov.u64 %rd1, %is_explicit_cluster: "));
    ck_assert_ptr_nonnull(strstr(message, "\ntest.ptx:8: suld.b %rd1, %rd2: "));
}
END_TEST

START_TEST(an_unsupported_statement_has_the_line_that_it_was_compiled_from) {
    assert_refused(HEADER ".file 1 \"tile.cu\"\n"
                          ".entry k() { .reg .b32 %r<9>;\nfrobnicate.b32 %r1, %r2;\n.loc 1 7 3\n"
                          "frobnicate.b32 %r1, %r3;\n.loc 2 8 1\nfrobnicate.b32 %r1, %r4; ret; }",
                   "test.ptx:6: 3 unsupported statements\ntest.ptx:6: frobnicate.b32 %r1, %r2: opcode "
                   "'frobnicate'");
    ck_assert_ptr_nonnull(strstr(message, "\ntest.ptx:8, tile.cu:7: frobnicate.b32 %r1, %r3: "));
    ck_assert_ptr_nonnull(strstr(message, "\ntest.ptx:10: frobnicate.b32 %r1, %r4: "));
}
END_TEST

START_TEST(what_would_be_right_is_said_to_its_end) {
    assert_refused(
        KERNEL("createpolicy.fractional.b64 %rd1;"),
        "test.ptx:6: createpolicy.fractional.b64 %rd1: 'createpolicy.fractional.b64': this combination of "
        "modifiers is not supported; expected createpolicy.fractional.L2::evict_last/L2::evict_normal/"
        "L2::evict_first/L2::evict_unchanged.b64 or ");
    ck_assert_ptr_nonnull(strstr(message, ".b64 or others"));
}
END_TEST

START_TEST(accesses_of_halves_and_vectors_say_which_there_are) {
    static const struct {
        const char *statement, *expected;
    } cases[] = {
        {"atom.global.add.f16x2 %r1, [%rd1], %r2", "this atomic operation does not take this type"},
        {"atom.global.min.noftz.f16x2 %r1, [%rd1], %r2", "this atomic operation does not take this type"},
        {"atom.global.add.noftz.f32 %f1, [%rd1], %f2", "this atomic operation does not take this type"},
        {"atom.global.exch.b16 %r1, [%rd1], %r2", "this atomic operation does not take this type"},
        {"atom.global.cas.u16 %r1, [%rd1], %r2, %r3", "this atomic operation does not take this type"},
        {"ld.global.f16 %r1, [%rd1]", "modifier '.f16' is not supported"},
        {"ld.global.L1::often.u32 %r1, [%rd1]", "modifier '.L1::often' is not supported"},
        {"ld.global.v8.b64 {%rd1, %rd1, %rd1, %rd1, %rd1, %rd1, %rd1, %rd1}, [%rd2]",
         "expected eight elements of 32 bits"},
        {"st.global.v8.f32 [%rd1], {%f1, %f2, %f3, %f4}",
         "expected a vector of eight elements, and an address"},
        {"ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r1, %r1, %r1, %r1}, [%r2]",
         "a destination is the register of the address"},
        {"red.global.min.v2.f32 [%rd1], {%f1, %f2}", "expected .add"},
        {"red.global.and.noftz.v2.f16x2 [%rd1], {%r1, %r2}", "expected .add, .min or .max"},
        {"red.global.add.v2.f16x2 [%rd1], {%r1, %r2}", "expected .noftz"},
        {"red.global.add.noftz.v2.f32 [%rd1], {%f1, %f2}", "expected no .noftz"},
        {"red.shared.add.v2.f32 [%r1], {%f1, %f2}", "expected .global, or no space"},
        {"red.global.add.v2.u32 [%rd1], {%r1, %r2}", "expected .v2 or .v4 of .f32"},
        {"red.global.add.noftz.v8.f16x2 [%rd1], {%r1, %r2, %r3, %r4}", "expected .v2 or .v4 of .f32"},
        {"red.global.add.v4.f32 [%rd1], {%f1, %f2}",
         "expected vectors with as many elements, and an address"},
        {"atom.global.add.v2.f32 {%f1, %f2}, [%rd1], {%f3, %f1}",
         "a destination is a source of a later element"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text, "%s%s;\n}\n", KERNEL_HEAD, cases[i].statement);
        assert_refused(text, cases[i].expected);
        ck_assert_ptr_nonnull(strstr(message, "test.ptx:6: "));
    }
}
END_TEST

#define LOADS  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
#define STORES "cp.async.bulk.global.shared::cta.bulk_group"

START_TEST(bulk_copies_say_what_they_lack) {
    static const struct {
        const char *statement, *expected; /* NULL: nothing */
    } cases[] = {
        {LOADS " [%r1], [%rd1], 64, [%r2]", NULL},
        {LOADS ".multicast::cluster.L2::cache_hint [%rd2], [%rd1], %r1, [%rd3], 1, %rd1", NULL},
        {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, [%r3]",
         NULL},
        {STORES ".L2::cache_hint [%rd1], [%r1], %r2, %rd1", NULL},
        {"cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd1], 128, %rd2", NULL},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.min.bf16 [%rd1], [%r1], 64", NULL},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd1], [%r1], 64", NULL},
        {LOADS " [%r1], [%rd1], 64", "expected [to], [from], a size and [mbarrier]"},
        {LOADS ".multicast::cluster [%r1], [%rd1], 64, [%r2]",
         "expected [to], [from], a size and [mbarrier]"},
        {LOADS " [%r1], [%rd1], %rd2, [%r2]", "expected a size of 32 bits"},
        {LOADS ".multicast::cluster [%r1], [%rd1], 64, [%r2], %r3", "expected a mask of 16 bits"},
        {STORES ".cp_mask [%rd1], [%r1], 64, 3", "modifier '.cp_mask' is not supported"},
        {"cp.async.bulk.global.shared::cta [%rd1], [%r1], 64", "this combination of modifiers"},
        {"cp.async.bulk.prefetch.L2.global [%rd1]", "expected [from] and a size"},
        {"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, "
         "{%r2}], "
         "[%r3]",
         "bulk copies of tensors are not supported"},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%rd1], [%r1], 64",
         "this reduction does not take this type"},
        {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.f32 [%r1], "
         "[%r2], 64, "
         "[%r3]",
         "expected .global.shared::cta.bulk_group or .shared::cluster"},
        {"cp.async.bulk.wait_group %r1", "expected a number of groups"},
        {"cp.async.bulk.commit_group 1", "expected no operands"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text, "%s%s;\n}\n", KERNEL_HEAD, cases[i].statement);
        if (cases[i].expected)
            assert_refused(text, cases[i].expected);
        else
            module_free(parse(text));
    }
}
END_TEST

START_TEST(video_instructions_say_which_selectors_and_modifiers_they_take) {
    static const struct {
        const char *statement, *expected;
    } cases[] = {
        {"vadd.s32.s32.s32 %r1.h2, %r2, %r3, %r4", "expected the selectors .b0 to .b3, .h0 or .h1"},
        {"vadd.s32.s32.s32 %r1, %r2.b10, %r3", "expected the selectors .b0 to .b3, .h0 or .h1"},
        {"vadd.s32.s32.s32.add %r1, %r2, %r3, %r4.b1", "expected a third source without a selector"},
        {"vadd.s32.s32.s32 %r1.h1, %r2, %r3", "expected three sources"},
        {"vadd.s32.s32.s32 %r1, %r2, %r3, %r4", "expected two sources"},
        {"vadd.s32.s32.s32.min %r1.b0, %r2, %r3, %r4",
         "a destination with a selector excludes a second operation"},
        {"vadd.s32.s32 %r1, %r2, %r3", "expected three types, .u32 or .s32"},
        {"vadd.s32.s32.s32.wrap %r1, %r2, %r3", "unexpected modifier"},
        {"vadd.s32.s32.s32.min.max %r1, %r2, %r3, %r4", "unexpected modifier"},
        {"vadd.s32.s32.s32 %rd1, %r2, %r3", "expected a destination of 32 bits"},
        {"vadd.s32.s32.s32 %r1, %rd2, %r3", "expected sources of 32 bits"},
        {"vshl.u32.u32.u32 %r1, %r2, %r3", "expected .clamp or .wrap"},
        {"vshr.u32.u32.s32.wrap %r1, %r2, %r3", "expected .u32 as the type of the amount"},
        {"vset.u32.u32 %r1, %r2, %r3", "expected .eq, .ne, .lt, .le, .gt or .ge"},
        {"vset.u32.u32.u32.lt %r1, %r2, %r3", "unexpected modifier"},
        {"vmad.s32.s32.s32 %r1, -%r2, %r3, -%r4", "the product or the third source may be negated, not both"},
        {"vmad.s32.s32.s32.po %r1, %r2, -%r3, %r4", ".po excludes negated sources"},
        {"vmad.s32.s32.s32 %r1.b1, %r2, %r3, %r4", "expected a destination without a selector"},
        {"vadd2.u32.u32.u32 %r1, %r2, %r3", "expected three sources"},
        {"vadd2.u32.u32.u32.sat.add %r1, %r2, %r3, %r4", ".sat excludes .add"},
        {"vadd2.u32.u32.u32.max %r1, %r2, %r3, %r4", "expected .add as the second operation"},
        {"vadd2.u32.u32.u32 %r1.h01, %r2, %r3, %r4", "expected the mask .h0, .h1 or .h10"},
        {"vadd2.u32.u32.u32 %r1, %r2.h4, %r3, %r4", "expected a selector of two numbers to 3, such as .h32"},
        {"vadd4.u32.u32.u32 %r1.b4, %r2, %r3, %r4", "expected a mask such as .b310"},
        {"vadd4.u32.u32.u32 %r1, %r2, %r3.b8765, %r4",
         "expected a selector of four numbers to 7, such as .b7654"},
        {"vavrg.u32.u32.u32 %r1, %r2, %r3", "opcode 'vavrg' is not supported"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text, "%s%s;\n}\n", KERNEL_HEAD, cases[i].statement);
        assert_refused(text, cases[i].expected);
        ck_assert_ptr_nonnull(strstr(message, "test.ptx:6: "));
    }
    assert_refused(KERNEL("vadd.s32.s32.s32 %r1, -%r2, %r3;"), "test.ptx:6: ");
    assert_refused(KERNEL("add.s32 %r1.b0, %r2, %r3;"), "expected an element of a vector register");
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
        HEADER
        ".entry declares() { .reg .b128 %w; .reg .b128 %q<2>; .reg .b32 %r<9>;\n"
        "mov.u32 %r1, 7; ret; }\n"
        ".entry uses() { .reg .b128 %q<2>; .reg .b64 %d<3>;\n"
        "mov.b128 %q1, {%d1, %d2}; atom.global.exch.b128 %q1, [%d1], %q1; ld.global.b128 %d1, [%d2]; add.s64 "
        "%q1, %q1, %q1; ret; }\n"
        ".entry clusters()\n.reqnctapercluster 2, 1, 1\n.maxntid 64\n{ ret; }\n"
        ".entry limits()\n.maxclusterrank 8\n.maxntid 32, 2, 1\n.minnctapersm 2\n{ ret; }\n"
        ".entry whole()\n.blocksareclusters\n.reqntid 64, 1, 1\n.reqnctapercluster 1, 1, 1\n{ ret; }\n");
    ck_assert_ptr_null(module_kernel(module, "declares")->refusal);
    ck_assert_str_eq(
        module_kernel(module, "uses")->refusal,
        "test.ptx:7: 3 unsupported statements\n"
        "test.ptx:7: atom.global.exch.b128 %q1, [%d1], %q1: 'atom.global.exch.b128': modifier '.b128' "
        "is not supported\n"
        "test.ptx:7: ld.global.b128 %d1, [%d2]: expected one register of 128 bits\n"
        "test.ptx:7: add.s64 %q1, %q1, %q1: 'add.s64': operands of another number, width or kind");
    ck_assert_str_eq(module_kernel(module, "clusters")->refusal,
                     "test.ptx:9: 1 unsupported statement\n"
                     "test.ptx:9: .reqnctapercluster: clusters of more than one CTA are not supported");
    ck_assert_ptr_null(module_kernel(module, "limits")->refusal);
    ck_assert_ptr_null(module_kernel(module, "whole")->refusal);
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

static void load_what_is_missing(void *context) {
    (void)context;
    module_free(module_load("/nonexistent/file.ptx"));
}

START_TEST(a_missing_file_is_an_error) {
    const char *error = user_error_catch(load_what_is_missing, NULL);
    ck_assert_ptr_nonnull(error);
    ck_assert_ptr_nonnull(strstr(error, "/nonexistent/file.ptx: cannot open it"));
}
END_TEST

/* --- Garbage --------------------------------------------------------------------------------- */

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

Suite *ptx_errors_suite(void) {
    Suite *suite = suite_create("ptx_errors");
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, errors_name_file_and_line);
    tcase_add_test(errors, a_constant_of_the_wrong_kind_is_named_with_its_statement);
    tcase_add_test(errors, an_empty_dimension_hides_no_overflow);
    tcase_add_test(errors, what_would_be_right_is_said_to_its_end);
    tcase_add_test(errors, accesses_of_halves_and_vectors_say_which_there_are);
    tcase_add_test(errors, bulk_copies_say_what_they_lack);
    tcase_add_test(errors, video_instructions_say_which_selectors_and_modifiers_they_take);
    tcase_add_test(errors, unsupported_statements_of_all_kernels_come_in_one_message);
    tcase_add_test(errors, an_unsupported_statement_has_the_line_that_it_was_compiled_from);
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
