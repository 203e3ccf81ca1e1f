/* Register read, dispatch and execution of one SM by reservation: when an instruction issues, the times at
 * which its operands are read, it enters its unit and its result is written back follow from what is already
 * reserved. So nothing is done per cycle between issue and write-back.
 *
 * Without contention an instruction issued at cycle t has a collector at t + 1, reads its operands at t + 2, enters its
 * unit `dispatch_cycles` after that, and a dependent one issues `latency` and `result_cycles` later: with two each, as in
 * Fermi's SM here, at t + 6 + latency.
 *
 * An SM may be divided into sub-cores (Volta's processing blocks). Each has collectors, units and register banks of its own,
 * and the warps whose number has the same remainder; all share the load/store unit and the result bus. */
#ifndef WW_GPU_OPERAND_COLLECTOR_H
#define WW_GPU_OPERAND_COLLECTOR_H

#include "core/ptx/instructions/inst.h"

enum {
    BANK_WINDOW = 64, /* cycles from issue within which banks are reserved */
    BANK_RING = 2 * BANK_WINDOW,
    MAX_COLLECTORS = 16,
    MAX_ISSUE_LATCHES = 4,
    MAX_UNITS = 4,
    MAX_RESULT_BUS = 8,
    MAX_SUB_CORES = 4,
    RESULT_BUS_RING =
        2048, /* cycles ahead for which result-bus slots are kept, the wait for a unit included */
};

typedef enum { UNIT_SP, UNIT_SFU, UNIT_INT, UNIT_DP, UNIT_MATRIX, UNIT_MEM, UNIT_CLASSES } UnitClass;

/* Parameters of one class of units, of each sub-core. */
typedef struct {
    uint32_t units;      /* pipelines                                             */
    uint32_t collectors; /* operand collector units                               */
    uint32_t latches;    /* issue-to-collector registers: issue stalls when all are full */
} UnitShape;

/* When each pipeline, collector and latch is free again, in core cycles. Collectors and latches are used in
 * turn: an instruction takes the one that was given out longest ago. Plain data. */
typedef struct {
    uint64_t unit_free[MAX_UNITS];
    uint64_t collector_free[MAX_COLLECTORS];
    uint64_t latch_free[MAX_ISSUE_LATCHES];
    uint32_t next_collector, next_latch;
} UnitState;

typedef struct {
    UnitState
        unit[UNIT_CLASSES];    /* of the load/store unit's the pipeline counts in the first sub-core alone */
    uint32_t taken[BANK_RING]; /* by cycle % BANK_RING: the banks whose port is taken then, a bit each */
    uint64_t bank_conflicts;   /* cycles by which reads were later than without conflicts */
} SubCore;

typedef struct {
    uint8_t result_bus[RESULT_BUS_RING]; /* by cycle % RESULT_BUS_RING: results that are to be written then */
    SubCore sub_core[MAX_SUB_CORES];
    uint64_t window; /* cycle / BANK_WINDOW: `taken` is of this window and the next one */
    /* collector_accepts_at(), unless the shape is common: side by side, all sub-cores are asked at once. */
    uint64_t accepts_at[UNIT_CLASSES][MAX_SUB_CORES];
} OperandCollector;

typedef struct {
    UnitShape shape[UNIT_CLASSES];
    uint32_t sub_cores;        /* power of two                                              */
    uint32_t banks;            /* power of two; of each sub-core                            */
    uint32_t result_bus_width; /* write-backs per cycle                                     */
    uint32_t dispatch_cycles;  /* from the read of the last operand to the unit; at least 1 */
    uint32_t result_cycles;    /* from the end of the unit's latency to write-back          */
    /* derived */
    uint32_t dispatch_latch; /* 1: an instruction leaves its collector a cycle before it enters the unit */
    uint32_t is_common; /* a flag: one sub-core, SP and SFU alone, two pipelines at most, Fermi's stages and
                              * banks: has code of its own */
    int32_t lacks_second[UNIT_CLASSES]; /* all ones where there is one pipeline, else 0 */
    /* Behind a collector, a latch, of a class, which one is next in turn. */
    uint8_t behind_collector[UNIT_CLASSES][MAX_COLLECTORS];
    uint8_t behind_latch[UNIT_CLASSES][MAX_ISSUE_LATCHES];
} CollectorShape;

/* Derives what is derived. Units beside: others than SP, SFU and LSU have instructions. */
void collector_shape_init(CollectorShape *shape, bool has_units_beside);

static inline uint32_t sub_core_of(const CollectorShape *shape, uint32_t warp) {
    return warp & (shape->sub_cores - 1);
}

/* The first cycle in which the sub-core has a latch for one more instruction of this class. */
static inline uint64_t collector_accepts_at(const OperandCollector *state, uint32_t sub_core,
                                            UnitClass class) {
    const UnitState *unit = &state->sub_core[sub_core].unit[class];
    return unit->latch_free[unit->next_latch];
}
static inline bool collector_accepts(const OperandCollector *state, uint32_t sub_core, UnitClass class,
                                     uint64_t cycle) {
    return collector_accepts_at(state, sub_core, class) <= cycle;
}

/* The cycle lies in another window than the last one: of the next window nothing has been reserved. */
void collector_enter_window(OperandCollector *state, const CollectorShape *shape, uint64_t window);

/* To be called before instructions issue in a cycle. */
static inline void collector_begin(OperandCollector *state, const CollectorShape *shape, uint64_t cycle) {
    if (__builtin_expect(cycle / BANK_WINDOW != state->window, 0))
        collector_enter_window(state, shape, cycle / BANK_WINDOW);
}

#endif
