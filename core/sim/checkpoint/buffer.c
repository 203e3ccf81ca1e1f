#include "core/sim/checkpoint/buffer.h"

#include "core/sim/base/error.h"

#include <stdlib.h>
#include <string.h>

void buffer_grow(Buffer *buffer, size_t count) {
    buffer->capacity = (buffer->count + count) * 2 + 4096;
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    ensure_memory(buffer->bytes);
}

void buffer_u32(Buffer *buffer, uint32_t value) {
    buffer_append(buffer, &value, sizeof value);
}

void buffer_u64(Buffer *buffer, uint64_t value) {
    buffer_append(buffer, &value, sizeof value);
}

void buffer_text(Buffer *buffer, const char *text) {
    buffer_u32(buffer, (uint32_t)strlen(text));
    buffer_append(buffer, text, strlen(text));
}

void buffer_put_spaces(Buffer *buffer, uint32_t count) {
    if (count == 0) return;
    if (buffer->count + count > buffer->capacity) buffer_grow(buffer, count);
    memset(buffer->bytes + buffer->count, ' ', count);
    buffer->count += count;
}

void buffer_free(Buffer *buffer) {
    free(buffer->bytes);
    *buffer = (Buffer){0};
}

const uint8_t *reader_bytes(Reader *reader, uint64_t count) {
    if (reader->failed || count > reader->count - reader->position) {
        reader->failed = true;
        return NULL;
    }
    reader->position += count;
    return reader->bytes + reader->position - count;
}

uint32_t reader_u32(Reader *reader) {
    uint32_t value = 0;
    const uint8_t *at = reader_bytes(reader, sizeof value);
    if (at) memcpy(&value, at, sizeof value);
    return value;
}

uint64_t reader_u64(Reader *reader) {
    uint64_t value = 0;
    const uint8_t *at = reader_bytes(reader, sizeof value);
    if (at) memcpy(&value, at, sizeof value);
    return value;
}

bool reader_text(Reader *reader, char *text, size_t size) {
    uint32_t length = reader_u32(reader);
    const uint8_t *at = reader_bytes(reader, length);
    text[0] = 0;
    if (!at || length >= size || memchr(at, 0, length)) {
        reader->failed = true;
        return false;
    }
    memcpy(text, at, length);
    text[length] = 0;
    return true;
}

bool reader_name(Reader *reader, char *name, size_t size) {
    if (!reader_text(reader, name, size)) return false;
    while (*name && !is_control(*name))
        name++;
    reader->failed |= *name != 0;
    return !reader->failed;
}

uint64_t file_digest_goes_on(uint64_t digest, const void *bytes, size_t count) {
    const uint8_t *at = bytes;
    for (; count; count--, at++)
        digest = (digest ^ *at) * 0x100000001b3ull;
    return digest;
}

uint64_t file_digest(const void *bytes, size_t count) {
    return file_digest_goes_on(0xcbf29ce484222325ull, bytes, count);
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t count) {
    const uint8_t *at = bytes;
    uint64_t hash = seed ^ (count * 0x9e3779b97f4a7c15ull);
    for (; count >= 8; count -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 32;
    }
    for (; count; count--, at++)
        hash = (hash ^ *at) * 0x100000001b3ull;
    return hash ^ (hash >> 29);
}
