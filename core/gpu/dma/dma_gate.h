/* The issue gate of the D2MA engine: what an SM does for transfers. Intrinsics execute, loads that would read
 * of a transfer in flight are parked, what has come is written to shared memory; and kernels that copy their
 * tiles themselves have marks, for the same figures. It is at work while transfers are in flight, and while
 * a kernel with marks runs.
 *
 *   dma_gate.c        the gate: parking, data that have come, its invariants
 *   dma_intrinsics.c  the intrinsics
 *   tile_marks.c      marks
 *   dma_sound.c       whether the state that a snapshot has brought can be worked with
 */
#ifndef WW_GPU_DMA_GATE_H
#define WW_GPU_DMA_GATE_H

#include "core/gpu/dma/dma_engine.h"
#include "core/gpu/sm/issue_gate.h"

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
    uint64_t begun, first_load; /* cycles                                 */
    uint32_t begins;            /* tiles: the generation that comes next  */
    uint32_t ended;             /* warps that are through with this one   */
    uint32_t open, loaded;      /* loaded: first_load has happened        */
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

typedef struct {
    IssueGate gate;
    Port transfers;
    const SimObject *engine; /* NULL: the SM has none                                          */
    uint64_t watches;        /* at work: transfers are in flight, or the kernel has marks      */
    uint32_t busy;           /* CTA slots with transfers in flight                             */
    uint32_t tile_open;      /* CTA slots that copy a marked tile                              */
    DmaCta *cta;
    DmaWarp *warp;
    uint64_t squashes, parked_cycles, stall_cycles;
    uint64_t tiles, tile_agen_cycles, tile_mem_cycles, tile_cycles, tile_stall_cycles;
} DmaGate;

/* The rows of a DmaGate `m` in the class of an SM with `ctas` CTAs and `warps` warps. */
#define DMA_GATE_PORT_ROWS(T, m)                                                                             \
    PORT_NAMED(T, m.transfers, "transfers", dma_protocol, ROLE_REQUESTER, "Transfers for a DmaEngine",       \
               .optional = true)
#define DMA_GATE_STATE_ROWS(T, m, ctas, warps)                                                               \
    PARKING_GATE_ROWS(T, m.gate, "dma_parked", "Warps that wait for transfers"),                             \
        HOST(T, m.engine, "At the port transfers")                                                           \
    , STATE_NAMED(T, m.watches, "dma_watch", "Issue looks for transfers and marks"),                         \
        STATE_NAMED(T, m.busy, "dma_busy", "CTA slots with transfers in flight"),                            \
        STATE_NAMED(T, m.tile_open, "tile_open", "CTA slots that copy a marked tile"),                       \
        STATE_ARRAY_NAMED(T, m.cta, "dma_cta", ctas, "Transfers and marked tiles of each CTA"),              \
        STATE_ARRAY_NAMED(T, m.warp, "dma_warp", warps, "How far each warp is with its CTA's transfers")
#define DMA_GATE_STAT_ROWS(T, m)                                                                             \
    STAT_NAMED(T, m.squashes, "dma_squashes", "instructions",                                                \
               "Issues undone because a transfer was in flight"),                                            \
        STAT_NAMED(T, m.parked_cycles, "dma_parked_cycles", "cycles",                                        \
                   "Cycles of warps that waited for transfers"),                                             \
        STAT_NAMED(T, m.stall_cycles, "transfer_stall_cycles", "cycles",                                     \
                   "All resident CTAs had a transfer in flight, and no warp issued"),                        \
        STAT_NAMED(T, m.tiles, "tiles", "tiles", "Tiles copied between marks"),                              \
        STAT_NAMED(T, m.tile_agen_cycles, "tile_agen_cycles", "cycles",                                      \
                   "Overhead: from the begin of a marked tile to its first global load, all tiles"),         \
        STAT_NAMED(T, m.tile_mem_cycles, "tile_mem_cycles", "cycles",                                        \
                   "Memory time: from there to the end of the tile, all tiles"),                             \
        STAT_NAMED(T, m.tile_cycles, "tile_cycles", "cycles",                                                \
                   "From the begin of a marked tile to its end, all tiles"),                                 \
        STAT_NAMED(T, m.tile_stall_cycles, "tile_stall_cycles", "cycles",                                    \
                   "All resident CTAs were copying a marked tile, and no warp issued")

/* Once the ports are wired. */
void dma_gate_init(DmaGate *dma, Sm *sm);
/* Of an SM. */
const DmaGate *dma_gate_of(const Sm *sm);
/* Panic unless a message that a snapshot has brought could have been sent. */
void dma_start_is_sound(const Sm *sm, const char *where, const DmaStart *start);
void dma_news_is_sound(const Sm *sm, const char *where, const DmaNews *news);

/* --- Among the files of the gate */

/* --- dma_gate.c */
/* The transfers of a CTA in flight have changed. */
void dma_update_busy(DmaGate *dma, uint32_t slot);

/* --- dma_intrinsics.c */
/* The number of the buffer that an intrinsic names. */
uint32_t dma_buffer_of(const DmaGate *dma, uint32_t warp, const Inst *inst);
void dma_execute(IssueGate *gate, uint32_t warp, const Inst *inst);

/* --- tile_marks.c */
void dma_pass_marks(DmaGate *dma, uint32_t warp, const Inst *inst, uint64_t cycle);
/* The CTA is through. */
void dma_end_tiles(DmaGate *dma, uint32_t slot, uint64_t cycle);

/* --- dma_sound.c */
void dma_gate_is_sound(const IssueGate *gate);

#endif
