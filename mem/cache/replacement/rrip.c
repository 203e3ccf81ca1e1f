/* Re-reference interval prediction (Jaleel et al., ISCA 2010, sections 3 and 4): each line has a prediction of
 * how soon it is needed again, from 0 (soon) to `distant`; one with the largest goes, and the others age as
 * far as that one had to. A hit sets it to 0 (hit priority). Of SRRIP lines enter one below `distant`, of BRRIP
 * nearly always at it; DRRIP lets leader sets of both find out which misses less (set dueling: Qureshi et al.,
 * ISCA 2007). NRU is SRRIP with one bit (section 2). SHiP-PC (Wu et al., MICRO 2011, section 3) has lines enter
 * at `distant` whose PC has brought lines that nobody used again.
 *
 * Lines with sectors in flight and those of other partitions cannot go, and do not age. */
#include "mem/cache/replacement/replacement.h"

#include "core/sim/base/random.h"

static uint32_t victim(const Replacement *r, const TagArray *tags, uint32_t set, uint64_t eligible) {
    const LineMark *line = &r->line[(size_t)set * tags->shape.ways];
    uint32_t oldest = (uint32_t)__builtin_ctzll(eligible);
    for (; eligible; eligible &= eligible - 1) {
        uint32_t way = (uint32_t)__builtin_ctzll(eligible);
        if (line[way].prediction > line[oldest].prediction) oldest = way;
    }
    return oldest;
}

static uint32_t count_max(const Replacement *r) {
    return (1u << r->parameters.ship_bits) - 1;
}

/* Streams come to a line once for each of its sectors: that is no use for SHiP. */
static void used(Replacement *r, const TagArray *tags, uint32_t line, bool found) {
    LineMark *mark = &r->line[line];
    (void)tags;
    mark->prediction = 0;
    if (!r->outcomes_count || !found) return;
    mark->used_again = 1;
    uint8_t *count = &r->outcomes[mark->signature];
    *count = (uint8_t)(*count + (*count < count_max(r)));
}

/* As often as the line that goes would have had to, the eligible ones of its set grow older. */
static void age(Replacement *r, const TagArray *tags, uint32_t line, uint64_t eligible) {
    uint32_t ways = tags->shape.ways, distant = rrip_distant(r);
    uint32_t steps = distant - r->line[line].prediction;
    LineMark *set = &r->line[line / ways * ways];
    for (; steps && eligible; eligible &= eligible - 1) {
        LineMark *mark = &set[__builtin_ctzll(eligible)];
        uint32_t older = mark->prediction + steps;
        mark->prediction = (uint8_t)(older < distant ? older : distant);
    }
}

/* A line of a PC goes that nobody has used again. */
static void learn(Replacement *r, const LineMark *mark) {
    uint8_t *count = &r->outcomes[mark->signature];
    if (!mark->used_again) *count = (uint8_t)(*count - (*count > 0));
}

static bool enters_as_srrip(const Replacement *r) {
    uint64_t draw = random_at(r->seed, r->insertions) >> 32;
    return draw * r->parameters.brrip_throttle >> 32 == 0;
}

typedef enum { FOLLOWER, LEADS_SRRIP, LEADS_BRRIP } Duel;

/* Leaders are spread evenly over the sets. */
static Duel duel_of(const Replacement *r, const TagArray *tags, uint32_t set) {
    uint32_t stride = tags->shape.sets / r->leaders, at = set % stride;
    if (set / stride >= r->leaders) return FOLLOWER;
    return at == 0 ? LEADS_SRRIP : at == stride / 2 ? LEADS_BRRIP : FOLLOWER;
}

/* A line that enters was missed: the selector counts up for srrip's misses and down for brrip's. */
static bool enters_by_duel(Replacement *r, const TagArray *tags, uint32_t set) {
    uint64_t end = 1ull << r->parameters.psel_bits;
    Duel duel = duel_of(r, tags, set);
    if (duel == LEADS_SRRIP) r->psel += r->psel < end - 1;
    if (duel == LEADS_BRRIP) r->psel -= r->psel > 0;
    return duel == LEADS_BRRIP || (duel == FOLLOWER && r->psel >= end / 2);
}

static uint32_t prediction_for(Replacement *r, const TagArray *tags, uint32_t set, uint32_t signature) {
    uint32_t distant = rrip_distant(r);
    bool bimodal = false;
    switch ((ReplacementChoice)r->parameters.choice) {
    case REPLACE_BRRIP: bimodal = true; break;
    case REPLACE_DRRIP: bimodal = enters_by_duel(r, tags, set); break;
    case REPLACE_SHIP_PC: return r->outcomes[signature] ? distant - 1 : distant;
    default: break;
    }
    r->insertions++;
    return bimodal && !enters_as_srrip(r) ? distant : distant - 1;
}

static void entered(Replacement *r, const TagArray *tags, uint32_t line, uint64_t eligible,
                    const MemMessage *m) {
    bool ship = r->outcomes_count != 0;
    uint32_t signature = ship ? (uint32_t)random_mix(m->pc) & (r->outcomes_count - 1) : 0;
    if (tags->tag[line]) {
        age(r, tags, line, eligible);
        if (ship) learn(r, &r->line[line]);
    }
    uint32_t prediction = prediction_for(r, tags, line / tags->shape.ways, signature);
    r->line[line] = (LineMark){.signature = signature, .prediction = (uint8_t)prediction};
}

const ReplacementFamily rrip_family = {.victim = victim, .used = used, .entered = entered};
