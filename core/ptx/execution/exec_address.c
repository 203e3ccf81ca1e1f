#include "core/ptx/execution/exec_address.h"

typedef struct {
    uint64_t lowest, highest, low_bits;
} Extent;

/* Hosts compare signed vectors: with the highest bit flipped these are in the same order. */
static inline Extent extent_of_lanes(const uint64_t address[WARP_LANES]) {
    int64_t lowest = INT64_MAX, highest = INT64_MIN;
    uint64_t low_bits = 0, highest_bit = 1ull << 63;
    FOR_LANES {
        int64_t ordered = (int64_t)(address[lane] ^ highest_bit);
        lowest = ordered < lowest ? ordered : lowest;
        highest = ordered > highest ? ordered : highest;
        low_bits |= address[lane];
    }
    return (Extent){(uint64_t)lowest ^ highest_bit, (uint64_t)highest ^ highest_bit, low_bits};
}

static inline Extent extent_of(ExecContext *context) {
    uint64_t first = context->address[0];
    bool alike = are_alike(context->address);
    Extent extent = alike ? (Extent){first, first, first} : extent_of_lanes(context->address);
    context->lowest = extent.lowest;
    context->highest = extent.highest;
    return extent;
}

void keep_lanes(ExecContext *context, uint32_t lanes) {
    context->active = lanes;
    fill_inactive_addresses(context);
    if (lanes) extent_of(context);
}

uint32_t lanes_in_memory(const ExecContext *context, uint32_t lanes) {
    uint32_t inside = 0;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        inside |= (uint32_t)view_covers(context->view, context->address[lane], 1) << lane;
    }
    return inside;
}

static AccessPattern pattern_of(Extent extent) {
    return extent.lowest == extent.highest ? ACCESS_UNIFORM : ACCESS_SCATTERED;
}

AccessPattern check_global(ExecContext *context, uint64_t bytes) {
    MemoryView *view = context->view;
    Extent extent = extent_of(context);
    bool aligned = (extent.low_bits & (bytes - 1)) == 0;
    if (aligned && extent.highest <= UINT64_MAX - bytes &&
        view_covers(view, extent.lowest, extent.highest - extent.lowest + bytes))
        return pattern_of(extent);
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        uint64_t address = context->address[lane];
        if (!view_covers(view, address, bytes))
            return fault_at(context, FAULT_OUT_OF_BOUNDS, lane, address), ACCESS_FAULT;
        if (address & (bytes - 1)) return fault_at(context, FAULT_MISALIGNED, lane, address), ACCESS_FAULT;
    }
    return pattern_of(extent);
}

AccessPattern check_range(ExecContext *context, uint64_t bytes, uint64_t limit) {
    Extent extent = extent_of(context);
    bool aligned = (extent.low_bits & (bytes - 1)) == 0;
    if (aligned && is_inside(extent.lowest, extent.highest, bytes, 0, limit)) return pattern_of(extent);
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        uint64_t address = context->address[lane];
        if (!is_inside(address, address, bytes, 0, limit)) {
            return fault_at(context, FAULT_OUT_OF_BOUNDS, lane, address), ACCESS_FAULT;
        }
        if (address & (bytes - 1)) return fault_at(context, FAULT_MISALIGNED, lane, address), ACCESS_FAULT;
    }
    return pattern_of(extent);
}

static uint32_t lanes_at_params(const ExecContext *context) {
    uint32_t lanes = 0;
    FOR_LANES lanes |= (uint32_t)(context->address[lane] - PARAM_WINDOW < WINDOW_BYTES) << lane;
    return lanes & context->active;
}

uint32_t resolve_params(ExecContext *context) {
    uint32_t params = lanes_at_params(context);
    for (uint32_t lanes = params; lanes; lanes &= lanes - 1)
        context->address[__builtin_ctz(lanes)] -= PARAM_WINDOW;
    return params;
}

SpaceLanes resolve_generic(ExecContext *context) {
    SpaceLanes lanes = {0};
    FOR_LANES {
        uint64_t address = context->address[lane];
        lanes.shared |= (uint32_t)(address - SHARED_WINDOW < WINDOW_BYTES) << lane;
        lanes.local |= (uint32_t)(address - LOCAL_WINDOW < WINDOW_BYTES) << lane;
    }
    lanes.shared &= context->active;
    lanes.local &= context->active;
    lanes.global = context->active & ~(lanes.shared | lanes.local);
    if (lanes.global != context->active) {
        for (int lane = 0; lane < WARP_LANES; lane++) {
            if (lanes.shared >> lane & 1) context->address[lane] -= SHARED_WINDOW;
            if (lanes.local >> lane & 1) context->address[lane] -= LOCAL_WINDOW;
        }
    }
    uint32_t first = context->active & -context->active;
    context->space = lanes.shared & first ? SPACE_SHARED : lanes.local & first ? SPACE_LOCAL : SPACE_GLOBAL;
    return lanes;
}

/* The piece that a bulk copy is about to make. One whose kind is a load writes to the side that the load/store unit does
 * not access, all others read there. */
static bool bulk_reads_shared(const Inst *inst, ExecContext *context, uint64_t start, uint64_t end) {
    BulkPiece piece;
    if (inst->cache_op == CACHE_PREFETCH_L2 || !exec_find_bulk(inst, context, &piece)) return false;
    bool accessed = inst->space == SPACE_SHARED && piece.accessed < end &&
                    piece.accessed + piece.bytes > start;
    bool other = inst->kind != INST_LOAD && piece.shared < end && piece.shared + piece.bytes > start;
    return accessed || other;
}

bool exec_touches_shared(const Inst *inst, ExecContext *context, uint64_t start, uint64_t end) {
    if (inst->detail & DETAIL_BULK) return bulk_reads_shared(inst, context, start, end);
    uint64_t bytes = (uint64_t)inst->element_bytes * inst->elements;
    uint32_t lanes = context->active, touching = 0;
    form_addresses(inst, context);
    if (inst->space == SPACE_GENERIC) lanes = resolve_generic(context).shared;
    FOR_LANES touching |= (uint32_t)(context->address[lane] < end && context->address[lane] + bytes > start)
                          << lane;
    return lanes & touching;
}

void exec_find_addresses(const Inst *inst, ExecContext *context, uint32_t *global, uint32_t *shared) {
    form_addresses(inst, context);
    SpaceLanes lanes = {.global = inst->space == SPACE_GLOBAL ? context->active : 0,
                        .shared = inst->space == SPACE_SHARED ? context->active : 0};
    uint32_t params = inst->space == SPACE_GENERIC && inst->kind == INST_LOAD ? lanes_at_params(context) : 0;
    if (inst->space == SPACE_GENERIC) lanes = resolve_generic(context);
    *global = lanes.global & ~params;
    *shared = lanes.shared;
}
