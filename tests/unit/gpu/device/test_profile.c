/* What checkpoints hold of a profile. */
#include "core/gpu/device/profile.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

/* A load, and what waits for it. */
static const char *const waits = "ld.global.u32 %r1, [out];\n add.u32 %r2, %r1, 1;\n";

enum { LOAD_IN_FLIGHT = 60 };

static const Kernel *find(const void *context, uint64_t code_address) {
    const TinyMachine *m = context;
    return gpu_kernel_at(m->gpu, code_address);
}

static bool loads_as(TinyMachine *m, Profile *profile, const Buffer *bytes, size_t count) {
    Reader reader = {.bytes = bytes->bytes, .count = count};
    return profile_load(profile, &reader, find, m);
}

/* The machine when it has run `cycles` cycles. */
static TinyMachine *run(uint32_t cycles, Profile **profile) {
    TinySpec spec = {.body = waits};
    TinyMachine *m = tiny_new(spec);
    *profile = profile_new(m->sim);
    tiny_launch(m, spec);
    for (uint32_t i = 0; i < cycles && tiny_step(m); i++)
        ;
    return m;
}

static void done(TinyMachine *m, Profile *profile) {
    tiny_free(m);
    profile_free(profile);
}

static uint64_t issues(const Profile *profile) {
    KernelProfile *kernels;
    uint64_t sum = 0;
    uint32_t count = profile_kernels(profile, &kernels);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i <= kernels[k].kernel->inst_count; i++)
            sum += kernels[k].insts ? kernels[k].insts[i].issues : 0;
    profile_free_kernels(kernels, count);
    return sum;
}

/* Takes the machine to its end, and tells what its only CTA did. */
static CtaProfile cta_at_end(TinyMachine *m, const Profile *profile) {
    while (tiny_step(m))
        ;
    CtaProfile *ctas;
    ck_assert_uint_eq(profile_ctas(profile, &ctas), 1);
    CtaProfile cta = ctas[0];
    free(ctas);
    return cta;
}

START_TEST(what_was_saved_is_loaded_and_nothing_shorter_or_longer) {
    Profile *profile;
    TinyMachine *m = run(LOAD_IN_FLIGHT, &profile);
    Buffer bytes = {0}, again = {0};
    uint64_t before = issues(profile);
    ck_assert_uint_gt(before, 0);
    profile_save(profile, &bytes);
    for (size_t count = 0; count < bytes.count; count++)
        ck_assert(!loads_as(m, profile, &bytes, count));
    ck_assert(loads_as(m, profile, &bytes, bytes.count));
    ck_assert_uint_eq(issues(profile), before);
    profile_save(profile, &again);
    ck_assert_uint_eq(again.count, bytes.count);
    ck_assert_mem_eq(again.bytes, bytes.bytes, bytes.count);
    CtaProfile cta = cta_at_end(m, profile);
    ck_assert_uint_eq(cta.from, 1);
    ck_assert_uint_eq(cta.warp_instructions, m->issue_count);
    buffer_u32(&bytes, 0);
    ck_assert(!loads_as(m, profile, &bytes, bytes.count));
    buffer_free(&bytes);
    buffer_free(&again);
    done(m, profile);
}
END_TEST

START_TEST(a_profile_that_begins_in_mid_flight_has_the_resident_ctas_from_then_on) {
    Profile *profile;
    TinyMachine *m = run(LOAD_IN_FLIGHT, &profile);
    size_t before = m->issue_count;
    profile_restart(profile);
    ck_assert_uint_eq(issues(profile), 0);
    CtaProfile cta = cta_at_end(m, profile);
    ck_assert_uint_eq(cta.from, LOAD_IN_FLIGHT);
    ck_assert_uint_eq(cta.warp_instructions, m->issue_count - before);
    ck_assert_uint_gt(m->issue_count, before);
    done(m, profile);
}
END_TEST

/* Whatever stands there, the machine goes on, counts, and can be saved again. What says where things are is checked;
 * counts may be any. */
START_TEST(damaged_bytes_do_no_harm) {
    static const uint8_t values[] = {0, 1, 2, 8, 127, 128, 255};
    Profile *profile;
    TinyMachine *m = run(LOAD_IN_FLIGHT, &profile);
    Buffer bytes = {0};
    uint32_t refused = 0;
    profile_save(profile, &bytes);
    for (size_t at = 0; at < bytes.count; at++) {
        uint8_t before = bytes.bytes[at];
        for (uint32_t i = 0; i < sizeof values; i++) {
            bytes.bytes[at] = values[i];
            refused += !loads_as(m, profile, &bytes, bytes.count);
        }
        bytes.bytes[at] = before;
    }
    ck_assert_uint_gt(refused, 100);
    ck_assert(loads_as(m, profile, &bytes, bytes.count));
    ck_assert_uint_eq(cta_at_end(m, profile).warp_instructions, m->issue_count);
    buffer_free(&bytes);
    done(m, profile);
}
END_TEST

START_TEST(a_profile_that_lacks_a_resident_cta_is_refused) {
    Profile *empty, *profile;
    TinyMachine *idle = run(0, &empty), *m = run(LOAD_IN_FLIGHT, &profile);
    Buffer bytes = {0};
    profile_save(empty, &bytes);
    ck_assert(loads_as(idle, empty, &bytes, bytes.count));
    ck_assert(!loads_as(m, profile, &bytes, bytes.count));
    buffer_free(&bytes);
    done(idle, empty);
    done(m, profile);
}
END_TEST

START_TEST(an_sm_without_ctas_adds_none) {
    Profile *profile;
    CtaProfile *ctas;
    TinyMachine *m = run(0, &profile);
    ck_assert_uint_eq(profile_ctas(profile, &ctas), 0);
    free(ctas);
    done(m, profile);
}
END_TEST

Suite *profile_suite(void) {
    Suite *suite = suite_create("profile");
    TCase *tcase = tcase_create("profile");
    tcase_add_test(tcase, what_was_saved_is_loaded_and_nothing_shorter_or_longer);
    tcase_add_test(tcase, a_profile_that_begins_in_mid_flight_has_the_resident_ctas_from_then_on);
    tcase_add_test(tcase, damaged_bytes_do_no_harm);
    tcase_add_test(tcase, a_profile_that_lacks_a_resident_cta_is_refused);
    tcase_add_test(tcase, an_sm_without_ctas_adds_none);
    suite_add_tcase(suite, tcase);
    return suite;
}
