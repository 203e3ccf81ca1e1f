#include "mem/parts/access_trace/access_trace.h"

#include "core/sim/checkpoint/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum {
    VERSION = 1,
    HEADER_MAX = 1024,
    RAW_BYTES = TRACE_BLOCK * 8,
    COMPRESSION_LEVEL = 1,
    BLOCK_HEAD = 32, /* records, stored bytes, digest of them, number of the block, digest of the head */
};

static const uint8_t magic[8] = {0x8f, 'W', 'W', 'T', 'R', '\r', '\n', 0x1a};

/* A record is a word: lines are of 32 B at least, so five bits of an address are free. */
enum { KIND_SHIFT = 0, RESULT_SHIFT = 3, SECTORS_SHIFT = 48, COMPLETED_SHIFT = 52 };
#define ADDRESS_BITS (((1ull << 48) - 1) & ~31ull)

static uint64_t pack(TraceRecord r) {
    ensure((r.address & ~ADDRESS_BITS) == 0);
    return r.address | (uint64_t)r.kind << KIND_SHIFT | (uint64_t)r.result << RESULT_SHIFT |
           (uint64_t)r.sectors << SECTORS_SHIFT | (uint64_t)r.completed << COMPLETED_SHIFT;
}

static TraceRecord unpack(uint64_t word) {
    return (TraceRecord){.address = word & ADDRESS_BITS,
                         .kind = word >> KIND_SHIFT & 7,
                         .result = word >> RESULT_SHIFT & 3,
                         .sectors = word >> SECTORS_SHIFT & 15,
                         .completed = word >> COMPLETED_SHIFT & 15};
}

static bool fail(char *why, const char *format, ...) PRINTF_LIKE(2, 3);
static bool fail(char *why, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, TRACE_WHY, format, arguments);
    va_end(arguments);
    return false;
}

/* --- Writing --------------------------------------------------------------------------------- */

struct TraceWriter {
    int handle;
    uint32_t count, blocks;
    uint64_t records;
    uint64_t word[TRACE_BLOCK];
    size_t stored_size;
    uint8_t *stored;
};

static bool put(const TraceWriter *writer, const void *bytes, size_t count, char *why) {
    for (const uint8_t *at = bytes; count;) {
        ssize_t written = write(writer->handle, at, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail(why, "cannot write it: %s", strerror(errno));
        at += written;
        count -= (size_t)written;
    }
    return true;
}

static void append_header(Buffer *out, const TraceHeader *header) {
    const TagGeometry *g = &header->geometry;
    buffer_append(out, magic, sizeof magic);
    buffer_u32(out, VERSION);
    buffer_text(out, header->path);
    buffer_text(out, header->masks);
    buffer_u64(out, g->size);
    buffer_u32(out, g->ways);
    buffer_u32(out, g->line);
    buffer_u32(out, g->sectors);
    buffer_u32(out, g->index);
    buffer_u32(out, header->on_fill);
    buffer_u64(out, header->before);
    buffer_u64(out, hash_bytes(0, out->bytes, out->count));
    ensure(out->count <= HEADER_MAX);
    while (out->count < HEADER_MAX)
        buffer_append(out, "", 1);
}

TraceWriter *trace_create(const char *file, const TraceHeader *header, char *why) {
    int handle = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (handle < 0) {
        fail(why, "cannot make it: %s", strerror(errno));
        return NULL;
    }
    TraceWriter *writer = calloc(1, sizeof *writer);
    ensure_memory(writer);
    writer->handle = handle;
    writer->stored_size = ZSTD_compressBound(RAW_BYTES);
    writer->stored = malloc(writer->stored_size);
    ensure_memory(writer->stored);
    Buffer out = {0};
    append_header(&out, header);
    bool good = put(writer, out.bytes, out.count, why);
    buffer_free(&out);
    if (good) return writer;
    close(handle);
    free(writer->stored);
    free(writer);
    return NULL;
}

/* A block without records is the end, and its digest the number of all records. */
static bool put_block(TraceWriter *writer, char *why) {
    size_t raw = writer->count * sizeof *writer->word, stored = 0;
    if (raw)
        stored = ZSTD_compress(writer->stored, writer->stored_size, writer->word, raw, COMPRESSION_LEVEL);
    ensure(!ZSTD_isError(stored));
    Buffer head = {0};
    buffer_u32(&head, writer->count);
    buffer_u32(&head, (uint32_t)stored);
    buffer_u64(&head, raw ? hash_bytes(0, writer->stored, stored) : writer->records);
    buffer_u64(&head, writer->blocks++);
    buffer_u64(&head, hash_bytes(0, head.bytes, head.count));
    bool good = put(writer, head.bytes, head.count, why) && put(writer, writer->stored, stored, why);
    buffer_free(&head);
    writer->count = 0;
    return good;
}

bool trace_add(TraceWriter *writer, TraceRecord record, char *why) {
    writer->word[writer->count++] = pack(record);
    writer->records++;
    return writer->count < TRACE_BLOCK || put_block(writer, why);
}

bool trace_finish(TraceWriter *writer, char *why) {
    bool good = (!writer->count || put_block(writer, why)) && put_block(writer, why);
    if (close(writer->handle) != 0 && good) good = fail(why, "cannot write it: %s", strerror(errno));
    free(writer->stored);
    free(writer);
    return good;
}

/* --- Reading --------------------------------------------------------------------------------- */

typedef struct {
    uint64_t offset, digest; /* of what is stored      */
    uint64_t first;          /* records before it      */
    uint32_t records, stored;
} Block;

struct TraceReader {
    int handle;
    uint64_t size;
    TraceHeader header;
    Block *block;
    uint32_t blocks, capacity;
    uint64_t word[TRACE_BLOCK];
    size_t stored_size;
    uint8_t *stored;
};

static bool get(const TraceReader *reader, uint64_t offset, void *to, size_t count, char *why) {
    for (uint8_t *at = to; count;) {
        ssize_t got = pread(reader->handle, at, count, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(why, "cannot read it: %s", strerror(errno));
        if (got == 0) return fail(why, "truncated: the run that wrote it did not come to its end");
        at += got;
        offset += (uint64_t)got;
        count -= (size_t)got;
    }
    return true;
}

static bool read_header(TraceReader *reader, char *why) {
    uint8_t bytes[HEADER_MAX];
    TraceHeader *header = &reader->header;
    TagGeometry *g = &header->geometry;
    if (!get(reader, 0, bytes, sizeof bytes, why)) return false;
    if (memcmp(bytes, magic, sizeof magic) != 0) return fail(why, "not a trace");
    Reader in = {.bytes = bytes, .count = sizeof bytes, .position = sizeof magic};
    uint32_t version = reader_u32(&in);
    if (version != VERSION)
        return fail(why, "it has format version %u; this program reads version %d", version, VERSION);
    bool good = reader_text(&in, header->path, sizeof header->path) &&
                reader_text(&in, header->masks, sizeof header->masks);
    g->size = reader_u64(&in);
    g->ways = reader_u32(&in);
    g->line = reader_u32(&in);
    g->sectors = reader_u32(&in);
    g->index = reader_u32(&in);
    header->on_fill = reader_u32(&in);
    header->before = reader_u64(&in);
    size_t digested = in.position;
    if (reader_u64(&in) != hash_bytes(0, bytes, digested) || in.failed || !good)
        return fail(why, "damaged: its header");
    return true;
}

static void keep_block(TraceReader *reader, Block block) {
    if (reader->blocks == reader->capacity) {
        reader->capacity = reader->capacity ? 2 * reader->capacity : 64;
        reader->block = realloc(reader->block, reader->capacity * sizeof *reader->block);
        ensure_memory(reader->block);
    }
    reader->block[reader->blocks++] = block;
}

static bool find_blocks(TraceReader *reader, char *why) {
    uint64_t offset = HEADER_MAX, records = 0;
    for (;;) {
        uint8_t bytes[BLOCK_HEAD];
        if (!get(reader, offset, bytes, sizeof bytes, why)) return false;
        Reader in = {.bytes = bytes, .count = sizeof bytes};
        Block block = {.records = reader_u32(&in), .stored = reader_u32(&in), .offset = offset + BLOCK_HEAD};
        block.digest = reader_u64(&in);
        uint64_t number = reader_u64(&in);
        if (reader_u64(&in) != hash_bytes(0, bytes, BLOCK_HEAD - 8) || number != reader->blocks ||
            block.records > TRACE_BLOCK || block.stored > reader->stored_size)
            return fail(why, "damaged: the head of block %u", reader->blocks);
        offset = block.offset + block.stored;
        if (!block.records) {
            if (block.digest != records || offset != reader->size)
                return fail(why, "damaged: %lu records instead of %lu, %lu bytes behind the end", records,
                            block.digest, reader->size - offset);
            return true;
        }
        block.first = records;
        records += block.records;
        keep_block(reader, block);
    }
}

TraceReader *trace_open(const char *file, char *why) {
    int handle = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (handle < 0 || fstat(handle, &status) != 0 || !S_ISREG(status.st_mode)) {
        fail(why, "cannot open it: %s", handle < 0 ? strerror(errno) : "not a file");
        if (handle >= 0) close(handle);
        return NULL;
    }
    TraceReader *reader = calloc(1, sizeof *reader);
    ensure_memory(reader);
    reader->handle = handle;
    reader->size = (uint64_t)status.st_size;
    reader->stored_size = ZSTD_compressBound(RAW_BYTES);
    reader->stored = malloc(reader->stored_size);
    ensure_memory(reader->stored);
    if (read_header(reader, why) && find_blocks(reader, why)) return reader;
    trace_close(reader);
    return NULL;
}

const TraceHeader *trace_header(const TraceReader *reader) {
    return &reader->header;
}

uint32_t trace_blocks(const TraceReader *reader) {
    return reader->blocks;
}

uint64_t trace_first(const TraceReader *reader, uint32_t number) {
    return reader->block[number].first;
}

uint32_t trace_read(TraceReader *reader, uint32_t number, TraceRecord *records, char *why) {
    ensure(number < reader->blocks);
    const Block *block = &reader->block[number];
    if (!get(reader, block->offset, reader->stored, block->stored, why)) return 0;
    size_t raw = block->records * sizeof *reader->word;
    if (hash_bytes(0, reader->stored, block->stored) != block->digest ||
        ZSTD_decompress(reader->word, raw, reader->stored, block->stored) != raw) {
        fail(why, "damaged: block %u", number);
        return 0;
    }
    for (uint32_t i = 0; i < block->records; i++) {
        records[i] = unpack(reader->word[i]);
        if (records[i].kind < TRACE_KINDS) continue;
        fail(why, "damaged: record %u of block %u", i, number);
        return 0;
    }
    return block->records;
}

void trace_close(TraceReader *reader) {
    close(reader->handle);
    free(reader->block);
    free(reader->stored);
    free(reader);
}
