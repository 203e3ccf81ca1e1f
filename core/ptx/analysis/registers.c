#include "core/ptx/analysis/registers.h"

#include "core/ptx/analysis/segment_set.h"
#include "core/ptx/analysis/steps.h"

#include <stdlib.h>

/* A register with a life. */
typedef struct {
    uint32_t start, reg;
    const LiveSegment *segments;
    uint32_t count;
} Life;

static int by_start(const void *a, const void *b) {
    const Life *left = a, *right = b;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    return (left->reg > right->reg) - (left->reg < right->reg);
}

/* In the order in which they begin. */
static Life *order_by_start(Arena *arena, const LiveRanges *ranges, uint32_t *count) {
    Life *order = arena_alloc(arena, ranges->register_count, sizeof *order);
    *count = 0;
    for (uint32_t r = 0; r < ranges->register_count; r++) {
        uint32_t segment_count = ranges->first[r + 1] - ranges->first[r];
        if (!segment_count) continue; /* there may be no segment at all */
        const LiveSegment *segments = ranges->segments + ranges->first[r];
        order[(*count)++] = (Life){segments->start, r, segments, segment_count};
    }
    qsort(order, *count, sizeof *order, by_start);
    return order;
}

/* --- Places ---------------------------------------------------------------------------------- */

enum { LEVELS = 32 };

/* The places that registers of one width may share, ascending. Above them stands a tree: a node of level l
 * is for 2^l places side by side, once so many exist, and has the positions that are occupied in all of
 * them. Where a register overlaps these, none of the places is free for it. */
typedef struct {
    SegmentPool *pool;
    uint32_t *number; /* of a place among those of all widths */
    uint32_t count, capacity;
    SegmentSet *nodes[LEVELS];
    uint32_t node_capacity[LEVELS];
    LiveSegment *added[2]; /* what a node gains, and the one above it */
    uint32_t added_capacity[2];
} Places;

static bool is_complete(const Places *places, uint32_t level, uint32_t node) {
    return ((uint64_t)node + 1) << level <= places->count;
}

/* The lowest place below a node that is free during this life, NO_PLACE when none is. */
static uint32_t lowest_free_below(const Places *places, uint32_t level, uint32_t node, const Life *life) {
    ptx_steps++;
    if ((uint64_t)node << level >= places->count) return NO_PLACE;
    if (is_complete(places, level, node) &&
        segments_overlap(places->pool, &places->nodes[level][node], life->segments, life->count))
        return NO_PLACE;
    if (level == 0) return node;
    uint32_t found = lowest_free_below(places, level - 1, 2 * node, life);
    return found != NO_PLACE ? found : lowest_free_below(places, level - 1, 2 * node + 1, life);
}

static uint32_t lowest_free(const Places *places, const Life *life) {
    uint32_t level = 0;
    while (1ull << level < places->count)
        level++;
    return lowest_free_below(places, level, 0, life);
}

/* Nodes that become complete with it are empty, as it is. */
static uint32_t add_place(Places *places, uint32_t number) {
    Arena *arena = places->pool->arena;
    places->number = arena_grow(arena, places->number, sizeof *places->number, places->count,
                                &places->capacity);
    places->number[places->count++] = number;
    for (uint32_t level = 0; level < LEVELS && places->count % (1ull << level) == 0; level++) {
        uint32_t node = (places->count >> level) - 1;
        places->nodes[level] = arena_grow(arena, places->nodes[level], sizeof *places->nodes[level], node,
                                          &places->node_capacity[level]);
        places->nodes[level][node] = 0;
    }
    return places->count - 1;
}

/* What both have: `added[from]` and `set`, into the other `added`. */
static uint32_t intersect(Places *places, int from, uint32_t count, SegmentSet set) {
    uint32_t common = 0;
    for (uint32_t i = 0; i < count; i++) {
        LiveSegment each = places->added[from][i];
        const LiveSegment *other = segments_from(places->pool, set, each.start);
        while (other && other->start <= each.end) {
            LiveSegment both = {other->start > each.start ? other->start : each.start,
                                other->end < each.end ? other->end : each.end};
            places->added[!from] = arena_grow(places->pool->arena, places->added[!from], sizeof both, common,
                                              &places->added_capacity[!from]);
            places->added[!from][common++] = both;
            other = both.end < each.end ? segments_from(places->pool, set, both.end + 1) : NULL;
        }
    }
    return common;
}

static void occupy(Places *places, uint32_t place, const LiveSegment *segments, uint32_t count) {
    int at = 0;
    for (uint32_t i = 0; i < count; i++) {
        places->added[at] = arena_grow(places->pool->arena, places->added[at], sizeof *segments, i,
                                       &places->added_capacity[at]);
        places->added[at][i] = segments[i];
    }
    for (uint32_t level = 0; count; level++) {
        uint32_t node = place >> level;
        for (uint32_t i = 0; i < count; i++)
            segments_add(places->pool, &places->nodes[level][node], places->added[at][i]);
        if (!is_complete(places, level + 1, node / 2)) break;
        count = intersect(places, at, count, places->nodes[level][node ^ 1]);
        at = !at;
    }
}

typedef struct {
    Places of[2];  /* 0: places of registers of one place, 1: first places of pairs */
    uint32_t used; /* places in all                                                 */
    uint32_t gap;  /* one before a pair that nobody has taken yet, as a place of the first kind; NO_PLACE */
} Allocation;

/* A pair begins at an even place; the one that is left out is the gap. There is never more than one: while
 * it is there, no register of one place needs a new one. */
static uint32_t new_pair(Allocation *all) {
    if (all->used % 2) all->gap = add_place(&all->of[0], all->used++);
    all->used += 2;
    return all->used - 2;
}

static uint32_t take_alone(Allocation *all, const Life *life, bool pair) {
    if (pair) return new_pair(all);
    if (all->gap == NO_PLACE) return all->used++;
    uint32_t gap = all->gap;
    LiveSegment to_the_end = {life->start, UINT32_MAX};
    occupy(&all->of[0], gap, &to_the_end, 1);
    all->gap = NO_PLACE;
    return all->of[0].number[gap];
}

static uint32_t take_shared(Allocation *all, const Life *life, bool pair) {
    Places *places = &all->of[pair];
    uint32_t place = lowest_free(places, life);
    if (place == NO_PLACE) place = add_place(places, pair ? new_pair(all) : all->used++);
    if (!pair && place == all->gap) all->gap = NO_PLACE;
    occupy(places, place, life->segments, life->count);
    return places->number[place];
}

uint32_t assign_places(Arena *arena, const LiveRanges *ranges, const uint8_t *width, const bool *alone,
                       uint32_t *place) {
    SegmentPool pool = {.arena = arena};
    Allocation all = {.of = {{.pool = &pool}, {.pool = &pool}}, .gap = NO_PLACE};
    uint32_t count;
    const Life *order = order_by_start(arena, ranges, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t reg = order[i].reg;
        if (!width[reg]) continue;
        place[reg] = alone && alone[reg] ? take_alone(&all, &order[i], width[reg] == 2)
                                         : take_shared(&all, &order[i], width[reg] == 2);
    }
    return all.used;
}

/* --- Names ----------------------------------------------------------------------------------- */

/* As of the start of the life that is looked at: starts only grow. */
typedef struct {
    SegmentPool pool;
    SegmentSet taken[SCOREBOARD_NAMES];
    LiveSegment
        next[SCOREBOARD_NAMES]; /* the first that ends there or later; none: at the largest position */
    uint32_t free_since[SCOREBOARD_NAMES]; /* behind the one before it */
} Names;

static void find_next(Names *names, uint32_t name, uint32_t position) {
    const LiveSegment *next = segments_from(&names->pool, names->taken[name], position);
    if (!next) names->taken[name] = 0;
    names->next[name] = next ? *next : (LiveSegment){UINT32_MAX, UINT32_MAX};
}

/* The name that has been free for longest and stays so during this life. */
static uint32_t best_name(Names *names, const Life *life) {
    uint32_t best = NO_PLACE, best_free_since = UINT32_MAX;
    for (uint32_t n = 0; n < SCOREBOARD_NAMES && best_free_since; n++) {
        while (names->next[n].end < life->start) {
            names->free_since[n] = names->next[n].end + 1;
            find_next(names, n, names->free_since[n]);
        }
        if (names->free_since[n] >= best_free_since || names->next[n].start <= life->segments[0].end ||
            segments_overlap(&names->pool, &names->taken[n], life->segments, life->count))
            continue;
        best = n;
        best_free_since = names->free_since[n];
    }
    return best;
}

void assign_names(Arena *arena, const LiveRanges *ranges, uint8_t *name) {
    Names *names = arena_alloc(arena, 1, sizeof *names);
    names->pool.arena = arena;
    for (uint32_t n = 0; n < SCOREBOARD_NAMES; n++)
        names->next[n] = (LiveSegment){UINT32_MAX, UINT32_MAX};
    uint32_t count;
    const Life *order = order_by_start(arena, ranges, &count);
    for (uint32_t i = 0; i < count; i++) {
        const Life *life = &order[i];
        uint32_t best = best_name(names, life);
        name[life->reg] = (uint8_t)(best != NO_PLACE ? best : life->reg % SCOREBOARD_NAMES);
        if (best == NO_PLACE) continue;
        for (uint32_t s = 0; s < life->count; s++)
            segments_add(&names->pool, &names->taken[best], life->segments[s]);
        find_next(names, best, life->start);
    }
}
