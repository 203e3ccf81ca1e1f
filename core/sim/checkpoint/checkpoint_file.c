#include "core/sim/checkpoint/checkpoint_file.h"

#include "core/sim/base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    FORMAT_VERSION = 6,
    HEADER_BYTES = 48,
    DIGESTED_HEADER_BYTES = HEADER_BYTES - 8,
    ROW_BYTES = 4 + 1 + 4 * 8, /* and the name */
    PIECE_BYTES = 1 << 20,     /* the digest of stored bytes is chained over pieces of this size */
    COMPRESSION_LEVEL = 1,
    /* A block of zstd's holds 128 KiB at the most and takes 4 bytes at the least. A table that claims more
     * than that lies, and no memory is to be had for it. */
    MOST_RAW_PER_STORED = (128 << 10) / 4,
};

/* A byte that is no text in front, then line ends that a transfer as text would change. */
static const uint8_t magic[8] = {0x8f, 'W', 'W', 'C', 'P', '\r', '\n', 0x1a};

typedef struct {
    const char *name;
    uint64_t raw_bytes, stored_bytes, raw_digest, stored_digest;
    uint64_t offset;
    Buffer contents;
} Section;

struct CheckpointFile {
    int handle;           /* -1: it lies in memory */
    const uint8_t *bytes; /* NULL: it lies in a file */
    uint64_t size;
    uint8_t *table; /* holds the names */
    Section *sections;
    uint32_t count;
};

static uint64_t chain_digest(uint64_t digest, const uint8_t *bytes, uint64_t count) {
    for (uint64_t at = 0; at < count; at += PIECE_BYTES)
        digest = hash_bytes(digest, bytes + at, count - at < PIECE_BYTES ? count - at : PIECE_BYTES);
    return digest;
}

/* --- Writing --------------------------------------------------------------------------------- */

typedef struct {
    int handle;
    uint64_t offset;
    ZSTD_CCtx *compressor;
    uint8_t *piece;
    Buffer table;
} Writer;

static bool write_all(int handle, const uint8_t *bytes, size_t count, uint64_t offset) {
    while (count) {
        ssize_t written = pwrite(handle, bytes, count, (off_t)offset);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes += written;
        count -= (size_t)written;
        offset += (uint64_t)written;
    }
    return true;
}

/* In pieces: what is compressed of a large memory is never in memory as a whole. */
static bool write_section(Writer *writer, const CheckpointSection *section) {
    const Buffer *raw = &section->bytes;
    uint64_t start = writer->offset, digest = 0;
    ZSTD_inBuffer in = {raw->bytes, raw->count, 0};
    ZSTD_CCtx_reset(writer->compressor, ZSTD_reset_session_only);
    ZSTD_CCtx_setPledgedSrcSize(writer->compressor, raw->count);
    size_t left = 1;
    while (left) {
        ZSTD_outBuffer out = {writer->piece, PIECE_BYTES, 0};
        while (left && out.pos < out.size) {
            left = ZSTD_compressStream2(writer->compressor, &out, &in, ZSTD_e_end);
            ensure_memory(ZSTD_getErrorCode(left) != ZSTD_error_memory_allocation);
            ensure(!ZSTD_isError(left));
        }
        digest = hash_bytes(digest, writer->piece, out.pos);
        if (!write_all(writer->handle, writer->piece, out.pos, writer->offset)) return false;
        writer->offset += out.pos;
    }
    buffer_text(&writer->table, section->name);
    buffer_append(&writer->table, "", 1);
    buffer_u64(&writer->table, raw->count);
    buffer_u64(&writer->table, writer->offset - start);
    buffer_u64(&writer->table, chain_digest(0, raw->bytes, raw->count));
    buffer_u64(&writer->table, digest);
    return true;
}

static bool write_header(const Writer *writer, uint32_t count) {
    Buffer header = {0};
    buffer_append(&header, magic, sizeof magic);
    buffer_u32(&header, FORMAT_VERSION);
    buffer_u32(&header, count);
    buffer_u64(&header, writer->table.count);
    buffer_u64(&header, writer->offset);
    buffer_u64(&header, hash_bytes(0, writer->table.bytes, writer->table.count));
    buffer_u64(&header, hash_bytes(0, header.bytes, DIGESTED_HEADER_BYTES));
    buffer_append(&header, writer->table.bytes, writer->table.count);
    bool good = write_all(writer->handle, header.bytes, header.count, 0);
    buffer_free(&header);
    return good;
}

static bool write_contents(int handle, const CheckpointSection *sections, uint32_t count) {
    Writer writer = {.handle = handle, .offset = HEADER_BYTES};
    writer.compressor = ZSTD_createCCtx();
    writer.piece = malloc(PIECE_BYTES);
    ensure_memory(writer.compressor && writer.piece);
    ZSTD_CCtx_setParameter(writer.compressor, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
    for (uint32_t i = 0; i < count; i++) {
        writer.offset += ROW_BYTES + strlen(sections[i].name);
        for (uint32_t k = 0; k < i; k++)
            ensure(strcmp(sections[i].name, sections[k].name) != 0);
    }
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++)
        good = write_section(&writer, &sections[i]);
    good = good && write_header(&writer, count);
    int error = errno;
    ZSTD_freeCCtx(writer.compressor);
    free(writer.piece);
    buffer_free(&writer.table);
    errno = error;
    return good;
}

/* The part of a path before its last component, to be freed. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = !slash ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    ensure(folder);
    return folder;
}

/* Is this the name of a temporary of `base` that nobody will finish? */
static bool is_stale(const char *name, const char *base) {
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || strncmp(name + length, ".tmp-", 5) != 0) return false;
    const char *digits = name + length + 5;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 9 || digits[count]) return false;
    pid_t process = (pid_t)strtol(digits, NULL, 10);
    return process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

/* Best effort: a folder that cannot be listed can still be written to. */
static void remove_stale(const char *path, const char *folder) {
    const char *slash = strrchr(path, '/');
    DIR *list = opendir(folder);
    if (!list) return;
    for (const struct dirent *entry; (entry = readdir(list));)
        if (is_stale(entry->d_name, slash ? slash + 1 : path)) unlinkat(dirfd(list), entry->d_name, 0);
    closedir(list);
}

/* So that the new name is on the disk, too. Not all file systems can; the file is whole in any case. */
static void flush_folder(const char *folder) {
    int handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) return;
    fsync(handle);
    close(handle);
}

static bool cannot(char *why, size_t size, const char *what) {
    snprintf(why, size, "cannot %s: %s", what, strerror(errno));
    return false;
}

static bool write_and_rename(const char *path, const char *temporary, const CheckpointSection *sections,
                             uint32_t count, char *why, size_t why_size) {
    unlink(temporary); /* of a dead process that had this one's number */
    int handle = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (handle < 0) return cannot(why, why_size, "make a file in its folder");
    bool good = (write_contents(handle, sections, count) && fsync(handle) == 0) ||
                cannot(why, why_size, "write it");
    /* Some network file systems report a full disk no earlier than here. */
    if (close(handle) != 0 && good) good = cannot(why, why_size, "write it");
    if (good && rename(temporary, path) != 0) good = cannot(why, why_size, "rename the file written");
    if (!good) unlink(temporary);
    return good;
}

bool checkpoint_file_write(const char *path, const CheckpointSection *sections, uint32_t count, char *why,
                           size_t why_size) {
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        snprintf(why, why_size, "expected a file, got a folder, device or the like"); /* /dev/null, say */
        return false;
    }
    char *folder = folder_of(path), *temporary;
    if (asprintf(&temporary, "%s.tmp-%ld", path, (long)getpid()) < 0) out_of_memory();
    remove_stale(path, folder);
    bool good = write_and_rename(path, temporary, sections, count, why, why_size);
    if (good) flush_folder(folder);
    free(temporary);
    free(folder);
    return good;
}

/* --- Reading --------------------------------------------------------------------------------- */

static bool fail(char *why, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
static bool fail(char *why, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, size, format, arguments);
    va_end(arguments);
    return false;
}

static bool fetch(const CheckpointFile *file, uint64_t offset, uint8_t *to, uint64_t count, char *why,
                  size_t why_size) {
    if (file->handle < 0) {
        if (count) memcpy(to, file->bytes + offset, count);
        return true;
    }
    while (count) {
        ssize_t got = pread(file->handle, to, count, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot(why, why_size, "read it");
        if (got == 0) return fail(why, why_size, "it became shorter while it was read");
        to += got;
        offset += (uint64_t)got;
        count -= (uint64_t)got;
    }
    return true;
}

typedef struct {
    uint32_t version, count;
    uint64_t table_bytes, file_bytes, table_digest, digest;
} Header;

static bool read_header(const CheckpointFile *file, Header *header, char *why, size_t why_size) {
    uint8_t bytes[HEADER_BYTES] = {0};
    size_t count = file->size < HEADER_BYTES ? file->size : HEADER_BYTES;
    if (!fetch(file, 0, bytes, count, why, why_size)) return false;
    if (memcmp(bytes, magic, count < sizeof magic ? count : sizeof magic) != 0)
        return fail(why, why_size, "not a checkpoint");
    if (count < HEADER_BYTES)
        return fail(why, why_size, "truncated: its %zu bytes end inside the header", count);
    Reader reader = {.bytes = bytes, .count = HEADER_BYTES, .position = sizeof magic};
    header->version = reader_u32(&reader);
    header->count = reader_u32(&reader);
    header->table_bytes = reader_u64(&reader);
    header->file_bytes = reader_u64(&reader);
    header->table_digest = reader_u64(&reader);
    header->digest = reader_u64(&reader);
    if (header->version != FORMAT_VERSION)
        return fail(why, why_size, "expected format version %d, got %u", FORMAT_VERSION, header->version);
    if (header->digest != hash_bytes(0, bytes, DIGESTED_HEADER_BYTES) || header->file_bytes < HEADER_BYTES ||
        header->table_bytes > header->file_bytes - HEADER_BYTES ||
        header->table_bytes / ROW_BYTES < header->count)
        return fail(why, why_size, "damaged: its header");
    if (header->table_bytes > file->size - HEADER_BYTES)
        return fail(why, why_size, "truncated: its %lu bytes end inside the table", file->size);
    return true;
}

/* Names are printed. */
static bool is_name(const uint8_t *name, uint64_t length) {
    for (uint64_t i = 0; i < length; i++)
        if (is_control((char)name[i])) return false;
    return name[length] == 0;
}

static bool read_row(Section *section, Reader *reader) {
    uint64_t length = reader_u32(reader);
    const uint8_t *name = reader_bytes(reader, length + 1);
    if (!name || !is_name(name, length)) return false;
    section->name = (const char *)name;
    section->raw_bytes = reader_u64(reader);
    section->stored_bytes = reader_u64(reader);
    section->raw_digest = reader_u64(reader);
    section->stored_digest = reader_u64(reader);
    return !reader->failed && section->raw_bytes / MOST_RAW_PER_STORED <= section->stored_bytes;
}

static bool read_table(CheckpointFile *file, const Header *header, char *why, size_t why_size) {
    file->table = malloc(header->table_bytes + 1);
    file->sections = calloc((size_t)header->count + 1, sizeof *file->sections);
    if (!file->table || !file->sections)
        return fail(why, why_size, "no memory for the %lu bytes of its table", header->table_bytes);
    if (!fetch(file, HEADER_BYTES, file->table, header->table_bytes, why, why_size)) return false;
    if (hash_bytes(0, file->table, header->table_bytes) != header->table_digest)
        return fail(why, why_size, "damaged: its table");
    Reader reader = {.bytes = file->table, .count = header->table_bytes};
    uint64_t offset = HEADER_BYTES + header->table_bytes;
    for (; file->count < header->count; file->count++) {
        Section *section = &file->sections[file->count];
        section->offset = offset;
        if (!read_row(section, &reader) || section->stored_bytes > header->file_bytes - offset)
            return fail(why, why_size, "damaged: row %u of its table", file->count);
        offset += section->stored_bytes;
    }
    if (!reader_at_end(&reader) || offset != header->file_bytes)
        return fail(why, why_size, "damaged: its table and its header contradict each other");
    return true;
}

static bool check_size(const CheckpointFile *file, const Header *header, char *why, size_t why_size) {
    if (file->size > header->file_bytes)
        return fail(why, why_size, "damaged: %lu bytes after its end", file->size - header->file_bytes);
    for (uint32_t i = 0; i < file->count; i++) {
        const Section *section = &file->sections[i];
        if (section->offset + section->stored_bytes > file->size)
            return fail(why, why_size, "truncated: expected %lu bytes, got %lu, which end inside section %s",
                        header->file_bytes, file->size, section->name);
    }
    return true;
}

static CheckpointFile *open_contents(CheckpointFile *file, char *why, size_t why_size) {
    Header header = {0};
    if (read_header(file, &header, why, why_size) && read_table(file, &header, why, why_size) &&
        check_size(file, &header, why, why_size))
        return file;
    checkpoint_file_close(file);
    return NULL;
}

static CheckpointFile *new_file(CheckpointFile value) {
    CheckpointFile *file = malloc(sizeof *file);
    ensure_memory(file);
    *file = value;
    return file;
}

CheckpointFile *checkpoint_file_open(const char *path, char *why, size_t why_size) {
    int handle = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* or a pipe would wait for its writer */
    struct stat status;
    if (handle < 0 || fstat(handle, &status) != 0) {
        cannot(why, why_size, "open it");
        if (handle >= 0) close(handle);
        return NULL;
    }
    if (!S_ISREG(status.st_mode)) {
        close(handle);
        fail(why, why_size, "not a checkpoint: expected a file, got a folder, device or the like");
        return NULL;
    }
    return open_contents(new_file((CheckpointFile){.handle = handle, .size = (uint64_t)status.st_size}), why,
                         why_size);
}

CheckpointFile *checkpoint_file_parse(const void *bytes, size_t count, char *why, size_t why_size) {
    return open_contents(new_file((CheckpointFile){.handle = -1, .bytes = bytes, .size = count}), why,
                         why_size);
}

uint32_t checkpoint_file_count(const CheckpointFile *file) {
    return file->count;
}

const char *checkpoint_file_name(const CheckpointFile *file, uint32_t index) {
    ensure(index < file->count);
    return file->sections[index].name;
}

uint64_t checkpoint_file_bytes(const CheckpointFile *file, uint32_t index) {
    ensure(index < file->count);
    return file->sections[index].raw_bytes;
}

uint64_t checkpoint_file_stored_bytes(const CheckpointFile *file, uint32_t index) {
    ensure(index < file->count);
    return file->sections[index].stored_bytes;
}

static bool decompress(Section *section, const uint8_t *stored, char *why, size_t why_size) {
    if (chain_digest(0, stored, section->stored_bytes) != section->stored_digest ||
        ZSTD_getFrameContentSize(stored, section->stored_bytes) != section->raw_bytes)
        return fail(why, why_size, "damaged: section %s", section->name);
    uint8_t *raw = malloc(section->raw_bytes + 1);
    if (!raw)
        return fail(why, why_size, "no memory for the %lu bytes of section %s", section->raw_bytes,
                    section->name);
    section->contents = (Buffer){raw, section->raw_bytes, section->raw_bytes + 1};
    size_t count = ZSTD_decompress(raw, section->raw_bytes, stored, section->stored_bytes);
    if (count == section->raw_bytes && chain_digest(0, raw, count) == section->raw_digest) return true;
    buffer_free(&section->contents);
    return fail(why, why_size, "damaged: section %s", section->name);
}

static bool load_section(const CheckpointFile *file, Section *section, char *why, size_t why_size) {
    uint8_t *stored = malloc(section->stored_bytes + 1);
    if (!stored)
        return fail(why, why_size, "no memory for the %lu bytes of section %s", section->stored_bytes,
                    section->name);
    bool good = fetch(file, section->offset, stored, section->stored_bytes, why, why_size) &&
                decompress(section, stored, why, why_size);
    free(stored);
    return good;
}

const Buffer *checkpoint_file_section(CheckpointFile *file, const char *name, char *why, size_t why_size) {
    for (uint32_t i = 0; i < file->count; i++) {
        Section *section = &file->sections[i];
        if (strcmp(section->name, name) != 0) continue;
        if (section->contents.bytes || load_section(file, section, why, why_size)) return &section->contents;
        return NULL;
    }
    fail(why, why_size, "it has no section %s", name);
    return NULL;
}

void checkpoint_file_close(CheckpointFile *file) {
    for (uint32_t i = 0; i < file->count; i++)
        buffer_free(&file->sections[i].contents);
    if (file->handle >= 0) close(file->handle);
    free(file->table);
    free(file->sections);
    free(file);
}
