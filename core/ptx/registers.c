#include "core/ptx/registers.h"

#include "core/sim/error.h"

#include <stdlib.h>
#include <string.h>

/* The segments that occupy one place, ascending and disjoint. */
typedef struct {
    LiveSegment *segments;
    uint32_t count, capacity;
    uint8_t width; /* of the registers in it, 0: none yet */
} Occupied;

/* The first segment that ends at `position` or later. */
static uint32_t first_ending_from(const Occupied *occupied, uint32_t position) {
    uint32_t low = 0, high = occupied->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (occupied->segments[middle].end < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_free(const Occupied *occupied, const LiveRanges *ranges, uint32_t reg) {
    for (uint32_t s = ranges->first[reg]; s < ranges->first[reg + 1]; s++) {
        LiveSegment wanted = ranges->segments[s];
        uint32_t next = first_ending_from(occupied, wanted.start);
        if (next < occupied->count && occupied->segments[next].start <= wanted.end) return false;
    }
    return true;
}

static void occupy(Arena *arena, Occupied *occupied, const LiveRanges *ranges, uint32_t reg) {
    for (uint32_t s = ranges->first[reg]; s < ranges->first[reg + 1]; s++) {
        occupied->segments = arena_grow(arena, occupied->segments, sizeof *occupied->segments,
                                        occupied->count, &occupied->capacity);
        uint32_t at = first_ending_from(occupied, ranges->segments[s].start);
        memmove(occupied->segments + at + 1, occupied->segments + at,
                (occupied->count - at) * sizeof *occupied->segments);
        occupied->segments[at] = ranges->segments[s];
        occupied->count++;
    }
}

typedef struct {
    uint32_t start, reg;
} Beginning;

static int by_start(const void *a, const void *b) {
    const Beginning *left = a, *right = b;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    return (left->reg > right->reg) - (left->reg < right->reg);
}

/* Registers with a life, in the order in which it begins. */
static Beginning *order_by_start(Arena *arena, const LiveRanges *ranges, uint32_t *count) {
    Beginning *order = arena_alloc(arena, ranges->register_count, sizeof *order);
    *count = 0;
    for (uint32_t r = 0; r < ranges->register_count; r++)
        if (ranges->first[r] < ranges->first[r + 1])
            order[(*count)++] = (Beginning){ranges->segments[ranges->first[r]].start, r};
    qsort(order, *count, sizeof *order, by_start);
    return order;
}

/* Whether a register of this width may lie there as far as the others are concerned that do. */
static bool is_open(const Occupied *place, uint8_t width, bool alone) {
    return place->width == 0 || (place->width == width && !alone);
}

static void take(Arena *arena, Occupied *place, const LiveRanges *ranges, uint32_t reg, uint8_t width,
                 bool alone) {
    place->width = alone ? UINT8_MAX : width;
    occupy(arena, place, ranges, reg);
}

uint32_t assign_places(Arena *arena, const LiveRanges *ranges, const uint8_t *width, const bool *alone,
                       uint32_t *place) {
    Occupied *places = NULL;
    uint32_t used = 0, capacity = 0, count;
    const Beginning *order = order_by_start(arena, ranges, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t reg = order[i].reg, at = 0;
        if (!width[reg]) continue;
        bool pair = width[reg] == 2, shares_not = alone && alone[reg];
        for (; at < used; at += pair ? 2 : 1)
            if (is_open(&places[at], width[reg], shares_not) && is_free(&places[at], ranges, reg) &&
                (!pair || at + 1 >= used || is_open(&places[at + 1], width[reg], shares_not)))
                break;
        for (; used < at + width[reg]; used++) {
            places = arena_grow(arena, places, sizeof *places, used, &capacity);
            places[used] = (Occupied){0};
        }
        for (uint32_t w = 0; w < width[reg]; w++)
            take(arena, &places[at + w], ranges, reg, width[reg], shares_not);
        place[reg] = at;
    }
    return used;
}

void assign_names(Arena *arena, const LiveRanges *ranges, uint8_t *name) {
    Occupied *names = arena_alloc(arena, SCOREBOARD_NAMES, sizeof *names);
    uint32_t count;
    const Beginning *order = order_by_start(arena, ranges, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t reg = order[i].reg, best = NO_PLACE, best_free_since = UINT32_MAX;
        for (uint32_t n = 0; n < SCOREBOARD_NAMES && best_free_since; n++) {
            uint32_t next = first_ending_from(&names[n], order[i].start);
            uint32_t free_since = next ? names[n].segments[next - 1].end + 1 : 0;
            if (free_since >= best_free_since || !is_free(&names[n], ranges, reg)) continue;
            best = n;
            best_free_since = free_since;
        }
        name[reg] = (uint8_t)(best != NO_PLACE ? best : reg % SCOREBOARD_NAMES);
        if (best != NO_PLACE) occupy(arena, &names[best], ranges, reg);
    }
}
