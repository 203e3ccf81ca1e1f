/* A way drawn at random. The draw follows from the seed, the set and how often a line of the set was replaced:
 * it stays the same as long as a request that needs it is tried again. */
#include "mem/cache/replacement/replacement.h"

#include "core/sim/base/random.h"

static uint32_t victim(const Replacement *r, const TagArray *tags, uint32_t set, uint64_t eligible) {
    uint64_t draw = random_at(random_mix(r->seed ^ set), r->set[set]) >> 32;
    uint64_t skipped = draw * (uint64_t)__builtin_popcountll(eligible) >> 32;
    (void)tags;
    for (; skipped; skipped--)
        eligible &= eligible - 1;
    return (uint32_t)__builtin_ctzll(eligible);
}

static void entered(Replacement *r, const TagArray *tags, uint32_t line, uint64_t eligible,
                    const MemMessage *m) {
    (void)eligible, (void)m;
    if (tags->tag[line]) r->set[line / tags->shape.ways]++;
}

const ReplacementFamily random_family = {.victim = victim, .entered = entered};
