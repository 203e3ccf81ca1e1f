/* mbarrier on shared memory. A phase ends when no arrival is pending and no bytes are; the next one then begins
 * with all arrivals pending. */
#include "core/ptx/execution/exec_address.h"
#include "core/ptx/execution/mbarrier.h"

/* --- The object ------------------------------------------------------------------------------ */

/* The PTX ISA's limits. */
enum { COUNT_BITS = 20, COUNT_MAX = (1 << COUNT_BITS) - 1, BYTES_BITS = 21 };

typedef struct {
    uint32_t pending, expected; /* arrivals: missing in this phase; in each */
    int32_t bytes;   /* to be transferred in this phase; less than 0: more have come than were announced */
    uint32_t parity; /* of the phase */
} Mbarrier;

/* Bits 0-19 pending, 20-39 expected, 40-60 bytes, 62 parity; bit 63 tells an object from other memory. */
static uint64_t pack(Mbarrier m) {
    uint64_t bytes = (uint64_t)m.bytes & ((1ull << BYTES_BITS) - 1);
    return 1ull << 63 | (uint64_t)m.parity << 62 | bytes << 2 * COUNT_BITS |
           (uint64_t)m.expected << COUNT_BITS | m.pending;
}

static Mbarrier unpack(uint64_t object) {
    uint32_t bytes = object >> 2 * COUNT_BITS & ((1u << BYTES_BITS) - 1);
    return (Mbarrier){.pending = object & COUNT_MAX,
                      .expected = object >> COUNT_BITS & COUNT_MAX,
                      .bytes = (int32_t)(bytes << (32 - BYTES_BITS)) >> (32 - BYTES_BITS),
                      .parity = object >> 62 & 1};
}

bool mbarrier_has_passed_parity(uint64_t object, uint32_t parity) {
    return unpack(object).parity != (parity & 1);
}

bool mbarrier_has_passed(uint64_t object, uint64_t state) {
    return mbarrier_has_passed_parity(object, unpack(state).parity);
}

uint32_t mbarrier_pending(uint64_t state) {
    return unpack(state).pending;
}

static bool expect_bytes(Mbarrier *m, int64_t bytes) {
    int64_t sum = m->bytes + bytes;
    if (sum > COUNT_MAX || sum < -COUNT_MAX) return false;
    m->bytes = (int32_t)sum;
    return true;
}

static bool arrive(Mbarrier *m, uint32_t count) {
    if (!count || count > m->pending) return false;
    m->pending -= count;
    return true;
}

static bool drop(Mbarrier *m, uint32_t count) {
    if (count > m->expected) return false;
    m->expected -= count;
    return arrive(m, count);
}

static bool expect_one(Mbarrier *m) {
    m->pending++;
    return m->pending <= COUNT_MAX;
}

static bool change(Mbarrier *m, MbarrierOp operation, uint32_t count) {
    switch (operation) {
    case MBARRIER_EXPECT_TX: return expect_bytes(m, count);
    case MBARRIER_COMPLETE_TX: return expect_bytes(m, -(int64_t)count);
    case MBARRIER_ARRIVE: return arrive(m, count);
    case MBARRIER_ARRIVE_EXPECT_TX: return expect_bytes(m, count) && arrive(m, 1);
    case MBARRIER_DROP: return drop(m, count);
    case MBARRIER_DROP_EXPECT_TX: return expect_bytes(m, count) && drop(m, 1);
    case MBARRIER_EXPECT_ONE: return expect_one(m);
    default: return true;
    }
}

static void end_phase_if_complete(Mbarrier *m) {
    if (m->pending || m->bytes) return;
    m->pending = m->expected;
    m->parity ^= 1;
}

static bool can_end_phase(MbarrierOp operation) {
    return operation >= MBARRIER_COMPLETE_TX && operation <= MBARRIER_DROP_EXPECT_TX;
}

bool mbarrier_perform(uint64_t *object, MbarrierOp operation, uint32_t count, uint64_t *state) {
    Mbarrier m = unpack(*object);
    *state = *object;
    if (operation == MBARRIER_INIT) {
        if (!count || count > COUNT_MAX) return false;
        *object = pack((Mbarrier){.pending = count, .expected = count});
        return true;
    }
    if (!(*object >> 63) || !change(&m, operation, count)) return false;
    if (can_end_phase(operation)) end_phase_if_complete(&m);
    *object = operation == MBARRIER_INVAL ? 0 : pack(m);
    return true;
}

/* --- The instructions ------------------------------------------------------------------------ */

/* Addresses in shared memory of all active lanes. False: a fault. */
static bool find_objects(const Inst *inst, ExecContext *context) {
    form_addresses(inst, context);
    context->space = SPACE_SHARED;
    if (inst->space == SPACE_GENERIC) {
        uint32_t elsewhere = context->active & ~resolve_generic(context).shared;
        if (elsewhere) {
            int lane = __builtin_ctz(elsewhere);
            fault_at(context, FAULT_NO_MBARRIER, lane, context->address[lane]);
            return false;
        }
    }
    fill_inactive_addresses(context);
    return check_range(context, MBARRIER_BYTES, context->shared_bytes) != ACCESS_FAULT;
}

static uint32_t count_of(const Inst *inst, const ExecContext *context, int lane) {
    return inst->src_count > 1 ? ((const LaneU32 *)source(inst, context, 1))[lane] : 1;
}

/* Of an atomic whose addresses may be global: none is. */
static void leave_payload_empty(const Inst *inst, const ExecContext *context) {
    if (inst->kind == INST_ATOMIC && inst->space == SPACE_GENERIC) context->atomic->mask = 0;
}

bool mbarrier_is_wait(const Inst *inst) {
    MbarrierOp operation = (MbarrierOp)(inst->detail & DETAIL_ATOMIC_MASK);
    return inst->kind == INST_ATOMIC && inst->detail & DETAIL_MBARRIER &&
           (operation == MBARRIER_WAIT || operation == MBARRIER_WAIT_PARITY);
}

/* Lane by lane, the lowest first. */
void exec_mbarrier(const Inst *inst, ExecContext *context) {
    MbarrierOp operation = (MbarrierOp)(inst->detail & DETAIL_ATOMIC_MASK);
    leave_payload_empty(inst, context);
    if (!context->active || !find_objects(inst, context)) return;
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        uint64_t object, state, address = context->address[lane];
        memcpy(&object, context->shared + address, sizeof object);
        if (!mbarrier_perform(&object, operation, count_of(inst, context, lane), &state)) {
            fault_at(context, FAULT_NO_MBARRIER, lane, address);
            return;
        }
        memcpy(context->shared + address, &object, sizeof object);
        if (inst->dst_count) ((LaneU64 *)destination(inst, context, 0))[lane] = state;
    }
}

void exec_mbarrier_wait(const Inst *inst, ExecContext *context) {
    bool by_parity = (inst->detail & DETAIL_ATOMIC_MASK) == MBARRIER_WAIT_PARITY;
    uint32_t passed = 0;
    leave_payload_empty(inst, context);
    if (!context->active || !find_objects(inst, context)) return;
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        uint64_t object;
        memcpy(&object, context->shared + context->address[lane], sizeof object);
        const void *phase = source(inst, context, 1);
        bool has_passed = by_parity ? mbarrier_has_passed_parity(object, ((const LaneU32 *)phase)[lane])
                                    : mbarrier_has_passed(object, ((const LaneU64 *)phase)[lane]);
        if (!(object >> 63)) {
            fault_at(context, FAULT_NO_MBARRIER, lane, context->address[lane]);
            return;
        }
        passed |= (uint32_t)has_passed << lane;
    }
    write_predicate(context, inst->pdst, passed);
}

void exec_mbarrier_pending(const Inst *inst, ExecContext *context) {
    const LaneU64 *state = source(inst, context, 0);
    LaneU32 pending[WARP_LANES];
    FOR_LANES pending[lane] = mbarrier_pending(state[lane]);
    write_lanes_32(destination(inst, context, 0), pending, context->active);
}
