/* Class `PcBypassTable`: which load instructions find their data in a cache, by a hash of the load's address
 * in its kernel. Loads whose recent hit rate is low pass the cache by; one in a while goes through the cache
 * all the same, so that the rate stays known. */
#ifndef WW_MEM_PC_BYPASS_TABLE_H
#define WW_MEM_PC_BYPASS_TABLE_H

#include "core/sim/object.h"

typedef struct PcBypassTable PcBypassTable;

extern const Class pc_bypass_table_class;

/* The table below a cache, or NULL. */
PcBypassTable *pc_table_of(const SimObject *cache);
/* Shall this load pass the cache by? */
bool pc_table_bypasses(const PcBypassTable *table, uint32_t pc);
/* It was accepted, and did as it should. */
void pc_table_accept(PcBypassTable *table, uint32_t pc);
/* What became of a load that did not. */
void pc_table_learn(PcBypassTable *table, uint32_t pc, bool hit);

#endif
