/* Intrinsics of the D2MA engine at issue, loads that wait for a transfer, and data that have come (Jamshidi
 * et al., PACT 2014, sections 4.1, 4.3 and 4.4). The SM owns what issue looks at, so that nothing depends on
 * the order in which it and the engine tick. */
#include "core/gpu/sm/sm.h"
#include "core/sim/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ALL_BORDERS = DMA_TOP | DMA_BOTTOM | DMA_LEFT | DMA_RIGHT, NO_BUFFER = UINT32_MAX };

/* --- Errors ---------------------------------------------------------------------------------- */

static _Noreturn void misuse(const Sm *sm, uint32_t w, const Inst *inst, uint32_t buffer, const char *format,
                             ...) PRINTF_LIKE(5, 6);

static _Noreturn void misuse(const Sm *sm, uint32_t w, const Inst *inst, uint32_t buffer, const char *format,
                             ...) {
    const uint32_t *ctaid = sm->cta[sm->warp[w].cta_slot].ctaid;
    char what[256], which[32] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (buffer != NO_BUFFER) snprintf(which, sizeof which, ", DMA buffer %u", buffer);
    user_error("kernel %s, PTX line %u, CTA (%u, %u, %u)%s: %s", sm->running->kernel->name, inst->line,
               ctaid[0], ctaid[1], ctaid[2], which, what);
}

/* --- Parameters ------------------------------------------------------------------------------ */

static uint64_t lane_value(const Inst *inst, const ExecContext *context, int index, bool wide, int lane) {
    const uint8_t *lanes = context->bank[inst->src[index] >> 31] + (inst->src[index] & OPERAND_OFFSET);
    uint64_t value = 0;
    memcpy(&value, lanes + lane * (wide ? 8 : 4), wide ? 8 : 4);
    return value;
}

/* The sources that are addresses or constants are 64 bits wide. */
static bool is_wide(const Inst *inst, int index) {
    if (inst->detail == DMA_SET_HALO) return index == 3;
    return inst->detail >= DMA_CONFIGURE_FLAT && index < 2;
}

static uint64_t parameter(const Sm *sm, uint32_t w, const Inst *inst, int index) {
    const ExecContext *context = sm->context;
    int first = __builtin_ctz(context->active);
    uint64_t value = lane_value(inst, context, index, is_wide(inst, index), first);
    for (uint32_t lanes = context->active & (context->active - 1); lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        uint64_t other = lane_value(inst, context, index, is_wide(inst, index), lane);
        if (other != value)
            misuse(sm, w, inst, NO_BUFFER,
                   "parameter %d of the intrinsic is 0x%lx in lane %d and 0x%lx in lane %d; "
                   "legal is one value in all lanes",
                   index + 1, value, first, other, lane);
    }
    return value;
}

static uint32_t small_parameter(const Sm *sm, uint32_t w, const Inst *inst, int index) {
    return (uint32_t)parameter(sm, w, inst, index);
}

/* The number of the buffer is the last. */
static uint32_t buffer_of(const Sm *sm, uint32_t w, const Inst *inst) {
    uint32_t buffer = small_parameter(sm, w, inst, inst->src_count - 1),
             buffers = dma_engine_buffers(sm->dma_engine);
    if (buffer >= buffers)
        misuse(sm, w, inst, buffer, "the CTA has %u buffers; legal are 0 to %u", buffers, buffers - 1);
    return buffer;
}

/* --- The table of transfers ------------------------------------------------------------------- */

static DmaCta *cta_of(const Sm *sm, uint32_t slot) {
    return &sm->dma_cta[slot];
}

static void update_busy(Sm *sm, uint32_t slot) {
    uint32_t busy = 0;
    for (uint32_t b = 0; b < DMA_BUFFERS; b++)
        busy |= cta_of(sm, slot)->buffer[b].in_flight;
    sm->dma_busy = (sm->dma_busy & ~(1u << slot)) | busy << slot;
    sm_dma_update_watch(sm);
}

void sm_dma_update_watch(Sm *sm) {
    sm->dma_watch = sm->dma_busy || sm->running->kernel->mark_count;
}

SELDOM void sm_dma_start_cta(Sm *sm, uint32_t slot) {
    if (!sm->transfers.send && !sm->running->kernel->mark_count) return;
    memset(cta_of(sm, slot), 0, sizeof(DmaCta));
    for (WarpSet warps = sm->cta[slot].warps; warps; warps &= warps - 1)
        sm->dma_warp[first_warp(warps)] = (DmaWarp){.staged = {.element_shift = 2}};
}

/* --- Parking --------------------------------------------------------------------------------- */

/* The issue slot is lost, and what was fetched behind the instruction with it. */
static void squash(Sm *sm, uint32_t w) {
    sm->dma_squashes++;
    sm_leave_buffer(sm, w);
}

static void park(Sm *sm, uint32_t w, uint32_t buffer) {
    sm->dma_parked |= warp_bit(w);
    sm->waiting |= warp_bit(w);
    sm->dma_warp[w].waits_for = buffer;
    squash(sm, w);
}

/* The buffer in flight that the active lanes would read from, or NO_BUFFER (Figure 7). */
static uint32_t conflicting_buffer(const Sm *sm, uint32_t slot, const Inst *inst) {
    const DmaBuffer *buffer = cta_of(sm, slot)->buffer;
    for (uint32_t b = 0; b < DMA_BUFFERS; b++)
        if (buffer[b].in_flight && exec_touches_shared(inst, sm->context, buffer[b].layout.shared,
                                                       dma_shared_end(&buffer[b].layout)))
            return b;
    return NO_BUFFER;
}

static bool reads_shared(const Inst *inst) {
    return (inst->kind == INST_LOAD || inst->kind == INST_ATOMIC) &&
           (inst->space == SPACE_SHARED || inst->space == SPACE_GENERIC);
}

/* May the warp start its next transfer of the buffer, or has another done so? */
static bool start_lets_issue(Sm *sm, uint32_t w, uint32_t slot, const Inst *inst, uint64_t now) {
    uint32_t b = buffer_of(sm, w, inst);
    const DmaBuffer *buffer = &cta_of(sm, slot)->buffer[b];
    if (sm->dma_warp[w].starts[b] < buffer->started) return true;
    if (buffer->in_flight) {
        park(sm, w, b);
        return false;
    }
    if (link_can_send(sm->transfers.send, now)) return true;
    squash(sm, w);
    return false;
}

SELDOM bool sm_dma_lets_issue(Sm *sm, uint32_t w, uint64_t cycle, uint64_t now) {
    const Inst *inst = sm_inst(sm, sm->warp[w].simt.top.pc);
    sm_prepare(sm, w, inst);
    uint32_t slot = sm->warp[w].cta_slot, active = sm->context->active;
    if (active && sm->dma_busy >> slot & 1 && reads_shared(inst) && dma_engine_checks(sm->dma_engine)) {
        uint32_t b = conflicting_buffer(sm, slot, inst);
        if (b != NO_BUFFER) {
            park(sm, w, b);
            return false;
        }
    }
    bool starts = active && inst->kind == INST_DMA && inst->detail >= DMA_CONFIGURE_FLAT;
    if (starts && !start_lets_issue(sm, w, slot, inst, now)) return false;
    if (sm->running->kernel->mark_count) sm_pass_marks(sm, w, inst, cycle);
    return true;
}

/* --- Intrinsics ------------------------------------------------------------------------------ */

static void set_datatype(Sm *sm, uint32_t w, const Inst *inst) {
    uint32_t bytes = small_parameter(sm, w, inst, 0);
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        misuse(sm, w, inst, NO_BUFFER, "elements of %u bytes; legal are 1, 2, 4 and 8", bytes);
    sm->dma_warp[w].staged.element_shift = (uint8_t)__builtin_ctz(bytes);
}

static void set_padding(Sm *sm, uint32_t w, const Inst *inst) {
    DmaStaged *staged = &sm->dma_warp[w].staged;
    staged->padded = small_parameter(sm, w, inst, 0);
    staged->blank = small_parameter(sm, w, inst, 1);
    if (staged->padded == 0)
        misuse(sm, w, inst, NO_BUFFER, "padding after every 0 elements; legal is 1 or more");
}

static void set_halo(Sm *sm, uint32_t w, const Inst *inst) {
    DmaStaged *staged = &sm->dma_warp[w].staged;
    uint32_t borders = small_parameter(sm, w, inst, 2);
    staged->halo_rows = small_parameter(sm, w, inst, 0);
    staged->halo_columns = small_parameter(sm, w, inst, 1);
    staged->constant = parameter(sm, w, inst, 3);
    if (borders & ~(uint32_t)ALL_BORDERS)
        misuse(sm, w, inst, NO_BUFFER,
               "borders 0x%x; legal are sums of DMA_TOP 1, DMA_BOTTOM 2, DMA_LEFT 4 and "
               "DMA_RIGHT 8",
               borders);
    staged->borders = (uint8_t)borders;
}

/* A generic address of shared memory, as an offset in the CTA's. */
static uint32_t shared_address(const Sm *sm, uint32_t w, const Inst *inst, uint32_t b) {
    uint64_t address = parameter(sm, w, inst, 0);
    if (address - SHARED_WINDOW >= WINDOW_BYTES)
        misuse(sm, w, inst, b, "0x%lx is not the generic address of shared memory", address);
    return (uint32_t)(address - SHARED_WINDOW);
}

static DmaLayout configured_layout(Sm *sm, uint32_t w, const Inst *inst) {
    DmaStaged *staged = &sm->dma_warp[w].staged;
    DmaLayout layout = {.constant = staged->constant,
                        .rows = 1,
                        .columns = small_parameter(sm, w, inst, 2),
                        .stride = 1,
                        .halo_rows = staged->halo_rows,
                        .halo_columns = staged->halo_columns,
                        .padded = staged->padded,
                        .blank = staged->blank,
                        .element_shift = staged->element_shift,
                        .borders = staged->borders};
    if (inst->detail == DMA_CONFIGURE_STRIDED) layout.stride = small_parameter(sm, w, inst, 3);
    if (inst->detail == DMA_CONFIGURE_2D) {
        layout.rows = layout.columns;
        layout.columns = small_parameter(sm, w, inst, 3);
        layout.pitch = small_parameter(sm, w, inst, 4);
    }
    *staged = (DmaStaged){.element_shift = staged->element_shift};
    return layout;
}

static void check_shape(const Sm *sm, uint32_t w, const Inst *inst, uint32_t b, const DmaLayout *layout) {
    double width = layout->columns + 2.0 * layout->halo_columns,
           height = layout->rows + 2.0 * layout->halo_rows;
    bool halo = layout->halo_rows || layout->halo_columns;
    if (!layout->rows || !layout->columns || width * height > DMA_MAX_ELEMENTS)
        misuse(sm, w, inst, b, "%.0f elements; legal are 1 to %d, halo included",
               layout->rows && layout->columns ? width * height : 0, DMA_MAX_ELEMENTS);
    if (halo && layout->padded) misuse(sm, w, inst, b, "both padding and a halo; legal is one of them");
    if (halo && inst->detail != DMA_CONFIGURE_2D && inst->detail != DMA_EXECUTE)
        misuse(sm, w, inst, b, "a halo around a flat transfer; legal is one around a 2D tile");
    if (layout->padded && layout->blank & ((1u << layout->element_shift) - 1))
        misuse(sm, w, inst, b, "%u blank bytes between elements of %u bytes; legal are multiples",
               layout->blank, 1u << layout->element_shift);
}

static void check_shared(const Sm *sm, uint32_t w, const Inst *inst, uint32_t b, const DmaLayout *layout) {
    uint64_t end = dma_shared_end(layout);
    const DmaBuffer *other = cta_of(sm, sm->warp[w].cta_slot)->buffer;
    if (layout->shared & ((1u << layout->element_shift) - 1))
        misuse(sm, w, inst, b, "shared memory at %u is not aligned to elements of %u bytes", layout->shared,
               1u << layout->element_shift);
    if (end > sm->running->shared_bytes)
        misuse(sm, w, inst, b, "shared memory from %u to %lu; the CTA has %u bytes", layout->shared, end,
               sm->running->shared_bytes);
    for (uint32_t i = 0; i < DMA_BUFFERS; i++)
        if (i != b && other[i].in_flight && layout->shared < dma_shared_end(&other[i].layout) &&
            other[i].layout.shared < end)
            misuse(sm, w, inst, b,
                   "shared memory from %u to %lu overlaps with that of buffer %u, which is in flight",
                   layout->shared, end, i);
}

static void check_global(const Sm *sm, uint32_t w, const Inst *inst, uint32_t b, const DmaLayout *layout) {
    uint64_t start, end, nearest, nearest_end;
    char where[96] = "";
    dma_global_range(layout, &start, &end);
    if (layout->global & ((1u << layout->element_shift) - 1))
        misuse(sm, w, inst, b, "global memory at 0x%lx is not aligned to elements of %u bytes",
               layout->global, 1u << layout->element_shift);
    if (view_covers(sm->view, start, end - start)) return;
    if (device_nearest(sm->view->memory, start, &nearest, &nearest_end))
        snprintf(where, sizeof where, "; the nearest allocation is 0x%lx to 0x%lx", nearest, nearest_end);
    misuse(sm, w, inst, b, "access out of bounds at address 0x%lx to 0x%lx%s", start, end, where);
}

static void send_start(Sm *sm, uint32_t w, const Inst *inst, uint32_t b, const DmaLayout *layout) {
    *(DmaStart *)link_send(sm->transfers.send, sm->obj.cluster->now) = (DmaStart){
        .layout = *layout,
        .issued = sm->context->clock,
        .inst = sm_inst_index(sm, inst),
        .warp = (uint16_t)w,
        .cta = sm->warp[w].cta_slot,
        .buffer = (uint8_t)b,
        .class_number = sm->class_of[w],
    };
}

static void start_transfer(Sm *sm, uint32_t w, const Inst *inst) {
    uint32_t b = buffer_of(sm, w, inst), slot = sm->warp[w].cta_slot;
    DmaBuffer *buffer = &cta_of(sm, slot)->buffer[b];
    bool executes = inst->detail == DMA_EXECUTE, first = sm->dma_warp[w].starts[b] == buffer->started;
    DmaLayout layout = executes ? buffer->layout : configured_layout(sm, w, inst);
    sm->dma_warp[w].starts[b]++;
    if (!first) return;
    if (executes && !buffer->configured) misuse(sm, w, inst, b, "executed before it was configured");
    layout.shared = shared_address(sm, w, inst, b);
    layout.global = parameter(sm, w, inst, 1);
    check_shape(sm, w, inst, b, &layout);
    check_shared(sm, w, inst, b, &layout);
    check_global(sm, w, inst, b, &layout);
    *buffer = (DmaBuffer){.layout = layout, .started = buffer->started + 1, .in_flight = 1, .configured = 1};
    send_start(sm, w, inst, b, &layout);
    update_busy(sm, slot);
}

SELDOM void sm_dma_execute(Sm *sm, uint32_t w, const Inst *inst) {
    switch ((DmaOperation)inst->detail) {
    case DMA_SET_DATATYPE: set_datatype(sm, w, inst); return;
    case DMA_SET_PADDING: set_padding(sm, w, inst); return;
    case DMA_SET_HALO: set_halo(sm, w, inst); return;
    case DMA_CONFIGURE_FLAT:
    case DMA_CONFIGURE_STRIDED:
    case DMA_CONFIGURE_2D:
    case DMA_EXECUTE: break;
    }
    start_transfer(sm, w, inst);
}

/* --- Data that have come --------------------------------------------------------------------- */

static void write_elements(Sm *sm, const DmaNews *news) {
    const DmaLayout *layout = &cta_of(sm, news->cta)->buffer[news->buffer].layout;
    uint8_t *shared = sm->shared_memory + (size_t)news->cta * sm->running->shared_bytes;
    uint32_t bytes = 1u << layout->element_shift;
    for (uint32_t e = news->first; e < news->first + news->count; e++) {
        uint64_t value = layout->constant;
        if (!news->constant) ensure(view_load(sm->view, dma_global_address(layout, e), bytes, &value));
        memcpy(shared + dma_shared_address(layout, e), &value, bytes);
    }
}

static void complete(Sm *sm, const DmaNews *news) {
    WarpSet released = sm->dma_parked & sm->cta[news->cta].warps;
    cta_of(sm, news->cta)->buffer[news->buffer].in_flight = 0;
    sm->dma_parked &= ~released;
    sm->waiting &= ~released;
    update_busy(sm, news->cta);
    if (sm->dma_busy >> news->cta & 1 || !(sm->dma_ending >> news->cta & 1)) return;
    sm->dma_ending &= ~(1u << news->cta);
    sm_end_cta(sm, news->cta);
}

SELDOM void sm_dma_receive(Sm *sm, uint64_t now) {
    const DmaNews *news;
    if (!sm->transfers.receive) return; /* there are marks to be watched for */
    while ((news = link_peek(sm->transfers.receive, now))) {
        write_elements(sm, news);
        if (news->last) complete(sm, news);
        link_pop(sm->transfers.receive, now);
        object_progress(&sm->obj);
    }
}

/* --- The class's part ------------------------------------------------------------------------ */

/* `issued`: a warp has issued in these cycles. */
SELDOM void sm_dma_account(Sm *sm, uint64_t cycles, bool issued) {
    uint32_t resident = sm->resident;
    bool in_transfer = resident && (uint32_t)__builtin_popcount(sm->dma_busy) >= resident;
    bool in_tile = resident && (uint32_t)__builtin_popcount(sm->tile_open) >= resident;
    sm->dma_parked_cycles += (uint64_t)__builtin_popcountll(sm->dma_parked) * cycles;
    if (in_transfer && !issued) sm->transfer_stall_cycles += cycles;
    if (in_tile && !issued) sm->tile_stall_cycles += cycles;
}

void sm_dma_check(const Sm *sm, bool idle) {
    uint32_t busy = 0;
    for (uint32_t slot = 0; slot < sm->ctas; slot++)
        for (uint32_t b = 0; b < DMA_BUFFERS; b++)
            busy |= cta_of(sm, slot)->buffer[b].in_flight << slot;
    if (busy != sm->dma_busy || sm->dma_parked & ~sm->waiting)
        panic("%s: CTA slots 0x%x have transfers in flight, 0x%x are said to; warps 0x%lx are parked, 0x%lx "
              "wait",
              sm->obj.path, busy, sm->dma_busy, sm->dma_parked, sm->waiting);
    if (idle && (busy || sm->dma_parked || sm->dma_ending))
        panic("%s: CTA slots 0x%x have transfers in flight although the machine is idle", sm->obj.path, busy);
}
