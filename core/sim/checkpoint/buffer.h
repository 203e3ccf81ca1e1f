/* Bytes that grow, and bytes that are read back with suspicion. Numbers are stored as they lie in memory
 * (little-endian hosts). */
#ifndef WW_SIM_BUFFER_H
#define WW_SIM_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* All zero is empty. */
typedef struct {
    uint8_t *bytes;
    size_t count, capacity;
} Buffer;

/* Room for `count` more bytes. */
void buffer_grow(Buffer *buffer, size_t count);

static inline void buffer_append(Buffer *buffer, const void *bytes, size_t count) {
    if (count == 0) return;
    if (buffer->count + count > buffer->capacity) buffer_grow(buffer, count);
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
}

void buffer_u32(Buffer *buffer, uint32_t value);
void buffer_u64(Buffer *buffer, uint64_t value);
/* A text with its length in front. */
void buffer_text(Buffer *buffer, const char *text);
void buffer_free(Buffer *buffer);

/* Text that people read: no length in front, no 0 behind. */
static inline void buffer_put(Buffer *buffer, const char *text) {
    buffer_append(buffer, text, strlen(text));
}
void buffer_put_spaces(Buffer *buffer, uint32_t count);

/* Reads bytes that may be damaged: after the first failure everything reads as zero or NULL. */
typedef struct {
    const uint8_t *bytes;
    size_t count, position;
    bool failed;
} Reader;

/* The next `count` bytes in place, or NULL. */
const uint8_t *reader_bytes(Reader *reader, uint64_t count);
uint32_t reader_u32(Reader *reader);
uint64_t reader_u64(Reader *reader);
/* What buffer_text() wrote, with a final 0; false when it does not fit `size`. */
bool reader_text(Reader *reader, char *text, size_t size);
/* The same of a text that is printed: false when it has control characters, too. */
bool reader_name(Reader *reader, char *name, size_t size);
static inline bool is_control(char c) {
    return (uint8_t)c < ' ' || c == 0x7f;
}
static inline bool reader_at_end(const Reader *reader) {
    return !reader->failed && reader->position == reader->count;
}

/* FNV-1a: by which files are known in results. */
uint64_t file_digest(const void *bytes, size_t count);
/* The same of a file piece by piece: `digest` is that of the pieces in front, file_digest("", 0) of none. */
uint64_t file_digest_goes_on(uint64_t digest, const void *bytes, size_t count);
/* 64-bit digest of bytes, to be chained. */
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t count);

#endif
