/* Handing out CTAs: how many at once, where, in which order, when again. */
#include "core/gpu/device/dispatcher.h"
#include "core/sim/event.h"
#include "core/sim/method.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

/* A kernel of some 150 cycles. */
static const char *const slow = "div.u32 %r1, %r2, 3;\n mov.u32 %r3, %r1;\n";

static uint64_t resident(const TinyMachine *machine, uint32_t sm) {
    return machine->sm[sm]->ctas_started - machine->sm[sm]->ctas_finished;
}

/* The most CTAs of `spec` that sm[0] ever holds at once. */
static uint64_t most_resident(TinySpec spec) {
    uint64_t most = 0;
    bool running = true;
    spec.body = slow;
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    while (running) {
        running = tiny_step(m);
        if (resident(m, 0) > most) most = resident(m, 0);
    }
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "ctas_finished"), spec.ctas);
    tiny_finish(m);
    tiny_free(m);
    return most;
}

/* --- Where and when -------------------------------------------------------------------------- */

/* Handed out in cycles 0, 1, 2, 3; started one cycle later. */
START_TEST(an_sm_gets_one_cta_per_cycle) {
    TinySpec spec = {.body = slow, .ctas = 4};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    for (uint64_t cycle = 0; cycle < 10; cycle++) {
        tiny_step(m);
        ck_assert_uint_eq(tiny_stat(m, "sm[0]", "ctas_started"), cycle < 4 ? cycle : 4);
    }
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

START_TEST(all_sms_get_one_in_the_same_cycle) {
    TinySpec spec = {.body = slow, .ctas = 7, .sms = 3};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    static const uint32_t started[][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 2, 2}, {3, 2, 2}};
    for (uint32_t cycle = 0; cycle < 5; cycle++) {
        tiny_step(m);
        for (uint32_t i = 0; i < 3; i++)
            ck_assert_uint_eq(m->sm[i]->ctas_started, started[cycle][i]);
    }
    /* In turn: CTA n on SM n mod 3, in slot n / 3. */
    for (uint32_t n = 0; n < 7; n++)
        ck_assert_uint_eq(m->sm[n % 3]->cta[n / 3].ctaid[0], n);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* x first, then y, then z. */
START_TEST(ctas_are_handed_out_x_first) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow});
    uint32_t word = 0;
    gpu_launch(m->gpu, module_kernel(m->module, "tiny"),
               &(Launch){.grid = {2, 2, 2}, .block = {32, 1, 1}, .params = (uint8_t *)&word});
    tiny_step_to(m, 12);
    for (uint32_t n = 0; n < 8; n++) {
        const uint32_t *ctaid = m->sm[0]->cta[n].ctaid;
        ck_assert(ctaid[0] == n % 2 && ctaid[1] == n / 2 % 2 && ctaid[2] == n / 4);
    }
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

START_TEST(every_cta_runs_once) {
    TinySpec spec = {.ctas = 100,
                     .sms = 3,
                     .l2 = true,
                     .races = true,
                     .body = "mov.u32 %r1, %ctaid.x;\n mul.wide.u32 %d1, %r1, 4;\n mov.u64 %d2, out;\n"
                             "add.u64 %d1, %d1, %d2;\n mov.u32 %r3, %laneid;\n setp.ne.u32 %p1, %r3, 0;\n"
                             "@%p1 exit;\n red.global.add.u32 [%d1], 1;\n"};
    TinyMachine *m = tiny_run(spec);
    for (uint32_t cta = 0; cta < 100; cta++)
        ck_assert_uint_eq(tiny_word(m, cta), 1);
    ck_assert_uint_eq(tiny_word(m, 100), 0);
    ck_assert_uint_eq(tiny_stat(m, "dispatcher", "ctas_dispatched"), 100);
    ck_assert_uint_eq(gpu_last_launch(m->gpu).ctas, 100);
    tiny_free(m);
}
END_TEST

/* CTA 0 divides, the others leave at once: with one CTA per SM, SM 1 gets all the others. */
START_TEST(an_sm_that_is_done_gets_the_next_without_waiting_for_its_turn) {
    TinySpec spec = {.ctas = 6,
                     .sms = 2,
                     .sm = "ctas=1",
                     .body = "mov.u32 %r1, %ctaid.x;\n setp.ne.u32 %p1, %r1, 0;\n @%p1 exit;\n"
                             "div.u32 %r2, %r1, 3;\n mov.u32 %r3, %r2;\n"};
    TinyMachine *m = tiny_run(spec);
    ck_assert_uint_eq(m->sm[0]->ctas_started, 1);
    ck_assert_uint_eq(m->sm[1]->ctas_started, 5);
    tiny_free(m);
}
END_TEST

/* --- Placements and orders ------------------------------------------------------------------- */

/* The SM that holds each of the first `count` CTAs of a grid of one row, as digits, when `cycles` have passed. */
static void expect_places(const char *dispatcher, uint32_t ctas, uint64_t cycles, const char *want) {
    TinySpec spec = {.body = slow, .ctas = ctas, .sms = 3, .sm = "ctas=4", .dispatcher = dispatcher};
    char places[64] = "";
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    for (uint64_t i = 0; i < cycles; i++)
        tiny_step(m);
    for (uint32_t i = 0; want[i]; i++)
        places[i] = '-';
    for (uint32_t sm = 0; sm < 3; sm++)
        for (uint32_t slot = 0; slot < m->sm[sm]->ctas_started; slot++)
            places[m->sm[sm]->cta[slot].ctaid[0]] = (char)('0' + sm);
    ck_assert_str_eq(places, want);
    tiny_finish(m);
    tiny_free(m);
}

/* Started one cycle after they were handed out. */
START_TEST(depth_first_fills_an_sm_before_the_next_gets_one) {
    expect_places("placement=depth_first", 9, 4, "000------");
    expect_places("placement=depth_first", 9, 5, "00001----"); /* in the cycle in which the first is full */
    expect_places("placement=depth_first", 9, 7, "0000111--");
    expect_places("placement=depth_first", 9, 8, "000011112");
}
END_TEST

START_TEST(blocks_give_an_sm_ctas_that_follow_each_other) {
    expect_places("placement=blocks", 12, 20, "001122001122");
    expect_places("placement=blocks block=3", 9, 20, "000111222");
    expect_places("placement=blocks block=3", 7, 20, "0001112");       /* the last block is not complete */
    expect_places("placement=blocks block=9", 12, 20, "000011112222"); /* of as many as fit */
    /* Three more fit nowhere until two have ended. */
    expect_places("placement=blocks block=3", 12, 20, "000111222---");
}
END_TEST

START_TEST(round_robin_and_least_loaded_take_turns) {
    expect_places("placement=round_robin", 12, 20, "012012012012");
    expect_places("placement=least_loaded", 12, 20, "012012012012");
}
END_TEST

/* SM 0 gets a short CTA and is empty when the others still have theirs. In turn, SM 1 would get the next one. */
START_TEST(least_loaded_looks_for_the_emptiest_sm) {
    static const char *const placements[] = {"placement=least_loaded", "placement=round_robin"};
    for (int i = 0; i < 2; i++) {
        TinySpec spec = {.ctas = 8,
                         .sms = 2,
                         .sm = "ctas=3",
                         .dispatcher = placements[i],
                         .body = "mov.u32 %r1, %ctaid.x;\n and.b32 %r2, %r1, 1;\n setp.eq.u32 %p1, %r2, 0;\n"
                                 "@%p1 exit;\n div.u32 %r2, %r1, 3;\n mov.u32 %r3, %r2;\n"};
        TinyMachine *m = tiny_new(spec);
        tiny_launch(m, spec);
        tiny_step_to(m, 40); /* 0, 2 and 4 have left SM 0 */
        ck_assert_uint_eq(m->sm[0]->ctas_started, 5);
        tiny_finish(m);
        tiny_free(m);
    }
}
END_TEST

/* Which CTA is started as the n-th, on one SM. */
static void expect_order(const char *dispatcher, const uint32_t grid[3], const char *want) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow, .sm = "ctas=32 warps=64", .dispatcher = dispatcher});
    uint32_t word = 0, count = grid[0] * grid[1] * grid[2];
    char order[256] = "";
    gpu_launch(
        m->gpu, module_kernel(m->module, "tiny"),
        &(Launch){.grid = {grid[0], grid[1], grid[2]}, .block = {32, 1, 1}, .params = (uint8_t *)&word});
    tiny_step_to(m, count + 4);
    for (uint32_t n = 0; n < count; n++) {
        const uint32_t *at = m->sm[0]->cta[n].ctaid;
        snprintf(order + strlen(order), sizeof order - strlen(order), "%s%u%u%u", n ? " " : "", at[0], at[1],
                 at[2]);
    }
    ck_assert_str_eq(order, want);
    tiny_finish(m);
    tiny_free(m);
}

START_TEST(orders_of_ctas) {
    static const uint32_t small[] = {2, 2, 2}, uneven[] = {3, 3, 1}, line[] = {3, 1, 1};
    expect_order("", small, "000 100 010 110 001 101 011 111");
    expect_order("order=columns", small, "000 010 100 110 001 011 101 111");
    expect_order("order=from_the_end", small, "111 011 101 001 110 010 100 000");
    expect_order("order=tiles", uneven, "000 100 010 110 200 210 020 120 220");
    expect_order("order=tiles tile_x=1 tile_y=3", uneven, "000 010 020 100 110 120 200 210 220");
    expect_order("order=tiles tile_x=4 tile_y=4", line, "000 100 200");
}
END_TEST

/* --- Policies -------------------------------------------------------------------------------- */

static void call_method(SimObject *object, const char *name, int64_t a, int64_t b) {
    MethodCall call = {.caller = "test", .argument = {{.whole = a}, {.whole = b}}};
    class_method(object->class, name)->call(object, &call);
}

START_TEST(an_sm_gets_no_cta_beyond_its_limit_until_it_is_raised) {
    TinySpec spec = {.body = slow, .ctas = 8, .sms = 2};
    TinyMachine *m = tiny_new(spec);
    call_method(m->dispatcher, "set_limit", 0, 2);
    tiny_launch(m, spec);
    tiny_step_to(m, 20);
    ck_assert_uint_eq(m->sm[0]->ctas_started, 2);
    ck_assert_uint_eq(m->sm[1]->ctas_started, 6);
    tiny_finish(m);
    tiny_free(m);
    spec.ctas = 12;
    m = tiny_new(spec);
    call_method(m->dispatcher, "set_limit", 0, 2);
    call_method(m->dispatcher, "set_limit", 1, 1);
    tiny_launch(m, spec);
    tiny_step_to(m, 20);
    ck_assert_uint_eq(m->sm[0]->ctas_started + m->sm[1]->ctas_started, 3);
    call_method(m->dispatcher, "set_limit", 1, 0);
    tiny_step_to(m, 21); /* handed out in 20 ... */
    ck_assert_uint_eq(m->sm[1]->ctas_started, 1);
    tiny_step_to(m, 22); /* ... and started in 21 */
    ck_assert_uint_eq(m->sm[1]->ctas_started, 2);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* Puts every CTA on SM 1, and lets the third wait for three cycles. */
typedef struct {
    Subscriber subscriber;
    uint32_t asked, started, ended, waits;
} Placer;

static int64_t place_on_sm_1(Subscriber *subscriber, SimObject *object, uint32_t event,
                             const int64_t *arguments, uint64_t now) {
    Placer *placer = (Placer *)subscriber;
    (void)now;
    if (event == (uint32_t)event_number(object->class, "cta_start")) {
        ck_assert_int_eq(arguments[0], 1);
        ck_assert_int_eq(arguments[2], placer->started++);
        return NO_ANSWER;
    }
    if (event == (uint32_t)event_number(object->class, "cta_end")) {
        placer->ended++;
        return NO_ANSWER;
    }
    placer->asked++;
    if (!(arguments[0] & 2)) return -1;
    return arguments[2] == 2 && placer->waits++ < 3 ? -1 : 1;
}

START_TEST(policies_place_ctas_and_let_them_wait) {
    TinySpec spec = {.body = slow, .ctas = 4, .sms = 2};
    TinyMachine *m = tiny_new(spec);
    Placer placer = {.subscriber = {place_on_sm_1}};
    object_subscribe(m->dispatcher, &placer.subscriber, 7);
    tiny_launch(m, spec);
    static const uint32_t started[] = {0, 1, 2, 2, 2, 2, 3, 4};
    for (uint32_t cycle = 0; cycle < 8; cycle++) {
        tiny_step(m);
        ck_assert_uint_eq(m->sm[1]->ctas_started, started[cycle]);
    }
    tiny_finish(m);
    ck_assert_uint_eq(m->sm[0]->ctas_started, 0);
    ck_assert_uint_eq(placer.started, 4);
    ck_assert_uint_eq(placer.ended, 4);
    tiny_free(m);
}
END_TEST

/* --- Resources ------------------------------------------------------------------------------- */

START_TEST(resident_ctas_are_limited_by_cta_slots) {
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12}), 8);
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .sm = "ctas=3"}), 3);
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 40, .sm = "ctas=32 warps=64"}), 32);
}
END_TEST

START_TEST(resident_ctas_are_limited_by_warps) {
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .threads = 64, .sm = "warps=6"}), 3);
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .threads = 65, .sm = "warps=6"}), 2);
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .threads = 256}), 6);
}
END_TEST

/* 4096 registers: 32 per thread are 1024 per warp; 33 are 36, because they come in fours: 1152. */
START_TEST(resident_ctas_are_limited_by_registers) {
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .sm = "registers=4096", .registers = 32}), 4);
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .sm = "registers=4096", .registers = 33}), 3);
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .sm = "registers=4608", .registers = 33}), 4);
    ck_assert_uint_eq(
        most_resident((TinySpec){.ctas = 12, .sm = "registers=4608 register_unit=8", .registers = 33}), 3);
    ck_assert_uint_eq(
        most_resident((TinySpec){.ctas = 12, .threads = 33, .sm = "registers=4096", .registers = 32}), 2);
}
END_TEST

/* 48 KiB, in pieces of 128 B. */
START_TEST(resident_ctas_are_limited_by_shared_memory) {
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .shared_bytes = 16384}), 3);
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .shared_bytes = 16385}), 2);
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .shared_bytes = 12288}), 4);
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .shared_bytes = 49152}), 1);
    ck_assert_uint_eq(most_resident((TinySpec){.ctas = 12, .sm = "shared=640", .shared_bytes = 1}), 5);
}
END_TEST

/* --- Again ----------------------------------------------------------------------------------- */

/* The store of 3 is acknowledged in 111 (test_lsu.c), which ends the CTA although its exit issued in 4. The
 * dispatcher hears of it in 112 and hands out the next; the SM starts it in 113 and issues in 115. */
START_TEST(a_slot_is_used_again_when_nothing_of_its_cta_is_in_flight) {
    TinyMachine *m = tiny_run(
        (TinySpec){.ctas = 2, .sm = "ctas=1", .body = "st.global.u32 [out], %r1;\n exit;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 4);
    ck_assert_uint_eq(tiny_issued(m, 0, 2), 3 + TINY_MEMORY_LATENCY + 8 + 4);
    tiny_free(m);
}
END_TEST

/* The same with a divide that nobody waits for: written back in 3 + 151. */
START_TEST(results_that_nobody_reads_hold_the_slot_too) {
    TinyMachine *m = tiny_run(
        (TinySpec){.ctas = 2, .sm = "ctas=1", .body = "div.u32 %r1, %r2, 3;\n exit;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 2), 3 + 151 + 4);
    tiny_free(m);
}
END_TEST

/* What a CTA left in registers, predicates and shared memory does not reach the next in its slot. */
START_TEST(a_cta_starts_with_cleared_registers_and_shared_memory) {
    TinyMachine *m = tiny_run((TinySpec){.ctas = 3,
                                         .sm = "ctas=1",
                                         .body = ".shared .align 4 .b8 buffer[128];\n"
                                                 "ld.shared.u32 %r1, [buffer];\n"
                                                 "add.u32 %r1, %r1, %r2;\n"
                                                 "selp.u32 %r3, 1, 0, %p1;\n"
                                                 "add.u32 %r1, %r1, %r3;\n"
                                                 "st.shared.u32 [buffer], 1;\n"
                                                 "setp.eq.u32 %p1, %r4, 0;\n"
                                                 "mov.u32 %r5, %ctaid.x;\n mul.wide.u32 %d1, %r5, 4;\n"
                                                 "mov.u64 %d2, out;\n add.u64 %d1, %d1, %d2;\n"
                                                 "st.global.u32 [%d1], %r1;\n"
                                                 "mov.u32 %r2, 1;\n"});
    for (uint32_t cta = 0; cta < 3; cta++)
        ck_assert_uint_eq(tiny_word(m, cta), 0);
    tiny_free(m);
}
END_TEST

START_TEST(a_kernel_can_be_launched_again_and_takes_as_long) {
    TinySpec spec = {
        .body = "ld.global.u32 %r1, [out];\n add.u32 %r1, %r1, 1;\n st.global.u32 [out], %r1;\n"};
    TinyMachine *m = tiny_new(spec);
    uint64_t cycles = 0;
    for (uint32_t launch = 1; launch <= 4; launch++) {
        tiny_launch(m, spec);
        ck_assert(!dispatcher_idle(m->dispatcher));
        tiny_finish(m);
        ck_assert(dispatcher_idle(m->dispatcher));
        ck_assert_uint_eq(tiny_word(m, 0), launch);
        if (launch > 1) ck_assert_uint_eq(tiny_cycles(m), cycles);
        cycles = tiny_cycles(m);
        ck_assert_uint_eq(gpu_last_launch(m->gpu).warp_instructions, 4);
        ck_assert_uint_eq(gpu_last_launch(m->gpu).thread_instructions, 4 * 32);
    }
    ck_assert_uint_eq(tiny_stat(m, "dispatcher", "kernels"), 4);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "warp_instructions"), 16);
    tiny_free(m);
}
END_TEST

/* Four CTAs on three SMs: 0, 1, 2 and 0 get them; the next launch begins at 1, or at 0 again. */
START_TEST(a_launch_goes_on_where_the_one_before_ended_if_it_is_to) {
    for (uint32_t goes_on = 0; goes_on < 2; goes_on++) {
        TinySpec spec = {.body = slow, .ctas = 4, .sms = 3, .dispatcher = goes_on ? "goes_on=true" : NULL};
        TinyMachine *m = tiny_new(spec);
        uint32_t first = 0;
        for (uint32_t launch = 0; launch < 4; launch++) {
            tiny_launch(m, spec);
            tiny_step_to(m, gpu_cycle(m->gpu) + 5);
            for (uint32_t n = 0; n < 4; n++)
                ck_assert_uint_eq(m->sm[(first + n) % 3]->cta[n / 3].ctaid[0], n);
            tiny_finish(m);
            first = goes_on ? (first + 1) % 3 : 0;
        }
        tiny_free(m);
    }
}
END_TEST

START_TEST(a_launch_may_differ_from_the_one_before_in_its_shape) {
    TinySpec spec = {
        .sms = 2,
        .body = "mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n mov.u32 %r3, %ntid.x;\n"
                "mad.lo.u32 %r1, %r2, %r3, %r1;\n mul.wide.u32 %d1, %r1, 4;\n mov.u64 %d2, out;\n"
                "add.u64 %d1, %d1, %d2;\n mov.u32 %r4, %nctaid.x;\n st.global.u32 [%d1], %r4;\n"};
    static const uint32_t shapes[][2] = {{3, 40}, {20, 256}, {1, 1}, {9, 1024}};
    TinyMachine *m = tiny_new(spec);
    for (uint32_t i = 0; i < 4; i++) {
        spec.ctas = shapes[i][0];
        spec.threads = shapes[i][1];
        tiny_launch(m, spec);
        tiny_finish(m);
        for (uint32_t thread = 0; thread < spec.ctas * spec.threads; thread++)
            ck_assert_uint_eq(tiny_word(m, thread), spec.ctas);
    }
    tiny_free(m);
}
END_TEST

Suite *dispatcher_suite(void) {
    Suite *suite = suite_create("dispatcher");
    TCase *order = tcase_create("order");
    tcase_add_test(order, an_sm_gets_one_cta_per_cycle);
    tcase_add_test(order, all_sms_get_one_in_the_same_cycle);
    tcase_add_test(order, ctas_are_handed_out_x_first);
    tcase_add_test(order, every_cta_runs_once);
    tcase_add_test(order, an_sm_that_is_done_gets_the_next_without_waiting_for_its_turn);
    tcase_add_test(order, depth_first_fills_an_sm_before_the_next_gets_one);
    tcase_add_test(order, blocks_give_an_sm_ctas_that_follow_each_other);
    tcase_add_test(order, round_robin_and_least_loaded_take_turns);
    tcase_add_test(order, least_loaded_looks_for_the_emptiest_sm);
    tcase_add_test(order, orders_of_ctas);
    tcase_add_test(order, an_sm_gets_no_cta_beyond_its_limit_until_it_is_raised);
    tcase_add_test(order, policies_place_ctas_and_let_them_wait);
    suite_add_tcase(suite, order);
    TCase *resources = tcase_create("resources");
    tcase_add_test(resources, resident_ctas_are_limited_by_cta_slots);
    tcase_add_test(resources, resident_ctas_are_limited_by_warps);
    tcase_add_test(resources, resident_ctas_are_limited_by_registers);
    tcase_add_test(resources, resident_ctas_are_limited_by_shared_memory);
    suite_add_tcase(suite, resources);
    TCase *again = tcase_create("again");
    tcase_add_test(again, a_slot_is_used_again_when_nothing_of_its_cta_is_in_flight);
    tcase_add_test(again, results_that_nobody_reads_hold_the_slot_too);
    tcase_add_test(again, a_cta_starts_with_cleared_registers_and_shared_memory);
    tcase_add_test(again, a_kernel_can_be_launched_again_and_takes_as_long);
    tcase_add_test(again, a_launch_goes_on_where_the_one_before_ended_if_it_is_to);
    tcase_add_test(again, a_launch_may_differ_from_the_one_before_in_its_shape);
    suite_add_tcase(suite, again);
    return suite;
}
