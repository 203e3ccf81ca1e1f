#include "mem/cache/structures/tag_array.h"

#include "mem/cache/structures/tag_hash.h"
#include "mem/protocol/memory_protocol.h"
#include "mem/protocol/xor_masks.h"

#include <stdlib.h>

/* So many fingerprints the host compares in one instruction; 0: not enough for it to pay. */
#ifdef __AVX2__
enum { PRINTS_AT_ONCE = 32 };
#else
enum { PRINTS_AT_ONCE = 0 };
#endif

static bool is_power_of_two(uint64_t n) {
    return n && (n & (n - 1)) == 0;
}

static uint32_t log2_of(uint64_t power_of_two) {
    return (uint32_t)__builtin_ctzll(power_of_two);
}

static void check_geometry(const char *path, const TagGeometry *g) {
    if (!is_power_of_two(g->line) || g->line < SECTOR_BYTES || g->line > LINE_BYTES_MAX)
        user_error("%s.line: expected a power of two from %u to %u, got %u", path, SECTOR_BYTES,
                   LINE_BYTES_MAX, g->line);
    if (!is_power_of_two(g->sectors) || g->line / g->sectors < SECTOR_BYTES)
        user_error("%s.sectors: expected a power of two that leaves sectors of %u B or more in a line of %u "
                   "B, got %u",
                   path, SECTOR_BYTES, g->line, g->sectors);
    if (g->ways == 0 || g->size == 0 || g->size % ((uint64_t)g->ways * g->line) != 0)
        user_error("%s.size: expected a multiple of %u ways x %u B, got %lu B", path, g->ways, g->line,
                   g->size);
    if (g->size / g->line > 1u << 24)
        user_error("%s.size: expected up to 2^24 lines, got %lu (%lu B)", path, g->size / g->line, g->size);
}

/* With a mask that is the XOR of others, half of the sets have no addresses. */
static void check_masks_independent(const TagShape *shape, const char *path) {
    uint64_t of;
    uint32_t i = xor_masks_find_dependent(shape->masks, shape->index_bits, &of);
    if (i == shape->index_bits) return;
    char others[MAX_INDEX_BITS * 20] = "";
    for (size_t used = 0; of; of &= of - 1)
        used += (size_t)snprintf(others + used, sizeof others - used, "%s0x%lx", used ? ", " : "",
                                 shape->masks[__builtin_ctzll(of)]);
    user_error("%s.index_masks: expected masks that reach every set, none the XOR of others, got 0x%lx, "
               "which is that of %s",
               path, shape->masks[i], others);
}

/* All bytes of a line are in one set. */
static void read_index_masks(TagShape *shape, const char *path, const TagGeometry *g) {
    shape->index_bits = xor_masks_read(shape->masks, MAX_INDEX_BITS, g->index_masks, path, "index_masks",
                                       "index");
    if (1ull << shape->index_bits != shape->sets)
        user_error(
            "%s.index_masks: expected masks for the %u sets of size, ways and line, got %u masks (2^%u sets)",
            path, shape->sets, shape->index_bits, shape->index_bits);
    for (uint32_t i = 0; i < shape->index_bits; i++)
        if (shape->masks[i] & (shape->line_bytes - 1))
            user_error(
                "%s.index_masks: expected masks whose lowest %u bits are 0 (a line has %u bytes), got 0x%lx",
                path, shape->line_shift, shape->line_bytes, shape->masks[i]);
    check_masks_independent(shape, path);
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
    bool masked = geometry->index == INDEX_LINEAR && is_power_of_two(shape->sets);
    shape->set_mask = masked ? shape->sets - 1 : NO_SET_MASK;
    tag_hash_shape_init(shape);
    shape->compared = !shape->hashed && shape->ways <= 1u << WAY_BITS;
    shape->block_ways = shape->compared && shape->ways % TAG_BLOCK == 0 ? shape->ways : 0;
    bool many_ways = PRINTS_AT_ONCE > 0 && !shape->hashed && shape->ways >= PRINTS_AT_ONCE;
    shape->printed = many_ways ? shape->lines : 0;
    shape->find_ways = shape->printed ? 0 : shape->block_ways;
    if (geometry->index == INDEX_XOR) read_index_masks(shape, path, geometry);
}

void tag_shape_leave_out(TagShape *shape, uint64_t bits) {
    uint32_t count = log2_of(shape->sets), at = shape->line_shift;
    if (shape->set_mask == NO_SET_MASK || shape->hashed || count > MAX_INDEX_BITS) return;
    if (!(bits >> at & shape->set_mask)) return;
    for (uint32_t i = 0; i < count; at++)
        if (!(bits >> at & 1)) shape->masks[i++] = 1ull << at;
    shape->index_bits = count;
    shape->set_mask = NO_SET_MASK;
}

/* Bit i of an XOR index is the parity of the address bits under mask i. */
uint32_t tag_set_otherwise(const TagShape *shape, uint64_t address) {
    if (!shape->index_bits) return (uint32_t)((address >> shape->line_shift) % shape->sets);
    return xor_masks_apply(shape->masks, shape->index_bits, address);
}

#ifdef __AVX2__
typedef uint8_t Prints __attribute__((vector_size(PRINTS_AT_ONCE), aligned(1)));
typedef char Signs __attribute__((vector_size(PRINTS_AT_ONCE)));

static uint64_t same_prints(const uint8_t *print, uint8_t wanted) {
    Prints same = (Prints)(*(const Prints *)print == wanted);
    return (uint32_t)__builtin_ia32_pmovmskb256((Signs)same);
}

/* Of so many fingerprints, from PRINTS_AT_ONCE to twice as many: some may be compared twice, none behind them is read. */
static uint64_t same_of(const uint8_t *print, uint32_t count, uint8_t wanted) {
    uint32_t last = count - PRINTS_AT_ONCE;
    return same_prints(print, wanted) | same_prints(print + last, wanted) << last;
}

static uint32_t find_by_print(const TagArray *tags, uint32_t first, uint64_t line_address) {
    enum { GROUP = 2 * PRINTS_AT_ONCE };
    uint8_t wanted = tag_print(line_address);
    for (uint32_t left = tags->shape.ways;;) {
        uint32_t count = left < GROUP ? left : GROUP;
        for (uint64_t same = same_of(tags->print + first, count, wanted); same; same &= same - 1) {
            uint32_t line = first + (uint32_t)__builtin_ctzll(same);
            if (__builtin_expect(tags->tag[line] == (line_address | 1), 1)) return line;
        }
        if (__builtin_expect(left == count, 1)) return NO_LINE;
        uint32_t step = left - count < PRINTS_AT_ONCE ? left - count
                                                      : count; /* some of the last group again */
        first += step;
        left -= step;
    }
}
#else
static uint32_t find_by_print(const TagArray *tags, uint32_t first, uint64_t line_address) {
    (void)tags, (void)first, (void)line_address;
    return NO_LINE;
}
#endif

uint32_t tag_find_otherwise(const TagArray *tags, uint32_t set, uint64_t line_address) {
    if (tags->shape.printed) return find_by_print(tags, set * tags->shape.ways, line_address);
    if (tag_is_hashed(tags)) return tag_hash_find(tags, line_address);
    uint32_t first = set * tags->shape.ways, line = NO_LINE;
    for (uint32_t i = first; i < first + tags->shape.ways; i++)
        line = tags->tag[i] == (line_address | 1) ? i : line;
    return line;
}

/* Replacement. */

void tag_set_depth(TagArray *tags, uint32_t class_number, uint32_t depth) {
    tags->order.depth.of[class_number] = (uint8_t)depth;
    tags->order.bent |= ORDER_BY_CLASS;
}

void tag_set_keep(TagArray *tags, uint32_t class_number, uint32_t keep) {
    tags->order.keep.of[class_number] = (uint8_t)keep;
    tags->order.bent |= ORDER_BY_CLASS;
}

static inline uint32_t first_of_set(const TagArray *tags, uint32_t line) {
    return line / tags->shape.ways * tags->shape.ways;
}

/* Stamps in a vector of the host; those in a longer one the compiler would compare one by one. */
enum { BLOCK = __BIGGEST_ALIGNMENT__ / sizeof(int64_t) };

typedef int64_t Stamps __attribute__((vector_size(BLOCK * sizeof(int64_t))));

/* The stamp of the line that is `places` below that with stamp `own`: of the last, if there are fewer. All
 * are compared with all, a block of lines at a time: the host cannot foresee the order of stamps, and a
 * wrong guess at a branch costs more than the comparisons do. */
static int64_t stamp_below(const uint64_t *stamp_of, uint32_t ways, int64_t own, uint32_t places) {
    int64_t stamp = own;
    uint32_t compared = places < ways - 1 ? ways : 0;
    for (uint32_t block = 0; block < ways; block += BLOCK) {
        Stamps used = {0}, between = {0};
        for (uint32_t i = block; i < ways && i < block + BLOCK; i++)
            used[i - block] = (int64_t)stamp_of[i];
        for (uint32_t i = 0; i < compared; i++) {
            int64_t other = (int64_t)stamp_of[i];
            between -= (other < own ? other : 0) > used;
        }
        Stamps chosen = (used != 0) & (between < places) & (used < stamp);
        Stamps stamps = (used & chosen) | (stamp & ~chosen);
        for (uint32_t i = 0; i < BLOCK; i++)
            stamp = stamps[i] < stamp ? stamps[i] : stamp;
    }
    return stamp;
}

/* The line takes the stamp at its new place, and those from there up to its old one move up by 1: no two are
 * equal before, so none are afterwards. */
void tag_lower(TagArray *tags, uint32_t line, uint32_t places) {
    if (tag_is_hashed(tags)) {
        tag_hash_lower(tags, line, places);
        return;
    }
    uint64_t *used = tags->used + first_of_set(tags, line), own = tags->used[line];
    uint64_t stamp = (uint64_t)stamp_below(used, tags->shape.ways, (int64_t)own, places);
    for (uint32_t i = 0; i < tags->shape.ways; i++)
        used[i] += (uint64_t)(used[i] >= stamp) & (uint64_t)(used[i] < own);
    tags->used[line] = stamp;
}

/* Lines in the order in which they are replaced: by what their class is worth and by use. An invalid line is
 * the first, one with a reserved sector cannot be. */
static inline uint64_t replacement_order(const TagArray *tags, uint32_t line, uint64_t step) {
    const TagLine *l = &tags->line[line];
    uint64_t used = tags->used[line];
    uint64_t order = used ? used + class_value(&tags->order.keep, l->class_number) * step : 0;
    return l->reserved ? NEVER : order;
}

int64_t tag_least_used_otherwise(const TagArray *tags, uint32_t first) {
    int64_t least = INT64_MAX;
    for (uint32_t way = 0; way < tags->shape.ways; way++)
        if (!tags->line[first + way].reserved)
            least = tag_lesser(least, (int64_t)(tags->used[first + way] << WAY_BITS | way));
    return least;
}

uint32_t tag_victim_otherwise(const TagArray *tags, uint32_t set) {
    if (tag_is_hashed(tags)) return tag_hash_victim(tags);
    uint32_t first = set * tags->shape.ways, victim = NO_LINE;
    uint64_t least = NEVER, step = tag_keep_step(tags);
    for (uint32_t i = first; i < first + tags->shape.ways; i++) {
        uint64_t order = replacement_order(tags, i, step);
        victim = order < least ? i : victim;
        least = order < least ? order : least;
    }
    return victim;
}

uint32_t tag_victim_among(const TagArray *tags, uint32_t set, uint64_t ways) {
    uint32_t first = set * tags->shape.ways, victim = NO_LINE;
    uint64_t least = NEVER, step = tag_keep_step(tags);
    for (; ways; ways &= ways - 1) {
        uint32_t line = first + (uint32_t)__builtin_ctzll(ways);
        uint64_t order = replacement_order(tags, line, step);
        victim = order < least ? line : victim;
        least = order < least ? order : least;
    }
    return victim;
}

/* Is there a line that was used before this one, and could have been replaced instead? */
static bool spares_an_older_one(const TagArray *tags, uint32_t line) {
    uint32_t first = first_of_set(tags, line), older = 0;
    const TagLine *set = tags->line + first;
    const uint64_t *used = tags->used + first;
    uint64_t own = tags->used[line];
    for (uint32_t i = 0; i < tags->shape.ways; i++)
        older |= (uint32_t)(used[i] < own) & (uint32_t)(used[i] != 0) & (uint32_t)!set[i].reserved;
    return older;
}

/* What classes change about the line that is being replaced by one of this class, for the stats. */
static void count_by_class(TagArray *tags, uint32_t line, uint32_t class_number) {
    if (tag_is_hashed(tags)) return;
    tags->protected_evictions += spares_an_older_one(tags, line);
    tags->low_priority_insertions += class_value(&tags->order.depth, class_number) != 0;
}

void tag_install_otherwise(TagArray *tags, uint32_t line, uint64_t line_address, uint16_t sm, uint16_t warp,
                           uint8_t class_number) {
    if (tag_is_hashed(tags)) tag_hash_enter(tags, line, line_address); /* as the newest */
    if (tags->order.bent & ORDER_BY_CLASS) count_by_class(tags, line, class_number);
    tag_give(tags, line, line_address, sm, warp, class_number);
    if ((tags->order.bent & ORDER_BY_CLASS) && class_value(&tags->order.depth, class_number))
        tag_lower(tags, line, class_value(&tags->order.depth, class_number));
}

void tag_invalidate(TagArray *tags, uint32_t line) {
    if (tags->line[line].reserved) {
        tags->line[line].valid = tags->line[line].dirty = 0;
    } else {
        if (tag_is_hashed(tags)) tag_hash_leave(tags, line);
        tags->tag[line] = 0;
        tags->used[line] = 0;
        tags->line[line] = (TagLine){0};
    }
}

static bool is_clear(const TagArray *tags, uint32_t line) {
    uint64_t word;
    memcpy(&word, &tags->line[line], sizeof word);
    return !(tags->tag[line] | tags->used[line] | word);
}

/* Every launch comes here, of all L1s: of short kernels, most lines are clear. */
void tag_invalidate_all(TagArray *tags) {
    for (uint32_t i = 0; i < tag_lines_used(tags); i++)
        if (!is_clear(tags, i)) tag_invalidate(tags, i);
}

/* Soundness. */

static void line_is_sound(const TagArray *tags, const char *path, uint32_t i) {
    const TagLine *line = &tags->line[i];
    uint32_t all = tags->shape.all_sectors;
    sound(((line->valid | line->reserved | line->dirty) & ~all) == 0, "%s: sectors of line %u", path, i);
    sound(tags->used[i] <= tags->uses, "%s: stamp of line %u", path, i);
    if (tags->tag[i] && tags->shape.printed)
        sound(tags->print[i] == tag_print(tag_address(tags, i)), "%s: fingerprint of line %u", path, i);
    if (tags->tag[i])
        sound((tags->tag[i] & 1) && tags->used[i], "%s: tag of line %u", path, i);
    else
        sound(!tags->used[i] && !line->valid && !line->reserved && !line->dirty, "%s: invalid line %u", path,
              i);
}

static void set_is_sound(const TagArray *tags, const char *path, uint32_t set) {
    uint32_t first = set * tags->shape.ways;
    for (uint32_t i = first; i < first + tags->shape.ways; i++)
        for (uint32_t k = first; tags->tag[i] && k < i; k++)
            sound(tags->tag[k] != tags->tag[i], "%s: lines %u and %u have one tag", path, k, i);
}

void tag_array_is_sound(const TagArray *tags, const char *path) {
    sound(tags->uses < 1ull << KEEP_SHIFT, "%s: stamp of the last use", path);
    for (uint32_t i = 0; i < tags->shape.lines; i++)
        line_is_sound(tags, path, i);
    if (tag_is_hashed(tags)) {
        tag_hash_is_sound(tags, path);
        return;
    }
    for (uint32_t set = 0; set < tags->shape.sets; set++)
        set_is_sound(tags, path, set);
}
