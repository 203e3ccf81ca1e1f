/* The GPU as its host sees it: what a launch checks, how a run ends, faults and hangs. */
#include "core/gpu/device/dispatcher.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

#define ASSERT_MENTIONS(text, part)                                                                          \
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" does not mention \"%s\"", text, part)

/* --- What a launch checks -------------------------------------------------------------------- */

typedef struct {
    TinyMachine *machine;
    Launch launch;
} Attempt;

static void attempt_launch(void *context) {
    const Attempt *attempt = context;
    uint32_t word = 0;
    Launch launch = attempt->launch;
    launch.params = (uint8_t *)&word;
    gpu_launch(attempt->machine->gpu, module_kernel(attempt->machine->module, "tiny"), &launch);
}

/* Launching is a user error with `part` in its message, and the machine is none the worse for it. */
static void assert_rejected(TinySpec spec, Launch launch, const char *part) {
    if (!spec.body) spec.body = "exit;";
    Attempt attempt = {tiny_new(spec), launch};
    const char *message = tiny_error(attempt_launch, &attempt, NULL);
    ASSERT_MENTIONS(message, "kernel tiny");
    ASSERT_MENTIONS(message, part);
    ck_assert(dispatcher_idle(attempt.machine->dispatcher));
    tiny_free(attempt.machine);
}

static void assert_accepted(TinySpec spec, Launch launch) {
    if (!spec.body) spec.body = "exit;";
    Attempt attempt = {tiny_new(spec), launch};
    attempt_launch(&attempt);
    tiny_finish(attempt.machine);
    tiny_free(attempt.machine);
}

#define GRID(x, y, z)  .grid = {x, y, z}
#define BLOCK(x, y, z) .block = {x, y, z}

START_TEST(grid_and_block_have_at_least_one_in_each_dimension) {
    for (int i = 0; i < 3; i++) {
        Launch no_grid = {GRID(1, 1, 1), BLOCK(1, 1, 1)}, no_block = no_grid;
        no_grid.grid[i] = 0;
        no_block.block[i] = 0;
        assert_rejected((TinySpec){0}, no_grid, "expected grid and block of 1 or more in each dimension");
        assert_rejected((TinySpec){0}, no_block, "expected grid and block of 1 or more in each dimension");
    }
}
END_TEST

START_TEST(a_cta_has_up_to_1024_threads) {
    assert_accepted((TinySpec){0}, (Launch){GRID(1, 1, 1), BLOCK(1024, 1, 1)});
    assert_accepted((TinySpec){0}, (Launch){GRID(1, 1, 1), BLOCK(8, 16, 8)});
    assert_rejected((TinySpec){0}, (Launch){GRID(1, 1, 1), BLOCK(1025, 1, 1)},
                    "block: expected up to 1024 threads");
    assert_rejected((TinySpec){0}, (Launch){GRID(1, 1, 1), BLOCK(8, 16, 9)},
                    "block: expected up to 1024 threads");
    /* Products that are small modulo 2^32 and 2^64 */
    assert_rejected((TinySpec){0}, (Launch){GRID(1, 1, 1), BLOCK(65536, 65536, 1)},
                    "block: expected up to 1024 threads");
    assert_rejected((TinySpec){0}, (Launch){GRID(1, 1, 1), BLOCK(1u << 31, 1u << 31, 4)},
                    "block: expected up to 1024 threads");
}
END_TEST

START_TEST(a_grid_has_the_limits_of_cuda) {
    assert_rejected((TinySpec){0}, (Launch){GRID(1u << 31, 1, 1), BLOCK(1, 1, 1)},
                    "grid: expected up to (2147483647");
    assert_rejected((TinySpec){0}, (Launch){GRID(1, 65536, 1), BLOCK(1, 1, 1)},
                    "grid: expected up to (2147483647");
    assert_rejected((TinySpec){0}, (Launch){GRID(1u << 31, 1u << 31, 4), BLOCK(1, 1, 1)},
                    "grid: expected up to (2147483647");
}
END_TEST

START_TEST(a_cta_must_fit_the_warps) {
    assert_accepted((TinySpec){.sm = "warps=4"}, (Launch){GRID(2, 1, 1), BLOCK(128, 1, 1)});
    assert_rejected((TinySpec){.sm = "warps=4"}, (Launch){GRID(1, 1, 1), BLOCK(129, 1, 1)},
                    "does not fit on sm[0]: expected up to 4 warps per CTA, got 5");
}
END_TEST

START_TEST(a_cta_must_fit_the_registers) {
    Launch launch = {GRID(1, 1, 1), BLOCK(256, 1, 1), .registers = 128};
    assert_accepted((TinySpec){0}, launch);
    launch.registers = 129;
    assert_rejected((TinySpec){0}, launch,
                    "expected up to 32768 registers per CTA, got 33792 (132 per thread)");
    launch.registers = 1u << 27; /* 2^32 per warp */
    assert_rejected((TinySpec){0}, launch, "registers");
    launch.registers = UINT32_MAX;
    assert_rejected((TinySpec){0}, launch, "registers");
}
END_TEST

START_TEST(a_kernel_that_promises_the_size_of_its_ctas_gets_as_many_registers_as_fit) {
    TinySpec spec = {.directives = ".maxntid 256, 1, 1"};
    Launch launch = {GRID(1, 1, 1), BLOCK(256, 1, 1), .registers = 340};
    assert_accepted(spec, launch);
    launch.registers = UINT32_MAX;
    assert_accepted(spec, launch);
}
END_TEST

START_TEST(a_kernel_that_requires_extents_of_its_ctas_is_refused_with_others) {
    TinySpec spec = {.directives = ".reqntid 64, 2"};
    assert_accepted(spec, (Launch){GRID(1, 1, 1), BLOCK(64, 2, 1)});
    assert_rejected(spec, (Launch){GRID(1, 1, 1), BLOCK(128, 1, 1)},
                    "block: expected (64, 2, 1) (.reqntid of the kernel), got (128, 1, 1)");
    assert_rejected(spec, (Launch){GRID(1, 1, 1), BLOCK(32, 2, 1)},
                    "block: expected (64, 2, 1) (.reqntid of the kernel), got (32, 2, 1)");
    spec.directives = ".maxntid 64, 2";
    assert_accepted(spec, (Launch){GRID(1, 1, 1), BLOCK(128, 1, 1)});
    assert_accepted(spec, (Launch){GRID(1, 1, 1), BLOCK(32, 1, 1)});
    assert_rejected(spec, (Launch){GRID(1, 1, 1), BLOCK(129, 1, 1)},
                    "block: expected up to 128 threads (.maxntid of the kernel), got 129");
}
END_TEST

START_TEST(a_cta_must_fit_the_shared_memory) {
    Launch launch = {GRID(1, 1, 1), BLOCK(32, 1, 1), .shared_bytes = 48 << 10};
    assert_accepted((TinySpec){0}, launch);
    launch.shared_bytes++;
    assert_rejected((TinySpec){0}, launch,
                    "expected up to 49152 bytes of shared memory per CTA, got 49280, in pieces of 128");
    launch.shared_bytes = 40 << 10;
    assert_rejected((TinySpec){.body = ".shared .b8 buffer[8320];\n mov.u32 %r1, buffer;\n"}, launch,
                    "shared memory per CTA, got 49280");
    launch.shared_bytes = UINT32_MAX;
    assert_rejected((TinySpec){0}, launch, "shared memory");
}
END_TEST

START_TEST(a_cta_must_fit_the_shared_memory_beside_what_is_reserved_for_it) {
    TinySpec spec = {.sm = "shared=49152 reserved_shared=1024"};
    Launch launch = {GRID(1, 1, 1), BLOCK(32, 1, 1), .shared_bytes = 47 << 10};
    assert_accepted(spec, launch);
    launch.shared_bytes++;
    assert_rejected(spec, launch,
                    "expected up to 48128 bytes of shared memory per CTA, got 48256, in pieces of 128");
}
END_TEST

/* The most CTAs that each of two SMs has had at once, of a kernel of 20. */
static void run_on_two(TinyMachine *m, TinySpec spec, uint64_t most[2]) {
    spec.ctas = 20;
    tiny_launch(m, spec);
    while (tiny_step(m))
        for (uint32_t i = 0; i < 2; i++) {
            uint64_t resident = m->sm[i]->ctas_started - m->sm[i]->ctas_finished;
            most[i] = resident > most[i] ? resident : most[i];
        }
    ck_assert_uint_eq(m->sm[0]->ctas_finished + m->sm[1]->ctas_finished, 20);
}

START_TEST(an_sm_holds_as_many_ctas_as_fit_it) {
    TinySpec spec = {.body = "exit;", .sms = 2};
    TinyMachine *m = tiny_new(spec);
    uint64_t most[2] = {0};
    m->sm[1]->ctas = 3;
    run_on_two(m, spec, most);
    ck_assert_uint_eq(most[0], 8);
    ck_assert_uint_eq(most[1], 3);
    tiny_free(m);
}
END_TEST

START_TEST(what_is_reserved_for_each_cta_leaves_less_shared_memory_for_others) {
    static const struct { uint32_t shared_bytes, most; } cases[] = {{0, 5}, {128, 4}, {896, 2}};
    for (int i = 0; i < 3; i++) {
        TinySpec spec = {.body = "exit;",
                         .sms = 2,
                         .sm = "shared=5120 reserved_shared=1024",
                         .shared_bytes = cases[i].shared_bytes};
        TinyMachine *m = tiny_new(spec);
        uint64_t most[2] = {0};
        run_on_two(m, spec, most);
        ck_assert_uint_eq(most[0], cases[i].most);
        tiny_free(m);
    }
}
END_TEST

START_TEST(an_sm_that_a_cta_does_not_fit_gets_none) {
    TinySpec spec = {.body = "exit;", .sms = 2};
    TinyMachine *m = tiny_new(spec);
    uint64_t most[2] = {0};
    m->sm[0]->warps = 0;
    run_on_two(m, spec, most);
    ck_assert_uint_eq(most[0], 0);
    ck_assert_uint_eq(most[1], 8);
    tiny_free(m);
}
END_TEST

START_TEST(local_memory_is_limited_per_thread) {
    Launch launch = {GRID(1, 1, 1), BLOCK(256, 1, 1)};
    assert_rejected((TinySpec){.body = ".local .b8 stack[16777216];\n mov.u64 %d1, stack;\n"}, launch,
                    "expected up to 524288 bytes of local memory per thread, got 16777216");
    launch.block[0] = 1;
    assert_accepted(
        (TinySpec){
            .body = ".local .b8 stack[524288];\n mov.u64 %d1, stack;\n st.local.u8 [%d1+524287], 1;\n"},
        launch);
}
END_TEST

START_TEST(module_variables_lie_at_their_alignment) {
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.global .b8 small[3];\n"
                               ".global .align 4096 .b8 large[3];\n.const .align 1024 .u32 constant = 7;\n"
                               ".visible .entry k() { ret; }\n";
    TinyMachine *m = tiny_new((TinySpec){.body = "exit;"});
    Module *module = module_parse("aligned.ptx", text, sizeof text - 1);
    gpu_place_module(m->gpu, module);
    ck_assert_uint_eq(module->variables[1].address % 4096, 0);
    ck_assert_uint_eq(module->variables[2].address % 1024, 0);
    module_free(module);
    tiny_free(m);
}
END_TEST

START_TEST(a_kernel_is_launched_when_the_one_before_is_done) {
    TinySpec spec = {.body = "exit;"};
    Attempt attempt = {tiny_new(spec), {GRID(1, 1, 1), BLOCK(32, 1, 1)}};
    tiny_launch(attempt.machine, spec);
    tiny_step_to(attempt.machine, 5);
    ASSERT_MENTIONS(tiny_error(attempt_launch, &attempt, NULL), "kernel tiny is still running");
    tiny_finish(attempt.machine);
    tiny_launch(attempt.machine, spec);
    tiny_finish(attempt.machine);
    tiny_free(attempt.machine);
}
END_TEST

static void elaborate(void *gpu) {
    gpu_elaborate(gpu);
}

START_TEST(a_machine_needs_a_dispatcher_and_an_sm) {
    class_register_all();
    Sim *sim = sim_new("bare");
    sim_clock(sim, "core", 1000000000);
    Gpu *gpu = gpu_new(sim, 1 << 20);
    ASSERT_MENTIONS(tiny_error(elaborate, gpu, NULL), "machine bare: expected a Dispatcher, got none");
    tiny_add(sim, "Dispatcher", "dispatcher", "sms=1");
    ASSERT_MENTIONS(tiny_error(elaborate, gpu, NULL), "machine bare: expected an SM or more, got none");
    sim_free(sim);
    gpu_free(gpu);
}
END_TEST

static void assert_machine_rejected(const char *sm_parameters, const char *part) {
    class_register_all();
    Sim *sim = sim_new("bare");
    sim_clock(sim, "core", 1000000000);
    Gpu *gpu = gpu_new(sim, 1 << 20);
    SimObject *dispatcher = tiny_add(sim, "Dispatcher", "dispatcher", "sms=1");
    SimObject *sm = tiny_add(sim, "SM", "sm", sm_parameters);
    sim_wire(sim, dispatcher, "sm[0]", sm, "dispatch", (LinkOptions){0}, (LinkOptions){0});
    ASSERT_MENTIONS(tiny_error(elaborate, gpu, NULL), part);
    sim_free(sim);
    gpu_free(gpu);
}

/* Otherwise an instruction's write-back could lie beyond what an SM keeps track of. */
START_TEST(timings_that_an_sm_cannot_hold_are_user_errors) {
    assert_machine_rejected("dp_div_interval=1000", "(9 collectors and latches of sfu");
}
END_TEST

/* The slowest that is legal: nothing is lost. */
START_TEST(the_slowest_legal_units_still_work) {
    char body[2048] = "";
    for (uint32_t i = 0; i < 20; i++)
        sprintf(body + strlen(body), "add.u32 %%r%u, %%r1, 1;\n rcp.approx.f32 %%f%u, %%f1;\n", 2 + i, 2 + i);
    TinySpec spec = {.threads = 1024,
                     .body = body,
                     .sm = "int_add_latency=1000 int_add_interval=100 sfu_latency=1000 sfu_interval=100 "
                           "dp_div_interval=100"};
    TinyMachine *m = tiny_run(spec);
    /* 32 warps, 20 adds and 20 reciprocals each: the SFU starts one in 100 cycles, two SP pipelines two. */
    ck_assert_uint_ge(tiny_cycles(m), 639 * 100 + 1000);
    ck_assert_uint_le(tiny_cycles(m), 641 * 100 + 1000);
    tiny_free(m);
}
END_TEST

START_TEST(slow_units_that_take_an_instruction_each_cycle_have_over_a_thousand_results_in_flight) {
    char body[2048] = "";
    for (uint32_t i = 0; i < 20; i++)
        sprintf(body + strlen(body), "add.u32 %%r%u, %%r1, 1;\n rcp.approx.f32 %%f%u, %%f1;\n", 2 + i, 2 + i);
    TinySpec spec = {.threads = 1024,
                     .body = body,
                     .sm = "int_add_latency=1000 sfu_latency=1000 sp_units=4 sfu_units=4 sfu_interval=1 "
                           "dp_div_interval=8"};
    TinyMachine *m = tiny_run(spec);
    /* 32 warps, 40 results each, at most two issue per cycle; the last comes 1006 cycles after its issue. Fetch comes
     * before the first, and a few exits between them. */
    ck_assert_uint_ge(tiny_cycles(m), 32 * 40 / 2 + 1006);
    ck_assert_uint_le(tiny_cycles(m), 32 * 40 / 2 + 1006 + 6);
    tiny_free(m);
}
END_TEST

/* --- How a run ends -------------------------------------------------------------------------- */

START_TEST(a_run_stops_at_its_limit_and_goes_on) {
    TinySpec spec = {.body = "div.u32 %r1, %r2, 3;\n mov.u32 %r3, %r1;\n", .quantum = 4};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    ck_assert_int_eq(gpu_run(m->gpu, 20), RUN_CYCLE_LIMIT);
    ck_assert_uint_eq(gpu_cycle(m->gpu), 20);
    ck_assert_int_eq(gpu_run(m->gpu, 21), RUN_CYCLE_LIMIT); /* to the end of the quantum */
    ck_assert_uint_eq(gpu_cycle(m->gpu), 24);
    ck_assert_int_eq(gpu_run(m->gpu, 10), RUN_CYCLE_LIMIT);
    ck_assert_uint_eq(gpu_cycle(m->gpu), 24);
    ck_assert_int_eq(gpu_run(m->gpu, 100000), RUN_DONE);
    /* The move issues in 154, the exit behind it in 156; whole quanta. */
    ck_assert_uint_eq(tiny_cycles(m), (156 + TINY_AFTER_EXIT + 3) / 4 * 4);
    tiny_free(m);
}
END_TEST

START_TEST(a_kernel_that_never_ends_reaches_the_limit) {
    TinySpec spec = {.body = "LOOP: add.u32 %r1, %r1, 1;\n bra LOOP;\n"};
    TinyMachine *m = tiny_new(spec);
    gpu_hang_limit(m->gpu, 1000); /* it is busy: not a hang */
    tiny_launch(m, spec);
    ck_assert_int_eq(gpu_run(m->gpu, 100000), RUN_CYCLE_LIMIT);
    ck_assert_uint_eq(gpu_cycle(m->gpu), 100000);
    tiny_free(m);
}
END_TEST

START_TEST(a_run_can_be_interrupted_and_goes_on) {
    TinySpec spec = {.body = "exit;"};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    gpu_interrupt(m->gpu);
    ck_assert_int_eq(gpu_run(m->gpu, 1000), RUN_INTERRUPTED);
    ck_assert_int_eq(gpu_run(m->gpu, 1000), RUN_DONE);
    tiny_free(m);
}
END_TEST

static void interrupt_gpu(void *context, Sim *sim) {
    (void)sim;
    gpu_interrupt(context);
}

START_TEST(an_interrupt_stops_at_the_end_of_the_quantum) {
    TinySpec spec = {.body = "LOOP: add.u32 %r1, %r1, 1;\n bra LOOP;\n"};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    sim_every(m->sim, 500, interrupt_gpu, m->gpu);
    ck_assert_int_eq(gpu_run(m->gpu, 100000), RUN_INTERRUPTED);
    ck_assert_uint_eq(gpu_cycle(m->gpu), 500);
    tiny_free(m);
}
END_TEST

START_TEST(running_again_after_the_end_changes_nothing) {
    TinySpec spec = {.body = "mov.u32 %r1, 1;\n exit;", .ctas = 3};
    TinyMachine *m = tiny_new(spec);
    ck_assert_int_eq(gpu_run(m->gpu, 1000), RUN_DONE); /* nothing launched */
    tiny_launch(m, spec);
    ck_assert_int_eq(gpu_run(m->gpu, 1000), RUN_DONE);
    LaunchResult first = gpu_last_launch(m->gpu);
    gpu_drain(m->gpu);
    ck_assert_int_eq(gpu_run(m->gpu, 1000), RUN_DONE);
    LaunchResult second = gpu_last_launch(m->gpu);
    ck_assert_str_eq(second.kernel, "tiny");
    ck_assert_uint_eq(second.cycles, first.cycles);
    ck_assert_uint_eq(second.warp_instructions, 6);
    ck_assert_uint_eq(second.thread_instructions, 6 * 32);
    ck_assert_uint_eq(second.ctas, 3);
    tiny_free(m);
}
END_TEST

/* One CTA at a time. */
START_TEST(progress_counts_finished_ctas) {
    TinySpec spec = {.body = "exit;", .ctas = 5, .sm = "ctas=1"};
    TinyMachine *m = tiny_new(spec);
    uint64_t seen = 0;
    ck_assert_str_eq(gpu_progress(m->gpu).kernel, "");
    tiny_launch(m, spec);
    do {
        GpuProgress progress = gpu_progress(m->gpu);
        ck_assert_str_eq(progress.kernel, "tiny");
        ck_assert_uint_eq(progress.ctas, 5);
        ck_assert_uint_le(progress.ctas_done - seen, 1);
        seen = progress.ctas_done;
    } while (tiny_step(m));
    ck_assert_uint_eq(gpu_progress(m->gpu).ctas_done, 5);
    ck_assert_uint_eq(seen, 4);
    tiny_free(m);
}
END_TEST

static void count_call(void *calls) {
    ++*(uint32_t *)calls;
}

START_TEST(progress_is_reported_while_it_runs) {
    TinySpec spec = {.body = "LOOP: add.u32 %r1, %r1, 1;\n setp.lt.u32 %p1, %r1, 10000;\n @%p1 bra LOOP;\n"};
    TinyMachine *m = tiny_new(spec);
    uint32_t calls = 0;
    gpu_on_progress(m->gpu, 0, count_call, &calls);
    tiny_launch(m, spec);
    ck_assert_int_eq(gpu_run(m->gpu, UINT64_MAX), RUN_DONE);
    ck_assert_uint_gt(calls, 1);
    tiny_free(m);
}
END_TEST

/* --- Faults and hangs ------------------------------------------------------------------------ */

static void finish(void *machine) {
    tiny_finish(machine);
}

static const char *fault_of(TinySpec spec, TinyMachine **machine) {
    *machine = tiny_new(spec);
    tiny_launch(*machine, spec);
    return tiny_error(finish, *machine, NULL);
}

/* CTA 1, thread 5 + 32 leaves the buffer. */
START_TEST(a_load_out_of_bounds_names_kernel_line_cta_thread_and_address) {
    TinyMachine *m;
    const char *message = fault_of(
        (TinySpec){.ctas = 2,
                   .threads = 64,
                   .body = "mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n setp.eq.u32 %p1, %r1, 37;\n"
                           "setp.eq.and.u32 %p1, %r2, 1, %p1;\n mov.u64 %d1, out;\n"
                           "@%p1 add.u64 %d1, %d1, 65536;\n"
                           "ld.global.u32 %r3, [%d1];\n"},
        &m);
    char expected[160];
    ASSERT_MENTIONS(message, "kernel tiny, PTX line ");
    sprintf(expected, "PTX line %d:", TINY_BODY_LINE + 6);
    ASSERT_MENTIONS(message, expected);
    sprintf(expected, "access out of bounds at address 0x%lx, CTA (1, 0, 0), thread (37, 0, 0), sm[0]",
            m->out + 65536);
    ASSERT_MENTIONS(message, expected);
    sprintf(
        expected,
        "right past the end of the allocation of 65536 bytes at 0x%lx (variable out); in ld.global.u32 %%r3, "
        "[%%d1];",
        m->out);
    ASSERT_MENTIONS(message, expected);
    tiny_free(m);
}
END_TEST

START_TEST(the_thread_of_a_fault_has_three_coordinates) {
    TinySpec spec = {
        .body = "mov.u32 %r1, %tid.z;\n setp.eq.u32 %p1, %r1, 3;\n @%p1 st.global.u32 [0], %r1;\n"};
    TinyMachine *m = tiny_new(spec);
    uint32_t word = 0;
    gpu_launch(m->gpu, module_kernel(m->module, "tiny"),
               &(Launch){GRID(1, 1, 1), BLOCK(4, 3, 5), .params = (uint8_t *)&word});
    ASSERT_MENTIONS(tiny_error(finish, m, NULL), "at address 0x0, CTA (0, 0, 0), thread (0, 0, 3)");
    tiny_free(m);
}
END_TEST

START_TEST(misaligned_accesses_and_traps_are_faults) {
    TinyMachine *m;
    char expected[80];
    const char *message = fault_of((TinySpec){.body = "st.global.u32 [out+2], %r1;\n"}, &m);
    sprintf(expected, "misaligned access to address 0x%lx", m->out + 2);
    ASSERT_MENTIONS(message, expected);
    tiny_free(m);
    message = fault_of((TinySpec){.body = "mov.u32 %r1, 1;\n trap;\n"}, &m);
    sprintf(expected, "kernel tiny, PTX line %d: trap", TINY_BODY_LINE + 1);
    ASSERT_MENTIONS(message, expected);
    tiny_free(m);
}
END_TEST

START_TEST(atomics_and_shared_memory_are_checked_too) {
    TinyMachine *m;
    ASSERT_MENTIONS(
        fault_of((TinySpec){.l2 = true, .body = "atom.global.add.u32 %r1, [out+65536], 1;\n"}, &m),
        "access out of bounds");
    tiny_free(m);
    ASSERT_MENTIONS(
        fault_of((TinySpec){.shared_bytes = 128, .body = "ld.shared.u32 %r1, [128];\n"}, &m),
        "access out of bounds at address 0x80 of shared memory; the CTA has 128 bytes, CTA (0, 0, 0), thread "
        "(0, 0, 0), sm[0]; in ld.shared.u32 %r1, [128];");
    tiny_free(m);
    ASSERT_MENTIONS(
        fault_of(
            (TinySpec){.body = ".local .b8 stack[16];\n mov.u64 %d1, stack;\n ld.local.u32 %r1, [%d1+16];\n"},
            &m),
        "access out of bounds at address 0x10 of local memory; the thread has 16 bytes, ");
    tiny_free(m);
    ASSERT_MENTIONS(fault_of((TinySpec){.shared_bytes = 128, /* its generic address */
                                        .body = "mov.u64 %d1, 16777216;\n ld.u32 %r1, [%d1+132];\n"},
                             &m),
                    "access out of bounds at address 0x84 of shared memory; the CTA has 128 bytes, ");
    tiny_free(m);
    ASSERT_MENTIONS(fault_of((TinySpec){.l2 = true,
                                        .shared_bytes = 128,
                                        .body = "mov.u64 %d1, 16777216;\n atom.add.u32 %r1, [%d1+136], 1;\n"},
                             &m),
                    "access out of bounds at address 0x88 of shared memory; the CTA has 128 bytes, ");
    tiny_free(m);
}
END_TEST

static void run_on(void *machine) {
    gpu_run(((TinyMachine *)machine)->gpu, UINT64_MAX);
}

/* The memory takes nothing for ever so long: every part says what it holds. */
START_TEST(a_memory_that_does_not_answer_is_reported_as_a_hang) {
    TinySpec spec = {.body = "ld.global.u32 %r1, [out];\n ld.global.u32 %r2, [out];\n mov.u32 %r3, %r1;\n",
                     .request_depth = 1,
                     .memory = "refuse_until=4000000000"};
    TinyMachine *m = tiny_new(spec);
    gpu_hang_limit(m->gpu, 1000);
    tiny_launch(m, spec);
    char *report;
    const char *message = tiny_error(run_on, m, &report);
    ASSERT_MENTIONS(message, "kernel tiny hangs");
    ASSERT_MENTIONS(
        report,
        "sm[0]: warp 0 of CTA (0, 0, 0), lanes 0xffffffff at PTX line 14, waits for a load or an atomic; 2 "
        "instructions in flight");
    ASSERT_MENTIONS(report, "sm[0].lsu: warp 0, instruction 1: access 1 of 1");
    ASSERT_MENTIONS(report, "sm[0].lsu: warp 0, instruction 0 waits for 1 answers");
    ASSERT_MENTIONS(report, "link sm[0].lsu.mem -> memory[0].cpu holds 1 of 1 messages");
    free(report);
    tiny_free(m);
}
END_TEST

START_TEST(a_fence_without_its_acknowledgement_is_named_in_the_report) {
    TinySpec spec = {.body = "st.global.u32 [out], 1;\n membar.gl;\n", .memory = "refuse_until=4000000000"};
    TinyMachine *m = tiny_new(spec);
    char *report = NULL;
    size_t size = 0;
    tiny_launch(m, spec);
    tiny_step_to(m, 500);
    FILE *out = open_memstream(&report, &size);
    sim_report(m->sim, out);
    fclose(out);
    ASSERT_MENTIONS(report, "waits at a fence for its writes; 1 instructions in flight");
    free(report);
    tiny_free(m);
}
END_TEST

Suite *gpu_suite(void) {
    Suite *suite = suite_create("gpu");
    TCase *launch = tcase_create("launch");
    tcase_add_test(launch, grid_and_block_have_at_least_one_in_each_dimension);
    tcase_add_test(launch, a_cta_has_up_to_1024_threads);
    tcase_add_test(launch, a_grid_has_the_limits_of_cuda);
    tcase_add_test(launch, a_cta_must_fit_the_warps);
    tcase_add_test(launch, a_cta_must_fit_the_registers);
    tcase_add_test(launch, a_kernel_that_promises_the_size_of_its_ctas_gets_as_many_registers_as_fit);
    tcase_add_test(launch, a_kernel_that_requires_extents_of_its_ctas_is_refused_with_others);
    tcase_add_test(launch, a_cta_must_fit_the_shared_memory);
    tcase_add_test(launch, a_cta_must_fit_the_shared_memory_beside_what_is_reserved_for_it);
    tcase_add_test(launch, what_is_reserved_for_each_cta_leaves_less_shared_memory_for_others);
    tcase_add_test(launch, an_sm_holds_as_many_ctas_as_fit_it);
    tcase_add_test(launch, an_sm_that_a_cta_does_not_fit_gets_none);
    tcase_add_test(launch, local_memory_is_limited_per_thread);
    tcase_add_test(launch, module_variables_lie_at_their_alignment);
    tcase_add_test(launch, a_kernel_is_launched_when_the_one_before_is_done);
    suite_add_tcase(suite, launch);
    TCase *machine = tcase_create("machine");
    tcase_add_test(machine, a_machine_needs_a_dispatcher_and_an_sm);
    tcase_add_test(machine, timings_that_an_sm_cannot_hold_are_user_errors);
    tcase_add_test(machine, the_slowest_legal_units_still_work);
    tcase_add_test(machine,
                   slow_units_that_take_an_instruction_each_cycle_have_over_a_thousand_results_in_flight);
    suite_add_tcase(suite, machine);
    TCase *run = tcase_create("run");
    tcase_add_test(run, a_run_stops_at_its_limit_and_goes_on);
    tcase_add_test(run, a_kernel_that_never_ends_reaches_the_limit);
    tcase_add_test(run, a_run_can_be_interrupted_and_goes_on);
    tcase_add_test(run, an_interrupt_stops_at_the_end_of_the_quantum);
    tcase_add_test(run, running_again_after_the_end_changes_nothing);
    tcase_add_test(run, progress_counts_finished_ctas);
    tcase_add_test(run, progress_is_reported_while_it_runs);
    suite_add_tcase(suite, run);
    TCase *faults = tcase_create("faults");
    tcase_add_test(faults, a_load_out_of_bounds_names_kernel_line_cta_thread_and_address);
    tcase_add_test(faults, the_thread_of_a_fault_has_three_coordinates);
    tcase_add_test(faults, misaligned_accesses_and_traps_are_faults);
    tcase_add_test(faults, atomics_and_shared_memory_are_checked_too);
    tcase_add_test(faults, a_memory_that_does_not_answer_is_reported_as_a_hang);
    tcase_add_test(faults, a_fence_without_its_acknowledgement_is_named_in_the_report);
    suite_add_tcase(suite, faults);
    return suite;
}
