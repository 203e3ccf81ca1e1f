/* Driver -> L1 -> responder with victim tags attached to the L1, both of them the driver's. The examples are
 * those of Rogers et al., figures 3 and 4: instructions of four requests each, a fully associative cache of
 * four lines with LRU. */
#include "core/sim/event.h"
#include "mem/parts/victim_tags/victim_tags.h"
#include "mem/protocol/caches.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/mem/memory_driver.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { FOUR_LINES = 512, MAX_HITS = 64 };

typedef struct {
    uint64_t cycle;
    int64_t warp, address;
} Hit;

typedef struct {
    Subscriber subscriber; /* first: handle() gets a pointer to it */
    Sim *sim;
    SimObject *driver, *l1, *victims;
    Hit hits[MAX_HITS];
    uint32_t hit_count;
} Rig;

static int64_t handle_event(Subscriber *subscriber, SimObject *object, uint32_t event,
                            const int64_t *arguments, uint64_t now) {
    Rig *rig = (Rig *)subscriber;
    ck_assert_ptr_eq(object, rig->victims);
    ck_assert_uint_eq(event, 0);
    ck_assert_uint_lt(rig->hit_count, MAX_HITS);
    rig->hits[rig->hit_count++] = (Hit){object_cycle(object, now), arguments[0], arguments[1]};
    return NO_ANSWER;
}

static Sim *new_sim(const char *l1) {
    Sim *sim = sim_new("test");
    class_register_all();
    memory_test_classes();
    sim_clock(sim, "clock", 1000000000);
    SimObject *driver = tiny_add(sim, "MemoryDriver", "driver", "outstanding=1");
    SimObject *cache = tiny_add(sim, "L1", "driver.l1", l1);
    SimObject *responder = tiny_add(sim, "MemoryResponder", "below", "latency=20");
    sim_wire(sim, driver, "mem", cache, "cpu", (LinkOptions){0}, (LinkOptions){0});
    sim_wire(sim, cache, "mem", responder, "cpu", (LinkOptions){0}, (LinkOptions){0});
    return sim;
}

/* The L1 has four lines, all in one set, unless `l1` says otherwise. */
static void make_rig(Rig *rig, const char *l1, const char *victims) {
    char parameters[128];
    snprintf(parameters, sizeof parameters, "size=%d ways=4 mshrs=32 latency=3 %s", FOUR_LINES, l1);
    *rig = (Rig){.subscriber = {handle_event}, .sim = new_sim(parameters)};
    snprintf(parameters, sizeof parameters, "cache=l1 %s", victims);
    rig->victims = tiny_add(rig->sim, "VictimTags", "driver.victims", parameters);
    rig->driver = sim_find(rig->sim, "driver");
    rig->l1 = sim_find(rig->sim, "driver.l1");
    sim_elaborate(rig->sim);
    object_subscribe(rig->victims, &rig->subscriber, 1);
}

static void run_idle(Rig *rig) {
    ck_assert_int_eq(sim_run(rig->sim, UINT64_MAX), STOP_IDLE);
    sim_settle(rig->sim);
    sim_check(rig->sim, true);
}

/* Line 'A' is at address 0x10080, 'B' at 0x10100, ... */
static uint64_t address_of(char line) {
    return 0x10000 + (uint64_t)(line - '@') * 128;
}

static MemMessage request(uint32_t warp, char line) {
    MemMessage m = read_request(address_of(line), 128);
    m.warp = (uint16_t)warp;
    return m;
}

static uint64_t now_cycle(const Rig *rig) {
    return object_cycle(rig->l1, rig->sim->now);
}

/* The warp reads these lines, one after the other. */
static void reads(Rig *rig, uint32_t warp, const char *lines) {
    for (; *lines; lines++)
        memory_driver_send(rig->driver, now_cycle(rig), request(warp, *lines));
    run_idle(rig);
}

static VictimTags *tags_of(const Rig *rig) {
    return (VictimTags *)rig->victims;
}

static bool probe_hits(const Rig *rig, uint32_t warp, char line) {
    uint64_t before = stat_of(rig->victims, "hits");
    victim_tags_probe(tags_of(rig), warp, address_of(line), 0);
    return stat_of(rig->victims, "hits") > before;
}

/* Figure 3: each warp finds its lines evicted, and its own tags say that they were its own. */
START_TEST(round_robin_loses_every_reuse_and_all_twelve_are_detected) {
    Rig rig;
    make_rig(&rig, "", "");
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t warp = 0; warp < 3; warp++)
            reads(&rig, warp, warp == 0 ? "ABCD" : warp == 1 ? "EFGH" : "IJKL");
    ck_assert_uint_eq(stat_of(rig.l1, "hits"), 0);
    ck_assert_uint_eq(stat_of(rig.l1, "misses"), 24);
    ck_assert_uint_eq(stat_of(rig.victims, "probes"), 24);
    ck_assert_uint_eq(stat_of(rig.victims, "hits"), 12);
    for (uint32_t i = 0; i < 12; i++) {
        ck_assert_int_eq(rig.hits[i].warp, i / 4);
        ck_assert_int_eq(rig.hits[i].address, (int64_t)address_of((char)('A' + i)));
    }
    sim_free(rig.sim);
}
END_TEST

/* Figure 4: the same accesses, each warp's together. */
START_TEST(the_cache_conscious_order_hits_twelve_times_and_loses_nothing) {
    Rig rig;
    make_rig(&rig, "", "");
    for (uint32_t warp = 0; warp < 3; warp++)
        for (int turn = 0; turn < 2; turn++)
            reads(&rig, warp, warp == 0 ? "ABCD" : warp == 1 ? "EFGH" : "IJKL");
    ck_assert_uint_eq(stat_of(rig.l1, "hits"), 12);
    ck_assert_uint_eq(stat_of(rig.l1, "misses"), 12);
    ck_assert_uint_eq(stat_of(rig.victims, "insertions"), 8);
    ck_assert_uint_eq(stat_of(rig.victims, "hits"), 0);
    sim_free(rig.sim);
}
END_TEST

/* Warp 0 reserves A and warp 1 uses it: evicted, it is warp 0's loss alone. */
START_TEST(an_evicted_tag_goes_to_the_warp_that_reserved_the_line) {
    Rig rig;
    make_rig(&rig, "", "");
    reads(&rig, 0, "A");
    reads(&rig, 1, "A");
    reads(&rig, 2, "BCDE");
    ck_assert_uint_eq(stat_of(rig.victims, "insertions"), 1);
    reads(&rig, 1, "A");
    ck_assert_uint_eq(stat_of(rig.victims, "hits"), 0);
    ck_assert(probe_hits(&rig, 0, 'A'));
    sim_free(rig.sim);
}
END_TEST

START_TEST(a_hit_takes_the_tag_out) {
    Rig rig;
    make_rig(&rig, "", "");
    victim_tags_insert(tags_of(&rig), 5, address_of('A'));
    ck_assert(!probe_hits(&rig, 4, 'A'));
    ck_assert(!probe_hits(&rig, 5, 'B'));
    ck_assert(probe_hits(&rig, 5, 'A'));
    ck_assert(!probe_hits(&rig, 5, 'A'));
    sim_free(rig.sim);
}
END_TEST

/* 16 tags in 2 sets of 8: of 9 even lines the oldest is forgotten, the odd one is not touched. */
START_TEST(each_warp_has_two_sets_of_eight_and_forgets_the_oldest) {
    Rig rig;
    make_rig(&rig, "", "");
    victim_tags_insert(tags_of(&rig), 0, address_of('A'));
    for (char line = 'B'; line <= 'R'; line = (char)(line + 2))
        victim_tags_insert(tags_of(&rig), 0, address_of(line));
    ck_assert(!probe_hits(&rig, 0, 'B'));
    for (char line = 'D'; line <= 'R'; line = (char)(line + 2))
        ck_assert(probe_hits(&rig, 0, line));
    ck_assert(probe_hits(&rig, 0, 'A'));
    sim_free(rig.sim);
}
END_TEST

START_TEST(a_tag_that_comes_again_takes_one_place_and_is_the_youngest) {
    Rig rig;
    make_rig(&rig, "", "entries=2 ways=2");
    victim_tags_insert(tags_of(&rig), 0, address_of('A'));
    victim_tags_insert(tags_of(&rig), 0, address_of('B'));
    victim_tags_insert(tags_of(&rig), 0, address_of('A'));
    victim_tags_insert(tags_of(&rig), 0, address_of('C'));
    ck_assert(!probe_hits(&rig, 0, 'B'));
    ck_assert(probe_hits(&rig, 0, 'A'));
    ck_assert(probe_hits(&rig, 0, 'C'));
    sim_free(rig.sim);
}
END_TEST

/* The request is sent in cycle s, accepted in s + 1 and looked up in s + 4. */
START_TEST(the_hit_is_told_in_the_cycle_of_the_lookup) {
    Rig rig;
    make_rig(&rig, "", "");
    reads(&rig, 3, "ABCDE");
    uint64_t sent = now_cycle(&rig) + 10;
    memory_driver_send(rig.driver, sent, request(3, 'A'));
    run_idle(&rig);
    ck_assert_uint_eq(rig.hit_count, 1);
    ck_assert_uint_eq(rig.hits[0].cycle, sent + 4);
    ck_assert_int_eq(rig.hits[0].warp, 3);
    sim_free(rig.sim);
}
END_TEST

/* The second read joins the fill of the first; the write goes on below without taking a line. */
START_TEST(only_misses_that_fetch_are_probed) {
    Rig rig;
    make_rig(&rig, "", "");
    object_set_text(rig.driver, "outstanding", "0");
    memory_driver_send(rig.driver, 1, request(0, 'A'));
    memory_driver_send(rig.driver, 1, request(1, 'A'));
    run_idle(&rig);
    ck_assert_uint_eq(stat_of(rig.l1, "merges"), 1);
    ck_assert_uint_eq(stat_of(rig.victims, "probes"), 1);
    memory_driver_send(rig.driver, now_cycle(&rig), write_request(address_of('B'), 128));
    run_idle(&rig);
    ck_assert_uint_eq(stat_of(rig.l1, "misses"), 2);
    ck_assert_uint_eq(stat_of(rig.victims, "probes"), 1);
    sim_free(rig.sim);
}
END_TEST

/* Evicting by a write is no loss to another warp: more of the cache would not have kept the line. */
START_TEST(lines_that_are_invalidated_are_not_victims) {
    Rig rig;
    make_rig(&rig, "", "");
    reads(&rig, 0, "A");
    memory_driver_send(rig.driver, now_cycle(&rig), write_request(address_of('A'), 128));
    run_idle(&rig);
    reads(&rig, 0, "A");
    ck_assert_uint_eq(stat_of(rig.l1, "misses"), 2);
    ck_assert_uint_eq(stat_of(rig.victims, "insertions"), 0);
    sim_free(rig.sim);
}
END_TEST

START_TEST(a_cache_that_is_emptied_has_no_victims) {
    Rig rig;
    make_rig(&rig, "", "");
    reads(&rig, 0, "ABCDE");
    ck_assert_uint_eq(stat_of(rig.victims, "insertions"), 1);
    l1_invalidate(rig.l1);
    reads(&rig, 0, "A");
    ck_assert_uint_eq(stat_of(rig.victims, "hits"), 0);
    sim_free(rig.sim);
}
END_TEST

/* A request that waits for an MSHR is tried again in every cycle, and probed once. */
START_TEST(a_request_that_stalls_is_probed_once) {
    Rig rig;
    make_rig(&rig, "mshrs=1", "");
    object_set_text(rig.driver, "outstanding", "0");
    for (int i = 0; i < 4; i++)
        memory_driver_send(rig.driver, 1, request(0, (char)('A' + i)));
    run_idle(&rig);
    ck_assert_uint_gt(stat_of(rig.l1, "mshr_entry_fail_cycles"), 20);
    ck_assert_uint_eq(stat_of(rig.victims, "probes"), 4);
    sim_free(rig.sim);
}
END_TEST

/* With a line of 64 B the sets are told apart by other bits. */
START_TEST(sets_follow_the_line_size_of_the_cache) {
    Rig rig;
    make_rig(&rig, "line=64 size=256", "entries=2 ways=1");
    victim_tags_insert(tags_of(&rig), 0, 0x10000);
    victim_tags_insert(tags_of(&rig), 0, 0x10040);
    uint64_t before = stat_of(rig.victims, "hits");
    victim_tags_probe(tags_of(&rig), 0, 0x10000, 0);
    victim_tags_probe(tags_of(&rig), 0, 0x10040, 0);
    ck_assert_uint_eq(stat_of(rig.victims, "hits"), before + 2);
    sim_free(rig.sim);
}
END_TEST

static void elaborate(void *sim) {
    sim_elaborate(sim);
}

START_TEST(what_cannot_be_attached_is_a_user_error) {
    static const struct {
        const char *path, *first, *second, *error;
    } cases[] = {
        {"driver.a", "cache=l2d", NULL,
         "driver.a.cache: expected the name of an L1 beside it or the path of one, got 'l2d'"},
        {"driver.a", "cache=b entries=9", NULL, "driver.a.entries: expected a multiple of ways = 8, got 9"},
        {"driver.a", "cache=l1", "cache=l1",
         "driver.b: expected one VictimTags for driver.l1 and an SM, got a second"},
        {"driver.a", "cache=l1 sm=3", "cache=l1",
         "driver.b: expected one VictimTags for driver.l1 and an SM, got a second"},
        {"a", "cache=l1", NULL, "a.cache: expected the name of an L1 beside it or the path of one, got 'l1'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Sim *sim = new_sim("size=512 ways=4 mshrs=32");
        tiny_add(sim, "VictimTags", cases[i].path, cases[i].first);
        if (cases[i].second) tiny_add(sim, "VictimTags", "driver.b", cases[i].second);
        const char *message = tiny_error(elaborate, sim, NULL);
        ck_assert_msg(strstr(message, cases[i].error), "'%s' and not '%s'", message, cases[i].error);
        sim_free(sim);
    }
}
END_TEST

Suite *victim_tags_suite(void) {
    Suite *suite = suite_create("victim_tags");
    TCase *tags = tcase_create("tags");
    tcase_add_test(tags, round_robin_loses_every_reuse_and_all_twelve_are_detected);
    tcase_add_test(tags, the_cache_conscious_order_hits_twelve_times_and_loses_nothing);
    tcase_add_test(tags, an_evicted_tag_goes_to_the_warp_that_reserved_the_line);
    tcase_add_test(tags, a_hit_takes_the_tag_out);
    tcase_add_test(tags, each_warp_has_two_sets_of_eight_and_forgets_the_oldest);
    tcase_add_test(tags, a_tag_that_comes_again_takes_one_place_and_is_the_youngest);
    tcase_add_test(tags, the_hit_is_told_in_the_cycle_of_the_lookup);
    tcase_add_test(tags, only_misses_that_fetch_are_probed);
    tcase_add_test(tags, lines_that_are_invalidated_are_not_victims);
    tcase_add_test(tags, a_cache_that_is_emptied_has_no_victims);
    tcase_add_test(tags, a_request_that_stalls_is_probed_once);
    tcase_add_test(tags, sets_follow_the_line_size_of_the_cache);
    tcase_add_test(tags, what_cannot_be_attached_is_a_user_error);
    suite_add_tcase(suite, tags);
    return suite;
}
