/* An SM and its parts: what the class SM has memory for. To add a part, give it a member here, and its rows
 * and its place among the gates in sm_class.c. */
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
