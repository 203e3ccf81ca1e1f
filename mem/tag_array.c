#include "mem/tag_array.h"

#include "mem/memory_protocol.h"

#include <stdlib.h>

static bool is_power_of_two(uint64_t n) {
    return n && (n & (n - 1)) == 0;
}

static uint32_t log2_of(uint64_t power_of_two) {
    return (uint32_t)__builtin_ctzll(power_of_two);
}

static void check_geometry(const char *path, const TagGeometry *g) {
    if (!is_power_of_two(g->line) || g->line < SECTOR_BYTES_MIN || g->line > LINE_BYTES_MAX)
        user_error("%s.line: %u B is no line size; legal is 32, 64 or 128 B", path, g->line);
    if (!is_power_of_two(g->sectors) || g->line / g->sectors < SECTOR_BYTES_MIN)
        user_error(
            "%s.sectors: a line of %u B cannot have %u sectors; legal is a power of two with sectors of at "
            "least %u B",
            path, g->line, g->sectors, SECTOR_BYTES_MIN);
    if (g->ways == 0 || g->size == 0 || g->size % ((uint64_t)g->ways * g->line) != 0)
        user_error("%s.size: %lu B is not a multiple of %u ways x %u B", path, g->size, g->ways, g->line);
    if (g->size / g->line > 1u << 24)
        user_error("%s.size: %lu B are more than the 2^24 lines that a cache may have", path, g->size);
}

static void parse_index_masks(TagShape *shape, const char *path, const char *text) {
    for (const char *at = text; *at;) {
        char *end;
        uint64_t mask = strtoull(at, &end, 0);
        while (*end == ' ')
            end++;
        if (end == at || mask == 0 || (*end && *end != ','))
            user_error(
                "%s.index_masks: '%s' is no list of masks; legal is one mask of address bits per index bit, "
                "bit 0 first: \"0x80,0x100\"",
                path, text);
        if (shape->index_bits == MAX_INDEX_BITS)
            user_error("%s.index_masks: more than %d masks", path, MAX_INDEX_BITS);
        shape->masks[shape->index_bits++] = mask;
        at = *end ? end + 1 : end;
    }
}

void tag_shape_init(TagShape *shape, const char *path, const TagGeometry *geometry) {
    check_geometry(path, geometry);
    *shape = (TagShape){
        .ways = geometry->ways,
        .lines = (uint32_t)(geometry->size / geometry->line),
        .sectors = geometry->sectors,
        .all_sectors = (1u << geometry->sectors) - 1,
        .line_bytes = geometry->line,
        .line_shift = log2_of(geometry->line),
        .sector_shift = log2_of(geometry->line / geometry->sectors),
    };
    shape->sets = shape->lines / shape->ways;
    shape->set_mask = is_power_of_two(shape->sets) ? shape->sets - 1 : 0;
    if (geometry->index == INDEX_LINEAR) return;
    parse_index_masks(shape, path, geometry->index_masks);
    if (1ull << shape->index_bits != shape->sets)
        user_error("%s.index_masks: %u masks make 2^%u sets, but size, ways and line make %u", path,
                   shape->index_bits, shape->index_bits, shape->sets);
}

uint32_t tag_victim(const TagArray *tags, uint32_t set) {
    uint32_t first = set * tags->shape.ways, victim = NO_LINE;
    uint64_t oldest = NEVER;
    for (uint32_t i = first; i < first + tags->shape.ways; i++) {
        const TagLine *line = &tags->line[i];
        if (line->used >= oldest || line->reserved) continue;
        oldest = line->used;
        victim = i;
    }
    return victim;
}

void tag_install(TagArray *tags, uint32_t line, uint64_t line_address, uint16_t sm, uint16_t warp,
                 uint8_t class_number) {
    tags->tag[line] = line_address | 1;
    tags->line[line] = (TagLine){.sm = sm, .warp = warp, .class_number = class_number};
    tag_touch(tags, line);
}

void tag_invalidate(TagArray *tags, uint32_t line) {
    if (tags->line[line].reserved) {
        tags->line[line].valid = tags->line[line].dirty = 0;
    } else {
        tags->tag[line] = 0;
        tags->line[line] = (TagLine){0};
    }
}

void tag_invalidate_all(TagArray *tags) {
    for (uint32_t i = 0; i < tags->shape.lines; i++)
        tag_invalidate(tags, i);
}
