#include "core/gpu/sm/async_copies.h"

#include "core/ptx/execution/mbarrier.h"

#include <string.h>

/* The group that is open has the slot `committed`; the one committed last has the slot before it. There are
 * slots for some groups only: one that comes to a slot where an older group is not complete yet shares it, and
 * who waits for the older one waits for both. */

static uint32_t slot_of(uint32_t group) {
    return group % ASYNC_GROUPS;
}

/* --- Numbers: the group's slot, and the place in the ring of arrivals ---------------------------- */

enum { ARRIVAL_SHIFT = 8, SLOT_MASK = (1 << ARRIVAL_SHIFT) - 1 };

bool async_is_number(uint32_t number) {
    return (number & SLOT_MASK) < ASYNC_GROUPS && number >> ARRIVAL_SHIFT < ASYNC_ARRIVALS;
}

static uint32_t open_place(const AsyncArrivals *arrivals) {
    return (arrivals->first + arrivals->count) % ASYNC_ARRIVALS;
}

uint32_t async_begin(Sm *sm, uint32_t w) {
    uint32_t slot = slot_of(sm->async[w].committed), place = open_place(&sm->arrivals[w]);
    sm->async[w].in_flight[slot]++;
    sm->arrivals[w].in_flight[place]++;
    return slot | place << ARRIVAL_SHIFT;
}

/* --- Groups ------------------------------------------------------------------------------------ */

void async_commit(Sm *sm, uint32_t w) {
    AsyncCopies *copies = &sm->async[w];
    uint32_t slot = slot_of(++copies->committed);
    if (copies->in_flight[slot]) copies->shared = (uint8_t)(copies->shared | 1u << slot);
}

static bool has_room(const AsyncArrivals *arrivals) {
    return arrivals->count < ASYNC_ARRIVALS - 1;
}

/* The newest groups are spared, and the open one, unless all copies are waited for. */
static bool is_done(const Sm *sm, uint32_t w) {
    const AsyncCopies *copies = &sm->async[w];
    if (copies->spared == ASYNC_ROOM) return has_room(&sm->arrivals[w]);
    bool all = copies->spared == ASYNC_ALL;
    uint32_t spared = all ? 0 : copies->spared + 1u;
    for (uint32_t back = 0; back < ASYNC_GROUPS; back++) {
        uint32_t slot = slot_of(copies->committed - back);
        if ((back >= spared || copies->shared >> slot & 1) && copies->in_flight[slot]) return false;
    }
    return true;
}

void async_wait(Sm *sm, uint32_t w, uint32_t groups) {
    sm->async[w].spared = (uint8_t)groups;
    if (is_done(sm, w)) return;
    sm->copying |= warp_bit(w);
    sm->waiting |= warp_bit(w);
}

/* --- Arrivals ---------------------------------------------------------------------------------- */

static void arrive(Sm *sm, uint32_t w, uint32_t word, uint32_t bytes) {
    uint8_t *shared = sm->shared_memory + (size_t)sm->warp[w].cta_slot * sm->kernels.shared_bytes;
    uint64_t object, state;
    memcpy(&object, shared + (size_t)word * MBARRIER_BYTES, sizeof object);
    /* An object that is none any more stays as it is. */
    mbarrier_perform(&object, bytes ? MBARRIER_COMPLETE_TX : MBARRIER_ARRIVE, bytes ? bytes : 1, &state);
    memcpy(shared + (size_t)word * MBARRIER_BYTES, &object, sizeof object);
}

/* In their order: the first ones whose copies are complete. */
static void perform_arrivals(Sm *sm, uint32_t w) {
    AsyncArrivals *arrivals = &sm->arrivals[w];
    while (arrivals->count && !arrivals->in_flight[arrivals->first]) {
        for (uint32_t lanes = arrivals->lanes[arrivals->first]; lanes; lanes &= lanes - 1)
            arrive(sm, w, arrivals->object[arrivals->first][__builtin_ctz(lanes)],
                   arrivals->bytes[arrivals->first]);
        arrivals->first = (arrivals->first + 1) % ASYNC_ARRIVALS;
        arrivals->count--;
    }
}

/* With the ring full, the arrival is now: what the copies bring is there, though not in time. */
void async_arrive(Sm *sm, uint32_t w, uint32_t bytes) {
    const ExecContext *context = sm->context;
    AsyncArrivals *arrivals = &sm->arrivals[w];
    bool full = !has_room(arrivals);
    uint32_t place = open_place(arrivals);
    if (!full) {
        arrivals->lanes[place] = context->active;
        arrivals->bytes[place] = bytes;
    }
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes),
                 word = (uint32_t)(context->address[lane] / MBARRIER_BYTES);
        if (full)
            arrive(sm, w, word, bytes);
        else
            arrivals->object[place][lane] = (uint16_t)word;
    }
    arrivals->count += !full;
    perform_arrivals(sm, w);
}

/* --- The end of a copy ------------------------------------------------------------------------- */

void async_end(Sm *sm, uint32_t w, uint32_t number) {
    uint32_t slot = number & SLOT_MASK;
    AsyncCopies *copies = &sm->async[w];
    sm->arrivals[w].in_flight[number >> ARRIVAL_SHIFT]--;
    perform_arrivals(sm, w);
    if (--copies->in_flight[slot] == 0) copies->shared = (uint8_t)(copies->shared & ~(1u << slot));
    if (!(sm->copying >> w & 1) || !is_done(sm, w)) return;
    sm->copying &= ~warp_bit(w);
    sm->waiting &= ~warp_bit(w);
}

/* --- Checks ------------------------------------------------------------------------------------ */

/* Copies in the load/store unit, warp by warp. */
typedef struct {
    const Sm *sm;
    uint16_t by_slot[MAX_WARPS][ASYNC_GROUPS], by_arrival[MAX_WARPS][ASYNC_ARRIVALS];
} Copies;

static void count_copy(void *context, const MemoryDone *done) {
    Copies *copies = context;
    if (done->kind != INST_LOAD || !(sm_inst(copies->sm, done->warp, done->inst)->detail & DETAIL_ASYNC_COPY))
        return;
    copies->by_slot[done->warp % MAX_WARPS][(done->payload & SLOT_MASK) % ASYNC_GROUPS]++;
    copies->by_arrival[done->warp % MAX_WARPS][(done->payload >> ARRIVAL_SHIFT) % ASYNC_ARRIVALS]++;
}

bool async_adds_up(const Sm *sm) {
    Copies copies = {.sm = sm};
    lsu_visit_instructions(sm->lsu.send->receiver, count_copy, &copies);
    for (uint32_t w = 0; w < sm->warps; w++)
        if (memcmp(copies.by_slot[w], sm->async[w].in_flight, sizeof copies.by_slot[w]) != 0 ||
            memcmp(copies.by_arrival[w], sm->arrivals[w].in_flight, sizeof copies.by_arrival[w]) != 0)
            return false;
    return true;
}

void async_is_sound(const Sm *sm, uint32_t w) {
    const AsyncArrivals *arrivals = &sm->arrivals[w];
    uint32_t objects = sm->kernels.shared_bytes / MBARRIER_BYTES;
    bool good = arrivals->first < ASYNC_ARRIVALS && arrivals->count < ASYNC_ARRIVALS;
    for (uint32_t i = 0; good && i < arrivals->count; i++) {
        uint32_t place = (arrivals->first + i) % ASYNC_ARRIVALS;
        for (uint32_t lanes = arrivals->lanes[place]; lanes; lanes &= lanes - 1)
            good = good && arrivals->object[place][__builtin_ctz(lanes)] < objects;
        good = good && (i || arrivals->in_flight[place]);
    }
    sound(good, "%s: warp %u: arrivals", sm->obj.path, w);
}
