/* Class `BankCounters`, of a memory controller: what one of its DRAM banks has served. */
#ifndef WW_MEM_BANK_COUNTERS_H
#define WW_MEM_BANK_COUNTERS_H

#include "core/sim/object.h"

typedef struct {
    SimObject obj;
    uint32_t bank, pad;
    uint64_t requests, row_hits, row_misses, row_conflicts, activates;
} BankCounters;

extern const Class bank_counters_class;

#endif
