/* Marks of kernels that copy their tiles to shared memory themselves, for the figures that the D2MA engine
 * has of its transfers: a tile is from the first warp of the CTA that comes to its begin to the last that
 * comes to its end. */
#include "core/gpu/dma/dma_gate.h"

#include "core/gpu/sm/sm.h"

static void close_tile(DmaGate *dma, uint32_t slot, DmaTile *tile, uint64_t cycle) {
    uint32_t open = 0;
    tile->open = 0;
    uint64_t requested = tile->loaded ? tile->first_load : cycle; /* no load: nothing was waited for */
    dma->tiles++;
    dma->tile_agen_cycles += requested - tile->begun;
    dma->tile_mem_cycles += cycle - requested;
    dma->tile_cycles += cycle - tile->begun;
    for (uint32_t b = 0; b < DMA_BUFFERS; b++)
        open |= dma->cta[slot].tile[b].open;
    dma->tile_open = (dma->tile_open & ~(1u << slot)) | open << slot;
}

static void begin_tile(DmaGate *dma, uint32_t w, uint32_t slot, uint32_t buffer, uint64_t cycle) {
    DmaTile *tile = &dma->cta[slot].tile[buffer];
    if (dma->warp[w].begins[buffer]++ < tile->begins) return;
    if (tile->open) close_tile(dma, slot, tile, cycle); /* some warps never came to its end */
    *tile = (DmaTile){.begun = cycle, .begins = tile->begins + 1, .open = 1};
    dma->tile_open |= 1u << slot;
}

static void end_tile(DmaGate *dma, uint32_t w, uint32_t slot, uint32_t buffer, uint64_t cycle) {
    DmaTile *tile = &dma->cta[slot].tile[buffer];
    if (++dma->warp[w].ends[buffer] != tile->begins || !tile->open) return;
    if (++tile->ended == dma->gate.sm->running->warps_per_cta) close_tile(dma, slot, tile, cycle);
}

/* A global load of a warp between its marks is part of the copying. The first of all warps ends the overhead
 * of the tile (Jamshidi et al., section 5.3); a load without lanes requests nothing. */
static void note_load(DmaGate *dma, uint32_t w, uint32_t slot, uint64_t cycle) {
    const DmaWarp *warp = &dma->warp[w];
    for (uint32_t b = 0; b < DMA_BUFFERS; b++) {
        DmaTile *tile = &dma->cta[slot].tile[b];
        if (warp->begins[b] <= warp->ends[b] || !tile->open || tile->loaded) continue;
        tile->first_load = cycle;
        tile->loaded = 1;
    }
}

void dma_pass_marks(DmaGate *dma, uint32_t w, const Inst *inst, uint64_t cycle) {
    const Sm *sm = dma->gate.sm;
    const Kernel *kernel = sm->running->kernel;
    uint32_t index = (uint32_t)(inst - kernel->insts), slot = sm->warp[w].cta_slot;
    for (uint32_t i = 0; i < kernel->mark_count; i++) {
        if (kernel->marks[i].inst != index) continue;
        if (kernel->marks[i].ends)
            end_tile(dma, w, slot, kernel->marks[i].buffer, cycle);
        else
            begin_tile(dma, w, slot, kernel->marks[i].buffer, cycle);
    }
    if (sm->context->active && inst->kind == INST_LOAD &&
        (inst->space == SPACE_GLOBAL || inst->space == SPACE_GENERIC))
        note_load(dma, w, slot, cycle);
}

void dma_end_tiles(DmaGate *dma, uint32_t slot, uint64_t cycle) {
    for (uint32_t b = 0; b < DMA_BUFFERS; b++)
        if (dma->cta[slot].tile[b].open) close_tile(dma, slot, &dma->cta[slot].tile[b], cycle);
}
