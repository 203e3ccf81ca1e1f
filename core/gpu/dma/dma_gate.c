/* The gate: loads that wait for a transfer, data that have come, invariants (Jamshidi et al., PACT 2014,
 * sections 4.1 and 4.3). It owns what issue looks at, so that nothing depends on the order in which the SM
 * and the engine tick. */
#include "core/gpu/dma/dma_gate.h"

#include "core/gpu/sm/sm.h"
#include "core/sim/sim.h"

#include <string.h>

enum { NO_BUFFER = UINT32_MAX };

static DmaGate *of_gate(IssueGate *gate) {
    return (DmaGate *)gate;
}

static const DmaGate *const_of_gate(const IssueGate *gate) {
    return (const DmaGate *)gate;
}

/* --- At work or not -------------------------------------------------------------------------- */

static uint32_t needed_at(const DmaGate *dma) {
    return dma->watches ? GATE_AT_WORK : GATE_AT_REST;
}

static void watch_if_needed(IssueGate *gate) {
    DmaGate *dma = of_gate(gate);
    dma->watches = dma->busy || gate->sm->running->kernel->mark_count;
    gate_set_stages(gate, needed_at(dma));
}

void dma_update_busy(DmaGate *dma, uint32_t slot) {
    uint32_t busy = 0;
    for (uint32_t b = 0; b < DMA_BUFFERS; b++)
        busy |= dma->cta[slot].buffer[b].in_flight;
    dma->busy = (dma->busy & ~(1u << slot)) | busy << slot;
    watch_if_needed(&dma->gate);
}

static void knobs_set(IssueGate *gate) {
    gate_set_stages(gate, needed_at(of_gate(gate)));
}

/* --- Parking --------------------------------------------------------------------------------- */

static void squash(DmaGate *dma, uint32_t w) {
    dma->squashes++;
    gate_squash(&dma->gate, w);
}

static void park(DmaGate *dma, uint32_t w, uint32_t buffer) {
    dma->squashes++;
    dma->warp[w].waits_for = buffer;
    gate_park(&dma->gate, w);
}

/* The buffer in flight that the active lanes would read from, or NO_BUFFER (Figure 7). */
static uint32_t conflicting_buffer(const DmaGate *dma, uint32_t slot, const Inst *inst) {
    const DmaBuffer *buffer = dma->cta[slot].buffer;
    for (uint32_t b = 0; b < DMA_BUFFERS; b++)
        if (buffer[b].in_flight && exec_touches_shared(inst, dma->gate.sm->context, buffer[b].layout.shared,
                                                       dma_shared_end(&buffer[b].layout)))
            return b;
    return NO_BUFFER;
}

/* Of a bulk copy the one side or the other may be in shared memory. */
static bool may_read_shared(const Inst *inst) {
    bool is_load = inst->kind == INST_LOAD || inst->kind == INST_ATOMIC;
    return (is_load && (inst->space == SPACE_SHARED || inst->space == SPACE_GENERIC)) ||
           ((is_load || inst->kind == INST_STORE) && inst->detail & DETAIL_BULK);
}

static bool load_may_issue(DmaGate *dma, uint32_t w, uint32_t slot, const Inst *inst) {
    if (!(dma->busy >> slot & 1) || !may_read_shared(inst) || !dma_engine_checks(dma->engine)) return true;
    uint32_t b = conflicting_buffer(dma, slot, inst);
    if (b == NO_BUFFER) return true;
    park(dma, w, b);
    return false;
}

/* May the warp start its next transfer of the buffer, or has another done so? */
static bool start_may_issue(DmaGate *dma, uint32_t w, uint32_t slot, const Inst *inst, uint64_t now) {
    if (inst->kind != INST_DMA || inst->detail < DMA_CONFIGURE_FLAT) return true;
    uint32_t b = dma_buffer_of(dma, w, inst);
    const DmaBuffer *buffer = &dma->cta[slot].buffer[b];
    if (dma->warp[w].starts[b] < buffer->started) return true;
    if (buffer->in_flight) {
        park(dma, w, b);
        return false;
    }
    if (link_can_send(dma->transfers.send, now)) return true;
    squash(dma, w);
    return false;
}

COLD static bool lets_issue(IssueGate *gate, uint32_t w, uint64_t cycle, uint64_t now) {
    DmaGate *dma = of_gate(gate);
    Sm *sm = gate->sm;
    const Inst *inst = sm_inst(sm, w, sm->warp[w].simt.top.pc);
    uint32_t slot = sm->warp[w].cta_slot;
    sm_prepare(sm, w, inst);
    if (sm->context->active) {
        if (!load_may_issue(dma, w, slot, inst)) return false;
        if (!start_may_issue(dma, w, slot, inst, now)) return false;
    }
    if (sm->running->kernel->mark_count) dma_pass_marks(dma, w, inst, cycle);
    return true;
}

/* --- Data that have come --------------------------------------------------------------------- */

static void write_elements(DmaGate *dma, const DmaNews *news) {
    const Sm *sm = dma->gate.sm;
    const DmaLayout *layout = &dma->cta[news->cta].buffer[news->buffer].layout;
    uint8_t *shared = sm->shared_memory + (size_t)news->cta * sm->running->shared_bytes;
    uint32_t bytes = 1u << layout->element_shift;
    for (uint32_t e = news->first; e < news->first + news->count; e++) {
        uint64_t value = layout->constant;
        if (!news->constant) ensure(view_load(sm->view, dma_global_address(layout, e), bytes, &value));
        memcpy(shared + dma_shared_address(layout, e), &value, bytes);
    }
}

static void complete(DmaGate *dma, const DmaNews *news) {
    Sm *sm = dma->gate.sm;
    dma->cta[news->cta].buffer[news->buffer].in_flight = 0;
    gate_release(&dma->gate, sm->cta[news->cta].warps);
    dma_update_busy(dma, news->cta);
    sm_release_cta(sm, news->cta);
}

COLD static void begin_cycle(IssueGate *gate, uint64_t now) {
    DmaGate *dma = of_gate(gate);
    const DmaNews *news;
    if (!dma->transfers.receive) return; /* there are marks to be watched for */
    while ((news = link_peek(dma->transfers.receive, now))) {
        write_elements(dma, news);
        if (news->last) complete(dma, news);
        link_pop(dma->transfers.receive, now);
        object_progress(&gate->sm->obj);
    }
}

static uint64_t next(const IssueGate *gate) {
    const DmaGate *dma = const_of_gate(gate);
    return dma->busy ? link_next_ready(dma->transfers.receive) : NEVER;
}

COLD static void pass(IssueGate *gate, uint64_t cycles, bool issued) {
    DmaGate *dma = of_gate(gate);
    uint32_t resident = gate->sm->resident;
    bool in_transfer = resident && (uint32_t)__builtin_popcount(dma->busy) >= resident;
    bool in_tile = resident && (uint32_t)__builtin_popcount(dma->tile_open) >= resident;
    dma->parked_cycles += (uint64_t)__builtin_popcountll(gate->parked) * cycles;
    if (in_transfer && !issued) dma->stall_cycles += cycles;
    if (in_tile && !issued) dma->tile_stall_cycles += cycles;
}

/* --- CTAs ------------------------------------------------------------------------------------ */

COLD static void cta_starts(IssueGate *gate, uint32_t slot) {
    DmaGate *dma = of_gate(gate);
    if (!dma->transfers.send && !gate->sm->running->kernel->mark_count) return;
    memset(&dma->cta[slot], 0, sizeof(DmaCta));
    for (WarpSet warps = gate->sm->cta[slot].warps; warps; warps &= warps - 1)
        dma->warp[first_warp(warps)] = (DmaWarp){.staged = {.element_shift = 2}};
}

static bool keeps_cta(const IssueGate *gate, uint32_t slot) {
    return const_of_gate(gate)->busy >> slot & 1;
}

static void cta_ends(IssueGate *gate, uint32_t slot, uint64_t cycle) {
    DmaGate *dma = of_gate(gate);
    if (dma->tile_open >> slot & 1) dma_end_tiles(dma, slot, cycle);
}

/* --- Invariants --------------------------------------------------------------------------------- */

static void check(const IssueGate *gate, bool idle) {
    const DmaGate *dma = const_of_gate(gate);
    const Sm *sm = gate->sm;
    uint32_t busy = 0;
    gate_check_stages(gate, needed_at(dma));
    for (uint32_t slot = 0; slot < sm->ctas; slot++)
        for (uint32_t b = 0; b < DMA_BUFFERS; b++)
            busy |= dma->cta[slot].buffer[b].in_flight << slot;
    if (busy != dma->busy || gate->parked & ~sm->waiting)
        panic("%s: CTA slots 0x%x have transfers in flight, 0x%x are marked; warps 0x%lx are parked, 0x%lx "
              "wait",
              sm->obj.path, busy, dma->busy, gate->parked, sm->waiting);
    if (idle && (busy || gate->parked))
        panic("%s: CTA slots 0x%x have transfers in flight although the machine is idle", sm->obj.path, busy);
}

static const char *reason(const IssueGate *gate, uint32_t w, char text[REASON_BYTES]) {
    if (!(gate->parked >> w & 1)) return NULL;
    snprintf(text, REASON_BYTES, "waits for DMA buffer %u",
             const_of_gate(gate)->warp[w].waits_for % DMA_BUFFERS);
    return text;
}

static const GateClass dma_gate_class = {
    .name = "dma",
    .lets_issue = lets_issue,
    .begin_cycle = begin_cycle,
    .pass = pass,
    .next = next,
    .kind = INST_DMA,
    .execute = dma_execute,
    .kernel_set = watch_if_needed,
    .cta_starts = cta_starts,
    .keeps_cta = keeps_cta,
    .cta_ends = cta_ends,
    .knobs_set = knobs_set,
    .is_sound = dma_gate_is_sound,
    .check = check,
    .reason = reason,
};

void dma_gate_init(DmaGate *dma, Sm *sm) {
    if (dma->transfers.send) dma->engine = dma->transfers.send->receiver;
    gate_add(sm, &dma->gate, &dma_gate_class);
}

const DmaGate *dma_gate_of(const Sm *sm) {
    return const_of_gate(gate_find(&sm->gates, &dma_gate_class));
}
