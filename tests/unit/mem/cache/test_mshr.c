#include "core/sim/base/random.h"
#include "mem/cache/structures/mshr.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static Mshr make_mshr(uint32_t entries, uint32_t merges) {
    Mshr mshr = {0};
    mshr_shape_init(&mshr.shape, entries, merges);
    mshr.entry = calloc(mshr.shape.entries, sizeof *mshr.entry);
    mshr.request = calloc(mshr.shape.slots, sizeof *mshr.request);
    mshr.missing = calloc(mshr.shape.slots, sizeof *mshr.missing);
    mshr.woken = calloc(mshr.shape.slots, sizeof *mshr.woken);
    mshr.bucket = calloc(mshr.shape.buckets, sizeof *mshr.bucket);
    mshr.released = calloc(mshr.shape.entries, sizeof *mshr.released);
    return mshr;
}

static void free_mshr(Mshr *mshr) {
    free(mshr->entry);
    free(mshr->request);
    free(mshr->missing);
    free(mshr->woken);
    free(mshr->bucket);
    free(mshr->released);
}

static uint32_t open_for(Mshr *mshr, uint64_t address, uint32_t pending) {
    uint32_t entry = mshr_open(mshr, address, 0, 0);
    mshr->entry[entry].pending = pending;
    return entry;
}

static void wait_with_token(Mshr *mshr, uint32_t entry, uint32_t token, uint32_t missing) {
    mshr_wait(mshr, entry, &(MemMessage){.token = token}, missing);
}

/* Token of the oldest woken request, which is taken, or 0. */
static uint64_t pop_token(Mshr *mshr) {
    const MemMessage *m = mshr_woken(mshr);
    if (!m) return 0;
    uint64_t token = m->token;
    mshr_pop_woken(mshr);
    return token;
}

START_TEST(requests_wake_in_their_order_when_the_fill_comes) {
    Mshr mshr = make_mshr(4, 3);
    uint32_t e = open_for(&mshr, 0x1000, 1);
    for (uint32_t token = 1; token <= 3; token++)
        wait_with_token(&mshr, e, token, 1);
    ck_assert_ptr_null(mshr_woken(&mshr));
    mshr_fill(&mshr, e, 1);
    for (uint32_t token = 1; token <= 3; token++) {
        ck_assert_uint_eq(mshr.used, 1);
        ck_assert_uint_eq(pop_token(&mshr), token);
    }
    ck_assert_uint_eq(mshr.used, 0);
    ck_assert_ptr_null(mshr_woken(&mshr));
    free_mshr(&mshr);
}
END_TEST

START_TEST(merge_limit_counts_the_first_request) {
    Mshr mshr = make_mshr(2, 3);
    uint32_t e = open_for(&mshr, 0x1000, 1);
    for (uint32_t token = 1; token <= 3; token++) {
        ck_assert(mshr_can_merge(&mshr, e));
        wait_with_token(&mshr, e, token, 1);
    }
    ck_assert(!mshr_can_merge(&mshr, e));
    free_mshr(&mshr);
}
END_TEST

START_TEST(entry_is_found_until_filled_and_in_use_until_answered) {
    Mshr mshr = make_mshr(1, 2);
    ck_assert_uint_eq(mshr_find(&mshr, 0), NO_MSHR);
    uint32_t e = open_for(&mshr, 0x1000, 1);
    wait_with_token(&mshr, e, 7, 1);
    ck_assert_uint_eq(mshr_find(&mshr, 0x1000), e);
    ck_assert_uint_eq(mshr_find(&mshr, 0x1080), NO_MSHR);
    mshr_fill(&mshr, e, 1);
    ck_assert_uint_eq(mshr_find(&mshr, 0x1000), NO_MSHR);
    ck_assert(mshr_full(&mshr));
    ck_assert_uint_eq(pop_token(&mshr), 7);
    ck_assert(!mshr_full(&mshr));
    free_mshr(&mshr);
}
END_TEST

START_TEST(entry_nobody_waits_for_is_free_with_its_last_fill) {
    Mshr mshr = make_mshr(1, 2);
    uint32_t e = open_for(&mshr, 0x1000, 3);
    mshr_fill(&mshr, e, 2);
    ck_assert(mshr_full(&mshr));
    mshr_fill(&mshr, e, 1);
    ck_assert(!mshr_full(&mshr));
    free_mshr(&mshr);
}
END_TEST

START_TEST(request_wakes_with_the_last_of_its_own_sectors) {
    Mshr mshr = make_mshr(2, 4);
    uint32_t e = open_for(&mshr, 0x1000, 0xf);
    wait_with_token(&mshr, e, 1, 0xf);
    wait_with_token(&mshr, e, 2, 0x4);
    wait_with_token(&mshr, e, 3, 0x6);
    mshr_fill(&mshr, e, 0x4);
    ck_assert_uint_eq(pop_token(&mshr), 2);
    ck_assert_uint_eq(pop_token(&mshr), 0);
    mshr_fill(&mshr, e, 0x2);
    ck_assert_uint_eq(pop_token(&mshr), 3);
    mshr_fill(&mshr, e, 0x1);
    ck_assert_uint_eq(pop_token(&mshr), 0);
    mshr_fill(&mshr, e, 0x8);
    ck_assert_uint_eq(pop_token(&mshr), 1);
    ck_assert_uint_eq(mshr.used, 0);
    free_mshr(&mshr);
}
END_TEST

/* Woken requests that were not answered yet stand at the end of their ring and at its beginning when it grows. */
START_TEST(places_grow_with_what_merges_and_all_wake_in_their_order) {
    enum { ENTRIES = 3, MERGES = 21 };
    Mshr mshr = make_mshr(ENTRIES, MERGES);
    uint32_t at_first = mshr.shape.slots, token = 0, woken = 0;
    ck_assert_uint_eq(at_first, MSHR_REQUESTS_AT_FIRST * 4);
    for (uint32_t round = 0; round < 5; round++) {
        uint32_t e = open_for(&mshr, 0x1000, 1);
        for (uint32_t i = 0; i < 3; i++)
            wait_with_token(&mshr, e, ++token, 1);
        mshr_fill(&mshr, e, 1);
        for (uint32_t i = 0; i < (round < 4 ? 3 : 1); i++)
            ck_assert_uint_eq(pop_token(&mshr), ++woken);
    }
    ck_assert_uint_eq(mshr.shape.slots, at_first);
    ck_assert(mshr.woken_first + mshr.woken_count >= at_first - 2);
    uint32_t e = open_for(&mshr, 0x2000, 1);
    for (uint32_t i = 0; i < MERGES; i++)
        wait_with_token(&mshr, e, ++token, 1);
    ck_assert_uint_eq(mshr.shape.slots, MERGES * 4);
    ck_assert(!mshr_can_merge(&mshr, e));
    mshr_fill(&mshr, e, 1);
    while (woken < token)
        ck_assert_uint_eq(pop_token(&mshr), ++woken);
    ck_assert_uint_eq(mshr.used, 0);
    free_mshr(&mshr);
}
END_TEST

#ifndef WW_DEBUG /* sanitizers have allocators of their own */
/* MiB that this process has of the host's memory. */
static double resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

/* 72 MiB of slots, as each cache has under policies that give it thousands of MSHRs. */
START_TEST(slots_of_entries_that_were_never_used_take_no_memory) {
    enum { ENTRIES = 10240, MERGES = 64, LIMIT = 24 };
    Mshr mshr = make_mshr(ENTRIES, MERGES);
    double before = resident();
    uint32_t e = open_for(&mshr, 0x1000, 1);
    for (uint32_t i = 0; i < MERGES; i++)
        wait_with_token(&mshr, e, i + 1, 1);
    ck_assert_uint_eq(mshr.shape.slots, MERGES << 14);
    ck_assert_double_lt(resident() - before, LIMIT);
    free_mshr(&mshr);
}
END_TEST
#endif

enum { MODEL_ENTRIES = 48, MODEL_STEPS = 200000 };

/* Against a list of the open lines: the hash table must find exactly those, whatever was removed before. _i: it has hints. */
START_TEST(finds_what_is_open_through_any_sequence) {
    Mshr mshr = make_mshr(MODEL_ENTRIES, 1);
    mshr.shape.hints = (uint32_t)_i;
    Random random = {42};
    uint64_t line_of[MODEL_ENTRIES] = {0};
    for (int step = 0; step < MODEL_STEPS; step++) {
        uint64_t line = (1 + random_below(&random, 90)) * 128;
        uint32_t found = mshr_find(&mshr, line);
        uint32_t expected = NO_MSHR;
        for (uint32_t e = 0; e < MODEL_ENTRIES; e++)
            if (line_of[e] == line) expected = e;
        ck_assert_uint_eq(found, expected);
        if (found != NO_MSHR) {
            mshr_fill(&mshr, found, 1);
            line_of[found] = 0;
        } else if (!mshr_full(&mshr)) {
            uint32_t e = open_for(&mshr, line, 1);
            ck_assert_uint_eq(line_of[e], 0);
            line_of[e] = line;
        }
    }
    free_mshr(&mshr);
}
END_TEST

Suite *mshr_suite(void) {
    Suite *suite = suite_create("mshr");
    TCase *tests = tcase_create("mshr");
    tcase_add_test(tests, requests_wake_in_their_order_when_the_fill_comes);
    tcase_add_test(tests, merge_limit_counts_the_first_request);
    tcase_add_test(tests, entry_is_found_until_filled_and_in_use_until_answered);
    tcase_add_test(tests, entry_nobody_waits_for_is_free_with_its_last_fill);
    tcase_add_test(tests, request_wakes_with_the_last_of_its_own_sectors);
    tcase_add_test(tests, places_grow_with_what_merges_and_all_wake_in_their_order);
#ifndef WW_DEBUG
    tcase_add_test(tests, slots_of_entries_that_were_never_used_take_no_memory);
#endif
    tcase_add_loop_test(tests, finds_what_is_open_through_any_sequence, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
