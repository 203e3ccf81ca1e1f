/* Little's law for the queues of objects and for links: a queue in order passes, every way to break one
 * shows. */
#include "core/sim/base/random.h"
#include "core/sim/checkpoint/snapshot.h"
#include "mem/dram/memory_controller.h"
#include "mem/parts/traffic/traffic.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/caches.h"
#include "tests/unit/panic_text.h"
#include "tests/unit/suites.h"

#include <stdlib.h>

Suite *queue_audit_suite(void);

#ifdef WW_DEBUG

/* An object with two queues that do nothing but count, and a wire to others of its kind. */
enum { FIFO, TABLE, SLOTS = 4 };

typedef struct {
    uint64_t number;
} Parcel;

static const Protocol parcel_protocol = {.name = "parcel", .request_bytes = sizeof(Parcel)};

typedef struct {
    SimObject obj;
    uint64_t length[2];
    Port in, out;
    uint64_t to_send, to_take;
} Shelf;

static const Field shelf_fields[] = {
    BASE(Shelf),
    STATE(Shelf, length, "What its queues say that they hold"),
    PORT(Shelf, in, parcel_protocol, ROLE_RESPONDER, "Parcels in", .optional = true),
    PORT(Shelf, out, parcel_protocol, ROLE_REQUESTER, "Parcels out", .optional = true),
    STATE(Shelf, to_send, "Parcels still to be sent, one per cycle"),
    STATE(Shelf, to_take, "Parcels still to be taken, one per cycle"),
    FIELDS_END};

static uint64_t length_of(const SimObject *object, uint32_t queue) {
    return ((const Shelf *)object)->length[queue];
}

static void shelf_init(SimObject *object) {
    audit_queue(object, FIFO, "things in turn", QUEUE_FIFO, SLOTS, length_of);
    audit_queue(object, TABLE, "things", QUEUE_TABLE, SLOTS, length_of);
}

static uint64_t shelf_tick(SimObject *object, uint64_t now) {
    Shelf *shelf = (Shelf *)object;
    if (shelf->to_send && link_can_send(shelf->out.send, now)) {
        ((Parcel *)link_send(shelf->out.send, now))->number = shelf->to_send--;
    }
    if (shelf->to_take && link_peek(shelf->in.receive, now)) {
        link_pop(shelf->in.receive, now);
        shelf->to_take--;
    }
    return now + object->period;
}

static const Class shelf_class = {.name = "Shelf",
                                  .doc = "For tests",
                                  .bytes = sizeof(Shelf),
                                  .fields = shelf_fields,
                                  .init = shelf_init,
                                  .tick = shelf_tick};

static Sim *sim;
static Shelf *shelf, *next_shelf;

static Shelf *add_shelf(const char *path) {
    SimObject *object = sim_add(sim, "Shelf", path, NULL);
    sim_finish_object(object);
    return (Shelf *)object;
}

/* With a latency of 4 cycles, the quantum, the link is cut. */
static void build(uint64_t latency) {
    class_register(&shelf_class);
    sim = sim_new("test");
    sim_clock(sim, "clock", 1000000000);
    shelf = add_shelf("shelf");
    next_shelf = add_shelf("next");
    sim_wire(sim, &shelf->obj, "out", &next_shelf->obj, "in", (LinkOptions){.latency = latency, .depth = 4},
             (LinkOptions){0});
    sim_elaborate(sim);
    ck_assert_uint_eq(shelf->out.send->cut, latency == 4);
}

static void set_up(void) {
    build(1);
}

static void tear_down(void) {
    sim_free(sim);
}

/* Steps of a story about one of the queues of `shelf`, by the test and not by ticks. */
static void at(uint64_t time) {
    sim->now = shelf->obj.cluster->now = time;
}
static void enter(uint32_t queue, uint32_t slot) {
    shelf->length[queue]++;
    audit_enter(&shelf->obj, queue, slot);
}
static void leave(uint32_t queue, uint32_t slot) {
    shelf->length[queue]--;
    audit_leave(&shelf->obj, queue, slot);
}

static void check(void *context) {
    (void)context;
    sim_check(sim, false);
}

START_TEST(queues_in_order_pass_whatever_is_inside) {
    for (uint64_t k = 0; k < 10; k++) {
        at(100 * k);
        enter(FIFO, k % SLOTS);
        enter(TABLE, k % 2);
        check(NULL);
        at(100 * k + 7);
        enter(TABLE, 2 + k % 2);
        if (k) leave(FIFO, (k - 1) % SLOTS);
        check(NULL);
        at(100 * k + 50);
        leave(TABLE, k % 2);
        audit_move(&shelf->obj, TABLE, 2 + k % 2, k % 2);
        leave(TABLE, k % 2);
        check(NULL);
    }
}
END_TEST

static void overwrite(void *context) {
    (void)context;
    enter(FIFO, 0);
    enter(FIFO, 0);
}

START_TEST(slot_given_to_a_second_message_loses_the_first) {
    at(30);
    assert_panic(overwrite, NULL,
                 "shelf: things in turn: slot 0 is given to another message; message 1, there since tick 30, "
                 "is lost");
}
END_TEST

static void leave_twice(void *context) {
    (void)context;
    enter(TABLE, 2);
    enter(TABLE, 3);
    leave(TABLE, 2);
    leave(TABLE, 2);
}

START_TEST(message_that_leaves_twice_is_none) {
    assert_panic(leave_twice, NULL, "shelf: things: slot 2 is left, and no message is in it");
}
END_TEST

static void overtake(void *context) {
    (void)context;
    enter(FIFO, 0);
    enter(FIFO, 1);
    leave(FIFO, 1);
}

START_TEST(message_that_overtakes_in_a_fifo_shows) {
    assert_panic(overtake, NULL, "shelf: things in turn: message 2 leaves in slot 1 before message 1");
}
END_TEST

static void move_onto_another(void *context) {
    (void)context;
    enter(TABLE, 0);
    enter(TABLE, 1);
    audit_move(&shelf->obj, TABLE, 0, 1);
}

START_TEST(message_moved_onto_another_shows) {
    assert_panic(move_onto_another, NULL, "slot 0 of queue 1 is moved onto slot 1, which is taken");
}
END_TEST

static void use_what_is_not_there(void *context) {
    (void)context;
    enter(TABLE, SLOTS);
}

START_TEST(slot_beyond_the_queue_shows) {
    assert_panic(use_what_is_not_there, NULL, "shelf: slot 4 of queue 1: no queue or slot matches");
}
END_TEST

START_TEST(wrong_count_shows) {
    enter(TABLE, 1);
    shelf->length[TABLE] = 2;
    assert_panic(check, NULL,
                 "shelf: things: 1 messages entered and 0 left, so 1 are inside; it says that it holds 2");
    shelf->length[TABLE] = 0;
    assert_panic(check, NULL, "it says that it holds 0");
}
END_TEST

/* 1 from 10 on, 3 instead of 2 from 20 on, 1 from 30 on: at 40 the sum is 10 + 30 + 10; inside were one
 * message from 10 to 30 and one from 20 to 40. */
START_TEST(count_that_was_wrong_for_a_while_breaks_littles_law) {
    at(10);
    enter(FIFO, 0);
    at(20);
    shelf->length[FIFO] = 2;
    enter(FIFO, 1);
    at(30);
    shelf->length[FIFO] = 2;
    leave(FIFO, 0);
    at(40);
    assert_panic(
        check, NULL,
        "shelf: things in turn: Little's law: its occupancy sums up to 50 messages * ticks, the time "
        "inside of its 2 messages to 40 ticks");
}
END_TEST

/* ---- Links. */

static const uint64_t latencies[] = {1, 4};

static void run_cycles(uint64_t cycles) {
    sim_run(sim, sim->now + cycles * shelf->obj.period);
}

/* Three parcels are on the link, six have crossed it. */
static void fill_link(uint64_t latency) {
    tear_down();
    build(latency);
    next_shelf->to_take = 6;
    shelf->to_send = 9;
    object_poke(&shelf->obj, 0);
    object_poke(&next_shelf->obj, 0);
    run_cycles(64);
    ck_assert_uint_eq(shelf->out.send->pushed, 9);
    ck_assert_uint_eq(shelf->out.send->popped, 6);
    check(NULL);
}

START_TEST(link_passes_full_empty_and_in_between) {
    fill_link(latencies[_i]);
    shelf->to_send = 50;
    for (uint64_t k = 0; k < 100; k++) {
        next_shelf->to_take = k % 3;
        run_cycles(4);
        check(NULL);
    }
    next_shelf->to_take = 100;
    run_cycles(100);
    sim_check(sim, true);
}
END_TEST

START_TEST(message_that_a_link_loses_shows) {
    fill_link(latencies[_i]);
    shelf->out.send->popped++;
    link_update_next_ready(shelf->out.send);
    assert_panic(check, NULL,
                 "link shelf.out -> next.in: 9 messages were sent and 6 received, it counts 9 and 7");
    next_shelf->to_take = 2;
    run_cycles(16);
    assert_panic(check, NULL, "9 messages were sent and 8 received, it counts 9 and 9");
}
END_TEST

START_TEST(message_that_a_link_delivers_twice_shows) {
    fill_link(latencies[_i]);
    shelf->out.send->popped--;
    link_update_next_ready(shelf->out.send);
    next_shelf->to_take = 4;
    run_cycles(16);
    assert_panic(check, NULL, "9 messages were sent and 10 received, it counts 9 and 9");
}
END_TEST

/* The ring has 4 slots: with a depth of 6 the fourth to sixth parcel get slots that are taken. */
START_TEST(message_that_a_link_overwrites_breaks_littles_law) {
    fill_link(latencies[_i]);
    shelf->out.send->depth = 6;
    shelf->to_send = 3;
    run_cycles(16);
    ck_assert_uint_eq(shelf->out.send->pushed, 12);
    assert_panic(check, NULL, "link shelf.out -> next.in: Little's law: its occupancy sums up to");
}
END_TEST

static void take_one(void *context) {
    (void)context;
    next_shelf->to_take = 1;
    run_cycles(8);
}

START_TEST(message_that_a_link_delivers_at_another_time_than_its_own_shows) {
    fill_link(latencies[_i]);
    uint64_t *ready = &shelf->out.send->ready[6 & shelf->out.send->slot_mask];
    *ready -= 1;
    assert_panic(take_one, NULL, "link shelf.out -> next.in: message 6 was sent at tick");
    *ready += 2;
    assert_panic(take_one, NULL, "link shelf.out -> next.in: message 6 was sent at tick");
    *ready -= 1;
    take_one(NULL);
    check(NULL);
}
END_TEST

/* ---- Snapshots: what was inside counts from then on. */

static Sim *memory_machine(void) {
    Sim *machine = sim_new("test");
    sim_clock(machine, "clock", 1000000000);
    static const char *const classes[] = {"AddressMap", "TrafficSource", "L1", "L2", "MemoryController"};
    static const char *const paths[] = {"map", "source", "l1", "l2", "mc"};
    SimObject *objects[5];
    for (int i = 0; i < 5; i++)
        objects[i] = sim_add(machine, classes[i], paths[i], NULL);
    object_set_number(objects[0], "channels", 1);
    object_set_text(objects[1], "footprint", "64KiB");
    object_set_number(objects[1], "writes", 0.3);
    object_set_number(objects[1], "limit", 3000);
    for (int i = 2; i < 4; i++) {
        object_set_text(objects[i], "size", "16KiB");
        object_set_number(objects[i], "ways", 4);
        object_set_number(objects[i], "mshrs", 16);
    }
    for (int i = 0; i < 5; i++)
        sim_finish_object(objects[i]);
    for (int i = 1; i < 4; i++)
        sim_wire(machine, objects[i], "mem", objects[i + 1], i == 3 ? "cpu[0]" : "cpu",
                 (LinkOptions){.latency = i == 2 ? 6 : 1}, (LinkOptions){.latency = i == 2 ? 6 : 1});
    sim_elaborate(machine);
    return machine;
}

START_TEST(machine_that_goes_on_from_a_snapshot_is_audited_from_there) {
    class_register(&l1_class);
    class_register(&l2_class);
    class_register(&address_map_class);
    class_register(&memory_controller_class);
    class_register(&traffic_source_class);
    Sim *straight = memory_machine();
    for (uint64_t cycle = 200; cycle < 4000; cycle += 757) {
        Buffer buffer = {0};
        char why[200];
        Sim *resumed = memory_machine();
        sim_run(straight, cycle * straight->clocks[0].period);
        sim_save(straight, &buffer);
        Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
        ck_assert_msg(sim_load(resumed, &reader, NULL, why, sizeof why), "%s", why);
        sim_check(resumed, false);
        sim_run(resumed, (cycle + 300) * resumed->clocks[0].period);
        sim_check(resumed, false);
        ck_assert_int_eq(sim_run(resumed, NEVER - resumed->quantum), STOP_IDLE);
        sim_check(resumed, true);
        buffer_free(&buffer);
        sim_free(resumed);
    }
    sim_free(straight);
}
END_TEST

/* Three parcels were on the link when the snapshot was loaded, a fourth came afterwards. A receiver that
 * takes it first shifts the three to later places. */
START_TEST(messages_of_a_snapshot_stay_unknown_wherever_a_receiver_moves_them) {
    Buffer buffer = {0};
    char why[200];
    fill_link(latencies[_i]);
    sim_save(sim, &buffer);
    tear_down();
    build(latencies[_i]);
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    ck_assert_msg(sim_load(sim, &reader, NULL, why, sizeof why), "%s", why);
    buffer_free(&buffer);
    shelf->to_send = 1;
    run_cycles(16);
    Link *link = shelf->out.send;
    ck_assert_uint_eq(link->pushed, 10);
    ck_assert_uint_eq(link->popped, 6);
    link_bring_forward(link, 3);
    ck_assert_uint_eq(((const Parcel *)link_message_at(link, 0))->number, 1);
    next_shelf->to_take = 4;
    run_cycles(16);
    ck_assert_uint_eq(link->popped, 10);
    sim_check(sim, true);
}
END_TEST

static void add_tests(Suite *suite) {
    TCase *queues = tcase_create("queues"), *links = tcase_create("links");
    tcase_add_checked_fixture(queues, set_up, tear_down);
    tcase_add_checked_fixture(links, set_up, tear_down);
    tcase_add_test(queues, queues_in_order_pass_whatever_is_inside);
    tcase_add_test(queues, slot_given_to_a_second_message_loses_the_first);
    tcase_add_test(queues, message_that_leaves_twice_is_none);
    tcase_add_test(queues, message_that_overtakes_in_a_fifo_shows);
    tcase_add_test(queues, message_moved_onto_another_shows);
    tcase_add_test(queues, slot_beyond_the_queue_shows);
    tcase_add_test(queues, wrong_count_shows);
    tcase_add_test(queues, count_that_was_wrong_for_a_while_breaks_littles_law);
    tcase_add_loop_test(links, link_passes_full_empty_and_in_between, 0, 2);
    tcase_add_loop_test(links, message_that_a_link_loses_shows, 0, 2);
    tcase_add_loop_test(links, message_that_a_link_delivers_twice_shows, 0, 2);
    tcase_add_loop_test(links, message_that_a_link_overwrites_breaks_littles_law, 0, 2);
    tcase_add_loop_test(links, message_that_a_link_delivers_at_another_time_than_its_own_shows, 0, 2);
    tcase_add_loop_test(links, messages_of_a_snapshot_stay_unknown_wherever_a_receiver_moves_them, 0, 2);
    tcase_add_test(links, machine_that_goes_on_from_a_snapshot_is_audited_from_there);
    suite_add_tcase(suite, queues);
    suite_add_tcase(suite, links);
}

#else

/* What every message touches is one line of each end; behind each stands a line of what is seldom used. */
START_TEST(link_carries_no_audit_outside_of_debug_builds) {
    ck_assert_uint_eq(offsetof(struct Link, next_ready), 128);
    ck_assert_uint_eq(sizeof(struct Link), 256);
}
END_TEST

static void add_tests(Suite *suite) {
    TCase *layout = tcase_create("layout");
    tcase_add_test(layout, link_carries_no_audit_outside_of_debug_builds);
    suite_add_tcase(suite, layout);
}

#endif

Suite *queue_audit_suite(void) {
    Suite *suite = suite_create("audit of queues");
    add_tests(suite);
    return suite;
}
