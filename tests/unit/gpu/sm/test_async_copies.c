/* cp.async: what it brings, and when those that wait for it go on. A copy that issues where a load would is
 * complete when what depends on the load may issue. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <string.h>

#define SHARED        ".shared .align 16 .b8 tile[4096];\n"
#define COPY(address) "cp.async.ca.shared.global [tile], [" address "], 4;\n"
#define COMMIT        "cp.async.commit_group;\n"

static uint64_t issued(const char *body, uint32_t index) {
    TinyMachine *m = tiny_run((TinySpec){.body = body});
    uint64_t cycle = tiny_issued(m, 0, index);
    tiny_free(m);
    return cycle;
}

START_TEST(a_warp_waits_until_its_group_is_complete) {
    uint64_t load = issued(SHARED "ld.global.u32 %r1, [out];\n mov.u32 %r2, %r1;\n", 1);
    ck_assert_uint_gt(load, TINY_MEMORY_LATENCY);
    ck_assert_uint_eq(issued(SHARED COPY("out") COMMIT "cp.async.wait_group 0;\n mov.u32 %r2, 1;\n", 3),
                      load);
    ck_assert_uint_eq(issued(SHARED COPY("out") COMMIT "cp.async.wait_all;\n mov.u32 %r2, 1;\n", 3), load);
    /* What is not committed belongs to no group, but to all copies. */
    ck_assert_uint_eq(issued(SHARED COPY("out") "cp.async.wait_all;\n mov.u32 %r2, 1;\n", 2), load);
    ck_assert_uint_lt(issued(SHARED COPY("out") "cp.async.wait_group 0;\n mov.u32 %r2, 1;\n", 2), 20);
    ck_assert_uint_lt(issued(SHARED COPY("out") COMMIT "cp.async.wait_group 1;\n mov.u32 %r2, 1;\n", 3), 20);
}
END_TEST

/* The second copy issues three cycles behind the first, and the memory answers each after the same time. */
START_TEST(the_newest_groups_are_not_waited_for) {
    const char *const first = SHARED COPY("out") COMMIT COPY("out+128") COMMIT
        "cp.async.wait_group 1;\n mov.u32 %r2, 1;\n";
    const char *const both = SHARED COPY("out") COMMIT COPY("out+128") COMMIT
        "cp.async.wait_group 0;\n mov.u32 %r2, 1;\n";
    uint64_t load = issued(SHARED "ld.global.u32 %r1, [out];\n mov.u32 %r2, %r1;\n", 1);
    ck_assert_uint_eq(issued(first, 5), load);
    ck_assert_uint_eq(issued(both, 5), load + 3);
}
END_TEST

/* Nine groups in eight slots: the ninth shares the first's. */
START_TEST(more_groups_than_there_are_slots_are_waited_for_all_the_same) {
    char body[2000] = SHARED;
    for (int i = 0; i < 9; i++)
        sprintf(body + strlen(body), "cp.async.ca.shared.global [tile+%d], [out+%d], 4;\n" COMMIT, 128 * i,
                128 * i);
    size_t length = strlen(body);
    uint64_t before = 0;
    for (int spared = 9; spared >= 0; spared--) {
        sprintf(body + length, "cp.async.wait_group %d;\n mov.u32 %%r2, 1;\n", spared);
        uint64_t now = issued(body, 19);
        ck_assert_uint_ge(now, before);
        /* Groups 0 and 1 share their slots with the ninth and with the open one. */
        if (spared <= 7) ck_assert_uint_gt(now, TINY_MEMORY_LATENCY);
        before = now;
    }
    ck_assert_uint_gt(before, TINY_MEMORY_LATENCY + 8 * 3);
}
END_TEST

/* A request says nothing of the copy's group: caches take it for the load that it is. */
START_TEST(copies_of_all_groups_are_reads_like_others) {
    char body[2000] = SHARED;
    for (int i = 0; i < 5; i++)
        sprintf(body + strlen(body), "cp.async.ca.shared.global [tile+%d], [out+%d], 4;\n" COMMIT, 128 * i,
                128 * i);
    strcat(body, "cp.async.wait_all;\n");
    TinyMachine *m = tiny_run((TinySpec){.body = body, .l2 = true});
    ck_assert_uint_eq(tiny_stat(m, "l2", "read_misses"), 5);
    ck_assert_uint_eq(tiny_stat(m, "l2", "prefetch_reads"), 0);
    tiny_free(m);
}
END_TEST

/* The tail of what is not read becomes zero; a lane that is told to ignore its source, all. */
START_TEST(what_is_not_read_becomes_zero) {
    TinyMachine *m = tiny_run((TinySpec){
        .body = SHARED
        "mov.u32 %r1, %tid.x;\n mov.u32 %r2, tile;\n mad.lo.u32 %r2, %r1, 16, %r2;\n"
        "mov.u64 %d1, out;\n mul.wide.u32 %d2, %r1, 16;\n add.u64 %d1, %d1, %d2;\n"
        "mov.u32 %r5, -1;\n st.global.v4.u32 [%d1], {%r5, %r5, %r5, %r5};\n"
        "st.shared.v4.u32 [%r2], {%r5, %r5, %r5, %r5};\n st.shared.v4.u32 [%r2+512], {%r5, %r5, %r5, %r5};\n"
        "setp.eq.u32 %p1, %r1, 3;\n min.u32 %r3, %r1, 16;\n"
        "cp.async.cg.shared.global.L2::128B [%r2+512], [%d1], 16, %p1;\n"
        "cp.async.cg.shared.global [%r2], [%d1], 16, %r3;\n"
        "cp.async.wait_all;\n ld.shared.u32 %r6, [%r2+516];\n"
        "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r2];\n"
        "st.global.v4.u32 [%d1], {%r10, %r11, %r12, %r13};\n st.global.u32 [%d1+4096], %r6;\n exit;\n"});
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t word = 0; word < 4; word++) {
            uint32_t bytes = lane >= 4 * word + 4 ? 4 : lane > 4 * word ? lane - 4 * word : 0;
            uint32_t value, wanted = bytes == 4 ? UINT32_MAX : (1u << 8 * bytes) - 1;
            device_read(gpu_memory(m->gpu), m->out + 16 * lane + 4 * word, &value, sizeof value);
            ck_assert_uint_eq(value, wanted);
        }
        uint32_t value;
        device_read(gpu_memory(m->gpu), m->out + 4096 + 16 * lane, &value, sizeof value);
        ck_assert_uint_eq(value, lane == 3 ? 0 : UINT32_MAX);
    }
    tiny_free(m);
}
END_TEST

Suite *async_copies_suite(void) {
    Suite *suite = suite_create("async_copies");
    TCase *tcase = tcase_create("copies");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_warp_waits_until_its_group_is_complete);
    tcase_add_test(tcase, the_newest_groups_are_not_waited_for);
    tcase_add_test(tcase, more_groups_than_there_are_slots_are_waited_for_all_the_same);
    tcase_add_test(tcase, copies_of_all_groups_are_reads_like_others);
    tcase_add_test(tcase, what_is_not_read_becomes_zero);
    suite_add_tcase(suite, tcase);
    return suite;
}
