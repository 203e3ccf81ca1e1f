/* Memory that is released all at once: what a parse needs lives in one arena, what a module keeps in
 * another. */
#ifndef WW_PTX_ARENA_H
#define WW_PTX_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct ArenaChunk ArenaChunk;
typedef struct Arena {
    ArenaChunk *chunks;
} Arena;

/* `count` zeroed objects of `size` bytes, aligned to 64 bytes when `count * size` is 64 or more, else to
 * 16. */
void *arena_alloc(Arena *arena, size_t count, size_t size);
/* A copy with a NUL behind it. */
char *arena_text(Arena *arena, const char *text, size_t length);
/* Returns `array`, or a larger copy of it, with room for element number `count`. */
void *arena_grow(Arena *arena, void *array, size_t size, uint32_t count, uint32_t *capacity);
void arena_free(Arena *arena);

#endif
