/* What the SM does for transfers of the D2MA engine: the intrinsics at issue, the check of loads, the writes
 * to shared memory; and the marks of kernels that copy their tiles themselves. */
#ifndef WW_GPU_DMA_H
#define WW_GPU_DMA_H

#include "core/gpu/dma/dma_engine.h"
#include "core/ptx/instructions/inst.h"

struct Sm;

/* For a warp's next configuration, but for element_shift, which stays. */
typedef struct {
    uint64_t constant;
    uint32_t padded, blank, halo_rows, halo_columns;
    uint8_t borders, element_shift;
    uint8_t pad[6];
} DmaStaged;

typedef struct {
    DmaLayout layout;
    uint32_t started; /* transfers: the generation that comes next */
    uint32_t in_flight, configured, pad;
} DmaBuffer;

/* The copying of a tile by a plain kernel, between its marks. */
typedef struct {
    uint64_t begun, last_load; /* cycles                                 */
    uint32_t begins;           /* tiles: the generation that comes next  */
    uint32_t ended;            /* warps that are through with this one   */
    uint32_t open, pad;
} DmaTile;

typedef struct {
    DmaBuffer buffer[DMA_BUFFERS];
    DmaTile tile[DMA_BUFFERS];
} DmaCta;

typedef struct {
    DmaStaged staged;
    uint32_t starts[DMA_BUFFERS]; /* that it has come to                 */
    uint32_t begins[DMA_BUFFERS], ends[DMA_BUFFERS];
    uint32_t waits_for, pad; /* parked: buffer                            */
} DmaWarp;

#endif
