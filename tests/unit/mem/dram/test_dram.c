#include "core/sim/base/random.h"
#include "mem/dram/dram_checker.h"
#include "mem/dram/dram_next.h"
#include "tests/unit/suites.h"

#include <string.h>

static DramTiming timing;
static Dram dram;
static DramChecker checker;

static const DramTiming gtx480 = {.tCL = 12,
                                  .tWL = 4,
                                  .tRCD = 12,
                                  .tRP = 12,
                                  .tRC = 40,
                                  .tRAS = 28,
                                  .tRRD = 6,
                                  .tCCD = 2,
                                  .tCCDL = 3,
                                  .tWR = 12,
                                  .tCDLR = 5,
                                  .tRTPL = 2,
                                  .tREFI = 2000,
                                  .tRFC = 110,
                                  .burst = 2,
                                  .banks = 16,
                                  .bank_groups = 4};

static const DramBanks all_banks = {0, 16};

static void start(const DramTiming *t, DramGroupBits bits) {
    timing = *t;
    dram_timing_derive(&timing, bits);
    dram_reset(&dram);
    dram_checker_init(&checker, &timing);
}

static void set_up(void) {
    start(&gtx480, DRAM_GROUP_LOW_BITS);
}

/* Issues a command that must be legal. */
static void issue(DramCommand command, uint32_t bank, uint32_t row, uint64_t cycle) {
    ck_assert_uint_le(dram_earliest(&dram, &timing, command, bank), cycle);
    const char *violation = dram_checker_command(&checker, command, bank, row, cycle);
    ck_assert_msg(!violation, "command %d to bank %u at %lu violates %s", (int)command, bank, cycle,
                  violation);
    dram_issue(&dram, &timing, command, bank, row, cycle);
}

static const char *verdict(DramCommand command, uint32_t bank, uint32_t row, uint64_t cycle) {
    DramChecker copy = checker;
    return dram_checker_command(&copy, command, bank, row, cycle);
}

START_TEST(derived_timings_are_the_gtx480s) {
    ck_assert_uint_eq(timing.tRCDWR, 7);
    ck_assert_uint_eq(timing.tRTW, 12);
    ck_assert_uint_eq(timing.tWTR, 11);
    ck_assert_uint_eq(timing.tWTP, 18);
}
END_TEST

typedef struct {
    const char *name;
    DramCommand before;
    uint32_t before_bank;
    DramCommand after;
    uint32_t after_bank;
    uint32_t distance;
} Pair;

/* Groups by the low bits: banks 0 and 4 share group 0, bank 1 is of group 1. tRC is 60 here, so that it is
 * not hidden by tRAS + tRP. */
static const Pair pairs[] = {
    {"tRCD", DRAM_ACTIVATE, 0, DRAM_READ, 0, 12},      {"tRCDWR", DRAM_ACTIVATE, 0, DRAM_WRITE, 0, 7},
    {"tRAS", DRAM_ACTIVATE, 0, DRAM_PRECHARGE, 0, 28}, {"tRRD", DRAM_ACTIVATE, 0, DRAM_ACTIVATE, 1, 6},
    {"tRRD", DRAM_ACTIVATE, 0, DRAM_ACTIVATE, 4, 6},   {"tRP", DRAM_PRECHARGE, 0, DRAM_ACTIVATE, 0, 12},
    {"tCCD", DRAM_READ, 0, DRAM_READ, 1, 2},           {"tCCD", DRAM_WRITE, 0, DRAM_WRITE, 1, 2},
    {"tCCDL", DRAM_READ, 0, DRAM_READ, 0, 3},          {"tCCDL", DRAM_READ, 0, DRAM_READ, 4, 3},
    {"tCCDL", DRAM_WRITE, 0, DRAM_WRITE, 0, 3},        {"tCCDL", DRAM_WRITE, 0, DRAM_WRITE, 4, 3},
    {"tRTW", DRAM_READ, 0, DRAM_WRITE, 0, 12},         {"tRTW", DRAM_READ, 0, DRAM_WRITE, 1, 12},
    {"tRTW", DRAM_READ, 0, DRAM_WRITE, 4, 12},         {"tWTR", DRAM_WRITE, 0, DRAM_READ, 0, 11},
    {"tWTR", DRAM_WRITE, 0, DRAM_READ, 1, 11},         {"tWTR", DRAM_WRITE, 0, DRAM_READ, 4, 11},
    {"tRTPL", DRAM_READ, 0, DRAM_PRECHARGE, 0, 2},     {"tWTP", DRAM_WRITE, 0, DRAM_PRECHARGE, 0, 18},
    {"tRC", DRAM_ACTIVATE, 0, DRAM_ACTIVATE, 0, 60},
};

/* Opens row 7 of the banks that the pair needs open, long before cycle 1000. */
static void prepare(const Pair *pair) {
    DramTiming t = gtx480;
    t.tRC = 60;
    start(&t, DRAM_GROUP_LOW_BITS);
    if (pair->before != DRAM_ACTIVATE) issue(DRAM_ACTIVATE, pair->before_bank, 7, 100);
    if (pair->after != DRAM_ACTIVATE && pair->after_bank != pair->before_bank)
        issue(DRAM_ACTIVATE, pair->after_bank, 7, 200);
}

START_TEST(each_pair_is_legal_at_its_distance_and_not_before) {
    const Pair *pair = &pairs[_i];
    prepare(pair);
    issue(pair->before, pair->before_bank, 7, 1000);
    bool needs_precharge = strcmp(pair->name, "tRC") == 0;
    if (needs_precharge) issue(DRAM_PRECHARGE, 0, 7, 1030);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, pair->after, pair->after_bank), 1000 + pair->distance);
    ck_assert_str_eq(verdict(pair->after, pair->after_bank, 7, 999 + pair->distance), pair->name);
    issue(pair->after, pair->after_bank, 7, 1000 + pair->distance);
}
END_TEST

/* The first of them may be long ago, as may be the second. */
START_TEST(five_activates_take_tFAW_or_more) {
    DramTiming t = gtx480;
    t.tFAW = 40;
    start(&t, DRAM_GROUP_LOW_BITS);
    for (uint32_t bank = 0; bank < 4; bank++)
        issue(DRAM_ACTIVATE, bank, 7, 100 + 6 * bank);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 4), 140);
    ck_assert_str_eq(verdict(DRAM_ACTIVATE, 4, 7, 139), "tFAW");
    issue(DRAM_ACTIVATE, 4, 7, 143);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 5), 149); /* tRRD; tFAW ended at 146 */
    issue(DRAM_ACTIVATE, 5, 7, 149);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 6), 155);
    issue(DRAM_ACTIVATE, 6, 7, 155);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 7), 161);
    issue(DRAM_ACTIVATE, 7, 7, 161);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 8), 183);
    ck_assert_str_eq(verdict(DRAM_ACTIVATE, 8, 7, 182), "tFAW");
}
END_TEST

/* Banks 0, 4 and 8 are of group 0, bank 1 is of group 1. */
START_TEST(activates_of_a_bank_group_are_tRRDL_apart) {
    DramTiming t = gtx480;
    t.tRRDL = 9;
    start(&t, DRAM_GROUP_LOW_BITS);
    issue(DRAM_ACTIVATE, 0, 7, 100);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 1), 106);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 4), 109);
    ck_assert_str_eq(verdict(DRAM_ACTIVATE, 4, 7, 108), "tRRDL");
    issue(DRAM_ACTIVATE, 1, 7, 106);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 4), 112); /* tRRD behind bank 1 */
    issue(DRAM_ACTIVATE, 4, 7, 112);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 8), 121);
}
END_TEST

/* As refresh of a bank comes when an ACTIVATE might. */
START_TEST(refresh_of_a_bank_waits_for_tRRDL_of_its_group) {
    DramTiming t = gtx480;
    t.tRRDL = 9;
    start(&t, DRAM_GROUP_LOW_BITS);
    DramBanks same_group = {4, 1}, other_group = {1, 1};
    issue(DRAM_ACTIVATE, 0, 7, 100);
    ck_assert_ptr_null(dram_checker_refresh(&checker, same_group, 101));
    dram_refresh(&dram, &timing, same_group, 101);
    ck_assert_ptr_null(dram_checker_refresh(&checker, other_group, 102));
    dram_refresh(&dram, &timing, other_group, 102);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 4), 109 + 110);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 1), 102 + 110);
    ck_assert_str_eq(verdict(DRAM_ACTIVATE, 4, 7, 218), "tRFC");
    issue(DRAM_ACTIVATE, 1, 7, 212);
    issue(DRAM_ACTIVATE, 4, 7, 219);
}
END_TEST

/* Timings of which no two are the same, so that none can stand in for another. Derived: tRCDWR = 17 - 6,
 * tRTW = 13 + 2 + 2 - 5, tWTR = 5 + 2 + 6, tWTP = 5 + 2 + 23. */
static const DramTiming all_different = {.tCL = 13,
                                         .tWL = 5,
                                         .tRCD = 17,
                                         .tRP = 19,
                                         .tRC = 71,
                                         .tRAS = 37,
                                         .tRRD = 7,
                                         .tCCD = 3,
                                         .tCCDL = 4,
                                         .tWR = 23,
                                         .tCDLR = 6,
                                         .tRTPL = 9,
                                         .burst = 2,
                                         .banks = 16,
                                         .bank_groups = 4};

enum { IMPOSSIBLE, NEXT_CYCLE };

/* What follows what, and how soon, if it is of the same bank, of another bank of the group, of another group.
 * One command per cycle; impossible is what needs the bank in the other state. */
static const uint32_t distances[4][4][3] = {
    [DRAM_READ] = {[DRAM_READ] = {4, 4, 3},
                   [DRAM_WRITE] = {12, 12, 12},
                   [DRAM_ACTIVATE] = {IMPOSSIBLE, NEXT_CYCLE, NEXT_CYCLE},
                   [DRAM_PRECHARGE] = {9, NEXT_CYCLE, NEXT_CYCLE}},
    [DRAM_WRITE] = {[DRAM_READ] = {13, 13, 13},
                    [DRAM_WRITE] = {4, 4, 3},
                    [DRAM_ACTIVATE] = {IMPOSSIBLE, NEXT_CYCLE, NEXT_CYCLE},
                    [DRAM_PRECHARGE] = {30, NEXT_CYCLE, NEXT_CYCLE}},
    [DRAM_ACTIVATE] = {[DRAM_READ] = {17, NEXT_CYCLE, NEXT_CYCLE},
                       [DRAM_WRITE] = {11, NEXT_CYCLE, NEXT_CYCLE},
                       [DRAM_ACTIVATE] = {IMPOSSIBLE, 7, 7},
                       [DRAM_PRECHARGE] = {37, NEXT_CYCLE, NEXT_CYCLE}},
    [DRAM_PRECHARGE] = {[DRAM_READ] = {IMPOSSIBLE, NEXT_CYCLE, NEXT_CYCLE},
                        [DRAM_WRITE] = {IMPOSSIBLE, NEXT_CYCLE, NEXT_CYCLE},
                        [DRAM_ACTIVATE] = {19, NEXT_CYCLE, NEXT_CYCLE},
                        [DRAM_PRECHARGE] = {IMPOSSIBLE, NEXT_CYCLE, NEXT_CYCLE}},
};

START_TEST(any_two_commands_are_as_far_apart_as_their_timing_and_no_further) {
    static const uint32_t other_bank[] = {0, 4, 1};
    DramCommand before = (DramCommand)(_i / 12), after = (DramCommand)(_i / 3 % 4);
    uint32_t distance = distances[before][after][_i % 3], bank = other_bank[_i % 3];
    start(&all_different, DRAM_GROUP_LOW_BITS);
    if (before != DRAM_ACTIVATE) issue(DRAM_ACTIVATE, 0, 7, 100);
    if (after != DRAM_ACTIVATE && bank != 0) issue(DRAM_ACTIVATE, bank, 7, 300);
    issue(before, 0, 7, 1000);
    if (distance == IMPOSSIBLE) {
        ck_assert_ptr_nonnull(verdict(after, bank, 7, 1500));
        return;
    }
    uint64_t earliest = dram_earliest(&dram, &timing, after, bank);
    if (distance == NEXT_CYCLE)
        ck_assert_uint_le(earliest, 1001);
    else
        ck_assert_uint_eq(earliest, 1000 + distance);
    ck_assert_ptr_nonnull(verdict(after, bank, 7, 999 + distance));
    issue(after, bank, 7, 1000 + distance);
}
END_TEST

/* A read or write of one bank does not delay row commands of another. */
START_TEST(banks_are_independent_but_for_the_shared_buses) {
    issue(DRAM_ACTIVATE, 0, 7, 0);
    issue(DRAM_ACTIVATE, 1, 7, 6);
    issue(DRAM_WRITE, 0, 7, 100);
    ck_assert_uint_le(dram_earliest(&dram, &timing, DRAM_PRECHARGE, 1), 101);
    ck_assert_uint_le(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 2), 101);
    issue(DRAM_PRECHARGE, 1, 7, 101);
    issue(DRAM_ACTIVATE, 2, 7, 102);
}
END_TEST

START_TEST(high_bits_make_groups_of_neighbouring_banks) {
    start(&gtx480, DRAM_GROUP_HIGH_BITS);
    for (uint32_t bank = 0; bank < 5; bank++)
        issue(DRAM_ACTIVATE, bank, 7, bank * 6);
    issue(DRAM_READ, 0, 7, 1000);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_READ, 3), 1003);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_READ, 4), 1002);
}
END_TEST

START_TEST(data_end_after_latency_and_burst) {
    ck_assert_uint_eq(dram_data_end(&timing, DRAM_READ, 100), 114);
    ck_assert_uint_eq(dram_data_end(&timing, DRAM_WRITE, 100), 106);
}
END_TEST

START_TEST(checker_knows_the_state_of_the_banks) {
    ck_assert_ptr_nonnull(strstr(verdict(DRAM_READ, 0, 7, 100), "closed bank"));
    ck_assert_ptr_nonnull(strstr(verdict(DRAM_PRECHARGE, 0, 7, 100), "closed bank"));
    ck_assert_ptr_nonnull(strstr(verdict(DRAM_ACTIVATE, 16, 7, 100), "no bank matches"));
    issue(DRAM_ACTIVATE, 0, 7, 100);
    ck_assert_ptr_nonnull(strstr(verdict(DRAM_ACTIVATE, 0, 8, 200), "open row"));
    ck_assert_ptr_nonnull(strstr(verdict(DRAM_WRITE, 0, 8, 200), "not open"));
    issue(DRAM_PRECHARGE, 0, 7, 200);
    ck_assert_ptr_nonnull(strstr(verdict(DRAM_READ, 0, 7, 300), "closed bank"));
}
END_TEST

START_TEST(checker_allows_one_command_per_cycle) {
    issue(DRAM_ACTIVATE, 0, 7, 100);
    issue(DRAM_ACTIVATE, 1, 7, 106);
    issue(DRAM_READ, 0, 7, 200);
    ck_assert_ptr_nonnull(strstr(verdict(DRAM_PRECHARGE, 1, 7, 200), "one cycle"));
    issue(DRAM_PRECHARGE, 1, 7, 201);
}
END_TEST

/* With a burst of 4 cycles and tCCD 2, the pair alone would let data collide. */
START_TEST(checker_sees_collisions_on_the_data_bus) {
    DramTiming t = gtx480;
    t.burst = 4;
    start(&t, DRAM_GROUP_LOW_BITS);
    issue(DRAM_ACTIVATE, 0, 7, 0);
    issue(DRAM_ACTIVATE, 1, 7, 6);
    issue(DRAM_READ, 0, 7, 100);
    ck_assert_ptr_nonnull(strstr(verdict(DRAM_READ, 1, 7, 103), "data bus"));
    issue(DRAM_READ, 1, 7, 104);
}
END_TEST

static const char *verdict_of_refresh(uint64_t cycle) {
    DramChecker copy = checker;
    return dram_checker_refresh(&copy, all_banks, cycle);
}

/* Returns when, at the earliest or some cycles later. */
static uint64_t refresh_after(uint64_t now, uint64_t later) {
    uint64_t earliest = dram_refresh_earliest(&dram, all_banks);
    if (earliest > now + 1) ck_assert_ptr_nonnull(verdict_of_refresh(earliest - 1));
    if (earliest <= now) earliest = now + 1;
    ck_assert_ptr_null(verdict_of_refresh(earliest));
    ck_assert_ptr_null(dram_checker_refresh(&checker, all_banks, earliest + later));
    dram_refresh(&dram, &timing, all_banks, earliest + later);
    return earliest + later;
}

START_TEST(refresh_closes_all_rows_and_no_bank_is_opened_for_tRFC) {
    issue(DRAM_ACTIVATE, 0, 7, 100);
    issue(DRAM_ACTIVATE, 3, 9, 200);
    ck_assert_str_eq(verdict_of_refresh(227), "tRAS");
    ck_assert_uint_eq(dram_refresh_earliest(&dram, all_banks), 228);
    ck_assert_ptr_null(dram_checker_refresh(&checker, all_banks, 228));
    ck_assert_uint_eq(dram_refresh(&dram, &timing, all_banks, 228), 2);
    ck_assert_uint_eq(dram_refresh_earliest(&dram, all_banks), 0);
    for (uint32_t bank = 0; bank < 16; bank++) {
        ck_assert_uint_eq(dram.banks[bank].open_row, DRAM_NO_ROW);
        ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, bank), 228 + 12 + 110);
        ck_assert_str_eq(verdict(DRAM_ACTIVATE, bank, 7, 228 + 12 + 109), "tRFC");
        ck_assert_ptr_null(verdict(DRAM_ACTIVATE, bank, 7, 228 + 12 + 110));
    }
}
END_TEST

START_TEST(refresh_of_a_bank_leaves_the_others_alone) {
    const DramBanks third = {3, 1};
    issue(DRAM_ACTIVATE, 0, 7, 100);
    issue(DRAM_ACTIVATE, 3, 9, 200);
    ck_assert_uint_eq(dram_refresh_earliest(&dram, third), 228);
    ck_assert_ptr_null(dram_checker_refresh(&checker, third, 228));
    ck_assert_uint_eq(dram_refresh(&dram, &timing, third, 228), 1);
    ck_assert_uint_eq(dram_earliest(&dram, &timing, DRAM_ACTIVATE, 3), 228 + 12 + 110);
    ck_assert_str_eq(verdict(DRAM_ACTIVATE, 3, 7, 228 + 12 + 109), "tRFC");
    ck_assert_ptr_null(verdict(DRAM_ACTIVATE, 3, 7, 228 + 12 + 110));
    issue(DRAM_READ, 0, 7, 229);
    issue(DRAM_ACTIVATE, 4, 7, 230);
}
END_TEST

/* What dram.c computes ahead and what the checker sees looking back must be the same cycle, after any
 * history. */
START_TEST(earliest_cycle_is_the_first_that_the_checker_accepts) {
    Random random = {(uint64_t)_i + 1};
    uint64_t now = 0;
    start(&gtx480, _i & 1 ? DRAM_GROUP_HIGH_BITS : DRAM_GROUP_LOW_BITS);
    for (int step = 0; step < 4000; step++) {
        uint32_t bank = (uint32_t)random_below(&random, 16), row = 7;
        if (step % 100 == 99) now = refresh_after(now, random_below(&random, 20));
        bool open = dram.banks[bank].open_row != DRAM_NO_ROW;
        DramCommand command = open ? (DramCommand)random_below(&random, 3) : DRAM_ACTIVATE;
        if (open && command == DRAM_ACTIVATE) command = DRAM_PRECHARGE;
        uint64_t earliest = dram_earliest(&dram, &timing, command, bank);
        if (earliest > now + 1) ck_assert_ptr_nonnull(verdict(command, bank, row, earliest - 1));
        if (earliest <= now) earliest = now + 1;
        now = earliest + (random_below(&random, 4) ? 0 : random_below(&random, 30));
        ck_assert_ptr_null(verdict(command, bank, row, earliest));
        issue(command, bank, row, now);
    }
}
END_TEST

/* ---- The queue, against a list that is searched from end to end ---- */

typedef struct {
    uint32_t bank, row, slot;
    bool write;
} Waiting;

static DramQueue queue;
static Waiting list[DRAM_QUEUE_MAX];
static uint32_t waiting;

static bool is_hit(const Waiting *w) {
    return dram.banks[w->bank].open_row == w->row;
}

static bool bank_has_hit(uint32_t bank, uint64_t eligible) {
    for (uint32_t rank = 0; rank < waiting; rank++)
        if ((eligible >> rank & 1) && list[rank].bank == bank && is_hit(&list[rank])) return true;
    return false;
}

static DramChoice search(uint64_t eligible, uint64_t floor) {
    DramChoice best = DRAM_NO_CHOICE;
    for (int columns = 1; columns >= 0; columns--)
        for (uint32_t rank = 0; rank < waiting; rank++) {
            const Waiting *w = &list[rank];
            bool column = is_hit(w), open = dram.banks[w->bank].open_row != DRAM_NO_ROW;
            if (!(eligible >> rank & 1) || column != columns) continue;
            if (!column && bank_has_hit(w->bank, eligible)) continue;
            DramCommand command = column ? (w->write ? DRAM_WRITE : DRAM_READ)
                                  : open ? DRAM_PRECHARGE
                                         : DRAM_ACTIVATE;
            uint64_t cycle = dram_earliest(&dram, &timing, command, w->bank);
            if (cycle < floor) cycle = floor;
            if (cycle < best.cycle)
                best = (DramChoice){.cycle = cycle,
                                    .rank = (uint8_t)rank,
                                    .bank = (uint8_t)w->bank,
                                    .command = (uint8_t)command};
        }
    return best;
}

static void add_request(Random *random) {
    Waiting *w = &list[waiting++];
    *w = (Waiting){.bank = (uint32_t)random_below(random, timing.banks),
                   .row = (uint32_t)random_below(random, 3),
                   .write = random_below(random, 3) == 0};
    w->slot = dram_queue_add(&queue, &dram, w->bank, w->row, w->write, true);
    for (uint32_t rank = 0; rank + 1 < waiting; rank++)
        ck_assert_uint_ne(list[rank].slot, w->slot);
}

/* By the place in the list. */
static void remove_request(uint32_t place) {
    dram_queue_remove(&queue, dram_queue_rank_of(&queue, place));
    memmove(list + place, list + place + 1, (--waiting - place) * sizeof *list);
}

/* Of a set of places in the list. */
static uint64_t ranks_of(uint64_t places) {
    uint64_t ranks = 0;
    for (uint32_t place = 0; place < waiting; place++)
        ranks |= (places >> place & 1) << dram_queue_rank_of(&queue, place);
    return ranks;
}

static void compare_queue_with_list(void) {
    uint32_t seen = 0;
    ck_assert_uint_eq(queue.count, waiting);
    ck_assert_uint_eq(dram_queue_in_order(&queue, ~0ull), waiting ? ~0ull >> (64 - waiting) : 0);
    for (uint32_t place = 0; place < waiting; place++) {
        const Waiting *w = &list[place];
        uint32_t rank = dram_queue_rank_of(&queue, place);
        ck_assert_uint_eq(queue.slot[rank], w->slot);
        ck_assert_uint_eq(queue.bank[rank], w->bank);
        ck_assert_uint_eq(queue.row[w->slot], w->row);
        ck_assert_uint_eq(queue.row_hit >> rank & 1, is_hit(w));
        ck_assert_uint_eq(queue.write >> rank & 1, w->write);
        ck_assert_uint_eq(dram_queue_heads(&queue) >> rank & 1, !(seen >> w->bank & 1));
        seen |= 1u << w->bank;
    }
    ck_assert_uint_eq(queue.banks, seen);
}

START_TEST(queue_chooses_what_a_full_search_chooses) {
    Random random = {(uint64_t)_i + 1};
    uint64_t now = 0;
    DramTiming with_banks = gtx480;
    with_banks.banks = _i % 2 ? DRAM_BANKS_MAX : 16;
    with_banks.tRRDL = _i % 3 ? 9 : 0;
    start(&with_banks, DRAM_GROUP_LOW_BITS);
    memset(&queue, 0, sizeof queue);
    waiting = 0;
    for (int step = 0; step < 10000; step++) {
        uint32_t target = step / 500 % 2 ? DRAM_QUEUE_MAX : 6;
        if (dram_queue_end(&queue) == DRAM_QUEUE_MAX || random_below(&random, 16) == 0) {
            bool gaps = dram_queue_end(&queue) > waiting;
            ck_assert_int_eq(dram_queue_has_gaps(&queue), gaps);
            if (gaps) dram_queue_close_gaps(&queue);
            ck_assert_uint_eq(dram_queue_end(&queue), waiting);
            compare_queue_with_list();
        }
        if (waiting < target && (waiting == 0 || random_below(&random, 2))) add_request(&random);
        uint64_t eligible = UINT64_MAX >> (64 - waiting);
        if (random_below(&random, 4) == 0) eligible &= random_next(&random);
        DramChoice expected = search(eligible, now + 1);
        DramBest best = dram_queue_choose(&queue, 0, &dram, &timing, ranks_of(eligible), now + 1, DRAM_NONE);
        DramChoice choice = dram_choice_of(best, &queue);
        ck_assert_uint_eq(choice.cycle, expected.cycle);
        if (choice.cycle == UINT64_MAX) continue;
        ck_assert_uint_eq(choice.rank, dram_queue_rank_of(&queue, expected.rank));
        ck_assert_uint_eq(choice.bank, expected.bank);
        ck_assert_uint_eq(choice.command, expected.command);
        now = choice.cycle;
        issue((DramCommand)choice.command, choice.bank, list[expected.rank].row, now);
        if (dram_is_column((DramCommand)choice.command))
            remove_request(expected.rank);
        else
            dram_queue_row_changed(&queue, &dram, choice.bank);
        compare_queue_with_list();
    }
}
END_TEST

static DramChoice choose_from_two(const DramQueue queues[2], uint64_t floor) {
    DramBest best = dram_queue_choose(&queues[0], 0, &dram, &timing, 1, floor, DRAM_NONE);
    best = dram_queue_choose(&queues[1], 1, &dram, &timing, 1, floor, best);
    return dram_choice_of(best, queues);
}

START_TEST(lower_queue_wins_in_the_same_cycle_and_loses_to_an_earlier_one) {
    static DramQueue queues[2];
    memset(queues, 0, sizeof queues);
    issue(DRAM_ACTIVATE, 0, 7, 100);
    dram_queue_add(&queues[0], &dram, 1, 7, false, true); /* wants ACTIVATE, from 106 on */
    dram_queue_add(&queues[1], &dram, 0, 7, false, true); /* wants READ, from 112 on     */
    DramChoice choice = choose_from_two(queues, 112);
    ck_assert_uint_eq(choice.queue, 0);
    ck_assert_uint_eq(choice.bank, 1);
    ck_assert_uint_eq(choice.command, DRAM_ACTIVATE);
    ck_assert_uint_eq(choice.cycle, 112);
    issue(DRAM_ACTIVATE, 2, 7, 111); /* now bank 1 waits for tRRD until 117 */
    choice = choose_from_two(queues, 112);
    ck_assert_uint_eq(choice.queue, 1);
    ck_assert_uint_eq(choice.bank, 0);
    ck_assert_uint_eq(choice.command, DRAM_READ);
    ck_assert_uint_eq(choice.cycle, 112);
}
END_TEST

/* Cycle by cycle, so that requests come while the next command is already known; reads take two bursts. */
START_TEST(kept_choice_is_what_a_full_search_chooses) {
    Random random = {(uint64_t)_i + 1};
    DramNext next;
    dram_next_forget(&next);
    uint64_t now = 0;
    uint64_t half_served = 0; /* by slot */
    DramTiming few_banks = gtx480;
    few_banks.banks = 4;
    few_banks.bank_groups = 2;
    few_banks.tRRDL = _i % 2 ? 9 : 0;
    start(&few_banks, DRAM_GROUP_LOW_BITS);
    memset(&queue, 0, sizeof queue);
    waiting = 0;
    for (int step = 0; step < 50000; step++) {
        uint32_t target = step / 500 % 2 ? DRAM_QUEUE_MAX : 6;
        if (waiting < target && (waiting == 0 || random_below(&random, 8) == 0)) {
            if (dram_queue_end(&queue) == DRAM_QUEUE_MAX) {
                dram_queue_close_gaps(&queue);
                dram_next_forget(&next);
            }
            add_request(&random);
            dram_next_arrived(&next, &queue, &dram, &timing, dram_queue_end(&queue) - 1, now + 1);
        }
        DramChoice expected = search(UINT64_MAX >> (64 - waiting), now + 1);
        DramBest best = dram_next_choose(&next, &queue, &dram, &timing, now + 1);
        DramChoice choice = dram_choice_of(best, &queue);
        ck_assert_uint_eq(choice.cycle, expected.cycle);
        ck_assert_uint_eq(choice.rank, dram_queue_rank_of(&queue, expected.rank));
        ck_assert_uint_eq(choice.command, expected.command);
        if (choice.cycle > ++now) continue;
        uint64_t slot = 1ull << list[expected.rank].slot;
        issue((DramCommand)choice.command, choice.bank, list[expected.rank].row, now);
        if (!dram_is_column((DramCommand)choice.command)) {
            dram_queue_row_changed(&queue, &dram, choice.bank);
            dram_next_row_issued(&next, &queue, &dram, &timing, (DramCommand)choice.command, choice.bank,
                                 now + 1);
            continue;
        }
        dram_next_column_issued(&next);
        half_served ^= slot;
        if (choice.command == DRAM_READ && (half_served & slot)) continue;
        half_served &= ~slot;
        remove_request(expected.rank);
        dram_next_left(&next, &queue, &dram, &timing, choice.bank, now + 1);
    }
}
END_TEST

START_TEST(nothing_is_chosen_from_an_empty_queue) {
    static const DramQueue empty;
    DramBest best = dram_queue_choose(&empty, 0, &dram, &timing, 0, 100, DRAM_NONE);
    ck_assert_uint_eq(dram_choice_of(best, &empty).cycle, UINT64_MAX);
}
END_TEST

Suite *dram_suite(void);

Suite *dram_suite(void) {
    Suite *suite = suite_create("dram");
    TCase *tests = tcase_create("dram");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, derived_timings_are_the_gtx480s);
    tcase_add_test(tests, five_activates_take_tFAW_or_more);
    tcase_add_test(tests, activates_of_a_bank_group_are_tRRDL_apart);
    tcase_add_test(tests, refresh_of_a_bank_waits_for_tRRDL_of_its_group);
    tcase_add_loop_test(tests, each_pair_is_legal_at_its_distance_and_not_before, 0,
                        sizeof pairs / sizeof *pairs);
    tcase_add_loop_test(tests, any_two_commands_are_as_far_apart_as_their_timing_and_no_further, 0,
                        4 * 4 * 3);
    tcase_add_test(tests, banks_are_independent_but_for_the_shared_buses);
    tcase_add_test(tests, high_bits_make_groups_of_neighbouring_banks);
    tcase_add_test(tests, data_end_after_latency_and_burst);
    tcase_add_test(tests, checker_knows_the_state_of_the_banks);
    tcase_add_test(tests, checker_allows_one_command_per_cycle);
    tcase_add_test(tests, checker_sees_collisions_on_the_data_bus);
    tcase_add_test(tests, refresh_closes_all_rows_and_no_bank_is_opened_for_tRFC);
    tcase_add_test(tests, refresh_of_a_bank_leaves_the_others_alone);
    tcase_add_loop_test(tests, earliest_cycle_is_the_first_that_the_checker_accepts, 0, 8);
    tcase_add_loop_test(tests, queue_chooses_what_a_full_search_chooses, 0, 4);
    tcase_add_loop_test(tests, kept_choice_is_what_a_full_search_chooses, 0, 4);
    tcase_add_test(tests, lower_queue_wins_in_the_same_cycle_and_loses_to_an_earlier_one);
    tcase_add_test(tests, nothing_is_chosen_from_an_empty_queue);
    suite_add_tcase(suite, tests);
    return suite;
}
