#include "core/ptx/analysis/waiting_loops.h"

#include <string.h>

/* True when there are new ones among them. */
static bool names_add(uint64_t *names, const uint64_t *more) {
    uint64_t new = 0;
    for (uint32_t i = 0; i < SCOREBOARD_NAMES / 64; i++) {
        new |= more[i] & ~names[i];
        names[i] |= more[i];
    }
    return new != 0;
}

static bool writes_any(const Inst *inst, const uint64_t *names) {
    for (uint32_t i = 0; i < inst->out_name_count; i++)
        if (names[inst->out_names[i] / 64] >> inst->out_names[i] % 64 & 1) return true;
    return false;
}

/* How many instructions before this one ... */
typedef struct {
    uint32_t looks;  /* look again at what others may change */
    uint32_t stores; /* store what others see                */
    uint32_t works;  /* do anything else that others see     */
} Counts;

static bool looks_again(const Inst *inst, const char *opcode) {
    if (inst->kind == INST_ATOMIC) return inst->out_name_count > 0;
    return inst->kind == INST_LOAD && (strstr(opcode, ".volatile") || strstr(opcode, ".relaxed") ||
                                       strstr(opcode, ".acquire") || strstr(opcode, ".mmio"));
}

/* Stores to generic addresses do not count: without optimisation, what a loop keeps of its own is stored so. */
static bool stores(const Inst *inst) {
    return inst->kind == INST_STORE && (inst->space == SPACE_GLOBAL || inst->space == SPACE_SHARED);
}

static bool works(const Inst *inst) {
    return inst->kind == INST_BARRIER || inst->kind == INST_SYSTEM;
}

/* Whether a value that was looked for decides when the loop from `first` to `last` ends, as that of a lock does. Registers are
 * told apart as the scoreboard does. */
static bool ends_by_what_it_sees(const Kernel *kernel, uint32_t first, uint32_t last) {
    uint64_t deciding[SCOREBOARD_NAMES / 64] = {0};
    bool has_grown = false;
    for (uint32_t i = first; i <= last; i++) {
        const Inst *inst = &kernel->insts[i];
        bool leaves = inst->kind == INST_EXIT || (kind_is_branch(inst->kind) && inst->target > last);
        if (i == last || leaves) has_grown |= names_add(deciding, inst->names);
    }
    while (has_grown) {
        has_grown = false;
        for (uint32_t i = last; i-- > first;) {
            const Inst *inst = &kernel->insts[i];
            if (!writes_any(inst, deciding)) continue;
            if (looks_again(inst, kernel->sources[i].opcode)) return true;
            has_grown |= names_add(deciding, inst->names);
        }
    }
    return false;
}

static void mark_ways_out(Kernel *kernel, uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; i++) {
        Inst *inst = &kernel->insts[i];
        if (inst->kind == INST_BRANCH && inst->target > last) inst->kind = INST_LEAVING_BRANCH;
    }
}

/* A loop is what stands between its first instruction and the branch back. Returns how many lanes may wait in. */
static uint32_t mark_branches(Arena *scratch, Kernel *kernel, uint32_t target) {
    Counts *before = arena_alloc(scratch, kernel->inst_count + 1, sizeof *before);
    uint32_t found = 0;
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        Inst *inst = &kernel->insts[i];
        before[i + 1] = (Counts){before[i].looks + looks_again(inst, kernel->sources[i].opcode),
                                 before[i].stores + stores(inst), before[i].works + works(inst)};
        if (inst->kind != INST_BRANCH || inst->target > i) continue;
        const Counts *first = &before[inst->target];
        if (before[i].looks == first->looks) continue;
        bool waits = target >= TARGET_OF_INDEPENDENT_LANES && before[i].works == first->works &&
                     (before[i].stores == first->stores || ends_by_what_it_sees(kernel, inst->target, i));
        inst->kind = waits ? INST_WAITING_BRANCH : INST_LOOKING_BRANCH;
        found += waits;
        mark_ways_out(kernel, inst->target, i);
    }
    return found;
}

/* Behind a branch back that stands within another loop that waits, lanes are still in that one. */
static void mark_inner_branches(Kernel *kernel) {
    uint32_t begins = UINT32_MAX; /* the first instruction of the loops that end behind this one */
    for (uint32_t i = kernel->inst_count; i-- > 0;) {
        Inst *inst = &kernel->insts[i];
        if (inst->kind != INST_WAITING_BRANCH) continue;
        if (begins <= i) inst->kind = INST_INNER_WAITING_BRANCH;
        if (inst->target < begins) begins = inst->target;
    }
}

void find_waiting_loops(Arena *scratch, Kernel *kernel, uint32_t target) {
    if (mark_branches(scratch, kernel, target)) mark_inner_branches(kernel);
}
