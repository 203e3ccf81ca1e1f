/* What waits at a memory controller, transferred to one with other queues. */
#include "core/sim/base/random.h"
#include "core/sim/checkpoint/snapshot.h"
#include "mem/dram/memory_controller_state.h"
#include "mem/protocol/address_map.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/mem/memory_driver.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

enum { PORTS = 2 };

typedef struct {
    Sim *sim;
    MemoryController *mc;
    SimObject *drivers[PORTS];
} Rig;

static Rig rig, changed;
static char notes[4096], why[512];

/* Requests sent in cycle s enter a queue from s + 1 on, one per port and cycle. */
static Rig new_rig(const char *parameters) {
    Rig r = {.sim = sim_new("test")};
    sim_clock(r.sim, "dram", 924000000);
    sim_set_quantum(r.sim, 1);
    tiny_add(r.sim, "AddressMap", "map", "channels=1");
    SimObject *mc = sim_add(r.sim, "MemoryController", "mc", NULL);
    tiny_set(mc, "ports=2 check_commands=true");
    tiny_set(mc, parameters);
    sim_finish_object(mc);
    for (uint32_t port = 0; port < PORTS; port++) {
        char driver[16], cpu[16];
        snprintf(driver, sizeof driver, "driver[%u]", port);
        snprintf(cpu, sizeof cpu, "cpu[%u]", port);
        r.drivers[port] = tiny_add(r.sim, "MemoryDriver", driver, NULL);
        sim_wire(r.sim, r.drivers[port], "mem", mc, cpu, (LinkOptions){.depth = 128},
                 (LinkOptions){.depth = 128});
    }
    sim_elaborate(r.sim);
    r.mc = (MemoryController *)mc;
    return r;
}

static void set_up(void) {
    memory_test_classes();
    class_register(&address_map_class);
    class_register(&memory_controller_class);
    rig = changed = (Rig){0};
}

static void tear_down(void) {
    sim_free(rig.sim);
    sim_free(changed.sim);
}

static void run_to(const Rig *r, uint64_t cycle) {
    sim_run(r->sim, cycle * r->mc->obj.period);
}

static void run_to_end(const Rig *r) {
    ck_assert_int_eq(sim_run(r->sim, NEVER), STOP_IDLE);
    sim_settle(r->sim);
    sim_check(r->sim, true);
}

static void add_note(void *context, const char *line) {
    (void)context;
    strncat(notes, line, sizeof notes - strlen(notes) - 2);
    strcat(notes, "\n");
}

/* `changed` goes on from where `rig` is. */
static bool takes_over(bool reset_knobs) {
    SnapshotChanges changes = {.allowed = true, .reset_knobs = reset_knobs, .note = add_note};
    Buffer buffer = {0};
    notes[0] = why[0] = 0;
    sim_save(rig.sim, &buffer);
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    bool good = sim_load(changed.sim, &reader, &changes, why, sizeof why);
    buffer_free(&buffer);
    if (good) memory_controller_check(&changed.mc->obj, false);
    return good;
}

static void transfer(const char *parameters) {
    changed = new_rig(parameters);
    ck_assert_msg(takes_over(false), "%s", why);
}

/* Row 27:16, bank {15:13, 8}, column {12:9, 7:0}. */
static uint64_t location(uint32_t row, uint32_t bank, uint32_t line) {
    uint64_t column = line * 128;
    return (uint64_t)row << 16 | (uint64_t)(bank >> 1) << 13 | (uint64_t)(bank & 1) << 8 | (column & 0xff) |
           (column >> 8) << 9;
}

typedef enum { READ, WRITE, POSTED } Kind;

static void send(const Rig *r, uint32_t token, Kind kind, uint32_t class_number, uint64_t address,
                 uint32_t bytes) {
    MemMessage message = kind == READ    ? read_request(address, bytes)
                         : kind == WRITE ? write_request(address, bytes)
                                         : posted_write_request(address, bytes);
    message.token = token;
    message.class_number = (uint8_t)class_number;
    memory_driver_send(r->drivers[0], 0, message);
}

/* Of two classes, for two rows of each of two banks; writes are for other rows than those that the first
 * requests open, of bank 0 in cycle 2 and of bank 2 in cycle 8. Request n enters its queue in cycle n + 1. */
static void send_eight(const Rig *r) {
    send(r, 0, READ, 1, location(0, 0, 0), 128);
    send(r, 1, READ, 0, location(5, 2, 0), 64);
    send(r, 2, POSTED, 0, location(1, 0, 1), 64);
    send(r, 3, READ, 1, location(0, 0, 2), 64);
    send(r, 4, READ, 0, location(1, 0, 0), 64);
    send(r, 5, POSTED, 1, location(7, 2, 1), 64);
    send(r, 6, WRITE, 0, location(7, 2, 2), 64);
    send(r, 7, READ, 1, location(5, 2, 3), 64);
}

typedef struct {
    uint32_t count, tokens[8];
    uint64_t bank_0, bank_2, row_hit, write, unserved_reply;
} Expected;

static void expect_queue(uint32_t q, const Expected *want) {
    const DramQueue *queue = &changed.mc->queue[q];
    ck_assert_uint_eq(queue->count, want->count);
    for (uint32_t rank = 0; rank < want->count; rank++) {
        const Request *request = request_at(changed.mc, q, rank);
        ck_assert_uint_eq(request->message.token, want->tokens[rank]);
        ck_assert_uint_eq(request->entered, want->tokens[rank] + 1);
    }
    ck_assert_uint_eq(queue->banks, 1 << 0 | 1 << 2);
    for (uint32_t bank = 0; bank < DRAM_BANKS_MAX; bank++)
        ck_assert_uint_eq(queue->of_bank[bank], bank == 0 ? want->bank_0 : bank == 2 ? want->bank_2 : 0);
    ck_assert_uint_eq(queue->row_hit, want->row_hit);
    ck_assert_uint_eq(queue->closed, 0);
    ck_assert_uint_eq(queue->write, want->write);
    ck_assert_uint_eq(queue->unserved_reply, want->unserved_reply);
    ck_assert_uint_eq(queue->used_slots, (1ull << want->count) - 1);
}

static void expect_answers(const uint32_t *tokens, uint32_t count) {
    const MessageLog *log = memory_driver_responses(changed.drivers[0]);
    ck_assert_uint_eq(log->count, count);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(log->entries[i].message.token, tokens[i]);
}

/* The first of two bursts of request 0 was read at 14; for 17, the first cycle of the changed machine, the
 * second is planned. */
START_TEST(what_waits_in_one_queue_goes_to_those_of_its_classes) {
    rig = new_rig(NULL);
    send_eight(&rig);
    run_to(&rig, 17);
    transfer("queues=2");
    expect_queue(0, &(Expected){3, {1, 4, 6}, 0x2, 0x5, 0x1, 0x4, 0x7});
    expect_queue(1, &(Expected){5, {0, 2, 3, 5, 7}, 0x07, 0x18, 0x15, 0x0a, 0x14});
    ck_assert_uint_eq(changed.mc->plan.cycle, 17);
    ck_assert_uint_eq(changed.mc->plan.queue, 1);
    ck_assert_uint_eq(changed.mc->plan.rank, 0);
    ck_assert_ptr_nonnull(strstr(notes, "mc: waiting requests were put into the queues of their classes"));
    /* That is done; from then on the first queue goes first, whose requests 4 and 6 keep 3 and 7
     * from their banks though their rows are open. In one queue these came before 4 and 6. */
    run_to_end(&changed);
    expect_answers((uint32_t[]){0, 1, 4, 6, 3, 7}, 6);
}
END_TEST

/* Request 4 of the first queue has kept those of the second from bank 0, so that all wait at 20, for which
 * the READ of request 1 is planned. */
START_TEST(what_waits_in_two_queues_goes_to_one_in_order_of_arrival) {
    rig = new_rig("queues=2");
    send_eight(&rig);
    run_to(&rig, 20);
    transfer(NULL);
    expect_queue(0, &(Expected){8, {0, 1, 2, 3, 4, 5, 6, 7}, 0x1d, 0xe2, 0x8b, 0x64, 0xdb});
    ck_assert_uint_eq(changed.mc->plan.cycle, 20);
    ck_assert_uint_eq(changed.mc->plan.queue, 0);
    ck_assert_uint_eq(changed.mc->plan.rank, 1);
    run_to_end(&changed);
    /* After 1 the first burst of 0 at 22, 7 at 24, and tCCDL after that the second burst of 0 at 26; then
     * the rows of the writes, which can be written before they can be read. */
    expect_answers((uint32_t[]){1, 7, 0, 3, 6, 4}, 6);
}
END_TEST

static char *finished_stats(const Rig *r) {
    run_to_end(r);
    return stats_text(r->sim);
}

static void send_mixed_traffic(const Rig *r) {
    Random random = {3};
    for (uint32_t i = 0; i < 500; i++) {
        uint64_t address = location((uint32_t)random_below(&random, 3), (uint32_t)random_below(&random, 16),
                                    (uint32_t)random_below(&random, 32));
        uint64_t kind = random_below(&random, 4);
        uint32_t bytes = 32u << random_below(&random, 3);
        MemMessage message = kind < 2    ? read_request(address, bytes)
                             : kind == 2 ? write_request(address, bytes)
                                         : posted_write_request(address, bytes);
        message.class_number = (uint8_t)random_below(&random, 4);
        memory_driver_send(r->drivers[i & 1], i * 2 + random_below(&random, 40), message);
    }
}

/* From one queue to one of three, and back: a machine that has been through it ends like one that has not,
 * whatever it was about to do. */
START_TEST(queues_that_differ_in_name_only_change_nothing) {
    static const char one[] = "queue_entries=24 age_cap=200 return_entries=6",
                      last_of_three[] = "queues=3 class_queues=2,2,2,2 queue_entries=24 age_cap=200 "
                                        "return_entries=6";
    const char *before = _i % 2 ? last_of_three : one, *after = _i % 2 ? one : last_of_three;
    rig = new_rig(before);
    send_mixed_traffic(&rig);
    char *straight = finished_stats(&rig);
    sim_free(rig.sim);
    rig = new_rig(before);
    send_mixed_traffic(&rig);
    run_to(&rig, 20 + 61 * (uint64_t)_i);
    changed = new_rig(after);
    send_mixed_traffic(&changed);
    ck_assert_msg(takes_over(false), "%s", why);
    ck_assert_uint_gt(changed.mc->waiting, 0);
    char *got = finished_stats(&changed);
    ck_assert_str_eq(got, straight);
    free(got);
    free(straight);
}
END_TEST

/* Reads of one row from cycle 1 on, of class n % classes; the bank takes its first READ in cycle 14. */
static void send_reads(const Rig *r, uint32_t count, uint32_t classes) {
    for (uint32_t i = 0; i < count; i++)
        send(r, i, READ, i % classes, location(0, 0, i % 32), 64);
}

/* Ten wait, and an eleventh at the port or on its way; READs at 14, 17, 20, 23 leave six, and the one at 26
 * five, of which there may be as many. So does that of 29, and in the same cycle the eleventh enters. */
START_TEST(shorter_queue_keeps_what_waits_and_takes_no_more) {
    rig = new_rig(_i ? "queue_entries=10" : NULL);
    send_reads(&rig, 14, 1);
    run_to(&rig, _i ? 12 : 11);
    ck_assert_uint_eq(rig.mc->queue[0].count, 10);
    changed = new_rig("queue_entries=5");
    send_reads(&changed, 14, 1);
    ck_assert_msg(takes_over(false), "%s", why);
    ck_assert_uint_eq(changed.mc->queue[0].count, 10);
    run_to(&changed, 27);
    ck_assert_uint_eq(changed.mc->queue[0].count, 5);
    ck_assert_uint_eq(changed.mc->reads, 10);
    run_to(&changed, 29);
    ck_assert_uint_eq(changed.mc->reads, 10);
    run_to(&changed, 30);
    ck_assert_uint_eq(changed.mc->queue[0].count, 5);
    ck_assert_uint_eq(changed.mc->reads, 11);
    run_to_end(&changed);
    ck_assert_uint_eq(memory_driver_responses(changed.drivers[0])->count, 14);
}
END_TEST

/* The fourth waits at the port since cycle 4; it enters in the first cycle of the changed machine. */
START_TEST(longer_queue_takes_at_once_what_waits_for_room) {
    rig = new_rig("queue_entries=3");
    send_reads(&rig, 5, 1);
    run_to(&rig, 8);
    ck_assert_uint_eq(rig.mc->port_blocked, 1);
    transfer("queue_entries=4");
    run_to(&changed, 9);
    ck_assert_uint_eq(changed.mc->queue[0].count, 4);
    ck_assert_uint_eq(request_at(changed.mc, 0, 3)->entered, 8);
    ck_assert_uint_eq(request_at(changed.mc, 0, 3)->arrived, 4);
    sim_settle(changed.sim);
    ck_assert_uint_eq(changed.mc->port_blocked, 0);
    run_to_end(&changed);
    ck_assert_uint_eq(memory_driver_responses(changed.drivers[0])->count, 5);
}
END_TEST

/* To more room for responses and back, in which the rings stay longer. */
START_TEST(room_for_responses_that_was_there_for_a_moment_changes_nothing) {
    static const char own[] = "queue_entries=24 age_cap=200 return_entries=3";
    rig = new_rig(own);
    send_mixed_traffic(&rig);
    char *straight = finished_stats(&rig);
    sim_free(rig.sim);
    rig = new_rig(own);
    send_mixed_traffic(&rig);
    run_to(&rig, 100 + 61 * (uint64_t)_i);
    transfer("queue_entries=24 age_cap=200 return_entries=50");
    sim_free(rig.sim);
    rig = changed;
    changed = new_rig(own);
    send_mixed_traffic(&changed);
    ck_assert_msg(takes_over(false), "%s", why);
    ck_assert_uint_eq(changed.mc->return_places, 50);
    char *got = finished_stats(&changed);
    ck_assert_str_eq(got, straight);
    free(got);
    free(straight);
}
END_TEST

static uint32_t places_taken(const Rig *r) {
    return r->mc->returns[0].held + r->mc->returns[0].promised;
}

/* The second READ waits for the only place. It is planned in the first cycle of the changed machine, 20. */
START_TEST(read_goes_on_at_once_when_there_is_more_room_for_responses) {
    rig = new_rig("return_entries=1");
    send_reads(&rig, 4, 1);
    run_to(&rig, 20);
    ck_assert_uint_eq(rig.mc->read_commands, 1);
    changed = new_rig("return_entries=2");
    send_reads(&changed, 4, 1);
    ck_assert_msg(takes_over(false), "%s", why);
    run_to(&changed, 21);
    ck_assert_uint_eq(changed.mc->read_commands, 1);
    run_to(&changed, 22);
    ck_assert_uint_eq(changed.mc->read_commands, 2);
    run_to_end(&changed);
    ck_assert_uint_eq(memory_driver_responses(changed.drivers[0])->count, 4);
}
END_TEST

/* Whatever command is planned: with more responses in flight than there may be, no place is taken before
 * fewer are, and never again more than two. */
START_TEST(responses_that_are_too_many_leave_before_another_place_is_taken) {
    rig = new_rig("return_entries=8");
    send_reads(&rig, 20, 1);
    run_to(&rig, 15 + (uint64_t)_i);
    uint32_t taken = places_taken(&rig), answered = memory_driver_responses(rig.drivers[0])->count;
    changed = new_rig("return_entries=2");
    send_reads(&changed, 20, 1);
    ck_assert_msg(takes_over(false), "%s", why);
    ck_assert_uint_eq(places_taken(&changed), taken);
    for (uint64_t cycle = 16 + (uint64_t)_i; places_taken(&changed) > 0; cycle++) {
        run_to(&changed, cycle);
        ck_assert_uint_le(places_taken(&changed), taken > 2 ? taken : 2);
        taken = places_taken(&changed);
    }
    run_to_end(&changed);
    ck_assert_uint_eq(answered + memory_driver_responses(changed.drivers[0])->count, 20);
}
END_TEST

/* 64 are all that a queue can ever hold. */
START_TEST(more_than_a_queue_can_hold_is_refused) {
    uint32_t requests = _i ? 65 : 64;
    rig = new_rig("queues=2 tRCD=200");
    send_reads(&rig, requests, 2);
    run_to(&rig, 70);
    ck_assert_uint_eq(rig.mc->waiting, requests);
    changed = new_rig("tRCD=200");
    ck_assert_int_eq(takes_over(false), !_i);
    if (_i)
        ck_assert_str_eq(
            why, "mc.queues: expected up to 64 waiting requests for queue 0 of 1, got 65; the 2 queues of "
                 "the checkpoint, more queues for its classes or a checkpoint of another cycle help");
    else
        run_to_end(&changed);
}
END_TEST

START_TEST(classes_that_are_sent_elsewhere_take_what_waits_with_them) {
    rig = new_rig("queues=2");
    send_eight(&rig);
    run_to(&rig, 16);
    transfer("queues=2 class_queues=1,0");
    expect_queue(0, &(Expected){3, {0, 3, 7}, 0x3, 0x4, 0x7, 0x0, 0x7});
    expect_queue(1, &(Expected){5, {1, 2, 4, 5, 6}, 0x06, 0x19, 0x01, 0x1a, 0x15});
    ck_assert_uint_eq(class_value(&changed.mc->queue_of_class, 0), 1);
    ck_assert_uint_eq(class_value(&changed.mc->queue_of_class, 1), 0);
    run_to_end(&changed);
}
END_TEST

/* Another policy's classes are in place when the state comes. */
START_TEST(what_the_next_policy_says_of_classes_holds) {
    rig = new_rig(NULL);
    send_eight(&rig);
    run_to(&rig, 16);
    changed = new_rig("queues=2");
    memory_controller_set_queue(&changed.mc->obj, 0, 1);
    memory_controller_set_queue(&changed.mc->obj, 1, 0);
    ck_assert_msg(takes_over(true), "%s", why);
    expect_queue(0, &(Expected){3, {0, 3, 7}, 0x3, 0x4, 0x7, 0x0, 0x6});
    run_to_end(&changed);
}
END_TEST

/* With the queues of the checkpoint, what the policy has said goes on, and requests stay where they are. */
START_TEST(what_the_policy_has_said_of_classes_goes_on) {
    rig = new_rig("queues=2");
    send_eight(&rig);
    run_to(&rig, 16);
    memory_controller_set_queue(&rig.mc->obj, 0, 1);
    transfer("queues=2 queue_entries=20");
    ck_assert_uint_eq(class_value(&changed.mc->queue_of_class, 0), 1);
    ck_assert_uint_eq(changed.mc->queue[0].count, 3);
    ck_assert_uint_eq(changed.mc->queue[1].count, 5);
    ck_assert_str_eq(notes, "mc.queue_entries: 64 became 20\n");
    run_to_end(&changed);
}
END_TEST

START_TEST(what_else_state_depends_on_is_refused_with_both_values) {
    rig = new_rig(NULL);
    changed = new_rig("queues=2 bank_groups=2");
    ck_assert(!takes_over(false));
    ck_assert_str_eq(
        why,
        "mc.bank_groups: expected 4 as in the checkpoint, got 2, to which its state cannot be converted");
}
END_TEST

START_TEST(damaged_queues_are_refused) {
    rig = new_rig(NULL);
    send_eight(&rig);
    run_to(&rig, 16);
    DramQueue *queue = rig.mc->queue;
    switch (_i) {
    case 0: queue->count = 65; break;
    case 1: queue->slot[7] = 64; break;
    case 2: queue->bank[7] = 16; break;
    }
    changed = new_rig("queues=2");
    ck_assert(!takes_over(false));
    ck_assert_str_eq(why, "mc: its queues are damaged");
}
END_TEST

Suite *queue_transfer_suite(void);

Suite *queue_transfer_suite(void) {
    Suite *suite = suite_create("queue_transfer");
    TCase *tests = tcase_create("queue_transfer");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_waits_in_one_queue_goes_to_those_of_its_classes);
    tcase_add_test(tests, what_waits_in_two_queues_goes_to_one_in_order_of_arrival);
    tcase_add_loop_test(tests, queues_that_differ_in_name_only_change_nothing, 0, 16);
    tcase_add_loop_test(tests, shorter_queue_keeps_what_waits_and_takes_no_more, 0, 2);
    tcase_add_test(tests, longer_queue_takes_at_once_what_waits_for_room);
    tcase_add_loop_test(tests, more_than_a_queue_can_hold_is_refused, 0, 2);
    tcase_add_loop_test(tests, room_for_responses_that_was_there_for_a_moment_changes_nothing, 0, 16);
    tcase_add_test(tests, read_goes_on_at_once_when_there_is_more_room_for_responses);
    tcase_add_loop_test(tests, responses_that_are_too_many_leave_before_another_place_is_taken, 0, 30);
    tcase_add_test(tests, classes_that_are_sent_elsewhere_take_what_waits_with_them);
    tcase_add_test(tests, what_the_next_policy_says_of_classes_holds);
    tcase_add_test(tests, what_the_policy_has_said_of_classes_goes_on);
    tcase_add_test(tests, what_else_state_depends_on_is_refused_with_both_values);
    tcase_add_loop_test(tests, damaged_queues_are_refused, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}
