/* Addresses of a memory instruction: forming them, resolving the generic space, and checking them. */
#ifndef WW_PTX_EXEC_ADDRESS_H
#define WW_PTX_EXEC_ADDRESS_H

#include "core/ptx/execution/exec_internal.h"

/* Gives inactive lanes the address of the first active one, so that checks and gathers may run over all
 * lanes. */
static inline void fill_inactive_addresses(ExecContext *context) {
    uint32_t active = context->active;
    if (active == ALL_LANES || active == 0) return;
    uint64_t stand_in = context->address[__builtin_ctz(active)];
    FOR_LANES context->address[lane] = active >> lane & 1 ? context->address[lane] : stand_in;
}

static inline void form_addresses(const Inst *inst, ExecContext *context) {
    if (inst->detail & DETAIL_ADDRESS_32) {
        const LaneU32 *base = source(inst, context, 0);
        uint32_t displacement = (uint32_t)inst->displacement;
        FOR_LANES context->address[lane] = base[lane] + displacement;
    } else {
        const LaneU64 *base = source(inst, context, 0);
        uint64_t displacement = (uint64_t)inst->displacement;
        FOR_LANES context->address[lane] = base[lane] + displacement;
    }
}

/* Lane i accesses the i-th element of an array: one copy instead of 32. */
static inline bool is_unit_stride(ExecContext *context, uint64_t bytes) {
    if (context->active != ALL_LANES || context->address[1] - context->address[0] != bytes) return false;
    uint64_t expected = context->address[0], differences = 0;
    FOR_LANES
    differences |= context->address[lane] ^ (expected + (uint64_t)lane * bytes);
    context->lowest = expected;
    context->highest = expected + (WARP_LANES - 1) * bytes;
    return differences == 0;
}

static inline bool is_inside(uint64_t lowest, uint64_t highest, uint64_t bytes, uint64_t start,
                             uint64_t end) {
    return lowest >= start && highest < end && end - highest >= bytes;
}

/* From now on these lanes alone are active: sets what others may know of their addresses. */
void keep_lanes(ExecContext *context, uint32_t lanes);

typedef enum { ACCESS_FAULT, ACCESS_UNIFORM, ACCESS_SCATTERED } AccessPattern;

/* These two need the addresses of inactive lanes filled. `bytes` is what each lane accesses, a power of two.
 * They record the fault of the lowest lane that has one. */
AccessPattern check_global(ExecContext *context, uint64_t bytes);
AccessPattern check_range(ExecContext *context, uint64_t bytes, uint64_t limit);

/* For an access to global memory by the lanes' addresses, of which those of inactive lanes are filled: source
 * `operand` of the instruction is the first operand of `operation`, which has the bits of DETAIL_ATOMIC_MASK. */
void fill_atomic_payload(const Inst *inst, ExecContext *context, uint32_t operation, uint32_t operand);

/* Lanes of a warp by the space that their generic addresses fall into. */
typedef struct {
    uint32_t global, shared, local;
} SpaceLanes;

/* Turns the generic addresses of the active lanes into addresses of their spaces and sets context->space. */
SpaceLanes resolve_generic(ExecContext *context);

#endif
