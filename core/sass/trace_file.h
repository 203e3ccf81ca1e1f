/* The file of a trace: its bytes, unpacked where xz has packed them. */
#ifndef WW_SASS_TRACE_FILE_H
#define WW_SASS_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *path;
    int file;
    uint64_t unread;     /* bytes of the file, as long as nobody writes it */
    struct XzStream *xz; /* NULL: it is not packed                         */
    uint64_t digest;     /* packed: of the bytes that have been read, see file_digest() */
} TraceFile;

/* Close it also when an error has ended the reading. Whether it is packed, its first bytes say. */
void trace_file_open(TraceFile *trace, const char *path);
void trace_file_close(TraceFile *trace);
/* The next bytes of the trace, `room` of them or fewer; 0: there are no more. */
size_t trace_file_read(TraceFile *trace, char *bytes, size_t room);
/* More bytes than these cannot come. */
uint64_t trace_file_left(const TraceFile *trace);

#endif
