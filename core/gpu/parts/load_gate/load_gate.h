/* The issue gate of loads: which warps may issue loads and atomics that go to L1 and beyond, as in cache-
 * conscious wavefront scheduling (Rogers et al., MICRO 2012, section 3.1: the Can Issue vector). At work
 * while some warp may not. */
#ifndef WW_GPU_LOAD_GATE_H
#define WW_GPU_LOAD_GATE_H

#include "core/gpu/sm/issue_gate.h"

typedef struct {
    IssueGate gate;
    WarpSet may_load; /* a knob */
    /* Host: warps whose next instruction has been looked at, and those of them that are about to load. */
    WarpSet known, loads;
} LoadGate;

#define LOAD_GATE_ROWS(T, m)                                                                                 \
    KNOB_NAMED(T, m.may_load, "may_load", "warps",                                                           \
               "Warps that may issue loads and atomics of global and local memory"),                         \
        HOST(T, m.known, "Warps of which it is known whether they are about to load")                        \
    , HOST(T, m.loads, "Those that are")                                                                     \
    , GATE_ROWS(T, m.gate)

void load_gate_init(LoadGate *loads, Sm *sm);

#endif
