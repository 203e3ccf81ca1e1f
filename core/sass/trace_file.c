#include "core/sass/trace_file.h"

#include "core/sim/base/error.h"
#include "core/sim/checkpoint/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a byte of xz unpacks to at most, rounded up: 6,843 of zeros. */
enum { MOST_UNPACKED = 8192 };

typedef struct XzStream {
    lzma_stream stream;
    bool ended;
    uint8_t packed[1 << 16];
} XzStream;

static bool is_packed(int file) {
    static const uint8_t magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    uint8_t first[sizeof magic];
    return pread(file, first, sizeof first, 0) == (ssize_t)sizeof first &&
           !memcmp(first, magic, sizeof magic);
}

static XzStream *open_stream(void) {
    enum { MOST_MEMORY = 1 << 30 };
    XzStream *xz = calloc(1, sizeof *xz);
    ensure_memory(xz);
    xz->stream = (lzma_stream)LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&xz->stream, MOST_MEMORY, LZMA_CONCATENATED) != LZMA_OK) out_of_memory();
    return xz;
}

void trace_file_open(TraceFile *trace, const char *path) {
    struct stat status;
    *trace = (TraceFile){
        .path = path, .file = open(path, O_RDONLY | O_CLOEXEC), .digest = file_digest("", 0)};
    if (trace->file < 0) user_error("%s: cannot open it: %s", path, strerror(errno));
    bool is_file = fstat(trace->file, &status) == 0 && S_ISREG(status.st_mode);
    trace->unread = is_file ? (uint64_t)status.st_size : 0;
    if (!trace->unread) close(trace->file);
    if (!is_file) user_error("%s: expected a file, got a folder, device or the like", path);
    if (!trace->unread) user_error("%s: expected a trace, got an empty file", path);
    if (is_packed(trace->file)) trace->xz = open_stream();
}

void trace_file_close(TraceFile *trace) {
    close(trace->file);
    if (trace->xz) lzma_end(&trace->xz->stream);
    free(trace->xz);
}

/* The next bytes of the file itself. */
static size_t read_file(TraceFile *trace, void *bytes, size_t room) {
    ssize_t got = read(trace->file, bytes, room);
    if (got < 0) user_error("%s: cannot read it: %s", trace->path, strerror(errno));
    trace->unread -= (uint64_t)got < trace->unread ? (uint64_t)got : trace->unread;
    return (size_t)got;
}

static const char *problem_of(lzma_ret result) {
    switch (result) {
    case LZMA_BUF_ERROR: return "the file is cut off";
    case LZMA_MEM_ERROR:
    case LZMA_MEMLIMIT_ERROR: return "it would take more than 1 GiB of memory";
    case LZMA_OPTIONS_ERROR: return "it is packed in a way that this xz does not know";
    default: return "the file is damaged";
    }
}

static size_t unpack(TraceFile *trace, char *bytes, size_t room) {
    XzStream *xz = trace->xz;
    lzma_stream *stream = &xz->stream;
    stream->next_out = (uint8_t *)bytes;
    stream->avail_out = room;
    while (stream->avail_out == room && !xz->ended) {
        if (!stream->avail_in) {
            stream->next_in = xz->packed;
            stream->avail_in = read_file(trace, xz->packed, sizeof xz->packed);
            trace->digest = file_digest_goes_on(trace->digest, xz->packed, stream->avail_in);
        }
        lzma_ret result = lzma_code(stream, stream->avail_in ? LZMA_RUN : LZMA_FINISH);
        xz->ended = result == LZMA_STREAM_END;
        if (result != LZMA_OK && !xz->ended)
            user_error("%s: cannot unpack it: %s", trace->path, problem_of(result));
    }
    return room - stream->avail_out;
}

size_t trace_file_read(TraceFile *trace, char *bytes, size_t room) {
    return trace->xz ? unpack(trace, bytes, room) : read_file(trace, bytes, room);
}

uint64_t trace_file_left(const TraceFile *trace) {
    return trace->xz ? (trace->unread + trace->xz->stream.avail_in + 1) * MOST_UNPACKED : trace->unread;
}
