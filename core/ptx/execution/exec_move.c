/* Moves, packing, address conversion and special registers. */
#include "core/ptx/execution/exec_internal.h"

void exec_nothing(const Inst *inst, ExecContext *context) {
    (void)inst;
    (void)context;
}

void exec_trap(const Inst *inst, ExecContext *context) {
    (void)inst;
    if (context->active) fault_at(context, FAULT_TRAP, __builtin_ctz(context->active), 0);
}

/* An indirect call whose address is that of no function it could call. */
void exec_unknown_function(const Inst *inst, ExecContext *context) {
    const LaneU64 *address = source(inst, context, 0);
    int lane = context->active ? __builtin_ctz(context->active) : 0;
    if (context->active) fault_at(context, FAULT_NO_FUNCTION, lane, address[lane]);
}

/* The sources are the text of the assertion, its file, and its line. */
DEFINE_UNARY(exec_mov_b16, LaneU32, LaneU32, (uint16_t)a)
DEFINE_UNARY(exec_mov_b32, LaneU32, LaneU32, a)
DEFINE_UNARY(exec_mov_b64, LaneU64, LaneU64, a)
/* createpolicy: one for all, since no cache follows it. */
void exec_no_policy(const Inst *inst, ExecContext *context) {
    static const uint64_t none[WARP_LANES];
    write_lanes_64(destination(inst, context, 0), none, context->active);
}

/* getctarank: of the only CTA of a cluster. */
void exec_no_rank(const Inst *inst, ExecContext *context) {
    static const uint32_t zero[WARP_LANES];
    write_lanes_32(destination(inst, context, 0), zero, context->active);
}

DEFINE_MIXED_UNARY(exec_mov_b64_special, uint64_t, write_lanes_64, LaneU32, a)

static uint64_t nanoseconds(const ExecContext *context) {
    unsigned __int128 ticks = (unsigned __int128)context->clock * context->cycle_ticks - context->rated_at;
    return (uint64_t)((ticks * 1000000000000u / context->ticks_per_second + context->rated_time) / 1000);
}

static uint64_t read_clock(const Inst *inst, const ExecContext *context) {
    switch (inst->detail) {
    case SPECIAL_GLOBALTIMER: return nanoseconds(context);
    case SPECIAL_GLOBALTIMER_HI: return nanoseconds(context) >> 32;
    case SPECIAL_CLOCK_HI: return context->clock >> 32;
    default: return context->clock;
    }
}

void exec_mov_clock_32(const Inst *inst, ExecContext *context) {
    uint32_t value = (uint32_t)read_clock(inst, context);
    DEFINE_MIXED_BODY(uint32_t, write_lanes_32, (void)0, value)
}

void exec_mov_clock_64(const Inst *inst, ExecContext *context) {
    uint64_t value = read_clock(inst, context);
    DEFINE_MIXED_BODY(uint64_t, write_lanes_64, (void)0, value)
}

bool exec_reads_clock(const Inst *inst) {
    return inst->exec == exec_mov_clock_32 || inst->exec == exec_mov_clock_64;
}

/* mov.b64 d, {a, b} and the like: the first element is the lowest. */
DEFINE_BINARY(exec_pack_2x16, LaneU32, LaneU32, (a & 0xffff) | b << 16)
DEFINE_MIXED_BINARY(exec_pack_2x32, uint64_t, write_lanes_64, LaneU32, LaneU32, (uint64_t)b << 32 | a)

DEFINE_BINARY(exec_pack_2x8, LaneU32, LaneU32, (a & 0xff) | (b & 0xff) << 8)

void exec_pack_4x8(const Inst *inst, ExecContext *context) {
    const LaneU32 *a = source(inst, context, 0), *b = source(inst, context, 1), *c = source(inst, context, 2),
                  *d = source(inst, context, 3);
    DEFINE_MIXED_BODY(uint32_t, write_lanes_32, (void)0,
                      (a[lane] & 0xff) | (b[lane] & 0xff) << 8 | (c[lane] & 0xff) << 16 | d[lane] << 24)
}

void exec_pack_4x16(const Inst *inst, ExecContext *context) {
    const LaneU32 *a = source(inst, context, 0), *b = source(inst, context, 1), *c = source(inst, context, 2),
                  *d = source(inst, context, 3);
    DEFINE_MIXED_BODY(uint64_t, write_lanes_64, (void)0,
                      (uint64_t)(uint16_t)a[lane] | (uint64_t)(uint16_t)b[lane] << 16 |
                          (uint64_t)(uint16_t)c[lane] << 32 | (uint64_t)(uint16_t)d[lane] << 48)
}

/* mov.b64 {a, b}, s and the like. Elements that go to the sink have no entry in dst[]. The source is copied
 * first: the first destination may overlay it. */
static inline void unpack(const Inst *inst, ExecContext *context, const uint64_t *values, int elements,
                          int bits) {
    int next = 0;
    uint64_t element_mask = (1ull << bits) - 1;
    for (int element = 0; element < elements; element++) {
        if (!(inst->dst_mask >> element & 1)) continue;
        uint32_t result[WARP_LANES];
        for (int lane = 0; lane < WARP_LANES; lane++) {
            result[lane] = (uint32_t)(values[lane] >> element * bits & element_mask);
        }
        write_lanes_32(destination(inst, context, next++), result, context->active);
    }
}

static void unpack_narrow(const Inst *inst, ExecContext *context, int elements, int bits) {
    const LaneU32 *from = source(inst, context, 0);
    uint64_t values[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++)
        values[lane] = from[lane];
    unpack(inst, context, values, elements, bits);
}

void exec_unpack_2x8(const Inst *inst, ExecContext *context) {
    unpack_narrow(inst, context, 2, 8);
}
void exec_unpack_4x8(const Inst *inst, ExecContext *context) {
    unpack_narrow(inst, context, 4, 8);
}
void exec_unpack_2x16(const Inst *inst, ExecContext *context) {
    unpack_narrow(inst, context, 2, 16);
}

/* mov.b128: two registers of 64 bits, or a sink, from two. */
void exec_mov_2x64(const Inst *inst, ExecContext *context) {
    uint64_t values[2][WARP_LANES];
    for (int k = 0; k < 2; k++)
        memcpy(values[k], source(inst, context, k), sizeof values[k]);
    for (int k = 0, next = 0; k < 2; k++)
        if (inst->dst_mask >> k & 1)
            write_lanes_64(destination(inst, context, next++), values[k], context->active);
}

void exec_unpack_2x32(const Inst *inst, ExecContext *context) {
    uint64_t values[WARP_LANES];
    memcpy(values, source(inst, context, 0), sizeof values);
    unpack(inst, context, values, 2, 32);
}

void exec_unpack_4x16(const Inst *inst, ExecContext *context) {
    uint64_t values[WARP_LANES];
    memcpy(values, source(inst, context, 0), sizeof values);
    unpack(inst, context, values, 4, 16);
}

DEFINE_UNARY(exec_shared_to_generic_64, LaneU64, LaneU64, a + SHARED_WINDOW)
DEFINE_UNARY(exec_generic_to_shared_64, LaneU64, LaneU64, a - SHARED_WINDOW)
DEFINE_UNARY(exec_local_to_generic_64, LaneU64, LaneU64, a + LOCAL_WINDOW)
DEFINE_UNARY(exec_generic_to_local_64, LaneU64, LaneU64, a - LOCAL_WINDOW)
DEFINE_UNARY(exec_shared_to_generic_32, LaneU32, LaneU32, a + SHARED_WINDOW)
DEFINE_UNARY(exec_generic_to_shared_32, LaneU32, LaneU32, a - SHARED_WINDOW)
DEFINE_UNARY(exec_local_to_generic_32, LaneU32, LaneU32, a + LOCAL_WINDOW)
DEFINE_UNARY(exec_generic_to_local_32, LaneU32, LaneU32, a - LOCAL_WINDOW)

DEFINE_UNARY(exec_param_to_generic_64, LaneU64, LaneU64, a + PARAM_WINDOW)
DEFINE_UNARY(exec_generic_to_param_64, LaneU64, LaneU64, a - PARAM_WINDOW)
DEFINE_UNARY(exec_param_to_generic_32, LaneU32, LaneU32, a + PARAM_WINDOW)
DEFINE_UNARY(exec_generic_to_param_32, LaneU32, LaneU32, a - PARAM_WINDOW)

/* Inst.detail is the Space asked for. */
static inline uint32_t lane_in_space(uint64_t address, uint32_t space) {
    bool in_shared = address - SHARED_WINDOW < WINDOW_BYTES, in_local = address - LOCAL_WINDOW < WINDOW_BYTES,
         in_param = address - PARAM_WINDOW < WINDOW_BYTES;
    return space == SPACE_SHARED  ? in_shared
           : space == SPACE_LOCAL ? in_local
           : space == SPACE_PARAM ? in_param
                                  : !in_shared && !in_local && !in_param;
}

void exec_isspacep_64(const Inst *inst, ExecContext *context) {
    const LaneU64 *from = source(inst, context, 0);
    uint32_t mask = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        mask |= lane_in_space(from[lane], inst->detail) << lane;
    write_predicate(context, inst->pdst, mask);
}

void exec_isspacep_32(const Inst *inst, ExecContext *context) {
    const LaneU32 *from = source(inst, context, 0);
    uint32_t mask = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        mask |= lane_in_space(from[lane], inst->detail) << lane;
    write_predicate(context, inst->pdst, mask);
}

/* Coordinate `axis` of each lane's thread in its CTA, x fastest. */
static void fill_thread_coordinate(LaneU32 *to, uint32_t axis, const WarpIdentity *id) {
    const uint32_t *extent = id->ntid;
    uint32_t thread = id->warp_in_cta * WARP_LANES, row = thread / extent[0];
    uint32_t at[3] = {thread % extent[0], row % extent[1], row / extent[1]};
    if (extent[0] - at[0] >= WARP_LANES) { /* the warp lies in one row */
        uint32_t first = at[axis], step = axis == 0;
        FOR_LANES to[lane] = first + step * (uint32_t)lane;
        return;
    }
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        to[lane] = at[axis];
        if (++at[0] < extent[0]) continue;
        at[0] = 0;
        if (++at[1] < extent[1]) continue;
        at[1] = 0;
        at[2]++;
    }
}

static uint32_t special_value(SpecialRegister special, const WarpIdentity *id, uint32_t lane) {
    uint32_t below = (1u << lane) - 1;
    switch (special) {
    case SPECIAL_TID_X:
    case SPECIAL_TID_Y:
    case SPECIAL_TID_Z: break; /* fill_thread_coordinate() */
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z: return id->ntid[special - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z: return id->ctaid[special - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z: return id->nctaid[special - SPECIAL_NCTAID_X];
    case SPECIAL_LANEID: return lane;
    case SPECIAL_WARPID: return id->warp_slot;
    case SPECIAL_NWARPID: return 64; /* a set of warps is a 64-bit mask */
    case SPECIAL_SMID: return id->sm;
    case SPECIAL_NSMID: return id->sm_count;
    case SPECIAL_GRIDID: return id->grid;
    case SPECIAL_LANEMASK_EQ: return 1u << lane;
    case SPECIAL_LANEMASK_LT: return below;
    case SPECIAL_LANEMASK_LE: return below | 1u << lane;
    case SPECIAL_LANEMASK_GT: return ~(below | 1u << lane);
    case SPECIAL_LANEMASK_GE: return ~below;
    case SPECIAL_DYNAMIC_SMEM_SIZE: return id->dynamic_shared_bytes;
    case SPECIAL_TOTAL_SMEM_SIZE: return id->total_shared_bytes;
    case SPECIAL_ENVREG_1: return (uint32_t)(id->workspace >> 32);
    case SPECIAL_ENVREG_2: return (uint32_t)id->workspace;
    case SPECIAL_CLOCK:
    case SPECIAL_CLOCK64:
    case SPECIAL_GLOBALTIMER:
    case SPECIAL_CLOCK_HI:
    case SPECIAL_GLOBALTIMER_HI:
    case SPECIAL_COUNT: break; /* no slot: read by exec_mov_clock */
    }
    return 0;
}

static bool differs_by_lane(SpecialRegister special) {
    return special == SPECIAL_LANEID || (special >= SPECIAL_LANEMASK_EQ && special <= SPECIAL_LANEMASK_GE);
}

void exec_fill_specials(const SpecialSlot *specials, uint32_t count, const WarpIdentity *identity,
                        uint8_t *slots) {
    for (uint32_t index = 0; index < count; index++) {
        LaneU32 *to = (LaneU32 *)(void *)(slots + specials[index].offset);
        SpecialRegister special = (SpecialRegister)specials[index].special;
        if (special <= SPECIAL_TID_Z) {
            fill_thread_coordinate(to, special - SPECIAL_TID_X, identity);
        } else if (differs_by_lane(special)) {
            for (uint32_t lane = 0; lane < WARP_LANES; lane++)
                to[lane] = special_value(special, identity, lane);
        } else {
            uint32_t value = special_value(special, identity, 0);
            FOR_LANES to[lane] = value;
        }
    }
}
