/* Bulk copies: which bytes they move, when they arrive at their mbarrier, what waits for them, and their faults. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <string.h>

enum { TILE_BYTES = 4096 };
#define OBJECTS ".shared .align 16 .b8 tile[4096];\n .shared .align 16 .b64 bar[2];\n"
/* Thread 0 expects so many bytes; lanes below a number, those of %p6, copy. */
#define EXPECT(bytes, lanes)                                                                                 \
    "setp.eq.u32 %p7, %tid.x, 0;\n@%p7 mbarrier.init.shared.b64 [bar], 1;\n"                                 \
    "@%p7 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " bytes ";\n setp.lt.u32 %p6, %tid.x, " lanes ";\n" \
    "mov.u32 %r60, %tid.x;\n"
enum { EXPECT_INSTRUCTIONS = 5, BEGIN = 1 };
#define LOAD(to, from, size)                                                                                 \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" to "], [" from "], " size          \
    ", [bar];\n"
#define MOVE(to, from, size)                                                                                 \
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [" to "], [" from "], " size     \
    ", [bar];\n"
#define STORE(to, from, size) "cp.async.bulk.global.shared::cta.bulk_group [" to "], [" from "], " size ";\n"
#define AWAIT                                                                                                \
    "again:\n mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra again;\n mov.u32 %r1, 1;\n"
/* Each word of out, or of the tile, becomes its number. */
#define NUMBERS(count)                                                                                       \
    "mov.u32 %r50, %tid.x;\nfill:\n mov.u64 %d50, out;\n mul.wide.u32 %d51, %r50, 4;\n"                      \
    "add.u64 %d50, %d50, %d51;\n st.global.u32 [%d50], %r50;\n add.u32 %r50, %r50, 32;\n"                    \
    "setp.lt.u32 %p5, %r50, " count ";\n@%p5 bra fill;\n membar.gl;\n"
#define NUMBERS_OF_TILE                                                                                      \
    "mov.u32 %r50, %tid.x;\n mov.u32 %r51, tile;\n mad.lo.u32 %r51, %r50, 4, %r51;\nfill_tile:\n"            \
    "st.shared.u32 [%r51], %r50;\n add.u32 %r51, %r51, 128;\n add.u32 %r50, %r50, 32;\n"                     \
    "setp.lt.u32 %p5, %r50, 1024;\n@%p5 bra fill_tile;\n"

/* Of CTA slot 0, after the run. */
static uint32_t word_of_shared(const TinyMachine *m, uint32_t byte) {
    uint32_t word;
    memcpy(&word, m->sm[0]->shared_memory + byte, sizeof word);
    return word;
}

static uint64_t parity_of_object(const TinyMachine *m) {
    return word_of_shared(m, TILE_BYTES + 4) >> 30 & 1;
}

/* Steps the machine to the end of the cycle that ends the phase of the object. */
static uint64_t cycle_of_arrival(TinyMachine *m) {
    uint64_t cycle = 0;
    while (tiny_step(m) && !parity_of_object(m))
        cycle++;
    return cycle;
}

static TinyMachine *launched(TinySpec spec) {
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    return m;
}

/* --- Loads ----------------------------------------------------------------------------------- */

/* Neither end is that of a line. */
START_TEST(a_load_brings_the_bytes_that_it_names_and_no_other) {
    const char *const body = OBJECTS NUMBERS("1024")
        EXPECT("2112", "1") "@%p6 " LOAD("tile+48", "out+80", "2112") AWAIT;
    for (int untimed = 0; untimed < 2; untimed++) {
        TinyMachine *m = tiny_run((TinySpec){.body = body, .untimed = untimed});
        for (uint32_t at = 0; at < TILE_BYTES; at += 4)
            ck_assert_uint_eq(word_of_shared(m, at), at >= 48 && at < 48 + 2112 ? (at - 48 + 80) / 4 : 0);
        ck_assert_uint_eq(parity_of_object(m), 1);
        tiny_free(m);
    }
}
END_TEST

/* Lane N copies 528 * N bytes, lane 0 none; the object is whole behind the last. */
START_TEST(lanes_copy_one_after_the_other_and_each_brings_its_own_bytes) {
    const char *const body = OBJECTS NUMBERS("2048")
        EXPECT("1584", "3") "mul.lo.u32 %r2, %r60, 528;\n mov.u32 %r3, tile;\n"
                            "mad.lo.u32 %r3, %r60, 1072, %r3;\n mov.u64 %d1, out;\n"
                            "mul.wide.u32 %d2, %r60, 2048;\n add.u64 %d1, %d1, %d2;\n"
                            "@%p6 " LOAD("%r3+16", "%d1+32", "%r2") AWAIT;
    TinyMachine *m = tiny_run((TinySpec){.body = body});
    for (uint32_t at = 0; at < TILE_BYTES; at += 4) {
        uint32_t lane = at < 16 ? 0 : (at - 16) / 1072, place = at - 16 - 1072 * lane;
        bool copied = at >= 16 && place < 528 * lane && lane < 3;
        ck_assert_uint_eq(word_of_shared(m, at), copied ? (2048 * lane + 32 + place) / 4 : 0);
    }
    ck_assert_uint_eq(parity_of_object(m), 1);
    tiny_free(m);
}
END_TEST

/* A load of as much that reads a register, too, ends as long after its issue. */
START_TEST(a_load_arrives_in_the_cycle_in_which_its_bytes_have_come) {
    enum { PLAIN = 1 + EXPECT_INSTRUCTIONS, PIECE = EXPECT_INSTRUCTIONS + BEGIN };
    TinyMachine *m = tiny_run(
        (TinySpec){.body = OBJECTS "mov.u64 %d1, out;\n" EXPECT(
                       "16", "1") "ld.global.cg.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];\n mov.u32 %r5, %r4;\n"});
    uint64_t latency = tiny_issued(m, 0, PLAIN + 1) - tiny_issued(m, 0, PLAIN);
    tiny_free(m);
    m = launched((TinySpec){.body = OBJECTS EXPECT("16", "1") LOAD("tile", "out", "16") AWAIT, .threads = 1});
    ck_assert_uint_eq(cycle_of_arrival(m), tiny_issued(m, 0, PIECE) + latency);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* 32 bytes are the least. Where both ends are within lines, these are asked for in part. */
START_TEST(a_load_asks_for_each_line_once_and_for_no_more_than_it_needs) {
    const struct {
        const char *from;
        uint32_t requests, bytes;
    } cases[] = {{"out", 448, 57344}, {"out+96", 449, 57344 + 32}, {"out+16", 449, 57344 + 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[1000];
        snprintf(body, sizeof body, "%s%s%s%s",
                 ".shared .align 16 .b8 tile[57344];\n .shared .align 16 .b64 bar[2];\n" EXPECT("57344", "1"),
                 "@%p6 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [",
                 cases[i].from, "], 57344, [bar];\n" AWAIT);
        TinyMachine *m = tiny_run((TinySpec){.body = body, .sm = "shared=65536"});
        const MessageLog *asked = tiny_arrivals(m, 0);
        uint32_t bytes = 0;
        for (uint32_t k = 0; k < asked->count; k++)
            bytes += asked->entries[k].message.bytes;
        ck_assert_uint_eq(asked->count, cases[i].requests);
        ck_assert_uint_eq(bytes, cases[i].bytes);
        tiny_free(m);
    }
}
END_TEST

/* Nothing is copied, and nobody waits. */
START_TEST(a_copy_of_no_bytes_or_of_no_lane_does_nothing) {
    const char *const bodies[] = {
        OBJECTS EXPECT("0", "1") LOAD("tile", "out", "0") AWAIT,
        OBJECTS EXPECT("0", "0") "@%p6 " LOAD("tile", "out", "64") AWAIT,
        OBJECTS EXPECT("0", "0") "mov.u32 %r2, 0;\n" LOAD("tile", "out", "%r2") AWAIT,
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        TinyMachine *m = tiny_run((TinySpec){.body = bodies[i]});
        ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 0);
        ck_assert_uint_eq(parity_of_object(m), 1);
        ck_assert_uint_lt(tiny_cycles(m), 120);
        tiny_free(m);
    }
}
END_TEST

/* Eight lanes: the arrival of the last has no place before that of the first has happened. In front of an arrival stand the
 * branch of the guard, the begin, a piece and the wait for room. */
START_TEST(a_copy_waits_for_room_where_its_arrival_could_not_be_kept) {
    enum { MOST = ASYNC_ARRIVALS - 1, ARRIVE = EXPECT_INSTRUCTIONS + 4 };
    TinyMachine *m = tiny_run((TinySpec){
        .body = OBJECTS EXPECT("128", "8") "@%p6 " LOAD("tile", "out", "16") AWAIT, .memory = "latency=400"});
    uint64_t first = tiny_issued_at(m, 0, ARRIVE, 0);
    for (uint32_t lane = 1; lane < MOST; lane++)
        ck_assert_uint_lt(tiny_issued_at(m, 0, ARRIVE, lane), first + lane * 25);
    ck_assert_uint_gt(tiny_issued_at(m, 0, ARRIVE, MOST), first + 380);
    ck_assert_uint_eq(parity_of_object(m), 1);
    tiny_free(m);
}
END_TEST

START_TEST(a_multicast_copies_where_the_mask_names_the_cta) {
    for (uint32_t mask = 0; mask < 4; mask++) {
        for (int known = 0; known < 2; known++) {
            char body[1000];
            snprintf(
                body, sizeof body,
                "%s.reg .b16 mask;\n mov.b16 mask, %u;\n"
                "@%%p6 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                ".L2::cache_hint [tile], [out+64], 64, [bar], %.*s, %%d1;\n",
                OBJECTS NUMBERS("32") EXPECT("0", "1"), mask, known ? 1 : 4,
                known ? (const char *[]){"0", "1", "2", "3"}[mask] : "mask");
            TinyMachine *m = tiny_run((TinySpec){.body = body});
            ck_assert_uint_eq(word_of_shared(m, 0), mask & 1 ? 16 : 0);
            tiny_free(m);
        }
    }
}
END_TEST

/* --- Within shared memory, to global memory, prefetches --------------------------------------- */

START_TEST(a_copy_within_shared_memory_arrives_at_once) {
    TinyMachine *m = tiny_run((TinySpec){.body = OBJECTS NUMBERS_OF_TILE EXPECT("1040", "1") "@%p6 " MOVE(
                                             "tile+2064", "tile+32", "1040") AWAIT});
    for (uint32_t at = 0; at < TILE_BYTES; at += 4) {
        bool copied = at >= 2064 && at < 2064 + 1040;
        ck_assert_uint_eq(word_of_shared(m, at), (copied ? at - 2064 + 32 : at) / 4);
    }
    ck_assert_uint_eq(parity_of_object(m), 1);
    ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 0);
    tiny_free(m);
}
END_TEST

START_TEST(a_store_writes_the_bytes_that_it_names_and_no_other) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = OBJECTS NUMBERS_OF_TILE EXPECT("0", "1") "@%p6 " STORE(
                       "out+112", "tile+16", "2080") "cp.async.bulk.commit_group;\n"
                                                     "cp.async.bulk.wait_group.read 0;\n"});
    for (uint32_t at = 0; at < TILE_BYTES; at += 4)
        ck_assert_uint_eq(tiny_word(m, at / 4), at >= 112 && at < 112 + 2080 ? (at - 112 + 16) / 4 : 0);
    const MessageLog *sent = tiny_arrivals(m, 0);
    uint32_t bytes = 0;
    for (uint32_t k = 0; k < sent->count; k++)
        for (int half = 0; half < 2; half++)
            bytes += (uint32_t)__builtin_popcountll(sent->entries[k].message.byte_mask[half]);
    ck_assert_uint_eq(sent->count, 18);
    ck_assert_uint_eq(bytes, 2080);
    tiny_free(m);
}
END_TEST

/* The memory acknowledges a write as it answers a read. */
START_TEST(wait_group_waits_for_the_writes_of_stores_and_its_read_does_not) {
    const char *const form[] = {"cp.async.bulk.wait_group 0;\n mov.u32 %r2, 1;\n",
                                "cp.async.bulk.wait_group.read 0;\n mov.u32 %r2, 1;\n",
                                "membar.gl;\n mov.u32 %r2, 1;\n"};
    uint64_t behind[3];
    for (int i = 0; i < 3; i++) {
        char body[1000];
        snprintf(body, sizeof body, "%s%s%s", OBJECTS EXPECT("0", "1"), STORE("out", "tile", "16"), form[i]);
        TinyMachine *m = tiny_run((TinySpec){.body = body, .threads = 1});
        behind[i] = tiny_issued(m, 0, EXPECT_INSTRUCTIONS + BEGIN + 1 + 1 + 1 + 1);
        tiny_free(m);
    }
    ck_assert_uint_gt(behind[0], TINY_MEMORY_LATENCY);
    ck_assert_uint_eq(behind[0], behind[2]);
    ck_assert_uint_lt(behind[1], 60);
}
END_TEST

/* Of 67 elements and a part of a line; what red does to one element is known elsewhere. */
START_TEST(a_reduction_changes_each_element_as_red_does) {
    const char *const body = OBJECTS NUMBERS("1024") NUMBERS_OF_TILE EXPECT(
        "0", "2") "bar.sync 0;\n@%p6 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [out+112], "
                  "[tile+16], 272;\n cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint"
                  ".max.s64 [out+2048], [tile+2064], 128, %d1;\n";
    for (int untimed = 0; untimed < 2; untimed++) {
        TinyMachine *m = tiny_run((TinySpec){.body = body, .l2 = true, .untimed = untimed});
        for (uint32_t at = 0; at < TILE_BYTES; at += 4) {
            bool added = at >= 112 && at < 112 + 272, larger = at >= 2048 && at < 2048 + 128;
            uint32_t wanted = at / 4 + (added ? 2 * (at - 112 + 16) / 4 : 0) + (larger ? 4 : 0);
            ck_assert_uint_eq(tiny_word(m, at / 4), wanted);
        }
        tiny_free(m);
    }
}
END_TEST

START_TEST(a_reduction_on_shared_memory_arrives_at_once) {
    const char *const body = OBJECTS NUMBERS_OF_TILE EXPECT(
        "1216",
        "1") "@%p6 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 "
             "[tile+2064], "
             "[tile+32], 1040, [bar];\n"
             "@%p6 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.s32 "
             "[tile+176], "
             "[tile], 176, [bar];\n" AWAIT;
    for (int untimed = 0; untimed < 2; untimed++) {
        TinyMachine *m = tiny_run((TinySpec){.body = body, .untimed = untimed});
        for (uint32_t at = 0; at < TILE_BYTES; at += 4) {
            bool added = at >= 2064 && at < 2064 + 1040, smaller = at >= 176 && at < 352;
            uint32_t wanted = at / 4 + (added ? (at - 2064 + 32) / 4 : 0) - (smaller ? 44 : 0);
            ck_assert_uint_eq(word_of_shared(m, at), wanted);
        }
        ck_assert_uint_eq(parity_of_object(m), 1);
        tiny_free(m);
    }
}
END_TEST

START_TEST(a_prefetch_brings_lines_to_the_l2_and_no_further) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = OBJECTS EXPECT("0", "1") "@%p6 cp.async.bulk.prefetch.L2.global [out+96], 4096;\n",
                   .l2 = true});
    ck_assert_uint_eq(tiny_stat(m, "l2", "read_misses"), 33);
    for (uint32_t at = 0; at < TILE_BYTES; at += 4)
        ck_assert_uint_eq(word_of_shared(m, at), 0);
    tiny_free(m);
}
END_TEST

/* --- Faults ---------------------------------------------------------------------------------- */

static void run_to_the_end(void *m) {
    tiny_finish(m);
}

START_TEST(misuse_is_a_fault_of_the_thread_that_copies) {
    const struct {
        const char *copy, *message;
    } cases[] = {
        {LOAD("tile+8", "out", "16"), "misaligned"},
        {LOAD("tile", "out+8", "16"), "misaligned"},
        {LOAD("tile", "out", "24"), "misaligned"},
        {LOAD("tile+4208", "out", "32"), "0x1080 of shared memory"},
        {LOAD("tile", "out+65520", "32"), "past the end of"},
        {MOVE("tile", "tile+4224", "16"), "of shared memory"},
        {STORE("out+65520", "tile", "32"), "past the end of"},
        {STORE("out", "tile+8", "16"), "misaligned"},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [out], [tile+4208], 32;\n",
         "0x1080 of shared memory"},
        {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [out], 16, [bar+8];\n",
         "mbarrier"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[1000];
        snprintf(body, sizeof body, "%s setp.eq.u32 %%p6, %%tid.x, 5;\n@%%p6 %s", OBJECTS EXPECT("16", "1"),
                 cases[i].copy);
        TinyMachine *m = launched((TinySpec){.body = body});
        const char *message = tiny_error(run_to_the_end, m, NULL);
        ck_assert_msg(strstr(message, cases[i].message) && strstr(message, "thread (5, 0, 0)"), "%s: %s",
                      cases[i].copy, message);
        tiny_free(m);
    }
}
END_TEST

Suite *bulk_copies_suite(void) {
    Suite *suite = suite_create("bulk_copies");
    TCase *tcase = tcase_create("copies");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_load_brings_the_bytes_that_it_names_and_no_other);
    tcase_add_test(tcase, lanes_copy_one_after_the_other_and_each_brings_its_own_bytes);
    tcase_add_test(tcase, a_load_arrives_in_the_cycle_in_which_its_bytes_have_come);
    tcase_add_test(tcase, a_load_asks_for_each_line_once_and_for_no_more_than_it_needs);
    tcase_add_test(tcase, a_copy_of_no_bytes_or_of_no_lane_does_nothing);
    tcase_add_test(tcase, a_copy_waits_for_room_where_its_arrival_could_not_be_kept);
    tcase_add_test(tcase, a_multicast_copies_where_the_mask_names_the_cta);
    tcase_add_test(tcase, a_copy_within_shared_memory_arrives_at_once);
    tcase_add_test(tcase, a_store_writes_the_bytes_that_it_names_and_no_other);
    tcase_add_test(tcase, wait_group_waits_for_the_writes_of_stores_and_its_read_does_not);
    tcase_add_test(tcase, a_reduction_changes_each_element_as_red_does);
    tcase_add_test(tcase, a_reduction_on_shared_memory_arrives_at_once);
    tcase_add_test(tcase, a_prefetch_brings_lines_to_the_l2_and_no_further);
    tcase_add_test(tcase, misuse_is_a_fault_of_the_thread_that_copies);
    suite_add_tcase(suite, tcase);
    return suite;
}
