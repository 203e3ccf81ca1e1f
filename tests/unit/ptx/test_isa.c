/* What isa_select() makes of a statement: its kind and timing, and which it refuses. */
#include "tests/unit/ptx/warp_fixture.h"

START_TEST(control_instructions_have_their_kind) {
    static const struct {
        const char *form, *operands;
        InstKind kind;
    } cases[] = {{"bra", "label", INST_BRANCH},
                 {"bra.uni", "label", INST_BRANCH},
                 {"ret", "", INST_EXIT},
                 {"exit", "", INST_EXIT},
                 {"bar.sync", "i4", INST_BARRIER},
                 {"bar.arrive", "i4 r4", INST_BARRIER},
                 {"barrier.sync.aligned", "r4 i4", INST_BARRIER},
                 {"bar.warp.sync", "i4", INST_NOP},
                 {"membar.gl", "", INST_FENCE},
                 {"fence.sc.gpu", "", INST_FENCE},
                 {"fence.proxy.async.shared", "", INST_FENCE},
                 {"fence.mbarrier_init.release.cluster", "", INST_FENCE},
                 {"griddepcontrol.wait", "", INST_NOP},
                 {"setmaxnreg.dec.sync.aligned.u32", "i4", INST_NOP},
                 {"discard.global.L2", "a8 i4", INST_NOP},
                 {"applypriority.global.L2::evict_normal", "a8 i4", INST_NOP},
                 {"nanosleep.u32", "i4", INST_SLEEP},
                 {"prefetch.global.L1", "a8", INST_LOAD},
                 {"add.s32", "r4 r4 r4", INST_ALU},
                 {"ld.global.f32", "r4 a8", INST_LOAD},
                 {"st.shared.u8", "a4 r2", INST_STORE},
                 {"red.global.add.u32", "a8 r4", INST_ATOMIC}};
    for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
        char why[200] = "";
        ck_assert_msg(choose(cases[index].form, cases[index].operands, why, sizeof why), "%s: %s",
                      cases[index].form, why);
        ck_assert_int_eq(warp.inst.kind, cases[index].kind);
    }
    char why[200];
    ck_assert(choose("bar.arrive", "i4 r4", why, sizeof why));
    ck_assert_uint_eq(warp.inst.detail, BARRIER_ARRIVE);
    ck_assert_int_eq(warp.plan.roles[0], ROLE_SRC);
}
END_TEST

START_TEST(unsupported_forms_are_refused_by_name) {
    static const struct {
        const char *form, *operands, *why;
    } cases[] = {
        {"frobnicate.s32", "r4 r4", "opcode 'frobnicate' is not supported"},
        {"add.wobbly.s32", "r4 r4 r4",
         "'add.wobbly.s32': modifier '.wobbly' is not supported; expected add.s32/u32 or add.sat.s32 or "
         "add.cc.u32/s32/b32"},
        {"add.ftz.s32", "r4 r4 r4",
         "'add.ftz.s32': this combination of modifiers is not supported; expected add.s32/u32 or add.sat.s32 "
         "or "
         "add.cc.u32/s32/b32"},
        {"add.s32.f32", "r4 r4 r4",
         "'add.s32.f32': this combination of modifiers is not supported; expected add.s32/u32 or "
         "add.f32 [.rn] or add.f32 [.rn] [.rz] [.rm] [.rp] [.ftz] [.sat] or add.sat.s32 or "
         "add.cc.u32/s32/b32"},
        {"shl.f32", "r4 r4 r4", "'shl.f32': modifier '.f32' is not supported"},
        {"mul.s32", "r4 r4 r4",
         "'mul.s32': this combination of modifiers is not supported; expected mul.lo.s32/u32 or mul.wide.s32 "
         "or "
         "mul.hi.s32"},
        {"setp.f32", "p r4 r4",
         "'setp.f32': this combination of modifiers is not supported; expected setp.eq.f32 [.and] [.or] "
         "[.xor] [.ftz] or "
         "setp.ne.f32 [.and] [.or] [.xor] [.ftz] or setp.lt.f32 [.and] [.or] [.xor] [.ftz] or "
         "setp.le.f32 [.and] [.or] [.xor] [.ftz] or setp.gt.f32 [.and] [.or] [.xor] [.ftz] or "
         "setp.ge.f32 [.and] [.or] [.xor] [.ftz] or setp.equ.f32 [.and] [.or] [.xor] [.ftz] or others"},
        {"add.s32", "r4 r4", "'add.s32': operands of another number, width or kind"},
        {"add.s64", "r8 r8 r4", "'add.s64': operands of another number, width or kind"},
        {"setp.lt.and.s32", "p r4 r4", "'setp.lt.and.s32': operands of another number, width or kind"},
        {"ld.global.v8.f32", "r4 a8", "'ld.global.v8.f32': modifier '.v8' is not supported"},
        {"ld.global", "r4 a8", "'ld.global': expected a type, got none"},
        {"st.const.u32", "a8 r4", "'st.const.u32': this address space is not supported"},
        {"ld.global.f64", "r4 a8", "'ld.global.f64': the registers do not have the width of the type"},
        {"atom.global.and.f32", "r4 a8 r4",
         "'atom.global.and.f32': this atomic operation does not take this type"},
        {"st.global.u32", "a8 _", "'st.global.u32': the sink '_' has no value"}};
    for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
        char why[480] = "";
        ck_assert(!choose(cases[index].form, cases[index].operands, why, sizeof why));
        ck_assert_str_eq(why, cases[index].why);
    }
    char small[16];
    ck_assert(!choose("frobnicate.s32", "r4", small, sizeof small));
    ck_assert_uint_lt(strlen(small), sizeof small);
}
END_TEST

static void check_refused(const char *form, const char *operands, const char *expected) {
    char why[480] = "", want[480];
    ck_assert_msg(!choose(form, operands, why, sizeof why), "%s", form);
    snprintf(want, sizeof want, "'%s': this combination of modifiers is not supported; expected %s", form,
             expected);
    ck_assert_str_eq(why, want);
}

START_TEST(conversions_take_the_modifiers_of_their_types) {
    static const struct {
        const char *expected, *operands, *forms[8];
    } cases[] = {
        {"cvt.rn/rz/rm/rp.f16.f32 [.ftz] [.sat] or cvt.rn/rz.f16.f32 [.relu] [.satfinite]",
         "r2 r4",
         {"cvt.f16.f32", "cvt.rn.rz.f16.f32", "cvt.rn.rn.f16.f32", "cvt.rna.f16.f32", "cvt.rm.relu.f16.f32",
          "cvt.rn.ftz.relu.f16.f32", "cvt.rn.sat.satfinite.f16.f32", "cvt.rni.f16.f32"}},
        {"cvt.rn/rz/rm/rp.bf16.f32 [.ftz] or cvt.rn/rz.bf16.f32 [.relu] [.satfinite]",
         "r2 r4",
         {"cvt.rn.sat.bf16.f32", "cvt.rna.bf16.f32"}},
        {"cvt.rn/rz.tf32.f32 [.relu] [.satfinite] or cvt.rna.tf32.f32 [.satfinite]",
         "r4 r4",
         {"cvt.rna.relu.tf32.f32", "cvt.rn.rna.tf32.f32", "cvt.rm.tf32.f32", "cvt.tf32.f32",
          "cvt.rna.ftz.tf32.f32"}},
        {"cvt.rn/rz.f16x2.f32 [.relu] [.satfinite]",
         "r4 r4 r4",
         {"cvt.rm.f16x2.f32", "cvt.rn.ftz.f16x2.f32", "cvt.rn.sat.f16x2.f32"}},
        {"cvt.rn/rz/rm/rp.f16.s32 [.sat]",
         "r2 r4",
         {"cvt.rn.relu.f16.s32", "cvt.rn.ftz.f16.s32", "cvt.f16.s32"}},
        {"cvt.rn/rz/rm/rp.bf16.u64", "r2 r8", {"cvt.rn.sat.bf16.u64", "cvt.rn.relu.bf16.u64"}},
        {"cvt.rni/rzi/rmi/rpi.s32.f16 [.sat]",
         "r4 r2",
         {"cvt.s32.f16", "cvt.rn.s32.f16", "cvt.rni.ftz.s32.f16", "cvt.rni.rzi.s32.f16"}},
        {"cvt.rni/rzi/rmi/rpi.s32.bf16", "r4 r2", {"cvt.rni.sat.s32.bf16"}},
        {"cvt.rn/rz/rm/rp.f32.u32 [.ftz] [.sat]", "r4 r4", {"cvt.f32.u32", "cvt.rn.relu.f32.u32"}},
        {"cvt.rn/rz/rm/rp.f64.u32 [.sat]", "r8 r4", {"cvt.rn.ftz.f64.u32"}},
        {"cvt.f64.f32 [.ftz] [.sat]", "r8 r4", {"cvt.rn.f64.f32", "cvt.rni.f64.f32"}},
        {"cvt.f64.f64 [.sat] or cvt.rni/rzi/rmi/rpi.f64.f64 [.sat]", "r8 r8", {"cvt.rni.ftz.f64.f64"}},
        {"cvt.f64.bf16", "r8 r2", {"cvt.sat.f64.bf16"}},
        {"cvt.f16.bf16 [.rn] [.rz] [.rm] [.rp]", "r2 r2", {"cvt.rn.rz.f16.bf16", "cvt.sat.f16.bf16"}},
        {"cvt.rn.f16x2.e4m3x2 [.relu]", "r4 r2", {"cvt.rn.satfinite.f16x2.e4m3x2"}},
        {"cvt.u32.u64 or cvt.sat.u32.u64", "r4 r8", {"cvt.rni.u32.u64"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 8 && cases[i].forms[k]; k++)
            check_refused(cases[i].forms[k], cases[i].operands, cases[i].expected);
    check_refused("cvt.rn.e4m3x2.f32", "r2 r4 r4", "cvt.rn.satfinite.e4m3x2.f32 [.relu]");
    check_refused("add.sat.bf16", "r2 r2 r2", "add.bf16 [.rn]");
    check_refused("fma.rn.sat.bf16", "r2 r2 r2 r2", "fma.rn.bf16 [.relu]");
    check_refused("ex2.approx.bf16", "r2 r2", "ex2.approx.ftz.bf16");
}
END_TEST

START_TEST(forms_beyond_the_plain_ones_keep_to_their_types) {
    check_refused("min.relu.s16", "r2 r2 r2", "min.s16");
    check_refused("mad24.lo.sat.s32", "r4 r4 r4 r4", "mad24.lo.s32 or mad24.hi.s32 or mad24.hi.sat.s32");
    check_refused("fma.f32x2", "r8 r8 r8 r8", "fma.rn/rz/rm/rp.f32x2 [.ftz]");
    check_refused("add.ftz.f32.bf16", "r4 r2 r4",
                  "add.f32 [.rn] or add.f32 [.rn] [.rz] [.rm] [.rp] [.ftz] [.sat] or "
                  "add.f32.bf16 [.rn] [.rz] [.rm] [.rp] [.sat] or add.bf16 [.rn]");
    check_refused("cvt.pack.u8.s32.b32", "r4 r4 r4 r4",
                  "cvt.u8.s32 or cvt.sat.u8.s32 or cvt.pack.sat.u8.s32.b32");
    check_refused(
        "createpolicy.fractional.b64", "r8",
        "createpolicy.fractional.L2::evict_last/L2::evict_normal/L2::evict_first/L2::evict_unchanged.b64 or "
        "createpolicy.fractional.L2::evict_last/L2::evict_normal/L2::evict_first/L2::evict_unchanged."
        "L2::evict_first/L2::evict_unchanged.b64 or others");
    check_refused("redux.sync.add.f32", "r4 r4 r4",
                  "redux.sync.min.f32 [.abs] [.NaN] or redux.sync.max.f32 [.abs] [.NaN]");
    check_refused("szext.s32", "r4 r4 r4", "szext.clamp.s32 or szext.wrap.s32");
    char why[480] = "";
    ck_assert(!choose("lop3.xor.b32", "r4 p r4 r4 r4 i4 p", why, sizeof why));
    ck_assert_str_eq(why,
                     "'lop3.xor.b32': modifier '.xor' is not supported; expected lop3.b32 or lop3.or.b32 or "
                     "lop3.and.b32");
    ck_assert(!choose("min.xorsign.abs.f32", "r4 r4 r4 r4", why, sizeof why));
    ck_assert_str_eq(why, "'min.xorsign.abs.f32': operands of another number, width or kind");
}
END_TEST

static void check_timing(const char *form, const char *operands, TimingClass timing) {
    char why[200] = "";
    ck_assert_msg(choose(form, operands, why, sizeof why), "%s", why);
    ck_assert_msg(warp.inst.timing == timing, "%s", form);
}

START_TEST(timing_classes) {
    check_timing("sub.s64", "r8 r8 r8", TIMING_INT_ADD);
    check_timing("max.u32", "r4 r4 r4", TIMING_INT_MAX);
    check_timing("mul.wide.u32", "r8 r4 r4", TIMING_INT_MUL);
    check_timing("mad.lo.s32", "r4 r4 r4 r4", TIMING_INT_MAD);
    check_timing("rem.s32", "r4 r4 r4", TIMING_INT_DIV);
    check_timing("sub.f32", "r4 r4 r4", TIMING_FP_ADD);
    check_timing("fma.rn.ftz.f32", "r4 r4 r4 r4", TIMING_FP_MAD);
    check_timing("div.full.f32", "r4 r4 r4", TIMING_FP_DIV);
    check_timing("fma.rn.f64", "r8 r8 r8 r8", TIMING_DP_MAD);
    check_timing("sqrt.rn.f64", "r8 r8", TIMING_DP_ROOT);
    check_timing("rcp.rn.f64", "r8 r8", TIMING_DP_ROOT);
    check_timing("rsqrt.approx.f64", "r8 r8", TIMING_DP_ROOT);
    check_timing("div.rn.f64", "r8 r8 r8", TIMING_DP_DIV);
    check_timing("sqrt.approx.f32", "r4 r4", TIMING_SFU);
    check_timing("shfl.idx.b32", "r4 r4 r4 r4", TIMING_SHUFFLE);
    check_timing("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", "r4 r4 r4 r4 r4 r4 r4 r4 r4 r4 r4 r4",
                 TIMING_MATRIX_SHORT);
    check_timing("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16", "r4 r4 r4 r4 r4 r4 r4 r4 r4 r4 r4 r4",
                 TIMING_MATRIX_HALF);
    check_timing("ld.param.u32", "r4 ai", TIMING_MEM);
    check_timing("setp.eq.s32", "p r4 i4", TIMING_OTHER);
}
END_TEST

static void count_row(void *context, const char *row) {
    ck_assert_uint_gt(strlen(row), 2);
    ++*(int *)context;
}

START_TEST(all_rows_can_be_listed) {
    int count = 0;
    isa_print_rows(count_row, &count);
    ck_assert_int_gt(count, 500);
}
END_TEST

Suite *isa_suite(void);
Suite *isa_suite(void) {
    Suite *suite = suite_create("isa");
    TCase *cases = tcase_create("isa");
    tcase_add_checked_fixture(cases, warp_setup, warp_teardown);
    tcase_add_test(cases, control_instructions_have_their_kind);
    tcase_add_test(cases, conversions_take_the_modifiers_of_their_types);
    tcase_add_test(cases, forms_beyond_the_plain_ones_keep_to_their_types);
    tcase_add_test(cases, unsupported_forms_are_refused_by_name);
    tcase_add_test(cases, timing_classes);
    tcase_add_test(cases, all_rows_can_be_listed);
    suite_add_tcase(suite, cases);
    return suite;
}
