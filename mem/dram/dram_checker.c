#include "mem/dram/dram_checker.h"

#include <stddef.h>
#include <string.h>

typedef enum { SAME_BANK, SAME_GROUP, ANY_BANK } Scope;

typedef struct {
    DramCommand before, after;
    Scope scope;
    const char *name;
    size_t distance; /* offset of the minimum distance in DramTiming */
} TimingPair;

#define PAIR(before, after, scope, t)                                                                        \
    { before, after, scope, #t, offsetof(DramTiming, t) }

static const TimingPair pairs[] = {
    PAIR(DRAM_ACTIVATE, DRAM_READ, SAME_BANK, tRCD),
    PAIR(DRAM_ACTIVATE, DRAM_WRITE, SAME_BANK, tRCDWR),
    PAIR(DRAM_ACTIVATE, DRAM_PRECHARGE, SAME_BANK, tRAS),
    PAIR(DRAM_ACTIVATE, DRAM_ACTIVATE, SAME_BANK, tRC),
    PAIR(DRAM_ACTIVATE, DRAM_ACTIVATE, ANY_BANK, tRRD),
    PAIR(DRAM_ACTIVATE, DRAM_ACTIVATE, SAME_GROUP, tRRDL),
    PAIR(DRAM_PRECHARGE, DRAM_ACTIVATE, SAME_BANK, tRP),
    PAIR(DRAM_READ, DRAM_READ, ANY_BANK, tCCD),
    PAIR(DRAM_WRITE, DRAM_WRITE, ANY_BANK, tCCD),
    PAIR(DRAM_READ, DRAM_READ, SAME_GROUP, tCCDL),
    PAIR(DRAM_WRITE, DRAM_WRITE, SAME_GROUP, tCCDL),
    PAIR(DRAM_READ, DRAM_WRITE, ANY_BANK, tRTW),
    PAIR(DRAM_WRITE, DRAM_READ, ANY_BANK, tWTR),
    PAIR(DRAM_READ, DRAM_PRECHARGE, SAME_BANK, tRTPL),
    PAIR(DRAM_WRITE, DRAM_PRECHARGE, SAME_BANK, tWTP),
};

void dram_checker_init(DramChecker *checker, const DramTiming *timing) {
    memset(checker, 0, sizeof *checker);
    checker->timing = *timing;
    for (uint32_t bank = 0; bank < DRAM_BANKS_MAX; bank++)
        checker->open_row[bank] = DRAM_NO_ROW;
}

static bool in_scope(const DramChecker *checker, Scope scope, uint32_t bank, uint32_t other) {
    const uint8_t *group = checker->timing.group_of_bank;
    return scope == ANY_BANK || bank == other || (scope == SAME_GROUP && group[bank] == group[other]);
}

static bool pair_violated(const DramChecker *checker, const TimingPair *pair, uint32_t bank, uint64_t cycle) {
    uint32_t distance;
    memcpy(&distance, (const char *)&checker->timing + pair->distance, sizeof distance);
    for (uint32_t other = 0; other < checker->timing.banks; other++) {
        uint64_t last = checker->last[pair->before][other];
        if (last && in_scope(checker, pair->scope, bank, other) && cycle < last - 1 + distance) return true;
    }
    return false;
}

static const char *row_violation(const DramChecker *checker, DramCommand command, uint32_t bank,
                                 uint32_t row) {
    uint32_t open = checker->open_row[bank];
    if (command == DRAM_ACTIVATE) return open == DRAM_NO_ROW ? NULL : "ACTIVATE of a bank with an open row";
    if (open == DRAM_NO_ROW) return "READ, WRITE or PRECHARGE of a closed bank";
    if (command == DRAM_PRECHARGE) return NULL;
    return open == row ? NULL : "READ or WRITE of a row that is not open";
}

static const char *data_bus_violation(DramChecker *checker, DramCommand command, uint64_t cycle) {
    uint64_t end = dram_data_end(&checker->timing, command, cycle), start = end - checker->timing.burst;
    bool overlap = start < checker->data_end[0] || start < checker->data_end[1];
    checker->data_end[command] = end;
    return overlap ? "two bursts at a time on the data bus" : NULL;
}

static const char *timing_violation(const DramChecker *checker, DramCommand command, uint32_t bank,
                                    uint64_t cycle) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].after == command && pair_violated(checker, &pairs[i], bank, cycle)) return pairs[i].name;
    return NULL;
}

static bool window_is_full(const DramChecker *checker, uint64_t cycle) {
    uint64_t fourth = checker->activated[DRAM_WINDOW - 1];
    return fourth && cycle < fourth - 1 + checker->timing.tFAW;
}

const char *dram_checker_command(DramChecker *checker, DramCommand command, uint32_t bank, uint32_t row,
                                 uint64_t cycle) {
    if (bank >= checker->timing.banks) return "no bank matches";
    const char *violation = row_violation(checker, command, bank, row);
    if (cycle < checker->next_command) violation = "two commands in one cycle";
    if (!violation) violation = timing_violation(checker, command, bank, cycle);
    if (!violation && command == DRAM_ACTIVATE && cycle < checker->refreshed[bank]) violation = "tRFC";
    if (!violation && command == DRAM_ACTIVATE && window_is_full(checker, cycle)) violation = "tFAW";
    if (!violation && dram_is_column(command)) violation = data_bus_violation(checker, command, cycle);
    checker->last[command][bank] = cycle + 1;
    checker->next_command = cycle + 1;
    if (command == DRAM_ACTIVATE) {
        checker->open_row[bank] = row;
        memmove(checker->activated + 1, checker->activated,
                sizeof checker->activated - sizeof *checker->activated);
        checker->activated[0] = cycle + 1;
    }
    if (command == DRAM_PRECHARGE) checker->open_row[bank] = DRAM_NO_ROW;
    return violation;
}

const char *dram_checker_close(DramChecker *checker, uint32_t bank, uint64_t cycle) {
    const char *violation = row_violation(checker, DRAM_PRECHARGE, bank, DRAM_NO_ROW);
    if (!violation) violation = timing_violation(checker, DRAM_PRECHARGE, bank, cycle);
    checker->last[DRAM_PRECHARGE][bank] = cycle + 1;
    checker->open_row[bank] = DRAM_NO_ROW;
    return violation;
}

/* REFRESH comes when every bank would take an ACTIVATE. */
static bool allows_refresh(const DramChecker *checker, uint32_t bank, uint64_t cycle) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].after == DRAM_ACTIVATE && pairs[i].scope != ANY_BANK &&
            pair_violated(checker, &pairs[i], bank, cycle))
            return false;
    return true;
}

static uint64_t refresh_begins(const DramChecker *checker, DramBanks banks, uint64_t cycle) {
    for (uint32_t bank = banks.first; bank < banks.first + banks.count; bank++)
        while (cycle < checker->refreshed[bank] || !allows_refresh(checker, bank, cycle))
            cycle++;
    return cycle;
}

const char *dram_checker_refresh(DramChecker *checker, DramBanks banks, uint64_t cycle) {
    const char *violation = cycle < checker->next_command ? "two commands in one cycle" : NULL;
    for (uint32_t bank = banks.first; bank < banks.first + banks.count; bank++) {
        if (checker->open_row[bank] == DRAM_NO_ROW) continue;
        if (!violation) violation = timing_violation(checker, DRAM_PRECHARGE, bank, cycle);
        checker->last[DRAM_PRECHARGE][bank] = cycle + 1;
        checker->open_row[bank] = DRAM_NO_ROW;
    }
    uint64_t begins = refresh_begins(checker, banks, cycle);
    for (uint32_t bank = banks.first; bank < banks.first + banks.count; bank++)
        checker->refreshed[bank] = begins + checker->timing.tRFC;
    checker->next_command = cycle + 1;
    return violation;
}
