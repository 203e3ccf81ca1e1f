/* Records what an L1 is asked for into a file, for scripts/belady. */
#ifndef WW_MEM_L1_TRACE_H
#define WW_MEM_L1_TRACE_H

#include "core/sim/object.h"

extern const Class l1_trace_class;

#endif
