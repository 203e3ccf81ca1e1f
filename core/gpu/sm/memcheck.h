/* What --memcheck finds: reads of memory that nobody has written, accesses behind the last byte that was asked for, frees
 * of what is no block, races in shared memory, and warps whose threads part at a barrier or where they are to be
 * together. Every memory instruction is looked at before it executes; of one that is off, an SM pays a test of a
 * pointer. An SM keeps what it finds itself, so that no order and no thread can change it. */
#ifndef WW_GPU_MEMCHECK_H
#define WW_GPU_MEMCHECK_H

#include "core/gpu/sm/sm.h"

typedef enum {
    MEMCHECK_BEYOND_END,   /* within the rounding of an allocation */
    MEMCHECK_BEYOND_BLOCK, /* of the heap of malloc */
    MEMCHECK_FREED_BLOCK,
    MEMCHECK_FREE_TWICE,
    MEMCHECK_FREE_OF_NO_BLOCK,
    MEMCHECK_BEYOND_SHARED, /* within the rounding of a CTA's shared memory */
    MEMCHECK_UNINITIALISED_GLOBAL,
    MEMCHECK_UNINITIALISED_SHARED,
    MEMCHECK_NOT_IN_MASK, /* a lane executes what names the lanes that take part, and does not name itself */
    MEMCHECK_MASK_ELSEWHERE,  /* lanes that it names are not with it */
    MEMCHECK_RACE_READ_WRITE, /* a read, then a write of another warp */
    MEMCHECK_RACE_WRITE_READ,
    MEMCHECK_RACE_WRITE_WRITE,
    MEMCHECK_BARRIERS_DIFFER, /* a barrier that other threads of the warp have left out, at one before */
} MemcheckKind;

/* All that was found of a kind at one instruction, or at a pair of them; the rest is of the first. */
typedef struct {
    uint32_t kind;
    uint32_t sm, launch;
    uint32_t inst, other_inst; /* other_inst: of the access before, of a race; of the barrier before */
    uint32_t ctaid[3], thread[3], other_thread[3];
    const Kernel *kernel;
    uint64_t cycle, address, count; /* count: of accesses by threads */
} MemcheckSite;

typedef struct Memcheck Memcheck;

Memcheck *memcheck_new(void);
void memcheck_free(Memcheck *check);

/* --- For the SM ------------------------------------------------------------------------------- */

/* The kernel is another: CTAs of it are to come. */
void memcheck_set_kernel(const Sm *sm);
COLD void memcheck_cta_starts(const Sm *sm, uint32_t slot);
/* An instruction that accesses memory is about to execute, on the context's active lanes. */
COLD void memcheck_access(Sm *sm, uint32_t warp, const Inst *inst);
/* The warp executes membar or fence. */
COLD void memcheck_fence(const Sm *sm, uint32_t warp);
/* The context's active lanes of the warp have come to a barrier. */
COLD void memcheck_arrive(const Sm *sm, uint32_t warp, const Inst *inst);
/* They execute an INST_CONVERGENT together. */
COLD void memcheck_together(const Sm *sm, uint32_t warp, const Inst *inst);
/* A barrier lets `warps` go on, all that live of the CTA or not. */
COLD void memcheck_barrier(const Sm *sm, uint32_t slot, WarpSet warps, bool is_whole);
/* The SM has carried out malloc or free. */
COLD void memcheck_malloc(const Sm *sm, uint64_t address, uint64_t bytes);
COLD void memcheck_free_block(const Sm *sm, const HeapRequest *request, uint32_t lane);
/* At the boundary of a quantum: what was written is initialised for all. */
void memcheck_commit(const Sm *sm);

/* --- For the GPU ------------------------------------------------------------------------------ */

/* What these have found, those of one place together: in the order of launches, then cycles, then SMs. Returns how
 * many; `sites`, to be freed. */
uint32_t memcheck_collect(Sm *const *sms, uint32_t sm_count, MemcheckSite **sites);

#endif
