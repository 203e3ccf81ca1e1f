/* What instructions of recorded kernels do: each takes its warp's next record. */
#include "core/ptx/execution/exec.h"
#include "core/sass/trace_state.h"

#include <string.h>

static uint32_t special(const ExecContext *context, uint32_t slot) {
    const uint32_t *lanes = (const uint32_t *)(context->bank[0] + slot * SLOT_BYTES);
    return lanes[0];
}

static uint64_t first_record(const SassTrace *trace, const ExecContext *context) {
    const uint32_t *grid = trace->launch.grid, *block = trace->launch.block;
    uint64_t cta = special(context, CTAID_SLOT) +
                   grid[0] * (special(context, CTAID_SLOT + 1) +
                              (uint64_t)grid[1] * special(context, CTAID_SLOT + 2));
    uint64_t thread = special(context, TID_SLOT) +
                      block[0] * (special(context, TID_SLOT + 1) +
                                  (uint64_t)block[1] * special(context, TID_SLOT + 2));
    return trace->first[cta * trace->warps_per_cta + thread / WARP_LANES];
}

/* Number of the warp's next record, from 1; 0: it has taken none. */
static uint64_t *cursor_of(const ExecContext *context) {
    return (uint64_t *)(context->bank[0] + CURSOR_SLOT * SLOT_BYTES);
}

static void show_next(const SassRecord *record, ExecContext *context) {
    context->predicates[SASS_GUARD] = ~record->lanes;
    context->next = record->inst;
}

/* Until its turn comes again, the warp's next records would leave the host's caches: those of a line or two ahead come early. */
enum { RECORDS_AHEAD = 6 };

/* Behind each record that an instruction takes there is another one, at last the exit, which takes none. */
static const SassRecord *take_record(const Inst *inst, ExecContext *context) {
    const SassTrace *trace = inst->sass;
    uint64_t *cursor = cursor_of(context);
    if (!*cursor) *cursor = first_record(trace, context) + 1;
    const SassRecord *record = &trace->records[*cursor - 1];
    ++*cursor;
    __builtin_prefetch(record + RECORDS_AHEAD);
    show_next(record + 1, context);
    return record;
}

void exec_sass_start(const Inst *inst, ExecContext *context) {
    uint64_t first = first_record(inst->sass, context);
    *cursor_of(context) = first + 1;
    show_next(&inst->sass->records[first], context);
}

void exec_sass_step(const Inst *inst, ExecContext *context) {
    take_record(inst, context);
}

void exec_sass_jump(const Inst *inst, ExecContext *context) {
    context->next = inst->sass->records[*cursor_of(context) - 1].inst;
}

void sass_find_addresses(const SassTrace *trace, const SassRecord *record, ExecContext *context) {
    const uint32_t *stored = trace->addresses + access_place(record->access);
    AddressForm form = access_form(record->access);
    uint32_t first_lane = (uint32_t)__builtin_ctz(record->lanes);
    uint64_t base, lowest = UINT64_MAX, highest = 0;
    memcpy(&base, stored, sizeof base);
    if (access_space(record->access) == SPACE_LOCAL) base -= trace->local_lowest;
    stored += 2;
    for (uint32_t lanes = record->lanes, i = 0; lanes; lanes &= lanes - 1, i++) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        uint64_t address = base;
        if (form == ADDRESSES_STRIDED)
            address += (uint64_t)(int64_t)(int32_t)stored[0] * (lane - first_lane);
        else if (form == ADDRESSES_NEAR)
            address += (uint64_t)(int64_t)(int32_t)stored[i];
        else
            memcpy(&address, stored + 2 * i, sizeof address);
        context->address[lane] = address;
        lowest = address < lowest ? address : lowest;
        highest = address > highest ? address : highest;
    }
    context->lowest = lowest;
    context->highest = highest;
    context->space = access_space(record->access);
}

void exec_sass_access(const Inst *inst, ExecContext *context) {
    const SassRecord *record = take_record(inst, context);
    if (record->lanes) sass_find_addresses(inst->sass, record, context);
}

/* Lanes 8 m to 8 m + 7 name the rows of matrix m, and they alone access memory. */
void exec_sass_rows(const Inst *inst, ExecContext *context) {
    const SassRecord *record = take_record(inst, context);
    if (!record->lanes) return;
    sass_find_addresses(inst->sass, record, context);
    uint32_t rows = inst->detail < 4 ? (1u << 8 * inst->detail) - 1 : UINT32_MAX;
    if (context->active & rows) context->active &= rows;
}

/* It travels, and changes nothing where it is performed. */
void exec_sass_atomic(const Inst *inst, ExecContext *context) {
    const SassRecord *record = take_record(inst, context);
    if (!record->lanes) return;
    sass_find_addresses(inst->sass, record, context);
    AtomicPayload *payload = context->atomic;
    if (context->space != SPACE_GLOBAL || !payload) return;
    payload->mask = context->active;
    payload->bytes = inst->element_bytes < 4 ? 2 : 4;
    payload->operation = ATOMIC_NOTHING;
    memcpy(payload->address, context->address, sizeof payload->address);
}
