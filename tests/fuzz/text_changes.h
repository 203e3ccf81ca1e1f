/* A mutator for texts: whole words and lines move about. */
#ifndef WW_FUZZ_TEXT_CHANGES_H
#define WW_FUZZ_TEXT_CHANGES_H

#include "core/sim/base/random.h"
#include "core/sim/checkpoint/buffer.h"
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    size_t from, to;
} Piece;

static inline bool ends_piece(uint8_t byte, bool words) {
    return words ? !(isalnum(byte) || strchr("_%$.", byte)) : byte == '\n';
}

/* The word or line around a place of the text. */
static inline Piece piece_at(const uint8_t *bytes, size_t count, size_t at, bool words) {
    Piece piece = {at, at};
    while (piece.from > 0 && !ends_piece(bytes[piece.from - 1], words))
        piece.from--;
    while (piece.to < count && !ends_piece(bytes[piece.to], words))
        piece.to++;
    if (!words && piece.to < count) piece.to++;
    return piece;
}

/* One piece comes instead of another, or in front of it. */
static inline size_t change_text(uint8_t *bytes, size_t count, size_t capacity, unsigned seed) {
    Random random = {seed};
    if (count == 0 || random_below(&random, 3) == 0) return LLVMFuzzerMutate(bytes, count, capacity);
    bool words = random_below(&random, 2), instead = random_below(&random, 2);
    Piece source = piece_at(bytes, count, random_below(&random, count), words);
    Piece place = piece_at(bytes, count, random_below(&random, count), words);
    Buffer changed = {0};
    buffer_append(&changed, bytes, place.from);
    buffer_append(&changed, bytes + source.from, source.to - source.from);
    size_t rest = instead ? place.to : place.from;
    buffer_append(&changed, bytes + rest, count - rest);
    size_t size = changed.count < capacity ? changed.count : capacity;
    if (size) memcpy(bytes, changed.bytes, size);
    buffer_free(&changed);
    return size;
}

#endif
