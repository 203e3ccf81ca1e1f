/* What a transfer of the D2MA engine copies (Jamshidi et al., PACT 2014, sections 4.2 and 4.2.1): which
 * element of global memory goes where in shared memory, and which elements share a request. Pure functions.
 *
 * Elements are numbered as they lie in shared memory, row by row, halo included; a flat transfer is one row.
 */
#ifndef WW_GPU_DMA_LAYOUT_H
#define WW_GPU_DMA_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DMA_SEGMENT = 128, /* bytes that a request, or a write of constants, has at most */
    DMA_MAX_ELEMENTS = 65535,
};

/* Sides at which the data end, so that the halo there is constant. The nine regions of Figure 6 are nine of
 * the sixteen sets. */
enum { DMA_TOP = 1, DMA_BOTTOM = 2, DMA_LEFT = 4, DMA_RIGHT = 8 };

/* Plain data; it travels in messages and is saved with them. */
typedef struct {
    uint64_t global;        /* of the first element, with a halo of the first inner one  */
    uint64_t constant;      /* its low bytes fill the halo at borders                    */
    uint32_t shared;        /* of element 0, from the start of the CTA's shared memory   */
    uint32_t rows, columns; /* without the halo                                          */
    uint32_t pitch, stride; /* elements from row to row, and within a row                */
    uint32_t halo_rows, halo_columns;
    uint32_t padded, blank; /* after every `padded` elements, `blank` bytes stay free; 0: none */
    uint8_t element_shift;  /* log2 of the bytes of an element                               */
    uint8_t borders;        /* DMA_TOP ...                                                   */
    uint16_t pad;
} DmaLayout;

/* Elements side by side that one request fetches, or one cycle fills with the constant. */
typedef struct {
    uint32_t first, count;
    uint32_t bytes;   /* of the request: 32, 64 or 128   */
    uint64_t segment; /* its address, aligned to `bytes` */
} DmaRun;

static inline uint32_t dma_width(const DmaLayout *layout) {
    return layout->columns + 2 * layout->halo_columns;
}
static inline uint32_t dma_height(const DmaLayout *layout) {
    return layout->rows + 2 * layout->halo_rows;
}
/* All elements, halo included. */
static inline uint32_t dma_elements(const DmaLayout *layout) {
    return dma_width(layout) * dma_height(layout);
}

/* Can it be computed with? There is no kernel to blame. */
bool dma_layout_is_legal(const DmaLayout *layout);
uint64_t dma_global_address(const DmaLayout *layout, uint32_t element);
uint32_t dma_shared_address(const DmaLayout *layout, uint32_t element);
/* Behind the last byte of shared memory that is written. */
uint64_t dma_shared_end(const DmaLayout *layout);
/* The first byte of global memory that is read, and the one behind the last. */
void dma_global_range(const DmaLayout *layout, uint64_t *start, uint64_t *end);
/* Is the element of the halo, beyond a border? */
bool dma_is_constant(const DmaLayout *layout, uint32_t element);

/* The first element from this one on that is fetched, or that is constant, or dma_elements().
 */
uint32_t dma_next_fetched(const DmaLayout *layout, uint32_t element);
uint32_t dma_next_constant(const DmaLayout *layout, uint32_t element);
/* The run that begins with this element. */
DmaRun dma_fetched_run(const DmaLayout *layout, uint32_t element);
DmaRun dma_constant_run(const DmaLayout *layout, uint32_t element);

#endif
