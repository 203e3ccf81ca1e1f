#include "mem/parts/shadow_tags/shadow_tags.h"

#include "mem/cache/structures/tag_array.h"
#include "mem/protocol/part.h"

struct ShadowTags {
    SimObject obj;
    uint32_t entries, ways;
    TagArray tags;
    uint64_t asked, found;
};

ShadowTags *shadow_tags_of(const SimObject *cache) {
    return (ShadowTags *)part_of(cache, &shadow_tags_class);
}

bool shadow_tags_ask(ShadowTags *shadow, uint64_t number, uint64_t line_address) {
    TagArray *tags = &shadow->tags;
    uint32_t set = (uint32_t)(number % tags->shape.sets), line = tag_find(tags, set, line_address);
    bool found = line != NO_LINE;
    shadow->asked++;
    shadow->found += found;
    if (found)
        tag_touch(tags, line);
    else
        tag_install(tags, tag_victim(tags, set), line_address, NOBODY, NOBODY, 0);
    return found;
}

/* Lines are of the least size, so that the addresses of all lines fit. */
static void build(SimObject *object) {
    ShadowTags *shadow = (ShadowTags *)object;
    if (shadow->entries % shadow->ways)
        user_error("%s.entries: expected a multiple of ways = %u, got %u", object_path(object), shadow->ways,
                   shadow->entries);
    tag_shape_init(&shadow->tags.shape, object_path(object),
                   &(TagGeometry){.size = (uint64_t)shadow->entries * SECTOR_BYTES,
                                  .ways = shadow->ways,
                                  .line = SECTOR_BYTES,
                                  .sectors = 1});
}

static const Field fields[] = {
    BASE(ShadowTags),
    PARAM(ShadowTags, entries, "512", "tags", "Tags in all", .min = 1, .max = 1 << 20),
    PARAM(ShadowTags, ways, "16", "tags", "Tags per set", .min = 1, .max = 64),
    TAG_ARRAY_ROWS(ShadowTags, tags),
    STAT(ShadowTags, asked, "accesses", "Requests that passed the cache by"),
    STAT(ShadowTags, found, "accesses", "Of these: for a line that had a tag"),
    FIELDS_END};

static void is_sound(const SimObject *object, bool fits) {
    const TagArray *tags = &((const ShadowTags *)object)->tags;
    (void)fits;
    tag_array_is_sound(tags, object->path);
    for (uint32_t i = 0; i < tags->shape.lines; i++)
        sound(!tags->line[i].reserved, "%s: line %u is reserved", object->path, i);
}

const Class shadow_tags_class = {
    .name = "ShadowTags",
    .doc = "Tags of the lines that requests which passed an L2 slice by asked for last",
    .bytes = sizeof(ShadowTags),
    .fields = fields,
    .build = build,
    .is_sound = is_sound,
    .tick = part_sleeps,
    .part = true,
};
REGISTER_CLASS(shadow_tags_class);
