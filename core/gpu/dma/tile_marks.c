/* Marks of kernels that copy their tiles to shared memory themselves, for the figures that the D2MA engine
 * has of its transfers: a tile is from the first warp of the CTA that comes to its begin to the last that
 * comes to its end. */
#include "core/gpu/sm/sm.h"

static void close_tile(Sm *sm, uint32_t slot, DmaTile *tile, uint64_t cycle) {
    uint32_t open = 0;
    tile->open = 0;
    sm->tiles++;
    sm->tile_agen_cycles += tile->last_load - tile->begun;
    sm->tile_cycles += cycle - tile->begun;
    for (uint32_t b = 0; b < DMA_BUFFERS; b++)
        open |= sm->dma_cta[slot].tile[b].open;
    sm->tile_open = (sm->tile_open & ~(1u << slot)) | open << slot;
}

static void begin_tile(Sm *sm, uint32_t w, uint32_t slot, uint32_t buffer, uint64_t cycle) {
    DmaTile *tile = &sm->dma_cta[slot].tile[buffer];
    if (sm->dma_warp[w].begins[buffer]++ < tile->begins) return;
    if (tile->open) close_tile(sm, slot, tile, cycle); /* some warps never came to its end */
    *tile = (DmaTile){.begun = cycle, .last_load = cycle, .begins = tile->begins + 1, .open = 1};
    sm->tile_open |= 1u << slot;
}

static void end_tile(Sm *sm, uint32_t w, uint32_t slot, uint32_t buffer, uint64_t cycle) {
    DmaTile *tile = &sm->dma_cta[slot].tile[buffer];
    if (++sm->dma_warp[w].ends[buffer] != tile->begins || !tile->open) return;
    if (++tile->ended == sm->running->warps_per_cta) close_tile(sm, slot, tile, cycle);
}

/* A global load of a warp between its marks is part of the copying. */
static void note_load(Sm *sm, uint32_t w, uint32_t slot, uint64_t cycle) {
    const DmaWarp *warp = &sm->dma_warp[w];
    for (uint32_t b = 0; b < DMA_BUFFERS; b++)
        if (warp->begins[b] > warp->ends[b] && sm->dma_cta[slot].tile[b].open)
            sm->dma_cta[slot].tile[b].last_load = cycle;
}

void sm_pass_marks(Sm *sm, uint32_t w, const Inst *inst, uint64_t cycle) {
    const Kernel *kernel = sm->running->kernel;
    uint32_t index = (uint32_t)(inst - kernel->insts), slot = sm->warp[w].cta_slot;
    for (uint32_t i = 0; i < kernel->mark_count; i++) {
        if (kernel->marks[i].inst != index) continue;
        if (kernel->marks[i].ends)
            end_tile(sm, w, slot, kernel->marks[i].buffer, cycle);
        else
            begin_tile(sm, w, slot, kernel->marks[i].buffer, cycle);
    }
    if (inst->kind == INST_LOAD && (inst->space == SPACE_GLOBAL || inst->space == SPACE_GENERIC))
        note_load(sm, w, slot, cycle);
}

void sm_end_tiles(Sm *sm, uint32_t slot, uint64_t cycle) {
    for (uint32_t b = 0; b < DMA_BUFFERS; b++)
        if (sm->dma_cta[slot].tile[b].open) close_tile(sm, slot, &sm->dma_cta[slot].tile[b], cycle);
}
