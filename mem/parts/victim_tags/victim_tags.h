/* The lost-locality detector of cache-conscious wavefront scheduling (Rogers et al., section 3.2): a small
 * tag array per warp that remembers which lines the warp has lost. It is an
 * observer of the cache it is attached to. */
#ifndef WW_MEM_VICTIM_TAGS_H
#define WW_MEM_VICTIM_TAGS_H

#include "core/sim/object.h"

extern const Class victim_tags_class;

typedef struct VictimTags VictimTags;

typedef enum { VICTIM_TAGS_HIT } VictimTagsEvent;

/* The cache has replaced a line that this warp had reserved. */
void victim_tags_insert(VictimTags *victims, uint32_t warp, uint64_t line_address);
/* A request of this warp has missed: emits `hit`, and forgets the line, when the warp had lost it. */
void victim_tags_probe(VictimTags *victims, uint32_t warp, uint64_t line_address, uint32_t pc);
/* Hits so far. */
uint64_t victim_tags_hits(const SimObject *victims);

#endif
