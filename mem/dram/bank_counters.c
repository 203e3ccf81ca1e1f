#include "mem/dram/bank_counters.h"

#include "core/sim/clocks.h"
#include "mem/dram/memory_controller.h"
#include "mem/protocol/part.h"

static Ratio row_hit_rate(const SimObject *object) {
    const BankCounters *counters = (const BankCounters *)object;
    return ratio_of(counters->row_hits, counters->requests);
}

static const Field fields[] = {
    BASE(BankCounters),
    PARAM(BankCounters, bank, REQUIRED, "banks", "The bank that it counts, from 0", .min = 0, .max = 31),
    DERIVED(BankCounters, pad, "Alignment"),
    STAT(BankCounters, requests, "requests", "Served by the bank"),
    STAT(BankCounters, row_hits, "requests", "Found their row open"),
    STAT(BankCounters, row_misses, "requests", "Found the bank closed"),
    STAT(BankCounters, row_conflicts, "requests", "Found another row open"),
    STAT(BankCounters, activates, "commands", "ACTIVATE"),
    FORMULA("row_hit_rate", row_hit_rate, "fraction", "Served requests that found their row open"),
    FIELDS_END};

static void build(SimObject *object) {
    const SimObject *mc = object->parent;
    if (!mc || mc->class != &memory_controller_class)
        user_error("%s: expected a place below a MemoryController (mc[0].bank[0])", object_path(object));
}

const Class bank_counters_class = {
    .name = "BankCounters",
    .doc = "Requests and row hits of one bank of a memory controller",
    .bytes = sizeof(BankCounters),
    .fields = fields,
    .build = build,
    .tick = part_sleeps,
    .clocks_changed = clocks_concern_not,
    .part = true,
};
REGISTER_CLASS(bank_counters_class);
