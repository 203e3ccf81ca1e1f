/* Page walkers: what they read, where a walk begins, and how many go on at a time. */
#include "core/sim/checkpoint/snapshot.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/mem/translation/translation_rig.h"
#include "tests/unit/suites.h"

#include <string.h>

Suite *page_walker_suite(void);

static TranslationRig rig;

static void send(uint64_t cycle, MemMessage message) {
    memory_driver_send(rig.driver, cycle, message);
}

static uint64_t stat(const char *name) {
    return stat_of(rig.walker, name);
}

static void tear_down(void) {
    sim_free(rig.sim);
}

/* Pages of 4 KiB in addresses of 48 bits: tables of 2^9, 2^18, 2^27 and 2^36 entries of 8 bytes, one behind the other. Read are
 * the 32 bytes with the entry. */
START_TEST(walk_reads_the_entry_of_each_level_from_the_root_down) {
    const uint64_t base = 1ull << 42, page = 0x123456789; /* indexes 0x24, 0x48d1, 0x91a2b3, page */
    const uint64_t tables[] = {base, base + 4096, base + 4096 + (8ull << 18),
                               base + 4096 + (8ull << 18) + (8ull << 27)};
    const uint64_t indexes[] = {page >> 27, page >> 18, page >> 9, page};
    translation_rig(&rig, (RigBench){.walker = "page=4KiB levels=4"});
    send(10, read_page(page, 3));
    rig_end(&rig);
    ck_assert_uint_eq(memory_responder_arrivals(rig.table)->count, 4);
    for (uint32_t level = 0; level < 4; level++) {
        const MemMessage *read = &table_read(&rig, level)->message;
        ck_assert_uint_eq(read->address, (tables[level] + indexes[level] * 8) & ~31ull);
        ck_assert_uint_eq(read->bytes, 32);
        ck_assert_uint_eq(read->kind, MEM_READ);
        ck_assert(!mem_is_translation(read));
    }
    ck_assert_uint_eq(stat("reads"), 4);
    ck_assert_uint_eq(stat("walk_cycles"), 1 + 3 * 4);
}
END_TEST

START_TEST(walk_begins_below_the_deepest_entry_that_is_remembered) {
    translation_rig(&rig, (RigBench){.walker = "page=4KiB levels=4"});
    send(10, read_page(0, 0));
    send(100, read_page(1, 0));          /* of the same tables: its last entry alone */
    send(200, read_page(1 << 9, 0));     /* another table of the last level */
    send(300, read_page(1 << 18, 0));    /* another of the last but one */
    send(400, read_page(1ull << 27, 0)); /* shares the root's table alone, whose entries differ */
    rig_end(&rig);
    const uint32_t reads[] = {4, 1, 2, 3, 4}, begins[] = {0, 4, 5, 7, 10};
    const uint64_t sent[] = {10, 100, 200, 300, 400};
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t k = 0; k < reads[i]; k++)
            ck_assert_uint_eq(table_read(&rig, begins[i] + k)->cycle, sent[i] + 4 + 3 * k);
    ck_assert_uint_eq(stat("reads"), 14);
    ck_assert_uint_eq(stat("levels_known"), 0 + 3 + 2 + 1 + 0);
}
END_TEST

START_TEST(without_places_for_entries_walks_read_all_levels) {
    translation_rig(&rig, (RigBench){.walker = "page=4KiB levels=4 cache_entries=0"});
    send(10, read_page(0, 0));
    send(100, read_page(1, 0));
    rig_end(&rig);
    ck_assert_uint_eq(stat("reads"), 8);
    ck_assert_uint_eq(stat("levels_known"), 0);
}
END_TEST

/* Two levels: of the root one entry is remembered. */
START_TEST(entry_used_longest_ago_is_forgotten) {
    translation_rig(&rig, (RigBench){.walker = "page=4KiB levels=2 cache_entries=2"});
    send(10, read_page(0, 0));
    send(100, read_page(1 << 9, 0));
    send(200, read_page(1, 0));            /* uses the first again */
    send(300, read_page(2 << 9, 0));       /* in place of the second */
    send(400, read_page(2, 0));            /* known */
    send(500, read_page((1 << 9) + 1, 0)); /* forgotten */
    rig_end(&rig);
    ck_assert_uint_eq(stat("reads"), 2 + 2 + 1 + 2 + 1 + 2);
}
END_TEST

/* Requests come to the walker at 12 and 13. One walk: the second begins when the first is answered, at 16 + 10. */
START_TEST(walks_wait_while_all_walkers_are_busy) {
    translation_rig(&rig, (RigBench){.walker = "page=4KiB levels=1 walkers=1", .table = "latency=11"});
    send(10, read_page(1, 0));
    send(11, read_page(2, 0));
    rig_end(&rig);
    ck_assert_uint_eq(arrival(&rig, 0)->cycle, 28);
    ck_assert_uint_eq(table_read(&rig, 1)->cycle, 28); /* begun at 26, sent at 27 */
    ck_assert_uint_eq(stat("wait_cycles"), 26 - 13);
    ck_assert_uint_eq(stat("walk_cycles"), 2 * 14);
}
END_TEST

START_TEST(walks_go_on_side_by_side) {
    translation_rig(&rig, (RigBench){.walker = "page=4KiB levels=1 walkers=2", .table = "latency=11"});
    send(10, read_page(1, 0));
    send(11, read_page(2, 0));
    rig_end(&rig);
    ck_assert_uint_eq(arrival(&rig, 0)->cycle, 28);
    ck_assert_uint_eq(arrival(&rig, 1)->cycle, 29);
    ck_assert_uint_eq(stat("wait_cycles"), 0);
}
END_TEST

/* The bytes of a row's value in a snapshot: behind its name and their count. */
static uint8_t *row_in(const Buffer *saved, const char *name) {
    Buffer head = {0};
    buffer_text(&head, name);
    uint8_t *at = memmem(saved->bytes, saved->count, head.bytes, head.count);
    ck_assert_ptr_nonnull(at);
    at += head.count + sizeof(uint64_t);
    buffer_free(&head);
    return at;
}

/* The walk's level stands behind its request and the cycle in which it began. */
START_TEST(walk_in_a_level_that_the_table_lacks_is_refused) {
    static const uint64_t levels[] = {4, 5, UINT64_MAX};
    Buffer saved = {0};
    char why[200];
    translation_rig(&rig, (RigBench){.walker = "page=4KiB levels=4", .table = "latency=50"});
    send(10, read_page(1, 0));
    sim_run(rig.sim, 40 * rig.sim->clocks[0].period);
    sim_save(rig.sim, &saved);
    memcpy(row_in(&saved, "walk") + sizeof(MemMessage) + sizeof(uint64_t), &levels[_i], sizeof *levels);
    Reader reader = {.bytes = saved.bytes, .count = saved.count};
    ck_assert(!sim_load(rig.sim, &reader, NULL, why, sizeof why));
    ck_assert_msg(strstr(why, "a walk in level"), "%s", why);
    buffer_free(&saved);
}
END_TEST

static void send_data(void *unused) {
    LinkOptions near = {.latency = 1, .depth = 8};
    (void)unused;
    rig.sim = sim_new("test");
    class_register_all();
    sim_clock(rig.sim, "clock", 1000000000);
    SimObject *source = tiny_add(rig.sim, "TrafficSource", "source", "limit=1 footprint=128");
    SimObject *walker = tiny_add(rig.sim, "PageWalker", "walker", NULL),
              *table = tiny_add(rig.sim, "TrafficSink", "table", NULL);
    sim_wire(rig.sim, source, "mem", walker, "up", near, near);
    sim_wire(rig.sim, walker, "mem", table, "cpu", near, near);
    sim_elaborate(rig.sim);
    sim_run(rig.sim, 1000 * rig.sim->clocks[0].period);
}

START_TEST(request_for_data_is_refused) {
    const char *message = tiny_error(send_data, NULL, NULL);
    ck_assert_str_eq(
        message, "walker.up: expected requests for translations, as a TLB's walk sends them, got another for "
                 "0x0");
}
END_TEST

Suite *page_walker_suite(void) {
    Suite *suite = suite_create("PageWalker");
    TCase *walks = tcase_create("walks"), *mistaken = tcase_create("mistakes");
    tcase_add_checked_fixture(walks, NULL, tear_down);
    tcase_add_test(walks, walk_reads_the_entry_of_each_level_from_the_root_down);
    tcase_add_test(walks, walk_begins_below_the_deepest_entry_that_is_remembered);
    tcase_add_test(walks, without_places_for_entries_walks_read_all_levels);
    tcase_add_test(walks, entry_used_longest_ago_is_forgotten);
    tcase_add_test(walks, walks_wait_while_all_walkers_are_busy);
    tcase_add_test(walks, walks_go_on_side_by_side);
    tcase_add_checked_fixture(mistaken, NULL, tear_down);
    tcase_add_test(mistaken, request_for_data_is_refused);
    tcase_add_loop_test(mistaken, walk_in_a_level_that_the_table_lacks_is_refused, 0, 3);
    suite_add_tcase(suite, walks);
    suite_add_tcase(suite, mistaken);
    return suite;
}
