/* Moves, special registers, lanes that see each other, traps, and laws that hold for every arithmetic row. */
#include "tests/unit/ptx/warp_fixture.h"

START_TEST(moves_pack_and_unpack) {
    EXPECT1("mov.u16", "r2 r2", 0x5678, 0x12345678u);
    EXPECT1("mov.f64", "r8 i8", D(1.5), D(1.5));
    EXPECT2("mov.b64", "r8 r4 r4", 0x9abcdef012345678ull, 0x12345678u, 0x9abcdef0u);
    EXPECT2("mov.b32", "r4 r2 r2", 0xdef05678u, 0x12345678u, 0x9abcdef0u);
    EXPECT4("mov.b64", "r8 r2 r2 r2 r2", 0x4444333322221111ull, 0x11111, 0x22222, 0x33333, 0x44444);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(2, lane, UINT64_C(0x4444333322221111) + (uint64_t)lane);
    execute("mov.b64", "r4 r4 r8");
    ck_assert_uint_eq(get_u32(0, 5), 0x22221116u);
    ck_assert_uint_eq(get_u32(1, 5), 0x44443333u);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(2, lane, 0x22221111);
    execute("mov.b32", "r2 r2 r4"); /* the same number of registers as when it packs */
    ck_assert_uint_eq(get_u32(0, 7), 0x1111);
    ck_assert_uint_eq(get_u32(1, 7), 0x2222);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(2, lane, UINT64_C(0x4444333322221111) + (uint64_t)lane);
    execute("mov.b64", "_ r4 r8");
    ck_assert_uint_eq(warp.inst.dst_count, 1);
    ck_assert_uint_eq(get_u32(1, 31), 0x44443333u);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(4, lane, 0x4444333322221111ull);
    execute("mov.b64", "r2 _ r2 r2 r8");
    ck_assert_uint_eq(get_u32(0, 0), 0x1111);
    ck_assert_uint_eq(get_u32(2, 0), 0x3333);
    ck_assert_uint_eq(get_u32(3, 0), 0x4444);
}
END_TEST

START_TEST(generic_addresses_convert_both_ways) {
    EXPECT1("cvta.shared.u64", "r8 r8", SHARED_WINDOW + 16, 16);
    EXPECT1("cvta.to.shared.u64", "r8 r8", 16, SHARED_WINDOW + 16);
    EXPECT1("cvta.shared::cluster.u64", "r8 r8", SHARED_WINDOW + 16, 16);
    EXPECT1("cvta.to.shared::cluster.u64", "r8 r8", 16, SHARED_WINDOW + 16);
    EXPECT1("cvta.local.u64", "r8 r8", LOCAL_WINDOW + 16, 16);
    EXPECT1("cvta.to.local.u64", "r8 r8", 16, LOCAL_WINDOW + 16);
    EXPECT1("cvta.param.u64", "r8 r8", PARAM_WINDOW + 16, 16);
    EXPECT1("cvta.to.param.u64", "r8 r8", 16, PARAM_WINDOW + 16);
    EXPECT1("cvta.to.global.u64", "r8 r8", DEVICE_MEMORY_BASE, DEVICE_MEMORY_BASE);
    EXPECT1("isspacep.shared", "p r8", 1, SHARED_WINDOW + WINDOW_BYTES - 1);
    EXPECT1("isspacep.shared", "p r8", 0, SHARED_WINDOW + WINDOW_BYTES);
    EXPECT1("isspacep.local", "p r8", 1, LOCAL_WINDOW);
    EXPECT1("isspacep.global", "p r8", 0, LOCAL_WINDOW);
    EXPECT1("isspacep.param", "p r8", 1, PARAM_WINDOW);
    EXPECT1("isspacep.param", "p r8", 0, PARAM_WINDOW - 1);
    EXPECT1("isspacep.global", "p r8", 0, PARAM_WINDOW + 8);
    EXPECT1("isspacep.global", "p r8", 1, DEVICE_MEMORY_BASE);
}
END_TEST

START_TEST(clocks_are_read_when_executed) {
    Statement statement = {.opcode = "mov",
                           .modifiers = {"u64"},
                           .modifier_count = 1,
                           .operand_count = 2,
                           .shapes = {OPERAND_REGISTER, OPERAND_SPECIAL},
                           .register_bytes = {8, 0},
                           .special = SPECIAL_CLOCK64};
    Inst inst = {.pdst = NO_PREDICATE, .pdst2 = NO_PREDICATE};
    OperandPlan plan = {0};
    char why[100];
    ck_assert(isa_select(&statement, &inst, &plan, why, sizeof why));
    ck_assert_int_eq(plan.roles[1], ROLE_IGNORE);
    inst.dst_count = 1;
    warp.context.clock = 0x123456789ull;
    warp.context.cycle_ticks = 5;
    warp.context.ticks_per_second = 3500000000;
    inst.exec(&inst, &warp.context);
    ck_assert_uint_eq(get_u64(0, 31), 0x123456789ull);
    statement.special = SPECIAL_GLOBALTIMER;
    ck_assert(isa_select(&statement, &inst, &plan, why, sizeof why));
    inst.exec(&inst, &warp.context);
    ck_assert_uint_eq(get_u64(0, 0), 6981026207ull); /* cycles of 10/7 ns */
    statement.modifiers[0] = "u32";
    statement.register_bytes[0] = 4;
    statement.special = SPECIAL_CLOCK;
    ck_assert(isa_select(&statement, &inst, &plan, why, sizeof why));
    inst.exec(&inst, &warp.context);
    ck_assert_uint_eq(get_u32(0, 9), 0x23456789u);
}
END_TEST

START_TEST(special_registers_of_a_warp) {
    SpecialSlot slots[] = {{SPECIAL_TID_X, 0},
                           {SPECIAL_TID_Y, 128},
                           {SPECIAL_TID_Z, 256},
                           {SPECIAL_LANEMASK_GT, 384},
                           {SPECIAL_CTAID_Y, 512}};
    WarpIdentity identity = {.ctaid = {1, 2, 3}, .ntid = {10, 3, 4}, .warp_in_cta = 1};
    exec_fill_specials(slots, 5, &identity, (uint8_t *)warp.registers);
    const uint32_t *lanes = (const uint32_t *)(const void *)warp.registers;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        uint32_t thread = 32 + lane;
        ck_assert_uint_eq(lanes[lane] + 10 * (lanes[32 + lane] + 3 * lanes[64 + lane]), thread);
        ck_assert_uint_lt(lanes[lane], 10);
        ck_assert_uint_lt(lanes[32 + lane], 3);
        ck_assert_uint_eq(lanes[96 + lane], lane == 31 ? 0 : UINT32_MAX << (lane + 1));
        ck_assert_uint_eq(lanes[128 + lane], 2);
    }
}
END_TEST

static void shuffle(const char *form, uint32_t b, uint32_t c) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(2, lane, 100 + (uint32_t)lane);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(3, lane, b);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(4, lane, c);
    execute(form, "r4 p r4 r4 r4 i4");
}

START_TEST(shuffles_stay_in_their_segment) {
    uint32_t *in_range = &warp.predicates[FIRST_FREE_PREDICATE + 1];
    shuffle("shfl.sync.up.b32", 1, 0);
    ck_assert_uint_eq(*in_range, 0xfffffffeu);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), (uint32_t)(100 + (lane ? lane - 1 : 0)));
    shuffle("shfl.sync.down.b32", 2, 31 | 24 << 8);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        ck_assert_uint_eq(get_u32(0, lane), (uint32_t)(100 + lane + (lane % 8 < 6 ? 2 : 0)));
    }
    ck_assert_uint_eq(*in_range, 0x3f3f3f3fu);
    shuffle("shfl.sync.bfly.b32", 16, 31);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), (uint32_t)(100 + (lane ^ 16)));
    shuffle("shfl.sync.idx.b32", 3, 31 | 24 << 8);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), (uint32_t)(100 + lane / 8 * 8 + 3));
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(1, lane, (uint32_t)lane);
    set_constant(2, 4, 1);
    set_constant(3, 4, 31);
    execute("shfl.down.b32", "r4 r4 i4 i4");
    ck_assert_uint_eq(get_u32(0, 30), 31);
    ck_assert_uint_eq(get_u32(0, 31), 31);
}
END_TEST

START_TEST(votes_count_active_members_only) {
    uint32_t *p = &warp.predicates[FIRST_FREE_PREDICATE];
    warp.context.active = 0x0000ffffu;
    p[1] = 0xffff00ffu;
    set_constant(2, 4, UINT32_MAX);
    set_u32(0, 20, 77);
    execute("vote.sync.ballot.b32", "r4 p i4");
    ck_assert_uint_eq(get_u32(0, 3), 0x00ffu);
    ck_assert_uint_eq(get_u32(0, 20), 77);
    execute("vote.ballot.sync.b32", "r4 !p i4");
    ck_assert_uint_eq(get_u32(0, 3), 0xff00u);
    set_constant(2, 4, 0xf);
    execute("vote.sync.ballot.b32", "r4 p i4");
    ck_assert_uint_eq(get_u32(0, 3), 0xfu);
    execute("vote.all.pred", "p p");
    ck_assert_uint_eq(p[0], 0);
    execute("vote.any.pred", "p p");
    ck_assert_uint_eq(p[0], 0x0000ffffu);
    execute("vote.uni.pred", "p p");
    ck_assert_uint_eq(p[0], 0);
    warp.context.active = 0x000000ffu;
    execute("vote.all.pred", "p p");
    ck_assert_uint_eq(p[0], 0xff);
    execute("activemask.b32", "r4");
    ck_assert_uint_eq(get_u32(0, 0), 0xff);
}
END_TEST

START_TEST(the_lowest_member_is_elected) {
    uint32_t *p = &warp.predicates[FIRST_FREE_PREDICATE];
    warp.context.active = 0x000000f0u;
    p[1] = 0x1000000fu;
    set_u32(0, 3, 77);
    set_constant(2, 4, 0xe0);
    execute("elect.sync", "r4 p i4");
    ck_assert_uint_eq(p[1], 0x1000002fu);
    for (int lane = 4; lane < 8; lane++)
        ck_assert_uint_eq(get_u32(0, lane), 5);
    ck_assert_uint_eq(get_u32(0, 3), 77);
}
END_TEST

START_TEST(match_and_redux) {
    set_constant(2, 4, UINT32_MAX);
    set_constant(3, 4, UINT32_MAX);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(1, lane, (uint32_t)lane % 2 - 1);
    execute("match.any.sync.b32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 4), 0x55555555u);
    ck_assert_uint_eq(get_u32(0, 5), 0xaaaaaaaau);
    execute("redux.sync.min.s32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 5), UINT32_MAX);
    execute("redux.sync.min.u32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 5), 0);
    execute("redux.sync.add.s32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 5), (uint32_t)-16);
    set_all("r4 r4 i4", 1, NAN_F32);
    execute("redux.sync.min.f32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 5), NAN_F32);
    set_u32(1, 7, 0x80000000u);
    set_u32(1, 9, 0);
    set_u32(1, 30, F(-3));
    execute("redux.sync.max.f32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 5), 0);
    execute("redux.sync.min.f32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 5), F(-3));
    execute("redux.sync.max.abs.f32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 5), F(3));
    execute("redux.sync.max.NaN.f32", "r4 r4 i4");
    ck_assert_uint_eq(get_u32(0, 5), NAN_F32);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(2, lane, 5ull << 40);
    execute("match.all.sync.b64", "r4 p r8 i4");
    ck_assert_uint_eq(get_u32(0, 0), UINT32_MAX);
    ck_assert_uint_eq(warp.predicates[FIRST_FREE_PREDICATE + 1], UINT32_MAX);
}
END_TEST

START_TEST(lanes_of_different_member_masks_do_not_see_each_other) {
    uint32_t *p = &warp.predicates[FIRST_FREE_PREDICATE];
    for (int lane = 0; lane < WARP_LANES; lane++) {
        set_u32(1, lane, (uint32_t)lane % 3);
        set_u32(2, lane, lane < 8 ? 0xffu : lane < 16 ? 0xff00u : 0xffff0000u);
    }
    warp.context.active = 0x7fffffff;
    set_u32(0, 31, 77);
    p[1] = 0x00ff00f1u;
    execute("vote.sync.ballot.b32", "r4 p r4");
    ck_assert_uint_eq(get_u32(0, 0), 0xf1u);
    ck_assert_uint_eq(get_u32(0, 15), 0);
    ck_assert_uint_eq(get_u32(0, 16), 0x00ff0000u);
    ck_assert_uint_eq(get_u32(0, 31), 77);
    execute("match.any.sync.b32", "r4 r4 r4");
    ck_assert_uint_eq(get_u32(0, 0), 0x49u);
    ck_assert_uint_eq(get_u32(0, 9), 0x9200u);
    execute("redux.sync.add.s32", "r4 r4 r4");
    ck_assert_uint_eq(get_u32(0, 0), 7);
    ck_assert_uint_eq(get_u32(0, 8), 8);
    ck_assert_uint_eq(warp.context.active, 0x7fffffff);
}
END_TEST

START_TEST(trap_faults_in_the_first_active_lane) {
    warp.context.active = 0x30;
    execute("trap", "");
    ck_assert_uint_eq(warp.context.fault, FAULT_TRAP);
    ck_assert_uint_eq(warp.context.fault_lane, 4);
}
END_TEST

/* Laws that hold for every arithmetic row: inactive lanes keep their value, and the destination may be a
 * source. */

static const struct {
    const char *form, *operands;
} law_cases[] = {{"add.s32", "r4 r4 r4"},
                 {"mad.lo.s32", "r4 r4 r4 r4"},
                 {"mul.wide.s32", "r8 r4 r4"},
                 {"mad.wide.u32", "r8 r4 r4 r8"},
                 {"div.s32", "r4 r4 r4"},
                 {"rem.u64", "r8 r8 r8"},
                 {"add.s64", "r8 r8 r8"},
                 {"min.s16", "r2 r2 r2"},
                 {"add.cc.u32", "r4 r4 r4"},
                 {"fma.rn.f32", "r4 r4 r4 r4"},
                 {"fma.rz.ftz.f32", "r4 r4 r4 r4"},
                 {"fma.rn.f64", "r8 r8 r8 r8"},
                 {"sqrt.rn.f32", "r4 r4"},
                 {"sin.approx.f32", "r4 r4"},
                 {"and.b32", "r4 r4 r4"},
                 {"shl.b64", "r8 r8 r4"},
                 {"lop3.b32", "r4 r4 r4 r4 i4"},
                 {"prmt.b32", "r4 r4 r4 r4"},
                 {"bfe.s64", "r8 r8 r4 r4"},
                 {"bfi.b32", "r4 r4 r4 r4 r4"},
                 {"popc.b64", "r4 r8"},
                 {"selp.b32", "r4 r4 r4 p"},
                 {"selp.b64", "r8 r8 r8 p"},
                 {"set.lt.u32.s32", "r4 r4 r4"},
                 {"slct.b64.f32", "r8 r8 r8 r4"},
                 {"mov.b32", "r4 r4"},
                 {"mov.b64", "r8 r8"},
                 {"mov.b64", "r8 r4 r4"},
                 {"cvt.s64.s32", "r8 r4"},
                 {"cvt.u32.u64", "r4 r8"},
                 {"cvt.rn.f32.s64", "r4 r8"},
                 {"cvt.rzi.s64.f32", "r8 r4"},
                 {"cvt.f64.f32", "r8 r4"},
                 {"cvt.rn.f16.f32", "r2 r4"},
                 {"cvt.s32.s8", "r8 r8"},
                 {"shfl.sync.bfly.b32", "r4 r4 r4 r4 i4"},
                 {"min.f32", "r4 r4 r4"},
                 {"cvta.shared.u64", "r8 r8"},
                 {"neg.s32", "r4 r4"},
                 {"dp4a.u32.s32", "r4 r4 r4 r4"}};
enum { LAW_CASES = sizeof law_cases / sizeof *law_cases };

static uint64_t scramble(uint64_t x) {
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
    return x ^ x >> 29;
}

static void fill_registers(uint64_t seed) {
    for (int slot = 0; slot < FIXTURE_SLOTS; slot++) {
        for (int lane = 0; lane < WARP_LANES; lane++) {
            warp.registers[slot].lanes[lane] = scramble(seed * 977 + (uint64_t)(slot * WARP_LANES + lane) +
                                                        1);
            warp.constants[slot].lanes[lane] = scramble(seed + (uint64_t)slot + 5);
        }
        warp.predicates[FIRST_FREE_PREDICATE + slot] = (uint32_t)scramble(seed + 3 * (uint64_t)slot);
    }
}

static int slot_lane_bytes(const char *operands) {
    return operands[1] == '8' ? 8 : 4;
}

START_TEST(inactive_lanes_are_left_alone) {
    const char *form = law_cases[_i].form, *operands = law_cases[_i].operands;
    static const uint32_t masks[] = {0, 1, 0x80000000u, 0x0f0ff00fu, 0x7fffffffu};
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        fill_registers(7);
        Slot before = warp.registers[0];
        warp.context.active = UINT32_MAX;
        execute(form, operands);
        Slot full = warp.registers[0];
        fill_registers(7);
        warp.context.active = masks[m];
        execute(form, operands);
        int bytes = slot_lane_bytes(operands);
        for (int lane = 0; lane < WARP_LANES; lane++) {
            const Slot *expected = masks[m] >> lane & 1 ? &full : &before;
            int differs = memcmp((uint8_t *)&warp.registers[0] + lane * bytes,
                                 (const uint8_t *)expected + lane * bytes, (size_t)bytes);
            ck_assert_msg(differs == 0, "%s mask 0x%x lane %d", form, masks[m], lane);
        }
        if (bytes == 4) ck_assert_mem_eq((uint8_t *)&warp.registers[0] + 128, (uint8_t *)&before + 128, 128);
    }
}
END_TEST

START_TEST(destination_may_overlay_a_source) {
    const char *form = law_cases[_i].form, *operands = law_cases[_i].operands;
    int bytes = slot_lane_bytes(operands);
    fill_registers(11);
    execute(form, operands);
    Slot expected = warp.registers[0];
    for (int k = 0; k < warp.inst.src_count; k++) {
        if (warp.inst.src[k] & OPERAND_CONST || warp.inst.src[k] < sizeof(Slot)) continue;
        /* A 32-bit destination may also overlay the upper slot of a 64-bit source. */
        for (uint32_t upper = 0; upper <= (bytes == 4 ? SLOT_BYTES : 0); upper += SLOT_BYTES) {
            fill_registers(11);
            warp.inst.dst[0] = warp.inst.src[k] + upper;
            warp.inst.exec(&warp.inst, &warp.context);
            const uint8_t *result = (const uint8_t *)warp.registers + warp.inst.dst[0];
            ck_assert_msg(memcmp(result, &expected, (size_t)bytes * WARP_LANES) == 0, "%s over source %d",
                          form, k);
        }
    }
}
END_TEST

Suite *exec_suite(void);
Suite *exec_suite(void) {
    Suite *suite = suite_create("exec");
    TCase *cases = tcase_create("exec");
    tcase_add_checked_fixture(cases, warp_setup, warp_teardown);
    tcase_add_test(cases, moves_pack_and_unpack);
    tcase_add_test(cases, generic_addresses_convert_both_ways);
    tcase_add_test(cases, clocks_are_read_when_executed);
    tcase_add_test(cases, special_registers_of_a_warp);
    tcase_add_test(cases, shuffles_stay_in_their_segment);
    tcase_add_test(cases, votes_count_active_members_only);
    tcase_add_test(cases, the_lowest_member_is_elected);
    tcase_add_test(cases, match_and_redux);
    tcase_add_test(cases, lanes_of_different_member_masks_do_not_see_each_other);
    tcase_add_test(cases, trap_faults_in_the_first_active_lane);
    tcase_add_loop_test(cases, inactive_lanes_are_left_alone, 0, LAW_CASES);
    tcase_add_loop_test(cases, destination_may_overlay_a_source, 0, LAW_CASES);
    suite_add_tcase(suite, cases);
    return suite;
}
