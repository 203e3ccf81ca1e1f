/* Can the state of transfers that a snapshot has brought to an SM be worked with? */
#include "core/gpu/dma/dma_gate.h"

#include "core/gpu/sm/sm_sound.h"

static void must_be(const Sm *sm, bool condition, const char *what) {
    sound(condition, "%s.%s", sm->obj.path, what);
}

/* As check_shape() and its kin in dma_intrinsics.c have found it. */
static bool layout_is_sound(const Sm *sm, const DmaLayout *layout) {
    uint64_t start, end;
    if (!dma_layout_is_legal(layout)) return false;
    if (dma_shared_end(layout) > sm->running->shared_bytes) return false;
    dma_global_range(layout, &start, &end);
    return start < end && view_covers(sm->view, start, end - start);
}

void dma_start_is_sound(const Sm *sm, const char *where, const DmaStart *start) {
    sound(start->cta < sm_ctas_in_use(sm) && start->buffer < DMA_BUFFERS && start->warp < MAX_WARPS &&
              start->inst < sm->running->kernel->inst_count && layout_is_sound(sm, &start->layout),
          "%s: a transfer of CTA slot %u, buffer %u", where, start->cta, start->buffer);
}

void dma_news_is_sound(const Sm *sm, const char *where, const DmaNews *news) {
    bool good = news->cta < sm_ctas_in_use(sm) && news->buffer < DMA_BUFFERS;
    const DmaBuffer *buffer = good ? &dma_gate_of(sm)->cta[news->cta].buffer[news->buffer] : NULL;
    good = good && buffer->in_flight && news->first <= dma_elements(&buffer->layout) &&
           news->count <= dma_elements(&buffer->layout) - news->first;
    for (uint32_t e = news->first; good && e < news->first + news->count; e++)
        good = news->constant || !dma_is_constant(&buffer->layout, e);
    sound(good, "%s: elements %u to %u for CTA slot %u, buffer %u", where, news->first,
          news->first + news->count, news->cta, news->buffer);
}

static void buffers_are_sound(const DmaGate *dma) {
    const Sm *sm = dma->gate.sm;
    for (uint32_t slot = 0; slot < sm->ctas; slot++)
        for (uint32_t b = 0; b < DMA_BUFFERS; b++) {
            const DmaBuffer *buffer = &dma->cta[slot].buffer[b];
            bool resident = slot < sm_ctas_in_use(sm);
            must_be(sm, buffer->in_flight <= resident && buffer->layout.element_shift <= 3, "dma_cta");
            must_be(sm, !buffer->in_flight || layout_is_sound(sm, &buffer->layout), "dma_cta: a layout");
            const DmaTile *tile = &dma->cta[slot].tile[b];
            must_be(sm, tile->open <= 1 && tile->loaded <= 1, "dma_cta: a tile");
            must_be(sm, !tile->loaded || tile->first_load >= tile->begun, "dma_cta: a tile's first load");
        }
}

void dma_gate_is_sound(const IssueGate *gate) {
    const DmaGate *dma = (const DmaGate *)gate;
    const Sm *sm = gate->sm;
    uint32_t ctas = sm_ctas_in_use(sm), slots = ctas ? ~0u >> (MAX_CTAS - ctas) : 0;
    must_be(sm, !((dma->busy | dma->tile_open) & ~slots), "dma_busy, tile_open");
    must_be(sm, !(gate->parked & ~sm->waiting), "dma_parked");
    buffers_are_sound(dma);
    for (uint32_t w = 0; w < sm->warps; w++)
        must_be(sm, dma->warp[w].staged.element_shift <= 3, "dma_warp");
    must_be(sm, dma->transfers.send || !dma->busy, "dma_busy");
}
