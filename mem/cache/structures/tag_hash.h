/* Inside tag_array: the hash table and the list of a hashed array. */
#ifndef WW_MEM_TAG_HASH_H
#define WW_MEM_TAG_HASH_H

#include "mem/cache/structures/tag_array.h"

/* Decides whether the array is hashed; sets, ways and lines are known. */
void tag_hash_shape_init(TagShape *shape);
/* The line is to hold this address, and becomes the most recently used; its tag is still the former one. */
void tag_hash_enter(TagArray *tags, uint32_t line, uint64_t line_address);
/* The line, which is valid, becomes invalid; its tag is still there. */
void tag_hash_leave(TagArray *tags, uint32_t line);
void tag_hash_lower(TagArray *tags, uint32_t line, uint32_t places);
/* Panics unless table and lists hold each line once. */
void tag_hash_is_sound(const TagArray *tags, const char *path);

#endif
