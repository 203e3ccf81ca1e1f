/* First in, first out: the line that entered first goes. */
#include "mem/cache/replacement/replacement.h"

static uint32_t victim(const Replacement *r, const TagArray *tags, uint32_t set, uint64_t eligible) {
    const LineMark *line = &r->line[(size_t)set * tags->shape.ways];
    uint32_t first = (uint32_t)__builtin_ctzll(eligible);
    for (; eligible; eligible &= eligible - 1) {
        uint32_t way = (uint32_t)__builtin_ctzll(eligible);
        if (line[way].entered < line[first].entered) first = way;
    }
    return first;
}

/* The tag array is about to give out the next stamp. */
static void entered(Replacement *r, const TagArray *tags, uint32_t line, uint64_t eligible,
                    const MemMessage *m) {
    (void)eligible, (void)m;
    r->line[line].entered = tags->uses + 1;
}

const ReplacementFamily fifo_family = {.victim = victim, .entered = entered};
