/* Kernels that are launched together: which SMs each has and when, when each begins and ends, what each has executed. */
#include "core/gpu/device/dispatcher.h"
#include "core/sim/event.h"
#include "core/sim/method.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

#define ASSERT_MENTIONS(text, part)                                                                          \
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" does not mention \"%s\"", text, part)

/* A kernel of some 150 cycles. */
static const char *const slow = "div.u32 %r1, %r2, 3;\n mov.u32 %r3, %r1;\n";

enum { MOST = 4, NO_KERNEL = 0xffffffff };

/* Of a kernel of the module's `tiny`: its CTAs, and one before it in the list that it waits for, from 1 on. */
typedef struct {
    uint32_t ctas, after;
} TinyKernel;

typedef struct {
    TinyMachine *machine;
    const TinyKernel *kernels;
    uint32_t count;
    Launch how; /* of all of them, but for the grid */
} Together;

static void launch_together(void *context) {
    const Together *together = context;
    static uint32_t word = TINY_WORD;
    Launch launches[MOST];
    uint32_t after[MOST];
    KernelLaunch list[MOST];
    for (uint32_t k = 0; k < together->count; k++) {
        const TinyKernel *kernel = &together->kernels[k];
        launches[k] = together->how;
        launches[k].params = (uint8_t *)&word;
        launches[k].block[0] = 32;
        launches[k].block[1] = launches[k].block[2] = launches[k].grid[1] = launches[k].grid[2] = 1;
        launches[k].grid[0] = kernel->ctas;
        after[k] = kernel->after - 1;
        list[k] = (KernelLaunch){.kernel = module_kernel(together->machine->module, "tiny"),
                                 .launch = &launches[k],
                                 .after = &after[k],
                                 .after_count = kernel->after != 0};
    }
    gpu_launch_together(together->machine->gpu, list, together->count);
}

#define LAUNCH(m, ...)                                                                                       \
    launch_together(&(Together){.machine = (m),                                                              \
                                .kernels = (const TinyKernel[]){__VA_ARGS__},                                \
                                .count = sizeof((const TinyKernel[]){__VA_ARGS__}) / sizeof(TinyKernel)})

static LaunchResult result(const TinyMachine *m, uint32_t kernel) {
    return gpu_launch_result(m->gpu, kernel);
}

/* Of the launch, from 0 on, that the SM has CTAs of; NO_KERNEL: it has none. */
static uint32_t kernel_on(const TinyMachine *m, uint32_t sm) {
    bool has_any = m->sm[sm]->ctas_started > m->sm[sm]->ctas_finished;
    return has_any ? m->sm[sm]->running->launch : NO_KERNEL;
}

/* As digits, `-` where it has none. */
static const char *kernels_on_sms(const TinyMachine *m) {
    static char text[TINY_MAX_SMS + 1];
    for (uint32_t i = 0; i < m->sms; i++)
        text[i] = kernel_on(m, i) == NO_KERNEL ? '-' : (char)('0' + kernel_on(m, i));
    text[m->sms] = 0;
    return text;
}

/* --- SMs ------------------------------------------------------------------------------------- */

START_TEST(kernels_that_are_launched_together_run_side_by_side) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow, .sms = 3});
    LAUNCH(m, {2, 0}, {1, 0});
    tiny_step_to(m, 1);
    ck_assert_str_eq(kernels_on_sms(m), "---");
    tiny_step_to(m, 2);
    ck_assert_str_eq(kernels_on_sms(m), "001");
    tiny_finish(m);
    ck_assert_uint_eq(result(m, 0).cycles, result(m, 1).cycles);
    ck_assert_uint_eq(tiny_stat(m, "dispatcher", "kernels"), 2);
    tiny_free(m);
}
END_TEST

/* The first kernel's end reaches the dispatcher in the cycle before the machine stops; the other's first CTA is sent in
 * the next one, and starts in the one after. */
START_TEST(an_sm_gets_another_kernel_when_it_has_no_cta_left) {
    TinyMachine *alone = tiny_run((TinySpec){.body = slow});
    uint64_t end = tiny_cycles(alone);
    TinyMachine *m = tiny_new((TinySpec){.body = slow});
    LAUNCH(m, {1, 0}, {1, 0});
    tiny_step_to(m, end);
    ck_assert_uint_eq(m->sm[0]->ctas_finished, 1);
    ck_assert_uint_eq(m->sm[0]->running->launch, 1);
    tiny_step_to(m, end + 1);
    ck_assert_uint_eq(m->sm[0]->ctas_started, 1);
    tiny_step_to(m, end + 2);
    ck_assert_uint_eq(m->sm[0]->ctas_started, 2);
    tiny_finish(m);
    ck_assert_uint_eq(result(m, 0).cycles, end);
    ck_assert_uint_eq(result(m, 1).start_cycle, 0);
    ck_assert_uint_eq(result(m, 1).cycles, 2 * end);
    tiny_free(alone);
    tiny_free(m);
}
END_TEST

START_TEST(in_order_a_kernel_gets_the_sms_that_those_before_it_do_not_need) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow, .sms = 4, .sm = "ctas=1"});
    LAUNCH(m, {3, 0}, {6, 0});
    tiny_step_to(m, 2);
    ck_assert_str_eq(kernels_on_sms(m), "0001");
    tiny_finish(m);
    TinyMachine *full = tiny_new((TinySpec){.body = slow, .sms = 4, .sm = "ctas=1"});
    LAUNCH(full, {9, 0}, {1, 0});
    tiny_step_to(full, 2);
    ck_assert_str_eq(kernels_on_sms(full), "0000");
    tiny_finish(full);
    ck_assert_uint_lt(result(full, 0).cycles, result(full, 1).cycles + 1);
    tiny_free(m);
    tiny_free(full);
}
END_TEST

START_TEST(evenly_each_kernel_gets_as_many_sms) {
    TinyMachine *m = tiny_new(
        (TinySpec){.body = slow, .sms = 4, .sm = "ctas=1", .dispatcher = "sharing=evenly"});
    LAUNCH(m, {9, 0}, {9, 0});
    tiny_step_to(m, 2);
    ck_assert_str_eq(kernels_on_sms(m), "0101");
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* The second one's CTAs wait for the end of the first, on SMs that were free before, too. */
START_TEST(one_at_a_time_a_kernel_has_all_sms) {
    TinyMachine *m = tiny_new(
        (TinySpec){.body = slow, .sms = 3, .sm = "ctas=1", .dispatcher = "sharing=one_at_a_time"});
    LAUNCH(m, {4, 0}, {2, 0});
    while (!result(m, 0).cycles) {
        ck_assert_uint_eq(strcspn(kernels_on_sms(m), "1"), 3);
        ck_assert(tiny_step(m));
    }
    tiny_step_to(m, result(m, 0).cycles + 2);
    ck_assert_str_eq(kernels_on_sms(m), "11-");
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* Kernel 2 begins when kernel 1, of one CTA, has ended: SMs 2 and 3, the last ones, get no more CTAs of kernel 0, and
 * those that they have come to their end. */
START_TEST(evenly_sms_of_a_kernel_with_too_many_drain_for_another) {
    TinyMachine *m = tiny_new(
        (TinySpec){.body = slow, .sms = 4, .sm = "ctas=2", .dispatcher = "sharing=evenly"});
    LAUNCH(m, {40, 0}, {1, 0}, {40, 2});
    tiny_step_to(m, 3);
    ck_assert_str_eq(kernels_on_sms(m), "0100");
    while (!gpu_kernel_has_begun(m->gpu, 2))
        ck_assert(tiny_step(m));
    uint64_t begins = gpu_cycle(m->gpu);
    ck_assert_uint_eq(begins, result(m, 1).cycles);
    ck_assert_str_eq(kernels_on_sms(m), "0-00");
    tiny_step_to(m, begins + 2);
    ck_assert_str_eq(kernels_on_sms(m), "0200");
    uint64_t started = m->sm[3]->ctas_started; /* what had been sent has come */
    while (kernel_on(m, 3) == 0)
        ck_assert(tiny_step(m));
    ck_assert_uint_eq(m->sm[3]->ctas_started, started);
    tiny_step_to(m, gpu_cycle(m->gpu) + 4);
    ck_assert_str_eq(kernels_on_sms(m), "0202");
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

static void set_limit(const TinyMachine *m, uint32_t sm, uint32_t ctas) {
    MethodCall call = {.argument = {{.whole = sm}, {.whole = ctas}}};
    const Method *method = m->dispatcher->class->methods;
    while (strcmp(method->name, "set_limit") != 0)
        method++;
    method->call(m->dispatcher, &call);
}

START_TEST(an_sm_with_a_limit_is_counted_for_as_many_ctas) {
    TinyMachine *m = tiny_new(
        (TinySpec){.body = slow, .sms = 4, .sm = "ctas=2", .dispatcher = "placement=depth_first"});
    for (uint32_t sm = 0; sm < 4; sm++)
        set_limit(m, sm, 1);
    LAUNCH(m, {4, 0}, {4, 0});
    tiny_step_to(m, 8);
    ck_assert_str_eq(kernels_on_sms(m), "0000");
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

START_TEST(kernels_that_find_no_free_sm_wait_for_those_before_them) {
    TinySpec spec = {.body = slow, .sms = 2, .sm = "ctas=1"};
    TinyMachine *m = tiny_new(spec);
    LAUNCH(m, {2, 0}, {2, 0}, {2, 0});
    for (uint32_t k = 0; k < 3; k++) {
        tiny_step_to(m, gpu_cycle(m->gpu) + 2);
        char want[] = {(char)('0' + k), (char)('0' + k), 0};
        ck_assert_str_eq(kernels_on_sms(m), want);
        while (k < 2 && !gpu_launch_result(m->gpu, k).cycles)
            ck_assert(tiny_step(m));
    }
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* --- One after the other --------------------------------------------------------------------- */

START_TEST(a_kernel_begins_when_what_it_waits_for_has_ended) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow, .sms = 3});
    LAUNCH(m, {1, 0}, {1, 1}, {1, 2}, {1, 0});
    tiny_finish(m);
    uint64_t cycles = result(m, 0).cycles;
    for (uint32_t k = 0; k < 3; k++) {
        ck_assert_uint_eq(result(m, k).start_cycle, k * cycles);
        ck_assert_uint_eq(result(m, k).cycles, cycles);
    }
    ck_assert_uint_eq(result(m, 3).start_cycle, 0);
    tiny_free(m);
}
END_TEST

START_TEST(the_report_says_which_kernels_wait_for_others) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow, .sms = 2});
    char *text = NULL;
    size_t bytes;
    LAUNCH(m, {1, 0}, {1, 1});
    FILE *out = open_memstream(&text, &bytes);
    m->dispatcher->class->report(m->dispatcher, out);
    fclose(out);
    ASSERT_MENTIONS(text, "kernel 0: 0 of 1 CTAs handed out, 0 finished");
    ASSERT_MENTIONS(text, "kernel 1: waits for kernels before it");
    free(text);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

START_TEST(a_chain_takes_as_long_as_its_kernels_one_by_one) {
    TinySpec spec = {.body = slow, .sms = 3, .ctas = 20};
    TinyMachine *one_by_one = tiny_new(spec), *m = tiny_new(spec);
    for (uint32_t i = 0; i < 3; i++) {
        tiny_launch(one_by_one, spec);
        tiny_finish(one_by_one);
    }
    LAUNCH(m, {20, 0}, {20, 1}, {20, 2});
    tiny_finish(m);
    ck_assert_uint_eq(gpu_cycle(m->gpu), gpu_cycle(one_by_one->gpu));
    ck_assert_uint_eq(result(m, 2).cycles, tiny_cycles(one_by_one));
    tiny_free(one_by_one);
    tiny_free(m);
}
END_TEST

static uint32_t begun, ended;

static void note_kernel(void *context, const char *kernel, bool begins) {
    (void)context;
    ck_assert_str_eq(kernel, "tiny");
    begun += begins;
    ended += !begins;
}

START_TEST(each_beginning_and_end_is_told) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow, .sms = 2});
    begun = ended = 0;
    gpu_on_kernel(m->gpu, note_kernel, NULL);
    LAUNCH(m, {1, 0}, {3, 1}, {1, 0});
    ck_assert(begun == 0 && ended == 0);
    while (!gpu_launch_result(m->gpu, 0).cycles)
        ck_assert(tiny_step(m));
    ck_assert(begun == 1 && ended >= 1);
    tiny_finish(m);
    ck_assert(begun == 1 && ended == 3);
    tiny_free(m);
}
END_TEST

/* --- What each has executed ------------------------------------------------------------------ */

START_TEST(each_kernel_counts_what_its_ctas_execute) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow, .sms = 2, .sm = "ctas=2"});
    TinyMachine *alone = tiny_run((TinySpec){.body = slow});
    uint64_t of_cta = gpu_last_launch(alone->gpu).warp_instructions;
    LAUNCH(m, {5, 0}, {3, 0}, {7, 1});
    tiny_finish(m);
    static const uint64_t ctas[] = {5, 3, 7};
    for (uint32_t k = 0; k < 3; k++) {
        ck_assert_uint_eq(result(m, k).warp_instructions, ctas[k] * of_cta);
        ck_assert_uint_eq(result(m, k).thread_instructions, ctas[k] * of_cta * WARP_LANES);
        ck_assert_uint_eq(result(m, k).ctas, ctas[k]);
    }
    tiny_launch(m, (TinySpec){.ctas = 4});
    tiny_finish(m);
    ck_assert_uint_eq(gpu_kernel_count(m->gpu), 1);
    ck_assert_uint_eq(tiny_stat(m, "dispatcher", "ctas_dispatched"), 19);
    ck_assert_uint_eq(result(m, 0).warp_instructions, 4 * of_cta);
    tiny_free(alone);
    tiny_free(m);
}
END_TEST

START_TEST(without_timing_they_run_one_after_the_other) {
    TinySpec spec = {.sms = 2,
                     .body = "mov.u32 %r1, %gridid;\n mul.wide.u32 %d1, %r1, 4;\n mov.u64 %d2, out;\n"
                             "add.u64 %d1, %d1, %d2;\n st.global.u32 [%d1], 1;\n"};
    TinyMachine *m = tiny_new(spec);
    static const TinyKernel kernels[] = {{1, 0}, {1, 0}, {1, 1}};
    launch_together(&(Together){m, kernels, 3, {.is_untimed = true, .cold_ctas = UINT64_MAX}});
    for (uint32_t k = 0; k < 3; k++)
        ck_assert_uint_eq(tiny_word(m, k), 1);
    ck_assert_uint_eq(gpu_cycle(m->gpu), 0);
    tiny_free(m);
}
END_TEST

/* --- Cooperative kernels --------------------------------------------------------------------- */

START_TEST(cooperative_kernels_run_one_after_the_other) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow, .sms = 4});
    static const TinyKernel kernels[] = {{2, 0}, {2, 0}, {1, 2}};
    launch_together(&(Together){m, kernels, 3, {.is_cooperative = true}});
    tiny_finish(m);
    ck_assert_uint_eq(result(m, 0).start_cycle, 0);
    ck_assert_uint_eq(result(m, 1).start_cycle, result(m, 0).cycles);
    ck_assert_uint_eq(result(m, 2).start_cycle, result(m, 1).start_cycle + result(m, 1).cycles);
    tiny_free(m);
}
END_TEST

/* --- Faults and refusals --------------------------------------------------------------------- */

/* Kernel 1 stores to address 0; kernel 2 would wait for it, and never begins. */
START_TEST(a_fault_of_one_gives_all_of_them_up) {
    TinySpec spec = {.sms = 2,
                     .body = "mov.u32 %r1, %nctaid.x;\n setp.eq.u32 %p1, %r1, 2;\n"
                             "@%p1 st.global.u32 [0], %r1;\n div.u32 %r2, %r1, 3;\n mov.u32 %r3, %r2;\n"};
    TinyMachine *m = tiny_new(spec);
    static const TinyKernel kernels[] = {{1, 0}, {2, 0}, {9, 2}};
    launch_together(&(Together){m, kernels, 3, {.returns_faults = true}});
    tiny_finish(m);
    const LaunchFault *fault = gpu_fault(m->gpu);
    ck_assert_ptr_nonnull(fault);
    ck_assert_uint_eq(fault->kernel, 1);
    ck_assert_uint_eq(result(m, 2).cycles, 0);
    ck_assert_uint_eq(result(m, 2).warp_instructions, 0);
    tiny_launch(m, (TinySpec){.ctas = 1});
    tiny_finish(m);
    ck_assert_ptr_null(gpu_fault(m->gpu));
    tiny_free(m);
}
END_TEST

START_TEST(a_kernel_waits_for_those_before_it_in_the_list) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow});
    static const TinyKernel kernels[] = {{1, 0}, {1, 2}};
    Together together = {.machine = m, .kernels = kernels, .count = 2};
    ASSERT_MENTIONS(tiny_error(launch_together, &together, NULL),
                    "after: expected kernels that stand before it in the list, got number 2 of 2");
    tiny_free(m);
}
END_TEST

/* --- What policies see and set --------------------------------------------------------------- */

typedef struct {
    Subscriber subscriber;
    uint32_t asked;
    int64_t sm[2], choice[2]; /* of the first questions */
    int64_t answer;           /* for SM 0 */
} Sharer;

static int64_t share(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                     uint64_t now) {
    Sharer *sharer = (Sharer *)subscriber;
    (void)object, (void)event, (void)now;
    if (sharer->asked < 2) {
        sharer->sm[sharer->asked] = arguments[0];
        sharer->choice[sharer->asked] = arguments[1];
    }
    sharer->asked++;
    return arguments[0] == 0 ? sharer->answer : NO_ANSWER;
}

START_TEST(policies_say_which_kernel_an_sm_gets) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow, .sms = 2, .sm = "ctas=1"});
    Sharer sharer = {.subscriber.handle = share, .answer = 1};
    object_subscribe(m->dispatcher, &sharer.subscriber,
                     1u << event_number(m->dispatcher->class, "next_kernel"));
    LAUNCH(m, {4, 0}, {4, 0});
    ck_assert_uint_eq(sharer.asked, 2);
    ck_assert(sharer.sm[0] == 0 && sharer.sm[1] == 1 && sharer.choice[0] == 0 && sharer.choice[1] == 0);
    tiny_step_to(m, 2);
    ck_assert_str_eq(kernels_on_sms(m), "10");
    sharer.answer = NO_ANSWER;
    tiny_finish(m);
    sharer.asked = 0;
    tiny_launch(m, (TinySpec){.ctas = 3});
    tiny_finish(m);
    ck_assert_uint_eq(sharer.asked, 0); /* there is no choice */
    tiny_free(m);
}
END_TEST

/* It is asked again when the SM's last CTA has ended, and not at each boundary, of which a run may have any. */
START_TEST(an_sm_that_is_refused_a_kernel_waits_for_the_next_end) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow, .sms = 2, .sm = "ctas=1"});
    Sharer sharer = {.subscriber.handle = share, .answer = -1};
    object_subscribe(m->dispatcher, &sharer.subscriber,
                     1u << event_number(m->dispatcher->class, "next_kernel"));
    LAUNCH(m, {2, 0}, {1, 0});
    ck_assert_uint_eq(sharer.asked, 2);
    while (!result(m, 0).cycles) {
        ck_assert_str_ne(kernels_on_sms(m), "00");
        ck_assert(sharer.asked <= 3); /* SM 1 has been left by its first CTA of kernel 0, or is */
        ck_assert(tiny_step(m));
    }
    sharer.answer = NO_ANSWER;
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* With one kernel, too. */
START_TEST(an_sm_that_drains_gets_ctas_again_when_it_is_empty) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow, .sms = 2, .sm = "ctas=2"});
    MethodCall call = {.argument[0].whole = 1};
    LAUNCH(m, {12, 0});
    tiny_step_to(m, 3);
    const Method *drain = m->dispatcher->class->methods;
    while (strcmp(drain->name, "drain") != 0)
        drain++;
    drain->call(m->dispatcher, &call);
    uint64_t started = m->sm[1]->ctas_started;
    while (kernel_on(m, 1) == 0) {
        ck_assert_uint_eq(m->sm[1]->ctas_started, started);
        ck_assert(tiny_step(m));
    }
    tiny_finish(m);
    ck_assert_uint_gt(m->sm[1]->ctas_started, started);
    tiny_free(m);
}
END_TEST

Suite *kernels_suite(void) {
    Suite *suite = suite_create("kernels");
    TCase *sms = tcase_create("SMs");
    tcase_add_test(sms, kernels_that_are_launched_together_run_side_by_side);
    tcase_add_test(sms, an_sm_gets_another_kernel_when_it_has_no_cta_left);
    tcase_add_test(sms, in_order_a_kernel_gets_the_sms_that_those_before_it_do_not_need);
    tcase_add_test(sms, evenly_each_kernel_gets_as_many_sms);
    tcase_add_test(sms, one_at_a_time_a_kernel_has_all_sms);
    tcase_add_test(sms, evenly_sms_of_a_kernel_with_too_many_drain_for_another);
    tcase_add_test(sms, an_sm_with_a_limit_is_counted_for_as_many_ctas);
    tcase_add_test(sms, kernels_that_find_no_free_sm_wait_for_those_before_them);
    suite_add_tcase(suite, sms);
    TCase *order = tcase_create("one after the other");
    tcase_add_test(order, a_kernel_begins_when_what_it_waits_for_has_ended);
    tcase_add_test(order, the_report_says_which_kernels_wait_for_others);
    tcase_add_test(order, a_chain_takes_as_long_as_its_kernels_one_by_one);
    tcase_add_test(order, each_beginning_and_end_is_told);
    tcase_add_test(order, cooperative_kernels_run_one_after_the_other);
    suite_add_tcase(suite, order);
    TCase *counts = tcase_create("counts");
    tcase_add_test(counts, each_kernel_counts_what_its_ctas_execute);
    tcase_add_test(counts, without_timing_they_run_one_after_the_other);
    suite_add_tcase(suite, counts);
    TCase *faults = tcase_create("faults");
    tcase_add_test(faults, a_fault_of_one_gives_all_of_them_up);
    tcase_add_test(faults, a_kernel_waits_for_those_before_it_in_the_list);
    suite_add_tcase(suite, faults);
    TCase *policies = tcase_create("policies");
    tcase_add_test(policies, policies_say_which_kernel_an_sm_gets);
    tcase_add_test(policies, an_sm_that_is_refused_a_kernel_waits_for_the_next_end);
    tcase_add_test(policies, an_sm_that_drains_gets_ctas_again_when_it_is_empty);
    suite_add_tcase(suite, policies);
    return suite;
}
