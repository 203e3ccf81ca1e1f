/* Files that traces are written to: plain, or compressed as the name's end says (.zst, .gz). */
#ifndef WW_SIM_TRACE_SINK_H
#define WW_SIM_TRACE_SINK_H

#include <stddef.h>

typedef struct Sink Sink;

/* NULL with `problem` set, to be freed, when it cannot be written. */
Sink *sink_open(const char *path, char **problem);
/* What goes wrong is said at the end. */
void sink_write(Sink *sink, const void *bytes, size_t count);
/* Returns NULL, or what went wrong, to be freed. */
char *sink_close(Sink *sink);

#endif
