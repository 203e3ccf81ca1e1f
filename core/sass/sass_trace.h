/* Kernels that were recorded on a GPU: a trace has the machine instructions (SASS) of each warp, with the lanes that
 * executed them and the addresses that they accessed. Files are text, as Accel-Sim's tracer for NVBit writes them
 * (kernel-N.traceg); docs/sass_traces.md has the format and what is made of it.
 *
 * A recorded kernel is a Kernel like others: one Inst for each address of code. What an Inst does, and where its warp goes
 * from there, stands in the warp's records, one for each instruction that it executed. Where a warp is among them, it has in
 * its registers; which lanes execute its next instruction, in a predicate that guards all of them: so checkpoints keep both
 * as they keep any kernel's. No values are known, and no memory is read or written. */
#ifndef WW_SASS_TRACE_H
#define WW_SASS_TRACE_H

#include "core/ptx/module.h"

/* How it was launched, and so is to be. */
typedef struct {
    uint32_t grid[3], block[3];
    uint32_t registers;    /* per thread                                                 */
    uint32_t shared_bytes; /* per CTA, dynamic shared memory included                    */
    uint64_t instructions; /* of all warps                                               */
    uint64_t stream;       /* of the recorded program; 0: its default one                */
    char unknown[256];     /* opcodes that are timed as a move, with blanks between them */
} SassLaunch;

/* Global addresses in the machine: of those of the process that was recorded, the lower bits, below local memory and code. */
#define SASS_GLOBAL_MASK ((UINT64_C(1) << 40) - 1)

/* A module of one kernel. Defects of the file are user errors, "FILE:LINE: what is wrong, what would be legal". */
Module *sass_load(const char *path);
/* The same of text, which may go afterwards; `path` is what messages begin with. */
Module *sass_parse(const char *path, const char *text, size_t length);

bool sass_is(const Module *module);
const SassLaunch *sass_launch(const Module *module);

/* Frees the records, which are most of it: the kernel has run, and will not again. */
void sass_release(Module *module);
bool sass_is_released(const Module *module);

#endif
