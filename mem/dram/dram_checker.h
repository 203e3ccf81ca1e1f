/* Watches the commands of one DRAM channel and verifies each against all timing pairs, the state of its bank
 * and the data bus. Shares nothing with dram.c but the timing set: it remembers when each command was last
 * seen and looks back, where dram.c computes ahead. */
#ifndef WW_MEM_DRAM_CHECKER_H
#define WW_MEM_DRAM_CHECKER_H

#include "mem/dram/dram.h"

typedef struct {
    DramTiming timing;
    uint64_t last[4][DRAM_BANKS_MAX];   /* 1 + cycle of the last command of a kind to a bank, a PRECHARGE by
                                       * itself may be yet to come; 0: never */
    uint64_t next_command;              /* first cycle in which the command bus is free                */
    uint64_t data_end[2];               /* first cycle in which the data bus is free: since reads, writes */
    uint64_t refreshed[DRAM_BANKS_MAX]; /* first cycle after the last REFRESH                          */
    uint32_t open_row[DRAM_BANKS_MAX];
    uint64_t activated[DRAM_WINDOW]; /* 1 + cycles of the last ACTIVATEs, the newest first; 0: none */
} DramChecker;

void dram_checker_init(DramChecker *checker, const DramTiming *timing);
/* Returns what the command at `cycle` violates, "tRCD" for instance, or NULL; then takes it as done. `row` is
 * the row that ACTIVATE opens, or that a column command wants. */
const char *dram_checker_command(DramChecker *checker, DramCommand command, uint32_t bank, uint32_t row,
                                 uint64_t cycle);
/* The same of a row that is closed at `cycle`, which may be before or behind that of the last command, without a
 * command of the channel. */
const char *dram_checker_close(DramChecker *checker, uint32_t bank, uint64_t cycle);
/* The same of the command that closes the open rows of these banks for a REFRESH, which follows when all of them allow it. */
const char *dram_checker_refresh(DramChecker *checker, DramBanks banks, uint64_t cycle);

#endif
