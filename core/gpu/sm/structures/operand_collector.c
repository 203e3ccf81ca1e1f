#include "core/gpu/sm/structures/operand_collector.h"

#include "core/sim/base/error.h"
#include "core/sim/base/times.h"

/* Around the ring, without a branch that the host could not predict. */
static inline uint32_t next_in_turn(uint32_t i, uint32_t count) {
    return (i + 1) & -(uint32_t)(i + 1 != count);
}

/* Banks whose port is taken in a cycle. */
static inline uint32_t taken_banks(const OperandCollector *state, uint64_t cycle) {
    uint64_t entry = state->taken[cycle % BANK_WINDOW];
    bool current = entry >> 32 == (uint32_t)(cycle / BANK_WINDOW);
    return (uint32_t)entry & -(uint32_t)current;
}

static inline void take_banks(OperandCollector *state, uint64_t cycle, uint32_t banks) {
    state->taken[cycle % BANK_WINDOW] = (uint64_t)(uint32_t)(cycle / BANK_WINDOW) << 32 |
                                        taken_banks(state, cycle) | banks;
}

static inline uint32_t bank_of(const CollectorShape *shape, uint8_t number, uint32_t warp) {
    return 1u << ((number + warp) & (shape->banks - 1));
}

/* The banks of the registers that an instruction reads: their numbers' remainders, and round by the warp. */
static inline uint32_t banks_read(const CollectorShape *shape, const Inst *inst, uint32_t warp) {
    uint64_t banks = (uint64_t)inst->bank_mask << (warp & (shape->banks - 1));
    for (uint32_t width = 64; width > shape->banks; width /= 2)
        banks |= banks >> width / 2;
    return (uint32_t)(banks & ((1ull << shape->banks) - 1));
}

/* With a conflict: each operand takes its bank's first free cycle from `earliest` on. */
static uint64_t reserve_one_by_one(OperandCollector *state, const CollectorShape *shape, const Inst *inst,
                                   uint32_t warp, uint64_t earliest, uint64_t end) {
    uint64_t last = earliest;
    for (uint32_t i = 0; i < inst->bank_count; i++) {
        uint32_t bank = bank_of(shape, inst->banks[i], warp);
        uint64_t read = earliest;
        while (read < end && taken_banks(state, read) & bank)
            read++;
        if (read < end) take_banks(state, read, bank);
        last = later_of(last, read);
    }
    return last;
}

/* Returns the cycle of the last read, or the one before `earliest`. Mostly the operands are
 * in different banks that nobody else uses. Far beyond all contention, from `end` on, nothing is reserved. */
static inline uint64_t reserve_banks(OperandCollector *state, const CollectorShape *shape, const Inst *inst,
                                     uint32_t warp, uint64_t earliest, uint64_t end) {
    uint32_t banks = banks_read(shape, inst, warp);
    if (inst->bank_count == 0) return earliest - 1;
    if (earliest >= end) return earliest;
    if ((uint32_t)__builtin_popcount(banks) != inst->bank_count || taken_banks(state, earliest) & banks)
        return reserve_one_by_one(state, shape, inst, warp, earliest, end);
    take_banks(state, earliest, banks);
    return earliest;
}

/* A collector is taken the cycle after issue, or when its turn comes; each operand then takes its bank for a
 * cycle. Returns the cycle of the last read and the collector. */
static inline uint64_t read_operands(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                                     const Inst *inst, uint32_t warp, uint64_t cycle, uint64_t **collector) {
    UnitState *unit = &state->unit[class];
    const UnitShape *counts = &shape->shape[class];
    *collector = &unit->collector_free[unit->next_collector];
    uint64_t allocated = later_of(cycle + 1, **collector), last;
    unit->latch_free[unit->next_latch] = allocated;
    unit->next_collector = next_in_turn(unit->next_collector, counts->collectors);
    unit->next_latch = next_in_turn(unit->next_latch, counts->latches);
    last = reserve_banks(state, shape, inst, warp, allocated + 1, cycle + BANK_WINDOW);
    if (last > allocated + 1) state->bank_conflicts += last - allocated - 1;
    return last;
}

/* A write at `writes` has its bank before all reads that are reserved later. */
static inline void take_bank_for_write(OperandCollector *state, const CollectorShape *shape, const Inst *inst,
                                       uint32_t warp, uint64_t cycle, uint64_t writes) {
    if (inst->dst_count > 0 && writes - cycle < BANK_WINDOW)
        take_banks(state, writes, bank_of(shape, inst->out_bank, warp));
}

/* A loop over one to four: too short for the vector code that the compiler would make of it, and too
 * irregular for a branch. */
static inline uint64_t *first_free(uint64_t *times, uint32_t count) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) {
        __asm__ volatile("" : "+r"(best));
        best += (i - best) & -(uint32_t)(times[i] < times[best]);
    }
    return &times[best];
}

uint64_t collector_issue(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                         const Inst *inst, uint32_t warp, uint32_t latency, uint32_t interval,
                         uint64_t cycle) {
    UnitState *unit = &state->unit[class];
    uint64_t *collector, read = read_operands(state, shape, class, inst, warp, cycle, &collector);
    uint64_t *pipeline = first_free(unit->unit_free, shape->shape[class].units);
    uint64_t enters = later_of(read + 2, *pipeline), writes;
    for (;; enters++) {
        writes = enters + latency + 2;
        ensure(writes - cycle < RESULT_BUS_RING);
        if (state->result_bus[writes % RESULT_BUS_RING] < shape->result_bus_width) break;
    }
    state->result_bus[writes % RESULT_BUS_RING]++;
    take_bank_for_write(state, shape, inst, warp, cycle, writes);
    *pipeline = enters + interval;
    *collector = enters - 1;
    return writes;
}

uint64_t collector_issue_memory(OperandCollector *state, const CollectorShape *shape, const Inst *inst,
                                uint32_t warp, uint64_t cycle) {
    UnitState *unit = &state->unit[UNIT_MEM];
    uint64_t *collector, read = read_operands(state, shape, UNIT_MEM, inst, warp, cycle, &collector);
    uint64_t enters = later_of(read + 2, unit->unit_free[0]);
    unit->unit_free[0] = enters + 1;
    *collector = enters - 1;
    return enters;
}
