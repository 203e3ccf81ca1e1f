/* cp.async.bulk. Each lane copies for itself, one after the other; front_end/bulk_copies.c makes a loop of it. A piece serves
 * the first lane that has something left: the warp's lanes stand for a few of its bytes each, side by side, so that the
 * load/store unit sees whole lines. The last two sources are the sizes of the copies and how much of them is done: less than
 * nothing at first, so that pieces begin where lines do. */
#include "core/ptx/execution/exec_address.h"

ExecFn exec_mbarrier;

enum { ALIGNMENT = 16, LINE = 128 };

static int64_t size_of(const Inst *inst, const ExecContext *context, int lane) {
    return ((const LaneU32 *)source(inst, context, inst->src_count - 2))[lane];
}

static int64_t done_of(const Inst *inst, const ExecContext *context, int lane) {
    return ((const LaneS64 *)source(inst, context, inst->src_count - 1))[lane];
}

static int64_t lane_bytes(const Inst *inst) {
    return (int64_t)inst->element_bytes * inst->elements;
}

/* Bytes of so many pieces as the detail says. */
static int64_t bytes_of_pieces(const Inst *inst) {
    return (int64_t)(inst->detail >> DETAIL_PIECE_SHIFT) * WARP_LANES * lane_bytes(inst);
}

/* The first active lane whose copy is not complete; -1: there is none. */
static int unfinished_lane(const Inst *inst, const ExecContext *context) {
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        int64_t size = size_of(inst, context, lane);
        if (size && done_of(inst, context, lane) < size) return lane;
    }
    return -1;
}

/* --- Pieces ---------------------------------------------------------------------------------- */

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

bool exec_find_bulk(const Inst *inst, ExecContext *context, BulkPiece *piece) {
    int lane = unfinished_lane(inst, context);
    if (lane < 0) return false;
    int64_t begin = done_of(inst, context, lane) + bytes_of_pieces(inst);
    int64_t end = lesser(begin + WARP_LANES * lane_bytes(inst), size_of(inst, context, lane));
    if (begin < 0) begin = 0;
    if (begin >= end) return false;
    form_addresses(inst, context);
    *piece = (BulkPiece){.accessed = context->address[lane] + (uint64_t)begin,
                         .lane = (uint32_t)lane,
                         .bytes = (uint32_t)(end - begin)};
    bool has_two_sides = inst->src_count == 5;
    if (has_two_sides) piece->shared = shared_address_of(inst, context, lane) + (uint64_t)begin;
    return true;
}

/* Lanes become active for its bytes, and their addresses are formed. False: there is nothing left, or a fault. */
static bool take_piece(const Inst *inst, ExecContext *context, BulkPiece *piece) {
    uint32_t bytes = (uint32_t)lane_bytes(inst);
    context->space = inst->space;
    if (!exec_find_bulk(inst, context, piece)) {
        context->active = 0;
        return false;
    }
    uint64_t size = (uint64_t)size_of(inst, context, (int)piece->lane);
    if ((piece->accessed | size) % ALIGNMENT) {
        uint64_t end = piece->accessed + size;
        fault_at(context, FAULT_MISALIGNED, (int)piece->lane,
                 piece->accessed % ALIGNMENT ? piece->accessed : end);
        return false;
    }
    context->active = ALL_LANES >> (WARP_LANES - piece->bytes / bytes);
    FOR_LANES context->address[lane] = piece->accessed + (uint64_t)lane * bytes;
    return true;
}

/* The side that the load/store unit accesses. */
static bool check_accessed(const Inst *inst, ExecContext *context, const BulkPiece *piece) {
    fill_inactive_addresses(context);
    AccessPattern found = inst->space == SPACE_SHARED
                              ? check_range(context, (uint64_t)lane_bytes(inst), context->shared_bytes)
                              : check_global(context, (uint64_t)lane_bytes(inst));
    if (found == ACCESS_FAULT) context->fault_lane = piece->lane;
    return found != ACCESS_FAULT;
}

static bool check_other(ExecContext *context, const BulkPiece *piece) {
    uint64_t end = context->shared_bytes;
    bool inside = is_inside(piece->shared, piece->shared, piece->bytes, 0, end);
    if (inside && piece->shared % ALIGNMENT == 0) return true;
    context->space = SPACE_SHARED;
    if (inside)
        fault_at(context, FAULT_MISALIGNED, (int)piece->lane, piece->shared);
    else
        fault_at(context, FAULT_OUT_OF_BOUNDS, (int)piece->lane, piece->shared < end ? end : piece->shared);
    return false;
}

static bool begin_copy(const Inst *inst, ExecContext *context, BulkPiece *piece) {
    return take_piece(inst, context, piece) && check_other(context, piece) &&
           check_accessed(inst, context, piece);
}

void exec_bulk_load(const Inst *inst, ExecContext *context) {
    BulkPiece piece;
    if (!begin_copy(inst, context, &piece)) return;
    for (uint32_t at = 0; at < piece.bytes; at += 8) {
        uint64_t value;
        view_load(context->view, piece.accessed + at, 8, &value);
        memcpy(context->shared + piece.shared + at, &value, 8);
    }
}

void exec_bulk_store(const Inst *inst, ExecContext *context) {
    BulkPiece piece;
    if (!begin_copy(inst, context, &piece)) return;
    for (uint32_t at = 0; at < piece.bytes; at += 8) {
        uint64_t value;
        memcpy(&value, context->shared + piece.shared + at, 8);
        view_store(context->view, piece.accessed + at, 8, value);
    }
}

/* Each lane stands for an element, which the owner of its address changes. */
void exec_bulk_reduce(const Inst *inst, ExecContext *context) {
    AtomicPayload *payload = context->atomic;
    BulkPiece piece;
    payload->mask = 0;
    if (!begin_copy(inst, context, &piece)) return;
    payload->mask = context->active;
    payload->operation = inst->detail & DETAIL_ATOMIC_MASK;
    payload->bytes = inst->element_bytes;
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        payload->address[lane] = context->address[lane];
        payload->operand[lane] = payload->operand2[lane] = payload->result[lane] = 0;
        memcpy(&payload->operand[lane], context->shared + piece.shared + (uint32_t)lane * payload->bytes,
               payload->bytes);
    }
}

void exec_bulk_reduce_shared(const Inst *inst, ExecContext *context) {
    BulkPiece piece;
    if (!begin_copy(inst, context, &piece)) return;
    uint32_t bytes = inst->element_bytes;
    for (uint32_t at = 0; at < piece.bytes; at += bytes) {
        uint64_t old = 0, operand = 0;
        memcpy(&old, context->shared + piece.accessed + at, bytes);
        memcpy(&operand, context->shared + piece.shared + at, bytes);
        uint64_t value = reduced_on_shared(inst->detail, old, operand);
        memcpy(context->shared + piece.accessed + at, &value, bytes);
    }
}

/* Within shared memory. */
void exec_bulk_move(const Inst *inst, ExecContext *context) {
    BulkPiece piece;
    if (!begin_copy(inst, context, &piece)) return;
    memmove(context->shared + piece.shared, context->shared + piece.accessed, piece.bytes);
}

void exec_bulk_prefetch(const Inst *inst, ExecContext *context) {
    BulkPiece piece;
    if (!take_piece(inst, context, &piece)) return;
    keep_lanes(context, lanes_in_memory(context, context->active));
}

/* --- Around the pieces ----------------------------------------------------------------------- */

void exec_bulk_begin(const Inst *inst, ExecContext *context) {
    LaneS64 done[WARP_LANES];
    form_addresses(inst, context);
    FOR_LANES done[lane] = -(int64_t)(context->address[lane] % LINE);
    write_lanes_64(destination(inst, context, 0), (const LaneU64 *)done, context->active);
}

/* The lane that the pieces served arrives if its copy is complete now. */
void exec_bulk_arrive(const Inst *inst, ExecContext *context) {
    int lane = unfinished_lane(inst, context);
    bool ends = lane >= 0 &&
                done_of(inst, context, lane) + bytes_of_pieces(inst) >= size_of(inst, context, lane);
    context->active = ends ? 1u << lane : 0;
    exec_mbarrier(inst, context);
}

uint32_t exec_bulk_bytes(const Inst *inst, const ExecContext *context) {
    return (uint32_t)size_of(inst, context, __builtin_ctz(context->active));
}

/* How much is done; and the predicate, whether any lane has something left. */
void exec_bulk_next(const Inst *inst, ExecContext *context) {
    int lane = unfinished_lane(inst, context);
    if (lane >= 0)
        ((LaneS64 *)destination(inst, context, 0))[lane] = lesser(
            done_of(inst, context, lane) + bytes_of_pieces(inst), size_of(inst, context, lane));
    write_predicate(context, inst->pdst, unfinished_lane(inst, context) >= 0 ? ALL_LANES : 0);
}
