/* Addresses of a memory instruction: forming them, resolving the generic space, and checking them. */
#ifndef WW_PTX_EXEC_ADDRESS_H
#define WW_PTX_EXEC_ADDRESS_H

#include "core/ptx/execution/exec_internal.h"

/* Of an instruction with a ROLE_SHARED_ADDRESS, which is source 1 and 2: the lane's address there. */
static inline uint64_t shared_address_of(const Inst *inst, const ExecContext *context, int lane) {
    const void *base = source(inst, context, 1), *displacement = source(inst, context, 2);
    if (inst->detail & DETAIL_ASYNC_TARGET_32)
        return ((const LaneU32 *)base)[lane] + ((const LaneU32 *)displacement)[lane];
    return ((const LaneU64 *)base)[lane] + ((const LaneU64 *)displacement)[lane];
}

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

/* Cheaper to find out than the least and the greatest, and kernels often access what is the same in all threads. */
static inline bool are_alike(const LaneU64 address[WARP_LANES]) {
    uint64_t first = address[0];
    const FourLanes *fours = (const FourLanes *)address;
    FourLanes differences = {0};
    if (address[WARP_LANES - 1] != first) return false;
    for (int i = 0; i < WARP_LANES / 4; i++)
        differences |= fours[i] ^ first;
    return !has_bits(&differences);
}

/* The address that the instruction forms in each lane, if it is the same in all of them. */
static inline bool is_address_alike(const Inst *inst, const ExecContext *context, uint64_t *address) {
    const void *base = source(inst, context, 0);
    bool is_constant = inst->src[0] & OPERAND_CONST;
    if (inst->detail & DETAIL_ADDRESS_32) {
        const LaneU32 *lanes = base;
        uint32_t first = lanes[0];
        EightLanes differences = {0};
        for (int i = 0; i < WARP_LANES / 8 && !is_constant; i++)
            differences |= ((const EightLanes *)base)[i] ^ first;
        *address = first + (uint32_t)inst->displacement;
        return !has_bits((const FourLanes *)&differences);
    }
    const LaneU64 *lanes = base;
    uint64_t first = lanes[0];
    *address = first + (uint64_t)inst->displacement;
    return is_constant || are_alike(lanes);
}

/* How the elements of all lanes lie, if no lane is inactive: one after the other, as those of an array; or those of each
 * run of eight lanes, as in the rows of a tile. Then one copy or four do instead of 32. */
typedef enum { LANES_SCATTERED, LANES_IN_RUNS, LANES_SIDE_BY_SIDE } LaneOrder;
enum { RUN_LANES = 8 };

/* Vectors by name: of a loop over all lanes, gcc makes one that gathers each run's first address. */
static inline bool are_in_runs(const uint64_t address[WARP_LANES], uint64_t bytes) {
    FourLanes low = {0, 1, 2, 3}, high = {4, 5, 6, 7}, differences = {0};
    for (int run = 0; run < WARP_LANES; run += RUN_LANES) {
        const FourLanes *lanes = (const FourLanes *)(const void *)(address + run);
        differences |= (lanes[0] ^ (address[run] + low * bytes)) | (lanes[1] ^ (address[run] + high * bytes));
    }
    return !has_bits(&differences);
}

/* Sets lowest and highest of the context where the lanes are not scattered. */
static inline LaneOrder lane_order(ExecContext *context, uint64_t bytes) {
    const uint64_t *address = context->address;
    uint64_t first = address[0], gaps = 0, lowest = first, highest = first;
    if (context->active != ALL_LANES || address[1] - first != bytes || !are_in_runs(address, bytes))
        return LANES_SCATTERED;
    for (int lane = RUN_LANES; lane < WARP_LANES; lane += RUN_LANES)
        gaps |= address[lane] ^ (first + (uint64_t)lane * bytes);
    if (gaps) {
        for (int lane = RUN_LANES; lane < WARP_LANES; lane += RUN_LANES) {
            lowest = address[lane] < lowest ? address[lane] : lowest;
            highest = address[lane] > highest ? address[lane] : highest;
        }
        highest += (RUN_LANES - 1) * bytes;
    } else {
        highest += (WARP_LANES - 1) * bytes;
    }
    context->lowest = lowest;
    context->highest = highest;
    return gaps ? LANES_IN_RUNS : LANES_SIDE_BY_SIDE;
}

/* Of lanes in runs. */
static inline bool are_runs_aligned(const ExecContext *context, uint64_t bytes) {
    uint64_t low_bits = 0;
    for (int lane = 0; lane < WARP_LANES; lane += RUN_LANES)
        low_bits |= context->address[lane];
    return (low_bits & (bytes - 1)) == 0;
}

static inline bool is_inside(uint64_t lowest, uint64_t highest, uint64_t bytes, uint64_t start,
                             uint64_t end) {
    return lowest >= start && highest < end && end - highest >= bytes;
}

/* From now on these lanes alone are active: sets what others may know of their addresses. */
void keep_lanes(ExecContext *context, uint32_t lanes);

/* Of these lanes, those whose address is one of global memory. */
uint32_t lanes_in_memory(const ExecContext *context, uint32_t lanes);

typedef enum { ACCESS_FAULT, ACCESS_UNIFORM, ACCESS_SCATTERED } AccessPattern;

/* These two need the addresses of inactive lanes filled. `bytes` is what each lane accesses, a power of two.
 * They record the fault of the lowest lane that has one. */
AccessPattern check_global(ExecContext *context, uint64_t bytes);
AccessPattern check_range(ExecContext *context, uint64_t bytes, uint64_t limit);

/* For an access to global memory by the lanes' addresses, of which those of inactive lanes are filled: source
 * `operand` of the instruction is the first operand of `operation`, which has the bits of DETAIL_ATOMIC_MASK. */
void fill_atomic_payload(const Inst *inst, ExecContext *context, uint32_t operation, uint32_t operand);

/* What a reduction on shared memory makes of an element there; `operation` likewise. */
uint64_t reduced_on_shared(uint32_t operation, uint64_t old, uint64_t operand);

/* Lanes of a warp by the space that their generic addresses fall into. */
typedef struct {
    uint32_t global, shared, local;
} SpaceLanes;

/* Turns the generic addresses of the active lanes into addresses of their spaces and sets context->space. Those of
 * parameters, which only a load may access, count as global, where nothing is. */
SpaceLanes resolve_generic(ExecContext *context);
/* For loads, before it: the active lanes with addresses of parameters, which become addresses of that space. */
uint32_t resolve_params(ExecContext *context);

#endif
