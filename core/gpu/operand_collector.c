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

/* Takes the first free cycle from bank_base + `offset` on, or rather none unless `wanted`. Nothing is
 * reserved so far ahead that the window of 64 cycles would not do. */
static inline uint64_t reserve_bank(OperandCollector *state, uint32_t bank, uint64_t offset, bool wanted) {
    uint64_t free = ~state->bank_busy[bank] >> offset;
    uint64_t slot = (offset + (uint64_t)__builtin_ctzll(free | 1ull << 63)) & 63;
    state->bank_busy[bank] |= (uint64_t)wanted << slot;
    return wanted ? state->bank_base + slot : 0;
}

/* Three reads whether wanted or not, without a branch that the host could not predict, and more only when
 * there are. */
static inline uint64_t reserve_banks(OperandCollector *state, const CollectorShape *shape, const Inst *inst,
                                     uint32_t warp, uint64_t earliest) {
    uint64_t offset = earliest - state->bank_base, last = earliest - 1;
    if (offset >= 64) return inst->bank_count ? earliest : last; /* far beyond all contention */
    for (uint32_t i = 0; i < 3 || i < inst->bank_count; i++) {
        uint32_t bank = (inst->banks[i] + warp) & (shape->banks - 1);
        last = later(last, reserve_bank(state, bank, offset, i < inst->bank_count));
    }
    return last;
}

/* A collector is taken the cycle after issue, or when its turn comes; each operand then takes its bank for a
 * cycle. Returns the cycle of the last read and the collector. */
static inline uint64_t read_operands(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                                     const Inst *inst, uint32_t warp, uint64_t cycle, uint64_t **collector) {
    UnitState *unit = &state->unit[class];
    const UnitShape *counts = &shape->shape[class];
    *collector = &unit->collector_free[unit->next_collector];
    uint64_t allocated = later(cycle + 1, **collector), last;
    unit->latch_free[unit->next_latch] = allocated;
    unit->next_collector = unit->next_collector + 1 == counts->collectors ? 0 : unit->next_collector + 1;
    unit->next_latch = unit->next_latch + 1 == counts->latches ? 0 : unit->next_latch + 1;
    advance_banks(state, shape->banks, cycle);
    last = reserve_banks(state, shape, inst, warp, allocated + 1);
    if (last > allocated + 1) state->bank_conflicts += last - allocated - 1;
    return last;
}

/* A write has its bank before all reads that are reserved later. */
static void take_bank_for_write(OperandCollector *state, const CollectorShape *shape, const Inst *inst,
                                uint32_t warp, uint64_t cycle) {
    uint64_t offset = cycle - state->bank_base, wanted = inst->dst_count > 0 && offset < 64;
    state->bank_busy[(inst->out_bank + warp) & (shape->banks - 1)] |= wanted << (offset & 63);
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
    take_bank_for_write(state, shape, inst, warp, writes);
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
