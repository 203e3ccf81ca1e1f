/* What the operand collector does when an instruction issues: inlined there, as it is done for each of them. */
#ifndef WW_GPU_COLLECTOR_ISSUE_H
#define WW_GPU_COLLECTOR_ISSUE_H

#include "core/gpu/sm/structures/operand_collector.h"
#include "core/sim/base/error.h"
#include "core/sim/base/times.h"

/* Fermi's, as GPGPU-Sim has them */
enum { COMMON_DISPATCH = 2, COMMON_RESULT = 2, COMMON_BANKS = MASKED_BANKS };

static inline uint32_t bank_of(uint32_t banks, uint8_t number, uint32_t warp) {
    return 1u << ((number + warp) & (banks - 1));
}

/* The banks of the registers that an instruction reads, whatever banks there are. */
static inline uint32_t banks_of_any(uint32_t banks, const Inst *inst, uint32_t warp) {
    uint32_t read = 0;
    for (uint32_t i = 0; i < inst->bank_count; i++)
        read |= bank_of(banks, inst->banks[i], warp);
    return read;
}

/* Of as many banks as Inst.bank_mask has bits, these are turned round by the warp's number, which is one instruction of the
 * host. */
static inline uint32_t turned(uint16_t mask, uint32_t warp) {
    return (uint16_t)(mask << warp % MASKED_BANKS | mask >> (-warp % MASKED_BANKS));
}

/* The banks that it reads; `clash`: two of the registers are in one. */
static inline uint32_t banks_read(uint32_t banks, const Inst *inst, uint32_t warp, uint32_t *clash) {
    *clash = inst->banks_clash;
    if (banks == MASKED_BANKS) return turned(inst->bank_mask, warp);
    uint32_t read = banks_of_any(banks, inst, warp);
    *clash = (uint32_t)__builtin_popcount(read) != inst->bank_count;
    return read;
}

/* How an instruction goes through the SM: `sub_core`, what CollectorShape has of the same names, and what that has of its
 * class. */
typedef struct {
    SubCore *sub_core;
    UnitState *unit;
    const uint8_t *behind_collector, *behind_latch;
    uint32_t units, banks, dispatch_cycles, result_cycles, dispatch_latch;
    int32_t lacks_second;
    bool has_two; /* pipelines at most */
} Way;

static inline Way way_of(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                         uint32_t warp) {
    SubCore *sub_core = &state->sub_core[sub_core_of(shape, warp)];
    return (Way){.sub_core = sub_core,
                 .unit = &sub_core->unit[class],
                 .behind_collector = shape->behind_collector[class],
                 .behind_latch = shape->behind_latch[class],
                 .units = shape->shape[class].units,
                 .lacks_second = shape->lacks_second[class],
                 .banks = shape->banks,
                 .dispatch_cycles = shape->dispatch_cycles,
                 .result_cycles = shape->result_cycles,
                 .dispatch_latch = shape->dispatch_latch};
}

/* Of a shape that is common: constants. */
static inline Way common_way(OperandCollector *state, const CollectorShape *shape, UnitClass class) {
    return (Way){.sub_core = &state->sub_core[0],
                 .unit = &state->sub_core[0].unit[class],
                 .behind_collector = shape->behind_collector[class],
                 .behind_latch = shape->behind_latch[class],
                 .lacks_second = shape->lacks_second[class],
                 .has_two = true,
                 .banks = COMMON_BANKS,
                 .dispatch_cycles = COMMON_DISPATCH,
                 .result_cycles = COMMON_RESULT,
                 .dispatch_latch = 1};
}

/* With a conflict: each operand takes its bank's first free cycle from `earliest` on. */
uint64_t collector_reserve_one_by_one(SubCore *state, uint32_t banks, const Inst *inst, uint32_t warp,
                                      uint64_t earliest, uint64_t end) __attribute__((noinline));

/* Returns the cycle of the last read, or the one before `earliest`. Mostly the operands are
 * in different banks that nobody else uses. Far beyond all contention, from `end` on, nothing is reserved. */
static inline uint64_t reserve_banks(Way way, const Inst *inst, uint32_t warp, uint64_t earliest,
                                     uint64_t end) {
    uint32_t clash, banks = banks_read(way.banks, inst, warp, &clash);
    uint32_t *taken = &way.sub_core->taken[earliest % BANK_RING];
    if (!banks) return earliest - 1;
    if (earliest >= end) return earliest;
    if (clash | (*taken & banks))
        return collector_reserve_one_by_one(way.sub_core, way.banks, inst, warp, earliest, end);
    *taken |= banks;
    return earliest;
}

/* A collector is taken the cycle after issue, or when its turn comes; each operand then takes its bank for a
 * cycle. Returns the cycle of the last read and the collector. The barrier keeps compilers from making one vector operation
 * of the two turns, which takes longer. */
static inline __attribute__((always_inline)) uint64_t read_operands(Way way, const Inst *inst, uint32_t warp,
                                                                    uint64_t cycle, uint64_t **collector) {
    UnitState *unit = way.unit;
    uint32_t next_collector = way.behind_collector[unit->next_collector];
    *collector = &unit->collector_free[unit->next_collector];
    uint64_t allocated = later_of(cycle + 1, **collector), last;
    unit->latch_free[unit->next_latch] = allocated;
    __asm__("" : "+r"(next_collector));
    unit->next_collector = next_collector;
    unit->next_latch = way.behind_latch[unit->next_latch];
    last = reserve_banks(way, inst, warp, allocated + 1, cycle + BANK_WINDOW);
    if (last > allocated + 1) way.sub_core->bank_conflicts += last - allocated - 1;
    return last;
}

/* A write at `writes` has its bank before all reads that are reserved later. */
static inline void take_bank_for_write(Way way, const Inst *inst, uint32_t warp, uint64_t cycle,
                                       uint64_t writes) {
    if (writes - cycle >= BANK_WINDOW) return;
    uint32_t *taken = &way.sub_core->taken[writes % BANK_RING];
    if (way.banks == MASKED_BANKS)
        *taken |= turned(inst->out_mask, warp);
    else if (inst->dst_count > 0)
        *taken |= bank_of(way.banks, inst->out_bank, warp);
}

/* Of up to four; mostly there are one or two. Too irregular for branches. */
static inline uint64_t *first_free(Way way) {
    uint64_t *times = way.unit->unit_free;
    uint32_t best = (times[1] | (uint64_t)(int64_t)way.lacks_second) < times[0];
    for (uint32_t i = 2; !way.has_two && i < way.units; i++)
        best += (i - best) & -(uint32_t)(times[i] < times[best]);
    return &times[best];
}

static inline __attribute__((always_inline)) uint64_t
reserve(OperandCollector *state, const CollectorShape *shape, Way way, const Inst *inst, uint32_t warp,
        uint32_t latency, uint32_t interval, uint64_t cycle) {
    uint64_t *collector, read = read_operands(way, inst, warp, cycle, &collector);
    uint64_t *pipeline = first_free(way);
    uint64_t enters = later_of(read + way.dispatch_cycles, *pipeline),
             writes = enters + latency + way.result_cycles;
    for (; state->result_bus[writes % RESULT_BUS_RING] >= shape->result_bus_width; writes++)
        ensure(writes - cycle < RESULT_BUS_RING);
    ensure(writes - cycle < RESULT_BUS_RING);
    state->result_bus[writes % RESULT_BUS_RING]++;
    take_bank_for_write(way, inst, warp, cycle, writes);
    enters = writes - latency - way.result_cycles;
    *pipeline = enters + interval;
    *collector = enters - way.dispatch_latch;
    return writes;
}

/* Whatever the shape. */
uint64_t collector_issue_any(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                             const Inst *inst, uint32_t warp, uint32_t latency, uint32_t interval,
                             uint64_t cycle) __attribute__((noinline));
uint64_t collector_issue_memory_any(OperandCollector *state, const CollectorShape *shape, const Inst *inst,
                                    uint32_t warp, uint64_t cycle) __attribute__((noinline));

/* Reserves everything for an instruction that issues now; returns the cycle of its write-back, in which
 * write_backs_begin() must be called. Code for each of the common classes: where their state lies need not be computed. */
static inline __attribute__((always_inline)) uint64_t
collector_issue(OperandCollector *state, const CollectorShape *shape, UnitClass class, const Inst *inst,
                uint32_t warp, uint32_t latency, uint32_t interval, uint64_t cycle) {
    if (__builtin_expect(!shape->is_common, 0))
        return collector_issue_any(state, shape, class, inst, warp, latency, interval, cycle);
    if (class == UNIT_SP)
        return reserve(state, shape, common_way(state, shape, UNIT_SP), inst, warp, latency, interval, cycle);
    return reserve(state, shape, common_way(state, shape, UNIT_SFU), inst, warp, latency, interval, cycle);
}

/* All sub-cores have one load/store unit. */
static inline __attribute__((always_inline)) uint64_t
reserve_memory(OperandCollector *state, Way way, const Inst *inst, uint32_t warp, uint64_t cycle) {
    uint64_t *unit_free = &state->sub_core[0].unit[UNIT_MEM].unit_free[0], *collector;
    uint64_t read = read_operands(way, inst, warp, cycle, &collector);
    uint64_t enters = later_of(read + way.dispatch_cycles, *unit_free);
    *unit_free = enters + 1;
    *collector = enters - way.dispatch_latch;
    return enters;
}

/* The same for a memory instruction, whose unit is the LSU: returns the cycle in which the LSU may begin. */
static inline __attribute__((always_inline)) uint64_t collector_issue_memory(OperandCollector *state,
                                                                             const CollectorShape *shape,
                                                                             const Inst *inst, uint32_t warp,
                                                                             uint64_t cycle) {
    if (__builtin_expect(!shape->is_common, 0))
        return collector_issue_memory_any(state, shape, inst, warp, cycle);
    return reserve_memory(state, common_way(state, shape, UNIT_MEM), inst, warp, cycle);
}

#endif
