/* Class `ShadowTags`, of an L2 slice: tags, without data, of the lines that requests which passed the slice by
 * asked for last. With it a request that passes by is known to be one that would have hit. */
#ifndef WW_MEM_SHADOW_TAGS_H
#define WW_MEM_SHADOW_TAGS_H

#include "core/sim/object.h"

typedef struct ShadowTags ShadowTags;

extern const Class shadow_tags_class;

/* That of this L2 slice, or NULL. */
ShadowTags *shadow_tags_of(const SimObject *cache);
/* Has the line a tag? It has from now on, as the most recently used of its set. `number`: of the line among
 * those of the slice. */
bool shadow_tags_ask(ShadowTags *shadow, uint64_t number, uint64_t line_address);

#endif
