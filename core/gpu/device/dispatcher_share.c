/* Which of the kernels that were launched together an SM gets, where it has CTAs of one at a time. */
#include "core/gpu/device/dispatcher_state.h"

#include <stdlib.h>

/* What the SMs have, between quanta. */
typedef struct {
    Dispatcher *d;
    uint32_t *sms;      /* of each grid: SMs with CTAs of it, or that shall get some */
    uint64_t *promised; /* of each grid: CTAs that SMs without any will get of it first */
} Shares;

static uint32_t places_for(const Dispatcher *d, uint32_t sm, uint32_t grid) {
    return d->sms_of->places(d->sms_of->context, sm, grid);
}

/* How many CTAs of the grid an SM without any gets before another SM does. */
static uint64_t first_ctas(const Dispatcher *d, uint32_t sm, uint32_t grid) {
    uint32_t places = places_for(d, sm, grid), limit = d->limit[sm];
    uint32_t most = limit && limit < places ? limit : places;
    switch ((Placement)d->placement) {
    case PLACE_DEPTH_FIRST: return most;
    case PLACE_BLOCKS: return d->block < most ? d->block : most;
    default: return 1;
    }
}

static bool wants_sm(const Shares *shares, uint32_t grid) {
    const Grid *of = &shares->d->grids[grid];
    return has_ctas_left(of) && of->ctas - of->handed_out > shares->promised[grid];
}

static bool can_use(const Dispatcher *d, uint32_t sm, uint32_t grid) {
    if (has_several_per_sm(d)) return can_get(d, sm, grid);
    return has_ctas_left(&d->grids[grid]) && places_for(d, sm, grid);
}

/* The first that wants it, in the order of the launch, or of those with the fewest SMs the first; where none needs it,
 * the first that can use it. One at a time, those behind a running one have to wait. */
static int grid_for(const Shares *shares, uint32_t sm) {
    const Dispatcher *d = shares->d;
    int wanting = NO_GRID, first = NO_GRID;
    for (uint32_t i = 0; i < d->running_count; i++) {
        uint32_t g = d->running[i];
        bool is_usable = can_use(d, sm, g), wants = is_usable && wants_sm(shares, g);
        if (is_usable && first == NO_GRID) first = (int)g;
        if (wants && (wanting == NO_GRID || shares->sms[g] < shares->sms[wanting])) wanting = (int)g;
        bool has_fewest = wants && (d->sharing == SHARE_IN_ORDER || !shares->sms[g]);
        if (has_fewest || d->sharing == SHARE_ONE_AT_A_TIME) break;
    }
    return wanting != NO_GRID ? wanting : first;
}

bool may_have_sm(const int64_t *arguments, int64_t kernel) {
    const Dispatcher *d = (const Dispatcher *)(intptr_t)arguments[2];
    if (kernel == NO_GRID) return true;
    return kernel >= 0 && kernel < d->grid_count && can_use(d, (uint32_t)arguments[0], (uint32_t)kernel);
}

/* A kernel whose CTAs wait for those that are left goes before all others. */
static bool is_needed_by(const Shares *shares, uint32_t sm, int incomplete) {
    return incomplete != NO_GRID && can_use(shares->d, sm, (uint32_t)incomplete) &&
           wants_sm(shares, (uint32_t)incomplete);
}

static int choose_grid(const Shares *shares, uint32_t sm) {
    SimObject *object = &shares->d->obj;
    int incomplete = incomplete_kernel(shares->d);
    if (is_needed_by(shares, sm, incomplete)) return incomplete;
    int choice = grid_for(shares, sm);
    bool is_asked = shares->d->grid_count > 1 && object_has_subscriber(object, DISPATCHER_NEXT_KERNEL);
    if (!is_asked) return choice;
    int64_t answer = event_ask(object, DISPATCHER_NEXT_KERNEL, sm, choice, (int64_t)(intptr_t)shares->d);
    return answer == NO_ANSWER ? choice : (int)answer;
}

/* It has no CTA. True when its kernel is another one now. */
static bool give_sm(Shares *shares, uint32_t sm) {
    Dispatcher *d = shares->d;
    SmSlots *slots = &d->slots[sm];
    int grid = choose_grid(shares, sm);
    bool is_another = grid != NO_GRID && (uint32_t)grid != slots->grid;
    if (grid == NO_GRID) return false;
    uint32_t places = places_for(d, sm, (uint32_t)grid);
    shares->promised[grid] += first_ctas(d, sm, (uint32_t)grid);
    shares->sms[grid]++;
    *slots = (SmSlots){.free_slots = slots_of(places), .places = places, .grid = (uint32_t)grid};
    return is_another;
}

static void count_shares(Shares *shares) {
    const Dispatcher *d = shares->d;
    for (uint32_t sm = 0; sm < d->sms; sm++) {
        if (has_no_cta(&d->slots[sm])) continue;
        if (!d->slots[sm].drains) shares->sms[d->slots[sm].grid]++;
    }
}

static bool may_drain_for(const Shares *shares, uint32_t sm, uint32_t grid) {
    const SmSlots *slots = &shares->d->slots[sm];
    return !has_no_cta(slots) && slots->grid != grid && !is_incomplete(&shares->d->grids[slots->grid]) &&
           can_use(shares->d, sm, grid);
}

/* One that drains and is meant for no other grid yet; else the last SM of a grid with more of them than its share. */
static int sm_to_drain(const Shares *shares, uint32_t grid, uint32_t share, const uint8_t *is_meant) {
    const Dispatcher *d = shares->d;
    int last = NO_SM;
    for (uint32_t sm = d->sms; sm-- > 0;) {
        const SmSlots *slots = &d->slots[sm];
        if (is_meant[sm] || !may_drain_for(shares, sm, grid)) continue;
        if (slots->drains) return (int)sm;
        if (last == NO_SM && shares->sms[slots->grid] > share) last = (int)sm;
    }
    return last;
}

static void drain(Shares *shares, uint32_t sm, uint32_t grid) {
    SmSlots *slots = &shares->d->slots[sm];
    shares->promised[grid] += first_ctas(shares->d, sm, grid);
    shares->sms[grid]++;
    if (slots->drains) return;
    shares->sms[slots->grid]--;
    slots->drains = DRAINS_FOR_SHARING;
}

/* Where SMs are shared evenly: grids with too few get those of others that they fit, once their CTAs have ended. */
static void drain_for_others(Shares *shares, uint8_t *is_meant) {
    Dispatcher *d = shares->d;
    uint32_t share = d->running_count ? d->sms / d->running_count : 0;
    for (uint32_t i = 0; share && i < d->running_count; i++) {
        uint32_t g = d->running[i];
        int sm;
        while (wants_sm(shares, g) && shares->sms[g] < share &&
               (sm = sm_to_drain(shares, g, share, is_meant)) != NO_SM) {
            drain(shares, (uint32_t)sm, g);
            is_meant[sm] = 1;
        }
    }
}

/* CTAs of the grid for which its own SMs have no room. */
static uint64_t ctas_without_room(const Dispatcher *d, uint32_t grid) {
    uint64_t left = d->grids[grid].ctas - d->grids[grid].handed_out, room = 0;
    for (uint32_t sm = 0; sm < d->sms; sm++)
        if (d->slots[sm].grid == grid) room += most_resident(d, sm) - resident_ctas(d, sm);
    return left > room ? left - room : 0;
}

/* A kernel whose CTAs wait for those that are left gets as many SMs of others as these take, once their CTAs have ended. */
static void drain_for_incomplete(Shares *shares, uint8_t *is_meant) {
    Dispatcher *d = shares->d;
    int grid = incomplete_kernel(d);
    uint64_t left = grid == NO_GRID ? 0 : ctas_without_room(d, (uint32_t)grid), places;
    for (uint32_t sm = d->sms; sm-- > 0 && left; left -= left < places ? left : places) {
        places = may_drain_for(shares, sm, (uint32_t)grid) ? places_for(d, sm, (uint32_t)grid) : 0;
        if (!places) continue;
        drain(shares, sm, (uint32_t)grid);
        is_meant[sm] = 1;
    }
}

static void drain_sms(Shares *shares) {
    Dispatcher *d = shares->d;
    uint8_t is_meant[MAX_SMS] = {0};
    drain_for_incomplete(shares, is_meant);
    if (d->sharing == SHARE_EVENLY) drain_for_others(shares, is_meant);
    for (uint32_t sm = 0; sm < d->sms; sm++)
        if (d->slots[sm].drains == DRAINS_FOR_SHARING && !is_meant[sm]) d->slots[sm].drains = DRAINS_NOT;
}

static void share_sms(Dispatcher *d) {
    Shares shares = {.d = d};
    uint32_t first = d->goes_on ? d->next_sm : 0;
    shares.sms = calloc(d->grid_count, sizeof *shares.sms);
    shares.promised = calloc(d->grid_count, sizeof *shares.promised);
    ensure_memory(shares.sms && shares.promised);
    count_shares(&shares);
    for (uint32_t i = 0; i < d->sms; i++) {
        uint32_t sm = (first + i) % d->sms;
        if (has_no_cta(&d->slots[sm]) && give_sm(&shares, sm))
            d->sms_of->given(d->sms_of->context, sm, d->slots[sm].grid);
    }
    drain_sms(&shares);
    free(shares.sms);
    free(shares.promised);
}

void dispatcher_share(SimObject *object, uint64_t now) {
    Dispatcher *d = (Dispatcher *)object;
    if (!has_several_per_sm(d)) share_sms(d);
    d->has_freed = 0;
    object_poke(object, now);
}

bool leaves_sm_to_others(const Dispatcher *d, uint32_t sm) {
    const SmSlots *slots = &d->slots[sm];
    if (has_several_per_sm(d)) return false;
    bool keeps_it = d->grid_count == 1 || has_ctas_left(&d->grids[slots->grid]);
    if (!has_no_cta(slots) || (keeps_it && !slots->drains)) return false;
    return last_with_ctas_left(d) != NO_GRID;
}
