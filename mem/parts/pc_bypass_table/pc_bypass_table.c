#include "mem/parts/pc_bypass_table/pc_bypass_table.h"

#include "mem/protocol/part.h"

typedef struct {
    uint32_t loads, hits; /* halved when there are `window` loads */
    uint64_t low;         /* loads met with a low hit rate        */
} PcEntry;

struct PcBypassTable {
    SimObject obj;
    uint32_t entries, window, warm_up, threshold, probe, pad;
    PcEntry *entry;
    uint64_t learnt, learnt_hits, bypassed, probes;
};

PcBypassTable *pc_table_of(const SimObject *cache) {
    return (PcBypassTable *)part_of(cache, &pc_bypass_table_class);
}

static PcEntry *entry_of(const PcBypassTable *table, uint32_t pc) {
    uint32_t hash = pc * 0x9e3779b1u;
    return &table->entry[(hash ^ hash >> 16) & (table->entries - 1)];
}

static bool is_low(const PcBypassTable *table, const PcEntry *e) {
    return e->loads >= table->warm_up && e->hits * 100ull < (uint64_t)table->threshold * e->loads;
}

/* The last of `probe` loads goes through the cache. */
static bool probes_next(const PcBypassTable *table, const PcEntry *e) {
    return (e->low + 1) % table->probe == 0;
}

bool pc_table_bypasses(const PcBypassTable *table, uint32_t pc) {
    const PcEntry *e = entry_of(table, pc);
    return is_low(table, e) && !probes_next(table, e);
}

void pc_table_accept(PcBypassTable *table, uint32_t pc) {
    PcEntry *e = entry_of(table, pc);
    if (!is_low(table, e)) return;
    table->probes += probes_next(table, e);
    table->bypassed += !probes_next(table, e);
    e->low++;
}

void pc_table_learn(PcBypassTable *table, uint32_t pc, bool hit) {
    PcEntry *e = entry_of(table, pc);
    table->learnt++;
    table->learnt_hits += hit;
    e->hits += hit;
    if (++e->loads < table->window) return;
    e->loads /= 2;
    e->hits /= 2;
}

static void build(SimObject *object) {
    const PcBypassTable *table = (const PcBypassTable *)object;
    if (table->warm_up > table->window / 2)
        user_error("%s.warm_up: expected up to window / 2 = %u, got %u", object_path(object),
                   table->window / 2, table->warm_up);
}

static const Field fields[] = {
    BASE(PcBypassTable),
    PARAM(PcBypassTable, entries, "128", "entries", "Entries, chosen by a hash of the load's address",
          .min = 1, .max = 65536, .power_of_two = true),
    PARAM(PcBypassTable, window, "256", "loads", "An entry that has seen so many halves its counters",
          .min = 2, .max = 1 << 24),
    PARAM(PcBypassTable, warm_up, "64", "loads", "Loads of an entry before it decides", .min = 1,
          .max = 1 << 23),
    PARAM(PcBypassTable, threshold, "20", "percent", "Loads with a lower hit rate bypass; 0: none", .min = 0,
          .max = 100),
    PARAM(PcBypassTable, probe, "32", "loads", "One of so many loads with a low hit rate does not bypass",
          .min = 1, .max = 1 << 20),
    DERIVED(PcBypassTable, pad, "Alignment"),
    STATE_ARRAY(PcBypassTable, entry, entries, "Recent loads and hits"),
    STAT(PcBypassTable, learnt, "loads", "Loads that went through the cache"),
    STAT(PcBypassTable, learnt_hits, "loads", "Of these: hit"),
    STAT(PcBypassTable, bypassed, "loads", "Loads that passed the cache by"),
    STAT(PcBypassTable, probes, "loads",
         "Loads with a low hit rate that went through the cache all the same"),
    FIELDS_END};

const Class pc_bypass_table_class = {
    .name = "PcBypassTable",
    .doc = "Recent hit rates of load instructions; those with low ones bypass the cache",
    .bytes = sizeof(PcBypassTable),
    .fields = fields,
    .build = build,
    .tick = part_sleeps,
    .part = true,
};
REGISTER_CLASS(pc_bypass_table_class);
