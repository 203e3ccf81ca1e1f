/* Loads and stores of local memory. It lies word by word (exec.h), so that the lanes of a warp, which mostly access one
 * address, each in its own memory, find their words side by side. */
#include "core/ptx/execution/exec_memory.h"
#include "core/ptx/execution/exec_window.h"

/* Where all lanes, active or not, access elements of so many bytes in all, when they do so at one address and none of them
 * faults; false sends the caller through the general path. */
static inline bool is_alike(const Inst *inst, ExecContext *context, uint64_t bytes, uint64_t *address) {
    if (!is_address_alike(inst, context, address)) return false;
    if ((*address & (bytes - 1)) || !is_inside(*address, *address, bytes, 0, context->local_bytes))
        return false;
    context->space = SPACE_LOCAL;
    context->lowest = context->highest = *address;
    FOR_LANES context->address[lane] = *address;
    return true;
}

/* The words of all lanes in which the element at `address` lies, or begins. */
static inline LaneU32 *row_of(const ExecContext *context, uint64_t address) {
    return (LaneU32 *)(context->local + local_place(address & ~3ull, 0));
}

static inline uint32_t shift_in_word(uint64_t address) {
    return (uint32_t)(address & 3) * 8;
}

static inline uint64_t two_words(const uint8_t *first) {
    uint32_t low, high;
    memcpy(&low, first, sizeof low);
    memcpy(&high, first + LOCAL_ROW_BYTES, sizeof high);
    return low | (uint64_t)high << 32;
}

/* To a register, of the active lanes: vectors, which are read as such. */
static inline void write_lanes(void *to, const void *values, uint64_t lane_bytes, uint32_t active) {
    if (active == ALL_LANES) {
        for (uint32_t i = 0; i < WARP_LANES * lane_bytes / sizeof(EightLanes); i++)
            ((EightLanes *)to)[i] = ((const EightLanes *)values)[i];
        return;
    }
    for (int lane = 0; lane < WARP_LANES && lane_bytes == sizeof(uint32_t); lane += 8)
        write_eight((EightLanes *)to + lane / 8, (const EightLanes *)values + lane / 8, active, lane);
    for (int lane = 0; lane < WARP_LANES && lane_bytes == sizeof(uint64_t); lane += 4)
        write_four((FourLanes *)to + lane / 4, (const FourLanes *)values + lane / 4, active, lane);
}

static inline bool form_local_addresses(const Inst *inst, ExecContext *context) {
    form_addresses(inst, context);
    context->space = SPACE_LOCAL;
    fill_inactive_addresses(context);
    return context->active != 0;
}

#define PLACE_OF_LANE(i) memory, address[lane + (i)] + offset, lane + (i)

#define DEFINE_LOAD(kind, MEMORY, SLOT)                                                                      \
    static inline SLOT element_##kind(const uint8_t *memory, uint64_t address, int lane) {                   \
        MEMORY value;                                                                                        \
        const uint8_t *from = memory + local_place(address, lane);                                           \
        if (sizeof value > LOCAL_WORD_BYTES)                                                                 \
            value = (MEMORY)two_words(from);                                                                 \
        else                                                                                                 \
            memcpy(&value, from, sizeof value);                                                              \
        return (SLOT)value;                                                                                  \
    }                                                                                                        \
                                                                                                             \
    /* From one address. */                                                                                  \
    static inline void load_row_##kind(SLOT *to, const ExecContext *context, uint64_t address) {             \
        SLOT values[WARP_LANES] __attribute__((aligned(64)));                                                \
        const LaneU32 *row = row_of(context, address);                                                       \
        if (IS_WORD(MEMORY, SLOT)) {                                                                         \
            write_lanes_32((LaneU32 *)to, row, context->active);                                             \
            return;                                                                                          \
        }                                                                                                    \
        uint32_t shift = sizeof(MEMORY) < LOCAL_WORD_BYTES ? shift_in_word(address) : 0;                     \
        FOR_LANES values[lane] = sizeof(MEMORY) > LOCAL_WORD_BYTES                                           \
                                     ? (SLOT)(row[lane] | (uint64_t)row[lane + WARP_LANES] << 32)            \
                                     : (SLOT)(MEMORY)(row[lane] >> shift);                                   \
        write_lanes(to, values, sizeof(SLOT), context->active);                                              \
    }                                                                                                        \
                                                                                                             \
    /* From the lanes' addresses, and behind that. */                                                        \
    static inline void gather_##kind(SLOT *to, const ExecContext *context, uint64_t offset) {                \
        const uint8_t *memory = context->local;                                                              \
        const uint64_t *address = context->address;                                                          \
        uint32_t active = context->active;                                                                   \
        if (__builtin_popcount(active) < MANY_LANES) {                                                       \
            for (uint32_t lanes = active; lanes; lanes &= lanes - 1) {                                       \
                int lane = __builtin_ctz(lanes);                                                             \
                to[lane] = element_##kind(PLACE_OF_LANE(0));                                                 \
            }                                                                                                \
        } else if (sizeof(SLOT) == sizeof(uint32_t)) {                                                       \
            for (int lane = 0; lane < WARP_LANES; lane += 8) {                                               \
                EightLanes lanes = EIGHT_LANES(element_##kind, PLACE_OF_LANE);                               \
                write_eight((EightLanes *)to + lane / 8, &lanes, active, lane);                              \
            }                                                                                                \
        } else {                                                                                             \
            for (int lane = 0; lane < WARP_LANES; lane += 4) {                                               \
                FourLanes lanes = FOUR_LANES(element_##kind, PLACE_OF_LANE);                                 \
                write_four((FourLanes *)to + lane / 4, &lanes, active, lane);                                \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static inline void load_elements_##kind(const Inst *inst, ExecContext *context, bool alike) {            \
        int next = 0;                                                                                        \
        for (uint32_t element = 0; element < inst->elements; element++) {                                    \
            if (!(inst->dst_mask >> element & 1)) continue;                                                  \
            SLOT *to = destination(inst, context, next++);                                                   \
            uint64_t offset = element * sizeof(MEMORY);                                                      \
            if (alike)                                                                                       \
                load_row_##kind(to, context, context->lowest + offset);                                      \
            else                                                                                             \
                gather_##kind(to, context, offset);                                                          \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    void local_load_##kind(const Inst *inst, ExecContext *context) {                                         \
        AccessPattern pattern = check_range(context, sizeof(MEMORY) * inst->elements, context->local_bytes); \
        if (pattern != ACCESS_FAULT) load_elements_##kind(inst, context, pattern == ACCESS_UNIFORM);         \
    }                                                                                                        \
                                                                                                             \
    /* Apart, so that the common case need not save the host's registers. */                                 \
    __attribute__((noinline)) static void load_anywhere_##kind(const Inst *inst, ExecContext *context) {     \
        if (form_local_addresses(inst, context)) local_load_##kind(inst, context);                           \
    }                                                                                                        \
                                                                                                             \
    void exec_load_local_##kind(const Inst *inst, ExecContext *context) {                                    \
        uint64_t address;                                                                                    \
        if (!is_alike(inst, context, sizeof(MEMORY) * inst->elements, &address))                             \
            load_anywhere_##kind(inst, context);                                                             \
        else if (inst->elements > 1)                                                                         \
            load_elements_##kind(inst, context, true);                                                       \
        else if (inst->dst_count)                                                                            \
            load_row_##kind(destination(inst, context, 0), context, address);                                \
    }

LOAD_KINDS(DEFINE_LOAD)

#define DEFINE_STORE(kind, MEMORY, SLOT)                                                                     \
    /* To one address. */                                                                                    \
    static inline void store_row_##kind(const ExecContext *context, uint64_t address, const SLOT *from) {    \
        LaneU32 *row = row_of(context, address);                                                             \
        if (IS_WORD(MEMORY, SLOT)) {                                                                         \
            write_lanes_32(row, (const LaneU32 *)from, context->active);                                     \
            return;                                                                                          \
        }                                                                                                    \
        uint32_t active = context->active, shift = shift_in_word(address);                                   \
        uint32_t kept = sizeof(MEMORY) < LOCAL_WORD_BYTES ? ~((uint32_t)(MEMORY)~0ull << shift) : 0;         \
        FOR_LANES {                                                                                          \
            uint32_t word = (uint32_t)(MEMORY)from[lane] << shift | (row[lane] & kept);                      \
            row[lane] = active >> lane & 1 ? word : row[lane];                                               \
        }                                                                                                    \
        if (sizeof(MEMORY) <= LOCAL_WORD_BYTES) return;                                                      \
        row += WARP_LANES;                                                                                   \
        FOR_LANES row[lane] = active >> lane & 1 ? (uint32_t)((uint64_t)from[lane] >> 32) : row[lane];       \
    }                                                                                                        \
                                                                                                             \
    static inline void scatter_##kind(const ExecContext *context, uint64_t offset, const SLOT *from) {       \
        for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {                                  \
            int lane = __builtin_ctz(lanes);                                                                 \
            uint8_t *to = context->local + local_place(context->address[lane] + offset, lane);               \
            uint64_t value = (MEMORY)from[lane];                                                             \
            memcpy(to, &value, sizeof(MEMORY) > LOCAL_WORD_BYTES ? LOCAL_WORD_BYTES : sizeof(MEMORY));       \
            if (sizeof(MEMORY) <= LOCAL_WORD_BYTES) continue;                                                \
            uint32_t high = (uint32_t)(value >> 32);                                                         \
            memcpy(to + LOCAL_ROW_BYTES, &high, sizeof high);                                                \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static inline void store_elements_##kind(const Inst *inst, ExecContext *context, bool alike) {           \
        for (int element = 0; element < inst->elements; element++) {                                         \
            const SLOT *from = source(inst, context, 1 + element);                                           \
            uint64_t offset = (uint64_t)element * sizeof(MEMORY);                                            \
            if (alike)                                                                                       \
                store_row_##kind(context, context->lowest + offset, from);                                   \
            else                                                                                             \
                scatter_##kind(context, offset, from);                                                       \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    void local_store_##kind(const Inst *inst, ExecContext *context) {                                        \
        AccessPattern pattern = check_range(context, sizeof(MEMORY) * inst->elements, context->local_bytes); \
        if (pattern != ACCESS_FAULT) store_elements_##kind(inst, context, pattern == ACCESS_UNIFORM);        \
    }                                                                                                        \
                                                                                                             \
    __attribute__((noinline)) static void store_anywhere_##kind(const Inst *inst, ExecContext *context) {    \
        if (form_local_addresses(inst, context)) local_store_##kind(inst, context);                          \
    }                                                                                                        \
                                                                                                             \
    void exec_store_local_##kind(const Inst *inst, ExecContext *context) {                                   \
        uint64_t address;                                                                                    \
        if (!is_alike(inst, context, sizeof(MEMORY) * inst->elements, &address))                             \
            store_anywhere_##kind(inst, context);                                                            \
        else                                                                                                 \
            store_elements_##kind(inst, context, true);                                                      \
    }

STORE_KINDS(DEFINE_STORE)
