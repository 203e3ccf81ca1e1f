#include "tests/unit/ptx/warp_fixture.h"

/* Operands of `form`: r a r (r). All lanes address `offset` in the buffer or in shared memory. */
static void set_operands(uint64_t base, int address_bytes, uint64_t offset) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (address_bytes == 8) {
            set_u64(1, lane, base + offset);
        } else {
            set_u32(1, lane, (uint32_t)(base + offset));
        }
    }
}

static uint64_t shared_word(uint64_t offset, size_t bytes) {
    uint64_t value = 0;
    memcpy(&value, warp.shared + offset, bytes);
    return value;
}

/* One lane, one operation, on shared memory. */
static void check_operation(const char *operation, const char *type, uint64_t old, uint64_t operand,
                            uint64_t operand2, uint64_t expected) {
    bool wide = type[1] == '6';
    size_t bytes = wide                                                                                ? 8
                   : strcmp(type, "b16") == 0 || strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0 ? 2
                                                                                                       : 4;
    char form[48];
    snprintf(form, sizeof form, "atom.shared.%s.%s", operation, type);
    bool is_cas = strcmp(operation, "cas") == 0;
    set_operands(0, 4, 16);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        wide ? set_u64(2, lane, operand) : set_u32(2, lane, (uint32_t)operand);
        wide ? set_u64(3, lane, operand2) : set_u32(3, lane, (uint32_t)operand2);
    }
    memcpy(warp.shared + 16, &old, bytes);
    warp.context.active = 1u << 5;
    execute(form, wide ? (is_cas ? "r8 a4 r8 r8" : "r8 a4 r8") : is_cas ? "r4 a4 r4 r4" : "r4 a4 r4");
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    ck_assert_msg(shared_word(16, bytes) == expected, "%s: 0x%llx", form,
                  (unsigned long long)shared_word(16, bytes));
    ck_assert_uint_eq(wide ? get_u64(0, 5) : get_u32(0, 5), old);
}

START_TEST(every_operation_on_every_type) {
    check_operation("add", "u32", 0xffffffffu, 2, 0, 1);
    check_operation("add", "s32", 5, 0xfffffffbu, 0, 0);
    check_operation("add", "u64", UINT64_MAX, 2, 0, 1);
    check_operation("add", "f32", 0x3f800000u, 0x40000000u, 0, 0x40400000u);
    check_operation("add", "f64", 0x3ff0000000000000ull, 0x4000000000000000ull, 0, 0x4008000000000000ull);
    check_operation("min", "u32", 5, 0xffffffffu, 0, 5);
    check_operation("min", "s32", 5, 0xffffffffu, 0, 0xffffffffu);
    check_operation("max", "u32", 5, 0xffffffffu, 0, 0xffffffffu);
    check_operation("max", "s32", 5, 0xffffffffu, 0, 5);
    check_operation("min", "s64", 5, UINT64_MAX, 0, UINT64_MAX);
    check_operation("max", "u64", 5, UINT64_MAX, 0, UINT64_MAX);
    check_operation("max", "s64", 5, UINT64_MAX, 0, 5);
    check_operation("exch", "b32", 5, 7, 0, 7);
    check_operation("exch", "b64", 5, 7ull << 40, 0, 7ull << 40);
    check_operation("cas", "b32", 5, 5, 9, 9);
    check_operation("cas", "b32", 5, 6, 9, 5);
    check_operation("cas", "b64", 5ull << 32, 5ull << 32, 9, 9);
    check_operation("and", "b32", 0xff, 0x0ff0, 0, 0xf0);
    check_operation("or", "b32", 0xff, 0x0ff0, 0, 0xfff);
    check_operation("xor", "b64", 0xff, 0x0ff0, 0, 0xf0f);
}
END_TEST

START_TEST(elements_of_16_bits_leave_their_neighbours_alone) {
    const uint32_t neighbour = 0xaaaa;
    memcpy(warp.shared + 18, &neighbour, 2);
    check_operation("cas", "b16", 5, 0x70005, 0x80009, 9);
    check_operation("cas", "b16", 5, 6, 9, 5);
    check_operation("add.noftz", "f16", 0x3c00, 0x3c01, 0, 0x4000); /* 2 + 2^-10 to even */
    check_operation("add.noftz", "f16", 0x0001, 0x0001, 0, 0x0002);
    check_operation("add.noftz", "bf16", 0x3f80, 0x4000, 0, 0x4040);
    ck_assert_uint_eq(shared_word(18, 2), neighbour);
    check_operation("add.noftz", "f16x2", 0x3c004000, 0x3c003c00, 0, 0x40004200);
    check_operation("add.noftz", "bf16x2", 0x3f807f80, 0x3f80ff80, 0, 0x40007fff);
}
END_TEST

START_TEST(inc_and_dec_wrap_at_their_bound) {
    check_operation("inc", "u32", 6, 7, 0, 7);
    check_operation("inc", "u32", 7, 7, 0, 0);
    check_operation("inc", "u32", 9, 7, 0, 0);
    check_operation("dec", "u32", 7, 7, 0, 6);
    check_operation("dec", "u32", 0, 7, 0, 7);
    check_operation("dec", "u32", 8, 7, 0, 7);
}
END_TEST

START_TEST(lanes_at_one_shared_address_follow_in_ascending_order) {
    set_operands(0, 4, 8);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(2, lane, 1u + (uint32_t)lane);
    warp.context.active = 0x80000011u;
    set_u32(0, 1, 0xaaaa);
    execute("atom.shared.add.u32", "r4 a4 r4");
    ck_assert_uint_eq(get_u32(0, 0), 0);
    ck_assert_uint_eq(get_u32(0, 4), 1);
    ck_assert_uint_eq(get_u32(0, 31), 6);
    ck_assert_uint_eq(get_u32(0, 1), 0xaaaa);
    ck_assert_uint_eq(shared_word(8, 4), 38);
    ck_assert_uint_eq(warp.context.space, SPACE_SHARED);
    execute("atom.shared.exch.b32", "_ a4 r4");
    ck_assert_uint_eq(shared_word(8, 4), 32);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(0, lane, 8);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(1, lane, 100);
    execute("red.shared.add.u32", "a4 r4");
    ck_assert_uint_eq(shared_word(8, 4), 332);
}
END_TEST

START_TEST(global_atomics_travel_and_happen_at_the_slice) {
    MemoryView slice;
    view_init(&slice, warp.memory);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        set_u64(1, lane, warp.buffer + 4 * (uint64_t)(lane % 2));
        set_u32(2, lane, 10);
        set_u32(0, lane, 0xdddd);
    }
    warp.context.active = 0x0000000fu;
    execute_displaced("atom.global.add.u32", "r4 a8 r4", 64);
    ck_assert_uint_eq(warp.context.space, SPACE_GLOBAL);
    ck_assert_uint_eq(warp.atomic.mask, 0xf);
    ck_assert_uint_eq(warp.atomic.bytes, 4);
    ck_assert_uint_eq(warp.atomic.address[3], warp.buffer + 68);
    ck_assert_uint_eq(get_u32(0, 0), 0xdddd);
    ck_assert_uint_eq(slice.log_count, 0);

    ck_assert(atomic_perform(&warp.atomic, 0xa, &slice));
    atomic_write_back(&warp.inst, &warp.atomic, 0xa, (uint8_t *)warp.registers);
    ck_assert_uint_eq(get_u32(0, 1), 0);
    ck_assert_uint_eq(get_u32(0, 3), 10);
    ck_assert_uint_eq(get_u32(0, 0), 0xdddd);
    ck_assert(atomic_perform(&warp.atomic, 0xfffffff5u, &slice));
    atomic_write_back(&warp.inst, &warp.atomic, UINT32_MAX, (uint8_t *)warp.registers);
    ck_assert_uint_eq(get_u32(0, 0), 0);
    ck_assert_uint_eq(get_u32(0, 2), 10);
    ck_assert_uint_eq(get_u32(0, 4), 0xdddd);

    uint64_t value;
    ck_assert(view_load(&slice, warp.buffer + 64, 4, &value));
    ck_assert_uint_eq(value, 20);
    ck_assert(view_load(&warp.view, warp.buffer + 64, 4, &value));
    ck_assert_uint_eq(value, 0);
    view_commit(&slice);
    ck_assert(view_load(&warp.view, warp.buffer + 68, 4, &value));
    ck_assert_uint_eq(value, 20);
    view_free(&slice);
}
END_TEST

static uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

START_TEST(float_adds_happen_in_lane_order) {
    set_operands(warp.buffer, 8, 0);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(2, lane, float_bits(lane == 0 ? 0x1p24f : lane == 31 ? -0x1p24f : 1.0f));
    execute("atom.global.add.f32", "r4 a8 r4");
    ck_assert(atomic_perform(&warp.atomic, UINT32_MAX, &warp.view));
    uint64_t value;
    ck_assert(view_load(&warp.view, warp.buffer, 4, &value));
    /* 2^24 + 1 rounds back to 2^24 thirty times. */
    ck_assert_uint_eq(value, 0);
    ck_assert_uint_eq(warp.atomic.result[31], float_bits(0x1p24f));
}
END_TEST

START_TEST(subnormals_are_flushed_on_global_memory_only) {
    check_operation("add", "f32", 0x00000001u, 0x00000001u, 0, 0x00000002u);
    set_operands(warp.buffer, 8, 0);
    set_u32(2, 0, 0x00000001u);
    warp.context.active = 1;
    execute("atom.global.add.f32", "r4 a8 r4");
    ck_assert(atomic_perform(&warp.atomic, 1, &warp.view));
    uint64_t value;
    ck_assert(view_load(&warp.view, warp.buffer, 4, &value));
    ck_assert_uint_eq(value, 0);
}
END_TEST

START_TEST(cas_and_64_bit_operands_travel) {
    set_operands(warp.buffer, 8, 8);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        set_u64(2, lane, (uint64_t)lane << 40);
        set_u64(3, lane, (uint64_t)(lane + 1) << 40);
    }
    execute("atom.global.cas.b64", "r8 a8 r8 r8");
    ck_assert_uint_eq(warp.atomic.bytes, 8);
    ck_assert(atomic_perform(&warp.atomic, UINT32_MAX, &warp.view));
    uint64_t value;
    ck_assert(view_load(&warp.view, warp.buffer + 8, 8, &value));
    ck_assert_uint_eq(value, 32ull << 40);
    atomic_write_back(&warp.inst, &warp.atomic, UINT32_MAX, (uint8_t *)warp.registers);
    ck_assert_uint_eq(get_u64(0, 31), 31ull << 40);
}
END_TEST

START_TEST(generic_atomics_split_into_shared_now_and_global_later) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        set_u64(1, lane, (lane < 8 ? SHARED_WINDOW : warp.buffer) + 16);
        set_u32(2, lane, 1);
    }
    execute("atom.add.u32", "r4 a8 r4");
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    ck_assert_uint_eq(warp.context.space, SPACE_GLOBAL);
    ck_assert_uint_eq(warp.atomic.mask, 0xffffff00u);
    ck_assert_uint_eq(warp.context.active, UINT32_MAX);
    ck_assert_uint_eq(shared_word(16, 4), 8);
    ck_assert_uint_eq(get_u32(0, 7), 7);
    ck_assert_uint_eq(warp.atomic.address[8], warp.buffer + 16);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(1, lane, SHARED_WINDOW + 16);
    execute("atom.add.u32", "r4 a8 r4");
    ck_assert_uint_eq(warp.context.space, SPACE_SHARED);
    ck_assert_uint_eq(warp.atomic.mask, 0);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(1, lane, LOCAL_WINDOW);
    execute("atom.add.u32", "r4 a8 r4");
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
}
END_TEST

START_TEST(bad_addresses_fault_and_change_nothing) {
    set_operands(warp.buffer, 8, 0);
    set_u64(1, 7, warp.buffer - 4);
    execute("atom.global.add.u32", "r4 a8 r4");
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(warp.context.fault_lane, 7);
    ck_assert_uint_eq(warp.atomic.mask, 0);
    set_u64(1, 7, warp.buffer + 2);
    execute("atom.global.add.u32", "r4 a8 r4");
    ck_assert_uint_eq(warp.context.fault, FAULT_MISALIGNED);
    set_operands(0, 4, FIXTURE_SHARED);
    execute("atom.shared.add.u32", "r4 a4 r4");
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);

    set_operands(warp.buffer, 8, 0);
    warp.context.fault = FAULT_NONE;
    execute("atom.global.add.u32", "r4 a8 r4");
    warp.atomic.address[3] = 0;
    ck_assert(!atomic_perform(&warp.atomic, UINT32_MAX, &warp.view));
}
END_TEST

Suite *atomics_suite(void);
Suite *atomics_suite(void) {
    Suite *suite = suite_create("atomics");
    TCase *cases = tcase_create("atomics");
    tcase_add_checked_fixture(cases, warp_setup, warp_teardown);
    tcase_add_test(cases, every_operation_on_every_type);
    tcase_add_test(cases, inc_and_dec_wrap_at_their_bound);
    tcase_add_test(cases, elements_of_16_bits_leave_their_neighbours_alone);
    tcase_add_test(cases, lanes_at_one_shared_address_follow_in_ascending_order);
    tcase_add_test(cases, global_atomics_travel_and_happen_at_the_slice);
    tcase_add_test(cases, float_adds_happen_in_lane_order);
    tcase_add_test(cases, subnormals_are_flushed_on_global_memory_only);
    tcase_add_test(cases, cas_and_64_bit_operands_travel);
    tcase_add_test(cases, generic_atomics_split_into_shared_now_and_global_later);
    tcase_add_test(cases, bad_addresses_fault_and_change_nothing);
    suite_add_tcase(suite, cases);
    return suite;
}
