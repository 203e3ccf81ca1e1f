/* Instructions in which lanes see each other: shfl, vote, match, redux. */
#include "core/ptx/execution/exec_internal.h"

typedef enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX } ShuffleMode;

/* c holds the clamp value in bits 0-4 and the segment mask in bits 8-12. */
static inline void shuffle(const Inst *inst, ExecContext *context, ShuffleMode mode) {
    const LaneU32 *from_b = source(inst, context, 1), *from_c = source(inst, context, 2);
    uint32_t values[WARP_LANES], result[WARP_LANES], in_range = 0;
    memcpy(values, source(inst, context, 0), sizeof values);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int offset = from_b[lane] & 31, clamp = from_c[lane] & 31, segment = from_c[lane] >> 8 & 31;
        int first = lane & segment, limit = first | (clamp & ~segment), other = lane;
        switch (mode) {
        case SHUFFLE_UP: other = lane - offset; break;
        case SHUFFLE_DOWN: other = lane + offset; break;
        case SHUFFLE_BUTTERFLY: other = lane ^ offset; break;
        case SHUFFLE_INDEX: other = first | (offset & ~segment); break;
        }
        bool valid = mode == SHUFFLE_UP ? other >= limit : other <= limit;
        result[lane] = values[valid ? other : lane];
        in_range |= (uint32_t)valid << lane;
    }
    write_lanes_32(destination(inst, context, 0), result, context->active);
    write_predicate(context, inst->pdst, in_range);
}

void exec_shfl_up(const Inst *inst, ExecContext *context) {
    shuffle(inst, context, SHUFFLE_UP);
}
void exec_shfl_down(const Inst *inst, ExecContext *context) {
    shuffle(inst, context, SHUFFLE_DOWN);
}
void exec_shfl_bfly(const Inst *inst, ExecContext *context) {
    shuffle(inst, context, SHUFFLE_BUTTERFLY);
}
void exec_shfl_idx(const Inst *inst, ExecContext *context) {
    shuffle(inst, context, SHUFFLE_INDEX);
}

/* A handler of one group of lanes that have the same member mask, which are the active ones. */
typedef void GroupFn(const Inst *inst, ExecContext *context);

/* Lanes may execute a .sync form together and have member masks of their own, such as the tiles of a warp: each group
 * then works for itself. */
static void by_groups(const Inst *inst, ExecContext *context, int member_mask, GroupFn *operation) {
    uint32_t active = context->active;
    if (member_mask >= inst->src_count) {
        operation(inst, context);
        return;
    }
    const LaneU32 *masks = source(inst, context, member_mask);
    for (uint32_t left = active; left; left &= ~context->active) {
        uint32_t mask = masks[__builtin_ctz(left)], same = 0;
        FOR_LANES same |= (uint32_t)(masks[lane] == mask) << lane;
        context->active = left & same;
        operation(inst, context);
    }
    context->active = active;
}

#define DEFINE_BY_GROUPS(name, member_mask)                                                                  \
    void exec_##name(const Inst *inst, ExecContext *context) {                                               \
        by_groups(inst, context, member_mask, name);                                                         \
    }

/* The lanes that take part: those that execute, and of .sync forms, those that the member mask names. */
static inline uint32_t participants(const Inst *inst, const ExecContext *context, int member_mask) {
    uint32_t active = context->active;
    if (member_mask >= inst->src_count || !active) return active;
    return active & ((const LaneU32 *)source(inst, context, member_mask))[__builtin_ctz(active)];
}

static inline void write_uniform(const Inst *inst, ExecContext *context, uint32_t value) {
    DEFINE_MIXED_BODY(uint32_t, write_lanes_32, (void)0, value)
}

static void vote_ballot(const Inst *inst, ExecContext *context) {
    write_uniform(inst, context, predicate_source(inst, context, 0) & participants(inst, context, 1));
}

/* The lowest lane that takes part is elected. */
static void elect(const Inst *inst, ExecContext *context) {
    uint32_t lanes = participants(inst, context, 0), leader = lanes & -lanes;
    if (inst->dst_count) write_uniform(inst, context, leader ? (uint32_t)__builtin_ctz(leader) : 0);
    write_predicate(context, inst->pdst, leader);
}

static void vote_all(const Inst *inst, ExecContext *context) {
    uint32_t lanes = participants(inst, context, 1), voted = predicate_source(inst, context, 0) & lanes;
    write_predicate(context, inst->pdst, voted == lanes ? ALL_LANES : 0);
}

static void vote_any(const Inst *inst, ExecContext *context) {
    uint32_t voted = predicate_source(inst, context, 0) & participants(inst, context, 1);
    write_predicate(context, inst->pdst, voted ? ALL_LANES : 0);
}

static void vote_uni(const Inst *inst, ExecContext *context) {
    uint32_t lanes = participants(inst, context, 1), voted = predicate_source(inst, context, 0) & lanes;
    write_predicate(context, inst->pdst, voted == lanes || voted == 0 ? ALL_LANES : 0);
}

DEFINE_BY_GROUPS(vote_ballot, 1)
DEFINE_BY_GROUPS(vote_all, 1)
DEFINE_BY_GROUPS(vote_any, 1)
DEFINE_BY_GROUPS(vote_uni, 1)
DEFINE_BY_GROUPS(elect, 0)

void exec_activemask(const Inst *inst, ExecContext *context) {
    write_uniform(inst, context, context->active);
}

static void match(const Inst *inst, ExecContext *context, const uint64_t *values, bool all) {
    uint32_t lanes = participants(inst, context, 1), result[WARP_LANES] = {0};
    bool same = true;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        for (uint32_t others = lanes; others; others &= others - 1) {
            int other = __builtin_ctz(others);
            if (values[lane] == values[other]) result[lane] |= 1u << other;
        }
        same = same && result[lane] == lanes;
    }
    if (all) {
        write_uniform(inst, context, same ? lanes : 0);
        write_predicate(context, inst->pdst, same ? ALL_LANES : 0);
    } else {
        write_lanes_32(destination(inst, context, 0), result, context->active);
    }
}

static inline void match_32(const Inst *inst, ExecContext *context, bool all) {
    const LaneU32 *from = source(inst, context, 0);
    uint64_t values[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++)
        values[lane] = from[lane];
    match(inst, context, values, all);
}

static inline void match_64(const Inst *inst, ExecContext *context, bool all) {
    uint64_t values[WARP_LANES];
    memcpy(values, source(inst, context, 0), sizeof values);
    match(inst, context, values, all);
}

static void match_any_b32(const Inst *inst, ExecContext *context) {
    match_32(inst, context, false);
}
static void match_all_b32(const Inst *inst, ExecContext *context) {
    match_32(inst, context, true);
}
static void match_any_b64(const Inst *inst, ExecContext *context) {
    match_64(inst, context, false);
}
static void match_all_b64(const Inst *inst, ExecContext *context) {
    match_64(inst, context, true);
}

DEFINE_BY_GROUPS(match_any_b32, 1)
DEFINE_BY_GROUPS(match_all_b32, 1)
DEFINE_BY_GROUPS(match_any_b64, 1)
DEFINE_BY_GROUPS(match_all_b64, 1)

#define DEFINE_REDUX(name, T, neutral, expression)                                                           \
    static void name(const Inst *inst, ExecContext *context) {                                               \
        const T *from = source(inst, context, 0);                                                            \
        T a = neutral;                                                                                       \
        for (uint32_t lanes = participants(inst, context, 1); lanes; lanes &= lanes - 1) {                   \
            T b = from[__builtin_ctz(lanes)];                                                                \
            a = expression;                                                                                  \
        }                                                                                                    \
        write_uniform(inst, context, (uint32_t)a);                                                           \
    }                                                                                                        \
    DEFINE_BY_GROUPS(name, 1)

DEFINE_REDUX(redux_add, LaneU32, 0, a + b)
DEFINE_REDUX(redux_and, LaneU32, UINT32_MAX, (a & b))
DEFINE_REDUX(redux_or, LaneU32, 0, a | b)
DEFINE_REDUX(redux_xor, LaneU32, 0, a ^ b)
DEFINE_REDUX(redux_min_u32, LaneU32, UINT32_MAX, a < b ? a : b)
DEFINE_REDUX(redux_min_s32, LaneS32, INT32_MAX, a < b ? a : b)
DEFINE_REDUX(redux_max_u32, LaneU32, 0, a > b ? a : b)
DEFINE_REDUX(redux_max_s32, LaneS32, INT32_MIN, a > b ? a : b)

/* Of magnitudes with .abs. NaN is neutral, unless .NaN lets it win. */
static void reduce_f32(const Inst *inst, ExecContext *context, bool most) {
    const LaneF32 *from = source(inst, context, 0);
    uint32_t lanes = participants(inst, context, 1);
    float value = lanes ? from[__builtin_ctz(lanes)] : 0.0f;
    bool magnitudes = inst->detail & DETAIL_MAGNITUDE;
    if (magnitudes) value = __builtin_fabsf(value);
    for (; lanes; lanes &= lanes - 1) {
        float other = from[__builtin_ctz(lanes)];
        value = extreme_f32(value, magnitudes ? __builtin_fabsf(other) : other, most, inst->detail);
    }
    write_uniform(inst, context, bits_of_f32(canonical_f32(value)));
}

static void redux_min_f32(const Inst *inst, ExecContext *context) {
    reduce_f32(inst, context, false);
}
static void redux_max_f32(const Inst *inst, ExecContext *context) {
    reduce_f32(inst, context, true);
}
DEFINE_BY_GROUPS(redux_min_f32, 1)
DEFINE_BY_GROUPS(redux_max_f32, 1)
