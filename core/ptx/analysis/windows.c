#include "core/ptx/analysis/windows.h"

#include "core/ptx/analysis/steps.h"
#include "core/ptx/execution/exec.h"

#include <string.h>

#define NOWHERE UINT32_MAX

/* What a walk over the instructions knows of a register. */
typedef struct {
    uint32_t last_change, last_access; /* instruction; NOWHERE: none. Accesses since the last change only */
    uint32_t accesses;                 /* since the last change                                           */
    int64_t gain;
    bool forbidden; /* it must have no window */
} Register;

typedef struct {
    const Kernel *kernel;
    Register *registers;     /* by slot */
    uint32_t *access_before; /* per access: the one before by the same register, NOWHERE: none */
    uint32_t *loops_from;    /* Fenwick tree: loops so far, by their first instruction */
    uint32_t loops;          /* so far: those that ended */
} Walk;

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

/* --- Loops ----------------------------------------------------------------------------------- */

/* A loop is a branch backwards: from its target to the branch. */
static void note_loop(Walk *walk, uint32_t first) {
    for (uint32_t at = first + 1; at <= walk->kernel->inst_count; at += at & -at, ptx_steps++)
        walk->loops_from[at]++;
    walk->loops++;
}

/* Loops that have ended and begin behind the instruction `from`; NOWHERE: behind the start. */
static uint32_t loops_behind(const Walk *walk, uint32_t from) {
    uint32_t before = 0;
    for (uint32_t at = from + 1; at; at -= at & -at, ptx_steps++)
        before += walk->loops_from[at];
    return walk->loops - before;
}

/* --- Gain ------------------------------------------------------------------------------------ */

/* A window is found out anew after each change: it pays when there are several accesses to a change. A loop
 * that does not change it outweighs what others do with its place. */
enum { LOOP = 64, CHANGE = 2 };

/* The register changes here, or the kernel ends: how often loops between its last change and here pass its
 * accesses. These are all such loops for each access, less those that end before the access (subtracted
 * when it was met) and those that begin behind it. */
static void end_stretch(Walk *walk, Register *reg) {
    if (!reg->accesses) return;
    uint64_t passes = (uint64_t)reg->accesses * loops_behind(walk, reg->last_change);
    for (uint32_t at = reg->last_access; at != NOWHERE; at = walk->access_before[at])
        passes -= loops_behind(walk, at);
    reg->gain += LOOP * (int64_t)passes;
    reg->accesses = 0;
    reg->last_access = NOWHERE;
}

static void note_access(Walk *walk, uint32_t i) {
    Register *reg = &walk->registers[walk->kernel->insts[i].src[0] / SLOT_BYTES];
    reg->gain += 1 - LOOP * (int64_t)loops_behind(walk, reg->last_change);
    reg->accesses++;
    walk->access_before[i] = reg->last_access;
    reg->last_access = i;
}

static void note_changes(Walk *walk, uint32_t i) {
    const Inst *inst = &walk->kernel->insts[i];
    for (uint32_t d = 0; d < inst->dst_count; d++) {
        if (inst->dst[d] & OPERAND_CONST) continue;
        Register *reg = &walk->registers[inst->dst[d] / SLOT_BYTES];
        if (reg->last_change == i) continue; /* named twice */
        end_stretch(walk, reg);
        reg->last_change = i;
        reg->gain -= CHANGE;
        reg->forbidden |= !may_change(inst);
    }
}

static Walk walk_instructions(Arena *scratch, const Kernel *kernel) {
    uint32_t count = kernel->inst_count;
    Walk walk = {.kernel = kernel,
                 .registers = arena_alloc(scratch, kernel->slots, sizeof *walk.registers),
                 .access_before = arena_alloc(scratch, count, sizeof *walk.access_before),
                 .loops_from = arena_alloc(scratch, count + 1, sizeof *walk.loops_from)};
    for (uint32_t slot = 0; slot < kernel->slots; slot++)
        walk.registers[slot] = (Register){.last_change = NOWHERE, .last_access = NOWHERE};
    for (uint32_t i = 0; i < count; i++) {
        const Inst *inst = &kernel->insts[i];
        if (accesses_by_register(inst)) note_access(&walk, i);
        note_changes(&walk, i);
        if (inst->kind == INST_BRANCH && inst->target <= i) note_loop(&walk, inst->target);
    }
    for (uint32_t slot = 0; slot < kernel->slots; slot++)
        end_stretch(&walk, &walk.registers[slot]);
    return walk;
}

/* --- Choice ---------------------------------------------------------------------------------- */

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

/* In the order of their first accesses. */
static Chosen choose(Arena *scratch, const Kernel *kernel) {
    Walk walk = walk_instructions(scratch, kernel);
    Chosen chosen = {.count = 0};
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        if (!accesses_by_register(&kernel->insts[i])) continue;
        uint32_t offset = kernel->insts[i].src[0];
        Register *reg = &walk.registers[offset / SLOT_BYTES];
        if (!reg->forbidden && reg->gain > 0) consider(&chosen, offset, reg->gain);
        reg->forbidden = true; /* considered once */
    }
    return chosen;
}

void assign_windows(Arena *scratch, Kernel *kernel) {
    Chosen chosen = choose(scratch, kernel);
    kernel->windows = chosen.count;
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        for (uint32_t w = 0; w < chosen.count; w++) {
            Inst *inst = &kernel->insts[i];
            bool concerns = accesses_by_register(inst) ? inst->src[0] == chosen.offset[w]
                                                       : changes(inst, chosen.offset[w]);
            inst->windows |= (uint8_t)(concerns << w);
        }
}
