/* mbarrier: who has arrived, when a phase ends, and what ends it: threads, bytes, asynchronous copies. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <string.h>

#define OBJECT ".shared .align 8 .b64 bar;\n .shared .align 16 .b8 tile[4096];\n"
/* Only thread 0. */
#define INIT(count)                                                                                          \
    "setp.eq.u32 %p7, %tid.x, 0;\n@%p7 mbarrier.init.shared.b64 [bar], " count ";\n bar.sync 0;\n"
/* %r1, a lane's number or what else is in %r1, to word N * 32 + lane of out. */
#define STORE(reg, n)                                                                                        \
    "mov.u32 %r60, %tid.x;\n mov.u64 %d60, out;\n mul.wide.u32 %d61, %r60, 4;\n add.u64 %d60, %d60, %d61;\n" \
    " st.global.u32 [%d60+" #n "*128], " reg ";\n"
#define STORE_PREDICATE(n) "selp.u32 %r59, 1, 0, %p1;\n" STORE("%r59", n)

static uint32_t stored(const TinyMachine *m, uint32_t n, uint32_t lane) {
    return tiny_word(m, 32 * n + lane);
}

START_TEST(each_arrival_takes_one_from_those_that_are_pending) {
    TinyMachine *m = tiny_run((TinySpec){
        .body = OBJECT INIT(
            "40") "mbarrier.arrive.shared.b64 %d1, [bar];\n mbarrier.pending_count.b64 %r1, "
                  "%d1;\n" STORE(
                      "%r1",
                      0) "mbarrier.test_wait.shared.b64 %p1, [bar], "
                         "%d1;\n" STORE_PREDICATE(
                             1) "@%p7 mbarrier.arrive.release.cta.shared::cta.b64 _, "
                                "[bar], 8;\n"
                                "mbarrier.test_wait.shared.b64 %p1, [bar], "
                                "%d1;\n" STORE_PREDICATE(
                                    2) "mbarrier.test_wait."
                                       "parity.shared.b64 %p1, "
                                       "[bar], "
                                       "0;\n" STORE_PREDICATE(
                                           3) "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, "
                                              "[bar], 1, 100;\n" STORE_PREDICATE(4) "mbarrier.arrive."
                                                                                    "shared.b64 %d1, "
                                                                                    "[bar];\n "
                                                                                    "mbarrier.pending_"
                                                                                    "count.b64 %r1, "
                                                                                    "%d1;\n" STORE("%r"
                                                                                                   "1",
                                                                                                   5)});
    for (uint32_t lane = 0; lane < 32; lane++) {
        ck_assert_uint_eq(stored(m, 0, lane), 40 - lane);
        ck_assert_uint_eq(stored(m, 1, lane), 0);
        ck_assert_uint_eq(stored(m, 2, lane), 1); /* the phase has ended */
        ck_assert_uint_eq(stored(m, 3, lane), 1);
        ck_assert_uint_eq(stored(m, 4, lane), 0); /* the one that goes on has parity 1 */
        ck_assert_uint_eq(stored(m, 5, lane), 40 - lane);
    }
    tiny_free(m);
}
END_TEST

/* Those who drop out are expected no more from the next phase on. */
START_TEST(who_drops_out_is_missed_in_no_later_phase) {
    TinyMachine *m = tiny_run((TinySpec){
        .body = OBJECT INIT(
            "32") "setp.lt.u32 %p2, %tid.x, 10;\n"
                  "@%p2 mbarrier.arrive_drop.shared.b64 %d1, [bar];\n@!%p2 mbarrier.arrive.shared.b64 %d1, "
                  "[bar];\n"
                  "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n" STORE_PREDICATE(
                      0) "@!%p2 mbarrier.arrive.shared.b64 %d1, [bar];\n mbarrier.pending_count.b64 %r1, "
                         "%d1;\n" STORE("%r1", 1) "mbarrier.test_wait.parity.shared.b64 %p1, [bar], "
                                                  "1;\n" STORE_PREDICATE(2)});
    for (uint32_t lane = 0; lane < 32; lane++) {
        ck_assert_uint_eq(stored(m, 0, lane), 1);
        if (lane >= 10) ck_assert_uint_eq(stored(m, 1, lane), 22 - (lane - 10));
        ck_assert_uint_eq(stored(m, 2, lane), 1);
    }
    tiny_free(m);
}
END_TEST

/* Bytes may come before they are announced. */
START_TEST(a_phase_waits_for_the_bytes_that_are_expected) {
    TinyMachine *m = tiny_run((TinySpec){
        .body = OBJECT INIT(
            "1") "@!%p7 bra done;\n"
                 "mbarrier.arrive.expect_tx.shared.b64 %d1, [bar], 64;\n"
                 "mbarrier.test_wait.shared.b64 %p1, [bar], %d1;\n" STORE_PREDICATE(
                     0) "mbarrier.complete_tx.shared.b64 [bar], 60;\n"
                        "mbarrier.test_wait.shared.b64 %p1, [bar], %d1;\n" STORE_PREDICATE(
                            1) "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], 4;\n"
                               "mbarrier.test_wait.shared.b64 %p1, [bar], %d1;\n" STORE_PREDICATE(
                                   2) "mbarrier.complete_tx.shared.b64 [bar], 16;\n"
                                      "mbarrier.arrive.shared.b64 %d1, [bar];\n"
                                      "mbarrier.test_wait.shared.b64 %p1, [bar], %d1;\n" STORE_PREDICATE(
                                          3) "mbarrier.expect_tx.shared.b64 [bar], 16;\n "
                                             "mbarrier.complete_tx.shared.b64 [bar], 0;\n"
                                             "mbarrier.test_wait.shared.b64 %p1, [bar], "
                                             "%d1;\n" STORE_PREDICATE(4) "done:\n"});
    const uint32_t passed[] = {0, 0, 1, 0, 1};
    for (uint32_t n = 0; n < 5; n++)
        ck_assert_uint_eq(stored(m, n, 0), passed[n]);
    tiny_free(m);
}
END_TEST

/* Warp 1 arrives after a sleep; warp 0 asks until then, every 20 cycles or so. */
START_TEST(who_waits_goes_on_after_the_last_arrival) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = OBJECT INIT("64") "setp.lt.u32 %p2, %tid.x, 32;\n@!%p2 nanosleep.u32 500;\n"
                                             "mbarrier.arrive.shared.b64 %d1, [bar];\n"
                                             "again:\n mbarrier.try_wait.shared.b64 %p1, [bar], %d1;\n@!%p1 "
                                             "bra again;\n mov.u32 %r1, 1;\n",
                   .threads = 64});
    enum { ARRIVE = 5, BEHIND = 8 };
    uint64_t last = tiny_issued_at(m, 1, ARRIVE, 0), gone_on = tiny_issued_at(m, 0, BEHIND, 0);
    ck_assert_uint_gt(last, 500);
    ck_assert_uint_gt(gone_on, last);
    ck_assert_uint_lt(gone_on, last + 60);
    tiny_free(m);
}
END_TEST

/* --- Asynchronous copies --------------------------------------------------------------------- */

#define COPY(at) "cp.async.ca.shared.global [tile+" at "], [out+" at "], 4;\n"
#define WAIT                                                                                                 \
    "again:\n mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra again;\n mov.u32 %r1, 1;\n"

static uint64_t gone_on(const char *body, uint32_t behind) {
    TinyMachine *m = tiny_run((TinySpec){.body = body});
    uint64_t cycle = tiny_issued_at(m, 0, behind, 0);
    tiny_free(m);
    return cycle;
}

START_TEST(copies_arrive_when_they_are_complete) {
    /* What would wait for a load in the copy's place. */
    uint64_t load = gone_on(OBJECT INIT("32") "ld.global.u32 %r1, [out];\n mov.u32 %r2, %r1;\n", 4);
    uint64_t copy = gone_on(
        OBJECT INIT("32") COPY("0") "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" WAIT, 7);
    ck_assert_uint_ge(copy, load);
    ck_assert_uint_lt(copy, load + 60);
    /* Without .noinc the arrivals are expected beside the others, which have come at once. */
    ck_assert_uint_eq(gone_on(OBJECT INIT("32") COPY("0") "cp.async.mbarrier.arrive.shared.b64 [bar];\n"
                                                          "mbarrier.arrive.shared.b64 _, [bar];\n" WAIT,
                              8) > load,
                      1);
    /* No copy, nothing to wait for. */
    ck_assert_uint_lt(gone_on(OBJECT INIT("32") "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" WAIT, 6),
                      60);
}
END_TEST

/* The second arrival waits for the first one's copies, too, and not for what is copied behind it. */
START_TEST(an_arrival_waits_for_the_copies_before_it) {
    const TinySpec spec = {
        .body = OBJECT INIT("64") COPY("0")
            COPY("128") "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" COPY(
                "256") "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" COPY("384") "mov.u32 %r1, 1;\n"};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    const AsyncArrivals *arrivals = &m->sm[0]->arrivals[0];
    while (arrivals->count < 2)
        ck_assert(tiny_step(m));
    tiny_step_to(m, 60);
    ck_assert_uint_eq(arrivals->in_flight[0], 2);
    ck_assert_uint_eq(arrivals->in_flight[1], 1);
    ck_assert_uint_eq(arrivals->in_flight[2], 1);
    while (arrivals->in_flight[0])
        ck_assert(tiny_step(m));
    ck_assert_uint_eq(arrivals->count, 1); /* the first has arrived */
    ck_assert_uint_eq(arrivals->first, 1);
    while (arrivals->in_flight[1])
        ck_assert(tiny_step(m));
    ck_assert_uint_eq(arrivals->count, 0);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

START_TEST(more_arrivals_than_there_are_places_all_come) {
    char body[4000] = OBJECT INIT("320");
    for (int i = 0; i < 10; i++)
        sprintf(body + strlen(body),
                "cp.async.ca.shared.global [tile+%d], [out+%d], 4;\n "
                "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n",
                128 * i, 128 * i);
    strcat(body, WAIT);
    uint64_t cycle = gone_on(body, 3 + 20 + 2);
    ck_assert_uint_gt(cycle, TINY_MEMORY_LATENCY);
}
END_TEST

/* --- Addresses and faults -------------------------------------------------------------------- */

START_TEST(generic_addresses_are_those_of_shared_memory) {
    TinyMachine *m = tiny_run((TinySpec){
        .body = OBJECT
        "mov.u64 %d5, bar;\n cvta.shared.u64 %d5, %d5;\n"
        "setp.eq.u32 %p7, %tid.x, 0;\n@%p7 mbarrier.init.b64 [%d5], 32;\n bar.sync 0;\n"
        "mbarrier.arrive.b64 %d1, [%d5];\n mbarrier.test_wait.b64 %p1, [%d5], %d1;\n" STORE_PREDICATE(0),
        .l2 = true});
    ck_assert_uint_eq(stored(m, 0, 31), 1);
    tiny_free(m);
}
END_TEST

/* A cluster has one CTA, of rank 0; its shared memory is the CTA's. */
START_TEST(a_cluster_of_one_cta_has_its_shared_memory) {
    static const char body[] = OBJECT
        "mov.u32 %r1, tile;\nmapa.shared::cluster.u32 %r2, %r1, 0;\nmov.u32 %r3, 77;\n"
        "st.shared::cluster.u32 [%r2], %r3;\nld.shared.u32 %r4, [tile];\n"
        "getctarank.shared::cluster.u32 %r5, %r2;\nmov.u32 %r6, %cluster_nctarank;\n"
        "mov.u32 %r7, %cluster_ctaid.x;\nmov.u32 %r8, %nclusterid.x;\nmov.u32 %r9, %cluster_nctaid.y;\n"
        "cvt.u64.u32 %d1, %r1;\ncvta.shared.u64 %d1, %d1;\nmov.u32 %r10, 5;\n"
        "getctarank.u64 %r10, %d1;\n";
    static const char stores[] = STORE("%r4", 0) STORE("%r5", 1) STORE("%r6", 2) STORE("%r7", 3)
        STORE("%r8", 4) STORE("%r9", 5) STORE("%r10", 6);
    char text[sizeof body + sizeof stores];
    snprintf(text, sizeof text, "%s%s", body, stores);
    TinyMachine *m = tiny_run(
        (TinySpec){.body = text, .directives = ".explicitcluster .reqnctapercluster 1, 1, 1"});
    const uint32_t wanted[] = {77, 0, 1, 0, 1, 1, 0};
    for (uint32_t n = 0; n < sizeof wanted / sizeof *wanted; n++)
        ck_assert_uint_eq(stored(m, n, 9), wanted[n]);
    tiny_free(m);
}
END_TEST

static void finish(void *machine) {
    tiny_finish(machine);
}

static const char *fault(const char *body) {
    static char message[1024];
    TinySpec spec = {.body = body, .l2 = true};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    snprintf(message, sizeof message, "%s", tiny_error(finish, m, NULL));
    tiny_free(m);
    return message;
}

START_TEST(misuse_is_a_fault_that_names_the_thread) {
    static const char none[] = "no mbarrier at 0x0 of shared memory";
    ck_assert_ptr_nonnull(strstr(fault(OBJECT "mbarrier.arrive.shared.b64 _, [bar];\n"), none));
    ck_assert_ptr_nonnull(
        strstr(fault(OBJECT "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n"), none));
    ck_assert_ptr_nonnull(strstr(fault(OBJECT "cp.async.mbarrier.arrive.shared.b64 [bar];\n"), none));
    ck_assert_ptr_nonnull(strstr(
        fault(OBJECT INIT("32") "mbarrier.inval.shared.b64 [bar];\n mbarrier.arrive.shared.b64 _, [bar];\n"),
        none));
    /* 31 arrivals and one of two. */
    ck_assert_ptr_nonnull(
        strstr(fault(OBJECT INIT("32") "setp.eq.u32 %p1, %tid.x, 31;\n selp.u32 %r1, 2, 1, %p1;\n"
                                       "mbarrier.arrive.shared.b64 _, [bar], %r1;\n"),
               "thread (31, 0, 0)"));
    ck_assert_ptr_nonnull(
        strstr(fault(OBJECT "mov.u64 %d1, out;\n mbarrier.init.b64 [%d1], 1;\n"), "mbarrier"));
    ck_assert_ptr_nonnull(strstr(fault(OBJECT "mbarrier.init.shared.b64 [tile+4], 1;\n"), "misaligned"));
    ck_assert_ptr_nonnull(strstr(fault(OBJECT "mbarrier.init.shared.b64 [bar+8192], 1;\n"), "out of bounds"));
}
END_TEST

Suite *mbarrier_suite(void) {
    Suite *suite = suite_create("mbarrier");
    TCase *tcase = tcase_create("mbarrier");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, each_arrival_takes_one_from_those_that_are_pending);
    tcase_add_test(tcase, who_drops_out_is_missed_in_no_later_phase);
    tcase_add_test(tcase, a_phase_waits_for_the_bytes_that_are_expected);
    tcase_add_test(tcase, who_waits_goes_on_after_the_last_arrival);
    tcase_add_test(tcase, copies_arrive_when_they_are_complete);
    tcase_add_test(tcase, an_arrival_waits_for_the_copies_before_it);
    tcase_add_test(tcase, more_arrivals_than_there_are_places_all_come);
    tcase_add_test(tcase, generic_addresses_are_those_of_shared_memory);
    tcase_add_test(tcase, misuse_is_a_fault_that_names_the_thread);
    tcase_add_test(tcase, a_cluster_of_one_cta_has_its_shared_memory);
    suite_add_tcase(suite, tcase);
    return suite;
}
