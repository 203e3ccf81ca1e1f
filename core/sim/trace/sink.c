#include "core/sim/trace/sink.h"

#include "core/sim/base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { BUFFER_BYTES = 1 << 17, ZSTD_LEVEL = 3, GZIP_LEVEL = 3, GZIP_WINDOW = 15 + 16 };

struct Sink {
    char *path, *problem;
    FILE *file;
    ZSTD_CCtx *zstd;
    z_stream *zlib;
    size_t count;
    char buffer[BUFFER_BYTES], packed[BUFFER_BYTES];
};

static char *problem_of(const char *path, const char *why) {
    char text[1024];
    snprintf(text, sizeof text, "%s: expected a file that can be written, got: %s", path, why);
    return strdup(text);
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), ending = strlen(end);
    return length >= ending && strcmp(text + length - ending, end) == 0;
}

static void open_gzip(Sink *sink) {
    sink->zlib = calloc(1, sizeof *sink->zlib);
    ensure_memory(sink->zlib);
    ensure_memory(deflateInit2(sink->zlib, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
                  Z_MEM_ERROR);
}

Sink *sink_open(const char *path, char **problem) {
    FILE *file = fopen(path, "wb");
    if (!file) {
        *problem = problem_of(path, strerror(errno));
        return NULL;
    }
    Sink *sink = malloc(sizeof *sink);
    ensure_memory(sink);
    sink->path = strdup(path);
    sink->problem = NULL;
    sink->file = file;
    sink->zstd = NULL;
    sink->zlib = NULL;
    sink->count = 0;
    if (ends_with(path, ".zst")) {
        sink->zstd = ZSTD_createCCtx();
        ensure_memory(sink->zstd);
        ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
        ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_checksumFlag, 1);
    } else if (ends_with(path, ".gz")) {
        open_gzip(sink);
    }
    return sink;
}

static void put(Sink *sink, const void *bytes, size_t count) {
    if (sink->problem || fwrite(bytes, 1, count, sink->file) == count) return;
    sink->problem = problem_of(sink->path, strerror(errno));
}

static void put_zstd(Sink *sink, bool last) {
    ZSTD_inBuffer in = {sink->buffer, sink->count, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {sink->packed, sizeof sink->packed, 0};
        left = ZSTD_compressStream2(sink->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        ensure_memory(ZSTD_getErrorCode(left) != ZSTD_error_memory_allocation);
        ensure(!ZSTD_isError(left));
        put(sink, sink->packed, out.pos);
    } while (last ? left != 0 : in.pos < in.size);
}

static void put_gzip(Sink *sink, bool last) {
    z_stream *z = sink->zlib;
    z->next_in = (Bytef *)sink->buffer;
    z->avail_in = (uInt)sink->count;
    do {
        z->next_out = (Bytef *)sink->packed;
        z->avail_out = sizeof sink->packed;
        ensure(deflate(z, last ? Z_FINISH : Z_NO_FLUSH) != Z_STREAM_ERROR);
        put(sink, sink->packed, sizeof sink->packed - z->avail_out);
    } while (z->avail_out == 0);
}

static void empty_buffer(Sink *sink, bool last) {
    if (sink->zstd)
        put_zstd(sink, last);
    else if (sink->zlib)
        put_gzip(sink, last);
    else
        put(sink, sink->buffer, sink->count);
    sink->count = 0;
}

void sink_write(Sink *sink, const void *bytes, size_t count) {
    for (const char *left = bytes; count;) {
        if (sink->count == sizeof sink->buffer) empty_buffer(sink, false);
        size_t room = sizeof sink->buffer - sink->count, taken = count < room ? count : room;
        memcpy(sink->buffer + sink->count, left, taken);
        sink->count += taken;
        left += taken;
        count -= taken;
    }
}

char *sink_close(Sink *sink) {
    empty_buffer(sink, true);
    if (fclose(sink->file) != 0 && !sink->problem) sink->problem = problem_of(sink->path, strerror(errno));
    char *problem = sink->problem;
    ZSTD_freeCCtx(sink->zstd);
    if (sink->zlib) deflateEnd(sink->zlib);
    free(sink->zlib);
    free(sink->path);
    free(sink);
    return problem;
}
