#include "core/ptx/front_end/arena.h"

#include "core/sim/base/error.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16, LINE_BYTES = 64, SMALL_ALIGN = 16 };

struct ArenaChunk {
    ArenaChunk *next;
    size_t used, capacity;
};

_Static_assert(sizeof(ArenaChunk) <= LINE_BYTES, "the payload of a chunk begins at its second line");

static size_t round_up(size_t value, size_t align) {
    return (value + align - 1) & ~(align - 1);
}

static uint8_t *payload(ArenaChunk *chunk) {
    return (uint8_t *)chunk + LINE_BYTES;
}

/* calloc and alignment by hand: untouched zero pages of a large array cost nothing, which aligned_alloc and
 * memset would not give. */
static ArenaChunk *add_chunk(Arena *arena, size_t capacity) {
    size_t total = round_up(capacity, LINE_BYTES) + 2 * LINE_BYTES;
    ensure(total > capacity);
    uint8_t *raw = calloc(1, total);
    ensure_memory(raw);
    uintptr_t start = (uintptr_t)raw + sizeof(void *);
    ArenaChunk *chunk = (ArenaChunk *)(void *)(raw + (round_up(start, LINE_BYTES) - (uintptr_t)raw));
    memcpy((uint8_t *)chunk - sizeof(void *), &raw, sizeof raw);
    *chunk = (ArenaChunk){.next = arena->chunks, .capacity = round_up(capacity, LINE_BYTES)};
    arena->chunks = chunk;
    return chunk;
}

void *arena_alloc(Arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4)
        panic("allocation of %zu * %zu bytes", count, size);
    size_t align = bytes >= LINE_BYTES ? LINE_BYTES : SMALL_ALIGN;
    ArenaChunk *chunk = arena->chunks;
    if (!chunk || round_up(chunk->used, align) + bytes > chunk->capacity) {
        size_t capacity = bytes > CHUNK_BYTES / 4 ? bytes : CHUNK_BYTES;
        ArenaChunk *open = arena->chunks;
        chunk = add_chunk(arena, capacity);
        /* A large object fills its own chunk; the chunk with space left stays in front. */
        if (capacity == bytes && open) {
            arena->chunks = open;
            chunk->next = open->next;
            open->next = chunk;
        }
    }
    chunk->used = round_up(chunk->used, align);
    void *result = payload(chunk) + chunk->used;
    chunk->used += bytes;
    return result;
}

char *arena_text(Arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

void *arena_grow(Arena *arena, void *array, size_t size, uint32_t count, uint32_t *capacity) {
    if (count < *capacity) return array;
    ensure(*capacity < UINT32_MAX / 2);
    *capacity = *capacity ? *capacity * 2 : 16;
    void *larger = arena_alloc(arena, *capacity, size);
    if (count) memcpy(larger, array, count * size);
    return larger;
}

void arena_free(Arena *arena) {
    for (ArenaChunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        void *raw;
        memcpy(&raw, (uint8_t *)chunk - sizeof(void *), sizeof raw);
        next = chunk->next;
        free(raw);
    }
    arena->chunks = NULL;
}
