#include "mem/dram/dram.h"

#include <string.h>

/* Data bus cycles left idle when its direction turns from read to write. */
enum { BUS_TURNAROUND = 2 };

void dram_timing_derive(DramTiming *t, DramGroupBits bits) {
    /* A write may follow ACTIVATE so early that its data arrive, tWL later, one cycle after the row is
     * open. */
    t->tRCDWR = t->tRCD > t->tWL + 1 ? t->tRCD - (t->tWL + 1) : 1;
    t->tRTW = t->tCL + t->burst + BUS_TURNAROUND > t->tWL ? t->tCL + t->burst + BUS_TURNAROUND - t->tWL : 1;
    t->tWTR = t->tWL + t->burst + t->tCDLR;
    t->tWTP = t->tWL + t->burst + t->tWR;
    for (uint32_t bank = 0; bank < t->banks; bank++)
        t->group_of_bank[bank] = (uint8_t)(bits == DRAM_GROUP_LOW_BITS ? bank % t->bank_groups
                                                                       : bank / (t->banks / t->bank_groups));
}

void dram_reset(Dram *dram) {
    memset(dram, 0, sizeof *dram);
    for (uint32_t bank = 0; bank < DRAM_BANKS_MAX; bank++)
        dram->banks[bank].open_row = DRAM_NO_ROW;
}

static void issue_activate(Dram *dram, const DramTiming *t, uint32_t bank, uint32_t row, uint64_t cycle) {
    DramBank *b = &dram->banks[bank];
    b->open_row = row;
    b->earliest[DRAM_ACTIVATE] = cycle + t->tRC;
    dram->channel[DRAM_ACTIVATE] = cycle + t->tRRD;
    dram_not_before(&b->earliest[DRAM_READ], cycle + t->tRCD);
    dram_not_before(&b->earliest[DRAM_WRITE], cycle + t->tRCDWR);
    dram_not_before(&b->earliest[DRAM_PRECHARGE], cycle + t->tRAS);
}

void dram_close(Dram *dram, const DramTiming *t, uint32_t bank, uint64_t cycle) {
    DramBank *b = &dram->banks[bank];
    debug_ensure(b->open_row != DRAM_NO_ROW && cycle >= b->earliest[DRAM_PRECHARGE]);
    b->open_row = DRAM_NO_ROW;
    dram_not_before(&b->earliest[DRAM_ACTIVATE], cycle + t->tRP);
}

uint64_t dram_refresh_earliest(const Dram *dram, DramBanks banks) {
    uint64_t earliest = 0;
    for (uint32_t bank = banks.first; bank < banks.first + banks.count; bank++) {
        const DramBank *b = &dram->banks[bank];
        if (b->open_row != DRAM_NO_ROW) dram_not_before(&earliest, b->earliest[DRAM_PRECHARGE]);
    }
    return earliest;
}

uint32_t dram_refresh(Dram *dram, const DramTiming *t, DramBanks banks, uint64_t cycle) {
    uint32_t closed = 0, end = banks.first + banks.count;
    uint64_t begins = cycle; /* REFRESH, which the banks must allow as they would an ACTIVATE */
    debug_ensure(cycle >= dram_refresh_earliest(dram, banks));
    for (uint32_t bank = banks.first; bank < end; bank++) {
        DramBank *b = &dram->banks[bank];
        if (b->open_row != DRAM_NO_ROW) {
            dram_close(dram, t, bank, cycle);
            closed++;
        }
        dram_not_before(&begins, b->earliest[DRAM_ACTIVATE]);
    }
    for (uint32_t bank = banks.first; bank < end; bank++)
        dram_not_before(&dram->banks[bank].earliest[DRAM_ACTIVATE], begins + t->tRFC);
    return closed;
}

void dram_issue_row(Dram *dram, const DramTiming *timing, DramCommand command, uint32_t bank, uint32_t row,
                    uint64_t cycle) {
    debug_ensure(cycle >= dram_earliest(dram, timing, command, bank));
    debug_ensure((command == DRAM_ACTIVATE) == (dram->banks[bank].open_row == DRAM_NO_ROW));
    if (command == DRAM_ACTIVATE)
        issue_activate(dram, timing, bank, row, cycle);
    else
        dram_close(dram, timing, bank, cycle);
}

static void space_group(Dram *dram, const DramTiming *t, uint32_t bank, uint64_t cycle) {
    for (uint32_t other = 0; other < t->banks; other++)
        if (t->group_of_bank[other] == t->group_of_bank[bank])
            dram_not_before(&dram->banks[other].earliest[DRAM_ACTIVATE], cycle + t->tRRDL);
}

void dram_space_activates(Dram *dram, const DramTiming *t, uint32_t bank, uint64_t cycle) {
    if (t->tRRDL) space_group(dram, t, bank, cycle);
    dram->window[dram->activates++ % DRAM_WINDOW] = cycle + t->tFAW;
    dram_not_before(&dram->channel[DRAM_ACTIVATE], dram->window[dram->activates % DRAM_WINDOW]);
}

void dram_issue(Dram *dram, const DramTiming *timing, DramCommand command, uint32_t bank, uint32_t row,
                uint64_t cycle) {
    if (dram_is_column(command))
        dram_issue_column(dram, timing, command, bank, cycle);
    else
        dram_issue_row(dram, timing, command, bank, row, cycle);
    if (command == DRAM_ACTIVATE) dram_space_activates(dram, timing, bank, cycle);
}
