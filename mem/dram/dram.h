/* One DRAM channel, command by command: what state its banks are in, and when each command becomes legal.
 * Pure functions over plain structs; all times are command clock cycles.
 *
 * A bank is closed (no row) or has one row open. ACTIVATE opens a row, READ and WRITE move one burst of the
 * open row over the data bus, PRECHARGE closes it. REFRESH is of all banks or of one: their rows that are open are closed
 * by one command, and it follows tRP behind. The channel takes one command per cycle; a row may also be closed
 * without one, as auto-precharge does. */
#ifndef WW_MEM_DRAM_H
#define WW_MEM_DRAM_H

#include "core/sim/base/error.h"

#include <stdbool.h>

enum { DRAM_BANKS_MAX = 32, DRAM_WINDOW = 4 /* ACTIVATEs within tFAW */ };
#define DRAM_NO_ROW UINT32_MAX

typedef enum { DRAM_READ, DRAM_WRITE, DRAM_ACTIVATE, DRAM_PRECHARGE, DRAM_REFRESH } DramCommand;

/* Minimum distances in command cycles. */
typedef struct {
    uint32_t tCL, tWL; /* column command to the first data, read and write */
    uint32_t tRCD;     /* ACTIVATE to READ, same bank                      */
    uint32_t tRP;      /* PRECHARGE to ACTIVATE, same bank                 */
    uint32_t tRC;      /* ACTIVATE to ACTIVATE, same bank                  */
    uint32_t tRAS;     /* ACTIVATE to PRECHARGE, same bank                 */
    uint32_t tRRD;     /* ACTIVATE to ACTIVATE, any banks                  */
    uint32_t tCCD;     /* column command to the next of the same kind      */
    uint32_t tCCDL;    /* the same within a bank group                     */
    uint32_t tWR;      /* last written data to PRECHARGE, same bank        */
    uint32_t tCDLR;    /* last written data to READ, any banks             */
    uint32_t tRTPL;    /* READ to PRECHARGE, same bank                     */
    uint32_t tREFI;    /* REFRESH to REFRESH, on average; 0: there is none */
    uint32_t tRFC;     /* REFRESH to ACTIVATE, of the banks that it is of  */
    uint32_t burst;    /* cycles of the data bus per column command        */
    uint32_t banks, bank_groups;
    /* From here on computed by dram_timing_derive(). */
    uint32_t tRCDWR; /* ACTIVATE to WRITE, same bank   */
    uint32_t tRTW;   /* READ to WRITE, any banks       */
    uint32_t tWTR;   /* WRITE to READ, any banks       */
    uint32_t tWTP;   /* WRITE to PRECHARGE, same bank  */
    uint8_t group_of_bank[DRAM_BANKS_MAX];
    uint32_t tFAW;  /* ACTIVATE to the fourth behind it, any banks; 0: as tRRD allows */
    uint32_t tRRDL; /* ACTIVATE to ACTIVATE within a bank group; 0: as tRRD allows    */
} DramTiming;

/* Which bits of the bank number are its group: the low ones spread neighbouring banks over all groups. */
typedef enum { DRAM_GROUP_LOW_BITS, DRAM_GROUP_HIGH_BITS } DramGroupBits;

/* The first cycles at which the bank itself allows each command, indexed by DramCommand. */
typedef struct {
    uint64_t earliest[4];
    uint32_t open_row; /* DRAM_NO_ROW: closed */
    uint32_t reserved;
} DramBank;

typedef struct {
    uint64_t channel[4];            /* the same for the channel as a whole, indexed by DramCommand */
    uint64_t group[DRAM_BANKS_MAX]; /* the same for the column commands of a bank group            */
    DramBank banks[DRAM_BANKS_MAX];
    uint64_t
        window[DRAM_WINDOW]; /* tFAW behind each of the last ACTIVATEs, by `activates` modulo their number */
    uint64_t activates;
} Dram;

/* Computes the derived members. */
void dram_timing_derive(DramTiming *timing, DramGroupBits bits);
/* All banks closed, everything legal at cycle 0. */
void dram_reset(Dram *dram);
/* Applies a command at `cycle`. It must be legal by dram_earliest() and by the state of the bank; `row`
 * matters to ACTIVATE alone. */
void dram_issue(Dram *dram, const DramTiming *timing, DramCommand command, uint32_t bank, uint32_t row,
                uint64_t cycle);
/* The same of ACTIVATE and PRECHARGE, for who knows which of these it is; of READ and WRITE: dram_issue_column(). */
void dram_issue_row(Dram *dram, const DramTiming *timing, DramCommand command, uint32_t bank, uint32_t row,
                    uint64_t cycle);
/* Behind an ACTIVATE by dram_issue_row(): keeps tFAW and tRRDL, of which one is set. */
void dram_space_activates(Dram *dram, const DramTiming *timing, uint32_t bank, uint64_t cycle);
static inline bool dram_spaces_activates(const DramTiming *timing) {
    return (timing->tFAW | timing->tRRDL) != 0;
}

/* Closes the open row at `cycle`, at which a PRECHARGE would be legal, without a command of the channel. */
void dram_close(Dram *dram, const DramTiming *timing, uint32_t bank, uint64_t cycle);

/* Of a REFRESH. */
typedef struct {
    uint32_t first, count;
} DramBanks;

/* The first cycle at which the open rows of the banks may be closed for a REFRESH. */
uint64_t dram_refresh_earliest(const Dram *dram, DramBanks banks);
/* Closes them at `cycle`, and refreshes the banks as soon as all of them allow it. Returns how many rows it has closed. */
uint32_t dram_refresh(Dram *dram, const DramTiming *timing, DramBanks banks, uint64_t cycle);

static inline bool dram_is_column(DramCommand command) {
    return command <= DRAM_WRITE;
}

/* The first cycle at which all timings allow the command; whether the row is the right one is the caller's
 * matter. */
static inline uint64_t dram_earliest(const Dram *dram, const DramTiming *timing, DramCommand command,
                                     uint32_t bank) {
    uint64_t earliest = dram->banks[bank].earliest[command];
    if (dram->channel[command] > earliest) earliest = dram->channel[command];
    if (!dram_is_column(command)) return earliest;
    uint64_t group = dram->group[timing->group_of_bank[bank]];
    return group > earliest ? group : earliest;
}

/* The cycle after the last data of a column command issued at `cycle`. */
static inline uint64_t dram_data_end(const DramTiming *timing, DramCommand command, uint64_t cycle) {
    return cycle + (command == DRAM_READ ? timing->tCL : timing->tWL) + timing->burst;
}

static inline void dram_not_before(uint64_t *earliest, uint64_t cycle) {
    if (cycle > *earliest) *earliest = cycle;
}

/* READ or WRITE, as dram_issue() does it. What the command itself had to wait for is over. */
static inline __attribute__((always_inline)) void
dram_issue_column(Dram *dram, const DramTiming *t, DramCommand command, uint32_t bank, uint64_t cycle) {
    bool read = command == DRAM_READ;
    DramCommand other = read ? DRAM_WRITE : DRAM_READ;
    debug_ensure(cycle >= dram_earliest(dram, t, command, bank));
    debug_ensure(dram->banks[bank].open_row != DRAM_NO_ROW);
    dram->channel[command] = cycle + t->tCCD;
    dram->group[t->group_of_bank[bank]] = cycle + t->tCCDL;
    dram_not_before(&dram->channel[other], cycle + (read ? t->tRTW : t->tWTR));
    dram_not_before(&dram->banks[bank].earliest[DRAM_PRECHARGE], cycle + (read ? t->tRTPL : t->tWTP));
}

#endif
