/* Which input wins: by rule, and by what a subscriber answers. */
#include "core/sim/event.h"
#include "mem/network/arbitration.h"
#include "tests/unit/mem/network/crossbar_fixture.h"

#include <stdlib.h>

Suite *arbitration_suite(void);

/* ---- Mux. */

enum { CACHES = 3, LINK_DEPTH = 8, BEGIN = 100 };

typedef struct {
    Sim *sim;
    SimObject *mux, *cache[CACHES], *memory;
} Joined;

/* The memory takes nothing before BEGIN. Cache 0 has filled the link to it, so the round-robin pointer is at 1.
 * Then come heads that wait: of cache 2, then of cache 1, then of cache 0. */
static Joined joined(const char *arbitration, const char *class_priority) {
    Joined net = {.sim = sim_new("test")};
    class_register_all();
    memory_test_classes();
    sim_clock(net.sim, "core", 700000000);
    net.mux = sim_add(net.sim, "Mux", "port", NULL);
    object_set_number(net.mux, "up", CACHES);
    object_set_text(net.mux, "arbitration", arbitration);
    object_set_text(net.mux, "class_priority", class_priority);
    sim_finish_object(net.mux);
    net.memory = sim_add(net.sim, "MemoryResponder", "memory", NULL);
    object_set_number(net.memory, "refuse_until", BEGIN);
    sim_finish_object(net.memory);
    sim_wire(net.sim, net.mux, "down", net.memory, "cpu", (LinkOptions){.depth = LINK_DEPTH},
             (LinkOptions){.depth = LINK_DEPTH});
    for (uint32_t i = 0; i < CACHES; i++) {
        char port[16];
        net.cache[i] = add(net.sim, "MemoryDriver", "cache", i, NULL);
        sim_finish_object(net.cache[i]);
        snprintf(port, sizeof port, "up[%u]", i);
        sim_wire(net.sim, net.cache[i], "mem", net.mux, port, (LinkOptions){0}, (LinkOptions){0});
    }
    sim_elaborate(net.sim);
    return net;
}

static void send_from(const Joined *net, uint32_t cache, uint64_t cycle) {
    static const uint8_t class_of[CACHES] = {1, 2, 0};
    MemMessage m = posted_write_request(0, 32);
    m.warp = (uint16_t)cache;
    m.class_number = class_of[cache];
    memory_driver_send(net->cache[cache], cycle, m);
}

/* The first request of cache 0 was sent long before: it is the oldest of all, but came last. */
static void wait_at_ports(const Joined *net) {
    for (uint32_t k = 0; k < LINK_DEPTH; k++)
        send_from(net, 0, 10);
    send_from(net, 2, 30);
    send_from(net, 1, 40);
    send_from(net, 0, 50);
    sim_run(net->sim, 80 * net->sim->clocks[0].period);
    const Link *link = object_port(net->mux, "up[0]", &(const Field *){NULL})->receive;
    ((MemMessage *)(uintptr_t)link_peek(link, net->sim->now))->issued = 1;
    ck_assert_uint_eq(memory_responder_arrivals(net->memory)->count, 0);
}

static void expect_order(const Joined *net, const uint32_t *order) {
    ck_assert_int_eq(sim_run(net->sim, UINT64_MAX), STOP_IDLE);
    sim_check(net->sim, true);
    const MessageLog *log = memory_responder_arrivals(net->memory);
    ck_assert_uint_eq(log->count, LINK_DEPTH + CACHES);
    for (uint32_t k = 0; k < CACHES; k++)
        ck_assert_uint_eq(log->entries[LINK_DEPTH + k].message.warp, order[k]);
}

static const struct {
    const char *rule, *class_priority;
    uint32_t order[CACHES];
} rules[] = {
    {"round_robin", "", {1, 2, 0}}, {"priority", "", {0, 1, 2}}, {"oldest", "", {2, 1, 0}},
    {"age", "", {0, 2, 1}},         {"class", "", {2, 0, 1}},    {"class", "5,1,0", {1, 0, 2}},
    {"class", "1,1,1", {1, 2, 0}}, /* equals: by turns */
};

START_TEST(a_mux_serves_by_its_rule) {
    Joined net = joined(rules[_i].rule, rules[_i].class_priority);
    wait_at_ports(&net);
    expect_order(&net, rules[_i].order);
    sim_free(net.sim);
}
END_TEST

/* Answers with the highest input, with one that does not ask, or not at all; remembers what it was asked. */
typedef struct {
    Subscriber subscriber;
    enum { HIGHEST, ABSENT, SILENT } answer;
    uint32_t asked;
    int64_t arguments[32][4];
} Judge;

static int64_t judge(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                     uint64_t now) {
    Judge *j = (Judge *)subscriber;
    (void)object, (void)now;
    ck_assert_uint_eq(event, ARBITRATE);
    ck_assert_uint_lt(j->asked, 32);
    memcpy(j->arguments[j->asked++], arguments, sizeof j->arguments[0]);
    if (j->answer == SILENT) return NO_ANSWER;
    if (j->answer == ABSENT) return 7;
    return 63 - __builtin_clzll((uint64_t)arguments[2]);
}

static void expect_question(const Judge *j, uint32_t k, int64_t responses, int64_t output, int64_t inputs,
                            int64_t choice) {
    const int64_t want[4] = {responses, output, inputs, choice};
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_int_eq(j->arguments[k][i], want[i]);
}

START_TEST(a_mux_serves_whom_a_subscriber_names) {
    Joined net = joined("round_robin", "");
    Judge j = {{judge}, HIGHEST, 0, {{0}}};
    wait_at_ports(&net);
    object_subscribe(net.mux, &j.subscriber, 1u << ARBITRATE);
    expect_order(&net, (const uint32_t[]){2, 1, 0});
    ck_assert_uint_eq(j.asked, 3);
    expect_question(&j, 0, 0, 0, 7, 1);
    expect_question(&j, 1, 0, 0, 3, 0);
    expect_question(&j, 2, 0, 0, 1, 0);
    sim_free(net.sim);
}
END_TEST

START_TEST(without_an_answer_a_mux_serves_by_its_rule) {
    Joined net = joined("oldest", "");
    Judge j = {{judge}, _i ? ABSENT : SILENT, 0, {{0}}};
    wait_at_ports(&net);
    object_subscribe(net.mux, &j.subscriber, 1u << ARBITRATE);
    expect_order(&net, (const uint32_t[]){2, 1, 0});
    expect_question(&j, 0, 0, 0, 7, 2);
    sim_free(net.sim);
}
END_TEST

START_TEST(subscribers_may_look_at_the_heads) {
    Joined net = joined("round_robin", "");
    wait_at_ports(&net);
    const Method *head = class_method(net.mux->class, "head");
    MethodCall call = {.argument = {{.whole = 2}}};
    head->call(net.mux, &call);
    ck_assert(!call.nothing);
    ck_assert_int_eq(call.result[0].whole, 0);
    ck_assert_int_eq(call.result[2].whole, 2);
    ck_assert(call.result[4].flag);
    ck_assert_int_eq(call.result[6].whole, (int64_t)(31 * net.sim->clocks[0].period));
    expect_order(&net, (const uint32_t[]){1, 2, 0});
    head->call(net.mux, &call);
    ck_assert(call.nothing);
    sim_free(net.sim);
}
END_TEST

/* ---- Crossbar. */

/* SM 0's packet takes slice 0's output for five cycles from 11 on. Meanwhile heads come of SM 2, then of SM 1. */
static Network three_to_one(const char *arbitration) {
    Network net = start_network((Options){.up = 3, .down = 1, .arbitration = arbitration});
    for (uint32_t k = 0; k < 3; k++) {
        static const uint32_t sms[] = {0, 2, 1};
        MemMessage m = posted_write_request(0, 128);
        m.class_number = (uint8_t)(sms[k] == 2);
        send(&net, 10 + k, sms[k], m);
    }
    return net;
}

static void expect_sms(Network *net, uint32_t first, uint32_t second, uint32_t third) {
    run_to_end(net);
    ck_assert_uint_eq(arrival(net, 0, 0)->message.sm, first);
    ck_assert_uint_eq(arrival(net, 0, 1)->message.sm, second);
    ck_assert_uint_eq(arrival(net, 0, 2)->message.sm, third);
    ck_assert_uint_eq(arrival(net, 0, 1)->cycle, arrival(net, 0, 0)->cycle + 5);
    sim_free(net->sim);
}

static const struct {
    const char *rule;
    uint32_t order[3];
} crossbar_rules[] = {
    {"round_robin", {0, 1, 2}}, {"priority", {0, 1, 2}}, {"oldest", {0, 2, 1}},
    {"age", {0, 2, 1}},         {"class", {0, 1, 2}},
};

START_TEST(a_crossbar_serves_by_its_rule) {
    Network net = three_to_one(crossbar_rules[_i].rule);
    expect_sms(&net, crossbar_rules[_i].order[0], crossbar_rules[_i].order[1], crossbar_rules[_i].order[2]);
}
END_TEST

START_TEST(a_crossbar_serves_whom_a_subscriber_names) {
    Network net = three_to_one("round_robin");
    Judge j = {{judge}, HIGHEST, 0, {{0}}};
    object_subscribe(net.crossbar, &j.subscriber, 1u << ARBITRATE);
    expect_sms(&net, 0, 2, 1);
    ck_assert_uint_eq(j.asked, 3);
    expect_question(&j, 0, 0, 0, 1, 0);
    expect_question(&j, 1, 0, 0, 6, 1);
    expect_question(&j, 2, 0, 0, 2, 1);
}
END_TEST

START_TEST(a_silent_subscriber_changes_nothing) {
    Network net = three_to_one("oldest");
    Judge j = {{judge}, SILENT, 0, {{0}}};
    object_subscribe(net.crossbar, &j.subscriber, 1u << ARBITRATE);
    expect_sms(&net, 0, 2, 1);
    ck_assert_uint_eq(j.asked, 3);
}
END_TEST

/* Responses of five flits from two slices to one SM. */
START_TEST(responses_are_arbitrated_for_too) {
    Network net = start_network((Options){.up = 1, .down = 3, .arbitration = "round_robin"});
    Judge j = {{judge}, HIGHEST, 0, {{0}}};
    object_subscribe(net.crossbar, &j.subscriber, 1u << ARBITRATE);
    for (uint32_t s = 0; s < 3; s++)
        send(&net, 10, 0, read_request(address_of(&net, s, 0), 128));
    run_to_end(&net);
    uint32_t responses = 0;
    for (uint32_t k = 0; k < j.asked; k++)
        responses += j.arguments[k][0] == 1;
    ck_assert_uint_eq(responses, 3);
    ck_assert_uint_eq(
        address_map_slice(address_map_find(net.crossbar), response(&net, 0, 1)->message.address), 2);
    sim_free(net.sim);
}
END_TEST

Suite *arbitration_suite(void) {
    Suite *suite = suite_create("arbitration");
    TCase *mux = tcase_create("mux"), *crossbar = tcase_create("crossbar");
    tcase_add_loop_test(mux, a_mux_serves_by_its_rule, 0, sizeof rules / sizeof *rules);
    tcase_add_test(mux, a_mux_serves_whom_a_subscriber_names);
    tcase_add_loop_test(mux, without_an_answer_a_mux_serves_by_its_rule, 0, 2);
    tcase_add_test(mux, subscribers_may_look_at_the_heads);
    tcase_add_loop_test(crossbar, a_crossbar_serves_by_its_rule, 0,
                        sizeof crossbar_rules / sizeof *crossbar_rules);
    tcase_add_test(crossbar, a_crossbar_serves_whom_a_subscriber_names);
    tcase_add_test(crossbar, a_silent_subscriber_changes_nothing);
    tcase_add_test(crossbar, responses_are_arbitrated_for_too);
    suite_add_tcase(suite, mux);
    suite_add_tcase(suite, crossbar);
    return suite;
}
