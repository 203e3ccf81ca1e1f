/* Which SM gets the next CTA of a grid. */
#include "core/gpu/device/dispatcher_state.h"

#include <string.h>

bool drains_for(const Dispatcher *d, uint32_t sm, uint32_t grid) {
    return d->slots[sm].drains && !is_incomplete(&d->grids[grid]);
}

uint32_t resident_ctas(const Dispatcher *d, uint32_t sm) {
    return d->slots[sm].places - (uint32_t)__builtin_popcount(d->slots[sm].free_slots);
}

uint32_t most_resident(const Dispatcher *d, uint32_t sm) {
    uint32_t places = d->slots[sm].places, limit = d->limit[sm];
    return limit && limit < places ? limit : places;
}

bool has_room(const Dispatcher *d, uint32_t sm) {
    return !drains_for(d, sm, d->slots[sm].grid) && resident_ctas(d, sm) < most_resident(d, sm);
}

uint32_t room_of_sm(const Dispatcher *d, uint32_t sm) {
    bool has_present = d->slots[sm].grid == d->present;
    if (has_several_per_sm(d)) return has_present && d->slots[sm].is_due ? room_within(d, sm, d->present) : 0;
    return has_present && has_room(d, sm) ? most_resident(d, sm) - resident_ctas(d, sm) : 0;
}

/* In this cycle, in which SMs have had these turns. */
static bool can_take(const Dispatcher *d, const uint8_t *turns, uint32_t sm, uint64_t now) {
    return turns[sm] == MAY_GET_ONE && room_of_sm(d, sm) && link_can_send(d->sm[sm].send, now);
}

/* The first SM from `next_sm` on that can take one. */
static int first_in_turn(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    uint32_t first = d->grids[d->present].next_sm;
    for (uint32_t i = 0; i < d->sms; i++) {
        uint32_t sm = (first + i) % d->sms;
        if (can_take(d, turns, sm, now)) return (int)sm;
    }
    return NO_SM;
}

static int least_loaded(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    uint32_t first = d->grids[d->present].next_sm;
    int least = NO_SM;
    for (uint32_t i = 0; i < d->sms; i++) {
        uint32_t sm = (first + i) % d->sms;
        if (!can_take(d, turns, sm, now)) continue;
        if (least == NO_SM || resident_ctas(d, sm) < resident_ctas(d, (uint32_t)least)) least = (int)sm;
    }
    return least;
}

/* The first SM with room that no policy keeps waiting, and no other while it cannot take one in this cycle. */
static int depth_first(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    for (uint32_t sm = 0; sm < d->sms; sm++)
        if (room_of_sm(d, sm) && turns[sm] != KEPT_WAITING)
            return can_take(d, turns, sm, now) ? (int)sm : NO_SM;
    return NO_SM;
}

static uint32_t most_of_present(const Dispatcher *d, uint32_t sm) {
    return has_several_per_sm(d) ? most_within(d, sm, d->present) : most_resident(d, sm);
}

/* The SM whose block is not complete; else the next one in turn with room for a block, or for as many as it may
 * hold. */
static int of_block(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    const Grid *grid = &d->grids[d->present];
    uint64_t left = grid->ctas - grid->handed_out, size = left < d->block ? left : d->block;
    if (grid->block_left) return can_take(d, turns, grid->next_sm, now) ? (int)grid->next_sm : NO_SM;
    for (uint32_t i = 0; i < d->sms; i++) {
        uint32_t sm = (grid->next_sm + i) % d->sms, most = most_of_present(d, sm);
        if (room_of_sm(d, sm) >= (size < most ? size : most) && can_take(d, turns, sm, now)) return (int)sm;
    }
    return NO_SM;
}

static int built_in_choice(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    switch ((Placement)d->placement) {
    case PLACE_ROUND_ROBIN: return first_in_turn(d, turns, now); /* where policies are asked */
    case PLACE_LEAST_LOADED: return least_loaded(d, turns, now);
    case PLACE_DEPTH_FIRST: return depth_first(d, turns, now);
    case PLACE_BLOCKS: return of_block(d, turns, now);
    }
    panic("%s: placement %u", d->obj.path, d->placement);
}

/* Those that can take one in this cycle, of as many SMs as a question has room for. */
static uint64_t takers_from(const Dispatcher *d, const uint8_t *turns, uint32_t first, uint64_t now) {
    uint64_t sms = 0;
    for (uint32_t sm = first; sm < d->sms && sm < first + SMS_IN_QUESTION; sm++)
        sms |= (uint64_t)can_take(d, turns, sm, now) << (sm - first);
    return sms;
}

/* Policies choose among those that can take one in this cycle, or let the CTA wait: they are asked about the SMs around
 * `choice` first, then about the others. */
COLD static int ask_policies(const Dispatcher *d, const uint8_t *turns, int choice, uint64_t now) {
    uint32_t questions = (d->sms + SMS_IN_QUESTION - 1) / SMS_IN_QUESTION, cta[3];
    uint32_t first_asked = choice == NO_SM ? 0 : (uint32_t)choice / SMS_IN_QUESTION;
    next_cta(d, cta);
    for (uint32_t i = 0; i < questions; i++) {
        uint32_t first = (first_asked + i) % questions * SMS_IN_QUESTION;
        uint64_t sms = takers_from(d, turns, first, now);
        int offered = i == 0 ? choice : NO_SM;
        if (!sms) continue;
        int64_t answer = event_ask((SimObject *)(uintptr_t)&d->obj, DISPATCHER_PLACE, (int64_t)sms, offered,
                                   cta[0], cta[1], cta[2], first);
        int sm = answer == NO_ANSWER ? offered : (int)answer;
        if (sm != NO_SM) return sm;
    }
    return NO_SM;
}

static int choose_sm(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    if (!has_ctas_left(&d->grids[d->present])) return NO_SM;
    int choice = built_in_choice(d, turns, now);
    return object_has_subscriber(&d->obj, DISPATCHER_PLACE) ? ask_policies(d, turns, choice, now) : choice;
}

/* With placement = blocks, the SM keeps its turn until its block is complete. */
static void end_turn(Dispatcher *d, uint32_t sm) {
    Grid *grid = &d->grids[d->present];
    bool begins = d->placement == PLACE_BLOCKS && !(grid->block_left && sm == grid->next_sm);
    if (begins) grid->block_left = d->block;
    if (grid->block_left) grid->block_left--;
    if (!room_of_sm(d, sm)) grid->block_left = 0;
    d->next_sm = grid->next_sm = grid->block_left ? sm : (sm + 1) % d->sms;
}

void take_slot(Dispatcher *d, uint32_t sm, CtaStart *start) {
    SmSlots *slots = &d->slots[sm];
    start->slot = (uint32_t)__builtin_ctz(slots->free_slots);
    start->kernel = has_several_per_sm(d) ? d->present : 0;
    start->pad = 0;
    slots->free_slots &= slots->free_slots - 1;
    slots->kernel[start->slot] = (uint16_t)d->present;
}

/* False: policies keep the SM waiting, which ends its block. */
static bool hand_out(Dispatcher *d, uint32_t sm, uint64_t now) {
    Grid *grid = &d->grids[d->present];
    uint32_t cta[3];
    if (!take_cta(d, sm, cta)) {
        if (sm == grid->next_sm) grid->block_left = 0;
        return false;
    }
    CtaStart *start = link_send(d->sm[sm].send, now);
    memcpy(start->ctaid, cta, sizeof start->ctaid);
    take_slot(d, sm, start);
    d->ctas_dispatched++;
    object_emit(&d->obj, DISPATCHER_CTA_START, sm, start->slot, start->ctaid[0], start->ctaid[1],
                start->ctaid[2], d->present);
    end_turn(d, sm);
    return true;
}

/* The built-in placement in one round, which is all that it needs. True when an SM got a CTA. */
static bool hand_out_in_turn(Dispatcher *d, uint64_t now) {
    static const uint8_t nobody[MAX_SMS] = {0};
    const Grid *grid = &d->grids[d->present];
    bool busy = false;
    for (uint32_t i = 0, first = grid->next_sm; i < d->sms && has_ctas_left(grid); i++) {
        uint32_t sm = first + i < d->sms ? first + i : first + i - d->sms;
        if (can_take(d, nobody, sm, now)) busy |= hand_out(d, sm, now);
    }
    return busy;
}

static bool hand_out_as_chosen(Dispatcher *d, uint64_t now) {
    uint8_t turns[MAX_SMS] = {MAY_GET_ONE};
    bool busy = false;
    for (int sm; (sm = choose_sm(d, turns, now)) != NO_SM;) {
        bool given = hand_out(d, (uint32_t)sm, now);
        turns[sm] = given ? HAS_GOT_ONE : KEPT_WAITING;
        busy |= given;
    }
    return busy;
}

bool hand_out_ctas(Dispatcher *d, uint64_t now) {
    bool in_turn = d->placement == PLACE_ROUND_ROBIN && !policies_decide(d);
    return in_turn ? hand_out_in_turn(d, now) : hand_out_as_chosen(d, now);
}
