/* The D2MA engine as its SM knows it: what they tell each other, and the parameters that the SM must keep to.
 */
#ifndef WW_GPU_DMA_ENGINE_H
#define WW_GPU_DMA_ENGINE_H

#include "core/gpu/dma/dma_layout.h"
#include "core/sim/object.h"

enum { DMA_BUFFERS = 4 }; /* of a CTA, at most */

/* SM -> engine: a warp has started this transfer. */
typedef struct {
    DmaLayout layout;
    uint64_t issued; /* core cycle                       */
    uint32_t inst;   /* index of the intrinsic           */
    uint16_t warp;   /* whose class the requests are of  */
    uint8_t cta, buffer, class_number;
    uint8_t pad[7];
} DmaStart;

/* Engine -> SM: write the run of elements that begins with `first`, from global memory or with the constant.
 */
typedef struct {
    uint32_t first, count; /* count 0: nothing more to write */
    uint8_t cta, buffer;
    uint8_t constant;
    uint8_t last; /* the transfer is complete with it */
} DmaNews;

extern const Protocol dma_protocol;
extern const Class dma_engine_class;

/* Buffers that each CTA has. */
uint32_t dma_engine_buffers(const SimObject *engine);
/* Do loads wait for transfers? */
bool dma_engine_checks(const SimObject *engine);

#endif
