/* The messages inside an SM and between the dispatcher and its SMs. Fixed size, plain data. */
#ifndef WW_GPU_PROTOCOLS_H
#define WW_GPU_PROTOCOLS_H

#include "core/ptx/inst.h"
#include "core/sim/object.h"

/* SM -> LSU: one warp memory instruction, addresses known. Local addresses are already laid out in memory. */
typedef struct {
    uint64_t address[WARP_LANES]; /* of active lanes                                    */
    uint64_t lowest, highest;     /* least and greatest of these; 0 and UINT64_MAX when unknown */
    uint64_t begins;              /* core cycle from which the LSU may work on it       */
    uint32_t lanes;               /* active                                             */
    uint32_t inst;                /* index in the kernel                                */
    uint32_t payload;             /* atomics on global memory: slot in the payload table */
    uint16_t warp;
    uint8_t kind;     /* InstKind: load, store or atomic                    */
    uint8_t space;    /* Space                                              */
    uint8_t bytes;    /* per lane: element_bytes * elements                 */
    uint8_t cache_op; /* CacheOp                                            */
    uint8_t pad[2];
} MemoryOp;

/* LSU -> SM: the instruction is complete: data written back, or all writes acknowledged. */
typedef struct {
    uint32_t inst, payload, lanes;
    uint16_t warp;
    uint8_t kind, space;
} MemoryDone;

extern const Protocol memory_op_protocol;

/* Dispatcher -> SM: start this CTA of the running kernel. */
typedef struct {
    uint32_t ctaid[3];
    uint32_t slot; /* which of the SM's CTA slots; the dispatcher keeps the books */
} CtaStart;

/* SM -> dispatcher: all warps of the slot's CTA have finished and nothing of them is in flight. */
typedef struct {
    uint32_t slot, pad;
} CtaDone;

extern const Protocol cta_protocol;

#endif
