#include "core/gpu/sm/structures/collector_issue.h"

#include <string.h>

static void set_turns(uint8_t *behind, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        behind[i] = (uint8_t)((i + 1) % count);
}

void collector_shape_init(CollectorShape *shape, bool has_units_beside) {
    shape->dispatch_latch = shape->dispatch_cycles > 1;
    shape->is_common = shape->sub_cores == 1 && shape->dispatch_cycles == COMMON_DISPATCH &&
                       shape->result_cycles == COMMON_RESULT && shape->banks == COMMON_BANKS &&
                       shape->shape[UNIT_SP].units <= 2 && shape->shape[UNIT_SFU].units <= 2 &&
                       !has_units_beside;
    for (UnitClass class = UNIT_SP; class < UNIT_CLASSES; class ++) {
        shape->lacks_second[class] = shape->shape[class].units > 1 ? 0 : -1;
        set_turns(shape->behind_collector[class], shape->shape[class].collectors);
        set_turns(shape->behind_latch[class], shape->shape[class].latches);
    }
}

void collector_enter_window(OperandCollector *state, const CollectorShape *shape, uint64_t window) {
    for (uint32_t i = 0; i < shape->sub_cores; i++) {
        uint32_t *taken = state->sub_core[i].taken;
        memset(taken + (window + 1) * BANK_WINDOW % BANK_RING, 0, BANK_WINDOW * sizeof *taken);
        if (window != state->window + 1)
            memset(taken + window * BANK_WINDOW % BANK_RING, 0, BANK_WINDOW * sizeof *taken);
    }
    state->window = window;
}

uint64_t collector_reserve_one_by_one(SubCore *state, uint32_t banks, const Inst *inst, uint32_t warp,
                                      uint64_t earliest, uint64_t end) {
    uint64_t last = earliest;
    for (uint32_t i = 0; i < inst->bank_count; i++) {
        uint32_t bank = bank_of(banks, inst->banks[i], warp);
        uint64_t read = earliest;
        while (read < end && state->taken[read % BANK_RING] & bank)
            read++;
        if (read < end) state->taken[read % BANK_RING] |= bank;
        last = later_of(last, read);
    }
    return last;
}

static void note_next_latch(OperandCollector *state, UnitClass class, uint32_t sub_core) {
    state->accepts_at[class][sub_core] = collector_accepts_at(state, sub_core, class);
}

uint64_t collector_issue_any(OperandCollector *state, const CollectorShape *shape, UnitClass class,
                             const Inst *inst, uint32_t warp, uint32_t latency, uint32_t interval,
                             uint64_t cycle) {
    Way way = way_of(state, shape, class, warp);
    uint64_t writes = reserve(state, shape, way, inst, warp, latency, interval, cycle);
    note_next_latch(state, class, sub_core_of(shape, warp));
    return writes;
}

uint64_t collector_issue_memory_any(OperandCollector *state, const CollectorShape *shape, const Inst *inst,
                                    uint32_t warp, uint64_t cycle) {
    uint64_t enters = reserve_memory(state, way_of(state, shape, UNIT_MEM, warp), inst, warp, cycle);
    note_next_latch(state, UNIT_MEM, sub_core_of(shape, warp));
    return enters;
}
