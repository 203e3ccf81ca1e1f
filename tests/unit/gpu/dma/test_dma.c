/* Transfers of the D2MA engine, cycle by cycle. What the comments count with, for a start that issues in
 * cycle t:
 *
 *   The engine has it in t + 1 and sends a request in that and each following cycle, which reaches the memory
 * one cycle later. The answer leaves it LATENCY cycles after that, is at the engine one cycle later, and its
 * elements are in shared memory after one more. So a transfer of n requests is complete in t + n + 3 +
 * LATENCY, the cycle in which a warp that waits for it may issue. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LATENCY = TINY_MEMORY_LATENCY, DONE = 3 + LATENCY };

#define TILE                                                                                                 \
    ".shared .align 8 .b8 tile[8192];\n mov.u64 %d1, tile;\n cvta.shared.u64 %d1, %d1;\n mov.u64 %d2, "      \
    "out;\n"
/* %r1: thread; word i of out is i + 1 for all threads of the first CTA. Waits until they are written. */
#define FILL                                                                                                 \
    "mov.u32 %r1, %tid.x;\n mul.wide.u32 %d3, %r1, 4;\n add.u64 %d4, %d2, %d3;\n add.u32 %r2, %r1, 1;\n"     \
    "st.global.u32 [%d4], %r2;\n bar.sync 0;\n"
#define FLAT(elements, buffer)                                                                               \
    "call dma_configure_flat_unit_stride, (%d1, %d2, " #elements ", " #buffer ");\n"

/* Index of the n-th instruction of this kind, from 0. */
static uint32_t nth(const TinyMachine *m, InstKind kind, uint32_t n) {
    const Kernel *kernel = module_kernel(m->module, "tiny");
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        if (kernel->insts[i].kind == kind && n-- == 0) return i;
    ck_abort_msg("there is no such instruction");
}

static uint64_t start_of(const TinyMachine *m, uint32_t warp, uint32_t n) {
    return tiny_issued_at(m, warp, nth(m, INST_DMA, n), 0);
}

static const LoggedMessage *request(const TinyMachine *m, uint32_t i) {
    const MessageLog *log = memory_responder_arrivals(m->dma_memory[0]);
    ck_assert_uint_lt(i, log->count);
    return &log->entries[i];
}

static uint32_t requests(const TinyMachine *m) {
    return memory_responder_arrivals(m->dma_memory[0])->count;
}

static uint64_t engine_stat(const TinyMachine *m, const char *name) {
    return tiny_stat(m, "sm[0].dma", name);
}

/* --- Address generation ---------------------------------------------------------------------- */

START_TEST(a_unit_stride_transfer_sends_a_line_in_each_cycle) {
    TinyMachine *m = tiny_run((TinySpec){.dma = "", .body = TILE FLAT(256, 0)});
    uint64_t t = start_of(m, 0, 0);
    ck_assert_uint_eq(requests(m), 8);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(request(m, i)->cycle, t + 2 + i);
        ck_assert_uint_eq(request(m, i)->message.address, m->out + 128 * i);
        ck_assert_uint_eq(request(m, i)->message.bytes, 128);
    }
    ck_assert_uint_eq(engine_stat(m, "agen_cycles"), 1);
    ck_assert_uint_eq(engine_stat(m, "mem_cycles"), DONE + 8 - 1 - 1);
    ck_assert_uint_eq(engine_stat(m, "transfer_cycles"), DONE + 8 - 1);
    ck_assert_uint_eq(engine_stat(m, "elements"), 256);
    ck_assert_uint_eq(engine_stat(m, "bytes"), 1024);
    tiny_free(m);
}
END_TEST

/* One element of 4 B in 32 B: four of a line, a request in every fourth cycle. The first ends the overhead. */
START_TEST(a_strided_transfer_sends_when_the_segment_changes) {
    TinyMachine *m = tiny_run(
        (TinySpec){.dma = "", .body = TILE "call dma_configure_flat_strided, (%d1, %d2, 16, 8, 0);\n"});
    uint64_t t = start_of(m, 0, 0);
    ck_assert_uint_eq(requests(m), 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(request(m, i)->cycle, t + 2 + 4 * i);
    ck_assert_uint_eq(engine_stat(m, "agen_cycles"), 1);
    ck_assert_uint_eq(engine_stat(m, "mem_cycles"), DONE + 12 - 1);
    tiny_free(m);
}
END_TEST

/* Rows of 16 floats, 64 floats apart, by segments of 64 B. */
START_TEST(a_tile_sends_a_request_for_each_row) {
    TinyMachine *m = tiny_run(
        (TinySpec){.dma = "", .body = TILE "call dma_configure_2d, (%d1, %d2, 4, 16, 64, 2);\n"});
    uint64_t t = start_of(m, 0, 0);
    ck_assert_uint_eq(requests(m), 4);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(request(m, i)->cycle, t + 2 + i);
        ck_assert_uint_eq(request(m, i)->message.address, m->out + 256 * i);
        ck_assert_uint_eq(request(m, i)->message.bytes, 64);
    }
    ck_assert_uint_eq(engine_stat(m, "requests_64"), 4);
    tiny_free(m);
}
END_TEST

/* Two CTAs: the second starts while the generator is busy with the first's 40 lines, whose requests all come
 * before. */
START_TEST(one_address_generator_serves_the_transfers_in_turn) {
    TinyMachine *m = tiny_run((TinySpec){.dma = "",
                                         .ctas = 2,
                                         .body = TILE
                                         "mov.u32 %r9, %ctaid.x;\n mul.wide.u32 %d9, %r9, 8192;\n"
                                         "add.u64 %d2, %d2, %d9;\n" FLAT(1280, 0)});
    uint64_t first = start_of(m, 0, 0), second = start_of(m, 1, 0);
    ck_assert(second > first && second < first + 40);
    ck_assert_uint_eq(requests(m), 80);
    for (uint32_t i = 0; i < 80; i++) {
        ck_assert_uint_eq(request(m, i)->cycle, first + 2 + i);
        ck_assert_uint_eq(request(m, i)->message.address, m->out + (i < 40 ? 0 : 8192 - 40 * 128) + 128 * i);
    }
    ck_assert_uint_eq(engine_stat(m, "agen_cycles"), 1 + 41 - (second - first));
    tiny_free(m);
}
END_TEST

/* The memory takes nothing for 50 cycles, the link holds 2 messages: the generator waits from the third on.
 */
START_TEST(the_generator_waits_for_its_port) {
    TinyMachine *m = tiny_run((TinySpec){
        .dma = "", .request_depth = 2, .memory = "refuse_from=1 refuse_until=60", .body = TILE FLAT(256, 0)});
    uint64_t t = start_of(m, 0, 0);
    ck_assert_uint_eq(request(m, 0)->cycle, 60);
    ck_assert_uint_eq(request(m, 2)->cycle, 62);
    /* The pop in 60 makes room in 61. */
    ck_assert_uint_eq(engine_stat(m, "agen_stall_cycles"), 61 - (t + 3));
    tiny_free(m);
}
END_TEST

/* The same with a second transfer behind: its first request, the ninth of all, is sent in 67, and without the
 * wait would have been in t + 9. The wait is memory time, of both. */
START_TEST(waiting_for_room_behind_another_transfer_is_memory_time) {
    TinyMachine *m = tiny_run(
        (TinySpec){.dma = "",
                   .request_depth = 2,
                   .memory = "refuse_from=1 refuse_until=60",
                   .body = TILE "add.u64 %d5, %d1, 1024;\n" FLAT(
                       256, 0) "call dma_configure_flat_unit_stride, (%d5, %d2, 256, 1);\n"});
    uint64_t t = start_of(m, 0, 0), second = start_of(m, 0, 1);
    ck_assert_uint_eq(request(m, 8)->cycle, 68);
    ck_assert_uint_gt(second, t);
    ck_assert_uint_lt(second, t + 9);
    ck_assert_uint_eq(engine_stat(m, "agen_stall_cycles"), 61 - (t + 3));
    uint64_t waited_before = second > t + 2 ? second + 1 - (t + 3) : 0; /* of the wait, before it came */
    ck_assert_uint_eq(engine_stat(m, "agen_cycles"), 1 + (t + 9 - second) + waited_before);
    /* The first's last request reaches the memory in 67, the second's in 75. */
    ck_assert_uint_eq(engine_stat(m, "transfer_cycles"), 67 + LATENCY + 1 - t + 75 + LATENCY + 1 - second);
    ck_assert_uint_eq(engine_stat(m, "mem_cycles"),
                      engine_stat(m, "transfer_cycles") - engine_stat(m, "agen_cycles"));
    tiny_free(m);
}
END_TEST

/* A tile of 2 x 2 bytes in the upper left corner, a halo of 1: five bytes are constant, in runs of 4, 1 and 1
 * with the row's start; what is fetched are three runs. */
START_TEST(constants_are_written_while_the_requests_are_in_flight) {
    TinyMachine *m = tiny_run((TinySpec){
        .dma = "",
        .body = TILE "add.u64 %d2, %d2, 32;\n call dma_set_datatype, (1);\n"
                     "call dma_set_halo, (1, 1, 5, 170);\n"
                     "call dma_configure_2d, (%d1, %d2, 2, 2, 64, 0);\n ld.shared.u32 %r1, [tile];\n"
                     "ld.shared.u8 %r2, [tile+8];\n ld.shared.u8 %r3, [tile+9];\n"
                     "st.global.u32 [out+4096], %r1;\n st.global.u32 [out+4100], %r2;\n"
                     "st.global.u32 [out+4104], %r3;\n"});
    ck_assert_uint_eq(tiny_word(m, 1024), 0xaaaaaaaa);
    ck_assert_uint_eq(tiny_word(m, 1025), 0xaa);
    ck_assert_uint_eq(tiny_word(m, 1026), 0);
    ck_assert_uint_eq(engine_stat(m, "constants"), 4 + 3);
    ck_assert_uint_eq(engine_stat(m, "elements"), 9);
    /* They are through long before the answers come. */
    ck_assert_uint_eq(engine_stat(m, "transfer_cycles"), DONE + 3 - 1);
    tiny_free(m);
}
END_TEST

/* --- Waiting --------------------------------------------------------------------------------- */

#define LOAD_AND_STORE "ld.shared.u32 %r5, [tile+124];\n st.global.u32 [out+4096], %r5;\n"

START_TEST(a_load_waits_until_its_transfer_is_complete_to_the_cycle) {
    TinyMachine *m = tiny_run((TinySpec){.dma = "", .body = TILE FILL FLAT(256, 0) LOAD_AND_STORE});
    uint64_t t = start_of(m, 0, 0), load = nth(m, INST_LOAD, 0);
    ck_assert_uint_eq(tiny_issued_at(m, 0, (uint32_t)load, 0), t + 8 + DONE);
    ck_assert_uint_eq(tiny_word(m, 1024), 32);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "dma_squashes"), 1);
    /* Squashed in its first cycle, the next but one or two after the start; parked from then on. */
    uint64_t parked = tiny_stat(m, "sm[0]", "dma_parked_cycles");
    ck_assert(parked == 8 + DONE - 1 || parked == 8 + DONE - 2 || parked == 8 + DONE - 3);
    tiny_free(m);
}
END_TEST

/* Some instructions that wait for each other and some that do not: warps are to leave the rhythm in which
 * they take turns at fetch. */
static void pass_time(char *body, uint32_t length) {
    for (uint32_t i = 0; i < length % 3; i++)
        strcat(body, "add.u32 %r6, %r6, 1;\n");
    for (uint32_t i = 0; i < length / 3; i++)
        sprintf(body + strlen(body), "mov.u32 %%r%u, 1;\n", 10 + i);
}

/* Warp 0 starts the transfer and warp 1 reads of it. `run` is tiny_run, or run_once(). */
static TinyMachine *run_start_beside_load(TinyMachine *(*run)(TinySpec), const char *dma,
                                          uint32_t before_start, uint32_t before_load) {
    char body[2048] = TILE "mov.u32 %r1, %tid.x;\n setp.lt.u32 %p0, %r1, 32;\n @%p0 bra START;\n";
    pass_time(body, before_load);
    strcat(body, "ld.shared.u32 %r5, [tile+124];\n exit;\n START:\n");
    pass_time(body, before_start);
    strcat(body, FLAT(32, 0));
    return run((TinySpec){.dma = dma, .threads = 64, .body = body});
}

/* In one order of ticks, not in all as tiny_run(). */
static TinyMachine *run_once(TinySpec spec) {
    spec.quantum = 1;
    TinyMachine *machine = tiny_new(spec);
    tiny_launch(machine, spec);
    tiny_finish(machine);
    return machine;
}

/* The order of the two schedulers rotates from cycle to cycle: a load goes ahead of a start of the same cycle
 * only if its scheduler came first. When it could issue, the engine that does not check tells. */
START_TEST(a_load_waits_for_a_transfer_that_another_scheduler_starts_in_the_same_cycle) {
    uint32_t before = 0, after = 0, same_first = 0, same_last = 0;
    for (uint32_t i = 0; i < 9; i++)
        for (uint32_t j = 0; j < 18; j++) {
            TinyMachine *m = run_start_beside_load(tiny_run, "", i, j),
                        *unchecked = run_start_beside_load(run_once, "check=false", i, j);
            uint32_t load = nth(m, INST_LOAD, 0);
            uint64_t start = start_of(m, 0, 0), ready = tiny_issued_at(unchecked, 1, load, 0);
            ck_assert_uint_eq(start_of(unchecked, 0, 0), start);
            bool first = ready < start || (ready == start && ready % 2 == 1),
                 complete = ready >= start + 1 + DONE;
            ck_assert_uint_eq(tiny_issued_at(m, 1, load, 0), first || complete ? ready : start + 1 + DONE);
            if (ready == start)
                ++*(first ? &same_first : &same_last);
            else
                ++*(first ? &before : &after);
            tiny_free(m);
            tiny_free(unchecked);
        }
    ck_assert(before && after && same_first && same_last);
}
END_TEST

/* Transfers of other buffers and loads beside the range go on. */
START_TEST(a_load_beside_the_range_does_not_wait) {
    TinyMachine *m = tiny_run((TinySpec){
        .dma = "",
        .body = TILE FLAT(32, 1) "ld.shared.u32 %r5, [tile+128];\n st.shared.u32 [tile+4], %r5;\n"});
    ck_assert_uint_lt(tiny_issued_at(m, 0, nth(m, INST_LOAD, 0), 0), start_of(m, 0, 0) + 10);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "dma_squashes"), 0);
    tiny_free(m);
}
END_TEST

/* By the last lane alone; one byte, through a generic address; by an atomic; as a vector, volatile. */
START_TEST(every_way_to_read_is_checked) {
    static const char *const bodies[] = {
        TILE "mov.u32 %r6, %laneid;\n mul.lo.s32 %r6, %r6, -4;\n add.u32 %r6, %r6, 248;\n" FLAT(
            32, 0) "ld.shared.u32 %r5, [%r6];\n",
        TILE "add.u64 %d5, %d1, 127;\n" FLAT(32, 0) "ld.u8 %r5, [%d5];\n",
        TILE FLAT(32, 0) "atom.shared.add.u32 %r5, [tile+4], 1;\n",
        TILE FLAT(32, 0) "ld.volatile.shared.v4.u32 {%r4, %r5, %r6, %r7}, [tile+112];\n",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        TinyMachine *m = tiny_run((TinySpec){.dma = "", .body = bodies[i]});
        ck_assert_uint_eq(tiny_stat(m, "sm[0]", "dma_squashes"), 1);
        tiny_free(m);
    }
}
END_TEST

START_TEST(without_the_check_a_load_reads_stale_data) {
    TinySpec spec = {.dma = "check=false", .body = TILE FILL FLAT(256, 0) LOAD_AND_STORE};
    TinyMachine *m = tiny_run(spec);
    ck_assert_uint_eq(tiny_word(m, 1024), 0);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "dma_squashes"), 0);
    tiny_free(m);
}
END_TEST

/* Both warps come to both starts: two transfers. The second start waits for the first transfer, in whatever
 * warp. */
START_TEST(the_first_warp_starts_and_a_start_waits_for_the_one_before) {
    TinyMachine *m = tiny_run(
        (TinySpec){.dma = "", .threads = 64, .body = TILE FLAT(32, 3) "call dma_execute, (%d1, %d2, 3);\n"});
    uint64_t a = start_of(m, 0, 0), b = start_of(m, 1, 0), first = a < b ? a : b;
    ck_assert_uint_eq(engine_stat(m, "transfers"), 2);
    ck_assert_uint_eq(start_of(m, 0, 1), first + 1 + DONE);
    ck_assert_uint_eq(start_of(m, 1, 1), first + 1 + DONE);
    ck_assert_uint_eq(request(m, 1)->cycle, first + 1 + DONE + 2);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "dma_squashes"), 2);
    tiny_free(m);
}
END_TEST

/* The end reaches the dispatcher a cycle after the data are there. */
START_TEST(a_cta_does_not_end_before_its_transfers) {
    TinyMachine *m = tiny_run((TinySpec){.dma = "", .body = TILE FLAT(32, 0) "exit;\n"});
    ck_assert_uint_eq(tiny_cycles(m), start_of(m, 0, 0) + 1 + DONE + 2);
    tiny_free(m);
}
END_TEST

/* From the cycle after the start, in which nothing issues any more, to the last before the transfer is
 * complete. */
START_TEST(cycles_in_which_all_ctas_wait_for_transfers_are_counted) {
    TinyMachine *m = tiny_run((TinySpec){.dma = "", .body = TILE FLAT(32, 0) "exit;\n"});
    uint64_t t = start_of(m, 0, 0), left = tiny_issued(m, 0, 4);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "transfer_stall_cycles"), 1 + DONE - 1 - (left > t));
    tiny_free(m);
}
END_TEST

/* --- Wrong use ------------------------------------------------------------------------------- */

typedef struct {
    TinyMachine *machine;
    TinySpec spec;
} Attempt;

static void launch_and_run(void *context) {
    Attempt *attempt = context;
    tiny_launch(attempt->machine, attempt->spec);
    tiny_finish(attempt->machine);
}

/* The error with which a run of the kernel ends. */
static const char *error_of(TinySpec spec) {
    Attempt attempt = {tiny_new(spec), spec};
    const char *error = tiny_error(launch_and_run, &attempt, NULL);
    tiny_free(attempt.machine);
    return error;
}

START_TEST(wrong_use_is_an_error_that_names_kernel_line_cta_and_buffer) {
    static const struct {
        const char *body, *error;
    } cases[] = {
        {TILE FLAT(32, 4), "DMA buffer 4: expected a buffer from 0 to 3"},
        {TILE "call dma_set_datatype, (3);\n", "expected elements of 1, 2, 4 or 8 bytes, got 3"},
        {TILE "call dma_set_padding, (0, 4);\n", "expected padding after every 1 or more elements, got 0"},
        {TILE "call dma_set_halo, (1, 1, 16, 0);\n", "DMA_RIGHT 8, got 0x10"},
        {TILE FLAT(0, 0), "DMA buffer 0: expected 1 to 65535 elements, halo included, got 0"},
        {TILE "call dma_configure_2d, (%d1, %d2, 300, 300, 300, 0);\n", "got 90000"},
        {TILE FLAT(2049, 1),
         "DMA buffer 1: expected shared memory within the CTA's 8192 bytes, got 0 to 8196"},
        {TILE "add.u64 %d1, %d1, 2;\n" FLAT(8, 0),
         "expected shared memory aligned to elements of 4 bytes, got 2"},
        {TILE "add.u64 %d2, %d2, 2;\n" FLAT(8, 0),
         "expected global memory aligned to elements of 4 bytes, got 0x"},
        {TILE "mov.u64 %d1, 0;\n" FLAT(8, 0), "expected a generic address of shared memory, got 0x0"},
        {TILE FLAT(32, 0) "add.u64 %d1, %d1, 124;\n" FLAT(32, 1),
         "DMA buffer 1: shared memory from 124 to 252 overlaps that of buffer 0"},
        {TILE "call dma_set_halo, (1, 1, 0, 0);\n call dma_set_padding, (4, 4);\n"
              "call dma_configure_2d, (%d1, %d2, 4, 4, 64, 0);\n",
         "expected padding or a halo, got both"},
        {TILE "call dma_set_halo, (1, 1, 0, 0);\n" FLAT(8, 0),
         "expected a halo around a 2D tile, got one around a flat transfer"},
        {TILE "call dma_set_padding, (4, 2);\n" FLAT(8, 0),
         "expected blank bytes in multiples of the element size 4, got 2"},
        {TILE "add.u64 %d2, %d2, 65536;\n" FLAT(8, 0), "access out of bounds at address 0x"},
        {TILE "call dma_execute, (%d1, %d2, 2);\n", "DMA buffer 2: executed before it was configured"},
        {TILE "mov.u32 %r1, %laneid;\n call dma_configure_flat_unit_stride, (%d1, %d2, %r1, 0);\n",
         "parameter 3 of the intrinsic: expected one value in all lanes, got 0x0 in lane 0 and 0x1 in lane "
         "1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *error = error_of((TinySpec){.dma = "", .body = cases[i].body});
        ck_assert_msg(strstr(error, cases[i].error), "'%s' is not in '%s'", cases[i].error, error);
        ck_assert_ptr_nonnull(strstr(error, "kernel tiny, PTX line"));
        ck_assert_ptr_nonnull(strstr(error, "CTA (0, 0, 0)"));
    }
}
END_TEST

START_TEST(a_machine_without_engines_refuses_kernels_with_intrinsics) {
    const char *error = error_of((TinySpec){.body = TILE FLAT(32, 0)});
    ck_assert_ptr_nonnull(strstr(error, "expected a DmaEngine at the port transfers of sm[0]"));
}
END_TEST

START_TEST(a_shorter_table_has_fewer_buffers) {
    const char *error = error_of((TinySpec){.dma = "buffers=2", .body = TILE FLAT(32, 2)});
    ck_assert_ptr_nonnull(strstr(error, "DMA buffer 2: expected a buffer from 0 to 1"));
}
END_TEST

static void run_to_the_end(void *machine) {
    tiny_finish(machine);
}

START_TEST(the_hang_report_names_the_buffer) {
    TinySpec spec = {.dma = "",
                     .memory = "refuse_from=0 refuse_until=1000000000",
                     .body = TILE FLAT(32, 2) "ld.shared.u32 %r5, [tile+124];\n"};
    TinyMachine *m = tiny_new(spec);
    gpu_hang_limit(m->gpu, 1000);
    tiny_launch(m, spec);
    char *report = NULL;
    ck_assert_ptr_nonnull(strstr(tiny_error(run_to_the_end, m, &report), "kernel tiny hangs"));
    ck_assert_ptr_nonnull(strstr(report, "waits for DMA buffer 2"));
    ck_assert_ptr_nonnull(
        strstr(report, "sm[0].dma: CTA slot 0, buffer 2: element 32 of 32 is the next to be fetched"));
    free(report);
    tiny_free(m);
}
END_TEST

/* --- Marks ----------------------------------------------------------------------------------- */

/* The tile begins with the load, which is its only one, and ends with what comes after the barrier. */
START_TEST(marks_cost_nothing_and_measure_a_tile) {
#define PLAIN(begin, end)                                                                                    \
    TILE "mov.u32 %r1, 1;\n" begin                                                                           \
         "ld.global.u32 %r5, [out];\n st.shared.u32 [tile], %r5;\n bar.sync 0;\n" end                        \
         "ld.shared.u32 %r6, [tile];\n st.global.u32 [out+4096], %r6;\n"
    TinySpec spec = {.threads = 64,
                     .body = PLAIN("call dma_mark_tile_begin_1, ();\n", "call dma_mark_tile_end_1, ();\n")};
    TinyMachine *m = tiny_run(spec);
    spec.body = PLAIN("", "");
    TinyMachine *plain = tiny_run(spec);
    ck_assert_uint_eq(tiny_cycles(m), tiny_cycles(plain));
    ck_assert_uint_eq(m->issue_count, plain->issue_count);
    uint64_t begin = UINT64_MAX, last = 0, end = 0;
    for (uint32_t w = 0; w < 2; w++) {
        uint64_t load = tiny_issued_at(m, w, nth(m, INST_LOAD, 0), 0),
                 use = tiny_issued_at(m, w, nth(m, INST_LOAD, 1), 0);
        if (load < begin) begin = load;
        if (load > last) last = load;
        if (use > end) end = use;
    }
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "tiles"), 1);
    ck_assert_uint_gt(last, begin);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "tile_agen_cycles"), 0);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "tile_mem_cycles"), end - begin);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "tile_cycles"), end - begin);
    ck_assert_uint_gt(tiny_stat(m, "sm[0]", "tile_stall_cycles"), LATENCY - 20);
    ck_assert_uint_eq(tiny_stat(plain, "sm[0]", "tiles"), 0);
    tiny_free(m);
    tiny_free(plain);
}
END_TEST

/* Overhead is up to the first load that requests something: neither one without lanes, nor one of shared
 * memory, nor the second one, which the first delays. */
START_TEST(a_tiles_overhead_ends_with_its_first_global_load) {
    TinyMachine *m = tiny_run((TinySpec){
        .body = TILE "mov.u32 %r1, 1;\n setp.eq.u32 %p1, %r1, 2;\n call dma_mark_tile_begin_1, ();\n"
                     "mov.u32 %r2, 2;\n @%p1 ld.global.u32 %r5, [out];\n ld.shared.u32 %r6, [tile];\n"
                     "add.u32 %r6, %r6, 1;\n ld.global.u32 %r7, [out];\n st.shared.u32 [tile], %r7;\n"
                     "ld.global.u32 %r8, [out+128];\n st.shared.u32 [tile+4], %r8;\n"
                     "call dma_mark_tile_end_1, ();\n mov.u32 %r9, 1;\n"});
    uint32_t none = nth(m, INST_LOAD, 0), first = nth(m, INST_LOAD, 2), second = nth(m, INST_LOAD, 3);
    uint64_t begin = tiny_issued_at(m, 0, none - 1, 0), request = tiny_issued_at(m, 0, first, 0),
             end = tiny_issued_at(m, 0, second + 2, 0);
    ck_assert_uint_gt(request, tiny_issued_at(m, 0, none, 0) + 1);
    ck_assert_uint_gt(tiny_issued_at(m, 0, second, 0), request + LATENCY);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "tile_agen_cycles"), request - begin);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "tile_mem_cycles"), end - request);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "tile_cycles"), end - begin);
    tiny_free(m);
}
END_TEST

/* Nothing is requested: all of it is overhead. */
START_TEST(a_tile_without_a_load_has_no_memory_time) {
    TinyMachine *m = tiny_run((TinySpec){
        .body = TILE "call dma_mark_tile_begin_1, ();\n mov.u32 %r1, 1;\n st.shared.u32 [tile], %r1;\n"
                     "call dma_mark_tile_end_1, ();\n mov.u32 %r2, 1;\n"});
    ck_assert_uint_gt(tiny_stat(m, "sm[0]", "tile_cycles"), 2);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "tile_agen_cycles"), tiny_stat(m, "sm[0]", "tile_cycles"));
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "tile_mem_cycles"), 0);
    tiny_free(m);
}
END_TEST

Suite *dma_suite(void) {
    Suite *suite = suite_create("dma");
    TCase *addresses = tcase_create("address generation");
    tcase_add_test(addresses, a_unit_stride_transfer_sends_a_line_in_each_cycle);
    tcase_add_test(addresses, a_strided_transfer_sends_when_the_segment_changes);
    tcase_add_test(addresses, a_tile_sends_a_request_for_each_row);
    tcase_add_test(addresses, one_address_generator_serves_the_transfers_in_turn);
    tcase_add_test(addresses, the_generator_waits_for_its_port);
    tcase_add_test(addresses, waiting_for_room_behind_another_transfer_is_memory_time);
    tcase_add_test(addresses, constants_are_written_while_the_requests_are_in_flight);
    suite_add_tcase(suite, addresses);
    TCase *waiting = tcase_create("waiting");
    tcase_add_test(waiting, a_load_waits_until_its_transfer_is_complete_to_the_cycle);
    tcase_add_test(waiting, a_load_waits_for_a_transfer_that_another_scheduler_starts_in_the_same_cycle);
    tcase_add_test(waiting, a_load_beside_the_range_does_not_wait);
    tcase_add_test(waiting, every_way_to_read_is_checked);
    tcase_add_test(waiting, without_the_check_a_load_reads_stale_data);
    tcase_add_test(waiting, the_first_warp_starts_and_a_start_waits_for_the_one_before);
    tcase_add_test(waiting, a_cta_does_not_end_before_its_transfers);
    tcase_add_test(waiting, cycles_in_which_all_ctas_wait_for_transfers_are_counted);
    suite_add_tcase(suite, waiting);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, wrong_use_is_an_error_that_names_kernel_line_cta_and_buffer);
    tcase_add_test(errors, a_machine_without_engines_refuses_kernels_with_intrinsics);
    tcase_add_test(errors, a_shorter_table_has_fewer_buffers);
    tcase_add_test(errors, the_hang_report_names_the_buffer);
    suite_add_tcase(suite, errors);
    TCase *marks = tcase_create("marks");
    tcase_add_test(marks, marks_cost_nothing_and_measure_a_tile);
    tcase_add_test(marks, a_tiles_overhead_ends_with_its_first_global_load);
    tcase_add_test(marks, a_tile_without_a_load_has_no_memory_time);
    suite_add_tcase(suite, marks);
    return suite;
}
