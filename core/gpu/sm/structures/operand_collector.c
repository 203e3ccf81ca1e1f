#include "core/gpu/sm/structures/operand_collector.h"

#include "core/sim/base/error.h"
#include "core/sim/base/times.h"

enum { COMMON_DISPATCH = 2, COMMON_RESULT = 2 }; /* Fermi's, as GPGPU-Sim has them */

void collector_shape_init(CollectorShape *shape, bool has_units_beside) {
    shape->dispatch_latch = shape->dispatch_cycles > 1;
    shape->is_common = shape->sub_cores == 1 && shape->dispatch_cycles == COMMON_DISPATCH &&
                       shape->result_cycles == COMMON_RESULT && !has_units_beside;
}

/* Around the ring, without a branch that the host could not predict. The barriers keep compilers from making one,
 * and from turning two of these that stand side by side into one vector operation, which takes longer. */
static inline uint32_t next_in_turn(uint32_t i, uint32_t count) {
    uint32_t next = i + 1,
             goes_on = (uint32_t)((int32_t)(next - count) >> 31); /* all ones while it is less */
    __asm__("" : "+r"(goes_on));
    return next & goes_on;
}

/* What an entry of `taken` says of its cycle: the banks whose port is taken, in the lower half; the upper half is what
 * every entry of that cycle has. */
static inline uint64_t window_of(uint64_t cycle) {
    return cycle / BANK_WINDOW << 32;
}
static inline uint64_t taken_banks(uint64_t entry, uint64_t cycle) {
    uint64_t banks = entry ^ window_of(cycle);
    return banks >> 32 ? 0 : banks;
}

static inline void take_banks(SubCore *state, uint64_t cycle, uint32_t banks) {
    uint64_t *entry = &state->taken[cycle % BANK_WINDOW];
    *entry = window_of(cycle) | taken_banks(*entry, cycle) | banks;
}

static inline uint32_t bank_of(const CollectorShape *shape, uint8_t number, uint32_t warp) {
    return 1u << ((number + warp) & (shape->banks - 1));
}

/* The banks of the registers that an instruction reads, whatever banks there are. */
static uint32_t banks_of_any(const CollectorShape *shape, const Inst *inst, uint32_t warp) {
    uint32_t banks = 0;
    for (uint32_t i = 0; i < inst->bank_count; i++)
        banks |= bank_of(shape, inst->banks[i], warp);
    return banks;
}

/* The same; `clash`: two of the registers are in one bank. Of as many banks as Inst.bank_mask has bits, these are turned
 * round by the warp's number, which is one instruction of the host. */
static inline uint32_t banks_read(const CollectorShape *shape, const Inst *inst, uint32_t warp,
                                  uint32_t *clash) {
    uint16_t mask = inst->bank_mask;
    *clash = inst->banks_clash;
    if (__builtin_expect(shape->banks == MASKED_BANKS, 1))
        return (uint16_t)(mask << warp % MASKED_BANKS | mask >> (-warp % MASKED_BANKS));
    uint32_t banks = banks_of_any(shape, inst, warp);
    *clash = (uint32_t)__builtin_popcount(banks) != inst->bank_count;
    return banks;
}

/* With a conflict: each operand takes its bank's first free cycle from `earliest` on. */
static uint64_t reserve_one_by_one(SubCore *state, const CollectorShape *shape, const Inst *inst,
                                   uint32_t warp, uint64_t earliest, uint64_t end) {
    uint64_t last = earliest;
    for (uint32_t i = 0; i < inst->bank_count; i++) {
        uint32_t bank = bank_of(shape, inst->banks[i], warp);
        uint64_t read = earliest;
        while (read < end && taken_banks(state->taken[read % BANK_WINDOW], read) & bank)
            read++;
        if (read < end) take_banks(state, read, bank);
        last = later_of(last, read);
    }
    return last;
}

/* Returns the cycle of the last read, or the one before `earliest`. Mostly the operands are
 * in different banks that nobody else uses. Far beyond all contention, from `end` on, nothing is reserved. */
static inline uint64_t reserve_banks(SubCore *state, const CollectorShape *shape, const Inst *inst,
                                     uint32_t warp, uint64_t earliest, uint64_t end) {
    uint32_t clash, banks = banks_read(shape, inst, warp, &clash);
    uint64_t *entry = &state->taken[earliest % BANK_WINDOW], taken = taken_banks(*entry, earliest);
    if (!banks) return earliest - 1;
    if (earliest >= end) return earliest;
    if (clash | (taken & banks)) return reserve_one_by_one(state, shape, inst, warp, earliest, end);
    *entry = window_of(earliest) | taken | banks;
    return earliest;
}

/* A collector is taken the cycle after issue, or when its turn comes; each operand then takes its bank for a
 * cycle. Returns the cycle of the last read and the collector. */
static inline __attribute__((always_inline)) uint64_t
read_operands(SubCore *state, const CollectorShape *shape, UnitClass class, const Inst *inst, uint32_t warp,
              uint64_t cycle, uint64_t **collector) {
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
static inline void take_bank_for_write(SubCore *state, const CollectorShape *shape, const Inst *inst,
                                       uint32_t warp, uint64_t cycle, uint64_t writes) {
    if (inst->dst_count > 0 && writes - cycle < BANK_WINDOW)
        take_banks(state, writes, bank_of(shape, inst->out_bank, warp));
}

/* Of up to four; mostly there are one or two. Too irregular for branches. */
static inline uint64_t *first_free(uint64_t *times, uint32_t count) {
    uint32_t best = (times[1] < times[0]) & (count != 1);
    for (uint32_t i = 2; i < count; i++)
        best += (i - best) & -(uint32_t)(times[i] < times[best]);
    return &times[best];
}

/* How an instruction goes through the SM: `sub_core` and what CollectorShape has of the same names. */
typedef struct {
    SubCore *sub_core;
    uint32_t dispatch_cycles, result_cycles, dispatch_latch;
} Way;

static inline Way way_of(OperandCollector *state, const CollectorShape *shape, uint32_t warp) {
    return (Way){.sub_core = &state->sub_core[sub_core_of(shape, warp)],
                 .dispatch_cycles = shape->dispatch_cycles,
                 .result_cycles = shape->result_cycles,
                 .dispatch_latch = shape->dispatch_latch};
}

/* Of a shape that is common: constants. */
static inline Way common_way(OperandCollector *state) {
    return (Way){.sub_core = &state->sub_core[0],
                 .dispatch_cycles = COMMON_DISPATCH,
                 .result_cycles = COMMON_RESULT,
                 .dispatch_latch = 1};
}

static inline __attribute__((always_inline)) uint64_t
reserve(OperandCollector *state, const CollectorShape *shape, Way way, UnitClass class, const Inst *inst,
        uint32_t warp, uint32_t latency, uint32_t interval, uint64_t cycle) {
    uint64_t *collector, read = read_operands(way.sub_core, shape, class, inst, warp, cycle, &collector);
    uint64_t *pipeline = first_free(way.sub_core->unit[class].unit_free, shape->shape[class].units);
    uint64_t enters = later_of(read + way.dispatch_cycles, *pipeline),
             writes = enters + latency + way.result_cycles;
    for (; state->result_bus[writes % RESULT_BUS_RING] >= shape->result_bus_width; writes++)
        ensure(writes - cycle < RESULT_BUS_RING);
    ensure(writes - cycle < RESULT_BUS_RING);
    state->result_bus[writes % RESULT_BUS_RING]++;
    take_bank_for_write(way.sub_core, shape, inst, warp, cycle, writes);
    enters = writes - latency - way.result_cycles;
    *pipeline = enters + interval;
    *collector = enters - way.dispatch_latch;
    return writes;
}

static __attribute__((noinline)) uint64_t issue_any(OperandCollector *state, const CollectorShape *shape,
                                                    UnitClass class, const Inst *inst, uint32_t warp,
                                                    uint32_t latency, uint32_t interval, uint64_t cycle) {
    Way way = way_of(state, shape, warp);
    return reserve(state, shape, way, class, inst, warp, latency, interval, cycle);
}

/* Code for each of the common classes: where their state lies need not be computed. */
uint64_t collector_issue(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                         const Inst *inst, uint32_t warp, uint32_t latency, uint32_t interval,
                         uint64_t cycle) {
    if (__builtin_expect(!shape->is_common, 0))
        return issue_any(state, shape, class, inst, warp, latency, interval, cycle);
    Way way = common_way(state);
    return class == UNIT_SP ? reserve(state, shape, way, UNIT_SP, inst, warp, latency, interval, cycle)
                            : reserve(state, shape, way, UNIT_SFU, inst, warp, latency, interval, cycle);
}

/* All sub-cores have one load/store unit. */
static inline __attribute__((always_inline)) uint64_t reserve_memory(OperandCollector *state,
                                                                     const CollectorShape *shape, Way way,
                                                                     const Inst *inst, uint32_t warp,
                                                                     uint64_t cycle) {
    uint64_t *unit_free = &state->sub_core[0].unit[UNIT_MEM].unit_free[0], *collector;
    uint64_t read = read_operands(way.sub_core, shape, UNIT_MEM, inst, warp, cycle, &collector);
    uint64_t enters = later_of(read + way.dispatch_cycles, *unit_free);
    *unit_free = enters + 1;
    *collector = enters - way.dispatch_latch;
    return enters;
}

uint64_t collector_issue_memory(OperandCollector *state, const CollectorShape *shape, const Inst *inst,
                                uint32_t warp, uint64_t cycle) {
    if (__builtin_expect(shape->is_common, 1))
        return reserve_memory(state, shape, common_way(state), inst, warp, cycle);
    return reserve_memory(state, shape, way_of(state, shape, warp), inst, warp, cycle);
}
