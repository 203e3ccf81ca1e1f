/* Register read, dispatch and execution of one SM by reservation: when an instruction issues, the times at
 * which its operands are read, it enters its unit and its result is written back follow from what is already
 * reserved. So nothing is done per cycle between issue and write-back.
 *
 * Without contention an instruction issued at cycle t enters its unit at t + 4 (collector, bank read,
 * dispatch) and a dependent one issues at t + 6 + latency. */
#ifndef WW_GPU_OPERAND_COLLECTOR_H
#define WW_GPU_OPERAND_COLLECTOR_H

#include "core/ptx/instructions/inst.h"

enum {
    BANK_WINDOW = 64, /* cycles from issue within which banks are reserved */
    MAX_COLLECTORS = 16,
    MAX_ISSUE_LATCHES = 4,
    MAX_UNITS = 4,
    MAX_RESULT_BUS = 8,
    RESULT_BUS_RING =
        2048, /* cycles ahead for which result-bus slots are kept, the wait for a unit included */
};

typedef enum { UNIT_SP, UNIT_SFU, UNIT_MEM, UNIT_CLASSES } UnitClass;

/* Parameters of one class of units. */
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
    UnitState unit[UNIT_CLASSES];
    /* By cycle % BANK_WINDOW: the banks whose port is taken in that cycle, a bit each, and above them
     * cycle / BANK_WINDOW, so that an entry is void once its cycle has passed. */
    uint64_t taken[BANK_WINDOW];
    uint64_t bank_conflicts;             /* cycles by which reads were later than without conflicts */
    uint8_t result_bus[RESULT_BUS_RING]; /* by cycle % RESULT_BUS_RING: results that are to be written then */
} OperandCollector;

typedef struct {
    UnitShape shape[UNIT_CLASSES];
    uint32_t banks;            /* power of two              */
    uint32_t result_bus_width; /* write-backs per cycle     */
} CollectorShape;

/* The first cycle in which there is a latch for one more instruction of this class. */
static inline uint64_t collector_accepts_at(const OperandCollector *state, UnitClass class) {
    return state->unit[class].latch_free[state->unit[class].next_latch];
}
static inline bool collector_accepts(const OperandCollector *state, UnitClass class, uint64_t cycle) {
    return collector_accepts_at(state, class) <= cycle;
}

/* Reserves everything for an instruction that issues now; returns the cycle of its write-back, in which
 * write_backs_begin() must be called. */
uint64_t collector_issue(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                         const Inst *inst, uint32_t warp, uint32_t latency, uint32_t interval,
                         uint64_t cycle);
/* The same for a memory instruction, whose unit is the LSU: returns the cycle in which the LSU may begin. */
uint64_t collector_issue_memory(OperandCollector *state, const CollectorShape *shape, const Inst *inst,
                                uint32_t warp, uint64_t cycle);

#endif
