#include "core/gpu/operand_collector.h"

#include "core/sim/error.h"

/* The arrays have 2 to 8 elements: too short for the vector code that the compiler would make of it. */
static inline uint32_t first_free(const uint64_t *times, uint32_t count) {
    uint32_t best = 0;
    uint64_t least = times[0];
    for (uint32_t i = 1; i < count; i++) {
        __asm__ volatile("" : "+r"(best));
        best = times[i] < least ? i : best;
        least = times[i] < least ? times[i] : least;
    }
    return best;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

uint64_t collector_accepts_at(const OperandCollector *state, const CollectorShape *shape, UnitClass class) {
    const uint64_t *latches = state->unit[class].latch_free;
    return latches[first_free(latches, shape->shape[class].latches)];
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

/* A collector is taken the cycle after issue, or when one comes free; each operand then takes its bank for a
 * cycle. Returns the cycle of the last read and the collector. */
static uint64_t read_operands(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                              const Inst *inst, uint32_t warp, uint64_t cycle, uint64_t **collector) {
    UnitState *unit = &state->unit[class];
    *collector = &unit->collector_free[first_free(unit->collector_free, shape->shape[class].collectors)];
    uint64_t allocated = later(cycle + 1, **collector), last = allocated;
    unit->latch_free[first_free(unit->latch_free, shape->shape[class].latches)] = allocated;
    advance_banks(state, shape->banks, cycle);
    for (uint32_t i = 0; i < inst->bank_count; i++)
        last = later(last, reserve_bank(state, (inst->banks[i] + warp) & (shape->banks - 1), allocated + 1));
    if (last > allocated + 1) state->bank_conflicts += last - allocated - 1;
    return last;
}

uint64_t collector_issue(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                         const Inst *inst, uint32_t warp, uint32_t latency, uint32_t interval,
                         uint64_t cycle) {
    UnitState *unit = &state->unit[class];
    uint64_t *collector, read = read_operands(state, shape, class, inst, warp, cycle, &collector);
    uint64_t *pipeline = &unit->unit_free[first_free(unit->unit_free, shape->shape[class].units)];
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
