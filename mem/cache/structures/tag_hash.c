#include "mem/cache/structures/tag_hash.h"

#include <stdlib.h>
#include <string.h>

void tag_hash_shape_init(TagShape *shape) {
    if (shape->sets > 1 || shape->ways <= SEARCHED_WAYS) return;
    shape->hashed = shape->lines;
    shape->buckets = 2;
    shape->bucket_shift = 63;
    /* At most half full, so that probing stays short. */
    while (shape->buckets < 2 * shape->lines) {
        shape->buckets *= 2;
        shape->bucket_shift--;
    }
}

/* The table. */

static uint32_t home_bucket(const TagArray *tags, uint64_t line_address) {
    return (uint32_t)((line_address >> 5) * 0x9e3779b97f4a7c15ull >> tags->shape.bucket_shift);
}

static uint32_t next_bucket(const TagArray *tags, uint32_t bucket) {
    return (bucket + 1) & (tags->shape.buckets - 1);
}

uint32_t tag_hash_find(const TagArray *tags, uint64_t line_address) {
    const uint32_t *bucket = tags->hash.bucket;
    for (uint32_t b = home_bucket(tags, line_address); bucket[b]; b = next_bucket(tags, b))
        if (tags->tag[bucket[b] - 1] == (line_address | 1)) return bucket[b] - 1;
    return NO_LINE;
}

static void put(TagArray *tags, uint32_t line, uint64_t line_address) {
    uint32_t b = home_bucket(tags, line_address);
    while (tags->hash.bucket[b])
        b = next_bucket(tags, b);
    tags->hash.bucket[b] = line + 1;
}

/* Takes the line out, and moves up those behind it that a search would no longer reach. */
static void take_out(TagArray *tags, uint32_t line) {
    uint32_t *bucket = tags->hash.bucket, hole = home_bucket(tags, tag_address(tags, line));
    uint32_t mask = tags->shape.buckets - 1;
    while (bucket[hole] != line + 1)
        hole = next_bucket(tags, hole);
    for (uint32_t b = next_bucket(tags, hole); bucket[b]; b = next_bucket(tags, b)) {
        uint32_t home = home_bucket(tags, tag_address(tags, bucket[b] - 1));
        if (((b - home) & mask) < ((b - hole) & mask)) continue;
        bucket[hole] = bucket[b];
        hole = b;
    }
    bucket[hole] = 0;
}

/* The list. */

static void unlink_line(TagHash *hash, uint32_t line) {
    TagLinks l = hash->links[line];
    *(l.older ? &hash->links[l.older - 1].newer : &hash->oldest) = l.newer;
    *(l.newer ? &hash->links[l.newer - 1].older : &hash->newest) = l.older;
}

/* In front of `newer`, a line + 1; 0: as the newest. */
static void link_before(TagHash *hash, uint32_t line, uint32_t newer) {
    uint32_t older = newer ? hash->links[newer - 1].older : hash->newest;
    hash->links[line] = (TagLinks){older, newer};
    *(older ? &hash->links[older - 1].newer : &hash->oldest) = line + 1;
    *(newer ? &hash->links[newer - 1].older : &hash->newest) = line + 1;
}

void tag_hash_touch(TagArray *tags, uint32_t line) {
    TagHash *hash = &tags->hash;
    if (hash->newest == line + 1) return;
    unlink_line(hash, line);
    link_before(hash, line, 0);
}

/* Takes over the stamps that it passes, so that stamps and list say the same. */
void tag_hash_lower(TagArray *tags, uint32_t line, uint32_t places) {
    TagHash *hash = &tags->hash;
    uint32_t newer = hash->links[line].newer, below = hash->links[line].older;
    uint64_t *used = &tags->used[line];
    unlink_line(hash, line);
    if (places >= LEAST_RECENT && hash->oldest) {
        uint64_t oldest = tags->used[hash->oldest - 1];
        *used = oldest > 1 ? oldest - 1 : oldest;
        newer = hash->oldest;
        places = 0;
    }
    for (; places && below; places--) {
        uint64_t stamp = *used;
        *used = tags->used[below - 1];
        tags->used[below - 1] = stamp;
        newer = below;
        below = hash->links[below - 1].older;
    }
    link_before(hash, line, newer);
}

/* From the least recently used on, as far as a line may still go before the one found. */
uint32_t tag_hash_victim(const TagArray *tags) {
    const TagHash *hash = &tags->hash;
    uint64_t least = NEVER, step = tag_keep_step(tags);
    uint32_t victim = NO_LINE;
    if (hash->free) return hash->free - 1;
    if (hash->fresh < tags->shape.lines) return hash->fresh;
    for (uint32_t at = hash->oldest; at && tags->used[at - 1] < least; at = hash->links[at - 1].newer) {
        const TagLine *line = &tags->line[at - 1];
        uint64_t keep = tags->order.bent & ORDER_BY_CLASS ? class_value(&tags->order.keep, line->class_number)
                                                          : 0;
        uint64_t order = tags->used[at - 1] + keep * step;
        if (line->reserved || order >= least) continue;
        least = order;
        victim = at - 1;
    }
    return victim;
}

/* Lines that change. */

void tag_hash_enter(TagArray *tags, uint32_t line, uint64_t line_address) {
    TagHash *hash = &tags->hash;
    if (tags->tag[line]) {
        take_out(tags, line);
        unlink_line(hash, line);
    } else if (hash->free) {
        ensure(hash->free == line + 1);
        hash->free = hash->links[line].newer;
    } else {
        ensure(hash->fresh == line);
        hash->fresh++;
    }
    put(tags, line, line_address);
    link_before(hash, line, 0);
}

void tag_hash_leave(TagArray *tags, uint32_t line) {
    TagHash *hash = &tags->hash;
    if (!tags->tag[line]) return;
    take_out(tags, line);
    unlink_line(hash, line);
    hash->links[line] = (TagLinks){0, hash->free};
    hash->free = line + 1;
}

static int compare_use(const void *a, const void *b, void *context) {
    const uint64_t *used = ((const TagArray *)context)->used;
    uint64_t x = used[*(const uint32_t *)a], y = used[*(const uint32_t *)b];
    return (x > y) - (x < y);
}

void tag_rebuild(TagArray *tags) {
    TagHash *hash = &tags->hash;
    for (uint32_t i = 0; i < tags->shape.printed; i++)
        tags->print[i] = tag_print(tag_address(tags, i));
    if (!tag_is_hashed(tags)) return;
    uint32_t *order = calloc(tags->shape.lines, sizeof *order);
    ensure_memory(order);
    memset(hash->bucket, 0, tags->shape.buckets * sizeof *hash->bucket);
    hash->oldest = hash->newest = hash->free = hash->fresh = 0;
    for (; hash->fresh < tags->shape.lines && tags->tag[hash->fresh]; hash->fresh++)
        order[hash->fresh] = hash->fresh;
    qsort_r(order, hash->fresh, sizeof *order, compare_use, tags);
    for (uint32_t i = 0; i < hash->fresh; i++) {
        put(tags, order[i], tag_address(tags, order[i]));
        link_before(hash, order[i], 0);
    }
    free(order);
}

/* Soundness. */

static uint32_t valid_lines(const TagArray *tags) {
    uint32_t valid = 0;
    for (uint32_t i = 0; i < tags->shape.lines; i++)
        valid += tags->tag[i] != 0;
    return valid;
}

/* As many entries as lines, each of which is found: so every search comes to an empty bucket. */
static void table_is_sound(const TagArray *tags, const char *path, uint32_t valid) {
    uint32_t entries = 0;
    for (uint32_t b = 0; b < tags->shape.buckets; b++) {
        entries += tags->hash.bucket[b] != 0;
        sound(tags->hash.bucket[b] <= tags->shape.lines, "%s: bucket %u", path, b);
    }
    sound(entries == valid, "%s: %u buckets in use for %u lines", path, entries, valid);
    for (uint32_t i = 0; i < tags->shape.lines; i++)
        if (tags->tag[i])
            sound(tag_hash_find(tags, tag_address(tags, i)) == i, "%s: line %u is not in the table", path, i);
}

static void order_is_sound(const TagArray *tags, const char *path, uint32_t valid) {
    const TagHash *hash = &tags->hash;
    uint32_t older = 0, at = hash->oldest, lines = 0;
    for (; at && lines <= valid; older = at, at = hash->links[at - 1].newer, lines++)
        sound(at <= tags->shape.lines && tags->tag[at - 1] && hash->links[at - 1].older == older,
              "%s: line %u in the order of use", path, at - 1);
    sound(lines == valid && hash->newest == older, "%s: %u of %u lines are in the order of use", path, lines,
          valid);
}

static void free_list_is_sound(const TagArray *tags, const char *path, uint32_t valid) {
    const TagHash *hash = &tags->hash;
    sound(hash->fresh <= tags->shape.lines && valid <= hash->fresh, "%s: %u lines were ever used", path,
          hash->fresh);
    uint32_t lines = 0, limit = hash->fresh - valid;
    for (uint32_t at = hash->free; at && lines <= limit; at = hash->links[at - 1].newer, lines++)
        sound(at <= hash->fresh && !tags->tag[at - 1], "%s: line %u in the list of free ones", path, at - 1);
    sound(lines == limit, "%s: %u of %u free lines are in their list", path, lines, limit);
    for (uint32_t i = hash->fresh; i < tags->shape.lines; i++)
        sound(!tags->tag[i], "%s: line %u was never used", path, i);
}

void tag_hash_is_sound(const TagArray *tags, const char *path) {
    uint32_t valid = valid_lines(tags);
    table_is_sound(tags, path, valid);
    order_is_sound(tags, path, valid);
    free_list_is_sound(tags, path, valid);
}
