#include "core/gpu/dma/dma_layout.h"

/* The part of each row, and the rows, that are fetched: all but the halo beyond borders. */
typedef struct {
    uint32_t top, bottom, left, right; /* from, to below */
} Inside;

static Inside inside_of(const DmaLayout *layout) {
    uint32_t rows = layout->halo_rows, columns = layout->halo_columns, borders = layout->borders;
    return (Inside){
        .top = borders & DMA_TOP ? rows : 0,
        .bottom = dma_height(layout) - (borders & DMA_BOTTOM ? rows : 0),
        .left = borders & DMA_LEFT ? columns : 0,
        .right = dma_width(layout) - (borders & DMA_RIGHT ? columns : 0),
    };
}

bool dma_layout_is_legal(const DmaLayout *layout) {
    double width = layout->columns + 2.0 * layout->halo_columns,
           height = layout->rows + 2.0 * layout->halo_rows;
    return layout->rows && layout->columns && width * height <= DMA_MAX_ELEMENTS &&
           layout->element_shift <= 3 && layout->borders <= 15;
}

uint64_t dma_global_address(const DmaLayout *layout, uint32_t element) {
    int64_t row = (int64_t)(element / dma_width(layout)) - layout->halo_rows;
    int64_t column = (int64_t)(element % dma_width(layout)) - layout->halo_columns;
    int64_t index = row * layout->pitch + column * layout->stride;
    return layout->global + ((uint64_t)index << layout->element_shift);
}

uint32_t dma_shared_address(const DmaLayout *layout, uint32_t element) {
    uint32_t blanks = layout->padded ? element / layout->padded * layout->blank : 0;
    return layout->shared + (element << layout->element_shift) + blanks;
}

uint64_t dma_shared_end(const DmaLayout *layout) {
    uint64_t last = dma_elements(layout) - 1;
    uint64_t blanks = layout->padded ? last / layout->padded * layout->blank : 0;
    return layout->shared + ((last + 1) << layout->element_shift) + blanks;
}

void dma_global_range(const DmaLayout *layout, uint64_t *start, uint64_t *end) {
    Inside inside = inside_of(layout);
    uint32_t width = dma_width(layout);
    *start = dma_global_address(layout, inside.top * width + inside.left);
    *end = dma_global_address(layout, (inside.bottom - 1) * width + inside.right - 1) +
           (1ull << layout->element_shift);
}

bool dma_is_constant(const DmaLayout *layout, uint32_t element) {
    Inside inside = inside_of(layout);
    uint32_t row = element / dma_width(layout), column = element % dma_width(layout);
    return row < inside.top || row >= inside.bottom || column < inside.left || column >= inside.right;
}

uint32_t dma_next_fetched(const DmaLayout *layout, uint32_t element) {
    Inside inside = inside_of(layout);
    uint32_t width = dma_width(layout), row = element / width, column = element % width;
    if (column >= inside.right) {
        column = inside.left;
        row++;
    }
    if (row < inside.top) {
        row = inside.top;
        column = inside.left;
    }
    if (row >= inside.bottom) return dma_elements(layout);
    return row * width + (column < inside.left ? inside.left : column);
}

uint32_t dma_next_constant(const DmaLayout *layout, uint32_t element) {
    Inside inside = inside_of(layout);
    uint32_t width = dma_width(layout), elements = dma_elements(layout);
    if (element >= elements || dma_is_constant(layout, element)) return element;
    uint32_t row = element / width;
    if (inside.right < width) return row * width + inside.right;
    uint32_t next = (row + 1) * width; /* constant when rows begin with the halo */
    if (inside.left) return next;      /* behind the last row: no next       */
    return inside.bottom * width;
}

static uint64_t line_of(uint64_t address) {
    return address / DMA_SEGMENT;
}

/* The smallest aligned segment of 32, 64 or 128 B around the bytes, which lie in one line. */
static void set_segment(DmaRun *run, uint64_t start, uint64_t end) {
    run->bytes = 32;
    while ((start & -(uint64_t)run->bytes) + run->bytes < end)
        run->bytes *= 2;
    run->segment = start & -(uint64_t)run->bytes;
}

/* With a stride, the generator sends for a segment when it comes to the first element in it, and does not
 * know yet how much of the segment is needed: it compares addresses without their lower seven bits (Figure
 * 5c). */
DmaRun dma_fetched_run(const DmaLayout *layout, uint32_t element) {
    Inside inside = inside_of(layout);
    uint64_t start = dma_global_address(layout, element),
             step = (uint64_t)layout->stride << layout->element_shift;
    uint64_t left = (line_of(start) + 1) * DMA_SEGMENT - start,
             fits = step ? (left + step - 1) / step : UINT32_MAX;
    uint32_t in_row = inside.right - element % dma_width(layout);
    DmaRun run = {.first = element, .count = fits < in_row ? (uint32_t)fits : in_row};
    if (layout->stride == 1) {
        set_segment(&run, start, start + ((uint64_t)run.count << layout->element_shift));
    } else {
        run.bytes = DMA_SEGMENT;
        run.segment = line_of(start) * DMA_SEGMENT;
    }
    return run;
}

DmaRun dma_constant_run(const DmaLayout *layout, uint32_t element) {
    uint32_t width = dma_width(layout), fetched = dma_next_fetched(layout, element);
    uint32_t end = (element / width + 1) * width, most = DMA_SEGMENT >> layout->element_shift;
    if (fetched < end) end = fetched;
    return (DmaRun){.first = element, .count = end - element < most ? end - element : most};
}
