/* atom and red. On shared memory they happen at once; on global memory the handler only fills the payload
 * that travels to the L2 slice, which carries it out with atomic_perform(). */
#include "core/ptx/execution/exec_address.h"

#define INTEGER_ATOMICS(T)                                                                                   \
    switch (operation) {                                                                                     \
    case ATOMIC_ADD: return (T)(a + b);                                                                      \
    case ATOMIC_MIN: return a < b ? a : b;                                                                   \
    case ATOMIC_MAX: return a > b ? a : b;                                                                   \
    case ATOMIC_EXCH: return b;                                                                              \
    case ATOMIC_CAS: return a == b ? c : a;                                                                  \
    case ATOMIC_INC: return a >= b ? 0 : (T)(a + 1);                                                         \
    case ATOMIC_DEC: return a == 0 || a > b ? b : (T)(a - 1);                                                \
    case ATOMIC_AND: return a & b;                                                                           \
    case ATOMIC_OR: return a | b;                                                                            \
    case ATOMIC_XOR: return a ^ b;                                                                           \
    }                                                                                                        \
    return a;

static uint32_t new_u32(AtomicOp operation, uint32_t a, uint32_t b, uint32_t c) {
    INTEGER_ATOMICS(uint32_t)
}
static uint32_t new_u16(AtomicOp operation, uint16_t a, uint16_t b, uint16_t c) {
    INTEGER_ATOMICS(uint16_t)
}
static uint64_t new_u64(AtomicOp operation, uint64_t a, uint64_t b, uint64_t c) {
    INTEGER_ATOMICS(uint64_t)
}

static uint32_t new_s32(AtomicOp operation, uint32_t a, uint32_t b, uint32_t c) {
    int32_t old = (int32_t)a, operand = (int32_t)b;
    if (operation == ATOMIC_MIN) return old < operand ? a : b;
    if (operation == ATOMIC_MAX) return old > operand ? a : b;
    return new_u32(operation, a, b, c);
}

static uint64_t new_s64(AtomicOp operation, uint64_t a, uint64_t b, uint64_t c) {
    int64_t old = (int64_t)a, operand = (int64_t)b;
    if (operation == ATOMIC_MIN) return old < operand ? a : b;
    if (operation == ATOMIC_MAX) return old > operand ? a : b;
    return new_u64(operation, a, b, c);
}

/* Hardware flushes subnormals in atom.add.f32 on global memory, but not on shared memory. */
static uint32_t new_f32(AtomicOp operation, uint32_t a, uint32_t b, bool on_global) {
    if (operation == ATOMIC_EXCH) return b;
    float smallest = on_global ? SMALLEST_NORMAL_F32 : 0.0f;
    float sum = flush_f32(f32_of_bits(a), smallest) + flush_f32(f32_of_bits(b), smallest);
    return bits_of_f32(flush_f32(canonical_f32(sum), smallest));
}

static uint64_t new_f64(AtomicOp operation, uint64_t a, uint64_t b) {
    if (operation == ATOMIC_EXCH) return b;
    return bits_of_f64(canonical_f64(f64_of_bits(a) + f64_of_bits(b)));
}

static uint32_t new_pair(AtomicOp operation, uint32_t a, uint32_t b, bool brain) {
    return half_combined(operation, a & 0xffff, b & 0xffff, brain) |
           half_combined(operation, a >> 16, b >> 16, brain) << 16;
}

/* The value that replaces `a`, given the operands `b` and (cas) `c`. */
static uint64_t new_value(uint32_t detail, uint64_t a, uint64_t b, uint64_t c, bool on_global) {
    AtomicOp operation = (AtomicOp)(detail & 0xff);
    switch ((AtomicType)(detail >> 8 & 0xff)) {
    case ATOMIC_U32: return new_u32(operation, (uint32_t)a, (uint32_t)b, (uint32_t)c);
    case ATOMIC_S32: return new_s32(operation, (uint32_t)a, (uint32_t)b, (uint32_t)c);
    case ATOMIC_F32: return new_f32(operation, (uint32_t)a, (uint32_t)b, on_global);
    case ATOMIC_U64: return new_u64(operation, a, b, c);
    case ATOMIC_S64: return new_s64(operation, a, b, c);
    case ATOMIC_F64: return new_f64(operation, a, b);
    case ATOMIC_U16: return new_u16(operation, (uint16_t)a, (uint16_t)b, (uint16_t)c);
    case ATOMIC_F16: return half_combined(operation, (uint32_t)a, (uint32_t)b, false);
    case ATOMIC_BF16: return half_combined(operation, (uint32_t)a, (uint32_t)b, true);
    case ATOMIC_F16X2: return new_pair(operation, (uint32_t)a, (uint32_t)b, false);
    case ATOMIC_BF16X2: return new_pair(operation, (uint32_t)a, (uint32_t)b, true);
    }
    return a;
}

uint64_t reduced_on_shared(uint32_t operation, uint64_t old, uint64_t operand) {
    return new_value(operation, old, operand, 0, false);
}

static uint64_t operand_lane(const Inst *inst, const ExecContext *context, int index, int lane) {
    if (index >= inst->src_count) return 0;
    const void *lanes = source(inst, context, index);
    return inst->element_bytes == 8 ? ((const LaneU64 *)lanes)[lane] : ((const LaneU32 *)lanes)[lane];
}

static void write_result_lane(const Inst *inst, uint8_t *registers, int lane, uint64_t value) {
    void *lanes = registers + inst->dst[0];
    if (inst->element_bytes == 8) {
        ((LaneU64 *)lanes)[lane] = value;
    } else {
        ((LaneU32 *)lanes)[lane] = (uint32_t)value;
    }
}

/* What histograms do. */
static bool adds_words(const Inst *inst) {
    uint32_t operation = inst->detail & DETAIL_ATOMIC_MASK;
    return operation == (ATOMIC_ADD | ATOMIC_U32 << 8) || operation == (ATOMIC_ADD | ATOMIC_S32 << 8);
}

static void add_words(const Inst *inst, ExecContext *context) {
    const LaneU32 *operands = source(inst, context, 1);
    LaneU32 *results = inst->dst_count ? destination(inst, context, 0) : NULL;
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        uint8_t *at = context->shared + context->address[lane];
        uint32_t old, sum;
        memcpy(&old, at, sizeof old);
        sum = old + operands[lane];
        memcpy(at, &sum, sizeof sum);
        if (results) results[lane] = old;
    }
}

static void perform_on_shared(const Inst *inst, ExecContext *context) {
    uint64_t bytes = inst->element_bytes;
    if (check_range(context, bytes, context->shared_bytes) == ACCESS_FAULT) return;
    if (adds_words(inst)) {
        add_words(inst, context);
        return;
    }
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        uint8_t *at = context->shared + context->address[lane];
        uint64_t old = 0;
        memcpy(&old, at, bytes);
        uint64_t value = new_value(inst->detail, old, operand_lane(inst, context, 1, lane),
                                   operand_lane(inst, context, 2, lane), false);
        memcpy(at, &value, bytes);
        if (inst->dst_count) write_result_lane(inst, (uint8_t *)context->bank[0], lane, old);
    }
}

void fill_atomic_payload(const Inst *inst, ExecContext *context, uint32_t operation, uint32_t operand) {
    AtomicPayload *payload = context->atomic;
    if (check_global(context, inst->element_bytes) == ACCESS_FAULT) return;
    payload->mask = context->active;
    payload->operation = operation;
    payload->bytes = inst->element_bytes;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        payload->address[lane] = context->address[lane];
        payload->operand[lane] = operand_lane(inst, context, (int)operand, lane);
        payload->operand2[lane] = operand_lane(inst, context, (int)operand + 1, lane);
        payload->result[lane] = 0;
    }
}

static void fill_payload(const Inst *inst, ExecContext *context) {
    fill_atomic_payload(inst, context, inst->detail & DETAIL_ATOMIC_MASK, 1);
}

void exec_atomic_shared(const Inst *inst, ExecContext *context) {
    form_addresses(inst, context);
    context->space = SPACE_SHARED;
    fill_inactive_addresses(context);
    if (context->active) perform_on_shared(inst, context);
}

void exec_atomic_global(const Inst *inst, ExecContext *context) {
    form_addresses(inst, context);
    context->space = SPACE_GLOBAL;
    context->atomic->mask = 0;
    fill_inactive_addresses(context);
    if (context->active) fill_payload(inst, context);
}

void exec_atomic_generic(const Inst *inst, ExecContext *context) {
    uint32_t active = context->active;
    form_addresses(inst, context);
    SpaceLanes lanes = resolve_generic(context);
    uint64_t resolved[WARP_LANES];
    memcpy(resolved, context->address, sizeof resolved);
    context->atomic->mask = 0;
    if (lanes.local) {
        int lane = __builtin_ctz(lanes.local);
        context->space = SPACE_LOCAL;
        fault_at(context, FAULT_OUT_OF_BOUNDS, lane, context->address[lane] + LOCAL_WINDOW);
        return;
    }
    if (lanes.global) {
        context->space = SPACE_GLOBAL;
        context->active = lanes.global;
        fill_inactive_addresses(context);
        fill_payload(inst, context);
        memcpy(context->address, resolved, sizeof resolved);
    }
    if (lanes.shared && context->fault == FAULT_NONE) {
        uint32_t reported = context->space;
        context->active = lanes.shared;
        context->space = SPACE_SHARED;
        fill_inactive_addresses(context);
        perform_on_shared(inst, context);
        context->space = reported;
        memcpy(context->address, resolved, sizeof resolved);
    }
    context->active = active;
}

/* The host's memory brings all of them at a time, and not one after the other. */
static void ask_for_elements(const AtomicPayload *payload, uint32_t mask, const MemoryView *view) {
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1)
        __builtin_prefetch((const void *)((uintptr_t)view->base + payload->address[__builtin_ctz(lanes)]), 1);
}

bool atomic_perform(AtomicPayload *payload, uint32_t mask, MemoryView *view) {
    if (payload->operation == ATOMIC_NOTHING) return true;
    if (mask & (mask - 1)) ask_for_elements(payload, mask & payload->mask, view);
    for (uint32_t lanes = mask & payload->mask; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        uint64_t old, address = payload->address[lane];
        if (!view_load(view, address, payload->bytes, &old)) return false;
        uint64_t value = new_value(payload->operation, old, payload->operand[lane], payload->operand2[lane],
                                   true);
        payload->result[lane] = old;
        if (!view_store(view, address, payload->bytes, value)) return false;
    }
    return true;
}

void atomic_write_back(const Inst *inst, const AtomicPayload *payload, uint32_t mask, uint8_t *registers) {
    if (!inst->dst_count) return;
    for (uint32_t lanes = mask & payload->mask; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        write_result_lane(inst, registers, lane, payload->result[lane]);
    }
}
