/* TLBs: which requests wait for a translation and how long, what goes on meanwhile, and which page loses its entry. */
#include "core/sim/checkpoint/snapshot.h"
#include "core/sim/event.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/mem/translation/translation_rig.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

Suite *tlb_suite(void);

static TranslationRig rig;

static void send(uint64_t cycle, MemMessage message) {
    memory_driver_send(rig.driver, cycle, message);
}

static uint64_t stat(const char *name) {
    return stat_of(rig.tlb, name);
}

static void tear_down(void) {
    sim_free(rig.sim);
}

/* Sent at 10, at the TLB at 11; the walker has it at 12 and reads at 13, the table answers at 15, the translation is sent at 16
 * and there at 17; taken by the memory at 18. Of each further level an entry is read as soon as the one above has come. */
START_TEST(request_goes_on_in_the_cycle_in_which_its_page_comes) {
    uint32_t levels = (uint32_t)_i + 1;
    char walker[64];
    snprintf(walker, sizeof walker, "page=4KiB levels=%u", levels);
    translation_rig(&rig, (RigBench){.walker = walker});
    send(10, read_page(5, 0));
    rig_end(&rig);
    ck_assert_uint_eq(arrival(&rig, 0)->cycle, 18 + 3 * (levels - 1));
    ck_assert_uint_eq(memory_driver_responses(rig.driver)->entries[0].cycle, 21 + 3 * (levels - 1));
    ck_assert_uint_eq(stat("misses"), 1);
    ck_assert_uint_eq(stat("miss_cycles"), 6 + 3 * (levels - 1));
}
END_TEST

START_TEST(request_whose_page_has_an_entry_passes_in_the_cycle_it_is_ready) {
    translation_rig(&rig, (RigBench){0});
    send(10, read_page(5, 0));
    send(40, read_page(5, 31));
    rig_end(&rig);
    ck_assert_uint_eq(arrival(&rig, 1)->cycle, 42);
    ck_assert_uint_eq(arrival(&rig, 1)->message.address, 5 * RIG_PAGE + 31 * 128);
    ck_assert_uint_eq(stat("hits"), 1);
}
END_TEST

START_TEST(requests_for_other_pages_pass_by_the_one_that_waits) {
    translation_rig(&rig, (RigBench){.table = "latency=50"});
    send(10, read_page(1, 0));
    send(100, read_page(2, 0));
    send(101, read_page(1, 1));
    rig_end(&rig);
    ck_assert_uint_eq(arrival(&rig, 1)->message.address, RIG_PAGE + 128);
    ck_assert_uint_eq(arrival(&rig, 1)->cycle, 103);
    ck_assert_uint_eq(arrival(&rig, 2)->message.address, 2 * RIG_PAGE);
    ck_assert_uint_eq(arrival(&rig, 2)->cycle, 108 + 49);
}
END_TEST

/* They come at 11 to 14; the translation at 17. Then one a cycle. */
START_TEST(page_is_asked_for_once_and_its_requests_go_on_in_the_order_in_which_they_came) {
    translation_rig(&rig, (RigBench){0});
    for (uint32_t i = 0; i < 4; i++)
        send(10 + i, read_page(7, 3 - i));
    rig_end(&rig);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(arrival(&rig, i)->cycle, 18 + i);
        ck_assert_uint_eq(arrival(&rig, i)->message.address, 7 * RIG_PAGE + (3 - i) * 128);
    }
    ck_assert_uint_eq(stat("misses"), 1);
    ck_assert_uint_eq(stat("merges"), 3);
    ck_assert_uint_eq(memory_responder_arrivals(rig.table)->count, 1);
}
END_TEST

/* Page 1 comes at 17, page 2 at 18, when two requests for page 1 have not gone. */
START_TEST(pages_that_come_one_after_the_other_keep_this_order) {
    translation_rig(&rig, (RigBench){0});
    send(10, read_page(1, 0));
    send(11, read_page(2, 0));
    send(12, read_page(1, 1));
    send(13, read_page(1, 2));
    rig_end(&rig);
    const uint64_t expected[] = {RIG_PAGE, RIG_PAGE + 128, RIG_PAGE + 256, 2 * RIG_PAGE};
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(arrival(&rig, i)->cycle, 18 + i);
        ck_assert_uint_eq(arrival(&rig, i)->message.address, expected[i]);
    }
}
END_TEST

/* The request that comes in the cycle of the translation finds the entry, but those inside go first. */
START_TEST(requests_that_waited_go_before_those_that_come) {
    translation_rig(&rig, (RigBench){0});
    send(10, read_page(7, 0));
    send(11, read_page(7, 1));
    send(16, read_page(7, 2));
    rig_end(&rig);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(arrival(&rig, i)->cycle, 18 + i);
        ck_assert_uint_eq(arrival(&rig, i)->message.address, 7 * RIG_PAGE + i * 128);
    }
    ck_assert_uint_eq(stat("hits"), 1);
}
END_TEST

START_TEST(page_that_was_used_longest_ago_loses_its_entry) {
    translation_rig(&rig, (RigBench){.tlb = "page=4KiB entries=2"});
    send(10, read_page(1, 0));
    send(50, read_page(2, 0));
    send(100, read_page(1, 1)); /* uses it again */
    send(150, read_page(3, 0)); /* in place of 2 */
    rig_end(&rig);
    ck_assert_uint_eq(stat("misses"), 3);
    ck_assert_uint_eq(stat("evictions"), 1);
    send(300, read_page(1, 2));
    send(350, read_page(3, 1));
    rig_end(&rig);
    ck_assert_uint_eq(stat("misses"), 3);
    send(400, read_page(2, 1));
    rig_end(&rig);
    ck_assert_uint_eq(stat("misses"), 4);
}
END_TEST

START_TEST(pages_of_other_sets_take_no_entry) {
    translation_rig(&rig, (RigBench){.tlb = "page=4KiB entries=4 ways=1"});
    send(10, read_page(1, 0));
    send(50, read_page(2, 0));
    send(100, read_page(3, 0));
    send(150, read_page(4, 0));
    send(200, read_page(1, 1));
    rig_end(&rig);
    ck_assert_uint_eq(stat("misses"), 4);
    send(300, read_page(5, 0)); /* of the set of 1 */
    send(350, read_page(2, 1));
    send(400, read_page(1, 2));
    rig_end(&rig);
    ck_assert_uint_eq(stat("misses"), 6);
    ck_assert_uint_eq(stat("evictions"), 2);
}
END_TEST

/* The second one is ready at 12 and has to stay until the first has gone at 17; it waits inside from 18 on. */
START_TEST(full_tlb_holds_up_what_is_behind_the_head) {
    translation_rig(&rig, (RigBench){.tlb = "page=4KiB requests=1"});
    send(10, read_page(1, 0));
    send(11, read_page(2, 0));
    send(12, read_page(1, 1));
    rig_end(&rig);
    ck_assert_uint_eq(arrival(&rig, 0)->cycle, 18);
    ck_assert_uint_eq(arrival(&rig, 1)->cycle, 20); /* page 1 has its entry, and passes by */
    ck_assert_uint_eq(arrival(&rig, 2)->cycle, 25);
    ck_assert_uint_eq(stat("place_stalls"), 1);
    ck_assert_uint_eq(stat("place_stall_cycles"), 18 - 12);
}
END_TEST

START_TEST(no_more_pages_are_asked_for_than_misses_says) {
    translation_rig(&rig, (RigBench){.tlb = "page=4KiB misses=1"});
    send(10, read_page(1, 0));
    send(11, read_page(2, 0));
    rig_end(&rig);
    ck_assert_uint_eq(arrival(&rig, 1)->cycle, 25);
    ck_assert_uint_eq(stat("miss_stalls"), 1);
    ck_assert_uint_eq(stat("place_stalls"), 0);
}
END_TEST

/* One walk goes on, one request stands in the link: the third one's can be sent when that has begun its walk. */
START_TEST(full_link_to_the_walker_holds_up_a_miss) {
    translation_rig(&rig, (RigBench){.walk_depth = 1, .walker = "page=4KiB levels=1 walkers=1"});
    for (uint32_t i = 0; i < 3; i++)
        send(10 + i, read_page(1 + i, 0));
    rig_end(&rig);
    ck_assert_uint_ge(stat("walk_stalls"), 1);
    ck_assert_uint_eq(stat("misses"), 3);
    ck_assert_uint_eq(stat("miss_stalls") + stat("place_stalls") + stat("link_stalls"), 0);
}
END_TEST

/* 8 requests fill the link to a memory that takes none until 100, and then all that are there. */
START_TEST(full_link_onward_holds_up_requests) {
    translation_rig(&rig, (RigBench){.memory = "refuse_until=100"});
    for (uint32_t i = 0; i < 10; i++)
        send(10 + i, read_page(1, i));
    rig_end(&rig);
    ck_assert_uint_eq(arrival(&rig, 7)->cycle, 100);
    ck_assert_uint_eq(arrival(&rig, 8)->cycle, 102); /* it saw at 101 that there is room */
    ck_assert_uint_eq(arrival(&rig, 9)->cycle, 103);
    ck_assert_uint_eq(stat("link_stalls"), 1);
    ck_assert_uint_eq(stat("passed"), 10);
}
END_TEST

START_TEST(posted_writes_wait_for_their_page_and_are_not_answered) {
    translation_rig(&rig, (RigBench){0});
    send(10, posted_write_request(3 * RIG_PAGE, 32));
    rig_end(&rig);
    ck_assert_uint_eq(arrival(&rig, 0)->cycle, 18);
    ck_assert_uint_eq(arrival(&rig, 0)->message.kind, MEM_WRITE);
    ck_assert_uint_eq(memory_driver_responses(rig.driver)->count, 0);
}
END_TEST

/* ---- Levels of TLBs ---- */

static SimObject *second, *first[2], *drivers[2];

/* Two TLBs with drivers share a second one, which asks the walker. */
static void build_two_levels(const char *second_parameters) {
    LinkOptions near = {.latency = 1, .depth = 8};
    rig.sim = sim_new("test");
    class_register_all();
    memory_test_classes();
    sim_clock(rig.sim, "clock", 1000000000);
    SimObject *mux = tiny_add(rig.sim, "Mux", "mux", "up=2");
    second = tiny_add(rig.sim, "TLB", "second", second_parameters);
    rig.walker = tiny_add(rig.sim, "PageWalker", "walker", "page=4KiB levels=1");
    rig.table = tiny_add(rig.sim, "MemoryResponder", "table", NULL);
    for (uint32_t i = 0; i < 2; i++) {
        char path[32], port[32];
        snprintf(path, sizeof path, "driver[%u]", i);
        snprintf(port, sizeof port, "up[%u]", i);
        drivers[i] = tiny_add(rig.sim, "MemoryDriver", path, NULL);
        snprintf(path, sizeof path, "tlb[%u]", i);
        first[i] = tiny_add(rig.sim, "TLB", path, "page=4KiB");
        snprintf(path, sizeof path, "memory[%u]", i);
        SimObject *memory = tiny_add(rig.sim, "MemoryResponder", path, NULL);
        sim_wire(rig.sim, drivers[i], "mem", first[i], "up", near, near);
        sim_wire(rig.sim, first[i], "down", memory, "cpu", near, near);
        sim_wire(rig.sim, first[i], "walk", mux, port, near, near);
    }
    sim_wire(rig.sim, mux, "down", second, "up", near, near);
    sim_wire(rig.sim, second, "walk", rig.walker, "up", near, near);
    sim_wire(rig.sim, rig.walker, "mem", rig.table, "cpu", near, near);
    sim_elaborate(rig.sim);
}

/* The mux and the second TLB take a cycle each on both ways. */
START_TEST(second_tlb_asks_once_and_answers_both) {
    build_two_levels("page=4KiB");
    memory_driver_send(drivers[0], 10, read_page(1, 0));
    memory_driver_send(drivers[1], 10, read_page(1, 1));
    memory_driver_send(drivers[0], 50, read_page(2, 0));
    memory_driver_send(drivers[1], 90, read_page(2, 0)); /* finds the entry of the second TLB */
    rig_end(&rig);
    ck_assert_uint_eq(stat_of(first[0], "miss_cycles"), 2 * (6 + 4));
    ck_assert_uint_eq(stat_of(first[1], "miss_cycles"), (6 + 4 + 1) + 4);
    ck_assert_uint_eq(stat_of(second, "misses"), 2);
    ck_assert_uint_eq(stat_of(second, "merges"), 1);
    ck_assert_uint_eq(stat_of(second, "hits"), 1);
    ck_assert_uint_eq(stat_of(second, "translations"), 4);
    ck_assert_uint_eq(memory_responder_arrivals(rig.table)->count, 2);
    for (uint32_t i = 0; i < 2; i++)
        ck_assert_uint_eq(memory_driver_responses(drivers[i])->count, 2);
}
END_TEST

/* ---- Policies ---- */

static int64_t answers[8];
static uint32_t asked;

static int64_t answer(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                      uint64_t now) {
    (void)subscriber, (void)object, (void)event, (void)now;
    ck_assert_int_eq(arguments[2], 5); /* the page */
    return answers[asked++];
}

START_TEST(page_to_which_policies_give_no_entry_misses_again) {
    Subscriber subscriber = {answer};
    translation_rig(&rig, (RigBench){0});
    object_subscribe(rig.tlb, &subscriber, 1u << event_number(&tlb_class, "fill"));
    asked = 0;
    answers[0] = 0;
    answers[1] = 1;
    send(10, read_page(5, 0));
    send(11, read_page(5, 1));
    send(50, read_page(5, 2));
    send(90, read_page(5, 3));
    rig_end(&rig);
    ck_assert_uint_eq(arrival(&rig, 0)->cycle, 18);
    ck_assert_uint_eq(arrival(&rig, 1)->cycle, 19);
    ck_assert_uint_eq(arrival(&rig, 2)->cycle, 58);
    ck_assert_uint_eq(arrival(&rig, 3)->cycle, 92);
    ck_assert_uint_eq(stat("refused_fills"), 1);
    ck_assert_uint_eq(asked, 2);
}
END_TEST

/* ---- The laws ---- */

static char *stats_of_traffic(TickOrder order, uint64_t seed) {
    translation_rig(&rig, (RigBench){.tlb = "page=4KiB entries=8 ways=2 requests=6 misses=3",
                                     .walker = "page=4KiB walkers=2 cache_entries=3",
                                     .table = "latency=7 capacity=2",
                                     .walk_depth = 2,
                                     .order = order,
                                     .order_seed = seed});
    for (uint32_t i = 0; i < 400; i++)
        send(i, i % 5 ? read_page(i * 7 % 23, i % 32) : posted_write_request(i * 11 % 17 * RIG_PAGE, 32));
    rig_end(&rig);
    char *text = stats_text(rig.sim);
    sim_free(rig.sim);
    return text;
}

START_TEST(order_of_the_ticks_changes_nothing) {
    static const TickOrder orders[] = {ORDER_REVERSED, ORDER_SHUFFLED, ORDER_RESTLESS};
    char *expected = stats_of_traffic(ORDER_PATH, 0), *got = stats_of_traffic(orders[_i], 3);
    ck_assert_str_eq(got, expected);
    free(expected);
    free(got);
}
END_TEST

static void build_traffic(const char *tlb, const char *walker) {
    LinkOptions near = {.latency = 1, .depth = 4};
    rig.sim = sim_new("test");
    class_register_all();
    sim_clock(rig.sim, "clock", 1000000000);
    SimObject *source = tiny_add(rig.sim, "TrafficSource", "source",
                                 "footprint=256KiB writes=0.2 posted=true");
    rig.tlb = tiny_add(rig.sim, "TLB", "tlb", tlb);
    rig.walker = tiny_add(rig.sim, "PageWalker", "walker", walker);
    SimObject *memory = tiny_add(rig.sim, "TrafficSink", "memory", "latency=9");
    SimObject *table = tiny_add(rig.sim, "TrafficSink", "table", "latency=30");
    sim_wire(rig.sim, source, "mem", rig.tlb, "up", near, near);
    sim_wire(rig.sim, rig.tlb, "down", memory, "cpu", near, near);
    sim_wire(rig.sim, rig.tlb, "walk", rig.walker, "up", near, near);
    sim_wire(rig.sim, rig.walker, "mem", table, "cpu", near, near);
    sim_elaborate(rig.sim);
}

static void run_to_cycle(uint64_t cycle) {
    sim_run(rig.sim, cycle * rig.sim->clocks[0].period);
}

static const char usual_tlb[] = "page=4KiB entries=16 ways=4 requests=100",
                  usual_walker[] = "page=4KiB cache_entries=2";

START_TEST(saved_tlb_and_walker_go_on_as_if_they_had_never_stopped) {
    Buffer buffer = {0};
    char why[200];
    build_traffic(usual_tlb, usual_walker);
    run_to_cycle(1000 + 37 * (uint64_t)_i);
    ck_assert_uint_gt(stat("misses"), stat("fills")); /* walks go on */
    sim_save(rig.sim, &buffer);
    run_to_cycle(5000);
    char *expected = stats_text(rig.sim);
    sim_free(rig.sim);
    build_traffic(usual_tlb, usual_walker);
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    ck_assert_msg(sim_load(rig.sim, &reader, NULL, why, sizeof why), "%s", why);
    run_to_cycle(5000);
    char *got = stats_text(rig.sim);
    ck_assert_str_eq(got, expected);
    sim_check(rig.sim, false);
    buffer_free(&buffer);
    free(expected);
    free(got);
}
END_TEST

/* All 64 pages of the source have an entry when it is saved; then it goes on with a TLB of these parameters. */
static uint64_t misses_after_a_change_to(const char *parameters) {
    Buffer buffer = {0};
    char why[200];
    SnapshotChanges changes = {.allowed = true};
    build_traffic("page=4KiB entries=64", "page=4KiB cache_entries=8");
    run_to_cycle(4000);
    uint64_t before = stat("misses");
    ck_assert_uint_eq(stat("fills"), 64);
    sim_save(rig.sim, &buffer);
    sim_free(rig.sim);
    build_traffic(parameters, "page=4KiB cache_entries=3");
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    ck_assert_msg(sim_load(rig.sim, &reader, &changes, why, sizeof why), "%s", why);
    run_to_cycle(4500);
    sim_check(rig.sim, false);
    buffer_free(&buffer);
    uint64_t misses = stat("misses") - before;
    sim_free(rig.sim);
    return misses;
}

START_TEST(entries_of_a_checkpoint_find_their_places_in_other_sets) {
    ck_assert_uint_eq(misses_after_a_change_to("page=4KiB entries=64 ways=4"), 0);
    ck_assert_uint_gt(misses_after_a_change_to("page=4KiB entries=16 ways=2"), 100);
}
END_TEST

START_TEST(of_entries_without_a_place_those_used_last_stay) {
    KeptEntry set[2] = {{0}};
    const KeptEntry offered[] = {
        {.key = 1, .used = 5}, {.key = 2, .used = 9}, {.key = 3, .used = 7}, {.key = 4, .used = 6}};
    for (uint32_t i = 0; i < 4; i++)
        kept_take_over(set, 2, &offered[i]);
    ck_assert_uint_eq(set[0].key, 3);
    ck_assert_uint_eq(set[1].key, 2);
}
END_TEST

START_TEST(request_without_timing_makes_an_entry_and_warms_the_walk) {
    translation_rig(&rig, (RigBench){.walker = "page=4KiB levels=4"});
    MemMessage request = read_page(5, 0);
    const Field *field;
    ck_assert_int_eq(
        link_send_untimed(((const Port *)object_port(rig.driver, "mem", &field))->send, &request),
        UNTIMED_MISSES);
    send(10, read_page(5, 1));
    send(20, read_page(6, 1));
    rig_end(&rig);
    ck_assert_uint_eq(arrival(&rig, 0)->cycle, 12);
    ck_assert_uint_eq(stat("hits"), 1);
    ck_assert_uint_eq(stat_of(rig.walker, "reads"), 1); /* of page 6 the last level alone */
}
END_TEST

/* ---- The user's faults ---- */

static const struct {
    const char *tlb, *walker, *message;
} mistakes[] = {
    {"page=4KiB", "page=64KiB", "tlb.page: expected that of walker, 65536, got 4096"},
    {"page=4KiB entries=6 ways=4", "page=4KiB",
     "tlb.ways: expected a divisor of entries = 6, or 0 for all of them"},
    {"page=5000", "page=4KiB", "tlb.page"},
    {"page=2MiB", "page=2MiB levels=4",
     "walker.levels: expected up to 3 of 9 bits, which translate addresses of 48 bits with pages of 2097152 "
     "bytes, or 0 "
     "for so many, got 4"},
};

static void build_mistake(void *bench) {
    translation_rig(&rig, *(const RigBench *)bench);
}

START_TEST(mistake_is_an_error_that_says_what_is_legal) {
    RigBench bench = {.tlb = mistakes[_i].tlb, .walker = mistakes[_i].walker};
    const char *message = tiny_error(build_mistake, &bench, NULL);
    ck_assert_msg(strstr(message, mistakes[_i].message), "%s", message);
}
END_TEST

static void wire_walk_to_memory(void *unused) {
    LinkOptions near = {.latency = 1, .depth = 8};
    (void)unused;
    rig.sim = sim_new("test");
    class_register_all();
    sim_clock(rig.sim, "clock", 1000000000);
    SimObject *source = tiny_add(rig.sim, "TrafficSource", "source", NULL);
    SimObject *tlb = tiny_add(rig.sim, "TLB", "tlb", NULL), *mux = tiny_add(rig.sim, "Mux", "mux", "up=1");
    SimObject *memory = tiny_add(rig.sim, "TrafficSink", "memory", NULL),
              *table = tiny_add(rig.sim, "TrafficSink", "table", NULL);
    sim_wire(rig.sim, source, "mem", tlb, "up", near, near);
    sim_wire(rig.sim, tlb, "down", memory, "cpu", near, near);
    sim_wire(rig.sim, tlb, "walk", mux, "up[0]", near, near);
    sim_wire(rig.sim, mux, "down", table, "cpu", near, near);
    sim_elaborate(rig.sim);
}

START_TEST(walk_must_lead_to_what_answers_it) {
    const char *message = tiny_error(wire_walk_to_memory, NULL, NULL);
    ck_assert_str_eq(message, "tlb.walk: expected TLBs or PageWalkers behind it, got table, a TrafficSink");
}
END_TEST

static void send_data_to_a_second_tlb(void *unused) {
    LinkOptions near = {.latency = 1, .depth = 8};
    (void)unused;
    rig.sim = sim_new("test");
    class_register_all();
    sim_clock(rig.sim, "clock", 1000000000);
    SimObject *source = tiny_add(rig.sim, "TrafficSource", "source", "limit=1");
    SimObject *tlb = tiny_add(rig.sim, "TLB", "tlb", NULL),
              *walker = tiny_add(rig.sim, "PageWalker", "walker", NULL);
    SimObject *table = tiny_add(rig.sim, "TrafficSink", "table", NULL);
    sim_wire(rig.sim, source, "mem", tlb, "up", near, near);
    sim_wire(rig.sim, tlb, "walk", walker, "up", near, near);
    sim_wire(rig.sim, walker, "mem", table, "cpu", near, near);
    sim_elaborate(rig.sim);
    sim_run(rig.sim, 1000 * rig.sim->clocks[0].period);
}

START_TEST(data_cannot_pass_a_tlb_without_a_way_down) {
    const char *message = tiny_error(send_data_to_a_second_tlb, NULL, NULL);
    ck_assert_msg(strstr(message, "tlb.down: expected a wire, for a request that is none for a translation"),
                  "%s", message);
}
END_TEST

Suite *tlb_suite(void) {
    Suite *suite = suite_create("TLB");
    TCase *requests = tcase_create("requests"), *laws = tcase_create("laws"),
          *mistaken = tcase_create("mistakes");
    tcase_add_checked_fixture(requests, NULL, tear_down);
    tcase_add_loop_test(requests, request_goes_on_in_the_cycle_in_which_its_page_comes, 0, 4);
    tcase_add_test(requests, request_whose_page_has_an_entry_passes_in_the_cycle_it_is_ready);
    tcase_add_test(requests, requests_for_other_pages_pass_by_the_one_that_waits);
    tcase_add_test(requests, page_is_asked_for_once_and_its_requests_go_on_in_the_order_in_which_they_came);
    tcase_add_test(requests, pages_that_come_one_after_the_other_keep_this_order);
    tcase_add_test(requests, requests_that_waited_go_before_those_that_come);
    tcase_add_test(requests, page_that_was_used_longest_ago_loses_its_entry);
    tcase_add_test(requests, pages_of_other_sets_take_no_entry);
    tcase_add_test(requests, full_tlb_holds_up_what_is_behind_the_head);
    tcase_add_test(requests, no_more_pages_are_asked_for_than_misses_says);
    tcase_add_test(requests, full_link_to_the_walker_holds_up_a_miss);
    tcase_add_test(requests, full_link_onward_holds_up_requests);
    tcase_add_test(requests, posted_writes_wait_for_their_page_and_are_not_answered);
    tcase_add_test(requests, second_tlb_asks_once_and_answers_both);
    tcase_add_test(requests, page_to_which_policies_give_no_entry_misses_again);
    tcase_add_test(requests, request_without_timing_makes_an_entry_and_warms_the_walk);
    tcase_add_loop_test(requests, saved_tlb_and_walker_go_on_as_if_they_had_never_stopped, 0, 4);
    tcase_add_test(laws, entries_of_a_checkpoint_find_their_places_in_other_sets);
    tcase_add_test(laws, of_entries_without_a_place_those_used_last_stay);
    tcase_add_checked_fixture(mistaken, NULL, tear_down);
    tcase_add_loop_test(laws, order_of_the_ticks_changes_nothing, 0, 3);
    tcase_add_loop_test(mistaken, mistake_is_an_error_that_says_what_is_legal, 0,
                        sizeof mistakes / sizeof *mistakes);
    tcase_add_test(mistaken, walk_must_lead_to_what_answers_it);
    tcase_add_test(mistaken, data_cannot_pass_a_tlb_without_a_way_down);
    suite_add_tcase(suite, requests);
    suite_add_tcase(suite, laws);
    suite_add_tcase(suite, mistaken);
    return suite;
}
