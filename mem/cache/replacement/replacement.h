/* Which line of a set goes when another needs its place: the choices beside LRU, and the ways that each class
 * or SM may take lines in.
 *
 * LRU is the tag array's own (structures/tag_array.h). A cache with another choice, with partitions or with a
 * history of its lines has the bit ORDER_WATCHED in TagOrder.bent; one without pays for none of this. A choice
 * is a family of functions, in a file of its own: what it remembers of lines and sets stands in the arrays
 * here, which are empty unless it needs them. */
#ifndef WW_MEM_REPLACEMENT_H
#define WW_MEM_REPLACEMENT_H

#include "core/sim/method.h"
#include "mem/cache/structures/tag_array.h"
#include "mem/protocol/memory_protocol.h"

typedef enum {
    REPLACE_LRU,
    REPLACE_TREE_PLRU,
    REPLACE_NRU,
    REPLACE_FIFO,
    REPLACE_RANDOM,
    REPLACE_SRRIP,
    REPLACE_BRRIP,
    REPLACE_DRRIP,
    REPLACE_SHIP_PC,
} ReplacementChoice;

typedef enum { PARTITION_NONE, PARTITION_BY_CLASS, PARTITION_BY_SM } PartitionBy;

typedef struct {
    uint32_t choice; /* ReplacementChoice */
    uint32_t rrip_bits, brrip_throttle, leader_sets, psel_bits, ship_entries, ship_bits;
    uint32_t line_history, partition_by; /* PartitionBy */
    uint32_t pad;
    uint64_t seed;
    char *way_masks;
} ReplacementParameters;

/* What the choice remembers of a line. */
typedef struct {
    uint64_t entered;   /* fifo: stamp of its use at which the line entered             */
    uint32_t signature; /* ship_pc: of the PC of the request that took the line         */
    uint8_t prediction; /* rrip: re-reference prediction value, 0: soon                 */
    uint8_t used_again; /* ship_pc: since it entered                                    */
    uint16_t pad;
} LineMark;

typedef struct {
    uint32_t pc;   /* of the request that took the line */
    uint32_t uses; /* by others since then that found what they want in it, or on its way */
} LineHistory;

typedef struct ReplacementFamily ReplacementFamily;

typedef struct {
    ReplacementParameters parameters;
    const ReplacementFamily *family; /* host; NULL: lru */
    /* derived */
    uint64_t seed; /* of this cache */
    uint32_t lines, sets, outcomes_count, histories, partitions;
    uint32_t leaders; /* drrip: sets that lead, for each of the two */
    /* state */
    LineMark *line;
    uint64_t *set;     /* tree_plru: a bit per node of the tree; random: replacements in the set */
    uint8_t *outcomes; /* ship_pc: the signature history counter table */
    uint64_t *ways_of; /* of each class or SM: ways that it may take */
    LineHistory *history;
    uint64_t insertions; /* brrip, drrip: lines that entered */
    uint64_t psel;       /* drrip: the policy selector */
} Replacement;

/* A request takes a line, or uses one. `eligible`: ways of the set, which has at most 64, that may be replaced:
 * those of the request's partition without a sector in flight. */
struct ReplacementFamily {
    /* Which of the eligible ways, all valid, goes? The same as long as nothing enters the set or is used. */
    uint32_t (*victim)(const Replacement *r, const TagArray *tags, uint32_t set, uint64_t eligible);
    /* A request finds its line; `found`: and what it wants in it, or on its way. NULL: does not matter. */
    void (*used)(Replacement *r, const TagArray *tags, uint32_t line, bool found);
    /* A line enters; what stood there is still in the tags. */
    void (*entered)(Replacement *r, const TagArray *tags, uint32_t line, uint64_t eligible,
                    const MemMessage *m);
};

extern const ReplacementFamily tree_plru_family, fifo_family, random_family, rrip_family;

/* The largest prediction: of lines that are needed again in the distant future. */
static inline uint8_t rrip_distant(const Replacement *r) {
    bool nru = r->parameters.choice == REPLACE_NRU;
    return (uint8_t)((1u << (nru ? 1 : r->parameters.rrip_bits)) - 1);
}

/* clang-format off */
#define REPLACEMENT_PARAMETER_ROWS(T, m)                                                                     \
    {.kind = FIELD_PARAM, .type = TYPE_U32, .name = "replacement", .initial = "lru", .unit = "choice",       \
     .choices = "lru|tree_plru|nru|fifo|random|srrip|brrip|drrip|ship_pc",                                   \
     .doc = "Which line of a full set is replaced", .converts = true, FIELD_AT(T, m.parameters.choice)},     \
    PARAM_NAMED(T, m.parameters.rrip_bits, "rrip_bits", "2", "bits",                                         \
                "Of the prediction of a line, for srrip, brrip, drrip and ship_pc", .min = 1, .max = 7,      \
                .converts = true),                                                                           \
    PARAM_NAMED(T, m.parameters.brrip_throttle, "brrip_throttle", "32", "lines",                             \
                "brrip: one in so many lines, drawn at random, enters as srrip's do", .min = 1,              \
                .max = 1 << 20, .timing = true),                                                             \
    PARAM_NAMED(T, m.parameters.leader_sets, "leader_sets", "32", "sets",                                    \
                "drrip: sets that always follow srrip, and as many brrip; at most a quarter of all each",    \
                .min = 1, .max = 1 << 16, .timing = true),                                                   \
    PARAM_NAMED(T, m.parameters.psel_bits, "psel_bits", "10", "bits",                                        \
                "drrip: of the counter that says which of the two misses less", .min = 1, .max = 32,         \
                .converts = true),                                                                           \
    PARAM_NAMED(T, m.parameters.ship_entries, "ship_entries", "16384", "counters",                           \
                "ship_pc: signature history counters", .min = 2, .max = 1 << 20, .power_of_two = true,       \
                .converts = true),                                                                           \
    PARAM_NAMED(T, m.parameters.ship_bits, "ship_bits", "3", "bits", "ship_pc: of each of these counters",   \
                .min = 1, .max = 7, .converts = true),                                                       \
    PARAM_NAMED(T, m.parameters.seed, "replacement_seed", "1", "",                                           \
                "Of random, brrip and drrip; each cache has a sequence of its own", .timing = true),         \
    {.kind = FIELD_PARAM, .type = TYPE_U32, .name = "partition_by", .initial = "none", .unit = "choice",     \
     .choices = "none|class|sm",                                                                             \
     .doc = "Whose ways way_masks and the method set_ways name: those of the classes or of the SMs",         \
     .converts = true, FIELD_AT(T, m.parameters.partition_by)},                                              \
    PARAM_NAMED(T, m.parameters.way_masks, "way_masks", "", "masks",                                         \
                "Ways that the lines of each class or SM may take, 0 first: \"0x00ff,0xff00\"; all unless "  \
                "named. Hits are anywhere", .converts = true),                                               \
    PARAM_FLAG_NAMED(T, m.parameters.line_history, "line_history", "false",                                  \
                     "Keep what line_pc and line_uses tell policies of a line", .converts = true),           \
    DERIVED(T, m.parameters.pad, "Alignment")

/* In order: those of lines first, for cache_convert(). */
#define REPLACEMENT_ARRAYS                                                                                   \
    "cache.replacement.line", "cache.replacement.history", "cache.replacement.set",                          \
        "cache.replacement.outcomes", "cache.replacement.ways_of"

#define REPLACEMENT_STATE_ROWS(T, m)                                                                         \
    HOST(T, m.family, "Functions of the choice"),                                                            \
    DERIVED(T, m.seed, "replacement_seed and the path"),                                                     \
    DERIVED(T, m.lines, "Lines that have a mark"),                                                           \
    DERIVED(T, m.sets, "Sets that have one"),                                                                \
    DERIVED(T, m.outcomes_count, "Signature history counters"),                                              \
    DERIVED(T, m.histories, "Lines whose history is kept"),                                                  \
    DERIVED(T, m.partitions, "Classes or SMs"),                                                              \
    DERIVED(T, m.leaders, "Leader sets of srrip, and of brrip"),                                             \
    STATE_ARRAY(T, m.line, m.lines, "What the replacement remembers of each line"),                          \
    STATE_ARRAY(T, m.history, m.histories, "PC and uses of each line"),                                      \
    STATE_ARRAY(T, m.set, m.sets, "What it remembers of each set"),                                          \
    STATE_ARRAY(T, m.outcomes, m.outcomes_count, "Signature history counter table"),                         \
    {.kind = FIELD_STATE_ARRAY, .name = #m ".ways_of", .doc = "Ways that each class or SM may take",         \
     .knob = true, FIELD_ARRAY_AT(T, m.ways_of, m.partitions)},                                              \
    STATE(T, m.insertions, "Lines that entered under brrip or drrip"),                                       \
    STATE(T, m.psel, "Policy selector of drrip")
/* clang-format on */

/* For build() and init() of the cache, whose tags have their shape; a user error that names the object when
 * the choices contradict each other. */
void replacement_build(Replacement *r, const SimObject *object, const TagArray *tags);
void replacement_init(Replacement *r, const SimObject *object, TagArray *tags);
/* Gives counters and marks the values with which they begin. */
void replacement_begin(Replacement *r, const TagArray *tags);
/* Those of lines and sets alone. */
void replacement_begin_lines(Replacement *r, const TagArray *tags);
/* The masks that the parameters name. */
void replacement_read_masks(Replacement *r, const SimObject *object, const TagArray *tags);
/* A snapshot has brought the tags' order, in which ORDER_WATCHED and ORDER_ASKED are this machine's; the latter, which
 * the cache knows of, is off. */
void replacement_watch(const Replacement *r, TagArray *tags);

/* Does it choose victims, beside or instead of LRU? */
static inline bool replacement_chooses(const Replacement *r) {
    return r->family || r->partitions;
}
/* Ways of a set that the request may take. */
uint64_t replacement_ways_of(const Replacement *r, const TagArray *tags, const MemMessage *m);
/* Of those the ones without a sector in flight. */
uint64_t replacement_eligible(const Replacement *r, const TagArray *tags, const MemMessage *m, uint32_t set);
/* Of these ways, all valid and at least one, the line that goes first. */
uint32_t replacement_first(const Replacement *r, const TagArray *tags, uint32_t set, uint64_t ways);
/* The line that `m` replaces, or NO_LINE when all that it may take have sectors in flight. */
uint32_t replacement_victim(const Replacement *r, const TagArray *tags, const MemMessage *m, uint32_t set);
/* Before the tags change. */
void replacement_used(Replacement *r, const TagArray *tags, uint32_t line, bool found);
void replacement_entered(Replacement *r, const TagArray *tags, uint32_t line, const MemMessage *m);

/* Where lines may enter: from 0, that of the lines which are kept longest, to this, that of those which go first. 0:
 * the choice knows no such order. */
uint32_t replacement_last_position(const Replacement *r, const TagArray *tags);
/* Where a line stands, as a position at which it could have entered. */
uint32_t replacement_position(const Replacement *r, const TagArray *tags, uint32_t line);
/* Gives a line that has just entered or been used this position. */
void replacement_place(Replacement *r, TagArray *tags, uint32_t line, uint32_t position);

/* What is remembered of a line; zeros where nothing is. */
static inline LineHistory replacement_history(const Replacement *r, uint32_t line) {
    return r->histories ? r->history[line] : (LineHistory){0};
}

/* Gives class or SM `number` these ways; false when it is none or a mask no set of ways. */
bool replacement_set_ways(Replacement *r, const TagArray *tags, uint64_t number, uint64_t ways);

/* Panics, naming `path`, unless the state could have been made here. */
void replacement_is_sound(const Replacement *r, const TagArray *tags, const char *path);

#endif
