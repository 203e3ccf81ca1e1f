#include "core/ptx/windows.h"

#include "core/ptx/exec.h"

#include <string.h>

/* Of one register, by instruction: how many before it access shared memory by it, or change it. */
typedef struct {
    uint32_t *accesses, *changes;
} Counts;

typedef struct {
    uint32_t offset[MAX_WINDOWS]; /* of the register */
    int64_t gain[MAX_WINDOWS];
    uint32_t count;
} Chosen;

static bool accesses_by_register(const Inst *inst) {
    return (inst->kind == INST_LOAD || inst->kind == INST_STORE) && inst->space == SPACE_SHARED &&
           inst->element_bytes == 4 && inst->elements == 1 && !(inst->src[0] & OPERAND_CONST);
}

static bool changes(const Inst *inst, uint32_t offset) {
    for (uint32_t i = 0; i < inst->dst_count; i++)
        if (inst->dst[i] == offset) return true;
    return false;
}

/* Instructions that change a register when they execute, and that go by no window themselves. */
static bool may_change(const Inst *inst) {
    return inst->kind == INST_ALU || (inst->kind == INST_LOAD && inst->space != SPACE_SHARED);
}

/* False when the register must have no window. */
static bool count_register(const Kernel *kernel, uint32_t offset, const Counts *counts) {
    counts->accesses[0] = counts->changes[0] = 0;
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        const Inst *inst = &kernel->insts[i];
        bool changed = changes(inst, offset);
        if (changed && !may_change(inst)) return false;
        counts->accesses[i + 1] = counts->accesses[i] +
                                  (accesses_by_register(inst) && inst->src[0] == offset);
        counts->changes[i + 1] = counts->changes[i] + changed;
    }
    return true;
}

/* A window is found out anew after each change: it pays when there are several accesses to a change. A loop
 * that does not change it outweighs what others do with its place. */
static int64_t gain_of(const Kernel *kernel, const Counts *counts) {
    enum { LOOP = 64 };
    uint32_t all = kernel->inst_count;
    int64_t gain = (int64_t)counts->accesses[all] - 2 * (int64_t)counts->changes[all];
    for (uint32_t i = 0; i < all; i++) {
        const Inst *inst = &kernel->insts[i];
        if (inst->kind != INST_BRANCH || inst->target > i) continue;
        if (counts->changes[i + 1] == counts->changes[inst->target])
            gain += LOOP * (int64_t)(counts->accesses[i + 1] - counts->accesses[inst->target]);
    }
    return gain;
}

static void consider(Chosen *chosen, uint32_t offset, int64_t gain) {
    uint32_t at = chosen->count;
    if (chosen->count == MAX_WINDOWS) {
        at = 0;
        for (uint32_t i = 1; i < MAX_WINDOWS; i++)
            if (chosen->gain[i] < chosen->gain[at]) at = i;
        if (gain <= chosen->gain[at]) return;
    } else {
        chosen->count++;
    }
    chosen->offset[at] = offset;
    chosen->gain[at] = gain;
}

void assign_windows(Arena *scratch, Kernel *kernel) {
    Counts counts = {arena_alloc(scratch, kernel->inst_count + 1, sizeof *counts.accesses),
                     arena_alloc(scratch, kernel->inst_count + 1, sizeof *counts.changes)};
    bool *seen = arena_alloc(scratch, kernel->slots, sizeof *seen);
    Chosen chosen = {.count = 0};
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        uint32_t offset = kernel->insts[i].src[0];
        if (!accesses_by_register(&kernel->insts[i]) || seen[offset / SLOT_BYTES]) continue;
        seen[offset / SLOT_BYTES] = true;
        if (!count_register(kernel, offset, &counts)) continue;
        int64_t gain = gain_of(kernel, &counts);
        if (gain > 0) consider(&chosen, offset, gain);
    }
    kernel->windows = chosen.count;
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        for (uint32_t w = 0; w < chosen.count; w++) {
            Inst *inst = &kernel->insts[i];
            bool concerns = accesses_by_register(inst) ? inst->src[0] == chosen.offset[w]
                                                       : changes(inst, chosen.offset[w]);
            inst->windows |= (uint8_t)(concerns << w);
        }
}
