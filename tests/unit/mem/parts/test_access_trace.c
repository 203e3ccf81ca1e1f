/* Trace files: what was written comes back, and what is damaged is refused; replacement over them. */
#include "core/sim/base/random.h"
#include "mem/cache/cache.h"
#include "mem/parts/access_trace/replay.h"
#include "mem/protocol/caches.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/mem/memory_driver.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 128 };

static char file[64], folder[64], recorded[128], why[TRACE_WHY];

static void name_file(void) {
    snprintf(file, sizeof file, "/tmp/ww_trace_%d", (int)getpid());
    snprintf(folder, sizeof folder, "/tmp/ww_traces_%d", (int)getpid());
    snprintf(recorded, sizeof recorded, "%s/driver.l1.trace", folder);
}

static void remove_file(void) {
    unlink(file);
    unlink(recorded);
    rmdir(folder);
}

static TraceHeader header_of(uint32_t lines, uint32_t ways) {
    return (TraceHeader){.path = "sm[3].l1d",
                         .geometry = {.size = lines * LINE, .ways = ways, .line = LINE, .sectors = 1}};
}

static TraceRecord record(TraceKind kind, uint64_t line) {
    return (TraceRecord){.address = line * LINE, .kind = (uint8_t)kind, .sectors = 1};
}

static void write_trace(const TraceHeader *header, const TraceRecord *records, uint32_t count) {
    TraceWriter *writer = trace_create(file, header, why);
    ck_assert_msg(writer != NULL, "%s", why);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_msg(trace_add(writer, records[i], why), "%s", why);
    ck_assert_msg(trace_finish(writer, why), "%s", why);
}

static TraceRecord random_record(Random *random) {
    return (TraceRecord){.address = random_below(random, 1ull << 43) * 32,
                         .kind = (uint8_t)random_below(random, TRACE_KINDS),
                         .result = (uint8_t)random_below(random, RESULTS),
                         .sectors = (uint8_t)random_below(random, 16),
                         .completed = (uint8_t)random_below(random, 16)};
}

/* A record has four bytes more than these. */
static void expect_same_record(const TraceRecord *got, const TraceRecord *want) {
    ck_assert_uint_eq(got->address, want->address);
    ck_assert_uint_eq(got->kind, want->kind);
    ck_assert_uint_eq(got->result, want->result);
    ck_assert_uint_eq(got->sectors, want->sectors);
    ck_assert_uint_eq(got->completed, want->completed);
}

/* Loop: nothing, a record, a block, more. */
static const uint32_t counts[] = {0, 1, TRACE_BLOCK, 2 * TRACE_BLOCK + 17};

START_TEST(what_was_written_comes_back_in_any_order_of_blocks) {
    uint32_t count = counts[_i];
    TraceHeader header = header_of(128, 4);
    TraceRecord *records = calloc(3 * TRACE_BLOCK, sizeof *records);
    TraceRecord *back = calloc(TRACE_BLOCK, sizeof *back);
    Random random = {7};
    header.before = 12;
    for (uint32_t i = 0; i < count; i++)
        records[i] = random_record(&random);
    write_trace(&header, records, count);
    TraceReader *reader = trace_open(file, why);
    ck_assert_msg(reader != NULL, "%s", why);
    ck_assert_mem_eq(trace_header(reader), &header, sizeof header);
    ck_assert_uint_eq(trace_blocks(reader), (count + TRACE_BLOCK - 1) / TRACE_BLOCK);
    for (uint32_t block = trace_blocks(reader); block-- > 0;) {
        uint64_t first = trace_first(reader, block);
        ck_assert_uint_eq(first, (uint64_t)block * TRACE_BLOCK);
        uint32_t got = trace_read(reader, block, back, why);
        ck_assert_uint_eq(got, block + 1 < trace_blocks(reader) ? TRACE_BLOCK : count - first);
        for (uint32_t i = 0; i < got; i++)
            expect_same_record(&back[i], &records[first + i]);
    }
    trace_close(reader);
    free(records);
    free(back);
}
END_TEST

static bool reads_whole(void) {
    TraceReader *reader = trace_open(file, why);
    if (!reader) return false;
    TraceRecord *records = calloc(TRACE_BLOCK, sizeof *records);
    bool good = true;
    for (uint32_t block = 0; block < trace_blocks(reader) && good; block++)
        good = trace_read(reader, block, records, why) != 0;
    free(records);
    trace_close(reader);
    return good;
}

static size_t load(uint8_t *bytes, size_t size) {
    FILE *in = fopen(file, "rb");
    ck_assert_ptr_nonnull(in);
    size_t count = fread(bytes, 1, size, in);
    fclose(in);
    return count;
}

static void store(const uint8_t *bytes, size_t count) {
    FILE *out = fopen(file, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(bytes, 1, count, out), count);
    fclose(out);
}

/* The header is padded with zeros that nobody reads. */
START_TEST(a_trace_cut_off_or_changed_anywhere_is_refused) {
    enum { COUNT = 40, MOST = 8192, HEADER = 1024 };
    uint8_t bytes[MOST];
    TraceRecord records[COUNT];
    TraceHeader header = header_of(128, 4);
    Random random = {9};
    for (uint32_t i = 0; i < COUNT; i++)
        records[i] = random_record(&random);
    write_trace(&header, records, COUNT);
    ck_assert(reads_whole());
    size_t count = load(bytes, MOST), digested = 8 + 4 + (4 + 9) + 4 + 8 + 5 * 4 + 8 + 8;
    ck_assert_uint_lt(count, MOST);
    for (size_t cut = 0; cut < count; cut += 7) {
        store(bytes, cut);
        ck_assert_msg(!reads_whole(), "cut to %zu bytes", cut);
    }
    for (size_t at = 0; at < count; at++) {
        if (at >= digested && at < HEADER) continue;
        bytes[at] ^= (uint8_t)(1u << at % 8);
        store(bytes, count);
        ck_assert_msg(!reads_whole(), "byte %zu changed", at);
        bytes[at] ^= (uint8_t)(1u << at % 8);
    }
    bytes[count] = 0;
    store(bytes, count + 1);
    ck_assert(!reads_whole());
}
END_TEST

/* Replacement. */

static Replay replay_of(const TraceHeader *header, const TraceRecord *records, uint32_t count) {
    Replay replay;
    TagShape shape;
    write_trace(header, records, count);
    TraceReader *reader = trace_open(file, why);
    ck_assert_msg(reader != NULL, "%s", why);
    tag_shape_init(&shape, "test", &header->geometry);
    ck_assert_msg(replay_trace(reader, &shape, &replay, why), "%s", why);
    trace_close(reader);
    return replay;
}

static Replay replay_of_text(uint32_t lines, const char *text) {
    TraceRecord records[256];
    TraceHeader header = header_of(lines, lines);
    for (uint32_t i = 0; text[i]; i++)
        records[i] = text[i] == '!'                     ? record(TRACE_CLEAR, 0)
                     : text[i] >= 'a' && text[i] <= 'z' ? record(TRACE_DROP, (uint64_t)text[i] - 'a')
                                                        : record(TRACE_READ, (uint64_t)text[i] - 'A');
    return replay_of(&header, records, (uint32_t)strlen(text));
}

/* Rogers et al., Figures 3 and 4: three wavefronts of four requests each, twice, and four lines. */
START_TEST(poor_order_of_figure_3_hits_never_under_lru_and_four_times_at_best) {
    Replay r = replay_of_text(4, "ABCDEFGHIJKLABCDEFGHIJKL");
    ck_assert_uint_eq(r.lru.hits, 0);
    ck_assert_uint_eq(r.optimal.hits, 4);
    ck_assert_uint_eq(r.optimal.misses, 20);
}
END_TEST

START_TEST(good_order_of_figure_4_hits_twelve_times_under_both) {
    Replay r = replay_of_text(4, "ABCDABCDEFGHEFGHIJKLIJKL");
    ck_assert_uint_eq(r.lru.hits, 12);
    ck_assert_uint_eq(r.optimal.hits, 12);
}
END_TEST

/* Two lines. A and B are there when C comes: the next use of A is evicted before it is used, so A is as good
 * as never used again; LRU and the plain next use would both keep it and lose B. */
START_TEST(line_that_is_evicted_before_its_next_use_is_not_used) {
    Replay r = replay_of_text(2, "ABCaAB");
    ck_assert_uint_eq(r.optimal.misses, 4);
    ck_assert_uint_eq(r.lru.misses, 5);
    r = replay_of_text(2, "AB!ABAB");
    ck_assert_uint_eq(r.optimal.misses, 4);
    ck_assert_uint_eq(r.lru.misses, 4);
}
END_TEST

/* The least misses of any choice of victims, by trying all. `held`: lines there, a set. */
static uint32_t least_misses(const uint8_t *line, uint32_t count, uint32_t held, int ways) {
    if (!count) return 0;
    uint32_t bit = 1u << *line, least = UINT32_MAX;
    if (held & bit) return least_misses(line + 1, count - 1, held, ways);
    if (__builtin_popcount(held) < ways) return 1 + least_misses(line + 1, count - 1, held | bit, ways);
    for (uint32_t left = held; left; left &= left - 1) {
        uint32_t misses = 1 + least_misses(line + 1, count - 1, (held & ~(left & -left)) | bit, ways);
        if (misses < least) least = misses;
    }
    return least;
}

START_TEST(optimal_is_what_trying_all_victims_finds) {
    Random random = {(uint64_t)_i + 1};
    TraceHeader header = header_of(3, 3);
    TraceRecord records[18];
    uint8_t line[18];
    for (uint32_t i = 0; i < 18; i++) {
        line[i] = (uint8_t)random_below(&random, 6);
        records[i] = record(TRACE_READ, line[i]);
    }
    Replay r = replay_of(&header, records, 18);
    ck_assert_uint_eq(r.optimal.misses, least_misses(line, 18, 0, 3));
    ck_assert_uint_le(r.optimal.misses, r.lru.misses);
}
END_TEST

/* Two lines, both in flight when a third is wanted. The fill of A comes first: A is replaced although B was
 * used before it. Until B's comes, who reads it merges. */
START_TEST(timed_lru_replaces_no_line_under_way) {
    TraceHeader header = header_of(2, 2);
    const TraceRecord records[] = {record(TRACE_READ, 1), record(TRACE_READ, 0), record(TRACE_FILL, 0),
                                   record(TRACE_READ, 2), record(TRACE_READ, 1), record(TRACE_FILL, 1),
                                   record(TRACE_READ, 1), record(TRACE_READ, 0)};
    Replay r = replay_of(&header, records, 8);
    ck_assert_uint_eq(r.timed.misses, 3 + 1);
    ck_assert_uint_eq(r.timed.merges, 1);
    ck_assert_uint_eq(r.timed.hits, 1);
    ck_assert_uint_eq(r.lru.misses, 5); /* C replaces B, B replaces A, A replaces C */
}
END_TEST

/* A cache of four sets of two ways, driven at random: all that a request can be. */
static MemMessage random_request(Random *random) {
    uint64_t line = random_below(random, 24) * LINE;
    uint32_t bytes = 32u << random_below(random, 3), what = (uint32_t)random_below(random, 16);
    uint64_t address = line + random_below(random, LINE / bytes) * bytes;
    MemMessage m = what < 10 ? read_request(address, bytes) : write_request(address, bytes);
    if (what == 10) m.kind = MEM_ATOMIC;
    if (what == 9) m.flags = MEM_BYPASS_L1;
    if (what >= 12 || what < 3) m.flags |= MEM_LOCAL;
    if (what == 15) m.byte_mask[0] &= 0xffff, m.byte_mask[1] &= 0xffff; /* in part */
    return m;
}

static SimObject *new_l1(Sim *sim, const char *parameters) {
    char text[256];
    class_register_all();
    memory_test_classes();
    sim_clock(sim, "clock", 1000000000);
    SimObject *driver = tiny_add(sim, "MemoryDriver", "driver", "");
    snprintf(text, sizeof text, "size=1KiB ways=2 mshrs=4 merges=2 latency=3 %s", parameters);
    SimObject *l1 = tiny_add(sim, "L1", "driver.l1", text);
    SimObject *below = tiny_add(sim, "MemoryResponder", "below", "latency=20");
    sim_wire(sim, driver, "mem", l1, "cpu", (LinkOptions){0}, (LinkOptions){0});
    sim_wire(sim, l1, "mem", below, "cpu", (LinkOptions){0}, (LinkOptions){0});
    snprintf(text, sizeof text, "cache=l1 folder=%s", folder);
    tiny_add(sim, "L1Trace", "driver.trace", text);
    sim_elaborate(sim);
    return l1;
}

static void drive(Sim *sim, SimObject *l1) {
    Random random = {3};
    for (int part = 0; part < 3; part++) {
        for (int i = 0; i < 1500; i++)
            memory_driver_send(sim_find(sim, "driver"), 0, random_request(&random));
        ck_assert_int_eq(sim_run(sim, UINT64_MAX), STOP_IDLE);
        l1_invalidate(l1);
    }
    sim_settle(sim);
    sim_check(sim, true);
}

static const char *const caches[] = {"", "sectors=4", "write_policy=through",
                                     "local_allocate=false sectors=2"};

START_TEST(timed_lru_does_what_the_recorded_cache_did) {
    Sim *sim = sim_new("test");
    Replay r;
    SimObject *l1 = new_l1(sim, caches[_i]);
    drive(sim, l1);
    sim_free(sim);
    TraceReader *reader = trace_open(recorded, why);
    ck_assert_msg(reader != NULL, "%s", why);
    TagShape shape;
    tag_shape_init(&shape, "test", &trace_header(reader)->geometry);
    ck_assert_msg(replay_trace(reader, &shape, &r, why), "%s", why);
    trace_close(reader);
    ck_assert_uint_gt(r.measured.hits, 300);
    ck_assert_uint_gt(r.measured.misses, 300);
    ck_assert_uint_gt(r.measured.merges, 10);
    ck_assert_mem_eq(&r.timed, &r.measured, sizeof r.timed);
}
END_TEST

Suite *access_trace_suite(void) {
    Suite *suite = suite_create("access_trace");
    TCase *tests = tcase_create("access_trace");
    tcase_add_checked_fixture(tests, name_file, remove_file);
    tcase_add_loop_test(tests, what_was_written_comes_back_in_any_order_of_blocks, 0,
                        (int)(sizeof counts / sizeof *counts));
    tcase_add_test(tests, a_trace_cut_off_or_changed_anywhere_is_refused);
    tcase_add_test(tests, poor_order_of_figure_3_hits_never_under_lru_and_four_times_at_best);
    tcase_add_test(tests, good_order_of_figure_4_hits_twelve_times_under_both);
    tcase_add_test(tests, line_that_is_evicted_before_its_next_use_is_not_used);
    tcase_add_loop_test(tests, optimal_is_what_trying_all_victims_finds, 0, 30);
    tcase_add_test(tests, timed_lru_replaces_no_line_under_way);
    tcase_add_loop_test(tests, timed_lru_does_what_the_recorded_cache_did, 0,
                        (int)(sizeof caches / sizeof *caches));
    suite_add_tcase(suite, tests);
    return suite;
}
