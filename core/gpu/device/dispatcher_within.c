/* Several kernels in one SM: whose CTA it gets next. */
#include "core/gpu/device/dispatcher_state.h"

#include <string.h>

bool has_several_per_sm(const Dispatcher *d) {
    return d->kernels_per_sm > 1 && d->expected > 1;
}

static CtaNeeds needs_of(const Dispatcher *d, uint32_t sm, uint32_t grid) {
    return d->sms_of->needs(d->sms_of->context, sm, grid);
}

uint32_t ctas_of_kernel(const Dispatcher *d, uint32_t sm, uint32_t grid) {
    const SmSlots *slots = &d->slots[sm];
    uint32_t ctas = 0;
    for (uint32_t taken = slots_of(slots->places) & ~slots->free_slots; taken; taken &= taken - 1)
        ctas += slots->kernel[__builtin_ctz(taken)] == grid;
    return ctas;
}

static bool is_in_slots(const SmSlots *slots, uint32_t set, uint32_t grid) {
    for (; set; set &= set - 1)
        if (slots->kernel[__builtin_ctz(set)] == grid) return true;
    return false;
}

/* Kernels of which the SM has CTAs. */
static uint32_t kernels_in(const Dispatcher *d, uint32_t sm) {
    const SmSlots *slots = &d->slots[sm];
    uint32_t kernels = 0, seen = 0;
    for (uint32_t taken = slots_of(slots->places) & ~slots->free_slots; taken; taken &= taken - 1) {
        uint32_t slot = taken & -taken;
        kernels += !is_in_slots(slots, seen, slots->kernel[__builtin_ctz(slot)]);
        seen |= slot;
    }
    return kernels;
}

static void take(CtaNeeds *room, const CtaNeeds *needs) {
    room->warps -= needs->warps;
    room->registers -= needs->registers;
    room->shared -= needs->shared;
}

CtaNeeds room_left(const Dispatcher *d, uint32_t sm) {
    const SmSlots *slots = &d->slots[sm];
    CtaNeeds room = d->sms_of->room(d->sms_of->context, sm);
    for (uint32_t taken = slots_of(slots->places) & ~slots->free_slots; taken; taken &= taken - 1) {
        CtaNeeds needs = needs_of(d, sm, slots->kernel[__builtin_ctz(taken)]);
        take(&room, &needs);
    }
    return room;
}

static bool fits(const CtaNeeds *room, const CtaNeeds *needs) {
    return needs->warps && needs->warps <= room->warps && needs->registers <= room->registers &&
           needs->shared <= room->shared;
}

/* CTAs that fit in there, up to `most`. */
static uint32_t ctas_that_fit(CtaNeeds room, CtaNeeds needs, uint32_t most) {
    uint32_t ctas = 0;
    for (; ctas < most && fits(&room, &needs); ctas++)
        take(&room, &needs);
    return ctas;
}

uint32_t room_within(const Dispatcher *d, uint32_t sm, uint32_t grid) {
    bool is_new = !ctas_of_kernel(d, sm, grid);
    uint32_t resident = resident_ctas(d, sm), most = most_resident(d, sm);
    if (drains_for(d, sm, grid) || (is_new && kernels_in(d, sm) >= d->kernels_per_sm)) return 0;
    return ctas_that_fit(room_left(d, sm), needs_of(d, sm, grid), most > resident ? most - resident : 0);
}

uint32_t most_within(const Dispatcher *d, uint32_t sm, uint32_t grid) {
    return ctas_that_fit(d->sms_of->room(d->sms_of->context, sm), needs_of(d, sm, grid),
                         most_resident(d, sm));
}

bool can_get(const Dispatcher *d, uint32_t sm, uint32_t grid) {
    return has_ctas_left(&d->grids[grid]) && room_within(d, sm, grid);
}

static int first_that_can(const Dispatcher *d, uint32_t sm) {
    uint32_t resident = resident_ctas(d, sm), most = most_resident(d, sm);
    if (resident >= most) return NO_GRID;
    CtaNeeds room = room_left(d, sm);
    bool may_get_new = kernels_in(d, sm) < d->kernels_per_sm;
    for (uint32_t i = 0; i < d->running_count; i++) {
        uint32_t g = d->running[i];
        if (!has_ctas_left(&d->grids[g]) || drains_for(d, sm, g)) continue;
        CtaNeeds needs = needs_of(d, sm, g);
        if (fits(&room, &needs) && (may_get_new || ctas_of_kernel(d, sm, g))) return (int)g;
    }
    return NO_GRID;
}

/* --- Evenly --------------------------------------------------------------------------------------
 * Kernels with CTAs left are dealt what the SM has, a CTA at a time: the next one to the kernel whose dominant share is the
 * least, as long as any fits. The dominant share is that of the resource of which the kernel has the largest part (Wang et
 * al., "Simultaneous Multikernel GPU", HPCA 2016, section 4). */

typedef struct {
    uint32_t grid, ctas; /* ctas: dealt */
    CtaNeeds needs;
    bool is_full;
} Hand;

typedef struct {
    Hand hand[MAX_CTAS];
    uint32_t hands, ctas; /* ctas: that may be dealt yet */
    CtaNeeds all, room;
} Deal;

static uint64_t share_of(uint64_t part, uint64_t whole) {
    return whole ? (part << 32) / whole : 0;
}

static uint64_t dominant_share(const Deal *deal, const Hand *hand) {
    uint64_t n = hand->ctas, warps = share_of(n * hand->needs.warps, deal->all.warps);
    uint64_t registers = share_of(n * hand->needs.registers, deal->all.registers);
    uint64_t shared = share_of(n * hand->needs.shared, deal->all.shared);
    uint64_t most = warps > registers ? warps : registers;
    return most > shared ? most : shared;
}

/* The kernels that take part: those with CTAs left of which the SM has some, and as many others as it may have. */
static Deal begin_deal(const Dispatcher *d, uint32_t sm) {
    Deal deal = {.ctas = most_resident(d, sm), .all = d->sms_of->room(d->sms_of->context, sm)};
    uint32_t kernels = kernels_in(d, sm), unseen = kernels;
    deal.room = deal.all;
    for (uint32_t i = 0; i < d->running_count && deal.hands < MAX_CTAS; i++) {
        if (!unseen && kernels >= d->kernels_per_sm) break;
        uint32_t g = d->running[i];
        uint32_t resident = ctas_of_kernel(d, sm, g);
        CtaNeeds needs = needs_of(d, sm, g);
        unseen -= resident != 0;
        bool takes_part = has_ctas_left(&d->grids[g]) && needs.warps &&
                          (resident || kernels < d->kernels_per_sm);
        if (takes_part) {
            kernels += !resident;
            deal.hand[deal.hands++] = (Hand){.grid = g, .needs = needs};
            continue;
        }
        for (; resident; resident--, deal.ctas -= deal.ctas != 0)
            take(&deal.room, &needs);
    }
    return deal;
}

static Hand *least_hand(Deal *deal) {
    Hand *least = NULL;
    for (uint32_t i = 0; i < deal->hands; i++) {
        Hand *hand = &deal->hand[i];
        if (!hand->is_full && (!least || dominant_share(deal, hand) < dominant_share(deal, least)))
            least = hand;
    }
    return least;
}

static void deal_out(Deal *deal) {
    for (Hand *hand; deal->ctas && (hand = least_hand(deal)) != NULL;) {
        hand->is_full = !fits(&deal->room, &hand->needs);
        if (hand->is_full) continue;
        take(&deal->room, &hand->needs);
        hand->ctas++;
        deal->ctas--;
    }
}

static int first_below_its_share(const Dispatcher *d, uint32_t sm) {
    Deal deal = begin_deal(d, sm);
    deal_out(&deal);
    for (uint32_t i = 0; i < deal.hands; i++) {
        const Hand *hand = &deal.hand[i];
        if (ctas_of_kernel(d, sm, hand->grid) < hand->ctas && can_get(d, sm, hand->grid))
            return (int)hand->grid;
    }
    return NO_GRID;
}

/* --- Choosing ------------------------------------------------------------------------------------ */

static int choose_built_in(const Dispatcher *d, uint32_t sm, int first) {
    switch ((Sharing)d->sharing) {
    case SHARE_IN_ORDER: return first;
    case SHARE_EVENLY: return first_below_its_share(d, sm);
    case SHARE_ONE_AT_A_TIME: return first == d->running[0] ? first : NO_GRID;
    }
    panic("%s: sharing %u", d->obj.path, d->sharing);
}

/* `first`: in turn, of those that the SM can get. */
static int choose_kernel(Dispatcher *d, uint32_t sm, int first) {
    int choice = choose_built_in(d, sm, first);
    if (!object_has_subscriber(&d->obj, DISPATCHER_NEXT_KERNEL)) return choice;
    int64_t answer = event_ask(&d->obj, DISPATCHER_NEXT_KERNEL, sm, choice, (int64_t)(intptr_t)d);
    return answer == NO_ANSWER ? choice : (int)answer;
}

/* A kernel whose CTAs wait for those that are left goes before all others. */
static int choose_with(Dispatcher *d, uint32_t sm, int first, int incomplete) {
    bool is_needed = incomplete != NO_GRID && can_get(d, sm, (uint32_t)incomplete);
    return is_needed ? incomplete : choose_kernel(d, sm, first);
}

void choose_kernels(Dispatcher *d) {
    int incomplete = incomplete_kernel(d);
    for (uint32_t sm = 0; sm < d->sms; sm++) {
        SmSlots *slots = &d->slots[sm];
        slots->is_due = 0;
        if (d->fits_none[sm] || resident_ctas(d, sm) >= most_resident(d, sm)) continue;
        int first = first_that_can(d, sm);
        d->fits_none[sm] = first == NO_GRID;
        int grid = first == NO_GRID ? NO_GRID : choose_with(d, sm, first, incomplete);
        if (grid == NO_GRID) continue;
        slots->grid = (uint32_t)grid;
        slots->is_due = 1;
    }
}

bool any_sm_could_get_one(const Dispatcher *d) {
    for (uint32_t sm = 0; sm < d->sms; sm++)
        if (first_that_can(d, sm) != NO_GRID) return true;
    return false;
}
