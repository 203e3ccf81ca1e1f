/* cp.async: a load whose data go to shared memory. As of every load, what it brings is there when it has issued;
 * when it is complete, and what waits for it, is the SM's affair. */
#include "core/ptx/execution/exec_address.h"

/* Of each lane: where its data go. False: a fault. */
static bool find_targets(const Inst *inst, ExecContext *context, uint64_t bytes,
                         uint64_t target[WARP_LANES]) {
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        target[lane] = shared_address_of(inst, context, lane);
        bool inside = is_inside(target[lane], target[lane], bytes, 0, context->shared_bytes);
        if (inside && target[lane] % bytes == 0) continue;
        context->space = SPACE_SHARED;
        fault_at(context, inside ? FAULT_MISALIGNED : FAULT_OUT_OF_BOUNDS, lane, target[lane]);
        return false;
    }
    return true;
}

/* Bytes that a lane reads; what is left of its target becomes zero. */
static uint32_t bytes_read(const Inst *inst, const ExecContext *context, int lane, uint32_t bytes) {
    if (inst->detail & DETAIL_ASYNC_IGNORE) return predicate_source(inst, context, 3) >> lane & 1 ? 0 : bytes;
    if (!(inst->detail & DETAIL_ASYNC_SIZE)) return bytes;
    uint32_t size = ((const LaneU32 *)source(inst, context, 3))[lane];
    return size < bytes ? size : bytes;
}

void exec_find_async(const Inst *inst, const ExecContext *context, AsyncCopy copy[WARP_LANES]) {
    uint32_t bytes = (uint32_t)inst->element_bytes * inst->elements;
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        copy[lane] = (AsyncCopy){shared_address_of(inst, context, lane),
                                 bytes_read(inst, context, lane, bytes)};
    }
}

static void copy_lane(const ExecContext *context, int lane, uint8_t *to, uint32_t bytes, uint32_t read) {
    memset(to, 0, bytes);
    for (uint32_t at = 0; at < read;) {
        uint32_t piece = read - at >= 4 ? 4 : 1;
        uint64_t value = 0;
        view_load(context->view, context->address[lane] + at, piece, &value);
        memcpy(to + at, &value, piece);
        at += piece;
    }
}

void exec_cp_async(const Inst *inst, ExecContext *context) {
    uint32_t bytes = (uint32_t)inst->element_bytes * inst->elements, copying = context->active, reading = 0;
    uint64_t target[WARP_LANES];
    form_addresses(inst, context);
    if (!find_targets(inst, context, bytes, target)) return;
    for (uint32_t lanes = copying; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        reading |= (uint32_t)(bytes_read(inst, context, lane, bytes) != 0) << lane;
    }
    context->space = SPACE_GLOBAL;
    context->active = reading;
    fill_inactive_addresses(context);
    if (reading && check_global(context, bytes) == ACCESS_FAULT) return;
    for (uint32_t lanes = copying; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        copy_lane(context, lane, context->shared + target[lane], bytes,
                  bytes_read(inst, context, lane, bytes));
    }
}
