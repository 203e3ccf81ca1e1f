/* CTAs of several kernels in one SM at once: which it gets, what they take of it, and what each has executed. */
#include "core/gpu/device/dispatcher.h"
#include "core/sim/event.h"
#include "core/sim/method.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <string.h>

/* A kernel of some 150 cycles. */
static const char *const slow = "div.u32 %r1, %r2, 3;\n mov.u32 %r3, %r1;\n";

enum { MOST = 4 };

/* CTAs, and what each takes; registers 0: as many as the kernel needs. */
typedef struct {
    uint32_t ctas, warps, shared, registers,
        after; /* after: a place before it in the list, from 1 on; or 0 */
} Part;

static void launch(TinyMachine *m, const Part *parts, uint32_t count) {
    static uint32_t word = TINY_WORD;
    Launch launches[MOST];
    uint32_t after[MOST];
    KernelLaunch list[MOST];
    for (uint32_t k = 0; k < count; k++) {
        launches[k] = (Launch){.grid = {parts[k].ctas, 1, 1},
                               .block = {parts[k].warps * WARP_LANES, 1, 1},
                               .shared_bytes = parts[k].shared,
                               .registers = parts[k].registers,
                               .params = (uint8_t *)&word};
        after[k] = parts[k].after - 1;
        list[k] = (KernelLaunch){.kernel = module_kernel(m->module, "tiny"),
                                 .launch = &launches[k],
                                 .after = &after[k],
                                 .after_count = parts[k].after != 0};
    }
    gpu_launch_together(m->gpu, list, count);
}

#define LAUNCH(m, ...)                                                                                       \
    launch(m, (const Part[]){__VA_ARGS__}, sizeof((const Part[]){__VA_ARGS__}) / sizeof(Part))

static LaunchResult result(const TinyMachine *m, uint32_t kernel) {
    return gpu_launch_result(m->gpu, kernel);
}

/* CTAs of the kernel in SM 0. */
static uint32_t resident(const TinyMachine *m, uint32_t kernel) {
    uint32_t ctas = 0;
    for (uint32_t slots = sm_resident_slots(m->sm[0]); slots; slots &= slots - 1)
        ctas += m->sm[0]->cta[__builtin_ctz(slots)].kernel == kernel;
    return ctas;
}

static void assert_resident(const TinyMachine *m, uint32_t first, uint32_t second) {
    ck_assert_msg(resident(m, 0) == first && resident(m, 1) == second,
                  "expected %u and %u CTAs, got %u and %u", first, second, resident(m, 0), resident(m, 1));
}

static TinySpec two_per_sm(const char *sm) {
    return (TinySpec){.body = slow, .sm = sm, .dispatcher = "kernels_per_sm=2"};
}

/* --- Side by side ------------------------------------------------------------------------------ */

/* The dispatcher sends an SM one CTA in a cycle, which starts in the next one. */
START_TEST(an_sm_gets_a_cta_of_another_kernel_beside_the_first) {
    TinyMachine *m = tiny_new(two_per_sm(NULL));
    LAUNCH(m, {.ctas = 1, .warps = 2}, {.ctas = 1, .warps = 1});
    tiny_step_to(m, 2);
    assert_resident(m, 1, 0);
    ck_assert_uint_eq(m->sm[0]->live, 0x3);
    tiny_step_to(m, 3);
    assert_resident(m, 1, 1);
    ck_assert_uint_eq(m->sm[0]->live, 0x7);
    ck_assert_uint_eq(sm_kernel_of(m->sm[0], 2)->launch, 1);
    tiny_finish(m);
    TinyMachine *alone = tiny_run((TinySpec){.body = slow});
    ck_assert_uint_lt(result(m, 1).cycles, 2 * tiny_cycles(alone));
    tiny_free(alone);
    tiny_free(m);
}
END_TEST

START_TEST(with_one_kernel_per_sm_it_waits_until_the_sm_is_empty) {
    TinyMachine *m = tiny_new((TinySpec){.body = slow});
    LAUNCH(m, {.ctas = 1, .warps = 2}, {.ctas = 1, .warps = 1});
    tiny_step_to(m, 3);
    ck_assert_uint_eq(m->sm[0]->resident, 1);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

START_TEST(an_sm_has_no_more_kernels_than_it_may) {
    TinyMachine *m = tiny_new(two_per_sm(NULL));
    LAUNCH(m, {.ctas = 1, .warps = 1}, {.ctas = 1, .warps = 1}, {.ctas = 1, .warps = 1});
    tiny_step_to(m, 20);
    assert_resident(m, 1, 1);
    ck_assert_uint_eq(resident(m, 2), 0);
    tiny_finish(m);
    ck_assert_uint_gt(result(m, 2).cycles, result(m, 0).cycles);
    tiny_free(m);
}
END_TEST

/* A warp reads its own kernel's parameters and grid: 7 + 100 * the number of the launch, each at a word of its own. */
START_TEST(each_warp_has_the_constants_of_its_kernel) {
    TinySpec spec = {
        .body = "ld.param.u32 %r1, [word];\n mov.u32 %r2, %gridid;\n mad.lo.u32 %r1, %r2, 100, "
                "%r1;\n mov.u32 %r4, %nctaid.x;\n mad.lo.u32 %r1, %r4, 10000, %r1;\n mul.wide.u32 "
                "%d1, %r2, 4;\n mov.u64 %d2, out;\n add.u64 %d1, %d1, %d2;\n st.global.u32 [%d1], "
                "%r1;\n",
        .dispatcher = "kernels_per_sm=4"};
    TinyMachine *m = tiny_new(spec);
    LAUNCH(m, {.ctas = 1, .warps = 1}, {.ctas = 2, .warps = 1}, {.ctas = 3, .warps = 2});
    tiny_finish(m);
    ck_assert_uint_eq(tiny_word(m, 0), 10007);
    ck_assert_uint_eq(tiny_word(m, 1), 20107);
    ck_assert_uint_eq(tiny_word(m, 2), 30207);
    tiny_free(m);
}
END_TEST

START_TEST(each_kernel_counts_the_instructions_of_its_ctas) {
    TinyMachine *alone = tiny_run((TinySpec){.body = slow});
    uint64_t of_warp = gpu_last_launch(alone->gpu).warp_instructions;
    TinyMachine *m = tiny_new(two_per_sm(NULL));
    LAUNCH(m, {.ctas = 5, .warps = 1}, {.ctas = 3, .warps = 2}, {.ctas = 2, .warps = 3, .after = 1});
    tiny_finish(m);
    static const uint64_t warps[] = {5, 6, 6};
    for (uint32_t k = 0; k < 3; k++) {
        ck_assert_uint_eq(result(m, k).warp_instructions, warps[k] * of_warp);
        ck_assert_uint_eq(result(m, k).thread_instructions, warps[k] * of_warp * WARP_LANES);
    }
    tiny_free(alone);
    tiny_free(m);
}
END_TEST

/* --- Resources --------------------------------------------------------------------------------- */

/* Of 8 warp slots, three CTAs of two leave two: one of three does not fit, one of two does. */
START_TEST(a_cta_waits_for_warp_slots_of_others) {
    TinyMachine *m = tiny_new(two_per_sm("warps=8 ctas=8"));
    LAUNCH(m, {.ctas = 3, .warps = 2}, {.ctas = 1, .warps = 3});
    tiny_step_to(m, 20);
    assert_resident(m, 3, 0);
    while (resident(m, 0) == 3)
        ck_assert(tiny_step(m));
    ck_assert_uint_eq(resident(m, 1), 0);
    tiny_finish(m);
    LAUNCH(m, {.ctas = 3, .warps = 2}, {.ctas = 1, .warps = 2});
    tiny_step_to(m, gpu_last_launch(m->gpu).start_cycle + 20);
    assert_resident(m, 3, 1);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* 32 threads of 64 registers each, and of 16. */
START_TEST(a_cta_waits_for_registers_of_others) {
    TinyMachine *m = tiny_new(two_per_sm("registers=4096"));
    LAUNCH(m, {.ctas = 1, .warps = 1, .registers = 63}, {.ctas = 1, .warps = 1, .registers = 63},
           {.ctas = 1, .warps = 1, .registers = 63});
    tiny_step_to(m, 20);
    assert_resident(m, 1, 1);
    tiny_finish(m);
    LAUNCH(m, {.ctas = 1, .warps = 1, .registers = 63}, {.ctas = 9, .warps = 1, .registers = 32});
    tiny_step_to(m, gpu_last_launch(m->gpu).start_cycle + 20);
    assert_resident(m, 1, 2);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

START_TEST(a_cta_waits_for_shared_memory_of_others) {
    TinyMachine *m = tiny_new(two_per_sm("shared=4096"));
    LAUNCH(m, {.ctas = 9, .warps = 1, .shared = 1024}, {.ctas = 9, .warps = 1, .shared = 2048});
    tiny_step_to(m, 20);
    assert_resident(m, 4, 0);
    tiny_finish(m);
    LAUNCH(m, {.ctas = 2, .warps = 1, .shared = 1024}, {.ctas = 9, .warps = 1, .shared = 2048});
    tiny_step_to(m, gpu_last_launch(m->gpu).start_cycle + 20);
    assert_resident(m, 2, 1);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

START_TEST(a_cta_takes_what_is_reserved_for_it_from_those_of_other_kernels) {
    TinyMachine *m = tiny_new(two_per_sm("shared=4096 reserved_shared=512"));
    LAUNCH(m, {.ctas = 2, .warps = 1, .shared = 1024}, {.ctas = 9, .warps = 1, .shared = 128});
    tiny_step_to(m, 20);
    assert_resident(m, 2, 1); /* 2 * 1536 + 640 */
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* Blocks of four, of which an SM has room for two CTAs of the second kernel, beside the first one or without. */
START_TEST(with_blocks_an_sm_gets_as_many_of_a_kernel_as_it_can_hold) {
    TinyMachine *m = tiny_new((TinySpec){
        .body = slow, .sm = "shared=4096", .dispatcher = "kernels_per_sm=2 placement=blocks block=4"});
    LAUNCH(m, {.ctas = 4, .warps = 1}, {.ctas = 4, .warps = 1, .shared = 2048});
    tiny_step_to(m, 20);
    assert_resident(m, 4, 2);
    tiny_finish(m);
    ck_assert_uint_gt(result(m, 1).cycles, result(m, 0).cycles);
    tiny_free(m);
}
END_TEST

/* --- Whose CTA --------------------------------------------------------------------------------- */

START_TEST(in_order_a_kernel_gets_what_those_before_it_leave) {
    TinyMachine *m = tiny_new(two_per_sm("ctas=4"));
    LAUNCH(m, {.ctas = 3, .warps = 1}, {.ctas = 9, .warps = 1});
    tiny_step_to(m, 20);
    assert_resident(m, 3, 1);
    tiny_finish(m);
    LAUNCH(m, {.ctas = 9, .warps = 1}, {.ctas = 9, .warps = 1});
    tiny_step_to(m, gpu_last_launch(m->gpu).start_cycle + 20);
    assert_resident(m, 4, 0);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* Eight places, eight warps, 48 KiB. A CTA of kernel 0 takes an eighth of the warps, one of kernel 1 a third of the shared
 * memory. They are dealt: 0 (1/8), 1 (1/3), 0 (2/8), 0 (3/8), 1 (2/3), 0 (4/8), 0 (5/8), 0 (6/8). */
START_TEST(evenly_kernels_have_the_same_dominant_share) {
    TinySpec spec = {
        .body = slow, .sm = "ctas=8 warps=8 shared=49152", .dispatcher = "kernels_per_sm=2 sharing=evenly"};
    TinyMachine *m = tiny_new(spec);
    LAUNCH(m, {.ctas = 20, .warps = 1}, {.ctas = 20, .warps = 1, .shared = 16384});
    tiny_step_to(m, 20);
    assert_resident(m, 6, 2);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* The kernel that has no CTAs left leaves the SM to the other one. */
START_TEST(evenly_what_one_kernel_does_not_need_is_for_the_other) {
    TinySpec spec = {.body = slow, .sm = "ctas=8", .dispatcher = "kernels_per_sm=2 sharing=evenly"};
    TinyMachine *m = tiny_new(spec);
    LAUNCH(m, {.ctas = 20, .warps = 1}, {.ctas = 2, .warps = 1});
    tiny_step_to(m, 20);
    assert_resident(m, 6, 2);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

START_TEST(one_at_a_time_a_kernel_waits_for_the_end_of_the_one_before) {
    TinySpec spec = {.body = slow, .sm = "ctas=4", .dispatcher = "kernels_per_sm=2 sharing=one_at_a_time"};
    TinyMachine *m = tiny_new(spec);
    LAUNCH(m, {.ctas = 3, .warps = 1}, {.ctas = 1, .warps = 1});
    while (resident(m, 0) || !result(m, 0).cycles) {
        ck_assert_uint_eq(resident(m, 1), 0);
        ck_assert(tiny_step(m));
    }
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* --- Policies ---------------------------------------------------------------------------------- */

typedef struct {
    Subscriber subscriber; /* first */
    uint32_t asked;
    int64_t choice, answer; /* the last one's choice; what it answers */
} Chooser;

static int64_t choose(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                      uint64_t now) {
    Chooser *chooser = (Chooser *)subscriber;
    (void)object, (void)event, (void)now;
    chooser->asked++;
    chooser->choice = arguments[1];
    return chooser->answer;
}

static MethodCall asked(SimObject *object, const char *method, uint32_t first, uint32_t second) {
    const Method *found = object->class->methods;
    MethodCall call = {.argument[0].whole = first, .argument[1].whole = second};
    while (strcmp(found->name, method) != 0)
        found++;
    found->call(object, &call);
    return call;
}

static int64_t asked_of(TinyMachine *m, const char *method, uint32_t sm, uint32_t kernel) {
    MethodCall call = asked(m->dispatcher, method, sm, kernel);
    return call.nothing ? -1 : call.result[0].whole;
}

START_TEST(policies_say_whose_cta_an_sm_gets_next) {
    TinyMachine *m = tiny_new(two_per_sm("ctas=4"));
    Chooser chooser = {.subscriber.handle = choose, .answer = 1};
    object_subscribe(m->dispatcher, &chooser.subscriber,
                     1u << event_number(m->dispatcher->class, "next_kernel"));
    LAUNCH(m, {.ctas = 9, .warps = 1}, {.ctas = 9, .warps = 1});
    ck_assert_uint_eq(chooser.asked, 0);
    tiny_step_to(m, 1);
    ck_assert(chooser.asked == 1 && chooser.choice == 0);
    ck_assert_int_eq(asked_of(m, "ctas_of", 0, 1), 1);
    ck_assert_int_eq(asked_of(m, "room_for", 0, 0), 3);
    chooser.answer = -1;
    tiny_step_to(m, 20);
    ck_assert_uint_eq(chooser.asked, 20); /* in each cycle in which there is room */
    assert_resident(m, 0, 1);
    chooser.answer = NO_ANSWER;
    tiny_step_to(m, 22);
    assert_resident(m, 1, 1);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* CTAs come in the midst of a cycle, before the question or after it. */
START_TEST(question_of_another_object_may_not_ask_for_the_kernel_of_a_warp) {
    static const char *const methods[] = {"launch_of", "instruction_of"};
    TinyMachine *m = tiny_new(two_per_sm(NULL));
    LAUNCH(m, {.ctas = 1, .warps = 2}, {.ctas = 1, .warps = 1});
    tiny_step_to(m, 20);
    MethodCall call = {.asked = true, .elsewhere = true};
    SimObject *sm = &m->sm[0]->obj;
    class_method(sm->class, methods[_i])->call(sm, &call);
    ck_assert_str_eq(call.refusal, "expected an SM with CTAs of one kernel at a time, got one with several; "
                                   "ask it in a hook, and remember in self.state what the answer needs");
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

START_TEST(policies_ask_for_the_kernel_of_a_warp) {
    TinyMachine *m = tiny_new(two_per_sm(NULL));
    LAUNCH(m, {.ctas = 1, .warps = 2}, {.ctas = 1, .warps = 1});
    tiny_step_to(m, 20);
    SimObject *sm = &m->sm[0]->obj;
    ck_assert_int_eq(asked(sm, "launch_of", 1, 0).result[0].whole, 0);
    ck_assert_int_eq(asked(sm, "launch_of", 2, 0).result[0].whole, 1);
    ck_assert_ptr_eq(asked(sm, "instruction_of", 2, 0).result[0].text,
                     m->sm[0]->launched[1]->kernel->sources[0].opcode);
    ck_assert_uint_eq(asked(sm, "oldest_ctas", 0, 0).result[0].set, 0);
    ck_assert_uint_eq(asked(sm, "oldest_ctas", 1, 0).result[0].set, 0x3);
    ck_assert_uint_eq(asked(sm, "oldest_ctas", 9, 0).result[0].set, 0x7);
    ck_assert(strstr(asked(sm, "instruction", 0, 0).refusal, "ask instruction_of(warp, pc)") != NULL);
    ck_assert(strstr(asked(sm, "warps_per_cta", 0, 0).refusal, "ask cta_warps(warp)") != NULL);
    tiny_finish(m);
    tiny_free(m);
}
END_TEST

/* --- Faults and refusals ----------------------------------------------------------------------- */

static void launch_transfer(void *context) {
    LAUNCH(context, {.ctas = 1, .warps = 1}, {.ctas = 1, .warps = 1});
}

START_TEST(kernels_with_intrinsics_of_the_dma_engine_are_refused) {
    TinySpec spec = {
        .body = "call dma_execute, (%d1, %d2, 0);\n", .dma = "", .dispatcher = "kernels_per_sm=2"};
    TinyMachine *m = tiny_new(spec);
    const char *error = user_error_catch(launch_transfer, m);
    ck_assert(error && strstr(error, "kernel tiny: expected no intrinsics of the DMA engine") != NULL);
    tiny_free(m);
}
END_TEST

Suite *kernels_per_sm_suite(void) {
    Suite *suite = suite_create("kernels_per_sm");
    TCase *beside = tcase_create("side by side");
    tcase_add_test(beside, an_sm_gets_a_cta_of_another_kernel_beside_the_first);
    tcase_add_test(beside, with_one_kernel_per_sm_it_waits_until_the_sm_is_empty);
    tcase_add_test(beside, an_sm_has_no_more_kernels_than_it_may);
    tcase_add_test(beside, each_warp_has_the_constants_of_its_kernel);
    tcase_add_test(beside, each_kernel_counts_the_instructions_of_its_ctas);
    suite_add_tcase(suite, beside);
    TCase *resources = tcase_create("resources");
    tcase_add_test(resources, a_cta_waits_for_warp_slots_of_others);
    tcase_add_test(resources, a_cta_waits_for_registers_of_others);
    tcase_add_test(resources, a_cta_waits_for_shared_memory_of_others);
    tcase_add_test(resources, a_cta_takes_what_is_reserved_for_it_from_those_of_other_kernels);
    tcase_add_test(resources, with_blocks_an_sm_gets_as_many_of_a_kernel_as_it_can_hold);
    suite_add_tcase(suite, resources);
    TCase *whose = tcase_create("whose CTA");
    tcase_add_test(whose, in_order_a_kernel_gets_what_those_before_it_leave);
    tcase_add_test(whose, evenly_kernels_have_the_same_dominant_share);
    tcase_add_test(whose, evenly_what_one_kernel_does_not_need_is_for_the_other);
    tcase_add_test(whose, one_at_a_time_a_kernel_waits_for_the_end_of_the_one_before);
    tcase_add_test(whose, policies_say_whose_cta_an_sm_gets_next);
    tcase_add_test(whose, policies_ask_for_the_kernel_of_a_warp);
    tcase_add_loop_test(whose, question_of_another_object_may_not_ask_for_the_kernel_of_a_warp, 0, 2);
    suite_add_tcase(suite, whose);
    TCase *refusals = tcase_create("refusals");
    tcase_add_test(refusals, kernels_with_intrinsics_of_the_dma_engine_are_refused);
    suite_add_tcase(suite, refusals);
    return suite;
}
