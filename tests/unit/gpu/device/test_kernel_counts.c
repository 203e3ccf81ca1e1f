/* What checkpoints hold of counts by kernel. */
#include "core/gpu/device/kernel_counts.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { LOAD_IN_FLIGHT = 60 };

/* A machine that counts by kernel, with a load in flight. */
static TinyMachine *begun(void) {
    TinySpec spec = {.body = "ld.global.u32 %r1, [out];\n add.u32 %r2, %r1, 1;\n st.global.u32 [out], %r2;\n",
                     .dispatcher = "count_by_kernel=true",
                     .l2 = true};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    for (uint32_t i = 0; i < LOAD_IN_FLIGHT; i++)
        ck_assert(tiny_step(m));
    return m;
}

static bool loads_as(KernelCounts *counts, const Buffer *bytes, size_t count) {
    Reader reader = {.bytes = bytes->bytes, .count = count};
    return kernel_counts_load(counts, &reader);
}

/* Of launch 0. */
static uint64_t count_of(KernelCounts *counts, const char *name) {
    const KernelColumn *columns;
    uint32_t count = kernel_counts_columns(counts, &columns), i = 0;
    while (i < count && strcmp(columns[i].name, name) != 0)
        i++;
    ck_assert_uint_lt(i, count);
    const uint64_t *values = kernel_counts_of(counts, 0);
    return values ? values[i] : 0;
}

START_TEST(what_was_saved_is_loaded_and_nothing_shorter_or_longer) {
    TinyMachine *m = begun();
    KernelCounts *counts = gpu_kernel_counts(m->gpu);
    Buffer bytes = {0}, again = {0};
    uint64_t before = count_of(counts, "sm_warp_instructions");
    ck_assert_uint_gt(before, 0);
    kernel_counts_save(counts, &bytes);
    for (size_t count = 0; count < bytes.count; count++)
        ck_assert(!loads_as(counts, &bytes, count));
    ck_assert(loads_as(counts, &bytes, bytes.count));
    ck_assert_uint_eq(count_of(counts, "sm_warp_instructions"), before);
    kernel_counts_save(counts, &again);
    ck_assert_uint_eq(again.count, bytes.count);
    ck_assert_mem_eq(again.bytes, bytes.bytes, bytes.count);
    tiny_finish(m);
    ck_assert_uint_eq(count_of(counts, "sm_warp_instructions"), tiny_stat(m, "sm[0]", "warp_instructions"));
    ck_assert_uint_eq(count_of(counts, "l2_hits"), tiny_stat(m, "l2", "hits"));
    buffer_u32(&bytes, 0);
    ck_assert(!loads_as(counts, &bytes, bytes.count));
    buffer_free(&bytes);
    buffer_free(&again);
    tiny_free(m);
}
END_TEST

/* Whatever stands there, the machine goes on, counts, and can be saved again. What says whose something is is checked;
 * counts may be any. */
START_TEST(damaged_bytes_do_no_harm) {
    static const uint8_t values[] = {0, 1, 255};
    TinyMachine *m = begun();
    KernelCounts *counts = gpu_kernel_counts(m->gpu);
    Buffer bytes = {0};
    uint32_t refused = 0;
    kernel_counts_save(counts, &bytes);
    for (size_t at = 0; at < bytes.count; at++) {
        uint8_t before = bytes.bytes[at];
        for (uint32_t i = 0; i < sizeof values; i++) {
            bytes.bytes[at] = values[i];
            refused += !loads_as(counts, &bytes, bytes.count);
        }
        bytes.bytes[at] = before;
    }
    ck_assert_uint_gt(refused, 100);
    ck_assert(loads_as(counts, &bytes, bytes.count));
    tiny_finish(m);
    ck_assert_uint_eq(count_of(counts, "sm_lsu_loads_answered"), 1);
    buffer_free(&bytes);
    tiny_free(m);
}
END_TEST

START_TEST(counts_that_begin_in_mid_flight_know_whose_the_resident_ctas_are) {
    TinyMachine *m = begun();
    KernelCounts *counts = gpu_kernel_counts(m->gpu);
    uint64_t before = tiny_stat(m, "sm[0]", "warp_instructions");
    kernel_counts_restart(counts);
    ck_assert_uint_eq(count_of(counts, "sm_warp_instructions"), 0);
    tiny_finish(m);
    ck_assert_uint_eq(count_of(counts, "sm_warp_instructions"),
                      tiny_stat(m, "sm[0]", "warp_instructions") - before);
    ck_assert_uint_eq(count_of(counts, "l2_hits"), 1); /* of the store */
    tiny_free(m);
}
END_TEST

Suite *kernel_counts_suite(void) {
    Suite *suite = suite_create("kernel_counts");
    TCase *tcase = tcase_create("kernel_counts");
    tcase_add_test(tcase, what_was_saved_is_loaded_and_nothing_shorter_or_longer);
    tcase_add_test(tcase, damaged_bytes_do_no_harm);
    tcase_add_test(tcase, counts_that_begin_in_mid_flight_know_whose_the_resident_ctas_are);
    suite_add_tcase(suite, tcase);
    return suite;
}
