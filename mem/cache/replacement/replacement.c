#include "mem/cache/replacement/replacement.h"

#include "core/sim/base/random.h"
#include "core/sim/checkpoint/buffer.h"
#include "mem/protocol/class_table.h"
#include "mem/protocol/functional_memory.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"lru",   "tree_plru", "nru",   "fifo",   "random",
                                    "srrip", "brrip",     "drrip", "ship_pc"};

static const ReplacementFamily *family_of(uint32_t choice) {
    static const ReplacementFamily *const families[] = {NULL,         &tree_plru_family, &rrip_family,
                                                        &fifo_family, &random_family,    &rrip_family,
                                                        &rrip_family, &rrip_family,      &rrip_family};
    return families[choice];
}

static uint64_t all_ways(const TagArray *tags) {
    return tags->shape.ways >= 64 ? ~0ull : (1ull << tags->shape.ways) - 1;
}

/* Building. */

static void check_parameters(const ReplacementParameters *p, const SimObject *object, const TagArray *tags) {
    const char *path = object_path(object);
    if (tags->shape.ways > 64 && p->choice != REPLACE_LRU)
        user_error("%s.replacement: expected lru for a cache of more than 64 ways, got %s for %u", path,
                   names[p->choice], tags->shape.ways);
    if (tags->shape.ways > 64 && p->partition_by != PARTITION_NONE)
        user_error("%s.partition_by: expected none for a cache of more than 64 ways, got %u ways", path,
                   tags->shape.ways);
    if (tags->shape.sets < 4 && p->choice == REPLACE_DRRIP)
        user_error("%s.replacement: expected 4 or more sets for the leaders of drrip, got %u", path,
                   tags->shape.sets);
    if (*p->way_masks && p->partition_by == PARTITION_NONE)
        user_error("%s.way_masks: expected partition_by to be class or sm, got none", path);
}

void replacement_build(Replacement *r, const SimObject *object, const TagArray *tags) {
    static const uint32_t partitions[] = {0, CLASSES, MAX_SMS};
    const ReplacementParameters *p = &r->parameters;
    const TagShape *shape = &tags->shape;
    check_parameters(p, object, tags);
    bool tree_or_random = p->choice == REPLACE_TREE_PLRU || p->choice == REPLACE_RANDOM;
    r->family = family_of(p->choice);
    r->seed = hash_bytes(p->seed, object->path, strlen(object->path));
    r->lines = r->family && !tree_or_random ? shape->lines : 0;
    r->sets = tree_or_random ? shape->sets : 0;
    r->outcomes_count = p->choice == REPLACE_SHIP_PC ? p->ship_entries : 0;
    r->histories = p->line_history ? shape->lines : 0;
    r->partitions = partitions[p->partition_by];
    r->leaders = p->leader_sets < shape->sets / 4 ? p->leader_sets : shape->sets / 4;
}

void replacement_begin_lines(Replacement *r, const TagArray *tags) {
    for (uint32_t i = 0; i < r->histories; i++)
        r->history[i] = (LineHistory){0};
    for (uint32_t i = 0; i < r->sets; i++)
        r->set[i] = 0;
    for (uint32_t i = 0; i < r->lines; i++)
        r->line[i] = (LineMark){.entered = tags->used[i]};
}

/* A PC of which nothing is known is taken for one whose lines are used again: the first of its lines that
 * nobody uses says otherwise. The selector begins just below the middle, where followers do as srrip does. */
void replacement_begin(Replacement *r, const TagArray *tags) {
    r->insertions = 0;
    r->psel = (1ull << (r->parameters.psel_bits - 1)) - 1;
    for (uint32_t i = 0; i < r->outcomes_count; i++)
        r->outcomes[i] = 1;
    replacement_begin_lines(r, tags);
}

static _Noreturn void not_masks(const Replacement *r, const SimObject *object, const TagArray *tags) {
    user_error("%s.way_masks: expected up to %u sets of its %u ways, one for each %s (\"0x3,0xc\"), got '%s'",
               object_path(object), r->partitions, tags->shape.ways,
               r->parameters.partition_by == PARTITION_BY_SM ? "SM" : "class", r->parameters.way_masks);
}

void replacement_read_masks(Replacement *r, const SimObject *object, const TagArray *tags) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < r->partitions; i++)
        r->ways_of[i] = all_ways(tags);
    for (const char *at = r->parameters.way_masks; *at; number++) {
        char *end;
        uint64_t mask = strtoull(at, &end, 0);
        bool whole = end != at && *at >= '0' && *at <= '9' && (!*end || (*end == ',' && end[1]));
        if (!whole || !replacement_set_ways(r, tags, number, mask)) not_masks(r, object, tags);
        at = *end ? end + 1 : end;
    }
}

void replacement_init(Replacement *r, const SimObject *object, TagArray *tags) {
    replacement_begin(r, tags);
    replacement_read_masks(r, object, tags);
    replacement_watch(r, tags);
}

void replacement_watch(const Replacement *r, TagArray *tags) {
    bool watched = replacement_chooses(r) || r->histories;
    tags->order.bent = (tags->order.bent & ORDER_BY_CLASS) | (watched ? ORDER_WATCHED : 0);
}

/* Choosing. */

uint64_t replacement_ways_of(const Replacement *r, const TagArray *tags, const MemMessage *m) {
    uint32_t number = r->parameters.partition_by == PARTITION_BY_SM ? m->sm : m->class_number;
    return number < r->partitions ? r->ways_of[number] : all_ways(tags);
}

uint64_t replacement_eligible(const Replacement *r, const TagArray *tags, const MemMessage *m, uint32_t set) {
    const TagLine *line = &tags->line[(size_t)set * tags->shape.ways];
    uint64_t eligible = 0;
    for (uint64_t ways = replacement_ways_of(r, tags, m); ways; ways &= ways - 1)
        if (!line[__builtin_ctzll(ways)].reserved) eligible |= ways & -ways;
    return eligible;
}

uint32_t replacement_first(const Replacement *r, const TagArray *tags, uint32_t set, uint64_t ways) {
    uint32_t first = set * tags->shape.ways;
    return r->family ? first + r->family->victim(r, tags, set, ways) : tag_victim_among(tags, set, ways);
}

uint32_t replacement_victim(const Replacement *r, const TagArray *tags, const MemMessage *m, uint32_t set) {
    uint64_t eligible = replacement_eligible(r, tags, m, set);
    uint32_t first = set * tags->shape.ways;
    if (!eligible) return NO_LINE;
    for (uint64_t ways = eligible; ways; ways &= ways - 1)
        if (!tags->tag[first + (uint32_t)__builtin_ctzll(ways)])
            return first + (uint32_t)__builtin_ctzll(ways);
    return replacement_first(r, tags, set, eligible);
}

void replacement_used(Replacement *r, const TagArray *tags, uint32_t line, bool found) {
    if (r->family && r->family->used) r->family->used(r, tags, line, found);
    if (r->histories) r->history[line].uses += found;
}

void replacement_entered(Replacement *r, const TagArray *tags, uint32_t line, const MemMessage *m) {
    if (r->family) {
        uint64_t eligible = replacement_eligible(r, tags, m, line / tags->shape.ways);
        r->family->entered(r, tags, line, eligible, m);
    }
    if (r->histories) r->history[line] = (LineHistory){.pc = m->pc};
}

uint32_t replacement_last_position(const Replacement *r, const TagArray *tags) {
    if (r->family == &rrip_family) return rrip_distant(r);
    if (r->family) return 0;
    uint32_t last = tags->shape.ways - 1;
    return last < LEAST_RECENT ? last : LEAST_RECENT;
}

uint32_t replacement_position(const Replacement *r, const TagArray *tags, uint32_t line) {
    uint32_t last = replacement_last_position(r, tags), above = 0, ways = tags->shape.ways;
    if (r->family) return last ? r->line[line].prediction : 0;
    const uint64_t *used = &tags->used[line / ways * ways];
    for (uint32_t i = 0; i < ways && above < last; i++)
        above += used[i] > tags->used[line];
    return above;
}

void replacement_place(Replacement *r, TagArray *tags, uint32_t line, uint32_t position) {
    if (r->family == &rrip_family) r->line[line].prediction = (uint8_t)position;
    if (r->family) return;
    if (tags->used[line] != tags->uses) tag_touch(tags, line); /* its class has lowered it */
    tag_lower(tags, line, position);
}

bool replacement_set_ways(Replacement *r, const TagArray *tags, uint64_t number, uint64_t ways) {
    if (number >= r->partitions || !ways || (ways & ~all_ways(tags))) return false;
    r->ways_of[number] = ways;
    return true;
}

/* Soundness. */

static void counters_are_sound(const Replacement *r, const char *path) {
    sound(r->psel < 1ull << r->parameters.psel_bits, "%s: policy selector %lu", path, r->psel);
    for (uint32_t i = 0; i < r->outcomes_count; i++)
        sound(r->outcomes[i] < 1u << r->parameters.ship_bits, "%s: signature history counter %u", path, i);
}

void replacement_is_sound(const Replacement *r, const TagArray *tags, const char *path) {
    uint32_t signatures = r->outcomes_count ? r->outcomes_count : 1;
    counters_are_sound(r, path);
    for (uint32_t i = 0; i < r->lines; i++)
        sound(r->line[i].prediction <= rrip_distant(r) && r->line[i].signature < signatures &&
                  r->line[i].entered <= tags->uses,
              "%s: mark of line %u", path, i);
    for (uint32_t i = 0; i < r->partitions; i++)
        sound(r->ways_of[i] && !(r->ways_of[i] & ~all_ways(tags)), "%s: ways of partition %u", path, i);
}
