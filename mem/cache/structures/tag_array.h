/* The tags of a set-associative cache: which line stands where, which of its sectors are there, and who
 * brought it. Plain data and functions, embedded in a cache object. All-zero state is an empty array.
 *
 * A sector is valid (its data is here), reserved (a fill is in flight) or neither; a dirty sector must be
 * written back. A line with a reserved sector cannot be evicted.
 *
 * A set is searched way by way; where it has dozens of ways, by fingerprints of their tags, of a byte each. Of a
 * fully associative array with more ways than can be searched in no time, limit studies have 10^5 of them, there
 * are a hash table of the lines by address and a list of them by use: finding, replacing and touching a line then
 * take the same time whatever its size. */
#ifndef WW_MEM_TAG_ARRAY_H
#define WW_MEM_TAG_ARRAY_H

#include "mem/protocol/class_table.h"
#include "mem/protocol/memory_protocol.h"

#include <string.h>

#define NO_LINE     UINT32_MAX
#define NO_SET_MASK UINT32_MAX

enum {
    MAX_INDEX_BITS = 16,
    LEAST_RECENT = 255, /* a depth below all other lines */
    NOBODY = 0xffff,    /* owner of a line that no warp asked for */
    SEARCHED_WAYS = 64, /* a fully associative array with more is hashed */
};

typedef enum { INDEX_LINEAR, INDEX_XOR } IndexFunction;

/* What a cache's parameters say. */
typedef struct {
    uint64_t size; /* bytes */
    uint32_t ways, line, sectors;
    uint32_t index; /* IndexFunction */
    const char
        *index_masks; /* INDEX_XOR: "0x80880,...", one mask of address bits per index bit, bit 0 first */
} TagGeometry;

/* Derived from it; the same for the whole life of the array. */
typedef struct {
    uint64_t masks[MAX_INDEX_BITS];
    uint32_t index_bits; /* number of masks; 0: linear */
    uint32_t sets, ways, lines;
    uint32_t set_mask; /* sets - 1 where these bits of a line's number are its index, else NO_SET_MASK */
    uint32_t sectors, all_sectors;
    uint32_t line_bytes, line_shift, sector_shift;
    uint32_t hashed; /* lines of a hashed array; 0: it is searched way by way */
    uint32_t buckets, bucket_shift;
    uint32_t compared;   /* 1: all ways of a set are compared at once, which tag_least_used() can number */
    uint32_t block_ways; /* ways, where these are compared at once and are whole blocks; else 0 */
    uint32_t find_ways;  /* the same, of arrays without fingerprints    */
    uint32_t printed;    /* lines of an array with fingerprints; else 0 */
    uint32_t pad;
} TagShape;

typedef struct {
    uint8_t valid, reserved, dirty; /* sector masks */
    uint8_t class_number; /* of the request that reserved the line, or of its last user: see tag_use() */
    uint16_t sm, warp;    /* the warp that reserved it, or NOBODY */
} TagLine;

_Static_assert(sizeof(TagLine) == sizeof(uint64_t), "lines are compared as words");

/* How the classes of requests bend LRU. All zero: they do not. */
typedef struct {
    ClassTable depth; /* places below the most recently used at which a line of the class enters     */
    ClassTable keep;  /* a line is replaced before those of its set whose class has more of this */
    uint64_t bent;    /* ORDER_BY_CLASS: some value is not 0; ORDER_WATCHED; ORDER_ASKED */
    /* 0: of classes that differ in `keep`, the use does not count. Else keep is aged: each of its steps is worth
     * so many uses of the array. */
    uint64_t keep_uses;
} TagOrder;

/* In TagOrder.bent. Only where it is not 0 has a use of a line, or its replacement, more to do than LRU has. */
enum {
    ORDER_BY_CLASS = 1,
    ORDER_WATCHED = 2, /* the cache keeps more of its lines: see mem/cache/replacement */
    ORDER_ASKED = 4,   /* policies say how far a use promotes a line */
};

enum { KEEP_SHIFT = 56 }; /* above all stamps: 2^56 uses of an array take longer than any run */

/* Lines are line + 1 here, 0 is none. */
typedef struct {
    uint32_t older, newer; /* valid: neighbours in the order of use; invalid: newer is the next free line */
} TagLinks;

typedef struct {
    uint32_t *bucket; /* hash table over line addresses; linear probing */
    TagLinks *links;  /* per line */
    uint32_t oldest, newest;
    uint32_t free;  /* first of the lines that were used before and are invalid */
    uint32_t fresh; /* lines that were ever used: 0 to fresh - 1                */
} TagHash;

typedef struct {
    TagShape shape;
    TagOrder order;
    /* Per line, set by set: a search or a replacement reads one line of the host's cache of each. */
    uint64_t *tag;  /* line address | 1, or 0 when the line is invalid                                */
    uint64_t *used; /* stamp of the last use: the smallest is the least recent; 0 in an invalid line */
    TagLine *line;
    uint64_t uses; /* the last stamp given out */
    TagHash hash;  /* of a hashed array        */
    /* While classes say where lines enter or leave: replacements that spared the least recently used line of
     * the set, and lines that did not enter as the most recently used. */
    uint64_t protected_evictions, low_priority_insertions;
    uint8_t *print; /* where shape.printed: tag_print() of each line, of the last one that it had */
} TagArray;

/* For those that show neither protected_evictions and low_priority_insertions in the stats nor lines_used to policies. */
#define TAG_ARRAY_ROWS(T, m)                                                                                 \
    TAG_ARRAY_STATE_ROWS(T, m),                                                                              \
        STATE(T, m.protected_evictions, "Least recently used lines that were spared")                        \
    , STATE(T, m.low_priority_insertions, "Lines that did not enter as the most recently used")              \
    , STATE(T, m.hash.fresh, "Hashed: first line that was never used")

#define TAG_ARRAY_STATE_ROWS(T, m)                                                                           \
    DERIVED(T, m.shape, "Geometry and set index")                                                            \
    , KNOB_BY_METHOD(T, m.order, #m ".order", "Where lines of each class enter and leave"),                  \
        STATE_ARRAY(T, m.tag, m.shape.lines, "Line address | 1 of each line")                                \
    , STATE_ARRAY(T, m.used, m.shape.lines, "Stamp of the last use of each line")                            \
    , STATE_ARRAY(T, m.line, m.shape.lines, "Sectors and owner of each line")                                \
    , STATE_ARRAY(T, m.print, m.shape.printed, "Fingerprint of each line's tag, where sets have many ways")  \
    , STATE(T, m.uses, "Stamp of the last use")                                                              \
    , STATE_ARRAY(T, m.hash.bucket, m.shape.buckets, "Hashed: table from address to line")                   \
    , STATE_ARRAY(T, m.hash.links, m.shape.hashed, "Hashed: lines in the order of use, and free ones")       \
    , STATE(T, m.hash.oldest, "Hashed: least recently used line")                                            \
    , STATE(T, m.hash.newest, "Hashed: most recently used line")                                             \
    , STATE(T, m.hash.free, "Hashed: first free line")

/* A geometry that cannot be built is a user error that names `path`. */
void tag_shape_init(TagShape *shape, const char *path, const TagGeometry *geometry);

/* Of a linear index of a power of two of sets: it is made of the next bits of an address but for these. */
void tag_shape_leave_out(TagShape *shape, uint64_t bits);
/* The set index of an address. */
uint32_t tag_set_otherwise(const TagShape *shape, uint64_t address);
static inline uint32_t tag_set(const TagShape *shape, uint64_t address) {
    if (__builtin_expect(shape->set_mask == NO_SET_MASK, 0)) return tag_set_otherwise(shape, address);
    return (uint32_t)(address >> shape->line_shift) & shape->set_mask;
}

static inline uint64_t tag_line_address(const TagShape *shape, uint64_t address) {
    return address & ~(uint64_t)(shape->line_bytes - 1);
}

/* The sectors that hold [address, address + bytes), which must lie inside one line. */
static inline uint32_t tag_sectors(const TagShape *shape, uint64_t address, uint32_t bytes) {
    if (shape->sectors == 1) return 1;
    uint32_t offset = (uint32_t)address & (shape->line_bytes - 1);
    uint32_t first = offset >> shape->sector_shift, last = (offset + bytes - 1) >> shape->sector_shift;
    return (2u << last) - (1u << first);
}

/* For hashed arrays; use those without the name. */
uint32_t tag_hash_find(const TagArray *tags, uint64_t line_address);
uint32_t tag_hash_victim(const TagArray *tags);
void tag_hash_touch(TagArray *tags, uint32_t line);

static inline bool tag_is_hashed(const TagArray *tags) {
    return __builtin_expect(tags->shape.hashed != 0, 0);
}

/* No line from this one on was ever used. */
static inline uint32_t tag_lines_used(const TagArray *tags) {
    return tag_is_hashed(tags) ? tags->hash.fresh : tags->shape.lines;
}

enum { TAG_BLOCK = 4 };

typedef uint64_t TagBlock __attribute__((vector_size(TAG_BLOCK * sizeof(uint64_t)), aligned(8)));

/* 1 + the way that has this tag, or 0, of whole blocks of ways, at most 64 in all. All are compared, a block at a time:
 * the host cannot foresee in which way a line stands. A builtin, and not its intrinsic: immintrin.h takes the compiler
 * longer than most of the hundred files that include this one. */
#ifdef __AVX2__
typedef double TagSigns __attribute__((vector_size(TAG_BLOCK * sizeof(double))));

static inline uint32_t tag_way_of(const uint64_t *tag, size_t ways, uint64_t wanted) {
    TagBlock all = {wanted, wanted, wanted, wanted};
    uint64_t same = 0;
    size_t way = 0;
    do {
        TagBlock block = (TagBlock)(*(const TagBlock *)(tag + way) == all);
        same |= (uint64_t)(uint32_t)__builtin_ia32_movmskpd256((TagSigns)block) << way;
        way += TAG_BLOCK;
    } while (way < ways);
    return same ? 1u + (uint32_t)__builtin_ctzll(same) : 0;
}
#else
static inline uint32_t tag_way_of(const uint64_t *tag, size_t ways, uint64_t wanted) {
    TagBlock number = {1, 2, 3, 4}, found = {0};
    for (size_t way = 0; way < ways; way += TAG_BLOCK, number += TAG_BLOCK)
        found |= (TagBlock)(*(const TagBlock *)(tag + way) == wanted) & number;
    return (uint32_t)(found[0] | found[1] | found[2] | found[3]);
}
#endif

/* A byte of a line's address, by which few lines of a set are alike. */
static inline uint8_t tag_print(uint64_t line_address) {
    return (uint8_t)(line_address * 0x9e3779b97f4a7c15ull >> 56);
}

/* What tag_find() does where ways are not whole blocks, or many. */
uint32_t tag_find_otherwise(const TagArray *tags, uint32_t set, uint64_t line_address);
/* The line of `set` that holds `line_address`, or NO_LINE. */
static inline uint32_t tag_find(const TagArray *tags, uint32_t set, uint64_t line_address) {
    uint32_t ways = tags->shape.find_ways;
    if (__builtin_expect(!ways, 0)) return tag_find_otherwise(tags, set, line_address);
    uint32_t first = set * ways;
    /* Whoever finds a line goes on to these: the host gets them while it compares. */
    __builtin_prefetch(tags->line + first);
    __builtin_prefetch(tags->used + first);
    uint32_t way = tag_way_of(tags->tag + first, ways, line_address | 1);
    return way ? first + way - 1 : NO_LINE;
}

static inline uint64_t tag_address(const TagArray *tags, uint32_t line) {
    return tags->tag[line] & ~1ull;
}

static inline void tag_touch(TagArray *tags, uint32_t line) {
    tags->used[line] = ++tags->uses;
    if (tag_is_hashed(tags)) tag_hash_touch(tags, line);
}
/* A request of this class uses the line: where classes bend the order, the line is of its class from now on. */
static inline void tag_use(TagArray *tags, uint32_t line, uint8_t class_number) {
    tag_touch(tags, line);
    if (__builtin_expect(tags->order.bent & ORDER_BY_CLASS, 0)) tags->line[line].class_number = class_number;
}
/* By how much a step of `keep` moves a line up the order in which lines are replaced. */
static inline uint64_t tag_keep_step(const TagArray *tags) {
    return tags->order.keep_uses ? tags->order.keep_uses : 1ull << KEEP_SHIFT;
}
/* Moves a line that has just been touched so many places down the order of use of its set. */
void tag_lower(TagArray *tags, uint32_t line, uint32_t places);

void tag_set_depth(TagArray *tags, uint32_t class_number, uint32_t depth);
void tag_set_keep(TagArray *tags, uint32_t class_number, uint32_t keep);

/* Are all ways of a set compared, and does nothing but their use say which is replaced? */
static inline bool tag_is_plain(const TagArray *tags) {
    return (tags->shape.compared != 0) & (tags->order.bent == 0);
}
/* What tag_victim() does when they are not. */
uint32_t tag_victim_otherwise(const TagArray *tags, uint32_t set);
/* The one of these ways, a bit each of at most 64, that goes first. */
uint32_t tag_victim_among(const TagArray *tags, uint32_t set, uint64_t ways);

enum { WAY_BITS = 8 }; /* of the ways that are compared at once; above them a stamp has room for 2^55 uses */

/* What tag_least_used() does where ways are not whole blocks. */
int64_t tag_least_used_otherwise(const TagArray *tags, uint32_t first);

typedef int64_t TagOrders __attribute__((vector_size(TAG_BLOCK * sizeof(int64_t)), aligned(8), may_alias));

static inline int64_t tag_lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Keeps the lesser one of each pair. By pointers: without AVX, no function returns such a vector. */
static inline __attribute__((always_inline)) void tag_keep_lesser(TagOrders *least, const TagOrders *others) {
#ifdef __AVX2__
    typedef char Bytes __attribute__((vector_size(sizeof(TagOrders))));
    *least = (TagOrders)__builtin_ia32_pblendvb256((Bytes)*least, (Bytes)*others, (Bytes)(*others < *least));
#else
    TagOrders less = *others < *least;
    *least = (*others & less) | (*least & ~less);
#endif
}

/* Of a block of ways, the lines from `line` on: stamp << WAY_BITS | way, or INT64_MAX where a sector is reserved. */
static inline __attribute__((always_inline)) void tag_orders(const TagArray *tags, uint32_t line,
                                                             const TagOrders *way, TagOrders *orders) {
    const TagLine all_reserved = {.reserved = UINT8_MAX};
    int64_t mask;
    memcpy(&mask, &all_reserved, sizeof mask);
    TagOrders open = (*(const TagOrders *)(tags->line + line) & mask) == 0;
    *orders = *(const TagOrders *)(tags->used + line) << WAY_BITS | *way | (~open & INT64_MAX);
}

/* Of the set that begins with line `first`: the least of tag_orders(). All ways are compared, blocks of them at a time:
 * the host cannot foresee the order of use. */
static inline __attribute__((always_inline)) int64_t tag_least_used(const TagArray *tags, uint32_t first) {
    uint32_t ways = tags->shape.block_ways;
    TagOrders number = {0, 1, 2, 3}, least, others;
    if (__builtin_expect(!ways, 0)) return tag_least_used_otherwise(tags, first);
    tag_orders(tags, first, &number, &least);
    for (uint32_t way = TAG_BLOCK; way < ways; way += TAG_BLOCK) {
        number += TAG_BLOCK;
        tag_orders(tags, first + way, &number, &others);
        tag_keep_lesser(&least, &others);
    }
    others = __builtin_shufflevector(least, least, 2, 3, 0, 1);
    tag_keep_lesser(&least, &others);
    return tag_lesser(least[0], least[1]);
}

/* What it does when they are. */
static inline __attribute__((always_inline)) uint32_t tag_victim_by_use(const TagArray *tags, uint32_t set) {
    uint32_t first = set * tags->shape.ways;
    int64_t least = tag_least_used(tags, first);
    return least == INT64_MAX ? NO_LINE : first + ((uint32_t)least & ((1u << WAY_BITS) - 1));
}
/* The line to replace: an invalid one; else, of those without a reserved sector, the least recently used of
 * the classes that are to be kept least. NO_LINE when every way is reserved. */
static inline uint32_t tag_victim(const TagArray *tags, uint32_t set) {
    if (__builtin_expect(!tag_is_plain(tags), 0)) return tag_victim_otherwise(tags, set);
    return tag_victim_by_use(tags, set);
}

/* Gives `line`, whose former contents are lost, to `line_address`, as the most recently used. No sector is there yet. */
static inline void tag_give(TagArray *tags, uint32_t line, uint64_t line_address, uint16_t sm, uint16_t warp,
                            uint8_t class_number) {
    tags->tag[line] = line_address | 1;
    if (__builtin_expect(tags->shape.printed != 0, 0)) tags->print[line] = tag_print(line_address);
    tags->line[line] = (TagLine){.sm = sm, .warp = warp, .class_number = class_number};
    tags->used[line] = ++tags->uses;
}
/* The same at the depth of its class: as the most recently used, unless a policy has set another. */
void tag_install_otherwise(TagArray *tags, uint32_t line, uint64_t line_address, uint16_t sm, uint16_t warp,
                           uint8_t class_number);
static inline void tag_install(TagArray *tags, uint32_t line, uint64_t line_address, uint16_t sm,
                               uint16_t warp, uint8_t class_number) {
    if (__builtin_expect(!tag_is_plain(tags), 0))
        tag_install_otherwise(tags, line, line_address, sm, warp, class_number);
    else
        tag_give(tags, line, line_address, sm, warp, class_number);
}

/* Forgets the line; sectors in flight stay reserved, and the tag with them. */
void tag_invalidate(TagArray *tags, uint32_t line);
void tag_invalidate_all(TagArray *tags);

/* Tags and lines have been written by hand, those of a hashed array from line 0 on without gap: derives the
 * rest. */
void tag_rebuild(TagArray *tags);

/* Panics, naming `path`, unless every line is found once where it stands, and stamps, sectors and the lists
 * of a hashed array are such as the functions above make them. Whether a line's set is its own is not looked
 * at. */
void tag_array_is_sound(const TagArray *tags, const char *path);

#endif
