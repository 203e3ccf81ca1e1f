/* A binary tree over the ways of a set, with a bit per node that points away from the half used last. What goes
 * is found by following the bits, past halves in which nothing may go. Where the ways are no power of two,
 * the tree has leaves without a way. */
#include "mem/cache/replacement/replacement.h"

static uint32_t leaves(const TagArray *tags) {
    uint32_t ways = tags->shape.ways;
    return ways == 1 ? 1 : 1u << (32 - __builtin_clz(ways - 1));
}

static uint64_t ways_from(uint32_t first, uint32_t count) {
    return (count == 64 ? ~0ull : (1ull << count) - 1) << first;
}

/* Node 1 is the root, those below n are 2n and 2n + 1. A set bit points to the upper half. */
static uint32_t victim(const Replacement *r, const TagArray *tags, uint32_t set, uint64_t eligible) {
    uint64_t bits = r->set[set];
    uint32_t first = 0, node = 1;
    for (uint32_t half = leaves(tags) / 2; half; half /= 2) {
        bool upper = bits >> node & 1;
        if (!(eligible & ways_from(first + (upper ? half : 0), half))) upper = !upper;
        first += upper ? half : 0;
        node = 2 * node + upper;
    }
    return first;
}

static void used(Replacement *r, const TagArray *tags, uint32_t line, bool found) {
    uint32_t way = line % tags->shape.ways, node = 1;
    uint64_t *bits = &r->set[line / tags->shape.ways];
    (void)found;
    for (uint32_t half = leaves(tags) / 2; half; half /= 2) {
        bool upper = (way & half) != 0;
        *bits = (*bits & ~(1ull << node)) | (uint64_t)!upper << node;
        node = 2 * node + upper;
    }
}

static void entered(Replacement *r, const TagArray *tags, uint32_t line, uint64_t eligible,
                    const MemMessage *m) {
    (void)eligible, (void)m;
    used(r, tags, line, false);
}

const ReplacementFamily tree_plru_family = {.victim = victim, .used = used, .entered = entered};
