#include "core/sim/alias.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *old, *current;
} aliases[] = {
    {"class_keeps", "retention_priority"},
    {"class_depths", "insertion_position"},
    {"passing_limit", "bypassed_limit"},
    {"passing_stalls", "bypassed_stalls"},
    {"passing_stall_cycles", "bypassed_stall_cycles"},
    {"sheltered", "protected_evictions"},
    {"lowered", "low_priority_insertions"},
    {"memory_cycles", "transfer_cycles"},
};

const char *alias_current(const char *name) {
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (aliases[i].old[0] == name[0] && strcmp(aliases[i].old, name) == 0) return aliases[i].current;
    return NULL;
}
