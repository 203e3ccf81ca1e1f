/* The pipeline of the SM, cycle by cycle. What the comments count with:
 *
 *   One warp issues its instructions 0, 1 in cycles 3, 4, then 2, 3 in 6, 7: the buffer of two is fetched
 * again in the cycle in which it runs empty, decoded in the next, and issues in the one after. An instruction
 * issued in cycle t enters its unit in t + 4, in t + 3 when it reads no register, and is written back 2 +
 * latency later; in that cycle its dependents may issue. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

/* --- Fetch, issue, branches ------------------------------------------------------------------ */

START_TEST(an_empty_kernel_takes_eleven_cycles) {
    TinyMachine *m = tiny_run((TinySpec){.body = "exit;"});
    ASSERT_ISSUES(m, 0, 3);
    ck_assert_uint_eq(tiny_cycles(m), TINY_FIRST_ISSUE + TINY_AFTER_EXIT);
    /* Scheduler 0 has a warp from cycle 1 on, which issues in 3: two cycles lost to fetch. */
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_fetch"), 2);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_issued"), 1);
    tiny_free(m);
}
END_TEST

START_TEST(one_warp_issues_two_independent_instructions_in_three_cycles) {
    char *body = tiny_repeated("mov.u32 %r1, 1;\n mov.u32 %r2, 1;\n mov.u32 %r3, 1;\n mov.u32 %r4, 1;\n"
                               "mov.u32 %r5, 1;\n mov.u32 %r6, 1;\n mov.u32 %r7, 1;\n",
                               1);
    TinyMachine *m = tiny_run((TinySpec){.body = body});
    ASSERT_ISSUES(m, 0, 3, 4, 6, 7, 9, 10, 12, 13);
    ck_assert_uint_eq(tiny_cycles(m), 13 + TINY_AFTER_EXIT);
    tiny_free(m);
    free(body);
}
END_TEST

/* Warp 1 is fetched in cycle 1, warp 0 in 2; afterwards their refills (4, 7 ... and 5, 8 ...) never meet. */
START_TEST(two_schedulers_issue_in_the_same_cycle) {
    TinySpec spec = {.threads = 64,
                     .body = "mov.u32 %r1, 1;\n mov.u32 %r2, 1;\n mov.u32 %r3, 1;\n mov.u32 %r4, 1;\n"};
    TinyMachine *m = tiny_run(spec);
    ASSERT_ISSUES(m, 1, 3, 4, 6, 7, 9);
    ASSERT_ISSUES(m, 0, 4, 5, 7, 8, 10);
    ck_assert_uint_eq(tiny_cycles(m), 10 + TINY_AFTER_EXIT);
    tiny_free(m);
}
END_TEST

/* Warps of one scheduler share its slot: while one waits for its refill the other issues, so that every cycle
 * from 3 on issues one of the ten instructions. */
START_TEST(one_scheduler_issues_once_per_cycle) {
    TinySpec spec = {.threads = 64,
                     .sm = "schedulers=1",
                     .body = "mov.u32 %r1, 1;\n mov.u32 %r2, 1;\n mov.u32 %r3, 1;\n mov.u32 %r4, 1;\n"};
    TinyMachine *m = tiny_run(spec);
    ck_assert_uint_eq(m->issue_count, 10);
    for (uint32_t i = 0; i < m->issue_count; i++)
        ck_assert_uint_eq(m->issues[i].cycle, 3 + i);
    ck_assert_uint_eq(tiny_cycles(m), 12 + TINY_AFTER_EXIT);
    tiny_free(m);
}
END_TEST

/* The wrong instruction behind the branch is thrown out a cycle later, then fetch and decode: t + 3. */
START_TEST(a_taken_branch_with_the_next_instruction_in_the_buffer_costs_two_cycles) {
    TinyMachine *m = tiny_run((TinySpec){.body = "bra DONE;\n mov.u32 %r1, 1;\nDONE: exit;\n"});
    ASSERT_ISSUES(m, 0, 3, 6);
    ck_assert_uint_eq(tiny_cycles(m), 6 + TINY_AFTER_EXIT);
    tiny_free(m);
}
END_TEST

START_TEST(a_taken_branch_with_an_empty_buffer_costs_three_cycles) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "mov.u32 %r1, 1;\n bra DONE;\n mov.u32 %r1, 1;\nDONE: exit;\n"});
    ASSERT_ISSUES(m, 0, 3, 4, 8);
    ck_assert_uint_eq(tiny_cycles(m), 8 + TINY_AFTER_EXIT);
    tiny_free(m);
}
END_TEST

START_TEST(a_branch_that_does_not_jump_costs_nothing) {
    TinyMachine *m = tiny_run((TinySpec){.body = "@%p1 bra DONE;\n mov.u32 %r1, 1;\n"
                                                 "mov.u32 %r2, 1;\n @%p1 bra DONE;\n mov.u32 %r3, 1;\n"
                                                 "bra DONE;\n"
                                                 "DONE: exit;\n"});
    ASSERT_ISSUES(m, 0, 3, 4, 6, 7, 9, 10, 12);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "branches"), 3);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "divergent_branches"), 0);
    tiny_free(m);
}
END_TEST

/* --- The instruction cache ------------------------------------------------------------------- */

/* A fetch in cycle 1 asks for its line, which is asked for in 2 and back in 103: fetched in that cycle, it is
 * decoded in 104 and issues in 105. Lines of 128 B have 16 instructions. */
enum { COLD_ISSUE = 105, WARM_ISSUE = 3 };

START_TEST(code_stays_in_the_instruction_cache_from_launch_to_launch) {
    char *body = tiny_repeated("mov.u32 %r1, 1;\n", 20);
    TinySpec spec = {.body = body, .code = true};
    TinyMachine *m = tiny_new(spec);
    for (uint32_t launch = 0; launch < 3; launch++) {
        uint64_t start = gpu_cycle(m->gpu);
        uint32_t issued = m->issue_count;
        tiny_launch(m, spec);
        tiny_finish(m);
        ck_assert_uint_eq(m->issues[issued].cycle, start + (launch ? WARM_ISSUE : COLD_ISSUE));
        ck_assert_uint_eq(tiny_stat(m, "sm[0]", "fetch_misses"), 2);
    }
    tiny_free(m);
    free(body);
}
END_TEST

static Module *second;

/* Runs the kernel `tiny`, which is one instruction long, and after it the kernel of a second module, of 20
 * instructions and an exit; returns the cycles from the second launch to their issues. */
static TinyMachine *run_two_modules(const char *dispatcher, uint64_t issues[21]) {
    char text[1000] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { .reg .b32 %r<9>;\n";
    TinySpec spec = {.body = "exit;", .code = true, .dispatcher = dispatcher};
    TinyMachine *m = tiny_new(spec);
    for (uint32_t i = 0; i < 20; i++)
        sprintf(text + strlen(text), "mov.u32 %%r%u, 1;\n", 1 + i % 8);
    strcat(text, "exit; }\n");
    second = module_parse("second.ptx", text, strlen(text));
    gpu_place_module(m->gpu, second);
    tiny_launch(m, spec);
    tiny_finish(m);
    uint64_t start = gpu_cycle(m->gpu);
    uint8_t none = 0;
    gpu_launch(m->gpu, module_kernel(second, "k"),
               &(Launch){.grid = {1, 1, 1}, .block = {32, 1, 1}, .params = &none});
    tiny_finish(m);
    ck_assert_uint_eq(m->issue_count, 1 + 21);
    for (uint32_t i = 0; i < 21; i++)
        issues[i] = m->issues[1 + i].cycle - start;
    return m;
}

/* Its first line is a new one, and it ends 5 instructions into the next. */
START_TEST(kernels_begin_at_lines_of_their_own) {
    uint64_t issues[21];
    TinyMachine *m = run_two_modules(NULL, issues);
    ck_assert_uint_eq(issues[0], COLD_ISSUE);
    const MessageLog *lines = memory_responder_arrivals(m->code_memory[0]);
    ck_assert_uint_eq(lines->count, 3);
    ck_assert_uint_eq(lines->entries[1].message.address, lines->entries[0].message.address + 256);
    ck_assert_uint_eq(lines->entries[2].message.address, lines->entries[0].message.address + 384);
    tiny_free(m);
    module_free(second);
}
END_TEST

/* It begins with the second instruction of the line of the kernel before it, which is there. Its first 15 end
 * that line: the last of them comes alone in its fetch, and 16 waits for the next line: fetched in cycle 24,
 * when the buffer is empty, it issues 104 later, as in COLD_ISSUE. */
START_TEST(kernels_may_lie_one_behind_the_other) {
    uint64_t issues[21];
    TinyMachine *m = run_two_modules("code_align=8", issues);
    for (uint32_t i = 0; i < 15; i++)
        ck_assert_uint_eq(issues[i], WARM_ISSUE + i / 2 * 3 + i % 2);
    ck_assert_uint_eq(issues[15], issues[14] + 104);
    ck_assert_uint_eq(issues[16], issues[15] + 1);
    const MessageLog *lines = memory_responder_arrivals(m->code_memory[0]);
    ck_assert_uint_eq(lines->count, 2);
    ck_assert_uint_eq(lines->entries[1].message.address, lines->entries[0].message.address + 128);
    tiny_free(m);
    module_free(second);
}
END_TEST

/* --- Latencies, operands, units, result bus -------------------------------------------------- */

/* From issue to issue of the dependent: 6 + latency, one less when the first reads no register. The latencies
 * are the defaults, those of the GTX 480. */
START_TEST(a_dependent_instruction_waits_for_the_latency_of_its_class) {
    static const struct {
        const char *body;
        uint64_t distance;
    } pairs[] = {
        {"mov.u32 %r1, %r2;\n mov.u32 %r3, %r1;\n", 6 + 1},
        {"mov.u32 %r1, 5;\n mov.u32 %r3, %r1;\n", 5 + 1},
        {"mov.u32 %r1, %tid.x;\n mov.u32 %r3, %r1;\n", 5 + 1}, /* no register of the banks either */
        {"and.b32 %r1, %r2, %r3;\n mov.u32 %r4, %r1;\n", 6 + 1},
        {"cvt.rn.f32.u32 %f1, %r3;\n mov.f32 %f2, %f1;\n", 6 + 1},
        {"add.s32 %r1, %r2, %r3;\n mov.u32 %r4, %r1;\n", 6 + 4},
        {"add.s64 %d1, %d2, %d3;\n mov.u64 %d4, %d1;\n", 6 + 4},
        {"min.s32 %r1, %r2, %r3;\n mov.u32 %r4, %r1;\n", 6 + 13},
        {"mul.lo.s32 %r1, %r2, %r3;\n mov.u32 %r4, %r1;\n", 6 + 4},
        {"mad.lo.s32 %r1, %r2, %r3, %r5;\n mov.u32 %r4, %r1;\n", 6 + 5},
        {"div.u32 %r1, %r2, 3;\n mov.u32 %r4, %r1;\n", 6 + 145},
        {"rem.u32 %r1, %r2, 3;\n mov.u32 %r4, %r1;\n", 6 + 145},
        {"add.f32 %f1, %f2, %f3;\n mov.f32 %f4, %f1;\n", 6 + 4},
        {"max.f32 %f1, %f2, %f3;\n mov.f32 %f4, %f1;\n", 6 + 13},
        {"mul.f32 %f1, %f2, %f3;\n mov.f32 %f4, %f1;\n", 6 + 4},
        {"fma.rn.f32 %f1, %f2, %f3, %f5;\n mov.f32 %f4, %f1;\n", 6 + 5},
        {"div.rn.f32 %f1, %f2, %f3;\n mov.f32 %f4, %f1;\n", 6 + 39},
        {"rcp.approx.f32 %f1, %f2;\n mov.f32 %f4, %f1;\n", 6 + 8},
        {"add.f64 %e1, %e2, %e3;\n mov.f64 %e4, %e1;\n", 6 + 8},
        {"max.f64 %e1, %e2, %e3;\n mov.f64 %e4, %e1;\n", 6 + 19},
        {"mul.f64 %e1, %e2, %e3;\n mov.f64 %e4, %e1;\n", 6 + 8},
        {"fma.rn.f64 %e1, %e2, %e3, %e5;\n mov.f64 %e4, %e1;\n", 6 + 8},
        {"div.rn.f64 %e1, %e2, %e3;\n mov.f64 %e4, %e1;\n", 6 + 330},
        {"shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;\n mov.u32 %r4, %r1;\n", 6 + 32},
        {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1,%r2},{%r3,%r4},{%r5},{%r6,%r7};\n"
         "mov.u32 %r8, %r2;\n",
         6 + 18},
        {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
         "{%r1,%r2},{%r3,%r4,%r5,%r6},{%r7,%r8},{%r9,%r10};\n"
         "mov.u32 %r11, %r2;\n",
         6 + 25},
        {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%e1,%e2},{%e3},{%e4},{%e5,%e6};\n"
         "mov.f64 %e7, %e2;\n",
         6 + 25},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        TinyMachine *m = tiny_run((TinySpec){.body = pairs[i].body});
        uint64_t distance = tiny_issued(m, 0, 1) - tiny_issued(m, 0, 0);
        ck_assert_msg(distance == pairs[i].distance, "%s %lu cycles", pairs[i].body, distance);
        tiny_free(m);
    }
}
END_TEST

/* A division takes 330 cycles and begins every 130, a function of the SFU 8 and 8. Operand k of the second is
 * read two cycles after the first's, so that the interval alone decides. */
START_TEST(double_precision_roots_are_divisions_or_functions_of_the_sfu) {
    static const char *const forms[] = {"rcp.rn.f64", "rcp.approx.ftz.f64", "sqrt.rn.f64",
                                        "rsqrt.approx.f64"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (uint32_t on_sfu = 0; on_sfu < 2; on_sfu++) {
            char body[200];
            snprintf(body, sizeof body,
                     "%s %%e1, %%e2;\n %s %%e3, %%e4;\n mov.f64 %%e5, %%e1;\n mov.f64 %%e6, %%e3;\n",
                     forms[i], forms[i]);
            TinyMachine *m = tiny_run(
                (TinySpec){.body = body, .sm = on_sfu ? "dp_roots_on_sfu=true" : "dp_roots_on_sfu=false"});
            uint64_t first = tiny_issued(m, 0, 0), latency = on_sfu ? 8 : 330, interval = on_sfu ? 8 : 130;
            ck_assert_uint_eq(tiny_issued(m, 0, 2), first + 6 + latency);
            ck_assert_uint_eq(tiny_issued(m, 0, 3), first + 6 + latency + interval);
            tiny_free(m);
        }
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "div.rn.f64 %e1, %e2, %e3;\n mov.f64 %e4, %e1;\n", .sm = "dp_roots_on_sfu=true"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1) - tiny_issued(m, 0, 0), 6 + 330);
    tiny_free(m);
    m = tiny_run(
        (TinySpec){.body = "sqrt.rn.f64 %e1, %e2;\n mov.f64 %e4, %e1;\n", .sm = "dp_div_latency=50"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1) - tiny_issued(m, 0, 0), 6 + 50);
    tiny_free(m);
}
END_TEST

/* n adds of one register: add k issues in 3 + 10 k, the last is written back in 3 + 10 n, which ends the warp
 * (its exit has long been done) and, two cycles later, the run. */
START_TEST(each_dependent_add_lengthens_the_run_by_ten_cycles) {
    for (uint32_t n = 4; n <= 7; n++) {
        char *body = tiny_repeated("add.s32 %r1, %r1, 1;\n", n);
        TinyMachine *m = tiny_run((TinySpec){.body = body});
        ck_assert_uint_eq(tiny_cycles(m), 3 + 10 * n + 2);
        tiny_free(m);
        free(body);
    }
}
END_TEST

START_TEST(latencies_are_parameters) {
    TinyMachine *m = tiny_run(
        (TinySpec){.sm = "int_add_latency=17", .body = "add.s32 %r1, %r2, %r3;\n mov.u32 %r4, %r1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 3 + 6 + 17);
    tiny_free(m);
}
END_TEST

/* The fused multiply-add reads three registers of different banks in one cycle, of one bank in three. */
START_TEST(operands_of_one_bank_are_read_one_after_the_other) {
    static const struct {
        const char *body;
        uint64_t distance;
    } pairs[] = {
        {"mad.lo.s32 %r1, %r2, %r19, %r36;\n mov.u32 %r4, %r1;\n", 11},
        {"mad.lo.s32 %r1, %r2, %r18, %r36;\n mov.u32 %r4, %r1;\n", 12},
        {"mad.lo.s32 %r1, %r2, %r18, %r34;\n mov.u32 %r4, %r1;\n", 13},
        {"mad.lo.s32 %r1, %r2, %r18, 34;\n mov.u32 %r4, %r1;\n", 12},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        TinyMachine *m = tiny_run((TinySpec){.body = pairs[i].body});
        ck_assert_uint_eq(tiny_issued(m, 0, 1) - tiny_issued(m, 0, 0), pairs[i].distance);
        tiny_free(m);
    }
    TinyMachine *m = tiny_run((TinySpec){.sm = "register_banks=1", .body = pairs[0].body});
    ck_assert_uint_eq(tiny_issued(m, 0, 1) - tiny_issued(m, 0, 0), 13);
    tiny_free(m);
}
END_TEST

/* In cycle 4 warp 0 issues its first add (%r1: bank 1) and, after it, because scheduler 0 comes first in even
 * cycles, warp 1 its second: %r0 of warp 1 is bank 1 too, and read a cycle later; %r2 would be bank 3. */
START_TEST(warps_compete_for_banks) {
    TinySpec spec = {.threads = 64,
                     .body = "add.s32 %r4, %r1, 1;\n add.s32 %r5, %r0, 1;\n add.s32 %r6, %r5, 1;\n"};
    TinyMachine *m = tiny_run(spec);
    ASSERT_ISSUES(m, 1, 3, 4, 4 + 10 + 1);
    ASSERT_ISSUES(m, 0, 4, 5, 5 + 10);
    tiny_free(m);
    spec.body = "add.s32 %r4, %r1, 1;\n add.s32 %r5, %r2, 1;\n add.s32 %r6, %r5, 1;\n";
    m = tiny_run(spec);
    ASSERT_ISSUES(m, 1, 3, 4, 4 + 10);
    ASSERT_ISSUES(m, 0, 4, 5, 5 + 10);
    tiny_free(m);
}
END_TEST

/* One scheduler. Warp 1 loads, 32 lines an instruction, so that from cycle 50 to 76 the LSU takes nothing.
 * Warp 0 has multiply-adds of three registers of one bank, each of which holds the only collector of SP for
 * four cycles: they issue every four cycles, whatever warp 1 waits for. */
START_TEST(a_warp_whose_unit_is_busy_issues_on_time_behind_an_lsu_stall) {
    TinyMachine *m = tiny_run_strided(
        (TinySpec){.threads = 64,
                   .sm = "schedulers=1 sp_latches=1 sp_collectors=1 mem_collectors=1 mem_latches=1"},
        128,
        "mov.u32 %r1, %tid.x;\n setp.lt.u32 %p1, %r1, 32;\n @%p1 bra ADDS;\n"
        "ld.global.u32 %r10, [%d1];\n ld.global.u32 %r11, [%d1];\n ld.global.u32 %r12, [%d1];\n"
        "ld.global.u32 %r13, [%d1];\n ld.global.u32 %r14, [%d1];\n ld.global.u32 %r15, [%d1];\n"
        "ld.global.u32 %r16, [%d1];\n ld.global.u32 %r17, [%d1];\n exit;\n"
        "ADDS: mov.u32 %r3, 1;\n mov.u32 %r4, 1;\n"
        "mad.lo.s32 %r20, %r2, %r18, %r34;\n mad.lo.s32 %r21, %r2, %r18, %r34;\n"
        "mad.lo.s32 %r22, %r2, %r18, %r34;\n mad.lo.s32 %r23, %r2, %r18, %r34;\n"
        "mad.lo.s32 %r24, %r2, %r18, %r34;\n mad.lo.s32 %r25, %r2, %r18, %r34;\n"
        "mad.lo.s32 %r26, %r2, %r18, %r34;\n mad.lo.s32 %r27, %r2, %r18, %r34;\n");
    for (uint32_t i = 0; i < 7; i++)
        ck_assert_uint_eq(tiny_issued_at(m, 0, 20 + i, 0), 52 + 4 * i);
    ck_assert_uint_eq(tiny_issued_at(m, 1, 11, 0), 49);
    ck_assert_uint_eq(tiny_issued_at(m, 1, 12, 0), 77);
    tiny_free(m);
}
END_TEST

/* The first reciprocal enters the SFU in 7, the second, issued in 4, not in 8 but 8 cycles after the first,
 * in 15; its dependent issues in 15 + 8 + 2. */
START_TEST(the_sfu_starts_an_instruction_every_eight_cycles) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "rcp.approx.f32 %f1, %f2;\n rcp.approx.f32 %f3, %f4;\n mov.f32 %f5, %f3;\n"});
    ASSERT_ISSUES(m, 0, 3, 4, 25);
    tiny_free(m);
}
END_TEST

/* Three multiplies with an interval of 2, issued in 3, 4, 6. Two pipelines take them in 7, 8 and 10 without
 * delay; one in 7, 9 and 11. */
START_TEST(pipelines_of_a_unit_share_the_load) {
    TinySpec spec = {.body = "mul.lo.s32 %r1, %r2, 3;\n mul.lo.s32 %r3, %r4, 3;\n mul.lo.s32 %r5, %r6, 3;\n"
                             "mov.u32 %r7, %r5;\n"};
    TinyMachine *m = tiny_run(spec);
    ASSERT_ISSUES(m, 0, 3, 4, 6, 10 + 4 + 2);
    tiny_free(m);
    spec.sm = "sp_units=1";
    m = tiny_run(spec);
    ASSERT_ISSUES(m, 0, 3, 4, 6, 11 + 4 + 2);
    tiny_free(m);
}
END_TEST

/* One collector: the reciprocals of 3 and 4 hold it until the cycle before they enter the SFU, to 6 and
 * to 14. The one of 6 finds the latch empty and waits there until 14; only then may the next issue: cycles 7
 * to 13 are lost. */
START_TEST(issue_stalls_while_the_latch_waits_for_a_collector) {
    TinyMachine *m = tiny_run((TinySpec){.sm = "sfu_collectors=1",
                                         .body = "rcp.approx.f32 %f1, %f2;\n rcp.approx.f32 %f3, %f4;\n"
                                                 "rcp.approx.f32 %f5, %f6;\n rcp.approx.f32 %f7, %f8;\n"});
    ASSERT_ISSUES(m, 0, 3, 4, 6, 14);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_unit"), 7);
    tiny_free(m);
}
END_TEST

/* The add of 3 is written back in 13, and so would be the move of 6; with one result per cycle the latter is
 * late. */
START_TEST(the_result_bus_takes_so_many_results_per_cycle) {
    TinySpec spec = {.body = "add.s32 %r1, %r2, 1;\n mov.u32 %r3, 1;\n mov.u32 %r4, %r5;\n"
                             "mov.u32 %r6, %r4;\n"};
    TinyMachine *m = tiny_run(spec);
    ASSERT_ISSUES(m, 0, 3, 4, 6, 13);
    tiny_free(m);
    spec.sm = "result_bus=1";
    m = tiny_run(spec);
    ASSERT_ISSUES(m, 0, 3, 4, 6, 14);
    tiny_free(m);
}
END_TEST

/* Divide k enters in 7 + 130 k: the last of twelve is written back in 7 + 11 * 130 + 330 + 2, far beyond any
 * latency after its issue. */
START_TEST(a_long_queue_before_a_slow_unit_is_worked_off_in_order) {
    char body[1024] = "";
    for (uint32_t i = 0; i < 12; i++)
        sprintf(body + strlen(body), "div.rn.f64 %%e%u, %%e0, %%e1;\n", 2 + i);
    TinyMachine *m = tiny_run((TinySpec){.body = body});
    ck_assert_uint_eq(tiny_cycles(m), 7 + 11 * 130 + 330 + 2 + 2);
    tiny_free(m);
}
END_TEST

/* --- Scoreboard ------------------------------------------------------------------------------ */

START_TEST(a_second_write_waits_for_the_first) {
    TinyMachine *m = tiny_run((TinySpec){.body = "rcp.approx.f32 %f1, %f2;\n mov.f32 %f1, 0f3F800000;\n"
                                                 "cvt.rzi.u32.f32 %r1, %f1;\n st.global.u32 [out], %r1;\n"});
    ASSERT_ISSUES(m, 0, 3, 3 + 6 + 8, 17 + 6);
    ck_assert_uint_eq(tiny_word(m, 0), 1);
    tiny_free(m);
}
END_TEST

START_TEST(a_write_does_not_wait_for_an_earlier_read) {
    TinyMachine *m = tiny_run((TinySpec){.body = "add.s32 %r1, %r2, 1;\n mov.u32 %r2, 5;\n"});
    ASSERT_ISSUES(m, 0, 3, 4);
    tiny_free(m);
}
END_TEST

/* setp reads one register and has latency 1: its reader issues 7 later, be it a guard, a branch or an
 * operand. */
START_TEST(readers_of_a_predicate_wait_for_it) {
    static const char *const readers[] = {"@%p1 mov.u32 %r2, 1;\n", "@!%p1 mov.u32 %r2, 1;\n",
                                          "selp.u32 %r2, 1, 2, %p1;\n", "@%p1 bra DONE;\nDONE:\n"};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        char body[128];
        sprintf(body, "setp.eq.s32 %%p1, %%r1, 0;\n %s", readers[i]);
        TinyMachine *m = tiny_run((TinySpec){.body = body});
        ASSERT_ISSUES(m, 0, 3, 10);
        tiny_free(m);
    }
}
END_TEST

START_TEST(waiting_for_arithmetic_is_charged_to_the_scoreboard) {
    /* 151 cycles from divide to move, in the last 150 of which the move waits. */
    TinyMachine *m = tiny_run((TinySpec){.body = "div.u32 %r1, %r2, 3;\n mov.u32 %r4, %r1;\n"});
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_scoreboard"), 150);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_memory"), 0);
    tiny_free(m);
}
END_TEST

/* --- Divergence ------------------------------------------------------------------------------ */

static void assert_path(const TinyMachine *machine, uint32_t warp, const Issue *path, uint32_t count) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < machine->issue_count; i++) {
        const Issue *issue = &machine->issues[i];
        if (issue->warp != warp) continue;
        ck_assert_uint_lt(n, count);
        ck_assert_msg(issue->cycle == path[n].cycle && issue->pc == path[n].pc &&
                          issue->lanes == path[n].lanes,
                      "step %u: instruction %u with lanes 0x%x in cycle %lu, and not %u, 0x%x, %lu", n,
                      issue->pc, issue->lanes, issue->cycle, path[n].pc, path[n].lanes, path[n].cycle);
        n++;
    }
    ck_assert_uint_eq(n, count);
}
#define ASSERT_PATH(machine, warp, ...)                                                                      \
    assert_path(machine, warp, (const Issue[]){__VA_ARGS__},                                                 \
                sizeof((const Issue[]){__VA_ARGS__}) / sizeof(Issue))

/* 3: move; 9 (+ 6): compare; 16 (+ 7): the branch, first in its buffer, jumps to the side without lane
 * 31: 19. That ends at the meeting point, the warp goes back to the other side with one instruction left in
 * its buffer: 22. The jump to the meeting point is last in its buffer: 23 + 4. */
START_TEST(both_sides_of_a_branch_run_one_after_the_other_and_meet) {
    TinyMachine *m = tiny_run((TinySpec){.body = "mov.u32 %r1, %laneid;\n"
                                                 "setp.lt.u32 %p1, %r1, 8;\n"
                                                 "@%p1 bra TAKEN;\n"
                                                 "mov.u32 %r2, 1;\n"
                                                 "bra JOIN;\n"
                                                 "TAKEN: mov.u32 %r3, 2;\n"
                                                 "JOIN: exit;\n"});
    ASSERT_PATH(m, 0, {.cycle = 3, .pc = 0, .lanes = ~0u}, {.cycle = 9, .pc = 1, .lanes = ~0u},
                {.cycle = 16, .pc = 2, .lanes = ~0u}, {.cycle = 19, .pc = 5, .lanes = 0xff},
                {.cycle = 22, .pc = 3, .lanes = 0xffffff00}, {.cycle = 23, .pc = 4, .lanes = 0xffffff00},
                {.cycle = 27, .pc = 6, .lanes = ~0u});
    ck_assert_uint_eq(tiny_cycles(m), 27 + TINY_AFTER_EXIT);
    /* Of the first branch only the lanes that jump count: the guard keeps the others from executing it. */
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "thread_instructions"), 3 * 32 + 2 * 8 + 2 * 24);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "branches"), 2);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "divergent_branches"), 1);
    tiny_free(m);
}
END_TEST

/* Lane l goes round l + 1 times: the warp 32 times, with one lane less each time; all meet behind the
 * loop. */
START_TEST(a_loop_runs_as_often_as_its_longest_lane_and_all_meet_behind_it) {
    TinyMachine *m = tiny_run((TinySpec){.body = "mov.u32 %r1, %laneid;\n"
                                                 "LOOP: add.u32 %r2, %r2, 1;\n"
                                                 "setp.le.u32 %p1, %r2, %r1;\n"
                                                 "@%p1 bra LOOP;\n"
                                                 "mul.wide.u32 %d1, %r1, 4;\n"
                                                 "mov.u64 %d2, out;\n"
                                                 "add.s64 %d1, %d1, %d2;\n"
                                                 "st.global.u32 [%d1], %r2;\n"});
    uint32_t seen = 0;
    for (uint32_t i = 0; i < m->issue_count; i++) {
        if (m->issues[i].pc == 1) ck_assert_uint_eq(m->issues[i].lanes, ~0u << seen++);
        if (m->issues[i].pc > 3) ck_assert_uint_eq(m->issues[i].lanes, ~0u);
    }
    ck_assert_uint_eq(seen, 32);
    for (uint32_t lane = 0; lane < 32; lane++)
        ck_assert_uint_eq(tiny_word(m, lane), lane + 1);
    /* The last round has one lane left: nobody parts. */
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "divergent_branches"), 31);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "thread_instructions"), 6 * 32 + 2 * (32 * 33 / 2) + 31 * 32 / 2);
    tiny_free(m);
}
END_TEST

START_TEST(the_last_warp_of_a_cta_may_have_fewer_lanes) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 33,
                                         .body = "mov.u32 %r1, %tid.x;\n mul.wide.u32 %d1, %r1, 4;\n"
                                                 "mov.u64 %d2, out;\n add.s64 %d1, %d1, %d2;\n"
                                                 "st.global.u32 [%d1], 1;\n"});
    for (uint32_t i = 0; i < m->issue_count; i++)
        ck_assert_uint_eq(m->issues[i].lanes, m->issues[i].warp ? 1 : ~0u);
    for (uint32_t i = 0; i < 64; i++)
        ck_assert_uint_eq(tiny_word(m, i), i < 33);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "thread_instructions"), 6 * 33);
    tiny_free(m);
}
END_TEST

/* 3: move; 9: compare; 16: exit of the lower half, no jump for the others; 17: move; 19: exit. */
START_TEST(a_guarded_exit_ends_some_lanes_and_the_others_go_on) {
    TinyMachine *m = tiny_run((TinySpec){.body = "mov.u32 %r1, %laneid;\n"
                                                 "setp.lt.u32 %p1, %r1, 16;\n"
                                                 "@%p1 exit;\n"
                                                 "mov.u32 %r2, 1;\n"});
    ASSERT_PATH(m, 0, {.cycle = 3, .pc = 0, .lanes = ~0u}, {.cycle = 9, .pc = 1, .lanes = ~0u},
                {.cycle = 16, .pc = 2, .lanes = ~0u}, {.cycle = 17, .pc = 3, .lanes = 0xffff0000},
                {.cycle = 19, .pc = 4, .lanes = 0xffff0000});
    ck_assert_uint_eq(tiny_cycles(m), 19 + TINY_AFTER_EXIT);
    tiny_free(m);
}
END_TEST

START_TEST(a_guarded_exit_of_all_lanes_ends_the_warp) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "setp.eq.u32 %p1, %r1, 0;\n @%p1 exit;\n mov.u32 %r2, 1;\n"});
    ASSERT_PATH(m, 0, {.cycle = 3, .pc = 0, .lanes = ~0u}, {.cycle = 10, .pc = 1, .lanes = ~0u});
    ck_assert_uint_eq(tiny_cycles(m), 10 + TINY_AFTER_EXIT);
    tiny_free(m);
}
END_TEST

/* The lower lanes leave inside their side (19); the others run theirs (22 ...) and pass the meeting point
 * alone. */
START_TEST(lanes_that_exit_inside_a_side_are_not_waited_for) {
    TinyMachine *m = tiny_run((TinySpec){.body = "mov.u32 %r1, %laneid;\n"
                                                 "setp.lt.u32 %p1, %r1, 8;\n"
                                                 "@%p1 bra TAKEN;\n"
                                                 "mov.u32 %r2, 1;\n"
                                                 "bra JOIN;\n"
                                                 "TAKEN: exit;\n"
                                                 "JOIN: mov.u32 %r3, 1;\n"});
    ASSERT_PATH(m, 0, {.cycle = 3, .pc = 0, .lanes = ~0u}, {.cycle = 9, .pc = 1, .lanes = ~0u},
                {.cycle = 16, .pc = 2, .lanes = ~0u}, {.cycle = 19, .pc = 5, .lanes = 0xff},
                {.cycle = 22, .pc = 3, .lanes = 0xffffff00}, {.cycle = 23, .pc = 4, .lanes = 0xffffff00},
                {.cycle = 27, .pc = 6, .lanes = 0xffffff00}, {.cycle = 28, .pc = 7, .lanes = 0xffffff00});
    tiny_free(m);
}
END_TEST

START_TEST(the_clock_is_the_cycle_of_issue) {
    TinyMachine *m = tiny_run((TinySpec){.body = "mov.u32 %r1, %clock;\n"
                                                 "add.u32 %r2, %r1, 0;\n"
                                                 "mov.u32 %r3, %clock;\n"
                                                 "st.global.u32 [out], %r1;\n"
                                                 "st.global.u32 [out+4], %r3;\n"});
    ck_assert_uint_eq(tiny_word(m, 0), 3);
    ck_assert_uint_eq(tiny_word(m, 1), tiny_issued(m, 0, 2));
    tiny_free(m);
}
END_TEST

Suite *sm_timing_suite(void) {
    Suite *suite = suite_create("sm_timing");
    TCase *fetch = tcase_create("fetch");
    tcase_add_test(fetch, an_empty_kernel_takes_eleven_cycles);
    tcase_add_test(fetch, one_warp_issues_two_independent_instructions_in_three_cycles);
    tcase_add_test(fetch, two_schedulers_issue_in_the_same_cycle);
    tcase_add_test(fetch, one_scheduler_issues_once_per_cycle);
    tcase_add_test(fetch, a_taken_branch_with_the_next_instruction_in_the_buffer_costs_two_cycles);
    tcase_add_test(fetch, a_taken_branch_with_an_empty_buffer_costs_three_cycles);
    tcase_add_test(fetch, a_branch_that_does_not_jump_costs_nothing);
    tcase_add_test(fetch, the_clock_is_the_cycle_of_issue);
    suite_add_tcase(suite, fetch);
    TCase *units = tcase_create("units");
    tcase_add_test(units, a_dependent_instruction_waits_for_the_latency_of_its_class);
    tcase_add_test(units, double_precision_roots_are_divisions_or_functions_of_the_sfu);
    tcase_add_test(units, code_stays_in_the_instruction_cache_from_launch_to_launch);
    tcase_add_test(units, kernels_begin_at_lines_of_their_own);
    tcase_add_test(units, kernels_may_lie_one_behind_the_other);
    tcase_add_test(units, each_dependent_add_lengthens_the_run_by_ten_cycles);
    tcase_add_test(units, latencies_are_parameters);
    tcase_add_test(units, operands_of_one_bank_are_read_one_after_the_other);
    tcase_add_test(units, a_warp_whose_unit_is_busy_issues_on_time_behind_an_lsu_stall);
    tcase_add_test(units, warps_compete_for_banks);
    tcase_add_test(units, the_sfu_starts_an_instruction_every_eight_cycles);
    tcase_add_test(units, pipelines_of_a_unit_share_the_load);
    tcase_add_test(units, issue_stalls_while_the_latch_waits_for_a_collector);
    tcase_add_test(units, the_result_bus_takes_so_many_results_per_cycle);
    tcase_add_test(units, a_long_queue_before_a_slow_unit_is_worked_off_in_order);
    suite_add_tcase(suite, units);
    TCase *scoreboard = tcase_create("scoreboard");
    tcase_add_test(scoreboard, a_second_write_waits_for_the_first);
    tcase_add_test(scoreboard, a_write_does_not_wait_for_an_earlier_read);
    tcase_add_test(scoreboard, readers_of_a_predicate_wait_for_it);
    tcase_add_test(scoreboard, waiting_for_arithmetic_is_charged_to_the_scoreboard);
    suite_add_tcase(suite, scoreboard);
    TCase *divergence = tcase_create("divergence");
    tcase_add_test(divergence, both_sides_of_a_branch_run_one_after_the_other_and_meet);
    tcase_add_test(divergence, a_loop_runs_as_often_as_its_longest_lane_and_all_meet_behind_it);
    tcase_add_test(divergence, the_last_warp_of_a_cta_may_have_fewer_lanes);
    tcase_add_test(divergence, a_guarded_exit_ends_some_lanes_and_the_others_go_on);
    tcase_add_test(divergence, a_guarded_exit_of_all_lanes_ends_the_warp);
    tcase_add_test(divergence, lanes_that_exit_inside_a_side_are_not_waited_for);
    suite_add_tcase(suite, divergence);
    return suite;
}
