/* Fast-forward within a launch: what has happened when timing begins, and what the machine makes of it. */
#include "core/gpu/device/dispatcher.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

/* Of a CTA in out: its word when it begins, and 64 words on when it ends; in between it loads `rounds` times, where
 * %r4 says so. */
#define BEGIN                                                                                                \
    "mov.u32 %r1, %ctaid.x;\n mov.u64 %d1, out;\n mul.wide.u32 %d2, %r1, 4;\n add.u64 %d1, %d1, %d2;\n"      \
    " st.global.u32 [%d1], 1;\n"
#define LOOP                                                                                                 \
    "again:\n ld.volatile.global.u32 %r3, [%d1];\n add.u32 %r2, %r2, %r3;\n setp.lt.u32 %p1, %r2, %r4;\n"    \
    "@%p1 bra again;\n"
#define END "st.global.u32 [%d1+256], %r2;\n"

enum { CTAS = 20, ROUNDS = 10, FORWARD = 6, ENDED = 64 };

static uint32_t words(const TinyMachine *m, uint32_t first, uint32_t value) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < CTAS; i++)
        count += tiny_word(m, first + i) == value;
    return count;
}

static const TinySpec loads = {
    .body = BEGIN "mov.u32 %r4, 10;\n" LOOP END, .ctas = CTAS, .forward_ctas = FORWARD, .sms = 2};

START_TEST(ctas_in_mid_flight_are_handed_over) {
    TinyMachine *m = tiny_new(loads);
    tiny_launch(m, loads);
    uint32_t begun = words(m, 0, 1), done = (uint32_t)dispatcher_ctas_done(m->dispatcher), resident = 0;
    ck_assert_uint_eq(gpu_cycle(m->gpu), 0);
    ck_assert_uint_ge(done, FORWARD);
    ck_assert_uint_lt(done, FORWARD + 4);
    ck_assert_uint_ge(words(m, ENDED, ROUNDS), done);
    for (uint32_t i = 0; i < 2; i++) {
        const Sm *sm = m->sm[i];
        resident += sm->resident;
        ck_assert_uint_gt(sm->resident, 2);
        ck_assert_uint_eq(sm->ctas_started, sm->resident);
        ck_assert_uint_eq(sm->warp_instructions, 0);
        ck_assert_uint_eq((uint32_t)__builtin_popcountll(sm->live), sm->resident);
    }
    ck_assert_uint_le(begun, done + resident);
    ck_assert_uint_ge(begun + 2, done + resident); /* each SM may have one that has not executed yet */
    tiny_finish(m);
    ck_assert_uint_eq(words(m, ENDED, ROUNDS), CTAS);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "ctas_finished") + tiny_stat(m, "sm[1]", "ctas_finished"),
                      CTAS - done);
    tiny_free(m);
}
END_TEST

static uint32_t rounds_done(const Sm *sm, uint32_t warp, uint32_t rounds) {
    /* %r2 is the only register that counts from 0 to rounds - 1. */
    uint32_t most = 0;
    for (uint32_t i = 0; i < sm->kernels.register_bytes / SLOT_BYTES; i++) {
        uint32_t value = *(const uint32_t *)(const void *)(sm_registers(sm, warp) + (size_t)i * SLOT_BYTES);
        if (value < rounds && value > most) most = value;
    }
    return most;
}

START_TEST(ctas_of_different_ages_are_resident) {
    TinyMachine *m = tiny_new(loads);
    uint32_t youngest = ROUNDS, oldest = 0;
    tiny_launch(m, loads);
    for (WarpSet left = m->sm[0]->live; left; left &= left - 1) {
        uint32_t rounds = rounds_done(m->sm[0], first_warp(left), ROUNDS);
        youngest = rounds < youngest ? rounds : youngest;
        oldest = rounds > oldest ? rounds : oldest;
    }
    ck_assert_uint_ge(oldest, ROUNDS - 4);
    ck_assert_uint_le(youngest, 3);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* They compute alone: in each round, instructions that need what the one before has computed. */
#define COMPUTE                                                                                              \
    "again:\n add.u32 %r2, %r2, 1;\n xor.b32 %r3, %r2, 0x80000000;\n rem.u32 %r3, %r3, 0xffffffff;\n"        \
    "setp.lt.u32 %p1, %r3, %r4;\n @%p1 bra again;\n"

enum { LONG = 400, PLACES = 8 };

static const TinySpec computing = {.body = BEGIN "mov.u32 %r2, 0;\n mov.u32 %r4, 0x80000190;\n" COMPUTE END,
                                   .ctas = 4 * PLACES,
                                   .forward_ctas = 2 * PLACES,
                                   .sms = 2};

static uint32_t find_rounds(const Sm *sm, uint32_t rounds[PLACES]) {
    uint32_t count = 0;
    ck_assert_uint_ge(sm->resident, PLACES - 1); /* one may have ended */
    for (WarpSet left = sm->live; left; left &= left - 1)
        rounds[count++] = rounds_done(sm, first_warp(left), LONG);
    return count;
}

/* The oldest goes before the others where both are ready, which it is rarely: it waits for what it computes. */
START_TEST(ctas_that_compute_go_on_side_by_side) {
    TinyMachine *m = tiny_new(computing);
    uint32_t rounds[PLACES], far = 0;
    tiny_launch(m, computing);
    uint32_t count = find_rounds(m->sm[0], rounds);
    for (uint32_t i = 0; i < count; i++)
        far += rounds[i] > LONG / 3;
    ck_assert_uint_ge(far, PLACES / 2);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

static bool has_one_near(const uint32_t *rounds, uint32_t count, uint32_t value, uint32_t near) {
    bool has = false;
    for (uint32_t i = 0; i < count; i++)
        has |= rounds[i] + near >= value && value + near >= rounds[i];
    return has;
}

START_TEST(neither_sms_nor_their_ctas_are_in_step) {
    enum { NEAR = LONG / PLACES / 8 };
    TinyMachine *m = tiny_new(computing);
    uint32_t first[PLACES], second[PLACES], in_step = 0;
    tiny_launch(m, computing);
    uint32_t ones = find_rounds(m->sm[0], first), others = find_rounds(m->sm[1], second);
    for (uint32_t i = 0; i < ones; i++)
        in_step += has_one_near(second, others, first[i], NEAR) || has_one_near(first, i, first[i], NEAR);
    ck_assert_uint_le(in_step, 2);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* The first CTA takes long, alone, and all others end long before the next one is due: nobody is resident then. */
START_TEST(sms_may_be_empty_until_a_cta_is_due) {
    const TinySpec spec = {.body = BEGIN "setp.ne.u32 %p2, %r1, 0;\n @%p2 bra done;\n mov.u32 %r2, 0;\n"
                                         "mov.u32 %r4, 0x80000190;\n" COMPUTE "done:\n" END,
                           .ctas = CTAS,
                           .forward_ctas = FORWARD};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    ck_assert_uint_ge(dispatcher_ctas_done(m->dispatcher), FORWARD);
    tiny_finish(m);
    ck_assert_uint_eq(words(m, 0, 1), CTAS);
    tiny_free(m);
}
END_TEST

/* CTAs 0 and 2 end at once; of CTA 1, warp 0 has come to the barrier by then, and warp 1 loads on for long. */
START_TEST(who_waits_at_a_barrier_still_does) {
    const TinySpec spec = {
        .body = BEGIN "mov.u32 %r4, 0;\n setp.gt.u32 %p2, %tid.x, 31;\n setp.eq.and.u32 %p2, %r1, 1, %p2;\n"
                      "@%p2 mov.u32 %r4, 200;\n" LOOP "bar.sync 0;\n" END,
        .ctas = 3,
        .threads = 64,
        .forward_ctas = 2};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    const Sm *sm = m->sm[0];
    ck_assert_uint_eq(sm->resident, 1);
    ck_assert_uint_eq(sm->live, sm->cta_by_age[0]);
    ck_assert_uint_eq(sm->waiting, warp_bit(first_warp(sm->live)));
    ck_assert_uint_eq(sm->cta[sm->warp[first_warp(sm->live)].cta_slot].barrier[0].waiting, sm->waiting);
    ck_assert_uint_eq(tiny_word(m, ENDED + 1), 0);
    tiny_finish(m);
    ck_assert_uint_ne(tiny_word(m, ENDED + 1), 0);
    ck_assert_uint_gt(tiny_cycles(m), 100 * TINY_MEMORY_LATENCY);
    tiny_free(m);
}
END_TEST

START_TEST(a_launch_may_end_before_there_is_timing) {
    TinySpec spec = loads;
    spec.forward_ctas = CTAS;
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    ck_assert(dispatcher_idle(m->dispatcher));
    ck_assert_uint_eq(words(m, ENDED, ROUNDS), CTAS);
    ck_assert_uint_eq(tiny_cycles(m), 0);
    tiny_free(m);
}
END_TEST

START_TEST(the_rest_is_the_same_in_any_order) {
    tiny_free(tiny_run(loads));
}
END_TEST

START_TEST(cold_ctas_end_one_after_the_other) {
    TinySpec spec = loads;
    spec.cold_ctas = FORWARD;
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    ck_assert_uint_eq(dispatcher_ctas_done(m->dispatcher), FORWARD);
    ck_assert_uint_eq(words(m, 0, 1), FORWARD);
    ck_assert_uint_eq(words(m, ENDED, ROUNDS), FORWARD);
    ck_assert_uint_eq(m->sm[0]->resident + m->sm[1]->resident, 0);
    tiny_finish(m);
    ck_assert_uint_eq(words(m, ENDED, ROUNDS), CTAS);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "ctas_finished") + tiny_stat(m, "sm[1]", "ctas_finished"),
                      CTAS - FORWARD);
    tiny_free(m);
}
END_TEST

START_TEST(behind_cold_ctas_others_are_in_mid_flight) {
    TinySpec spec = loads;
    spec.cold_ctas = 2;
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    ck_assert_uint_ge(dispatcher_ctas_done(m->dispatcher), FORWARD);
    ck_assert_uint_gt(m->sm[0]->resident, 2);
    ck_assert_uint_gt(m->sm[1]->resident, 2);
    tiny_finish(m);
    ck_assert_uint_eq(words(m, ENDED, ROUNDS), CTAS);
    tiny_free(m);
}
END_TEST

/* Each CTA spins until the one three behind it has begun; the last three don't. */
START_TEST(cold_ctas_may_wait_for_later_ones) {
    const TinySpec spec = {.body = BEGIN "setp.gt.u32 %p2, %r1, 16;\n@%p2 bra done;\n"
                                         "again:\n ld.volatile.global.u32 %r3, [%d1+12];\n"
                                         "setp.eq.u32 %p1, %r3, 0;\n@%p1 bra again;\ndone:\n"
                                         "mov.u32 %r2, 10;\n" END,
                           .ctas = CTAS,
                           .forward_ctas = FORWARD,
                           .cold_ctas = FORWARD,
                           .sms = 2};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    ck_assert_uint_ge(dispatcher_ctas_done(m->dispatcher), FORWARD);
    ck_assert_uint_gt(words(m, 0, 1), FORWARD);
    tiny_finish(m);
    ck_assert_uint_eq(words(m, ENDED, ROUNDS), CTAS);
    tiny_free(m);
}
END_TEST

typedef struct {
    TinyMachine *machine;
    TinySpec spec;
} LaunchIt;

static void launch_it(void *context) {
    const LaunchIt *it = context;
    tiny_launch(it->machine, it->spec);
}

START_TEST(cold_ctas_that_wait_for_each_other_are_a_hang) {
    const TinySpec spec = {.body = BEGIN "setp.lt.u32 %p1, %tid.x, 32;\n@%p1 bar.sync 0, 96;\n" END,
                           .ctas = CTAS,
                           .threads = 64,
                           .forward_ctas = FORWARD,
                           .cold_ctas = FORWARD};
    TinyMachine *m = tiny_new(spec);
    const char *said = user_error_catch(launch_it, &(LaunchIt){m, spec});
    ck_assert_ptr_nonnull(said);
    ck_assert_ptr_nonnull(strstr(said, "its warps wait for each other"));
    ck_assert(dispatcher_idle(m->dispatcher));
    tiny_free(m);
}
END_TEST

Suite *forward_suite(void) {
    Suite *suite = suite_create("forward");
    TCase *tcase = tcase_create("forward");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, ctas_in_mid_flight_are_handed_over);
    tcase_add_test(tcase, ctas_of_different_ages_are_resident);
    tcase_add_test(tcase, ctas_that_compute_go_on_side_by_side);
    tcase_add_test(tcase, sms_may_be_empty_until_a_cta_is_due);
    tcase_add_test(tcase, neither_sms_nor_their_ctas_are_in_step);
    tcase_add_test(tcase, who_waits_at_a_barrier_still_does);
    tcase_add_test(tcase, a_launch_may_end_before_there_is_timing);
    tcase_add_test(tcase, the_rest_is_the_same_in_any_order);
    tcase_add_test(tcase, cold_ctas_end_one_after_the_other);
    tcase_add_test(tcase, behind_cold_ctas_others_are_in_mid_flight);
    tcase_add_test(tcase, cold_ctas_may_wait_for_later_ones);
    tcase_add_test(tcase, cold_ctas_that_wait_for_each_other_are_a_hang);
    suite_add_tcase(suite, tcase);
    return suite;
}
