/* The messages inside an SM and between the dispatcher and its SMs. Fixed size, plain data. */
#ifndef WW_GPU_PROTOCOLS_H
#define WW_GPU_PROTOCOLS_H

#include "core/ptx/instructions/inst.h"
#include "core/sim/object.h"

/* SM -> LSU: one warp memory instruction, addresses known. Local addresses are already laid out in memory.
 * What every instruction needs comes first; the addresses are there only when `has_addresses`: accesses to
 * shared memory, loads within one line and accesses of all lanes to the same words of local memory, of which lowest and
 * highest say where the first lane's first word is, do without, and leave most of the message untouched. Of a texture
 * fetch, whose lanes read several texels each, the message has the segments instead. */
typedef struct {
    uint64_t begins;          /* core cycle from which the LSU may work on it                       */
    uint64_t lowest, highest; /* least and greatest address; 0 and UINT64_MAX when unknown          */
    uint32_t lanes;           /* active                                                             */
    uint32_t inst;            /* index in the kernel                                                */
    uint32_t payload;         /* atomics on global memory: slot in the payload table                */
    uint32_t conflict_degree; /* shared memory: cycles that the banks need                          */
    uint16_t warp;
    uint8_t kind;     /* InstKind: load, store or atomic                                    */
    uint8_t space;    /* Space                                                              */
    uint8_t bytes;    /* per lane: element_bytes * elements                                 */
    uint8_t cache_op; /* CacheOp                                                            */
    uint8_t has_addresses;
    uint8_t pad;
    uint64_t word_stride; /* local memory: from a word of a lane to its next one                    */
    uint32_t segments;    /* texture fetches: entries of segment                                */
    uint32_t pad2;
    union {
        uint64_t address[WARP_LANES]; /* of active lanes */
        /* Texture fetches: segments of 32 B, counted from `lowest` on. */
        uint32_t segment[WARP_LANES * LANE_TEXELS];
    };
} MemoryOp;

_Static_assert(offsetof(MemoryOp, address) == 64, "what every instruction needs is one cache line");

/* LSU -> SM: the instruction is complete: data written back, or all writes acknowledged. */
typedef struct {
    uint32_t inst, payload, lanes;
    uint16_t warp;
    uint8_t kind, space;
} MemoryDone;

extern const Protocol memory_op_protocol;

/* Of an SM's resources; warps 0: there is no room for any CTA of the kernel. */
typedef struct {
    uint32_t warps, registers, shared;
} CtaNeeds;

/* Dispatcher -> SM: start this CTA. */
typedef struct {
    uint32_t ctaid[3];
    uint32_t slot;   /* which of the SM's CTA slots; the dispatcher knows which are free */
    uint32_t kernel; /* which of the kernels that the SM has */
    uint32_t pad;
} CtaStart;

/* SM -> dispatcher: all warps of the slot's CTA have finished and nothing of them is in flight. */
typedef struct {
    uint32_t slot, pad;
    uint64_t warp_instructions, thread_instructions; /* of its own, where the SM has several kernels */
} CtaDone;

extern const Protocol cta_protocol;

#endif
