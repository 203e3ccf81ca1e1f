/* An SM and the parts whose rows are the SM's own: its knobs, ports and statistics. Any other part with an
 * issue gate is an object below the SM; see issue_gate.h. */
#ifndef WW_GPU_SM_PARTS_H
#define WW_GPU_SM_PARTS_H

#include "core/gpu/dma/dma_gate.h"
#include "core/gpu/parts/issue_knobs/issue_knobs.h"
#include "core/gpu/parts/load_gate/load_gate.h"
#include "core/gpu/parts/memory_ownership/memory_ownership.h"
#include "core/gpu/sm/sm.h"

typedef struct {
    Sm sm;
    IssueKnobs knobs;
    MemoryOwnership ownership;
    LoadGate loads;
    DmaGate dma;
} SmWithParts;

#endif
