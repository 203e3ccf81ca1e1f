/* The gates that policies' knobs work through, each by itself on a small SM: who may issue and who goes
 * first, who may load, who owns memory and which events watched warps emit. */
#include "core/gpu/sm/sm_parts.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/panic_text.h"
#include "tests/unit/suites.h"

#include <string.h>

/* In cycle OPEN what warp 0 has loaded or stored has not come back yet. */
enum { OPEN = 60, MOVES = 6 };

#define MOVES_TEXT                                                                                           \
    "mov.u32 %r1, 1;\n mov.u32 %r2, 1;\n mov.u32 %r3, 1;\n mov.u32 %r4, 1;\n mov.u32 %r5, 1;\n"              \
    "mov.u32 %r6, 1;\n"
#define LOAD "ld.global.u32 %r7, [out];\n"

static TinyMachine *launched(const char *body, const char *sm) {
    TinySpec spec = {.threads = 64, .sm = sm, .body = body};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    return m;
}

/* As a policy does. */
static void set_knob(TinyMachine *m, const char *name, uint64_t value) {
    SimObject *sm = &m->sm[0]->obj;
    const Field *f = object_field(sm, FIELD_STATE, name);
    if (!f) f = object_field(sm, FIELD_PARAM, name);
    ck_assert_msg(f && f->knob, "the SM has no knob %s", name);
    if (f->bytes == 8)
        *(uint64_t *)(void *)((char *)sm + f->offset) = value;
    else
        *(uint32_t *)(void *)((char *)sm + f->offset) = (uint32_t)value;
    sm->class->knobs_set(sm);
    object_wake(sm);
}

static SmWithParts *parts(const TinyMachine *m) {
    return (SmWithParts *)m->sm[0];
}

static void check_books(void *machine) {
    sim_check(((TinyMachine *)machine)->sim, false);
}

/* To OPEN, and then on with all warps. */
static void open_and_finish(TinyMachine *m, const char *knob) {
    tiny_step_to(m, OPEN);
    set_knob(m, knob, ALL_WARPS);
    tiny_finish(m);
    ck_assert_uint_eq(m->sm[0]->gates.at_work, 0);
}

/* --- issue_knobs ----------------------------------------------------------------------------- */

START_TEST(warps_issue_when_they_may) {
    TinyMachine *m = launched(LOAD MOVES_TEXT "add.u32 %r8, %r7, 1;\n", "schedulers=1");
    set_knob(m, "may_issue", warp_bit(0));
    open_and_finish(m, "may_issue");
    ck_assert_uint_lt(tiny_issued(m, 0, MOVES), OPEN);
    ck_assert_uint_eq(tiny_issued(m, 1, 0), OPEN);
    ck_assert_uint_gt(tiny_stat(m, "sm[0]", "slots_policy"), OPEN / 2);
    tiny_free(m);
}
END_TEST

/* In cycle 4 both can issue. Greedy, warp 1 would go on, and the oldest is warp 0. */
START_TEST(preferred_warps_and_kinds_go_first) {
    static const struct {
        const char *sm;
        WarpSet preferred;
        uint32_t warp;
    } cases[] = {{"schedulers=1 scheduler=gto", ALL_WARPS, 1},
                 {"schedulers=1 scheduler=gto", 1, 0},
                 {"schedulers=1 scheduler=oldest", ALL_WARPS, 0},
                 {"schedulers=1 scheduler=oldest", 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TinyMachine *m = launched(MOVES_TEXT, cases[i].sm);
        set_knob(m, "preferred", cases[i].preferred);
        ck_assert_uint_eq(m->sm[0]->gates.at_work != 0, cases[i].preferred != ALL_WARPS);
        tiny_finish(m);
        ck_assert_uint_eq(m->issues[1].cycle, TINY_FIRST_ISSUE + 1);
        ck_assert_uint_eq(m->issues[1].warp, cases[i].warp);
        tiny_free(m);
    }
}
END_TEST

/* Warp 1 stands at its second instruction, a load, when warp 0 comes to its first, a move. */
START_TEST(the_kind_that_is_wanted_goes_first) {
    static const char body[] = "mov.u32 %r1, 1;\n" LOAD MOVES_TEXT;
    TinyMachine *memory = launched(body, "schedulers=1 scheduler=oldest first=memory"),
                *compute = launched(body, "schedulers=1 scheduler=gto first=compute");
    tiny_finish(memory);
    tiny_finish(compute);
    ck_assert_uint_eq(memory->issues[1].warp, 1);
    ck_assert_uint_eq(compute->issues[1].warp, 0);
    tiny_free(memory);
    tiny_free(compute);
}
END_TEST

START_TEST(a_wrong_set_of_allowed_warps_is_found) {
    TinyMachine *m = launched(LOAD "add.u32 %r8, %r7, 1;\n", "warp_limit=1 schedulers=1");
    tiny_step_to(m, 20);
    check_books(m);
    parts(m)->knobs.allowed ^= 2;
    assert_panic(check_books, m, "are allowed to issue, by may_issue and warp_limit it is");
    tiny_free(m);
}
END_TEST

START_TEST(a_knob_that_is_set_behind_its_gate_is_found) {
    TinyMachine *m = launched(LOAD "add.u32 %r8, %r7, 1;\n", NULL);
    tiny_step_to(m, 20);
    parts(m)->ownership.may_issue_memory = 1;
    assert_panic(check_books, m, "gate memory ownership is at work at stages 0x0, its state needs it at 0x1");
    tiny_free(m);
}
END_TEST

/* --- load_gate ------------------------------------------------------------------------------- */

/* What does not load issues; the second load waits as the first does. */
START_TEST(loads_wait_until_the_warp_may_load) {
    static const char body[] = "mov.u32 %r1, 1;\n" LOAD "ld.global.u32 %r8, [out+128];\n" MOVES_TEXT;
    TinyMachine *m = launched(body, "schedulers=1");
    set_knob(m, "may_load", warp_bit(0));
    open_and_finish(m, "may_load");
    ck_assert_uint_lt(tiny_issued(m, 0, 3 + MOVES), OPEN);
    ck_assert_uint_lt(tiny_issued(m, 1, 0), OPEN);
    ck_assert_uint_eq(tiny_issued(m, 1, 1), OPEN);
    tiny_free(m);
}
END_TEST

START_TEST(shared_memory_and_stores_are_no_loads_for_the_gate) {
    static const char body[] = ".shared .align 4 .b8 tile[128];\n ld.shared.u32 %r7, [tile];\n"
                               "st.global.u32 [out], %r1;\n" LOAD;
    TinyMachine *m = launched(body, "schedulers=1");
    set_knob(m, "may_load", 0);
    open_and_finish(m, "may_load");
    for (uint32_t w = 0; w < 2; w++) {
        ck_assert_uint_lt(tiny_issued(m, w, 1), OPEN);
        ck_assert_uint_ge(tiny_issued(m, w, 2), OPEN);
    }
    tiny_free(m);
}
END_TEST

/* Section 3.1 of the paper keeps back loads "predicted to interfere with intra-wavefront locality". An atomic
 * reads, returns a value and has no way around L1's queue: it waits like a load, also a `red`, of global
 * memory and by a generic address; one of shared memory never reaches L1. */
START_TEST(atomics_of_global_memory_wait_like_loads_and_those_of_shared_memory_do_not) {
    static const struct {
        const char *body;
        bool waits;
    } cases[] = {{"atom.global.add.u32 %r7, [out], 1;\n", true},
                 {"red.global.add.u32 [out], 1;\n", true},
                 {"mov.u64 %d1, out;\n atom.add.u32 %r7, [%d1], 1;\n", true},
                 {".shared .align 4 .b8 tile[128];\n atom.shared.add.u32 %r8, [tile], 1;\n" LOAD, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TinySpec spec = {
            .threads = 64, .sm = "schedulers=1", .body = cases[i].body, .l2 = true, .quantum = 1};
        TinyMachine *m = tiny_new(spec);
        uint32_t atomic = strncmp(cases[i].body, "mov", 3) == 0;
        tiny_launch(m, spec);
        set_knob(m, "may_load", warp_bit(0));
        open_and_finish(m, "may_load");
        ck_assert_uint_lt(tiny_issued(m, 0, atomic), OPEN);
        if (cases[i].waits)
            ck_assert_uint_eq(tiny_issued(m, 1, atomic), OPEN);
        else
            ck_assert_uint_lt(tiny_issued(m, 1, atomic), OPEN);
        tiny_free(m);
    }
}
END_TEST

/* --- memory_ownership ------------------------------------------------------------------------ */

START_TEST(memory_instructions_wait_until_the_warp_may_issue_them) {
    static const char body[] = "mov.u32 %r1, 1;\n st.global.u32 [out], %r1;\n" MOVES_TEXT;
    TinyMachine *m = launched(body, "schedulers=1");
    set_knob(m, "may_issue_memory", warp_bit(0));
    open_and_finish(m, "may_issue_memory");
    ck_assert_uint_lt(tiny_issued(m, 0, 2 + MOVES), OPEN);
    ck_assert_uint_lt(tiny_issued(m, 1, 0), OPEN);
    ck_assert_uint_eq(tiny_issued(m, 1, 1), OPEN);
    tiny_free(m);
}
END_TEST

/* What was emitted, and in which cycle. */
typedef struct {
    Subscriber subscriber;
    uint32_t count, event[8], warp[8];
    uint64_t cycle[8];
} Emitted;

static int64_t note(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                    uint64_t now) {
    Emitted *emitted = (Emitted *)subscriber;
    ck_assert_uint_lt(emitted->count, 8);
    emitted->event[emitted->count] = event;
    emitted->warp[emitted->count] = (uint32_t)arguments[0];
    emitted->cycle[emitted->count++] = object_cycle(object, now);
    return NO_ANSWER;
}

/* Once the warps have started. */
static void watch(TinyMachine *m, Emitted *emitted, WarpSet warps) {
    *emitted = (Emitted){.subscriber = {note}};
    object_subscribe(&m->sm[0]->obj, &emitted->subscriber, 1u << SM_LOAD_BLOCKED | 1u << SM_WATCHED_STOPS);
    tiny_step_to(m, TINY_FIRST_ISSUE - 1);
    set_knob(m, "watched", warps);
}

/* Blocked in the cycle in which its next instruction is known; nothing is emitted for the other warp, which waits
 * as well, nor of this one again. */
START_TEST(a_watched_warp_that_waits_for_its_load_is_told_of_once) {
    TinyMachine *m = launched(LOAD "add.u32 %r8, %r7, 1;\n add.u32 %r9, %r8, 1;\n", "schedulers=1");
    Emitted emitted;
    watch(m, &emitted, warp_bit(1));
    tiny_finish(m);
    ck_assert_uint_eq(emitted.count, 1);
    ck_assert_uint_eq(emitted.event[0], SM_LOAD_BLOCKED);
    ck_assert_uint_eq(emitted.warp[0], 1);
    ck_assert_uint_eq(emitted.cycle[0], tiny_issued(m, 1, 0));
    ck_assert_uint_eq(parts(m)->ownership.watched | m->sm[0]->gates.at_work, 0);
    tiny_free(m);
}
END_TEST

START_TEST(a_watched_warp_that_waits_for_arithmetic_is_not_told_of_until_it_ends) {
    TinyMachine *m = launched("mov.u32 %r7, 1;\n div.u32 %r8, %r7, %r7;\n add.u32 %r9, %r8, 1;\n",
                              "schedulers=1");
    Emitted emitted;
    watch(m, &emitted, warp_bit(0));
    tiny_finish(m);
    ck_assert_uint_eq(emitted.count, 1);
    ck_assert_uint_eq(emitted.event[0], SM_WATCHED_STOPS);
    ck_assert_uint_eq(emitted.cycle[0], tiny_issued(m, 0, 3));
    tiny_free(m);
}
END_TEST

/* Warp 1 comes to the barrier first, and warp 0 completes it. */
START_TEST(a_watched_warp_at_a_barrier_is_told_of) {
    TinyMachine *m = launched("bar.sync 0;\n" MOVES_TEXT, "schedulers=1");
    Emitted emitted;
    watch(m, &emitted, warp_bit(1));
    tiny_step_to(m, TINY_FIRST_ISSUE + 1);
    ck_assert_uint_eq(emitted.count, 1);
    ck_assert_uint_eq(emitted.event[0], SM_WATCHED_STOPS);
    ck_assert_uint_eq(emitted.cycle[0], TINY_FIRST_ISSUE);
    tiny_finish(m);
    ck_assert_uint_eq(emitted.count, 1);
    tiny_free(m);
}
END_TEST

Suite *issue_parts_suite(void);

Suite *issue_parts_suite(void) {
    Suite *suite = suite_create("issue_parts");
    TCase *knobs = tcase_create("issue_knobs"), *loads = tcase_create("load_gate"),
          *ownership = tcase_create("memory_ownership");
    tcase_add_test(knobs, warps_issue_when_they_may);
    tcase_add_test(knobs, preferred_warps_and_kinds_go_first);
    tcase_add_test(knobs, the_kind_that_is_wanted_goes_first);
    tcase_add_test(knobs, a_wrong_set_of_allowed_warps_is_found);
    tcase_add_test(knobs, a_knob_that_is_set_behind_its_gate_is_found);
    tcase_add_test(loads, loads_wait_until_the_warp_may_load);
    tcase_add_test(loads, shared_memory_and_stores_are_no_loads_for_the_gate);
    tcase_add_test(loads, atomics_of_global_memory_wait_like_loads_and_those_of_shared_memory_do_not);
    tcase_add_test(ownership, memory_instructions_wait_until_the_warp_may_issue_them);
    tcase_add_test(ownership, a_watched_warp_that_waits_for_its_load_is_told_of_once);
    tcase_add_test(ownership, a_watched_warp_that_waits_for_arithmetic_is_not_told_of_until_it_ends);
    tcase_add_test(ownership, a_watched_warp_at_a_barrier_is_told_of);
    suite_add_tcase(suite, knobs);
    suite_add_tcase(suite, loads);
    suite_add_tcase(suite, ownership);
    return suite;
}
