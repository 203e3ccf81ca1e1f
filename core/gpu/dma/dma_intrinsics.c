/* Intrinsics of the D2MA engine (Jamshidi et al., PACT 2014, sections 4.1 and 4.4). */
#include "core/gpu/dma/dma_gate.h"

#include "core/gpu/sm/fault.h"
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
    user_error("kernel %s, PTX line %u, CTA (%u, %u, %u)%s: %s", sm->running->kernel->name,
               kernel_ptx_line(sm->running->kernel, inst), ctaid[0], ctaid[1], ctaid[2], which, what);
}

/* --- Parameters ------------------------------------------------------------------------------ */

static uint64_t lane_value(const Inst *inst, const ExecContext *context, int index, bool wide, int lane) {
    const uint8_t *lanes = operand_lanes(context, inst->src[index]);
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
                   "parameter %d of the intrinsic: expected one value in all lanes, got 0x%lx in lane %d and "
                   "0x%lx in lane %d",
                   index + 1, value, first, other, lane);
    }
    return value;
}

static uint32_t small_parameter(const Sm *sm, uint32_t w, const Inst *inst, int index) {
    return (uint32_t)parameter(sm, w, inst, index);
}

/* The number of the buffer is the last. */
uint32_t dma_buffer_of(const DmaGate *dma, uint32_t w, const Inst *inst) {
    const Sm *sm = dma->gate.sm;
    uint32_t buffer = small_parameter(sm, w, inst, inst->src_count - 1),
             buffers = dma_engine_buffers(dma->engine);
    if (buffer >= buffers) misuse(sm, w, inst, buffer, "expected a buffer from 0 to %u", buffers - 1);
    return buffer;
}

/* --- Intrinsics ------------------------------------------------------------------------------ */

static void set_datatype(DmaGate *dma, uint32_t w, const Inst *inst) {
    const Sm *sm = dma->gate.sm;
    uint32_t bytes = small_parameter(sm, w, inst, 0);
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        misuse(sm, w, inst, NO_BUFFER, "expected elements of 1, 2, 4 or 8 bytes, got %u", bytes);
    dma->warp[w].staged.element_shift = (uint8_t)__builtin_ctz(bytes);
}

static void set_padding(DmaGate *dma, uint32_t w, const Inst *inst) {
    const Sm *sm = dma->gate.sm;
    DmaStaged *staged = &dma->warp[w].staged;
    staged->padded = small_parameter(sm, w, inst, 0);
    staged->blank = small_parameter(sm, w, inst, 1);
    if (staged->padded == 0)
        misuse(sm, w, inst, NO_BUFFER, "expected padding after every 1 or more elements, got 0");
}

static void set_halo(DmaGate *dma, uint32_t w, const Inst *inst) {
    const Sm *sm = dma->gate.sm;
    DmaStaged *staged = &dma->warp[w].staged;
    uint32_t borders = small_parameter(sm, w, inst, 2);
    staged->halo_rows = small_parameter(sm, w, inst, 0);
    staged->halo_columns = small_parameter(sm, w, inst, 1);
    staged->constant = parameter(sm, w, inst, 3);
    if (borders & ~(uint32_t)ALL_BORDERS)
        misuse(sm, w, inst, NO_BUFFER,
               "borders: expected a sum of DMA_TOP 1, DMA_BOTTOM 2, DMA_LEFT 4 and DMA_RIGHT 8, got 0x%x",
               borders);
    staged->borders = (uint8_t)borders;
}

/* A generic address of shared memory, as an offset in the CTA's. */
static uint32_t shared_address(const Sm *sm, uint32_t w, const Inst *inst, uint32_t b) {
    uint64_t address = parameter(sm, w, inst, 0);
    if (address - SHARED_WINDOW >= WINDOW_BYTES)
        misuse(sm, w, inst, b, "expected a generic address of shared memory, got 0x%lx", address);
    return (uint32_t)(address - SHARED_WINDOW);
}

static DmaLayout configured_layout(DmaGate *dma, uint32_t w, const Inst *inst) {
    const Sm *sm = dma->gate.sm;
    DmaStaged *staged = &dma->warp[w].staged;
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
        misuse(sm, w, inst, b, "expected 1 to %d elements, halo included, got %.0f", DMA_MAX_ELEMENTS,
               layout->rows && layout->columns ? width * height : 0);
    if (halo && layout->padded) misuse(sm, w, inst, b, "expected padding or a halo, got both");
    if (halo && inst->detail != DMA_CONFIGURE_2D && inst->detail != DMA_EXECUTE)
        misuse(sm, w, inst, b, "expected a halo around a 2D tile, got one around a flat transfer");
    if (layout->padded && layout->blank & ((1u << layout->element_shift) - 1))
        misuse(sm, w, inst, b, "expected blank bytes in multiples of the element size %u, got %u",
               1u << layout->element_shift, layout->blank);
}

static void check_shared(const DmaGate *dma, uint32_t w, const Inst *inst, uint32_t b,
                         const DmaLayout *layout) {
    const Sm *sm = dma->gate.sm;
    uint64_t end = dma_shared_end(layout);
    const DmaBuffer *other = dma->cta[sm->warp[w].cta_slot].buffer;
    if (layout->shared & ((1u << layout->element_shift) - 1))
        misuse(sm, w, inst, b, "expected shared memory aligned to elements of %u bytes, got %u",
               1u << layout->element_shift, layout->shared);
    if (end > sm->running->shared_bytes)
        misuse(sm, w, inst, b, "expected shared memory within the CTA's %u bytes, got %u to %lu",
               sm->running->shared_bytes, layout->shared, end);
    for (uint32_t i = 0; i < DMA_BUFFERS; i++)
        if (i != b && other[i].in_flight && layout->shared < dma_shared_end(&other[i].layout) &&
            other[i].layout.shared < end)
            misuse(sm, w, inst, b,
                   "shared memory from %u to %lu overlaps that of buffer %u, which is in flight",
                   layout->shared, end, i);
}

static void check_global(const Sm *sm, uint32_t w, const Inst *inst, uint32_t b, const DmaLayout *layout) {
    uint64_t start, end;
    char where[300];
    dma_global_range(layout, &start, &end);
    if (layout->global & ((1u << layout->element_shift) - 1))
        misuse(sm, w, inst, b, "expected global memory aligned to elements of %u bytes, got 0x%lx",
               1u << layout->element_shift, layout->global);
    if (view_covers(sm->view, start, end - start)) return;
    fault_describe_miss(sm->view->memory, start, end - start, where, sizeof where);
    misuse(sm, w, inst, b, "access out of bounds at address 0x%lx to 0x%lx%s", start, end, where);
}

static void send_start(DmaGate *dma, uint32_t w, const Inst *inst, uint32_t b, const DmaLayout *layout) {
    const Sm *sm = dma->gate.sm;
    *(DmaStart *)link_send(dma->transfers.send, sm->obj.cluster->now) = (DmaStart){
        .layout = *layout,
        .issued = sm->context->clock,
        .inst = sm_inst_index(sm, w, inst),
        .warp = (uint16_t)w,
        .cta = sm->warp[w].cta_slot,
        .buffer = (uint8_t)b,
        .class_number = sm->class_of[w],
    };
}

static void start_transfer(DmaGate *dma, uint32_t w, const Inst *inst) {
    const Sm *sm = dma->gate.sm;
    uint32_t b = dma_buffer_of(dma, w, inst), slot = sm->warp[w].cta_slot;
    DmaBuffer *buffer = &dma->cta[slot].buffer[b];
    bool executes = inst->detail == DMA_EXECUTE, first = dma->warp[w].starts[b] == buffer->started;
    DmaLayout layout = executes ? buffer->layout : configured_layout(dma, w, inst);
    dma->warp[w].starts[b]++;
    if (!first) return;
    if (executes && !buffer->configured) misuse(sm, w, inst, b, "executed before it was configured");
    layout.shared = shared_address(sm, w, inst, b);
    layout.global = parameter(sm, w, inst, 1);
    check_shape(sm, w, inst, b, &layout);
    check_shared(dma, w, inst, b, &layout);
    check_global(sm, w, inst, b, &layout);
    *buffer = (DmaBuffer){.layout = layout, .started = buffer->started + 1, .in_flight = 1, .configured = 1};
    send_start(dma, w, inst, b, &layout);
    dma_update_busy(dma, slot);
}

COLD void dma_execute(IssueGate *gate, uint32_t w, const Inst *inst) {
    DmaGate *dma = (DmaGate *)gate;
    switch ((DmaOperation)inst->detail) {
    case DMA_SET_DATATYPE: set_datatype(dma, w, inst); return;
    case DMA_SET_PADDING: set_padding(dma, w, inst); return;
    case DMA_SET_HALO: set_halo(dma, w, inst); return;
    case DMA_CONFIGURE_FLAT:
    case DMA_CONFIGURE_STRIDED:
    case DMA_CONFIGURE_2D:
    case DMA_EXECUTE: break;
    }
    start_transfer(dma, w, inst);
}
