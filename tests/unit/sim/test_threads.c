/* Several host threads: the pool alone, and a machine of many clusters run by one or more of them. A small
 * class, Hop, passes a number on round a ring of clusters and mixes into it where and when it was. */
#include "core/sim/checkpoint/snapshot.h"
#include "core/sim/sim.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *threads_suite(void);

enum { ROUNDS = 20000, HOPS = 11, QUANTUM = 4 };

/* --- The pool -------------------------------------------------------------------------------- */

enum { ITEMS = 64 };

typedef struct {
    uint64_t input;
    uint32_t next;          /* item that nobody has taken yet */
    uint64_t output[ITEMS]; /* plain: the pool makes it visible */
    uint64_t calls[MAX_THREADS];
} Work;

static void take_items(void *context, uint32_t thread) {
    Work *work = context;
    work->calls[thread]++;
    for (uint32_t i; (i = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED)) < ITEMS;)
        work->output[i] += work->input + i;
}

START_TEST(a_round_ends_when_all_work_is_done_and_its_results_are_visible) {
    uint32_t threads = (uint32_t[]){1, 2, 3, 8}[_i];
    Work work = {0};
    WorkerPool *pool = worker_pool_new(threads, take_items, &work);
    for (uint64_t round = 0, want = 0; round < ROUNDS / threads; round++) {
        work.input = round;
        work.next = 0;
        want += round;
        worker_pool_run(pool);
        for (uint32_t i = 0; i < ITEMS; i++)
            ck_assert_uint_eq(work.output[i], want + (round + 1) * i);
    }
    worker_pool_free(pool);
    ck_assert_uint_eq(work.calls[0], ROUNDS / threads);
    for (uint32_t i = 1; i < threads; i++)
        ck_assert_uint_le(work.calls[i], ROUNDS / threads);
}
END_TEST

/* Long enough for every thread to come. */
static void wait_for_the_others(void *context, uint32_t thread) {
    uint32_t *present = context;
    (void)thread;
    __atomic_fetch_add(present, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(present, __ATOMIC_SEQ_CST) < 4)
        usleep(100);
}

START_TEST(all_threads_work_at_the_same_time) {
    uint32_t present = 0;
    WorkerPool *pool = worker_pool_new(4, wait_for_the_others, &present);
    worker_pool_run(pool);
    ck_assert_uint_eq(present, 4);
    worker_pool_free(pool);
}
END_TEST

START_TEST(a_pool_that_never_ran_can_be_freed) {
    Work work = {0};
    worker_pool_free(worker_pool_new(4, take_items, &work));
    ck_assert_uint_eq(work.next, 0);
}
END_TEST

/* --- A ring of clusters ---------------------------------------------------------------------- */

typedef struct {
    uint64_t value;
} Number;

static const Protocol number_protocol = {.name = "number", .request_bytes = sizeof(Number)};

typedef struct {
    SimObject obj;
    uint64_t fault_after; /* parameter: numbers after which it raises a user error; 0: never */
    Port in, out;
    uint64_t next; /* to send, when pending */
    uint64_t pending;
    uint64_t passed;
} Hop;

static const Field hop_fields[] = {BASE(Hop),
                                   PARAM(Hop, fault_after, "0", "numbers", "When to fail"),
                                   PORT(Hop, in, number_protocol, ROLE_RESPONDER, "Numbers in"),
                                   PORT(Hop, out, number_protocol, ROLE_REQUESTER, "Numbers out"),
                                   STATE(Hop, next, "What goes out next"),
                                   STATE(Hop, pending, "Is there something?"),
                                   STAT(Hop, passed, "numbers", "Numbers passed on"),
                                   FIELDS_END};

static void hop_init(SimObject *object) {
    Hop *hop = (Hop *)object;
    hop->next = object->id;
    hop->pending = 1;
}

static uint64_t hop_tick(SimObject *object, uint64_t now) {
    Hop *hop = (Hop *)object;
    const Number *number = link_peek(hop->in.receive, now);
    if (!hop->pending && number) {
        hop->next = hash_bytes(number->value ^ object->id, &now, sizeof now);
        hop->pending = 1;
        link_pop(hop->in.receive, now);
    }
    if (hop->pending && link_can_send(hop->out.send, now)) {
        *(Number *)link_send(hop->out.send, now) = (Number){hop->next};
        hop->pending = 0;
        hop->passed++;
        if (hop->passed == hop->fault_after) user_error("%s fails at %lu", object->path, hop->passed);
    }
    return link_next_ready(hop->in.receive) <= now ? now + object->period : link_next_ready(hop->in.receive);
}

static const Class hop_class = {.name = "Hop",
                                .doc = "For tests",
                                .bytes = sizeof(Hop),
                                .fields = hop_fields,
                                .init = hop_init,
                                .tick = hop_tick};

static Sim *ring(uint32_t threads, TickOrder order) {
    class_register(&hop_class);
    Sim *sim = sim_new("ring");
    SimObject *hops[HOPS];
    sim_clock(sim, "core", 700000000);
    sim_set_quantum(sim, QUANTUM);
    sim_set_threads(sim, threads);
    sim->order = order;
    for (uint32_t i = 0; i < HOPS; i++) {
        char path[16];
        snprintf(path, sizeof path, "hop[%u]", i);
        hops[i] = sim_add(sim, "Hop", path, "core");
        sim_finish_object(hops[i]);
    }
    for (uint32_t i = 0; i < HOPS; i++)
        sim_wire(sim, hops[i], "out", hops[(i + 1) % HOPS], "in", (LinkOptions){.latency = QUANTUM + i % 3},
                 (LinkOptions){0});
    return sim;
}

static Hop *hop_at(const Sim *sim, uint32_t index) {
    return (Hop *)sim->objects[index];
}

static uint64_t digest(const Sim *sim) {
    uint64_t sum = sim->now;
    for (uint32_t i = 0; i < HOPS; i++) {
        sum = hash_bytes(sum, &hop_at(sim, i)->next, sizeof(uint64_t));
        sum = hash_bytes(sum, &hop_at(sim, i)->passed, sizeof(uint64_t));
    }
    return sum;
}

static uint64_t digest_after(uint32_t threads, uint64_t cycles) {
    Sim *sim = ring(threads, ORDER_PATH);
    sim_elaborate(sim);
    ck_assert_uint_eq(sim->cluster_count, HOPS);
    sim_run(sim, cycles * sim->clocks[0].period);
    uint64_t result = digest(sim);
    ck_assert_uint_gt(hop_at(sim, HOPS - 1)->passed, cycles / (2 * QUANTUM));
    sim_free(sim);
    return result;
}

START_TEST(any_number_of_threads_leaves_the_same_state) {
    uint64_t want = digest_after(1, 4000);
    for (uint32_t threads = 2; threads <= HOPS + 2; threads++)
        ck_assert_uint_eq(digest_after(threads, 4000), want);
    ck_assert_uint_ne(digest_after(2, 4004), want);
}
END_TEST

START_TEST(the_number_of_threads_may_change_between_two_runs) {
    Sim *sim = ring(1, ORDER_PATH);
    sim_elaborate(sim);
    for (uint32_t part = 1; part <= 8; part++) {
        sim_run(sim, part * 500 * sim->clocks[0].period);
        if (part % 2)
            sim_set_threads(sim, part);
        else
            sim_stop_threads(sim);
    }
    ck_assert_uint_eq(digest(sim), digest_after(1, 4000));
    sim_free(sim);
}
END_TEST

/* --- Faults ---------------------------------------------------------------------------------- */

static void run_for_long(void *sim) {
    sim_run(sim, 100000 * ((Sim *)sim)->clocks[0].period);
}

/* hop[7] and hop[9] pass their 100th number in one quantum; hop[2] would fail one quantum later. */
static Sim *failing_ring(uint32_t threads, TickOrder order) {
    Sim *sim = ring(threads, order);
    object_set_number(sim->objects[9], "fault_after", 100);
    object_set_number(sim->objects[7], "fault_after", 100);
    sim_elaborate(sim);
    return sim;
}

START_TEST(the_fault_of_the_first_cluster_is_raised_with_any_threads_and_order) {
    uint32_t threads = (uint32_t[]){1, 2, 3, 8}[_i];
    for (TickOrder order = ORDER_PATH; order <= ORDER_SHUFFLED; order++) {
        Sim *sim = failing_ring(threads, order);
        const char *message = user_error_catch(run_for_long, sim);
        ck_assert_ptr_nonnull(message);
        ck_assert_str_eq(message, "hop[7] fails at 100");
        ck_assert_uint_eq(hop_at(sim, 9)->passed, 100); /* ran through the quantum as well */
        sim_free(sim);
    }
}
END_TEST

START_TEST(a_machine_that_failed_does_not_go_on) {
    Sim *sim = failing_ring(2, ORDER_PATH);
    ck_assert_ptr_nonnull(user_error_catch(run_for_long, sim));
    ck_assert_str_eq(user_error_catch(run_for_long, sim),
                     "machine ring was stopped by an error and cannot go on");
    sim_free(sim);
}
END_TEST

static void nothing(void *context) {
    (void)context;
}

START_TEST(a_caught_error_leaves_the_handler_before_it_in_place) {
    Sim *sim = failing_ring(1, ORDER_PATH);
    ck_assert_ptr_null(user_error_catch(nothing, NULL));
    ck_assert_ptr_nonnull(user_error_catch(run_for_long, sim));
    sim_free(sim);
    user_error("now it ends the process");
}
END_TEST

START_TEST(too_many_threads_are_a_user_error) {
    sim_set_threads(ring(1, ORDER_PATH), MAX_THREADS + 1);
}
END_TEST

/* --- All threads, or one ----------------------------------------------------------------------- */

/* Trials that take so long by turns, of all threads and of one; `hiccup` is added to one of each kind. */
static ThreadChoice after_trials(uint64_t of_all, uint64_t of_one, uint64_t hiccup) {
    ThreadChoice choice = {0};
    uint64_t now = 1000;
    thread_choice_go_on(&choice, now);
    for (uint32_t trial = 0; choice.trial; trial++) {
        ck_assert_uint_lt(trial, 100);
        now += (trial % 2 ? of_one : of_all) + (trial == 2 || trial == 3 ? hiccup : 0);
        thread_choice_go_on(&choice, now);
    }
    return choice;
}

START_TEST(what_was_faster_runs_until_the_next_trials) {
    ck_assert(after_trials(200, 100, 0).one_is_faster);
    ck_assert(!after_trials(100, 200, 0).one_is_faster);
    ck_assert(after_trials(200, 100, 1000000).one_is_faster); /* the host did something else */
    ck_assert(!after_trials(100, 200, 1000000).one_is_faster);
    ThreadChoice choice = after_trials(200, 100, 0);
    uint32_t between = choice.left;
    ck_assert_uint_gt(between, 100);
    thread_choice_go_on(&choice, 5000);
    ck_assert_uint_eq(choice.trial, 1);
    while (choice.trial)
        thread_choice_go_on(&choice, 6000);
    ck_assert_uint_eq(choice.left, 2 * between); /* they become rarer */
    thread_choice_go_on(&choice, 7000);
    ck_assert_uint_lt(choice.left, 100);
}
END_TEST

Suite *threads_suite(void) {
    Suite *suite = suite_create("threads");
    TCase *pool = tcase_create("pool"), *machine = tcase_create("machine"), *faults = tcase_create("faults");
    tcase_add_loop_test(pool, a_round_ends_when_all_work_is_done_and_its_results_are_visible, 0, 4);
    tcase_add_test(pool, all_threads_work_at_the_same_time);
    tcase_add_test(pool, a_pool_that_never_ran_can_be_freed);
    tcase_add_test(machine, what_was_faster_runs_until_the_next_trials);
    tcase_add_test(machine, any_number_of_threads_leaves_the_same_state);
    tcase_add_test(machine, the_number_of_threads_may_change_between_two_runs);
    tcase_add_loop_test(faults, the_fault_of_the_first_cluster_is_raised_with_any_threads_and_order, 0, 4);
    tcase_add_test(faults, a_machine_that_failed_does_not_go_on);
    tcase_add_exit_test(faults, a_caught_error_leaves_the_handler_before_it_in_place, EXIT_USER_ERROR);
    tcase_add_exit_test(faults, too_many_threads_are_a_user_error, EXIT_USER_ERROR);
    tcase_set_timeout(pool, 60);
    suite_add_tcase(suite, pool);
    suite_add_tcase(suite, machine);
    suite_add_tcase(suite, faults);
    return suite;
}
