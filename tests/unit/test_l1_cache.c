/* Driver -> L1 -> responder, all links of one cycle. A request sent in cycle s is accepted in s + 1 and
 * looked up in s + 1 + latency; a hit is answered in that cycle and arrives at s + 2 + latency. A miss leaves
 * one cycle after the lookup, arrives below one later, is answered RESPONDER cycles later, arrives one later
 * and is answered at once: it comes back at s + 5 + latency + RESPONDER. */
#include "core/sim/random.h"
#include "mem/caches.h"
#include "tests/unit/memory_driver.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

enum { LATENCY = 3, RESPONDER = 20, HIT_TIME = LATENCY + 2, MISS_TIME = LATENCY + RESPONDER + 5 };

typedef struct {
    const char *l1;        /* parameters "name=value name=value", over the defaults below */
    const char *driver;    /* likewise */
    const char *responder; /* likewise */
    TickOrder order;
    uint64_t order_seed;
    LinkOptions response; /* L1 to driver */
    uint32_t quantum;     /* cycles; 0: the default */
} Bench;

typedef struct {
    Sim *sim;
    SimObject *driver, *l1, *responder;
} Rig;

static void set_parameters(SimObject *object, const char *text) {
    char name[64], value[64];
    for (int used; text && sscanf(text, " %63[^=]=%63s%n", name, value, &used) == 2; text += used)
        object_set_text(object, name, value);
}

static SimObject *add(Sim *sim, const char *class, const char *path, const char *defaults,
                      const char *parameters) {
    SimObject *object = sim_add(sim, class, path, NULL);
    set_parameters(object, defaults);
    set_parameters(object, parameters);
    sim_finish_object(object);
    return object;
}

static Rig make_rig(Bench bench) {
    Rig rig = {.sim = sim_new("test")};
    memory_test_classes();
    class_register(&l1_class);
    sim_clock(rig.sim, "clock", 1000000000);
    rig.driver = add(rig.sim, "MemoryDriver", "driver", NULL, bench.driver);
    rig.l1 = add(rig.sim, "L1", "l1", "size=16KiB ways=4 mshrs=32 merges=8 latency=3", bench.l1);
    rig.responder = add(rig.sim, "MemoryResponder", "below", "latency=20", bench.responder);
    sim_wire(rig.sim, rig.driver, "mem", rig.l1, "cpu", (LinkOptions){0}, bench.response);
    sim_wire(rig.sim, rig.l1, "mem", rig.responder, "cpu", (LinkOptions){0}, (LinkOptions){0});
    if (bench.quantum) sim_set_quantum(rig.sim, bench.quantum);
    rig.sim->order = bench.order;
    rig.sim->order_seed = bench.order_seed;
    sim_elaborate(rig.sim);
    return rig;
}

/* Runs until nothing moves, and checks the conservation laws. */
static void run_idle(Rig *rig) {
    ck_assert_int_eq(sim_run(rig->sim, UINT64_MAX), STOP_IDLE);
    sim_settle(rig->sim);
    sim_check(rig->sim, true);
}

static uint64_t now_cycle(const Rig *rig) {
    return object_cycle(rig->l1, rig->sim->now);
}

static uint64_t stat(const Rig *rig, const char *name) {
    const Field *f = object_field(rig->l1, FIELD_STAT, name);
    ck_assert_ptr_nonnull(f);
    return *(const uint64_t *)((const char *)rig->l1 + f->offset);
}

static MemMessage with_token(MemMessage m, uint32_t token) {
    m.token = token;
    return m;
}

static MemMessage local(MemMessage m) {
    m.flags |= MEM_LOCAL;
    return m;
}

static const LoggedMessage *response(const Rig *rig, uint32_t i) {
    ck_assert_uint_lt(i, memory_driver_responses(rig->driver)->count);
    return &memory_driver_responses(rig->driver)->entries[i];
}

static const LoggedMessage *arrival(const Rig *rig, uint32_t i) {
    ck_assert_uint_lt(i, memory_responder_arrivals(rig->responder)->count);
    return &memory_responder_arrivals(rig->responder)->entries[i];
}

static uint32_t arrivals(const Rig *rig) {
    return memory_responder_arrivals(rig->responder)->count;
}

/* Sends a request when all is quiet and returns what came of it: the cycles it took; -1 without a
 * response. */
static int64_t time_of(Rig *rig, MemMessage m, bool *hit) {
    uint32_t before = memory_driver_responses(rig->driver)->count;
    uint64_t start = now_cycle(rig) + 1;
    memory_driver_send(rig->driver, start, m);
    run_idle(rig);
    if (memory_driver_responses(rig->driver)->count == before) return -1;
    const LoggedMessage *r = response(rig, before);
    if (hit) *hit = r->message.flags & MEM_HIT;
    return (int64_t)(r->cycle - start);
}

static bool hits(Rig *rig, MemMessage m) {
    bool hit;
    time_of(rig, m, &hit);
    return hit;
}

/* Reads. */

static const uint64_t latencies[] = {1, 2, 5, 35};

START_TEST(hit_is_answered_after_the_latency_and_not_before) {
    char parameters[64];
    uint64_t latency = latencies[_i];
    bool hit;
    snprintf(parameters, sizeof parameters, "latency=%lu", latency);
    Rig rig = make_rig((Bench){.l1 = parameters});
    ck_assert_int_eq(time_of(&rig, read_request(0x1000, 128), &hit), (int64_t)latency + RESPONDER + 5);
    ck_assert(!hit);
    ck_assert_int_eq(time_of(&rig, read_request(0x1000, 128), &hit), (int64_t)latency + 2);
    ck_assert(hit);
    ck_assert_int_eq(time_of(&rig, read_request(0x1060, 32), &hit), (int64_t)latency + 2);
    ck_assert(hit);
    sim_free(rig.sim);
}
END_TEST

START_TEST(response_is_the_request_with_only_the_hit_flag_added) {
    Rig rig = make_rig((Bench){0});
    MemMessage m = with_token(read_request(0x1020, 32), 0x12345678);
    m.pc = 77, m.sm = 5, m.warp = 9, m.class_number = 3, m.flags = MEM_INSTRUCTION;
    mem_enter_network(&m, 6);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(hits(&rig, m), i == 1);
        MemMessage expected = memory_driver_sent(rig.driver)->entries[i].message;
        expected.flags |= i ? MEM_HIT : 0;
        ck_assert_mem_eq(&response(&rig, (uint32_t)i)->message, &expected, sizeof expected);
    }
    sim_free(rig.sim);
}
END_TEST

START_TEST(miss_fetches_the_whole_line_on_behalf_of_the_requester) {
    Rig rig = make_rig((Bench){0});
    MemMessage m = read_request(0x10a0, 32);
    m.pc = 77, m.sm = 5, m.warp = 9, m.class_number = 3;
    mem_enter_network(&m, 6);
    memory_driver_send(rig.driver, 10, m);
    run_idle(&rig);
    ck_assert_uint_eq(arrivals(&rig), 1);
    const LoggedMessage *fetch = arrival(&rig, 0);
    ck_assert_uint_eq(fetch->cycle, 10 + LATENCY + 3);
    ck_assert_uint_eq(fetch->message.kind, MEM_READ);
    ck_assert_uint_eq(fetch->message.address, 0x1080);
    ck_assert_uint_eq(fetch->message.bytes, 128);
    ck_assert_uint_eq(fetch->message.pc, 77);
    ck_assert_uint_eq(fetch->message.sm, 5);
    ck_assert_uint_eq(fetch->message.warp, 9);
    ck_assert_uint_eq(fetch->message.class_number, 3);
    ck_assert_uint_eq(fetch->message.route_depth, 0);
    ck_assert_uint_eq(fetch->message.issued, memory_driver_sent(rig.driver)->entries[0].message.issued);
    sim_free(rig.sim);
}
END_TEST

START_TEST(hits_flow_one_per_cycle) {
    Rig rig = make_rig((Bench){0});
    hits(&rig, read_request(0x1000, 128));
    uint64_t start = now_cycle(&rig) + 1;
    for (uint64_t i = 0; i < 20; i++)
        memory_driver_send(rig.driver, start, read_request(0x1000, 128));
    run_idle(&rig);
    for (uint32_t i = 0; i < 20; i++)
        ck_assert_uint_eq(response(&rig, 1 + i)->cycle, start + HIT_TIME + i);
    ck_assert_uint_eq(stat(&rig, "read_hits"), 20);
    sim_free(rig.sim);
}
END_TEST

START_TEST(requests_for_a_line_under_way_merge_and_are_answered_one_per_cycle_in_order) {
    Rig rig = make_rig((Bench){0});
    for (uint32_t i = 0; i < 4; i++)
        memory_driver_send(rig.driver, 10 + 3 * i, with_token(read_request(0x1000 + 32 * i, 32), i));
    run_idle(&rig);
    ck_assert_uint_eq(arrivals(&rig), 1);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(response(&rig, i)->cycle, 10 + MISS_TIME + i);
        ck_assert_uint_eq(response(&rig, i)->message.token, i);
        ck_assert_uint_eq(response(&rig, i)->message.flags, 0);
    }
    ck_assert_uint_eq(stat(&rig, "misses"), 1);
    ck_assert_uint_eq(stat(&rig, "merges"), 3);
    sim_free(rig.sim);
}
END_TEST

START_TEST(least_recently_used_line_is_replaced) {
    Rig rig = make_rig((Bench){.l1 = "size=512 ways=4"});
    for (uint64_t i = 0; i < 4; i++)
        ck_assert(!hits(&rig, read_request(i * 128, 128)));
    ck_assert(hits(&rig, read_request(0, 128)));
    ck_assert(!hits(&rig, read_request(4 * 128, 128))); /* replaces line 1 */
    ck_assert(hits(&rig, read_request(2 * 128, 128)));
    ck_assert(hits(&rig, read_request(0, 128)));
    ck_assert(!hits(&rig, read_request(1 * 128, 128))); /* replaces line 3 */
    ck_assert(hits(&rig, read_request(4 * 128, 128)));
    ck_assert(!hits(&rig, read_request(3 * 128, 128)));
    ck_assert_uint_eq(stat(&rig, "evictions"), 3);
    sim_free(rig.sim);
}
END_TEST

START_TEST(xor_index_spreads_what_collides_linearly) {
    const char *linear = "size=1KiB ways=1",
               *mixed = "size=1KiB ways=1 index=xor index_masks=0x480,0x900,0x1200";
    Rig rig[2] = {make_rig((Bench){.l1 = linear}), make_rig((Bench){.l1 = mixed})};
    for (int i = 0; i < 2; i++) {
        for (uint64_t line = 0; line < 8; line++)
            hits(&rig[i], read_request(line * 1024, 128));
        for (uint64_t line = 0; line < 8; line++)
            ck_assert_int_eq(hits(&rig[i], read_request(line * 1024, 128)), i == 1);
        sim_free(rig[i].sim);
    }
}
END_TEST

START_TEST(sectors_are_fetched_alone_and_only_when_missing) {
    Rig rig = make_rig((Bench){.l1 = "sectors=4"});
    ck_assert(!hits(&rig, read_request(0x1020, 32)));
    ck_assert_uint_eq(arrivals(&rig), 1);
    ck_assert_uint_eq(arrival(&rig, 0)->message.address, 0x1020);
    ck_assert_uint_eq(arrival(&rig, 0)->message.bytes, 32);
    /* Three more fetches leave in consecutive cycles; the answer goes back with the last. */
    ck_assert_int_eq(time_of(&rig, read_request(0x1000, 128), NULL), MISS_TIME + 2);
    ck_assert_uint_eq(arrivals(&rig), 4);
    ck_assert_uint_eq(arrival(&rig, 1)->message.address, 0x1000);
    ck_assert_uint_eq(arrival(&rig, 2)->message.address, 0x1040);
    ck_assert_uint_eq(arrival(&rig, 3)->message.address, 0x1060);
    ck_assert_uint_eq(memory_driver_responses(rig.driver)->count, 2);
    ck_assert(hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(stat(&rig, "read_misses"), 2);
    ck_assert_uint_eq(stat(&rig, "fetches"), 4);
    sim_free(rig.sim);
}
END_TEST

START_TEST(sector_miss_makes_its_line_the_most_recently_used) {
    Rig rig = make_rig((Bench){.l1 = "size=256 ways=2 sectors=4"});
    hits(&rig, read_request(0x1000, 32));
    hits(&rig, read_request(0x2000, 32));
    ck_assert(!hits(&rig, read_request(0x1020, 32)));
    hits(&rig, read_request(0x3000, 32));
    ck_assert(hits(&rig, read_request(0x1000, 32)));
    ck_assert(!hits(&rig, read_request(0x2000, 32)));
    sim_free(rig.sim);
}
END_TEST

/* Reservation fails. */

/* The second request, sent one cycle later, stops at the tags from `stopped` on and goes on in `released`. */
static void check_second_waits(Rig *rig, const char *fail, uint64_t stopped, uint64_t released) {
    char cycles[64];
    snprintf(cycles, sizeof cycles, "%.*s_cycles", (int)strlen(fail) - 1, fail);
    ck_assert_uint_eq(stat(rig, fail), 1);
    ck_assert_uint_eq(stat(rig, cycles), released - stopped);
}

START_TEST(second_line_waits_for_the_only_mshr) {
    Rig rig = make_rig((Bench){.l1 = "mshrs=1"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 128));
    run_idle(&rig);
    uint64_t first_answered = 10 + MISS_TIME - 1, looked_up = 11 + 1 + LATENCY;
    check_second_waits(&rig, "mshr_entry_fails", looked_up, first_answered);
    ck_assert_uint_eq(response(&rig, 1)->cycle, first_answered + RESPONDER + 4);
    sim_free(rig.sim);
}
END_TEST

START_TEST(merge_beyond_the_limit_waits_for_the_fill_and_then_hits) {
    Rig rig = make_rig((Bench){.l1 = "merges=2", .response = {.width = 2}});
    for (uint64_t i = 0; i < 3; i++)
        memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    run_idle(&rig);
    uint64_t filled = 10 + MISS_TIME - 1, looked_up = 12 + 1 + LATENCY;
    check_second_waits(&rig, "mshr_merge_fails", looked_up, filled);
    ck_assert_uint_eq(response(&rig, 0)->cycle, filled + 1);
    ck_assert_uint_eq(response(&rig, 1)->cycle, filled + 1);
    ck_assert_uint_eq(response(&rig, 2)->cycle, filled + 2);
    ck_assert_uint_eq(response(&rig, 1)->message.flags, MEM_HIT);
    ck_assert_uint_eq(stat(&rig, "read_hits"), 1);
    ck_assert_uint_eq(arrivals(&rig), 1);
    sim_free(rig.sim);
}
END_TEST

START_TEST(line_cannot_be_taken_while_every_way_is_reserved) {
    Rig rig = make_rig((Bench){.l1 = "size=128 ways=1"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 128));
    run_idle(&rig);
    uint64_t filled = 10 + MISS_TIME - 1, looked_up = 11 + 1 + LATENCY;
    check_second_waits(&rig, "line_fails", looked_up, filled);
    ck_assert_uint_eq(response(&rig, 1)->cycle, filled + RESPONDER + 4);
    sim_free(rig.sim);
}
END_TEST

START_TEST(allocation_on_fill_reserves_no_line) {
    Rig rig = make_rig((Bench){.l1 = "size=128 ways=1 allocate=fill"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 128));
    run_idle(&rig);
    ck_assert_uint_eq(response(&rig, 0)->cycle, 10 + MISS_TIME);
    ck_assert_uint_eq(response(&rig, 1)->cycle, 11 + MISS_TIME);
    ck_assert_uint_eq(stat(&rig, "line_fails"), 0);
    ck_assert(hits(&rig, read_request(0x2000, 128)));
    ck_assert(!hits(&rig, read_request(0x1000, 128)));
    sim_free(rig.sim);
}
END_TEST

START_TEST(allocation_on_fill_evicts_no_line_before_the_fill) {
    Rig rig = make_rig((Bench){.l1 = "size=128 ways=1 allocate=fill", .response = {.width = 2}});
    hits(&rig, read_request(0x1000, 128));
    uint64_t start = now_cycle(&rig) + 1, filled = start + MISS_TIME - 1;
    memory_driver_send(rig.driver, start, read_request(0x2000, 128));
    memory_driver_send(rig.driver, filled - LATENCY - 2,
                       read_request(0x1000, 128)); /* looked up one cycle before */
    memory_driver_send(rig.driver, filled - LATENCY - 1,
                       read_request(0x1000, 128)); /* in the cycle of the fill  */
    run_idle(&rig);
    ck_assert_uint_eq(stat(&rig, "read_hits"), 1);
    ck_assert_uint_eq(stat(&rig, "read_misses"), 3);
    sim_free(rig.sim);
}
END_TEST

/* The responder takes nothing until cycle 100, so the link below fills up with 8 fetches, and then the miss
 * queue. */
START_TEST(miss_waits_for_room_in_the_miss_queue) {
    Rig rig = make_rig((Bench){.l1 = "miss_queue=2", .responder = "refuse_until=100"});
    for (uint64_t i = 0; i < 11; i++)
        memory_driver_send(rig.driver, 10, read_request(0x1000 + 128 * i, 128));
    run_idle(&rig);
    /* Request 10 reaches the tags in 10 + 10 + 1 + LATENCY. The responder pops in 100 and thereby frees the
     * link for 101: a fetch leaves the queue and in the same cycle the request goes on. */
    check_second_waits(&rig, "miss_queue_fails", 10 + 10 + 1 + LATENCY, 101);
    ck_assert_uint_eq(arrival(&rig, 10)->cycle, 104);
    sim_free(rig.sim);
}
END_TEST

START_TEST(hit_waits_for_the_response_link) {
    Rig rig = make_rig((Bench){.driver = "refuse_from=50 refuse_until=100", .response = {.depth = 1}});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 60, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 61, read_request(0x1000, 128));
    run_idle(&rig);
    ck_assert_uint_eq(response(&rig, 1)->cycle, 100);
    ck_assert_uint_eq(response(&rig, 2)->cycle, 102);
    check_second_waits(&rig, "response_stalls", 61 + 1 + LATENCY, 101);
    sim_free(rig.sim);
}
END_TEST

START_TEST(stalls_are_counted_alike_however_often_the_counters_are_read) {
    Rig rig = make_rig((Bench){.l1 = "mshrs=1"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 128));
    while (sim_run(rig.sim, rig.sim->now + 1) != STOP_IDLE)
        sim_settle(rig.sim);
    check_second_waits(&rig, "mshr_entry_fails", 11 + 1 + LATENCY, 10 + MISS_TIME - 1);
    sim_free(rig.sim);
}
END_TEST

/* Writes. */

START_TEST(global_write_evicts_its_line_and_goes_on_below) {
    Rig rig = make_rig((Bench){0});
    hits(&rig, read_request(0x1000, 128));
    MemMessage m = with_token(write_request(0x1020, 32), 99);
    mem_enter_network(&m, 3);
    ck_assert_int_eq(time_of(&rig, m, NULL), MISS_TIME);
    const MemMessage *below = &arrival(&rig, 1)->message, *ack = &response(&rig, 1)->message;
    ck_assert_uint_eq(below->kind, MEM_WRITE);
    ck_assert_uint_eq(below->address, 0x1020);
    ck_assert_uint_eq(below->bytes, 32);
    ck_assert_uint_eq(below->byte_mask[0], 0xffffffff00000000);
    ck_assert_uint_eq(below->route_depth, 0);
    ck_assert_mem_eq(ack, &memory_driver_sent(rig.driver)->entries[1].message, sizeof *ack);
    ck_assert(!hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(stat(&rig, "write_hits"), 1);
    sim_free(rig.sim);
}
END_TEST

START_TEST(global_write_that_misses_takes_no_line) {
    Rig rig = make_rig((Bench){0});
    hits(&rig, write_request(0x1000, 128));
    ck_assert(!hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(stat(&rig, "write_misses"), 1);
    sim_free(rig.sim);
}
END_TEST

START_TEST(write_through_keeps_the_line) {
    Rig rig = make_rig((Bench){.l1 = "write_policy=through"});
    hits(&rig, read_request(0x1000, 128));
    hits(&rig, write_request(0x1000, 128));
    ck_assert(hits(&rig, read_request(0x1000, 128)));
    ck_assert_uint_eq(arrivals(&rig), 2);
    sim_free(rig.sim);
}
END_TEST

START_TEST(write_through_makes_the_line_the_most_recently_used) {
    Rig rig = make_rig((Bench){.l1 = "size=256 ways=2 write_policy=through"});
    hits(&rig, read_request(0x1000, 128));
    hits(&rig, read_request(0x2000, 128));
    hits(&rig, write_request(0x1000, 128));
    hits(&rig, read_request(0x3000, 128));
    ck_assert(hits(&rig, read_request(0x1000, 128)));
    sim_free(rig.sim);
}
END_TEST

/* A link of depth 1 takes a message every other cycle, since a pop frees its slot one cycle later. */
START_TEST(acknowledgement_waits_for_the_response_link) {
    for (TickOrder order = ORDER_PATH; order <= ORDER_REVERSED; order++) {
        Rig rig = make_rig((Bench){.response = {.depth = 1}, .order = order});
        for (uint64_t i = 0; i < 3; i++)
            memory_driver_send(rig.driver, 10, write_request(0x1000, 128));
        run_idle(&rig);
        for (uint32_t i = 0; i < 3; i++)
            ck_assert_uint_eq(response(&rig, i)->cycle, 10 + MISS_TIME + 2 * i);
        sim_free(rig.sim);
    }
}
END_TEST

START_TEST(posted_write_passes_without_an_answer) {
    Rig rig = make_rig((Bench){0});
    ck_assert_int_eq(time_of(&rig, posted_write_request(0x1000, 128), NULL), -1);
    ck_assert_uint_eq(arrival(&rig, 0)->message.flags, MEM_POSTED);
    sim_free(rig.sim);
}
END_TEST

START_TEST(write_waits_while_too_many_pass_through) {
    Rig rig = make_rig((Bench){.l1 = "passing_limit=1"});
    memory_driver_send(rig.driver, 10, write_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, write_request(0x2000, 128));
    run_idle(&rig);
    check_second_waits(&rig, "passing_stalls", 11 + 1 + LATENCY, 10 + MISS_TIME - 1);
    sim_free(rig.sim);
}
END_TEST

START_TEST(write_to_a_read_only_cache_is_a_user_error) {
    Rig rig = make_rig((Bench){.l1 = "write_policy=none"});
    memory_driver_send(rig.driver, 10, write_request(0x1000, 128));
    sim_run(rig.sim, UINT64_MAX);
}
END_TEST

START_TEST(request_across_lines_is_a_user_error) {
    Rig rig = make_rig((Bench){.l1 = "line=64"});
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    sim_run(rig.sim, UINT64_MAX);
}
END_TEST

START_TEST(local_write_of_a_whole_line_stays_here) {
    Rig rig = make_rig((Bench){0});
    ck_assert_int_eq(time_of(&rig, local(write_request(0x1000, 128)), NULL), HIT_TIME);
    ck_assert(hits(&rig, local(read_request(0x1000, 128))));
    ck_assert_uint_eq(arrivals(&rig), 0);
    ck_assert_uint_eq(stat(&rig, "local_write_misses"), 1);
    ck_assert_uint_eq(stat(&rig, "local_read_hits"), 1);
    sim_free(rig.sim);
}
END_TEST

START_TEST(local_write_of_a_part_fetches_the_rest) {
    Rig rig = make_rig((Bench){0});
    uint64_t start = 10;
    memory_driver_send(rig.driver, start, local(write_request(0x1000, 32)));
    memory_driver_send(rig.driver, start + 1, local(read_request(0x1000, 32)));
    run_idle(&rig);
    ck_assert_uint_eq(response(&rig, 0)->cycle, start + HIT_TIME);
    ck_assert_uint_eq(response(&rig, 1)->cycle, start + MISS_TIME);
    ck_assert_uint_eq(arrivals(&rig), 1);
    ck_assert_uint_eq(arrival(&rig, 0)->message.kind, MEM_READ);
    ck_assert_uint_eq(stat(&rig, "local_read_merges"), 1);
    sim_free(rig.sim);
}
END_TEST

START_TEST(dirty_local_line_is_written_back_when_replaced) {
    Rig rig = make_rig((Bench){.l1 = "size=128 ways=1"});
    MemMessage m = local(write_request(0x1040, 32));
    m.sm = 2, m.warp = 31;
    hits(&rig, m);
    ck_assert(!hits(&rig, read_request(0x2000, 128)));
    ck_assert_uint_eq(arrivals(&rig),
                      3); /* the fetch for the write, the write-back, the fetch for the read */
    const MemMessage *back = &arrival(&rig, 1)->message;
    ck_assert_uint_eq(back->kind, MEM_WRITE);
    ck_assert_uint_eq(back->flags, MEM_POSTED);
    ck_assert_uint_eq(back->address, 0x1000);
    ck_assert_uint_eq(back->bytes, 128);
    ck_assert_uint_eq(back->byte_mask[0], 0);
    ck_assert_uint_eq(back->byte_mask[1], 0xffffffff);
    ck_assert_uint_eq(back->sm, 2);
    ck_assert_uint_eq(back->warp, 31);
    ck_assert_uint_eq(stat(&rig, "write_backs"), 1);
    hits(&rig, read_request(0x3000, 128));
    ck_assert_uint_eq(stat(&rig, "write_backs"), 1);
    sim_free(rig.sim);
}
END_TEST

START_TEST(write_back_is_no_larger_than_its_dirty_sectors_need) {
    static const struct {
        uint64_t first, second, address;
        uint32_t bytes;
    } cases[] = {
        {0x20, 0x20, 0x20, 32}, {0x40, 0x60, 0x40, 64}, {0x20, 0x40, 0x00, 128}, {0x00, 0x20, 0x00, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Rig rig = make_rig((Bench){.l1 = "size=128 ways=1 sectors=4"});
        hits(&rig, local(write_request(0x1000 + cases[i].first, 32)));
        hits(&rig, local(write_request(0x1000 + cases[i].second, 32)));
        hits(&rig, read_request(0x2000, 32));
        ck_assert_uint_eq(arrivals(&rig), 2);
        ck_assert_uint_eq(arrival(&rig, 0)->message.address, 0x1000 + cases[i].address);
        ck_assert_uint_eq(arrival(&rig, 0)->message.bytes, cases[i].bytes);
        sim_free(rig.sim);
    }
}
END_TEST

START_TEST(local_write_may_pass_without_taking_a_line) {
    Rig rig = make_rig((Bench){.l1 = "local_allocate=false"});
    ck_assert_int_eq(time_of(&rig, local(write_request(0x1000, 128)), NULL), MISS_TIME);
    ck_assert(!hits(&rig, local(read_request(0x1000, 128))));
    ck_assert(hits(&rig, local(write_request(0x1000, 128))));
    ck_assert_uint_eq(arrivals(&rig), 2);
    sim_free(rig.sim);
}
END_TEST

START_TEST(lines_taken_at_a_fill_write_back_although_the_miss_queue_is_full) {
    Rig rig = make_rig(
        (Bench){.l1 = "size=128 ways=1 allocate=fill miss_queue=2", .responder = "latency=60"});
    memory_driver_send(rig.driver, 10, read_request(0x2000, 128));
    memory_driver_send(rig.driver, 20, local(write_request(0x1000, 128)));
    for (uint64_t i = 0; i < 30; i++)
        memory_driver_send(rig.driver, 30, write_request(0x8000 + 128 * i, 128));
    run_idle(&rig);
    ck_assert_uint_eq(stat(&rig, "write_backs"), 1);
    ck_assert(hits(&rig, read_request(0x2000, 128)));
    sim_free(rig.sim);
}
END_TEST

/* Requests that pass through. */

START_TEST(atomics_and_bypassing_requests_leave_no_line_behind) {
    MemMessage requests[] = {read_request(0x1000, 32), read_request(0x1000, 32), write_request(0x1000, 32)};
    requests[0].kind = MEM_ATOMIC;
    requests[0].payload = 5;
    requests[1].flags = requests[2].flags = MEM_BYPASS_L1;
    for (int i = 0; i < 3; i++) {
        Rig rig = make_rig((Bench){.responder = "response_flags=8"});
        hits(&rig, read_request(0x1000, 128));
        ck_assert_int_eq(time_of(&rig, requests[i], NULL), MISS_TIME);
        ck_assert_uint_eq(arrival(&rig, 1)->message.kind, requests[i].kind);
        ck_assert_uint_eq(arrival(&rig, 1)->message.bytes, 32);
        ck_assert_uint_eq(arrival(&rig, 1)->message.payload, requests[i].payload);
        ck_assert_uint_eq(response(&rig, 1)->message.flags, requests[i].flags | MEM_HIT); /* what L2 said */
        ck_assert(!hits(&rig, read_request(0x1000, 128)));
        ck_assert_uint_eq(stat(&rig, "bypasses"), 1);
        sim_free(rig.sim);
    }
}
END_TEST

START_TEST(bypassing_request_writes_a_dirty_line_back_first) {
    Rig rig = make_rig((Bench){0});
    hits(&rig, local(write_request(0x1000, 128)));
    MemMessage m = local(read_request(0x1000, 128));
    m.flags |= MEM_BYPASS_L1;
    hits(&rig, m);
    ck_assert_uint_eq(arrivals(&rig), 2);
    ck_assert_uint_eq(arrival(&rig, 0)->message.flags, MEM_POSTED);
    ck_assert_uint_eq(arrival(&rig, 1)->message.kind, MEM_READ);
    sim_free(rig.sim);
}
END_TEST

START_TEST(switched_off_it_keeps_its_tags_and_comes_back) {
    Rig rig = make_rig((Bench){0});
    hits(&rig, read_request(0x1000, 128));
    object_set_text(rig.l1, "enabled", "false");
    ck_assert_int_eq(time_of(&rig, read_request(0x1000, 32), NULL), MISS_TIME);
    ck_assert_uint_eq(arrival(&rig, 1)->message.bytes, 32);
    ck_assert_int_eq(time_of(&rig, read_request(0x2000, 128), NULL), MISS_TIME);
    ck_assert_int_eq(time_of(&rig, read_request(0x2000, 128), NULL), MISS_TIME);
    ck_assert_uint_eq(stat(&rig, "off_hits"), 2);
    ck_assert_uint_eq(stat(&rig, "off_misses"), 1);
    ck_assert_uint_eq(stat(&rig, "bypasses"), 3);
    object_set_text(rig.l1, "enabled", "true");
    ck_assert(hits(&rig, read_request(0x1000, 128)));  /* was here before */
    ck_assert(!hits(&rig, read_request(0x2000, 128))); /* has a tag, but no data */
    ck_assert(hits(&rig, read_request(0x2000, 128)));
    sim_free(rig.sim);
}
END_TEST

START_TEST(switched_off_it_writes_dirty_lines_back_once) {
    Rig rig = make_rig((Bench){.l1 = "size=128 ways=1"});
    hits(&rig, local(write_request(0x1000, 32)));
    object_set_text(rig.l1, "enabled", "false");
    hits(&rig, local(read_request(0x1000, 32)));
    ck_assert_uint_eq(arrivals(&rig), 3); /* fetch, write-back, read */
    ck_assert_uint_eq(arrival(&rig, 1)->message.byte_mask[0], 0xffffffff);
    object_set_text(rig.l1, "enabled", "true");
    hits(&rig, local(write_request(0x1020, 32)));
    hits(&rig, read_request(0x2000, 128));
    ck_assert_uint_eq(arrivals(&rig), 5);
    ck_assert_uint_eq(arrival(&rig, 3)->message.byte_mask[0], 0xffffffff00000000);
    sim_free(rig.sim);
}
END_TEST

START_TEST(local_write_while_switched_off_leaves_no_stale_data) {
    Rig rig = make_rig((Bench){0});
    hits(&rig, local(read_request(0x1000, 128)));
    object_set_text(rig.l1, "enabled", "false");
    ck_assert_int_eq(time_of(&rig, local(write_request(0x1000, 128)), NULL), MISS_TIME);
    object_set_text(rig.l1, "enabled", "true");
    ck_assert(!hits(&rig, local(read_request(0x1000, 128))));
    sim_free(rig.sim);
}
END_TEST

START_TEST(invalidation_forgets_all_lines_and_drops_dirty_ones) {
    Rig rig = make_rig((Bench){0});
    hits(&rig, read_request(0x1000, 128));
    hits(&rig, local(write_request(0x2000, 128)));
    l1_invalidate(rig.l1);
    run_idle(&rig);
    ck_assert_uint_eq(arrivals(&rig), 1);
    ck_assert(!hits(&rig, read_request(0x1000, 128)));
    ck_assert(!hits(&rig, local(read_request(0x2000, 128))));
    ck_assert_uint_eq(stat(&rig, "write_backs"), 0);
    sim_free(rig.sim);
}
END_TEST

START_TEST(report_names_the_request_at_the_tags_and_what_it_waits_for) {
    Rig rig = make_rig((Bench){.l1 = "mshrs=1"});
    char *text;
    size_t size;
    memory_driver_send(rig.driver, 10, read_request(0x1000, 128));
    memory_driver_send(rig.driver, 11, read_request(0x2000, 128));
    sim_run(rig.sim, 20 * rig.l1->period);
    FILE *out = open_memstream(&text, &size);
    rig.l1->class->report(rig.l1, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "1 of 1 MSHRs"));
    ck_assert_ptr_nonnull(strstr(text, "read of 128 B at 0x2000"));
    ck_assert_ptr_nonnull(strstr(text, "waits for a free MSHR"));
    free(text);
    sim_free(rig.sim);
}
END_TEST

/* Determinism. */

enum { RANDOM_REQUESTS = 3000 };

static MemMessage random_request(Random *random) {
    uint64_t bytes = 32ull << random_below(random, 3);
    uint64_t address = random_below(random, 64) * 128 + random_below(random, 128 / bytes) * bytes;
    MemMessage m = random_below(random, 3) ? read_request(address, (uint32_t)bytes)
                                           : write_request(address, (uint32_t)bytes);
    if (random_below(random, 3) == 0) m.flags |= MEM_LOCAL;
    if (random_below(random, 8) == 0) m.flags |= MEM_BYPASS_L1;
    if (random_below(random, 8) == 0) m.kind = MEM_ATOMIC;
    m.warp = (uint16_t)random_below(random, 48);
    return m;
}

static const char *const tight_caches[] = {
    "size=2KiB ways=2 mshrs=4 merges=2 miss_queue=2 passing_limit=6",
    "size=2KiB ways=2 mshrs=4 merges=2 miss_queue=2 sectors=4",
    "size=1KiB ways=1 mshrs=3 merges=3 miss_queue=2 sectors=2 allocate=fill",
    "size=1KiB ways=4 mshrs=3 miss_queue=3 write_policy=through local_allocate=false",
    "size=1KiB ways=4 mshrs=3 miss_queue=3 enabled=false",
};
enum { TIGHT_CACHES = sizeof tight_caches / sizeof *tight_caches };

static Rig make_random_rig(const char *l1, TickOrder order, uint64_t seed, uint32_t quantum) {
    Rig rig = make_rig((Bench){.l1 = l1,
                               .driver = "refuse_from=2000 refuse_until=2300",
                               .responder = "capacity=5 refuse_from=4000 refuse_until=4400",
                               .order = order,
                               .order_seed = seed,
                               .response = {.depth = 2},
                               .quantum = quantum});
    Random random = {7};
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < RANDOM_REQUESTS; i++) {
        cycle += random_below(&random, 4);
        memory_driver_send(rig.driver, cycle, with_token(random_request(&random), i));
    }
    return rig;
}

static void check_same(Rig *a, Rig *b) {
    const MessageLog *x[] = {memory_driver_responses(a->driver), memory_responder_arrivals(a->responder)};
    const MessageLog *y[] = {memory_driver_responses(b->driver), memory_responder_arrivals(b->responder)};
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(x[i]->count, y[i]->count);
        ck_assert_mem_eq(x[i]->entries, y[i]->entries, x[i]->count * sizeof(LoggedMessage));
    }
    char *stats_a = stats_text(a->sim), *stats_b = stats_text(b->sim);
    ck_assert_str_eq(stats_a, stats_b);
    free(stats_a);
    free(stats_b);
}

START_TEST(tick_order_changes_nothing) {
    Rig first = make_random_rig(tight_caches[_i], ORDER_PATH, 0, 0);
    run_idle(&first);
    for (uint64_t other = 0; other < 4; other++) {
        Rig rig = make_random_rig(tight_caches[_i], other ? ORDER_SHUFFLED : ORDER_REVERSED, other, 0);
        run_idle(&rig);
        check_same(&first, &rig);
        sim_free(rig.sim);
    }
    sim_free(first.sim);
}
END_TEST

/* Ticked in every cycle the cache must do what it does when it sleeps as long as it says: it neither
 * oversleeps nor changes anything in a tick without reason. */
START_TEST(needless_ticks_change_nothing) {
    Rig sleeping = make_random_rig(tight_caches[_i], ORDER_PATH, 0, 0);
    Rig awake = make_random_rig(tight_caches[_i], ORDER_PATH, 0, 1);
    run_idle(&sleeping);
    do
        object_poke(awake.l1, awake.sim->now);
    while (sim_run(awake.sim, awake.sim->now + awake.l1->period) != STOP_IDLE &&
           awake.sim->now < sleeping.sim->now);
    run_idle(&awake);
    check_same(&sleeping, &awake);
    sim_free(sleeping.sim);
    sim_free(awake.sim);
}
END_TEST

START_TEST(every_request_is_answered_once_and_as_it_came) {
    Rig rig = make_random_rig(tight_caches[_i], ORDER_PATH, 0, 0);
    run_idle(&rig);
    const MessageLog *sent = memory_driver_sent(rig.driver), *back = memory_driver_responses(rig.driver);
    ck_assert_uint_eq(sent->count, RANDOM_REQUESTS);
    ck_assert_uint_eq(back->count, RANDOM_REQUESTS);
    bool *seen = calloc(RANDOM_REQUESTS, sizeof *seen);
    for (uint32_t i = 0; i < back->count; i++) {
        MemMessage m = back->entries[i].message;
        ck_assert_uint_lt(m.token, RANDOM_REQUESTS);
        ck_assert(!seen[m.token]);
        seen[m.token] = true;
        m.flags &= (uint8_t)~MEM_HIT;
        ck_assert_mem_eq(&m, &sent->entries[m.token].message, sizeof m);
    }
    free(seen);
    sim_free(rig.sim);
}
END_TEST

static TCase *read_tests(void) {
    TCase *tests = tcase_create("reads");
    tcase_add_loop_test(tests, hit_is_answered_after_the_latency_and_not_before, 0, 4);
    tcase_add_test(tests, response_is_the_request_with_only_the_hit_flag_added);
    tcase_add_test(tests, miss_fetches_the_whole_line_on_behalf_of_the_requester);
    tcase_add_test(tests, hits_flow_one_per_cycle);
    tcase_add_test(tests, requests_for_a_line_under_way_merge_and_are_answered_one_per_cycle_in_order);
    tcase_add_test(tests, least_recently_used_line_is_replaced);
    tcase_add_test(tests, xor_index_spreads_what_collides_linearly);
    tcase_add_test(tests, sectors_are_fetched_alone_and_only_when_missing);
    tcase_add_test(tests, sector_miss_makes_its_line_the_most_recently_used);
    return tests;
}

static TCase *stall_tests(void) {
    TCase *tests = tcase_create("stalls");
    tcase_add_test(tests, second_line_waits_for_the_only_mshr);
    tcase_add_test(tests, merge_beyond_the_limit_waits_for_the_fill_and_then_hits);
    tcase_add_test(tests, line_cannot_be_taken_while_every_way_is_reserved);
    tcase_add_test(tests, allocation_on_fill_reserves_no_line);
    tcase_add_test(tests, allocation_on_fill_evicts_no_line_before_the_fill);
    tcase_add_test(tests, miss_waits_for_room_in_the_miss_queue);
    tcase_add_test(tests, hit_waits_for_the_response_link);
    tcase_add_test(tests, stalls_are_counted_alike_however_often_the_counters_are_read);
    tcase_add_test(tests, report_names_the_request_at_the_tags_and_what_it_waits_for);
    return tests;
}

static TCase *write_tests(void) {
    TCase *tests = tcase_create("writes");
    tcase_add_test(tests, global_write_evicts_its_line_and_goes_on_below);
    tcase_add_test(tests, global_write_that_misses_takes_no_line);
    tcase_add_test(tests, write_through_keeps_the_line);
    tcase_add_test(tests, write_through_makes_the_line_the_most_recently_used);
    tcase_add_test(tests, posted_write_passes_without_an_answer);
    tcase_add_test(tests, acknowledgement_waits_for_the_response_link);
    tcase_add_test(tests, write_waits_while_too_many_pass_through);
    tcase_add_exit_test(tests, write_to_a_read_only_cache_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_exit_test(tests, request_across_lines_is_a_user_error, EXIT_USER_ERROR);
    tcase_add_test(tests, local_write_of_a_whole_line_stays_here);
    tcase_add_test(tests, local_write_of_a_part_fetches_the_rest);
    tcase_add_test(tests, dirty_local_line_is_written_back_when_replaced);
    tcase_add_test(tests, write_back_is_no_larger_than_its_dirty_sectors_need);
    tcase_add_test(tests, local_write_may_pass_without_taking_a_line);
    tcase_add_test(tests, lines_taken_at_a_fill_write_back_although_the_miss_queue_is_full);
    return tests;
}

static TCase *other_tests(void) {
    TCase *tests = tcase_create("passing, switching, determinism");
    tcase_add_test(tests, atomics_and_bypassing_requests_leave_no_line_behind);
    tcase_add_test(tests, bypassing_request_writes_a_dirty_line_back_first);
    tcase_add_test(tests, switched_off_it_keeps_its_tags_and_comes_back);
    tcase_add_test(tests, switched_off_it_writes_dirty_lines_back_once);
    tcase_add_test(tests, local_write_while_switched_off_leaves_no_stale_data);
    tcase_add_test(tests, invalidation_forgets_all_lines_and_drops_dirty_ones);
    tcase_add_loop_test(tests, tick_order_changes_nothing, 0, TIGHT_CACHES);
    tcase_add_loop_test(tests, needless_ticks_change_nothing, 0, TIGHT_CACHES);
    tcase_add_loop_test(tests, every_request_is_answered_once_and_as_it_came, 0, TIGHT_CACHES);
    return tests;
}

Suite *l1_cache_suite(void) {
    Suite *suite = suite_create("l1_cache");
    suite_add_tcase(suite, read_tests());
    suite_add_tcase(suite, stall_tests());
    suite_add_tcase(suite, write_tests());
    suite_add_tcase(suite, other_tests());
    return suite;
}
