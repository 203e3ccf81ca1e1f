/* Histograms of a machine whose cycles are known, and what checkpoints hold of them. */
#include "core/gpu/device/histograms.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { MOST = 64 };

/* Two loads, one behind the other. */
static const char *const two_loads = "ld.global.u32 %r1, [out];\n add.u32 %r2, %r1, 1;\n"
                                     "ld.global.u32 %r3, [out+128];\n add.u32 %r4, %r3, 1;\n";

static Histogram named(Histograms *histograms, const char *name) {
    NamedHistogram list[MOST];
    uint32_t count = histograms_list(histograms, list, MOST);
    ck_assert_uint_le(count, MOST);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return *list[i].histogram;
    ck_abort_msg("no histogram %s", name);
}

/* The machine when it has run `cycles` cycles. */
static TinyMachine *run(uint32_t cycles, Histograms **histograms) {
    TinySpec spec = {.body = two_loads};
    TinyMachine *m = tiny_new(spec);
    *histograms = histograms_new(m->sim);
    tiny_launch(m, spec);
    for (uint32_t i = 0; i < cycles && tiny_step(m); i++)
        ;
    return m;
}

START_TEST(each_load_takes_the_latency_of_the_memory_and_a_cycle_for_each_link) {
    Histograms *histograms;
    TinyMachine *m = run(UINT32_MAX, &histograms);
    Histogram loads = named(histograms, "sm[0].lsu.load_latency_dram");
    ck_assert_uint_eq(loads.count, 2);
    ck_assert_uint_eq(loads.sum, 2 * (TINY_MEMORY_LATENCY + 2));
    ck_assert_uint_eq(loads.max, TINY_MEMORY_LATENCY + 2);
    histograms_free(histograms);
    tiny_free(m);
}
END_TEST

START_TEST(lengths_count_each_cycle_once) {
    Histograms *histograms;
    TinyMachine *m = run(UINT32_MAX, &histograms);
    uint64_t cycles = object_cycle(&m->sm[0]->obj, m->sim->now);
    Histogram outstanding = named(histograms, "sm[0].lsu.outstanding"),
              warps = named(histograms, "sm[0].active_warps");
    ck_assert_uint_eq(outstanding.count, cycles);
    ck_assert_uint_eq(outstanding.sum, named(histograms, "sm[0].lsu.load_latency_dram").sum);
    ck_assert_uint_eq(warps.count, cycles);
    ck_assert_uint_eq(warps.bucket[0] + warps.bucket[1], cycles);
    /* The CTA starts in cycle 1, and its warp is there until its last instruction, exit, has issued. */
    ck_assert_uint_eq(warps.sum, m->issues[m->issue_count - 1].cycle - 1);
    histograms_free(histograms);
    tiny_free(m);
}
END_TEST

/* Of a run with a load in flight. */
static Buffer saved(void) {
    Histograms *histograms;
    TinyMachine *m = run(150, &histograms);
    Buffer bytes = {0};
    histograms_save(histograms, &bytes);
    histograms_free(histograms);
    tiny_free(m);
    return bytes;
}

static bool loads_as(Histograms *histograms, const Buffer *bytes, size_t count) {
    Reader reader = {.bytes = bytes->bytes, .count = count};
    return histograms_load(histograms, &reader);
}

START_TEST(what_was_saved_is_loaded_and_nothing_shorter_or_longer) {
    Histograms *histograms;
    TinyMachine *m = run(0, &histograms);
    Buffer bytes = saved(), again = {0};
    ck_assert(loads_as(histograms, &bytes, bytes.count));
    ck_assert_uint_eq(named(histograms, "sm[0].lsu.load_latency_dram").count, 1);
    histograms_save(histograms, &again);
    ck_assert_uint_eq(again.count, bytes.count);
    ck_assert_mem_eq(again.bytes, bytes.bytes, bytes.count);
    for (size_t count = 0; count < bytes.count; count++)
        ck_assert(!loads_as(histograms, &bytes, count));
    buffer_u32(&bytes, 0);
    ck_assert(!loads_as(histograms, &bytes, bytes.count));
    buffer_free(&bytes);
    buffer_free(&again);
    histograms_free(histograms);
    tiny_free(m);
}
END_TEST

static void check_all(Histograms *histograms) {
    NamedHistogram list[MOST];
    uint32_t count = histograms_list(histograms, list, MOST);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t sum = 0;
        for (uint32_t b = 0; b < HISTOGRAM_BUCKETS; b++)
            sum += list[i].histogram->bucket[b];
        ck_assert_uint_eq(sum, list[i].histogram->count);
    }
}

/* Whatever stands there, what is loaded is sound: counts are sums of buckets. A bucket twice is refused. */
START_TEST(damaged_bytes_do_no_harm) {
    static const uint8_t values[] = {0, 1, 2, 8, 127, 128, 255};
    Histograms *histograms;
    TinyMachine *m = run(0, &histograms);
    Buffer bytes = saved();
    uint32_t refused = 0;
    for (size_t at = 0; at < bytes.count; at++) {
        uint8_t before = bytes.bytes[at];
        for (uint32_t i = 0; i < sizeof values; i++) {
            bytes.bytes[at] = values[i];
            if (loads_as(histograms, &bytes, bytes.count))
                check_all(histograms);
            else
                refused++;
        }
        bytes.bytes[at] = before;
    }
    ck_assert_uint_gt(refused, bytes.count * 4);
    buffer_free(&bytes);
    histograms_free(histograms);
    tiny_free(m);
}
END_TEST

Suite *histograms_suite(void) {
    Suite *suite = suite_create("histograms");
    TCase *tcase = tcase_create("histograms");
    tcase_add_test(tcase, each_load_takes_the_latency_of_the_memory_and_a_cycle_for_each_link);
    tcase_add_test(tcase, lengths_count_each_cycle_once);
    tcase_add_test(tcase, what_was_saved_is_loaded_and_nothing_shorter_or_longer);
    tcase_add_test(tcase, damaged_bytes_do_no_harm);
    suite_add_tcase(suite, tcase);
    return suite;
}
