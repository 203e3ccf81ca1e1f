/* Loads and stores. The kind of a load is its type in memory and the width of its destination registers, the
 * kind of a store is its width and that of its source registers; each kind has one handler per space.
 *
 * In every handler: form addresses, check them, then move the elements. The common cases, lanes side by
 * side or in runs and all lanes at one address, are recognised because they are several times cheaper than a gather. */
#include "core/ptx/execution/exec_memory.h"
#include "core/ptx/execution/exec_window.h"

/* The signature of the lines of a range. */
static inline uint64_t range_lines(uint64_t first, uint64_t bytes) {
    uint64_t lines = view_line_bit(first + bytes - 1);
    for (uint64_t address = first; address < first + bytes; address += 128)
        lines |= view_line_bit(address);
    return lines;
}

/* Likewise, of the lines that the lanes touch: naturally aligned accesses do not cross a line. Where these are close
 * together, those between them count, too. */
static uint64_t touched_lines(const ExecContext *context) {
    uint64_t lines = 0, span = context->highest - context->lowest;
    if (span < 4 * 128) return range_lines(context->lowest, span + 1);
    FOR_LANES
    lines |= view_line_bit(context->address[lane]);
    return lines;
}

/* Likewise, of lanes in runs. */
static inline uint64_t run_lines(const ExecContext *context, uint64_t bytes) {
    uint64_t lines = 0;
    for (int lane = 0; lane < WARP_LANES; lane += RUN_LANES)
        lines |= view_line_bit(context->address[lane]) |
                 view_line_bit(context->address[lane] + RUN_LANES * bytes - 1);
    return lines;
}

/* The first byte of the range in which the lanes lie side by side, when they pass all checks without further ado; NULL
 * sends the caller through the general path. */
static inline const uint8_t *range_in_global(const ExecContext *context, uint64_t bytes) {
    MemoryView *view = context->view;
    uint64_t first = context->address[0], all = bytes * WARP_LANES;
    if ((first & (bytes - 1)) || !view_covers(view, first, all)) return NULL;
    if (view->signature && (view->signature & range_lines(first, all))) return NULL;
    return view->base + first;
}

/* Of lanes in runs: do they pass all checks without further ado? Else the general path finds out. */
static inline bool are_runs_in_global(const ExecContext *context, uint64_t bytes) {
    return are_runs_aligned(context, bytes) &&
           view_covers(context->view, context->lowest, context->highest - context->lowest + bytes);
}

/* The last run's start, not its end, is compared with the limit: the end may be beyond all addresses. */
static inline bool are_runs_within(const ExecContext *context, uint64_t bytes, uint64_t limit) {
    uint64_t last_run = context->highest - (RUN_LANES - 1) * bytes;
    return are_runs_aligned(context, bytes) &&
           is_inside(context->lowest, last_run, RUN_LANES * bytes, 0, limit);
}

/* Has this agent written to their lines in this quantum? */
static inline bool are_runs_logged(const ExecContext *context, uint64_t bytes) {
    const MemoryView *view = context->view;
    return view->signature && (view->signature & run_lines(context, bytes));
}

/* As check_range(), which need not be asked about an address that the instruction names itself: most
 * parameters are read so. */
static inline AccessPattern check_flat(const Inst *inst, ExecContext *context, uint64_t bytes,
                                       uint64_t limit) {
    uint64_t first = context->address[0];
    if (!(inst->src[0] & OPERAND_CONST) || (first & (bytes - 1)) || !is_inside(first, first, bytes, 0, limit))
        return check_range(context, bytes, limit);
    context->lowest = context->highest = first;
    return ACCESS_UNIFORM;
}

#define PLACE_BY_ADDRESS(i) from + address[lane + (i)]

/* The handlers of generic accesses run those of a space for the lanes that fall into it. */
typedef void SpaceAccess(const Inst *inst, ExecContext *context);

/* `param`: NULL where parameters cannot be accessed. */
static void access_spaces(const Inst *inst, ExecContext *context, SpaceAccess *global, SpaceAccess *shared,
                          SpaceAccess *local, SpaceAccess *param) {
    uint32_t active = context->active;
    form_addresses(inst, context);
    uint32_t params = param ? resolve_params(context) : 0;
    context->active &= ~params;
    SpaceLanes lanes = resolve_generic(context);
    uint32_t reported = params & active & -active ? SPACE_PARAM : context->space;
    uint64_t resolved[WARP_LANES];
    memcpy(resolved, context->address, sizeof resolved);
    struct {
        uint32_t lanes, space;
        SpaceAccess *access;
    } parts[] = {{lanes.global, SPACE_GLOBAL, global},
                 {lanes.shared, SPACE_SHARED, shared},
                 {lanes.local, SPACE_LOCAL, local},
                 {params, SPACE_PARAM, param}};
    for (int part = 0; part < 4 && context->fault == FAULT_NONE; part++) {
        if (!parts[part].lanes) continue;
        memcpy(context->address, resolved, sizeof resolved);
        context->active = parts[part].lanes;
        context->space = parts[part].space;
        fill_inactive_addresses(context);
        parts[part].access(inst, context);
    }
    context->active = active;
    context->space = reported;
    memcpy(context->address, resolved, sizeof resolved);
}

/* To the active lanes their words, when those of all lanes lie in one line, as those of a small table may, and pass all
 * checks. The whole line is read: with a byte that may be accessed the host can read it. */
static inline bool load_from_line(const Inst *inst, ExecContext *context) {
    uint64_t first = context->address[0], line = first & ~(uint64_t)(WINDOW_SPAN - 1);
    MemoryView *view = context->view;
    FourLanes differences = {0};
    Offsets offsets;
    uint32_t lowest = WINDOW_SPAN, highest = 0;
    for (int lane = 0; lane < WARP_LANES; lane += 4)
        differences |= *(const FourLanes *)(context->address + lane) ^ first;
    differences &= ~(uint64_t)(WINDOW_SPAN - 4);
    if (has_bits(&differences) || first & 3) return false;
    FOR_LANES offsets[lane] = (uint32_t)(context->address[lane] - line);
    FOR_LANES {
        lowest = offsets[lane] < lowest ? offsets[lane] : lowest;
        highest = offsets[lane] > highest ? offsets[lane] : highest;
    }
    if (!view_covers(view, line + lowest, highest - lowest + 4) || view->signature & view_line_bit(line))
        return false;
    context->lowest = line + lowest;
    context->highest = line + highest;
    permute_window(destination(inst, context, 0), view->base + line, offsets, 0, context->active);
    return true;
}

/* Do all lanes access so many bytes at one address, and is it aligned? Then the context says so. */
static inline bool is_access_alike(const Inst *inst, ExecContext *context, uint64_t bytes,
                                   uint64_t *address) {
    if (!context->active || !is_address_alike(inst, context, address) || (*address & (bytes - 1)))
        return false;
    context->space = inst->space;
    context->lowest = context->highest = *address;
    FOR_LANES context->address[lane] = *address;
    return true;
}

/* From shared memory, when no lane faults. */
static inline bool load_words(const Inst *inst, ExecContext *context) {
    Offsets offsets;
    if (!context->active || !narrow_word_addresses(context, offsets, context->shared_bytes)) return false;
    if (inst->dst_count)
        read_words(destination(inst, context, 0), context->shared, context->shared_bytes, offsets, context);
    keep_window(inst, context, offsets);
    return true;
}

#define DEFINE_LOAD(kind, MEMORY, SLOT)                                                                      \
    static inline SLOT element_##kind(const uint8_t *from) {                                                 \
        MEMORY value;                                                                                        \
        memcpy(&value, from, sizeof value);                                                                  \
        return (SLOT)value;                                                                                  \
    }                                                                                                        \
                                                                                                             \
    static inline void copy_##kind(const Inst *inst, ExecContext *context, const uint8_t *from) {            \
        if (!inst->dst_count) return;                                                                        \
        SLOT *to = destination(inst, context, 0);                                                            \
        FOR_LANES to[lane] = element_##kind(from + (uint64_t)lane * sizeof(MEMORY));                         \
    }                                                                                                        \
                                                                                                             \
    /* To the active lanes: the element of each lies behind `from` by its address. */                        \
    static inline void gather_lanes_##kind(void *to, const uint8_t *from,                                    \
                                           const uint64_t address[WARP_LANES], uint32_t active) {            \
        if (__builtin_popcount(active) < MANY_LANES) {                                                       \
            for (uint32_t lanes = active; lanes; lanes &= lanes - 1) {                                       \
                int lane = __builtin_ctz(lanes);                                                             \
                ((SLOT *)to)[lane] = element_##kind(PLACE_BY_ADDRESS(0));                                    \
            }                                                                                                \
        } else if (sizeof(SLOT) == sizeof(uint32_t)) {                                                       \
            for (int lane = 0; lane < WARP_LANES; lane += 8) {                                               \
                EightLanes lanes = EIGHT_LANES(element_##kind, PLACE_BY_ADDRESS);                            \
                write_eight((EightLanes *)to + lane / 8, &lanes, active, lane);                              \
            }                                                                                                \
        } else {                                                                                             \
            for (int lane = 0; lane < WARP_LANES; lane += 4) {                                               \
                FourLanes lanes = FOUR_LANES(element_##kind, PLACE_BY_ADDRESS);                              \
                write_four((FourLanes *)to + lane / 4, &lanes, active, lane);                                \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static inline void copy_runs_##kind(const Inst *inst, ExecContext *context, const uint8_t *base) {       \
        if (!inst->dst_count) return;                                                                        \
        SLOT *to = destination(inst, context, 0);                                                            \
        for (int run = 0; run < WARP_LANES; run += RUN_LANES) {                                              \
            const uint8_t *from = base + context->address[run];                                              \
            INDEPENDENT_ITERATIONS for (int i = 0; i < RUN_LANES; i++) {                                     \
                to[run + i] = element_##kind(from + (uint64_t)i * sizeof(MEMORY));                           \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    /* All lanes read the elements at `from`. */                                                             \
    static inline void broadcast_##kind(const Inst *inst, ExecContext *context, const uint8_t *from) {       \
        uint32_t active = context->active;                                                                   \
        int next = 0;                                                                                        \
        for (uint32_t element = 0; element < inst->elements; element++) {                                    \
            if (!(inst->dst_mask >> element & 1)) continue;                                                  \
            SLOT *to = destination(inst, context, next++);                                                   \
            SLOT value = element_##kind(from + element * sizeof(MEMORY));                                    \
            if (active == ALL_LANES) {                                                                       \
                FOR_LANES to[lane] = value;                                                                  \
            } else {                                                                                         \
                FOR_LANES to[lane] = active >> lane & 1 ? value : to[lane];                                  \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    /* Lanes read at base + their addresses; those of inactive lanes are filled. */                          \
    static inline void gather_##kind(const Inst *inst, ExecContext *context, AccessPattern pattern,          \
                                     const uint8_t *base) {                                                  \
        int next = 0;                                                                                        \
        if (pattern == ACCESS_UNIFORM) {                                                                     \
            broadcast_##kind(inst, context, base + context->address[0]);                                     \
            return;                                                                                          \
        }                                                                                                    \
        for (uint32_t element = 0; element < inst->elements; element++) {                                    \
            if (!(inst->dst_mask >> element & 1)) continue;                                                  \
            SLOT *to = destination(inst, context, next++);                                                   \
            const uint8_t *from = base + element * sizeof(MEMORY);                                           \
            gather_lanes_##kind(to, from, context->address, context->active);                                \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    __attribute__((noinline)) static void load_logged_##kind(const Inst *inst, ExecContext *context) {       \
        int next = 0;                                                                                        \
        for (uint32_t element = 0; element < inst->elements; element++) {                                    \
            if (!(inst->dst_mask >> element & 1)) continue;                                                  \
            SLOT *to = destination(inst, context, next++);                                                   \
            for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {                              \
                int lane = __builtin_ctz(lanes);                                                             \
                uint64_t value;                                                                              \
                view_load(context->view, context->address[lane] + element * sizeof(MEMORY), sizeof(MEMORY),  \
                          &value);                                                                           \
                to[lane] = (SLOT)(MEMORY)value;                                                              \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static void global_##kind(const Inst *inst, ExecContext *context) {                                      \
        if (IS_WORD(MEMORY, SLOT) && inst->elements == 1 && inst->dst_count &&                               \
            load_from_line(inst, context))                                                                   \
            return;                                                                                          \
        AccessPattern pattern = check_global(context, sizeof(MEMORY) * inst->elements);                      \
        if (pattern == ACCESS_FAULT) return;                                                                 \
        if (context->view->signature && (context->view->signature & touched_lines(context))) {               \
            load_logged_##kind(inst, context);                                                               \
        } else {                                                                                             \
            gather_##kind(inst, context, pattern, context->view->base);                                      \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static inline void flat_##kind(const Inst *inst, ExecContext *context, const uint8_t *base,              \
                                   uint64_t limit) {                                                         \
        AccessPattern pattern = check_flat(inst, context, sizeof(MEMORY) * inst->elements, limit);           \
        if (pattern != ACCESS_FAULT) gather_##kind(inst, context, pattern, base);                            \
    }                                                                                                        \
                                                                                                             \
    static void shared_##kind(const Inst *inst, ExecContext *context) {                                      \
        flat_##kind(inst, context, context->shared, context->shared_bytes);                                  \
    }                                                                                                        \
                                                                                                             \
    /* Apart, so that the common cases need not save the host's registers. */                                \
    __attribute__((noinline)) static bool load_runs_##kind(const Inst *inst, ExecContext *context) {         \
        if (!are_runs_in_global(context, sizeof(MEMORY)) || are_runs_logged(context, sizeof(MEMORY)))        \
            return false;                                                                                    \
        copy_runs_##kind(inst, context, context->view->base);                                                \
        return true;                                                                                         \
    }                                                                                                        \
                                                                                                             \
    /* From one address in all lanes, when it passes all checks without further ado. */                      \
    static inline bool load_alike_##kind(const Inst *inst, ExecContext *context) {                           \
        uint64_t address, bytes = sizeof(MEMORY) * inst->elements;                                           \
        MemoryView *view = context->view;                                                                    \
        if (!is_access_alike(inst, context, bytes, &address) || !view_covers(view, address, bytes) ||        \
            (view->signature & view_line_bit(address)))                                                      \
            return false;                                                                                    \
        broadcast_##kind(inst, context, view->base + address);                                               \
        return true;                                                                                         \
    }                                                                                                        \
                                                                                                             \
    void exec_load_global_##kind(const Inst *inst, ExecContext *context) {                                   \
        if (load_alike_##kind(inst, context)) return;                                                        \
        form_addresses(inst, context);                                                                       \
        context->space = inst->space;                                                                        \
        LaneOrder order = inst->elements == 1 ? lane_order(context, sizeof(MEMORY)) : LANES_SCATTERED;       \
        const uint8_t *from = order == LANES_SIDE_BY_SIDE ? range_in_global(context, sizeof(MEMORY)) : NULL; \
        if (from) {                                                                                          \
            copy_##kind(inst, context, from);                                                                \
            return;                                                                                          \
        }                                                                                                    \
        if (order == LANES_IN_RUNS && load_runs_##kind(inst, context)) return;                               \
        fill_inactive_addresses(context);                                                                    \
        if (context->active) global_##kind(inst, context);                                                   \
    }                                                                                                        \
                                                                                                             \
    /* Apart, like load_runs_kind(). */                                                                      \
    __attribute__((noinline)) static void load_shared_##kind(const Inst *inst, ExecContext *context) {       \
        uint64_t address, limit = context->shared_bytes, bytes = sizeof(MEMORY) * inst->elements;            \
        if (!inst->windows && is_access_alike(inst, context, bytes, &address) &&                             \
            is_inside(address, address, bytes, 0, limit)) {                                                  \
            broadcast_##kind(inst, context, context->shared + address);                                      \
            return;                                                                                          \
        }                                                                                                    \
        form_addresses(inst, context);                                                                       \
        context->space = SPACE_SHARED;                                                                       \
        fill_inactive_addresses(context);                                                                    \
        if (IS_WORD(MEMORY, SLOT)) {                                                                         \
            if (inst->elements == 1 && load_words(inst, context)) return;                                    \
        } else if (inst->elements == 1 && lane_order(context, sizeof(MEMORY)) != LANES_SCATTERED &&          \
                   are_runs_within(context, sizeof(MEMORY), context->shared_bytes)) {                        \
            copy_runs_##kind(inst, context, context->shared);                                                \
            return;                                                                                          \
        }                                                                                                    \
        if (context->active) shared_##kind(inst, context);                                                   \
    }                                                                                                        \
                                                                                                             \
    void exec_load_shared_##kind(const Inst *inst, ExecContext *context) {                                   \
        if (!IS_WORD(MEMORY, SLOT) || !load_known_words(inst, context)) load_shared_##kind(inst, context);   \
    }                                                                                                        \
                                                                                                             \
    static void param_##kind(const Inst *inst, ExecContext *context) {                                       \
        flat_##kind(inst, context, context->params, context->param_bytes);                                   \
    }                                                                                                        \
                                                                                                             \
    void exec_load_param_##kind(const Inst *inst, ExecContext *context) {                                    \
        form_addresses(inst, context);                                                                       \
        context->space = SPACE_PARAM;                                                                        \
        fill_inactive_addresses(context);                                                                    \
        if (context->active) param_##kind(inst, context);                                                    \
    }                                                                                                        \
                                                                                                             \
    void exec_load_generic_##kind(const Inst *inst, ExecContext *context) {                                  \
        access_spaces(inst, context, global_##kind, shared_##kind, local_load_##kind, param_##kind);         \
    }

/* A load whose value is in the constant bank: what is left is the access. */
void exec_param_address(const Inst *inst, ExecContext *context) {
    uint64_t address = (uint64_t)inst->displacement;
    context->space = SPACE_PARAM;
    context->lowest = context->highest = address;
    FOR_LANES context->address[lane] = address;
}

LOAD_KINDS(DEFINE_LOAD)

/* Two 32-bit lanes make one write of the log. */
static inline void log_run(MemoryView *view, uint64_t address, const uint8_t *values, uint64_t bytes) {
    LoggedWrite *write = view->log + view->log_count;
    for (uint64_t offset = 0; offset < bytes; offset += sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, values + offset, sizeof value);
        *write++ = (LoggedWrite){address + offset, value, sizeof value};
    }
    view->log_count = (uint32_t)(write - view->log);
}

/* Lanes side by side store the elements of `values`. */
static inline void store_range(ExecContext *context, const uint8_t *values, uint64_t element_bytes) {
    MemoryView *view = context->view;
    uint64_t first = context->address[0], bytes = WARP_LANES * element_bytes;
    if (view->is_alone) {
        view_write(view, first, values, bytes);
        return;
    }
    view_reserve(view, WARP_LANES);
    view->signature |= range_lines(first, bytes);
    log_run(view, first, values, bytes);
}

/* The same of lanes in runs. Apart, like load_runs_kind(). */
static __attribute__((noinline)) void store_runs(ExecContext *context, const uint8_t *values,
                                                 uint64_t element_bytes) {
    MemoryView *view = context->view;
    uint64_t bytes = RUN_LANES * element_bytes;
    if (!view->is_alone) {
        view_reserve(view, WARP_LANES);
        view->signature |= run_lines(context, element_bytes);
    }
    for (int lane = 0; lane < WARP_LANES; lane += RUN_LANES, values += bytes) {
        if (view->is_alone)
            view_write(view, context->address[lane], values, bytes);
        else
            log_run(view, context->address[lane], values, bytes);
    }
}

static inline void store_runs_shared(ExecContext *context, const uint8_t *values, uint64_t element_bytes) {
    uint64_t bytes = RUN_LANES * element_bytes;
    for (int lane = 0; lane < WARP_LANES; lane += RUN_LANES, values += bytes)
        memcpy(context->shared + context->address[lane], values, bytes);
}

/* Lanes that are not scattered have stored words. */
static inline void keep_stored(const Inst *inst, const ExecContext *context) {
    Offsets offsets;
    if (!inst->windows) return;
    FOR_LANES offsets[lane] = (uint32_t)context->address[lane];
    keep_window(inst, context, offsets);
}

#define DEFINE_STORE(kind, MEMORY, SLOT)                                                                     \
    static void global_store_##kind(const Inst *inst, ExecContext *context) {                                \
        MemoryView *view = context->view;                                                                    \
        if (check_global(context, sizeof(MEMORY) * inst->elements) == ACCESS_FAULT) return;                  \
        view_reserve(view, WARP_LANES *(uint32_t)inst->elements);                                            \
        view->signature |= touched_lines(context);                                                           \
        const SLOT *from[4];                                                                                 \
        int elements = inst->elements;                                                                       \
        for (int element = 0; element < elements; element++)                                                 \
            from[element] = source(inst, context, 1 + element);                                              \
        LoggedWrite *write = view->log + view->log_count;                                                    \
        for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {                                  \
            int lane = __builtin_ctz(lanes);                                                                 \
            uint64_t address = context->address[lane];                                                       \
            *write++ = (LoggedWrite){address, (MEMORY)from[0][lane], sizeof(MEMORY)};                        \
            for (int element = 1; element < elements; element++) {                                           \
                address += sizeof(MEMORY);                                                                   \
                *write++ = (LoggedWrite){address, (MEMORY)from[element][lane], sizeof(MEMORY)};              \
            }                                                                                                \
        }                                                                                                    \
        view->log_count = (uint32_t)(write - view->log);                                                     \
    }                                                                                                        \
                                                                                                             \
    static void shared_store_##kind(const Inst *inst, ExecContext *context) {                                \
        uint64_t bytes = sizeof(MEMORY) * inst->elements;                                                    \
        if (check_range(context, bytes, context->shared_bytes) == ACCESS_FAULT) return;                      \
        for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {                                  \
            int lane = __builtin_ctz(lanes);                                                                 \
            uint8_t *to = context->shared + context->address[lane];                                          \
            for (int element = 0; element < inst->elements; element++) {                                     \
                const SLOT *from = source(inst, context, 1 + element);                                       \
                MEMORY value = (MEMORY)from[lane];                                                           \
                memcpy(to + (uint64_t)element * sizeof value, &value, sizeof value);                         \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    void exec_store_global_##kind(const Inst *inst, ExecContext *context) {                                  \
        form_addresses(inst, context);                                                                       \
        context->space = SPACE_GLOBAL;                                                                       \
        bool in_place = sizeof(MEMORY) == sizeof(SLOT) && inst->elements == 1;                               \
        LaneOrder order = in_place ? lane_order(context, sizeof(MEMORY)) : LANES_SCATTERED;                  \
        if (order != LANES_SCATTERED && are_runs_in_global(context, sizeof(MEMORY))) {                       \
            const void *values = source(inst, context, 1);                                                   \
            if (order == LANES_SIDE_BY_SIDE)                                                                 \
                store_range(context, values, sizeof(MEMORY));                                                \
            else                                                                                             \
                store_runs(context, values, sizeof(MEMORY));                                                 \
            return;                                                                                          \
        }                                                                                                    \
        fill_inactive_addresses(context);                                                                    \
        if (context->active) global_store_##kind(inst, context);                                             \
    }                                                                                                        \
                                                                                                             \
    __attribute__((noinline)) static void store_shared_##kind(const Inst *inst, ExecContext *context) {      \
        form_addresses(inst, context);                                                                       \
        context->space = SPACE_SHARED;                                                                       \
        bool in_place = sizeof(MEMORY) == sizeof(SLOT) && inst->elements == 1;                               \
        if (in_place && lane_order(context, sizeof(MEMORY)) != LANES_SCATTERED &&                            \
            are_runs_within(context, sizeof(MEMORY), context->shared_bytes)) {                               \
            store_runs_shared(context, source(inst, context, 1), sizeof(MEMORY));                            \
            if (IS_WORD(MEMORY, SLOT)) keep_stored(inst, context);                                           \
            return;                                                                                          \
        }                                                                                                    \
        fill_inactive_addresses(context);                                                                    \
        if (context->active) shared_store_##kind(inst, context);                                             \
    }                                                                                                        \
                                                                                                             \
    void exec_store_shared_##kind(const Inst *inst, ExecContext *context) {                                  \
        if (!IS_WORD(MEMORY, SLOT) || !store_known_words(inst, context)) store_shared_##kind(inst, context); \
    }                                                                                                        \
                                                                                                             \
    void exec_store_generic_##kind(const Inst *inst, ExecContext *context) {                                 \
        access_spaces(inst, context, global_store_##kind, shared_store_##kind, local_store_##kind, NULL);    \
    }

STORE_KINDS(DEFINE_STORE)

#define SLOT_BYTES_OF(kind, MEMORY, SLOT)                                                                    \
    if (inst->exec == exec_store_shared_##kind || inst->exec == exec_store_generic_##kind)                   \
        return sizeof(SLOT);

/* Of a register that a store of shared memory stores; 0: it is none. */
static uint64_t slot_bytes_of(const Inst *inst) {
    STORE_KINDS(SLOT_BYTES_OF)
    return 0;
}

bool exec_stores_what_is_there(const Inst *inst, const ExecContext *context, uint32_t lane) {
    uint64_t slot = slot_bytes_of(inst), bytes = inst->element_bytes;
    const uint8_t *there = context->shared + context->address[lane];
    for (int element = 0; slot && element < inst->elements; element++) {
        const uint8_t *from = source(inst, context, 1 + element);
        if (memcmp(there + (uint64_t)element * bytes, from + lane * slot, bytes) != 0) return false;
    }
    return slot != 0;
}
