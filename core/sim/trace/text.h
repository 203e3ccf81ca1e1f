/* Traces as text: a line for each record, "cycle object event warp pc text". */
#ifndef WW_SIM_TRACE_TEXT_H
#define WW_SIM_TRACE_TEXT_H

#include "core/sim/trace/trace.h"

/* `heading`: the first lines. `events`: names of those to write, "issue,miss", or NULL: all. NULL with `problem` set,
 * to be freed, when the file cannot be written. */
TraceWriter *trace_text_new(const char *path, const char *heading, const char *events, char **problem);

#endif
