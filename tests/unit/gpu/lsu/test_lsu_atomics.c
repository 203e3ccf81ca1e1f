/* Atomics on global memory, on their way from the SM over mux and L2 to the memory and back.
 *
 * Issued in t, with a constant address, it is begun in B = t + 3. The request leaves in B + 1, passes the mux
 * in B + 2, reaches L2 4 cycles later and is looked up after its ROP delay of 1, in B + 7; there it takes
 * effect. A hit is answered at once: 4 cycles to the mux, which passes it on in B + 11, the LSU has it in B +
 * 12, the SM in B + 13. A miss leaves in B + 8, reaches the memory in B + 9, is back in B + 10 + LATENCY, and
 * is answered then: at the SM in B + 16 + LATENCY. Lanes at one address are accesses of their own, one per
 * cycle, as an atomic unit changes an address once per access: a full warp at one address needs TURNS more.
 */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { LATENCY = TINY_MEMORY_LATENCY, MISS = 16 + LATENCY, HIT = 13, TURNS = 31 };

START_TEST(an_atomic_returns_when_the_l2_has_done_it) {
    TinyMachine *m = tiny_run((TinySpec){.l2 = true,
                                         .body = "atom.global.add.u32 %r1, [out], 5;\n mov.u32 %r2, %r1;\n"
                                                 "atom.global.add.u32 %r3, [out], 5;\n mov.u32 %r4, %r3;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 3 + 3 + MISS + TURNS);
    ck_assert_uint_eq(tiny_issued(m, 0, 3), tiny_issued(m, 0, 2) + 3 + HIT + TURNS);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "atomics"), 2);
    ck_assert_uint_eq(tiny_word(m, 0), 2 * 32 * 5);
    /* Both moves wait from the cycle behind the atomic on. */
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_memory"), 2 * (3 + HIT + TURNS - 1) + MISS - HIT);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_scoreboard"), 0);
    tiny_free(m);
}
END_TEST

/* %r1 is never read, so %r2 could have its slot; the answer comes when %r2 has its value. */
START_TEST(the_answer_of_an_atomic_that_nobody_reads_overwrites_no_other_register) {
    TinyMachine *m = tiny_run((TinySpec){.l2 = true,
                                         .threads = 1,
                                         .body = "atom.global.exch.b32 %r1, [out], 5;\n"
                                                 "mov.u32 %r2, 77;\n"
                                                 "atom.global.exch.b32 %r3, [out+8], 6;\n"
                                                 "st.global.u32 [out+4], %r2;\n"});
    ck_assert_uint_eq(tiny_word(m, 1), 77);
    tiny_free(m);
}
END_TEST

START_TEST(lanes_at_one_address_are_atomics_of_their_own) {
    for (uint32_t lanes = 1; lanes <= 32; lanes *= 2) {
        char body[256];
        sprintf(body,
                "mov.u32 %%r1, %%laneid;\n setp.lt.u32 %%p1, %%r1, %u;\n"
                "@%%p1 atom.global.add.u32 %%r2, [out], 1;\n mov.u32 %%r3, %%r2;\n",
                lanes);
        TinyMachine *m = tiny_run((TinySpec){.l2 = true, .body = body});
        ck_assert_uint_eq(tiny_issued(m, 0, 3), tiny_issued(m, 0, 2) + 3 + MISS + lanes - 1);
        ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "atomic_accesses"), lanes);
        ck_assert_uint_eq(tiny_word(m, 0), lanes);
        tiny_free(m);
    }
}
END_TEST

/* Warp 1 issues first, in 3, warp 0 a cycle later: 0 to 31 for the lanes of warp 1, 32 to 63 for those of
 * warp 0. */
START_TEST(atomics_return_what_was_there_when_they_arrived) {
    TinyMachine *m = tiny_run((TinySpec){.l2 = true,
                                         .threads = 64,
                                         .body = "atom.global.add.u32 %r1, [out+1024], 1;\n"
                                                 "mov.u32 %r2, %tid.x;\n mul.wide.u32 %d1, %r2, 4;\n"
                                                 "mov.u64 %d2, out;\n add.u64 %d1, %d1, %d2;\n"
                                                 "st.global.u32 [%d1], %r1;\n"});
    ck_assert_uint_lt(tiny_issued(m, 1, 0), tiny_issued(m, 0, 0));
    for (uint32_t thread = 0; thread < 64; thread++)
        ck_assert_uint_eq(tiny_word(m, thread), thread < 32 ? thread + 32 : thread - 32);
    ck_assert_uint_eq(tiny_word(m, 256), 64);
    tiny_free(m);
}
END_TEST

/* The load is to the word that the reduction changes: it waits until that is done, though no register is
 * shared. */
START_TEST(a_load_behind_an_atomic_waits_and_sees_what_it_did) {
    TinyMachine *m = tiny_run((TinySpec){
        .l2 = true,
        .body = "red.global.add.u32 [out], 1;\n ld.global.u32 %r1, [out];\n st.global.u32 [out+4], %r1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 3 + 3 + MISS + TURNS);
    ck_assert_uint_eq(tiny_word(m, 1), 32);
    tiny_free(m);
}
END_TEST

START_TEST(with_atomics_stall_every_instruction_behind_an_atomic_waits) {
    for (uint32_t stall = 0; stall < 2; stall++) {
        TinyMachine *m = tiny_run((TinySpec){.l2 = true,
                                             .sm = stall ? "atomics_stall=true" : "atomics_stall=false",
                                             .body = "red.global.add.u32 [out], 1;\n mov.u32 %r1, 2;\n"});
        ck_assert_uint_eq(tiny_issued(m, 0, 1), stall ? 3 + 3 + MISS + TURNS : 4);
        tiny_free(m);
    }
}
END_TEST

START_TEST(a_store_behind_an_atomic_waits_too_but_not_another_warps) {
    TinyMachine *m = tiny_run((TinySpec){.l2 = true,
                                         .threads = 64,
                                         .body = "mov.u32 %r1, %tid.x;\n setp.lt.u32 %p1, %r1, 32;\n"
                                                 "@%p1 red.global.add.u32 [out], 1;\n"
                                                 "st.global.u32 [out+4], %r1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 3), tiny_issued(m, 0, 2) + 3 + MISS + TURNS);
    ck_assert_uint_lt(tiny_issued(m, 1, 3), tiny_issued(m, 1, 2) + 10);
    tiny_free(m);
}
END_TEST

/* One entry for operands: the second atomic issues in the cycle in which the first is back. */
START_TEST(atomics_in_flight_are_limited_by_the_payloads) {
    TinyMachine *m = tiny_run((TinySpec){
        .l2 = true,
        .sm = "atomic_payloads=1",
        .body =
            "atom.global.add.u32 %r1, [out], 1;\n atom.global.add.u32 %r2, [out], 1;\n mov.u32 %r3, 1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 3 + 3 + MISS + TURNS);
    ck_assert_uint_eq(tiny_word(m, 0), 64);
    tiny_free(m);
}
END_TEST

/* 32 lanes in 32 lines: the instruction is back with the last. */
START_TEST(a_scattered_atomic_is_an_access_per_line) {
    TinyMachine *m = tiny_run_strided((TinySpec){.l2 = true}, 128,
                                      "atom.global.add.u32 %r2, [%d1], 3;\n st.global.u32 [%d1+4], %r2;\n");
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "atomic_accesses"), 32);
    for (uint32_t lane = 0; lane < 32; lane++) {
        ck_assert_uint_eq(tiny_word(m, lane * 32), 3);
        ck_assert_uint_eq(tiny_word(m, lane * 32 + 1), 0);
    }
    tiny_free(m);
}
END_TEST

/* CTA 0 stores 1 after a while, CTA 1 exchanges for 0: the 1 is either what it got or still there. */
START_TEST(an_atomic_does_not_undo_a_store_that_it_has_not_seen) {
    for (uint32_t adds = 0; adds < 40; adds++) {
        char body[2048] = "mov.u32 %r1, %ctaid.x;\n setp.ne.u32 %p1, %r1, 0;\n@%p1 bra OTHER;\n";
        for (uint32_t i = 0; i < adds; i++)
            strcat(body, "add.u32 %r2, %r2, 1;\n");
        strcat(body, "st.global.u32 [out], 1;\n bra END;\nOTHER: atom.global.exch.b32 %r3, [out], 0;\n"
                     "st.global.u32 [out+256], %r3;\nEND:\n");
        TinySpec spec = {.body = body, .sms = 2, .ctas = 2, .threads = 1, .l2 = true, .quantum = 4};
        TinyMachine *m = tiny_new(spec);
        tiny_launch(m, spec);
        tiny_finish(m);
        ck_assert_uint_eq(tiny_word(m, 0) + tiny_word(m, 64), 1);
        tiny_free(m);
    }
}
END_TEST

/* Every thread of 4 CTAs on 2 SMs draws a number: each number comes once. */
START_TEST(atomics_of_several_sms_exclude_each_other) {
    TinyMachine *m = tiny_run((TinySpec){.l2 = true,
                                         .sms = 2,
                                         .ctas = 4,
                                         .threads = 64,
                                         .races = true,
                                         .body = "atom.global.add.u32 %r1, [out+4096], 1;\n"
                                                 "mul.wide.u32 %d1, %r1, 4;\n mov.u64 %d2, out;\n"
                                                 "add.u64 %d1, %d1, %d2;\n"
                                                 "red.global.add.u32 [%d1], 1;\n"});
    for (uint32_t i = 0; i < 256; i++)
        ck_assert_uint_eq(tiny_word(m, i), 1);
    ck_assert_uint_eq(tiny_word(m, 1024), 256);
    tiny_free(m);
}
END_TEST

Suite *lsu_atomics_suite(void) {
    Suite *suite = suite_create("lsu_atomics");
    TCase *atomics = tcase_create("atomics");
    tcase_add_test(atomics, an_atomic_returns_when_the_l2_has_done_it);
    tcase_add_test(atomics, the_answer_of_an_atomic_that_nobody_reads_overwrites_no_other_register);
    tcase_add_test(atomics, lanes_at_one_address_are_atomics_of_their_own);
    tcase_add_test(atomics, atomics_return_what_was_there_when_they_arrived);
    tcase_add_test(atomics, a_load_behind_an_atomic_waits_and_sees_what_it_did);
    tcase_add_test(atomics, with_atomics_stall_every_instruction_behind_an_atomic_waits);
    tcase_add_test(atomics, a_store_behind_an_atomic_waits_too_but_not_another_warps);
    tcase_add_test(atomics, atomics_in_flight_are_limited_by_the_payloads);
    tcase_add_test(atomics, a_scattered_atomic_is_an_access_per_line);
    tcase_add_test(atomics, atomics_of_several_sms_exclude_each_other);
    tcase_add_test(atomics, an_atomic_does_not_undo_a_store_that_it_has_not_seen);
    suite_add_tcase(suite, atomics);
    return suite;
}
