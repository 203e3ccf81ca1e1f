/* Addresses of shared memory that are kept from one access to the next: which registers have a window, and
 * what accesses by one do. */
#include "core/ptx/module.h"
#include "tests/unit/ptx/warp_fixture.h"
#include "tests/unit/suites.h"

static AddressWindow windows[MAX_WINDOWS];
static uint8_t known;

static void setup(void) {
    warp_setup();
    known = 0;
    warp.context.windows = windows;
    warp.context.known_windows = &known;
    for (uint32_t word = 0; word < FIXTURE_SHARED / 4; word++)
        memcpy(warp.shared + 4 * word, &word, sizeof word);
}

/* By the window of the address register. */
static void access_shared(const char *form, const char *operands, int64_t displacement) {
    char why[200] = "";
    ck_assert_msg(choose(form, operands, why, sizeof why), "%s", why);
    warp.inst.windows = 2;
    warp.inst.displacement = displacement;
    warp.context.fault = FAULT_NONE;
    warp.inst.exec(&warp.inst, &warp.context);
}

static void set_addresses(int slot, uint64_t first, int step) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(slot, lane, first + (uint64_t)(int64_t)(step * lane));
}

static void expect_loads(int64_t displacement) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(0, lane, UINT32_MAX);
    access_shared("ld.shared.u32", "r4 a8", displacement);
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    ck_assert_uint_eq(warp.context.space, SPACE_SHARED);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), (get_u64(1, lane) + (uint64_t)displacement) / 4);
}

START_TEST(a_window_serves_loads_at_every_displacement) {
    static const int steps[] = {4, -4, 0};
    for (int s = 0; s < 3; s++) {
        known = 0;
        set_addresses(1, 512, steps[s]);
        expect_loads(8);
        ck_assert_uint_eq(known, 2);
        expect_loads(0);
        expect_loads(64);
        expect_loads(-256);
        ck_assert_uint_eq(warp.context.lowest, 256 - (steps[s] < 0 ? 124 : 0));
        ck_assert_uint_eq(warp.context.highest, 256 + (steps[s] > 0 ? 124 : 0));
        expect_loads(FIXTURE_SHARED - 512 - 4 * WARP_LANES);
    }
}
END_TEST

/* Rows and columns of half warps, and orders in which eight lanes have words of one block of eight, or not. */
static const uint8_t *words_of(int pattern) {
    static uint8_t word[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int words[] = {lane % 16,     lane / 16 * 17, lane / 8 * 9, lane * 5 % 32,
                       lane * 5 % 31, lane ^ 7,       lane & 24,    lane < 31 ? 0 : 8};
        word[lane] = (uint8_t)words[pattern];
    }
    return word;
}

START_TEST(a_window_serves_words_in_any_order_up_to_the_end_of_shared_memory) {
    const uint8_t *word = words_of(_i);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(1, lane, 512 + 4ull * word[lane]);
    expect_loads(0);
    ck_assert_uint_eq(known, 2);
    int64_t end = FIXTURE_SHARED - 4 - (int64_t)warp.context.highest;
    for (int64_t displacement = end; displacement >= end - 160; displacement -= 4)
        expect_loads(displacement);
    expect_loads(-512);
}
END_TEST

START_TEST(a_window_hides_no_fault) {
    set_addresses(1, 512, 4);
    expect_loads(0);
    access_shared("ld.shared.u32", "r4 a8", 2);
    ck_assert_uint_eq(warp.context.fault, FAULT_MISALIGNED);
    access_shared("ld.shared.u32", "r4 a8", -516);
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(warp.context.fault_lane, 0);
    ck_assert_uint_eq(warp.context.fault_address, UINT64_MAX - 3);
    access_shared("ld.shared.u32", "r4 a8", FIXTURE_SHARED - 512 - 4 * (WARP_LANES - 1));
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(warp.context.fault_lane, WARP_LANES - 1);
}
END_TEST

START_TEST(narrow_addresses_wrap_around_with_their_window) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(1, lane, (uint32_t)(4 * lane - 64));
    for (int64_t displacement = 64; displacement < 256; displacement += 4) {
        access_shared("ld.shared.u32", "r4 a4", displacement);
        ck_assert_uint_eq(known, 2);
        for (int lane = 0; lane < WARP_LANES; lane++)
            ck_assert_uint_eq(get_u32(0, lane), (uint32_t)(4 * lane - 64 + displacement) / 4);
    }
}
END_TEST

START_TEST(a_window_is_of_all_lanes_and_of_no_more_than_32_words) {
    set_addresses(1, 512, 4);
    warp.context.active = ~1u;
    access_shared("ld.shared.u32", "r4 a8", 0);
    ck_assert_uint_eq(known, 0);
    warp.context.active = UINT32_MAX;
    set_u64(1, 31, 512 + 128);
    expect_loads(0);
    ck_assert_uint_eq(known, 0);
    set_u64(1, 31, 512 + 124);
    expect_loads(0);
    ck_assert_uint_eq(known, 2);
    warp.context.active = 1u << 3;
    set_u32(0, 4, 77);
    access_shared("ld.shared.u32", "r4 a8", 0);
    ck_assert_uint_eq(get_u32(0, 3), 512 / 4 + 3);
    ck_assert_uint_eq(get_u32(0, 4), 77);
}
END_TEST

static void expect_stores(int64_t displacement, uint32_t value) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(1, lane, value + (uint32_t)lane);
    access_shared("st.shared.u32", "a8 r4", displacement);
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint32_t stored;
        memcpy(&stored, warp.shared + get_u64(0, lane) + displacement, sizeof stored);
        ck_assert_uint_eq(stored, value + (uint32_t)lane);
    }
}

START_TEST(stores_in_order_make_a_window_and_every_window_serves_stores) {
    set_addresses(0, 1024, 4);
    expect_stores(0, 5000);
    ck_assert_uint_eq(known, 2);
    expect_stores(512, 6000);
    ck_assert_uint_eq(warp.context.lowest, 1024 + 512);
    known = 0;
    set_addresses(1, 1024, -4);
    access_shared("ld.shared.u32", "r4 a8", 0);
    set_addresses(0, 1024, -4);
    expect_stores(0, 7000);
    expect_stores(-256, 8000);
    ck_assert_uint_eq(known, 2);
}
END_TEST

#define KERNEL(body)                                                                                         \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 n) {\n"     \
    ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n.shared .align 4 .b8 s[4096];\n" body " ret; }\n"

static Module *parse(const char *text) {
    Module *module = module_parse("test.ptx", text, strlen(text));
    ck_assert_ptr_nonnull(module);
    return module;
}

static void expect_windows(const char *text, uint32_t count, const uint8_t *expected, uint32_t insts) {
    Module *module = parse(text);
    const Kernel *kernel = module_kernel(module, "k");
    ck_assert_uint_eq(kernel->windows, count);
    for (uint32_t i = 0; i < insts; i++)
        ck_assert_msg(kernel->insts[i].windows == expected[i], "instruction %u: 0x%x", i,
                      kernel->insts[i].windows);
    module_free(module);
}

START_TEST(what_a_loop_goes_by_has_a_window_and_what_it_changes_has_none) {
    expect_windows(KERNEL("cvt.u64.u32 %rd1, %tid.x; mov.u64 %rd2, s; mov.u32 %r1, 0;\n"
                          "LOOP: ld.shared.u32 %r2, [%rd1]; st.shared.u32 [%rd2], %r2;\n"
                          "add.s64 %rd2, %rd2, 4; add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 9;\n"
                          "@%p1 bra LOOP; ld.shared.u32 %r3, [%rd2];"),
                   1, (const uint8_t[]){1, 0, 0, 1, 0, 0, 0, 0, 0, 0}, 10);
}
END_TEST

START_TEST(several_accesses_to_a_change_are_worth_a_window) {
    expect_windows(KERNEL("mov.u32 %r1, %tid.x; ld.shared.u32 %r2, [%r1]; ld.shared.u32 %r3, [%r1+4];\n"
                          "st.shared.u32 [%r1+8], %r2; ld.shared.v2.u32 {%r4, %r5}, [%r1];"),
                   1, (const uint8_t[]){1, 1, 1, 1, 0}, 5);
    expect_windows(KERNEL("mov.u32 %r1, %tid.x; ld.shared.u32 %r2, [%r1]; st.shared.u32 [%r1+8], %r2;"), 0,
                   (const uint8_t[]){0, 0, 0}, 3);
}
END_TEST

START_TEST(registers_that_change_otherwise_than_by_arithmetic_have_no_window) {
    expect_windows(
        KERNEL("mov.u32 %r1, %tid.x; ld.shared.u32 %r1, [%r1]; ld.shared.u32 %r2, [%r1];\n"
               "ld.shared.u32 %r3, [%r1+4]; ld.shared.u32 %r4, [%r1+8]; st.shared.u32 [%r1], %r2;\n"
               "st.shared.u32 [%r1], %r3; st.shared.u32 [%r1], %r4;"),
        0, (const uint8_t[]){0, 0, 0, 0, 0, 0, 0, 0}, 8);
}
END_TEST

Suite *address_windows_suite(void) {
    Suite *suite = suite_create("address_windows");
    TCase *cases = tcase_create("windows");
    tcase_add_checked_fixture(cases, setup, warp_teardown);
    tcase_add_test(cases, a_window_serves_loads_at_every_displacement);
    tcase_add_loop_test(cases, a_window_serves_words_in_any_order_up_to_the_end_of_shared_memory, 0, 8);
    tcase_add_test(cases, a_window_hides_no_fault);
    tcase_add_test(cases, narrow_addresses_wrap_around_with_their_window);
    tcase_add_test(cases, a_window_is_of_all_lanes_and_of_no_more_than_32_words);
    tcase_add_test(cases, stores_in_order_make_a_window_and_every_window_serves_stores);
    tcase_add_test(cases, what_a_loop_goes_by_has_a_window_and_what_it_changes_has_none);
    tcase_add_test(cases, several_accesses_to_a_change_are_worth_a_window);
    tcase_add_test(cases, registers_that_change_otherwise_than_by_arithmetic_have_no_window);
    suite_add_tcase(suite, cases);
    return suite;
}
