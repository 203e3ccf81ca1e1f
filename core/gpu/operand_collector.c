#include "core/gpu/operand_collector.h"

#include "core/sim/error.h"

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void advance_banks(OperandCollector *state, uint32_t banks, uint64_t cycle) {
    uint64_t passed = cycle - state->bank_base;
    if (passed == 0) return;
    for (uint32_t i = 0; i < banks; i++)
        state->bank_busy[i] = passed < 64 ? state->bank_busy[i] >> passed : 0;
    state->bank_base = cycle;
}

/* Takes the bank's first free cycle from `earliest` on. Beyond the window of 64 cycles there is no contention
 * left. */
static uint64_t reserve_bank(OperandCollector *state, uint32_t bank, uint64_t earliest) {
    uint64_t offset = earliest - state->bank_base;
    if (offset >= 64) return earliest;
    uint64_t free = ~state->bank_busy[bank] >> offset;
    if (free == 0) return state->bank_base + 64;
    offset += (uint64_t)__builtin_ctzll(free);
    state->bank_busy[bank] |= 1ull << offset;
    return state->bank_base + offset;
}

/* A collector is taken the cycle after issue, or when its turn comes; each operand then takes its bank for a
 * cycle. Returns the cycle of the last read and the collector. */
static inline uint64_t read_operands(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                                     const Inst *inst, uint32_t warp, uint64_t cycle, uint64_t **collector) {
    UnitState *unit = &state->unit[class];
    const UnitShape *counts = &shape->shape[class];
    *collector = &unit->collector_free[unit->next_collector];
    uint64_t allocated = later(cycle + 1, **collector), last = allocated;
    unit->latch_free[unit->next_latch] = allocated;
    unit->next_collector = unit->next_collector + 1 == counts->collectors ? 0 : unit->next_collector + 1;
    unit->next_latch = unit->next_latch + 1 == counts->latches ? 0 : unit->next_latch + 1;
    advance_banks(state, shape->banks, cycle);
    for (uint32_t i = 0; i < inst->bank_count; i++)
        last = later(last, reserve_bank(state, (inst->banks[i] + warp) & (shape->banks - 1), allocated + 1));
    if (last > allocated + 1) state->bank_conflicts += last - allocated - 1;
    return last;
}

/* A loop over one to four: too short for the vector code that the compiler would make of it. */
static inline uint64_t *first_free(uint64_t *times, uint32_t count) {
    uint64_t *best = times;
    for (uint32_t i = 1; i < count; i++) {
        __asm__ volatile("" : "+r"(best));
        if (times[i] < *best) best = &times[i];
    }
    return best;
}

uint64_t collector_issue(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                         const Inst *inst, uint32_t warp, uint32_t latency, uint32_t interval,
                         uint64_t cycle) {
    UnitState *unit = &state->unit[class];
    uint64_t *collector, read = read_operands(state, shape, class, inst, warp, cycle, &collector);
    uint64_t *pipeline = first_free(unit->unit_free, shape->shape[class].units);
    uint64_t enters = later(read + 2, *pipeline), writes;
    for (;; enters++) {
        writes = enters + latency + 2;
        ensure(writes - cycle < RESULT_BUS_RING);
        if (state->result_bus[writes % RESULT_BUS_RING] < shape->result_bus_width) break;
    }
    state->result_bus[writes % RESULT_BUS_RING]++;
    *pipeline = enters + interval;
    *collector = enters - 1;
    return writes;
}

uint64_t collector_issue_memory(OperandCollector *state, const CollectorShape *shape, const Inst *inst,
                                uint32_t warp, uint64_t cycle) {
    UnitState *unit = &state->unit[UNIT_MEM];
    uint64_t *collector, read = read_operands(state, shape, UNIT_MEM, inst, warp, cycle, &collector);
    uint64_t enters = later(read + 2, unit->unit_free[0]);
    unit->unit_free[0] = enters + 1;
    *collector = enters - 1;
    return enters;
}
