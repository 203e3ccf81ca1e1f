/* Loads and stores of fragments: ldmatrix, stmatrix, wmma.load and wmma.store. What the load/store unit sees is
 * not what each lane gets, but pieces of 16 bytes, each once: rows of a matrix in shared memory, or what the
 * elements of the fragment touch. */
#include "core/ptx/execution/exec_address.h"
#include "core/ptx/execution/exec_matrix.h"

enum { PIECE = 16 };

/* Generic addresses go by the space of the first lane. */
static bool enter_space(const Inst *inst, ExecContext *context) {
    if (inst->space == SPACE_GENERIC) {
        SpaceLanes lanes = resolve_generic(context);
        uint32_t here = context->space == SPACE_SHARED ? lanes.shared : lanes.global;
        if (here != context->active) {
            int lane = __builtin_ctz(context->active & ~here);
            fault_at(context, FAULT_OUT_OF_BOUNDS, lane, context->address[lane]);
            return false;
        }
    } else {
        context->space = inst->space;
    }
    fill_inactive_addresses(context);
    AccessPattern found = context->space == SPACE_SHARED ? check_range(context, PIECE, context->shared_bytes)
                                                         : check_global(context, PIECE);
    return found != ACCESS_FAULT;
}

/* --- ldmatrix, stmatrix ---------------------------------------------------------------------- */

/* Lanes 8 m to 8 m + 7 name the rows of matrix m; they alone access memory. */
static bool find_rows(const Inst *inst, ExecContext *context, uint32_t registers) {
    form_addresses(inst, context);
    context->active &= registers == 4 ? ALL_LANES : (1u << 8 * registers) - 1;
    if (!context->active || !enter_space(inst, context)) return false;
    if (context->space == SPACE_SHARED) return true;
    fault_at(context, FAULT_OUT_OF_BOUNDS, __builtin_ctz(context->active), context->address[0]);
    return false;
}

/* Where lane `lane` has element `i` of its register: the row that a lane names, and the column. */
static int row_of(const Inst *inst, int lane, int i) {
    return inst->detail & DETAIL_MATRIX_TRANSPOSED ? lane % 4 * 2 + i : lane / 4;
}
static int column_of(const Inst *inst, int lane, int i) {
    return inst->detail & DETAIL_MATRIX_TRANSPOSED ? lane / 4 : lane % 4 * 2 + i;
}

void exec_ldmatrix(const Inst *inst, ExecContext *context) {
    uint32_t writes = context->active;
    if (!find_rows(inst, context, inst->dst_count)) return;
    for (int matrix = 0; matrix < inst->dst_count; matrix++) {
        uint32_t result[WARP_LANES];
        for (int lane = 0; lane < WARP_LANES; lane++) {
            uint16_t pair[2];
            for (int i = 0; i < 2; i++) {
                uint64_t row = context->address[8 * matrix + row_of(inst, lane, i)];
                memcpy(&pair[i], context->shared + row + 2 * column_of(inst, lane, i), sizeof pair[i]);
            }
            result[lane] = (uint32_t)pair[0] | (uint32_t)pair[1] << 16;
        }
        write_lanes_32(destination(inst, context, matrix), result, writes);
    }
}

void exec_stmatrix(const Inst *inst, ExecContext *context) {
    uint32_t registers = inst->src_count - 1u, gives = context->active;
    if (!find_rows(inst, context, registers)) return;
    for (uint32_t matrix = 0; matrix < registers; matrix++) {
        const LaneU32 *from = source(inst, context, (int)matrix + 1);
        for (uint32_t lanes = gives; lanes; lanes &= lanes - 1) {
            int lane = __builtin_ctz(lanes);
            for (int i = 0; i < 2; i++) {
                uint64_t row = context->address[8 * (int)matrix + row_of(inst, lane, i)];
                uint16_t value = (uint16_t)(from[lane] >> 16 * i);
                memcpy(context->shared + row + 2 * column_of(inst, lane, i), &value, sizeof value);
            }
        }
    }
}

/* --- wmma ------------------------------------------------------------------------------------ */

/* Row and column of the matrix in memory: element `i` of register `reg` of a lane. Of types below a byte, an
 * element is a register's 32 bits. */
static void locate(uint32_t detail, int lane, int reg, int i, int *row, int *column) {
    int split = (int)(detail >> FRAGMENT_SPLIT_SHIFT & 0xf), part = reg / split, r = reg % split;
    int bytes = 1 << (detail >> FRAGMENT_BYTES_SHIFT & 3), e = bytes > 4 ? 1 : 4 / bytes;
    int g = lane / 4, t = lane % 4, line, along;
    switch ((FragmentKind)(detail & FRAGMENT_KIND)) {
    case FRAGMENT_A:
        line = detail & FRAGMENT_SHORT ? g : g + 8 * (r % 2) + 16 * part;
        along = e * t + i + 4 * e * (detail & FRAGMENT_SHORT ? r : r / 2);
        break;
    case FRAGMENT_B:
        line = g + 8 * part;
        along = e * t + i + 4 * e * r;
        break;
    default:
        line = g + 8 * (bytes == 2 ? r : r / 2);
        along = 2 * t + (bytes == 2 ? i : r % 2);
        if (detail & FRAGMENT_TALL)
            line += 16 * part;
        else
            along += 8 * part;
        break;
    }
    bool across = ((detail & FRAGMENT_KIND) == FRAGMENT_B) != ((detail & FRAGMENT_EXCHANGED) != 0);
    *row = across ? along : line;
    *column = across ? line : along;
}

/* The fragment of an instruction: its elements' offsets in memory, all lanes'. */
typedef struct {
    uint64_t base, stride; /* of a lane: all have the same; stride in bytes */
    int registers, per_register, bytes, first;
} Fragment;

static uint32_t first_lane(const Inst *inst, const ExecContext *context, int index) {
    return ((const LaneU32 *)source(inst, context, index))[__builtin_ctz(context->active)];
}

static Fragment fragment_of(const Inst *inst, const ExecContext *context, int registers) {
    Fragment fragment = {.registers = registers,
                         .bytes = 1 << (inst->detail >> FRAGMENT_BYTES_SHIFT & 3),
                         .first = inst->detail & FRAGMENT_SECOND ? 4 : 0};
    uint64_t elements = first_lane(inst, context, inst->src_count - 1);
    fragment.per_register = fragment.bytes >= 4 ? 1 : 4 / fragment.bytes;
    fragment.stride = elements * (uint64_t)fragment.bytes >> (inst->detail >> FRAGMENT_STRIDE_SHIFT & 0xf);
    return fragment;
}

static uint64_t element_offset(const Inst *inst, const Fragment *fragment, int lane, int reg, int i) {
    int row, column;
    locate(inst->detail, lane, fragment->first + reg, i, &row, &column);
    uint64_t line = (uint64_t)(inst->detail & FRAGMENT_COLUMNS ? column : row),
             along = (uint64_t)(inst->detail & FRAGMENT_COLUMNS ? row : column);
    return line * fragment->stride + along * (uint64_t)fragment->bytes;
}

static void order(uint64_t *list, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j && list[j - 1] > list[j]; j--) {
            uint64_t other = list[j];
            list[j] = list[j - 1];
            list[j - 1] = other;
        }
}

/* The pieces become the addresses of lanes 0, 1 and on. False: a fault. */
static bool find_pieces(const Inst *inst, ExecContext *context, Fragment *fragment) {
    uint64_t pieces[WARP_LANES];
    uint32_t count = 0;
    form_addresses(inst, context);
    fragment->base = context->address[__builtin_ctz(context->active)];
    bool aligned = fragment->base % PIECE == 0 && fragment->stride % PIECE == 0;
    for (int lane = 0; aligned && lane < WARP_LANES; lane++)
        for (int n = 0; n < fragment->registers * fragment->per_register; n++) {
            uint64_t offset = element_offset(inst, fragment, lane, n / fragment->per_register,
                                             n % fragment->per_register);
            uint64_t piece = fragment->base + offset / PIECE * PIECE;
            uint32_t at = 0;
            while (at < count && pieces[at] != piece)
                at++;
            if (at == WARP_LANES) aligned = false;
            if (at == count && aligned) pieces[count++] = piece;
        }
    if (!aligned) {
        context->space = inst->space == SPACE_GENERIC ? SPACE_GLOBAL : inst->space;
        bool is_uneven = fragment->base % PIECE == 0 && fragment->stride % PIECE != 0;
        fault_at(context, is_uneven ? FAULT_UNEVEN_STRIDE : FAULT_MISALIGNED, __builtin_ctz(context->active),
                 is_uneven ? fragment->stride : fragment->base);
        return false;
    }
    order(pieces, count);
    memcpy(context->address, pieces, count * sizeof *pieces);
    context->active = count == WARP_LANES ? ALL_LANES : (1u << count) - 1;
    return enter_space(inst, context);
}

/* In its own space. */
static uint64_t base_in_space(const Inst *inst, const ExecContext *context, const Fragment *fragment) {
    bool generic_shared = inst->space == SPACE_GENERIC && context->space == SPACE_SHARED;
    return fragment->base - (generic_shared ? SHARED_WINDOW : 0);
}

static uint64_t read_element(const ExecContext *context, uint64_t address, int bytes) {
    uint64_t value = 0;
    if (context->space == SPACE_SHARED)
        memcpy(&value, context->shared + address, (size_t)bytes);
    else
        view_load(context->view, address, (uint32_t)bytes, &value);
    return value;
}

static void write_element(const ExecContext *context, uint64_t address, int bytes, uint64_t value) {
    if (context->space == SPACE_SHARED)
        memcpy(context->shared + address, &value, (size_t)bytes);
    else
        view_store(context->view, address, (uint32_t)bytes, value);
}

void exec_fragment_load(const Inst *inst, ExecContext *context) {
    uint32_t writes = context->active;
    Fragment fragment = fragment_of(inst, context, inst->dst_count);
    if (!find_pieces(inst, context, &fragment)) return;
    uint64_t base = base_in_space(inst, context, &fragment);
    for (uint32_t lanes = writes; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        for (int reg = 0; reg < fragment.registers; reg++) {
            uint64_t value = 0;
            for (int i = 0; i < fragment.per_register; i++)
                value |= read_element(context, base + element_offset(inst, &fragment, lane, reg, i),
                                      fragment.bytes)
                         << 8 * fragment.bytes * i;
            if (fragment.bytes == 8)
                ((LaneU64 *)destination(inst, context, reg))[lane] = value;
            else
                ((LaneU32 *)destination(inst, context, reg))[lane] = (uint32_t)value;
        }
    }
}

void exec_fragment_store(const Inst *inst, ExecContext *context) {
    uint32_t gives = context->active;
    Fragment fragment = fragment_of(inst, context, inst->src_count - 2);
    if (!find_pieces(inst, context, &fragment)) return;
    uint64_t base = base_in_space(inst, context, &fragment);
    for (uint32_t lanes = gives; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        for (int reg = 0; reg < fragment.registers; reg++) {
            const void *from = source(inst, context, reg + 1);
            uint64_t value = fragment.bytes == 8 ? ((const LaneU64 *)from)[lane]
                                                 : ((const LaneU32 *)from)[lane];
            for (int i = 0; i < fragment.per_register; i++)
                write_element(context, base + element_offset(inst, &fragment, lane, reg, i), fragment.bytes,
                              value >> 8 * fragment.bytes * i);
        }
    }
}

void exec_find_elements(const Inst *inst, const ExecContext *context, uint32_t lane, LaneElements *found) {
    bool stores = inst->exec == exec_stmatrix || inst->exec == exec_fragment_store;
    *found = (LaneElements){.count = 1, .bytes = (uint32_t)inst->element_bytes * inst->elements};
    if (inst->exec == exec_ldmatrix || inst->exec == exec_stmatrix) {
        uint32_t matrices = stores ? inst->src_count - 1u : inst->dst_count;
        found->count = lane < 8 * matrices;
        found->bytes = PIECE;
    } else if (exec_narrows_lanes(inst)) {
        Fragment fragment = fragment_of(inst, context, stores ? inst->src_count - 2 : inst->dst_count);
        found->count = (uint32_t)(fragment.registers * fragment.per_register);
        found->bytes = (uint32_t)fragment.bytes;
        for (int i = 0; i < fragment.registers * fragment.per_register; i++)
            found->offset[i] = element_offset(inst, &fragment, (int)lane, i / fragment.per_register,
                                              i % fragment.per_register);
    }
}

bool exec_narrows_lanes(const Inst *inst) {
    return inst->exec == exec_ldmatrix || inst->exec == exec_stmatrix || inst->exec == exec_fragment_load ||
           inst->exec == exec_fragment_store;
}
