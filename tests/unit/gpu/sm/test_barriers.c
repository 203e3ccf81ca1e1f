/* Barriers and fences. Warps 0 and 1 belong to schedulers 0 and 1, so that neither waits for the other's
 * slot. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

/* Begins a body: jumps to EARLY in all warps but `late`; those run a chain of `adds` dependent adds and
 * `moves` moves first. Instructions 0 to 3, the chain, the moves. */
static char *late_warp(uint32_t late, uint32_t adds, uint32_t moves, const char *rest) {
    char *body = calloc(1, 4096 + strlen(rest));
    sprintf(body,
            "mov.u32 %%r1, %%tid.x;\n shr.u32 %%r1, %%r1, 5;\n setp.ne.u32 %%p1, %%r1, %u;\n"
            "@%%p1 bra EARLY;\n",
            late);
    for (uint32_t i = 0; i < adds; i++)
        strcat(body, "add.u32 %r2, %r2, 1;\n");
    for (uint32_t i = 0; i < moves; i++)
        sprintf(body + strlen(body), "mov.u32 %%r%u, 1;\n", 10 + i);
    strcat(body, "EARLY:\n");
    strcat(body, rest);
    return body;
}

/* The waiting warp issues its next instruction one cycle after the last has arrived, whichever scheduler
 * comes first in that cycle: odd and even cycles, warp 0 and warp 1 as the last. */
START_TEST(all_pass_in_the_cycle_after_the_last_has_arrived) {
    uint64_t parities = 0;
    for (uint32_t late = 0; late < 2; late++)
        for (uint32_t moves = 0; moves < 4; moves++) {
            uint32_t barrier = 4 + 5 + moves, early = 1 - late;
            char *body = late_warp(late, 5, moves, "bar.sync 0;\n mov.u32 %r3, 1;\n");
            TinyMachine *m = tiny_run((TinySpec){.threads = 64, .body = body});
            uint64_t last = tiny_issued_at(m, late, barrier, 0);
            ck_assert_uint_lt(tiny_issued_at(m, early, barrier, 0), last - 20);
            ck_assert_uint_eq(tiny_issued_at(m, early, barrier + 1, 0), last + 1);
            ck_assert_uint_gt(tiny_issued_at(m, late, barrier + 1, 0), last);
            ck_assert_uint_eq(tiny_stat(m, "sm[0]", "barriers"), 2);
            /* The early warp is alone in its scheduler, which has nothing else to do in between. */
            ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_barrier"),
                              last - tiny_issued_at(m, early, barrier, 0));
            parities |= 1u << (late * 2 + last % 2);
            tiny_free(m);
            free(body);
        }
    ck_assert_uint_eq(parities, 0xf);
}
END_TEST

START_TEST(nobody_passes_before_the_last_of_eight_warps) {
    char *body = late_warp(5, 7, 0, "bar.sync 0;\n mov.u32 %r3, 1;\n bar.sync 0;\n mov.u32 %r4, 1;\n");
    TinyMachine *m = tiny_run((TinySpec){.threads = 256, .body = body});
    uint64_t last = tiny_issued_at(m, 5, 11, 0);
    for (uint32_t warp = 0; warp < 8; warp++) {
        ck_assert_uint_le(tiny_issued_at(m, warp, 11, 0), last);
        /* Four warps of each scheduler: one after the other. */
        ck_assert_uint_gt(tiny_issued_at(m, warp, 12, 0), last);
        ck_assert_uint_le(tiny_issued_at(m, warp, 12, 0), last + 7); /* two each */
    }
    uint64_t second = 0;
    for (uint32_t warp = 0; warp < 8; warp++)
        if (tiny_issued_at(m, warp, 13, 0) > second) second = tiny_issued_at(m, warp, 13, 0);
    for (uint32_t warp = 0; warp < 8; warp++)
        ck_assert_uint_gt(tiny_issued_at(m, warp, 14, 0), second);
    tiny_free(m);
    free(body);
}
END_TEST

/* Two CTAs on one SM, warps 0 and 1, 2 and 3. Warp 3 is late (6 to 10: its chain, 11: the barrier), which
 * concerns warp 2 only. */
START_TEST(each_cta_has_barriers_of_its_own) {
    TinyMachine *m = tiny_run(
        (TinySpec){.ctas = 2,
                   .threads = 64,
                   .body = "mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n mul.lo.u32 %r3, %r1, %r2;\n"
                           "setp.lt.u32 %p1, %r3, 32;\n @%p1 bra EARLY;\n mov.u32 %r4, 1;\n"
                           "add.u32 %r4, %r4, 1;\n add.u32 %r4, %r4, 1;\n add.u32 %r4, %r4, 1;\n"
                           "add.u32 %r4, %r4, 1;\n add.u32 %r4, %r4, 1;\n"
                           "EARLY: bar.sync 0;\n mov.u32 %r5, 1;\n"});
    uint64_t late = tiny_issued_at(m, 3, 11, 0);
    for (uint32_t warp = 0; warp < 2; warp++)
        ck_assert_uint_lt(tiny_issued_at(m, warp, 12, 0), late - 30);
    ck_assert_uint_lt(tiny_issued_at(m, 2, 11, 0), late - 30);
    ck_assert_uint_eq(tiny_issued_at(m, 2, 12, 0), late + 1);
    tiny_free(m);
}
END_TEST

/* Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; warp 3 is late, which warps 0 and 1 do not
 * feel. */
START_TEST(named_barriers_with_counts_are_independent) {
    char *body = late_warp(
        3, 10, 0, "shr.u32 %r3, %r1, 1;\n add.u32 %r3, %r3, 1;\n bar.sync %r3, 64;\n mov.u32 %r4, 1;\n");
    TinyMachine *m = tiny_run((TinySpec){.threads = 128, .body = body});
    uint32_t barrier = 4 + 10 + 2;
    uint64_t late = tiny_issued_at(m, 3, barrier, 0);
    ck_assert_uint_lt(tiny_issued_at(m, 0, barrier + 1, 0), late - 50);
    ck_assert_uint_lt(tiny_issued_at(m, 1, barrier + 1, 0), late - 50);
    ck_assert_uint_eq(tiny_issued_at(m, 2, barrier + 1, 0), late + 1);
    tiny_free(m);
    free(body);
}
END_TEST

/* The barrier's count is less than the CTA's threads: it is complete with the second warp, and again with the
 * next two. */
START_TEST(a_barrier_is_complete_with_its_count_and_then_free_for_the_next) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 128, .body = "bar.sync 3, 64;\n mov.u32 %r4, 1;\n"});
    uint64_t arrived[4];
    uint32_t order[4], n = 0;
    for (uint32_t i = 0; i < m->issue_count; i++) {
        if (m->issues[i].pc != 0) continue;
        order[n] = m->issues[i].warp;
        arrived[n++] = m->issues[i].cycle;
    }
    ck_assert_uint_eq(n, 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_gt(tiny_issued(m, order[i], 1), arrived[i | 1]);
    ck_assert_uint_eq(tiny_issued(m, order[0], 1), arrived[1] + 1);
    tiny_free(m);
}
END_TEST

/* Branches on the warp: warp 0 goes to ZERO, warp 1 to ONE. Instructions 0 to 3. */
#define BY_WARP "mov.u32 %r1, %tid.x;\n shr.u32 %r1, %r1, 5;\n setp.eq.u32 %p1, %r1, 1;\n @%p1 bra ONE;\n"
#define FIVE_ADDS                                                                                            \
    "add.u32 %r2, %r2, 1;\n add.u32 %r2, %r2, 1;\n add.u32 %r2, %r2, 1;\n add.u32 %r2, %r2, 1;\n"            \
    "add.u32 %r2, %r2, 1;\n"

/* 4: arrive, 5: move, 6: exit; 7 to 11: chain, 12: the consumer's barrier. */
START_TEST(who_only_arrives_goes_on_and_who_comes_later_need_not_wait) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 64,
                                         .body = BY_WARP "bar.arrive 1, 64;\n mov.u32 %r3, 1;\n exit;\n"
                                                         "ONE:" FIVE_ADDS "bar.sync 1, 64;\n"
                                                         "mov.u32 %r3, 1;\n"});
    ck_assert_uint_eq(tiny_issued_at(m, 0, 5, 0), tiny_issued_at(m, 0, 4, 0) + 1);
    ck_assert_uint_le(tiny_issued_at(m, 1, 13, 0), tiny_issued_at(m, 1, 12, 0) + 2);
    tiny_free(m);
}
END_TEST

/* 4 to 8: chain, 9: arrive, 10: exit; 11: the consumer's barrier, 12: move. */
START_TEST(a_consumer_waits_for_the_arrival_of_its_producer) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 64,
                                         .body = BY_WARP FIVE_ADDS
                                         "bar.arrive 1, 64;\n exit;\n"
                                         "ONE: bar.sync 1, 64;\n mov.u32 %r3, 1;\n"});
    ck_assert_uint_lt(tiny_issued_at(m, 1, 11, 0), tiny_issued_at(m, 0, 9, 0) - 20);
    ck_assert_uint_eq(tiny_issued_at(m, 1, 12, 0), tiny_issued_at(m, 0, 9, 0) + 1);
    tiny_free(m);
}
END_TEST

/* A buffer handed to and fro, as CudaDMA does it: warp 0 fills it when barrier 1 says that both consumers
 * are done with it, and says by barrier 2 that it is full; three rounds, 96 threads at each barrier, one side
 * waiting. Warp 0: 5 waits, 6 to 10 chain, 11 arrives. Warps 1 and 2: 16 arrives, 17 waits, 18 to 22 chain.
 * Either side goes on when the other has said so, a cycle later where another warp of its scheduler comes
 * first, and not before. */
START_TEST(two_named_barriers_hand_a_buffer_to_and_fro) {
    const char *body = "mov.u32 %r1, %tid.x;\n shr.u32 %r1, %r1, 5;\n setp.ne.u32 %p1, %r1, 0;\n"
                       "mov.u32 %r5, 0;\n @%p1 bra CONSUMER;\n"
                       "PRODUCER: bar.sync 1, 96;\n" FIVE_ADDS "bar.arrive 2, 96;\n"
                       "add.u32 %r5, %r5, 1;\n setp.lt.u32 %p2, %r5, 3;\n @%p2 bra PRODUCER;\n exit;\n"
                       "CONSUMER: bar.arrive 1, 96;\n bar.sync 2, 96;\n" FIVE_ADDS
                       "add.u32 %r5, %r5, 1;\n setp.lt.u32 %p2, %r5, 3;\n @%p2 bra CONSUMER;\n";
    TinyMachine *m = tiny_run((TinySpec){.threads = 96, .body = body});
    for (uint32_t round = 0; round < 3; round++) {
        uint64_t full = tiny_issued_at(m, 0, 11, round), empty = tiny_issued_at(m, 1, 16, round);
        for (uint32_t w = 1; w <= 2; w++) {
            if (tiny_issued_at(m, w, 16, round) > empty) empty = tiny_issued_at(m, w, 16, round);
            ck_assert_uint_gt(tiny_issued_at(m, w, 18, round), full);
            ck_assert_uint_le(tiny_issued_at(m, w, 18, round), full + 2);
        }
        ck_assert_uint_gt(tiny_issued_at(m, 0, 6, round), empty);
        if (round > 0) ck_assert_uint_le(tiny_issued_at(m, 0, 6, round), empty + 2);
    }
    tiny_free(m);
}
END_TEST

/* Warp 0 has arrived at barrier 1 and waits at 2 (instruction 5). Warp 1 completes barrier 1 (12) a long time
 * before it comes to barrier 2 (18). */
START_TEST(completing_a_barrier_does_not_release_who_waits_at_another) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 64,
                                         .body = BY_WARP "bar.arrive 1, 64;\n bar.sync 2, 64;\n exit;\n"
                                                         "ONE:" FIVE_ADDS "bar.sync 1, 64;\n" FIVE_ADDS
                                                         "bar.sync 2, 64;\n"});
    ck_assert_uint_lt(tiny_issued_at(m, 0, 5, 0), tiny_issued_at(m, 1, 12, 0));
    ck_assert_uint_eq(tiny_issued_at(m, 0, 6, 0), tiny_issued_at(m, 1, 18, 0) + 1);
    tiny_free(m);
}
END_TEST

/* The same with a fence instead of barrier 2: 4 store, 5 arrive, 6 fence, 7 exit; 8 to 12 chain, 13 barrier.
 * The chain is over in some 60 cycles, the store's acknowledgement comes after 108. */
START_TEST(completing_a_barrier_does_not_release_who_waits_at_a_fence) {
    TinyMachine *m = tiny_run(
        (TinySpec){.threads = 64,
                   .body = BY_WARP "st.global.u32 [out], %r1;\n bar.arrive 1, 64;\n membar.gl;\n exit;\n"
                                   "ONE:" FIVE_ADDS "bar.sync 1, 64;\n"});
    ck_assert_uint_lt(tiny_issued_at(m, 1, 13, 0), tiny_issued_at(m, 0, 4, 0) + 80);
    ck_assert_uint_eq(tiny_issued_at(m, 0, 7, 0), tiny_issued_at(m, 0, 4, 0) + TINY_MEMORY_LATENCY + 8);
    tiny_free(m);
}
END_TEST

/* Warps 2 and 3, beyond the limit, come to the barrier last, after they have waited for something else. */
START_TEST(who_lags_behind_a_barrier_issues_beyond_the_limit_also_after_a_sleep_or_a_copy) {
    static const char *const waits[] = {
        "membar.gl;\n", "nanosleep.u32 500;\n",
        "cp.async.ca.shared.global [buffer], [out], 4;\n cp.async.wait_all;\n"};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        char body[512];
        sprintf(body,
                ".shared .align 4 .b8 buffer[4];\n setp.lt.u32 %%p1, %%tid.x, 64;\n @%%p1 bra EARLY;\n%s"
                "EARLY:\n bar.sync 0;\n mov.u32 %%r3, 1;\n",
                waits[i]);
        TinyMachine *m = tiny_run((TinySpec){.sm = "warp_limit=1", .threads = 128, .body = body});
        ck_assert_uint_eq(tiny_stat(m, "sm[0]", "barriers"), 4);
        tiny_free(m);
    }
}
END_TEST

/* Under a guard that is false in all its lanes a warp neither waits nor arrives. 3: warp 0 waits, warp 1
 * passes by; 4 to 8: chain; 9: warp 1 arrives, warp 0 passes by. */
START_TEST(a_warp_whose_guard_is_false_does_not_take_part) {
    TinyMachine *m = tiny_run(
        (TinySpec){.threads = 64,
                   .body = "mov.u32 %r1, %tid.x;\n shr.u32 %r1, %r1, 5;\n setp.eq.u32 %p1, %r1, 0;\n"
                           "@%p1 bar.sync 1, 64;\n" FIVE_ADDS "@!%p1 bar.sync 1, 64;\n"});
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "barriers"), 2);
    ck_assert_uint_eq(tiny_issued_at(m, 0, 4, 0), tiny_issued_at(m, 1, 9, 0) + 1);
    ck_assert_uint_le(tiny_issued_at(m, 1, 4, 0), tiny_issued_at(m, 1, 3, 0) + 2);
    tiny_free(m);
}
END_TEST

/* 4 to 8: chain, 9: exit of warp 0; 10: warp 1's barrier, which that exit completes. */
START_TEST(a_warp_that_exits_completes_the_barrier_of_the_others) {
    TinyMachine *m = tiny_run(
        (TinySpec){.threads = 64, .body = BY_WARP FIVE_ADDS "exit;\nONE: bar.sync 0;\n mov.u32 %r3, 1;\n"});
    ck_assert_uint_lt(tiny_issued_at(m, 1, 10, 0), tiny_issued_at(m, 0, 9, 0) - 20);
    ck_assert_uint_eq(tiny_issued_at(m, 1, 11, 0), tiny_issued_at(m, 0, 9, 0) + 1);
    tiny_free(m);
}
END_TEST

START_TEST(a_warp_that_has_exited_is_not_waited_for) {
    TinyMachine *m = tiny_run(
        (TinySpec){.threads = 64, .body = BY_WARP "exit;\nONE:" FIVE_ADDS "bar.sync 0;\n mov.u32 %r3, 1;\n"});
    ck_assert_uint_lt(tiny_issued_at(m, 0, 4, 0), tiny_issued_at(m, 1, 10, 0));
    ck_assert_uint_le(tiny_issued_at(m, 1, 11, 0), tiny_issued_at(m, 1, 10, 0) + 2);
    tiny_free(m);
}
END_TEST

START_TEST(a_barrier_waits_for_the_warp_of_which_some_lanes_have_exited) {
    /* 2: half of each warp leaves; 3 to 6: late_warp() for warp 1, 7 to 11 its chain, 12: barrier */
    char *rest = late_warp(1, 5, 0, "bar.sync 0;\n mov.u32 %r3, 1;\n"), *body = NULL;
    ck_assert_int_gt(
        asprintf(&body, "mov.u32 %%r5, %%laneid;\n setp.lt.u32 %%p2, %%r5, 16;\n @%%p2 exit;\n%s", rest), 0);
    TinyMachine *m = tiny_run((TinySpec){.threads = 64, .body = body});
    ck_assert_uint_eq(tiny_issued_at(m, 0, 13, 0), tiny_issued_at(m, 1, 12, 0) + 1);
    tiny_free(m);
    free(body);
    free(rest);
}
END_TEST

START_TEST(what_is_stored_in_shared_memory_before_a_barrier_is_there_behind_it) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 128,
                                         .body = ".shared .align 4 .b8 buffer[512];\n"
                                                 "mov.u32 %r1, %tid.x;\n"
                                                 "shl.b32 %r2, %r1, 2;\n"
                                                 "mov.u32 %r3, buffer;\n"
                                                 "add.u32 %r4, %r3, %r2;\n"
                                                 "st.shared.u32 [%r4], %r1;\n"
                                                 "bar.sync 0;\n"
                                                 "xor.b32 %r5, %r2, 508;\n"
                                                 "add.u32 %r5, %r5, %r3;\n"
                                                 "ld.shared.u32 %r6, [%r5];\n"
                                                 "cvt.u64.u32 %d1, %r2;\n"
                                                 "mov.u64 %d2, out;\n"
                                                 "add.u64 %d2, %d2, %d1;\n"
                                                 "st.global.u32 [%d2], %r6;\n"});
    for (uint32_t i = 0; i < 128; i++)
        ck_assert_uint_eq(tiny_word(m, i), 127 - i);
    tiny_free(m);
}
END_TEST

/* Three warps; the first half of warp 2 has left. Votes: all of warp 0, lane 0 of warp 1, none of warp 2. */
#define VOTE                                                                                                 \
    "mov.u32 %r1, %tid.x;\n setp.ge.u32 %p1, %r1, 64;\n setp.lt.u32 %p2, %r1, 80;\n and.pred %p3, %p1, "     \
    "%p2;\n"                                                                                                 \
    "@%p3 exit;\n setp.gt.u32 %p4, %r1, 32;\n"
#define STORE_R3                                                                                             \
    "shl.b32 %r2, %r1, 2;\n cvt.u64.u32 %d1, %r2;\n mov.u64 %d2, out;\n add.u64 %d2, %d2, %d1;\n"            \
    "st.global.u32 [%d2], %r3;\n"

static void expect_votes(const char *reduction, uint32_t expected) {
    char *body = NULL;
    ck_assert_int_gt(asprintf(&body, "%s%s%s", VOTE, reduction, STORE_R3), 0);
    TinyMachine *m = tiny_run((TinySpec){.threads = 96, .body = body});
    for (uint32_t i = 0; i < 96; i++)
        ck_assert_uint_eq(tiny_word(m, i), i >= 64 && i < 80 ? 0 : expected);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "barriers"), 3);
    tiny_free(m);
    free(body);
}

START_TEST(a_barrier_counts_the_threads_whose_predicate_is_true) {
    expect_votes("bar.red.popc.u32 %r3, 0, !%p4;\n", 33);
    expect_votes("bar.red.popc.u32 %r3, 0, %p4;\n", 47); /* who has left has no vote */
    expect_votes("barrier.cta.red.popc.aligned.u32 %r3, 2, 96, !%p4;\n", 33);
}
END_TEST

START_TEST(a_barrier_tells_whether_all_or_some_predicates_are_true) {
    expect_votes("bar.red.and.pred %p5, 0, !%p4;\n selp.u32 %r3, 5, 6, %p5;\n", 6);
    expect_votes("bar.red.or.pred %p5, 0, !%p4;\n selp.u32 %r3, 5, 6, %p5;\n", 5);
    expect_votes("setp.lt.u32 %p4, %r1, 96;\n bar.red.and.pred %p5, 0, %p4;\n selp.u32 %r3, 5, 6, %p5;\n", 5);
    expect_votes("setp.ge.u32 %p4, %r1, 96;\n bar.red.or.pred %p5, 0, %p4;\n selp.u32 %r3, 5, 6, %p5;\n", 6);
}
END_TEST

/* --- Fences; the times are those of test_lsu.c ----------------------------------------------- */

/* A store of one register to a fixed address, issued in t, is acknowledged in t + 8 + memory. */
START_TEST(a_fence_waits_for_the_acknowledgement_and_no_longer) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "st.global.u32 [out], %r1;\n membar.gl;\n mov.u32 %r2, 1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 4);
    ck_assert_uint_eq(tiny_issued(m, 0, 2), 3 + TINY_MEMORY_LATENCY + 8);
    /* Scheduler 0 loses the cycles between. */
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_barrier"), TINY_MEMORY_LATENCY + 8 - 2);
    tiny_free(m);
}
END_TEST

START_TEST(a_fence_waits_for_the_last_of_several_stores) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "st.global.u32 [out], %r1;\n st.global.u32 [out+128], %r1;\n"
                           "st.global.u32 [out+256], %r1;\n membar.gl;\n mov.u32 %r2, 1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 2), 6);
    ck_assert_uint_eq(tiny_issued(m, 0, 4), 6 + TINY_MEMORY_LATENCY + 8);
    tiny_free(m);
}
END_TEST

START_TEST(a_fence_does_not_wait_for_loads_nor_without_anything_to_wait_for) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "ld.global.u32 %r1, [out];\n membar.gl;\n mov.u32 %r2, 1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 2), 6);
    tiny_free(m);
    m = tiny_run((TinySpec){.body = "membar.gl;\n mov.u32 %r2, 1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 4);
    tiny_free(m);
}
END_TEST

START_TEST(a_fence_under_a_false_guard_does_not_wait) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "st.global.u32 [out], %r1;\n @%p1 membar.gl;\n mov.u32 %r2, 1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 2), 6);
    tiny_free(m);
}
END_TEST

/* --- Errors ---------------------------------------------------------------------------------- */

static void run_to_the_end(void *machine) {
    tiny_finish(machine);
}

/* Lines 0 and 1 of the body branch apart, one warp waits at each barrier. */
START_TEST(warps_that_wait_for_each_other_are_reported_as_a_hang) {
    TinyMachine *m = tiny_new((TinySpec){.body = BY_WARP "bar.sync 1, 64;\n exit;\nONE: bar.sync 2, 64;\n"});
    tiny_launch(m, (TinySpec){.threads = 64, .ctas = 1});
    char *report = NULL;
    const char *message = tiny_error(run_to_the_end, m, &report);
    ck_assert_ptr_nonnull(strstr(message, "kernel tiny hangs"));
    ck_assert_ptr_nonnull(strstr(report, "sm[0]: warp 0 of CTA (0, 0, 0), lanes 0xffffffff at PTX line"));
    ck_assert_ptr_nonnull(strstr(report, "sm[0]: warp 1 of CTA (0, 0, 0), lanes 0xffffffff at PTX line"));
    ck_assert_ptr_nonnull(strstr(report, "waits at barrier 1, to which 32 of 64 threads have come"));
    ck_assert_ptr_nonnull(strstr(report, "waits at barrier 2, to which 32 of 64 threads have come"));
    ck_assert_ptr_nonnull(strstr(report, "dispatcher: 1 of 1 CTAs handed out, 0 finished"));
    free(report);
    tiny_free(m);
}
END_TEST

START_TEST(a_barrier_beyond_the_sixteenth_is_a_user_error) {
    TinyMachine *m = tiny_new((TinySpec){.body = "mov.u32 %r1, 16;\n bar.sync %r1;\n"});
    tiny_launch(m, (TinySpec){.threads = 32});
    const char *message = tiny_error(run_to_the_end, m, NULL);
    ck_assert_ptr_nonnull(strstr(message, "kernel tiny"));
    ck_assert_ptr_nonnull(strstr(message, "expected barrier 0 to 15, got 16"));
    tiny_free(m);
}
END_TEST

/* --- The barrier of a cluster, which has one CTA: arriving is not waiting --------------------- */

START_TEST(who_has_arrived_at_a_cluster_barrier_waits_later) {
    enum { ARRIVE = 4 + 5, MOVE, WAIT, BEHIND };
    for (uint32_t late = 0; late < 2; late++) {
        uint32_t early = 1 - late;
        char *body = late_warp(late, 5, 0,
                               "barrier.cluster.arrive.release.aligned;\n mov.u32 %r2, 1;\n"
                               "barrier.cluster.wait.acquire.aligned;\n mov.u32 %r3, 1;\n");
        TinyMachine *m = tiny_run((TinySpec){.threads = 64, .body = body});
        uint64_t last = tiny_issued_at(m, late, ARRIVE, 0);
        ck_assert_uint_lt(tiny_issued_at(m, early, MOVE, 0), last - 20);
        ck_assert_uint_lt(tiny_issued_at(m, early, WAIT, 0), last - 20);
        ck_assert_uint_eq(tiny_issued_at(m, early, BEHIND, 0), last + 1);
        ck_assert_uint_lt(tiny_issued_at(m, late, BEHIND, 0), last + 15); /* fetched anew; all have arrived */
        ck_assert_uint_eq(tiny_stat(m, "sm[0]", "barriers"), 2);
        tiny_free(m);
        free(body);
    }
}
END_TEST

/* Three phases; the late warp's slowness is waited for in each. A warp that has exited has arrived. */
START_TEST(phases_of_a_cluster_barrier_follow_each_other) {
    char *body = late_warp(1, 5, 0,
                           "mov.u32 %r5, 0;\nagain:\n barrier.cluster.arrive;\n barrier.cluster.wait;\n"
                           "add.u32 %r5, %r5, 1;\n setp.eq.u32 %p2, %r1, 1;\n@%p2 nanosleep.u32 100;\n"
                           "setp.lt.u32 %p3, %r5, 3;\n@%p3 bra again;\n@%p2 exit;\n"
                           "barrier.cluster.arrive.relaxed;\n barrier.cluster.wait;\n mov.u32 %r6, 1;\n");
    TinyMachine *m = tiny_run((TinySpec){.threads = 64, .body = body});
    enum { ARRIVE = 10, ADD = 12, BEHIND = 20 };
    for (uint32_t phase = 0; phase < 3; phase++) {
        uint64_t last = tiny_issued_at(m, 1, ARRIVE, phase);
        ck_assert_uint_gt(tiny_issued_at(m, 0, ADD, phase), last);
        ck_assert_uint_lt(tiny_issued_at(m, 0, ADD, phase), last + 10);
    }
    ck_assert_uint_gt(tiny_issued_at(m, 0, BEHIND, 0), tiny_issued_at(m, 1, ARRIVE, 2) + 100);
    tiny_free(m);
    free(body);
}
END_TEST

Suite *barriers_suite(void) {
    Suite *suite = suite_create("barriers");
    TCase *barriers = tcase_create("barriers");
    tcase_add_test(barriers, all_pass_in_the_cycle_after_the_last_has_arrived);
    tcase_add_test(barriers, nobody_passes_before_the_last_of_eight_warps);
    tcase_add_test(barriers, each_cta_has_barriers_of_its_own);
    tcase_add_test(barriers, named_barriers_with_counts_are_independent);
    tcase_add_test(barriers, a_barrier_is_complete_with_its_count_and_then_free_for_the_next);
    tcase_add_test(barriers, who_only_arrives_goes_on_and_who_comes_later_need_not_wait);
    tcase_add_test(barriers, a_consumer_waits_for_the_arrival_of_its_producer);
    tcase_add_test(barriers, two_named_barriers_hand_a_buffer_to_and_fro);
    tcase_add_test(barriers, completing_a_barrier_does_not_release_who_waits_at_another);
    tcase_add_test(barriers, completing_a_barrier_does_not_release_who_waits_at_a_fence);
    tcase_add_test(barriers, who_lags_behind_a_barrier_issues_beyond_the_limit_also_after_a_sleep_or_a_copy);
    tcase_add_test(barriers, a_warp_whose_guard_is_false_does_not_take_part);
    tcase_add_test(barriers, a_warp_that_exits_completes_the_barrier_of_the_others);
    tcase_add_test(barriers, a_warp_that_has_exited_is_not_waited_for);
    tcase_add_test(barriers, a_barrier_waits_for_the_warp_of_which_some_lanes_have_exited);
    tcase_add_test(barriers, a_barrier_counts_the_threads_whose_predicate_is_true);
    tcase_add_test(barriers, a_barrier_tells_whether_all_or_some_predicates_are_true);
    tcase_add_test(barriers, what_is_stored_in_shared_memory_before_a_barrier_is_there_behind_it);
    tcase_add_test(barriers, who_has_arrived_at_a_cluster_barrier_waits_later);
    tcase_add_test(barriers, phases_of_a_cluster_barrier_follow_each_other);
    suite_add_tcase(suite, barriers);
    TCase *fences = tcase_create("fences");
    tcase_add_test(fences, a_fence_waits_for_the_acknowledgement_and_no_longer);
    tcase_add_test(fences, a_fence_waits_for_the_last_of_several_stores);
    tcase_add_test(fences, a_fence_does_not_wait_for_loads_nor_without_anything_to_wait_for);
    tcase_add_test(fences, a_fence_under_a_false_guard_does_not_wait);
    suite_add_tcase(suite, fences);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, warps_that_wait_for_each_other_are_reported_as_a_hang);
    tcase_add_test(errors, a_barrier_beyond_the_sixteenth_is_a_user_error);
    suite_add_tcase(suite, errors);
    return suite;
}
