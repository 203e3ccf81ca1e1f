/* Traces for the viewer of ui.perfetto.dev: its protobuf format, in which a cycle of the first clock is shown as a
 * microsecond. */
#ifndef WW_SIM_TRACE_PERFETTO_H
#define WW_SIM_TRACE_PERFETTO_H

#include "core/sim/trace/trace.h"

/* NULL with `problem` set, to be freed, when the file cannot be written. */
TraceWriter *perfetto_new(const char *path, char **problem);

#endif
