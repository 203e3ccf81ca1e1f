/* The simulation kernel: links, clocks, sleeping, the law of tick order, save and load. A small class, Node,
 * sends numbered messages round a ring of nodes with several clocks. */
#include "core/sim/base/random.h"
#include "core/sim/base/units.h"
#include "core/sim/checkpoint/snapshot.h"
#include "core/sim/clocks.h"
#include "tests/unit/panic_text.h"

#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

Suite *sim_suite(void);

typedef struct {
    uint64_t value;
} Token;

static const Protocol token_protocol = {
    .name = "token", .request_bytes = sizeof(Token), .response_bytes = sizeof(Token)};
static const Protocol other_protocol = {.name = "other", .request_bytes = sizeof(Token)};

enum { LOG = 64 };

typedef struct {
    SimObject obj;
    uint64_t tokens, hold; /* parameters: tokens to send at most one per cycle; cycles to hold what arrives */
    uint32_t log_count, log_room;
    Port out, in;
    uint64_t sent, seed, busy_until;
    uint64_t *log; /* ticks of arrival */
    uint64_t log_used;
    uint64_t received, ticks;
} Node;

static const Field node_fields[] = {
    BASE(Node),
    PARAM(Node, tokens, "0", "tokens", "Tokens to send", .min = 0, .max = 1000),
    PARAM(Node, hold, "0", "cycles", "Cycles between two receptions"),
    PARAM(Node, log_count, "64", "entries", "Arrivals to remember"),
    DERIVED(Node, log_room, "Alignment"),
    PORT(Node, out, token_protocol, ROLE_REQUESTER, "Tokens out", .optional = true),
    PORT(Node, in, token_protocol, ROLE_RESPONDER, "Tokens in", .optional = true),
    STATE(Node, sent, "Tokens sent"),
    STATE(Node, seed, "Mixed from what arrived, and when"),
    STATE(Node, busy_until, "No reception before"),
    STATE_ARRAY(Node, log, log_count, "Arrival times"),
    STATE(Node, log_used, "Entries of the log"),
    STAT(Node, received, "tokens", "Tokens received"),
    HOST(Node, ticks, "How often it was ticked: differs between tick orders"),
    FIELDS_END};

static uint64_t node_tick(SimObject *object, uint64_t now) {
    Node *node = (Node *)object;
    const Token *token;
    uint64_t next = NEVER;
    node->ticks++;
    if (node->in.receive && (token = link_peek(node->in.receive, now)) && node->busy_until <= now) {
        node->seed = hash_bytes(node->seed ^ token->value, &now, sizeof now);
        if (node->log_used < node->log_count) node->log[node->log_used++] = now;
        node->received++;
        node->busy_until = now + (node->hold + node->seed % 3 * (node->hold > 1)) * object->period;
        link_pop(node->in.receive, now);
        object_progress(object);
    }
    bool may_send = node->out.send && node->sent < node->tokens + node->received;
    if (may_send && link_can_send(node->out.send, now)) {
        ((Token *)link_send(node->out.send, now))->value = node->seed + node->sent++;
        may_send = node->sent < node->tokens + node->received;
        if (may_send) next = now + object->period;
    } else if (may_send) {
        next = link_space_time(node->out.send, now);
    }
    if (node->in.receive) {
        uint64_t ready = link_next_ready(node->in.receive);
        if (ready != NEVER && ready < node->busy_until) ready = node->busy_until;
        if (ready != NEVER && ready <= now) ready = now + object->period;
        if (ready < next) next = ready;
    }
    return next;
}

static void node_clocks_changed(SimObject *object, const Clock *was) {
    Node *node = (Node *)object;
    node->busy_until = clock_moved_edge(object, was, node->busy_until);
}

static const Class node_class = {.name = "Node",
                                 .doc = "For tests",
                                 .bytes = sizeof(Node),
                                 .fields = node_fields,
                                 .clocks_changed = node_clocks_changed,
                                 .tick = node_tick};

typedef struct {
    SimObject obj;
    Port in;
} Sink;

static const Field sink_fields[] = {BASE(Sink), PORT(Sink, in, other_protocol, ROLE_RESPONDER, "Never used"),
                                    FIELDS_END};
static uint64_t sink_tick(SimObject *object, uint64_t now) {
    (void)object;
    (void)now;
    return NEVER;
}
static const Class sink_class = {
    .name = "Sink", .doc = "For tests", .bytes = sizeof(Sink), .fields = sink_fields, .tick = sink_tick};

/* Says nothing of when it has work: links poke it. */
static uint64_t poked_tick(SimObject *object, uint64_t now) {
    Node *node = (Node *)object;
    if (!link_peek(node->in.receive, now)) return NEVER;
    node->log[node->log_used++] = now;
    link_pop(node->in.receive, now);
    return NEVER;
}
static const Class poked_class = {
    .name = "Poked", .doc = "For tests", .bytes = sizeof(Node), .fields = node_fields, .tick = poked_tick};

/* Sends one token, ticks in every cycle up to `hold`, and waits for nothing. */
static uint64_t sleepless_tick(SimObject *object, uint64_t now) {
    Node *node = (Node *)object;
    if (!node->sent++) ((Token *)link_send(node->out.send, now))->value = 1;
    return object_cycle(object, now) < node->hold ? now + object->period : NEVER;
}
static const Class sleepless_class = {.name = "Sleepless",
                                      .doc = "For tests",
                                      .bytes = sizeof(Node),
                                      .fields = node_fields,
                                      .tick = sleepless_tick};

static Sim *two_clocks(void) {
    class_register(&node_class);
    class_register(&sleepless_class);
    class_register(&poked_class);
    class_register(&sink_class);
    Sim *sim = sim_new("test");
    sim_clock(sim, "core", 700000000);
    sim_clock(sim, "dram", 924000000);
    return sim;
}

static Node *add_node(Sim *sim, const char *path, const char *clock, double tokens, double hold) {
    SimObject *object = sim_add(sim, "Node", path, clock);
    object_set_number(object, "tokens", tokens);
    object_set_number(object, "hold", hold);
    sim_finish_object(object);
    return (Node *)object;
}

static void wire(Sim *sim, Node *from, Node *to, LinkOptions options) {
    sim_wire(sim, &from->obj, "out", &to->obj, "in", options, options);
}

START_TEST(edges_of_all_clocks_are_whole_ticks) {
    Sim *sim = two_clocks();
    add_node(sim, "a", "core", 0, 0);
    sim_elaborate(sim);
    ck_assert_uint_eq(sim->clocks[0].period * 700, sim->clocks[1].period * 924);
    for (uint64_t cycle = 0; cycle < 5000000000ull; cycle += 123456789) {
        uint64_t period = sim->clocks[1].period;
        ck_assert_uint_eq(clock_cycle(&sim->clocks[1], cycle * period), cycle);
        ck_assert_uint_eq(clock_cycle(&sim->clocks[1], cycle * period + period - 1), cycle);
    }
    sim_free(sim);
}
END_TEST

START_TEST(a_message_is_seen_after_the_latency_and_not_before) {
    Sim *sim = two_clocks();
    Node *a = add_node(sim, "a", "core", 1, 0), *b = add_node(sim, "b", "core", 0, 0);
    wire(sim, a, b, (LinkOptions){.latency = 3});
    sim_elaborate(sim); /* sent in cycle 0 */
    sim_run(sim, 100 * sim->quantum);
    ck_assert_uint_eq(b->received, 1);
    ck_assert_uint_eq(b->log[0], 3 * a->obj.period);
    sim_free(sim);
}
END_TEST

START_TEST(a_full_link_takes_the_next_message_the_cycle_after_a_pop) {
    /* Depth 1, latency 1: sent in 0, popped in 1; the sender learns of it in 2, so that the second arrives
     * in 3. */
    Sim *sim = two_clocks();
    Node *a = add_node(sim, "a", "core", 3, 0), *b = add_node(sim, "b", "core", 0, 0);
    wire(sim, a, b, (LinkOptions){.latency = 1, .depth = 1});
    sim_elaborate(sim);
    sim_run(sim, 100 * sim->quantum);
    ck_assert_uint_eq(b->received, 3);
    for (uint64_t i = 0; i < 3; i++)
        ck_assert_uint_eq(b->log[i], (1 + 2 * i) * a->obj.period);
    sim_free(sim);
}
END_TEST

START_TEST(a_message_waits_for_an_edge_of_the_receivers_clock) {
    Sim *sim = two_clocks();
    Node *a = add_node(sim, "a", "core", 1, 0), *b = add_node(sim, "b", "dram", 0, 0);
    wire(sim, a, b, (LinkOptions){.latency = 1});
    sim_elaborate(sim);
    sim_run(sim, 100 * sim->quantum);
    uint64_t period = b->obj.period, earliest = a->obj.period;
    ck_assert_uint_eq(b->log[0] % period, 0);
    ck_assert_uint_ge(b->log[0], earliest);
    ck_assert_uint_lt(b->log[0], earliest + period);
    sim_free(sim);
}
END_TEST

/* From 462 to 924 MHz beside a first clock of 700 MHz, both of which may change. */
static Sim *changing_clocks(void) {
    Sim *sim = two_clocks();
    sim_clock_may_change(sim, "core", 350000000, 700000000);
    sim_clock_may_change(sim, "dram", 462000000, 924000000);
    sim_set_quantum(sim, 10);
    return sim;
}

START_TEST(a_clock_that_changes_goes_on_to_count_and_has_edges_of_its_new_period) {
    Sim *sim = changing_clocks();
    Node *a = add_node(sim, "a", "core", 1000, 0), *b = add_node(sim, "b", "dram", 0, 0);
    wire(sim, a, b, (LinkOptions){.latency = 20});
    sim_elaborate(sim);
    Clock *core = &sim->clocks[0], *dram = &sim->clocks[1];
    uint64_t core_period = core->period, dram_period = dram->period;
    sim_run(sim, 7 * sim->quantum); /* cycle 70 of core, between 92 and 93 of dram */
    ck_assert_uint_eq(clock_cycle(dram, sim->now), 92);
    sim_set_clock(sim, dram, 462000000);
    ck_assert_uint_eq(dram->period, 2 * dram_period);
    ck_assert_uint_eq(clock_cycle(dram, object_edge(&b->obj, sim->now)), 93);
    ck_assert_uint_eq(object_time(&b->obj, 93), object_edge(&b->obj, sim->now));
    sim_set_clock(sim, core, 350000000);
    ck_assert_uint_eq(core->period, core_period);
    ck_assert_uint_eq(dram->period, dram_period);
    ck_assert_uint_eq(object_cycle(&b->obj, object_edge(&b->obj, sim->now)), 93);
    ck_assert_uint_eq(core->changes + dram->changes, 2);
    sim_run(sim, 14 * sim->quantum);
    ck_assert_uint_eq(clock_cycle(core, sim->now), 140);
    ck_assert_uint_eq(sim->rated_time, 100000); /* 70 cycles of 700 MHz, in ps */
    sim_free(sim);
}
END_TEST

START_TEST(a_message_goes_on_by_cycles_of_the_sender_when_its_clock_changes) {
    Sim *sim = changing_clocks();
    Node *a = add_node(sim, "a", "dram", 1, 0), *b = add_node(sim, "b", "core", 0, 0);
    wire(sim, a, b, (LinkOptions){.latency = 40});
    sim_elaborate(sim);
    uint64_t period = a->obj.period;
    sim_run(sim, sim->quantum); /* cycle 10 of core; sent in cycle 0 */
    sim_set_clock(sim, a->obj.clock, 462000000);
    uint64_t left = 40 * period - sim->now, arrives = sim->now + 2 * left;
    ck_assert_uint_eq(a->out.send->latency, 40 * 2 * period);
    sim_run(sim, 100 * sim->quantum);
    ck_assert_uint_eq(b->received, 1);
    ck_assert_uint_ge(b->log[0], arrives);
    ck_assert_uint_le(b->log[0],
                      arrives + 3 * b->obj.period); /* edges before and after, one of them of longer cycles */
    sim_free(sim);
}
END_TEST

START_TEST(what_an_object_has_reserved_stays_at_its_cycle_when_its_clock_changes) {
    Sim *sim = changing_clocks();
    Node *a = add_node(sim, "a", "core", 2, 0), *b = add_node(sim, "b", "dram", 0, 100);
    wire(sim, a, b, (LinkOptions){.latency = 10});
    sim_elaborate(sim);
    sim_run(sim, 3 * sim->quantum);
    ck_assert_uint_eq(b->received, 1);
    uint64_t until = object_cycle(&b->obj, b->busy_until);
    sim_set_clock(sim, b->obj.clock, 600000000);
    ck_assert_uint_eq(object_cycle(&b->obj, b->busy_until), until);
    ck_assert_uint_eq(b->busy_until % b->obj.period, 0);
    sim_run(sim, 100 * sim->quantum);
    ck_assert_uint_eq(object_cycle(&b->obj, b->log[1]), until);
    sim_free(sim);
}
END_TEST

START_TEST(a_wire_that_a_frequency_makes_quicker_than_the_quantum_is_not_cut) {
    for (uint64_t fastest = 924000000; fastest <= 1848000000; fastest *= 2) {
        Sim *sim = two_clocks();
        sim_clock_may_change(sim, "dram", 924000000, fastest);
        sim_set_quantum(sim, 10);
        Node *a = add_node(sim, "a", "dram", 1, 0), *b = add_node(sim, "b", "core", 0, 0);
        wire(sim, a, b, (LinkOptions){.latency = 20});
        sim_elaborate(sim);
        ck_assert_int_eq(a->obj.cluster != b->obj.cluster, fastest == 924000000);
        sim_free(sim);
    }
}
END_TEST

START_TEST(links_of_a_quantum_or_more_cut_the_machine_and_quicker_ones_do_not) {
    Sim *sim = two_clocks();
    Node *a = add_node(sim, "a", "core", 5, 0), *b = add_node(sim, "b", "core", 0, 0),
         *c = add_node(sim, "c", "core", 0, 0);
    wire(sim, a, b, (LinkOptions){.latency = 4});
    wire(sim, b, c, (LinkOptions){.latency = 3});
    sim_elaborate(sim);
    ck_assert_uint_eq(sim->cluster_count, 2);
    ck_assert_ptr_ne(a->obj.cluster, b->obj.cluster);
    ck_assert_ptr_eq(b->obj.cluster, c->obj.cluster);
    sim_run(sim, 100 * sim->quantum);
    for (uint64_t i = 0; i < 5; i++)
        ck_assert_uint_eq(b->log[i], (4 + i) * a->obj.period);
    sim_free(sim);
}
END_TEST

START_TEST(a_cut_link_frees_slots_at_the_quantum_boundary) {
    /* Depth 1, quantum 4: sent in 0, popped in 4, known to the sender at the boundary 8, so it arrives in
     * 12. */
    Sim *sim = two_clocks();
    Node *a = add_node(sim, "a", "core", 2, 0), *b = add_node(sim, "b", "core", 0, 0);
    wire(sim, a, b, (LinkOptions){.latency = 4, .depth = 1});
    sim_elaborate(sim);
    sim_run(sim, 100 * sim->quantum);
    ck_assert_uint_eq(b->log[0], 4 * a->obj.period);
    ck_assert_uint_eq(b->log[1], 12 * a->obj.period);
    sim_free(sim);
}
END_TEST

START_TEST(objects_without_work_are_not_ticked_and_time_jumps) {
    Sim *sim = two_clocks();
    Node *a = add_node(sim, "a", "core", 1, 0), *b = add_node(sim, "b", "core", 0, 0);
    wire(sim, a, b, (LinkOptions){.latency = 1000000});
    sim_elaborate(sim);
    ck_assert_int_eq(sim_run(sim, NEVER - sim->quantum), STOP_IDLE);
    ck_assert_uint_eq(b->log[0], 1000000 * a->obj.period);
    ck_assert_uint_le(a->ticks + b->ticks, 4);
    sim_free(sim);
}
END_TEST

/* The message comes many quanta after it was sent, and both are idle meanwhile. */
START_TEST(objects_that_never_sleep_are_idle_when_those_that_do_are) {
    static const TickOrder orders[] = {ORDER_PATH, ORDER_RESTLESS};
    uint64_t idle_at[2];
    for (int i = 0; i < 2; i++) {
        Sim *sim = two_clocks();
        Node *a = add_node(sim, "a", "core", 1, 0);
        Node *b = (Node *)sim_add(sim, "Poked", "b", "dram");
        sim_finish_object(&b->obj);
        wire(sim, a, b, (LinkOptions){.latency = 100});
        sim->order = orders[i];
        sim_elaborate(sim);
        ck_assert_int_eq(sim_run(sim, NEVER - sim->quantum), STOP_IDLE);
        ck_assert_uint_eq(b->log_used, 1);
        ck_assert_uint_ge(b->log[0], 100 * a->obj.period);
        ck_assert_uint_lt(b->log[0], 100 * a->obj.period + b->obj.period);
        idle_at[i] = sim->now;
        sim_free(sim);
    }
    ck_assert_uint_eq(idle_at[0], idle_at[1]);
}
END_TEST

/* When it is idle, where the last that happens is a pop of a full link, in the last cycle in which the sender ticks as
 * well and of a quantum. The receiver's turn is one of the cluster's first step, the sender's is not. */
static uint64_t idle_after_a_pop_beside_a_tick(TickOrder order, uint64_t seed) {
    enum { QUANTUM = 4 };
    Sim *sim = two_clocks();
    Node *receiver = add_node(sim, "a", "core", 0, 0);
    Node *other = add_node(sim, "b", "core", 0, 0), *another = add_node(sim, "c", "core", 0, 0);
    Node *sender = (Node *)sim_add(sim, "Sleepless", "d", "core");
    object_set_number(&sender->obj, "hold", QUANTUM - 1);
    sim_finish_object(&sender->obj);
    wire(sim, sender, receiver, (LinkOptions){.latency = QUANTUM - 1, .depth = 1});
    wire(sim, other, sender, (LinkOptions){.latency = 1}); /* one cluster; nothing comes there */
    wire(sim, another, other, (LinkOptions){.latency = 1});
    sim_set_quantum(sim, QUANTUM);
    sim->order = order;
    sim->order_seed = seed;
    sim_elaborate(sim);
    ck_assert_uint_eq(sim->cluster_count, 1);
    ck_assert_int_eq(sim_run(sim, NEVER - sim->quantum), STOP_IDLE);
    ck_assert_uint_eq(receiver->log_used, 1);
    ck_assert_uint_eq(receiver->log[0], (QUANTUM - 1) * sender->obj.period);
    uint64_t cycle = object_cycle(&sender->obj, sim->now);
    sim_free(sim);
    return cycle;
}

START_TEST(when_a_machine_is_idle_does_not_depend_on_whether_the_sender_of_a_full_link_has_ticked) {
    uint64_t want = idle_after_a_pop_beside_a_tick(ORDER_PATH, 0);
    ck_assert_uint_eq(idle_after_a_pop_beside_a_tick(ORDER_REVERSED, 0), want);
    ck_assert_uint_eq(idle_after_a_pop_beside_a_tick(ORDER_RESTLESS, 0), want);
    for (uint64_t seed = 0; seed < 20; seed++)
        ck_assert_uint_eq(idle_after_a_pop_beside_a_tick(ORDER_SHUFFLED, seed), want);
}
END_TEST

/* Eight nodes in a ring, some clocks and latencies, tight and wide links; tokens go round for ever. */
static Sim *busy_ring(TickOrder order, uint64_t seed) {
    static const uint64_t latency[] = {1, 2, 4, 1, 9, 1, 1, 5};
    static const uint32_t depth[] = {1, 2, 16, 3, 8, 1, 4, 8};
    Sim *sim = two_clocks();
    Node *node[8];
    sim->order = order;
    sim->order_seed = seed;
    for (int i = 0; i < 8; i++) {
        char path[16];
        snprintf(path, sizeof path, "n[%d]", i);
        node[i] = add_node(sim, path, i % 3 == 1 ? "dram" : "core", i == 0 ? 6 : i == 4 ? 3 : 0, i % 4);
    }
    for (int i = 0; i < 8; i++)
        wire(sim, node[i], node[(i + 1) % 8], (LinkOptions){.latency = latency[i], .depth = depth[i]});
    sim_elaborate(sim);
    return sim;
}

static uint64_t digest(const Sim *sim) {
    uint64_t sum = sim->now;
    for (uint32_t i = 0; i < sim->object_count; i++)
        sum = sum * 31 + object_hash(sim->objects[i]);
    for (uint32_t i = 0; i < sim->link_count; i++)
        sum = sum * 31 + sim->links[i]->pushed * 7 + sim->links[i]->popped;
    return sum;
}

START_TEST(the_order_of_ticks_changes_nothing) {
    Sim *straight = busy_ring(ORDER_PATH, 0);
    sim_run(straight, 20000 * straight->quantum);
    ck_assert_uint_gt(((Node *)straight->objects[5])->received, 1000);
    for (uint64_t seed = 0; seed < 20; seed++) {
        Sim *other = busy_ring(seed ? ORDER_SHUFFLED : ORDER_REVERSED, seed);
        sim_run(other, 20000 * other->quantum);
        ck_assert_uint_eq(digest(other), digest(straight));
        sim_free(other);
    }
    sim_free(straight);
}
END_TEST

START_TEST(a_saved_machine_goes_on_as_if_it_had_never_stopped) {
    Sim *straight = busy_ring(ORDER_PATH, 0);
    sim_run(straight, 3000 * straight->quantum);
    uint64_t expected = digest(straight);
    for (uint64_t at = 1; at < 3000; at += 271) {
        char why[200];
        Buffer buffer = {0};
        Sim *first = busy_ring(ORDER_PATH, 0), *second = busy_ring(ORDER_REVERSED, 0);
        sim_run(first, at * first->quantum);
        sim_save(first, &buffer);
        Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
        ck_assert_msg(sim_load(second, &reader, NULL, why, sizeof why), "%s", why);
        ck_assert_uint_eq(digest(second), digest(first));
        sim_run(second, 3000 * second->quantum);
        ck_assert_uint_eq(digest(second), expected);
        buffer_free(&buffer);
        sim_free(first);
        sim_free(second);
    }
    sim_free(straight);
}
END_TEST

START_TEST(a_truncated_or_foreign_snapshot_is_refused_with_a_reason) {
    Buffer buffer = {0};
    char why[200];
    Sim *sim = busy_ring(ORDER_PATH, 0);
    sim_run(sim, 10 * sim->quantum);
    sim_save(sim, &buffer);
    for (size_t count = 0; count < buffer.count; count += 7) {
        why[0] = 0;
        ck_assert(!sim_load(sim, &(Reader){.bytes = buffer.bytes, .count = count}, NULL, why, sizeof why));
        ck_assert_uint_gt(strlen(why), 0);
    }
    Random random = {1};
    for (int i = 0; i < 2000; i++) { /* must not crash; may well be accepted when a counter was hit */
        uint8_t *bytes = malloc(buffer.count);
        memcpy(bytes, buffer.bytes, buffer.count);
        bytes[random_below(&random, buffer.count)] ^= (uint8_t)(1 + random_below(&random, 255));
        sim_load(sim, &(Reader){.bytes = bytes, .count = buffer.count}, NULL, why, sizeof why);
        free(bytes);
    }
    buffer_free(&buffer);
    sim_free(sim);
}
END_TEST

static void expect_user_error(void (*body)(Sim *sim)) {
    body(two_clocks());
}

#define USER_ERROR_TEST(name, ...)                                                                           \
    static void name##_body(Sim *sim){__VA_ARGS__} START_TEST(name) {                                        \
        expect_user_error(name##_body);                                                                      \
    }                                                                                                        \
    END_TEST

USER_ERROR_TEST(a_misspelt_parameter_is_a_user_error,
                object_set_number(&add_node(sim, "a", "core", 0, 0)->obj, "tokes", 1);)
USER_ERROR_TEST(a_value_out_of_bounds_is_a_user_error,
                object_set_number(&add_node(sim, "a", "core", 0, 0)->obj, "tokens", 1001);)
USER_ERROR_TEST(a_fraction_where_a_count_is_wanted_is_a_user_error,
                object_set_text(&add_node(sim, "a", "core", 0, 0)->obj, "tokens", "1.5");)
USER_ERROR_TEST(a_unit_that_does_not_fit_is_a_user_error,
                object_set_text(&add_node(sim, "a", "core", 0, 0)->obj, "tokens", "1KiB");)
USER_ERROR_TEST(a_path_taken_twice_is_a_user_error, add_node(sim, "a", "core", 0, 0);
                add_node(sim, "a", "core", 0, 0);)
USER_ERROR_TEST(a_port_wired_twice_is_a_user_error, Node *a = add_node(sim, "a", "core", 0, 0);
                Node *b = add_node(sim, "b", "core", 0, 0); wire(sim, a, b, (LinkOptions){0});
                wire(sim, a, b, (LinkOptions){0});)
USER_ERROR_TEST(a_dangling_port_is_a_user_error, sim_finish_object(sim_add(sim, "Sink", "s", "core"));
                sim_elaborate(sim);)
USER_ERROR_TEST(ports_of_different_protocols_cannot_be_wired, Node *a = add_node(sim, "a", "core", 0, 0);
                SimObject *s = sim_add(sim, "Sink", "s", "core"); sim_finish_object(s);
                sim_wire(sim, &a->obj, "out", s, "in", (LinkOptions){0}, (LinkOptions){0});)
USER_ERROR_TEST(two_responders_cannot_be_wired, Node *a = add_node(sim, "a", "core", 0, 0);
                Node *b = add_node(sim, "b", "core", 0, 0);
                sim_wire(sim, &a->obj, "in", &b->obj, "in", (LinkOptions){0}, (LinkOptions){0});)
USER_ERROR_TEST(an_unknown_clock_is_a_user_error, add_node(sim, "a", "cor", 0, 0);)

static const Field gap_fields[] = {BASE(Node), FIELDS_END};
START_TEST(a_struct_with_an_uncovered_byte_is_refused_at_start_up) {
    Class gap = node_class;
    gap.fields = gap_fields;
    class_check_coverage(&gap);
}
END_TEST

static void register_it(void *class) {
    class_register(class);
}

START_TEST(a_class_without_what_every_class_has_is_refused_at_start_up) {
    Class class = node_class;
    class.name = NULL;
    assert_panic(register_it, &class, "a class: expected a name, got none");
    class.name = "No de";
    assert_panic(register_it, &class, "class 'No de': expected a name of letters and digits");
    class.name = "node";
    assert_panic(register_it, &class, "class 'node': expected a name that begins with a capital");
    class = node_class, class.doc = NULL;
    assert_panic(register_it, &class, "class Node: expected .doc, got none");
    class = node_class, class.tick = NULL;
    assert_panic(register_it, &class, "class Node: expected .tick, got none");
    class = node_class, class.fields = NULL;
    assert_panic(register_it, &class, "class Node: expected .fields, got none");
    class = node_class, class.bytes = 0;
    assert_panic(register_it, &class, "class Node: expected .bytes = sizeof its struct, got 0");
}
END_TEST

START_TEST(rows_without_an_end_are_refused_at_start_up) {
    Field rows[] = {
        BASE(Sink),
        PORT(Sink, in, other_protocol, ROLE_RESPONDER, "Never used"),
        BASE(Sink),
        FIELDS_END
    };
    Class class = sink_class;
    class.fields = rows;
    const char *wanted = "class Sink: expected BASE, up to 511 other rows of its struct and FIELDS_END, got "
                         "something else as row 2";
    assert_panic(register_it, &class, wanted);
    memset(&rows[2], 0xa5, sizeof *rows);
    assert_panic(register_it, &class, wanted);
    rows[2] = (Field){.kind = FIELD_STATE};
    assert_panic(register_it, &class, wanted);
    rows[2] = (Field){.kind = FIELD_STATE, .name = "far", .offset = sizeof(Sink), .bytes = 8};
    assert_panic(register_it, &class, wanted);
}
END_TEST

static Ratio no_ratio(const SimObject *object) {
    (void)object;
    return (Ratio){0};
}

START_TEST(two_rows_of_one_name_are_refused_at_start_up) {
    enum { ROWS = sizeof node_fields / sizeof *node_fields };
    const Field twins[] = {FORMULA("received", no_ratio, "tokens", "A statistic"),
                           VISIBLE_NAMED(Node, sent, "tokens", "tokens", "A parameter"),
                           PORT_NAMED(Node, in, "out", token_protocol, ROLE_RESPONDER, "A port"),
                           STATE_NAMED(Node, seed, "sent", "State")};
    const uint32_t place_of[] = {ROWS - 1, 7, 6, 8};
    const char *wanted[] = {"'received'", "'tokens'", "'out'", "'sent'"};
    for (int i = 0; i < 4; i++) {
        Field rows[ROWS + 1] = {{0}};
        char text[80];
        memcpy(rows, node_fields, sizeof node_fields);
        rows[place_of[i]] = twins[i];
        Class class = node_class;
        class.fields = rows;
        snprintf(text, sizeof text, "class Node: expected each name of a row once, got %s twice", wanted[i]);
        assert_panic(register_it, &class, text);
    }
}
END_TEST

START_TEST(names_that_would_break_paths_are_refused_at_start_up) {
    enum { ROWS = sizeof node_fields / sizeof *node_fields };
    const char *const wrong[] = {"two words", "a.b", "a[0]", "a\nb", "", "2nd"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Field rows[ROWS + 1] = {{0}};
        char text[120];
        memcpy(rows, node_fields, sizeof node_fields);
        rows[ROWS - 1] = (Field)FORMULA(wrong[i], no_ratio, "tokens", "A statistic");
        Class class = node_class;
        class.fields = rows;
        snprintf(text, sizeof text,
                 "class Node: statistic '%s': expected a name of letters, digits and _ that begins with no "
                 "digit",
                 wrong[i]);
        assert_panic(register_it, &class, text);
    }
}
END_TEST

#ifdef WW_CHECK_TICKS
static uint64_t at_once(SimObject *object, uint64_t now) {
    (void)object;
    return now;
}
static uint64_t between_edges(SimObject *object, uint64_t now) {
    (void)object;
    return now + 1;
}

static void run_it(void *sim) {
    sim_run(sim, 1000);
}

static void assert_tick_is_refused(const Class *class) {
    Sim *sim = two_clocks();
    char wanted[128];
    class_register(class);
    SimObject *object = sim_add(sim, class->name, "late[3]", "core");
    sim_finish_object(object);
    sim_elaborate(sim);
    snprintf(wanted, sizeof wanted,
             "late[3]: tick at 0: expected a later edge of its clock (every %lu) or NEVER, got %lu",
             object->period, class->tick(object, 0));
    assert_panic(run_it, sim, wanted);
    sim_free(sim);
}

START_TEST(a_tick_that_returns_no_later_edge_is_a_panic) {
    static Class early[2];
    early[0] = early[1] = node_class;
    early[0].name = "AtOnce", early[0].tick = at_once;
    early[1].name = "BetweenEdges", early[1].tick = between_edges;
    assert_tick_is_refused(&early[0]);
    assert_tick_is_refused(&early[1]);
}
END_TEST
#endif

START_TEST(two_classes_of_one_name_are_refused_at_start_up) {
    Class twin = node_class;
    class_register(&node_class);
    class_register(&node_class);
    class_register(&twin);
}
END_TEST

START_TEST(sending_into_a_full_link_is_a_panic) {
    Sim *sim = two_clocks();
    Node *a = add_node(sim, "a", "core", 0, 0), *b = add_node(sim, "b", "core", 0, 0);
    wire(sim, a, b, (LinkOptions){.depth = 1});
    sim_elaborate(sim);
    link_send(a->out.send, 0);
    link_send(a->out.send, a->obj.period);
}
END_TEST

START_TEST(quantities_carry_units) {
    double value;
    ck_assert(parse_quantity("16KiB", "bytes", &value) && value == 16384);
    ck_assert(parse_quantity("1.4GHz", "Hz", &value) && value == 1.4e9);
    ck_assert(parse_quantity("700 MHz", "Hz", &value) && value == 700e6);
    ck_assert(parse_quantity("1.001GHz", "Hz", &value) && value == 1001000000);
    ck_assert(parse_quantity("1024.1MHz", "Hz", &value) && value == 1024100000);
    ck_assert(parse_quantity("12", "entries", &value) && value == 12);
    ck_assert(!parse_quantity("16KB", "bytes", &value));
    ck_assert(!parse_quantity("16KiB", "Hz", &value));
    ck_assert(!parse_quantity("", "bytes", &value));
    ck_assert(!parse_quantity("x", NULL, &value));
}
END_TEST

START_TEST(whole_numbers_of_messages_have_all_digits) {
    NumberText text;
    ck_assert_str_eq(number_text(0, text), "0");
    ck_assert_str_eq(number_text(-1, text), "-1");
    ck_assert_str_eq(number_text(0.25, text), "0.25");
    ck_assert_str_eq(number_text(9007199254740992.0, text), "9007199254740992");
    ck_assert_str_eq(number_text(18446744073709551616.0, text), "1.84467440737096e+19");
    ck_assert_str_eq(number_text(1e300, text), "1e+300");
    ck_assert_str_eq(number_text(INFINITY, text), "inf");
}
END_TEST

START_TEST(whole_numbers_have_the_digits_that_printf_writes) {
    const int64_t values[] = {0, -1, 9, 10, 99, 100, 1000000007, -1234567890123, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        NumberText text;
        char wanted[32];
        int length = snprintf(wanted, sizeof wanted, "%ld", values[i]);
        ck_assert_int_eq((int)integer_text(values[i], text), length);
        ck_assert_str_eq(text, wanted);
    }
}
END_TEST

START_TEST(patterns_match_indexes_and_names) {
    ck_assert(path_matches("sm[*].l1d.size", "sm[12].l1d.size"));
    ck_assert(path_matches("sm[3].*.size", "sm[3].l1d.size"));
    ck_assert(!path_matches("sm[*].l1d.size", "sm[1].lsu.size"));
    ck_assert(!path_matches("sm[*]", "sm[1].lsu"));
    ck_assert(!path_matches("sm[1]", "sm[11]"));
}
END_TEST

START_TEST(a_range_of_a_pattern_matches_the_indexes_in_it) {
    for (uint32_t i = 0; i < 120; i++) {
        char path[32];
        snprintf(path, sizeof path, "sm[%u].l1d.size", i);
        ck_assert_int_eq(path_matches("sm[9..11].l1d.size", path), i >= 9 && i <= 11);
        ck_assert_int_eq(path_matches("*[100..100].*.size", path), i == 100);
        ck_assert(!path_matches("sm[11..9].l1d.size", path));
        ck_assert(!path_matches("sm[9..11].l1d", path));
    }
    ck_assert(path_matches("mc[0..1].cpu[2..3]", "mc[1].cpu[2]"));
    ck_assert(!path_matches("mc[0..1].cpu[2..3]", "mc[1].cpu[4]"));
    ck_assert(path_matches("mc[0..99999999999999999999]", "mc[7]"));
    static const char *const no_ranges[] = {"mc[0..]",   "mc[..1]", "mc[0..x]",
                                            "mc[0...1]", "mc[0..1", "mc[-1..1]"};
    for (size_t i = 0; i < sizeof no_ranges / sizeof *no_ranges; i++)
        ck_assert_msg(!path_matches(no_ranges[i], "mc[0]"), "%s", no_ranges[i]);
    ck_assert(!path_matches("mc[0..1]", "mc[]") && !path_matches("mc[0..1]", "mc[0"));
}
END_TEST

/* What a match is, tried in all ways. */
static bool matches_somehow(const char *pattern, const char *path) {
    if (*pattern == 0) return *path == 0;
    if (*pattern != '*') return *pattern == *path && matches_somehow(pattern + 1, path + 1);
    if (matches_somehow(pattern + 1, path)) return true;
    return *path && !strchr(".[]", *path) && matches_somehow(pattern, path + 1);
}

/* The text number `number` of so many letters. */
static const char *spelt(uint32_t number, const char *letters, char *text) {
    uint32_t length = 0, base = (uint32_t)strlen(letters);
    for (; number; number = (number - 1) / base)
        text[length++] = letters[(number - 1) % base];
    text[length] = 0;
    return text;
}

START_TEST(patterns_match_as_if_all_ways_were_tried) {
    enum { PATTERNS = 1 + 4 + 16 + 64 + 256 + 1024 + 4096, PATHS = 1 + 3 + 9 + 27 + 81 + 243 };
    char pattern[16], path[16];
    uint32_t matched = 0;
    for (uint32_t i = 0; i < PATTERNS; i++)
        for (uint32_t k = 0; k < PATHS; k++) {
            bool want = matches_somehow(spelt(i, "*ab.", pattern), spelt(k, "ab[", path));
            ck_assert_msg(path_matches(pattern, path) == want, "%s on %s", pattern, path);
            matched += want;
        }
    ck_assert_uint_gt(matched, PATTERNS);
}
END_TEST

/* All ways are more than a computer can try in a year. */
START_TEST(patterns_of_many_stars_take_no_time) {
    char pattern[128] = "sm[*].", path[512] = "sm[3].";
    for (int i = 0; i < 40; i++)
        strcat(pattern, "*a");
    for (int i = 0; i < 200; i++)
        strcat(path, "a");
    ck_assert(path_matches(pattern, path));
    strcat(pattern, "*b");
    ck_assert(!path_matches(pattern, path));
    strcat(path, "b");
    ck_assert(path_matches(pattern, path));
    strcat(path, ".size");
    ck_assert(!path_matches(pattern, path));
}
END_TEST

START_TEST(memory_that_the_system_lacks_is_a_user_error) {
    const char *volatile got = "a block";
    ensure_memory(got);
    got = NULL;
    ensure_memory(got);
}
END_TEST

static void lack_memory(void *context) {
    ensure_memory(*(void *volatile *)context);
}

START_TEST(memory_that_a_damaged_file_asks_for_is_refused_as_the_file) {
    void *volatile got = NULL;
    ck_assert_ptr_nonnull(strstr(panic_catch(lack_memory, (void *)&got), "memory of this computer"));
}
END_TEST

Suite *sim_suite(void) {
    Suite *suite = suite_create("simulation kernel");
    TCase *run = tcase_create("run"), *errors = tcase_create("errors");
    tcase_add_test(run, edges_of_all_clocks_are_whole_ticks);
    tcase_add_test(run, a_message_is_seen_after_the_latency_and_not_before);
    tcase_add_test(run, a_full_link_takes_the_next_message_the_cycle_after_a_pop);
    tcase_add_test(run, a_message_waits_for_an_edge_of_the_receivers_clock);
    tcase_add_test(run, a_clock_that_changes_goes_on_to_count_and_has_edges_of_its_new_period);
    tcase_add_test(run, a_message_goes_on_by_cycles_of_the_sender_when_its_clock_changes);
    tcase_add_test(run, what_an_object_has_reserved_stays_at_its_cycle_when_its_clock_changes);
    tcase_add_test(run, a_wire_that_a_frequency_makes_quicker_than_the_quantum_is_not_cut);
    tcase_add_test(run, links_of_a_quantum_or_more_cut_the_machine_and_quicker_ones_do_not);
    tcase_add_test(run, a_cut_link_frees_slots_at_the_quantum_boundary);
    tcase_add_test(run, objects_without_work_are_not_ticked_and_time_jumps);
    tcase_add_test(run, objects_that_never_sleep_are_idle_when_those_that_do_are);
    tcase_add_test(run,
                   when_a_machine_is_idle_does_not_depend_on_whether_the_sender_of_a_full_link_has_ticked);
    tcase_add_test(run, the_order_of_ticks_changes_nothing);
    tcase_add_test(run, a_saved_machine_goes_on_as_if_it_had_never_stopped);
    tcase_add_test(run, a_truncated_or_foreign_snapshot_is_refused_with_a_reason);
    tcase_add_test(run, quantities_carry_units);
    tcase_add_test(run, whole_numbers_have_the_digits_that_printf_writes);
    tcase_add_test(run, whole_numbers_of_messages_have_all_digits);
    tcase_add_test(run, patterns_match_indexes_and_names);
    tcase_add_test(run, a_range_of_a_pattern_matches_the_indexes_in_it);
    tcase_add_test(run, patterns_match_as_if_all_ways_were_tried);
    tcase_add_test(run, patterns_of_many_stars_take_no_time);
    tcase_add_exit_test(errors, a_misspelt_parameter_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_exit_test(errors, memory_that_the_system_lacks_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_test(errors, memory_that_a_damaged_file_asks_for_is_refused_as_the_file);
    tcase_add_exit_test(errors, a_value_out_of_bounds_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_exit_test(errors, a_fraction_where_a_count_is_wanted_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_exit_test(errors, a_unit_that_does_not_fit_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_exit_test(errors, a_path_taken_twice_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_exit_test(errors, a_port_wired_twice_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_exit_test(errors, a_dangling_port_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_exit_test(errors, ports_of_different_protocols_cannot_be_wired, EXIT_USER_ERROR);
    tcase_add_exit_test(errors, two_responders_cannot_be_wired, EXIT_USER_ERROR);
    tcase_add_exit_test(errors, an_unknown_clock_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_test_raise_signal(errors, a_struct_with_an_uncovered_byte_is_refused_at_start_up, SIGABRT);
    tcase_add_test(errors, a_class_without_what_every_class_has_is_refused_at_start_up);
    tcase_add_test(errors, rows_without_an_end_are_refused_at_start_up);
#ifdef WW_CHECK_TICKS
    tcase_add_test(errors, a_tick_that_returns_no_later_edge_is_a_panic);
#endif
    tcase_add_test(errors, two_rows_of_one_name_are_refused_at_start_up);
    tcase_add_test(errors, names_that_would_break_paths_are_refused_at_start_up);
    tcase_add_test_raise_signal(errors, two_classes_of_one_name_are_refused_at_start_up, SIGABRT);
    tcase_add_test_raise_signal(errors, sending_into_a_full_link_is_a_panic, SIGABRT);
    suite_add_tcase(suite, run);
    suite_add_tcase(suite, errors);
    return suite;
}
