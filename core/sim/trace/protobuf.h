/* Protobuf messages of a few hundred bytes, written into a buffer. */
#ifndef WW_SIM_TRACE_PROTOBUF_H
#define WW_SIM_TRACE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PROTOBUF_BYTES = 1024, PROTOBUF_TEXT_MAX = 300 };

typedef struct {
    uint8_t byte[PROTOBUF_BYTES];
    uint32_t count;
} Protobuf;

static inline void protobuf_varint(Protobuf *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        out->byte[out->count++] = (uint8_t)(value | 0x80);
    out->byte[out->count++] = (uint8_t)value;
}

static inline void protobuf_number(Protobuf *out, uint32_t field, uint64_t value) {
    protobuf_varint(out, field << 3);
    protobuf_varint(out, value);
}

static inline void protobuf_fixed(Protobuf *out, uint32_t field, uint64_t value) {
    protobuf_varint(out, field << 3 | 1);
    memcpy(out->byte + out->count, &value, sizeof value);
    out->count += (uint32_t)sizeof value;
}

static inline void protobuf_bytes(Protobuf *out, uint32_t field, const void *bytes, size_t count) {
    protobuf_varint(out, field << 3 | 2);
    protobuf_varint(out, count);
    memcpy(out->byte + out->count, bytes, count);
    out->count += (uint32_t)count;
}

static inline void protobuf_text(Protobuf *out, uint32_t field, const char *text) {
    protobuf_bytes(out, field, text, strnlen(text, PROTOBUF_TEXT_MAX));
}

static inline void protobuf_message(Protobuf *out, uint32_t field, const Protobuf *message) {
    protobuf_bytes(out, field, message->byte, message->count);
}

#endif
